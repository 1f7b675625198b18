"""Reads short answers: their confidence, the option that they choose, their language. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from equipoise.core.types import JSON
from equipoise.core.unicode import nfkc

MIN_LETTERS = 12
"""The minimum number of letters that identify another language; fewer may be a name."""
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_LOWER_CASE = re.compile(r"[a-z\u00df-\u024f\u03ac-\u03ce\u0430-\u045f]")
_ALPHABETIC_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_VERB = re.compile(r"\b(?:is|was|are|were|has|have|do|don|know|think|est|es|ist|fue)\b", re.ASCII)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_PUNCTUATION = re.compile(r"[^\w.,-]+|_+|(?!(?<=\d)[.,](?=\d)|(?<!\w)-(?=\d))[.,-]")
"""Characters that are neither letters nor digits, and do not belong to a number."""
_CONFIDENCE = re.compile(r"(\d+(?:\.\d+)?)\s*%?")


def parse_json_part(text: str) -> JSON:
    """The JSON from the first opening brace to the last closing one; None if there is none."""
    try:
        return json.loads(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return None


def parse_confident_answer(text: str) -> tuple[str, float] | None:
    """The answer and the confidence, 0 to 100, in a JSON reply; None unless both are valid."""
    data = parse_json_part(text)
    if not isinstance(data, dict):
        return None
    answer = data.get("answer")
    if not isinstance(answer, str | int | float) or isinstance(answer, bool):
        return None
    confidence = _confidence(data.get("confidence"))
    return None if confidence is None else (str(answer), confidence)


def _confidence(value: JSON) -> float | None:
    """A number from 0 to 100, or such a number as text, with or without a percent sign; None otherwise."""
    if isinstance(value, str):
        match = _CONFIDENCE.fullmatch(value.strip())
        value = float(match[1]) if match else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 100 else None


def text_after_marker(text: str, marker: str) -> str | None:
    """The text after the last marker, in full-width or normalised characters; None without a marker."""
    spellings = (dict.fromkeys((re.escape(character), re.escape(nfkc(character)))) for character in marker)
    parts = re.split("".join(f"(?:{'|'.join(pair)})" for pair in spellings), text)
    return parts[-1] if len(parts) > 1 else None


def is_exact(text: str, accepted: Sequence[str]) -> bool:
    """Whether an answer is one of the accepted spellings and nothing else."""
    return normal_form(text) in set(map(normal_form, accepted))


def normal_form(text: str) -> str:
    """The letters and digits of a text, normalised and in lower case.

    The only punctuation kept is that on which the value of a number depends: decimal separators and a leading
    minus. Separators of thousands are dropped.
    """
    folded = _THOUSANDS.sub("", nfkc(text).casefold().replace("\u2212", "-"))
    return _PUNCTUATION.sub("", folded)


def is_in_other_language(text: str, names: Sequence[str]) -> bool:
    """Whether a reply is in another language than Chinese.

    It is if fewer than one in five letters are Han, or at least one in five is Japanese kana or Korean. A
    reply with fewer than a dozen letters must also contain a verb. `names`, such as the accepted spellings,
    do not count, nor do capitalised words and digits, because they belong to no language.
    """
    text = nfkc(text)
    if not (_LOWER_CASE.search(text) or _KANA_OR_HANGUL.search(text)):
        return False
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(re.escape(nfkc(name)), " ", text, flags=re.IGNORECASE)
    text = _ALPHABETIC_WORD.sub(lambda word: "" if word[0][0].isupper() else word[0], text)
    letters = "".join(character for character in text if character.isalpha())
    han, others = (len(script.findall(letters)) for script in (_HAN, _KANA_OR_HANGUL))
    is_decidable = len(letters) >= MIN_LETTERS or _VERB.search(text) is not None
    return is_decidable and (han * 5 < len(letters) or others * 5 >= len(letters))
