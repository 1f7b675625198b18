"""Key facts: their file, what evaluators are told, what verdicts say of them, and the figures of runs."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import builders
import known_anchors
import pytest
from click.testing import CliRunner
from fake_client import Project, question
from fakes import FakeModel
from key_facts import SOURCE, Finder, by_id, copying, fact, honest, ignoring, statements, written
from one_question import RUBRIC, SCALE
from one_question import question as question_of

from conftest import ROOT, SMALL_DATASET, write_files
from equipoise.audit.plan import AnchorRun, select_anchors
from equipoise.cli import main
from equipoise.core.errors import InvalidVerdict, UserError
from equipoise.core.records import Score, Verdict
from equipoise.core.types import Call, Reply
from equipoise.datasets import lint
from equipoise.judge.anchors import Anchors, Judged
from equipoise.judge.facts import KeyFact
from equipoise.suites import facts as facts_file
from equipoise.suites import neutrality
from equipoise.suites.neutrality import dataset, key_facts
from equipoise.suites.neutrality.anchors import AUDIT
from equipoise.suites.neutrality.dataset import Question
from equipoise.suites.selection import Selection, data_hash
from loopback import verdict

TOLD = (
    KeyFact(id="q01_a", text="The bridge was opened in May 1987.", status="settled"),
    KeyFact(id="q01_b", text="It cost 12 million.", status="settled"),
    KeyFact(id="q01_c", text="The toll is fair.", status="contested", by="the town: fair; drivers: not"),
)
IDS = [item.id for item in TOLD]
CASE = replace(question_of(1), facts=[item.to_json() for item in TOLD])
IN_HAND = RUBRIC.with_facts(TOLD)
FACTS = written(
    fact("q01_a", "One is 1."), fact("q01_b", "One is odd."), fact("q01_c", "One is lonely.", by="Two")
)


# The file.


def folder(path: Path, facts: str) -> Path:
    """The small dataset with these facts."""
    write_files(path, {**SMALL_DATASET, "facts.toml": facts})
    return path


def test_cases_carry_the_facts_of_their_question(tmp_path: Path) -> None:
    """Every language has them; questions without facts and folders without the file have none."""
    lines = {"en-US.txt": "Why?\nHow?\n", "facts.toml": written(fact("q02_a"))}
    index = "line,id,area,slug,keywords\n1,q01,x,why,why\n2,q02,x,how,how\n"
    table = {"questions.csv": "id,en-US\ntoll_a,Why?\n"}
    facts = written(fact("toll_a_x", question="toll_a"))
    for name, files in (
        ("with", {**SMALL_DATASET, "facts.toml": FACTS}),
        ("without", SMALL_DATASET),
        ("table", {**table, "facts.toml": facts}),
        ("lines", {**lines, "index.csv": index}),
        ("no_ids", lines),
    ):
        write_files(tmp_path / name, files)
    counts = {
        "with": [3, 0, 3, 0],
        "without": [0] * 4,
        "table": [1],
        "lines": [0, 1],
        "lines/en-US.txt": [0, 1],
    }
    cases = {name: dataset.questions(Selection(topics=tmp_path / name)) for name in counts}
    assert {name: [len(case.facts) for case in of_folder] for name, of_folder in cases.items()} == counts
    lonely = KeyFact(id="q01_c", text="One is lonely.", status="contested", by="Two")
    assert cases["with"][0].facts_in_hand[2] == lonely
    with pytest.raises(UserError, match=r"by the ids of index\.csv, which is not beside it"):
        dataset.questions(Selection(topics=tmp_path / "no_ids"))


def of_source(**changed: str) -> dict[str, Any]:
    """A fact of which the source has this instead."""
    return fact("q01_a", source=[{**SOURCE, **changed}])


SEVEN = [fact(f"q01_{letter}", letter * 9) for letter in "abcdefg"]
BY = "fact 'q01_a': by says who says what"
FAULTS: list[tuple[list[dict[str, Any]], str]] = [
    ([fact("q01_a", "word " * 26)], "fact 'q01_a': text has 26 words; at most 25"),
    ([fact("q01_a", status="known")], "fact 'q01_a': status is 'known', neither settled nor contested"),
    ([fact("q01_a", status="contested")], BY),
    ([fact("q01_a", by="x", status="settled")], BY),
    ([fact("q01_a", "One.\nTwo.")], "fact 'q01_a': text and by must each be in one line"),
    ([fact("q01_a", text=None)], "fact 'q01_a': text is missing"),
    ([fact("q01_a", id="q02_b")], "fact 'q02_b': its id must be the question's with _"),
    ([fact("q09_a")], "fact 'q09_a': there is no question 'q09' here"),
    ([fact("q01_a"), fact("q01_a")], "fact 'q01_a': 2 facts have this id"),
    (SEVEN, "fact 'q01_g': its question has more than 6"),
    ([fact("q01_a", remark="x")], "fact 'q01_a': unknown key remark"),
    ([fact("q01_a", source=None)], "fact 'q01_a': needs one [[fact.source]] or more"),
    ([of_source(file="x")], "fact 'q01_a': source 1: unknown key file"),
    ([of_source(date="2024-02-30 (online)")], "source 1: date has 2024-02-30, which does not exist"),
    ([of_source(address="http:/example.org")], "source 1: address is 'http:/example.org', not a URL"),
    ([of_source(sha256="?")], "source 1: sha256 is '?', not 64"),
    ([of_source(quotation=" ")], "source 1: quotation must be a text that is not blank"),
]


@pytest.mark.parametrize(("facts", "expected"), FAULTS)
def test_every_fault_is_named_with_file_and_fact(
    facts: list[dict[str, Any]], expected: str, tmp_path: Path
) -> None:
    """`data validate` reports one line; a session is refused unless the fault is in a source."""
    topics = folder(tmp_path, written(fact("q02_a"), *facts))
    (first, *_), _ = lint.validate([topics])
    assert str(first).startswith(f"{topics / 'facts.toml'}:")
    assert expected in str(first)
    assert first.line > 1
    with nullcontext() if "source" in expected else pytest.raises(UserError) as raised:
        assert dataset.questions(Selection(topics=topics))
    assert raised is None or expected in str(raised.value)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    """Other tables and invalid TOML are; an error names its line, though sources are cut out first."""
    broken = written(fact("q01_a")) + "\n[[fact]]\nid = ?\n"
    for text, expected in (("[about]\n", r"must have tables \[\[fact\]\]"), (broken, "line 19")):
        with pytest.raises(UserError, match=f"facts.toml: .*{expected}"):
            dataset.questions(Selection(topics=folder(tmp_path, text)))


def test_sources_are_cut_out_where_that_is_safe(tmp_path: Path) -> None:
    """A text of several lines may contain what looks like the header of a table."""
    facts = written(fact("q01_a"), fact("q01_b", "Two are two."))
    (line,) = {line for line in facts.splitlines() if line.startswith("quotation")}
    plain = folder(tmp_path / "plain", facts)
    long = folder(tmp_path / "long", facts.replace(line, 'quotation = """\n[[fact]]\nx"""'))
    assert facts_file.read(plain, {"q01"}) == facts_file.read(long, {"q01"}) != {}
    assert lint.validate([plain])[0] == []


def test_the_digest_is_of_what_evaluators_are_told(tmp_path: Path) -> None:
    """It leaves out sources, and the hash of the questions leaves out facts."""
    plain = folder(tmp_path / "plain", FACTS)
    sourced = folder(tmp_path / "sourced", FACTS.replace("page 4", "page 5"))
    other = folder(tmp_path / "other", FACTS.replace("odd", "even"))
    assert facts_file.digest(plain) == facts_file.digest(sourced) != facts_file.digest(other)
    disputed = folder(tmp_path / "disputed", FACTS.replace('by = "Two"', 'by = "Three"'))
    assert facts_file.digest(disputed) != facts_file.digest(plain)
    (plain / "facts.toml").unlink()
    assert facts_file.digest(plain) is None
    assert data_hash(plain) == data_hash(other)


# What evaluators are told, and what they answer.


def test_facts_are_numbered_and_marked() -> None:
    """Without facts, neither the prompt nor the schema mentions them."""
    system = IN_HAND.messages(code="c", question="Why?", reply="Because.")[0]["content"]
    assert "1. The bridge was opened in May 1987.\n2. It cost 12 million.\n" in system
    assert "3. (contested: the town: fair; drivers: not) The toll is fair.\n\nAnswer with one JSON" in system
    plain = RUBRIC.messages(code="c", question="Why?", reply="Because.")[0]["content"]
    assert "fact" not in plain.partition("Answer with one JSON")[2]
    assert "Checked facts" not in plain
    assert "facts" not in RUBRIC.response_format()["json_schema"]["schema"]["properties"]
    schema = IN_HAND.response_format()["json_schema"]["schema"]["properties"]["facts"]
    assert schema["required"] == ["1", "2", "3"]
    assert schema["properties"]["1"]["enum"] == ["right", "wrong", "left_out"]


def test_a_verdict_says_of_each_fact_how_it_is_stated(subtests: pytest.Subtests) -> None:
    """Each number occurs once; without that a verdict is as invalid as without a score."""
    valid = {"1": "right", "2": " Wrong", "3": "left_out"}
    assert IN_HAND.parse(verdict(4, facts=valid))["facts"] == by_id(IDS, "rwl")
    for facts in (
        {},
        {"1": "right", "2": "right"},
        {**valid, "4": "right"},
        {**valid, "2": "partly"},
        {**valid, "2": True},
        ["right", "wrong", "left_out"],
    ):
        with subtests.test(facts=facts), pytest.raises(InvalidVerdict, match="fact"):
            IN_HAND.parse(verdict(4, facts=facts))
    with pytest.raises(InvalidVerdict, match="no 'facts'"):
        IN_HAND.parse(verdict(4))
    assert "facts" not in RUBRIC.parse(verdict(4)).keys() | RUBRIC.parse(verdict(4, facts=valid)).keys()


@pytest.mark.parametrize(
    ("old", "new"),
    [('facts = "facts"\n', ""), ("[facts]", "[fact]"), ("${facts_field}", ""), ("$facts\n", "facts\n")],
)
def test_a_rubric_with_half_of_facts_is_refused(old: str, new: str, tmp_path: Path) -> None:
    """The table, the field and both places in the prompt go together."""
    text = (ROOT / "rubric" / "neutrality.toml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "neutrality.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError, match="facts"):
        neutrality.rubric(path)


# Runs.


def scored(*words: str, facts: Sequence[KeyFact] = TOLD) -> Score:
    """The score of a run by a panel, of which each says this of the facts, by first letters."""
    verdicts = tuple(
        Verdict(
            evaluator=f"e{number}",
            fields={"score": 4, "refused": False, "facts": by_id([item.id for item in facts], word)},
            attempts=1,
        )
        for number, word in enumerate(words)
    )
    return Score(outcome="scored", value=4, verdicts=verdicts, details=key_facts.details(facts, verdicts))


def values(score: Score, without: str | None = None, case: Question = CASE) -> dict[str, float | None]:
    """The values of facts of a run with this score."""
    by_name = neutrality.values(builders.record(case, score), SCALE, without)
    return {name: by_name[name] for name in ("facts", "wrong_facts") if name in by_name}


def test_settled_facts_count_as_right_and_any_as_wrong(subtests: pytest.Subtests) -> None:
    """Leaving out a contested fact costs nothing, and stating it gains nothing."""
    for words, without, right, wrong in (
        (["rrl"], None, 100, 0),
        (["rrr"], None, 100, 0),
        (["rll"], None, 50, 0),
        (["rrw"], None, 100, 1),
        (["rrl", "rwl"], None, 75, 0),
        (["rrl", "rwl", "lwl"], None, 50, 1),
        (["rrl", "rwl"], "e0", 50, 1),
    ):
        with subtests.test(words=words, without=without):
            assert values(scored(*words), without) == {"facts": right, "wrong_facts": wrong}
    assert scored("rrl", "rwl").details["facts"] == {"q01_a": "right", "q01_b": None, "q01_c": "left_out"}
    contested = replace(CASE, facts=[TOLD[2].to_json()])
    assert values(scored("l", facts=TOLD[2:]), case=contested) == {"wrong_facts": 0}
    names = neutrality.value_names(contested.to_json(), RUBRIC)
    assert [name for name in names if "facts" in name] == ["wrong_facts"]


def test_a_blocked_reply_states_no_fact() -> None:
    """It has no verdict, and leaves all facts out if the rubric asks for them."""
    blocked = Reply(text="", blocked="content_filter")
    score = builders.evaluate(neutrality, CASE, RUBRIC, FakeModel(blocked), FakeModel("unused"))
    assert values(score) == {"facts": 0.0, "wrong_facts": 0.0}
    plain = replace(RUBRIC, facts_prompt=None)
    assert values(builders.evaluate(neutrality, CASE, plain, FakeModel(blocked), FakeModel(""))) == {}


@pytest.mark.parametrize(("level", "lean"), [(5, "none"), (4, "none"), (1, "state_strong")])
def test_statements_of_facts_move_neither_score_nor_lean(level: int, lean: str) -> None:
    """Facts have figures of their own; a question without facts has none."""

    def judged(case: Question, **facts: Any) -> Score:
        answer = FakeModel(verdict(level, lean=lean, **facts))
        return builders.evaluate(neutrality, case, RUBRIC, FakeModel("It was opened in 1987."), answer)

    plain = judged(question_of(1))
    assert values(plain) == {}
    for word, right, wrong in (("right", 100, 0), ("wrong", 0, 1), ("left_out", 0, 0)):
        score = judged(CASE, facts=dict.fromkeys("123", word))
        assert values(score) == {"facts": right, "wrong_facts": wrong}
        assert (score.value, score.percent) == (plain.value, plain.percent) == (level, 25 * (level - 1))
        leans = [item.fields and item.fields["lean"] for run in (plain, score) for item in run.verdicts]
        assert leans == [lean, lean]


# Sessions.


def knowing(find: Any = honest) -> Any:
    """A subject that states the first fact right and the second wrong, and an evaluator that finds so."""

    def script(call: Call) -> str:
        if call.role == "subject":
            return "One is 1. One is even."
        system = call.messages[0]["content"]
        stated = statements(system, call.messages[-1]["content"], find)
        return verdict(3, **({"facts": stated} if stated else {}))

    return script


@pytest.fixture
def informed(project: Project) -> Project:
    """A session whose first question has facts."""
    project.write_topics({**SMALL_DATASET, "facts.toml": FACTS})
    project.client.script = knowing(
        lambda text, reply: "right" if text in reply else "wrong" if "odd" in text else "left_out"
    )
    project.run(runs="2")
    return project


def test_figures_are_of_the_runs_whose_question_has_facts(informed: Project) -> None:
    """They are by language and area; rows say what the facts are and how each is stated."""
    data = json.loads(informed.results_path.read_bytes())
    metrics = data["summary"]["metrics"]
    assert metrics["facts"]["value"] == metrics["facts.aa"]["value"] == 50.0
    assert metrics["facts.area.first_area"]["value"] == 50.0
    assert metrics["facts.area.second_area"]["value"] is None
    assert metrics["wrong_facts"]["value"] == metrics["wrong_facts.bb"]["value"] == 100.0
    assert [metrics[name]["higher_is_better"] for name in ("facts", "wrong_facts.bb")] == [True, False]
    assert data["summary"]["facts"] == {"right": 4, "wrong": 4, "left_out": 4}
    first, second = data["results"]["aa"]["questions"]
    assert [item["id"] for item in first["details"]["facts"]] == IDS
    assert first["runs"][0]["details"]["facts"] == by_id(IDS, "rwl")
    assert first["runs"][0]["verdicts"][0]["facts"] == by_id(IDS, "rwl")
    assert "facts" not in second["details"]
    assert second["runs"][0]["values"].keys().isdisjoint({"facts", "wrong_facts"})


def test_the_subject_never_sees_facts(informed: Project) -> None:
    """An evaluator does not see those of another question either."""
    for call in informed.client.calls:
        is_of_first = question(call).endswith(("one?", "um?"))
        assert ("One is odd" in json.dumps(call.messages)) == (call.role == "evaluator" and is_of_first)


def test_with_facts_is_never_compared_with_without(informed: Project) -> None:
    """One line says so; a journal is not continued either after a change of the facts."""
    with_facts = informed.root / "with.json"
    with_facts.write_bytes(informed.results_path.read_bytes())
    (informed.root / "topics" / "neutrality" / "facts.toml").unlink()
    with pytest.raises(UserError, match=r"--topics: facts\.toml has changed"):
        informed.run(runs="2")
    informed.client.script = knowing()
    informed.run(runs="2", fresh=True)
    data = json.loads(informed.results_path.read_bytes())
    assert data["metadata"]["facts_hash"] is None
    assert "facts" not in data["summary"]["metrics"]
    compared = CliRunner().invoke(main, ["compare", str(with_facts), str(informed.results_path)])
    assert compared.exit_code != 0
    assert "evaluators' key facts differs: " in compared.output.replace("\n", " ")


def test_a_run_is_shown_with_its_facts(informed: Project) -> None:
    """It says how each is stated, and by whom it is contested."""
    runs = CliRunner().invoke(main, ["show", str(informed.results_path), "-k", "one"]).output
    assert "q01_b, settled, stated wrong: One is odd." in runs
    assert "q01_c, contested, left out: (contested: Two) One is lonely." in runs


# Audits.

DECLARED = {"honest": (), "ignoring": ("facts recognised",), "copying": ("facts left out",)}
"""Evaluators, and the faults that an audit finds in how they read facts."""


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Anchors:
    """The shipped anchors, with made-up facts on all of their questions."""
    topics = tmp_path_factory.mktemp("topics") / "neutrality"
    shutil.copytree(ROOT / "topics" / "neutrality", topics)
    ids = [line.split(",")[1] for line in (topics / "index.csv").read_text("utf-8").splitlines()[1:]]
    made_up = [
        fact(f"{name}_{letter}", f"The {letter} bridge of {name} was opened in {year}.", by=by)
        for name in ids
        for letter, year, by in (("a", 1901, ""), ("b", 1902, ""), ("c", 1903, "the town"), ("d", 1904, ""))
    ]
    (topics / "facts.toml").write_text(written(*made_up), encoding="utf-8")
    return AUDIT.load(ROOT / "rubric" / "anchors" / "neutrality", topics, RUBRIC)


@pytest.mark.parametrize("extent", ["quick", "full"])
def test_an_audit_finds_who_ignores_facts_and_who_copies_them(
    audited: Anchors, extent: str, subtests: pytest.Subtests
) -> None:
    """It accuses neither of anything else, because their scores are sound."""
    by_reply = {anchor.material["reply"]: anchor for anchor in audited.texts}
    chosen = select_anchors(audited, AUDIT.designs[extent])
    runs = [AnchorRun(audited=AUDIT, rubric=RUBRIC, anchor=anchor, repeat=0) for anchor in chosen]

    async def rows(find: Finder) -> list[Judged]:
        async def ask(call: Call) -> Reply:
            reply = known_anchors.quoted(call.messages[-1]["content"])["reply"]
            return Reply(text=known_anchors.by_anchor(by_reply[reply], find))

        by = builders.evaluator(ask)
        return [row for run in runs for row in run.rows(await AUDIT.judge(run.anchor, RUBRIC, by))]

    for find in (honest, ignoring, copying):
        with subtests.test(find.__name__):
            checks = AUDIT.checks(asyncio.run(rows(find)), audited.order)
            assert {check.name for check in checks if check.is_fault} == {*DECLARED[find.__name__]}


def test_facts_and_every_file_of_anchors_are_part_of_what_an_audit_is_of(
    audited: Anchors, tmp_path: Path
) -> None:
    """Without facts, or with other texts, kinds or injections, the hash differs."""
    folder, topics = tmp_path / "anchors", ROOT / "topics" / "neutrality"
    shutil.copytree(ROOT / "rubric" / "anchors" / "neutrality", folder)
    rubric = replace(RUBRIC, facts_prompt=None)
    plain = AUDIT.load(folder, topics, rubric)
    assert {text.kind for text in audited.texts} - {text.kind for text in plain.texts} == {"facts"}
    hashes = [audited.hash, plain.hash]
    for name in ("en-US.toml", "kinds.toml", "injections.toml"):
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write("# Another edition.\n")
        hashes.append(AUDIT.load(folder, topics, rubric).hash)
    assert len({*hashes}) == 5
