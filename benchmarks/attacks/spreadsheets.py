"""Texts that a spreadsheet would calculate, through every file with commas and back.

No cell may begin a formula, whichever separator the spreadsheet splits at; what Equipoise reads again is the
exact text, and what is a number stays one.
"""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from formulas import calculated, formulas

import pages
from attacks.tally import Harm, Size, Tally
from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import rows, table_text, write_text
from equipoise.core.rows import QuestionRow, RunRow
from equipoise.core.spreadsheet import remove_guards
from equipoise.report.export import markdown
from equipoise.report.layout import markdown_table
from equipoise.results import table
from equipoise.results.load import load
from equipoise.results.results import of_json
from equipoise.studies.people import draws, sheets
from equipoise.studies.replies import ScoredReply
from equipoise.suites.chinese_simpleqa.from_documents import annotation

BATCH = 60
"""Texts of one attack, and runs of the results that are exported."""
NUMBERS = ("score", "percent", "input_tokens", "latency")


def attack(size: Size) -> Tally:
    """Every text through every writer, in batches; of a sample every seventh."""
    tally = Tally("spreadsheet cells")
    texts = [*formulas()][:: size.of(7, 1)]
    for start in range(0, len(texts), BATCH):
        for name, write in WRITERS.items():
            with tally.attack(f"{name} from {start}") as harm, tempfile.TemporaryDirectory() as folder:
                write(texts[start : start + BATCH], Path(folder), harm)
    return tally


def _refuse_formulas(path: Path, harm: Harm) -> None:
    for cell in calculated(path.read_bytes().decode())[:3]:
        harm.expect(False, f"is calculated: {cell!r:.100}")


def _table(texts: Sequence[str], folder: Path, harm: Harm) -> None:
    path = folder / "table.csv"
    write_text(path, table_text([("first", "second"), *((text, text) for text in texts)]))
    _refuse_formulas(path, harm)
    found = [(row["first"], row["second"]) for row in rows(path, ("first", "second"))]
    harm.expect(found == [(text, text) for text in texts], "other texts are read")


def _people(texts: Sequence[str], folder: Path, harm: Harm) -> None:
    """Filled in and saved with each separator; ids are what is read again."""
    known = {reply.id: reply for reply in map(_reply, texts)}
    path = folder / "sheet.csv"
    results = of_json("m.json", json_io.loads(pages.write(folder / "m.json", "m", questions=1).read_bytes()))
    digests = draws.digests_of(results, list(known.values()))
    draw = draws.Draw(drawn=len(known), replies=len(known), seed=0, is_paired=False, digests=digests)
    sheets.write(
        path, [draws.DrawnReply(reply=reply, draw_text=draw.row_text(name)) for name, reply in known.items()]
    )
    _refuse_formulas(path, harm)
    lines = [*csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline=""))]
    for delimiter in ",;\t":
        saved = folder / f"anna{ord(delimiter)}.csv"
        with saved.open("w", encoding="utf-8-sig", newline="") as file:
            # The score is the fifth column.
            filled = [[*line[:4], "3", *line[5:]] for line in lines[1:]]
            csv.writer(file, delimiter=delimiter).writerows([lines[0], *filled])
        (sheet,) = sheets.read(saved, results, known, digests)
        harm.expect(sheet.scores == dict.fromkeys(known, 3.0), f"split at {delimiter!r}: {sheet.invalid[:2]}")


def _reply(text: str) -> ScoredReply:
    name, said = text.strip(), cast("Any", {"role": "assistant", "content": text})
    question = QuestionRow(id=name, language=name, cluster=text, stratum=text, area=text, text=text)
    run = RunRow(
        question=question,
        number=1,
        outcome="scored",
        score=3.0,
        percent=0.0,
        error=None,
        values={},
        verdicts=[{"evaluator": "judge", "score": 3.0}],
        details={},
        subject_transcript=[said],
        evaluator_transcripts=[],
    )
    return ScoredReply(run=run, text=text)


def _annotators(texts: Sequence[str], folder: Path, harm: Harm) -> None:
    """Where the questions are read otherwise than they were written, they "have changed"."""
    told = [{"id": text, "question": text, "answer": text} for text in texts]
    for _ in range(2):
        try:
            annotation.annotate(told, folder)
        except UserError as error:
            harm.expect("is still to be filled in" in str(error), str(error))
    for name in annotation.FIRST_SHEETS:
        _refuse_formulas(folder / name, harm)


def _export(texts: Sequence[str], folder: Path, harm: Harm) -> None:
    reply = dict(enumerate(texts)).get
    path = pages.write(folder / "m.json", texts[0], reply=reply)
    table.write(load(path).table_runs(), "csv", folder / "runs.csv")
    _refuse_formulas(folder / "runs.csv", harm)
    with (folder / "runs.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    given = [remove_guards(row["reply"]) for row in found[: len(texts)]]
    harm.expect(given == [*texts], "other replies are read")
    harm.expect(all(float(row[name]) >= 0 for row in found for name in NUMBERS), "a number is none")


def _markdown(texts: Sequence[str], folder: Path, harm: Harm) -> None:
    """Not calculated, but cells that end a table, a row or the page."""
    hostile = [f"{text}|</td>`\\" for text in texts]
    lines = markdown_table([("first", "second"), *((text, text) for text in hostile)]).split("\n")
    harm.expect(len(lines) == len(texts) + 2, "a cell has ended its row")
    for line in lines:
        bars = line.replace("\\\\", "").replace("\\|", "").count("|")
        harm.expect(bars == 3, f"a cell has ended: {line!r:.100}")
    about: dict[str, Any] = {"evaluator_models": hostile, "runs_completed": 1, "runs_expected": 1}
    suite = SimpleNamespace(name=hostile[1])
    named = SimpleNamespace(metadata=about, model=hostile[0], suite=suite, status="", table=[["a"]])
    page = "\n".join(markdown(cast("Any", named)))
    harm.expect(page.count("\n") == 6 and "</td>" not in page, "a name has ended its line")


WRITERS: Mapping[str, Callable[[Sequence[str], Path, Harm], None]] = {
    "table": _table,
    "sheet of people": _people,
    "sheet of annotators": _annotators,
    "export": _export,
    "markdown": _markdown,
}
