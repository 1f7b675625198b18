"""A reply to a question with options: the letters that it gives, and the options that it names. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import permutations

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
from equipoise.suites.turnabout.vocabulary import LETTER, Lexicon, folded, unaccented

LETTERS = "ABCDE"
_ANNOUNCED = re.compile(r"[^\n.!?\u3002]{0,26}")
_LETTER = re.compile(
    r"(?<![A-Za-z])([A-E])(?![A-Za-z'\u2019])|"
    rf"(?<!{LETTER})([^\W\d_])(?!{LETTER}|['\u2019]|-\w)"
)
_LISTED = re.compile(r"(?<!\w)[A-E](?=[):](?:\s|\w|$)|\.\s?\w)")
_BEGINS = re.compile(
    r"\W{0,6}(?:(\w)\s?(?:[).:\]\u3001](?:\s|\w|$)|[-\u2013\u2014]\s)|\((\w)\)|(\w)\s([^\W\d_]{2,12})\W*$|(\w)[,\u060c]\s?(?![A-E]\b))"
)
_ALL_LETTERS = (
    r"\bA\s?(?:-|\.{{2,3}}|(?:{range})-?)\s?[DE]\b|\bA(?:,\s?[B-E]){{2,4}}(?:,?\s\w{{1,4}}\s[DE])?\b"
)
"""A list of the letters of all options, which a refusal may repeat."""
_CLOSES = re.compile(r"[\s\"']{0,2}(?:[.!)\n\u3002\u0964\u06d4]|$)")
_REST = re.compile(rf"{LETTER}+")
_CLOSING_WORD = re.compile(
    rf"\W{{0,4}}(?:{LETTER}{{1,3}}\s)?({LETTER}+)(?=\s?[\"']?(?:$|[\n.,;:!)\u3002\u0964\u06d4]))"
)
"""A word that ends a clause, with at most a short one before it."""
_OTHER = re.compile(r"(?<!\w)[\u00c0-\u00cb](?!\w)")
"""Accented capital letters, which are not letters of options."""
_SUFFIX = re.compile(r"(?<![\w'\u2019][A-E])(?<=[A-E])['\u2019](?=[^\W\d_]{1,4}(?!\w))")
_HOMOGLYPHS = str.maketrans("\u0410\u0412\u0421\u0415\u0391\u0392\u0395\u0430\u0441\u0435", "ABCEABEace")
"""Cyrillic and Greek letters that look like A, B, C or E."""
_FINAL_FORMS = str.maketrans("\u05da\u05dd\u05df\u05e3\u05e5\u03c2", "\u05db\u05de\u05e0\u05e4\u05e6\u03c3")
"""Letters with a different shape at the end of a word."""
_ENDING = 4
"""The maximum length of an ending that a word of an option may take in a sentence."""


class LetterReply:
    """A reply to a question with options: the letters that it gives, and the options that it names."""

    def __init__(self, text: str, words: Sequence[Lexicon], options: Sequence[str]) -> None:
        self.words = words
        # A letter may have grammatical endings, as in Turkish.
        raw = unaccented(_OTHER.sub(" ", _SUFFIX.sub(" ", answer_in(text))))
        ends = [end for _, end in spans(raw.lower(), "scrap", words)]
        self.letters = LETTERS[: len(options)]
        raw = raw[max((end for end in ends if self._gives(raw[:end])), default=0) :]
        every = _ALL_LETTERS.format(range=pattern(words, "range"))
        raw = re.sub(every, " ", raw)
        self.bold = [without_markup(part) for part in in_bold(raw)]
        self.text = without_markup(raw).strip()
        self.folded = self.text.lower()
        self.clauses = Clauses(self.folded, words)
        self.options = [_bare(folded(option)) for option in options]

    def _gives(self, text: str) -> bool:
        """Whether a text contains a letter of an option."""
        return re.search(rf"(?<!\w)[{self.letters}](?!\w)", text.translate(_HOMOGLYPHS)) is not None

    @property
    def declines(self) -> bool:
        """Whether the reply says that it does not answer."""
        return self.clauses.declines

    @cached_property
    def named(self) -> set[int]:
        """The options whose exact words are a whole line of the reply, are in bold, or follow a letter."""
        lines = [_bare(line) for line in (*self.folded.split("\n"), *map(folded, self.bold))]
        lines += [_bare(line[end:]) for line in self.folded.split("\n") for _, end in self._announced(line)]
        bare = [re.sub(r"^\W*[a-e]\W+", "", line) for line in lines]
        return {self.options.index(line) for line in (*lines, *bare) if line in self.options}

    @cached_property
    def mentioned(self) -> set[int]:
        """The options whose words occur anywhere, with any endings, and are not denied."""
        text, options = self.folded.translate(_FINAL_FORMS), set()
        # The longest first, because the words of one option may be part of another's.
        for index in sorted(range(len(self.options)), key=lambda index: -len(self.options[index])):
            spelling = self._spelling(self.options[index])
            for match in spelling.finditer(text):
                if not self._is_denied(match.start(), match.end()):
                    options.add(index)
            text = spelling.sub(lambda match: "\n" * len(match[0]), text)
        return options

    def _spelling(self, option: str) -> re.Pattern[str]:
        """The pattern of an option's words with any endings; two words may be in either order."""
        parts = [_stem(word) for word in re.findall(rf"{LETTER}+", option.translate(_FINAL_FORMS))]
        orders = permutations(parts) if len(parts) == 2 else [parts]
        if self.words[0].unspaced:
            return re.compile(re.escape(option))
        return re.compile("|".join(rf"(?<!{LETTER})" + r"[^\w\n]{1,3}".join(order) for order in orders))

    def _is_denied(self, start: int, end: int) -> bool:
        """Whether the reply denies that the option here is its answer."""
        before, after = self.folded[max(start - AROUND, 0) : start], self.folded[end : end + AROUND]
        is_denied = ends_with(before, self.words, "denies", "earlier", gap=r"\s?(?:\w{1,6}\s)?\W?")
        return is_denied or begins_with(after, self.words, "denies_after", gap=r"[^\w\n]{0,3}")

    def _announced(self, line: str) -> Iterator[tuple[int, int]]:
        for kind in ("final", "answer", "label"):
            yield from spans(line, kind, self.words)

    def levels(self) -> Iterator[set[int]]:
        """The options whose letters the reply gives, as indices, from the clearest way to the least clear."""
        yield self._whole(self.text)
        last = sorted([*self._behind("final"), *self._behind("rather")])[-1:]
        yield {index for _, letters in last for index in letters}
        lines = [line for line in self.text.split("\n") if line.strip()]
        yield self._given("answer") | {index for line in lines for index in self._whole(line)}
        yield {index for text in self.bold for index in self._begins(text) | self._whole(text)}
        yield {index for line in lines for index in self._begins(line)}
        yield self._given("label")
        yield self._counted()
        yield self._in_brackets()
        yield self._lone()

    def _whole(self, text: str) -> set[int]:
        """The option whose letter is the whole text; empty if there is none, as in all these methods."""
        plain = _bare(text)
        if len(plain) == 1 and plain.translate(_HOMOGLYPHS).upper() in self.letters:
            return {self.letters.index(plain.translate(_HOMOGLYPHS).upper())}
        return self._spelled(plain)

    def _spelled(self, word: str) -> set[int]:
        """The option whose letter has this spelling in one of the languages."""
        for language in self.words:
            index = language.letters.get(folded(word).strip())
            if index is not None and index < len(self.options):
                return {index}
        return set()

    def _begins(self, text: str) -> set[int]:
        """The option whose letter begins the text, followed by a bracket or the like."""
        match = _BEGINS.match(text)
        if match is not None and (not match[4] or any(True for _ in self._announced(folded(match[4])))):
            listed = {index for letter in _LISTED.findall(text) for index in self._whole(letter)}
            return self._whole(match[1] or match[2] or match[3] or self._before_comma(match[5])) | listed
        kinds = pattern(self.words, "after", "nouns", "label")
        word = re.match(rf"\W{{0,6}}([A-E])\s?(?:{kinds})", text, re.IGNORECASE)
        if word is None or not word[1].isupper() or self._is_common(word[1]):
            return set()
        return self._whole(word[1]) | self._others_at(word.end(1), text)

    def _before_comma(self, letter: str) -> str:
        """The letter before a comma; empty if it may be a word, such as "and" in another language."""
        is_word = letter.islower() or (self._is_common(letter) and letter not in "ABCD")
        return "" if is_word else letter

    def _is_common(self, letter: str) -> bool:
        """Whether a letter is also a common word, such as an article."""
        return any(letter.lower() in language.common for language in self.words)

    def _given(self, kind: str) -> set[int]:
        return {index for _, letters in self._behind(kind) for index in letters}

    def _behind(self, kind: str) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The end of each phrase of a kind that announces letters, and the options of these letters."""
        declined = self.clauses.declined
        for _, end in spans(self.folded, kind, self.words):
            letters = self._letters_at(end)
            if letters and declined.get(self.clauses.at(end), end) >= end:
                yield end, tuple(sorted(letters))

    def _letters_at(self, end: int) -> set[int]:
        """The options whose letters follow this position, or follow the word at this position."""
        rest = None if self.words[0].unspaced else _REST.match(self.text, end - 1)
        end = rest.end() if rest else end
        word = _CLOSING_WORD.match(self.text, end)
        if word and (spelled := self._whole(word[1])):
            return spelled
        segment = _ANNOUNCED.match(self.text, end)
        last = segment.end() if segment else end
        # The pattern looks ahead, so the search extends beyond the segment.
        for match in _LETTER.finditer(self.text, end, last + 3):
            if match.start() < last and not match[0].islower():
                denied = self._is_denied(match.start(), match.end())
                return set() if denied else self._whole(match[0]) | self._others_at(match.end(), self.text)
        return set()

    def _others_at(self, end: int, text: str) -> set[int]:
        """The options whose letters follow as alternatives, as in "A or B"."""
        joined = rf"\W{{0,2}}(?:{pattern(self.words, 'either', 'range')}|[,/&])\W{{0,2}}([A-E])(?!\w)"
        match = re.compile(joined, re.IGNORECASE).match(text, end)
        return self._whole(match[1]) if match and match[1].isupper() else set()

    def _counted(self) -> set[int]:
        """The options that are given by ordinals: the first, the second and so on."""
        return {
            index
            for language in self.words
            for index, forms in enumerate(language.ordinals[: len(self.options)])
            if self._is_counted(index, forms, "" if language.unspaced else rf"(?<!{LETTER})")
        }

    def _is_counted(self, index: int, forms: Sequence[str], start: str) -> bool:
        nouns, form = pattern(self.words, "nouns"), f"(?:{'|'.join(map(re.escape, forms))})"
        before = rf"{start}{form}\w{{0,4}}\W{{0,2}}(?:{nouns})"
        ending = rf"\w{{0,{_ENDING if start else 0}}}"
        behind = rf"(?:{nouns}){ending}\s?(?:(?:\w{{1,3}}\s)?{start}{form}|{index + 1}(?!\d))"
        alone = rf"\A\W{{0,4}}(?:\w{{1,3}}\s)?{form}\w{{0,4}}\W{{0,4}}\Z"
        return re.search(f"{before}|{behind}|{alone}", self.folded) is not None

    def _in_brackets(self) -> set[int]:
        letters = re.findall(rf"\(([{self.letters}])\)", self.text.translate(_HOMOGLYPHS))
        return {self.letters.index(letter) for letter in letters}

    def _lone(self) -> set[int]:
        """The options whose capital letters end a clause; empty if another letter occurs within a clause."""
        text, options = self.text.translate(_HOMOGLYPHS), set[int]()
        for match in re.finditer(rf"(?<![\w'\u2019])[{self.letters}](?![\w'\u2019])", text):
            if self._is_rejected(match):
                continue
            if _CLOSES.match(text, match.end()) or self._is_chosen(match):
                options.add(self.letters.index(match[0]))
            elif not self._is_word(match):
                return set()
        return options

    def _is_chosen(self, match: re.Match[str]) -> bool:
        """Whether the letter is followed by words that announce an answer, as in verb-final languages."""
        after = self.folded[match.end() : match.end() + AROUND]
        is_announced = begins_with(after, self.words[:1], "answer", "nouns", gap=r"\s?")
        return is_announced and not self._is_common(match[0])

    def _is_rejected(self, match: re.Match[str]) -> bool:
        is_declined = self.clauses.at(match.start()) in self.clauses.declined
        return is_declined or self._is_denied(match.start(), match.end())

    def _is_word(self, match: re.Match[str]) -> bool:
        """Whether a letter is a word, such as an article, at the beginning of a sentence."""
        joined = pattern(self.words, "either", "range")
        is_joined = re.compile(rf"\W{{0,2}}(?:{joined}|[,/&])\W{{1,2}}[a-e](?!\w)").match(
            self.folded, match.end()
        )
        return not is_joined and self._is_common(match[0])


def _stem(word: str) -> str:
    """The pattern of a word with other endings; short words must match exactly."""
    if len(word) <= 3:
        return rf"{word}(?!{LETTER})"
    cut = 0 if len(word) == 4 else 2 if len(word) > 5 and not word.isascii() else 1
    root = word[:-cut] if cut else word
    return rf"{root}{LETTER}{{0,{_ENDING}}}(?!{LETTER})"


def _bare(text: str) -> str:
    return re.sub(r"^[^\w\u0900-\u0963]+|[^\w\u0900-\u0963]+$", "", text)
