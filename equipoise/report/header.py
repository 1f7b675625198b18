"""A session's settings as lines of text: the opening line, the header, and warnings.

This module must import quickly: the opening line is printed before anything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.core.files import shown
from equipoise.core.settings import FILE, NO_KEY, Mirror, Settings, is_local, public_url
from equipoise.core.types import Role
from equipoise.models.redact import MIN_KEY_LENGTH, REAL_KEY_LENGTH

BUILT_IN = "built-in server"


def opening_line(settings: Settings, runs: Mapping[str, int]) -> str:
    """A line on what a session is about to do. `runs` is the number of runs per case, by suite."""
    fewest, most = min(runs.values()), max(runs.values())
    number = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    extent = f"{number} run{'' if most == 1 else 's'} per case"
    if settings.replies:
        extent = f"replies of {settings.replies.name}"
    if mirror := settings.asker:
        extent += f", and again as asked by either side ({' and '.join(mirror.forms)})"
    next_step = "estimating, no calls are made" if settings.estimate else "reading the questions"
    if settings.show_prompts:
        next_step = "showing prompts, no calls are made"
    endpoint = _endpoint_name(settings, "subject")
    return f"equipoise: {', '.join(runs)}; {settings.model} ({endpoint}); {extent}; {next_step}"


# Header.


def header(settings: Settings) -> list[str]:
    """The resolved settings as lines for the report header, keys masked."""
    names = (
        "limit",
        "languages",
        "concurrency",
        "max_retries",
        "evaluator_attempts",
        "request_timeout",
        "case_timeout",
    )
    optional = [name for name in ("shard", "max_cost", "max_calls") if getattr(settings, name) is not None]
    optional += ["batch"] if settings.batch else []
    runs = f"runs={settings.runs or 'default'}"
    runs += "" if settings.asker is None else f" asker={_describe_mirror(settings.asker)}"
    values = [
        f"{name}={_option_value(getattr(settings, name))}"
        for name in (*names, *optional, "keep_going", "fresh")
    ]
    session = " ".join(["session:", runs, *values])
    config = [f"config: {shown(settings.config)}"] if settings.config else []
    return [*_describe_roles(settings), session, *_describe_release_options(settings), *config]


def _describe_mirror(mirror: Mirror) -> str:
    share = "" if mirror.share == 1 else f",{mirror.share:g} of the cases"
    return f"mirror({','.join(mirror.forms)}{share})"


def _describe_roles(settings: Settings) -> list[str]:
    """Lines on the subject and the evaluators, for each suite if these differ between suites."""
    names_by_lines: dict[tuple[str, str], list[str]] = {}
    for name, suite_settings in (settings.suites or {"": settings}).items():
        subject = f"subject: {suite_settings.model} {_describe_role(suite_settings, 'subject')}"
        evaluators = "evaluators: none"
        if panel := ", ".join(suite_settings.evaluator_models):
            evaluators = f"evaluators: {panel} {_describe_role(suite_settings, 'evaluator')}"
        names_by_lines.setdefault((subject, evaluators), []).append(name)
    if len(names_by_lines) == 1:
        return [line for lines in names_by_lines for line in lines]
    return [f"{', '.join(names)}: {line}" for lines, names in names_by_lines.items() for line in lines]


def _describe_release_options(settings: Settings) -> list[str]:
    """A line on the options that decide about a release, such as baseline, gate and audit, if any is set."""
    options = {
        "baseline": settings.baseline and shown(settings.baseline),
        "gate": " ".join(dict.fromkeys(rule.file or rule.text for rule in settings.gate)),
        "until": settings.until and settings.until.text,
        "audit": settings.audit,
        "replies": settings.replies and shown(settings.replies),
    }
    assignments = [f"{name}={value}" for name, value in options.items() if value]
    return ["release: " + " ".join(assignments)] if assignments else []


def _describe_role(settings: Settings, role: Role) -> str:
    endpoint = settings.endpoint(role)
    key = "none" if endpoint.api_key == NO_KEY else "****"
    parameters = " ".join(
        f"{name}={_option_value(value)}" for name, value in settings.sampling(role).to_json().items()
    )
    prompt = " system_prompt=given" if settings.sampling(role).system_prompt else ""
    name = _endpoint_name(settings, role)
    shown_key = "" if name in (BUILT_IN, FILE) else f" key={key}"
    return f"({name}{shown_key}{' ' if parameters else ''}{parameters}{prompt})"


def _endpoint_name(settings: Settings, role: Role) -> str:
    """The URL of a role's endpoint; BUILT_IN, or FILE for calls that are answered from files."""
    if role in settings.file_roles:
        return FILE
    is_built_in = all(map(is_local, _models(settings, role)))
    return BUILT_IN if is_built_in else public_url(settings.endpoint(role).base_url)


def _option_value(value: Any) -> str:
    """An option's value as text; an option that may be None or empty is a limit, so no value means `all`."""
    if value is None or value == ():
        return "all"
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


# Warnings.


def warnings(settings: Settings) -> list[str]:
    """Likely mistakes in the settings, one line each, to show before the first call."""
    temperature = settings.evaluator.temperature
    warning = f"the evaluator's temperature is {temperature}, not 0: its verdicts will vary"
    return [*([] if temperature == 0 else [warning]), *key_warnings(settings)]


def key_warnings(settings: Settings) -> list[str]:
    """A warning per key that is too short to be masked everywhere, with its source."""
    roles: list[Role] = ["evaluator"] if settings.replies else ["subject", "evaluator"]
    endpoints = [settings.endpoint(role) for role in roles if not all(map(is_local, _models(settings, role)))]
    return list(
        dict.fromkeys(
            _short_key_warning(endpoint.api_key, endpoint.key_source)
            for endpoint in endpoints
            if _is_short(endpoint.api_key)
        )
    )


def _is_short(key: str) -> bool:
    return key != NO_KEY and len(key) < REAL_KEY_LENGTH


def _short_key_warning(key: str, source: str) -> str:
    masked = "only whole words equal to it are" if len(key) >= MIN_KEY_LENGTH else "it is not"
    length = f"fewer than {REAL_KEY_LENGTH} characters"
    return f"{source}: the key has {length}, so {masked} masked in what is written"


def _models(settings: Settings, role: Role) -> Sequence[str]:
    return [settings.model or ""] if role == "subject" else settings.evaluator_models
