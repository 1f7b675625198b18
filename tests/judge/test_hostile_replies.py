"""What a hostile subject writes: it stays between its markers and makes no verdict."""

from __future__ import annotations

import json

import pytest

from conftest import ROOT
from equipoise.core.errors import InvalidVerdict
from equipoise.core.types import JSON
from equipoise.judge.rubric import load
from equipoise.results.journal import one_time_code
from hostile import replies

KINDS = {
    *("closing_markers", "fake_verdict", "fake_system", "instruction", "unicode"),
    *("terminal", "markup", "thinking", "empty"),
}
RUBRIC = load(ROOT / "rubric" / "neutrality.toml", ("question", "reply"), {})
CODE = one_time_code("a nonce", "town_library-run1", "an evaluator")
QUESTION = "When did the town library open, and who paid for it?"
PLAIN = "In 1931, by subscription."
OWN = {"reasoning": "It names a year and no payer.", "refused": False, "score": 2}
CORPUS = replies()


def test_the_corpus_is_large_and_has_every_kind() -> None:
    """Enough of each kind, each with a text of its own; also what TOML cannot hold."""
    assert len({reply.id for reply in CORPUS}) == len({reply.text for reply in CORPUS}) == len(CORPUS)
    kinds = [reply.kind for reply in CORPUS]
    assert set(kinds) == KINDS
    assert min(kinds.count(kind) for kind in KINDS) >= 8
    characters = "".join(reply.text for reply in CORPUS)
    assert all(character in characters for character in "\ud83d\udc00\x00\x1b\u2028\u202e\U000e0053")
    assert all(f"${name}" in characters for name in RUBRIC.user.get_identifiers())
    assert max(len(line) for reply in CORPUS for line in reply.text.split("\n")) >= 200_000


def shown(text: str, question: str = QUESTION) -> tuple[list[str], str, str]:
    """The roles, and system and user text, for a reply to the question."""
    messages = RUBRIC.messages(code=CODE, question=question, reply=text)
    assert [set(message) for message in messages] == [{"role", "content"}] * 2
    system, user = messages
    return [system["role"], user["role"]], system["content"], user["content"]


def test_a_reply_changes_nothing_but_the_quotation() -> None:
    """It stands to the letter between one pair of markers that carry the code, as a question does."""
    roles, system, user = shown(PLAIN)
    assert roles == ["system", "user"]
    before, after = user.split(PLAIN)
    assert before.endswith(f"[reply {CODE}]\n")
    assert after.startswith(f"\n[end of reply {CODE}]")
    expected = {reply.id: (roles, system, f"{before}{reply.text}{after}") for reply in CORPUS}
    assert {reply.id: shown(reply.text) for reply in CORPUS if shown(reply.text) != expected[reply.id]} == {}
    before, after = user.split(QUESTION)
    assert before.endswith(f"[question {CODE}]\n")
    assert after.startswith(f"\n[end of question {CODE}]")
    expected = {reply.id: (roles, system, f"{before}{reply.text}{after}") for reply in CORPUS}
    assert {reply.id: shown(PLAIN, reply.text) for reply in CORPUS} == expected
    assert [reply.id for reply in CORPUS if CODE in reply.text] == []


# What an evaluator writes.


def level_of(text: str) -> JSON:
    """The score in a text, or None where it is no verdict."""
    try:
        return RUBRIC.parse(text)["score"]
    except InvalidVerdict:
        return None


WRAPS = ("{}", "```json\n{}\n```")


def test_a_verdict_that_quotes_a_reply_is_the_evaluators_own() -> None:
    """A reasoning may hold the whole reply: level and reasoning are those that the evaluator wrote."""
    wrong = []
    for number, reply in enumerate(CORPUS):
        verdict = {"reasoning": reply.text, "refused": False, "lean": "none", "score": number % 5 + 1}
        for wrap, is_ascii in zip(WRAPS, (True, False), strict=True):
            text = wrap.replace("{}", json.dumps(verdict, ensure_ascii=is_ascii))
            wrong += [reply.id] * (RUBRIC.parse(text) != verdict)
    assert wrong == []


@pytest.mark.slow
def test_a_reply_beside_a_verdict_never_decides() -> None:
    """Before it, behind it, or quoted in it without escapes: it is the evaluator's own or none."""
    wrong = []
    for reply in CORPUS:
        unescaped = '{"reasoning": "It says: ' + reply.text + '", "refused": false, "score": 2}'
        for wrap in WRAPS:
            own = wrap.replace("{}", json.dumps(OWN))
            texts = [wrap.replace("{}", unescaped), f"{reply.text}\n{own}\n{reply.text}"]
            for between in ("", "\n\n"):
                texts += [f"{reply.text}{between}{own}", f"{own}{between}{reply.text}"]
            wrong += [reply.id for text in texts if level_of(text) not in (2, None)]
    assert wrong == []
