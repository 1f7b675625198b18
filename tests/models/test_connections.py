"""Connections of ours: the requests are as httpx2 would build them, and no call gets another's response."""

from __future__ import annotations

import asyncio

import pytest
from fakes import FreeSlot
from openai import DefaultAioHttpClient

from equipoise.core.settings import Endpoint
from equipoise.core.types import Call, Message, Reply
from equipoise.models.client import Client
from equipoise.models.connections import REST_SECONDS, OwnConnections
from equipoise.models.redact import Secrets
from strays import StrayServer

URL = "https://user:pass@host.example:8443/v1/chat/completions?api-version=1"


class _Client(OwnConnections, DefaultAioHttpClient):
    """As the client of a session makes them."""


def test_a_request_is_what_the_base_class_builds(subtests: pytest.Subtests) -> None:
    """URL, headers, cookies, time limits and body do not depend on the way they are prepared."""
    given: dict[str, tuple[dict[str, str], bytes]] = {
        "plain": ({}, b"{}"),
        "headers of the client's own given anew": ({"user-agent": "sdk", "accept": "a/b"}, b"{}"),
        "a host": ({"Host": "other.example"}, b"{}"),
        "text that is not ASCII": ({"content-type": "application/json"}, "议会".encode()),
        "empty": ({}, b""),
    }
    clients = ours, base = _Client(timeout=7.0), DefaultAioHttpClient(timeout=7.0)
    addresses = {name: ours.address(URL, headers, 5.0) for name, (headers, _) in given.items()}
    for client in clients:
        client.cookies.set("session", "1", domain="host.example")
    for name, (headers, content) in given.items():
        made = ours.request_to(addresses[name], content)
        expected = base.build_request("POST", URL, headers=headers, content=content, timeout=5.0)
        with subtests.test(name):
            assert (made.method, made.url, made.content) == (expected.method, expected.url, expected.content)
            assert sorted(made.headers.multi_items()) == sorted(expected.headers.multi_items())
            assert made.extensions == expected.extensions
    for client in clients:
        asyncio.run(client.aclose())


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
