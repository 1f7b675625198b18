"""`equipoise review` from a sheet to a corrected figure, and rules about it in `compare` and `gate`."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from sheets import people, refusal, rows, run, save, save_reviews

import pages
from equipoise.report.sentences import about
from equipoise.results.load import load
from equipoise.studies.people import draws

STRICT = 0.5
"""By how many points of the scale the made-up people are milder than the judges."""


@pytest.fixture
def sides(folder: Path) -> tuple[Path, Path]:
    """Results of two releases."""
    return releases(folder)


def releases(folder: Path, **options: Any) -> tuple[Path, Path]:
    """Results of two releases, 150 runs each."""
    before = pages.write(folder / "old.json", "model-1", questions=25, seed=1, **options)
    return before, pages.write(folder / "new.json", "model-2", questions=25, seed=2, **options)


def known(*results: Path) -> dict[tuple[str, str], float]:
    """The judges' mean score by id and text of a reply."""
    return {
        (f"{language}/{question['id']}/{run['run_index']}", run["subject_transcript"][-1]["content"]): run[
            "score"
        ]
        for path in results
        for language, part in json.loads(path.read_bytes())["results"].items()
        for question in part["questions"]
        for run in question["runs"]
    }


def fill(path: Path, scores: Mapping[tuple[str, str], float], change: Callable[[float], float]) -> Path:
    """The sheet with a score in every row."""
    filled = rows(path)
    for row in filled:
        value = change(scores[row["id"], row["reply"].removeprefix("'")])
        row["score"] = str(min(5, max(1, round(value))))
    return save(path, filled)


def mild(seed: int) -> Callable[[float], float]:
    """A person who scores higher than the judges, with some noise."""
    chance = random.Random(seed)  # noqa: S311 - made-up labels need no secret
    return lambda score: score + STRICT + chance.gauss(0, 0.4)


@pytest.fixture(scope="module")
def labelled_pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of two releases, and two people's labels of the same 100 replies of both: made once."""
    folder = tmp_path_factory.mktemp("labelled_pairs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        before, after = releases(folder)
        options = ("--pairs", before, "-n", 100, "--person", "anna", "--person", "ben", "-o", ".")
        run("review", "sample", after, *options)
        scores = known(before, after)
        sheets = [fill(Path(f"{name}.csv"), scores, mild(seed)) for seed, name in enumerate(("anna", "ben"))]
        for results in (before, after):
            run("review", "agree", results, *sheets)
    return folder


@pytest.fixture
def labelled(labelled_pairs: Path, folder: Path) -> tuple[Path, Path]:
    """Results of two releases with people's labels, for one test."""
    shutil.copytree(labelled_pairs, folder, dirs_exist_ok=True)
    return folder / "old.json", folder / "new.json"


def test_labels_correct_every_figure_they_bear_on(sides: tuple[Path, Path]) -> None:
    """The truth is what these people would give all replies; figures of other things stay the judge's."""
    _, results = sides
    run("review", "sample", results, "-n", "60", "-o", "anna.csv")
    sheet = fill(Path("anna.csv"), known(results), mild(0))
    done = run("review", "agree", results, sheet)
    section = people(results)
    corrected = section["corrected"]
    assert (section["draw"]["drawn"], section["draw"]["replies"], len(section["labels"])) == (60, 150, 60)
    assert {"overall", "en-US", "zh-CN", "area.history", "overall_without_blocked"} <= corrected.keys()
    assert "refused" not in corrected
    change = mild(1)
    truth = sum(min(5, max(1, round(change(score)))) * 25 - 25 for score in known(results).values()) / 150
    overall = corrected["overall"]
    for scope in ("these", "population"):
        assert overall[scope]["low"] < truth < overall[scope]["high"]
    assert overall["these"]["high"] < overall["population"]["high"]
    assert overall["is_larger"] is True
    whole = json.loads(results.read_bytes())["summary"]["metrics"]["overall"]["value"]
    assert overall["judge"] == pytest.approx(whole)
    assert "* outside the judge's own interval" in done.stdout
    sentences = [*about(load(results))]
    assert any("as anna read the replies it is" in text for text in sentences)
    assert any("lies outside the evaluators' own interval" in text for text in sentences)


def test_few_labels_are_said_and_a_pilot_plans(sides: tuple[Path, Path]) -> None:
    """Fifteen labels are enough for the whole, and for no area; the plan goes by them."""
    _, results = sides
    assumed = run("review", "plan", results, "--within", "4pp")
    assert "correlate 0.70 (assumed)" in assumed.stdout
    assert "on each side" in assumed.stdout
    planned = run("review", "plan", results, "--within", "±2", "--agreement", "0.9")
    assert "correlate 0.90 (as given)" in planned.stdout
    run("review", "sample", results, "-n", "15", "-o", "anna.csv")
    fill(Path("anna.csv"), known(results), mild(0))
    done = run("review", "agree", results, "anna.csv")
    assert re.search(
        r" no interval for en-US, pt-BR, zh-CN, area\..*, area\..*: too few labels\n", done.stdout
    )
    assert "(a pilot of 15 labels)" in run("review", "plan", results, "--within", "4pp").stdout
    refusal("review", "plan", results, "--within", "wide")


def test_labels_that_are_all_the_same_are_said(sides: tuple[Path, Path]) -> None:
    """In place of a table without a row and a note on its stars."""
    _, results = sides
    run("review", "sample", results, "-n", "60", "-o", "anna.csv")
    fill(Path("anna.csv"), known(results), lambda _: 3)
    *_, corrected, reason, _ = run("review", "agree", results, "anna.csv").stdout.splitlines()
    assert corrected == "corrected: 60 labels by anna; 60 of 150 replies drawn"
    assert reason.startswith("           no interval for overall, en-US, pt-BR, zh-CN, area.")
    assert reason.endswith(": people scored every reply of a language alike")


def test_a_draw_spreads_and_is_dealt(sides: tuple[Path, Path]) -> None:
    """By languages, areas and thirds in proportion, over questions; two people share what was asked for."""
    _, results = sides
    run(
        *("review", "sample", results, "-n", "45", "--person", "anna", "--person", "ben", "--overlap", "15"),
        *("-o", "sheets"),
    )
    anna, ben = (rows(Path("sheets", f"{name}.csv")) for name in ("anna", "ben"))
    assert (len(anna), len(ben)) == (30, 30)
    ids = {row["id"] for row in anna}, {row["id"] for row in ben}
    assert len(ids[0] & ids[1]) == 15
    every = {row["id"]: row for row in (*anna, *ben)}
    assert Counter(row["language"] for row in every.values()) == dict.fromkeys(pages.LANGUAGES, 15)
    # 25 questions in 3 languages have 2 runs each: no question is drawn much more often than others.
    assert max(Counter(name.split("/")[1] for name in every).values()) <= 5
    for row in every.values():
        draw = draws.parse_draw(row["draw"], row["id"])
        assert draw is not None
        assert draw.probability == pytest.approx(45 / 150)
        assert draws.parse_draw(row["draw"], "en-US/other/1") is None


def test_a_paired_draw_is_out_of_the_replies_of_both_results(tmp_path: Path) -> None:
    """120 replies have a baseline's, 30 have none: 45 of 150 are drawn, whichever of the two a row is of."""
    before = load(pages.write(tmp_path / "old.json", "model-1", questions=20))
    after = load(pages.write(tmp_path / "new.json", "model-2", questions=25))
    pairs = draws.sample(after, 45, 0, before)
    texts = [(row.draw_text, row.reply.id) for pair in pairs for row in pair]
    assert len(pairs) == 45 < len(texts) < 90
    for text, reply_id in texts:
        draw = draws.parse_draw(text, reply_id)
        assert draw is not None
        assert (draw.drawn, draw.replies, draw.is_paired) == (45, 150, True)


@pytest.mark.slow
def test_pairs_are_blind_and_each_result_takes_its_own(labelled: tuple[Path, Path]) -> None:
    """A sheet has both replies of a pair, in random order, and says of neither whose it is."""
    sheet = Path("anna.csv")
    text = sheet.read_text(encoding="utf-8-sig")
    assert not any(word in text for word in ("model-1", "model-2", "old.json", "judge-a"))
    assert set(Counter(row["id"] for row in rows(sheet)).values()) == {2}
    for results in labelled:
        assert (len(people(results)["labels"]), people(results)["draw"]["pairs"]) == (100, True)


def test_rules_by_people_decide(labelled: tuple[Path, Path]) -> None:
    """In both scopes, with what the judge says beside it; the session's own rule stands next to it."""
    before, after = labelled
    rules = ("overall:-30pp@these@people", "overall:-40pp@population@people", "overall:-30pp")
    gates = [part for rule in rules for part in ("--gate", rule)]
    was, now = (people(results)["corrected"]["overall"]["judge"] for results in labelled)
    uncorrected = f"uncorrected, the judge says {now - was:+.2f}"
    for command in (("compare", before, after), ("gate", after, "--baseline", before)):
        done = run(*command, *gates)
        text = " ".join(done.stdout.split())
        assert "gate PASS: overall:-30pp@these@people" in text
        assert f"on these replies, 100 labels, by people's labels; {uncorrected}" in text
    strict = run("gate", after, "--baseline", before, "--gate", "overall:-0.1pp@people", status=6)
    assert "by people's labels" in strict.stdout


CHOICES = {
    "outcome": ("refused", "answered", "answered", "Answered ", ""),
    "lean": ("state slight", "none", "critics_strong", "NONE", ""),
}


def full(sheet: Path) -> Path:
    """The sheet with the labels that it asks for; some outcomes and leans are left open."""
    chance = random.Random(0)  # noqa: S311 - made-up labels need no secret
    filled = rows(sheet)
    for row in filled:
        labels = {"score": str(chance.randint(1, 5))}
        labels |= {name: choices[len(row["reply"]) % 5] for name, choices in CHOICES.items()}
        row.update({name: label for name, label in labels.items() if name in row})
    return save(sheet, filled)


@pytest.fixture
def leaning(folder: Path) -> tuple[Path, Path]:
    """Results of two releases whose judges say leans, too."""
    return releases(folder, leans=True)


@pytest.mark.slow
def test_outcomes_and_leans_are_corrected_as_scores_are(leaning: tuple[Path, Path]) -> None:
    """Labels of all replies give what people see, by language and area, too; what is left open is missing."""
    _, results = leaning
    done = run("review", "sample", results, "-n", 150, "--ask", "lean,score,outcome", "-o", "anna.csv")
    assert "outcome: answered, refused" in done.stdout
    assert "lean: state_strong, state_slight, none, critics_slight, critics_strong" in done.stdout
    sheet = full(Path("anna.csv"))
    assert [*rows(sheet)[0]] == [
        "id",
        "language",
        "question",
        "reply",
        "score",
        "outcome",
        "lean",
        "note",
        "draw",
    ]
    done = run("review", "agree", results, sheet)
    section, filled = people(results), rows(sheet)
    known = {
        f"{language}/{question['id']}/{entry['run_index']}": entry
        for language, part in json.loads(results.read_bytes())["results"].items()
        for question in part["questions"]
        for entry in question["runs"]
    }
    ends = {row["id"]: row["outcome"] for row in filled if row["outcome"]}
    assert section["sheets"][0].items() >= {"scores": 150, "outcomes": len(ends)}.items()
    assert f"anna: 150 scores, {len(ends)} outcomes" in done.stdout
    # Nobody was asked more often than once: what is left open is estimated from the rest.
    for name, language in (("refused", ""), ("refused.zh-CN", "zh-CN")):
        item = section["corrected"][name]
        refused = [
            end == "refused" and known[reply]["outcome"] in ("scored", "refused")
            for reply, end in ends.items()
            if reply.startswith(language)
        ]
        assert item["labels"] == len(refused)
        assert item["value"] == pytest.approx(100 * sum(refused) / len(refused), abs=8)
        assert item["these"]["low"] < item["value"] < item["these"]["high"]
    figures = "lean lean.en-US lean.area.history lean.state lean.state.zh-CN refused.area.history"
    assert {*figures.split()} <= section["corrected"].keys()
    assert section["corrected"].keys().isdisjoint({"blocked", "truncated", "overall_without_blocked.en-US"})
    leans = [row["lean"].strip().casefold() for row in filled if row["lean"]]
    assert section["corrected"]["lean.critics"]["value"] == pytest.approx(
        100 * leans.count("critics_strong") / len(leans), abs=8
    )
    shown = run("show", results, "--all").stdout
    assert "refused.zh-CN" in shown


@pytest.mark.slow
def test_rules_about_outcomes_and_leans_decide_by_people(leaning: tuple[Path, Path]) -> None:
    """Also of a language, which the judge has no figure of; about what nobody was asked they are refused."""
    before, after = leaning
    options = ("--ask", "outcome,lean", "--pairs", before, "--person", "anna", "-o", ".")
    run("review", "sample", after, "-n", 60, *options)
    assert "score" not in rows(Path("anna.csv"))[0]
    full(Path("anna.csv"))
    for results in leaning:
        done = run("review", "agree", results, "anna.csv")
        assert people(results)["agreement"] == []
    for rule in (
        *("refused:+60pp@these@people", "lean.state:+60pp@population@people"),
        *("lean:+90pp@people", "lean:-90pp@people", "refused.en-US:+90pp@these@people"),
    ):
        done = run("gate", after, "--baseline", before, "--gate", rule)
        text = " ".join(done.stdout.split())
        assert f"gate PASS: {rule}" in text
        assert "labels, by people's labels; uncorrected, the judge says" in text
    assert "its labels say nothing of overall" in refused_gate(before, after)
    assert "has no metric 'refused.xx'" in refused_gate(before, after, "refused.xx:+5pp@people")
    assert "has no metric 'refused.en-US'" in refused_gate(before, after, "refused.en-US:+5pp")


def test_only_what_figures_use_is_asked(sides: tuple[Path, Path], subtests: pytest.Subtests) -> None:
    """Judges of these results say no leans."""
    _, results = sides
    for text, message in (
        ("lean", "--ask: no figure of new.json is made of lean"),
        ("score,mood", "--ask: 'mood' is none of score, outcome, lean"),
        (",", "--ask: ',' is none of"),
    ):
        with subtests.test(message):
            refused = refusal("review", "sample", results, "--ask", text, "-o", "x.csv")
            assert message in refused.replace(f"{Path.cwd()}/", "")
    run("review", "sample", results, "-n", 20, "--ask", "score,outcome", "-o", "anna.csv")
    first, second, *_ = rows(Path("anna.csv"))
    assert ",".join(first) == "id,language,question,reply,score,outcome,note,draw"
    head, lines = "id,score,outcome,lean,draw\n", []
    for row, cells in ((first, "3,gone,"), (second, ",refused,none")):
        lines.append(f'{row["id"]},{cells},"{row["draw"]}"\n')
    Path("anna.csv").write_text(head + "".join(lines), encoding="utf-8")
    done = run("review", "agree", results, "anna.csv")
    assert "anna.csv: row 2: outcome 'gone' is not one of answered, refused" in done.stdout
    assert "anna.csv: row 3: no figure is made of lean" in done.stdout
    labels = [label["scores"] or label["outcomes"] for label in people(results)["labels"]]
    assert sorted(labels, key=str) == [{"anna": "refused"}, {"anna": 3}]


def refused_gate(before: Path, after: Path, rule: str = "overall:-5pp@these@people", *options: str) -> str:
    """The one line that says why."""
    return refusal("gate", after, "--baseline", before, "--gate", rule, *options)


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """The results with a change."""
    data = json.loads(path.read_bytes())
    change(data)
    path.write_text(json.dumps(data))


@pytest.mark.slow
def test_rules_are_refused_without_labels_that_can_decide(labelled: tuple[Path, Path]) -> None:
    """None, of other verdicts, another rubric, another judge, by others, about other things."""
    before, after = labelled
    assert "its labels say nothing of refused" in refused_gate(before, after, "refused:+5pp@people")
    original = after.read_bytes()
    for change, why in (
        (lambda data: data["metadata"].update(rubric_hash="0"), "were made for another rubric"),
        (lambda data: data["metadata"].update(verdicts_sha256="0"), "belong to other verdicts"),
        (lambda data: data["people"]["draw"].update(evaluator_models=["x"]), "another judge had scored"),
        (lambda data: data["people"].update(people=["carla"]), "different people labelled the two"),
    ):
        edit(after, change)
        options = ["--allow-mismatch"] * ("rubric" in why)
        assert why in refused_gate(before, after, "overall:-5pp@people", *options)
        after.write_bytes(original)
    edit(after, lambda data: data.pop("people"))
    assert "has no labels of people" in refused_gate(before, after)


@pytest.mark.slow
def test_only_blind_random_labels_correct(sides: tuple[Path, Path]) -> None:
    """Rows without their draw, of a changed id, of other replies, and marks: they count for kappa alone."""
    before, after = sides
    run("review", "sample", after, "-n", "40", "-o", "anna.csv")
    fill(Path("anna.csv"), known(after), mild(0))
    text = Path("anna.csv").read_text(encoding="utf-8-sig")

    def why(content: str, name: str = "ben.csv") -> str:
        Path(name).write_text(content, encoding="utf-8")
        done = run("review", "agree", after, name)
        assert "corrected" not in people(after)
        assert "corrected: no figure" in done.stdout
        return str(people(after)["not_corrected"])

    header = "id,score\n"
    plain = header + "".join(f"{row['id']},{row['score']}\n" for row in rows(Path("anna.csv")))
    assert "not drawn at random" in why(plain)
    run("review", "sample", before, "-n", "40", "-o", "base.csv")
    run("review", "agree", before, fill(Path("base.csv"), known(before), mild(0)))
    refused = refused_gate(before, after)
    assert "its labels decide nothing: ben.csv: not drawn at random" in refused
    first, second, *_ = (row["id"] for row in rows(Path("anna.csv")))
    assert "not drawn at random" in why(text.replace(f"{first},", f"{first[:-1]}{3 - int(first[-1])},", 1))
    assert second in text
    review = {"run": first, "verdict": "wrong", "score": 3}
    marks = save_reviews(Path("marks.json"), review, model="model-2").read_text(encoding="utf-8")
    assert "whose readers saw the verdicts" in why(marks, "marks.json")
    edit(
        after, lambda data: data["results"]["en-US"]["questions"][0]["runs"][0]["verdicts"][0].update(score=1)
    )
    assert "another judge had scored the replies" in why(text)


def test_draws_are_not_mixed(sides: tuple[Path, Path]) -> None:
    """Two draws of the same results are two samples."""
    _, results = sides
    for seed, name in enumerate(("anna", "ben")):
        run("review", "sample", results, "-n", "30", "--seed", seed, "-o", f"{name}.csv")
        fill(Path(f"{name}.csv"), known(results), mild(seed))
    done = run("review", "agree", results, "anna.csv", "ben.csv")
    assert "corrected: no figure: anna.csv and ben.csv are of different draws" in done.stdout


def test_mistakes_of_a_draw_are_one_line(sides: tuple[Path, Path], subtests: pytest.Subtests) -> None:
    """Nothing is written then."""
    _, results = sides
    for arguments, message in (
        (["--overlap", "3", "-o", "x.csv"], "--overlap: says what several people share"),
        (["--person", "a/b", "-o", "x"], "--person: give each person a different name"),
        (["--person", "a", "--person", "a", "-o", "x"], "--person: give each person a different name"),
        (["--pairs", "none.json", "-o", "x.csv"], "none.json: cannot be read"),
    ):
        with subtests.test(message):
            assert message in refusal("review", "sample", results, *arguments)
    assert not [path for path in Path().iterdir() if path.suffix != ".json"]
