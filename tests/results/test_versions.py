"""Results of earlier versions under the keys of this one."""

from __future__ import annotations

from typing import Any

from equipoise.results.versions import CURRENT, upgraded


def results(version: int) -> dict[str, Any]:
    """Results with every key that was renamed, some of them deep below."""
    rows = [{"deviation": 1.5, "deck": "own"}]
    return {"metadata": {"schema_version": version, "decks": 2}, "results": {"aa": rows}, "run_deviation": 3}


def test_renamed_keys_are_found_at_any_depth() -> None:
    """Of the two versions before; what the file calls its version stays."""
    for version in (1, 2):
        assert upgraded(results(version)) == {
            "metadata": {"schema_version": version, "datasets": 2},
            "results": {"aa": [{"sd": 1.5, "dataset": "own"}]},
            "run_sd": 3,
        }


def test_results_of_this_version_and_of_unknown_ones_are_left_alone() -> None:
    """A key that happens to have an old name is not renamed."""
    for version in (CURRENT, CURRENT + 1):
        assert upgraded(results(version)) == results(version)
