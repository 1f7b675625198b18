"""Whether two results can be compared: differences that forbid it, and differences that are only reported."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from equipoise import suites
from equipoise.core.quantities import first_few
from equipoise.core.records import Cell
from equipoise.core.rules import MOST_UNSCORED
from equipoise.core.types import JSON
from equipoise.results import answered
from equipoise.results.document import ChangedParameter, Metadata
from equipoise.results.history import WITH_UNSCORED
from equipoise.results.results import Results
from equipoise.suites.shared_options import DATASET

_MUST_AGREE: Mapping[str, str] = {
    "suite": "suite",
    "data_hash": "data",
    "rubric_hash": "rubric",
    "about": "subject and sides that evaluators are told",
    "facts_hash": "evaluators' key facts",
    "scale": "scale",
    "evaluator_models": "evaluators",
    "evaluator_sampling": "evaluators' sampling",
    "evaluator_system_prompt": "evaluators' system prompt",
    "subject_sampling": "subject's sampling",
    "subject_system_prompt": "subject's system prompt",
}
"""The metadata keys in which results must agree whatever the suite, each with its label in messages."""
_SUBJECT_SAMPLING = ("subject_sampling", "subject_system_prompt")
_SAMPLING = ("temperature", "top_p", "top_k")
"""The parameters that decide how replies are sampled. An endpoint that changed one in one of two results must
have changed it in the other."""


def mismatches(before: Metadata, after: Metadata, *, is_study: bool = False) -> list[str]:
    """A phrase for each setting in the metadata of two results that makes them incomparable.

    In a study, options whose effect the suite can report may differ.
    """
    labels = must_agree(after["suite"], is_study=is_study)
    if before.get("replies") or after.get("replies"):
        # It is not known how replies in a file were made; a caution says so.
        labels = {key: label for key, label in labels.items() if key not in _SUBJECT_SAMPLING}
    if before.get("data_hash") == after.get("data_hash"):
        # If the data are the same, the name of the dataset does not matter.
        labels.pop(DATASET.name, None)
    return [
        f"{label} differs{_values(key, before, after)}"
        for key, label in labels.items()
        if setting(key, before) != setting(key, after)
    ]


_NAMES = {"data_hash": DATASET.name, "rubric_hash": "rubric_version", "about": None}
"""For settings whose values mean nothing to a reader, the metadata key that is shown instead, if any."""


def _values(key: str, before: Metadata, after: Metadata) -> str:
    """The two values of a setting that differs, or the readable ones of _NAMES; empty if these are equal."""
    name = _NAMES.get(key, key)
    older, newer = (None if name is None else setting(name, side) for side in (before, after))
    return "" if older == newer else f": {_shortened(older)}, now {_shortened(newer)}"


def must_agree(suite: str, *, is_study: bool = False) -> dict[str, str]:
    """The metadata keys in which results of a suite must agree to be comparable, with their labels."""
    must_agree_as = ("must",) if is_study else ("must", "study")
    options = suites.load(suite).options if suite in suites.names() else ()
    return {**_MUST_AGREE, **{item.name: item.label for item in options if item.comparable in must_agree_as}}


def sampling_differences(before: Metadata, after: Metadata) -> list[str]:
    """A phrase for each sampling parameter that an endpoint changed for only one of two results.

    Such changes are not in the settings; they are known only after the first calls.
    """
    older, newer = sampling_changes(before), sampling_changes(after)
    return [
        f"sampling as sent differs: {who}'s {parameter} was {action} "
        f"in the {'candidate' if (who, parameter, action) in newer else 'baseline'} only"
        for who, parameter, action in sorted(older ^ newer)
    ]


def sampling_changes(metadata: Metadata) -> set[tuple[str, str, str]]:
    """The sampling parameters that an endpoint changed, as tuples (role and model, parameter, action)."""
    return {
        # The subject's name is left out: it differs between the two releases of a comparison.
        ("subject" if row["role"] == "subject" else f"{row['role']} {row['model']}", *_parameter_change(row))
        for row in metadata.get("parameters_changed", ())
        if row["parameter"] in _SAMPLING
    }


def _parameter_change(row: ChangedParameter) -> tuple[str, str]:
    """The name of a parameter, and what the endpoint did to it, such as `dropped`."""
    return str(row["parameter"]), str(row["action"])


def setting(key: str, metadata: Metadata) -> JSON:
    """The value of a metadata key. Evaluators are sorted, as their order does not matter."""
    if key == "evaluator_models":
        return sorted(metadata.get("evaluator_models") or [])
    return metadata.get(key)


def unknown_cells(before: Sequence[Cell], after: Sequence[Cell]) -> list[str]:
    """A phrase about cells of the candidate that the baseline lacks; an empty list if it has them all."""
    baseline_ids = {cell.id for cell in before}
    unknown = [cell.id for cell in after if cell.id not in baseline_ids]
    return [f"only the candidate has {first_few(unknown, 1)}"] if unknown else []


def why_unfit(side: Results, most_unscored: float = MOST_UNSCORED) -> str | None:
    """Why results cannot serve as a baseline, in a few words; None if they can.

    Every run must be done. Up to `most_unscored` percent of them may lack a score.
    """
    status, runs = side.metadata.get("status"), side.counts
    if status == "complete":
        return None
    if runs.planned == runs.missing:
        return "no run of the baseline has a score"
    if status != WITH_UNSCORED or runs.left:
        return f"the baseline is {status}: not every run has a score"
    if 100 * runs.missing <= most_unscored * runs.planned:
        return None
    lacking = f"{runs.missing} of {runs.planned} runs of the baseline have no score"
    return f"{lacking}, more than unscored:{most_unscored:g}% allows"


_DIGEST = re.compile("[0-9a-f]{64}")


def _shortened(value: JSON) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else f"{value}"
    if _DIGEST.fullmatch(text):
        return text[:12]
    return text if len(text) <= 60 else f"{text[:57]}..."


def allowed_differences(before: Metadata, after: Metadata) -> list[str]:
    """A phrase for each difference that two comparable results may have, such as another model version."""
    older, newer = _other_parameter_changes(before), _other_parameter_changes(after)
    return [
        *_recomputed_remarks(before, after),
        *answered.changes_between(before, after),
        *(
            f"{role}: {parameter} was {action} in one of the two only"
            for role, parameter, action in sorted(older ^ newer)
        ),
    ]


def _other_parameter_changes(metadata: Metadata) -> set[tuple[str, str, str]]:
    """The parameters besides sampling that an endpoint changed, as tuples (role, parameter, action)."""
    return {
        (row["role"], *_parameter_change(row))
        for row in metadata.get("parameters_changed", ())
        if row["parameter"] not in _SAMPLING
    }


def _recomputed_remarks(before: Metadata, after: Metadata) -> list[str]:
    """A remark for each of the two results that was recomputed from the files of a published benchmark.

    Published averages were rounded at each of three steps, hence the tolerance of 0.12.
    """
    return [
        f"the {side}'s figures are recomputed from the runs that the {benchmark} wrote: "
        "within 0.12 points of the averages in its file"
        for side, metadata in (("baseline", before), ("candidate", after))
        if (benchmark := metadata.get("recomputed_from"))
    ]
