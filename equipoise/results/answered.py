"""Changes of the model, fingerprint or provider that an endpoint reported, during a session or between two.

Reads the rows `response_models` of the metadata. Rows of pooled results lack the first and last call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from equipoise.core.quantities import first_few
from equipoise.results.document import AnsweredBy, Metadata

MOST_VALUES = 5
"""Maximum number of values for changes to be reported: some endpoints vary the fingerprint by reply."""
FIRST_AND_LAST_KEYS = ("first_run", "first_call", "last_call")
"""Keys of a row: the run of its first call, and the ordinals of its first and last call."""
_Reported = Literal["response_model", "system_fingerprint", "provider"]
REPORTED_KEYS: tuple[_Reported, ...] = ("response_model", "system_fingerprint", "provider")
"""Keys of a row: what the endpoint reported."""
_OVERLAP_FACTOR = 2
"""How many calls may end out of order at a change, as a multiple of the concurrency."""


@dataclass(slots=True)
class _Value:
    """A name that an endpoint reported, the number of its calls, and the first and the last of them."""

    name: str
    calls: int
    first_run: str | None = None
    first_call: int | None = None
    last_call: int | None = None


_TOO_MANY = ", too many for a new one to indicate a change"
"""The end of a sentence on more values than MOST_VALUES."""


def sentences(metadata: Metadata) -> list[str]:
    """Sentences on changes while the session ran, and on values too many to show changes; often empty."""
    return describe_changes(metadata.get("response_models", ()), metadata.get("concurrency") or 0)


def describe_changes(response_models: Sequence[AnsweredBy], concurrency: int) -> list[str]:
    """The `sentences` on these rows of the metadata, with at most `concurrency` calls in flight."""
    return [
        f"{role} {model}: {text}"
        for (role, model), rows in _by_model(response_models).items()
        for text in _model_sentences(rows, _OVERLAP_FACTOR * concurrency)
    ]


def changes(metadata: Metadata) -> list[str]:
    """The `sentences` on actual changes, of which readers are warned."""
    return [text for text in sentences(metadata) if not text.endswith(_TOO_MANY)]


def _model_sentences(rows: Sequence[AnsweredBy], overlap: int) -> Iterator[str]:
    models = _values(rows, "response_model")
    yield from _value_sentences("answered as", "names of models", models, overlap)
    for name in models if len(models) <= MOST_VALUES else ():
        fingerprints = _values(
            [row for row in rows if row.get("response_model") == name], "system_fingerprint"
        )
        of_model = f" of {name}" if len(models) > 1 else ""
        yield from _value_sentences(
            f"gave the fingerprint{of_model} as", "fingerprints", fingerprints, overlap
        )
    providers = _values(rows, "provider")
    yield from _value_sentences("answered by way of", "names of providers", providers, overlap)


def _value_sentences(verb: str, plural: str, values: Mapping[str, _Value], overlap: int) -> Iterator[str]:
    if len(values) > MOST_VALUES:
        yield f"the endpoint gave {len(values):,} {plural}{_TOO_MANY}"
    elif len(values) > 1:
        first, *later = sorted(values.values(), key=lambda value: value.first_call or 0)
        parts = [f"{first.name} in {first.calls:,} calls"]
        parts += [f"{value.name} in {value.calls:,}{_since_when(value, first, overlap)}" for value in later]
        yield f"the endpoint {verb} {', '.join(parts[:-1])} and {parts[-1]}"


def _since_when(value: _Value, first: _Value, overlap: int) -> str:
    """The run at which a value began, and whether the first value continued beside it; empty if not known.

    At a change, calls in flight may end late: the first value continues only if its last call is more than
    `overlap` calls after the first call with the new value.
    """
    if value.first_run is None or value.first_call is None or first.last_call is None:
        return ""
    is_change = first.last_call - value.first_call <= overlap
    return f" ({'from' if is_change else 'interleaved, from'} {value.first_run} on)"


def _values(rows: Sequence[AnsweredBy], part: _Reported) -> dict[str, _Value]:
    """The values of one part by name, summed over rows; rows without a name are left out."""
    values: dict[str, _Value] = {}
    for row in rows:
        if (name := row.get(part)) is not None:
            value = values.setdefault(name, _Value(name, 0))
            value.calls += row.get("calls", 0)
            if "first_call" in row and (value.first_call is None or row["first_call"] < value.first_call):
                value.first_run, value.first_call = row.get("first_run"), row["first_call"]
            value.last_call = max(value.last_call or 0, row.get("last_call", 0)) or None
    return values


def changes_within(before: Metadata, after: Metadata) -> list[str]:
    """Sentences on changes while either of two sessions ran."""
    sides = (("baseline", before), ("candidate", after))
    return [f"in the {words}, {text}" for words, side in sides for text in changes(side)]


def changes_between(before: Metadata, after: Metadata) -> list[str]:
    """Sentences on differences between two results, for the models that both of them called."""
    older, newer = (_by_model(side.get("response_models", ())) for side in (before, after))
    return [
        text
        for key in sorted(older.keys() & newer.keys())
        for part in REPORTED_KEYS
        if (text := _difference(" ".join(key), part, older[key], newer[key]))
    ]


def _difference(
    who: str, part: _Reported, before: Sequence[AnsweredBy], after: Sequence[AnsweredBy]
) -> str | None:
    names = [sorted({str(row.get(part)) for row in rows}) for rows in (before, after)]
    if names[0] == names[1] or max(map(len, names)) > MOST_VALUES:
        return None
    words = part.replace("_", " ")
    return f"{who}: the {words} was {_listed(names[0])}, now {_listed(names[1])}"


def _by_model(response_models: Sequence[AnsweredBy]) -> dict[tuple[str, str], list[AnsweredBy]]:
    """The rows by role and model of the call."""
    rows: dict[tuple[str, str], list[AnsweredBy]] = {}
    for row in response_models:
        rows.setdefault((row["role"], row["model"]), []).append(row)
    return rows


def _listed(names: Sequence[str]) -> str:
    return first_few(["unknown" if name == "None" else name for name in names], 3)
