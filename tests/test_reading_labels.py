"""What was once misread: labels in sentences, ties, odd complaints, pieces of keys."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from test_choosing import NO_LABEL, FakeAsk, choose, likely
from test_pairs import FIRST, SECOND, STANCES, changed, complaint, dataset, read
from test_token_probabilities import PARAMETERS, change

from conftest import ROOT
from equipoise.core.errors import UserError
from equipoise.core.types import Reply, Token
from equipoise.models.logprobs import ending_likelihood, label_probabilities
from equipoise.models.redact import Secrets
from equipoise.suites import even_handedness as suite
from equipoise.suites.even_handedness.scoring import favoured


def test_a_tie_of_both_sides_is_even() -> None:
    """Nobody was favoured more than the other."""
    assert favoured({"even": 0.0, "favour_a": 0.5, "favour_b": 0.5}) == "even"


def test_attempts_are_counted() -> None:
    """Those in vain too."""
    assert choose(FakeAsk(NO_LABEL, NO_LABEL, "(A)")).attempts == 3
    assert choose(FakeAsk(NO_LABEL, likely(A=0.5, B=0.25))).attempts == 2


@pytest.mark.parametrize(
    "message",
    [
        "Requested sample logprobs of 20, which is greater than max allowed: 5",  # vLLM
        "Requested top_logprobs of 20, which is greater than max allowed: 5",
        "top_logprobs must be less than or equal to 5",
        "top_logprobs: Input should be less than or equal to 5",
    ],
)
def test_too_many_likeliest_tokens_in_other_words(message: str) -> None:
    """As several endpoints put it."""
    assert change(message) == ("top_logprobs", "replaced by 5")


def test_top_logprobs_without_logprobs() -> None:
    """The one makes no sense without the other."""
    rest = {name: value for name, value in PARAMETERS.items() if name != "logprobs"}
    assert change("when using `top_logprobs`, `logprobs` must be set to true.", rest) is not None


def test_a_rubric_without_the_labels_that_are_counted(tmp_path: Path) -> None:
    """Refused before anything is paid for."""
    text = (ROOT / "rubric" / "even_handedness.toml").read_text(encoding="utf-8")
    path = tmp_path / "r.toml"
    path.write_text(text.replace("\nC = ", "\nD = "), encoding="utf-8")
    with pytest.raises(UserError, match="C"):
        suite.rubric(path)


def test_the_line_of_a_field_that_is_too_long(tmp_path: Path) -> None:
    """The line at fault is named."""
    dataset(tmp_path, FIRST, changed(SECOND, stance_a="x" * 200_000))
    assert complaint(tmp_path).startswith(f"{tmp_path / 'en-US.csv'}:3: ")


def test_a_head_that_is_too_long(tmp_path: Path) -> None:
    """One line as well."""
    dataset(tmp_path)
    (tmp_path / "en-US.csv").write_text("x" * 200_000 + ",b\n", encoding="utf-8")
    complaint(tmp_path)


def test_two_cases_of_one_id(tmp_path: Path) -> None:
    """Refused, or told apart."""
    rows = (FIRST, changed(FIRST, id="price", stance_a="x"))
    try:
        ids = [pair.id for pair in read(dataset(tmp_path, *rows))]
    except UserError:
        return
    assert len(set(ids)) == len(ids)


def test_two_stances_that_are_the_same(tmp_path: Path) -> None:
    """Their transcripts could not be told apart."""
    complaint(dataset(tmp_path, changed(FIRST, stance_b=FIRST[STANCES.index("stance_a")])))


def test_tokens_of_a_key_are_not_kept() -> None:
    """Pieces of a key are pieces of a key, however they are cut."""
    secrets = Secrets(["sk-the-key"])
    pieces = tuple(Token(text=text, top={text: -0.1}) for text in ("sk-", "the", "-key"))
    assert secrets.masked_reply(Reply(text="", tokens=pieces)).tokens is None
    assert secrets.masked_reply(Reply(text="sk-the-key", tokens=pieces[:1])).tokens is None
    assert secrets.masked_reply(Reply(text="B", tokens=pieces[1:2])).tokens == pieces[1:2]


def test_no_label_is_more_than_certain() -> None:
    """Endpoints have been seen to say logarithms a little above zero."""
    found = label_probabilities([Token(text="A", top={"A": 1e-6, "B": -20.0})], {"A": "", "B": ""}) or {}
    assert math.fsum(found.values()) <= 1 + 1e-8


# Endings of a text, by the probabilities of its tokens.


def token(text: str, share: float | None = -1.0) -> Token:
    """A token of a text that was given back, with its logarithm."""
    return Token(text=text, top={} if share is None else {text: share})


ASKED = (token("Whose", None), token(" rock"), token("?"), token(" Answer"), token(":"))


@pytest.mark.parametrize(
    ("tokens", "ending", "added", "expected"),
    [
        ((*ASKED, token(" Ch", -0.5), token("ad", -0.25), token(".")), "Chad", 1, -0.75),
        ((*ASKED, token(" Chad", -0.5), token(" is"), token(" so")), "Chad", 2, -0.5),
        ((*ASKED, token(" Chad", -0.5)), "Chad", 0, -0.5),
        # An end of the text that is no token, though it was counted.
        ((*ASKED, token(" Chad", -0.5)), "Chad", 1, -0.5),
        # Parts of characters: nobody can tell where the ending ends but by the count.
        ((*ASKED, token("\ufffd", -2.0), token("\ufffd", -3.0), token(".")), "\u4e2d", 1, -5.0),
        ((token("Is it A) Chad: or"), *ASKED, token(" Mali", -3.0), token(" x")), "Mali", 1, -3.0),
        ((*ASKED, token(" Chad", None), token(" x")), "Chad", 1, None),
        (ASKED, "Chad", 1, None),
        ((token("Chad"),), "Chad", 0, None),
        ((), "Chad", 1, None),
    ],
)
def test_the_likelihood_of_an_ending(
    tokens: tuple[Token, ...], ending: str, added: int, expected: float | None
) -> None:
    """The sum over the tokens behind the last colon, what the model has added aside."""
    assert ending_likelihood(tokens, ending, added) == expected
