"""Checks of rules and of `--until`. They raise UserError if results or a session could not decide a rule."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import NoReturn

from equipoise.core.errors import UserError
from equipoise.core.records import Metric
from equipoise.core.rules import AUDIT, QUESTION, UNSCORED, VERIFIED, Rule, Until
from equipoise.judge.anchors import Check, named
from equipoise.results.askers import AskerCells
from equipoise.results.results import Results

Metrics = Mapping[str, Metric]


def refuse_undecidable(rules: Sequence[Rule], side: Results) -> None:
    """Raise UserError for a rule about audits or the results' own figures that the results cannot decide."""
    for rule in rules:
        if rule.is_about_audit:
            refuse_without_audit(rule, side)
        if rule.is_about_asker:
            refuse_unfit_asker(rule, side.asker_cells, side.rounds, side.file)
        elif rule.bounds_own_figure:
            refuse_unfit_bound(rule, side.definitions, side.rounds, side.file)


def refuse_unfit_metric(rule: Rule, metrics: Metrics, where: str) -> None:
    """Raise UserError for a rule about a metric that is missing, or whose sign would limit an improvement.

    `where` names the results or the session in the message.
    """
    if rule.name in (UNSCORED, VERIFIED) or rule.is_about_audit or rule.bounds_own_figure:
        return
    # The rule about single questions uses the headline metric.
    is_question = rule.name == QUESTION
    metric = next(iter(metrics.values())) if is_question else metrics.get(rule.name)
    if metric is None:
        raise UserError(f"{rule}: {where} has no metric {rule.name!r}; {_list_available(rule.name, metrics)}")
    _refuse_undecidable_metric(rule, metric)
    if is_question and metric.kind != "mean":
        raise UserError(f"{rule}: no question of this suite has a score in points")
    if metric.higher_is_better is (rule.sign > 0):
        worse, sign = ("lower", "-") if metric.higher_is_better else ("higher", "+")
        bound = f"{rule.name}:{sign}{'2' if is_question else '2pp'}"
        raise UserError(f"{rule}: {metric.name} is worse when it is {worse}; bound that: {bound}")


def _refuse_undecidable_metric(rule: Rule, metric: Metric) -> None:
    if metric.no_gate:
        raise UserError(f"{rule}: no rule may bound {metric.name}: {metric.no_gate}")
    if metric.bound_instead:
        why = "has no interval to decide by" if metric.no_interval else "is better neither high nor low"
        raise UserError(f"{rule}: {metric.name} {why}; bound {metric.bound_instead}")


def refuse_unfit_bound(rule: Rule, metrics: Metrics, runs: int, where: str) -> None:
    """Raise UserError for a rule that bounds a figure if that figure is missing or not even at 0.

    `runs` is the number of runs of each case.
    """
    metric = metrics.get(rule.name)
    if metric is None:
        raise UserError(f"{rule}: {where} has no metric {rule.name!r}; {_list_available(rule.name, metrics)}")
    _refuse_undecidable_metric(rule, metric)
    if metric.kind not in ("balance", "gap") or metric.higher_is_better is not None:
        sign = "-" if metric.higher_is_better else "+"
        raise UserError(
            f"{rule}: bounds how far a figure may be from 0, but {rule.name} is not even there; "
            f"bound its change: {rule.name}:{sign}2pp"
        )
    _refuse_single_run(rule, runs, where)


def refuse_label_rule(rule: Rule) -> None:
    """Raise UserError for a rule about people's labels, because a running session has none."""
    if rule.people:
        raise UserError(
            f"{rule}: a session has no labels of people: leave it out here, have its results labelled "
            "(`equipoise review sample`), and give it to `equipoise gate`"
        )


def refuse_without_labels(rule: Rule, before: Results, after: Results, metrics: Metrics) -> None:
    """Raise UserError unless both results have labels that can decide a rule about labels."""
    from equipoise.comparison import labels

    labels.refuse_unusable(rule, before, metrics)
    labels.refuse_unusable(rule, after, metrics)
    labels.refuse_different_people(rule, before, after)


def refuse_single_runs(rule: Rule, baseline: Results, runs: int) -> None:
    """Raise UserError for a rule with scope `these` if a case has only one run, which decides nothing."""
    if not rule.is_about_metric or rule.scope != "these":
        return
    where = baseline.file if baseline.rounds < 2 else "this session"
    if min(runs, baseline.rounds) < 2:
        advice = "its model again with --runs 2 or more" if baseline.rounds < 2 else "--runs 2 or more"
        raise UserError(
            f"{rule}: {where} has one run of each case, and how far runs vary is what decides on "
            f"these questions: ask {advice}, or write {rule.text.partition('@')[0]}@population"
        )


def refuse_unfit_asker(rule: Rule, asker_cells: AskerCells, runs: int, where: str) -> None:
    """Raise UserError for a rule about who asks that results with these cells could not decide.

    `runs` is the number of runs of each case.
    """
    if not asker_cells.metrics:
        raise UserError(f"{rule}: {where} has no runs with an asker; give --asker mirror")
    if rule.name not in asker_cells.metrics:
        names = (name for name in asker_cells.metrics if not re.search(r"\.(form|language|area)\.", name))
        raise UserError(
            f"{rule}: {where} has no figure {rule.name!r}; {_list_available(rule.name, [*names])}"
        )
    _refuse_single_run(rule, runs, where)


def _refuse_single_run(rule: Rule, runs: int, where: str) -> None:
    if rule.scope == "these" and runs < 2:
        raise UserError(
            f"{rule}: {where} has one run of each case, and how far runs vary is what decides on these "
            f"questions: give --runs 2 or more, or write {rule.text.partition('@')[0]}@population"
        )


def refuse_unfit_audit(rule: Rule, checks: Sequence[Check]) -> None:
    """Raise UserError for a rule about audits that names none of these checks or has a wrong sign or unit."""
    named_checks = named(checks, rule.name.removeprefix(AUDIT))
    if not named_checks:
        known = dict.fromkeys(check.name.split()[0] for check in checks)
        raise UserError(f"{rule}: an audit has no check of that name; there are {', '.join(known)}")
    check = named_checks[0]
    sign, shown_sign = {"either": (0, "±"), "higher": (1, "+"), "lower": (-1, "-")}[check.worse]
    has_unit = check.unit in ("points", "%")
    if rule.sign != sign or (rule.unit == "pp") is not has_unit:
        example = f"{rule.name}:{shown_sign}{'5pp' if has_unit else '0.5'}"
        raise UserError(
            f"{rule}: write {example}, for how far {check.name.split()[0]} may lie from a "
            f"sound evaluator's, {check.sound:g}"
        )


def refuse_without_audit(rule: Rule, side: Results) -> None:
    """Raise UserError for a rule about audits if an evaluator was not audited, or lacks that check."""
    audits = {name: side.audits.get(name) for name in side.metadata["evaluator_models"]}
    missing = [name for name, audit in audits.items() if audit is None]
    if missing:
        raise UserError(f"{rule}: {side.file}: has no audit of {', '.join(missing)}")
    for audit in filter(None, audits.values()):
        if audit["checks"]:
            refuse_unfit_audit(rule, audit["checks"])


def refuse_unaudited(rule: Rule, evaluators: Sequence[str], suite: str) -> NoReturn:
    """Raise UserError for a rule about audits in a session whose evaluators have not been audited."""
    models = " ".join(f"--evaluator-model {name}" for name in evaluators)
    raise UserError(
        f"{rule}: {', '.join(evaluators)} has not been audited: add --audit quick, "
        f"or run first: equipoise judge audit {suite} {models}"
    )


def refuse_until(until: Until, rules: Sequence[Rule], metrics: Metrics, runs: int) -> None:
    """Raise UserError if `--until` could never be satisfied, or if there would be too many looks."""
    from equipoise.stats.sequential import MOST_LOOKS

    if runs > MOST_LOOKS:
        raise UserError(f"--until {until.text}: takes {MOST_LOOKS} --runs at most, not {runs}")
    if until.half_width is None:
        if not any(rule.is_about_metric for rule in rules):
            raise UserError("--until gate: there is no rule that runs decide, such as --gate overall:-2pp")
        return
    if until.scope == "these" and runs < 2:
        raise UserError(
            f"--until {until.text}: one run of each question has no interval: give --runs 2 or more"
        )
    kinds = ("mean",) if until.scope == "population" else ("mean", "rate", "ratio")
    fit = {name: metric for name, metric in metrics.items() if metric.kind in kinds}
    if until.name not in fit:
        noun = "mean" if until.scope == "population" else "figure in percent"
        raise UserError(
            f"--until {until.text}: there is no {noun} {until.name!r}; {_list_available(until.name, fit)}"
        )


_MOST_NAMED = 3


def _list_available(wanted: str, metrics: Collection[str]) -> str:
    """A phrase with all metrics, or, if there are many, with those whose names are like the wanted one."""
    if len(metrics) <= _MOST_NAMED:
        return f"there are {', '.join(metrics)}"
    near = dict.fromkeys([*get_close_matches(wanted, metrics, n=_MOST_NAMED, cutoff=0.5), *metrics])
    *others, last = [*near][:_MOST_NAMED]
    return (
        f"did you mean {', '.join(others)} or {last}? `equipoise show RESULTS --all` has all {len(metrics)}"
    )
