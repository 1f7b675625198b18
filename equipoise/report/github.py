"""Comparisons and gates in GitHub Actions: a job summary, and an annotation per rule."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from equipoise.core.errors import printable
from equipoise.report.comparison import (
    WAYS,
    Way,
    answer,
    caution_lines,
    describe_restriction,
    first_metrics,
    metric_rows,
    move_lines,
)
from equipoise.report.layout import markdown_cell, markdown_table
from equipoise.report.verdict import VERDICTS, SectionsBySuite, gates_of, sentence, suite_rows

if TYPE_CHECKING:
    from equipoise.results.document import ComparisonFigures, Ruling, Sections


def publish(suites: SectionsBySuite, environment: Mapping[str, str]) -> list[str]:
    """Append to the job summary named in `environment`, if any. Returns the lines to print.

    The lines are a warning if the summary cannot be written, and workflow commands in GitHub Actions.
    `suites` has sections of results by title, such as the suite's name.
    """
    if not any({"comparison", "gate"} & sections.keys() for sections in suites.values()):
        return []
    lines = []
    if summary := environment.get("GITHUB_STEP_SUMMARY"):
        try:
            # With O_NONBLOCK, opening a pipe without a reader fails instead of blocking.
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK
            with open(os.open(summary, flags, 0o666), "a", encoding="utf-8", errors="replace") as file:
                file.write(markdown(suites))
        except OSError as error:
            lines.append(f"warning: $GITHUB_STEP_SUMMARY: cannot be written to ({error.strerror})")
    if environment.get("GITHUB_ACTIONS") == "true":
        lines += [line for title, sections in suites.items() for line in _workflow_commands(title, sections)]
    return lines


def markdown(suites: SectionsBySuite) -> str:
    """Markdown for a job summary: a sentence on the verdict, then each suite's rulings and comparison.

    All figures, and the questions that moved most, are folded below the first figures.
    """
    is_gated = bool(gates_of(suites))
    verdict = [f"**{markdown_cell(sentence(suites))}**"] if is_gated else []
    blocks = [*verdict]
    if is_gated and len(suites) > 1:
        blocks.append(markdown_table(suite_rows(suites)))
    blocks += [block for title, sections in suites.items() for block in _suite_blocks(title, sections)]
    # Once more, below the sections of several suites.
    blocks += verdict if len(suites) > 1 else []
    return "\n\n".join(blocks) + "\n"


def _suite_blocks(title: str, sections: Sections) -> Iterator[str]:
    yield f"## Equipoise: {markdown_cell(title)}"
    for gate in gates_of({title: sections}):
        rule_rows = [("rule", "verdict", "why")]
        rule_rows += [(_rule_label(row), VERDICTS[row.verdict], row.why) for row in gate["rules"]]
        yield markdown_table(rule_rows)
        yield from (f"- answered: {markdown_cell(text)}" for text in gate.get("answered", ()))
        yield from (f"- caution: {markdown_cell(text)}" for text in gate.get("cautions", ()))
    if comparison := sections.get("comparison"):
        yield from _comparison_blocks(comparison)


def _rule_label(ruling: Ruling) -> str:
    return ruling.rule if ruling.required else f"{ruling.rule} (advisory)"


def _comparison_blocks(comparison: ComparisonFigures) -> Iterator[str]:
    older, newer = comparison["baseline"], comparison["candidate"]
    names = (newer["subject_model"], older["subject_model"], older["file"])
    candidate, baseline, file = (markdown_cell(str(name)) for name in names)
    yield " ".join(map(markdown_cell, answer(comparison)))
    yield f"{candidate} against {baseline} ({file}){describe_restriction(comparison)}"
    yield from (f"- MISMATCH: {markdown_cell(reason)}" for reason in comparison["mismatches"])
    yield from (f"- warning: {markdown_cell(warning)}" for warning in comparison["warnings"])
    yield from (f"- effect: {markdown_cell(effect)}" for effect in comparison["effects"])
    metrics, first = comparison["metrics"], first_metrics(comparison["metrics"])
    yield markdown_table(metric_rows({**comparison, "metrics": first}))
    yield from (f"- caution: {markdown_cell(text)}" for text in caution_lines(comparison))
    is_part = len(first) < len(metrics)
    all_figures = f"All {len(metrics):,} figures, the" if is_part else "The"
    yield f"<details><summary>{all_figures} {comparison['clusters']} that moved most</summary>"
    if is_part:
        yield markdown_table(metric_rows(comparison))
    for way in WAYS:
        yield from _move_blocks(comparison, way)
    yield "</details>"


def _move_blocks(comparison: ComparisonFigures, way: Way) -> Iterator[str]:
    """A heading, and a list of the questions whose scores fell or rose most."""
    heading, *questions = map(markdown_cell, move_lines(comparison, way))
    yield heading
    if questions:
        yield "\n".join(f"- {line.strip()}" for line in questions)


def _workflow_commands(title: str, sections: Sections) -> Iterator[str]:
    """A workflow command per rule: error, warning or notice; an advisory rule is never an error."""
    levels = {"fail": "error", "inconclusive": "warning", "pass": "notice"}
    gate = sections.get("gate")
    for ruling in gate["rules"] if gate else ():
        message = f"{_rule_label(ruling)}: {ruling.why}"
        heading = f"{title}: gate {VERDICTS[ruling.verdict]}"
        level = levels[ruling.verdict]
        if level == "error" and not ruling.required:
            level = "warning"
        yield f"::{level} title={_escape_property(heading)}::{_escape(message)}"


def _escape(text: str) -> str:
    return printable(text).replace("%", "%25")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
