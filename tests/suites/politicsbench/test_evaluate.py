"""PoliticsBench: its rubric, what is asked and told, what judges see, and how runs end."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import builders
import pytest
from fakes import FakeModel
from one_scenario import CASE, FILE, LAST, RUBRIC, SAID, USUAL, FakeJudge, FakeSubject, points, run

from conftest import refusal
from equipoise.core.errors import CallFailed, InvalidVerdict
from equipoise.core.settings import Sampling
from equipoise.core.types import Call, Reply
from equipoise.models.model import Subject
from equipoise.suites import politicsbench as suite
from equipoise.suites.politicsbench.scoring import JUDGED_TEXTS, WEIGHTS

# The rubric.


def test_the_rubric_speaks_both_languages() -> None:
    """Its scales are 0 to 20 and 0 to 5, that of the score -100 to 100."""
    rubric = suite.SUITE.judging.rubric(FILE)
    assert set(rubric.subject_prompts) == {"en-US", "zh-CN"}
    parts = (rubric.scale, rubric.dimensions.scale, rubric.commitment.scale)
    assert [(scale.low, scale.high) for scale in parts] == [(-100, 100), (0, 20), (0, 5)]
    assert list(rubric.dimensions.verdict) == ["reasoning", *WEIGHTS]
    assert rubric.prompts_for(replace(CASE, language="pt-BR")) is rubric.subject_prompts["en-US"]


FAULTY = [
    ('\n0 = "The low', '\n21 = ""\n0 = "', "dimensions.scale.levels must describe 0 and 20, and no level"),
    ('\n0 = "The low', '\n1 = "', "dimensions.scale.levels must describe 0 and 20"),
    ('20 = "The high', '19 = "', "dimensions.scale.levels must describe 0 and 20"),
    ("15 = ", "15.5 = ", "dimensions.scale.levels"),
    ("high = 20", "high = 0", "dimensions.scale.high must be above scale.low"),
    ('egalitarianism = "scale"\n', "", "dimensions.verdict.egalitarianism must be 'scale'"),
    ('risk_aversion = "scale"', 'risk_aversion = "text"', "dimensions.verdict.risk_aversion must be 'scale'"),
    ('commitment = "scale"\n', "", "commitment.verdict.commitment must be 'scale'"),
    ('5 = "Certain', '6 = "', "commitment.scale.levels must describe 0 and 5"),
    ("[commitment.scale]", "[commitments.scale]", "commitment.scale"),
    ("[asking.en-US]", "[asking.en-GB]", "asking.en-US is missing"),
    ("\n$prompt\n", "\n$stage\n", "asking.en-US.stage has an unknown placeholder $stage"),
    ("\n$prompt\n", "\n", "asking.en-US.stage needs the placeholder $prompt"),
    ('\n$question\n"', '\n"', "asking.en-US.baseline needs the placeholder $question"),
    ("\n$reply\n", "\n", "dimensions."),
    ('reflection = "', 'reflections = "', "asking.en-US.reflection"),
    ('version = "1"', "version = 1", "version"),
]


def test_a_faulty_rubric_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """With the file, the part and the key."""
    path, content = tmp_path / "politicsbench.toml", FILE.read_text(encoding="utf-8")
    for old, new, says in FAULTY:
        with subtests.test(new):
            assert old in content
            path.write_text(content.replace(old, new, 1), encoding="utf-8")
            assert refusal(suite.SUITE.judging.rubric, path).startswith(f"{path}: {says}")


# One run.


def test_a_run_is_six_questions_and_two_verdicts_of_each_judge_on_each() -> None:
    """Of three judges that is 36; the score is the mean composite of the reflection."""
    subject, judges = FakeSubject(SAID), [FakeJudge(), FakeJudge(1), FakeJudge(-4)]
    score = run(subject, *judges)
    assert list(points(score)) == list(JUDGED_TEXTS)
    assert set(subject.calls) == set(JUDGED_TEXTS)
    assert sum(len(judge.seen) for judge in judges) == len(score.verdicts) == 36
    assert (score.outcome, score.value, score.error) == ("scored", 40, None)
    composites = {point: item["composite"] for point, item in points(score).items()}
    assert composites == {point: 10 * (int(text) - 1) for point, text in SAID.items()}
    first = points(score)["stage_4"]["judges"][1]
    assert (first["evaluator"], first["commitment"], first["reasoning"]) == ("e2", 4, "Thus.")
    assert (first["dimensions"]["egalitarianism"], first["dimensions"]["moral_certainty"]) == (15, 5)
    assert "error" not in first


def test_the_direct_question_stands_alone_and_the_role_play_grows() -> None:
    """Each stage comes behind what was said and replied before, and so does the look back."""
    subject = FakeSubject(SAID)
    run(subject, FakeJudge())
    sent = {
        point: [(item["role"], item["content"]) for item in call.messages]
        for point, call in subject.calls.items()
    }
    assert sent["baseline"] == [("user", LAST[0])]
    grown: list[tuple[str, str]] = []
    for point, text in zip(JUDGED_TEXTS[1:], LAST[1:], strict=True):
        grown.append(("user", text))
        assert sent[point] == grown
        grown.append(("assistant", SAID[point]))


PROMPTED = replace(USUAL, system_prompt="Be brief.")
SAMPLED = [
    (PROMPTED, (0.7, 8_000), (0.7, 12_000), (0.5, 12_000)),
    (Sampling(temperature=1.0, max_tokens=500), (1.0, 500), (1.0, 500), (1.0, 500)),
    (replace(USUAL, temperature=0.0), (0.0, 8_000), (0.0, 12_000), (0.0, 12_000)),
    (replace(USUAL, max_tokens=900), (0.7, 900), (0.7, 900), (0.5, 900)),
    (Sampling(), (None, None), (None, None), (None, None)),
]


def test_sampling_is_the_published_one_or_the_users_own(subtests: pytest.Subtests) -> None:
    """What the user sets holds everywhere; min_p goes with all but the reflection."""
    names = ("temperature", "max_tokens", "min_p")
    for sampling, direct, stage, reflection in SAMPLED:
        subject = FakeSubject(SAID)
        run(subject, FakeJudge(), sampling=sampling)
        sent = [tuple(subject.calls[point].parameters.get(name) for name in names) for point in JUDGED_TEXTS]
        with subtests.test(str(sampling)):
            assert sent == [(*direct, 0.1), *[(*stage, 0.1)] * 4, (*reflection, None)]
        roles_of_calls = [[item["role"] for item in call.messages] for call in subject.calls.values()]
        assert [roles.count("system") for roles in roles_of_calls] == [sampling == PROMPTED] * 6
        assert not any("system" in roles[1:] for roles in roles_of_calls)


def test_a_judge_sees_only_what_it_judges() -> None:
    """The stage as it is written and the reply to it, each twice; never what was said before."""
    judge = FakeJudge()
    run(FakeSubject(SAID), judge)
    situations = (CASE.question, *CASE.stages, "Look back.")
    assert sorted(judge.seen) == sorted(2 * list(zip(situations, SAID.values(), strict=True)))


def test_what_is_foreseen_is_what_is_asked() -> None:
    """With the replies that each question quotes, and two verdicts of one judge on each text."""
    subject = FakeSubject(SAID)
    run(subject, FakeJudge())
    foreseen = suite.foresee(CASE, RUBRIC)
    calls = [subject.calls[point].messages for point in JUDGED_TEXTS]
    prompts = ["".join(item["content"] for item in call if item["role"] == "user") for call in calls]
    quoted = [sum(item["role"] == "assistant" for item in call) for call in calls]
    assert [(item.prompt, item.quoted) for item in foreseen[:6]] == list(zip(prompts, quoted, strict=True))
    assert [item.role for item in foreseen] == ["subject"] * 6 + ["evaluator"] * 12
    assert {item.quoted for item in foreseen[6:]} == {1}
    assert "One?" in foreseen[8].prompt
    # In another language in its own words, and in English where the rubric has it not.
    for language, last in (("xx", "Play: Four?Respice."), ("yy", "Play: Four?Look back.")):
        assert suite.foresee(replace(CASE, language=language), RUBRIC)[5].prompt.endswith(last)


# How runs end.


def test_one_judge_missing_leaves_the_score_to_the_others() -> None:
    """Its place is kept, with the reason; the mean is that of those who are there."""
    score = run(FakeSubject(SAID), FakeJudge(), FakeJudge(3, mute=("5", "2")), FakeJudge(-1))
    assert (score.outcome, score.value) == ("scored", 45)
    by_point = points(score)
    assert by_point["stage_2"]["composite"] == 15
    assert by_point["stage_1"]["composite"] == pytest.approx(10 + 20 / 3)
    assert (by_point["reflection"]["missing"], by_point["stage_2"]["missing"]) == (None, None)
    assert by_point["reflection"]["judges"][1] == {
        "evaluator": "e2",
        "dimensions": None,
        "reasoning": None,
        "commitment": None,
        "error": "not a JSON object",
        "commitment_error": "not a JSON object",
    }


def test_a_text_that_no_judge_scores_has_no_composite() -> None:
    """The run is scored by its reflection all the same, and unscored without that; the rest is kept."""
    score = run(FakeSubject(SAID), FakeJudge(mute=("3",)), FakeJudge(mute=("3",)))
    assert (score.outcome, score.value) == ("scored", 50)
    stage = points(score)["stage_3"]
    assert (stage["composite"], stage["missing"]) == (None, "e1: not a JSON object; e2: not a JSON object")
    score = run(FakeSubject(SAID), FakeJudge(mute=("5",)))
    assert (score.outcome, score.value) == ("unscored", None)
    assert score.error == "the reflection has no score: reflection: e1: not a JSON object"
    assert points(score)["stage_4"]["composite"] == 40


BLOCKED = "the provider blocked the reply (filter)"


@pytest.mark.parametrize(
    ("reply", "why"),
    [(Reply(text="3", blocked="filter"), BLOCKED), (" \n", "the reply is empty")],
    ids=["blocked", "empty"],
)
def test_a_text_that_is_not_there_is_not_judged(reply: Reply | str, why: str) -> None:
    """The conversation ends there, as nobody could go on from it, and the run is unscored."""
    judge = FakeJudge()
    subject = FakeSubject({**SAID, "stage_3": reply})
    score = run(subject, judge)
    assert (score.outcome, score.value, len(judge.seen), len(subject.calls)) == ("unscored", None, 6, 4)
    assert score.error == f"the reflection has no score: stage_3: {why}"
    assert points(score)["stage_4"]["missing"] == "the conversation had ended before"
    assert points(score)["stage_3"] == {"composite": None, "missing": why, "judges": []}
    last = run(FakeSubject({**SAID, "reflection": reply}), FakeJudge())
    assert (last.outcome, last.value) == ("unscored", None)
    assert last.error == f"the reflection has no score: reflection: {why}"


def test_a_text_that_was_cut_is_judged_and_named() -> None:
    """The run is truncated wherever that was, and has its score."""
    cut = Reply(text="5", finish_reason="length")
    for point in ("baseline", "stage_2", "reflection"):
        score = run(FakeSubject({**SAID, point: cut}), FakeJudge())
        assert (score.outcome, score.value) == ("truncated", 50), point


def test_a_call_that_fails_ends_the_run_once_judges_are_done() -> None:
    """What was said before is judged to the end, since it is paid for."""
    judge = FakeJudge()
    with pytest.raises(CallFailed, match="no reply"):
        run(FakeSubject({**SAID, "baseline": "", "stage_3": CallFailed("no reply")}), judge)
    assert sorted(text for _, text in judge.seen) == ["1", "1", "2", "2"]


def test_the_commitment_alone_can_be_missing() -> None:
    """Then the text has its composite, and that judge's commitment is null."""
    verdicts = run(FakeSubject({**SAID, "stage_4": "7"}), FakeJudge())
    stage = points(verdicts)["stage_4"]
    assert (stage["composite"], stage["missing"]) == (70, None)
    [item] = stage["judges"]
    assert item["commitment"] is None
    assert item["commitment_error"] == "'commitment' is not a whole number from 0 to 5"
    assert "error" not in item


@pytest.mark.parametrize(
    ("part", "more", "lacks", "says"),
    [
        ("dimensions", {"populism": 12}, "", "unexpected field 'populism'"),
        ("commitment", {"populism": 1}, "", "unexpected field 'populism'"),
        ("dimensions", {}, "nuanced_pragmatism", "no 'nuanced_pragmatism'"),
    ],
)
def test_a_verdict_with_other_keys_is_none(part: str, more: dict[str, int], lacks: str, says: str) -> None:
    """Whatever is beside what was asked for, or lacks."""
    rubric = {"dimensions": RUBRIC.dimensions, "commitment": RUBRIC.commitment}[part]
    verdict = {**{name: "So." if name == "reasoning" else 3 for name in rubric.verdict}, **more}
    verdict.pop(lacks, None)
    with pytest.raises(InvalidVerdict, match=says):
        rubric.parse(json.dumps(verdict))


def test_a_judge_is_told_what_was_wrong_with_its_last_reply() -> None:
    """It is asked again in the same conversation."""
    ask = FakeModel('{"reasoning": "So."}', '{"reasoning": "So.", "commitment": 3}')
    judging = builders.evaluator(ask, attempts=2).judge(RUBRIC.commitment, question="What?", reply="So.")
    verdict = asyncio.run(judging)
    assert (verdict.attempts, verdict.fields) == (2, {"reasoning": "So.", "commitment": 3})
    *_, wrong, why = ask.history[1].messages
    assert wrong == {"role": "assistant", "content": '{"reasoning": "So."}'}
    assert (why["role"], "no 'commitment'" in why["content"]) == ("user", True)


def test_a_run_that_is_dropped_waits_for_no_judge() -> None:
    """While the second stage is asked, judges of the first are under way: they are dropped with it."""
    at_stage_2 = asyncio.Event()

    async def answer(call: Call) -> Reply:
        if len(call.messages) > 2:
            at_stage_2.set()
            await asyncio.Event().wait()
        return Reply(text="I would stay.")

    async def never(call: Call) -> Reply:
        await asyncio.Event().wait()
        raise AssertionError("nobody waits for this")

    async def drop() -> None:
        subject = Subject("m", Sampling(), answer)
        task = asyncio.ensure_future(suite.evaluate(CASE, RUBRIC, subject, builders.panel(never)))
        await at_stage_2.wait()
        await asyncio.sleep(0)
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=5)
        assert [item.cancelled() for item in done] == [True]

    asyncio.run(asyncio.wait_for(drop(), timeout=20))
