"""Stops a session if one of its evaluators never gives a valid verdict.

A verdict is valid if it could be parsed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from equipoise.core.errors import printable
from equipoise.core.records import Choice, Record, Verdict
from equipoise.core.types import JSON

MOST_RUNS = 20
"""The session stops once an evaluator has judged this many runs without a single valid verdict."""
MOST_CHARACTERS = 200
"""The largest number of characters of a reply that the message shows."""


class Trial:
    """Counts the runs that each evaluator has judged without a valid verdict.

    `stop` is called with a message at MOST_RUNS runs of an evaluator; `mask` removes API keys from a text.
    """

    def __init__(self, stop: Callable[[str], None], mask: Callable[[JSON], JSON]) -> None:
        self._stop = stop
        self._mask = mask
        self._invalid_runs: Counter[str] = Counter()
        self._proven: set[str] = set()

    def note(
        self, evaluator: str, answers: Sequence[Verdict | Choice], earlier: Callable[[], Sequence[Record]]
    ) -> None:
        """Note the answers of an evaluator in one run.

        `earlier` returns the records in the journal: an evaluator with a valid verdict there is not counted.
        """
        if any(answer.is_valid for answer in answers):
            self._proven.add(evaluator)
        with_reply = [answer for answer in answers if answer.raw]
        if evaluator in self._proven or not with_reply:
            return
        self._invalid_runs[evaluator] += 1
        if self._invalid_runs[evaluator] < MOST_RUNS:
            return
        if any(has_judged(record, evaluator) for record in earlier()):
            self._proven.add(evaluator)
        else:
            self._stop(self._message(evaluator, with_reply[-1]))

    def _message(self, evaluator: str, answer: Verdict | Choice) -> str:
        reply = printable(str(self._mask(answer.raw[-1])))
        excerpt = reply if len(reply) <= MOST_CHARACTERS else f"{reply[:MOST_CHARACTERS]}..."
        return (
            f"evaluator {evaluator!r}: no valid verdict in the first {MOST_RUNS} runs that it judged "
            f"({answer.error}); it says: {excerpt or '(nothing)'}; name another with --evaluator-model"
        )


def has_judged(record: Record, evaluator: str) -> bool:
    """Whether a run has a valid verdict of the evaluator or, without verdicts, a score from its calls."""
    if record.verdicts:
        return any(verdict.is_valid for verdict in record.verdicts if verdict.evaluator == evaluator)
    return record.score is not None and any(item.name == evaluator for item in record.evaluators)
