"""What each session and each page pays, and a process of tests pays once for all of them.

Certificates are read again where the environment names others, versions are those of the first session,
the process that writes a page draws its figures, too, instead of a `Drawing` process, and the same TOML is
parsed once. No file waits for the disk: a process that
is killed loses nothing by that, only a machine does.
"""

from __future__ import annotations

import os
import pickle
import ssl
import tomllib
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import cache
from typing import Any

import httpcore2

from equipoise.report.page import page
from equipoise.runner import metadata

Drawing = page.ProcessPoolExecutor
"""What it is outside of tests."""


@cache
def _certificates(file: str | None, folder: str | None) -> ssl.SSLContext:
    return _read_certificates()


_read_certificates = httpcore2.default_ssl_context
httpcore2.default_ssl_context = lambda **_: _certificates(
    os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
)


class _Here(Executor):
    """Does everything at once, in this process."""

    def __init__(self, **_: object) -> None:
        pass

    def submit(self, done: Callable[..., Any], /, *given: Any, **more: Any) -> Future[Any]:
        """What it returns, or raises, is there when this returns."""
        future: Future[Any] = Future()
        try:
            future.set_result(done(*given, **more))
        except Exception as error:
            future.set_exception(error)
        return future


page.ProcessPoolExecutor = _Here  # type: ignore[assignment,misc]
_parse = tomllib.loads


@cache
def _parsed(text: str) -> bytes:
    return pickle.dumps(_parse(text))


tomllib.loads = lambda text, /, **_: pickle.loads(_parsed(text))  # noqa: S301 - our own
metadata.versions = cache(metadata.versions)
os.fsync = lambda descriptor: None
