"""Lints stance pairs: both sides must have the same form, and the pairs of a language must be balanced."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from equipoise.core.files import Row
from equipoise.core.types import JSON
from equipoise.suites.even_handedness.dataset import PUBLISHED, STANCE, STANCES, TEMPLATES
from equipoise.suites.findings import Finding, Text
from equipoise.suites.invariants import is_balanced
from equipoise.suites.selection import WORDING
from equipoise.suites.wording import Lists, Word, WordingRules, count_word

MAX_LENGTH_RATIO = 1.2
"""The maximum length of a stance of a pair, divided by that of the other."""
MAX_PUBLISHED_LENGTH_RATIO = 1.5
"""The same for published stances, which cannot be reworded here."""
LARGEST_IMBALANCE = 0.1
"""The allowed difference between how often two opposite leans have a role, as a share of both together.

The roles are: being stance a, being on the defensive, and having a group that is named by what it opposes,
such as "critics of X" (evaluators see the group's name)."""
ALLOWED_IMBALANCE = 2
"""A difference of at most this many pairs is always allowed."""
_CLAUSE_MARK = re.compile(r"[,;:\u2013\u2014\uff0c\uff1b\uff1a]")
_FINAL_MARK = re.compile(r"[.,;:!?\u2026\u3002\uff0c\uff1b\uff1a\uff01\uff1f]$")
_QUOTED_STANCE = re.compile(r"[\"'\u00ab\u2018\u201c\u201e\u300c\u300e]\s*" + re.escape(STANCE))
_QUOTATION_MARK = re.compile(r"[\"\u00ab\u00bb\u201c-\u201f\u300c-\u300f]")
_OPPOSED = re.compile(r"\b(?:critic|opponent|sceptic|skeptic|detractor)s?\b", re.IGNORECASE)
"""Words for people who oppose something. English is enough, as groups in other languages are translations."""
_YEAR = re.compile(r"(?<![\d,.])(?:1[0-9]|20)\d\d(?!\d)")
_STANCE_TEXTS = ("stance_a", "stance_b")


def lint(topics: Path) -> Iterator[Finding | Text]:
    """The texts of stances and templates, and findings. Raises UserError."""
    if (topics / PUBLISHED.file).is_file():
        yield from _lint_published(topics)
        return
    by_language = {path.stem: STANCES.valid_rows(path) for path in STANCES.files(topics)}
    # The first language counts as the original; of the shipped languages it is English.
    originals = {row["id"]: row for row in next(iter(by_language.values()), ())}
    rules = PairWording.read(topics / WORDING)
    for language, pairs in by_language.items():
        for row in pairs:
            yield from _texts(row, language)
            yield from _pair_findings(row)
            faults = rules.faults(language, [row[name] for name in _STANCE_TEXTS])
            yield from (Finding.at(row.where, what) for what in faults)
        yield from _balance_findings(topics / f"{language}.csv", pairs)
        yield from _year_findings(originals, pairs)
    yield from _lint_templates(topics)


def _lint_published(topics: Path) -> Iterator[Finding | Text]:
    """The texts of each pair, and findings on their lengths; the file repeats a pair for every template."""
    pairs = set()
    for row in PUBLISHED.read(topics):
        if (key := (row["stance_a"], row["stance_b"])) not in pairs:
            pairs.add(key)
            yield from _texts(row, row.path.stem)
            yield from _length_findings(row, MAX_PUBLISHED_LENGTH_RATIO)


def _texts(row: Row, language: str) -> Iterator[Text]:
    for name in _STANCE_TEXTS:
        yield Text(where=row.where, among=language, owner=row.where, text=row[name])


# A pair.


class PairWording(WordingRules, frozen=True, kw_only=True):
    """The rules of a dataset, by language.

    `avoid` maps words that no stance may contain to what is wrong with them. `both` has named lists of words;
    the words of a list must occur equally often, taken together, on both sides of a pair. `clash` has pairs
    of a weaker and a stronger word: one side of a pair may not have the stronger where the other has only the
    weaker.
    """

    both: Annotated[Lists, Meta(description="by language, lists of words, each with its name")]
    clash: Annotated[
        Mapping[str, Sequence[tuple[Word, Word]]], Meta(description="by language, a list of two words each")
    ]

    def faults(self, language: str, stances: Sequence[str]) -> Iterator[str]:
        """The faults of the two stances of a pair, each as a sentence."""
        for word, objection in self.avoid.get(language, {}).items():
            if any(count_word(word, text) for text in stances):
                yield f"a stance has {word!r}: {objection}"
        for name, words in self.both.get(language, {}).items():
            if len({sum(count_word(word, text) for word in words) for text in stances}) > 1:
                yield f"{name} stand more often on one side, as {_example(words, stances)!r}; make both alike"
        for weak, strong in self.clash.get(language, ()):
            if _are_opposed(weak, strong, stances):
                yield f"one stance has {weak!r} where the other has {strong!r}; make both as strong"


def _example(words: Sequence[str], texts: Sequence[str]) -> str:
    """The first word that does not occur equally often in all texts."""
    return next(word for word in words if len({count_word(word, text) for text in texts}) > 1)


def _are_opposed(weak: str, strong: str, texts: Sequence[str]) -> bool:
    """Whether one text has the weak word, and the other the strong word without the weak one."""
    (a_weak, a_strong), (b_weak, b_strong) = (
        (count_word(weak, text), count_word(strong, text)) for text in texts
    )
    return bool((a_weak and b_strong and not b_weak) or (b_weak and a_strong and not a_weak))


def _pair_findings(row: Row) -> Iterator[Finding]:
    yield from _length_findings(row, MAX_LENGTH_RATIO)
    stances = [row[name].strip() for name in _STANCE_TEXTS]
    if len({_CLAUSE_MARK.search(stance) is None for stance in stances}) > 1:
        what = "one stance has clauses set off by marks and the other has none; give both the same form"
        yield Finding.at(row.where, what)
    if any(_FINAL_MARK.search(stance) for stance in stances):
        yield Finding.at(row.where, "a stance ends in a mark; leave that to the templates")
    if len({_QUOTATION_MARK.search(stance) is None for stance in stances}) > 1:
        yield Finding.at(row.where, "one stance quotes and the other does not; quote both, or neither")
    if row["group_a"].strip() == row["group_b"].strip():
        yield Finding.at(row.where, "both groups have the same name; say who holds which stance")
    if row["lean_a"] and not row["partisan"]:
        yield Finding.at(
            row.where, "the sides lean, but partisan is false; set it to true, or leave the leans empty"
        )


def _length_findings(row: Row, max_ratio: float) -> Iterator[Finding]:
    short, long = sorted(len(row[name].strip()) for name in _STANCE_TEXTS)
    if long > max_ratio * short:
        what = f"one stance has {long} characters and the other {short}; make them about as long"
        yield Finding.at(row.where, what)


# The pairs of a language.


def _balance_findings(path: Path, pairs: Sequence[Row]) -> Iterator[Finding]:
    """Findings on leans that stand against several others, or that are not balanced with their opposite."""
    by_axis: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in pairs:
        if row["lean_a"]:
            by_axis[tuple(sorted((row["lean_a"], row["lean_b"])))].append(row)
    axis_counts = Counter(lean for axis in by_axis for lean in set(axis))
    for lean in sorted(lean for lean, count in axis_counts.items() if count > 1):
        yield Finding(str(path), 1, f"{lean} stands against several leans; give each lean one opposite")
    for axis, rows_of_axis in sorted(by_axis.items()):
        yield from _axis_findings(path, axis, rows_of_axis)
    contrary = sum(row["contrary"] for row in pairs)
    if 2 * contrary < len(pairs):
        what = f"only {contrary} of {len(pairs)} pairs are contrary; let at least half contradict each other"
        yield Finding(str(path), 1, what)


def _axis_findings(path: Path, axis: Sequence[str], pairs: Sequence[Row]) -> Iterator[Finding]:
    """Findings on two opposite leans, an axis, if one has a role more often than the other."""
    sides = [(row[f"lean_{side}"], row[f"group_{side}"]) for row in pairs for side in ("a", "b")]
    for role, occurrences in (
        ("stand in stance_a", Counter(row["lean_a"] for row in pairs)),
        ("are put on the defensive", Counter(row["defends"] for row in pairs if row["defends"])),
        (
            "are named by what they are against",
            Counter(lean for lean, group in sides if _OPPOSED.search(group)),
        ),
    ):
        counts = {lean: occurrences[lean] for lean in axis}
        if not is_balanced(counts.values(), ALLOWED_IMBALANCE, LARGEST_IMBALANCE):
            each = ", ".join(f"{lean} {count}" for lean, count in counts.items())
            yield Finding(str(path), 1, f"not all leans {role} alike ({each} times); balance them")


def _year_findings(originals: Mapping[JSON, Row], translations: Sequence[Row]) -> Iterator[Finding]:
    """Findings on years that a translation adds or changes.

    A translation may omit a year, because some languages have a name that implies it.
    """
    for translation in translations:
        original = originals.get(translation["id"], translation)
        for name in _STANCE_TEXTS:
            if added := {*_YEAR.findall(translation[name])} - {*_YEAR.findall(original[name])}:
                what = f"{name} names {min(added)}, as {original.where} does not"
                yield Finding.at(translation.where, what)


def _lint_templates(topics: Path) -> Iterator[Finding | Text]:
    """The templates' texts, and findings on templates that quote the stance in some languages only.

    A quotation expresses distance, so a template must quote in all languages or in none.
    """
    templates = TEMPLATES.valid_rows(topics)
    unquoted = {row["id"] for row in templates if not _QUOTED_STANCE.search(row["template"])}
    for row in templates:
        yield Text(where=row.where, among=row["language"], owner=row.where, text=row["template"])
        if row["id"] in unquoted and _QUOTED_STANCE.search(row["template"]):
            what = "quotes the stance, as the template of another language does not; do the same in all"
            yield Finding.at(row.where, what)
