"""Single runs of results as text: selection, outcome and conversation. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from equipoise.compare.baseline import Side
from equipoise.core.errors import printable
from equipoise.core.types import JSON
from equipoise.results.runs import at
from equipoise.results.runs import runs as runs_of

INDENT = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRun:
    """One run of results: its language and case, its number from 1, and its figure with its unit.

    `names` are the texts beside its messages in which it is found; `run` is its object in the results JSON.
    """

    id: str
    number: int
    figure: float | None
    unit: str
    names: Sequence[str]
    run: Mapping[str, JSON]

    @property
    def text(self) -> str:
        """The text in which a run is searched, in lower case."""
        said = " ".join(str(message["content"]) for _, message in messages(self.run))
        return " ".join([self.id, *self.names, said]).casefold()


def runs(side: Side) -> list[ShownRun]:
    """All runs of results, in order."""
    headline = next(iter(side.metrics.values()))
    return [
        ShownRun(
            id=found.id if found.id.startswith(f"{found.language}-") else f"{found.language}/{found.id}",
            number=found.number,
            figure=side.suite.figure_of(found.case, found.data, side.scale),
            unit=headline.unit,
            names=[value for value in found.case.values() if isinstance(value, str)],
            run=at(side.data, found.at),
        )
        for found in runs_of(side.data["results"])
    ]


def select(
    found: Sequence[ShownRun],
    *,
    text: str | None = None,
    outcome: str | None = None,
    lowest: int | None = None,
) -> list[ShownRun]:
    """The runs with a text in their name or conversation and with an outcome; of these, the `lowest` ones."""
    selected = [
        shown
        for shown in found
        if (text is None or text.casefold() in shown.text)
        and (outcome is None or shown.run["outcome"] == outcome)
    ]
    if lowest is None:
        return selected
    scored = [(shown.figure, place) for place, shown in enumerate(selected) if shown.figure is not None]
    return [selected[place] for _, place in sorted(scored)[:lowest]]


def lines(shown: ShownRun) -> Iterator[str]:
    """A run's outcome, its conversation with the subject, and the evaluators' answers."""
    run = shown.run
    unit = "%" if shown.unit == "%" else f" {shown.unit}"
    figure = "" if shown.figure is None else f", {shown.figure:g}{unit}"
    yield f"{shown.id} run {shown.number}: {run['outcome']}{figure}"
    for role, message in messages(run):
        yield f"{role}:"
        for line in str(message["content"] or "(nothing)").splitlines():
            yield f"{INDENT}{printable(line)}"
    if run.get("error"):
        yield f"error: {printable(str(run['error']))}"
    yield ""


def messages(run: Mapping[str, JSON]) -> Iterator[tuple[str, Mapping[str, JSON]]]:
    """Each message with its speaker: the conversations with the subject, then each evaluator's answers."""
    sides = run.get("subject_transcripts") or {"": run.get("subject_transcript") or []}
    for side, said in sides.items():
        for message in said:
            yield f"{side} {message['role']}".strip(), message
    for conversation in run.get("evaluator_transcripts") or []:
        for message in conversation["messages"]:
            if message["role"] == "assistant":
                yield f"evaluator {conversation['evaluator']}", message
