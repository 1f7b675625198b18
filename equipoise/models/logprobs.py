"""Labels and likelihoods from token probabilities or from the text of an answer. Pure.

A label is a single token after an opening parenthesis, such as (A) or (4). Knows no prompts and no suites.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from equipoise.core.types import JSON, Token, json_schema
from equipoise.core.unicode import nfkc
from equipoise.models.failures import PREFILL

LABEL_TOKENS = 16
"""The token limit for a label with any punctuation or formatting around it."""
BY_SCHEMA = 2
"""After this many answers without a label, a JSON schema asks for it, which many endpoints enforce."""
ROUNDING = 0.01
"""How much more than 1 probabilities may sum to: some endpoints round logarithms to two decimals."""
_OPENS, _CLOSES = r"(\[\"'*_`\u2018\u201c\u300c\u300e\u3010", r")\]\"'*_`\u2019\u201d\u300d\u300f\u3011"
_BEFORE, _LAST = rf"[\s{_OPENS}]*", rf"[\s{_CLOSES}.:\u3002]"
_AFTER = f"{_LAST}*"
"""Punctuation and formatting before and after a label, in any script."""
# What comes after a label is tried where it begins only: a search from each character takes quadratic time.
_DRESS = re.compile(rf"\A{_BEFORE}|(?<!{_LAST}){_LAST}+\Z")
_ANNOUNCED = (
    r"(?:(?:my|the)\s+)?(?:(?:best|correct|final)\s+)?"
    r"(?:answer|choice|grade|label|level|option|rating|verdict)(?:\s+is)?\s*:?"
)
_OPENING = re.compile(rf"{_BEFORE}(?:{_ANNOUNCED}{_BEFORE})?", re.IGNORECASE)
_ALONE = re.compile(rf"{_BEFORE}(?:{_ANNOUNCED}{_BEFORE})?([A-Za-z0-9]+){_AFTER}", re.IGNORECASE)
_LISTED = re.compile(rf"{_BEFORE}([A-Za-z0-9]+)[*_`\"']*[)\]:.](.*)", re.DOTALL)
_BY_SCHEMA = re.compile(r"""\{\s*"label"\s*:\s*"([A-Za-z0-9]+)"\s*\}""")
_CLOSED = re.compile(r"[\s*_`\"']*[)\]\u3011]")


class ImpossibleProbabilities(ValueError):  # noqa: N818 - it names what the endpoint returned
    """The probabilities of different tokens in one place sum to more than 1."""

    def __init__(self, total: float) -> None:
        super().__init__(f"token probabilities that sum to {total:.2f}, more than 1")


def label_parameters(most: int | None, options: Iterable[str], failed: int = 0) -> dict[str, JSON]:
    """Parameters that request the probabilities of labels; the token limit grows with `failed` attempts.

    `most` is the user's limit on tokens.
    """
    room = LABEL_TOKENS * 8**failed
    limit = {"max_tokens": room if most is None else min(room, most)}
    if failed < BY_SCHEMA:
        return {"logprobs": True, "top_logprobs": 20, PREFILL: "(", **limit}
    return {
        "response_format": json_schema("label", {"label": {"type": "string", "enum": list(options)}}),
        **limit,
    }


def label_probabilities(
    tokens: Sequence[Token], options: Mapping[str, str], least: float = 0.5
) -> dict[str, float] | None:
    """The probability of each label at the first token that is one; None if there is no such token.

    A token is a label if it reads as one and not as a word of a sentence, or if labels have more than `least`
    of the probability there. Raises ImpossibleProbabilities.

    What may stand before a label (spaces, a parenthesis, quotes, "Answer:") is skipped. The spellings of one
    label (" C", "C", "(C") are added up; the sum over all labels is their total probability mass, at most 1.
    """
    texts = [nfkc(token.text) for token in tokens]
    opening = _OPENING.match("".join(texts))
    before = opening.end() if opening else 0
    for index, (token, end) in enumerate(zip(tokens, accumulate(map(len, texts)), strict=True)):
        is_past = end > before
        if not is_past and re.search(r"\w", texts[index]):
            continue
        shares = _shares(token, options)
        if is_past and _label(token.text, options) is not None:
            is_answer = _begins_with_label("".join(texts[index:]), options)
            return shares if is_answer and len(token.top) > 1 else None
        if sum(shares.values()) > least:
            return shares if len(token.top) > 1 else None
        if is_past:
            return None
    return None


def _shares(token: Token, options: Mapping[str, str]) -> dict[str, float]:
    """The probability of each label in the place of this token. Raises ImpossibleProbabilities."""
    total = sum(math.exp(min(logprob, 0.0)) for logprob in token.top.values())
    if total > 1 + ROUNDING:
        raise ImpossibleProbabilities(total)
    shares = dict.fromkeys(options, 0.0)
    for text, logprob in token.top.items():
        label = _label(text, options)
        if label is not None:
            shares[label] += math.exp(min(logprob, 0.0))
    return shares


def _begins_with_label(text: str, options: Mapping[str, str]) -> bool:
    """Whether the leading label is the answer, and not an article or the number of a list item."""
    begun = re.match(rf"{_BEFORE}[A-Za-z0-9]+", text)
    is_closed = begun is not None and _CLOSED.match(text, begun.end()) is not None
    return is_closed or label_in_text(text, options) is not None


def ending_likelihood(tokens: Sequence[Token], ending: str, added: int) -> float | None:
    """The sum of log probabilities of the tokens after the last colon, which are the ending.

    Tokens that the model added are not counted. They are the last `added` tokens if the ending cannot be
    recognised because tokens are parts of characters. None if no token is left, or one has no probability.
    """
    colons = [index for index, token in enumerate(tokens) if ":" in token.text]
    behind = list(tokens[colons[-1] + 1 :]) if colons else []
    count = _spelling([token.text for token in behind], ending)
    count = len(behind) - added if count is None else count
    shares = [share for token in behind[:count] for share in token.top.values()]
    return sum(shares) if 0 < len(shares) == count else None


def _spelling(texts: Sequence[str], ending: str) -> int | None:
    """How many of the texts are the ending, apart from spaces around it; None if they are not."""
    joined = "".join(texts)
    start = len(joined) - len(joined.lstrip())
    end = start + len(ending)
    sizes = enumerate(accumulate(map(len, texts)), 1)
    count, size = next(((count, size) for count, size in sizes if size >= end), (0, 0))
    return count if count and joined[start:size].rstrip() == ending else None


def _label(text: str, labels: Iterable[str]) -> str | None:
    """The label that a token spells, if any."""
    spelled = _DRESS.sub("", nfkc(text)).upper()
    return next((label for label in labels if spelled == label.upper()), None)


def label_in_text(text: str, options: Mapping[str, str]) -> str | None:
    """The label of an answer that is nothing but a label: alone, announced, or with its option's text.

    Examples: "(C)", "Option C", {"label": "C"}, and "C) " followed by the meaning of C or its beginning.
    Returns None for any other text, whatever letters it contains.
    """
    answer = nfkc(text).strip()
    if by_schema := _BY_SCHEMA.fullmatch(answer):
        return _label(by_schema[1], options)
    if alone := _ALONE.fullmatch(answer):
        return _label(alone[1], options)
    listed = _LISTED.fullmatch(answer)
    label = _label(listed[1], options) if listed else None
    if listed is None or label is None:
        return None
    meaning, rest = (" ".join(item.split()).casefold() for item in (options[label], listed[2]))
    return label if rest and meaning.startswith(rest.strip(" *_`\"'")) else None
