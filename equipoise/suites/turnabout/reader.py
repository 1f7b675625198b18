"""Reads the answer of a reply: a number from 0 to 100, an option, or a refusal. Pure.

A number or letter that a reply gives as its answer takes precedence over one that it only mentions. If two
answers contradict each other, the reply is left unread: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from equipoise.suites.turnabout.letter_reply import LetterReply
from equipoise.suites.turnabout.number_reply import NumberReply
from equipoise.suites.turnabout.vocabulary import Lexicon

How = Literal["number", "range", "letter", "option", "declined", "unread"]
"""The form in which an answer was read, or the reason why there is none. An "option" was given in words."""


class Reading(NamedTuple):
    """The answer of a reply: a number from 0 to 100 or the index of an option, None without an answer."""

    value: float | None
    how: How


def read_number(
    text: str,
    words: Sequence[Lexicon],
    question: str,
    *,
    names_sides: bool = False,
    goes_down: bool = False,
) -> Reading:
    """The number from 0 to 100 that a reply to this question gives.

    A number that is also in the question counts only where it is clearly the answer. `names_sides` says
    whether 0 and 100 stand for the two sides: a share beside the name of one is then left unread. So is a
    percentage in a sentence if the scale `goes_down`.
    """
    reply = NumberReply(text, words, question, names_sides=names_sides, goes_down=goes_down)
    for values, ranges in reply.candidates():
        if len(values) > 1 or (values and reply.is_one_of_two_shares(*values)):
            return Reading(None, "unread")
        if values:
            return Reading(values.pop(), "number")
        if len(ranges) == 1:
            low, high = ranges.pop()
            return Reading((low + high) / 2, "range")
    return Reading(None, "declined" if reply.declines else "unread")


def read_letter(text: str, words: Sequence[Lexicon], options: Sequence[str]) -> Reading:
    """The index of the option that a reply gives, by its letter or in its words."""
    reply = LetterReply(text, words, options)
    for indices in reply.candidates():
        if len(indices) > 1:
            return Reading(None, "unread")
        if indices:
            (index,) = indices
            is_contradicted = bool(reply.stated - {index})
            return Reading(None, "unread") if is_contradicted else Reading(index, "letter")
    in_words = reply.stated if len(reply.stated) == 1 else reply.mentioned
    if len(in_words) == 1:
        return Reading(float(*in_words), "option")
    return Reading(None, "declined" if not in_words and reply.declines else "unread")
