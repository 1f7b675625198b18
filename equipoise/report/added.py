"""Lines of text on sections that commands add to results: back-translation, and people's labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from equipoise.core.figures import Estimate, GapParts
from equipoise.report.layout import INDENT, align, format_estimate, reason_kind

if TYPE_CHECKING:
    from equipoise.results.document import (
        BackTranslation,
        CorrectedFigure,
        PairAgreement,
        PeopleScores,
        Sections,
        SheetCounts,
    )

CAVEAT = "A translation may itself change the tone, which shifts the two parts against each other"


def lines(sections: Sections) -> Iterator[str]:
    """The lines of each section that the results have."""
    if translated := sections.get("backtranslation"):
        yield from backtranslation_lines(translated)
    if people := sections.get("people"):
        yield from people_lines(people)


def backtranslation_lines(section: BackTranslation) -> Iterator[str]:
    """Lines on the sample and, by evaluator, the two components of the gap of each pair of languages."""
    yield f"gap:       {describe_sample(section)}"
    for item in section["evaluators"]:
        missing = f" ({item['missing']:,} of its verdicts are missing)" if item["missing"] else ""
        yield f"{INDENT}judged by {item['evaluator']}{missing}:"
        for pair in item["pairs"]:
            yield f"{INDENT}{pair.first} - {pair.second}: {_describe_gap(pair)}"
    yield f"{INDENT}{caveat(section)}"


def caveat(section: BackTranslation) -> str:
    """A caveat for readers of figures from back-translation."""
    has_both_directions = set(section["languages"]) <= set(section["targets"])
    addition = "; what it changes alike in both directions cancels out" if has_both_directions else ""
    return f"{CAVEAT}{addition}."


def describe_sample(section: BackTranslation) -> str:
    """A phrase on the sample and its translations."""
    failed = "none of which failed"
    if section["failed"]:
        share = 100 * section["failed"] / section["translations"]
        failed = f"of which {section['failed']:,} failed ({share:.0f} %; {section['declined']:,} declined)"
    return (
        f"{section['replies']:,} replies to {section['questions']:,} questions, judged in every language; "
        f"{section['translations']:,} translations by {section['translator']}, {failed}"
    )


def _describe_gap(pair: GapParts) -> str:
    gap = pair.gap
    if gap.value is None:
        return f"unknown ({gap.reason})"
    content, judged = format_estimate(pair.said), format_estimate(pair.judged)
    return f"{gap.value:+.2f} pp = what was said {content}; how it was judged {judged}; {gap.n} questions"


def people_lines(section: PeopleScores) -> Iterator[str]:
    """Lines on each person's number of labels, on the agreement of each pair, and on corrected figures."""
    yield f"people:    {'; '.join(map(describe_sheet, section['sheets']))}"
    for item in section["agreement"]:
        yield f"{INDENT}{item['first']} and {item['second']}: {_describe_agreement(item)}"
    yield from corrected_lines(section)


_HEAD = ("", "judge", "people", "95 % these", "population", "n")
MOST_CORRECTED = 24
"""Maximum number of corrected figures shown: breakdowns, whose names have more dots, come last."""


def corrected_lines(section: PeopleScores) -> Iterator[str]:
    """Lines with a table of the figures corrected by people's labels, beside those of the evaluators."""
    if why := section.get("not_corrected"):
        yield f"corrected: no figure: {why}"
    if not section.get("corrected"):
        return
    yield f"corrected: {describe_labels(section)}"
    rows = {name: item for name, item in section["corrected"].items() if item["these"].low is not None}
    shown = sorted(rows, key=lambda name: name.count("."))[:MOST_CORRECTED]
    table = [_HEAD, *(_corrected_row(name, item) for name, item in rows.items() if name in shown)]
    if rows:
        yield from (f"  {line}" for line in align(table))
    if (more := len(rows) - MOST_CORRECTED) > 0:
        yield f"{INDENT}... and {more} more in the results JSON"
    notes = corrected_notes if rows else _missing_intervals
    yield from (f"{INDENT}{line}" for line in notes(section["corrected"]))


def describe_labels(section: PeopleScores) -> str:
    """A phrase on the labels: how many, by whom, and how the replies were drawn."""
    draw, names = section["draw"], ", ".join(section["people"])
    labels = f"{len(section['labels']):,} labels by {names}"
    return f"{labels}; {draw['drawn']:,} of {draw['replies']:,} replies drawn"


def corrected_notes(figures: Mapping[str, CorrectedFigure]) -> Iterator[str]:
    """Notes on corrected figures: what a star means, and which figures have no interval."""
    if any(item["is_larger"] for item in figures.values()):
        yield "* outside the judge's own interval: the correction is larger than the interval admits"
    yield from _missing_intervals(figures)


def _missing_intervals(figures: Mapping[str, CorrectedFigure]) -> Iterator[str]:
    """A line for each kind of reason why figures have no interval, with their names."""
    reasons: dict[str, list[str]] = {}
    for name, item in figures.items():
        if (why := item["these"].reason) is not None:
            reasons.setdefault(reason_kind(why), []).append(name)
    for why, names in reasons.items():
        yield f"no interval for {', '.join(names[:8])}{' ...' if len(names) > 8 else ''}: {why}"


def _corrected_row(name: str, item: CorrectedFigure) -> tuple[str, ...]:
    unit, mark = ("%" if item["unit"] == "%" else ""), ("*" if item["is_larger"] else "")
    intervals = (limits.limits() for limits in (item["these"], item["population"]))
    return (
        name,
        f"{item['judge']:.1f}{unit}",
        f"{item['value']:.1f}{unit}{mark}",
        *intervals,
        str(item["labels"]),
    )


def describe_sheet(row: SheetCounts) -> str:
    """A person's name and counts of labels."""
    counts = {
        "scores": row["scores"],
        "outcomes": row.get("outcomes"),
        "leans": row.get("leans"),
        "blank": row["blank"],
        "invalid": row["invalid"],
    }
    return f"{row['name']}: {', '.join(f'{count:,} {name}' for name, count in counts.items() if count)}"


def _describe_agreement(item: PairAgreement) -> str:
    if not item["replies"]:
        return "no reply that both scored"
    phrases = [f"kappa {describe_kappa(item['kappa'])}"]
    if item["weighted_kappa"]:
        phrases.append(f"weighted {describe_kappa(item['weighted_kappa'])}")
    same = f"{item['replies']:,} replies, {item['same']:.0f} % scored alike"
    return f"{', '.join(phrases)}; {same}"


def describe_kappa(agreement: Estimate | None) -> str:
    """A kappa with its interval, or with the reason why there is none."""
    return "-" if agreement is None else format_estimate(agreement, sign="")
