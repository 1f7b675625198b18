"""Single runs of results for people: which ones, how each ended, and what was said. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from equipoise.core.errors import printable
from equipoise.core.records import Cell
from equipoise.core.types import JSON

INDENT = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One run of results: the cell that it is of, its number from 1, and its headline figure.

    `run` is how the results JSON has it.
    """

    cell: Cell
    number: int
    figure: float | None
    run: Mapping[str, JSON]

    @property
    def text(self) -> str:
        """All that a run is found by, in small letters."""
        said = " ".join(str(message["content"]) for _, message in messages(self.run))
        return " ".join([self.cell.id, *self.cell.labels.values(), said]).casefold()


def runs(data: Mapping[str, JSON], cells: Sequence[Cell], headline: str) -> list[Shown]:
    """All runs of results, in order; `headline` is the value of a cell that a figure is made of."""
    places = {cell.at: cell for cell in cells if cell.at}
    return [
        Shown(cell=cell, number=number, figure=_nth(cell.of(headline), number), run=run)
        for at, cell in places.items()
        for number, run in enumerate(_at(data, at), start=1)
    ]


def _at(data: JSON, pointer: str) -> JSON:
    """What stands at a JSON pointer (RFC 6901)."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        data = data[int(name)] if isinstance(data, list) else data[name]
    return data


def _nth(values: Sequence[float | None], number: int) -> float | None:
    return values[number - 1] if number <= len(values) else None


def chosen(
    found: Sequence[Shown], *, text: str | None = None, outcome: str | None = None, lowest: int | None = None
) -> list[Shown]:
    """The runs that have a text in their name or in what was said, and ended so; of these the lowest."""
    kept = [
        shown
        for shown in found
        if (text is None or text.casefold() in shown.text)
        and (outcome is None or shown.run["outcome"] == outcome)
    ]
    if lowest is None:
        return kept
    scored = [(shown.figure, place) for place, shown in enumerate(kept) if shown.figure is not None]
    return [kept[place] for _, place in sorted(scored)[:lowest]]


def lines(shown: Shown) -> Iterator[str]:
    """How a run ended, what the subject was asked and said, and how it was judged."""
    run = shown.run
    figure = "" if shown.figure is None else f", {shown.figure:g}"
    yield f"{shown.cell.id} run {shown.number}: {run['outcome']}{figure}"
    for role, message in messages(run):
        yield f"{role}:"
        for line in str(message["content"] or "(nothing)").splitlines():
            yield f"{INDENT}{printable(line)}"
    if run.get("error"):
        yield f"error: {printable(str(run['error']))}"
    yield ""


def messages(run: Mapping[str, JSON]) -> Iterator[tuple[str, Mapping[str, JSON]]]:
    """Who said what: the conversations with the subject, then each evaluator's answers."""
    sides = run.get("subject_transcripts") or {"": run.get("subject_transcript") or []}
    for side, said in sides.items():
        for message in said:
            yield f"{side} {message['role']}".strip(), message
    for conversation in run.get("evaluator_transcripts") or []:
        for message in conversation["messages"]:
            if message["role"] == "assistant":
                yield f"evaluator {conversation['evaluator']}", message
