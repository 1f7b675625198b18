"""The exit statuses of sessions and commands, and the one that a gate's verdicts lead to."""

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
    """The exit status for the gates of results; an inconclusive verdict may count as pass or fail.

    Runs that were not done, and runs without a score, count beside the verdicts.
    """
    return first(status for gate in gates for status in _of_gate(gate, inconclusive))


def _of_gate(gate: Mapping[str, JSON], inconclusive: str | None) -> Iterator[int]:
    yield of_verdicts([gate["verdict"]], inconclusive)
    if gate["unscored"]:
        yield 1
    if gate["left"]:
        yield 2


def of_verdicts(verdicts: Collection[str], inconclusive: str | None = None) -> int:
    """The exit status for these gate verdicts; an inconclusive one may count as pass or fail."""
    used = {inconclusive if verdict == "inconclusive" and inconclusive else verdict for verdict in verdicts}
    if "fail" in used:
        return GATE_FAILED
    return GATE_INCONCLUSIVE if "inconclusive" in used else 0


PRECEDENCE = (4, 2, GATE_FAILED, 1, BATCHES_WAITING, GATE_INCONCLUSIVE, 0)
"""Precedence: of several statuses the first of these is that of the whole."""


def first(statuses: Iterable[int]) -> int:
    """The exit status of several sessions together; one that is not in PRECEDENCE goes before all."""
    present = set(statuses)
    unknown = sorted(present - {*PRECEDENCE})
    return next((status for status in (*unknown, *PRECEDENCE) if status in present), 0)
