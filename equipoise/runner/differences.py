"""Differences between two sessions' settings: by option, as the user types it. Knows no journal. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from equipoise.core.types import JSON

Digests = Mapping[str, str]
"""The digest of each file of a session's questions by its name; empty if that is not known."""
_OPTIONS = {"subject_model": "--model", "evaluator_models": "--evaluator-model", "rejudged": "--rejudge"}
"""The options whose values have another name in the settings."""
_QUESTIONS, _ABOUT, _RUBRIC = "--topics: the questions", "--topics: about.toml", "--rubric: its text"
_CONTENT = {"data_hash": _QUESTIONS, "about": _ABOUT, "rubric_hash": _RUBRIC}
"""Names for the content that has changed where a hash has."""
_FOLLOWS: Mapping[str, Sequence[str]] = {
    _QUESTIONS: ["--dataset"],
    _ABOUT: ["--dataset", _QUESTIONS],
    _RUBRIC: ["--rubric"],
    "--gate": ["--until"],
    "--baseline": ["--until"],
}
"""Settings that need no mention beside the change that they come from."""
_MOST_FILES = 3
_LONGEST, _AROUND = 60, 20
"""Characters of a text that is shown whole, and how many around the first difference of a longer one."""


def differences(
    before: Mapping[str, JSON], now: Mapping[str, JSON], files: tuple[Digests, Digests] = ({}, {})
) -> list[str]:
    """The options in which a session's settings differ from an earlier one's, each with no more than differs.

    Settings that the earlier session alone has are passed over. `files` are those of both.
    """
    older, newer = (_by_option({name: side.get(name) for name in now}) for side in (before, now))
    changed = [option for option in {**older, **newer} if older.get(option) != newer.get(option)]
    return [
        _questions(*files)
        if option == _QUESTIONS
        else _difference(option, older.get(option), newer.get(option))
        for option in changed
        if not set(_FOLLOWS.get(option, ())) & set(changed)
    ]


# Options.


def _by_option(settings: Mapping[str, JSON]) -> dict[str, JSON]:
    return {option: value for item in settings.items() for option, value in _options(*item)}


def _options(name: str, value: JSON) -> Iterator[tuple[str, JSON]]:
    """The options that make up one of the settings."""
    role, _, rest = name.partition("_")
    if rest == "sampling":
        yield from ((f"--{role}-{_typed(key)}", number) for key, number in (value or {}).items())
    elif name == "endpoints":
        yield from _endpoints(value or {})
    elif name == "until":
        yield from _until(value or "")
    elif name == "rubric_version":
        yield "--rubric", None if value is None else f"version {value}"
    else:
        yield _OPTIONS.get(name) or _CONTENT.get(name) or f"--{_typed(name)}", value


def _typed(name: str) -> str:
    return name.replace("_", "-")


def _endpoints(urls: Mapping[str, JSON]) -> Iterator[tuple[str, JSON]]:
    subject, evaluator = urls.get("subject"), urls.get("evaluator")
    yield "--api-base-url", subject
    # Unless it is given it is the subject's.
    yield "--evaluator-api-base-url", None if evaluator == subject else evaluator


def _until(text: str) -> Iterator[tuple[str, JSON]]:
    """The parts of what `Plan.identity` says of --until: "gate: RULE RULE against FILE (DIGEST)"."""
    until, _, gate = text.partition(": ")
    rules, _, baseline = gate.rpartition(" against ")
    yield "--until", until or None
    yield "--gate", rules.split()
    yield "--baseline", baseline or None


# Values.


def _difference(option: str, before: JSON, now: JSON) -> str:
    if option in _CONTENT.values():
        return f"{option} has changed"
    if isinstance(before or now, list | tuple):
        return _of_lists(option, before or (), now or ())
    if isinstance(before or now, dict):
        return _of_files(option, before or {}, now or {})
    if isinstance(before, str) and isinstance(now, str) and max(len(before), len(now)) > _LONGEST:
        before, now = _around(before, now)
    return f"{option} was {_shown(before)}, now {_shown(now)}"


def _of_lists(option: str, before: Sequence[JSON], now: Sequence[JSON]) -> str:
    gone, new = (
        " ".join(str(item) for item in here if item not in there)
        for here, there in ((before, now), (now, before))
    )
    if gone and new:
        return f"{option} was {gone}, now {new}"
    if not gone and not new:
        return f"{option} was {' '.join(map(str, before))}, now {' '.join(map(str, now))}"
    return f"{option} {gone} is missing" if gone else f"{option} {new} is new"


def _of_files(option: str, before: Mapping[str, JSON], now: Mapping[str, JSON]) -> str:
    """Files are recorded as a name and a digest."""
    older, newer = (side.get("name", side.get("results")) for side in (before, now))
    return f"{option}: {newer} has changed" if older == newer else _difference(option, older, newer)


def _around(before: str, now: str) -> tuple[str, str]:
    """Excerpts of both texts around their first difference."""
    pairs = enumerate(zip(before, now, strict=False))
    index = next((index for index, (one, other) in pairs if one != other), min(len(before), len(now)))
    return _part(before, index), _part(now, index)


def _part(text: str, index: int) -> str:
    start, end = max(0, index - _AROUND), index + _AROUND
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"


def _shown(value: JSON) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "on" if value else "off"
    text = f"{value}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _questions(before: Digests, now: Digests) -> str:
    """The files that changed, if that is known."""
    changed = [name for name in now if before.get(name) != now[name]]
    gone = [name for name in before if name not in now]
    if not before or not (changed or gone):
        return f"{_QUESTIONS} have changed"
    texts = [f"{name} {'has changed' if name in before else 'is new'}" for name in changed]
    texts += [f"{name} is missing" for name in gone]
    more = len(texts) - _MOST_FILES
    return f"--topics: {', '.join(texts[:_MOST_FILES])}{f' and {more} more' if more > 0 else ''}"
