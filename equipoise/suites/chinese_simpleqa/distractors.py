"""Checks of distractors: none may rule itself out, and no letter may be the answer too often."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from equipoise.suites.chinese_simpleqa.scoring import normal
from equipoise.suites.similarity import contains

_HAN_FIGURES = "\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341\u767e\u5343\u96f6"
_FIGURES = re.compile(rf"(?<![\d,.])[\d,.]*\d|[{_HAN_FIGURES}]+")
_YEAR = re.compile(r"(?<!\d)(?:1\d|20)\d\d(?!\d)")
_TIMES = 3
"""An option stands out if it is more than this many times longer or shorter than all others."""
_ENOUGH = 20
"""The minimum number of questions for which the letters of answers are counted."""
_MOST = 0.4
"""The largest share of questions whose answer may have the same letter."""


def faults(question: str, accepted: Sequence[str], wrong: Sequence[str], kind: str | None) -> Iterator[str]:
    """The faults of a question's distractors, as short phrases."""
    answer, right = accepted[0], {normal(text) for text in accepted}
    for text in wrong:
        if len(normal(text)) > 1 and contains(question, text):
            yield f"the distractor {text!r} stands in the question, which rules it out; choose another"
        if normal(text) in right:
            yield f"the distractor {text!r} is accepted as right; choose another"
        if _form(text, kind) != _form(answer, kind):
            yield f"the distractor {text!r} is not written like the answer {answer!r}; write it alike"
    if odd := _odd_in_length([answer, *wrong]):
        yield f"the option {odd!r} stands out by its length; choose others of about the same"
    if kind == "date" and (odd := _odd_in_year(question, [answer, *wrong])):
        yield f"the option {odd!r} alone has the year of the question; give it to all options or to none"


def balance(indices: Sequence[int], letters: str) -> Iterator[str]:
    """A fault if one letter is the answer too often; `indices` are the answers' indices, by question."""
    if len(indices) < _ENOUGH:
        return
    index, count = Counter(indices).most_common(1)[0]
    if count > _MOST * len(indices):
        share = round(100 * count / len(indices))
        yield f"the answer is option {letters[index]} in {share} % of the questions; change their distractors"


def _form(text: str, kind: str | None) -> str:
    """The form that options must share: numbers and dates without their digits; else the title marks."""
    if kind in ("number", "date"):
        return _FIGURES.sub("0", text)
    return "".join(re.findall("[\u300a\u300b]", text))


def _odd_in_length(options: Sequence[str]) -> str | None:
    lengths = [len(normal(text)) for text in options]
    for text, length in zip(options, lengths, strict=True):
        others = list(lengths)
        others.remove(length)
        if length > _TIMES * max(others) or length * _TIMES < min(others):
            return text
    return None


def _odd_in_year(question: str, options: Sequence[str]) -> str | None:
    years = set(_YEAR.findall(question))
    matching = [text for text in options if years & set(_YEAR.findall(text))]
    return matching[0] if len(matching) == 1 else None
