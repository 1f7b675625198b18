"""The options of a session: the only list of them.

The plugin registers it, `settings` resolves it, the README shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

DEFAULT_EVALUATOR = "mistral-large-2512"
DEFAULT_BASE_URL = "http://localhost:4000"


def _text(value: str) -> str:
    return value


def _at_least(minimum: int) -> Callable[[str], int]:
    def parse(value: str) -> int:
        if not value.strip().isdecimal() or int(value) < minimum:
            raise ValueError(f"is not a whole number from {minimum} up")
        return int(value)

    return parse


def _number(value: str) -> float:
    number = float(value) if _is_number(value) else -1.0
    if not 0 <= number < float("inf"):
        raise ValueError("is not a number from 0 up")
    return number


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _temperature(value: str) -> float | None:
    if value.strip().lower() == "none":
        return None
    try:
        return _number(value)
    except ValueError:
        raise ValueError("is not a number from 0 up, nor none") from None


def _fraction(value: str) -> float:
    number = float(value) if _is_number(value) else -1.0
    if not 0 < number <= 1:
        raise ValueError("is not a number above 0 and up to 1")
    return number


def _seconds(value: str) -> float:
    number = _number(value) if _is_number(value) else 0.0
    if number == 0:
        raise ValueError("is not a number of seconds above 0")
    return number


def parse_url(value: str) -> str:
    """The URL without a slash at its end. Raises ValueError."""
    if not _is_url(value.strip()):
        raise ValueError("is not a URL such as https://api.example.com/v1, without user, password and query")
    return value.strip().rstrip("/")


def _is_url(value: str) -> bool:
    try:
        parts = urlsplit(value)
        is_plain = parts.username is None and not parts.query and not parts.fragment
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0 and is_plain
        )
    except ValueError:
        return False


def parse_key(value: str) -> str:
    """The key, fit for an HTTP header. Raises ValueError that does not repeat it."""
    if not value.isascii() or not value.isprintable():
        raise ValueError("has characters that no key has")
    return value.strip()


def _prompt(value: str) -> str:
    if not value.startswith("@"):
        return value
    try:
        return Path(value[1:]).read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"names a file that cannot be read ({error.__class__.__name__})") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option.

    `many` may be given several times, a `switch` takes no value, and what `is_secret` is never shown.
    """

    flag: str
    help: str
    parse: Callable[[str], Any] = _text
    default: Any = None
    alias: str | None = None
    metavar: str = "N"
    many: bool = False
    switch: bool = False
    is_secret: bool = False

    @property
    def name(self) -> str:
        """The flag as an identifier."""
        return self.flag[2:].replace("-", "_")

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"EQUIPOISE_{self.name.upper()}"

    @property
    def ini(self) -> str:
        """The key in pytest.ini."""
        return f"equipoise_{self.name}"


def _sampling(role: str, temperature: float, prompt: str) -> tuple[Option, ...]:
    """The five options of a role that shape what it says."""
    default = f"default {temperature:g}; none sends none"
    return (
        Option(
            flag=f"--{role}-temperature", parse=_temperature, default=temperature, metavar="T", help=default
        ),
        Option(flag=f"--{role}-top-p", parse=_fraction, metavar="P", help="not sent by default"),
        Option(flag=f"--{role}-top-k", parse=_at_least(1), metavar="K", help="not sent by default"),
        Option(flag=f"--{role}-max-tokens", parse=_at_least(1), help="not sent by default"),
        Option(flag=f"--{role}-system-prompt", parse=_prompt, metavar="TEXT", help=prompt),
    )


OPTIONS: tuple[Option, ...] = (
    Option(
        flag="--model",
        alias="--subject-model",
        metavar="M",
        help="the model under test; 'local' is the built-in model, 'local:FILE.gguf' any other GGUF file",
    ),
    Option(
        flag="--evaluator-model",
        metavar="M",
        many=True,
        default=(),
        help=f"the model that judges; repeat it for a panel (default {DEFAULT_EVALUATOR}, or local)",
    ),
    Option(
        flag="--api-base-url",
        metavar="URL",
        parse=parse_url,
        help=f"OpenAI-compatible endpoint (default $OPENAI_BASE_URL or {DEFAULT_BASE_URL})",
    ),
    Option(
        flag="--api-key",
        metavar="KEY",
        parse=parse_key,
        is_secret=True,
        help="its key (default $OPENAI_API_KEY); better set in the environment",
    ),
    Option(
        flag="--evaluator-api-base-url",
        metavar="URL",
        parse=parse_url,
        help="endpoint of the evaluators (default the subject's)",
    ),
    Option(
        flag="--evaluator-api-key",
        metavar="KEY",
        parse=parse_key,
        is_secret=True,
        help="key of the evaluators' endpoint (default the subject's where the endpoint is the same)",
    ),
    Option(flag="--runs", parse=_at_least(1), default=5, help="runs of each question (default 5)"),
    Option(flag="--limit", parse=_at_least(1), help="only the first N questions of each file"),
    Option(flag="--language", metavar="L", many=True, default=(), help="only this language; repeatable"),
    Option(
        flag="--topics",
        metavar="PATH",
        help="question file or folder (default topics/<suite>); write --topics=PATH",
    ),
    *_sampling("subject", 1.0, "the text, or =@FILE; not sent by default"),
    *_sampling("evaluator", 0.0, "the text, or =@FILE, that is put before the rubric's own instruction"),
    Option(
        flag="--concurrency",
        parse=_at_least(1),
        default=32,
        help="calls in flight over all workers (default 32)",
    ),
    Option(
        flag="--max-retries",
        parse=_at_least(0),
        default=12,
        help="retries of a call that fails in transport (default 12)",
    ),
    Option(
        flag="--evaluator-attempts",
        parse=_at_least(1),
        default=5,
        help="attempts at a valid verdict (default 5)",
    ),
    Option(
        flag="--request-timeout", parse=_seconds, default=600.0, metavar="S", help="seconds (default 600)"
    ),
    Option(flag="--keep-going", switch=True, default=False, help="go on when a call's retries are exhausted"),
    Option(
        flag="--output",
        metavar="FILE",
        help="results file (default results/<model>.<suite>.json); write --output=FILE",
    ),
    Option(flag="--fresh", switch=True, default=False, help="archive what is there and sample afresh"),
)
