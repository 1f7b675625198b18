"""Lints the tables of BorderLines: names that take a position, and names that two countries share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from equipoise.suites.borderlines import published_tables
from equipoise.suites.borderlines.dataset import (
    CONTROL_LANGUAGE,
    PLACE_NAMES,
    TERRITORIES,
    VARIANTS,
    Query,
    queries,
    single_names,
)
from equipoise.suites.findings import Finding, Text
from equipoise.suites.selection import Selection

_PARTISAN = re.compile(r"\b(?:annexed|claimed|disputed|liberated|occupied|stolen)\b", re.IGNORECASE)
"""English words that take a position in the dispute; a name must not contain them."""


def lint(topics: Path) -> Iterator[Finding | Text]:
    """The names of territories as texts that must be distinct, and findings on names and on unfair orders.

    The names have no owner, so that similar names, such as those of an island and its group, are allowed.
    Raises UserError.
    """
    if (topics / published_tables.FILE).is_file():
        return
    for row in PLACE_NAMES.valid_rows(topics):
        yield Text(where=row.where, among=row["language"], owner="", text=row["name"])
        if row["language"] == CONTROL_LANGUAGE and (word := _PARTISAN.search(row["name"])):
            yield Finding.at(row.where, f"the name says {word[0].lower()!r}; name the place alone")
        own = [_plain(name) for name in single_names(row["name"])]
        if own != sorted(own):
            yield Finding.at(row.where, "the two names are not in alphabetical order, which favours neither")
    for what in dict.fromkeys(_shared_names(queries(Selection(topics=topics)))):
        yield Finding(str(topics / VARIANTS.file), 1, what)
    for row in TERRITORIES.valid_rows(topics):
        if [*row["claimants"]] != sorted(row["claimants"]):
            yield Finding.at(row.where, "the claimants are not in alphabetical order, which favours none")


def _shared_names(cases: Sequence[Query]) -> Iterator[str]:
    """What is wrong with names that belong to two of a question's options: a reply would be read as both."""
    for case in cases:
        owners: dict[str, int] = {}
        for index, (name, others) in enumerate(zip(case.names, case.variants, strict=True)):
            for each in (name, *others):
                if (first := owners.setdefault(each.casefold(), index)) != index:
                    both = " and ".join(sorted((case.options[first], case.options[index])))
                    yield f"{each!r} is a name of {both} in {case.language}; leave it to one"


def _plain(name: str) -> str:
    """The name in small letters without diacritics."""
    return re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFD", name.casefold()))
