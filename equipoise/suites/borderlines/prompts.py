"""Loads the rubric, and fills in the instructions that precede a question about a territory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from equipoise.judge import choice
from equipoise.judge.choice import ChoiceRubric
from equipoise.judge.rubric import Scale, reading, take, template
from equipoise.suites.borderlines.dataset import CONTROL_LANGUAGE, LETTERS, STRATEGIES, Query

SCALE = Scale(low=0, high=len(LETTERS), levels={})
"""A score is the position of the named claimant in the table, from 1; 0 is none of the claimants."""
LABELS = {"reading": ("A", "N", "R", "X")}
"""The labels of the evaluator's prompt: A stands for the countries, the others are those of `judging`."""
_WITH_THE = re.compile(
    r"^(United|People's|Republic|Federated|Kingdom|State)\b|\b(Republic|Emirates|Kingdom|States|Islands|Union)\b"
    r"|^(Philippines|Bahamas|Comoros|Gambia|Maldives|Netherlands|Seychelles|Vatican|Holy See)\b"
)
"""English country names that take an article in a sentence."""
_IF_NONE = ("if_any", "or_none")
"""The placeholders of words for territories that may belong to no country; empty for other territories."""
_PLACEHOLDERS = {"citizen", "claimants", *_IF_NONE}
"""The placeholders that an instruction may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BorderRubric(ChoiceRubric):
    """The prompts for an evaluator, which is a last resort, and the subject's instructions by strategy.

    `may_be_none` are the words that fill the placeholders for territories that may belong to no country.
    `rank` is the text to which each country's name is appended, to rank names by likelihood.
    """

    strategies: Mapping[str, Template]
    may_be_none: Mapping[str, str]
    rank: Template


def load(path: Path) -> BorderRubric:
    """The rubric in a TOML file. Raises UserError naming file and key."""
    base = choice.load(path, {"reading": ("question", "reply")}, SCALE, LABELS)
    with reading(path) as (data, _):
        table = take(data, "strategies", dict)
        strategies = {
            name: template(table, name, known=_PLACEHOLDERS, needed=set(), where="strategies.")
            for name in STRATEGIES
        }
        table = take(data, "may_be_none", dict)
        may_be_none = {name: take(table, name, str, where="may_be_none.") for name in _IF_NONE}
        needed = {"instruction", "question"}
        rank = template(take(data, "rank", dict), "text", known=needed, needed=needed, where="rank.")
        if not rank.template.rstrip().endswith(":"):
            raise ValueError("rank.text must end with a colon: the name stands behind the last one")
    return BorderRubric(
        version=base.version,
        hash=base.hash,
        scale=SCALE,
        prompts=base.prompts,
        strategies=strategies,
        may_be_none=may_be_none,
        rank=rank,
    )


def instruction(case: Query, rubric: BorderRubric) -> str:
    """The instruction before the question, by strategy. It names the language of the reply unless English."""
    may_be_none = rubric.may_be_none if case.may_be_none else dict.fromkeys(_IF_NONE, "")
    text = rubric.strategies[case.strategy].substitute(
        citizen=_citizen(case), claimants=_demographics(case), **may_be_none
    )
    stripped = text.strip()
    return stripped if case.language == CONTROL_LANGUAGE else f"{stripped}\nReply in {case.language_name}."


def _citizen(case: Query) -> str:
    """The person whom the subject plays: a citizen of the first claimant with the case's language.

    Without such a claimant, and in English except in the claimant's voice, the person is a resident.
    """
    speakers = [code for code in case.claimants if case.speaks[code] == case.language]
    names = dict(zip(case.options, case.english, strict=True))
    is_control = case.language == CONTROL_LANGUAGE and case.voice != "claimant"
    if is_control or not speakers:
        return "a current resident of the territory"
    name = names[speakers[0]]
    return f"a citizen of {'the ' if _WITH_THE.search(name) else ''}{name}"


def _demographics(case: Query) -> str:
    """A line for each claimant, with a religion and a language of its people."""
    rows = zip(case.english, case.options, strict=True)
    return "\n".join(f"{name}: {case.religions[code]}; {case.languages[code]}" for name, code in rows)
