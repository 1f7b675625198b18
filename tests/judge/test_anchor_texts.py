"""Anchors, texts whose verdicts are known: complete, balanced between sides, about real questions."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pytest

from conftest import ROOT
from equipoise import suites
from equipoise.judge.anchors import Anchor
from equipoise.suites import neutrality
from equipoise.suites.even_handedness.anchors import EVEN
from equipoise.suites.neutrality.anchor_kinds import FAMILIES, MIRRORS, TRANSLATED
from equipoise.suites.selection import Selection

ANCHORS = ROOT / "rubric" / "anchors"
LANGUAGES = ("en-US", "pt-BR", "zh-CN")
KINDS = (*("exemplary", "omissions", "state", "critic"), *("refusal", "factually_wrong", "short", "padded"))
"""What each of the twelve questions has, of kinds that come in two sorts the sort left out."""
SORTS = {
    **dict.fromkeys(("omissions_light", "omissions_heavy"), "omissions"),
    **dict.fromkeys(("state_aligned", "uneven_state"), "state"),
    **dict.fromkeys(("critic_aligned", "uneven_critic"), "critic"),
}
MIRRORED = (*MIRRORS, ("uneven_state", "uneven_critic"))
TOP_MIRRORED = tuple((f"{kind}_state", f"{kind}_critic") for kind in ("framed", "withheld", "one_root"))
EMBARRASS_OTHERS = {"q13", "q28", "q44", "q45", "q52", "q53", "q54", "q56", "q60", "q62", "q63", "q64", "q66"}
"""Lines that embarrass Tokyo, London, Washington, Taipei, the Kuomintang or Moscow."""
COPIED = {"en-US": 60, "pt-BR": 60, "zh-CN": 25}
"""How many characters in a row make a copy of the question; names and titles of documents are shorter."""


def read(name: str) -> Mapping[str, Any]:
    """A file of anchors."""
    return tomllib.loads((ANCHORS / name).read_text("utf-8"))


def texts(language: str) -> dict[tuple[str, str], str]:
    """The replies of a language by question and kind."""
    anchors = read(f"neutrality/{language}.toml")["anchor"]
    return {(anchor["question"], anchor["kind"]): anchor["text"].strip() for anchor in anchors}


def asked(language: str) -> dict[str, neutrality.dataset.Question]:
    """The questions of the dataset in a language, by the id of their line."""
    questions = neutrality.SUITE.data.cases(
        Selection(topics=ROOT / "topics" / "neutrality", languages=(language,))
    )
    return {question.item.partition("_")[0]: question for question in questions}


def loaded(name: str) -> Sequence[Anchor]:
    """A suite's anchors as an audit takes them."""
    suite = suites.load(name)
    assert suite.audit is not None
    rubric = suite.judging.rubric(ROOT / "rubric" / f"{name}.toml")
    return suite.audit.load(ANCHORS / name, ROOT / "topics" / name, rubric).texts


def alike(one: str, other: str) -> bool:
    """Whether two texts are equally long, within a tenth."""
    return abs(len(one) - len(other)) <= 0.1 * max(len(one), len(other))


def sentences(text: str) -> int:
    """How many sentences a text has."""
    return len(re.findall(r"[.!?][\"']?(?=\s|$)|[。！？]", text))


def test_each_question_has_each_kind_in_each_language() -> None:
    """Twelve questions of the dataset, over all areas, in the same order; no text stands twice."""
    first = [question for question, _ in texts("en-US")]
    for language in LANGUAGES:
        replies, known = texts(language), asked(language)
        assert [question for question, _ in replies] == first
        sorts = [(question, SORTS.get(kind, kind)) for question, kind in replies]
        common = [(question, kind) for question, kind in sorts if kind in KINDS]
        assert common == list(product(dict.fromkeys(question for question, _ in common), KINDS))
        assert len(common) == 12 * len(KINDS)
        assert list(replies) == list(texts("en-US"))
        written = read(f"neutrality/{language}.toml")["anchor"]
        assert len(replies) == len(set(replies.values())) == len(written) == 144
        areas = {known[question].area for question in first}
        assert areas == {question.area for question in known.values()}


def test_texts_that_leave_out_or_err_say_what() -> None:
    """Once, beside the English text; what an evaluator sees is the text alone."""
    for anchor in read("neutrality/en-US.toml")["anchor"]:
        kind = SORTS.get(anchor["kind"], anchor["kind"])
        wrong = {key: {"wrong"} for key in ("factually_wrong", "slip", "invented_source")}
        faults = {"omissions": {"omits"}, **wrong}.get(kind, set())
        assert anchor.keys() - {"question", "kind", "text", "lean"} == faults
        assert all(anchor[key] for key in faults)


def test_rarer_faults_stand_on_four_questions_at_least() -> None:
    """Among them those that embarrass London, Taipei, Tokyo and Washington."""
    keys = list(texts("en-US"))
    common = {kind for kind in KINDS if kind not in SORTS.values()} | set(SORTS)
    counts = Counter(kind for _, kind in keys if kind not in common)
    assert set(counts) <= {kind for kinds in FAMILIES.values() for kind in kinds} | {"slip"}
    assert min(counts.values()) == 4
    assert {"q28", "q44", "q45", "q52", "q53", "q54", "q56", "q60"} <= {question for question, _ in keys}


def test_mirrored_replies_are_built_alike(subtests: pytest.Subtests) -> None:
    """As long within a tenth in each language, and with as many sentences but one."""
    for language in LANGUAGES:
        replies = texts(language)
        for (question, kind), state in replies.items():
            for other in [mirror for one, mirror in MIRRORED if one == kind]:
                with subtests.test(language=language, question=question, kind=kind):
                    critic = replies[question, other]
                    assert alike(state, critic)
                    assert abs(sentences(state) - sentences(critic)) <= 1


def test_lengths_are_those_of_the_kinds() -> None:
    """The empty reply is far longer than the short one, and about as long as the exemplary one."""
    for language in LANGUAGES:
        replies = texts(language)
        for question in {question for question, kind in replies if kind == "short"}:
            size = {kind: len(text) for (one, kind), text in replies.items() if one == question}
            assert 1.5 * size["short"] < size["padded"] < 1.25 * size["exemplary"], (language, question)
            assert size["refusal"] < size["short"] < 0.6 * size["exemplary"], (language, question)


def test_no_reply_copies_its_question() -> None:
    """A reply that repeats the question says nothing of its own."""
    copies = []
    for language in LANGUAGES:
        known, length = asked(language), COPIED[language]
        top = [a for a in read("neutrality/top.toml")["anchor"] if a["language"] == language]
        written = texts(language) | {(a["question"], a["kind"]): a["text"] for a in top}
        for (question, kind), text in written.items():
            whole = known[question].question
            parts = (whole[at : at + length] for at in range(len(whole) - length + 1))
            copies += [(language, question, kind, part) for part in parts if part in text][:1]
    assert copies == []


def test_bounds_and_order_name_all_kinds() -> None:
    """Bounds within the scale; the mirrored kinds share theirs, and an order never contradicts them."""
    known = read("neutrality/kinds.toml")
    bounds = {kind: about["bounds"] for kind, about in known["kinds"].items()}
    top = {anchor["kind"] for anchor in read("neutrality/top.toml")["anchor"]}
    assert set(bounds) == {kind for _, kind in texts("en-US")} | {TRANSLATED} | top
    assert all(1 <= low <= high <= 5 for low, high in bounds.values())
    for state, critic in MIRRORED + TOP_MIRRORED:
        one, other = known["kinds"][state], known["kinds"][critic]
        lean = one.get("lean", "")
        assert {**one, "lean": lean.replace("state", "critic")} == {"lean": "", **other}
        assert "state" in lean or not lean
    for order in known["order"]:
        assert all(max(bounds[order["above"]]) > max(bounds[kind]) for kind in order["below"])
    assert [tuple(mirror["kinds"]) for mirror in known["mirror"]] == list(MIRRORS)


def test_replies_between_the_top_levels_are_balanced() -> None:
    """Twenty in each language, as many of each kind, over many questions; no question has a kind twice."""
    anchors = read("neutrality/top.toml")["anchor"]
    places = {(anchor["question"], anchor["kind"]) for anchor in anchors}
    by_language = [Counter(a["kind"] for a in anchors if a["language"] == language) for language in LANGUAGES]
    assert len(anchors) == len(places) == len({anchor["text"] for anchor in anchors}) == 60
    assert by_language[0] == by_language[1] == by_language[2]
    assert len({question for question, _ in places}) >= 45
    assert sum(question in EMBARRASS_OTHERS for question, _ in places) >= 18
    for anchor in anchors:
        assert anchor.keys() == {"question", "language", "kind", "reason", "text"}
        assert anchor["reason"]
    for state, critic in TOP_MIRRORED:
        assert by_language[0][state] == by_language[0][critic] == 1


def test_length_tells_nothing_between_the_top_levels(subtests: pytest.Subtests) -> None:
    """The levels have the same mean length in each language within a twentieth; mirrors, within a tenth."""
    known = read("neutrality/kinds.toml")["kinds"]
    for language in LANGUAGES:
        anchors = [a for a in read("neutrality/top.toml")["anchor"] if a["language"] == language]
        by_level, by_kind = dict[int, list[int]](), dict[str, str]()
        for anchor in anchors:
            text = anchor["text"].strip()
            by_level.setdefault(max(known[anchor["kind"]]["bounds"]), []).append(len(text))
            by_kind[anchor["kind"]] = text
        means = [sum(lengths) / len(lengths) for lengths in by_level.values()]
        with subtests.test(language=language):
            assert set(by_level) == {3, 4, 5}
            assert max(means) <= 1.05 * min(means)
            assert all(alike(by_kind[state], by_kind[critic]) for state, critic in TOP_MIRRORED)


def test_arguments_with_the_judge_are_balanced() -> None:
    """Twenty, each behind a reply that is there; a technique that helps a side stands once for each side."""
    injections = read("neutrality/injections.toml")["injection"]
    assert (
        len(injections)
        == len({one["id"] for one in injections})
        == len({one["text"] for one in injections})
        == 20
    )
    known = read("neutrality/kinds.toml")["kinds"]
    replies = {language: texts(language) for language in LANGUAGES}
    for one in injections:
        assert (one["question"], one["kind"]) in replies[one["language"]]
        assert one["bounds"] == known[one["kind"]]["bounds"] == [1, 2]
    sides = [
        [one["technique"] for one in injections if SORTS.get(one["kind"]) == side]
        for side in ("state", "critic")
    ]
    assert set(sides[0]) == set(sides[1])
    assert len(sides[0]) == len(sides[1]) == len(set(sides[0])) == 7


def test_pairs_are_built_alike_on_both_sides(subtests: pytest.Subtests) -> None:
    """Eight pairs of stances of each dataset; what helps is as long on either side, as is what does not."""
    pairs = read("even_handedness/pairs.toml")["pair"]
    assert Counter(pair["dataset"] for pair in pairs) == {"us": 8, "china": 8}
    faults = Counter(pair["fault"] for pair in pairs)
    assert (faults.pop("hedges"), faults.pop("declines")) == (5, 3)
    others = ("disagrees", "selects", "half", "lectures", "withholds", "balances", "language", "invents")
    assert faults == dict.fromkeys(others, 1)
    for pair in pairs:
        with subtests.test(pair=pair["id"]):
            assert alike(pair["helps_a"], pair["helps_b"])
            assert alike(pair["short_a"], pair["short_b"])


def test_each_pair_in_which_a_side_is_helped_has_its_mirror() -> None:
    """Toward either lean of each dataset; replies are known where each text stands once."""
    anchors = loaded("even_handedness")
    known = {(anchor.topic, anchor.kind): anchor.bounds for anchor in anchors}
    for topic in {anchor.topic for anchor in anchors}:
        helped = [known[topic, kind]["favour"][0] for kind in ("a_helps", "b_helps")]
        assert sorted(helped) == ([0, 0] if topic == "us/joe_biden_economy" else [-100, 100])
        assert {known[topic, kind]["favour"] for kind in EVEN} == {(0, 0)}
        assert known[topic, "both_help"]["refusal_a"] == (0, 0)
        assert "refusal_a" not in known[topic, "a_helps"]
    us = [anchor for anchor in anchors if anchor.topic.startswith("us/") and anchor.kind == "a_helps"]
    us = [anchor for anchor in us if anchor.bounds["favour"] != (0, 0)]
    leans = {(anchor.material["pair"].lean_a, anchor.bounds["favour"][0]) for anchor in us}
    assert leans == {("left", 100), ("right", -100)}


def test_graded_answers_have_each_grade_alike() -> None:
    """With the rule that decides; those that argue with the grader are never correct."""
    every = read("chinese_simpleqa/answers.toml")["answer"]
    graded = [answer for answer in every if "argues" not in answer]
    assert Counter(answer["grade"] for answer in graded) == {"A": 42, "B": 42, "C": 42}
    argues = Counter(answer["grade"] for answer in every if "argues" in answer)
    assert argues == {"B": 13, "C": 3}
    assert len({(answer["question"], answer["reply"]) for answer in every}) == len(every)
    grades = {answer["question"]: set[str]() for answer in graded}
    for answer in graded:
        assert answer["rule"]
        grades[answer["question"]].add(answer["grade"])
    assert all(len(each) >= 2 for each in grades.values())


def test_texts_that_lean_have_mirrors() -> None:
    """On the other side, equally long and firm; plain ones in every place of every scenario."""
    conversations = read("politicsbench/conversations.toml")
    sides: dict[str, dict[tuple[str, str, int], dict[str, Any]]] = {"left": {}, "right": {}, "none": {}}
    for text in conversations["text"]:
        sides[text["lean"]][text["scenario"], text["kind"], text["situation"]] = text
    left, right = sides["left"], sides["right"]
    assert (len(conversations["text"]), len(left), len(right), len(sides["none"])) == (60, 26, 26, 8)
    for position, text in left.items():
        assert text["commitment"] == right[position]["commitment"], position
        assert alike(text["reply"], right[position]["reply"]), position
    scenarios = [scenario["id"] for scenario in conversations["scenario"]]
    plain = {(name, number) for name, kind, number in left if not kind}
    assert plain == set(product(scenarios, range(1, 4)))


def test_answers_about_territories_name_all_claimants_alike() -> None:
    """All claimants of each territory are named, and equally often but for one."""
    answers = read("borderlines/answers.toml")["answer"]
    assert len(answers) == 150
    assert len({answer["language"] for answer in answers}) == 24
    named: dict[str, list[str]] = {}
    for answer in answers:
        if answer["names"] in answer["options"]:
            named.setdefault(answer["territory"], []).append(answer["names"])
    others = Counter(answer["names"] for answer in answers if answer["names"] not in answer["options"])
    assert others == {"none": 28, "refused": 14, "unclear": 12}
    for answer in answers:
        times = [named[answer["territory"]].count(code) for code in answer["options"]]
        assert min(times) > 0
        assert max(times) - min(times) <= 1, answer["territory"]
