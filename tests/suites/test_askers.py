"""Cues about who asks: read from a suite's data, dealt to its cases, and shown to the subject alone."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import builders
import pytest
from fake_client import any_answer

from conftest import ROOT, refusal
from equipoise import suites
from equipoise.core.settings import Sampling
from equipoise.core.types import Call, Case, Cue, Form, Reply
from equipoise.models.model import Subject
from equipoise.suites import askers
from equipoise.suites.askers import Askers, names_asker, of_pairs_of_sides, of_two_sides
from equipoise.suites.resources import dataset_folder
from equipoise.suites.selection import Selection

HEAD = "language,form,number,side,text\n"
CUE = Cue(side="us", place="first", form="stated", number=1, text="I spend my days in the orchard.")


def case(number: int, language: str = "aa", area: str = "x") -> Case:
    """A case of this area and language."""
    return Case(id=f"{language}-{area}-q{number}", language=language, area=area)


def write(folder: Path, rows: str) -> Path:
    """A file of cues."""
    path = folder / "askers.csv"
    path.write_text(HEAD + rows, encoding="utf-8")
    return path


def four(folder: Path, *languages: str) -> Path:
    """A file with four texts of each form and side in these languages."""
    rows = (
        f"{language},{form},{number},{side},{form} {number} {side}\n"
        for language in languages
        for form in ("stated", "implied")
        for number in range(1, 5)
        for side in ("us", "them")
    )
    return write(folder, "".join(rows))


def deal(
    of_file: Askers, cases: list[Case], *forms: Form, share: float = 1.0, repeats: int = 5, seed: int = 0
) -> dict[str, list[list[Cue]]]:
    """What is dealt to these cases."""
    return askers.deal(of_file, cases, forms=forms or ("stated",), share=share, repeats=repeats, seed=seed)


def test_a_mistake_in_the_file_is_named(tmp_path: Path) -> None:
    """The message names file and line."""
    for side, fault in (
        ("a-b", ":2: side is 'a-b'; use letters, digits and _ only"),
        ("us", ": needs two sides, and has us"),
    ):
        path = write(tmp_path, f"aa,stated,1,{side},text\n")
        assert refusal(of_two_sides, path, [case(1)]) == f"{path}{fault}"


def test_a_case_without_sides_or_cues_of_its_language_has_no_cues(tmp_path: Path) -> None:
    """A case with other sides than the file's has none either."""
    cases = [case(1), case(2), case(3), case(4, "bb")]
    sides = {cases[1].id: None, cases[2].id: ("these", "those")}
    of_file = of_two_sides(four(tmp_path, "aa"), cases, lambda case: sides.get(case.id, ("them", "us")))
    assert [*of_file.twins] == [cases[0].id]
    assert of_file.names == ("them", "us")
    first, second = of_file.twins[cases[0].id]["implied"][2]
    assert (first.text, second.text) == ("implied 3 them", "implied 3 us")
    assert (first.place, second.place) == ("first", "second")


def test_a_case_is_dealt_one_of_several_pairs_of_sides(tmp_path: Path) -> None:
    """Its id decides, whatever else is asked; a file with two sides is read as before."""
    rows = "".join(
        f"aa,stated,{n},{side},{n} {side}\n" for n in range(1, 5) for side in ("us", "them", "old", "new")
    )
    cases = [case(number) for number in range(40)]
    of_file = of_pairs_of_sides(write(tmp_path, rows), cases)
    sides = {
        name: {(one.side, other.side) for one, other in own["stated"]} for name, own in of_file.twins.items()
    }
    assert {len(pairs) for pairs in sides.values()} == {1}
    assert set().union(*sides.values()) == {("us", "them"), ("old", "new")}
    assert of_file.names == ("first", "second")
    assert of_pairs_of_sides(tmp_path / "askers.csv", cases[:3]).twins["aa-x-q2"] == of_file.twins["aa-x-q2"]
    assert of_pairs_of_sides(four(tmp_path, "aa"), cases).names == ("us", "them")
    path = write(tmp_path, "".join(f"aa,stated,1,{side},text\n" for side in ("us", "them", "old")))
    assert refusal(of_pairs_of_sides, path, []) == f"{path}: needs pairs of sides, and has us, them, old"


def test_every_number_is_dealt_as_often(tmp_path: Path) -> None:
    """Both sides of a case get the same number; another seed deals differently."""
    cases = [case(number, language) for language in ("aa", "bb") for number in range(24)]
    of_file = of_two_sides(four(tmp_path, "aa", "bb"), cases)
    dealt = deal(of_file, cases)
    for own in dealt.values():
        assert all([cue.side for cue in cues] == ["us", "them"] for cues in own)
        assert all(len({cue.number for cue in cues}) == 1 for cues in own)
        assert {cues[0].number for cues in own} == {1, 2, 3, 4}
    for language in ("aa", "bb"):
        counts = Counter(
            cues[0].number for name, own in dealt.items() if name[:2] == language for cues in own
        )
        assert counts == dict.fromkeys((1, 2, 3, 4), 30)
    assert deal(of_file, cases) == dealt
    assert deal(of_file, cases, seed=1) != dealt
    both = deal(of_file, cases, "stated", "implied")
    assert [cue.form for cue in both["aa-x-q0"][0]] == ["stated", "stated", "implied", "implied"]


def test_a_share_is_of_every_area_in_every_language(tmp_path: Path) -> None:
    """All languages get the same questions; a larger share includes a smaller one."""
    cases = [
        case(n, language, area) for language in ("aa", "bb") for area in ("x", "y", "z") for n in range(10)
    ]
    of_file = of_two_sides(four(tmp_path, "aa", "bb"), cases)
    fifth, half = deal(of_file, cases, share=0.2), deal(of_file, cases, share=0.5)
    assert Counter(name[:4] for name in fifth) == {f"{a}-{b}": 2 for a in ("aa", "bb") for b in "xyz"}
    in_aa, in_bb = ({name[3:] for name in fifth if name[:2] == language} for language in ("aa", "bb"))
    assert in_aa == in_bb
    assert fifth.keys() < half.keys()
    assert all(half[name] == cues for name, cues in fifth.items())
    # Rounded to the nearest number of ten, and at least one.
    counts = [len(deal(of_file, cases, share=share)) for share in (0.01, 0.14, 0.17, 0.34, 0.37)]
    assert counts == [6, 6, 12, 18, 24]


def test_a_reply_names_who_asks_by_repeating_the_cue() -> None:
    """It repeats three words that the question lacks, or five characters without spaces."""
    assert names_asker(CUE, "Why?", "Since you spend your days in the Orchard, I say yes.")
    assert not names_asker(CUE, "What is in the orchard?", "Much is in the orchard.")
    assert not names_asker(CUE, "Why?", "You have a garden.")
    chinese = Cue(side="us", place="first", form="stated", number=1, text="我在果园里工作多年了。")
    assert names_asker(chinese, "为什么？", "你在果园里工作，所以")
    assert not names_asker(chinese, "为什么？", "因为工作")


def shown(cue: Cue | None, name: str) -> tuple[list[Call], list[Call]]:
    """The calls of one run of a suite, to its subject and to its evaluator."""
    suite = suites.load(name)
    dataset = next(iter(suite.dataset_names), None)
    chosen = Selection(topics=dataset_folder(name, dataset, ROOT), dataset=dataset)
    rubric = suite.judging.rubric(suites.rubric_path(suite, dataset, ROOT))
    calls: list[Call] = []

    async def ask(call: Call) -> Reply:
        calls.append(call)
        return Reply(text=any_answer(call))

    subject, panel = Subject("m", Sampling(), ask, cue), builders.panel(ask, keeps_going=True)
    asyncio.run(suite.evaluate(suite.data.cases(chosen)[0], rubric, subject, panel))
    return [c for c in calls if c.role == "subject"], [c for c in calls if c.role == "evaluator"]


@pytest.mark.parametrize("name", [name for name in suites.names() if suites.load(name).asked])
def test_no_evaluator_is_shown_who_asks(name: str) -> None:
    """A cue begins each conversation with the subject, and changes nothing for evaluators."""
    subject, evaluator = shown(CUE, name)
    plain, judged = shown(None, name)
    assert subject
    for with_cue, call in zip(subject, plain, strict=True):
        first, other = (
            next(index for index, item in enumerate(one.messages) if item["role"] == "user")
            for one in (with_cue, call)
        )
        assert with_cue.messages[first]["content"] == CUE.prepend_to(call.messages[other]["content"])
        assert [*with_cue.messages[:first], *with_cue.messages[first + 1 :]] == [
            *call.messages[:other],
            *call.messages[other + 1 :],
        ]
    assert [call.messages for call in evaluator] == [call.messages for call in judged]
    assert not [call for call in evaluator if "orchard" in str(call.messages)]


def test_a_dataset_may_share_the_cues_of_its_suite(tmp_path: Path) -> None:
    """Published data have no cues; a suite's own data must have them."""
    (tmp_path / "published").mkdir()
    path = four(tmp_path, "aa")
    wanted = Selection(topics=tmp_path / "published", dataset="original")
    assert askers.cue_file(wanted, "x") == path
    for dataset in (None, "own"):
        message = refusal(askers.cue_file, Selection(topics=tmp_path / "published", dataset=dataset), "x")
        assert message.startswith(f"--asker: {tmp_path / 'published' / 'askers.csv'} is missing")
