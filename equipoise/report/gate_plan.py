"""The plan of a gate as text: a table by margins and runs, then the runs that decide enough releases."""

from __future__ import annotations

from collections.abc import Iterator

from equipoise.comparison.gate.planning import TARGET, GatePlan
from equipoise.report.layout import INDENT, align
from equipoise.stats.power import Shares

_RUNS = (2, 3, 5, 8, 12, 20)
_MULTIPLES = (0.5, 1.0, 1.5, 2.0)
"""The margins of the table, as multiples of the rule's margin."""
_GOAL = f"{round(100 * TARGET)} of 100"


def lines(plan: GatePlan, width: int) -> Iterator[str]:
    """Lines on how 100 unchanged releases are decided, by margin and runs, and on the runs that decide 95."""
    unit = "pp" if plan.metric.unit == "%" else plan.metric.unit
    value = f"{plan.spread.value:.1f} {plan.metric.unit}"
    yield f"plan:      {plan.rule.text} from {plan.file}: {value}, {plan.runs:.3g} runs of each case"
    yield f"{INDENT}of 100 unchanged releases PASS / FAIL / INCONCLUSIVE, by runs before and after"
    yield ""
    yield from align([*_rows(plan, unit)], width)
    yield ""
    if plan.margin:
        yield from _enough(plan, unit)
    else:
        yield "runs:      with a margin of 0 what was observed decides, by chance; give the rule a margin"


def _rows(plan: GatePlan, unit: str) -> Iterator[list[str]]:
    yield ["margin", *(f"{runs} runs" for runs in _RUNS)]
    sign = "+" if plan.rule.sign > 0 else "-"
    for margin in dict.fromkeys(plan.margin * multiple for multiple in _MULTIPLES):
        yield [
            f"{sign}{margin:.3g} {unit}",
            *(_share_text(plan.shares(runs, runs, margin)) for runs in _RUNS),
        ]


def _share_text(shares: Shares) -> str:
    """The three shares in percent, rounded so that their sum is 100."""
    passed, failed = round(100 * shares.passed), round(100 * shares.failed)
    return f"{passed}/{failed}/{100 - passed - failed}"


def _enough(plan: GatePlan, unit: str) -> Iterator[str]:
    """Lines on the number of runs that decides _GOAL, and on the margin that the present number decides."""
    both, present = plan.runs_of_both(), f"{plan.runs:.3g}"
    if both is None:
        yield f"runs:      no number of runs decides {_GOAL}: take a wider margin"
    else:
        alone = plan.runs_after() or "no number would"
        yield f"runs:      {both} before and after decide {_GOAL}; against this baseline's {present}: {alone}"
        if planned := plan.in_rounds(both):
            decided, mean = f"{100 * planned.rounds.decided:.0f} of 100", f"{planned.rounds.mean:.1f}"
            yield (
                f"in rounds: --until gate --runs {planned.runs} decides {decided}, after {mean} on average; "
                f"runs before: {planned.before:.3g}"
            )
    if margin := plan.decided_margin():
        yield f"margin:    {present} runs before and after decide {_GOAL} at {margin:g} {unit}"
