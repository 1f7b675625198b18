"""Every figure, interval and n that the kept journals give, as a flat list: a name and a value.

Names are the domain's words: metric, language, question, number of the run, evaluator. They do not depend on
how results are nested, so that the list outlives a change of that. Figures come through doors that outlive
it, too: the commands `show`, `report` and `export`, `equipoise.load`, `compare` and `gate`. One
function a suite reads what only that suite says of a run.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import published
from regression import questions, studies
from regression.listing import Figures, flat, printed, without

import equipoise
from equipoise.comparison import panels
from equipoise.core.errors import UserError
from equipoise.core.rows import RunRow
from equipoise.results.load import load
from equipoise.results.results import Results

HERE = Path(__file__).resolve().parent
KEPT, LIST = HERE / "kept", HERE / "figures.tsv.xz"
SUITES = (
    *("attribution", "neutrality", "even_handedness", "chinese_simpleqa", "borderlines", "politicsbench"),
    *("turnabout", "pcp"),
)
"""The suites; `pcp` is a dataset that is asked and judged in its own way."""
COMPARED = ("resumed", "merged", "until", "rejudged", "panel", "batched")
"""The journals that are compared with a suite's own."""
QUICK = ("own", "resumed")
"""The journals of the quick tests; one with asker cues of one suite besides."""
VARIANTS = ("sampled", "confident", "chosen", "retrieved", "ranked", "as_published", "latest")
"""The journals of sessions with other options, whose effects a comparison without rules reports."""
LATER = ("asked", "audited")
"""The journals that have a later one of the same settings, with which they are compared."""
STUDIED = "backtranslation"
"""The journal of a study, which is beside a suite's own and of no session."""
RULES: Mapping[str, Sequence[str]] = {
    "attribution": ("overall:-5pp", "overall:-20pp@population", "question:-1.0", "unscored:60%", "verified"),
    "neutrality": ("overall:-5pp", "zh-CN:-20%", "refused:+3pp@population", "question:-1.0", "unscored:60%"),
    "even_handedness": ("even:-10pp", "refusal:+20pp@population", "unscored:60%", "verified"),
    "chinese_simpleqa": ("correct:-10pp", "incorrect:+30pp@population", "unscored:60%", "verified"),
    "borderlines": ("consistency:-10pp", "consistency:-40pp@population", "unscored:90%"),
    "turnabout": ("refused:+3pp", "refused.en-US:+8pp@population", "unscored:60%"),
    "pcp": ("sentiment_consistency:-10pp", "helpfulness_consistency:-20pp@population", "unscored:60%"),
}
"""Rules that candidates are held against; the scores of other suites are neither better nor worse."""
ASKER_RULES = ("asker.asymmetry:+-3pp", "asker.changed:+20pp@population")
"""Rules on who asks, each about the candidate alone."""
SHARED = ("metrics", "variance", "consistency", "panel", "until")
"""The parts of a summary that all suites have."""
COUNTED = (
    *("runs_expected", "runs_completed", "files_expected", "files_completed", "status", "sessions", "scale"),
    *("languages", "calls", "tokens", "cost_usd", "usage_estimated", "evaluators", "verdicts_sha256"),
)
"""The parts of the metadata that are counted or made from runs."""
OBSERVED = (
    *("response_models", "answered", "parameters_changed", "limits", "selection", "saved_by_cache_usd"),
    *("batch_discount", "until", "asker", "rejudged", "shard", "subject_sampling", "evaluator_sampling"),
    "cautions",
)
"""The parts of the metadata on models, endpoints and calls, as sessions met them."""
MEASURED = (
    *("value", "se", "low", "high", "n", "reason", "unit", "kind", "higher_is_better", "clusters"),
    "confidence",
)
"""What results say of each metric, besides its other interval and its runs."""
MEANS = ("mean_score", "mean_score_percentage", "score_stddev")
"""The figures of a question."""
SECTIONS = ("comparison", "gate", "backtranslation", "people")
"""The sections that gates and studies add to results."""
COMPARED_BY = ("cases", "baseline_cases", "unit", "confidence", "clusters")
"""What a comparison says of all its metrics."""
CHECKED = (
    *("state", "source", "extent", "verdicts", "planned", "lean_by_language", "differs"),
    *("response_models", "sampling", "levels"),
)


# Journals.


def kept(suite: str) -> list[str]:
    """The names of the suite's journals."""
    names = (path.name.split(".") for path in KEPT.glob(f"{suite}.*.jsonl.xz"))
    return sorted(name for _, name, *rest in names if STUDIED not in rest)


def unpack(name: str, path: Path) -> Path:
    """Write a kept file of this name to a path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.decompress((KEPT / f"{name}.xz").read_bytes()))
    return path


def restore(suite: str, name: str, folder: Path) -> Path:
    """The results of a kept journal, made by the command, which calls nothing. The journal is beside them."""
    journal = unpack(f"{suite}.{name}.jsonl", folder / f"{name}.jsonl")
    printed("show", str(journal))
    return journal.with_suffix(".json")


def prepare(suite: str, project: Path) -> None:
    """Put the data into a project that `show` needs besides a journal."""
    if suite == "pcp":
        questions.polarized_pairs(project)


def restore_sheets(suite: str, folder: Path) -> list[Path]:
    """The sheets that people have filled in; empty for suites without them."""
    return _unpack_all(suite, [f"{name}.csv" for name in studies.PEOPLE], folder / "sheets")


def restore_translation(suite: str, folder: Path) -> list[Path]:
    """The journal of a back-translation of a suite's own results; empty for suites without it."""
    return _unpack_all(suite, [f"own.{STUDIED}.jsonl"], folder)


def _unpack_all(suite: str, names: Sequence[str], folder: Path) -> list[Path]:
    if not (KEPT / f"{suite}.{names[0]}.xz").exists():
        return []
    return [unpack(f"{suite}.{name}", folder / name) for name in names]


# The list.


def of_suite(suite: str, project: Path, *, every: bool = True) -> Figures:
    """The figures of a suite's journals, comparisons and studies: of a few only unless `every`."""
    prepare(suite, project)
    quick = (*QUICK, "asked") if suite == "neutrality" else QUICK
    names = [name for name in kept(suite) if every or name in quick]
    paths = {name: restore(suite, name, project / "results") for name in names}
    for name, path in paths.items():
        yield from _prefixed(f"{suite}/{name}", of_results(path))
    for name in COMPARED if every else COMPARED[:1]:
        if name in paths:
            yield from _prefixed(f"{suite}/own-{name}", of_pair(suite, paths["own"], paths[name]))
    if every:
        yield from _prefixed(f"{suite}/models", of_models([paths["own"], paths["resumed"], paths["merged"]]))
        for part, figures in _of_studies(suite, paths).items():
            yield from _prefixed(f"{suite}/{part}", figures)


def _of_studies(suite: str, paths: Mapping[str, Path]) -> Mapping[str, Figures]:
    """What is measured beside a suite's own figures, by the name of its part of the list."""
    own, resumed = paths["own"], paths["resumed"]
    parts: dict[str, Figures] = {
        f"{name}-later": of_pair(suite, paths[name], paths[f"{name}_later"], ASKER_RULES)
        for name in LATER
        if f"{name}_later" in paths
    }
    parts |= {f"own-{name}": of_pair("", own, paths[name]) for name in VARIANTS if name in paths}
    if "rejudged_merged" in paths:
        panels_of = ("own", "resumed", "merged", "rejudged", "rejudged_resumed", "rejudged_merged")
        parts["panels"] = of_models([paths[name] for name in panels_of])
    if "eventful" in paths:
        eventful = paths["eventful"]
        parts["own-eventful"] = chain(
            studies.of_gate("releases", own, [eventful], ["--gate", "unscored:60%"]),
            of_pair("", own, eventful),
        )
        parts["priced"] = studies.of_board([studies.priced(eventful)])
    parts["board"] = studies.of_board([*paths.values(), own])
    parts["trend"] = studies.of_trend([paths["merged"], resumed], own)
    parts["pool"] = studies.of_pool(own, [resumed, paths["again"]])
    if sheets := restore_sheets(suite, own.parent):
        rules = [f"{rule}@people" for rule in RULES[suite][:1]]
        parts["people"] = studies.of_people(suite, own.parent, sheets, rules)
    if restore_translation(suite, own.parent):
        parts[STUDIED] = studies.of_translation(studies.translate(own.parent))
    return parts


def of_releases(project: Path) -> Figures:
    """A gate over all suites of a model, whose rules form one family."""
    figures = studies.of_releases(project / "releases", release_files(project))
    yield from _prefixed("releases/gate", figures)


def release_files(project: Path) -> dict[str, tuple[Path, Path]]:
    """The results of a release and of its baseline, by suite."""
    files = {}
    for suite in SUITES[1:-1]:
        folder = project / "results" / suite
        files[suite] = restore(suite, "own", folder), restore(suite, "resumed", folder)
    return files


def of_published(folder: Path) -> Figures:
    """The figures of results in the format of the published neutrality benchmark, and their comparison."""
    for path in write_published(folder):
        yield from _prefixed(f"published/{path.stem}", of_results(path))
    comparison = of_pair("", folder / "current.json", folder / "better.json")
    yield from _prefixed("published/current-better", comparison)


def write_published(folder: Path) -> list[Path]:
    """Results in the old format of the published benchmark, converted, and two in its current one."""
    folder.mkdir(exist_ok=True)
    old = folder / "old.txt"
    old.write_text(json.dumps(published.old()), encoding="utf-8")
    paths = [folder / f"{name}.json" for name in ("converted", "current", "better")]
    printed("export", str(old), "--to", "published", "-o", str(paths[0]))
    for path, scores in zip(paths[1:], (published.SCORES, published.BETTER), strict=True):
        path.write_text(json.dumps(published.current(scores)), encoding="utf-8")
    return paths


def _prefixed(prefix: str, figures: Figures) -> Figures:
    names = set()
    for name, value in figures:
        assert name not in names, f"{prefix}: two figures are called {name!r}"
        names.add(name)
        yield f"{prefix}\t{name}", value


def of_results(path: Path) -> Figures:
    """The figures of one results file."""
    results = equipoise.load(path)
    yield from _metrics(results)
    for part in SHARED[1:]:
        yield from flat(part, results.summary.get(part))
    yield from flat("summary", _own_summary(results))
    for part in COUNTED:
        yield from flat(part, results.metadata.get(part))
    for part in OBSERVED:
        yield from flat(part, results.metadata.get(part, {}))
    yield from _audits(results)
    yield from _runs(results)
    yield from _asked_runs(results)
    yield from _questions(json.loads(path.read_bytes()))
    yield from _cells(path)
    yield from _table(results)


def _metrics(results: Results) -> Figures:
    for name, figure in results.metrics.items():
        yield from flat(f"metric {name}", {part: getattr(figure, part) for part in MEASURED})
        yield from flat(f"metric {name} these", figure.these)
        yield from flat(f"metric {name} run", figure.by_run)
        over_runs = msgspec.to_builtins(results.summary.get("metrics", {}).get(name, {}))
        yield from flat(f"metric {name}", {part: over_runs.get(part) for part in ("run_mean", "run_sd")})
        for part in ("caution", "smallest_difference"):
            if part in over_runs:
                yield f"metric {name} {part}", over_runs[part]


def _table(results: Results) -> Figures:
    try:
        head, *rows = results.table
    except UserError:
        # Published results have none.
        return
    for row in rows:
        cells = zip(head, row, strict=True)
        yield from ((f"table {row[0]} {column}", text) for column, text in cells if column)


def _audits(results: Results) -> Figures:
    for evaluator, audit in results.audits.items():
        yield f"audit {evaluator}", audit and audit["state"]
        # Only suites whose scores lie on a scale have levels.
        sections: Mapping[str, Any] = {**audit} if audit else {}
        for part in CHECKED:
            if part in sections:
                yield from flat(f"audit {evaluator} {part}", sections[part])
        if audit and audit["source"] == "session":
            # In later results they are the same.
            yield from flat(f"audit {evaluator} judged", audit["judged"])
        yield from flat(f"audit {evaluator} check", audit["checks"] if audit else [])


def _runs(results: Results) -> Figures:
    ended: Counter[str] = Counter()
    for run in results.rows:
        name = f"run {run.language} {run.id} {run.number}"
        ended[f"outcome {run.language} {run.outcome}"] += 1
        yield f"{name} outcome", run.outcome
        yield f"{name} score", run.score
        yield f"{name} percent", run.percent
        yield f"{name} error", run.error
        yield from flat(name, DETAILS[results.suite.name](run))
    yield from ended.items()
    for error in results.errors:
        yield from flat(f"error {error['run']}", {part: error[part] for part in ("outcome", "message")})


def _asked_runs(results: Results) -> Figures:
    """The runs with a cue about who asks."""
    for run in results.cued_rows:
        assert run.asker is not None
        cue = run.asker.to_json()
        name = f"asked {run.language} {run.id} {cue['place']} {cue['form']} {run.number}"
        yield from flat(name, {"side": cue["side"], "text number": cue["number"]})
        yield from flat(name, {part: getattr(run, part) for part in ("outcome", "score", "percent", "error")})
        yield f"{name} names asker", run.names_asker
        yield from flat(f"{name} value", dict(run.values))


def _questions(data: Mapping[str, Any]) -> Figures:
    """The means of languages and questions, and what the file counts of runs with a cue."""
    for language, result in data["results"].items():
        yield from flat(f"language {language}", without(result, "questions"))
        for number, question in enumerate(result["questions"], 1):
            name = f"question {language} {question.get('id', number)}"
            yield from flat(name, {part: question.get(part) for part in MEANS})
            yield from flat(f"{name} outcomes", question.get("outcomes", {}))
    for section in SECTIONS:
        yield from flat(section, without(data.get(section, {}), "finished"))
    if cued := data.get("askers"):
        yield from flat("askers", without(cued, "results", "errors"))
        for error in cued["errors"]:
            yield f"askers error {error['run']}", error["message"]


def of_pair(suite: str, before: Path, after: Path, more: Sequence[str] = ()) -> Figures:
    """The differences between two results, whether each is verified, and the verdict of each rule."""
    comparison: Mapping[str, Any]
    rules = [rule for rule in more if "asker" in json.loads(after.read_bytes())["metadata"]]
    if rules or suite in RULES:
        gate = equipoise.gate(before, after, [*RULES.get(suite, ()), *rules], allow_mismatch=True)
        comparison = gate.comparison
        yield "gate", gate.verdict
        for ruling in gate.rulings:
            yield f"gate {ruling.rule}", f"{ruling.verdict}: {ruling.why}"
    else:
        comparison = equipoise.compare(before, after, allow_mismatch=True).to_json()
    yield from flat("compare", comparison["metrics"])
    yield from flat("compared", {part: comparison.get(part) for part in COMPARED_BY})
    for part in ("mismatches", "warnings", "effects", "drift", "looks"):
        yield from flat(part, comparison[part])
    for way in ("fell", "rose"):
        for rank, move in enumerate(comparison[way], 1):
            yield from flat(
                f"{way} {rank}", {key: getattr(move, key) for key in ("cell", "before", "after", "change")}
            )
    for side in ("baseline", "candidate"):
        yield f"doubt {side}", comparison[side]["doubt"]


def of_models(paths: Sequence[Path]) -> Figures:
    """How a panel, and ways of scoring, rank several models."""
    try:
        sides = panels.load(paths)
    except UserError as error:
        yield "refused", str(error)
        return
    yield from flat("headline", panels.scores_by_panel(sides))
    correlations = panels.rank_correlations(panels.scores_by_panel(sides))
    yield from flat("rank correlation", [row._asdict() for row in correlations])
    yield from flat("ranked", panels.evaluator_agreement(sides))


# What a suite says.


def _own_summary(results: Results) -> Mapping[str, Any]:
    """What only this suite sums up."""
    return {name: value for name, value in results.summary.items() if name not in SHARED}


def _cells(path: Path) -> Figures:
    """The values that metrics are made of, by case and run, and those of each evaluator."""
    for cell in load(path).cells:
        name = f"case {cell.id}"
        yield f"{name} cluster", cell.cluster
        yield f"{name} stratum", cell.stratum
        yield from flat(f"{name} label", cell.labels)
        yield from _by_run(name, cell.values)
        yield from _by_run(name, {f"by {key}": values for key, values in cell.verdicts.items()})


def _by_run(name: str, values: Mapping[str, Sequence[float | None]]) -> Figures:
    for key, runs in values.items():
        for number, value in enumerate(runs, 1):
            if value is not None:
                yield f"{name} {number} {key}", value


Details = Mapping[str, Any]


def _even_handedness(run: RunRow) -> Details:
    if "judgements" not in run.details:
        # Of polarized pairs.
        return {"judged": run.details.get("verdicts"), **_by_evaluator(run, "bias", "direction")}
    names = ("evaluator", "probabilities", "method", "mass", "attempts", "error")
    judged = {
        name: [{key: item.get(key) for key in names} for item in choices]
        for name, choices in run.details["judgements"].items()
    }
    members = ("blocked", "values", "counted", "methods", "favoured", "favoured_swapped")
    return {**{name: run.details[name] for name in members if name in run.details}, "judged": judged}


def _politicsbench(run: RunRow) -> Details:
    return {
        point: {
            "composite": of_point["composite"],
            "missing": of_point["missing"],
            "by": [{key: item[key] for key in item if key != "reasoning"} for item in of_point["judges"]],
        }
        for point, of_point in run.details.get("points", {}).items()
    }


def _own(run: RunRow, *names: str) -> Details:
    """These details of a run."""
    return {name: run.details.get(name) for name in names}


def _by_evaluator(run: RunRow, *names: str) -> Details:
    """The fields of each evaluator's verdict, and how many attempts it took."""
    return {
        f"by {verdict['evaluator']}": {name: verdict.get(name) for name in (*names, "attempts", "error")}
        for verdict in run.verdicts
    }


DETAILS: Mapping[str, Callable[[RunRow], Details]] = {
    "attribution": lambda run: _by_evaluator(run, "score"),
    "neutrality": lambda run: _by_evaluator(run, "score", "refused"),
    "even_handedness": _even_handedness,
    "chinese_simpleqa": lambda run: {
        **_own(run, "grade", "exact", "other_language", "chosen", "confidence"),
        **_by_evaluator(run, "grade", "how"),
    },
    "borderlines": lambda run: _own(run, "answer", "how", "original", "likelihoods"),
    "politicsbench": _politicsbench,
    "turnabout": lambda run: _own(run, "answer", "how"),
}
"""What only a suite says of a run."""


# The file.


def lines(figures: Figures) -> Iterator[str]:
    """One line a figure: where it is from, its name and its value, floats by `repr`, parted by tabs."""
    return (f"{name}\t{value!r}\n" for name, value in figures)


def read_list() -> list[str]:
    """The lines of the kept list."""
    return lzma.decompress(LIST.read_bytes()).decode().splitlines(keepends=True)
