"""Comparisons and rankings as text: lines for a terminal, Markdown for a job summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

from equipoise.core.errors import printable
from equipoise.core.figures import Change, ChangeOnThese, format_limits
from equipoise.core.types import JSON
from equipoise.report import sentences, verdict
from equipoise.report.layout import align, reason_kind, text_width

if TYPE_CHECKING:
    from equipoise.comparison.gate_terms import CandidateSections
    from equipoise.comparison.panels import RankCorrelation
    from equipoise.comparison.trend import ReleaseFigure, Trend
    from equipoise.results.document import CaseMove, ComparedResults, ComparisonFigures

_HEAD = ("difference", "95 % these", "95 % population", "p", "p (Holm)")
_LIMITS = _HEAD[1:3]
_ROLES = ("baseline", "candidate")
_SCOPES_NOTE = "these: the same questions asked again; population: other questions like them"
_POPULATION_NOTE = "population: other questions like these"
_JUDGED_SCOPES_NOTE = f"{_SCOPES_NOTE}. Neither interval holds what other evaluators would say."
_JUDGED_POPULATION_NOTE = f"{_POPULATION_NOTE}; it does not cover other evaluators"
_STARS_NOTE = "* p < 0.05 after Holm, for questions like these"
FIRST_ROWS, MOST_ROWS = 5, 8
"""The number of first metrics in the short table, and its maximum with those that differ significantly."""
MOST_MOVES = 5
"""Maximum number of questions that are listed as fallen, and as risen."""
Way = Literal["fell", "rose"]
WAYS: tuple[Way, ...] = ("fell", "rose")


def lines(
    comparison: ComparisonFigures,
    width: int | None = None,
    *,
    shows_all: bool = False,
    has_table: bool = True,
    command: str = "equipoise compare --all",
) -> Iterator[str]:
    """The answer in sentences, what was compared, and the table, with control characters escaped.

    The table is at most `width` columns wide, if it is given. With `shows_all` it has all metrics, and the
    questions that moved most stand below; otherwise the last line says that `command` shows these. Without
    `has_table` and `shows_all`, nothing follows what was compared.
    """
    return map(
        printable, _lines(comparison, width, shows_all=shows_all, has_table=has_table, command=command)
    )


def _lines(
    comparison: ComparisonFigures, width: int | None, *, shows_all: bool, has_table: bool, command: str
) -> Iterator[str]:
    yield from answer(comparison)
    yield ""
    yield from _head_lines(comparison)
    if not (has_table or shows_all):
        return
    yield ""
    shown = comparison["metrics"] if shows_all else first_metrics(comparison["metrics"])
    part: ComparisonFigures = {**comparison, "metrics": shown}
    table, has_these = _table_lines(part, width and width - len(_mark(comparison)))
    yield from _with_mark(table, comparison)
    yield from _note_lines(part, has_these=has_these)
    if not shows_all:
        left_out = len(comparison["metrics"]) - len(shown)
        more = f"{left_out:,} more figures, and " if left_out else ""
        yield f"{more}the {comparison['clusters']} that moved most: {command}"
        return
    yield ""
    for way in WAYS:
        yield from _with_mark(move_lines(comparison, way), comparison)


def answer(comparison: ComparisonFigures) -> Iterator[str]:
    """The sentences that answer whether the candidate differs, marked where settings do not match."""
    return _with_mark([*sentences.of_comparison(comparison, *side_labels(comparison))], comparison)


def _head_lines(comparison: ComparisonFigures) -> Iterator[str]:
    """What was compared, and what differs beside the model."""
    older, newer = comparison["baseline"], comparison["candidate"]
    yield f"baseline:  {_describe_side(older)}{describe_restriction(comparison)}"
    yield f"candidate: {_describe_side(newer)}"
    for reason in comparison["mismatches"]:
        yield f"MISMATCH:  {reason}"
    for warning in comparison["warnings"]:
        yield f"warning:   {warning}"
    for effect in comparison["effects"]:
        yield f"effect:    {effect}"


def _table_lines(comparison: ComparisonFigures, width: int | None) -> tuple[list[str], bool]:
    """The table of metrics, at most `width` columns wide, and whether it has intervals on these questions.

    If it is too wide, stars replace p-values. If that is not enough, it has fewer digits, shorter headings or
    no intervals on these questions; if nothing else helps, long names of metrics stand above their figures.
    """
    table = align(metric_rows(comparison))
    if width is None or max(map(text_width, table)) <= width:
        return table, True
    narrow, limits = _narrow_table(comparison, width)
    reasons = _reason_lines([*comparison["metrics"].values()], f"{comparison['clusters']} like these")
    notes = [_STARS_NOTE] if any("*" in line for line in narrow) else []
    return [*narrow, *notes, *reasons], limits is _LIMITS


def _narrow_table(comparison: ComparisonFigures, width: int) -> tuple[list[str], Sequence[str]]:
    """The first variant of the table that fits, else the last, and the headings of its intervals."""
    labels = side_labels(comparison)
    heads = (labels, _without_provider(labels), _ROLES)
    with_these, without_these = ([*product((limits,), heads, (1, 0))] for limits in (_LIMITS, _LIMITS[1:]))
    # With a width, `align` takes steps of its own: long names of metrics move above their figures.
    variants = [*product((None,), [*with_these, *without_these]), *product((width,), without_these)]
    for room, (limits, names, digits) in variants:
        table = align([*_narrow_rows(comparison, limits, names, digits)], room)
        if max(map(text_width, table)) <= width and all(name in table[0] for name in names):
            break
    return table, limits


def _narrow_rows(
    comparison: ComparisonFigures, limits: Sequence[str], heads: Sequence[str], digits: int
) -> Iterator[tuple[str, ...]]:
    """The rows without p-values, header first, with the intervals whose headings are `limits`."""
    yield ("", *heads, "difference", *limits)
    for name, change in comparison["metrics"].items():
        row = _narrow_row(name, change, digits)
        yield (*row[:4], *row[-len(limits) :])


def first_metrics(metrics: Mapping[str, Change]) -> dict[str, Change]:
    """The first metrics, and those after them that differ significantly; at most MOST_ROWS."""
    first, others = [*metrics][:FIRST_ROWS], [*metrics][FIRST_ROWS:]
    apart = [name for name in others if sentences.is_significant(metrics[name])]
    return {name: metrics[name] for name in [*first, *apart][:MOST_ROWS]}


def _note_lines(comparison: ComparisonFigures, *, has_these: bool) -> Iterator[str]:
    """Notes on the intervals that are shown, and reasons for missing ones in the scope `these`."""
    differences = [change.these for change in comparison["metrics"].values()]
    if not differences:
        return
    if comparison["is_judged"]:
        yield _JUDGED_SCOPES_NOTE if has_these else _JUDGED_POPULATION_NOTE
    else:
        yield _SCOPES_NOTE if has_these else _POPULATION_NOTE
    if looks := comparison["looks"]:
        yield f"The intervals allow for {looks} looks."
    if has_these:
        yield from _reason_lines(differences, "these questions")
    yield from caution_lines(comparison)


def caution_lines(comparison: ComparisonFigures) -> Iterator[str]:
    """A line for each metric with a caution, which says how to read it."""
    for name, change in comparison["metrics"].items():
        if change.caution:
            yield f"{name}: {change.caution}"


def _reason_lines(differences: Sequence[Change | ChangeOnThese], scope: str) -> Iterator[str]:
    """A line for each kind of reason why figures have no interval, with the number of figures."""
    reasons: dict[str, list[str]] = {}
    for row in differences:
        if row.low is None and row.reason is not None:
            reasons.setdefault(reason_kind(row.reason), []).append(row.reason)
    for group in reasons.values():
        yield f"no interval on {scope} for {len(group)} of {len(differences)} metrics: {group[0]}"


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
    """The models of a baseline and its candidates; their files if models repeat, or their roles."""
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
    return "*" if sentences.is_significant(change) else ""


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
    figures = f"{move.before:.1f}{sign} to {move.after:.1f}{sign}"
    return f"{move.change:+6.1f}{difference_unit(unit)}  {move.cell}: {figures}"


def side_by_side_rows(
    comparisons: Sequence[ComparisonFigures], metrics: Sequence[str]
) -> list[tuple[str, ...]]:
    """A table of several candidates against one baseline: a row for each of `metrics`, header first."""
    candidates = [comparison["candidate"] for comparison in comparisons]
    head = ("", *_labels([comparisons[0]["baseline"], *candidates]))
    return [head, *(_side_by_side_row(name, comparisons) for name in metrics)]


def _side_by_side_row(name: str, comparisons: Sequence[ComparisonFigures]) -> tuple[str, ...]:
    changes = [comparison["metrics"].get(name) for comparison in comparisons]
    first = next(filter(None, changes))
    baseline = format_value(first.before, first.unit)
    return (name, baseline, *(_side_by_side_cell(change, baseline) for change in changes))


def _side_by_side_cell(change: Change | None, baseline: str) -> str:
    """A candidate's figure and difference, and the figure that it differs from unless that is `baseline`.

    `-` without a difference.
    """
    if change is None or change.value is None:
        return "-"
    own = format_value(change.before, change.unit)
    difference = f"{change.value:+.2f}{_significance_mark(change)}{f' from {own}' if own != baseline else ''}"
    return f"{format_value(change.after, change.unit)} ({difference})"


def report_lines(
    reports: Sequence[CandidateSections], width: int | None = None, *, shows_all: bool = False
) -> Iterator[str]:
    """Lines on the candidates of one baseline, from the sections `comparison`, `trend` and `gate` of each.

    Several candidates are shown side by side and, with `shows_all`, also one by one.
    """
    return map(printable, _report_lines(reports, width, shows_all=shows_all))


def _report_lines(
    reports: Sequence[CandidateSections], width: int | None, *, shows_all: bool
) -> Iterator[str]:
    comparisons = [sections["comparison"] for sections in reports]
    labels = _labels([comparisons[0]["baseline"], *(item["candidate"] for item in comparisons)])[1:]
    gate = [*verdict.lines(dict(zip(labels, reports, strict=True)), width)]
    blocks: list[Iterable[str]] = [gate]
    if len(reports) > 1:
        blocks.append(_side_by_side_lines(comparisons, width, shows_all=shows_all))
    blocks += [_trend_lines(sections["trend"], width) for sections in reports if "trend" in sections]
    if len(reports) == 1 or shows_all:
        blocks += [lines(comparison, width, shows_all=shows_all) for comparison in comparisons]
    written = [block for block in map(list, blocks) if block]
    for number, block in enumerate(written):
        yield from ["", *block] if number else block
    if gate and len(written) > 1:
        # The verdict once more, where a log ends.
        yield from ["", gate[0]]


def _side_by_side_lines(
    comparisons: Sequence[ComparisonFigures], width: int | None, *, shows_all: bool
) -> Iterator[str]:
    """The answers on all candidates, and a table with a column for each."""
    for comparison in comparisons:
        yield from answer(comparison)
    yield ""
    if not shows_all:
        yield from dict.fromkeys(line for item in comparisons for line in _head_lines(item))
        yield ""
    names = dict.fromkeys(
        name
        for item in comparisons
        for name in (item["metrics"] if shows_all else first_metrics(item["metrics"]))
    )
    mark = next(filter(None, map(_mark, comparisons)), "")
    table = align(side_by_side_rows(comparisons, [*names]), width and width - len(mark))
    yield from (f"{line}{mark}" for line in table)
    baseline = "from the first column, or from the figure that the cell names"
    yield f"(in parentheses: the difference on shared cases {baseline}; {_STARS_NOTE})"
    if not shows_all:
        yield "the other figures, and each candidate by itself: equipoise compare --all"


def _trend_lines(trend: Trend, width: int | None) -> Iterator[str]:
    """A table of the headline of each release, and its change from the previous one in both scopes."""
    head = (trend["metric"], "figure", "95 % population", "change", "95 % these", "95 % population")
    yield from align([head, *(_release_row(release, trend["unit"]) for release in trend["releases"])], width)


def _release_row(release: ReleaseFigure, unit: str) -> tuple[str, ...]:
    figure, change = release["figure"], release["change"]
    figure_cells = (
        f"{release['subject_model']} {_day(release)}",
        format_value(figure.value, unit),
        figure.limits(),
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
    for pair in correlations:
        value = pair.reason or f"{pair.rho:+.2f} over {pair.models} models"
        yield f"rank correlation of {pair.first} and {pair.second}: {value}"
    for row in within:
        agreement = row["reason"] or _describe_correlations(row)
        yield f"{row['aspect']} by {row['first']} and {row['second']}: {agreement}"


def _format_percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}%"


def _describe_correlations(row: Mapping[str, JSON]) -> str:
    return f"Pearson {row['pearson']:+.2f}, Spearman {row['spearman']:+.2f} over {row['models']} models"
