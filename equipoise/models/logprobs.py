"""Labels and likelihoods from token probabilities or from the text of an answer. Pure.

A label is a single token after an opening parenthesis, such as (A) or (4).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from equipoise.core.types import JSON, Token, json_schema
from equipoise.core.unicode import nfkc
from equipoise.models.parameter_changes import PREFILL

LABEL_TOKENS = 16
"""The token limit of the first attempt: room for a label with punctuation or formatting around it."""
THOUGHT_TOKENS = 8_192
"""The token limit for a label of a model that thinks first."""
FAILURES_BEFORE_SCHEMA = 2
"""After this many answers without a label, it is requested by JSON schema: many endpoints enforce schemas."""
ROUNDING = 0.01
"""Probabilities may sum to this much over 1: some endpoints round log probabilities to two decimals."""
_OPENING_MARKS = r"(\[\"'*_`\u2018\u201c\u300c\u300e\u3010"
_CLOSING_MARKS = r")\]\"'*_`\u2019\u201d\u300d\u300f\u3011"
_BEFORE_LABEL, _AFTER_CHARACTER = rf"[\s{_OPENING_MARKS}]*", rf"[\s{_CLOSING_MARKS}.:\u3002]"
_AFTER_LABEL = f"{_AFTER_CHARACTER}*"
"""Punctuation and formatting before a label, one character after it, and all after it, in any script."""
# The lookbehind lets the second part match only where the final punctuation begins. Otherwise a search would
# try each of its characters and take quadratic time.
_AROUND_LABEL = re.compile(rf"\A{_BEFORE_LABEL}|(?<!{_AFTER_CHARACTER}){_AFTER_CHARACTER}+\Z")
# The last form is the Chinese word for "answer".
_ANNOUNCEMENT = (
    r"(?:(?:(?:my|the)\s+)?(?:(?:best|correct|final)\s+)?"
    r"(?:answer|choice|grade|label|level|option|rating|verdict)(?:\s+is)?\s*:?|\u7b54\u6848\s*:)"
)
_OPENING = re.compile(rf"{_BEFORE_LABEL}(?:{_ANNOUNCEMENT}{_BEFORE_LABEL})?", re.IGNORECASE)
_LABEL_ALONE = re.compile(
    rf"{_BEFORE_LABEL}(?:{_ANNOUNCEMENT}{_BEFORE_LABEL})?([A-Za-z0-9]+){_AFTER_LABEL}", re.IGNORECASE
)
_LABEL_WITH_MEANING = re.compile(rf"{_BEFORE_LABEL}([A-Za-z0-9]+)[*_`\"']*[)\]:.](.*)", re.DOTALL)
_LABEL_BEFORE_BRACKETS = re.compile(r"([A-Za-z0-9]+)\s?\(([^()]*)\)")
_AROUND_MEANING = " *_`\"'.\u3002"
_LABEL_AS_JSON = re.compile(r"""\{\s*"label"\s*:\s*"([A-Za-z0-9]+)"\s*\}""")
_CLOSING_PARENTHESIS = re.compile(r"[\s*_`\"']*[)\]\u3011]")


class ImpossibleProbabilities(ValueError):  # noqa: N818 - it names what the endpoint returned
    """The probabilities of the alternatives for one token sum to more than 1."""

    def __init__(self, total: float) -> None:
        super().__init__(f"token probabilities that sum to {total:.2f}, more than 1")


def label_parameters(token_limit: int | None, options: Iterable[str], failed: int = 0) -> dict[str, JSON]:
    """Parameters that request a label and its probabilities, or after enough `failed` attempts a JSON object.

    Each failed attempt multiplies the token limit by 8, up to `token_limit`, the user's.
    """
    tokens = LABEL_TOKENS * 8**failed
    limit = {"max_tokens": tokens if token_limit is None else min(tokens, token_limit)}
    if failed < FAILURES_BEFORE_SCHEMA:
        return {"logprobs": True, "top_logprobs": 20, PREFILL: "(", **limit}
    return {
        "response_format": json_schema("label", {"label": {"type": "string", "enum": list(options)}}),
        **limit,
    }


def label_room(token_limit: int | None) -> int:
    """The token limit for a label of a model that thinks first, up to `token_limit`, the user's."""
    return THOUGHT_TOKENS if token_limit is None else min(THOUGHT_TOKENS, token_limit)


def label_probabilities(
    tokens: Sequence[Token], options: Mapping[str, str], least: float = 0.5
) -> dict[str, float] | None:
    """The probability of each label at the token that counts; None if no token does.

    An opening is skipped: spaces, a parenthesis, quotes or "Answer:". The first token after it counts if it
    spells a label and begins an answer, not a sentence. If it spells no label, it counts if the labels have
    more than `least` of the probability at its position, and so does an earlier token without letters.

    The spellings of one label (" C", "C", "(C") are added up; the sum over all labels is at most 1. Raises
    ImpossibleProbabilities.
    """
    texts = [nfkc(token.text) for token in tokens]
    opening = _OPENING.match("".join(texts))
    opening_end = opening.end() if opening else 0
    for index, (token, end) in enumerate(zip(tokens, accumulate(map(len, texts)), strict=True)):
        if end > opening_end:
            return _probabilities_after_opening(token, "".join(texts[index:]), options, least)
        if re.search(r"\w", texts[index]) is None:
            shares = _label_shares(token, options)
            if sum(shares.values()) > least:
                return shares if len(token.top) > 1 else None
    return None


def _probabilities_after_opening(
    token: Token, rest: str, options: Mapping[str, str], least: float
) -> dict[str, float] | None:
    """The labels' probabilities at the token where `rest` begins; None if the answer does not start there."""
    shares = _label_shares(token, options)
    if _spelled_label(token.text, options) is None:
        is_answer = sum(shares.values()) > least
    else:
        is_answer = _begins_with_label(rest, options)
    return shares if is_answer and len(token.top) > 1 else None


def _label_shares(token: Token, options: Mapping[str, str]) -> dict[str, float]:
    """The probability of each label at this token's position. Raises ImpossibleProbabilities."""
    total = sum(math.exp(min(logprob, 0.0)) for logprob in token.top.values())
    if total > 1 + ROUNDING:
        raise ImpossibleProbabilities(total)
    shares = dict.fromkeys(options, 0.0)
    for text, logprob in token.top.items():
        label = _spelled_label(text, options)
        if label is not None:
            shares[label] += math.exp(min(logprob, 0.0))
    return shares


def _begins_with_label(text: str, options: Mapping[str, str]) -> bool:
    """Whether the leading label is the answer, and not an article or the number of a list item."""
    leading = re.match(rf"{_BEFORE_LABEL}[A-Za-z0-9]+", text)
    is_closed = leading is not None and _CLOSING_PARENTHESIS.match(text, leading.end()) is not None
    return is_closed or label_in_text(text, options) is not None


def ending_likelihood(tokens: Sequence[Token], ending: str, added: int) -> float | None:
    """The sum of the log probabilities of an ending's tokens, which follow the last colon.

    None if there is no token of the ending, or one has no probability. The tokens that the model generated
    after the ending are not counted. `added` is the number of generated tokens; it is used only if the end of
    the ending is not found, for instance because tokens are parts of characters.
    """
    colons = [index for index, token in enumerate(tokens) if ":" in token.text]
    following = list(tokens[colons[-1] + 1 :]) if colons else []
    count = _token_count([token.text for token in following], ending)
    count = len(following) - added if count is None else count
    logprobs = [logprob for token in following[:count] for logprob in token.top.values()]
    return sum(logprobs) if 0 < len(logprobs) == count else None


def _token_count(texts: Sequence[str], ending: str) -> int | None:
    """How many of the tokens spell the ending, apart from spaces; None if they do not begin with it."""
    joined = "".join(texts)
    start = len(joined) - len(joined.lstrip())
    end = start + len(ending)
    sizes = enumerate(accumulate(map(len, texts)), 1)
    count, size = next(((count, size) for count, size in sizes if size >= end), (0, 0))
    return count if count and joined[start:size].rstrip() == ending else None


def _spelled_label(text: str, labels: Iterable[str]) -> str | None:
    """The label that a token spells, if any."""
    spelled = _AROUND_LABEL.sub("", nfkc(text)).upper()
    return next((label for label in labels if spelled == label.upper()), None)


def label_in_text(text: str, options: Mapping[str, str]) -> str | None:
    """The label of an answer that is only a label: alone, after "Answer:" and the like, or with its meaning.

    Examples: "(C)", "Option C", {"label": "C"}, and "C) " followed by the meaning of C or its beginning,
    which may also be in brackets. A label that is alone in the first line may be followed by a reason.
    Returns None for any other text, whatever letters it contains.
    """
    answer = nfkc(text).strip()
    if by_schema := _LABEL_AS_JSON.fullmatch(answer):
        return _spelled_label(by_schema[1], options)
    if alone := _LABEL_ALONE.fullmatch(answer):
        return _spelled_label(alone[1], options)
    return _label_with_meaning(answer, options) or _label_above_reason(answer, options)


def _label_with_meaning(answer: str, options: Mapping[str, str]) -> str | None:
    match = _LABEL_WITH_MEANING.fullmatch(answer) or _LABEL_BEFORE_BRACKETS.fullmatch(answer.rstrip("."))
    label = _spelled_label(match[1], options) if match else None
    if match is None or label is None:
        return None
    meaning, quoted = (" ".join(item.split()).casefold() for item in (options[label], match[2]))
    quoted = quoted.strip(_AROUND_MEANING)
    return label if quoted and meaning.startswith(quoted) else None


def _label_above_reason(answer: str, options: Mapping[str, str]) -> str | None:
    """The label that is alone in the first line, if the rest begins a sentence and names no other label."""
    first_line, _, reason = answer.partition("\n")
    alone = _LABEL_ALONE.fullmatch(first_line.strip())
    label = _spelled_label(alone[1], options) if alone else None
    words = re.findall(r"[A-Za-z0-9]+", reason)
    names_other = not set(options).isdisjoint(set(words) - {label})
    return None if names_other or reason.lstrip()[:1].islower() else label
