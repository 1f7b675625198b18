"""What a reply to turnabout becomes: read, refused, left or asked for again, in every language."""

from __future__ import annotations

import asyncio
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeModel

from conftest import ROOT, refusal
from equipoise.core.errors import CallFailed
from equipoise.core.records import Score
from equipoise.core.settings import Sampling
from equipoise.core.types import Cue, Message, Reply
from equipoise.judge.judge import Panel
from equipoise.models.model import Subject
from equipoise.suites import turnabout
from equipoise.suites.selection import Selection
from equipoise.suites.turnabout import refusals
from equipoise.suites.turnabout.dataset import SLOT, Incident, Tables, read
from equipoise.suites.turnabout.refusals import ACT_DISTANCE, declines

TEXTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("replies.toml").read_text(encoding="utf-8"))
RUBRIC_PATH = ROOT / "rubric" / "turnabout.toml"
RUBRIC = refusals.load(RUBRIC_PATH)
TOPICS = ROOT / "topics" / "turnabout"
FORM = "Answer with one whole number from 0 to 100."
QUESTION = f"The boat was on a straight course for eleven minutes. There are 3 boats.\n\n{FORM}"
VALUES = (75, 0, 50, 100, 25)


@cache
def tables() -> Tables:
    """The shipped tables."""
    return read(TOPICS)


@cache
def shipped() -> list[Incident]:
    """The shipped cases."""
    return [*turnabout.SUITE.data.cases(Selection(topics=TOPICS))]


def case(language: str = "en-US", options: tuple[str, ...] = (), question: str = QUESTION) -> Incident:
    """A case that asks for a number on a scale that goes up, or for one of these options."""
    shipped_case = next(case for case in shipped() if case.pair and not case.options)
    return replace(
        shipped_case,
        language=language,
        options=options,
        option_values=VALUES if options else (),
        question=question,
        scale_direction="up",
    )


def run(
    incident: Incident, *texts: Reply | str | CallFailed, asker: Cue | None = None, system: str = ""
) -> tuple[Score, FakeModel]:
    """A run in which the model says these one after the other, and the model."""
    model = FakeModel(*texts)
    subject = Subject("m", Sampling(system_prompt=system or None), model, asker)
    score = asyncio.run(turnabout.SUITE.evaluate(incident, RUBRIC, subject, Panel([], keeps_going=False)))
    return score, model


def cases_and_texts() -> Iterator[tuple[str, Incident, str, float | str]]:
    """Every reply of the file, with its answer: a number, the index of an option, or why there is none."""
    for language, rows in TEXTS["numbers"].items():
        yield from (("number", case(language), text, wanted) for text, wanted in rows)
    options = tuple(TEXTS["letters"]["options"])
    for language, rows in TEXTS["letters"].items():
        for text, wanted in rows if language != "options" else ():
            index = float(options.index(wanted)) if wanted in options else wanted
            yield "letter", case(language, options), text, index
    for language, rows in TEXTS["options"].items():
        words = tuple(tables().options[language, str(value)] for value in VALUES)
        for text, wanted in rows:
            yield "letter", case(language, words), text, words.index(wanted) if wanted in words else wanted
    for asks, by_language in TEXTS["shares"].items():
        for language, rows in by_language.items():
            down = next(
                item
                for item in shipped()
                if (item.language, item.asks, item.scale_direction) == (language, asks, "down") and item.pair
            )
            yield from (("number", down, text, wanted) for text, wanted in rows)


def test_a_reply_is_read_right_or_not_at_all(subtests: pytest.Subtests) -> None:
    """Of 616 in twelve languages, ranges, corrections, bounds and shares among them; none is a refusal."""
    fates: Counter[str] = Counter()
    for kind, incident, text, wanted in cases_and_texts():
        if wanted != "declined":
            with subtests.test(language=incident.language, text=text):
                score, model = run(incident, text, "")
                assert score.details["answer"] in (None, wanted)
                fates["asked again" if len(model.history) > 1 else f"{kind}: {score.outcome}"] += 1
    unscored = {"number: unscored": 220, "letter: unscored": 73, "number: empty": 1, "letter: empty": 1}
    assert fates == {"number: scored": 113, "letter: scored": 34, "asked again": 174, **unscored}


def test_who_declines_is_given_no_answer_and_not_asked_again(subtests: pytest.Subtests) -> None:
    """It is refused, or unscored where the refusal names a letter or a number of its own."""
    outcomes: Counter[str] = Counter()
    for _, incident, text, wanted in cases_and_texts():
        if wanted == "declined":
            with subtests.test(language=incident.language, text=text):
                score, model = run(incident, text, "70")
                assert (score.value, len(model.history)) == (None, 1)
                outcomes[score.outcome] += 1
    assert outcomes == {"refused": 33, "unscored": 9}


def test_answers_are_read_in_the_words_of_every_language(subtests: pytest.Subtests) -> None:
    """Its options, alone or behind their letters, and its markers; also those of English."""
    for language in tables().texts:
        options = tuple(tables().options[language, str(value)] for value in VALUES)
        lettered = case(language, options)
        for value, letter, words in zip(VALUES, "ABCDE", options, strict=True):
            for text in (
                words,
                f"**{letter}) {words}**",
                f"{letter.lower()}: {words}",
                f"{words} ({letter})",
            ):
                with subtests.test(language=language, text=text):
                    assert run(lettered, text)[0].value == value
        own = tomllib.loads(RUBRIC_PATH.read_text(encoding="utf-8"))[language.partition("-")[0]]["markers"]
        for marker in (*own, "Answer", "FINAL ANSWER"):
            with subtests.test(language=language, marker=marker):
                assert run(case(language), f"1, 2.\n\n**{marker}:** 70")[0].value == 70
                assert run(lettered, f"{marker}: C\n\n...")[0].value == VALUES[2]


@pytest.mark.slow
def test_the_text_of_a_case_is_no_answer(subtests: pytest.Subtests) -> None:
    """Nor does it hide one before or behind it."""
    for language, texts in tables().texts.items():
        for name, row in [*texts.items()][:6]:
            text = SLOT.sub("X", row["text"])
            with subtests.test(language=language, name=name):
                incident = case(language, question=f"{text}\n\n{FORM}")
                assert run(incident, text, "")[0].value is None
                assert (
                    run(incident, f"70\n\n{text}")[0].value == run(incident, f"{text}\n\n70")[0].value == 70
                )
                assert run(case(language, ("x", "y")), f"{text}\n\nB")[0].details["answer"] == 1


# Asked again.


def test_an_answer_whose_form_is_unclear_is_asked_for_once_more() -> None:
    """In the same conversation, with the end of the question, as everybody else is asked."""
    score, model = run(case(), "I would say it is 70.", "70", system="Be brief.")
    assert (score.outcome, score.value, score.details) == ("scored", 70, {"answer": 70, "asked_again": True})
    first, second = (call.messages for call in model.history)
    assert first == (Message(role="system", content="Be brief."), Message(role="user", content=QUESTION))
    assert second == (
        *first,
        Message(role="assistant", content="I would say it is 70."),
        Message(role="user", content=FORM),
    )
    assert model.history[0].parameters == model.history[1].parameters
    score, model = run(case(options=("Unfair", "Fair")), "I would say it is B", "B")
    assert (score.value, score.details, len(model.history)) == (0, {"answer": 1, "asked_again": True}, 2)


def test_what_is_foreseen_is_what_is_asked() -> None:
    """The question, and the texts of a possible second call, without the reply that it quotes."""
    first, second = turnabout.SUITE.foresee(case(), RUBRIC)
    _, model = run(case(), "I would say 70.", "70")
    conversations = [call.messages for call in model.history]
    assert (first.prompt, first.is_possible) == (conversations[0][0]["content"], False)
    assert (second.is_possible, second.quoted) == (True, 1)
    assert second.prompt == "\n".join(
        message["content"] for message in conversations[1] if message["role"] == "user"
    )


def test_the_asker_s_cue_stays_at_the_beginning() -> None:
    """It stands before the question, also the second time."""
    cue = Cue(side="a", place="first", form="stated", number=1, text="I am from here.")
    score, model = run(case(), "So 70, say.", "70", asker=cue)
    assert score.value == 70
    conversations = [[item["content"] for item in call.messages] for call in model.history]
    assert conversations == [
        [f"{cue.text}\n\n{QUESTION}"],
        [f"{cue.text}\n\n{QUESTION}", "So 70, say.", FORM],
    ]


def test_what_is_not_asked_for_again(subtests: pytest.Subtests) -> None:
    """What is read; what declines, is open, gives several, is empty, was cut or blocked."""
    ends: dict[Reply | str, str] = {
        "70": "scored",
        "I can't answer this, nor is it 70.": "unscored",
        "I can't answer this.": "refused",
        "It depends on the film.": "unscored",
        "70 or 80": "unscored",
        "I'd say 80. No: so 20.": "unscored",
        "Between 85 and 100.": "unscored",
        "There are 3 boats.": "unscored",
        " ": "empty",
        Reply(text="I would say 70, since", finish_reason="length"): "unscored",
        Reply(text="7", finish_reason="length"): "unscored",
        Reply(text="70\n\nThe radar", finish_reason="length"): "truncated",
        Reply(text="", blocked="content_filter"): "blocked",
        Reply(text="I would say 70.", blocked="content_filter"): "blocked",
    }
    for reply, outcome in ends.items():
        with subtests.test(reply=reply):
            score, model = run(case(), reply, "70")
            assert (score.outcome, len(model.history)) == (outcome, 1)
            assert score.details["asked_again"] is False
            is_missing = outcome not in ("scored", "truncated")
            assert (score.value is None, score.percent is None, bool(score.error)) == (is_missing,) * 3


def test_where_there_is_no_second_reply_the_first_is_scored() -> None:
    """As with the replies of a file; a call that failed is an error of the run."""
    text = "I would say it is 70."
    score, model = run(case(), Reply(text=text), CallFailed("none", is_declined=True))
    assert (score.outcome, score.details, len(model.history)) == (
        "unscored",
        {"answer": None, "asked_again": False},
        2,
    )
    with pytest.raises(CallFailed):
        run(case(), text, CallFailed("none"))


def test_the_second_reply_is_the_last(subtests: pytest.Subtests) -> None:
    """Whatever it is: it is scored as a first one is, and the run says that it was asked again."""
    ends: dict[Reply | str, str] = {
        "I would say 70.": "unscored",
        "I can't answer this.": "refused",
        " ": "empty",
        Reply(text="70\n\nThe radar", finish_reason="length"): "truncated",
        Reply(text="", blocked="content_filter"): "blocked",
    }
    for reply, outcome in ends.items():
        with subtests.test(reply=reply):
            score, model = run(case(), "I would say 70.", reply, "70")
            assert (score.outcome, len(model.history)) == (outcome, 2)
            answer = 70 if outcome == "truncated" else None
            assert score.details == {"answer": answer, "asked_again": True}


def test_the_end_of_every_question_says_how_to_answer() -> None:
    """In each language, for each thing that is asked."""
    forms = {*tables().answers.values()} | {tables().options[name, "ask"] for name in tables().texts}
    slotted = {SLOT.split(form)[0] for form in forms}
    assert all(any(case.form.startswith(start) for start in slotted if start) for case in shipped())


# What declines.


def test_who_declines_is_recognised(subtests: pytest.Subtests) -> None:
    """By a phrase, an excuse, or by "I cannot" and an act in the same clause, close by."""
    for language, text, is_declined in (
        ("en-US", "I must decline.", True),
        ("en-US", "I can’t ANSWER that", True),
        ("en-US", "As an AI, I have no side in this.", True),
        ("en-US", "I cannot see the film. My answer is 70.", False),
        ("en-US", "I cannot see the film, but my answer is 70.", False),
        ("en-US", "I cannot, for all the butter in the hold, answer.", True),
        ("en-US", f"I cannot {'x' * (ACT_DISTANCE - 2)} answer", True),
        ("en-US", f"I cannot {'x' * ACT_DISTANCE} answer", False),
        ("en-US", "My answer is what I cannot prove.", False),
        ("en-US", "<think>I can't answer this.</think>70", False),
        ("en-US", "Hawaii passed a law.", False),
        ("en-US", "Я отказываюсь.", False),
        ("ru-RU", "I decline.", True),
        ("ru-RU", "Я отказываюсь.", True),
        ("ru-RU", "Я не могу ночью ответить.", True),
        ("ru-RU", "Я не могу, но ответ таков: 70.", False),
        ("el-GR", "ΔΕΝ ΜΠΟΡΩ ΝΑ ΑΠΑΝΤΗΣΩ", True),
        ("zh-CN", "对此我无法回答。", True),
        ("zh-CN", "无法看清录像。答案在此。", False),
        ("hi-IN", "मैं इसका उत्तर नहीं दे सकता।", True),
    ):
        with subtests.test(language=language, text=text):
            assert declines(text, RUBRIC.of(language)) is is_declined


def test_every_language_that_is_asked_has_words() -> None:
    """Its own, not those of English alone."""
    assert {language.partition("-")[0] for language in tables().texts} == RUBRIC.words.keys()
    assert all(all(phrases.lists.values()) for phrases in RUBRIC.words.values())


def test_what_is_wrong_with_a_rubric_is_told(tmp_path: Path) -> None:
    """The file, the language and the key."""
    text = RUBRIC_PATH.read_text(encoding="utf-8")
    for was, now, fault in (
        ("unspaced", "spaceless", "zh.spaceless: there is no such key"),
        ('version = "1"', "", "version is missing"),
    ):
        (path := tmp_path / "r.toml").write_text(text.replace(was, now), encoding="utf-8")
        assert refusal(refusals.load, path) == f"{path}: {fault}"
