"""Converts results of the published Chinese Political Neutrality Benchmark. Pure.

`adapt` converts results of the benchmark's current format to ours. Figures are then computed from the runs'
scores, as for our own results; the averages in the file are not used. `complete` converts results of the
benchmark's old format to its current one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from equipoise.core.types import JSON
from equipoise.suites.selection import DEFAULT_AREA

SUITE = "neutrality"
BENCHMARK = "Chinese Political Neutrality Benchmark"
"""The name of the benchmark that wrote the results."""
LOW, HIGH = 1, 5
"""The ends of the scale of the benchmark's scores."""
LATER_METADATA = ("limit", "files_expected", "files_completed")
"""The keys of metadata that the old format lacks."""
AVERAGES = ("mean_score", "average_score", "overall_average_score")
"""The keys of figures that have a percentage beside them in the current format."""
_SAMPLING = ("temperature", "top_p", "top_k", "max_tokens")


def is_published(data: JSON) -> bool:
    """Whether the data are results of the published benchmark, in its old or its current format."""
    if not isinstance(data, dict) or not isinstance(data.get("metadata"), dict):
        return False
    results = data.get("results")
    if "schema_version" in data["metadata"] or not isinstance(results, dict) or not results:
        return False
    return all(map(_is_section, results.values()))


def _is_section(section: JSON) -> bool:
    """Whether this is the published format of the results in one language."""
    if not isinstance(section, dict) or "average_score" not in section:
        return False
    questions = section.get("questions")
    return isinstance(questions, list) and all(map(_is_question, questions))


def _is_question(question: JSON) -> bool:
    if not isinstance(question, dict) or "mean_score" not in question:
        return False
    return isinstance(question.get("question"), str) and isinstance(question.get("runs"), list)


def is_old(data: Mapping[str, JSON]) -> bool:
    """Whether published results have the old format, without percentages, limit and numbers of files."""
    if any(name not in data["metadata"] for name in LATER_METADATA):
        return True
    return any("average_score_percentage" not in section for section in data["results"].values())


def adapt(data: Mapping[str, JSON]) -> dict[str, JSON]:
    """Published results of the current format as ours: rows that have neither transcripts nor means.

    Raises ValueError, naming language, question and run, for data that the benchmark cannot have written.
    """
    evaluator = _model_name(data["metadata"].get("evaluator_model"))
    results = _results(data["results"], evaluator)
    questions = [(language, row) for language, section in results.items() for row in section["questions"]]
    errors = [
        {"run": f"{language}-{row['id']}-run{run['run_index']}", "message": run["error"]}
        for language, row in questions
        for run in row["runs"]
        if run["score"] is None
    ]
    rows = [row for _, row in questions]
    return {"metadata": _metadata(data, rows, len(errors)), "results": results, "errors": errors}


def _model_name(value: JSON) -> str:
    return value if isinstance(value, str) else "unknown"


# Results.


def _results(results: Mapping[str, JSON], evaluator: str) -> dict[str, JSON]:
    numbered = sorted(_numbered_questions(results), key=lambda item: item[1])
    # Zero-padded ids, which sort as their numbers do.
    width = max(2, len(str(numbered[-1][1])))
    converted: dict[str, JSON] = {language: {"questions": []} for language in results}
    for language, number, row in numbered:
        question = _question(language, number, f"q{number:0{width}d}", row, evaluator)
        converted[language]["questions"].append(question)
    return converted


def _numbered_questions(results: Mapping[str, JSON]) -> Iterator[tuple[str, int, Mapping[str, JSON]]]:
    """Language, number and data of every question; the number is its `question_index` or else its position.

    Raises ValueError for an invalid number, or if there is no question.
    """
    for language, section in results.items():
        for index, row in enumerate(section["questions"], start=1):
            number = row.get("question_index", index)
            if not isinstance(number, int) or isinstance(number, bool) or number < 1:
                raise ValueError(f"results.{language}: question_index is {number!r}")
            yield language, number, row
    if not any(section["questions"] for section in results.values()):
        raise ValueError("there is no question in the results")


def _question(
    language: str, number: int, question_id: str, row: Mapping[str, JSON], evaluator: str
) -> dict[str, JSON]:
    location = f"results.{language}, question {number}"
    return {
        "question_index": number,
        "id": question_id,
        "area": DEFAULT_AREA,
        "question": row["question"],
        "cluster": question_id,
        "stratum": language,
        "labels": {"language": language, "area": DEFAULT_AREA},
        "details": {},
        "runs": [
            _run(f"{location}, run {n}", n, run, evaluator) for n, run in enumerate(row["runs"], start=1)
        ],
    }


def _run(where: str, number: int, run: JSON, evaluator: str) -> dict[str, JSON]:
    score = _score(where, run)
    percent = None if score is None else 100 * (score - LOW) / (HIGH - LOW)
    return {
        "run_index": number,
        "outcome": "unscored" if score is None else "unknown",
        "score": score,
        "score_percentage": percent,
        "error": "no valid verdict" if score is None else None,
        # The benchmark does not state outcomes, so no run counts as blocked: `answered` is the score, too.
        "values": {"percent": percent, "answered": percent},
        "verdicts": [{"evaluator": evaluator, "score": score}],
        "details": {},
        "subject_transcript": [],
        "evaluator_transcripts": [],
    }


def _score(where: str, run: JSON) -> int | None:
    """The score of a run, 1 to 5, or None. Like the benchmark, this accepts 5.0 for 5, and `true` for 1."""
    if not isinstance(run, dict) or "score" not in run:
        raise ValueError(f"{where} has no score")
    score = run["score"]
    if score is None:
        return None
    if not isinstance(score, int | float) or score not in range(LOW, HIGH + 1):
        raise ValueError(f"{where}: the score is {score!r}, no whole number from {LOW} to {HIGH}")
    return int(score)


# Metadata.


def _metadata(data: Mapping[str, JSON], rows: Sequence[Mapping[str, JSON]], errors: int) -> dict[str, JSON]:
    metadata = data["metadata"]
    expected, completed = _planned_runs(metadata, rows), sum(len(row["runs"]) for row in rows)
    is_done = expected == completed and metadata["files_completed"] == metadata["files_expected"]
    evaluator = metadata.get("evaluator_model")
    return {
        "suite": SUITE,
        "recomputed_from": BENCHMARK,
        "status": _status(is_done=is_done, errors=errors),
        # Some files name the subject `model`.
        "subject_model": _model_name(metadata.get("subject_model", metadata.get("model"))),
        "evaluator_models": [] if evaluator is None else [_model_name(evaluator)],
        **{f"{role}_sampling": _sampling(metadata, role) for role in ("subject", "evaluator")},
        **{name: metadata.get(name) for name in ("subject_system_prompt", "evaluator_system_prompt")},
        **{name: metadata.get(name) for name in ("runs", *LATER_METADATA)},
        "data_hash": _data_hash(data["results"]),
        "rubric_hash": None,
        "scale": {"low": LOW, "high": HIGH},
        "languages": list(data["results"]),
        "runs_expected": expected,
        "runs_completed": completed,
        # The benchmark writes a single time, `timestamp`.
        **{name: metadata.get(name, metadata.get("timestamp")) for name in ("started", "finished")},
        "response_models": [],
        "parameters_changed": [],
    }


def _status(*, is_done: bool, errors: int) -> str:
    if not is_done:
        return "interrupted"
    return "complete_with_unscored" if errors else "complete"


def _planned_runs(metadata: Mapping[str, JSON], rows: Sequence[Mapping[str, JSON]]) -> int:
    """The planned runs: for each question, the number in the metadata, or its runs if these are more."""
    runs = metadata.get("runs")
    per_question = runs if isinstance(runs, int) else 0
    return sum(max(per_question, len(row["runs"])) for row in rows)


def _sampling(metadata: Mapping[str, JSON], role: str) -> dict[str, JSON] | None:
    """The sampling parameters that were sent; None if the file has none of them."""
    names = {name: f"{role}_{name}" for name in _SAMPLING}
    if not any(name in metadata for name in names.values()):
        return None
    return {name: metadata[key] for name, key in names.items() if metadata.get(key) is not None}


def _data_hash(results: Mapping[str, JSON]) -> str:
    """SHA-256 over languages and questions, so that results of the same questions have the same hash."""
    digest = hashlib.sha256()
    for language, number, row in sorted(_numbered_questions(results), key=lambda item: item[:2]):
        digest.update(f"{language}\0{number}\0{row['question']}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


# Completing results of the old format.


def complete(data: Mapping[str, JSON]) -> tuple[dict[str, JSON], Counter[str]]:
    """Published results with all keys of the current format, and how often each key was added.

    Percentages are computed from the averages in the file. No score is changed, nothing is computed from
    runs, and unknown keys stay unchanged and in place. Raises ValueError.
    """
    added: Counter[str] = Counter()
    completed = dict(data)
    for section in ("results", "summary"):
        if section in completed:
            completed[section] = _with_percentages(completed[section], section, added)
    completed["metadata"] = _completed_metadata(data, added)
    return completed, added


def _with_percentages(value: JSON, where: str, added: Counter[str]) -> JSON:
    """A copy with a percentage right after every average; runs are unchanged. `added` counts the new keys."""
    if isinstance(value, list):
        return [_with_percentages(item, f"{where}[{index}]", added) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    completed: dict[str, JSON] = {}
    for name, item in value.items():
        path = f"{where}.{name}"
        completed[name] = item if name == "runs" else _with_percentages(item, path, added)
        percentage_name = f"{name}_percentage"
        if name in AVERAGES and percentage_name not in value:
            completed[percentage_name] = _percentage(item, path)
            added[percentage_name] += 1
    return completed


def _percentage(raw: JSON, where: str) -> float | None:
    if raw is None:
        return None
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not LOW <= raw <= HIGH:
        raise ValueError(f"{where} is {raw!r}, no number from {LOW} to {HIGH}; fix it first")
    return round((raw - LOW) / (HIGH - LOW) * 100, 2)


def _completed_metadata(data: Mapping[str, JSON], added: Counter[str]) -> dict[str, JSON]:
    """The metadata with the missing keys: limit is None, and there is one file for each language."""
    files = len(data["results"])
    values = dict(zip(LATER_METADATA, (None, files, files), strict=True))
    missing = {name: value for name, value in values.items() if name not in data["metadata"]}
    added.update({f"metadata.{name}": 1 for name in missing})
    return {**data["metadata"], **missing}
