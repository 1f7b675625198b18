"""What an option is, the types of option values, and the options that every session has.

Parsers raise ValueError that says what the value should be. Knows no suite and none of its options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from equipoise.core.files import read_bytes
from equipoise.core.gates import parse_gate
from equipoise.core.rules import parse_until
from equipoise.core.types import Shard

DEFAULT_EVALUATOR = "mistral-large-2512"
DEFAULT_BASE_URL = "http://localhost:4000"
BATCH_DISCOUNT = 50.0
"""What batches cost less than other calls, in percent, at nearly all endpoints that have them."""


def parse_text(value: str) -> str:
    """Return the value unchanged."""
    return value


def parse_name(value: str) -> str:
    """Check that the value is one line of visible characters, as it is printed. Raises ValueError."""
    if not value.isprintable():
        raise ValueError("has control or invisible characters, which a name must not have")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option.

    `many` may be given several times, a `switch` takes no value, and what `is_secret` is never shown. With
    `words`, the flag stands alone, or has one of them after an equals sign, never after a space. What is
    `recorded` stands in the metadata though it changes no reply.

    With `by_suite` the suites of one session may have different defaults for it.

    `comparable` says how an option of a suite bears on comparisons: results must agree in it, or may be
    compared to study what it does, or are free to differ. `label` names it where they differ. With
    `is_about_judging` the replies are the same whatever its value. What `is_local` names something on this
    machine, which may be elsewhere tomorrow. `shown` makes what results say of a value. `effect` says in a
    sentence what a change from one value to another did, given both and the changes of metrics by name; it
    is empty where there is none.
    """

    flag: str
    help: str
    parse: Callable[[str], Any] = parse_text
    default: Any = None
    alias: str | None = None
    metavar: str = "N"
    many: bool = False
    switch: bool = False
    is_secret: bool = False
    recorded: bool = False
    words: tuple[str, ...] = ()
    by_suite: bool = False
    comparable: Literal["must", "study", "free"] = "free"
    label: str = ""
    is_about_judging: bool = False
    is_local: bool = False
    shown: Callable[[Any], Any] | None = None
    effect: Callable[[Any, Any, Mapping[str, Any]], str] | None = None

    @property
    def name(self) -> str:
        """The flag as an identifier."""
        return self.flag[2:].replace("-", "_")

    @property
    def spelled(self) -> str:
        """The flag with the name of its value, as help shows it."""
        return self.flag if self.switch or self.words else f"{self.flag} {self.metavar}"

    @property
    def described(self) -> str:
        """The help, with the words that it takes if it takes no others."""
        is_told = all(word in self.help for word in self.choices)
        return self.help if is_told else f"{self.help}: {', '.join(self.choices)}"

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it takes; empty if it takes others."""
        return self.parse.words if isinstance(self.parse, _OneOf) else ()

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"EQUIPOISE_{self.name.upper()}"

    @property
    def ini(self) -> str:
        """The key in pytest.ini."""
        return f"equipoise_{self.name}"


# The types of values.


def at_least(minimum: int) -> Callable[[str], int]:
    """A parser of whole numbers from `minimum` up."""

    def parse(value: str) -> int:
        if not value.strip().isdecimal() or int(value) < minimum:
            raise ValueError(f"is not a whole number from {minimum} up")
        return int(value)

    return parse


def parse_number(value: str) -> float:
    """Parse a number of at least 0."""
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


def parse_temperature(value: str) -> float | None:
    """Parse a number of at least 0, or `none` as None."""
    if value.strip().lower() == "none":
        return None
    try:
        return parse_number(value)
    except ValueError:
        raise ValueError("is not a number from 0 up, nor none") from None


def parse_fraction(value: str) -> float:
    """Parse a number above 0 and at most 1."""
    number = float(value) if _is_number(value) else -1.0
    if not 0 < number <= 1:
        raise ValueError("is not a number above 0 and up to 1")
    return number


@dataclass(frozen=True, slots=True)
class _OneOf:
    """A value, so that two suites can declare the same option."""

    words: tuple[str, ...]

    def __call__(self, value: str) -> str:
        if value.strip() not in self.words:
            raise ValueError(f"is not one of {', '.join(self.words)}")
        return value.strip()


def one_of(*words: str) -> Callable[[str], str]:
    """A parser of one of these words."""
    return _OneOf(words)


def parse_seconds(value: str) -> float:
    """Parse a number of seconds above 0."""
    number = parse_number(value) if _is_number(value) else 0.0
    if number == 0:
        raise ValueError("is not a number of seconds above 0")
    return number


def parse_duration(value: str) -> float:
    """Parse a duration such as 90, 90s, 15m or 2h into seconds."""
    text = value.strip().lower()
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:])
    number = text[:-1] if unit else text
    if not _is_number(number) or not 0 <= float(number) < float("inf"):
        raise ValueError("is not a duration such as 90s, 15m or 2h")
    return float(number) * (unit or 1.0)


def parse_percentage(value: str) -> float:
    """Parse a percentage from 0 to 100, as 50 or 50%."""
    text = value.strip().removesuffix("%")
    if not _is_number(text) or not 0 <= float(text) <= 100:
        raise ValueError("is not a percentage from 0 to 100")
    return float(text)


ROLES = ("subject", "evaluator")


def parse_roles(value: str) -> tuple[str, ...]:
    """Parse one role; yes for both, no for none. Raises ValueError."""
    text = value.strip().lower()
    if text in ROLES:
        return (text,)
    if text in ("both", "1", "true", "yes", "on"):
        return ROLES
    if text in ("0", "false", "no", "off"):
        return ()
    raise ValueError("is not one of subject, evaluator, both")


def parse_megabytes(value: str) -> float:
    """Parse a number of megabytes above 0."""
    number = parse_number(value) if _is_number(value) else 0.0
    if number == 0:
        raise ValueError("is not a number of megabytes above 0")
    return number


def parse_url(value: str) -> str:
    """Parse an HTTP URL, and remove trailing slashes. Raises ValueError."""
    if not _is_url(value.strip()):
        raise ValueError("is not a URL such as https://api.example.com/v1, without user, password and query")
    return value.strip().rstrip("/")


def _is_url(value: str) -> bool:
    if not value.isprintable() or " " in value:
        return False
    try:
        parts = urlsplit(value)
        is_plain = parts.username is None and not parts.query and not parts.fragment
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0 and is_plain
        )
    except ValueError:
        return False


def parse_existing(value: str) -> Path:
    """The absolute path of an existing file or folder. Raises ValueError."""
    try:
        path = Path(value).expanduser().absolute()
        is_there = path.exists()
    except (OSError, RuntimeError):
        is_there = False
    if not is_there:
        raise ValueError("is not an existing file or folder")
    return path


def parse_function(value: str) -> str:
    """Check that the value is `module:function`. Raises ValueError."""
    module, _, name = value.strip().partition(":")
    if not name.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise ValueError("is not module:function")
    return value.strip()


def parse_key(value: str) -> str:
    """Check that the key is valid in an HTTP header. Raises ValueError that does not repeat it."""
    if not value.isascii() or not value.isprintable():
        raise ValueError("contains characters that are not valid in a key")
    return value.strip()


def parse_prompt(value: str) -> str:
    """The text, or the content of the file in `@FILE`. Raises ValueError."""
    return parse_prompt_file(value[1:]) if value.startswith("@") else value


def parse_prompt_file(value: str) -> str:
    """The content of the file. Raises ValueError."""
    try:
        text = read_bytes(Path(value)).decode("utf-8-sig").strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ValueError(f"names a file that cannot be read ({why})") from None
    if not text:
        raise ValueError("names a file that is empty")
    return text


# The options of a session.


def _sampling(role: str, temperature: float, prompt: str) -> tuple[Option, ...]:
    """The generation parameters of a role."""
    default = f"a number (default {temperature:g}), or none to send none"
    options = (
        Option(
            flag=f"--{role}-temperature",
            parse=parse_temperature,
            default=temperature,
            metavar="T",
            help=default,
        ),
        Option(flag=f"--{role}-top-p", parse=parse_fraction, metavar="P", help="top_p; not sent by default"),
        Option(flag=f"--{role}-top-k", parse=at_least(1), metavar="K", help="top_k; not sent by default"),
        Option(
            flag=f"--{role}-max-tokens",
            parse=at_least(1),
            help="longest reply; not sent by default",
        ),
        Option(flag=f"--{role}-system-prompt", parse=parse_prompt, metavar="TEXT", help=prompt),
        Option(
            flag=f"--{role}-system-prompt-file",
            parse=parse_prompt_file,
            metavar="FILE",
            help="the same from a file",
        ),
    )
    return tuple(replace(option, by_suite=True) for option in options)


CONFIG = Option(
    flag="--config",
    parse=parse_existing,
    metavar="FILE",
    help="options from a TOML file, after the environment's",
)
GROUPS: Mapping[str, tuple[Option, ...]] = {
    "Models and endpoints": (
        Option(
            flag="--model",
            alias="--subject-model",
            metavar="M",
            parse=parse_name,
            help="the model under test; 'local' is the built-in one, 'local:FILE.gguf' any GGUF file",
        ),
        Option(
            flag="--evaluator-model",
            metavar="M",
            parse=parse_name,
            many=True,
            by_suite=True,
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
            help="its key (better set in $OPENAI_API_KEY)",
        ),
        Option(
            flag="--evaluator-api-base-url",
            metavar="URL",
            parse=parse_url,
            help="the evaluators' endpoint (default the same)",
        ),
        Option(
            flag="--evaluator-api-key",
            metavar="KEY",
            parse=parse_key,
            is_secret=True,
            help="their key (default the subject's at the same endpoint)",
        ),
    ),
    "Which cases, and how often": (
        Option(
            flag="--runs",
            parse=at_least(1),
            by_suite=True,
            help="runs of each case (default the suite's own)",
        ),
        Option(flag="--limit", parse=at_least(1), help="only the first N items of each file"),
        Option(
            flag="--shard",
            parse=Shard.parse,
            metavar="I/N",
            help="every Nth question from the Ith on; `equipoise merge` joins",
        ),
        Option(
            flag="--language",
            metavar="L",
            parse=parse_name,
            many=True,
            default=(),
            help="only this language; repeatable",
        ),
        Option(
            flag="--asker",
            parse=one_of("mirror"),
            metavar="HOW",
            help="ask each case again as from each of its two sides: mirror",
        ),
        Option(
            flag="--asker-form",
            parse=one_of("stated", "implied", "both"),
            metavar="FORM",
            default="stated",
            help="who asks is stated, implied in an aside, or both (default stated)",
        ),
        Option(
            flag="--asker-share",
            parse=parse_fraction,
            metavar="P",
            default=1.0,
            help="of that share of cases, as 0.2 (default 1)",
        ),
        Option(
            flag="--topics",
            metavar="PATH",
            help="question file or folder (default topics/<suite>)",
        ),
        Option(
            flag="--rubric",
            metavar="FILE",
            help="rubric file (default rubric/<suite>.toml)",
        ),
    ),
    "Generation": (
        *_sampling("subject", 1.0, "not sent by default"),
        *_sampling("evaluator", 0.0, "put before the rubric's instruction"),
    ),
    "Calls": (
        Option(
            flag="--concurrency",
            recorded=True,
            parse=at_least(1),
            default=32,
            help="calls in flight over all workers (default 32)",
        ),
        Option(
            flag="--max-retries",
            recorded=True,
            parse=at_least(0),
            default=12,
            help="retries of a call that fails in transport (default 12)",
        ),
        Option(
            flag="--evaluator-attempts",
            recorded=True,
            parse=at_least(1),
            default=5,
            help="attempts at a valid verdict (default 5)",
        ),
        Option(
            flag="--request-timeout",
            recorded=True,
            parse=parse_seconds,
            default=600.0,
            metavar="S",
            help="seconds that one call may take (default 600)",
        ),
        Option(
            flag="--max-wait",
            parse=parse_seconds,
            default=300.0,
            metavar="S",
            help="longest pause that an endpoint may ask for (default 300)",
        ),
        Option(
            flag="--max-response-size",
            parse=parse_megabytes,
            default=32.0,
            metavar="MB",
            help="largest answer, unpacked as well (default 32)",
        ),
        Option(
            flag="--case-timeout",
            recorded=True,
            parse=parse_seconds,
            default=3600.0,
            metavar="S",
            help="seconds that one run may take (default 3600)",
        ),
        Option(
            flag="--keep-going",
            switch=True,
            default=False,
            recorded=True,
            help="go on when retries are exhausted, or a key, a model or a value is refused",
        ),
    ),
    "Cost": (
        Option(
            flag="--estimate",
            switch=True,
            default=False,
            help="show what the session would cost, and make no call",
        ),
        Option(
            flag="--max-cost",
            recorded=True,
            parse=parse_number,
            metavar="USD",
            help="stop before the session costs more",
        ),
        Option(
            flag="--max-calls",
            recorded=True,
            parse=at_least(1),
            help="stop before the session sends more requests",
        ),
        Option(
            flag="--price-input",
            parse=parse_number,
            metavar="USD",
            help="of a million input tokens, where no price is known",
        ),
        Option(
            flag="--price-output",
            parse=parse_number,
            metavar="USD",
            help="of a million output tokens, likewise",
        ),
    ),
    "Batches": (
        Option(
            flag="--batch",
            words=ROLES,
            parse=parse_roles,
            default=(),
            help="send calls as batches; the same command fetches them later; --batch=subject or "
            "--batch=evaluator: of that role alone",
        ),
        Option(
            flag="--batch-wait",
            parse=parse_duration,
            metavar="TIME",
            default=0.0,
            help="wait for them that long, as 90s or 2h (default 0)",
        ),
        Option(
            flag="--batch-discount",
            parse=parse_percentage,
            metavar="PERCENT",
            default=BATCH_DISCOUNT,
            help="what unlisted models cost less (default 50)",
        ),
        Option(
            flag="--batch-write",
            metavar="FILE",
            help="write the next calls to FILE and send nothing",
        ),
        Option(
            flag="--batch-read",
            metavar="FILE",
            many=True,
            default=(),
            help="read their answers from FILE; repeatable",
        ),
    ),
    "Files": (
        CONFIG,
        Option(
            flag="--output",
            metavar="FILE",
            help="results file (default results/<model>.<suite>.json)",
        ),
        Option(
            flag="--report",
            metavar="PAGE",
            help="write this session's results as one HTML page",
        ),
        Option(
            flag="--fresh",
            switch=True,
            default=False,
            help="archive earlier results and ask everything again",
        ),
        Option(
            flag="--rejudge",
            metavar="FILE",
            help="judge the replies of these results again",
        ),
    ),
    "Comparing and gating": (
        Option(
            flag="--until",
            parse=parse_until,
            metavar="RULE",
            help="add runs until gates are decided (gate), or an interval is as narrow as overall:+-1.5pp",
        ),
        Option(
            flag="--audit",
            metavar="EXTENT",
            parse=one_of("quick", "full"),
            help="try the evaluators on texts with known scores: quick or full",
        ),
        Option(
            flag="--baseline",
            metavar="PATH",
            help="earlier results, or a folder with *.<suite>.json",
        ),
        Option(
            flag="--gate",
            parse=parse_gate,
            metavar="RULE",
            many=True,
            default=(),
            help="fail if a figure is worse than the baseline's by more, as overall:-2pp, or "
            "overall:-2pp@population; or a file of rules, gates.toml; repeatable",
        ),
        Option(
            flag="--gate-inconclusive",
            parse=one_of("pass", "fail"),
            metavar="HOW",
            help="what it counts as: pass or fail (default: exit status 6)",
        ),
        Option(
            flag="--allow-mismatch",
            switch=True,
            default=False,
            help="compare with a baseline of other settings, on what is shared",
        ),
    ),
}
"""The options of every session, by what they are about."""
OPTIONS = tuple(chain.from_iterable(GROUPS.values()))
