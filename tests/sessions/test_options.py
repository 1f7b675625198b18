"""Whole sessions with the options as users type them: paths wherever they are, and all suites at once."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from conftest import ROOT, SMALL_DATASET, Bench
from loopback import JUDGE, SUBJECT


def spelled(flag: str, path: Path, form: str) -> list[str]:
    """An option with its value behind a space, or behind an equals sign."""
    return [flag, str(path)] if form == " " else [f"{flag}={path}"]


def outside(bench: Bench, factory: pytest.TempPathFactory) -> Path:
    """A folder beside the project, with its questions."""
    folder = factory.mktemp("outside")
    shutil.copytree(bench.folder / "topics" / "neutrality", folder / "questions")
    return folder


@pytest.mark.slow
def test_a_table_whose_languages_are_uneven_is_asked_with_a_warning(bench: Bench) -> None:
    """Once, right after the opening line; what is there is asked, and the warning is kept."""
    path = bench.folder / "questions.csv"
    path.write_bytes(
        "\ufeffid;area;aa;bb\r\none;first;What is one?;O que é um?\r\ntwo;;What is two?;\r\n".encode()
    )
    (bench.folder / "about.toml").write_text(SMALL_DATASET["about.toml"], encoding="utf-8")
    done = bench.run("-n", "2", "--runs", "1", "--topics", "questions.csv")
    assert "3 passed" in done.stdout
    lines = done.stdout.splitlines()
    (warning,) = [line for line in lines if "WARNING" in line]
    assert lines.index(warning) == 1
    assert warning.startswith("WARNING: questions.csv: of 2 questions bb lacks 1 (two), so the figures")
    data = bench.results()
    assert data["metadata"]["data_notes"] == [warning.removeprefix("WARNING: ")]
    assert [item["area"] for item in data["results"]["aa"]["questions"]] == ["first", "general"]


@pytest.mark.slow
def test_paths_are_taken_in_either_form_wherever_they_are(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In a folder elsewhere, files that are there and files that are not, with workers and without."""
    folder = outside(bench, tmp_path_factory)
    assert bench.run("--runs", "1", "--output", str(folder / "old.json")).returncode == 0
    # The last time the output is there.
    for form, workers in ((" ", "2"), ("=", "0"), (" ", "0")):
        new = folder / f"new-{workers}.json"
        paths = {"--topics": folder / "questions", "--baseline": folder / "old.json", "--output": new}
        words = [word for flag, path in paths.items() for word in spelled(flag, path, form)]
        done = bench.run("--runs", "1", *words, "-n", workers)
        assert done.returncode == 0, (words, done.stdout + done.stderr)
        assert "4 passed" in done.stdout, words
        assert "against the baseline" in done.stdout, words
        assert json.loads(new.read_text(encoding="utf-8"))["comparison"], words


@pytest.mark.slow
def test_results_elsewhere_are_judged_again_behind_a_space(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """`--rejudge FILE` of another folder, with a prompt of several lines from a file there."""
    folder = outside(bench, tmp_path_factory)
    (folder / "prompt.txt").write_text("Be strict.\nBe fair.\n", encoding="utf-8")
    assert bench.run("--runs", "1", "--output", str(folder / "old.json")).returncode == 0
    calls = len(bench.server.requests)
    endpoint = ("--evaluator-model", JUDGE, "--api-base-url", bench.server.url)
    prompt = ("--evaluator-system-prompt-file", str(folder / "prompt.txt"))
    done = bench.run_plain(*endpoint, *prompt, "--rejudge", str(folder / "old.json"), "-n", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    again = bench.server.requests[calls:]
    assert len(again) == 4
    assert all(body["messages"][0]["content"].startswith("Be strict.\nBe fair.") for body in again)


@pytest.mark.slow
def test_other_pytests_are_left_alone(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Where the package is installed, a project of somebody else may have an option --model of its own."""
    other = tmp_path_factory.mktemp("other")
    (other / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (other / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--model')\n    parser.addoption('--output')\n",
        encoding="utf-8",
    )
    (other / "test_it.py").write_text(
        "def test_it(pytestconfig):\n"
        "    assert pytestconfig.getoption('model') == 'theirs'\n"
        "    assert not pytestconfig.pluginmanager.hasplugin('equipoise.plugin')\n",
        encoding="utf-8",
    )
    bench.folder = other
    done = bench.run_plain("--model", "theirs", "--output", "out.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_outside_a_project_pytest_says_where_to_ask(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In one line; without our option pytest does as ever."""
    bench.folder = tmp_path_factory.mktemp("empty")
    for model in (("--model", "m"), ("--model=m",)):
        done = bench.run_plain(*model, "-k", "x")
        assert (done.returncode, done.stdout.strip()) == (4, "")
        (line,) = done.stderr.strip().splitlines()
        assert line.startswith(
            "ERROR: --model: pytest knows no such option in this folder, which is no Equipoise "
        )
        assert "`equipoise run SUITE --model M`" in line
        assert "`equipoise init FOLDER`" in line
    assert "unrecognized arguments: --modle" in bench.run_plain("--modle=m").stderr


# Files of options.


@pytest.mark.slow
def test_a_session_reads_env_and_config_files(bench: Bench) -> None:
    """In their order; the header names the variables, and no file has the key."""
    key = "sk-planted-in-env-Zq81"
    variables = {"OPENAI_API_KEY": key, "EQUIPOISE_MODEL": SUBJECT, "EQUIPOISE_RUNS": 2}
    text = "".join(f"{name}={value}\n" for name, value in variables.items())
    (bench.folder / ".env").write_text(text)
    config = f'model = "other"\nevaluator-model = "{JUDGE}"\nruns = 4\nlanguage = ["aa"]\nlimit = 2\n'
    (bench.folder / "session.toml").write_text(config + f'api-base-url = "{bench.server.url}"\n')
    done = bench.run_plain("--config", "session.toml", "--limit", "1", "-n", "2", "--debug=pytestdebug.log")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    lines = done.stdout.splitlines()
    assert lines.count(".env: OPENAI_API_KEY, EQUIPOISE_MODEL, EQUIPOISE_RUNS") == 1
    assert lines.count("config: session.toml") == 1
    about = bench.results()["metadata"]
    assert (about["subject_model"], about["runs_expected"], about["languages"]) == (SUBJECT, 2, ["aa"])
    assert {request["Authorization"] for request in bench.server.headers} == {f"Bearer {key}"}
    written = [path for path in bench.folder.rglob("*") if path.is_file() and path.name != ".env"]
    assert [path for path in written if key.encode() in path.read_bytes()] == []
    assert key not in done.stdout + done.stderr


# All suites.


@pytest.mark.parametrize(
    ("option", "message"),
    [("--topics=gone.txt", "gone.txt"), ("--gate=overall:-2pp", "--gate overall:-2pp: compared with what? ")],
)
def test_collecting_checks_what_a_session_would(bench: Bench, option: str, message: str) -> None:
    """A usage error in one line, before anything is collected: missing data, and options that cannot work."""
    done = bench.run("--collect-only", option)
    assert done.returncode == 4, done.stdout
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "ERRORS" not in done.stdout


@pytest.mark.slow
def test_a_limit_is_dealt_among_what_is_selected(bench: Bench) -> None:
    """After -k; as many of each language and none of an area twice; the next limit asks only what is new."""
    shipped = ("--topics", str(ROOT / "topics" / "neutrality"), "--runs", "1", "-n", "2")
    chosen = (*shipped, "-k", "(en-US or zh-CN) and not cross_strait")
    assert bench.run(*chosen, "--limit", "3").returncode == 0
    calls = len(bench.server.requests)
    cases = [case for part in bench.results()["results"].values() for case in part["questions"]]
    areas = [case["area"] for case in cases]
    assert len(cases) == 6
    assert len(set(areas)) == 3
    assert "cross_strait" not in areas
    done = bench.run(*chosen, "--limit", "4")
    assert (done.returncode, len(bench.server.requests)) == (0, calls + calls // 3)
    selection = bench.results()["metadata"]["selection"]
    assert (selection["keyword"], selection["deselected"]) == (chosen[-1], 150 - 8)
    assert re.search(r"^overall .* 4$", done.stdout, re.MULTILINE)
