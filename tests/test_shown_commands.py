"""The commands that README.md and the pages in docs/ show can be run as they stand there."""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conftest import ROOT, Bench
from equipoise import suites
from equipoise.cli import main
from loopback import Loopback, question_of, score_of, verdict

PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "suites").glob("*.md")),
]
PROGRAMS = ("pytest", "equipoise", "make", "python", "pip", "docker", "git", "cp", "export")
NOT_RUN = ("python", "pip", "docker", "git", "cp", "export")
"""What is not ours, or takes longer than a test may; `.ci/run` runs the demo and builds the site."""
FILLED_IN = re.compile(r"(?<!-o )\b\w+\.csv")
"""Sheets that people fill in."""
OWN_SUITE = re.compile(r"^equipoise (suites|run) x\b")
"""Suites that `equipoise init --new-suite` has made."""
FETCHED = re.compile(r"\bfetch pcp\b|--dataset pcp\b")
"""What is on another server, or has to be fetched from there."""
OTHERS_RESULTS = re.compile(r"--baseline[ =]\S+\.(?!neutrality\b)\w+\.json\b")
"""Results of a suite that this test does not run."""
NOT_AT_HAND = (FILLED_IN, FETCHED, OTHERS_RESULTS)
WITHOUT_CALLS = ("--model local", "--dataset", "tests_benchmark", "run all")
"""Other suites and the built-in model have tests of their own: of these commands the plan is made."""
QUESTIONS = {
    "en-US.txt": "What is one?\nWhat is two?\nWhat is three?\n",
    "zh-CN.txt": "一是什么？\n二是什么？\n三是什么？\n",
    "index.csv": "line,id,area,slug,keywords\n1,q01,hong_kong,one,香港\n"
    "2,q02,xinjiang_tibet,census_1953,西藏\n3,q03,cross_strait,three,台海\n",
}
RELEASES = 4


def shown() -> Iterator[tuple[str, str]]:
    """Every command with its page: of blocks of commands, indented ones, and jobs of CI."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        blocks = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        jobs = re.findall(r"run: >\n((?: {4,}.*\n)+)", text)
        indented = re.findall(
            r"^    (\S.*)$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE
        )
        for line in [*"\n".join(blocks).splitlines(), *indented, *(" ".join(job.split()) for job in jobs)]:
            command = re.sub(r"\s+#\s.*", "", line).strip().removeprefix(".venv/bin/")
            words = [word for word in command.split() if not re.match(r"[A-Z_]+=", word)]
            if words and words[0] in PROGRAMS and "..." not in command.replace("=...", ""):
                yield page.name, command


def answer(body: dict[str, Any], number: int) -> str:
    """Every question gets an answer, every answer a score."""
    is_evaluator = "[end of reply" in str(body["messages"])
    question = question_of(body)
    return verdict(score_of(question)) if is_evaluator else f"An answer to: {question}"


def forget_own_suite() -> None:
    """Let the registry look again: a suite of a project's own is none of other tests'."""
    sys.modules.pop("equipoise.suites.x", None)
    vars(suites).pop("x", None)
    for function in (suites.names, suites.load, suites.options):
        function.cache_clear()


class Shell:
    """Runs each command in a folder of its own, with the files that it names."""

    def __init__(self, folder: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._server = server
        self._patch = monkeypatch
        self._handed: list[list[str]] = []
        self._count = 0
        server.script = answer
        monkeypatch.setenv("EQUIPOISE_API_BASE_URL", server.url)
        monkeypatch.setattr(os, "execv", lambda path, command: self._handed.append(command))
        self._releases = [self._release(number) for number in range(1, RELEASES + 1)]

    def run(self, command: str) -> tuple[int, str]:
        """The exit status of a command, and what it printed."""
        try:
            return self._run(command)
        finally:
            forget_own_suite()

    def _run(self, command: str) -> tuple[int, str]:
        bench = self._bench()
        small = re.sub(r"(--shard \d)/\d+", r"\1/2", re.sub(r"-n \d\b", "-n 0", command))
        words = [self._word(word) for word in shlex.split(small)]
        with self._patch.context() as patch:
            while re.match(r"[A-Z_]+=", words[0]):
                patch.setenv(*words.pop(0).split("=", 1))
            self._provide(bench.folder, command)
            words = [name for word in words for name in self._named(bench.folder, word)]
            if words[:2] == ["equipoise", "merge"]:
                self._shards(bench)
            if words[0] == "pytest":
                return self._session(bench, words[1:], command)
            patch.chdir(bench.folder)
            shortened = {("judge", "audit"): ("--max-calls", "3"), ("sweep",): ("--dry-run",)}
            more = next((add for name, add in shortened.items() if (*words[1:],)[: len(name)] == name), ())
            patch.setattr(suites, "__path__", [*suites.__path__])
            done = CliRunner().invoke(main, [*words[1:], *more])
            if self._handed:
                return self._session(bench, self._handed.pop()[3:], command)
            return done.exit_code, done.output

    def _session(self, bench: Bench, words: list[str], command: str) -> tuple[int, str]:
        plan = ("--estimate",) if any(text in command for text in WITHOUT_CALLS) else ()
        done = bench.run_plain(*words, *plan)
        return done.returncode, done.stdout + done.stderr

    def _bench(self) -> Bench:
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir()
        bench = Bench(folder, self._server)
        bench.write_topics(QUESTIONS)
        own = folder / "topics" / "neutrality"
        for copy in (own / "open", folder / "india"):
            copy.mkdir()
            for name, text in QUESTIONS.items():
                (copy / name).write_text(text, encoding="utf-8")
        for topics in {*(ROOT / "topics").iterdir()} - {ROOT / "topics" / "neutrality"}:
            (folder / "topics" / topics.name).symlink_to(topics)
        return bench

    def _word(self, word: str) -> str:
        return self._server.url if word.startswith("http") else {"$MODEL": "gpt-4.1-mini"}.get(word, word)

    def _named(self, folder: Path, word: str) -> list[str]:
        """The files that a shell would put in place of a pattern."""
        return [str(path) for path in folder.glob(word)] if "*" in word else [word]

    def _shards(self, bench: Bench) -> None:
        for number in (1, 2):
            done = bench.run_plain("--model", "gpt-x", "--runs", "2", "--shard", f"{number}/2")
            assert done.returncode == 0, done.stdout + done.stderr

    def _release(self, number: int) -> Path:
        bench = self._bench()
        done = bench.run_plain("--model", f"release-{number}", "--runs", "2")
        assert done.returncode == 0, done.stdout + done.stderr
        return bench.folder / "results" / f"release-{number}.neutrality.json"

    def _provide(self, folder: Path, command: str) -> None:
        """Put results where the command reads them: a release for each file that it names."""
        if OWN_SUITE.search(command):
            program = Path(sys.executable).with_name("equipoise")
            subprocess.run([program, "init", "--new-suite", "x"], cwd=folder, check=True)
        if command.startswith("equipoise judge audit") or "--asker" in command:
            shutil.rmtree(folder / "topics")  # Anchors and cues are for our own questions alone.
        if command.startswith("equipoise sweep"):
            page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
            table = re.findall(r"^```toml\n(# sweep.toml\n.*?)^```", page, re.DOTALL | re.MULTILINE)[0]
            # Without Ray there are no GPUs to deal out; in a dry run none are.
            (folder / "sweep.toml").write_text(table.replace("gpus = 1\n", ""), encoding="utf-8")
            self._patch.setenv("EXAMPLE_KEY", "sk-example")
        if "rubric.toml" in command:
            shutil.copy(ROOT / "rubric" / "neutrality.toml", folder / "rubric.toml")
        if "gates.toml" in command:
            (folder / "gates.toml").write_text(
                '[neutrality]\nrequired = ["overall:-2pp"]\n', encoding="utf-8"
            )
            (folder / "baselines").mkdir()
            shutil.copy(self._releases[0], folder / "baselines" / "neutrality.json")
        if command.startswith("equipoise gate"):
            (folder / "results").mkdir()
            shutil.copy(self._releases[1], folder / "results" / "gpt-x-2.neutrality.json")
        (folder / "reviews.json").write_text('{"format": "equipoise-reviews", "version": 1, "reviews": []}')
        documents = ROOT / "topics" / "chinese_simpleqa" / "sample_documents.jsonl"
        shutil.copy(documents, folder / "documents.jsonl")
        read = re.sub(r"(--output[ =]|-o |--reviews )\S+", "", command)
        named = re.findall(r"(?<![\w/])[\w./-]+\.jsonl?\b", read)
        if "results/" in read and not named:
            named = ["results/a.neutrality.json", "results/b.neutrality.json"]
        releases = iter(self._releases)
        for name in dict.fromkeys(named):
            path = (folder / name).with_suffix(".json")
            if (folder / name).exists():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            source = next(releases)
            shutil.copy(source, path)
            shutil.copy(source.with_suffix(".jsonl"), path.with_suffix(".jsonl"))


@pytest.mark.slow
def test_shown_commands_run(
    tmp_path: Path, loopback: Loopback, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """Each ends as it should: gates may decide either way, and an audit is cut short."""
    shell = Shell(tmp_path, loopback, monkeypatch)
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    pages = {command: page for page, command in shown()}
    for command, page in pages.items():
        program, *rest = [word for word in command.split() if "=" not in word or word.startswith("-")]
        with subtests.test(page, command=command):
            if program == "make":
                assert rest[0] in targets
            elif program not in NOT_RUN and not any(kind.search(command) for kind in NOT_AT_HAND):
                status, output = shell.run(command)
                allowed = {0, 6, 7} if "--gate" in command else {0}
                allowed = {2} if rest[:2] == ["judge", "audit"] else allowed
                # The calls wait to be answered.
                allowed = {8} if rest[:2] == ["batch", "write"] else allowed
                assert status in allowed, output


@pytest.mark.slow
def test_a_comparison_of_three_models_is_published(tmp_path: Path, loopback: Loopback) -> None:
    """The commands of that page, one after the other in one folder, and what is left there."""
    page = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
    commands = "".join(re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)).splitlines()
    small = {"EQUIPOISE_LIMIT": "1", "EQUIPOISE_RUNS": "2", "EQUIPOISE_API_BASE_URL": loopback.url}
    for command in commands:
        program, *arguments = shlex.split(command)
        done = subprocess.run(
            [Path(sys.executable).with_name(program), *arguments],
            cwd=tmp_path,
            env={**os.environ, **small},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")} == {
        *("results", "report.html", "card.md", "runs.csv")
    }
    card = (tmp_path / "card.md").read_text(encoding="utf-8")
    with (tmp_path / "runs.csv").open(encoding="utf-8", newline="") as file:
        models = {row["subject_model"] for row in csv.DictReader(file)}
    assert models == {"gpt-a", "gpt-b", "gpt-c"}
    assert all(f"### {model}: neutrality" in card for model in models)
    assert not [text for text in card.splitlines() if "interrupted" in text]
