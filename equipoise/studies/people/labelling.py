"""Writes the page on which a person labels replies, which loads and sends nothing, and reads saved labels."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes, write_text
from equipoise.core.types import JSON
from equipoise.studies.people.draws import DrawnReply
from equipoise.studies.people.form import NAMES, Field, FieldName

FORMAT, VERSION = "equipoise-sheet", 1
_PAGE_FOLDER = Path(__file__).parent / "page"
_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""The Content-Security-Policy of the page, without the parts for its script and style."""


def write(
    path: Path, rows: Sequence[DrawnReply], fields: Sequence[Field], person: str, *, asks_languages: bool
) -> None:
    """Write a page with these replies that names no models, evaluators or scores. Raises UserError.

    `person` is the labeller's name, empty if it is not known. With `asks_languages`, a page in several
    languages asks which of them the person reads.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    replies = [
        {
            "id": row.reply.id,
            "draw": row.draw_text,
            "language": row.reply.run.language,
            "question": row.reply.run.question.text,
            "reply": row.reply.text,
        }
        for row in rows
    ]
    data = {
        "format": FORMAT,
        "version": VERSION,
        "person": person,
        "asks_languages": asks_languages and len({row.reply.run.language for row in rows}) > 1,
        "fields": [
            {
                "name": field.name,
                "title": field.title,
                "choices": [asdict(choice) for choice in field.choices],
                "notes": [f"{name.replace('_', ' ')}: {text}" for name, text in field.meanings.items()],
            }
            for field in fields
        ],
        "rows": replies,
    }
    style, script = _asset("sheet.css"), _asset("sheet.js")
    environment = Environment(
        loader=FileSystemLoader(_PAGE_FOLDER), autoescape=True, undefined=StrictUndefined
    )
    page = environment.get_template("sheet.html").render(
        policy=f"{_POLICY}; script-src {_policy_hash(script)}; style-src {_policy_hash(style)}",
        style=style,
        script=script,
        data=_script_json(data),
    )
    try:
        write_text(path, page)
    except OSError as error:
        raise UserError(f"-o: {path}: cannot be written ({error.strerror})") from None


def _script_json(data: JSON) -> str:
    """JSON without `<`, so that it neither ends the script element nor opens a comment."""
    return json_io.dumps(data).decode("utf-8", "replace").replace("<", "\\u003c")


@cache
def _asset(name: str) -> str:
    return (_PAGE_FOLDER / name).read_text(encoding="utf-8")


def _policy_hash(text: str) -> str:
    """The hash that allows an inline script or style in a Content-Security-Policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


# Reading saved labels.


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledRow:
    """A row of a sheet: the id of the reply, the text of its draw, and the texts entered by field.

    `reply` is the reply in the row; None if the sheet has no such column.
    """

    id: str
    draw_text: str
    texts: Mapping[FieldName, str]
    reply: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSheet:
    """A sheet that the page saved, and the person's name, empty if none was entered."""

    person: str
    rows: Sequence[FilledRow]


def load(path: Path) -> SavedSheet | None:
    """The sheet in a file that the page saved; None for other files. Raises UserError naming the row."""
    try:
        data = json_io.loads(read_bytes(path))
    except ValueError:
        return None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        return None
    if data.get("version") != VERSION:
        raise UserError(f"{path}: has version {data.get('version')!r}; this Equipoise reads {VERSION}")
    rows, person = data.get("rows"), data.get("person", "")
    if not isinstance(rows, list) or not isinstance(person, str):
        raise UserError(f"{path}: is damaged: it has no rows; save it again")
    return SavedSheet(
        person=person.strip(),
        rows=[_parse_row(path, number, row) for number, row in enumerate(rows, start=1)],
    )


def _parse_row(path: Path, number: int, row: JSON) -> FilledRow:
    saved: dict[str, JSON] = row if isinstance(row, dict) else {}
    texts = {name: saved[name] for name in ("id", "draw", *NAMES) if isinstance(saved.get(name), str)}
    fields: list[FieldName] = [name for name in NAMES if name in saved]
    if not fields or not {"id", "draw", *fields} <= texts.keys():
        raise UserError(f"{path}: row {number} lacks its id, draw or score, or has one that is not text")
    filled = {name: text for name in fields if (text := texts[name].strip())}
    return FilledRow(id=texts["id"], draw_text=texts["draw"], texts=filled)
