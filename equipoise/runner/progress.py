"""The progress of a session: counts, the live line, partial results, and the summary at the end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

from equipoise.core.errors import CannotKeep, CannotSave, UserError
from equipoise.core.files import shown
from equipoise.core.quantities import duration, span
from equipoise.core.types import Run
from equipoise.models import prices
from equipoise.models.counters import CounterSnapshot
from equipoise.report import github, junit, verdict
from equipoise.report import terminal as terminal_report
from equipoise.report.junit import ReportedCase
from equipoise.report.layout import fit_parts
from equipoise.report.status_line import Output, open_line
from equipoise.results.document import GateVerdict
from equipoise.results.results import Results
from equipoise.runner.resume import ALREADY_COMPLETE
from equipoise.runner.session import Session
from equipoise.runner.time_left import time_left
from equipoise.runner.transport import WAITING


class _Rounds:
    """Opens rounds of runs one by one until `--until` is satisfied; then `skips_rest` is true.

    `_runs_left` counts the runs of each round that are not done yet.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._runs_left = Counter(run.number for run in session.planned.values())
        self._numbers = iter(sorted(self._runs_left))
        self.skips_rest = False
        self._open_next()

    def note(self, run: Run) -> None:
        """Count a run as done. After the last of a round, open the next round unless --until is satisfied."""
        self._runs_left[run.number] -= 1
        if self._session.settings.until and not self._runs_left[run.number] and not self.skips_rest:
            try:
                is_enough = self._session.look(run.suite, run.number)
                self.skips_rest = is_enough and any(self._runs_left.values())
            except CannotKeep as error:
                self._session.counters.stop(str(error))
            if not self.skips_rest:
                self._open_next()

    def _open_next(self) -> None:
        """Open the next round; after the last one, set the number of the open round to 0: none is open."""
        self._session.counters.open_round(next(self._numbers, 0))


class Progress:
    """Counts the finished runs of a session, and saves results whenever a language is complete.

    `total`, `done` and `failed` are numbers of planned runs; failed ones have no score. `started` is a
    monotonic time. `unsaved` maps each suite whose results could not be written to the reason. Progress is
    shown on `output`, unless it is None. `_finish_seconds` are the seconds after the start at which runs
    ended, without runs that had a score before.
    """

    def __init__(self, session: Session, output: Output | None) -> None:
        self.session = session
        self.started = time.monotonic()
        self.total = len(session.planned)
        self.done = self.failed = 0
        self._runs_left = set(session.planned)
        self._replayed_runs = {key for key in session.planned if session.has_score(*key)}
        self._finish_seconds: list[float] = []
        self._left_by_language = Counter((run.suite, run.case.language) for run in session.planned.values())
        self._rounds = _Rounds(session)
        self.unsaved: dict[str, str] = {}
        self._results: dict[str, Results] = {}
        self._selected_results: dict[str, Results | None] = {}
        self._page_message = ""
        self._wall_seconds = 0.0
        self._last_save = self._save_seconds = 0.0
        notices = session.counters.take_notices
        self._line = None if output is None else open_line(self.live, notices, output)

    def note(self, suite: str, run: str, *, has_failed: bool = False) -> None:
        """Count a run as done, with or without a score; repeated reports are ignored."""
        if (suite, run) not in self._runs_left:
            return
        self._runs_left.remove((suite, run))
        self.done += 1
        self.failed += has_failed
        if (suite, run) not in self._replayed_runs:
            self._finish_seconds.append(time.monotonic() - self.started)
        planned_run = self.session.planned[suite, run]
        key = (suite, planned_run.case.language)
        self._left_by_language[key] -= 1
        if self._left_by_language[key] == 0 and self._is_time_to_save():
            self._save_partial(suite)
        self._rounds.note(planned_run)
        if self._rounds.skips_rest:
            self.total = self.done

    def _is_time_to_save(self) -> bool:
        """Whether a save would take less than a tenth of the time, and over 2 % of the runs are left."""
        is_long_ago = time.monotonic() - self._last_save >= 10 * self._save_seconds
        return is_long_ago and self.total - self.done > self.total / 50

    def _save_partial(self, suite: str) -> None:
        begun = time.monotonic()
        # A failure may be temporary. Only a failure at the end of the session is reported.
        with suppress(CannotSave):
            self.session.save(suite, is_running=True)
        self._last_save = time.monotonic()
        self._save_seconds = self._last_save - begun

    def live(self, width: int) -> str:
        """The state of the session in one line of `width` columns; the least important parts are omitted."""
        totals, elapsed = self.session.counters.totals(), time.monotonic() - self.started
        # The parts with the highest ranks are omitted first.
        parts = [
            (0, f"{self.done}/{self.total} done"),
            (4, f"{self.failed} failed"),
            (6, f"{totals.in_flight} calls in flight"),
            (7, f"{totals.retries} retries"),
        ]
        if self.session.counters.in_batches:
            parts.append((2, f"{self.session.counters.in_batches} calls in batches"))
        verdicts_done, verdicts = self.session.extra_progress
        if verdicts:
            parts.insert(1, (3, f"audit {verdicts_done}/{verdicts}"))
        if (pause := self._pause_seconds(len(totals.tokens))) > 1:
            parts.append((3, f"the endpoint asks for a pause of {duration(pause)}"))
        parts.append((8, f"{sum(map(sum, totals.tokens)):,} tokens"))
        parts.append((2, self._cost(totals)))
        if left := time_left(self._finish_seconds, elapsed, self.total - self.done, totals.in_flight):
            parts.append((1, f"{span(*left)} left"))
        if error := self.session.counters.last_error:
            parts.append((5, f"last error: {error}"))
        return fit_parts(parts, width)

    def _pause_seconds(self, endpoints: int) -> float:
        """Seconds until the last pause of an endpoint ends; negative after that.

        `endpoints` is the number of models, as each may have an endpoint of its own.
        """
        return max(map(self.session.counters.paused_until, range(endpoints))) - time.monotonic()

    def _cost(self, totals: CounterSnapshot) -> str:
        """The cost of all calls so far, as text."""
        settings = self.session.settings
        costs: list[float | None] = []
        for number, model in enumerate(settings.models):
            (tokens_in, tokens_out), (batched_in, batched_out) = totals.tokens[number], totals.batched[number]
            single = {"input": tokens_in - batched_in, "output": tokens_out - batched_out}
            batched = {"input": batched_in, "output": batched_out}
            url = settings.base_url(number)
            costs.append(prices.cost(model, url, single, settings.price))
            if batched_in:
                costs.append(prices.cost(model, url, batched, settings.price_in_batches))
        return "cost unknown" if None in costs else f"{sum(filter(None, costs)):.4f} USD"

    def close_line(self) -> None:
        """Remove the live line."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def finish(self, *, keeps_rows: bool = False) -> Sequence[Results]:
        """Remove the live line and save the results of every suite.

        Returns the results only if `keeps_rows` is true or a page is written, as those of several suites may
        need much memory.
        """
        self.close_line()
        self._wall_seconds = time.monotonic() - self.started
        complete: list[Results] = []
        for name in self.session.start_messages:
            try:
                results, selected = self.session.save(name)
            except CannotSave as error:
                self.unsaved[name] = str(error)
            else:
                if keeps_rows or self.session.settings.report:
                    complete.append(results)
                # Without the transcripts, which the summary does not need.
                self._results[name] = results.without_rows()
                self._selected_results[name] = selected and selected.without_rows()
        if (page := self.session.settings.report) and complete:
            self._page_message = self._write_page(page, complete)
        return complete

    def _write_page(self, path: Path, results: Sequence[Results]) -> str:
        """Write the page of the results. Returns a message with its path, or with the error."""
        from equipoise.report.page.page import write

        try:
            write(path, results)
        except UserError as error:
            return f"page: not written: {error}"
        return f"page: {shown(path)} ({path.stat().st_size / 1e6:.1f} MB)"

    @property
    def is_waiting(self) -> bool:
        """Whether only runs that wait for batches are left, and all results are written."""
        return self.session.is_waiting and not self.unsaved and not self.session.counters.is_stopped

    @property
    def is_complete(self) -> bool:
        """Whether every run is done and all results are written."""
        return self.done == self.total and not self.unsaved

    def summary(self, width: int | None = None) -> Iterator[tuple[str, list[str]]]:
        """The sections of the summary: a title and lines each. Tables are at most `width` columns wide."""
        for name, reason in self.unsaved.items():
            yield name, [reason]
        if gate_lines := list(verdict.lines(self._release_sections(), width)):
            yield "gate", gate_lines
        begun = {name: item for name, item in self._results.items() if not self._is_without_results(item)}
        for name, results in begun.items():
            lines = terminal_report.summary(
                results,
                part=self._selected_results[name],
                wall_seconds=self._wall_seconds,
                known_error=self.session.counters.stop_reason,
                is_mistake=self.session.counters.is_mistake,
                width=width,
                has_table=len(begun) == 1,
            )
            is_repeated = self.session.start_messages.get(name) == ALREADY_COMPLETE
            yield name, [*lines, *([ALREADY_COMPLETE] if is_repeated else ())]
            if compared := list(terminal_report.against_baseline(results, width, has_table=len(begun) == 1)):
                yield f"{name}: against the baseline", compared[1:]
        if self.session.batch_messages:
            yield "batches", [*self.session.batch_messages]
        if self._page_message:
            yield "report", [self._page_message]
        if len(begun) > 1:
            yield "all suites", list(terminal_report.overview(begun.values(), width))
        if gate_lines:
            # The verdict again, as readers look at the end of a log.
            yield "verdict", gate_lines[:1]

    @property
    def is_idle(self) -> bool:
        """Whether the session was stopped before any suite had results to show."""
        return not self.unsaved and all(map(self._is_without_results, self._results.values()))

    def _is_without_results(self, results: Results) -> bool:
        """Whether the session was stopped before this suite had results to show."""
        calls = results.metadata["calls"]
        is_idle = not calls["made"] and not calls["replayed"]
        return self.session.counters.is_stopped and is_idle and not results.has_scores

    @property
    def gates(self) -> list[GateVerdict]:
        """The gates of all suites that have one."""
        return verdict.gates_of(self._release_sections())

    def cases(self) -> list[ReportedCase]:
        """The gates, and the suites whose results are incomplete, as cases of a JUnit report."""
        inconclusive = self.session.settings.gate_inconclusive
        make_case = junit.waiting_case if self.is_waiting else junit.incomplete_case
        incomplete = [
            make_case(name, reason)
            for name in self.session.start_messages
            if (reason := self._why_incomplete(name))
        ]
        gates = [
            junit.gate_cases(name, sections["gate"], inconclusive)
            for name, sections in self._release_sections().items()
            if "gate" in sections
        ]
        return [*incomplete, *chain.from_iterable(gates)]

    def _why_incomplete(self, name: str) -> str:
        """The reason why the results of a suite are incomplete; empty if they are complete."""
        if name in self.unsaved or self.is_complete:
            return self.unsaved.get(name, "")
        left = sum(suite == name for suite, _ in self._runs_left)
        reason = self.session.counters.stop_reason or (WAITING if self.is_waiting else "")
        return f"{left:,} runs are still to be done{reason and f': {reason}'}" if left else ""

    def publish(self, environment: Mapping[str, str]) -> list[str]:
        """Publish to GitHub Actions, if the session runs there. Returns the lines to print."""
        return github.publish(self._release_sections(), environment)

    def _release_sections(self) -> verdict.SectionsBySuite:
        """The comparison and the gate of each suite, as far as it has them."""
        return {name: results.sections for name, results in self._results.items()}
