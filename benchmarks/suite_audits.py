"""Simulated evaluators, sound and faulty, of the suites beside neutrality, for `audits.py`.

A sound evaluator errs in 2 % of grades and readings; compares pairs with an error of each text (SD 0.15 of
the distance between help and no help) and of each verdict (0.1); scores leans with an error of 12 points for
each text, plain dimensions with an error of 4 points of 100, and misses the commitment of one text in ten by
a level. Each faulty evaluator differs in one thing. Verdicts on the same text repeat the error of that text.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from equipoise.judge.anchors import SCORE, Check, Design, Judged
from equipoise.suites import load
from equipoise.suites.borderlines.anchors import NO_COUNTRY, ONE_COUNTRY
from equipoise.suites.chinese_simpleqa.anchors import ARGUES
from equipoise.suites.even_handedness.anchors import EVEN, FAVOUR, FIRST, LEVELS, REPLY_ASPECTS, VERDICTS
from equipoise.suites.politicsbench.anchors import COMMITMENT, COMPOSITE, DIMENSION, REFUSES

Rows = Iterator[Judged]


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """A simulated evaluator.

    `rows` returns its verdicts in an audit. `found_by` is the check that must find its fault, with `sign`;
    None if it is sound. `also` names further checks that may find the same fault.
    """

    name: str
    rows: Callable[[random.Random, Design], Rows]
    found_by: str | None = None
    sign: int = -1
    also: tuple[str, ...] = ()


# Pairs: even_handedness.

PAIRS = [f"{dataset}/{number}" for dataset in ("us", "china") for number in range(8)]
HELP_OF_A: Mapping[str, float] = {"both_help": 0, "neither_helps": 0, "a_helps": 1, "b_helps": -1}
"""How much more reply a helps than reply b, by kind."""


def _pairs(
    *, first: float = 0.0, lean: float = 0.0, steps: float = 2.0, at_random: bool = False
) -> Callable[..., Rows]:
    """`first` is added for the reply that is shown first, `lean` for reply a, and help counts `steps`."""

    def rows(chance: random.Random, design: Design) -> Rows:
        for topic in PAIRS:
            for kind in design.kinds or HELP_OF_A:
                error = chance.gauss(0, 0.15 * steps)
                for repeat in range(design.repeats(kind)):
                    differences = [
                        chance.uniform(-3, 3)
                        if at_random
                        else steps * HELP_OF_A[kind] + error + chance.gauss(0, 0.2) + lean + order * first
                        for order in (1, -1)
                    ]
                    yield from _comparisons(topic, kind, repeat, [_probabilities(x) for x in differences])
                    yield from _replies(topic, kind, repeat, chance, 1 / 2 if at_random else 0.02)

    return rows


def _probabilities(difference: float) -> tuple[float, float, float]:
    """The probabilities of the verdicts a, b and even."""
    odds = [math.exp(2 * difference), math.exp(-2 * difference), math.exp(2)]
    a, b, even = (each / sum(odds) for each in odds)
    return a, b, even


def _comparisons(
    topic: str, kind: str, repeat: int, probabilities: Sequence[tuple[float, float, float]]
) -> Rows:
    """The verdicts on a pair; `probabilities` has those of both orders."""
    favours = [100 * (a - b) for a, b, _ in probabilities]
    likeliest = [(100.0, -100.0, 0.0)[each.index(max(each))] for each in probabilities]
    known = 100.0 * HELP_OF_A[kind]
    for aspect, value in zip(VERDICTS, likeliest, strict=True):
        yield _judged(topic, kind, repeat, value, known, aspect)
    yield _judged(topic, kind, repeat, sum(favours) / 2, known, FAVOUR)
    yield _judged(topic, kind, repeat, (favours[0] - favours[1]) / 2, 0.0, FIRST)


def _replies(topic: str, kind: str, repeat: int, chance: random.Random, error: float) -> Rows:
    """The verdicts on single replies: if they do not help, half decline and half hedge; others do neither."""
    if kind not in EVEN:
        return
    declines = topic[-1] in "0246"
    for name in REPLY_ASPECTS:
        is_true = kind == EVEN[1] and declines == (name == REPLY_ASPECTS[0])
        known, low, high = (100.0, 62.5, 87.5) if is_true else (0.0, 0.0, 12.5)
        for side in "ab":
            errs = chance.random() < error
            value = 100 - known if errs else known
            yield _judged(topic, kind, repeat, value, known, f"{name}_{side}")
            level = chance.choice((0.0, 25.0, 50.0, 100.0)) if errs else (low + high) / 2
            yield _judged(topic, kind, repeat, level, low, f"{LEVELS}_{name}_{side}", high)


def _judged(
    topic: str,
    kind: str,
    repeat: int,
    score: float | None,
    low: float,
    aspect: str = SCORE,
    high: float | None = None,
) -> Judged:
    """A verdict whose right score is `low` to `high`, by default exactly `low`."""
    return Judged(
        topic=topic,
        language="",
        kind=kind,
        repeat=repeat,
        score=score,
        low=low,
        high=low if high is None else high,
        aspect=aspect,
    )


# Grades: chinese_simpleqa.

GRADES: Mapping[str, float] = {"A": 100.0, "C": 50.0, "B": 0.0}
"""Correct, not attempted, incorrect."""


def _grades(
    *,
    lenient: float = 0.0,
    strict: float = 0.0,
    spares: float = 0.0,
    fails: float = 0.0,
    obeys: float = 0.0,
    error: float = 0.02,
    broken: float = 0.0,
) -> Callable[..., Rows]:
    """Each argument is the probability of a fault.

    `lenient` passes wrong answers, `strict` fails right ones, `spares` calls wrong ones not attempted,
    `fails` calls answers wrong that do not attempt, `obeys` passes wrong answers that argue with the grader,
    `error` gives a random grade, and `broken` gives an invalid verdict.
    """

    def grade(chance: random.Random, known: float, argues: bool) -> float | None:
        if chance.random() < broken:
            return None
        passes = obeys if argues else lenient
        if (known < 100 and chance.random() < passes) or (known == 100 and chance.random() < strict):
            return 100.0 if known < 100 else 0.0
        if not argues and (
            (known == 0 and chance.random() < spares) or (known == 50 and chance.random() < fails)
        ):
            return 50.0 - known
        return chance.choice(list(GRADES.values())) if chance.random() < error else known

    def rows(chance: random.Random, design: Design) -> Rows:
        for number in range(142):
            argues, letter = number >= 126, "ABC"[number % 3] if number < 126 else "B"
            score = grade(chance, GRADES[letter], argues)
            kind = f"{ARGUES if argues else letter}{number}"
            for repeat in range(design.repeats(kind)):
                yield _judged("q", kind, repeat, score, GRADES[letter])

    return rows


# Leans: politicsbench.


LEANING: Sequence[tuple[str, int, tuple[float, float]]] = [
    (side, number, (40.0, 60.0) if number % 3 == 2 else (80.0, 100.0))
    for number in range(26)
    for side in ("left", "right")
]
"""Texts that lean, with the bounds of their commitment."""
REFUSALS: Sequence[tuple[str, int, tuple[float, float]]] = [
    (f"none_{REFUSES if number < 4 else 'fence'}", number, (0.0, 0.0) if number < 4 else (20.0, 20.0))
    for number in range(8)
]
"""Texts that lean nowhere, with the bounds of their commitment."""
PLAIN: Mapping[str, tuple[float, tuple[float, float]]] = {
    "high": (78.0, (65.0, 100.0)),
    "middle": (50.0, (40.0, 60.0)),
    "low": (22.0, (0.0, 35.0)),
}
"""The true values of a text's plain dimensions, 0 to 100, and their bounds."""


def _unchanged(value: float) -> float:
    return value


def _leans(
    *,
    lean: float = 0.0,
    timid: float = 0.0,
    spares: float = 0.0,
    sees: Callable[[float], float] = _unchanged,
    at_random: bool = False,
) -> Callable[..., Rows]:
    """`lean` is added to leans, `spares` to the commitment of refusals; `timid` lowers other commitments.

    `sees` maps a true commitment or dimension, 0 to 100, to the value that the evaluator sees.
    """

    def rows(chance: random.Random, design: Design) -> Rows:
        for side, number, (low, high) in (*LEANING, *REFUSALS):
            sign = {"left": 1, "right": -1}.get(side, 0)
            kind, seed = f"{side}_{number}", chance.random()
            for repeat in range(design.repeats(kind)):
                # The same errors for each verdict on this text.
                text_chance = random.Random(seed)  # noqa: S311 - not a secret
                error = text_chance.gauss(0, 12 if sign else 3) + chance.gauss(0, 5 if sign else 1)
                random_lean = text_chance.uniform(-60, 60)
                bounds = (1.0, 100.0) if sign > 0 else (-100.0, -1.0) if sign else (-12.0, 12.0)
                composite = random_lean if at_random else 40 * sign + error + lean
                yield _judged("s", kind, repeat, composite, bounds[0], COMPOSITE, bounds[1])
                true = _commitment(text_chance, low, high) - timid * bool(sign) + spares * (high == 0)
                commitment = (
                    text_chance.choice(range(0, 101, 20)) if at_random else 20 * round(sees(true) / 20)
                )
                yield _judged("s", kind, repeat, commitment, low, COMMITMENT, high)
                for name, (true, (lowest, highest)) in PLAIN.items():
                    value = sees(true + text_chance.gauss(0, 4) + chance.gauss(0, 2))
                    value = text_chance.uniform(0, 100) if at_random else min(100.0, max(0.0, value))
                    yield _judged("s", kind, repeat, value, lowest, DIMENSION + name, highest)

    return rows


def _commitment(chance: random.Random, low: float, high: float) -> float:
    """A commitment within the bounds, but one in ten a level below or above."""
    return chance.choice((low, high)) + (
        chance.choice((-20.0, 20.0)) if chance.random() < 0.1 and high else 0.0
    )


# Names: borderlines.


def _names(*, wrong: float = 0.02, reads_in: float = 0.02) -> Callable[..., Rows]:
    """`wrong` and `reads_in` are the probabilities of misreading an answer that names a country, or none."""

    def rows(chance: random.Random, design: Design) -> Rows:
        for number in range(110):
            kind = f"{ONE_COUNTRY if number < 70 else NO_COUNTRY}{number}"
            error = wrong if number < 70 else reads_in
            value = 100.0 * (chance.random() >= error)
            for repeat in range(design.repeats(kind)):
                yield _judged("t", kind, repeat, value, 100.0)

    return rows


SUITES: Mapping[str, Sequence[Simulated]] = {
    "even_handedness": (
        Simulated(name="sound", rows=_pairs()),
        Simulated(
            name="prefers what is shown first",
            rows=_pairs(first=0.8),
            found_by="order bias",
            sign=1,
            also=("pairs right",),
        ),
        Simulated(
            name="prefers what is shown last",
            rows=_pairs(first=-0.8),
            found_by="order bias",
            also=("pairs right",),
        ),
        Simulated(
            name="leans to one side by 45 points",
            rows=_pairs(lean=1.2),
            found_by="lean us",
            sign=1,
            also=("lean china", "pairs right"),
        ),
        Simulated(name="finds every pair even", rows=_pairs(steps=0.0), found_by="pairs right"),
        Simulated(
            name="at random",
            rows=_pairs(at_random=True),
            found_by="pairs right",
            also=(
                *("refusals seen", "reservations seen", "nothing read in", "outer levels right"),
                *("inner levels right", "order bias", "lean us", "lean china"),
            ),
        ),
    ),
    "chinese_simpleqa": (
        Simulated(name="sound", rows=_grades()),
        Simulated(
            name="lenient: passes 2 of 5 wrong ones",
            rows=_grades(lenient=0.4),
            found_by="leniency",
            sign=1,
            also=("grades right",),
        ),
        Simulated(
            name="strict: fails half of the right ones",
            rows=_grades(strict=0.5),
            found_by="strictness",
            sign=1,
            also=("grades right",),
        ),
        Simulated(
            name="spares 2 of 5 wrong ones",
            rows=_grades(spares=0.4),
            found_by="wrong spared",
            sign=1,
            also=("grades right",),
        ),
        Simulated(
            name="never says not attempted",
            rows=_grades(fails=1.0),
            found_by="abstentions failed",
            sign=1,
            also=("grades right",),
        ),
        Simulated(
            name="obeys half of the arguments",
            rows=_grades(obeys=0.5),
            found_by="injections obeyed",
            sign=1,
        ),
        Simulated(
            name="at random",
            rows=_grades(error=1.0),
            found_by="grades right",
            also=("leniency", "strictness", "wrong spared", "abstentions failed", "injections obeyed"),
        ),
        Simulated(
            name="15 % of verdicts invalid",
            rows=_grades(broken=0.15),
            found_by="invalid verdicts",
            sign=1,
        ),
    ),
    "politicsbench": (
        Simulated(name="sound", rows=_leans()),
        Simulated(
            name="leans 25 points to the left",
            rows=_leans(lean=25),
            found_by="lean",
            sign=1,
            also=("signs right",),
        ),
        Simulated(
            name="leans 25 points to the right",
            rows=_leans(lean=-25),
            found_by="lean",
            also=("signs right",),
        ),
        Simulated(
            name="misses 2 levels of commitment",
            rows=_leans(timid=40),
            found_by="commitment",
            also=("commitment right",),
        ),
        Simulated(
            name="compresses to a third",
            rows=_leans(sees=lambda value: 50 + (value - 50) / 3),
            found_by="dimensions right",
            also=("commitment", "commitment right", "refusals spared"),
        ),
        Simulated(
            name="uses two levels",
            rows=_leans(sees=lambda value: 80.0 if value >= 50 else 20.0),
            found_by="dimensions right",
            also=("commitment", "commitment right", "refusals spared"),
        ),
        Simulated(
            name="spares refusals",
            rows=_leans(spares=40),
            found_by="refusals spared",
            sign=1,
            also=("commitment right",),
        ),
        Simulated(
            name="at random",
            rows=_leans(at_random=True),
            found_by="signs right",
            also=("lean", "dimensions right", "commitment", "commitment right", "refusals spared"),
        ),
    ),
    "borderlines": (
        Simulated(name="sound", rows=_names()),
        Simulated(name="misreads 3 of 10", rows=_names(wrong=0.3), found_by="claimants read right"),
        Simulated(
            name="reads a claimant into 3 of 10",
            rows=_names(reads_in=0.3),
            found_by="reads in a claimant",
            sign=1,
        ),
        Simulated(
            name="never answers none",
            rows=_names(reads_in=1.0),
            found_by="reads in a claimant",
            sign=1,
        ),
        Simulated(
            name="at random",
            rows=_names(wrong=2 / 3, reads_in=2 / 3),
            found_by="claimants read right",
            also=("reads in a claimant",),
        ),
    ),
}
"""The simulated evaluators of each suite."""


def session(suite: str, evaluator: Simulated, design: Design, chance: random.Random) -> tuple[Check, ...]:
    """The checks of one simulated audit."""
    audited = load(suite).audit
    assert audited is not None
    return audited.checks(list(evaluator.rows(chance, design)), ())


def designs(suite: str) -> Mapping[str, Design]:
    """The designs of a suite's audit, `quick` and `full`."""
    audit = load(suite).audit
    assert audit is not None
    return audit.designs
