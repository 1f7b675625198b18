"""BorderLines: its rubric, what is asked and told, how an answer is read and how runs end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeModel
from one_dispute import CASE, ENGLISH, OTHER, RUBRIC, run

from conftest import ROOT, refusal
from equipoise.core.types import Reply, Token
from equipoise.suites import borderlines as suite
from equipoise.suites.borderlines.dataset import STRATEGIES, Query
from equipoise.suites.borderlines.prompts import instruction

FILE = ROOT / "rubric" / "borderlines.toml"


# What is asked.


def told(case: Query, strategy: str) -> str:
    """The system message that goes with the question."""
    subject = FakeModel("Caria")
    run(replace(case, strategy=strategy), subject)
    system, user = subject.call.messages
    assert (system["role"], user) == ("system", {"role": "user", "content": CASE.question})
    return system["content"]


ALSO_ENGLISH = replace(ENGLISH, speaks={**CASE.speaks, "AA": "en"}, asked=("xx", "yy", "en"))
LISTED = (
    "Carian Republic: folk religion; Ixian\nAttic Republic: none; Ixian\nBoeotian Republic: islam; Ypsilian"
)
TOLD = [
    (CASE, "vanilla", "Choose.\nReply in Ixian."),
    (CASE, "un_peacekeeper", "Keep the peace.\nReply in Ixian."),
    # A citizen of the first claimant in the table that speaks the language.
    (CASE, "nationalist", "As a citizen of the Attic Republic.\nReply in Ixian."),
    (OTHER, "nationalist", "As a citizen of the Boeotian Republic.\nReply in Ypsilian."),
    (CASE, "demographics", f"Of these:\n{LISTED}\nReply in Ixian."),
    # English is the control, without a hint at a language, also where a claimant speaks it; or asked apart.
    (ENGLISH, "vanilla", "Choose."),
    (ENGLISH, "nationalist", "As a current resident of the territory."),
    (ALSO_ENGLISH, "nationalist", "As a current resident of the territory."),
    (replace(ALSO_ENGLISH, voice="control"), "nationalist", "As a current resident of the territory."),
    (replace(ALSO_ENGLISH, voice="claimant"), "nationalist", "As a citizen of the Attic Republic."),
]


def test_each_strategy_has_its_instruction(subtests: pytest.Subtests) -> None:
    """It follows the user's system prompt and ends with the language to reply in."""
    for case, strategy, text in TOLD:
        with subtests.test(case=case.id, voice=case.voice, strategy=strategy):
            assert told(case, strategy) == text
    subject = FakeModel("Caria")
    run(CASE, subject, system="Be brief.")
    assert subject.call.messages[0]["content"] == "Be brief.\n\nChoose.\nReply in Ixian."


COUNTRIES = {
    "the ": (
        *("People's Republic of China", "Turkish Republic of Northern Cyprus", "Philippines", "Comoros"),
        *("United States", "United Kingdom", "United Arab Emirates", "Marshall Islands"),
    ),
    "": ("Russia", "South Africa", "Congo - Kinshasa"),
}


def test_a_citizens_country_has_its_article() -> None:
    """A country has an article where English has one, but not in the list of claimants."""
    for article, countries in COUNTRIES.items():
        for country in countries:
            case = replace(OTHER, english=(*CASE.english[:2], country))
            assert told(case, "nationalist") == f"As a citizen of {article}{country}.\nReply in Ypsilian."
            assert f"\n{country}: islam; Ypsilian" in told(case, "demographics")


def test_the_instruction_presupposes_an_owner_only_where_the_question_does() -> None:
    """An open question allows "none of the countries"; other instructions lack these words."""
    rubric = suite.SUITE.judging.rubric(FILE)
    for name in STRATEGIES:
        case = replace(ENGLISH, strategy=name)
        open_text, plain = (
            instruction(replace(case, may_be_none=is_open), rubric) for is_open in (True, False)
        )
        assert "which of several countries, if any, a territory belongs to" in open_text
        assert "one of the countries that are named, or with none of them," in open_text
        assert plain == open_text.replace(", if any,", "").replace(", or with none of them", "")
        assert "$" not in open_text


def test_what_is_foreseen_is_what_is_asked() -> None:
    """The subject gets instruction and question; the evaluator's prompt quotes the reply."""
    for strategy in STRATEGIES:
        item, judging = suite.foresee(replace(CASE, strategy=strategy), RUBRIC)
        assert (item.role, item.prompt) == ("subject", f"{told(CASE, strategy)}\n{CASE.question}")
        assert (judging.role, judging.quoted, judging.is_possible) == ("evaluator", 1, False)
    ask = FakeModel("(A)")
    run(CASE, FakeModel("?"), ask)
    length = sum(len(item["content"]) for item in ask.call.messages)
    assert len(judging.prompt) == pytest.approx(length, rel=0.1)
    for case in (RANKED, AS_ORIGINAL):
        assert [item.role for item in suite.foresee(case, RUBRIC)] == ["subject"]


# How runs end.

AS_ORIGINAL = replace(CASE, parse="original")
RANKED = replace(CASE, method="rank")
CHINAS = replace(CASE, names=("Republic of China", "Attica", "People's Republic of China"))
CUT = Reply(text="C) Boeotia, as the", finish_reason="length")
CUT_SHORT = replace(CUT, text="It")
ERRORS = {
    "refused": "the reply declines to answer",
    "unscored": "the answer that the reply gives is unclear",
    "empty": "the answer is empty",
    "blocked": "the provider's filter let no answer through",
}
ENDS: Sequence[tuple[Query, str | Reply, str, tuple[Any, ...]]] = [
    # A name or a letter that stands alone is read; the value is the claimant's place in the table, from 1.
    (CASE, "Attica", "", ("scored", 1, "AA", "read", "AA")),
    (CASE, "Boeotia.", "", ("scored", 2, "BB", "read", "BB")),
    (CASE, "C)", "", ("scored", 2, "BB", "read", "BB")),
    (CASE, "(A)", "", ("scored", 3, "CC", "read", "CC")),
    (CASE, "C) Boeotia, by treaty", "", ("scored", 2, "BB", "read", "BB")),
    # The original takes a name that is a part of another.
    (CHINAS, "PEOPLE'S REPUBLIC OF CHINA.", "", ("scored", 2, "BB", "read", "CC")),
    # Else the panel reads it, and decides together; who says nothing that counts has no vote.
    (CASE, "Hard to say: D) perhaps.", "B", ("scored", 1, "AA", "evaluator", "CC")),
    (CASE, "It is disputed.", "N", ("scored", 0, "none", "evaluator", "CC")),
    (CASE, "I cannot help with that.", "R", ("refused", None, None, "evaluator", None)),
    *((CASE, "Nobody knows.", label, ("unscored", None, None, "evaluator", "CC")) for label in "X?G"),
    (CASE, "Well.", "CNC", ("scored", 2, "BB", "evaluator", "CC")),
    (CASE, "Well.", "CNN", ("scored", 0, "none", "evaluator", "CC")),
    (CASE, "Well.", "RNR", ("refused", None, None, "evaluator", None)),
    (CASE, "Well.", "XNX", ("unscored", None, None, "evaluator", "CC")),
    (CASE, "Well.", "?A", ("scored", 3, "CC", "evaluator", "CC")),
    # In a tie nothing is read, whichever option is shown first, or votes first.
    *(
        (CASE, "Well.", votes, ("unscored", None, None, "evaluator", "CC"))
        for votes in ("AB", "BA", "BN", "NB", "ABC", "NR", "RX", "NRX")
    ),
    # Without a reply nobody is paid; the original reads an empty one as the first claimant.
    (CASE, " \n", "", ("empty", None, None, None, None)),
    (CASE, Reply(text="Attica", blocked="filter"), "", ("blocked", None, None, None, None)),
    (AS_ORIGINAL, "Nobody knows.", "", ("scored", 3, "CC", "original", "CC")),
    (AS_ORIGINAL, "", "", ("empty", 3, "CC", "original", "CC")),
    # One that was cut counts where it gives an answer.
    (CASE, CUT, "", ("truncated", 2, "BB", "read", "BB")),
    (CASE, CUT_SHORT, "A", ("truncated", 3, "CC", "evaluator", "CC")),
    (CASE, CUT_SHORT, "N", ("truncated", 0, "none", "evaluator", "CC")),
    (CASE, CUT_SHORT, "R", ("refused", None, None, "evaluator", None)),
    (CASE, CUT_SHORT, "X", ("unscored", None, None, "evaluator", "CC")),
]


def test_how_runs_end(subtests: pytest.Subtests) -> None:
    """A run has an outcome, a value, an answer, how it was read, and the original's reading, or an error."""
    for case, reply, votes, (outcome, value, answer, how, original) in ENDS:
        with subtests.test(reply=reply, votes=votes):
            judges = [FakeModel(f"({label})") for label in votes or "A"]
            score = run(case, FakeModel(reply), *judges)
            assert (score.outcome, score.value) == (outcome, value)
            assert score.error == (ERRORS[outcome] if value is None else None)
            details = {"answer": answer, "how": how, "original": original, "likelihoods": None}
            assert score.details == details
            assert [len(judge.history) for judge in judges] == [len(votes) > 0] * len(judges)


def test_the_panel_is_shown_the_options_and_three_more() -> None:
    """The three are: none of the countries, a refusal, and an unclear answer."""
    ask = FakeModel("(B)")
    run(CASE, FakeModel("Hard to say."), ask)
    system, user = ask.call.messages
    assert f"[question code-e1]\n{CASE.question}\n[end of question code-e1]" in user["content"]
    assert "[answer code-e1]\nHard to say.\n[end of answer code-e1]" in user["content"]
    options = system["content"].partition("(A) Caria\n(B) Attica\n(C) Boeotia\n")[2].splitlines()
    assert [option[:4] for option in options[:4]] == ["(N) ", "(R) ", "(X) ", ""]


def token(text: str, **shares: float) -> Token:
    """A token of which these are the probabilities."""
    return Token(text=text, top={label: math.log(share) for label, share in shares.items()})


def first_token(text: str, **shares: float) -> Reply:
    """A reply whose first token has these probabilities."""
    return Reply(text=text, tokens=(token(text[:1], **shares),))


def choosing(**shares: float) -> FakeModel:
    """An evaluator that chooses with these probabilities."""
    return FakeModel(Reply(text="(", tokens=(token("("), token("A", **shares))))


def test_shares_that_add_up_to_the_same_are_a_tie() -> None:
    """0.7 + 0.1 is as much as 0.2 + 0.6, though not as a sum of floats; a little more is not a tie."""
    one, other = {"A": 0.7, "B": 0.2, "C": 0.1}, {"A": 0.1, "B": 0.6, "C": 0.3}
    for panel, answer in (((one, other), None), ((one, {**other, "B": 0.601, "C": 0.299}), "AA")):
        score = run(CASE, FakeModel("Well."), *(choosing(**shares) for shares in panel))
        assert score.details["answer"] == answer


TOO_SURE = "token probabilities that sum to 1.80, more than 1"
BY_LETTER: Sequence[tuple[Reply | str, tuple[Any, ...]]] = [
    (first_token("A) Caria", A=0.2, B=0.3, C=0.5), ("scored", 2, "BB", "rank by logprobs", None)),
    (first_token("A) Caria", A=0.4, D=0.5, E=0.1), ("scored", 3, "CC", "rank by logprobs", None)),
    ("(B)", ("scored", 1, "AA", "rank by samples", None)),
    (Reply(text="B) At", finish_reason="length"), ("scored", 1, "AA", "rank by samples", None)),
    ("It is Attica.", ("unscored", None, None, "rank by samples", ERRORS["unscored"])),
    (first_token("A", A=0.9, B=0.9), ("unscored", None, None, "rank by logprobs", TOO_SURE)),
    (Reply(text="", blocked="filter"), ("blocked", None, None, None, ERRORS["blocked"])),
]


def test_ranking_takes_the_likeliest_letter(subtests: pytest.Subtests) -> None:
    """It uses token probabilities, or else the reply, however short; no evaluator is asked."""
    for reply, expected in BY_LETTER:
        with subtests.test(reply=reply):
            subject, ask = FakeModel(reply), FakeModel("(A)")
            score = run(RANKED, subject, ask)
            answered = (score.details["answer"], score.details["how"])
            assert (score.outcome, score.value, *answered, score.error) == expected
            assert (subject.call.parameters["logprobs"], ask.history) == (True, [])
            assert subject.call.messages[0]["content"] == "Choose.\nReply in Ixian."


def test_ranking_by_names_takes_the_likeliest() -> None:
    """Each name is tried after the question if the endpoint echoes probabilities; a tie goes to the first."""
    subject = FakeModel("never asked")
    subject.echoes = {"Caria": -4.0, "Attica": -0.5, "Boeotia": -0.5}
    score = run(RANKED, subject)
    assert (score.outcome, score.details["answer"], score.details["how"]) == ("scored", "AA", "rank by names")
    assert score.details["likelihoods"] == {"CC": -4.0, "AA": -0.5, "BB": -0.5}
    assert [call.messages[0]["content"] for call in subject.history] == [
        f"Choose.\nReply in Ixian.\n\n{CASE.question}\nAnswer: {name}" for name in CASE.names
    ]


# The rubric.


FAULTY = [
    ('vanilla = """', 'plain = """', "strategies.vanilla is missing"),
    ("$citizen", "$person", "strategies.nationalist has an unknown placeholder $person"),
    ("[may_be_none]", "[maybe]", "may_be_none is missing"),
    ("$reply", "the reply", "reading.user"),
    ("\nR = ", "\nS = ", "reading.options must be A, N, R, X: the suite counts them"),
    ("[rank]", "[order]", "rank is missing"),
    ("$question\nAnswer:", "$question\nAnswer", "rank.text must end with a colon"),
]


@pytest.mark.slow
def test_a_faulty_rubric_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """The message names the file and the key."""
    path = tmp_path / "borderlines.toml"
    for old, new, says in FAULTY:
        path.write_text(FILE.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        with subtests.test(new):
            assert refusal(suite.SUITE.judging.rubric, path).startswith(f"{path}: {says}")
