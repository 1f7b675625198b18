"""Prints the tables of docs/options.md, which `make outputs` pastes; `--help` says the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from equipoise import suites
from equipoise.core.options import Option
from equipoise.runner import transports


def row(*options: Option, of: Sequence[str] = ()) -> str:
    """A row of a table for options of one help, with the suites that take them where they are not for all."""
    said = options[0].full_help.replace("|", "\\|").replace("<", "&lt;")
    takers = [", ".join(f"`{name}`" for name in of)] if of else []
    return f"| {' | '.join([', '.join(map(_usage, options)), *takers, said])} |"


def rows(options: Sequence[Option]) -> Iterator[str]:
    """The rows of a group: evaluators' options beside the subject's, in one row if the help is the same."""
    shared: dict[str, dict[str, list[Option]]] = {}
    for option in options:
        by_help = shared.setdefault(option.flag.replace("--evaluator-", "--subject-"), {})
        by_help.setdefault(option.full_help, []).append(option)
    return (row(*same) for by_help in shared.values() for same in by_help.values())


def _usage(option: Option) -> str:
    alias = f" or `{option.usage.replace(option.flag, option.alias)}`" if option.alias else ""
    return f"`{option.usage}`{alias}"


def text() -> str:
    """All tables, as Markdown."""
    parts = []
    for name, options in transports.groups().items():
        parts += [f"### {name}", "", "| option | what it does |", "|---|---|"]
        parts += [*rows(options), ""]
    own: Mapping[Option, Sequence[str]] = suites.options()
    parts += ["### Options of suites", "", "| option | suites | what it does |", "|---|---|---|"]
    return "\n".join([*parts, *(row(option, of=of) for option, of in own.items())])


if __name__ == "__main__":
    print(text())
