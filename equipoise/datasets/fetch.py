"""Fetching of published data from a pinned commit, with a check of the SHA-256 of each file."""

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
from equipoise.core.files import open_regular, replacing, shown, write_text
from equipoise.suites.resources import LICENCE, ORIGINAL, PINS, Original, file_hash, originals

SITE = "https://github.com"
TIMEOUT_SECONDS = 60.0
"""The timeout of a connection that sends nothing."""
MAX_BYTES = 200_000_000
"""The maximum size of a file."""
ALL = "all"
"""The name that stands for all published data."""
_BLOCK_BYTES = 1 << 16
_AGAIN = "run the same command again to continue; without a network, "
_ELSEWHERE = (
    "fetch from a copy of the site (--site file:///FOLDER), or set EQUIPOISE_ORIGINAL_DATA to a folder that "
    "has the data"
)


def fetch(name: str, topics: Sequence[Path], folder: Path | None = None, site: str = SITE) -> Iterator[str]:
    """Fetch published data. Yields a line for each file, then a line about the data.

    The files are written to the folder `name` in `folder`, or by default to their suite's folder in
    `topics[0]`. All of `topics` are searched for pins. Intact files are not fetched again. Raises UserError
    if a file is not available or has a wrong digest; such a file is not kept.
    """
    pinned = originals(topics)
    if name not in pinned:
        raise UserError(f"{name}: no published data to fetch; there are for {', '.join(pinned)}")
    original = pinned[name]
    target = folder / name if folder else topics[0] / original.folder / ORIGINAL
    with _removing_empty_folder_on_failure(target):
        write_text(target / LICENCE, _licence_page(original))
        for number, file in enumerate(original.files, start=1):
            state = _ensure(original, file, target / file, site)
            yield f"{shown(target / file)}: {state} ({number} of {len(original.files)})"
    yield original.about


@contextmanager
def _removing_empty_folder_on_failure(target: Path) -> Iterator[None]:
    """Remove the folder and its parents after an error, if they are new and no data file was written."""
    new = [path for path in (target, *target.parents) if not path.exists()]
    try:
        yield
    except UserError:
        files = [item for item in target.rglob("*") if item.is_file() and item.name != LICENCE]
        if new and not files:
            _remove_folders(target, new)
        raise


def _remove_folders(target: Path, new: Sequence[Path]) -> None:
    """Remove the licence page, and those folders in `target` and among `new` that are then empty."""
    with suppress(OSError):
        (target / LICENCE).unlink()
    for path in (*sorted(target.rglob("*"), reverse=True), *new):
        with suppress(OSError):
            path.rmdir()


def expand_name(name: str, topics: Sequence[Path]) -> list[str]:
    """The name as a list, or for `all` the names of all published data. Raises UserError if there is none."""
    names = list(originals(topics)) if name == ALL else [name]
    if not names:
        raise UserError(f"{ALL}: no suite has published data; {PINS} in its folder would say where they are")
    return names


def _licence_page(original: Original) -> str:
    """The text of the licence page: who owns the data, and what their licence allows."""
    tree, blob = (f"{SITE}/{original.repository}/{kind}/{original.commit}" for kind in ("tree", "blob"))
    stated = f"{blob}/{original.stated}" if original.stated else tree
    return (
        f"# Licence\n\n{original.about}\n\n"
        f"- Whose: the authors of {original.repository}; not part of Equipoise\n"
        f"- Licence: {original.licence}\n"
        f"- Stated at: {stated}\n"
        f"- What one may do: {original.terms or 'what this licence says'}\n"
        f"- The data as they were published: {tree}\n"
    )


def _ensure(original: Original, name: str, target: Path, site: str) -> str:
    """Fetch a file unless an intact copy exists, and return its state in words. Raises UserError."""
    digest = original.files[name]
    if file_hash(target) == digest:
        return "is here already"
    path = original.paths.get(name, name)
    _download_verified(f"{site}/{original.repository}/raw/{original.commit}/{path}", target, digest)
    return "fetched"


def _download_verified(url: str, target: Path, digest: str) -> None:
    """Download a file to `target`. Raises UserError if that fails or the digest is wrong."""
    try:
        with replacing(target) as file:
            actual = _download(url, file)
            if actual != digest:
                raise UserError(f"{url}: wrong SHA-256: {actual}, expected {digest}; nothing is kept")
    except OSError as error:
        raise UserError(f"{shown(target)}: cannot be written to ({error.strerror})") from None


def _open_url(url: str) -> IO[bytes]:
    """The content of a URL or local file URL, open for reading.

    Raises OSError, also for pipes and devices, which may never end.
    """
    parts = urlsplit(url)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return open_regular(Path(url2pathname(parts.path)))
    response: IO[bytes] = urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS)  # noqa: S310 - the user names the site
    return response


def _download(url: str, file: BinaryIO) -> str:
    """Download a URL into `file`, and return its SHA-256. Uses the proxy of the environment, if any."""
    digest, size = hashlib.sha256(), 0
    try:
        with _open_url(url) as response:
            while block := response.read(_BLOCK_BYTES):
                size += len(block)
                if size > MAX_BYTES:
                    raise UserError(f"{url}: exceeds the size limit; nothing is kept")
                digest.update(block)
                file.write(block)
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        # Trying again does not help if the page does not exist.
        again = "" if 400 <= getattr(error, "code", 0) < 500 else _AGAIN
        raise UserError(f"{url}: cannot be fetched ({reason}); {again}{_ELSEWHERE}") from None
    return digest.hexdigest()
