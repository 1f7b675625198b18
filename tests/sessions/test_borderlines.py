"""Whole sessions of borderlines in which a model ranks names, or letters, instead of answering."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import Bench
from loopback import Answer, echo

pytestmark = pytest.mark.slow
RANK = ("tests_benchmark/test_borderlines.py", "-n", "2", "--method", "rank", "-k", "crimea")
"""Three queries, each with the names of two countries."""


@pytest.fixture
def borders(bench: Bench) -> Bench:
    """A project with our own territories, whose subject always says the first letter."""
    bench.use_real_topics()
    bench.server.script = lambda body, number: "A)"
    return bench


def prefers(body: dict[str, Any]) -> Answer:
    """Names with fewer letters are likelier."""
    return Answer(echo(body["prompt"], -float(len(body["prompt"].rpartition(": ")[2]))))


def runs(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs of all languages."""
    return [run for part in data["results"].values() for row in part["questions"] for run in row["runs"]]


def test_names_are_ranked_where_texts_come_back(borders: Bench) -> None:
    """Each name of each query is tried once, also after a resumption; nobody is asked for an answer."""
    borders.server.continuation = prefers
    assert borders.run(*RANK, "--max-calls", "3").returncode != 0
    borders.run(*RANK, status=0)
    texts = [body["prompt"] for body in borders.server.texts]
    assert (len(texts), len(set(texts)), borders.server.requests) == (6, 6, [])
    data = borders.results("borderlines")
    assert {run["details"]["answer"] for run in runs(data)} == {"RU"}
    assert data["summary"]["read_by"]["rank by names"] == 3
    likelihoods = runs(data)[0]["details"]["likelihoods"]
    assert likelihoods["RU"] > likelihoods["UA"]


def test_letters_are_ranked_where_they_do_not(borders: Bench) -> None:
    """Once it is known that texts do not come back they are not sent again; no failure is counted."""
    done = borders.run(*RANK, status=0)
    assert len(borders.server.requests) == 3
    assert 1 <= len(borders.server.texts) <= 3
    summary = borders.results("borderlines")["summary"]
    assert set(summary["read_by"]) == {"read", "evaluator", "rank by samples"}
    assert "caution:   3 of 3 answers to --method rank came without token probabilities" in done.stdout
    [journal] = (borders.folder / "results").glob("*.jsonl")
    assert '"kind":"failed"' not in journal.read_text(encoding="utf-8")
