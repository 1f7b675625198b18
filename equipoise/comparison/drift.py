"""Drift of evaluators: how their verdicts on the same anchors changed between two audits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from equipoise.core.types import JSON
from equipoise.judge.anchors import LEANING, LEANING_THIRD, Mirrors
from equipoise.results.results import Results
from equipoise.stats import mean
from equipoise.stats.intervals import Estimate, Observation, linearised_mean

if TYPE_CHECKING:
    from equipoise.results.document import Audit

FEWEST = 6
"""Fewest topics for a change that is identical in all of them, and so has no interval, to count as drift."""
_TEXT_KEYS = ("topic", "language", "kind", "aspect")
_ESTIMATE_KEYS = ("value", "low", "high", "n", "reason")
TextKey = tuple[JSON, ...]
"""What identifies a judged text in an audit: the values of _TEXT_KEYS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How one evaluator's verdicts on the same texts changed, in points of 100.

    `texts` is the number of texts, `before` and `after` are the times of the two audits. `mean` is the change
    of the mean score, and `lean` that of the lean, the mean difference between mirrored texts. `share` is the
    evaluator's weight in its panel, 0 to 1, and `difference` the difference of the two models' headline
    figures, in `unit`.
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

    def to_json(self) -> JSON:
        """As in results. `explains` is how much of the difference may be drift."""
        explained = {name: self._scaled(getattr(self.mean, name)) for name in ("value", "low", "high")}
        return {
            "evaluator": self.evaluator,
            "texts": self.texts,
            "before": self.before,
            "after": self.after,
            "has_drifted": self.has_drifted,
            "mean": {name: getattr(self.mean, name) for name in _ESTIMATE_KEYS},
            "lean": {name: getattr(self.lean, name) for name in _ESTIMATE_KEYS},
            "explains": {**explained, "of": self.difference, "unit": self.unit},
        }

    def _scaled(self, points: float | None) -> float | None:
        """The change of a panel's mean score that this evaluator's change makes."""
        return None if points is None else self.share * points

    def __str__(self) -> str:
        """One line for the user."""
        mean = f"its verdicts on the same {self.texts} texts moved by {_formatted(self.mean, ' points')}"
        lean = "" if self.lean.value is None else f", its lean by {_formatted(self.lean)}"
        line = f"evaluator {self.evaluator} drifted: {mean}{lean}"
        if self.difference is None:
            return line
        explained, difference = _formatted(self.mean, share=self.share), f"{self.difference:+.2f} {self.unit}"
        return f"{line}; of the {difference} between the models {explained} may be drift"


def drifts(before: Results, after: Results, difference: float | None, unit: str) -> list[Drift]:
    """The drift of each evaluator that was audited on the same anchors for both results.

    `difference` is that of the headline figures, in `unit`.
    """
    panel = after.metadata["evaluator_models"]
    return [
        drift
        for name in panel
        if (drift := _drift(name, before, after, 1 / len(panel), difference, unit)) is not None
    ]


def _drift(
    name: str, before: Results, after: Results, share: float, difference: float | None, unit: str
) -> Drift | None:
    older, newer = (side.audits.get(name) for side in (before, after))
    if not older or not newer or not _are_comparable(older, newer):
        return None
    was, now = _mean_scores(older), _mean_scores(newer)
    changes = {text: score - was[text] for text, score in now.items() if text in was}
    mirrors = after.suite.audit.MIRRORS if after.suite.audit else ()
    mean_change, _ = linearised_mean(list(_topic_changes(changes)), 0.95)
    lean_change, _ = linearised_mean(list(_lean_changes(changes, mirrors)), 0.95)
    return Drift(
        evaluator=name,
        texts=len(changes),
        before=older["finished"] or "",
        after=newer["finished"] or "",
        mean=mean_change,
        lean=lean_change,
        share=share,
        difference=difference,
        unit=unit,
    )


def _are_comparable(older: Audit, newer: Audit) -> bool:
    """Whether these are two complete audits on the same texts, and not one audit twice."""
    are_complete = older["state"] == newer["state"] == "complete"
    return (
        are_complete
        and older["anchors_hash"] == newer["anchors_hash"]
        and (older["finished"], older["extent"]) != (newer["finished"], newer["extent"])
    )


def _mean_scores(audit: Audit) -> dict[TextKey, float]:
    """The mean score of the valid verdicts on each text, without verdicts on leans."""
    means = {}
    for row in audit["judged"]:
        if row["aspect"] in (LEANING, LEANING_THIRD):
            continue
        value = mean([score for score in row["scores"] if score is not None])
        if value is not None:
            means[tuple(row.get(name) for name in _TEXT_KEYS)] = value
    return means


def _topic_changes(changes: Mapping[TextKey, float]) -> Iterator[Observation]:
    """The mean change of each topic in each language."""
    by_topic = defaultdict[tuple[str, str], list[float]](list)
    for (topic, language, *_), change in changes.items():
        by_topic[topic, language].append(change)
    return _means(by_topic)


def _lean_changes(changes: Mapping[TextKey, float], mirrors: Mirrors) -> Iterator[Observation]:
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


def _is_beyond_chance(estimate: Estimate) -> bool:
    if estimate.low is not None and estimate.high is not None:
        return estimate.low > 0 or estimate.high < 0
    return bool(estimate.value) and estimate.n >= FEWEST


def _formatted(estimate: Estimate, unit: str = "", share: float = 1.0) -> str:
    """A change with its interval as text, multiplied by `share`."""
    if estimate.value is None:
        return "an unknown number"
    change = f"{share * estimate.value:+.2f}{unit}"
    if estimate.low is None or estimate.high is None:
        return change
    return f"{change} ({share * estimate.low:+.2f} to {share * estimate.high:+.2f})"
