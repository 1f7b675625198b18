"""Exact near-duplicate search by the Jaccard index of character n-grams, and containment of texts.

Pure; knows neither files nor suites.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

TRIGRAM = 3
ALIKE = 0.8
"""Two texts are near-duplicates from this similarity on."""
_SLACK = 1e-9
"""Tolerance for rounding in a product of floats."""
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ASIDE = re.compile(r"[\W_]+")
_BEFORE, _AFTER = r"(?<!\d)(?<!\d[.,])", r"(?!\d|[.,]\d)"
"""Where a number begins and ends."""


def folded(text: str) -> str:
    """The text normalised for comparison: NFKC, case-folded, with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def holds(text: str, part: str) -> bool:
    """Whether the letters and digits of `part` occur in `text`, ignoring everything else.

    A number must match as a whole: 12 is not in 1912, nor in 12.5. A part without letters or digits is never
    found.
    """
    wanted, whole = _letters(part), _letters(text)
    if not wanted:
        return False
    before = _BEFORE if wanted[0].isdecimal() else ""
    after = _AFTER if wanted[-1].isdecimal() else ""
    return re.search(before + re.escape(wanted) + after, whole) is not None


def _letters(text: str) -> str:
    """Letters and digits, folded; a separator is kept between two numbers, so that they stay two."""
    plain = _THOUSANDS.sub("", folded(text))
    return _ASIDE.sub(_of_aside, plain)


def _of_aside(found: re.Match[str]) -> str:
    start, end = found.span()
    beside = found.string[max(start - 1, 0) : start], found.string[end : end + 1]
    if not all(map(str.isdecimal, beside)):
        return ""
    return found[0] if found[0] in (".", ",") else " "


def grams(text: str, size: int = TRIGRAM) -> frozenset[str]:
    """The character n-grams of the folded text; the text itself if it is shorter than `size`."""
    plain = folded(text)
    return frozenset(plain[place : place + size] for place in range(max(1, len(plain) - size + 1)))


def alike(
    texts: Sequence[str], least: float = ALIKE, size: int = TRIGRAM
) -> Iterator[tuple[int, int, float]]:
    """Index pairs of texts with at least this similarity (0 to 1), the earlier first, and the similarity.

    Two such sets share one of their few rarest members, so only these are indexed (prefix filtering;
    Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007).
    """
    sets = [grams(text, size) for text in texts]
    counts = Counter(gram for own in sets for gram in own)
    having: dict[str, list[int]] = defaultdict(list)
    for later, own in enumerate(sets):
        length = len(own) - math.ceil(least * len(own) - _SLACK) + 1
        rarest = sorted(own, key=lambda gram: (counts[gram], gram))[:length]
        for earlier in sorted({place for gram in rarest for place in having[gram]}):
            if (share := _jaccard(own, sets[earlier])) >= least:
                yield earlier, later, share
        for gram in rarest:
            having[gram].append(later)


def similarity(a: str, b: str, size: int = TRIGRAM) -> float:
    """The Jaccard index of two texts' n-grams, 0 to 1."""
    return _jaccard(grams(a, size), grams(b, size))


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)
