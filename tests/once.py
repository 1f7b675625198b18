"""What each session and each page pays, and a process of tests pays once for all of them.

Certificates are read again where the environment names others, versions are those of the first session,
and the same TOML is parsed once. No file waits for the disk: a process that
is killed loses nothing by that, only a machine does.
"""

from __future__ import annotations

import os
import pickle
import ssl
import tomllib
from functools import cache

import httpcore2

from equipoise.runner import metadata


@cache
def _certificates(file: str | None, folder: str | None) -> ssl.SSLContext:
    return _read_certificates()


_read_certificates = httpcore2.default_ssl_context
httpcore2.default_ssl_context = lambda **_: _certificates(
    os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
)


_parse = tomllib.loads


@cache
def _parsed(text: str) -> bytes:
    return pickle.dumps(_parse(text))


tomllib.loads = lambda text, /, **_: pickle.loads(_parsed(text))  # noqa: S301 - our own
metadata.versions = cache(metadata.versions)
os.fsync = lambda fd: None
