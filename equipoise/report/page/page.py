"""The page: results files in, one HTML file out that loads nothing and runs only its own scripts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise import __version__
from equipoise.compare.baseline import DAMAGE, Side, load
from equipoise.core import json_io
from equipoise.core.errors import UserError, printable
from equipoise.core.figures import COLUMNS, Figure
from equipoise.core.files import replacing
from equipoise.core.types import JSON
from equipoise.report.page import figures
from equipoise.report.page.data import Result, differences, overview, result
from equipoise.report.page.reviews import Review, Reviewed
from equipoise.report.page.transcripts import Pack, packed, rows_of

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = Path(__file__).parent
_SCRIPTS = ("vendor/table-core-8.21.3.js", "vendor/sortable-tablesort-4.1.7.js", "page.js")
_REST = "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A figure with its SVG."""

    figure: Figure
    svg: str

    @property
    def columns(self) -> list[str]:
        """The columns of the table behind it."""
        known = COLUMNS[self.figure.kind]
        more = dict.fromkeys(key for row in self.figure.rows for key in row if key not in known)
        return [*known, *more]


def found(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The results files among these files and folders, and a warning for each that was left out of a folder.

    Raises UserError for a path that does not exist, or if there is no results file.
    """
    files, warnings = [], []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        for inner in sorted(path.glob("*.json")):
            if b'"metadata"' in _start(inner):
                files.append(inner)
            else:
                warnings.append(f"{inner}: left out, not an Equipoise results file")
    if not files:
        raise UserError(f"{', '.join(map(str, paths))}: no results files; run a suite first")
    return list(dict.fromkeys(files)), warnings


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(200)


def read(
    paths: Sequence[Path], reviews: Sequence[Review] = (), pack: Pack | None = None
) -> tuple[list[Result], Reviewed]:
    """The page's data of these results, which are read one after the other. Raises UserError."""
    results: dict[str, Result] = {}
    reviewed = Reviewed(reviews)
    for path in paths:
        side = load(path, is_whole=True)
        try:
            item = result(side, len(results), results)
            _add(side, item, reviewed, pack)
        except DAMAGE:
            why = "an earlier version or another tool wrote it: only compare reads it"
            raise UserError(f"{path}: {why}") from None
        results[item.key] = item
    if pack is not None:
        pack.close()
    return [*results.values()], reviewed


def _add(side: Side, item: Result, reviewed: Reviewed, pack: Pack | None) -> None:
    rows = rows_of(side)
    reviewed.match(item.key, item.metadata, rows)
    if pack is not None:
        pack.add(item.place, rows)


def write(path: Path, paths: Sequence[Path], reviews: Sequence[Review] = ()) -> Reviewed:
    """Write the page of these results atomically. Raises UserError."""
    pack = Pack()
    results, reviewed = read(paths, reviews, pack)
    try:
        with replacing(path) as file:
            for piece in _pieces(results, pack, reviewed):
                file.write(piece.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UserError(f"-o: {path}: cannot be written ({error.strerror})") from None
    return reviewed


def _pieces(results: Sequence[Result], pack: Pack, reviewed: Reviewed) -> Iterator[str]:
    style, scripts = _asset("page.css"), [_asset(name) for name in _SCRIPTS]
    index = {
        "results": [_about(item) for item in results],
        "columns": pack.columns,
        "chunks": len(pack.chunks),
        "reviews": [asdict(review) for review in reviewed.reviews],
    }
    template = _environment().get_template("page.html")
    return template.generate(
        policy=_policy(style, scripts),
        style=style,
        scripts=scripts,
        results=results,
        models=list(dict.fromkeys(item.model for item in results)),
        warnings=[f"{item.title}, {item.model}: {text}" for item in results for text in item.warnings],
        differences=differences(results),
        overview=drawn(overview(results)),
        drawn={item.key: drawn(item.figures) for item in results},
        agreement=reviewed.agreement(),
        unmatched=reviewed.unmatched,
        index=packed(json_io.dumps(index)),
        chunks=pack.chunks,
        runs=len(pack.columns["id"]),
        version=__version__,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def drawn(items: Sequence[Figure]) -> list[Drawn]:
    """Each figure with its SVG."""
    return [Drawn(figure=item, svg=figures.svg(item)) for item in items]


def _about(item: Result) -> dict[str, JSON]:
    """What the scripts of the page need of a result."""
    metadata = item.metadata
    return {
        "key": item.key,
        "suite": item.suite,
        "model": item.model,
        "unit": item.headline["unit"],
        "started": metadata["started"],
        "scale": metadata["scale"],
        "evaluators": metadata["evaluator_models"],
        "settings": item.settings,
    }


# Assets.


@cache
def _asset(name: str) -> str:
    """A script or the style sheet, without the address of a source map."""
    text = (_HERE / name).read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("//# sourceMappingURL"))


def _policy(style: str, scripts: Sequence[str]) -> str:
    """The Content-Security-Policy: nothing is loaded, and nothing runs but what has these hashes."""
    hashes = " ".join(f"'{_hash(script)}'" for script in scripts)
    return f"default-src 'none'; script-src {hashes}; style-src '{_hash(style)}'; {_REST}"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"figure": _figure, "words": _words, "sign": _sign, "plain": _plain, "json": _json}
    return made


def _figure(value: JSON, digits: int = 1) -> str:
    """A number with its thousands, a text as it is, nothing for None."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return printable(str(value))
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"


def _sign(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _plain(name: str) -> str:
    """A name as part of an id in the page."""
    return "".join(character if character.isalnum() and character.isascii() else "-" for character in name)


def _json(value: JSON) -> str:
    if isinstance(value, str | int | float):
        return str(value)
    return json_io.dumps(value, indent=True).decode("utf-8", "replace")


def names_of_files(results: Sequence[Result]) -> Mapping[str, Figure]:
    """Every figure by the name of its file, without a suffix; unique."""
    named: dict[str, Figure] = {item.name: item for item in overview(results)}
    for item in results:
        named |= {f"{_plain(item.key)}-{figure.name}": figure for figure in item.figures}
    return named
