"""`equipoise review`: blind sheets, what people fill in, reviews from the page, and the agreement."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import builders
import one_fact
import one_question
import pytest
import sheets
from formulas import calculated
from from_records import parts_of
from sheets import people, rows, save, save_reviews

import pages
from equipoise import suites
from equipoise.core.records import Label
from equipoise.core.types import Conversation
from equipoise.judge.rubric import read_lean
from equipoise.report.added import describe_kappa
from equipoise.results.results import Results, of_json
from equipoise.studies.people import agreement, draws, form

HOSTILE = {
    0: '=HYPERLINK("http://x/")',
    1: "+1\nand, more",
    2: "@SUM(A1)",
    3: "x" * 40_000,
    4: " =1",
    5: "- x;=1\t＝1\n" * 4_000,
}


@pytest.fixture
def results(folder: Path) -> Path:
    """Results of two judges in three languages, 60 runs, some of whose replies are formulas."""
    return pages.write(folder / "m.json", "model-a", reply=HOSTILE.get)


run = partial(sheets.run, "review")
refusal = partial(sheets.refusal, "review")


def judged(results: Path) -> dict[str, tuple[int, int]]:
    """What both judges gave, by the id of the reply."""
    data = json.loads(results.read_bytes())
    return {
        f"{language}/{question['id']}/{run['run_index']}": tuple(item["score"] for item in run["verdicts"])
        for language, part in data["results"].items()
        for question in part["questions"]
        for run in question["runs"]
    }


def fill(path: Path, scores: Mapping[str, object], delimiter: str = ",") -> Path:
    """A sheet with these scores, as a spreadsheet saves it."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        table = csv.writer(file, delimiter=delimiter)
        table.writerow(["id", "language", "question", "reply", "score", "note"])
        table.writerows([name, "", "", "several\nlines", score, ""] for name, score in scores.items())
    return path


def test_a_sheet_is_blind_stratified_and_safe(results: Path) -> None:
    """It has no score, no evaluator and no formula, begins with a mark, and the seed draws it again."""
    done = run("sample", results, "-n", "30", "-o", "sheet.csv")
    assert "5: Accurate in all that matters" in done.stdout
    path = Path("sheet.csv")
    assert path.read_bytes().startswith(b"\xef\xbb\xbfid,language,question,reply,score,note,draw\n")
    drawn = rows(path)
    assert Counter(row["language"] for row in drawn) == dict.fromkeys(pages.LANGUAGES, 10)
    assert {(row["score"], row["note"]) for row in drawn} == {("", "")}
    text = path.read_text(encoding="utf-8-sig")
    assert not any(word in text for word in ("judge-a", "judge-b", "model-a", "reasoning"))
    run("sample", results, "-n", "30", "-o", "again.csv")
    run("sample", results, "-n", "30", "-o", "other.csv", "--seed", "7")
    assert Path("again.csv").read_bytes() == path.read_bytes() != Path("other.csv").read_bytes()
    run("sample", results, "-n", "999", "-o", "all.csv")
    everything = {row["id"]: row["reply"] for row in rows(Path("all.csv"))}
    assert everything.keys() == judged(results).keys()
    assert not any(reply.lstrip(" ").startswith(("=", "+", "-", "@")) for reply in everything.values())
    assert max(map(len, everything.values())) < 32_767
    assert calculated(Path("all.csv").read_bytes().decode()) == []
    refused = refusal("sample", results, "-o", "sheet.csv")
    assert "-o: sheet.csv already exists and may contain scores" in refused


def test_fewer_replies_than_wanted_are_explained(folder: Path) -> None:
    """By the runs that have none, in the languages read; of pairs, in neither results."""
    some = pages.write(folder / "some.json", "model-a", reply={0: " ", 6: " ", 41: " "}.get)
    pages.write(folder / "old.json", "model-b", reply={6: " "}.get)
    pairs = ("--pairs", "old.json")
    for number, (options, count) in enumerate(
        (
            (("-n", "99"), "99 replies: 57 of 60 runs"),
            (("-n", "57"), ""),
            (("--language", "en-US"), "60 replies: 18 of 20 runs in en-US"),
            ((*pairs, "-n", "60"), "60 replies: 59 of 60 runs"),
            ((*pairs, "-n", "59", "--person", "a", "--person", "b", "--overlap", "0"), ""),
        )
    ):
        done = run("sample", some, *options, "-o", f"{number}.csv")
        lines = [line for line in done.stdout.splitlines() if line.startswith("fewer than ")]
        assert lines == ([f"fewer than {count} have a reply that an evaluator scored"] if count else [])


def test_each_person_gets_what_they_read(results: Path, subtests: pytest.Subtests) -> None:
    """Languages in the order of the people, or once for all; a reply that two read goes to one of them."""
    english, chinese = pages.LANGUAGES[0], "zh-CN"
    persons = ["--person", "anna", "--person", "wei", "-o", "."]
    codes = ["--language", f"{english},{chinese}", "--language", chinese]
    done = run("sample", results, "-n", "30", *persons, *codes, "--overlap", "0")
    sheets = {name: Counter(row["language"] for row in rows(Path(f"{name}.csv"))) for name in ("anna", "wei")}
    assert sheets["anna"] + sheets["wei"] == {english: 15, chinese: 15}
    assert {*sheets["wei"]} == {chinese}
    (unread,) = {*pages.LANGUAGES} - {english, chinese}
    assert f"no labeller reads {unread}: figures over all languages will not be corrected" in done.stdout
    for name in ("anna", "wei"):
        save(Path(f"{name}.csv"), [{**row, "score": "3"} for row in rows(Path(f"{name}.csv"))])
    run("agree", results, "anna.csv", "wei.csv")
    corrected = people(results)["corrected"]
    assert {"overall", unread} & {*corrected} == set()
    assert corrected[chinese]["labels"] == 15
    for arguments, message in (
        ([*persons, "--language", "en", "--language", "fr", "--language", "de"], "2 times, not 3"),
        (["-o", "x.csv", "--language", "xx"], "--language: no reply is in xx; there are "),
        (["-o", "x.csv", "--language", ", "], "--language: names no language"),
    ):
        with subtests.test(message):
            assert message in refusal("sample", results, *arguments)


def test_people_agree_with_each_other_and_with_evaluators(results: Path) -> None:
    """One person is the first judge, the other a level off now and then; the figures stay in the results."""
    verdicts = judged(results)
    anna = fill(Path("anna.csv"), {name: scores[0] for name, scores in verdicts.items()})
    off = {
        name: scores[0] - (index % 4 == 0 and scores[0] > 1)
        for index, (name, scores) in enumerate(verdicts.items())
    }
    ben = fill(Path("ben.csv"), {**off, next(iter(off)): ""}, ";")
    run("agree", results, anna, ben)
    section = people(results)
    assert [(item["scores"], item["blank"], item["invalid"]) for item in section["sheets"]] == [
        (60, 0, 0),
        (59, 1, 0),
    ]
    names = [(item["first"], item["second"], item["is_evaluator"]) for item in section["agreement"]]
    assert names == [
        ("anna", "ben", False),
        *((name, judge, True) for name in ("anna", "ben") for judge in pages.JUDGES),
    ]
    both, same, *_ = section["agreement"]
    assert (same["kappa"]["value"], same["weighted_kappa"]["value"], same["same"]) == (1, 1, 100)
    assert both["replies"] == 59
    kappa, weighted = both["kappa"], both["weighted_kappa"]
    assert 0.4 < kappa["low"] < kappa["value"] < weighted["value"] < 1
    shown = sheets.run("show", results, "--all").output
    assert "people:    anna: 60 scores; ben: 59 scores, 1 blank" in shown
    assert "           anna and judge-a: kappa 1.00" in shown


def test_labels_that_are_replaced_are_named(results: Path) -> None:
    """Those of people whose sheets are not given again; the sheets of all keep the labels of all."""
    names, hint = judged(results), "(give all sheets in one command to keep them)"
    anna, ben, wei = (
        fill(Path(f"{name}.csv"), dict.fromkeys(names, score))
        for score, name in enumerate(("anna", "ben", "wei"), 2)
    )
    for files, line in (
        ([anna], "added to m.json"),
        ([anna], "replaced in m.json"),
        ([ben], f"replaced in m.json: the labels of anna {hint}"),
        ([ben, wei], "replaced in m.json"),
        ([anna], f"replaced in m.json: the labels of ben, wei {hint}"),
    ):
        assert run("agree", results, *files).stdout.splitlines()[-1] == line
    assert [sheet["name"] for sheet in people(results)["sheets"]] == ["anna"]


def test_what_cannot_be_used_is_named(results: Path) -> None:
    """By sheet and row; the rest counts."""
    names = list(judged(results))
    wrong = {names[0]: "six", names[1]: "2,0", names[2]: "3.5", "en-US/none/1": "4", names[3]: " 5 ", "": "3"}
    path = fill(Path("anna.csv"), wrong)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{names[1]},,,,4,\n\n,,,,,\n{names[4]}\n")
    done = run("agree", results, path)
    assert [line for line in done.stdout.splitlines() if line.startswith("warning")] == [
        "warning:   anna.csv: row 2: score 'six' is not one of 1, 2, 3, 4, 5",
        "warning:   anna.csv: row 4: score '3.5' is not one of 1, 2, 3, 4, 5",
        "warning:   anna.csv: row 5: 'en-US/none/1' is not a reply in these results",
        "warning:   anna.csv: row 7: '' is not a reply in these results",
        f"warning:   anna.csv: row 8: {names[1]} was scored before",
    ]
    assert people(results)["sheets"][0].items() >= {"scores": 2, "blank": 1, "invalid": 5}.items()


def test_reviews_of_the_page_count(results: Path) -> None:
    """Reviewers are told apart; right without a score is the evaluators' own, wrong without one is blank."""
    verdicts = judged(results)
    same = next(name for name, scores in verdicts.items() if scores[0] == scores[1])
    first, second, *_ = (name for name in verdicts if name != same)
    reviews: list[dict[str, Any]] = [
        {"run": same, "verdict": "right", "score": None},
        {"run": first, "verdict": "wrong", "score": 2, "reviewer": ""},
        {"run": second, "verdict": "wrong", "score": None, "note": "", "at": ""},
        {"run": first, "verdict": "wrong", "score": 9, "reviewer": "carla"},
        {"run": same, "verdict": "wrong", "score": 4.0, "reviewer": "carla"},
        {"run": same, "verdict": "right", "score": 1, "reviewer": "x", "model": "other"},
    ]
    done = run("agree", results, save_reviews(Path("reviews.json"), *reviews, model="model-a"))
    assert "warning:   reviews.json: review 4: score '9' is not one of 1, 2, 3, 4, 5" in done.stdout
    counts = {item["name"]: (item["scores"], item["blank"]) for item in people(results)["sheets"]}
    assert counts == {"reviews": (2, 1), "carla": (1, 0)}


def test_names_command_no_terminal(results: Path) -> None:
    """Those of the results, of a sheet and of its person are escaped wherever they are printed."""
    name = "\x1b]0;a\x07\u202e"
    hostile = results.rename(f"{name}.json")
    written = run("sample", hostile, "-o", f"{name}.csv")
    assert written.stdout.startswith(r"\x1b]0;a\x07\u202e.csv: 60 replies; ")
    fill(Path(f"{name}.csv"), {**dict.fromkeys(judged(hostile), 3), f"en-US/{name}/1": 2})
    done = run("agree", hostile, f"{name}.csv")
    shown = sheets.run("show", hostile)
    again = run("sample", hostile, "-o", f"{name}.csv", status=4)
    for text in (written.output, done.output, shown.output, again.output):
        assert text.replace("\n", "").isprintable()
        assert r"\x1b]0;a\x07\u202e" in text


def test_mistakes_are_one_line(results: Path, subtests: pytest.Subtests) -> None:
    """Nothing is written then."""
    before, name = results.read_bytes(), next(iter(judged(results)))
    (Path.cwd() / "b").mkdir()
    files = {
        "columns.csv": b"id,note\n1,2\n",
        "doubled.csv": b"id;score;note; SCORE\n1;2;;3\n",
        "twice.csv": b"id,id,score\n1,2,3\n",
        "latin.csv": "id,score,note\nx,1,\u00e9\n".encode("latin-1"),
        "other.json": b"{}",
        "book.xlsx": b"PK\x03\x04",
        "blank.csv": f"id,score\n{name},\n".encode(),
        "a.csv": f"id,score\n{name},3\n".encode(),
        "b/a.csv": f"id,score\n{name},3\n".encode(),
    }
    for file, content in files.items():
        Path(file).write_bytes(content)
    for arguments, message in (
        (["none.csv"], "none.csv: cannot be read (No such file or directory)"),
        (["columns.csv"], "columns.csv: row 1: the columns id and score are needed, there are 'id,note'"),
        (["doubled.csv"], "doubled.csv: row 1: there are 2 columns score; keep the one that counts"),
        (["twice.csv"], "twice.csv: row 1: there are 2 columns id; keep the one that counts"),
        (["latin.csv"], "latin.csv:2: not UTF-8; save the file as UTF-8"),
        (["other.json"], "other.json: is not a file of reviews"),
        (["book.xlsx"], "book.xlsx: is a workbook; save its sheet as CSV in UTF-8"),
        (["blank.csv"], "no score of a reply in m.json can be used: all are blank"),
        (["a.csv", "b/a.csv"], "both are 'a'; rename one of the files"),
    ):
        with subtests.test(message):
            assert message in refusal("agree", results, *arguments)
    assert results.read_bytes() == before


def graded(*votes: str) -> Results:
    """Results of three questions of fact, each with the votes of one evaluator or two."""
    cases = (one_fact.CASE, one_fact.MILK, one_fact.CHESS)
    records = [one_fact.record(case, vote) for case, vote in zip(cases, votes, strict=True)]
    talk = Conversation(name="m", parameters={}, messages=({"role": "assistant", "content": "茶"},))
    spoken = [replace(record, subject=[talk]) for record in records]
    results = parts_of("chinese_simpleqa", spoken, one_fact.RUBRIC.scale)["results"]
    about = {
        "schema_version": 1,
        "suite": "chinese_simpleqa",
        "subject_model": "m",
        "scale": {"low": 0, "high": 2},
        "started": "",
        "evaluator_models": ["e1", "e2"][: len(votes[0])],
    }
    return of_json("m.json", {"metadata": about, "results": results, "errors": []})


def test_a_divided_panel_is_not_right_about_a_category(tmp_path: Path) -> None:
    """Two evaluators that agree on a grade are right about it; of two grades neither is the panel's."""
    results = graded("AA", "BA", "CC")
    reviews = [
        {"run": reply.id, "verdict": "right", "score": None} for reply in draws.judged_replies(results)
    ]
    path = save_reviews(tmp_path / "anna.json", *reviews, model="m", suite="chinese_simpleqa", started="")
    section, _ = agreement.agree(results, [path])
    (sheet,) = section["sheets"]
    assert (sheet["scores"], sheet["blank"]) == (2, 1)


def test_categories_have_no_weights(folder: Path) -> None:
    """A grade is one of three words, however it is written, and none is nearer to another."""
    known = graded("AA", "BA", "CC")
    names = [reply.id for reply in draws.judged_replies(known)]
    assert {reply.run.question.text for reply in draws.judged_replies(known)} == {"茶圣是谁？\n[陆羽 / 陸羽]"}
    path = fill(Path("anna.csv"), dict(zip(names, ("correct", " Incorrect", "NOT ATTEMPTED"), strict=True)))
    section, wrong = agreement.agree(known, [path])
    assert "not drawn at random" in section["not_corrected"]
    assert (wrong, section["levels"]) == ([], ["correct", "incorrect", "not_attempted"])
    by_evaluator = {item["second"]: item for item in section["agreement"]}
    assert by_evaluator["e1"]["kappa"].value == 1
    assert by_evaluator["e2"]["kappa"].value == pytest.approx(0.5)
    assert [item["weighted_kappa"] for item in by_evaluator.values()] == [None, None]
    assert describe_kappa(by_evaluator["e1"]["weighted_kappa"]) == "-"
    assert form.levels_of(known).read("2") is None


def test_labels_are_worth_what_verdicts_are() -> None:
    """People's labels make of a run what the suite makes of such a verdict; an open field is no zero."""
    facts, scale = suites.load("chinese_simpleqa"), one_fact.RUBRIC.scale
    for vote in "ABC":
        record = one_fact.record(one_fact.CASE, vote)
        assert record.score is not None
        values = facts.values(record, scale)
        assert facts.judging.labelled(Label(score=record.score), values, scale) == values
    pairs = suites.load("even_handedness")
    labels = [Label(score=score, refused=not score) for score in pairs.judging.categories.values()]
    assert [pairs.judging.labelled(label, {}, scale) for label in labels] == [
        {"even": 1, "refusal": 0},
        {"even": 0, "refusal": 1},
    ]
    assert pairs.of("pcp").judging.labelled(Label(score=1), {}, scale) == {}
    suite, scale = suites.load("neutrality"), one_question.RUBRIC.scale
    sides = {"subject": "", "sides": {"first": "", "second": ""}}
    for refused, lean in ((False, "none"), (True, "second_slight")):
        verdict = builders.verdict(2, refused=refused, lean=lean)
        case = replace(one_question.question(1), brief=sides)
        record = builders.scored(case, 2, outcome="refused" if refused else "scored", verdicts=[verdict])
        values = suite.values(record, scale)
        label = Label(score=2, refused=refused, lean=read_lean(verdict.fields))
        assert suite.judging.labelled(label, values, scale).items() <= values.items()
        assert suite.judging.labelled(label, {**values, "truncated": 1.0}, scale)["refused"] == 0
        assert {*suite.judging.labelled(Label(), values, scale).values()} == {None}
        blocked = suite.judging.labelled(label, {**values, "blocked": 1.0}, scale)
        assert (blocked["percent"], blocked["answered"]) == (values["percent"], None)


def test_grades_are_corrected(folder: Path) -> None:
    """F and the shares, from labels drawn at random; three are too few for an interval."""
    known = graded(*"AAC")
    drawn = [row for rows in draws.sample(known, 60, 0) for row in rows]
    names = [reply.id for reply in draws.judged_replies(known)]
    grades = dict(zip(names, ("correct", "incorrect", "correct"), strict=True))
    table = [{"id": row.reply.id, "score": grades[row.reply.id], "draw": row.draw_text} for row in drawn]
    section, wrong = agreement.agree(known, [save(Path("anna.csv"), table)])
    assert wrong == []
    figures = {name: (item["judge"], item["value"]) for name, item in section["corrected"].items()}
    assert figures["correct"] == (pytest.approx(200 / 3), pytest.approx(200 / 3))  # type: ignore[comparison-overlap]
    assert figures["incorrect"] == (0, pytest.approx(100 / 3))  # type: ignore[comparison-overlap]
    assert figures["f"] == (pytest.approx(80), pytest.approx(200 / 3))  # type: ignore[comparison-overlap]
    reason = section["corrected"]["f"]["these"].reason
    assert reason is not None
    assert reason.startswith("too few labels: 3")


@pytest.mark.slow
def test_a_sheet_whose_columns_were_moved_apart_is_refused_row_by_row(
    results: Path, subtests: pytest.Subtests
) -> None:
    """Sorted in part, or with cells moved up by one: each row that does not fit is named and not used."""
    run("sample", results, "-n", "30", "-o", "sheet.csv")
    table = [{**row, "score": "4"} for row in rows(Path("sheet.csv"))]
    run("agree", results, save(Path("ada.csv"), table))
    columns = [*table[0]]
    for name, moved in {
        "ids sorted": ["id"],
        "replies moved": ["question", "reply"],
        "draws": ["draw"],
    }.items():
        with subtests.test(name):
            cells = [[row[column] for column in columns] for row in table]
            for column in map(columns.index, moved):
                values = [row[column] for row in cells]
                for row, value in zip(cells, [*values[1:], values[0]], strict=True):
                    row[column] = value
            apart = [dict(zip(columns, row, strict=True)) for row in cells]
            # Most of the sheet is as it was.
            done = run("agree", results, save(Path("apart.csv"), [*apart[:10], *table[10:]]))
            assert done.output.count("were only some columns sorted or moved? Not used") == 10
            assert "apart.csv: row 2: its " in done.output
            refused = run("agree", results, save(Path("apart.csv"), apart), status=4)
            assert "were only some columns sorted or moved" in refused.output


@pytest.mark.slow
def test_one_file_is_no_two_people(results: Path) -> None:
    """Its copy under another name is refused; labels that are all the same are asked about."""
    run("sample", results, "-n", "30", "-o", "sheet.csv")
    levels = [str(1 + number % 5) for number in range(30)]
    table = [{**row, "score": level} for row, level in zip(rows(Path("sheet.csv")), levels, strict=True)]
    ada, ben = save(Path("ada.csv"), table), Path("ben.csv")
    ben.write_bytes(ada.read_bytes())
    refused = refusal("agree", results, ada, ben)
    assert "ada.csv and ben.csv: are the same file, byte by byte; name it once" in refused
    save(ben, [{**row, "note": "mine"} for row in table])
    done = run("agree", results, ada, ben)
    assert "the labels of all 30 rows that both have are the same; is one a copy of the other?" in done.stdout
    save(ben, [{**table[0], "score": "5"}, *table[1:]])
    assert "is one a copy" not in run("agree", results, ada, ben).stdout
