"""Readable names for the ASCII slugs of areas and metrics and the codes of languages in results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from equipoise.suites import AnySuite

if TYPE_CHECKING:
    from babel import Locale

_SLUG = re.compile(r"[a-z0-9_.]+")
_PAIR = re.compile(r"(\S+) - (\S+)")
_PART = re.compile(r"\.(?!\d)")
"""The point between parts of a metric's name, not a decimal point."""
_SENTENCE = re.compile(r"[.!?:](?=\s)")
"""The end of a sentence."""
_LONGEST = 200
"""Maximum length of a slug in characters; longer texts are shown unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names in one results file: `known` by slug or code, and the `spelling` of words by lower case."""

    known: Mapping[str, str] = field(default_factory=dict)
    spelling: Mapping[str, str] = field(default_factory=dict)

    def of(self, slug: str) -> str:
        """The name of a slug, a language code or a pair such as `en-US - zh-CN`; other texts unchanged.

        >>> Names(spelling={"hong": "Hong", "kong": "Kong"}).of("return_of_hong_kong")
        'Return of Hong Kong'
        """
        if slug in self.known:
            return self.known[slug]
        if len(slug) <= _LONGEST and (pair := _PAIR.fullmatch(slug)):
            return " - ".join(self.known.get(code, code) for code in pair.groups())
        if len(slug) > _LONGEST or not _SLUG.fullmatch(slug):
            return slug
        text = " ".join(self.spelling.get(word, word) for word in slug.split("_") if word)
        return text[:1].upper() + text[1:]

    def metric(self, name: str) -> str:
        """The name of a metric, whose parts, separated by points, are slugs.

        >>> Names().metric("area.human_rights")
        'Area: Human rights'
        """
        return ": ".join(map(self.of, _PART.split(name)))


def names(known: Mapping[str, str], codes: Iterable[str], texts: Iterable[str]) -> Names:
    """The names of results: those `known`, and languages by `codes`; words are spelt as in `texts`."""
    return Names(known={**known, **languages(codes)}, spelling=spelling(texts))


def title(suite: AnySuite) -> str:
    """The title of a suite; if it has none, its name in words."""
    return suite.about.title or Names(known=suite.about.names).of(suite.name)


def spelling(texts: Iterable[str]) -> dict[str, str]:
    """The usual spelling, by lower case, of words that are not usually in lower case, such as names.

    The first word of a sentence does not count, as it is always capitalised.
    """
    counts: dict[str, Counter[str]] = {}
    for text in texts:
        for sentence in _SENTENCE.split(text):
            for word in re.findall(r"\w+", sentence)[1:]:
                counts.setdefault(word.lower(), Counter())[word] += 1
    usual = {word: spellings.most_common(1)[0][0] for word, spellings in counts.items()}
    return {word: spelling for word, spelling in usual.items() if word != spelling}


def languages(codes: Iterable[str]) -> dict[str, str]:
    """The English names of languages by code, all with their countries if names alone are not distinct.

    A code that is not known is its own name.
    """
    locales = {code: _locale(code) for code in codes}
    short = {code: (locale and locale.get_language_name("en")) or code for code, locale in locales.items()}
    if len(set(short.values())) == len(short):
        return short
    return {code: (locale and locale.get_display_name("en")) or code for code, locale in locales.items()}


def _locale(code: str) -> Locale | None:
    """The locale of a code such as zh-CN; None if it is not known."""
    # Imported here: babel loads its data, and most sessions name no language.
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(code, sep="-")
    except (ValueError, UnknownLocaleError):
        return None
