"""Build questions for chinese_simpleqa out of documents, stage by stage.

Stops where people have to fill in sheets; the same command goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from equipoise.suites.chinese_simpleqa import prompts as suite_prompts
from equipoise.suites.chinese_simpleqa.from_documents import prompts
from equipoise.suites.chinese_simpleqa.from_documents.annotation import annotate
from equipoise.suites.chinese_simpleqa.from_documents.stages import StageSettings, as_question
from equipoise.suites.chinese_simpleqa.retrieval import check
from equipoise.suites.construct_contract import Stage
from equipoise.suites.resources import nearest

__all__ = ["COMMAND", "annotate", "as_question", "stages"]
COMMAND = "simpleqa"


def stages(
    root: Path,
    *,
    least: int,
    most: int,
    corpus: Path,
    retriever: str | None,
    critic: int,
    solvers: Sequence[int],
) -> tuple[Sequence[Stage], Sequence[Stage]]:
    """The stages before and after human annotation. Raises UserError.

    Documents have `least` to `most` characters. `critic` and `solvers` are indices into a job's evaluators.
    """
    check(corpus, retriever, "--corpus")
    settings = StageSettings(
        prompts=prompts.load(nearest("rubric/construct_simpleqa.toml", root)),
        facts=suite_prompts.load(nearest("rubric/chinese_simpleqa.toml", root)),
        least=least,
        most=most,
        corpus=corpus,
        retriever=retriever,
        critic=critic,
        solvers=solvers,
    )
    return settings.stages(), settings.last_stages()
