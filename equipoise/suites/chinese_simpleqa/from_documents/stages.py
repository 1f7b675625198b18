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
from equipoise.suites.chinese_simpleqa.prompts import FactRubric
from equipoise.suites.chinese_simpleqa.retrieval import numbered, retrieve
from equipoise.suites.construct_contract import Draft, Stage, StageResult
from equipoise.suites.similarity import contains, similar_pairs, similarity

LEAST_QUALITY = 3
"""The minimum quality of a document, 1 to 5."""
ROUNDS = 2
"""The maximum number of revisions of a question that the critic does not accept."""
PAIR = 2
"""The usual length of a Chinese word, in characters."""
ALIKE = 0.6
"""Two questions with at least this share of character pairs in common are near-duplicates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSettings:
    """The settings of the stages.

    Documents have `least` to `most` characters. Answers are verified in `corpus`, or by the user's
    `retriever`. `critic` and `solvers` are indices into the evaluators of a job.
    """

    prompts: Prompts
    facts: FactRubric
    least: int
    most: int
    corpus: Path
    retriever: str | None
    critic: int
    solvers: Sequence[int]

    def stages(self) -> list[Stage]:
        """The stages before human annotation."""
        alone = None if self.solvers else "no --solver"
        return [
            Stage(name="length", all_rows=self._length),
            Stage(name="quality", by_row=self._quality),
            Stage(name="generation", by_row=self._generation),
            Stage(name="criteria", by_row=self._criteria),
            Stage(name="verification", by_row=self._verification),
            Stage(name="difficulty", by_row=self._difficulty, skipped=alone),
        ]

    def last_stages(self) -> list[Stage]:
        """The stages after human annotation."""
        return [
            Stage(name="duplicates", all_rows=near_duplicates),
            Stage(name="rewriting", by_row=self._rewriting),
            # After rewriting, because annotators have not seen the rewritten questions.
            Stage(name="safety", by_row=self._safety),
            Stage(name="distinct", all_rows=distinct),
        ]

    # Documents.

    def _length(self, rows: Sequence[Draft]) -> list[StageResult]:
        return [StageResult(row=row, reason=self._odd_length(row["text"])) for row in rows]

    def _odd_length(self, text: str) -> str | None:
        letters = sum(map(str.isalnum, text))
        if letters < self.least:
            return f"too short: {letters} characters"
        return f"too long: {letters} characters" if letters > self.most else None

    async def _quality(self, row: Draft, models: JobModels) -> StageResult:
        verdict = await self._ask(
            models.model, "quality", models, title=row.get("title", ""), text=row["text"]
        )
        if verdict is None:
            return StageResult(row=row, reason="no verdict on quality")
        is_poor = verdict["score"] < LEAST_QUALITY
        return StageResult(row=row, reason=f"poor quality: {verdict['reasoning']}" if is_poor else None)

    async def _ask(
        self, model: Model, name: str, models: JobModels, **material: str
    ) -> dict[str, JSON] | None:
        prompt = self.prompts.by_name[name]
        return await ask(model, prompt, prompt.messages(models.code(name), **material))

    # Questions.

    async def _generation(self, row: Draft, models: JobModels) -> StageResult:
        """A question that the critic accepts, after at most ROUNDS rounds of feedback."""
        prompt = self.prompts.by_name["generation"]
        messages = prompt.messages(models.code("generation"), title=row.get("title", ""), text=row["text"])
        feedback = ""
        for _ in range(1 + ROUNDS):
            made = await ask(models.model, prompt, messages)
            if made is None:
                return StageResult(row=row, reason="no question in the answer")
            question = _question(row, made)
            feedback = await self._feedback(row, question, models)
            if not feedback:
                return StageResult(row=question)
            again = self.prompts.again.substitute(feedback=feedback).strip()
            answer = Message(role="assistant", content=json.dumps(made, ensure_ascii=False))
            messages = (*messages, answer, Message(role="user", content=again))
        return StageResult(row=row, reason=f"criticised: {feedback}")

    async def _feedback(self, row: Draft, question: Draft, models: JobModels) -> str:
        """The critic's request for changes; empty if there is none."""
        if contains(question["question"], question["answer"]):
            return "the question holds its answer"
        critic = models.evaluators[self.critic]
        verdict = await self._ask(critic, "critique", models, text=row["text"], **_asked(question))
        return (
            ""
            if verdict and verdict["verdict"] == "yes"
            else str((verdict or {}).get("reasoning", "no verdict"))
        )

    async def _criteria(self, row: Draft, models: JobModels) -> StageResult:
        return await self._judged(row, models, "criteria", "yes", **_asked(row))

    async def _verification(self, row: Draft, models: JobModels) -> StageResult:
        passages = await retrieve(row["question"], str(self.corpus), self.retriever)
        outcome = await self._judged(
            row, models, "verification", "pass", **_asked(row), passages=numbered(passages)
        )
        return StageResult(
            row={**outcome.row, "passages": [item.id for item in passages]}, reason=outcome.reason
        )

    async def _safety(self, row: Draft, models: JobModels) -> StageResult:
        return await self._judged(row, models, "safety", "yes", **_asked(row))

    async def _judged(
        self, row: Draft, models: JobModels, name: str, good: str, **material: str
    ) -> StageResult:
        verdict = await self._ask(models.model, name, models, **material)
        if verdict is None:
            return StageResult(row=row, reason=f"no verdict on {name}")
        is_good = verdict["verdict"] == good
        return StageResult(row=row, reason=None if is_good else f"{name}: {verdict['reasoning']}")

    async def _difficulty(self, row: Draft, models: JobModels) -> StageResult:
        """The question, dropped only if every solver knows the answer."""
        solved = await together(*(self._is_solved(row, models, index) for index in self.solvers))
        outcomes = dict(zip([models.evaluators[index].name for index in self.solvers], solved, strict=True))
        tested = {**row, "solved_by": [name for name, is_right in outcomes.items() if is_right is True]}
        failed = {name: item for name, item in outcomes.items() if isinstance(item, str)}
        if failed:
            tested["failed_solvers"] = failed
        is_easy = all(item is True for item in solved)
        return StageResult(row=tested, reason="too easy: all models know it" if is_easy else None)

    async def _is_solved(self, row: Draft, models: JobModels, index: int) -> bool | str:
        """Whether a solver knows the answer; the error if its call failed.

        Raises CallFailed if the failure stops the session.
        """
        solver, critic = models.evaluators[index], models.evaluators[self.critic]
        instruction = Message(role="system", content=self.facts.styles["direct"])
        try:
            reply = await solver.complete((instruction, Message(role="user", content=row["question"])))
        except CallFailed as failure:
            if failure.stops_session:
                raise
            return str(failure)
        if reply.blocked or not reply.text.strip():
            return False
        material = {"question": row["question"], "reference": row["answer"], "reply": reply.text}
        verdict = await critic.grade(self.facts.prompts["grading"], **material)
        return verdict.fields is not None and verdict.fields["grade"] == "A"

    # Near-duplicates.

    async def _rewriting(self, row: Draft, models: JobModels) -> StageResult:
        """Rewrite a near-duplicate and judge it again, or drop it; other questions stay as they are."""
        if "near" not in row:
            return StageResult(row=row)
        answer = await self._ask(models.model, "rewriting", models, other=row["near"], **_asked(row))
        new = answer["question"].strip() if answer else row["question"]
        share = similarity(normal_form(new), normal_form(row["near"]), PAIR)
        rewritten = {**row, "question": new, "rewritten_from": row["question"]}
        if share >= ALIKE or contains(new, row["answer"]):
            return StageResult(row=rewritten, reason=f"near-duplicate: of {row['near']}")
        outcome = await self._criteria(rewritten, models)
        return outcome if outcome.reason else await self._verification(rewritten, models)


def near_duplicates(rows: Sequence[Draft]) -> list[StageResult]:
    """Each question, with the earlier one that it nearly duplicates under `near`."""
    near = _near(rows)
    return [
        StageResult(row={**row, "near": rows[near[index][0]]["question"]} if index in near else row)
        for index, row in enumerate(rows)
    ]


def distinct(rows: Sequence[Draft]) -> list[StageResult]:
    """Each question, dropped if it nearly duplicates an earlier one that stays."""
    near, results = _near(rows), list[StageResult]()
    for index, row in enumerate(rows):
        other = next((item for item in near.get(index, ()) if results[item].reason is None), None)
        reason = None if other is None else f"near-duplicate: of {rows[other]['question']}"
        results.append(StageResult(row=row, reason=reason))
    return results


def _near(rows: Sequence[Draft]) -> dict[int, list[int]]:
    """Indices of earlier near-duplicates by the index of a question, the nearest first."""
    shares: dict[int, list[tuple[float, int]]] = {}
    for earlier, later, share in similar_pairs([normal_form(row["question"]) for row in rows], ALIKE, PAIR):
        shares.setdefault(later, []).append((-share, earlier))
    return {later: [earlier for _, earlier in sorted(ranked)] for later, ranked in shares.items()}


def _question(row: Draft, made: Mapping[str, JSON]) -> dict[str, JSON]:
    return {
        "id": row["id"],
        "subtopic": row.get("subtopic"),
        "question": made["question"].strip(),
        "answer": made["answer"].strip(),
        "document": row["id"],
    }


def _asked(row: Draft) -> dict[str, str]:
    return {"question": row["question"], "answer": row["answer"]}


def as_question(row: Draft) -> dict[str, JSON]:
    """The row in the format of the suite's questions."""
    question = {"id": row["id"], "question": row["question"], "answer": row["answer"], "variants": []}
    return {**question, "subtopic": row["subtopic"]} if row.get("subtopic") else question
