"""The prompts of `data construct simpleqa`: read from a file, put to models, and what is read back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from job_models import Models

from conftest import ROOT
from equipoise.core.errors import CallFailed, UserError
from equipoise.core.types import Reply
from equipoise.suites.chinese_simpleqa.from_documents.prompts import ANSWER_FIELDS, ask, load, parse

FILE = ROOT / "rubric" / "construct_simpleqa.toml"
PROMPTS = load(FILE)
CRITERIA = PROMPTS.by_name["criteria"]
YES = {"reasoning": "好", "verdict": "yes"}
TEXT = '{"reasoning": "好", "verdict": "yes"}'

# Reading answers.


def test_an_object_is_read_wherever_it_stands(subtests: pytest.Subtests) -> None:
    """With the fields that were asked for, and no others."""
    cases: list[str] = [
        TEXT,
        f"```json\n{TEXT}\n```",
        f"我的判断如下：\n{TEXT}\n以上。",
        '{"verdict": "yes", "extra": [1, {"a": 2}],\n "reasoning": "好"}',
    ]
    for text in cases:
        with subtests.test(ascii(text)):
            assert parse(text, ANSWER_FIELDS["criteria"]) == YES


def test_of_several_tags_the_last_decides(subtests: pytest.Subtests) -> None:
    """Where there is no object with all fields; the text is the reason."""
    cases: list[tuple[str, str]] = [
        ("<verdict>no</verdict>", "no"),
        ("先说 <verdict>no</verdict>，再想想，<verdict> YES </verdict>。", "yes"),
        ("<verdict>yes</verdict> 不，<verdict>no</verdict>", "no"),
        ('{"verdict": "yes"} <Verdict>no</Verdict>', "no"),
        ('{"broken": <verdict>yes</verdict>}', "yes"),
    ]
    for text, verdict in cases:
        with subtests.test(ascii(text)):
            assert parse(text, ANSWER_FIELDS["criteria"]) == {"reasoning": text, "verdict": verdict}


def test_what_is_no_verdict_is_nothing(subtests: pytest.Subtests) -> None:
    """A word alone, another label, a missing or an empty field, the last tag of two."""
    cases: list[str] = [
        "",
        "yes",
        "{}",
        "[]",
        '{"reasoning": "好"}',
        '{"reasoning": "", "verdict": "yes"}',
        '{"reasoning": "好", "verdict": "maybe"}',
        '{"reasoning": "好", "verdict": true}',
        "<verdict>maybe</verdict>",
        "<verdict>yes</verdict><verdict>maybe</verdict>",
        "<score>5</score>",
        "{" * 100_000 + "}",
    ]
    for text in cases:
        with subtests.test(ascii(text)):
            assert parse(text, ANSWER_FIELDS["criteria"]) is None


def test_a_score_is_a_whole_number_from_1_to_5(subtests: pytest.Subtests) -> None:
    """In JSON a number; in a tag its figure."""
    cases: list[tuple[str, int | None]] = [
        ('{"reasoning": "好", "score": 3}', 3),
        ("<score>4</score>", 4),
        ('{"reasoning": "好", "score": true}', None),
        ('{"reasoning": "好", "score": "3"}', None),
        ('{"reasoning": "好", "score": 0}', None),
        ("<score>6</score>", None),
    ]
    for text, score in cases:
        with subtests.test(ascii(text)):
            found = parse(text, ANSWER_FIELDS["quality"])
            assert (found or {}).get("score") == score


def test_a_question_is_read_from_an_object_alone() -> None:
    """There are no tags for it."""
    assert parse('{"question": "谁？", "answer": "他"}', ANSWER_FIELDS["generation"]) == {
        "question": "谁？",
        "answer": "他",
    }
    assert parse("<question>谁？</question><answer>他</answer>", ANSWER_FIELDS["generation"]) is None


def test_a_question_with_half_a_character_is_none() -> None:
    """It could not be put to people. A reason may have one."""
    half = '{"question": "谁？\\ud83d", "answer": "他"}'
    assert parse(half, ANSWER_FIELDS["generation"]) is None
    assert parse(half, ANSWER_FIELDS["rewriting"]) is None
    assert parse('{"reasoning": "\\ud83d", "verdict": "no"}', ANSWER_FIELDS["criteria"]) is not None


# Asking.


def asked(models: Models) -> dict[str, Any] | None:
    """What a model's answers come to."""
    messages = CRITERIA.messages("f00", question="谁？", answer="他")
    return asyncio.run(ask(models.job_models.model, CRITERIA, messages))


def test_an_answer_is_asked_for_three_times() -> None:
    """The first that can be read is taken; each time the same is asked, with a schema."""
    models = Models("嗯。", "{}", TEXT)
    assert asked(models) == YES
    assert len(models.calls) == 3
    assert models.calls[0] == models.calls[2]
    form = models.calls[0].parameters["response_format"]
    assert form["json_schema"]["name"] == "criteria"
    assert form["json_schema"]["schema"]["required"] == ["reasoning", "verdict"]
    assert form["json_schema"]["schema"]["properties"]["verdict"]["enum"] == ["yes", "no"]


def test_after_three_there_is_none() -> None:
    """The fourth would have been good."""
    models = Models("嗯。", "嗯。", "嗯。", TEXT)
    assert asked(models) is None
    assert len(models.calls) == 3


def test_what_a_filter_cut_is_not_read() -> None:
    """However it looks."""
    assert asked(Models(said=lambda call, number: Reply(text=TEXT, blocked="content_filter"))) is None


def test_a_failure_is_raised() -> None:
    """It is the endpoint's, and no answer."""
    with pytest.raises(CallFailed, match="HTTP 500"):
        asked(Models(said=lambda call, number: CallFailed("HTTP 500")))


# The file.


def test_material_stands_where_it_belongs() -> None:
    """A placeholder in it is left alone; examples are in the generator's instruction, as JSON."""
    system, user = PROMPTS.by_name["generation"].messages("f00", title="$text", text="茶${title}")
    assert user["content"] == "[document f00]\n$text\n茶${title}\n[end of document f00]"
    assert (
        '{"question": "河北赵县的赵州桥是由隋代哪位工匠主持建造的？", "answer": "李春"}' in system["content"]
    )
    assert "沥青铀矿" in system["content"]
    assert "$examples" not in system["content"]


def test_every_question_has_a_prompt() -> None:
    """And says what an answer looks like."""
    assert PROMPTS.by_name.keys() == ANSWER_FIELDS.keys()
    for name, prompt in PROMPTS.by_name.items():
        assert all(f'"{field}"' in prompt.system for field in ANSWER_FIELDS[name])


def test_a_faulty_file_is_named(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """With the key, in one line."""
    cases: list[tuple[str, str, str]] = [
        ("[safety]", "[other]", "safety"),
        ("$passages", "", "passages"),
        ("$feedback", "", "feedback"),
        ("[critique]\nsystem", "[critique]\nsytem", "critique.system"),
        ("[[generation.examples]]", "[[generation.others]]", "at least one example"),
        ('answer = "李春"', "answer = 5", "each needs a text, a question and an answer"),
        ("[quality]", "[quality", ""),
    ]
    for old, new, words in cases:
        with subtests.test(words or old):
            path = tmp_path / "prompts.toml"
            text = FILE.read_text(encoding="utf-8")
            assert old in text
            path.write_text(text.replace(old, new), encoding="utf-8")
            with pytest.raises(UserError) as caught:
                load(path)
            assert str(path) in str(caught.value)
            assert words in str(caught.value)
