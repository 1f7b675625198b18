"""The results JSON as lines of text for a terminal. Pure; knows no colours and no pytest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from equipoise.types import JSON

HEAD = ("", "questions", "mean", "percent", "deviation", "how runs ended")
MOST_ERRORS = 10


def lines(data: Mapping[str, JSON], *, path: str, wall_seconds: float) -> Iterator[str]:
    """Table, spending, errors and the path of the results."""
    yield from _table(data["summary"])
    yield ""
    yield from _spending(data["metadata"], wall_seconds)
    yield from _errors(data["errors"])
    yield from _missing(data["metadata"])
    yield f"results: {path} ({data['metadata']['status']})"


def _table(summary: Mapping[str, JSON]) -> list[str]:
    overall = {
        "average_score": summary["overall_average_score"],
        "average_score_percentage": summary["overall_average_score_percentage"],
        "outcomes": summary["outcomes"],
    }
    rows: list[Sequence[str]] = [HEAD]
    rows += [_row(name, found) for name, found in summary["languages"].items()]
    rows += [_row(name, found) for name, found in summary["areas"].items()]
    rows.append(_row("overall", overall))
    return _align(rows)


def _row(name: str, found: Mapping[str, JSON]) -> tuple[str, ...]:
    percent = _figure(found["average_score_percentage"])
    return (
        name,
        str(found.get("questions", "")),
        _figure(found["average_score"]),
        f"{percent}%" if percent != "-" else percent,
        _figure(found["stddev"]) if "stddev" in found else "",
        ", ".join(f"{outcome} {n}" for outcome, n in found["outcomes"].items()),
    )


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns side by side, figures to the right, the first and the last column to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    last = len(widths) - 1

    def cell(column: int, text: str) -> str:
        return text.ljust(widths[column]) if column in (0, last) else text.rjust(widths[column])

    return ["  ".join(cell(n, text) for n, text in enumerate(row)).rstrip() for row in rows]


def _spending(metadata: Mapping[str, JSON], wall_seconds: float) -> Iterator[str]:
    calls, tokens, cost = metadata["calls"], metadata["tokens"], metadata["cost_usd"]
    for role in ("subject", "evaluator"):
        used = tokens[role]
        price = "cost unknown (no price for this model)" if cost[role] is None else f"{cost[role]:.4f} USD"
        yield f"{role + ':':<11}{used['input']:,} tokens in, {used['output']:,} out, {price}"
    counts = f"{calls['made']:,} made, {calls['replayed']:,} replayed, {calls['retries']:,} retries"
    yield f"calls:     {counts}; wall time {duration(wall_seconds)}"
    for change in metadata["parameters_changed"]:
        yield f"parameter: {change['model']}: {change['parameter']} {change['action']} ({change['reason']})"


def _errors(errors: Sequence[Mapping[str, JSON]]) -> Iterator[str]:
    for error in errors[:MOST_ERRORS]:
        where = f"{error['language']} question {error['question_index']} run {error['run_index']}"
        yield f"{error['outcome']}: {where}: {error['message']}"
    if len(errors) > MOST_ERRORS:
        yield f"... and {len(errors) - MOST_ERRORS} more under 'errors' in the results"


def _missing(metadata: Mapping[str, JSON]) -> Iterator[str]:
    missing = metadata["runs_expected"] - metadata["runs_completed"]
    if missing:
        total = metadata["runs_expected"]
        yield f"{missing} of {total} runs have no record yet; the same command resumes them"


def duration(seconds: float) -> str:
    """A time span for people: 42 s, 3 min 20 s, 2 h 05 min."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"
