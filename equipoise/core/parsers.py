"""What the texts of options mean; each function raises ValueError that says what it should have been."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit


def parse_text(value: str) -> str:
    """The text as it is."""
    return value


def at_least(minimum: int) -> Callable[[str], int]:
    """Parses whole numbers from `minimum` up."""

    def parse(value: str) -> int:
        if not value.strip().isdecimal() or int(value) < minimum:
            raise ValueError(f"is not a whole number from {minimum} up")
        return int(value)

    return parse


def parse_number(value: str) -> float:
    """A number from 0 up."""
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
    """A number from 0 up, or None for `none`."""
    if value.strip().lower() == "none":
        return None
    try:
        return parse_number(value)
    except ValueError:
        raise ValueError("is not a number from 0 up, nor none") from None


def parse_fraction(value: str) -> float:
    """A number above 0 and up to 1."""
    number = float(value) if _is_number(value) else -1.0
    if not 0 < number <= 1:
        raise ValueError("is not a number above 0 and up to 1")
    return number


def one_of(*words: str) -> Callable[[str], str]:
    """Parses these words."""

    def parse(value: str) -> str:
        if value.strip() not in words:
            raise ValueError(f"is not one of {', '.join(words)}")
        return value.strip()

    return parse


def parse_seconds(value: str) -> float:
    """A number of seconds above 0."""
    number = parse_number(value) if _is_number(value) else 0.0
    if number == 0:
        raise ValueError("is not a number of seconds above 0")
    return number


def parse_url(value: str) -> str:
    """The URL without a slash at its end. Raises ValueError."""
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
    """The whole path of a file or folder that is there."""
    try:
        path = Path(value).expanduser().absolute()
        is_there = path.exists()
    except (OSError, RuntimeError):
        is_there = False
    if not is_there:
        raise ValueError("is no file and no folder")
    return path


def parse_function(value: str) -> str:
    """`module:function`."""
    module, _, name = value.strip().partition(":")
    if not name.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise ValueError("is not module:function")
    return value.strip()


def parse_key(value: str) -> str:
    """The key, fit for an HTTP header. Raises ValueError that does not repeat it."""
    if not value.isascii() or not value.isprintable():
        raise ValueError("has characters that no key has")
    return value.strip()


def header_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the headers that the SDK's variables ask for, and the credentials within them."""
    lines = environment.get("OPENAI_CUSTOM_HEADERS", "").splitlines()
    named = [line.partition(":")[2] for line in lines]
    named += [environment.get(name, "") for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID")]
    values = [value.strip() for value in named if value.strip()]
    bare = [value.removeprefix("Bearer ").removeprefix("Basic ").strip() for value in values]
    return tuple(dict.fromkeys([*values, *bare]))


def parse_prompt(value: str) -> str:
    """The text, or what stands in the file that `@FILE` names."""
    if not value.startswith("@"):
        return value
    try:
        return Path(value[1:]).read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"names a file that cannot be read ({error.__class__.__name__})") from None
