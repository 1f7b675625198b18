"""Checks of scenarios: mirrors have the length and form of their originals, and the dataset is balanced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from equipoise.core.files import Row
from equipoise.core.types import JSON
from equipoise.suites.findings import Finding, Text
from equipoise.suites.politicsbench.dataset import ORDERS, QUESTIONS, SCENARIOS, SIDES

MOST_IMBALANCE = 0.1
"""The maximum share by which the originals may differ in number between one side or order and the other, and
the mirrors between those that are longer than their originals and those that are shorter."""
MOST_LENGTH_DIFFERENCE = 0.02
"""The maximum difference in length between a mirror and its original, as a share of the original."""
MOST_STAGE_LENGTH_RATIO = 1.25
"""The maximum ratio of the lengths of a stage and the same stage of its mirror, in characters."""
MOST_SENTENCES_APART = 1
"""The maximum difference in sentences between a stage and the same stage of its mirror."""
_QUOTE = re.compile(r"[\"\u201c\u201d\u300c\u300d]")
_SENTENCE_END = re.compile(r"[.?!](?=[\"\u201d\])]*(?:\s|$))|[\u3002\uff1f\uff01]")
_WORD = re.compile(r"[\u3400-\u9fff]|[^\s\u3400-\u9fff]+")
"""A word of a text with spaces, or a character of Chinese; lengths are counted in these."""
_OPPOSITE = {"left": "right", "right": "left"}


def lint(topics: Path) -> Iterator[Finding | Text]:
    """The wordings and direct questions; findings on unequal mirrors and on imbalance. Raises UserError.

    A mirror may be a near-duplicate of its original.
    """
    for path in SCENARIOS.files(topics):
        wordings = {(row["scenario"], row["wording"]): row for row in SCENARIOS.valid_rows(path)}
        for (name, wording), row in wordings.items():
            owner = name if wording in ("original", "mirror") else row.where
            text = "\n".join(row["stages"])
            yield Text(where=row.where, among=f"{path.stem} stages", owner=owner, text=text)
        pairs = [
            (wordings[name, "original"], mirror)
            for (name, wording), mirror in wordings.items()
            if wording == "mirror" and (name, "original") in wordings
        ]
        for original, mirror in pairs:
            yield from _mirror_findings(original, mirror)
        yield from _length_findings(path, pairs)
        yield from _balance_findings(path, wordings)
    for path in QUESTIONS.files(topics):
        for row in QUESTIONS.valid_rows(path):
            yield Text(where=row.where, among=row["language"], owner=row["scenario"], text=row["question"])


# A scenario and its mirror.


def _mirror_findings(original: Row, mirror: Row) -> Iterator[Finding]:
    """Differences that a mirror must not have, among them those between the same stages."""
    if original["pressure"] in _OPPOSITE and mirror["pressure"] != _OPPOSITE[original["pressure"]]:
        what = f"presses from the {mirror['pressure']}, as its original does; a mirror presses from the other"
        yield Finding.at(mirror.where, f"{what} side")
    if original["change_sought_by"] != mirror["change_sought_by"]:
        what = f"change is sought by the {mirror['change_sought_by']}, in its original by the"
        yield Finding.at(mirror.where, f"{what} {original['change_sought_by']}; a mirror keeps the situation")
    if original["presser_speaks"] != mirror["presser_speaks"]:
        what = "the pressing person does not speak in the same place as in its original; keep the order"
        yield Finding.at(mirror.where, what)
    for number, (first, second) in enumerate(
        zip(original["stages"], mirror["stages"], strict=False), start=1
    ):
        for what in _stage_differences(first, second):
            yield Finding.at(mirror.where, f"stage {number} {what}; give both the same form")
    if abs(_length(mirror) - _length(original)) > MOST_LENGTH_DIFFERENCE * _length(original):
        what = f"has {_length(mirror)} words or Chinese characters and its original {_length(original)}"
        yield Finding.at(mirror.where, f"{what}; keep within {MOST_LENGTH_DIFFERENCE:.0%} of each other")


def _length(row: Row) -> int:
    """Words, or characters of Chinese, of all stages."""
    return sum(len(_WORD.findall(text)) for text in row["stages"])


def _stage_differences(original: str, mirror: str) -> Iterator[str]:
    """Differences in form between two stages, as phrases."""
    if max(len(original), len(mirror)) > MOST_STAGE_LENGTH_RATIO * min(len(original), len(mirror)):
        yield f"has {len(mirror)} characters and in its original {len(original)}"
    quotations, expected = (len(_QUOTE.findall(text)) // 2 for text in (mirror, original))
    if quotations != expected:
        yield f"has {quotations} quotations and in its original {expected}"
    sentences, expected = (len(_SENTENCE_END.findall(text)) for text in (mirror, original))
    if abs(sentences - expected) > MOST_SENTENCES_APART:
        yield f"has {sentences} sentences and in its original {expected}"


# A dataset.


def _length_findings(path: Path, pairs: Sequence[tuple[Row, Row]]) -> Iterator[Finding]:
    """A finding if mirrors are longer, or shorter, than their originals as a habit."""
    longer = sum(_length(mirror) > _length(original) for original, mirror in pairs)
    shorter = sum(_length(mirror) < _length(original) for original, mirror in pairs)
    if _is_imbalanced(longer, shorter):
        what = f"{longer} mirrors are longer than their originals and {shorter} shorter"
        yield Finding(str(path), 1, f"{what}; balance them")


def _balance_findings(path: Path, wordings: Mapping[tuple[str, str], Row]) -> Iterator[Finding]:
    """Findings unless each side presses, seeks change and speaks first in about half of the originals."""
    originals = [line for (_, wording), line in wordings.items() if wording == "original"]
    for property_text, values, observed in (
        ("pressure comes from the", SIDES, [line["pressure"] for line in originals]),
        *(
            (f"where the {side} presses, change is sought by the", SIDES, _change_seekers(originals, side))
            for side in SIDES
        ),
        ("the pressing person speaks", ORDERS, [line["presser_speaks"] for line in originals]),
    ):
        first, second = (observed.count(value) for value in values)
        if _is_imbalanced(first, second):
            counts = f"{values[0]} in {first} and {values[1]} in {second} originals"
            yield Finding(str(path), 1, f"{property_text} {counts}; balance them")


def _change_seekers(originals: Sequence[Row], pressure: str) -> list[JSON]:
    """The side that seeks change, in each original in which the side `pressure` presses."""
    return [line["change_sought_by"] for line in originals if line["pressure"] == pressure]


def _is_imbalanced(first: int, second: int) -> bool:
    """Whether two counts differ by more than one and by more than MOST_IMBALANCE of their sum."""
    return abs(first - second) > max(1, MOST_IMBALANCE * (first + second))
