"""A session against a baseline: mismatches are refused before any call, the gate is reported at the end."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from equipoise.compare.baseline import (
    Side,
    is_unfit,
    mismatches,
    missing_cells,
    sent_otherwise,
    side,
    unscored_runs,
)
from equipoise.compare.pool import pooled
from equipoise.compare.verify import load_verified
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.records import Cell, Metric, Record
from equipoise.core.rules import QUESTION, UNSCORED, VERIFIED, Rule, Until, most_unscored
from equipoise.core.types import JSON, Case
from equipoise.judge.rubric import Rubric
from equipoise.results import answered, rows
from equipoise.results.store import Files
from equipoise.suites import AnySuite

if TYPE_CHECKING:
    from equipoise.compare.compare import Comparison

Metrics = Mapping[str, Metric]


class Release(Protocol):
    """What is asked of a release: the settings of a session have it, and the options of a merge."""

    @property
    def baseline(self) -> Path | None:
        """The results to compare with."""

    @property
    def gate(self) -> tuple[Rule, ...]:
        """The rules."""

    @property
    def gate_inconclusive(self) -> Literal["pass", "fail"] | None:
        """What an inconclusive gate counts as."""

    @property
    def allow_mismatch(self) -> bool:
        """Whether what both sides share is compared where they do not match."""


def expected(suite: AnySuite, rubric: Rubric, cases: Sequence[Case]) -> Sequence[Cell]:
    """The cells that these cases will give, without their numbers."""
    records = [Record(case=case.to_json(), run=1, outcome="error", score=None, error="") for case in cases]
    return suite.combine(rows.of_records(suite, records, rubric.scale))


def prepare(
    release: Release, metadata: Mapping[str, JSON], files: Files, metrics: Metrics, runs: int
) -> Side | None:
    """The baseline of a session, checked as far as it can be. Raises UserError.

    `metadata` is what the session's results will say of themselves; `metrics` are those that they will have,
    and `runs` how many of each case.
    """
    if release.gate_inconclusive and not release.gate:
        raise UserError("--gate-inconclusive: says what becomes of a gate, but there is no --gate")
    if release.baseline is None:
        _refuse_without_baseline(release)
        return None
    if release.baseline.resolve() == files.results.resolve():
        raise UserError(
            f"--baseline: {shown(files.results)} is where this session writes its own results; "
            "copy the baseline elsewhere"
        )
    baseline = load_verified(release.baseline)
    refuse_mismatch(release, baseline, metadata)
    for rule in release.gate:
        refuse_unfit(rule, metrics, "this session")
        refuse_unfit(rule, baseline.metrics, shown(release.baseline))
        _refuse_single_runs(rule, baseline, runs)
    return baseline


def _refuse_single_runs(rule: Rule, baseline: Side, runs: int) -> None:
    """Raise UserError for a rule on these questions where one run of each would decide nothing."""
    if rule not in decided_by_runs([rule]) or rule.scope != "these":
        return
    where = baseline.file if baseline.runs < 2 else "this session"
    if min(runs, baseline.runs) < 2:
        more = "its model again with --runs 2 or more" if baseline.runs < 2 else "--runs 2 or more"
        raise UserError(
            f"--gate {rule.text}: {where} has one run of each case, and how far runs vary is what decides on "
            f"these questions: ask {more}, or write {rule.text.partition('@')[0]}@population"
        )


def _refuse_without_baseline(release: Release) -> None:
    for rule in release.gate:
        if rule.name != UNSCORED and not rule.is_about_audit:
            raise UserError(
                f"--gate {rule.text}: compared with what? Name earlier results with --baseline=FILE"
            )
    if release.allow_mismatch:
        raise UserError("--allow-mismatch: says how to compare, but there is no --baseline")


def refuse_mismatch(release: Release, baseline: Side, metadata: Mapping[str, JSON]) -> None:
    """Raise UserError where this session's results will not be comparable with the baseline."""
    if metadata["suite"] != baseline.suite.name:
        raise UserError(
            f"{baseline.file}: belongs to the suite {baseline.suite.name}, not {metadata['suite']}"
        )
    unfit = is_unfit(baseline.data, most_unscored(release.gate))
    _refuse(release, baseline, [*([unfit] if unfit else []), *mismatches(baseline.metadata, metadata)])


def refuse_other_cases(release: Release, baseline: Side, cells: Sequence[Cell]) -> None:
    """Raise UserError where the session will ask other cases than the baseline has."""
    ids = tuple([cell.id for cell in found] for found in (baseline.cells, cells))
    _refuse(release, baseline, missing_cells(*ids))


def _refuse(release: Release, baseline: Side, reasons: Sequence[str]) -> None:
    if reasons and not release.allow_mismatch:
        raise UserError(
            f"--baseline: {baseline.file} cannot be compared with this session: {'; '.join(reasons)}; "
            "--allow-mismatch compares what they share"
        )


def refuse_unfit(rule: Rule, metrics: Metrics, where: str) -> None:
    """Raise UserError for a rule that names no metric, or that bounds the better side."""
    if rule.name in (UNSCORED, VERIFIED) or rule.is_about_audit:
        return
    if rule.name == QUESTION:
        if next(iter(metrics.values())).kind != "mean":
            raise UserError(f"--gate {rule.text}: no question of this suite has a score in points")
        return
    metric = metrics.get(rule.name)
    if metric is None:
        raise UserError(f"--gate {rule.text}: {where} has no metric {rule.name!r}; {_known(metrics)}")
    if metric.higher_is_better is (rule.sign > 0):
        worse, sign = ("lower", "-") if metric.higher_is_better else ("higher", "+")
        raise UserError(
            f"--gate {rule.text}: {rule.name} is worse when it is {worse}; bound that: {rule.name}:{sign}2pp"
        )


def decided_by_runs(rules: Sequence[Rule]) -> list[Rule]:
    """The rules about a metric, which more runs may decide."""
    aside = (QUESTION, UNSCORED, VERIFIED)
    return [rule for rule in rules if rule.name not in aside and not rule.is_about_audit]


def refuse_unfit_audit(rule: Rule, checks: Sequence[Mapping[str, JSON]]) -> None:
    """Raise UserError for a rule about audits that names none of these checks, or bounds the wrong side."""
    found = rule.among(checks)
    if not found:
        known = dict.fromkeys(check["name"].split()[0] for check in checks)
        raise UserError(
            f"--gate {rule.text}: an audit has no check of that name; there are {', '.join(known)}"
        )
    check = found[0]
    signs = {"either": (0, "±"), "higher": (1, "+"), "lower": (-1, "-")}
    (sign, shown_sign), has_unit = signs[check["worse"]], check["unit"] in ("points", "%")
    if rule.sign != sign or (rule.unit == "pp") is not has_unit:
        example = f"{rule.name}:{shown_sign}{'5pp' if has_unit else '0.5'}"
        raise UserError(
            f"--gate {rule.text}: write {example}, for how far {check['name'].split()[0]} may lie from a "
            f"sound evaluator's, {check['sound']:g}"
        )


def not_audited(rule: Rule, evaluators: Sequence[str], suite: str) -> str:
    """The message about a rule that could not be decided."""
    models = " ".join(f"--evaluator-model {name}" for name in evaluators)
    return (
        f"--gate {rule.text}: {', '.join(evaluators)} has not been audited: add --audit quick, "
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
    and there is a part `trend` of all. Here no test has failed for a run without a score, as it would in a
    session: the gate fails for it.
    """
    from equipoise.compare.compare import compare
    from equipoise.compare.trend import trend

    # With a gate it is a release that is compared, and no option's effect.
    is_study, most = not rules, most_unscored(rules)
    releases = pooled(map(load_verified, baselines))
    before = releases[-1]
    found = []
    for after in pooled(map(load_verified, candidates)):
        comparison = compare(before, after, allows_mismatch=allows_mismatch, is_study=is_study, most=most)
        metrics = {name: change.metric for name, change in comparison.changes.items()}
        for rule in rules:
            refuse_unfit(rule, metrics, f"what {before.file} and {after.file} share")
            if rule.is_about_audit:
                refuse_without_audit(rule, after)
        parts = _parts(rules, comparison, after.data, needs_scores=True)
        if len(releases) > 1:
            parts["trend"] = trend(
                [*releases, after], allows_mismatch=allows_mismatch, is_study=is_study, most=most
            )
        found.append(parts)
    return found


def refuse_without_audit(rule: Rule, side: Side) -> None:
    """Raise UserError for a rule about audits if the results have none, or none with that check."""
    audits = {name: side.audits.get(name) for name in side.metadata["evaluator_models"]}
    missing = [name for name, audit in audits.items() if audit is None]
    if missing:
        raise UserError(f"--gate {rule.text}: {side.file}: has no audit of {', '.join(missing)}")
    for audit in filter(None, audits.values()):
        if audit["checks"]:
            refuse_unfit_audit(rule, audit["checks"])


def is_to_be_verified(release: Release) -> bool:
    """Whether its gate requires that results are what their journal says."""
    return any(rule.name == VERIFIED for rule in release.gate)


def conclude(
    release: Release, baseline: Side | None, data: Mapping[str, JSON], path: Path, doubt: str | None = None
) -> dict[str, JSON]:
    """The parts `comparison` and `gate` of a session's results, where it was asked for them.

    `doubt` says why its journal is not what its calls come to, where that was tried.
    """
    if baseline is None and not release.gate:
        return {}
    from equipoise.compare.compare import compare

    if baseline is None:
        return _parts(release.gate, None, data)
    candidate = replace(side(shown(path), data), doubt=doubt)
    comparison = compare(baseline, candidate, allows_mismatch=True, most=most_unscored(release.gate))
    # Settings and cases were held against the baseline's before any call; what was really sent is seen here.
    late = [] if release.allow_mismatch else sent_otherwise(baseline.metadata, candidate.metadata)
    return _parts(release.gate, comparison, data, doubts=late)


def _answered(comparison: Comparison | None, data: Mapping[str, JSON]) -> list[str]:
    """Changes of the models that answered, in the candidate, the baseline, or between the two."""
    if comparison is None:
        return answered.changes(data["metadata"])
    before, after = comparison.before.metadata, comparison.after.metadata
    return [*answered.between(before, after), *answered.within(before, after)]


def _parts(
    rules: Sequence[Rule],
    comparison: Comparison | None,
    data: Mapping[str, JSON],
    *,
    needs_scores: bool = False,
    doubts: Sequence[str] = (),
) -> dict[str, JSON]:
    from equipoise.compare.gate import judge_all

    missing, planned = unscored_runs(data)
    audits = data.get("audit") or {}
    found: dict[str, JSON] = {} if comparison is None else {"comparison": comparison.to_json()}
    if rules:
        found["gate"] = judge_all(
            rules, comparison, missing, planned, audits=audits, needs_scores=needs_scores, doubts=doubts
        )
        if told := _answered(comparison, data):
            found["gate"]["answered"] = told
    return found
