"""The two scripts of Chinese: finds characters of one script in texts of the other."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TRADITIONAL = {"Hant", "TW", "HK", "MO"}
_SIMPLIFIED = {"Hans", "CN", "SG", "MY"}
"""The parts of a language's code that tell its script; the first of them decides."""
_HAN = re.compile("[\u3400-\u9fff]")


def script_faults(language: str, text: str) -> Iterator[str]:
    """A fault if a text in simplified Chinese has characters of traditional Chinese alone, or the reverse.

    A single such character is allowed, as names keep rare ones, if the text also has characters of its own
    script alone.
    """
    if (codecs := _codecs(language)) is None:
        return
    characters = dict.fromkeys(_HAN.findall(text))
    others = [item for item in characters if _is_only_in(item, codecs[::-1])]
    if len(others) > 1 or (others and not any(_is_only_in(item, codecs) for item in characters)):
        script = "traditional" if codecs[0] == "gb2312" else "simplified"
        yield f"has {''.join(others[:5])!r} of {script} Chinese; write it in the script of {language}"


def _codecs(language: str) -> tuple[str, str] | None:
    """The codecs of a language's script and of the other; None unless it is a known script of Chinese."""
    name, *parts = language.replace("_", "-").split("-")
    scripts = [part in _SIMPLIFIED for part in parts if part in _SIMPLIFIED | _TRADITIONAL]
    if name != "zh" or not scripts:
        return None
    return ("gb2312", "cp950") if scripts[0] else ("cp950", "gb2312")


def _is_only_in(character: str, codecs: tuple[str, str]) -> bool:
    """Whether the first of two codecs has a character, and the second does not."""
    own, other = (character.encode(codec, "ignore") for codec in codecs)
    return bool(own) and not other
