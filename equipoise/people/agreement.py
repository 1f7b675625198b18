"""How far people agree with each other and with evaluators: Cohen's kappa of every two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

from equipoise.compare.baseline import Side
from equipoise.core.errors import UserError
from equipoise.core.types import JSON
from equipoise.people import sheets
from equipoise.people.sheets import Levels, Sheet
from equipoise.results.replies import ScoredReply
from equipoise.results.summary import plain, with_cluster_names
from equipoise.stats.agreement import percent_agreement, weighted_kappa

METHOD = (
    "Cohen (1960), Educational and Psychological Measurement 20, 37-46; with quadratic weights Cohen (1968), "
    "Psychological Bulletin 70, 213-220; studentised bootstrap over clusters, Efron and Tibshirani (1993)"
)


def agree(side: Side, paths: Sequence[Path]) -> tuple[dict[str, JSON], list[str]]:
    """The section of the results, and a line on every row that cannot be used. Raises UserError."""
    known = {reply.id: reply for reply in sheets.judged(side)}
    found = [sheet for path in dict.fromkeys(paths) for sheet in sheets.read(path, side, known)]
    for one, other in combinations(found, 2):
        if one.name == other.name:
            raise UserError(f"{one.file} and {other.file}: both are {one.name!r}; rename one of the files")
    wrong = [line for sheet in found for line in sheet.invalid]
    if not any(sheet.scores for sheet in found):
        why = f"; {wrong[0]}" if wrong else ": all are blank"
        raise UserError(f"no score of a reply in {side.file} can be used{why}")
    return _section(side, found, known), wrong


def _section(side: Side, found: Sequence[Sheet], known: Mapping[str, ScoredReply]) -> dict[str, JSON]:
    scale = sheets.levels(side)
    section: dict[str, JSON] = plain(
        {
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "levels": scale.shown,
            "sheets": [_about(sheet) for sheet in found],
            "agreement": list(_pairs(found, known, scale)),
            "method": METHOD,
            "confidence": 0.95,
        }
    )
    named: dict[str, JSON] = with_cluster_names(section, side.suite.clusters)
    return named


def _about(sheet: Sheet) -> dict[str, JSON]:
    counts = {"scores": len(sheet.scores), "blank": sheet.blank, "invalid": len(sheet.invalid)}
    return {"name": sheet.name, "file": sheet.file, "sha256": sheet.sha256, **counts}


def _pairs(
    found: Sequence[Sheet], known: Mapping[str, ScoredReply], scale: Levels
) -> Iterator[dict[str, JSON]]:
    """People among themselves, then each with every evaluator."""
    for one, other in combinations(found, 2):
        pair = {"first": one.name, "second": other.name, "is_evaluator": False}
        yield {**pair, **_agreement(one.scores, other.scores, known, scale)}
    evaluators = dict.fromkeys(name for reply in known.values() for name in reply.verdicts)
    for sheet in found:
        for name in evaluators:
            given = {
                reply.id: reply.verdicts[name]
                for reply in known.values()
                if reply.verdicts.get(name) in scale.numbers
            }
            pair = {"first": sheet.name, "second": name, "is_evaluator": True}
            yield {**pair, **_agreement(sheet.scores, given, known, scale)}


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
