"""Prompts of a role-play and of its judges, loaded from the rubric and filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template

from equipoise.core.types import JSON
from equipoise.judge.rubric import FieldKind, Rubric, Scale, VerdictRubric, part, reading, take, template
from equipoise.suites.politicsbench.dataset import Scenario
from equipoise.suites.politicsbench.scoring import WEIGHTS

SCALE = Scale(low=-100, high=100, levels={})
"""The scale of composites: 100 is the left end of the ten dimensions, -100 the right end."""
LANGUAGE = "en-US"
_MATERIAL = ("question", "reply")


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectPrompts:
    """Prompts of the subject in one language."""

    baseline: Template
    stage: Template
    reflection: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PoliticsRubric(Rubric):
    """The prompts for the subject, by language, and the rubrics for dimensions and commitment."""

    asking: Mapping[str, SubjectPrompts]
    dimensions: VerdictRubric
    commitment: VerdictRubric

    def asked_in(self, case: Scenario) -> SubjectPrompts:
        """The prompts in the scenario's language, or in English if the rubric lacks it."""
        return self.asking.get(case.language, self.asking[LANGUAGE])


def load(path: Path) -> PoliticsRubric:
    """The rubric in a TOML file. Raises UserError naming file and key."""
    dimensions: dict[str, FieldKind] = {"reasoning": "text", **dict.fromkeys(WEIGHTS, "scale")}
    commitment: dict[str, FieldKind] = {"reasoning": "text", "commitment": "scale"}
    with reading(path) as (data, digest):
        asking = take(data, "asking", dict)
        if LANGUAGE not in asking:
            raise ValueError(f"asking.{LANGUAGE} is missing")
        return PoliticsRubric(
            version=take(data, "version", str),
            hash=digest,
            scale=SCALE,
            asking={language: _subject_prompts(asking, language) for language in asking},
            dimensions=_judging(data, "dimensions", digest, dimensions),
            commitment=_judging(data, "commitment", digest, commitment),
        )


def _judging(
    data: dict[str, JSON], name: str, digest: str, verdict: Mapping[str, FieldKind]
) -> VerdictRubric:
    """A rubric that rejects verdicts with additional fields; the judge is then asked again."""
    return replace(part(data, name, digest, _MATERIAL, verdict), refuses_more=True)


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
    return rubric.asked_in(case).baseline.substitute(question=case.question).strip()


def stages(case: Scenario, rubric: PoliticsRubric) -> list[str]:
    """The four stages as user messages."""
    return [rubric.asked_in(case).stage.substitute(prompt=text).strip() for text in case.stages]


def reflection(case: Scenario, rubric: PoliticsRubric) -> str:
    """The request for a reflection."""
    return rubric.asked_in(case).reflection
