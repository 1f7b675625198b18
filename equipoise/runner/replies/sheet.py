"""The sheet to fill in with replies: a row for each message of a suite to the subject, as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from equipoise.core.files import table_text
from equipoise.runner.loading import LoadedSuite
from equipoise.runner.replies import fitting


def text(loaded: LoadedSuite) -> str:
    """The content of the file. It begins with a byte order mark, so that Excel reads it as UTF-8."""
    return "\ufeff" + table_text(_lines(loaded))


def _lines(loaded: LoadedSuite) -> Iterator[Sequence[str]]:
    suite, cases = loaded.suite, loaded.cases
    part = "side" if cases and fitting.is_of_sides(suite, cases[0]) else "turn"
    is_single = not cases or fitting.is_single(fitting.turns(suite, cases[0], loaded.rubric))
    names = ("language", "id") if is_single else ("language", "id", part)
    yield (*names, "question", "run", "reply", "outcome")
    for case in cases:
        for name, message in fitting.turns(suite, case, loaded.rubric).items():
            key = (case.language, case.id) if is_single else (case.language, case.id, name)
            yield (*key, message, "1", "", "")
