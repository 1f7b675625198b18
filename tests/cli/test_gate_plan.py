"""`equipoise gate plan`: the table of margins and runs, what decides enough, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import one_question
import pytest
from click.testing import CliRunner, Result
from sides import alike, by_chance, data_of, write, write_data

from equipoise.cli import main


@pytest.fixture(autouse=True)
def _baselines(folder: Path) -> None:
    """The current folder has a baseline of three runs and one of which all runs are alike."""
    write(folder / "old.json", by_chance(1, questions=30))
    write(folder / "alike.json", alike(4, 4))
    write(folder / "once.json", alike(4))
    write(folder / "few.json", alike(4, 4, questions=1))
    write_data(folder / "neutral.json", data_of(by_chance(2), one_question.SUITE))


def run(*arguments: str) -> Result:
    """What comes of the command."""
    return CliRunner().invoke(main, ["gate", "plan", *arguments])


def shares(result: Result) -> dict[str, list[tuple[int, ...]]]:
    """PASS, FAIL and INCONCLUSIVE of each row of the table, by its margin."""
    assert result.exit_code == 0, result.output
    rows = [line for line in result.stdout.splitlines() if re.match(r"[+-]", line)]
    assert max(map(len, rows)) <= 80
    cells = {row.split("pp")[0].strip(): re.findall(r"(\d+)/(\d+)/(\d+)", row) for row in rows}
    return {margin: [tuple(map(int, cell)) for cell in row] for margin, row in cells.items()}


def test_more_runs_and_wider_margins_decide_more() -> None:
    """Each cell makes up 100; in rows and columns PASS never falls."""
    table = shares(run("old.json", "--rule", "overall:-4pp"))
    assert [*table] == ["-2", "-4", "-6", "-8"]
    passed = [[cell[0] for cell in row] for row in table.values()]
    assert [cell for row in table.values() for cell in row if sum(cell) != 100] == []
    assert passed == [sorted(row) for row in passed]
    assert [*zip(*passed, strict=True)] == [tuple(sorted(column)) for column in zip(*passed, strict=True)]
    assert passed[0][0] < 50 < passed[-1][-1]


def test_the_runs_that_are_named_decide_95_of_100() -> None:
    """So does the margin with the present runs; rounds take at least as many, and end earlier."""
    output = run("old.json", "--rule", "overall:-4pp").stdout
    both = int(re.search(r"runs: +(\d+) before and after decide 95 of 100", output)[1])  # type: ignore[index]
    rounds, decided, mean, before = re.search(  # type: ignore[union-attr]
        r"--runs (\d+) decides (\d+) of 100, after ([\d.]+) on average; runs before: (\d+)", output
    ).groups()
    assert both <= int(rounds) <= both + 3
    assert (before, int(decided) >= 95, float(mean) < both) == (rounds, True, True)
    margin = re.search(r"3 runs before and after decide 95 of 100 at ([\d.]+) pp", output)[1]  # type: ignore[index]
    index = 1  # of the column of three runs
    assert shares(run("old.json", "--rule", f"overall:-{margin}pp"))[f"-{float(margin):.3g}"][index][0] >= 95


def test_what_decides_nothing_more() -> None:
    """A model at temperature 0 always passes; without a margin the observed difference decides: chance."""
    table = shares(run("alike.json", "--rule", "overall:-2pp"))
    assert {cell for row in table.values() for cell in row} == {(100, 0, 0)}
    result = run("old.json", "--rule", "overall:-0")
    assert "with a margin of 0 what was observed decides" in result.stdout
    assert "95 of 100" not in result.stdout
    assert {cell[0] for cell in shares(result)["-0"]} == {50}


@pytest.mark.parametrize("rule", ["refused:+10pp", "overall:-10%", "overall:-4pp@population", "aa:-10pp"])
def test_rules_of_each_kind_are_planned(rule: str) -> None:
    """Rates, relative margins, the other scope, a breakdown."""
    rows = shares(run("neutral.json", "--rule", rule.replace("aa", "area.x")))
    assert all(row[-1][0] > row[0][0] for row in rows.values())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("once.json", "--rule", "overall:-2pp"),
            "once.json has one run of each case, and how far runs vary",
        ),
        (("old.json", "--rule", "overal:-2pp"), "old.json has no metric 'overal'; did you mean overall"),
        (
            ("old.json", "--rule", "overall:+2pp"),
            "overall is worse when it is lower; bound that: overall:-2pp",
        ),
        (("old.json", "--rule", "verified"), "verified: is not about the change of a figure"),
        (("old.json", "--rule", "question:-2.0"), "is not about the change of a figure"),
        (("old.json", "--rule", "overall:-2pp@these@people"), "`equipoise review plan` says how many"),
        (("neutral.json", "--rule", "refused:+3pp@population"), "plan refused:+3pp@these"),
        (("old.json", "--rule", "overall:-2pp", "--rule", "aa:-5pp"), "2 rules: plan each alone"),
        (("few.json", "--rule", "overall:-2pp"), "few.json: 6 questions or more are needed to decide it"),
        (("few.json", "--rule", "overall:-2pp@population"), "6 questions or more are needed to decide it"),
        (("old.json",), "Missing option '--rule'"),
        (("absent.json", "--rule", "overall:-2pp"), "absent.json"),
    ],
)
def test_what_cannot_be_planned_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    """It names the option as it was given, and what to do."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (4, "")
    (line,) = result.stderr.splitlines()
    assert message in line
    assert "--gate" not in line


def test_a_file_of_that_name_can_be_gated() -> None:
    """`./plan`; and the help of `gate` says that there is a plan."""
    write(Path("plan"), by_chance(3))
    result = CliRunner().invoke(main, ["gate", "./plan", "--baseline", "old.json", "--gate", "overall:-90pp"])
    assert "gate: PASS" in result.stdout, result.output
    shown = CliRunner().invoke(main, ["gate", "--help"]).stdout
    assert "equipoise gate plan BASELINE --rule RULE" in " ".join(shown.split())
    assert "gate plan [OPTIONS] RESULTS" in CliRunner().invoke(main, ["gate", "plan", "--help"]).stdout
