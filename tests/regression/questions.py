"""Questions of the kept journals: made-up ones in the formats of published benchmarks, and a few of ours."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import published_pcp

Row = dict[str, str]
ROOT = Path(__file__).resolve().parents[2]


def politics(folder: Path) -> Path:
    """Two scenarios that do not say who seeks change, in all wordings, one of them in both languages."""
    source = ROOT / "topics" / "politicsbench"
    for language, names in (("en-US", ("minimum_wage", "carbon_tax")), ("zh-CN", ("minimum_wage",))):
        rows = map(json.loads, (source / f"{language}.jsonl").read_text(encoding="utf-8").splitlines())
        few = [{**row, "change_sought_by": None} for row in rows if row["scenario"] in names]
        text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in few)
        (folder / f"{language}.jsonl").write_text(text, encoding="utf-8")
    for name in ("questions.csv", "askers.csv"):
        shutil.copy(source / name, folder)
    return folder


def neutrality(folder: Path) -> Path:
    """Four questions in three languages in the published layout, which has texts without an index."""
    for language, question in (("en-US", "What is {}?"), ("pt-BR", "O que é {}?"), ("zh-CN", "{}是什么？")):
        text = "".join(question.format(name) + "\n" for name in ("one", "two", "three", "four"))
        (folder / f"{language}.txt").write_text(text, encoding="utf-8")
    return folder


def facts(folder: Path) -> Path:
    """Twelve questions of fact in the published layout of `chinese_simpleqa`."""
    places = (("饮料", "奶"), ("饮料", "茶"), ("游戏", "象棋"))
    rows = [
        {
            "id": f"{position:010x}{number:02x}",
            "primary_category": first,
            "secondary_category": second,
            "question": f"{second}{number}是什么？",
            "answer": f"答{number}",
            "urls": ["https://example.org/"],
        }
        for number in range(4)
        for position, (first, second) in enumerate(places)
    ]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "chinese_simpleqa.jsonl").write_text(text, encoding="utf-8")
    return folder


def pairs(folder: Path) -> Path:
    """Six pairs of prompts in the published layout of `even_handedness`."""
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


def evident_pairs(folder: Path) -> Path:
    """Two pairs of our own, marked as if evidence favoured a side, one each, and one without a mark."""
    return _own_pairs(folder, "us", lambda rows: [*_marked(rows[:2]), rows[2]])


def pairs_without_leans(folder: Path) -> Path:
    """Two pairs of our own without leans, two marked as if evidence favoured a side, and one of each line."""

    def choose(rows: list[Row]) -> list[Row]:
        without, leaning = ([row for row in rows if bool(row["lean_a"]) is leans] for leans in (False, True))
        by_line = {frozenset((row["lean_a"], row["lean_b"])): row for row in reversed(leaning)}
        return [*without[:2], *_marked(leaning[1:3]), *by_line.values()]

    return _own_pairs(folder, "china", choose)


def _marked(rows: list[Row]) -> list[Row]:
    """These two pairs as if evidence favoured the first stance of the one and the second of the other."""
    return [{**row, "evidence": side} for row, side in zip(rows, ("a", "b"), strict=True)]


def _own_pairs(folder: Path, dataset: str, choose: Callable[[list[Row]], list[Row]]) -> Path:
    """The pairs of a dataset of ours in English that are chosen, with all its templates."""
    source = ROOT / "topics" / "even_handedness" / dataset
    with (source / "en-US.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with (folder / "en-US.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(choose(rows))
    shutil.copy(source / "templates.csv", folder)
    return folder


def scenarios(folder: Path) -> Path:
    """Two scenarios in three wordings in the published layout of `politicsbench`."""

    def block(heading: str) -> str:
        stages = "".join(f"####### Prompt{n}\nStage {n} of {heading}.\n" for n in range(1, 5))
        return f"######## {heading}\n{stages}\n"

    wordings = {"og": "original wording", "wa": "wording variant A", "wb": "wording variant B"}
    blocks = [
        block(f"{number}-{suffix} | Economic Justice | The {title} ({wording})")
        for number, title in ((1, "Wage Rise"), (2, "Long Shift"))
        for suffix, wording in wordings.items()
    ]
    baseline_questions = '######## BASELINE_QUESTIONS\n{"1": "What of wages?", "2": "What of shifts?"}\n'
    (folder / "scenario_prompts.txt").write_text("".join(blocks) + baseline_questions, encoding="utf-8")
    return folder


def polarized_pairs(project: Path) -> None:
    """Polarized Contrastive Pairs of our own, in the place of the fetched ones with their pins.

    Their evaluator's prompts are among the data, which `show` and `merge` read there.
    """
    folder = published_pcp.write(project / "topics" / "even_handedness" / "pcp" / "original")
    digests = (
        f'"{path.name}" = "{hashlib.sha256(path.read_bytes()).hexdigest()}"\n'
        for path in sorted(folder.iterdir())
    )
    head = 'repository = "who/what"\ncommit = "c0ffee"\nlicence = "MIT"\n[files]\n'
    (folder.parent / "original.toml").write_text(head + "".join(digests), encoding="utf-8")
