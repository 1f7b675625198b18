"""What a user sees while a session runs where output is piped: the opening line, the legend, the progress."""

from __future__ import annotations

import re

import pytest

from conftest import Bench
from equipoise.plugin.terminal import LEGEND
from loopback import SUBJECT

LETTERS = r"(tests_benchmark/test_neutrality\.py )?[0-9.bteuE]*( +\[ *\d+%\])?"
PROGRESS = r"\d+/12 done( \| [^|]+)*"
OFTEN = """
from equipoise.report import status_line

status_line.INTERVAL_SECONDS = 0.03
status_line.LOG_TICKS = 1
"""


def opening(bench: Bench, runs: int) -> str:
    """The first line of a session."""
    return (
        f"equipoise: neutrality; {SUBJECT} ({bench.server.url}); {runs} runs per case; reading the questions"
    )


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("-n", "2", "-q")], ids=" ".join)
def test_the_first_line_is_printed_before_any_answer(bench: Bench, flags: tuple[str, ...]) -> None:
    """It says what is asked of whom, and does not wait in a buffer for the first score."""
    bench.server.hold()
    session = bench.start(*flags, "--runs", "2")
    assert session.stdout is not None
    assert session.stdout.readline().rstrip() == opening(bench, 2)
    bench.server.release()
    rest, _ = session.communicate(timeout=300)
    assert session.wait(300) == 0
    assert rest.count("letters: a digit is the score of a run") == 1


@pytest.mark.slow
def test_no_line_where_none_is_wanted(bench: Bench) -> None:
    """Neither with -qq nor where pytest only looks; an estimate says that it is one."""
    for flags in (("-qq",), ("--co", "-q"), ("--fixtures",)):
        assert "equipoise:" not in bench.run(*flags).stdout
    beginning = opening(bench, 5).replace("reading the questions", "estimating, no calls are made")
    assert bench.run("--estimate").stdout.startswith(beginning)


@pytest.mark.slow
def test_words_need_no_legend(bench: Bench) -> None:
    """With -v, each run has a line with its outcome."""
    assert "letters:" not in bench.run("-v", "--runs", "1").stdout


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("-n", "2")], ids=["n0", "n2"])
def test_progress_stands_between_rows_of_letters(bench: Bench, flags: tuple[str, ...]) -> None:
    """No line has letters and progress both, however often the progress is printed."""
    bench.server.delay = 0.05
    (bench.folder / "often.py").write_text(OFTEN)
    done = bench.run(*flags, "-p", "often", "--runs", "3", "--concurrency", "2", status=0)
    _, _, shown = done.stdout.partition(f"{LEGEND}\n")
    lines = [line for line in shown.partition("===")[0].splitlines() if " workers [" not in line]
    assert sum(re.fullmatch(PROGRESS, line) is not None for line in lines) > 2
    others = [line for line in lines if not re.fullmatch(PROGRESS, line)]
    assert [line for line in others if not re.fullmatch(LETTERS, line)] == []
    assert "".join(re.sub(r"\[.*|.*py|[^0-9]", "", line) for line in others).isdigit()
