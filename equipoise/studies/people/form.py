"""Fields of a sheet on a reply: its score, how it ended, the side it leans to, as figures use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from equipoise.comparison.labels import OUTCOMES
from equipoise.comparison.side import Side
from equipoise.core.errors import UserError
from equipoise.core.records import Label
from equipoise.judge.rubric import NO_LEAN, STRENGTHS

FieldName = Literal["score", "outcome", "lean"]
NAMES: tuple[FieldName, ...] = get_args(FieldName)
_KEYS: Mapping[FieldName, str] = {"outcome": "ar", "lean": "fghjk"}
"""Letters in the same place on most keyboards; a score has digits."""
_PROBES: Mapping[FieldName, Label] = {"outcome": Label(refused=True), "lean": Label(lean=("", 0.0))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """Levels of a score: those of a scale, or categories with their numbers."""

    numbers: Sequence[float]
    names: Mapping[str, float]

    @property
    def is_categorical(self) -> bool:
        """Whether these are categories without an order."""
        return bool(self.names)

    @property
    def shown(self) -> list[int | str]:
        """The levels as people give them."""
        return list(self.names) if self.names else [int(number) for number in self.numbers]

    def read(self, text: str) -> float | None:
        """The score that a text says; None if it says none of them."""
        if self.names:
            known = {name.casefold(): number for name, number in self.names.items()}
            return known.get(_slug(text))
        try:
            value = float(text.strip().replace(",", "."))
        except ValueError:
            return None
        return value if value in self.numbers else None


def levels(side: Side) -> Levels:
    """The levels of these results."""
    if names := side.suite.categories:
        return Levels(numbers=sorted(names.values()), names=names)
    scale = side.scale
    return Levels(numbers=[float(level) for level in range(scale.low, scale.high + 1)], names={})


@dataclass(frozen=True, slots=True, kw_only=True)
class FormChoice:
    """A choice of a field: as it is saved, its meaning, and its key on the page."""

    value: str
    key: str
    meaning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One thing that a sheet asks of every reply: a column of a table, a group of buttons on a page."""

    name: FieldName
    title: str
    choices: Sequence[FormChoice]
    levels: Levels | None = None
    meanings: Mapping[str, str] = field(default_factory=dict)

    def read(self, text: str) -> float | str | None:
        """The score, outcome or lean that a text says; None if it says none that can be given."""
        if self.levels:
            return self.levels.read(text)
        return next((item.value for item in self.choices if item.value.casefold() == _slug(text)), None)

    def refusal(self, text: str) -> str:
        """Why a text is none."""
        known = self.levels.shown if self.levels else [choice.value for choice in self.choices]
        return f"{self.name} {text[:40]!r} is not one of {', '.join(map(str, known))}"


def _slug(text: str) -> str:
    return text.strip().replace(" ", "_").casefold()


def fields(side: Side, meanings: Mapping[int, str] | None = None) -> dict[FieldName, Field]:
    """Fields that people can fill in for these results: a score, and others of which figures are made.

    `meanings` are those of the levels of a scale.
    """
    fields: dict[FieldName, Field] = {"score": _score(levels(side), meanings or {})}
    if _counts(side, "outcome"):
        fields["outcome"] = Field(name="outcome", title="How it ended", choices=_choices("outcome", OUTCOMES))
    sides = side.metadata.get("about", {}).get("sides", {})
    if len(sides) == 2 and _counts(side, "lean"):
        fields["lean"] = Field(
            name="lean",
            title="Which side it leans to, beyond what the evidence warrants",
            choices=_choices("lean", _leans(*sides)),
            meanings=sides,
        )
    return fields


def asked(text: str, sides: Sequence[Side]) -> list[FieldName]:
    """The fields that `--ask` names, in their order. Raises UserError for what these results cannot use."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names or (unknown := [name for name in names if name not in NAMES]):
        raise UserError(f"--ask: {(unknown if names else [text])[0]!r} is none of {', '.join(NAMES)}")
    for side in sides:
        for name in names:
            if name not in fields(side):
                raise UserError(f"--ask: no figure of {side.file} is made of {name}; leave it out")
    return [name for name in NAMES if name in names]


def _score(scale: Levels, meanings: Mapping[int, str]) -> Field:
    shown = sorted(scale.shown, reverse=True) if meanings else scale.shown
    has_digits = all(len(str(name)) == 1 and str(name).isdigit() for name in shown)
    return Field(
        name="score",
        title="Your score",
        choices=[
            FormChoice(
                value=str(name),
                key=str(name) if has_digits else str(number),
                meaning=meanings.get(name, "") if isinstance(name, int) else "",
            )
            for number, name in enumerate(shown, start=1)
        ],
        levels=scale,
    )


def _choices(name: FieldName, values: Sequence[str]) -> list[FormChoice]:
    return [FormChoice(value=value, key=key) for value, key in zip(values, _KEYS[name], strict=True)]


def _leans(first: str, second: str) -> list[str]:
    """Leans from one side to the other, as keys lie side by side."""
    slight, strong = STRENGTHS
    return [f"{first}_{strong}", f"{first}_{slight}", NO_LEAN, f"{second}_{slight}", f"{second}_{strong}"]


def _counts(side: Side, name: FieldName) -> bool:
    """Whether any figure of these results is made of what such a label says."""
    values = dict.fromkeys(name for cell in side.cells for name in cell.values)
    labelled = side.suite.labelled(_PROBES[name], values, side.scale)
    used = {metric.of for metric in side.metrics.values()} & values.keys()
    return any(value is not None and key in used for key, value in labelled.items())
