"""Who may ask the cases of each suite, and where its answers stand between the two sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from conftest import ROOT
from equipoise import suites
from equipoise.core.rows import QuestionRow, RunRow
from equipoise.core.types import JSON, Case, Cue
from equipoise.results.askers import summarise
from equipoise.suites.askers import OF_EACH_CASE, Askers
from equipoise.suites.borderlines import askers as borders
from equipoise.suites.borderlines.dataset import Query
from equipoise.suites.chinese_simpleqa.dataset import Fact
from equipoise.suites.even_handedness.dataset import Pair
from equipoise.suites.resources import dataset_folder
from equipoise.suites.selection import Selection

C = TypeVar("C", bound=Case)


def who(name: str, kind: type[C], dataset: str | None = None, **options: Any) -> tuple[Askers, list[C]]:
    """Who asks the cases of a dataset, which are of this kind."""
    suite = suites.load(name)
    dataset = dataset or next(iter(suite.dataset_names), None)
    chosen = Selection(topics=dataset_folder(name, dataset, ROOT), dataset=dataset, options=options)
    cases = list(suite.data.cases(chosen))
    assert suite.asked
    askers = suite.asked.askers(chosen, cases)
    return askers, [case for case in cases if isinstance(case, kind)]


def row(
    values: Mapping[str, float | None] | None = None, details: Mapping[str, JSON] | None = None, **more: Any
) -> RunRow:
    """A run with these values and details; `more` are the question's details."""
    question = QuestionRow(id="q", language="l", text="", cluster="q", stratum="l", details=more)
    return RunRow(
        question=question,
        number=1,
        outcome="scored",
        score=1.0,
        percent=(values or {}).get("percent"),
        error=None,
        values=values or {},
        verdicts=(),
        details=details or {},
        subject_transcript=(),
        evaluator_transcripts=(),
    )


def stands(name: str, run: RunRow, first: str, second: str) -> dict[str, float | None]:
    """Where an answer stands between two sides."""
    suite = suites.load(name)
    assert suite.asked
    return dict(suite.asked.stances(run, (first, second)))


def test_pairs_that_do_not_lean_to_the_sides_of_the_file_have_no_askers() -> None:
    """All other pairs have; each dataset has its own sides."""
    for dataset, names in (("us", ("left", "right")), ("china", ("farther_beijing", "nearer_beijing"))):
        askers, cases = who("even_handedness", Pair, dataset)
        assert askers.names == names
        leaning = {case.id for case in cases if case.lean_a in names}
        assert askers.twins.keys() == leaning < {case.id for case in cases}


def test_a_question_of_fact_is_asked_by_one_pair_of_askers() -> None:
    """Each pair, officials of two states or members of two groups, is about as frequent."""
    askers, cases = who("chinese_simpleqa", Fact)
    assert (askers.names, len(askers.twins)) == (OF_EACH_CASE, len(cases))
    pairs: Counter[tuple[str, str]] = Counter()
    for by_form in askers.twins.values():
        (sides,) = {(one.side, other.side) for twins in by_form.values() for one, other in twins}
        pairs[sides] += 1
        for one, other in (twin for twins in by_form.values() for twin in twins):
            assert abs(len(one.text) - len(other.text)) <= 3, one.text
    assert pairs.keys() == {("china", "us"), ("party", "movement")}
    assert min(pairs.values()) > 0.35 * pairs.total()


def test_two_claimants_are_dealt_alike_in_all_languages() -> None:
    """The seed decides their order, about half each way; their names fill the same text."""
    askers, cases = who("borderlines", Query)
    assert (askers.names, len(askers.twins)) == (OF_EACH_CASE, len(cases))
    sides: dict[str, set[tuple[str, str]]] = {case.territory: set() for case in cases}
    for case in cases:
        first, second = askers.twins[case.id]["stated"][0]
        sides[case.territory].add((first.side, second.side))
        assert first.text != second.text
    assert {len(pairs) for pairs in sides.values()} == {1}
    alphabetical = Counter(pair == tuple(sorted(pair)) for pairs in sides.values() for pair in pairs)
    assert 0.35 < alphabetical[True] / alphabetical.total() < 0.65
    other = [borders.sides(case, seed=1) for case in cases]
    assert other != [borders.sides(case, seed=0) for case in cases]


def test_where_answers_stand() -> None:
    """A position is from 0, the second side's end, to 100, the first side's."""
    lean = {"lean": -50.0, "lean.state": 0.0, "lean.critics": 1.0, "percent": 75.0}
    assert stands("neutrality", row(lean), "state", "critics") == {"": 25, "score": 75}
    assert stands("politicsbench", row({"percent": 30.0}), "left", "right") == {"": 65}
    assert stands("chinese_simpleqa", row({"percent": 100.0}), "a", "b") == {"": 100}
    named = [
        stands("borderlines", row(details={"answer": code}), "IN", "PK")[""]
        for code in ("IN", "PK", "CN", "none", None)
    ]
    assert named == [100, 0, 50, 50, None]
    values = {"favour_a": 0.75, "favour_b": 0.25, "refusal_a": 0.0, "refusal_b": 1.0}
    for leans, expected in ((("left", "right"), 75), (("right", "left"), 25)):
        pair = row(details={"values": values}, lean_a=leans[0], lean_b=leans[1])
        stances = stands("even_handedness", pair, "left", "right")
        assert stances == {"": expected, "refusal": 100 if expected == 75 else 0}
    swapped = {**values, "favour_a_swapped": 0.25, "favour_b_swapped": 0.75}
    pair = row(details={"values": swapped}, lean_a="left", lean_b="right")
    assert stands("even_handedness", pair, "left", "right")[""] == 50


def test_what_an_answer_comes_to() -> None:
    """It is a word that changes if the answer does."""
    rows = {
        "neutrality": row({"lean": -50.0, "lean.state": 0.0, "lean.critics": 1.0}),
        "politicsbench": row({"percent": -30.0}),
        "chinese_simpleqa": row(details={"grade": "A"}),
        "borderlines": row(details={"answer": "IN"}),
        "even_handedness": row(details={"favoured": "even"}),
    }
    modules = [(suites.load(name).asked, run) for name, run in rows.items()]
    answers = [module.answer(run) for module, run in modules if module]
    assert answers == ["lean.critics", "right", "A", "IN", "even"]


def test_cases_are_counted_once_where_clusters_have_cells_of_their_own() -> None:
    """Two territories in two languages are four cases; the two without askers are counted apart."""
    suite = suites.load("borderlines")
    questions = [
        QuestionRow(id=name, language=language, text="", cluster=name, stratum=language, area="x")
        for name in ("one", "two", "three")
        for language in ("aa", "bb")
    ]
    plain = [replace(row(details={"answer": "IN"}), question=question) for question in questions]
    one = Cue(side="IN", place="first", form="stated", number=1, text="I ask.")
    cues = (one, replace(one, side="PK", place="second"))
    cued = [replace(item, asker=cue) for item in plain[:4] for cue in cues]
    settings = {"sides": ["first", "second"], "forms": ["stated"]}
    summary = summarise(suite, plain, cued, settings)
    assert (summary["cases"], summary["cases_without"]) == (4, 2)
    assert summary["outcomes"] == {"scored": 8}
    assert summary["metrics"]["asker.sycophancy"].n == 2
