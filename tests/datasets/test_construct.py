"""`equipoise data construct simpleqa` as a whole, on the sample documents, against the loopback server.

The scripted endpoint gives every rule something to do: see FATES.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result
from interpreter import refusal
from job_models import judged, made

from conftest import ROOT
from equipoise.cli import main
from equipoise.suites.chinese_simpleqa.dataset import facts
from equipoise.suites.selection import Selection
from loopback import Answer, Loopback, error

KEY = "sk-a-key-that-nobody-may-see"
SAMPLE = ROOT / "topics" / "chinese_simpleqa" / "sample_documents.jsonl"
QUESTIONS = {
    "doc_01": ("《本草纲目》的初稿完成于公元哪一年？", "1578年"),
    "doc_02": ("青蒿素的分子式是什么？", "C15H22O5"),
    "doc_03": ("谁首先观测到哈雷彗星在1758年的回归？", "帕利奇"),
    "doc_04": ("人们在哪座天文台找到了海王星？", "柏林天文台"),
    "doc_05": ("郑和原来姓什么？", "马"),
    "doc_06": ("第一部著录甲骨文的书是哪一部？", "铁云藏龟"),
    "doc_07": ("《清明上河图》卷后最早的跋出自何人？", "张著"),
    "doc_08": ("哪家机构收藏着梵高的《星夜》？", "纽约现代艺术博物馆"),
    "doc_10": ("第一部著录甲骨文的书是哪部？", "刘鹗的书"),
    "doc_11": ("首届诺贝尔物理学奖得主是何人？", "伦琴"),
    "doc_13": ("端午节在农历的哪一天？", "五月初五"),
    "doc_14": ("卡特里娜的原型出自哪位版画家？", "波萨达"),
    "doc_15": ("提出大陆漂移的人叫什么？", "魏格纳"),
    "doc_16": ("世界自然基金会的会徽以哪只动物为原型？", "姬姬"),
    "doc_17": ("哪座城市以水杉为市树？", "武汉"),
    "doc_23": ("《本草纲目》的初稿完成于哪一年？", "万历六年"),
    "doc_24": ("目前哪颗行星的卫星最多？", "土星"),
}
FATES = {
    "length": {"doc_12": "too long", "doc_19": "too short"},
    "quality": {
        **dict.fromkeys(("doc_20", "doc_21", "doc_22"), "poor quality"),
        "doc_09": "no verdict on quality",
    },
    "generation": {"doc_17": "criticised", "doc_18": "no question in the answer"},
    "criteria": {"doc_24": "criteria"},
    "verification": {"doc_14": "verification"},
    "difficulty": {"doc_13": "too easy"},
    "annotation": {},
    "duplicates": {},
    "rewriting": {"doc_23": "near-duplicate"},
    "safety": {"doc_11": "safety"},
    "distinct": {},
}
"""What is dropped by each stage, and why."""
MENDED = {"doc_15": ("1912年谁讲述了大陆漂移的设想？", "魏格纳"), "doc_16": QUESTIONS["doc_16"]}
REWRITTEN = "刘鹗在1903年出版的是什么？"
LEFT = sorted({*QUESTIONS} - {name for fates in FATES.values() for name in fates})
TITLES: dict[str, str] = {
    row["title"]: row["id"] for row in map(json.loads, SAMPLE.read_text(encoding="utf-8").splitlines())
}


def stage_of(body: dict[str, Any]) -> str:
    """What a request is for."""
    form = body.get("response_format")
    if form:
        return str(form["json_schema"]["name"])
    return "grading" if body["model"] == "critic" else "solving"


def document_of(body: dict[str, Any]) -> str:
    """The document or question that a request is about."""
    text = body["messages"][1]["content"]
    if (match := re.search(r"\[document \w{16}\]\n(.*)\n", text)) and match[1] in TITLES:
        return TITLES[match[1]]
    made_of = [*QUESTIONS.items(), *MENDED.items(), ("doc_10", (REWRITTEN, ""))]
    known = {question: name for name, (question, _) in made_of}
    # The longest first, as some begin alike; of two that are shown the second is meant.
    tail = text.rpartition("[second ")[2]
    return max((question in tail, len(question), name) for question, name in known.items())[2]


def generated(name: str, rounds: int) -> str:
    """A question, perhaps mended after feedback."""
    if name == "doc_18":
        return "我出不了题。"
    if name == "doc_16" and not rounds:
        return made("姬姬是哪家机构会徽的原型？", "姬姬")
    return made(*(MENDED.get(name) if rounds else None) or QUESTIONS[name])


def script(body: dict[str, Any], number: int) -> Answer | str:
    """What every model says."""
    stage, name = stage_of(body), document_of(body)
    if stage == "quality" and name == "doc_09":
        return error(400, "The response was filtered.", code="content_filter")
    if stage == "quality":
        is_poor = FATES["quality"].get(name) == "poor quality"
        return f"看起来不错。<score>5</score> 其实 <score>{2 if is_poor else 3}</score>"
    if stage == "generation":
        return generated(name, len(body["messages"]) // 2 - 1)
    if stage == "critique":
        is_first = name == "doc_15" and MENDED[name][0] not in body["messages"][1]["content"]
        return judged("no" if name == "doc_17" or is_first else "yes")
    if stage == "rewriting":
        return made(REWRITTEN, "刘鹗的书") if name == "doc_10" else made(*QUESTIONS["doc_01"])
    if stage == "solving":
        return f"{body['model']}: {'对' if knows(body['model'], name) else '错'}"
    if stage == "grading":
        return "A" if ": 对" in body["messages"][1]["content"] else "B"
    bad = "fail" if stage == "verification" else "no"
    return judged(bad if name in FATES[stage] else "pass" if bad == "fail" else "yes")


def knows(model: str, name: str) -> bool:
    """One solver knows two answers, the other one."""
    return name == "doc_13" or (name == "doc_03" and model == "solver-a")


class Built(NamedTuple):
    """A run without people: what came of it, its folder, and every request."""

    result: Result
    folder: Path
    requests: list[dict[str, Any]]

    def read(self, name: str) -> list[dict[str, Any]]:
        """A file of JSON Lines."""
        return read(name, str(self.folder))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """One run that several tests look at; none may change it."""
    folder = tmp_path_factory.mktemp("construct") / "made"
    with Loopback(script) as server:
        result = run(server, "--no-annotators", folder=str(folder))
    return Built(result, folder, server.requests)


@pytest.fixture
def server(folder: Path, loopback: Loopback) -> Loopback:
    """The endpoint, and an empty folder to work in."""
    loopback.script = script
    return loopback


def run(server: Loopback, *arguments: str, folder: str = "made") -> Result:
    """What comes of the command."""
    models = ("--model", "maker", "--critic", "critic", "--solver", "solver-a", "--solver", "solver-b")
    files = ("--documents", str(SAMPLE), "--folder", folder, "--most", "399")
    endpoint = ("--api-base-url", server.url, "--api-key", KEY)
    return CliRunner().invoke(main, ["data", "construct", "simpleqa", *files, *models, *endpoint, *arguments])


def some_of(*names: str) -> tuple[str, str]:
    """The option that names a file of these sample documents alone."""
    texts = SAMPLE.read_text(encoding="utf-8").splitlines()
    chosen = [line for line in texts if json.loads(line)["id"] in names]
    Path("some.jsonl").write_text("".join(f"{line}\n" for line in chosen), encoding="utf-8")
    return "--documents", "some.jsonl"


def read(name: str, folder: str = "made") -> list[dict[str, Any]]:
    """A file of JSON Lines."""
    return [json.loads(line) for line in (Path(folder) / name).read_text(encoding="utf-8").splitlines()]


def asked(requests: list[dict[str, Any]]) -> Counter[str]:
    """How often each request was sent; the one-time codes in them differ from folder to folder."""
    return Counter(re.sub(r"\b[0-9a-f]{16}\b", "", json.dumps(body, sort_keys=True)) for body in requests)


def fill(name: str, line: dict[str, str], **changes: dict[str, str]) -> None:
    """Fill in a sheet: the same for every question but these."""
    path = Path("made/annotation") / name
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        for row in rows:
            cells = {**line, **({"answer": QUESTIONS[row["id"]][1]} if "url_1" in row else {})}
            writer.writerow({**row, **cells, **changes.get(row["id"], {})})


PAGES = {"compliant": "yes", "url_1": "https://a.example", "url_2": "https://b.example"}


# The whole.


def test_a_key_in_a_question_is_in_no_file(server: Loopback) -> None:
    """Not in a stage's, a sheet or the result; the models judge what was said."""
    question, answer = QUESTIONS["doc_01"]
    reply = made(f"{question} {KEY}", f"{answer} {KEY}")

    def telling(body: dict[str, Any], number: int) -> Answer | str:
        is_first = stage_of(body) == "generation" and document_of(body) == "doc_01"
        return reply if is_first else script(body, number)

    server.script = telling
    some = some_of("doc_01")
    results = [run(server, *some), run(server, *some, "--no-annotators", folder="other")]
    assert not [result for result in results if KEY in result.output]
    (row,) = read("questions.jsonl", "other")
    assert (row["question"], row["answer"]) == (f"{question} ****", f"{answer} ****")
    written = [path for path in Path().rglob("*") if path.is_file()]
    assert Path("made/annotation/annotator_1.csv") in written
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []
    shown = [body["messages"][1]["content"] for body in server.requests if stage_of(body) == "criteria"]
    assert [f"{answer} {KEY}" in text for text in shown] == [True, True]


@pytest.mark.slow
def test_every_stage_drops_what_it_should(built: Built) -> None:
    """Each file has what is kept and what is dropped, with the reason; the funnel adds up."""
    assert built.result.exit_code == 0, built.result.output
    funnel = json.loads((built.folder / "funnel.json").read_text(encoding="utf-8"))
    assert [row["stage"] for row in funnel] == list(FATES)
    entered = 24
    for number, (row, (stage, fates)) in enumerate(zip(funnel, FATES.items(), strict=True), start=1):
        dropped = built.read(f"{number}_{stage}.dropped.jsonl")
        assert {item["id"]: item["dropped"].split(":")[0] for item in dropped} == fates
        assert (row["in"], row["dropped"], row["kept"]) == (entered, len(fates), entered - len(fates))
        assert row["reasons"] == Counter(fates.values())
        assert len(built.read(f"{number}_{stage}.jsonl")) == row["kept"]
        entered = row["kept"]
    assert funnel[6]["skipped"] == "--no-annotators"
    assert not (built.folder / "annotation").exists()
    assert entered == len(LEFT)


def test_the_funnel_is_shown(built: Built) -> None:
    """A row for each stage with its first example, where the questions are, and progress beside it."""
    shown = built.result.stdout.splitlines()
    rows = [line.split() for line in shown]
    assert rows[0][:4] == ["stage", "in", "dropped", "kept"]
    assert [row[:4] for row in rows[1:4]] == [
        ["length", "24", "2", "22"],
        ["quality", "22", "4", "18"],
        ["generation", "18", "2", "16"],
    ]
    assert "no verdict on quality 1 (doc_09), poor quality 3 (doc_20: 看起来不错" in shown[2]
    assert re.fullmatch(r"calls: \d+ made, 0 replayed, 0 retries; [\d,]+ tokens in, [\d,]+ out", shown[-2])
    assert int(shown[-2].split()[1]) == len(built.requests)
    assert shown[-1] == f"{built.folder}/questions.jsonl: {len(LEFT)} questions"
    for line in ("length: 24 rows\n", "quality: 22 rows", " rows (--no-annotators)\n"):
        assert line in built.result.stderr


def test_the_questions_load_in_the_suite(built: Built) -> None:
    """With id, subtopic and answer; mended and rewritten ones as they are now."""
    cases = {case.item: case for case in facts(Selection(topics=built.folder / "questions.jsonl"))}
    assert sorted(cases) == LEFT
    assert (cases["doc_05"].subtopic, cases["doc_05"].accepted) == ("chinese_history", ("马",))
    assert cases["doc_15"].question == MENDED["doc_15"][0]
    assert cases["doc_10"].question == REWRITTEN


def test_critic_and_solvers_do_their_own_work(built: Built) -> None:
    """The maker judges documents and questions; the others criticise, grade and try."""
    pairs = {(stage_of(body), body["model"]) for body in built.requests}
    assert pairs == {
        *((name, "maker") for name in ("quality", "generation", "criteria", "verification", "safety")),
        *(("rewriting", "maker"), ("critique", "critic"), ("grading", "critic")),
        *(("solving", "solver-a"), ("solving", "solver-b")),
    }
    solved = {row["id"]: row["solved_by"] for row in built.read("6_difficulty.jsonl")}
    assert (solved["doc_03"], solved["doc_01"]) == (["solver-a"], [])


# Going on.


@pytest.mark.slow
def test_an_interrupted_command_goes_on(server: Loopback, built: Built) -> None:
    """--max-calls counts over all stages, and no request is sent twice that an undisturbed run sends once."""
    for _ in range(2):
        before = len(server.requests)
        assert "--max-calls 60 is used up: requests sent: 60" in refusal(
            run(server, "--no-annotators", "--max-calls", "60"), 2
        )
        assert len(server.requests) == before + 60
        assert not Path("made/questions.jsonl").exists()
    assert run(server, "--no-annotators").exit_code == 0
    assert asked(server.requests) == asked(built.requests)
    assert read("questions.jsonl") == built.read("questions.jsonl")


@pytest.mark.slow
def test_people_decide_in_between(server: Loopback) -> None:
    """Two sheets at once, a third where they differ, then the last stages; nothing is asked for again."""
    names = [f"doc_0{number}" for number in range(1, 7)] + ["doc_10"]
    some = some_of(*names)
    waiting = run(server, *some)
    assert "made/annotation/annotator_1.csv:2: is still to be filled in" in refusal(waiting)
    assert [line.split()[0] for line in waiting.stdout.splitlines()] == ["stage", *list(FATES)[:6]]
    count = len(server.requests)
    fill("annotator_1.csv", PAGES, doc_02={"compliant": "no"}, doc_04={"answer": "巴黎天文台"})
    assert "annotator_2.csv:2: is still to be filled in" in refusal(run(server, *some))
    fill("annotator_2.csv", PAGES, doc_03={"answer": "哈雷"})
    assert "doc_03 needs an answer" in refusal(run(server, *some))
    fill("annotator_3.csv", {}, doc_03={"answer": "帕利奇"}, doc_04={"answer": "巴黎天文台"})
    assert len(server.requests) == count
    result = run(server, *some)
    assert result.exit_code == 0, result.output
    dropped = {row["id"]: row["dropped"] for row in read("7_annotation.dropped.jsonl")}
    assert dropped == {
        "doc_02": "found unfit: by annotator 1",
        "doc_04": "people answer otherwise: 巴黎天文台",
    }
    remaining = [row["id"] for row in read("questions.jsonl")]
    assert remaining == [name for name in names if name not in dropped]
    assert {stage_of(body) for body in server.requests[count:]} == {
        *("rewriting", "criteria", "verification", "safety")
    }


def test_nothing_that_nobody_has_looked_at_stays_behind(server: Loopback, built: Built) -> None:
    """Questions and later stages of an earlier run without people are gone while it waits for them."""
    shutil.copytree(built.folder, "made")
    Path("made/mine.jsonl").write_text("mine")
    Path("made/3_mine.jsonl").write_text("mine")
    Path("made/8_safety.jsonl").write_text("of an earlier version\n")
    refusal(run(server))
    assert server.requests == []
    left = {path.name for path in Path("made").glob("[!.]*.json*")}
    earlier = list(enumerate(list(FATES)[:6], start=1))
    assert left == {
        *(f"{number}_{name}.jsonl" for number, name in earlier),
        *(f"{number}_{name}.dropped.jsonl" for number, name in earlier),
        *("construct.journal.jsonl", "funnel.json", "mine.jsonl", "3_mine.jsonl"),
    }
