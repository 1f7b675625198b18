"""Requests over connections of ours: the same as httpx2 would build them."""

from __future__ import annotations

import asyncio

import httpx2
import pytest
from openai import DefaultAioHttpClient

from equipoise.models.connections import OwnConnections

URL = "https://user:pass@host.example:8443/v1/chat/completions?api-version=1"


class _Client(OwnConnections, DefaultAioHttpClient):
    """As the client of a session makes them."""


def test_a_request_is_what_the_base_class_builds(subtests: pytest.Subtests) -> None:
    """URL, headers, cookies, time limits and body do not depend on the way they are prepared."""
    given: dict[str, dict[str, object]] = {
        "plain": {},
        "headers of the client's own given anew": {"headers": [("user-agent", "sdk"), ("accept", "a/b")]},
        "a host": {"headers": [("Host", "other.example")]},
        "a header that is given twice": {"headers": [("x-a", "1"), ("x-a", "2")]},
        "text that is not ASCII": {"content": "议会".encode()},
        "empty": {"content": b""},
        "parameters": {"params": {"a": "b"}},
        "a limit for each phase": {"timeout": httpx2.Timeout(1.0, read=2.0)},
        "no headers": {"headers": None},
        "JSON": {"content": None, "json": {"a": 1}},
    }
    clients = _Client(timeout=7.0), DefaultAioHttpClient(timeout=7.0)
    for client in clients:
        client.cookies.set("session", "1", domain="host.example")
    for name, changed in given.items():
        options = {"headers": [("content-type", "application/json")], "content": b"{}", "timeout": 5.0}
        ours, base = (item.build_request("POST", URL, **{**options, **changed}) for item in clients)
        with subtests.test(name):
            assert (ours.method, ours.url, ours.content) == (base.method, base.url, base.content)
            assert ours.headers.raw == base.headers.raw
            assert ours.extensions == base.extensions
    for client in clients:
        asyncio.run(client.aclose())
