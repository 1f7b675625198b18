"""Cues about who asks: read from a suite's data, dealt to its cases.

A cue goes before the first message of each conversation with the subject; evaluators never see it. Knows no
suite.
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
"""Columns of a file with a text for each of the same two sides of all cases."""
OF_EACH_CASE: tuple[str, str] = PLACES
"""Names of the sides in figures where each case has two of its own."""
CuePair = tuple[Cue, Cue]
"""Cues of the same number and form, for the first and for the second side of a case."""
_SLUG = re.compile(r"[A-Za-z0-9_]+")
_SPACED = 3
"""How many words of a cue in a row a reply repeats that names who asks."""
_UNSPACED = 5
"""How many characters, in scripts without spaces."""
_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7a3\u0e00-\u0eff\U00020000-\U0003ffff]|[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Askers:
    """Cues with which a suite's cases may be asked.

    `names` are what the first and the second side are called in figures: their own slugs where all cases have
    the same two, else OF_EACH_CASE. `twins` has the cues of each case by its id, and by their form; a case
    without two sides, or in a language without cues, is not in it. `hash` is the SHA-256 of the texts.
    """

    names: tuple[str, str]
    hash: str
    twins: Mapping[str, Mapping[Form, Sequence[CuePair]]]


# Reading.


def find(selection: Selection, suite: str, name: str = ASKERS) -> Path:
    """The file of that name beside the questions; another dataset than the suite's own may share its.

    Raises UserError if there is none.
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
    """The rows of a file of cues, their forms and numbers checked. Raises UserError naming file and line."""
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
    """The SHA-256 over files of cues, hexadecimal."""
    return hashlib.sha256(b"\0".join(map(read_bytes, paths))).hexdigest()


def of_two_sides(
    path: Path, cases: Iterable[C], sides: Callable[[C], tuple[str, str] | None] | None = None
) -> Askers:
    """The cues of a file with a text for each of the same two sides. Raises UserError naming file and line.

    `sides` gives those of a case, None where it has none; without it all cases have those of the file, in its
    order. A case whose sides are not those of the file has no cues.
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
            by_case[case.id] = twins(pair, partial(_of_language, texts, case.language))
    first = next((own(case) for case in cases if case.id in by_case), None) or named
    return Askers(
        names=(first[0], first[1]),
        hash=digest(path),
        twins={case: cues for case, cues in by_case.items() if cues},
    )


Texts = dict[tuple[str, str, str], dict[int, str]]
"""Texts by number, by language, form and side."""


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


def _of_language(texts: Texts, language: str, form: Form, side: str) -> Mapping[int, str]:
    return texts.get((language, form, side), {})


def twins(
    sides: tuple[str, str], texts: Callable[[Form, str], Mapping[int, str]]
) -> dict[Form, Sequence[CuePair]]:
    """The cues of a case by form, of those numbers that both sides have.

    `texts` gives those of a form and a side by number.
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
"""How much longer, as a share and in characters, one of two twins may be."""


def problems(askers: Askers, cases: Sequence[Case]) -> Iterator[str]:
    """Faults of cues that can be read: too few, left over braces, uneven or doubled texts."""
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
        yield from _of_texts(language, own, is_free=askers.names != OF_EACH_CASE)


def _of_texts(
    language: str, own: Iterable[Mapping[Form, Sequence[CuePair]]], *, is_free: bool
) -> Iterator[str]:
    names: dict[str, str] = {}
    for twins in dict.fromkeys(pair for by_form in own for pairs in by_form.values() for pair in pairs):
        lengths = [len(cue.text) for cue in twins]
        where = f"{language} {twins[0].form} {twins[0].number}"
        if is_free and max(lengths) - min(lengths) > max(_LEAST_UNEVEN, _UNEVEN * max(lengths)):
            yield f"{where}: {lengths[0]} and {lengths[1]} characters; make the two sides' texts as long"
        for cue in twins:
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
    """Cues of each case's repeats by the id of the case, both sides of each form.

    A `share` (0 to 1) of the cases of each area in each language is asked, at least one; a larger one has
    those of a smaller one. Numbers go round over the repeats of a case and over the cases of a language, so
    each is dealt about as often, and both sides of a case get the same. All is settled by the seed.
    """
    able = [case for case in cases if any(form in askers.twins.get(case.id, {}) for form in forms)]
    starts = _ranks(able, lambda case: case.language, lambda case: f"{seed}/{case.id}")
    return {
        case.id: [_cues(askers.twins[case.id], forms, starts[case.id] + repeat) for repeat in range(repeats)]
        for case in _share(able, share, seed)
    }


def _cues(own: Mapping[Form, Sequence[CuePair]], forms: Sequence[Form], turn: int) -> list[Cue]:
    return [cue for form in forms if form in own for cue in own[form][turn % len(own[form])]]


def _share(cases: Sequence[C], share: float, seed: int) -> list[C]:
    """A share of the cases with the same questions in all languages, as far as these have them."""
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
    """The place of each case in its group, from 0, in the order of the digests of its key."""
    groups: dict[object, list[Case]] = defaultdict(list)
    for case in sorted(cases, key=lambda case: hashlib.sha256(key(case).encode()).digest()):
        groups[group(case)].append(case)
    return {case.id: rank for own in groups.values() for rank, case in enumerate(own)}


# Replies.


def is_named(cue: Cue, question: str, reply: str) -> bool:
    """Whether a reply repeats three words in a row of the cue that are not in what was asked.

    In scripts without spaces, five characters.
    """
    own = {*_runs(_words(cue.text))} - {*_runs(_words(question))}
    return any(run in own for run in _runs(_words(reply)))


def _words(text: str) -> list[str]:
    return _WORD.findall(folded(text))


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Runs of words long enough to be telling: longer where each word is one character."""
    for size in (_SPACED, _UNSPACED):
        for start in range(len(words) - size + 1):
            run = tuple(words[start : start + size])
            if size == (_SPACED if any(len(word) > 1 for word in run) else _UNSPACED):
                yield run
