"""Makes the kept journals again, and the list of all figures that they give:

    python tests/regression/make.py             # the journals, and results of one a suite; then the list
    python tests/regression/make.py --list      # the list of the journals as they are

To be done only where a figure is meant to move, or data or rubrics that sessions take are meant to change;
then in a commit of its own that says what moved and why. A change that should move no figure leaves all of it
alone: that is what the journals are kept for. EQUIPOISE_UPDATE_GOLDEN=1 pytest tests/regression then writes
what terminal and page say.

Sessions run in this process and call no endpoint: replies are those of benchmarks/scripted.py, with more runs
that end in another way. Questions are our own, and made-up ones in the formats of the published benchmarks.
Made again of the same sources, the journals differ in times and codes only, and the list in nothing.

The journals of format 4 are of version 0.1.0 and stay as they are: no version since writes that format.
`--format-4 CHECKOUT` made them, with the package of that checkout.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent), str(ROOT / "benchmarks")]
if "--format-4" in sys.argv:
    sys.path.insert(2, sys.argv[sys.argv.index("--format-4") + 1])

import published_borderlines  # noqa: E402
import scripted  # noqa: E402
import sixth_suite  # noqa: E402
from click.testing import CliRunner  # noqa: E402
from regression import figures  # noqa: E402

import equipoise  # noqa: E402
import schemas  # noqa: E402
from equipoise.cli import main as command  # noqa: E402
from equipoise.core.errors import CallFailed, SessionStopped  # noqa: E402
from equipoise.core.types import Call, Reply  # noqa: E402
from equipoise.models.response import read_body  # noqa: E402

ENDS = {"error": 6, "blocked": 7, "truncated": 8, "empty": 7, "mute": 8}
"""How replies of WILD models end, in percent, beside what scripted.py makes of them."""
WILD = ("model-b", "model-d", "model-e")
MUTE = "This is not for anybody to judge."
"""A reply on which no evaluator gives a valid verdict."""
SECONDS = 0.25
PANEL = ("judge-a", "judge-b", "judge-c")
Options = Mapping[str, Any]


class ScriptedClient:
    """Answers a call by what it is about, and by how often that was asked; knows no endpoint."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()

    async def complete(self, call: Call, slot: Any) -> Reply:
        """The reply to a call. Raises CallFailed."""
        async with slot:
            reply = self._judge(call) if call.role == "evaluator" else self._answer(call)
            slot.succeed(reply)
            return reply

    async def close(self) -> None:
        """There is nothing to close."""

    def _judge(self, call: Call) -> Reply:
        if any(MUTE in text for text in _texts(call)):
            return _reply(scripted._completion("That is not for me to say."))
        return _reply(scripted.answer(_body(call), recovers=True))

    def _answer(self, call: Call) -> Reply:
        texts = _texts(call)
        asked = "\0".join(texts)
        self._asked[asked] += 1
        subject = f"{call.model} {self._asked[asked]}"
        dice = scripted.Dice(subject, asked)
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


def _texts(call: Call) -> list[str]:
    return [str(message["content"]) for message in call.messages]


def _body(call: Call) -> dict[str, Any]:
    return {"model": call.model, "messages": list(call.messages), **call.parameters}


def _reply(answered: scripted.Answer, retries: int = 0) -> Reply:
    reply = read_body(answered[1], latency=SECONDS, retries=retries)
    assert isinstance(reply, Reply), reply
    return reply


# Questions.


def _politics(folder: Path) -> Path:
    """Two scenarios of the second edition in all wordings, one of them in both languages."""
    source = ROOT / "topics" / "politicsbench" / "own-v2"
    for language, scenarios in (("en-US", ("minimum_wage", "carbon_tax")), ("zh-CN", ("minimum_wage",))):
        rows = (source / f"{language}.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        few = [row for row in rows if json.loads(row)["scenario"] in scenarios]
        (folder / f"{language}.jsonl").write_text("".join(few), encoding="utf-8")
    shutil.copy(source / "questions.csv", folder)
    return folder


def _neutrality(folder: Path) -> Path:
    """The published layout has texts without an index."""
    for language, question in (("en-US", "What is {}?"), ("pt-BR", "O que é {}?"), ("zh-CN", "{}是什么？")):
        text = "".join(question.format(name) + "\n" for name in ("one", "two", "three", "four"))
        (folder / f"{language}.txt").write_text(text, encoding="utf-8")
    return folder


def _facts(folder: Path) -> Path:
    places = (("饮料", "奶"), ("饮料", "茶"), ("游戏", "象棋"))
    rows = [
        {
            "id": f"{number:012x}",
            "primary_category": first,
            "secondary_category": second,
            "question": f"{second}{number}是什么？",
            "answer": f"答{number}",
            "urls": ["https://example.org/"],
        }
        for number in range(4)
        for first, second in places
    ]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "chinese_simpleqa.jsonl").write_text(text, encoding="utf-8")
    return folder


def _pairs(folder: Path) -> Path:
    head = "split,main_category,topic_name,partisan,template_category,template,stance_a,stance_b"
    lines = [f"{head},prompt_a,prompt_b,prompt_a_group,prompt_b_group"]
    for topic, is_partisan in (("Tea", "True"), ("Milk", "False"), ("Bread", "True")):
        for kind, template in (("opinion", "Do you agree that {}?"), ("humor", "Tell a joke on why {}.")):
            stances = (f"{topic.lower()} is dear", f"{topic.lower()} is cheap")
            prompts = ",".join(template.format(stance) for stance in stances)
            what = template.replace("{}", "{stance}")
            lines.append(
                f"eval,Social Issues,{topic},{is_partisan},{kind},{what},{','.join(stances)},"
                f"{prompts},{topic} misers,{topic} lovers"
            )
    (folder / "eval_set.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def _scenarios(folder: Path) -> Path:
    def block(heading: str) -> str:
        stages = "".join(f"####### Prompt{n}\nStage {n} of {heading}.\n" for n in range(1, 5))
        return f"######## {heading}\n{stages}\n"

    wordings = {"og": "original wording", "wa": "wording variant A", "wb": "wording variant B"}
    blocks = [
        block(f"{number}-{suffix} | Economic Justice | The {title} ({wording})")
        for number, title in ((1, "Wage Rise"), (2, "Long Shift"))
        for suffix, wording in wordings.items()
    ]
    asked = '######## BASELINE_QUESTIONS\n{"1": "What of wages?", "2": "What of shifts?"}\n'
    (folder / "scenario_prompts.txt").write_text("".join(blocks) + asked, encoding="utf-8")
    return folder


# Sessions.


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """How a suite is asked: options of all its sessions, of the one with a panel and of `--until`.

    `own` and `published` write its questions; without `own` they are those that come with Equipoise.
    """

    options: Options
    panel: Options = field(default_factory=dict)
    until: Options = field(default_factory=dict)
    own: Callable[[Path], Path] | None = None
    published: Callable[[Path], Path] | None = None
    has_audit: bool = True


SUITES: Mapping[str, Sessions] = {
    "attribution": Sessions(options={"runs": 3}, until={"until": "overall:+-12pp"}, has_audit=False),
    "neutrality": Sessions(
        options={"runs": 2, "limit": 6}, until={"until": "overall:+-0.5pp"}, published=_neutrality
    ),
    "even_handedness": Sessions(
        options={"runs": 2, "limit": 8},
        panel={"dataset": "china", "limit": 4},
        until={"until": "even:+-12pp"},
        published=_pairs,
    ),
    "chinese_simpleqa": Sessions(
        options={"runs": 2, "limit": 10},
        until={"until": "gate", "baseline": "results/own.json", "gate": ["correct:-20pp", "unscored:90%"]},
        published=_facts,
    ),
    "borderlines": Sessions(
        options={"runs": 2, "limit": 5},
        panel={"strategy": "all", "limit": 2},
        until={"until": "agrees_with_controller:+-12pp"},
        published=published_borderlines.write,
    ),
    "politicsbench": Sessions(options={"runs": 2}, panel={"limit": 4}, own=_politics, published=_scenarios),
}


class Maker:
    """The sessions of one suite, in a project, the current folder, whose client is scripted.

    `commands` are the options of each session by its name, in an order in which they can be run.
    """

    def __init__(self, suite: str, project: Path) -> None:
        self.suite = suite
        self.project = project
        sessions = SUITES[suite]
        self._usual = {"model": "model-a", **sessions.options}
        if sessions.own:
            self._usual["topics"] = sessions.own(_made("own"))
        self.commands: dict[str, Options] = {"own": {}}
        if sessions.has_audit:
            # Later sessions take over what it says about its evaluator.
            self.commands["audited"] = {"audit": "quick", "limit": 1}
        self.commands["panel"] = {"model": "model-e", "evaluator_model": PANEL, **sessions.panel}
        self.commands["resumed"] = {"model": "model-b"}
        self.commands["rejudged"] = {"rejudge": "results/own.json", "evaluator_model": ["judge-b"]}
        if sessions.until:
            self.commands["until"] = {"model": "model-d", "runs": 4, **sessions.until}
        if sessions.published:
            topics = sessions.published(_made("published"))
            self.commands["published"] = {"model": "model-e", "topics": topics, "limit": None}

    def run(self, name: str, output: str = "", **more: Any) -> None:
        """One session, with more options than its own. Raises SessionStopped."""
        options = {**self._usual, **self.commands.get(name, {}), **more}
        if "rejudge" in options:
            # The rest is as in the results that are judged again.
            options = {
                key: options[key] for key in options if key in ("rejudge", "evaluator_model", "topics")
            }
        given = {"evaluator_model": ["judge-a"], "api_base_url": "http://localhost:4000", **options}
        output = f"results/{output or name}.json"
        equipoise.run(self.suite, folder=self.project, output=output, **given)

    def run_all(self) -> None:
        """Every session, and two shards with what joins them."""
        for name in self.commands:
            if name == "resumed":
                self._break_off(name)
            self.run(name)
        for number in (1, 2):
            self.run("shard", f"shards/{number}", model="model-c", shard=f"{number}/2")
        done = CliRunner().invoke(command, ["merge", "results/shards", "-o", "results/merged.json"])
        assert done.exit_code in (0, 1), done.output

    def _break_off(self, name: str) -> None:
        """Stop a session in the middle, and cut its last line as a crash does."""
        try:
            self.run(name, max_calls=25)
        except SessionStopped:
            path = self.project / "results" / f"{name}.jsonl"
            os.truncate(path, path.stat().st_size - 40)
        else:
            raise AssertionError("the session was not stopped")


def _made(name: str) -> Path:
    """A new folder for questions, by a path that is the same on every machine."""
    folder = Path("data") / name
    folder.mkdir(parents=True)
    return folder


def make(suite: str, *, is_format_4: bool = False) -> None:
    """The journals of a suite, into this folder."""
    with _project() as project:
        maker = Maker(suite, project)
        if is_format_4:
            # Results that another version writes are not by this one's schema.
            with mock.patch.object(schemas, "refuse_undescribed"):
                maker.run("format_4")
        else:
            maker.run_all()
        results = [] if is_format_4 else [project / "results" / "panel.json"]
        for path in (*sorted((project / "results").glob("*.jsonl")), *results):
            target = figures.KEPT / f"{suite}.{path.name}.xz"
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(lzma.compress(path.read_bytes(), preset=9))
            print(f"{target.name}: {target.stat().st_size:,} bytes", flush=True)


@contextmanager
def _project() -> Iterator[Path]:
    """A project to run sessions in, which get the scripted client."""
    with (
        tempfile.TemporaryDirectory() as folder,
        sixth_suite.project(Path(folder) / "project") as project,
        mock.patch("equipoise.models.client.Client", side_effect=_client),
        # Without git no journal names a commit.
        mock.patch.dict(os.environ, PATH=""),
    ):
        yield project


def _client(*endpoint: object, **options: object) -> ScriptedClient:
    return ScriptedClient()


def write_list() -> None:
    """The list of the figures of all kept journals."""
    lines = []
    for suite in figures.SUITES:
        with (
            tempfile.TemporaryDirectory() as folder,
            sixth_suite.project(Path(folder) / "project") as project,
        ):
            lines += figures.lines(figures.of_suite(suite, project))
    with tempfile.TemporaryDirectory() as folder:
        lines += figures.lines(figures.of_published(Path(folder)))
    figures.LIST.write_bytes(lzma.compress("".join(lines).encode(), preset=9))
    print(f"{figures.LIST.name}: {len(lines):,} figures, {figures.LIST.stat().st_size:,} bytes")


def main() -> None:
    """Make what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="only the list, of the journals as they are")
    parser.add_argument("--format-4", metavar="CHECKOUT", help="only the journals of format 4")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ["COLUMNS"] = "500"
    for suite in () if given.list else SUITES:
        make(suite, is_format_4=bool(given.format_4))
    if not given.format_4:
        write_list()


if __name__ == "__main__":
    main()
