"""Finds the run of each row of a file, and answers the subject's calls with the replies of these rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import NamedTuple

from equipoise.core.errors import CallFailed
from equipoise.core.types import JSON, Call, Case, Reply, run_id
from equipoise.judge.rubric import Rubric
from equipoise.models import reasoning
from equipoise.runner.replies.rows import ReplyFile, ReplyRow, refuse
from equipoise.runner.replies.transport import FromFile
from equipoise.suites import AnySuite

_MOST_SHOWN = 60
_SINGLE = ""
"""The name of the only message of a run."""
_BLOCKED = "blocked"
"""Stands for the provider's code of a reply whose outcome is `blocked`."""


class Turn(NamedTuple):
    """One message to the subject in a run of a case. The name of a run's only message is _SINGLE."""

    case: Case
    name: str


@dataclass(eq=False)
class GivenReplies(FromFile):
    """The replies of a file, by run and text of the message; for a run's only message, _SINGLE."""

    name: str
    sha256: str
    _by_run: Mapping[str, Mapping[str, ReplyRow]]
    _asked: dict[str, str] = field(default_factory=dict)

    def has(self, run: str) -> bool:
        """Whether the file has the replies of a run."""
        return run in self._by_run

    def reference(self) -> Mapping[str, JSON]:
        """The file, for the metadata of results."""
        return {"replies": {"name": self.name, "sha256": self.sha256}}

    def check(self, suite: str, data_hash: str, cues_hash: str | None) -> None:
        """Do nothing: the rows were fitted to the cases of the session."""

    def reply(self, run: str, call: Call, digest: str) -> Reply:
        """The reply to a call of the subject, whose request has this hash. Raises CallFailed."""
        if "echo" in call.parameters:
            raise CallFailed("a file has no token probabilities for a given text", is_declined=True)
        rows = self._by_run[run]
        row = rows.get(_SINGLE) or rows.get(call.messages[-1]["content"])
        is_further = _SINGLE in rows and self._asked.setdefault(run, digest) != digest
        if row is None or is_further:
            message = f"{self.name} has no reply to this message of {run}, and no model is called"
            # The file has one reply to each run: a suite that asks again gets no second one.
            raise CallFailed(message, is_declined=is_further)
        if row.outcome == "error":
            raise CallFailed(f"{row.where}: the outcome is error")
        return _reply(row)


def _reply(row: ReplyRow) -> Reply:
    """The reply in a row, with the model's thoughts split off."""
    is_cut = row.outcome in ("truncated", _BLOCKED)
    parts = reasoning.split(row.reply, is_cut=is_cut)
    return Reply(
        text=parts.answer if parts.answer.strip() else "",
        reasoning=parts.thoughts or None,
        thought_tags=parts.tags,
        usage=row.usage,
        finish_reason="length" if row.outcome == "truncated" else None,
        blocked=_BLOCKED if row.outcome == _BLOCKED else None,
    )


# Turns.


def turns(suite: AnySuite, case: Case, rubric: Rubric) -> Mapping[str, str]:
    """The messages to the subject in a run of a case, by turn or side; _SINGLE for the only message."""
    if sides := suite.question(case.to_json()).prompts:
        return sides
    calls = [call for call in suite.foresee(case, rubric) if call.role == "subject"]
    if named := {call.turn: call.message or call.prompt for call in calls if call.turn}:
        return named
    return {_SINGLE: calls[0].prompt if calls else str(getattr(case, "question", ""))}


def is_single(messages: Mapping[str, str]) -> bool:
    """Whether a run has only one message, given the messages that `turns` returns."""
    return _SINGLE in messages


def is_of_sides(suite: AnySuite, case: Case) -> bool:
    """Whether the messages of a case are the two sides of a pair, and not turns of a conversation."""
    return bool(suite.question(case.to_json()).prompts)


# Fitting.


@dataclass(frozen=True)
class _Cases:
    """An index of a suite's cases, in all languages, by what a row may name."""

    suite: AnySuite
    rubric: Rubric
    cases: Sequence[Case]

    @cached_property
    def languages(self) -> list[str]:
        return list(dict.fromkeys(case.language for case in self.cases))

    @cached_property
    def by_id(self) -> Mapping[str, Case]:
        return {case.id: case for case in self.cases}

    @cached_property
    def by_item(self) -> Mapping[str, Sequence[Case]]:
        """The cases by the id that their languages share."""
        cases: dict[str, list[Case]] = {}
        for case in self.cases:
            cases.setdefault(self.suite.question(case.to_json()).id, []).append(case)
        return cases

    @cached_property
    def by_text(self) -> Mapping[str, Sequence[Turn]]:
        by_text: dict[str, dict[str, Turn]] = {}
        for case in self.cases:
            for turn, text in self.texts(case):
                by_text.setdefault(text, {})[f"{case.id} {turn.name}"] = turn
        return {text: [*matches.values()] for text, matches in by_text.items()}

    def turns(self, case: Case) -> Mapping[str, str]:
        return turns(self.suite, case, self.rubric)

    def texts(self, case: Case) -> Iterator[tuple[Turn, str]]:
        """Each text that may stand as the question of a row, with spaces normalised."""
        messages = self.turns(case)
        for name, text in messages.items():
            yield Turn(case, name), _plain(text)
        if is_single(messages):
            for text in (self.suite.question(case.to_json()).text, getattr(case, "question", "")):
                yield Turn(case, _SINGLE), _plain(str(text))

    def find(self, row: ReplyRow) -> Turn:
        """The message that a row replies to. Raises ValueError."""
        if row.language and row.language not in self.languages:
            raise ValueError(f"the language {_short(row.language)} is none of {', '.join(self.languages)}")
        return self._by_question(row) if not row.id else self._turn(row, self._case(row))

    def _case(self, row: ReplyRow) -> Case:
        if (case := self.by_id.get(row.id)) is not None:
            if row.language not in ("", case.language):
                raise ValueError(f"{_short(row.id)} is in {case.language}, not in {row.language}")
            return case
        cases = [case for case in self.by_item.get(row.id, ()) if row.language in ("", case.language)]
        if not cases:
            raise ValueError(f"{self.suite.name} has no case {_short(row.id)}{self._nearest(row.id)}")
        if len(cases) > 1:
            raise ValueError(f"{_short(row.id)} is asked in several languages; give the language")
        return cases[0]

    def _nearest(self, name: str) -> str:
        names = [*self.by_item, *self.by_id]
        nearest = get_close_matches(name[:_MOST_SHOWN], names, n=1)
        return f"; is it {nearest[0]!r}?" if nearest else f"; the first is {names[0]!r}"

    def _by_question(self, row: ReplyRow) -> Turn:
        matches = [
            turn
            for turn in self.by_text.get(_plain(row.question), ())
            if row.language in ("", turn.case.language) and row.turn in ("", turn.name)
        ]
        if not row.question:
            raise ValueError("has neither id nor question")
        if not matches:
            raise ValueError(f"{self.suite.name} does not ask {_short(row.question)}")
        if len(matches) > 1:
            raise ValueError(
                f"{len(matches):,} cases ask {_short(row.question)}; give the id, or the language"
            )
        return matches[0]

    def _turn(self, row: ReplyRow, case: Case) -> Turn:
        """The message of the case that a row replies to."""
        texts = [*self.texts(case)]
        by_text = {turn.name for turn, text in texts if row.question and text == _plain(row.question)}
        names = [*self.turns(case)]
        if row.turn and row.turn not in names:
            turn_names = ", ".join(map(repr, filter(None, names))) or "none, as a run is one message"
            raise ValueError(f"the turn {_short(row.turn)} is unknown; there is {turn_names}")
        name = row.turn or (next(iter(by_text)) if len(by_text) == 1 else "")
        if name not in names:
            raise ValueError(f"which turn of {_short(row.id)}? Give one of {', '.join(names)}")
        if row.question and name not in by_text:
            raise ValueError(
                f"its question is not that of {_short(row.id)}: {_short(row.question)}; "
                "correct it, or leave the column out"
            )
        return Turn(case, name)


def fit(
    file: ReplyFile,
    suite: AnySuite,
    rubric: Rubric,
    cases: Sequence[Case],
    *,
    repeats: int,
    model: str | None = None,
) -> GivenReplies:
    """The replies of a file, each matched to its run; in a file of several models, those of `model`.

    `cases` are all cases of the suite, in all languages. Raises UserError for rows that fit no case, for two
    rows that reply to the same message of a run, and for runs that lack a reply.
    """
    known = _Cases(suite, rubric, cases)
    problems = dict(file.problems)
    replies: dict[tuple[str, int], dict[str, ReplyRow]] = {}
    for row in _rows_of(file, model, problems):
        try:
            turn = known.find(row)
            _require_possible(row, suite, repeats)
            of_run = replies.setdefault((turn.case.id, row.run), {})
            if (other := of_run.setdefault(turn.name, row)) is not row:
                raise ValueError(
                    f"replies to the same message as {other.where}; number repeats in a column 'run'"
                )
        except ValueError as error:
            problems[row.where] = str(error)
    if not problems:
        # Only then: a row with another problem would also be reported as missing.
        for (case_id, run), of_run in replies.items():
            problems |= _missing(known.turns(known.by_id[case_id]), of_run, case_id, run)
    refuse(problems)
    by_run = {
        run_id(case_id, run): _by_message(known.turns(known.by_id[case_id]), of_run)
        for (case_id, run), of_run in replies.items()
    }
    return GivenReplies(file.path.name, file.sha256, by_run)


def _rows_of(file: ReplyFile, model: str | None, problems: dict[str, str]) -> Iterator[ReplyRow]:
    """The rows of `model`, or all rows of a file that names fewer than two models."""
    if len(file.models) < 2:
        yield from file.rows
        return
    problems |= {row.where: "names no model, as other rows do" for row in file.rows if not row.model}
    yield from (row for row in file.rows if row.model == model)


def _require_possible(row: ReplyRow, suite: AnySuite, repeats: int) -> None:
    """Raise ValueError for a run beyond the last one, and for an outcome that the reply contradicts."""
    if row.run > repeats:
        times = "once" if repeats == 1 else f"{repeats} times"
        raise ValueError(
            f"run {row.run} of {repeats}: {suite.name} asks each case {times}; "
            f"use --runs {row.run}, or leave the row out"
        )
    if row.outcome in ("empty", "error") and row.reply.strip():
        raise ValueError(f"the outcome is {row.outcome}, but there is a reply; one of them is wrong")


def _missing(
    messages: Mapping[str, str], rows: Mapping[str, ReplyRow], case_id: str, run: int
) -> dict[str, str]:
    """The problem of a run that lacks replies, by the `file:line` of its first row; empty for none."""
    missing = [name for name in messages if name not in rows]
    first = next(iter(rows.values()))
    what = " and ".join(map(repr, missing))
    return {first.where: f"{case_id!r}, run {run}, lacks the reply to {what}"} if missing else {}


def _by_message(messages: Mapping[str, str], rows: Mapping[str, ReplyRow]) -> dict[str, ReplyRow]:
    return {messages[name] if name else "": row for name, row in rows.items()}


def _plain(text: str) -> str:
    return " ".join(text.split())


def _short(text: str) -> str:
    text = _plain(text)
    return repr(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}...")
