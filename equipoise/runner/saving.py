"""Computes the results of a suite from its journal, and writes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from equipoise.comparison import of_session
from equipoise.comparison.verify import why_unlike_calls
from equipoise.core.errors import CannotSave, UserError
from equipoise.core.files import shown
from equipoise.core.types import JSON, has_asker
from equipoise.results import build, store
from equipoise.results.history import History
from equipoise.results.store import Files
from equipoise.runner.loading import LoadedSuite
from equipoise.runner.plan import Plan


def import_statistics() -> None:
    """Import the libraries that results need: slow, so a thread does it while the session waits for calls."""
    from equipoise.models import prices
    from equipoise.results import summary  # noqa: F401

    # The list of prices is read at its first use.
    prices.cost("", "", prices.NO_TOKENS)


def save(plan: Plan, name: str, history: History, *, is_running: bool) -> dict[str, JSON]:
    """Write the results of a suite, and return them. Raises CannotSave.

    They include the comparison and the gate, unless the session `is_running` and these are partial results.
    """
    loaded = plan.load(name)
    if history.is_cut:
        raise CannotSave(f"{shown(loaded.files.results)}: not written, as its journal was cut")
    data = _build(loaded, history, is_running=is_running)
    if not is_running:
        release = plan.release(name)
        doubt = None
        if release.is_to_be_verified:
            doubt = why_unlike_calls(loaded.suite, loaded.rubric, history)
        data |= of_session.comparison_sections(
            release, plan.baselines.get(name), data, loaded.files.results, doubt
        )
    try:
        store.write_json(loaded.files.results, data)
    except OSError as error:
        raise CannotSave(_unsaved_message(loaded.files, error)) from None
    return data


def selected_results(
    plan: Plan, name: str, history: History, selected: Collection[str], data: Mapping[str, JSON]
) -> dict[str, JSON]:
    """The keys of the results that differ for the selected runs, which a partial session shows.

    Empty if all runs are selected, or only runs with a cue, for which there is no summary. `data` are the
    results of all runs. `covers` is the number of selected runs, `unscored` that of all runs without a score.
    """
    selected_history = history.snapshot(set(selected))
    planned = selected_history.planned
    if len(planned) == len(history.planned) or all(map(has_asker, planned)):
        return {}
    loaded = plan.load(name)
    selected_data = _build(loaded, selected_history)
    return {
        "summary": selected_data["summary"],
        "errors": selected_data["errors"],
        "covers": len(planned),
        "unscored": len(data["errors"]),
    }


def _build(loaded: LoadedSuite, history: History, *, is_running: bool = False) -> dict[str, JSON]:
    """The results in this history. Raises CannotSave if the suite's values are beyond their kinds."""
    try:
        return build.build(loaded.suite, loaded.rubric, history, is_running=is_running)
    except UserError as error:
        raise CannotSave(f"{shown(loaded.files.results)}: not written: {error}") from None


def _unsaved_message(files: Files, error: OSError) -> str:
    return (
        f"{shown(files.results)}: cannot be written ({error.strerror}); all replies are in the journal: "
        f"make room, then run: equipoise recover {shown(files.journal)}"
    )
