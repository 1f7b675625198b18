"""`equipoise data validate`: checks of data and results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from equipoise.cli.output import print_line
from equipoise.core.quantities import counted

if TYPE_CHECKING:
    from equipoise.core.types import JSON

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=_PATH)
@click.pass_context
def validate(ctx: click.Context, paths: tuple[Path, ...]) -> None:
    """Check each PATH: results, a folder of them, a dataset, questions, rubric or project (default ./topics).

    Results are checked against the JSON Schema. In a project, topics, rubrics and results are checked. Prints
    one line per finding. Exits with 0 if there are no findings, 1 if there are any, 4 if a path is none of
    these. Published data, in folders named original, are checked only if such a folder is named.
    """
    from equipoise.datasets import lint

    lines, result_counts = _validate_results(paths)
    file_count = sum(result_counts.values())
    data_paths = [path for path in paths if path not in result_counts or lint.is_project(path)]
    if data_paths or not paths:
        findings, data_file_count = lint.validate(data_paths)
        lines += map(str, findings)
        file_count += data_file_count
    for line in lines:
        print_line(line)
    count = counted(len(lines), "finding") if lines else "no findings"
    print_line(f"{count} in {counted(file_count, 'file')}", err=bool(lines))
    ctx.exit(1 if lines else 0)


def _validate_results(paths: Sequence[Path]) -> tuple[list[str], dict[Path, int]]:
    """The findings on results files at or in these paths, and the number of these files by path."""
    from equipoise.results import schema

    lines: list[str] = []
    counts: dict[Path, int] = {}
    for path in paths:
        for file in _files(path):
            if (data := schema.read(file)) is not None:
                lines += _problem_lines(file, data)
                counts[path] = counts.get(path, 0) + 1
    return lines, counts


def _files(path: Path) -> list[Path]:
    """The files at a path that may be results: JSON directly in a folder, or in `results` of a project."""
    from equipoise.datasets import lint

    if not path.is_dir():
        return [path]
    folders = [path, path / "results"] if lint.is_project(path) else [path]
    return [file for folder in folders for file in sorted(folder.glob("*.json"))]


def _problem_lines(file: Path, data: JSON) -> list[str]:
    """A line for each problem of these results, and one with the number of problems beyond the limit."""
    from equipoise.results import schema

    lines = [f"{file}: {problem}" for problem in schema.problems(data)]
    left_out = len(lines) - schema.MOST_SHOWN
    return [*lines[: schema.MOST_SHOWN], *([f"{file}: and {left_out:,} more"] if left_out > 0 else [])]
