"""Figures that others published, which reports show beside a suite's figures.

They were not measured as the suite measures, so they are never ranked with results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from equipoise.core import toml_text
from equipoise.core.files import read_text


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFigures:
    """Headline figures of `models` by name, in the headline's unit, as `source` published them.

    `date` is that of the publication, and `note` says what was measured and who judged.
    """

    models: Mapping[str, float]
    source: str
    address: str
    date: str
    note: str


def published_figures(path: Path, dataset: str | None) -> PublishedFigures | None:
    """The figures that others published for a dataset, from a suite's file; None if the file has none."""
    data = toml_text.loads(read_text(path))
    return PublishedFigures(**data[dataset]) if dataset in data else None
