"""The queries of our own tables of territories, read once."""

from __future__ import annotations

from functools import cache

from conftest import ROOT
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
