"""Writes the page of results files: one HTML file that loads nothing and runs only its own scripts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from equipoise import __version__
from equipoise.comparison.load import ONLY_COMPARED, load
from equipoise.comparison.side import LoadedResults
from equipoise.core import json_io
from equipoise.core.errors import UserError, printable
from equipoise.core.files import opened, replacing
from equipoise.core.types import JSON
from equipoise.report import added, askers, comparison
from equipoise.report.layout import estimate
from equipoise.report.page import figures, shades
from equipoise.report.page.board import OPEN_TRENDS, Shown, shown
from equipoise.report.page.data import Result, overview, result, warnings
from equipoise.report.page.reviews import Review, Reviewed
from equipoise.report.page.shades import ShadedTable, grid
from equipoise.report.page.transcripts import Pack, packed
from equipoise.report.transcripts import level
from equipoise.results.schema import reading
from equipoise.suites.plots import COLUMNS, Plot

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = Path(__file__).parent
_SCRIPTS = (
    "vendor/table-core-8.21.3.js",
    "vendor/sortable-tablesort-4.1.7.js",
    "cards.js",
    "page.js",
    "board.js",
)
_REST = "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"


_KEYS = (
    ("r", "the verdict is right"),
    ("w", "the verdict is wrong"),
    ("1 2 3 ...", "your own score, where the scale has such levels: right if it is the evaluators'"),
    ("n", "write a note; Esc leaves it"),
    ("u", "undo the last mark"),
    ("s or j", "skip to the next run"),
    ("k", "the run before"),
    ("Esc", "stop, and back to the list"),
    ("?", "this help"),
)
"""Keys of the page's script and their actions."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure with its SVG for wide and for narrow screens; a matrix has none, as an HTML table."""

    figure: Plot
    wide: str = ""
    narrow: str = ""

    @property
    def folded(self) -> int:
        """The number of its rows that only its table shows."""
        return len(self.figure.rows) - len(self.figure.open.rows)

    @property
    def grid(self) -> ShadedTable:
        """The figure, if it is a matrix, as a table."""
        return grid(self.figure)

    @property
    def columns(self) -> list[str]:
        """The columns of the table of its data."""
        known = COLUMNS[self.figure.kind]
        more = dict.fromkeys(key for row in self.figure.rows for key in row if key not in known)
        return [*known, *more]


def find(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The results files at these paths, and a warning for each other JSON file in a folder.

    Raises UserError for a path that does not exist, or if there is no results file.
    """
    files, left_out = [], []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        for inner in sorted(path.glob("*.json")):
            if b'"metadata"' in _start(inner):
                files.append(inner)
            else:
                left_out.append(f"{inner}: left out, not an Equipoise results file")
    if not files:
        raise UserError(f"{', '.join(map(str, paths))}: no results files; run a suite first")
    return list(dict.fromkeys(files)), left_out


def _start(path: Path) -> bytes:
    try:
        with opened(path) as file:
            return file.read(200)
    except OSError:
        return b""


def refuse_output(option: str, path: Path) -> None:
    """Raise UserError if no page can be written at the path, or if it has the suffix of results."""
    if path.suffix in (".json", ".jsonl"):
        raise UserError(f"{option}: {path}: is the name of results; name a page, such as report.html")
    if path.is_dir():
        raise UserError(f"{option}: {path}: is a folder; name a page in it, such as {path / 'report.html'}")
    if path.exists() and not path.is_file():
        raise UserError(f"{option}: {path}: is not a regular file; name another one")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise UserError(f"{option}: {path}: cannot be written ({error.strerror})") from None


def _ignore(side: LoadedResults, item: Result) -> None:
    """Do nothing: the default of `keep`."""


def read(paths: Sequence[Path], keep: Callable[[LoadedResults, Result], None] = _ignore) -> Iterator[Result]:
    """Yield the page's data of these results. Raises UserError.

    `keep` is called with the complete results and the data of each file.
    """
    earlier: dict[str, Result] = {}
    for path in paths:
        item = _read(path, earlier, keep)
        earlier[item.key] = item
        yield item


def _read(path: Path, earlier: Mapping[str, Result], keep: Callable[[LoadedResults, Result], None]) -> Result:
    side = load(path)
    with reading(path, otherwise=ONLY_COMPARED):
        item = result(side, len(earlier), earlier)
        keep(side, item)
    return item


def write(path: Path, paths: Sequence[Path], reviews: Sequence[Review] = ()) -> Reviewed:
    """Write the page of these results atomically. Raises UserError."""
    pack, reviewed = Pack(), Reviewed(reviews)

    def keep(side: LoadedResults, item: Result) -> None:
        every = [*side.rows, *side.asked]
        reviewed.match(item.key, item.metadata, every)
        pack.add(item.place, every, partial(level, suite=side.suite, scale=side.scale))

    # Drawing holds the GIL. In another process it runs while the next file is read.
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as drawing:
        results, drawn = [], {}
        for item in read(paths, keep):
            results.append(item)
            drawn[item.key] = _draw(drawing, item.figures)
        drawn[""] = _draw(drawing, overview(results))
        pack.close()
        finished = {key: [done() for done in figures] for key, figures in drawn.items()}
    try:
        with replacing(path) as file:
            for piece in _pieces(results, shown([item.entry for item in results]), finished, pack, reviewed):
                file.write(piece.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UserError(f"-o: {path}: cannot be written ({error.strerror})") from None
    return reviewed


def _draw(drawing: Executor, items: Sequence[Plot]) -> list[Callable[[], Drawn]]:
    """Start drawing the figures. Returns a function for each that waits for its SVG."""
    layouts = (figures.WIDE, figures.NARROW)
    started = [
        (
            item,
            [
                drawing.submit(figures.svg, drawn, layout)
                for layout in layouts
                if drawn.rows and drawn.kind != "matrix"
            ],
        )
        for item in items
        for drawn in (item.open,)
    ]
    return [partial(_drawn, item, drawn) for item, drawn in started]


def _drawn(item: Plot, drawn: Sequence[Future[str]]) -> Drawn:
    return Drawn(item, *(svg.result() for svg in drawn))


def _pieces(
    results: Sequence[Result],
    board: Shown,
    drawn: Mapping[str, Sequence[Drawn]],
    pack: Pack,
    reviewed: Reviewed,
) -> Iterator[str]:
    style, scripts = stylesheet() + shades.style(), [asset(name) for name in _SCRIPTS]
    index = {
        "results": [_script_data(item) for item in results],
        "columns": pack.shown,
        "chunks": len(pack.chunks),
        "reviews": [asdict(review) for review in reviewed.reviews],
    }
    return (
        environment()
        .get_template("page.html")
        .generate(
            policy=policy(style, scripts),
            board=board,
            open_trends=OPEN_TRENDS,
            links={item.place: item.key for item in results},
            style=style,
            scripts=scripts,
            results=results,
            models=list(dict.fromkeys(item.model for item in results)),
            warnings=warnings(results),
            keys=_KEYS,
            drawn=drawn,
            agreement=reviewed.agreement(),
            unmatched=reviewed.unmatched,
            index=packed(json_io.dumps(index)),
            chunks=pack.chunks,
            runs=len(pack.columns["id"]),
            version=__version__,
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        )
    )


def _script_data(item: Result) -> dict[str, JSON]:
    """The data of one result for the page's scripts."""
    metadata = item.metadata
    return {
        "key": item.key,
        "suite": item.title,
        "name": item.suite,
        "model": item.model,
        "unit": item.headline["unit"],
        "counts": item.counts,
        "best": item.best,
        "names": {slug: item.names.of(slug) for slug in item.slugs},
        "started": metadata["started"],
        "scale": metadata["scale"],
        "evaluators": metadata["evaluator_models"],
        "settings": item.settings,
    }


# Assets.


@cache
def asset(name: str) -> str:
    """The text of a script or style sheet, without the URL of a source map."""
    text = (_HERE / name).read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("//# sourceMappingURL"))


def stylesheet() -> str:
    """The style sheet of all pages."""
    return "\n".join(map(asset, ("page.css", "board.css")))


def policy(style: str, scripts: Sequence[str]) -> str:
    """The Content-Security-Policy: nothing is loaded, and only this style and these scripts are used."""
    hashes = " ".join(f"'{_hash(script)}'" for script in scripts)
    return f"default-src 'none'; script-src {hashes}; style-src '{_hash(style)}'; {_REST}"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def environment() -> Environment:
    """The Jinja environment with the templates and filters of pages."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"figure": _figure, "words": _words, "sign": _sign, "plain": _id_part, "json": _json}
    templates.filters |= {"estimate": estimate, "sampled": added.sampled}
    templates.filters |= {"asked": askers.asked, "naming": askers.naming, "moved": askers.figure}
    templates.filters |= {"names": comparison.names, "movers": comparison.movers}
    templates.filters |= {"labelled": added.labelled, "remarks": added.remarks}
    templates.filters |= {"sheet": added.sheet, "kappa": added.kappa, "caveat": added.caveat}
    return templates


def _figure(value: JSON, digits: int = 1) -> str:
    """A number with thousands separators, a text unchanged, `-` for None and empty texts."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return printable(str(value))
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"


def _sign(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _id_part(name: str) -> str:
    """A name as part of an id in the page."""
    return "".join(character if character.isalnum() and character.isascii() else "-" for character in name)


def _json(value: JSON) -> str:
    if isinstance(value, str | int | float):
        return str(value)
    return json_io.dumps(value, indent=True).decode("utf-8", "replace")


def figures_by_file_name(results: Sequence[Result]) -> Mapping[str, Plot]:
    """Every figure by its unique file name, without a suffix."""
    by_name: dict[str, Plot] = {item.name: item for item in overview(results)}
    for item in results:
        by_name |= {f"{_id_part(item.key)}-{figure.name}": figure for figure in item.figures}
    return by_name
