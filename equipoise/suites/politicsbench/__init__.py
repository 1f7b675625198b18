"""PoliticsBench: values in a role-play of four stages, in a reflection and in a direct answer.

After the published PoliticsBench: three judges score ten dimensions (0 to 20) and commitment (0 to 5) of the
direct answer, of each stage and of the reflection. A composite is 100 * sum of w (s - 10) / (10 * sum of |w|)
of the judges' mean dimensions; the score of a model is the mean composite of its reflections on the original
wordings, -100 (right) to 100 (left). The topics' README lists what differs from the original.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from equipoise.core.options import Option
from equipoise.core.records import Aggregate, Cell, Outcome, Record, Score, outcomes
from equipoise.core.types import JSON, Foreseen, Message, Reply
from equipoise.judge.judge import Panel
from equipoise.judge.rubric import Scale, VerdictRubric
from equipoise.models.model import Subject, together
from equipoise.suites.politicsbench import anchors, checks, dataset, plot_data, prompts, summary
from equipoise.suites.politicsbench.dataset import Scenario
from equipoise.suites.politicsbench.judging import Judged, has_text, judge, point
from equipoise.suites.politicsbench.prompts import PoliticsRubric
from equipoise.suites.politicsbench.scoring import POINTS
from equipoise.suites.selection import Selection
from equipoise.suites.shared_options import DATASET

NAME = "politicsbench"
TITLE = "PoliticsBench"
HEADLINE = "the lean after the last stage, from -100 (traditional) to 100 (progressive),"
CLUSTERS = "scenarios"
DATASETS: tuple[str, ...] = ("own", "own-v1", "original")
OPTIONS: tuple[Option, ...] = (DATASET,)
lint, recognises = checks.lint, dataset.recognises
plots = plot_data.plots
audit = anchors
DEFAULTS: Mapping[str, JSON] = {
    "subject_temperature": 0.7,
    "subject_max_tokens": 12_000,
    "evaluator_model": ("claude-3.7-sonnet", "gpt-4.1-mini", "grok-4.1-fast"),
}
BASELINE_TOKENS = 8_000
REFLECTION_TEMPERATURE = 0.5
MIN_P = 0.1


def rubric(path: Path) -> PoliticsRubric:
    """The rubric file. Raises UserError naming file and key."""
    return prompts.load(path)


def cases(selection: Selection) -> Sequence[Scenario]:
    """The selected scenarios."""
    return dataset.scenarios(selection)


def foresee(case: Scenario, rubric: PoliticsRubric) -> Sequence[Foreseen]:
    """Six questions to the subject, of which the later ones quote the replies before; then the judges."""
    stages = [*prompts.stages(case, rubric), prompts.reflection(case, rubric)]
    asked = [Foreseen(role="subject", prompt=prompts.baseline(case, rubric))]
    asked += [
        Foreseen(role="subject", prompt="".join(stages[: number + 1]), quoted=number)
        for number in range(len(stages))
    ]
    judging = [
        Foreseen(role="evaluator", prompt=_prompt(part, text), quoted=1)
        for text in (case.question, *case.stages, stages[-1])
        for part in (rubric.dimensions, rubric.commitment)
    ]
    return [*asked, *judging]


def _prompt(part: VerdictRubric, text: str) -> str:
    return "".join(message["content"] for message in part.messages(code="", question=text, reply=""))


# One run.


async def evaluate(case: Scenario, rubric: PoliticsRubric, subject: Subject, panel: Panel) -> Score:
    """Run both conversations concurrently; each text is judged as soon as it arrives."""
    direct, played = await together(
        _direct(case, rubric, subject, panel), _play(case, rubric, subject, panel)
    )
    replies, judged = [*direct[0], *played[0]], [*direct[1], *played[1]]
    return score(replies, judged)


Told = tuple[list[Reply], list[Judged]]


async def _direct(case: Scenario, rubric: PoliticsRubric, subject: Subject, panel: Panel) -> Told:
    """The direct question in a conversation of its own."""
    has_default = subject.sampling.max_tokens == DEFAULTS["subject_max_tokens"]
    extra: dict[str, JSON] = {"min_p": MIN_P, **({"max_tokens": BASELINE_TOKENS} if has_default else {})}
    asked = prompts.baseline(case, rubric)
    reply = await subject.complete((*subject.opening(), Message(role="user", content=asked)), **extra)
    return [reply], [await judge(reply, case.question, rubric, panel)]


async def _play(case: Scenario, rubric: PoliticsRubric, subject: Subject, panel: Panel) -> Told:
    """The four stages, then the reflection; judging runs concurrently."""
    has_default = subject.sampling.temperature == DEFAULTS["subject_temperature"]
    calm: dict[str, JSON] = {"temperature": REFLECTION_TEMPERATURE} if has_default else {}
    keen: dict[str, JSON] = {"min_p": MIN_P}
    asked = [(text, keen) for text in prompts.stages(case, rubric)]
    asked.append((prompts.reflection(case, rubric), calm))
    shown = [*case.stages, asked[-1][0]]
    messages, replies = [*subject.opening()], []
    judging: list[asyncio.Task[Judged]] = []
    try:
        for (text, extra), situation in zip(asked, shown, strict=True):
            messages.append(Message(role="user", content=text))
            reply = await subject.complete(tuple(messages), **extra)
            replies.append(reply)
            if not has_text(reply):
                # Nobody could go on from there.
                break
            messages.append(Message(role="assistant", content=reply.text))
            judging.append(asyncio.create_task(judge(reply, situation, rubric, panel)))
    except asyncio.CancelledError:
        for task in judging:
            task.cancel()
        raise
    finally:
        # What is being judged is paid for, however the conversation ends.
        judged = await together(*judging)
    return replies, judged


def score(replies: Sequence[Reply], judged: Sequence[Judged]) -> Score:
    """The composite of the reflection; what every judge said of every text stands in the details.

    A conversation that ended early has fewer replies than there are points.
    """
    points = {}
    for place, name in enumerate(POINTS):
        reply = replies[place] if place < len(replies) else None
        points[name] = point(reply, *(judged[place] if place < len(judged) else ((), ())))
    verdicts = tuple(verdict for found in judged for part in found for verdict in part)
    value, details = points["reflection"]["composite"], {"points": points}
    if value is None:
        played = (name for name in POINTS[1:] if points[name]["missing"])
        first = next(played)
        why = f"the reflection has no score: {first}: {points[first]['missing']}"
        return Score(outcome="unscored", value=None, error=why, verdicts=verdicts, details=details)
    outcome: Outcome = "truncated" if any(reply.is_truncated for reply in replies) else "scored"
    return Score(outcome=outcome, value=value, verdicts=verdicts, details=details)


# Results.


def aggregate(records: Sequence[Record], rubric: PoliticsRubric) -> Aggregate:
    """Results by language and scenario; curves over the points, tests, judges and sensitivity."""
    results: dict[str, dict[str, dict[str, JSON]]] = {}
    for record in records:
        rows = results.setdefault(record.case["language"], {})
        rows.setdefault(record.case["id"], {**_about(record.case), "runs": []})["runs"].append(_run(record))
    listed = {language: {"scenarios": list(rows.values())} for language, rows in results.items()}
    every = [row for found in listed.values() for row in found["scenarios"]]
    figures = {"outcomes": outcomes(records), **summary.summary(every)}
    return Aggregate(results=listed, summary=figures)


def _about(case: Mapping[str, JSON]) -> dict[str, JSON]:
    names = ("id", "scenario", "wording", "pressure", "presser_speaks", "area", "question", "stages")
    return {name: case.get(name) for name in names}


def _run(record: Record) -> dict[str, JSON]:
    return {
        "run_index": record.run,
        "outcome": record.outcome,
        "score": record.score,
        "error": record.error,
        "points": record.details.get("points", {}),
        "subject_transcript": record.subject_transcript,
        "evaluator_transcripts": record.evaluator_transcripts,
    }


def cells(results: Mapping[str, JSON], scale: Scale, without: str | None = None) -> Sequence[Cell]:
    """One for each wording of a scenario in each language."""
    return summary.cells(results, without)


metrics, table, over_models = summary.metrics, summary.table, summary.over_models


def figure_of(case: Mapping[str, JSON], run: Mapping[str, JSON], scale: Scale) -> float | None:
    """The composite of the reflection, in points."""
    found: float | None = run["score"]
    return found
