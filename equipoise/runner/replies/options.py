"""The option of replies that exist already."""

from __future__ import annotations

from equipoise.core.options import Option, parse_path

HEADING = "Files"
OPTIONS = (
    Option(
        "--replies",
        "judge replies that exist already: CSV, JSON Lines, or earlier results; no subject is called",
        alias="--rejudge",
        parse=parse_path,
        metavar="FILE",
    ),
)
