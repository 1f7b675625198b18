"""Describes the differences between two sessions' settings, by command line option. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from equipoise.core.quantities import first_few
from equipoise.core.types import JSON

Digests = Mapping[str, str]
"""The digests of the files of a session's questions, by name; empty if unknown."""
_FLAGS = {"subject_model": "--model", "evaluator_models": "--evaluator-model", "rejudged": "--replies"}
"""The options of settings that have another name."""
_QUESTIONS, _ABOUT, _RUBRIC = "--topics: the questions", "--topics: about.toml", "--rubric: its text"
_FACTS = "--topics: facts.toml"
_CONTENTS = {"data_hash": _QUESTIONS, "about": _ABOUT, "facts_hash": _FACTS, "rubric_hash": _RUBRIC}
"""How messages name settings that are the digest or content of a file. The names are used like options."""
_CAUSES: Mapping[str, Sequence[str]] = {
    _QUESTIONS: ["--dataset"],
    _ABOUT: ["--dataset", _QUESTIONS],
    _FACTS: ["--dataset", _QUESTIONS],
    _RUBRIC: ["--rubric"],
    "--gate": ["--until"],
    "--baseline": ["--until"],
}
"""Maps an option to the options whose change explains its own. Messages then leave the option out."""
_MOST_FILES = 3
"""The largest number of changed files that are named."""
_MOST_CHARACTERS, _CONTEXT_CHARACTERS = 60, 20
"""The longest text that is shown whole, and the length shown of a longer one before and after the change."""


def differences(
    before: Mapping[str, JSON], now: Mapping[str, JSON], files: tuple[Digests, Digests] = ({}, {})
) -> list[str]:
    """A text for each option that differs between an earlier session (`before`) and this one (`now`).

    Settings that only the earlier session has are ignored. `files` are the digests of both sessions' files.
    """
    older, newer = (_by_option({name: side.get(name) for name in now}) for side in (before, now))
    changed = [option for option in {**older, **newer} if older.get(option) != newer.get(option)]
    return [
        _question_difference(*files)
        if option == _QUESTIONS
        else _difference(option, older.get(option), newer.get(option))
        for option in changed
        if not set(_CAUSES.get(option, ())) & set(changed)
    ]


# Options.


def _by_option(settings: Mapping[str, JSON]) -> dict[str, JSON]:
    return {option: value for item in settings.items() for option, value in _options(*item)}


def _options(name: str, value: JSON) -> Iterator[tuple[str, JSON]]:
    """The options, with their values, that one of the settings was made from."""
    role, _, role_setting = name.partition("_")
    if role_setting == "sampling":
        yield from ((f"--{role}-{_hyphenated(key)}", number) for key, number in (value or {}).items())
    elif name == "endpoints":
        yield from _endpoints(value or {})
    elif name == "until":
        yield from _until(value or "")
    elif name == "rubric_version":
        yield "--rubric", None if value is None else f"version {value}"
    else:
        yield _FLAGS.get(name) or _CONTENTS.get(name) or f"--{_hyphenated(name)}", value


def _hyphenated(name: str) -> str:
    return name.replace("_", "-")


def _endpoints(urls: Mapping[str, JSON]) -> Iterator[tuple[str, JSON]]:
    subject, evaluator = urls.get("subject"), urls.get("evaluator")
    yield "--api-base-url", subject
    # By default the evaluators' endpoint is the subject's.
    yield "--evaluator-api-base-url", None if evaluator == subject else evaluator


def _until(text: str) -> Iterator[tuple[str, JSON]]:
    """The options in the recorded text of --until: "gate: RULE RULE against FILE (DIGEST)"."""
    until, _, gate = text.partition(": ")
    rules, _, baseline = gate.rpartition(" against ")
    yield "--until", until or None
    yield "--gate", rules.split()
    yield "--baseline", baseline or None


# Values.


def _difference(option: str, before: JSON, now: JSON) -> str:
    if option in _CONTENTS.values():
        return f"{option} has changed"
    if isinstance(before or now, list | tuple):
        return _list_difference(option, before or (), now or ())
    if isinstance(before or now, dict):
        return _file_difference(option, before or {}, now or {})
    if isinstance(before, str) and isinstance(now, str) and max(len(before), len(now)) > _MOST_CHARACTERS:
        before, now = _excerpts(before, now)
    return f"{option} was {_as_text(before)}, now {_as_text(now)}"


def _list_difference(option: str, before: Sequence[JSON], now: Sequence[JSON]) -> str:
    removed = " ".join(str(item) for item in before if item not in now)
    added = " ".join(str(item) for item in now if item not in before)
    if removed and added:
        return f"{option} was {removed}, now {added}"
    if not removed and not added:
        # Only the order has changed.
        return f"{option} was {' '.join(map(str, before))}, now {' '.join(map(str, now))}"
    return f"{option} {removed} is missing" if removed else f"{option} {added} is new"


def _file_difference(option: str, before: Mapping[str, JSON], now: Mapping[str, JSON]) -> str:
    """The difference of two files, each recorded as a name and a digest; empty for no file."""
    older, newer = (file.get("name", file.get("results")) for file in (before, now))
    return f"{option}: {newer} has changed" if older == newer else _difference(option, older, newer)


def _excerpts(before: str, now: str) -> tuple[str, str]:
    """Excerpts of both texts around their first difference."""
    pairs = enumerate(zip(before, now, strict=False))
    index = next((index for index, (one, other) in pairs if one != other), min(len(before), len(now)))
    return _excerpt(before, index), _excerpt(now, index)


def _excerpt(text: str, index: int) -> str:
    start, end = max(0, index - _CONTEXT_CHARACTERS), index + _CONTEXT_CHARACTERS
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"


def _as_text(value: JSON) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "on" if value else "off"
    text = f"{value}"
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


def _question_difference(before: Digests, now: Digests) -> str:
    """The difference of the questions: the files that changed, if these are known."""
    changed = [name for name in now if before.get(name) != now[name]]
    removed = [name for name in before if name not in now]
    if not before or not (changed or removed):
        return f"{_QUESTIONS} have changed"
    texts = [f"{name} {'has changed' if name in before else 'is new'}" for name in changed]
    texts += [f"{name} is missing" for name in removed]
    return f"--topics: {first_few(texts, _MOST_FILES)}"
