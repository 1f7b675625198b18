"""The section `people` of results: agreement of people and evaluators, and figures corrected by labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

from equipoise.comparison import labels
from equipoise.comparison.side import LoadedResults
from equipoise.core.errors import UserError
from equipoise.core.rows import RunRow, by_question
from equipoise.core.types import JSON
from equipoise.results.summary import to_plain_json, with_cluster_names
from equipoise.stats.agreement import percent_agreement, weighted_kappa
from equipoise.studies.people import draws, form, sheets
from equipoise.studies.people.form import FieldName, Levels
from equipoise.studies.people.sheets import Sheet
from equipoise.studies.replies import ScoredReply

METHOD = (
    "Cohen (1960), Educational and Psychological Measurement 20, 37-46; with quadratic weights Cohen (1968), "
    "Psychological Bulletin 70, 213-220; studentised bootstrap over clusters, Efron and Tibshirani (1993)"
)


def agree(side: LoadedResults, paths: Sequence[Path]) -> tuple[dict[str, JSON], list[str]]:
    """The section `people` of the results, and a line on every row that cannot be used. Raises UserError."""
    replies = draws.judged(side)
    known, own = {reply.id: reply for reply in replies}, draws.with_digests(side, replies)
    filled = [sheet for path in dict.fromkeys(paths) for sheet in sheets.read(path, side, known, own)]
    for one, other in combinations(filled, 2):
        if one.name == other.name:
            raise UserError(f"{one.file} and {other.file}: both are {one.name!r}; rename one of the files")
    wrong = [line for sheet in filled for line in sheet.invalid]
    if not any(sheet.labels for sheet in filled):
        is_other = any(sheet.others for sheet in filled) and not wrong
        why = f"; {wrong[0]}" if wrong else ": all are of other results" if is_other else ": all are blank"
        raise UserError(f"no score of a reply in {side.file} can be used{why}")
    section = _section(side, filled, known)
    unused = [f"{sheet.file}: {sheet.why}: it corrects no figure" for sheet in filled if sheet.why]
    return section, [*wrong, *(unused if "corrected" in section else ())]


def _section(
    side: LoadedResults, filled: Sequence[Sheet], known: Mapping[str, ScoredReply]
) -> dict[str, JSON]:
    scale = form.levels(side)
    section: dict[str, JSON] = to_plain_json(
        {
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "levels": scale.shown,
            "sheets": [_about(sheet) for sheet in filled],
            "agreement": list(_agreements(filled, known, scale)),
            "method": METHOD,
            "confidence": 0.95,
            **_corrected(side, filled, known),
        }
    )
    named: dict[str, JSON] = with_cluster_names(section, side.suite.clusters)
    return named


CORRECTION = (
    "difference estimator with tuned weight: Angelopoulos, Duchi and Zrnic (2023), PPI++, arXiv:2311.01453; "
    "as regression estimator of a sample of these replies, Cochran (1977), Sampling Techniques, chapter 7"
)


def _corrected(
    side: LoadedResults, filled: Sequence[Sheet], known: Mapping[str, ScoredReply]
) -> dict[str, JSON]:
    """The labels of replies drawn at random, and the figures that they correct, or why none is corrected."""
    used = [sheet for sheet in filled if not sheet.why and sheet.labels]
    if why := _why_not_corrected(filled, used):
        return {"not_corrected": why}
    draw = used[0].draw
    assert draw is not None
    indices = {row.name: (row.question.key, index) for row, index in _numbered_runs(side)}
    section: dict[str, JSON] = {
        "people": [sheet.name for sheet in used],
        "draw": {
            "text": str(draw),
            "drawn": draw.drawn,
            "replies": draw.replies,
            "probability": draw.probability,
            "seed": draw.seed,
            "pairs": draw.pairs,
            **labels.identity(side.metadata),
        },
        "labels": [
            {"cell": cell, "place": index, **_labels_of(name, used)}
            for name, (cell, index) in indices.items()
            if any(name in sheet.labels for sheet in used)
        ],
        "left_out": [[*key] for name, key in indices.items() if name not in known],
    }
    return {**section, "corrected": labels.corrected_figures(side, section), "correction": CORRECTION}


def _labels_of(name: str, used: Sequence[Sheet]) -> dict[str, JSON]:
    """Each person's labels of a reply, by field: `scores` always, other fields if they have labels."""
    by_field = {
        labels.KEYS[part]: {
            sheet.name: sheet.labels[name][part] for sheet in used if _has_label(sheet, name, part)
        }
        for part in form.NAMES
    }
    return {key: values for key, values in by_field.items() if values or key == labels.KEYS["score"]}


def _has_label(sheet: Sheet, name: str, part: FieldName) -> bool:
    return part in sheet.labels.get(name, {})


def _why_not_corrected(filled: Sequence[Sheet], used: Sequence[Sheet]) -> str | None:
    if not used:
        return next((f"{sheet.file}: {sheet.why}" for sheet in filled if sheet.why), "no label is left")
    if len({sheet.draw for sheet in used}) > 1:
        return f"{' and '.join(sheet.file for sheet in used)} are of different draws"
    return None


def _numbered_runs(side: LoadedResults) -> Iterator[tuple[RunRow, int]]:
    """Each run with its index among the runs of its question."""
    for runs in by_question(side.rows):
        yield from ((run, index) for index, run in enumerate(runs))


def _about(sheet: Sheet) -> dict[str, JSON]:
    counts = {labels.KEYS[part]: len(sheet.given(part)) for part in form.NAMES}
    return {
        "name": sheet.name,
        "file": sheet.file,
        "sha256": sheet.sha256,
        **{key: count for key, count in counts.items() if count or key == labels.KEYS["score"]},
        "blank": sheet.blank,
        "invalid": len(sheet.invalid),
    }


def _agreements(
    filled: Sequence[Sheet], known: Mapping[str, ScoredReply], scale: Levels
) -> Iterator[dict[str, JSON]]:
    """The agreement of each pair of people, then of each person with every evaluator."""
    filled = [sheet for sheet in filled if sheet.scores]
    for one, other in combinations(filled, 2):
        pair = {"first": one.name, "second": other.name, "is_evaluator": False}
        yield {**pair, **_agreement(one.scores, other.scores, known, scale)}
    evaluators = dict.fromkeys(name for reply in known.values() for name in reply.verdicts)
    for sheet in filled:
        for name in evaluators:
            verdicts = {
                reply.id: reply.verdicts[name]
                for reply in known.values()
                if reply.verdicts.get(name) in scale.numbers
            }
            pair = {"first": sheet.name, "second": name, "is_evaluator": True}
            yield {**pair, **_agreement(sheet.scores, verdicts, known, scale)}


def _agreement(
    one: Mapping[str, float], other: Mapping[str, float], known: Mapping[str, ScoredReply], scale: Levels
) -> dict[str, JSON]:
    clusters = {name: known[name].cluster for name in one}
    kappa = weighted_kappa(one, other, scale.numbers, "none", cluster_of=clusters)
    weighted = weighted_kappa(one, other, scale.numbers, "quadratic", cluster_of=clusters)
    return {
        "replies": len(one.keys() & other.keys()),
        "same": percent_agreement(one, other),
        "kappa": asdict(kappa),
        "weighted_kappa": None if scale.is_categorical else asdict(weighted),
    }
