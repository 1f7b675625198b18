"""How far apart the levels of two panels lie, for results that other evaluators judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from equipoise.comparison.drift import TextKey, formatted, interval, mean_scores, topic_changes
from equipoise.results.results import Results
from equipoise.stats import mean

if TYPE_CHECKING:
    from equipoise.results.document import Audit


def level_warnings(before: Results, after: Results, difference: float | None, unit: str) -> list[str]:
    """A sentence on the levels of two panels; none for the same evaluators, or where scores have no scale.

    `difference` is that of the headline figures, in `unit`. Of the same evaluators `drift` tells.
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
            f"audit all of them (equipoise audit {after.suite.name})"
        ]
    was, now = map(_panel_scores, complete)
    changes = {text: score - was[text] for text, score in now.items() if text in was}
    level = interval(topic_changes(changes))
    sentence = (
        f"the evaluators differ: on the same {len(changes)} texts the scores of the candidate's lie "
        f"{formatted(level, ' points')} from those of the baseline's"
    )
    return [sentence if difference is None else f"{sentence}; the models differ by {difference:+.2f} {unit}"]


def _panel_scores(audits: list[Audit]) -> Mapping[TextKey, float]:
    """The panel's mean score of each text that all of its evaluators judged."""
    scores = [mean_scores(audit) for audit in audits]
    shared = set(scores[0]).intersection(*scores[1:])
    means = {text: mean([by_text[text] for by_text in scores]) for text in shared}
    return {text: value for text, value in means.items() if value is not None}
