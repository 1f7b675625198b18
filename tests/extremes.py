"""Results of every suite whose runs are as far out as a model, an evaluator or a filter can take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import one_dispute
import one_fact
import one_scenario
import sides
import small_turnabout
from builders import record
from from_records import parts_of, statistics_of
from paired import case, choice

import pages
from conftest import EXAMPLE, ROOT
from equipoise import suites
from equipoise.core.records import Record, Score, Verdict
from equipoise.core.types import JSON, Reply
from equipoise.results import store
from equipoise.suites import even_handedness, politicsbench, turnabout
from equipoise.suites.borderlines.dataset import UNKNOWN
from equipoise.suites.even_handedness.dataset import Pair
from equipoise.suites.politicsbench.scoring import JUDGED_TEXTS, WEIGHTS
from equipoise.suites.selection import Selection


def neutrality() -> list[Record]:
    """The lowest and the highest score, and every outcome."""
    ends: Sequence[sides.Run] = (1, 5, "refused", "blocked", "truncated", "empty", "unscored", "error")
    return sides.records({"aa/q1": ends, "bb/q1": ends}, "neutrality")


PAIR = Pair(
    **{
        **case("tea_price"),
        **{"lean_a": "left", "lean_b": "right", "partisan": True, "contrary": True, "defends": "right"},
        **{"dataset": "us", "orders": ("original", "swapped")},
    }
)


def pair(*, even: str, swapped: str, levels: tuple[str, str], blocked: str = "") -> Score:
    """A pair whose comparisons and whose sides' levels are certain; `blocked` names sides, as `ab`."""
    shares: dict[str, Any] = {"even_original": {even: 1.0}, "even_swapped": {swapped: 1.0}}
    for side, level in zip("ab", levels, strict=True):
        # Rounded log probabilities may sum to a little more than 1.
        certain = {"x5": 0.7, "x4": 0.3000002} if level == "5" else {f"x{level}": 1.0}
        shares |= {f"{name}_{side}": certain for name in ("refusal", "perspectives")}
    answers = {name: (choice(**of_labels),) for name, of_labels in shares.items()}
    if blocked:
        answers = {name: answer for name, answer in answers.items() if name[-1] in {*"ab"} - {*blocked}}
    replies = {side: Reply(text="So.", blocked="filter" if side in blocked else None) for side in "ab"}
    return even_handedness.score(replies, answers, ["e"])


def pairs() -> list[Record]:
    """One side helped and not the other, in both directions; both alike; a side blocked, and both."""
    runs = (
        pair(even="A", swapped="B", levels=("1", "5")),
        pair(even="B", swapped="B", levels=("5", "1")),
        pair(even="C", swapped="C", levels=("1", "1")),
        pair(even="C", swapped="C", levels=("5", "5")),
        pair(even="C", swapped="C", levels=("1", "1"), blocked="a"),
        pair(even="C", swapped="C", levels=("1", "5"), blocked="a"),
        pair(even="C", swapped="C", levels=("1", "1"), blocked="ab"),
    )
    return [record(PAIR, run, number) for number, run in enumerate(runs, start=1)]


def disputes() -> list[Record]:
    """The country in control named by all and by none; no country; a territory that no one controls.

    A reply that declines, and one whose answer cannot be told.
    """
    replies = (
        (one_dispute.CASE, ("Boeotia", "Caria", "Caria", "?")),
        (one_dispute.OTHER, ("Boeotia", "Caria", "Attica", "?")),
        (one_dispute.ENGLISH, ("Boeotia", "Caria", "Caria", "?")),
    )
    answered = [
        one_dispute.record(case, text, number)
        for rock, texts in replies
        for case in (rock, replace(rock, id=f"{rock.language}-reef", territory="reef", controller=UNKNOWN))
        for number, text in enumerate(texts, start=1)
    ]
    without = [
        one_dispute.record(one_dispute.CASE, "?", number, label) for number, label in ((5, "R"), (6, "X"))
    ]
    return [*answered, *without]


def facts() -> list[Record]:
    """Every grade, and none."""
    return [one_fact.record(one_fact.CASE, vote, number) for number, vote in enumerate("ABC?", start=1)]


def scene(leans: Sequence[int]) -> Score:
    """A conversation whose texts lie entirely to one side, 1 to the left and -1 to the right.

    At 2 every dimension is at its most, at -2 at its least; a text at 0 has no verdict.
    """
    judged = [(_verdict(_dimensions(lean), lean), _verdict(_commitment(lean), lean)) for lean in leans]
    return politicsbench.score([Reply(text="I stay.")] * len(JUDGED_TEXTS), judged)


def _verdict(fields: Mapping[str, JSON], lean: int) -> tuple[Verdict, ...]:
    return (Verdict(evaluator="e", fields={"reasoning": "", **fields} if lean else None, attempts=1),)


def _dimensions(lean: int) -> dict[str, JSON]:
    is_sided = abs(lean) == 1
    return {name: 20 * (lean * (weight if is_sided else 1) > 0) for name, weight in WEIGHTS.items()}


def _commitment(lean: int) -> dict[str, JSON]:
    return {"commitment": 5 * (lean > 0)}


def scenarios() -> list[Record]:
    """Texts wholly to the left and to the right, within a run and between a scenario and its mirror."""
    original = one_scenario.CASE
    mirror = replace(original, id="en-US-wage-mirror", wording="mirror", pressure="right")
    published = replace(original, id="en-US-bus-original", scenario="bus", pressure=None)
    runs = (
        (original, ((1, -1, -1, 1, 1, 1), (-1, 1, 1, -1, -1, -1), (2,) * 6, (-2,) * 6, (0,) * 6)),
        (mirror, ((1, -1, -1, -1, 1, -1), (-1, 1, 1, 1, -1, 1))),
        (published, ((1, 1, 1, 1, 1, 1),)),
    )
    return [
        record(case, scene(leans), number)
        for case, by_run in runs
        for number, leans in enumerate(by_run, start=1)
    ]


def incidents() -> list[Record]:
    """Each actor judged wholly more harshly, beside X, beside the other, and at home; and a refusal."""
    against = {
        1: {"en-US": (100, 0, 0), "zz": (0, 100, 100)},
        2: {"en-US": (0, 100, 100), "zz": (100, 0, 0)},
        **{number: {"en-US": (100, 0, 100), "zz": (100, 0, 100)} for number in (3, 5)},
        4: {"en-US": (0, 100, 0), "zz": (0, 100, 0)},
    }
    with TemporaryDirectory() as folder:
        cases = turnabout.SUITE.data.cases(Selection(topics=small_turnabout.write(Path(folder))))
    scored = [
        record(case, Score(outcome="scored", value=value, percent=value), number)
        for case in cases
        for number, answers in against.items()
        for value in [answers[case.language]["abx".index(case.leads)]]
    ]
    refused = Score(outcome="refused", value=None, error="the reply declines to answer")
    again = Score(outcome="scored", value=0.0, percent=0.0, details={"asked_again": True})
    return [*scored, record(cases[0], refused, len(against) + 1), record(cases[0], again, len(against) + 2)]


def attributions() -> list[Record]:
    """The lowest and the highest score of the example suite, a blocked reply, and one without a verdict."""
    return sides.records({"aa/q1": (1, 5, "unscored", "blocked")})


RECORDS: Mapping[str, Callable[[], list[Record]]] = {
    "neutrality": neutrality,
    "even_handedness": pairs,
    "borderlines": disputes,
    "chinese_simpleqa": facts,
    "politicsbench": scenarios,
    "turnabout": incidents,
    "attribution": attributions,
}
"""By suite; the last is the example's."""


def _error(record: Record) -> dict[str, JSON]:
    about = {
        "language": record.case["language"],
        "question": record.case.get("question"),
        "question_index": None,
    }
    raw: dict[str, JSON] = {"raw_evaluator_response": None, "raw_evaluator_responses": []}
    run = {"run": record.id, "run_index": record.run, "outcome": record.outcome, "message": record.error}
    return {**run, **about, **raw}


def write(folder: Path, suite: str) -> Path:
    """A whole results file of the suite's records."""
    package, records = suites.load(suite), RECORDS[suite]()
    # A run that no retry could save, as any may be.
    failed = replace(records[0], outcome="error", score=None, percent=None, error="HTTP 500", verdicts=())
    records.append(replace(failed, run=len(records) + 1, details={}))
    root = EXAMPLE if suite == "attribution" else ROOT
    rubric = package.judging.rubric(root / "rubric" / f"{suite}.toml")
    parts = parts_of(suite, records, rubric.scale)
    scale = {"low": rubric.scale.low, "high": rubric.scale.high}
    about = {**pages.metadata("m", len(records), 1, ["e"]), "suite": suite, "scale": scale}
    errors = [_error(item) for item in records if item.score is None]
    data = {
        "metadata": about,
        **parts,
        "summary": {**parts["summary"], **statistics_of(suite, records, rubric.scale)},
        "audit": {},
        "errors": errors,
    }
    path = folder / f"m.{suite}.json"
    store.write_json(path, data)
    return path
