"""Finds the options that a reply gives as its answer, by letter or in words. Pure.

Options are indices, 0 for A. Kinds of phrases, such as "final", are the keys of the rubric.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import permutations

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
from equipoise.suites.turnabout.vocabulary import LETTER, Lexicon, folded, unaccented

LETTERS = "ABCDE"
_ANNOUNCEMENT_GAP = re.compile(r"[^\n.!?\u3002]{0,26}")
"""The text in which a letter is searched after words that announce an answer."""
_LETTER = re.compile(
    r"(?<![A-Za-z])([A-E])(?![A-Za-z'\u2019])|"
    rf"(?<!{LETTER})([^\W\d_])(?!{LETTER}|['\u2019]|-\w)"
)
"""A letter A to E, or a single letter of any script, that is a word by itself."""
_LISTED_LETTER = re.compile(r"(?<!\w)[A-E](?=[):](?:\s|\w|$)|\.\s?\w)")
_LEADING_LETTER = re.compile(
    r"\W{0,6}(?:(\w)\s?(?:[).:\]\u3001](?:\s|\w|$)|[-\u2013\u2014]\s)|\((\w)\)|(\w)\s([^\W\d_]{2,12})\W*$|(\w)[,\u060c]\s?(?![A-E]\b))"
)
"""A letter at the beginning of a line: before a bracket or dash, in brackets, before a last word, or before a
comma."""
_ALL_LETTERS = (
    r"\bA\s?(?:-|\.{{2,3}}|(?:{range})-?)\s?[DE]\b|\bA(?:,\s?[B-E]){{2,4}}(?:,?\s\w{{1,4}}\s[DE])?\b"
)
"""A list of the letters of all options, which a refusal may repeat."""
_CLAUSE_END = re.compile(r"[\s\"']{0,2}(?:[.!)\n\u3002\u0964\u06d4]|$)")
_WORD_REST = re.compile(rf"{LETTER}+")
_CLOSING_WORD = re.compile(
    rf"\W{{0,4}}(?:{LETTER}{{1,3}}\s)?({LETTER}+)(?=\s?[\"']?(?:$|[\n.,;:!)\u3002\u0964\u06d4]))"
)
"""A word that ends a clause, with at most a short one before it."""
_ACCENTED_CAPITAL = re.compile(r"(?<!\w)[\u00c0-\u00cb](?!\w)")
"""Accented capital letters, which are not letters of options."""
_SUFFIX_APOSTROPHE = re.compile(r"(?<![\w'\u2019][A-E])(?<=[A-E])['\u2019](?=[^\W\d_]{1,4}(?!\w))")
"""The apostrophe between a letter and its grammatical ending, as in Turkish."""
_HOMOGLYPHS = str.maketrans("\u0410\u0412\u0421\u0415\u0391\u0392\u0395\u0430\u0441\u0435", "ABCEABEace")
"""Cyrillic and Greek letters that look like A, B, C or E."""
_FINAL_FORMS = str.maketrans("\u05da\u05dd\u05df\u05e3\u05e5\u03c2", "\u05db\u05de\u05e0\u05e4\u05e6\u03c3")
"""Letters with a different shape at the end of a word."""
_LONGEST_ENDING = 4
"""The maximum length of an ending that a word of an option may take in a sentence."""


class LetterReply:
    """A reply to a question with options, after the last phrase that takes back an earlier letter."""

    def __init__(self, text: str, words: Sequence[Lexicon], options: Sequence[str]) -> None:
        self.words = words
        raw = unaccented(_ACCENTED_CAPITAL.sub(" ", _SUFFIX_APOSTROPHE.sub(" ", answer_in(text))))
        ends = [end for _, end in spans(raw.lower(), "scrap", words)]
        self.letters = LETTERS[: len(options)]
        raw = raw[max((end for end in ends if self._has_letter(raw[:end])), default=0) :]
        raw = re.sub(_ALL_LETTERS.format(range=pattern(words, "range")), " ", raw)
        self.bold = [without_markup(part) for part in in_bold(raw)]
        self.text = without_markup(raw).strip()
        self.folded = self.text.lower()
        self.clauses = Clauses(self.folded, words)
        self.options = [_trimmed(folded(option)) for option in options]

    def _has_letter(self, text: str) -> bool:
        """Whether a text contains a letter of an option."""
        return re.search(rf"(?<!\w)[{self.letters}](?!\w)", text.translate(_HOMOGLYPHS)) is not None

    @property
    def declines(self) -> bool:
        """Whether the reply says that it does not answer."""
        return self.clauses.declines

    @cached_property
    def stated(self) -> set[int]:
        """The options whose exact words are a line, are in bold, or end a line after an announcement."""
        lines = self.folded.split("\n")
        texts = [_trimmed(line) for line in (*lines, *map(folded, self.bold))]
        texts += [_trimmed(line[end:]) for line in lines for _, end in self._announcements(line)]
        without_letters = [re.sub(r"^\W*[a-e]\W+", "", text) for text in texts]
        return {self.options.index(text) for text in (*texts, *without_letters) if text in self.options}

    @cached_property
    def mentioned(self) -> set[int]:
        """The options whose words occur anywhere, with any endings, and are not denied."""
        text, indices = self.folded.translate(_FINAL_FORMS), set()
        # The longest first, because the words of one option may be part of another's.
        for index in sorted(range(len(self.options)), key=lambda index: -len(self.options[index])):
            spelling = self._spelling(self.options[index])
            for match in spelling.finditer(text):
                if not self._is_denied(match.start(), match.end()):
                    indices.add(index)
            # Newlines match no option and leave positions as they are.
            text = spelling.sub(lambda match: "\n" * len(match[0]), text)
        return indices

    def _spelling(self, option: str) -> re.Pattern[str]:
        """The pattern of an option's words with any endings; two words may be in either order."""
        parts = [_stem(word) for word in re.findall(rf"{LETTER}+", option.translate(_FINAL_FORMS))]
        orders = permutations(parts) if len(parts) == 2 else [parts]
        if self.words[0].unspaced:
            return re.compile(re.escape(option))
        return re.compile("|".join(rf"(?<!{LETTER})" + r"[^\w\n]{1,3}".join(order) for order in orders))

    def _is_denied(self, start: int, end: int) -> bool:
        """Whether the reply denies that the option between these positions is its answer."""
        before, after = self.folded[max(start - CONTEXT, 0) : start], self.folded[end : end + CONTEXT]
        is_denied = ends_with(before, self.words, "denies", "earlier", gap=r"\s?(?:\w{1,6}\s)?\W?")
        return is_denied or begins_with(after, self.words, "denies_after", gap=r"[^\w\n]{0,3}")

    def _announcements(self, line: str) -> Iterator[tuple[int, int]]:
        """The start and end of each phrase that announces an answer."""
        for kind in ("final", "answer", "label"):
            yield from spans(line, kind, self.words)

    def candidates(self) -> Iterator[set[int]]:
        """The options whose letters the reply gives, from the clearest way to the least clear."""
        yield self._as_letter(self.text)
        last = sorted([*self._announced_letters("final"), *self._announced_letters("rather")])[-1:]
        yield {index for _, indices in last for index in indices}
        lines = [line for line in self.text.split("\n") if line.strip()]
        yield self._announced_by("answer") | {index for line in lines for index in self._as_letter(line)}
        yield {index for text in self.bold for index in self._leading_letters(text) | self._as_letter(text)}
        yield {index for line in lines for index in self._leading_letters(line)}
        yield self._announced_by("label")
        yield self._by_ordinals()
        yield self._in_brackets()
        yield self._at_clause_ends()

    def _as_letter(self, text: str) -> set[int]:
        """The option whose letter is the whole text; empty without one, like all sets here."""
        plain = _trimmed(text)
        letter = plain.translate(_HOMOGLYPHS).upper()
        if len(plain) == 1 and letter in self.letters:
            return {self.letters.index(letter)}
        return self._as_spelled_letter(plain)

    def _as_spelled_letter(self, word: str) -> set[int]:
        """The option whose letter is spelled like this in one of the languages, such as "bee"."""
        for language in self.words:
            index = language.letters.get(folded(word).strip())
            if index is not None and index < len(self.options):
                return {index}
        return set()

    def _leading_letters(self, text: str) -> set[int]:
        """The options whose letters begin the text, before a bracket, say, or are listed in it like that."""
        match = _LEADING_LETTER.match(text)
        if match is not None and (not match[4] or any(True for _ in self._announcements(folded(match[4])))):
            listed = {index for letter in _LISTED_LETTER.findall(text) for index in self._as_letter(letter)}
            return self._as_letter(match[1] or match[2] or match[3] or self._before_comma(match[5])) | listed
        kinds = pattern(self.words, "after", "nouns", "label")
        word = re.match(rf"\W{{0,6}}([A-E])\s?(?:{kinds})", text, re.IGNORECASE)
        if word is None or not word[1].isupper() or self._is_common(word[1]):
            return set()
        return self._as_letter(word[1]) | self._alternatives_at(word.end(1), text)

    def _before_comma(self, letter: str) -> str:
        """The letter before a comma; empty if it may be a word, such as "and" in another language."""
        is_word = letter.islower() or (self._is_common(letter) and letter not in "ABCD")
        return "" if is_word else letter

    def _is_common(self, letter: str) -> bool:
        """Whether a letter is also a common word, such as an article."""
        return any(letter.lower() in language.common for language in self.words)

    def _announced_by(self, kind: str) -> set[int]:
        return {index for _, indices in self._announced_letters(kind) for index in indices}

    def _announced_letters(self, kind: str) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The end of each phrase of a kind that letters follow, and the options of these letters."""
        declined = self.clauses.declined
        for _, end in spans(self.folded, kind, self.words):
            indices = self._letters_at(end)
            if indices and declined.get(self.clauses.index_at(end), end) >= end:
                yield end, tuple(sorted(indices))

    def _letters_at(self, end: int) -> set[int]:
        """The options whose letters follow this position, or follow the word at this position."""
        # A phrase may be the beginning of a word.
        word_rest = None if self.words[0].unspaced else _WORD_REST.match(self.text, end - 1)
        end = word_rest.end() if word_rest else end
        word = _CLOSING_WORD.match(self.text, end)
        if word and (spelled := self._as_letter(word[1])):
            return spelled
        segment = _ANNOUNCEMENT_GAP.match(self.text, end)
        last = segment.end() if segment else end
        # The pattern looks ahead, so the search extends beyond the segment.
        for match in _LETTER.finditer(self.text, end, last + 3):
            if match.start() < last and not match[0].islower():
                if self._is_denied(match.start(), match.end()):
                    return set()
                return self._as_letter(match[0]) | self._alternatives_at(match.end(), self.text)
        return set()

    def _alternatives_at(self, end: int, text: str) -> set[int]:
        """The options whose letters follow as alternatives, as in "A or B"."""
        joined = rf"\W{{0,2}}(?:{pattern(self.words, 'either', 'range')}|[,/&])\W{{0,2}}([A-E])(?!\w)"
        match = re.compile(joined, re.IGNORECASE).match(text, end)
        return self._as_letter(match[1]) if match and match[1].isupper() else set()

    def _by_ordinals(self) -> set[int]:
        """The options that the reply gives by ordinals, such as "the second option"."""
        return {
            index
            for language in self.words
            for index, forms in enumerate(language.ordinals[: len(self.options)])
            if self._has_ordinal(index, forms, "" if language.unspaced else rf"(?<!{LETTER})")
        }

    def _has_ordinal(self, index: int, forms: Sequence[str], start: str) -> bool:
        nouns, form = pattern(self.words, "nouns"), f"(?:{'|'.join(map(re.escape, forms))})"
        before = rf"{start}{form}\w{{0,4}}\W{{0,2}}(?:{nouns})"
        ending = rf"\w{{0,{_LONGEST_ENDING if start else 0}}}"
        after = rf"(?:{nouns}){ending}\s?(?:(?:\w{{1,3}}\s)?{start}{form}|{index + 1}(?!\d))"
        alone = rf"\A\W{{0,4}}(?:\w{{1,3}}\s)?{form}\w{{0,4}}\W{{0,4}}\Z"
        return re.search(f"{before}|{after}|{alone}", self.folded) is not None

    def _in_brackets(self) -> set[int]:
        """The options whose letters are in brackets."""
        letters = re.findall(rf"\(([{self.letters}])\)", self.text.translate(_HOMOGLYPHS))
        return {self.letters.index(letter) for letter in letters}

    def _at_clause_ends(self) -> set[int]:
        """The options whose capital letters end a clause; empty if another letter occurs within a clause."""
        text, indices = self.text.translate(_HOMOGLYPHS), set[int]()
        for match in re.finditer(rf"(?<![\w'\u2019])[{self.letters}](?![\w'\u2019])", text):
            if self._is_rejected(match):
                continue
            if _CLAUSE_END.match(text, match.end()) or self._is_chosen(match):
                indices.add(self.letters.index(match[0]))
            elif not self._is_word(match):
                return set()
        return indices

    def _is_chosen(self, match: re.Match[str]) -> bool:
        """Whether the letter is followed by words that announce an answer, as in verb-final languages."""
        after = self.folded[match.end() : match.end() + CONTEXT]
        is_announced = begins_with(after, self.words[:1], "answer", "nouns", gap=r"\s?")
        return is_announced and not self._is_common(match[0])

    def _is_rejected(self, match: re.Match[str]) -> bool:
        is_declined = self.clauses.index_at(match.start()) in self.clauses.declined
        return is_declined or self._is_denied(match.start(), match.end())

    def _is_word(self, match: re.Match[str]) -> bool:
        """Whether a letter is a word, such as an article, at the beginning of a sentence."""
        joined = pattern(self.words, "either", "range")
        is_joined = re.compile(rf"\W{{0,2}}(?:{joined}|[,/&])\W{{1,2}}[a-e](?!\w)").match(
            self.folded, match.end()
        )
        return not is_joined and self._is_common(match[0])


def _stem(word: str) -> str:
    """The pattern of a word with other endings; words of up to three letters must match exactly."""
    if len(word) <= 3:
        return rf"{word}(?!{LETTER})"
    # Inflection changes more at the end of a word in languages with accents or other scripts.
    cut = 0 if len(word) == 4 else 2 if len(word) > 5 and not word.isascii() else 1
    root = word[:-cut] if cut else word
    return rf"{root}{LETTER}{{0,{_LONGEST_ENDING}}}(?!{LETTER})"


def _trimmed(text: str) -> str:
    """The text without punctuation and spaces at its ends."""
    return re.sub(r"^[^\w\u0900-\u0963]+|[^\w\u0900-\u0963]+$", "", text)
