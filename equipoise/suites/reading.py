"""Reads the one answer that a reply gives with certainty: a letter, the words of an option or a number. Pure.

An answer is certain if it stands alone: as the whole reply, as a line, in a box, or after a marker such as
"Answer:" on its own line. All answers that stand alone must agree, and no later sentence may end with another
answer. Nothing else is read: a sentence may deny what it names, even in bold, and a line that ends with a
colon is a heading. Such answers are left to the evaluator, or have no score.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from typing import NamedTuple, TypeVar

from equipoise.core.unicode import nfkc
from equipoise.models.reasoning import split

T = TypeVar("T")

LETTERS = "ABCDEFG"
"""The letters of options."""
HEAD, TAIL = 1_000, 4_000
"""The numbers of characters read at the beginning and at the end of a long reply, where answers are."""
_WORD = re.compile(r"\w")
_MARKUP = re.compile(r"[*_`#>~|$]+")
_EDGE = (
    " \t\n\"'\u2018\u2019\u201c\u201d\u00ab\u00bb\u300c\u300d\u300e\u300f\u3010\u3011()[]{}<>.,:;!"
    "\u3002\u060c\u06d4\u0964\u3001\u2026-\u2013\u2014\u2022\u200b\u200e\u200f\ufeff"
)
"""Punctuation and spaces that may stand around an answer."""
_BOXED = re.compile(r"\\boxed\{\s*(?:\\text\{)?([^{}\n]{1,80})\}")
_BOLD = re.compile(r"\*\*([^*\n]{1,80})\*\*|__([^_\n]{1,80})__")
_LETTER_FORM = re.compile(r"([a-g]|[^\W\d_\x00-\x7f\u3400-\u9fff])\s?[).:\u3001\]]\s*(.*)", re.DOTALL)
"""A letter, perhaps of another alphabet, in the form that precedes an option, and what follows it."""
_LETTER_BEHIND = re.compile(r"(.*\S)\s?[(\[]([a-g])", re.DOTALL)
"""An option followed by its letter in brackets; `_bare` has stripped the closing bracket."""
_LEADING_LETTER = re.compile(r"([A-G])\s?[).:\u3001\]]\s*")
_PAUSE = re.compile(r"\s?(?:[.,;!(\n\u3002\u0964\u06d4\u060c\u061b]|[-\u2013\u2014]\s|$)")
"""What may follow the words of an option that begin a reply; a further word would make it a sentence."""
_SENTENCE_END = r"(?=[^\w\n]{0,9}$|[.!?\u3002\u0964\u06d4]\s)"
_LONE_LETTER = re.compile(r"(?<![A-Za-z0-9'])([A-G])(?![A-Za-z0-9'])")
_NUMBER = re.compile(r"%?\s?(\d{1,3}(?:[.,]\d{1,2})?)\s?(%|/\s?100|out of 100)?")
_NOT_AN_ANSWER = re.compile(r"\W*(?:[-\u2013\u2014.,+]|[<>]\s?)\d")
"""The beginning of a number that cannot be an answer: one below 0, a bound, or a fraction such as .7."""
_FRACTION = re.compile(r"0[.,]\d+|1[.,]0+")
"""A number that may be a share of one instead of a hundred."""
_ITEM = re.compile(r"^[^\w\n]*[1-9][.)][ \t]+\S", re.MULTILINE)
"""An item of a numbered list."""
_CUT_ITEM = re.compile(r"^[^\w\n]*[1-9][.)][ \t]*$", re.MULTILINE)
"""The number of an item without the item, as in a reply that was cut."""
_ENDS = {0.0, 100.0}
"""The ends of the scale, which every question names."""
_LAST_NUMBER = re.compile(
    rf"(?<![\d.,])(\d{{1,3}}(?:[.,]\d{{1,2}})?)\s?(?:%|/\s?100|out of 100)?{_SENTENCE_END}", re.MULTILINE
)
"""A number at the end of a sentence or line, where answers are."""
_CLAUSE_LETTER = re.compile(rf"{_LONE_LETTER.pattern}[^\w\n]*$")
_CLAUSE_NUMBER = re.compile(r"(?<![\d.,])(\d{1,3}(?:[.,]\d{1,2})?)[^\w\n]*$")
"""A letter or a number at the end of a clause."""
_BREAK = re.compile(r"(?<=[.!?])\s+|[\u3002\u0964\u06d4\u061f\n]|[,;\u060c\u061b]\s?(?=[^\W\dA-G])")
"""What separates clauses, sentences and lines, but not the answers of a list such as "B, C"."""
_SENTENCE_BREAK = re.compile(r"(?<=[.!?])\s+|[\u3002\u0964\u06d4\u061f\n]")
"""What separates sentences and lines."""
_ANY_NUMBER = re.compile(r"(?<![\d.,])\d{1,3}(?:[.,]\d+)?(?!\d)")
_OF_100 = re.compile(r"(?<=[\d%])\s?/\s?100(?!\d)")


class Reading(NamedTuple):
    """What was read: the index of an option, or a number; None without a certain answer.

    `candidates` counts the different letters, options or numbers in the reply that may be its answer.
    `is_attempt` says whether the reply seems to give one answer, in a form that cannot be read with
    certainty: at most one answer stands alone, and a candidate is the only one in the reply; or it is the
    only one in the last clause, if no clause ends with another.
    """

    value: float | None
    candidates: int
    is_attempt: bool = False


def answer_text(reply: str) -> str:
    """The reply without its reasoning; only the beginning and the end of a long reply.

    Empty if its tags do not tell what is reasoning (`whole`): an answer in it might be part of that.
    """
    parts = split(reply, lone_closing="never")
    text = "" if parts.tags == "whole" else parts.answer.strip()
    return nfkc(text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}").strip()


def read_letter(reply: str, options: Sequence[str], markers: Sequence[str] = ()) -> Reading:
    """The index of the option that a reply gives, by its letter, its words or both.

    There is no answer if the letter stands with the words of another option, or if a later sentence ends with
    another letter.
    """
    return read_option(reply, [[option] for option in options], markers)


def read_option(reply: str, options: Sequence[Sequence[str]], markers: Sequence[str] = ()) -> Reading:
    """Like `read_letter`, for options that each have several spellings."""
    text, words = answer_text(reply), [{_bare(spelling) for spelling in option} - {""} for option in options]
    stated = _stated(text, markers, lambda piece: _options_of(piece, words))
    mentioned = _mentioned(text, words)
    if not stated and len(mentioned) == 1:
        stated = _leading_option(text, words) & mentioned
    is_certain = len(stated) == 1 and _last_options(text, words) <= stated
    clauses = _clauses(text)
    closing = _mentioned(clauses[-1], words) if clauses else set()
    ends = {option for clause in clauses for option in _options_at_the_end(clause, words)}
    return _reading(stated, mentioned, closing, ends, is_certain=is_certain)


def read_number(reply: str, question: str, markers: Sequence[str] = ()) -> Reading:
    """The number from 0 to 100 that a reply gives.

    The number is not certain if the reply has other numbers and repeats this one, perhaps for something else,
    or if a later sentence ends with another number. Numbers in the question are not candidates, except an end
    of the scale if the other end does not occur.
    """
    text = answer_text(reply)
    if _ITEM.search(text):
        text = _CUT_ITEM.sub("", text)
    numbers, of_question = _numbers(text), {*_numbers(question)}
    stated = _stated(text, markers, _numbers_of)
    is_repeated = len({*numbers}) > 1 and any(numbers.count(value) > 1 for value in stated)
    rivals = _rivals(text, ({*numbers} - of_question) | stated)
    is_certain = len(stated) == 1 and not is_repeated and rivals <= stated
    without_of_100 = _OF_100.sub("", text)
    candidates = _candidates(_numbers(without_of_100), of_question)
    clauses = _clauses(without_of_100)
    closing = _candidates(_numbers(clauses[-1]), of_question) if clauses else set()
    ends = {number for clause in clauses for number in _numbers(clause, _CLAUSE_NUMBER)} & candidates
    return _reading(stated, candidates, closing, ends, is_certain=is_certain)


def _reading(
    stated: Set[float], candidates: Set[float], closing: Set[float], ends: Set[float], *, is_certain: bool
) -> Reading:
    """The reading of a reply by its answers that stand alone (`stated`) and its candidates.

    `closing` are the candidates in its last clause, and `ends` those at the end of any clause.
    """
    if is_certain:
        return Reading(float(*stated), len(candidates))
    is_last = len(closing) == 1 and ends <= closing
    return Reading(None, len(candidates), len(stated) < 2 and (len(candidates) == 1 or is_last))


def _candidates(numbers: Sequence[float], of_question: Set[float]) -> set[float]:
    """The numbers that are not in the question, and an end of the scale if the other end does not occur."""
    ends = {*numbers} & _ENDS
    return {*numbers} - of_question | (ends if len(ends) == 1 else set())


def _clauses(text: str) -> list[str]:
    return [part for part in _BREAK.split(text) if _WORD.search(part)]


def _options_at_the_end(clause: str, words: Sequence[Set[str]]) -> set[int]:
    """The options whose letter or words are at the end of a clause."""
    letters = {LETTERS.index(letter) for letter in _CLAUSE_LETTER.findall(clause)}
    bare = _bare(clause)
    # The longest name counts, because one name may end with another, as South Sudan does with Sudan.
    lengths = [max((len(name) for name in option if bare.endswith(name)), default=0) for option in words]
    by_words = {index for index, length in enumerate(lengths) if length == max(lengths) > 0}
    return {index for index in letters if index < len(words)} | by_words


def _last_options(text: str, words: Sequence[Set[str]]) -> set[int]:
    """The options at the end of the last sentence or line that ends with an option."""
    endings = (_options_at_the_end(sentence, words) for sentence in reversed(_SENTENCE_BREAK.split(text)))
    return next(filter(None, endings), set())


def _rivals(text: str, candidates: Set[float]) -> set[float]:
    """The candidates in bold and the last one at the end of a sentence; one may be the answer itself."""
    in_bold = {number for parts in _BOLD.findall(text) for number in _numbers_of("".join(parts))} & candidates
    last_words = [number for number in _numbers(text, _LAST_NUMBER) if number in candidates]
    return in_bold | {*last_words[-1:]}


def without_cut_number(text: str) -> str:
    """A reply that was cut, without the digits at its end, because further digits may have followed."""
    end = len(text)
    while end and text[end - 1].isdecimal():
        end -= 1
    return text[:end]


def _stated(text: str, markers: Sequence[str], answers_of: Callable[[str], Sequence[T]]) -> set[T]:
    """The answers that stand alone in a text; none if a marker within a line announces another answer."""
    bare = _MARKUP.sub("", text)
    marked = _marked(bare, markers, r"^[^\w\n]*")
    lines = [
        piece for piece in (text, *text.splitlines()) if not _MARKUP.sub("", piece).rstrip().endswith(":")
    ]
    pieces = [*lines, *_BOXED.findall(text), *marked]
    stated = {answer for piece in pieces for answer in answers_of(piece)}
    announced = {answer for piece in _marked(bare, markers, "") for answer in answers_of(piece)}
    return stated if announced <= stated else set()


def _marked(text: str, markers: Sequence[str], before: str) -> list[str]:
    """The rest of the line after each marker and colon; `before` is a pattern of what precedes the marker."""
    if not markers:
        return []
    names = "|".join(re.escape(nfkc(marker).rstrip(": ")) for marker in markers)
    return re.findall(rf"{before}(?:{names})\W{{0,4}}:([^\n]*)", text, re.IGNORECASE | re.MULTILINE)


def _bare(text: str) -> str:
    """The text in lower case, without markup and without punctuation around it."""
    return _MARKUP.sub("", nfkc(text)).strip(_EDGE).casefold()


def _options_of(piece: str, words: Sequence[Set[str]]) -> list[int]:
    """The options that a piece of text states by letter and words and nothing else; two if these differ."""
    bare = _bare(piece)
    if (index := _index_of(bare)) is not None:
        return [index] if index < len(words) else []
    by_words = [index for index, option in enumerate(words) if bare in option]
    parts = _letter_and_words(bare)
    if by_words or parts is None:
        return by_words
    letter, rest = parts
    by_letter = _index_of(letter)
    behind = [index for index, option in enumerate(words) if rest in option]
    if by_letter is None:
        # A letter of another alphabet may look like an A or be its first letter, so only the words count.
        return behind
    if by_letter >= len(words):
        return []
    # A reply that was cut may have only the beginning of the option's words.
    is_begun = any(option.startswith(rest) for option in words[by_letter])
    return [by_letter, *behind] if behind or is_begun else []


def _letter_and_words(bare: str) -> tuple[str, str] | None:
    """The letter and the words of a bare text that consists of both, in either order."""
    if match := _LETTER_BEHIND.fullmatch(bare):
        return match[2], _bare(match[1])
    if match := _LETTER_FORM.fullmatch(bare):
        return match[1], _bare(match[2])
    return None


def _index_of(letter: str) -> int | None:
    return LETTERS.index(letter.upper()) if len(letter) == 1 and letter.upper() in LETTERS else None


def _leading_option(text: str, words: Sequence[Set[str]]) -> set[int]:
    """The option whose letter and words begin the reply and are followed by a pause."""
    bare = _MARKUP.sub("", text).lstrip(_EDGE)
    match = _LEADING_LETTER.match(bare)
    index = LETTERS.index(match[1]) if match else len(words)
    if match is None or index >= len(words):
        return set()
    rest = bare[match.end() :].casefold()
    begun = [spelling for spelling in words[index] if rest.startswith(spelling)]
    return {index} if any(_PAUSE.match(rest, len(spelling)) for spelling in begun) else set()


def _mentioned(text: str, words: Sequence[Set[str]]) -> set[int]:
    """The options whose letter or words occur anywhere in a text."""
    lower = text.casefold()
    by_letter = {LETTERS.index(letter) for letter in _LONE_LETTER.findall(text)}
    by_words = {index for index, option in enumerate(words) if any(spelling in lower for spelling in option)}
    return {index for index in by_letter if index < len(words)} | by_words


def _numbers_of(piece: str) -> list[float]:
    """The number from 0 to 100 that a piece of text states, if it has nothing else."""
    match = _NUMBER.fullmatch(_with_plain_signs(_bare(piece)))
    if match is None or _NOT_AN_ANSWER.match(nfkc(piece)) or (_FRACTION.fullmatch(match[1]) and not match[2]):
        return []
    return _numbers(match[1])


def _numbers(text: str, pattern: re.Pattern[str] = _ANY_NUMBER) -> list[float]:
    """All numbers from 0 to 100 in a text."""
    numbers = (float(number.replace(",", ".")) for number in pattern.findall(_with_plain_signs(text)))
    return [number for number in numbers if number <= 100]


def _with_plain_signs(text: str) -> str:
    """The text with English percent signs and decimal points in place of Arabic ones; digits stay."""
    return text.translate({0x66A: "%", 0x66B: "."})
