"""Conversations from single calls: what continues what, in which order, and with which particulars."""

from __future__ import annotations

import pytest
from journals import ask, said

from equipoise.core.types import Call, Exchange, Message, Reply, Usage, sort_by_model, transcripts


def exchange(call: Call, text: str, **particulars: object) -> Exchange:
    """A call with its reply; ids play no part here."""
    return Exchange(id="w-1", call=call, reply=Reply(text=text, **particulars))  # type: ignore[arg-type]


def of(*pairs: tuple[Call, str]) -> list[list[str]]:
    """The texts of the conversations that these calls and replies make."""
    return said(transcripts(exchange(call, text) for call, text in pairs))


A, B = (ask("a"), "b"), (ask("a", "b", "c"), "d")
JUDGE = ask("Judge.", role="evaluator", model="e")
TURNS: dict[str, tuple[list[tuple[Call, str]], list[str]]] = {
    "no call": ([], []),
    "three turns": ([A, B, (ask("a", "b", "c", "d", "e"), "f")], ["abcdef"]),
    "the same again": ([A, (ask("a"), "d")], ["ab", "ad"]),
    "another question": ([A, (ask("x", "b", "c"), "d")], ["ab", "xbcd"]),
    "another reply": ([A, (ask("a", "B", "c"), "d")], ["aBcd", "ab"]),
    "another model": ([A, (ask("a", "b", "c", model="n"), "d")], ["ab", "abcd"]),
    "nothing more is said": ([A, (ask("a", "b"), "d")], ["ab", "abd"]),
    "an evaluator that is asked again": ([(JUDGE, "1"), (JUDGE, "2")], ["Judge.1", "Judge.2"]),
    "the answer that is quoted": (
        [(ask("a"), "b1"), (ask("a"), "b2"), (ask("a", "b1", "c"), "d")],
        ["ab1cd", "ab2"],
    ),
    "branches of equal beginnings": (
        [A, A, (ask("a", "b", "c1"), "d1"), (ask("a", "b", "c2"), "d2")],
        ["abc1d1", "abc2d2"],
    ),
    "the most that is repeated": ([A, A, B, (ask("a", "b", "c", "d", "e"), "f")], ["ab", "abcdef"]),
    "begun in between": ([A, B, A, (ask("a", "b", "c", "d", "e"), "f")], ["ab", "abcdef"]),
    "an empty reply": ([(ask("a"), ""), (ask("a", "", "c"), "d")], ["acd"]),
}


def test_a_call_that_says_more_goes_on_with_the_conversation(subtests: pytest.Subtests) -> None:
    """Only the same model, asked the same and told its own reply, is in the same conversation."""
    for what, (turns, expected) in TURNS.items():
        with subtests.test(what):
            assert sorted(map("".join, of(*turns))) == expected
    in_turns = of(A, (ask("x"), "y"), B)
    assert ["".join(texts) for texts in in_turns] == ["abcd", "xy"]
    messages = tuple(Message(role="user", content=text) for text in "abc")
    other_role = Call(role="subject", model="m", messages=messages, parameters={})
    assert len(of(A, (other_role, "d"))) == 2


def test_every_reply_of_a_conversation_keeps_its_particulars() -> None:
    """Where a later call repeats only its text, too; model and parameters are those of the last call."""
    usage = Usage(input=5, output=7, cached=1, reasoning=2)
    first = {"reasoning": "Hm.", "finish_reason": "stop", "model": "m-1", "blocked": "content_filter"}
    turns = [
        exchange(ask("a", seed=1), "b", usage=usage, latency=0.12345, **first),
        exchange(ask("a", "b", "c", seed=2), "d", finish_reason="length", latency=2.0),
    ]
    (transcript,) = transcripts(turns)
    assert (transcript.name, transcript.parameters) == ("m", {"seed": 2})
    reply = {"role": "assistant", "content": "b", **first, "usage": usage.to_json(), "latency": 0.123}
    last = {"role": "assistant", "content": "d", "finish_reason": "length", "model": None, "latency": 2.0}
    assert transcript.messages == (
        {"role": "user", "content": "a"},
        reply,
        {"role": "user", "content": "c"},
        last,
    )


# The order of calls.


def test_calls_are_put_in_the_order_of_the_models() -> None:
    """Whichever evaluator answered first, the subject comes first and the panel as it was given."""
    judging = (ask("1", role="evaluator", model="e2"), ask("3", role="evaluator", model="e1"))
    calls = [judging[0], ask("2"), judging[1], ask("4", role="evaluator", model="e2")]
    ordered = sort_by_model([exchange(call, "") for call in calls], ["e1", "e2"])
    assert [(item.call.model, item.call.messages[0]["content"]) for item in ordered] == [
        ("m", "2"),
        ("e1", "3"),
        ("e2", "1"),
        ("e2", "4"),
    ]


def test_a_subject_that_judges_itself_keeps_the_order_of_its_calls() -> None:
    """One model in both roles asks before it judges."""
    calls = [ask("Why?"), ask("Judge.", role="evaluator"), ask("Judge again.", role="evaluator")]
    ordered = sort_by_model([exchange(call, "") for call in calls], ["m", "m"])
    assert [item.call for item in ordered] == calls
