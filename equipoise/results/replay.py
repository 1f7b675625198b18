"""Kept replies that a run takes instead of calls when it is asked again.

Knows only requests by their hashes and calls by their offsets, neither the file nor why a run is asked again.
"""

from __future__ import annotations


class Replies:
    """The replies to replay in runs without a score: the nth call with the same request gets the nth reply.

    Evaluators' replies are not replayed if the run ended without a score.
    """

    def __init__(self) -> None:
        self._by_run: dict[tuple[str, str], list[tuple[str, int]]] = {}

    def put(self, run: str, role: str, digest: str, start: int) -> None:
        """Add the reply to a request with this hash, by the offset of its call."""
        self._by_run.setdefault((run, role), []).append((digest, start))

    def take(self, run: str, role: str, digest: str) -> int | None:
        """Remove and return the offset of the run's next call with this request, if there is one."""
        replies = self._by_run.get((run, role), [])
        index = next((index for index, (known, _) in enumerate(replies) if known == digest), None)
        return None if index is None else replies.pop(index)[1]

    def drop(self, run: str, *, has_score: bool) -> None:
        """Drop the replies of a run that has ended; the subject's only if it has a score."""
        self._by_run.pop((run, "evaluator"), None)
        if has_score:
            self._by_run.pop((run, "subject"), None)
