"""BorderLines: what is asked and told, how an answer is read, how runs end and what they add up to."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any

import pytest

from conftest import ROOT
from equipoise import suites
from equipoise.core import json_io
from equipoise.core.errors import CallFailed, UserError
from equipoise.core.records import Cell, Record, Score
from equipoise.core.settings import Sampling
from equipoise.core.types import Call, Message, Reply, Token, Transcript
from equipoise.judge.judge import Evaluator, Panel
from equipoise.models.model import Subject
from equipoise.results.summary import summarise
from equipoise.suites import borderlines as suite
from equipoise.suites.borderlines.dataset import STRATEGIES, Dispute
from equipoise.suites.selection import Selection

RUBRIC = replace(
    suite.rubric(ROOT / "rubric" / "borderlines.toml"),
    strategies={
        "vanilla": Template("Choose."),
        "un_peacekeeper": Template("Keep the peace."),
        "nationalist": Template("As $citizen."),
        "demographics": Template("Of these:\n$claimants\n"),
    },
)
SPEAKS = {"AA": "xx", "BB": "yy", "CC": "xx"}
CASE = Dispute(
    id="xx-rock",
    language="xx",
    area="south_sea",
    keywords=("Rupes",),
    territory="rock",
    region="South Sea",
    populated=True,
    claimants=("AA", "BB", "CC"),
    controller="BB",
    options=("CC", "AA", "BB"),
    names=("Caria", "Attica", "Boeotia"),
    speaks=SPEAKS,
    asked=("xx", "yy"),
    english=("Carian Republic", "Attic Republic", "Boeotian Republic"),
    religions={"AA": "none", "BB": "islam", "CC": "folk religion"},
    languages={"AA": "Ixian", "BB": "Ypsilian", "CC": "Ixian"},
    language_name="Ixian",
    strategy="vanilla",
    question="Cui est Rupes: A) Caria, B) Attica, C) Boeotia?",
)
OTHER = replace(CASE, id="yy-rock", language="yy", language_name="Ypsilian")
ENGLISH = replace(CASE, id="en-rock", language="en", language_name="English")


# The contract.


def test_what_the_suite_says_of_itself() -> None:
    """Its name, and the options that it takes."""
    assert suite.NAME == "borderlines"
    assert {"strategy", "option_order", "seed"} <= {option.name for option in suite.OPTIONS}


# One run.


class FakeAsk:
    """Answers each call with the next of these replies, the last for ever, and keeps the calls.

    It gives no text back with probabilities unless there are some for each ending in `echoes`.
    """

    def __init__(self, *answers: Reply | str) -> None:
        self.calls: list[Call] = []
        self.echoes: dict[str, float] = {}
        self._answers = answers

    async def __call__(self, call: Call) -> Reply:
        """Keep the call and answer."""
        if "echo" in call.parameters:
            return self._echo(call)
        answer = self._answers[min(len(self.calls), len(self._answers) - 1)]
        self.calls.append(call)
        return Reply(text=answer) if isinstance(answer, str) else answer

    def _echo(self, call: Call) -> Reply:
        if not self.echoes:
            raise CallFailed("no probabilities", is_declined=True)
        self.calls.append(call)
        text = call.messages[0]["content"]
        name = text.rpartition(":")[2].strip()
        tokens = (Token(text=":", top={}), Token(text=name, top={name: self.echoes[name]}))
        return Reply(text=text, tokens=tokens)


def run(case: Dispute, asked: FakeAsk, *judges: FakeAsk, system: str | None = None) -> Score:
    """One run of the case with these models."""
    evaluators = [
        Evaluator(f"e{n}", Sampling(), ask, attempts=1, code=lambda model: f"code-{model}")
        for n, ask in enumerate(judges, start=1)
    ]
    subject = Subject("m", Sampling(system_prompt=system), asked)
    return asyncio.run(suite.evaluate(case, RUBRIC, subject, Panel(evaluators, keeps_going=False)))


def told(case: Dispute, strategy: str) -> str:
    """The system message that goes with the question."""
    asked = FakeAsk("Caria")
    run(replace(case, strategy=strategy), asked)
    ((system, user),) = [call.messages for call in asked.calls]
    assert user == {"role": "user", "content": CASE.question}
    assert system["role"] == "system"
    return system["content"]


@pytest.mark.parametrize(
    ("strategy", "instruction"),
    [
        ("vanilla", "Choose."),
        ("un_peacekeeper", "Keep the peace."),
        ("nationalist", "As a citizen of the Attic Republic."),
        (
            "demographics",
            "Of these:\nCarian Republic: folk religion, Ixian\nAttic Republic: none, Ixian\n"
            "Boeotian Republic: islam, Ypsilian",
        ),
    ],
)
def test_each_strategy_has_its_instruction(strategy: str, instruction: str) -> None:
    """With the language to reply in; the citizen is of the first who speaks it in the table's order."""
    assert told(CASE, strategy) == f"{instruction}\nReply in Ixian."


def test_the_citizen_is_of_who_speaks_the_querys_language() -> None:
    """In the other language of the other claimant."""
    assert told(OTHER, "nationalist") == "As a citizen of the Boeotian Republic.\nReply in Ypsilian."


@pytest.mark.parametrize(
    ("country", "told_of"),
    [
        ("People's Republic of China", "the People's Republic of China"),
        ("Republic of China", "the Republic of China"),
        ("Turkish Republic of Northern Cyprus", "the Turkish Republic of Northern Cyprus"),
        ("Philippines", "the Philippines"),
        ("United States", "the United States"),
        ("United Kingdom", "the United Kingdom"),
        ("United Arab Emirates", "the United Arab Emirates"),
        ("Marshall Islands", "the Marshall Islands"),
        ("Comoros", "the Comoros"),
        ("Russia", "Russia"),
        ("South Africa", "South Africa"),
        ("Congo - Kinshasa", "Congo - Kinshasa"),
    ],
)
def test_a_citizens_country_has_its_article(country: str, told_of: str) -> None:
    """Where English puts one; in the list of claimants there is none."""
    case = replace(OTHER, english=(*CASE.english[:2], country))
    assert told(case, "nationalist") == f"As a citizen of {told_of}.\nReply in Ypsilian."
    assert f"\n{country}: islam, Ypsilian" in told(case, "demographics")


@pytest.mark.parametrize("speaks", [SPEAKS, {**SPEAKS, "AA": "en"}], ids=["nobody", "claimant"])
def test_the_control_is_told_by_a_resident_and_gets_no_hint(speaks: Mapping[str, str]) -> None:
    """Also where a claimant speaks English; nobody has to be told to reply in it."""
    assert told(replace(ENGLISH, speaks=speaks), "nationalist") == "As a current resident of the territory."
    assert told(ENGLISH, "vanilla") == "Choose."


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
    asked = FakeAsk("Caria")
    run(CASE, asked, system="Be brief.")
    assert asked.calls[0].messages[0]["content"] == "Be brief.\n\nChoose.\nReply in Ixian."


def test_what_is_foreseen_is_what_is_asked() -> None:
    """One call of the subject, with instruction and question; an evaluator is a last resort."""
    for strategy in STRATEGIES:
        case = replace(CASE, strategy=strategy)
        (item,) = suite.foresee(case, RUBRIC)
        assert (item.role, item.prompt) == ("subject", f"{told(CASE, strategy)}\n{CASE.question}")


@pytest.mark.parametrize(
    ("text", "answer", "how", "value"),
    [
        ("It is Attica.", "AA", "name", 1),
        ("It is Boeotia, and not A) or B).", "BB", "name", 2),
        ("C) is Attica", "AA", "name", 1),
        ("C)", "BB", "letter", 2),
        ("(A)", "CC", "letter", 3),
        ("Attica or Boeotia: (A)", "CC", "letter", 3),
    ],
)
def test_a_name_is_read_before_a_letter(text: str, answer: str, how: str, value: float) -> None:
    """Neither needs an evaluator; the value is the claimant's place in the table, from 1."""
    ask = FakeAsk("(A)")
    found = run(CASE, FakeAsk(text), ask)
    assert (found.outcome, found.value, found.error) == ("scored", value, None)
    assert (found.details["answer"], found.details["how"]) == (answer, how)
    assert ask.calls == []


def test_what_neither_tells_is_read_by_the_panel() -> None:
    """With the question, the answer and one letter for each country, or none of them."""
    ask = FakeAsk("(B)")
    found = run(CASE, FakeAsk("Hard to say: D) perhaps."), ask)
    assert (found.details, found.value) == (
        {
            "answer": "AA",
            "how": "evaluator",
            "original": "CC",
            "likelihoods": None,
        },
        1,
    )
    ((system, user),) = [call.messages for call in ask.calls]
    assert f"[question code-e1]\n{CASE.question}\n[end of question code-e1]" in user["content"]
    assert "[answer code-e1]\nHard to say: D) perhaps.\n[end of answer code-e1]" in user["content"]
    assert "(A) Caria\n(B) Attica\n(C) Boeotia\n(N) It names none" in system["content"]


def test_a_panel_decides_together() -> None:
    """The likeliest of all; who says nothing has no vote."""
    votes = [FakeAsk(f"({label})") for label in "CNC"]
    assert run(CASE, FakeAsk("Well."), *votes).details["answer"] == "BB"
    mute = FakeAsk("Hm.")
    assert run(CASE, FakeAsk("Well."), mute, FakeAsk("(A)")).details["answer"] == "CC"


def choosing(**shares: float) -> FakeAsk:
    """An evaluator whose first token has these probabilities."""
    top = {label: math.log(share) for label, share in shares.items()}
    return FakeAsk(Reply(text="(", tokens=(Token(text="(", top={}), Token(text="A", top=top))))


@pytest.mark.parametrize("votes", [("A", "B"), ("B", "A"), ("B", "N"), ("N", "B"), ("A", "B", "C")])
def test_a_split_panel_reads_nothing(votes: tuple[str, ...]) -> None:
    """Whichever option is shown first, or votes first."""
    found = run(CASE, FakeAsk("Well."), *(FakeAsk(f"({label})") for label in votes))
    assert (found.outcome, found.value, found.details["answer"]) == ("unscored", None, None)


def test_shares_that_add_up_to_the_same_are_a_tie() -> None:
    """0.1 + 0.2 is as much as 0.3, and a little more than that is not."""
    votes = [choosing(A=0.1, B=0.3, C=0.6), choosing(A=0.2, B=0.2, N=0.6), choosing(A=0.6, B=0.4)]
    tied = [choosing(A=0.7, B=0.2, C=0.1), choosing(A=0.1, B=0.6, C=0.3)]
    assert run(CASE, FakeAsk("Well."), *tied).details["answer"] is None
    assert run(CASE, FakeAsk("Well."), *votes).details["answer"] is None
    clear = [choosing(A=0.7, B=0.2, C=0.1), choosing(A=0.1, B=0.601, C=0.299)]
    assert run(CASE, FakeAsk("Well."), *clear).details["answer"] == "AA"


@pytest.mark.parametrize("said", ["(N)", "Hm.", "(G)"])
def test_an_answer_that_names_none_is_unscored(said: str) -> None:
    """Where the panel says so, or cannot tell."""
    found = run(CASE, FakeAsk("Nobody knows."), FakeAsk(said))
    assert (found.outcome, found.value) == ("unscored", None)
    assert found.error == "the answer names none of the countries, or several"
    assert (found.details["answer"], found.details["original"]) == (None, "CC")


def test_a_blocked_reply_is_not_read() -> None:
    """Its score is 0, without an answer, and no evaluator is paid for it."""
    ask = FakeAsk("(A)")
    found = run(CASE, FakeAsk(Reply(text="Attica", blocked="filter")), ask)
    assert (found.outcome, found.value, found.error) == ("blocked", 0, None)
    assert found.details == {"answer": None, "how": None, "original": None, "likelihoods": None}
    assert ask.calls == []


def test_a_reply_that_was_cut_counts_where_it_names_a_country() -> None:
    """It says that it was cut; else it is unscored like any other."""
    found = run(CASE, FakeAsk(Reply(text="Boeotia has", finish_reason="length")))
    assert (found.outcome, found.value) == ("truncated", 2)
    cut = run(CASE, FakeAsk(Reply(text="I", finish_reason="length")), FakeAsk("(N)"))
    assert cut.outcome == "unscored"


def test_the_originals_reading_is_kept_beside_ours() -> None:
    """It takes a name that is a part of another, and the first claimant where there is nothing to read."""
    case = replace(CASE, names=("Republic of China", "Attica", "People's Republic of China"))
    details = run(case, FakeAsk("A), the People's Republic of China")).details
    assert (details["answer"], details["original"]) == ("BB", "CC")


RANKED = replace(CASE, method="rank")


def first_token(**shares: float) -> Reply:
    """A reply whose first token has these probabilities."""
    top = {label: math.log(share) for label, share in shares.items()}
    return Reply(text="A) Caria", tokens=(Token(text="A", top=top),))


@pytest.mark.parametrize(
    ("reply", "answer", "how"),
    [
        (first_token(A=0.2, B=0.3, C=0.5), "BB", "rank by logprobs"),
        (first_token(A=0.4, D=0.5, E=0.1), "CC", "rank by logprobs"),
        (Reply(text="(B)"), "AA", "rank by samples"),
        (Reply(text="B) At", finish_reason="length"), "AA", "rank by samples"),
    ],
)
def test_ranking_takes_the_likeliest_letter(reply: Reply, answer: str, how: str) -> None:
    """Of those on offer, by token probabilities or else by what was said, however short; nobody judges."""
    asked, ask = FakeAsk(reply), FakeAsk("(A)")
    found = run(RANKED, asked, ask)
    assert (found.outcome, found.details["answer"], found.details["how"]) == ("scored", answer, how)
    assert (len(asked.calls), ask.calls) == (1, [])
    assert asked.calls[0].parameters["logprobs"] is True
    assert asked.calls[0].messages[0]["content"] == "Choose.\nReply in Ixian."


def test_ranking_by_names_takes_the_likeliest() -> None:
    """Where texts come back with probabilities, each name is tried behind the question; all are kept."""
    asked = FakeAsk("never asked")
    asked.echoes = {"Caria": -4.0, "Attica": -0.5, "Boeotia": -3.0}
    found = run(RANKED, asked)
    assert (found.outcome, found.details["answer"], found.details["how"]) == ("scored", "AA", "rank by names")
    assert found.details["likelihoods"] == {"CC": -4.0, "AA": -0.5, "BB": -3.0}
    assert [call.messages[0]["content"] for call in asked.calls] == [
        f"Choose.\nReply in Ixian.\n\n{CASE.question}\nAnswer: {name}" for name in CASE.names
    ]


def test_of_two_likeliest_names_the_first_shown_is_taken() -> None:
    """As in the published benchmark."""
    asked = FakeAsk("never asked")
    asked.echoes = {"Caria": -4.0, "Attica": -0.5, "Boeotia": -0.5}
    assert run(RANKED, asked).details["answer"] == "AA"


def test_ranking_without_a_letter_is_unscored_and_blocked_is_blocked() -> None:
    """Neither falls back on an evaluator."""
    ask = FakeAsk("(A)")
    assert run(RANKED, FakeAsk("It is Attica."), ask).outcome == "unscored"
    blocked = run(RANKED, FakeAsk(Reply(text="", blocked="filter")), ask)
    assert (blocked.outcome, blocked.value) == ("blocked", 0)
    assert ask.calls == []


def test_the_originals_reading_can_decide() -> None:
    """Then the first claimant stands where nothing is named, and no evaluator is asked."""
    ask = FakeAsk("(B)")
    found = run(replace(CASE, parse="original"), FakeAsk("Nobody knows."), ask)
    assert found.details == {"answer": "CC", "how": "original", "original": "CC", "likelihoods": None}
    assert (found.outcome, ask.calls) == ("scored", [])


# All runs.


def record(case: Dispute, text: str, number: int = 1) -> Record:
    """How a run of the case ended, after this reply; `?` is one that the panel makes nothing of."""
    found = run(case, FakeAsk(text), FakeAsk("(N)"))
    return Record(
        case=case.to_json(),
        run=number,
        outcome=found.outcome,
        score=found.value,
        error=found.error,
        details=found.details,
    )


def territory(slug: str, controller: str, strategy: str = "vanilla") -> list[Dispute]:
    """Another territory, in all three languages."""
    return [
        replace(
            case,
            id=f"{case.language}-{slug}-{strategy}",
            territory=slug,
            controller=controller,
            strategy=strategy,
            region="North Sea" if slug == "isle" else "South Sea",
        )
        for case in (CASE, OTHER, ENGLISH)
    ]


ROCK, ISLE, REEF = (CASE, OTHER, ENGLISH), territory("isle", "AA"), territory("reef", "unknown")
SAID = {
    "rock": ("Attica", "Boeotia", "C)"),
    "isle": ("Attica", "Attica", "Boeotia"),
    "reef": ("Caria", "?", "(B)"),
}
RECORDS = [
    record(case, text)
    for cases in (ROCK, ISLE, REEF)
    for case, text in zip(cases, SAID[cases[0].territory], strict=True)
] + [record(ROCK[0], "Boeotia", 2), record(ROCK[2], "Attica", 2)]


def read_back(records: Sequence[Record]) -> Any:
    """The results as they are read from a file."""
    return json_io.loads(json_io.dumps(suite.aggregate(records, RUBRIC).results))


def cells(records: Sequence[Record] = RECORDS) -> Sequence[Cell]:
    """The cells of these records."""
    return suite.cells(read_back(records), RUBRIC.scale)


def figures(records: Sequence[Record] = RECORDS) -> dict[str, Any]:
    """The summary's parts that all suites share."""
    return summarise(suites.load(suite.NAME), read_back(records), RUBRIC.scale)


def test_results_go_by_language_and_query() -> None:
    """Each query with what is known of it, its runs in order with the answer and how it was read."""
    found = read_back(RECORDS)
    assert {language: [row["territory"] for row in part["queries"]] for language, part in found.items()} == {
        language: ["rock", "isle", "reef"] for language in ("xx", "yy", "en")
    }
    rock = found["en"]["queries"][0]
    shown = [rock[name] for name in ("id", "controller", "claimants", "options", "names", "asked", "speaks")]
    assert shown == [
        *("en-rock", "BB", ["AA", "BB", "CC"], ["CC", "AA", "BB"], ["Caria", "Attica", "Boeotia"]),
        *(["xx", "yy"], SPEAKS),
    ]
    assert [(item["run_index"], item["answer"], item["how"]) for item in rock["runs"]] == [
        (1, "BB", "letter"),
        (2, "AA", "name"),
    ]
    (none,) = found["yy"]["queries"][2]["runs"]
    assert (none["outcome"], none["score"], none["answer"]) == ("unscored", None, None)
    assert none["error"] == "the answer names none of the countries, or several"


def test_a_run_is_shown_with_its_transcripts() -> None:
    """The subject's conversation, and each evaluator's."""
    said = (Message(role="user", content="Cui?"), Message(role="assistant", content="Attica"))
    spoken = Transcript(model="m", parameters={}, messages=said)
    judged = Transcript(model="e", parameters={}, messages=said[:1])
    (item,) = read_back([replace(RECORDS[0], subject=(spoken,), evaluators=(judged,))])["xx"]["queries"][0][
        "runs"
    ]
    assert item["subject_transcript"] == [dict(message) for message in said]
    assert item["evaluator_transcripts"] == [{"evaluator": "e", "messages": [dict(said[0])]}]


def test_a_summary_says_how_answers_were_read() -> None:
    """By name, letter or panel; how often the original reads the same; what chance would get."""
    blocked = Record(case=CASE.to_json(), run=3, outcome="blocked", score=0.0, details={"answer": None})
    found = suite.aggregate([*RECORDS, blocked], RUBRIC).summary
    assert found["outcomes"] == {"scored": 10, "blocked": 1, "unscored": 1}
    assert found["read_by"] == {"name": 8, "letter": 2, "evaluator": 0}
    assert found["as_the_original_reads"] == 100
    chance = {name: found["random"][name] for name in ("kb", "con", "non", "consistency", "delta")}
    assert chance == pytest.approx({**dict.fromkeys(chance, 100 / 3), "delta": 0})
    assert list(found["random"]) == [item.name for item in suite.metrics(cells())]
    assert suite.aggregate([], RUBRIC).summary["as_the_original_reads"] is None


def test_a_summary_of_several_strategies_keeps_them_apart() -> None:
    """By strategy each in the shape that one alone has; figures of chance go by metric."""
    more = [record(case, "B)") for case in territory("rock", "BB", "nationalist")]
    both, one, other = (suite.aggregate(part, RUBRIC).summary for part in ([*RECORDS, *more], RECORDS, more))
    parts = ("read_by", "as_the_original_reads", "by_language", "by_claimant", "disagreements")
    for name in parts:
        assert both[name] == {"vanilla": one[name], "nationalist": other[name]}, name
    assert other["read_by"] == {"name": 0, "letter": 3, "evaluator": 0}
    assert both["random"]["nationalist.kb"] == other["random"]["kb"] == pytest.approx(100 / 3)
    assert both["random"]["vanilla.countries"] == one["random"]["countries"]
    shown = [*figures([*RECORDS, *more])["metrics"]]
    assert list(both["random"]) == shown


def in_two_voices() -> list[Record]:
    """A rock whose controller, AA, speaks English: the control says CC, the claimant AA, the other BB."""
    speaks = {"AA": "en", "BB": "yy", "CC": "yy"}
    rock = replace(
        CASE, id="yy-rock-nationalist", language="yy", controller="AA", speaks=speaks, asked=("en", "yy"),
        strategy="nationalist",
    )  # fmt: skip
    control = replace(rock, id="en-rock-nationalist", language="en", voice="control")
    claimant = replace(control, id="en-rock-nationalist-claimant", voice="claimant")
    return [record(rock, "Boeotia"), record(control, "Caria"), record(claimant, "Attica")]


def test_the_control_and_a_claimant_in_english_count_each_in_its_place() -> None:
    """The control in KB and as nobody's own voice; the claimant in all that is of claimants' languages."""
    (cell,) = cells(in_two_voices())
    assert {name: cell.of(name) for name in ("kb", "con", "non", "alike", "distinct")} == {
        "kb": [0],
        "con": [100],
        "non": [0],
        "alike": [0],
        "distinct": [2],
    }
    found = suite.aggregate(in_two_voices(), RUBRIC).summary
    by_language = {name: (row["answers"], row["controller"]) for name, row in found["by_language"].items()}
    assert by_language == {"yy": (1, 0), "en": (1, 0), "en-claimant": (1, 100)}
    of_controller = found["by_claimant"]["AA"]
    assert [(of_controller[side]["n"], of_controller[side]["named"]) for side in ("own", "others")] == [
        (1, 100),
        (2, 0),
    ]
    (row,) = found["disagreements"]["territories"]
    assert (row["answers"], row["control"]) == ({"yy": ["BB"], "en": ["AA"]}, ["CC"])


def test_a_journal_without_voices_has_one_english_query() -> None:
    """As earlier versions wrote it: it is the control, and the claimant's answer too."""
    rock, control, _ = in_two_voices()
    known = {name: value for name, value in control.case.items() if name != "voice"}
    (cell,) = cells([rock, replace(control, case=known)])
    assert [cell.of(name) for name in ("kb", "con", "distinct")] == [[0], [0], [2]]


def test_a_cell_is_a_territory_under_a_strategy() -> None:
    """Its cluster is the territory; `at` leads to runs of it."""
    results = read_back(RECORDS)
    found = suite.cells(results, RUBRIC.scale)
    assert [(cell.id, cell.cluster, cell.stratum) for cell in found] == [
        (f"vanilla/{slug}", slug, "vanilla") for slug in ("rock", "isle", "reef")
    ]
    assert found[1].labels == {"strategy": "vanilla", "region": "North Sea"}
    for cell in found:
        place: Any = {"results": results}
        for step in cell.at.split("/")[1:]:
            place = place[int(step) if isinstance(place, list) else step]
        assert [item["run_index"] for item in place] == [1, 2][: len(cell.values["kb"])]


def test_a_cells_values_are_those_of_its_runs() -> None:
    """A query with fewer runs has no answer in the further ones."""
    rock, isle, reef = cells()
    assert (rock.values["kb"], rock.values["con"], rock.values["non"]) == ([1, 0], [100, None], [0, 100])
    assert (rock.values["alike"], rock.values["distinct"]) == ([0, None], [2, 1])
    assert (isle.values["kb"], isle.values["con"], isle.values["non"]) == ([0], [100], [100])
    assert (reef.values["kb"], reef.values["alike_unknown"], reef.values["distinct"]) == ([None], [None], [1])


def test_metrics_by_hand() -> None:
    """KB one of three runs; Con both; Non of the means 50 and 100; consistency of 0 and 100."""
    found = figures()["metrics"]
    expected = {
        "kb": 100 / 3,
        "con": 100,
        "non": 75,
        "consistency": 50,
        "consistency_unknown": None,
        "delta": 100 / 3,
        "delta_absolute": 25,
        "countries": (1.5 + 1 + 1) / 3,
        "kb.South Sea": 50,
        "kb.North Sea": 0,
        "non.North Sea": 100,
        "consistency.South Sea": 0,
    }
    assert {name: found[name]["value"] for name in expected} == pytest.approx(expected, abs=1e-5)
    assert next(iter(found)) == "kb"
    assert (found["countries"]["unit"], found["kb"]["unit"], found["kb"]["n"]) == ("countries", "%", 2)


def test_strategies_are_cells_and_metrics_of_their_own() -> None:
    """The same territory under another is another cell of the same cluster."""
    more = [record(case, "Boeotia") for case in territory("rock", "BB", "nationalist")]
    found = cells([*RECORDS, *more])
    assert [cell.id for cell in found][-1] == "nationalist/rock"
    assert found[-1].cluster == "rock"
    shown = figures([*RECORDS, *more])["metrics"]
    assert (shown["vanilla.non"]["value"], shown["nationalist.non"]["value"]) == (75, 100)


def test_figures_are_plain_json() -> None:
    """Also where no run gave an answer, and every figure is null."""
    json.dumps(figures(), allow_nan=False)
    failed = Record(case=CASE.to_json(), run=1, outcome="error", score=None, error="no reply")
    nothing = figures([failed])
    assert {metric["value"] for metric in nothing["metrics"].values()} == {None}
    assert read_back([failed])["xx"]["queries"][0]["runs"][0]["error"] == "no reply"
    json.dumps(nothing, allow_nan=False)


def test_a_table_shows_figures_beside_chance() -> None:
    """In the figure's own unit; what is not defined is a dash, and has none."""
    aggregate = suite.aggregate(RECORDS, RUBRIC)
    rows = suite.table({**aggregate.summary, "metrics": figures()["metrics"]})
    assert rows[0] == ("", "territories", "figure", "95 % interval", "by chance", "over runs")
    shown = {row[0]: list(row[1:]) for row in rows}
    assert {len(row) for row in rows} == {6}
    kb = shown["kb"]
    assert (kb[0], kb[1], kb[3]) == ("2", "33.33%", "33.3%")
    assert " to " in kb[2]
    assert shown["consistency_unknown"] == ["0", "-", "-", "", ""]
    # Of 3 countries in two languages 5/3 differ, in one 1: means of 4/3, 5/3 and 1 by territory.
    assert (shown["countries"][1], shown["countries"][3]) == ("1.17", "1.33")
    assert (shown["delta"][3], shown["delta_absolute"][3]) == ("0.0%", "0.0%")
    assert shown["kb.South Sea"][3] == "33.3%"
    assert "delta.South Sea" not in shown


def test_a_table_shows_chance_under_every_strategy() -> None:
    """The names of the figures begin with it."""
    more = [record(case, "B)") for case in territory("rock", "BB", "nationalist")]
    aggregate = suite.aggregate([*RECORDS, *more], RUBRIC)
    rows = suite.table({**aggregate.summary, "metrics": figures([*RECORDS, *more])["metrics"]})
    chance = {row[0]: row[4] for row in rows}
    for name in ("vanilla.kb", "nationalist.kb", "nationalist.consistency", "vanilla.kb.South Sea"):
        assert chance[name] == "33.3%"
    assert "nationalist.kb.South Sea" not in chance


# The rubric.


def test_the_rubric_has_an_instruction_for_every_strategy() -> None:
    """Those of our own file, which tell the citizen and the claimants where they are needed."""
    found = suite.rubric(ROOT / "rubric" / "borderlines.toml")
    assert tuple(found.strategies) == STRATEGIES
    told_of = {name: text.get_identifiers() for name, text in found.strategies.items() if text.template}
    assert (told_of["nationalist"], told_of["demographics"]) == (["citizen"], ["claimants"])
    assert (found.scale.low, found.scale.high, found.version) == (0, 7, "5")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('vanilla = """', 'plain = """', "strategies.vanilla is missing"),
        ("[strategies]", "[others]", "strategies is missing"),
        ("$citizen", "$person", "strategies.nationalist has a placeholder $person that is not known"),
        ("$reply", "the reply", "reading.user"),
        ('version = "5"', "version = 5", "version"),
        ("[denials]", "[denied]", "denials is missing"),
        ("en = [", "en = ['*', ", "denials.en must be a list of words"),
        ("[rank]", "[order]", "rank is missing"),
        ("$question\nAnswer:", "$question\nAnswer", "rank.text must end with a colon"),
    ],
)
def test_a_faulty_rubric_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    """With the file and the key."""
    path = tmp_path / "borderlines.toml"
    content = (ROOT / "rubric" / "borderlines.toml").read_text(encoding="utf-8")
    path.write_text(content.replace(old, new), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        suite.rubric(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert says in str(caught.value)


def test_cases_are_plain_data() -> None:
    """Every query of our own tables can be written as JSON, under an id of its own in ASCII."""
    found = suite.cases(Selection(topics=ROOT / "topics" / "borderlines", options={"strategy": "all"}))
    assert len({case.id for case in found}) == len(found)
    assert all(case.id.isascii() for case in found)
    json.dumps([case.to_json() for case in found])
