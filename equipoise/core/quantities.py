"""Quantities in words: durations, and numbers of things."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SECONDS = {"s": 1, "min": 60, "h": 3600}


def first_sentence(text: str) -> str:
    """The first sentence of a docstring or help text, on one line."""
    paragraph, _, _ = text.strip().partition("\n\n")
    sentence = re.split(r"(?<=[.?!]) ", " ".join(paragraph.split()))[0]
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def duration(seconds: float) -> str:
    """A readable duration: 42 s, 3 min 20 s, 2 h 05 min."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def span(least: float, most: float) -> str:
    """A readable range of durations: 5 to 20 s, 40 s to 3 min, 2 to 5 h."""
    unit = _unit(most)
    if _unit(least) == unit:
        first, last = (f"{seconds / _SECONDS[unit]:.0f}" for seconds in (least, most))
        return f"{last} {unit}" if first == last else f"{first} to {last} {unit}"
    return f"{_rounded(least)} to {_rounded(most)}"


def _unit(seconds: float) -> str:
    """The largest unit such that the duration is at least 1.5 of it."""
    return next((unit for unit in ("h", "min") if seconds >= 1.5 * _SECONDS[unit]), "s")


def _rounded(seconds: float) -> str:
    unit = _unit(seconds)
    return f"{seconds / _SECONDS[unit]:.0f} {unit}"


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 run, 2 runs."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def first_few(things: Sequence[object], most: int) -> str:
    """The first `most` things, separated by commas, and the number of further ones: a, b and 3 more."""
    shown = ", ".join(map(str, things[:most]))
    return f"{shown} and {len(things) - most:,} more" if len(things) > most else shown
