"""Builds the results JSON: a pure function of the journal, the suite and the rubric. Writes no file."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from operator import attrgetter

from equipoise.core import json_io
from equipoise.core.records import Record
from equipoise.core.settings import Price
from equipoise.core.types import JSON
from equipoise.judge.rubric import Rubric, Scale
from equipoise.models import prices
from equipoise.results import answered, audits, sections, versions
from equipoise.results.history import History, Status, Totals
from equipoise.suites import AnySuite

MOST_MOVES = 100
_TOKEN_KINDS = ("input", "output", "cached", "reasoning")


def build(suite: AnySuite, rubric: Rubric, history: History, *, is_running: bool = False) -> dict[str, JSON]:
    """The results JSON as plain data; intervals and other statistics only once the session has ended."""
    records = history.records()
    aggregate = suite.aggregate(records, rubric)
    metadata = _metadata(suite.NAME, rubric.scale, history, records, history.status(is_running=is_running))
    errors = [_error(record) for record in records if record.score is None]
    # Measuring and writing take their time and their memory, and need none of them.
    del records
    statistics = {} if is_running else _statistics(suite, rubric, history, aggregate.results)
    return {
        "metadata": metadata,
        "summary": {**aggregate.summary, **statistics},
        "audit": audits.found(suite, history, is_running=is_running),
        "results": aggregate.results,
        "errors": errors,
        **({} if is_running else _sections(history, metadata["verdicts_sha256"])),
    }


def _sections(history: History, verdicts: str) -> dict[str, JSON]:
    """What commands added to the results, where it is about these verdicts."""
    found = {name: history.sections[name] for name in sections.NAMES if name in history.sections}
    return {name: entry["content"] for name, entry in found.items() if entry["verdicts_sha256"] == verdicts}


def _statistics(
    suite: AnySuite, rubric: Rubric, history: History, results: Mapping[str, JSON]
) -> dict[str, JSON]:
    # Imported here: numpy and scipy are slow to load, and only aggregation needs them.
    from equipoise.results import summary

    statistics = summary.summarise(suite, results, rubric.scale)
    if history.looks:
        statistics |= summary.with_looks(
            statistics["metrics"], list(history.looks.values()), **_saved(history)
        )
    return statistics


def _saved(history: History) -> dict[str, int]:
    """The rounds that `--until` may take, and the runs and about the calls that it made unnecessary."""
    left_out, done = history.left_out, len(history.planned) - len(history.missing())
    of_audits = sum(len(entry["calls"]) for entry in history.anchors.values())
    calls = round((history.totals.calls.total() - of_audits) / done * left_out) if done else 0
    return {"runs_planned": history.settings["runs"], "runs_left_out": left_out, "calls_saved": calls}


def _metadata(
    suite: str, scale: Scale, history: History, records: list[Record], status: Status
) -> dict[str, JSON]:
    last = history.sessions[-1]
    languages = list(dict.fromkeys(history.planned.values()))
    return {
        "schema_version": versions.CURRENT,
        "suite": suite,
        "status": status,
        **history.settings,
        "scale": {"low": scale.low, "high": scale.high},
        "languages": languages,
        "selection": history.selection,
        "files_expected": len(languages),
        "files_completed": len(languages) - len({history.planned[run] for run in history.missing()}),
        "runs_expected": len(history.planned),
        "runs_completed": len(records),
        "started": history.sessions[0]["started"],
        "finished": None if status == "running" else datetime.now(UTC).isoformat(timespec="seconds"),
        "sessions": len(history.sessions),
        "data_notes": last["data_notes"],
        **last["versions"],
        **last["session_settings"],
        **_seen(history.totals, last["session_settings"]["concurrency"]),
        "evaluators": _evaluators(records),
        "parameters_changed": [_learned(entry) for entry in history.learned.values()],
        "limits": _limits(history.limits),
        **_spent(history.totals, last),
        "verdicts_sha256": verdicts_digest(records),
    }


def verdicts_digest(records: Sequence[Record]) -> str:
    """SHA-256, hexadecimal, of how each run ended and of its score."""
    digest, before = hashlib.sha256(), b"["
    # Piece by piece: of very many runs the whole list would be what takes most memory of all.
    for record in sorted(records, key=attrgetter("id")):
        row = json_io.dumps([record.id, record.outcome, record.score, record.percent])
        digest.update(before + row.rstrip(b"\n"))
        before = b","
    digest.update(b"]\n" if records else b"[]\n")
    return digest.hexdigest()


def _seen(totals: Totals, concurrency: int) -> dict[str, JSON]:
    """Which models, fingerprints and upstream providers the endpoints said had answered, and any change."""
    rows = [
        {
            "role": role,
            "model": model,
            "response_model": answering,
            "system_fingerprint": fingerprint,
            "provider": provider,
            **asdict(seen),
        }
        for (role, model, answering, fingerprint, provider), seen in totals.seen.items()
    ]
    found = {"response_models": sorted(rows, key=lambda row: [str(value) for value in row.values()])}
    return {**found, "answered": answered.sentences({**found, "concurrency": concurrency})}


def _evaluators(records: list[Record]) -> dict[str, JSON]:
    """How many valid verdicts each evaluator gave, and how often it gave none."""
    found: dict[str, dict[str, int]] = {}
    for record in records:
        for verdict in record.verdicts:
            counts = found.setdefault(verdict.evaluator, {"verdicts": 0, "missing": 0})
            counts["verdicts" if verdict.fields is not None else "missing"] += 1
    return found


def _learned(entry: Mapping[str, JSON]) -> dict[str, JSON]:
    return {name: entry[name] for name in ("role", "model", "parameter", "action", "reason")}


def _limits(entries: Sequence[Mapping[str, JSON]]) -> dict[str, JSON]:
    """How many calls were in flight at once, and how that changed when endpoints refused some."""
    cuts = [entry for entry in entries if entry["event"] == "cut"]
    ends = [entry for entry in entries if entry["event"] == "end"]
    shown = ("session", "endpoint", "second", "status", "pause", "before", "after")
    return {
        "highest": max((entry["highest"] for entry in ends), default=None),
        "lowest": min((entry["lowest"] for entry in ends), default=None),
        "last": _last_levels(ends),
        # Of a session that was killed only the cuts are known.
        "refused": max(len(cuts), sum(entry["refused"] for entry in ends)),
        "cuts": len(cuts),
        "moves": [
            {**{name: entry[name] for name in shown}, "borne": _sustained(entry)}
            for entry in cuts[:MOST_MOVES]
        ],
        "moves_left_out": max(0, len(cuts) - MOST_MOVES),
    }


def _sustained(cut: Mapping[str, JSON]) -> JSON:
    """How many calls in flight the endpoint had sustained; journals of format 4 have it by another key."""
    return cut["sustained"] if "sustained" in cut else cut["borne"]


def _last_levels(ends: Sequence[Mapping[str, JSON]]) -> list[int | None]:
    """How many calls each endpoint was given at the end, by its number; None where it is not known."""
    found = {entry["endpoint"]: entry["last"] for entry in ends}
    return [found.get(number) for number in range(max(found, default=-1) + 1)]


def _spent(totals: Totals, last: Mapping[str, JSON]) -> dict[str, JSON]:
    endpoints, price, roles = last["settings"]["endpoints"], _own_price(last), ("subject", "evaluator")
    # Of shards that were merged each one's last session counts.
    made = sum(totals.calls[session] for session in last.get("shards", [last["session"]]))
    replayed = totals.calls.total() - made
    return {
        "calls": {
            "made": made,
            "replayed": replayed,
            "failed": totals.failed,
            "retries": totals.retries,
            "repeated": totals.repeats,
        },
        "tokens": {role: _tokens(totals, role) for role in roles},
        "cost_usd": {role: _cost(totals, role, endpoints[role], price) for role in roles},
        "usage_estimated": {role: totals.estimated[role] for role in roles},
    }


def _tokens(totals: Totals, role: str) -> dict[str, int]:
    total: Counter[str] = Counter()
    for (found, _), tokens in totals.tokens.items():
        if found == role:
            total.update(tokens)
    return {kind: total[kind] for kind in _TOKEN_KINDS}


def _own_price(session: Mapping[str, JSON]) -> Price | None:
    given = session["session_settings"]["price_per_million"]
    return Price(**given) if given else None


def _cost(totals: Totals, role: str, base_url: str, price: Price | None) -> float | None:
    """USD of all calls in this role; None where a model has no price."""
    found = [
        prices.cost(model, base_url, tokens, price)
        for (kind, model), tokens in totals.tokens.items()
        if kind == role
    ]
    return None if any(value is None for value in found) else round(sum(filter(None, found)), 6)


def _error(record: Record) -> dict[str, JSON]:
    raw = [text for verdict in record.verdicts for text in verdict.raw]
    case = record.case
    return {
        "run": record.id,
        "language": case["language"],
        "question_index": case.get("index"),
        "run_index": record.run,
        "question": case.get("question"),
        "outcome": record.outcome,
        "message": record.error,
        "raw_evaluator_response": raw[-1] if raw else None,
        "raw_evaluator_responses": raw,
    }
