"""Tables and lines on a terminal: their width, where they break, and their colours."""

from __future__ import annotations

import re

import pytest

from equipoise.report.layout import align, cut, fit_parts, style_lines, text_width, wrap_line

HEAD = ("", "questions", "95 % interval", "how runs ended")
LONG = (
    "area.historical_movements",
    "2",
    "0.0 to 86.3",
    "scored 3, refused 4, blocked 2, error 1",
)
SHORT = ("overall", "", "-", "scored 22")


def test_a_table_takes_the_width_that_there_is() -> None:
    """In one line each where there is room; else how runs ended stands on a line below, whole."""
    rows = [HEAD, LONG, SHORT]
    assert len(align(rows)) == len(align(rows, 120)) == 3
    for width in (100, 80, 60, 52):
        *table, last = align(rows, width)
        is_below = width < 100
        assert max(map(text_width, table)) <= width, width
        assert any(re.fullmatch(r"area\.historical_movements +2 +0\.0 to 86\.3.*", line) for line in table)
        ended = f"how runs ended: {LONG[0]} ({LONG[-1]}); {SHORT[0]} ({SHORT[-1]})"
        assert (last == ended) is is_below, width
        assert len(table) == (3 if is_below else 2)


def test_long_names_make_room() -> None:
    """They stand whole above their figures, or share the first part; dashes below a heading make room."""
    lines = align([HEAD, LONG, SHORT], 46)
    index = lines.index("area.historical_movements")
    assert lines[index + 1].split() == ["2", "0.0", "to", "86.3"]
    assert max(map(text_width, lines[:-1])) <= 46
    assert "95 %" in "\n".join(lines)
    names = ("area", "area.x", "area.a_very_long_name_of_one", "other", "area.y", "index_0.1")
    lines = align([("", "figure"), *((name, "1.0%") for name in names)], 34)
    assert [line.removesuffix("1.0%").rstrip() for line in lines[1:]] == [
        *("area", "  x", "  a_very_long_name_of_one", "other", "area.", "  y", "index_0.1"),
    ]
    rows = [("", "these", "figure"), ("a_name_of_a_metric", "-", "1.0%"), ("overall", "", "2.0%")]
    assert "these" in align(rows)[0]
    assert align(rows, 28)[0].split() == ["figure"]


def test_figures_stand_to_the_right_also_in_the_last_column() -> None:
    """Words to the left, wide characters counted."""
    assert align([("", "baseline", "new"), ("overall", "10.00%", "2.00%"), ("北京", "1.00%", "-")]) == [
        "         baseline    new",
        "overall    10.00%  2.00%",
        "北京        1.00%      -",
    ]


def test_a_long_line_is_broken_where_its_meaning_is(subtests: pytest.Subtests) -> None:
    """Behind a semicolon rather than a comma or a blank; further lines stand under what the label says."""
    for line, parts in {
        "gate FAIL: overall:-2pp: it fell by more than that; about 95 questions would decide it": [
            "gate FAIL: overall:-2pp: it fell by more than that;",
            "  about 95 questions would decide it",
        ],
        "cost:      unknown for subject and evaluator: give --price-input and --price-output": [
            "cost:      unknown for subject and evaluator:",
            "           give --price-input and --price-output",
        ],
        "           Doubling the questions narrows it most (by 82 %); doubling the runs less": [
            "           Doubling the questions narrows it most (by 82 %);",
            "           doubling the runs less",
        ],
        "short": ["short"],
        f"results: {'x' * 80} (complete)": ["results:", f"  {'x' * 80}", "  (complete)"],
        "x" * 100: ["x" * 100],
    }.items():
        with subtests.test(line):
            assert wrap_line(line, 62) == parts


def test_what_matters_least_is_left_out_first() -> None:
    """The rest keeps its order; a wide character that is half outside is outside."""
    parts = [(0, "3/8 done"), (7, "2 retries"), (2, "0.01 USD"), (1, "5 s left")]
    assert fit_parts(parts, 80) == "3/8 done | 2 retries | 0.01 USD | 5 s left"
    assert fit_parts(parts, 40) == "3/8 done | 0.01 USD | 5 s left"
    assert fit_parts(parts, 25) == "3/8 done | 5 s left"
    assert fit_parts(parts, 5) == "3/8 d"
    assert (cut("北京x", 3), cut("北京x", 4), cut("北京x", 5), cut("abc", 2)) == ("北", "北京", "北京x", "ab")


def test_what_is_good_and_bad_is_seen_at_a_glance() -> None:
    """As pytest colours it; the head of a table and the whole are bold, an error red in all its lines."""
    lines = [
        "  mean",
        "aa  3",
        "overall  2",
        "",
        "gate FAIL: x",
        "gate: INCONCLUSIVE",
        "gate PASS: y",
        "warning: z",
    ]
    markups = [dict(markup) for _, markup in style_lines(lines, 80)]
    bold, red, yellow, green = {"bold": True}, {"red": True}, {"yellow": True}, {"green": True}
    assert markups == [bold, {}, bold, {}, red | bold, yellow | bold, green, yellow]
    assert [dict(markup) for _, markup in style_lines(["error: run: HTTP 500: it fails"], 20)] == [red] * 2


def test_no_line_commands_a_terminal_or_a_ci_job() -> None:
    """Control characters are escaped, and so is a command, also one that would begin a continuation line."""
    lines = ["a\x1b[2J\nb", "::error::x", "error: run: HTTP 500: ::error::of the endpoint"]
    shown = [line for line, _ in style_lines(lines, 22)]
    assert shown[:2] == [r"a\x1b[2J\nb", r"\x3a:error::x"]
    assert [line for line in shown if line.lstrip().startswith("::")] == []
    assert len(shown) > 4
