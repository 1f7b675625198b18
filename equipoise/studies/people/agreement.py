"""The section `people` of results: agreement of people and evaluators, and figures corrected by labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

from equipoise.comparison import labels
from equipoise.core.errors import UserError
from equipoise.core.rows import RunRow, by_question
from equipoise.core.types import JSON
from equipoise.results.results import Results
from equipoise.results.summary import to_plain_json, with_cluster_names
from equipoise.stats.agreement import percent_agreement, weighted_kappa
from equipoise.studies.people import form, sheets
from equipoise.studies.people.draws import digests_of, judged_replies
from equipoise.studies.people.form import Levels
from equipoise.studies.people.sheets import Sheet
from equipoise.studies.replies import ScoredReply

METHOD = (
    "Cohen (1960), Educational and Psychological Measurement 20, 37-46; with quadratic weights Cohen (1968), "
    "Psychological Bulletin 70, 213-220; studentised bootstrap over clusters, Efron and Tibshirani (1993)"
)
MOST_ALIKE = 10
"""In fewer rows two people may agree by chance."""
CORRECTION = (
    "difference estimator with tuned weight: Angelopoulos, Duchi and Zrnic (2023), PPI++, arXiv:2311.01453; "
    "as regression estimator of a sample of these replies, Cochran (1977), Sampling Techniques, chapter 7"
)


def agree(results: Results, paths: Sequence[Path]) -> tuple[dict[str, JSON], list[str]]:
    """The section `people` of the results, and a line on each row or sheet that cannot be used.

    Raises UserError.
    """
    judged = judged_replies(results)
    replies, digests = {reply.id: reply for reply in judged}, digests_of(results, judged)
    all_sheets = [
        sheet for path in dict.fromkeys(paths) for sheet in sheets.read(path, results, replies, digests)
    ]
    for first, second in combinations(all_sheets, 2):
        if first.name == second.name:
            raise UserError(
                f"{first.file} and {second.file}: both are {first.name!r}; rename one of the files"
            )
        if first.sha256 == second.sha256 and first.file != second.file:
            raise UserError(f"{first.file} and {second.file}: are the same file, byte by byte; name it once")
    copies = [line for pair in combinations(all_sheets, 2) if (line := _ask_whether_copied(*pair))]
    invalid = [line for sheet in all_sheets for line in sheet.invalid]
    if not any(sheet.labels for sheet in all_sheets):
        skipped = any(sheet.skipped for sheet in all_sheets)
        reason = f"; {invalid[0]}" if invalid else f": all are {'of other results' if skipped else 'blank'}"
        raise UserError(f"no score of a reply in {results.file} can be used{reason}")
    section = _section(results, all_sheets, replies)
    reasons = [f"{sheet.file}: {sheet.why_unused}" for sheet in all_sheets if sheet.why_unused]
    unused = [f"{reason}: it corrects no figure" for reason in reasons] if "corrected" in section else []
    return section, [*copies, *invalid, *unused]


def _ask_whether_copied(first: Sheet, second: Sheet) -> str | None:
    """A line on two sheets with the same labels in every row that both have, unless these are few."""
    shared = first.labels.keys() & second.labels.keys()
    if len(shared) < MOST_ALIKE or any(first.labels[row] != second.labels[row] for row in shared):
        return None
    return (
        f"{first.file} and {second.file}: the labels of all {len(shared)} rows that both have are the same; "
        "is one a copy of the other? If so, leave it out"
    )


def _section(
    results: Results, all_sheets: Sequence[Sheet], replies: Mapping[str, ScoredReply]
) -> dict[str, JSON]:
    levels = form.levels_of(results)
    section: dict[str, JSON] = to_plain_json(
        {
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "levels": levels.entries,
            "sheets": [_sheet_entry(sheet) for sheet in all_sheets],
            "agreement": list(_agreements(all_sheets, replies, levels)),
            "method": METHOD,
            "confidence": 0.95,
            **_correction(results, all_sheets, replies),
        }
    )
    named_section: dict[str, JSON] = with_cluster_names(section, results.suite.clusters)
    return named_section


def _correction(
    results: Results, all_sheets: Sequence[Sheet], replies: Mapping[str, ScoredReply]
) -> dict[str, JSON]:
    """The labels of replies drawn at random, and the figures that they correct, or why none is corrected."""
    used_sheets = [sheet for sheet in all_sheets if not sheet.why_unused and sheet.labels]
    if reason := _why_not_corrected(all_sheets, used_sheets):
        return {"not_corrected": reason}
    draw = used_sheets[0].draw
    assert draw is not None
    positions = {row.name: (row.question.key, index) for row, index in _numbered_runs(results)}
    section: dict[str, JSON] = {
        "people": [sheet.name for sheet in used_sheets],
        "draw": {
            "text": str(draw),
            "drawn": draw.drawn,
            "replies": draw.replies,
            "probability": draw.probability,
            "seed": draw.seed,
            "pairs": draw.is_paired,
            **labels.identity(results.metadata),
        },
        "labels": [
            {"cell": cell, "place": index, **_labels_of(reply_id, used_sheets)}
            for reply_id, (cell, index) in positions.items()
            if any(reply_id in sheet.labels for sheet in used_sheets)
        ],
        "left_out": [[*position] for reply_id, position in positions.items() if reply_id not in replies],
    }
    return {**section, "corrected": labels.corrected_figures(results, section), "correction": CORRECTION}


def _labels_of(reply_id: str, used_sheets: Sequence[Sheet]) -> dict[str, JSON]:
    """Each person's labels of a reply, by field: `scores` always, other fields if they have labels."""
    by_field = {
        labels.KEYS[name]: {
            sheet.name: label[name]
            for sheet in used_sheets
            if name in (label := sheet.labels.get(reply_id, {}))
        }
        for name in form.NAMES
    }
    return {key: values for key, values in by_field.items() if values or key == labels.KEYS["score"]}


def _why_not_corrected(all_sheets: Sequence[Sheet], used_sheets: Sequence[Sheet]) -> str | None:
    if not used_sheets:
        reasons = (f"{sheet.file}: {sheet.why_unused}" for sheet in all_sheets if sheet.why_unused)
        return next(reasons, "no label is left")
    if len({sheet.draw for sheet in used_sheets}) > 1:
        return f"{' and '.join(sheet.file for sheet in used_sheets)} are of different draws"
    return None


def _numbered_runs(results: Results) -> Iterator[tuple[RunRow, int]]:
    """Each run with its index among the runs of its question."""
    for runs in by_question(results.rows):
        yield from ((run, index) for index, run in enumerate(runs))


def _sheet_entry(sheet: Sheet) -> dict[str, JSON]:
    counts = {labels.KEYS[name]: len(sheet.values(name)) for name in form.NAMES}
    return {
        "name": sheet.name,
        "file": sheet.file,
        "sha256": sheet.sha256,
        **{key: count for key, count in counts.items() if count or key == labels.KEYS["score"]},
        "blank": sheet.blank,
        "invalid": len(sheet.invalid),
    }


def _agreements(
    all_sheets: Sequence[Sheet], replies: Mapping[str, ScoredReply], levels: Levels
) -> Iterator[dict[str, JSON]]:
    """The agreement of each pair of people, then of each person with every evaluator."""
    scored_sheets = [sheet for sheet in all_sheets if sheet.scores]
    for first, second in combinations(scored_sheets, 2):
        pair = {"first": first.name, "second": second.name, "is_evaluator": False}
        yield {**pair, **_agreement(first.scores, second.scores, replies, levels)}
    evaluators = dict.fromkeys(name for reply in replies.values() for name in reply.verdicts)
    for sheet in scored_sheets:
        for name in evaluators:
            verdicts = {
                reply.id: reply.verdicts[name]
                for reply in replies.values()
                if reply.verdicts.get(name) in levels.numbers
            }
            pair = {"first": sheet.name, "second": name, "is_evaluator": True}
            yield {**pair, **_agreement(sheet.scores, verdicts, replies, levels)}


def _agreement(
    first: Mapping[str, float],
    second: Mapping[str, float],
    replies: Mapping[str, ScoredReply],
    levels: Levels,
) -> dict[str, JSON]:
    """The agreement of two raters, whose scores are by the id of the reply."""
    clusters = {reply_id: replies[reply_id].cluster for reply_id in first}
    kappa = weighted_kappa(first, second, levels.numbers, "none", cluster_of=clusters)
    weighted = weighted_kappa(first, second, levels.numbers, "quadratic", cluster_of=clusters)
    return {
        "replies": len(first.keys() & second.keys()),
        "same": percent_agreement(first, second),
        "kappa": asdict(kappa),
        "weighted_kappa": None if levels.is_categorical else asdict(weighted),
    }
