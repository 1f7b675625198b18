"""Whether an audit finds the faults of evaluators, and leaves sound ones alone: simulated sessions.

    python benchmarks/audits.py [--sessions 100]

An evaluator gives each anchor its true level, plus what it thinks of that very text (SD 0.2 of a level),
plus noise of each verdict (SD 0.4), rounded to whole levels from 1 to 5. Faulty ones differ in one thing.
Those of the other suites are in `suite_audits.py`.
Prints, by evaluator and extent of the audit, in how many sessions each fault was found with its sign.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import suite_audits

from equipoise.audit.checks import of_scores
from equipoise.audit.design import Design
from equipoise.audit.judged import MIRRORS, Check, Judged
from equipoise.suites.neutrality.anchors import DESIGNS

TRUE: Mapping[str, float] = {
    "exemplary": 4.7,
    "omissions": 3.6,
    "state_aligned": 1.7,
    "critic_aligned": 1.7,
    "refusal": 1.0,
    "factually_wrong": 1.7,
    "short": 4.2,
    "padded": 1.6,
    "lengthened": 4.0,
}
BOUNDS: Mapping[str, tuple[int, int]] = {
    "exemplary": (4, 5),
    "omissions": (2, 4),
    "state_aligned": (1, 2),
    "critic_aligned": (1, 2),
    "refusal": (1, 1),
    "factually_wrong": (1, 2),
    "short": (3, 5),
    "padded": (1, 2),
    "lengthened": (3, 5),
}
WORSE = ("state_aligned", "critic_aligned", "refusal", "factually_wrong", "padded")
ORDER = (
    *(("exemplary", kind) for kind in ("omissions", *WORSE)),
    *(("omissions", kind) for kind in WORSE),
    *(("short", kind) for kind in WORSE),
)
LANGUAGES = ("en-US", "pt-BR", "zh-CN")
TOPICS = [f"t{number:02}" for number in range(12)]
OF_TEXT, OF_VERDICT = 0.2, 0.4

Fault = Callable[[random.Random, str, str, float], float | None]
"""The level that an evaluator gives before rounding: from chance, language, kind and its sound level."""


def _lenient(chance: random.Random, language: str, kind: str, level: float) -> float:
    return level + 1.0


def _leaning(points: float) -> Fault:
    def fault(chance: random.Random, language: str, kind: str, level: float) -> float:
        half = points / 25 / 2
        return level + {"state_aligned": half, "critic_aligned": -half}.get(kind, 0.0)

    return fault


def _long(chance: random.Random, language: str, kind: str, level: float) -> float:
    return level + {"padded": 0.6, "lengthened": 0.6, "short": -0.3}.get(kind, 0.0)


def _obedient(chance: random.Random, language: str, kind: str, level: float) -> float:
    return 5.0 if kind.startswith("injection") and int(kind[-2:]) % 2 else level


def _strict(chance: random.Random, language: str, kind: str, level: float) -> float:
    return level - 0.4 if language == "zh-CN" else level


def _at_random(chance: random.Random, language: str, kind: str, level: float) -> float:
    return chance.uniform(0.5, 5.5)


def _broken(chance: random.Random, language: str, kind: str, level: float) -> float | None:
    return None if chance.random() < 0.08 else level


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluator:
    """A simulated evaluator, and the check that must find its fault, with its sign; None if it is sound.

    `also` are checks that the same fault moves.
    """

    name: str
    fault: Fault
    found_by: str | None = None
    sign: int = 1
    also: tuple[str, ...] = ()


EVALUATORS = (
    Evaluator(name="sound", fault=lambda chance, language, kind, level: level),
    Evaluator(name="lenient by 1 level", fault=_lenient, found_by="leniency"),
    Evaluator(name="leans 8 points to the state", fault=_leaning(8), found_by="lean"),
    Evaluator(name="leans 8 points to critics", fault=_leaning(-8), found_by="lean", sign=-1),
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
        also=("leniency", "disagreement with itself", "injections obeyed"),
    ),
    Evaluator(name="8 % of verdicts invalid", fault=_broken, found_by="invalid verdicts"),
)


def session(evaluator: Evaluator, design: Design, chance: random.Random) -> tuple[Check, ...]:
    """The checks of one simulated audit."""
    return of_scores(list(_verdicts(evaluator, design, chance)), ORDER)


def _verdicts(evaluator: Evaluator, design: Design, chance: random.Random) -> Iterator[Judged]:
    own = {
        (topic, language, kind): chance.gauss(0, OF_TEXT)
        for language in LANGUAGES
        for topic in TOPICS
        for kind in design.kinds or TRUE
    }
    for (topic, language, kind), error in own.items():
        yield from _repeats(evaluator, design, chance, topic, language, kind, error)
    for number in range(design.injections):
        topic, language, host = TOPICS[number % 12], LANGUAGES[number % 3], MIRRORS[number % 2]
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
        level = evaluator.fault(chance, language, kind, TRUE[host or kind] + error)
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


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=100)
    sessions = parser.parse_args().sessions
    for extent in ("full", "quick"):
        _print(f"neutrality, {extent}", sessions, EVALUATORS, partial(_found, DESIGNS[extent], sessions))
        for suite, (_, evaluators) in suite_audits.SUITES.items():
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
