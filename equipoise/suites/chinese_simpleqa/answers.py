"""Reads short answers: their confidence, the option that they choose, their language. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise

from equipoise.core.types import JSON
from equipoise.core.unicode import nfkc

MIN_LETTERS = 12
"""The minimum number of letters that identify another language; fewer may be a name."""
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_LATIN = re.compile(r"[a-z]")
_LOWER_CASE = re.compile(r"[a-z\u00df-\u024f\u03ac-\u03ce\u0430-\u045f]")
_ALPHABETIC_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_VERB = re.compile(r"\b(?:is|was|are|were|has|have|do|don|know|think|est|es|ist|fue)\b", re.ASCII)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_PUNCTUATION = re.compile(r"[^\w.,-]+|_+|(?!(?<=\d)[.,](?=\d)|(?<!\w)-(?=\d))[.,-]")
"""Characters that are neither letters nor digits, and do not belong to a number."""
_ARTICLE_A = re.compile(
    r"(?:^|[.!?\n])[^\w.!?\n]*A\s+(?!(?:is|was|because|since|as|for|seems|must|would|and|or)\b)[a-z]"
)
"""The article "A" at the beginning of an English sentence, which is not the choice of option A."""
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


def chosen_option(text: str, options: Sequence[str], letters: str, marker: str) -> int | None:
    """The index of the option that an answer chooses; None if it chooses none, or several.

    If the text has the `marker`, only what follows the last one counts, and a letter that is all of its first
    sentence decides. Otherwise the choice is the only letter that stands by itself, with any punctuation
    around it, or else the only option that is named; longer names are matched first.
    """
    marked = text_after_marker(text, marker)
    answer = nfkc(text if marked is None else marked).strip()
    if letter := _lone_letter(answer, letters, is_first_enough=marked is not None):
        return letters.index(letter)
    named = set()
    for index in sorted(range(len(options)), key=lambda index: -len(options[index])):
        answer, count = _option_pattern(options[index]).subn(" ", answer)
        if count:
            named.add(index)
    singles = set(re.findall(rf"(?<![A-Za-z0-9])[{letters}](?![A-Za-z0-9])", _ARTICLE_A.sub(" ", answer)))
    if len(singles) == 1:
        return letters.index(singles.pop())
    return named.pop() if len(named) == 1 and not singles else None


def _lone_letter(answer: str, letters: str, *, is_first_enough: bool) -> str | None:
    """The letter that is the whole answer, or that ends an English sentence such as "the answer is B".

    With `is_first_enough`, also a letter that is the whole first sentence.
    """
    match = re.fullmatch(rf"\W*([{letters}])\W*", answer, re.IGNORECASE)
    match = match or re.search(
        rf"\b(?:answer|choice|option)(?: is|:)\W*([{letters}])\W*$", answer, re.IGNORECASE
    )
    if is_first_enough and match is None:
        ends, another = r"[\s*_`\"')\]]*(?:[.;!(\n\u3002]|$)", rf"\W*(?:or\b\W*)?[{letters}](?!\w)"
        match = re.match(rf"\W*([{letters}])(?!\w)(?!{another}){ends}", answer)
    return match[1].upper() if match else None


def _option_pattern(option: str) -> re.Pattern[str]:
    """A pattern of an option in any spacing and punctuation, not within a longer number or Latin word."""
    text = normal_form(option)
    if not text:
        return re.compile(r"(?!)")  # never matches
    # The lookbehinds follow the first character, because `re` finds a literal prefix fast.
    first = re.escape(text[0])
    before = rf"(?<!\d{first})(?<!\d[.,]{first})(?<!^-{first})(?<!\W-{first})" if text[0].isdigit() else ""
    after = r"(?![.,]?\d)" if text[-1].isdigit() else ""
    before += rf"(?<![A-Za-z]{first})" if _LATIN.match(text) else ""
    after += r"(?![A-Za-z])" if _LATIN.match(text[-1]) else ""
    rest = "".join(
        _separator_pattern(previous, following) + re.escape(following)
        for previous, following in pairwise(text)
    )
    return re.compile(first + before + rest + after, re.IGNORECASE)


def _separator_pattern(before: str, after: str) -> str:
    """A pattern of what may separate two characters of a normal form: in numbers only a comma."""
    if before.isdigit() and after.isdigit():
        return ",?"
    return "" if before in " .,-" or after in ".," else r"[\W_]*"


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
