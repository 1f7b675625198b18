"""Writes a page with only the board of models: hundreds of results, without transcripts.

Files are read one at a time, and transcripts are never held in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from equipoise import __version__
from equipoise.comparison.entry import Entry, entry
from equipoise.core.errors import UserError
from equipoise.core.files import replacing
from equipoise.core.settings import is_local
from equipoise.report.page import page, standings
from equipoise.report.page.axis import axis
from equipoise.report.page.board import OPEN_TRENDS, BoardView, board_view
from equipoise.report.page.data import doubts, with_names
from equipoise.report.page.names import title
from equipoise.results.load import ONLY_COMPARE_READS, load
from equipoise.results.schema import reading

MOST_RESULTS, MOST_BYTES = 20, 300_000_000
"""Maximum number and total size of results files whose transcripts are on the page by default."""
_SCRIPTS = ("tables.js", "board.js")


def too_many(paths: Sequence[Path]) -> str | None:
    """A phrase on why these results are too many or large for a page with transcripts, or None."""
    if len(paths) > MOST_RESULTS:
        return f"{len(paths):,} results, more than {MOST_RESULTS}"
    size = sum(path.stat().st_size for path in paths if path.is_file())
    if size > MOST_BYTES:
        return f"{size / 1e6:,.0f} MB of results, more than {MOST_BYTES / 1e6:.0f}"
    return None


def write(path: Path, paths: Iterable[Path]) -> None:
    """Write the page with the board of these results atomically. Raises UserError."""
    entries = [_read(file, index) for index, file in enumerate(paths)]
    board = board_view(entries)
    try:
        with replacing(path) as file:
            for piece in _pieces(board, entries):
                file.write(piece.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UserError(f"-o: {path}: cannot be written ({error.strerror})") from None


def _read(path: Path, index: int) -> Entry:
    side = load(path)
    with reading(path, otherwise=ONLY_COMPARE_READS):
        item = entry(side, index)
        # Computed here first, so that the error about a damaged file names the file.
        _ = standings.headline_phrase(item), axis([item.headline]), item.cost
    return item


def _pieces(board: BoardView, entries: Sequence[Entry]) -> Iterator[str]:
    style, scripts = page.stylesheet(), [page.asset(name) for name in _SCRIPTS]
    template = page.environment().get_template("board_page.html")
    # The template yields short pieces; buffering joins them.
    stream = template.stream(
        policy=page.policy(style, scripts),
        style=style,
        scripts=scripts,
        shown=board,
        open_trends=OPEN_TRENDS,
        warnings=[*_warnings(board, entries)],
        version=__version__,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    stream.enable_buffering(1000)
    return stream


def _warnings(board: BoardView, entries: Sequence[Entry]) -> Iterator[str]:
    """The warnings that the page shows first."""
    yield from board.board.left_out
    if partial := [item for item in entries if item.results.counts.left]:
        names = standings.joined_names(list(dict.fromkeys(item.model for item in partial)))
        yield f"Partial: {len(partial):,} of {len(entries):,} sets of results still lack runs ({names})"
    if any(is_local(item.model) for item in entries):
        yield "The built-in model was used as subject: its scores mean nothing"
    if any(map(is_local, {name for item in entries for name in item.metadata["evaluator_models"]})):
        yield "The built-in model was used as evaluator: its scores mean nothing"
    yield from with_names((f"{title(item.suite)} of {item.model}", doubts(item.results)) for item in entries)
