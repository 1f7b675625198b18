"""Prompts of a role-play and of its judges, loaded from the rubric and filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template

from equipoise.core.types import JSON
from equipoise.judge.rubric import (
    FieldKind,
    Rubric,
    Scale,
    VerdictRubric,
    build_from_table,
    reading,
    take,
    template,
)
from equipoise.suites.politicsbench.dataset import Scenario
from equipoise.suites.politicsbench.scoring import WEIGHTS

SCALE = Scale(low=-100, high=100, levels={})
"""The scale of composites: 100 is the left end of the ten dimensions, -100 the right end."""
FALLBACK_LANGUAGE = "en-US"
_JUDGE_MATERIAL = ("question", "reply")
"""The placeholders of the judges' prompts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectPrompts:
    """Prompts of the subject in one language: direct question, stage of the role-play, reflection."""

    baseline: Template
    stage: Template
    reflection: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PoliticsRubric(Rubric):
    """The prompts for the subject, by language, and the judges' rubrics for dimensions and commitment."""

    subject_prompts: Mapping[str, SubjectPrompts]
    dimensions: VerdictRubric
    commitment: VerdictRubric

    def prompts_for(self, case: Scenario) -> SubjectPrompts:
        """The prompts in the scenario's language, or in English if the rubric lacks that language."""
        return self.subject_prompts.get(case.language, self.subject_prompts[FALLBACK_LANGUAGE])


def load(path: Path) -> PoliticsRubric:
    """The rubric in a TOML file. Raises UserError naming file and key."""
    dimension_fields: dict[str, FieldKind] = {"reasoning": "text", **dict.fromkeys(WEIGHTS, "scale")}
    commitment_fields: dict[str, FieldKind] = {"reasoning": "text", "commitment": "scale"}
    with reading(path) as (data, digest):
        asking = take(data, "asking", dict)
        if FALLBACK_LANGUAGE not in asking:
            raise ValueError(f"asking.{FALLBACK_LANGUAGE} is missing")
        return PoliticsRubric(
            version=take(data, "version", str),
            hash=digest,
            scale=SCALE,
            subject_prompts={language: _subject_prompts(asking, language) for language in asking},
            dimensions=_judge_rubric(data, "dimensions", digest, dimension_fields),
            commitment=_judge_rubric(data, "commitment", digest, commitment_fields),
        )


def _judge_rubric(
    data: dict[str, JSON], name: str, digest: str, fields: Mapping[str, FieldKind]
) -> VerdictRubric:
    """The rubric in the table `name`; verdicts with additional fields are invalid."""
    return replace(build_from_table(data, name, digest, _JUDGE_MATERIAL, fields), refuses_more=True)


def _subject_prompts(asking: dict[str, JSON], language: str) -> SubjectPrompts:
    table = take(asking, language, dict, "asking.")
    where = f"asking.{language}."
    return SubjectPrompts(
        baseline=template(table, "baseline", known={"question"}, needed={"question"}, where=where),
        stage=template(table, "stage", known={"prompt"}, needed={"prompt"}, where=where),
        reflection=take(table, "reflection", str, where).strip(),
    )


def baseline(case: Scenario, rubric: PoliticsRubric) -> str:
    """The direct question as a user message."""
    return rubric.prompts_for(case).baseline.substitute(question=case.question).strip()


def stages(case: Scenario, rubric: PoliticsRubric) -> list[str]:
    """The four stages as user messages."""
    return [rubric.prompts_for(case).stage.substitute(prompt=text).strip() for text in case.stages]


def reflection(case: Scenario, rubric: PoliticsRubric) -> str:
    """The request for a reflection."""
    return rubric.prompts_for(case).reflection
