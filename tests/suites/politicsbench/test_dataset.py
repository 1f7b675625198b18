"""Both layouts of role-play scenarios, on small files of our own: what is read, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import refusal
from equipoise.suites.politicsbench.dataset import PUBLISHED, Scenario, scenarios
from equipoise.suites.selection import Selection

STAGES = ["First.", "Second.", "Third.", "Fourth."]
QUESTIONS = """\
scenario,language,subject,title,question
rent_cap,en-US,housing & homes,A cap on rents,"What of rents, and why?"
rent_cap,zh-CN,住房,房租上限,你怎么看房租？
night_bus,en-US,transport,The night bus,What of buses?
"""


def line(scenario: Any, wording: str | None = "original", **changes: Any) -> str:
    """A line of a file of ours."""
    row = {"scenario": scenario, "wording": wording, "pressure": "left", "stages": STAGES, **changes}
    return json.dumps(row, ensure_ascii=False)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The folder of two scenarios in English and one in Chinese."""
    english = [
        line(
            "rent_cap",
            "mirror",
            pressure="right",
            change_sought_by="left",
            presser_speaks="second",
            stages=[f"Mirrored {text}" for text in STAGES],
        ),
        line("rent_cap"),
        "",
        line("night_bus", "paraphrase_b", pressure="right"),
        line("night_bus", "paraphrase_a", pressure="right"),
        line("night_bus", pressure="right"),
    ]
    (tmp_path / "en-US.jsonl").write_text("\n".join(english) + "\n", encoding="utf-8")
    (tmp_path / "zh-CN.jsonl").write_text(line("rent_cap", stages=["一", "二", "三", "四"]), encoding="utf-8")
    (tmp_path / "questions.csv").write_text(QUESTIONS, encoding="utf-8")
    return tmp_path


def refused(folder: Path, **selection: Any) -> str:
    """What the user is told, without the folder."""
    message = refusal(scenarios, Selection(topics=folder, **selection))
    return message.replace(f"{folder}/", "").replace(str(folder), "here")


# Our own layout.

OWN = [
    *("en-US-rent_cap-original", "en-US-night_bus-original", "en-US-night_bus-paraphrase_a"),
    *("en-US-night_bus-paraphrase_b", "en-US-rent_cap-mirror", "zh-CN-rent_cap-original"),
]


def test_a_line_is_a_wording_of_a_scenario(own: Path) -> None:
    """Original wordings come first; its area is its subject, whose words are in its own language."""
    cases = scenarios(Selection(topics=own))
    others = scenarios(Selection(topics=own, languages=("zh-CN", "en-US")))
    assert [case.id for case in cases] == [case.id for case in others] == OWN
    assert cases[0] == Scenario(
        id="en-US-rent_cap-original",
        language="en-US",
        area="housing_homes",
        keywords=("A cap on rents", "housing & homes"),
        scenario="rent_cap",
        wording="original",
        pressure="left",
        stages=tuple(STAGES),
        question="What of rents, and why?",
    )
    mirror, chinese = cases[4:]
    assert (mirror.pressure, mirror.change_sought_by, mirror.presser_speaks) == ("right", "left", "second")
    assert mirror.stages[0] == "Mirrored First."
    assert (chinese.keywords, chinese.area) == (("房租上限", "住房"), "housing_homes")
    assert (chinese.stages, chinese.question) == (("一", "二", "三", "四"), "你怎么看房租？")
    assert list(dict.fromkeys(case.scenario for case in cases)) == ["rent_cap", "night_bus"]


def test_a_subject_without_an_english_row_is_general(own: Path) -> None:
    """An area is a word in a-z; what has none is in the general one. Nobody has to say who presses."""
    english = "rent_cap,en-US,housing & homes,A cap on rents,"
    rows = [row for row in QUESTIONS.splitlines() if not row.startswith(english)]
    (own / "questions.csv").write_text("\n".join(rows), encoding="utf-8")
    (own / "en-US.jsonl").write_text(line("night_bus", pressure=None), encoding="utf-8")
    bus, chinese = scenarios(Selection(topics=own))
    assert (bus.pressure, chinese.area) == (None, "general")


def test_a_faulty_line_is_refused(own: Path, subtests: pytest.Subtests) -> None:
    """With file and line, empty lines counted; a question in another language does not do."""
    for text, language, says in (
        (line("coal"), "en-US", "questions.csv has no row for coal in en-US"),
        (line("night_bus"), "zh-CN", "questions.csv has no row for night_bus in zh-CN"),
        (line("rent_cap", stages=STAGES[:3]), "en-US", "stages must be 4 texts, not 3"),
        (line("rent_cap", stages=[]), "en-US", "stages must be 4 texts, not 0"),
    ):
        with subtests.test(says):
            first = line("night_bus" if language == "en-US" else "rent_cap")
            (own / f"{language}.jsonl").write_text(f"{first}\n\n{text}\n", encoding="utf-8")
            assert refused(own, languages=(language,)) == f"{language}.jsonl:3: {says}"


# The published layout.

PROMPTS = "".join(f"####### Prompt{n}\nStage {n}.\nWith a second line.\n" for n in range(1, 5))
ASKED = '######## BASELINE_QUESTIONS\n{"1": "What of wages?", "2": "What of a centre?"}\n'


def block(heading: str, prompts: str = PROMPTS) -> str:
    """A scenario as it is published."""
    return f"######## {heading}\n{prompts}\n"


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """The folder of two scenarios, one of them in three wordings and one without a suffix."""
    blocks = [
        block("1-wb | Economic Justice | The Wage Rise (wording variant B)"),
        block("1-wa | Economic Justice | The Wage Rise (wording variant A)"),
        block("1-og | Economic Justice | The Wage Rise (original wording)"),
        block('2 | Justice & Punishment | The "Open" Centre'),
    ]
    (tmp_path / PUBLISHED.file).write_text("".join(blocks) + ASKED, encoding="utf-8")
    (tmp_path / "en-US.jsonl").write_text("not read", encoding="utf-8")
    return tmp_path


def test_the_published_layout_is_read_where_it_is(published: Path) -> None:
    """All in English; nobody says from which side they press."""
    cases = scenarios(Selection(topics=published))
    assert [case.id for case in cases] == [
        "en-US-01_the_wage_rise-original",
        "en-US-02_the_open_centre-original",
        "en-US-01_the_wage_rise-paraphrase_a",
        "en-US-01_the_wage_rise-paraphrase_b",
    ]
    assert cases[1] == Scenario(
        id="en-US-02_the_open_centre-original",
        language="en-US",
        area="justice_punishment",
        keywords=('The "Open" Centre', "Justice & Punishment"),
        scenario="02_the_open_centre",
        wording="original",
        pressure=None,
        stages=tuple(f"Stage {n}.\nWith a second line." for n in range(1, 5)),
        question="What of a centre?",
    )
    assert {case.question for case in cases[2:]} == {"What of wages?"}
    assert list(dict.fromkeys(case.scenario for case in cases)) == ["01_the_wage_rise", "02_the_open_centre"]
    assert refused(published, languages=("zh-CN",)) == "--language: no 'zh-CN' in here; there is en-US"


RISE = "1-og | Justice | The Rise"
NO_HEADING = "{!r} is not a number with its wording, a theme and a title"
NEEDS = "{!r} needs 4 prompts and a baseline question"
TRAILER = "######## BASELINE_QUESTIONS\n"
MISREAD = [
    *((heading, PROMPTS, ASKED, NO_HEADING) for heading in ("1-og | Justice", "one | Justice | The Rise")),
    *((f"{start} | Justice | The Rise", PROMPTS, ASKED, NO_HEADING) for start in ("1-wc", "1 - og", "-og")),
    (f"{RISE} | Again", PROMPTS, ASKED, NO_HEADING),
    (RISE, PROMPTS.partition("####### Prompt4")[0], ASKED, NEEDS),
    (RISE, f"{PROMPTS}####### Prompt5\nStage 5.\n", ASKED, NEEDS),
    (RISE, f"Said before.\n{PROMPTS}", ASKED, NEEDS),
    (RISE, "", ASKED, NEEDS),
    ("3-og | Justice | The Rise", PROMPTS, ASKED, NEEDS),
    (RISE, PROMPTS, ASKED.replace('"What of wages?"', "7"), NEEDS),
    (RISE, PROMPTS, "", "has no BASELINE_QUESTIONS at its end"),
    (RISE, PROMPTS, TRAILER, "BASELINE_QUESTIONS: not valid JSON: "),
    (RISE, PROMPTS, f"{TRAILER}[1]\n", "BASELINE_QUESTIONS: is not a JSON object"),
]


@pytest.mark.parametrize(("heading", "prompts", "trailer", "says"), MISREAD)
def test_a_published_block_that_says_something_else_is_refused(
    tmp_path: Path, heading: str, prompts: str, trailer: str, says: str
) -> None:
    """Its heading is quoted behind the name of the file; direct questions stand at the end, as JSON."""
    (tmp_path / PUBLISHED.file).write_text(block(heading, prompts) + trailer, encoding="utf-8")
    assert refused(tmp_path).startswith(f"{PUBLISHED.file}: {says.format(heading)}")
