"""Follows a session in the process that the user sees: counts, the live line, saving, the summary."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from equipoise import prices, storage, table
from equipoise.session import Session
from equipoise.statusline import StatusLine
from equipoise.types import JSON


class Progress:
    """Counts the runs that are done and saves results as soon as a language is complete.

    `plan` maps suites to run ids; `write` puts raw text on the terminal, None where there is none.
    """

    def __init__(self, session: Session, plan: Mapping[str, Sequence[str]], terminal: int | None) -> None:
        self.session = session
        self.started = time.monotonic()
        self.total = sum(map(len, plan.values()))
        self.done = 0
        self._suites = list(plan)
        self._language = {(name, run.id): run.case.language for name in plan for run in session.runs(name)}
        self._open = Counter((name, self._language[name, run]) for name, runs in plan.items() for run in runs)
        self._results: dict[str, dict[str, JSON]] = {}
        self._seconds = 0.0
        self._line = None if terminal is None else StatusLine(self.live, terminal)

    def note(self, suite: str, run: str) -> None:
        """One run is done."""
        self.done += 1
        key = (suite, self._language[suite, run])
        self._open[key] -= 1
        # The last language is saved at the end in any case.
        if self._open[key] == 0 and any(self._open.values()):
            self.session.save(suite, is_running=True)

    def live(self) -> str:
        """The state of the session in one line."""
        now, elapsed = self.session.board.totals(), time.monotonic() - self.started
        parts = [
            f"{self.done}/{self.total} done",
            f"{now.in_flight} calls in flight",
            f"{now.retries} retries",
        ]
        parts.append(f"{sum(map(sum, now.tokens)):,} tokens")
        parts.append(self._cost(now.tokens))
        if 0 < self.done < self.total:
            parts.append(f"{table.duration(elapsed / self.done * (self.total - self.done))} left")
        return " | ".join(parts)

    def _cost(self, tokens: Sequence[tuple[int, int]]) -> str:
        settings = self.session.settings
        found = [
            prices.cost(model, self.session.base_url(number), {"input": used[0], "output": used[1]})
            for number, (model, used) in enumerate(zip(settings.models, tokens, strict=True))
        ]
        return (
            "cost unknown" if any(value is None for value in found) else f"{sum(filter(None, found)):.4f} USD"
        )

    def close_line(self) -> None:
        """Take the live line away."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def finish(self) -> None:
        """Take the live line away and save the results of every suite."""
        self.close_line()
        self._seconds = time.monotonic() - self.started
        for name in self._suites:
            # The transcripts are in the file; the summary needs only the rest.
            data = self.session.save(name)
            self._results[name] = {part: found for part, found in data.items() if part != "results"}

    def summary(self) -> Iterator[tuple[str, list[str]]]:
        """A title and lines for each suite."""
        for name, data in self._results.items():
            loaded = self.session.load(name)
            rows = loaded.suite.table(data["summary"])
            path = storage.shown(loaded.files.results)
            yield name, list(table.lines(rows, data, path=path, wall_seconds=self._seconds))
