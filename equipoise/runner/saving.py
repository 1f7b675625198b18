"""Writes the results of a suite from its journal."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from equipoise.comparison import of_session
from equipoise.comparison.verify import unlike_calls
from equipoise.core.errors import CannotSave
from equipoise.core.files import shown
from equipoise.core.types import JSON, is_asked
from equipoise.results import build, store
from equipoise.results.history import History
from equipoise.results.store import Files
from equipoise.runner.plan import Plan


def import_statistics() -> None:
    """Import the libraries that writing results needs: slow, so it is done in a thread during the session."""
    from equipoise.models import prices
    from equipoise.results import summary  # noqa: F401

    # The list of prices is read at its first use.
    prices.cost("", "", prices.NO_TOKENS)


def save(plan: Plan, name: str, history: History, *, is_running: bool) -> dict[str, JSON]:
    """Write the results of a suite, and return them. Raises CannotSave.

    Unless `is_running`, they include the comparison and the gate.
    """
    loaded = plan.load(name)
    if history.is_cut:
        raise CannotSave(f"{shown(loaded.files.results)}: not written, as its journal was cut")
    data = build.build(loaded.suite, loaded.rubric, history, is_running=is_running)
    if not is_running:
        release = plan.release(name)
        needs_check = release.is_to_be_verified
        doubt = unlike_calls(loaded.suite, loaded.rubric, history) if needs_check else None
        data |= of_session.conclude(release, plan.baselines.get(name), data, loaded.files.results, doubt)
    try:
        store.write_json(loaded.files.results, data)
    except OSError as error:
        raise CannotSave(_why_unsaved(loaded.files, error)) from None
    return data


def part(
    plan: Plan, name: str, history: History, selected: Collection[str], data: Mapping[str, JSON]
) -> dict[str, JSON]:
    """The parts of the results that differ for the selected runs alone; empty if these are all runs.

    Also empty if all selected runs have a cue. `data` are the results of all runs; `covers` is the number of
    selected runs, `unscored` the number of all runs without a score.
    """
    part = history.snapshot(set(selected))
    if len(part.planned) == len(history.planned) or all(map(is_asked, part.planned)):
        return {}
    loaded = plan.load(name)
    part_data = build.build(loaded.suite, loaded.rubric, part)
    return {
        "summary": part_data["summary"],
        "errors": part_data["errors"],
        "covers": len(part.planned),
        "unscored": len(data["errors"]),
    }


def _why_unsaved(files: Files, error: OSError) -> str:
    return (
        f"{shown(files.results)}: cannot be written ({error.strerror}); all replies are in the journal: "
        f"make room, then run: equipoise recover {shown(files.journal)}"
    )
