"""Scores common to several suites: by how replies end, and by verdicts that are levels of a scale. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.records import Outcome, Score, Verdict
from equipoise.core.types import JSON, Reply
from equipoise.judge.rubric import Scale
from equipoise.stats import mean

_REASONS: Mapping[Outcome, str] = {
    "blocked": "the provider's filter let no answer through",
    "empty": "the answer is empty",
    "refused": "the reply declines to answer",
}


def outcome_of(*replies: Reply) -> Outcome:
    """The outcome of a run by its replies: blocked, empty or truncated if one of them is so, else scored."""
    if any(reply.blocked for reply in replies):
        return "blocked"
    if any(not reply.text.strip() for reply in replies):
        return "empty"
    return "truncated" if any(reply.is_truncated for reply in replies) else "scored"


def no_score(outcome: Outcome, error: str | None = None, details: Mapping[str, JSON] | None = None) -> Score:
    """The result of a run without a score. For blocked, empty and refused runs, the outcome is the reason."""
    return Score(outcome=outcome, value=None, error=error or _REASONS[outcome], details=details or {})


def mean_score(reply: Reply, verdicts: Sequence[Verdict], scale: Scale) -> Score:
    """The mean of the field `score` of the valid verdicts; refused if most of them say so in `refused`."""
    valid = [verdict.fields for verdict in verdicts if verdict.fields is not None]
    value = mean([fields["score"] for fields in valid])
    if value is None:
        reasons = (f"{item.evaluator}: {item.error} ({item.attempts} attempts)" for item in verdicts)
        error = f"no valid verdict: {'; '.join(reasons)}"
        return Score(outcome="unscored", value=None, verdicts=tuple(verdicts), error=error)
    outcome = outcome_of(reply)
    if outcome == "scored" and 2 * sum(fields.get("refused") is True for fields in valid) > len(valid):
        outcome = "refused"
    return Score(outcome=outcome, value=value, percent=scale.percent(value), verdicts=tuple(verdicts))
