"""The vocabulary of judging: verdicts, scores, records, and the figures that suites make of them.

All values are immutable; those that are saved convert to plain JSON, and reading that back gives an equal
value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from equipoise.core.types import JSON, Cue, Transcript, run_id

Outcome = Literal["scored", "refused", "blocked", "truncated", "empty", "unscored", "error"]
OUTCOMES: tuple[Outcome, ...] = ("scored", "refused", "blocked", "truncated", "empty", "unscored", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One evaluator's judgement: the rubric's fields, or None and the error of the last attempt.

    `raw` holds the evaluator's invalid answers, in order.
    """

    evaluator: str
    fields: Mapping[str, JSON] | None
    attempts: int
    error: str | None = None
    raw: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether there is a judgement."""
        return self.fields is not None

    def to_json(self) -> dict[str, JSON]:
        """Plain data."""
        fields = None if self.fields is None else dict(self.fields)
        return {
            "evaluator": self.evaluator,
            "fields": fields,
            "attempts": self.attempts,
            "error": self.error,
            "raw": list(self.raw),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A person's judgement of a run, None where they leave it open.

    `score` is that of a verdict, `refused` whether the reply declines, and `lean` the side that it leans to
    and how far, as `judge.rubric.lean` reads it from a verdict.
    """

    score: float | None = None
    refused: bool | None = None
    lean: tuple[str, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How likely one evaluator was to choose each label, 0 to 1; None and the error where it chose none.

    `method` says where that is from: `logprobs`, the probabilities of its first token, of which the labels
    cover `mass`; or `samples`, the shares of its answers.
    """

    evaluator: str
    probabilities: Mapping[str, float] | None
    method: Literal["logprobs", "samples"] | None = None
    mass: float | None = None
    attempts: int = 1
    error: str | None = None
    raw: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether a label was chosen."""
        return self.probabilities is not None

    def to_json(self) -> dict[str, JSON]:
        """Plain data, nothing rounded: what is counted from it later must come out as it did at first."""
        shares = self.probabilities
        return {
            "evaluator": self.evaluator,
            "probabilities": None if shares is None else dict(shares),
            "method": self.method,
            "mass": self.mass,
            "attempts": self.attempts,
            "error": self.error,
            "raw": list(self.raw),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The result that a suite makes of the replies and verdicts of one run.

    `value` is on the suite's own scale and `percent` on 0..100; both None, with an error, where
    there is no valid score. `details` holds whatever else results say of the run.
    """

    outcome: Outcome
    value: float | None
    percent: float | None = None
    verdicts: tuple[Verdict, ...] = ()
    error: str | None = None
    details: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Record:
    """How one run ended, whole: what a test asserts on, the journal keeps and results are made of.

    `case` holds the JSON of the case. `score` is None exactly where `error` says why. Transcripts may be
    read from the journal only when they are iterated. `latency` is the sum of that of its replies and
    `queued` for how long its calls waited for their turns, in seconds; None where an earlier version kept
    neither. `asker` says who asked, and `names_asker` whether a reply repeats it; None in plain runs.
    """

    case: Mapping[str, JSON]
    run: int
    outcome: Outcome
    score: float | None
    percent: float | None = None
    error: str | None = None
    verdicts: tuple[Verdict, ...] = ()
    details: Mapping[str, JSON] = field(default_factory=dict)
    latency: float | None = None
    queued: float | None = None
    asker: Cue | None = None
    names_asker: bool | None = None
    subject: Sequence[Transcript] = ()
    evaluators: Sequence[Transcript] = ()

    @property
    def id(self) -> str:
        """The id of the run, as `Run.id`."""
        return run_id(self.case["id"], self.run, self.asker)

    def __repr__(self) -> str:
        # Short: pytest shows it where a test fails.
        return f"<Record {self.id} {self.outcome} {self.score}>"

    def to_json(self) -> dict[str, JSON]:
        """Everything but the transcripts, which the journal has as calls, as plain data."""
        return {
            "case": dict(self.case),
            "run": self.run,
            "outcome": self.outcome,
            "score": self.score,
            "percent": self.percent,
            "error": self.error,
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "details": dict(self.details),
            "latency": self.latency,
            "queued": self.queued,
            **({"asker": self.asker.to_json(), "names_asker": self.names_asker} if self.asker else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Values of one case in a form that all suites share: numbers for each run, None where it has none.

    A cell is one `cluster` (a question) in one `stratum` (a language); `labels` say what else it belongs to.
    `values` holds, by name, a number for each run in order: a percentage, or 1 and 0 for what was and was not
    so. `verdicts` holds each evaluator's score of each run, on the rubric's scale. `at` is where the runs
    stand in the results JSON, as a JSON pointer (RFC 6901).
    """

    id: str
    cluster: str
    stratum: str
    values: Mapping[str, Sequence[float | None]]
    labels: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    at: str = ""

    def of(self, name: str) -> Sequence[float | None]:
        """The values of that name; empty if the cell has none."""
        return self.values.get(name, ())


Kind = Literal["mean", "balance", "rate", "ratio", "gap", "lift", "count"]
Bounds = tuple[float, float]
"""The least and the most that a number can be."""
_BOUNDS: Mapping[Kind, Bounds] = {
    **dict.fromkeys(("mean", "gap", "lift"), (0.0, 100.0)),
    "balance": (-100.0, 100.0),
    "rate": (0.0, 1.0),
    "ratio": (0.0, math.inf),
    "count": (-math.inf, math.inf),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """Definition of a figure: which value, of which cells, put together how.

    A `mean` is over strata of the clusters' means, of values in 0..100; a `balance` is such a mean of
    values in -100..100, even at 0; a `rate` is the share of runs with a value of 1, of runs that
    count in part by the share `per` of them; a `ratio` divides the sum of `of` by the sum of `per`; a `gap`
    is the mean of `of` less that of `per`, a `lift` that gap in percent of the mean of `per`. All are in
    percent, but for a `count`, which is a mean of numbers. `higher_is_better` is None where neither is.
    `where` chooses cells by their labels. `if_nothing` is what a ratio is by definition where there is
    nothing to divide by. `limits` are the least and the most that a run's value can be, for a count that has
    them.
    """

    name: str
    of: str
    kind: Kind = "mean"
    per: str | None = None
    higher_is_better: bool | None = True
    where: Mapping[str, str] = field(default_factory=dict)
    unit: str = "%"
    if_nothing: float | None = None
    limits: Bounds | None = None

    @property
    def bounds(self) -> Bounds:
        """The least and the most that a run's value can be: `limits`, else those of its kind."""
        return self.limits or _BOUNDS[self.kind]

    @property
    def percent(self) -> float:
        """The factor that converts a value to percent."""
        return 100.0 if self.kind == "rate" else 1.0

    def chosen(self, cells: Sequence[Cell]) -> Sequence[Cell]:
        """The cells that the metric includes."""
        where = self.where.items()
        return [cell for cell in cells if where <= cell.labels.items()] if where else cells

    def weighted(self, cell: Cell) -> list[tuple[float, float]]:
        """The runs of a rate that have a value: the value, and the share of a run by which it counts."""
        of = cell.of(self.of)
        per = cell.of(self.per) if self.per else [1.0] * len(of)
        pairs = zip(of, per, strict=True)
        return [(value, share) for value, share in pairs if value is not None and share is not None]
