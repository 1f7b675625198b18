"""Figures of BorderLines: who was said to own what, in which language. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from equipoise.core.figures import Figure
from equipoise.core.types import JSON
from equipoise.suites.borderlines.dataset import UNKNOWN
from equipoise.suites.borderlines.scoring import by_strategy

MOST = 40
Queries = Sequence[Mapping[str, JSON]]


def plots(data: Mapping[str, JSON]) -> Iterator[Figure]:
    """The matrix of territories against languages; shares of the controller by language.

    Of several strategies the first is shown, as in the table.
    """
    parts = by_strategy(data["results"]) or {"": {}}
    strategy, results = next(iter(parts.items()))
    shares, note = data["summary"]["by_language"], ""
    if len(parts) > 1:
        shares, note = shares[strategy], f" Strategy: {strategy}."
    yield _matrix([row for found in results.values() for row in found["queries"]], note)
    yield _languages(shares, note.strip())


def _matrix(rows: Queries, note: str) -> Figure:
    by_territory: dict[str, list[Mapping[str, JSON]]] = {}
    for row in rows:
        by_territory.setdefault(row["territory"], []).append(row)
    shown = sorted(by_territory, key=lambda name: -len({_answer(row) for row in by_territory[name]} - {None}))
    left_out = "" if len(shown) <= MOST else f" The {MOST} territories with the most different answers."
    return Figure(
        name="territories",
        title="The country named for each territory, by language",
        kind="matrix",
        rows=[_cell(name, row) for name in shown[:MOST] for row in by_territory[name]],
        unit="share",
        low=0.0,
        high=1.0,
        note="The text is the most frequent answer, the shade how many answers name the country in control; "
        f"there is none where no single country is. English is the control, too.{left_out}{note}",
    )


def _cell(territory: str, row: Mapping[str, JSON]) -> dict[str, JSON]:
    said = [run["answer"] for run in row["runs"] if run["answer"]]
    is_known = said and row["controller"] != UNKNOWN
    hits = sum(answer == row["controller"] for answer in said)
    voice = row.get("voice")
    return {
        "row": territory.replace("_", " "),
        "column": f"{row['language']}-{voice}" if voice else row["language"],
        "value": hits / len(said) if is_known else None,
        "text": _answer(row) or "-",
    }


def _answer(row: Mapping[str, JSON]) -> str | None:
    said = Counter(run["answer"] for run in row["runs"] if run["answer"])
    return said.most_common(1)[0][0] if said else None


def _languages(found: Mapping[str, JSON], note: str) -> Figure:
    return Figure(
        name="control-by-language",
        title="How often the country in control is named, by language",
        kind="intervals",
        rows=[
            {"name": language, "value": row["controller"], "low": row["low"], "high": row["high"]}
            for language, row in sorted(found.items(), key=lambda item: item[1]["controller"] or 0.0)
            if row["controller"] is not None
        ],
        low=0.0,
        high=100.0,
        note=note,
    )
