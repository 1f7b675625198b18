"""The stages that make questions of fact out of documents, in the order of Chinese SimpleQA's pipeline."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from equipoise.core.errors import CallFailed
from equipoise.core.types import JSON, Message
from equipoise.judge.judge import JobModels
from equipoise.models.model import Model, together
from equipoise.suites.chinese_simpleqa.answers import normal_form
from equipoise.suites.chinese_simpleqa.from_documents.prompts import Prompts, ask
from equipoise.suites.chinese_simpleqa.prompts import FactRubric, grading_material
from equipoise.suites.chinese_simpleqa.retrieval import numbered, retrieve
from equipoise.suites.chinese_simpleqa.scoring import CORRECT
from equipoise.suites.construct_contract import Draft, Stage, StageResult
from equipoise.suites.similarity import contains, similar_pairs, similarity

MIN_QUALITY = 3
"""The minimum quality of a document, 1 to 5."""
MAX_REVISIONS = 2
"""The maximum number of revisions of a question that the critic does not accept."""
NGRAM_LENGTH = 2
"""The length in characters of the n-grams by which questions are compared: that of most Chinese words."""
MIN_SIMILARITY = 0.6
"""Two questions with at least this similarity, 0 to 1, are near-duplicates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """All stages with their settings.

    Documents have from `min_length` to `max_length` letters and digits. Answers are verified in `corpus`, or
    by the user's `retriever`. The critic judges questions, and the solvers try to answer them; their indices
    are those of a job's evaluators.
    """

    prompts: Prompts
    fact_rubric: FactRubric
    min_length: int
    max_length: int
    corpus: Path
    retriever: str | None
    critic_index: int
    solver_indices: Sequence[int]

    def stages_before_annotation(self) -> list[Stage]:
        """The stages before human annotation."""
        skipped = None if self.solver_indices else "no --solver"
        return [
            Stage(name="length", all_rows=self._length),
            Stage(name="quality", by_row=self._quality),
            Stage(name="generation", by_row=self._generation),
            Stage(name="criteria", by_row=self._criteria),
            Stage(name="verification", by_row=self._verification),
            Stage(name="difficulty", by_row=self._difficulty, skipped=skipped),
        ]

    def stages_after_annotation(self) -> list[Stage]:
        """The stages after human annotation."""
        return [
            Stage(name="duplicates", all_rows=mark_near_duplicates),
            Stage(name="rewriting", by_row=self._rewriting),
            # After rewriting, because annotators have not seen the rewritten questions.
            Stage(name="safety", by_row=self._safety),
            Stage(name="distinct", all_rows=drop_near_duplicates),
        ]

    # Documents.

    def _length(self, rows: Sequence[Draft]) -> list[StageResult]:
        return [StageResult(row=row, reason=self._length_fault(row["text"])) for row in rows]

    def _length_fault(self, text: str) -> str | None:
        letters = sum(map(str.isalnum, text))
        if letters < self.min_length:
            return f"too short: {letters} characters"
        return f"too long: {letters} characters" if letters > self.max_length else None

    async def _quality(self, row: Draft, models: JobModels) -> StageResult:
        verdict = await self._ask(
            models.model, "quality", models, title=row.get("title", ""), text=row["text"]
        )
        if verdict is None:
            return StageResult(row=row, reason="no verdict on quality")
        is_poor = verdict["score"] < MIN_QUALITY
        return StageResult(row=row, reason=f"poor quality: {verdict['reasoning']}" if is_poor else None)

    async def _ask(
        self, model: Model, name: str, models: JobModels, **material: str
    ) -> dict[str, JSON] | None:
        """The fields of the model's answer to the prompt of this name; None if it is invalid."""
        prompt = self.prompts.by_name[name]
        return await ask(model, prompt, prompt.messages(models.code(name), **material))

    # Questions.

    async def _generation(self, row: Draft, models: JobModels) -> StageResult:
        """A question that the critic accepts, after at most MAX_REVISIONS revisions."""
        prompt = self.prompts.by_name["generation"]
        messages = prompt.messages(models.code("generation"), title=row.get("title", ""), text=row["text"])
        feedback = ""
        for _ in range(1 + MAX_REVISIONS):
            fields = await ask(models.model, prompt, messages)
            if fields is None:
                return StageResult(row=row, reason="no question in the answer")
            question = _question_row(row, fields)
            feedback = await self._feedback(row, question, models)
            if not feedback:
                return StageResult(row=question)
            request = self.prompts.revision.substitute(feedback=feedback).strip()
            answer = Message(role="assistant", content=json.dumps(fields, ensure_ascii=False))
            messages = (*messages, answer, Message(role="user", content=request))
        return StageResult(row=row, reason=f"criticised: {feedback}")

    async def _feedback(self, row: Draft, question: Draft, models: JobModels) -> str:
        """The critic's request for changes; empty if there is none."""
        if contains(question["question"], question["answer"]):
            return "the question holds its answer"
        critic = models.evaluators[self.critic_index]
        material = _material(question)
        verdict = await self._ask(critic, "critique", models, text=row["text"], **material)
        if verdict is None:
            return "no verdict"
        return "" if verdict["verdict"] == "yes" else str(verdict["reasoning"])

    async def _criteria(self, row: Draft, models: JobModels) -> StageResult:
        return await self._drop_unless(row, models, "criteria", "yes", **_material(row))

    async def _verification(self, row: Draft, models: JobModels) -> StageResult:
        passages = await retrieve(row["question"], str(self.corpus), self.retriever)
        result = await self._drop_unless(
            row, models, "verification", "pass", **_material(row), passages=numbered(passages)
        )
        return StageResult(
            row={**result.row, "passages": [passage.id for passage in passages]}, reason=result.reason
        )

    async def _safety(self, row: Draft, models: JobModels) -> StageResult:
        return await self._drop_unless(row, models, "safety", "yes", **_material(row))

    async def _drop_unless(
        self, row: Draft, models: JobModels, name: str, accepting: str, **material: str
    ) -> StageResult:
        """The row, dropped unless the verdict that the prompt `name` asks for is the accepting one."""
        verdict = await self._ask(models.model, name, models, **material)
        if verdict is None:
            return StageResult(row=row, reason=f"no verdict on {name}")
        is_accepted = verdict["verdict"] == accepting
        return StageResult(row=row, reason=None if is_accepted else f"{name}: {verdict['reasoning']}")

    async def _difficulty(self, row: Draft, models: JobModels) -> StageResult:
        """The question, dropped only if every solver knows the answer."""
        outcomes = await together(*(self._is_solved(row, models, index) for index in self.solver_indices))
        names = [models.evaluators[index].name for index in self.solver_indices]
        by_solver = dict(zip(names, outcomes, strict=True))
        tested = {**row, "solved_by": [name for name, is_right in by_solver.items() if is_right is True]}
        errors = {name: outcome for name, outcome in by_solver.items() if isinstance(outcome, str)}
        if errors:
            tested["failed_solvers"] = errors
        is_easy = all(outcome is True for outcome in outcomes)
        return StageResult(row=tested, reason="too easy: all models know it" if is_easy else None)

    async def _is_solved(self, row: Draft, models: JobModels, index: int) -> bool | str:
        """Whether a solver knows the answer; the error if its call failed.

        Raises CallFailed if the failure stops the session.
        """
        solver, critic = models.evaluators[index], models.evaluators[self.critic_index]
        instruction = Message(role="system", content=self.fact_rubric.styles["direct"])
        try:
            reply = await solver.complete((instruction, Message(role="user", content=row["question"])))
        except CallFailed as failure:
            if failure.stops_session:
                raise
            return str(failure)
        if reply.blocked or not reply.text.strip():
            return False
        material = grading_material(row["question"], [row["answer"]])
        verdict = await critic.grade(self.fact_rubric.prompts["grading"], reply=reply.text, **material)
        return verdict.fields is not None and verdict.fields["grade"] == CORRECT

    # Near-duplicates.

    async def _rewriting(self, row: Draft, models: JobModels) -> StageResult:
        """Rewrite a near-duplicate and judge it again, or drop it; other questions stay as they are."""
        if "near" not in row:
            return StageResult(row=row)
        answer = await self._ask(models.model, "rewriting", models, other=row["near"], **_material(row))
        new = answer["question"].strip() if answer else row["question"]
        share = similarity(normal_form(new), normal_form(row["near"]), NGRAM_LENGTH)
        rewritten = {**row, "question": new, "rewritten_from": row["question"]}
        if share >= MIN_SIMILARITY or contains(new, row["answer"]):
            return StageResult(row=rewritten, reason=f"near-duplicate: of {row['near']}")
        result = await self._criteria(rewritten, models)
        return result if result.reason else await self._verification(rewritten, models)


def mark_near_duplicates(rows: Sequence[Draft]) -> list[StageResult]:
    """Each question, with the earlier one that it nearly duplicates under `near`."""
    duplicates = _earlier_duplicates(rows)
    return [
        StageResult(
            row={**row, "near": rows[duplicates[index][0]]["question"]} if index in duplicates else row
        )
        for index, row in enumerate(rows)
    ]


def drop_near_duplicates(rows: Sequence[Draft]) -> list[StageResult]:
    """Each question, dropped if it nearly duplicates an earlier one that stays."""
    duplicates, results = _earlier_duplicates(rows), list[StageResult]()
    for index, row in enumerate(rows):
        earlier = duplicates.get(index, ())
        other = next((rank for rank in earlier if results[rank].reason is None), None)
        reason = None if other is None else f"near-duplicate: of {rows[other]['question']}"
        results.append(StageResult(row=row, reason=reason))
    return results


def _earlier_duplicates(rows: Sequence[Draft]) -> dict[int, list[int]]:
    """The indices of the near-duplicates before a question, the most similar first, by its own index."""
    shares: dict[int, list[tuple[float, int]]] = {}
    for earlier, later, share in similar_pairs(
        [normal_form(row["question"]) for row in rows], MIN_SIMILARITY, NGRAM_LENGTH
    ):
        shares.setdefault(later, []).append((-share, earlier))
    return {later: [earlier for _, earlier in sorted(ranked)] for later, ranked in shares.items()}


def _question_row(row: Draft, fields: Mapping[str, JSON]) -> dict[str, JSON]:
    """The row of a generated question about the document `row`."""
    return {
        "id": row["id"],
        "subtopic": row.get("subtopic"),
        "question": fields["question"].strip(),
        "answer": fields["answer"].strip(),
        "document": row["id"],
    }


def _material(row: Draft) -> dict[str, str]:
    return {"question": row["question"], "answer": row["answer"]}


def as_question(row: Draft) -> dict[str, JSON]:
    """The row in the format of the suite's questions."""
    question = {"id": row["id"], "question": row["question"], "answer": row["answer"], "variants": []}
    return {**question, "subtopic": row["subtopic"]} if row.get("subtopic") else question
