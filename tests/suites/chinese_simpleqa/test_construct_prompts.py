"""The prompts of `data construct simpleqa`: read from a file, put to models, and what is read back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from job_models import Models

from conftest import ROOT, refusal
from equipoise.core.errors import CallFailed
from equipoise.core.types import Reply
from equipoise.suites.chinese_simpleqa.from_documents.prompts import ANSWER_FIELDS, ask, load, parse

FILE = ROOT / "rubric" / "construct_simpleqa.toml"
PROMPTS = load(FILE)
CRITERIA = PROMPTS.by_name["criteria"]
YES = {"reasoning": "好", "verdict": "yes"}
TEXT = '{"reasoning": "好", "verdict": "yes"}'
WHOLE = "the whole text is the reason"
PARSED: dict[str, dict[str, Any]] = {
    "criteria": {
        # An object with all fields, wherever it stands.
        TEXT: YES,
        f"```json\n{TEXT}\n```": YES,
        f"我的判断如下：\n{TEXT}\n以上。": YES,
        '{"verdict": "yes", "extra": [1, {"a": 2}],\n "reasoning": "好"}': YES,
        '{"reasoning": "\\ud83d", "verdict": "no"}': {"reasoning": "\ud83d", "verdict": "no"},
        # Else the last of the tags.
        "<verdict>no</verdict>": {"reasoning": WHOLE, "verdict": "no"},
        "<verdict>no</verdict>，再想想，<verdict> YES </verdict>。": {"reasoning": WHOLE, "verdict": "yes"},
        '{"verdict": "yes"} <Verdict>no</Verdict>': {"reasoning": WHOLE, "verdict": "no"},
        '{"broken": <verdict>yes</verdict>}': {"reasoning": WHOLE, "verdict": "yes"},
        # A word alone, another label, a field that is missing or empty.
        **dict.fromkeys(("", "yes", "{}", "[]", '{"reasoning": "好"}', "<score>5</score>")),
        '{"reasoning": "", "verdict": "yes"}': None,
        '{"reasoning": "好", "verdict": "maybe"}': None,
        '{"reasoning": "好", "verdict": true}': None,
        "<verdict>yes</verdict><verdict>maybe</verdict>": None,
        "{" * 100_000 + "}": None,
    },
    # A score is a whole number from 1 to 5, in a tag its figure.
    "quality": {
        '{"reasoning": "好", "score": 3}': {"reasoning": "好", "score": 3},
        "<score>4</score>": {"reasoning": WHOLE, "score": 4},
        **{f'{{"reasoning": "好", "score": {value}}}': None for value in ("true", '"3"', "0")},
        "<score>6</score>": None,
    },
    # A question is read from an object alone, and not with half a character: people could not be shown it.
    "generation": {
        '{"question": "谁？", "answer": "他"}': {"question": "谁？", "answer": "他"},
        "<question>谁？</question><answer>他</answer>": None,
        '{"question": "谁？\\ud83d", "answer": "他"}': None,
    },
    "rewriting": {'{"question": "谁？\\ud83d", "answer": "他"}': None},
}


def test_an_answer_is_read_or_nothing(subtests: pytest.Subtests) -> None:
    """With the fields that were asked for, and no others."""
    for name, texts in PARSED.items():
        for text, expected in texts.items():
            with subtests.test(name, text=ascii(text[:60])):
                fields = parse(text, ANSWER_FIELDS[name])
                reason = text if expected and expected.get("reasoning") == WHOLE else None
                assert fields == ({**expected, "reasoning": reason} if reason else expected)


def asked(models: Models) -> dict[str, Any] | None:
    """What a model's answers come to."""
    messages = CRITERIA.messages("f00", question="谁？", answer="他")
    return asyncio.run(ask(models.job_models.model, CRITERIA, messages))


def test_an_answer_is_asked_for_three_times() -> None:
    """The first that can be read is taken, the fourth never; each time the same is asked, with a schema."""
    models = Models("嗯。", "{}", TEXT)
    assert asked(models) == YES
    assert (len(models.calls), models.calls[0]) == (3, models.calls[2])
    form = models.calls[0].parameters["response_format"]["json_schema"]
    assert (form["name"], form["schema"]["required"]) == ("criteria", ["reasoning", "verdict"])
    assert form["schema"]["properties"]["verdict"]["enum"] == ["yes", "no"]
    models = Models("嗯。", "嗯。", "嗯。", TEXT)
    assert (asked(models), len(models.calls)) == (None, 3)


def test_what_a_filter_cut_is_not_read_and_a_failure_is_raised() -> None:
    """However it looks; a failure is the endpoint's, and no answer."""
    assert asked(Models(answer=lambda call, number: Reply(text=TEXT, blocked="content_filter"))) is None
    with pytest.raises(CallFailed, match="HTTP 500"):
        asked(Models(answer=lambda call, number: CallFailed("HTTP 500")))


# The file.


def test_material_stands_where_it_belongs() -> None:
    """A placeholder in it is left alone; examples are in the generator's instruction, as JSON."""
    system, user = PROMPTS.by_name["generation"].messages("f00", title="$text", text="茶${title}")
    assert user["content"] == "[document f00]\n$text\n茶${title}\n[end of document f00]"
    example = '{"question": "河北赵县的赵州桥是由隋代哪位工匠主持建造的？", "answer": "李春"}'
    assert (example in system["content"], "$examples" in system["content"]) == (True, False)
    assert PROMPTS.by_name.keys() == ANSWER_FIELDS.keys()
    for name, prompt in PROMPTS.by_name.items():
        assert all(f'"{field}"' in prompt.system for field in ANSWER_FIELDS[name])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[safety]", "[other]", "safety"),
        ("$passages", "", "passages"),
        ("$feedback", "", "feedback"),
        ("[critique]\nsystem", "[critique]\nsytem", "critique.system"),
        ("[[generation.examples]]", "[[generation.others]]", "at least one example"),
        ('answer = "李春"', "answer = 5", "each needs a text, a question and an answer"),
        ("[quality]", "[quality", "not valid TOML"),
    ],
)
def test_a_faulty_file_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    """With the key, in one line."""
    path, text = tmp_path / "prompts.toml", FILE.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    message = refusal(load, path)
    assert (message.startswith(f"{path}:"), words in message) == (True, True)
