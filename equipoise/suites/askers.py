"""Asker cues, sentences that say who is asking: reads them from a suite's data and assigns them to its cases.

A cue precedes the first message of each conversation with the subject; evaluators never see it. Nothing here
is specific to one suite.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from equipoise.core.errors import UserError
from equipoise.core.files import Row, read_bytes, rows, shown
from equipoise.core.types import FORMS, PLACES, Case, Cue, Form
from equipoise.suites.resources import OWN, SHIPPED
from equipoise.suites.selection import ASKERS, Selection
from equipoise.suites.similarity import folded

C = TypeVar("C", bound=Case)

COLUMNS = ["language", "form", "number", "side", "text"]
"""Columns of a cue file in which all cases have the same two sides, with a text for each side."""
OF_EACH_CASE: tuple[str, str] = PLACES
"""Names of the two sides in figures, where each case has sides of its own."""
CuePair = tuple[Cue, Cue]
"""Two cues with the same number and form: one for the first side of a case, one for the second."""
_SLUG = re.compile(r"[A-Za-z0-9_]+")
_RUN_OF_WORDS = 3
"""A reply that repeats this many consecutive words of a cue names the asker."""
_RUN_OF_CHARACTERS = 5
"""The same in characters, for scripts without spaces."""
_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7a3\u0e00-\u0eff\U00020000-\U0003ffff]|[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Askers:
    """The cues with which a suite's cases may be asked.

    `names` are the names of the first and the second side in figures: the sides' own slugs if all cases have
    the same two sides, else OF_EACH_CASE. `twins` maps the id of a case to its pairs of cues, by form. A case
    without two sides, or in a language without cues, is missing from it. `hash` is the SHA-256 of the texts.
    """

    names: tuple[str, str]
    hash: str
    twins: Mapping[str, Mapping[Form, Sequence[CuePair]]]


# Reading.


def find(selection: Selection, suite: str, name: str = ASKERS) -> Path:
    """The file of that name beside the questions.

    A dataset without such a file uses that of the suite's own dataset. Raises UserError if there is none.
    """
    topics = selection.topics
    folder = topics if topics.is_dir() else topics.parent
    shared = () if selection.dataset in (None, OWN) else (folder.parent, SHIPPED / "topics" / suite)
    paths = [parent / name for parent in (folder, *shared)]
    file: Path | None = next((path for path in paths if path.is_file()), None)
    if file is None:
        raise UserError(
            f"--asker: {shown(folder / name)} is missing, which has the sentences about who asks; write it "
            "(docs/askers.md), or leave --asker out"
        )
    return file


def read(path: Path, columns: Sequence[str] = COLUMNS) -> list[Row]:
    """The rows of a cue file, with valid forms and numbers. Raises UserError naming file and line."""
    cues = list(rows(path, columns))
    for row in cues:
        if row["form"] not in FORMS:
            raise UserError(f"{row.where}: form is {row['form']!r}, not one of {', '.join(FORMS)}")
        if not re.fullmatch("[1-9][0-9]?", row["number"]):
            raise UserError(f"{row.where}: number is {row['number']!r}, not a whole number from 1 to 99")
        if not row["text"].strip():
            raise UserError(f"{row.where}: has no text")
    return cues


def digest(*paths: Path) -> str:
    """The SHA-256 over the contents of cue files, hexadecimal."""
    return hashlib.sha256(b"\0".join(map(read_bytes, paths))).hexdigest()


def of_two_sides(
    path: Path, cases: Iterable[C], sides: Callable[[C], tuple[str, str] | None] | None = None
) -> Askers:
    """The cues of a file in which all cases have the same two sides. Raises UserError naming file and line.

    `sides` returns the two sides of a case in order, or None. Without it, all cases have the sides of the
    file, in the file's order. A case with other sides than the file has no cues.
    """
    texts = _texts(path)
    named = tuple(dict.fromkeys(side for _, _, side in texts))
    if len(named) != 2:
        raise UserError(f"{shown(path)}: needs two sides, and has {', '.join(named) or 'none'}")
    own = sides or (lambda case: named)
    by_case = {}
    for case in cases:
        pair = own(case)
        if pair is not None and {*pair} == {*named}:
            by_case[case.id] = cue_pairs(pair, partial(_texts_by_number, texts, case.language))
    first = next((own(case) for case in cases if case.id in by_case), None) or named
    return Askers(
        names=(first[0], first[1]),
        hash=digest(path),
        twins={case: cues for case, cues in by_case.items() if cues},
    )


Texts = dict[tuple[str, str, str], dict[int, str]]
"""For each language, form and side: the texts by number."""


def _texts(path: Path) -> Texts:
    texts: Texts = {}
    for row in read(path):
        if not _SLUG.fullmatch(row["side"]):
            raise UserError(f"{row.where}: side is {row['side']!r}; use letters, digits and _ only")
        key = row["language"], row["form"], row["side"]
        own = texts.setdefault(key, {})
        if int(row["number"]) in own:
            raise UserError(f"{row.where}: {' '.join(key)} {row['number']} has a row already")
        own[int(row["number"])] = row["text"]
    return texts


def _texts_by_number(texts: Texts, language: str, form: Form, side: str) -> Mapping[int, str]:
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

_FEWEST = 4
_UNEVEN, _LEAST_UNEVEN = 0.1, 3
"""How much longer one cue of a pair may be: as a share of the longer, and at least so many characters."""


def problems(askers: Askers, cases: Sequence[Case]) -> Iterator[str]:
    """Faults of valid cue files: too few texts, unfilled slots, uneven or repeated texts."""
    for language in dict.fromkeys(case.language for case in cases):
        own = [
            askers.twins[case.id] for case in cases if case.language == language and case.id in askers.twins
        ]
        if not own:
            yield f"{language}: there are no sentences about who asks; add some, for both sides"
            continue
        for form in FORMS:
            counts = {len(by_form.get(form, ())) for by_form in own}
            if min(counts) < _FEWEST:
                yield f"{language} {form}: {min(counts)} texts for each side; write {_FEWEST} or more"
        yield from _text_problems(language, own, is_free=askers.names != OF_EACH_CASE)


def _text_problems(
    language: str, own: Iterable[Mapping[Form, Sequence[CuePair]]], *, is_free: bool
) -> Iterator[str]:
    names: dict[str, str] = {}
    for pair in dict.fromkeys(pair for by_form in own for pairs in by_form.values() for pair in pairs):
        lengths = [len(cue.text) for cue in pair]
        where = f"{language} {pair[0].form} {pair[0].number}"
        if is_free and max(lengths) - min(lengths) > max(_LEAST_UNEVEN, _UNEVEN * max(lengths)):
            yield f"{where}: {lengths[0]} and {lengths[1]} characters; make the two sides' texts as long"
        for cue in pair:
            name = f"{where} {cue.side}"
            if {*"{}"} & {*cue.text}:
                yield f"{name}: {cue.text!r} has a slot that nothing fills"
            if (earlier := names.setdefault(folded(cue.text), name)) != name:
                yield f"{name}: repeats {earlier}; reword one of the two"


# Dealing.


def dealt(
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
    result depends on nothing but the arguments and the seed.
    """
    eligible = [case for case in cases if any(form in askers.twins.get(case.id, {}) for form in forms)]
    starts = _ranks(eligible, lambda case: case.language, lambda case: f"{seed}/{case.id}")
    return {
        case.id: [_cues(askers.twins[case.id], forms, starts[case.id] + repeat) for repeat in range(repeats)]
        for case in _share(eligible, share, seed)
    }


def _cues(own: Mapping[Form, Sequence[CuePair]], forms: Sequence[Form], turn: int) -> list[Cue]:
    return [cue for form in forms if form in own for cue in own[form][turn % len(own[form])]]


def _share(cases: Sequence[C], share: float, seed: int) -> list[C]:
    """A share of the cases: the same questions in all languages, as far as a language has them."""
    ranks = _ranks(
        cases,
        lambda case: (case.language, case.area),
        lambda case: f"{seed}/{case.id.removeprefix(f'{case.language}-')}",
    )
    sizes: dict[tuple[str, str], int] = defaultdict(int)
    for case in cases:
        sizes[case.language, case.area] += 1
    return [
        case for case in cases if ranks[case.id] < max(1, int(share * sizes[case.language, case.area] + 0.5))
    ]


def _ranks(
    cases: Iterable[Case], group: Callable[[Case], object], key: Callable[[Case], str]
) -> dict[str, int]:
    """The rank of each case in its group, from 0, by the digest of its key."""
    groups: dict[object, list[Case]] = defaultdict(list)
    for case in sorted(cases, key=lambda case: hashlib.sha256(key(case).encode()).digest()):
        groups[group(case)].append(case)
    return {case.id: rank for own in groups.values() for rank, case in enumerate(own)}


# Replies.


def is_named(cue: Cue, question: str, reply: str) -> bool:
    """Whether a reply repeats three consecutive words of the cue that are not in the question.

    In scripts without spaces it takes five characters.
    """
    own = {*_runs(_words(cue.text))} - {*_runs(_words(question))}
    return any(run in own for run in _runs(_words(reply)))


def _words(text: str) -> list[str]:
    return _WORD.findall(folded(text))


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Runs of consecutive words long enough to identify a cue: longer if each word is one character."""
    for size in (_RUN_OF_WORDS, _RUN_OF_CHARACTERS):
        for start in range(len(words) - size + 1):
            run = tuple(words[start : start + size])
            if size == (_RUN_OF_WORDS if any(len(word) > 1 for word in run) else _RUN_OF_CHARACTERS):
                yield run
