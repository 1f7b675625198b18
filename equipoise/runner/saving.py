"""Computes the results of a suite from its journal, and writes them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from equipoise.comparison import of_session
from equipoise.comparison.verify import why_unlike_calls
from equipoise.core.errors import CannotSave, UserError
from equipoise.core.files import shown
from equipoise.core.types import has_asker
from equipoise.results import build
from equipoise.results.history import History
from equipoise.results.results import Results
from equipoise.results.store import Files
from equipoise.runner.loading import LoadedSuite
from equipoise.runner.plan import Plan


def import_statistics() -> None:
    """Import the libraries that results need: slow, so a thread does it while the session waits for calls."""
    from equipoise.models import prices
    from equipoise.results import summary  # noqa: F401

    # The list of prices is read at its first use.
    prices.cost("", "", prices.NO_TOKENS)


def save(plan: Plan, name: str, history: History, *, is_running: bool) -> Results:
    """Write the results of a suite, and return them. Raises CannotSave.

    They include the comparison and the gate, unless the session `is_running` and these are partial results.
    """
    loaded = plan.load(name)
    if history.is_cut:
        raise CannotSave(f"{shown(loaded.files.results)}: not written, as its journal was cut")
    results = _build(loaded, history, is_running=is_running)
    if not is_running:
        results = _with_comparison(plan, name, history, results)
    try:
        return results.save()
    except OSError as error:
        raise CannotSave(_unsaved_message(loaded.files, error)) from None


def _with_comparison(plan: Plan, name: str, history: History, results: Results) -> Results:
    """The results with the sections `comparison` and `gate`, if the terms ask for them."""
    loaded, terms = plan.load(name), plan.terms_of(name)
    if terms.is_to_be_verified:
        results = replace(results, doubt=why_unlike_calls(loaded.suite, loaded.rubric, history))
    sections = of_session.comparison_sections(terms, plan.baselines.get(name), results)
    return replace(results, sections={**results.sections, **sections})


def selected_results(plan: Plan, name: str, history: History, selected: Collection[str]) -> Results | None:
    """The results of the selected runs alone, which a partial session shows.

    None if all runs are selected, or only runs with a cue, for which there is no summary.
    """
    selected_history = history.snapshot(set(selected))
    planned = selected_history.planned
    if len(planned) == len(history.planned) or all(map(has_asker, planned)):
        return None
    return _build(plan.load(name), selected_history)


def _build(loaded: LoadedSuite, history: History, *, is_running: bool = False) -> Results:
    """The results of the runs in this history. Raises CannotSave if the suite computes impossible values."""
    path = loaded.files.results
    try:
        return build.build(loaded.suite, loaded.rubric, history, path, is_running=is_running)
    except UserError as error:
        raise CannotSave(f"{shown(path)}: not written: {error}") from None


def _unsaved_message(files: Files, error: OSError) -> str:
    return (
        f"{shown(files.results)}: cannot be written ({error.strerror}); all replies are in the journal: "
        f"make room, then run: equipoise show {shown(files.journal)}"
    )
