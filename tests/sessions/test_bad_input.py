"""What cannot work is refused before anything is spent: exit 4, one line, no call, no file."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT, SMALL_DATASET, Bench

Workers = tuple[str, str]
RUBRIC = (ROOT / "rubric" / "neutrality.toml").read_text(encoding="utf-8")
MODELS = ("--model=subject", "--evaluator-model=judge")


def files(bench: Bench) -> set[Path]:
    """Everything in the bench's folder but caches."""
    found = bench.folder.rglob("*")
    return {path for path in found if not {"__pycache__", ".pytest_cache"} & {*path.parts}}


def refusal(bench: Bench, *arguments: str) -> str:
    """The one line in which a session says that it cannot begin, having asked and left nothing."""
    before = files(bench)
    done = bench.run(*arguments)
    assert done.returncode == 4, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("ERROR: ")
    assert bench.server.requests == []
    assert files(bench) == before
    return line


# Values.

VALUES = [
    ("runs", "0", "is not a whole number from 1 up"),
    ("runs", "x", "is not a whole number from 1 up"),
    ("runs", "1.5", "is not a whole number from 1 up"),
    ("limit", "0", "is not a whole number from 1 up"),
    ("subject-temperature", "warm", "is not a number from 0 up, nor none"),
    ("subject-temperature", "-1", "is not a number from 0 up, nor none"),
    ("evaluator-temperature", "nan", "is not a number from 0 up, nor none"),
    ("evaluator-temperature", "inf", "is not a number from 0 up, nor none"),
    ("subject-top-p", "0", "is not a number above 0 and up to 1"),
    ("subject-top-p", "2", "is not a number above 0 and up to 1"),
    ("evaluator-top-p", "nan", "is not a number above 0 and up to 1"),
    ("subject-top-k", "0", "is not a whole number from 1 up"),
    ("subject-max-tokens", "0", "is not a whole number from 1 up"),
    ("api-base-url", "example.com", "is not a URL such as"),
    ("api-base-url", "ftp://example.com", "is not a URL such as"),
    ("api-base-url", "http://", "is not a URL such as"),
    ("api-base-url", "http://example.com:99999", "is not a URL such as"),
    ("api-base-url", "http://exam ple.com", "is not a URL such as"),
    ("evaluator-api-base-url", "http://[::1/v1", "is not a URL such as"),
    ("max-cost", "nan", "is not a number from 0 up"),
    ("max-cost", "-1", "is not a number from 0 up"),
    ("max-calls", "0", "is not a whole number from 1 up"),
    ("case-timeout", "0", "is not a number of seconds above 0"),
    ("request-timeout", "nan", "is not a number"),
    ("concurrency", "0", "is not a whole number from 1 up"),
    ("max-retries", "-1", "is not a whole number from 0 up"),
    ("evaluator-attempts", "0", "is not a whole number from 1 up"),
    ("price-input", "nan", "is not a number from 0 up"),
]
"""Option, value, and what is said of it."""
OTHERS = [row for row in VALUES if "base-url" not in row[0]]  # the bench gives that on the command line


@pytest.mark.parametrize(("option", "value", "said"), VALUES)
def test_a_bad_value_on_the_command_line(bench: Bench, option: str, value: str, said: str) -> None:
    """The line names the option and the value."""
    line = refusal(bench, "--max-retries=0", f"--{option}={value}")
    assert f"--{option}: {value!r} {said}" in line


@pytest.mark.parametrize(("option", "value", "said"), OTHERS[::6])
def test_a_bad_value_in_the_environment(
    bench: Bench, workers: Workers, monkeypatch: pytest.MonkeyPatch, option: str, value: str, said: str
) -> None:
    """The line names the variable and the value."""
    variable = f"EQUIPOISE_{option.upper().replace('-', '_')}"
    monkeypatch.setenv(variable, value)
    assert f"{variable}: {value!r} {said}" in refusal(bench, *workers)


@pytest.mark.parametrize(("option", "value", "said"), OTHERS[1::6])
def test_a_bad_value_in_pytest_ini(
    bench: Bench, workers: Workers, option: str, value: str, said: str
) -> None:
    """The line names file, key and value."""
    key = f"equipoise_{option.replace('-', '_')}"
    with (bench.folder / "pytest.ini").open("a") as file:
        file.write(f"{key} = {value}\n")
    assert f"pytest.ini: {key}: {value!r} {said}" in refusal(bench, *workers)


@pytest.mark.parametrize("option", ["model", "runs", "language", "topics", "output", "api-key"])
def test_an_empty_value_on_the_command_line(bench: Bench, option: str) -> None:
    """An option that is given has a value."""
    assert f"--{option}: the value is empty" in refusal(bench, f"--{option}=")


def test_a_switch_that_is_neither_on_nor_off(
    bench: Bench, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the environment a switch has a value, which can be wrong."""
    monkeypatch.setenv("EQUIPOISE_KEEP_GOING", "maybe")
    assert "EQUIPOISE_KEEP_GOING: 'maybe' is neither true nor false" in refusal(bench, *workers)


@pytest.mark.parametrize("name", ["nowhere.txt", "x" * 300], ids=["missing", "long"])
def test_a_prompt_file_that_cannot_be_read(bench: Bench, name: str) -> None:
    """The line names the option and the file."""
    line = refusal(bench, f"--subject-system-prompt=@{name}")
    assert f"--subject-system-prompt: '@{name}' names a file that cannot be read" in line


# Contradictions.


@pytest.mark.parametrize("source", ["options", "environment", "ini"])
@pytest.mark.parametrize("option", ["price-input", "price-output"])
def test_half_a_price(bench: Bench, monkeypatch: pytest.MonkeyPatch, option: str, source: str) -> None:
    """A price has two parts, wherever it is given."""
    arguments = []
    if source == "options":
        arguments = [f"--{option}=1"]
    elif source == "environment":
        monkeypatch.setenv(f"EQUIPOISE_{option.upper().replace('-', '_')}", "1")
    else:
        arguments = ["-o", f"equipoise_{option.replace('-', '_')}=1"]
    line = refusal(bench, *arguments)
    assert "--price-input and --price-output: give both, or neither" in line


@pytest.mark.parametrize(
    ("models", "unknown"),
    [
        (("--model=subject",), "subject"),
        (("--model=gpt-4o",), "judge"),
        (("--model=gpt-4o", "--evaluator-model=gpt-4o", "--evaluator-model=odd"), "judge"),
    ],
    ids=["subject", "evaluator", "panel"],
)
def test_a_limit_of_cost_for_a_model_without_a_price(
    bench: Bench, workers: Workers, models: tuple[str, ...], unknown: str
) -> None:
    """What cannot be counted cannot be limited; the line names the model and what to say."""
    line = refusal(bench, *workers, *models, "--max-cost", "1")
    assert f"--max-cost: the price of {unknown!r} is not known" in line
    assert "--price-input and --price-output" in line


# Which questions.


@pytest.mark.parametrize("language", ["xx", ",", "aa,xx", "AA"])
def test_an_unknown_language(bench: Bench, workers: Workers, language: str) -> None:
    """The line says which there are."""
    line = refusal(bench, *workers, f"--language={language}")
    assert "--language: no " in line
    assert "there are aa, bb" in line


@pytest.mark.parametrize(
    "path",
    ["nowhere", "pytest.ini/x", "x" * 300, "a\nb"],
    ids=["missing", "in-a-file", "long", "line-break"],
)
def test_topics_that_do_not_exist(bench: Bench, workers: Workers, path: str) -> None:
    """The line names the path, on one line whatever is in it, and the option."""
    line = refusal(bench, *workers, f"--topics={path}")
    assert path[:50].partition("\n")[0] in line
    assert "--topics" in line


@pytest.mark.parametrize(
    ("dataset", "said"),
    [
        ({}, "no question files"),
        ({"index.csv": SMALL_DATASET["index.csv"]}, "no question files"),
        ({"aa.txt": ""}, "aa.txt:1: no question in this file"),
        ({"aa.txt": "\n \n"}, "aa.txt:1: no question in this file"),
        ({"aa.txt": "One?\n\nOne?\n"}, "aa.txt:3: repeats line 1"),
        ({"a a.txt": "One?\n"}, "must be a language code"),
        ({"aa.txt": "One?\n", "index.csv": ""}, "index.csv:1: the columns must be"),
        ({"aa.txt": "One?\nTwo?\n", "index.csv": "line,id,area,slug,keywords\n1,q,a,s,\n"}, "aa.txt:2:"),
    ],
    ids=["empty", "index-only", "nothing", "blanks", "repeated", "name", "index", "misfit"],
)
def test_topics_without_questions(bench: Bench, dataset: dict[str, str], said: str) -> None:
    """The line names the folder, or file and line."""
    bench.write_topics(dataset)
    assert said in refusal(bench)


@pytest.mark.parametrize("name", ["aa.txt", "index.csv"])
def test_topics_that_are_not_utf_8(bench: Bench, name: str) -> None:
    """The line names file and line."""
    path = bench.folder / "topics" / "neutrality" / name
    path.write_bytes(path.read_bytes().replace(b"two", b"tw\xff"))
    assert f"{name}:{2 if name == 'aa.txt' else 3}: not UTF-8" in refusal(bench)


def test_a_topic_file_that_is_a_folder(bench: Bench) -> None:
    """The line names it."""
    (bench.folder / "topics" / "neutrality" / "cc.txt").mkdir()
    assert "cc.txt: cannot be read (Is a directory)" in refusal(bench)


# The rubric.


def without(start: str, text: str = RUBRIC) -> str:
    """The rubric without the lines that begin like this."""
    kept = [line for line in text.splitlines(keepends=True) if not line.startswith(start)]
    assert len(kept) < len(text.splitlines())
    return "".join(kept)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(RUBRIC.replace("$reply", ""), "needs the placeholder $reply", id="no-reply"),
        pytest.param(RUBRIC.replace("$code", "code"), "needs the placeholder $code", id="no-code"),
        pytest.param(RUBRIC.replace("$levels", "$stairs"), "$stairs that is not known", id="unknown"),
        pytest.param(RUBRIC.replace("$low", "5 $ "), "prompt.system has a lone $", id="dollar"),
        pytest.param(RUBRIC.replace('version = "1"', 'version = "1'), "not valid TOML", id="toml"),
        pytest.param(without("version"), "version is missing", id="no-version"),
        pytest.param(RUBRIC.replace("[prompt]", "[prompts]"), "prompt is missing", id="no-prompt"),
        pytest.param(RUBRIC.replace("user = ", "users = "), "prompt.user is missing", id="no-user"),
        pytest.param(RUBRIC.replace("[scale", "[scales"), "scale is missing", id="no-scale"),
        pytest.param(without("low"), "scale.low is missing", id="no-low"),
        pytest.param(RUBRIC.replace("high = 5", "high = 1"), "must be above scale.low", id="no-range"),
        pytest.param(without("3 = "), "must describe every level from 1 to 5", id="no-level"),
        pytest.param(RUBRIC.replace("low = 1", 'low = "1"'), "low must be a whole number", id="low-kind"),
        pytest.param(RUBRIC.replace('"flag"', '"flags"'), "verdict.refused is 'flags'", id="field-kind"),
        pytest.param(without('score = "scale"'), "score", id="no-score"),
        pytest.param(RUBRIC.replace('score = "scale"', 'score = "text"'), "score", id="score-kind"),
        pytest.param(without('refused = "flag"'), "refused", id="no-refused"),
        pytest.param("", "verdict is missing", id="empty"),
    ],
)
def test_a_rubric_with_a_hole(bench: Bench, text: str, said: str) -> None:
    """The line names the file and the key."""
    (bench.folder / "rubric").mkdir()
    (bench.folder / "rubric" / "neutrality.toml").write_text(text, encoding="utf-8")
    line = refusal(bench)
    assert "rubric/neutrality.toml: " in line
    assert said in line.partition("neutrality.toml")[2]


@pytest.mark.parametrize("kind", ["folder", "bytes"])
def test_a_rubric_that_cannot_be_read(bench: Bench, workers: Workers, kind: str) -> None:
    """The line names the file."""
    path = bench.folder / "rubric" / "neutrality.toml"
    path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(RUBRIC.encode("utf-16"))
    assert "rubric/neutrality.toml" in refusal(bench, *workers)


# Where results go.


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("mine.json", "my notes\n", id="results-notes"),
        pytest.param("mine.json", "", id="results-empty"),
        pytest.param("mine.json", '{"mine": 1}\n', id="results-json"),
        pytest.param("mine.jsonl", "my notes\n", id="journal-notes"),
        pytest.param("mine.jsonl", '{"mine": 1}\n', id="journal-json"),
        pytest.param("mine.jsonl", '{"kind": "session"}\n', id="journal-kind"),
    ],
)
def test_an_output_that_is_something_else(bench: Bench, workers: Workers, name: str, content: str) -> None:
    """A file that is neither results nor a journal of ours stays as it is; the line names it."""
    path = bench.folder / name
    path.write_text(content)
    assert name in refusal(bench, *workers, "--output=mine.json")
    assert path.read_text() == content


@pytest.mark.parametrize("name", ["mine.json", "mine.jsonl"], ids=["results", "journal"])
def test_an_output_that_is_a_folder(bench: Bench, workers: Workers, name: str) -> None:
    """Neither results nor journal can be in the place of a folder."""
    (bench.folder / name).mkdir()
    assert name in refusal(bench, *workers, "--output=mine.json")
    assert [*(bench.folder / name).iterdir()] == []


@pytest.mark.parametrize(
    "output",
    [
        *("/proc/mine.json", "/proc/nowhere/mine.json", "pytest.ini/mine.json"),
        *(f"{'x' * 300}.json", f"{'x' * 245}.json", f"{'x' * 300}/mine.json"),
    ],
    ids=["proc", "in-proc", "in-a-file", "long", "rather-long", "long-folder"],
)
def test_an_output_that_cannot_be_written(bench: Bench, output: str) -> None:
    """The line names the place and the reason."""
    line = refusal(bench, f"--output={output}")
    assert "cannot be written" in line
    assert Path(output).parts[0][:50] in line


def test_a_results_folder_that_is_a_file(bench: Bench, workers: Workers) -> None:
    """Nothing is put beside it, and it stays as it is."""
    (bench.folder / "results").write_text("my notes")
    assert "results: cannot be written to" in refusal(bench, *workers)
    assert (bench.folder / "results").read_text() == "my notes"


def test_an_archive_that_is_a_file(bench: Bench, workers: Workers) -> None:
    """Where earlier results cannot be put away no session begins, and they stay as they are."""
    assert bench.run("--runs", "1").returncode == 0
    before = bench.results_path.read_bytes()
    archive = bench.results_path.parent / "archive"
    archive.write_text("mine", encoding="utf-8")
    line = bench.refusal(*workers, "--runs", "1", "--fresh")
    assert "results/archive: the earlier results cannot be archived there" in line
    assert (bench.results_path.read_bytes(), archive.read_text(encoding="utf-8")) == (before, "mine")


# Which model.


@pytest.mark.parametrize("option", ["model", "evaluator-model"])
def test_a_local_model_without_a_file(bench: Bench, workers: Workers, option: str) -> None:
    """The line names the file."""
    assert "no such file 'none.gguf'" in refusal(bench, *workers, f"--{option}=local:none.gguf")
