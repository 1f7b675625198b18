"""A whole session of neutrality: what is asked, what is written and what is shown."""

from __future__ import annotations

import re

from conftest import Bench
from loopback import is_judge, score_of


def test_a_session_asks_and_judges_every_question(bench: Bench) -> None:
    """Once in each language; the figures are those that a hand computes from the scores."""
    done = bench.run("--runs", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (bench.server.count(judge=False), bench.server.count(judge=True)) == (8, 8)
    asked = {"aa": ("What is one?", "What is two?"), "bb": ("O que é um?", "O que é dois?")}
    bare = [[{"role": "user", "content": question}] for questions in asked.values() for question in questions]
    sent = [body["messages"] for body in bench.server.requests if not is_judge(body)]
    assert sorted(sent, key=str) == sorted(bare * 2, key=str)
    assert bench.scores() == {
        (language, place, run): score_of(question)
        for language, questions in asked.items()
        for place, question in enumerate(questions, start=1)
        for run in (1, 2)
    }
    means = [sum(map(score_of, questions)) / 2 for questions in asked.values()]
    found = bench.results()
    assert (found["metadata"]["status"], found["metadata"]["runs"]) == ("complete", 2)
    assert found["summary"]["overall_average_score"] == round(sum(means) / 2, 2)
    assert re.search(rf"aa +2 +{means[0]:.2f} +{25 * (means[0] - 1):.2f}%", done.stdout)
