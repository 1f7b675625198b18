"""Connections: no call gets the response to another one."""

from __future__ import annotations

import asyncio

import pytest
from fakes import FreeSlot

from equipoise.core.settings import Endpoint
from equipoise.core.types import Call, Message, Reply
from equipoise.models.client import Client
from equipoise.models.connections import REST_SECONDS
from equipoise.models.redact import Secrets
from strays import StrayServer

# An endpoint that answers a call twice, or too early.


def answers_of(server: StrayServer, *questions: str, at_once: int) -> list[Reply]:
    """The replies to these questions, so many at a time, over the connections of one client."""

    async def session() -> list[Reply]:
        client = Client(
            lambda role, model: Endpoint(base_url=server.url, api_key="the-key"),
            max_retries=2,
            timeout=30,
            secrets=Secrets([]),
        )
        slots = asyncio.Semaphore(at_once)

        async def ask(question: str) -> Reply:
            messages = (Message(role="user", content=question),)
            async with slots:
                return await client.complete(
                    Call(role="subject", model="m", messages=messages, parameters={}), FreeSlot()
                )

        try:
            return await asyncio.gather(*map(ask, questions))
        finally:
            await client.close()

    return asyncio.run(session())


def test_a_second_answer_to_a_call_is_no_other_calls_answer(subtests: pytest.Subtests) -> None:
    """Every call has the reply to its own question, however many share the connections."""
    questions = [f"Question number {n}?" for n in range(8)]
    for at_once in (1, 4):
        # The second answer comes while the next call waits for its own.
        with subtests.test(at_once=at_once), StrayServer(twice={3}, apart=0.02, delay=0.15) as server:
            replies = answers_of(server, *questions, at_once=at_once)
            assert [reply.text for reply in replies] == [f"An answer to: {text}" for text in questions]


def test_connections_are_used_again_once_they_have_rested() -> None:
    """Of calls that are farther apart than the rest of a connection, the second needs no new one."""
    assert REST_SECONDS > 0.05
    with StrayServer(delay=REST_SECONDS / 2) as server:
        answers_of(server, *map(str, range(12)), at_once=1)
        assert server.connections < 12


@pytest.mark.slow
def test_a_response_that_begins_before_its_request_was_sent_is_refused() -> None:
    """Of a prompt that takes long to send: what comes meanwhile was said to another; it is asked again."""
    long = "Consider this. " * 1_000_000
    with StrayServer(early={1}, apart=0.3) as server:
        (reply,) = answers_of(server, long, at_once=1)
    # Without showing 15 MB where they differ.
    is_own = reply.text == f"An answer to: {long}"
    assert (is_own, reply.retries) == (True, 1)
