"""The options of a gate, for several commands, and the verdict on results."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from equipoise.cli.output import may_be_cut, print_wrapped, width
from equipoise.cli.parameters import RULE
from equipoise.core.errors import UserError
from equipoise.core.gates import GateFile, inconclusive_in, rules_in
from equipoise.core.rules import InconclusiveCountsAs, Rule
from equipoise.core.types import JSON
from equipoise.runner import exit_status

if TYPE_CHECKING:
    from equipoise.comparison.gate_terms import GateTerms
    from equipoise.report.verdict import SectionsBySuite

baseline_option = click.option(
    "--baseline",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Compare with these earlier results; in a folder, with <suite>.json or *.<suite>.json.",
)
"""The option `--baseline` of commands that write results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """The values of a gate's options. `rules` includes the rules of files."""

    rules: tuple[Rule, ...]
    inconclusive: InconclusiveCountsAs | None
    allows_mismatch: bool

    def resolve_terms(self, suites: Sequence[str], baseline: Path | None) -> dict[str, GateTerms]:
        """The terms of each of these suites, by name. Raises UserError."""
        from equipoise.comparison.gate_terms import resolve_terms

        return resolve_terms(
            suites, baseline, self.rules, self.inconclusive, allows_mismatch=self.allows_mismatch
        )


def gate_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a gate to a command, which gets their values as its argument `gating`."""

    @functools.wraps(command)
    def command_with_gate(
        *arguments: Any,
        rules: Sequence[Rule | GateFile],
        gate_inconclusive: InconclusiveCountsAs | None,
        allow_mismatch: bool,
        **options: Any,
    ) -> Any:
        gating = GateOptions(
            rules=rules_in(rules),
            inconclusive=gate_inconclusive or inconclusive_in(rules),
            allows_mismatch=allow_mismatch,
        )
        return command(*arguments, gating=gating, **options)

    for option in (
        click.option(
            "--allow-mismatch", is_flag=True, help="Compare even if settings differ, on what both share."
        ),
        click.option(
            "--gate-inconclusive",
            type=click.Choice(["pass", "fail"]),
            help="What an inconclusive gate counts as (default: exit status 6).",
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
        command_with_gate = option(command_with_gate)
    return command_with_gate


def publish(sections_by_suite: SectionsBySuite, model: str = "") -> None:
    """On GitHub Actions, print annotations for these results' sections, and append to the job summary.

    If there are several models, the heading of each suite begins with `model`.
    """
    from equipoise.report import github

    headed = {f"{model}: {suite}" if model else suite: item for suite, item in sections_by_suite.items()}
    for line in github.publish(headed, os.environ):
        click.echo(line)


def decide_gates(
    files: Sequence[Path],
    baseline: Path | None,
    gating: GateOptions,
    *,
    output: Path | None = None,
    junitxml: Path | None = None,
) -> int:
    """Print, publish and write the verdicts on the models in these files, and return the exit status.

    Raises UserError.
    """
    from equipoise.comparison.of_files import gate_files
    from equipoise.report import junit
    from equipoise.results.schema import reading

    with reading(*files):
        results = gate_files(
            baseline, files, gating.rules, gating.inconclusive, allows_mismatch=gating.allows_mismatch
        )
    if output:
        write_json(output, results)
    if junitxml:
        junit.write(junitxml, results, gating.inconclusive)
    with may_be_cut():
        for model, sections_by_suite in results.items():
            _print_release(model if len(results) > 1 else "", sections_by_suite)
    all_sections = [sections for by_suite in results.values() for sections in by_suite.values()]
    gates = [sections["gate"] for sections in all_sections if "gate" in sections]
    return exit_status.status_of_gates(gates, gating.inconclusive)


def _print_release(model: str, sections_by_suite: SectionsBySuite) -> None:
    """Print the verdict on a model's release, then each suite's comparison, and publish them.

    `model` is the heading, empty if there is only one model.
    """
    from equipoise.report import comparison, verdict

    verdict_lines = [*verdict.lines(sections_by_suite, width())]
    print_wrapped([*([model] if model else ()), *verdict_lines])
    compared = {
        suite: sections["comparison"]
        for suite, sections in sections_by_suite.items()
        if "comparison" in sections
    }
    are_several = len(sections_by_suite) > 1
    for suite, figures in compared.items():
        shown = comparison.lines(figures, width(), has_table=not are_several)
        print_wrapped(["", *([suite] if are_several else ()), *shown])
    if compared:
        more = ["", "the figures of each suite: equipoise compare --all"] if are_several else []
        # The verdict once more: readers of a log see its end first.
        print_wrapped([*more, "", *verdict_lines[:1]])
    publish(sections_by_suite, model)


def write_json(output: Path, data: JSON) -> None:
    """Write the file of --output. Raises UserError."""
    from equipoise.results import store

    store.refuse_replacing("--output", output)
    try:
        store.write_json(output, data)
    except OSError as error:
        raise UserError(f"--output: {output}: cannot be written ({error.strerror})") from None
