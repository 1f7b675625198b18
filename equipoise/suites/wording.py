"""Rules on the words of a dataset, in the file WORDING beside it: reads them, and finds words in a text.

Each suite has its own type of rules, with a field for each table of the file, and applies them itself.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self, get_type_hints

import msgspec
from msgspec import Meta, Struct

from equipoise.core import toml_text
from equipoise.core.errors import UserError
from equipoise.core.files import read_text
from equipoise.core.types import JSON

STEM_MARK = "*"
"""A word with this mark at its end matches all words that begin with it."""
Word = Annotated[str, Meta(pattern=r"[^*]")]
"""A word or phrase to find. It is not empty, because an empty word would be found everywhere."""
Lists = Mapping[str, Mapping[str, Sequence[Word]]]
_LETTER = r"[^\W\u2e80-\U0003ffff]"
"""A letter or digit of a script with spaces between words.

Words of other scripts are matched anywhere, because nothing separates one word from the next.
"""


class WordingRules(Struct, frozen=True, kw_only=True):
    """The rules of a dataset. A field is a table of the file, and its description says what the table needs.

    `avoid` maps, by language, words to what is wrong with them.
    """

    avoid: Annotated[
        Mapping[str, Mapping[Word, str]], Meta(description="by language, words and what is wrong with each")
    ]

    @classmethod
    def read(cls, path: Path) -> Self:
        """The rules in a file. Tables that it lacks, or all tables if it is missing, are empty.

        Raises UserError.
        """
        try:
            content = toml_text.loads(read_text(path)) if path.is_file() else {}
        except tomllib.TOMLDecodeError as error:
            raise UserError(f"{path}: not valid TOML: {error}") from None
        types = get_type_hints(cls, include_extras=True)
        if unknown := content.keys() - types:
            raise UserError(f"{path}: has {min(unknown)!r}; there may be tables {', '.join(types)}")
        return cls(**{name: _table(path, name, content.get(name, {}), types[name]) for name in types})


def _table(path: Path, name: str, content: JSON, expected: Any) -> Any:
    try:
        return msgspec.convert(content, expected)
    except msgspec.ValidationError:
        raise UserError(f"{path}: {name} needs, {expected.__metadata__[0].description}") from None


def count_word(word: str, text: str) -> int:
    """How often a text has a word, as a whole word if its script has spaces; case is ignored."""
    text = text.casefold()
    # A pattern takes milliseconds to compile, and most words do not occur in the text at all.
    if word.removesuffix(STEM_MARK).casefold() not in text:
        return 0
    return len(re.findall(_pattern(word), text))


def without(phrases: Sequence[str], text: str) -> str:
    """A text without these phrases; it is casefolded if it had any of them."""
    for phrase in phrases:
        if count_word(phrase, text):
            text = re.sub(_pattern(phrase), " ", text.casefold())
    return text


def _pattern(word: str) -> str:
    """A regular expression for the word in casefolded text, not inside another word."""
    stem = word.removesuffix(STEM_MARK)
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, stem) else ""
    after = rf"(?!{_LETTER})" if stem == word and re.match(_LETTER, stem[-1:]) else ""
    # Casefolded, because with re.IGNORECASE the class of letters takes 25 ms to compile.
    return before + re.escape(stem.casefold()) + after
