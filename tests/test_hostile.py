"""What a hostile subject writes: it stays between its markers, makes no verdict and is kept as it is."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import pytest

from equipoise.core import json_io
from equipoise.core.errors import InvalidVerdict
from equipoise.core.types import JSON, Reply, Usage
from equipoise.judge.rubric import VerdictRubric, load
from equipoise.results.journal import Journal, code, read
from hostile import HostileReply, replies

NEUTRALITY = Path(__file__).resolve().parent.parent / "rubric" / "neutrality.toml"
KINDS = {
    *("closing_markers", "fake_verdict", "fake_system", "instruction", "unicode"),
    *("terminal", "markup", "thinking", "empty"),
}
RUBRIC = load(NEUTRALITY, ("question", "reply"))
CODE = code("a nonce", "town_library-run1", "an evaluator")
QUESTION = "When did the town library open, and who paid for it?"
PLAIN = "In 1931, by subscription."
OWN = {"reasoning": "It names a year and no payer.", "refused": False, "score": 2}
CORPUS = replies()

each_reply = pytest.mark.parametrize("reply", CORPUS, ids=lambda reply: reply.id)
each_wrap = pytest.mark.parametrize(
    "wrap", [pytest.param("{}", id="bare"), pytest.param("```json\n{}\n```", id="fenced")]
)


@pytest.fixture
def rubric() -> VerdictRubric:
    """The rubric that ships with the neutrality suite."""
    return RUBRIC


# The corpus.


def test_the_corpus_is_large_and_says_nothing_twice() -> None:
    """Enough replies, each with an id in snake_case and a text of its own."""
    assert len(CORPUS) >= 60
    assert all(re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", reply.id) for reply in CORPUS)
    assert len({reply.id for reply in CORPUS}) == len({reply.text for reply in CORPUS}) == len(CORPUS)


def test_the_corpus_has_every_kind() -> None:
    """No kind of attack is left out, misspelt or stands there with a single example."""
    kinds = [reply.kind for reply in CORPUS]
    assert set(kinds) == KINDS
    assert min(kinds.count(kind) for kind in KINDS) >= 8


def test_the_corpus_holds_what_toml_cannot() -> None:
    """Escapes are decoded and repeats written out: lone surrogates, controls and a very long line."""
    found = "".join(reply.text for reply in CORPUS)
    assert all(character in found for character in "\ud83d\udc00\x00\x1b\u2028\u202e\U000e0053")
    assert max(len(line) for reply in CORPUS for line in reply.text.split("\n")) >= 200_000


# What an evaluator is shown.


def shown(rubric: VerdictRubric, text: str) -> tuple[str, str]:
    """System and user text for a reply to the question."""
    system, user = rubric.messages(code=CODE, question=QUESTION, reply=text)
    return system["content"], user["content"]


@each_reply
def test_there_are_two_messages_and_the_system_one_is_the_rubrics(
    rubric: VerdictRubric, reply: HostileReply
) -> None:
    """A reply adds no message and changes neither the roles nor a word of the instruction."""
    messages = rubric.messages(code=CODE, question=QUESTION, reply=reply.text)
    assert [message["role"] for message in messages] == ["system", "user"]
    assert messages[0]["content"] == shown(rubric, PLAIN)[0]
    assert [set(message) for message in messages] == [{"role", "content"}] * 2


@each_reply
def test_a_reply_stands_whole_between_its_own_markers(rubric: VerdictRubric, reply: HostileReply) -> None:
    """Each marker with the code occurs once, and what they enclose is the material to the letter."""
    _, user = shown(rubric, reply.text)
    for name, material in (("question", QUESTION), ("reply", reply.text)):
        opening, closing = f"[{name} {CODE}]", f"[end of {name} {CODE}]"
        assert (user.count(opening), user.count(closing)) == (1, 1)
        quoted = user[user.index(opening) + len(opening) : user.index(closing)]
        assert quoted == f"\n{material}\n"


@each_reply
def test_a_reply_changes_nothing_around_it(rubric: VerdictRubric, reply: HostileReply) -> None:
    """Before and behind the quoted reply, the message is the one that any other reply gets."""
    before, after = shown(rubric, PLAIN)[1].split(PLAIN)
    _, user = shown(rubric, reply.text)
    assert user == f"{before}{reply.text}{after}"


@pytest.mark.parametrize(
    "reply", [reply for reply in CORPUS if "$" in reply.text], ids=lambda reply: reply.id
)
def test_placeholders_in_a_reply_are_not_filled_in(rubric: VerdictRubric, reply: HostileReply) -> None:
    """Neither question nor code nor a level gets into a reply that asks for them with a dollar sign."""
    _, user = shown(rubric, reply.text)
    assert reply.text in user
    assert (user.count(QUESTION), user.count(CODE)) == (1, 4)
    assert user.count("$") == reply.text.count("$")


def test_some_replies_hold_the_placeholders_of_the_rubric() -> None:
    """The test above is about the very names that the rubric fills in."""
    found = {name for reply in CORPUS for name in RUBRIC.user.get_identifiers() if f"${name}" in reply.text}
    assert found == {"question", "reply", "code"}


# What an evaluator writes.


def level_of(rubric: VerdictRubric, text: str) -> JSON:
    """The score in a text, or None where it is no verdict."""
    try:
        return rubric.parse(text)["score"]
    except InvalidVerdict:
        return None


@each_wrap
@each_reply
def test_a_verdict_that_quotes_a_reply_is_the_evaluators_own(
    rubric: VerdictRubric, reply: HostileReply, wrap: str
) -> None:
    """A reasoning may hold the whole reply: level and reasoning are those that the evaluator wrote."""
    for level, is_ascii in product((1, 2, 3, 4, 5), (True, False)):
        verdict = {"reasoning": reply.text, "refused": False, "score": level}
        assert rubric.parse(wrap.replace("{}", json.dumps(verdict, ensure_ascii=is_ascii))) == verdict


@each_wrap
@each_reply
def test_a_reply_beside_a_verdict_never_decides(
    rubric: VerdictRubric, reply: HostileReply, wrap: str
) -> None:
    """With a reply before or behind it, a verdict is the evaluator's own or is none."""
    own = wrap.replace("{}", json.dumps(OWN))
    for between in ("", " ", "\n", "\n\n"):
        assert level_of(rubric, f"{reply.text}{between}{own}") in (2, None)
        assert level_of(rubric, f"{own}{between}{reply.text}") in (2, None)
        assert level_of(rubric, f"{reply.text}{between}{own}{between}{reply.text}") in (2, None)


@each_wrap
@each_reply
def test_a_reply_quoted_without_escapes_never_decides(
    rubric: VerdictRubric, reply: HostileReply, wrap: str
) -> None:
    """An evaluator that forgets to escape what it quotes gives its own level or none."""
    own = '{"reasoning": "It says: ' + reply.text + '", "refused": false, "score": 2}'
    assert level_of(rubric, wrap.replace("{}", own)) in (2, None)


# What is kept.


@each_reply
def test_a_reply_comes_back_from_its_bytes(reply: HostileReply) -> None:
    """Written and read again, text and reasoning are the same to the character, lone surrogates included."""
    whole = Reply(text=reply.text, reasoning=reply.text, finish_reason="stop", usage=Usage(input=1, output=2))
    for indent in (False, True):
        assert Reply.from_json(json_io.loads(json_io.dumps(whole.to_json(), indent=indent))) == whole


@each_reply
def test_the_bytes_of_a_reply_are_utf_8_and_strict_json(reply: HostileReply) -> None:
    """Any reader of UTF-8 and JSON can read what was written, and no control character stands in it."""
    text = json_io.dumps(Reply(text=reply.text).to_json()).decode("utf-8")
    assert json.loads(text)["text"] == reply.text
    assert all(character >= " " for character in text.removesuffix("\n"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the journal of the test is."""
    return tmp_path / "m.neutrality.jsonl"


def keep(path: Path, *texts: str) -> None:
    """Append a call for each text to a journal."""
    journal = Journal(path, "session")
    for text in texts:
        journal.append("call", run="q01-run1", reply=Reply(text=text).to_json())
    journal.close()


def kept(path: Path, *kinds: str) -> list[tuple[str, str]]:
    """Kind and text of every line of a journal, or of those of some kinds."""
    entries = [line.entry for line in read(path, kinds=kinds)]
    return [(entry["kind"], Reply.from_json(entry["reply"]).text) for entry in entries]


@each_reply
def test_a_reply_in_a_journal_is_one_line(path: Path, reply: HostileReply) -> None:
    """The line is one line, is read back whole, and leaves the lines around it alone."""
    keep(path, PLAIN, reply.text, PLAIN)
    content = path.read_bytes()
    assert (content.count(b"\n"), content.count(b"\r"), content[-1:]) == (3, 0, b"\n")
    assert kept(path) == [("call", PLAIN), ("call", reply.text), ("call", PLAIN)]


@each_reply
def test_a_reply_does_not_change_the_kind_of_its_line(path: Path, reply: HostileReply) -> None:
    """Whoever reads calls only gets the reply's line, and whoever reads records only does not."""
    keep(path, reply.text)
    assert kept(path, "call") == [("call", reply.text)]
    assert kept(path, "record", "session") == []


@each_reply
def test_a_line_cut_within_a_reply_is_passed_over(path: Path, reply: HostileReply) -> None:
    """Where a crash has cut a reply, what is written behind it is read and nothing else is."""
    keep(path, reply.text)
    whole = path.read_bytes()
    for size in {len(whole) * part // 16 for part in range(1, 16)}:
        path.write_bytes(whole[:size])
        keep(path, PLAIN)
        assert kept(path) == [("call", PLAIN)]


@each_reply
def test_a_reply_behind_a_cut_line_is_not_lost(path: Path, reply: HostileReply) -> None:
    """A reply is read back although a crash has cut the line before it."""
    keep(path, PLAIN)
    path.write_bytes(path.read_bytes()[:-10])
    keep(path, reply.text, PLAIN)
    assert kept(path) == [("call", reply.text), ("call", PLAIN)]
