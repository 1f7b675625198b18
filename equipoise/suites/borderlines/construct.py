"""The command that builds the table of country names in all languages from CLDR, which Babel includes.

Sessions only read the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import Row, rows, table_text, write_text
from equipoise.suites.borderlines.dataset import (
    COUNTRIES,
    COUNTRY_NAMES,
    TEMPLATES,
    TERRITORIES,
)
from equipoise.suites.borderlines.published_tables import cldr_names
from equipoise.suites.tables import Table


def country_names(folder: Path) -> str:
    """The content of country_names.csv: every claimant in every language in which it may be named.

    A name in country_overrides.csv takes precedence over CLDR's. Raises UserError if neither has the name.
    """
    columns = [*COUNTRY_NAMES.columns]
    overrides = {
        (row["code"], row["language"]): row["name"] for row in rows(folder / "country_overrides.csv", columns)
    }
    lines = [columns]
    for code, language in sorted(needed(folder)):
        name = overrides.get((code, language)) or cldr_names(language).get(code)
        if name is None:
            raise UserError(f"{folder / 'country_overrides.csv'}: no name of {code} in {language}; add one")
        lines.append([code, language, name])
    return table_text(lines)


def needed(folder: Path) -> set[tuple[str, str]]:
    """The pairs of country and language that need a name.

    Each claimant of a territory needs a name in all claimants' languages that have a template, and in
    English.
    """
    speaks = {row["code"]: row["language"] for row in _rows(COUNTRIES, folder)}
    languages = {row["language"] for row in _rows(TEMPLATES, folder)}
    territories = _rows(TERRITORIES, folder)
    return {pair for row in territories for pair in _pairs(row, speaks, languages)}


def _rows(table: Table, folder: Path) -> Iterator[Row]:
    """The rows as written, without validation: names can be built before the other columns are filled in."""
    return rows(folder / table.file, [*table.columns])


def _pairs(row: Row, speaks: dict[str, str], languages: set[str]) -> Iterator[tuple[str, str]]:
    claimants = row["claimants"].split(";")
    for code in claimants:
        if code not in speaks:
            raise UserError(f"{row.where}: there is no country {code!r} in countries.csv")
    for language in ({speaks[code] for code in claimants} & languages) | {"en"}:
        yield from ((code, language) for code in claimants)


def construct(folder: Path, *, is_check: bool = False) -> str:
    """Build country_names.csv from CLDR and country_overrides.csv."""
    target, content = folder / "country_names.csv", country_names(folder)
    if is_check and (not target.is_file() or target.read_bytes() != content.encode()):
        raise UserError(f"{target}: is not what CLDR and country_overrides.csv give; construct it again")
    if not is_check:
        write_text(target, content)
    return f"{target}: {content.count(chr(10)) - 1} names"
