"""Fields that people fill in for a reply: its score, its outcome, and the side that it leans to."""

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
"""Letters with the same position on most keyboards. A score has digits."""
_PROBES: Mapping[FieldName, Label] = {"outcome": Label(refused=True), "lean": Label(lean=("", 0.0))}
"""A label of each field, to find out which values of a suite it determines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """Possible scores: `numbers`, the levels of a scale, or categories, then `names` has their numbers."""

    numbers: Sequence[float]
    names: Mapping[str, float]

    @property
    def is_categorical(self) -> bool:
        """Whether these are categories without an order."""
        return bool(self.names)

    @property
    def shown(self) -> list[int | str]:
        """The levels as people enter them."""
        return list(self.names) if self.names else [int(number) for number in self.numbers]

    def read(self, text: str) -> float | None:
        """The score that was entered as `text`; None if it is not one of the levels."""
        if self.names:
            known = {name.casefold(): number for name, number in self.names.items()}
            return known.get(_slug(text))
        try:
            value = float(text.strip().replace(",", "."))
        except ValueError:
            return None
        return value if value in self.numbers else None


def levels(side: Side) -> Levels:
    """The possible scores in these results."""
    if names := side.suite.categories:
        return Levels(numbers=sorted(names.values()), names=names)
    scale = side.scale
    return Levels(numbers=[float(level) for level in range(scale.low, scale.high + 1)], names={})


@dataclass(frozen=True, slots=True, kw_only=True)
class FormChoice:
    """A choice of a field: its saved value, its key on the page, and its meaning."""

    value: str
    key: str
    meaning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field for every reply: a column of a table, or a group of buttons on a page."""

    name: FieldName
    title: str
    choices: Sequence[FormChoice]
    levels: Levels | None = None
    meanings: Mapping[str, str] = field(default_factory=dict)

    def read(self, text: str) -> float | str | None:
        """The score, outcome or lean that was entered as `text`; None if it is not valid."""
        if self.levels:
            return self.levels.read(text)
        return next((item.value for item in self.choices if item.value.casefold() == _slug(text)), None)

    def refusal(self, text: str) -> str:
        """A phrase on why a text is not valid."""
        known = self.levels.shown if self.levels else [choice.value for choice in self.choices]
        return f"{self.name} {text[:40]!r} is not one of {', '.join(map(str, known))}"


def _slug(text: str) -> str:
    return text.strip().replace(" ", "_").casefold()


def fields(side: Side, meanings: Mapping[int, str] | None = None) -> dict[FieldName, Field]:
    """Fields that people can fill in for these results: a score, and others that figures are made of.

    `meanings` has the meaning of each level of the scale.
    """
    fields: dict[FieldName, Field] = {"score": _score(levels(side), meanings or {})}
    if _is_used(side, "outcome"):
        fields["outcome"] = Field(name="outcome", title="How it ended", choices=_choices("outcome", OUTCOMES))
    sides = side.metadata.get("about", {}).get("sides", {})
    if len(sides) == 2 and _is_used(side, "lean"):
        fields["lean"] = Field(
            name="lean",
            title="Which side it leans to, beyond what the evidence warrants",
            choices=_choices("lean", _leans(*sides)),
            meanings=sides,
        )
    return fields


def field_names(text: str, sides: Sequence[Side]) -> list[FieldName]:
    """The fields named by `--ask`, in the order of NAMES. Raises UserError for unknown and unused ones."""
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
    """Leans from the first side to the second, in the order of their keys."""
    slight, strong = STRENGTHS
    return [f"{first}_{strong}", f"{first}_{slight}", NO_LEAN, f"{second}_{slight}", f"{second}_{strong}"]


def _is_used(side: Side, name: FieldName) -> bool:
    """Whether any figure of these results uses a value that labels of this field determine."""
    values = dict.fromkeys(name for cell in side.cells for name in cell.values)
    labelled = side.suite.labelled(_PROBES[name], values, side.scale)
    used = {metric.of for metric in side.metrics.values()} & values.keys()
    return any(value is not None and key in used for key, value in labelled.items())
