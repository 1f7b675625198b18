"""Options in TOML files: those of --config, and the tables of a sweep."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from equipoise.core import toml_text
from equipoise.core.errors import UserError
from equipoise.core.files import read_text, shown
from equipoise.core.options import Option

_KEY_IN_FILE = "a key does not belong in a file that is shared: set {} in the environment or in .env"
_HELP_COMMAND = "equipoise run SUITE --help"


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file. Raises UserError naming file and line."""
    try:
        return toml_text.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{shown(path)}: is not TOML: {error}") from None


def read_config(path: Path, options: Sequence[Option]) -> dict[str, Any]:
    """The options in a file for --config, as `option_texts`. Raises UserError naming file and key."""
    keys = {option.name: _KEY_IN_FILE.format(option.variable) for option in options if option.is_secret}
    refused = {**keys, "config": "a file does not name another"}
    values = option_texts(shown(path), read_toml(path), options, refused)
    # The text "false" counts as set by the user, the bool as not set.
    return {name: "false" if value is False else value for name, value in values.items()}


def option_texts(
    where: str,
    table: Mapping[str, Any],
    options: Sequence[Option],
    refused: Mapping[str, str],
    extra_keys: Collection[str] = (),
) -> dict[str, Any]:
    """The options in a TOML table by name, each as a text, a list of texts or a bool (`_option_text`).

    Keys may have hyphens or underscores. `refused` has a reason for each option that must not be in the
    table. `extra_keys` may be in it without being options: their values are returned unchanged. Raises
    UserError naming `where` and the key.
    """
    known = {option.name: option for option in options}
    values: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name in refused:
            raise UserError(f"{where}: {key}: {refused[name]}")
        if name not in known and name not in extra_keys:
            near = get_close_matches(name, [*known, *extra_keys], n=1, cutoff=0.7)
            hint = f"did you mean {near[0].replace('_', '-')}?" if near else f"{_HELP_COMMAND} lists them"
            raise UserError(f"{where}: there is no option {key!r} here; {hint}")
        values[name] = value if name in extra_keys else _option_text(f"{where}: {key}", known[name], value)
    return values


def _option_text(where: str, option: Option, value: Any) -> Any:
    """The value of an option as text, a list if it may be repeated, a bool if it is a switch.

    Raises UserError.
    """
    if option.switch:
        if not isinstance(value, bool):
            raise UserError(f"{where}: must be true or false")
        return value
    if isinstance(value, list) and option.many:
        return [str(item) for item in value]
    if isinstance(value, bool) and option.optional_words:
        # `batch = true` is --batch without a value, `batch = false` no --batch.
        return str(value)
    if isinstance(value, bool | list | dict):
        raise UserError(f"{where}: must be one text or number")
    return [str(value)] if option.many else str(value)
