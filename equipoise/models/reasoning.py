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
# with one: `</think>` in backticks is a span, `a</think>b` is not, so that its tag counts.
_TAG = rf"(?:{_OPENING}|{_CLOSING})"
_STRICT_CODE_SPAN = rf"`+(?:(?!{_TAG})[^`\n])*+`+|`+{_TAG}(?:[^`\n]*{_TAG})?`+"
_TAG_IN_ANSWER = re.compile(
    rf"(?P<code>{_CODE_FENCE}|{_CODE_SPAN})|(?P<opens>{_OPENING})|{_CLOSING}", re.IGNORECASE
)
_TAG_IN_THOUGHTS = re.compile(
    rf"(?P<code>{_STRICT_CODE_SPAN})|(?P<opens>{_OPENING})|{_CLOSING}", re.IGNORECASE
)

# The second form is an incomplete header at the end of the content.
_HEADER = re.compile(
    rf"(?<!`)<\|channel\|>(?:\s{{0,9}}(?P<final>final)?{_REST_OF_HEADER}|[a-z]{{0,12}}\Z)", re.IGNORECASE
)
_END_OF_BODY = re.compile(r"<\|(?:end|return|call|start)\|>")
_CONTROL_TOKENS = re.compile(r"<\|(?:start|channel)\|>[^<]*|<\|[a-z]+\|>")

_TAG_BEFORE_OBJECT = re.compile(
    rf"(?:{_CLOSING}|{_FINAL_HEADER})(?=\s*(?:```\w*\s*)?\{{\s*[\"}}])", re.IGNORECASE
)
# Each tag that `{` follows is tried by parsing to the end, and a hostile reply can have many.
_MOST_CANDIDATES = 64

_Piece = tuple[str, bool]
"""A piece of the content, and whether it is a thought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """A block of thoughts, as positions in the content: from `start` to `stop`.

    The opening tag begins at `outer_start`, the closing tag ends at `outer_stop`.
    """

    outer_start: int
    start: int
    stop: int
    outer_stop: int

    @property
    def is_opened(self) -> bool:
        """Whether the content has the opening tag; otherwise the chat template put it into the prompt."""
        return self.start > self.outer_start


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
        thoughts = _split_pieces(content[: closing.start()])
        return _without_end_marker(content[closing.end() :]), _join(text for text, _ in thoughts)
    pieces = _split_pieces(content)
    if len(pieces) == 1:
        return content, ""
    answer = "".join(text for text, is_thought in pieces if not is_thought)
    return answer.strip(), _join(text for text, is_thought in pieces if is_thought)


def _join(thoughts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, map(str.strip, thoughts)))


def _may_hold_thoughts(content: str) -> bool:
    if any(character in content for character in _FIRST_CHARACTERS) and _ANY_TAG.search(content):
        return True
    return _has_bare_channels(content)


def _has_bare_channels(content: str) -> bool:
    """Whether gpt-oss wrote the content, and a server removed its markers, but not the names of channels."""
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
    tags = islice(_TAG_BEFORE_OBJECT.finditer(content), _MOST_CANDIDATES)
    return next((tag for tag in tags if _is_object(_without_end_marker(content[tag.end() :]))), None)


def _without_end_marker(text: str) -> str:
    """The stripped text, without the marker that ends a message of gpt-oss."""
    return text.strip().removesuffix("<|return|>").removesuffix("<|end|>").strip()


# Pieces, in the order of the content; a single piece if there are no thoughts.


def _split_pieces(content: str) -> list[_Piece]:
    headers = list(_HEADER.finditer(content))
    if headers:
        return list(_split_messages(content, headers))
    if _has_bare_channels(content):
        thoughts, _, answer = content.removeprefix("analysis").partition("assistantfinal")
        return [(thoughts, True), (answer, False)]
    tags = _find_tags(content)
    return _split_blocks(content, list(_find_blocks(tags, len(content)))) if tags else [(content, False)]


def _split_messages(content: str, headers: list[re.Match[str]]) -> Iterator[_Piece]:
    """The messages of gpt-oss as pieces: all but those to the final channel are thoughts."""
    yield _CONTROL_TOKENS.sub("", content[: headers[0].start()]), True
    stops = [header.start() for header in headers[1:]] + [len(content)]
    for header, stop in zip(headers, stops, strict=True):
        body = content[header.end() : stop]
        end = _END_OF_BODY.search(body)
        is_final = header["final"] is not None
        yield (body[: end.start()] if end else body) + "\n\n", not is_final
        # Text after a message is part of the answer only if the message is the last, but not a final one.
        outside = _CONTROL_TOKENS.sub("", body[end.start() :]) if end else ""
        yield outside, is_final or stop < len(content)


def _find_tags(content: str) -> list[re.Match[str]]:
    """The tags in order, without tags in code.

    In thoughts, a code fence is not recognised: it may stay open, which would hide the closing tag.
    """
    tags: list[re.Match[str]] = []
    depth = position = 0
    while tag := (_TAG_IN_THOUGHTS if depth else _TAG_IN_ANSWER).search(content, position):
        position = tag.end()
        if tag["code"] is None:
            tags.append(tag)
            depth = depth + 1 if tag["opens"] else max(0, depth - 1)
    return tags


def _find_blocks(tags: list[re.Match[str]], size: int) -> Iterator[_Block]:
    """The outermost blocks in a content of `size` characters."""
    index = 0
    while index < len(tags):
        tag = tags[index]
        if not tag["opens"]:
            yield _Block(outer_start=tag.start(), start=tag.start(), stop=tag.start(), outer_stop=tag.end())
        else:
            last = _closing_index(tags, index)
            stop, outer_stop, index = (size, size, len(tags)) if last is None else (*tags[last].span(), last)
            yield _Block(outer_start=tag.start(), start=tag.end(), stop=stop, outer_stop=outer_stop)
        index += 1


def _closing_index(tags: list[re.Match[str]], opening: int) -> int | None:
    """The index of the tag that closes a block, whatever its name; None if there is no closing tag.

    If fewer tags close than open, this is the last closing tag: models repeat the opening tag, or mention it
    in their thoughts.
    """
    depth, last = 0, None
    for index in range(opening, len(tags)):
        depth += 1 if tags[index]["opens"] else -1
        last = last if tags[index]["opens"] else index
        if not depth:
            return index
    return last


def _split_blocks(content: str, blocks: list[_Block]) -> list[_Piece]:
    """The pieces of the content. All before a closing tag without an opening one is a thought."""
    unopened = [index for index, block in enumerate(blocks) if not block.is_opened]
    # A lone closing tag at the very end is ignored if an earlier tag has closed the thoughts.
    is_last_unopened = len(blocks) > 1 and unopened[-1:] == [len(blocks) - 1]
    if is_last_unopened and not content[blocks[-1].outer_stop :].strip():
        unopened.pop()
    thinking_until = unopened[-1] if unopened else -1
    pieces: list[_Piece] = []
    position = 0
    for index, block in enumerate(blocks):
        pieces.append((content[position : block.outer_start], index <= thinking_until))
        pieces.append((content[block.start : block.stop], True))
        position = block.outer_stop
    return [*pieces, (content[position:], False)]
