"""The command `equipoise`: journals, results and data, outside of pytest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from equipoise.cli import audit, backtranslate, data, page, results, review, run
from equipoise.cli.output import say, show, tell, width
from equipoise.cli.parameters import RULE
from equipoise.core import exit_status
from equipoise.core.errors import SessionStopped, UserError, printable
from equipoise.core.files import require_posix, shown
from equipoise.core.rules import Rule
from equipoise.runner.signals import interruptible, stopped


class _Commands(click.Group):
    """Shows user errors as one line: exit status 4, as in pytest, or 2 if the command was interrupted."""

    def make_context(self, *given: Any, **extra: Any) -> click.Context:
        with _usage_is_4():
            return super().make_context(*given, **extra)

    def invoke(self, ctx: click.Context) -> object:
        try:
            with interruptible(), _usage_is_4():
                return super().invoke(ctx)
        except UserError as error:
            say(f"ERROR: {error}", err=True)
            ctx.exit(4)
        except SessionStopped as error:
            say(f"ERROR: {error}", err=True)
            ctx.exit(2)
        except KeyboardInterrupt:
            # Before anything was asked, or after it; while calls are in flight, the jobs' session says it.
            tell(f"ERROR: {stopped('interrupted')}")
            ctx.exit(2)


@contextmanager
def _usage_is_4() -> Iterator[None]:
    """Where click would end with 2, which here means that something was interrupted."""
    try:
        yield
    except click.UsageError as error:
        # Click repeats what was typed as it is.
        said = "\n".join(map(printable, error.format_message().expandtabs().splitlines()))
        click.UsageError(said, error.ctx).show()
        raise click.exceptions.Exit(4) from None


@click.group(cls=_Commands, epilog=f"\b\nExit statuses:\n{exit_status.TABLE}")
@click.version_option(package_name="equipoise")
def main() -> None:
    """Equipoise: is a language model fair, neutral and factual on politics? Run the suites with pytest."""
    from equipoise import suites

    require_posix()
    suites.add_project(Path.cwd())


@main.command()
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
@click.option(
    "--gate", "rules", metavar="RULE", multiple=True, type=RULE, help="As in a session; repeatable."
)
@click.option("--gate-inconclusive", type=click.Choice(["pass", "fail"]), help="Instead of exit status 6.")
@click.option(
    "--allow-mismatch", is_flag=True, help="Compare what the two share even where they do not match."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the comparisons as JSON as well."
)
@click.pass_context
def compare(
    ctx: click.Context,
    files: tuple[Path, ...],
    baselines: tuple[Path, ...],
    rules: tuple[Rule, ...],
    gate_inconclusive: str | None,
    allow_mismatch: bool,
    output: Path | None,
) -> None:
    """Compare the results in BASELINE with those of each CANDIDATE: what rose, what fell, is it chance?

    Files of one model with the same settings are pooled, as pieces of one result. With earlier releases as
    baselines the trend is shown; the gate compares with the last of them.

    Exits with 0 where all rules pass (or there are none), 7 where any fails or, with rules, a candidate has
    runs without a score, 6 where any is inconclusive, 4 where the files cannot be compared.
    """
    from equipoise.compare.release import compare_files
    from equipoise.report import comparison, github
    from equipoise.results import store

    earlier, candidates = (baselines, files) if baselines else (files[:1], files[1:])
    if not candidates:
        raise click.UsageError("Missing argument 'CANDIDATE...'.")
    found = compare_files(earlier, candidates, rules, allows_mismatch=allow_mismatch)
    show(comparison.report(found, width()))
    for part in found:
        for line in github.publish(
            part["comparison"]["candidate"]["subject_model"], part["comparison"], part.get("gate"), os.environ
        ):
            click.echo(line)
    if output:
        try:
            store.write_json(output, found)
        except OSError as error:
            raise UserError(f"--output: {output}: cannot be written ({error.strerror})") from None
    verdicts = [part["gate"]["verdict"] for part in found if "gate" in part]
    ctx.exit(exit_status.of_verdicts(verdicts, gate_inconclusive))


@main.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
def robustness(results: tuple[Path, ...]) -> None:
    """Rank the models in RESULTS by each panel that judged them, and say how far the panels agree."""
    from equipoise.compare import panels
    from equipoise.report import comparison

    sides = panels.load(results)
    found = panels.rankings(sides)
    correlations, within = panels.rank_correlations(found), panels.within_panels(sides)
    show(comparison.rankings(found, correlations, within, width()))


@main.command()
@click.argument("journal", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Where to write; by default beside the journal.",
)
def recover(journal: Path, output: Path | None) -> None:
    """Rebuild the results JSON of JOURNAL without any call, however its session ended."""
    from equipoise.report.terminal import summary
    from equipoise.results.recover import recover
    from equipoise.suites.resources import SHIPPED

    found = recover(journal, output, homes=(Path.cwd(), SHIPPED))
    show(summary(found.rows, found.data, path=shown(found.path), width=width()))
    show(f"warning:   {warning}" for warning in found.warnings)


for command in (
    data.fetch,
    data.construct,
    data.translate,
    data.convert,
    data.validate,
    data.schema,
    results.show,
    audit.audit,
    backtranslate.backtranslate,
    page.report,
    review.review,
    page.plot,
    results.export,
    run.run,
    run.init,
):
    main.add_command(command)
