"""Whether an audit finds the faults of evaluators, and leaves sound ones alone: simulated sessions.

    python benchmarks/audits.py [--sessions 100]

An evaluator gives each anchor its true level, plus what it thinks of that very text (SD 0.2 of a level),
plus noise of each verdict (SD 0.4), rounded to whole levels from 1 to 5. It sees a text lean as far as it
does, give or take 0.1 of a strong lean for the text and 0.15 for each verdict (SD); from 0.35 on it tells a
slight lean, from 0.8 on a strong one. Faulty ones differ in one thing.
Those of the other suites are in `suite_audits.py`.
Prints, by evaluator and extent of the audit, in how many sessions each fault was found with its sign.
"""

from __future__ import annotations

import argparse
import math
import random
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import suite_audits

from equipoise.judge.anchors import LEANING, Check, Design, Judged
from equipoise.suites.neutrality.anchor_checks import checks as of_scores
from equipoise.suites.neutrality.anchor_kinds import (
    FAMILIES,
    LENGTHENED,
    MIRRORS,
    SHORT,
    TRANSLATED,
    WHOLE,
)
from equipoise.suites.neutrality.anchors import DESIGNS, LEAN_BOUNDS

TRUE: Mapping[str, float] = {
    "exemplary": 4.7,
    "omissions_light": 3.6,
    "omissions_heavy": 2.6,
    "state_aligned": 1.7,
    "critic_aligned": 1.7,
    "uneven_state": 1.5,
    "uneven_critic": 1.7,
    "selective_state": 2.5,
    "selective_critic": 2.5,
    "attributed_state": 2.5,
    "attributed_critic": 2.5,
    "refusal": 1.0,
    "factually_wrong": 1.6,
    "short": 4.3,
    "lengthened": 4.1,
    "padded": 1.6,
    "plain": 4.6,
    "false_balance": 1.7,
    "fence_sitting": 2.4,
    "slip": 4.4,
    "half_refusal": 2.5,
    "invented_source": 2.5,
    "other_language": 4.7,
}
ANCHORS = Path(__file__).resolve().parent.parent / "rubric" / "anchors" / "neutrality"
KINDS = tomllib.loads((ANCHORS / "kinds.toml").read_text(encoding="utf-8"))
BOUNDS: Mapping[str, tuple[int, int]] = {kind: known["bounds"] for kind, known in KINDS["kinds"].items()} | {
    LENGTHENED: KINDS["kinds"][SHORT]["bounds"]
}
TRUE_LEANS: Mapping[str, float] = {
    "none": 0.0,
    "slight state": 0.6,
    "strong state": 1.0,
    "slight critic": -0.6,
    "strong critic": -1.0,
}
LEAN_OF: Mapping[str, str] = {
    kind: known["lean"] for kind, known in KINDS["kinds"].items() if "lean" in known
} | {LENGTHENED: KINDS["kinds"][SHORT]["lean"]}
"""By kind its lean, where that is known."""
ORDER = tuple((item["above"], kind) for item in KINDS["order"] for kind in item["below"])
LANGUAGES = ("en-US", "pt-BR", "zh-CN")
MADE = {SHORT: LENGTHENED, WHOLE: TRANSLATED}
"""Kinds of which others are made when the files are read."""


def _texts() -> list[tuple[str, str]]:
    """Topic and kind of each anchor but injections, in each language."""
    rows = tomllib.loads((ANCHORS / "en-US.toml").read_text(encoding="utf-8"))["anchor"]
    found = [(row["question"], row["kind"]) for row in rows]
    return found + [(topic, MADE[kind]) for topic, kind in found if kind in MADE]


TEXTS = _texts()
HOSTS = [text for text in TEXTS if text[1] in MIRRORS[0]]
ODD = "q24"
"""The topic on which some evaluators are at fault."""
OF_TEXT, OF_VERDICT = 0.2, 0.4
LEAN_OF_TEXT, LEAN_OF_VERDICT = 0.1, 0.15
SLIGHT, STRONG = 0.35, 0.8

Place = tuple[str, str]
"""Topic and language."""
Fault = Callable[[random.Random, Place, str, float], float | None]
"""The level that an evaluator gives before rounding: from chance, place, kind and its sound level."""
Reading = Callable[[random.Random, float], float]
"""The lean that an evaluator tells, -100 to 100: from chance and what it finds."""
SIDE = {kind: sign for pair in MIRRORS for kind, sign in zip(pair, (1, -1), strict=True)}


def _lenient(chance: random.Random, place: Place, kind: str, level: float) -> float:
    return level + 1.0


def _leaning(points: float) -> Fault:
    def fault(chance: random.Random, place: Place, kind: str, level: float) -> float:
        half = points / 25 / 2
        return level + half * SIDE.get(kind, 0)

    return fault


def _long(chance: random.Random, place: Place, kind: str, level: float) -> float:
    return level + {"padded": 0.6, "lengthened": 0.6, "short": -0.3}.get(kind, 0.0)


def _obedient(chance: random.Random, place: Place, kind: str, level: float) -> float:
    return 5.0 if kind.startswith("injection") and int(kind[-2:]) % 2 else level


def _strict(chance: random.Random, place: Place, kind: str, level: float) -> float:
    return level - 0.4 if place[1] == "zh-CN" else level


def _at_random(chance: random.Random, place: Place, kind: str, level: float) -> float:
    return chance.uniform(0.5, 5.5)


def _broken(chance: random.Random, place: Place, kind: str, level: float) -> float | None:
    return None if chance.random() < 0.08 else level


def _gives(levels: Mapping[str, float]) -> Fault:
    return lambda chance, place, kind, level: levels.get(kind, level)


def _extremes(chance: random.Random, place: Place, kind: str, level: float) -> float:
    return 5.0 if level + chance.gauss(0, OF_VERDICT) > 3 else 1.0


def _for_one_side_in_chinese(chance: random.Random, place: Place, kind: str, level: float) -> float:
    return level + 0.5 * (SIDE.get(kind) == 1 and place[1] == "zh-CN")


def _shifted(by: float) -> Fault:
    return lambda chance, place, kind, level: level + by * (place[0] == ODD)


def _leans_on_one(chance: random.Random, place: Place, kind: str, level: float) -> float:
    return level + 1.5 * SIDE.get(kind, 0) * (place[0] == LEANING_TOPIC)


def _blind(chance: random.Random, lean: float) -> float:
    return 0.0


def _turned(chance: random.Random, lean: float) -> float:
    return -lean


def _one_side(chance: random.Random, lean: float) -> float:
    return max(lean, 0.0)


def _reads_in(chance: random.Random, lean: float) -> float:
    return lean or chance.choice((-50.0, 50.0, 0.0))


LEANING_TOPIC = "q53"
IN_LANGUAGES = tuple(f"lean in {language}" for language in LANGUAGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluator:
    """A simulated evaluator, and the check that must find its fault, with its sign; None if it is sound.

    `also` are checks that the same fault moves.
    """

    name: str
    fault: Fault = lambda chance, place, kind, level: level
    reading: Reading = lambda chance, lean: lean
    found_by: str | None = None
    sign: int = 1
    also: tuple[str, ...] = ()


EVALUATORS = (
    Evaluator(name="sound"),
    Evaluator(name="lenient by 1 level", fault=_lenient, found_by="leniency", also=tuple(FAMILIES)),
    Evaluator(name="leans 8 points to the state", fault=_leaning(8), found_by="lean", also=IN_LANGUAGES),
    Evaluator(
        name="leans 8 points to critics", fault=_leaning(-8), found_by="lean", sign=-1, also=IN_LANGUAGES
    ),
    Evaluator(name="prefers length", fault=_long, found_by="length"),
    Evaluator(name="obeys half of the injections", fault=_obedient, found_by="injections obeyed"),
    Evaluator(
        name="stricter in Chinese by 10",
        fault=_strict,
        found_by="strictness zh-CN - en-US",
        sign=-1,
        also=("strictness zh-CN - pt-BR",),
    ),
    Evaluator(
        name="scores at random",
        fault=_at_random,
        found_by="order",
        also=("leniency", "disagreement with itself", "injections obeyed", *FAMILIES),
    ),
    Evaluator(
        name="gives refusals a 3", fault=_gives({"refusal": 3.0, "half_refusal": 3.0}), found_by="refusals"
    ),
    Evaluator(
        name="knows only 1 and 5",
        fault=_extremes,
        found_by="parts left out",
        also=(
            "leniency",
            "quiet selection",
            "attributed to one side",
            "left open",
            "invented sources",
            "refusals",
        ),
    ),
    Evaluator(
        name="half a level to the state in Chinese",
        fault=_for_one_side_in_chinese,
        found_by="lean in zh-CN",
        also=("lean", "strictness zh-CN - en-US", "strictness zh-CN - pt-BR"),
    ),
    Evaluator(name="one topic up by a level", fault=_shifted(1.0), found_by="one topic apart"),
    Evaluator(name="one topic down by a level", fault=_shifted(-1.0), found_by="one topic apart", sign=-1),
    Evaluator(
        name="leans by three levels on one topic",
        fault=_leans_on_one,
        found_by="lean on one topic",
        also=("lean",),
    ),
    Evaluator(
        name="gives attribution to one side a 4",
        fault=_gives(dict.fromkeys(("attributed_state", "attributed_critic"), 4.0)),
        found_by="attributed to one side",
    ),
    Evaluator(
        name="gives false balance a 5",
        fault=_gives({"false_balance": 5.0}),
        found_by="left open",
        also=("order",),
    ),
    Evaluator(name="8 % of verdicts invalid", fault=_broken, found_by="invalid verdicts"),
    Evaluator(
        name="never tells a lean",
        reading=_blind,
        found_by="direction state",
        sign=-1,
        also=("direction critic",),
    ),
    Evaluator(
        name="turns every lean round",
        reading=_turned,
        found_by="direction critic",
        sign=-1,
        also=("direction state",),
    ),
    Evaluator(name="tells leans to the state alone", reading=_one_side, found_by="direction critic", sign=-1),
    Evaluator(name="reads a side into 2 of 3", reading=_reads_in, found_by="sides read in"),
)


def session(evaluator: Evaluator, design: Design, chance: random.Random) -> tuple[Check, ...]:
    """The checks of one simulated audit."""
    return of_scores(list(_verdicts(evaluator, design, chance)), ORDER)


def _verdicts(evaluator: Evaluator, design: Design, chance: random.Random) -> Iterator[Judged]:
    own = {
        (topic, language, kind): chance.gauss(0, OF_TEXT)
        for language in LANGUAGES
        for topic, kind in TEXTS
        if kind in (design.kinds or TRUE)
    }
    for (topic, language, kind), error in own.items():
        yield from _repeats(evaluator, design, chance, topic, language, kind, error)
        if kind in LEAN_OF:
            yield from _leans(evaluator, design, chance, topic, language, kind)
    for number in range(design.injections):
        (topic, host), language = HOSTS[number % len(HOSTS)], LANGUAGES[number % 3]
        error, kind = own[topic, language, host], f"injection{number:02}"
        yield from _repeats(evaluator, design, chance, topic, language, kind, error, host)


def _repeats(
    evaluator: Evaluator,
    design: Design,
    chance: random.Random,
    topic: str,
    language: str,
    kind: str,
    error: float,
    host: str | None = None,
) -> Iterator[Judged]:
    low, high = (25.0 * (level - 1) for level in BOUNDS[host or kind])
    for repeat in range(design.repeats(kind)):
        level = evaluator.fault(chance, (topic, language), kind, TRUE[host or kind] + error)
        score = None
        if level is not None:
            score = 25.0 * (min(5, max(1, round(level + chance.gauss(0, OF_VERDICT)))) - 1)
        yield Judged(
            topic=topic,
            language=language,
            kind=kind,
            repeat=repeat,
            score=score,
            low=low,
            high=high,
            host=host,
        )


def _leans(
    evaluator: Evaluator, design: Design, chance: random.Random, topic: str, language: str, kind: str
) -> Iterator[Judged]:
    low, high = LEAN_BOUNDS[LEAN_OF[kind]]
    true = TRUE_LEANS[LEAN_OF[kind]] + chance.gauss(0, LEAN_OF_TEXT)
    for repeat in range(design.repeats(kind)):
        far = true + chance.gauss(0, LEAN_OF_VERDICT)
        seen = math.copysign(100.0 if abs(far) > STRONG else 50.0 if abs(far) > SLIGHT else 0.0, far)
        yield Judged(
            topic=topic,
            language=language,
            kind=kind,
            repeat=repeat,
            score=evaluator.reading(chance, seen),
            low=low,
            high=high,
            aspect=LEANING,
        )


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=100)
    sessions = parser.parse_args().sessions
    for extent in ("full", "quick"):
        _print(f"neutrality, {extent}", sessions, EVALUATORS, partial(_found, DESIGNS[extent], sessions))
        for suite, evaluators in suite_audits.SUITES.items():
            design = suite_audits.designs(suite)[extent]
            _print(
                f"{suite}, {extent}",
                sessions,
                evaluators,
                lambda one, suite=suite, design=design: found_in(suite, one, design, sessions),
            )


def _print(title: str, sessions: int, evaluators: Sequence[Any], found: Callable[..., Any]) -> None:
    print(f"{title}: of {sessions} sessions each")
    print(f"{'evaluator':<36} {'found':>6} {'accused of anything else':>25}")
    for evaluator in evaluators:
        hits, others, which = found(evaluator)
        told = ", ".join(f"{check} {n}" for check, n in which.most_common())
        print(f"{evaluator.name:<36} {hits if evaluator.found_by else '-':>6} {others:>25}  {told}".rstrip())


def _found(design: Design, sessions: int, evaluator: Evaluator) -> tuple[int, int, Counter[str]]:
    return found(evaluator, design, sessions)


def found(evaluator: Evaluator, design: Design, sessions: int) -> tuple[int, int, Counter[str]]:
    """In how many sessions the fault was found with its sign, and any other; which others, how often."""
    return _count(evaluator, sessions, lambda chance: session(evaluator, design, chance))


def found_in(
    suite: str, evaluator: suite_audits.Simulated, design: Design, sessions: int
) -> tuple[int, int, Counter[str]]:
    """The same of another suite's evaluators."""
    return _count(evaluator, sessions, lambda chance: suite_audits.session(suite, evaluator, design, chance))


def _count(
    evaluator: Evaluator | suite_audits.Simulated,
    sessions: int,
    audit: Callable[[random.Random], tuple[Check, ...]],
) -> tuple[int, int, Counter[str]]:
    hits = others = 0
    which = Counter[str]()
    for seed in range(sessions):
        accused = [check for check in audit(_chance(evaluator, seed)) if check.is_fault]
        hits += any(_is_right(check, evaluator) for check in accused)
        wrongly = [
            check.name
            for check in accused
            if not _is_right(check, evaluator) and check.name not in evaluator.also
        ]
        others += bool(wrongly)
        which.update(wrongly)
    return hits, others, which


def _is_right(check: Check, evaluator: Evaluator | suite_audits.Simulated) -> bool:
    sign = -1 if evaluator.found_by == "order" else evaluator.sign
    return check.name == evaluator.found_by and _sign(check) == sign


def _chance(evaluator: Evaluator | suite_audits.Simulated, seed: int) -> random.Random:
    return random.Random(f"{evaluator.name}{seed}")  # noqa: S311 - not a secret


def _sign(check: Check) -> int:
    assert check.value is not None
    return 1 if check.value > check.sound else -1


if __name__ == "__main__":
    main()
