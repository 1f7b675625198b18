"""Whether a call that failed is tried again, and after how long. Pure but for chance; knows no HTTP."""

from __future__ import annotations

import hashlib
import random

from equipoise.failures import Failure
from equipoise.pace import Cells

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
MOST_ALIKE = 3
"""How many answers of a kind are enough to believe that the next one will be the same."""


MOST_REMEMBERED = 1000
"""Different failures; where an endpoint gives each a number of its own, none comes twice anyway."""


class Health:
    """How calls to one endpoint fare: how many were answered, how many attempts failed, in all processes.

    Each process counts in its own number of both rows. `overcome` holds failures after which the same call
    was answered all the same: they are chance.
    """

    def __init__(self, answered: Cells | None = None, failed: Cells | None = None, number: int = 0) -> None:
        self._answered = [0] if answered is None else answered
        self._failed = [0] if failed is None else failed
        self._number = number
        self.overcome: set[str] = set()

    @property
    def answered(self) -> int:
        """Calls that were answered."""
        return sum(self._answered)

    @property
    def failed(self) -> int:
        """Attempts that failed."""
        return sum(self._failed)

    def count_answer(self) -> None:
        """One more call was answered."""
        self._answered[self._number] += 1

    def count_failure(self) -> None:
        """One more attempt failed."""
        self._failed[self._number] += 1


class Retries:
    """The attempts of one call. `count` is how many there were beyond the first."""

    def __init__(self, most: int, health: Health) -> None:
        self.count = 0
        self._most = most
        self._health = health
        self._alike = 0
        self._last: Failure | None = None
        self._own_failures = 0
        self._answered_before = 0
        self._failed_before = health.failed

    def answered(self) -> None:
        """The last attempt brought a reply."""
        self._health.count_answer()
        if self._last is not None and len(self._health.overcome) < MOST_REMEMBERED:
            self._health.overcome.add(_said(self._last))

    def wait(self, failure: Failure) -> float | None:
        """Seconds until the next attempt; None where there is to be none.

        A pause that the endpoint asked for is not among them: that concerns all calls, not just this one.
        """
        if self._last is None:
            self._answered_before = self._health.answered
        self._health.count_failure()
        self._own_failures += 1
        is_same = self._last is not None and _said(self._last) == _said(failure)
        self._alike = self._alike + 1 if is_same else 1
        self._last = failure
        may_be_chance = _said(failure) in self._health.overcome
        is_hopeless = self.is_about_request and not may_be_chance
        if not failure.is_transient or self.count >= self._most or is_hopeless:
            return None
        self.count += 1
        longest = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(self.count - 1, 16))
        wait = random.uniform(0.5, 1) * longest  # noqa: S311 - not a secret
        # An overloaded endpoint's wait is for all calls to keep, who lets them in sees to that.
        asked_for = 0.0 if failure.is_overload else failure.retry_after or 0.0
        return max(wait, min(asked_for, LONGEST_WAIT))

    @property
    def concerns_all(self) -> bool:
        """Whether other calls would fare no better: the attempts are used up, or nobody was ever answered."""
        return not self.is_about_request or not self._health.answered

    @property
    def is_about_request(self) -> bool:
        """Whether the endpoint always says the same to this call, and that is not because it is down.

        It is down where other calls fail as well and none is answered.
        """
        if self._last is None or not self._last.is_telling or self._alike < MOST_ALIKE:
            return False
        others_answered = self._health.answered > self._answered_before
        others_failed = self._health.failed - self._failed_before > self._own_failures
        return others_answered or not others_failed


def _said(failure: Failure) -> str:
    """What tells one failure from another, in a few bytes."""
    return hashlib.sha256(
        f"{failure.status} {failure.message} {failure.body!r}".encode("utf-8", "replace")
    ).hexdigest()
