"""Comparisons and gates in GitHub Actions: a job summary, and an annotation per rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from equipoise.core.errors import printable
from equipoise.core.types import JSON
from equipoise.report.comparison import VERDICTS, rows


def publish(
    title: str,
    comparison: Mapping[str, JSON] | None,
    gate: Mapping[str, JSON] | None,
    environment: Mapping[str, str],
) -> list[str]:
    """Append to the job summary named in `environment`, if any. Returns the workflow commands to print."""
    if summary := environment.get("GITHUB_STEP_SUMMARY"):
        try:
            with Path(summary).open("a", encoding="utf-8", errors="replace") as file:
                file.write(markdown(title, comparison, gate))
        except OSError as error:
            return [f"warning: $GITHUB_STEP_SUMMARY: cannot be written to ({error.strerror})"]
    is_action = environment.get("GITHUB_ACTIONS") == "true"
    return list(workflow_commands(title, gate)) if is_action and gate else []


def markdown(title: str, comparison: Mapping[str, JSON] | None, gate: Mapping[str, JSON] | None) -> str:
    """The comparison and the gate as Markdown for a job summary."""
    parts = [f"## Equipoise: {_cell(title)}"]
    if gate and gate["rules"]:
        found = [("rule", "verdict", "why")]
        found += [(row["rule"], VERDICTS[row["verdict"]], row["why"]) for row in gate["rules"]]
        parts += [f"**Gate: {VERDICTS[gate['verdict']]}**", _markdown_table(found)]
    if comparison:
        older, newer = comparison["baseline"], comparison["candidate"]
        names = [_cell(str(item)) for item in (newer["subject_model"], older["subject_model"], older["file"])]
        parts.append(f"{names[0]} against {names[1]} ({names[2]})")
        parts += [f"- MISMATCH: {_cell(reason)}" for reason in comparison["mismatches"]]
        parts += [f"- warning: {_cell(warning)}" for warning in comparison["warnings"]]
        parts += [f"- effect: {_cell(effect)}" for effect in comparison["effects"]]
        parts.append(_markdown_table(rows(comparison)))
    return "\n\n".join(parts) + "\n"


def _markdown_table(table_rows: Sequence[Sequence[str]]) -> str:
    head, *body = ["| " + " | ".join(_cell(text) for text in row) + " |" for row in table_rows]
    return "\n".join([head, "|" + "---|" * len(table_rows[0]), *body])


def _cell(text: str) -> str:
    """Text escaped for a Markdown table cell."""
    return printable(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")


def workflow_commands(title: str, gate: Mapping[str, JSON]) -> Iterator[str]:
    """A workflow command per rule: error, warning or notice."""
    levels = {"fail": "error", "inconclusive": "warning", "pass": "notice"}
    for ruling in gate["rules"]:
        words = f"{ruling['rule']}: {ruling['why']}"
        heading = f"{title}: gate {VERDICTS[ruling['verdict']]}"
        yield f"::{levels[ruling['verdict']]} title={_property(heading)}::{_escaped(words)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
