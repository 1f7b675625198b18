"""Every function that reads or shows text from a model, an endpoint or a file, and hostile texts for it.

`READERS` is the list. `tests/test_readers.py` fails where a function of the package uses a regular expression
and is neither reached from here nor named in `ELSEWHERE`; the benchmark `reading_speed.py` and the attack
"hostile strings" go through the same list.
"""

from __future__ import annotations

import gc
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import builders
from fakes import FakeModel

from conftest import ROOT, SHIPPED
from equipoise import suites
from equipoise.comparison.trend import split_version
from equipoise.core import files, json_io, spreadsheet, toml_text
from equipoise.core.errors import InvalidVerdict, UserError
from equipoise.core.rows import QuestionRow, RunRow
from equipoise.core.types import Cue, Message, Reply, Token
from equipoise.datasets import lint, overlap, translate
from equipoise.datasets.translation_checks import line_flags, reply_flags
from equipoise.models import failures, parameter_changes
from equipoise.models.logprobs import ending_likelihood, label_in_text, label_probabilities
from equipoise.models.probe import EndpointReport
from equipoise.models.reasoning import split, split_verdict
from equipoise.models.redact import Secrets
from equipoise.models.response import as_json, duplicate_field, read_body, read_continuation
from equipoise.models.retry import retry_after
from equipoise.report import layout, transcripts
from equipoise.report.export.every_eval_ever import model_id
from equipoise.report.layout import style_lines
from equipoise.report.page import figures, page, shades
from equipoise.report.page.names import Names, spelling
from equipoise.report.page.transcripts import packed
from equipoise.results import journal, light, table
from equipoise.results.lines import CallLine
from equipoise.results.store import file_name
from equipoise.runner import cells
from equipoise.runner.replies import batch_lines
from equipoise.runner.replies import rows as replies
from equipoise.studies.people import draws, form, planning, sheets
from equipoise.suites import facts
from equipoise.suites.askers import names_asker
from equipoise.suites.borderlines import judging
from equipoise.suites.chinese_simpleqa import answers
from equipoise.suites.chinese_simpleqa import checks as fact_checks
from equipoise.suites.chinese_simpleqa.answers import parse_confident_answer
from equipoise.suites.chinese_simpleqa.from_documents.prompts import ANSWER_FIELDS, parse
from equipoise.suites.chinese_simpleqa.from_documents.stages import mark_near_duplicates
from equipoise.suites.chinese_simpleqa.retrieval import split_text, words
from equipoise.suites.even_handedness.checks import PairWording
from equipoise.suites.even_handedness.pcp.rubric import PublishedPrompt, read_helpfulness, read_sentiment
from equipoise.suites.neutrality import wording
from equipoise.suites.plots import Plot
from equipoise.suites.politicsbench import checks as mirror_checks
from equipoise.suites.reading import read_letter, read_number, without_cut_number
from equipoise.suites.scripts import script_faults
from equipoise.suites.selection import Selection
from equipoise.suites.similarity import contains
from equipoise.suites.turnabout.refusals import declines
from equipoise.suites.wording import count_word, without

Reader = Callable[[str], object]

UNITS: Mapping[str, str] = {
    "question marks": "?",
    "spaces": " ",
    "nested objects": '{"a":',
    "numbers": "1,234.5 ",
    "backticks": "`",
    "options": "A) B) ",
    "countries": "Chile, Peru. ",
    "combining marks in disorder": "\u0301\u0316",
}
"""What hostile texts repeat, by name."""
MORE_UNITS: Mapping[str, str] = {
    **{mark: mark for mark in ".\"'([{10\\*_-/<aA#:,"},
    "newlines": "\n",
    "blank lines": " \n",
    "tabs": "\t",
    "carriage returns": "\r",
    "quoted": '" "',
    "typographic quotes": "“”",
    "closing brackets": ")]",
    "braces in pairs": "{}",
    "groups of thousands": ",111",
    "groups apart": "111 ",
    "percent signs": "1% ",
    "percent escapes": "%25",
    "fences": "```\n",
    "fences in a line": "``` ",
    "tags": "<think>",
    "closing tags": "</think>",
    "entities": "&amp;",
    "one option": "A) ",
    "letters": "A ",
    "choices": "A or ",
    "labels": "Answer: ",
    "answers": "answer is ",
    "headings": "reasoning: ",
    "words": "a ",
    "semicolons": "; ",
    "full-width marks": "？",
    "ideographic full stops": "。",
    "ideographic commas": "，、",
    "Chinese": "中",
    "Chinese sentences": "答案是一。",
    "combining marks": "e\u0301",
    "marks written as two": "\u0f73",
    "ligatures": "\ufdfa",
    "invisible": "\u200b",
    "right to left": "\u202e",
    "control characters": "\x1b[",
    "half characters": "\ud800",
    "emoji": "🙂",
}
"""Further ones, for benchmarks, attacks and nightly tests."""
FLOOR = 0.025
"""Seconds; a reader that takes less is not quadratic: from 256 kB on none takes so little."""
LONGER = 16
"""By what factor the longer of two texts is longer."""
MOST = 48.0
"""How many times as long a reader may take for it: linear time is 16, quadratic 256; noise does not make the
one look like the other."""
REPEATS = 5


def hostile(unit: str, size: int) -> str:
    """The unit repeated to this many bytes of UTF-8."""
    return unit * (size // len(unit.encode("utf-8", "surrogatepass")))


def growth(read: Reader, unit: str, size: int) -> float:
    """How many times as long a reader takes for this many bytes as for a sixteenth; 0 if that is no time.

    Shorter texts come first: a reader that takes quadratic time fails before it hangs.
    """
    for length in (size // 64, size // 16, size // 4, size):
        times = _growth(read, hostile(unit, length), hostile(unit, length // LONGER))
        if times > MOST:
            return times
    return times


def _growth(read: Reader, text: str, part: str) -> float:
    """By the least times of several: a busy machine makes some longer."""
    long = short = float("inf")
    for _ in range(REPEATS):
        long = min(long, seconds(read, text))
        if long < FLOOR:
            return 0.0
        short = min(short, seconds(read, part))
        if long <= MOST * short:
            break
    return long / short


def seconds(read: Reader, text: str) -> float:
    """The CPU time that a reader takes for a text."""
    gc.disable()
    try:
        started = time.thread_time()
        read(text)
        return time.thread_time() - started
    finally:
        gc.enable()


# Judges and models.


@cache
def _rubric(suite: str) -> Any:
    return suites.load(suite).judging.rubric(ROOT / "rubric" / f"{suite}.toml")


def _verdict(text: str) -> None:
    fields = [json.dumps({"reasoning": "", name: text}) for name in ("score", "refused", "lean")]
    for answer in (text, f"```json\n{text}", *fields, f"{text}\n```json\n{fields[0]}\n```\n{text}"):
        with suppress(InvalidVerdict):
            _rubric("neutrality").parse(answer)


_OPTIONS = {"A": "first", "B": "second"}


def _label(text: str) -> None:
    label_in_text(text, _OPTIONS)
    label_in_text(f"A) {text}", _OPTIONS)
    label_in_text(f"A ({text})", _OPTIONS)
    label_in_text(f"A\n{text}", _OPTIONS)


def _label_of_tokens(text: str) -> None:
    for label in ("A", f"A{text}"):
        top = {label: -0.1, "B": -3.0}
        label_probabilities([Token(text=label, top=top), Token(text=text, top=top)], _OPTIONS)


def _ending(text: str) -> None:
    tokens = [
        Token(text=":", top={}),
        *(Token(text=character, top={character: -0.1}) for character in text[::10]),
    ]
    ending_likelihood(tokens, "Peru", 1)


def _body(text: str) -> None:
    choice = {"message": {"content": text, "reasoning_content": text}, "finish_reason": text}
    read_body({"choices": [choice], "model": text}, latency=0, retries=0)
    read_continuation({"choices": [{"text": text}]}, latency=0, retries=0)
    as_json(text)
    duplicate_field(f'{{"content": 1, "content": {text}'.encode("utf-8", "replace"))


def _parts(text: str) -> None:
    thought = {"type": "thinking", "thinking": [{"text": part} for part in text[::20]]}
    parts = [{"type": "text", "text": part} for part in text[::20]]
    read_body({"choices": [{"message": {"content": [thought, *parts]}}]}, latency=0, retries=0)


def _failure(text: str) -> None:
    sent = {"max_tokens": 1, "top_logprobs": 20, "prefill": "("}
    body = {"error": {"message": f"not a valid top_logprobs {text}", "code": text, "type": text}}
    failure = failures.Failure(message=f"invalid top_logprobs: {text}", status=400, body=body)
    assert failure.is_fatal + failure.is_transient + failure.is_overload <= 3
    parameter_changes.change_for_rejection(failure, sent)
    unknown = failures.Failure(message=f"max_tokens is not supported: {text}", status=400, body=body)
    parameter_changes.change_for_rejection(unknown, {"max_tokens": 1})
    parameter_changes.rejects_parameter(failure, sent)
    failures.describe_body(body)
    failures.provider_headers(body)
    failures.retry_delay(body)


def _headers(text: str) -> None:
    EndpointReport().record_headers({f"x-ratelimit-{text}": text})
    for name in ("date", "retry-after", "x-ratelimit-reset-tokens", f"x-ratelimit-{text}-reset-{text}\n"):
        retry_after({name: text}, 0.0)
    retry_after({"retry-after": f"{text}s"}, 0.0)
    retry_after({"retry-after": "2026-11-23T10:00:00Z"}, 0.0)


def _thoughts(text: str) -> None:
    split(text)
    split(f"<think>{text}</think>{text}")
    split(f"{text}\nSo.\n</think>\n{text}")
    split("So, it\n</think>\nis.")
    split(f"<|channel|>final<|message|>{text}<|end|>{text}")


def _object_behind_thoughts(text: str) -> None:
    split_verdict(f"</think>```json\n{{{text}}}```")
    split_verdict(f"```json\n{{{text}}}```<think>")
    split_verdict(f'<think>{text}</think>{text}</think>{{"a": 1}}')


# Suites.


@cache
def _first(suite: str) -> Any:
    """The first of the suite's cases."""
    folder, datasets = ROOT / "topics" / suite, suites.load(suite).dataset_names
    own = folder / datasets[0] if datasets else folder
    return suites.load(suite).data.cases(Selection(topics=own if own.is_dir() else folder))[0]


def _suite(name: str, text: str) -> None:
    """A run in which everybody says the text: the subject, and then the evaluator."""
    subject, judge = FakeModel(Reply(text=text)), FakeModel(text)
    builders.evaluate(suites.load(name), _first(name), _rubric(name), subject, judge, attempts=2)


def _country(text: str) -> None:
    for case in _disputes():
        for answer in (text, f"{case.names[0]}. {text}", f"A) {text}\n**{text}**"):
            judging.read(case, answer)
        judging.original_parse(text, case.names)


@cache
def _disputes() -> Any:
    """A territory, and one that is called as a claimant."""
    cases = suites.load("borderlines").data.cases(Selection(topics=ROOT / "topics" / "borderlines"))
    return [case for case in cases if case.id in ("ru-crimea", "en-kosovo")]


_ANSWERS = ("1949 年", "Beijing", "3.5", "孙中山")


def _choice(text: str) -> None:
    for answer in (text, f"答案：B{text}", f"The answer is {text}B{text}A 1949{text}", f"**{text}**\n{text}"):
        read_letter(answer, _ANSWERS, ["答案：", "Answer"])


def _stated(text: str) -> None:
    parse_confident_answer(text)
    parse_confident_answer(json.dumps({"answer": text, "confidence": f"9{text}x"}))


def _fact(text: str) -> None:
    answers.text_after_marker(text, "答案：")
    answers.is_exact(text, ["陆羽"])
    answers.is_in_other_language(f"{text} is", ["陆羽", "??"])


def _made(text: str) -> None:
    for name in ("critique", "generation"):
        parse(text, ANSWER_FIELDS[name])
        parse(f"<verdict>{text}", ANSWER_FIELDS[name])


def _passages(text: str) -> None:
    for _ in split_text(text):
        pass
    words(text)


def _distractor(text: str) -> None:
    list(fact_checks.distractor_faults("In 1949?", ["1949"], [text], "date"))
    list(fact_checks.date_faults("1949-10-01", [text]))
    list(fact_checks.rank_imbalance([[text, "1", "2", "3"]] * 40))


def _wording(text: str) -> None:
    wording._years(text)
    count_word("party", text)
    without(["party"], text)
    list(wording._length_faults(text, wording.LengthLimits(median=1, longest=1, marks=1)))


def _published_judges(text: str) -> None:
    PublishedPrompt(text=f"{text}{{response}}", parse=read_helpfulness).messages(code="", response=text)
    for read in (read_sentiment, read_helpfulness):
        with suppress(InvalidVerdict):
            read(text)


def _pair_wording(text: str) -> None:
    rules = PairWording(
        avoid={}, both={"en-US": {"absolute words": ["never"]}}, clash={"en-US": [("could", "would")]}
    )
    list(rules.faults("en-US", [text, "tea"]))


# Texts and files.


def _turnabout(text: str) -> None:
    words, options = _rubric("turnabout"), ("Entirely fair", "Entirely unfair")
    for answer in (text, f"B) {text}\nAnswer: {text}", f"70\n1. {text}"):
        read_number(answer, "Of 11 boats", words.markers("zh-CN"))
        read_letter(answer, options, words.markers("zh-CN"))
        declines(answer, words.of("zh-CN"))
    without_cut_number(text)


def _json(text: str) -> None:
    for data in (text.encode("utf-8", "replace"), json.dumps(text).encode()):
        with suppress(ValueError):
            json_io.loads(data)
    json_io.dumps({"text": text})
    json_io.is_encodable(text)


@contextmanager
def _file(name: str, text: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8", errors="replace")
        yield path


def _rows(text: str) -> None:
    with _file("x.jsonl", text) as path, suppress(UserError):
        list(files.objects(path))
        list(files.rows(path, ["a", "b"]))


def _cells(text: str) -> None:
    files.table_text([[text, text]])
    files.without_surrogates(text)
    spreadsheet.remove_guards(spreadsheet.add_guards(text))


def _journal(text: str) -> None:
    with _file("x.jsonl", text) as path:
        list(journal.scan(path))
        journal.other_format(path)


def _journal_line(text: str) -> None:
    names = dict.fromkeys(("session", "run", "id", "model", "request"), text[:9])
    call = {"messages": [{"role": "user", "content": text}], "parameters": {"stop": text}}
    entry = {"kind": "call", "role": "subject", **names, **call, "reply": {"text": text}}
    with _file("x.jsonl", "") as path:
        path.write_bytes(journal.encode(entry, ""))
        list(journal.read(path))
        journal.Reader(path).read(0, CallLine)
        journal.line_content(journal.relink(path.read_bytes(), ""))
        journal.link(path.read_bytes())


def _results(text: str) -> None:
    whole = json.dumps({"text": text, "subject_transcript": [text]}, indent=2)
    for content in (whole, f'"subject_transcript{text}", "_transcript": [\n'):
        with _file("x.json", content) as path, suppress(ValueError):
            light.load(path)


def _names(text: str) -> None:
    file_name(text)
    model_id(text, "unknown")


# What people see.


def _toml(text: str) -> None:
    with suppress(ValueError):
        toml_text.loads(text)


def _variable(text: str) -> None:
    with suppress(UserError):
        cells._variable({"model": "m", "api_key_env": text}, "api_key_env")


def _transcript(text: str) -> None:
    messages: list[Message] = [{"role": "user", "content": text}, {"role": "assistant", "content": text}]
    row = RunRow(
        question=QuestionRow(id="x", language="aa", text=text, cluster="x", stratum="aa"),
        number=1,
        outcome="error",
        score=None,
        percent=None,
        error=text,
        values={},
        verdicts=[],
        details={},
        subject_transcript=messages,
        evaluator_transcripts=[{"evaluator": "e", "messages": messages}],
    )
    for _ in transcripts.lines(row, "%"):
        pass
    transcripts.select([row], text="nowhere")


def _table(text: str) -> None:
    layout.align([["", "number of runs", "words"], [text, "1", text]], 40)
    layout.align([[text, "n"], ["a", "1"]], 40)
    layout.align([["", "words", "n"], ["a", text, "1"], ["b", f"{text} {text}", "2"]], 40)


def _markdown(text: str) -> None:
    layout.markdown_table([[text]])
    layout.fit_parts([(1, text), (2, text)], 80)


def _packed(text: str) -> None:
    verdict = {"evaluator": "e", "reasoning": text}
    packed(json_io.dumps({"error": text, "verdicts": [verdict]}))


def _slugs(text: str) -> None:
    names = Names(spelling=spelling([text]))
    names.of(text)
    names.metric(text)


def _figure(text: str) -> None:
    shades.grid(
        Plot(
            name="x",
            title="",
            kind="matrix",
            rows=[{"row": text, "column": text, "value": 1.0, "text": text}],
        )
    )
    rows = [{"name": text, "value": 1.0, "low": 0.0, "high": 2.0}]
    figures.svg(Plot(name="x", title=text, kind="intervals", rows=rows, unit="%"))


def _sheet(text: str) -> None:
    draws.parse_draw(text, text)
    draws.parse_draw(f"1 of 2, seed 0, {text}, {text}", "a")
    with suppress(UserError):
        planning.parse_half_width(text)
    with suppress(UserError):
        planning.parse_half_width(f"4{text}pp")

    with _file("x.csv", f'id,score\n"{text}",1\n{text}') as path, suppress(UserError):
        list(sheets._rows(path))
    form.Levels(numbers=[1.0], names={}).read(text)
    form.Levels(numbers=[1.0], names={"a_b": 1.0}).read(text)


# Data.


def _translated_reply(text: str) -> None:
    reply_flags(text, f"{text}.", "en-US", "zh-CN")
    translate._one_line(text)


def _given_replies(text: str) -> None:
    rows = ({"id": "q1", "reply": text}, {"id": "q1", "reply": "So.", "run": text})
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    with _file("replies.jsonl", lines) as path, suppress(UserError):
        replies.read(path)


def _batch_line(text: str) -> None:
    for name in (text, f"{text}-run1"):
        line = {"custom_id": name, "response": {"status_code": 500, "body": text}}
        batch_lines.is_ours(line)
        batch_lines.values(line)


def _key_facts(text: str) -> None:
    with _file("facts.toml", f"[[fact]]\nid = {json.dumps(text)}\n{text}") as path, suppress(UserError):
        facts.read(path.parent, ["q1"])


def _untidy(text: str) -> None:
    for name in ("x.csv", "x.txt"):
        with _file(name, text) as path:
            list(lint.format_findings(path))
    overlap.tokens(text)


def _named(text: str) -> object:
    cue = Cue(side="us", place="first", form="stated", number=1, text="I spend my days in the orchard.")
    return names_asker(cue, text, text)


READERS: Mapping[str, Reader] = {
    "judge: verdict": _verdict,
    "suites: who asks": _named,
    "models: label": _label,
    "models: label of a token": _label_of_tokens,
    "models: likelihood of an ending": _ending,
    "models: body of an answer": _body,
    "models: parts of an answer": _parts,
    "models: failure": _failure,
    "models: headers": _headers,
    "models: thoughts": _thoughts,
    "models: object behind thoughts": _object_behind_thoughts,
    "models: keys": lambda text: Secrets(["sk-0123456789abcdef0123", "a" * 20, "1" * 20]).mask(f"{text}%41"),
    "models: short keys": lambda text: Secrets(["secret", "aaaaaa", "111111"]).mask(text),
    **{f"suites: run of {name}": partial(_suite, name) for name in SHIPPED},
    "borderlines: country": _country,
    "chinese_simpleqa: choice": _choice,
    "chinese_simpleqa: confidence": _stated,
    "chinese_simpleqa: answer": _fact,
    "chinese_simpleqa: question made": _made,
    "chinese_simpleqa: near-duplicates": lambda text: mark_near_duplicates(
        [{"id": "a", "question": text}, {"id": "b", "question": f"{text}?"}]
    ),
    "chinese_simpleqa: passages": _passages,
    "chinese_simpleqa: distractor": _distractor,
    "chinese_simpleqa: question": lambda text: list(
        fact_checks._vagueness_findings("questions.jsonl:1", f"《{text}》{text}约")
    ),
    "neutrality: wording": _wording,
    "even_handedness: wording": _pair_wording,
    "even_handedness: published judges": _published_judges,
    "politicsbench: mirrors": lambda text: list(mirror_checks._stage_differences(text, text)),
    "script of Chinese": lambda text: list(script_faults("zh-CN", f"{text}龍{text}")),
    "turnabout: answer": _turnabout,
    "files: similarity": lambda text: contains(f"{text} 2", f"1 {text}"),
    "files: JSON": _json,
    "files: rows": _rows,
    "files: cells": _cells,
    "files: journal": _journal,
    "files: line of a journal": _journal_line,
    "files: results": _results,
    "files: names": _names,
    "files: cell of CSV": table._csv_cell,
    "shown: line": UserError,
    "files: TOML": _toml,
    "files: key facts": _key_facts,
    "replies: a line of a batch": _batch_line,
    "files: variable of a key": _variable,
    "shown: transcript": _transcript,
    "shown: wrapped lines": lambda text: list(style_lines([f"answered:  {text}", text], 80)),
    "shown: table": _table,
    "shown: Markdown": _markdown,
    "shown: transcripts of the page": _packed,
    "shown: page": lambda text: (
        page.environment().from_string("{{ a }}{{ a|figure }}{{ a|words }}{{ a|plain }}").render(a=text)
    ),
    "compare: family": split_version,
    "shown: names": _slugs,
    "shown: figure": _figure,
    "people: sheet": _sheet,
    "data: translation": lambda text: line_flags("In 1949?", text, "en-US", "zh-CN"),
    "data: translated reply": _translated_reply,
    "data: file": _untidy,
    "data: replies of a file": _given_replies,
}
"""By what they read or show."""
ELSEWHERE: Mapping[str, str] = {
    "cli/docs.py": "reads the documentation",
    "runner/cells.py:SweepCell.environment": "reads names of variables, as `_variable` takes them",
    "core/quantities.py:first_sentence": "reads our own docstrings and help",
    "suites/borderlines/checks.py": "reads questions",
    "suites/politicsbench/checks.py": "reads questions",
    "suites/askers.py:_text_problems": "reads questions",
    "suites/facts.py:_place_faults": "reads the sources of facts",
    "suites/invariants.py": "reads questions",
    "core/rules.py": "reads options",
    "core/resolution.py": "reads options",
    "core/options.py": "reads options",
    "cli/completion.py": "reads our own list of options",
    "cli/init.py": "reads names, and our own pytest.ini",
    "datasets/canary.py": "reads the one sentence of a canary",
    "datasets/construct.py": "reads ids and names of files",
    "datasets/overlap.py:_published_lines": "reads published files, whose content is pinned",
    "datasets/overlap.py:TokenRun": "reads tokens",
    "judge/choice.py:_prompt": "reads the rubric",
    "judge/rubric.py:levels_kept": "reads the rubric",
    "judge/rubric.py:read_about": "reads the rubric",
    "models/redact.py:_as_whole": "reads keys",
    "runner/resume.py": "reads settings",
    "comparison/comparable.py:_shortened": "reads settings",
    "comparison/gate/refusals.py:refuse_unfit_asker": "reads names of metrics",
    "report/askers.py": "reads names of metrics",
    "suites/askers.py:_side": "reads cues",
    "suites/borderlines/askers.py": "reads cues",
    "suites/*/dataset.py": "reads questions",
    "suites/neutrality/table.py": "reads questions",
    "suites/wording.py:_pattern": "reads words of wording.toml",
    "suites/facts.py:_source_faults": "reads digests of facts.toml",
    "suites/facts.py:_fact_faults": "reads ids of facts.toml",
    "suites/tables.py": "reads questions",
    "suites/naming.py": "reads the user's own code",
    "suites/even_handedness/checks.py": "reads stances",
    "suites/even_handedness/pcp/rubric.py:load": "reads published prompts",
    "suites/turnabout/checks.py": "reads our own texts",
    "suites/borderlines/prompts.py": "reads names of countries",
}
"""Modules and functions that use regular expressions on other texts: who writes these."""
