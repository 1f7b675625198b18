"""Whether the evaluators of a session can judge at all: one that never gives a valid verdict ends it.

Knows neither suites nor rubrics: a valid verdict is one that was read, a label or whatever the rubric asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from equipoise.core.errors import printable
from equipoise.core.records import Choice, Record, Verdict
from equipoise.core.types import JSON

MOST_RUNS = 20
"""Runs that an evaluator may judge without a single valid verdict."""
MOST_SHOWN = 200
"""Characters of its reply that are shown."""


class Trial:
    """Counts the runs that each evaluator has judged without a valid verdict.

    `stop` is called once that were too many, with a line for the user. `earlier` gives the records of a run's
    journal: an evaluator that has judged well before is not on trial.
    """

    def __init__(self, stop: Callable[[str], None], mask: Callable[[JSON], JSON]) -> None:
        self._stop = stop
        self._mask = mask
        self._in_vain: Counter[str] = Counter()
        self._proven: set[str] = set()

    def note(
        self, evaluator: str, given: Sequence[Verdict | Choice], earlier: Callable[[], Sequence[Record]]
    ) -> None:
        """Take in what an evaluator gave in one run."""
        if any(answer.is_valid for answer in given):
            self._proven.add(evaluator)
        replied = [answer for answer in given if answer.raw]
        if evaluator in self._proven or not replied:
            return
        self._in_vain[evaluator] += 1
        if self._in_vain[evaluator] < MOST_RUNS:
            return
        if any(has_judged(record, evaluator) for record in earlier()):
            self._proven.add(evaluator)
        else:
            self._stop(self._why(evaluator, replied[-1]))

    def _why(self, evaluator: str, last: Verdict | Choice) -> str:
        raw = printable(str(self._mask(last.raw[-1])))
        shown = raw if len(raw) <= MOST_SHOWN else f"{raw[:MOST_SHOWN]}..."
        return (
            f"evaluator {evaluator!r}: no valid verdict in the first {MOST_RUNS} runs that it judged "
            f"({last.error}); it says: {shown or '(nothing)'}; name another with --evaluator-model"
        )


def has_judged(record: Record, evaluator: str) -> bool:
    """Whether this run has a valid verdict of that evaluator, or a score that it took part in."""
    if record.verdicts:
        return any(verdict.is_valid for verdict in record.verdicts if verdict.evaluator == evaluator)
    return record.score is not None and any(item.model == evaluator for item in record.evaluators)
