"""Labels and likelihoods, read from token probabilities or from the text of an answer. Pure.

A label is a single token after an opening parenthesis, such as (A) or (4). Knows no prompts and no suites.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from equipoise.core.types import JSON, Token, json_schema
from equipoise.models.failures import PREFILL

LABEL_TOKENS = 16
"""Room for a label, however it is dressed."""
BY_SCHEMA = 2
"""After so many answers without a label it is asked for as JSON, by a schema that many endpoints enforce."""
_OPENS, _CLOSES = r"(\[\"'*_`\u2018\u201c\u300c\u300e\u3010", r")\]\"'*_`\u2019\u201d\u300d\u300f\u3011"
_BEFORE, _AFTER = rf"[\s{_OPENS}]*", rf"[\s{_CLOSES}.:\u3002]*"
"""What a label may be dressed in: parentheses, quotation marks, emphasis, in any script."""
_DRESS = re.compile(rf"^{_BEFORE}|{_AFTER}$")
_ANNOUNCED = (
    r"(?:(?:my|the)\s+)?(?:(?:best|correct|final)\s+)?"
    r"(?:answer|choice|grade|label|level|option|rating|verdict)(?:\s+is)?\s*:?"
)
_OPENING = re.compile(rf"{_BEFORE}(?:{_ANNOUNCED}{_BEFORE})?", re.IGNORECASE)
_ALONE = re.compile(rf"{_BEFORE}(?:{_ANNOUNCED}{_BEFORE})?([A-Za-z0-9]+){_AFTER}", re.IGNORECASE)
_LISTED = re.compile(rf"{_BEFORE}([A-Za-z0-9]+)[*_`\"']*[)\]:.](.*)", re.DOTALL)
_BY_SCHEMA = re.compile(r"""\{\s*"label"\s*:\s*"([A-Za-z0-9]+)"\s*\}""")
_CLOSED = re.compile(r"[\s*_`\"']*[)\]\u3011]")


def label_parameters(most: int | None, options: Iterable[str], failed: int = 0) -> dict[str, JSON]:
    """What is sent to learn the probabilities of a label; more room after answers that had none.

    `most` is the limit on tokens that the user has set.
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
    """The probability of each label at the first place that has one; None where no place tells.

    A place has one where a label stands there that is no word of a sentence, or where labels cover more than
    `least` of the probability.

    What may stand before a label (blanks, an opening parenthesis, quotes, "Answer:") is skipped. Spellings of
    one label (" C", "C", "(C") are added up; the sum over all labels is the mass that they cover, 1 at most.
    """
    texts = [unicodedata.normalize("NFKC", token.text) for token in tokens]
    opening = _OPENING.match("".join(texts))
    before = opening.end() if opening else 0
    for place, token in enumerate(tokens):
        is_past = len("".join(texts[: place + 1])) > before
        if not is_past and re.search(r"\w", texts[place]):
            continue
        found = _shares(token, options)
        if is_past and _label(token.text, options) is not None:
            is_answer = _begins_with_label("".join(texts[place:]), options)
            return found if is_answer and len(token.top) > 1 else None
        if sum(found.values()) > least:
            return found if len(token.top) > 1 else None
        if is_past:
            return None
    return None


def _shares(token: Token, options: Mapping[str, str]) -> dict[str, float]:
    """The probability of each label in the place of this token."""
    found = dict.fromkeys(options, 0.0)
    for text, logprob in token.top.items():
        label = _label(text, options)
        if label is not None:
            found[label] += math.exp(min(logprob, 0.0))
    return found


def _begins_with_label(text: str, options: Mapping[str, str]) -> bool:
    """Whether the label in front is the answer, and not an article or the number of a list's first item."""
    begun = re.match(rf"{_BEFORE}[A-Za-z0-9]+", text)
    is_closed = begun is not None and _CLOSED.match(text, begun.end()) is not None
    return is_closed or label_in_text(text, options) is not None


def ending_likelihood(tokens: Sequence[Token], ending: str, added: int) -> float | None:
    """The sum of the logarithms of the tokens behind the last colon, which are the ending.

    What the model has `added` does not count: so many tokens where a token is a part of a character, so that
    the ending cannot be recognised. None where no token is left, or one has no probability.
    """
    colons = [place for place, token in enumerate(tokens) if ":" in token.text]
    behind = list(tokens[colons[-1] + 1 :]) if colons else []
    texts = ["".join(token.text for token in behind[:count]).strip() for count in range(len(behind) + 1)]
    count = texts.index(ending) if ending in texts else len(behind) - added
    shares = [share for token in behind[:count] for share in token.top.values()]
    return sum(shares) if 0 < len(shares) == count else None


def _label(text: str, labels: Iterable[str]) -> str | None:
    """The label that a token is, in one of its spellings."""
    stripped = _DRESS.sub("", unicodedata.normalize("NFKC", text))
    return next((label for label in labels if stripped.upper() == label.upper()), None)


def label_in_text(text: str, options: Mapping[str, str]) -> str | None:
    """The label that an answer is and nothing else: alone, announced, or with its option as it was listed.

    So "(C)", "Option C", {"label": "C"}, and "C) " followed by the meaning of C or its beginning. Any other
    text has none, whatever letters stand in it.
    """
    answer = unicodedata.normalize("NFKC", text).strip()
    if by_schema := _BY_SCHEMA.fullmatch(answer):
        return _label(by_schema[1], options)
    if alone := _ALONE.fullmatch(answer):
        return _label(alone[1], options)
    listed = _LISTED.fullmatch(answer)
    label = _label(listed[1], options) if listed else None
    if listed is None or label is None:
        return None
    meaning, said = (" ".join(item.split()).casefold() for item in (options[label], listed[2]))
    return label if said and meaning.startswith(said.strip(" *_`\"'")) else None
