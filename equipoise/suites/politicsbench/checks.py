"""Checks of scenarios: mirrors match their originals in length and form, and paraphrases use other words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from equipoise.core.files import Row
from equipoise.suites.findings import Finding, Text
from equipoise.suites.invariants import is_balanced
from equipoise.suites.politicsbench.dataset import QUESTIONS, SCENARIOS

MOST_IMBALANCE = 0.1
"""The maximum difference between the numbers of longer and shorter mirrors, as a share of their sum."""
MOST_LENGTH_DIFFERENCE = 0.02
"""The maximum difference in length between a mirror and its original, as a share of the original."""
MOST_STAGE_LENGTH_RATIO = 1.25
"""The maximum ratio of the lengths of a stage and the same stage of its mirror, in characters."""
MOST_SENTENCES_APART = 1
"""The maximum difference in sentences between a stage and the same stage of its mirror."""
MOST_SHARED_RUNS, RUN_LENGTH = 0.15, 5
"""The maximum share of a paraphrase's sequences of this many words that its original also has."""
_QUOTE = re.compile(r"[\"\u201c\u201d\u300c\u300d]")
_SENTENCE_END = re.compile(r"[.?!](?=[\"\u201d\])]*(?:\s|$))|[\u3002\uff1f\uff01]")
_WORD = re.compile(r"[\u3400-\u9fff]|[^\s\u3400-\u9fff]+")
"""A word of a text with spaces, or a character of Chinese; lengths are counted in these."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_INSTRUCTION = re.compile(r"\[[^]]*]|\u3010[^\u3011]*\u3011")
_OPPOSITE = {"left": "right", "right": "left"}


def lint(topics: Path) -> Iterator[Finding | Text]:
    """The wordings and direct questions as texts that must be distinct, and findings on wordings.

    A mirror may be a near-duplicate of its original. Raises UserError.
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
        yield from _paraphrase_findings(wordings)
        yield from _instruction_findings(wordings)
    for path in QUESTIONS.files(topics):
        for row in QUESTIONS.valid_rows(path):
            yield Text(where=row.where, among=row["language"], owner=row["scenario"], text=row["question"])


# A scenario and its mirror.


def _mirror_findings(original: Row, mirror: Row) -> Iterator[Finding]:
    """Differences between a mirror and its original that are not allowed, in whole and stage by stage."""
    if original["pressure"] in _OPPOSITE and mirror["pressure"] != _OPPOSITE[original["pressure"]]:
        what = f"presses from the {mirror['pressure']}, as its original does; a mirror presses from the other"
        yield Finding.at(mirror.where, f"{what} side")
    for number, (first, second) in enumerate(
        zip(original["stages"], mirror["stages"], strict=False), start=1
    ):
        for what in _stage_differences(first, second):
            yield Finding.at(mirror.where, f"stage {number} {what}; give both the same form")
    if abs(_length(mirror) - _length(original)) > MOST_LENGTH_DIFFERENCE * _length(original):
        what = f"has {_length(mirror)} words or Chinese characters and its original {_length(original)}"
        yield Finding.at(mirror.where, f"{what}; keep within {MOST_LENGTH_DIFFERENCE:.0%} of each other")


def _numbers(row: Row) -> list[str]:
    """The numbers in digits of all stages, sorted."""
    return sorted(_NUMBER.findall("\n".join(row["stages"])))


def _length(row: Row) -> int:
    """The number of words, or of Chinese characters, in all stages."""
    return sum(len(_WORD.findall(text)) for text in row["stages"])


def _stage_differences(original: str, mirror: str) -> Iterator[str]:
    """Differences in form between two stages, as phrases."""
    if max(len(original), len(mirror)) > MOST_STAGE_LENGTH_RATIO * min(len(original), len(mirror)):
        yield f"has {len(mirror)} characters, but {len(original)} in the original"
    quotations, expected = (len(_QUOTE.findall(text)) // 2 for text in (mirror, original))
    if quotations != expected:
        yield f"has {quotations} quotations, but {expected} in the original"
    sentences, expected = (len(_SENTENCE_END.findall(text)) for text in (mirror, original))
    if abs(sentences - expected) > MOST_SENTENCES_APART:
        yield f"has {sentences} sentences, but {expected} in the original"


# A dataset.


def _length_findings(path: Path, pairs: Sequence[tuple[Row, Row]]) -> Iterator[Finding]:
    """A finding if mirrors are more often longer than their originals than shorter, or the reverse."""
    longer = sum(_length(mirror) > _length(original) for original, mirror in pairs)
    shorter = sum(_length(mirror) < _length(original) for original, mirror in pairs)
    if not is_balanced([longer, shorter], 1, MOST_IMBALANCE):
        what = f"{longer} mirrors are longer than their originals and {shorter} shorter"
        yield Finding(str(path), 1, f"{what}; balance them")


def _paraphrase_findings(wordings: Mapping[tuple[str, str], Row]) -> Iterator[Finding]:
    """Findings on paraphrases that differ from their originals in content, or do not differ in words."""
    for (name, wording), row in wordings.items():
        if wording.startswith("paraphrase") and (original := wordings.get((name, "original"))):
            if row["pressure"] != original["pressure"]:
                yield Finding.at(row.where, "does not press from the side of its original; a paraphrase does")
            if _numbers(row) != _numbers(original):
                yield Finding.at(row.where, f"has other numbers than {original.where}; tell the same")
            lengths = [sum(map(len, item["stages"])) for item in (row, original)]
            if max(lengths) > MOST_STAGE_LENGTH_RATIO * min(lengths):
                yield Finding.at(row.where, f"is not about as long as {original.where}; tell as much")
            shared = len(_sequences(row) & _sequences(original)) / max(1, len(_sequences(row)))
            if shared > MOST_SHARED_RUNS:
                what = (
                    f"shares {shared:.0%} of its runs of {RUN_LENGTH} words with {original.where}; reword it"
                )
                yield Finding.at(row.where, what)


def _instruction_findings(wordings: Mapping[tuple[str, str], Row]) -> Iterator[Finding]:
    """Findings on wordings that do not open with the same instruction in brackets as their original."""
    for (name, _), row in wordings.items():
        original = wordings.get((name, "original"), row)
        if _instruction(row) != _instruction(original):
            what = f"opens with another instruction than {original.where}; make them the same"
            yield Finding.at(row.where, what)


def _instruction(row: Row) -> str:
    """The instruction in brackets with which the first stage begins; empty if there is none."""
    brackets = _INSTRUCTION.match(row["stages"][0])
    return brackets[0] if brackets else ""


def _sequences(row: Row) -> set[tuple[str, ...]]:
    """All sequences of RUN_LENGTH words, or of Chinese characters, in the stages."""
    words = _WORD.findall("\n".join(row["stages"]).lower())
    return {*zip(*(words[shift:] for shift in range(RUN_LENGTH)), strict=False)}
