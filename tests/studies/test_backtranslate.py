"""`judge languages` with scripted models: the two parts of a gap, failures, resumption, mistakes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sheets
from click.testing import Result
from fake_client import Answer, FakeClient

import pages
from conftest import ROOT
from equipoise import suites
from equipoise.core.errors import UserError
from equipoise.core.types import Call
from equipoise.results.load import load
from equipoise.studies import backtranslate
from loopback import verdict

LANGUAGES = pages.LANGUAGES
PER_LANGUAGE = 20
"""Ten questions, two runs."""
WORDS = {"en-US": "In plain words", "pt-BR": "Em outras palavras", "zh-CN": "换句话说"}


def said(number: int) -> str:
    """What the model said in its nth run: Chinese replies are a level worse."""
    language = LANGUAGES[number // PER_LANGUAGE]
    return f"{WORDS[language]}: {'B' if language == 'zh-CN' else 'A'}{number}"


@pytest.fixture
def results(folder: Path) -> Path:
    """Results in three languages."""
    return pages.write(folder / "m.neutrality.json", "model-a", reply=said)


def script(call: Call) -> Answer:
    """A translator keeps what is said; a judge is a level stricter about questions in Chinese."""
    text = call.messages[-1]["content"]
    reply = re.search(r"\[reply (\w+)\]\n(.*?)\n\[end of reply \1\]", text, re.DOTALL)
    assert reply, text
    if call.role == "subject":
        into = re.findall(r"\[([a-zA-Z-]+)\]", call.messages[0]["content"])[1]
        return f"{WORDS[into]}: {reply[2].rpartition(' ')[2]}"
    question = re.search(r"\[question \w+\]\n(.*?)\n", text)
    assert question
    is_chinese = "zh-CN" in question[1]
    return verdict(4 - ("B" in reply[2]) - is_chinese)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    """What answers."""
    fake = FakeClient(script)
    monkeypatch.setattr("equipoise.models.client.Client", lambda *endpoint, **options: fake)
    return fake


def run(results: Path, *arguments: str, status: int = 0) -> Result:
    """The command."""
    models = ("--translator-model", "translator", "--evaluator-model", "judge")
    endpoint = ("--api-base-url", "http://x/v1", "--api-key", "sk-nobody-may-see-this")
    return sheets.run("judge", "languages", results, *models, *endpoint, *arguments, status=status)


def section(results: Path) -> dict[str, Any]:
    """What was added."""
    added: dict[str, Any] = json.loads(results.read_bytes())["backtranslation"]
    return added


def parts(results: Path) -> dict[str, tuple[float, float, float]]:
    """Gap and parts by pair of languages."""
    return {
        f"{pair['first']} {pair['second']}": tuple(pair[name]["value"] for name in ("gap", "said", "judged"))
        for pair in section(results)["evaluators"][0]["pairs"]
    }


def test_translations_are_judged_with_the_facts_that_replies_were(results: Path, client: FakeClient) -> None:
    """Otherwise a difference in scores would be one of what evaluators have in hand."""
    data = json.loads(results.read_bytes())
    fact = {"id": "q_a", "text": "The bridge was opened in May.", "status": "settled", "by": ""}
    for content in data["results"].values():
        for question in content["questions"]:
            question["details"]["facts"] = [fact]
    results.write_text(json.dumps(data), encoding="utf-8")
    run(results, "-n", "6")
    prompts = [call.messages[0]["content"] for call in client.calls if call.role == "evaluator"]
    assert len(prompts) == 18
    assert all("1. The bridge was opened in May." in prompt for prompt in prompts)
    assert not any("bridge" in str(call.messages) for call in client.calls if call.role == "subject")


def test_a_gap_is_split_into_what_was_said_and_how_it_was_judged(results: Path, client: FakeClient) -> None:
    """Half of the Chinese replies' 50 points is theirs, half the judge's; the same command pays nothing."""
    done = run(results, "-n", "15")
    expected = {"en-US pt-BR": (0, 0, 0), "en-US zh-CN": (50, 25, 25), "pt-BR zh-CN": (50, 25, 25)}
    assert parts(results) == expected
    added = section(results)
    assert (added["questions"], added["replies"], added["translations"], added["failed"]) == (5, 15, 30, 0)
    assert (client.count("subject"), client.count("evaluator")) == (30, 45)
    assert "+50.00 pp = what was said +25.00 (no interval: no variation between questions)" in done.stdout
    shown = sheets.run("show", results, "--all")
    assert "gap:       15 replies to 5 questions" in shown.output
    assert "what it changes alike in both directions cancels out." in shown.output
    assert run(results, "-n", "15").stdout.count("calls: 0 made, 75 replayed") == 1
    assert "sk-nobody" not in "".join(path.read_text() for path in results.parent.iterdir())


def test_interrupted_it_goes_on(results: Path, client: FakeClient) -> None:
    """Nothing is added until all is judged, and nothing is paid for twice."""
    run(results, "-n", "15", "--max-calls", "40", "--concurrency", "2", status=2)
    assert "backtranslation" not in json.loads(results.read_bytes())
    calls_made = len(client.calls)
    run(results, "-n", "15")
    assert 0 < calls_made < len(client.calls) == 75
    assert parts(results)["en-US zh-CN"] == (50, 25, 25)


def test_into_one_language_only(results: Path, client: FakeClient) -> None:
    """Then everything is held against that one, and pairs without it are left out."""
    run(results, "-n", "15", "--to", "en-US")
    assert parts(results) == {"en-US pt-BR": (0, 0, 0), "en-US zh-CN": (50, 25, 25)}
    assert client.count("subject") == 10


def test_failed_translations_are_counted(results: Path, client: FakeClient) -> None:
    """One that is declined, or no translation after two tries, has no score and drops its question."""

    def stubborn(call: Call) -> Answer:
        if call.role == "evaluator" or "to Chinese" not in call.messages[0]["content"]:
            return script(call)
        return "NOT TRANSLATED." if "from Portuguese" in call.messages[0]["content"] else "Not in Chinese."

    client.script = stubborn
    done = run(results, "-n", "9")
    added = section(results)
    assert (added["translations"], added["failed"], added["declined"]) == (18, 6, 3)
    assert added["reasons"]["the translator declined"] == 3
    # A text that was not translated lacks no verdict: 9 + 18 - 6 were judged.
    assert (added["evaluators"][0]["verdicts"], added["evaluators"][0]["missing"]) == (21, 0)
    assert parts(results)["en-US zh-CN"] == (None, None, None)  # type: ignore[comparison-overlap]
    assert "of which 6 failed (33 %; 3 declined)" in done.stdout


def test_suites_without_single_replies_are_refused(results: Path) -> None:
    """In one clear line."""
    other = replace(load(results), suite=suites.load("borderlines"))
    with pytest.raises(UserError, match="the replies of borderlines are not free texts that are judged one"):
        backtranslate.single_reply_rubric(
            other, other.suite.judging.rubric(ROOT / "rubric" / "borderlines.toml")
        )


REFUSED: list[tuple[Callable[[dict[str, Any]], object], tuple[str, ...], str]] = [
    (lambda data: None, ("--to", "xx"), "--to: m.neutrality.json has no replies in xx; it has en-US, "),
    (lambda data: None, ("--model", "x"), "No such option '--model'"),
    (lambda data: data["metadata"].update(recomputed_from="B"), (), "another tool wrote it"),
    (lambda data: data["metadata"].update(status="running"), (), "its session has not ended"),
    (lambda data: [data["results"].pop(name) for name in LANGUAGES[1:]], (), "in fewer than two languages"),
]


def test_what_cannot_work_is_refused(results: Path, client: FakeClient, subtests: pytest.Subtests) -> None:
    """In one line, before anything is asked."""
    whole = results.read_bytes()
    for change, arguments, message in REFUSED:
        with subtests.test(message):
            data = json.loads(whole)
            change(data)
            results.write_text(json.dumps(data), encoding="utf-8")
            done = run(results, *arguments, status=4)
            assert client.calls == []
            assert message in done.stderr.replace(f"{results.parent}/", "")
