"""The cells of a sweep: models x suites x settings, read from a TOML file.

A row of the file has options of a session by name, and a few keys of its own. An option may be set in several
places; the last of these that sets it takes precedence: `options` (all cells), suites, models, settings.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from equipoise import suites
from equipoise.core import option_files
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.options import Option, parse_name
from equipoise.core.settings import Settings
from equipoise.results.store import Files, file_name
from equipoise.runner.settings import settings_of
from equipoise.runner.transports import session_options

_AXES: Mapping[str, str] = {"suites": "suite", "models": "model", "settings": "name"}
"""The tables of rows, each with the key that holds a row's name."""
_TABLES = {"folder", "options", "exclude", *_AXES}
"""The keys at the top of the file."""
MOST_ROWS, MOST_CELLS = 1_000, 10_000
"""The most rows in one table of a sweep, and the most cells that all rows make."""
_VARIABLE, _USUAL_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII), re.compile(r"[A-Z]+(?:_[A-Z0-9]+)+")
"""The names that a variable may have, and the usual form of such names, which no API key has."""
_MODEL_KEYS = {"serve", "ready", "ready_timeout", "cpus", "gpus", "api_key_env", "evaluator_api_key_env"}
"""The keys of a row of `models` that are not options of a session."""
_REFUSED_OPTIONS: Mapping[str, str] = {
    "api_key": "a key does not belong in a file: name its variable with api-key-env",
    "evaluator_api_key": "a key does not belong in a file: name its variable with evaluator-api-key-env",
    "output": "each cell has a file of its own in the sweep's folder",
    "report": "a sweep writes one page of all cells",
    "fresh": "would ask everything again whenever a cell is started again: remove the sweep's folder",
    "estimate": "is what --dry-run shows",
    "show_prompts": "is for one session: name it in `equipoise run`",
    "config": "a sweep's options are in its table",
    "batch": "a cell would end while its batches wait: run the sessions one by one",
    "batch_write": "a cell has no files of batches",
    "batch_read": "a cell has no files of batches",
    "shard": "the cells of a sweep are whole suites",
}
"""The options of a session that a sweep does not have, each with the reason that its error message gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that a cell starts. `{model}` and `{port}` in its `command` are replaced by their values.

    It must answer a GET of the path `ready` with success within `timeout` seconds.
    """

    command: str
    ready: str
    timeout: float


@dataclass(frozen=True, kw_only=True)
class SweepCell:
    """One session of a sweep: a model on a suite, in one of the settings, if there are any.

    `options` are texts by name, as on a command line. `keys` maps options for API keys to the environment
    variables that hold them. `cpus` and `gpus` are what Ray reserves for the cell. Cells of one model in the
    same settings, on all suites, have the same `release`.
    """

    name: str
    folder: Path
    suite: str
    model: str
    release: str
    options: Mapping[str, Any]
    keys: Mapping[str, str] = field(default_factory=dict)
    server: Server | None = None
    cpus: float = 1.0
    gpus: float = 0.0

    @property
    def files(self) -> Files:
        """The paths of the results and the journal."""
        path = self.folder / self.name
        return Files(results=Path(f"{path}.json"), journal=Path(f"{path}.jsonl"))

    @property
    def log(self) -> Path:
        """The path of the session's output."""
        return self.folder / f"{self.name}.log"

    @property
    def server_log(self) -> Path:
        """The path of the server's output."""
        return self.folder / f"{self.name}.server.log"

    @cached_property
    def settings(self) -> Settings:
        """The settings of the session. Raises UserError."""
        texts = {**self.options, "model": self.model, "output": str(self.files.results)}
        try:
            return settings_of(texts, self.environment(os.environ), {}, [self.suite])
        except UserError as error:
            raise UserError(f"{self.name}: {error}") from None

    def arguments(self) -> list[str]:
        """The arguments of `equipoise run` that follow the suite."""
        texts = {**self.options, "model": self.model, "output": str(self.files.results)}
        options = {option.name: option for option in (*session_options(), *suites.options())}
        return [word for name, value in texts.items() for word in _words(options[name], value)]

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """The session's environment: these variables and the API keys. Raises UserError if one is not set."""
        environment = dict(variables)
        for option, variable in self.keys.items():
            if not variables.get(variable):
                # A word in another form may itself be a key.
                name = (
                    variable
                    if _USUAL_VARIABLE.fullmatch(variable)
                    else f"that {option.replace('_', '-')}-env names"
                )
                raise UserError(f"{self.name}: the variable {name}, which should hold a key, is not set")
            environment[f"EQUIPOISE_{option.upper()}"] = variables[variable]
        return environment


def _words(option: Option, value: Any) -> Iterator[str]:
    """The command line arguments that set an option to a value."""
    if option.switch:
        if value:
            yield option.flag
        return
    for item in value if isinstance(value, list) else [value]:
        # A single word, as a value may begin with a hyphen.
        yield f"{option.flag}={item}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A sweep: its cells, and the folder of their files."""

    folder: Path
    cells: Sequence[SweepCell]


def load(path: Path, root: Path) -> Sweep:
    """Load the sweep of a TOML file, whose paths are relative to `root`.

    Unless the file names a folder, it is results/<name of the file>. Raises UserError naming file and row.
    """
    data = option_files.read_toml(path)
    try:
        return _sweep({"folder": str(Path("results") / path.stem), **data}, root)
    except UserError as error:
        raise UserError(f"{shown(path)}: {error}") from None


def _sweep(data: Mapping[str, Any], root: Path) -> Sweep:
    if unknown := sorted(data.keys() - _TABLES):
        raise UserError(f"{unknown[0]}: there is no such table; there are {', '.join(sorted(_TABLES))}")
    if not isinstance(data["folder"], str) or not data["folder"]:
        raise UserError("folder: is not a path; write it in quotes, or leave it out for results/<table>")
    folder = root / data["folder"]
    shared_options = _row("options", data.get("options", {}))
    rows = {axis: _rows(axis, data.get(axis, [])) for axis in _AXES}
    for axis in ("models", "suites"):
        if not rows[axis]:
            raise UserError(f"{axis}: there is none; write [[{axis}]] and a line {_AXES[axis]} = ...")
    exclusions = _exclusions(data.get("exclude", []), rows)
    settings: Sequence[TableRow | None] = [*rows["settings"]] or [None]
    count = len(rows["models"]) * len(rows["suites"]) * len(settings)
    if count > MOST_CELLS:
        raise UserError(f"it makes {count:,} cells; at most {MOST_CELLS:,}: write several sweeps")
    cells = [
        _cell(folder, shared_options, model, suite, setting)
        for model, suite, setting in product(rows["models"], rows["suites"], settings)
        if not any(_matches(exclusion, model, suite, setting) for exclusion in exclusions)
    ]
    if not cells:
        raise UserError("exclude: leaves no cell")
    _refuse_duplicates([cell.name for cell in cells])
    for cell in cells:
        # Computed now, so that invalid settings raise UserError before any cell starts.
        _ = cell.settings
    return Sweep(folder=folder, cells=cells)


TableRow = Mapping[str, Any]
"""A row of a table, by key."""


def _row(where: str, row: Any, further_keys: frozenset[str] = frozenset()) -> dict[str, Any]:
    """A row with its options as texts. Raises UserError for other keys that are not in `further_keys`.

    `where` is the row's place in the file, as errors name it.
    """
    if not isinstance(row, dict):
        raise UserError(f"{where}: is not a table")
    options = [option for option in (*session_options(), *suites.options()) if option.name != "model"]
    return option_files.option_texts(where, row, options, _REFUSED_OPTIONS, further_keys)


def _rows(axis: str, rows: Any) -> list[dict[str, Any]]:
    """The rows of an axis, all with a name and their options as texts. Raises UserError."""
    if not isinstance(rows, list):
        raise UserError(f"{axis}: write its rows as [[{axis}]]")
    name_key = _AXES[axis]
    further_keys = frozenset({name_key, *(_MODEL_KEYS if axis == "models" else ())})
    checked_rows = []
    _refuse_many(axis, rows)
    for number, row in enumerate(rows, 1):
        checked = _row(f"[[{axis}]] {number}", row, further_keys)
        if not isinstance(checked.get(name_key), str) or not checked[name_key]:
            raise UserError(f"[[{axis}]] {number}: has no {name_key}")
        try:
            parse_name(checked[name_key])
        except ValueError as error:
            raise UserError(f"[[{axis}]] {number}: {checked[name_key]!r} {error}") from None
        checked_rows.append(checked)
    for row in checked_rows if axis == "suites" else ():
        suites.require(row["suite"])
    return checked_rows


def _refuse_many(table: str, rows: Sequence[Any]) -> None:
    if len(rows) > MOST_ROWS:
        raise UserError(f"{table}: has {len(rows):,} rows; at most {MOST_ROWS:,}: write several sweeps")


def _exclusions(rows: Any, rows_by_axis: Mapping[str, Sequence[TableRow]]) -> list[dict[str, str]]:
    """The rows of `exclude`. Raises UserError for one with a model, suite or setting that does not exist."""
    axes = {"model": "models", "suite": "suites", "setting": "settings"}
    if not isinstance(rows, list):
        raise UserError("exclude: write its rows as [[exclude]]")
    _refuse_many("exclude", rows)
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or not row or row.keys() - axes.keys():
            raise UserError(f"[[exclude]] {number}: takes {', '.join(axes)}")
        for key, value in row.items():
            axis = axes[key]
            if value not in [item[_AXES[axis]] for item in rows_by_axis[axis]]:
                raise UserError(f"[[exclude]] {number}: there is no {key} {value!r}")
    return rows


def _matches(
    exclusion: Mapping[str, str], model: TableRow, suite: TableRow, setting: TableRow | None
) -> bool:
    """Whether a row of `exclude` leaves out this cell."""
    cell = {"model": model["model"], "suite": suite["suite"], "setting": setting and setting["name"]}
    return all(cell[key] == value for key, value in exclusion.items())


def _cell(
    folder: Path, shared_options: TableRow, model: TableRow, suite: TableRow, setting: TableRow | None
) -> SweepCell:
    other_keys = {*_MODEL_KEYS, *_AXES.values()}
    options: dict[str, Any] = {}
    for row in (shared_options, suite, model, setting or {}):
        options |= {key: value for key, value in row.items() if key not in other_keys}
    model_name, setting_name = file_name(model["model"]), [file_name(setting["name"])] if setting else []
    names = ("api_key", "evaluator_api_key")
    keys = {name: _variable(model, f"{name}_env") for name in names if f"{name}_env" in model}
    return SweepCell(
        name=".".join([model_name, suite["suite"], *setting_name]),
        release=".".join([model_name, *setting_name]),
        folder=folder,
        suite=suite["suite"],
        model=model["model"],
        options=options,
        keys=keys,
        server=_server(model),
        cpus=_number(model, "cpus", 1.0),
        gpus=_number(model, "gpus", 0.0),
    )


def _variable(model: TableRow, key: str) -> str:
    """The name of the variable that holds a key. Raises UserError without the value, which may be a key."""
    value = model[key]
    if not isinstance(value, str) or not _VARIABLE.fullmatch(value):
        option = key.replace("_", "-")
        raise UserError(
            f"{model['model']}: {option} names the variable that holds the key, such as MY_KEY, not the key"
        )
    return value


def _server(model: TableRow) -> Server | None:
    if "serve" not in model:
        for name in ("ready", "ready_timeout"):
            if name in model:
                raise UserError(f"{model['model']}: {name} is about a server: add serve")
        return None
    command = model["serve"]
    if not isinstance(command, str) or "{port}" not in command:
        raise UserError(f"{model['model']}: serve is a command in which {{port}} stands for the port")
    ready = model.get("ready", "/v1/models")
    if not isinstance(ready, str) or not ready.startswith("/"):
        raise UserError(f"{model['model']}: ready is a path that begins with /")
    return Server(
        command=command,
        ready=ready,
        timeout=_number(model, "ready_timeout", 900.0),
    )


def _number(model: TableRow, name: str, default: float) -> float:
    value = model.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise UserError(f"{model['model']}: {name} is a number from 0 up")
    return float(value)


def _refuse_duplicates(names: Sequence[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise UserError(f"{name}: {count} rows make the same cell; give them settings with other names")
