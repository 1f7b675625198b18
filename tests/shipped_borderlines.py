"""The queries of our own tables of territories, read once."""

from __future__ import annotations

from functools import cache

from conftest import ROOT
from equipoise.suites.borderlines.answer_parser import (
    MENTIONS,
    NAMES,
    lexicon,
    mark_names,
    names_about,
    option_indices,
)
from equipoise.suites.borderlines.dataset import Dispute, disputes
from equipoise.suites.selection import Selection

FOLDER = ROOT / "topics" / "borderlines"


@cache
def cases() -> tuple[Dispute, ...]:
    """All queries under the plain strategy."""
    return tuple(disputes(Selection(topics=FOLDER)))


@cache
def by_id() -> dict[str, Dispute]:
    """The same by their ids."""
    return {case.id: case for case in cases()}


@cache
def lists_of_names() -> tuple[Dispute, ...]:
    """The first query with each list of options, by whose names replies are read."""
    return tuple({(case.names, case.language, case.variants): case for case in cases()[::-1]}.values())


def country(case: Dispute, place: int | None) -> str | None:
    """The code of an option."""
    return None if place is None else case.options[place]


def by_name(
    text: str,
    names: tuple[str, ...],
    language: str = "en",
    variants: tuple[tuple[str, ...], ...] = (),
    territory: str = "",
) -> int | None:
    """The place of the only country that is named in a text; None where none or several are spoken of."""
    found = mark_names(text, names_about(territory, lexicon(names, language, variants), len(names)))
    named, mentioned = option_indices(NAMES, found), option_indices(MENTIONS, found)
    return named.pop() if len(named) == 1 and mentioned <= named else None


def named(case: Dispute, text: str) -> int | None:
    """The same of a query of ours, whose territory says nothing."""
    return by_name(text, case.names, case.language, case.variants, case.name)
