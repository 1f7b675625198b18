"""Rubrics: TOML files with an evaluator's prompts and the scale of its verdicts.

Loads a rubric, fills in its prompts, and parses evaluators' answers into verdicts.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template
from typing import Literal, Protocol, TypeVar, get_args

from equipoise.core import toml_text
from equipoise.core.errors import InvalidVerdict, UserError
from equipoise.core.files import read_bytes, read_text
from equipoise.core.types import JSON, Message, json_schema
from equipoise.judge import facts
from equipoise.judge.facts import KeyFact
from equipoise.models.reasoning import has_tags

T = TypeVar("T")
FieldKind = Literal["text", "flag", "scale", "lean", "facts"]
"""What a field of a verdict holds: a text, true or false, a level of the scale, a lean to a side, or how the
reply states each key fact."""
NO_LEAN = "none"
STRENGTHS = {"slight": 0.5, "strong": 1.0}
"""The weight of a lean by its strength."""
MOST_LEVELS = 1000
"""The largest difference between the highest and the lowest level."""
_FENCE = re.compile(r"```(?:\w*[ \t\r]*\n|\w*[ \t]*(?=\{))(.*)```", re.DOTALL)
_FENCE_NAME = re.compile(r"\w*\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")
_LEVEL = re.compile(r"\s{0,9}\d{1,9}(?:\.0{1,9})?\s{0,9}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Whole numbers from `low` to `high`, each with a description."""

    low: int
    high: int
    levels: Mapping[int, str]

    def percent(self, value: float) -> float:
        """The position of a value on the scale, from 0 at `low` to 100 at `high`, unrounded."""
        return (value - self.low) / (self.high - self.low) * 100

    def named(self, name: str, value: float | None) -> dict[str, float | None]:
        """The two entries of a score in results: `name` with the score, and `{name}_percentage`.

        Both values are rounded to two decimals; None without a score.
        """
        percent = None if value is None else round(self.percent(value), 2)
        return {name: None if value is None else round(value, 2), f"{name}_percentage": percent}

    def describe(self) -> str:
        """One line per level, highest first."""
        return "\n".join(f"{level}: {text}" for level, text in sorted(self.levels.items(), reverse=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What evaluators are told about the questions: their subject, and the sides a reply may lean to.

    `sides` maps the name of each side, an ASCII slug, to its description. The first two are opposed; a third,
    if there is one, stands for the parties to matters that are not about the first two.
    """

    subject: str
    sides: Mapping[str, str]

    @property
    def leans(self) -> list[str]:
        """The values of a verdict's lean other than "none": `{side}_slight` and `{side}_strong`."""
        return [f"{side}_{strength}" for side in self.sides for strength in STRENGTHS]

    def describe(self) -> str:
        """The values of a lean with the description of each side, for a prompt."""
        parts = []
        for side, meaning in self.sides.items():
            slight, strong = (f'"{side}_{strength}"' for strength in STRENGTHS)
            parts.append(f"{slight} or {strong} ({meaning})")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsPrompt:
    """The parts of a prompt for key facts: `instruction`, which contains $facts, and the format `field`."""

    instruction: Template
    field: str

    def texts(self, key_facts: Sequence[KeyFact]) -> dict[str, str]:
        """The texts of the system prompt's placeholders, which are empty without facts."""
        if not key_facts:
            return dict.fromkeys(_FACT_PLACEHOLDERS, "")
        instruction = self.instruction.substitute(facts=facts.describe(key_facts))
        return {"facts": instruction, "facts_field": self.field}


def prompt_messages(system: str, user: str, preface: str | None) -> tuple[Message, ...]:
    """The system message, which begins with `preface` if there is one, and the user message."""
    instruction = system.strip()
    return (
        Message(role="system", content=f"{preface}\n\n{instruction}" if preface else instruction),
        Message(role="user", content=user.strip()),
    )


def read_lean(fields: Mapping[str, JSON] | None) -> tuple[str, float] | None:
    """The side of a verdict's lean and its weight, 0.5 or 1; ("", 0.0) for "none", None without the field."""
    value = None if fields is None else fields.get("lean")
    if value is None:
        return None
    side, _, strength = value.rpartition("_")
    return (side, STRENGTHS[strength]) if side else ("", 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """The fields of every rubric. `hash` is the SHA-256 of the file, hexadecimal."""

    version: str
    hash: str
    scale: Scale


class VerdictPrompt(Protocol):
    """Asks an evaluator for a verdict, and reads its answer."""

    @property
    def retry_message(self) -> Template | None:
        """The message after an invalid verdict, with `$error`; None to repeat the question unchanged."""

    def messages(self, *, code: str, preface: str | None = None, **material: str) -> tuple[Message, ...]:
        """The system and user messages. `material` is quoted between markers that contain `code`."""

    def response_format(self) -> dict[str, JSON] | None:
        """The parameter `response_format`; None if only the prompt says how to answer."""

    def parse(self, text: str) -> dict[str, JSON]:
        """The verdict in an answer. Raises InvalidVerdict with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRubric(Rubric):
    """A rubric that asks for one verdict in JSON, with a level of the scale.

    With `refuses_more`, a verdict with additional fields is invalid. `retry_message`, the key `again` of the
    file, is sent after an invalid verdict. `about` is None if the rubric asks for no lean and its prompt
    names no subject. `facts_prompt` is None if the rubric does not use facts. `facts` are the key facts of
    the question that is judged.
    """

    verdict: Mapping[str, FieldKind]
    system: Template
    user: Template
    retry_message: Template | None = None
    refuses_more: bool = False
    about: Brief | None = None
    facts_prompt: FactsPrompt | None = None
    facts: tuple[KeyFact, ...] = ()

    def with_about(self, about: Brief | None) -> VerdictRubric:
        """The rubric with another subject and sides; unchanged if `about` is None or the rubric uses none."""
        return self if about is None or self.about is None else replace(self, about=about)

    def with_facts(self, facts: tuple[KeyFact, ...]) -> VerdictRubric:
        """The rubric with these key facts; unchanged if it does not use facts."""
        return self if self.facts_prompt is None else replace(self, facts=facts)

    @property
    def fields(self) -> Mapping[str, FieldKind]:
        """The fields of a verdict. Without key facts, the field for facts is left out."""
        return {name: kind for name, kind in self.verdict.items() if kind != "facts" or self.facts}

    def messages(self, *, code: str, preface: str | None = None, **material: str) -> tuple[Message, ...]:
        """The system and user messages. `material` is quoted between markers that contain `code`.

        `preface` comes before the rubric's own instruction. Material is inserted in a single pass, so that
        nothing in it is treated as a placeholder.
        """
        scale = self.scale
        texts = {"subject": self.about.subject, "leans": self.about.describe()} if self.about else {}
        if self.facts_prompt:
            texts |= self.facts_prompt.texts(self.facts)
        system = self.system.substitute(texts, levels=scale.describe(), low=scale.low, high=scale.high)
        return prompt_messages(system, self.user.substitute(material, code=code), preface)

    def response_format(self) -> dict[str, JSON]:
        """The parameter `response_format` that requests the verdict as structured output."""
        return json_schema("verdict", {name: self._field_schema(kind) for name, kind in self.fields.items()})

    def _field_schema(self, kind: FieldKind) -> dict[str, JSON]:
        if kind == "scale":
            return {"type": "integer", "enum": list(range(self.scale.low, self.scale.high + 1))}
        if kind == "lean":
            return {"type": "string", "enum": self._leans()}
        if kind == "facts":
            return facts.schema(self.facts)
        return {"type": "string" if kind == "text" else "boolean"}

    def _leans(self) -> list[str]:
        return [NO_LEAN, *(self.about.leans if self.about else ())]

    def parse(self, text: str) -> dict[str, JSON]:
        """Parse the verdict in an evaluator's text; returns exactly the rubric's fields.

        The text must be one JSON object, alone or in the only code fence. It may be wrapped in an object with
        a single key. A level or a flag may be a text. A missing flag or lean is None. Raises InvalidVerdict
        with the reason.
        """
        try:
            data = json.loads(_object_text(text), object_pairs_hook=_unambiguous)
        except (ValueError, RecursionError):
            raise InvalidVerdict("not a JSON object") from None
        if not isinstance(data, dict):
            raise InvalidVerdict(f"JSON, but {type(data).__name__} and not an object")
        data = self._unwrapped(data)
        self._refuse_second(data)
        additional = next((name for name in data if name not in self.fields), None)
        if self.refuses_more and additional is not None:
            raise InvalidVerdict(f"unexpected field {additional[:40]!r}")
        return {name: self._read_field(name, kind, data) for name, kind in self.fields.items()}

    def _unwrapped(self, data: dict[str, JSON]) -> dict[str, JSON]:
        """The verdict in an object whose only key is not a field of the rubric; other objects unchanged."""
        name, value = next(iter(data.items()), ("", None))
        return value if len(data) == 1 and isinstance(value, dict) and name not in self.fields else data

    def _refuse_second(self, data: dict[str, JSON]) -> None:
        """Raise InvalidVerdict if another field, or one within it, may be a second judgement."""
        judged = {name.casefold() for name, kind in self.fields.items() if kind != "text"}
        pending: list[JSON] = [{name: value for name, value in data.items() if name not in self.fields}]
        while pending:
            value = pending.pop()
            if isinstance(value, list):
                pending += value
            elif isinstance(value, dict):
                if second := next((key for key in value if key.casefold() in judged), None):
                    raise InvalidVerdict(f"a field {second[:40]!r} beside the verdict's own")
                pending += value.values()

    def _read_field(self, name: str, kind: FieldKind, data: dict[str, JSON]) -> JSON:
        value = data.get(name)
        if name not in data and kind not in ("flag", "lean"):
            raise InvalidVerdict(f"no {name!r}")
        if kind == "scale":
            return self._read_level(name, value)
        if kind == "lean":
            return self._read_lean(name, value)
        if kind == "facts":
            return facts.read_statements(self.facts, value)
        if kind == "text" and not isinstance(value, str):
            raise InvalidVerdict(f"{name!r} is not a text")
        return _read_flag(name, value) if kind == "flag" else value

    def _read_lean(self, name: str, value: JSON) -> str | None:
        lean = value.strip().lower() if isinstance(value, str) else value
        if lean is not None and lean not in self._leans():
            raise InvalidVerdict(f"{name!r} is none of {', '.join(self._leans())}")
        return lean

    def _read_level(self, name: str, value: JSON) -> int:
        if isinstance(value, str) and _LEVEL.fullmatch(value):
            value = float(value)
        # bool is a subclass of int, and NaN fails every comparison: neither is a level.
        is_whole = isinstance(value, int | float) and not isinstance(value, bool) and value % 1 == 0
        if not is_whole or not self.scale.low <= value <= self.scale.high:
            raise InvalidVerdict(f"{name!r} is not a whole number from {self.scale.low} to {self.scale.high}")
        return int(value)


def _read_flag(name: str, value: JSON) -> bool | None:
    flag = {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else value
    if not isinstance(flag, bool) and value is not None:
        raise InvalidVerdict(f"{name!r} is neither true nor false")
    return flag


def _unambiguous(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    """The dict of a JSON object. Raises InvalidVerdict for a duplicate key, such as a second score."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise InvalidVerdict("an object with a duplicate field")
    return fields


def _object_text(text: str) -> str:
    """The JSON in an answer: the whole answer, or the content of its code fence."""
    text = text.removeprefix("\ufeff")
    fenced = _FENCE.fullmatch(text.strip())
    return fenced[1] if fenced else object_in_prose(text) or text


def object_in_prose(text: str) -> str | None:
    """The content of the only code fence of an answer that has other text; None if there is no such fence.

    The other text must have neither braces nor think tags: braces may enclose another object, and tags may
    mean that the fence is part of a thought.
    """
    if text.count("```") != 2:
        return None
    before, fenced, after = text.split("```")
    prose = before + after
    is_alone = "{" not in prose and not has_tags(prose)
    return _FENCE_NAME.sub("", fenced, count=1) if is_alone and prose.strip() else None


def load(path: Path, material: Collection[str], verdict: Mapping[str, FieldKind]) -> VerdictRubric:
    """Load a rubric from a TOML file. Raises UserError naming file and key.

    `material` has the names of what the suite quotes in the user message, which must have a placeholder for
    each. `verdict` has the fields that the suite reads; a rubric may define more.
    """
    with reading(path) as (data, digest):
        rubric = _build(data, digest, set(material))
        _require_fields(rubric, verdict)
        return rubric


def load_scale(path: Path) -> Rubric:
    """Load a rubric for replies that no evaluator judges. Raises UserError naming file and key.

    Such a file has a version and a scale and no prompts. Only the ends of the scale need a text.
    """
    with reading(path) as (data, digest):
        return Rubric(
            version=take(data, "version", str), hash=digest, scale=scale_of(data, has_all_levels=False)
        )


def levels_kept(rubric: Rubric, original: Rubric) -> list[str]:
    """The sentences on levels of `original`'s scale that a rubric with another scale has kept."""
    if not isinstance(rubric, VerdictRubric) or not isinstance(original, VerdictRubric):
        return []
    scale = original.scale
    if (rubric.scale.low, rubric.scale.high) == (scale.low, scale.high):
        return []
    levels = "|".join(map(str, range(scale.low, scale.high + 1)))
    named = re.compile(rf"(?<![\w.-])(?:{levels})(?!\w)")
    prompts, own = (f"{item.system.template}\n{item.user.template}" for item in (original, rubric))
    return [text for text in _SENTENCE_END.split(prompts) if named.search(text) and text in own]


@contextmanager
def reading(path: Path) -> Iterator[tuple[dict[str, JSON], str]]:
    """Yield the data of a TOML file and its SHA-256. A ValueError in the block becomes a UserError."""
    text = read_text(path)
    try:
        yield toml_text.loads(text), hashlib.sha256(read_bytes(path)).hexdigest()
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not valid TOML: {error}") from None
    except RecursionError:
        raise UserError(f"{path}: is nested too deeply") from None
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None


def _require_fields(rubric: VerdictRubric, required: Mapping[str, FieldKind]) -> None:
    for name, kind in required.items():
        if rubric.verdict.get(name) != kind:
            raise ValueError(f'verdict.{name} must be {kind!r}: the suite reads it; write {name} = "{kind}"')


def build_from_table(
    data: dict[str, JSON], name: str, digest: str, material: Collection[str], verdict: Mapping[str, FieldKind]
) -> VerdictRubric:
    """Build a rubric from the table `name` of a file with several; see `load`. Raises ValueError.

    Version and retry message may be given once for all tables. Only the ends of the scale need a text.
    """
    defaults = {key: data[key] for key in ("version", "again") if key in data}
    table = {**defaults, **take(data, name, dict)}
    try:
        rubric = _build(table, digest, set(material), has_all_levels=False)
        _require_fields(rubric, verdict)
    except ValueError as error:
        raise ValueError(f"{name}.{error}") from None
    return rubric


def _build(
    data: dict[str, JSON], digest: str, material: set[str], *, has_all_levels: bool = True
) -> VerdictRubric:
    verdict, prompt = take(data, "verdict", dict), take(data, "prompt", dict)
    for name, kind in verdict.items():
        if kind not in get_args(FieldKind):
            raise ValueError(f"verdict.{name} is {kind!r}, not one of {', '.join(get_args(FieldKind))}")
    about = read_about(data["about"], "about.") if "about" in data else None
    facts_prompt = _facts_prompt(data, verdict)
    needed = _FACT_PLACEHOLDERS if facts_prompt else frozenset()
    known = {"levels", "low", "high", *_ABOUT_PLACEHOLDERS, *needed}
    system = template(prompt, "system", known=known, needed={*needed})
    if about is None and (
        "lean" in verdict.values() or not _ABOUT_PLACEHOLDERS.isdisjoint(system.get_identifiers())
    ):
        raise ValueError(
            "about is missing: write [about] and [about.sides] for questions without an about.toml, or leave "
            "$subject, $leans and lean out"
        )
    return VerdictRubric(
        version=take(data, "version", str),
        hash=digest,
        scale=scale_of(data, has_all_levels=has_all_levels),
        verdict=verdict,
        about=about,
        facts_prompt=facts_prompt,
        system=system,
        user=template(prompt, "user", known=material | {"code"}, needed=material | {"code"}),
        retry_message=read_retry_message(data, prompt, {"error"}, "prompt."),
    )


_ABOUT_PLACEHOLDERS = frozenset({"subject", "leans"})
"""The placeholders of a system prompt that `Brief` fills."""
_FACT_PLACEHOLDERS = frozenset({"facts", "facts_field"})
"""The placeholders of a system prompt that `FactsPrompt` fills."""
_SIDE_NAME = re.compile(r"[a-z][a-z0-9_]*")


def _facts_prompt(data: dict[str, JSON], verdict: Mapping[str, FieldKind]) -> FactsPrompt | None:
    """The table [facts] of a rubric; None without it. Raises ValueError if `verdict` does not match it."""
    if [name for name, kind in verdict.items() if kind == "facts"] != ["facts"] * ("facts" in data):
        raise ValueError(
            'facts: write [facts], and facts = "facts" in [verdict], so that evaluators are given facts, '
            "or leave both out"
        )
    if "facts" not in data:
        return None
    table = take(data, "facts", dict)
    instruction = template(table, "instruction", known={"facts"}, needed={"facts"}, where="facts.")
    return FactsPrompt(instruction=instruction, field=take(table, "field", str, "facts."))


def read_about(data: JSON, where: str = "") -> Brief:
    """The subject and the sides in a table. Raises ValueError naming the key, after the prefix `where`."""
    if not isinstance(data, dict):
        raise ValueError("about must be a table")
    subject, sides = take(data, "subject", str, where), take(data, "sides", dict, where)
    if len(sides) not in (2, 3):
        raise ValueError(f"{where}sides must name two sides, or two and a third for other parties")
    for side in sides:
        if not _SIDE_NAME.fullmatch(side):
            raise ValueError(f"{where}sides: {side!r} must start with a-z and have a-z, 0-9 and _ only")
    texts = {side: take(sides, side, str, f"{where}sides.").strip() for side in sides}
    if not subject.strip() or not all(texts.values()):
        raise ValueError(f"{where}subject and {where}sides must not be blank")
    return Brief(subject=subject.strip(), sides=texts)


_KINDS = {dict: "a table", str: "a text", int: "a whole number"}


def take(table: dict[str, JSON], key: str, kind: type[T], where: str = "") -> T:
    """The value of a key. Raises ValueError if it is missing or not of this kind, a key of `_KINDS`."""
    if key not in table:
        raise ValueError(f"{where}{key} is missing")
    value = table[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{where}{key} must be {_KINDS[kind]}")
    return value


def template(
    table: dict[str, JSON], name: str, *, known: set[str], needed: set[str], where: str = "prompt."
) -> Template:
    """The template under the key `name`. Raises ValueError for an unknown or missing placeholder.

    `known` are the placeholders that it may have, `needed` those that it must have.
    """
    template = Template(take(table, name, str, where))
    if not template.is_valid():
        raise ValueError(f"{where}{name} has a lone $; write $$ for a dollar sign")
    names = set(template.get_identifiers())
    if unknown := sorted(names - known):
        raise ValueError(f"{where}{name} has an unknown placeholder ${unknown[0]}")
    if missing := sorted(needed - names):
        raise ValueError(f"{where}{name} needs the placeholder ${missing[0]}")
    return template


def read_retry_message(
    data: dict[str, JSON], table: dict[str, JSON], placeholders: set[str], where: str
) -> Template | None:
    """The key `again` of the table, or else of the file's top level `data`; None if neither has it.

    Raises ValueError for an unknown or missing placeholder. `where` is the table's name and a dot.
    """
    for source, path in ((table, where), (data, "")):
        if "again" in source:
            return template(source, "again", known=placeholders, needed=placeholders, where=path)
    return None


def scale_of(data: dict[str, JSON], *, has_all_levels: bool) -> Scale:
    """The scale of a rubric file. Raises ValueError naming the key.

    Without `has_all_levels`, only the lowest and the highest level need a text.
    """
    table = take(data, "scale", dict)
    low, high = take(table, "low", int, "scale."), take(table, "high", int, "scale.")
    if not low < high <= low + MOST_LEVELS:
        raise ValueError(f"scale.high must be above scale.low, by at most {MOST_LEVELS}")
    levels = take(table, "levels", dict, "scale.")
    known = {str(level) for level in range(low, high + 1)}
    if not set(levels) <= known or not {str(low), str(high)} <= set(levels):
        raise ValueError(f"scale.levels must describe {low} and {high}, and no level beyond them")
    if has_all_levels and set(levels) != known:
        raise ValueError(f"scale.levels must describe every level from {low} to {high} and no other")
    texts = {int(level): take(levels, level, str, "scale.levels.") for level in levels}
    return Scale(low=low, high=high, levels=texts)
