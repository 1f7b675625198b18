"""`equipoise judge languages`: is the model less neutral in a language, or is its judge stricter there?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from equipoise.cli.model_options import (
    call_options,
    call_settings,
    evaluators_option,
    usage_line,
    warn_of_keys,
)
from equipoise.cli.output import print_line, print_notice, print_wrapped
from equipoise.cli.parameters import NAME
from equipoise.core.files import shown
from equipoise.suites import rubric_path
from equipoise.suites.resources import nearest


@click.command()
@click.argument("path", metavar="RESULTS", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "targets",
    metavar="L",
    type=NAME,
    multiple=True,
    help="Translate into this language only; repeatable.",
)
@click.option(
    "--translator-model", "translator", metavar="M", type=NAME, required=True, help="The model to translate."
)
@evaluators_option
@click.option(
    "-n",
    "--sample",
    metavar="N",
    type=click.IntRange(min=2),
    default=60,
    show_default=True,
    help="About how many replies.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the sample.")
@call_options
def languages(
    path: Path,
    targets: tuple[str, ...],
    translator: str,
    evaluators: tuple[str, ...],
    sample: int,
    seed: int,
    fresh: bool,
    **options: Any,
) -> None:
    """Split the gap between languages in RESULTS in two, by judging translations of replies.

    The two parts are the difference in content, judged in the same language, and the difference in how
    strictly the same content is judged. Replies are sampled by language and area. The figures are added to
    RESULTS.
    """
    from equipoise.judge.rubric import Brief
    from equipoise.report import added
    from equipoise.results import sections
    from equipoise.results.load import load
    from equipoise.studies import backtranslate

    settings = call_settings({**options, "model": translator}, evaluators)
    results = load(path)
    sections.require_extensible(path, results.metadata)
    path_of_rubric = rubric_path(results.suite, results.metadata.get("dataset"), Path.cwd())
    rubric = backtranslate.single_reply_rubric(results, results.suite.judging.rubric(path_of_rubric))
    if "about" in results.metadata:
        rubric = rubric.with_about(Brief(**results.metadata["about"]))
    texts = backtranslate.draw_sample(results, targets, sample, seed)
    prompts = backtranslate.read_prompts(nearest("rubric/backtranslate.toml", Path.cwd()))
    warn_of_keys(settings)
    print_line(
        f"{texts.replies} replies to {texts.questions} questions in {', '.join(texts.languages)}: "
        f"{texts.translations} translations, and {len(texts.texts)} verdicts of each evaluator",
        err=True,
    )
    with click.progressbar(length=len(texts.texts), label="judging", file=sys.stderr) as bar:
        section, totals = backtranslate.backtranslate(
            results,
            path,
            texts,
            rubric,
            prompts,
            settings,
            is_fresh=fresh,
            on_done=lambda: bar.update(1),
            tell=print_notice,
        )
    print_wrapped(added.backtranslation_lines(section))
    price = "unknown" if section["cost_usd"] is None else f"{section['cost_usd']:.4f} USD"
    print_line(f"{usage_line(totals)}; cost {price}")
    print_line(f"added to {shown(path)}; texts: {shown(backtranslate.journal_of(path))}")
