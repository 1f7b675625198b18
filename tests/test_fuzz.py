"""Arbitrary input to everything that reads what others have written: a value or a UserError, nothing else."""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from journals import SETTINGS, USAGE, ask, begin, keep, record

from conftest import ALL_OPTIONS, ROOT, resolved
from equipoise.cli import main
from equipoise.core import json_io
from equipoise.core.errors import InvalidVerdict, UserError
from equipoise.core.records import Outcome
from equipoise.core.settings import Settings
from equipoise.core.types import JSON, Reply
from equipoise.judge.rubric import VerdictRubric
from equipoise.models import reasoning
from equipoise.models.counters import Counters
from equipoise.models.failures import (
    Change,
    Failure,
    complains_of_parameter,
    describe_body,
    passed_on_headers,
    rejected_parameter,
)
from equipoise.models.response import read_body
from equipoise.models.retry import LONGEST_RETRY_AFTER, retry_after
from equipoise.report.terminal import header
from equipoise.results import history, journal
from equipoise.results.history import History
from equipoise.results.journal import Journal
from equipoise.results.store import Files
from equipoise.runner import estimate, resume
from equipoise.suites import neutrality
from equipoise.suites.neutrality.dataset import questions
from equipoise.suites.selection import Selection, data_hash
from loopback import completion

fuzzed = settings(
    deadline=None,
    max_examples=200,
    derandomize=True,
    # The files of a test are written again for every example.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


# Values.


any_text = st.text(st.characters(exclude_categories=[]), max_size=40)
any_json: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


def made_of(*fragments: str) -> st.SearchStrategy[str]:
    """Texts of these fragments and of others."""
    return st.lists(st.sampled_from(fragments) | any_text, max_size=12).map("".join)


@st.composite
def mutated(draw: st.DrawFn, whole: JSON) -> JSON:
    """A JSON value of which one to three parts, however deep, are left out or replaced."""
    found = [json.loads(json.dumps(whole))]
    for _ in range(draw(st.integers(1, 3))):
        container, key = draw(st.sampled_from(list(_places(found))))
        if draw(st.booleans()) and container is not found:
            del container[key]
        else:
            container[key] = draw(any_json)
    return found[0]


def _places(container: Any) -> Iterator[tuple[Any, Any]]:
    """Every value within a container, as the container that it is in and its key there."""
    for key in container if isinstance(container, dict) else range(len(container)):
        yield container, key
        if isinstance(container[key], dict | list):
            yield from _places(container[key])


@contextmanager
def user_errors() -> Iterator[None]:
    """Whoever made the input may be told so, in one line."""
    message = ""
    try:
        yield
    except UserError as error:
        message = str(error)
    assert "\n" not in message


# Verdicts.


RUBRIC_FILE = ROOT / "rubric" / "neutrality.toml"
RUBRIC = neutrality.rubric(RUBRIC_FILE)
VERDICT = {"reasoning": "Because.", "refused": False, "score": 3}
some_verdict = mutated(VERDICT) | st.fixed_dictionaries(dict.fromkeys(VERDICT, any_json))
verdict_text = st.one_of(
    any_text,
    some_verdict.map(json.dumps),
    some_verdict.map(lambda data: f"```json\n{json.dumps(data, indent=1)}\n```"),
    made_of(
        "{", "}", '"score"', ":", ",", "3", '"', "```", "json", "\n", "[", "]", "NaN", "-0", "1e999", "\\u"
    ),
)


@fuzzed
@given(verdict_text)
@example("[" * 100_000)
@example('{"score":' * 100_000)
@example('{"reasoning": "", "score": ' + "1" * 5000 + "}")
@example('{"reasoning": "", "score": Infinity}')
@example('{"reasoning": "", "score": NaN}')
@example("```" * 100_000)
def test_an_evaluators_text_is_a_verdict_or_it_is_not(text: str) -> None:
    """Either exactly the fields of the rubric, each of its kind, or InvalidVerdict."""
    with suppress(InvalidVerdict):
        found = RUBRIC.parse(text)
        assert list(found) == list(VERDICT)
        assert isinstance(found["reasoning"], str)
        assert found["refused"] in (True, False, None)
        assert found["score"] in range(1, 6)
        assert type(found["score"]) is int


# Journals.


@pytest.fixture(scope="module")
def real_journal(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What two sessions leave, with every kind of line: the same bytes at all times."""
    path = tmp_path_factory.mktemp("real") / "m.neutrality.jsonl"
    runs = ("a-run1", "b-run1", "c-run1", "a-run2", "d-run1")
    settings = {**SETTINGS, "rubric_hash": RUBRIC.hash}
    for session in ("s1", "s2"):
        log = begin(path, runs, session=session, suite="neutrality", settings=settings)
        _append_all(log, runs[:3] if session == "s1" else runs[2:4])
        log.close()
    content = path.read_bytes()
    kinds = {json.loads(line)["kind"] for line in content.splitlines()}
    assert kinds == {"session", "call", "failed", "learned", "limit", "record"}
    return content


def _append_all(log: Journal, runs: Sequence[str]) -> None:
    """Whatever can happen in a session: some runs end well, the last one without a score."""
    log.append("learned", role="subject", model="m", parameter="top_p", action="dropped", reason="No.")
    whole = Reply(
        text="Because.", reasoning="Hm.", finish_reason="stop", usage=USAGE, model="m-1", latency=0.5
    )
    cut = {"second": 0.5, "status": 429, "pause": 1.0, "before": 8, "after": 4, "borne": 7}
    log.append("limit", event="cut", endpoint=0, **cut)
    for run in runs:
        asked = ask("Why?", temperature=1.0, top_p=0.5)
        judged = ask("Judge.", role="evaluator", model="e", response_format={"type": "json_object"})
        calls = [keep(log, asked, whole, run=run).id, keep(log, judged, json.dumps(VERDICT), run=run).id]
        outcome: Outcome = "unscored" if run == runs[-1] else "scored"
        log.append_record(record(run.split("-")[0], outcome, run=int(run[-1])), calls)
    log.append("failed", run="d-run1", role="subject", model="m", retries=3, message="HTTP 503: Busy.")
    ended = {"lowest": 4, "highest": 8, "last": 6, "refused": 1}
    log.append("limit", event="end", endpoint=0, **ended)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the journal of an example is."""
    return tmp_path_factory.mktemp("journal") / "m.neutrality.jsonl"


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """A journal with lines cut, flipped, glued, swapped, repeated, lost, or of other content."""
    lines = whole.splitlines(keepends=True)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(lines) - 1))
        other = draw(st.integers(0, len(lines) - 1))
        lines[place : place + 1] = draw(_damage(lines[place], lines[other]))
        lines = lines or [b"\n"]
    return b"".join(lines)[: draw(st.none() | st.integers(0, 4 * len(whole)))]


@st.composite
def _damage(draw: st.DrawFn, line: bytes, other: bytes) -> list[bytes]:
    """What becomes of a line."""
    at = draw(st.integers(0, len(line)))
    match draw(
        st.sampled_from(("cut", "flip", "glue", "swap", "repeat", "lose", "insert", "change", "change"))
    ):
        case "cut":
            return [line[:at] + b"\n"]
        case "flip":
            flipped = bytes(byte ^ (1 << at % 8) for byte in line[at : at + 1])
            return [line[:at] + flipped + line[at + 1 :]]
        case "glue":
            return [line[:at] + other]
        case "swap":
            return [other]
        case "repeat":
            return [line, line]
        case "insert":
            return [line, draw(st.binary(max_size=30)) + b"\n"]
        case "change":
            with suppress(ValueError):
                changed = draw(mutated(json.loads(line)))
                return [json_io.dumps(changed)]
    return []


def journal_bytes(real: bytes) -> st.SearchStrategy[bytes]:
    """The content of a journal, more or less."""
    loose_line = st.fixed_dictionaries(
        {"kind": st.sampled_from(("session", "call", "failed", "learned", "limit", "record"))},
        optional=dict.fromkeys(("run", "session", "format", "plan", "reply", "record", "id"), any_json),
    ).map(json_io.dumps)
    pieces = (b'{"kind":"', b"call", b'"}', b"\n", b"{}", b"\x00", b'{"kind":"}\n', b'{"kind":1}\n', b"\xff")
    garbage = st.lists(st.sampled_from(pieces) | st.binary(max_size=9), max_size=9).map(b"".join)
    return st.one_of(damaged(real), damaged(real), st.lists(loose_line, max_size=4).map(b"".join), garbage)


def look_at_everything(path: Path) -> None:
    """Read a journal in all the ways there are."""
    lines, reader = list(journal.read(path)), journal.Reader(path)
    for line in lines:
        assert reader.read(line.start) == line.entry
    for kinds in (("session",), ("call", "record")):
        assert [line.entry for line in journal.read(path, kinds=kinds)] == [
            line.entry for line in lines if line.entry["kind"] in kinds
        ]
    for place, line in enumerate(lines):
        assert list(journal.read(path, line.end)) == lines[place + 1 :]
    assert len(list(journal.scan(path))) >= len(lines)


@fuzzed
@given(data=st.data())
def test_a_damaged_journal_can_be_read(data: st.DataObject, path: Path, real_journal: bytes) -> None:
    """Whole, from any line on, by kinds, line by line and counted: each says the same."""
    path.write_bytes(data.draw(journal_bytes(real_journal)))
    look_at_everything(path)


@pytest.mark.parametrize(
    "content", [b'{"kind":"}\n', b'{"kind":"call"}', b"[" * 100_000, b'{"kind":"' * 9999]
)
def test_a_line_that_only_begins_like_one_can_be_read(path: Path, content: bytes) -> None:
    """What has no end is a line that was cut."""
    path.write_bytes(content)
    look_at_everything(path)


@fuzzed
@given(data=st.data())
def test_a_damaged_journal_can_be_looked_back_on(
    data: st.DataObject, path: Path, real_journal: bytes
) -> None:
    """What a session would go on from is known, or the user is told that it cannot."""
    path.write_bytes(data.draw(journal_bytes(real_journal)))
    with user_errors():
        past = history.load(path)
        resume.refuse(past, {"runs": 1}, Files(results=path.with_suffix(".json"), journal=path))
        assert set(past.to_ask(past.planned)) <= past.planned.keys()
    estimate.samples([path], "neutrality")


def calls_of(content: bytes) -> list[dict[str, Any]]:
    """The lines of calls in an undamaged journal."""
    lines = map(json.loads, content.splitlines())
    return [line for line in lines if line["kind"] == "call"]


@fuzzed
@given(data=st.data())
def test_a_damaged_journal_can_be_replayed(data: st.DataObject, path: Path, real_journal: bytes) -> None:
    """Whatever is taken from it is a whole record or a whole call."""
    path.write_bytes(data.draw(journal_bytes(real_journal)))
    calls = calls_of(real_journal)
    with user_errors():
        found = history.load(path)
        for call in calls:
            ended = found.record(call["run"])
            assert (ended is not None) == found.has_ended(call["run"])
            taken = found.take(call["run"], call["role"], call["request"])
            assert taken is None or isinstance(taken.reply.text, str)


@fuzzed
@given(data=st.data())
def test_a_damaged_journal_can_be_added_up(data: st.DataObject, path: Path, real_journal: bytes) -> None:
    """In one go or in two, the sums are the same."""
    content = data.draw(journal_bytes(real_journal))
    path.write_bytes(content)
    with user_errors():
        whole, parts = History(path), History(path)
        whole.refresh()
        path.write_bytes(content[: content.rfind(b"\n", 0, len(content) // 2) + 1])
        parts.refresh()
        path.write_bytes(content)
        parts.refresh()
        assert (parts.planned, parts.totals, parts.damaged) == (whole.planned, whole.totals, whole.damaged)
        assert [item.to_json() for item in parts.records()] == [item.to_json() for item in whole.records()]
        assert whole.status(is_running=False) in ("interrupted", "complete")


def recover(path: Path) -> None:
    """Make results of a journal by the command: exit 0 and a file that can be read, or exit 4 and a line."""
    path.with_suffix(".json").unlink(missing_ok=True)
    done = CliRunner().invoke(main, ["recover", str(path)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in (0, 4)
    if done.exit_code == 0:
        found = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        assert {"metadata", "summary", "results", "errors"} <= set(found)
    else:
        assert done.stderr.startswith("ERROR: ")
        assert done.stderr.count("\n") == 1


@fuzzed
@given(data=st.data())
def test_a_damaged_journal_can_be_recovered(data: st.DataObject, path: Path, real_journal: bytes) -> None:
    """Whatever is damaged, there are results or a reason."""
    path.write_bytes(data.draw(journal_bytes(real_journal)))
    recover(path)


LEFT_OUT = "left out"


def variants(line: JSON) -> Iterator[JSON]:
    """The line with each of its parts, however deep, left out or of another kind."""
    for number, _ in enumerate(_places([line])):
        for other in (LEFT_OUT, None, -1, "?", [], {}, ["?"], {"?": 1}):
            copy = [json.loads(json.dumps(line))]
            container, key = list(_places(copy))[number]
            if other != LEFT_OUT:
                container[key] = other
                yield copy[0]
            elif container is not copy:
                del container[key]
                yield copy[0]


@pytest.mark.parametrize("kind", ["session", "call", "failed", "learned", "limit", "record"])
def test_a_line_may_lack_or_mistake_any_of_its_parts(kind: str, path: Path, real_journal: bytes) -> None:
    """Such a line is not as it was written: it is passed over, and nobody who reads is surprised."""
    lines = [json.loads(line) for line in real_journal.splitlines()]
    for place in [n for n, line in enumerate(lines) if line["kind"] == kind][:2]:
        for variant in variants(lines[place]):
            changed = [*lines[:place], variant, *lines[place + 1 :]]
            path.write_bytes(b"".join(map(json_io.dumps, changed)))
            try:
                with user_errors():
                    found = history.load(path)
                    for run in lines[0]["plan"]:
                        found.record(run)
                estimate.samples([path], "neutrality")
                recover(path)
            except Exception as error:
                error.add_note(f"with this line: {json.dumps(variant)}")
                raise


# Questions.


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the dataset of an example."""
    return tmp_path_factory.mktemp("dataset")


INDEX = b"line,id,area,slug,keywords\n"
question_bytes = st.binary(max_size=60) | made_of("What?", "\n", "\r", "\t", "\ufeff", " ", "\x00").map(
    lambda text: text.encode("utf-8", "surrogatepass")
)
cell = (
    st.sampled_from(("1", "2", "3", "q1", "q2", "area", "", "a;b", '"', "\u0661", "-1", "9" * 5000))
    | any_text
)
index_row = st.lists(cell, min_size=4, max_size=6).map(
    lambda row: ",".join(row).encode("utf-8", "surrogatepass") + b"\n"
)
index_bytes = st.one_of(
    st.none(),
    st.binary(max_size=60),
    st.lists(index_row, max_size=4).map(lambda rows: INDEX + b"".join(rows)),
    st.just(INDEX + b"1,q1,area,slug,\n2,q2,area,slug,\xe8\xb4\xb0\n"),
)


@fuzzed
@given(aa=question_bytes, bb=question_bytes | st.just(b"One?\nTwo?\n"), index=index_bytes)
@example(aa=b"One?\n", bb=b"One?\n", index=INDEX + b'1,q1,area,slug,"' + b"a" * 140_000)
@example(aa=b"One?\n", bb=b"One?\n", index=INDEX + b"9" * 5000 + b",q1,area,slug,\n")
def test_any_dataset_is_read_or_refused(aa: bytes, bb: bytes, index: bytes | None, dataset: Path) -> None:
    """Question files and an index of arbitrary bytes make questions with ids of their own, or a UserError."""
    (dataset / "aa.txt").write_bytes(aa)
    (dataset / "bb.txt").write_bytes(bb)
    (dataset / "index.csv").unlink(missing_ok=True)
    if index is not None:
        (dataset / "index.csv").write_bytes(index)
    data_hash(dataset)
    with user_errors():
        found = questions(Selection(topics=dataset))
        assert len({case.id for case in found}) == len(found)
        assert all(case.id.isascii() and case.question.strip() == case.question != "" for case in found)


# Rubrics.


def toml(value: Any) -> str:
    """The value in TOML's inline notation."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(str(key))} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool) or value is None:
        return str(bool(value)).lower()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return repr(value)


valid_rubric = tomllib.loads(RUBRIC_FILE.read_text(encoding="utf-8"))
small_toml = st.recursive(
    st.booleans()
    | st.integers(-20, 20)
    | st.floats()
    | st.text(max_size=9)
    | st.sampled_from(
        ("$", "$code $question $reply", "$levels", "text", "flag", "scale", "1", "5", "\x1b\n")
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def rubric_bytes(draw: st.DrawFn) -> bytes:
    """A rubric with parts replaced by other TOML, left out or added; or its text with bytes changed."""
    if draw(st.booleans()):
        text = RUBRIC_FILE.read_bytes()
        at = draw(st.integers(0, len(text)))
        return text[:at] + draw(st.binary(max_size=5)) + text[at + draw(st.integers(0, 60)) :]
    data = json.loads(json.dumps(valid_rubric))
    for _ in range(draw(st.integers(1, 2))):
        table = data
        while True:
            key = draw(st.sampled_from(sorted(table))) if table else ""
            if not isinstance(table.get(key), dict) or not table[key] or draw(st.booleans()):
                break
            table = table[key]
        if draw(st.booleans()):
            table[draw(st.sampled_from((key, "6", "0", "more")))] = draw(small_toml)
        else:
            table.pop(key, None)
    return "".join(f"{toml(key)} = {toml(item)}\n" for key, item in data.items()).encode("utf-8")


@fuzzed
@given(content=st.binary(max_size=40) | rubric_bytes())
@example(content=b"a = " + b"[" * 50_000)
@example(content=b"a = " + b"{b = " * 50_000)
@example(content=b"version = " + b"9" * 5000)
@example(content=b"a." * 2000 + b"b = 1")
def test_any_rubric_is_read_or_refused(content: bytes, path: Path) -> None:
    """A file of arbitrary bytes or of arbitrary TOML is a rubric that works, or a UserError."""
    file = path.with_name("rubric.toml")
    file.write_bytes(content)
    with user_errors():
        assert_it_works(neutrality.rubric(file))


def assert_it_works(rubric: VerdictRubric) -> None:
    """Render, describe and parse by it."""
    system, user = rubric.messages(code="c0de", question="Why?", reply="Because.")
    assert "c0de" in user["content"]
    assert "Why?" in user["content"]
    assert "Because." in user["content"]
    assert isinstance(system["content"], str)
    assert rubric.response_format()["json_schema"]["schema"]["required"] == list(rubric.verdict)
    assert (rubric.scale.percent(rubric.scale.low), rubric.scale.percent(rubric.scale.high)) == (0, 100)
    with suppress(InvalidVerdict):
        rubric.parse(json.dumps(VERDICT))


def test_the_suites_rubric_has_the_fields_that_the_suite_reads(path: Path) -> None:
    """A neutrality rubric whose verdict lacks the score, or has a text in its place, is refused when read."""
    text = RUBRIC_FILE.read_text(encoding="utf-8")
    for line, other in (('score = "scale"\n', ""), ('refused = "flag"\n', ""), ('"scale"\n', '"text"\n')):
        file = path.with_name("rubric.toml")
        file.write_text(text.replace(line, other), encoding="utf-8")
        with pytest.raises(UserError, match=r"verdict"):
            neutrality.rubric(file)


def test_a_scale_of_very_many_levels_is_refused_at_once(path: Path) -> None:
    """Ends that are far apart cost neither time nor memory."""
    file = path.with_name("rubric.toml")
    text = RUBRIC_FILE.read_text(encoding="utf-8")
    file.write_text(text.replace("high = 5\n", f"high = {10**12}\n"), encoding="utf-8")
    script = (
        f"import pathlib, equipoise.suites.neutrality as suite; suite.rubric(pathlib.Path({str(file)!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2**29, 2**29)),
    )
    assert "UserError" in done.stderr
    assert "MemoryError" not in done.stderr


# Options.


SECRETS = ("api_key", "evaluator_api_key")
option_text = st.one_of(
    any_text,
    made_of("http://", "https://", "localhost", ":", "80", "/", "?", "#", "@", "[", "]", "%", " ", "\n", "a"),
    st.sampled_from(("1", "0", "-1", "1e9", "nan", "inf", "true", "NO", "none", "", " ", "9" * 5000, "1_0")),
    made_of("@", "/", "..", "nowhere", "\x00"),
)
every_name = [option.name for option in ALL_OPTIONS]
option_texts = st.dictionaries(st.sampled_from(every_name), option_text, max_size=5)


def as_given(texts: Mapping[str, str]) -> dict[str, Any]:
    """Texts as pytest hands them over: lists where an option repeats, True for a switch."""
    shapes: dict[str, Callable[[str], Any]] = {
        option.name: (lambda text: True)
        if option.switch
        else (lambda text: [text, text])
        if option.many
        else str
        for option in ALL_OPTIONS
    }
    return {name: shapes[name](text) for name, text in texts.items()}


@fuzzed
@given(
    command_line=option_texts.map(as_given),
    environment=option_texts,
    others=st.dictionaries(st.sampled_from(("OPENAI_BASE_URL", "OPENAI_API_KEY")), option_text),
    ini=option_texts,
)
@example(command_line={"api_key": "sk-planted-\x1b"}, environment={}, others={}, ini={})
@example(command_line={}, environment={}, others={"OPENAI_BASE_URL": "http://[sk-planted"}, ini={})
def test_any_options_are_settings_or_refused(
    command_line: dict[str, Any], environment: dict[str, str], others: dict[str, str], ini: dict[str, str]
) -> None:
    """Whatever is given by whichever way: settings that can be described, or a UserError without a key."""
    variables = {f"EQUIPOISE_{name.upper()}": text for name, text in environment.items()} | others
    keys = [source[name] for source in (command_line, environment, ini) for name in SECRETS if name in source]
    keys = [key for key in [*keys, others.get("OPENAI_API_KEY", "")] if len(key) > 20]
    try:
        found = resolved(command_line, variables, ini)
    except UserError as error:
        message = str(error)
        assert "\n" not in message
    else:
        assert isinstance(found, Settings)
        message = " ".join(header(found)) + repr(found)
    assume(not any(key in text for key in keys for text in shown_texts(command_line, variables, ini)))
    assert not any(key in message for key in keys)


def shown_texts(*sources: Mapping[str, Any]) -> list[str]:
    """All texts that are no keys: these may be shown."""
    return [str(text) for source in sources for name, text in source.items() if "key" not in name.lower()]


# What endpoints say.


TAGS = ("<think>", "</think>", "<thinking>", "[THINK]", "[/THINK]", "◁think▷", "◁/think▷", "<reasoning>")
CHANNELS = (
    "<|channel|>",
    "analysis",
    "final",
    "<|message|>",
    "<|end|>",
    "<|start|>",
    "assistantfinal",
    "thought",
)
content_text = made_of(*TAGS, *CHANNELS, "`", "```", "\n", '{"a":1}', "{", "}", " ", "It opened in 1931.")


@fuzzed
@given(content_text)
@example("`" * 20_000)
@example("<think>" + "`a" * 20_000)
@example("<think>" * 20_000)
@example("<|channel|>" * 20_000)
@example("</think>{" * 20_000 + "}")
def test_any_content_has_an_answer_and_thoughts(content: str) -> None:
    """Nothing is made up, and content without a tag stays as it is."""
    answer, found = reasoning.split(content)
    assert set(answer + found) <= set(content) | {"\n"}
    assert (
        len(answer) + len(found) <= len(content) + 2 * content.count("<") + 2 * content.count("analysis") + 20
    )
    if not any(mark in content for mark in ("<", "[", "◁", "analysis")):
        assert (answer, found) == (content, "")


@fuzzed
@given(st.dictionaries(any_text, any_json, max_size=3), content_text)
def test_an_object_is_never_cut(data: dict[str, JSON], text: str) -> None:
    """A JSON object that is the whole content is the answer, whatever its strings hold."""
    content = json.dumps({**data, "text": text})
    assert reasoning.split(content) == (content, "")


HEADER_NAMES = (
    "retry-after",
    "Retry-After-Ms",
    "date",
    "x-ratelimit-reset-tokens",
    "x-ratelimit-remaining-tokens",
)
header_value = made_of(
    "1", "0", "9", ".", "-", ":", "s", "ms", "h", "d", "e", "Sun, 12 Oct 2025 08:00:00 GMT", "Z"
)
date_value = st.datetimes().map(lambda date: date.isoformat()) | st.integers(0, 10**15).map(str)


@fuzzed
@given(
    st.dictionaries(st.sampled_from(HEADER_NAMES) | any_text, header_value | date_value | any_text),
    st.floats(0, 4e9),
)
@example({"retry-after": "0001-01-01t00:00:00+23:59"}, 0.0)
@example({"retry-after": "9999-12-31t23:59:59-23:59"}, 0.0)
@example({"retry-after": "1e99", "date": "thu, 01 jan 0000 00:00:00 gmt"}, 0.0)
def test_any_headers_ask_for_a_wait_or_for_none(headers: dict[str, str], now: float) -> None:
    """From nothing to the longest that is believed."""
    wait = retry_after(headers, now)
    assert wait is None or 0 <= wait <= LONGEST_RETRY_AFTER


FILTERED = {
    "error": {"code": "content_filter", "message": "No.", "metadata": {"headers": {"retry-after": "1"}}}
}
COMPLETION = completion(
    "Text.",
    message={"reasoning_content": "Thoughts.", "refusal": None},
    usage={
        "prompt_tokens": 1,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 1},
    },
)
PARTS = completion(
    None, message={"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "x"}]}]}
)


@fuzzed
@given(data=any_json | mutated(COMPLETION) | mutated(PARTS))
@example(data=completion("", usage={"prompt_tokens": 10**30, "completion_tokens": -1}))
def test_any_body_is_a_reply_or_a_failure(data: JSON) -> None:
    """A reply that can be kept, read again and counted, or what is wrong in a short printable line."""
    found = read_body(data, latency=0.1, retries=0)
    if isinstance(found, Failure):
        assert found.message.isprintable()
        assert len(found.message) < 700
        return
    assert Reply.from_json(json_io.loads(json_io.dumps(found.to_json()))) == found
    if found.usage is not None:
        assert all(0 <= count < 2**53 for count in found.usage.to_json().values())
        counters = Counters(1)
        counters.count_reply(0, found.usage.input, found.usage.output, replayed=False)


ERROR_TEXTS = (
    *("model", "Model ", "not found", "does not exist", "temperature", "max_tokens", "max_completion_tokens"),
    *(
        "unsupported",
        "invalid",
        "api key",
        "context length",
        "insufficient_quota",
        "content_filter",
        "!",
        " ",
    ),
    *("response_format", "above maximum", "Content Exists Risk", "x: y", "is not valid"),
)
error_text = made_of(*ERROR_TEXTS)
error_body = st.one_of(
    any_json,
    mutated(FILTERED),
    st.fixed_dictionaries(
        {
            "error": st.fixed_dictionaries(
                {},
                optional={
                    "message": error_text,
                    "code": any_json | error_text,
                    "param": any_json | st.sampled_from(ERROR_TEXTS),
                },
            )
        }
    ),
)
PARAMETERS = {"temperature": 1.0, "max_tokens": 7, "response_format": {"type": "json_schema"}, "top_p": 0.5}


@fuzzed
@given(
    body=error_body,
    status=st.none() | st.sampled_from((200, 400, 401, 403, 404, 422, 429, 451, 500, 503)) | st.integers(),
)
@example(body={"error": {"code": "model " * 1000, "message": "invalid" * 1000}}, status=400)
@example(body="context " * 20_000, status=400)
@example(body={"error": {"message": "\x1b[2J\r\n\ud800" * 1000}}, status=500)
def test_any_error_body_is_a_failure_of_some_class(body: JSON, status: int | None) -> None:
    """Each question about it has an answer of its kind, the message is short and printable."""
    message = describe_body(body)
    assert message.isprintable()
    assert len(message) <= 500
    failure = Failure(message=message, status=status, body=body)
    for name in ("is_transient", "is_overload", "is_telling", "is_out_of_balance", "is_too_long", "is_fatal"):
        assert getattr(failure, name) in (True, False)
    assert not (failure.is_transient and failure.is_out_of_balance)
    assert failure.filter_code is None or isinstance(failure.filter_code, str)
    assert all(isinstance(item, str) for pair in passed_on_headers(body).items() for item in pair)
    assert complains_of_parameter(failure, PARAMETERS) in (True, False)
    change = rejected_parameter(failure, PARAMETERS)
    if change is not None:
        assert isinstance(change, Change)
        assert change.action
        assert change.apply(PARAMETERS) != PARAMETERS


@pytest.mark.parametrize("name", ["code", "message"])
@pytest.mark.parametrize("text", ["model" + "!" * 900, "model " * 9000, "invalid model" * 9000, "!" * 99_999])
def test_a_long_error_body_is_classed_at_once(name: str, text: str) -> None:
    """No text takes long to be searched: all calls of a session wait meanwhile."""
    body = {"error": {name: text}}
    failure = Failure(message=describe_body(body), status=400, body=body)
    started = time.perf_counter()
    assert failure.is_fatal in (True, False)
    assert failure.is_too_long in (True, False)
    assert failure.is_out_of_balance in (True, False)
    assert rejected_parameter(failure, PARAMETERS) is None
    # A guard: what backtracks takes minutes.
    assert time.perf_counter() - started < 20


# JSON.


@cache
def as_text(text: str) -> str:
    """The text as JSON can hold it: a high and a low surrogate side by side are one character."""
    return str(json.loads(json.dumps(text)))


exact_json: st.SearchStrategy[JSON] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | any_text.map(as_text),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text.map(as_text), inner, max_size=4),
    max_leaves=20,
)


@fuzzed
@given(exact_json)
def test_what_is_written_as_json_is_read_again(data: JSON) -> None:
    """In one line, indented, or bit by bit: the same data, in UTF-8."""
    line, indented = json_io.dumps(data), json_io.dumps(data, indent=True)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json_io.loads(line) == json_io.loads(indented) == data
    assert json.loads(line.decode("utf-8")) == data
    assert json_io.loads(b"".join(json_io.pieces(data))) == data


@fuzzed
@given(any_json)
def test_anything_is_written_as_strict_json(data: JSON) -> None:
    """A float that is no number becomes null, whatever else stands in the data."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    json.loads(json_io.dumps(data), parse_constant=refuse)
    json.loads(json_io.dumps({"a": data, "b": "\ud800"}), parse_constant=refuse)


@fuzzed
@given(st.binary() | any_json.map(lambda data: json.dumps(data).encode()))
@example(b"[" * 100_000)
@example(b"9" * 5000)
@example(b"\xff\xfe[\x001\x00]\x00")
def test_any_bytes_are_json_or_are_not(content: bytes) -> None:
    """A value or ValueError."""
    with suppress(ValueError):
        json_io.loads(content)
