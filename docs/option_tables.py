"""Prints the tables of options in options.md, from the declarations of the options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from equipoise import suites
from equipoise.core.options import OPTIONS, Option

BEGIN = {
    "--model": "Models and endpoints",
    "--runs": "Which cases, and how often",
    "--subject-temperature": "Generation",
    "--concurrency": "Calls",
    "--estimate": "Cost",
    "--output": "Files",
    "--until": "Comparing and gating",
}
"""The option that each group begins with; they are declared in the order of these groups."""


def groups() -> Iterator[tuple[str, Sequence[Option]]]:
    """The options of a session, by group."""
    name = ""
    named = []
    for option in OPTIONS:
        name = BEGIN.get(option.flag, name)
        named.append((name, option))
    for name, found in groupby(named, key=lambda pair: pair[0]):
        yield name, [option for _, option in found]


def row(option: Option, of: Sequence[str] = ()) -> str:
    """A row of a table, with the suites that take the option where it is not for all."""
    flags = " or ".join(f"`{_spelled(flag, option)}`" for flag in (option.flag, option.alias) if flag)
    said = f"{option.help}{_choices(option)}".replace("|", "\\|").replace("<", "&lt;")
    cells = [flags, *([", ".join(f"`{name}`" for name in of)] if of else []), said]
    return f"| {' | '.join(cells)} |"


def _choices(option: Option) -> str:
    try:
        option.parse("?")
    except ValueError as error:
        words = str(error).partition("is not one of ")[2]
        return f": {words}" if words else ""
    return ""


def _spelled(flag: str, option: Option) -> str:
    return flag if option.switch else f"{flag} {option.metavar}"


def defaults() -> Iterator[str]:
    """A row for each suite: how often it asks, its datasets, and defaults that differ from other suites'."""
    for name in suites.names():
        suite = suites.load(name)
        others = {**suite.defaults}
        runs = others.pop("runs", 1)
        told = ", ".join(f"`--{key.replace('_', '-')} {_shown(value)}`" for key, value in others.items())
        datasets = ", ".join(f"`{dataset}`" for dataset in suite.datasets)
        yield f"| `{name}` | {runs} | {datasets} | {told} |"


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def text() -> str:
    """All tables, as Markdown."""
    parts = []
    for name, options in groups():
        parts += [f"### {name}", "", "| option | what it does |", "|---|---|", *map(row, options), ""]
    own: Mapping[Option, Sequence[str]] = suites.options()
    parts += ["### Options of suites", "", "| option | suites | what it does |", "|---|---|---|"]
    parts += [*(row(option, of) for option, of in own.items()), ""]
    parts += ["### Defaults of suites", "", "| suite | runs | datasets, the default first | other defaults |"]
    return "\n".join([*parts, "|---|---|---|---|", *defaults()])


if __name__ == "__main__":
    print(text())
