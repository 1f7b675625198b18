"""Comparisons and rankings as text: lines for a terminal, Markdown for a job summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

from equipoise.core.errors import printable
from equipoise.core.figures import Change, ChangeOnThese, format_limits
from equipoise.core.rules import ASKER
from equipoise.core.types import JSON
from equipoise.report import askers, verdict
from equipoise.report.layout import align, text_width

if TYPE_CHECKING:
    from equipoise.comparison.panels import RankCorrelation
    from equipoise.comparison.release import ReleaseSections
    from equipoise.comparison.trend import ReleaseFigure, Trend
    from equipoise.results.document import CaseMove, ComparedResults, ComparisonFigures

_HEAD = ("difference", "95 % these", "95 % population", "p", "p (Holm)")
_ROLES = ("baseline", "candidate")
_SCOPES_NOTE = (
    "these: the same questions asked again; population: other questions like them. Neither interval holds "
    "what other evaluators would say."
)
_STARS_NOTE = "* p < 0.05 after Holm, for questions like these"
MOST_ROWS = 60
"""Maximum number of metrics in the table."""
MOST_MOVES = 5
"""Maximum number of questions that are listed as fallen, and as risen."""
Way = Literal["fell", "rose"]
WAYS: tuple[Way, ...] = ("fell", "rose")


def lines(comparison: ComparisonFigures, width: int | None = None) -> Iterator[str]:
    """The lines of a comparison, given as `Comparison.to_json` returns it, with control characters escaped.

    The table is at most `width` columns wide, if it is given.
    """
    return map(printable, _lines(comparison, width))


def _lines(comparison: ComparisonFigures, width: int | None) -> Iterator[str]:
    older, newer = comparison["baseline"], comparison["candidate"]
    yield f"baseline:  {_describe_side(older)}{describe_restriction(comparison)}"
    yield f"candidate: {_describe_side(newer)}"
    for reason in comparison["mismatches"]:
        yield f"MISMATCH:  {reason}"
    for warning in comparison["warnings"]:
        yield f"warning:   {warning}"
    for effect in comparison["effects"]:
        yield f"effect:    {effect}"
    yield ""
    yield from _with_mark(_table_lines(comparison, width and width - len(_mark(comparison))), comparison)
    if (left_out := len(comparison["metrics"]) - MOST_ROWS) > 0:
        yield f"... and {left_out} more metrics in the results JSON"
    yield from _note_lines(comparison)
    yield ""
    for way in WAYS:
        yield from _with_mark(move_lines(comparison, way), comparison)


def _table_lines(comparison: ComparisonFigures, width: int | None) -> list[str]:
    """The table of metrics. If wider than `width`, it has stars for p-values, and fewer digits if need be."""
    shown = _select_metrics(comparison["metrics"])
    table = align(metric_rows({**comparison, "metrics": shown}), width, only_head=True)
    if width is None or max(map(text_width, table)) <= width:
        return table
    for heads, digits in product((_without_provider(side_labels(comparison)), _ROLES), (1, 0)):
        narrow = [_narrow_row(name, change, digits) for name, change in shown.items()]
        table = align([("", *heads, *_HEAD[:-2]), *narrow], width)
        if max(map(text_width, table)) <= width:
            break
    metrics, clusters = comparison["metrics"], comparison["clusters"]
    reasons = _reason_lines(list(metrics.values()), f"{clusters} like these")
    return [*table, _STARS_NOTE, *reasons]


def _select_metrics(metrics: Mapping[str, Change]) -> dict[str, Change]:
    """At most MOST_ROWS metrics: the first, then those about who asks.

    Metrics about who asks over all cases are always among them.
    """
    by_asker = {name: metric for name, metric in metrics.items() if askers.is_overall(name)}
    plain = {name: metric for name, metric in metrics.items() if not name.startswith(ASKER)}
    selected = {**dict([*plain.items()][: MOST_ROWS - len(by_asker)]), **by_asker}
    others = {name: metric for name, metric in metrics.items() if name not in selected}
    return {**selected, **dict([*others.items()][: MOST_ROWS - len(selected)])}


def _note_lines(comparison: ComparisonFigures) -> Iterator[str]:
    """Notes on the intervals of the two scopes, and reasons for missing ones in the scope `these`."""
    differences = [change.these for change in comparison["metrics"].values()]
    if not differences:
        return
    yield _SCOPES_NOTE
    if looks := comparison["looks"]:
        yield f"The intervals allow for {looks} looks."
    yield from _reason_lines(differences, "these questions")


def _reason_lines(differences: Sequence[Change | ChangeOnThese], scope: str) -> Iterator[str]:
    """A line for each kind of reason why figures have no interval, with the number of figures."""
    # A kind is what stands before the colon; details follow it.
    reasons: dict[str, list[str]] = {}
    for row in differences:
        if row.low is None and row.reason is not None:
            reasons.setdefault(row.reason.partition(":")[0], []).append(row.reason)
    for same in reasons.values():
        yield f"no interval on {scope} for {len(same)} of {len(differences)} metrics: {same[0]}"


def _describe_side(side: ComparedResults) -> str:
    about = f"{side['subject_model']} ({side['file']}, {_day(side)})"
    return f"{about}{_describe_verification(side)}"


def _describe_verification(side: ComparedResults) -> str:
    """Whether a file was verified against its journal; empty for a session that has just ended."""
    if side.get("sha256") is None:
        return ""
    return f", not verified: {side['doubt']}" if side["doubt"] else ", verified against its journal"


def describe_restriction(comparison: ComparisonFigures) -> str:
    """A phrase on the number of cases compared; empty if it is the whole baseline."""
    total, shared = comparison["baseline_cases"], comparison["cases"]
    return "" if total == shared else f", restricted to {shared:,} of its {total:,} cases"


def _day(side: ComparedResults) -> str:
    return str(side["started"] or "")[:10]


def _with_mark(texts: Sequence[str], comparison: ComparisonFigures) -> Iterator[str]:
    """The lines, each with a mark if the settings of the two results do not match."""
    mark = _mark(comparison)
    return (f"{text}{mark}" for text in texts)


def _mark(comparison: ComparisonFigures) -> str:
    return "  [mismatch]" if comparison["mismatches"] else ""


def metric_rows(comparison: ComparisonFigures) -> list[tuple[str, ...]]:
    """A row for each metric, header first."""
    head = ("", *side_labels(comparison), *_HEAD)
    return [head, *(_metric_row(name, change) for name, change in comparison["metrics"].items())]


def side_labels(comparison: ComparisonFigures) -> tuple[str, str]:
    """The headings of the columns of baseline and candidate."""
    older, newer = _labels([comparison["baseline"], comparison["candidate"]])
    return older, newer


def _labels(sides: Sequence[ComparedResults]) -> Sequence[str]:
    """The models of a baseline and its candidates; if several are the same, their files, else their roles."""
    models = [str(side["subject_model"]) for side in sides]
    files = _stems([_without_folders(str(side["file"])) for side in sides])
    roles = _ROLES if len(sides) == 2 else ["baseline", *(f"candidate {n}" for n in range(1, len(sides)))]
    return next(labels for labels in (models, files, roles) if len(set(labels)) == len(sides))


def _without_folders(files: str) -> str:
    """The names of files that were pooled into one side, joined by " + "."""
    return " + ".join(PurePath(file).name for file in files.split(" + "))


def _stems(files: Sequence[str]) -> Sequence[str]:
    """The file names without the suffixes that all of them share, such as `.json` and the suite's name."""
    while len({PurePath(file).suffix for file in files}) == 1 and PurePath(files[0]).suffix:
        files = [PurePath(file).stem for file in files]
    return files


def _without_provider(labels: Sequence[str]) -> Sequence[str]:
    """The names of models without their provider; unchanged if two would be the same."""
    tails = [label.rpartition("/")[2] for label in labels]
    return tails if all(tails) and len(set(tails)) == len(tails) else labels


def _metric_row(name: str, change: Change) -> tuple[str, ...]:
    return (
        name,
        format_value(change.before, change.unit),
        format_value(change.after, change.unit),
        _format_difference(change.value, change.unit),
        _format_limits(change.these, 2),
        format_interval(change),
        _format_p(change.p),
        _format_p(change.p_adjusted),
    )


def _narrow_row(name: str, change: Change, digits: int) -> tuple[str, ...]:
    """A row without p values. Limits have `digits` decimals, or 1 if the unit is not percent."""
    digits = digits if change.unit == "%" else 1
    return (
        name,
        format_value(change.before, change.unit),
        format_value(change.after, change.unit),
        f"{_format_difference(change.value, change.unit)}{_significance_mark(change)}",
        _format_limits(change.these, digits),
        _format_limits(change, digits),
    )


def _significance_mark(change: Change) -> str:
    return "*" if change.p_adjusted is not None and change.p_adjusted < 0.05 else ""


def _format_difference(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{value:+.2f}{difference_unit(unit)}"


def _format_limits(row: Change | ChangeOnThese, digits: int) -> str:
    """The limits, or `-`: the reasons for missing ones are below the table."""
    return format_limits(row.low, row.high, digits, "+")


def format_value(value: float | None, unit: str) -> str:
    """A value or `-`. Only the unit percent is shown: names of other metrics say their unit."""
    return "-" if value is None else f"{value:.2f}{'%' if unit == '%' else ''}"


def difference_unit(unit: str) -> str:
    """The unit of the difference of two values in `unit`, with a space before it."""
    return " pp" if unit == "%" else f" {unit}"


def format_interval(change: Change) -> str:
    """The limits of the interval of a difference, or the reason why there are none."""
    return _format_limits(change, 2) if change.low is not None else f"({change.reason})"


def _format_p(value: float | None) -> str:
    return "-" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _headline_unit(comparison: ComparisonFigures) -> str:
    """The unit of the metric by which questions rose and fell."""
    return next((change.unit for change in comparison["metrics"].values()), "%")


def largest_moves(comparison: ComparisonFigures, way: Way) -> Sequence[CaseMove]:
    """The questions whose scores fell or rose most, at most MOST_MOVES of them."""
    return comparison[way][:MOST_MOVES]


def move_lines(comparison: ComparisonFigures, way: Way) -> list[str]:
    """A heading, and a line for each question whose score fell or rose most."""
    clusters, unit = comparison["clusters"], _headline_unit(comparison)
    if not comparison[way]:
        return [f"none of the {clusters} {way}"]
    return [
        f"the {clusters} that {way} most:",
        *(f"  {_describe_move(move, unit)}" for move in largest_moves(comparison, way)),
    ]


def _describe_move(move: CaseMove, unit: str) -> str:
    sign = "%" if unit == "%" else ""
    figures = f"{move['before']:.1f}{sign} to {move['after']:.1f}{sign}"
    return f"{move['change']:+6.1f}{difference_unit(unit)}  {move['cell']}: {figures}"


def side_by_side_rows(comparisons: Sequence[ComparisonFigures]) -> list[tuple[str, ...]]:
    """A table of several candidates against one baseline: a row per metric, header first."""
    metrics = dict.fromkeys(name for comparison in comparisons for name in comparison["metrics"])
    candidates = [comparison["candidate"] for comparison in comparisons]
    head = ("", *_labels([comparisons[0]["baseline"], *candidates]))
    return [head, *(_side_by_side_row(name, comparisons) for name in metrics)]


def _side_by_side_row(name: str, comparisons: Sequence[ComparisonFigures]) -> tuple[str, ...]:
    changes = [comparison["metrics"].get(name) for comparison in comparisons]
    first = next(filter(None, changes))
    return (name, format_value(first.before, first.unit), *map(_side_by_side_cell, changes))


def _side_by_side_cell(change: Change | None) -> str:
    """The figure of a candidate with its difference; `-` without one."""
    if change is None or change.value is None:
        return "-"
    return f"{format_value(change.after, change.unit)} ({change.value:+.2f}{_significance_mark(change)})"


def report_lines(reports: Sequence[ReleaseSections], width: int | None = None) -> Iterator[str]:
    """The lines on candidates with one baseline, each given as its sections `comparison`, `trend` and `gate`.

    A side-by-side table of several candidates comes first.
    """
    return map(printable, _report_lines(reports, width))


def _report_lines(reports: Sequence[ReleaseSections], width: int | None) -> Iterator[str]:
    if len(reports) > 1:
        comparisons = [sections["comparison"] for sections in reports]
        mark = next(filter(None, map(_mark, comparisons)), "")
        yield from (
            f"{line}{mark}" for line in align(side_by_side_rows(comparisons), width and width - len(mark))
        )
        yield "(difference from the baseline, the first column, in the metric's unit; * p < 0.05 after Holm)"
        yield ""
    for sections in reports:
        if "trend" in sections:
            yield from _trend_lines(sections["trend"], width)
            yield ""
        if "gate" in sections:
            yield from verdict.lines({"": sections}, width)
            yield ""
        yield from lines(sections["comparison"], width)
        if sections is not reports[-1]:
            yield ""


def _trend_lines(trend: Trend, width: int | None) -> Iterator[str]:
    """A table of the headline of each release, and its change from the previous one in both scopes."""
    head = (trend["metric"], "figure", "95 % population", "change", "95 % these", "95 % population")
    yield from align([head, *(_release_row(release, trend["unit"]) for release in trend["releases"])], width)


def _release_row(release: ReleaseFigure, unit: str) -> tuple[str, ...]:
    change = release["change"]
    figure_cells = (
        f"{release['subject_model']} {_day(release)}",
        format_value(release["value"], unit),
        format_limits(release["low"], release["high"]),
    )
    if change is None or change.value is None:
        return (*figure_cells, "-", "-", "-")
    difference = _format_difference(change.value, unit)
    return (*figure_cells, difference, _format_limits(change.these, 1), _format_limits(change, 1))


def ranking_lines(
    scores: Mapping[str, Mapping[str, float]],
    correlations: Sequence[RankCorrelation],
    within: Sequence[Mapping[str, JSON]],
    width: int | None = None,
) -> Iterator[str]:
    """A row per model and a column per panel, then the agreement between panels and within them.

    The arguments are `scores_by_panel`, `rank_correlations` and `evaluator_agreement` of `comparison.panels`.
    """
    models = dict.fromkeys(model for values in scores.values() for model in values)
    table = [(model, *(_format_percent(values.get(model)) for values in scores.values())) for model in models]
    yield from align([("", *scores), *table], width)
    yield ""
    for row in correlations:
        value = row.reason or f"{row.rho:+.2f} over {row.models} models"
        yield f"rank correlation of {row.first} and {row.second}: {value}"
    for two in within:
        agreement = two["reason"] or _describe_correlations(two)
        yield f"{two['aspect']} by {two['first']} and {two['second']}: {agreement}"


def _format_percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}%"


def _describe_correlations(row: Mapping[str, JSON]) -> str:
    return f"Pearson {row['pearson']:+.2f}, Spearman {row['spearman']:+.2f} over {row['models']} models"
