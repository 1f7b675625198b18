"""Connections: no call gets the response to another one."""

from __future__ import annotations

from typing import Any

import pytest
from fakes import complete
from journals import ask

from equipoise.core.errors import CallFailed
from equipoise.core.settings import Endpoint
from equipoise.core.types import Reply
from equipoise.models import connections
from equipoise.models.connections import REST_SECONDS
from strays import StrayServer

LONG = "Consider this. " * 1_000_000
"""A prompt that takes long to send."""


# An endpoint that answers a call twice, or too early.


def answers_of(server: StrayServer, *questions: str, at_once: int) -> list[Reply]:
    """The replies to these questions, so many at a time, over the connections of one client."""
    endpoint = Endpoint(base_url=server.url, api_key="the-key")
    options: dict[str, Any] = {"at_once": at_once, "max_retries": 2, "timeout": 30}
    outcomes = complete(lambda role, model: endpoint, *map(ask, questions), **options)
    if failed := [item for item in outcomes if isinstance(item, CallFailed)]:
        raise failed[0]
    return [item for item in outcomes if isinstance(item, Reply)]


def test_the_late_copy_of_an_answer_is_no_other_calls_answer(
    monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """A copy that comes while the next call waits, or the one after it: that call is asked once more."""
    monkeypatch.setattr(connections, "REST_SECONDS", 0.001)
    questions = [f"Question number {n}?" for n in range(8)]
    for behind in (1, 2, 3):
        with subtests.test(behind=behind), StrayServer(late={2: behind}, delay=0.02) as server:
            replies = answers_of(server, *questions, at_once=1)
            assert [reply.text for reply in replies] == [f"An answer to: {text}" for text in questions]
            assert [reply.repeats for reply in replies].count(1) == 1
            assert len(server.requests) == len(questions) + 1


def test_an_answer_that_comes_again_when_it_is_asked_for_again_is_accepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An endpoint without ids says the same again: no call is asked more than twice, and that is counted."""
    monkeypatch.setattr(connections, "REST_SECONDS", 0.001)
    with StrayServer(delay=0.02, has_ids=False, script=lambda body, number: "Yes.") as server:
        replies = answers_of(server, *map(str, range(6)), at_once=1)
    assert {reply.text for reply in replies} == {"Yes."}
    assert max(reply.repeats for reply in replies) == 1
    assert all(reply.retries == reply.repeats for reply in replies)
    assert len(server.requests) == len(replies) + sum(reply.repeats for reply in replies)


@pytest.mark.slow
def test_connections_are_used_again_once_they_have_rested() -> None:
    """Of calls that are farther apart than the rest of a connection, the second needs no new one."""
    assert REST_SECONDS > 0.05
    with StrayServer(delay=REST_SECONDS / 2) as server:
        answers_of(server, *map(str, range(12)), at_once=1)
        assert server.connections < 12


@pytest.mark.slow
def test_a_response_that_begins_before_its_request_was_sent_is_refused() -> None:
    """Of a prompt that takes long to send: what comes meanwhile was said to another; it is asked again."""
    with StrayServer(early={1}) as server:
        (reply,) = answers_of(server, LONG, at_once=1)
    # Without showing 15 MB where they differ.
    is_own = reply.text == f"An answer to: {LONG}"
    assert (is_own, reply.retries) == (True, 1)


@pytest.mark.slow
def test_a_rejection_that_begins_before_its_request_was_sent_counts() -> None:
    """As of a prompt that is too large, of which no endpoint reads everything; its connection is closed."""
    with StrayServer(early={1}, early_status="413 Payload Too Large") as server:
        with pytest.raises(CallFailed, match=r"^subject 'm': HTTP 413: "):
            answers_of(server, LONG, at_once=1)
        assert len(answers_of(server, "Short?", at_once=1)) == 1
        assert server.connections == 2
