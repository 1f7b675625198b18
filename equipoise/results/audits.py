"""Audits of evaluators in results: made of a journal's verdicts on anchors, or kept from an earlier audit.

A kept audit is a file in `audits/`, one for each evaluator and suite; earlier ones are in its archive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path

from equipoise.core import json_io
from equipoise.core.files import read_bytes
from equipoise.core.types import JSON
from equipoise.results import store
from equipoise.results.history import History
from equipoise.suites import AnySuite

FOLDER = "audits"
"""The folder below that of the results."""
VERSION = "2"
COMPLETE, INCOMPLETE = "complete", "incomplete"
_IDENTITY = ("extent", "rubric_hash", "anchors_hash", "response_models", "sampling", "system_prompt")
"""Audits that differ in one of these do not replace each other."""
_SEEN = ("response_model", "system_fingerprint", "provider")
_SAMPLING = ("temperature", "top_p", "top_k")
_TEXT = ("topic", "language", "kind", "host", "aspect")
_ABOUT = (
    "extent",
    "finished",
    "verdicts",
    "planned",
    "rubric_version",
    "rubric_hash",
    "anchors_hash",
    "response_models",
    "sampling",
    "system_prompt",
)
Audit = Mapping[str, JSON]
"""One evaluator's audit, as in results or as it is kept."""


def found(suite: AnySuite, history: History, *, is_running: bool = False) -> dict[str, JSON]:
    """The audit of each evaluator of a journal; None of one that was not audited."""
    return {
        str(name): _own(suite, history, name, is_running=is_running) or _kept(history, name)
        for name in history.settings["evaluator_models"]
    }


def verdict_name(evaluator: str, anchor: str, repeat: int) -> str:
    """The name of one verdict in the journal, as a run has an id."""
    return f"audit-{evaluator}-{anchor}-{repeat}"


def missing(history: History, evaluator: str) -> list[str]:
    """The names of an evaluator's verdicts that the planned audit still needs."""
    return [name for name in _names(history, evaluator) if name not in history.anchors]


def _names(history: History, evaluator: str) -> list[str]:
    planned = history.audit.anchors if history.audit else {}
    return [verdict_name(evaluator, anchor, n) for anchor, times in planned.items() for n in range(times)]


def _own(suite: AnySuite, history: History, evaluator: str, *, is_running: bool) -> dict[str, JSON] | None:
    """The audit in the journal; as long as verdicts are missing it says nothing about the evaluator."""
    plan = history.audit
    if plan is None:
        return None
    names = _names(history, evaluator)
    lines = [history.anchors[name] for name in names if name in history.anchors]
    is_complete = len(lines) == len(names)
    said = {
        "extent": plan.extent,
        "finished": max((line.at for line in lines), default=None),
        "verdicts": len(lines),
        "planned": len(names),
        "rubric_version": history.settings["rubric_version"],
        "rubric_hash": history.settings["rubric_hash"],
        "anchors_hash": plan.anchors_hash,
        "response_models": models(row for line in lines for row in line.seen),
        "sampling": history.settings["evaluator_sampling"],
        "system_prompt": history.settings["evaluator_system_prompt"],
    }
    if not is_complete or is_running:
        return _audit("session", said, [], state=COMPLETE if is_complete else INCOMPLETE)
    judged = list(chain.from_iterable(line.judged for line in lines))
    return _audit(
        "session", {**said, **concluded(suite, judged, plan.order)}, _differs(history, evaluator, said)
    )


def _kept(history: History, evaluator: str) -> dict[str, JSON] | None:
    said = history.kept_audits.get(evaluator)
    return None if said is None else _audit("kept", said, _differs(history, evaluator, said))


def _audit(source: str, said: Audit, differs: Sequence[str], *, state: str = COMPLETE) -> dict[str, JSON]:
    """An audit as in results, where several verdicts on one text are listed together."""
    return {
        "state": state,
        "source": source,
        **{name: said[name] for name in _ABOUT},
        "differs": list(differs),
        "checks": said.get("checks", []),
        "lean_by_language": said.get("lean_by_language", {}),
        "judged": _by_text(said.get("judged", ())),
    }


def _by_text(judged: Sequence[Audit]) -> list[dict[str, JSON]]:
    texts: dict[tuple[JSON, ...], dict[str, JSON]] = {}
    for row in judged:
        about = {name: row[name] for name in _TEXT if name in row}
        texts.setdefault(tuple(about.values()), {**about, "scores": []})["scores"].append(row["score"])
    return list(texts.values())


def concluded(suite: AnySuite, judged: Sequence[Audit], order: Sequence[Sequence[str]]) -> dict[str, JSON]:
    """The parts `checks`, `lean_by_language` and `judged` of a suite's complete audit, from its verdicts."""
    # Imported here: numpy and scipy are slow to load.
    from equipoise.judge.checks import lean_by_language
    from equipoise.judge.judged import Check, Judged
    from equipoise.results.summary import plain

    assert suite.audit is not None
    rows = [Judged(**row) for row in judged]
    every = suite.audit.checks(rows, [(above, below) for above, below in order])
    leans = lean_by_language(rows, suite.audit.MIRRORS)
    by_language = {name: check for name, check in leans.items() if check.n}

    def as_json(check: Check) -> dict[str, JSON]:
        # Rounded, a probability might come to lie on the other side of its level.
        ruled = {"is_fault": check.is_fault, "is_by_chance": check.is_by_chance}
        return {**plain(asdict(check)), "p": check.p, "level": check.level, **ruled}

    return {
        "checks": [as_json(check) for check in every],
        "lean_by_language": {language: as_json(check) for language, check in by_language.items()},
        "judged": list(judged),
    }


def models(rows: Iterator[tuple[JSON, ...]]) -> list[dict[str, JSON]]:
    """Which models, fingerprints and providers an endpoint reported, each once."""
    unique = sorted(set(rows), key=lambda row: [str(value) for value in row])
    return [dict(zip(_SEEN, row, strict=True)) for row in unique]


# Whether an audit is of the evaluator as it is now.


def _differs(history: History, evaluator: str, said: Audit) -> list[str]:
    """In what the evaluator of this journal is not the one that was audited, each in a few words."""
    now = [key[2:] for key in history.totals.seen if key[:2] == ("evaluator", evaluator)]
    return [
        *_other_model(said["response_models"], now),
        *_other_sampling(said, history.settings),
    ]


def _other_model(then: Sequence[Audit], now: Sequence[tuple[str | None, ...]]) -> Iterator[str]:
    for place, name in enumerate(_SEEN[:2]):
        before, after = {row[name] for row in then}, {row[place] for row in now}
        if before and after - before:
            yield f"the {name.replace('_', ' ')} was {_listed(before)}, now {_listed(after)}"


def _listed(names: set[str | None]) -> str:
    shown = sorted("unknown" if name is None else name for name in names)
    return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")


def _other_sampling(said: Audit, now: Audit) -> Iterator[str]:
    for name in _SAMPLING:
        before, after = (item.get(name) for item in (said["sampling"], now["evaluator_sampling"]))
        if before != after:
            yield f"its {name} was {_set(before)}, now {_set(after)}"
    if said["system_prompt"] != now["evaluator_system_prompt"]:
        yield "its system prompt was another"


def _set(value: JSON) -> str:
    return "not sent" if value is None else f"{value:g}"


# Files.


def keep(folder: Path, evaluator: str, suite: str, said: Audit) -> Path:
    """Write a complete audit below the folder of results, unless a later one is there. Raises OSError.

    An earlier one with another extent, rubric, model or sampling is archived under its date.
    """
    path = folder / FOLDER / f"{store.file_name(evaluator)}.{suite}.json"
    content = {"version": VERSION, "evaluator": evaluator, "suite": suite, **said}
    before = _read(path)
    if before is not None:
        if before["finished"] > said["finished"] or before == content:
            return path
        if not is_same(before, said):
            _archive(path, before["finished"])
    path.parent.mkdir(parents=True, exist_ok=True)
    store.write_json(path, content)
    return path


def _archive(path: Path, finished: str) -> None:
    stamp = "".join(character for character in finished[:19] if character.isalnum())
    folder = path.parent / store.ARCHIVE
    folder.mkdir(exist_ok=True)
    path.rename(folder / f"{path.stem}.{stamp}.json")


def is_same(one: Audit, other: Audit) -> bool:
    """Whether two audits are of the same extent, texts, model and sampling."""
    return all(one.get(name) == other.get(name) for name in _IDENTITY)


def of_session(suite: AnySuite, history: History, evaluator: str) -> dict[str, JSON] | None:
    """What is kept of the audit in a journal; None unless it is complete."""
    audit = None if missing(history, evaluator) else _own(suite, history, evaluator, is_running=False)
    if audit is None:
        return None
    lines = [history.anchors[name] for name in _names(history, evaluator)]
    judged = list(chain.from_iterable(line.judged for line in lines))
    return {**{name: audit[name] for name in audit if name not in ("source", "differs")}, "judged": judged}


def kept(folder: Path, evaluator: str, suite: str) -> list[dict[str, JSON]]:
    """The kept audits of an evaluator in a suite, the latest first."""
    name = f"{store.file_name(evaluator)}.{suite}"
    home = folder / FOLDER
    paths = (*home.glob("*.json"), *(home / store.ARCHIVE).glob("*.json"))
    own = (path for path in paths if path.stem == name or path.stem.rpartition(".")[0] == name)
    every = [said for path in own if (said := _read(path)) is not None]
    fitting = [said for said in every if (said["evaluator"], said["suite"]) == (evaluator, suite)]
    return sorted(fitting, key=lambda said: str(said["finished"]), reverse=True)


def _read(path: Path) -> dict[str, JSON] | None:
    """A kept audit; None if there is none, or one that this version cannot read."""
    try:
        said = json_io.loads(read_bytes(path))
        is_known = (
            said["version"] == VERSION and said["state"] == COMPLETE and isinstance(said["finished"], str)
        )
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return said if is_known else None
