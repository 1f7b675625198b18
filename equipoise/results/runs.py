"""The single runs in results JSON, whatever suite wrote them.

A run is an object in a list `runs`; the object around that list is the row of its case, and the first key
on the way there its language. Knows no suite's other fields, which are passed on as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from equipoise.core.records import OUTCOMES, Outcome
from equipoise.core.types import JSON, Message, Usage

SUBJECT = ("subject_transcript", "subject_transcripts")
TRANSCRIPTS = (*SUBJECT, "evaluator_transcripts")
"""The keys of a run that hold conversations."""
_ENDS = {*OUTCOMES, "unknown"}
"""How a run may have ended; published results do not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One conversation of a run; `name` is the evaluator, or the side of a paired question, or empty."""

    name: str
    messages: Sequence[Message]

    @property
    def replies(self) -> list[Message]:
        """What the model said."""
        return [message for message in self.messages if message["role"] == "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """One run of results: `case` is the row of its case, `data` its own object, without transcripts.

    `at` is the JSON pointer (RFC 6901) of that object. Conversations are read at first use.
    """

    language: str
    case: Mapping[str, JSON]
    data: Mapping[str, JSON]
    at: str
    _whole: Callable[[str], Mapping[str, JSON]] = field(repr=False, compare=False)

    @property
    def id(self) -> str:
        """The id of its case, unique in its language."""
        return str(self.case["id"])

    @property
    def number(self) -> int:
        """Which repeat of the case, from 1."""
        return int(self.data["run_index"])

    @property
    def area(self) -> str | None:
        """The topic area."""
        return self.case.get("area")

    @property
    def outcome(self) -> Outcome:
        """How the run ended."""
        found: Outcome = self.data["outcome"]
        return found

    @property
    def score(self) -> float | None:
        """The score on the suite's own scale; None where `error` says why."""
        found: float | None = self.data["score"]
        return found

    @property
    def percent(self) -> float | None:
        """The score in percent of the scale, for suites that have it."""
        return self.data.get("score_percentage")

    @property
    def error(self) -> str | None:
        """Why there is no score."""
        return self.data.get("error")

    @property
    def subject(self) -> list[Conversation]:
        """The conversations with the subject."""
        run = self._whole(self.at)
        sides = run.get("subject_transcripts") or {"": run.get("subject_transcript") or []}
        return [Conversation(name=name, messages=messages) for name, messages in sides.items() if messages]

    @property
    def evaluators(self) -> list[Conversation]:
        """The conversations with evaluators."""
        said = self._whole(self.at).get("evaluator_transcripts") or []
        return [Conversation(name=item["evaluator"], messages=item["messages"]) for item in said]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    """The row of a case in results, with its runs. `at` is its JSON pointer (RFC 6901)."""

    language: str
    data: Mapping[str, JSON]
    at: str


def cases(results: Mapping[str, JSON]) -> Iterator[CaseRow]:
    """The rows of all cases in the part `results` of results JSON, however deep, in order."""
    for language, part in results.items():
        yield from _rows_in(part, f"/results/{_escaped(language)}", language)


def _rows_in(data: JSON, at: str, language: str) -> Iterator[CaseRow]:
    if is_row(data):
        yield CaseRow(language=language, data=data, at=at)
    elif isinstance(data, dict | list):
        for name, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _rows_in(value, f"{at}/{_escaped(str(name))}", language)


def runs(
    results: Mapping[str, JSON], whole: Callable[[str], Mapping[str, JSON]] | None = None
) -> Iterator[RunResult]:
    """All runs in the part `results` of results JSON, in order.

    `whole` returns the object at a JSON pointer with its transcripts, where `results` lacks them.
    """
    for row in cases(results):
        case = {name: value for name, value in row.data.items() if name != "runs"}
        for number, run in enumerate(row.data["runs"]):
            yield RunResult(
                language=row.language,
                case=case,
                data={name: value for name, value in run.items() if name not in TRANSCRIPTS},
                at=f"{row.at}/runs/{number}",
                _whole=whole or _constantly(run),
            )


def check(run: RunResult) -> None:
    """Raise KeyError or ValueError if a run lacks a part, or has one of the wrong type."""
    if run.number < 1 or run.outcome not in _ENDS or not isinstance(run.score, float | int | None):
        raise ValueError(run.at)


def is_row(data: JSON) -> bool:
    """Whether this is the row of a case: an object with a list of runs."""
    return isinstance(data, dict) and isinstance(data.get("runs"), list) and "id" in data


def _constantly(run: Mapping[str, JSON]) -> Callable[[str], Mapping[str, JSON]]:
    return lambda at: run


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def at(data: JSON, pointer: str) -> JSON:
    """The value at a JSON pointer (RFC 6901)."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        data = data[int(name)] if isinstance(data, list) else data[name]
    return data


def without_transcripts(data: JSON) -> JSON:
    """The same results, whose runs lack their transcripts."""
    if is_row(data):
        found = [{name: run[name] for name in run if name not in TRANSCRIPTS} for run in data["runs"]]
        return {**data, "runs": found}
    if isinstance(data, dict):
        return {name: without_transcripts(value) for name, value in data.items()}
    return [without_transcripts(item) for item in data] if isinstance(data, list) else data


def usage(conversations: Sequence[Conversation]) -> Usage | None:
    """The tokens that the endpoint counted in these conversations; None where it counted none."""
    found = [message["usage"] for item in conversations for message in item.messages if "usage" in message]
    if not found:
        return None
    return Usage(
        **{kind: sum(item[kind] for item in found) for kind in ("input", "output", "cached", "reasoning")}
    )
