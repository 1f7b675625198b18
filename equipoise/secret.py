"""Keeps keys out of everything that is kept or shown, whoever repeats them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path

from equipoise.settings import NO_KEY
from equipoise.types import JSON, Reply

MASK = "****"
_SHORTEST = 6
"""What is shorter is no key, but a word such as 'none' or 'test' that occurs in ordinary text."""


class Secrets:
    """The keys of a session."""

    def __init__(self, keys: Iterable[str]) -> None:
        # The longest first: one key may begin with another.
        real = {key for key in keys if key != NO_KEY and len(key) >= _SHORTEST}
        self._keys = sorted(real, key=len, reverse=True)

    def mask(self, data: JSON) -> JSON:
        """The data with every key in its texts replaced."""
        if isinstance(data, str):
            return self._mask_text(data)
        if isinstance(data, list):
            return [self.mask(item) for item in data]
        if isinstance(data, dict):
            return {self.mask(name): self.mask(value) for name, value in data.items()}
        return data

    def mask_file(self, path: Path) -> None:
        """Replace every key in a file, where there is one."""
        with suppress(OSError):
            content = path.read_text(encoding="utf-8", errors="surrogateescape")
            path.write_text(self._mask_text(content), encoding="utf-8", errors="surrogateescape")

    def _mask_text(self, text: str) -> str:
        for key in self._keys:
            text = text.replace(key, MASK)
        return self._mask_escaped(text) if "\\" in text and self._keys else text

    def _mask_escaped(self, text: str) -> str:
        """The text, in which JSON may spell a key with escapes."""
        start, end = text.find("{"), text.rfind("}") + 1
        try:
            data = json.loads(text[start:end])
        except (ValueError, RecursionError):
            return text
        plain = json.dumps(data, ensure_ascii=False)
        if not any(key in plain for key in self._keys):
            return text
        return text[:start] + json.dumps(self.mask(data), ensure_ascii=False) + text[end:]

    def masked(self, reply: Reply) -> Reply:
        """The reply with every key in its texts replaced."""
        if not self._keys:
            return reply
        changed = {}
        for item in fields(reply):
            value = getattr(reply, item.name)
            if isinstance(value, str) and (clean := self.mask(value)) is not value:
                changed[item.name] = clean
        # Pieces of a key would be keys' pieces: where one was said, the tokens are not kept.
        leaks = bool(changed) or any(key in "".join(t.text for t in reply.tokens or ()) for key in self._keys)
        if leaks and reply.tokens:
            changed["tokens"] = None
        return replace(reply, **changed) if changed else reply
