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
_PLACEHOLDERS: Mapping[str, set[str]] = {
    "quality": {"title", "text"},
    "generation": {"title", "text"},
    "critique": {"text", "question", "answer"},
    "criteria": {"question", "answer"},
    "verification": {"question", "answer", "passages"},
    "safety": {"question", "answer"},
    "rewriting": {"other", "question", "answer"},
}
_TEXT: Mapping[str, JSON] = {"type": "string"}


def _verdict_fields(*labels: str) -> Mapping[str, Mapping[str, JSON]]:
    return {"reasoning": _TEXT, "verdict": {"type": "string", "enum": list(labels)}}


_QUESTION_FIELDS = {"question": _TEXT, "answer": _TEXT}
ANSWER_FIELDS: Mapping[str, Mapping[str, Mapping[str, JSON]]] = {
    "quality": {"reasoning": _TEXT, "score": {"type": "integer", "enum": [1, 2, 3, 4, 5]}},
    "generation": _QUESTION_FIELDS,
    "critique": _verdict_fields("yes", "no"),
    "criteria": _verdict_fields("yes", "no"),
    "verification": _verdict_fields("pass", "fail"),
    "safety": _verdict_fields("yes", "no"),
    "rewriting": _QUESTION_FIELDS,
}
"""The fields of an answer, as JSON schemas, by the name of the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The system and user message of one task, and the name of the task."""

    name: str
    system: str
    user: Template

    def messages(self, code: str, **material: str) -> tuple[Message, ...]:
        """Both messages; the one-time `code` is part of the markers around the material."""
        return (
            Message(role="system", content=self.system),
            Message(role="user", content=self.user.substitute(material, code=code).strip()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """All prompts by name; `revision` asks the generator to revise a question that was criticised."""

    by_name: Mapping[str, Prompt]
    revision: Template


def load(path: Path) -> Prompts:
    """The prompts in a TOML file. Raises UserError naming file and key."""
    with reading(path) as (data, _):
        generation = take(data, "generation", dict)
        return Prompts(
            by_name={name: _prompt(data, name, names) for name, names in _PLACEHOLDERS.items()},
            revision=template(
                generation, "again", known={"feedback"}, needed={"feedback"}, where="generation."
            ),
        )


def _prompt(data: dict[str, JSON], name: str, placeholders: set[str]) -> Prompt:
    table = take(data, name, dict)
    system = take(table, "system", str, f"{name}.").strip()
    if name == "generation":
        system = system.replace("$examples", _examples(table))
    known = placeholders | {"code"}
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
    answer = {key: item[key] for key in ("question", "answer")}
    return f"{item['text']}\n{json.dumps(answer, ensure_ascii=False)}"


async def ask(model: Model, prompt: Prompt, messages: tuple[Message, ...]) -> dict[str, JSON] | None:
    """The fields of the model's answer; None if all of ATTEMPTS answers are invalid.

    Raises CallFailed.
    """
    fields = ANSWER_FIELDS[prompt.name]
    schema = json_schema(prompt.name, fields)
    for _ in range(ATTEMPTS):
        reply = await model.complete(messages, response_format=schema)
        answer = None if reply.blocked else parse(reply.text, fields)
        if answer is not None:
            return answer
    return None


def parse(text: str, fields: Mapping[str, Mapping[str, JSON]]) -> dict[str, JSON] | None:
    """The fields of the JSON object in an answer, or else of its tags (`_parse_tags`); None if invalid."""
    data = parse_json_part(text)
    if isinstance(data, dict) and all(_is_valid(data.get(name), schema) for name, schema in fields.items()):
        # A question with a lone surrogate cannot be shown to people. In a reason it does no harm.
        if any(has_surrogates(data[name]) for name in _QUESTION_FIELDS if name in fields):
            return None
        return {name: data[name] for name in fields}
    return _parse_tags(text, fields)


def _is_valid(value: JSON, schema: Mapping[str, JSON]) -> bool:
    if "enum" in schema:
        # A bool is never valid, although True == 1.
        return not isinstance(value, bool) and value in schema["enum"]
    return isinstance(value, str) and bool(value.strip())


def _parse_tags(text: str, fields: Mapping[str, Mapping[str, JSON]]) -> dict[str, JSON] | None:
    """The choice in the last tag with its name, such as `<verdict>yes</verdict>`; the text is its reasoning.

    None without a valid tag, or if no field is a choice.
    """
    choices = {name: schema["enum"] for name, schema in fields.items() if "enum" in schema}
    values: dict[str, JSON] = {}
    for name, valid_values in choices.items():
        tags = re.findall(rf"<{name}>\s*(\w+)\s*</{name}>", text, re.IGNORECASE)
        value = next((value for value in valid_values if tags and str(value) == tags[-1].lower()), None)
        if value is None:
            return None
        values[name] = value
    return {"reasoning": text, **values} if values else None
