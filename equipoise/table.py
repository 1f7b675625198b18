"""The results JSON as lines of text for a terminal. Pure; knows no colours and no pytest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from equipoise import worth
from equipoise.types import JSON

MOST_ERRORS = 10


def lines(
    rows: Sequence[Sequence[str]], data: Mapping[str, JSON], *, path: str, wall_seconds: float | None = None
) -> Iterator[str]:
    """The suite's table (head first), spending, errors and the path of the results.

    `wall_seconds` is None where nobody has measured it.
    """
    yield from align(rows)
    yield ""
    yield from worth.lines(data["summary"])
    yield from _spending(data["metadata"], wall_seconds)
    yield from _errors(data["errors"])
    yield from _missing(data["metadata"])
    if "covers" in data:
        every = data["metadata"]["runs_expected"]
        yield f"covers:    {data['covers']:,} of {every:,} runs, those of this session; the results hold all"
    yield f"results: {path} ({data['metadata']['status']})"


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns side by side, figures to the right, the first and the last column to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    last = len(widths) - 1

    def cell(column: int, text: str) -> str:
        return text.ljust(widths[column]) if column in (0, last) else text.rjust(widths[column])

    return ["  ".join(cell(n, text) for n, text in enumerate(row)).rstrip() for row in rows]


def _spending(metadata: Mapping[str, JSON], wall_seconds: float | None) -> Iterator[str]:
    calls, tokens, cost = metadata["calls"], metadata["tokens"], metadata["cost_usd"]
    estimated = metadata["usage_estimated"]
    for role in ("subject", "evaluator"):
        used = tokens[role]
        mark = ", partly estimated" if estimated[role] else ""
        price = "cost unknown" if cost[role] is None else f"{cost[role]:.4f} USD{mark}"
        yield f"{role + ':':<11}{used['input']:,} tokens in, {used['output']:,} out, {price}"
    counts = ", ".join(f"{calls[name]:,} {name}" for name in ("made", "replayed", "failed", "retries"))
    yield f"calls:     {counts}" + ("" if wall_seconds is None else f"; wall time {duration(wall_seconds)}")
    for role in (role for role, price in cost.items() if price is None):
        yield f"warning:   the {role}'s cost is not known: a model has no price"
    for role, count in estimated.items():
        if count:
            what = f"calls without a readable usage: {count:,}"
            yield f"warning:   the {role}'s tokens are partly estimated; {what}"
    limits = metadata["limits"]
    if limits["cuts"]:
        moved = f"between {limits['lowest']} and {limits['highest']}, " if limits["highest"] else ""
        yield f"limit:     {moved}cut {limits['cuts']} times for {limits['refused']} refused calls"
    for name, counts in metadata["evaluators"].items():
        if counts["missing"]:
            total = counts["missing"] + counts["verdicts"]
            yield f"evaluator: {name} gave no valid verdict in {counts['missing']} of {total} runs"
    for change in metadata["parameters_changed"]:
        yield f"parameter: {change['model']}: {change['parameter']} {change['action']} ({change['reason']})"


def _errors(errors: Sequence[Mapping[str, JSON]]) -> Iterator[str]:
    for error in errors[:MOST_ERRORS]:
        yield f"{error['outcome']}: {error['run']}: {error['message']}"
    if len(errors) > MOST_ERRORS:
        yield f"... and {len(errors) - MOST_ERRORS} more under 'errors' in the results"


def _missing(metadata: Mapping[str, JSON]) -> Iterator[str]:
    missing = metadata["runs_expected"] - metadata["runs_completed"]
    if missing:
        total = metadata["runs_expected"]
        yield f"{missing} of {total} runs are still to be done; a session that selects them goes on from here"


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
