"""Results as a log of Inspect, made of its own classes: `inspect view` and `read_eval_log` open it.

Each run is an epoch (its number) of a sample (its case). The evaluators' answers are the explanation of the
score; their prompts are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.figures import Figure
from equipoise.core.files import replacing, without_surrogates
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON, Conversation, Message
from equipoise.report.export.every_eval_ever import token_usage
from equipoise.results.results import Results
from equipoise.results.rows import TRANSCRIPTS

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import ChatMessage, ModelUsage

T = TypeVar("T")
MOST_IN_EVAL = 1000
"""Maximum number of runs in an .eval file; larger logs are .json, which opens in the same way.

Inspect's writer of .eval files holds all samples in memory, and takes more than 1 ms of CPU for each.
"""
_STATUS = {
    "complete": "success",
    "complete_with_unscored": "success",
    "interrupted": "cancelled",
    "no_scores": "error",
    "running": "started",
}
"""Inspect's status of a log, by the status of results."""
_STOP_REASONS = {
    "stop": "stop",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "content_filter": "content_filter",
}
"""Inspect's reasons why a model stopped, by the endpoint's."""


def require() -> None:
    """Raise UserError if inspect_ai is not installed."""
    # Not imported here: a large file is read before, so that the two peaks of memory do not add up.
    if find_spec("inspect_ai") is None:
        raise UserError("inspect_ai is not installed; run: pip install inspect-ai")


def write(results: Results, folder: Path) -> Path:
    """Write the log into the folder, named as by Inspect, and return its path. Raises OSError."""
    from inspect_ai.log import write_eval_log

    folder.mkdir(parents=True, exist_ok=True)
    started = str(results.metadata["started"]).replace(":", "-")
    name = f"{started}_{results.suite.name.replace('_', '-')}_{results.uuid}"
    runs = results.rows
    log = _log_without_samples(results, runs)
    if len(runs) > MOST_IN_EVAL:
        path = folder / f"{name}.json"
        # In the order in which Inspect writes samples.
        in_order = sorted(runs, key=lambda run: (run.number, _sample_id(run)))
        _write_json(log, _samples(results, in_order), path)
    else:
        path = folder / f"{name}.eval"
        log.samples = list(_samples(results, runs))
        write_eval_log(log, str(path))
    return path


def _write_json(log: EvalLog, samples: Iterable[EvalSample], path: Path) -> None:
    """Write the log as `write_eval_log` does, by the same encoder, but sample by sample. Raises OSError."""
    from pydantic_core import to_json

    with replacing(path) as file:
        file.write(to_json(log, exclude_none=True, exclude={"samples"}).removesuffix(b"}"))
        file.write(b',"samples":[')
        for number, sample in enumerate(samples):
            file.write(b"," if number else b"")
            file.write(to_json(sample, exclude_none=True))
        file.write(b"]}\n")


def _log_without_samples(results: Results, runs: Sequence[RunRow]) -> EvalLog:
    """A log with the settings, the figures with their intervals, and the usage, but no samples yet."""
    from inspect_ai.log import EvalLog, EvalStats

    metadata = results.metadata
    subject = [conversation for run in runs for conversation in run.subject]
    evaluators = [conversation for run in runs for conversation in run.evaluators]
    return EvalLog(
        status=_STATUS.get(results.status, "error"),
        eval=_spec(results, runs),
        results=_eval_results(results, runs),
        stats=EvalStats(
            started_at=metadata["started"],
            completed_at=metadata.get("finished") or "",
            model_usage=_usage_by_model(results.model, subject, evaluators),
        ),
    )


def _spec(results: Results, runs: Sequence[RunRow]) -> Any:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalSpec
    from inspect_ai.model import GenerateConfig

    metadata = _encodable(results.metadata)
    ids = list(dict.fromkeys(map(_sample_id, runs)))
    sampling = {
        name: value for name, value in (metadata.get("subject_sampling") or {}).items() if value is not None
    }
    return EvalSpec(
        eval_id=results.uuid,
        run_id=results.uuid,
        created=metadata["started"],
        task=f"equipoise/{results.suite.name}",
        task_id=results.suite.name,
        task_version=metadata.get("rubric_version") or 0,
        dataset=EvalDataset(
            name=metadata.get("dataset") or results.suite.name, samples=len(ids), sample_ids=ids
        ),
        model=results.model,
        model_base_url=(metadata.get("endpoints") or {}).get("subject"),
        model_generate_config=GenerateConfig(**sampling),
        config=EvalConfig(epochs=metadata["runs"]),
        packages={"equipoise": str(metadata.get("equipoise_version", "unknown"))},
        metadata=metadata,
    )


def _eval_results(results: Results, runs: Sequence[RunRow]) -> Any:
    from inspect_ai.log import EvalMetric, EvalResults, EvalScore

    scored = sum(run.score is not None for run in runs)
    metrics = {
        name: EvalMetric(name=name, value=figure.value, metadata=_figure_metadata(figure))
        for name, figure in results.metrics.items()
        if figure.value is not None
    }
    score = EvalScore(
        name=results.suite.name,
        scorer=f"equipoise/{results.suite.name}",
        scored_samples=scored,
        unscored_samples=len(runs) - scored,
        metrics=metrics,
    )
    return EvalResults(
        total_samples=results.metadata["runs_expected"],
        completed_samples=scored,
        scores=[score],
        metadata={"outcomes": results.summary.get("outcomes")},
    )


def _figure_metadata(figure: Figure) -> dict[str, JSON]:
    """All fields of a figure that are set, except its value."""
    fields: dict[str, JSON] = msgspec.to_builtins(figure)
    return {name: value for name, value in fields.items() if name != "value"}


# Samples.


def _samples(results: Results, runs: Iterable[RunRow]) -> Iterator[EvalSample]:
    return (_sample(results.model, results.suite.name, run) for run in runs)


def _sample_id(run: RunRow) -> str:
    return run.question.key


def _sample(model: str, suite: str, run: RunRow) -> EvalSample:
    from inspect_ai.log import EvalSample

    subject, evaluators, case = run.subject, run.evaluators, _sample_id(run)
    # Without ids Inspect generates random ones, which takes more time than the rest of a message.
    message_ids = (f"{case}/{run.number}/{number}" for number in count(1))
    messages = [message for item in subject for message in _messages(model, item, message_ids)]
    return EvalSample(
        id=case,
        epoch=run.number,
        input=next((message.text for message in messages if message.role == "user"), ""),
        target="",
        messages=messages,
        output=_output(model, subject, messages),
        scores=None if run.score is None else {suite: _score(run, evaluators)},
        metadata={
            "language": run.language,
            "outcome": run.outcome,
            **_encodable(run.question.to_json()),
        },
        model_usage=_usage_by_model(model, subject, evaluators),
        error=None if run.score is not None else _error(run.error or run.outcome),
    )


def _score(run: RunRow, evaluators: Sequence[Conversation]) -> Any:
    from inspect_ai.scorer import Score

    explanation = "\n\n".join(_evaluator_answers(evaluators))
    return Score(value=run.score, explanation=explanation or None, metadata=_encodable(_run_metadata(run)))


def _run_metadata(run: RunRow) -> dict[str, JSON]:
    """The run as JSON without its conversations, which are the messages of the sample."""
    return {name: value for name, value in run.to_json().items() if name not in TRANSCRIPTS}


def _error(message: str) -> Any:
    from inspect_ai.log import EvalError

    return EvalError(message=without_surrogates(message), traceback="", traceback_ansi="")


def _messages(model: str, conversation: Conversation, ids: Iterator[str]) -> Iterator[ChatMessage]:
    """The messages of a conversation, with its name as metadata if a run has several."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    classes = {"system": ChatMessageSystem, "user": ChatMessageUser}
    metadata = {"conversation": conversation.name} if conversation.name else None
    for message in conversation.messages:
        if message["role"] == "assistant":
            yield ChatMessageAssistant(
                id=next(ids),
                content=_content(message),
                model=without_surrogates(message.get("model") or model),
                metadata=metadata,
            )
        else:
            message_class = classes.get(message["role"], ChatMessageUser)
            content = without_surrogates(str(message["content"]))
            yield message_class(id=next(ids), content=content, metadata=metadata)


def _content(message: Message) -> Any:
    from inspect_ai.model import ContentReasoning, ContentText

    text, thought = without_surrogates(str(message["content"])), message.get("reasoning")
    if not thought:
        return text
    return [ContentReasoning(reasoning=without_surrogates(str(thought))), ContentText(text=text)]


def _evaluator_answers(evaluators: Sequence[Conversation]) -> Iterator[str]:
    for conversation in evaluators:
        for reply in conversation.replies:
            yield without_surrogates(f"{conversation.name}: {reply['content']}")


def _output(model: str, subject: Sequence[Conversation], messages: Sequence[ChatMessage]) -> Any:
    from inspect_ai.model import ChatCompletionChoice, ModelOutput

    replies = [reply for item in subject for reply in item.replies]
    if not replies:
        return ModelOutput(model=model)
    last = replies[-1]
    reason = (
        "content_filter"
        if "blocked" in last
        else _STOP_REASONS.get(last.get("finish_reason") or "", "unknown")
    )
    message = [item for item in messages if item.role == "assistant"][-1]
    return ModelOutput(
        model=message.model,
        choices=[ChatCompletionChoice(message=message, stop_reason=reason)],
        usage=_usage(subject),
        time=sum(float(reply.get("latency") or 0.0) for reply in replies),
    )


def _usage(conversations: Sequence[Conversation]) -> ModelUsage | None:
    from inspect_ai.model import ModelUsage

    tokens = token_usage(conversations)
    return None if tokens is None else ModelUsage(**tokens)


def _usage_by_model(
    model: str, subject: Sequence[Conversation], evaluators: Sequence[Conversation]
) -> dict[str, ModelUsage]:
    """Usage by model, the subject's first. The usage of a subject that is also an evaluator is summed."""
    by_model: dict[str, list[Conversation]] = {model: list(subject)}
    for conversation in evaluators:
        by_model.setdefault(conversation.name, []).append(conversation)
    usages = {name: _usage(conversations) for name, conversations in by_model.items()}
    return {name: used for name, used in usages.items() if used is not None}


def _encodable(data: T) -> T:
    """The JSON without lone surrogates. It is copied only if it has any, which is rare."""
    return data if json_io.is_encodable(data) else _without_surrogates(data)


def _without_surrogates(data: JSON) -> JSON:
    if isinstance(data, Mapping):
        return {name: _without_surrogates(value) for name, value in data.items()}
    if isinstance(data, list):
        return [_without_surrogates(item) for item in data]
    return without_surrogates(data) if isinstance(data, str) else data
