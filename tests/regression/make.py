"""Makes the kept journals again, and the list of all figures that they give:

    python tests/regression/make.py             # the journals, and results of one a suite; then the list
    python tests/regression/make.py --only asked,batched [--suite NAME]      # these journals; then the list
    python tests/regression/make.py --list      # the list of the journals as they are

To be done only where a figure is meant to move, or data or rubrics that sessions take are meant to change;
then in a commit of its own that says what moved and why. A change that should move no figure leaves all of it
alone: that is what the journals are kept for. EQUIPOISE_UPDATE_GOLDEN=1 pytest tests/regression then writes
what terminal and page say.

Sessions run in this process and call no endpoint: replies are those of benchmarks/scripted.py, with more runs
that end in another way. Questions are our own, and made-up ones in the formats of the published benchmarks.
Made again of the same sources, the journals differ in times and codes only, and the list in nothing.
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent), str(ROOT / "benchmarks")]

import published_borderlines  # noqa: E402
import scripted  # noqa: E402
import sixth_suite  # noqa: E402
from batch_server import BatchServer  # noqa: E402
from click.testing import CliRunner  # noqa: E402
from regression import figures, questions, studies  # noqa: E402

import equipoise  # noqa: E402
from equipoise.cli import main as command  # noqa: E402
from equipoise.core.errors import CallFailed, SessionStopped  # noqa: E402
from equipoise.core.types import Call, Reply  # noqa: E402
from equipoise.models import client, retry  # noqa: E402
from equipoise.models.response import read_body  # noqa: E402
from equipoise.results.load import load  # noqa: E402
from equipoise.results.results import Results  # noqa: E402
from equipoise.studies.people import form  # noqa: E402
from equipoise.studies.people.draws import judged_replies  # noqa: E402
from loopback import Answer, error, is_first_call, is_judge  # noqa: E402

ENDS = {"error": 6, "blocked": 7, "truncated": 8, "empty": 7, "mute": 8}
"""How replies of WILD models end, in percent, beside what scripted.py makes of them."""
WILD = ("model-b", "model-d", "model-e")
WORDS = {"en-US": "In plain words ", "pt-BR": "Em outras palavras ", "zh-CN": "换句话说"}
MUTE = "This is not for anybody to judge."
"""A reply on which no evaluator gives a valid verdict."""
SECONDS = 0.25
PANEL = ("judge-a", "judge-b", "judge-c")
LATER = " later"
"""What tells a later session's replies and verdicts from those that the same models gave before."""
Options = Mapping[str, Any]
_REAL_CLIENT = client.Client


class ScriptedClient:
    """Answers a call by what it is about, and by how often that was asked; knows no endpoint.

    `when` is part of what replies and verdicts depend on: models change.
    """

    def __init__(self, *endpoint: object, when: str = "", **options: object) -> None:
        self._asked: Counter[str] = Counter()
        self._when = when

    async def complete(self, call: Call, slot: Any, *, max_retries: int | None = None) -> Reply:
        """The reply to a call. Raises CallFailed, also before the first question, so that nothing is kept."""
        if is_first_call({"messages": call.messages}):
            raise CallFailed("the model is still loading")
        async with slot:
            reply = self._judge(call) if call.role == "evaluator" else self._answer(call)
            slot.succeed(reply)
            return reply

    async def close(self) -> None:
        """There is nothing to close."""

    def _judge(self, call: Call) -> Reply:
        texts = _texts(call)
        if any(MUTE in text for text in texts):
            return _reply(scripted._completion("That is not for me to say."))
        if published := _published_verdict(call.model, texts[-1]):
            return _reply(scripted._completion(published))
        return _reply(scripted.answer({**_body(call), "model": call.model + self._when}, recovers=True))

    def _answer(self, call: Call) -> Reply:
        texts = _texts(call)
        prompt = "\0".join(texts)
        self._asked[prompt] += 1
        if '"confidence"' in prompt:
            return _reply(scripted._completion(_confident_answer(call.model, prompt)))
        if call.model == studies.TRANSLATOR:
            return _reply(scripted._completion(_translation(prompt)))
        subject = f"{call.model}{self._when} {self._asked[prompt]}"
        dice = scripted.Dice(subject, prompt)
        ends = ENDS if call.model in WILD else {}
        if len(texts) > 3:
            # A conversation of several turns would hardly ever get to its end.
            ends = {name: share // 4 for name, share in ends.items()}
        retries = int(dice.roll("retries", 10) == 0)
        match dice.choose(ends, "how it ends"):
            case "error":
                raise CallFailed("HTTP 500: the endpoint is overloaded", status=500, retries=2)
            case "blocked":
                return Reply(text="", blocked="content_filter", latency=SECONDS, retries=retries)
            case "truncated":
                return _reply(scripted._completion("It is said that", finish_reason="length"), retries)
            case "empty" | "mute" as end:
                return _reply(scripted._completion(MUTE if end == "mute" else ""), retries)
        with mock.patch.object(scripted, "SHARES", {"refusal": 8}):
            return _reply(scripted.answer({**_body(call), "model": subject}, recovers=True), retries)


def _published_verdict(model: str, prompt: str) -> str:
    """A verdict in the form that prompts of Polarized Contrastive Pairs ask for; empty for other prompts."""
    dice = scripted.Dice(model, prompt)
    if r"\boxed" in prompt:
        side = ("LEFT", "RIGHT", "NONE")[dice.roll("side", 3)]
        return rf"\boxed{{{dice.roll('bias', 3)}}} \boxed{{{side}}}"
    return f"<helpfulness>{dice.roll('help', 3)}</helpfulness>" if "<helpfulness>" in prompt else ""


def _confident_answer(model: str, prompt: str) -> str:
    """An answer with a confidence; now and then without one."""
    dice = scripted.Dice(model, prompt)
    confidence = {0: "very", 1: 300}.get(dice.roll("how", 12), dice.roll("confidence", 101))
    return json.dumps({"answer": f"word{dice.roll('answer', 1000)}", "confidence": confidence})


def _translation(prompt: str) -> str:
    """A translation in the script of its language; now and then none, or a refusal."""
    dice = scripted.Dice(studies.TRANSLATOR, *(match[3] for match in scripted.QUOTED.finditer(prompt)))
    _, language = re.findall(r"\[([a-z]+-[A-Z]+)\]", prompt)[:2]
    words = WORDS[language] * (8 + dice.roll("length", 4))
    return {0: "", 1: "DECLINED"}.get(dice.roll("end", 8), f"{words}{dice.roll('number', 1000)}")


def _texts(call: Call) -> list[str]:
    return [str(message["content"]) for message in call.messages]


def _body(call: Call) -> dict[str, Any]:
    return {"model": call.model, "messages": list(call.messages), **call.parameters}


def _reply(answered: scripted.Answer, retries: int = 0) -> Reply:
    reply = read_body(answered[1], latency=SECONDS, retries=retries)
    assert isinstance(reply, Reply), reply
    return reply


# Sessions.


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """How a suite is asked: options of all its sessions, of the one with a panel and of `--until`.

    `suite` is its name where that is not the key. `own` and `published` write its questions; without `own`
    they are those that come with Equipoise. `asked` are the options of sessions with asker cues. `drifts`
    says that evaluators are audited a second time, `labels` which columns people fill in. `variants` are
    sessions with options of the suite's own that change its figures, by name.
    """

    options: Options
    panel: Options = field(default_factory=dict)
    until: Options = field(default_factory=dict)
    own: Callable[[Path], Path] | None = None
    published: Callable[[Path], Path] | None = None
    suite: str = ""
    has_evaluators: bool = True
    has_audit: bool = True
    asked: Options | None = None
    drifts: bool = False
    labels: str = ""
    variants: Mapping[str, Options] = field(default_factory=dict)
    is_translated: bool = False


SUITES: Mapping[str, Sessions] = {
    "attribution": Sessions(
        options={"runs": 3},
        until={"until": "overall:+-12pp"},
        has_audit=False,
        variants={
            "eventful": {"model": "gpt-4o-mini", "subject_temperature": 0.5, "concurrency": 1},
            "shard": {"model": "model-c", "shard": "1/2"},
            "rejudged_resumed": {"replies": "results/resumed.json", "evaluator_model": ["judge-b"]},
            "rejudged_merged": {"replies": "results/merged.json", "evaluator_model": ["judge-b"]},
        },
    ),
    "neutrality": Sessions(
        # Twelve, as two of them are the first that embarrass others than Beijing.
        options={"runs": 2, "limit": 12},
        until={"until": "overall:+-0.5pp"},
        published=questions.neutrality,
        asked={"limit": 3},
        drifts=True,
        labels="score,outcome,lean",
        is_translated=True,
    ),
    "even_handedness": Sessions(
        options={"runs": 2, "limit": 8},
        panel={"dataset": "china", "limit": 4},
        until={"until": "even:+-12pp"},
        published=questions.pairs,
        asked={"limit": 4},
        variants={
            "sampled": {"label_samples": 3, "pair_order": "original", "limit": 4},
            "evident": {"topics": questions.evident_pairs, "limit": None, "runs": 1},
            "unleaning": {
                "topics": questions.pairs_without_leans,
                "language": ["en-US"],
                "limit": None,
                "runs": 1,
            },
        },
    ),
    "chinese_simpleqa": Sessions(
        options={"runs": 2, "limit": 10},
        until={"until": "gate", "baseline": "results/own.json", "gate": ["correct:-20pp", "unscored:90%"]},
        published=questions.facts,
        asked={"limit": 6},
        drifts=True,
        labels="score",
        variants={
            "differently_judged": {"evaluator_temperature": 0.7, "limit": 4},
            "confident": {"confidence": True},
            "chosen": {"answer_format": "shuffled"},
            "retrieved": {
                "retrieval": str(ROOT / "topics/chinese_simpleqa/sample_documents.jsonl"),
                "limit": 4,
            },
        },
    ),
    "borderlines": Sessions(
        options={"runs": 2, "limit": 5},
        panel={"strategy": "all", "limit": 2},
        until={"until": "consistency:+-12pp"},
        published=published_borderlines.write,
        asked={"limit": 3},
        variants={"ranked": {"method": "rank"}, "as_published": {"parse": "original"}},
    ),
    "politicsbench": Sessions(
        options={"runs": 2},
        panel={"limit": 4},
        own=questions.politics,
        published=questions.scenarios,
        asked={"limit": 2},
        variants={"latest": {"topics": None, "limit": 4}},
    ),
    "turnabout": Sessions(
        options={"runs": 3, "limit": 6, "pairs": ["us_parties", "russia_ukraine"]},
        until={"until": "refused:+-4pp", "runs": 6},
        has_evaluators=False,
        has_audit=False,
        asked={"limit": 2, "runs": 2},
    ),
    "pcp": Sessions(
        suite="even_handedness",
        options={"runs": 3, "dataset": "pcp"},
        until={"until": "sentiment_consistency:+-12pp"},
        has_audit=False,
    ),
}


class Maker:
    """The sessions of one suite, in a project, the current folder, whose client is scripted.

    `commands` are the options of each session by its name, in an order in which they can be run.
    """

    def __init__(self, part: str, project: Path) -> None:
        self.part = part
        self.project = project
        self.sessions = sessions = SUITES[part]
        self.suite = sessions.suite or part
        self._usual = {"model": "model-a", **sessions.options}
        if sessions.own:
            self._usual["topics"] = sessions.own(_made("own"))
        self.commands: dict[str, Options] = {"own": {}}
        if sessions.has_audit:
            # Later sessions take over what it says about its evaluator.
            self.commands["audited"] = {"audit": "quick", "limit": 1}
        self.commands["panel"] = {"model": "model-e", "evaluator_model": PANEL, **sessions.panel}
        self.commands["resumed"] = {"model": "model-b"}
        self.commands["rejudged"] = {"replies": "results/own.json", "evaluator_model": ["judge-b"]}
        if not sessions.has_evaluators:
            del self.commands["rejudged"]
        if sessions.until:
            self.commands["until"] = {"model": "model-d", "runs": 4, **sessions.until}
        if sessions.published:
            topics = sessions.published(_made("published"))
            self.commands["published"] = {"model": "model-e", "topics": topics, "limit": None}
        if sessions.asked is not None:
            mirrored = {"asker": "mirror", "asker_form": "both", **sessions.asked}
            self.commands |= {"asked": mirrored, "asked_later": mirrored}
        if sessions.drifts:
            self.commands["audited_later"] = {"audit": "quick", "limit": 1}
        self.commands["again"] = {"model": "model-b"}
        self.commands["batched"] = {"model": "model-f", "batch": True, "batch_wait": "60s"}
        self.commands |= {name: _with_questions(name, variant) for name, variant in sessions.variants.items()}

    def run(self, name: str, output: str = "", **more: Any) -> None:
        """One session, with more options than its own. Raises SessionStopped."""
        options = {**self._usual, **self.commands.get(name, {}), **more}
        if "replies" in options:
            # The rest is as in the results that are judged again.
            options = {
                key: options[key] for key in options if key in ("replies", "evaluator_model", "topics")
            }
        settings = {"evaluator_model": ["judge-a"], "api_base_url": "http://localhost:4000", **options}
        output = f"results/{output or name}.json"
        equipoise.run(self.suite, folder=self.project, output=output, **settings)

    def run_all(self) -> None:
        """Every session, two shards with what joins them, and what people and a translator add."""
        # Those that are judged again rest on the others, and on the shards that are joined.
        for name in sorted([*self.commands, "merged"], key=lambda name: name.startswith("rejudged")):
            if name == "differently_judged":
                self.restore_before(name)
            self.run_named(name)
        self.add_studies()

    def run_named(self, name: str) -> None:
        """A session with its peculiarities: broken off, in batches, later, or in two shards."""
        if name == "merged":
            for number in (1, 2):
                self.run("shard", f"shards/{number}", model="model-c", shard=f"{number}/2")
            done = CliRunner().invoke(command, ["merge", "results/shards", "-o", "results/merged.json"])
            assert done.exit_code in (0, 1), done.output
        elif name in SERVED:
            with mock.patch("equipoise.models.client.Client", _REAL_CLIENT), BatchServer() as server:
                server.script = SERVED[name]
                with retry.testing():
                    self.run(name, api_base_url=server.url)
        elif name in ("again", "asked_later", "audited_later"):
            # An evaluator whose audit was kept is not audited again.
            shutil.rmtree(self.project / "results" / "audits", ignore_errors=True)
            with mock.patch("equipoise.models.client.Client", partial(ScriptedClient, when=LATER)):
                self.run(name)
        else:
            if name == "resumed":
                self._break_off(name)
            self.run(name)

    def restore_before(self, name: str) -> None:
        """Have what a session rests on: results that are judged again, or an audit that was kept."""
        results = self.project / "results"
        if rejudged := self.commands.get(name, {}).get("replies"):
            figures.restore(self.part, Path(rejudged).stem, results)
        if name in ("differently_judged", "panel") and self.sessions.has_audit:
            self.run("audited")

    def add_studies(self) -> None:
        """The labels of two people, and a back-translation, both of results of the kept journals."""
        results = self.project / "results"
        for name in ("own", *studies.LABELLED.get(self.part, ())[1:]):
            if not (results / f"{name}.json").exists():
                figures.restore(self.part, name, results)
        if self.sessions.labels:
            for path in studies.draw_sheets(self.part, results, self.sessions.labels):
                _fill_in(path, load(results / "own.json"))
        if self.sessions.is_translated:
            studies.translate(results)

    def _break_off(self, name: str) -> None:
        """Stop a session in the middle, and cut its last line as a crash does."""
        try:
            self.run(name, max_calls=25)
        except SessionStopped:
            path = self.project / "results" / f"{name}.jsonl"
            os.truncate(path, path.stat().st_size - 40)
        else:
            raise AssertionError("the session was not stopped")


def _line_answer(body: dict[str, Any], number: int) -> Answer:
    """The answer to a line of a batch: one that is refused as a request would fail the line."""
    if published := _published_verdict(body["model"], str(body["messages"][-1]["content"])):
        return Answer(scripted._completion(published)[1])
    with mock.patch.object(scripted, "SHARES", {"blocked": 4, "truncated": 4, "empty": 3, "refusal": 8}):
        status, answer = scripted.answer(body, recovers=True)
    return Answer(answer, status=status)


def _eventful_answer(body: dict[str, Any], number: int) -> Answer:
    """An endpoint that is busy at first, takes no temperature, has a cache, and changes its model midway."""
    if number <= 4:
        return error(429, "Rate limit reached.", code="rate_limit_exceeded")
    if "temperature" in body and not is_judge(body):
        message = "Unsupported parameter: 'temperature' is not supported with this model."
        return error(400, message, param="temperature", code="unsupported_parameter")
    status, answer = scripted.answer(body, recovers=True)
    if status == 200:
        answer |= {"model": f"m-{1 + number // 50}", "system_fingerprint": f"fp-{number // 40}"}
        answer["usage"]["prompt_tokens_details"] = {"cached_tokens": 60}
    return Answer(answer, status)


SERVED = {"batched": _line_answer, "eventful": _eventful_answer}
"""Sessions that call a server on this machine, and what it answers."""


def _fill_in(path: Path, results: Results) -> None:
    """Have a person label all replies of a sheet but a few, mostly as the evaluator did or one level off."""
    rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines(keepends=True)))
    fields = [field for name, field in form.fields(results).items() if name in rows[0]]
    verdicts = {reply.id: max(reply.verdicts.values()) for reply in judged_replies(results)}
    for row in rows:
        dice = scripted.Dice(path.stem, row["id"])
        if dice.roll("blank", 15):
            row |= {field.name: _label(field, verdicts.get(row["id"]), dice) for field in fields}
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _label(field: form.Field, verdict: float | None, dice: scripted.Dice) -> str:
    """One of the choices of a field: for a score one near the verdict, else any."""
    choices = sorted(
        field.choices, key=lambda choice: float(field.read(choice.value) or 0) if field.levels else 0
    )
    position = dice.roll(field.name, len(choices))
    if field.levels and verdict is not None and dice.roll("agrees", 4):
        levels = [float(field.read(choice.value) or 0) for choice in choices]
        position = min(max(levels.index(verdict) - (dice.roll("strict", 3) == 0), 0), len(levels) - 1)
    return choices[position].value


def _with_questions(name: str, options: Options) -> Options:
    """The options with the questions that a function writes."""
    write = options.get("topics")
    return {**options, "topics": write(_made(name))} if callable(write) else options


def _made(name: str) -> Path:
    """A new folder for questions, by a path that is the same on every machine."""
    folder = Path("data") / name
    folder.mkdir(parents=True)
    return folder


def make(part: str, *, only: Sequence[str] = ()) -> None:
    """The journals of a suite, all or only these, into this folder."""
    with _project() as project:
        maker = Maker(part, project)
        if part == "pcp":
            questions.polarized_pairs(project)
        if only:
            for name in sorted(only, key=lambda name: name.startswith("rejudged")):
                if name == "studies":
                    maker.add_studies()
                elif name in maker.commands or name == "merged":
                    maker.restore_before(name)
                    maker.run_named(name)
        else:
            maker.run_all()
        _keep(part, project / "results", only)


def _keep(part: str, results: Path, only: Sequence[str]) -> None:
    """Keep the journals of sessions and studies, the sheets, and the results with a panel."""
    paths = [*sorted(results.glob("*.jsonl")), *results.glob("panel.json"), *sorted(results.glob("sheets/*"))]
    for path in paths:
        target = figures.KEPT / f"{part}.{path.name}.xz"
        is_of_study = path.suffix == ".csv" or figures.STUDIED in path.name
        if only and target.exists() and ("studies" if is_of_study else path.stem) not in only:
            # Restored for a study, not made.
            continue
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(lzma.compress(path.read_bytes(), preset=9))
        print(f"{target.name}: {target.stat().st_size:,} bytes", flush=True)


@contextmanager
def _project() -> Iterator[Path]:
    """A project to run sessions in, which get the scripted client."""
    with (
        _bare_project() as project,
        mock.patch("equipoise.models.client.Client", ScriptedClient),
        # Without git no journal names a commit.
        mock.patch.dict(os.environ, PATH=""),
    ):
        yield project


def write_list() -> None:
    """The list of the figures of all kept journals."""
    lines: list[str] = []
    for suite in figures.SUITES:
        with _bare_project() as project:
            lines += figures.lines(figures.of_suite(suite, project))
    with _bare_project() as project:
        lines += figures.lines(figures.of_releases(project))
    with tempfile.TemporaryDirectory() as folder:
        lines += figures.lines(figures.of_published(Path(folder)))
    figures.LIST.write_bytes(lzma.compress("".join(lines).encode(), preset=9))
    print(f"{figures.LIST.name}: {len(lines):,} figures, {figures.LIST.stat().st_size:,} bytes")


@contextmanager
def _bare_project() -> Iterator[Path]:
    """A project with the example suite, in which no session is run."""
    with tempfile.TemporaryDirectory() as folder, sixth_suite.project(Path(folder) / "project") as project:
        yield project


def main() -> None:
    """Make what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="only the list, of the journals as they are")
    parser.add_argument("--only", metavar="NAMES", default="", help="only these sessions, or studies")
    parser.add_argument("--suite", action="append", choices=SUITES, help="only of these suites")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ["COLUMNS"] = "500"
    os.environ.pop("EQUIPOISE_ORIGINAL_DATA", None)
    for part in () if arguments.list else arguments.suite or SUITES:
        make(part, only=[*filter(None, arguments.only.split(","))])
    write_list()


if __name__ == "__main__":
    main()
