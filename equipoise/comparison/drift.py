"""Drift of evaluators: how their verdicts on the same anchors changed between two audits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from equipoise.comparison.side import Side
from equipoise.core.types import JSON
from equipoise.judge.anchors import LEANING, Mirrors
from equipoise.stats import mean
from equipoise.stats.intervals import Estimate, Observation, linearise

if TYPE_CHECKING:
    from equipoise.results.document import AuditFigures

FEWEST = 6
"""Fewest topics for a change that is identical in all of them, and so has no interval, to count as drift."""
_TEXT = ("topic", "language", "kind", "aspect")
_FIGURE = ("value", "low", "high", "n", "reason")
TextKey = tuple[JSON, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How one evaluator's verdicts on the same texts changed, in points of 100.

    `texts` is their number, `before` and `after` are the times of the two audits. `mean` is the change of the
    mean score and `lean` that of its lean. `share` is the evaluator's weight in its panel, 0 to 1, and
    `difference` the difference of the two models' headline figures, in `unit`.
    """

    evaluator: str
    texts: int
    before: str
    after: str
    mean: Estimate
    lean: Estimate
    share: float
    difference: float | None
    unit: str

    @property
    def has_drifted(self) -> bool:
        """Whether chance does not explain the change."""
        return any(map(_is_beyond_chance, (self.mean, self.lean)))

    def to_json(self) -> dict[str, JSON]:
        """Plain data, as in the results JSON."""
        moved = {name: self._scaled(getattr(self.mean, name)) for name in _FIGURE[:3]}
        return {
            "evaluator": self.evaluator,
            "texts": self.texts,
            "before": self.before,
            "after": self.after,
            "has_drifted": self.has_drifted,
            "mean": {name: getattr(self.mean, name) for name in _FIGURE},
            "lean": {name: getattr(self.lean, name) for name in _FIGURE},
            "explains": {**moved, "of": self.difference, "unit": self.unit},
        }

    def _scaled(self, points: float | None) -> float | None:
        return None if points is None else self.share * points

    def __str__(self) -> str:
        """One line for the user."""
        moved = f"its verdicts on the same {self.texts} texts moved by {_formatted(self.mean, ' points')}"
        lean = "" if self.lean.value is None else f", its lean by {_formatted(self.lean)}"
        line = f"evaluator {self.evaluator} drifted: {moved}{lean}"
        if self.difference is None:
            return line
        part, whole = _formatted(self.mean, share=self.share), f"{self.difference:+.2f} {self.unit}"
        return f"{line}; of the {whole} between the models {part} may be drift"


def drifts(before: Side, after: Side, difference: float | None, unit: str) -> list[Drift]:
    """The drift of each evaluator that was audited on the same anchors for both results."""
    panel = after.metadata["evaluator_models"]
    return [
        drift
        for name in panel
        if (drift := _drift(name, before, after, 1 / len(panel), difference, unit)) is not None
    ]


def _drift(
    name: str, before: Side, after: Side, share: float, difference: float | None, unit: str
) -> Drift | None:
    older, newer = (side.audits.get(name) for side in (before, after))
    if not older or not newer or not _are_comparable(older, newer):
        return None
    was, now = _scores(older), _scores(newer)
    moved = {text: score - was[text] for text, score in now.items() if text in was}
    mirrors = after.suite.audit.MIRRORS if after.suite.audit else ()
    return Drift(
        evaluator=name,
        texts=len(moved),
        before=older["finished"] or "",
        after=newer["finished"] or "",
        mean=linearise(list(_topic_changes(moved)), 0.95)[0],
        lean=linearise(list(_lean_changes(moved, mirrors)), 0.95)[0],
        share=share,
        difference=difference,
        unit=unit,
    )


def _are_comparable(older: AuditFigures, newer: AuditFigures) -> bool:
    """Whether these are two complete audits on the same texts, and not one audit twice."""
    are_complete = older["state"] == newer["state"] == "complete"
    return (
        are_complete
        and older["anchors_hash"] == newer["anchors_hash"]
        and (older["finished"], older["extent"]) != (newer["finished"], newer["extent"])
    )


def _scores(audit: AuditFigures) -> dict[TextKey, float]:
    """The mean score of the valid verdicts on each text, without verdicts on the aspect LEANING."""
    means = {}
    for row in audit["judged"]:
        if row.get("aspect") == LEANING:
            continue
        value = mean([score for score in row["scores"] if score is not None])
        if value is not None:
            means[tuple(row.get(name) for name in _TEXT)] = value
    return means


def _topic_changes(moved: Mapping[TextKey, float]) -> Iterator[Observation]:
    """The mean change of each topic in each language."""
    by_topic = defaultdict[tuple[str, str], list[float]](list)
    for (topic, language, *_), change in moved.items():
        by_topic[topic, language].append(change)
    for (topic, language), changes in by_topic.items():
        yield Observation(cluster=topic, stratum=language, value=sum(changes) / len(changes))


def _lean_changes(moved: Mapping[TextKey, float], mirrors: Mirrors) -> Iterator[Observation]:
    """The change of lean of each topic in each language: the mean difference between mirrored texts."""
    mirror, differences = dict(mirrors), defaultdict[tuple[str, str], list[float]](list)
    for (topic, language, kind, aspect), change in moved.items():
        other = moved.get((topic, language, mirror.get(kind, ""), aspect))
        if other is not None:
            differences[topic, language].append(change - other)
    for (topic, language), changes in differences.items():
        yield Observation(cluster=topic, stratum=language, value=sum(changes) / len(changes))


def _is_beyond_chance(estimate: Estimate) -> bool:
    if estimate.low is not None and estimate.high is not None:
        return estimate.low > 0 or estimate.high < 0
    return bool(estimate.value) and estimate.n >= FEWEST


def _formatted(estimate: Estimate, unit: str = "", share: float = 1.0) -> str:
    if estimate.value is None:
        return "an unknown number"
    shown = f"{share * estimate.value:+.2f}{unit}"
    if estimate.low is None or estimate.high is None:
        return shown
    return f"{shown} ({share * estimate.low:+.2f} to {share * estimate.high:+.2f})"
