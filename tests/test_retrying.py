"""Whether a failed call is tried again, and after how long."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from equipoise import retrying
from equipoise.failures import Failure
from equipoise.retrying import FIRST_WAIT, LONGEST_WAIT, MOST_ALIKE, Health, Retries

BUSY = Failure(message="slow down", status=429, body={"message": "slow down"})
BROKEN = Failure(message="internal error", status=500, body={"message": "internal error"})
GONE = Failure(message="connection failed")


def numbered(number: int, status: int = 500) -> Failure:
    """A failure that differs from every other, as where an endpoint tells a request id."""
    return Failure(message=f"internal error {number}", status=status, body={"id": number})


def attempts(retries: Retries, *failures: Failure) -> int:
    """How many attempts there are if they fail like this, and like the last of these from then on."""
    for number in range(1, 1000):
        if retries.wait(failures[min(number, len(failures)) - 1]) is None:
            return number
    raise AssertionError("there is no end to it")


# How often.


@pytest.mark.parametrize("most", [0, 1, 12])
@pytest.mark.parametrize("failure", [BUSY, GONE], ids=["busy", "gone"])
def test_a_passing_failure_is_tried_again_so_often_and_no_more(most: int, failure: Failure) -> None:
    """`most` counts the attempts beyond the first, and so does `count`."""
    retries = Retries(most, Health())
    assert attempts(retries, failure) == most + 1
    assert retries.count == most


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_a_failure_that_will_not_pass_is_not_tried_again(status: int) -> None:
    """What the endpoint says of this request or this key, it would say again."""
    retries = Retries(12, Health())
    assert retries.wait(Failure(message="no", status=status)) is None
    assert retries.count == 0


def test_every_failed_attempt_is_counted_for_the_endpoint() -> None:
    """The health of an endpoint knows of all attempts that failed and of all calls that were answered."""
    health = Health()
    for failures in ((BUSY, GONE), (Failure(message="no", status=400),), ()):
        retries = Retries(12, health)
        for failure in failures:
            retries.wait(failure)
        retries.answered()
    assert (health.answered, health.failed) == (3, 3)


# How long.


@pytest.mark.parametrize("number", [1, 2, 3, 7, 8, 20, 1000, 5000])
def test_waits_double_up_to_a_ceiling(number: int) -> None:
    """Before the nth retry it is half to all of 0.5 s, doubled n-1 times, and of a minute at most."""
    retries = Retries(10_000, Health())
    for _ in range(number - 1):
        retries.wait(GONE)
    longest = LONGEST_WAIT if number >= 8 else FIRST_WAIT * 2 ** (number - 1)
    wait = retries.wait(GONE)
    assert wait is not None
    assert longest / 2 <= wait <= longest


def test_calls_that_failed_together_do_not_come_again_together() -> None:
    """The waits of calls that failed at the same moment are spread over half of the longest one."""
    random.seed(1)
    waits = [Retries(1, Health()).wait(GONE) or 0.0 for _ in range(200)]
    assert min(waits) < 0.55 * FIRST_WAIT
    assert max(waits) > 0.95 * FIRST_WAIT


def test_a_wait_for_all_calls_is_not_added_here() -> None:
    """Where an endpoint is overloaded, whoever lets calls in holds them back; this one only backs off."""
    asked = Failure(message="slow down", status=429, retry_after=30)
    assert (Retries(12, Health()).wait(asked) or 0) <= FIRST_WAIT


def test_a_wait_for_one_call_is_kept_here() -> None:
    """Where an endpoint fails and says when it will be back, the call does not come sooner."""
    asked = Failure(message="restarting", status=502, retry_after=30)
    assert Retries(12, Health()).wait(asked) == 30
    assert Retries(12, Health()).wait(replace(asked, retry_after=1e6)) == LONGEST_WAIT


# When it is no use.


@pytest.mark.parametrize("status", [200, 500, 501, 520])
def test_three_answers_alike_are_enough(status: int) -> None:
    """What an endpoint says three times of one request, while nobody else complains, it will say for ever."""
    retries = Retries(12, Health())
    assert attempts(retries, Failure(message="it broke", status=status, body="it broke")) == MOST_ALIKE == 3
    assert retries.is_about_request


@pytest.mark.parametrize("status", [None, 408, 409, 429, 502, 503, 504, 529])
def test_what_says_nothing_of_the_request_is_tried_to_the_end(status: int | None) -> None:
    """An outage or an overload looks the same every time, and passes."""
    retries = Retries(12, Health())
    assert attempts(retries, Failure(message="busy", status=status, body="busy")) == 13
    assert not retries.is_about_request


@pytest.mark.parametrize(
    "other",
    [
        Failure(message="internal error", status=501, body={"message": "internal error"}),
        Failure(message="internal error", status=500, body={"message": "internal error", "id": 7}),
        Failure(message="the answer has no choices", status=500, body={"message": "internal error"}),
        GONE,
    ],
    ids=["status", "body", "message", "connection"],
)
def test_only_answers_alike_in_a_row_count(other: Failure) -> None:
    """Another status, body or message in between, and the counting starts again."""
    assert attempts(Retries(12, Health()), BROKEN, BROKEN, other, BROKEN) == 6


def test_answers_that_all_differ_are_tried_to_the_end() -> None:
    """Where every error has a number of its own, nothing tells that it is about the request."""
    retries = Retries(12, Health())
    assert attempts(retries, *(numbered(n) for n in range(20))) == 13
    assert not retries.is_about_request


def test_an_endpoint_that_is_down_is_given_its_time() -> None:
    """Where other calls fail as well and none is answered, three answers alike are an outage."""
    health = Health()
    retries, other = Retries(12, health), Retries(12, health)
    other.wait(BROKEN)
    assert attempts(retries, BROKEN) == 13
    assert not retries.is_about_request


def test_an_endpoint_that_answers_others_is_not_down() -> None:
    """Though other calls fail as well, one that is answered meanwhile shows that it is about the request."""
    health = Health()
    retries, other = Retries(12, health), Retries(12, health)
    other.wait(numbered(1))
    assert retries.wait(BROKEN) is not None
    other.answered()
    assert attempts(retries, BROKEN) == 2
    assert retries.is_about_request


@pytest.mark.parametrize("is_answered", [False, True])
def test_what_was_before_the_call_does_not_count(is_answered: bool) -> None:
    """An outage that is over, or answers from better times, say nothing of how the endpoint is now."""
    health = Health()
    before = Retries(12, health)
    before.wait(numbered(1))
    if is_answered:
        before.answered()
    assert attempts(Retries(12, health), BROKEN) == 3


def test_an_answer_that_came_before_the_first_failure_does_not_count() -> None:
    """An endpoint may have gone down since: what matters is whether it answers now."""
    health = Health()
    retries, other = Retries(12, health), Retries(12, health)
    other.answered()
    other.wait(numbered(1))
    assert attempts(retries, BROKEN) == 13


def test_processes_share_what_they_know_of_an_endpoint() -> None:
    """Each counts in its own number, and knows what all have seen."""
    answered, failed = [0, 0], [0, 0]
    ours, theirs = (Health(answered, failed, number) for number in range(2))
    retries, other = Retries(12, ours), Retries(12, theirs)
    other.wait(numbered(1))
    assert [retries.wait(BROKEN) is None for _ in range(4)] == [False] * 4
    other.answered()
    assert retries.wait(BROKEN) is None
    assert (answered, failed) == ([0, 1], [5, 1])
    assert (ours.answered, ours.failed) == (theirs.answered, theirs.failed) == (1, 6)


@pytest.mark.parametrize(
    ("failure", "is_anyone_answered", "concerns_all"),
    [
        pytest.param(BROKEN, True, False, id="this-request"),
        pytest.param(BROKEN, False, True, id="nobody-ever-answered"),
        pytest.param(BUSY, True, True, id="overload"),
        pytest.param(GONE, True, True, id="no-connection"),
    ],
)
def test_a_call_that_is_given_up_says_whether_others_would_fare_better(
    failure: Failure, is_anyone_answered: bool, concerns_all: bool
) -> None:
    """Others would where some are answered, and this call alone always gets the same."""
    health = Health()
    if is_anyone_answered:
        Retries(12, health).answered()
    retries = Retries(4, health)
    attempts(retries, failure)
    assert retries.concerns_all is concerns_all


def test_an_outage_that_ends_leaves_the_request_to_blame() -> None:
    """Once others are answered again, a call that has gone on getting the same answer is given up."""
    health = Health()
    retries, other = Retries(12, health), Retries(12, health)
    other.wait(numbered(1))
    assert [retries.wait(BROKEN) is None for _ in range(5)] == [False] * 5
    other.answered()
    assert retries.wait(BROKEN) is None
    assert retries.is_about_request


def test_what_another_call_has_overcome_is_chance() -> None:
    """An error after which the same call was answered is tried to the end, wherever it comes up."""
    health = Health()
    lucky = Retries(12, health)
    lucky.wait(BROKEN)
    lucky.answered()
    assert attempts(Retries(12, health), BROKEN) == 13
    assert attempts(Retries(12, health), numbered(1)) == 3


def test_only_the_last_failure_before_an_answer_was_overcome() -> None:
    """What came earlier may have been cured by something else."""
    health = Health()
    lucky = Retries(12, health)
    lucky.wait(BROKEN)
    lucky.wait(numbered(1))
    lucky.answered()
    assert attempts(Retries(12, health), BROKEN) == 3
    assert attempts(Retries(12, health), numbered(1)) == 13


def test_endpoints_do_not_learn_from_each_other() -> None:
    """What one endpoint has recovered from is no reason to be patient with another."""
    lucky = Retries(12, Health())
    lucky.wait(BROKEN)
    lucky.answered()
    assert attempts(Retries(12, Health()), BROKEN) == 3


def test_failures_overcome_are_remembered_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint that numbers its errors does not fill the memory."""
    monkeypatch.setattr(retrying, "MOST_REMEMBERED", 3)
    health = Health()
    for number in range(10):
        retries = Retries(12, health)
        retries.wait(numbered(number))
        retries.answered()
    assert len(health.overcome) == 3


@pytest.mark.parametrize(
    "body", [{"a": "\ud83d"}, [1, None], "x" * 100_000], ids=["surrogate", "list", "long"]
)
def test_any_body_can_be_told_from_another(body: Any) -> None:
    """Whatever an endpoint sends along with its error, it is compared and remembered in a few bytes."""
    health = Health()
    retries = Retries(12, health)
    retries.wait(Failure(message="", status=500, body=body))
    retries.answered()
    assert [len(item) for item in health.overcome] == [64]
