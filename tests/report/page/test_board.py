"""The board: sentences on many models, the page of a board alone, and what it looks like in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

import pages
from browser import CHROMIUM, chromium, opened
from equipoise.comparison.entry import entry
from equipoise.core.errors import ContradictoryResultsWarning
from equipoise.core.types import JSON
from equipoise.report.page import board_page, page, standings
from equipoise.report.page.board import BoardView, board_view
from equipoise.results.load import load
from hostile import replies

_ENDS = ("value", "low", "high")
LEVELS = {"m-1": 2.4, "m-2": 3.0, "alike": 3.05, "best": 4.2}


def words_of(path: Path) -> str:
    """What a reader sees of a page."""
    html = path.read_text(encoding="utf-8")
    body = re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four models that can be compared, of which two are nearly alike, and one with another evaluator."""
    folder = tmp_path_factory.mktemp("files")
    paths = [
        pages.write(folder / f"{model}.json", model, level=level, questions=20, length=50, seed=n)
        for n, (model, level) in enumerate(LEVELS.items())
    ]
    paths.append(pages.write(folder / "z.json", "z", questions=20, length=50, judges=("another",)))
    return paths


@pytest.fixture(scope="module")
def alone(files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a board of these."""
    path = tmp_path_factory.mktemp("board") / "board.html"
    board_page.write(path, files)
    return path


def edited(source: Path, target: Path, **metadata: JSON) -> Path:
    """A copy of the results with other metadata."""
    data = json.loads(source.read_bytes())
    data["metadata"].update(metadata)
    target.write_text(json.dumps(data), encoding="utf-8")
    return target


INDIA: JSON = {"subject": "Indian <politics>", "sides": {"a": "b", "c": "d"}}


@pytest.mark.slow
def test_what_makes_figures_doubtful_is_said_first(files: list[Path], tmp_path: Path) -> None:
    """As on the page of a few results: cautions, and a summary that its runs contradict."""
    data = json.loads(files[0].read_text(encoding="utf-8"))
    data["metadata"]["cautions"] = ["The evaluator is the subject"]
    data["summary"]["outcomes"] = {"scored": 1}
    doubtful, path = tmp_path / "doubtful.json", tmp_path / "board.html"
    doubtful.write_text(json.dumps(data), encoding="utf-8")
    with pytest.warns(ContradictoryResultsWarning):
        board_page.write(path, [doubtful, *files[1:]])
    words = words_of(path)
    assert "Caution: The evaluator is the subject (Neutrality of m-1)" in words
    assert re.search(r"its summary counts the outcomes scored 1, its runs [^)]*\(Neutrality of m-1\)", words)


def board_of(*files: Path) -> BoardView:
    """The board of these results."""
    return board_view([entry(load(path), index) for index, path in enumerate(files)])


@pytest.mark.slow
def test_two_models_that_differ_and_two_that_do_not(files: list[Path]) -> None:
    """The difference is that of `compare`, told without its sign."""
    (view,) = board_of(files[0], files[3]).suites[0].tables
    (sentence,) = view.differences
    assert re.fullmatch(
        r"best scores \d\d\.\d points \(95 % .*\) higher than m-1 on the same questions\.", sentence
    )
    (view,) = board_of(files[1], files[2]).suites[0].tables
    (sentence,) = view.differences
    assert re.fullmatch(
        r"\S+ and \S+ cannot be told apart: they differ by .* \(95 % interval .*\)\.", sentence
    )


def test_where_lower_is_better_the_same_difference_is_told_from_the_other_end(files: list[Path]) -> None:
    """The first model scores lower than the second, by as much and with the same limits."""
    entries = [entry(load(files[row]), row) for row in (0, 3)]
    turned = [
        replace(item, metric=replace(item.metric, higher_is_better=False)) for item in entries if item.metric
    ]
    sentences = [board_view(items).suites[0].tables[0].differences for items in (entries, turned)]
    (higher,), (lower,) = sentences
    match = re.fullmatch(r"best scores (.*) higher than m-1 on the same questions\.", higher)
    assert match
    assert lower == f"m-1 scores {match[1]} lower than best on the same questions."


def test_earlier_results_of_the_only_model_are_on_the_page(files: list[Path], tmp_path: Path) -> None:
    """One model that was measured twice has a table and a trend; measured once, it needs neither."""
    earlier = edited(files[0], tmp_path / "earlier.json", started="2026-02-01T08:00:00+00:00")
    board_page.write(tmp_path / "twice.html", [earlier, files[0]])
    assert "2026-02-01" in words_of(tmp_path / "twice.html")
    assert not board_of(earlier, files[0]).is_flat
    assert board_of(files[0]).is_flat


def test_a_citation_without_a_commit_has_checksums(files: list[Path], tmp_path: Path) -> None:
    """As the README asks; audits are told by what they found."""
    hashes = {"data_hash": "d" * 64, "rubric_hash": "e" * 64}
    board = board_of(edited(files[0], tmp_path / "a.json", git_commit=None, **hashes))
    assert board.is_flat
    (view,) = board.suites[0].tables
    assert board.citation.endswith(
        f"rubric 1, data {'d' * 64}, rubric {'e' * 64}, evaluators judge-a, judge-b, 2026-03-01."
    )
    assert view.differences[0].startswith("m-1: ")


def test_what_questions_are_about_and_the_rubric_s_own_scale_are_told(
    files: list[Path], tmp_path: Path
) -> None:
    """In words for readers and in the citation; each table by the scale of its own rubric."""
    changes = {"scale": {"low": 0, "high": 7}, "rubric_hash": "e" * 64}
    path = edited(files[0], tmp_path / "india.json", about=INDIA, **changes)
    (view,) = board_of(path).suites[0].tables
    assert "0 % is a mean score of 0, 50 % of 3.5, 100 % of 7. It is not" in view.meaning
    assert view.cases.endswith("Chinese, on Indian <politics>")
    assert "Suite neutrality, questions on Indian <politics>, dataset own" in board_of(path).citation
    first, second = board_of(path, files[1]).suites[0].tables
    assert ("of 7." in first.meaning, "of 5." in second.meaning) == (True, True)
    board_page.write(tmp_path / "board.html", [path, files[1]])
    words = words_of(tmp_path / "board.html")
    assert words.index("100 % of 7.") < words.index("100 % of 5.")


def test_a_page_says_first_what_questions_are_about(files: list[Path], tmp_path: Path) -> None:
    """All of them, or those of each result where they differ."""
    path = edited(files[0], tmp_path / "india.json", about=INDIA)
    other = edited(files[0], tmp_path / "untold.json", about=None)
    for results, heading in (
        ([path], "Neutrality: Indian <politics> m-1 "),
        ([path, files[1]], "Neutrality on political questions m-1 and m-2 "),
        ([other], "Neutrality on political questions m-1 "),
    ):
        page.write(tmp_path / "page.html", results)
        words = words_of(tmp_path / "page.html")
        assert heading in words
        assert ("Questions on Indian <politics> · india.json" in words) == (path in results)


def test_the_picture_has_the_figures_of_the_results(tmp_path: Path) -> None:
    """Score, interval and lean of each model, in numbers and where they are drawn; every run in its strip."""
    levels = {"low": 2.0, "high": 4.2, "middle": 3.0}
    files = {
        model: pages.write(tmp_path / f"{model}.json", model, level=level, leans=True, seed=seed)
        for seed, (model, level) in enumerate(levels.items())
    }
    page.write(tmp_path / "page.html", [*files.values()])
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    (table,) = re.findall(r'<table class="sortable cards standings">.*?</table>', html, re.DOTALL)
    rows = dict(re.findall(r'<th scope="row"><a[^>]*>(\w+)</a></th>(.*?)</tr>', table, re.DOTALL))
    assert [*rows] == ["high", "middle", "low"]
    (view,) = board_of(*files.values()).suites[0].tables
    for model, row in rows.items():
        metrics = json.loads(files[model].read_bytes())["summary"]["metrics"]
        overall, lean = metrics["overall"], metrics["lean"]
        assert f"<b>{overall['value']:.1f} %</b>" in row
        assert f"{overall['low']:.1f} to {overall['high']:.1f}" in row
        signed = [f"{lean[key]:+.1f}".replace("-", "\N{MINUS SIGN}") for key in _ENDS]
        assert f"{signed[0]} " in row
        assert " to ".join(signed[1:]) in row
        assert view.plane is not None
        (point,) = [item for item in view.plane.rows if item["name"] == model]
        assert [point[key] for key in ("value", "low", "high")] == [overall[key] for key in _ENDS]
        assert [point[key] for key in ("x", "x low", "x high")] == [lean[key] for key in _ENDS]
        sizes = [float(x) for x in re.findall(r'<rect class="o-\w+" x="[\d.]+%" width="([\d.]+)%"', row)]
        assert sum(sizes) == pytest.approx(100, abs=0.05)
        assert "60 runs: " in row
    data = json.loads(files["low"].read_bytes())
    data["summary"]["metrics"]["lean"]["low"] = -1.0
    files["low"].write_text(json.dumps(data), encoding="utf-8")
    (view,) = board_of(*files.values()).suites[0].tables
    (leaning,) = [text for text in view.differences if text.startswith("Their replies lean: ")]
    assert ("high to state" in leaning, "low to state" in leaning) == (True, False)
    assert "&minus; critics, + state" in table
    assert re.findall(r">(?:\u2190 )?(critics|state)(?: \u2192)?</text>", html) == ["critics", "state"]


@pytest.mark.slow
def test_many_models_are_told_in_few_words(tmp_path: Path) -> None:
    """Long lists are cut, and what is left out is counted."""
    paths = [
        pages.write(
            tmp_path / f"{n}.json", f"model {n:02d} x", level=2 + n / 8, questions=10, length=5, seed=n
        )
        for n in range(14)
    ]
    shown_board = board_of(*paths)
    (view,) = shown_board.suites[0].tables
    text = " ".join(view.differences)
    assert len(text) < 700
    assert re.search(r"Of 91 pairs of models \d+ can be told apart\.", text)
    assert re.search(r"The same holds for \d+ pairs of models of two neighbouring groups", text)
    assert shown_board.title == "14 models"
    for row, index in zip(view.rows, range(14), strict=True):
        best, worst = view.table.ranking.best[index], view.table.ranking.worst[index]
        assert best <= index + 1 <= worst
        assert row.ranks == (str(best) if best == worst else f"{best}\u2013{worst}")
        alike = [n for n in range(14) if int(row.alike, 16) >> n & 1]
        assert alike == view.table.alike(index)


def test_lists_of_names_are_cut() -> None:
    """After a few, with the number of the others."""
    assert standings.joined_names(["a"]) == "a"
    assert standings.joined_names(list("abcde")) == "a, b, c, d and e"
    assert standings.joined_names(list("abcdefg")) == "a, b, c, d and 3 more"


def test_results_of_no_run_are_on_the_board(files: list[Path], tmp_path: Path) -> None:
    """A session may end before anything was asked."""
    data = json.loads(files[0].read_bytes())
    data["results"], data["metadata"]["runs_completed"] = {}, 0
    empty = tmp_path / "empty.json"
    empty.write_text(json.dumps(data), encoding="utf-8")
    board_page.write(tmp_path / "board.html", [empty, files[1]])
    assert "Asked: nothing yet" in words_of(tmp_path / "board.html")


# In a browser.


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian: chromium)")
    with chromium() as chrome:
        yield chrome


@pytest.mark.slow
def test_a_board_is_read_on_every_screen(browser: Browser, alone: Path, subtests: pytest.Subtests) -> None:
    """Light and dark, wide and narrow: nothing wider than the screen, contrast and names for readers."""
    for scheme in ("light", "dark"):
        for width in (1280, 390):
            with (
                subtests.test(scheme=scheme, width=width),
                opened(
                    browser, alone, color_scheme=scheme, viewport={"width": width, "height": 900}
                ) as window,
            ):
                assert window.page.evaluate("document.documentElement.scrollWidth") <= width
                row = window.page.locator(".standings tbody tr").first
                assert row.evaluate("row => row.getBoundingClientRect().right") <= width
                assert row.evaluate("row => getComputedStyle(row).display") == (
                    "grid" if width == 390 else "table-row"
                )
                report = Axe().run(window.page)
                assert [rule["id"] for rule in report.response["violations"]] == []


@pytest.mark.slow
def test_models_are_found_sorted_and_grouped(browser: Browser, tmp_path: Path) -> None:
    """A name narrows all tables, a rank marks what cannot be told apart, a column sorts."""
    files = [
        pages.write(
            tmp_path / f"{n}.json", f"model-{n:02d}x", level=2 + n / 6, questions=10, length=5, seed=n
        )
        for n in range(13)
    ]
    path = tmp_path / "board.html"
    board_page.write(path, files)
    (view,) = board_of(*files).suites[0].tables
    with opened(browser, path) as window:
        rows = window.page.locator(".standings tbody tr")
        window.page.locator("button.ranks").nth(6).click()
        marked = rows.evaluate_all("all => all.flatMap((row, n) => row.matches('.alike') ? [n] : [])")
        assert marked == sorted([6, *view.table.alike(6)])
        window.page.locator("button.ranks").nth(6).click()
        expect(window.page.locator("tr.alike")).to_have_count(0)
        window.page.get_by_role("columnheader", name="Model").click()
        names = rows.locator("th").all_text_contents()
        window.page.wait_for_function("document.querySelector('th[aria-sort]') !== null")
        expect(rows.locator("th").first).to_have_text("model-12x")
        assert sorted(names) == [f"model-{n:02d}x" for n in range(13)]
        window.page.locator("#find").fill("-1")
        expect(window.page.locator("#shown")).to_have_text("3 models")
        expect(rows.filter(visible=True)).to_have_count(3)


@pytest.mark.slow
def test_hostile_names_stay_text(browser: Browser, files: list[Path], tmp_path: Path) -> None:
    """Names of models, evaluators and what differs are markup to nobody."""
    corpus = [reply.text for reply in replies() if reply.kind == "markup"]
    base = json.loads(files[0].read_bytes())
    for index, text in enumerate(corpus):
        about = {**base["metadata"], "subject_model": text, "evaluator_models": [corpus[-1 - index]]}
        about |= {"subject_system_prompt": text, "started": text}
        (tmp_path / f"{index:03d}.json").write_text(json.dumps({**base, "metadata": about, "audit": {}}))
    path = tmp_path / "board.html"
    board_page.write(path, sorted(tmp_path.glob("*.json")))
    with opened(browser, path) as window:
        assert (
            window.page.locator("main :is(script, img, iframe, object, link, style, [onerror])").count() == 0
        )
        shown_names = window.page.locator(".standings tbody th").all_text_contents()
        assert len(shown_names) == len({*corpus})
