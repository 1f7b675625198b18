"""What `equipoise check` finds about models and suites, as lines of text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from equipoise.core.types import JSON
from equipoise.models.probe import Feature, Support
from equipoise.suites.contract import VerdictForm

_FEATURES = {
    "JSON by schema": "schema",
    "token probabilities": "probabilities",
    "system prompt": "system_prompt",
    "token limit": "token_limit",
}
_THOUGHTS = {
    "none": "none seen",
    "apart": "apart from the answer",
    "hidden": "hidden, but counted as tokens",
}
_SUPPORT_STATES = {"yes": "yes", "no": "no", "unknown": "unclear"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedModel:
    """A model and its roles. `endpoint` is a URL without credentials.

    `price` is USD per million input tokens, and per million output tokens.
    """

    model: str
    roles: Sequence[str]
    endpoint: str
    support: Support
    price: tuple[float, float] | None

    def lines(self) -> Iterator[str]:
        """Lines on the features that the model's endpoint supports."""
        yield f"{' and '.join(self.roles)}: {self.model} ({self.endpoint})"
        rows = self._feature_rows() if self.support.error is None else self._failure_rows()
        yield from (f"  {name:<21}{text}" for name, text in rows)

    def _failure_rows(self) -> Iterator[tuple[str, str]]:
        yield "answers", f"no: {self.support.error}"
        yield "price", self._describe_price()

    def _feature_rows(self) -> Iterator[tuple[str, str]]:
        support = self.support
        answered_as = f", as {support.answered_as}" if support.answered_as else ""
        yield "answers", f"yes, in {support.latency or 0:.1f} s{answered_as}"
        for label, name in _FEATURES.items():
            feature: Feature = getattr(support, name)
            yield label, f"{_SUPPORT_STATES[feature.state]}: {feature.seen}"
        yield "thoughts", _THOUGHTS[support.thoughts]
        yield "token counts", "reported" if support.is_metered else "not reported: costs are estimated"
        for change in support.changes:
            yield "parameter", f"{change.parameter} {change.action}: {change.reason}"
        limits = ", ".join(f"{name}: {value}" for name, value in support.rate_limits.items())
        yield "rate limits", limits or "none in the headers"
        yield "price", self._describe_price()

    def _describe_price(self) -> str:
        if self.price is None:
            return "unknown: give --price-input and --price-output"
        if not any(self.price):
            return "free"
        return "{:,.2f} USD in, {:,.2f} USD out for a million tokens".format(*self.price)

    def to_json(self) -> dict[str, JSON]:
        """The model's entry in the output of `--json`."""
        return {
            "model": self.model,
            "roles": list(self.roles),
            "endpoint": self.endpoint,
            "price_per_million": self.price and dict(zip(("input", "output"), self.price, strict=True)),
            **asdict(self.support),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSuite:
    """The estimate of a whole session of a suite: `session` in words, `figures` as plain data.

    `models_by_meaning` has the evaluators, grouped by their `meaning` for the suite.
    """

    suite: str
    models_by_meaning: Mapping[str, Sequence[str]]
    session: str
    figures: Mapping[str, JSON]

    def lines(self) -> Iterator[str]:
        """A line on the session, then a line for each meaning with its evaluators."""
        yield f"{self.suite}: {self.session}"
        yield from (f"  {', '.join(models)}: {text}" for text, models in self.models_by_meaning.items())

    def to_json(self) -> dict[str, JSON]:
        """The suite's entry in the output of `--json`."""
        meanings = {model: text for text, models in self.models_by_meaning.items() for model in models}
        return {"suite": self.suite, "models": meanings, **self.figures}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedTotal:
    """The estimate of whole sessions of all suites together; `basis` says how their time was estimated."""

    suites: int
    session: str
    basis: str
    figures: Mapping[str, JSON]

    def lines(self) -> Iterator[str]:
        """The sums if there is more than one suite, then the basis."""
        if self.suites > 1:
            yield f"total: {self.session}"
        yield f"time: {self.basis}"

    def to_json(self) -> dict[str, JSON]:
        """The entry `total` in the output of `--json`."""
        return {**self.figures, "basis": self.basis}


def meaning(form: VerdictForm, support: Support) -> str:
    """What an evaluator's support means for a suite that asks for verdicts of this form."""
    if support.error is not None:
        return "cannot judge, as it does not answer"
    if form == "label":
        return "grades by the letter that it writes"
    if form == "json":
        if support.schema.state == "yes":
            return "gives verdicts by the schema"
        return "gives verdicts without a schema; invalid ones are asked for again"
    if support.probabilities.state == "yes":
        return "grades by token probabilities"
    return "grades by the label that it writes, or by N (--label-samples N): it gives no token probabilities"


def lines(
    models: Sequence[CheckedModel], suites: Sequence[CheckedSuite], total: CheckedTotal
) -> Iterator[str]:
    """Lines on all models, then on all suites."""
    for model in models:
        yield from model.lines()
        yield ""
    yield "whole sessions, with nothing done yet:"
    for suite in suites:
        yield from suite.lines()
    if total.suites:
        yield from total.lines()
