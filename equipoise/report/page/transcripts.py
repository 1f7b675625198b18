"""The runs of results for the page: an index of all, and their transcripts in compressed chunks."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from equipoise.compare.baseline import Side
from equipoise.core import json_io
from equipoise.core.types import JSON
from equipoise.results.runs import CaseRow, cases

CHUNK = 400_000
"""Bytes of transcripts that are compressed together."""
_LEVEL = 3
_TITLE = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A case of results with all its runs: their figures, and how far evaluators are apart on each.

    `id` is unique in the results, `group` the same for all languages of a case.
    """

    id: str
    group: str
    language: str
    area: str
    question: str
    about: Mapping[str, JSON]
    runs: Sequence[Mapping[str, JSON]]
    figures: Sequence[float | None]
    apart: Sequence[float | None]
    judged: Sequence[float | None]


def rows_of(side: Side) -> list[Row]:
    """Every case that has runs in the results, in order."""
    verdicts = {cell.at: cell.verdicts for cell in side.cells}
    found = cases(side.data["results"])
    return [_row(side, row, verdicts.get(f"{row.at}/runs", {})) for row in found]


def _row(side: Side, case: CaseRow, verdicts: Mapping[str, Sequence[float | None]]) -> Row:
    row, language = case.data, case.language
    group, runs = str(row["id"]).removeprefix(f"{language}-"), row["runs"]
    given = [[found[n] for found in verdicts.values() if n < len(found)] for n in range(len(runs))]
    valid = [[score for score in scores if score is not None] for scores in given]
    return Row(
        id=f"{language}/{group}",
        group=group,
        language=language,
        area=str(row.get(side.suite.AREA) or ""),
        question=_question(row),
        about={name: value for name, value in row.items() if name != "runs"},
        runs=runs,
        figures=[side.suite.figure_of(row, run, side.scale) for run in runs],
        apart=[max(scores) - min(scores) if len(scores) > 1 else None for scores in valid],
        judged=[sum(scores) / len(scores) if scores else None for scores in valid],
    )


def _question(row: Mapping[str, JSON]) -> str:
    return str(row.get("question") or row.get("prompt_a") or row["id"])


def _title(question: str) -> str:
    return (
        question if len(question) <= _TITLE else f"{question[: _TITLE - 1].rstrip()}\N{HORIZONTAL ELLIPSIS}"
    )


# Packing.


_COLUMNS = (
    "result",
    "id",
    "run",
    "language",
    "area",
    "outcome",
    "score",
    "judged",
    "apart",
    "question",
    "chunk",
    "line",
)


@dataclass(slots=True)
class Pack:
    """The runs of all results, added one results file after the other."""

    columns: dict[str, list[JSON]] = field(default_factory=lambda: {name: [] for name in _COLUMNS})
    chunks: list[str] = field(default_factory=list)
    raw_bytes: int = 0
    _open: list[bytes] = field(default_factory=list)
    _size: int = 0

    def add(self, place: int, rows: Sequence[Row]) -> None:
        """Add the runs of a result, which is at this place in the page."""
        for row in rows:
            for number, run in enumerate(row.runs):
                line = json_io.dumps({"about": row.about, "run": run})
                found = (
                    *(place, row.id, int(run.get("run_index", number + 1)), row.language, row.area),
                    *(run["outcome"], _rounded(row.figures[number]), _rounded(row.judged[number])),
                    _rounded(row.apart[number]),
                    *(_title(row.question), len(self.chunks), len(self._open)),
                )
                for name, value in zip(_COLUMNS, found, strict=True):
                    self.columns[name].append(value)
                self._keep(line)

    def _keep(self, line: bytes) -> None:
        self._open.append(line)
        self._size += len(line)
        self.raw_bytes += len(line)
        if self._size >= CHUNK:
            self.close()

    def close(self) -> None:
        """Compress what is open."""
        if self._open:
            self.chunks.append(packed(b"".join(self._open)))
        self._open, self._size = [], 0


def packed(content: bytes) -> str:
    """Gzip in base64: inert in a page, whatever it contains."""
    return base64.b64encode(gzip.compress(content, _LEVEL, mtime=0)).decode()


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
