"""Exact near-duplicate search by the Jaccard index of character n-grams, and containment of texts. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from equipoise.core.unicode import nfkc

TRIGRAM = 3
ALIKE = 0.8
"""Two texts with at least this similarity are near-duplicates."""
_SLACK = 1e-9
"""Tolerance for rounding in a product of floats."""
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_BETWEEN = re.compile(r"(?<=\d)(?![.,]\d)[\W_]+(?=\d)")
_ASIDE = re.compile(r"(?:(?!(?<=\d)[ .,](?=\d))[\W_])+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def folded(text: str) -> str:
    """The text normalised for comparison: NFKC, case-folded, with single spaces."""
    return " ".join(nfkc(text).casefold().split())


def holds(text: str, part: str) -> bool:
    """Whether the letters and digits of `part` occur in `text`, ignoring everything else.

    A number must match as a whole: 12 is not in 1912, nor in 12.5. A part without letters or digits is never
    found.
    """
    wanted = _letters(part)
    return bool(wanted) and wanted in _letters(text)


def _letters(text: str) -> str:
    """Letters and digits, folded; each number is enclosed in NULs, which occur nowhere else."""
    plain = _THOUSANDS.sub("", folded(text))
    # A separator is kept between two numbers, so that they stay two.
    apart = _ASIDE.sub("", _BETWEEN.sub(" ", plain))
    return _NUMBER.sub(lambda number: f"\0{number[0]}\0", apart)


def grams(text: str, size: int = TRIGRAM) -> frozenset[str]:
    """The character n-grams of the folded text; the text itself if it is shorter than `size`."""
    plain = folded(text)
    return frozenset(plain[index : index + size] for index in range(max(1, len(plain) - size + 1)))


def alike(
    texts: Sequence[str], least: float = ALIKE, size: int = TRIGRAM
) -> Iterator[tuple[int, int, float]]:
    """Index pairs of texts with at least this similarity (0 to 1), the earlier first, and the similarity.

    Two such sets share one of their few rarest members, so only these are indexed (prefix filtering;
    Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007).
    """
    sets = [grams(text, size) for text in texts]
    counts = Counter(gram for own in sets for gram in own)
    postings: dict[str, list[int]] = defaultdict(list)
    for later, own in enumerate(sets):
        length = len(own) - math.ceil(least * len(own) - _SLACK) + 1
        rarest = sorted(own, key=lambda gram: (counts[gram], gram))[:length]
        for earlier in sorted({index for gram in rarest for index in postings[gram]}):
            if (share := _jaccard(own, sets[earlier])) >= least:
                yield earlier, later, share
        for gram in rarest:
            postings[gram].append(later)


def similarity(a: str, b: str, size: int = TRIGRAM) -> float:
    """The Jaccard index of two texts' n-grams, 0 to 1."""
    return _jaccard(grams(a, size), grams(b, size))


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)
