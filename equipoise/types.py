"""The vocabulary: what is asked, what comes back, what is judged and what is kept.

All values are immutable and know how to become plain JSON; reading that JSON back gives an equal value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NotRequired, TypedDict

JSON = Any
"""A value that `json.dumps` takes: None, bool, int, float, str, list or dict of these."""
Role = Literal["subject", "evaluator"]
Outcome = Literal["scored", "refused", "blocked", "truncated", "empty", "unscored", "error"]
OUTCOMES: tuple[Outcome, ...] = ("scored", "refused", "blocked", "truncated", "empty", "unscored", "error")


class Message(TypedDict):
    """One ChatML message. Replies of a model carry the particulars of their call as well."""

    role: str
    content: str
    reasoning: NotRequired[str]
    finish_reason: NotRequired[str | None]
    usage: NotRequired[dict[str, int]]
    latency: NotRequired[float]
    model: NotRequired[str | None]
    blocked: NotRequired[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call as the endpoint counted them.

    `input` includes `cached`, `output` includes `reasoning`.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0

    def to_json(self) -> dict[str, int]:
        """All four counts."""
        return {
            "input": self.input,
            "output": self.output,
            "cached": self.cached,
            "reasoning": self.reasoning,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One chat completion to ask for. `parameters` is what is sent beside model and messages."""

    role: Role
    model: str
    messages: tuple[Message, ...]
    parameters: Mapping[str, JSON]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back from one call.

    `latency` is in seconds, of the attempt that succeeded; `retries` counts the attempts before it.
    `blocked` is the provider's own code where its filter rejected the prompt or cut the reply.
    """

    text: str
    reasoning: str | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str | None = None
    fingerprint: str | None = None
    latency: float = 0.0
    retries: int = 0
    blocked: str | None = None

    @property
    def is_truncated(self) -> bool:
        """Whether the reply was cut by a limit on its length."""
        return self.finish_reason == "length"

    def to_message(self) -> Message:
        """The assistant message of a transcript, with the particulars of the call."""
        message = Message(role="assistant", content=self.text, finish_reason=self.finish_reason)
        if self.reasoning is not None:
            message["reasoning"] = self.reasoning
        if self.usage is not None:
            message["usage"] = self.usage.to_json()
        message["latency"] = round(self.latency, 3)
        message["model"] = self.model
        if self.blocked is not None:
            message["blocked"] = self.blocked
        return message

    def to_json(self) -> dict[str, JSON]:
        """Every field that is set; `from_json` is the way back."""
        pairs = ((name, getattr(self, name)) for name in _REPLY_FIELDS)
        found = {name: value for name, value in pairs if value is not None}
        if self.usage is not None:
            found["usage"] = self.usage.to_json()
        return found

    @classmethod
    def from_json(cls, data: Mapping[str, JSON]) -> Reply:
        """The reply that `to_json` wrote."""
        usage = Usage(**data["usage"]) if data.get("usage") else None
        return cls(**{**data, "usage": usage})


_REPLY_FIELDS = tuple(item.name for item in fields(Reply))


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One conversation with a model: who, with which parameters, and all messages in order."""

    model: str
    parameters: Mapping[str, JSON]
    messages: tuple[Message, ...]

    def to_json(self) -> dict[str, JSON]:
        """Plain data; `from_json` is the way back."""
        return {"model": self.model, "parameters": dict(self.parameters), "messages": list(self.messages)}

    @classmethod
    def from_json(cls, data: Mapping[str, JSON]) -> Transcript:
        """The transcript that `to_json` wrote."""
        return cls(model=data["model"], parameters=data["parameters"], messages=tuple(data["messages"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One item in one language. Suites add fields of their own.

    `id` is ASCII and unique in its suite; `keywords` are further words that `-k` finds, in any script.
    """

    id: str
    language: str
    area: str
    keywords: tuple[str, ...] = ()

    def to_json(self) -> dict[str, JSON]:
        """All fields but the keywords, which serve selection only."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name != "keywords"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The `number`-th repeat (from 1) of a case of the suite."""

    suite: str
    case: Case
    number: int

    @property
    def id(self) -> str:
        """Unique in the suite; also the pytest id."""
        return f"{self.case.id}-run{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One evaluator's judgement: the rubric's fields, or None and the error after the last attempt.

    `raw` is the evaluator's last text, kept where it was no valid verdict.
    """

    evaluator: str
    fields: Mapping[str, JSON] | None
    attempts: int
    error: str | None = None
    raw: str | None = None

    def to_json(self) -> dict[str, JSON]:
        """Plain data; `from_json` is the way back."""
        kept = None if self.fields is None else dict(self.fields)
        return {
            "evaluator": self.evaluator,
            "fields": kept,
            "attempts": self.attempts,
            "error": self.error,
            "raw": self.raw,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, JSON]) -> Verdict:
        """The verdict that `to_json` wrote."""
        return cls(**data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What a suite makes of the replies and verdicts of one run.

    `value` is on the suite's own scale and `percent` on 0..100; both None, with an error, where
    there is no valid score. `details` holds whatever else the suite aggregates.
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

    `case` holds the JSON of the case. `score` is None exactly where `error` says why.
    """

    case: Mapping[str, JSON]
    run: int
    outcome: Outcome
    score: float | None
    percent: float | None = None
    error: str | None = None
    verdicts: tuple[Verdict, ...] = ()
    details: Mapping[str, JSON] = field(default_factory=dict)
    subject: tuple[Transcript, ...] = ()
    evaluators: tuple[Transcript, ...] = ()

    @property
    def id(self) -> str:
        """The id of the run, as `Run.id`."""
        return f"{self.case['id']}-run{self.run}"

    def __repr__(self) -> str:
        # Short: pytest shows it where a test fails.
        return f"<Record {self.id} {self.outcome} {self.score}>"

    def to_json(self) -> dict[str, JSON]:
        """Plain data; `from_json` is the way back."""
        return {
            "case": dict(self.case),
            "run": self.run,
            "outcome": self.outcome,
            "score": self.score,
            "percent": self.percent,
            "error": self.error,
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "details": dict(self.details),
            "subject": [transcript.to_json() for transcript in self.subject],
            "evaluators": [transcript.to_json() for transcript in self.evaluators],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, JSON]) -> Record:
        """The record that `to_json` wrote."""
        return cls(
            case=data["case"],
            run=data["run"],
            outcome=data["outcome"],
            score=data["score"],
            percent=data["percent"],
            error=data["error"],
            verdicts=tuple(Verdict.from_json(item) for item in data["verdicts"]),
            details=data["details"],
            subject=tuple(Transcript.from_json(item) for item in data["subject"]),
            evaluators=tuple(Transcript.from_json(item) for item in data["evaluators"]),
        )


def outcomes(records: Iterable[Record]) -> dict[str, int]:
    """How many runs ended how; what did not occur is left out."""
    ended = Counter(record.outcome for record in records)
    return {outcome: ended[outcome] for outcome in OUTCOMES if ended[outcome]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One aggregate: `value` in `unit` over `n` clusters, None where nothing could be measured."""

    name: str
    value: float | None
    n: int
    unit: str
    higher_is_better: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """What a suite makes of all its records; the three become parts of the results JSON."""

    results: Mapping[str, JSON]
    summary: Mapping[str, JSON]
    metrics: tuple[Metric, ...]


Ask = Callable[[Call], Awaitable[Reply]]
"""Asks a model one thing, by way of journal and limiter. Raises CallFailed or SessionStopped."""
