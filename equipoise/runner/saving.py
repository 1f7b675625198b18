"""The results of a suite, written from its journal. Knows neither the engine nor its calls."""

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
    """Import what writing results needs, which takes a while; for a thread, while the session waits."""
    from equipoise.models import prices
    from equipoise.results import summary  # noqa: F401

    # The list of prices is read at its first use.
    prices.cost("", "", prices.NO_TOKENS)


def save(plan: Plan, name: str, history: History, *, is_running: bool) -> dict[str, JSON]:
    """Write the results of a suite; comparison and gate once it no longer runs. Raises CannotSave."""
    loaded = plan.load(name)
    if history.is_cut:
        raise CannotSave(f"{shown(loaded.files.results)}: not written, as its journal was cut")
    data = build.build(loaded.suite, loaded.rubric, history, is_running=is_running)
    if not is_running:
        wanted = plan.release(name)
        is_doubtful = wanted.is_to_be_verified
        doubt = unlike_calls(loaded.suite, loaded.rubric, history) if is_doubtful else None
        data |= of_session.conclude(wanted, plan.baselines.get(name), data, loaded.files.results, doubt)
    try:
        store.write_json(loaded.files.results, data)
    except OSError as error:
        raise CannotSave(_why_unsaved(loaded.files, error)) from None
    return data


def part(
    plan: Plan, name: str, history: History, selected: Collection[str], data: Mapping[str, JSON]
) -> dict[str, JSON]:
    """The figures of the selected runs in place of the whole's; empty if these are the same."""
    part = history.snapshot(set(selected))
    if len(part.planned) == len(history.planned) or all(map(is_asked, part.planned)):
        return {}
    loaded = plan.load(name)
    own = build.build(loaded.suite, loaded.rubric, part)
    return {
        "summary": own["summary"],
        "errors": own["errors"],
        "covers": len(part.planned),
        "unscored": len(data["errors"]),
    }


def _why_unsaved(files: Files, error: OSError) -> str:
    return (
        f"{shown(files.results)}: cannot be written ({error.strerror}); all replies are in the journal: "
        f"make room, then run: equipoise recover {shown(files.journal)}"
    )
