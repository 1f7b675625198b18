"""What GitHub Actions is told: a job summary that no name can break, and annotations."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from msgspec import structs
from sides import by_chance, side_of

from equipoise.comparison.compare import compare
from equipoise.core.types import JSON
from equipoise.report import github
from equipoise.report.github import publish
from equipoise.results.document import Ruling


def gate(*rows: tuple[str, Any, str], verdict: str = "fail") -> dict[str, Any]:
    """A gate with these rules, verdicts and reasons."""
    rules = [Ruling(rule=rule, verdict=ruling, why=why) for rule, ruling, why in rows]
    return {"verdict": verdict, "rules": rules, "planned": 9, "left": 0, "unscored": 0}


FAILED = gate(("overall:-2pp", "fail", "50.00 % before"))


def comparison(**changes: JSON) -> Any:
    """A comparison as the results JSON has it; `changes` go into the candidate's metadata."""
    before, after = side_of(by_chance(1), "old.json"), side_of(by_chance(2, 0.3), "new.json", **changes)
    return compare(before, after, allows_mismatch=True).to_json()


def parts(comparison: Any, gate: Any) -> Any:
    """Those parts of results that there are."""
    return {name: part for name, part in (("comparison", comparison), ("gate", gate)) if part}


def markdown(title: str, comparison: Any, gate: Any) -> str:
    """The summary of one suite."""
    return github.markdown({title: parts(comparison, gate)})


def commands(title: str, *rows: tuple[str, str, str]) -> list[str]:
    """The workflow commands of a gate with these rules."""
    return publish({title: parts(None, gate(*rows))}, {"GITHUB_ACTIONS": "true"})


def columns(line: str) -> int:
    """How many cells a row of a Markdown table has: escaped pipes part none."""
    return line.replace("\\\\", "").replace("\\|", "").count("|") - 1


# The summary.


def test_a_summary_has_what_there_is() -> None:
    """A gate without a baseline, a comparison without a gate; of several suites the worst verdict first."""
    assert "against" not in markdown("m", None, FAILED)
    assert "Gate" not in markdown("m", comparison(), None)
    assert "Gate" not in markdown("m", comparison(), gate(verdict="pass"))
    suites: dict[str, Any] = {
        "a": parts(None, gate(("r", "pass", ""), verdict="pass")),
        "b": parts(None, FAILED),
        "c": {},
    }
    heading, table, *_ = github.markdown(suites).split("\n\n")
    assert heading == "**Gate: FAIL: overall:-2pp of b fails.**"
    assert [line.split(" | ")[1] for line in table.splitlines()[2:]] == ["PASS", "FAIL", "no rules"]
    both = gate(("a:-2pp", "fail", ""), ("b:-2pp", "fail", ""))
    both["rules"][0] = structs.replace(both["rules"][0], required=False)
    assert markdown("m", None, both).startswith("**Gate: FAIL: b:-2pp fails.**")


def test_a_name_or_reason_can_break_nothing() -> None:
    """The heading is one line without HTML, every row has its three cells, a system prompt stays text."""
    for name in ("a|b", "a\nb", "a\n\n# b", "<img src=x>", "a\\|b", "a\\", "![a](http://b)", "\\[a](b)"):
        first, heading, rest = markdown(name, None, FAILED).split("\n\n", 2)
        assert re.findall(r"(?<!\\)(?:\\\\)*\[", heading) == [], name
        assert heading.startswith("## Equipoise: "), name
        assert "<" not in heading, name
        assert first == "**Gate: FAIL: overall:-2pp fails.**", name
        assert rest.startswith("| rule "), name
    for text in ("a|b", "a\nb", "<b>", "a\\|b", "a\\", "|\n|---|"):
        shown = markdown("m", None, gate(("overall:-2pp", "fail", text), ("unscored:1%", "pass", "none")))
        rows = [line for line in shown.splitlines() if line.startswith("|")]
        assert [columns(line) for line in rows] == [3] * 4, text
        assert "<" not in shown, text
    text = markdown("m", comparison(subject_system_prompt="a\n\n# b <i>"), None)
    (item,) = [line for line in text.splitlines() if line.startswith("- MISMATCH")]
    assert item.endswith("now a\\\\n\\\\n# b &lt;i>")
    assert "\n# b" not in text


# Workflow commands.


def test_an_advisory_rule_is_no_error() -> None:
    """But a warning."""
    advisory = gate(("r", "fail", "so"), verdict="pass")
    advisory["rules"] = [structs.replace(*advisory["rules"], required=False)]
    (line,) = publish({"m": parts(None, advisory)}, {"GITHUB_ACTIONS": "true"})
    assert line == "::warning title=m%3A gate FAIL::r (advisory): so"


def test_a_message_is_escaped() -> None:
    """No character can end the command or begin another; in a title a colon and a comma end the property."""
    (line,) = commands("m", ("overall:-5%", "fail", "5 %\n::error::x\r\x1b[2J\u202eend %0A"))
    why = r"5 %25\n::error::x\r\x1b[2J\u202eend %250A"
    assert line == f"::error title=m%3A gate FAIL::overall:-5%25: {why}"
    for character, escape in {
        "%": "%25",
        "\n": r"\n",
        "\r": r"\r",
        "\x1b": r"\x1b",
        ":": "%3A",
        ",": "%2C",
        "::": "%3A%3A",
    }.items():
        (line,) = commands(f"a{character}b", ("r", "pass", "w"))
        assert line == f"::notice title=a{escape}b%3A gate PASS::r: w"


# Where it goes.


def test_commands_are_printed_in_actions_alone() -> None:
    """Also where there is no summary to write to; without a gate there are none."""
    for environment in ({}, {"GITHUB_ACTIONS": ""}, {"GITHUB_ACTIONS": "false"}):
        assert publish({"m": parts(comparison(), FAILED)}, environment) == []
    environment = {"GITHUB_ACTIONS": "true"}
    assert len(publish({"m": parts(None, FAILED)}, environment)) == 1
    assert publish({"m": parts(comparison(), gate(verdict="pass"))}, environment) == []


def test_a_summary_is_appended(tmp_path: Path) -> None:
    """What other steps have written stays; where that fails, a warning comes before the commands."""
    path = tmp_path / "summary.md"
    path.write_text("# Mine: 中\n", encoding="utf-8")
    for title in ("m1", "中 \ud83d"):
        assert publish({title: parts(None, FAILED)}, {"GITHUB_STEP_SUMMARY": str(path)}) == []
    texts = [markdown(title, None, FAILED) for title in ("m1", "中 \\ud83d")]
    assert path.read_text(encoding="utf-8") == "# Mine: 中\n" + "".join(texts)
    environment = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path)}
    warning, command = publish({"m2": parts(None, FAILED)}, environment)
    assert warning == "warning: $GITHUB_STEP_SUMMARY: cannot be written to (Is a directory)"
    assert command.startswith("::error title=m2")
