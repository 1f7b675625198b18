"""Results as Markdown for a model card: the suite's own table, and a line on data, rubric and versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from equipoise.report.layout import markdown_cell, markdown_table
from equipoise.results.results import Results


def markdown(all_results: Iterable[Results]) -> str:
    """A section for each of the results."""
    return "\n".join(line for results in all_results for line in _section_lines(results))


def _section_lines(results: Results) -> Iterator[str]:
    metadata = results.metadata
    yield f"### {markdown_cell(results.model)}: {markdown_cell(results.suite.name)}\n"
    yield f"{markdown_table(results.table)}\n"
    about = {
        "status": results.status,
        "runs": f"{metadata['runs_completed']} of {metadata['runs_expected']}",
        "evaluators": ", ".join(metadata["evaluator_models"]),
        "dataset": metadata.get("dataset"),
        "data": _shorten(metadata.get("data_hash")),
        "rubric": metadata.get("rubric_version"),
        "asked": str(metadata.get("started"))[:10],
        "Equipoise": metadata.get("equipoise_version"),
    }
    details = (f"{name} {markdown_cell(str(value))}" for name, value in about.items() if value)
    yield f"{'; '.join(details)}.\n"


def _shorten(digest: str | None) -> str | None:
    return digest and digest[:12]
