"""Conversations, put together from single calls. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from equipoise.types import Exchange, Message, Transcript


def transcripts(exchanges: Iterable[Exchange]) -> tuple[Transcript, ...]:
    """The conversations that these calls of one run make, in the order in which they began.

    A call that repeats an earlier call with its reply, and says more, goes on with that conversation. The
    particulars of every reply are kept.
    """
    found: list[Transcript] = []
    for exchange in exchanges:
        places = [place for place, item in enumerate(found) if _is_continued(item, exchange)]
        place = max(places, key=lambda place: len(found[place].messages), default=None)
        known = () if place is None else found[place].messages
        transcript = _transcript(exchange, known)
        if place is None:
            found.append(transcript)
        else:
            found[place] = transcript
    return tuple(found)


def _transcript(exchange: Exchange, known: tuple[Message, ...]) -> Transcript:
    """The conversation after a call, of which the first messages are known with their particulars."""
    call = exchange.call
    said = (*known, *call.messages[len(known) :], exchange.reply.to_message())
    return Transcript(model=call.model, parameters=call.parameters, messages=said)


def _is_continued(earlier: Transcript, exchange: Exchange) -> bool:
    call = exchange.call
    same_model = earlier.model == call.model and len(earlier.messages) < len(call.messages)
    return same_model and all(map(_says_the_same, earlier.messages, call.messages))


def _says_the_same(one: Message, other: Message) -> bool:
    return one["role"] == other["role"] and one["content"] == other["content"]


def in_order(exchanges: Iterable[Exchange], evaluators: Sequence[str]) -> list[Exchange]:
    """The subject's calls, then the panel's, evaluator by evaluator; those of one model in their order."""

    def rank(exchange: Exchange) -> int:
        call = exchange.call
        return -1 if call.role == "subject" else evaluators.index(call.model)

    return sorted(exchanges, key=rank)
