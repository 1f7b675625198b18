"""The vocabulary of calls: what is asked, and what comes back.

All values are immutable; those that are saved convert to plain JSON, and reading that back gives an equal
value.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NotRequired, TypedDict

JSON = Any
"""A value that `json.dumps` takes: None, bool, int, float, str, list or dict of these."""
Role = Literal["subject", "evaluator"]


class Message(TypedDict):
    """One ChatML message. Replies of a model carry the particulars of their call as well.

    In results with several labelled conversations, `conversation` is the label of its own.
    """

    role: str
    content: str
    reasoning: NotRequired[str]
    finish_reason: NotRequired[str | None]
    usage: NotRequired[dict[str, int]]
    latency: NotRequired[float]
    model: NotRequired[str | None]
    blocked: NotRequired[str]
    conversation: NotRequired[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One place of a reply, and the logarithms of the probabilities of the likeliest tokens there."""

    text: str
    top: Mapping[str, float]

    def to_json(self) -> dict[str, JSON]:
        """Plain data."""
        return {"text": self.text, "top": dict(self.top)}


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
        """The four counts as plain data."""
        return {
            "input": self.input,
            "output": self.output,
            "cached": self.cached,
            "reasoning": self.reasoning,
        }


CONTINUES = "continues"
"""A parameter of ours: the text of the message is to be continued, by the endpoint for plain completions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One completion to ask for. `parameters` is what is sent beside model and messages.

    It goes on with a conversation; where the parameters hold CONTINUES, it goes on with the text of its only
    message instead. `is_stretched` means that it asks for more than the user has set, so an endpoint may well
    decline.
    """

    role: Role
    model: str
    messages: tuple[Message, ...]
    parameters: Mapping[str, JSON]
    is_stretched: bool = False


def json_schema(name: str, properties: Mapping[str, JSON]) -> dict[str, JSON]:
    """The parameter `response_format` that asks for an object of these properties, in its strict form."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": True, "schema": {**schema, "additionalProperties": False}},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The reply to one call.

    `latency` is in seconds, of the attempt that succeeded; `retries` counts the attempts before it, and
    `repeats` those of them whose answer may have been the late copy of another call's.
    `blocked` is the provider's own code where its filter rejected the prompt or cut the reply. `provider` is
    who answered, where the endpoint is a router and says so; `tokens` are the first ones, where probabilities
    were asked for and given; of a text that was echoed, all of them.
    """

    text: str
    reasoning: str | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str | None = None
    fingerprint: str | None = None
    provider: str | None = None
    latency: float = 0.0
    retries: int = 0
    repeats: int = 0
    blocked: str | None = None
    tokens: tuple[Token, ...] | None = None

    @property
    def is_metered(self) -> bool:
        """Whether the endpoint has counted the tokens: every prompt has some, and so has whatever was said.

        Of a prompt that a filter rejected there are none to count.
        """
        has_said = bool(self.text or self.reasoning)
        if self.usage is None:
            return self.blocked is not None and not has_said
        return self.usage.input > 0 and (self.usage.output > 0 or not has_said)

    @property
    def is_truncated(self) -> bool:
        """Whether the reply was cut by a limit on its length."""
        return (self.finish_reason or "").lower() in ("length", "max_tokens")

    def to_message(self) -> Message:
        """The assistant message of a transcript, with the particulars of the call."""
        message: Message = {"role": "assistant", "content": self.text, "finish_reason": self.finish_reason}
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
        """Every field that is set, as plain data."""
        pairs = ((name, getattr(self, name)) for name in _REPLY_FIELDS)
        data = {name: value for name, value in pairs if value is not None}
        if self.usage is not None:
            data["usage"] = self.usage.to_json()
        if self.tokens is not None:
            data["tokens"] = [token.to_json() for token in self.tokens]
        return data


_REPLY_FIELDS = tuple(item.name for item in fields(Reply))


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One call and its reply. `id` is unique in the journal that keeps it."""

    id: str
    call: Call
    reply: Reply
    is_batched: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One conversation with a model: who, with which parameters, and all messages in order."""

    model: str
    parameters: Mapping[str, JSON]
    messages: tuple[Message, ...]


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
        """Fields but the keywords, which serve selection only."""
        # As `fields` would, at a third of the time.
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "keywords"}


Form = Literal["stated", "implied"]
"""How a cue says who asks: a plain sentence, or an aside that a person might drop without meaning it."""
FORMS: tuple[Form, ...] = ("stated", "implied")
Place = Literal["first", "second"]
PLACES: tuple[Place, Place] = ("first", "second")
_ASKER = "asker_"
"""Prefix of the part of a run's id that says who asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """A text that says who asks, which goes before the first message of each conversation with the subject.

    `side` is a slug of the suite's data without a hyphen, the `first` or the `second` of the two sides of its
    case by `place`; `number` counts the texts of a form; twins of one number say as much.
    """

    side: str
    place: Place
    form: Form
    number: int
    text: str

    @property
    def tag(self) -> str:
        """The part of a run's id."""
        return f"{_ASKER}{self.side}_{self.form}"

    def before(self, text: str) -> str:
        """The text with the cue before it, as a paragraph of its own."""
        return f"{self.text}\n\n{text}"

    def to_json(self) -> dict[str, JSON]:
        """Plain data."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def run_id(case: str, number: int, asker: Cue | None = None) -> str:
    """The id of a run, unique in the suite."""
    # One text for all who keep it: a session may have many thousands.
    return sys.intern(f"{case}-{asker.tag}-run{number}" if asker else f"{case}-run{number}")


def is_asked(run: str) -> bool:
    """Whether this is the id of a run with a cue."""
    return run.rpartition("-run")[0].rpartition("-")[2].startswith(_ASKER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The `number`-th repeat (from 1) of a case of the suite; `asker` is None for a plain run."""

    suite: str
    case: Case
    number: int
    asker: Cue | None = None

    @property
    def id(self) -> str:
        """Unique in the suite; also the pytest id."""
        return run_id(self.case.id, self.number, self.asker)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """The `number`-th (from 1) of `of` parts of a suite's questions, each asked by a session of its own."""

    number: int
    of: int

    def __str__(self) -> str:
        """The shard as on the command line: 3/16."""
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that a text such as 3/16 names. Raises ValueError."""
        number, slash, of = text.strip().partition("/")
        if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
            raise ValueError("is not a shard such as 3/16, from 1/16 to 16/16")
        return cls(number=int(number), of=int(of))


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """A call that a run will likely make: its prompt, into which `quoted` replies of the subject will go.

    `length` is about how many tokens an answer of the form that is asked for has, a number, say; None for
    a text of any length.
    """

    role: Role
    prompt: str
    quoted: int = 0
    length: int | None = None


Ask = Callable[[Call], Awaitable[Reply]]
"""Asks a model one thing, by way of journal and limiter. Raises CallFailed or SessionStopped."""


# Conversations, put together from single calls.


def transcripts(exchanges: Iterable[Exchange]) -> tuple[Transcript, ...]:
    """The conversations that these calls of one run make, in the order in which they began."""
    return conversations(map(_transcript, exchanges))


def _transcript(exchange: Exchange) -> Transcript:
    call = exchange.call
    messages = (*call.messages, exchange.reply.to_message())
    return Transcript(model=call.model, parameters=call.parameters, messages=messages)


def conversations(calls: Iterable[Transcript]) -> tuple[Transcript, ...]:
    """The conversations that single calls of one run make, each given with its reply as the last message.

    A call that repeats an earlier call with its reply, and says more, goes on with that conversation. The
    particulars of every reply are kept.
    """
    conversations: list[Transcript] = []
    for call in calls:
        indices = [index for index, item in enumerate(conversations) if _is_continued(item, call)]
        if not indices:
            conversations.append(call)
            continue
        index = max(indices, key=lambda index: len(conversations[index].messages))
        known = conversations[index].messages
        conversations[index] = replace(call, messages=(*known, *call.messages[len(known) :]))
    return tuple(conversations)


def _is_continued(earlier: Transcript, call: Transcript) -> bool:
    # Without the reply of the call.
    same_model = earlier.model == call.model and len(earlier.messages) < len(call.messages) - 1
    return same_model and all(map(_says_the_same, earlier.messages, call.messages))


def _says_the_same(one: Message, other: Message) -> bool:
    return one["role"] == other["role"] and one["content"] == other["content"]


def by_model(exchanges: Iterable[Exchange], evaluators: Sequence[str]) -> list[Exchange]:
    """The subject's calls, then the panel's, evaluator by evaluator; those of one model in their order."""

    def rank(exchange: Exchange) -> int:
        call = exchange.call
        return -1 if call.role == "subject" else evaluators.index(call.model)

    return sorted(exchanges, key=rank)
