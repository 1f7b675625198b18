"""The JSON Schema of results, the same for all suites; made from the types of `document`.

`docs/results.schema.json` is the output of `results_schema`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, get_type_hints

from equipoise import suites
from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes
from equipoise.core.types import JSON
from equipoise.results import document
from equipoise.results.document import SCHEMA_VERSION

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

DAMAGE = (KeyError, TypeError, AttributeError, IndexError, ValueError, ArithmeticError)
"""Exceptions that may be raised when damaged results are read."""
MOST_SHOWN = 20
"""Maximum number of problems in a list: one mistake often causes thousands."""
LONGEST_PROBLEM = 160
"""Maximum length of a problem in characters: it quotes the value, which may be a whole transcript."""


def results_schema() -> dict[str, JSON]:
    """The complete schema, in draft 2020-12; the metadata have the options of all suites."""
    import msgspec

    schema = msgspec.json.schema(document.Document)
    parts = {name: _in_declared_order(name, _with_type_lists(part)) for name, part in schema["$defs"].items()}
    parts["Metadata"]["properties"] |= _options()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:equipoise:results:{SCHEMA_VERSION}",
        "title": "Equipoise results",
        "description": "Results of one model on one suite. Readers ignore keys that they do not know.",
        "$ref": schema["$ref"],
        "$defs": parts,
    }


def _with_type_lists(part: JSON) -> JSON:
    """A copy with a list of types in place of `anyOf` over bare types, so that problems name the types."""
    if isinstance(part, list):
        return [_with_type_lists(item) for item in part]
    if not isinstance(part, dict):
        return part
    plain = {name: _with_type_lists(value) for name, value in part.items()}
    if "anyOf" in plain and all(option.keys() == {"type"} for option in plain["anyOf"]):
        plain["type"] = [option["type"] for option in plain.pop("anyOf")]
    return plain


def _in_declared_order(name: str, part: dict[str, JSON]) -> dict[str, JSON]:
    """The part with its keys in the order of the type's declaration, which is that of results."""
    declared = get_type_hints(getattr(document, name))
    properties: Mapping[str, JSON] = part["properties"]
    in_order = {key: properties[key] for key in declared}
    return {**part, "description": cleandoc(part["description"]), "properties": in_order}


def _options() -> dict[str, JSON]:
    """Schemas of each suite's own options."""
    return {option.name: {"description": f"{option.flag}: {option.help}"} for option in suites.options()}


def problems(data: JSON) -> list[str]:
    """Violations of the schema in results JSON, each a path like a JSON pointer and a description."""
    return list(_problems(data))


def _problems(data: JSON) -> Iterator[str]:
    for error in _validator(suites.names()).iter_errors(data):
        message = (
            error.message
            if len(error.message) <= LONGEST_PROBLEM
            else f"{error.message[:LONGEST_PROBLEM]}..."
        )
        yield f"{'/'.join(['', *map(str, error.instance_path)]) or '/'}: {message}"


@cache
def _validator(known: tuple[str, ...]) -> Draft202012Validator:
    """The validator of the schema. `known` are the names of all suites, the key of the cache."""
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(results_schema())


def first_problem(path: Path) -> str | None:
    """The first problem of the results in a file; None if valid, unreadable or of another version."""
    try:
        data = json_io.loads(read_bytes(path))
        if data["metadata"]["schema_version"] != SCHEMA_VERSION:
            return None
    except (OSError, *DAMAGE):
        return None
    return next(_problems(data), None)


@contextmanager
def reading(*paths: Path, otherwise: str | None = None) -> Iterator[None]:
    """Raise UserError naming the damaged field if the block fails while reading the results in these files.

    `otherwise` is the message if no field violates the schema, as in results of another tool. Without it such
    a failure is a bug, and the exception is raised again.
    """
    try:
        yield
    except DAMAGE as error:
        for path in paths:
            if (problem := first_problem(path)) is not None:
                raise UserError(f"{path}: is damaged: {problem}") from None
        if otherwise is None:
            raise
        raise UserError(f"{paths[0]}: {otherwise} ({describe(error)})") from error


def describe(error: Exception) -> str:
    """A phrase on an exception of DAMAGE."""
    return f"{error} is missing" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"


def read(path: Path) -> JSON:
    """The results in a file; None if it has none. Raises UserError if they are of another version."""
    if path.suffix != ".json" or not path.is_file():
        return None
    try:
        data = json_io.loads(read_bytes(path))
        version = data["metadata"]["schema_version"]
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    if version != SCHEMA_VERSION:
        raise UserError(f"{path}: has schema version {version!r}; the schema is that of {SCHEMA_VERSION}")
    return data
