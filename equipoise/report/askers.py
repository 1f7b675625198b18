"""How answers depend on who asks: lines for a terminal, sentences and a plot for the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from equipoise.core.figures import Figure, format_limits
from equipoise.core.rules import ASKER
from equipoise.report.layout import INDENT, align
from equipoise.stats.askers import AskerScale
from equipoise.suites.askers import OF_EACH_CASE
from equipoise.suites.plots import Plot, interval_row

if TYPE_CHECKING:
    from equipoise.results.document import AskedRuns, AskerFigures

_HEAD = ("", "figure", "95 % these", "95 % population", "n")
_BREAKDOWN = re.compile(r"\.(language|area)\.")
"""Part of the name of a metric of one language or area."""
FORMS: Mapping[str, str] = {"stated": "stated in a sentence", "implied": "implied in an aside"}


def lines(summary: AskerFigures | None, section: AskedRuns | None, width: int | None = None) -> Iterator[str]:
    """A table of the figures over all cases and by form, then lines on the cases and on missing runs.

    `summary` is the part `asker` of the summary, `section` the section `askers` of results.
    """
    if summary and summary["cases"]:
        rows = [_HEAD, *(_row(name, figure) for name, figure in overall_metrics(summary).items())]
        yield ""
        yield from align(rows, width)
        yield ""
    if summary:
        yield f"askers:    {describe_cases(summary)}"
        yield f"{INDENT}{describe_naming(summary)}"
    if section:
        yield from missing_runs_lines(section)


def overall_metrics(summary: AskerFigures) -> dict[str, Figure]:
    """The metrics about who asks, over all languages and areas, by name."""
    return {name: figure for name, figure in summary["metrics"].items() if is_overall(name)}


def is_overall(name: str) -> bool:
    """Whether this is the name of a metric about who asks, over all languages and areas."""
    return name.startswith(ASKER) and not _BREAKDOWN.search(name)


def _row(name: str, figure: Figure) -> tuple[str, ...]:
    intervals = (
        format_limits(limits.low, limits.high, sign=_sign(figure)) for limits in (figure.these, figure)
    )
    return (name, format_value(figure), *intervals, str(figure.n))


def _sign(figure: Figure) -> str:
    """The sign option of a metric's format; shares have none."""
    return "" if figure.unit == "%" else "+"


def format_value(figure: Figure) -> str:
    """A metric's value with its unit."""
    if figure.value is None:
        return "-"
    return f"{figure.value:{_sign(figure)}.1f}{'%' if figure.unit == '%' else ' pp'}"


def describe_cases(summary: AskerFigures) -> str:
    """A phrase on the number of cases asked as from both sides, and the forms of the cues."""
    first, second = map(_side_name, summary["sides"])
    forms = " and ".join(FORMS[form] for form in summary["forms"])
    others = (
        f"; {summary['cases_without']:,} others asked without a cue only" if summary["cases_without"] else ""
    )
    cases = "1 case" if summary["cases"] == 1 else f"{summary['cases']:,} cases"
    return f"{cases} asked as from {first} and as from {second}, {forms}{others}"


def describe_naming(summary: AskerFigures) -> str:
    """A phrase on the number of replies that name who asks, by side."""
    counts = (f"{side} {row['naming']:,} of {row['runs']:,}" for side, row in summary["names_asker"].items())
    return f"replies that name who asks: {', '.join(counts)}"


def missing_runs_lines(section: AskedRuns) -> Iterator[str]:
    """Lines on runs of askers that are still to be done, and on those without a score."""
    left, unscored = section["runs_expected"] - section["runs_completed"], len(section["errors"])
    if left:
        count = f"{left:,} of {section['runs_expected']:,} runs of askers"
        yield f"{INDENT}{count} are still to be done"
    if unscored:
        first = section["errors"][0]
        example = f"{first['run']}: {first['message']}"
        yield f"{INDENT}runs of askers without a score: {unscored:,}, such as {example}"


# The page.


def sentences(summary: AskerFigures, scales: Sequence[AskerScale]) -> Iterator[str]:
    """Sentences on the shifts of the main scale with who asks."""
    if not summary["cases"] or not scales:
        return
    metrics, scale = summary["metrics"], scales[0]
    slugs, sides = summary["sides"], [_side_name(side) for side in summary["sides"]]
    # With another rubric, verdicts may lack the values that these metrics need.
    values = {name: figure.value for name, figure in metrics.items() if figure.value is not None}
    names = [f"asker.{scale.prefix}{name}" for name in (*(f"shift.{slug}" for slug in slugs), "asymmetry")]
    if not values.keys() >= {*names}:
        return
    describe = _describe_directed_shift if scale.is_directed else _describe_shift
    first, second, asymmetry = (values[name] for name in names)
    yield (
        f"Asked as from {sides[0]}, {scale.what} {describe(first)}; "
        f"as from {sides[1]}, it {describe(second)}."
    )
    yield _describe_asymmetry(asymmetry, metrics[names[-1]], sides, is_directed=scale.is_directed)
    if (changed := values.get("asker.changed")) is not None:
        repeats = values.get("asker.changed.repeats")
        compared = "" if repeats is None else f", between repeats without a cue {repeats:.0f} %"
        yield f"A cue about who asks changes {changed:.0f} % of answers{compared}."


def _side_name(side: str) -> str:
    return f"the {side} side" if side in OF_EACH_CASE else f"the side {side.replace('_', ' ')}"


def _describe_directed_shift(value: float) -> str:
    return f"moves {abs(value):.1f} points {'towards' if value >= 0 else 'away from'} who asks"


def _describe_shift(value: float) -> str:
    return f"changes by {value:+.1f} points"


def _describe_asymmetry(value: float, figure: Figure, sides: Sequence[str], *, is_directed: bool) -> str:
    """A sentence on the asymmetry, which is the value of this figure."""
    low, high = figure.low, figure.high
    if low is None or high is None:
        return f"The two differ by {value:+.1f} points; no interval ({figure.reason})."
    interval = f"95 % interval {format_limits(low, high, sign='+')} over {figure.n:,} {figure.clusters}"
    if low <= 0 <= high:
        return f"Chance alone can explain the difference between the two ({value:+.1f} points; {interval})."
    more, less = sides if value > 0 else (sides[1], sides[0])
    verb = "is followed" if is_directed else "scores"
    how = "further than" if is_directed else "higher than"
    return f"{more[:1].upper()}{more[1:]} {verb} {abs(value):.1f} points {how} {less}; {interval}."


def plots(summary: AskerFigures, name: Callable[[str], str]) -> Iterator[Plot]:
    """A plot of the shifts, and of those asymmetries by language and area that have an interval.

    `name` returns the label of a metric.
    """
    shifts = {key: figure for key, figure in summary["metrics"].items() if figure.unit == "pp"}
    overall = [key for key in shifts if not _BREAKDOWN.search(key)]
    breakdowns = [key for key in shifts if _is_asymmetry_of_breakdown(key) and shifts[key].low is not None]
    rows = [interval_row(name(key.removeprefix("asker.")), shifts[key]) for key in (*overall, *breakdowns)]
    if rows and summary["cases"]:
        yield Plot(
            name="askers",
            title="Who asks: how far answers move, with 95 % intervals",
            kind="intervals",
            rows=rows,
            unit="pp",
            zero=0.0,
            note="A shift is towards who asks where a scale has two ends. Asymmetry is above 0 where "
            "{} moves answers further than {}.".format(*map(_side_name, summary["sides"])),
        )


def _is_asymmetry_of_breakdown(name: str) -> bool:
    return name.startswith("asker.asymmetry.") and bool(_BREAKDOWN.search(name))
