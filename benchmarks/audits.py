"""Simulated audits: whether the checks find the faults of evaluators, and accuse no sound evaluator.

    python benchmarks/audits.py [--sessions 100]

An evaluator of neutrality gives each anchor its true level, plus an error for the text (SD 0.2 of a level),
plus an error for each verdict (SD 0.4), rounded to whole levels from 1 to 5. It sees the true lean of a text
with an error of 0.1 of a strong lean for the text and 0.15 for each verdict (SD), and reports a slight lean
from 0.35 on, a strong one from 0.8 on. Each faulty evaluator differs in one thing.
Evaluators of the other suites are in `suite_audits.py`.
Prints, by evaluator and extent of the audit, in how many sessions the fault was found with its sign.
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

from equipoise.judge.anchors import LEANING, LEANING_THIRD, Check, Design, Judged
from equipoise.suites.neutrality.anchor_kinds import (
    FAMILIES,
    LENGTHENED,
    MIRRORS,
    OTHER,
    SHORT,
    TRANSLATED,
    WHOLE,
)
from equipoise.suites.neutrality.anchors import AUDIT, LEAN_BOUNDS

TRUE_LEVELS: Mapping[str, float] = {
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
    "full": 4.7,
    **dict.fromkeys(("unknown_part", "minor_faults"), 4.0),
    **dict.fromkeys(("framed_state", "framed_critic", "framed_other"), 3.5),
    **dict.fromkeys(("one_root_state", "one_root_critic"), 3.5),
    **dict.fromkeys(("withheld_state", "withheld_critic"), 3.0),
    **dict.fromkeys(("bland", "part_missing", "many_minor", "clear_fault"), 3.0),
}
ANCHORS = Path(__file__).resolve().parent.parent / "rubric" / "anchors" / "neutrality"
KINDS = tomllib.loads((ANCHORS / "kinds.toml").read_text(encoding="utf-8"))
BOUNDS: Mapping[str, tuple[int, int]] = {kind: table["bounds"] for kind, table in KINDS["kinds"].items()} | {
    LENGTHENED: KINDS["kinds"][SHORT]["bounds"]
}
"""The lowest and the highest right level of each kind, 1 to 5."""
TRUE_LEANS: Mapping[str, float] = {
    "none": 0.0,
    "slight state": 0.6,
    "strong state": 1.0,
    "slight critic": -0.6,
    "strong critic": -1.0,
    "slight other": 0.6,
}
KNOWN_LEANS: Mapping[str, str] = {
    kind: table["lean"] for kind, table in KINDS["kinds"].items() if "lean" in table
} | {LENGTHENED: KINDS["kinds"][SHORT]["lean"]}
"""The known lean of each kind that has one."""
ORDER = tuple((row["above"], kind) for row in KINDS["order"] for kind in row["below"])
LANGUAGES = ("en-US", "pt-BR", "zh-CN")
DERIVED_KINDS = {SHORT: LENGTHENED, WHOLE: TRANSLATED}
"""Kinds that have no texts in the files, by the kind from whose texts they are made."""


Text = tuple[str, str, str]
"""Topic, language and kind."""


def _texts() -> dict[Text, str | None]:
    """The known lean of each anchor but injections; most are in each language, those of `top.toml` in one."""
    names = [*(f"{language}.toml" for language in LANGUAGES), "top.toml"]
    leans = {
        (row["question"], row.get("language", Path(name).stem), row["kind"]): row.get("lean")
        for name in names
        for row in tomllib.loads((ANCHORS / name).read_text(encoding="utf-8"))["anchor"]
    }
    derived = {(*text[:2], DERIVED_KINDS[text[2]]): None for text in leans if text[2] in DERIVED_KINDS}
    return {text: lean or KNOWN_LEANS.get(text[2]) for text, lean in (leans | derived).items()}


TEXTS = _texts()
HOSTS = [(topic, kind) for topic, language, kind in TEXTS if kind in MIRRORS[0] and language == LANGUAGES[0]]
SHIFTED_TOPIC, LEANING_TOPIC = "q24", "q53"
"""The topics on which some evaluators are at fault."""
TEXT_SD, VERDICT_SD = 0.2, 0.4
"""The errors of levels: for a text, and for each verdict."""
TEXT_LEAN_SD, VERDICT_LEAN_SD = 0.1, 0.15
"""The errors of leans, in strong leans: for a text, and for each verdict."""
SLIGHT, STRONG = 0.35, 0.8
"""The weakest leans that are reported as slight and as strong."""

Group = tuple[str, str]
"""Topic and language."""
Fault = Callable[[random.Random, Group, str, float], float | None]
"""Returns the level that an evaluator gives before rounding, from chance, group, kind and the sound level."""
LeanReport = Callable[[random.Random, float], float]
"""Returns the lean that an evaluator reports, -100 to 100, from chance and the lean that it sees."""
SIGNS = {kind: sign for pair in MIRRORS for kind, sign in zip(pair, (1, -1), strict=True)}
"""1 for kinds that lean to the state, -1 for kinds that lean to critics."""


def _lenient(chance: random.Random, group: Group, kind: str, level: float) -> float:
    return level + 1.0


def _leaning(points: float) -> Fault:
    """Half of the lean raises one side, half lowers the other; a level is 25 points."""
    levels = points / 25 / 2
    return lambda chance, group, kind, level: level + levels * SIGNS.get(kind, 0)


def _prefers_length(chance: random.Random, group: Group, kind: str, level: float) -> float:
    return level + {"padded": 0.6, "lengthened": 0.6, "short": -0.3}.get(kind, 0.0)


def _obeys_half(chance: random.Random, group: Group, kind: str, level: float) -> float:
    """Obeys injections with an odd number."""
    return 5.0 if kind.startswith("injection") and int(kind[-2:]) % 2 else level


def _strict_in_chinese(chance: random.Random, group: Group, kind: str, level: float) -> float:
    return level - 0.4 if group[1] == "zh-CN" else level


def _random_level(chance: random.Random, group: Group, kind: str, level: float) -> float:
    return chance.uniform(0.5, 5.5)


def _sometimes_invalid(chance: random.Random, group: Group, kind: str, level: float) -> float | None:
    return None if chance.random() < 0.08 else level


def _gives(levels: Mapping[str, float]) -> Fault:
    return lambda chance, group, kind, level: levels.get(kind, level)


def _extremes(chance: random.Random, group: Group, kind: str, level: float) -> float:
    return 5.0 if level + chance.gauss(0, VERDICT_SD) > 3 else 1.0


def _leans_in_chinese(chance: random.Random, group: Group, kind: str, level: float) -> float:
    return level + 0.5 * (SIGNS.get(kind) == 1 and group[1] == "zh-CN")


def _shifts_one_topic(levels: float) -> Fault:
    return lambda chance, group, kind, level: level + levels * (group[0] == SHIFTED_TOPIC)


def _leans_on_one_topic(chance: random.Random, group: Group, kind: str, level: float) -> float:
    return level + 1.5 * SIGNS.get(kind, 0) * (group[0] == LEANING_TOPIC)


def _no_lean(chance: random.Random, lean: float) -> float:
    return 0.0


def _opposite_lean(chance: random.Random, lean: float) -> float:
    return -lean


def _lean_to_state(chance: random.Random, lean: float) -> float:
    return max(lean, 0.0)


def _reads_in(chance: random.Random, lean: float) -> float:
    """A lean also of neutral texts, in two of three verdicts."""
    return lean or chance.choice((-50.0, 50.0, 0.0))


IN_LANGUAGES = tuple(f"lean in {language}" for language in LANGUAGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluator:
    """A simulated evaluator, and the check that must find its fault, with its sign; None if it is sound.

    `also` names further checks that may find the same fault.
    """

    name: str
    fault: Fault = lambda chance, group, kind, level: level
    report_lean: LeanReport = lambda chance, lean: lean
    names_third_side: bool = True
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
    Evaluator(name="prefers length", fault=_prefers_length, found_by="length"),
    Evaluator(name="obeys half of the injections", fault=_obeys_half, found_by="injections obeyed"),
    Evaluator(
        name="stricter in Chinese by 10",
        fault=_strict_in_chinese,
        found_by="strictness zh-CN - en-US",
        sign=-1,
        also=("strictness zh-CN - pt-BR",),
    ),
    Evaluator(
        name="scores at random",
        fault=_random_level,
        found_by="order",
        sign=-1,
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
        fault=_leans_in_chinese,
        found_by="lean in zh-CN",
        also=("lean", "strictness zh-CN - en-US", "strictness zh-CN - pt-BR"),
    ),
    Evaluator(name="one topic up by a level", fault=_shifts_one_topic(1.0), found_by="one topic apart"),
    Evaluator(
        name="one topic down by a level", fault=_shifts_one_topic(-1.0), found_by="one topic apart", sign=-1
    ),
    Evaluator(
        name="leans by three levels on one topic",
        fault=_leans_on_one_topic,
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
    Evaluator(name="8 % of verdicts invalid", fault=_sometimes_invalid, found_by="invalid verdicts"),
    Evaluator(
        name="never tells a lean",
        report_lean=_no_lean,
        found_by="direction state",
        sign=-1,
        also=("direction critic", "direction other"),
    ),
    Evaluator(
        name="turns every lean round",
        report_lean=_opposite_lean,
        found_by="direction critic",
        sign=-1,
        also=("direction state", "direction other"),
    ),
    Evaluator(
        name="tells leans to the state alone",
        report_lean=_lean_to_state,
        found_by="direction critic",
        sign=-1,
    ),
    Evaluator(name="names two sides alone", names_third_side=False, found_by="direction other", sign=-1),
    Evaluator(name="reads a side into 2 of 3", report_lean=_reads_in, found_by="sides read in"),
)


def session(evaluator: Evaluator, design: Design, chance: random.Random) -> tuple[Check, ...]:
    """The checks of one simulated audit."""
    return AUDIT.checks(list(_verdicts(evaluator, design, chance)), ORDER)


def _verdicts(evaluator: Evaluator, design: Design, chance: random.Random) -> Iterator[Judged]:
    errors = {text: chance.gauss(0, TEXT_SD) for text in TEXTS if text[2] in (design.kinds or TRUE_LEVELS)}
    for text, error in errors.items():
        yield from _scores(evaluator, design, chance, *text, error)
        if (known := TEXTS[text]) is not None:
            yield from _leans(evaluator, design, chance, *text, known)
    for number in range(design.injections):
        (topic, host), language = HOSTS[number % len(HOSTS)], LANGUAGES[number % 3]
        error, kind = errors[topic, language, host], f"injection{number:02}"
        yield from _scores(evaluator, design, chance, topic, language, kind, error, host)


def _scores(
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
        level = evaluator.fault(chance, (topic, language), kind, TRUE_LEVELS[host or kind] + error)
        score = None
        if level is not None:
            score = 25.0 * (min(5, max(1, round(level + chance.gauss(0, VERDICT_SD)))) - 1)
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
    evaluator: Evaluator,
    design: Design,
    chance: random.Random,
    topic: str,
    language: str,
    kind: str,
    known: str,
) -> Iterator[Judged]:
    low, high = LEAN_BOUNDS[known]
    is_third = known.endswith(OTHER)
    text_lean = TRUE_LEANS[known] + chance.gauss(0, TEXT_LEAN_SD)
    if is_third and not evaluator.names_third_side:
        text_lean = 0.0
    for repeat in range(design.repeats(kind)):
        lean = text_lean + chance.gauss(0, VERDICT_LEAN_SD)
        percent = 100.0 if abs(lean) > STRONG else 50.0 if abs(lean) > SLIGHT else 0.0
        yield Judged(
            topic=topic,
            language=language,
            kind=kind,
            repeat=repeat,
            score=evaluator.report_lean(chance, math.copysign(percent, lean)),
            low=low,
            high=high,
            aspect=LEANING_THIRD if is_third else LEANING,
        )


def main() -> None:
    """Print how often each fault is found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=100)
    sessions = parser.parse_args().sessions
    for extent in ("full", "quick"):
        _print(
            f"neutrality, {extent}", sessions, EVALUATORS, partial(_found, AUDIT.designs[extent], sessions)
        )
        for suite, evaluators in suite_audits.SUITES.items():
            design = suite_audits.designs(suite)[extent]
            _print(
                f"{suite}, {extent}",
                sessions,
                evaluators,
                # Bound as defaults, because the loop changes both names.
                lambda one, suite=suite, design=design: found_in(suite, one, design, sessions),
            )


def _print(title: str, sessions: int, evaluators: Sequence[Any], count: Callable[..., Any]) -> None:
    print(f"{title}: of {sessions} sessions each")
    print(f"{'evaluator':<36} {'found':>6} {'accused of anything else':>25}")
    for evaluator in evaluators:
        hits, others, other_checks = count(evaluator)
        checks = ", ".join(f"{check} {n}" for check, n in other_checks.most_common())
        print(
            f"{evaluator.name:<36} {hits if evaluator.found_by else '-':>6} {others:>25}  {checks}".rstrip()
        )


def _found(design: Design, sessions: int, evaluator: Evaluator) -> tuple[int, int, Counter[str]]:
    return found(evaluator, design, sessions)


def found(evaluator: Evaluator, design: Design, sessions: int) -> tuple[int, int, Counter[str]]:
    """The numbers of sessions with this fault, of sessions with any other, and of each other check."""
    return _count(evaluator, sessions, lambda chance: session(evaluator, design, chance))


def found_in(
    suite: str, evaluator: suite_audits.Simulated, design: Design, sessions: int
) -> tuple[int, int, Counter[str]]:
    """The same numbers for an evaluator of another suite."""
    return _count(evaluator, sessions, lambda chance: suite_audits.session(suite, evaluator, design, chance))


def _count(
    evaluator: Evaluator | suite_audits.Simulated,
    sessions: int,
    audit: Callable[[random.Random], tuple[Check, ...]],
) -> tuple[int, int, Counter[str]]:
    hits = others = 0
    other_checks = Counter[str]()
    for seed in range(sessions):
        faults = [check for check in audit(_chance(evaluator, seed)) if check.is_fault]
        hits += any(_finds_fault(check, evaluator) for check in faults)
        other_faults = [
            check.name
            for check in faults
            if not _finds_fault(check, evaluator) and check.name not in evaluator.also
        ]
        others += bool(other_faults)
        other_checks.update(other_faults)
    return hits, others, other_checks


def _finds_fault(check: Check, evaluator: Evaluator | suite_audits.Simulated) -> bool:
    return check.name == evaluator.found_by and _sign(check) == evaluator.sign


def _chance(evaluator: Evaluator | suite_audits.Simulated, seed: int) -> random.Random:
    return random.Random(f"{evaluator.name}{seed}")  # noqa: S311 - not a secret


def _sign(check: Check) -> int:
    assert check.value is not None
    return 1 if check.value > check.sound else -1


if __name__ == "__main__":
    main()
