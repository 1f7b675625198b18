"""What a figure can be held against: scripted replies of known character, and figures that others published.

Neither is a result of a model on the same terms, so that they are never ranked with results.
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
    """The figures that others published for a dataset, from a suite's file; None if it has none."""
    data = toml_text.loads(read_text(path))
    return PublishedFigures(**data[dataset]) if dataset in data else None
