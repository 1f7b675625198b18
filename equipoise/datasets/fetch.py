"""Fetches a benchmark's published data from a pinned commit, and checks their SHA-256."""

from __future__ import annotations

import hashlib
import http.client
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO
from urllib.parse import urlsplit
from urllib.request import url2pathname

from equipoise.core.errors import UserError
from equipoise.core.files import opened, replacing, shown, write_text
from equipoise.suites.resources import LICENCE, ORIGINAL, PINS, Original, file_hash, originals

SITE = "https://github.com"
SECONDS = 60.0
"""Timeout of a connection that sends nothing."""
MOST_BYTES = 200_000_000
ALL = "all"
"""Instead of a name: all published data."""
_BLOCK = 1 << 16
_OFFLINE = (
    "run the same command again to continue; without a network, fetch from a copy of the site "
    "(--site file:///FOLDER), or set EQUIPOISE_ORIGINAL_DATA to a folder that has the data"
)


def fetch(name: str, topics: Sequence[Path], folder: Path | None = None, site: str = SITE) -> Iterator[str]:
    """Fetch published data to `folder`, or to where their suite looks; yields a line for each file.

    By default that is in the first of these folders of topics, all of which are searched for pins. Files that
    are there and intact are kept, so that an interrupted fetch continues. Raises UserError if a file is not
    available or its digest is wrong; nothing of such a file is kept.
    """
    pinned = originals(topics)
    if name not in pinned:
        raise UserError(f"{name}: no published data to fetch; there are for {', '.join(pinned)}")
    original = pinned[name]
    target = folder / name if folder else topics[0] / original.folder / ORIGINAL
    with _left_as_it_was(target):
        write_text(target / LICENCE, _page(original))
        for number, file in enumerate(original.files, start=1):
            how = _have(original, file, target / file, site)
            yield f"{shown(target / file)}: {how} ({number} of {len(original.files)})"
    yield original.about


@contextmanager
def _left_as_it_was(target: Path) -> Iterator[None]:
    """Remove a new folder, and those above it, again where none of the data could be brought into it."""
    new = [path for path in (target, *target.parents) if not path.exists()]
    try:
        yield
    except UserError:
        files = [item for item in target.rglob("*") if item.is_file() and item.name != LICENCE]
        if new and not files:
            _remove(target, new)
        raise


def _remove(target: Path, new: Sequence[Path]) -> None:
    with suppress(OSError):
        (target / LICENCE).unlink()
    for path in (*sorted(target.rglob("*"), reverse=True), *new):
        # A folder that is not empty stays.
        with suppress(OSError):
            path.rmdir()


def names(name: str, topics: Sequence[Path]) -> list[str]:
    """The name, or for `all` those of all published data. Raises UserError if there are none."""
    names = list(originals(topics)) if name == ALL else [name]
    if not names:
        raise UserError(f"{ALL}: no suite has published data; {PINS} in its folder would say where they are")
    return names


def _page(original: Original) -> str:
    """The licence page: whose the data are, and what one may do with them."""
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
            actual = _download(url, file)
            if actual != digest:
                raise UserError(f"{url}: wrong SHA-256: {actual}, expected {digest}; nothing is kept")
    except OSError as error:
        raise UserError(f"{shown(target)}: cannot be written to ({error.strerror})") from None


def _answer(url: str) -> IO[bytes]:
    """Response of a URL, open to be read. Raises OSError, also for pipes and devices, which may never end."""
    parts = urlsplit(url)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return opened(Path(url2pathname(parts.path)))
    answer: IO[bytes] = urllib.request.urlopen(url, timeout=SECONDS)  # noqa: S310 - of our own table
    return answer


def _download(url: str, file: BinaryIO) -> str:
    """Download a file, by a proxy if the environment names one; returns its SHA-256."""
    digest, size = hashlib.sha256(), 0
    try:
        with _answer(url) as answer:
            while block := answer.read(_BLOCK):
                size += len(block)
                if size > MOST_BYTES:
                    raise UserError(f"{url}: exceeds the size limit; nothing is kept")
                digest.update(block)
                file.write(block)
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise UserError(f"{url}: cannot be fetched ({reason}); {_OFFLINE}") from None
    return digest.hexdigest()
