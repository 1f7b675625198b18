"""One question of fact, and models that answer and grade it as they are told."""

from __future__ import annotations

from dataclasses import replace

import builders
from fakes import FakeModel

from conftest import ROOT
from equipoise.core.records import Record, Score
from equipoise.suites import chinese_simpleqa as suite
from equipoise.suites.chinese_simpleqa.dataset import Fact

FILE = ROOT / "rubric" / "chinese_simpleqa.toml"
RUBRIC = suite.SUITE.judging.rubric(FILE)
CASE = Fact(
    id="zh-CN-drinks-tea_1",
    language="zh-CN",
    area="drinks",
    item="tea_1",
    topic="drinks",
    subtopic="tea",
    kind="person",
    question="茶圣是谁？",
    accepted=("陆羽", "陸羽"),
)
CHOICE = replace(CASE, options=("卢仝", "皎然", "蔡襄", "陆羽"))
MILK = replace(CASE, id="zh-CN-drinks-milk_1", item="milk_1", subtopic="milk", kind=None)
CHESS = replace(
    CASE, id="zh-CN-games-chess_1", item="chess_1", topic="games", subtopic="chess", kind="number"
)


def run(case: Fact, subject: FakeModel, *judges: FakeModel, attempts: int = 3) -> Score:
    """One run of the case with these models."""
    return builders.evaluate(suite, case, RUBRIC, subject, *judges, attempts=attempts)


def record(case: Fact, votes: str, number: int = 1, text: str = "陆羽") -> Record:
    """How a run of the case ended, with one evaluator for each vote; `?` is one that gives no grade."""
    score = run(case, FakeModel(text), *map(FakeModel, votes), attempts=1)
    return builders.record(case, score, number)
