"""Splits content into answer and thoughts, for reasoning models whose endpoint does not separate them.

Pure; knows neither which model wrote the content nor what it was asked. Whatever may be part of the answer
stays in it: only text at the start that tags mark as thoughts is split off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Literal, NamedTuple

from equipoise.core.types import JSON, ThoughtTags

_NAMES = "think|thinking|thought|thoughts|reasoning|seed:think|mm:think"
# Mistral's tags are upper case only: [think] is an insertion in a quotation. Gemma's tags name a channel.
_OPENING = rf"<(?:{_NAMES})>|(?-i:\[THINK\])|◁think▷|<\|channel>thought"
_CLOSING = rf"</(?:{_NAMES})>|(?-i:\[/THINK\])|◁/think▷|<channel\|>"
# The header of a message of gpt-oss: github.com/openai/harmony, docs/format.md.
_REST_OF_HEADER = r"[^<]{0,200}(?:<\|constrain\|>[^<]{0,200})?<\|message\|>"
_FINAL_HEADER = rf"<\|channel\|>\s{{0,9}}final{_REST_OF_HEADER}"

_ANY_TAG = re.compile(rf"{_OPENING}|{_CLOSING}|<\|channel\|>", re.IGNORECASE)
# The first characters of all tags. Few contents have them, and looking for them is ten times as fast.
_FIRST_CHARACTERS = "<[◁"
_CODE_FENCE = r"(?m:^)[ \t]*```(?s:.*?)\n[ \t]*```[^\n]*"
_CODE_SPAN = r"`+[^`\n]*+`+"
# In thoughts, a lone backtick must not hide the closing tag. Therefore a span has no tags, or begins and ends
# with one: `</think>` in backticks is a span, but `a</think>b` is not, and the tag in it counts.
_TAG = rf"(?:{_OPENING}|{_CLOSING})"
_STRICT_CODE_SPAN = rf"`+(?:(?!{_TAG})[^`\n])*+`+|`+{_TAG}(?:[^`\n]*{_TAG})?`+"
_TAG_IN_ANSWER = re.compile(
    rf"(?P<code>{_CODE_FENCE}|{_CODE_SPAN})|(?P<opens>{_OPENING})|{_CLOSING}", re.IGNORECASE
)
# In thoughts, a code fence is not recognised: it may stay open, which would hide the closing tag.
_END_OF_THOUGHTS = re.compile(rf"(?P<code>{_STRICT_CODE_SPAN})|(?P<closes>{_CLOSING})", re.IGNORECASE)
_START_OF_THOUGHTS = re.compile(rf"\s*(?:{_OPENING})", re.IGNORECASE)
_MORE_CLOSINGS = re.compile(rf"(?:\s*(?:{_CLOSING}))*", re.IGNORECASE)
_CLOSING_AT_END = re.compile(rf"(?:{_CLOSING})\s*\Z", re.IGNORECASE)

# The second form is an incomplete header at the end of the content.
_HEADER = re.compile(
    rf"(?<!`)<\|channel\|>(?:\s{{0,9}}(?P<final>final)?{_REST_OF_HEADER}|[a-z]{{0,12}}\Z)", re.IGNORECASE
)
_END_OF_BODY = re.compile(r"<\|(?:end|return|call|start)\|>")
_CONTROL_TOKENS = re.compile(r"<\|(?:start|channel)\|>[^<]*|<\|[a-z]+\|>")
_END_OF_MESSAGE = re.compile(r"<\|end\|>\s{0,9}(?:<\|start\|>assistant\s{0,9})?\Z")

_DECODER = json.JSONDecoder(strict=False)
"""Not strict: raw line breaks in strings make a verdict invalid, but it is still an answer."""
_START_OF_OBJECT = re.compile(r"\{\s*\"")
_TAG_BEFORE_OBJECT = re.compile(
    rf"(?:{_CLOSING}|{_FINAL_HEADER})(?=\s*(?:```\w*\s*)?\{{\s*[\"}}])", re.IGNORECASE
)
# Each `{` is tried by parsing to the end, and a hostile reply can have many.
_MOST_CANDIDATES = 64
# A letter or a number alone in the first line, or a letter before punctuation, as in "(B) Because".
_BEGINS_WITH_LABEL = re.compile(
    r"[^\w\n]{0,9}(?:\w{1,9}\s{0,2}[:\uff1a]\s{0,2})?[^\w\n]{0,9}"
    r"(?:[A-Za-z](?:[)\].:\uff08\uff09\uff1a]|[^\w\n]{0,9}(?:\n|\Z))|\d{1,3}[^\w\n]{0,9}(?:\n|\Z))"
)


_Piece = tuple[str, Literal["answer", "thought", "outside"]]
"""A piece of a content of gpt-oss; an `outside` piece belongs to no message."""


LoneClosing = Literal["anywhere", "own line", "never"]
"""Where a closing tag without an opening one ends thoughts: anywhere, on a line of its own, or never."""


class Parts(NamedTuple):
    """The answer and the thoughts in a content; `tags` says what is unusual about their tags, if anything."""

    answer: str
    thoughts: str
    tags: ThoughtTags | None = None


class _Opened(NamedTuple):
    """The blocks of thoughts that open a content, one after the other, and where they end.

    `is_open` says that the last block has no closing tag.
    """

    blocks: list[str]
    end: int
    is_open: bool


def split(content: str, *, is_cut: bool = False, lone_closing: LoneClosing = "own line") -> Parts:
    """Split content into answer and thoughts, which are "" if there are none.

    Thoughts are the text at the start between an opening tag and the first closing tag. They are also the
    text before a closing tag that is the only tag, where `lone_closing` allows that: many chat templates put
    the opening tag into the prompt. Anything else may be part of the answer and stays in it, tags included
    (`whole`). Text after an opening tag that is never closed counts as thoughts if the content `is_cut`.

    Content without tags is returned unchanged. Tags in Markdown code are ignored, and so are tags in a JSON
    object that is the whole answer. Takes linear time.
    """
    if not _may_hold_thoughts(content) or _is_object(content):
        return Parts(content, "")
    if _has_bare_channels(content):
        thoughts, _, answer = content.removeprefix("analysis").partition("assistantfinal")
        return Parts(answer.strip(), thoughts.strip())
    if _START_OF_THOUGHTS.match(content):
        return _split_opened(content, is_cut)
    if headers := list(_HEADER.finditer(content)):
        return _split_channels(content, headers, lone_closing)
    return _split_unopened(content, lone_closing)


def split_verdict(content: str, *, is_cut: bool = False) -> Parts:
    """Split an evaluator's content, whose answer may be a JSON object, into answer and thoughts.

    The answer is the object that follows a closing tag and ends the content, whatever tags the thoughts
    before it mention. If a different object stands outside the thoughts, the whole content is the answer,
    and so an invalid verdict. Content without such an object is split by `split`.
    """
    if not _may_hold_thoughts(content) or _is_object(content):
        return Parts(content, "")
    tag = _tag_before_object(content)
    if tag is None:
        return split(content, is_cut=is_cut, lone_closing="anywhere")
    if is_cut and _is_open(content[: tag.start()]):
        return Parts("", content.strip())
    answer, head = _without_end_marker(content[tag.end() :]), content[: tag.start()]
    thoughts, outside = _thoughts_and_others(head)
    if _holds_other_object(head if _is_open(head) else outside, answer):
        return Parts(content, "", "whole")
    return Parts(answer, _join([*thoughts, *_between_tags(outside)]))


def _join(thoughts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, map(str.strip, thoughts)))


def _may_hold_thoughts(content: str) -> bool:
    if any(character in content for character in _FIRST_CHARACTERS) and _ANY_TAG.search(content):
        return True
    return _has_bare_channels(content)


def _has_bare_channels(content: str) -> bool:
    """Whether gpt-oss wrote the content, and a server removed its markers, but not the names of channels."""
    return content.startswith("analysis") and "assistantfinal" in content


# Tags.


def _split_opened(content: str, is_cut: bool) -> Parts:
    """The parts of a content that begins with an opening tag."""
    opened = _read_opened(content)
    answer = content[opened.end :]
    if opened.is_open:
        unended = _START_OF_THOUGHTS.sub("", answer, count=1)
        if is_cut or not unended.strip():
            return Parts("", _join([*opened.blocks, unended]))
        return Parts(answer.strip(), _join(opened.blocks), "whole")
    answer = _without_closing_at_end(answer).strip()
    return Parts(answer, _join(opened.blocks), "whole" if _has_tags(answer) else None)


def _read_opened(content: str) -> _Opened:
    """The blocks at the start, each up to its first closing tag, as far as there is nothing between them."""
    blocks: list[str] = []
    position = 0
    while opening := _START_OF_THOUGHTS.match(content, position):
        closing = _first_closing(content, opening.end())
        if closing is None:
            return _Opened(blocks, position, True)
        blocks.append(content[opening.end() : closing.start()])
        position = _end_of_closings(content, closing)
    return _Opened(blocks, position, False)


def _first_closing(content: str, position: int) -> re.Match[str] | None:
    matches = _END_OF_THOUGHTS.finditer(content, position)
    return next((match for match in matches if match["closes"] is not None), None)


def _end_of_closings(content: str, closing: re.Match[str]) -> int:
    """Where a closing tag ends, with those that follow at once: some models write it twice."""
    more = _MORE_CLOSINGS.match(content, closing.end())
    return more.end() if more else closing.end()


def _split_unopened(content: str, lone_closing: LoneClosing) -> Parts:
    """The parts of a content that does not begin with an opening tag."""
    tags = _find_tags(content)
    if not tags:
        return Parts(content, "")
    end = _end_of_closings(content, tags[0])
    head, answer = content[: tags[0].start()], _without_closing_at_end(content[end:]).strip()
    if tags[0]["opens"] or not answer or _has_tags(answer):
        return Parts(content, "", "whole")
    if not head.strip():
        return Parts(answer, "")
    may_end_thoughts = lone_closing == "anywhere" or (
        lone_closing == "own line" and _is_own_line(head, content[end:])
    )
    if not may_end_thoughts or _begins_with_answer(head, answer):
        return Parts(content, "", "whole")
    return Parts(answer, head.strip(), "unopened")


def _is_own_line(before: str, after: str) -> bool:
    """Whether the tag between these two texts is alone on its line."""
    return before.rstrip(" \t\r").endswith("\n") and after.lstrip(" \t\r").startswith("\n")


def _begins_with_answer(head: str, answer: str) -> bool:
    """Whether the text before the tag is itself an answer: it has a label at its start, or another object."""
    return _BEGINS_WITH_LABEL.match(head.strip()) is not None or _holds_other_object(head, answer)


def _without_closing_at_end(text: str) -> str:
    """The text without a closing tag at its end, which some models write after the answer."""
    return _CLOSING_AT_END.sub("", text)


def _find_tags(content: str) -> list[re.Match[str]]:
    """The tags in an answer in order, without tags in code."""
    return [tag for tag in _TAG_IN_ANSWER.finditer(content) if tag["code"] is None]


def has_tags(text: str) -> bool:
    """Whether a text has tags of thoughts or channels, other than in code."""
    return bool(_find_tags(text) or _HEADER.search(text))


def _has_tags(answer: str) -> bool:
    """Whether an answer has tags outside code, unless it is a JSON object."""
    return has_tags(answer) and not _is_object(answer)


def _is_open(head: str) -> bool:
    """Whether more tags open than close, with one closing tag to come."""
    opens = [bool(tag["opens"]) for tag in _find_tags(head)]
    return opens.count(True) > opens.count(False) + 1


def _between_tags(text: str) -> Iterator[str]:
    """The pieces of a text between its tags."""
    position = 0
    for tag in _find_tags(text):
        yield text[position : tag.start()]
        position = tag.end()
    yield text[position:]


# JSON.


def _is_object(text: str) -> bool:
    """Whether the text is one JSON object, alone or in one code fence."""
    text = _unfenced(text)
    if not (text.startswith("{") and text.endswith("}")):
        return False
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _unfenced(text: str) -> str:
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        text = re.sub(r"\A```\w*", "", text).removesuffix("```").strip()
    return text


def _tag_before_object(content: str) -> re.Match[str] | None:
    """The first closing tag that is followed by exactly one JSON object."""
    if not _without_end_marker(content).endswith(("}", "```")):
        return None
    tags = islice(_TAG_BEFORE_OBJECT.finditer(content), _MOST_CANDIDATES)
    return next((tag for tag in tags if _is_object(_without_end_marker(content[tag.end() :]))), None)


def _holds_other_object(text: str, answer: str) -> bool:
    """Whether a text holds a JSON object that differs from the answer, or too many braces to tell."""
    position = 0
    for _ in range(_MOST_CANDIDATES):
        if (start := _START_OF_OBJECT.search(text, position)) is None:
            return False
        position = start.start() + 1
        with suppress(ValueError, RecursionError):
            value, position = _DECODER.raw_decode(text, start.start())
            if not _is_same_object(value, answer):
                return True
    return _START_OF_OBJECT.search(text, position) is not None


def _is_same_object(value: JSON, answer: str) -> bool:
    return _is_object(answer) and bool(json.loads(_unfenced(answer), strict=False) == value)


def _without_end_marker(text: str) -> str:
    """The stripped text, without the marker that ends a message of gpt-oss."""
    return text.strip().removesuffix("<|return|>").removesuffix("<|end|>").strip()


# The channels of gpt-oss.


def _split_channels(content: str, headers: Sequence[re.Match[str]], lone_closing: LoneClosing) -> Parts:
    """The messages to the final channel as the answer, if nothing stands outside messages."""
    pieces = list(_split_messages(content, headers))
    head = content[: headers[0].start()]
    is_opened = not _CONTROL_TOKENS.sub("", head).strip()
    answer = "".join(text for text, kind in pieces if kind == "answer").strip()
    is_continued = (
        lone_closing != "never" and _END_OF_MESSAGE.search(head) and not _begins_with_answer(head, answer)
    )
    if not (is_opened or is_continued) or any(kind == "outside" for _, kind in pieces):
        return Parts(content, "", "whole")
    thoughts = _join(text for text, kind in pieces if kind == "thought")
    return Parts(answer, thoughts, None if is_opened else "unopened")


def _thoughts_and_others(head: str) -> tuple[list[str], str]:
    """The thoughts in the text before an answer, and the rest of that text."""
    headers = list(_HEADER.finditer(head))
    if headers and not _START_OF_THOUGHTS.match(head):
        # The text before the first message may be an answer.
        first, *pieces = _split_messages(head, headers)
        others = [first[0], *(text for text, kind in pieces if kind != "thought")]
        return [text for text, kind in pieces if kind == "thought"], _join(others)
    opened = _read_opened(head)
    if opened.is_open:
        return [*opened.blocks, _START_OF_THOUGHTS.sub("", head[opened.end :], count=1)], ""
    return opened.blocks, _CONTROL_TOKENS.sub("", head[opened.end :])


def _split_messages(content: str, headers: Sequence[re.Match[str]]) -> Iterator[_Piece]:
    """The messages of gpt-oss as pieces: all but those to the final channel are thoughts."""
    yield _CONTROL_TOKENS.sub("", content[: headers[0].start()]), "thought"
    stops = [header.start() for header in headers[1:]] + [len(content)]
    is_answered = any(header["final"] for header in headers)
    for header, stop in zip(headers, stops, strict=True):
        body = content[header.end() : stop]
        end = _END_OF_BODY.search(body)
        yield (body[: end.start()] if end else body) + "\n\n", "answer" if header["final"] else "thought"
        # Text after the last message is the answer if no message is a final one.
        text = _CONTROL_TOKENS.sub("", body[end.start() :]) if end else ""
        if text.strip():
            yield text, "answer" if stop == len(content) and not is_answered else "outside"
