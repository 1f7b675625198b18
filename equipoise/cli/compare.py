"""`equipoise compare`, `gate` and `robustness`: results against others, and the options of a gate."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from equipoise.cli.output import show, width
from equipoise.cli.parameters import RULE
from equipoise.core.errors import UserError
from equipoise.core.gates import GateFile, inconclusive_in, rules_in
from equipoise.core.rules import Inconclusive, Rule
from equipoise.core.types import JSON
from equipoise.runner import exit_status

if TYPE_CHECKING:
    from equipoise.comparison.release import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the options of a gate say; `rules` are those of files, too."""

    rules: tuple[Rule, ...]
    inconclusive: Inconclusive | None
    allow_mismatch: bool

    def releases(self, suites: Sequence[str], baseline: Path | None) -> dict[str, Release]:
        """The release of each of these suites. Raises UserError."""
        from equipoise.comparison.release import releases

        return releases(suites, baseline, self.rules, self.inconclusive, allow_mismatch=self.allow_mismatch)


def gate_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds what a session's gate takes; the command is given `wanted`."""

    @functools.wraps(command)
    def gated(
        *arguments: Any,
        rules: Sequence[Rule | GateFile],
        gate_inconclusive: Inconclusive | None,
        allow_mismatch: bool,
        **options: Any,
    ) -> Any:
        wanted = Wanted(
            rules=rules_in(rules),
            inconclusive=gate_inconclusive or inconclusive_in(rules),
            allow_mismatch=allow_mismatch,
        )
        return command(*arguments, wanted=wanted, **options)

    for option in (
        click.option(
            "--allow-mismatch", is_flag=True, help="Compare what both share where they do not match."
        ),
        click.option(
            "--gate-inconclusive", type=click.Choice(["pass", "fail"]), help="Instead of exit status 6."
        ),
        click.option(
            "--gate",
            "rules",
            metavar="RULE",
            multiple=True,
            type=RULE,
            help="A rule, or a file of rules that ends in .toml, as in a session; repeatable.",
        ),
    ):
        gated = option(gated)
    return gated


def publish(suites: Mapping[str, Mapping[str, JSON]]) -> None:
    """Print what GitHub Actions take as annotations, and append to its job summary."""
    from equipoise.report import github

    for line in github.publish(suites, os.environ):
        click.echo(line)


def write(output: Path, data: JSON) -> None:
    """Write JSON. Raises UserError."""
    from equipoise.results import store

    try:
        store.write_json(output, data)
    except OSError as error:
        raise UserError(f"--output: {output}: cannot be written ({error.strerror})") from None


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
    "-o", "--output", type=click.Path(path_type=Path), help="Write the comparisons as JSON as well."
)
@click.pass_context
def compare(
    ctx: click.Context,
    files: tuple[Path, ...],
    baselines: tuple[Path, ...],
    wanted: Wanted,
    output: Path | None,
) -> None:
    """Compare the results in BASELINE with those of each CANDIDATE: what rose, what fell, is it chance?

    Files of one model with the same settings are pooled, as pieces of one result. With earlier releases as
    baselines the trend is shown; the gate compares with the last of them.

    Exits with 4 where the files cannot be compared. With rules it exits with the first of these that holds:
    2 runs were not done, 7 a rule fails, 1 runs have no score, 6 a rule is inconclusive, 0.
    """
    from equipoise.comparison.of_files import compare_files
    from equipoise.report import comparison
    from equipoise.results.schema import reading

    earlier, candidates = (baselines, files) if baselines else (files[:1], files[1:])
    if not candidates:
        raise click.UsageError("Missing argument 'CANDIDATE...'.")
    with reading(*earlier, *candidates):
        comparisons = compare_files(earlier, candidates, wanted.rules, allows_mismatch=wanted.allow_mismatch)
    show(comparison.report(comparisons, width()))
    for part in comparisons:
        publish({part["comparison"]["candidate"]["subject_model"]: part})
    if output:
        write(output, comparisons)
    gates = [part["gate"] for part in comparisons if "gate" in part]
    ctx.exit(exit_status.of_gates(gates, wanted.inconclusive))


@click.command()
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
    wanted: Wanted,
    output: Path | None,
    junitxml: Path | None,
) -> None:
    """Whether a release passes: the verdict on RESULTS, of one suite or several, by the rules of --gate.

    RESULTS are files, or folders with one results file of each suite. Those of one model are one release.
    The same verdict and exit status as of a session with these options, without any call.

    Exits with the first of these that holds: 4 the files cannot be compared, 2 runs were not done, 7 a rule
    fails, 1 runs have no score, 6 a rule is inconclusive, 0.
    """
    if not wanted.rules:
        raise UserError("--gate: name a file of rules, such as gates.toml, or a rule, such as overall:-2pp")
    files = [file for path in results for file in _results_in(path)]
    ctx.exit(decide(files, baseline, wanted, output=output, junitxml=junitxml))


def decide(
    files: Sequence[Path],
    baseline: Path | None,
    wanted: Wanted,
    *,
    output: Path | None = None,
    junitxml: Path | None = None,
) -> int:
    """Show and publish the verdict on these results, and return its exit status. Raises UserError."""
    from equipoise.comparison.of_files import gate_files
    from equipoise.report import junit
    from equipoise.results.schema import reading

    with reading(*files):
        models = gate_files(
            baseline, files, wanted.rules, wanted.inconclusive, allows_mismatch=wanted.allow_mismatch
        )
    for model, suites in models.items():
        _show_release(model if len(models) > 1 else "", suites)
    if output:
        write(output, models)
    if junitxml:
        junit.write(junitxml, models, wanted.inconclusive)
    gates = [parts["gate"] for suites in models.values() for parts in suites.values() if "gate" in parts]
    return exit_status.of_gates(gates, wanted.inconclusive)


def _show_release(model: str, suites: Mapping[str, Mapping[str, JSON]]) -> None:
    """The verdict, then each suite's comparison; `model` is empty where there is one."""
    from equipoise.report import comparison, verdict

    show([*([model] if model else ()), *verdict.lines(suites, width())])
    for suite, parts in suites.items():
        if "comparison" in parts:
            heading = [suite] if len(suites) > 1 else []
            show(["", *heading, *comparison.lines(parts["comparison"], width())])
    publish({f"{model}: {suite}" if model else suite: parts for suite, parts in suites.items()})


def _results_in(path: Path) -> list[Path]:
    """The file, or the results files of all suites in a folder. Raises UserError."""
    from equipoise import suites
    from equipoise.comparison.load import of_suite

    if not path.is_dir():
        return [path]
    files = [file for name in suites.names() if (file := of_suite(path, name))]
    if not files:
        raise UserError(f"{path}: has no results: <suite>.json or *.<suite>.json")
    return files


@click.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
def robustness(results: tuple[Path, ...]) -> None:
    """Rank the models in RESULTS by each panel that judged them, and say how far the panels agree."""
    from equipoise.comparison import panels
    from equipoise.report import comparison
    from equipoise.results.schema import reading

    with reading(*results):
        sides = panels.load(results)
        scores = panels.rankings(sides)
        correlations, within = panels.rank_correlations(scores), panels.within_panels(sides)
    show(comparison.rankings(scores, correlations, within, width()))
