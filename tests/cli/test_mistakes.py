"""Mistakes on the command line: what was wrong and what to do, exit status 4, and nothing written.

Each row is a command line and what it must be told. Sessions run in this process, as far as they get.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
import sides
from click.testing import CliRunner
from journals import record, write

from equipoise import suites
from equipoise.cli import main
from loopback import Loopback, error

ASKING = (
    "check neutrality --model m --evaluator-model m --max-retries 0",
    "data translate --from en.txt --to pt --model m",
    "judge audit neutrality --evaluator-model m --extent quick",
)
"""Commands that ask models; those of sessions are in tests/sessions/test_first_calls.py."""
NEUTRALITY = "run neutrality --model m --api-base-url http://127.0.0.1:9/v1"
GATE = "gate a.json --baseline b.json --gate"
FILES = {
    "bad.toml": "runs = = 2",
    "typo.toml": "runz = 2",
    "key.toml": 'api-key = "sk-planted"',
    "mine.json": '{"notes": 1}',
    "broken.json": '{"metadata": ',
    "notes.jsonl": "my notes\n",
    "damaged.json": '{"metadata": {"schema_version": 1, "suite": "neutrality"}, "results": {}}',
    "sweep_suite.toml": '[[models]]\nmodel = "m"\n[[suites]]\nsuite = "neutralty"\n',
}
ROWS: list[tuple[str, str]] = [
    # The command and the suite.
    ("reprot .", "there is no command 'reprot'; did you mean 'report'?"),
    ("compare a.json", "compare: Missing argument 'CANDIDATE...'; `main compare --help` shows how\n"),
    ("show a b", "`main show --help` shows how\n"),
    ("--nonsense", "`main --help` shows how\n"),
    ("export a.json --to excel", "'excel' is not one of 'csv', 'parquet'"),
    ("neutrality --model m", "there is no command 'neutrality'; to run the suite: equipoise run neutrality"),
    ("data fech", "there is no command 'fech'; did you mean 'fetch'?"),
    ("validate", "there is no command 'validate'; it is now: equipoise "),
    ("eval neutrality", "there is no command 'eval'; `equipoise --help` lists all"),
    ("run", "Missing argument 'SUITE'"),
    ("run --model m", "--model: which suite? Name it first: equipoise run SUITE --model ...; there are "),
    ("run -n 4", "-n: which suite? Name it first: equipoise run SUITE -n"),
    ("run --api-key=sk-planted", "--api-key: which suite?"),
    ("run neutralty --model m", "there is no suite 'neutralty'; did you mean 'neutrality'?"),
    ("run neutrality,nonsense --model m", f"no suite 'nonsense'; there are {', '.join(suites.names())}, all"),
    ("run nonsense,all", "no suite 'nonsense'"),
    ("run neutrality,all --model m", "neutrality,all: all has every suite; name it alone"),
    (
        "run neutrality politicsbench --model m",
        "several suites are separated by commas: neutrality,politicsbench",
    ),
    ("check neutralty --model m", "there is no suite 'neutralty'; did you mean 'neutrality'?"),
    ("run neutrality", "which model? Name it with --model"),
    ("check", "which model? Name it with --model"),
    # Names of options, ours and others'.
    (f"{NEUTRALITY} --run 2", "--run: there is no such option; did you mean --runs?"),
    (f"{NEUTRALITY} --epochs 2", "--epochs: there is no such option; here it is --runs"),
    (f"{NEUTRALITY} --grader j", "here it is --evaluator-model"),
    (f"{NEUTRALITY} --judge j", "here it is --evaluator-model"),
    (f"{NEUTRALITY} --temperature 0", "here it is --subject-temperature"),
    (f"{NEUTRALITY} --max-connections 4", "here it is --concurrency"),
    (f"{NEUTRALITY} --dry-run", "here it is --estimate"),
    (f"{NEUTRALITY} --num_fewshot 4", "--num_fewshot: there is no such option"),
    (f"{NEUTRALITY} --output_path r", "--output_path: there is no such option; did you mean --output?"),
    (f"{NEUTRALITY} --model_args x=1", "--model_args: there is no such option"),
    (f"{NEUTRALITY} --tasks x", "--tasks: there is no such option"),
    (
        f"{NEUTRALITY} -o results.json",
        "-o results.json: is pytest's option for settings, as -o KEY=VALUE; use --output",
    ),
    (f"{NEUTRALITY} -j 4", "calls in flight are --concurrency 4"),
    ("show a.json --lowset 3", "--lowset"),
    # Values.
    (f"{NEUTRALITY} --runs 0", "--runs: '0' is not a whole number from 1 up"),
    (f"{NEUTRALITY} --limit", "--limit"),
    (f"{NEUTRALITY} --runs=1 --runs 2", "--runs: takes one value, but the command line has '1' and '2'"),
    (f"{NEUTRALITY} --language en", "--language: no 'en' in "),
    (f"{NEUTRALITY} --dataset origin", "--dataset origin: neutrality has no such dataset; it has own, open"),
    (f"{NEUTRALITY} --dataset original", "run: equipoise data fetch neutrality"),
    (f"{NEUTRALITY} --shard 5/4", "--shard: '5/4'"),
    (f"{NEUTRALITY} --subject-header sk-planted-key", "--subject-header: the value is not NAME=VALUE"),
    (f"{NEUTRALITY} --max-cost 5", "--max-cost: the price of 'm' is not known; give it with --price-input"),
    (f"{NEUTRALITY} --count 3", "--count"),
    ("run neutrality --model m --api-base-url http://u:pw-planted@h/v1", "--api-base-url"),
    ("check --model m --api-base-url nowhere", "--api-base-url: 'nowhere' "),
    ("check --model local:nowhere.gguf", "nowhere.gguf"),
    (
        "run neutrality --model a --model b --output r.json",
        "--output: names one file, but there are several models; leave it out\n",
    ),
    # Files.
    (f"{NEUTRALITY} --config key.toml", "key.toml: "),
    (f"{NEUTRALITY} --config empty", "empty"),
    (f"{NEUTRALITY} --topics nope", "nope: no such file or folder; name one with --topics"),
    (f"{NEUTRALITY} --topics empty", "empty"),
    (f"{NEUTRALITY} --rubric nope.toml", "nope.toml"),
    (f"{NEUTRALITY} --rubric bad.toml", "bad.toml: "),
    (f"{NEUTRALITY} --output empty", "empty: not a results file; name another with --output=FILE"),
    (f"{NEUTRALITY} --output mine.json", "mine.json: not a results file"),
    (f"{NEUTRALITY} --rejudge nope.json", "nope.json"),
    ("show nope.json", "nope.json: cannot be read (No such file or directory)"),
    ("show mine.json", "mine.json: is not an Equipoise results file"),
    ("show broken.json", "broken.json: "),
    ("report j.jsonl", "a journal's results are j.json"),
    ("show empty", "empty: is a folder; name the results files in it"),
    ("report empty", "empty: no results files; run a suite first"),
    ("report nope", "nope"),
    ("report damaged.json", "damaged.json: is damaged"),
    ("report a.json -o empty", "is a folder"),
    ("report a.json -o /proc/page.html", "cannot be written"),
    ("report a.json --reviews nope.json", "--reviews: "),
    ("report a.json --reviews a.json --no-transcripts", "leave --no-transcripts out"),
    ("export empty --to csv", "empty: no results files; run a suite first"),
    ("export a.json --to pandas", "'pandas' is not one of 'csv'"),
    ("export nope.json --to csv", "nope.json: cannot be read (No such file or directory)"),
    ("export a.json --to csv --developer x", "--developer: is for --to every_eval_ever"),
    ("export a.json --to csv -o mine.json/x", "--output: mine.json/x: cannot be"),
    ("export a.json --to every_eval_ever -o mine.json/x", "--output: mine.json/x: cannot be"),
    (
        "export a.json --to csv -o a.json",
        "--output: a.json: has a session's results or journal; name another file",
    ),
    ("export a.json --to jsonl -o j.jsonl", "--output: j.jsonl: has a session's results or journal"),
    ("compare a.json b.json -o b.json", "--output: b.json: has a session's results or journal"),
    ("compare a.json b.json -o empty", "empty: cannot be written"),
    ("report a.json -o a.json", "-o: a.json: is the name of results; name a page, such as report.html"),
    ("export a.json", "Missing option '--to'"),
    ("export --to csv", "Missing argument 'RESULTS...'"),
    ("export a.json --to schema", "a.json: --to schema takes no results"),
    ("export a.json --to published", "--to published: takes one file, and -o for the new one"),
    ("export a.json --to published -o a.json", "a.json: is the input, which is never overwritten"),
    ("report empty --figures p", "empty"),
    ("report a.json --figures p -o page.html", "--figures: writes no page"),
    ("compare a.json b.json --panels --all", "--panels: ranks all files"),
    ("plot empty -o p", "there is no command 'plot'; it is now: equipoise report RESULTS --figures FOLDER"),
    ("show nope.jsonl", "nope.jsonl: no such journal"),
    ("show notes.jsonl", "notes.jsonl: not an Equipoise journal"),
    ("show a.json -o b.json", "--output: is only for a journal"),
    ("data validate nope", "nope"),
    ("data validate", "topics: no such folder here; name the folders or files to look at"),
    ("merge empty", "empty"),
    ("merge nope", "nope"),
    ("compare a.json nope.json", "nope.json: cannot be read (No such file or directory)"),
    ("compare a.json c.json", "a.json and c.json cannot be compared"),
    ("compare a.json mine.json", "mine.json: is not an Equipoise results file"),
    ("review sample a.json -n 20", "Missing option '-o' / '--output'"),
    ("judge audit nope", "Missing option '--evaluator-model'"),
    ("judge audit neutrality", "--evaluator-model"),
    ("docs nope", "nope"),
    ("data translate --from nope.txt --to pt --model m", "nope.txt"),
    # Gates.
    (
        f"{NEUTRALITY} --gate overall:-2pp",
        "--gate overall:-2pp: compared with what? Name earlier results with --baseline=PATH",
    ),
    (
        f"{NEUTRALITY} --baseline nope.json --gate overall:-2pp",
        "nope.json: cannot be read (No such file or directory)",
    ),
    (f"{NEUTRALITY} --baseline c.json --gate overall:-2pp", "c.json"),
    (f"{NEUTRALITY} --baseline empty --gate overall:-2pp", "empty"),
    (f"{NEUTRALITY} --gate nope.toml --baseline a.json", "nope.toml"),
    (f"{GATE} overal:-2pp", "did you mean"),
    ("gate a.json --gate overall:-2pp", "--baseline"),
    ("gate a.json --baseline b.json", "--gate"),
    # Sweeps.
    ("sweep nope.toml", "nope.toml: "),
    ("sweep sweep_suite.toml", "sweep_suite.toml: there is no suite 'neutralty'; did you mean 'neutrality'?"),
    ("sweep", "Missing argument 'TABLE'"),
]


@pytest.fixture(autouse=True)
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder has results, and files that are something else."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    for name, suite in (("a", "neutrality"), ("b", "neutrality"), ("c", "attribution")):
        sides.write(tmp_path / f"{name}.json", sides.by_chance(1), subject_model=name, suite=suite)
    write(Path("j.jsonl"), record("x"), plan=["x-run1"], suite="neutrality")
    Path("empty").mkdir()


def typed(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit status of a command line, and what it says on standard error."""
    commands: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda path, command: commands.append(command))
    done = CliRunner().invoke(main, shlex.split(line))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    if not commands:
        return done.exit_code, done.stderr
    status = pytest.main([*commands[0][3:], "-p", "no:cacheprovider"])
    return int(status), capsys.readouterr().err


def files(folder: Path) -> set[Path]:
    """All files but locks."""
    return {path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"}


def test_a_mistake_is_told_in_one_line(
    subtests: pytest.Subtests,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Which says what, where and what to do; nothing is written."""
    monkeypatch.delenv("EQUIPOISE_ORIGINAL_DATA", raising=False)
    before = files(tmp_path)
    for line, says in ROWS:
        with subtests.test(line):
            status, message = typed(line, monkeypatch, capsys)
            assert (status, says in message) == (4, True), message
            assert "Traceback" not in message
            assert "planted" not in message
            assert files(tmp_path) == before


def test_an_endpoint_that_refuses_all_is_a_mistake_of_every_command(
    subtests: pytest.Subtests, loopback: Loopback, tmp_path: Path
) -> None:
    """Until a model has answered: wrong keys, models, URLs and parameters."""
    Path("en.txt").write_text("Why?\n", encoding="utf-8")
    before = files(tmp_path)
    root = loopback.url.removesuffix("/v1")
    for answer, says in (
        (error(401, "Wrong key."), "HTTP 401: Wrong key.; no key was given: set it in OPENAI_API_KEY"),
        (error(404, "Not Found"), "check the model's name and"),
        (error(400, "temperature: must be at most 1.", param="temperature"), "HTTP 400: temperature"),
    ):
        loopback.script = lambda body, number, answer=answer: answer  # type: ignore[misc]
        for line in ASKING:
            url = root if "name" in says else loopback.url
            with subtests.test(f"{says}: {line}"):
                done = CliRunner().invoke(main, [*shlex.split(line), "--api-base-url", url])
                assert (done.exit_code, says in done.output) == (4, True), done.output
                assert "again" not in done.output
                assert files(tmp_path) == before
