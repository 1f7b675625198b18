"""The private names of other packages that Equipoise uses; pyproject.toml has a ceiling for each package."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Mapping

import aiohttp
import openai
import pytest
from _pytest import skipping
from _pytest._io import TerminalWriter
from _pytest.terminal import TerminalReporter
from aiohttp.client_proto import ResponseHandler


def connector_names() -> list[str]:
    """The names that aiohttp's connector itself sets or reads."""
    return [
        *aiohttp.TCPConnector._release.__code__.co_names,
        *aiohttp.BaseConnector.__init__.__code__.co_names,
    ]


USED: Mapping[str, Callable[[], bool]] = {
    "openai.AsyncOpenAI._custom_headers": lambda: hasattr(openai.AsyncOpenAI(api_key="k"), "_custom_headers"),
    "openai.DefaultAioHttpClient()._transport_for_url": lambda: callable(
        openai.DefaultAioHttpClient()._transport_for_url
    ),
    "aiohttp.TCPConnector._factory": lambda: "_factory" in connector_names(),
    "aiohttp.TCPConnector._loop": lambda: "_loop" in connector_names(),
    "aiohttp.TCPConnector._release(key, protocol, *, should_close)": lambda: (
        [*inspect.signature(aiohttp.TCPConnector._release).parameters][:4]
        == ["self", "key", "protocol", "should_close"]
    ),
    "aiohttp.client_proto.ResponseHandler": lambda: isinstance(ResponseHandler, type),
    "_pytest.skipping.evaluate_skip_marks": lambda: callable(skipping.evaluate_skip_marks),
    "_pytest.skipping.evaluate_xfail_marks": lambda: callable(skipping.evaluate_xfail_marks),
    "pytest.Parser._anonymous": lambda: hasattr(pytest.Parser(_ispytest=True), "_anonymous"),
    "pytest.Parser._groups": lambda: hasattr(pytest.Parser(_ispytest=True), "_groups"),
    "pytest.TerminalReporter._add_stats": lambda: callable(TerminalReporter._add_stats),
    "TerminalWriter._file": lambda: hasattr(TerminalWriter(io.StringIO()), "_file"),
}


@pytest.mark.parametrize("name", USED)
def test_a_private_name_is_still_there(name: str) -> None:
    """A release that drops one fails here, by its name, before a session does."""
    try:
        is_there = USED[name]()
    except AttributeError as error:
        pytest.fail(f"{name} is gone: {error}")
    assert is_there, f"{name} is gone"
