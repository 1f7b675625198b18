"""One territory in dispute, asked about in three languages, and a subject that answers as it is told."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from string import Template

from fakes import Answer, FakeModel

from conftest import ROOT
from equipoise.core.errors import CallFailed
from equipoise.core.records import Record, Score
from equipoise.core.settings import Sampling
from equipoise.core.types import Call, Reply, Token
from equipoise.judge.judge import Evaluator, Panel
from equipoise.models.model import Subject
from equipoise.suites import borderlines as suite
from equipoise.suites.borderlines.dataset import Dispute

RUBRIC = replace(
    suite.rubric(ROOT / "rubric" / "borderlines.toml"),
    strategies={
        "vanilla": Template("Choose."),
        "un_peacekeeper": Template("Keep the peace."),
        "nationalist": Template("As $citizen."),
        "demographics": Template("Of these:\n$claimants\n"),
    },
)
SPEAKS = {"AA": "xx", "BB": "yy", "CC": "xx"}
CASE = Dispute(
    id="xx-rock",
    language="xx",
    area="south_sea",
    keywords=("Rupes",),
    territory="rock",
    dispute="south_sea_rocks",
    region="South Sea",
    populated=True,
    claimants=("AA", "BB", "CC"),
    controller="BB",
    options=("CC", "AA", "BB"),
    names=("Caria", "Attica", "Boeotia"),
    speaks=SPEAKS,
    asked=("xx", "yy"),
    english=("Carian Republic", "Attic Republic", "Boeotian Republic"),
    religions={"AA": "none", "BB": "islam", "CC": "folk religion"},
    languages={"AA": "Ixian", "BB": "Ypsilian", "CC": "Ixian"},
    language_name="Ixian",
    strategy="vanilla",
    question="Cui est Rupes: A) Caria, B) Attica, C) Boeotia?",
)
OTHER = replace(CASE, id="yy-rock", language="yy", language_name="Ypsilian")
ENGLISH = replace(CASE, id="en-rock", language="en", language_name="English")


class FakeModel(FakeModel):
    """Gives no text back with probabilities unless there are some for each ending in `echoes`."""

    def __init__(self, *answers: Answer) -> None:
        super().__init__(*answers)
        self.echoes: dict[str, float] = {}

    async def __call__(self, call: Call) -> Reply:
        """Answer in turn, or give the text back."""
        return self._echo(call) if "echo" in call.parameters else await super().__call__(call)

    def _echo(self, call: Call) -> Reply:
        if not self.echoes:
            raise CallFailed("no probabilities", is_declined=True)
        self.history.append(call)
        text = call.messages[0]["content"]
        name = text.rpartition(":")[2].strip()
        tokens = (Token(text=":", top={}), Token(text=name, top={name: self.echoes[name]}))
        return Reply(text=text, tokens=tokens)


def run(case: Dispute, asked: FakeModel, *judges: FakeModel, system: str | None = None) -> Score:
    """One run of the case with these models."""
    evaluators = [
        Evaluator(f"e{n}", Sampling(), ask, attempts=1, code=lambda model: f"code-{model}")
        for n, ask in enumerate(judges, start=1)
    ]
    subject = Subject("m", Sampling(system_prompt=system), asked)
    return asyncio.run(suite.evaluate(case, RUBRIC, subject, Panel(evaluators, keeps_going=False)))


def record(case: Dispute, text: str, number: int = 1) -> Record:
    """How a run of the case ended, after this reply; `?` is one that the panel makes nothing of."""
    found = run(case, FakeModel(text), FakeModel("(N)"))
    return Record(
        case=case.to_json(),
        run=number,
        outcome=found.outcome,
        score=found.value,
        error=found.error,
        details=found.details,
    )
