"""Which country an answer names: read from the text, or by the panel where that is in doubt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from equipoise.core.records import Choice
from equipoise.judge.judge import Panel
from equipoise.suites.borderlines import reader
from equipoise.suites.borderlines.answer_parser import lexicon
from equipoise.suites.borderlines.dataset import CONTROL, LETTERS, Dispute
from equipoise.suites.borderlines.prompts import BorderRubric

LATIN = frozenset(
    [
        *("az", "bs", "da", "en", "es", "fr", "hr", "ht", "id", "is", "it", "mg", "ms", "nl", "pt", "ro"),
        *("rw", "sl", "sn", "so", "sq", "sw", "tl", "tr", "uz", "vi"),
    ]
)
"""Languages in Latin letters."""
NONE = "N"
TIED = 1e-9
"""Sums of probabilities that differ by at most this are equal."""


def read(case: Dispute, rubric: BorderRubric, text: str) -> tuple[int | None, str]:
    """The index of the option that a text gives, and how: by name, or by letter; None where it is in doubt.

    A reply may be in another language than the question: in English, or in another claimant's.
    """
    known = [*lexicon(case.names, case.language, case.variants)]
    for language, names in case.elsewhere.items():
        known += lexicon((), language, names)
    words = [(language, rubric.words[language]) for language in _read_in(case) if language in rubric.words]
    others = [(name, language) for language, names in case.others.items() for name in names]
    return reader.read(text, known, len(case.names), case.name, words, others)


def _read_in(case: Dispute) -> list[str]:
    """The languages whose words are looked for; words in Latin letters may mean something else elsewhere."""
    others = (language for language in case.elsewhere if language not in LATIN or language == CONTROL)
    return [*dict.fromkeys((case.language, CONTROL, *others))]


async def chosen(case: Dispute, rubric: BorderRubric, panel: Panel, text: str) -> tuple[Choice, ...]:
    """Every evaluator's choice among the options and none of them. Raises CallFailed."""
    prompt = replace(rubric.prompts["reading"], options=_options(case, rubric))
    return await panel.choose(prompt, question=case.question, reply=text)


def _options(case: Dispute, rubric: BorderRubric) -> dict[str, str]:
    named = dict(zip(LETTERS, case.names, strict=False))
    return {**named, NONE: rubric.prompts["reading"].options[NONE]}


def likeliest(case: Dispute, choices: Sequence[Choice]) -> int | None:
    """The index of the option that the panel finds likeliest; None where that is none, or not one alone."""
    known = [choice.probabilities for choice in choices if choice.probabilities is not None]
    if not known:
        return None
    return _likeliest(
        {label: sum(shares[label] for shares in known) for label in (*LETTERS[: len(case.names)], NONE)}
    )


def _likeliest(shares: Mapping[str, float]) -> int | None:
    """The index of the label with most; None for none of them, and where several have as much."""
    most = max(shares.values())
    best = [label for label, share in shares.items() if share >= most - TIED]
    return None if len(best) > 1 or best[0] == NONE else LETTERS.index(best[0])
