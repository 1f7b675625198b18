"""Whether two results can be compared: what makes them incomparable, and what else differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise import suites
from equipoise.comparison.side import Side
from equipoise.core.records import Cell
from equipoise.core.rules import MOST_UNSCORED
from equipoise.core.types import JSON
from equipoise.results import answered
from equipoise.results.history import WITH_UNSCORED
from equipoise.suites.shared_options import DATASET

_MUST_AGREE: Mapping[str, str] = {
    "suite": "suite",
    "data_hash": "data",
    "rubric_hash": "rubric",
    "about": "subject and sides that evaluators are told",
    "scale": "scale",
    "evaluator_models": "evaluators",
    "evaluator_sampling": "evaluators' sampling",
    "evaluator_system_prompt": "evaluators' system prompt",
    "subject_sampling": "subject's sampling",
    "subject_system_prompt": "subject's system prompt",
}
_SAMPLING = ("temperature", "top_p", "top_k")
"""Parameters that decide how replies are sampled. Results are comparable only if all were sent alike."""


def mismatches(before: Mapping[str, JSON], after: Mapping[str, JSON], *, is_study: bool = False) -> list[str]:
    """A phrase for each setting in the metadata of two results that makes them incomparable.

    In a study, options whose effect the suite can report may differ.
    """
    labels = must_agree(after["suite"], is_study=is_study)
    if before.get("data_hash") == after.get("data_hash"):
        # If the data are the same, the name of the dataset does not matter.
        labels.pop(DATASET.name, None)
    return [
        f"{name} differs: {_shortened(before.get(key))}, now {_shortened(after.get(key))}"
        for key, name in labels.items()
        if setting(key, before) != setting(key, after)
    ]


def must_agree(suite: str, *, is_study: bool = False) -> dict[str, str]:
    """The label of each metadata key in which results of a suite must agree to be comparable, by key."""
    kinds = ("must",) if is_study else ("must", "study")
    options = suites.load(suite).options if suite in suites.names() else ()
    return {**_MUST_AGREE, **{item.name: item.label for item in options if item.comparable in kinds}}


def sent_otherwise(before: Mapping[str, JSON], after: Mapping[str, JSON]) -> list[str]:
    """A phrase for each sampling parameter that an endpoint changed for only one of two results.

    Such changes are not in the settings; they are known only after the first calls.
    """
    older, newer = sampling_changed(before), sampling_changed(after)
    return [
        f"sampling as sent differs: {who}'s {parameter} was {action} "
        f"in the {'candidate' if (who, parameter, action) in newer else 'baseline'} only"
        for who, parameter, action in sorted(older ^ newer)
    ]


def sampling_changed(metadata: Mapping[str, JSON]) -> set[tuple[str, str, str]]:
    """The sampling parameters that an endpoint changed, as tuples (role and model, parameter, action)."""
    return {
        # Without the subject's name, which differs between the two releases of a comparison.
        ("subject" if row["role"] == "subject" else f"{row['role']} {row['model']}", *_change(row))
        for row in metadata.get("parameters_changed", ())
        if row["parameter"] in _SAMPLING
    }


def _change(row: Mapping[str, JSON]) -> tuple[str, str]:
    return str(row["parameter"]), str(row["action"])


def setting(key: str, metadata: Mapping[str, JSON]) -> JSON:
    """The value of a metadata key. Evaluators are sorted, as their order does not matter."""
    value = metadata.get(key)
    return sorted(value) if key == "evaluator_models" and value else value


def unknown_cells(before: Sequence[Cell], after: Sequence[Cell]) -> list[str]:
    """A phrase about cells of the candidate that the baseline lacks; empty if it has them all."""
    known = {cell.id for cell in before}
    unknown = [cell.id for cell in after if cell.id not in known]
    more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
    return [f"only the candidate has {unknown[0]}{more}"] if unknown else []


def why_unfit(side: Side, most: float = MOST_UNSCORED) -> str | None:
    """Why results cannot serve as a baseline, in a few words; None if they can.

    Every run must be done. Up to `most` percent of them may lack a score.
    """
    status, runs = side.metadata.get("status"), side.counts
    if status == "complete":
        return None
    if runs.planned == runs.left + runs.unscored:
        return "no run of the baseline has a score"
    # Earlier versions wrote "interrupted" whatever the reason.
    is_done = status in (WITH_UNSCORED, "interrupted") and not runs.left
    if not (is_done and runs.missing):
        return f"the baseline is {status}: not every run has a score"
    if 100 * runs.missing <= most * runs.planned:
        return None
    lacking = f"{runs.missing} of {runs.planned} runs of the baseline have no score"
    return f"{lacking}, more than unscored:{most:g}% allows"


def _shortened(value: JSON) -> str:
    text = f"{value}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def changes(before: Mapping[str, JSON], after: Mapping[str, JSON]) -> list[str]:
    """A phrase for each difference that two comparable results may have, such as another model version."""
    learned = [
        {
            (row["role"], *_change(row))
            for row in metadata.get("parameters_changed", ())
            if row["parameter"] not in _SAMPLING
        }
        for metadata in (before, after)
    ]
    return [
        *_recomputed(before, after),
        *answered.between(before, after),
        *(
            f"{role}: {parameter} was {action} in one of the two only"
            for role, parameter, action in sorted(learned[0] ^ learned[1])
        ),
    ]


def _recomputed(before: Mapping[str, JSON], after: Mapping[str, JSON]) -> list[str]:
    """A remark for each of the two that was recomputed from the files of a published benchmark.

    Published averages were rounded at each of three steps, hence the tolerance of 0.12.
    """
    return [
        f"the {words}'s figures are recomputed from the runs that the {benchmark} wrote: "
        "within 0.12 points of the averages in its file"
        for words, metadata in (("baseline", before), ("candidate", after))
        if (benchmark := metadata.get("recomputed_from"))
    ]
