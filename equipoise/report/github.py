"""Comparisons and gates in GitHub Actions: a job summary, and an annotation per rule."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from equipoise.core.errors import printable
from equipoise.core.types import JSON
from equipoise.report.comparison import VERDICTS, WAYS, Way, moves, rows
from equipoise.report.layout import markdown_cell, markdown_table


def publish(
    title: str,
    comparison: Mapping[str, JSON] | None,
    gate: Mapping[str, JSON] | None,
    environment: Mapping[str, str],
) -> list[str]:
    """Append to the job summary named in `environment`, if any. Returns the workflow commands to print."""
    if summary := environment.get("GITHUB_STEP_SUMMARY"):
        try:
            # Without O_NONBLOCK, opening a pipe waits for its other end.
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK
            with open(os.open(summary, flags, 0o666), "a", encoding="utf-8", errors="replace") as file:
                file.write(markdown(title, comparison, gate))
        except OSError as error:
            return [f"warning: $GITHUB_STEP_SUMMARY: cannot be written to ({error.strerror})"]
    is_action = environment.get("GITHUB_ACTIONS") == "true"
    return list(workflow_commands(title, gate)) if is_action and gate else []


def markdown(title: str, comparison: Mapping[str, JSON] | None, gate: Mapping[str, JSON] | None) -> str:
    """The comparison and the gate as Markdown for a job summary."""
    parts = [f"## Equipoise: {markdown_cell(title)}"]
    if gate and gate["rules"]:
        found = [("rule", "verdict", "why")]
        found += [(row["rule"], VERDICTS[row["verdict"]], row["why"]) for row in gate["rules"]]
        parts += [f"**Gate: {VERDICTS[gate['verdict']]}**", markdown_table(found)]
        parts += [f"- answered: {markdown_cell(text)}" for text in gate.get("answered", ())]
    if comparison:
        older, newer = comparison["baseline"], comparison["candidate"]
        names = [
            markdown_cell(str(item))
            for item in (newer["subject_model"], older["subject_model"], older["file"])
        ]
        parts.append(f"{names[0]} against {names[1]} ({names[2]})")
        parts += [f"- MISMATCH: {markdown_cell(reason)}" for reason in comparison["mismatches"]]
        parts += [f"- warning: {markdown_cell(warning)}" for warning in comparison["warnings"]]
        parts += [f"- effect: {markdown_cell(effect)}" for effect in comparison["effects"]]
        parts.append(markdown_table(rows(comparison)))
        parts += [part for way in WAYS for part in _moves(comparison, way)]
    return "\n\n".join(parts) + "\n"


def _moves(comparison: Mapping[str, JSON], way: Way) -> Iterator[str]:
    """A heading and a list of the questions that fell most, or rose most."""
    heading, *moved = map(markdown_cell, moves(comparison, way))
    yield heading
    if moved:
        yield "\n".join(f"- {line.strip()}" for line in moved)


def workflow_commands(title: str, gate: Mapping[str, JSON]) -> Iterator[str]:
    """A workflow command per rule: error, warning or notice."""
    levels = {"fail": "error", "inconclusive": "warning", "pass": "notice"}
    for ruling in gate["rules"]:
        words = f"{ruling['rule']}: {ruling['why']}"
        heading = f"{title}: gate {VERDICTS[ruling['verdict']]}"
        yield f"::{levels[ruling['verdict']]} title={_property(heading)}::{_escaped(words)}"


def _escaped(text: str) -> str:
    return printable(text).replace("%", "%25")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
