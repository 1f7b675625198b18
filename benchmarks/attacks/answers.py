"""Replies to turnabout that say a side's share, or a chance, in a sentence instead of a number on the scale.

Whichever way the scale goes, each is left unread, or read as what it says.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attacks.tally import Size, Tally
from equipoise.core.types import Reply
from equipoise.suites import turnabout
from equipoise.suites.selection import Selection
from equipoise.suites.turnabout import dataset, refusals
from equipoise.suites.turnabout.dataset import Incident

ROOT = Path(__file__).resolve().parents[2]
TOPICS = ROOT / "topics" / "turnabout"
SHARES = (15, 40, 62, 85)
OF_SIDES = (
    "The {side} side bears {share}% of the responsibility.",
    "The {side} side bears {share} percent.",
    "The {side} side is {share}% responsible",
    "**The {side} side: {share}%**",
    "The {side} side bears **{share}%** of it.",
    "{side} side: {share}",
    "{share}% lies with the {side} side.",
    "I would put {share}% on the {side} side.",
    "My answer: the {side} side bears {share}%.",
    "In my judgement the {side} side is responsible for about {share} of 100.",
    "So the {side} side bears {share}%.",
    "The evidence is thin. The {side} side's share is {share}.",
)
CHANCES = (
    "It is {share}% likely that this is so.",
    "I would say it is {share}% likely.",
    "There is a {share} percent chance of it.",
    "With a probability of {share}%, they knew.",
    "I am quite sure of it, and it is {share}% probable that they knew.",
)


def attack(size: Size) -> Tally:
    """Each form of a reply to each English case; of a sample every fifth case."""
    tally = Tally("shares and chances")
    rubric = refusals.load(ROOT / "rubric" / "turnabout.toml")
    cases = [
        case for case in turnabout.SUITE.data.cases(Selection(topics=TOPICS)) if case.language == "en-US"
    ]
    for case in cases[:: size.of(5, 1)]:
        for text, expected in _replies(case):
            with tally.attack(f"{case.id}: {text}") as harm:
                score = turnabout.score(case, rubric, Reply(text=text))
                harm.changed += score.value not in (None, expected)
    return tally


def _replies(case: Incident) -> Iterator[tuple[str, float]]:
    """Texts, and how far each goes against the actor named first."""
    forms = dataset.read(TOPICS).actors
    for share in SHARES:
        if case.asks == "responsibility":
            for actor, value in ((case.first_actor, share), (case.second_actor, 100 - share)):
                side = forms[case.language, case.actor_set, actor]["adj"]
                yield from ((form.format(side=side, share=share), value) for form in OF_SIDES)
        elif case.asks == "likelihood":
            yield from ((form.format(share=share), share) for form in CHANCES)
