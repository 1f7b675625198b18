"""The settings of a session, from command line, environment, files and defaults, in order of precedence.

The values of options of suites are stored by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from equipoise.core import option_files
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.gates import inconclusive_in, rules_in
from equipoise.core.options import Option, parse_key, parse_url
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
from equipoise.core.types import FORMS, Role

_VALUES = re.compile(r"[^, \t\r\n]+")
"""One of several values in a text. str.split() would also split at other control characters."""
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}
_FIELDS = {item.name for item in fields(Settings)}
_NOTHING: Mapping[str, Any] = MappingProxyType({})


def resolve_suites(
    command_line: Mapping[str, Any],
    environment: Mapping[str, str],
    ini: Mapping[str, Any],
    defaults: Mapping[str, Mapping[str, Any]],
    suite_options: Sequence[Option] = (),
    origins: Mapping[str, str] = _NOTHING,
) -> Settings:
    """The settings of a session of these suites, with the `defaults` of each suite by its name.

    If there are several suites, each has settings of its own in `suites`. Raises UserError.
    """

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

    `command_line` and `ini` map option names to texts, or to lists of texts if the option is repeatable.
    `defaults` has the suite's own default values; its `evaluator_model` is None if the suite uses no
    evaluators. `suite_options` are the options of all suites. `origins` has the names that error messages use
    for variables set by a file. The file of --config takes precedence over `ini`.
    """
    options = (*OPTIONS, *suite_options)
    sources = _with_config(_Sources(command_line, environment, ini, origins), options)
    texts = ((option, sources.value(option)) for option in options)
    explicit = {option.name: (_read(option, *text), text[1]) for option, text in texts if text}
    usual = {option.name: option.default for option in options}
    value = {**usual, **defaults, **{name: own for name, (own, _) in explicit.items()}}
    source = {name: where for name, (_, where) in explicit.items()}
    if is_local(value["model"] or "") and "subject_max_tokens" not in explicit:
        # A suite's default is for other models: the built-in server has a limit of its own.
        value["subject_max_tokens"] = None
    subject = _subject_endpoint(value, source, environment, origins)
    has_no_panel = defaults.get("evaluator_model", ()) is None
    combined = {
        "evaluator_models": () if has_no_panel else _panel(value, "evaluator_model" in explicit),
        "subject_endpoint": subject,
        "evaluator_endpoint": _evaluator_endpoint(subject, value, source),
        "languages": value["language"],
        "asker": _mirror(value, source),
        "suite_options": {option.name: value[option.name] for option in suite_options},
        "subject": _sampling("subject", value),
        "evaluator": _sampling("evaluator", value),
        "price": _price(value["price_input"], value["price_output"]),
        "gate": rules_in(value["gate"]),
        "gate_inconclusive": value["gate_inconclusive"] or inconclusive_in(value["gate"]),
        "given": frozenset(explicit) - {"config"},
        "header_values": _header_values(environment),
    }
    same = {option.name: value[option.name] for option in OPTIONS if option.name in _FIELDS}
    return Settings(**{**same, **combined})


@dataclass(frozen=True, slots=True)
class _Sources:
    """Sources of option values.

    `origins` has the names that error messages use for variables and keys set by a file.
    """

    command_line: Mapping[str, Any]
    environment: Mapping[str, str]
    ini: Mapping[str, Any]
    origins: Mapping[str, str]

    def value(self, option: Option) -> tuple[Any, str] | None:
        """The raw value of an option and the name of its source, None if the user has not set it."""
        argument = self.command_line.get(option.name)
        if argument is not None:
            return argument, option.flag
        variable, key = self.environment.get(option.variable), self.ini.get(option.name)
        # In variables and ini files, an empty text unsets an option.
        if variable:
            return variable, self.origins.get(option.variable, option.variable)
        return (key, self.origins.get(option.name, f"pytest.ini: {option.ini}")) if key else None


def _with_config(sources: _Sources, options: Sequence[Option]) -> _Sources:
    """The sources with the options of the file that --config names, which override those of pytest.ini."""
    config = sources.value(CONFIG)
    if config is None:
        return sources
    path = _read(CONFIG, *config)
    values = option_files.read_config(path, options)
    names = {name: f"{shown(path)}: {name.replace('_', '-')}" for name in values}
    return replace(sources, ini={**sources.ini, **values}, origins={**sources.origins, **names})


def _read(option: Option, raw: Any, source: str) -> Any:
    if option.switch:
        return _switch(raw, source)
    if option.many:
        texts = [raw] if isinstance(raw, str) else raw
        parts = [part for text in texts for part in _values(text)]
        return tuple(dict.fromkeys(_parse(option, part, source) for part in parts))
    return _parse(option, raw, source)


def _values(text: str) -> list[str]:
    """The values in one text, which is not split if it names a file: that may contain spaces."""
    return [text] if Path(text).is_file() else _VALUES.findall(text) or [text]


def _switch(raw: Any, source: str) -> bool:
    text = str(raw).strip().lower()
    if text not in _TRUE | _FALSE:
        raise UserError(f"{source}: {raw!r} is neither true nor false")
    return text in _TRUE


def _parse(option: Option, raw: str, source: str) -> Any:
    if not raw.strip():
        raise UserError(f"{source}: the value is empty; give one or leave the option out")
    try:
        return option.parse(raw)
    except ValueError as error:
        shown = "the value" if option.is_secret else _safe_url(raw) if option.metavar == "URL" else repr(raw)
        raise UserError(f"{source}: {shown} {error}") from None


def _safe_url(url: str) -> str:
    """The URL for an error message, without one that may contain secrets in user info or query."""
    return "the value" if set(url) & {"@", "?"} else repr(url)


def _subject_endpoint(
    value: Mapping[str, Any],
    source: Mapping[str, str],
    environment: Mapping[str, str],
    origins: Mapping[str, str],
) -> Endpoint:
    return Endpoint(
        base_url=value["api_base_url"] or _default_base_url(environment, origins),
        api_key=value["api_key"] or _default_key(environment, origins),
        key_source=source.get("api_key", origins.get("OPENAI_API_KEY", "OPENAI_API_KEY")),
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
    named = [line.partition(":")[2] for line in lines]
    named += [environment.get(name, "") for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID")]
    values = [value.strip() for value in named if value.strip()]
    bare = [value.removeprefix("Bearer ").removeprefix("Basic ").strip() for value in values]
    return tuple(dict.fromkeys([*values, *bare]))


def _panel(value: Mapping[str, Any], is_explicit: bool) -> tuple[str, ...]:
    """The evaluators: those that the user has set, else the built-in model if that is the subject."""
    panel: tuple[str, ...] = value["evaluator_model"]
    if is_explicit and panel:
        return panel
    return (LOCAL,) if is_local(value["model"] or "") else panel or (DEFAULT_EVALUATOR,)


def _evaluator_endpoint(subject: Endpoint, value: Mapping[str, Any], source: Mapping[str, str]) -> Endpoint:
    base_url = value["evaluator_api_base_url"] or subject.base_url
    # The subject's key is never sent to another endpoint.
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
        # Set in a file or variable, these are defaults for sessions with --asker, and no error.
        for flag in ("--asker-form", "--asker-share"):
            if flag in source.values():
                raise UserError(f"{flag}: is about --asker mirror; give that, too, or leave it out")
        return None
    form = value["asker_form"]
    forms = FORMS if form == "both" else tuple(item for item in FORMS if item == form)
    return Mirror(forms=forms, share=value["asker_share"])
