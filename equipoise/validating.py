"""Data held against what all data must meet: the loaders' rules, tidy files, and fair, distinct questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from equipoise import (
    deck_checks,
    facts,
    material,
    originals,
    pairs,
    published_disputes,
    scenarios,
    suites,
    tidiness,
)
from equipoise.errors import UserError
from equipoise.home import is_only_fetched
from equipoise.selection import Selection
from equipoise.tidiness import Finding

TOPICS = Path("topics")
"""What is looked at where nothing is named."""
_SIGNS = {
    "borderlines": ("territories.csv", published_disputes.FILE),
    "chinese_simpleqa": (facts.QUESTIONS, facts.PUBLISHED),
    "politicsbench": (scenarios.QUESTIONS, scenarios.PUBLISHED),
    "even_handedness": (pairs.TEMPLATE_FILE, pairs.PUBLISHED_FILE),
    "neutrality": ("*.txt",),
}
"""The files that tell a suite's deck, in the order in which they are looked for."""
_WEAK = "neutrality"
"""The suite whose sign may be any text."""
Deck = tuple[str, Path]
"""A suite, and the folder or file that it reads."""


def validate(paths: Sequence[Path]) -> tuple[list[Finding], int]:
    """All findings, by file and line, and how many files were looked at. Raises UserError for odd paths."""
    try:
        return _validate(list(paths) or [_default()])
    except OSError as error:
        raise UserError(f"{error.filename}: cannot be read ({error.strerror})") from None


def _validate(wanted: Sequence[Path]) -> tuple[list[Finding], int]:
    decks = dict.fromkeys(deck for path in wanted for deck in _decks(path))
    files = dict.fromkeys(file for path in wanted for file in tidiness.text_files(path, originals.DECK))
    found = [finding for path in files for finding in tidiness.untidy(path)]
    found += [finding for deck in decks for finding in _of_deck(*deck)]
    return sorted(dict.fromkeys(found)), len(files)


def _default() -> Path:
    if not TOPICS.is_dir():
        raise UserError(f"{TOPICS}: no such folder here; name the folders or files to look at")
    return TOPICS


# Which suite.


def _decks(path: Path) -> list[Deck]:
    """The decks at a path. Raises UserError where there are none."""
    if path.is_file():
        return [_of_file(path)]
    if not path.is_dir():
        raise UserError(f"{path}: no such file or folder; name a deck, or a file of questions")
    found = list(_below(path))
    if not found:
        raise UserError(f"{path}: has the data of no suite; name one of {', '.join(suites.names())}")
    return found


def _below(folder: Path) -> Iterator[Deck]:
    """The folder itself where it is a deck, else those in it; published ones only where they are named.

    Both where a text file is all that tells: it may be somebody's notes.
    """
    suite = _by_content(folder)
    if suite:
        yield suite, folder
    if suite and suite != _WEAK:
        return
    inner = [item for item in sorted(folder.iterdir()) if item.is_dir() and item.name != originals.DECK]
    found = [deck for item in inner if not item.name.startswith(".") for deck in _below(item)]
    if suite:
        yield from (deck for deck in found if _is_sure(deck[1]))
        return
    named = None if is_only_fetched(folder) else _by_name(folder)
    yield from found or ([(named, folder)] if named else [])


def _by_content(folder: Path) -> str | None:
    return next(
        (suite for suite, signs in _SIGNS.items() if any(any(folder.glob(sign)) for sign in signs)), None
    )


def _is_sure(folder: Path) -> bool:
    """Whether a folder is a deck by what it holds or is called, not only by what it lies in."""
    return folder.name in suites.names() or _by_content(folder) is not None


def _by_name(folder: Path) -> str | None:
    names = (folder.resolve().name, folder.resolve().parent.name)
    return next((name for name in names if name in suites.names()), None)


def _of_file(path: Path) -> Deck:
    """A file that can be read alone. Raises UserError for all others."""
    if path.suffix == ".txt" and path.name != scenarios.PUBLISHED:
        return "neutrality", path
    if path.suffix == ".jsonl" and not any("stages" in data for _, data in material.objects(path)):
        return "chinese_simpleqa", path
    raise UserError(f"{path}: cannot be read alone; name its folder, {path.parent}")


# What is wrong.


def _of_deck(suite: str, deck: Path) -> Iterator[Finding]:
    refused = list(_refused(suite, deck))
    yield from refused
    told = {(item.path, item.line) for item in refused if item.what.startswith("repeats ")}
    yield from (item for item in deck_checks.repeats(suite, deck) if (item.path, item.line) not in told)
    for check in deck_checks.OF_SUITES.get(suite, ()):
        try:
            yield from check(deck)
        except UserError as error:
            yield tidiness.of_error(error, deck)


def _refused(suite: str, deck: Path) -> Iterator[Finding]:
    """What the suite's loader refuses, for which it stops, and ids that it gives twice."""
    options = {"answer_format": "choice"} if suite == "chinese_simpleqa" and _has_choices(deck) else {}
    try:
        cases = suites.load(suite).cases(Selection(topics=deck, options=options))
    except UserError as error:
        yield tidiness.of_error(error, deck)
        return
    for name, count in Counter(case.id for case in cases).items():
        if count > 1:
            yield Finding(str(deck), 1, f"{count} cases have the id {name!r}; rename all but one")


def _has_choices(deck: Path) -> bool:
    try:
        return any("distractors" in data for _, data in material.objects(material.facts_file(deck)))
    except UserError:
        return False
