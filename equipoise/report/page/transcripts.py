"""The runs of results for the page: an index, and the transcripts in compressed chunks.

The page's script decompresses a chunk when a reader opens one of its runs.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from equipoise.core import json_io
from equipoise.core.lazy import at_once
from equipoise.core.rows import RunRow, rounded
from equipoise.core.types import Message
from equipoise.stats import mean

CHUNK = 400_000
"""Size of a chunk in bytes, before compression."""
_COMPRESSION_LEVEL = 3
_MOST_TITLE = 160
"""Maximum length of a question and of the beginning of a reply in the index, in characters."""


def mean_evaluator_score(row: RunRow) -> float | None:
    """The mean score of the evaluators; None if there are no scores."""
    return mean(_scores(row))


def score_range(row: RunRow) -> float | None:
    """The range of the evaluators' scores; None if there are fewer than two."""
    scores = _scores(row)
    return max(scores) - min(scores) if len(scores) > 1 else None


def _scores(row: RunRow) -> list[float]:
    return [score for score in row.scores.values() if score is not None]


def _title(question: str) -> str:
    """The first line of a question, cut to _MOST_TITLE characters."""
    return _cut(question.partition("\n")[0])


def _beginning(transcript: Sequence[Message]) -> str:
    """The beginning of the model's last reply, on one line."""
    replies = [message for message in transcript if message["role"] == "assistant"]
    text = replies[-1].get("content") if replies else ""
    # Cut first: a reply can be very long.
    return _cut(" ".join(text[: 4 * _MOST_TITLE].split())) if isinstance(text, str) else ""


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_TITLE else f"{text[: _MOST_TITLE - 1].rstrip()}\N{HORIZONTAL ELLIPSIS}"


# Packing.


_COLUMNS = (
    "result",
    "id",
    "run",
    "language",
    "area",
    "outcome",
    "score",
    "level",
    "judged",
    "apart",
    "question",
    "reply",
    "lean",
    "chunk",
    "line",
    "asker",
)
"""Columns of the index, which the page's script reads by these names.

`result` is the index of the results, `id` the question's key. `score` is in percent, and `level` describes
it. `judged` is the mean of the evaluators' scores, `apart` their range. `reply` is the beginning of the
reply, `lean` how far it leans to a side, in that figure's unit. `chunk` and `line` locate the transcript.
"""


@dataclass(slots=True)
class Pack:
    """The index and chunks of all runs; results files are added one after another, then `close` is called."""

    columns: dict[str, list[object]] = field(default_factory=lambda: {name: [] for name in _COLUMNS})
    chunks: list[str] = field(default_factory=list)
    _open: list[bytes] = field(default_factory=list)
    _size: int = 0

    def add(
        self, index: int, rows: Sequence[RunRow], describe_score: Callable[[RunRow], str], lean: str = ""
    ) -> None:
        """Add the runs of the results with this index. `describe_score` returns a phrase on a run's score.

        `lean` is the name of the value that says how far a run leans to a side, if there is one.
        """
        for row in rows:
            transcript = at_once(row.subject_transcript)
            entry = {
                "result": index,
                "id": row.question.key,
                "run": row.number,
                "language": row.language,
                "area": row.area,
                "outcome": row.outcome,
                "score": rounded(row.percent),
                "level": describe_score(row),
                "judged": rounded(mean_evaluator_score(row)),
                "apart": rounded(score_range(row)),
                "question": _title(row.question.text),
                "reply": _beginning(transcript),
                "lean": rounded(row.values.get(lean)),
                "chunk": len(self.chunks),
                "line": len(self._open),
                "asker": row.asker.tag if row.asker else "",
            }
            for name, value in entry.items():
                self.columns[name].append(value)
            run = {**row.to_json(), "subject_transcript": transcript}
            self._append(json_io.dumps({"about": row.question.to_json(), "run": run}))

    @property
    def shown_columns(self) -> dict[str, list[object]]:
        """The columns of the index, without `asker` if no run has a cue, and `lean` if none has a side."""
        return {
            name: values
            for name, values in self.columns.items()
            if name not in ("asker", "lean") or any(value not in (None, "") for value in values)
        }

    def _append(self, line: bytes) -> None:
        self._open.append(line)
        self._size += len(line)
        if self._size >= CHUNK:
            self.close()

    def close(self) -> None:
        """Compress the open chunk."""
        if self._open:
            self.chunks.append(packed(b"".join(self._open)))
        self._open, self._size = [], 0


def packed(content: bytes) -> str:
    """Gzip in base64: inert in a page, whatever it contains."""
    return base64.b64encode(gzip.compress(content, _COMPRESSION_LEVEL, mtime=0)).decode()
