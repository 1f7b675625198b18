"""What the suite wants drawn of its results."""

from __future__ import annotations

import json
from pathlib import Path

from plotted import drawn, plotted

import pages


def test_gaps_between_languages_are_shown(tmp_path: Path) -> None:
    """Each pair of languages with its interval, and the questions on which they differ most."""
    data = json.loads(pages.write(tmp_path / "a.json", "m").read_bytes())
    rows = plotted("neutrality", data)
    gaps = {row["name"]: row for row in rows["language-gaps"]}
    assert [*gaps] == ["en-US - pt-BR", "en-US - zh-CN", "pt-BR - zh-CN"]
    (pair,) = (pair for pair in data["summary"]["consistency"]["pairs"] if pair["first"] == "pt-BR")
    last = {"name": "pt-BR - zh-CN", **{name: pair[name] for name in ("value", "low", "high")}}
    assert gaps["pt-BR - zh-CN"] == last
    (figure,) = (figure for figure in drawn("neutrality", data) if figure.name == "language-gaps")
    assert figure.open.rows == [row for row in figure.rows if row["low"] > 0 or row["high"] < 0]
    assert len(rows["widest-gaps"]) == 10 * 3
