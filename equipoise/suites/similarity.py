"""Similarity of texts: near-duplicates by the Jaccard index of character n-grams, and containment. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from equipoise.core.unicode import nfkc

TRIGRAM = 3
NEAR_DUPLICATE = 0.8
"""The similarity from which two texts are near-duplicates."""
_SLACK = 1e-9
"""Tolerance for rounding in a product of floats."""
_THOUSANDS_COMMA = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_BETWEEN_NUMBERS = re.compile(r"(?<=\d)(?![.,]\d)[\W_]+(?=\d)")
_IGNORED = re.compile(r"(?:(?!(?<=\d)[ .,](?=\d))[\W_])+")
"""Everything but letters, digits, and a space, period or comma between two digits."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def folded(text: str) -> str:
    """The text normalised for comparison: NFKC, case-folded, with single spaces."""
    return " ".join(nfkc(text).casefold().split())


def contains(text: str, phrase: str) -> bool:
    """Whether the letters and digits of `phrase` occur in `text`, ignoring everything else.

    A number must match as a whole: 12 is not in 1912, nor in 12.5. A phrase without letters or digits is in
    no text.
    """
    phrase = _letters_and_numbers(phrase)
    return bool(phrase) and phrase in _letters_and_numbers(text)


def _letters_and_numbers(text: str) -> str:
    """Letters and digits, folded; each number is enclosed in NULs, which occur nowhere else."""
    text = _THOUSANDS_COMMA.sub("", folded(text))
    # One space is kept between two numbers: without it, they would become one number.
    text = _IGNORED.sub("", _BETWEEN_NUMBERS.sub(" ", text))
    return _NUMBER.sub(lambda number: f"\0{number[0]}\0", text)


def ngrams(text: str, size: int = TRIGRAM) -> frozenset[str]:
    """The character n-grams of the folded text; the text itself if it is shorter than `size`."""
    text = folded(text)
    return frozenset(text[index : index + size] for index in range(max(1, len(text) - size + 1)))


def similar_pairs(
    texts: Sequence[str], threshold: float = NEAR_DUPLICATE, size: int = TRIGRAM
) -> Iterator[tuple[int, int, float]]:
    """Index pairs of texts with at least this similarity (0 to 1), the earlier first, and the similarity.

    The result is exact. Sets of n-grams that are so similar share one of their few rarest n-grams, so only
    these are indexed (prefix filtering; Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007).
    """
    sets = [ngrams(text, size) for text in texts]
    counts = Counter(gram for grams in sets for gram in grams)
    postings: dict[str, list[int]] = defaultdict(list)
    for later, grams in enumerate(sets):
        prefix_length = len(grams) - math.ceil(threshold * len(grams) - _SLACK) + 1
        rarest = sorted(grams, key=lambda gram: (counts[gram], gram))[:prefix_length]
        for earlier in sorted({index for gram in rarest for index in postings[gram]}):
            if (share := _jaccard(grams, sets[earlier])) >= threshold:
                yield earlier, later, share
        for gram in rarest:
            postings[gram].append(later)


def similarity(a: str, b: str, size: int = TRIGRAM) -> float:
    """The Jaccard index of two texts' n-grams, 0 to 1."""
    return _jaccard(ngrams(a, size), ngrams(b, size))


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)
