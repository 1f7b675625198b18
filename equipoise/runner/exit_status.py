"""The exit statuses of sessions and commands, and which one gates and several statuses result in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from equipoise.core.types import JSON

GATE_INCONCLUSIVE, GATE_FAILED, BATCHES_WAITING = 6, 7, 8
MEANINGS = {
    0: "every run has a score, and every gate passes",
    1: "a run has no score, or a check or a job found something wrong",
    2: "interrupted or stopped; the same command resumes from there",
    4: "usage error or invalid input; no calls were made",
    5: "nothing was selected",
    GATE_INCONCLUSIVE: "a gate is inconclusive",
    GATE_FAILED: "a gate fails",
    BATCHES_WAITING: "batches are not done; the same command, later, fetches what is there",
}
TABLE = "\n".join(f"  {status}  {meaning}" for status, meaning in MEANINGS.items())
"""The table that help texts show, one line per status."""


def of_gates(gates: Iterable[Mapping[str, JSON]], inconclusive: str | None = None) -> int:
    """The exit status for the gates of results. Runs that are missing or without a score affect it, too.

    `inconclusive` is the verdict, pass or fail, that an inconclusive one counts as; None leaves it.
    """
    return first(status for gate in gates for status in _of_gate(gate, inconclusive))


def _of_gate(gate: Mapping[str, JSON], inconclusive: str | None) -> Iterator[int]:
    """The statuses of a gate's verdict, of runs without a score, and of missing runs."""
    yield of_verdicts([gate["verdict"]], inconclusive)
    if gate["unscored"]:
        yield 1
    if gate["left"]:
        yield 2


def of_verdicts(verdicts: Collection[str], inconclusive: str | None = None) -> int:
    """The exit status for these gate verdicts; `inconclusive` is as in `of_gates`."""
    used = {inconclusive if verdict == "inconclusive" and inconclusive else verdict for verdict in verdicts}
    if "fail" in used:
        return GATE_FAILED
    return GATE_INCONCLUSIVE if "inconclusive" in used else 0


PRECEDENCE = (4, 2, GATE_FAILED, 1, BATCHES_WAITING, GATE_INCONCLUSIVE, 0)
"""The order of precedence: of several statuses, the one that comes first here is the result."""


def first(statuses: Iterable[int]) -> int:
    """The status that takes precedence. One that is not in PRECEDENCE precedes all; without any it is 0."""
    present = set(statuses)
    unknown = sorted(present - {*PRECEDENCE})
    return next((status for status in (*unknown, *PRECEDENCE) if status in present), 0)
