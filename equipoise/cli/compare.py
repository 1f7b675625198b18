"""`equipoise compare` and `gate`: comparisons of results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from equipoise.cli.gate_options import GateOptions, decide_gates, gate_options, publish, write_json
from equipoise.cli.output import print_wrapped, width
from equipoise.cli.parameters import RULE
from equipoise.core.errors import UserError
from equipoise.core.gates import rules_in
from equipoise.runner import exit_status


@click.command()
@click.argument(
    "files", metavar="[BASELINE] CANDIDATE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--baseline",
    "baselines",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="In place of BASELINE; repeatable: pieces of one result, or earlier releases, the last one last.",
)
@gate_options
@click.option(
    "--all", "shows_all", is_flag=True, help="All figures, the questions that moved most, each candidate."
)
@click.option(
    "--panels",
    "is_by_panel",
    is_flag=True,
    help="Rank the models of all files by each panel of evaluators, and show how far panels agree.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the comparisons as JSON as well."
)
@click.pass_context
def compare(
    ctx: click.Context,
    files: tuple[Path, ...],
    baselines: tuple[Path, ...],
    gating: GateOptions,
    shows_all: bool,
    is_by_panel: bool,
    output: Path | None,
) -> None:
    """Compare the results of each CANDIDATE with BASELINE: what rose, what fell, and is it chance?

    Files of one model with the same settings are pooled. If there are several baselines, the trend is shown,
    and the gate compares with the last of them.

    Exits with 4 if the files cannot be compared. With rules it exits with the first of these that holds: 2
    runs were not done, 7 a rule fails, 1 runs have no score, 6 a rule is inconclusive; otherwise 0.
    """
    from equipoise.comparison.of_files import compare_files
    from equipoise.report import comparison
    from equipoise.results.schema import reading

    if is_by_panel:
        if baselines or gating.rules or shows_all or output:
            raise UserError("--panels: ranks all files; leave out --baseline, --gate, --all and --output")
        _print_rankings(files)
        return
    if not baselines:
        baselines, files = files[:1], files[1:]
    if not files:
        raise click.UsageError("Missing argument 'CANDIDATE...'.")
    with reading(*baselines, *files):
        comparisons = compare_files(baselines, files, gating.rules, allows_mismatch=gating.allows_mismatch)
    print_wrapped(comparison.report_lines(comparisons, width(), shows_all=shows_all))
    for sections in comparisons:
        publish({str(sections["comparison"]["candidate"]["subject_model"]): sections})
    if output:
        write_json(output, comparisons)
    gates = [sections["gate"] for sections in comparisons if "gate" in sections]
    ctx.exit(exit_status.status_of_gates(gates, gating.inconclusive))


@click.command("plan")
@click.argument("results", metavar="RESULTS", type=click.Path(path_type=Path))
@click.option(
    "--rule", "rules", metavar="RULE", type=RULE, multiple=True, required=True, help="Such as overall:-2pp."
)
def gate_plan(results: Path, rules: tuple[Any, ...]) -> None:
    """How many runs decide a rule: what becomes of releases that do not differ from the baseline RESULTS.

    Shows by margin and number of runs how many of 100 pass, fail and stay inconclusive, and with how many
    runs 95 of 100 are decided. The variances are those of the baseline's own runs. Makes no call.
    """
    from equipoise.comparison.gate.planning import plan
    from equipoise.report import gate_plan as report
    from equipoise.results.load import load
    from equipoise.results.schema import reading

    all_rules = rules_in(rules)
    if len(all_rules) > 1:
        raise UserError(f"--rule: {len(all_rules)} rules: plan each alone, and take the most runs")
    with reading(results):
        planned = plan(load(results), replace(all_rules[0], option="--rule"))
        print_wrapped(report.lines(planned, width()))


class _Gate(click.Command):
    """The command `gate` with its subcommand `gate plan`. A file named `plan` has to be given as `./plan`."""

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **extra: Any) -> click.Context:
        if args[:1] == [gate_plan.name]:
            return gate_plan.make_context(f"{info_name} {gate_plan.name}", args[1:], *more, **extra)
        return super().make_context(info_name, args, *more, **extra)


@click.command(cls=_Gate)
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--baseline",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Earlier results, or a folder with <suite>.json or *.<suite>.json of each suite.",
)
@gate_options
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write comparisons and verdicts as JSON as well."
)
@click.option(
    "--junitxml", type=click.Path(path_type=Path), help="Write the verdicts as a JUnit report as well."
)
@click.pass_context
def gate(
    ctx: click.Context,
    results: tuple[Path, ...],
    baseline: Path | None,
    gating: GateOptions,
    output: Path | None,
    junitxml: Path | None,
) -> None:
    """Decide whether a release passes: the verdict on RESULTS by the rules of --gate.

    RESULTS are files, or folders with one results file for each suite. All results of a model form one
    release. Verdict and exit status are those of a session with the same options. Makes no call.

    `equipoise gate plan BASELINE --rule RULE` says beforehand how many runs it takes to decide.

    Exits with the first of these that holds: 4 the files cannot be compared, 2 runs were not done, 7 a rule
    fails, 1 runs have no score, 6 a rule is inconclusive; otherwise 0.
    """
    from equipoise.results.find import find_results

    if not gating.rules:
        raise UserError("--gate: name a file of rules, such as gates.toml, or a rule, such as overall:-2pp")
    files, skipped = find_results(results)
    print_wrapped(skipped)
    ctx.exit(decide_gates(files, baseline, gating, output=output, junitxml=junitxml))


def _print_rankings(files: Sequence[Path]) -> None:
    """Rank the models in these files by each panel of evaluators, and show how far the panels agree."""
    from equipoise.comparison import panels
    from equipoise.report import comparison
    from equipoise.results.schema import reading

    with reading(*files):
        sides = panels.load(files)
        scores = panels.scores_by_panel(sides)
        correlations, agreement = panels.rank_correlations(scores), panels.evaluator_agreement(sides)
    print_wrapped(comparison.ranking_lines(scores, correlations, agreement, width()))
