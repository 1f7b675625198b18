"""Writes docs/licences.md: the licences of the packages that Equipoise installs, from their metadata.

Run by `make licences`. The packages of an extra are those that it adds.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PAGE = Path(__file__).parent / "licences.md"
EXTRAS = ("", "plots", "retrieval", "local", "export")
"""The extras in the order of the page; the first is the package without any."""
HEAD = """# Licences

Read this for the licences of installed packages.

The extras `inspect` and `ray` bring many more packages; `pip-licenses` lists those of any environment.

| licence | packages |
|---|---|
"""


def closure(name: str, extra: str) -> Iterator[str]:
    """The packages that a package needs, directly or not, where they are installed."""
    waiting, known = [(name, extra)], {(name, extra)}
    while waiting:
        package, of = waiting.pop()
        for needed in map(Requirement, _requires(package)):
            if needed.marker is not None and not needed.marker.evaluate({"extra": of}):
                continue
            for item in [(canonicalize_name(needed.name), one) for one in ("", *needed.extras)]:
                if item not in known and _is_installed(item[0]):
                    known.add(item)
                    waiting.append(item)
    yield from sorted({package for package, _ in known} - {name})


def licence(name: str) -> str:
    """The licence that a package states, as an SPDX expression where it has one."""
    about = metadata(name)
    if expression := about["License-Expression"]:
        return str(expression)
    classifiers = [
        line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if "License ::" in line
    ]
    named = (about["License"] or "").splitlines()
    return ", ".join(classifiers) or (named[0] if len(named) == 1 else "not stated")


def _requires(name: str) -> list[str]:
    return requires(name) or []


def _is_installed(name: str) -> bool:
    try:
        metadata(name)
    except PackageNotFoundError:
        return False
    return True


def rows() -> Iterator[str]:
    """A row for each licence, with its packages; those that an extra installs name the first that does."""
    listed: set[str] = set()
    packages: dict[str, list[str]] = {}
    for extra in EXTRAS:
        for name in closure("equipoise", extra):
            if name not in listed:
                listed.add(name)
                label = metadata(name)["Name"] + (f" (`{extra}`)" if extra else "")
                packages.setdefault(licence(name), []).append(label)
    for name, names in sorted(packages.items(), key=lambda item: item[0].lower()):
        yield f"| {name} | {', '.join(names)} |"


if __name__ == "__main__":
    PAGE.write_text(HEAD + "\n".join(rows()) + "\n", encoding="utf-8")
