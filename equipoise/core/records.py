"""The types of judging: verdicts, scores, records, and the metrics that suites compute from them.

All are immutable. Those that are saved can be read back from what `to_json` returns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from msgspec import to_builtins

from equipoise.core.types import JSON, Conversation, Cue, run_id

Number = int | float
"""A number whose type is preserved when it is read and written again: 4 does not become 4.0."""
Outcome = Literal["scored", "refused", "blocked", "truncated", "empty", "unscored", "error"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One evaluator's judgement: the rubric's fields, or None and the error of the last attempt.

    `raw` has the evaluator's invalid answers, in order.
    """

    evaluator: str
    fields: Mapping[str, JSON] | None
    attempts: int
    error: str | None = None
    raw: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether there is a judgement, so that `fields` is set."""
        return self.fields is not None

    def to_json(self) -> dict[str, JSON]:
        """The verdict as plain data."""
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
    """A person's judgement of a run. A field is None if the person left it open.

    `score` is on the scale of verdicts, `refused` says whether the reply declines to answer, and `lean` is
    the side that it leans to and how far, as `judge.rubric.read_lean` returns them.
    """

    score: float | None = None
    refused: bool | None = None
    lean: tuple[str, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One evaluator's probability of each label (option) of a prompt, 0 to 1.

    `probabilities` is None, and `error` says why, if the evaluator chose no label. `method` is `logprobs` if
    the probabilities are those of its first token, and `samples` if they are shares of its answers. With
    `logprobs`, `mass` is the total probability of the labels. `raw` has the invalid answers.
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
        """The choice as plain data. Nothing is rounded, so that recomputed scores are the same."""
        data: dict[str, JSON] = to_builtins(self)
        return data


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The score that a suite gives one run, from its replies and verdicts.

    `value` is on the suite's own scale and `percent` on 0..100. Both are None, with an error, if there is no
    valid score. `details` has further data on the run for the results.
    """

    outcome: Outcome
    value: float | None
    percent: float | None = None
    verdicts: tuple[Verdict, ...] = ()
    error: str | None = None
    details: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Record:
    """The complete outcome of one run: what tests assert on, the journal stores and results are built from.

    `case` is the JSON of the case. `score` is None if and only if `error` says why. Transcripts may be lazy:
    they are then read from the journal at each use. `latency` is the sum of the latencies of all replies,
    and `queued` the time that calls waited before they were sent, in seconds. `asker` is the cue that says
    who asks, and `names_asker` whether a reply repeats the cue. Both are None in plain runs.
    """

    case: Mapping[str, JSON]
    run: int
    outcome: Outcome
    score: Number | None
    percent: Number | None = None
    error: str | None = None
    verdicts: tuple[Verdict, ...] = ()
    details: Mapping[str, JSON] = field(default_factory=dict)
    latency: Number = 0.0
    queued: Number = 0.0
    asker: Cue | None = None
    names_asker: bool | None = None
    subject: Sequence[Conversation] = ()
    evaluators: Sequence[Conversation] = ()

    @property
    def id(self) -> str:
        """The id of the run, as `Run.id`."""
        return run_id(self.case["id"], self.run, self.asker)

    def __repr__(self) -> str:
        # Short: pytest shows it where a test fails.
        return f"<Record {self.id} {self.outcome} {self.score}>"

    def to_json(self) -> dict[str, JSON]:
        """The record as plain data without the transcripts, which the journal stores as calls."""
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
    """The values of one case, in a form that is the same for all suites.

    A cell is one `cluster` (a question) in one `stratum` (a language). `labels` are attributes of the case,
    such as its area, by which metrics select cells. `values` has, by name, a number for each run in order: a
    percentage, or 1 for yes and 0 for no; None if the run has no such value. `verdicts` has, by evaluator,
    the score of each run on the rubric's scale. `at` is the JSON pointer (RFC 6901) to the runs in the
    results JSON.
    """

    id: str
    cluster: str
    stratum: str
    values: Mapping[str, Sequence[float | None]]
    labels: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    at: str = ""

    def of(self, name: str) -> Sequence[float | None]:
        """The values with this name, one for each run; empty if the cell has none."""
        return self.values.get(name, ())


Kind = Literal["mean", "balance", "rate", "ratio", "gap", "lift", "contrast", "count"]
Bounds = tuple[float, float]
"""The lowest and highest possible value."""
_BOUNDS: Mapping[Kind, Bounds] = {
    **dict.fromkeys(("mean", "gap", "lift", "contrast"), (0.0, 100.0)),
    "balance": (-100.0, 100.0),
    "rate": (0.0, 1.0),
    "ratio": (0.0, math.inf),
    "count": (-math.inf, math.inf),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """The definition of a metric: which values of which cells it uses, and how it combines them.

    `of` and `per` are names of values of cells. The kinds are:

    - `mean`: the mean over strata of the clusters' means, of values in 0..100
    - `balance`: the same mean, of values in -100..100, where 0 is balanced
    - `rate`: the share of runs with the value 1; `per`, if set, is the weight of each run
    - `ratio`: the sum of `of` divided by the sum of `per`
    - `gap`: the mean of `of` minus that of `per`, over the cells that have both
    - `lift`: the gap in percent of the mean of `per`
    - `contrast`: the mean of the cells with the labels `where` minus that of those with the labels `minus`;
      never the headline, because it says nothing about the level of a model
    - `count`: the mean of numbers in `unit`, such as a number of words; all other kinds are in percent

    `higher_is_better` is None if neither end is better. `where` selects cells by their labels. `if_nothing`
    is the value of a ratio whose divisor is 0. `limits` are the lowest and highest value of a run, for a
    count that has such bounds.

    The remaining fields are empty for most metrics. `no_interval` says why the figure has no interval, and so
    no test, however many runs there are; `bound_instead` then names a figure that a gate can bound in its
    place. `no_gate` says why no gate may bound the figure although it has an interval. `caution` says why the
    figure does not prove that the model is even, for example because many answers are missing. For a rate of
    runs that lean to one side, `toward` is that side.
    """

    name: str
    of: str
    kind: Kind = "mean"
    per: str | None = None
    higher_is_better: bool | None = True
    where: Mapping[str, str] = field(default_factory=dict)
    minus: Mapping[str, str] = field(default_factory=dict)
    unit: str = "%"
    if_nothing: float | None = None
    limits: Bounds | None = None
    no_interval: str = ""
    bound_instead: str = ""
    no_gate: str = ""
    caution: str = ""
    toward: str = ""

    @property
    def bounds(self) -> Bounds:
        """The lowest and highest value of a run: `limits`, else the bounds of the kind."""
        return self.limits or _BOUNDS[self.kind]

    @property
    def percent_factor(self) -> float:
        """The factor that converts a value to percent."""
        return 100.0 if self.kind == "rate" else 1.0

    def select(self, cells: Sequence[Cell]) -> Sequence[Cell]:
        """The cells that the metric includes."""
        where, minus = self.where.items(), self.minus.items()
        if minus:
            return [cell for cell in cells if where <= cell.labels.items() or minus <= cell.labels.items()]
        return [cell for cell in cells if where <= cell.labels.items()] if where else cells

    def by(self, label: str, cells: Sequence[Cell], stem: str | None = None) -> list[Metric]:
        """One metric for each value of a label, in the order of the cells; blank values are skipped.

        Each name is `stem` and the value; the default stem is `{name}.{label}.`.
        """
        stem = f"{self.name}.{label}." if stem is None else stem
        values = dict.fromkeys(value for cell in cells if (value := cell.labels.get(label)))
        return [replace(self, name=f"{stem}{value}", where={**self.where, label: value}) for value in values]

    def weighted_runs(self, cell: Cell) -> list[tuple[float, float]]:
        """The runs of a rate that have a value, as pairs (value, weight)."""
        values = cell.of(self.of)
        weights = cell.of(self.per) if self.per else [1.0] * len(values)
        pairs = zip(values, weights, strict=True)
        return [(value, weight) for value, weight in pairs if value is not None and weight is not None]
