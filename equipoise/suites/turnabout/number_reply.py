"""A reply to a question for a number from 0 to 100: the numbers that it gives as its answer. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import Literal

from equipoise.suites.turnabout.phrases import (
    AROUND,
    Clauses,
    answer_in,
    begins_with,
    ends_with,
    in_bold,
    pattern,
    spans,
    without_markup,
)
from equipoise.suites.turnabout.vocabulary import LETTER, Lexicon, folded

FURTHEST = 40
"""The maximum distance in characters from words that announce an answer to the answer."""
WIDEST = 30
"""The maximum width of a range whose middle is taken as the answer."""
FEWEST = 20
"""The lowest number in words that is read in running text; lower ones usually count things."""
_WORD, _WEAK, _OUT_OF = "\ue000", "\ue001", "\ue002"
"""Marks before a number written in words, before one that may mean something else, and for "out of 100"."""
_LETTER_RUN = re.compile(
    "(?:[^\\W\\d_]|[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0951-\u0963])+"
)
_NUMBER = re.compile(
    rf"([{_WORD}{_WEAK}]?)(?<![a-z\d])(?<!\d[.,])(?<!(?<!\.)\.)(-?)(\d{{1,9}}(?:[.,]\d{{1,9}})?)(?!\d)"
)
_GAP = r"[^\d\n.!?;\u3002\u0964\u061f]"
_SCALE = re.compile(
    rf"(?<=.)(?<!\d)(?<!\d[.,])0(?![\d.,]\d){_GAP}{{1,120}}100(?!\d)|(?<![\d.,])100{_GAP}{{1,14}}(?<!\d)0(?!\d|[.,]\d)",
    re.DOTALL,
)
"""The ends of the scale, which a reply may repeat."""
_SCALE_AT_START = re.compile(r"\A\W{0,4}0[^\d\n.!?,;]{1,14}100(?!\d)")
_OF_HUNDRED = re.compile(r"\s?/\s?100(?!\d)")
_ITEM = re.compile(r"^\W{0,4}(\d{1,2})[.)]\s", re.MULTILINE)
_OPENING = re.compile(r"[.,:;!\u3002](?=\D|$)|\s-\s|\s\(")
_BETWEEN = re.compile(r"[!?;\u3002\u0964]|\.\s|\n\s{0,9}\S")
"""The pattern of a boundary between an answer and words that announce another answer."""
_CLOSED = re.compile(rf"\s?%?{_OUT_OF}?\s?(?:$|[\n.,;:!?)\u3002\u0964\u06d4\u061f])")
_FREE = ("after", "points", "answer", "range", "either", "denies", "yet", "means")
"""The kinds of words that may follow a number that does not count anything."""
_DEVIATION = re.compile(r"(?:\u00b1|\+/)\s?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Number:
    """A number from 0 to 100 in a reply, and its position.

    `out_of`: it is said to be out of 100, or a percentage. `is_word`: it is written in words. `is_weak`: the
    words may mean something else.
    """

    value: float
    start: int
    end: int
    out_of: bool
    is_word: bool
    is_weak: bool


_Pair = Literal["range", "either", "scale"]
Level = tuple[set[float], set[tuple[float, float]]]
"""The numbers and the ranges that a reply gives in one way."""


_start = attrgetter("start")


class NumberReply:
    """A reply, folded, with its numbers, ranges and clauses."""

    def __init__(self, text: str, words: Sequence[Lexicon], question: str) -> None:
        self.words = words
        raw = self._last_word(folded(answer_in(text)))
        self.bold = [self._prepared(part) for part in in_bold(raw)]
        self.text = self._prepared(raw)
        self.clauses = Clauses(self.text, words)
        self.asked = {number.value for number in _numbers(self._prepared(folded(question)))}
        self.listed = [*self._listed()]
        pairs = [*self._pairs(self.listed)]
        self.partners = {number.start: pair for pair, _ in pairs for number in pair}
        self.ranges = {number.start: pair for pair, kind in pairs if kind == "range" for number in pair}
        dropped = {number.start for pair, kind in pairs if kind == "scale" for number in pair}
        dropped |= {number.start for number in self.listed if self._is_dropped(number)} | {*self._earlier()}
        dropped |= {item.start for start in dropped for item in self.partners.get(start, ())}
        self.numbers = [number for number in self.listed if number.start not in dropped]

    def _last_word(self, text: str) -> str:
        """The text after the last phrase that takes back a number."""
        ends = [end for _, end in spans(text, "scrap", self.words)]
        end = max((end for end in ends if _numbers(self._prepared(text[:end]))), default=0)
        return text[end:]

    def _prepared(self, text: str) -> str:
        """The folded text without markup and mentions of the scale, with all numbers in digits."""
        plain = _OF_HUNDRED.sub(_OUT_OF, without_markup(text).strip())
        plain = _SCALE_AT_START.sub(" ", plain)
        for language in self.words:
            for phrase in language.lists.get("out_of", ()):
                plain = plain.replace(phrase, _OUT_OF)
            for phrase in language.lists.get("percent", ()):
                plain = plain.replace(phrase, "%")
        return _SCALE.sub(" ", _in_digits(plain, self.words))

    @property
    def declines(self) -> bool:
        """Whether the reply says that it does not answer."""
        return self.clauses.declines

    def levels(self) -> Iterator[Level]:
        """The answers that the reply gives, from the clearest way of giving one to the least clear."""
        yield self._of(self.numbers if self._is_bare(self.text) else [])
        corrected = [number for number in self._behind("rather", 3) if self._closes(number)]
        yield self._of(sorted([*self._behind("final"), *corrected], key=_start)[-1:])
        lines = [*self._in_lines()]
        yield self._of([*lines, *self._behind("answer")])
        yield self._of(number for number in self._behind("label") if not self._is_end(number))
        yield {number.value for text in self.bold if (number := _only(text)) is not None}, set()
        rest = [number for number in self.numbers if self._may_be_meant(number)]
        yield self._of([number for number in rest if number.out_of])
        yield self._of(rest)

    def is_split(self, value: float) -> bool:
        """Whether a clause also has the complement of the number to 100, so that it is one of two shares."""
        if self._is_line(value):
            return False
        own = {self.clauses.at(number.start) for number in self.numbers if number.value == value}
        others = {self.clauses.at(item.start) for item in self.numbers if item.value == 100 - value != value}
        return not own.isdisjoint(others)

    def _is_line(self, value: float) -> bool:
        return any(number.value == value for number in self._in_lines(with_opening=False))

    def _of(self, numbers: Iterable[_Number]) -> Level:
        """The values of the numbers that are not in a range, and the ranges; alternatives count with both."""
        listed = [*numbers]
        alone = [number for number in listed if number.start not in self.ranges]
        values = {item.value for number in alone for item in self.partners.get(number.start, (number,))}
        ranges = {self.ranges[number.start] for number in listed if number.start in self.ranges}
        return values, {(low.value, high.value) for low, high in ranges}

    def _listed(self) -> Iterator[_Number]:
        """The numbers, except the item numbers of a list."""
        items = [match for match in _ITEM.finditer(self.text) if int(match[1]) <= 20]
        starts = {match.start(1) for match in items} if len(items) > 1 else set[int]()
        yield from (number for number in _numbers(self.text) if number.start not in starts)

    def _pairs(self, numbers: Sequence[_Number]) -> Iterator[tuple[tuple[_Number, _Number], _Pair]]:
        """Neighbouring numbers that form a range, are alternatives, or belong to another scale."""
        joined = re.compile(rf"\s?%?\s?(?:-|(?:{pattern(self.words, 'range')})-?)\s?%?")
        either = re.compile(rf"\s?%?,?\s?(?:{pattern(self.words, 'either')})\s?%?")
        scale = re.compile(rf"[^\d\n]{{0,3}}(?:/|{pattern(self.words, 'scale')})\W{{0,2}}")
        for low, high in pairwise(numbers):
            gap = self.text[low.end : high.start]
            if 0 < high.value - low.value <= WIDEST and joined.fullmatch(gap):
                yield (low, high), "range"
            elif len(gap) <= AROUND and either.fullmatch(gap):
                yield (low, high), "either"
            elif low.value != high.value and (scale.fullmatch(gap[:AROUND]) or _is_sum(low, high, gap)):
                yield (low, high), "scale"

    def _is_dropped(self, number: _Number) -> bool:
        """Whether a number is not an answer: it is denied, is a bound, or is a certainty or a deviation."""
        before, after = self._around(number)
        # Words for a bound such as "to" also precede the end of a range.
        is_high = self.ranges.get(number.start, (number,))[0] is not number
        return (
            self._follows(self.clauses.declined, number)
            or _DEVIATION.search(before) is not None
            or ends_with(before, self.words, "denies", gap=r"\s?(?:\w{1,6}\s)?[%(\"'-]?")
            or (not is_high and ends_with(before, self.words, "bound", gap=r"\W{0,2}"))
            or begins_with(after, self.words, "denies_after", "bound_after", gap=rf"[ %{_OUT_OF}]{{0,2}}")
            or self._is_certainty(number, before, after)
        )

    def _is_certainty(self, number: _Number, before: str, after: str) -> bool:
        """Whether a number says how certain or uncertain the reply is."""
        gap = r"[^\W\d]{0,2}?" if self.words[0].unspaced else r" ?(?:[^\W\d]+ ){0,2}?"
        if begins_with(after, self.words, "certain", gap=rf"[ %{_OUT_OF}]{{0,3}}{gap}"):
            return True
        gap = r"\w{0,6}(?:\s\w{1,6}){0,2}\W{0,3}"
        return number.out_of and ends_with(before, self.words, "certain", gap=gap)

    def _around(self, number: _Number) -> tuple[str, str]:
        """The text before and after a number, at most AROUND characters each."""
        before = self.text[max(number.start - AROUND, 0) : number.start]
        return before, self.text[number.end : number.end + AROUND]

    def _earlier(self) -> Iterator[int]:
        """The positions of numbers that are called a first thought."""
        for _, end in spans(self.text, "earlier", self.words):
            index = bisect_left(self.listed, end, key=_start)
            for number in self.listed[index : index + 1]:
                if number.start <= end + FURTHEST and self.clauses.at(number.start) == self.clauses.at(end):
                    yield number.start

    def _follows(self, clauses: Mapping[int, int], number: _Number) -> bool:
        """Whether a number is after the given position in its clause; `clauses` has positions by clause."""
        return clauses.get(self.clauses.at(number.start), number.start) < number.start

    def _may_be_meant(self, number: _Number) -> bool:
        """Whether a number in running text may be the answer: not from the question, and not a count."""
        if number.value in self.asked or number.is_weak or self._is_end(number):
            return False
        if number.is_word and not (self._closes(number) and self._is_early(number)):
            return False
        return number.out_of or (self._is_free(number) and not self._follows(self.clauses.excused, number))

    def _is_end(self, number: _Number) -> bool:
        """Whether the reply explains what 0 or 100 means, as the question does with the ends of the scale."""
        after = self._around(number)[1]
        return number.value in (0, 100) and begins_with(after, self.words, "means", gap=r"\s?")

    def _is_early(self, number: _Number) -> bool:
        """Whether a number is near the beginning of its clause."""
        clause = self.clauses.at(number.start)
        start = self.clauses.ends[clause - 1] if clause else 0
        return number.start - start <= FURTHEST >> self.words[0].unspaced

    def _is_free(self, number: _Number) -> bool:
        """Whether a number is not followed by something that it counts."""
        after = self._around(number)[1].lstrip(f" %{_OUT_OF}")
        if re.match(LETTER, after) is None or number.out_of:
            return True
        if begins_with(after, self.words, "counts"):
            return False
        return begins_with(after, self.words, *_FREE)

    def _closes(self, number: _Number) -> bool:
        """Whether a number, or the pair that it belongs to, ends its clause."""
        last = self.partners.get(number.start, (number,))[-1]
        after = self.text[last.end :][:AROUND]
        points = re.match(rf"[\s%]?\s?(?:{pattern(self.words, 'points')})", after)
        return _CLOSED.match(after[points.end() :] if points else after) is not None

    def _is_bare(self, text: str) -> bool:
        """Whether a text consists of one number, apart from punctuation and words such as "points"."""
        rest = _NUMBER.sub(" ", text).replace(_OUT_OF, " ")
        for language in self.words:
            for phrase in language.lists.get("points", ()):
                rest = rest.replace(phrase, " ") if phrase in rest else rest
        return re.search(r"\w|[<>\u2264\u2265]", rest) is None and len({*_values(text)}) == 1

    def _in_lines(self, *, with_opening: bool = True) -> Iterator[_Number]:
        """The numbers that are a line by themselves, or the first sentence of the reply."""
        start = 0
        for line in self.text.split("\n"):
            if self._is_bare(line):
                yield from self._between(start, start + len(line))
            start += len(line) + 1
        first, *rest = _OPENING.split(self.text, maxsplit=1)
        if with_opening and rest and self._is_bare(first) and not re.match(r"\W*\d", rest[0]):
            yield from self._between(0, len(first))

    def _between(self, start: int, end: int) -> Sequence[_Number]:
        """The numbers that begin in this part of the text."""
        first, last = (bisect_left(self.numbers, position, key=_start) for position in (start, end))
        return self.numbers[first:last]

    def _behind(self, kind: str, most: int = 5) -> list[_Number]:
        """The first number after each phrase of a kind, with at most `most` words in between."""
        numbers = []
        for _, end in spans(self.text, kind, self.words):
            number = next(iter(self._between(end, end + FURTHEST)), None)
            if number is not None and self._is_announced(self.text[end : number.start], number, most):
                numbers.append(number)
        return numbers

    def _is_announced(self, between: str, number: _Number, most: int) -> bool:
        count = len(re.findall(rf"{LETTER}+", between))
        if _BETWEEN.search(between) or count > most or not self._is_free(number):
            return False
        if number.is_weak:
            return count <= 1 and self._closes(number)
        return number.value not in self.asked or number.out_of or count <= 2


def _is_sum(low: _Number, high: _Number, gap: str) -> bool:
    """Whether two numbers in words form a single number above 100."""
    are_words = low.is_word and high.is_word and 100 in (low.value, high.value)
    return are_words and re.fullmatch(r"\s(?:\w{1,3}\s)?", gap) is not None


def _numbers(text: str) -> list[_Number]:
    return [number for match in _NUMBER.finditer(text) if (number := _number(match)) is not None]


def _number(match: re.Match[str]) -> _Number | None:
    text, start, end = match.string, match.start(), match.end()
    is_negative = (
        bool(match[2])
        and not text[max(start - 1, 0) : start].strip()
        and text[end - len(match[3]) - 1] == "-"
    )
    # A hyphen between two numbers belongs to a range.
    is_negative = is_negative and not re.search(r"[\d%]\s?$", text[max(start - 3, 0) : start])
    value = float(match[3].replace(",", "."))
    around = text[max(start - 4, 0) : start].rstrip()[-1:], text[end : end + 4].lstrip()[:1]
    out_of = _OUT_OF in around or around[1] == "%" or around[0] == "%"
    is_bound = around[0] in ("<", ">", "\u2264", "\u2265") or text[end : end + 1] == "+"
    is_thousands = re.search(r"[.,]\d{3}$", match[3]) is not None
    if is_negative or is_bound or is_thousands or value > 100 or (0 < value < 1 and not out_of):
        return None
    return _Number(
        value=value, start=start, end=end, out_of=out_of, is_word=bool(match[1]), is_weak=match[1] == _WEAK
    )


def _values(text: str) -> list[float]:
    return [number.value for number in _numbers(text)]


def _only(text: str) -> _Number | None:
    """The number in a text; None unless all its numbers are equal."""
    numbers = _numbers(text)
    return numbers[0] if len({number.value for number in numbers}) == 1 else None


def _in_digits(text: str, words: Sequence[Lexicon]) -> str:
    """The text with numbers in words replaced by a mark and digits."""
    for language in words:
        if language.unspaced:
            text = _signs_in_digits(text, language)
    spaced = [language for language in words if not language.unspaced]
    begins = frozenset[str]().union(*(language.first_words for language in spaced))
    runs = [*_LETTER_RUN.finditer(text)]
    parts, position, index = [], 0, 0
    while index < len(runs):
        if runs[index][0] not in begins:
            index += 1
            continue
        # Of languages that match equally many words, max takes the first.
        length, written = max((_longest(text, runs, index, item) for item in spaced), key=itemgetter(0))
        if length:
            parts += [text[position : runs[index].start()], written]
            position = runs[index + length - 1].end()
        index += length or 1
    return "".join([*parts, text[position:]])


def _signs_in_digits(text: str, words: Lexicon) -> str:
    return re.sub(rf"[{words.signs}]+", lambda run: _marked(words.numbers.get(run[0]), run[0], words), text)


def _marked(value: int | None, written: str, words: Lexicon) -> str:
    """A number in digits after its mark; `written` unchanged if it is not a number."""
    if value is None:
        return written
    is_weak = words.foreign or value < FEWEST or written in words.common
    return f"{_WEAK if is_weak else _WORD}{value}"


def _longest(text: str, runs: Sequence[re.Match[str]], index: int, words: Lexicon) -> tuple[int, str]:
    """The longest number in words that begins at `index`: its length in words, or 0, and its digits."""
    longest, end = (0, ""), runs[index].start()
    spelled: list[str] = []
    for length, run in enumerate(runs[index : index + words.most_words], start=1):
        if length > 1 and text[end : run.start()] not in (" ", "-"):
            break
        spelled.append(run[0])
        end = run.end()
        value = words.numbers.get(" ".join(spelled))
        if value is not None:
            longest = (length, _marked(value, " ".join(spelled), words))
    return longest
