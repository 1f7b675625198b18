"""What users see of kept journals at every door: terminal, page, exports, CI summary and JUnit's report."""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any
from unittest import mock

from regression import figures, studies
from regression.listing import printed

import equipoise
from equipoise.core import json_io
from equipoise.report import terminal
from equipoise.report.layout import wrap_line

Texts = Iterator[tuple[str, str]]
"""What a door shows, by the end of the golden file's name."""
LONGEST = 60
"""The longest cell of a table of runs that is shown; longer ones are transcripts, and shown by a digest."""
DATE = r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?(?:\+00:00|Z)?| UTC)?)?"
STATUSES = (0, 1, 2, 6, 7)


def stable(text: str, folder: Path) -> str:
    """A text without dates, versions and the project's folder."""
    text = re.sub(rf"{DATE}( to {DATE})?", "DATE", text)
    for before in ("Equipoise", "version", '"version": "', "equipoise/"):
        text = text.replace(f"{before} {equipoise.__version__}", f"{before} VERSION")
        text = text.replace(f"{before}{equipoise.__version__}", f"{before}VERSION")
    return text.replace(str(folder), "FOLDER")


# Results.


def of_results(path: Path) -> Texts:
    """Results in the terminal, on the page and in each export."""
    yield "terminal.txt", printed("show", str(path), "--all")
    printed("report", str(path), "-o", "page.html")
    yield "page.txt", page_text(Path("page.html").read_text(encoding="utf-8"))
    yield "card.md", printed("export", str(path), "--to", "markdown")
    for table in of_tables(path):
        yield f"{table.stem}.csv", short_cells(table.read_text(encoding="utf-8"))
    yield "registry.jsonl", registry(path)


def of_tables(path: Path) -> list[Path]:
    """The tables of runs, a second one where some have a cue about who asks."""
    folder = path.parent / "exported"
    folder.mkdir(exist_ok=True)
    # By a path that is the same in every folder, as it is in the table.
    shown = path.relative_to(Path.cwd())
    printed("export", str(shown), "--to", "csv", "-o", str(folder / "runs.csv"))
    return sorted(folder.glob("*.csv"))


def short_cells(table: str) -> str:
    """A table whose long cells, such as transcripts, are digests."""
    rows = csv.reader(io.StringIO(table, newline=""))
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([*map(_short, row)] for row in rows)
    return written.getvalue()


def _short(cell: str) -> str:
    return cell if len(cell) <= LONGEST else hashlib.sha256(cell.encode()).hexdigest()[:12]


def registry(path: Path) -> str:
    """The aggregate file of the export to Every Eval Ever: a line for what is shared, then one a figure.

    Behind the first, a line has what differs from it.
    """
    folder = path.parent / "registry"
    publisher = ("--organization", "us", "--relationship", "third_party", "--developer", "them")
    printed("export", str(path), "--to", "every_eval_ever", "-o", str(folder), *publisher)
    (aggregate,) = sorted(folder.rglob("*.json"))
    written = aggregate.read_text(encoding="utf-8")
    # An id ends in the time at which these results were made.
    *_, seconds = json.loads(written)["evaluation_id"].split("/")
    data = json.loads(written.replace(seconds, "TIME"))
    # The file with a line for each run, which is named and digested with its times.
    del data["detailed_evaluation_results"]
    first, *others = data.pop("evaluation_results")
    items = (data, first, *(_differing(item, first) for item in others))
    return "".join(f"{json.dumps(_shortened(item), ensure_ascii=False)}\n" for item in items)


def _differing(item: Mapping[str, Any], first: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an object has otherwise than the first one, inside as well."""
    return {
        name: _differing(value, first[name])
        if isinstance(value, Mapping) and isinstance(first.get(name), Mapping)
        else value
        for name, value in item.items()
        if value != first.get(name)
    }


def _shortened(value: Any) -> Any:
    """A value without its longest texts, and without times since 1970, which differ with each export."""
    if isinstance(value, Mapping):
        return {
            name: "TIME" if name.endswith("timestamp") else _shortened(item) for name, item in value.items()
        }
    if isinstance(value, list):
        return [*map(_shortened, value)]
    return _short(value) if isinstance(value, str) else value


def page_text(html: str) -> str:
    """The texts of a page, figures aside, whose values are in tables, and its list of transcripts."""
    body = re.sub(r"<(script|style|svg)\b.*?</\1>", "", html, flags=re.DOTALL)
    texts = (text.strip() for text in unescape(re.sub(r"<[^>]*>", "\n", body)).splitlines())
    index = re.search(r'id="index">([^<]*)<', html)
    return "\n".join([*filter(None, texts), *(_transcripts(index[1]) if index else ()), ""])


def _transcripts(index: str) -> Iterator[str]:
    """The rows of a page's list of transcripts."""
    columns = json_io.loads(gzip.decompress(base64.b64decode(index)))["columns"]
    # Where transcripts lie is a matter of their size.
    shown = {name: values for name, values in columns.items() if name not in ("chunk", "line")}
    rows = zip(*([name, *values] for name, values in shown.items()), strict=True)
    return (" | ".join(map(str, row)) for row in rows)


# Gates and comparisons.


def of_gate(candidates: Sequence[Path], baseline: Path, rules: Sequence[str]) -> Texts:
    """A gate in the terminal with annotations of GitHub Actions, its job summary and JUnit's report."""
    summary, junit = Path("summary.md"), Path("junit.xml")
    summary.unlink(missing_ok=True)
    variables = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    command = ["gate", *map(str, candidates), "--baseline", str(baseline), *rules, "--allow-mismatch"]
    with mock.patch.dict("os.environ", variables):
        yield "gate.txt", printed(*command, "--junitxml", str(junit), statuses=STATUSES)
    yield "summary.md", summary.read_text(encoding="utf-8")
    yield "junit.xml", junit.read_text(encoding="utf-8")


def of_comparison(baseline: Path, candidate: Path) -> Texts:
    """A comparison in the terminal."""
    yield "compare.txt", printed("compare", str(baseline), str(candidate), "--allow-mismatch")


def of_widths(baseline: Path, candidate: Path, rules: Sequence[str]) -> Texts:
    """Results, a comparison and a gate in CI, in narrow and in wide terminals."""
    for width in (80, 120):
        with mock.patch.dict("os.environ", {"COLUMNS": str(width)}):
            shown = printed("show", str(candidate))
            everything = printed("show", str(candidate), "--all")
            compared = dict(of_comparison(baseline, candidate))["compare.txt"]
            decided = dict(of_gate([candidate], baseline, rules))["gate.txt"]
        yield f"{width}.txt", "\n".join((shown, everything, compared, decided))


# Suites and studies.


def of_suite(suite: str, project: Path) -> Texts:
    """A suite: its results with a panel, or its own without evaluators; a gate and a comparison."""
    figures.prepare(suite, project)
    folder = project / "results"
    own, resumed = (figures.restore(suite, name, folder) for name in ("own", "resumed"))
    yield from of_results(figures.restore(suite, "panel", folder))
    rules = _gates(figures.RULES.get(suite, ("verified",)))
    yield from of_gate([own], resumed, rules)
    yield from of_comparison(resumed, own)
    yield from of_widths(resumed, own, rules)


def of_later(name: str, rules: Sequence[str], project: Path) -> Texts:
    """A session: at all doors of results, by rules of a gate, and compared with a later session."""
    earlier, later = (
        figures.restore("neutrality", which, project / "results") for which in (name, f"{name}_later")
    )
    yield from of_results(earlier)
    yield from of_gate([later], earlier, _gates(rules))
    yield from of_comparison(earlier, later)


def of_people(project: Path) -> Texts:
    """People's labels: at all doors of results that have them, and by a rule."""
    folder = project / "results"
    own, resumed = (figures.restore("neutrality", name, folder) for name in studies.LABELLED["neutrality"])
    sheets = figures.restore_sheets("neutrality", folder)
    for name, path in (("agree", own), ("agree-baseline", resumed)):
        yield f"{name}.txt", printed("review", "agree", str(path), *map(str, sheets))
    yield "plan.txt", printed("review", "plan", str(own), "--within", "6pp")
    yield from of_results(own)
    yield from of_gate([own], resumed, _gates([f"{figures.RULES['neutrality'][0]}@people"]))


def of_languages(project: Path) -> Texts:
    """Back-translation: what its command adds to results at all doors."""
    folder = project / "results"
    own = figures.restore("neutrality", "own", folder)
    figures.restore_translation("neutrality", folder)
    studies.translate(folder)
    yield from of_results(own)


def of_models(project: Path) -> Texts:
    """Many results of several suites on one page, ranked by panels, as a trend, and pooled."""
    folders = {suite: project / "results" / suite for suite in ("chinese_simpleqa", "turnabout")}
    paths = {
        suite: [figures.restore(suite, name, folder) for name in figures.kept(suite)]
        for suite, folder in folders.items()
    }
    printed("report", *(str(path) for files in paths.values() for path in files), "-o", "page.html")
    yield "page.txt", page_text(Path("page.html").read_text(encoding="utf-8"))
    every = [equipoise.load(path) for files in paths.values() for path in files]
    for width in (80, 120):
        wrapped = (part for line in terminal.overview(every, width) for part in wrap_line(line, width))
        yield f"overview.{width}.txt", "\n".join([*wrapped, ""])
    by_name = {path.stem: str(path) for path in paths["chinese_simpleqa"]}
    own, resumed, merged, again = (by_name[name] for name in ("own", "resumed", "merged", "again"))
    yield "ranks.txt", printed("compare", "--panels", own, resumed, merged)
    yield (
        "trend.txt",
        printed("compare", "--baseline", merged, "--baseline", resumed, own, "--allow-mismatch"),
    )
    yield "pool.txt", printed("compare", own, resumed, again, "--allow-mismatch")


def of_releases(project: Path) -> Texts:
    """A model on several suites, whose rules form one family."""
    folder = project / "releases"
    studies.lay_out(folder, figures.release_files(project))
    yield from of_gate([folder / "new"], folder / "old", ["--gate", str(folder / "gates.toml")])


AUDIT_RULES = ("audit.lean:+-5pp", "audit.injections:+20pp", "audit.order:-0.5")
STUDIES: Mapping[str, Callable[[Path], Texts]] = {
    "askers": partial(of_later, "asked", figures.ASKER_RULES),
    "audits": partial(of_later, "audited", AUDIT_RULES),
    "people": of_people,
    "languages": of_languages,
    "models": of_models,
    "releases": of_releases,
}
"""What is measured beside the suites' own figures."""


def _gates(rules: Sequence[str]) -> list[str]:
    return [word for rule in rules for word in ("--gate", rule)]
