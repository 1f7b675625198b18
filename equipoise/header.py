"""The resolved settings as the user reads them before a session starts; keys are masked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from equipoise import textfiles
from equipoise.secret import LEAST, REAL
from equipoise.settings import NO_KEY, Settings, is_local, public_url
from equipoise.types import Role


def describe(settings: Settings) -> list[str]:
    """The resolved settings as lines for the report header, keys masked."""
    lines = [f"subject: {settings.model} {_describe_role(settings, 'subject')}"]
    lines.append(
        f"evaluators: {', '.join(settings.evaluator_models)} {_describe_role(settings, 'evaluator')}"
    )
    names = (
        "limit",
        "languages",
        "concurrency",
        "max_retries",
        "evaluator_attempts",
        "request_timeout",
        "case_timeout",
    )
    capped = [name for name in ("max_cost", "max_calls") if getattr(settings, name) is not None]
    runs = f"runs={settings.runs or 'default'}"
    shown = [f"{name}={_plain(getattr(settings, name))}" for name in (*names, *capped, "keep_going", "fresh")]
    return [*lines, "session: " + " ".join([runs, *shown]), *_describe_release(settings)]


def warnings(settings: Settings) -> list[str]:
    """What a user may not have meant, a line each; to be told before anything is asked."""
    temperature = settings.evaluator.temperature
    varies = f"the evaluator's temperature is {temperature}, not 0: its verdicts will vary"
    return [*([] if temperature == 0 else [varies]), *warnings_of_keys(settings)]


def warnings_of_keys(settings: Settings) -> list[str]:
    """Where a key comes from that may be a placeholder, as it is too short to be masked everywhere."""
    roles: list[Role] = ["evaluator"] if settings.rejudge else ["subject", "evaluator"]
    used = [settings.endpoint(role) for role in roles if not all(map(is_local, _models(settings, role)))]
    return list(
        dict.fromkeys(_short(item.api_key, item.key_source) for item in used if _is_short(item.api_key))
    )


def _is_short(key: str) -> bool:
    return key != NO_KEY and len(key) < REAL


def _short(key: str, source: str) -> str:
    masked = "only whole words equal to it are" if len(key) >= LEAST else "it is not"
    return f"{source}: the key has fewer than {REAL} characters, so {masked} masked in what is written"


def _models(settings: Settings, role: Role) -> Sequence[str]:
    return [settings.model or ""] if role == "subject" else settings.evaluator_models


def _describe_release(settings: Settings) -> list[str]:
    """What the session is measured against, where it is."""
    shown = {
        "baseline": settings.baseline and textfiles.shown(settings.baseline),
        "gate": " ".join(rule.text for rule in settings.gate),
        "until": settings.until and settings.until.text,
        "rejudge": settings.rejudge and textfiles.shown(settings.rejudge),
    }
    found = [f"{name}={value}" for name, value in shown.items() if value]
    return ["release: " + " ".join(found)] if found else []


def _describe_role(settings: Settings, role: Role) -> str:
    endpoint = settings.endpoint(role)
    key = "none" if endpoint.api_key == NO_KEY else "****"
    sent = " ".join(f"{name}={_plain(value)}" for name, value in settings.sampling(role).parameters().items())
    prompt = " system_prompt=given" if settings.sampling(role).system_prompt else ""
    is_built_in = all(map(is_local, _models(settings, role)))
    where = "built-in server" if is_built_in else f"{public_url(endpoint.base_url)} key={key}"
    return f"({where}{' ' if sent else ''}{sent}{prompt})"


def _plain(value: Any) -> str:
    if value is None or value == ():
        return "all"
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
