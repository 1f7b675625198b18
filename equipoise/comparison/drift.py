"""How far apart verdicts on the same anchors lie: those of one evaluator in two audits, or of two panels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import structs

from equipoise.core.figures import excludes_zero
from equipoise.core.types import JSON
from equipoise.judge.anchors import LEANING, LEANING_THIRD, Mirrors
from equipoise.results.document import Audit, DriftInterval, DriftShare, EvaluatorDrift
from equipoise.results.results import Results
from equipoise.stats import Observation, mean
from equipoise.stats.intervals import linearised_mean

FEWEST = 6
"""A change that is identical in all topics has no interval; with this many topics or more it is drift."""
_TEXT_KEYS = ("topic", "language", "kind", "aspect")
_TextKey = tuple[JSON, ...]
"""The identity of a judged text in an audit: the values of _TEXT_KEYS."""


def drifts(before: Results, after: Results, difference: float | None, unit: str) -> list[EvaluatorDrift]:
    """The drift of each evaluator that was audited on the same anchors for both results.

    `difference` is the difference between the headline figures, in `unit`. The part that an evaluator's drift
    may explain is the drift divided by the number of evaluators.
    """
    panel = after.metadata["evaluator_models"]
    return [
        drift
        for name in panel
        if (drift := _drift(name, before, after, 1 / len(panel), difference, unit)) is not None
    ]


def _drift(
    name: str, before: Results, after: Results, share: float, difference: float | None, unit: str
) -> EvaluatorDrift | None:
    older, newer = (side.audits.get(name) for side in (before, after))
    if not older or not newer or not _are_comparable(older, newer):
        return None
    was, now = _mean_scores(older), _mean_scores(newer)
    changes = {text: score - was[text] for text, score in now.items() if text in was}
    mirrors = after.suite.audit.mirrors if after.suite.audit else ()
    mean_change, lean_change = _interval(_topic_changes(changes)), _interval(_lean_changes(changes, mirrors))
    low, value, high = (
        None if points is None else share * points
        for points in (mean_change["low"], mean_change["value"], mean_change["high"])
    )
    return {
        "evaluator": name,
        "texts": len(changes),
        "before": older["finished"] or "",
        "after": newer["finished"] or "",
        "has_drifted": any(map(_is_beyond_chance, (mean_change, lean_change))),
        "mean": mean_change,
        "lean": lean_change,
        "explains": {"value": value, "low": low, "high": high, "of": difference, "unit": unit},
    }


def describe(drift: EvaluatorDrift) -> str:
    """One line on the drift for the user."""
    mean = f"its verdicts on the same {drift['texts']} texts moved by {_formatted(drift['mean'], ' points')}"
    lean = "" if drift["lean"]["value"] is None else f", its lean by {_formatted(drift['lean'])}"
    line = f"evaluator {drift['evaluator']} drifted: {mean}{lean}"
    explains = drift["explains"]
    if explains["of"] is None:
        return line
    difference = f"{explains['of']:+.2f} {explains['unit']}"
    return f"{line}; of the {difference} between the models {_formatted(explains)} may be drift"


def _are_comparable(older: Audit, newer: Audit) -> bool:
    """Whether these are two complete audits on the same texts, and not one audit twice."""
    are_complete = older["state"] == newer["state"] == "complete"
    return (
        are_complete
        and older["anchors_hash"] == newer["anchors_hash"]
        and (older["finished"], older["extent"]) != (newer["finished"], newer["extent"])
    )


def _mean_scores(audit: Audit) -> dict[_TextKey, float]:
    """The mean score of the valid verdicts on each text. Verdicts on leans are left out."""
    means = {}
    for row in audit["judged"]:
        if row["aspect"] in (LEANING, LEANING_THIRD):
            continue
        value = mean([score for score in row["scores"] if score is not None])
        if value is not None:
            means[tuple(row.get(name) for name in _TEXT_KEYS)] = value
    return means


def _topic_changes(changes: Mapping[_TextKey, float]) -> Iterator[Observation]:
    """The mean change of each topic in each language."""
    by_topic = defaultdict[tuple[str, str], list[float]](list)
    for (topic, language, *_), change in changes.items():
        by_topic[topic, language].append(change)
    return _means(by_topic)


def _lean_changes(changes: Mapping[_TextKey, float], mirrors: Mirrors) -> Iterator[Observation]:
    """The change of lean of each topic in each language: the mean difference between mirrored texts.

    `mirrors` are pairs of kinds: a text that favours one side, and its mirror image.
    """
    mirror_kind, differences = dict(mirrors), defaultdict[tuple[str, str], list[float]](list)
    for (topic, language, kind, aspect), change in changes.items():
        mirrored = changes.get((topic, language, mirror_kind.get(kind, ""), aspect))
        if mirrored is not None:
            differences[topic, language].append(change - mirrored)
    return _means(differences)


def _means(by_topic: Mapping[tuple[str, str], Sequence[float]]) -> Iterator[Observation]:
    for (topic, language), values in by_topic.items():
        yield Observation(cluster=topic, stratum=language, value=sum(values) / len(values))


def _interval(observations: Iterator[Observation]) -> DriftInterval:
    """The mean of the observations with its 95 % interval."""
    estimate, _ = linearised_mean(list(observations), 0.95)
    return msgspec.convert(structs.asdict(estimate), DriftInterval)


def _is_beyond_chance(change: DriftInterval) -> bool:
    """Whether chance does not explain a change."""
    if change["low"] is not None:
        return excludes_zero(change["low"], change["high"])
    return bool(change["value"]) and change["n"] >= FEWEST


def _formatted(change: DriftInterval | DriftShare, unit: str = "") -> str:
    """A change with its interval as text."""
    if change["value"] is None:
        return "an unknown number"
    text = f"{change['value']:+.2f}{unit}"
    if change["low"] is None or change["high"] is None:
        return text
    return f"{text} ({change['low']:+.2f} to {change['high']:+.2f})"


# Levels of two panels.


def level_warnings(before: Results, after: Results, difference: float | None, unit: str) -> list[str]:
    """A sentence on how far apart the scores of two different panels lie; none if scores have no scale.

    `difference` is the difference between the headline figures, in `unit`. For two panels of the same
    evaluators there is no sentence: see `drifts`.
    """
    panels = [set(side.metadata["evaluator_models"]) for side in (before, after)]
    if panels[0] == panels[1] or not (after.suite.audit and after.suite.judging.has_means):
        return []
    audits = [
        [side.audits.get(name) for name in side.metadata["evaluator_models"]] for side in (before, after)
    ]
    complete = [[audit for audit in panel if audit and audit["state"] == "complete"] for panel in audits]
    hashes = {audit["anchors_hash"] for panel in complete for audit in panel}
    if list(map(len, complete)) != list(map(len, audits)) or len(hashes) != 1:
        return [
            "the evaluators differ, and how far apart their scores lie is not known: "
            f"audit all of them (equipoise judge audit {after.suite.name})"
        ]
    was, now = map(_panel_scores, complete)
    changes = {text: score - was[text] for text, score in now.items() if text in was}
    level = _interval(_topic_changes(changes))
    sentence = (
        f"the evaluators differ: on the same {len(changes)} texts the scores of the candidate's lie "
        f"{_formatted(level, ' points')} from those of the baseline's"
    )
    return [sentence if difference is None else f"{sentence}; the models differ by {difference:+.2f} {unit}"]


def _panel_scores(audits: list[Audit]) -> Mapping[_TextKey, float]:
    """The panel's mean score for each text that all of its evaluators judged."""
    scores = [_mean_scores(audit) for audit in audits]
    shared = set(scores[0]).intersection(*scores[1:])
    means = {text: mean([by_text[text] for by_text in scores]) for text in shared}
    return {text: value for text, value in means.items() if value is not None}
