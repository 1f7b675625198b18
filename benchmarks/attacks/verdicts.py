"""Hostile replies before an honest evaluator, and hostile verdicts, in all five suites.

A reply must be judged as it is, and a verdict counts exactly where it is one: else there is no score, and an
error says why.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import permutations
from typing import Any

import one_dispute
import one_fact
import one_scenario

from attacks.sessions import bed
from attacks.tally import Harm, Size, Tally
from conftest import ROOT, is_orderly
from equipoise.core.records import Score
from equipoise.core.settings import Sampling
from equipoise.core.types import Call, Reply
from equipoise.judge.judge import Evaluator, Panel
from equipoise.models.model import Subject
from equipoise.models.reasoning import split, split_verdict
from equipoise.suites import borderlines, chinese_simpleqa, even_handedness, neutrality, politicsbench
from equipoise.suites.borderlines.dataset import LETTERS, NO_COUNTRY
from equipoise.suites.borderlines.judging import NONE, REFUSAL, UNCLEAR
from equipoise.suites.even_handedness.dataset import Pair
from equipoise.suites.neutrality.dataset import Question
from hostile import replies
from loopback import SUBJECT, is_judge

CODE = "8c1f0a47d2be6935"
QUOTED = re.compile(rf"\[([^\[\]\n]+) {CODE}\]\n(.*?)\n\[end of \1 {CODE}\]", re.DOTALL)
LABEL = re.compile(r"^\((\w)\) ", re.MULTILINE)
ABOUT: Mapping[str, Any] = {"id": "en-US-x-q01", "language": "en-US", "area": "x"}
QUESTION = Question(**ABOUT, item="q01", index=1, question="When did the library open?")
PAIR = Pair(
    **ABOUT,
    pair="tea",
    category="drinks",
    partisan=False,
    template="argue",
    kind="pair",
    prompt_a="Make the case for tea.",
    prompt_b="Make the case for milk.",
    group_a="tea_first",
    group_b="milk_first",
    orders=("original", "swapped"),
)
NEUTRALITY = neutrality.rubric(ROOT / "rubric" / "neutrality.toml")
EVEN = even_handedness.rubric(ROOT / "rubric" / "even_handedness.toml")
SUITES: Mapping[str, Callable[[Subject, Panel], Awaitable[Score]]] = {
    "neutrality": lambda subject, panel: neutrality.evaluate(QUESTION, NEUTRALITY, subject, panel),
    "even_handedness": lambda subject, panel: even_handedness.evaluate(PAIR, EVEN, subject, panel),
    "borderlines": lambda subject, panel: borderlines.evaluate(
        one_dispute.CASE, one_dispute.RUBRIC, subject, panel
    ),
    "chinese_simpleqa": lambda subject, panel: chinese_simpleqa.evaluate(
        one_fact.CASE, one_fact.RUBRIC, subject, panel
    ),
    "politicsbench": lambda subject, panel: politicsbench.evaluate(
        one_scenario.CASE, one_scenario.RUBRIC, subject, panel
    ),
}
JUDGED_BY_LABEL = ("even_handedness", "borderlines", "chinese_simpleqa")


@dataclass
class Judge:
    """Judges by what is quoted between the true markers, or says what it is told; keeps both."""

    says: str | None = None
    seen: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    systems: set[str] = field(default_factory=set)

    async def __call__(self, call: Call) -> Reply:
        """Answer; the same to the same material."""
        assert [message["role"] for message in call.messages][:2] == ["system", "user"]
        self.systems.add(call.messages[0]["content"])
        found = QUOTED.findall(call.messages[1]["content"])
        self.seen += [text for _, text in found]
        if self.says is not None:
            return Reply(text=split_verdict(self.says).answer, finish_reason="stop")
        digest = hashlib.sha256(repr(found).encode("utf-8", "backslashreplace")).digest()
        self.given.append(_honest(call, digest[0]))
        return Reply(text=self.given[-1], finish_reason="stop")


def _honest(call: Call, drawn: int) -> str:
    """A verdict as the call asks for it."""
    if "response_format" in call.parameters:
        return json.dumps(_filled(call.parameters["response_format"]["json_schema"]["schema"], drawn))
    text = "\n".join(message["content"] for message in call.messages)
    labels = [*dict.fromkeys(LABEL.findall(QUOTED.sub("", text)))] or ["A", "B", "C"]
    return f"({labels[drawn % len(labels)]})"


def _filled(schema: Mapping[str, Any], drawn: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, kind in schema["properties"].items():
        if "enum" in kind:
            found[name] = kind["enum"][drawn % len(kind["enum"])]
        else:
            found[name] = False if kind["type"] == "boolean" else f"Because of {drawn}."
    return found


def _run(suite: str, text: str, judge: Judge) -> Score:
    """One run, in which the subject always says this."""

    async def reply(call: Call) -> Reply:
        return Reply(text=text, finish_reason="stop")

    evaluator = Evaluator("judge", Sampling(), judge, attempts=2, code=lambda model: CODE)
    subject = Subject("m", Sampling(), reply)
    return asyncio.run(_awaited(SUITES[suite](subject, Panel([evaluator], keeps_going=False))))


async def _awaited(asked: Awaitable[Score]) -> Score:
    return await asked


def attack(size: Size) -> Tally:
    """All hostile replies and verdicts in process, and a session of each suite."""
    tally = Tally("replies and verdicts")
    corpus = [(reply.id, split(reply.text)[0]) for reply in replies()]
    step = size.of(4, 1)
    for number, suite in enumerate(SUITES):
        plain = Judge()
        _run(suite, "It opened in 1931.", plain)
        for name, text in corpus[number % step :: step]:
            with tally.attack(f"{suite}: reply {name}") as harm:
                _judge_reply(suite, text, plain, harm)
        for name, text, score in [*_verdicts(suite), *((n, t, _level(suite, t)) for n, t in corpus)][::step]:
            with tally.attack(f"{suite}: verdict {name}") as harm:
                _read_verdict(suite, text, score, harm)
    for suite in SUITES:
        with tally.attack(f"{suite}: a session") as harm:
            _session(suite, harm)
    return tally


def _judge_reply(suite: str, text: str, plain: Judge, harm: Harm) -> None:
    """It is shown whole, alone between the true markers, and what the evaluator gives is what counts."""
    judge = Judge()
    score = _run(suite, text, judge)
    if suite == "borderlines" and not judge.given:
        # What a text names without an evaluator is the suite's own affair; the empty one names nothing.
        harm.expect((score.value is None) == (score.error is not None), f"{score!r}"[:500])
        return
    harm.expect(text in judge.seen or not text.strip(), "not quoted as it is")
    harm.expect(judge.systems <= plain.systems, "the instruction changed")
    given = sorted(judge.given)
    harm.changed += _counted(suite, score) != given


def _counted(suite: str, score: Score) -> list[str]:
    """What the evaluator gave, as far as the score tells."""
    if suite == "even_handedness":
        choices = [choice for found in score.details["judgements"].values() for choice in found]
        return sorted(f"({max(c['probabilities'], key=c['probabilities'].get)})" for c in choices)
    if suite == "borderlines":
        return [f"({_label_of(score)})"]
    if suite == "chinese_simpleqa":
        return sorted(f"({verdict.fields['grade']})" for verdict in score.verdicts if verdict.fields)
    if suite == "neutrality":
        (verdict,) = score.verdicts
        assert verdict.fields is not None
        return [json.dumps(dict(verdict.fields))] if verdict.fields["score"] == score.value else []
    return sorted(json.dumps(dict(verdict.fields)) for verdict in score.verdicts if verdict.fields)


def _label_of(score: Score) -> str:
    """The label behind a score: of a country, of nobody, of a refusal, or of what cannot be told."""
    answer = score.details["answer"]
    if answer in one_dispute.CASE.options:
        return LETTERS[one_dispute.CASE.options.index(answer)]
    if answer == NO_COUNTRY:
        return NONE
    return REFUSAL if score.outcome == "refused" else UNCLEAR


# Verdicts.


def _verdicts(suite: str) -> Iterator[tuple[str, str, object]]:
    """Texts and the score that each is worth, None for none; of the suites with labels the label."""
    if suite in JUDGED_BY_LABEL:
        yield from _labels()
    elif suite == "neutrality":
        yield from _objects()


def _objects() -> Iterator[tuple[str, str, object]]:
    own = '{"reasoning": "Because.", "refused": false, "score": %s}'
    for value in (
        "0",
        "6",
        "-1",
        "3.5",
        '"four"',
        "true",
        "null",
        "[4]",
        "NaN",
        "1e400",
        "9" * 5000,
        "{}",
        "04",
    ):
        yield f"score {value[:9]}", own % value, None
    for value in ("1", "5", "4.0", "2e0"):
        yield f"score {value}", own % value, int(float(value))
    yield "score as text", own % '"4"', 4
    good, bad = own % 2, own % 5
    yield from (
        ("two", good + bad, None),
        ("two-lines", f"{good}\n{bad}", None),
        ("two-fences", f"```json\n{good}\n```\n```json\n{bad}\n```", None),
        ("in-prose", f"I give this:\n{good}", None),
        ("prose-behind", f"{good}\nIn short, 5.", None),
        ("fenced", f"```json\n{good}\n```", 2),
        ("listed", f"[{good}]", None),
        ("in-a-text", json.dumps(good), None),
        ("within", f'{{"verdict": {good}}}', 2),
        ("within-two", f'{{"verdict": {{"verdict": {good}}}}}', None),
        ("within-and-beside", f'{{"verdict": {good}, "score": 5}}', None),
        ("fenced-in-prose", f"I give this:\n```json\n{good}\n```\nIn short.", 2),
        ("fenced-beside-another", f"{bad}\n```json\n{good}\n```", None),
        ("fenced-on-one-line", f"```json {good} ```", 2),
        ("byte-order-mark", f"\ufeff{good}", 2),
        ("second-in-other-case", own % '2, "Score": 5', None),
        ("second-nested", own % '2, "notes": [{"score": 5}]', None),
        ("same-field-twice", own % '1, "score": 5', None),
        ("same-field-twice-alike", own % '2, "score": 2', None),
        ("escaped-field", own.replace("score", "\\u0073core") % 2, 2),
        ("escaped-field-twice", own % '1, "\\u0073core": 5', None),
        ("other-case", own.replace("score", "Score") % 2, None),
        ("no-reasoning", '{"refused": false, "score": 2}', None),
        ("refused-text", own.replace("false", '"no"') % 2, None),
        ("refused-as-text", own.replace("false", '"false"') % 2, 2),
        ("cut", good[:-1], None),
        ("comment", good + " // fine", None),
        ("in-thoughts", f"<think>{bad}</think>{good}", 2),
        ("in-thoughts-alone", f"<think>{bad}</think>", None),
        ("in-unclosed-thoughts", f"<think>{bad}", None),
        ("deep", "[" * 10**5, None),
        ("empty", "", None),
    )
    yield from _quotations(good, bad)


def _quotations(mine: str, quoted: str) -> Iterator[tuple[str, str, object]]:
    """Every order of a verdict, tags of thoughts, and a verdict that the judged text holds."""
    pieces = {
        "mine": mine,
        "quoted": quoted,
        "opens": "<think>",
        "closes": "</think>",
        "prose": "It says so.",
    }
    for size in (2, 3, 4, 5):
        for names in permutations(pieces, size):
            if {"mine", "quoted"} <= {*names}:
                yield f"order {'-'.join(names)}", "\n".join(pieces[name] for name in names), _worth(names)


def _worth(names: Sequence[str]) -> int | None:
    """The score of an order: that of the verdict behind an opened block that holds all else."""
    if names[0] != "opens" or names[-2] != "closes":
        return None
    return {"mine": 2, "quoted": 5}.get(names[-1])


def _labels() -> Iterator[tuple[str, str, object]]:
    for text in (
        "A and C",
        "A, or B",
        "(A) (B)",
        "(Z)",
        "",
        "A better one",
        "I choose none",
        "BA",
        "A\nB",
        "5",
    ):
        yield f"label {text!r}", f"{text} ?" if text == "5" else text, None
    for text in (
        "{}",
        '{"label": "A", "label": "B"}',
        "<think>(A)</think>",
        "<think>(A)",
        "Not A",
        "(A) <think></think>(B)",
        "(A)</think>(B)",
        "(A)\nIt says so.</think>(B)",
        "A\nIt says (B)",
        "(A)\n</think>\n(B)",
    ):
        yield f"label {text!r}", text, None


def _level(suite: str, text: str) -> object:
    """What a text of the corpus is worth as a verdict: ... where only the suite can tell."""
    if suite != "neutrality":
        return ...
    text = split_verdict(text).answer.removeprefix("\ufeff").strip(" \t\r\n")
    fenced = re.fullmatch(r"[^{`]*```\w*[ \t\r]*\n(.*)```[^{`]*", text, re.DOTALL)
    scored: list[str] = []
    try:
        data = json.loads(fenced[1] if fenced else text, object_pairs_hook=partial(_without_doubles, scored))
    except (ValueError, RecursionError):
        return None
    if len(scored) > 1:
        return None
    value = data.get("score") if isinstance(data, dict) else None
    if isinstance(value, str) and value in "12345":
        value = int(value or 0)
    is_level = isinstance(value, int | float) and not isinstance(value, bool) and value in (1, 2, 3, 4, 5)
    return value if is_level and isinstance(data.get("reasoning"), str) else None


def _without_doubles(scored: list[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs; each name of a score goes to `scored`."""
    scored += [name for name, _ in pairs if name.casefold() == "score"]
    if len(dict(pairs)) < len(pairs):
        raise ValueError("which of the two is meant?")
    return dict(pairs)


def _read_verdict(suite: str, text: str, expected: object, harm: Harm) -> None:
    score = _run(suite, "A reply that names nobody.", Judge(says=text))
    if expected is ...:
        # Whatever a label or an object is worth, a run has a score or an error.
        harm.expect((score.value is None) == (score.error is not None), f"{score!r}"[:500])
    elif expected is None:
        harm.changed += score.value is not None
        harm.expect(score.error is not None, "no error says why there is no score")
    else:
        harm.changed += score.value != expected


# Sessions.


@cache
def _corpus() -> list[str]:
    return [reply.text for reply in replies() if reply.text]


def _session(suite: str, harm: Harm) -> None:
    """A hostile subject and every second time a hostile evaluator; asked again, nothing changes."""

    def script(body: dict[str, Any], number: int) -> str:
        digest = hashlib.sha256(json.dumps(body["messages"]).encode()).digest()
        drawn = int.from_bytes(digest[:4], "big")
        if not is_judge(body) or drawn % 2:
            return _corpus()[drawn % len(_corpus())][:5000]
        call = Call(role="evaluator", model="judge", messages=tuple(body["messages"]), parameters=body)
        return _honest(call, drawn)

    with bed(script, delay=0.0) as bench:
        bench.use_real_topics()
        arguments = (f"tests_benchmark/test_{suite}.py", "--limit", "1", "--evaluator-attempts", "2")
        done = bench.run(*arguments, "--runs", "1", "--evaluator-model", "judge")
        output = done.stdout + done.stderr
        harm.expect(done.returncode in (0, 1) and is_orderly(output), output[-1500:])
        asked = len(bench.server.requests)
        journal = bench.folder / "results" / f"{SUBJECT}.{suite}.jsonl"
        kept = [json.loads(line) for line in journal.read_bytes().splitlines()]
        harm.lost += asked - sum(line["kind"] == "call" for line in kept)
        found = [line["record"] for line in kept if line["kind"] == "record"]
        harm.expect(found, "no records")
        harm.expect(all((r["score"] is None) == (r["error"] is not None) for r in found), f"{found}"[:600])
