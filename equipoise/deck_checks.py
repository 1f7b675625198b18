"""What is wrong with the texts of a deck: said twice, told in advance, longer on one side than the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from equipoise import likeness, material, topics
from equipoise.material import Text
from equipoise.textfiles import lines
from equipoise.tidiness import Finding

LONGER = 1.5
"""How many times as long as the other a stance may be."""
TILT = 0.1
"""By what share all mirrors may be longer or shorter than all their originals."""
LEAST_LEAK = 2
"""The length of an answer from which on it is looked for in its question."""


def repeats(suite: str, deck: Path) -> Iterator[Finding]:
    """Texts that say what an earlier one says, or nearly."""
    groups: dict[str, list[Text]] = defaultdict(list)
    for text in material.texts(suite, deck):
        groups[text.among].append(text)
    for found in groups.values():
        for earlier, later, share in likeness.alike([item.text for item in found]):
            yield from _repeat(found[earlier], found[later], share)


def _repeat(earlier: Text, later: Text, share: float) -> Iterator[Finding]:
    if likeness.folded(earlier.text) == likeness.folded(later.text):
        yield Finding(later.path, later.line, f"repeats {earlier.where}; remove one of the two")
    elif earlier.owner != later.owner:
        what = f"is nearly {earlier.where} (likeness {share:.2f}); reword or remove one of the two"
        yield Finding(later.path, later.line, what)


def unparallel(deck: Path) -> Iterator[Finding]:
    """Lines without a question where another language has one. Raises UserError."""
    files = topics.question_files(deck)
    asked = {path: {number for number, _ in lines(path)} for path in files}
    for path, numbers in asked.items():
        for number in sorted(set().union(*asked.values()) - numbers):
            other = next(item for item in files if number in asked[item])
            yield Finding(str(path), number, f"no question here, but there is one in {other.name}; add it")


def leaks(deck: Path) -> Iterator[Finding]:
    """Questions of fact that contain what would be right to answer. Raises UserError."""
    path = material.facts_file(deck)
    for number, data in material.objects(path):
        asked = str(data.get("question"))
        for answer in _accepted(data):
            if len(likeness.folded(answer)) >= LEAST_LEAK and likeness.holds(asked, answer):
                yield Finding(str(path), number, f"the answer {answer!r} stands in the question; reword it")


def _accepted(data: Mapping[str, Any]) -> Iterator[str]:
    others = data.get("variants")
    for text in (data.get("answer"), *(others if isinstance(others, list) else ())):
        if isinstance(text, str):
            yield text


def uneven_stances(deck: Path) -> Iterator[Finding]:
    """Pairs of which one side is given more than half as much again as the other. Raises UserError."""
    for pair in material.stances(deck):
        short, long = sorted((len(pair.a.strip()), len(pair.b.strip())))
        if long > LONGER * short:
            what = f"one stance has {long} characters and the other {short}; make them about as long"
            yield Finding(pair.path, pair.line, what)


def uneven_mirrors(deck: Path) -> Iterator[Finding]:
    """Languages in which mirrors are longer or shorter than their originals in all. Raises UserError."""
    for path in sorted(deck.glob("*.jsonl")):
        sizes = _sizes(path)
        both = [name for name, wording in sizes if wording == "mirror" and (name, "original") in sizes]
        original, mirror = (sum(sizes[name, word] for name in both) for word in ("original", "mirror"))
        if abs(mirror - original) > TILT * original:
            what = f"the mirrors have {mirror} characters and their originals {original}"
            yield Finding(str(path), 1, f"{what}; keep within {TILT:.0%} of each other")


def _sizes(path: Path) -> dict[tuple[str, str], int]:
    """How long each wording of each scenario is, in characters."""
    return {
        (str(data.get("scenario")), str(data.get("wording"))): sum(map(len, material.stages(data)))
        for _, data in material.objects(path)
    }


OF_SUITES = {
    "neutrality": (unparallel,),
    "chinese_simpleqa": (leaks,),
    "even_handedness": (uneven_stances,),
    "politicsbench": (uneven_mirrors,),
}
"""What is looked for in the decks of one suite alone."""
