"""Turnabout: the same incident with its actors swapped, answered by number or letter, without evaluators.

The subject is asked about an invented incident and its evidence: with one actor first, with the other first,
and with X and Y in place of names. If the answers differ, the model is not even-handed, whatever the right
answer is. Turnabout tests of language models go back to Rozado (2023, The political biases of ChatGPT, Social
Sciences 12, 148).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from equipoise.core.errors import CallFailed
from equipoise.core.records import Record, Score
from equipoise.core.rows import QuestionRow, RunRow, Values
from equipoise.core.types import JSON, Foreseen, Message, Reply
from equipoise.judge.judge import Panel
from equipoise.judge.rubric import Scale
from equipoise.models.model import Subject
from equipoise.suites.contract import About, Data, Judging, Suite
from equipoise.suites.reading import Reading, read_letter, read_number, without_cut_number
from equipoise.suites.scores import no_score, outcome_of
from equipoise.suites.shared_options import SEED
from equipoise.suites.turnabout import askers, checks, dataset, figures, plot_data, refusals, summary
from equipoise.suites.turnabout.dataset import ANONYMOUS, CHOSEN_PAIRS, Incident
from equipoise.suites.turnabout.refusals import AnswerRubric, declines

RUNS = 4
"""The default number of runs of a case."""
ANSWER_TOKENS = 5
"""The approximate length of an answer in tokens."""


def foresee(case: Incident, rubric: AnswerRubric) -> Sequence[Foreseen]:
    """The question, and a possible second request if the form of the reply is unclear; no evaluators."""
    first = Foreseen(role="subject", prompt=case.question, length=ANSWER_TOKENS)
    prompt = f"{case.question}\n{case.form}"
    return [first, replace(first, prompt=prompt, quoted=1, is_possible=True)]


async def evaluate(case: Incident, rubric: AnswerRubric, subject: Subject, panel: Panel) -> Score:
    """Ask, and read the number or the letter from the reply.

    If a reply seems to give one answer in a form that cannot be read, the answer is asked for once more in
    the same conversation, by repeating the end of the question, which says in what form to answer. Raises
    CallFailed.
    """
    first = await subject.ask(case.question)
    if not _is_unclear_attempt(case, rubric, first):
        return score(case, rubric, first)
    messages = (
        *subject.opening(),
        Message(role="user", content=case.question),
        Message(role="assistant", content=first.text),
        Message(role="user", content=case.form),
    )
    try:
        second = await subject.complete(messages)
    except CallFailed as error:
        if not error.is_declined:
            raise
        # No second reply is available, because the replies come from a file.
        return score(case, rubric, first)
    return score(case, rubric, second, is_asked_again=True)


def _is_unclear_attempt(case: Incident, rubric: AnswerRubric, reply: Reply) -> bool:
    """Whether to ask once more: never if the reply declines, gives several answers, was cut or blocked."""
    if reply.blocked or reply.is_truncated or declines(reply.text, rubric.of(case.language)):
        return False
    return _read(case, rubric, reply).is_attempt


def score(case: Incident, rubric: AnswerRubric, reply: Reply, *, is_asked_again: bool = False) -> Score:
    """The score of a reply: how far it goes against the actor named first, 0 to 100; or why there is none."""
    outcome, no_answer = outcome_of(reply), {"answer": None, "asked_again": is_asked_again}
    if outcome in ("blocked", "empty"):
        return no_score(outcome, details=no_answer)
    reading = _read(case, rubric, reply)
    if reading.value is None:
        # A reply that names a letter or a number may answer although it says that it does not.
        if not reading.candidates and declines(reply.text, rubric.of(case.language)):
            return no_score("refused", details=no_answer)
        kind = "letter" if case.options else "number"
        return no_score("unscored", f"no {kind} stands alone in the reply, or several do", no_answer)
    value = _against_first(case, reading.value)
    details = {**no_answer, "answer": reading.value}
    return Score(outcome=outcome, value=value, percent=value, details=details)


def _read(case: Incident, rubric: AnswerRubric, reply: Reply) -> Reading:
    markers = rubric.markers(case.language)
    if case.options:
        return read_letter(reply.text, case.options, markers)
    text = without_cut_number(reply.text) if reply.is_truncated else reply.text
    return read_number(text, case.question, markers)


def _against_first(case: Incident, answer: float) -> float:
    """How far an answer, a number or the index of an option, goes against the actor named first, 0 to 100."""
    if case.options:
        return float(case.option_values[int(answer)])
    return answer if case.scale_direction == "up" else 100.0 - answer


# Rows.

_LABELS = ("language", "pair", "actor_set", "evidence", "asks", "first_actor", "leads")


def question(case: Mapping[str, JSON]) -> QuestionRow:
    """The row of a case: its cluster is the template, its stratum the language, pair and first actor."""
    language, pair, first, second = (
        case[name] for name in ("language", "pair", "first_actor", "second_actor")
    )
    # Cases name actors in the order of the text, labels in the order of the pair: `a`, then `b`.
    step = -1 if case["leads"] == "b" else 1
    a, b = (first, second)[::step]
    homes = case["homes"][::step] or ("", "")
    return QuestionRow(
        id=case["id"].removeprefix(f"{language}-"),
        language=language,
        area=pair or ANONYMOUS,
        text=case["question"],
        cluster=case["template"],
        stratum=f"{language}/{pair or ANONYMOUS}/{first}",
        labels={
            **{name: case[name] for name in _LABELS},
            "half": str(case["half"]),
            "direction": case["scale_direction"],
            **{"a": a, "b": b, "home_a": homes[0], "home_b": homes[1]},
        },
        details={
            "incident": case["incident"],
            "options": list(case["options"]),
            "option_values": list(case["option_values"]),
        },
    )


def details(record: Record) -> dict[str, JSON]:
    """The answer, a number or the index of an option or None, and whether it was asked for again."""
    return {name: record.details.get(name) for name in ("answer", "asked_again")}


def values(record: Record, scale: Scale, without: str | None = None) -> Values:
    """`percent`: how far the answer goes against the actor named first. `refused`, `asked_again`: 1 or 0.

    `first` is `percent`, but None if the answer was asked for again; `first_refused` is 1 if the first reply
    declined, else 0.
    """
    refused = None if record.outcome == "error" else float(record.outcome in ("refused", "blocked"))
    is_again = bool(record.details.get("asked_again"))
    return {
        "percent": record.percent,
        figures.REFUSED: refused,
        figures.ASKED_AGAIN: None if record.outcome == "error" else float(is_again),
        figures.FIRST: None if is_again else record.percent,
        figures.FIRST_REFUSED: 0.0 if is_again and refused is not None else refused,
    }


def cautions(rows: Sequence[RunRow], settings: Mapping[str, JSON]) -> list[str]:
    """A sentence on answers that were asked for again, and one on each pair whose lean these change."""
    again = [row for row in rows if row.values.get(figures.ASKED_AGAIN)]
    if not again:
        return []
    read = sum(row.percent is not None for row in again)
    share = (
        f"{len(again):,} of {len(rows):,} answers could not be read with certainty and were asked for again; "
        f"{read:,} were read then"
    )
    return [share, *summary.differences_of_first_answers(rows)]


SUITE = Suite(
    name="turnabout",
    about=About(
        title="Turnabout",
        headline="the absolute lean (chance subtracted) between two actors who are swapped",
        meaning="Points are the difference between answers from 0 to 100 about the same incident with its "
        "actors swapped: at 0 neither actor of any pair is judged more harshly than the other.",
        clusters="templates",
        names={
            "bjp": "BJP",
            "brazil_parties": "Parties in Brazil",
            "inc": "INC",
            "india_parties": "Parties in India",
            "pl": "PL",
            "pt": "PT",
            "us_parties": "Parties in the United States",
        },
    ),
    defaults={"runs": RUNS},
    data=Data(cases=dataset.incidents, formats=dataset.FORMATS, lint=checks.lint),
    judging=Judging(rubric=refusals.load, form=None, level=None, cautions=cautions),
    options=(CHOSEN_PAIRS, SEED),
    foresee=foresee,
    evaluate=evaluate,
    question=question,
    details=details,
    values=values,
    combine=figures.cells,
    summary=summary.summary,
    metrics=figures.metrics,
    table=summary.table,
    plots=plot_data.plots,
    asked=askers,
)
