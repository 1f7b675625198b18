"""Checks a session before its first call: raises if it is bound to fail, or its gate cannot be decided."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from equipoise import suites
from equipoise.comparison import gate_terms, of_session
from equipoise.comparison.gate import refusals
from equipoise.comparison.gate.until import StoppingRule
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.session_options import OPTIONS
from equipoise.core.settings import is_local
from equipoise.core.types import has_asker
from equipoise.models import prices
from equipoise.models.local import weights
from equipoise.results import askers
from equipoise.runner import metadata, shards
from equipoise.runner.plan import Plan
from equipoise.suites.contract import question_cells
from equipoise.suites.resources import ORIGINAL
from equipoise.suites.shared_options import DATASET


def check(plan: Plan, names: Sequence[str]) -> None:
    """Raise UserError for anything that is bound to fail. Writes no files.

    Sets the plan's gate terms, baselines and stopping rules.
    """
    try:
        _check(plan, names)
    except OSError as error:
        raise UserError(f"{error.filename}: cannot be used ({error.strerror})") from None


def _check(plan: Plan, names: Sequence[str]) -> None:
    for option in ("output", "topics", "rubric", "replies", "until"):
        if getattr(plan.settings, option) and len(names) > 1:
            raise UserError(
                f"--{option}: applies to one suite, but there are {len(names)}; omit it, or name one suite"
            )
    _resolve_terms(plan, names)
    shards.refuse_unfit(plan.settings)
    # Without calls no server is started.
    for model in filter(is_local, plan.settings.asked_models if plan.settings.makes_calls else ()):
        weights(model)
    prices.refuse_unknown(plan.settings)
    if plan.settings.report:
        from equipoise.report.page.page import refuse_output

        refuse_output("--report", plan.settings.report)
    if plan.settings.audit:
        plan.extra_jobs.refuse_unfit([plan.load(name) for name in names])
    for name in names:
        if len(names) > 1:
            _refuse_other_defaults(plan, name)
        _refuse_unused(plan, name)
        # Loads the cases: raises UserError for invalid data, or too few clusters for --shard.
        plan.runs(name)
        _refuse_unfit_questions(plan, name)
        _prepare_gate(plan, name)


def _resolve_terms(plan: Plan, names: Sequence[str]) -> None:
    """Set the plan's gate terms: each suite's baseline and rules. Raises UserError."""
    baseline = plan.settings.baseline
    if baseline is not None and len(names) > 1 and not baseline.is_dir():
        raise UserError(
            f"--baseline: {shown(baseline)} is one suite's results, but there are {len(names)} suites; "
            "name a folder that has <suite>.json of each"
        )
    plan.gate_terms = gate_terms.resolve_terms(
        names,
        baseline,
        plan.settings.gate,
        plan.settings.gate_inconclusive,
        allows_mismatch=plan.settings.allow_mismatch,
    )


def _refuse_unfit_questions(plan: Plan, name: str) -> None:
    """Raise UserError if two cases are the same question, or a case lacks a field that its row needs."""
    loaded = plan.load(name)
    case_ids: dict[str, str] = {}
    versions: dict[tuple[str, str], str] = {}
    has_own_cells = loaded.suite.combine is not question_cells
    for case in loaded.cases:
        try:
            row = loaded.suite.question(case.to_json())
        except KeyError as error:
            raise UserError(
                f"suite {name!r}: the case {case.id!r} has no {error}; "
                "add it, or give the suite a question of its own (docs/adding-a-suite.md)"
            ) from None
        if (other := case_ids.setdefault(row.key, case.id)) != case.id:
            raise UserError(f"suite {name!r}: {other!r} and {case.id!r} are both the question {row.key!r}")
        other = versions.setdefault((row.cluster, row.stratum), case.id)
        if other != case.id and not has_own_cells:
            raise UserError(
                f"suite {name!r}: {other!r} and {case.id!r} have the cluster {row.cluster!r} and the stratum "
                f"{row.stratum!r}; give each version of a cluster a stratum of its own"
            )


def _refuse_unused(plan: Plan, name: str) -> None:
    """Raise UserError for options that the suite does not have, or whose value it would not use."""
    loaded = plan.load(name)
    names = {option.name for option in loaded.suite.options}
    for option in suites.options():
        if option.name not in names and plan.settings.option(option) != option.default:
            # A dataset may have a suite of its own, with other options.
            has_own_suite = loaded.suite is not suites.load(name)
            subject = f"--dataset {loaded.dataset} of {name}" if has_own_suite else name
            raise UserError(f"{option.flag}: {subject} does not take it; leave it out")
    if plan.settings.topics and plan.settings.option(DATASET) == ORIGINAL:
        raise UserError(f"--dataset {ORIGINAL}: --topics names other data; leave one of them out")


def _refuse_other_defaults(plan: Plan, name: str) -> None:
    """Raise UserError if the suite has its own default for an unset option that all suites share."""
    for option in OPTIONS:
        is_set = option.name in plan.settings.options_set
        if option.name in suites.load(name).defaults and not is_set and not option.by_suite:
            raise UserError(f"{option.flag}: {name} has its own default; run it alone, or set the option")


def _prepare_gate(plan: Plan, name: str) -> None:
    """Check replies, askers, extra jobs and rules, and load the plan's baseline. Raises UserError."""
    loaded = plan.load(name)
    if loaded.replies is not None:
        loaded.replies.check(name, loaded.data_hash, loaded.askers.hash if loaded.askers else None)
    terms = plan.terms_of(name)
    plan.extra_jobs.prepare(loaded, terms.rules)
    _refuse_without_askers(plan, name)
    baseline = of_session.load_baseline(terms, metadata.comparable_settings(plan, name), loaded.files)
    bounds = [rule for rule in terms.rules if rule.bounds_own_figure and not rule.is_about_asker]
    cases = loaded.cases if plan.settings.until or baseline or bounds else ()
    cells = of_session.expected_cells(loaded.suite, loaded.rubric, cases, baseline)
    metrics = {metric.name: metric for metric in loaded.suite.metrics(cells)}
    for rule in bounds:
        refusals.refuse_unfit_bound(rule, metrics, loaded.repeats, "this session")
    if until := plan.settings.until:
        refusals.refuse_until(until, terms.rules, metrics, loaded.repeats)
        plan.stopping_rules[name] = StoppingRule(
            until=until, terms=terms, baseline=baseline, metrics=metrics, looks=loaded.repeats
        )
    if baseline is not None:
        of_session.refuse_unfit_rules(terms, baseline, metrics, loaded.repeats)
    plan.baselines[name] = baseline


def _refuse_without_askers(plan: Plan, name: str) -> None:
    """Raise UserError for a rule about askers that this session cannot decide."""
    rules = [rule for rule in plan.terms_of(name).rules if rule.is_about_asker]
    if not rules:
        return
    loaded, cues = plan.load(name), plan.cues(name)
    expected = askers.NO_ASKERS
    if asker_settings := metadata.asker(loaded):
        cases = [case for case in loaded.cases if case.id in cues]
        expected = askers.expected_cells(loaded.suite, cases, asker_settings)
    for rule in rules:
        refusals.refuse_unfit_asker(rule, expected, loaded.repeats, "this session")


def refuse_other_cases(plan: Plan, name: str, runs: Collection[str]) -> None:
    """Raise UserError if the selected runs cover cases that the baseline lacks."""
    loaded, baseline = plan.load(name), plan.baselines[name]
    if baseline is not None:
        selected = set(runs)
        case_ids = {run.case.id for run in plan.runs(name) if run.id in selected}
        cases = [case for case in loaded.cases if case.id in case_ids]
        of_session.refuse_other_cases(
            plan.terms_of(name), baseline, of_session.expected_cells(loaded.suite, loaded.rubric, cases)
        )


def refuse_askers_alone(name: str, runs: Iterable[str]) -> None:
    """Raise UserError if all of these runs have a cue: there is no plain run to compare them with."""
    if all(map(has_asker, runs)):
        raise UserError(
            f"--asker: {name}: only runs with an asker cue are selected, and no earlier session has "
            "a plain run to compare them with; select plain runs, too"
        )
