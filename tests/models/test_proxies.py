"""Proxies that the environment names."""

from __future__ import annotations

import os

import pytest

from equipoise.core.errors import UserError
from equipoise.core.resolution import resolve
from equipoise.models.proxies import refuse_proxies

ENDPOINT = "http://api.example/v1"


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


def refusal(monkeypatch: pytest.MonkeyPatch, **proxies: str) -> str | None:
    """Why a session with these variables is refused, None if it is not."""
    with monkeypatch.context() as patch:
        for name, value in proxies.items():
            patch.setenv(name, value)
        try:
            refuse_proxies(resolve({"api_base_url": ENDPOINT}, {}, {}))
        except UserError as error:
            return str(error)
    return None


def test_only_http_proxies_are_supported(monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests) -> None:
    """Others are named with their variable, and what can be done; a password is not shown."""
    for proxies, shown in (
        ({"ALL_PROXY": "socks5://127.0.0.1:9"}, "ALL_PROXY: 'socks5://127.0.0.1:9' is not"),
        ({"http_proxy": "socks5h://127.0.0.1:9"}, "HTTP_PROXY: 'socks5h://127.0.0.1:9' is not"),
        ({"all_proxy": "socks5://me:secret@127.0.0.1"}, "ALL_PROXY: the value is not"),
        ({"ALL_PROXY": "socks4://127.0.0.1:9"}, "ALL_PROXY: 'socks4://127.0.0.1:9' is not"),
        ({"HTTPS_PROXY": "socks4a://127.0.0.1:9"}, "HTTPS_PROXY: 'socks4a://127.0.0.1:9' is not"),
        ({"ALL_PROXY": "http://[::1"}, "ALL_PROXY: 'http://[::1' is not"),
        ({"HTTP_PROXY": "127.0.0.1:99999"}, "HTTP_PROXY: 'http://127.0.0.1:99999' is not"),
    ):
        with subtests.test(proxies=proxies):
            message = refusal(monkeypatch, **proxies)
            assert message is not None
            assert message.startswith(f"{shown} the URL of an HTTP proxy")
            assert message.endswith("unset it, or name the endpoint's host in NO_PROXY")
            assert "secret" not in message


def test_proxies_that_are_not_needed_are_no_obstacle(
    monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """A proxy over HTTP, one for other URLs, or for other hosts."""
    socks = "socks5://127.0.0.1:9"
    for proxies in (
        {},
        {"ALL_PROXY": "http://127.0.0.1:9"},
        {"HTTP_PROXY": "127.0.0.1:9"},
        {"HTTPS_PROXY": socks},
        {"ALL_PROXY": socks, "HTTP_PROXY": "https://127.0.0.1"},
        {"ALL_PROXY": socks, "NO_PROXY": "localhost,api.example"},
        {"ALL_PROXY": "socks4://127.0.0.1:9", "NO_PROXY": "*"},
    ):
        with subtests.test(proxies=proxies):
            assert refusal(monkeypatch, **proxies) is None
