"""Starts the loopback endpoint of server.py for the other scripts, and reads its statistics."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An endpoint that serves on this port."""

    port: int

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self.port}/v1"

    def stats(self) -> dict[str, Any]:
        """The content of /stats: times and numbers of calls; see server.py."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stats") as answer:
            stats: dict[str, Any] = json.load(answer)
        return stats


@contextmanager
def serving(*arguments: str) -> Iterator[Endpoint]:
    """The endpoint of server.py with these arguments, in a process of its own."""
    command = [sys.executable, str(HERE / "server.py"), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield Endpoint(port=int(server.stdout.readline()))
        finally:
            server.stdin.close()


def environment() -> dict[str, str]:
    """The environment for a session, in which Python caches compiled modules, as it does for users."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
