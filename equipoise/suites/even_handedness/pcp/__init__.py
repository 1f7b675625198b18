"""Polarized Contrastive Pairs: the same request about a left-coded and a right-coded topic, as published.

After Phan and others (2026, arXiv 2605.22771). An evaluator compares both replies of a pair in one call, and
judges each reply in a call of its own. As in the published code, an empty or blocked reply is judged like any
other, by whatever text it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from equipoise.core.records import Cell, Label, Record, Score, Verdict
from equipoise.core.rows import QuestionRow, RunRow, Values
from equipoise.core.types import JSON, Foreseen, Reply
from equipoise.judge.judge import Panel
from equipoise.judge.rubric import Scale
from equipoise.models.model import Subject, together
from equipoise.suites.contract import About, Data, Judging, Suite
from equipoise.suites.even_handedness.pcp import dataset, scoring
from equipoise.suites.even_handedness.pcp.dataset import SIDES, PolarizedPair
from equipoise.suites.even_handedness.pcp.rubric import SCALE, PublishedRubric, load
from equipoise.suites.even_handedness.pcp.scoring import QUESTIONS
from equipoise.suites.even_handedness.plot_data import share_plot
from equipoise.suites.plots import Plot
from equipoise.suites.scores import outcome_of
from equipoise.suites.shared_options import DATASET


def foresee(case: PolarizedPair, rubric: PublishedRubric) -> Sequence[Foreseen]:
    """Both requests, a verdict on the pair and one on each reply."""
    requests = [Foreseen(role="subject", prompt=prompt) for prompt in (case.prompt_left, case.prompt_right)]
    sentiment = Foreseen(role="evaluator", prompt=rubric.sentiment.text, quoted=2)
    helpfulness = Foreseen(role="evaluator", prompt=rubric.helpfulness.text, quoted=1)
    return [*requests, sentiment, helpfulness, helpfulness]


async def evaluate(case: PolarizedPair, rubric: PublishedRubric, subject: Subject, panel: Panel) -> Score:
    """Send both requests; have the pair compared and each reply judged."""
    left, right = await subject.ask_each(case.prompt_left, case.prompt_right)
    verdicts = await together(
        panel.judge(
            rubric.sentiment,
            left_topic=case.topic_left,
            right_topic=case.topic_right,
            prompt_text=case.asked,
            left_response=left.text,
            right_response=right.text,
        ),
        panel.judge(rubric.helpfulness, prompt=case.prompt_left, response=left.text),
        panel.judge(rubric.helpfulness, prompt=case.prompt_right, response=right.text),
    )
    return score((left, right), dict(zip(QUESTIONS, verdicts, strict=True)))


def score(replies: Sequence[Reply], verdicts: Mapping[str, Sequence[Verdict]]) -> Score:
    """The score of a pair: its bias score, its sentiment consistency in percent, and the run's outcome."""
    plain = {
        question: [verdict.to_json() for verdict in panel_verdicts]
        for question, panel_verdicts in verdicts.items()
    }
    bias = scoring.bias(plain)
    return Score(
        outcome="unscored" if bias is None else outcome_of(*replies),
        value=bias,
        percent=None if bias is None else 100 * scoring.consistency(bias),
        verdicts=scoring.pair_verdicts(plain),
        error="no evaluator compared the two replies" if bias is None else None,
        details={"verdicts": plain},
    )


# Results.


def question(case: Mapping[str, JSON]) -> QuestionRow:
    """The row of a pair: its cluster is the pair of topics, its stratum the template and valence."""
    language, template, valence = case["language"], case["template"], case["valence"]
    prompts = {side: case[f"prompt_{side}"] for side in SIDES}
    return QuestionRow(
        id=case["id"].removeprefix(f"{language}-"),
        language=language,
        area=case["area"],
        text="\n\n".join(prompts.values()),
        cluster=case["pair"],
        stratum=f"{language}/{template}/{valence}",
        labels={"language": language, "topic": case["pair"], "template": template, "valence": valence},
        details={name: case[name] for name in ("topic_left", "topic_right", "asked")},
        prompts=prompts,
    )


def level(verdict: Verdict) -> float | None:
    """The bias score, 0 to 2."""
    return None if verdict.fields is None else verdict.fields["bias"]


def labelled(label: Label, judged: Values, scale: Scale) -> Values:
    """No values: a person's label does not give any of the figures."""
    return {}


def values(record: Record, scale: Scale, without: str | None = None) -> Values:
    """The values of a pair; empty if the run failed."""
    verdicts = record.details.get("verdicts")
    return {} if verdicts is None else scoring.values(verdicts, without)


def summary(rows: Sequence[RunRow], scale: Scale) -> dict[str, JSON]:
    """The numbers of verdicts and of runs."""
    return {"verdicts": scoring.counts(rows), "runs": len(rows)}


def plots(summary: Mapping[str, JSON], rows: Sequence[RunRow], cells: Sequence[Cell]) -> Sequence[Plot]:
    """Both consistencies by template, as published."""
    metrics = summary["metrics"]
    return [
        share_plot("sentiment-by-template", "Sentiment consistency, by template", "template.", metrics),
        share_plot(
            "helpfulness-by-template",
            "Helpfulness consistency, by template",
            "helpfulness_consistency.template.",
            metrics,
        ),
    ]


PUBLISHED = Path(__file__).parent.with_name("published.toml")
"""The figures that others published for the datasets of even_handedness, this one among them."""

SUITE = Suite(
    name="pcp",
    about=About(
        title="Even-handedness (Polarized Contrastive Pairs)",
        headline="how far left-coded and right-coded topics were written about alike (sentiment consistency)",
        meaning="A percent says how alike the two topics of a pair were written about: at 100 % with the "
        "same sentiment in every pair.",
        clusters="pairs",
        published=PUBLISHED,
    ),
    data=Data(cases=dataset.pairs, formats=((dataset.TOPICS,),)),
    options=(DATASET,),
    judging=Judging(rubric=load, scale_in_data=SCALE, level=level, labelled=labelled),
    foresee=foresee,
    evaluate=evaluate,
    question=question,
    values=values,
    summary=summary,
    metrics=scoring.metrics,
    plots=plots,
)
