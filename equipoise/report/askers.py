"""How answers depend on who asks: lines for a terminal, sentences and a plot for the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from equipoise.core.rules import ASKER
from equipoise.core.types import JSON
from equipoise.report.layout import INDENT, align
from equipoise.stats.askers import AskerScale
from equipoise.suites.askers import OF_EACH_CASE
from equipoise.suites.plots import Plot

_HEAD = ("", "figure", "95 % these", "95 % population", "n")
_BREAKDOWN = re.compile(r"\.(language|area)\.")
"""Part of the name of a metric of one language or area."""
FORMS: Mapping[str, str] = {"stated": "stated in a sentence", "implied": "implied in an aside"}


def lines(
    summary: Mapping[str, JSON] | None, section: Mapping[str, JSON] | None, width: int | None = None
) -> Iterator[str]:
    """A table of the figures over all cases and by form, then lines on the cases and on missing runs.

    `summary` is the part `asker` of the summary, `section` the section `askers` of results.
    """
    if summary and summary["cases"]:
        rows = [_HEAD, *(_row(name, metric) for name, metric in overall_metrics(summary).items())]
        yield ""
        yield from align(rows, width)
        yield ""
    if summary:
        yield f"askers:    {describe_cases(summary)}"
        yield f"{INDENT}{describe_naming(summary)}"
    if section:
        yield from _missing_runs_lines(section)


def overall_metrics(summary: Mapping[str, JSON]) -> dict[str, Mapping[str, JSON]]:
    """The metrics about who asks, over all languages and areas, by name."""
    return {name: metric for name, metric in summary["metrics"].items() if is_overall(name)}


def is_overall(name: str) -> bool:
    """Whether this is the name of a metric about who asks, over all languages and areas."""
    return name.startswith(ASKER) and not _BREAKDOWN.search(name)


def _row(name: str, metric: Mapping[str, JSON]) -> tuple[str, ...]:
    intervals = (
        "-"
        if limits["low"] is None
        else f"{limits['low']:{_sign(metric)}.1f} to {limits['high']:{_sign(metric)}.1f}"
        for limits in (metric["these"], metric)
    )
    return (name, format_value(metric), *intervals, str(metric["n"]))


def _sign(metric: Mapping[str, JSON]) -> str:
    """The sign option of a metric's format; shares have none."""
    return "" if metric["unit"] == "%" else "+"


def format_value(metric: Mapping[str, JSON]) -> str:
    """A metric's value with its unit."""
    if metric["value"] is None:
        return "-"
    return f"{metric['value']:{_sign(metric)}.1f}{'%' if metric['unit'] == '%' else ' pp'}"


def describe_cases(summary: Mapping[str, JSON]) -> str:
    """A phrase on the number of cases asked as from both sides, and the forms of the cues."""
    first, second = map(_side_name, summary["sides"])
    forms = " and ".join(FORMS[form] for form in summary["forms"])
    others = (
        f"; {summary['cases_without']:,} others asked without a cue only" if summary["cases_without"] else ""
    )
    cases = "1 case" if summary["cases"] == 1 else f"{summary['cases']:,} cases"
    return f"{cases} asked as from {first} and as from {second}, {forms}{others}"


def describe_naming(summary: Mapping[str, JSON]) -> str:
    """A phrase on the number of replies that name who asks, by side."""
    counts = (f"{side} {row['naming']:,} of {row['runs']:,}" for side, row in summary["names_asker"].items())
    return f"replies that name who asks: {', '.join(counts)}"


def _missing_runs_lines(section: Mapping[str, JSON]) -> Iterator[str]:
    left, unscored = section["runs_expected"] - section["runs_completed"], len(section["errors"])
    if left:
        count = f"{left:,} of {section['runs_expected']:,} runs of askers"
        yield f"{INDENT}{count} are still to be done"
    if unscored:
        first = section["errors"][0]
        example = f"{first['run']}: {first['message']}"
        yield f"{INDENT}runs of askers without a score: {unscored:,}, such as {example}"


# The page.


def sentences(summary: Mapping[str, JSON], scales: Sequence[AskerScale]) -> Iterator[str]:
    """Sentences on the shifts of the main scale with who asks."""
    if not summary["cases"] or not scales:
        return
    metrics, scale = summary["metrics"], scales[0]
    slugs, sides = summary["sides"], [_side_name(side) for side in summary["sides"]]
    # With another rubric, verdicts may lack the values that these metrics need.
    measured = {name: metric for name, metric in metrics.items() if metric["value"] is not None}
    names = [f"asker.{scale.prefix}{name}" for name in (*(f"shift.{slug}" for slug in slugs), "asymmetry")]
    if not measured.keys() >= {*names}:
        return
    *shifts, asymmetry = (measured[name] for name in names)
    describe = _describe_directed_shift if scale.is_directed else _describe_shift
    yield (
        f"Asked as from {sides[0]}, {scale.what} {describe(shifts[0]['value'])}; "
        f"as from {sides[1]}, it {describe(shifts[1]['value'])}."
    )
    yield _describe_asymmetry(asymmetry, sides, is_directed=scale.is_directed)
    if changed := measured.get("asker.changed"):
        repeats = measured.get("asker.changed.repeats")
        compared = f", between repeats without a cue {repeats['value']:.0f} %" if repeats else ""
        yield f"A cue about who asks changes {changed['value']:.0f} % of answers{compared}."


def _side_name(side: str) -> str:
    return f"the {side} side" if side in OF_EACH_CASE else f"the side {side.replace('_', ' ')}"


def _describe_directed_shift(value: float) -> str:
    return f"moves {abs(value):.1f} points {'towards' if value >= 0 else 'away from'} who asks"


def _describe_shift(value: float) -> str:
    return f"changes by {value:+.1f} points"


def _describe_asymmetry(metric: Mapping[str, JSON], sides: Sequence[str], *, is_directed: bool) -> str:
    value, low, high = metric["value"], metric["low"], metric["high"]
    interval = (
        f"no interval ({metric['reason']})"
        if low is None
        else f"95 % interval {low:+.1f} to {high:+.1f} over {metric['n']:,} {metric['clusters']}"
    )
    if low is None or low <= 0 <= high:
        return f"No difference between the two can be told from chance ({value:+.1f} points; {interval})."
    more, less = sides if value > 0 else (sides[1], sides[0])
    verb = "is followed" if is_directed else "scores"
    how = "further than" if is_directed else "higher than"
    return f"{more[:1].upper()}{more[1:]} {verb} {abs(value):.1f} points {how} {less}; {interval}."


def plots(summary: Mapping[str, JSON], name: Callable[[str], str]) -> Iterator[Plot]:
    """A plot of the shifts, and of those asymmetries by language and area that have an interval.

    `name` returns the label of a metric.
    """
    shifts = {key: metric for key, metric in summary["metrics"].items() if metric["unit"] == "pp"}
    breakdowns = {
        key: metric
        for key, metric in shifts.items()
        if _is_asymmetry_of_breakdown(key) and metric["low"] is not None
    }
    rows = [
        {
            "name": name(key.removeprefix("asker.")),
            **{field: metric[field] for field in ("value", "low", "high")},
        }
        for key, metric in {
            **{key: shifts[key] for key in shifts if not _BREAKDOWN.search(key)},
            **breakdowns,
        }.items()
    ]
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
