"""Prompts that ask an evaluator to choose among labels, and the rubric files that contain such prompts.

A label is letters or digits in parentheses, such as (A) or (4): after the opening parenthesis, most labels
are a single token. `models.logprobs` reads the label in an answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from types import MappingProxyType

from equipoise.core.types import JSON, Message
from equipoise.judge.rubric import Rubric, Scale, prompt_messages, read_retry_message, reading, take, template

_LABEL = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoicePrompt:
    """A question for an evaluator, and the labels to choose from with their meanings.

    `options` maps labels to meanings. `retry_message`, the key `again` of the file, is sent after an answer
    without a label; if it is None, the question is repeated unchanged.
    """

    options: Mapping[str, str]
    system: Template
    user: Template
    retry_message: Template | None = None

    def messages(self, *, code: str, preface: str | None = None, **material: str) -> tuple[Message, ...]:
        """The system and user messages. `material` is quoted between markers that contain `code`.

        `preface` comes before the rubric's own instruction.
        """
        lines = "\n".join(f"({label}) {meaning}" for label, meaning in self.options.items())
        user = self.user.substitute(material, code=code, options=lines)
        return prompt_messages(self.system.substitute(options=lines), user, preface)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceRubric(Rubric):
    """A rubric file with several choice prompts, by name."""

    prompts: Mapping[str, ChoicePrompt]


def load(
    path: Path,
    material: Mapping[str, Collection[str]],
    scale: Scale,
    labels: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> ChoiceRubric:
    """Load a rubric from a TOML file. Raises UserError naming file and key.

    `material` maps the name of each prompt to the names of what it quotes. `labels` has the exact labels
    that a prompt must have, by its name, if the suite counts them.
    """
    with reading(path) as (data, digest):
        prompts = {
            name: _prompt(data, name, set(quoted), labels.get(name)) for name, quoted in material.items()
        }
        return ChoiceRubric(version=take(data, "version", str), hash=digest, scale=scale, prompts=prompts)


def _prompt(
    data: dict[str, JSON], name: str, material: set[str], labels: Sequence[str] | None
) -> ChoicePrompt:
    table = take(data, name, dict)
    options = take(table, "options", dict, f"{name}.")
    for label, meaning in options.items():
        if not _LABEL.fullmatch(label) or not isinstance(meaning, str):
            raise ValueError(f"{name}.options.{label}: a label must be letters or digits, its meaning a text")
    if len(options) < 2:
        raise ValueError(f"{name}.options needs at least two labels")
    if labels is not None and set(options) != set(labels):
        raise ValueError(f"{name}.options must be {', '.join(labels)}: the suite counts them")
    return ChoicePrompt(
        options=options,
        system=template(table, "system", known={"options"}, needed=set(), where=f"{name}."),
        user=template(
            table,
            "user",
            known=material | {"code", "options"},
            needed=material | {"code"},
            where=f"{name}.",
        ),
        retry_message=read_retry_message(data, table, set(), f"{name}."),
    )
