"""The number or the letter in a reply, in every language, and what is left unread."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, refusal
from equipoise.core.types import Reply
from equipoise.suites import turnabout
from equipoise.suites.selection import Selection
from equipoise.suites.turnabout import vocabulary
from equipoise.suites.turnabout.dataset import SLOT, read
from equipoise.suites.turnabout.reader import Reading, read_letter, read_number

REPLIES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("replies.toml").read_text(encoding="utf-8"))
RUBRIC = vocabulary.load(ROOT / "rubric" / "turnabout.toml")
QUESTION = (
    "The boat was on a straight course for eleven minutes. There are 3 boats. "
    "Answer with one whole number from 0 to 100."
)


def answer(reading: Reading) -> float | str:
    """What was read, or why nothing was."""
    return reading.how if reading.value is None else reading.value


@pytest.mark.slow
def test_a_number_is_read_in_every_language(subtests: pytest.Subtests) -> None:
    """In digits of any script and in words, alone or as the answer of a text; what is unclear is not read."""
    for language, replies in REPLIES["numbers"].items():
        for text, wanted in replies:
            with subtests.test(language=language, text=text):
                assert answer(read_number(text, RUBRIC.of(language), QUESTION)) == wanted


def test_a_share_or_a_chance_in_a_sentence_is_left_unread(subtests: pytest.Subtests) -> None:
    """Beside a side's name, or on a scale that goes down, it is no place on the scale."""
    pairs = {"en-US": "russia_ukraine"}
    cases = turnabout.SUITE.cases(Selection(topics=ROOT / "topics" / "turnabout"))
    for asks, by_language in REPLIES["shares"].items():
        for language, replies in by_language.items():
            case = next(
                case
                for case in cases
                if (case.language, case.asks, case.scale_direction) == (language, asks, "down")
                and case.pair
                and case.pair == pairs.get(language, case.pair)
            )
            for text, wanted in replies:
                with subtests.test(language=language, text=text):
                    score = turnabout.score(case, RUBRIC, Reply(text=text))
                    assert score.details["answer"] == (None if wanted == "unread" else wanted)
                    assert (score.outcome == "unscored") is (wanted == "unread")


def test_a_side_s_share_is_left_unread_whichever_way_the_scale_goes() -> None:
    """It is right of one side alone; other percentages are read where the scale goes up."""
    cases = turnabout.SUITE.cases(Selection(topics=ROOT / "topics" / "turnabout"))

    def answers(pair: str, asks: str, text: str) -> set[float | None]:
        group = [case for case in cases if (case.language, case.asks, case.pair) == ("en-US", asks, pair)]
        ups = [case for case in group if case.scale_direction == "up"]
        return {turnabout.score(case, RUBRIC, Reply(text=text)).details["answer"] for case in ups}

    assert answers("russia_ukraine", "responsibility", "Ukraine bears 15 % of it.") == {None}
    assert answers("china_taiwan", "likelihood", "It is 90% likely that they knew.") == {90}


@pytest.mark.slow
def test_a_letter_is_read_in_every_language(subtests: pytest.Subtests) -> None:
    """Whatever alphabet it is written in, or the words of an option."""
    options = REPLIES["letters"]["options"]
    for language, replies in REPLIES["letters"].items():
        for text, wanted in replies if language != "options" else ():
            with subtests.test(language=language, text=text):
                found = answer(read_letter(text, RUBRIC.of(language), options))
                assert (found if isinstance(found, str) else options[int(found)]) == wanted


def test_an_option_is_read_in_a_sentence(subtests: pytest.Subtests) -> None:
    """Whatever endings its words take, unless it is denied."""
    tables = read(ROOT / "topics" / "turnabout")
    for language, replies in REPLIES["options"].items():
        options = [tables.options[language, str(value)] for value in (75, 0, 50, 100, 25)]
        for text, wanted in replies:
            with subtests.test(language=language, text=text):
                found = answer(read_letter(text, RUBRIC.of(language), options))
                assert (found if isinstance(found, str) else options[int(found)]) == wanted


def test_a_letter_beyond_the_options_is_no_answer(subtests: pytest.Subtests) -> None:
    """However it is written; the last one of them is."""
    words, options = RUBRIC.of("en-US"), ["Unfair", "Fair"]
    for form in ("{}", "({})", "Answer: {}", "Option {}"):
        for letter, wanted in {"B": 1, "C": "unread", "Bee": 1, "Cee": "unread"}.items():
            with subtests.test(text=form.format(letter)):
                assert answer(read_letter(form.format(letter), words, options)) == wanted


@pytest.mark.slow
def test_the_text_of_a_case_is_no_answer(subtests: pytest.Subtests) -> None:
    """Not its numbers and letters, even to who does not know the question; an answer beside it is read."""
    tables = read(ROOT / "topics" / "turnabout")
    for language, texts in tables.texts.items():
        words = RUBRIC.of(language)
        for name, row in list(texts.items())[:6]:
            text = SLOT.sub("X", row["text"])
            with subtests.test(language=language, name=name):
                assert answer(read_number(text, words, "")) == "unread"
                assert answer(read_number(f"70\n\n{text}", words, "")) == 70
                assert answer(read_number(f"{text}\n\n70", words, "")) == 70
                assert answer(read_letter(f"{text}\n\nB", words, ["x", "y"])) == 1


@pytest.mark.slow
def test_every_number_in_words_is_itself(subtests: pytest.Subtests) -> None:
    """All spellings of all numbers from 0 to 100; no spelling stands for two."""
    for language, words in RUBRIC.words.items():
        with subtests.test(language):
            assert {*words.numbers.values()} == {*range(101)}
            for text, value in words.numbers.items():
                assert answer(read_number(text, [words], "")) == value, text


def test_every_language_that_is_asked_has_words() -> None:
    """Its own, not those of English alone."""
    tables = read(ROOT / "topics" / "turnabout")
    assert {language.partition("-")[0] for language in tables.texts} == RUBRIC.words.keys()


def test_how_an_answer_was_read_is_told() -> None:
    """A range by its middle, an option by its words."""
    words = RUBRIC.of("en-US")
    assert read_number("60 to 70", words, "") == (65, "range")
    assert read_letter("Mostly fair", words, ["Unfair", "Mostly fair"]) == (1, "option")
    assert read_letter("B", words, ["Unfair", "Mostly fair"]) == (1, "letter")


def test_a_long_reply_is_read_at_its_ends() -> None:
    """What lies between is not, however much it is."""
    words, filler = RUBRIC.of("en-US"), "The boats met near the reef. " * 1000
    assert answer(read_number(f"70\n\n{filler}", words, "")) == 70
    assert answer(read_number(f"{filler}\nFinal answer: 30", words, "")) == 30


def test_what_is_wrong_with_a_rubric_is_told(tmp_path: Path) -> None:
    """The file, the language and the key."""
    text = (ROOT / "rubric" / "turnabout.toml").read_text(encoding="utf-8")
    for was, now, said in (
        ('"nineteen"]', '"nineteen", "score"]', "en: needs 20 units, 0 to 19, and 8 tens, 20 to 90"),
        ("unspaced", "spaceless", "zh.spaceless: there is no such key"),
        ('numbers = ["صفر|زیرو", ', "numbers = [", "ur.numbers: has 100, not the 101 from 0 to 100"),
        ('version = "1"', "", "version is missing"),
    ):
        (path := tmp_path / "r.toml").write_text(text.replace(was, now), encoding="utf-8")
        assert refusal(vocabulary.load, path) == f"{path}: {said}"
