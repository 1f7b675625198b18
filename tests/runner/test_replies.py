"""Files of replies that exist already: how they are read, whose their rows are, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fake_client import Project, finish
from journals import ask

from conftest import ROOT, SHIPPED, refusal, resolved
from equipoise.audit.session import SessionAudits
from equipoise.core.errors import CallFailed
from equipoise.core.settings import FILE, Sampling
from equipoise.core.types import CONTINUES, Reply, Usage
from equipoise.results.load import load as load_results
from equipoise.runner import loading
from equipoise.runner.loading import LoadedSuite
from equipoise.runner.replies import adopting, fitting, rows, sheet
from equipoise.runner.replies.fitting import GivenReplies
from equipoise.runner.session import Session
from equipoise.suites.even_handedness.dataset import Pair
from loopback import completion

ONE, TWO = "aa-first_area-q01_one", "aa-second_area-q02_two"
PAIR = "en-US-donald_trump_institutions-argue"
SCENARIO = "en-US-minimum_wage-original"
HEAD = "id,language,run,reply,outcome\n"
EMPTY = "the reply is empty: give its outcome, blocked, truncated, empty or error, or leave the row out"


def loaded(project: Project, path: Path, suite: str = "", **options: Any) -> LoadedSuite:
    """The suite of a session that judges this file."""
    texts = {"replies": str(path), "evaluator_model": ["judge"], "runs": "2", **options}
    root = ROOT if suite else project.root
    return loading.load(suite or project.suite, adopting.adopt(resolved(texts), texts), root)


def written(project: Project, content: str | bytes, name: str = "answers.csv") -> Path:
    """A file of this content."""
    path = project.root / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def reply(suite: LoadedSuite, run: str, text: str = "?", digest: str = "d", **parameters: Any) -> Reply:
    """The reply in the file to this message in a run."""
    assert isinstance(suite.replies, GivenReplies)
    return suite.replies.reply(run, ask(text, **parameters), digest)


def texts(suite: LoadedSuite, *runs: str) -> list[str]:
    """The replies to runs of one message."""
    return [reply(suite, run).text for run in runs]


# Forms.


LINES: list[dict[str, Any]] = [
    {"id": "q01_one", "language": "aa", "reply": "Ünö; \"one\",\n'=1'", "run": 1},
    {"id": "q01_one", "language": "aa", "reply": "Uno", "run": 2},
    {"id": "q02_two", "language": "bb", "reply": "Dois"},
]


def table(separator: str, line_break: str = "\n") -> str:
    """The rows as a spreadsheet writes them."""
    cells = [["ID ", "Language", "Run", "Reply", "remark"]]
    cells += [[line["id"], line["language"], str(line.get("run", "")), line["reply"], ""] for line in LINES]
    quoted = [['"' + cell.replace('"', '""') + '"' for cell in row] for row in cells]
    return "".join(separator.join(row) + line_break for row in quoted)


FORMS: Mapping[str, bytes] = {
    "commas": table(",").encode(),
    "semicolons": table(";").encode(),
    "tabs": table("\t").encode(),
    "a byte order mark": b"\xef\xbb\xbf" + table(",").encode(),
    "two byte order marks": 2 * b"\xef\xbb\xbf" + table(",").encode(),
    "line breaks of old Macs": table(",", "\r").encode(),
    "numbers with decimal commas": table(";").replace('"2"', '"2,0"').encode(),
    "line breaks of Windows": table(";", "\r\n").encode(),
    "UTF-16": table("\t").encode("utf-16"),
    "UTF-16, big-endian": b"\xfe\xff" + table("\t").encode("utf-16-be"),
    "blank lines": table(",").replace('\n"q', '\n\n,,,,\n"q').encode(),
    "JSON Lines": "".join(json.dumps(line) + "\n" for line in LINES).encode(),
    "JSON Lines in UTF-16": "".join(json.dumps(line) + "\n" for line in LINES).encode("utf-16"),
}


def test_every_form_of_a_file_gives_the_same_replies(project: Project, subtests: pytest.Subtests) -> None:
    """As spreadsheets and programs write it, texts as they were."""
    runs = (f"{ONE}-run1", f"{ONE}-run2", "bb-second_area-q02_two-run1")
    for form, content in FORMS.items():
        with subtests.test(form):
            suite = loaded(project, written(project, content, "x.jsonl" if "JSON" in form else "x.csv"))
            assert texts(suite, *runs) == [line["reply"] for line in LINES]


def test_a_row_may_name_its_case_in_three_ways(project: Project) -> None:
    """By the case's whole id, by the id that languages share, or by the question, however it is spaced."""
    content = f"id,question,language,reply\n{ONE},,,A\nq02_two,,aa,B\n,  What  is\u00a0two?,,C\n"
    with pytest.raises(Exception, match="replies to the same message as"):
        loaded(project, written(project, content))
    content = content.replace("What  is\u00a0two?,", "O que é dois?,")
    suite = loaded(project, written(project, content))
    assert texts(suite, f"{ONE}-run1", f"{TWO}-run1", "bb-second_area-q02_two-run1") == ["A", "B", "C"]


def test_an_outcome_says_how_a_reply_ended(project: Project) -> None:
    """Blocked, truncated or empty are replies; an error is a failed call. The tokens are those of the row."""
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
    cases = ((ONE, 1), (ONE, 2), (TWO, 1), (TWO, 2))
    outcomes = ({"outcome": "blocked"}, {"outcome": "truncated", "reply": "On"}, {"outcome": "empty"})
    values: tuple[dict[str, Any], ...] = (*outcomes, {"outcome": "error", "reply": None})
    lines = [
        {"id": case, "run": run, "reply": "", "usage": usage, **value}
        for (case, run), value in zip(cases, values, strict=True)
    ]
    suite = loaded(project, written(project, "".join(json.dumps(line) + "\n" for line in lines), "x.jsonl"))
    blocked, cut, empty = (reply(suite, f"{case}-run{run}") for case, run in cases[:3])
    assert (blocked.blocked, blocked.usage) == ("blocked", Usage(input=12, output=3))
    assert (cut.text, cut.is_truncated, empty.text, empty.blocked) == ("On", True, "", None)
    with pytest.raises(CallFailed, match=r"x.jsonl:4: the outcome is error$"):
        reply(suite, f"{TWO}-run2")


def test_thoughts_before_an_answer_are_not_judged(project: Project) -> None:
    """As with an endpoint that leaves them in the reply; a cut or blocked reply may be thoughts alone."""
    rows = ("1,<think>Hm.</think>One.,", "2,<think>Hm,truncated")
    content = "".join(f"{ONE},{row}\n" for row in rows) + f"{TWO},1,<think>Hm,blocked\n"
    suite = loaded(project, written(project, f"id,run,reply,outcome\n{content}"))
    whole, cut, blocked = (reply(suite, run) for run in (f"{ONE}-run1", f"{ONE}-run2", f"{TWO}-run1"))
    assert (whole.text, whole.reasoning) == ("One.", "Hm.")
    assert (cut.text, cut.reasoning, cut.is_truncated) == ("", "Hm", True)
    assert (blocked.text, blocked.reasoning, blocked.blocked) == ("", "Hm", "blocked")


def answered(custom_id: str, text: str, status: int = 200, **changes: Any) -> dict[str, Any]:
    """A line of a batch's output; with another status than 200, its error is of this code."""
    body = {"error": {"code": text}} if status != 200 else completion(text, model="bot-2026", **changes)
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": custom_id, "response": response, "error": None}


def test_the_output_of_a_batch_has_its_cases_as_custom_ids(project: Project) -> None:
    """Of a case or one of its runs; how a reply ended, its tokens and its model are in the line."""
    lines = [
        answered(f"{ONE}-run1", "One."),
        answered(f"{ONE}-run2", "On", finish_reason="length"),
        answered(TWO, "content_filter", 400),
        {"custom_id": f"{TWO}-run2", "response": None, "error": {"code": "batch_expired"}},
        answered("bb-first_area-q01_one", "server_error", 500),
        answered("bb-second_area-q02_two", "", finish_reason="content_filter"),
    ]
    content = "".join(json.dumps(line) + "\n" for line in lines)
    suite = loaded(project, written(project, content, "output.jsonl"))
    one, cut, blocked = (reply(suite, f"{run}") for run in (f"{ONE}-run1", f"{ONE}-run2", f"{TWO}-run1"))
    assert (one.text, one.usage) == ("One.", Usage(input=100, output=20))
    assert (cut.text, cut.is_truncated, blocked.text, blocked.blocked) == ("On", True, "", "blocked")
    assert reply(suite, "bb-second_area-q02_two-run1").blocked == "blocked"
    assert suite.settings.model == "bot-2026"
    for run, line in ((f"{TWO}-run2", 4), ("bb-first_area-q01_one-run1", 5)):
        with pytest.raises(CallFailed, match=rf"output.jsonl:{line}: the outcome is error$"):
            reply(suite, run)
    unknown = written(project, json.dumps(answered("task-7", "One.")) + "\n", "output.jsonl")
    assert refusal(loaded, project, unknown).startswith(
        f"--replies: output.jsonl:1: {project.suite} has no case 'task-7'"
    )


def test_the_sides_of_a_pair_and_the_turns_of_a_conversation_have_their_replies(project: Project) -> None:
    """By name, or by the message that is sent."""
    suite = loading.load("even_handedness", resolved({}), ROOT)
    pair = next(case for case in suite.cases if case.id == PAIR)
    assert isinstance(pair, Pair)
    content = f"id,side,question,reply\n{PAIR},b,,Second\n{PAIR},,{json.dumps(pair.prompt_a)},First\n"
    suite = loaded(project, written(project, content), "even_handedness")
    messages = (pair.prompt_a, pair.prompt_b)
    assert [reply(suite, f"{PAIR}-run1", text).text for text in messages] == ["First", "Second"]
    with pytest.raises(CallFailed, match="has no reply to this message") as caught:
        reply(suite, f"{PAIR}-run1", "Another?")
    assert not caught.value.is_declined
    names = ("baseline", "stage_1", "stage_2", "stage_3", "stage_4", "reflection")
    content = "id,turn,reply\n" + "".join(f"{SCENARIO},{name},Reply to {name}\n" for name in names)
    suite = loaded(project, written(project, content), "politicsbench")
    scenario = next(case for case in suite.cases if case.id == SCENARIO)
    turns = fitting.turns(suite.suite, scenario, suite.rubric).values()
    replies = [reply(suite, f"{SCENARIO}-run1", text).text for text in turns]
    assert replies == [f"Reply to {name}" for name in names]


def test_a_file_answers_no_more_than_it_has(project: Project) -> None:
    """Neither likelihoods nor a second message of a run: a suite then does without them."""
    suite = loaded(project, written(project, f"id,reply\n{ONE},A\n"))
    likelihoods: dict[str, Any] = {CONTINUES: True, "echo": True}
    with pytest.raises(CallFailed) as caught:
        reply(suite, f"{ONE}-run1", **likelihoods)
    assert caught.value.is_declined
    assert [reply(suite, f"{ONE}-run1").text for _ in range(2)] == ["A", "A"]
    with pytest.raises(CallFailed, match="has no reply to this message") as caught:
        reply(suite, f"{ONE}-run1", digest="other")
    assert caught.value.is_declined


# Whose the replies are.


def test_the_model_is_named_by_the_user_the_file_or_its_name(project: Project) -> None:
    """Of a file with several models, one is named, and judged alone."""
    two = written(project, f"id,model,reply\n{ONE},bot-1,A\n{ONE},bot-2,B\n")
    assert refusal(loaded, project, two) == (
        f"--replies: {two.name}: has replies of 2 models (bot-1, bot-2); name one with --model, or leave it "
        "out of `equipoise run`, which judges each"
    )
    assert "(bot-1, bot-2), none of which is 'x'; name one" in refusal(loaded, project, two, model="x")
    assert adopting.models(two) == ["bot-1", "bot-2"]
    assert texts(loaded(project, two, model="bot-2"), f"{ONE}-run1") == ["B"]
    one = written(project, f"id,model,reply\n{ONE},bot-1,A\n")
    assert [loaded(project, one, **more).settings.model for more in ({}, {"model": "m"})] == ["bot-1", "m"]
    settings = loaded(project, written(project, f"id,reply\n{ONE},A\n", "My app.csv")).settings
    assert (settings.model, settings.subject, settings.file_roles) == ("My app", Sampling(), ("subject",))
    assert settings.asked_models == ("judge",)


def test_options_that_change_no_reply_are_refused(project: Project) -> None:
    """On the command line; defaults of a machine give way."""
    path = written(project, f"id,reply\n{ONE},A\n")
    message = "has no effect on the replies in answers.csv, which exist already; leave it out"
    for name, value in {"subject_temperature": "0", "asker": "mirror", "until": "gate"}.items():
        flag = f"--{name.replace('_', '-')}"
        assert refusal(loaded, project, path, **{name: value}) == f"{flag}: {message}"
    texts, variables = {"replies": str(path)}, {"EQUIPOISE_ASKER": "mirror", "EQUIPOISE_UNTIL": "gate"}
    settings = adopting.adopt(resolved(texts, variables), texts)
    assert (settings.asker, settings.until) == (None, None)


# What is refused.


LONG, ASKED = "x" * 20_000_000, "id,question,reply\n"
MISSING = "1: 'reply' and 'id' or 'question' is missing"
BATCHED = {"id": "batch_req_1", "custom_id": "53b3" * 10, "response": {"status_code": 200}, "error": None}
SPOILED: list[tuple[str, str | bytes, str]] = [
    ("nothing", b"", f"{MISSING}; there is nothing"),
    ("a heading alone", HEAD, " has no reply"),
    ("blank rows alone", HEAD + ",,,,\n\n", " has no reply"),
    ("no column reply", "id,answer\nq,A\n", "1: 'reply' is missing; there is 'id', 'answer'"),
    ("no heading", f"{ONE},A\n", f"{MISSING}; there is '{ONE}', 'a'; the first line names the colu"),
    ("a long cell and no heading", f"{ONE},{LONG}\n", MISSING),
    ("neither id nor question", "reply,run\nA,1\n", "1: 'id' or 'question' is missing; there is"),
    ("a column twice", "id,reply,reply\na,b,c\n", "1: has the column 'reply' twice"),
    ("side and turn", "id,side,turn,reply\na,b,c,d\n", "1: has the column 'turn' twice"),
    ("an unknown id", HEAD + "q09_nine,aa,1,A,\n", "2: attribution has no case 'q09_nine';"),
    ("an id of nothing near", HEAD + "?!,aa,1,A,\n", "2: attribution has no case '?!'; the"),
    ("no id in a row", HEAD + ",aa,1,A,\n", "2: has neither id nor question"),
    ("another question", "question,reply\nWhy?,A\n", "2: attribution does not ask 'Why?'"),
    ("a shifted column", f"{ASKED}{ONE},What is two?,A\n", f"2: its question is not that of '{ONE}': 'What "),
    ("a doubled id", HEAD + f"{ONE},,1,A,\n{ONE},,1,B,\n", "3: replies to the same message as"),
    ("one case by two names", HEAD + f"{ONE},,1,A,\nq01_one,aa,,B,\n", "3: replies to the same message as"),
    ("no language", HEAD + "q01_one,,1,A,\n", "2: 'q01_one' is asked in several languages; give"),
    ("an unknown language", HEAD + "q01_one,fr,1,A,\n", "2: the language 'fr' is none of aa, bb"),
    ("another language", HEAD + f"{ONE},bb,1,A,\n", f"2: '{ONE}' is in aa, not in bb"),
    ("run 0", HEAD + f"{ONE},,0,A,\n", "2: the run '0' is not a whole number of at least 1"),
    ("a run of words", HEAD + f"{ONE},,one,A,\n", "2: the run 'one' is not a whole number"),
    ("half a run", HEAD + f"{ONE},,1.5,A,\n", "2: the run '1.5' is not a whole number"),
    ("a huge run", HEAD + f"{ONE},,{'9' * 5000},A,\n", "2: the run '99999999999999999999' is"),
    ("a run beyond", HEAD + f"{ONE},,3,A,\n", "2: run 3 of 2: attribution asks each case"),
    ("no reply", HEAD + f"{ONE},,1,,\n", f"2: {EMPTY}"),
    ("a reply of spaces", HEAD + f"{ONE},,1,\u00a0 ,\n", f"2: {EMPTY}"),
    ("a refusal without words", HEAD + f"{ONE},,1,,refused\n", f"2: {EMPTY}"),
    ("an unknown outcome", HEAD + f"{ONE},,1,A,fine\n", "2: the outcome 'fine' is unknown: scored,"),
    ("an error with a reply", HEAD + f"{ONE},,1,A,error\n", "2: the outcome is error, but there is"),
    ("a turn", f"id,turn,reply\n{ONE},2,A\n", "2: the turn '2' is unknown; there is none"),
    ("too many cells", HEAD + f"{ONE},,1,A,,and, more\n", "2: has 7 cells, but there are 5 columns"),
    ("a cell of 20 MB", HEAD + f"{ONE},,1,{LONG},\n", "2: the reply has 20,000,000 characters; up"),
    ("an id of 20 MB", HEAD + f"{LONG},,1,A,\n", "2: id is not a name: it has more than 200"),
    ("Latin-1", HEAD.encode() + f"{ONE},,1,\xfc,\n".encode("latin-1"), "2: not UTF-8; save the"),
    ("cut UTF-16", HEAD.encode("utf-16") + b"x", "2: not UTF-16; save the file as UTF-8"),
    ("UTF-16 without a mark", HEAD.encode("utf-16-le"), "1: has NUL characters; remove them, or save the"),
    ("UTF-32", HEAD.encode("utf-32"), "1: has NUL characters; remove them, or save the file as UTF-8"),
    ("a cut letter", HEAD.encode() + f"{ONE},,1,".encode() + b"\xe2\x80,\n", "2: not UTF-8; save the"),
    ("an old Excel workbook", b"\xd0\xcf\x11\xe0" + bytes(99), " is an Excel workbook; save the table as"),
    ("a page", "<!doctype html>\n<table><tr><td>id</table>\n", MISSING),
    ("a line for Excel", f"sep=;\nid;reply\n{ONE};A\n", f"{MISSING}; there"),
    ("headings in German", f"id;antwort\n{ONE};A\n", "1: 'reply' is missing; there is 'id', 'antwort'"),
    ("two separators", f"id;reply\n{ONE},A\n", f"2: {EMPTY}"),
    ("two files in one", HEAD + f"{ONE},,1,A,\n" + HEAD, "3: the outcome 'outcome' is unknown: scored,"),
    ("a question of another letter case", f"{ASKED}{ONE},WHAT IS ONE?,A\n", "2: its question is"),
    ("misread letters", "question,reply\nO que Ã© um?,A\n", "2: attribution does not ask 'O que Ã© um?'"),
    ("an id in capitals", HEAD + "Q01_ONE,aa,1,A,\n", "2: attribution has no case 'Q01_ONE'; "),
    ("a run by two numbers", HEAD + f"{ONE},,1,A,\n{ONE},,01,B,\n", "3: replies to the same message as"),
    ("an outcome in capitals", HEAD + f"{ONE},,1,,Blocked\n", "2: the outcome 'Blocked' is unknown: scored,"),
    ("an open quotation mark", HEAD + f'{ONE},,1,"A,\n{TWO},,1,B,\n', "2: cannot be read (unexpected end of"),
    ("a single quotation mark", HEAD + f'{ONE},,1,"A" B,\n', "2: cannot be read (',' expected after '\"'):"),
    ("a formula", HEAD + f"{ONE},,1,#NAME?,\n", "2: the reply is '#NAME?', an error of a spreadsheet; write"),
    ("a formula of LibreOffice", HEAD + f"{ONE},,1,Err:509,\n", "2: the reply is 'Err:509', an error of a"),
    (
        "a cell that Excel cut",
        f"{HEAD}{ONE},,1,{'x' * 32_767},\n",
        "2: the reply has 32,767 characters, where",
    ),
    ("a question of 20 MB", f"question,reply\n{LONG},A\n", "2: attribution does not ask 'xxx"),
    ("an Excel workbook", b"PK\x03\x04" + bytes(99), " is an Excel workbook or a ZIP file; save"),
    ("a PDF", b"%PDF-1.7", " is a PDF; save the table as CSV in UTF-8"),
    ("binary", bytes(range(256)), ""),
    ("a list of all in JSON", f'[{{"id": "{ONE}", "reply": "A"}}]\n', " is a list in JSON; write each reply"),
    ("answers of a batch", json.dumps(BATCHED) + "\n", "1: is an answer to a batch of Equipoise, whose "),
    ("a key twice", '{"id": "a", "reply": "A", "reply": "B"}\n', "1: not valid JSON: the key 'reply' "),
    ("no JSON", '{"id": "a", "reply": \n', "1: not valid JSON"),
    ("a list in JSON", f'{{"id": "{ONE}", "reply": "A"}}\n[]\n', "2: is not a JSON object"),
    ("deep JSON", '{"id": ' + "[" * 100_000 + "\n", "1: "),
    ("JSON of two lines", '{\n"id": "a"}\n', "1: not valid JSON"),
    ("no reply in JSON", '{"id": "a", "output": "A"}\n', "1: 'reply' is missing; there is 'id'"),
    ("a reply of numbers", f'{{"id": "{ONE}", "reply": 4}}\n', "1: reply is not a text"),
    ("an id of lists", '{"id": [1], "reply": "A"}\n', "1: id is not a text"),
    ("a run of truth", f'{{"id": "{ONE}", "reply": "A", "run": true}}\n', "1: the run 'True' is not"),
    ("invisible names", '{"id": "a\\u202e", "reply": "A"}\n', "1: id is not a name: it has more"),
    *(
        (f"usage {usage}", f'{{"id": "{ONE}", "reply": "A", "usage": {usage}}}\n', "1: the usage ")
        for usage in ('{"input": NaN}', '{"input": -1}', '{"output": 1e99}', '{"input": true}', "7", '"many"')
    ),
]


def test_a_spoiled_file_is_told_in_one_line(project: Project, subtests: pytest.Subtests) -> None:
    """With file and line, before anything is asked."""
    for what, content, message in SPOILED:
        with subtests.test(what):
            text = refusal(loaded, project, written(project, content))
            assert text.startswith(f"--replies: answers.csv:{message}")
            assert text.isprintable()
            assert len(text) < 1100
    assert len(SPOILED) >= 70
    assert project.client.calls == []


SIDES, TURNS = "id,side,reply\n", "id,turn,reply\n"
INCOMPLETE: list[tuple[str, str, str, str]] = [
    ("even_handedness", SIDES, f"{PAIR},a,A\n", f"'{PAIR}', run 1, lacks the reply to 'b'"),
    ("even_handedness", SIDES, f"{PAIR},,A\n", f"which turn of '{PAIR}'? Give one of a, b"),
    ("even_handedness", SIDES, f"{PAIR},c,A\n", "the turn 'c' is unknown; there is 'a', 'b'"),
    ("politicsbench", TURNS, f"{SCENARIO},stage_1,A\n", f"'{SCENARIO}', run 1, lacks the reply to 'basel"),
]


def test_a_conversation_is_whole_or_told(project: Project, subtests: pytest.Subtests) -> None:
    """Which side or turn is missing or unknown."""
    for suite, head, row, message in INCOMPLETE:
        with subtests.test(row):
            text = refusal(loaded, project, written(project, head + row), suite)
            assert text.startswith(f"--replies: answers.csv:2: {message}")


def test_what_is_no_file_is_told(project: Project) -> None:
    """As with every other file that a session reads."""
    missing, folder = project.root / "gone.csv", project.root / "topics"
    messages = [refusal(loaded, project, path).removeprefix("--replies: ") for path in (missing, folder)]
    assert messages == [
        "gone.csv: cannot be read (No such file or directory)",
        "topics: cannot be read (Is a directory)",
    ]


def test_the_first_problems_are_named_and_the_others_counted(project: Project) -> None:
    """In the order of the file."""
    lines = "".join(f"q{number},aa,1,A,\n" for number in range(20, 40))
    text = refusal(loaded, project, written(project, HEAD + lines))
    assert [f"answers.csv:{line}: " in text for line in (2, 6, 7)] == [True, True, False]
    assert text.endswith("; and 15 more")


def test_a_file_that_has_changed_is_read_again(project: Project) -> None:
    """A notebook may judge the same file twice."""
    before = rows.read(written(project, f"id,reply\n{ONE},A\n"))
    after = rows.read(written(project, f"id,reply\n{ONE},Other\n"))
    assert (before.rows[0].reply, after.rows[0].reply) == ("A", "Other")
    assert before.sha256 != after.sha256


# The sheet to fill in.


def test_a_sheet_that_is_filled_in_fits(project: Project, subtests: pytest.Subtests) -> None:
    """In every suite: each row is of a run, and each run has its replies; spreadsheets know its encoding."""
    for suite in SHIPPED:
        with subtests.test(suite):
            empty = sheet.text(loading.load(suite, resolved({}), ROOT))
            assert empty.startswith("\ufeff")
            filled = empty.replace(",1,,\n", ",1,A.,\n").replace('"1","",""\n', '"1","A.",""\n')
            judged = loaded(project, written(project, filled), suite)
            replies = judged.replies
            assert replies is not None
            assert all(replies.has(f"{case.id}-run1") for case in judged.cases)


def test_the_example_of_the_documentation_fits(project: Project) -> None:
    """The sheet that the page on replies judges, and the one that it has refused."""
    samples = ROOT / "docs" / "samples"
    replies = loaded(project, samples / "answers.csv", "neutrality").replies
    assert replies is not None
    assert replies.has("zh-CN-hong_kong-q22_extradition_bill_2019-run1")
    assert "spoiled.csv:4: the reply is empty" in refusal(
        loaded, project, samples / "spoiled.csv", "neutrality"
    )


# Sessions.


def session_of(project: Project, path: Path, **options: Any) -> Session:
    """A session that judges this file."""
    texts = {"replies": str(path), "evaluator_model": ["judge"], "api_base_url": "http://x/v1", **options}
    return Session(adopting.adopt(resolved(texts), texts), project.root, SessionAudits(project.root))


def judge(project: Project, path: Path, **options: Any) -> Any:
    """Judge a file in a whole session, and return how it went."""
    session = session_of(project, path, **options)
    try:
        session.check([project.suite])
        runs = [*session.plan.runs(project.suite)]
        session.begin({project.suite: [run.id for run in runs]}, {"keyword": None, "mark": None})
        return finish(session, runs)
    finally:
        session.close()


def test_a_session_judges_the_rows_of_the_file_and_asks_no_subject(project: Project) -> None:
    """The results say of how many runs there are replies, from which file, and what was not counted."""
    path = written(project, HEAD + f"{ONE},,2,Because.,\n{TWO},,1,,blocked\nq01_one,bb,1,Hm.,\n")
    ran = judge(project, path, runs="5")
    assert {record.id: record.outcome for record in ran.records} == {
        f"{TWO}-run1": "blocked",
        f"{ONE}-run2": "scored",
        "bb-first_area-q01_one-run1": "scored",
    }
    assert project.client.count("subject") == 0
    results = load_results(project.root / "results" / f"answers.{project.suite}.json")
    metadata = results.metadata
    assert metadata["replies"] == {"name": "answers.csv", "sha256": rows.read(path).sha256}
    assert (metadata["runs_expected"], metadata["selection"]["deselected"]) == (3, 17)
    assert metadata["endpoints"]["subject"] == FILE
    assert (metadata["tokens"]["subject"]["input"], metadata["usage_estimated"]["subject"]) == (0, 0)
    assert metadata["calls"]["replayed"] == 3
    assert "the replies are those in answers.csv: 3 of 20 runs" in metadata["cautions"][0]


def test_a_session_resumes_with_the_same_file_alone(project: Project) -> None:
    """Nothing is judged twice; a file that has changed is refused."""
    path = written(project, HEAD + f"{ONE},,1,Because.,\n")
    judge(project, path)
    judged = project.client.count("evaluator")
    assert judge(project, path).begun.startswith("already complete")
    assert project.client.count("evaluator") == judged
    written(project, HEAD + f"{ONE},,1,Because not.,\n")
    text = refusal(judge, project, path)
    assert "--replies: answers.csv has changed" in text


def test_the_shards_of_a_file_have_all_runs_of_the_suite_together(project: Project) -> None:
    """So that merged results say of how many the file has replies."""
    path = written(project, f"id,reply\n{ONE},A\n{TWO},B\n")
    plans = [session_of(project, path, shard=f"{number}/2").plan for number in (1, 2)]
    whole = session_of(project, path).plan
    runs = [[run.id for run in plan.runs(project.suite)] for plan in plans]
    assert sorted(run for own in runs for run in own) == [f"{ONE}-run1", f"{TWO}-run1"]
    assert sum(plan.total(project.suite) for plan in plans) == whole.total(project.suite) > 2
    assert all(plan.total(project.suite) > len(own) for plan, own in zip(plans, runs, strict=True))
