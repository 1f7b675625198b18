"""Keys do not get into anything that is written or shown, and nothing else is changed."""

from __future__ import annotations

import base64
import html
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from equipoise.core.records import Record, Verdict
from equipoise.core.settings import NO_KEY
from equipoise.core.types import JSON, Call, Message, Reply, Token, Usage
from equipoise.models.redact import MASK, Secrets

KEY = "sk-planted/Zq81+Xw52_aa=="
LONGER = f"{KEY}9"
TILDES = "sk~~~anted/Zq81+Xw52_aa=="
"""A key whose base 64 differs in the alphabet for URLs: it has a + or a / wherever the key begins."""
WORD = "secret"
SHORT = "sk-1234"
SECRETS = Secrets([KEY, LONGER])
SHORT_ONES = Secrets([WORD, SHORT, "reasoning"])

EVERYWHERE = [
    (KEY, MASK),
    (f"your key {KEY} and {KEY}.", f"your key {MASK} and {MASK}."),
    (f"{KEY}{LONGER}", f"{MASK}{MASK}"),
    (f"X{KEY}Y", f"X{MASK}Y"),
    (f"<{LONGER}> <{KEY}>", f"<{MASK}> <{MASK}>"),
    ("no key at all", "no key at all"),
    # Escapes without a key in them are left as they were.
    *((text, text) for text in (r"50%, a%20b, &amp; \u0041 \* \/ &#39;", "YW5vdGhlciB0ZXh0LCBub3QgYSBrZXk=")),
    (KEY[:15], KEY[:15]),
    (f"cut: {KEY[:16]}", f"cut: {MASK}"),
    (f"cut: {KEY[:-1]}...", f"cut: {MASK}..."),
    ([KEY, [f"a{KEY}b"], 5], [MASK, [f"a{MASK}b"], 5]),
    ({KEY: 1, "a": {f"{KEY}!": KEY}}, {MASK: 1, "a": {f"{MASK}!": MASK}}),
    ({1: KEY, None: 2}, {1: MASK, None: 2}),
    (None, None),
    (5.5, 5.5),
    (True, True),
]

AS_A_WORD = [
    ("the secret speech", f"the {MASK} speech"),
    ("the secretary of the secretariat", "the secretary of the secretariat"),
    ("top-secret, secret_ballot, my-secret, secret2", "top-secret, secret_ballot, my-secret, secret2"),
    ("Secret and SECRET", "Secret and SECRET"),
    ("**secret**, (secret), 'secret': secret.", f"**{MASK}**, ({MASK}), '{MASK}': {MASK}."),
    ("这是secret的", f"这是{MASK}的"),
    ("secret", MASK),
    ("Bearer sk-1234", f"Bearer {MASK}"),
    ("key=sk-1234&x", f"key={MASK}&x"),
    ('"sk-1234"', f'"{MASK}"'),
    ("It is sk-1234.", f"It is {MASK}."),
    ("https://x/?k=sk-1234&y=1", f"https://x/?k={MASK}&y=1"),
    ("https://x/secret/y", f"https://x/{MASK}/y"),
    ("user:sk-1234@host", f"user:{MASK}@host"),
    ('{"error": {"sk-1234": 1}}', f'{{"error": {{"{MASK}": 1}}}}'),
    ("sk-12345 ask-1234 sk-1234-2", "sk-12345 ask-1234 sk-1234-2"),
    (r'{"text": "one\nsecret\tline"}', rf'{{"text": "one\n{MASK}\tline"}}'),
    ('{"reasoning": "my reasoning", "secret" : 1}', f'{{"reasoning": "my {MASK}", "secret" : 1}}'),
    (r'"{\"reasoning\": \"reasoning\"}"', rf'"{{\"reasoning\": \"{MASK}\"}}"'),
    ("c2VjcmV0 %73ecret \\u0073ecret", "c2VjcmV0 %73ecret \\u0073ecret"),
]
"""Keys that may be words: what stands alone is masked, and nothing else, not even other spellings."""


def failing(pairs: list[tuple[JSON, JSON]], secrets: Secrets) -> list[tuple[JSON, JSON]]:
    """The data that are not shown as they should be, with how they are."""
    return [(data, secrets.mask(data)) for data, shown in pairs if secrets.mask(data) != shown]


def test_a_long_key_is_replaced_wherever_it_stands() -> None:
    """In texts, lists and objects, as values and as names, glued to what is beside it, or cut at its end."""
    assert failing(EVERYWHERE, SECRETS) == []
    assert failing(EVERYWHERE, Secrets([LONGER, KEY])) == []


def test_a_short_key_is_replaced_only_where_it_is_a_whole_word() -> None:
    """A placeholder such as `secret` does not edit the secretary, nor the names of a verdict's fields."""
    assert failing(AS_A_WORD, SHORT_ONES) == []


def spellings(key: str) -> Iterator[tuple[str, str]]:
    """How a key is spelled elsewhere, each with a name."""
    for before in ("", "u", "us", "user:", "x:y:"):
        for after in ("", "z", ":zz"):
            encoded = base64.b64encode(f"{before}{key}{after}".encode()).decode()
            safe = encoded.translate(str.maketrans("+/", "-_"))
            for name, text in (("standard", encoded), ("safe", safe)):
                yield f"base 64, {name}, {before!r} {after!r}", text
                yield f"base 64, {name}, {before!r} {after!r}, unpadded", text.rstrip("=")
            yield f"base 64 in an address, {before!r} {after!r}", quote(encoded, safe="")
            yield f"base 64 in JSON, {before!r} {after!r}", encoded.replace("/", "\\/")
    yield "address", quote(key, safe="")
    yield "address, small letters", quote(key, safe="").replace("%2F", "%2f").replace("%2B", "%2b")
    yield "address, twice", quote(quote(key, safe=""), safe="")
    yield "address, all of it", "".join(f"%{ord(letter):02X}" for letter in key)
    yield "JSON, slashes", key.replace("/", "\\/")
    yield "JSON, all of it", "".join(f"\\u{ord(letter):04x}" for letter in key)
    yield "JSON, half of it", "".join(f"\\u{ord(letter):04X}" for letter in key[:9]) + key[9:]
    yield "JSON, twice", json.dumps("".join(f"\\u{ord(letter):04x}" for letter in key))
    yield "HTML, decimal", "".join(f"&#{ord(letter)};" for letter in key)
    yield "HTML, hexadecimal", "".join(f"&#x{ord(letter):x};" for letter in key)
    yield "HTML, names", key.replace("/", "&sol;").replace("+", "&plus;").replace("=", "&equals;")
    yield "Markdown", key.replace("_", "\\_").replace("+", "\\+")


def test_a_long_key_is_found_in_the_usual_encodings() -> None:
    """So that nothing of it can be decoded from what is left; what stands beside it stays."""
    wrong = {}
    secrets = Secrets([KEY, LONGER, TILDES])
    for name, text in (*spellings(KEY), *((f"{name}, ~", text) for name, text in spellings(TILDES))):
        shown = secrets.mask(f"Before {text} behind.")
        rest = shown.removeprefix("Before ").removesuffix(" behind.")
        # In base 64, up to two digits on either side tell of neighbours as well.
        is_masked = MASK in rest and len(rest) <= len(MASK) + 16
        if not (is_masked and shown.startswith("Before ") and shown.endswith(" behind.")):
            wrong[name] = shown
    assert wrong == {}


def test_json_with_a_key_in_it_stays_json() -> None:
    """Escapes that stand right before and behind a key are no part of it; those in it are found."""
    verdict = {"reasoning": f'He said "{KEY}"\n{KEY}\\ and \\{KEY}', "score": 3}
    shown = {"reasoning": f'He said "{MASK}"\n{MASK}\\ and \\{MASK}', "score": 3}
    assert json.loads(SECRETS.mask(json.dumps(verdict))) == shown
    odd = 'sk-"planted"\\key-0123'
    assert Secrets([odd]).mask(json.dumps({"said": f"{odd}!"})) == f'{{"said": "{MASK}!"}}'


ENCODED = base64.b64encode(KEY.encode()).decode()
PIECES = [
    *(WORD, SHORT, KEY, KEY[:17], KEY[5:], LONGER, quote(KEY, safe=""), ENCODED, html.escape(KEY)),
    *(" ", ".", "-", "a", '"', '":', "\\", "\\n", "\n", "%", "&", "*", MASK, "中"),
]


def test_what_is_masked_before_it_is_quoted_reads_as_what_is_masked_behind() -> None:
    """A reply that is replayed makes the prompt, as it is kept, that it made when it came."""
    chance = random.Random(20260102)  # noqa: S311 - the pieces are no secret
    secrets = Secrets([KEY, LONGER, WORD, SHORT])
    for _ in range(300):
        text = "".join(chance.choices(PIECES, k=chance.randint(1, 8)))
        prompt = "A secret question:\n{}\n[end] secret".format
        once = secrets.mask(text)
        assert secrets.mask(once) == once, text
        assert secrets.mask(prompt(once)) == secrets.mask(prompt(text)), text


def test_what_is_no_key_is_not_hidden() -> None:
    """The stand-in for a missing key, and words too short for one, stay in ordinary text."""
    for word in (NO_KEY, "", "x", "none", "12345"):
        text = f"none of this is secret: {word} 12345 x"
        assert Secrets([word]).mask(text) == text
        reply = Reply(text=text)
        assert Secrets([word]).masked_reply(reply) is reply


def test_six_characters_are_a_key_and_sixteen_a_real_one() -> None:
    """The shortest key that is taken for one, and the shortest that is masked inside other text too."""
    assert Secrets(["abcdef"]).mask("abcdef") == MASK
    assert Secrets(["a" * 15 + "b"]).mask(f"x{'a' * 15}bx") == f"x{MASK}x"
    assert Secrets(["a" * 14 + "b"]).mask(f"x{'a' * 14}bx") == f"x{'a' * 14}bx"


def test_a_header_is_hidden_with_the_key_in_it() -> None:
    """What is secret may be any text; its long words are secret by themselves, its short ones are not."""
    secrets = Secrets([f"Bearer {KEY}", "organisation-of-mine"])
    assert secrets.mask(f"Bearer {KEY}; {KEY}") == f"{MASK}; {MASK}"
    assert secrets.mask("A Bearer of organisation-of-mine") == f"A Bearer of {MASK}"


# What is kept.


def test_values_of_ours_are_masked_and_names_are_not() -> None:
    """A label, a model or an outcome that happens to be the key is no text that repeats it."""
    data = {"reasoning": ["samples", "of reasoning"], "evaluator": "reasoning", "said": f"reasoning {KEY}"}
    shown = {"reasoning": ["samples", f"of {MASK}"], "evaluator": "reasoning", "said": f"{MASK} {MASK}"}
    assert Secrets(["reasoning", KEY]).mask_values(data) == shown


def test_a_reply_is_masked_in_all_its_texts() -> None:
    """And nowhere else; a short key leaves names and codes alone."""
    numbers: dict[str, Any] = {"usage": Usage(input=1, output=2), "latency": 0.5, "retries": 2}
    names = ("text", "reasoning", "finish_reason", "model", "fingerprint", "provider", "blocked")
    reply, shown = (Reply(**{**dict.fromkeys(names, f"said {key}"), **numbers}) for key in (KEY, MASK))
    assert SECRETS.masked_reply(reply) == shown
    reply = Reply(text="by ollama", model="ollama/x", provider="ollama", finish_reason="length")
    assert Secrets(["ollama", "length"]).masked_reply(reply) == replace(reply, text=f"by {MASK}")


def test_tokens_are_masked_as_they_are_text() -> None:
    """Also those that might have been said, which are names there; none is kept of a key that was said."""
    token = Token(text="A", top={"A": -0.1, " secret": -3.0})
    shown = Token(text="A", top={"A": -0.1, f" {MASK}": -3.0})
    assert SHORT_ONES.masked_reply(Reply(text="A", tokens=(token,))).tokens == (shown,)
    pieces = tuple(Token(text=text, top={text: -0.1}) for text in ("sec", "ret"))
    assert SHORT_ONES.masked_reply(Reply(text="", tokens=pieces)).tokens is None
    assert SHORT_ONES.masked_reply(Reply(text="secret", tokens=pieces[:1])).tokens is None
    assert SHORT_ONES.masked_reply(Reply(text="B", tokens=pieces[1:])).tokens == pieces[1:]


def test_what_holds_no_key_is_returned_as_it_is() -> None:
    """Nothing is copied for nothing, and what an endpoint sent stays as it was."""
    tokens = (Token(text="a", top={"a": 0.0}),)
    reply = Reply(text="Because.", usage=Usage(input=1), latency=0.5, tokens=tokens)
    assert SECRETS.masked_reply(reply) is reply
    call = Call(role="subject", model="m", messages=(Message(role="user", content="Why?"),), parameters={})
    assert SECRETS.masked_call(call) is call
    data = {"a": [KEY]}
    SECRETS.mask(data)
    assert data == {"a": [KEY]}


def test_a_call_is_masked_in_its_messages_alone() -> None:
    """Who is asked, and with which parameters, is ours."""
    message = Message(role="user", content="the secret")
    call = Call(role="subject", model="secret", messages=(message,), parameters={"secret": "secret"})
    masked = SHORT_ONES.masked_call(call)
    assert masked.messages == ({"role": "user", "content": f"the {MASK}"},)
    assert (masked.model, masked.parameters) == (call.model, call.parameters)


def test_a_record_is_masked_in_what_was_said() -> None:
    """Errors, verdicts and details; its case, its outcome and the names of evaluators are ours."""
    texts: dict[str, Any] = {"fields": {"reasoning": "a secret"}, "error": "secret!", "raw": ("a secret",)}
    record = Record(
        case={"id": "secret", "question": "Is it secret?"},
        run=1,
        outcome="scored",
        score=3.0,
        error="no secret",
        verdicts=(Verdict(evaluator="secret", attempts=2, **texts),),
        details={"secret": ["secret", "the secret"]},
    )
    shown = {"fields": {"reasoning": f"a {MASK}"}, "error": f"{MASK}!", "raw": [f"a {MASK}"]}
    assert SHORT_ONES.masked_record(record).to_json() == {
        **record.to_json(),
        "error": f"no {MASK}",
        "verdicts": [{"evaluator": "secret", "attempts": 2, **shown}],
        "details": {"secret": ["secret", f"the {MASK}"]},
    }


def test_a_file_is_masked_in_place(tmp_path: Path) -> None:
    """Whatever bytes it has beside; one that is not there is left alone."""
    path = tmp_path / "debug.log"
    path.write_bytes(f"--api-key {KEY} ".encode() + b"\xff\xfe")
    SECRETS.mask_file(path)
    SECRETS.mask_file(tmp_path / "none")
    assert path.read_bytes() == f"--api-key {MASK} ".encode() + b"\xff\xfe"
