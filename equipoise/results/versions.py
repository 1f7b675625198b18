"""Converts results of earlier schema versions to the current one. No other module knows their forms.

Up to version 3, each suite nested its results in its own way: the objects of cases stood at any depth below
their language, each with a list `runs`. They and their runs had the suite's own keys beside the common ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from equipoise import suites
from equipoise.core.records import Record, Verdict
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON, Message
from equipoise.judge.rubric import Scale
from equipoise.results import rows
from equipoise.suites import AnySuite

CURRENT = 4
READABLE = (1, 2, 3, CURRENT)
_RENAMED_KEYS = {"deck": "dataset", "decks": "datasets", "deviation": "sd", "run_deviation": "run_sd"}
"""Keys of versions 1 and 2, and their current names."""
_RENAMED_LIMIT_KEYS = {"borne": "sustained"}
"""A key of version 3, and its current name."""
_RUN_KEYS = {
    *("run_index", "outcome", "score", "score_percentage", "error", "verdicts"),
    *("subject_transcript", "subject_transcripts", "evaluator_transcripts"),
}
_VERDICT_KEYS = {"evaluator", "fields", "attempts", "error", "raw"}


def upgrade(data: JSON) -> JSON:
    """The results in the current form, with `schema_version` unchanged.

    Results that are damaged raise an exception of `schema.DAMAGE`.
    """
    version = data["metadata"]["schema_version"]
    if version == CURRENT or version not in READABLE:
        return data
    renamed = _rename_keys(data) if version < 3 else data
    metadata = renamed["metadata"]
    if metadata["suite"] not in suites.names():
        return renamed
    suite, scale = suites.load(metadata["suite"]), metadata["scale"]
    results = _upgrade_results(
        suite, renamed["results"], Scale(low=scale["low"], high=scale["high"], levels={})
    )
    return {**renamed, "metadata": _rename_limit_keys(metadata), "results": results}


def _rename_limit_keys(metadata: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """The metadata with `sustained` in place of `borne`, its key in version 3; version 1 has no limits."""
    limits = metadata.get("limits")
    if not limits:
        return metadata
    moves = [{_RENAMED_LIMIT_KEYS.get(name, name): move[name] for name in move} for move in limits["moves"]]
    return {**metadata, "limits": {**limits, "moves": moves}}


def _rename_keys(data: JSON) -> JSON:
    if isinstance(data, dict):
        return {_RENAMED_KEYS.get(name, name): _rename_keys(value) for name, value in data.items()}
    return [_rename_keys(item) for item in data] if isinstance(data, list) else data


def _upgrade_results(suite: AnySuite, results: Mapping[str, JSON], scale: Scale) -> dict[str, JSON]:
    records: list[Record] = []
    questions: set[str] = set()
    runs: dict[str, Mapping[str, JSON]] = {}
    for language, part in results.items():
        for row in _find_rows(part):
            case = _case(language, row)
            question = suite.question(case)
            if question.key in questions:
                raise ValueError(f"a question stands there twice: {question.key}")
            questions.add(question.key)
            for run in row["runs"]:
                records.append(_record(suite, case, run, scale))
                runs[f"{question.key}/{run['run_index']}"] = run
    upgraded_rows = [_with_transcripts(row, runs[row.name]) for row in rows.of_records(suite, records, scale)]
    converted: dict[str, JSON] = _call_functions(rows.to_json(suite, upgraded_rows, scale))
    return converted


def _find_rows(data: JSON) -> Iterator[Mapping[str, JSON]]:
    """The objects of all cases below a language, at any depth, in order."""
    if isinstance(data, dict) and isinstance(data.get("runs"), list) and "id" in data:
        yield data
    elif isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _find_rows(value)


def _case(language: str, row: Mapping[str, JSON]) -> dict[str, JSON]:
    """The case of a row, as in journals. Only some suites put the language before its id."""
    case = {name: value for name, value in row.items() if name != "runs"}
    short_id = str(row["id"]).removeprefix(f"{language}-")
    return {
        **case,
        "index": row.get("question_index", 0),
        "area": row.get("area", ""),
        "item": row.get("item", short_id),
        "id": f"{language}-{short_id}",
        "language": language,
    }


def _record(suite: AnySuite, case: Mapping[str, JSON], run: Mapping[str, JSON], scale: Scale) -> Record:
    details = {name: value for name, value in run.items() if name not in _RUN_KEYS}
    score, percent = run["score"], run.get("score_percentage")
    return Record(
        case=case,
        run=run["run_index"],
        outcome=run["outcome"],
        score=score,
        percent=scale.percent(score) if percent is None and score is not None else percent,
        error=run.get("error"),
        verdicts=_verdicts(suite, run, details),
        details=details,
    )


def _verdicts(suite: AnySuite, run: Mapping[str, JSON], details: Mapping[str, JSON]) -> tuple[Verdict, ...]:
    if "verdicts" in run:
        return tuple(map(_verdict, run["verdicts"]))
    if suite.name == "even_handedness" and details["blocked"] is not None:
        # This suite stored the judgements of which verdicts are made, not the verdicts.
        from equipoise.suites.even_handedness.scoring import verdicts

        return verdicts(details["judgements"], details["blocked"])
    return ()


def _verdict(item: Mapping[str, JSON]) -> Verdict:
    fields = item.get("fields") or {name: item[name] for name in item if name not in _VERDICT_KEYS}
    is_valid = any(value is not None for value in fields.values())
    return Verdict(
        evaluator=item["evaluator"],
        fields=fields if is_valid else None,
        attempts=item.get("attempts", 0),
        error=item.get("error"),
    )


def _with_transcripts(row: RunRow, run: Mapping[str, JSON]) -> RunRow:
    return replace(
        row,
        subject_transcript=lambda: _messages(run),
        evaluator_transcripts=lambda: run.get("evaluator_transcripts") or [],
    )


def _messages(run: Mapping[str, JSON]) -> list[Message]:
    if sides := run.get("subject_transcripts"):
        return [message | {"conversation": side} for side, messages in sides.items() for message in messages]
    messages: list[Message] = run.get("subject_transcript") or []
    return messages


def _call_functions(data: JSON) -> JSON:
    """A copy of the JSON with each function in it replaced by its value."""
    if callable(data):
        return _call_functions(data())
    if isinstance(data, dict):
        return {name: _call_functions(value) for name, value in data.items()}
    return [_call_functions(item) for item in data] if isinstance(data, list) else data
