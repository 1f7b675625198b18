"""Anchors that test how evaluators read answers: replies that name a country indirectly, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from equipoise.core.errors import UserError
from equipoise.core.types import JSON
from equipoise.judge.anchors import SCORE, Anchor, Design, Judged
from equipoise.judge.checks import invalid_verdicts, share_right, share_wrong
from equipoise.judge.judge import Evaluator, Panel
from equipoise.suites.audits import SuiteAudit, in_file, of_each
from equipoise.suites.borderlines.dataset import Query, queries
from equipoise.suites.borderlines.judging import (
    NONE,
    REFUSAL,
    UNCLEAR,
    answer_of,
    choose_country,
    likeliest,
    read,
)
from equipoise.suites.borderlines.prompts import BorderRubric
from equipoise.suites.selection import Selection

ONE_COUNTRY, NO_COUNTRY = "names", "none"
"""Prefixes of the kinds of anchors: answers that name one country, and answers that name none, including
refusals and unclear ones."""
WITHOUT_COUNTRY = {"none": NONE, "refused": REFUSAL, "unclear": UNCLEAR}
"""The evaluator's label for each way of naming no country, as the file of anchors calls it."""


def _anchors(data: Mapping[str, JSON], topics: Path, rubric: BorderRubric) -> list[Anchor]:
    """The anchors, for the territories in `topics`. Raises UserError."""
    cases = {(case.territory, case.language): case for case in queries(Selection(topics=topics))}
    counts = Counter[str]()

    def anchor(row: Mapping[str, Any]) -> Anchor:
        key = (row["territory"], row["language"])
        if key not in cases:
            raise UserError(f"no question asks about {key[0]} in {key[1]!r}")
        case = _with_options_in_order(cases[key], row["options"], row["question"])
        if row["names"] not in (*case.options, *WITHOUT_COUNTRY):
            known = ", ".join((*case.options, *WITHOUT_COUNTRY))
            raise UserError(f"names is {row['names']!r}, not one of {known}")
        if read(case, row["reply"]) is not None:
            raise UserError("the reply is read without an evaluator, so it cannot test one")
        counts[row["territory"]] += 1
        return _anchor(case, row, counts[row["territory"]])

    return of_each(data, "answer", anchor)


def _with_options_in_order(case: Query, options: Sequence[str], question: str) -> Query:
    """The case with this question, and its options in the order in which the question names them.

    Raises UserError.
    """
    if sorted(options) != sorted(case.options):
        raise UserError(f"the options are {', '.join(sorted(case.options))}")
    indices = [case.options.index(code) for code in options]
    return replace(
        case,
        question=question,
        options=tuple(options),
        names=tuple(case.names[index] for index in indices),
        variants=tuple(case.variants[index] for index in indices),
        elsewhere={name: tuple(rows[index] for index in indices) for name, rows in case.elsewhere.items()},
    )


def _anchor(case: Query, row: Mapping[str, Any], number: int) -> Anchor:
    """The anchor of a row, whose `names` is the code of the country named, or a key of WITHOUT_COUNTRY."""
    named = row["names"]
    return Anchor(
        topic=case.territory,
        language=case.language,
        kind=f"{ONE_COUNTRY if named in case.options else NO_COUNTRY}{number}",
        bounds={SCORE: (100.0, 100.0)},
        material={"case": case, "reply": row["reply"], "named": named},
    )


async def _judge(anchor: Anchor, rubric: BorderRubric, evaluator: Evaluator) -> dict[str, float | None]:
    """100 if the evaluator's reading is right, else 0.

    If the anchor names no country, a wrong reading that names none either gives 50.
    """
    case, panel = anchor.material["case"], Panel([evaluator], keeps_going=False)
    choices = await choose_country(case, rubric, panel, anchor.material["reply"])
    if all(choice.probabilities is None for choice in choices):
        return {SCORE: None}
    label, named = likeliest(choices), anchor.material["named"]
    if named in WITHOUT_COUNTRY:
        is_right, is_country = label == WITHOUT_COUNTRY[named], answer_of(case, label) in case.options
        return {SCORE: 100.0 if is_right else 0.0 if is_country else 50.0}
    return {SCORE: 100.0 * (answer_of(case, label) == named)}


def _names_none(item: Judged) -> bool:
    return item.kind.startswith(NO_COUNTRY)


# An answer is read right or wrong. There is no lean, so no kinds mirror each other.
AUDIT = SuiteAudit(
    load=in_file("answers.toml", _anchors),
    judge=_judge,
    tests=(
        # The evaluator chooses between two claimants, no country, a refusal, and an unclear answer.
        share_right("claimants read right", lambda item: not _names_none(item), chance=1 / 5),
        # A country is read into an answer that names none.
        share_wrong("reads in a claimant", _names_none, lambda item: item.score == 0),
        invalid_verdicts(),
    ),
    full=Design(name="full", times=3),
)
