"""Checks of scenarios: mirrors have the length and form of their originals, and the dataset is balanced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from equipoise.core.files import readable_objects, rows
from equipoise.core.types import JSON
from equipoise.suites.findings import Finding, Text
from equipoise.suites.politicsbench.dataset import COLUMNS, ORDERS, QUESTIONS, SIDES

TILT = 0.1
"""The maximum share by which all mirrors may be longer or shorter than their originals."""
LONGER = 1.25
"""The maximum ratio of the lengths of a stage and the same stage of its mirror."""
UNEVEN = 1
"""The maximum difference in sentences between a stage and the same stage of its mirror."""
_QUOTES = re.compile(r"[\"\u201c\u201d\u300c\u300d]")
_SENTENCE = re.compile(r"[.?!](?=[\"\u201d\])]*(?:\s|$))|[\u3002\uff1f\uff01]")
_OTHER = {"left": "right", "right": "left"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioLine:
    """A line with a wording of a scenario; values are not validated."""

    where: str
    pressure: JSON
    change: JSON
    order: JSON
    stages: Sequence[str]


def lint(topics: Path) -> Iterator[Finding | Text]:
    """The wordings and direct questions; findings on unequal mirrors and on imbalance. Raises UserError.

    A mirror may be a near-duplicate of its original.
    """
    for path in sorted(topics.glob("*.jsonl")):
        wordings: dict[tuple[str, str], ScenarioLine] = {}
        for where, data in readable_objects(path):
            name, wording = str(data.get("scenario")), str(data.get("wording"))
            wordings[name, wording] = _wording(where, data)
            owner = name if wording in ("original", "mirror") else where
            text = "\n".join(wordings[name, wording].stages)
            yield Text(where=where, among=f"{path.stem} stages", owner=owner, text=text)
        pairs = [
            (wordings[name, "original"], mirror)
            for (name, wording), mirror in wordings.items()
            if wording == "mirror" and (name, "original") in wordings
        ]
        for original, mirror in pairs:
            yield from _pair(original, mirror)
        yield from _uneven_mirrors(path, pairs)
        yield from _balance(path, wordings)
    if (path := topics / QUESTIONS).is_file():
        for row in rows(path, COLUMNS):
            yield Text(where=row.where, among=row["language"], owner=row["scenario"], text=row["question"])


def _wording(where: str, data: Mapping[str, JSON]) -> ScenarioLine:
    texts = data.get("stages")
    stages = [text for text in texts if isinstance(text, str)] if isinstance(texts, list) else []
    return ScenarioLine(
        where=where,
        pressure=data.get("pressure"),
        change=data.get("change_sought_by"),
        order=data.get("presser_speaks"),
        stages=stages,
    )


# A scenario and its mirror.


def _pair(original: ScenarioLine, mirror: ScenarioLine) -> Iterator[Finding]:
    """Differences between the two, stage by stage."""
    if original.pressure in _OTHER and mirror.pressure != _OTHER[original.pressure]:
        what = (
            f"presses from the {mirror.pressure}, as its original does; a mirror presses from the other side"
        )
        yield Finding.at(mirror.where, what)
    if original.change != mirror.change:
        what = f"change is sought by the {mirror.change}, in its original by the {original.change}"
        yield Finding.at(mirror.where, f"{what}; a mirror keeps the situation")
    if original.order != mirror.order:
        what = "the pressing person does not speak in the same place as in its original; keep the order"
        yield Finding.at(mirror.where, what)
    for number, (first, second) in enumerate(zip(original.stages, mirror.stages, strict=False), start=1):
        for what in _stage(first, second):
            yield Finding.at(mirror.where, f"stage {number} {what}; give both the same form")


def _stage(original: str, mirror: str) -> Iterator[str]:
    if max(len(original), len(mirror)) > LONGER * min(len(original), len(mirror)):
        yield f"has {len(mirror)} characters and in its original {len(original)}"
    here, there = (_count(_QUOTES, text) // 2 for text in (mirror, original))
    if here != there:
        yield f"has {here} quotations and in its original {there}"
    here, there = (_count(_SENTENCE, text) for text in (mirror, original))
    if abs(here - there) > UNEVEN:
        yield f"has {here} sentences and in its original {there}"


def _count(sign: re.Pattern[str], text: str) -> int:
    return len(sign.findall(text))


# A dataset.


def _uneven_mirrors(path: Path, pairs: Sequence[tuple[ScenarioLine, ScenarioLine]]) -> Iterator[Finding]:
    """A finding if the mirrors of a file are longer or shorter overall than their originals."""
    original, mirror = (sum(len(text) for pair in pairs for text in pair[side].stages) for side in (0, 1))
    if abs(mirror - original) > TILT * original:
        what = f"the mirrors have {mirror} characters and their originals {original}"
        yield Finding(str(path), 1, f"{what}; keep within {TILT:.0%} of each other")


def _balance(path: Path, wordings: Mapping[tuple[str, str], ScenarioLine]) -> Iterator[Finding]:
    """Findings unless each side presses, seeks change and speaks first in about half of the originals."""
    originals = [item for (_, wording), item in wordings.items() if wording == "original"]
    for what, values, observed in (
        ("pressure comes from the", SIDES, [item.pressure for item in originals]),
        *(
            (f"where the {side} presses, change is sought by the", SIDES, _change(originals, side))
            for side in SIDES
        ),
        ("the pressing person speaks", ORDERS, [item.order for item in originals]),
    ):
        first, second = (observed.count(value) for value in values)
        if abs(first - second) > max(1, TILT * (first + second)):
            shown = f"{values[0]} in {first} and {values[1]} in {second} originals"
            yield Finding(str(path), 1, f"{what} {shown}; balance them")


def _change(originals: Sequence[ScenarioLine], pressure: str) -> list[JSON]:
    """The sides that seek change in the originals in which `pressure` presses."""
    return [item.change for item in originals if item.pressure == pressure]
