"""Reads untrusted TOML in linear time, and raises one short error for every failure."""

from __future__ import annotations

import re
import tomllib
from typing import Any

MOST_CHARACTERS = 1_000_000
"""Seven times the largest file that comes with Equipoise."""
_MOST_PARTS = 100
_DEEP_KEY = re.compile(rf"(?<![\w\"'.-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){{{_MOST_PARTS}}}")
"""A dotted key with more parts than any file needs; tomllib would take quadratic time for it."""
_MOST_OF_REASON = 200


def loads(text: str) -> dict[str, Any]:
    """The tables of a TOML document. Raises TOMLDecodeError, whose message is short."""
    if len(text) > MOST_CHARACTERS:
        raise tomllib.TOMLDecodeError(f"it has {len(text):,} characters; at most {MOST_CHARACTERS:,}")
    if _DEEP_KEY.search(text):
        raise tomllib.TOMLDecodeError("it is nested too deeply")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    except ValueError as error:
        # tomllib raises a plain ValueError for a number with thousands of digits.
        reason = str(error)
        cut = reason if len(reason) <= _MOST_OF_REASON else f"{reason[:_MOST_OF_REASON]}..."
        raise tomllib.TOMLDecodeError(cut) from None
