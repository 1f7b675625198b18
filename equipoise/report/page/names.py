"""Readable names for the slugs and codes of results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from babel import Locale, UnknownLocaleError

from equipoise.suites import AnySuite

_SLUG = re.compile(r"[a-z0-9_.]+")
_PAIR = re.compile(r"(\S+) - (\S+)")
_PART = re.compile(r"\.(?!\d)")
_SENTENCE = re.compile(r"[.!?:](?=\s)")
_LONGEST = 200
"""Maximum length of a slug in characters; longer texts are shown unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of one results file: `known` by slug or code, and the `spelling` of words in lower case."""

    known: Mapping[str, str] = field(default_factory=dict)
    spelling: Mapping[str, str] = field(default_factory=dict)

    def of(self, slug: str) -> str:
        """The name of an area, a language or a pair of languages; other texts unchanged.

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
    """The names of results in the languages `codes`; words are spelt as in `texts`."""
    return Names(known={**known, **languages(codes)}, spelling=spelling(texts))


def title(suite: AnySuite) -> str:
    """The title of a suite."""
    return suite.title or Names(known=suite.names).of(suite.name)


def spelling(texts: Iterable[str]) -> dict[str, str]:
    """The usual spelling, by lower case, of words that these texts mostly capitalise within sentences."""
    counts: dict[str, Counter[str]] = {}
    for text in texts:
        for sentence in _SENTENCE.split(text):
            for word in re.findall(r"\w+", sentence)[1:]:
                counts.setdefault(word.lower(), Counter())[word] += 1
    usual = {word: forms.most_common(1)[0][0] for word, forms in counts.items()}
    return {word: form for word, form in usual.items() if word != form}


def languages(codes: Iterable[str]) -> dict[str, str]:
    """The English names of languages by code, with their countries if names would not be distinct."""
    locales = {code: _locale(code) for code in codes}
    short = {code: (locale and locale.get_language_name("en")) or code for code, locale in locales.items()}
    if len(set(short.values())) == len(short):
        return short
    return {code: (locale and locale.get_display_name("en")) or code for code, locale in locales.items()}


def _locale(code: str) -> Locale | None:
    try:
        return Locale.parse(code, sep="-")
    except (ValueError, UnknownLocaleError):
        return None
