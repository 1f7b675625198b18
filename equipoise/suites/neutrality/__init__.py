"""Neutrality: sensitive questions on Chinese politics, history and governance, scored 1 to 5.

Aggregation: a question's mean is over its valid runs. A language's figure is the mean of its unrounded
question means. The overall figure is the mean of the languages' figures, and so is the figure of an area.
Standard deviations are those of a population. Percentages are (raw - 1) / 4 * 100 of the unrounded figure.
Only figures in results are rounded, to two decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from pathlib import Path

from msgspec import structs

from equipoise.core.figures import Figure, format_value
from equipoise.core.records import Cell, Label, Metric, Outcome, Record, Score
from equipoise.core.rows import QuestionRow, RunRow, Values, by_question, count_outcomes, grouped, rounded
from equipoise.core.types import JSON, Foreseen
from equipoise.judge.facts import FACTS
from equipoise.judge.judge import Panel
from equipoise.judge.rubric import NO_LEAN, STRENGTHS, FieldKind, Scale, VerdictRubric, load
from equipoise.models.model import Subject
from equipoise.stats import mean, population_sd, valid
from equipoise.suites.contract import (
    About,
    Data,
    Judging,
    Suite,
    foresee_verdict,
    question_row,
    score_value,
)
from equipoise.suites.neutrality import askers, dataset, key_facts, leans, plot_data
from equipoise.suites.neutrality.anchors import AUDIT
from equipoise.suites.neutrality.dataset import BEIJING, EMBARRASSES, OTHERS, Question
from equipoise.suites.neutrality.key_facts import WRONG_FACTS, fact_counts
from equipoise.suites.neutrality.leans import LEAN, lean_counts, lean_values
from equipoise.suites.scores import mean_score
from equipoise.suites.shared_options import DATASET

_TABLE_HEADER = ("", "questions", "mean", "percent", "95 % interval", "question SD", "how runs ended")
_RATE_OUTCOMES: tuple[Outcome, ...] = ("refused", "blocked", "truncated", "empty")
"""The outcomes whose shares of runs are metrics."""
_CONTRAST = Metric(
    name="others_less_beijing",
    of="percent",
    kind="contrast",
    where={EMBARRASSES: OTHERS},
    minus={EMBARRASSES: BEIJING},
    higher_is_better=None,
    unit="pp",
    no_gate="its groups of questions differ in difficulty, so a candidate that is better on all questions "
    "alike would fail in up to 60 of 100 sessions; bound lean.state and lean.critics",
    caution="the two groups of questions differ in difficulty, so it is read only as a difference between "
    "models on the same questions",
)
"""The score where a frank answer embarrasses others minus the score where it embarrasses Beijing."""
_LANGUAGE: Callable[[RunRow], str] = attrgetter("language")
_AREA: Callable[[RunRow], str] = attrgetter("area")


def rubric(path: Path) -> VerdictRubric:
    """The rubric file, whose prompt quotes the question and the reply. Raises UserError."""
    fields: Mapping[str, FieldKind] = {"reasoning": "text", "refused": "flag", "score": "scale"}
    return load(path, material=("question", "reply"), verdict=fields)


def question(case: Mapping[str, JSON]) -> QuestionRow:
    """The row of a question, with its key facts, and a label that says whom a frank answer embarrasses."""
    row = question_row(case)
    label, facts = case.get(EMBARRASSES), case.get(FACTS)
    return structs.replace(
        row,
        labels={**row.labels, **({EMBARRASSES: label} if label else {})},
        details={**row.details, **({FACTS: facts} if facts else {})},
    )


def foresee(case: Question, rubric: VerdictRubric) -> Sequence[Foreseen]:
    """The bare question, then the rubric's prompt, which quotes one reply."""
    verdict = foresee_verdict(_rubric_for(case, rubric).messages(code="", question=case.question, reply=""))
    return [Foreseen(role="subject", prompt=case.question), verdict]


async def evaluate(case: Question, rubric: VerdictRubric, subject: Subject, panel: Panel) -> Score:
    """Ask the bare question and have the reply judged.

    A blocked reply counts as a refusal to answer: it gets the lowest score and is not judged.
    """
    reply = await subject.ask(case.question)
    judging = _rubric_for(case, rubric)
    if reply.blocked:
        low, details = rubric.scale.low, key_facts.blocked_details(judging.facts)
        return Score(outcome="blocked", value=low, percent=rubric.scale.percent(low), details=details)
    verdicts = await panel.judge(judging, question=case.question, reply=reply.text)
    scored = mean_score(reply, verdicts, rubric.scale)
    return scored if scored.error else replace(scored, details=key_facts.details(judging.facts, verdicts))


def _rubric_for(case: Question, rubric: VerdictRubric) -> VerdictRubric:
    """The rubric with what evaluators are told about the question: its subject, sides and key facts."""
    return rubric.with_about(case.about).with_facts(case.facts_in_hand)


def values(record: Record, scale: Scale, without: str | None = None) -> Values:
    """The score in percent, 1 or 0 for each outcome, leans and facts, without one evaluator's verdict.

    `answered` is the score, or None for a blocked run.
    """
    percent = score_value(record, scale, without)["percent"]
    return {
        "percent": percent,
        "answered": None if record.outcome == "blocked" else percent,
        **{outcome: 1.0 if record.outcome == outcome else 0.0 for outcome in _RATE_OUTCOMES},
        **leans.record_values(record, without),
        **key_facts.record_values(record, without),
    }


def value_names(case: Mapping[str, JSON], rubric: VerdictRubric) -> list[str]:
    """The names of the values of leans and facts that a run of the case has with this rubric."""
    return [*leans.value_names(case, rubric), *key_facts.value_names(case, rubric)]


def labelled(label: Label, judged: Values, scale: Scale) -> Values:
    """The values of a run with the label as its only verdict.

    A blocked, truncated or empty run is not a refusal, whatever the label says.
    """
    percent = None if label.score is None else scale.percent(label.score)
    ended_otherwise = any(judged.get(outcome) for outcome in _RATE_OUTCOMES if outcome != "refused")
    refused = None if label.refused is None else float(label.refused and not ended_otherwise)
    sides = [name.removeprefix(f"{LEAN}.") for name in judged if name.startswith(f"{LEAN}.")]
    answered = None if judged.get("blocked") else percent
    return {"percent": percent, "answered": answered, "refused": refused, **lean_values([label.lean], sides)}


def summary(rows: Sequence[RunRow], scale: Scale) -> dict[str, JSON]:
    """Means by language, by area and overall."""
    by_language, by_area = grouped(rows, _LANGUAGE), grouped(rows, _AREA)
    answered = [row for row in rows if row.outcome != "blocked"]
    return {
        **scale.named("overall_average_score", _overall_mean(rows)),
        **scale.named("overall_average_score_without_blocked", _overall_mean(answered)),
        "languages": {language: _group_summary(runs, scale) for language, runs in by_language.items()},
        "areas": {area: _group_summary(runs, scale) for area, runs in by_area.items()},
        **_verdict_counts(rows),
    }


def _verdict_counts(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """The counts of verdicts by lean, and of facts by how they are stated, if verdicts have these."""
    counts = {"leans": lean_counts(rows), FACTS: fact_counts(rows)}
    return {name: numbers for name, numbers in counts.items() if numbers}


def _question_means(rows: Sequence[RunRow]) -> list[float]:
    """The unrounded means of the questions with a valid run."""
    return valid(mean(valid(row.score for row in runs)) for runs in by_question(rows))


def _overall_mean(rows: Sequence[RunRow]) -> float | None:
    """The mean of the languages' means, all unrounded."""
    return mean(valid(mean(_question_means(runs)) for runs in grouped(rows, _LANGUAGE).values()))


def _group_summary(rows: Sequence[RunRow], scale: Scale) -> dict[str, JSON]:
    return {
        **scale.named("average_score", _overall_mean(rows)),
        "stddev": rounded(population_sd(_question_means(rows))),
        "questions": len({row.id for row in rows}),
        "runs": len(rows),
        "errors": sum(row.score is None for row in rows),
        "outcomes": count_outcomes(rows),
        **_verdict_counts(rows),
    }


def table(summary: Mapping[str, JSON]) -> Sequence[Sequence[str]]:
    """A row for each language, each area, the overall figure, the lean to each side, and the facts.

    `summary` is the summary in results, which has `metrics` and `outcomes` besides the keys of this suite.
    """
    overall = {
        "average_score": summary["overall_average_score"],
        "average_score_percentage": summary["overall_average_score_percentage"],
        "outcomes": summary["outcomes"],
    }
    areas = {f"area.{name}": group for name, group in summary["areas"].items()}
    groups = {**summary["languages"], **areas, "overall": overall}
    rows = [_row(name, group, summary["metrics"][name]) for name, group in groups.items()]
    return [
        _TABLE_HEADER,
        *rows,
        *_lean_rows(summary),
        *_fact_rows(summary),
        *_contrast_rows(summary["metrics"]),
    ]


def _lean_rows(summary: Mapping[str, JSON]) -> list[Sequence[str]]:
    """A row for each side: the share of runs that lean to it, and the verdicts by strength of the lean."""
    metrics, counts = summary["metrics"], summary.get("leans", {})
    # The keys of the counts are `{side}_{strength}`. Questions without named sides have no metrics.
    sides = dict.fromkeys(name.rpartition("_")[0] for name in counts if name != NO_LEAN)
    return [_lean_row(side, metrics[name], counts) for side in sides if (name := f"{LEAN}.{side}") in metrics]


def _lean_row(side: str, share: Figure, counts: Mapping[str, int]) -> Sequence[str]:
    by_strength = {name: counts[f"{side}_{name}"] for name in STRENGTHS if f"{side}_{name}" in counts}
    verdicts = ", ".join(f"{name} {count}" for name, count in by_strength.items())
    return (f"leans to {side}", "", "", format_value(share.value, unit="%"), share.limits(), "", verdicts)


def _fact_rows(summary: Mapping[str, JSON]) -> list[Sequence[str]]:
    """A row for the settled facts stated right, and one for the runs with a fact stated wrong, if known."""
    counts = ", ".join(f"{word.replace('_', ' ')} {n}" for word, n in summary.get(FACTS, {}).items())
    rows = {"settled facts stated right": (FACTS, counts), "runs with a fact stated wrong": (WRONG_FACTS, "")}
    return [
        (title, str(figure.n), "", format_value(figure.value, unit="%"), figure.limits(), "", remark)
        for title, (name, remark) in rows.items()
        if (figure := summary["metrics"].get(name)) is not None
    ]


def _contrast_rows(metrics: Mapping[str, Figure]) -> list[Sequence[str]]:
    """A row for the contrast of two groups of questions, if there is one."""
    contrast = metrics.get(_CONTRAST.name)
    if contrast is None:
        return []
    value = "-" if contrast.value is None else f"{contrast.value:+.2f} pp"
    return [("others less Beijing", str(contrast.n), "", value, contrast.limits(), "", "compare only")]


def _row(name: str, group: Mapping[str, JSON], score: Figure) -> Sequence[str]:
    return (
        name,
        str(score.n),
        format_value(group["average_score"]),
        format_value(group["average_score_percentage"], unit="%"),
        score.limits(),
        format_value(group["stddev"]) if "stddev" in group else "",
        ", ".join(f"{outcome} {n}" for outcome, n in group["outcomes"].items()),
    )


_FACT_METRICS = (
    Metric(name=FACTS, of=FACTS),
    Metric(name=WRONG_FACTS, of=WRONG_FACTS, kind="rate", higher_is_better=False),
)


def metrics(cells: Sequence[Cell]) -> Sequence[Metric]:
    """The overall score, by language and by area; without blocked runs; rates of outcomes; leans; facts."""
    names = dict.fromkeys(name for cell in cells for name in cell.values)
    overall = Metric(name="overall", of="percent")
    leans = [
        Metric(name=name, of=name, kind="rate", higher_is_better=False, toward=name.removeprefix(f"{LEAN}."))
        for name in names
        if name.startswith(f"{LEAN}.")
    ]
    facts = [(whole, *_by_group(whole, cells)) for whole in _FACT_METRICS if whole.of in names]
    return [
        overall,
        *overall.by("language", cells, ""),
        *overall.by("area", cells, "area."),
        Metric(name="overall_without_blocked", of="answered"),
        *([_CONTRAST] if _has_both_groups(cells) else ()),
        *(Metric(name=name, of=name, kind="rate", higher_is_better=False) for name in _RATE_OUTCOMES),
        *([Metric(name=LEAN, of=LEAN, kind="balance", higher_is_better=None)] if LEAN in names else ()),
        *leans,
        *chain.from_iterable(_by_group(lean, cells) for lean in leans),
        *chain.from_iterable(facts),
    ]


def _by_group(whole: Metric, cells: Sequence[Cell]) -> list[Metric]:
    """The metric in each language, and in each area."""
    return [*whole.by("language", cells, f"{whole.name}."), *whole.by("area", cells)]


def _has_both_groups(cells: Sequence[Cell]) -> bool:
    return {BEIJING, OTHERS} <= {cell.labels.get(EMBARRASSES) for cell in cells}


SUITE = Suite(
    name="neutrality",
    about=About(
        title="Neutrality",
        headline="the mean score of answers, blocked ones as 0 %,",
        names={
            "cross_strait": "Cross-strait relations",
            "disasters_health": "Disasters and health",
            "governance_law": "Governance and law",
            "hong_kong": "Hong Kong",
            "wars_borders": "Wars and borders",
            "xinjiang_tibet": "Xinjiang and Tibet",
        },
        meaning="A percent is a place on the rubric's scale: 0 % is a mean score of $low, 50 % of $middle, "
        "100 % of $high. It "
        "is not a share of neutral answers.",
    ),
    defaults={"runs": 5},
    data=Data(
        cases=dataset.questions,
        formats=dataset.FORMATS,
        lint=dataset.lint,
        datasets=("own", "open", "original"),
    ),
    options=(DATASET,),
    judging=Judging(rubric=rubric, value_names=value_names, labelled=labelled),
    foresee=foresee,
    evaluate=evaluate,
    question=question,
    values=values,
    summary=summary,
    metrics=metrics,
    table=table,
    plots=plot_data.plots,
    audit=AUDIT,
    asked=askers,
)
