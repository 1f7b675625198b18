"""Audits of evaluators in results: made from a journal's verdicts on anchors, or copied into the journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import structs

from equipoise.core.quantities import first_few
from equipoise.core.types import JSON
from equipoise.results.answered import REPORTED_KEYS
from equipoise.results.history import History
from equipoise.suites import AnySuite
from equipoise.suites.audits import SuiteAudit

if TYPE_CHECKING:
    from equipoise.judge.anchors import Check, Judged
    from equipoise.results.document import Audit, AuditedModel, JudgedAnchor, Sampling

FOLDER = "audits"
"""The folder with files of audits, in the folder of the results."""
_SAMPLING_KEYS = ("temperature", "top_p", "top_k", "reasoning_effort", "extra_body")
_ROUNDED = ("value", "low", "high", "sound", "tolerance", "chance")
_TEXT_KEYS = ("topic", "language", "kind", "host", "aspect")


def make(
    suite: AnySuite,
    source: Literal["session", "kept"],
    verdicts: Sequence[Sequence[Judged]],
    models: Iterable[tuple[str | None, ...]],
    order: Sequence[Sequence[str]],
    *,
    extent: str,
    finished: str | None,
    planned: int,
    rubric_version: str,
    rubric_hash: str,
    anchors_hash: str,
    sampling: Sampling,
    system_prompt: str | None,
    is_running: bool = False,
) -> Audit:
    """The audit of one evaluator from its verdicts, of which `planned` make it complete.

    It has no checks while verdicts are missing or the session is running. `models` are the models that
    answered. `order` has pairs of kinds of texts: the first kind should score above the second.
    """
    audit: Audit = {
        "state": "complete" if len(verdicts) == planned else "incomplete",
        "source": source,
        "extent": extent,
        "finished": finished,
        "verdicts": len(verdicts),
        "planned": planned,
        "rubric_version": rubric_version,
        "rubric_hash": rubric_hash,
        "anchors_hash": anchors_hash,
        "response_models": _reported_models(models),
        "sampling": sampling,
        "system_prompt": system_prompt,
        "differs": [],
        "checks": [],
        "lean_by_language": {},
        "judged": [],
    }
    if audit["state"] == "complete" and not is_running:
        _conclude(audit, suite, order, list(chain.from_iterable(verdicts)))
    return audit


def _conclude(
    audit: Audit, suite: AnySuite, order: Sequence[Sequence[str]], judged: Sequence[Judged]
) -> None:
    # Imported here: numpy and scipy are slow to load.
    from equipoise.judge.checks import lean_by_language, levels

    assert suite.audit is not None
    leans = lean_by_language(judged, suite.audit.mirrors)
    audit["checks"] = checks(suite.audit, judged, order)
    audit["lean_by_language"] = {language: _rounded(check) for language, check in leans.items() if check.n}
    audit["judged"] = _group_by_text(judged)
    # Only scores on a scale can be called high or low.
    if suite.judging.has_means:
        audit["levels"] = {kind: _rounded(check) for kind, check in levels(judged).items() if check.n}


def checks(audited: SuiteAudit[Any], judged: Sequence[Judged], order: Sequence[Sequence[str]]) -> list[Check]:
    """The checks of all verdicts of one evaluator, rounded as in results."""
    return [_rounded(check) for check in audited.checks(judged, [(above, below) for above, below in order])]


def by_evaluator(suite: AnySuite, history: History, *, is_running: bool = False) -> dict[str, Audit | None]:
    """The audit of each evaluator of a journal; None for an evaluator that was not audited."""
    return {
        str(name): _compared_audit(suite, history, name, is_running=is_running)
        for name in history.settings["evaluator_models"]
    }


def _compared_audit(suite: AnySuite, history: History, evaluator: str, *, is_running: bool) -> Audit | None:
    """The audit that the journal's sessions made, or a kept one, and how the evaluator differs from it."""
    audit = _journal_audit(suite, history, evaluator, is_running=is_running)
    audit = audit or history.kept_audits.get(evaluator)
    if audit is None or (audit["source"] == "session" and (is_running or audit["state"] == "incomplete")):
        return audit
    return {**audit, "differs": _differences(history, evaluator, audit)}


def _group_by_text(judged: Sequence[Judged]) -> list[JudgedAnchor]:
    texts: dict[tuple[str | None, ...], JudgedAnchor] = {}
    for row in judged:
        text = (row.topic, row.language, row.kind, row.host, row.aspect)
        about = cast("JudgedAnchor", {**dict(zip(_TEXT_KEYS, text, strict=True)), "scores": []})
        texts.setdefault(text, about)["scores"].append(row.score)
    return list(texts.values())


# The audit in a journal.


def verdict_name(evaluator: str, anchor: str, repeat: int) -> str:
    """The name of one verdict in the journal, used in place of a run's id."""
    return f"audit-{evaluator}-{anchor}-{repeat}"


def missing(history: History, evaluator: str) -> list[str]:
    """The names of an evaluator's verdicts that the planned audit still needs."""
    return [name for name in _planned_names(history, evaluator) if name not in history.anchors]


def _planned_names(history: History, evaluator: str) -> list[str]:
    planned = history.audit.anchors if history.audit else {}
    return [verdict_name(evaluator, anchor, n) for anchor, times in planned.items() for n in range(times)]


def _journal_audit(suite: AnySuite, history: History, evaluator: str, *, is_running: bool) -> Audit | None:
    """The audit made by the sessions of a journal; None without one."""
    plan, settings = history.audit, history.settings
    if plan is None or suite.audit is None:
        return None
    names = _planned_names(history, evaluator)
    lines = [history.anchors[name] for name in names if name in history.anchors]
    return make(
        suite,
        "session",
        [line.judged for line in lines],
        (row for line in lines for row in line.seen),
        plan.order,
        extent=plan.extent,
        finished=max((line.at for line in lines), default=None),
        planned=len(names),
        rubric_version=settings["rubric_version"],
        rubric_hash=settings["rubric_hash"],
        anchors_hash=plan.anchors_hash,
        sampling=settings["evaluator_sampling"],
        system_prompt=settings["evaluator_system_prompt"],
        is_running=is_running,
    )


def _rounded(check: Check) -> Check:
    """The check with rounded figures, as in results.

    `p` is not rounded: rounding could move it to the other side of its level.
    """
    from equipoise.results.summary import to_plain_json

    return structs.replace(check, **{name: to_plain_json(getattr(check, name)) for name in _ROUNDED})


def _reported_models(rows: Iterable[tuple[str | None, ...]]) -> list[AuditedModel]:
    """The distinct models, fingerprints and providers that an endpoint reported."""
    unique = sorted(set(rows), key=lambda row: [str(value) for value in row])
    return [
        {"response_model": model, "system_fingerprint": fingerprint, "provider": provider}
        for model, fingerprint, provider in unique
    ]


# Differences between the evaluator of a journal and the audited one.


def _differences(history: History, evaluator: str, audit: Audit) -> list[str]:
    """A phrase for each difference between the evaluator of this journal and the audited one."""
    now = [model[2:] for model in history.totals.reported if model[:2] == ("evaluator", evaluator)]
    return [
        *_model_differences(audit["response_models"], now),
        *_sampling_differences(audit, history.settings),
    ]


def _model_differences(
    then: Sequence[Mapping[str, Any]], now: Sequence[tuple[str | None, ...]]
) -> Iterator[str]:
    for index, name in enumerate(REPORTED_KEYS[:2]):
        before, after = {row[name] for row in then}, {row[index] for row in now}
        if before and after - before:
            yield f"the {name.replace('_', ' ')} was {_join_names(before)}, now {_join_names(after)}"


def _join_names(names: set[str | None]) -> str:
    return first_few(sorted("unknown" if name is None else name for name in names), 3)


def _sampling_differences(audit: Audit, settings: Mapping[str, JSON]) -> Iterator[str]:
    for name in _SAMPLING_KEYS:
        before, after = (item.get(name) for item in (audit["sampling"], settings["evaluator_sampling"]))
        if before != after:
            yield f"its {name} was {_shown_value(before)}, now {_shown_value(after)}"
    if audit["system_prompt"] != settings["evaluator_system_prompt"]:
        yield "its system prompt was different"


def _shown_value(value: JSON) -> str:
    if value is None:
        return "not sent"
    return f"{value:g}" if isinstance(value, int | float) else f"{value}"
