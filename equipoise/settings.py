"""Every option of a session as one frozen value.

The command line comes first, then the environment, then pytest.ini, then the default.

"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from equipoise.errors import UserError
from equipoise.options import DEFAULT_BASE_URL, DEFAULT_EVALUATOR, OPTIONS, Option, parse_key, parse_url
from equipoise.types import JSON, Role

LOCAL = "local"
NO_KEY = "none"
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is reached. The key is never shown."""

    base_url: str
    api_key: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Generation parameters of one role; None is not sent."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    system_prompt: str | None = None

    def parameters(self) -> dict[str, JSON]:
        """What goes into the body of a request."""
        names = ("temperature", "top_p", "top_k", "max_tokens")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of one session, resolved. `topics` and `output` are None where the suite decides."""

    model: str | None
    evaluator_models: tuple[str, ...]
    subject_endpoint: Endpoint
    evaluator_endpoint: Endpoint
    runs: int
    limit: int | None
    languages: tuple[str, ...]
    topics: Path | None
    subject: Sampling
    evaluator: Sampling
    concurrency: int
    max_retries: int
    evaluator_attempts: int
    request_timeout: float
    keep_going: bool
    output: Path | None
    fresh: bool

    @property
    def models(self) -> tuple[str, ...]:
        """Subject first, then the panel."""
        return (self.model or "", *self.evaluator_models)

    def endpoint(self, role: Role) -> Endpoint:
        """Where a model in this role is reached (built-in models aside)."""
        return self.subject_endpoint if role == "subject" else self.evaluator_endpoint

    def sampling(self, role: Role) -> Sampling:
        """The generation parameters of this role."""
        return self.subject if role == "subject" else self.evaluator


def is_local(model: str) -> bool:
    """Whether the model is served by the built-in server."""
    return model == LOCAL or model.startswith(f"{LOCAL}:")


def resolve(
    command_line: Mapping[str, Any], environment: Mapping[str, str], ini: Mapping[str, Any]
) -> Settings:
    """The settings of a session. Raises UserError naming the source and the value.

    `command_line` and `ini` map option names to texts (to lists of texts where the option repeats).
    """
    value = {option.name: _resolve_one(option, command_line, environment, ini) for option in OPTIONS}
    subject_endpoint = Endpoint(
        base_url=value["api_base_url"] or _default_base_url(environment),
        api_key=value["api_key"] or _default_key(environment),
    )
    return Settings(
        model=value["model"],
        evaluator_models=_panel(value["model"], value["evaluator_model"]),
        subject_endpoint=subject_endpoint,
        evaluator_endpoint=_evaluator_endpoint(subject_endpoint, value),
        runs=value["runs"],
        limit=value["limit"],
        languages=tuple(value["language"]),
        topics=_path(value["topics"]),
        subject=_sampling("subject", value),
        evaluator=_sampling("evaluator", value),
        concurrency=value["concurrency"],
        max_retries=value["max_retries"],
        evaluator_attempts=value["evaluator_attempts"],
        request_timeout=value["request_timeout"],
        keep_going=value["keep_going"],
        output=_path(value["output"]),
        fresh=value["fresh"],
    )


def _resolve_one(
    option: Option, command_line: Mapping[str, Any], environment: Mapping[str, str], ini: Mapping[str, Any]
) -> Any:
    given = command_line.get(option.name)
    if given is not None:
        return _read(option, given, option.flag)
    variable, key = environment.get(option.variable), ini.get(option.name)
    # There an empty text is how people unset an option.
    if variable:
        return _read(option, variable, option.variable)
    return _read(option, key, f"pytest.ini: {option.ini}") if key else option.default


def _read(option: Option, given: Any, source: str) -> Any:
    if option.switch:
        return _switch(given, source)
    if option.many:
        texts = [given] if isinstance(given, str) else given
        parts = [part for text in texts for part in text.replace(",", " ").split() or [text]]
        return tuple(dict.fromkeys(_parse(option, part, source) for part in parts))
    return _parse(option, given, source)


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
    """The URL as an error may show it: user info and queries hold secrets."""
    return "the value" if set(url) & {"@", "?"} else repr(url)


def _default_base_url(environment: Mapping[str, str]) -> str:
    given = environment.get("OPENAI_BASE_URL")
    if not given:
        return DEFAULT_BASE_URL
    try:
        return parse_url(given)
    except ValueError as error:
        raise UserError(f"OPENAI_BASE_URL: {_shown(given)} {error}") from None


def _default_key(environment: Mapping[str, str]) -> str:
    try:
        return parse_key(environment.get("OPENAI_API_KEY", "")) or NO_KEY
    except ValueError as error:
        raise UserError(f"OPENAI_API_KEY: the value {error}") from None


def _panel(model: str | None, evaluators: tuple[str, ...]) -> tuple[str, ...]:
    if evaluators:
        return evaluators
    return (LOCAL,) if model is not None and is_local(model) else (DEFAULT_EVALUATOR,)


def _evaluator_endpoint(subject: Endpoint, value: Mapping[str, Any]) -> Endpoint:
    base_url = value["evaluator_api_base_url"] or subject.base_url
    # A key is never sent to an endpoint that it was not given for.
    fallback = subject.api_key if base_url == subject.base_url else NO_KEY
    return Endpoint(base_url=base_url, api_key=value["evaluator_api_key"] or fallback)


def _sampling(role: Role, value: Mapping[str, Any]) -> Sampling:
    names = ("temperature", "top_p", "top_k", "max_tokens", "system_prompt")
    return Sampling(**{name: value[f"{role}_{name}"] for name in names})


def _path(value: str | None) -> Path | None:
    return None if value is None else Path(value).absolute()


def describe(settings: Settings) -> list[str]:
    """The resolved settings as lines for the report header, keys masked."""
    lines = [f"subject: {settings.model} {_describe_role(settings, 'subject')}"]
    lines.append(
        f"evaluators: {', '.join(settings.evaluator_models)} {_describe_role(settings, 'evaluator')}"
    )
    names = (
        "runs",
        "limit",
        "languages",
        "concurrency",
        "max_retries",
        "evaluator_attempts",
        "request_timeout",
    )
    shown = [f"{name}={_plain(getattr(settings, name))}" for name in (*names, "keep_going", "fresh")]
    return [*lines, "session: " + " ".join(shown)]


def _describe_role(settings: Settings, role: Role) -> str:
    endpoint = settings.endpoint(role)
    key = "none" if endpoint.api_key == NO_KEY else "****"
    sent = " ".join(f"{name}={_plain(value)}" for name, value in settings.sampling(role).parameters().items())
    prompt = " system_prompt=given" if settings.sampling(role).system_prompt else ""
    models = [settings.model or ""] if role == "subject" else settings.evaluator_models
    where = "built-in server" if all(map(is_local, models)) else f"{public_url(endpoint.base_url)} key={key}"
    return f"({where}{' ' if sent else ''}{sent}{prompt})"


def _plain(value: Any) -> str:
    if value is None or value == ():
        return "all"
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def public_url(url: str) -> str:
    """The URL without user info and query, fit for files and screens."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
