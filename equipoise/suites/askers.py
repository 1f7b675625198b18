"""Asker cues, sentences that say who is asking: reads, checks and deals them, and recognises them in replies.

A cue precedes the first message of each conversation with the subject; evaluators never see it. Nothing here
is specific to one suite.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.types import FORMS, JSON, PLACES, Case, Cue, Form
from equipoise.suites import tables
from equipoise.suites.resources import contents_hash
from equipoise.suites.scripts import script_faults
from equipoise.suites.selection import ASKERS, Selection, folder_of, shared_file
from equipoise.suites.similarity import folded
from equipoise.suites.tables import Table

C = TypeVar("C", bound=Case)

OF_EACH_CASE: tuple[str, str] = PLACES
"""The names of the two sides in figures, if each case has sides of its own."""
CuePair = tuple[Cue, Cue]
"""Two cues with the same number and form: one for the first side of a case, one for the second."""
CueTexts = dict[tuple[str, str, str], dict[int, str]]
"""For each language, form and side: the texts by number."""


def _side(cell: JSON) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_]+", str(cell)):
        raise ValueError(f"is {cell!r}; use letters, digits and _ only")
    return str(cell)


def cue_table(*columns: str) -> Table:
    """The table of cues with these columns: `text` is the cue, and the other columns identify it."""
    cell_types = {"form": tables.one_of(*FORMS), "number": tables.number, "side": _side}
    return Table(
        file=ASKERS,
        row="sentence",
        columns={name: cell_types.get(name, tables.text) for name in columns},
        unique=[tuple(name for name in columns if name != "text")],
    )


SIDE_CUES = cue_table("language", "form", "number", "side", "text")
"""The cues where all cases have the same two sides, with a text for each side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Askers:
    """The cues with which a suite's cases may be asked.

    `names` are the names of the first and the second side in figures: the sides' own slugs if all cases have
    the same two sides, else OF_EACH_CASE. `twins` maps the id of a case to its pairs of cues, by form; cases
    without two sides, or in a language without cues, have no entry. `hash` is the SHA-256 of the cue files.
    """

    names: tuple[str, str]
    hash: str
    twins: Mapping[str, Mapping[Form, Sequence[CuePair]]]


# Reading.


def cue_file(selection: Selection, suite: str, name: str = ASKERS) -> Path:
    """The file `name` of cues for the selected questions, see `shared_file`. Raises UserError without one."""
    path = shared_file(name, selection.topics, suite, selection.dataset)
    if path is None:
        expected = shown(folder_of(selection.topics) / name)
        raise UserError(
            f"--asker: {expected} is missing, the file of sentences that say who asks; write it "
            "(docs/personas.md), or leave --asker out"
        )
    return path


def of_two_sides(
    path: Path, cases: Iterable[C], sides: Callable[[C], tuple[str, str] | None] | None = None
) -> Askers:
    """The cues of a file in which all cases have the same two sides. Raises UserError naming file and line.

    `sides` returns the two sides of a case in order, or None. Without it, all cases have the sides of the
    file, in the file's order. A case with other sides than the file has no cues.
    """
    texts = _texts(path)
    file_sides = tuple(dict.fromkeys(side for _, _, side in texts))
    if len(file_sides) != 2:
        raise UserError(f"{shown(path)}: needs two sides, and has {', '.join(file_sides)}")
    names: tuple[str, str] | None = None
    twins = {}
    for case in cases:
        pair = file_sides if sides is None else sides(case)
        if pair is not None and {*pair} == {*file_sides}:
            # Figures have the order of the first such case.
            names = names or pair
            if pairs := cue_pairs(pair, partial(_texts_by_number, texts, case.language)):
                twins[case.id] = pairs
    return Askers(names=names or file_sides, hash=contents_hash([path]), twins=twins)


def of_pairs_of_sides(path: Path, cases: Iterable[Case]) -> Askers:
    """The cues of a file with several pairs of sides; each case is dealt one of the pairs.

    The first two sides of the file are a pair, the next two another, and so on. The id of a case decides its
    pair, so that a side is compared with its own twin only. A file with two sides is read as by
    `of_two_sides`. Raises UserError naming file and line.
    """
    texts = _texts(path)
    file_sides = list(dict.fromkeys(side for _, _, side in texts))
    if len(file_sides) == 2:
        return of_two_sides(path, cases)
    if len(file_sides) % 2:
        raise UserError(f"{shown(path)}: needs pairs of sides, and has {', '.join(file_sides)}")
    pairs = list(zip(file_sides[::2], file_sides[1::2], strict=True))
    twins = {}
    for case in cases:
        digest = hashlib.sha256(case.id.encode()).digest()
        pair = pairs[int.from_bytes(digest[:8]) % len(pairs)]
        if cues := cue_pairs(pair, partial(_texts_by_number, texts, case.language)):
            twins[case.id] = cues
    return Askers(names=OF_EACH_CASE, hash=contents_hash([path]), twins=twins)


def _texts(path: Path) -> CueTexts:
    texts: CueTexts = {}
    for row in SIDE_CUES.read(path):
        texts.setdefault((row["language"], row["form"], row["side"]), {})[row["number"]] = row["text"]
    return texts


def _texts_by_number(texts: CueTexts, language: str, form: Form, side: str) -> Mapping[int, str]:
    return texts.get((language, form, side), {})


def cue_pairs(
    sides: tuple[str, str], texts: Callable[[Form, str], Mapping[int, str]]
) -> dict[Form, Sequence[CuePair]]:
    """The pairs of cues of a case, by form. A number that only one side has is left out.

    `texts` returns the texts of a form and a side, by number.
    """
    by_form: dict[Form, Sequence[CuePair]] = {}
    for form in FORMS:
        first, second = (texts(form, side) for side in sides)
        pairs = [
            (
                Cue(side=sides[0], place="first", form=form, number=number, text=first[number]),
                Cue(side=sides[1], place="second", form=form, number=number, text=second[number]),
            )
            for number in sorted(first.keys() & second.keys())
        ]
        if pairs:
            by_form[form] = pairs
    return by_form


# Checking.

_MIN_PAIRS = 4
_LENGTH_SHARE, _LENGTH_CHARACTERS = 0.1, 3
"""The maximum difference in length of a pair's texts: this share of the longer text or this number, whichever
is more."""
_YEAR = re.compile(r"(?<!\d)(?:1\d|20)\d\d(?!\d)")


def problems(askers: Askers, cases: Sequence[Case]) -> Iterator[str]:
    """Faults of valid cue files: too few or repeated texts, unfilled slots, uneven lengths, unequal years."""
    for language in dict.fromkeys(case.language for case in cases):
        twins = [
            askers.twins[case.id] for case in cases if case.language == language and case.id in askers.twins
        ]
        if not twins:
            yield f"{language}: there are no sentences about who asks; add some, for both sides"
            continue
        for form in FORMS:
            fewest = min(len(by_form.get(form, ())) for by_form in twins)
            if fewest < _MIN_PAIRS:
                yield f"{language} {form}: {fewest} texts for each side; write {_MIN_PAIRS} or more"
        pairs = dict.fromkeys(pair for by_form in twins for pairs in by_form.values() for pair in pairs)
        # The lengths of texts with slots for each case's sides depend on the names in them.
        yield from _text_problems(language, pairs, has_slots=askers.names == OF_EACH_CASE)


def _text_problems(language: str, pairs: Iterable[CuePair], *, has_slots: bool) -> Iterator[str]:
    first_names: dict[str, str] = {}
    for pair in pairs:
        lengths = [len(cue.text) for cue in pair]
        where = f"{language} {pair[0].form} {pair[0].number}"
        allowance = max(_LENGTH_CHARACTERS, _LENGTH_SHARE * max(lengths))
        if not has_slots and max(lengths) - min(lengths) > allowance:
            yield f"{where}: {lengths[0]} and {lengths[1]} characters; make the two sides' texts equally long"
        if len({frozenset(_YEAR.findall(cue.text)) for cue in pair}) > 1:
            yield f"{where}: the two sides' texts name different years; make them the same"
        for cue in pair:
            name = f"{where} {cue.side}"
            yield from (f"{name}: {fault}" for fault in script_faults(language, cue.text))
            if {*"{}"} & {*cue.text}:
                yield f"{name}: {cue.text!r} has a slot that nothing fills"
            if (earlier := first_names.setdefault(folded(cue.text), name)) != name:
                yield f"{name}: repeats {earlier}; reword one of the two"


# Dealing.


def deal(
    askers: Askers,
    cases: Sequence[Case],
    *,
    forms: Sequence[Form],
    share: float,
    repeats: int,
    seed: int,
) -> dict[str, list[list[Cue]]]:
    """The cues of each repeat of a case, by the id of the case; a repeat has both sides of each form.

    A `share` (0 to 1) of the cases of each area in each language gets cues, and at least one case. A larger
    share contains the cases of a smaller one. Numbers rotate over the repeats of a case and over the cases of
    a language, so that each number is used about equally often. Both sides of a case get the same number. The
    result depends on nothing but the arguments.
    """
    eligible = [case for case in cases if any(form in askers.twins.get(case.id, {}) for form in forms)]
    starts = _ranks(eligible, lambda case: case.language, lambda case: f"{seed}/{case.id}")
    return {
        case.id: [
            _repeat_cues(askers.twins[case.id], forms, starts[case.id] + repeat) for repeat in range(repeats)
        ]
        for case in _sample(eligible, share, seed)
    }


def _repeat_cues(by_form: Mapping[Form, Sequence[CuePair]], forms: Sequence[Form], turn: int) -> list[Cue]:
    """The cues of one repeat: of each form, the pair whose turn it is."""
    pairs = [by_form[form] for form in forms if form in by_form]
    return [cue for own in pairs for cue in own[turn % len(own)]]


def _sample(cases: Sequence[C], share: float, seed: int) -> list[C]:
    """A share of the cases: the same questions in every language that has them."""
    ranks = _ranks(
        cases,
        lambda case: (case.language, case.area),
        # The language is left out, so that the order is the same in all languages.
        lambda case: f"{seed}/{case.id.removeprefix(f'{case.language}-')}",
    )
    sizes = Counter((case.language, case.area) for case in cases)
    return [
        case for case in cases if ranks[case.id] < max(1, int(share * sizes[case.language, case.area] + 0.5))
    ]


def _ranks(
    cases: Iterable[Case], group: Callable[[Case], object], key: Callable[[Case], str]
) -> dict[str, int]:
    """The rank of each case in its group, from 0, in a random order that the hashes of the keys decide."""
    groups: dict[object, list[Case]] = defaultdict(list)
    for case in sorted(cases, key=lambda case: hashlib.sha256(key(case).encode()).digest()):
        groups[group(case)].append(case)
    return {case.id: rank for members in groups.values() for rank, case in enumerate(members)}


# Replies.

_PHRASE_WORDS, _PHRASE_CHARACTERS = 3, 5
"""The length of a phrase by which a cue is recognised: in words; in characters of scripts without spaces."""
_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7a3\u0e00-\u0eff\U00020000-\U0003ffff]|[^\W_]+")
"""A word, or a character of a script without spaces, such as Chinese or Thai; Korean is read likewise."""


def names_asker(cue: Cue, question: str, reply: str) -> bool:
    """Whether a reply repeats a phrase of the cue that is not in the question.

    A phrase is three consecutive words, or five characters in scripts without spaces.
    """
    phrases = {*_phrases(cue.text)} - {*_phrases(question)}
    return any(phrase in phrases for phrase in _phrases(reply))


def _phrases(text: str) -> Iterator[tuple[str, ...]]:
    words = _WORD.findall(folded(text))
    for size in (_PHRASE_WORDS, _PHRASE_CHARACTERS):
        for start in range(len(words) - size + 1):
            phrase = tuple(words[start : start + size])
            is_of_characters = all(len(word) == 1 for word in phrase)
            if size == (_PHRASE_CHARACTERS if is_of_characters else _PHRASE_WORDS):
                yield phrase
