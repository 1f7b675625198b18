"""Reference points that are shown beside a headline figure, never in a ranking.

They are the scores of the same evaluators on scripted replies of known character, and published figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from equipoise.stats import mean
from equipoise.suites import AnySuite
from equipoise.suites.references import PublishedFigures, published_figures

if TYPE_CHECKING:
    from equipoise.results.document import Audit


class _ScriptedReply(NamedTuple):
    """What identifies a scripted reply in an audit."""

    character: str
    kind: str
    topic: str
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """The reference points of results, in the headline's unit.

    `scripted` has the mean score of scripted replies by their character, `texts` the number of these replies,
    and `evaluators` the models that gave the scores. `published` are published figures, None without any.
    """

    scripted: Mapping[str, float]
    texts: Mapping[str, int]
    evaluators: tuple[str, ...]
    published: PublishedFigures | None

    def __bool__(self) -> bool:
        return bool(self.scripted or self.published)


def references(suite: AnySuite, audits: Mapping[str, Audit | None], dataset: str | None) -> References:
    """The reference points of results of a suite; scripted replies only if all evaluators were audited."""
    means = [_means(suite, audit) for audit in audits.values()]
    shared = [reply for reply in means[0] if all(reply in other for other in means)] if means else []
    by_character: dict[str, list[float]] = {}
    for reply in shared:
        panel_mean = sum(scores[reply] for scores in means) / len(means)
        by_character.setdefault(reply.character, []).append(panel_mean)
    published = suite.about.published
    return References(
        scripted={name: sum(values) / len(values) for name, values in by_character.items()},
        texts={name: len(values) for name, values in by_character.items()},
        evaluators=tuple(audits),
        published=published_figures(published, dataset) if published else None,
    )


def _means(suite: AnySuite, audit: Audit | None) -> Mapping[_ScriptedReply, float]:
    """An evaluator's mean score on each scripted reply.

    Empty if its audit is incomplete, or the evaluator of the results differs from the audited one.
    """
    if suite.audit is None or audit is None or audit["state"] != "complete" or audit["differs"]:
        return {}
    return {
        _ScriptedReply(character, row["kind"], row["topic"], row["language"]): value
        for row in audit["judged"]
        # Without texts that address the judge: they are appended to a host.
        if row["host"] is None
        and (character := suite.audit.character(row["kind"], row["aspect"])) is not None
        and (value := mean([score for score in row["scores"] if score is not None])) is not None
    }


def lines(shown: References) -> Iterator[str]:
    """A line on scripted replies, and one on published figures, for a terminal."""
    if shown.scripted:
        figures = ", ".join(f"{name} {value:.1f}" for name, value in shown.scripted.items())
        yield f"beside it: scripted replies get from {' and '.join(shown.evaluators)}: {figures}"
    if published := shown.published:
        figures = ", ".join(f"{model} {value:g}" for model, value in published.models.items())
        yield f"published: {figures} ({published.source}, {published.date}; {published.note})"
