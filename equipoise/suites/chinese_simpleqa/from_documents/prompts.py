"""Prompts of the models that construct questions, and parsing of their replies."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from equipoise.core.files import has_surrogates
from equipoise.core.types import JSON, Message, json_schema
from equipoise.judge.rubric import reading, take, template
from equipoise.models.model import Model
from equipoise.suites.chinese_simpleqa.answers import parse_json_part

ATTEMPTS = 3
"""The maximum number of calls until an answer is valid."""
_MATERIAL: Mapping[str, set[str]] = {
    "quality": {"title", "text"},
    "generation": {"title", "text"},
    "critique": {"text", "question", "answer"},
    "criteria": {"question", "answer"},
    "verification": {"question", "answer", "passages"},
    "safety": {"question", "answer"},
    "rewriting": {"other", "question", "answer"},
}
_TEXT: Mapping[str, JSON] = {"type": "string"}


def _choice(*labels: str) -> Mapping[str, Mapping[str, JSON]]:
    return {"reasoning": _TEXT, "verdict": {"type": "string", "enum": list(labels)}}


_QUESTION = {"question": _TEXT, "answer": _TEXT}
ANSWERS: Mapping[str, Mapping[str, Mapping[str, JSON]]] = {
    "quality": {"reasoning": _TEXT, "score": {"type": "integer", "enum": [1, 2, 3, 4, 5]}},
    "generation": _QUESTION,
    "critique": _choice("yes", "no"),
    "criteria": _choice("yes", "no"),
    "verification": _choice("pass", "fail"),
    "safety": _choice("yes", "no"),
    "rewriting": _QUESTION,
}
"""The fields of each answer, as JSON schemas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The system and user message of one task, and the name of the task."""

    name: str
    system: str
    user: Template

    def messages(self, code: str, **material: str) -> tuple[Message, ...]:
        """Both messages, the material between markers with the code."""
        return (
            Message(role="system", content=self.system),
            Message(role="user", content=self.user.substitute(material, code=code).strip()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """All prompts by name; `again` is the message to the generator when its question was criticised."""

    by_name: Mapping[str, Prompt]
    again: Template


def load(path: Path) -> Prompts:
    """The prompts in a TOML file. Raises UserError naming file and key."""
    with reading(path) as (data, _):
        again = take(data, "generation", dict)
        return Prompts(
            by_name={name: _prompt(data, name, material) for name, material in _MATERIAL.items()},
            again=template(again, "again", known={"feedback"}, needed={"feedback"}, where="generation."),
        )


def _prompt(data: dict[str, JSON], name: str, material: set[str]) -> Prompt:
    table = take(data, name, dict)
    system = take(table, "system", str, f"{name}.").strip()
    if name == "generation":
        system = system.replace("$examples", _examples(table))
    known = material | {"code"}
    user = template(table, "user", known=known, needed=known, where=f"{name}.")
    return Prompt(name=name, system=system, user=user)


def _examples(table: dict[str, JSON]) -> str:
    examples = table.get("examples")
    if not isinstance(examples, list) or not examples:
        raise ValueError("generation.examples needs at least one example")
    return "\n".join(map(_example, examples))


def _example(item: JSON) -> str:
    keys = ("text", "question", "answer")
    if not isinstance(item, dict) or not all(isinstance(item.get(key), str) for key in keys):
        raise ValueError("generation.examples: each needs a text, a question and an answer")
    made = {key: item[key] for key in keys[1:]}
    return f"{item['text']}\n{json.dumps(made, ensure_ascii=False)}"


async def ask(model: Model, prompt: Prompt, messages: tuple[Message, ...]) -> dict[str, JSON] | None:
    """The fields of the model's answer; None if all of ATTEMPTS answers are invalid.

    Raises CallFailed.
    """
    fields = ANSWERS[prompt.name]
    form = json_schema(prompt.name, fields)
    for _ in range(ATTEMPTS):
        reply = await model.complete(messages, response_format=form)
        answer = None if reply.blocked else parse(reply.text, fields)
        if answer is not None:
            return answer
    return None


def parse(text: str, fields: Mapping[str, Mapping[str, JSON]]) -> dict[str, JSON] | None:
    """The fields of a JSON object, or of the last tag in an answer with a choice; None if invalid."""
    data = parse_json_part(text)
    if isinstance(data, dict) and all(_fits(data.get(name), kind) for name, kind in fields.items()):
        # A question with a lone surrogate cannot be shown to people. In a reason it does no harm.
        if any(has_surrogates(data[name]) for name in _QUESTION if name in fields):
            return None
        return {name: data[name] for name in fields}
    return _tagged(text, fields)


def _fits(value: JSON, kind: Mapping[str, JSON]) -> bool:
    if "enum" in kind:
        return not isinstance(value, bool) and value in kind["enum"]
    return isinstance(value, str) and bool(value.strip())


def _tagged(text: str, fields: Mapping[str, Mapping[str, JSON]]) -> dict[str, JSON] | None:
    chosen = {name: kind["enum"] for name, kind in fields.items() if "enum" in kind}
    values: dict[str, JSON] = {}
    for name, known in chosen.items():
        tags = re.findall(rf"<{name}>\s*(\w+)\s*</{name}>", text, re.IGNORECASE)
        value = next((item for item in known if tags and str(item) == tags[-1].lower()), None)
        if value is None:
            return None
        values[name] = value
    return {"reasoning": text, **values} if values else None
