"""The page without a browser: what is in the file, and what is not."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import builders
import msgspec
import one_dispute
import one_scenario
import pytest
from from_records import parts_of, statistics_of
from msgspec import structs

import pages
from conftest import SHIPPED
from equipoise import suites
from equipoise.core.errors import UserError
from equipoise.core.figures import NO_FIGURE, LanguagePair
from equipoise.report.page import figures, page, reviews, shades
from equipoise.report.page.axis import axis
from equipoise.report.page.data import by_table, overview, page_result, weaknesses
from equipoise.report.page.names import Names, languages, spelling
from equipoise.report.sentences import about, alike
from equipoise.results.find import find_results
from equipoise.results.load import load
from equipoise.results.results import Results, of_json
from equipoise.suites.plots import COLUMNS, Plot

CHANGE = {"before": 60.0, "after": 50.0, "value": -10.0, "se": 2.5, "p": 0.01, "n": 20, "unpaired": 0}
ON_THESE = {"se": 1.0, "low": -12.0, "high": -8.0, "p": 0.01, "n": 20, "reason": None}
LIMITS = {"low": -15.0, "high": -5.0, "p_adjusted": 0.01, "these": ON_THESE, "reason": None}
COMPARISON = {
    "baseline": {"subject_model": "older", "file": "kept/old.json", "started": "2026-01-01"},
    "candidate": {"subject_model": "model-a", "file": "a.json", "started": "2026-03-01"},
    "mismatches": [],
    "warnings": ["older evaluators"],
    "metrics": {"overall": {**CHANGE, **LIMITS, "higher_is_better": True, "unit": "%"}},
    "clusters": "questions",
    "fell": [
        {"cell": f"en-US/q0{n}", "before": 60.0, "after": 20.0, "at": ["", ""], "change": -40.0}
        for n in range(1, 8)
    ],
    "rose": [],
}
AUDIT = builders.audit(
    builders.check(value=7.5, low=5.5, high=9.5, is_fault=True),
    finished="2026-02-03T04:05:06+00:00",
    verdicts=1_234,
    planned=1_234,
    differs=["the system fingerprint was fp_1, now fp_2"],
)
RULE = {"verdict": "fail", "rule": "overall:-2pp", "why": "it fell", "required": True}


def review(**more: Any) -> dict[str, Any]:
    """An entry of a file of reviews."""
    known = {"suite": "neutrality", "model": "model-a", "started": "2026-03-01T08:00:00+00:00"}
    rest = {"score": None, "note": "", "reviewer": "", "at": ""}
    return {**known, **rest, "run": "en-US/q01_territory/1", "verdict": "right", **more}


def put(path: Path, *entries: dict[str, Any]) -> Path:
    """Such a file."""
    path.write_text(json.dumps({"format": "equipoise-reviews", "version": 1, "reviews": entries}))
    return path


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of two models: one with a gate, and the built-in one, judged by others."""
    folder = tmp_path_factory.mktemp("two")
    first = pages.write(folder / "a.json", "model-a", level=2.5)
    data = json.loads(first.read_bytes())
    gate = {
        "gate": {"verdict": "fail", "rules": [RULE], "cautions": ["replies were asked again"]},
        "comparison": {**COMPARISON, "effects": ["another option moves it"]},
    }
    audit = dict.fromkeys(data["metadata"]["evaluator_models"], AUDIT)
    first.write_text(json.dumps({**data, **gate, "audit": msgspec.to_builtins(audit)}))
    pages.write(folder / "b.json", "local", level=3.5, seed=1, judges=("another",))
    (folder / "other.json").write_text("[]")
    return folder


@pytest.fixture(scope="module")
def reviewed(two: Path, tmp_path_factory: pytest.TempPathFactory) -> reviews.MatchedReviews:
    """What people said of 12 runs of the first model, and of one that there is not; with its page."""
    entries = [
        review(run=f"{language}/q{number:02d}_{area}/1", verdict=verdict, score=score)
        for number, area in ((1, "territory"), (2, "governance"), (3, "human_rights"), (4, "economy"))
        for language, verdict, score in (
            ("en-US", "right", None),
            ("zh-CN", "wrong", 5),
            ("pt-BR", "wrong", None),
        )
    ]
    path = put(tmp_path_factory.mktemp("said") / "reviews.json", *entries, review(run="en-US/none/1"))
    files, lines = find_results([two])
    assert [path.name for path in files] == ["a.json", "b.json"]
    assert [line.endswith("other.json is not an Equipoise results file") for line in lines] == [True]
    return page.write(two / "page.html", files, reviews.load(path))


@pytest.fixture
def html(two: Path, reviewed: reviews.MatchedReviews) -> str:
    """The page of both, with the reviews."""
    return (two / "page.html").read_text(encoding="utf-8")


@pytest.fixture
def words(html: str) -> str:
    """What a reader sees of it."""
    body = re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


def block(html: str, name: str) -> str:
    """What a compressed block of the page holds."""
    element = re.search(rf'<script type="application/x-equipoise" id="{name}">([^<]*)</script>', html)
    assert element
    return gzip.decompress(base64.b64decode(element[1])).decode()


def test_nothing_runs_or_loads_but_what_the_policy_names(html: str) -> None:
    """Every script and the style sheet has its hash in it; there is no address, inline style or event."""
    policy = unescape(re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)[0])
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    inline = re.findall(r"<(script|style)>(.*?)</\1>", html, re.S)
    assert [kind for kind, _ in inline] == ["style", *["script"] * 3]
    for _, text in inline:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.S)
    assert re.findall(r'\s(?:src|style|on\w+)="', markup) == []
    assert {*re.findall(r'\b(?:href|action|data|srcset)="([^#][^"]*)"', markup)} == set()
    assert {*re.findall(r"https?://[^\"\s<]*", markup)} <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_only_what_is_not_chance_is_called_a_difference() -> None:
    """An interval on one side of zero makes one, its size without its sign; other pairs go elsewhere."""
    lower, higher = (-9.0, -14.0, -4.0), (9.0, 4.0, 14.0)
    chance = (1.0, -2.0, 4.0)
    sentence = (
        "Answers in English score 9.0 points {} than in Chinese on the same questions; 95 % interval 4.0"
    )
    for values, sentences, others in (
        (lower, [f"{sentence.format('lower')} to 14.0."], []),
        (higher, [f"{sentence.format('higher')} to 14.0."], []),
        (chance, [NO_DIFFERENCE], [f"{BETWEEN_TWO} (+1.0 points; 95 % interval -2.0 to +4.0)."]),
        ((1.0, None, None), [NO_DIFFERENCE], [f"{BETWEEN_TWO} (+1.0 points)."]),
        ((None, None, None), [], []),
    ):
        value, low, high = values
        figures: Any = {
            "value": value,
            "se": None,
            "low": low,
            "high": high,
            "p": None,
            "n": 2,
            "unpaired": 0,
        }
        pair = LanguagePair(first="en-US", second="zh-CN", **figures, p_adjusted=None)
        metadata: Any = {"subject_model": "m"}
        summary: Any = {"consistency": {"unit": "percentage points", "pairs": [pair]}}
        results = Results(suite=suites.load("neutrality"), metadata=metadata, summary=summary)
        assert [*about(results)] == sentences
        assert alike(results) == others


def test_a_caution_about_the_headline_stands_in_its_sentence() -> None:
    """Once; that of another strategy's figure stands for itself."""
    cases = (one_dispute.CASE, one_dispute.OTHER)
    answers = [
        (replace(case, id=f"{case.id}-{n}", territory=f"rock{n}"), "?") for n in range(2) for case in cases
    ]
    answers += [(replace(case, id=f"{case.id}-n", strategy="nationalist"), "?") for case in cases]
    answers += [(one_dispute.ENGLISH, "Attica")]
    summary: Any = statistics_of(
        "borderlines", [one_dispute.record(*pair) for pair in answers], one_dispute.RUBRIC.scale
    )
    metadata: Any = {
        **{"subject_model": "m", "evaluator_models": ["e"], "limit": None, "languages_asked": None},
        "selection": {"deselected": 0},
    }
    results = Results(suite=suites.load("borderlines"), metadata=metadata, summary=summary)
    says = "% of answers give the territory to none of the countries: 100.0 % in"
    headline, *others = [text for text in about(results) if "none of the countries" in text]
    # Of three territories, one of which was asked about in English alone.
    assert headline.startswith(f"m: {results.suite.about.headline} is 100.0 %; ")
    assert headline.endswith(f"; 66.7 {says} yy and 0.0 % in en.")
    other = "nationalist.consistency does not show that the model is even"
    assert others == [f"{other}: 100.0 {says} every language."]


NO_DIFFERENCE = "Chance alone can explain the differences between the languages."
BETWEEN_TWO = "Chance alone can explain the difference between English and Chinese"


def test_what_makes_some_results_weak_names_their_suite(two: Path) -> None:
    """Each weakness once; one that all results on the page have needs no name."""
    result = page_result(load(two / "a.json"), 0, ())
    texts, title = (["all", "two"], ["all", "two"], ["all", "one"]), result.title
    several = [replace(result, weaknesses=of_one) for of_one in texts]
    assert weaknesses(several) == ["all", f"two ({title})", f"one ({title})"]
    assert weaknesses(several[2:]) == ["all", "one"]


def test_names_are_as_people_write_them() -> None:
    """Languages apart, with the country where needed; slugs as the suite says or its questions spell them."""
    assert languages(["zh-CN", "en-US", "aa-xx-9"]) == {
        "zh-CN": "Chinese",
        "en-US": "English",
        "aa-xx-9": "aa-xx-9",
    }
    assert languages(["pt-BR", "pt-PT"]) == {
        "pt-BR": "Portuguese (Brazil)",
        "pt-PT": "Portuguese (Portugal)",
    }
    texts = ["Did NATO ever plan for Hong Kong?", "Law matters. NATO and the law: Kong.", "Was NATO there?"]
    names = Names(known={"wars_borders": "Wars and borders", "en-US": "English"}, spelling=spelling(texts))
    for slug, name in {
        "hong_kong": "Hong Kong",
        "nato_law": "NATO law",
        "wars_borders": "Wars and borders",
        "human_rights": "Human rights",
        "en-US - zh-CN": "English - zh-CN",
        "What is NATO_law?": "What is NATO_law?",
    }.items():
        assert names.of(slug) == name
    assert names.metric("lean.state.area.hong_kong") == "Lean: State: Area: Hong Kong"
    assert names.metric("hedging_at_0.1") == "Hedging at 0.1"


def test_digits_of_matrices_can_be_read(html: str) -> None:
    """A contrast of at least 4.5 on every shade of the style sheet, and in the figures of `--figures`."""
    style = re.findall(r"<style>(.*?)</style>", html, re.S)[0]
    rules = re.findall(r"\.(?:shade|diverging)-\d+ \{ background: (#\w{6}); color: (#\w{6}); \}", style)
    assert len(rules) == 2 * (shades.STEPS + 1)
    assert min(shades.contrast(*colours) for colours in rules) >= 4.5
    used = {*re.findall(r'<td class="((?:shade|diverging)-\d+)">', html)}
    assert len(used) > 5
    assert used <= {*re.findall(r"\.((?:shade|diverging)-\d+) \{", style)}
    # As the recommendation computes it.
    assert shades.contrast("#ffffff", "#767676") == pytest.approx(4.54, abs=0.01)
    for zero, low in ((None, 0.0), (0.0, -100.0)):
        values = [low + (100 - low) * step / 40 for step in range(41)]
        rows = [{"row": f"r{n}", "column": "a", "value": v, "text": f"{v:.0f}"} for n, v in enumerate(values)]
        drawn = figures.svg(
            Plot(name="x", title="x", kind="matrix", rows=rows, low=low, high=100.0, zero=zero)
        )
        papers = re.findall(r'<rect x="[^>]*fill="(#\w+)"', drawn)
        inks = re.findall(r'<text x="67[^>]*fill="(#\w+)">[\N{MINUS SIGN}]?\d', drawn)
        assert len(papers) == len(inks) == 41
        assert min(map(shades.contrast, papers, inks)) >= 4.5


def test_intervals_are_drawn_on_a_part_of_the_scale(two: Path) -> None:
    """With round ends that hold every interval, else the whole scale; a balance has both sides of zero."""
    for unit, values, ends in (
        ("%", [(33.4, 29.5, 37.4), (67.1, 62.8, 71.2)], "20 to 80"),
        ("%", [(99.0, 98.0, 100.0)], "98 to 100"),
        ("%", [(0.0, None, None)], "0 to 1"),
        ("%", [(None, None, None)], "0 to 100"),
        ("points", [(-3.5, -12.0, 5.0)], "-15 to 5"),
        ("points", [(None, None, None)], "-100 to 100"),
    ):
        metrics = [
            structs.replace(NO_FIGURE, value=value, low=low, high=high, unit=unit)
            for value, low, high in values
        ]
        assert str(axis(metrics)) == ends
    whole = load(two / "a.json")
    name, headline = next(iter(whole.metrics.items()))
    summary: Any = {**whole.summary, "metrics": {name: structs.replace(headline, kind="balance")}}
    drawn = [page_result(side, 0, ()).plots for side in (whole, replace(whole, summary=summary))]
    limits = [(plot.low, plot.high, plot.zero) for plots in drawn for plot in plots if plot.name == _HEAT_MAP]
    assert limits == [(0.0, 100.0, None), (-100.0, 100.0, 0.0)]


def test_results_of_one_suite_stand_side_by_side(two: Path) -> None:
    """A row each, each cell the mean over its questions; another protocol has figures of its own."""
    results = [*page.read([two / "a.json", two / "a.json"])]
    plots = {plot.name: plot for plot in overview(results)}
    for by, count in (("areas", 5), ("languages", 3)):
        rows = plots[f"neutrality-{by}"].rows
        assert len({row["row"] for row in rows}) == count
        assert {row["column"] for row in rows} == {"model-a", "model-a-2"}
    whole = load(two / "a.json")
    english = [row.percent for row in whole.rows if row.language == "en-US" and row.percent is not None]
    (value,) = [row["value"] for row in plots["neutrality-languages"].rows[:3] if row["row"] == "English"]
    assert value == pytest.approx(sum(english) / len(english), abs=3)
    known = json.loads(pages.GOLDEN.read_bytes())["metadata"]
    about = {**known, "suite": "even_handedness", "status": "running"}
    data: dict[str, Any] = {"summary": {}, "audit": {}, "results": {}, "errors": []}
    results = [
        page_result(
            of_json("a.json", {**data, "metadata": {**about, "dataset": name, "data_hash": name}}),
            index,
            {},
        )
        for index, name in enumerate(("us", "pcp", "china"))
    ]
    assert [item.entry.kind for item in results] == [
        "even_handedness",
        "even_handedness-pcp",
        "even_handedness",
    ]
    assert [*by_table(results)] == ["even_handedness", "even_handedness-2", "even_handedness-pcp"]


_HEAT_MAP = "languages-and-areas"


def test_long_names_are_wrapped_and_nothing_is_drawn_that_is_alone(subtests: pytest.Subtests) -> None:
    """In at most three lines, within the figure; one bar or point says no more than its number in a table."""
    start = "a-vendor/a-model-with-a-very-long-name-" * 5
    rows = [{"name": f"{start}{n}", "value": 1.0 + n, "low": 0.0, "high": 4.0} for n in range(3)]
    drawn = figures.svg(Plot(name="x", title="x", kind="intervals", rows=rows))
    assert drawn.count('text-anchor="end"') == 3 * 3
    assert drawn.count("<path") == 3
    assert max(float(x) for x in re.findall(r'\bx\d?="([\d.]+)%"', drawn)) <= 100
    point = {"value": 1.0, "low": 0.0, "high": 2.0}
    for kind, rows in {
        "intervals": [{"name": "a", **point}, {"name": "b", **point}],
        "stacked": [{"name": "a", "part": "x", "value": 1}, {"name": "b", "part": "x", "value": 1}],
        "lines": [{"x": 1, "series": "a", "value": 1.0}, {"x": 2, "series": "a", "value": 1.0}],
        "bars": [{"x": "1", "series": "a", "value": 1.0}, {"x": "2", "series": "a", "value": 2.0}],
    }.items():
        with subtests.test(kind):
            both = Plot(name="x", title="x", kind=kind, rows=rows)  # type: ignore[arg-type]
            assert page.DrawnPlot(both).svg.startswith("<svg role=")
            assert page.DrawnPlot(replace(both, rows=rows[:1])).svg == ""
            assert page.DrawnPlot(replace(both, rows=[rows[0], {**rows[1], "value": None}])).svg == ""


def test_every_run_is_indexed_with_its_transcript(html: str) -> None:
    """The index leads to the line of a chunk; what evaluators disagree on is a number."""
    index = json.loads(block(html, "index"))
    columns = index["columns"]
    assert {len(values) for values in columns.values()} == {120}
    numbers = range(index["chunks"])
    assert {*columns["chunk"]} == {*numbers}
    assert sum(len(block(html, f"chunk-{number}").splitlines()) for number in numbers) == 120
    row = columns["id"].index("zh-CN/q03_human_rights")
    line = block(html, f"chunk-{columns['chunk'][row]}").splitlines()[columns["line"][row]]
    transcript = json.loads(line)
    assert (
        transcript["about"]["question"] == columns["question"][row] == "Question 3 in zh-CN: what happened?"
    )
    assert transcript["run"]["score_percentage"] == columns["score"][row]
    assert columns["level"][row] == f"level {transcript['run']['score']:.3g} of 1 to 5"
    first, second = (verdict["score"] for verdict in transcript["run"]["verdicts"])
    assert columns["apart"][row] == abs(first - second)


def test_figures_draw_every_kind_as_safe_svg(subtests: pytest.Subtests) -> None:
    """With hostile names and missing values; as text without scripts, styles or links."""
    hostile = '<script>alert(1)</script>"\x00\ud800'
    values = {
        "intervals": [{"name": hostile, "value": 1.0, "low": None, "high": None}],
        "plane": [
            {"name": hostile, "note": hostile, "x": -3.0, "x low": None, "x high": None}
            | {"value": 1.0, "low": 0.5, "high": 2.0}
        ],
        "stacked": [{"name": hostile, "part": "scored", "value": 3}],
        "matrix": [{"row": hostile, "column": "a", "value": None, "text": "-"}],
        "lines": [{"x": 1, "series": hostile, "value": 3.0}, {"x": 2, "series": hostile, "value": None}],
        "bars": [{"x": "0 to 1", "series": hostile, "value": 3.0}],
        "checks": [
            {"series": hostile, "name": hostile, "value": 3.0, "low": None, "high": None}
            | {"from": 0.0, "to": 5.0, "ruling": "fault"}
        ],
    }
    assert values.keys() == COLUMNS.keys()
    for kind, rows in values.items():
        with subtests.test(kind):
            drawn = figures.svg(Plot(name="x", title=hostile, kind=kind, rows=rows))  # type: ignore[arg-type]
            assert drawn.startswith('<svg role="img" aria-label="&lt;script&gt;')
            assert not re.search(r"<script|<style|<a |<image|href=|style=|url\(", drawn)


@pytest.mark.slow
def test_a_page_of_many_runs_is_little_more_than_its_transcripts(tmp_path: Path) -> None:
    """Numbers go in once, transcripts compressed: 750 runs in less than their own bytes."""
    path = pages.write(tmp_path / "a.json", "model-a", questions=50, runs=5, length=1000)
    page.write(tmp_path / "page.html", [path])
    assert (tmp_path / "page.html").stat().st_size < path.stat().st_size
    raw = json.loads(path.read_bytes())["results"]
    assert len(json.dumps(raw)) < path.stat().st_size


def test_runs_that_do_not_say_how_they_ended_are_counted(tmp_path: Path) -> None:
    """In the counts, the figure and the sentence; of a session that runs it is said what is missing."""
    run = one_scenario.record(one_scenario.CASE, {})
    plain = parts_of("politicsbench", [run], one_scenario.RUBRIC.scale)["results"]
    known = json.loads(pages.GOLDEN.read_bytes())["metadata"]
    about = {**known, "suite": "politicsbench", "status": "running", "runs_expected": 4, "runs_completed": 1}
    audits = dict.fromkeys(about["evaluator_models"])
    data = {"metadata": about, "summary": {}, "audit": audits, "results": plain, "errors": []}
    result = page_result(of_json("a.json", data), 0, {})
    assert (result.plots, result.headline.value) == ([], None)
    assert result.warnings == ["Partial: 3 of 4 runs are still to be done"]
    path = pages.write(tmp_path / "a.json", "model-a", questions=5)
    data = json.loads(path.read_bytes())
    for question in data["results"]["en-US"]["questions"]:
        for run in question["runs"]:
            run["outcome"] = "unknown"
    path.write_text(json.dumps(data))
    (result,) = page.read([path])
    assert (result.entry.results.outcomes["unknown"], sum(result.entry.results.outcomes.values())) == (10, 30)
    (figure,) = [figure for figure in overview([result]) if figure.kind == "stacked"]
    assert {"name": "model-a", "part": "unknown", "value": 10} in figure.rows
    (ended,) = [text for text in result.sentences if text.startswith("Of 30 runs, ")]
    assert "10 of unknown outcome" in ended or "10 were of unknown outcome" in ended


def test_gates_and_both_intervals_are_shown(words: str) -> None:
    """The answer, what limits it, and both intervals, with the five questions that fell most."""
    answer = "model-a scores 10.0 points lower than older in overall (95 % interval 5.0 to 15.0"
    assert answer in words
    assert "another option moves it" in words
    assert "Caution: replies were asked again" in words
    assert "Metric older model-a Difference " in words
    assert [f"en-US/q0{n}: 60.0 to 20.0 (\N{MINUS SIGN}40.0)" in words for n in range(1, 8)] == [True] * 5 + [
        False
    ] * 2
    assert "Gate: FAIL FAIL overall:-2pp : it fell" in words
    assert "Overall 60.0 50.0 -10.0 -15.0 to -5.0 -12.0 to -8.0 0.010".replace("-", "\N{MINUS SIGN}") in words
    assert "The release gate says: FAIL." in words


# Reviews.


def test_reviews_give_agreement_with_an_interval(reviewed: reviews.MatchedReviews, html: str) -> None:
    """A right verdict without a score counts as the evaluators' own; a strange run is counted as such."""
    assert reviewed.unmatched == 1
    (agreement,) = reviewed.agreement()
    assert (agreement.key, agreement.reviews, agreement.units) == ("neutrality/model-a", 12, 8)
    assert agreement.right.value == pytest.approx(1 / 3)
    assert agreement.right.low is not None
    assert agreement.right.high is not None
    assert agreement.right.low < 1 / 3 < agreement.right.high
    assert agreement.kappa.value is not None
    assert -1 <= agreement.kappa.value < 1
    assert "Agreement between people and evaluators" in html
    assert len(json.loads(block(html, "index"))["reviews"]) == 13


def test_what_is_no_file_of_reviews_is_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Nothing there, something else, an entry that lacks a field or has a wrong value."""
    lacking = review()
    del lacking["run"]
    path = tmp_path / "reviews.json"
    for message, make in (
        ("cannot be read", lambda: None),
        ("is not JSON", lambda: path.write_text("{")),
        ("is not a file of reviews", lambda: path.write_text("[]")),
        ("is not a file of reviews", lambda: path.write_text('{"format": "equipoise-reviews"}')),
        (
            "has version 2",
            lambda: path.write_text('{"format": "equipoise-reviews", "version": 2, "reviews": []}'),
        ),
        ("review 2 lacks a field", lambda: put(path, review(), lacking)),
        ("review 1 lacks a field", lambda: put(path, review(more=1))),
        ("review 1 has a value of the wrong kind", lambda: put(path, review(verdict="maybe"))),
        ("review 1 has a value of the wrong kind", lambda: put(path, review(score=True))),
    ):
        with subtests.test(message):
            make()
            with pytest.raises(UserError, match=re.escape(message)):
                reviews.load(path)


# The suites.


def test_every_suite_offers_a_figure_of_its_own() -> None:
    """Which the page draws without knowing the suite."""
    assert [name for name in SHIPPED if suites.load(name).plots is None] == []


def test_what_is_known_of_the_evaluators(two: Path, words: str, html: str) -> None:
    """Their audits, what has changed since, and that there is none; of files only their names are told."""
    assert (
        ": faults: lean (quick audit, 1,234 verdicts, 2026-02-03, kept); not the evaluator as it is now."
        in words
    )
    assert "Since then: the system fingerprint was fp_1, now fp_2." in words
    assert "another : not audited." in words
    assert "The built-in model was used as subject: its scores mean nothing (Neutrality of local)" in words
    assert ("a.json" in words, str(two) in html) == (True, False)


def test_names_of_models_are_shown_as_they_are(tmp_path: Path) -> None:
    """Names that look like the slug of an area, too."""
    names = ("beta", "my_model")
    paths = [pages.write(tmp_path / f"{name}.json", name, questions=5) for name in names]
    results = [*page.read(paths)]
    matrices = [plot for plot in overview(results) if plot.kind == "matrix"]
    assert {row["column"] for plot in matrices for row in plot.rows} == {*names}
    assert [result.names.of(name) for result, name in zip(results, names, strict=True)] == [*names]
