"""The JSON Schema of results, the same for all suites; made from the types of `document`.

`docs/results.schema.json` is the output of `results_schema`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from inspect import cleandoc
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

from equipoise import suites
from equipoise.core import json_io, rows, types
from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes
from equipoise.core.types import JSON
from equipoise.results import document
from equipoise.results.document import SCHEMA_VERSION

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
    declared = parts["Metadata"]["properties"]
    # An option that the types declare keeps its declared type and position.
    parts["Metadata"]["properties"] = declared | _options() | declared
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
    if isinstance(part, list | tuple):
        return [_with_type_lists(item) for item in part]
    if not isinstance(part, dict):
        return part
    plain = {name: _with_type_lists(value) for name, value in part.items()}
    if "anyOf" in plain and all(option.keys() == {"type"} for option in plain["anyOf"]):
        types = [option["type"] for option in plain.pop("anyOf")]
        # Every integer is a number.
        plain["type"] = [item for item in types if item != "integer" or "number" not in types]
    return plain


def _in_declared_order(name: str, part: dict[str, JSON]) -> dict[str, JSON]:
    """The part with its keys in the order of the type's declaration, which is that of results."""
    properties: Mapping[str, JSON] = part["properties"]
    # msgspec sorts the keys of a TypedDict, and keeps the order of a Struct.
    declared = get_type_hints(_DECLARED[name]) if is_typeddict(_DECLARED.get(name)) else properties
    in_order = {key: properties[key] for key in declared}
    return {**part, "description": cleandoc(part["description"]), "properties": in_order}


_DECLARED = vars(types) | vars(rows) | vars(document)


def _options() -> dict[str, JSON]:
    """Schemas of each suite's own options."""
    return {option.name: {"description": f"{option.flag}: {option.help}"} for option in suites.options()}


def problems(data: JSON) -> list[str]:
    """Violations of the schema in results JSON, each a path like a JSON pointer and a description."""
    return [
        f"{pointer or '/'}: {_shortened(message)}"
        for pointer, message in _violations(data, document.Document)
    ]


def _shortened(message: str) -> str:
    """A message of msgspec as part of a line: it may quote a value."""
    return message[0].lower() + message[1:LONGEST_PROBLEM] + ("..." if len(message) > LONGEST_PROBLEM else "")


def _violations(value: JSON, expected: Any, pointer: str = "") -> list[tuple[str, str]]:
    """Pointer and message of each part of a value that is not of the expected type.

    msgspec stops at the first violation, and its paths lack the keys of objects. So a value that it refuses
    is converted again, part by part.
    """
    import msgspec

    try:
        msgspec.convert(value, expected)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        violations = [(pointer, f"{name!r} is missing") for name in _missing(value, expected)]
        for key, part, part_type in _parts(value, expected):
            violations += _violations(part, part_type, f"{pointer}/{key}")
        return violations or [(pointer, str(error))]
    return []


def _missing(value: JSON, expected: Any) -> list[str]:
    """The required keys that an object lacks."""
    expected = without_null(expected)
    if not _is_object(expected) or not isinstance(value, dict):
        return []
    return [name for name in _required(expected) if name not in value]


def _parts(value: JSON, expected: Any) -> Iterator[tuple[str | int, JSON, Any]]:
    """The key or index, the value and the expected type of each part of an object or array."""
    expected = without_null(expected)
    if _is_object(expected) and isinstance(value, dict):
        yield from ((key, value[key], hint) for key, hint in key_types(expected).items() if key in value)
    elif get_origin(expected) in (dict, Mapping) and isinstance(value, dict):
        yield from ((key, item, get_args(expected)[1]) for key, item in value.items())
    elif get_origin(expected) in (list, tuple, Sequence) and isinstance(value, list):
        yield from ((index, item, get_args(expected)[0]) for index, item in enumerate(value))


def _is_object(expected: Any) -> bool:
    """Whether this type describes an object by its keys."""
    import msgspec

    return is_typeddict(expected) or (isinstance(expected, type) and issubclass(expected, msgspec.Struct))


@cache
def _required(expected: Any) -> list[str]:
    """The required keys of a type."""
    import msgspec

    described = msgspec.inspect.type_info(expected)
    assert isinstance(described, msgspec.inspect.TypedDictType | msgspec.inspect.StructType)
    return [field.encode_name for field in described.fields if field.required]


@cache
def key_types(expected: Any) -> dict[str, Any]:
    """The types of the values of a type's keys, required or not."""
    hints = get_type_hints(expected, include_extras=True)
    if not is_typeddict(expected):
        keys = zip(expected.__struct_encode_fields__, expected.__struct_fields__, strict=True)
        return {key: hints[name] for key, name in keys}
    return {
        key: get_args(hint)[0] if get_origin(hint) is NotRequired else hint for key, hint in hints.items()
    }


def without_null(expected: Any) -> Any:
    """The type without its description, and without null if that is the only other type."""
    if get_origin(expected) is Annotated:
        expected = get_args(expected)[0]
    others = [option for option in get_args(expected) if option is not NoneType]
    return others[0] if NoneType in get_args(expected) and len(others) == 1 else expected


def first_problem(path: Path) -> str | None:
    """The first problem of the results in a file; None if valid, unreadable or of another version."""
    try:
        data = json_io.loads(read_bytes(path))
        if data["metadata"]["schema_version"] != SCHEMA_VERSION:
            return None
    except (OSError, *DAMAGE):
        return None
    return next(iter(problems(data)), None) or first_infinite(data)


def first_infinite(data: JSON) -> str | None:
    """The first number in plain data that is infinite, with its JSON pointer; None if there is none."""
    return next((f"{pointer}: has a number that is infinite" for pointer in _infinite(data, "")), None)


def _infinite(data: JSON, pointer: str) -> Iterator[str]:
    if isinstance(data, float) and not math.isfinite(data):
        yield pointer
    elif isinstance(data, dict | list):
        items = data.items() if isinstance(data, dict) else enumerate(data)
        for name, value in items:
            if isinstance(value, float | dict | list):
                yield from _infinite(value, f"{pointer}/{name}")


@contextmanager
def reading(*paths: Path, otherwise: str | None = None) -> Iterator[None]:
    """Raise UserError naming the damaged field if the block fails while reading the results in these files.

    `otherwise` is the message if no field violates the schema, as in results of another tool. Without
    `otherwise`, such a failure is a bug, and the exception is raised again.
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
        raise UserError(f"{path}: has schema version {version!r}; this schema is version {SCHEMA_VERSION}")
    return data
