"""Splits content into answer and thoughts, for reasoning models whose endpoint does not separate them.

Pure; knows neither which model wrote the content nor whether it was truncated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

_NAMES = "think|thinking|thought|thoughts|reasoning|seed:think|mm:think"
# Mistral's tags are upper case only: [think] is an insertion in a quotation. Gemma's tags name a channel.
_OPENS = rf"<(?:{_NAMES})>|(?-i:\[THINK\])|◁think▷|<\|channel>thought"
_CLOSES = rf"</(?:{_NAMES})>|(?-i:\[/THINK\])|◁/think▷|<channel\|>"
# The header of a message of gpt-oss: github.com/openai/harmony, docs/format.md.
_MESSAGE = r"[^<]{0,200}(?:<\|constrain\|>[^<]{0,200})?<\|message\|>"
_FINAL = rf"<\|channel\|>\s{{0,9}}final{_MESSAGE}"

_ANY = re.compile(rf"{_OPENS}|{_CLOSES}|<\|channel\|>", re.IGNORECASE)
# The first characters of all tags, which few contents have: looking for these is ten times as fast.
_FIRST = "<[◁"
_FENCED = r"(?m:^)[ \t]*```(?s:.*?)\n[ \t]*```[^\n]*"
_SPAN = r"`+[^`\n]*+`+"
# In thoughts, a lone backtick must not hide their end: a span has no tags, or begins and ends with one.
# `</think>` in backticks is a span; `a</think>b` is none, so that its tag counts.
_TAG = rf"(?:{_OPENS}|{_CLOSES})"
_STRICT_SPAN = rf"`+(?:(?!{_TAG})[^`\n])*+`+|`+{_TAG}(?:[^`\n]*{_TAG})?`+"
_IN_ANSWER = re.compile(rf"(?P<code>{_FENCED}|{_SPAN})|(?P<opens>{_OPENS})|{_CLOSES}", re.IGNORECASE)
_IN_THOUGHTS = re.compile(rf"(?P<code>{_STRICT_SPAN})|(?P<opens>{_OPENS})|{_CLOSES}", re.IGNORECASE)

# A header at the end of the content may be incomplete.
_HEADER = re.compile(
    rf"(?<!`)<\|channel\|>(?:\s{{0,9}}(?P<final>final)?{_MESSAGE}|[a-z]{{0,12}}\Z)", re.IGNORECASE
)
_BODY_ENDS = re.compile(r"<\|(?:end|return|call|start)\|>")
_CONTROL = re.compile(r"<\|(?:start|channel)\|>[^<]*|<\|[a-z]+\|>")

_BEFORE_OBJECT = re.compile(rf"(?:{_CLOSES}|{_FINAL})(?=\s*(?:```\w*\s*)?\{{\s*[\"}}])", re.IGNORECASE)
# A hostile reply can have many closing tags followed by `{`; each is tried by parsing to the end.
_MOST_OBJECTS = 64

_Piece = tuple[str, bool]
"""A piece of the content, and whether it is a thought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """A block of thoughts, as positions in the content: thoughts from `start` to `stop`, tags around them.

    The opening tag begins at `before`; the closing tag ends at `behind`.
    """

    before: int
    start: int
    stop: int
    behind: int

    @property
    def is_opened(self) -> bool:
        """Whether the content has the opening tag; otherwise the chat template has it, in the prompt."""
        return self.start > self.before


def split(content: str) -> tuple[str, str]:
    """Return the answer and the thoughts, which are "" if there are none.

    Content without tags is returned unchanged. The answer is empty if the thoughts do not end. Tags in
    Markdown code are ignored. So are tags in a JSON object, if it is the whole content or all that follows a
    closing tag. Takes linear time.
    """
    if not _may_hold_thoughts(content) or _is_object(content):
        return content, ""
    closing = _tag_before_object(content)
    if closing:
        before = _pieces(content[: closing.start()])
        return _without_end_marker(content[closing.end() :]), _joined(text for text, _ in before)
    pieces = _pieces(content)
    if len(pieces) == 1:
        return content, ""
    answer = "".join(text for text, is_thought in pieces if not is_thought)
    return answer.strip(), _joined(text for text, is_thought in pieces if is_thought)


def _joined(thoughts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, map(str.strip, thoughts)))


def _may_hold_thoughts(content: str) -> bool:
    has_tags = any(character in content for character in _FIRST) and _ANY.search(content) is not None
    return has_tags or _has_bare_channels(content)


def _has_bare_channels(content: str) -> bool:
    """Whether the content is of gpt-oss and a server removed the markers, but not the channels' names."""
    return content.startswith("analysis") and "assistantfinal" in content


# JSON.


def _is_object(text: str) -> bool:
    """Whether the text is one JSON object, alone or in one code fence."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        text = re.sub(r"\A```\w*", "", text).removesuffix("```").strip()
    if not (text.startswith("{") and text.endswith("}")):
        return False
    try:
        # Raw line breaks in strings make a verdict invalid, but it is still an answer.
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _tag_before_object(content: str) -> re.Match[str] | None:
    """The first closing tag that is followed by exactly one JSON object."""
    if not _without_end_marker(content).endswith(("}", "```")):
        return None
    tags = islice(_BEFORE_OBJECT.finditer(content), _MOST_OBJECTS)
    return next((tag for tag in tags if _is_object(_without_end_marker(content[tag.end() :]))), None)


def _without_end_marker(text: str) -> str:
    """The stripped text, without the marker that ends a message of gpt-oss."""
    return text.strip().removesuffix("<|return|>").removesuffix("<|end|>").strip()


# Pieces, in the order of the content; a single piece if there are no thoughts.


def _pieces(content: str) -> list[_Piece]:
    headers = list(_HEADER.finditer(content))
    if headers:
        return list(_messages(content, headers))
    if _has_bare_channels(content):
        thoughts, _, answer = content.removeprefix("analysis").partition("assistantfinal")
        return [(thoughts, True), (answer, False)]
    tags = _tags(content)
    return _between(content, list(_blocks(tags, len(content)))) if tags else [(content, False)]


def _messages(content: str, headers: list[re.Match[str]]) -> Iterator[_Piece]:
    """The messages of gpt-oss as pieces: all but those to the final channel are thoughts."""
    yield _CONTROL.sub("", content[: headers[0].start()]), True
    stops = [header.start() for header in headers[1:]] + [len(content)]
    for header, stop in zip(headers, stops, strict=True):
        body = content[header.end() : stop]
        end = _BODY_ENDS.search(body)
        is_final = header["final"] is not None
        yield (body[: end.start()] if end else body) + "\n\n", not is_final
        # Text after the last message is part of the answer unless that message is final.
        outside = _CONTROL.sub("", body[end.start() :]) if end else ""
        yield outside, is_final or stop < len(content)


def _tags(content: str) -> list[re.Match[str]]:
    """The effective tags, in order: tags in code do not count.

    Code fences count only in the answer. In thoughts, a fence may stay open, which would hide their end.
    """
    tags: list[re.Match[str]] = []
    depth = position = 0
    while tag := (_IN_THOUGHTS if depth else _IN_ANSWER).search(content, position):
        position = tag.end()
        if tag["code"] is None:
            tags.append(tag)
            depth = depth + 1 if tag["opens"] else max(0, depth - 1)
    return tags


def _blocks(tags: list[re.Match[str]], size: int) -> Iterator[_Block]:
    """The outermost blocks in a content of `size` characters."""
    index = 0
    while index < len(tags):
        tag = tags[index]
        if not tag["opens"]:
            yield _Block(before=tag.start(), start=tag.start(), stop=tag.start(), behind=tag.end())
        else:
            last = _closing(tags, index)
            stop, behind, index = (size, size, len(tags)) if last is None else (*tags[last].span(), last)
            yield _Block(before=tag.start(), start=tag.end(), stop=stop, behind=behind)
        index += 1


def _closing(tags: list[re.Match[str]], opening: int) -> int | None:
    """The index of the tag that closes a block, whatever its name; None if there is no closing tag.

    If fewer tags close than open, it is the last closing tag: models repeat the opening tag, and mention it
    in their thoughts.
    """
    depth, last = 0, None
    for index in range(opening, len(tags)):
        depth += 1 if tags[index]["opens"] else -1
        last = last if tags[index]["opens"] else index
        if not depth:
            return index
    return last


def _between(content: str, blocks: list[_Block]) -> list[_Piece]:
    """The pieces of the content. Everything before a closing tag without an opening one is a thought."""
    unopened = [number for number, block in enumerate(blocks) if not block.is_opened]
    # A lone closing tag at the very end is ignored if an earlier tag has closed the thoughts.
    if len(blocks) > 1 and unopened[-1:] == [len(blocks) - 1] and not content[blocks[-1].behind :].strip():
        unopened.pop()
    thinking_until = unopened[-1] if unopened else -1
    pieces: list[_Piece] = []
    position = 0
    for number, block in enumerate(blocks):
        pieces.append((content[position : block.before], number <= thinking_until))
        pieces.append((content[block.start : block.stop], True))
        position = block.behind
    return [*pieces, (content[position:], False)]
