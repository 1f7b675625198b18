"""Reads a number from 0 to 100, or the letter of an option, out of a reply, or that it declines. Pure.

What a reply gives as its answer counts before what it merely mentions, and where two answers contradict each
other there is none: what can be understood in two ways is left unread, never guessed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from typing import Literal, NamedTuple

from equipoise.core.unicode import nfkc
from equipoise.models.reasoning import split
from equipoise.suites.turnabout.vocabulary import Words, folded

How = Literal["number", "range", "letter", "option", "declined", "unread"]
LETTERS = "ABCDE"
HEAD, TAIL = 1_000, 4_000
"""Characters that are read of a long reply: an answer stands at its beginning or at its end."""
FURTHEST = 40
"""Characters behind words that announce an answer in which it begins."""
WIDEST = 30
"""The widest range whose middle is an answer."""
_WORD, _OUT_OF = "\ue000", "\ue002"
"""Marks before a number that was written in words, and in the place of "out of 100"."""
_BOLD = re.compile(r"\*\*([^*\n]{1,80})\*\*|__([^_\n]{1,80})__|\\boxed\{([^{}\n]{1,40})\}")
_MARKUP = re.compile(r"\\[A-Za-z]{1,12}|[*_`#~|$\\{}\ue000-\ue00f]|^[ \t]{0,3}>(?=\s)", re.MULTILINE)
_TILDE = re.compile(r"(?<=\d)\s?[~\u301c\u223c]\s?(?=\d)")
_LETTER = (
    "(?:[^\\W\\d_]|"
    "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0951-\u0963])"
)
"""A letter or a mark that belongs to one."""
_LETTER_RUN = re.compile(f"{_LETTER}+")
_NUMBER = re.compile(rf"({_WORD}?)(?<![a-z\d])(?<!\d[.,])(-?)(\d{{1,9}}(?:[.,]\d{{1,9}})?)(?!\d)")
_GAP = r"[^\d\n.!?;\u3002\u0964\u061f]"
_SCALE = re.compile(
    rf"(?<=.)(?<!\d)(?<!\d[.,])0(?![\d.,]\d){_GAP}{{1,120}}100(?!\d)|(?<![\d.,])100{_GAP}{{1,14}}(?<!\d)0(?!\d|[.,]\d)",
    re.DOTALL,
)
"""The ends of the scale, as a reply may repeat them."""
_SCALE_AT_START = re.compile(r"\A(?:[^\W\d]+\s)?\W{0,4}0[^\d\n.!?,;]{1,14}100(?!\d)")
_LAST_WORD = re.compile(rf"({_LETTER}+)\s$")
_FIRST_WORD = re.compile(rf"\s?%?\s({_LETTER}+)")
_OF_HUNDRED = re.compile(r"\s?/\s?100(?!\d)")
_FIRST_PART = re.compile(r"([^.,:;!\u3002\n(]{1,40}?)(?:[.,:;!\u3002](?=\s|$)|\s-(?=\s[^\W\d])|\s?\()")
"""What stands before the first stop, or before a dash or a bracket that begins an explanation."""
_ENDS = re.compile(r"[.!?](?=\s|$)|[\n\u3002\u0964\u06d4\u061f]")
_ITEM = re.compile(r"^\W{0,4}(\d{1,2})[.)]\s", re.MULTILINE)
_ANNOUNCED = re.compile(
    r"[^\n.!?\u3002]{0,24}?(?:(?<![A-Za-z])([A-E])(?![A-Za-z'\u2019])|(?<!\w)([^\W\d_])(?![\w'\u2019]))"
)
_BEGINS = re.compile(
    r"\W{0,6}(?:(\w)\s?(?:[).:\]\u3001](?:\s|\w|$)|[-\u2013\u2014]\s)|\((\w)\)|(\w)\s([^\W\d_]{2,12})\W*$)"
)
_ALONE = re.compile(r"([^\n]{1,40}?)[\s:]+\W{0,3}(\w)\W{0,3}")
_LETTERS_APART = re.compile(r"(?<!\w)[A-E]\s?[-\u2013\u2014]\s?[A-E](?!\w)")
"""All letters from one to another, as a question may be quoted."""
_CLAUSE = re.compile(r"[.,:;!?\n\u3002\u3001\u0964\u06d4]")
_MOST_WORDS, _MOST_CHARACTERS = 12, 90
"""Of a reply of one sentence that is searched for the words of an option."""
_HOMOGLYPHS = str.maketrans("\u0410\u0412\u0421\u0415\u0391\u0392\u0395\u0430\u0441\u0435", "ABCEABEace")
"""Cyrillic and Greek letters that look like A, B, C or E."""


class Reading(NamedTuple):
    """What a reply answers: a number of the scale or the index of an option, None where it gives none."""

    value: float | None
    how: How


def read_number(text: str, words: Sequence[Words], question: str) -> Reading:
    """The number from 0 to 100 that a reply to this question gives.

    The numbers in the question count only where nothing but the answer can stand.
    """
    reply = _Reply(text, words, question)
    for values, ranges in reply.levels():
        if len(values) > 1 or (values and reply.is_split(*values)):
            return Reading(None, "unread")
        if values:
            return Reading(values.pop(), "number")
        if len(ranges) == 1:
            low, high = ranges.pop()
            return Reading((low + high) / 2, "range")
    return Reading(None, "declined" if reply.declines else "unread")


def read_letter(text: str, words: Sequence[Words], options: Sequence[str]) -> Reading:
    """The index of the option that a reply gives, by its letter or in its words."""
    reply = _Choice(text, words, options)
    for places in reply.levels():
        if len(places) > 1:
            return Reading(None, "unread")
        if places:
            # The words of another option beside the letter contradict it; those of several are quoted.
            if len(reply.named) == 1 and reply.named != places:
                return Reading(None, "unread")
            return Reading(places.pop(), "letter")
    if reply.declines and not reply.named:
        return Reading(None, "declined")
    named = reply.named & reply.mentioned or reply.described
    is_alone = len(named) == 1 and reply.mentioned <= named
    return Reading(float(*named), "option") if is_alone else Reading(None, "unread")


# Numbers.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Number:
    """A number from 0 to 100 in a reply, and where it stands.

    It is `out_of` where it says that it is out of 100, and `in_words` where it is not written in digits.
    """

    value: float
    start: int
    end: int
    out_of: bool
    in_words: bool


Level = tuple[set[float], set[tuple[float, float]]]
"""The numbers that a reply gives in one way, and the ranges."""


_start = attrgetter("start")


class _Reply:
    """A reply, folded, with its numbers, ranges and sentences."""

    def __init__(self, text: str, words: Sequence[Words], question: str) -> None:
        self.words = words
        raw = nfkc(_ends_of(text))
        self.bold = [self._prepared(" ".join(filter(None, parts))) for parts in _BOLD.findall(raw)]
        self.text = self._prepared(raw)
        self.has_scale = (
            _SCALE.search(folded(raw)) is not None or _SCALE_AT_START.match(folded(raw)) is not None
        )
        self.ends = _clause_ends(self.text, words)
        self.declined: dict[int, int] = {}
        for place, _ in _places(self.text, "declines", words):
            clause = self._at(place)
            self.declined[clause] = min(place, self.declined.get(clause, place))
        asked = self._prepared(question)
        self.asked = {number.value for number in _numbers(asked)}
        self.ranges = {(low.start, high.start): (low, high) for low, high in self._ranges()}
        self.numbers = [
            number
            for number in self._listed()
            if not (self._is_declined(number) or _is_denied(self.text, number.start, number.end, self.words))
        ]

    def _prepared(self, text: str) -> str:
        """The text folded, without markup and mentions of the scale, and with all numbers in digits."""
        plain = folded(_MARKUP.sub("", _TILDE.sub("-", text))).strip()
        plain = _SCALE_AT_START.sub(" ", _OF_HUNDRED.sub(_OUT_OF, plain))
        for language in self.words:
            for phrase in language.out_of:
                plain = plain.replace(phrase, _OUT_OF)
            for phrase in language.percent:
                plain = plain.replace(phrase, "%")
        plain = _in_digits(plain, self.words)
        return _SCALE.sub(" ", plain)

    @property
    def declines(self) -> bool:
        """Whether the reply says that it does not answer."""
        return bool(self.declined)

    def levels(self) -> Iterator[Level]:
        """The answers that the reply gives, from the plainest way of giving one to the least plain."""
        yield self._of(self.numbers if self._is_bare(self.text) else [])
        yield self._of(self._behind("final")[-1:])
        yield self._of(self._revised())
        yield self._of([*self._in_lines(), *self._behind("answer")])
        yield {number.value for text in self.bold if (number := _only(text)) is not None}, set()
        rest = [number for number in self.numbers if self._may_be_meant(number)]
        yield self._of([number for number in rest if number.out_of])
        yield self._of(rest)

    def _revised(self) -> list[_Number]:
        """The numbers behind the last words that take back what was said before them."""
        places = [end for _, end in _places(self.text, "revises", self.words)]
        if not places or len({number.value for number in self.numbers}) < 2:
            return []
        last = max(places)
        # "At first I thought of 40, but now 70."
        last = max([last, *(end for _, end in _places(self.text, "yet", self.words) if end > last)])
        return [item for item in self.numbers if item.start >= last and self._may_be_meant(item)]

    def is_split(self, value: float) -> bool:
        """Whether a number stands beside what is left of 100: then it is a share of one of two."""
        if self._is_line(value):
            return False
        own = {self._at(number.start) for number in self.numbers if number.value == value}
        others = {self._at(number.start) for number in self.numbers if number.value == 100 - value != value}
        return not own.isdisjoint(others)

    def _is_line(self, value: float) -> bool:
        return any(number.value == value for number in self._in_lines())

    def _of(self, numbers: Iterable[_Number]) -> Level:
        """The numbers, but those that are an end of a range, and the ranges."""
        ends = {start: pair for starts, pair in self.ranges.items() for start in starts}
        found = [*numbers]
        values = {number.value for number in found if number.start not in ends}
        ranges = {ends[number.start] for number in found if number.start in ends}
        return values, {(low.value, high.value) for low, high in ranges}

    def _listed(self) -> list[_Number]:
        """The numbers, but those of a numbered list."""
        items = [match for match in _ITEM.finditer(self.text) if int(match[1]) <= 20]
        starts = {match.start(1) for match in items} if len(items) > 1 else set[int]()
        return [number for number in _numbers(self.text) if number.start not in starts]

    def _is_declined(self, number: _Number) -> bool:
        """Whether its clause declined to answer before."""
        return self.declined.get(self._at(number.start), number.start) < number.start

    def _at(self, place: int) -> int:
        """The index of the clause at this place."""
        return bisect_left(self.ends, place)

    def _may_be_meant(self, number: _Number) -> bool:
        """Whether a number in running text may be the answer: none of the question, no "one" or "two"."""
        if number.value in self.asked and not number.out_of:
            return False
        if number.value in (0, 100) and self.has_scale:
            return False
        written = self.text[number.start : number.end]
        return not number.in_words or (number.value >= 20 and written not in self._common)

    @cached_property
    def _common(self) -> set[str]:
        return {f"{_WORD}{item.numbers[word]}" for item in self.words for word in item.common}

    def _is_bare(self, text: str) -> bool:
        """Whether a text is one number and nothing but what may stand around it."""
        rest = _NUMBER.sub(" ", text).replace(_OUT_OF, " ")
        for language in self.words:
            for phrase in language.points:
                rest = rest.replace(phrase, " ") if phrase in rest else rest
        return re.search(r"\w|[<>\u2264\u2265]", rest) is None and len({*_values(text)}) == 1

    def _in_lines(self) -> Iterator[_Number]:
        """The numbers that are all of a line, of what stands behind its colon, or of the first sentence."""
        start = 0
        for line in self.text.split("\n"):
            tail = line.rfind(": ") + 2 if ": " in line else 0
            if self._is_bare(line) or (tail and self._is_bare(line[tail:])):
                yield from self._between(start + tail, start + len(line))
            start += len(line) + 1
        first = _FIRST_PART.match(self.text)
        if first and self._is_bare(first[1]):
            yield from self._between(0, len(first[1]))

    def _between(self, start: int, end: int) -> Sequence[_Number]:
        """The numbers that begin in this part of the text."""
        first, last = (bisect_left(self.numbers, place, key=_start) for place in (start, end))
        return self.numbers[first:last]

    def _behind(self, kind: str) -> list[_Number]:
        """The first number behind each of the words that announce one, unless something comes between."""
        found = []
        for _, end in _places(self.text, kind, self.words):
            number = next(iter(self._between(end, end + FURTHEST)), None)
            if number is not None and self._is_announced(self.text[end : number.start], number):
                found.append(number)
        return found

    def _is_announced(self, between: str, number: _Number) -> bool:
        """Whether no more than a few words lie between an announcement and the number."""
        if re.search(r"[!?\u3002\u0964]|\.\s|\n\s{0,9}\S", between):
            return False
        words, is_small = len(between.split()), number.in_words and number.value < 20
        return words <= (2 if number.value in self.asked or is_small else 4) or number.out_of

    def _ranges(self) -> Iterator[tuple[_Number, _Number]]:
        """Pairs of numbers that are the ends of a range."""
        joined = "|".join(re.escape(word) for item in self.words for word in item.range)
        between = re.compile(rf"\s?%?\s?(?:-|(?:{joined})-?)\s?")
        numbers = _numbers(self.text)
        for low, high in pairwise(numbers):
            gap = self.text[low.end : high.start]
            if 0 < high.value - low.value <= WIDEST and between.fullmatch(gap):
                yield low, high


def _ends_of(text: str) -> str:
    """The text without thoughts that an endpoint left in it; its beginning and its end if it is long."""
    text, _ = split(text)
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"


def _numbers(text: str) -> list[_Number]:
    return [number for match in _NUMBER.finditer(text) if (number := _number(match)) is not None]


def _number(match: re.Match[str]) -> _Number | None:
    text, start, end = match.string, match.start(), match.end()
    is_negative = bool(match[2]) and not text[:start][-1:].strip() and text[end - len(match[3]) - 1] == "-"
    # A hyphen between two numbers belongs to a range.
    is_negative = is_negative and not re.search(r"[\d%]\s?$", text[max(start - 3, 0) : start])
    value = float(match[3].replace(",", "."))
    around = text[max(start - 4, 0) : start].rstrip()[-1:], text[end : end + 4].lstrip()[:1]
    out_of = _OUT_OF in around or around[1] == "%" or around[0] == "%"
    is_bound = around[0] in ("<", ">", "\u2264", "\u2265")
    if is_negative or is_bound or value > 100 or (0 < value < 1 and not out_of):
        return None
    return _Number(value=value, start=start, end=end, out_of=out_of, in_words=bool(match[1]))


def _values(text: str) -> list[float]:
    return [number.value for number in _numbers(text)]


def _only(text: str) -> _Number | None:
    """The number in a text that has one alone."""
    numbers = _numbers(text)
    return numbers[0] if len({number.value for number in numbers}) == 1 else None


def _in_digits(text: str, words: Sequence[Words]) -> str:
    """The text with its numbers in words as digits behind a mark; of several languages the first counts."""
    numbers: dict[str, int] = {}
    for language in words:
        if language.tenths:
            text = _tenths(text, language)
        if language.unspaced:
            text = _without_spaces(text, language)
        else:
            numbers = {**language.numbers, **numbers}
    most = max((language.most_words for language in words), default=1)
    runs = [*_LETTER_RUN.finditer(text)]
    parts, place, index = [], 0, 0
    while index < len(runs):
        length, value = _longest(text, runs[index : index + most], numbers)
        if length:
            parts += [text[place : runs[index].start()], f"{_WORD}{value}"]
            place = runs[index + length - 1].end()
        index += length or 1
    return "".join([*parts, text[place:]])


def _without_spaces(text: str, words: Words) -> str:
    signs = "".join(sorted({sign for number in words.numbers for sign in number}))
    return re.sub(rf"[{signs}]+", lambda run: _marked(words.numbers.get(run[0]), run[0]), text)


def _tenths(text: str, words: Words) -> str:
    """The text with tenths as percent: eight tenths, or eight and a half."""
    signs = "".join(sign for sign, value in words.numbers.items() if len(sign) == 1 and value < 10)

    def percent(match: re.Match[str]) -> str:
        whole, half, more = (words.numbers.get(part or "", 0) for part in match.groups())
        return f"{10 * (whole or int(match[1])) + (5 if match[2] else half) + more}%"

    return re.sub(rf"([{signs}1-9]){words.tenths}(?:(\u534a)|([{signs}]))?", percent, text)


def _marked(value: int | None, written: str) -> str:
    return written if value is None else f"{_WORD}{value}"


def _longest(text: str, runs: Sequence[re.Match[str]], numbers: Mapping[str, int]) -> tuple[int, int]:
    """Of how many words the longest number is that begins with the first, and its value; 0 for none."""
    found, end = (0, 0), runs[0].start()
    spelled: list[str] = []
    for length, run in enumerate(runs, start=1):
        if length > 1 and text[end : run.start()] not in (" ", "-"):
            break
        spelled.append(run[0])
        end = run.end()
        value = numbers.get(" ".join(spelled))
        if value is not None:
            found = (length, value)
    return found


def _places(text: str, kind: str, words: Sequence[Words]) -> Iterator[tuple[int, int]]:
    """Where the phrases of a kind begin and end in a text, as whole words where words have spaces."""
    for language in words:
        for phrase in getattr(language, kind):
            end = 0
            while (start := text.find(phrase, end)) >= 0:
                end = start + len(phrase)
                if language.unspaced or _is_whole(text, start):
                    yield start, end


def _is_denied(text: str, start: int, end: int, words: Sequence[Words]) -> bool:
    """Whether a word beside this part of a text says that it is not so."""
    before = _LAST_WORD.search(text[max(start - 16, 0) : start])
    behind = _FIRST_WORD.match(text[end : end + 16])
    beside = {match[1] for match in (before, behind) if match}
    return any(not beside.isdisjoint(language.denies) for language in words if not language.unspaced)


def _is_whole(text: str, start: int) -> bool:
    """Whether a word begins here."""
    return start == 0 or not (text[start - 1].isalnum() or "\u0900" <= text[start - 1] <= "\u0963")


def _clause_ends(text: str, words: Sequence[Words]) -> list[int]:
    """Where sentences end, and where a sentence says that it answers all the same."""
    ends = [match.start() for match in _ENDS.finditer(text)]
    return sorted([*ends, *(start - 1 for start, _ in _places(text, "yet", words))])


# Letters.


class _Choice:
    """A reply to a question with options: the letters that it gives, and the options that it names."""

    def __init__(self, text: str, words: Sequence[Words], options: Sequence[str]) -> None:
        self.words = words
        raw = nfkc(_ends_of(text))
        self.bold = [_MARKUP.sub("", " ".join(filter(None, parts))) for parts in _BOLD.findall(raw)]
        self.text = _LETTERS_APART.sub(" ", _MARKUP.sub("", raw).strip())
        self.folded = folded(self.text)
        self.options = [_bare(folded(option)) for option in options]
        self.letters = LETTERS[: len(options)]

    @property
    def declines(self) -> bool:
        """Whether the reply says that it does not answer."""
        return any(True for _ in _places(self.folded, "declines", self.words))

    @cached_property
    def named(self) -> set[int]:
        """The options whose very words are a clause or a line of the reply, or stand in bold."""
        clauses = [*_CLAUSE.split(self.folded), *self.folded.split("\n"), *map(folded, self.bold)]
        clauses += [line[end:] for line in self.folded.split("\n") for _, end in self._announced(line)]
        clauses += [clause[end:] for clause in clauses for _, end in _places(clause, "yet", self.words)]
        bare = [_bare(clause) for clause in clauses]
        bare += [re.sub(r"^[a-e]\W+", "", clause) for clause in bare]
        return {self.options.index(clause) for clause in bare if clause in self.options}

    @cached_property
    def described(self) -> set[int]:
        """The option whose words a reply of one short sentence has, or that it names by its place."""
        text = self.folded
        if len(text.split()) > _MOST_WORDS or len(text) > _MOST_CHARACTERS or _ENDS.search(text[:-1]):
            return set()
        places = {
            item.ordinals[word] for item in self.words for word in item.ordinals if _has(text, word, item)
        }
        if any(True for _ in self._announced(text)) and len(places) == 1:
            return places
        for option in sorted(self.options, key=len, reverse=True):
            text = text.replace(option, " ")
        is_denied = any(_has(text, word, item) for item in self.words for word in item.denies)
        return set() if is_denied else self.mentioned

    @cached_property
    def mentioned(self) -> set[int]:
        """The options whose words the reply has, the longest first, but those that a word beside denies."""
        text, found = self.folded, set()
        for option in sorted(self.options, key=len, reverse=True):
            places = [match.span() for match in re.finditer(re.escape(option), text)]
            if any(not _is_denied(text, start, end, self.words) for start, end in places):
                found.add(self.options.index(option))
            text = text.replace(option, " " * len(option))
        return found

    def _announced(self, line: str) -> Iterator[tuple[int, int]]:
        for kind in ("final", "answer"):
            yield from _places(line, kind, self.words)

    def levels(self) -> Iterator[set[int]]:
        """The options whose letters the reply gives, from the plainest way of giving one to the least."""
        yield self._whole(self.text)
        yield self._behind("final")
        lines = [line for line in self.text.split("\n") if line.strip()]
        yield {place for line in lines for place in self._announced_alone(line)}
        yield self._behind("answer") | {place for line in lines for place in self._whole(line)}
        yield {place for text in self.bold for place in self._begins(text) | self._whole(text)}
        yield {place for line in lines for place in self._begins(line)}
        yield self._in_brackets()

    def _whole(self, text: str) -> set[int]:
        """The option whose letter is all that the text says."""
        plain = re.sub(r"^\W+|\W+$", "", text)
        if len(plain) == 1 and plain.translate(_HOMOGLYPHS).upper() in self.letters:
            return {self.letters.index(plain.translate(_HOMOGLYPHS).upper())}
        own = [item.letters.get(folded(plain).strip()) for item in self.words]
        return {place for place in own if place is not None and place < len(self.options)}

    def _begins(self, text: str) -> set[int]:
        """The option whose letter begins the text, with a bracket or the like behind it."""
        match = _BEGINS.match(text)
        if match is None or (match[4] and not any(True for _ in self._announced(folded(match[4])))):
            return set()
        return self._whole(match[1] or match[2] or match[3])

    def _announced_alone(self, line: str) -> set[int]:
        """The option whose letter is all that stands behind an announcement in a line."""
        match = _ALONE.fullmatch(line)
        is_announced = match and any(True for _ in self._announced(folded(match[1])))
        return self._whole(match[2]) if match and is_announced else set()

    def _behind(self, kind: str) -> set[int]:
        """The options whose letters stand behind words that announce one, and not behind a refusal."""
        ends = _clause_ends(self.folded, self.words)
        refused = {bisect_left(ends, start) for start, _ in _places(self.folded, "declines", self.words)}
        announced = _places(self.folded, kind, self.words)
        places = [end for start, end in announced if bisect_left(ends, start) not in refused]
        found: set[int] = set()
        for end in places:
            match = _ANNOUNCED.match(self._as_long, end)
            letter = (match[1] or match[2]) if match else ""
            if letter.isupper() or letter.lower() == letter.upper():
                found |= self._whole(letter)
        return found

    @cached_property
    def _as_long(self) -> str:
        """The text with capitals where its folded form has the same length, else the folded one."""
        return self.text if len(self.text) == len(self.folded) else self.folded.upper()

    def _in_brackets(self) -> set[int]:
        letters = re.findall(rf"\(([{self.letters}])\)", self.text.translate(_HOMOGLYPHS))
        return {self.letters.index(letter) for letter in letters}


def _has(text: str, phrase: str, words: Words) -> bool:
    """Whether a text has a phrase, as a whole word where words have spaces."""
    if words.unspaced:
        return phrase in text
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!{_LETTER})", text) is not None


def _bare(text: str) -> str:
    return re.sub(r"^\W+|\W+$", "", text)
