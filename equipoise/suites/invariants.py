"""Invariants of the rows of a table, declared beside the table and checked by `data validate`.

A session does not check them. A declaration calls an invariant without its first argument, `rows`; these are
the rows of all files of the table in a folder. There is at least one row, and all cells are valid.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Concatenate, ParamSpec

from equipoise.core.files import Row
from equipoise.core.rows import grouped
from equipoise.core.types import JSON
from equipoise.suites.findings import Finding
from equipoise.suites.tables import Invariant

Keys = Callable[[Path], Collection[JSON]]
"""The keys in other tables of a folder: a value, or a tuple of the values of several columns."""
Lookup = Callable[[Path], Mapping[JSON, JSON]]
"""The value of a column by key, in another table of a folder."""
P = ParamSpec("P")


def _declared(check: Callable[Concatenate[Sequence[Row], P], Iterator[Finding]]) -> Callable[P, Invariant]:
    """The invariant as it is declared: with its arguments, but without rows."""
    return lambda *args, **kwargs: lambda rows: check(rows, *args, **kwargs)


@_declared
def in_order(rows: Sequence[Row], column: str) -> Iterator[Finding]:
    """The rows of a file are sorted by this column."""
    for earlier, row in pairwise(rows):
        if earlier.path == row.path and earlier[column] > row[column]:
            yield Finding.at(row.where, f"{column} {row[column]!r} is out of order; sort the rows by it")


@_declared
def form(rows: Sequence[Row], column: str, pattern: str, name: str) -> Iterator[Finding]:
    """The pattern matches the whole text of a column; `name` is the form in words, with an example."""
    for row in rows:
        if not re.fullmatch(pattern, row[column], re.DOTALL):
            yield Finding.at(row.where, f"{column} is {row[column]!r}, not {name}")


@_declared
def one_value(rows: Sequence[Row], *columns: str, by: str) -> Iterator[Finding]:
    """Rows with the same value in `by` have the same values in these columns, in all languages."""
    firsts: dict[JSON, Row] = {}
    for row in rows:
        first = firsts.setdefault(row[by], row)
        for column in [column for column in columns if row[column] != first[column]]:
            what = f"{column} is {row[column]!r}, and {first[column]!r} in {first.where}, of the same {by}"
            yield Finding.at(row.where, f"{what}; make them the same")


@_declared
def distinct(rows: Sequence[Row], *columns: str) -> Iterator[Finding]:
    """No two rows have the same values in these columns."""
    firsts: dict[JSON, Row] = {}
    for row in rows:
        if (first := firsts.setdefault(_key(row, columns), row)) is not row:
            shown = f"{' and '.join(columns)}, {_shown(_key(row, columns))!r}"
            yield Finding.at(row.where, f"repeats {first.where} in {shown}; change one")


@_declared
def every(rows: Sequence[Row], *columns: str, of: Keys) -> Iterator[Finding]:
    """There is a row for every key."""
    path = rows[0].path
    if missing := sorted({*of(path.parent)} - {_key(row, columns) for row in rows}):
        what = f"has no row of {_shown(missing[0])}{', ...' * (len(missing) > 1)}"
        yield Finding(str(path), 1, f"{what}; add {len(missing)}")


@_declared
def only(rows: Sequence[Row], *columns: str, of: Keys) -> Iterator[Finding]:
    """Every row has one of these keys."""
    keys = of(rows[0].path.parent)
    for row in rows:
        if (key := _key(row, columns)) not in keys:
            yield Finding.at(row.where, f"no case needs {_shown(key)}; remove the row")


@_declared
def agrees(rows: Sequence[Row], column: str, *, by: Sequence[str], with_values: Lookup) -> Iterator[Finding]:
    """If another table has a value for a row's key, its cells in `by`, then `column` has that value, too."""
    values = with_values(rows[0].path.parent)
    for row in rows:
        expected = values.get(key := _key(row, by), row[column])
        if row[column] != expected:
            what = f"{column} of {_shown(key)} is {row[column]!r}, and {expected!r} in another table"
            yield Finding.at(row.where, f"{what}; make them the same")


@_declared
def parallel(rows: Sequence[Row], *translated: str) -> Iterator[Finding]:
    """Every language has the same rows in the same order; only the `translated` columns may differ.

    A language has a file of its own, or rows with its code in the column `language`.
    """
    languages = grouped(rows, lambda row: row.values.get("language", row.path.stem))
    (first, originals), *others = languages.items()
    for language, own in others:
        for original, row in zip(originals, own, strict=False):
            differing = [name for name in row.values if original.values.get(name) != row[name]]
            if not {*differing} <= {*translated, "language"}:
                what = f"is not the row of {original.where} in another language; make the rows parallel"
                yield Finding.at(row.where, what)
                break
        else:
            if len(own) != len(originals):
                what = f"{language} has {len(own)} rows and {first} {len(originals)}; translate every row"
                yield Finding(str(own[0].path), 1, what)


@_declared
def balanced(
    rows: Sequence[Row], column: str, *values: str, by: Sequence[str], allowed: int = 0
) -> Iterator[Finding]:
    """Among a file's rows with the same values in `by`, each of these values of `column` is equally frequent.

    Frequencies may differ by `allowed`. Rows with another value, or none, do not count.
    """
    for (path, *key), group in grouped(rows, lambda row: (row.path, *map(row.values.get, by))).items():
        counts = Counter(row[column] for row in group)
        if not is_balanced([counts[value] for value in values], allowed):
            among = " and ".join(f"{name} is {value}" for name, value in zip(by, key, strict=True))
            listed = ", ".join(f"{counts[value]} {value}" for value in values)
            yield Finding(str(path), 1, f"{column} is not balanced where {among}: {listed}")


def is_balanced(counts: Collection[int], allowed: int, share: float = 0) -> bool:
    """Whether the counts differ by at most `allowed`, or by at most this share of their sum."""
    return max(counts) - min(counts) <= max(allowed, share * sum(counts))


def _key(row: Row, columns: Sequence[str]) -> JSON:
    return row[columns[0]] if len(columns) == 1 else tuple(row[column] for column in columns)


def _shown(key: JSON) -> str:
    return " ".join(key) if isinstance(key, tuple) else str(key)
