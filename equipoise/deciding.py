"""What would decide a rule that is not decided: how many runs or questions, in a few words.

A suite has its own word for its questions: territories, pairs, scenarios.
"""

from __future__ import annotations

from collections.abc import Sequence

from equipoise.baseline import Side
from equipoise.compare import ROUNDING, Change
from equipoise.measures import valid
from equipoise.records import Cell, Metric
from equipoise.rules import Rule
from equipoise.stats.looks import run_variance
from equipoise.stats.paired import Better, Difference, needed_clusters, needed_runs

FEWEST = 6
"""Questions of which none differs from the others: fewer say nothing of a further one."""


def what_would_decide(rule: Rule, change: Change, margin: float, after: Side) -> str:
    """What a rule with this margin, in percentage points, would need to be decided."""
    found, noun, better = change.difference, after.suite.CLUSTERS, better_side(rule)
    worse = -(found.value or 0.0) if better == "higher" else (found.value or 0.0)
    if found.n < FEWEST and (found.se is None or found.low is None or (not margin and worse <= ROUNDING)):
        # As soon as there are enough, what was observed decides.
        return enough(noun)
    if found.low is None:
        return f"without an interval no number of runs or {noun} can be named"
    numbers = _numbers(found, margin, better, change.metric, after)
    if not margin:
        would = f"; if it stays as it is, about {numbers} would show it" if numbers else ""
        return f"with a margin of 0 what was observed decides: it was worse, but by chance perhaps{would}"
    if not numbers:
        return f"no number of runs or {noun} would decide it where the figures stand now"
    return f"if the difference stays as it is, about {numbers} would decide it"


def enough(noun: str) -> str:
    """What is said where there is next to nothing to go by."""
    return f"{FEWEST} {noun} or more are needed to decide it"


def better_side(rule: Rule) -> Better:
    """On which side of its bound a rule's figure is better."""
    return "higher" if rule.sign < 0 else "lower"


def _numbers(found: Difference, margin: float, better: Better, metric: Metric, after: Side) -> str:
    """So many runs, or so many questions; nothing where no number would do."""
    parts = []
    cells = [cell for cell in after.cells if metric.chooses(cell)]
    if metric.kind in ("mean", "balance") and (runs := _runs(found, margin, better, metric, cells)):
        parts.append(f"{runs:,} runs of each question")
    if questions := needed_clusters(found, margin, better):
        parts.append(f"{max(questions, FEWEST):,} {after.suite.CLUSTERS}")
    return " or ".join(parts)


def _runs(
    found: Difference, margin: float, better: Better, metric: Metric, cells: Sequence[Cell]
) -> int | None:
    values = {(cell.cluster, cell.stratum): valid(cell.of(metric.of)) for cell in cells}
    noise = run_variance(values)
    filled = [len(runs) for runs in values.values() if runs]
    if noise is None or not filled:
        return None
    return needed_runs(found, margin, better, runs=sum(filled) / len(filled), noise=noise)
