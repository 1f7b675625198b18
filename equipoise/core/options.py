"""Options: the type `Option`, the parsers of their values, and the options of every session.

Parsers raise ValueError that says what the value should be. The options of suites are in their packages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
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
"""Default discount on calls in batches, in percent: that of nearly all endpoints."""


def parse_text(value: str) -> str:
    """Return the value unchanged."""
    return value


def parse_name(value: str) -> str:
    """Check that the value is one line of printable characters. Raises ValueError."""
    if not value.isprintable():
        raise ValueError("has control or invisible characters, which a name must not have")
    return value


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its flag, its help, and how its value is parsed.

    An option with `many` may be repeated, a `switch` takes no value, and the value of one with `is_secret` is
    never shown. With `words`, the value is optional: it is one of them, after an equals sign and never after
    a space. `recorded` options are written to the metadata although they change no reply. With `by_suite`
    the suites of one session may have different defaults.

    The other fields are for options of suites. `comparable` is `must` if results must agree in it to be
    compared, `study` if they may also differ to study its effect, `free` if they may always differ. `label`
    names the option in messages about a difference. With `is_about_judging` it does not affect replies. With
    `is_local` its value is a file or function of this machine, and `shown` returns what results say about it.
    `effect` takes two values and the changes of metrics by name, and returns a sentence on what the change of
    the option did, empty if nothing.
    """

    flag: str
    help: str
    _: KW_ONLY
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
        """The flag and its metavar, as in the help."""
        return self.flag if self.switch or self.words else f"{self.flag} {self.metavar}"

    @property
    def described(self) -> str:
        """The help text, with the allowed words if it does not name them."""
        is_listed = all(word in self.help for word in self.choices)
        return self.help if is_listed else f"{self.help}: {', '.join(self.choices)}"

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed words; empty if it is not an option of `one_of`."""
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
    """The parser of `one_of`: a dataclass, so that the same option declared by two suites is equal."""

    words: tuple[str, ...]

    def __call__(self, value: str) -> str:
        if value.strip() not in self.words:
            raise ValueError(f"is not one of {', '.join(self.words)}")
        return value.strip()


def one_of(*words: str) -> Callable[[str], str]:
    """A parser of one of these words."""
    return _OneOf(words)


def _above_zero(unit: str) -> Callable[[str], float]:
    """A parser of numbers above 0. `unit` is for the message."""

    def parse(value: str) -> float:
        number = parse_number(value) if _is_number(value) else 0.0
        if number == 0:
            raise ValueError(f"is not a number of {unit} above 0")
        return number

    return parse


parse_seconds = _above_zero("seconds")


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
    """Parse the name of a role, `both` or `yes` for both roles, or `no` for none. Raises ValueError."""
    text = value.strip().lower()
    if text in ROLES:
        return (text,)
    if text in ("both", "1", "true", "yes", "on"):
        return ROLES
    if text in ("0", "false", "no", "off"):
        return ()
    raise ValueError("is not one of subject, evaluator, both")


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


def parse_path(value: str) -> Path:
    """The absolute path of a file or folder, which need not exist."""
    return Path(value).absolute()


def parse_existing(value: str) -> Path:
    """The absolute path of an existing file or folder. Raises ValueError."""
    try:
        path = Path(value).expanduser().absolute()
        exists = path.exists()
    except (OSError, RuntimeError):
        exists = False
    if not exists:
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
    """The options for the generation parameters of a role."""
    default = f"a number (default {temperature:g}), or none to send none"
    options = (
        Option(f"--{role}-temperature", default, parse=parse_temperature, default=temperature, metavar="T"),
        Option(f"--{role}-top-p", "top_p; not sent by default", parse=parse_fraction, metavar="P"),
        Option(f"--{role}-top-k", "top_k; not sent by default", parse=at_least(1), metavar="K"),
        Option(f"--{role}-max-tokens", "longest reply; not sent by default", parse=at_least(1)),
        Option(f"--{role}-system-prompt", prompt, parse=parse_prompt, metavar="TEXT"),
        Option(
            f"--{role}-system-prompt-file", "the same from a file", parse=parse_prompt_file, metavar="FILE"
        ),
    )
    return tuple(replace(option, by_suite=True) for option in options)


CONFIG = Option(
    "--config", "options from a TOML file, after the environment's", parse=parse_existing, metavar="FILE"
)
GROUPS: Mapping[str, tuple[Option, ...]] = {
    "Models and endpoints": (
        Option(
            "--model",
            "the model under test; 'local' is the built-in one, 'local:FILE.gguf' any GGUF file",
            alias="--subject-model",
            metavar="M",
            parse=parse_name,
        ),
        Option(
            "--evaluator-model",
            f"the model that judges; repeat it for a panel (default {DEFAULT_EVALUATOR}, or local)",
            metavar="M",
            parse=parse_name,
            many=True,
            by_suite=True,
            default=(),
        ),
        Option(
            "--api-base-url",
            f"OpenAI-compatible endpoint (default $OPENAI_BASE_URL or {DEFAULT_BASE_URL})",
            metavar="URL",
            parse=parse_url,
        ),
        Option(
            "--api-key",
            "its key (better set in $OPENAI_API_KEY)",
            metavar="KEY",
            parse=parse_key,
            is_secret=True,
        ),
        Option(
            "--evaluator-api-base-url",
            "the evaluators' endpoint (default the same)",
            metavar="URL",
            parse=parse_url,
        ),
        Option(
            "--evaluator-api-key",
            "their key (default the subject's at the same endpoint)",
            metavar="KEY",
            parse=parse_key,
            is_secret=True,
        ),
    ),
    "Which cases, and how often": (
        Option("--runs", "runs of each case (default the suite's own)", parse=at_least(1), by_suite=True),
        Option("--limit", "only the first N items of each file", parse=at_least(1)),
        Option(
            "--shard",
            "every Nth question from the Ith on; `equipoise merge` joins",
            parse=Shard.parse,
            metavar="I/N",
        ),
        Option(
            "--language",
            "only this language; repeatable",
            metavar="L",
            parse=parse_name,
            many=True,
            default=(),
        ),
        Option(
            "--asker",
            "ask each case again as from each of its two sides: mirror",
            parse=one_of("mirror"),
            metavar="HOW",
        ),
        Option(
            "--asker-form",
            "who asks is stated, implied in an aside, or both (default stated)",
            parse=one_of("stated", "implied", "both"),
            metavar="FORM",
            default="stated",
        ),
        Option(
            "--asker-share",
            "of that share of cases, as 0.2 (default 1)",
            parse=parse_fraction,
            metavar="P",
            default=1.0,
        ),
        Option(
            "--topics", "question file or folder (default topics/<suite>)", parse=parse_path, metavar="PATH"
        ),
        Option("--rubric", "rubric file (default rubric/<suite>.toml)", parse=parse_path, metavar="FILE"),
    ),
    "Generation": (
        *_sampling("subject", 1.0, "not sent by default"),
        *_sampling("evaluator", 0.0, "put before the rubric's instruction"),
    ),
    "Calls": (
        Option(
            "--concurrency",
            "calls in flight over all workers (default 32)",
            recorded=True,
            parse=at_least(1),
            default=32,
        ),
        Option(
            "--max-retries",
            "retries of a call that fails in transport (default 12)",
            recorded=True,
            parse=at_least(0),
            default=12,
        ),
        Option(
            "--evaluator-attempts",
            "attempts at a valid verdict (default 5)",
            recorded=True,
            parse=at_least(1),
            default=5,
        ),
        Option(
            "--request-timeout",
            "seconds that one call may take (default 600)",
            recorded=True,
            parse=parse_seconds,
            default=600.0,
            metavar="S",
        ),
        Option(
            "--max-wait",
            "longest pause that an endpoint may ask for (default 300)",
            parse=parse_seconds,
            default=300.0,
            metavar="S",
        ),
        Option(
            "--max-response-size",
            "largest answer, unpacked as well (default 32)",
            parse=_above_zero("megabytes"),
            default=32.0,
            metavar="MB",
        ),
        Option(
            "--case-timeout",
            "seconds that one run may take (default 3600)",
            recorded=True,
            parse=parse_seconds,
            default=3600.0,
            metavar="S",
        ),
        Option(
            "--keep-going",
            "go on when retries are exhausted, or a key, a model or a value is refused",
            switch=True,
            default=False,
            recorded=True,
        ),
    ),
    "Cost": (
        Option(
            "--estimate", "show what the session would cost, and make no call", switch=True, default=False
        ),
        Option(
            "--max-cost",
            "stop before the session costs more",
            recorded=True,
            parse=parse_number,
            metavar="USD",
        ),
        Option(
            "--max-calls", "stop before the session sends more requests", recorded=True, parse=at_least(1)
        ),
        Option(
            "--price-input",
            "of a million input tokens, where no price is known",
            parse=parse_number,
            metavar="USD",
        ),
        Option("--price-output", "of a million output tokens, likewise", parse=parse_number, metavar="USD"),
    ),
    "Batches": (
        Option(
            "--batch",
            "send calls as batches; the same command fetches them later; --batch=subject or "
            "--batch=evaluator: of that role alone",
            words=ROLES,
            parse=parse_roles,
            default=(),
        ),
        Option(
            "--batch-wait",
            "wait for them that long, as 90s or 2h (default 0)",
            parse=parse_duration,
            metavar="TIME",
            default=0.0,
        ),
        Option(
            "--batch-discount",
            "what unlisted models cost less (default 50)",
            parse=parse_percentage,
            metavar="PERCENT",
            default=BATCH_DISCOUNT,
        ),
        Option(
            "--batch-write", "write the next calls to FILE and send nothing", parse=parse_path, metavar="FILE"
        ),
        Option(
            "--batch-read",
            "read their answers from FILE; repeatable",
            parse=parse_path,
            metavar="FILE",
            many=True,
            default=(),
        ),
    ),
    "Files": (
        CONFIG,
        Option(
            "--output",
            "results file (default results/<model>.<suite>.json)",
            parse=parse_path,
            metavar="FILE",
        ),
        Option("--report", "write this session's results as one HTML page", parse=parse_path, metavar="PAGE"),
        Option("--fresh", "archive earlier results and ask everything again", switch=True, default=False),
        Option("--rejudge", "judge the replies of these results again", parse=parse_path, metavar="FILE"),
    ),
    "Comparing and gating": (
        Option(
            "--until",
            "add runs until gates are decided (gate), or an interval is as narrow as overall:+-1.5pp",
            parse=parse_until,
            metavar="RULE",
        ),
        Option(
            "--audit",
            "try the evaluators on texts with known scores: quick or full",
            metavar="EXTENT",
            parse=one_of("quick", "full"),
        ),
        Option(
            "--baseline", "earlier results, or a folder with *.<suite>.json", parse=parse_path, metavar="PATH"
        ),
        Option(
            "--gate",
            "fail if a figure is worse than the baseline's by more, as overall:-2pp, or "
            "overall:-2pp@population; or a file of rules, gates.toml; repeatable",
            parse=parse_gate,
            metavar="RULE",
            many=True,
            default=(),
        ),
        Option(
            "--gate-inconclusive",
            "what it counts as: pass or fail (default: exit status 6)",
            parse=one_of("pass", "fail"),
            metavar="HOW",
        ),
        Option(
            "--allow-mismatch",
            "compare with a baseline of other settings, on what is shared",
            switch=True,
            default=False,
        ),
    ),
}
"""The options of every session, by the heading of their group in help and documentation."""
OPTIONS = tuple(chain.from_iterable(GROUPS.values()))
