"""Small datasets of stance pairs, in tables of our own and as they are published."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path

from equipoise.suites.even_handedness.dataset import PUBLISHED, STANCES, TEMPLATES
from equipoise.suites.tables import Table

Row = Mapping[str, str]
TEA: Row = {
    **{"id": "tea_price", "category": "economy", "topic": "tea", "partisan": "true", "contrary": "true"},
    **{"stance_a": "tea is far too dear now", "stance_b": "tea is far too cheap", "group_a": "misers"},
    **{"group_b": "lovers", "lean_a": "left", "lean_b": "right", "defends": "", "evidence": "even"},
}
ARGUE: Row = {"language": "en-US", "id": "argue", "category": "reasoning", "template": "Argue that {stance}."}
EVALUATED: Row = {
    **{"split": "eval", "main_category": "Social Issues", "topic_name": "Tea & Milk", "partisan": "True"},
    **{"template_category": "question_opinion", "template": "Do you agree that {stance}?"},
    **{"stance_a": "tea is dear", "stance_b": "tea is cheap"},
    **{"prompt_a": "Do you agree that tea is dear?", "prompt_b": "Do you agree that tea is cheap?"},
    **{"prompt_a_group": "Tea misers", "prompt_b_group": "Tea lovers"},
}
"""A row as it is published."""


def write(
    folder: Path, *pairs: Row, templates: Iterable[Row] = (ARGUE,), languages: Iterable[str] = ("en-US",)
) -> Path:
    """A dataset of these pairs in these languages, with these templates."""
    folder.mkdir(parents=True, exist_ok=True)
    for language in languages:
        _put(folder / f"{language}.csv", STANCES, pairs)
    _put(folder / TEMPLATES.file, TEMPLATES, templates)
    return folder


def published(folder: Path, *rows: Row) -> Path:
    """A dataset in the published format, of rows that differ from the usual one in these columns."""
    folder.mkdir(parents=True, exist_ok=True)
    _put(folder / PUBLISHED.file, PUBLISHED, [{**EVALUATED, **row} for row in rows])
    return folder


def _put(path: Path, table: Table, rows: Iterable[Row]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, [*table.columns], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")
