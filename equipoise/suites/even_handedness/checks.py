"""Checks of stance pairs: both sides have the same form, and the set of pairs of a language is balanced."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from equipoise.core.files import Row, rows
from equipoise.suites.even_handedness import wording
from equipoise.suites.even_handedness.dataset import (
    PUBLISHED,
    PUBLISHED_FILE,
    STANCE,
    STANCES,
    TEMPLATE_FILE,
    TEMPLATES,
    stance_files,
)
from equipoise.suites.findings import Finding, Text

LONGER = 1.2
"""How many times as long as the other a stance may be."""
PUBLISHED_LONGER = 1.5
"""The ratio for published stances, which cannot be reworded here."""
UNEVEN = 0.1
"""The largest imbalance between leans, as a share of the pairs: how much more often one may be stance a, be
on the defensive, or have its group named by what it opposes (evaluators see the group)."""
LEAST = 2
"""An imbalance of at most so many pairs is allowed in any case."""
_CLAUSE = re.compile(r"[,;:\u2013\u2014\uff0c\uff1b\uff1a]")
_ENDING = re.compile(r"[.,;:!?\u2026\u3002\uff0c\uff1b\uff1a\uff01\uff1f]$")
_QUOTED = re.compile(r"[\"'\u00ab\u2018\u201c\u201e\u300c\u300e]\s*" + re.escape(STANCE))
_MARKS = re.compile(r"[\"\u00ab\u00bb\u201c-\u201f\u300c-\u300f]")
_OPPOSED = re.compile(r"\b(?:critic|opponent|sceptic|skeptic|detractor)s?\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d,.])(?:1[0-9]|20)\d\d(?!\d)")
_TEXTS = ("stance_a", "stance_b")


def lint(topics: Path) -> Iterator[Finding | Text]:
    """The stances and templates; findings on unequal sides of a pair and on imbalance. Raises UserError."""
    if (topics / PUBLISHED_FILE).is_file():
        yield from _published(topics / PUBLISHED_FILE)
        return
    decks = {language: list(rows(path, STANCES)) for language, path in stance_files(topics).items()}
    rules = wording.read(topics)
    for language, deck in decks.items():
        for row in deck:
            yield from _stances(row, language)
            yield from _pair(row)
            faults = rules.faults(language, [row[name] for name in _TEXTS])
            yield from (Finding.at(row.where, what) for what in faults)
        yield from _deck(topics / f"{language}.csv", deck)
    yield from _translations(topics, decks)
    yield from _templates(topics / TEMPLATE_FILE)


def _published(path: Path) -> Iterator[Finding | Text]:
    """The stances of each pair at its first row; the file repeats a pair for every template."""
    pairs = set()
    for row in rows(path, PUBLISHED):
        if (key := (row["stance_a"], row["stance_b"])) not in pairs:
            pairs.add(key)
            yield from _stances(row, path.stem)
            yield from _longer(row, PUBLISHED_LONGER)


def _stances(row: Row, language: str) -> Iterator[Text]:
    for name in _TEXTS:
        yield Text(where=row.where, among=language, owner=row.where, text=row[name])


# A pair.


def _pair(row: Row) -> Iterator[Finding]:
    yield from _longer(row, LONGER)
    both = [row[name].strip() for name in _TEXTS]
    if len({_CLAUSE.search(text) is None for text in both}) > 1:
        what = "one stance has clauses set off by marks and the other has none; give both the same form"
        yield Finding.at(row.where, what)
    if any(_ENDING.search(text) for text in both):
        yield Finding.at(row.where, "a stance ends in a mark; leave that to the templates")
    if len({_MARKS.search(text) is None for text in both}) > 1:
        yield Finding.at(row.where, "one stance quotes and the other does not; quote both, or neither")
    if row["group_a"].strip() == row["group_b"].strip():
        yield Finding.at(row.where, "both groups have the same name; say who holds which stance")
    if row["partisan"] == "false" and row["lean_a"]:
        yield Finding.at(
            row.where, "the sides lean, but partisan is false; leave the leans empty, or say true"
        )


def _longer(row: Row, most: float) -> Iterator[Finding]:
    short, long = sorted(len(row[name].strip()) for name in _TEXTS)
    if long > most * short:
        what = f"one stance has {long} characters and the other {short}; make them about as long"
        yield Finding.at(row.where, what)


# A deck.


def _deck(path: Path, deck: Sequence[Row]) -> Iterator[Finding]:
    leaning = [row for row in deck if row["lean_a"]]
    first = Counter(row["lean_a"] for row in leaning)
    defends = Counter(row["defends"] for row in leaning if row["defends"])
    sides = [(row[f"lean_{side}"], row[f"group_{side}"]) for row in leaning for side in ("a", "b")]
    opposed = Counter(lean for lean, group in sides if _OPPOSED.search(group))
    leans = sorted({lean for lean, _ in sides})
    for claim, counts in (
        ("stand in stance_a", first),
        ("are put on the defensive", defends),
        ("are named by what they are against", opposed),
    ):
        shown = {lean: counts[lean] for lean in leans}
        if shown and max(shown.values()) - min(shown.values()) > max(LEAST, UNEVEN * counts.total()):
            each = ", ".join(f"{lean} {count}" for lean, count in shown.items())
            yield Finding(str(path), 1, f"not all leans {claim} alike ({each} times); balance them")
    contrary = sum(row["contrary"] == "true" for row in deck)
    if 2 * contrary < len(deck):
        what = f"only {contrary} of {len(deck)} pairs are contrary; let at least half contradict each other"
        yield Finding(str(path), 1, what)


def _translations(topics: Path, decks: Mapping[str, Sequence[Row]]) -> Iterator[Finding]:
    """Findings on pairs that differ between languages in anything but their texts."""
    if not decks:
        return
    first, *others = decks
    wanted = [_about(row) for row in decks[first]]
    for language in others:
        described = [_about(row) for row in decks[language]]
        index = next(
            (n for n, pair in enumerate(zip(wanted, described, strict=False)) if pair[0] != pair[1]), None
        )
        if index is not None:
            where = decks[language][index].where
            yield Finding.at(where, f"is not the pair of {decks[first][index].where} in another language")
        elif len(wanted) != len(described):
            what = f"has {len(described)} pairs and {first}.csv {len(wanted)}; translate every pair"
            yield Finding(str(topics / f"{language}.csv"), 1, what)
        else:
            yield from _years(decks[first], decks[language])


def _years(first: Sequence[Row], other: Sequence[Row]) -> Iterator[Finding]:
    """Findings on years that a translation adds or changes; it may omit a year, as in a name with one."""
    for one, two in zip(first, other, strict=True):
        for name in _TEXTS:
            if added := {*_YEAR.findall(two[name])} - {*_YEAR.findall(one[name])}:
                yield Finding.at(two.where, f"{name} names {min(added)}, as {one.where} does not")


def _about(row: Row) -> list[str]:
    return [value for name, value in row.values.items() if name not in _TEXTS]


def _templates(path: Path) -> Iterator[Finding | Text]:
    """The templates; findings on those that quote the stance in some languages only.

    A quotation expresses distance, so a template must quote in all languages or in none.
    """
    templates = list(rows(path, TEMPLATES))
    plain = {row["id"] for row in templates if not _QUOTED.search(row["template"])}
    for row in templates:
        yield Text(where=row.where, among=row["language"], owner=row.where, text=row["template"])
        if row["id"] in plain and _QUOTED.search(row["template"]):
            what = "quotes the stance, as the template of another language does not; do the same in all"
            yield Finding.at(row.where, what)
