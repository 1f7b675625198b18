"""The settings of a session as one frozen value. The values of options of suites are stored by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict
from urllib.parse import urlsplit

from equipoise.core.options import Option
from equipoise.core.rules import InconclusiveCountsAs, Rule, Until
from equipoise.core.types import JSON, PARAMETERS, Form, Role, Shard

LOCAL = "local"
NO_KEY = "none"


BATCH_DISCOUNT = 50.0
"""Default discount on calls in batches, in percent, which nearly all endpoints grant."""
FILE = "file"
"""Takes the place of an endpoint's URL where calls were answered from files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The endpoint of a model.

    The key is never shown; `key_source` names the option or variable that set it. `takes_environment` says
    whether the headers set by OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS are sent to it.
    `headers` are the names, in lower case, and values of --header. The URL may have a query.
    """

    base_url: str
    api_key: str = field(repr=False)
    takes_environment: bool = True
    key_source: str = field(default="", compare=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def url(self, path: str) -> str:
        """The URL of a path at this endpoint, before the query."""
        base, mark, query = self.base_url.partition("?")
        return f"{base}/{path}{mark}{query}"


class Price(TypedDict):
    """The price that the user set, in USD per million tokens."""

    input: float
    output: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Discounted:
    """The price of batched calls to models without a listed price for batches.

    It is `percent` less than the usual price: the listed price, or `price`, the user's, if none is listed.
    """

    price: Price | None
    percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """The generation parameters of one role. A parameter that is None is not sent.

    `extra_body` are further fields of the body. `headers` are those sent with every call, as recorded
    in results: secret values are masked.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    extra_body: Mapping[str, JSON] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    system_prompt: str | None = None

    def parameters(self) -> dict[str, JSON]:
        """The parameters for the body of a request, without those that are None."""
        return {**self._named(), **self.extra_body}

    def to_json(self) -> dict[str, JSON]:
        """The parameters as results record them."""
        more = {"extra_body": dict(self.extra_body), "headers": dict(self.headers)}
        return {**self._named(), **{name: value for name, value in more.items() if value}}

    def _named(self) -> dict[str, JSON]:
        return {name: getattr(self, name) for name in PARAMETERS if getattr(self, name) is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """The settings of `--asker mirror`: the forms of cues, and the share of cases of each area, 0 to 1."""

    forms: tuple[Form, ...]
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The resolved settings of one session: a field for each option, or for several options together.

    `topics`, `rubric` and `output` are None if the suite decides. `suite_options` has the values of options
    of suites, by name. `options_set` has the names of the options that the user has set. If a session has
    several suites, `suites` has the settings of each by name. `header_values` are secrets in HTTP headers.
    """

    model: str | None
    evaluator_models: tuple[str, ...]
    subject_endpoint: Endpoint
    evaluator_endpoint: Endpoint
    runs: int | None
    limit: int | None
    shard: Shard | None
    languages: tuple[str, ...]
    asker: Mirror | None
    suite_options: Mapping[str, Any]
    topics: Path | None
    rubric: Path | None
    subject: Sampling
    evaluator: Sampling
    concurrency: int
    max_retries: int
    evaluator_attempts: int
    request_timeout: float
    max_wait: float
    max_response_size: float
    case_timeout: float
    keep_going: bool
    estimate: bool
    show_prompts: int | None
    max_cost: float | None
    max_calls: int | None
    price: Price | None
    output: Path | None
    report: Path | None
    fresh: bool
    baseline: Path | None
    gate: tuple[Rule, ...]
    gate_inconclusive: InconclusiveCountsAs | None
    allow_mismatch: bool
    until: Until | None
    audit: Literal["quick", "full"] | None
    batch: tuple[Role, ...] = ()
    batch_wait: float = 0.0
    batch_discount: float = BATCH_DISCOUNT
    batch_write: Path | None = None
    batch_read: tuple[Path, ...] = ()
    replies: Path | None = None
    config: Path | None = field(default=None, compare=False)
    options_set: frozenset[str] = field(default_factory=frozenset, compare=False)
    header_values: tuple[str, ...] = field(default=(), repr=False, compare=False)
    suites: Mapping[str, Settings] = field(default_factory=dict)

    def of(self, suite: str) -> Settings:
        """The settings of one suite, with its own defaults for options that the user has not set."""
        return self.suites.get(suite, self)

    @property
    def models(self) -> tuple[str, ...]:
        """The models of all suites: first the subject (empty if not set), then the evaluators, each once."""
        panels = [settings.evaluator_models for settings in self.suites.values() or [self]]
        return (self.model or "", *dict.fromkeys(name for panel in panels for name in panel))

    @property
    def makes_calls(self) -> bool:
        """Whether models are called; false if only an estimate or prompts are shown."""
        return not self.estimate and self.show_prompts is None

    @property
    def asked_models(self) -> tuple[str, ...]:
        """The models that this session calls. With `--replies`, these are the evaluators alone."""
        return self.models[1:] if self.replies else self.models

    @property
    def secrets(self) -> tuple[str, ...]:
        """The keys of both endpoints, and the values of HTTP headers set by the environment."""
        return self.subject_endpoint.api_key, self.evaluator_endpoint.api_key, *self.header_values

    def option(self, option: Option) -> Any:
        """The value of an option of suites."""
        return self.suite_options.get(option.name, option.default)

    def endpoint(self, role: Role) -> Endpoint:
        """The endpoint for this role. Built-in models do not use it."""
        return self.subject_endpoint if role == "subject" else self.evaluator_endpoint

    def base_url(self, number: int) -> str:
        """The base URL of the model with this index in `models`."""
        return self.endpoint("evaluator" if number else "subject").base_url

    @property
    def price_in_batches(self) -> Discounted:
        """The price of calls in batches."""
        return Discounted(price=self.price, percent=self.batch_discount)

    @property
    def file_roles(self) -> tuple[Role, ...]:
        """The roles whose calls are answered from files."""
        batched = self.batch if self.batch_write or self.batch_read else ()
        return tuple(dict.fromkeys((*batched, "subject"))) if self.replies else batched

    def sampling(self, role: Role) -> Sampling:
        """The generation parameters of this role."""
        return self.subject if role == "subject" else self.evaluator


def is_local(model: str) -> bool:
    """Whether the model is served by the built-in server."""
    return model == LOCAL or model.startswith(f"{LOCAL}:")


def public_url(url: str) -> str:
    """The URL without user info, safe to save and to show: `parse_url` refuses secrets in a query."""
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}{query}"
