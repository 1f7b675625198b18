"""Reads anchor files, and rejects files written for another version of the rubric."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from equipoise.core import toml_text
from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes
from equipoise.core.types import JSON
from equipoise.judge.rubric import Rubric


def read(path: Path) -> dict[str, JSON]:
    """The content of an anchor file. Raises UserError that names the file."""
    try:
        return toml_text.loads(read_bytes(path).decode())
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid TOML ({error})") from None


def read_for(path: Path, rubric: Rubric) -> dict[str, JSON]:
    """The content of a file of anchors written for this version of the rubric. Raises UserError."""
    data = read(path)
    if data.get("rubric") != rubric.version:
        raise UserError(
            f"{path}: its bounds are for version {data.get('rubric')} of the rubric, which has "
            f"version {rubric.version}: read anchors and rubric again side by side"
        )
    return data


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Turn the error of a missing key or an unusable value into a UserError that names the file."""
    try:
        yield
    except KeyError as error:
        raise UserError(f"{path}: {error} is missing in one of its tables") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise UserError(f"{path}: a value that cannot be read ({error})") from None
