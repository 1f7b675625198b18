"""The page in a real browser: what it shows, finds and keeps, and that nothing a model said runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import key_facts
import pytest
import sixth_suite
from axe_playwright_python.sync_playwright import Axe
from fake_client import Project
from playwright.sync_api import Browser, Locator, expect
from regression import figures
from regression.listing import printed

import pages
from browser import CHROMIUM, Opened, chromium, opened
from conftest import SHIPPED, SMALL_DATASET
from equipoise import suites
from equipoise.report.page import page, reviews
from hostile import HostileReply, replies
from loopback import verdict

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (Debian: chromium)")
VIEWS = ("#overview", "#models", "#sides", "#lowest", "#transcripts", "#review")
ACTIVE = "#run script, #run img, #run iframe, #run object, #run svg, #run link, #run style, #run [onerror]"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with chromium() as chrome:
        yield chrome


def made_page(folder: Path, *results: Path) -> Path:
    """The page of these results."""
    made = folder / "page.html"
    page.write(made, results)
    return made


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of three models with 750 runs each."""
    folder = tmp_path_factory.mktemp("three")
    levels = {"model-a": 2.6, "model-b": 3.2, "model-c": 3.8}
    files = [
        pages.write(folder / f"{name}.json", name, questions=50, runs=5, level=level, length=1500, seed=seed)
        for seed, (name, level) in enumerate(levels.items())
    ]
    return made_page(folder, *files)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of three models with 60 runs each; the best one's name is long."""
    folder = tmp_path_factory.mktemp("small")
    levels = {"model-a": 2.6, "a-vendor/a-model-of-its-own-instruct-2026-03": 4.6, "model-c": 3.0}
    files = [
        pages.write(folder / f"{index}.json", name, level=level, seed=index)
        for index, (name, level) in enumerate(levels.items())
    ]
    return made_page(folder, *files)


PHONE = {"width": 390, "height": 844}


@pytest.mark.slow
def test_on_a_phone_figures_are_narrow_and_tables_are_cards(browser: Browser, small: Path) -> None:
    """Nothing is cut off, the best model's point least of all; each value has the head of its column."""
    with opened(browser, small, viewport=PHONE) as window:
        tab = window.page
        points = tab.locator("#overview .standings .span:not(.lean) circle").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect().right)"
        )
        assert len(points) == 3
        assert max(points) < 390
        for view in ("#overview", "#models", "#transcripts"):
            window.see(view)
            assert tab.evaluate(_CUT_OFF, view) == []
        window.see("#overview")
        card = tab.locator("#overview .cards tbody tr").nth(1)
        labels = card.locator("td").evaluate_all(
            "all => all.map(one => getComputedStyle(one, '::before').content)"
        )
        assert labels[:2] == ['"Ranks"', '"Score and 95 % interval"']
        tops = card.locator("th, td").evaluate_all("all => all.map(one => one.getBoundingClientRect().top)")
        assert len({*tops}) > 2
        expect(card.get_by_role("cell").first).to_have_text("2")


_CUT_OFF = """view => [...document.querySelectorAll(`${view} svg, ${view} table:not(details table)`)]
  .filter(one => one.checkVisibility() && one.getBoundingClientRect().right > 390)
  .map(one => one.outerHTML.slice(0, 200))"""


@pytest.mark.slow
def test_key_facts_stand_beside_the_reply(browser: Browser, project: Project) -> None:
    """Each with how it is stated, and who says what of a contested one; a question without has none."""
    facts = [key_facts.fact("q01_a", "One is 1."), key_facts.fact("q01_b", "One is <b>odd</b>.", by="Two")]
    project.write_topics({**SMALL_DATASET, "facts.toml": key_facts.written(*facts)})
    answers = {"facts": {"1": "right", "2": "left_out"}}
    project.client.script = lambda call: (
        "One is 1."
        if call.role == "subject"
        else verdict(3, **(answers if "One is 1." in call.messages[0]["content"] else {}))
    )
    project.run(runs="1")
    with opened(browser, made_page(project.root, project.results_path), "#transcripts") as window:
        tab = window.page
        tab.locator("#runs tbody a", has_text="What is one?").first.click()
        items = tab.locator(".key-facts li")
        expect(items).to_have_count(2)
        expect(items.nth(0)).to_have_text("right (settled) One is 1.")
        expect(items.nth(1)).to_have_text("left out (contested: Two) One is <b>odd</b>.")
        window.see("#transcripts")
        tab.locator("#runs tbody a", has_text="What is two?").first.click()
        expect(tab.locator(".verdict")).to_have_count(1)
        expect(tab.locator(".key-facts")).to_have_count(0)


@pytest.mark.slow
def test_a_run_has_a_view_of_its_own_and_a_way_back(browser: Browser, small: Path) -> None:
    """By the browser, by a link and by a key: to the list as it was left, with the focus on the run."""
    with opened(browser, small, "#transcripts") as window:
        tab, runs = window.page, window.page.locator("#runs tbody a")
        hrefs = runs.evaluate_all("all => all.map(one => one.getAttribute('href'))")
        focused = "document.activeElement.getAttribute('href')"
        runs.nth(30).click()
        expect(tab.locator("#runs")).to_be_hidden()
        for part in (
            ".message.assistant",
            ".verdict >> text=reasoning",
            ".ended-so >> text=/^[0-9.]+ %$/",
            ".ended-so >> text=/^level [0-9.]+ of 1 to 5/",
            ".facts >> text=the mean score of answers",
        ):
            expect(tab.locator(f"#run {part}").first).to_be_visible()
        tab.go_back()
        expect(tab.locator("#run")).to_be_hidden()
        expect(runs.nth(30)).to_be_focused()
        expect(runs.nth(30)).to_be_in_viewport()
        runs.nth(30).press("Enter")
        tab.get_by_role("link", name="Next run").click()
        expect(tab.locator(".tools .note")).to_have_text("32 of 180")
        tab.keyboard.press("j")
        expect(tab.locator(".tools .note")).to_have_text("33 of 180")
        tab.get_by_role("link", name="Back to the transcripts").click()
        expect(runs.nth(32)).to_be_focused()
        runs.nth(2).click()
        tab.locator("#run .languages a").first.click()
        expect(tab.locator("#run")).not_to_have_attribute("aria-label", f"Run {_unquoted(hrefs[2])}")
        tab.keyboard.press("Escape")
        expect(tab.locator("#runs")).to_be_visible()
        assert tab.evaluate(focused) in hrefs
        window.goto(hrefs[5])
        tab.get_by_role("link", name="Back to the transcripts").click()
        expect(tab.locator("#runs")).to_be_visible()


@pytest.mark.slow
def test_the_worst_answers_come_first(browser: Browser, small: Path, tmp_path: Path) -> None:
    """In the list and in the lowest ten, one a question; farthest from zero where neither end is better."""
    with opened(browser, small, "#transcripts") as window:
        tab = window.page
        scores = [float(text) for text in tab.locator("#runs td:nth-last-child(2)").all_inner_texts()]
        assert scores == sorted(scores)
        window.see("#lowest")
        answers = tab.locator("#lowest-runs > li")
        expect(answers).to_have_count(10)
        shown = answers.locator("dl div:first-child dd").all_inner_texts()
        lowest = [float(text.partition(" ")[0]) for text in shown]
        assert lowest == sorted(lowest)
        expect(answers.first.locator(".message, .reason")).to_have_count(3)
        tab.select_option("#lowest-result", label="model-c: Neutrality")
        expect(tab.locator("#lowest-result")).to_have_value("neutrality/model-c")
        answers.nth(3).locator("h2 a").click()
        tab.get_by_role("link", name="Back to the lowest ten").click()
        expect(answers.nth(3).locator("h2 a")).to_be_focused()
    data = json.loads((small.parent / "0.json").read_bytes())
    next(iter(data["summary"]["metrics"].values()))["higher_is_better"] = None
    (tmp_path / "even.json").write_text(json.dumps(data))
    with opened(browser, made_page(tmp_path, tmp_path / "even.json"), "#lowest") as window:
        expect(window.page.locator("#lowest h1")).to_have_text("Farthest from even: ten answers")
        shown = window.page.locator("#lowest-runs dl div:first-child dd").all_inner_texts()
        scores = [float(text.partition(" ")[0]) for text in shown]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.slow
def test_without_scores_the_lowest_answers_say_so(browser: Browser, small: Path, tmp_path: Path) -> None:
    """Of the results that are chosen, though others on the page have scores."""
    data = json.loads((small.parent / "0.json").read_bytes())
    for language in data["results"].values():
        for question in language["questions"]:
            for run in question["runs"]:
                run.update(score=None, score_percentage=None)
    data["metadata"]["subject_model"] = "model-z"
    (tmp_path / "none.json").write_text(json.dumps(data))
    page = made_page(tmp_path, small.parent / "0.json", tmp_path / "none.json")
    with opened(browser, page, "#lowest") as window:
        tab, note = window.page, window.page.get_by_text("No answer of these results has a score of its own")
        expect(tab.locator("#lowest-runs > li")).to_have_count(10)
        expect(note).to_have_count(0)
        tab.select_option("#lowest-result", label="model-z: Neutrality")
        expect(note).to_be_visible()
        expect(tab.locator("#lowest-result")).to_have_value("neutrality/model-z")
        expect(tab.locator("#lowest-runs > li")).to_have_count(0)
        expect(tab.locator("#lowest-note")).to_be_hidden()


@pytest.mark.slow
def test_a_review_takes_a_key_a_run(browser: Browser, small: Path, tmp_path: Path) -> None:
    """Twenty runs in at most 1.2 actions each, from the start to the file; with progress, undo and help."""
    count = "addEventListener({0}, event => {{ if (event.isTrusted) window.actions++; }}, true);"
    counted = "window.actions = 0;" + "".join(count.format(repr(kind)) for kind in ("keydown", "click"))
    with opened(browser, small, "#review") as window:
        tab, label = window.page, window.page.locator("#run .progress label")
        tab.evaluate(counted)
        tab.get_by_role("button", name="Start").click()
        for number in range(1, 21):
            expect(label).to_have_text(f"Run {number} of 20, {number - 1} marked")
            tab.keyboard.press("rw3"[number % 3])
        expect(tab.locator("#review-done")).to_have_text(
            "Done: 20 of 20 runs marked. Save the marks as a file."
        )
        expect(tab.locator("#save")).to_be_focused()
        with tab.expect_download() as download:
            tab.keyboard.press("Enter")
        assert tab.evaluate("window.actions") / 20 <= 1.2
        download.value.save_as(tmp_path / "reviews.json")
        marks = reviews.load(tmp_path / "reviews.json")
        assert len({mark.run + mark.model for mark in marks}) == 20
        assert {mark.score for mark in marks} == {None, 3}
        tab.get_by_role("button", name="Start").click()
        expect(label).to_have_text("Run 1 of 20, 0 marked")
        first = tab.locator("#run").get_attribute("aria-label") or ""
        tab.keyboard.press("w")
        expect(label).to_have_text("Run 2 of 20, 1 marked")
        tab.keyboard.press("u")
        expect(label).to_have_text("Run 1 of 20, 0 marked")
        expect(tab.locator("#run")).to_have_attribute("aria-label", first)
        tab.locator("#run").evaluate(_TWICE)
        expect(label).to_have_text("Run 2 of 20, 1 marked")
        tab.keyboard.press("u")
        expect(label).to_have_text("Run 1 of 20, 0 marked")
        tab.keyboard.press("?")
        expect(tab.get_by_role("dialog")).to_contain_text("the verdict is wrong")
        tab.keyboard.press("w")
        tab.keyboard.press("Escape")
        expect(tab.get_by_role("dialog")).to_be_hidden()
        tab.keyboard.press("n")
        tab.keyboard.type("row, not ruw")
        tab.keyboard.press("Escape")
        tab.keyboard.press("r")
        expect(label).to_have_text("Run 2 of 20, 1 marked")
        tab.keyboard.press("Escape")
        expect(tab.locator("#reviews tbody tr")).to_have_count(21)
        expect(tab.locator("#reviews tbody")).to_contain_text("row, not ruw")


_TWICE = """run => {
  for (let n = 0; n < 2; n++) run.dispatchEvent(new KeyboardEvent("keydown", {key: "w", bubbles: true}));
}"""


@pytest.mark.slow
def test_the_example_suite_has_every_view(browser: Browser, tmp_path: Path) -> None:
    """A suite of a user's own: its areas and languages have names, its runs can be read and marked."""
    with sixth_suite.project(tmp_path / "project") as folder:
        suites.add_project(folder)
        path = figures.restore("attribution", "panel", folder / "results")
        printed("report", str(path), "-o", "page.html")
    with opened(browser, folder / "page.html", "#models") as window:
        tab = window.page
        expect(tab.locator(".result.shown h2")).to_have_text("model-e: Attribution")
        expect(tab.locator(".result.shown .heat tbody th").first).to_have_text("Housing")
        expect(tab.locator(".result.shown .heat thead th")).to_have_text(["English", "Portuguese"])
        tab.get_by_role("link", name="its lowest ten answers").click()
        expect(tab.locator("#lowest-runs > li")).to_have_count(10)
        window.see("#review")
        tab.get_by_role("button", name="Start").click()
        expect(tab.locator("#run .progress label")).to_have_text("Run 1 of 20, 0 marked")
        tab.keyboard.press("r")
        expect(tab.locator("#run .progress label")).to_have_text("Run 2 of 20, 1 marked")


@pytest.mark.slow
def test_several_suites_have_a_small_picture_each(
    browser: Browser, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """With an axis of its own, on every screen; its name leads to the suite's own table."""
    fixtures = [(suite, name) for suite in ("chinese_simpleqa", "turnabout") for name in ("own", "resumed")]
    made = made_page(tmp_path, *(figures.restore(suite, name, tmp_path / suite) for suite, name in fixtures))
    for scheme, width in (("light", 1280), ("dark", 390)):
        size = {"width": width, "height": 800}
        with (
            subtests.test(f"{scheme} {width}"),
            opened(browser, made, color_scheme=scheme, viewport=size) as window,
        ):
            panels = window.page.locator(".panel")
            expect(panels.locator("h2")).to_have_text(["Chinese SimpleQA", "Turnabout"])
            assert window.page.evaluate("document.documentElement.scrollWidth") <= width
            rules = Axe().run(window.page).response["violations"]
            assert {rule["id"]: rule["nodes"][0]["html"] for rule in rules if _is_serious(rule)} == {}
            panels.nth(1).locator("h2 a").click()
            expect(window.page.locator("h2:focus")).to_have_text("Turnabout")


def assert_all_is_text(window: Opened, corpus: list[HostileReply]) -> None:
    """Every run can be opened, shows what was said, and holds no element that came from it."""
    links = window.page.evaluate(
        "[...document.querySelectorAll('#runs tbody a')].map(anchor => anchor.getAttribute('href'))"
    )
    window.see("#transcripts")
    wrong = {}
    for link in links:
        number = _number(link, len(links))
        window.see(link)
        reply = window.page.locator(f'#run[aria-label="Run {_unquoted(link)}"] .message.assistant .text')
        reply.first.wait_for(state="attached")
        wanted = _comparable(corpus[number % len(corpus)].text[:2000])[:200]
        if (shown := _shown_instead(reply, wanted)) is not None:
            wrong[corpus[number % len(corpus)].id] = shown[:200]
        if window.page.locator(ACTIVE).count():
            wrong[corpus[number % len(corpus)].id] = "markup"
    assert wrong == {}


def _shown_instead(reply: Locator, wanted: str) -> str | None:
    """What is shown, if it is not what is wanted within seconds; a busy browser may take its time."""
    shown = ""
    for _ in range(100):
        shown = _comparable(reply.evaluate_all("all => all.map(one => one.textContent).join(' ')"))
        if any(part in shown for part in (wanted, "(nothing)")):
            return None
        reply.page.wait_for_timeout(50)
    return shown


def _number(link: str, count: int) -> int:
    """The place of a run among all that were made, one a question."""
    language, item = _unquoted(link).split("/")[-3:-1]
    return pages.LANGUAGES.index(language) * (count // len(pages.LANGUAGES)) + int(item[1:3]) - 1


def _comparable(text: str) -> str:
    """A text without white space and halves of characters, which a browser does not hand over."""
    return re.sub("[\\s\ud800-\udfff\ufffd]+", "", text)


def _unquoted(link: str) -> str:
    return unquote(link.partition("=")[2]).replace("\\", "\\\\").replace('"', '\\"')


@pytest.mark.slow
def test_all_hostile_replies_stay_text(browser: Browser, tmp_path: Path) -> None:
    """In the browser nothing of the whole corpus runs or loads, nor of the model's name."""
    corpus, name = replies(), "<img src=x onerror=alert(1)>"
    for start in range(0, len(corpus), 48):
        part = corpus[start : start + 48]
        size: Any = {"questions": -(-len(part) // len(pages.LANGUAGES)), "runs": 1}
        texts = [reply.text for reply in part]
        path = pages.write(
            tmp_path / "hostile.json",
            name,
            **size,
            reply=lambda number, texts=texts: texts[number % len(texts)],
        )
        with opened(browser, made_page(tmp_path, path), "#transcripts") as window:
            assert_all_is_text(window, part)
            expect(window.page.locator("#overview .models")).to_have_text(name)


@pytest.mark.slow
def test_runs_are_found(browser: Browser, three: Path, subtests: pytest.Subtests) -> None:
    """By words, filters, a range of scores and disagreement; sorted by any column, page by page."""
    with opened(browser, three, "#transcripts") as window:
        tab, count = window.page, window.page.locator("#count")
        expect(count).to_have_text("2,250 of 2,250 runs")
        with subtests.test("filters"):
            tab.select_option("#filter-model", "model-b")
            expect(count).to_have_text("750 of 2,250 runs")
            tab.select_option("#filter-language", "zh-CN")
            expect(count).to_have_text("250 of 2,250 runs")
            tab.select_option("#filter-area", "economy")
            expect(count).to_have_text("50 of 2,250 runs")
            tab.get_by_role("button", name="Clear").click()
            expect(count).to_have_text("2,250 of 2,250 runs")
        with subtests.test("scores and disagreement"):
            tab.fill("#least", "100")
            expect(count).not_to_have_text("2,250 of 2,250 runs")
            texts = tab.locator("#runs tbody tr td:nth-last-child(2)").all_inner_texts()
            assert {*texts} == {"100.0"}
            tab.get_by_role("button", name="Clear").click()
            tab.fill("#apart", "2")
            expect(count).not_to_have_text("2,250 of 2,250 runs")
            assert min(map(float, tab.locator("#runs tbody tr td:last-child").all_inner_texts())) >= 2
            tab.get_by_role("button", name="Clear").click()
        with subtests.test("search"):
            tab.fill("#search", "QUESTION 50 in pt-br")
            expect(count).to_have_text("15 of 2,250 runs")
            tab.fill("#search", "no model said this")
            expect(count).to_have_text("0 of 2,250 runs")
            tab.get_by_role("button", name="Clear").click()
        with subtests.test("sort"):
            for order, ends in (("descending", max), ("ascending", min)):
                tab.click("[data-column=score]")
                expect(tab.locator(f"#runs th[aria-sort={order}]")).to_have_count(1)
                scores = [float(text) for text in tab.locator("#runs td:nth-last-child(2)").all_inner_texts()]
                assert scores[0] == ends(scores) == {max: 100.0, min: 0.0}[ends]
        with subtests.test("pages"):
            tab.get_by_role("button", name="Next").click()
            expect(tab.locator("#runs .pager span")).to_have_text("Page 2 of 45")


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of five models, one of which declines whatever it is asked."""
    folder = tmp_path_factory.mktemp("five")
    files = []
    for index, name in enumerate(("model-a", "model-b", "model-c", "model-d", "refuser")):
        path = pages.write(folder / f"{index}.json", name, questions=6, seed=index, level=2.5 + index / 2)
        data = json.loads(path.read_bytes())
        for question in _questions(data) if name == "refuser" else []:
            for run in question["runs"]:
                run.update(outcome="refused", score=1.0, score_percentage=0.0)
        path.write_text(json.dumps(data), encoding="utf-8")
        files.append(path)
    return made_page(folder, *files)


def _questions(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [question for part in data["results"].values() for question in part["questions"]]


@pytest.mark.slow
def test_models_stand_side_by_side_on_a_question(browser: Browser, five: Path) -> None:
    """The widest apart first; four columns at most, of one's choice; a key leads on, and Esc back."""
    files = [json.loads((five.parent / f"{index}.json").read_bytes()) for index in range(5)]
    with opened(browser, five, "#sides") as window:
        tab, columns = window.page, window.page.locator("#asked .models > section")
        apart = [float(text) for text in tab.locator("#sides-list td:nth-child(8)").all_inner_texts()]
        assert (len(apart), apart) == (18, sorted(apart, reverse=True))
        expect(tab.locator("#sides-list .chip").first).to_have_class(re.compile(r"chip shade-\d+"))
        expect(tab.get_by_role("checkbox", name="refuser")).to_be_disabled()
        tab.get_by_role("checkbox", name="model-b").click()
        tab.get_by_role("checkbox", name="refuser").click()
        tab.click("[data-column=refused]")
        shown = tab.locator("#sides-list td:nth-child(9)").all_inner_texts()
        assert shown[0].endswith(" pp")
        tab.locator("#sides-list tbody a").first.click()
        expect(columns.locator("h3")).to_have_text(["model-a", "model-c", "model-d", "refuser"])
        heading = tab.locator("#asked h2").inner_text()
        expect(columns.last.locator(".found")).to_contain_text("refused")
        tab.get_by_role("button", name="Run 2").click()
        expect(tab.get_by_role("button", name="Run 2")).to_have_attribute("aria-pressed", "true")
        for index, column in zip((0, 2, 3, 4), columns.all(), strict=True):
            (question,) = [item for item in _questions(files[index]) if item["question"] == heading]
            run = question["runs"][1]
            shown_score = float(column.locator(".chip").inner_text())
            assert shown_score == pytest.approx(run["score_percentage"], abs=0.01)
            expect(column.locator(".reason")).to_have_count(len(run["verdicts"]))
            reply = run["subject_transcript"][-1]["content"]
            expect(column.locator(".message .text")).to_have_text(reply)
        tab.keyboard.press("j")
        expect(tab.locator("#asked .tools .note").first).to_have_text("2 of 18")
        tab.keyboard.press("k")
        expect(tab.locator("#asked .tools .note").first).to_have_text("1 of 18")
        expect(tab.locator("#asked h2")).to_have_text(heading)
        # Columns are filled once their transcripts are unpacked.
        expect(columns.last.locator(".found")).to_be_visible()
        columns.first.locator("h3 a").click()
        tab.get_by_role("link", name="Back to the question", exact=True).click()
        expect(tab.locator("#asked h2")).to_have_text(heading)
        tab.locator("#asked").focus()
        tab.keyboard.press("Escape")
        expect(tab.locator("#sides-list")).to_be_visible()
        window.see("#question=neutrality/en-US/none")
        expect(tab.locator("#asked")).to_contain_text("is not in this page")


@pytest.mark.slow
def test_a_run_in_one_language_shows_no_null(browser: Browser, tmp_path: Path) -> None:
    """What is not there, such as other languages, is left out; the list has the reply's beginning."""
    path = pages.write(tmp_path / "a.json", "model-a", questions=3)
    data = json.loads(path.read_bytes())
    data["results"] = {"en-US": data["results"]["en-US"]}
    path.write_text(json.dumps(data), encoding="utf-8")
    with opened(browser, made_page(tmp_path, path), "#transcripts") as window:
        tab = window.page
        expect(tab.locator("#runs tbody tr").first.locator(".begins")).not_to_be_empty()
        expect(tab.locator("#runs tbody tr").first.locator(".chip")).to_have_text(re.compile(r"[\d.]+"))
        fields = tab.locator("#filters input, #filters select, #filters button")
        heights = fields.evaluate_all("all => all.map(one => Math.round(one.getBoundingClientRect().height))")
        assert len({*heights}) == 1
        tab.locator("#runs tbody a").first.click()
        tab.locator("#run h2").wait_for()
        assert "null" not in tab.locator("#run").inner_text()


@pytest.mark.slow
def test_a_run_is_shown_and_linked(browser: Browser, three: Path) -> None:
    """Its other languages side by side, verdicts, settings; a copied link opens it again."""
    with opened(browser, three, "#transcripts", permissions=["clipboard-read", "clipboard-write"]) as window:
        tab = window.page
        tab.locator("#runs tbody a").first.click()
        expect(tab.locator("#run .languages > section")).to_have_count(2)
        expect(tab.locator("#run .verdict")).to_have_count(2)
        expect(tab.locator("#run .verdict").first).to_contain_text("reasoning")
        tab.get_by_role("button", name="Copy link").click()
        expect(tab.locator("#status")).to_have_text("Link copied")
        address = tab.evaluate("navigator.clipboard.readText()")
        assert address.startswith(f"{three.as_uri()}#run=neutrality%2Fmodel-a%2F")
        heading = tab.locator("#run h2").inner_text()
        tab.get_by_role("link", name="Next run").click()
        expect(tab.locator("#run h2")).not_to_have_text(heading)
        window.goto(address.removeprefix(three.as_uri()))
        expect(tab.locator("#run h2")).to_have_text(heading)
        window.see("#run=neutrality/model-a/no/such/run")
        expect(tab.locator("#status")).to_contain_text("not in this page")


@pytest.mark.slow
def test_tables_are_sorted_by_keyboard(browser: Browser, three: Path) -> None:
    """The overview's by the Enter key; a model's questions show every language."""
    with opened(browser, three) as window:
        tab = window.page
        head = tab.locator("#overview th", has_text="Score")
        head.focus()
        head.press("Enter")
        expect(head).to_have_attribute("aria-sort", "descending")
        expect(tab.locator("#overview tbody tr th").first).to_have_text("model-c")
        tab.locator("#overview tbody a").first.click()
        questions = tab.locator(".result.shown .questions")
        expect(questions.locator("thead th")).to_have_text(
            ["Question", "Area", "English", "Portuguese", "Chinese", "Gap"]
        )
        expect(questions.locator("tbody tr")).to_have_count(50)


@pytest.mark.slow
def test_reviews_are_kept_saved_and_loaded(browser: Browser, three: Path, tmp_path: Path) -> None:
    """A mark is in every window of the page, in a file that is read, and is loaded elsewhere."""
    saved = tmp_path / "reviews.json"
    with opened(browser, three, "#transcripts") as window:
        tab = window.page
        for link, verdict in ((0, "right"), (1, "wrong")):
            window.see("#transcripts")
            tab.locator("#runs tbody a").nth(link).click()
            tab.get_by_label("Note").fill("<b>a note</b>")
            tab.get_by_role("button", name=f"{verdict.title()} ({verdict[0]})").click()
            expect(tab.locator("#status")).to_have_text(f"Kept in this browser: {verdict}")
        window.see("#review")
        second = window.second_window()
        expect(second.locator("#reviews")).to_contain_text("2 reviews: 1 verdicts right, 1 wrong.")
        tab.go_back()
        tab.get_by_role("button", name="Remove my mark").click()
        expect(second.locator("#reviews")).to_contain_text("1 reviews: 1 verdicts right, 0 wrong.")
        tab.get_by_label("Note").fill("<b>a note</b>")
        tab.get_by_role("button", name="Wrong (w)").click()
        window.see("#review")
        tab.fill("#reviewer", "Ada")
        with tab.expect_download() as download:
            tab.get_by_role("button", name="Save as a file").click()
        download.value.save_as(saved)
    marks = json.loads(saved.read_bytes())["reviews"]
    assert [(item["verdict"], item["note"], item["reviewer"]) for item in marks] == [
        ("right", "<b>a note</b>", "Ada"),
        ("wrong", "<b>a note</b>", "Ada"),
    ]
    with opened(browser, three, "#review") as window:
        window.page.set_input_files("#load", saved)
        expect(window.page.locator("#reviews tbody tr")).to_have_count(2)
    page.write(tmp_path / "again.html", sorted(three.parent.glob("*.json")), reviews.load(saved))
    with opened(browser, tmp_path / "again.html", "#review") as window:
        expect(window.page.locator("#reviews tbody tr")).to_have_count(2)
        expect(window.page.locator("#review table").first).to_contain_text("50 %")


@pytest.mark.slow
def test_it_is_accessible(browser: Browser, three: Path, subtests: pytest.Subtests) -> None:
    """axe-core finds no serious violation in any view, dark or light, wide or on a phone."""
    for scheme, width in (("light", 1280), ("dark", 1280), ("light", 360)):
        size = {"width": width, "height": 800}
        with opened(browser, three, color_scheme=scheme, viewport=size) as window:
            window.see("#transcripts")
            run = window.page.locator("#runs tbody a").first.get_attribute("href") or ""
            window.see("#sides")
            question = window.page.locator("#sides-list tbody a").first.get_attribute("href") or ""
            for view in (*VIEWS, run, question):
                with subtests.test(f"{scheme} {width} {view}"):
                    window.see(view)
                    if view in (run, question):
                        window.page.locator("#run h2" if view == run else "#asked h2").wait_for()
                    rules = Axe().run(window.page).response["violations"]
                    serious = {rule["id"]: rule["nodes"][0]["html"] for rule in rules if _is_serious(rule)}
                    assert serious == {}
                    wide = window.page.evaluate("document.documentElement.scrollWidth")
                    assert wide <= width


def _is_serious(rule: dict[str, str]) -> bool:
    return rule["impact"] in ("serious", "critical")


@pytest.mark.slow
def test_without_scripts_and_on_paper_the_figures_are_there(browser: Browser, three: Path) -> None:
    """The overview, every model and their tables do not need JavaScript, nor a screen."""
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(three.as_uri())
    expect(tab.locator("#overview h1")).to_be_visible()
    expect(tab.locator(".result figure").first).to_be_visible()
    context.close()
    with opened(browser, three, "#transcripts") as window:
        window.page.emulate_media(media="print")
        expect(window.page.locator("#overview h1")).to_be_visible()
        expect(window.page.locator(".top")).to_be_hidden()


@pytest.mark.slow
def test_runs_of_every_suite(browser: Browser, tmp_path: Path) -> None:
    """Every run of the first page of the list can be opened, and every model's questions are shown."""
    files = [figures.restore(suite, "own", tmp_path / suite) for suite in SHIPPED]
    for path in files:
        with opened(browser, made_page(path.parent, path), "#transcripts") as window:
            for link in window.page.locator("#runs tbody a").evaluate_all("all => all.map(a => a.hash)"):
                window.see(link)
                window.page.locator(f'#run[aria-label="Run {_unquoted(link)}"] .message').first.wait_for()
                if path.parent.name == "even_handedness":
                    sides = window.page.get_by_role("region", name="Sides of the pair").locator("h4")
                    expect(sides).to_have_text(["Side a", "Side b"])
    with opened(browser, made_page(tmp_path, *files)) as window:
        for article in range(len(files)):
            window.see("#models")
            window.page.locator(".contents a").nth(article).click()
            expect(window.page.locator(".result.shown .questions table")).to_be_visible()
        # More than three, which are drawn while the page is looked at.
        window.page.locator(".result .figure").nth(3).wait_for(state="attached")


@pytest.mark.slow
def test_names_that_every_object_has_are_names(
    browser: Browser, project: Project, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """A model and a language called `constructor` or `__proto__` are listed, filtered and shown."""
    for name in ("constructor", "__proto__"):
        with subtests.test(name):
            project.write_questions(2, **{name: "What is", "bb": "O que é"})
            project.run(model=name, runs="2", output=f"{name}.json")
            with opened(browser, made_page(tmp_path, Path(f"{name}.json"))) as shown:
                shown.goto("#transcripts")
                expect(shown.page.locator("#runs tbody tr")).to_have_count(8)
                options = shown.page.locator("#filter-language option")
                expect(options).to_have_count(3)
                assert name in options.all_inner_texts()
                shown.see("#models")
                expect(shown.page.locator(".questions tbody tr")).to_have_count(2)
                assert shown.complaints == []
