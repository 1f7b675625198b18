"""The exit status that gates' verdicts, or several sessions, lead to."""

from __future__ import annotations

from equipoise.runner.exit_status import GATE_FAILED, GATE_INCONCLUSIVE, combine, status_of_verdicts


def test_an_exit_status_is_that_of_the_worst_verdict() -> None:
    """A failure, 7, outweighs all; what decides nothing is 6, unless told: pytest uses neither."""
    cases: list[tuple[list[str], str | None, int]] = [
        ([], None, 0),
        (["pass"], None, 0),
        (["pass", "pass"], "fail", 0),
        (["fail"], None, GATE_FAILED),
        (["fail"], "pass", GATE_FAILED),
        (["pass", "inconclusive"], None, GATE_INCONCLUSIVE),
        (["pass", "inconclusive"], "pass", 0),
        (["pass", "inconclusive"], "fail", GATE_FAILED),
        (["inconclusive", "fail"], None, GATE_FAILED),
        (["inconclusive", "fail"], "pass", GATE_FAILED),
    ]
    for verdicts, inconclusive, status in cases:
        assert status_of_verdicts(verdicts, inconclusive) == status, (verdicts, inconclusive)
        assert status_of_verdicts(set(verdicts), inconclusive) == status, (verdicts, inconclusive)
    assert (GATE_INCONCLUSIVE, GATE_FAILED) == (6, 7)


def test_the_exit_status_of_several_sessions() -> None:
    """The gravest, by the order that all commands share."""
    assert combine([0, 0]) == 0
    assert combine([0, 6, 1]) == 1
    assert combine([1, 7, 0]) == 7
    assert combine([7, 2]) == 2
    assert combine([2, 4]) == 4
    assert combine([3, 4]) == 3
