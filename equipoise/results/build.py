"""Builds the results from the journal, the suite and the rubric. Writes no file.

All figures use plain runs only, except those about who asks, which also use runs with a cue (`--asker`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import cast

import msgspec

from equipoise.core import json_io
from equipoise.core.files import shown
from equipoise.core.records import Record
from equipoise.core.rows import QuestionRow, RunRow, count_outcomes
from equipoise.core.settings import BATCH_DISCOUNT, FILE, Price
from equipoise.core.types import JSON, Usage
from equipoise.judge.rubric import Rubric, Scale
from equipoise.results import answered, askers, audits, cautions, rows, sections
from equipoise.results.document import (
    SCHEMA_VERSION,
    AnsweredBy,
    ChangedParameter,
    Metadata,
    RunError,
    Status,
    Summary,
)
from equipoise.results.history import History
from equipoise.results.lines import LimitLine, SessionLine
from equipoise.results.results import Results, typed
from equipoise.results.totals import Totals
from equipoise.suites import AnySuite

MOST_MOVES = 100
"""Maximum number of cuts of the concurrency limit that results list."""


def build(
    suite: AnySuite, rubric: Rubric, history: History, path: Path | None = None, *, is_running: bool = False
) -> Results:
    """The results of a journal, for a file at `path`.

    While the session is running they have no statistics. When it has ended, `finished` is the current time.
    """
    plain, cued = askers.split_history(history)
    records, scale = plain.records(), rubric.scale
    metadata = _metadata(suite.name, scale, plain, records, plain.status(is_running=is_running))
    unscored = [record for record in records if record.score is None]
    # Rows replace records to save memory. Only the statistics of a panel need the records again.
    panel_records = list(records) if len(metadata["evaluators"]) > 1 else []
    run_rows = rows.of_records(suite, draining(records), scale)
    summary = {"outcomes": count_outcomes(run_rows), **suite.summary(run_rows, scale)}
    errors = _errors(suite, unscored, run_rows)
    if sentences := [
        *cautions.of_given_replies(metadata),
        *cautions.of_thoughts(plain.totals),
        *suite.judging.cautions(run_rows, metadata),
    ]:
        metadata["cautions"] = sentences
    results = Results(
        suite=suite,
        metadata=metadata,
        summary=cast("Summary", summary),
        rows=run_rows,
        errors=errors,
        sections={"audit": audits.by_evaluator(suite, history, is_running=is_running)},
        path=path,
        file="" if path is None else shown(path),
    )
    if not is_running:
        results = _with_statistics(results, scale, history, panel_records)
    if cued is not None:
        results = _with_askers(results, scale, cued, is_running=is_running)
    added = {} if is_running else _added_sections(history, metadata["verdicts_sha256"])
    return replace(results, sections={**results.sections, **typed(added)})


def _with_askers(plain: Results, scale: Scale, cued: History, *, is_running: bool) -> Results:
    """The results with the runs with a cue and, once the session has ended, the figures about who asks."""
    suite = plain.suite
    records = cued.records()
    unscored = [record for record in records if record.score is None]
    cued_rows = askers.rows_of(suite, plain.rows, draining(records), scale)
    errors = _errors(suite, unscored, [*plain.rows, *cued_rows])
    section = askers.section(cued, errors, is_running=is_running)
    summary = plain.summary.copy()
    if not is_running:
        summary["asker"] = askers.summarise(suite, plain.rows, cued_rows, cued.settings["asker"])
    return replace(
        plain, cued_rows=cued_rows, summary=summary, sections={**plain.sections, "askers": section}
    )


def draining(records: list[Record]) -> Iterator[Record]:
    """Yield the records in order, removing each from the list, so that it can be freed."""
    records.reverse()
    while records:
        yield records.pop()


def _added_sections(history: History, verdicts_sha256: str) -> dict[str, JSON]:
    """Sections that commands added for verdicts with this digest; others are outdated."""
    lines = {name: history.sections[name] for name in sections.SECTION_NAMES if name in history.sections}
    return {name: line.content for name, line in lines.items() if line.verdicts_sha256 == verdicts_sha256}


def _with_statistics(
    results: Results, scale: Scale, history: History, panel_records: Sequence[Record]
) -> Results:
    """The results with the statistics of their plain runs. `panel_records` are empty without a panel."""
    # Imported here: numpy and scipy are slow to load, and only aggregation needs them.
    from equipoise.results.summary import apply_looks, summarise

    suite, cells = results.suite, results.cells
    statistics = summarise(
        suite, cells, scale, lambda evaluator: rows.of_records(suite, panel_records, scale, evaluator)
    )
    if looks := [*history.plans.looks.values()]:
        statistics |= apply_looks(statistics["metrics"], looks, **_savings(history))
    whole = cast("Summary", {**results.summary, **statistics})
    return replace(results, summary=whole, own_cells=cells)


def _savings(history: History) -> dict[str, int]:
    """The maximum number of rounds of `--until`, and the single runs and estimated calls that it saved.

    A round is one run of each case, so the maximum is the setting `runs`.
    """
    left_out, done = history.plans.left_out, len(history.planned) - len(history.missing())
    audit_calls = sum(len(line.calls) for line in history.anchors.values())
    calls = round((history.totals.calls.total() - audit_calls) / done * left_out) if done else 0
    return {"runs_planned": history.settings["runs"], "runs_left_out": left_out, "calls_saved": calls}


def _metadata(suite: str, scale: Scale, history: History, records: list[Record], status: Status) -> Metadata:
    last = history.sessions[-1]
    languages = list(dict.fromkeys(history.planned.values()))
    metadata = {
        "schema_version": SCHEMA_VERSION,
        "suite": suite,
        "status": status,
        **history.settings,
        "endpoints": _endpoint_names(history),
        "scale": {"low": scale.low, "high": scale.high},
        "languages": languages,
        "selection": history.selection,
        # Named as in the published benchmark, whose questions are in a file for each language.
        "files_expected": len(languages),
        "files_completed": len(languages) - len({history.planned[run] for run in history.missing()}),
        "runs_expected": len(history.planned),
        "runs_completed": len(records),
        "started": history.sessions[0].started,
        "finished": None if status == "running" else datetime.now(UTC).isoformat(timespec="seconds"),
        "sessions": len(history.sessions),
        "data_notes": list(last.data_notes),
        **last.versions,
        **last.session_settings,
        **_reported_models(history.totals, last.session_settings["concurrency"]),
        "evaluators": _verdict_counts(records),
        "parameters_changed": msgspec.convert(
            msgspec.to_builtins([*history.learned.values()]), list[ChangedParameter]
        ),
        "limits": _limits(history.limits),
        **_usage_and_cost(history.totals, history.sessions),
        "verdicts_sha256": verdicts_digest(records),
    }
    return cast("Metadata", metadata)


def verdicts_digest(records: Sequence[Record]) -> str:
    """SHA-256, hexadecimal, of the outcomes and scores of all runs, as one JSON list in the order of ids."""
    digest, before = hashlib.sha256(), b"["
    # Hashed row by row: the whole list would need much memory.
    for record in sorted(records, key=attrgetter("id")):
        row = json_io.dumps([record.id, record.outcome, record.score, record.percent])
        digest.update(before + row.rstrip(b"\n"))
        before = b","
    digest.update(b"]\n" if records else b"[]\n")
    return digest.hexdigest()


def _reported_models(totals: Totals, concurrency: int) -> dict[str, JSON]:
    """Models, fingerprints and upstream providers that endpoints reported, and any change of these."""
    models = [
        {
            "role": role,
            "model": model,
            "response_model": response_model,
            "system_fingerprint": fingerprint,
            "provider": provider,
            **asdict(calls),
        }
        for (role, model, response_model, fingerprint, provider), calls in totals.reported.items()
    ]
    section = {"response_models": sorted(models, key=lambda row: [str(value) for value in row.values()])}
    rows = cast("list[AnsweredBy]", section["response_models"])
    return {**section, "answered": answered.describe_changes(rows, concurrency)}


def _verdict_counts(records: list[Record]) -> dict[str, JSON]:
    """Counts of each evaluator's valid and missing verdicts."""
    by_evaluator: dict[str, dict[str, int]] = {}
    for record in records:
        for verdict in record.verdicts:
            counts = by_evaluator.setdefault(verdict.evaluator, {"verdicts": 0, "missing": 0})
            counts["verdicts" if verdict.fields is not None else "missing"] += 1
    return by_evaluator


def _limits(lines: Sequence[LimitLine]) -> dict[str, JSON]:
    """The limits on calls in flight, and how they were cut when endpoints refused calls."""
    cuts = [line for line in lines if line.event == "cut"]
    ends = [line for line in lines if line.event == "end"]
    keys = ("session", "endpoint", "second", "status", "pause", "before", "after", "sustained")
    return {
        "highest": max((line.highest for line in ends), default=None),
        "lowest": min((line.lowest for line in ends), default=None),
        "last": _last_limits(ends),
        # For a session that was killed, only the cuts are known.
        "refused": max(len(cuts), sum(line.refused for line in ends)),
        "cuts": len(cuts),
        "moves": [{name: getattr(line, name) for name in keys} for line in cuts[:MOST_MOVES]],
        "moves_left_out": max(0, len(cuts) - MOST_MOVES),
    }


def _last_limits(ends: Sequence[LimitLine]) -> list[int | None]:
    """The last limit on calls in flight of each endpoint, by its number; None if it is not known."""
    limits = {line.endpoint: line.last for line in ends}
    return [limits.get(number) for number in range(max(limits, default=-1) + 1)]


def _endpoint_names(history: History) -> dict[str, str]:
    """The URLs of the endpoints by role, or FILE for a role whose calls were answered from files."""
    urls: dict[str, str] = history.settings["endpoints"]
    return {role: FILE if role in history.file_roles else url for role, url in urls.items()}


def _usage_and_cost(totals: Totals, sessions: Sequence[SessionLine]) -> dict[str, JSON]:
    last, roles = sessions[-1], ("subject", "evaluator")
    # Not those of `History.settings`, which joins different URLs of several sessions.
    endpoints, discount = last.settings["endpoints"], discount_of(sessions)
    price: Price | None = last.session_settings["price_per_million"]
    # In a merged journal, the last session of each shard counts.
    calls_made = sum(totals.calls[session] for session in last.shards or [last.session])
    replayed = totals.calls.total() - calls_made
    cost = partial(_cost, totals, endpoints=endpoints, price=price, discount=discount)
    saved_by_cache = {role: _difference(cost(role, has_cache=False), cost(role)) for role in roles}
    return {
        "calls": {
            "made": calls_made,
            "replayed": replayed,
            "failed": totals.failed,
            "retries": totals.retries,
            "repeated": totals.repeats,
            **({"batched": totals.batched} if totals.batched else {}),
        },
        "tokens": {role: _tokens(totals, role) for role in roles},
        "cost_usd": {role: cost(role) for role in roles},
        **({"saved_by_cache_usd": saved_by_cache} if any(saved_by_cache.values()) else {}),
        "usage_estimated": {role: totals.estimated[role] for role in roles},
    }


def _tokens(totals: Totals, role: str) -> dict[str, int]:
    total: Counter[str] = Counter()
    for (role_of_model, _), tokens in totals.tokens.items():
        if role_of_model == role:
            total.update(tokens)
    return Usage(**total).to_json()


def discount_of(sessions: Sequence[SessionLine]) -> float:
    """The discount on calls in batches, in percent, of the last session that had any batches."""
    discounts = (session.session_settings.get("batch_discount") for session in reversed(sessions))
    return next((percent for percent in discounts if percent is not None), BATCH_DISCOUNT)


def _cost(
    totals: Totals,
    role: str,
    *,
    endpoints: Mapping[str, str],
    price: Price | None,
    discount: float,
    has_cache: bool = True,
) -> float | None:
    """The cost in USD of all calls in this role; None if a model has no price."""
    models = [model for role_of_model, model in totals.tokens if role_of_model == role]
    costs = [
        totals.cost(role, model, endpoints[role], price, discount, has_cache=has_cache) for model in models
    ]
    return None if any(value is None for value in costs) else round(sum(filter(None, costs)), 6)


def _difference(minuend: float | None, subtrahend: float | None) -> float | None:
    return None if minuend is None or subtrahend is None else round(minuend - subtrahend, 6)


def _errors(suite: AnySuite, unscored: Iterable[Record], run_rows: Iterable[RunRow]) -> list[RunError]:
    """An entry for each run without a score, with the number that its question has in the rows."""
    indices = {row.question.key: row.question.index for row in run_rows}
    return [_error_json(suite.question(record.case), record, indices) for record in unscored]


def _error_json(question: QuestionRow, record: Record, indices: Mapping[str, int]) -> RunError:
    invalid_answers = [text for verdict in record.verdicts for text in verdict.raw]
    return {
        "run": record.id,
        "language": question.language,
        "question_index": indices[question.key],
        "run_index": record.run,
        "question": question.text,
        "outcome": record.outcome,
        "message": record.error,
        "raw_evaluator_response": invalid_answers[-1] if invalid_answers else None,
        "raw_evaluator_responses": invalid_answers,
    }
