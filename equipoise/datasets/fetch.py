"""Fetches the published data of a benchmark: from a pinned commit, whole, and checked before it is kept."""

from __future__ import annotations

import hashlib
import http.client
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from equipoise.core.errors import UserError
from equipoise.core.files import replacing, shown, write_text
from equipoise.suites.resources import LICENCE, ORIGINAL, PINS, Original, file_hash, originals

SITE = "https://github.com"
SECONDS = 60.0
"""How long a site may be silent."""
MOST_BYTES = 200_000_000
ALL = "all"
"""In place of a suite: every one."""
_BLOCK = 1 << 16


def fetch(suite: str, topics: Sequence[Path], folder: Path | None = None, site: str = SITE) -> Iterator[str]:
    """Bring a benchmark's data below the folder, or where its suite looks; a line about each file.

    That is in the first of these folders of topics, all of which are searched for pins. What is there and
    right is left alone, so that a fetch that was cut short goes on. Raises UserError where a file cannot be
    had, or is not what it should be; nothing of such a file is kept.
    """
    pinned = originals(topics)
    if suite not in pinned:
        raise UserError(f"{suite}: there are no data to fetch; there are for {', '.join(pinned)}")
    original = pinned[suite]
    target = folder / suite if folder else topics[0] / suite / ORIGINAL
    write_text(target / LICENCE, _page(original))
    for number, name in enumerate(original.files, start=1):
        how = _have(original, name, target / name, site)
        yield f"{shown(target / name)}: {how} ({number} of {len(original.files)})"
    yield original.about


def names(suite: str, topics: Sequence[Path]) -> list[str]:
    """The suite, or every one that has data to fetch. Raises UserError where none has."""
    found = list(originals(topics)) if suite == ALL else [suite]
    if not found:
        raise UserError(f"{ALL}: no suite says where its data are; {PINS} in its folder would")
    return found


def _page(original: Original) -> str:
    """Whose the data are and what one may do with them, for readers who find them elsewhere."""
    at = f"{SITE}/{original.repository}/%s/{original.commit}"
    stated = f"{at % 'blob'}/{original.stated}" if original.stated else at % "tree"
    return (
        f"# Licence\n\n{original.about}\n\n"
        f"- Whose: the authors of {original.repository}; not part of Equipoise\n"
        f"- Licence: {original.licence}\n"
        f"- Stated at: {stated}\n"
        f"- What one may do: {original.terms or 'what this licence says'}\n"
        f"- The data as they were published: {at % 'tree'}\n"
    )


def _have(original: Original, name: str, target: Path, site: str) -> str:
    digest = original.files[name]
    if file_hash(target) == digest:
        return "is here already"
    path = original.paths.get(name, name)
    _bring(f"{site}/{original.repository}/raw/{original.commit}/{path}", target, digest)
    return "fetched"


def _bring(url: str, target: Path, digest: str) -> None:
    try:
        with replacing(target) as file:
            found = _download(url, file)
            if found != digest:
                raise UserError(f"{url}: is not what it was: SHA-256 {found}, not {digest}; nothing is kept")
    except OSError as error:
        raise UserError(f"{shown(target)}: cannot be written to ({error.strerror})") from None


def _download(url: str, file: BinaryIO) -> str:
    """The SHA-256 of what was written to the file; by way of a proxy where the environment names one."""
    digest, size = hashlib.sha256(), 0
    try:
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:  # noqa: S310 - of our own table
            while block := answer.read(_BLOCK):
                size += len(block)
                if size > MOST_BYTES:
                    raise UserError(f"{url}: is larger than anything that is expected; nothing is kept")
                digest.update(block)
                file.write(block)
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise UserError(f"{url}: cannot be fetched ({reason}); the same command goes on") from None
    return digest.hexdigest()
