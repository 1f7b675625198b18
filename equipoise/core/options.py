"""The type `Option`, and the parsers of values.

Parsers raise ValueError that says what the value should be; its message is a predicate, to which the caller
adds the option and the value as the subject. The options of every session are in
`session_options`, those of suites in their packages.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from equipoise.core import json_io
from equipoise.core.files import read_bytes
from equipoise.core.types import JSON, PARAMETERS


def parse_name(value: str) -> str:
    """Check that the value is one line of printable characters. Raises ValueError."""
    if not value.isprintable():
        raise ValueError("has control or invisible characters, which a name must not have")
    return value


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its flag, its help, and how its value is parsed.

    An option with `many` may be repeated. One text may also hold several of its values, separated by commas
    or spaces, or by line breaks with `by_line`. A `switch` takes no value. A value with `is_secret` is never
    shown. With `optional_words`, the option may be given without a value; a value is one of these words and
    follows an equals sign, never a space. Options that affect replies are always in the metadata of results;
    `recorded` puts one there that does not affect them. With `by_suite`, the suites of one session may have
    different defaults.

    The other fields are for options of suites. `comparable` is `must` if results must agree in it to be
    compared, `study` if they may differ for a study of its effect, `free` if they may always differ. `label`
    names the option in messages about a difference. An option with `is_about_judging` does not affect
    replies. With `is_local`, the value is a file or function of this machine, and `shown` returns what
    results say about it. `effect` takes the older and the newer value of the option, and the changes of
    metrics by name. It returns a sentence on how the new value changed the metrics, or "".
    """

    flag: str
    help: str
    _: KW_ONLY
    parse: Callable[[str], Any] = str
    default: Any = None
    alias: str | None = None
    metavar: str = "N"
    many: bool = False
    by_line: bool = False
    switch: bool = False
    is_secret: bool = False
    recorded: bool = False
    optional_words: tuple[str, ...] = ()
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
    def usage(self) -> str:
        """The flag and the placeholder of its value, as in the help."""
        return self.flag if self.switch or self.optional_words else f"{self.flag} {self.metavar}"

    @property
    def full_help(self) -> str:
        """The help text, with the allowed words if it does not name them."""
        is_listed = all(word in self.help for word in self.choices)
        return self.help if is_listed else f"{self.help}: {', '.join(self.choices)}"

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed words; empty unless the parser is from `one_of`."""
        return self.parse.words if isinstance(self.parse, _OneOf) else ()

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"EQUIPOISE_{self.name.upper()}"

    @property
    def ini_key(self) -> str:
        """The key in pytest.ini."""
        return f"equipoise_{self.name}"


# Parsers.


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
    """A parser that accepts exactly these words."""
    return _OneOf(words)


def above_zero(unit: str) -> Callable[[str], float]:
    """A parser of numbers above 0. `unit` is for the message."""

    def parse(value: str) -> float:
        number = parse_number(value) if _is_number(value) else 0.0
        if number == 0:
            raise ValueError(f"is not a number of {unit} above 0")
        return number

    return parse


parse_seconds = above_zero("seconds")


def parse_duration(value: str) -> float:
    """Parse a duration such as 90, 90s, 15m or 2h into seconds."""
    text = value.strip().lower()
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:])
    number = text[:-1] if unit else text
    if not _is_number(number) or not 0 <= float(number) < float("inf"):
        raise ValueError("is not a duration such as 90s, 15m or 2h")
    return float(number) * (unit or 1.0)


def parse_percentage(value: str) -> float:
    """Parse a percentage from 0 to 100, such as 50 or 50%."""
    text = value.strip().removesuffix("%")
    if not _is_number(text) or not 0 <= float(text) <= 100:
        raise ValueError("is not a percentage from 0 to 100")
    return float(text)


ROLES = ("subject", "evaluator")


def parse_roles(value: str) -> tuple[str, ...]:
    """Parse a role's name, or `both`. A word for true means both, and a word for false means none."""
    text = value.strip().lower()
    if text in ROLES:
        return (text,)
    if text in ("both", "1", "true", "yes", "on"):
        return ROLES
    if text in ("0", "false", "no", "off"):
        return ()
    raise ValueError("is not one of subject, evaluator, both")


def parse_url(value: str) -> str:
    """Parse an HTTP URL, and remove trailing slashes of its path. Raises ValueError."""
    if not _is_url(value.strip()):
        raise ValueError("is not a URL such as https://api.example.com/v1, without user and password")
    base, mark, query = value.strip().partition("?")
    if any(is_secret_name(name) for name, _ in parse_qsl(query, keep_blank_values=True)):
        raise ValueError(
            "has a key in its query, where it would be shown; send it with --api-key or --header"
        )
    return f"{base.rstrip('/')}{mark}{query}"


_SECRET = re.compile(r"key|token|secret|auth|password|credential|cookie|signature|\bsig\b", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """Whether a header, query parameter or field with this name holds a secret, such as Authorization."""
    # max_tokens and the like are numbers.
    return bool(_SECRET.search(name)) and not name.lower().endswith("tokens")


_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OWN_HEADERS = (
    "host",
    "content-length",
    "content-type",
    "connection",
    "accept-encoding",
    "transfer-encoding",
)


def parse_header(value: str) -> tuple[str, str]:
    """Parse NAME=VALUE into the lower-case name and the value of an HTTP header. Raises ValueError."""
    name, equals, text = (part.strip() for part in value.partition("="))
    if not equals or not _HEADER_NAME.fullmatch(name) or not (text.isascii() and text.isprintable()):
        raise ValueError("is not NAME=VALUE, a name and a value of an HTTP header")
    if name.lower() in _OWN_HEADERS:
        raise ValueError("names a header that every call sets itself")
    return name.lower(), text


_OWN_FIELDS = {
    **dict.fromkeys(("model", "messages", "prompt"), "the suite sets it"),
    **dict.fromkeys(("stream", "n"), "every call asks for one whole answer"),
    "response_format": "the rubric sets it",
    **dict.fromkeys(PARAMETERS, "it has an option of its own"),
}


def parse_body(value: str) -> dict[str, JSON]:
    """Parse a JSON object of further fields of a request's body. Raises ValueError."""
    try:
        fields = json_io.loads(value.encode())
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or not fields:
        raise ValueError('is not a JSON object such as {"seed": 7}')
    for name in fields:
        if why := _OWN_FIELDS.get(name):
            raise ValueError(f"has the field {name!r}: {why}")
        if is_secret_name(name):
            raise ValueError(f"has the field {name!r}, which would be saved; send secrets with --header")
    return fields


def _is_url(value: str) -> bool:
    if not value.isprintable() or " " in value:
        return False
    try:
        parts = urlsplit(value)
        is_plain = parts.username is None and not parts.fragment
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0 and is_plain
        )
    except ValueError:
        return False


def parse_path(value: str) -> Path:
    """The absolute path of a file or folder, which need not exist, with `~` and `~user` expanded."""
    # Path.expanduser would raise for a file such as ~backup.json, if no user has that name.
    return Path(os.path.expanduser(value)).absolute()


def parse_existing(value: str) -> Path:
    """The absolute path of an existing file or folder, as in `parse_path`. Raises ValueError."""
    path = parse_path(value)
    try:
        exists = path.exists()
    except OSError:
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
    """Check that the key is valid in an HTTP header. Raises ValueError without the key."""
    if not value.isascii() or not value.isprintable():
        raise ValueError("contains characters that are not valid in a key")
    return value.strip()


def parse_prompt(value: str) -> str:
    """The text, or for `@FILE` the content of the file. Raises ValueError."""
    return parse_prompt_file(value[1:]) if value.startswith("@") else value


def parse_prompt_file(value: str) -> str:
    """The content of the file. Raises ValueError."""
    try:
        text = read_bytes(parse_path(value)).decode("utf-8-sig").strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ValueError(f"names a file that cannot be read ({why})") from None
    if not text:
        raise ValueError("names a file that is empty")
    return text
