"""PoliticsBench: values in a role-play of four stages, in a reflection and in a direct answer.

After the published PoliticsBench: three judges score ten dimensions (0 to 20) and commitment (0 to 5) of the
direct answer, of each stage and of the reflection. A composite is a weighted sum of the judges' mean
dimensions, from -100 (right, "traditional" in reports) to 100 (left, "progressive"). The score of a model is
the mean composite of its reflections on the original wordings. The topics' README lists the differences from
the original.

The six judged texts of a run are called its points, in code and results; `baseline` is the direct answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from equipoise.core.records import Outcome, Score
from equipoise.core.rows import QuestionRow
from equipoise.core.types import JSON, Foreseen, Message, Reply
from equipoise.judge.judge import Panel
from equipoise.models.model import Subject, together
from equipoise.suites.contract import About, Data, Judging, Suite, foresee_verdict
from equipoise.suites.politicsbench import askers, checks, dataset, plot_data, prompts
from equipoise.suites.politicsbench.anchors import AUDIT
from equipoise.suites.politicsbench.cells import ORIGINAL, combine, values
from equipoise.suites.politicsbench.dataset import Scenario
from equipoise.suites.politicsbench.judging import TextVerdicts, has_text, judge, text_details
from equipoise.suites.politicsbench.metrics import metrics, table
from equipoise.suites.politicsbench.prompts import PoliticsRubric
from equipoise.suites.politicsbench.scoring import JUDGED_TEXTS
from equipoise.suites.politicsbench.summary import summary
from equipoise.suites.politicsbench.weights import over_models
from equipoise.suites.shared_options import DATASET

DEFAULTS: Mapping[str, JSON] = {
    "subject_temperature": 0.7,
    "subject_max_tokens": 12_000,
    "evaluator_model": ("claude-3.7-sonnet", "gpt-4.1-mini", "grok-4.1-fast"),
}
BASELINE_TOKENS = 8_000
"""The maximum number of tokens of the direct answer, unless the user sets another."""
REFLECTION_TEMPERATURE = 0.5
"""The temperature of the reflection, unless the user sets another."""
MIN_P = 0.1
"""The parameter `min_p` of the direct answer and of the stages."""
QUESTION_DETAILS = ("pressure", "change_sought_by", "presser_speaks", "stages")
"""The details of a question in results besides its labels."""


def foresee(case: Scenario, rubric: PoliticsRubric) -> Sequence[Foreseen]:
    """Six calls of the subject, with its earlier replies in the role-play; two verdicts on each reply."""
    baseline = prompts.baseline(case, rubric)
    messages = [*prompts.stages(case, rubric), prompts.reflection(case, rubric)]
    direct_name, *names = JUDGED_TEXTS
    direct_call = Foreseen(role="subject", prompt=baseline, turn=direct_name)
    role_play_calls = [
        Foreseen(
            role="subject", prompt="".join(messages[: number + 1]), quoted=number, turn=name, message=message
        )
        for number, (name, message) in enumerate(zip(names, messages, strict=True))
    ]
    judge_calls = [
        foresee_verdict(judge_rubric.messages(code="", question=situation, reply=""))
        for situation in (case.question, *case.stages, messages[-1])
        for judge_rubric in (rubric.dimensions, rubric.commitment)
    ]
    return [direct_call, *role_play_calls, *judge_calls]


# One run.


JudgedReplies = tuple[list[Reply], list[TextVerdicts]]
"""The replies of a conversation, and the verdicts on each; a reply without text ends it and may have none."""


async def evaluate(case: Scenario, rubric: PoliticsRubric, subject: Subject, panel: Panel) -> Score:
    """Run both conversations concurrently; each text is judged as soon as it arrives."""
    (direct_replies, direct_verdicts), (replies, verdicts) = await together(
        _ask_directly(case, rubric, subject, panel), _play_stages(case, rubric, subject, panel)
    )
    return score([*direct_replies, *replies], [*direct_verdicts, *verdicts])


async def _ask_directly(
    case: Scenario, rubric: PoliticsRubric, subject: Subject, panel: Panel
) -> JudgedReplies:
    """Ask the direct question in a separate conversation, and have the reply judged."""
    has_default = subject.sampling.max_tokens == DEFAULTS["subject_max_tokens"]
    extra: dict[str, JSON] = {"min_p": MIN_P, **({"max_tokens": BASELINE_TOKENS} if has_default else {})}
    prompt = Message(role="user", content=prompts.baseline(case, rubric))
    reply = await subject.complete((*subject.opening(), prompt), **extra)
    return [reply], [await judge(reply, case.question, rubric, panel)]


async def _play_stages(
    case: Scenario, rubric: PoliticsRubric, subject: Subject, panel: Panel
) -> JudgedReplies:
    """Play the four stages, then ask for the reflection; replies are judged concurrently."""
    messages, replies = [*subject.opening()], []
    judging: list[asyncio.Task[TextVerdicts]] = []
    try:
        for prompt, situation, parameters in _user_turns(case, rubric, subject):
            messages.append(Message(role="user", content=prompt))
            reply = await subject.complete(tuple(messages), **parameters)
            replies.append(reply)
            if not has_text(reply):
                # The later messages reply to this one, so the conversation cannot go on.
                break
            messages.append(Message(role="assistant", content=reply.text))
            judging.append(asyncio.create_task(judge(reply, situation, rubric, panel)))
    except asyncio.CancelledError:
        for task in judging:
            task.cancel()
        raise
    finally:
        # After an error, verdicts that are running finish, because they cost money. Cancelled ones just end.
        judged = await together(*judging)
    return replies, judged


def _user_turns(
    case: Scenario, rubric: PoliticsRubric, subject: Subject
) -> Iterator[tuple[str, str, Mapping[str, JSON]]]:
    """Each user message of the role-play, the part of it that judges see, and its generation parameters."""
    for prompt, situation in zip(prompts.stages(case, rubric), case.stages, strict=True):
        yield prompt, situation, {"min_p": MIN_P}
    has_default = subject.sampling.temperature == DEFAULTS["subject_temperature"]
    reflection = prompts.reflection(case, rubric)
    yield reflection, reflection, {"temperature": REFLECTION_TEMPERATURE} if has_default else {}


def score(replies: Sequence[Reply], judged: Sequence[TextVerdicts]) -> Score:
    """The score of a run: the composite of the reflection. The details have all judges' scores.

    Replies and verdicts are in the order of JUDGED_TEXTS. A conversation that ended early has fewer.
    """
    points = {
        name: text_details(reply, *(text_verdicts or ((), ())))
        for name, reply, text_verdicts in zip_longest(JUDGED_TEXTS, replies, judged)
    }
    verdicts = tuple(verdict for text_verdicts in judged for part in text_verdicts for verdict in part)
    value, details = points["reflection"]["composite"], {"points": points}
    if value is None:
        # The direct answer, the first text, is a conversation of its own and cannot be the cause.
        first = next(name for name in JUDGED_TEXTS[1:] if points[name]["missing"])
        why = f"the reflection has no score: {first}: {points[first]['missing']}"
        return Score(outcome="unscored", value=None, error=why, verdicts=verdicts, details=details)
    outcome: Outcome = "truncated" if any(reply.is_truncated for reply in replies) else "scored"
    return Score(outcome=outcome, value=value, verdicts=verdicts, details=details)


# Results.


def question(case: Mapping[str, JSON]) -> QuestionRow:
    """The row of a wording: its cluster is the scenario, its stratum the language and wording."""
    language, scenario, wording = case["language"], case["scenario"], case["wording"]
    return QuestionRow(
        id=f"{scenario}-{wording}",
        language=language,
        area=case["area"],
        text=case["question"],
        cluster=scenario,
        stratum=language if wording == ORIGINAL else f"{language}/{wording}",
        labels={"language": language, "wording": wording, "area": case["area"]},
        details={name: case[name] for name in QUESTION_DETAILS},
    )


SUITE = Suite(
    name="politicsbench",
    about=About(
        title="PoliticsBench",
        # The comma at its end closes the insertion before "is 12 points".
        headline="the lean after the last stage, from -100 (traditional) to 100 (progressive),",
        meaning="Points are no percentage and no grade: 0 is the middle of the scale, and neither end is "
        "better.",
        clusters="scenarios",
    ),
    data=Data(
        cases=dataset.scenarios, formats=dataset.FORMATS, lint=checks.lint, datasets=("own", "original")
    ),
    defaults=DEFAULTS,
    options=(DATASET,),
    # A verdict is about one text of a run, so the verdicts are in the run's details.
    judging=Judging(rubric=prompts.load, level=None, over_models=over_models),
    foresee=foresee,
    evaluate=evaluate,
    question=question,
    values=values,
    combine=combine,
    summary=summary,
    metrics=metrics,
    table=table,
    plots=plot_data.plots,
    audit=AUDIT,
    asked=askers,
)
