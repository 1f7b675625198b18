"""`equipoise data translate`: translates question files, with a table for a reviewer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from equipoise.cli.model_options import call_settings, model_and_call_options, usage_line, warn_of_keys
from equipoise.cli.output import print_line, print_notice
from equipoise.cli.parameters import NAME
from equipoise.core.errors import UserError
from equipoise.suites.resources import nearest

_PATH = click.Path(path_type=Path)


@click.command()
@click.option("--from", "source", type=_PATH, required=True, help="Questions (.txt) or templates (.csv).")
@click.option(
    "--from-language",
    type=NAME,
    default=None,
    help="Its language (default: the file's name; en for a table).",
)
@click.option(
    "--to", "language", required=True, metavar="L", type=NAME, help="The language to translate into."
)
@click.option(
    "--verify-model", metavar="M", type=NAME, help="A second model that translates back, for the review."
)
@click.option("-o", "--output", type=_PATH, help="Default translations/LANGUAGE.txt, or .csv of a table.")
@click.option("--force", is_flag=True, help="Replace files that were edited since they were written.")
@model_and_call_options
@click.pass_context
def translate(
    ctx: click.Context,
    /,
    source: Path,
    from_language: str | None,
    language: str,
    verify_model: str | None,
    output: Path | None,
    force: bool,
    fresh: bool,
    **options: Any,
) -> None:
    """Translate a question file line by line, check every line, and write a table for a reviewer.

    Exits with 1 if a line failed its checks. Such a line is left empty, and the review says what is wrong. A
    missing back-translation is reported and has no other effect.
    """
    from equipoise.datasets import translate

    source_language = from_language or ("en" if source.suffix == ".csv" else source.stem)
    target = output or Path("translations") / f"{language}{source.suffix}"
    if target.exists() and target.resolve() == source.resolve():
        raise UserError(f"--output: {target} is the file to translate; name another file")
    settings = call_settings(options, (verify_model,) if verify_model else ())
    texts = translate.source_texts(source, source_language)
    warn_of_keys(settings)
    with click.progressbar(length=len(texts), label="translating", file=sys.stderr) as bar:
        translations, counters = translate.translate(
            source,
            (source_language, language),
            target,
            settings,
            translate.read_prompts(nearest("rubric/translate.toml", Path.cwd())),
            translates_back=verify_model is not None,
            overwrites=force,
            is_fresh=fresh,
            on_done=lambda: bar.update(1),
            tell=print_notice,
        )
    failed = [item for item in translations if item.flags]
    for item in translations:
        if remarks := translate.remarks(item):
            print_line(f"{source}:{item.source.line}: {remarks}")
    review = translate.beside(target, source, "review.csv")
    print_line(f"{target}: {len(translations) - len(failed)} of {len(translations)} texts; review: {review}")
    print_line(usage_line(counters))
    ctx.exit(1 if failed else 0)
