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


def test_no_call_makes_no_conversation() -> None:
    """A run that asked nothing has nothing to show."""
    assert transcripts([]) == ()


def test_a_single_call_is_a_conversation_of_its_messages_and_the_reply() -> None:
    """Model and parameters are the call's, the reply comes last, with its particulars."""
    call = ask("Why?", model="m", temperature=1.0)
    usage = Usage(input=5, output=7, cached=1, reasoning=2)
    (found,) = transcripts(
        [
            exchange(
                call,
                "Because.",
                reasoning="Hm.",
                finish_reason="stop",
                usage=usage,
                model="m-1",
                latency=0.12345,
                blocked="content_filter",
            )
        ]
    )
    assert (found.name, found.parameters) == ("m", {"temperature": 1.0})
    assert found.messages == (
        {"role": "user", "content": "Why?"},
        {
            "role": "assistant",
            "content": "Because.",
            "finish_reason": "stop",
            "reasoning": "Hm.",
            "usage": usage.to_json(),
            "latency": 0.123,
            "model": "m-1",
            "blocked": "content_filter",
        },
    )


def test_a_call_that_says_more_goes_on_with_the_conversation() -> None:
    """Three turns, each of which repeats all before it, are one conversation."""
    assert of((ask("a"), "b"), (ask("a", "b", "c"), "d"), (ask("a", "b", "c", "d", "e"), "f")) == [
        ["a", "b", "c", "d", "e", "f"]
    ]


def test_every_reply_of_a_conversation_keeps_its_particulars() -> None:
    """What is known of an earlier reply is not lost where a later call repeats only its text."""
    turns = [
        exchange(ask("a"), "b", reasoning="first", latency=1.0, usage=Usage(output=1)),
        exchange(ask("a", "b", "c"), "d", reasoning="second", latency=2.0, usage=Usage(output=2)),
        exchange(ask("a", "b", "c", "d", "e"), "f", finish_reason="length", latency=3.0),
    ]
    (found,) = transcripts(turns)
    replies = [message for message in found.messages if message["role"] == "assistant"]
    assert [message.get("reasoning") for message in replies] == ["first", "second", None]
    assert [message["latency"] for message in replies] == [1.0, 2.0, 3.0]
    assert [message.get("usage", {}).get("output") for message in replies] == [1, 2, None]
    assert replies[-1]["finish_reason"] == "length"


def test_a_conversation_has_the_parameters_of_its_last_call() -> None:
    """Where a later turn is asked with others, those are shown."""
    turns = [exchange(ask("a", seed=1), "b"), exchange(ask("a", "b", "c", seed=2), "d")]
    (found,) = transcripts(turns)
    assert found.parameters == {"seed": 2}


def test_any_other_call_begins_a_conversation(subtests: pytest.Subtests) -> None:
    """Only the same model, asked the same and told its own reply, is in the same conversation."""
    for what, later in (
        ("the same again", ask("a")),
        ("another question", ask("other", "b", "c")),
        ("another reply", ask("a", "B", "c")),
        ("another model", ask("a", "b", "c", model="n")),
        ("nothing more is said", ask("a", "b")),
    ):
        with subtests.test(what):
            assert len(of((ask("a"), "b"), (later, "d"))) == 2


def test_another_role_for_the_same_text_begins_a_conversation() -> None:
    """A text that was put to a model as the user's is not the same as one that it said itself."""
    first = exchange(ask("a"), "b")
    messages = tuple(Message(role="user", content=text) for text in ("a", "b", "c"))
    later = Call(role="subject", model="m", messages=messages, parameters={})
    assert len(transcripts([first, exchange(later, "d")])) == 2


def test_a_repeated_attempt_is_a_conversation_of_its_own() -> None:
    """An evaluator that is asked the same three times has three conversations, in order."""
    judged = ask("Judge.", role="evaluator", model="e")
    texts = ["No verdict.", "Still none.", "{}"]
    assert of(*((judged, text) for text in texts)) == [["Judge.", text] for text in texts]


def test_a_conversation_goes_on_from_the_reply_that_is_repeated() -> None:
    """Where a question was asked twice, the next turn belongs to the answer that it quotes."""
    found = of((ask("a"), "b1"), (ask("a"), "b2"), (ask("a", "b1", "c"), "d"))
    assert sorted(found) == [["a", "b1", "c", "d"], ["a", "b2"]]


def test_two_conversations_may_branch_from_equal_beginnings() -> None:
    """Where the same question got the same answer twice, each of two next turns has one of them."""
    found = of((ask("a"), "b"), (ask("a"), "b"), (ask("a", "b", "c1"), "d1"), (ask("a", "b", "c2"), "d2"))
    assert sorted(found) == [["a", "b", "c1", "d1"], ["a", "b", "c2", "d2"]]


def test_a_call_goes_on_with_the_conversation_that_it_repeats_most_of() -> None:
    """A second conversation with the same beginning, begun before or after, does not get the later turns."""
    begins = (ask("a"), "b")
    goes_on = (ask("a", "b", "c"), "d"), (ask("a", "b", "c", "d", "e"), "f")
    expected = [["a", "b"], ["a", "b", "c", "d", "e", "f"]]
    assert sorted(of(begins, begins, *goes_on)) == expected
    assert sorted(of(begins, goes_on[0], begins, goes_on[1])) == expected


def test_conversations_stand_in_the_order_in_which_they_began() -> None:
    """Of two that take turns, the one that was begun first comes first."""
    assert of((ask("a"), "b"), (ask("x"), "y"), (ask("a", "b", "c"), "d")) == [
        ["a", "b", "c", "d"],
        ["x", "y"],
    ]


def test_an_empty_reply_can_be_gone_on_from() -> None:
    """A reply without a word is a message as any other."""
    assert of((ask("a"), ""), (ask("a", "", "c"), "d")) == [["a", "", "c", "d"]]


# The order of calls.


def test_calls_are_put_in_the_order_of_the_models() -> None:
    """Whichever evaluator answered first, the subject comes first and the panel as it was given."""
    judging = (ask("1", role="evaluator", model="e2"), ask("3", role="evaluator", model="e1"))
    calls = [judging[0], ask("2"), judging[1], ask("4", role="evaluator", model="e2")]
    found = sort_by_model([exchange(call, "") for call in calls], ["e1", "e2"])
    assert [(item.call.model, item.call.messages[0]["content"]) for item in found] == [
        ("m", "2"),
        ("e1", "3"),
        ("e2", "1"),
        ("e2", "4"),
    ]


def test_a_subject_that_judges_itself_keeps_the_order_of_its_calls() -> None:
    """One model in both roles asks before it judges."""
    calls = [ask("Why?"), ask("Judge.", role="evaluator"), ask("Judge again.", role="evaluator")]
    found = sort_by_model([exchange(call, "") for call in calls], ["m", "m"])
    assert [item.call for item in found] == calls
