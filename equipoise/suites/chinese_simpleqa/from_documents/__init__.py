"""Build questions for chinese_simpleqa out of documents, stage by stage.

Stops where people have to fill in sheets; the same command goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from equipoise.suites.chinese_simpleqa import prompts as suite_prompts
from equipoise.suites.chinese_simpleqa.from_documents import prompts
from equipoise.suites.chinese_simpleqa.from_documents.annotation import annotate
from equipoise.suites.chinese_simpleqa.from_documents.stages import Pipeline, as_question
from equipoise.suites.chinese_simpleqa.retrieval import check
from equipoise.suites.construct_contract import Stage
from equipoise.suites.resources import nearest

__all__ = ["COMMAND", "annotate", "as_question", "stages"]
COMMAND = "simpleqa"


def stages(
    root: Path,
    *,
    min_length: int,
    max_length: int,
    corpus: Path,
    retriever: str | None,
    critic_index: int,
    solver_indices: Sequence[int],
) -> tuple[Sequence[Stage], Sequence[Stage]]:
    """The stages before and after human annotation, with the prompts that are nearest to `root`.

    Raises UserError for a corpus, retriever or prompt file that cannot be used.
    """
    check(corpus, retriever, "--corpus")
    pipeline = Pipeline(
        prompts=prompts.load(nearest("rubric/construct_simpleqa.toml", root)),
        fact_rubric=suite_prompts.load(nearest("rubric/chinese_simpleqa.toml", root)),
        min_length=min_length,
        max_length=max_length,
        corpus=corpus,
        retriever=retriever,
        critic_index=critic_index,
        solver_indices=solver_indices,
    )
    return pipeline.stages_before_annotation(), pipeline.stages_after_annotation()
