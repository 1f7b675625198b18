"""The fields that people fill in for a reply: its score, its outcome, and the side that it leans to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from equipoise.comparison.labels import OUTCOMES
from equipoise.core.errors import UserError
from equipoise.core.records import Label
from equipoise.judge.rubric import NO_LEAN, STRENGTHS
from equipoise.results.results import Results

FieldName = Literal["score", "outcome", "lean"]
NAMES: tuple[FieldName, ...] = get_args(FieldName)
_BUTTON_KEYS: Mapping[FieldName, str] = {"outcome": "ar", "lean": "fghjkvb"}
"""The keys of the choices: letters with the same position on most keyboards. Scores have digits."""
_PROBE_LABELS: Mapping[FieldName, Label] = {"outcome": Label(refused=True), "lean": Label(lean=("", 0.0))}
"""A label for each field, used to find out which values of a suite the field determines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """The possible scores: the levels of a scale, or categories. `names` maps categories to their numbers."""

    numbers: Sequence[float]
    names: Mapping[str, float]

    @property
    def is_categorical(self) -> bool:
        """Whether the scores are categories without an order."""
        return bool(self.names)

    @property
    def entries(self) -> list[int | str]:
        """The levels as people enter them."""
        return list(self.names) if self.names else [int(number) for number in self.numbers]

    def read(self, text: str) -> float | None:
        """The score that was entered as `text`; None if it is not one of the levels."""
        if self.names:
            numbers = {name.casefold(): number for name, number in self.names.items()}
            return numbers.get(_slug(text))
        try:
            value = float(text.strip().replace(",", "."))
        except ValueError:
            return None
        return value if value in self.numbers else None


def levels_of(results: Results) -> Levels:
    """The possible scores in these results."""
    if names := results.suite.judging.categories:
        return Levels(numbers=sorted(names.values()), names=names)
    scale = results.scale
    return Levels(numbers=[float(level) for level in range(scale.low, scale.high + 1)], names={})


@dataclass(frozen=True, slots=True, kw_only=True)
class FormChoice:
    """A choice of a field: its saved value, its key on the page, and its meaning."""

    value: str
    key: str
    meaning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field, filled in for every reply: a column of a table, or a group of buttons on a page."""

    name: FieldName
    title: str
    choices: Sequence[FormChoice]
    levels: Levels | None = None
    meanings: Mapping[str, str] = field(default_factory=dict)

    def read(self, text: str) -> float | str | None:
        """The score, outcome or lean that was entered as `text`; None if it is not valid."""
        if self.levels:
            return self.levels.read(text)
        return next((item.value for item in self.choices if item.value == _slug(text)), None)

    def error(self, text: str) -> str:
        """A phrase that says why a text is not valid."""
        entries = self.levels.entries if self.levels else [choice.value for choice in self.choices]
        return f"{self.name} {text[:40]!r} is not one of {', '.join(map(str, entries))}"


def _slug(text: str) -> str:
    return text.strip().replace(" ", "_").casefold()


def fields(results: Results, meanings: Mapping[int, str] | None = None) -> dict[FieldName, Field]:
    """The fields that people can fill in for these results, by name: the score, and others that figures use.

    `meanings` has the meaning of each level of the scale.
    """
    fields: dict[FieldName, Field] = {"score": _score_field(levels_of(results), meanings or {})}
    if _is_used(results, "outcome"):
        fields["outcome"] = Field(name="outcome", title="How it ended", choices=_choices("outcome", OUTCOMES))
    sides = results.metadata.get("about", {}).get("sides", {})
    if len(sides) > 1 and _is_used(results, "lean"):
        fields["lean"] = Field(
            name="lean",
            title="Which side it leans to, beyond what the evidence warrants",
            choices=_choices("lean", _lean_values(*sides)),
            meanings=sides,
        )
    return fields


def field_names(text: str, all_results: Sequence[Results]) -> list[FieldName]:
    """The names of fields in the text of --ask, in the order of NAMES. Raises UserError."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names or (unknown := [name for name in names if name not in NAMES]):
        raise UserError(f"--ask: {(unknown if names else [text])[0]!r} is none of {', '.join(NAMES)}")
    for results in all_results:
        for name in names:
            if name not in fields(results):
                raise UserError(f"--ask: no figure of {results.file} is made of {name}; leave it out")
    return [name for name in NAMES if name in names]


def _score_field(levels: Levels, meanings: Mapping[int, str]) -> Field:
    entries = sorted(levels.entries, reverse=True) if meanings else levels.entries
    are_digits = all(len(str(entry)) == 1 and str(entry).isdigit() for entry in entries)
    return Field(
        name="score",
        title="Your score",
        choices=[
            FormChoice(
                value=str(entry),
                key=str(entry) if are_digits else str(number),
                meaning=meanings.get(entry, "") if isinstance(entry, int) else "",
            )
            for number, entry in enumerate(entries, start=1)
        ],
        levels=levels,
    )


def _choices(name: FieldName, values: Sequence[str]) -> list[FormChoice]:
    return [FormChoice(value=value, key=key) for value, key in zip(values, _BUTTON_KEYS[name], strict=False)]


def _lean_values(first: str, second: str, *others: str) -> list[str]:
    """The leans from the first opposed side to the second, then those to other sides, in key order."""
    slight, strong = STRENGTHS
    leans = [f"{first}_{strong}", f"{first}_{slight}", NO_LEAN, f"{second}_{slight}", f"{second}_{strong}"]
    return leans + [f"{side}_{strength}" for side in others for strength in STRENGTHS]


def _is_used(results: Results, name: FieldName) -> bool:
    """Whether any figure of these results uses a value that labels of this field determine."""
    values = dict.fromkeys(name for cell in results.cells for name in cell.values)
    labelled = results.suite.judging.labelled(_PROBE_LABELS[name], values, results.scale)
    used = {metric.of for metric in results.definitions.values()} & values.keys()
    return any(value is not None and key in used for key, value in labelled.items())
