"""From the journal to the results JSON: a pure function of the journal, the suite and the rubric."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from equipoise import journal, prices
from equipoise.rubric import Rubric
from equipoise.suites import Suite
from equipoise.types import JSON, Record

SCHEMA_VERSION = 1
Status = Literal["running", "interrupted", "complete"]
_TOKEN_KINDS = ("input", "output", "cached", "reasoning")


@dataclass(slots=True)
class Ledger:
    """Everything in a journal, added up line by line.

    `position` is how far it was read, in bytes; `planned` maps run ids to languages.
    """

    position: int = 0
    sessions: list[Mapping[str, JSON]] = field(default_factory=list)
    records: dict[str, Record] = field(default_factory=dict)
    planned: dict[str, str] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    retries: int = 0
    tokens: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    seen: dict[tuple[str, str, str | None, str | None], int] = field(default_factory=Counter)
    learned: dict[tuple[str, str, str], Mapping[str, JSON]] = field(default_factory=dict)
    unmetered: Counter[str] = field(default_factory=Counter)
    texts: dict[str, str] = field(default_factory=dict)

    def read_on(self, path: Path) -> None:
        """Add what was appended to the journal since the last time."""
        for entry, position in journal.read_from(path, self.position):
            self._add(entry)
            self.position = position

    def _add(self, entry: Mapping[str, JSON]) -> None:
        match entry["kind"]:
            case "session":
                self.sessions.append(entry)
                self.planned.update(entry["plan"])
            case "call":
                self._add_call(entry)
            case "failed":
                self.failed += 1
            case "learned":
                self.learned[entry["role"], entry["model"], entry["parameter"]] = entry
            case "record":
                self.records[entry["run"]] = self._shared(Record.from_json(entry["record"]))

    def _shared(self, record: Record) -> Record:
        """The record, with one copy for all of what every evaluator's transcript begins with."""
        for transcript in record.evaluators:
            first = transcript.messages[0]
            first["content"] = self.texts.setdefault(first["content"], first["content"])
        return record

    def _add_call(self, entry: Mapping[str, JSON]) -> None:
        reply, role, model = entry["reply"], entry["role"], entry["model"]
        self.calls[entry["session"]] += 1
        self.retries += reply.get("retries", 0)
        self.tokens[role, model].update(reply.get("usage") or {})
        self.unmetered[role] += "usage" not in reply and "blocked" not in reply
        self.seen[role, model, reply.get("model"), reply.get("fingerprint")] += 1

    def in_order(self) -> list[Record]:
        """The records of planned runs in the order of the plan."""
        return [self.records[run] for run in self.planned if run in self.records]

    def missing(self) -> list[str]:
        """The planned runs without a record."""
        return [run for run in self.planned if run not in self.records]

    def status(self, *, is_running: bool) -> Status:
        """Complete when every planned run has a score."""
        records = self.in_order()
        if len(records) == len(self.planned) and all(record.score is not None for record in records):
            return "complete"
        return "running" if is_running else "interrupted"


def build(suite: Suite[Any], rubric: Rubric, ledger: Ledger, *, is_running: bool = False) -> dict[str, JSON]:
    """The results JSON as plain data."""
    records = ledger.in_order()
    aggregate = suite.aggregate(records, rubric)
    return {
        "metadata": _metadata(suite.NAME, ledger, records, ledger.status(is_running=is_running)),
        "summary": {**aggregate.summary, "metrics": [asdict(metric) for metric in aggregate.metrics]},
        "results": aggregate.results,
        "errors": [_error(record) for record in records if record.score is None],
    }


def _metadata(suite: str, ledger: Ledger, records: list[Record], status: Status) -> dict[str, JSON]:
    last = ledger.sessions[-1]
    settings, languages = last["settings"], list(dict.fromkeys(ledger.planned.values()))
    return {
        "schema_version": SCHEMA_VERSION,
        "suite": suite,
        "status": status,
        **settings,
        "languages": languages,
        "selection": last["selection"],
        "files_expected": len(languages),
        "files_completed": len(languages) - len({ledger.planned[run] for run in ledger.missing()}),
        "runs_expected": len(ledger.planned),
        "runs_completed": len(records),
        "started": ledger.sessions[0]["started"],
        "finished": None if status == "running" else datetime.now(UTC).isoformat(timespec="seconds"),
        "sessions": len(ledger.sessions),
        **last["versions"],
        **last["session_settings"],
        **_seen(ledger),
        "evaluators": _evaluators(records),
        "parameters_changed": [_learned(entry) for entry in ledger.learned.values()],
        **_spent(ledger, last),
    }


def _seen(ledger: Ledger) -> dict[str, JSON]:
    """Which models and fingerprints the endpoints said had answered."""
    rows = [
        {
            "role": role,
            "model": model,
            "response_model": answered,
            "system_fingerprint": fingerprint,
            "calls": n,
        }
        for (role, model, answered, fingerprint), n in ledger.seen.items()
    ]
    return {"response_models": sorted(rows, key=lambda row: [str(value) for value in row.values()])}


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


def _spent(ledger: Ledger, last: Mapping[str, JSON]) -> dict[str, JSON]:
    made, settings = ledger.calls[last["session"]], last["settings"]
    replayed = ledger.calls.total() - made
    return {
        "calls": {"made": made, "replayed": replayed, "failed": ledger.failed, "retries": ledger.retries},
        "tokens": {role: _tokens(ledger, role) for role in ("subject", "evaluator")},
        "cost_usd": {
            role: _cost(ledger, role, settings["endpoints"][role]) for role in ("subject", "evaluator")
        },
    }


def _tokens(ledger: Ledger, role: str) -> dict[str, int]:
    total: Counter[str] = Counter()
    for (found, _), tokens in ledger.tokens.items():
        if found == role:
            total.update(tokens)
    return {kind: total[kind] for kind in _TOKEN_KINDS}


def _cost(ledger: Ledger, role: str, base_url: str) -> float | None:
    """USD of all calls in this role; None where a model has no price or a reply came without usage."""
    if ledger.unmetered[role]:
        return None
    found = [
        prices.cost(model, base_url, tokens)
        for (kind, model), tokens in ledger.tokens.items()
        if kind == role
    ]
    return None if any(value is None for value in found) else round(sum(filter(None, found)), 6)


def _error(record: Record) -> dict[str, JSON]:
    raw = [verdict.raw for verdict in record.verdicts if verdict.raw is not None]
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
    }
