"""The limit on open files."""

from __future__ import annotations

import os
import resource

import pytest

from conftest import refusal
from equipoise.core.errors import UserError
from equipoise.models.open_files import MOST_RESTING, allow_connections, most_resting


class Limits:
    """The soft and the hard limit of a process, in place of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, soft: int, hard: int) -> None:
        self.now = (soft, hard)
        monkeypatch.setattr(resource, "getrlimit", lambda what: self.now)
        monkeypatch.setattr(resource, "setrlimit", self._set)
        monkeypatch.setattr(os, "listdir", lambda path: ["0", "1", "2", "3"])

    def _set(self, what: int, limits: tuple[int, int]) -> None:
        if self.now[1] != resource.RLIM_INFINITY and limits[0] > self.now[1]:
            raise ValueError("not allowed to raise maximum limit")
        self.now = limits


def test_the_limit_is_raised_to_what_is_needed(
    monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """As far as the system allows, and only where it is lower."""
    for soft, hard, after in (
        (40, 4096, 331),
        (256, resource.RLIM_INFINITY, 331),
        (40, 120, 120),
        (1024, 4096, 1024),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, resource.RLIM_INFINITY),
    ):
        with subtests.test(soft=soft, hard=hard):
            limits = Limits(monkeypatch, soft, hard)
            allow_connections(32)
            assert limits.now == (after, hard)


def test_a_limit_that_cannot_be_enough_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line has the limit, what needs how many, and what to do."""
    Limits(monkeypatch, 40, 40)
    assert refusal(allow_connections, 32, workers=4) == (
        "at most 40 files may be open (ulimit -n), and --concurrency 32 with 4 workers needs 97: "
        "raise that limit, or lower these"
    )
    with pytest.raises(UserError, match=r"--concurrency 32 needs 75: raise that limit"):
        allow_connections(32)
    allow_connections(4)


def test_fewer_connections_rest_where_few_files_may_be_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the files."""
    for soft, resting in ((40, 10), (4096, MOST_RESTING), (resource.RLIM_INFINITY, MOST_RESTING)):
        Limits(monkeypatch, soft, soft)
        assert most_resting() == resting
