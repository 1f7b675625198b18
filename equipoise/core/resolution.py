"""Resolves the settings of a session from command line, environment, files and defaults.

The order is that of precedence, the highest first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from equipoise.core import option_files
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.gates import inconclusive_in, rules_in
from equipoise.core.options import ROLES, Option, is_secret_name, parse_key, parse_url
from equipoise.core.session_options import CONFIG, DEFAULT_BASE_URL, DEFAULT_EVALUATOR, OPTIONS
from equipoise.core.settings import (
    LOCAL,
    NO_KEY,
    Endpoint,
    Mirror,
    Price,
    Sampling,
    Settings,
    is_local,
)
from equipoise.core.types import FORMS, PARAMETERS, Role

_ONE_VALUE = re.compile(r"[^, \t\r\n]+")
"""One of the values in a text. Not str.split(), which would also split at other control characters."""
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}
_FIELDS = {item.name for item in fields(Settings)}
_NOTHING: Mapping[str, Any] = MappingProxyType({})


def resolve_suites(
    command_line: Mapping[str, Any],
    environment: Mapping[str, str],
    ini: Mapping[str, Any],
    defaults: Mapping[str, Mapping[str, Any]],
    more_options: Sequence[Option] = (),
    origins: Mapping[str, str] = _NOTHING,
) -> Settings:
    """The settings of a session of these suites, with the `defaults` of each suite by its name.

    With several suites, the field `suites` has the settings of each. Raises UserError.
    """

    def settings(suite_defaults: Mapping[str, Any]) -> Settings:
        return resolve(command_line, environment, ini, suite_defaults, more_options, origins)

    suites = {name: settings(suite_defaults) for name, suite_defaults in defaults.items()}
    return next(iter(suites.values())) if len(suites) == 1 else replace(settings(_NOTHING), suites=suites)


def resolve(
    command_line: Mapping[str, Any],
    environment: Mapping[str, str],
    ini: Mapping[str, Any],
    defaults: Mapping[str, Any] = _NOTHING,
    more_options: Sequence[Option] = (),
    origins: Mapping[str, str] = _NOTHING,
) -> Settings:
    """The settings of a session. Raises UserError naming the source and the value.

    `command_line` and `ini` map option names to texts, or to lists of texts if the option is repeatable.
    `defaults` has the suite's own default values; its `evaluator_model` is None if the suite uses no
    evaluators. `more_options` are those of transports and of all suites. `origins` has the names that error
    messages use for variables set by a file. The file of --config takes precedence over `ini`.
    """
    options = (*OPTIONS, *more_options)
    sources = _with_config(_Sources(command_line, environment, ini, origins), options)
    explicit: dict[str, Any] = {}
    source_names: dict[str, str] = {}
    for option in options:
        if raw_and_source := sources.value(option):
            explicit[option.name] = _parse_raw(option, *raw_and_source)
            source_names[option.name] = raw_and_source[1]
    values = {**{option.name: option.default for option in options}, **defaults, **explicit}
    if is_local(values["model"] or "") and "subject_max_tokens" not in explicit:
        # The suite's default is not meant for the built-in server, which has a limit of its own.
        values["subject_max_tokens"] = None
    subject = _subject_endpoint(values, source_names, environment, origins)
    has_no_panel = defaults.get("evaluator_model", ()) is None
    combined = {
        "evaluator_models": () if has_no_panel else _panel(values, "evaluator_model" in explicit),
        "subject_endpoint": subject,
        "evaluator_endpoint": _evaluator_endpoint(subject, values, source_names),
        "languages": values["language"],
        "asker": _mirror(values, source_names),
        "suite_options": {
            option.name: values[option.name] for option in more_options if option.name not in _FIELDS
        },
        "subject": _sampling("subject", values),
        "evaluator": _sampling("evaluator", values),
        "price": _price(values["price_input"], values["price_output"]),
        "gate": rules_in(values["gate"]),
        "gate_inconclusive": values["gate_inconclusive"] or inconclusive_in(values["gate"]),
        "options_set": frozenset(explicit) - {"config"},
        "header_values": (*_header_values(environment), *_secret_headers(values)),
    }
    own_fields = {option.name: values[option.name] for option in options if option.name in _FIELDS}
    return Settings(**{**own_fields, **combined})


@dataclass(frozen=True, slots=True)
class _Sources:
    """The sources of option values. `origins` is as in `resolve`, and also has keys of the --config file."""

    command_line: Mapping[str, Any]
    environment: Mapping[str, str]
    ini: Mapping[str, Any]
    origins: Mapping[str, str]

    def value(self, option: Option) -> tuple[Any, str] | None:
        """The raw value of an option and the name of its source; None if the user has not set it."""
        argument = self.command_line.get(option.name)
        if argument is not None:
            return argument, option.flag
        variable, key = self.environment.get(option.variable), self.ini.get(option.name)
        # In variables and ini files, an empty text unsets an option.
        if variable:
            return variable, self.origins.get(option.variable, option.variable)
        return (key, self.origins.get(option.name, f"pytest.ini: {option.ini_key}")) if key else None


def _with_config(sources: _Sources, options: Sequence[Option]) -> _Sources:
    """The sources with the options of the file that --config names, which override those of pytest.ini."""
    config = sources.value(CONFIG)
    if config is None:
        return sources
    path = _parse_raw(CONFIG, *config)
    values = option_files.read_config(path, options)
    names = {name: f"{shown(path)}: {name.replace('_', '-')}" for name in values}
    return replace(sources, ini={**sources.ini, **values}, origins={**sources.origins, **names})


def _parse_raw(option: Option, raw: Any, source: str) -> Any:
    if option.switch:
        return _parse_switch(raw, source)
    if option.many:
        texts = [raw] if isinstance(raw, str) else raw
        parts = [part for text in texts for part in _split_values(option, text)]
        # A repeated value counts once.
        return tuple(dict.fromkeys(_parse_text(option, part, source) for part in parts))
    return _parse_text(option, raw, source)


def _split_values(option: Option, text: str) -> list[str]:
    """The values in one text. The name of an existing file is not split: it may contain spaces."""
    if option.by_line:
        return text.splitlines() or [text]
    # Not Path.is_file, which raises an error for a text that is longer than any path.
    is_file = os.path.isfile(os.path.expanduser(text))
    return [text] if is_file else _ONE_VALUE.findall(text) or [text]


def _parse_switch(raw: Any, source: str) -> bool:
    text = str(raw).strip().lower()
    if text not in _TRUE | _FALSE:
        raise UserError(f"{source}: {raw!r} is neither true nor false")
    return text in _TRUE


def _parse_text(option: Option, raw: str, source: str) -> Any:
    if not raw.strip():
        raise UserError(f"{source}: the value is empty; give one or leave the option out")
    try:
        return option.parse(raw)
    except ValueError as error:
        raise UserError(f"{source}: {_quoted(option, raw)} {error}") from None


def _quoted(option: Option, raw: str) -> str:
    """A value for an error message, or "the value" if it may be or contain a secret."""
    # A header that is not NAME=VALUE may be a key alone.
    if option.is_secret or option.metavar == "NAME=VALUE":
        return "the value"
    return _safe_url(raw) if option.metavar == "URL" else repr(raw)


def _safe_url(url: str) -> str:
    """The URL for an error message, or "the value" if its user info or query may contain a secret."""
    return "the value" if set(url) & {"@", "?"} else repr(url)


def _subject_endpoint(
    values: Mapping[str, Any],
    source_names: Mapping[str, str],
    environment: Mapping[str, str],
    origins: Mapping[str, str],
) -> Endpoint:
    return Endpoint(
        base_url=values["api_base_url"] or _default_base_url(environment, origins),
        api_key=values["api_key"] or _default_key(environment, origins),
        key_source=source_names.get("api_key", origins.get("OPENAI_API_KEY", "OPENAI_API_KEY")),
        headers=values["subject_header"],
    )


def _default_base_url(environment: Mapping[str, str], origins: Mapping[str, str]) -> str:
    url = environment.get("OPENAI_BASE_URL")
    if not url:
        return DEFAULT_BASE_URL
    try:
        return parse_url(url)
    except ValueError as error:
        name = origins.get("OPENAI_BASE_URL", "OPENAI_BASE_URL")
        raise UserError(f"{name}: {_safe_url(url)} {error}") from None


def _default_key(environment: Mapping[str, str], origins: Mapping[str, str]) -> str:
    try:
        return parse_key(environment.get("OPENAI_API_KEY", "")) or NO_KEY
    except ValueError as error:
        raise UserError(f"{origins.get('OPENAI_API_KEY', 'OPENAI_API_KEY')}: the value {error}") from None


def _header_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of HTTP headers that the SDK's environment variables set, and credentials within them."""
    lines = environment.get("OPENAI_CUSTOM_HEADERS", "").splitlines()
    texts = [line.partition(":")[2] for line in lines]
    texts += [environment.get(name, "") for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID")]
    values = [text.strip() for text in texts if text.strip()]
    return tuple(dict.fromkeys([*values, *map(_credential, values)]))


def _secret_headers(values: Mapping[str, Any]) -> Iterator[str]:
    """The secrets among the headers of both roles, with and without "Bearer" or "Basic" before them."""
    for role in ROLES:
        for name, value in values[f"{role}_header"]:
            if is_secret_name(name):
                yield from dict.fromkeys([value, _credential(value)])


def _credential(value: str) -> str:
    """The value of a header without "Bearer" or "Basic" before it."""
    return value.removeprefix("Bearer ").removeprefix("Basic ").strip()


def _panel(values: Mapping[str, Any], is_explicit: bool) -> tuple[str, ...]:
    """The evaluators that the user has set; without any, the built-in model if it is the subject."""
    panel: tuple[str, ...] = values["evaluator_model"]
    if is_explicit and panel:
        return panel
    return (LOCAL,) if is_local(values["model"] or "") else panel or (DEFAULT_EVALUATOR,)


def _evaluator_endpoint(
    subject: Endpoint, values: Mapping[str, Any], source_names: Mapping[str, str]
) -> Endpoint:
    base_url = values["evaluator_api_base_url"] or subject.base_url
    # The subject's key is never sent to another endpoint.
    is_same = base_url == subject.base_url
    fallback = subject.api_key if is_same else NO_KEY
    return Endpoint(
        base_url=base_url,
        api_key=values["evaluator_api_key"] or fallback,
        takes_environment=is_same,
        key_source=source_names.get("evaluator_api_key", subject.key_source),
        headers=values["evaluator_header"] or (subject.headers if is_same else ()),
    )


def _sampling(role: Role, values: Mapping[str, Any]) -> Sampling:
    prompt, from_file = values[f"{role}_system_prompt"], values[f"{role}_system_prompt_file"]
    if prompt is not None and from_file is not None:
        raise UserError(f"--{role}-system-prompt and --{role}-system-prompt-file: give one of them")
    return Sampling(
        **{name: values[f"{role}_{name}"] for name in PARAMETERS},
        extra_body=values[f"{role}_extra_body"] or {},
        headers={name: "****" if is_secret_name(name) else value for name, value in values[f"{role}_header"]},
        system_prompt=from_file if prompt is None else prompt,
    )


def _price(per_input: float | None, per_output: float | None) -> Price | None:
    if per_input is None and per_output is None:
        return None
    if per_input is None or per_output is None:
        raise UserError("--price-input and --price-output: give both, or neither")
    return Price(input=per_input, output=per_output)


def _mirror(values: Mapping[str, Any], source_names: Mapping[str, str]) -> Mirror | None:
    if values["asker"] is None:
        # In a file or variable, these options are defaults for sessions with --asker, and no error.
        for flag in ("--asker-form", "--asker-share"):
            if flag in source_names.values():
                raise UserError(f"{flag}: is about --asker mirror; give that, too, or leave it out")
        return None
    form = values["asker_form"]
    forms = FORMS if form == "both" else tuple(item for item in FORMS if item == form)
    return Mirror(forms=forms, share=values["asker_share"])
