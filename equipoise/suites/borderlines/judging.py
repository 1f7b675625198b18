"""Determines which country an answer names: from the text, or by the panel if the text is ambiguous."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from equipoise.core.records import Choice
from equipoise.judge.judge import Panel
from equipoise.suites.borderlines import reader
from equipoise.suites.borderlines.answer_parser import lexicon
from equipoise.suites.borderlines.dataset import CONTROL, LETTERS, Dispute
from equipoise.suites.borderlines.prompts import BorderRubric

LATIN_LANGUAGES = frozenset(
    [
        *("az", "bs", "da", "en", "es", "fr", "hr", "ht", "id", "is", "it", "mg", "ms", "nl", "pt", "ro"),
        *("rw", "sl", "sn", "so", "sq", "sw", "tl", "tr", "uz", "vi"),
    ]
)
"""Languages written in Latin letters."""
NONE = "N"
"""The label of the option that the answer names none of the countries."""
TIE_TOLERANCE = 1e-9
"""Sums of probabilities that differ by at most this are equal."""


def read(case: Dispute, rubric: BorderRubric, text: str) -> tuple[int | None, str]:
    """The index of the option that a text names, None if ambiguous; and how it was read: `name` or `letter`.

    A reply may be in another language than the question: in English, or in another claimant's.
    """
    known = [*lexicon(case.names, case.language, case.variants)]
    for language, names in case.elsewhere.items():
        known += lexicon((), language, names)
    words = [
        (language, rubric.words[language]) for language in _reply_languages(case) if language in rubric.words
    ]
    other_places = [(name, language) for language, names in case.others.items() for name in names]
    return reader.read(text, known, len(case.names), case.name, words, other_places)


def _reply_languages(case: Dispute) -> list[str]:
    """The languages whose words are searched for in a reply: the case's, English, and the other claimants'.

    Of these others, those in Latin letters are left out: their words may mean something else in another
    language.
    """
    others = (
        language for language in case.elsewhere if language not in LATIN_LANGUAGES or language == CONTROL
    )
    return [*dict.fromkeys((case.language, CONTROL, *others))]


async def choose_country(case: Dispute, rubric: BorderRubric, panel: Panel, text: str) -> tuple[Choice, ...]:
    """Every evaluator's choice among the options and NONE. Raises CallFailed."""
    prompt = replace(rubric.prompts["reading"], options=_options(case, rubric))
    return await panel.choose(prompt, question=case.question, reply=text)


def _options(case: Dispute, rubric: BorderRubric) -> dict[str, str]:
    countries = dict(zip(LETTERS, case.names, strict=False))
    return {**countries, NONE: rubric.prompts["reading"].options[NONE]}


def likeliest(case: Dispute, choices: Sequence[Choice]) -> int | None:
    """The index of the panel's likeliest option; None for NONE, in a tie, or without verdicts."""
    valid = [choice.probabilities for choice in choices if choice.probabilities is not None]
    if not valid:
        return None
    labels = (*LETTERS[: len(case.names)], NONE)
    sums = {label: sum(probabilities[label] for probabilities in valid) for label in labels}
    best = [label for label in labels if sums[label] >= max(sums.values()) - TIE_TOLERANCE]
    return None if len(best) > 1 or best[0] == NONE else LETTERS.index(best[0])
