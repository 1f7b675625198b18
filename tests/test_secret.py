"""Keys do not get into anything that is kept or shown."""

from __future__ import annotations

from typing import Any

import pytest

from equipoise.secret import MASK, Secrets
from equipoise.settings import NO_KEY
from equipoise.types import Reply, Usage

KEY = "sk-secret-1"
LONGER = "sk-secret-12"
SECRETS = Secrets([KEY, LONGER])


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (KEY, MASK),
        (f"your key {KEY} and {KEY}.", f"your key {MASK} and {MASK}."),
        (f"{KEY}{LONGER}", f"{MASK}{MASK}"),
        ("no key at all", "no key at all"),
        ([KEY, [f"a{KEY}b"], 5], [MASK, [f"a{MASK}b"], 5]),
        ({"error": {"message": f"bad key {KEY}"}}, {"error": {"message": f"bad key {MASK}"}}),
        ({KEY: 1, "a": {f"{KEY}!": KEY}}, {MASK: 1, "a": {f"{MASK}!": MASK}}),
        ({1: KEY, None: 2}, {1: MASK, None: 2}),
        (None, None),
        (5.5, 5.5),
        (True, True),
    ],
    ids=str,
)
def test_keys_are_replaced_wherever_they_stand(data: Any, shown: Any) -> None:
    """In texts, lists and objects, as values and as names, however deep."""
    assert SECRETS.mask(data) == shown


def test_a_key_that_begins_with_another_leaves_nothing() -> None:
    """The longest key is replaced first, so that no rest of it stands behind the mask."""
    for keys in ([KEY, LONGER], [LONGER, KEY]):
        assert Secrets(keys).mask(f"<{LONGER}> <{KEY}>") == f"<{MASK}> <{MASK}>"


def test_what_is_given_is_not_changed() -> None:
    """The masked data is new; what an endpoint sent stays as it was."""
    data = {"a": [KEY]}
    SECRETS.mask(data)
    assert data == {"a": [KEY]}


@pytest.mark.parametrize("word", [NO_KEY, "", "x", "none", "12345"])
def test_what_is_no_key_is_not_hidden(word: str) -> None:
    """The stand-in for a missing key, and words too short for one, stay in ordinary text."""
    text = f"none of this is secret: {word} 12345 x"
    assert Secrets([word]).mask(text) == text
    reply = Reply(text=text)
    assert Secrets([word]).masked(reply) is reply


def test_six_characters_are_a_key() -> None:
    """The shortest key that is taken for one."""
    assert Secrets(["abcdef"]).mask("abcdef") == MASK


def test_a_reply_is_masked_in_all_its_texts() -> None:
    """A model or an endpoint that repeats the key does not bring it into the journal; all else is kept."""
    usage = Usage(input=1, output=2)
    reply = Reply(
        text=f"text {KEY}",
        reasoning=f"thoughts {KEY}",
        finish_reason=KEY,
        usage=usage,
        model=KEY,
        fingerprint=KEY,
        provider=KEY,
        latency=0.5,
        retries=2,
        blocked=KEY,
    )
    assert SECRETS.masked(reply) == Reply(
        text=f"text {MASK}",
        reasoning=f"thoughts {MASK}",
        finish_reason=MASK,
        usage=usage,
        model=MASK,
        fingerprint=MASK,
        provider=MASK,
        latency=0.5,
        retries=2,
        blocked=MASK,
    )


def test_a_reply_without_a_key_in_it_is_returned_as_it_is() -> None:
    """Nothing is copied for nothing."""
    reply = Reply(text="Because.", usage=Usage(input=1), latency=0.5)
    assert SECRETS.masked(reply) is reply
