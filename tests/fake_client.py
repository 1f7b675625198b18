"""Sessions in this process: run without pytest, by a client that asks nobody."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builders import SUITE
from journals import entries

from conftest import EXAMPLE, SMALL_DATASET, resolved, write_files
from equipoise.audit.session import SessionAudits
from equipoise.core.errors import BatchWaiting, CallFailed, NotNeeded, SessionStopped
from equipoise.core.records import Record
from equipoise.core.types import JSON, Call, Reply, Run, Usage
from equipoise.runner.calls import CallSlot
from equipoise.runner.progress import Progress
from equipoise.runner.session import Session
from loopback import is_first_call, question_of, score_of, verdict, with_facts

ALL = 2 * 2 * 5
"""Languages, questions, runs of the small dataset."""
HEAD = "language,id,area,question\n"
QUESTIONS = """\
aa,q01_one,first_area,What is one?
aa,q02_two,second_area,What is two?
bb,q01_one,first_area,O que é um?
bb,q02_two,second_area,O que é dois?
"""
"""The small dataset in the form of the example suite."""
USAGE = Usage(input=100, output=20)
Answer = Reply | BaseException | str
Script = Callable[[Call], Answer]


def question(call: Call) -> str:
    """What a call is about, the subject's and the evaluator's."""
    return question_of({"messages": call.messages})


def plain(call: Call) -> Answer:
    """Every question gets an answer, every answer the score that its question fixes."""
    text = question(call)
    return verdict(score_of(text)) if call.role == "evaluator" else f"An answer to: {text}"


def any_answer(call: Call) -> str:
    """A verdict by the schema that the call asks for, a label where it asks for none."""
    if call.role == "subject":
        return "It is disputed."
    if "response_format" not in call.parameters:
        return "(A)"
    properties = call.parameters["response_format"]["json_schema"]["schema"]["properties"]
    return json.dumps({name: _value(kind) for name, kind in properties.items()})


def _value(kind: Mapping[str, JSON]) -> JSON:
    if kind["type"] == "object":
        return {name: _value(inner) for name, inner in kind["properties"].items()}
    value = {"integer": 1, "boolean": False}.get(kind["type"], "Because.")
    return kind.get("enum", [value])[0]


class FakeClient:
    """Takes one slot for each call and answers by the script; keeps every call that it was sent."""

    def __init__(self, script: Script = plain, *, seconds: float = 0.0) -> None:
        self.script = script
        self.seconds = seconds
        self.calls: list[Call] = []
        self.in_flight = self.peak = self.cancelled = 0
        self.is_closed = False

    async def complete(self, call: Call, slot: CallSlot, *, max_retries: int | None = None) -> Reply:
        """Wait for the slot, then for the answer; there is none before the first question."""
        if is_first_call({"messages": call.messages}):
            raise CallFailed("the model is still loading")
        async with slot:
            self.calls.append(call)
            self.in_flight += 1
            self.peak = max(self.peak, self.in_flight)
            try:
                await asyncio.sleep(self.seconds)
                answer = with_facts(self.script(call), call.parameters)
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            finally:
                self.in_flight -= 1
            if isinstance(answer, BaseException):
                raise answer
            reply = Reply(text=answer, usage=USAGE) if isinstance(answer, str) else answer
            slot.succeed(reply)
            return reply

    async def close(self) -> None:
        """Keep that it was closed."""
        self.is_closed = True

    def count(self, role: str) -> int:
        """How many calls there were in that role."""
        return sum(call.role == role for call in self.calls)


@dataclass
class Ran:
    """What has become of a session."""

    begun: str
    records: list[Record] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    batches: Sequence[str] = ()
    in_batches: int = 0
    notices: list[str] = field(default_factory=list)
    stop_reason: str | None = None
    is_complete: bool = False
    summary: list[str] = field(default_factory=list)


class Project:
    """A folder with a small dataset (2 languages, 2 questions) and a client that all its sessions get.

    The sessions are of the example suite, or of neutrality from `write_topics` on.
    """

    def __init__(self, root: Path, client: FakeClient) -> None:
        self.root = root
        self.client = client
        self._write_questions([QUESTIONS])

    def write_questions(self, count: int, **starts: str) -> None:
        """A dataset of so many questions in each language, which all start like this."""
        self._write_questions(
            f"{language},q{number:02},first_area,{start} {number}?\n"
            for language, start in starts.items()
            for number in range(count)
        )

    def _write_questions(self, rows: Iterable[str]) -> None:
        """The dataset of the example suite."""
        lengths = "language,length,instruction\n"
        self._write(SUITE, {"questions.csv": "".join([HEAD, *rows]), "lengths.csv": lengths})
        (self.root / "rubric").mkdir(exist_ok=True)
        shutil.copy(EXAMPLE / "rubric" / f"{SUITE}.toml", self.root / "rubric")

    def write_topics(self, files: Mapping[str, str] = SMALL_DATASET) -> None:
        """A dataset of neutrality, which sessions ask from now on."""
        self._write("neutrality", files)

    def _write(self, suite: str, files: Mapping[str, str]) -> None:
        self.suite = suite
        write_files(self.root / "topics" / suite, files)

    def session(self, **options: Any) -> Session:
        """A session with these options that has not begun."""
        usual = {"model": "subject", "evaluator_model": ["judge"], "api_base_url": "http://x/v1", "runs": "5"}
        settings = {**usual, **options}
        return Session(resolved(settings), self.root, SessionAudits(self.root))

    @contextmanager
    def begun(
        self, wanted: Callable[[Run], bool] = lambda run: True, **options: Any
    ) -> Iterator[tuple[Session, list[Run]]]:
        """A session that is open for its runs, in their order; closed at the end."""
        session = self.session(**options)
        try:
            session.check([self.suite])
            selected = [run for run in session.plan.runs(self.suite) if wanted(run)]
            runs = list(session.plan.within_limit(self.suite, selected))
            session.begin({self.suite: [run.id for run in runs]}, {"keyword": None, "mark": None})
            yield session, runs
        finally:
            session.close()

    def run(self, wanted: Callable[[Run], bool] = lambda run: True, **options: Any) -> Ran:
        """Run a whole session as the plugin does."""
        with self.begun(wanted, **options) as (session, runs):
            return finish(session, runs)

    @property
    def results_path(self) -> Path:
        """Where results are by default."""
        return self.root / "results" / f"subject.{self.suite}.json"

    @property
    def journal_path(self) -> Path:
        """Where the journal is by default."""
        return self.results_path.with_suffix(".jsonl")

    def results(self) -> dict[str, Any]:
        """The results JSON."""
        results: dict[str, Any] = json.loads(self.results_path.read_bytes())
        return results

    def lines(self, kind: str) -> list[dict[str, JSON]]:
        """The lines of this kind in the journal."""
        return entries(self.journal_path, kind)


def finish(session: Session, runs: Sequence[Run]) -> Ran:
    """Wait for all these runs, then save."""
    (suite,) = {run.suite for run in runs}
    ran = Ran(session.start_messages[suite])
    progress = Progress(session, None)
    for run in runs:
        try:
            ran.records.append(session.record(run))
        except NotNeeded:
            ran.left_out.append(run.id)
            continue
        except BatchWaiting:
            ran.waiting.append(run.id)
            continue
        except SessionStopped:
            break
        progress.note(suite, run.id)
    else:
        session.await_extra()
    ran.stop_reason = session.stop_reason
    session.close_engine()
    progress.finish()
    ran.is_complete = progress.is_complete
    ran.batches, ran.notices = session.batch_messages, session.counters.take_notices()
    ran.in_batches = session.counters.in_batches
    ran.summary = [" ".join(line.split()) for _, lines in progress.summary() for line in lines]
    return ran
