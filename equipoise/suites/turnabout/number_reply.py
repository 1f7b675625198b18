"""Finds the numbers that a reply gives as its answer to a question for a number from 0 to 100. Pure.

A share beside an actor's name, such as "the first side bears 85 %", is not read as an answer: it measures
that side's part, whichever way the question's scale runs. Nor is a percentage in a sentence where the scale
runs down. Numbers in words are replaced by digits first. Kinds of phrases, such as "final", are the keys of
the rubric.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import Literal

from equipoise.suites.turnabout.phrases import (
    CONTEXT,
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

NAME_DISTANCE = 60
"""The maximum distance in characters between the name of a side and its share."""
LONGEST_GAP = 40
"""The maximum distance in characters between words that announce an answer and the answer."""
WIDEST_RANGE = 30
"""The maximum width of a range whose middle is taken as the answer."""
LOWEST_IN_WORDS = 20
"""The lowest number in words that is read in running text; lower ones usually count things."""
_WORD, _WEAK, _OUT_OF = "\ue000", "\ue001", "\ue002"
"""Private characters that mark the prepared text: the first two stand before digits that replace a number in
words, `_WEAK` if the words may mean something else; `_OUT_OF` replaces phrases such as "out of 100"."""
_LETTER_RUN = re.compile(
    "(?:[^\\W\\d_]|[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0951-\u0963])+"
)
"""A run of letters with their accents, vowel points and vowel signs."""
_NUMBER = re.compile(
    rf"([{_WORD}{_WEAK}]?)(?<![a-z\d])(?<!\d[.,])(?<!(?<!\.)\.)(-?)(\d{{1,9}}(?:[.,]\d{{1,9}})?)(?!\d)"
)
"""The mark, the minus sign and the digits of a number that is not part of a word, a date or a version."""
_GAP = r"[^\d\n.!?;\u3002\u0964\u061f]"
_SCALE = re.compile(
    rf"(?<=.)(?<!\d)(?<!\d[.,])0(?![\d.,]\d){_GAP}{{1,120}}100(?!\d)|(?<![\d.,])100{_GAP}{{1,14}}(?<!\d)0(?!\d|[.,]\d)",
    re.DOTALL,
)
"""The scale as a reply may repeat it, such as "between 0 and 100"."""
_SCALE_AT_START = re.compile(r"\A\W{0,4}0[^\d\n.!?,;]{1,14}100(?!\d)")
_OF_HUNDRED = re.compile(r"\s?/\s?100(?!\d)")
_LIST_ITEM = re.compile(r"^\W{0,4}(\d{1,2})[.)]\s", re.MULTILINE)
_OPENING_END = re.compile(r"[.,:;!\u3002](?=\D|$)|\s-\s|\s\(")
_BOUNDARY = re.compile(r"[!?;\u3002\u0964]|\.\s|\n\s{0,9}\S")
"""The pattern of a boundary between an answer and words that announce another answer."""
_CLAUSE_END = re.compile(rf"\s?%?{_OUT_OF}?\s?(?:$|[\n.,;:!?)\u3002\u0964\u06d4\u061f])")
_FOLLOWERS = ("after", "points", "answer", "range", "either", "denies", "yet", "means")
"""The kinds of words that may follow a number that does not count anything."""
_PART_END = re.compile(r"[.,!?;\n\u3002\uff0c]")
_PLUS_MINUS = re.compile(r"(?:\u00b1|\+/)\s?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Number:
    """A number from 0 to 100 in a reply, and its position.

    `is_of_100`: the reply says that it is out of 100, or a percentage. `is_word`: it is written in words.
    `is_weak`: the words may mean something else.
    """

    value: float
    start: int
    end: int
    is_of_100: bool
    is_word: bool
    is_weak: bool


_PairKind = Literal["range", "either", "scale"]
"""How two neighbouring numbers belong together: as the ends of a range, as alternatives, or as a number and
the end of another scale than 0 to 100."""
Candidates = tuple[set[float], set[tuple[float, float]]]
"""The values and the ranges that a reply gives in one way, such as after "final answer"."""

_start = attrgetter("start")


class NumberReply:
    """A reply, folded, with its numbers, ranges and clauses.

    `numbers` are those that may be the answer. `partners` maps the start of a number to the pair that it
    belongs to, `ranges` only that of a number in a range.
    """

    def __init__(
        self,
        text: str,
        words: Sequence[Lexicon],
        question: str,
        *,
        names_sides: bool = False,
        goes_down: bool = False,
    ) -> None:
        self.words, self.goes_down = words, goes_down
        names = side_names(question, is_unspaced=words[0].unspaced) if names_sides else ()
        self.names = re.compile("|".join(map(_name_pattern, names)) or "(?!)")
        raw = self._after_retraction(folded(answer_in(text)))
        self.bold = [self._prepare(part) for part in in_bold(raw)]
        self.text = self._prepare(raw)
        self.clauses = Clauses(self.text, words)
        self.question_numbers = {number.value for number in _numbers(self._prepare(folded(question)))}
        self.all_numbers = [*self._all_numbers()]
        pairs = [*self._pairs(self.all_numbers)]
        self.partners = {number.start: pair for pair, _ in pairs for number in pair}
        self.ranges = {number.start: pair for pair, kind in pairs if kind == "range" for number in pair}
        dropped = {number.start for pair, kind in pairs if kind == "scale" for number in pair}
        dropped |= {number.start for number in self.all_numbers if self._is_no_answer(number)} | {
            *self._first_thoughts()
        }
        dropped |= {item.start for start in dropped for item in self.partners.get(start, ())}
        self.numbers = [number for number in self.all_numbers if number.start not in dropped]
        alone = {number.start for number in self._on_own_lines()}
        self.shares = [
            number for number in self.numbers if number.start not in alone and self._is_share(number)
        ]
        share_starts = {number.start for number in self.shares}
        self.numbers = [number for number in self.numbers if number.start not in share_starts]

    def _after_retraction(self, text: str) -> str:
        """The text after the last phrase that takes back an earlier number, such as "scratch that"."""
        ends = [end for _, end in spans(text, "scrap", self.words)]
        end = max((end for end in ends if _numbers(self._prepare(text[:end]))), default=0)
        return text[end:]

    def _prepare(self, text: str) -> str:
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

    def candidates(self) -> Iterator[Candidates]:
        """The candidates for the answer, from the clearest way of giving one to the least clear."""
        yield self._as_candidates(self.numbers if self._is_one_number(self.text) else [])
        corrected = [number for number in self._announced_by("rather", 3) if self._ends_clause(number)]
        yield self._as_candidates(sorted([*self._announced_by("final"), *corrected], key=_start)[-1:])
        lines = [*self._on_own_lines()]
        yield self._as_candidates([*lines, *self._announced_by("answer")])
        labelled = self._announced_by("label")
        yield self._as_candidates(number for number in labelled if not self._explains_scale(number))
        shares = {number.value for number in self.shares}
        in_bold = {number.value for text in self.bold if (number := _single_number(text)) is not None}
        yield in_bold - shares, set()
        in_text = [number for number in self.numbers if self._may_be_answer(number)]
        yield self._as_candidates([number for number in in_text if number.is_of_100])
        yield self._as_candidates(in_text)

    def is_one_of_two_shares(self, value: float) -> bool:
        """Whether a clause has this number and its complement to 100, as in "70 to one, 30 to the other"."""
        if self._is_on_own_line(value):
            return False
        if value == 50:
            return False
        clauses, clauses_of_complement = (
            {self.clauses.index_at(number.start) for number in self.numbers if number.value == share}
            for share in (value, 100 - value)
        )
        return not clauses.isdisjoint(clauses_of_complement)

    def _is_on_own_line(self, value: float) -> bool:
        return any(number.value == value for number in self._on_own_lines(with_opening=False))

    def _as_candidates(self, numbers: Iterable[_Number]) -> Candidates:
        """The values of numbers outside of ranges, with those of their alternatives; and the ranges."""
        listed = [*numbers]
        outside = [number for number in listed if number.start not in self.ranges]
        values = {item.value for number in outside for item in self.partners.get(number.start, (number,))}
        ranges = {self.ranges[number.start] for number in listed if number.start in self.ranges}
        return values, {(low.value, high.value) for low, high in ranges}

    def _all_numbers(self) -> Iterator[_Number]:
        """The numbers in the text, except the item numbers of a list."""
        items = [match for match in _LIST_ITEM.finditer(self.text) if int(match[1]) <= 20]
        starts = {match.start(1) for match in items} if len(items) > 1 else set[int]()
        yield from (number for number in _numbers(self.text) if number.start not in starts)

    def _pairs(self, numbers: Sequence[_Number]) -> Iterator[tuple[tuple[_Number, _Number], _PairKind]]:
        """The pairs of neighbouring numbers that belong together, each with its kind."""
        joined = re.compile(rf"\s?%?\s?(?:-|(?:{pattern(self.words, 'range')})-?)\s?%?")
        either = re.compile(rf"\s?%?,?\s?(?:{pattern(self.words, 'either')})\s?%?")
        scale = re.compile(rf"[^\d\n]{{0,3}}(?:/|{pattern(self.words, 'scale')})\W{{0,2}}")
        for low, high in pairwise(numbers):
            gap = self.text[low.end : high.start]
            if 0 < high.value - low.value <= WIDEST_RANGE and joined.fullmatch(gap):
                yield (low, high), "range"
            elif len(gap) <= CONTEXT and either.fullmatch(gap):
                yield (low, high), "either"
            elif low.value != high.value and (scale.fullmatch(gap[:CONTEXT]) or _is_sum(low, high, gap)):
                yield (low, high), "scale"

    def _is_no_answer(self, number: _Number) -> bool:
        """Whether a number is denied, a bound, a degree of certainty or a margin (plus or minus)."""
        before, after = self._around(number)
        # Words for a bound such as "to" also precede the end of a range.
        is_high = self.ranges.get(number.start, (number,))[0] is not number
        return (
            self._follows_phrase(self.clauses.declined, number)
            or _PLUS_MINUS.search(before) is not None
            or ends_with(before, self.words, "denies", gap=r"\s?(?:\w{1,6}\s)?[%(\"'-]?")
            or (not is_high and ends_with(before, self.words, "bound", gap=r"\W{0,2}"))
            or begins_with(after, self.words, "denies_after", "bound_after", gap=rf"[ %{_OUT_OF}]{{0,2}}")
            or self._is_certainty(number, before, after)
        )

    def _is_certainty(self, number: _Number, before: str, after: str) -> bool:
        """Whether a number says how certain or uncertain the reply is."""
        # At most two words, or two characters of an unspaced script, as in "90 % quite sure".
        gap = r"[^\W\d]{0,2}?" if self.words[0].unspaced else r" ?(?:[^\W\d]+ ){0,2}?"
        if begins_with(after, self.words, "certain", gap=rf"[ %{_OUT_OF}]{{0,3}}{gap}"):
            return True
        gap = r"\w{0,6}(?:\s\w{1,6}){0,2}\W{0,3}"
        return number.is_of_100 and ends_with(before, self.words, "certain", gap=gap)

    def _is_share(self, number: _Number) -> bool:
        """Whether a number is a side's share, or, if the scale goes down, a percentage in a sentence."""
        before = _PART_END.split(self.text[max(number.start - NAME_DISTANCE, 0) : number.start])[-1]
        after = _PART_END.split(self.text[number.end : number.end + NAME_DISTANCE])[0]
        # An answer may be announced after a name, as in "the second side turned and my answer is 85".
        *names, rest = self.names.split(before)
        is_announced = any(True for kind in ("answer", "final") for _ in spans(rest, kind, self.words))
        if self.names.search(after) or (names and not is_announced):
            return True
        has_percent = self.goes_down and re.match(r"\s?%", self.text[number.end :]) is not None
        return has_percent and not (is_announced and self._ends_clause(number))

    def _around(self, number: _Number) -> tuple[str, str]:
        """The CONTEXT characters before a number, and those after it."""
        before = self.text[max(number.start - CONTEXT, 0) : number.start]
        return before, self.text[number.end : number.end + CONTEXT]

    def _first_thoughts(self) -> Iterator[int]:
        """The positions of numbers that the reply calls a first thought, such as "initially"."""
        for _, end in spans(self.text, "earlier", self.words):
            index = bisect_left(self.all_numbers, end, key=_start)
            for number in self.all_numbers[index : index + 1]:
                is_near = number.start <= end + LONGEST_GAP
                if is_near and self.clauses.index_at(number.start) == self.clauses.index_at(end):
                    yield number.start

    def _follows_phrase(self, phrase_starts: Mapping[int, int], number: _Number) -> bool:
        """Whether a number comes after the phrase of its clause; `phrase_starts` has positions by clause."""
        return phrase_starts.get(self.clauses.index_at(number.start), number.start) < number.start

    def _may_be_answer(self, number: _Number) -> bool:
        """Whether a number in running text may be the answer: not from the question, and not a count."""
        if number.value in self.question_numbers or number.is_weak or self._explains_scale(number):
            return False
        if number.is_word and not (self._ends_clause(number) and self._is_early(number)):
            return False
        is_excuse = self._follows_phrase(self.clauses.excused, number)
        return number.is_of_100 or (self._counts_nothing(number) and not is_excuse)

    def _explains_scale(self, number: _Number) -> bool:
        """Whether the reply explains what 0 or 100 means, as the question does with the ends of the scale."""
        after = self._around(number)[1]
        return number.value in (0, 100) and begins_with(after, self.words, "means", gap=r"\s?")

    def _is_early(self, number: _Number) -> bool:
        """Whether a number is near the beginning of its clause."""
        clause = self.clauses.index_at(number.start)
        start = self.clauses.ends[clause - 1] if clause else 0
        # A character of an unspaced script says about as much as two letters.
        return number.start - start <= (LONGEST_GAP // 2 if self.words[0].unspaced else LONGEST_GAP)

    def _counts_nothing(self, number: _Number) -> bool:
        """Whether a number is not followed by a noun that it counts."""
        after = self._around(number)[1].lstrip(f" %{_OUT_OF}")
        if re.match(LETTER, after) is None or number.is_of_100:
            return True
        if begins_with(after, self.words, "counts"):
            return False
        return begins_with(after, self.words, *_FOLLOWERS)

    def _ends_clause(self, number: _Number) -> bool:
        """Whether a number, or the pair that it belongs to, ends its clause."""
        last = self.partners.get(number.start, (number,))[-1]
        after = self.text[last.end :][:CONTEXT]
        points = re.match(rf"[\s%]?\s?(?:{pattern(self.words, 'points')})", after)
        return _CLAUSE_END.match(after[points.end() :] if points else after) is not None

    def _is_one_number(self, text: str) -> bool:
        """Whether a text consists of one number, apart from punctuation and words such as "points"."""
        other_text = _NUMBER.sub(" ", text).replace(_OUT_OF, " ")
        for language in self.words:
            for phrase in language.lists.get("points", ()):
                other_text = other_text.replace(phrase, " ")
        has_other = re.search(r"\w|[<>\u2264\u2265]", other_text) is not None
        return not has_other and _single_number(text) is not None

    def _on_own_lines(self, *, with_opening: bool = True) -> Iterator[_Number]:
        """The numbers that are a line by themselves, or the opening of the reply up to its first stop."""
        start = 0
        for line in self.text.split("\n"):
            if self._is_one_number(line):
                yield from self._numbers_between(start, start + len(line))
            start += len(line) + 1
        opening, *body = _OPENING_END.split(self.text, maxsplit=1)
        if with_opening and body and self._is_one_number(opening) and not re.match(r"\W*\d", body[0]):
            yield from self._numbers_between(0, len(opening))

    def _numbers_between(self, start: int, end: int) -> Sequence[_Number]:
        """The numbers that begin from `start` up to, but not at, `end`."""
        first, last = (bisect_left(self.numbers, position, key=_start) for position in (start, end))
        return self.numbers[first:last]

    def _announced_by(self, kind: str, most_words: int = 5) -> list[_Number]:
        """The first number after each phrase of a kind, with at most `most_words` in between."""
        numbers = []
        for _, end in spans(self.text, kind, self.words):
            number = next(iter(self._numbers_between(end, end + LONGEST_GAP)), None)
            if number is not None and self._is_announced(self.text[end : number.start], number, most_words):
                numbers.append(number)
        return numbers

    def _is_announced(self, between: str, number: _Number, most_words: int) -> bool:
        count = len(re.findall(rf"{LETTER}+", between))
        if _BOUNDARY.search(between) or count > most_words or not self._counts_nothing(number):
            return False
        if number.is_weak:
            return count <= 1 and self._ends_clause(number)
        return number.value not in self.question_numbers or number.is_of_100 or count <= 2


def side_names(question: str, *, is_unspaced: bool) -> tuple[str, ...]:
    """The names of the two sides, from what a question for a share says of 0 and of 100; folded.

    They are the words, or the characters of an unspaced script, in which these last differ.
    """
    ends = re.split(r"(?<!\d)0(?!\d)|(?<!\d)100(?!\d)", folded(question))[-2:]
    pattern_of_part = r"[^\W\d_]" if is_unspaced else rf"{LETTER}+"
    low, high = (re.findall(pattern_of_part, end) for end in ends)
    changes = SequenceMatcher(None, low, high, autojunk=False).get_opcodes()
    replaced = [change for change in changes if change[0] == "replace"]
    if not replaced:
        return ()
    _, low_start, low_end, high_start, high_end = replaced[-1]
    parts = low[low_start:low_end], high[high_start:high_end]
    return tuple("".join(part) for part in parts) if is_unspaced else (*parts[0], *parts[1])


def _name_pattern(name: str) -> str:
    """The pattern of a name and its other forms: of a long one its beginning, without an article."""
    for article in ("\u05d4", "\u0627\u0644"):
        name = name.removeprefix(article) if len(name) > 4 else name
    if re.match("[\u3400-\u9fff]", name):
        return re.escape(name)
    if len(name) < 4:
        return rf"(?<!{LETTER}){re.escape(name)}(?!{LETTER})"
    stem = re.escape(name[: 5 if name.isascii() and len(name) > 7 else 4])
    return rf"(?<!{LETTER}){stem}" if name.isascii() else stem


def _is_sum(low: _Number, high: _Number, gap: str) -> bool:
    """Whether two numbers in words form a single number above 100, as in "a hundred and twenty"."""
    are_words = low.is_word and high.is_word and 100 in (low.value, high.value)
    return are_words and re.fullmatch(r"\s(?:\w{1,3}\s)?", gap) is not None


def _numbers(text: str) -> list[_Number]:
    return [number for match in _NUMBER.finditer(text) if (number := _number(match)) is not None]


def _number(match: re.Match[str]) -> _Number | None:
    """The number of a match of _NUMBER; None if it is not a plain number from 0 to 100, but a bound, say."""
    text, start, end = match.string, match.start(), match.end()
    is_negative = (
        bool(match[2])
        and not text[max(start - 1, 0) : start].strip()
        and text[end - len(match[3]) - 1] == "-"
    )
    # A hyphen between two numbers belongs to a range.
    is_negative = is_negative and not re.search(r"[\d%]\s?$", text[max(start - 3, 0) : start])
    value = float(match[3].replace(",", "."))
    before, after = text[max(start - 4, 0) : start].rstrip()[-1:], text[end : end + 4].lstrip()[:1]
    is_of_100 = not {before, after}.isdisjoint({_OUT_OF, "%"})
    is_bound = before in ("<", ">", "\u2264", "\u2265") or text[end : end + 1] == "+"
    is_thousands = re.search(r"[.,]\d{3}$", match[3]) is not None
    # A number below 1, such as 0.7, is probably on a scale of 0 to 1.
    if is_negative or is_bound or is_thousands or value > 100 or (0 < value < 1 and not is_of_100):
        return None
    return _Number(
        value=value,
        start=start,
        end=end,
        is_of_100=is_of_100,
        is_word=bool(match[1]),
        is_weak=match[1] == _WEAK,
    )


def _single_number(text: str) -> _Number | None:
    """The first number in a text; None unless there is one and all others are equal to it."""
    numbers = _numbers(text)
    return numbers[0] if len({number.value for number in numbers}) == 1 else None


def _in_digits(text: str, words: Sequence[Lexicon]) -> str:
    """The text with each number in words replaced by a mark, _WORD or _WEAK, and its digits."""
    for language in words:
        if language.unspaced:
            text = _signs_in_digits(text, language)
    spaced = [language for language in words if not language.unspaced]
    first_words = frozenset[str]().union(*(language.first_words for language in spaced))
    runs = [*_LETTER_RUN.finditer(text)]
    parts, position, index = [], 0, 0
    while index < len(runs):
        if runs[index][0] not in first_words:
            index += 1
            continue
        # Of languages that match equally many words, max takes the first.
        length, digits = max((_longest_number(text, runs, index, item) for item in spaced), key=itemgetter(0))
        if length:
            parts += [text[position : runs[index].start()], digits]
            position = runs[index + length - 1].end()
        index += length or 1
    return "".join([*parts, text[position:]])


def _signs_in_digits(text: str, words: Lexicon) -> str:
    """The text with the numbers of an unspaced language, which are runs of certain characters, in digits."""

    def digits(run: re.Match[str]) -> str:
        return _as_marked_digits(words.numbers.get(run[0]), run[0], words)

    return re.sub(rf"[{words.signs}]+", digits, text)


def _as_marked_digits(value: int | None, spelling: str, words: Lexicon) -> str:
    """The digits of a number after their mark; `spelling` unchanged if `value` is None."""
    if value is None:
        return spelling
    is_weak = words.foreign or value < LOWEST_IN_WORDS or spelling in words.common
    return f"{_WEAK if is_weak else _WORD}{value}"


def _longest_number(text: str, runs: Sequence[re.Match[str]], index: int, words: Lexicon) -> tuple[int, str]:
    """The longest number in words from `runs[index]` on: its length in runs, or 0, and its marked digits."""
    longest, end = (0, ""), runs[index].start()
    spelled: list[str] = []
    for length, run in enumerate(runs[index : index + words.most_words], start=1):
        if length > 1 and text[end : run.start()] not in (" ", "-"):
            break
        spelled.append(run[0])
        end = run.end()
        value = words.numbers.get(" ".join(spelled))
        if value is not None:
            longest = (length, _as_marked_digits(value, " ".join(spelled), words))
    return longest
