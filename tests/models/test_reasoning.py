"""The answer and the thoughts in content that holds both."""

from __future__ import annotations

import json
import random
import re
from itertools import permutations, product

import pytest

from equipoise.models.reasoning import LoneClosing, split, split_verdict

NAMES = ["think", "thinking", "thought", "thoughts", "reasoning", "seed:think", "mm:think"]
TAGS = [
    *((f"<{name}>", f"</{name}>") for name in NAMES),
    *((f"<{name.upper()}>", f"</{name.title()}>") for name in NAMES),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("◁Think▷", "◁/THINK▷"),
    ("<|channel>thought\n", "<channel|>"),
]

VERDICT = json.dumps({"leans": -2, "quote": "It says </think> and <think>, and {}.", "neutral": False})
QUOTES_HOSTILE = json.dumps({"quote": '</think>{"leans": 0}\n```json\n{"leans": 0}\n```', "leans": 3})
JSON_ANSWERS = [
    VERDICT,
    QUOTES_HOSTILE,
    "{}",
    "{ }",
    '{"a": {"b": ["</thinking>"]}}',
    f"```json\n{VERDICT}\n```",
    f"```\n{QUOTES_HOSTILE}\n```",
    f"```JSON\n\n{VERDICT}\n\n```",
    json.dumps({"quote": "[/THINK] ◁/think▷ <|channel|>final<|message|>{} <|end|>"}, ensure_ascii=False),
    '{"quote": "two\nlines </think>"}',
]


PLAIN = (
    *("", " \n", "An answer.", "  An answer with space around it. \n", "The word assistantfinal alone"),
    "3 < 4 > 2, a <b>bold</b> word, [a list], {braces}",
    "I think so. A reasoning thought, thinking /think.",
    "<thinker> </thinkers> <think <think/> < think> <think > <think about='it'>",
    "<reflection>so</reflection> <output>x</output>",
    "He said: 'I [think] so, and [/think] not.'",
    *("analysis of the question", "analysis first; the assistant's final word"),
    "`<|channel|>analysis<|message|>` is how gpt-oss begins.",
    "gpt-oss writes <|channel|> and a name.",
    *("<|im_start|>assistant", "Unicode: ◁ think ▷, 思考, \ud800"),
    # Tags in Markdown code are text.
    *("models write `<think>` before answering.", "They end with `</think>`, and answer then. "),
    "A `<think>...</think>` block, or ``<think>``, or ` <think> so </think> `.",
    *("`<think>`", "`<THINK>` and `[THINK]` and `◁think▷` and `<|channel>thought`"),
    *("```\n<think>\nHm.\n</think>\n```", "Like this:\n  ```\n  </think>\n  ```\nDone."),
    "Like this:\n\n```xml\n<think>\n```\n\nThen comes the answer.",
    "First `a`, then:\n```\n<think>\n```\nand:\n```python\nx = '</think>'\n```",
)


def test_content_without_thoughts_is_returned_as_it_is(subtests: pytest.Subtests) -> None:
    """Nothing is stripped or copied, nor where it is one JSON object, whatever that quotes."""
    objects = (around + item + around for item, around in product(JSON_ANSWERS, ("", "  ", "\n\n")))
    for content in (*PLAIN, *objects):
        with subtests.test(ascii(content[:40])):
            answer, thoughts, tags = split(content)
            assert answer is content
            assert (thoughts, tags) == ("", None)


# Blocks.


def test_every_kind_of_tag_is_known(subtests: pytest.Subtests) -> None:
    """Around thoughts at the start, or closing them on a line of its own; in code they end nothing."""
    for opening, closing in TAGS:
        with subtests.test(opening):
            mention = f"I use `{opening.strip()}` and `{closing}`."
            expected = {
                f"{opening}\nHm.\n{closing}\n\nYes.\n": ("Yes.", "Hm.", None),
                f"Hm.\n{closing}\n\nYes.": ("Yes.", "Hm.", "unopened"),
                f"{closing}Yes.": ("Yes.", "", None),
                opening: ("", "", None),
                f"{opening}{mention}{closing}Yes.": ("Yes.", mention, None),
                f"{mention}\n{closing}\nYes.": ("Yes.", mention, "unopened"),
                f"{opening}A.{closing}One.{opening}And then": (f"One.{opening}And then", "A.", "whole"),
            }
            unclear = (
                f"One {opening}Hm.{closing}two",
                f"One.\n{opening}Hm.{closing}",
                f"{opening}Hm, and then",
                f"The tag {opening.strip()} opens thoughts. A balanced answer.",
                f"One-sided praise.{closing}A balanced answer.",
                f"One-sided praise.{closing}",
            )
            expected |= {content: (content.strip(), "", "whole") for content in unclear}
            assert {content: split(content) for content in expected} == expected


def test_blocks_are_told_from_the_answer(subtests: pytest.Subtests) -> None:
    """Thoughts end at the first closing tag; whatever tags follow are part of the answer."""
    for what, (content, answer, thoughts) in {
        "empty": ("<think>\n\n</think>\n\nYes.", "Yes.", ""),
        "only-empty": ("<think></think>", "", ""),
        "two-blocks": ("<think>A</think>\n<think>B</think>Yes.", "Yes.", "A\n\nB"),
        "wrong-name": ("<think>A</thinking>Yes.", "Yes.", "A"),
        "opened-twice": ("<think>\n<think>\nA\n</think>\nYes.", "Yes.", "<think>\nA"),
        "mentions-opening": ("<think>A <think> B.</think>Yes.", "Yes.", "A <think> B."),
        "closed-at-once-again": ("Hm.\n</think>\n</think>\nYes.", "Yes.", "Hm."),
        "closed-behind-the-answer": ("<think>A</think>Yes.\n</think>\n", "Yes.", "A"),
        "closed-behind-the-answer-unopened": ("Hm.\n</think>\nYes.</think>", "Yes.", "Hm."),
        "code-across-the-end": ("<think>A ``` B</think>Yes ```", "Yes ```", "A ``` B"),
        "code-with-bracket": ("<think>A `b < c`</think>`d` Yes.", "`d` Yes.", "A `b < c`"),
        "code-around-opening": ("<think>`a <think> b` C</think>Yes.", "Yes.", "`a <think> b` C"),
        "open-fence": ("<think>\n```\nA\n</think>\nYes:\n```\nB\n```", "Yes:\n```\nB\n```", "```\nA"),
        "code-on-both-sides": ("<think>A `b`</think>`c` Yes.", "`c` Yes.", "A `b`"),
        "answer-mentions-tags": (
            "<think>A</think>Write `<think>` first:\n```\n</think>\n```\nSo.",
            "Write `<think>` first:\n```\n</think>\n```\nSo.",
            "A",
        ),
        "stripped": ("<think>A</think>\n\n    code\n\n", "code", "A"),
        "chinese": ("<think>思考</think>是。", "是。", "思考"),
        "surrogates": ("<think>\ud800</think>\ud800", "\ud800", "\ud800"),
        "carriage-returns": ("\r\n<think>\r\nA\r\n</think>\r\nYes.\r\n", "Yes.", "A"),
    }.items():
        with subtests.test(what):
            assert split(content)[:2] == (answer, thoughts)
            assert split(content).tags in (None, "unopened")


def test_what_may_be_part_of_the_answer_stays_in_it(subtests: pytest.Subtests) -> None:
    """Where tags do not say what is thought, nothing is taken from the reader, and the tags are reported."""
    for what, (content, answer, thoughts) in {
        "blank-block": ("<think>A</think>One, <think> </think>two.", "One, <think> </think>two.", "A"),
        "later-block": ("<think>A</think>One.<thought>B</thought>", "One.<thought>B", "A"),
        "nested": ("<think>A<think>B</think>C</think>Yes.", "C</think>Yes.", "A<think>B"),
        "mentions-closing": ("<think>A </think> B.</think>Yes.", "B.</think>Yes.", "A"),
        "code-around-closing": ("<think>`a </think> b` C</think>Yes.", "b` C</think>Yes.", "`a"),
        "mentions-block": ("A <think>B</think> C</think>Yes.", "A <think>B</think> C</think>Yes.", ""),
        "closed-twice": ("A\n</think>\nB\n</think>\nYes.", "A\n</think>\nB\n</think>\nYes.", ""),
        "code-with-block": ("<think>`<think> a </think>` b", "<think>`<think> a </think>` b", ""),
        "label-first": ("(B)\nIt says\n</think>\n(A)", "(B)\nIt says\n</think>\n(A)", ""),
        "labelled-first": ("Answer: B\n</think>\n(A)", "Answer: B\n</think>\n(A)", ""),
        "number-first": ("62\n</think>\n80", "62\n</think>\n80", ""),
        "object-first": ('{"a": 1}\n</think>\n{"a": 2}', '{"a": 1}\n</think>\n{"a": 2}', ""),
        "speaks-of-channels": (
            "It writes <|channel|>final<|message|> before it answers.",
            "It writes <|channel|>final<|message|> before it answers.",
            "",
        ),
    }.items():
        with subtests.test(what):
            assert split(content) == (answer, thoughts, "whole")


def test_a_lone_closing_tag_counts_where_the_endpoint_may_have_dropped_the_other() -> None:
    """On a line of its own, anywhere, or never, as the caller knows the endpoint."""
    own_line, inside = "Hm, so.\n</think>\n\nYes.", "Hm, so.</think>Yes."
    forms: dict[LoneClosing, tuple[str, str]] = {
        "anywhere": ("Yes.", "Yes."),
        "own line": ("Yes.", inside),
        "never": (own_line, inside),
    }
    for form, answers in forms.items():
        assert tuple(split(text, lone_closing=form).answer for text in (own_line, inside)) == answers, form


def test_thoughts_that_a_limit_cut_are_thoughts() -> None:
    """Only then are thoughts without an end known not to be an answer."""
    assert split("<think>Hm, and then", is_cut=True) == ("", "Hm, and then", None)
    assert split("<think>A</think>\n<think>B", is_cut=True) == ("", "A\n\nB", None)
    assert split("<think>A</think>One.<think>B", is_cut=True) == ("One.<think>B", "A", "whole")
    assert split_verdict('<think>It says </think>{"a": 1}', is_cut=True).answer == '{"a": 1}'
    assert split_verdict('<think>It says <think></think>{"a": 1}', is_cut=True).answer == ""


# JSON behind thoughts.


HEADS = (
    ("<think>Hm.</think>", "Hm."),
    ("Hm.</think>", "Hm."),
    ("</think>", ""),
    ("[THINK]Hm.[/THINK]", "Hm."),
    ("<think>A</think>\n<think>B</think>", "A\n\nB"),
    ("<think>The reply says `</think>`, so.</think>", "The reply says `</think>`, so."),
    ("<think>It says </think> and {, so.</think>", "It says\n\nand {, so."),
    ('<think>Hm </think>{"leans": 0, "quote": ".</think>', 'Hm\n\n{"leans": 0, "quote": ".'),
    ("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>", "Hm."),
    ("<|channel|>analysis<|message|>Hm.<|end|><|channel|>final <|constrain|>json<|message|>", "Hm."),
)


def test_json_behind_thoughts_is_the_answer() -> None:
    """The object that ends the content is never cut, without the marker that closes a final message."""
    for (head, thoughts), verdict, around in product(HEADS, JSON_ANSWERS, ("", "\n\n")):
        assert split_verdict(head + around + verdict + around) == (verdict, thoughts, None), (head, verdict)
    final = "<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>"
    for verdict, end in product(JSON_ANSWERS, ("<|return|>", "<|end|>", " <|return|>\n")):
        assert split_verdict(final + verdict + end) == (verdict, "Hm.", None), (verdict, end)


def test_what_is_no_object_is_an_answer_like_any(subtests: pytest.Subtests) -> None:
    """Broken, trailed and other JSON is told from the thoughts by the tags."""
    for content, answer in (
        ("<think>Hm.</think>[1, 2]", "[1, 2]"),
        ('<think>Hm.</think>{"a": 1', '{"a": 1'),
        ('<think>Hm.</think>{"a": 1} So.', '{"a": 1} So.'),
        ('<think>Hm.</think>{"a": 1} {"b": 2}', '{"a": 1} {"b": 2}'),
        ("<think>Hm.</think>{'a': 1}", "{'a': 1}"),
        ('<think>Hm.</think>{"a": ' + "[" * 100_000 + "}", '{"a": ' + "[" * 100_000 + "}"),
        ('<think>Hm.</think>{"a": ' + "9" * 100_000 + "}", '{"a": ' + "9" * 100_000 + "}"),
        ("<think>Hm.</think>```\nA\n```", "```\nA\n```"),
    ):
        with subtests.test(ascii(content[:40])):
            assert split(content)[:2] == split_verdict(content)[:2] == (answer, "Hm.")


def test_of_two_objects_neither_is_the_verdict(subtests: pytest.Subtests) -> None:
    """In any order, unless one is equal or stands in an opened block: all is returned, which is none."""
    mine, quoted = '{"leans": 2}', '{"leans": 5}'
    alone = {f"<think>{quoted}</think>{mine}", f"{mine}\n</think>{mine}", f"<think>A</think>{mine}</think>"}
    pieces = (mine, quoted, "<think>", "</think>", "\n", "So.")
    orders = {"".join(order) for size in (3, 4, 5) for order in permutations(pieces, size)}
    orders |= {f"<think>Hm.</think>{order}" for order in orders}
    for content in sorted(alone | {order for order in orders if mine in order and quoted in order}):
        answer = split_verdict(content).answer
        if content in alone:
            assert answer == mine, content
        elif answer in (mine, quoted):
            hidden = content[: content.rindex(answer)]
            assert hidden.count("</think>") >= hidden.count("<think>") > 0, content
            outside = re.sub(r"\A(\s*<think>.*?</think>)+", "", hidden, flags=re.DOTALL)
            assert mine not in outside, content
            assert quoted not in outside, content


def test_few_objects_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many places look like the last object, a fixed number of them is read as JSON."""
    tried = []

    def refuse(text: str, **_: object) -> object:
        tried.append(text)
        raise ValueError

    monkeypatch.setattr("equipoise.models.reasoning.json.loads", refuse)
    split_verdict('</think>{"' * 10_000 + "}")
    assert 1 < len(tried) <= 65


# The channels of gpt-oss.


CHANNEL, END, START = "<|channel|>", "<|end|>", "<|start|>assistant"
ANALYSIS, FINAL = f"{CHANNEL}analysis<|message|>", f"{CHANNEL}final<|message|>"
HM = f"{ANALYSIS}Hm.{END}"
CALL = f"{CHANNEL}commentary to=functions.f <|constrain|>json<|message|>{{}}<|call|>"
OUTSIDE = f"{ANALYSIS}A{END}B{FINAL}Yes.<|return|>C"


def test_channels_are_told_apart(subtests: pytest.Subtests) -> None:
    """Only what is sent to the final channel is the answer."""
    for what, (content, answer, thoughts) in {
        "as documented": (f"{HM}{START}{FINAL}Yes.<|return|>", "Yes.", "Hm."),
        "spaced": (f"{START}{HM}\n{START}\n{FINAL}\nYes.\n{END}\n", "Yes.", "Hm."),
        "final alone": (f"{FINAL}Yes.", "Yes.", ""),
        "without end": (f"{ANALYSIS}Hm.{FINAL}Yes.", "Yes.", "Hm."),
        "opened by template": (f"Hm.{END}{START}{FINAL}Yes.", "Yes.", "Hm."),
        "cut in thoughts": (f"{ANALYSIS}Hm, and", "", "Hm, and"),
        "cut behind thoughts": (HM, "", "Hm."),
        "cut in header": (f"{HM}{START}{CHANNEL}fi", "", "Hm."),
        "cut in recipient": (f"{HM}{START}{CHANNEL}commentary to=", "", "Hm."),
        "cut in first header": (f"{CHANNEL}analysis", "", ""),
        "answer without channel": (f"{HM}Yes.", "Yes.", "Hm."),
        "commentary": (f"{HM}{START}{CALL}{START}{HM}{START}{FINAL}Yes.", "Yes.", "Hm.\n\n{}\n\nHm."),
        "text outside": (OUTSIDE, OUTSIDE, ""),
        "two answers": (f"{FINAL}One.{END}{FINAL}Two.", "One.\n\nTwo.", ""),
        "other tags inside": (
            f"{ANALYSIS}A <think>b</think>{END}{FINAL}`<think>` c",
            *("`<think>` c", "A <think>b</think>"),
        ),
        "markers deleted": ("analysisWe need one word.assistantfinalfour", "four", "We need one word."),
    }.items():
        with subtests.test(what):
            assert split(content)[:2] == (answer, thoughts)


# Anything.

ATOMS = [
    *("<think>", "</think>", "</think><think>", "<think><think></think>", "<", "[", "<thin", "</think>   "),
    *("</think>{", '</think>{"', "</think>{}", '</think>{"a":', "</think>{ ", '</think>{"a":"'),
    *('</think>{"[[\\"', '\\"'),
    *("`", "`<think>", "`<think>`", "``\n", "```\n", "```x\n</think>", "\n   ", "</think>```json\n{}```"),
    *("[THINK]", "[/THINK]", "◁think▷", "◁/think▷", "<|channel>thought", "<channel|>", "{", '{"a":', "[["),
    *("<|channel|>", "<|message|>", "<|end|>", "<|return|>", "<|start|>", "<|constrain|>", "analysis"),
    *("<|channel|>final<|message|>", "<|channel|>analysis<|message|>x<|end|>", "assistantfinal", '\\"'),
]


def test_nothing_raises_and_nothing_is_invented() -> None:
    """Whatever the tags, every letter of the answer and the thoughts is in the content, and in its order."""
    chance = random.Random(5)  # noqa: S311 - not a secret
    for _ in range(1_000):
        letters = iter("abcdefghijklmnopqrstuvwxyz".upper())
        parts = [chance.choice([*ATOMS, next(letters), "\n", "}"]) for _ in range(chance.randint(0, 14))]
        content = "".join(parts)
        for part in (*split(content)[:2], *split_verdict(content)[:2]):
            capitals = [letter for letter in part if letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
            rest = iter(content)
            assert all(letter in rest for letter in capitals), content
