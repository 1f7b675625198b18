"""The JSON Schema of results: the parts that all suites share, and those that each describes in its package.

The published one, `docs/results.schema.json`, is what `whole` returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from equipoise import suites
from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes
from equipoise.core.types import JSON
from equipoise.results import versions

SHARED = Path(__file__).with_name("schema.json")
DAMAGE = (KeyError, TypeError, AttributeError, IndexError, ValueError, ArithmeticError)
"""The exceptions that reading damaged results raises."""
MOST_SHOWN = 20
"""The longest list of problems; one mistake often has thousands."""


LONGEST = 160
"""Characters of a problem that are shown: it quotes the value, which may be a whole transcript."""


def whole() -> dict[str, JSON]:
    """The schema with the parts of every suite, in draft 2020-12."""
    shared: dict[str, JSON] = json_io.loads(SHARED.read_bytes())
    own = {name: part for name in suites.names() if (part := suites.results_schema(name)) is not None}
    return {**shared, "allOf": [_where(name, part) for name, part in own.items()]}


def _where(suite: str, part: JSON) -> dict[str, JSON]:
    """The part applies to the results of that suite."""
    metadata = {"required": ["suite"], "properties": {"suite": {"const": suite}}}
    return {"if": {"required": ["metadata"], "properties": {"metadata": metadata}}, "then": part}


def problems(data: JSON) -> list[str]:
    """Where results JSON does not follow the schema: a JSON pointer (RFC 6901), and what is wrong there."""
    # What a suite extends is checked in the shared part and in its own.
    return list(dict.fromkeys(_problems(data)))


def _problems(data: JSON) -> Iterator[str]:
    import jsonschema_rs

    for error in jsonschema_rs.Draft202012Validator(whole()).iter_errors(data):
        said = error.message if len(error.message) <= LONGEST else f"{error.message[:LONGEST]}..."
        yield f"{'/'.join(['', *map(str, error.instance_path)]) or '/'}: {said}"


def first_problem(path: Path) -> str | None:
    """The first problem of the results in a file; None without one, or if they are of another version."""
    try:
        data = json_io.loads(read_bytes(path))
        if data["metadata"]["schema_version"] != versions.CURRENT:
            return None
    except (OSError, *DAMAGE):
        return None
    return next(_problems(data), None)


@contextmanager
def reading(*paths: Path, otherwise: str | None = None) -> Iterator[None]:
    """Raise UserError naming the damaged field if reading the results in these files fails in the block.

    Where the schema finds nothing, as in results of earlier versions, the message is `otherwise`; without one
    the failure is a bug.
    """
    try:
        yield
    except DAMAGE as error:
        for path in paths:
            if (problem := first_problem(path)) is not None:
                raise UserError(f"{path}: is damaged: {problem}") from None
        if otherwise is None:
            raise
        raise UserError(f"{paths[0]}: {otherwise} ({in_words(error)})") from error


def in_words(error: Exception) -> str:
    """What reading damaged results has failed on."""
    return f"{error} is missing" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"


def read(path: Path) -> JSON:
    """The results in a file of the current version; None if it holds none. Raises UserError."""
    if path.suffix != ".json" or not path.is_file():
        return None
    try:
        data = json_io.loads(read_bytes(path))
        version = data["metadata"]["schema_version"]
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    if version != versions.CURRENT:
        raise UserError(f"{path}: has schema version {version!r}; the schema is that of {versions.CURRENT}")
    return data
