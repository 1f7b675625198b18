"""`equipoise data fetch`: the published data of suites."""

from __future__ import annotations

from pathlib import Path

import click

from equipoise.cli.output import print_line
from equipoise.core.errors import UserError
from equipoise.suites.resources import topic_folders

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("name")
@click.option(
    "--to",
    "folder",
    type=_PATH,
    help="Write to PATH/NAME (default topics/NAME/original).",
)
@click.option("--site", default=None, help="A mirror of the site; also a file URL.")
def fetch(name: str, folder: Path | None, site: str | None) -> None:
    """Fetch the published data of NAME, a suite or dataset, or of all, and verify them by SHA-256.

    The data of a suite are used with --dataset original. With all, it continues if some cannot be fetched,
    and exits with 4 at the end.
    """
    from equipoise.datasets import fetch

    folders = topic_folders(Path.cwd())
    names, failed = fetch.expand_name(name, folders), []
    for pinned_name in names:
        try:
            for line in fetch.fetch(pinned_name, folders, folder, site or fetch.SITE):
                print_line(line)
        except UserError as error:
            if name != fetch.ALL:
                raise
            failed.append(pinned_name)
            print_line(f"ERROR: {error}", err=True)
    if failed:
        raise UserError(f"{len(failed)} of {len(names)} are incomplete: {', '.join(failed)}")
