"""The page on which a person labels replies, in Chromium: keys, progress, files, and what is read again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import sheets
from playwright.sync_api import Browser, expect

import pages
from browser import CHROMIUM, chromium, opened

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
ARABIC, CHINESE = "مرحبا بالعالم: 1989", "茶圣是谁？</script><b>x</b>"


run = partial(sheets.run, "review")
refusal = partial(sheets.refusal, "review")


@pytest.fixture
def results(folder: Path) -> Path:
    """Results whose replies are also Arabic and Chinese."""
    texts = {0: ARABIC, 1: CHINESE}
    return pages.write(folder / "m.json", "model-a", questions=2, runs=2, reply=texts.get)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    with chromium() as launched:
        yield launched


def test_the_page_is_blind_and_loads_nothing(results: Path) -> None:
    """It says nothing of model, evaluators or scores, and no reply ends its script."""
    run("sample", results, "-o", "sheet.html")
    text = Path("sheet.html").read_text(encoding="utf-8")
    assert not any(word in text for word in ("model-a", "judge-a", "reasoning", "http://", "https://"))
    assert "default-src &#39;none&#39;" in text
    assert text.count("</script>") == 2
    assert "already exists" in refusal("sample", results, "-o", "sheet.html")


@pytest.mark.slow
@needs_chromium
def test_a_person_labels_with_keys_saves_resumes_and_is_read(results: Path, browser: Browser) -> None:
    """From the results to a corrected figure with the browser alone, and a single key for each reply."""
    run("sample", results, "-n", "12", "--person", "anna", "--page", "-o", ".")
    with opened(browser, Path("anna.html").absolute(), accept_downloads=True) as sheet:
        first = sheet.page
        first.keyboard.press("Enter")
        expect(first.locator("#count")).to_have_text("0 of 12 labelled")
        early = sheet.second_window()
        for number in range(11):
            first.keyboard.press(str(1 + number % 5))
        expect(first.locator("#count")).to_have_text("11 of 12 labelled")
        first.keyboard.press("n")
        first.keyboard.type("a note with 5 in it")
        first.keyboard.press("Escape")
        expect(early.locator("#count")).to_have_text("11 of 12 labelled")
        page = sheet.second_window()
        expect(page.locator("#where")).to_have_text("Reply 12 of 12")
        expect(page.locator("#note")).to_have_value("a note with 5 in it")
        page.keyboard.press("5")
        page.keyboard.press("0")
        expect(page.locator("#count")).to_have_text("11 of 12 labelled")
        with page.expect_download() as waiting:
            page.keyboard.press("s")
        assert waiting.value.suggested_filename == "anna.json"
        waiting.value.save_as("anna.json")
        # A label that is changed stays in sight.
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("2")
        expect(page.locator("#where")).to_have_text("Reply 11 of 12")
        assert page.locator("#fields input:checked").get_attribute("value") == "2"
    saved = json.loads(Path("anna.json").read_bytes())
    assert [row["score"] for row in saved["rows"]][:6] == ["1", "2", "3", "4", "5", "1"]
    done = run("agree", results, "anna.json")
    assert "people:    anna: 11 scores, 1 blank" in done.stdout
    assert "overall" in done.stdout.partition("corrected: 11 labels by anna")[2]
    with opened(browser, Path("anna.html").absolute()) as fresh:
        fresh.page.locator("#open").set_input_files("anna.json")
        expect(fresh.page.locator("#count")).to_have_text("11 of 12 labelled")
        fresh.page.locator("#open").set_input_files(results)
        expect(fresh.page.locator("#state")).to_contain_text("is not a saved sheet")


@pytest.mark.slow
@needs_chromium
def test_a_person_gets_replies_in_languages_that_they_read(results: Path, browser: Browser) -> None:
    """Those chosen at the first reply, which are kept, or those of --language, which are not asked for."""
    run("sample", results, "-n", "12", "--person", "anna", "--page", "-o", ".")
    with opened(browser, Path("anna.html").absolute()) as sheet:
        page = sheet.page
        expect(page.locator("main")).to_be_hidden()
        expect(page.locator("#readable")).to_contain_text("(zh-CN)")
        for code in pages.LANGUAGES[1:]:
            page.locator(f"#readable input[value={code}]").uncheck()
        page.locator("#readable button").click()
        expect(page.locator("#count")).to_have_text("0 of 4 labelled")
        for number in range(1, 5):
            expect(page.locator("#where")).to_have_text(f"Reply {number} of 4")
            assert page.locator("#reply").get_attribute("lang") == pages.LANGUAGES[0]
            page.keyboard.press("3")
        expect(page.locator("#state")).to_contain_text("Every reply is labelled")
        again = sheet.second_window()
        expect(again.locator("#count")).to_have_text("4 of 4 labelled")
    run("sample", results, "-n", "12", "--language", ",".join(pages.LANGUAGES[1:]), "-o", "two.html")
    with opened(browser, Path("two.html").absolute()) as sheet:
        expect(sheet.page.locator("#where")).to_have_text("Reply 1 of 8")


@pytest.mark.slow
@needs_chromium
def test_the_scale_is_in_sight_beside_a_long_reply(results: Path, browser: Browser) -> None:
    """In two columns on a wide screen, in one on a phone; nothing is wider than the screen."""
    long = pages.write(Path("many.json"), "model-b", reply=lambda number: "a long reply " * 400)
    run("sample", long, "-n", "5", "-o", "long.html")
    with opened(browser, Path("long.html").absolute(), viewport={"width": 1280, "height": 800}) as sheet:
        page = sheet.page
        page.keyboard.press("Enter")
        page.mouse.wheel(0, 1500)
        expect(page.locator("#fields label").last).to_be_in_viewport()
        assert page.locator("#reply").evaluate("e => e.scrollHeight <= e.clientHeight + 1")
        page.set_viewport_size({"width": 390, "height": 800})
        boxes = [page.locator(name).bounding_box() for name in ("#reply", "#fields")]
        assert boxes[0] is not None
        assert boxes[1] is not None
        assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
@needs_chromium
def test_outcome_and_lean_have_a_key_each(folder: Path, browser: Browser) -> None:
    """Beside the score, in any order; what is left open is saved empty. A sheet for scores asks no more."""
    results = pages.write(folder / "m.json", "model-a", questions=4, runs=2, leans=True)
    run("sample", results, "-n", "12", "--ask", "score,outcome,lean", "--person", "anna", "--page", "-o", ".")
    with opened(browser, Path("anna.html").absolute()) as sheet:
        page = sheet.page
        expect(page.locator("fieldset.lean")).to_contain_text("state: those who count")
        page.keyboard.press("Enter")
        for number in range(11):
            page.keyboard.press("ar"[number % 2])
            page.keyboard.press(str(1 + number % 5))
            page.keyboard.press("fghjk"[number % 5].upper())
        expect(page.locator("#count")).to_have_text("11 of 12 labelled")
        page.keyboard.press("r")
        expect(page.locator("#count")).to_have_text("11 of 12 labelled")
        page.keyboard.press("u")
        expect(page.locator("#where")).to_have_text("Reply 12 of 12")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("0")
        assert page.locator("#fields input:checked").count() == 0
        with page.expect_download() as waiting:
            page.keyboard.press("s")
        waiting.value.save_as("anna.json")
    rows = json.loads(Path("anna.json").read_bytes())["rows"]
    assert [
        (row["score"], row["outcome"], row["lean"]) for row in (rows[0], rows[1], rows[10], rows[11])
    ] == [
        ("1", "answered", "state_strong"),
        ("2", "refused", "state_slight"),
        ("", "", ""),
        ("", "refused", ""),
    ]
    done = run("agree", results, "anna.json")
    assert "people:    anna: 10 scores, 11 outcomes, 10 leans, 1 blank" in done.stdout
    corrected = sheets.people(results)["corrected"]
    assert {name: corrected[name]["labels"] for name in ("overall", "refused", "lean.state")} == {
        "overall": 10,
        "refused": 11,
        "lean.state": 10,
    }
    run("sample", results, "-o", "plain.html")
    with opened(browser, Path("plain.html").absolute()) as plain:
        assert plain.page.locator("#fields fieldset").count() == 1


@pytest.mark.slow
@needs_chromium
def test_every_script_is_readable_and_a_name_is_asked(results: Path, browser: Browser) -> None:
    """Arabic runs from right to left, Chinese and markup are shown as they are."""
    run("sample", results, "-n", "12", "-o", "sheet.html")
    with opened(browser, Path("sheet.html").absolute()) as sheet:
        page, right_to_left = sheet.page, {}
        page.keyboard.press("Enter")
        for _ in range(12):
            reply = page.locator("#reply")
            right_to_left[reply.text_content()] = reply.evaluate("e => e.matches(':dir(rtl)')")
            page.keyboard.press("ArrowRight")
        assert (right_to_left[ARABIC], right_to_left[CHINESE]) == (True, False)
        page.keyboard.press("s")
        expect(page.locator("#state")).to_contain_text("Give a name or pseudonym first")
        expect(page.locator("#person")).to_be_focused()


def test_a_damaged_file_is_one_line(results: Path, subtests: pytest.Subtests) -> None:
    """It says which row, or what it is."""
    run("sample", results, "-n", "12", "-o", "sheet.csv")
    row = sheets.rows(Path("sheet.csv"))[0]
    good = {"id": row["id"], "draw": row["draw"], "score": "3"}
    for content, message in (
        ({"format": "equipoise-sheet", "version": 2, "rows": []}, "has version 2"),
        ({"format": "equipoise-sheet", "version": 1}, "it has no rows"),
        ({"format": "equipoise-sheet", "version": 1, "rows": [good, {"id": "x"}]}, "row 2 lacks its id"),
        ({"format": "equipoise-sheet", "version": 1, "rows": [{**good, "score": 3}]}, "row 1 lacks its id"),
    ):
        with subtests.test(message):
            Path("x.json").write_text(json.dumps(content))
            assert message in refusal("agree", results, "x.json")


@needs_chromium
def test_labels_are_taken_as_a_whole_or_not_at_all(
    results: Path, browser: Browser, subtests: pytest.Subtests
) -> None:
    """Not another person's, not half of a damaged file; what the browser kept and cannot be read is told."""
    people = ("--person", "ada", "--person", "ben", "--overlap", "6")
    run("sample", results, "-n", "6", "--page", *people, "-o", "s")
    with opened(browser, Path("s").absolute() / "ada.html") as shown:
        page = shown.page
        page.keyboard.press("4")
        content = json.loads(page.evaluate("() => JSON.stringify(saved())"))
        for name, damaged, message in (
            ("another person", {**content, "person": "ben"}, "another person's"),
            ("half", {**content, "rows": [*content["rows"][:3], {"id": 1}]}, "is not a saved sheet"),
        ):
            with subtests.test(name):
                changed = {**damaged, "rows": [{**row, "score": "1"} for row in damaged["rows"]]}
                file = Path("found.json")
                file.write_text(json.dumps(changed), encoding="utf-8")
                page.locator("#open").set_input_files(file)
                expect(page.locator("#state")).to_contain_text(message)
                assert json.loads(page.evaluate("() => JSON.stringify(saved())"))["rows"] == content["rows"]
        with subtests.test("storage"):
            page.evaluate("() => localStorage.setItem(storage, '{')")
            again = shown.second_window()
            again.goto((Path("s") / "ada.html").absolute().as_uri())
            expect(again.locator("#state")).to_contain_text("are damaged and were not taken")
