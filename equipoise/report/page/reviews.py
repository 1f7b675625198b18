"""Reviews of the page's runs: people mark verdicts as right or wrong, which shows how far they agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.report.page.transcripts import mean_evaluator_score

if TYPE_CHECKING:
    from equipoise.core.figures import Estimate
    from equipoise.results.document import Metadata

FORMAT, VERSION = "equipoise-reviews", 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One person's mark of a run's verdict. `score` is None if the person marked it only right or wrong.

    `suite`, `model` and `started` identify the results, `run` is `RunRow.name`, and `at` the time of the
    mark. The fields are those of the file that the page saves.
    """

    suite: str
    model: str
    started: str
    run: str
    verdict: Literal["right", "wrong"]
    score: float | None = None
    note: str = ""
    reviewer: str = ""
    at: str = ""


def load(path: Path, prefix: str = "--reviews: ") -> list[Review]:
    """The reviews in a file that the page saved. Raises UserError naming the file and the wrong entry.

    Messages begin with `prefix`.
    """
    try:
        data = json_io.loads(read_bytes(path))
    except OSError as error:
        raise UserError(f"{prefix}{path}: cannot be read ({error.strerror})") from None
    except ValueError:
        raise UserError(f"{prefix}{path}: is not JSON; give a file that the page saved") from None
    if (
        not isinstance(data, dict)
        or data.get("format") != FORMAT
        or not isinstance(data.get("reviews"), list)
    ):
        raise UserError(f"{prefix}{path}: is not a file of reviews; give one that the page saved")
    if data.get("version") != VERSION:
        raise UserError(
            f"{prefix}{path}: has version {data.get('version')!r}; this Equipoise reads {VERSION}"
        )
    return [_review(f"{prefix}{path}", number, item) for number, item in enumerate(data["reviews"], start=1)]


def _review(source: str, number: int, item: JSON) -> Review:
    try:
        review = Review(**item)
    except TypeError:
        raise UserError(f"{source}: review {number} lacks a field, or has an unknown one") from None
    texts = (review.suite, review.model, review.started, review.run, review.note, review.reviewer, review.at)
    is_number = review.score is None or type(review.score) in (int, float)
    if (
        review.verdict not in ("right", "wrong")
        or not is_number
        or not all(isinstance(text, str) for text in texts)
    ):
        raise UserError(f"{source}: review {number} has a value of the wrong kind")
    return review


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement on one result: the share of verdicts marked right, and kappa of the scores of `units` runs.

    `key` is that of the result, `reviews` the number of marks.
    """

    key: str
    reviews: int
    right: Estimate
    kappa: Estimate
    units: int


@dataclass(slots=True)
class MatchedReviews:
    """Reviews matched with runs; `match` is called for each of the page's results.

    `matched` has each review with its run and the key of its result. `scales` has the ends of each scale.
    """

    reviews: Sequence[Review]
    matched: list[tuple[str, Review, RunRow]] = field(default_factory=list)
    scales: dict[str, tuple[int, int]] = field(default_factory=dict)

    def match(self, key: str, metadata: Metadata, rows: Sequence[RunRow]) -> None:
        """Match the reviews of the result `key` with its runs."""
        identity = (metadata["suite"], metadata["subject_model"], metadata["started"])
        by_run = {
            review.run: review
            for review in self.reviews
            if (review.suite, review.model, review.started) == identity
        }
        if not by_run:
            return
        self.scales[key] = (metadata["scale"]["low"], metadata["scale"]["high"])
        for row in rows:
            if review := by_run.get(row.name):
                self.matched.append((key, review, row))

    @property
    def unmatched(self) -> int:
        """The number of reviewed runs that are not in these results."""
        runs = {(review.suite, review.model, review.started, review.run) for review in self.reviews}
        return len(runs) - len(self.matched)

    def agreement(self) -> list[Agreement]:
        """The agreement on each result that has reviews."""
        by_key: dict[str, list[tuple[Review, RunRow]]] = {}
        for key, review, row in self.matched:
            by_key.setdefault(key, []).append((review, row))
        return [_agreement(key, self.scales[key], matches) for key, matches in by_key.items()]


def _agreement(key: str, scale: tuple[int, int], matches: Iterable[tuple[Review, RunRow]]) -> Agreement:
    # Imported here: numpy is slow to load.
    from equipoise.stats.agreement import weighted_kappa
    from equipoise.stats.intervals import clustered_rate

    are_right: dict[str, list[bool]] = {}
    people: dict[str, float] = {}
    evaluators: dict[str, float] = {}
    cluster_of: dict[str, str] = {}
    for review, row in matches:
        are_right.setdefault(row.id, []).append(review.verdict == "right")
        panel_score = mean_evaluator_score(row)
        # To mark a verdict right without a score is to give the evaluators' score.
        score = panel_score if review.score is None and review.verdict == "right" else review.score
        if panel_score is not None and score is not None:
            people[review.run] = _level(score, scale)
            evaluators[review.run] = _level(panel_score, scale)
            cluster_of[review.run] = row.id
    marks_by_case = are_right.values()
    rate = clustered_rate([sum(marks) for marks in marks_by_case], [len(marks) for marks in marks_by_case])
    levels = [float(level) for level in range(scale[0], scale[1] + 1)]
    kappa = weighted_kappa(people, evaluators, levels, cluster_of=cluster_of)
    reviews = sum(map(len, marks_by_case))
    return Agreement(key=key, reviews=reviews, right=rate, kappa=kappa, units=len(people))


def _level(score: float, scale: tuple[int, int]) -> float:
    """The nearest level of a scale, of which these are the ends."""
    return float(min(max(round(score), scale[0]), scale[1]))
