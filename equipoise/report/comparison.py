"""Comparisons and rankings as text: lines for a terminal, Markdown for a job summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import PurePath
from typing import Literal

from equipoise.core.errors import printable
from equipoise.core.rules import ASKER
from equipoise.core.types import JSON
from equipoise.report import askers, verdict
from equipoise.report.layout import align, columns

_HEAD = ("difference", "95 % these", "95 % population", "p", "p (Holm)")
_ROLES = ("baseline", "candidate")
_SCOPES = (
    "these: the same questions asked again; population: other questions like them. Neither interval holds "
    "what other evaluators would say."
)
_NARROW = "* p < 0.05 after Holm, for questions like these"
MOST_ROWS = 60
MOST_MOVES = 5
"""Maximum number of questions shown whose scores fell, and whose scores rose."""
Way = Literal["fell", "rose"]
WAYS: tuple[Way, ...] = ("fell", "rose")


def lines(comparison: Mapping[str, JSON], width: int | None = None) -> Iterator[str]:
    """The lines of a comparison, as returned by `Comparison.to_json`, with control characters escaped.

    The table is at most `width` columns wide, if it is given.
    """
    return map(printable, _lines(comparison, width))


def _lines(comparison: Mapping[str, JSON], width: int | None) -> Iterator[str]:
    older, newer = comparison["baseline"], comparison["candidate"]
    about = f"{older['file']}, {_day(older)}){_verification(older)}{restricted(comparison)}"
    yield f"baseline:  {older['subject_model']} ({about}"
    yield f"candidate: {newer['subject_model']} ({newer['file']}, {_day(newer)}){_verification(newer)}"
    for reason in comparison["mismatches"]:
        yield f"MISMATCH:  {reason}"
    for warning in comparison["warnings"]:
        yield f"warning:   {warning}"
    for effect in comparison["effects"]:
        yield f"effect:    {effect}"
    yield ""
    yield from _marked(_table(comparison, width and width - len(_mark(comparison))), comparison)
    if (left_out := len(comparison["metrics"]) - MOST_ROWS) > 0:
        yield f"... and {left_out} more metrics in the results JSON"
    yield from _notes(comparison)
    yield ""
    for way in WAYS:
        yield from _marked(moves(comparison, way), comparison)


def _table(comparison: Mapping[str, JSON], room: int | None) -> list[str]:
    """The table of metrics; if wider than `room`, with stars for p values, and fewer digits in limits."""
    shown = {**comparison, "metrics": _selected(comparison["metrics"])}
    table = align(rows(shown), room, only_head=True)
    if room is None or max(map(columns, table)) <= room:
        return table
    metrics = comparison["metrics"]
    for heads, digits in product((_without_provider(names(comparison)), _ROLES), (1, 0)):
        narrow = [_narrow_row(name, row, digits) for name, row in shown["metrics"].items()]
        table = align([("", *heads, *_HEAD[:-2]), *narrow], room)
        if max(map(columns, table)) <= room:
            break
    reasons = _reasons(list(metrics.values()), f"{comparison.get('clusters', 'questions')} like these")
    return [*table, _NARROW, *reasons]


def _selected(metrics: Mapping[str, JSON]) -> dict[str, JSON]:
    """The first MOST_ROWS metrics, always with those about who asks over all cases, which come last."""
    by_asker = {name: metric for name, metric in metrics.items() if askers.is_overall(name)}
    plain = {name: metric for name, metric in metrics.items() if not name.startswith(ASKER)}
    first = {**dict([*plain.items()][: MOST_ROWS - len(by_asker)]), **by_asker}
    rest = {name: metric for name, metric in metrics.items() if name not in first}
    return {**first, **dict([*rest.items()][: MOST_ROWS - len(first)])}


def _notes(comparison: Mapping[str, JSON]) -> Iterator[str]:
    """Notes on the two intervals, and reasons for missing intervals on these questions."""
    known = [metric["these"] for metric in comparison["metrics"].values() if "these" in metric]
    if not known:
        return
    yield _SCOPES
    if looks := comparison.get("looks"):
        yield f"The intervals allow for {looks} looks."
    yield from _reasons(known, "these questions")


def _reasons(known: Sequence[Mapping[str, JSON]], what: str) -> Iterator[str]:
    """Reasons why figures have no interval, a line with a count for each kind of reason."""
    reasons: dict[str, list[str]] = {}
    for row in known:
        if row["low"] is None:
            reasons.setdefault(row["reason"].partition(":")[0], []).append(row["reason"])
    for same in reasons.values():
        yield f"no interval on {what} for {len(same)} of {len(known)} metrics: {same[0]}"


def _verification(side: Mapping[str, JSON]) -> str:
    """Whether a file was verified against its journal; empty for a session that has just ended."""
    if side.get("sha256") is None:
        return ""
    return f", not verified: {side['doubt']}" if side["doubt"] else ", verified against its journal"


def restricted(comparison: Mapping[str, JSON]) -> str:
    """A phrase on the number of cases compared; empty if it is the whole baseline."""
    every, shared = comparison.get("baseline_cases"), comparison.get("cases")
    return "" if every == shared else f", restricted to {shared:,} of its {every:,} cases"


def _day(side: Mapping[str, JSON]) -> str:
    return str(side["started"] or "")[:10]


def _marked(texts: Sequence[str], comparison: Mapping[str, JSON]) -> Iterator[str]:
    """The lines, each with a mark if the two results do not match."""
    mark = _mark(comparison)
    return (f"{text}{mark}" for text in texts)


def _mark(comparison: Mapping[str, JSON]) -> str:
    return "  [mismatch]" if comparison["mismatches"] else ""


def rows(comparison: Mapping[str, JSON]) -> list[tuple[str, ...]]:
    """The table of metrics, header first."""
    head = ("", *names(comparison), *_HEAD)
    return [head, *(_row(name, metric) for name, metric in comparison["metrics"].items())]


def names(comparison: Mapping[str, JSON]) -> tuple[str, str]:
    """The headings of the columns of baseline and candidate."""
    older, newer = _labels([comparison[role] for role in _ROLES])
    return older, newer


def _labels(sides: Sequence[Mapping[str, JSON]]) -> Sequence[str]:
    """The models of a baseline and its candidates; if several are the same, their files, else their roles."""
    models = [str(side["subject_model"]) for side in sides]
    files = _stems([_without_folders(str(side["file"])) for side in sides])
    roles = _ROLES if len(sides) == 2 else ["baseline", *(f"candidate {n}" for n in range(1, len(sides)))]
    return next(labels for labels in (models, files, roles) if len(set(labels)) == len(sides))


def _without_folders(files: str) -> str:
    """The names of files that were pooled into one side, joined by " + "."""
    return " + ".join(PurePath(file).name for file in files.split(" + "))


def _stems(files: Sequence[str]) -> Sequence[str]:
    """The file names without the suffixes that all of them share: `.json`, and the suite's name."""
    while len({PurePath(file).suffix for file in files}) == 1 and PurePath(files[0]).suffix:
        files = [PurePath(file).stem for file in files]
    return files


def _without_provider(labels: Sequence[str]) -> Sequence[str]:
    """The names of models without their provider; unchanged if these would not be distinct."""
    tails = [label.rpartition("/")[2] for label in labels]
    return tails if all(tails) and len(set(tails)) == len(tails) else labels


def _row(name: str, metric: Mapping[str, JSON]) -> tuple[str, ...]:
    return (
        name,
        figure(metric["before"], metric["unit"]),
        figure(metric["after"], metric["unit"]),
        "-" if metric["value"] is None else f"{metric['value']:+.2f}{difference_unit(metric['unit'])}",
        _these_limits(metric, 2),
        interval(metric),
        _p(metric["p"]),
        _p(metric["p_adjusted"]),
    )


def _narrow_row(name: str, metric: Mapping[str, JSON], digits: int) -> tuple[str, ...]:
    """A row without p values. Limits have `digits` decimals, or 1 if the unit is not percent."""
    digits = digits if metric["unit"] == "%" else 1
    difference = "-"
    if metric["value"] is not None:
        difference = f"{metric['value']:+.2f}{difference_unit(metric['unit'])}{_star(metric)}"
    sample = _limits(metric, digits) if metric["low"] is not None else "-"
    figures = (figure(metric[when], metric["unit"]) for when in ("before", "after"))
    return (name, *figures, difference, _these_limits(metric, digits), sample)


def _star(metric: Mapping[str, JSON]) -> str:
    return "*" if metric["p_adjusted"] is not None and metric["p_adjusted"] < 0.05 else ""


def _these_limits(metric: Mapping[str, JSON], digits: int) -> str:
    """The limits on these questions. Reasons for missing ones are below the table."""
    these = metric.get("these")
    return "-" if these is None or these["low"] is None else _limits(these, digits)


def _limits(row: Mapping[str, JSON], digits: int) -> str:
    return f"{row['low']:+.{digits}f} to {row['high']:+.{digits}f}"


def figure(value: float | None, unit: str) -> str:
    """A formatted value, with a unit only if it is in percent: names of other metrics say their unit."""
    return "-" if value is None else f"{value:.2f}{'%' if unit == '%' else ''}"


def difference_unit(unit: str) -> str:
    """The unit of a difference of two such values."""
    return " pp" if unit == "%" else f" {unit}"


def interval(row: Mapping[str, JSON]) -> str:
    """The limits of the interval of a difference, or the reason why there are none."""
    return _limits(row, 2) if row["low"] is not None else f"({row['reason']})"


def _p(value: float | None) -> str:
    return "-" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _headline_unit(comparison: Mapping[str, JSON]) -> str:
    """The unit of the metric by which questions rose and fell."""
    return next((str(metric["unit"]) for metric in comparison["metrics"].values()), "%")


def movers(comparison: Mapping[str, JSON], way: Way) -> Sequence[Mapping[str, JSON]]:
    """The questions whose scores fell or rose most, at most MOST_MOVES."""
    moves: Sequence[Mapping[str, JSON]] = comparison[way]
    return moves[:MOST_MOVES]


def moves(comparison: Mapping[str, JSON], way: Way) -> list[str]:
    """A heading, and a line for each question whose score fell or rose most."""
    clusters, unit = comparison.get("clusters", "questions"), _headline_unit(comparison)
    if not comparison[way]:
        return [f"none of the {clusters} {way}"]
    return [
        f"the {clusters} that {way} most:",
        *(f"  {_move(move, unit)}" for move in movers(comparison, way)),
    ]


def _move(move: Mapping[str, JSON], unit: str) -> str:
    sign = "%" if unit == "%" else ""
    shown = f"{move['before']:.1f}{sign} to {move['after']:.1f}{sign}"
    return f"{move['change']:+6.1f}{difference_unit(unit)}  {move['cell']}: {shown}"


def side_by_side(comparisons: Sequence[Mapping[str, JSON]]) -> list[tuple[str, ...]]:
    """Several candidates against one baseline: a row per metric, header first."""
    metrics = dict.fromkeys(name for comparison in comparisons for name in comparison["metrics"])
    candidates = [comparison["candidate"] for comparison in comparisons]
    head = ("", *_labels([comparisons[0]["baseline"], *candidates]))
    return [head, *(_side_by_side_row(name, comparisons) for name in metrics)]


def _side_by_side_row(name: str, comparisons: Sequence[Mapping[str, JSON]]) -> tuple[str, ...]:
    cells = []
    for metric in (comparison["metrics"].get(name) for comparison in comparisons):
        if metric is None or metric["value"] is None:
            cells.append("-")
        else:
            change = f"{metric['value']:+.2f}{_star(metric)}"
            cells.append(f"{figure(metric['after'], metric['unit'])} ({change})")
    known = (comparison["metrics"].get(name) for comparison in comparisons)
    first: Mapping[str, JSON] = next(filter(None, known), {"before": None, "unit": "%"})
    return (name, figure(first["before"], first["unit"]), *cells)


def report(parts: Sequence[Mapping[str, JSON]], width: int | None = None) -> Iterator[str]:
    """All comparisons with one baseline, with their gates. Several begin with a side-by-side table."""
    return map(printable, _report(parts, width))


def _report(parts: Sequence[Mapping[str, JSON]], width: int | None) -> Iterator[str]:
    if len(parts) > 1:
        comparisons = [part["comparison"] for part in parts]
        mark = next(filter(None, map(_mark, comparisons)), "")
        yield from (f"{line}{mark}" for line in align(side_by_side(comparisons), width and width - len(mark)))
        yield "(difference from the baseline, the first column, in the metric's unit; * p < 0.05 after Holm)"
        yield ""
    for part in parts:
        if "trend" in part:
            yield from _trend(part["trend"], width)
            yield ""
        if "gate" in part:
            yield from verdict.lines({"": part}, width)
            yield ""
        yield from lines(part["comparison"], width)
        if part is not parts[-1]:
            yield ""


def _trend(trend: Mapping[str, JSON], width: int | None) -> Iterator[str]:
    """A table of the headline of each release, and its change from the previous one in both scopes."""
    head = (trend["metric"], "figure", "95 % population", "change", "95 % these", "95 % population")
    yield from align([head, *(_release(item, trend["unit"]) for item in trend["releases"])], width)


def _release(item: Mapping[str, JSON], unit: str) -> tuple[str, ...]:
    change, limits = item["change"], "-"
    if item["low"] is not None:
        limits = f"{item['low']:.1f} to {item['high']:.1f}"
    shown = (f"{item['subject_model']} {_day(item)}", figure(item["value"], unit), limits)
    if change is None or change["value"] is None:
        return (*shown, "-", "-", "-")
    sample = "-" if change["low"] is None else _limits(change, 1)
    return (*shown, f"{change['value']:+.2f}{difference_unit(unit)}", _these_limits(change, 1), sample)


def rankings(
    scores: Mapping[str, Mapping[str, float]],
    correlations: Sequence[Mapping[str, JSON]],
    within: Sequence[Mapping[str, JSON]],
    width: int | None = None,
) -> Iterator[str]:
    """A row per model and a column per panel, then the agreement between panels and within them.

    The arguments are `scores_by_panel`, `rank_correlations` and `evaluator_agreement` of `comparison.panels`.
    """
    models = dict.fromkeys(model for values in scores.values() for model in values)
    columns = [(model, *(_percent(values.get(model)) for values in scores.values())) for model in models]
    yield from align([("", *scores), *columns], width)
    yield ""
    for row in correlations:
        value = row["reason"] or f"{row['rho']:+.2f} over {row['models']} models"
        yield f"rank correlation of {row['first']} and {row['second']}: {value}"
    for row in within:
        yield f"{row['aspect']} by {row['first']} and {row['second']}: {row['reason'] or _correlated(row)}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}%"


def _correlated(row: Mapping[str, JSON]) -> str:
    return f"Pearson {row['pearson']:+.2f}, Spearman {row['spearman']:+.2f} over {row['models']} models"
