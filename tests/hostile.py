"""The replies of a hostile subject, from tests/data/hostile_replies.toml."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CORPUS = Path(__file__).resolve().parent / "data" / "hostile_replies.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostileReply:
    """One reply and what it attacks."""

    id: str
    kind: str
    text: str


def replies() -> list[HostileReply]:
    """The whole corpus in the order of the file, decoded and repeated where it says so."""
    entries = tomllib.loads(_CORPUS.read_text(encoding="utf-8"))["reply"]
    return [HostileReply(id=entry["id"], kind=entry["kind"], text=_text(entry)) for entry in entries]


def _text(entry: dict[str, Any]) -> str:
    # TOML holds no lone surrogate; as JSON escapes they can be written down.
    text: str = json.loads(f'"{entry["text"]}"') if entry.get("escaped") else entry["text"]
    return text * int(entry.get("repeat", 1))
