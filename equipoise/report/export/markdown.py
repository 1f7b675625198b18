"""Results as Markdown for a model card: the suite's own table, and a line on data, rubric and versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from equipoise.report.layout import markdown_cell, markdown_table
from equipoise.report.results import Results


def markdown(every: Iterable[Results]) -> str:
    """A section for each results file, in their order."""
    return "\n".join(line for results in every for line in _section(results))


def _section(results: Results) -> Iterator[str]:
    metadata = results.metadata
    yield f"### {markdown_cell(results.model)}: {markdown_cell(results.suite)}\n"
    yield f"{markdown_table(results.table)}\n"
    about = {
        "status": results.status,
        "runs": f"{metadata['runs_completed']} of {metadata['runs_expected']}",
        "evaluators": ", ".join(metadata["evaluator_models"]),
        "dataset": metadata.get("dataset"),
        "data": _short(metadata.get("data_hash")),
        "rubric": metadata.get("rubric_version"),
        "asked": str(metadata.get("started"))[:10],
        "Equipoise": metadata.get("equipoise_version"),
    }
    parts = (f"{name} {markdown_cell(str(value))}" for name, value in about.items() if value)
    yield f"{'; '.join(parts)}.\n"


def _short(digest: str | None) -> str | None:
    return digest and digest[:12]
