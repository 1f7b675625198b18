"""Plots of neutrality: how languages differ, and on which questions they differ most. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.figures import LanguageGap, LanguagePair
from equipoise.core.records import Cell
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.suites.plots import Plot, intervals


def plots(summary: Mapping[str, JSON], rows: Sequence[RunRow], cells: Sequence[Cell]) -> Sequence[Plot]:
    """The gaps between languages, and the questions with the widest gaps; no plots for a single language."""
    consistency = summary.get("consistency")
    if not consistency:
        return ()
    return [_language_gaps(consistency["pairs"]), _widest_gaps(consistency["largest_gaps"], rows)]


def _language_gaps(pairs: Sequence[LanguagePair]) -> Plot:
    return intervals(
        "language-gaps",
        "How much one language scores above another on the same questions",
        [(f"{pair.first} - {pair.second}", pair) for pair in pairs],
        unit="pp",
        zero=0.0,
        note="Above zero the first of the two languages scores higher.",
        folds="language pairs",
    )


def _widest_gaps(gaps: Sequence[LanguageGap], rows: Sequence[RunRow]) -> Plot:
    # The last text of a question wins; sorting puts English last.
    in_order = sorted(rows, key=lambda row: row.language.startswith("en"))
    texts = {row.question.cluster: row.question.text for row in in_order}
    return Plot(
        name="widest-gaps",
        title="The questions on which languages differ most: mean score in percent",
        kind="matrix",
        rows=[
            {
                "row": texts.get(gap.question, gap.question),
                "column": language,
                "value": mean,
                "text": f"{mean:.0f}",
            }
            for gap in gaps
            for language, mean in gap.means.items()
        ],
        low=0.0,
        high=100.0,
    )
