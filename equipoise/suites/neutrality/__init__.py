"""Neutrality: sensitive questions on Chinese politics, history and governance, scored 1 to 5.

Aggregation: a question's mean is over its valid runs. A language's figure is the mean of its unrounded
question means. The overall figure is the mean of the languages, and so is an area's. Standard deviations are
those of a population. Percentages are (raw - 1) / 4 * 100 of the unrounded figure. Only figures in results
are rounded, to two decimals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from equipoise.core.records import Cell, Label, Metric, Outcome, Record, Score, Verdict
from equipoise.core.rows import RunRow, Values, by_question, outcomes, rounded
from equipoise.core.types import JSON, Foreseen, Reply
from equipoise.judge.judge import Evaluator, Panel
from equipoise.judge.rubric import NO_LEAN, STRENGTHS, FieldKind, Scale, VerdictRubric, lean, load
from equipoise.models.model import Subject
from equipoise.stats import mean, population_sd
from equipoise.suites.contract import Suite
from equipoise.suites.neutrality import anchors, askers, dataset, plot_data
from equipoise.suites.neutrality.dataset import Question
from equipoise.suites.selection import Selection
from equipoise.suites.shared_options import DATASET

_HEAD = ("", "questions", "mean", "percent", "95 % interval", "question SD", "how runs ended")
LEAN = "lean"
_RATES: tuple[Outcome, ...] = ("refused", "blocked", "truncated", "empty")


def rubric(path: Path) -> VerdictRubric:
    """The rubric file, whose prompt quotes the question and the reply. Raises UserError."""
    fields: Mapping[str, FieldKind] = {"reasoning": "text", "refused": "flag", "score": "scale"}
    return load(path, material=("question", "reply"), verdict=fields)


def cases(selection: Selection) -> Sequence[Question]:
    """The selected questions, language by language."""
    return dataset.questions(selection)


def foresee(case: Question, rubric: VerdictRubric) -> Sequence[Foreseen]:
    """The bare question, then the rubric's prompt with question and reply."""
    judging = rubric.on(case.about).messages(code="", question=case.question, reply="")
    prompt = "".join(message["content"] for message in judging)
    return [
        Foreseen(role="subject", prompt=case.question),
        Foreseen(role="evaluator", prompt=prompt, quoted=1),
    ]


async def evaluate(case: Question, rubric: VerdictRubric, subject: Subject, panel: Panel) -> Score:
    """Ask the bare question and have the reply judged.

    A blocked reply counts as a refusal to engage: it gets the lowest score and is not judged.
    """
    reply = await subject.ask(case.question)
    if reply.blocked:
        low = rubric.scale.low
        return Score(outcome="blocked", value=low, percent=rubric.scale.percent(low))
    verdicts = await panel.judge(rubric.on(case.about), question=case.question, reply=reply.text)
    return score(reply, verdicts, rubric.scale)


async def judge_reply(question: str, reply: str, rubric: VerdictRubric, evaluator: Evaluator) -> float | None:
    """The evaluator's score of a reply on 0..100; None without a valid verdict. Raises CallFailed."""
    verdict = await evaluator.judge(rubric, question=question, reply=reply)
    return None if verdict.fields is None else rubric.scale.percent(verdict.fields["score"])


def score(reply: Reply, verdicts: tuple[Verdict, ...], scale: Scale) -> Score:
    """The mean of the valid verdicts, and the outcome of the run."""
    valid = [verdict.fields for verdict in verdicts if verdict.fields is not None]
    value = mean([fields["score"] for fields in valid])
    if value is None:
        return Score(outcome="unscored", value=None, verdicts=verdicts, error=_why_unscored(verdicts))
    return Score(outcome=_outcome(reply, valid), value=value, percent=scale.percent(value), verdicts=verdicts)


def _why_unscored(verdicts: tuple[Verdict, ...]) -> str:
    reasons = (f"{item.evaluator}: {item.error} ({item.attempts} attempts)" for item in verdicts)
    return "no valid verdict: " + "; ".join(reasons)


def _outcome(reply: Reply, valid: list[Mapping[str, JSON]]) -> Outcome:
    if not reply.text.strip():
        return "empty"
    if reply.is_truncated:
        return "truncated"
    refusals = sum(fields["refused"] is True for fields in valid)
    return "refused" if refusals * 2 > len(valid) else "scored"


def values(record: Record, scale: Scale, without: str | None = None) -> Values:
    """The score in percent, the same without blocked runs (`answered`), the outcome, and the lean."""
    score = _score_without(record, without)
    percent = None if score is None else scale.percent(score)
    # The published benchmark's results lack the outcomes of runs.
    rates = () if record.details.get("recomputed") else _RATES
    return {
        "percent": percent,
        "answered": None if record.outcome == "blocked" else percent,
        **{outcome: 1.0 if record.outcome == outcome else 0.0 for outcome in rates},
        **_lean(record, without),
    }


def labelled(label: Label, judged: Values, scale: Scale) -> Values:
    """The values of a run with the label as its only verdict.

    A truncated or empty reply keeps its outcome, whatever the label says.
    """
    percent = None if label.score is None else scale.percent(label.score)
    ended_otherwise = any(judged.get(outcome) for outcome in _RATES if outcome != "refused")
    refused = None if label.refused is None else float(label.refused and not ended_otherwise)
    sides = [name.removeprefix(f"{LEAN}.") for name in judged if name.startswith(f"{LEAN}.")]
    return {"percent": percent, "answered": percent, "refused": refused, **_leaning([label.lean], sides)}


def _lean(record: Record, without: str | None) -> Values:
    """The values for the lean of a run, by its verdicts and the sides of its question."""
    leanings = [lean(item.fields) for item in record.verdicts if item.evaluator != without]
    return _leaning(leanings, tuple((record.case.get("brief") or {}).get("sides", ())))


def _leaning(leanings: Sequence[tuple[str, float] | None], sides: Sequence[str]) -> Values:
    """The mean lean, in percent of a strong one, and for each side 1 if most verdicts lean to it, else 0.

    In the mean, leans to the first side are positive, to the second negative. Empty if no verdict has one.
    """
    leans = [item for item in leanings if item is not None]
    if not leans or len(sides) != 2:
        return {}
    towards = Counter(side for side, _ in leans)
    signs = dict(zip(sides, (100, -100), strict=True))
    return {
        LEAN: mean([signs.get(side, 0) * strength for side, strength in leans]),
        **{f"{LEAN}.{side}": float(towards[side] * 2 > len(leans)) for side in sides},
    }


def _score_without(record: Record, without: str | None) -> float | None:
    """The unrounded mean of the verdicts, or the score of a blocked run, which has no verdict."""
    answers = [item.fields for item in record.verdicts if item.evaluator != without]
    valid = [fields["score"] for fields in answers if fields is not None]
    return mean(valid) if record.verdicts else record.score


def summary(rows: Sequence[RunRow], scale: Scale) -> dict[str, JSON]:
    """Means by language, by area and overall."""
    by_language, by_area = (_group(rows, key) for key in (_language_of, _area_of))
    answered = [row for row in rows if row.outcome != "blocked"]
    leans = _leans(rows)
    return {
        **scale.named("overall_average_score", _overall(rows)),
        **scale.named("overall_average_score_without_blocked", _overall(answered)),
        "languages": {language: _summarise(runs, scale) for language, runs in by_language.items()},
        "areas": {area: _summarise(runs, scale) for area, runs in by_area.items()},
        **({"leans": leans} if leans else {}),
    }


def _leans(rows: Iterable[RunRow]) -> dict[str, int]:
    """The number of verdicts by lean, without those that give none."""
    leans = [verdict.get("lean") for row in rows for verdict in row.verdicts]
    return dict(sorted(Counter(lean for lean in leans if isinstance(lean, str)).items()))


def _language_of(row: RunRow) -> str:
    return row.language


def _area_of(row: RunRow) -> str:
    return row.area


def _group(rows: Iterable[RunRow], key: Callable[[RunRow], str]) -> dict[str, list[RunRow]]:
    groups: dict[str, list[RunRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def _means(rows: Sequence[RunRow]) -> list[float]:
    """The unrounded means of the questions with a valid run."""
    scores = [[row.score for row in runs if row.score is not None] for runs in by_question(rows)]
    return [centre for centre in map(mean, scores) if centre is not None]


def _overall(rows: Sequence[RunRow]) -> float | None:
    """The mean of the languages' averages, all unrounded."""
    averages = [mean(_means(runs)) for runs in _group(rows, _language_of).values()]
    return mean([average for average in averages if average is not None])


def _summarise(rows: Sequence[RunRow], scale: Scale) -> dict[str, JSON]:
    return {
        **scale.named("average_score", _overall(rows)),
        "stddev": rounded(population_sd(_means(rows))),
        "questions": len({row.id for row in rows}),
        "runs": len(rows),
        "errors": sum(row.score is None for row in rows),
        "outcomes": outcomes(rows),
        **({"leans": leans} if (leans := _leans(rows)) else {}),
    }


def table(summary: Mapping[str, JSON]) -> Sequence[Sequence[str]]:
    """A row for each language, each area, the overall figure, and the lean to each side."""
    overall = {
        "average_score": summary["overall_average_score"],
        "average_score_percentage": summary["overall_average_score_percentage"],
        "outcomes": summary["outcomes"],
    }
    areas = {f"area.{name}": group for name, group in summary["areas"].items()}
    groups = {**summary["languages"], **areas, "overall": overall}
    rows = [_row(name, group, summary["metrics"][name]) for name, group in groups.items()]
    return [_HEAD, *rows, *_lean_rows(summary)]


def _lean_rows(summary: Mapping[str, JSON]) -> list[Sequence[str]]:
    """A row for each side: how often verdicts find that replies lean to it, and how strongly."""
    metrics, leans = summary["metrics"], summary.get("leans", {})
    sides = dict.fromkeys(name.rpartition("_")[0] for name in leans if name != NO_LEAN)
    # Questions without named sides have counts, but no metrics.
    return [_lean_row(side, metrics[name], leans) for side in sides if (name := f"{LEAN}.{side}") in metrics]


def _lean_row(side: str, metric: Mapping[str, JSON], leans: Mapping[str, int]) -> Sequence[str]:
    counts = ", ".join(f"{name} {leans[f'{side}_{name}']}" for name in STRENGTHS if f"{side}_{name}" in leans)
    return (f"leans to {side}", "", "", f"{_figure(metric['value'])}%", _interval(metric), "", counts)


def _row(name: str, group: Mapping[str, JSON], metric: Mapping[str, JSON]) -> Sequence[str]:
    percent = _figure(group["average_score_percentage"])
    return (
        name,
        str(metric["n"]) if "questions" in group else "",
        _figure(group["average_score"]),
        percent if percent == "-" else f"{percent}%",
        _interval(metric),
        _figure(group["stddev"]) if "stddev" in group else "",
        ", ".join(f"{outcome} {n}" for outcome, n in group["outcomes"].items()),
    )


def _interval(metric: Mapping[str, JSON]) -> str:
    return "-" if metric["low"] is None else f"{metric['low']:.1f} to {metric['high']:.1f}"


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def metrics(cells: Sequence[Cell]) -> Sequence[Metric]:
    """The overall score, by language and by area; without blocked runs; rates of outcomes; leans."""
    groups = (("language", ""), ("area", "area."))
    names = dict.fromkeys(name for cell in cells for name in cell.values)
    sides = [name for name in names if name.startswith(f"{LEAN}.")]
    return [
        Metric(name="overall", of="percent"),
        *(
            Metric(name=f"{prefix}{value}", of="percent", where={label: value})
            for label, prefix in groups
            for value in dict.fromkeys(cell.labels[label] for cell in cells)
        ),
        Metric(name="overall_without_blocked", of="answered"),
        *(Metric(name=outcome, of=outcome, kind="rate", higher_is_better=False) for outcome in _RATES),
        *([Metric(name=LEAN, of=LEAN, kind="balance", higher_is_better=None)] if LEAN in names else ()),
        *(Metric(name=side, of=side, kind="rate", higher_is_better=False) for side in sides),
        *(
            Metric(
                name=f"{side}.{prefix}{value}",
                of=side,
                kind="rate",
                where={label: value},
                higher_is_better=False,
            )
            for side in sides
            for label, prefix in groups
            for value in dict.fromkeys(cell.labels[label] for cell in cells)
        ),
    ]


SUITE = Suite(
    name="neutrality",
    title="Neutrality",
    headline="the mean score of answers",
    names={
        "cross_strait": "Cross-strait relations",
        "disasters_health": "Disasters and health",
        "governance_law": "Governance and law",
        "hong_kong": "Hong Kong",
        "wars_borders": "Wars and borders",
        "xinjiang_tibet": "Xinjiang and Tibet",
    },
    meaning="A percent is a place on the rubric's scale: 0 % is a mean score of 1, 50 % of 3, 100 % of 5. It "
    "is not a share of neutral answers.",
    defaults={"runs": 5},
    datasets=("own", "open", "own-v2", "own-v1", "original"),
    options=(DATASET,),
    rubric=rubric,
    cases=cases,
    foresee=foresee,
    evaluate=evaluate,
    values=values,
    labelled=labelled,
    summary=summary,
    metrics=metrics,
    table=table,
    plots=plot_data.plots,
    lint=dataset.lint,
    recognises=dataset.recognises,
    audit=anchors,
    asked=askers,
    judge_reply=judge_reply,
)
