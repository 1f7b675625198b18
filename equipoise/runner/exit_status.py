"""The exit statuses of sessions and commands: their meanings, their precedence, and those that gates give."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from equipoise.core.types import JSON

NO_SCORE, STOPPED, USAGE = 1, 2, 4
GATE_INCONCLUSIVE, GATE_FAILED, BATCHES_WAITING = 6, 7, 8
MEANINGS = {
    0: "every run has a score, and every gate passes",
    NO_SCORE: "a run has no score, or a check or a job found something wrong",
    STOPPED: "interrupted or stopped; the same command resumes once the cause is gone",
    USAGE: "usage error, invalid input, or a wrong URL, key or model; nothing was asked",
    5: "nothing was selected",
    GATE_INCONCLUSIVE: "a gate is inconclusive",
    GATE_FAILED: "a gate fails",
    BATCHES_WAITING: "batches are not done; run the same command later to fetch their replies",
}
TABLE = "\n".join(f"  {status}  {meaning}" for status, meaning in MEANINGS.items())
"""The table that help texts show, one line per status."""


def status_of_gates(gates: Iterable[Mapping[str, JSON]], inconclusive: str | None = None) -> int:
    """The exit status for the gates of results. Runs that are missing or without a score affect it, too.

    `inconclusive` is the verdict, pass or fail, that an inconclusive gate counts as; None leaves it
    inconclusive.
    """
    return combine(status for gate in gates for status in _statuses_of_gate(gate, inconclusive))


def _statuses_of_gate(gate: Mapping[str, JSON], inconclusive: str | None) -> Iterator[int]:
    """The statuses of a gate's verdict, of runs without a score, and of missing runs."""
    yield status_of_verdicts([gate["verdict"]], inconclusive)
    if gate["unscored"]:
        yield NO_SCORE
    if gate["left"]:
        yield STOPPED


def status_of_verdicts(verdicts: Collection[str], inconclusive: str | None = None) -> int:
    """The exit status for these gate verdicts; `inconclusive` is as in `status_of_gates`."""
    final = {inconclusive if verdict == "inconclusive" and inconclusive else verdict for verdict in verdicts}
    if "fail" in final:
        return GATE_FAILED
    return GATE_INCONCLUSIVE if "inconclusive" in final else 0


PRECEDENCE = (USAGE, STOPPED, GATE_FAILED, NO_SCORE, BATCHES_WAITING, GATE_INCONCLUSIVE, 0)
"""The order of precedence: of several statuses, the one that comes first here is the result."""


def combine(statuses: Iterable[int]) -> int:
    """The status that takes precedence; 0 for no statuses. A status that is not in PRECEDENCE comes first."""
    present = set(statuses)
    unknown = sorted(present - {*PRECEDENCE})
    return next((status for status in (*unknown, *PRECEDENCE) if status in present), 0)
