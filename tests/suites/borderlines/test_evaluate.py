"""BorderLines: its rubric, what is asked and told, how an answer is read and how runs end."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from one_dispute import CASE, ENGLISH, OTHER, RUBRIC, SPEAKS, FakeModel, run

from conftest import ROOT, resolved
from equipoise.core.errors import UserError
from equipoise.core.types import Reply, Token
from equipoise.suites import borderlines as suite
from equipoise.suites.borderlines.dataset import STRATEGIES, Dispute
from equipoise.suites.borderlines.prompts import instruction

# The contract.


def test_what_the_suite_says_of_itself() -> None:
    """The options that it takes; what one of them does not know is refused."""
    assert {"strategy", "option_order", "seed"} <= {option.name for option in suite.SUITE.options}
    with pytest.raises(UserError, match=r"^--strategy.*pirate"):
        resolved({"model": "m", "strategy": "pirate"})


# One run.


def told(case: Dispute, strategy: str) -> str:
    """The system message that goes with the question."""
    asked = FakeModel("Caria")
    run(replace(case, strategy=strategy), asked)
    ((system, user),) = [call.messages for call in asked.history]
    assert user == {"role": "user", "content": CASE.question}
    assert system["role"] == "system"
    return system["content"]


def test_each_strategy_has_its_instruction() -> None:
    """With the language to reply in; the citizen is of the first who speaks it in the table's order."""
    claimants = ("Carian Republic: folk religion; Ixian", "Attic Republic: none; Ixian")
    listed = "\n".join((*claimants, "Boeotian Republic: islam; Ypsilian"))
    assert {name: told(CASE, name) for name in STRATEGIES} == {
        "vanilla": "Choose.\nReply in Ixian.",
        "un_peacekeeper": "Keep the peace.\nReply in Ixian.",
        "nationalist": "As a citizen of the Attic Republic.\nReply in Ixian.",
        "demographics": f"Of these:\n{listed}\nReply in Ixian.",
    }
    of_other = "As a citizen of the Boeotian Republic.\nReply in Ypsilian."
    assert told(OTHER, "nationalist") == of_other


def test_the_instruction_presupposes_an_owner_only_where_the_question_does() -> None:
    """By every strategy: with none of the countries as an answer, or else as if there were no such words."""
    found = suite.SUITE.judging.rubric(ROOT / "rubric" / "borderlines.toml")
    for name in STRATEGIES:
        case = replace(ENGLISH, strategy=name)
        open_text, plain = (
            instruction(replace(case, may_be_none=is_open), found) for is_open in (True, False)
        )
        assert "which of several countries, if any, a territory belongs to" in open_text
        assert "one of the countries that are named, or with none of them," in open_text
        assert plain == open_text.replace(", if any,", "").replace(", or with none of them", "")
        assert "$" not in open_text


COUNTRIES = {
    "People's Republic of China": "the People's Republic of China",
    "Republic of China": "the Republic of China",
    "Turkish Republic of Northern Cyprus": "the Turkish Republic of Northern Cyprus",
    "Philippines": "the Philippines",
    "United States": "the United States",
    "United Kingdom": "the United Kingdom",
    "United Arab Emirates": "the United Arab Emirates",
    "Marshall Islands": "the Marshall Islands",
    "Comoros": "the Comoros",
    "Russia": "Russia",
    "South Africa": "South Africa",
    "Congo - Kinshasa": "Congo - Kinshasa",
}


def test_a_citizens_country_has_its_article() -> None:
    """Where English puts one; in the list of claimants there is none."""
    for country, told_of in COUNTRIES.items():
        case = replace(OTHER, english=(*CASE.english[:2], country))
        assert told(case, "nationalist") == f"As a citizen of {told_of}.\nReply in Ypsilian."
        assert f"\n{country}: islam; Ypsilian" in told(case, "demographics")


def test_the_control_is_told_by_a_resident_and_gets_no_hint() -> None:
    """Also where a claimant speaks English; nobody has to be told to reply in it."""
    for speaks in (SPEAKS, {**SPEAKS, "AA": "en"}):
        english = replace(ENGLISH, speaks=speaks)
        assert told(english, "nationalist") == "As a current resident of the territory."
        assert told(english, "vanilla") == "Choose."


def test_a_claimant_who_speaks_english_is_a_citizen_beside_the_control() -> None:
    """Asked apart from it, without a hint at a language."""
    english = replace(ENGLISH, speaks={**SPEAKS, "AA": "en"}, asked=("xx", "yy", "en"))
    said = {voice: told(replace(english, voice=voice), "nationalist") for voice in ("control", "claimant")}
    assert said == {
        "control": "As a current resident of the territory.",
        "claimant": "As a citizen of the Attic Republic.",
    }


def test_the_users_own_system_prompt_comes_first() -> None:
    """And the instruction behind it."""
    asked = FakeModel("Caria")
    run(CASE, asked, system="Be brief.")
    assert asked.history[0].messages[0]["content"] == "Be brief.\n\nChoose.\nReply in Ixian."


def test_what_is_foreseen_is_what_is_asked() -> None:
    """The subject, with instruction and question, and the evaluator, whose prompt quotes the reply."""
    for strategy in STRATEGIES:
        case = replace(CASE, strategy=strategy)
        item, judging = suite.foresee(case, RUBRIC)
        assert (item.role, item.prompt) == ("subject", f"{told(CASE, strategy)}\n{CASE.question}")
        assert (judging.role, judging.quoted, judging.is_possible) == ("evaluator", 1, False)
    asked = FakeModel("(A)")
    run(CASE, FakeModel(""), asked)
    run(CASE, FakeModel("?"), asked)
    (call,) = asked.history
    assert len(judging.prompt) == pytest.approx(sum(len(item["content"]) for item in call.messages), rel=0.1)
    for case in (replace(CASE, method="rank"), replace(CASE, parse="original")):
        assert [item.role for item in suite.foresee(case, RUBRIC)] == ["subject"]


READ = [
    ("Attica", "AA", 1),
    ("Boeotia.", "BB", 2),
    ("C)", "BB", 2),
    ("(A)", "CC", 3),
    ("C) Boeotia, by treaty", "BB", 2),
]


def test_a_name_or_a_letter_that_stands_alone_is_read() -> None:
    """Neither needs an evaluator; the value is the claimant's place in the table, from 1."""
    for text, answer, value in READ:
        ask = FakeModel("(A)")
        found = run(CASE, FakeModel(text), ask)
        assert (found.outcome, found.value, found.error) == ("scored", value, None), text
        assert (found.details["answer"], found.details["how"]) == (answer, "read"), text
        assert ask.history == []


def test_what_neither_tells_is_read_by_the_panel() -> None:
    """With the question, the answer, a letter for each country, and three more: none, refused, unclear."""
    ask = FakeModel("(B)")
    found = run(CASE, FakeModel("Hard to say: D) perhaps."), ask)
    assert (found.details, found.value) == (
        {
            "answer": "AA",
            "how": "evaluator",
            "original": "CC",
            "likelihoods": None,
        },
        1,
    )
    ((system, user),) = [call.messages for call in ask.history]
    assert f"[question code-e1]\n{CASE.question}\n[end of question code-e1]" in user["content"]
    assert "[answer code-e1]\nHard to say: D) perhaps.\n[end of answer code-e1]" in user["content"]
    options = system["content"].partition("(A) Caria\n(B) Attica\n(C) Boeotia\n")[2].splitlines()
    assert [option[:4] for option in options[:4]] == ["(N) ", "(R) ", "(X) ", ""]


def test_a_panel_decides_together() -> None:
    """The likeliest of all, none and the others among them; who says nothing has no vote."""
    for labels, outcome, answer in (
        ("CNC", "scored", "BB"),
        ("CNN", "scored", "none"),
        ("RNR", "refused", None),
        ("XNX", "unscored", None),
    ):
        found = run(CASE, FakeModel("Well."), *(FakeModel(f"({label})") for label in labels))
        assert (found.outcome, found.details["answer"]) == (outcome, answer), labels
    mute = FakeModel("Hm.")
    assert run(CASE, FakeModel("Well."), mute, FakeModel("(A)")).details["answer"] == "CC"


CANNOT_BE_TOLD = "what the reply answers cannot be told"


def choosing(**shares: float) -> FakeModel:
    """An evaluator whose first token has these probabilities."""
    top = {label: math.log(share) for label, share in shares.items()}
    return FakeModel(Reply(text="(", tokens=(Token(text="(", top={}), Token(text="A", top=top))))


def test_a_split_panel_reads_nothing() -> None:
    """Whichever option is shown first, or votes first."""
    for votes in ("AB", "BA", "BN", "NB", "ABC", "NR", "RX", "NRX"):
        found = run(CASE, FakeModel("Well."), *(FakeModel(f"({label})") for label in votes))
        assert (found.outcome, found.value, found.details["answer"]) == ("unscored", None, None), votes
        assert found.error == CANNOT_BE_TOLD


def test_shares_that_add_up_to_the_same_are_a_tie() -> None:
    """0.1 + 0.2 is as much as 0.3, and a little more than that is not."""
    votes = [choosing(A=0.1, B=0.3, C=0.6), choosing(A=0.2, B=0.2, N=0.6), choosing(A=0.6, B=0.4)]
    tied = [choosing(A=0.7, B=0.2, C=0.1), choosing(A=0.1, B=0.6, C=0.3)]
    assert run(CASE, FakeModel("Well."), *tied).details["answer"] is None
    assert run(CASE, FakeModel("Well."), *votes).details["answer"] is None
    clear = [choosing(A=0.7, B=0.2, C=0.1), choosing(A=0.1, B=0.601, C=0.299)]
    assert run(CASE, FakeModel("Well."), *clear).details["answer"] == "AA"


def test_none_of_the_countries_is_an_answer() -> None:
    """Its score is 0, before the first claimant's; the original reads the first claimant all the same."""
    found = run(CASE, FakeModel("It is disputed."), FakeModel("(N)"))
    assert (found.outcome, found.value, found.error) == ("scored", 0, None)
    assert found.details == {"answer": "none", "how": "evaluator", "original": "CC", "likelihoods": None}


def test_a_reply_that_declines_is_refused() -> None:
    """Where the panel says so; it has neither a score nor an answer, not even the original's."""
    found = run(CASE, FakeModel("I cannot help with that."), FakeModel("(R)"))
    assert (found.outcome, found.value, found.error) == ("refused", None, "the reply declines to answer")
    assert found.details == {"answer": None, "how": "evaluator", "original": None, "likelihoods": None}


def test_an_answer_that_cannot_be_told_is_unscored() -> None:
    """Where the panel says so, or says nothing that counts."""
    for said in ("(X)", "Hm.", "(G)"):
        found = run(CASE, FakeModel("Nobody knows."), FakeModel(said))
        assert (found.outcome, found.value, found.error) == ("unscored", None, CANNOT_BE_TOLD)
        assert (found.details["answer"], found.details["original"]) == (None, "CC")


def test_an_empty_or_blocked_reply_has_no_score() -> None:
    """Its outcome and an error say why, in place of a number, and no evaluator is paid for it."""
    empty, blocked = Reply(text=" \n"), Reply(text="Attica", blocked="filter")
    for reply, outcome, error in (
        (empty, "empty", "the answer is empty"),
        (blocked, "blocked", "the provider's filter let no answer through"),
    ):
        ask = FakeModel("(A)")
        found = run(CASE, FakeModel(reply), ask)
        assert (found.outcome, found.value, found.error) == (outcome, None, error)
        assert found.details == {"answer": None, "how": None, "original": None, "likelihoods": None}
        assert ask.history == []


def test_the_original_reads_an_empty_reply_as_the_first_claimant() -> None:
    """As the published code does; the outcome says that it is empty."""
    found = run(replace(CASE, parse="original"), FakeModel(""))
    assert (found.outcome, found.value, found.details["answer"]) == ("empty", 3, "CC")


def test_a_reply_that_was_cut_counts_where_it_gives_an_answer() -> None:
    """It says that it was cut; else it is refused or unscored like any other."""
    cut = Reply(text="C) Boeotia, as the", finish_reason="length")
    found = run(CASE, FakeModel(cut))
    assert (found.outcome, found.value) == ("truncated", 2)
    for label, outcome, value in (
        ("A", "truncated", 3),
        ("N", "truncated", 0),
        ("R", "refused", None),
        ("X", "unscored", None),
    ):
        found = run(CASE, FakeModel(replace(cut, text="It")), FakeModel(f"({label})"))
        assert (found.outcome, found.value) == (outcome, value), label


def test_the_originals_reading_is_kept_beside_ours() -> None:
    """It takes a name that is a part of another, and the first claimant where there is nothing to read."""
    case = replace(CASE, names=("Republic of China", "Attica", "People's Republic of China"))
    details = run(case, FakeModel("PEOPLE'S REPUBLIC OF CHINA.")).details
    assert (details["answer"], details["original"]) == ("BB", "CC")


RANKED = replace(CASE, method="rank")


def first_token(**shares: float) -> Reply:
    """A reply whose first token has these probabilities."""
    top = {label: math.log(share) for label, share in shares.items()}
    return Reply(text="A) Caria", tokens=(Token(text="A", top=top),))


BY_LETTER = [
    (first_token(A=0.2, B=0.3, C=0.5), "BB", "rank by logprobs"),
    (first_token(A=0.4, D=0.5, E=0.1), "CC", "rank by logprobs"),
    (Reply(text="(B)"), "AA", "rank by samples"),
    (Reply(text="B) At", finish_reason="length"), "AA", "rank by samples"),
]


def test_ranking_takes_the_likeliest_letter() -> None:
    """Of those on offer, by token probabilities or else by what was said, however short; nobody judges."""
    for reply, answer, how in BY_LETTER:
        asked, ask = FakeModel(reply), FakeModel("(A)")
        found = run(RANKED, asked, ask)
        assert (found.outcome, found.details["answer"], found.details["how"]) == ("scored", answer, how)
        assert (len(asked.history), ask.history) == (1, [])
        assert asked.call.parameters["logprobs"] is True
        assert asked.call.messages[0]["content"] == "Choose.\nReply in Ixian."


def test_ranking_by_names_takes_the_likeliest() -> None:
    """Where texts come back with probabilities, each name is tried behind the question; all are kept."""
    asked = FakeModel("never asked")
    asked.echoes = {"Caria": -4.0, "Attica": -0.5, "Boeotia": -3.0}
    found = run(RANKED, asked)
    assert (found.outcome, found.details["answer"], found.details["how"]) == ("scored", "AA", "rank by names")
    assert found.details["likelihoods"] == {"CC": -4.0, "AA": -0.5, "BB": -3.0}
    assert [call.messages[0]["content"] for call in asked.history] == [
        f"Choose.\nReply in Ixian.\n\n{CASE.question}\nAnswer: {name}" for name in CASE.names
    ]


def test_of_two_likeliest_names_the_first_shown_is_taken() -> None:
    """As in the published benchmark."""
    asked = FakeModel("never asked")
    asked.echoes = {"Caria": -4.0, "Attica": -0.5, "Boeotia": -0.5}
    assert run(RANKED, asked).details["answer"] == "AA"


def test_ranking_without_a_letter_is_unscored_and_blocked_is_blocked() -> None:
    """Neither falls back on an evaluator."""
    ask = FakeModel("(A)")
    assert run(RANKED, FakeModel("It is Attica."), ask).outcome == "unscored"
    blocked = run(RANKED, FakeModel(Reply(text="", blocked="filter")), ask)
    assert (blocked.outcome, blocked.value) == ("blocked", None)
    assert ask.history == []


def test_ranking_by_impossible_probabilities_is_unscored() -> None:
    """With the reason: token probabilities that sum to more than 1."""
    found = run(RANKED, FakeModel(first_token(A=0.9, B=0.9)), FakeModel("(A)"))
    assert (found.outcome, found.value) == ("unscored", None)
    assert found.error == "token probabilities that sum to 1.80, more than 1"


def test_the_originals_reading_can_decide() -> None:
    """Then the first claimant stands where nothing is named, and no evaluator is asked."""
    ask = FakeModel("(B)")
    found = run(replace(CASE, parse="original"), FakeModel("Nobody knows."), ask)
    assert found.details == {"answer": "CC", "how": "original", "original": "CC", "likelihoods": None}
    assert (found.outcome, ask.history) == ("scored", [])


# The rubric.


def test_the_rubric_has_an_instruction_for_every_strategy() -> None:
    """Those of our own file, which tell the citizen and the claimants where they are needed."""
    found = suite.SUITE.judging.rubric(ROOT / "rubric" / "borderlines.toml")
    assert tuple(found.strategies) == STRATEGIES
    told_of = {name: text.get_identifiers() for name, text in found.strategies.items() if text.template}
    words = ["if_any", "or_none"]
    assert (told_of["vanilla"], told_of["un_peacekeeper"]) == (words, words)
    assert told_of["nationalist"] == ["citizen", *words]
    assert told_of["demographics"] == ["if_any", "claimants", "or_none"]
    assert (found.scale.low, found.scale.high, found.version) == (0, 7, "1")


FAULTY = [
    ('vanilla = """', 'plain = """', "strategies.vanilla is missing"),
    ("[strategies]", "[others]", "strategies is missing"),
    ("$citizen", "$person", "strategies.nationalist has an unknown placeholder $person"),
    ("[may_be_none]", "[maybe]", "may_be_none is missing"),
    ("or_none = ", "or_nothing = ", "may_be_none.or_none is missing"),
    ("$reply", "the reply", "reading.user"),
    ('version = "1"', "version = 5", "version"),
    ("\nR = ", "\nS = ", "reading.options must be A, N, R, X: the suite counts them"),
    ("[rank]", "[order]", "rank is missing"),
    ("$question\nAnswer:", "$question\nAnswer", "rank.text must end with a colon"),
]


@pytest.mark.slow
def test_a_faulty_rubric_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """With the file and the key."""
    path = tmp_path / "borderlines.toml"
    content = (ROOT / "rubric" / "borderlines.toml").read_text(encoding="utf-8")
    for old, new, says in FAULTY:
        path.write_text(content.replace(old, new), encoding="utf-8")
        with subtests.test(new):
            with pytest.raises(UserError) as caught:
                suite.SUITE.judging.rubric(path)
            assert str(caught.value).startswith(f"{path}: ")
            assert says in str(caught.value)
