"""Checks of questions: vague ones, leaked answers, and distractors that rule themselves out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from equipoise.core.files import Row
from equipoise.core.types import JSON
from equipoise.core.unicode import nfkc
from equipoise.suites.chinese_simpleqa.answers import normal_form
from equipoise.suites.chinese_simpleqa.dataset import LETTERS, QUESTIONS, SUBTOPICS, facts, question_file
from equipoise.suites.chinese_simpleqa.options import ANSWER_FORMAT
from equipoise.suites.findings import Finding, Text
from equipoise.suites.selection import Selection
from equipoise.suites.similarity import contains, folded

_ARTICLE_COUNT = re.compile("\u300b[^\u300b]*(?:\u591a\u5c11|\u51e0)\u6761")
"""The closing title mark of a law, then "how many articles"; amendments change the number."""
_VERSIONS = ("\u4fee\u8ba2\u540e", "\u4fee\u6b63\u540e", "\u65f6\u7684\u6587\u672c")
"""Words that name the version of a text: after an amendment, or as of a time."""
_ABOUT_HOW_MANY = re.compile(
    "(?<![\u5317\u6761\u516c\u5408\u5951\u7ebd\u91cc])\u7ea6(?:\u6709|\u4e3a|\u662f)?(?:\u591a\u5c11|\u51e0)"
)
"""About how many, except where the character for "about" is part of a word (treaty, NATO, New York, Rio)."""
_MIN_ANSWER_LENGTH = 2
"""The minimum length in characters of an answer that is searched for in its question."""
_HAN_NUMERALS = "\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341\u767e\u5343\u96f6"
_NUMBER = re.compile(rf"(?<![\d,.])[\d,.]*\d|[{_HAN_NUMERALS}]+")
_YEAR = re.compile(r"(?<!\d)(?:1\d|20)\d\d(?!\d)")
_MAX_LENGTH_RATIO = 3
"""An option stands out if it is more than this many times longer or shorter than all others."""
_DIGITS = re.compile(r"\d[\d,]*(?:\.\d+)?")
_MIN_PER_SUBTOPIC = 2
"""The minimum number of questions of a subtopic, so that its figure does not rest on a single question."""
_MIN_QUESTIONS = 20
"""The minimum number of questions for which the letters and ranks of answers are counted."""
_MAX_LETTER_SHARE = 0.4
"""The largest share of questions whose right answers may have the same letter, or the same rank by size."""


def lint(topics: Path) -> Iterator[Finding | Text]:
    """The questions as texts that must be distinct, and findings on them. Raises UserError."""
    rows = QUESTIONS.valid_rows(question_file(topics))
    firsts: dict[JSON, str] = {}
    for row in rows:
        for answer in {normal_form(text) for text in (row["answer"], *row["variants"])}:
            first = firsts.setdefault((row["subtopic"], answer), row.where)
            if row["subtopic"] and first != row.where:
                yield Finding.at(
                    row.where, f"has the same answer as {first}, in the same subtopic; ask another fact"
                )
        yield Text(where=row.where, among="", owner=row.where, text=row["question"])
        yield from _leak_findings(row)
        yield from _vagueness_findings(row.where, row["question"])
        if row["kind"] == "date":
            faults = date_faults(row["answer"], row["variants"])
            yield from (Finding.at(row.where, what) for what in faults)
    yield from _subtopic_findings(topics, rows)
    if rows_with_options := [row for row in rows if row["distractors"]]:
        # The loader raises UserError for distractors that it does not accept.
        cases = facts(Selection(topics=topics, options={ANSWER_FORMAT.name: "choice"}))
        yield from _distractor_findings(rows_with_options)
        imbalances = [
            *letter_imbalance([case.options.index(case.accepted[0]) for case in cases]),
            *rank_imbalance([(row["answer"], *row["distractors"]) for row in rows_with_options]),
        ]
        yield from (Finding.at(rows_with_options[0].where, what) for what in imbalances)


def _subtopic_findings(topics: Path, rows: Sequence[Row]) -> Iterator[Finding]:
    """Findings on subtopics, in the table beside the questions, that have too few questions."""
    if not topics.is_dir():
        return
    counts = Counter(row["subtopic"] for row in rows)
    for row in SUBTOPICS.valid_rows(topics):
        if (count := counts[row["subtopic"]]) < _MIN_PER_SUBTOPIC:
            needed = f"write {_MIN_PER_SUBTOPIC} or more"
            what = f"the subtopic {row['subtopic']!r} has too few questions, {count}; {needed}"
            yield Finding.at(row.where, what)


def _vagueness_findings(where: str, question: str) -> Iterator[Finding]:
    """Findings on a question for which more than one number may be right."""
    if _ARTICLE_COUNT.search(question) and not any(version in question for version in _VERSIONS):
        yield Finding.at(where, "counts articles and names no version of the text; say which one")
    if _ABOUT_HOW_MANY.search(question):
        yield Finding.at(where, "asks for about how many, where one figure is right; ask for the figure")


def _leak_findings(row: Row) -> Iterator[Finding]:
    """Findings on accepted answers that the question contains."""
    for answer in (row["answer"], *row["variants"]):
        if len(folded(answer)) >= _MIN_ANSWER_LENGTH and contains(row["question"], answer):
            yield Finding.at(row.where, f"the answer {answer!r} stands in the question; reword it")


# Distractors.


def _distractor_findings(rows: Sequence[Row]) -> Iterator[Finding]:
    for row in rows:
        accepted = (row["answer"], *row["variants"])
        for what in distractor_faults(row["question"], accepted, row["distractors"], row["kind"]):
            yield Finding.at(row.where, what)


def distractor_faults(
    question: str, accepted: Sequence[str], distractors: Sequence[str], kind: str | None
) -> Iterator[str]:
    """The faults of a question's distractors, as short phrases."""
    answer, right = accepted[0], {normal_form(text) for text in accepted}
    for text in distractors:
        if len(normal_form(text)) > 1 and contains(question, text):
            yield f"the distractor {text!r} stands in the question, which rules it out; choose another"
        if normal_form(text) in right:
            yield f"the distractor {text!r} is accepted as right; choose another"
        if _shared_form(text, kind) != _shared_form(answer, kind):
            yield f"the distractor {text!r} is not written like the answer {answer!r}; write it alike"
    if odd := _option_of_odd_length([answer, *distractors]):
        yield f"the option {odd!r} stands out by its length; choose others of about the same"
    if kind == "date" and (odd := _only_option_with_year(question, [answer, *distractors])):
        yield f"the option {odd!r} alone has the year of the question; give it to all options or to none"


def letter_imbalance(indices: Sequence[int]) -> Iterator[str]:
    """A fault if one letter is the answer too often; `indices` are the answers' indices, by question."""
    if len(indices) < _MIN_QUESTIONS:
        return
    index, count = Counter(indices).most_common(1)[0]
    if count > _MAX_LETTER_SHARE * len(indices):
        share = round(100 * count / len(indices))
        yield f"the answer is option {LETTERS[index]} in {share} % of the questions; change their distractors"


def rank_imbalance(options: Iterable[Sequence[str]]) -> Iterator[str]:
    """A fault if the right number too often has the same rank; the first of a question's options is right."""
    numbers = [[_numbers_of(text) for text in own] for own in options]
    ranks = [sorted(own).index(own[0]) for own in numbers if all(own)]
    if len(ranks) < _MIN_QUESTIONS:
        return
    rank, count = Counter(ranks).most_common(1)[0]
    if count > _MAX_LETTER_SHARE * len(ranks):
        what = f"of {len(ranks)} right numbers {count} have rank {rank + 1} of {len(LETTERS)} by size"
        yield f"{what}; change the distractors"


def _numbers_of(text: str) -> list[float]:
    """The numbers in an option, in order of appearance; a Chinese date has its year first, its day last."""
    return [float(number.replace(",", "")) for number in _DIGITS.findall(nfkc(text))]


def date_faults(answer: str, variants: Iterable[str]) -> Iterator[str]:
    """The variants of a date that name, in digits, another day than the answer.

    The numbers of one must be among those of the other, since a variant may leave out a part of the date.
    """
    for variant in variants:
        one, other = (Counter(re.findall(r"[1-9]\d*", nfkc(text))) for text in (answer, variant))
        # If only one has a year of our calendar, the other may name the same day in another calendar.
        is_comparable = bool(_YEAR.search(answer)) == bool(_YEAR.search(variant))
        if is_comparable and not (one <= other or other <= one):
            yield f"the variant {variant!r} is another day than {answer!r}; correct one"


def _shared_form(text: str, kind: str | None) -> str:
    """The form that options must share: numbers and dates without numerals; of others, the title marks."""
    if kind in ("number", "date"):
        return _NUMBER.sub("0", text)
    return "".join(re.findall("[\u300a\u300b]", text))


def _option_of_odd_length(options: Sequence[str]) -> str | None:
    """The first option that is much longer or shorter than all others; None if there is none."""
    lengths = [len(normal_form(text)) for text in options]
    for text, length in zip(options, lengths, strict=True):
        others = list(lengths)
        others.remove(length)
        if length > _MAX_LENGTH_RATIO * max(others) or length * _MAX_LENGTH_RATIO < min(others):
            return text
    return None


def _only_option_with_year(question: str, options: Sequence[str]) -> str | None:
    """The only option that has a year of the question; None unless there is exactly one."""
    years = set(_YEAR.findall(question))
    matching = [text for text in options if years & set(_YEAR.findall(text))]
    return matching[0] if len(matching) == 1 else None
