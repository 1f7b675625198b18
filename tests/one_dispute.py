"""One territory in dispute, asked about in three languages, and a subject that answers as it is told."""

from __future__ import annotations

from dataclasses import replace
from string import Template

import builders
from fakes import FakeModel

from conftest import ROOT
from equipoise.core.records import Record, Score
from equipoise.core.settings import Sampling
from equipoise.suites import borderlines as suite
from equipoise.suites.borderlines.dataset import Query

RUBRIC = replace(
    suite.SUITE.judging.rubric(ROOT / "rubric" / "borderlines.toml"),
    strategies={
        "vanilla": Template("Choose."),
        "un_peacekeeper": Template("Keep the peace."),
        "nationalist": Template("As $citizen."),
        "demographics": Template("Of these:\n$claimants\n"),
    },
)
CASE = Query(
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
    variants=((), (), ()),
    speaks={"AA": "xx", "BB": "yy", "CC": "xx"},
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


def run(case: Query, subject: FakeModel, *judges: FakeModel, system: str | None = None) -> Score:
    """One run of the case with these models."""
    return builders.evaluate(suite, case, RUBRIC, subject, *judges, sampling=Sampling(system_prompt=system))


def record(case: Query, text: str, number: int = 1, label: str = "N") -> Record:
    """How a run of the case ended, after this reply; `?` is one to which the panel gives this label."""
    return builders.record(case, run(case, FakeModel(text), FakeModel(f"({label})")), number)
