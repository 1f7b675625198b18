"""Requests over connections of ours: the same as httpx2 would build them."""

from __future__ import annotations

import asyncio

import pytest
from openai import DefaultAioHttpClient

from equipoise.models.connections import OwnConnections

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
