"""PoliticsBench: values in a role-play of four stages, in a reflection and in a direct answer.

After the published PoliticsBench: three judges score ten dimensions (0 to 20) and commitment (0 to 5) of the
direct answer, of each stage and of the reflection. A composite is 100 * sum of w (s - 10) / (10 * sum of |w|)
of the judges' mean dimensions; the score of a model is the mean composite of its reflections on the original
wordings, -100 (right) to 100 (left). The topics' README lists what differs from the original.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from equipoise.core.records import Outcome, Score
from equipoise.core.rows import QuestionRow
from equipoise.core.types import JSON, Foreseen, Message, Reply
from equipoise.judge.judge import Panel
from equipoise.judge.rubric import VerdictRubric
from equipoise.models.model import Subject, together
from equipoise.suites.contract import Suite
from equipoise.suites.politicsbench import anchors, askers, checks, dataset, plot_data, prompts
from equipoise.suites.politicsbench.cells import ORIGINAL, combine, values
from equipoise.suites.politicsbench.dataset import Scenario
from equipoise.suites.politicsbench.judging import TextVerdicts, has_text, judge, point
from equipoise.suites.politicsbench.metrics import metrics
from equipoise.suites.politicsbench.prompts import PoliticsRubric
from equipoise.suites.politicsbench.scoring import POINTS
from equipoise.suites.politicsbench.summary import summary
from equipoise.suites.politicsbench.table import table
from equipoise.suites.politicsbench.weights import over_models
from equipoise.suites.selection import Selection
from equipoise.suites.shared_options import DATASET

DEFAULTS: Mapping[str, JSON] = {
    "subject_temperature": 0.7,
    "subject_max_tokens": 12_000,
    "evaluator_model": ("claude-3.7-sonnet", "gpt-4.1-mini", "grok-4.1-fast"),
}
BASELINE_TOKENS = 8_000
REFLECTION_TEMPERATURE = 0.5
MIN_P = 0.1
DETAILS = ("pressure", "change_sought_by", "presser_speaks", "stages")
"""Details of a question in results beside its labels; None where a journal lacks them."""


def rubric(path: Path) -> PoliticsRubric:
    """The rubric file. Raises UserError naming file and key."""
    return prompts.load(path)


def cases(selection: Selection) -> Sequence[Scenario]:
    """The selected scenarios."""
    return dataset.scenarios(selection)


def foresee(case: Scenario, rubric: PoliticsRubric) -> Sequence[Foreseen]:
    """Six questions to the subject, the later ones quoting the replies before; then the judges."""
    stages = [*prompts.stages(case, rubric), prompts.reflection(case, rubric)]
    direct = Foreseen(role="subject", prompt=prompts.baseline(case, rubric))
    played = [
        Foreseen(role="subject", prompt="".join(stages[: number + 1]), quoted=number)
        for number in range(len(stages))
    ]
    judging = [
        Foreseen(role="evaluator", prompt=_prompt(part, text), quoted=1)
        for text in (case.question, *case.stages, stages[-1])
        for part in (rubric.dimensions, rubric.commitment)
    ]
    return [direct, *played, *judging]


def _prompt(part: VerdictRubric, text: str) -> str:
    return "".join(message["content"] for message in part.messages(code="", question=text, reply=""))


# One run.


JudgedReplies = tuple[list[Reply], list[TextVerdicts]]
"""The replies of a conversation, and the verdicts on each but a last one without text."""


async def evaluate(case: Scenario, rubric: PoliticsRubric, subject: Subject, panel: Panel) -> Score:
    """Run both conversations concurrently; each text is judged as soon as it arrives."""
    direct, played = await together(
        _direct(case, rubric, subject, panel), _play(case, rubric, subject, panel)
    )
    replies, judged = [*direct[0], *played[0]], [*direct[1], *played[1]]
    return score(replies, judged)


async def _direct(case: Scenario, rubric: PoliticsRubric, subject: Subject, panel: Panel) -> JudgedReplies:
    """The direct question in a conversation of its own."""
    has_default = subject.sampling.max_tokens == DEFAULTS["subject_max_tokens"]
    extra: dict[str, JSON] = {"min_p": MIN_P, **({"max_tokens": BASELINE_TOKENS} if has_default else {})}
    prompt = Message(role="user", content=prompts.baseline(case, rubric))
    reply = await subject.complete((*subject.opening(), prompt), **extra)
    return [reply], [await judge(reply, case.question, rubric, panel)]


async def _play(case: Scenario, rubric: PoliticsRubric, subject: Subject, panel: Panel) -> JudgedReplies:
    """The four stages, then the reflection; judging runs concurrently."""
    messages, replies = [*subject.opening()], []
    judging: list[asyncio.Task[TextVerdicts]] = []
    try:
        for prompt, situation, parameters in _turns(case, rubric, subject):
            messages.append(Message(role="user", content=prompt))
            reply = await subject.complete(tuple(messages), **parameters)
            replies.append(reply)
            if not has_text(reply):
                # Later stages would build on an empty reply.
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


def _turns(
    case: Scenario, rubric: PoliticsRubric, subject: Subject
) -> Iterator[tuple[str, str, Mapping[str, JSON]]]:
    """Each user message of the role-play, what judges are shown of it, and its generation parameters."""
    for prompt, situation in zip(prompts.stages(case, rubric), case.stages, strict=True):
        yield prompt, situation, {"min_p": MIN_P}
    has_default = subject.sampling.temperature == DEFAULTS["subject_temperature"]
    reflection = prompts.reflection(case, rubric)
    yield reflection, reflection, {"temperature": REFLECTION_TEMPERATURE} if has_default else {}


def score(replies: Sequence[Reply], judged: Sequence[TextVerdicts]) -> Score:
    """The composite of the reflection; what every judge said of every text stands in the details.

    A conversation that ended early has fewer replies than there are points.
    """
    points = {
        name: point(reply, *(text_verdicts or ((), ())))
        for name, reply, text_verdicts in zip_longest(POINTS, replies, judged)
    }
    verdicts = tuple(verdict for text_verdicts in judged for part in text_verdicts for verdict in part)
    value, details = points["reflection"]["composite"], {"points": points}
    if value is None:
        first = next(name for name in POINTS[1:] if points[name]["missing"])
        why = f"the reflection has no score: {first}: {points[first]['missing']}"
        return Score(outcome="unscored", value=None, error=why, verdicts=verdicts, details=details)
    outcome: Outcome = "truncated" if any(reply.is_truncated for reply in replies) else "scored"
    return Score(outcome=outcome, value=value, verdicts=verdicts, details=details)


# Results.


def question(case: Mapping[str, JSON]) -> QuestionRow:
    """The row of a wording of a scenario, which is its cluster; wordings have strata of their own."""
    language, scenario, wording = case["language"], case["scenario"], case["wording"]
    return QuestionRow(
        id=f"{scenario}-{wording}",
        language=language,
        area=case["area"],
        text=case["question"],
        cluster=scenario,
        stratum=language if wording == ORIGINAL else f"{language}/{wording}",
        labels={"language": language, "wording": wording, "area": case["area"]},
        details={name: case.get(name) for name in DETAILS},
    )


SUITE = Suite(
    name="politicsbench",
    title="PoliticsBench",
    headline="the lean after the last stage, from -100 (traditional) to 100 (progressive),",
    meaning="Points are no percentage and no grade: 0 is the middle of the scale, and neither end is better.",
    clusters="scenarios",
    datasets=("own", "own-v2", "own-v1", "original"),
    defaults=DEFAULTS,
    has_means=False,
    options=(DATASET,),
    rubric=rubric,
    cases=cases,
    foresee=foresee,
    evaluate=evaluate,
    question=question,
    # Verdicts are about one of a run's texts: they stand in its details.
    level=None,
    values=values,
    combine=combine,
    summary=summary,
    metrics=metrics,
    table=table,
    plots=plot_data.plots,
    over_models=over_models,
    lint=checks.lint,
    recognises=dataset.recognises,
    audit=anchors,
    asked=askers,
)
