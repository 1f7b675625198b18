"""Where keys are found that should be nowhere: in the files of a folder, and on the screen."""

from __future__ import annotations

import base64
from pathlib import Path
from urllib.parse import quote


def leaks(folder: Path, shown: str, *keys: str) -> list[str]:
    """Where a key is found, in whatever form: files of the folder, or the screen."""
    shapes = [shape.encode() for key in keys for shape in shapes_of(key)]
    places = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    places["screen"] = shown.encode()
    return [name for name, data in places.items() if any(shape in data for shape in shapes)]


def shapes_of(key: str) -> list[str]:
    """The key as it is, in an address, and in base 64 wherever it begins, without what neighbours decide."""
    encoded = [base64.b64encode(f"{before}{key}".encode()).decode()[4:-4] for before in ("", "u", "us")]
    return [
        key,
        quote(key, safe=""),
        *encoded,
        *(text.replace("+", "-").replace("/", "_") for text in encoded),
    ]
