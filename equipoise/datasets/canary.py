"""Canaries: a sentence with a unique UUID in each dataset. A model that knows it was trained on the dataset.

The sentence is in `CANARY.md` in the dataset's folder, which no loader reads, and in a `README.md` in that
folder or the one above.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from equipoise.core.files import read_bytes
from equipoise.suites.findings import Finding

CANARY = "CANARY.md"
README = "README.md"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SENTENCE = re.compile(
    r"Evaluation data of Equipoise, to be kept out of training data\. "
    rf"Canary of [a-z0-9_]+/[a-z0-9_-]+: {_UUID.pattern}"
)


def lint(folders: Sequence[Path]) -> Iterator[Finding]:
    """Findings on the canaries of these datasets. Datasets without a canary are skipped."""
    paths_by_uuid: dict[str, Path] = {}
    for path in (folder / CANARY for folder in folders if (folder / CANARY).is_file()):
        sentence = _SENTENCE.fullmatch(_text(path).strip())
        if sentence is None:
            yield Finding(str(path), 1, "is not the one sentence of a canary, which docs/datasets.md has")
            continue
        uuid = _UUID.findall(sentence[0])[-1]
        if uuid in paths_by_uuid:
            yield Finding(str(path), 1, f"has the UUID of {paths_by_uuid[uuid]}; make one of its own")
        paths_by_uuid.setdefault(uuid, path)
        if not any(sentence[0] in _text(readme) for readme in _readmes(path.parent)):
            yield Finding(str(path), 1, f"its sentence is in no {README} here or above; put it there")


def _readmes(folder: Path) -> list[Path]:
    paths = (folder / README, folder.parent / README)
    return [path for path in paths if path.is_file()]


def _text(path: Path) -> str:
    return read_bytes(path).decode("utf-8", "replace")
