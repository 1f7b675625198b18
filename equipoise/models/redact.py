"""Masks keys in everything that is written, shown or sent elsewhere, even if a model repeats them.

Replies are judged unmasked, and masked before they reach a file or a message. A "real" key, one of
REAL_KEY_LENGTH characters or more, is masked wherever it occurs: inside other text, truncated to at least
REAL_KEY_LENGTH characters, with JSON, URL or HTML escapes, or in base64. A shorter key may be an ordinary
word ('secret', 'ollama'). It is masked only as a whole word, that is, with no letter, digit, hyphen or
underscore next to it, and not as the name of a JSON field. Texts of fewer than MIN_KEY_LENGTH characters are
not keys.
"""

from __future__ import annotations

import html
import json
import math
import re
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from equipoise.core.records import Record, Verdict
from equipoise.core.settings import NO_KEY
from equipoise.core.types import JSON, Call, Reply, Token

MASK = "****"
MIN_KEY_LENGTH = 6
REAL_KEY_LENGTH = 16
_WORD_CHARACTER = "[A-Za-z0-9_-]"
_ESCAPES = (
    r"\\\\{0,7}(?:u00(?P<json>[2-7][0-9A-Fa-f])|(?P<punctuation>_|[^\w\s\"\\]))",
    r"%(?:25){0,3}(?P<url>[2-7][0-9A-Fa-f])",
    r"&(?P<html>#?\w{2,8};)",
)
"""Escapes of a character in JSON, URLs, HTML and Markdown, nested up to four times.

Each further level doubles the backslashes (1, 2, 4 or 8), or escapes the percent sign once more (%25).
"""
_ESCAPE = re.compile("|".join(_ESCAPES))
# A quick test whether a text has any escape: each of these patterns begins with a literal character.
_SINGLE_ESCAPES = [re.compile(escape) for escape in _ESCAPES]
_TEXT_FIELDS = ("text", "reasoning")
_CODE_FIELDS = ("finish_reason", "model", "fingerprint", "provider", "blocked")
"""The fields of a reply that are text, and those that are names and codes."""


class Secrets:
    """The texts to mask: keys, other texts such as headers, and any word in them as long as a real key."""

    def __init__(self, texts: Iterable[str]) -> None:
        secrets = {text for text in texts if len(text) >= MIN_KEY_LENGTH and text != NO_KEY}
        secrets |= {word for text in secrets for word in text.split() if len(word) >= REAL_KEY_LENGTH}
        self._real_keys = sorted(text for text in secrets if len(text) >= REAL_KEY_LENGTH)
        self._short_keys = secrets.difference(self._real_keys)
        forms: set[str] = set()
        for key in self._real_keys:
            forms |= {key, json.dumps(key)[1:-1], *_base64_forms(key)}
        # The search is for the beginning of a key, as a truncated key is masked, too.
        self._forms = [(form[:REAL_KEY_LENGTH], form) for form in sorted(forms)]
        self._patterns = [_word_pattern(word) for word in sorted(self._short_keys, key=len, reverse=True)]

    def except_key(self, own: str) -> Secrets:
        """All real keys except `own`: keys that must not be sent to the endpoint whose key is `own`."""
        return Secrets(key for key in self._real_keys if key != own)

    def mask(self, data: JSON) -> JSON:
        """The data with the secrets in all texts and names masked. Idempotent."""
        if isinstance(data, str):
            return self._mask_text(data)
        if isinstance(data, list):
            return [self.mask(item) for item in data]
        if isinstance(data, dict):
            return {self.mask(name): self.mask(value) for name, value in data.items()}
        return data

    def mask_values(self, data: JSON) -> JSON:
        """Our own data with the secrets in its values masked.

        Names are left as they are, and so is a value that is a whole short key, as it may also be a label or
        the name of a model.
        """
        if isinstance(data, str):
            return data if data in self._short_keys else self._mask_text(data)
        if isinstance(data, list | tuple):
            return [self.mask_values(item) for item in data]
        if isinstance(data, Mapping):
            return {name: self.mask_values(value) for name, value in data.items()}
        return data

    def mask_file(self, path: Path) -> None:
        """Mask the secrets in a file, if it exists."""
        with suppress(OSError):
            content = path.read_text(encoding="utf-8", errors="surrogateescape")
            path.write_text(self.mask(content), encoding="utf-8", errors="surrogateescape")

    def _mask_text(self, text: str) -> str:
        # Short keys last: one next to a real key becomes a whole word once the real key is masked.
        return self._mask_short_keys(self._mask_real_keys(text))

    def _mask_short_keys(self, text: str) -> str:
        for pattern in self._patterns:
            text = pattern.sub(MASK, text)
        return text

    def _mask_real_keys(self, text: str) -> str:
        if self._forms:
            text = self._mask_spans(text, text, lambda position: position)
            if any(escape.search(text) for escape in _SINGLE_ESCAPES):
                text = self._mask_spans(text, *_unescape(text))
        return text

    def _mask_spans(self, text: str, plain: str, to_original: Callable[[int], int]) -> str:
        """The text with keys masked, which are searched for in `plain`, the unescaped text.

        `to_original` maps a position in `plain` to the one in `text`.
        """
        pieces, end = [], 0
        for first, last in _merge(self._find_spans(plain)):
            pieces += [text[end : to_original(first)], MASK]
            end = to_original(last)
        return "".join([*pieces, text[end:]]) if pieces else text

    def _find_spans(self, plain: str) -> Iterator[tuple[int, int]]:
        """The spans (start, end) of keys, and of truncated keys."""
        for beginning, form in self._forms:
            end = 0
            while (start := plain.find(beginning, end)) >= 0:
                pairs = zip(form, plain[start : start + len(form)], strict=False)
                end = start + len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
                yield start, end

    # For the journal.

    def masked_call(self, call: Call) -> Call:
        """The call with the secrets in its messages masked."""
        texts = [message["content"] for message in call.messages]
        clean = [self.mask(text) for text in texts]
        if clean == texts:
            return call
        pairs = zip(call.messages, clean, strict=True)
        return replace(call, messages=tuple({**message, "content": text} for message, text in pairs))

    def masked_reply(self, reply: Reply) -> Reply:
        """The reply with the secrets in its texts masked."""
        texts = {name: value for name in (*_TEXT_FIELDS, *_CODE_FIELDS) if (value := getattr(reply, name))}
        clean = {
            name: self.mask(text) if name in _TEXT_FIELDS else self._mask_real_keys(text)
            for name, text in texts.items()
        }
        changed: dict[str, JSON] = {name: text for name, text in clean.items() if text != texts[name]}
        tokens = self._masked_tokens(reply.tokens or (), is_text_masked=bool(changed))
        if reply.tokens and tokens != reply.tokens:
            changed["tokens"] = tokens
        return replace(reply, **changed) if changed else reply

    def _masked_tokens(self, tokens: Sequence[Token], *, is_text_masked: bool) -> tuple[Token, ...] | None:
        """The masked tokens; None if they contain a key, as a key split over tokens cannot be masked."""
        text = "".join(token.text for token in tokens)
        if is_text_masked or self.mask(text) != text:
            return None
        # The alternatives to each token are texts of the model, too.
        return tuple(replace(token, top=self.mask(dict(token.top))) for token in tokens)

    def masked_record(self, record: Record) -> Record:
        """The record with the secrets masked in the texts of models and endpoints."""
        return replace(
            record,
            error=self.mask(record.error),
            verdicts=tuple(map(self._masked_verdict, record.verdicts)),
            details=self.mask_values(record.details),
        )

    def _masked_verdict(self, verdict: Verdict) -> Verdict:
        return replace(
            verdict,
            fields=self.mask_values(verdict.fields),
            error=self.mask(verdict.error),
            raw=tuple(map(self.mask, verdict.raw)),
        )


def _base64_forms(key: str) -> set[str]:
    """The base64 digits that depend on the key alone, for each of its offsets in a group of three bytes."""
    forms, content = set(), key.encode("utf-8", "surrogatepass")
    for before in range(3):
        digits = b64encode(bytes(before) + content).decode()
        # A digit has 6 bits: leave out the first and the last one if they also have bits of other bytes.
        key_digits = digits[math.ceil(8 * before / 6) : 8 * (before + len(content)) // 6]
        forms |= {key_digits, key_digits.replace("+", "-").replace("/", "_")}
    return forms


def _word_pattern(word: str) -> re.Pattern[str]:
    """A pattern for a short key as a whole word.

    The pattern begins with the word, as `re` is fast with a literal prefix. Its lookbehinds come after the
    word, and so contain it: for the word `abc`, `(?<![A-Za-z0-9_-]abc)`.
    """
    literal = re.escape(word)
    # The n of an escaped line break is not a letter.
    before = rf"(?:(?<!{_WORD_CHARACTER}{literal})|(?<=\\[nrt]{literal}))"
    # If the word is an identifier, it may be the name of a JSON field.
    not_a_name = r'(?!\\*"[ \t]*:)' if word.isidentifier() else ""
    return re.compile(f"{literal}(?!{_WORD_CHARACTER}){before}{not_a_name}")


def _unescape(text: str) -> tuple[str, Callable[[int], int]]:
    """The unescaped text, and a function that maps its positions to those in `text`."""
    pieces: list[str] = []
    # `shifts[i]` applies to positions in the unescaped text from `starts[i]` on: `a\u0041b` becomes `aAb`,
    # with starts 0, 2 and shifts 0, 5.
    starts, shifts = [0], [0]
    end = 0
    for match in _ESCAPE.finditer(text):
        character = _character(match)
        pieces += [text[end : match.start()], character]
        end = match.end()
        shifts.append(shifts[-1] + len(match[0]) - len(character))
        starts.append(end - shifts[-1])
    plain = "".join([*pieces, text[end:]])
    return plain, lambda position: position + shifts[bisect_right(starts, position) - 1]


def _character(escape: re.Match[str]) -> str:
    digits = escape["json"] or escape["url"]
    return chr(int(digits, 16)) if digits else escape["punctuation"] or html.unescape(escape[0])


def _merge(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order; those that overlap are merged."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


NO_SECRETS = Secrets(())
