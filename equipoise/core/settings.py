"""The options of a session as one frozen value, from command line, environment, files and defaults.

Knows no suite; options of suites are stored by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import urlsplit

from equipoise.core import option_files
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.gates import inconclusive_in, rules_in
from equipoise.core.options import (
    CONFIG,
    DEFAULT_BASE_URL,
    DEFAULT_EVALUATOR,
    OPTIONS,
    Option,
    parse_key,
    parse_url,
)
from equipoise.core.rules import Inconclusive, Rule, Until
from equipoise.core.types import FORMS, JSON, Form, Role, Shard

LOCAL = "local"
NO_KEY = "none"
_VALUES = re.compile(r"[^, \t\r\n]+")
"""The values of an option that repeats, in one text; str.split() takes more control characters for blanks."""
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is reached. The key is never shown; `key_source` is the option or variable that gave it.

    `takes_environment` says whether the headers are for it that OPENAI_ORG_ID, OPENAI_PROJECT_ID and
    OPENAI_CUSTOM_HEADERS ask for.
    """

    base_url: str
    api_key: str = field(repr=False)
    takes_environment: bool = True
    key_source: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The price that the user gives for a million tokens, in USD."""

    input: float
    output: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Discounted:
    """The price of calls in batches: `percent` less than others, for models without a listed batch price."""

    price: Price | None
    percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Generation parameters of one role; those that are None are not sent."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    system_prompt: str | None = None

    def parameters(self) -> dict[str, JSON]:
        """The parameters that a request's body contains."""
        names = ("temperature", "top_p", "top_k", "max_tokens")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """`--asker mirror`: in which forms, and for which share of the cases of an area, 0 to 1."""

    forms: tuple[Form, ...]
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of one session, resolved. `topics`, `rubric` and `output` are None where the suite decides.

    `suite_options` holds, by name, the options that only some suites take; `given` are the names of all that
    the user has set. `suites` are the settings of each suite by name, where a session has several.
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
    max_cost: float | None
    max_calls: int | None
    price: Price | None
    batch: tuple[Role, ...]
    batch_wait: float
    batch_discount: float
    batch_write: Path | None
    batch_read: tuple[Path, ...]
    output: Path | None
    report: Path | None
    fresh: bool
    baseline: Path | None
    gate: tuple[Rule, ...]
    gate_inconclusive: Inconclusive | None
    allow_mismatch: bool
    until: Until | None
    rejudge: Path | None
    audit: Literal["quick", "full"] | None
    config: Path | None = field(default=None, compare=False)
    given: frozenset[str] = field(default_factory=frozenset, compare=False)
    header_values: tuple[str, ...] = field(default=(), repr=False, compare=False)
    suites: Mapping[str, Settings] = field(default_factory=dict)

    def of(self, suite: str) -> Settings:
        """What holds for one suite: its own defaults where the user says nothing."""
        return self.suites.get(suite, self)

    @property
    def models(self) -> tuple[str, ...]:
        """All models, of all suites: the subject first, then the panels."""
        panels = [settings.evaluator_models for settings in self.suites.values() or [self]]
        return (self.model or "", *dict.fromkeys(name for panel in panels for name in panel))

    @property
    def asked_models(self) -> tuple[str, ...]:
        """The models that this session calls: with `--rejudge` the panels alone."""
        return self.models[1:] if self.rejudge else self.models

    @property
    def secrets(self) -> tuple[str, ...]:
        """The keys of the two endpoints, and the values of the headers that the environment asks for."""
        return self.subject_endpoint.api_key, self.evaluator_endpoint.api_key, *self.header_values

    def option(self, option: Option) -> Any:
        """The value of an option that only some suites take."""
        return self.suite_options.get(option.name, option.default)

    def endpoint(self, role: Role) -> Endpoint:
        """Where a model in this role is reached (built-in models aside)."""
        return self.subject_endpoint if role == "subject" else self.evaluator_endpoint

    def base_url(self, number: int) -> str:
        """The base URL of the model with this index in `models`."""
        return self.endpoint("evaluator" if number else "subject").base_url

    @property
    def price_in_batches(self) -> Discounted:
        """The price of calls in batches."""
        return Discounted(price=self.price, percent=self.batch_discount)

    def sampling(self, role: Role) -> Sampling:
        """The generation parameters of this role."""
        return self.subject if role == "subject" else self.evaluator


def is_local(model: str) -> bool:
    """Whether the model is served by the built-in server."""
    return model == LOCAL or model.startswith(f"{LOCAL}:")


_NOTHING: Mapping[str, Any] = MappingProxyType({})


def resolve_suites(
    command_line: Mapping[str, Any],
    environment: Mapping[str, str],
    ini: Mapping[str, Any],
    defaults: Mapping[str, Mapping[str, Any]],
    suite_options: Sequence[Option] = (),
    origins: Mapping[str, str] = _NOTHING,
) -> Settings:
    """The settings of a session of these suites, whose `defaults` are by name. Raises UserError."""

    def settings(own: Mapping[str, Any]) -> Settings:
        return resolve(command_line, environment, ini, own, suite_options, origins)

    suites = {name: settings(own) for name, own in defaults.items()}
    return next(iter(suites.values())) if len(suites) == 1 else replace(settings(_NOTHING), suites=suites)


def resolve(
    command_line: Mapping[str, Any],
    environment: Mapping[str, str],
    ini: Mapping[str, Any],
    defaults: Mapping[str, Any] = _NOTHING,
    suite_options: Sequence[Option] = (),
    origins: Mapping[str, str] = _NOTHING,
) -> Settings:
    """The settings of a session. Raises UserError naming the source and the value.

    `command_line` and `ini` map option names to texts (to lists of texts where the option repeats);
    `defaults` holds those values that a suite has of its own, None as its evaluators where it asks none, and
    `suite_options` are those of all suites.
    `origins` is what errors call variables that come from a file. A file that --config names comes before
    `ini`.
    """
    options = (*OPTIONS, *suite_options)
    sources = _with_config(_Sources(command_line, environment, ini, origins), options)
    found = ((option, sources.value(option)) for option in options)
    given = {option.name: (_read(option, *said), said[1]) for option, said in found if said}
    usual = {option.name: option.default for option in options}
    value = {**usual, **defaults, **{name: said for name, (said, _) in given.items()}}
    source = {name: where for name, (_, where) in given.items()}
    if is_local(value["model"] or "") and "subject_max_tokens" not in given:
        # A suite's length is meant for other models: the built-in server has a limit of its own.
        value["subject_max_tokens"] = None
    subject_endpoint = Endpoint(
        base_url=value["api_base_url"] or _default_base_url(environment, origins),
        api_key=value["api_key"] or _default_key(environment, origins),
        key_source=source.get("api_key", origins.get("OPENAI_API_KEY", "OPENAI_API_KEY")),
    )
    return Settings(
        model=value["model"],
        evaluator_models=()
        if defaults.get("evaluator_model", ()) is None
        else _panel(value["model"], "evaluator_model" in given, value["evaluator_model"]),
        subject_endpoint=subject_endpoint,
        evaluator_endpoint=_evaluator_endpoint(subject_endpoint, value, source),
        runs=value["runs"],
        limit=value["limit"],
        shard=value["shard"],
        languages=tuple(value["language"]),
        asker=_mirror(value, source),
        suite_options={option.name: value[option.name] for option in suite_options},
        topics=_path(value["topics"]),
        rubric=_path(value["rubric"]),
        subject=_sampling("subject", value),
        evaluator=_sampling("evaluator", value),
        concurrency=value["concurrency"],
        max_retries=value["max_retries"],
        evaluator_attempts=value["evaluator_attempts"],
        request_timeout=value["request_timeout"],
        max_wait=value["max_wait"],
        max_response_size=value["max_response_size"],
        case_timeout=value["case_timeout"],
        keep_going=value["keep_going"],
        estimate=value["estimate"],
        max_cost=value["max_cost"],
        max_calls=value["max_calls"],
        price=_price(value["price_input"], value["price_output"]),
        batch=value["batch"],
        batch_wait=value["batch_wait"],
        batch_discount=value["batch_discount"],
        batch_write=_path(value["batch_write"]),
        batch_read=tuple(Path(name).absolute() for name in value["batch_read"]),
        output=_path(value["output"]),
        report=_path(value["report"]),
        fresh=value["fresh"],
        baseline=_path(value["baseline"]),
        gate=rules_in(value["gate"]),
        gate_inconclusive=value["gate_inconclusive"] or inconclusive_in(value["gate"]),
        allow_mismatch=value["allow_mismatch"],
        until=value["until"],
        rejudge=_path(value["rejudge"]),
        audit=value["audit"],
        config=value["config"],
        given=frozenset(given) - {"config"},
        header_values=_header_values(environment),
    )


@dataclass(frozen=True, slots=True)
class _Sources:
    """Where values come from. `origins` is what errors call those variables and keys that are from a file."""

    command_line: Mapping[str, Any]
    environment: Mapping[str, str]
    ini: Mapping[str, Any]
    origins: Mapping[str, str]

    def value(self, option: Option) -> tuple[Any, str] | None:
        """The value that the user gives for an option, and its source."""
        given = self.command_line.get(option.name)
        if given is not None:
            return given, option.flag
        variable, key = self.environment.get(option.variable), self.ini.get(option.name)
        # There an empty text is how people unset an option.
        if variable:
            return variable, self.origins.get(option.variable, option.variable)
        return (key, self.origins.get(option.name, f"pytest.ini: {option.ini}")) if key else None


def _with_config(sources: _Sources, options: Sequence[Option]) -> _Sources:
    """These, with the options in the file that --config names before those of pytest.ini."""
    given = sources.value(CONFIG)
    if given is None:
        return sources
    path = _read(CONFIG, *given)
    values = option_files.config(path, options)
    names = {name: f"{shown(path)}: {name.replace('_', '-')}" for name in values}
    return replace(sources, ini={**sources.ini, **values}, origins={**sources.origins, **names})


def _read(option: Option, given: Any, source: str) -> Any:
    if option.switch:
        return _switch(given, source)
    if option.many:
        texts = [given] if isinstance(given, str) else given
        parts = [part for text in texts for part in _values(text)]
        return tuple(dict.fromkeys(_parse(option, part, source) for part in parts))
    return _parse(option, given, source)


def _values(text: str) -> list[str]:
    """The values in one text; the name of a file may have spaces."""
    return [text] if Path(text).is_file() else _VALUES.findall(text) or [text]


def _switch(given: Any, source: str) -> bool:
    text = str(given).strip().lower()
    if text not in _TRUE | _FALSE:
        raise UserError(f"{source}: {given!r} is neither true nor false")
    return text in _TRUE


def _parse(option: Option, given: str, source: str) -> Any:
    if not given.strip():
        raise UserError(f"{source}: the value is empty; give one or leave the option out")
    try:
        return option.parse(given)
    except ValueError as error:
        shown = "the value" if option.is_secret else _shown(given) if option.metavar == "URL" else repr(given)
        raise UserError(f"{source}: {shown} {error}") from None


def _shown(url: str) -> str:
    """The URL as an error may show it: user info and query may contain secrets."""
    return "the value" if set(url) & {"@", "?"} else repr(url)


def _default_base_url(environment: Mapping[str, str], origins: Mapping[str, str]) -> str:
    given = environment.get("OPENAI_BASE_URL")
    if not given:
        return DEFAULT_BASE_URL
    try:
        return parse_url(given)
    except ValueError as error:
        name = origins.get("OPENAI_BASE_URL", "OPENAI_BASE_URL")
        raise UserError(f"{name}: {_shown(given)} {error}") from None


def _default_key(environment: Mapping[str, str], origins: Mapping[str, str]) -> str:
    try:
        return parse_key(environment.get("OPENAI_API_KEY", "")) or NO_KEY
    except ValueError as error:
        raise UserError(f"{origins.get('OPENAI_API_KEY', 'OPENAI_API_KEY')}: the value {error}") from None


def _header_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the headers that the SDK's variables ask for, and the credentials within them."""
    lines = environment.get("OPENAI_CUSTOM_HEADERS", "").splitlines()
    named = [line.partition(":")[2] for line in lines]
    named += [environment.get(name, "") for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID")]
    values = [value.strip() for value in named if value.strip()]
    bare = [value.removeprefix("Bearer ").removeprefix("Basic ").strip() for value in values]
    return tuple(dict.fromkeys([*values, *bare]))


def _panel(model: str | None, is_given: bool, panel: tuple[str, ...]) -> tuple[str, ...]:
    if is_given and panel:
        return tuple(panel)
    return (LOCAL,) if model is not None and is_local(model) else panel or (DEFAULT_EVALUATOR,)


def _evaluator_endpoint(subject: Endpoint, value: Mapping[str, Any], source: Mapping[str, str]) -> Endpoint:
    base_url = value["evaluator_api_base_url"] or subject.base_url
    # A key is never sent to an endpoint that it was not given for.
    is_the_same = base_url == subject.base_url
    fallback = subject.api_key if is_the_same else NO_KEY
    return Endpoint(
        base_url=base_url,
        api_key=value["evaluator_api_key"] or fallback,
        takes_environment=is_the_same,
        key_source=source.get("evaluator_api_key", subject.key_source),
    )


def _sampling(role: Role, value: Mapping[str, Any]) -> Sampling:
    names = ("temperature", "top_p", "top_k", "max_tokens")
    prompt, from_file = value[f"{role}_system_prompt"], value[f"{role}_system_prompt_file"]
    if prompt is not None and from_file is not None:
        raise UserError(f"--{role}-system-prompt and --{role}-system-prompt-file: give one of them")
    return Sampling(
        **{name: value[f"{role}_{name}"] for name in names},
        system_prompt=from_file if prompt is None else prompt,
    )


def _price(per_input: float | None, per_output: float | None) -> Price | None:
    if per_input is None and per_output is None:
        return None
    if per_input is None or per_output is None:
        raise UserError("--price-input and --price-output: give both, or neither")
    return Price(input=per_input, output=per_output)


def _mirror(value: Mapping[str, Any], source: Mapping[str, str]) -> Mirror | None:
    if value["asker"] is None:
        # In a file it is a default for sessions that have --asker.
        for flag in ("--asker-form", "--asker-share"):
            if flag in source.values():
                raise UserError(f"{flag}: is about --asker mirror; give that, too, or leave it out")
        return None
    form = value["asker_form"]
    forms = FORMS if form == "both" else tuple(item for item in FORMS if item == form)
    return Mirror(forms=forms, share=value["asker_share"])


def _path(value: str | None) -> Path | None:
    return None if value is None else Path(value).absolute()


def public_url(url: str) -> str:
    """The URL without user info and query, safe to save and to show."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
