"""The types of calls: cases, runs, calls, replies and conversations.

All are immutable. Those that are saved can be read back from what `to_json` returns.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta, Struct, structs, to_builtins

JSON = Any
"""A value that `json.dumps` accepts: None, bool, int, float, str, or a list or dict of these."""
Role = Literal["subject", "evaluator"]
ThoughtTags = Literal["unopened", "whole"]
"""What is unusual about tags around thoughts: none is an opening one, or they do not show what is thought."""


class Message(TypedDict):
    """One ChatML message. Replies of a model have the metadata of their call as well.

    `conversation` is the label of the message's conversation, in runs with several labelled ones.
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
    """One token of a reply, with the log probabilities of the likeliest tokens at its position."""

    text: str
    top: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The numbers of tokens of one call, as counted by the endpoint.

    `input` includes `cached`, `output` includes `reasoning`.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0

    def to_json(self) -> dict[str, int]:
        """The four counts as plain data."""
        counts: dict[str, int] = to_builtins(self)
        return counts


PARAMETERS = ("temperature", "top_p", "top_k", "max_tokens", "reasoning_effort")
"""The generation parameters that have an option each, as endpoints name them."""
CONTINUES = "continues"
"""A parameter that is not sent. It selects plain completions, which continue the text of the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request for a completion. `parameters` are sent besides model and messages, except CONTINUES.

    The model replies to a conversation or, if CONTINUES is among the parameters, continues the text of the
    only message. With `is_stretched`, the call exceeds a limit that the user has set, so an endpoint may well
    reject it. `room` is the token limit for a model that thinks before it answers; if it is None, the limit
    of the parameters applies. `room` is not part of the identity of the call.
    """

    role: Role
    model: str
    messages: tuple[Message, ...]
    parameters: Mapping[str, JSON]
    is_stretched: bool = False
    room: int | None = None


def json_schema(name: str, properties: Mapping[str, JSON]) -> dict[str, JSON]:
    """The value of `response_format` for a strict JSON schema: an object with exactly these properties."""
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": True, "schema": strict_object(properties)},
    }


def strict_object(properties: Mapping[str, JSON]) -> dict[str, JSON]:
    """The JSON Schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def is_length_limit(finish_reason: str | None) -> bool:
    """Whether this finish reason says that a limit on the length cut the reply."""
    return (finish_reason or "").lower() in ("length", "max_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The reply to one call.

    `latency` is the duration of the attempt that succeeded, in seconds. `retries` counts the attempts before
    it. `repeats` counts the attempts discarded because their response may have been a late copy of another
    call's. `blocked` is the provider's code if its filter rejected the prompt or cut the reply. `provider` is
    the provider that answered, if the endpoint is a router and names it. `tokens` are the first tokens of the
    reply if log probabilities were requested and returned; with the parameter `echo`, all tokens of prompt
    and reply. `thought_tags` is `unopened` if no tag opens the thoughts, and `whole` if `text` is the whole
    output because its tags do not show what is thought.
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
    thought_tags: ThoughtTags | None = None

    @property
    def is_metered(self) -> bool:
        """Whether the endpoint has counted the tokens of the prompt, and those of the output if there is any.

        A prompt that a filter rejected counts as metered.
        """
        has_output = bool(self.text or self.reasoning)
        if self.usage is None:
            return self.blocked is not None and not has_output
        return self.usage.input > 0 and (self.usage.output > 0 or not has_output)

    @property
    def has_thoughts(self) -> bool:
        """Whether the model thought before it answered, as far as the endpoint tells."""
        return bool(self.reasoning) or (self.usage is not None and self.usage.reasoning > 0)

    @property
    def is_truncated(self) -> bool:
        """Whether the reply was cut by a limit on its length."""
        return is_length_limit(self.finish_reason)

    def to_message(self) -> Message:
        """The assistant message of a transcript, with the metadata of the call."""
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
        return {name: value for name, value in to_builtins(self).items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One call and its reply. `id` is unique in the journal."""

    id: str
    call: Call
    reply: Reply
    is_batched: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One conversation of a run. `name` is that of the model, the label of a prompt of a pair, or empty."""

    name: str
    messages: Sequence[Message]
    parameters: Mapping[str, JSON] = field(default_factory=dict)

    @property
    def replies(self) -> list[Message]:
        """The model's messages."""
        return [message for message in self.messages if message["role"] == "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One item in one language. Suites add fields of their own.

    `id` is ASCII and unique in its suite; `keywords` are further words that `-k` finds, in any script.
    """

    id: str
    language: str
    area: str
    keywords: tuple[str, ...] = ()

    @property
    def unit(self) -> str | None:
        """The name of a group of cases that are compared, which `--limit` counts as one and never splits.

        If empty, the group is the case and the cases with the same question id in other languages. None for a
        control, which is asked exactly if a case of its cluster and language is asked.
        """
        return ""

    def to_json(self) -> dict[str, JSON]:
        """All fields except the keywords, which are only for selection."""
        # `dataclasses.fields` would take three times as long.
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "keywords"}


Form = Literal["stated", "implied"]
"""How a cue says who asks: in a plain sentence, or implied in a passing remark."""
FORMS: tuple[Form, ...] = ("stated", "implied")
Place = Literal["first", "second"]
"""Which of the two sides of a case a cue speaks for."""
PLACES: tuple[Place, Place] = ("first", "second")
_ASKER_PREFIX = "asker_"
"""Beginning of the part of a run's id that says who asks."""


class Cue(Struct, frozen=True, kw_only=True):
    """The cue of a run: a text about who asks, put before the first message of each conversation.

    Two texts with the same number, one for each side, differ only in the side.
    """

    side: Annotated[str, Meta(description="Name of the side in the suite's data, a slug without hyphens")]
    place: Annotated[Place, Meta(description="Which of the two sides of the case")]
    form: Annotated[Form, Meta(description="Whether the cue is a plain statement or an aside")]
    number: Annotated[int, Meta(ge=1, description="Which of the texts of that form")]
    text: str

    @property
    def tag(self) -> str:
        """The part of a run's id that identifies the cue."""
        return f"{_ASKER_PREFIX}{self.side}_{self.form}"

    def prepend_to(self, text: str) -> str:
        """The text with the cue before it, as a paragraph of its own."""
        return f"{self.text}\n\n{text}"

    def to_json(self) -> dict[str, JSON]:
        """The cue as plain data."""
        return structs.asdict(self)


def run_id(case: str, number: int, asker: Cue | None = None) -> str:
    """The id of a run, unique in the suite."""
    # Interned, to save memory: a session may have many thousands.
    return sys.intern(f"{case}-{asker.tag}-run{number}" if asker else f"{case}-run{number}")


def has_asker(run: str) -> bool:
    """Whether this is the id of a run with an asker cue."""
    return run.rpartition("-run")[0].rpartition("-")[2].startswith(_ASKER_PREFIX)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The `number`-th run (from 1) of a case. `asker` is None in a plain run."""

    suite: str
    case: Case
    number: int
    asker: Cue | None = None

    @property
    def id(self) -> str:
        """The id of the run, unique in the suite; also its pytest id."""
        return run_id(self.case.id, self.number, self.asker)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """Shard `number` (from 1) of `of` shards of a suite's questions. Each shard is a session of its own."""

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
    """A call that a run will probably make, for estimates. With `is_possible`, the run may not make it.

    `prompt` is the text to be sent, without the replies of the subject that it will quote; `quoted` is the
    number of these replies. `length` estimates the tokens of an answer of a prescribed form, such as a
    number, and of answers quoted to the subject; None for free text. In a run of several messages to the
    subject, `turn` is the name by which `--replies` finds the reply, and `message` is the text of this turn
    if `prompt` also has earlier ones.
    """

    role: Role
    prompt: str
    quoted: int = 0
    length: int | None = None
    is_possible: bool = False
    turn: str = ""
    message: str = ""


Ask = Callable[[Call], Awaitable[Reply]]
"""Makes a call, with journal and rate limit, and returns the reply. Raises CallFailed or SessionStopped."""


# Conversations, assembled from single calls.


def transcripts(exchanges: Iterable[Exchange]) -> tuple[Conversation, ...]:
    """The conversations of these calls of one run, in the order in which they began.

    A call whose messages begin with those of an earlier call and its reply continues that conversation. The
    metadata of every reply are kept.
    """
    merged: list[Conversation] = []
    for call in map(_transcript, exchanges):
        indices = [index for index, earlier in enumerate(merged) if _continues(call, earlier)]
        if not indices:
            merged.append(call)
            continue
        longest = max(indices, key=lambda index: len(merged[index].messages))
        # These messages have the metadata of their calls, which those of this call lack.
        messages = merged[longest].messages
        merged[longest] = replace(call, messages=(*messages, *call.messages[len(messages) :]))
    return tuple(merged)


def _transcript(exchange: Exchange) -> Conversation:
    """The call with its reply as the last message."""
    call = exchange.call
    messages = (*call.messages, exchange.reply.to_message())
    return Conversation(name=call.model, parameters=call.parameters, messages=messages)


def _continues(call: Conversation, earlier: Conversation) -> bool:
    # The last message of a call is its reply.
    same_model = earlier.name == call.name and len(earlier.messages) < len(call.messages) - 1
    return same_model and all(map(_is_same_message, earlier.messages, call.messages))


def _is_same_message(one: Message, other: Message) -> bool:
    return one["role"] == other["role"] and one["content"] == other["content"]


def sort_by_model(exchanges: Iterable[Exchange], evaluators: Sequence[str]) -> list[Exchange]:
    """The calls sorted by model: the subject's, then each evaluator's. The order within a model is kept."""

    def rank(exchange: Exchange) -> int:
        call = exchange.call
        return -1 if call.role == "subject" else evaluators.index(call.model)

    return sorted(exchanges, key=rank)
