"""Writes the page of results files: one HTML file that loads nothing and runs only its own scripts.

A figure of the page is a `Plot`, which is drawn as SVG, or, if it is a matrix, shown as a table.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from equipoise import __version__
from equipoise.core import json_io
from equipoise.core.errors import UserError, printable
from equipoise.core.files import replacing
from equipoise.core.outcomes import APPEARANCES
from equipoise.core.types import JSON
from equipoise.report import added, askers, audit, comparison
from equipoise.report.layout import format_estimate
from equipoise.report.page import figures, shades
from equipoise.report.page.board import OPEN_TRENDS, BoardView, board_view
from equipoise.report.page.data import PageResult, further, overview, page_result, warnings, weaknesses
from equipoise.report.page.reviews import MatchedReviews, Review
from equipoise.report.page.shades import ShadedTable, grid
from equipoise.report.page.transcripts import Pack, packed
from equipoise.report.transcripts import describe_level
from equipoise.results.load import ONLY_COMPARE_READS, load
from equipoise.results.results import Results
from equipoise.results.schema import reading
from equipoise.suites.plots import COLUMNS, Plot

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = Path(__file__).parent
_SCRIPTS = ("tables.js", "page.js", "board.js")
_POLICY_TAIL = "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"


_KEYS = (
    ("r", "the verdict is right"),
    ("w", "the verdict is wrong"),
    ("1 2 3 ...", "your own score, where the scale has such levels: right if it is the evaluators'"),
    ("n", "write a note; Esc leaves it"),
    ("u", "undo the last mark"),
    ("s or j", "skip to the next run or question"),
    ("k", "the run or question before"),
    ("Esc", "stop, and back to the list"),
    ("?", "this help"),
)
"""Keys of the keyboard that the page's script reacts to, and what each does."""


@dataclass(frozen=True, slots=True)
class DrawnPlot:
    """A plot as a page shows it: drawn if there is something to compare, a matrix as a shaded table."""

    plot: Plot

    @property
    def svg(self) -> str:
        """The drawing; empty if it would show no more than the table."""
        return figures.svg(self.plot.drawn) if figures.is_worth_drawing(self.plot) else ""

    @property
    def folded(self) -> int:
        """The number of rows that are in the table below the drawing, but not in the drawing."""
        return len(self.plot.rows) - len(self.plot.drawn.rows)

    @property
    def grid(self) -> ShadedTable:
        """The plot as a shaded table. The plot must be a matrix."""
        return grid(self.plot)

    @property
    def columns(self) -> list[str]:
        """The columns of the table below the drawing: those of every plot of its kind, then its own."""
        known = COLUMNS[self.plot.kind]
        more = dict.fromkeys(key for row in self.plot.rows for key in row if key not in known)
        return [*known, *more]


def refuse_output(option: str, path: Path) -> None:
    """Raise UserError if no page can be written at the path, or if it has the suffix of results.

    Creates the folder of the page. `option` is the option that names the path, for the message.
    """
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


PageSource = Results | Path
"""Results of this session, or the path of others, which are loaded one at a time."""
OnRead = Callable[[Results, PageResult], None]
"""Called with the complete results of each file, and with what the page shows of them."""


def _do_nothing(side: Results, result: PageResult) -> None:
    """The default of `on_read`."""


def read(sources: Sequence[PageSource], on_read: OnRead = _do_nothing) -> Iterator[PageResult]:
    """Yield what the page shows of each of these results. Raises UserError.

    The complete results, which are large, are passed to `on_read` and then dropped.
    """
    earlier: dict[str, PageResult] = {}
    for source in sources:
        result = _read(source, earlier, on_read)
        earlier[result.key] = result
        yield result


def _read(source: PageSource, earlier: Mapping[str, PageResult], on_read: OnRead) -> PageResult:
    side = source if isinstance(source, Results) else load(source)
    assert side.path is not None, "results on a page are of a file"
    with reading(side.path, otherwise=ONLY_COMPARE_READS):
        result = page_result(side, len(earlier), earlier)
        # Computed here first, so that the error about a damaged file names the file.
        _ = result.entry.cost
        on_read(side, result)
    return result


def write(path: Path, sources: Sequence[PageSource], reviews: Sequence[Review] = ()) -> MatchedReviews:
    """Write the page of these results atomically, and return the reviews matched with their runs.

    Raises UserError.
    """
    pack, reviewed = Pack(), MatchedReviews(reviews)

    def on_read(side: Results, result: PageResult) -> None:
        runs = [*side.rows, *side.cued_rows]
        reviewed.match(result.key, side.metadata, runs)
        describe, lean = partial(describe_level, suite=side.suite, scale=side.scale), result.entry.lean_metric
        pack.add(result.index, runs, describe, lean.of if lean else "")

    results = [*read(sources, on_read)]
    pack.close()
    board = board_view([result.entry for result in results])
    try:
        with replacing(path) as file:
            for piece in _pieces(results, board, pack, reviewed):
                file.write(piece.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UserError(f"-o: {path}: cannot be written ({error.strerror})") from None
    return reviewed


def _pieces(
    results: Sequence[PageResult],
    board: BoardView,
    pack: Pack,
    reviewed: MatchedReviews,
) -> Iterator[str]:
    """The text of the page, in pieces."""
    style, scripts = stylesheet() + shades.style(), [asset(name) for name in _SCRIPTS]
    index = {
        "results": [_script_data(result) for result in results],
        "columns": pack.shown_columns,
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
            links={item.index: item.key for item in results},
            style=style,
            scripts=scripts,
            results=results,
            models=list(dict.fromkeys(item.model for item in results)),
            has_sides=len({item.entry.kind for item in results}) < len(results),
            warnings=warnings(results),
            keys=_KEYS,
            said={item.index: item for item in results},
            weaknesses=weaknesses(results),
            plots=further(results),
            agreement=reviewed.agreement(),
            unmatched=reviewed.unmatched,
            index=packed(json_io.dumps(index)),
            chunks=pack.chunks,
            runs=len(pack.columns["id"]),
            version=__version__,
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        )
    )


def _script_data(result: PageResult) -> dict[str, object]:
    """The data of one result for the page's scripts, which read these keys."""
    metadata, suite = result.results.metadata, result.results.suite
    return {
        "key": result.key,
        "suite": result.title,
        "name": suite.name,
        "kind": result.entry.kind,
        "model": result.model,
        "unit": result.headline.unit,
        "counts": suite.about.headline.rstrip(","),
        "best": result.best,
        "names": {slug: result.names.of(slug) for slug in result.slugs},
        "started": metadata["started"],
        "scale": metadata["scale"],
        "evaluators": metadata["evaluator_models"],
        "settings": result.settings,
    }


# Assets.


@cache
def asset(name: str) -> str:
    """The text of a script or style sheet, without the URL of a source map, which browsers would load."""
    text = (_HERE / name).read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("//# sourceMappingURL"))


def stylesheet() -> str:
    """The style sheet of all pages."""
    outcomes = [
        f".o-{outcome} {{ fill: {appearance.colour}; background: {appearance.colour}; }}"
        for outcome, appearance in APPEARANCES.items()
    ]
    return "\n".join((*outcomes, *map(asset, ("page.css", "board.css"))))


def policy(style: str, scripts: Sequence[str]) -> str:
    """The Content-Security-Policy: nothing is loaded, and only this style and these scripts are used."""
    hashes = " ".join(f"'{_hash(script)}'" for script in scripts)
    return f"default-src 'none'; script-src {hashes}; style-src '{_hash(style)}'; {_POLICY_TAIL}"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def environment() -> Environment:
    """The Jinja environment with the templates and filters of pages. It escapes what is not marked safe."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=figures.with_minus,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "figure": _number_or_text,
        "words": _words,
        "sign": _signed,
        "plain": _id_part,
        "json": _json,
        "drawn": DrawnPlot,
    }
    templates.filters |= {"estimate": format_estimate, "sampled": added.describe_sample}
    templates.filters |= {
        "asked": askers.describe_cases,
        "naming": askers.describe_naming,
        "moved": askers.format_value,
    }
    templates.filters |= {"audited": audit.describe_audit, "checks": audit.check_rows}
    templates.filters |= {
        "names": comparison.side_labels,
        "answer": comparison.answer,
        "movers": comparison.largest_moves,
    }
    templates.filters |= {"labelled": added.describe_labels, "remarks": added.corrected_notes}
    templates.filters |= {
        "sheet": added.describe_sheet,
        "kappa": added.describe_kappa,
        "caveat": added.caveat,
    }
    return templates


def _number_or_text(value: JSON, digits: int = 1) -> str:
    """A number with thousands separators, a text with control characters escaped, `-` for None and no text.

    `digits` is the number of decimals, of which integers have none.
    """
    if value is None or value == "":
        return "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return printable(str(value))
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"


def _signed(value: float | None) -> str:
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


def plots_by_file_name(results: Sequence[PageResult]) -> Mapping[str, Plot]:
    """Every plot by its unique file name, without a suffix."""
    by_name: dict[str, Plot] = {plot.name: plot for plot in overview(results)}
    for result in results:
        by_name |= {f"{_id_part(result.key)}-{plot.name}": plot for plot in result.plots}
    return by_name
