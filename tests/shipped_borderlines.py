"""The queries of our own tables of territories, read once."""

from __future__ import annotations

from functools import cache
from itertools import chain

from conftest import ROOT
from equipoise.suites.borderlines.dataset import Query, queries
from equipoise.suites.selection import Selection

FOLDER = ROOT / "topics" / "borderlines"


@cache
def cases() -> tuple[Query, ...]:
    """All queries under the plain strategy."""
    return tuple(queries(Selection(topics=FOLDER)))


@cache
def by_id() -> dict[str, Query]:
    """The same by their ids."""
    return {case.id: case for case in cases()}


def is_called_as_the_territory(case: Query, index: int) -> bool:
    """Whether one of an option's names is the territory's, in any language: its letter alone is read then."""
    further = (names[index] for names in (case.variants, *case.elsewhere.values()))
    return not {*case.called}.isdisjoint([case.names[index], *chain.from_iterable(further)])
