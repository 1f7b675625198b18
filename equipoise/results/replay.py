"""The offsets in the journal of recorded replies that a run uses in place of calls when it is run again.

A reply is in the line of its call. Requests are identified by their hashes.
"""

from __future__ import annotations


class ReplayOffsets:
    """The replies to replay in runs without a score: the nth call with the same request gets the nth reply.

    Evaluators' replies are not replayed if the run ended without a score.
    """

    def __init__(self) -> None:
        self._by_run: dict[tuple[str, str], list[tuple[str, int]]] = {}

    def put(self, run: str, role: str, digest: str, start: int) -> None:
        """Add the offset of a call whose request has this hash."""
        self._by_run.setdefault((run, role), []).append((digest, start))

    def has(self, run: str, role: str) -> bool:
        """Whether any reply is left for calls of this run in this role."""
        return bool(self._by_run.get((run, role)))

    def has_role(self, role: str) -> bool:
        """Whether any reply is left in this role."""
        return any(replies for (_, known_role), replies in self._by_run.items() if known_role == role)

    def take(self, run: str, role: str, digest: str) -> int | None:
        """Remove and return the offset of the run's next call with this request; None if none is left."""
        replies = self._by_run.get((run, role), [])
        index = next((index for index, (recorded, _) in enumerate(replies) if recorded == digest), None)
        return None if index is None else replies.pop(index)[1]

    def drop(self, run: str, *, has_score: bool) -> None:
        """Drop the evaluators' replies in a run that has ended, and the subject's if it has a score."""
        self._by_run.pop((run, "evaluator"), None)
        if has_score:
            self._by_run.pop((run, "subject"), None)
