"""Results in the schema of Every Eval Ever, 0.3.0: an aggregate file, and a file with one line per run.

https://evalevalai.com publishes the schema in the package every-eval-ever. It requires scores: runs without
one have no line, and are counted in the aggregate. Figures without a value are left out.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from equipoise.core import json_io
from equipoise.core.figures import Figure
from equipoise.core.files import replacing
from equipoise.core.rows import RunRow
from equipoise.core.settings import is_local
from equipoise.core.types import JSON, Conversation, Message
from equipoise.results.results import Results
from equipoise.results.rows import total_usage

VERSION = "0.3.0"
UNKNOWN = "unknown"
IS_CORRECT_NOTE = (
    "the schema requires it: true above the middle of the scale of scores; it says nothing where neither end "
    "of that scale is the better one"
)
_UNSAFE_IN_PATHS = re.compile(r'[<>:"\\|?*\x00-\x1f]')
_INFINITE = ("-Infinity", "Infinity")
"""The range of a metric without bounds, as the schema writes it."""
_RANGES: Mapping[str, tuple[float | str, float | str]] = {
    **dict.fromkeys(("mean", "rate", "ratio"), (0.0, 100.0)),
    **dict.fromkeys(("balance", "gap", "contrast"), (-100.0, 100.0)),
}
"""The range of a metric in percent or points, by its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """The publisher of results and the developer of the model, which results files do not name."""

    organization: str = UNKNOWN
    relationship: str = "other"
    developer: str = UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The path of the aggregate file, and the number of lines of the other file.

    `unscored` runs and the figures `without_value` are left out.
    """

    path: Path
    lines: int
    unscored: int
    without_value: Sequence[str]


def write(results: Results, folder: Path, publisher: Publisher) -> Written:
    """Write both files below `folder`, at the paths that the registry expects. Raises OSError."""
    # Paths and ids cannot have unpaired surrogates.
    identity = model_id(results.model, publisher.developer).encode(errors="replace").decode()
    name = results.uuid
    developer, *model = identity.split("/")
    relative = Path("data", f"equipoise_{results.suite.name}", developer, "_".join(model))
    created = str(int(time.time()))
    evaluation = f"{results.suite.name}/{identity}/{created}"
    samples = relative / f"{name}_samples.jsonl"
    digest, lines, unscored = _write_samples(results, folder / samples, evaluation, identity)
    data = {
        "schema_version": VERSION,
        "evaluation_id": evaluation,
        "evaluation_timestamp": results.metadata["started"],
        "retrieved_timestamp": created,
        "source_metadata": _source_metadata(results, publisher),
        "eval_library": {
            "name": "equipoise",
            "version": str(results.metadata.get("equipoise_version", UNKNOWN)),
        },
        "model_info": model_info(
            results.model, publisher.developer, results.metadata["endpoints"]["subject"]
        ),
        "evaluation_results": list(_evaluation_results(results, evaluation)),
    }
    if lines:
        data["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": samples.as_posix(),
            "hash_algorithm": "sha256",
            "checksum": digest,
            "total_rows": lines,
            "additional_details": {"runs_without_a_score": str(unscored), "is_correct": IS_CORRECT_NOTE},
        }
    path = folder / relative / f"{name}.json"
    with replacing(path) as file:
        file.write(json_io.dumps(data, indent=True))
    return Written(
        path=path,
        lines=lines,
        unscored=unscored,
        without_value=[name for name, figure in results.metrics.items() if figure.value is None],
    )


def _as_texts(details: Mapping[str, object]) -> dict[str, str]:
    """Details as strings, which the schema requires; null values are left out."""
    return {
        name: value if isinstance(value, str) else json_io.dumps(value).decode().rstrip("\n")
        for name, value in details.items()
        if value is not None
    }


# Models.


def model_id(model: str, developer: str) -> str:
    """The model as developer/name. Each part is a valid folder name on every platform."""
    parts = [_UNSAFE_IN_PATHS.sub("_", part).rstrip(". ") or "_" for part in model.strip().split("/")]
    return "/".join(parts if len(parts) > 1 else [developer, *parts])


def model_info(model: str, developer: str, endpoint: str | None = None) -> dict[str, JSON]:
    """The description of a model. Only the built-in one is known to be self-deployed, with open weights."""
    deployment, availability = ("self_deployed", "open_weights") if is_local(model) else (UNKNOWN, UNKNOWN)
    return {
        "name": model,
        "id": model_id(model, developer),
        "developer": model_id(model, developer).split("/")[0],
        **({"inference_platform": endpoint} if endpoint else {}),
        "additional_details": {"deployment_type": deployment, "model_availability": availability},
    }


def _source_metadata(results: Results, publisher: Publisher) -> dict[str, JSON]:
    metadata = results.metadata
    names = ("status", "runs_expected", "runs_completed", "sessions", "tokens", "cost_usd", "git_commit")
    return {
        "source_name": "Equipoise",
        "source_type": "evaluation_run",
        "source_organization_name": publisher.organization,
        "evaluator_relationship": publisher.relationship,
        "additional_details": _as_texts(
            {**{name: metadata.get(name) for name in names}, "outcomes": results.summary.get("outcomes")}
        ),
    }


# Figures.


def _evaluation_results(results: Results, evaluation: str) -> Iterator[dict[str, JSON]]:
    judges = _judges(results)
    for name, figure in results.metrics.items():
        if figure.value is not None:
            yield {
                "evaluation_result_id": f"{evaluation}/{name}",
                "evaluation_name": f"{results.suite.name}.{name}",
                "source_data": _source_data(results),
                "evaluation_timestamp": results.metadata["started"],
                "metric_config": {**_metric_config(results, name, figure), **judges},
                "score_details": _score_details(figure),
                "generation_config": _generation_config(results),
            }


def _source_data(results: Results) -> dict[str, JSON]:
    names = ("data_hash", "languages", "limit", "selection")
    return {
        "dataset_name": "/".join(filter(None, (results.suite.name, results.metadata.get("dataset")))),
        "source_type": "other",
        "additional_details": _as_texts({name: results.metadata.get(name) for name in names}),
    }


def _metric_config(results: Results, name: str, figure: Figure) -> dict[str, JSON]:
    low, high = _RANGES.get(figure.kind, _INFINITE) if figure.unit in ("%", "pp", "points") else _INFINITE
    no_direction = {"direction": "neither a higher nor a lower score is better"}
    return {
        "metric_id": f"equipoise.{results.suite.name}.{name}",
        "metric_name": name,
        "metric_kind": figure.kind,
        "metric_unit": "percent" if figure.unit == "%" else figure.unit,
        "lower_is_better": figure.higher_is_better is False,
        "score_type": "continuous",
        "min_score": low,
        "max_score": high,
        "additional_details": {} if figure.higher_is_better is not None else no_direction,
    }


def _score_details(figure: Figure) -> dict[str, JSON]:
    uncertainty: dict[str, JSON] = {"num_samples": figure.n}
    if figure.se is not None:
        uncertainty["standard_error"] = {"value": figure.se, "method": f"clustered by {figure.clusters}"}
    if figure.low is not None and figure.high is not None:
        ends = {"lower": figure.low, "upper": figure.high, "confidence_level": figure.confidence}
        uncertainty["confidence_interval"] = {**ends, "method": f"clustered by {figure.clusters}"}
    these = {"low": figure.these.low, "high": figure.these.high, "se": figure.these.se}
    about = {"reason": figure.reason, "caution": figure.caution}
    details = {**about, "by_run": list(figure.by_run) or None, "these_questions": these}
    return {"score": figure.value, "uncertainty": uncertainty, "details": _as_texts(details)}


def _generation_config(results: Results) -> dict[str, JSON]:
    metadata = results.metadata
    sampling = metadata.get("subject_sampling") or {}
    names = ("subject_system_prompt", "runs", "rubric_version", "rubric_hash", "evaluator_models")
    return {
        "generation_args": {name: value for name, value in sampling.items() if value is not None},
        "additional_details": _as_texts({name: metadata.get(name) for name in names}),
    }


def _judges(results: Results) -> dict[str, JSON]:
    """The panel, and the first prompt to an evaluator as an example; empty without prompts."""
    first = next((item for run in results.rows for item in run.evaluators if item.messages), None)
    if first is None:
        return {}
    temperature = (results.metadata.get("evaluator_sampling") or {}).get("temperature")
    sampling = {} if temperature is None else {"temperature": temperature}
    judges = [
        {"model_info": model_info(name, UNKNOWN), **sampling} for name in results.metadata["evaluator_models"]
    ]
    return {"llm_scoring": {"judges": judges, "input_prompt": str(first.messages[0]["content"])}}


# Runs.


def _write_samples(results: Results, path: Path, evaluation: str, identity: str) -> tuple[str, int, int]:
    """Write a line for each run with a score. Returns its SHA-256 and the numbers of lines and other runs."""
    digest, lines, unscored = hashlib.sha256(), 0, 0
    with replacing(path) as file:
        for run in results.rows:
            if run.score is None:
                unscored += 1
                continue
            line = json_io.dumps(_sample(results, run, evaluation, identity))
            digest.update(line)
            file.write(line)
            lines += 1
    if not lines:
        path.unlink()
    return digest.hexdigest(), lines, unscored


def _sample(results: Results, run: RunRow, evaluation: str, identity: str) -> dict[str, JSON]:
    subject, (headline, figure) = run.subject, next(iter(results.metrics.items()))
    messages = [message for item in subject for message in item.messages]
    prompt = str(next((item["content"] for item in messages if item["role"] == "user"), ""))
    replies = [item for item in messages if item["role"] == "assistant"]
    is_single = len(subject) == 1 and len(replies) == 1
    return {
        "schema_version": VERSION,
        "evaluation_id": evaluation,
        "model_id": identity,
        "evaluation_name": f"{results.suite.name}.{headline}",
        # A headline without a value is not among the results of the aggregate.
        **({"evaluation_result_id": f"{evaluation}/{headline}"} if figure.value is not None else {}),
        "sample_id": f"{run.language}/{run.id}/run{run.number}",
        "sample_hash": hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest(),
        "interaction_type": "single_turn" if is_single else "multi_turn",
        "input": {"raw": prompt, "reference": []},
        "output": _output(replies[0]) if is_single else None,
        "messages": None if is_single else [_turn(*item) for item in enumerate(messages)],
        "answer_attribution": [],
        "evaluation": {
            "score": run.score,
            "is_correct": _is_correct(results, run),
            "num_turns": max(1, len(replies)),
        },
        "token_usage": token_usage(subject),
        "performance": {"latency_ms": 1000 * sum(float(item.get("latency") or 0.0) for item in replies)},
        "error": None if run.outcome == "scored" else run.outcome,
        "metadata": _as_texts(
            {
                **{"language": run.language, "area": run.area, "outcome": run.outcome, "run": run.number},
                "percent": run.percent,
                "conversations": ", ".join(item.name for item in subject if item.name) or None,
            }
        ),
    }


def _is_correct(results: Results, run: RunRow) -> bool:
    scale = results.metadata["scale"]
    return run.score is not None and run.score > (scale["low"] + scale["high"]) / 2


def _output(reply: Message) -> dict[str, JSON]:
    thought = reply.get("reasoning")
    return {
        "raw": [str(reply["content"])],
        **({} if thought is None else {"reasoning_trace": [str(thought)]}),
    }


def _turn(index: int, message: Message) -> dict[str, JSON]:
    return {
        "turn_idx": index,
        "role": message["role"],
        "content": str(message["content"]),
        "reasoning_trace": message.get("reasoning"),
    }


def token_usage(conversations: Sequence[Conversation]) -> dict[str, int] | None:
    """The tokens of conversations under the names that the schema shares with Inspect; None if unknown."""
    used = total_usage(conversations)
    if used is None:
        return None
    return {
        "input_tokens": used.input,
        "output_tokens": used.output,
        "total_tokens": used.input + used.output,
        "input_tokens_cache_read": used.cached,
        "reasoning_tokens": used.reasoning,
    }
