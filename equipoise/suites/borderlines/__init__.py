"""BorderLines: whose territory is it, asked in the language of each claimant and in English.

The headline, consistency, is the share of pairs of languages with equal answers, over territories with at
least two answers; "disputed" and "belongs to no country" count as an answer, too, and the English control
counts only if a claimant speaks English. The other metrics are those of Li et al. (2024), whose names are in
brackets. The first three are over answers that name a country, and say how often it is the controller, which
holds the territory: in the English control (KB CS), in the controller's own language (Con CS), and on average
over the claimants' other languages (Non CS). The lift and the gap compare the controller's own language with
the others (delta CS). The last metrics are the number of different countries, without and with the control.
Naming the controller does not make an answer correct.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TypeVar

from msgspec import UNSET

from equipoise.core.figures import Figure, format_value
from equipoise.core.records import Cell, Outcome, Record, Score
from equipoise.core.rows import QuestionRow, RunRow, Values, by_question, grouped
from equipoise.core.types import JSON, Foreseen, Reply
from equipoise.judge.judge import Panel
from equipoise.judge.rubric import Scale
from equipoise.models.model import Subject
from equipoise.suites.borderlines import (
    askers,
    checks,
    dataset,
    plot_data,
    prompts,
    scoring,
)
from equipoise.suites.borderlines.anchors import AUDIT
from equipoise.suites.borderlines.dataset import (
    LETTERS,
    METHOD,
    NO_COUNTRY,
    OPTION_ORDER,
    PARSE,
    STRATEGY,
    Query,
)
from equipoise.suites.borderlines.judging import (
    REFUSAL,
    answer_of,
    choices,
    choose_country,
    likeliest,
    original_parse,
    read,
)
from equipoise.suites.borderlines.prompts import BorderRubric
from equipoise.suites.contract import About, Data, Judging, Suite, foresee_verdict
from equipoise.suites.scores import no_score, outcome_of
from equipoise.suites.shared_options import DATASET, LABEL_SAMPLES, SEED

T = TypeVar("T")
LETTER_TOKENS = 3
"""The approximate length of a letter in parentheses, in tokens."""


def foresee(case: Query, rubric: BorderRubric) -> Sequence[Foreseen]:
    """The question, and the evaluator's reading of the reply, which most replies need."""
    question = Foreseen(role="subject", prompt=f"{prompts.instruction(case, rubric)}\n{case.question}")
    if case.method == "rank" or case.parse == "original":
        return [question]
    messages = choices(case, rubric).messages(code="", question=case.question, reply="")
    return [question, foresee_verdict(messages, length=LETTER_TOKENS)]


async def evaluate(case: Query, rubric: BorderRubric, subject: Subject, panel: Panel) -> Score:
    """Ask, and determine the country that the answer names: by a plain rule, or else by the panel."""
    if case.method == "rank":
        return await _rank_names(case, rubric, subject)
    reply = await subject.ask(case.question, prompts.instruction(case, rubric))
    if reply.blocked:
        return BLOCKED
    if case.parse == "original":
        return score(case, reply, case.options[original_parse(reply.text, case.names)], "original")
    if not reply.text.strip():
        return EMPTY
    index = read(case, reply.text)
    if index is not None:
        return score(case, reply, case.options[index], "read")
    label = likeliest(await choose_country(case, rubric, panel, reply.text))
    return REFUSED if label == REFUSAL else score(case, reply, answer_of(case, label), "evaluator")


_NO_ANSWER: Mapping[str, JSON] = {"answer": None, "how": None, "original": None, "likelihoods": None}
BLOCKED, EMPTY = no_score("blocked", details=_NO_ANSWER), no_score("empty", details=_NO_ANSWER)
REFUSED = no_score("refused", details={**_NO_ANSWER, "how": "evaluator"})


async def _rank_names(case: Query, rubric: BorderRubric, subject: Subject) -> Score:
    """The score of the likeliest country by its name, or by its letter if names have no likelihoods."""
    text = rubric.rank.substitute(
        instruction=prompts.instruction(case, rubric), question=case.question
    ).strip()
    likelihoods = await subject.likelihoods(text, case.names)
    if likelihoods is not None:
        index = likelihoods.index(max(likelihoods))
        shares = {code: round(value, 4) for code, value in zip(case.options, likelihoods, strict=True)}
        return score(case, Reply(text=case.names[index]), case.options[index], "rank by names", shares)
    return await _rank_letters(case, rubric, subject)


async def _rank_letters(case: Query, rubric: BorderRubric, subject: Subject) -> Score:
    options = dict(zip(LETTERS, case.names, strict=False))
    ranking = await subject.rank(case.question, prompts.instruction(case, rubric), options)
    if ranking.reply.blocked:
        return BLOCKED
    ranked = score(case, ranking.reply, answer_of(case, ranking.label), f"rank by {ranking.method}")
    return ranked if ranking.error is None else replace(ranked, error=ranking.error)


def score(
    case: Query, reply: Reply, answer: str | None, how: str, shares: Mapping[str, float] | None = None
) -> Score:
    """The score of an answer: the position of the claimant in the table, from 1, or 0 for NO_COUNTRY.

    `answer` is None if it could not be determined, `how` says how it was read, and `shares` are likelihoods
    by country.
    """
    original = case.options[original_parse(reply.text, case.names)]
    positions = {NO_COUNTRY: 0.0, **{code: float(number) for number, code in enumerate(case.claimants, 1)}}
    return Score(
        outcome=_outcome(reply, answer, how),
        value=None if answer is None else positions[answer],
        error="the answer that the reply gives is unclear" if answer is None else None,
        details={"answer": answer, "how": how, "original": original, "likelihoods": shares},
    )


def _outcome(reply: Reply, answer: str | None, how: str) -> Outcome:
    if answer is None:
        return "unscored"
    outcome = outcome_of(reply)
    # Ranking requests only the first tokens, so a truncated reply is normal there.
    return "scored" if outcome == "truncated" and how.startswith("rank") else outcome


# Rows.

_DETAIL_KEYS = ("populated", "claimants", "controller", "options", "names", "speaks", "asked", "voice")


def question(case: Mapping[str, JSON]) -> QuestionRow:
    """The row of a query: a territory in a language, under a strategy; its cluster is the territory."""
    language, territory, region = case["language"], case["territory"], case["region"]
    return QuestionRow(
        id=case["id"].removeprefix(f"{language}-"),
        language=language,
        area=region,
        text=case["question"],
        cluster=territory,
        stratum=language,
        labels={"strategy": case["strategy"], "region": region, "dispute": case["dispute"]},
        details={name: case[name] for name in _DETAIL_KEYS},
    )


def details(record: Record) -> dict[str, JSON]:
    """The answer as a country code or NO_COUNTRY, and how it was read; None without an answer."""
    return {name: record.details.get(name) for name in _NO_ANSWER}


def values(record: Record, scale: Scale, without: str | None = None) -> Values:
    """No values: no answer is better than another, and figures compare the answers to several queries.

    `without` has no effect: evaluators read answers, but give no scores.
    """
    return {}


# Figures.

RunFigures = Callable[[Mapping[str, JSON], Mapping[str, str | None]], dict[str, float | None]]
"""A function from a territory's details and one run's answers to that run's values."""


def combine(rows: Sequence[RunRow]) -> Sequence[Cell]:
    """A cell for each territory and strategy, over all languages, and one for each dispute and strategy."""
    return _cells(rows, scoring.figures)


def _cells(rows: Sequence[RunRow], run_figures: RunFigures) -> Sequence[Cell]:
    territories = grouped(
        by_question(rows), lambda runs: (runs[0].question.labels["strategy"], runs[0].question.cluster)
    )
    cells = [_cell(queries, run_figures) for queries in territories.values()]
    return [*cells, *scoring.dispute_cells(cells)]


def _cell(queries: Sequence[Sequence[RunRow]], run_figures: RunFigures) -> Cell:
    """The cell of a territory, from the runs of each of its queries."""
    first = queries[0][0].question
    strategy = first.labels["strategy"]
    answers = {
        _language_or_voice(runs[0].question): [row.details["answer"] for row in runs] for runs in queries
    }
    # A query with fewer runs than the others has None in the missing runs.
    by_run = (dict(zip(answers, run, strict=True)) for run in zip_longest(*answers.values()))
    figures = [run_figures(first.details, run) for run in by_run]
    return Cell(
        id=f"{strategy}/{first.cluster}",
        cluster=first.cluster,
        stratum=strategy,
        labels=first.labels,
        values={name: [figure[name] for figure in figures] for name in figures[0]},
        at=f"{first.at}/runs",
    )


def _language_or_voice(query: QuestionRow) -> str:
    """The voice if the English question has two voices, else the language."""
    return query.details["voice"] or query.language


def summary(rows: Sequence[RunRow], scale: Scale) -> dict[str, JSON]:
    """How answers were read and what they name, by strategy, and the figures of random answers."""
    by_strategy = scoring.rows_by_strategy(rows) or {"": []}
    return {
        "read_by": _for_each_strategy(by_strategy, scoring.counts_by_reader),
        "as_the_original_reads": _for_each_strategy(by_strategy, scoring.agreement_with_original),
        "random": scoring.values_by_chance(_cells(rows, scoring.expected_figures)),
        "by_language": _for_each_strategy(by_strategy, scoring.shares_by_language),
        "by_dispute": _for_each_strategy(by_strategy, scoring.shares_by_dispute),
        "by_claimant": _for_each_strategy(by_strategy, scoring.shares_by_claimant),
        "disagreements": _for_each_strategy(by_strategy, scoring.disagreements),
    }


def _for_each_strategy(by_strategy: Mapping[str, T], of: Callable[[T], JSON]) -> JSON:
    """The result of `of` for the rows of each strategy; without the strategy if there is only one."""
    results = {strategy: of(rows) for strategy, rows in by_strategy.items()}
    return results if len(results) > 1 else next(iter(results.values()))


_HEADER = ("", "territories", "figure", "95 % interval", "by chance", "over runs")


def table(summary: Mapping[str, JSON]) -> Sequence[Sequence[str]]:
    """Metrics with intervals, values by chance and, with several runs, the mean and SD over runs.

    To stay readable, only the main metrics of the first strategy are shown by region; results have all.
    """
    metrics: Mapping[str, Figure] = summary["metrics"]
    return [
        _HEADER,
        *(_row(name, metrics[name], summary["random"]) for name in scoring.table_metrics([*metrics])),
    ]


def _row(name: str, figure: Figure, chance: Mapping[str, float | None]) -> Sequence[str]:
    unit = "%" if figure.unit == "%" else ""
    expected = chance.get(name)
    places = 1 if unit else 2
    sd = figure.run_sd
    return (
        name,
        f"{figure.n}{' disputes' * name.endswith(scoring.BY_DISPUTE)}",
        format_value(figure.value, unit=unit),
        figure.limits(),
        "" if expected is None else f"{expected:.{places}f}{unit}",
        "" if sd is None or sd is UNSET else f"{figure.run_mean:.2f} ± {sd:.2f}",
    )


def cautions(rows: Sequence[RunRow], settings: Mapping[str, JSON]) -> list[str]:
    """A sentence on answers that are one sampled letter, because there were no token probabilities."""
    ways = [row.details["how"] for row in rows]
    count = ways.count("rank by samples")
    if not count:
        return []
    return [
        f"{count:,} of {len(ways):,} answers to --method rank came without token probabilities: "
        "each is the letter of one sampled answer"
    ]


SUITE = Suite(
    name="borderlines",
    about=About(
        title="BorderLines",
        headline="the share of pairs of languages whose readers are told the same",
        names={"un_peacekeeper": "UN peacekeeper"},
        meaning="At 100 readers of every language are told the same of every territory. It says nothing "
        "about whose claim is right.",
        clusters="territories",
    ),
    data=Data(cases=dataset.queries, formats=dataset.FORMATS, lint=checks.lint, datasets=("own", "original")),
    judging=Judging(rubric=prompts.load, form="probabilities", level=None, cautions=cautions),
    options=(DATASET, STRATEGY, METHOD, PARSE, OPTION_ORDER, SEED, LABEL_SAMPLES),
    foresee=foresee,
    evaluate=evaluate,
    question=question,
    details=details,
    values=values,
    combine=combine,
    summary=summary,
    metrics=scoring.metrics,
    table=table,
    plots=plot_data.plots,
    audit=AUDIT,
    asked=askers,
)
