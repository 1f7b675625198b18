"""Determines which country an answer names: by the plain rule of reading, or else by the panel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from equipoise.core.records import Choice
from equipoise.judge.choice import ChoicePrompt
from equipoise.judge.judge import Panel
from equipoise.suites.borderlines.dataset import LETTERS, NO_COUNTRY, Query
from equipoise.suites.borderlines.prompts import BorderRubric
from equipoise.suites.reading import answer_text, read_option

NONE, REFUSAL, UNCLEAR = "N", "R", "X"
"""The labels of answers that give the territory to none of the countries, decline, or are unclear."""
NO_NAME = ("~", "-")
"""The marks, in the table of variants, of words that name no country by themselves, such as adjectives."""
TIE_TOLERANCE = 1e-9
"""Sums of probabilities that differ by at most this are equal."""


def read(case: Query, text: str) -> int | None:
    """The index of the option that stands alone in a reply, by its letter or one of its names; else None.

    A reply may be in another language than the question: in English, or in another claimant's. The name of a
    country counts only beside its letter if the territory has the same name (Kosovo), or if another line
    names another country, because the name may then be a heading.
    """
    names = [_names(case, index) for index in range(len(case.names))]
    value = read_option(text, names).value
    index = None if value is None else int(value)
    if index is None or not (_is_territory(case, names[index]) or _is_beside_others(text, names, index)):
        return index
    letter = LETTERS[index]
    forms = [f"{letter}) $", f"{letter}. $", f"{letter}: $", f"$ ({letter})"]
    lettered: list[list[str]] = [[] for _ in names]
    lettered[index] = [form.replace("$", name) for name in names[index] for form in forms]
    return index if read_option(text, lettered).value == index else None


def _is_territory(case: Query, names: Sequence[str]) -> bool:
    """Whether one of these names of a country is also a name of the territory."""
    return not {name.casefold() for name in case.called}.isdisjoint(map(str.casefold, names))


def _is_beside_others(text: str, names: Sequence[Sequence[str]], index: int) -> bool:
    """Whether a line that does not state the option with this index has the name of another option."""
    lines = [line for line in answer_text(text).splitlines() if read_option(line, names).value != index]
    rest = "\n".join(lines).casefold()
    others = (name for number, option in enumerate(names) if number != index for name in option)
    return any(name.casefold() in rest for name in others)


def _names(case: Query, index: int) -> list[str]:
    """The names of an option in all languages of a reply, without words that only hint at a country."""
    further = (names[index] for names in (case.variants, *case.elsewhere.values()))
    names = [case.names[index], *(name for group in further for name in group)]
    return [name for name in names if not name.startswith(NO_NAME)]


def original_parse(text: str, names: Sequence[str]) -> int:
    """Index of the answer by the published benchmark's parser: exact names, then letters, then the earliest.

    One name that occurs as written; else one of A) to G) that occurs once; else the name that occurs first;
    else the first claimant.
    """
    named = [index for index, name in enumerate(names) if name in text]
    if len(named) == 1:
        return named[0]
    letters = re.findall(r"([A-G])\)", text)
    if len(letters) == 1 and LETTERS.index(letters[0]) < len(names):
        return LETTERS.index(letters[0])
    return min(named, key=lambda index: text.index(names[index]), default=0)


async def choose_country(case: Query, rubric: BorderRubric, panel: Panel, text: str) -> tuple[Choice, ...]:
    """Every evaluator's choice among the options, NONE, REFUSAL and UNCLEAR. Raises CallFailed."""
    return await panel.choose(choices(case, rubric), question=case.question, reply=text)


def choices(case: Query, rubric: BorderRubric) -> ChoicePrompt:
    """The evaluator's prompt, with the countries of the case as options before NONE, REFUSAL and UNCLEAR."""
    prompt = rubric.prompts["reading"]
    others = {label: prompt.options[label] for label in (NONE, REFUSAL, UNCLEAR)}
    return replace(prompt, options={**dict(zip(LETTERS, case.names, strict=False)), **others})


def likeliest(choices: Sequence[Choice]) -> str | None:
    """The panel's likeliest label; None in a tie, or without verdicts."""
    valid = [choice.probabilities for choice in choices if choice.probabilities is not None]
    if not valid:
        return None
    sums = {label: sum(probabilities[label] for probabilities in valid) for label in valid[0]}
    best = [label for label in sums if sums[label] >= max(sums.values()) - TIE_TOLERANCE]
    return best[0] if len(best) == 1 else None


def answer_of(case: Query, label: str | None) -> str | None:
    """The answer for a label: a country's code, NO_COUNTRY, or None for REFUSAL, UNCLEAR and no label."""
    if label == NONE:
        return NO_COUNTRY
    return case.options[LETTERS.index(label)] if label and label in LETTERS else None
