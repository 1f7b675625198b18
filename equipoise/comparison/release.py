"""A session against a baseline: mismatches are refused before any call, the gate is reported at the end."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise import suites
from equipoise.comparison.comparable import mismatches, sent_otherwise, unknown_cells, why_unfit
from equipoise.comparison.gate.family import NO_RULES, Family, family_of, tests
from equipoise.comparison.load import load_without_transcripts, of_suite
from equipoise.comparison.pool import pooled
from equipoise.comparison.side import Side, loaded
from equipoise.comparison.verify import load_verified
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.records import Cell, Metric, Record
from equipoise.core.rules import (
    QUESTION,
    UNSCORED,
    VERIFIED,
    Inconclusive,
    Rule,
    Until,
    most_unscored,
    rules_for,
)
from equipoise.core.types import JSON, Case
from equipoise.judge.rubric import Rubric
from equipoise.results import answered, rows
from equipoise.results.askers import Asking
from equipoise.results.store import Files
from equipoise.suites import AnySuite

if TYPE_CHECKING:
    from equipoise.comparison.compare import Comparison

Metrics = Mapping[str, Metric]


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What becomes of one suite's results: with what they are compared, and by which rules.

    `baseline` is a file. `family` counts the rules that chance may decide, of all suites that are released
    together.
    """

    baseline: Path | None = None
    rules: tuple[Rule, ...] = ()
    family: Family = NO_RULES
    inconclusive: Inconclusive | None = None
    allow_mismatch: bool = False


NOTHING = Release()
"""Where nothing is compared and nothing decided."""


def releases(
    names: Sequence[str],
    baseline: Path | None,
    rules: Sequence[Rule],
    inconclusive: Inconclusive | None,
    *,
    allow_mismatch: bool,
) -> dict[str, Release]:
    """The release of each of these suites, by name, from what was given for all. Raises UserError.

    Where `baseline` is a folder, a suite without rules that compare may be missing there.
    """
    _refuse_pointless(rules, inconclusive, baseline, allow_mismatch=allow_mismatch)
    for rule in rules:
        if rule.suite and rule.suite not in suites.names():
            raise UserError(
                f"{rule}: there is no suite {rule.suite!r}; there are {', '.join(suites.names())}"
            )
    wanted = {name: rules_for(name, rules) for name in names}
    if rules and not any(wanted.values()):
        raise UserError(f"{rules[0]}: there are no rules for {', '.join(names)}")
    count = sum(len(tests(found)) for found in wanted.values())
    found = {
        name: Release(
            baseline=baseline and of_suite(baseline, name),
            rules=own,
            family=Family(rules=count, own=len(tests(own))),
            inconclusive=inconclusive,
            allow_mismatch=allow_mismatch,
        )
        for name, own in wanted.items()
    }
    _refuse_missing(found, baseline)
    return found


def _refuse_pointless(
    rules: Sequence[Rule], inconclusive: Inconclusive | None, baseline: Path | None, *, allow_mismatch: bool
) -> None:
    if inconclusive and not rules:
        raise UserError("--gate-inconclusive: says what becomes of a gate, but there is no --gate")
    if allow_mismatch and baseline is None:
        raise UserError("--allow-mismatch: says how to compare, but there is no --baseline")


def _refuse_missing(found: Mapping[str, Release], given: Path | None) -> None:
    """Raise UserError for a rule that compares without a baseline, and for a folder that has none at all."""
    for name, release in found.items():
        rule = next((rule for rule in release.rules if rule.needs_baseline), None)
        if rule is not None and release.baseline is None:
            where = f"{shown(given)} has no {name}.json or *.{name}.json" if given else ""
            raise UserError(
                f"{rule}: compared with what? {where or 'Name earlier results with --baseline=PATH'}"
            )
    if given is not None and not any(release.baseline for release in found.values()):
        names = ", ".join(f"{name}.json" for name in found)
        raise UserError(f"--baseline: {shown(given)} has results of none of these suites: {names}")


def expected(suite: AnySuite, rubric: Rubric, cases: Sequence[Case]) -> Sequence[Cell]:
    """The cells that these cases will give, without their numbers."""
    records = [Record(case=case.to_json(), run=1, outcome="error", score=None, error="") for case in cases]
    return suite.combine(rows.of_records(suite, records, rubric.scale))


def prepare(
    release: Release, metadata: Mapping[str, JSON], files: Files, metrics: Metrics, runs: int
) -> Side | None:
    """The baseline of a suite in a session, checked as far as it can be. Raises UserError.

    `metadata` is what the session's results will say of themselves; `metrics` are those that they will have,
    and `runs` how many of each case.
    """
    if release.baseline is None:
        return None
    if release.baseline.resolve() == files.results.resolve():
        raise UserError(
            f"--baseline: {shown(files.results)} is where this session writes its own results; "
            "copy the baseline elsewhere"
        )
    baseline = load_verified(release.baseline)
    refuse_mismatch(release, baseline, metadata)
    for rule in release.rules:
        refuse_people(rule)
        refuse_unfit(rule, metrics, "this session")
        refuse_unfit(rule, baseline.metrics, shown(release.baseline))
        _refuse_single_runs(rule, baseline, runs)
    return baseline


def refuse_without_labels(rule: Rule, before: Side, after: Side, metrics: Metrics) -> None:
    """Raise UserError for a rule about labels unless both results have such as can decide it."""
    from equipoise.comparison import labels

    labels.refuse(rule, before, metrics)
    labels.refuse(rule, after, metrics)
    labels.refuse_others(rule, before, after)


def _by_people(side: Side) -> Metrics:
    from equipoise.comparison import labels

    return labels.metrics_of(side)


def refuse_people(rule: Rule) -> None:
    """Raise UserError for a rule about labels in a running session, which has none."""
    if rule.people:
        raise UserError(
            f"{rule}: a session has no labels of people: leave it out here, have its results labelled "
            "(`equipoise review sample`), and give it to `equipoise gate`"
        )


def _refuse_single_runs(rule: Rule, baseline: Side, runs: int) -> None:
    """Raise UserError for a rule on these questions where one run of each would decide nothing."""
    if rule not in decided_by_runs([rule]) or rule.scope != "these":
        return
    where = baseline.file if baseline.runs < 2 else "this session"
    if min(runs, baseline.runs) < 2:
        more = "its model again with --runs 2 or more" if baseline.runs < 2 else "--runs 2 or more"
        raise UserError(
            f"{rule}: {where} has one run of each case, and how far runs vary is what decides on "
            f"these questions: ask {more}, or write {rule.text.partition('@')[0]}@population"
        )


def refuse_mismatch(release: Release, baseline: Side, metadata: Mapping[str, JSON]) -> None:
    """Raise UserError where this session's results will not be comparable with the baseline."""
    if metadata["suite"] != baseline.suite.name:
        raise UserError(
            f"{baseline.file}: belongs to the suite {baseline.suite.name}, not {metadata['suite']}"
        )
    unfit = why_unfit(baseline, most_unscored(release.rules))
    _refuse(release, baseline, [*([unfit] if unfit else []), *mismatches(baseline.metadata, metadata)])


def refuse_other_cases(release: Release, baseline: Side, cells: Sequence[Cell]) -> None:
    """Raise UserError where the session will ask cases that the baseline lacks; it is restricted to them."""
    _refuse(release, baseline, unknown_cells(baseline.cells, cells))


def _refuse(release: Release, baseline: Side, reasons: Sequence[str]) -> None:
    if reasons and not release.allow_mismatch:
        raise UserError(
            f"--baseline: {baseline.file} cannot be compared with this session: {'; '.join(reasons)}; "
            "--allow-mismatch compares what they share"
        )


def refuse_unfit(rule: Rule, metrics: Metrics, where: str) -> None:
    """Raise UserError for a rule that names no metric, or that bounds the better side."""
    if rule.name in (UNSCORED, VERIFIED) or rule.is_about_audit or rule.is_about_asker:
        return
    # A single question is held to the headline's scale.
    is_question = rule.name == QUESTION
    metric = next(iter(metrics.values())) if is_question else metrics.get(rule.name)
    if metric is None:
        raise UserError(f"{rule}: {where} has no metric {rule.name!r}; {_known(metrics)}")
    if is_question and metric.kind != "mean":
        raise UserError(f"{rule}: no question of this suite has a score in points")
    if metric.higher_is_better is (rule.sign > 0):
        worse, sign = ("lower", "-") if metric.higher_is_better else ("higher", "+")
        bound = f"{rule.name}:{sign}{'2' if is_question else '2pp'}"
        raise UserError(f"{rule}: {metric.name} is worse when it is {worse}; bound that: {bound}")


def decided_by_runs(rules: Sequence[Rule]) -> list[Rule]:
    """The rules about a metric, which more runs may decide."""
    aside = (QUESTION, UNSCORED, VERIFIED)
    return [
        rule
        for rule in rules
        if rule.name not in aside and not rule.is_about_audit and not rule.is_about_asker
    ]


def refuse_unfit_asker(rule: Rule, asking: Asking, runs: int, where: str) -> None:
    """Raise UserError for a rule about who asks that results with these figures could not decide.

    `runs` are those of each case.
    """
    if not asking.metrics:
        raise UserError(f"{rule}: {where} has no runs with an asker; give --asker mirror")
    if rule.name not in asking.metrics:
        names = (name for name in asking.metrics if not re.search(r"\.(form|language|area)\.", name))
        raise UserError(f"{rule}: {where} has no figure {rule.name!r}; {_known([*names])}")
    if rule.scope == "these" and runs < 2:
        raise UserError(
            f"{rule}: {where} has one run of each case, and how far runs vary is what decides on these "
            f"questions: give --runs 2 or more, or write {rule.text.partition('@')[0]}@population"
        )


def refuse_unfit_audit(rule: Rule, checks: Sequence[Mapping[str, JSON]]) -> None:
    """Raise UserError for a rule about audits that names none of these checks, or bounds the wrong side."""
    found = rule.among(checks)
    if not found:
        known = dict.fromkeys(check["name"].split()[0] for check in checks)
        raise UserError(f"{rule}: an audit has no check of that name; there are {', '.join(known)}")
    check = found[0]
    signs = {"either": (0, "±"), "higher": (1, "+"), "lower": (-1, "-")}
    (sign, shown_sign), has_unit = signs[check["worse"]], check["unit"] in ("points", "%")
    if rule.sign != sign or (rule.unit == "pp") is not has_unit:
        example = f"{rule.name}:{shown_sign}{'5pp' if has_unit else '0.5'}"
        raise UserError(
            f"{rule}: write {example}, for how far {check['name'].split()[0]} may lie from a "
            f"sound evaluator's, {check['sound']:g}"
        )


def not_audited(rule: Rule, evaluators: Sequence[str], suite: str) -> str:
    """The message about a rule that could not be decided."""
    models = " ".join(f"--evaluator-model {name}" for name in evaluators)
    return (
        f"{rule}: {', '.join(evaluators)} has not been audited: add --audit quick, "
        f"or run first: equipoise audit {suite} {models}"
    )


def refuse_until(until: Until, rules: Sequence[Rule], metrics: Metrics, runs: int) -> None:
    """Raise UserError where `--until` could never be reached, or where there would be too many looks."""
    from equipoise.stats.sequential import MOST

    if runs > MOST:
        raise UserError(f"--until {until.text}: takes {MOST} --runs at most, not {runs}")
    if until.half_width is None:
        if not decided_by_runs(rules):
            raise UserError("--until gate: there is no rule that runs decide, such as --gate overall:-2pp")
        return
    if until.scope == "these" and runs < 2:
        raise UserError(
            f"--until {until.text}: one run of each question has no interval: give --runs 2 or more"
        )
    kinds = ("mean",) if until.scope == "population" else ("mean", "rate", "ratio")
    found = {name: metric for name, metric in metrics.items() if metric.kind in kinds}
    if until.name not in found:
        noun = "mean" if until.scope == "population" else "figure in percent"
        raise UserError(f"--until {until.text}: there is no {noun} {until.name!r}; {_known(found)}")


def _known(metrics: Collection[str]) -> str:
    return f"there are {', '.join(metrics)}"


def compare_files(
    baselines: Sequence[Path], candidates: Sequence[Path], rules: Sequence[Rule], *, allows_mismatch: bool
) -> list[dict[str, JSON]]:
    """Each candidate's parts `comparison` and, with rules, `gate`. Raises UserError.

    Files of one model are pooled where their settings agree. Of several releases the last is the baseline,
    and there is a part `trend` of all.
    """
    from equipoise.comparison.trend import trend

    older, found = pooled(map(load_verified, baselines)), []
    for after in pooled(map(load_verified, candidates)):
        release = _alone(after, rules, allows_mismatch=allows_mismatch)
        parts = _compared(older[-1], after, release)
        if len(older) > 1:
            parts["trend"] = trend(
                [*older, after],
                allows_mismatch=allows_mismatch,
                is_study=not rules,
                most=most_unscored(release.rules),
            )
        found.append(parts)
    return found


def _alone(after: Side, rules: Sequence[Rule], *, allows_mismatch: bool) -> Release:
    """The release of one candidate on one suite."""
    own = rules_for(after.suite.name, rules)
    if rules and not own:
        raise UserError(f"{rules[0]}: there are no rules for {after.suite.name}")
    return Release(rules=own, family=family_of(own), allow_mismatch=allows_mismatch)


def _compared(before: Side, after: Side, release: Release) -> dict[str, JSON]:
    """The parts of a candidate that has been asked. Raises UserError."""
    from equipoise.comparison.compare import compare

    # With a gate it is a release that is compared, and no option's effect.
    comparison = compare(
        before,
        after,
        allows_mismatch=release.allow_mismatch,
        is_study=not release.rules,
        most=most_unscored(release.rules),
    )
    metrics = {name: change.metric for name, change in comparison.changes.items()}
    for rule in release.rules:
        known = _by_people(after) if rule.people else metrics
        refuse_unfit(rule, known, f"what {before.file} and {after.file} share")
        if rule.people:
            refuse_without_labels(rule, before, after, known)
        if rule.is_about_audit:
            refuse_without_audit(rule, after)
        if rule.is_about_asker:
            refuse_unfit_asker(rule, after.asking, after.runs, after.file)
    return _parts(release, comparison, after)


def check(found: Mapping[str, Release]) -> None:
    """Raise UserError for a baseline that cannot be one, and for a rule that is not about its figures.

    Where results are still to come: what these must share with a baseline is seen when they are there.
    """
    for name, release in found.items():
        if release.baseline is None:
            continue
        before = load_without_transcripts(release.baseline)
        if before.suite.name != name:
            raise UserError(f"{before.file}: belongs to the suite {before.suite.name}, not {name}")
        for rule in release.rules:
            refuse_people(rule)
            refuse_unfit(rule, before.metrics, before.file)


def gate_files(
    baseline: Path | None,
    candidates: Sequence[Path],
    rules: Sequence[Rule],
    inconclusive: Inconclusive | None,
    *,
    allows_mismatch: bool,
) -> dict[str, dict[str, dict[str, JSON]]]:
    """The parts `comparison` and `gate` of each model's results, by model and suite. Raises UserError.

    Files of one model and suite are pooled where their settings agree; a model's suites are one release.
    """
    sides: dict[str, dict[str, Side]] = {}
    for after in pooled(map(load_verified, candidates)):
        own = sides.setdefault(after.model, {})
        if (other := own.setdefault(after.suite.name, after)) is not after:
            raise UserError(
                f"{other.file} and {after.file} are both results of {after.model} on {after.suite.name}, "
                "and cannot be pooled: name one of them"
            )
    found = {}
    for model, own in sides.items():
        wanted = releases(list(own), baseline, rules, inconclusive, allow_mismatch=allows_mismatch)
        found[model] = {name: _gated(own[name], release) for name, release in wanted.items()}
    return found


def _gated(after: Side, release: Release) -> dict[str, JSON]:
    if release.baseline is not None:
        return _compared(load_verified(release.baseline), after, release)
    for rule in release.rules:
        if rule.is_about_audit:
            refuse_without_audit(rule, after)
        if rule.is_about_asker:
            refuse_unfit_asker(rule, after.asking, after.runs, after.file)
    return _parts(release, None, after)


def refuse_without_audit(rule: Rule, side: Side) -> None:
    """Raise UserError for a rule about audits if the results have none, or none with that check."""
    audits = {name: side.audits.get(name) for name in side.metadata["evaluator_models"]}
    missing = [name for name, audit in audits.items() if audit is None]
    if missing:
        raise UserError(f"{rule}: {side.file}: has no audit of {', '.join(missing)}")
    for audit in filter(None, audits.values()):
        if audit["checks"]:
            refuse_unfit_audit(rule, audit["checks"])


def is_to_be_verified(release: Release) -> bool:
    """Whether a rule requires that results are what their journal says."""
    return any(rule.name == VERIFIED for rule in release.rules)


def conclude(
    release: Release, baseline: Side | None, data: Mapping[str, JSON], path: Path, doubt: str | None = None
) -> dict[str, JSON]:
    """The parts `comparison` and `gate` of a session's results, where it was asked for them.

    `doubt` says why its journal is not what its calls come to, where that was tried.
    """
    if baseline is None and not release.rules:
        return {}
    from equipoise.comparison.compare import compare

    candidate = replace(loaded(shown(path), data).side, doubt=doubt)
    if baseline is None:
        return _parts(release, None, candidate)
    comparison = compare(baseline, candidate, allows_mismatch=True, most=most_unscored(release.rules))
    # Settings and cases were held against the baseline's before any call; what was really sent is seen here.
    late = [] if release.allow_mismatch else sent_otherwise(baseline.metadata, candidate.metadata)
    return _parts(release, comparison, candidate, doubts=late)


def _answered(comparison: Comparison | None, candidate: Side) -> list[str]:
    """Changes of the models that answered, in the candidate, the baseline, or between the two."""
    if comparison is None:
        return answered.changes(candidate.metadata)
    before, after = comparison.before.metadata, comparison.after.metadata
    return [*answered.between(before, after), *answered.within(before, after)]


def _parts(
    release: Release,
    comparison: Comparison | None,
    after: Side,
    *,
    doubts: Sequence[str] = (),
) -> dict[str, JSON]:
    from equipoise.comparison.gate.verdict import judge_all

    found: dict[str, JSON] = {} if comparison is None else {"comparison": comparison.to_json()}
    if release.rules:
        found["gate"] = judge_all(
            release.rules,
            comparison,
            after.counts,
            audits=after.audits,
            asking=after.asking,
            clusters=after.suite.clusters,
            family=release.family,
            doubts=doubts,
        )
        if answers := _answered(comparison, after):
            found["gate"]["answered"] = answers
    return found
