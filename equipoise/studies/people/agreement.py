"""The section `people` of results: agreement of people and evaluators, and figures corrected by labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, cast

from equipoise.comparison import labels
from equipoise.core.errors import UserError
from equipoise.core.rows import by_question
from equipoise.results.results import Results
from equipoise.results.summary import to_plain_json, with_cluster_names
from equipoise.stats.agreement import percent_agreement, weighted_kappa
from equipoise.studies.people import form, sheets
from equipoise.studies.people.draws import digests_of, judged_replies
from equipoise.studies.people.form import Levels
from equipoise.studies.people.sheets import Sheet
from equipoise.studies.replies import ScoredReply

if TYPE_CHECKING:
    from equipoise.results.document import LabelledRun, PairAgreement, PeopleScores, SheetCounts

METHOD = (
    "Cohen (1960), Educational and Psychological Measurement 20, 37-46; with quadratic weights Cohen (1968), "
    "Psychological Bulletin 70, 213-220; studentised bootstrap over clusters, Efron and Tibshirani (1993)"
)
MOST_ALIKE = 10
"""The minimum number of shared rows for a warning: in fewer rows, two people may agree by chance."""
CORRECTION = (
    "difference estimator with tuned weight: Angelopoulos, Duchi and Zrnic (2023), PPI++, arXiv:2311.01453; "
    "as regression estimator of a sample of these replies, Cochran (1977), Sampling Techniques, chapter 7"
)


def agree(results: Results, paths: Sequence[Path]) -> tuple[PeopleScores, list[str]]:
    """The section `people` of the results, and a message on each row or sheet that cannot be used.

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
    """A message if two sheets have the same labels in all rows that both have, unless these rows are few."""
    shared = first.labels.keys() & second.labels.keys()
    if len(shared) < MOST_ALIKE or any(first.labels[row] != second.labels[row] for row in shared):
        return None
    return (
        f"{first.file} and {second.file}: the labels of all {len(shared)} rows that both have are the same; "
        "is one a copy of the other? If so, leave it out"
    )


def _section(
    results: Results, all_sheets: Sequence[Sheet], replies: Mapping[str, ScoredReply]
) -> PeopleScores:
    levels = form.levels_of(results)
    section: PeopleScores = {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "levels": levels.entries,
        "sheets": [_sheet_entry(sheet) for sheet in all_sheets],
        "agreement": list(_agreements(all_sheets, replies, levels)),
        "method": METHOD,
        "confidence": 0.95,
    }
    _add_correction(section, results, all_sheets, replies)
    plain: PeopleScores = with_cluster_names(to_plain_json(section), results.suite.about.clusters)
    return plain


def _add_correction(
    section: PeopleScores,
    results: Results,
    all_sheets: Sequence[Sheet],
    replies: Mapping[str, ScoredReply],
) -> None:
    """Add the labels of randomly drawn replies and the figures that they correct, or why there are none."""
    used_sheets = [sheet for sheet in all_sheets if not sheet.why_unused and sheet.labels]
    if reason := _why_not_corrected(all_sheets, used_sheets):
        section["not_corrected"] = reason
        return
    draw = used_sheets[0].draw
    assert draw is not None
    positions = {
        row.name: (row.question.key, index)
        for runs in by_question(results.rows)
        for index, row in enumerate(runs)
    }
    section["people"] = [sheet.name for sheet in used_sheets]
    section["draw"] = {
        "text": str(draw),
        "drawn": draw.drawn,
        "replies": draw.replies,
        "probability": draw.probability,
        "seed": draw.seed,
        "pairs": draw.is_paired,
        **labels.identity(results.metadata),
    }
    section["labels"] = [
        _labelled_run(reply_id, position, used_sheets)
        for reply_id, position in positions.items()
        if any(reply_id in sheet.labels for sheet in used_sheets)
    ]
    section["left_out"] = [position for reply_id, position in positions.items() if reply_id not in replies]
    section["corrected"] = labels.corrected_figures(results, section)
    section["correction"] = CORRECTION


def _labelled_run(reply_id: str, position: tuple[str, int], used_sheets: Sequence[Sheet]) -> LabelledRun:
    """Each person's labels of a reply: always scores, and outcomes and leans if there are any."""
    by_person = {sheet.name: sheet.labels.get(reply_id, {}) for sheet in used_sheets}
    cell, index = position
    scores = {name: float(label["score"]) for name, label in by_person.items() if "score" in label}
    run: LabelledRun = {"cell": cell, "place": index, "scores": scores}
    if outcomes := {name: str(label["outcome"]) for name, label in by_person.items() if "outcome" in label}:
        run["outcomes"] = outcomes
    if leans := {name: str(label["lean"]) for name, label in by_person.items() if "lean" in label}:
        run["leans"] = leans
    return run


def _why_not_corrected(all_sheets: Sequence[Sheet], used_sheets: Sequence[Sheet]) -> str | None:
    if not used_sheets:
        reasons = (f"{sheet.file}: {sheet.why_unused}" for sheet in all_sheets if sheet.why_unused)
        return next(reasons, "no label is left")
    if len({sheet.draw for sheet in used_sheets}) > 1:
        return f"{' and '.join(sheet.file for sheet in used_sheets)} are of different draws"
    return None


def _sheet_entry(sheet: Sheet) -> SheetCounts:
    outcomes, leans = len(sheet.values("outcome")), len(sheet.values("lean"))
    entry = {
        "name": sheet.name,
        "file": sheet.file,
        "sha256": sheet.sha256,
        "scores": len(sheet.scores),
        **({"outcomes": outcomes} if outcomes else {}),
        **({"leans": leans} if leans else {}),
        "blank": sheet.blank,
        "invalid": len(sheet.invalid),
    }
    return cast("SheetCounts", entry)


def _agreements(
    all_sheets: Sequence[Sheet], replies: Mapping[str, ScoredReply], levels: Levels
) -> Iterator[PairAgreement]:
    """The agreement of each pair of people, then of each person with every evaluator."""
    scored_sheets = [sheet for sheet in all_sheets if sheet.scores]
    for first, second in combinations(scored_sheets, 2):
        yield _agreement(first, second.name, second.scores, replies, levels, is_evaluator=False)
    evaluators = dict.fromkeys(name for reply in replies.values() for name in reply.verdicts)
    for sheet in scored_sheets:
        for name in evaluators:
            verdicts = {
                reply.id: reply.verdicts[name]
                for reply in replies.values()
                if reply.verdicts.get(name) in levels.numbers
            }
            yield _agreement(sheet, name, verdicts, replies, levels, is_evaluator=True)


def _agreement(
    sheet: Sheet,
    other: str,
    other_scores: Mapping[str, float],
    replies: Mapping[str, ScoredReply],
    levels: Levels,
    *,
    is_evaluator: bool,
) -> PairAgreement:
    """The agreement of a person with another rater, whose scores are by the id of the reply."""
    scores = sheet.scores
    clusters = {reply_id: replies[reply_id].run.question.cluster for reply_id in scores}
    kappa = weighted_kappa(scores, other_scores, levels.numbers, "none", cluster_of=clusters)
    weighted = weighted_kappa(scores, other_scores, levels.numbers, "quadratic", cluster_of=clusters)
    return {
        "first": sheet.name,
        "second": other,
        "is_evaluator": is_evaluator,
        "replies": len(scores.keys() & other_scores.keys()),
        "same": percent_agreement(scores, other_scores),
        "kappa": to_plain_json(kappa),
        "weighted_kappa": None if levels.is_categorical else to_plain_json(weighted),
    }
