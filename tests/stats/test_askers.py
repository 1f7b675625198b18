"""How far answers move with who asks, from rows made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from equipoise.core.records import Cell, Metric
from equipoise.core.rows import QuestionRow, RunRow, Values
from equipoise.core.types import Cue, Form, Place
from equipoise.stats import askers, fixed
from equipoise.stats.askers import AskerScale
from equipoise.stats.metrics import measure

SCALE = AskerScale(what="the lean")
SHARE = AskerScale(name="share", what="the share", is_directed=False)


def question(name: str, language: str = "aa", stratum: str = "") -> QuestionRow:
    """A question of the area x."""
    return QuestionRow(
        id=name, language=language, text="", cluster=name[:2], stratum=stratum or language, area="x"
    )


def runs(
    about: QuestionRow, *values: float | None, position: Place | None = None, form: Form = "stated"
) -> list[RunRow]:
    """Repeats that stand at these values, of nobody or of a side."""
    cue = (
        Cue(side=f"{position}side", place=position, form=form, number=1, text="I ask.") if position else None
    )
    return [
        RunRow(
            question=about,
            number=number,
            outcome="scored",
            score=value,
            percent=value,
            error=None if value is not None else "none",
            values={"percent": value},
            verdicts=(),
            details={},
            subject_transcript=(),
            evaluator_transcripts=(),
            asker=cue,
        )
        for number, value in enumerate(values, start=1)
    ]


def stands(row: RunRow, sides: tuple[str, str]) -> Values:
    """The value, on both scales."""
    assert sides == ("firstside", "secondside")
    return {"": row.percent, "share": row.percent}


def answer(row: RunRow) -> str | None:
    """High or low."""
    return None if row.percent is None else "high" if row.percent > 50 else "low"


def cells(plain: Sequence[RunRow], cued: Sequence[RunRow]) -> list[Cell]:
    """The cells of these rows."""
    return askers.cells(plain, cued, [SCALE, SHARE], stands, answer)


def by_both(about: QuestionRow, *values: float, form: Form = "stated") -> list[RunRow]:
    """Repeats that stand at these values, whichever side asks."""
    places: tuple[Place, Place] = ("first", "second")
    return [run for position in places for run in runs(about, *values, position=position, form=form)]


ABOUT = question("q1")


def test_the_figures_of_a_case() -> None:
    """Shifts towards who asks, their sum and difference, repeat by repeat; forms weigh alike."""
    (cell,) = cells(
        runs(ABOUT, 40, 60), [*runs(ABOUT, 90, 80, position="first"), *runs(ABOUT, 30, 20, position="second")]
    )
    assert cell.of("shift.first") == [50, 20]
    assert cell.of("shift.second") == [10, 40]
    assert cell.of("sycophancy") == [60, 60]
    assert cell.of("asymmetry") == [40, -20]
    assert cell.of("share.shift.second") == [-10, -40]
    assert cell.of("share.asymmetry") == [60, 60]
    assert "share.sycophancy" not in cell.values
    # Of two answers to sides, one and one are another.
    assert cell.of("changed") == [50, 50]
    assert cell.of("changed.repeats") == [100]
    forms: tuple[tuple[Form, int], ...] = (("stated", 20), ("implied", 10))
    cued = [run for form, move in forms for run in by_both(ABOUT, 50 + move, 50 + move, form=form)]
    (cell,) = cells(runs(ABOUT, 50, 50), cued)
    assert cell.of("shift.first@stated") == [20, 20]
    assert cell.of("shift.first@implied") == [10, 10]
    assert cell.of("shift.first") == [15, 15]


def test_runs_without_a_value_leave_those_that_have_one() -> None:
    """Each value is made of repeats of its own; what cannot be told is not made up."""
    (cell,) = cells(
        runs(ABOUT, None, 40, 60),
        [*runs(ABOUT, 90, None, None, position="first"), *runs(ABOUT, 30, 20, 10, position="second")],
    )
    assert cell.of("shift.first") == [50]
    assert cell.of("shift.second") == [10, 40]
    assert cell.of("asymmetry") == [40]
    (cell,) = cells(
        runs(ABOUT, None), [*runs(ABOUT, 90, position="first"), *runs(ABOUT, 30, position="second")]
    )
    assert (cell.of("shift.first"), cell.of("sycophancy")) == ([], [60])
    cued = [*runs(ABOUT, 90, position="first"), *runs(ABOUT, 30, position="second")]
    (cell,) = cells(runs(ABOUT, 40, 60, None, 60, 40), cued)
    assert cell.of("changed.repeats") == [100, 100]
    (cell,) = cells(
        runs(ABOUT, 40, 40, None),
        [*runs(ABOUT, 90, 90, 90, position="first"), *runs(ABOUT, None, 30, 30, position="second")],
    )
    assert cell.of("changed") == [100, 50]
    other = question("q2")
    both = [*runs(other, 1, position="first"), *runs(other, 1, position="second")]
    assert cells(runs(ABOUT, 50), [*runs(ABOUT, 60, position="first"), *both]) == []


def test_ways_to_ask_a_question_in_one_language_are_strata() -> None:
    """As territories under two strategies: no mean takes one for the other."""
    rows = [question(name, stratum="aa") for name in ("q1-a", "q1-b", "q2-a", "q2-b")]
    made = cells(
        [run for row in rows for run in runs(row, 50)], [run for row in rows for run in by_both(row, 60)]
    )
    assert [(cell.cluster, cell.stratum) for cell in made] == [
        *(("q1", "aa"), ("q1", "aa/2")),
        *(("q2", "aa"), ("q2", "aa/2")),
    ]


def test_metrics_are_named_by_sides_and_split_where_there_is_more_than_one() -> None:
    """By language, by area, by form; the widest figures have the widest bounds."""
    rows = [question(f"q{n}", language) for n in range(3) for language in ("aa", "bb")]
    made = cells(
        [run for n, row in enumerate(rows) for run in runs(row, 50 + n, 52)],
        [run for row in rows for run in by_both(row, 60, 62)],
    )
    by_name = {item.name: item for item in askers.metrics(made, [SCALE, SHARE], ("left", "right"))}
    assert [name for name in by_name if name.count(".") < 3 and "share" not in name] == [
        "asker.asymmetry",
        "asker.shift.left",
        "asker.shift.right",
        "asker.sycophancy",
        "asker.changed",
        "asker.changed.repeats",
    ]
    assert "asker.share.shift.right.language.bb" in by_name
    assert not [name for name in by_name if ".area." in name or ".form." in name]
    assert by_name["asker.asymmetry"].bounds == (-200, 200)
    assert by_name["asker.changed"].unit == "%"
    metric = by_name["asker.shift.left.language.aa"]
    assert measure(metric, made).value == pytest.approx(fixed.estimate(metric, made).value)
    assert measure(metric, made).n == 3


def test_clusters_weigh_alike_where_each_has_languages_of_its_own() -> None:
    """The mean of a question's languages, repeat by repeat, is an observation; languages have cells, too."""
    rows = [question("q1", "aa"), question("q1", "bb"), question("q2", "aa"), question("q2", "cc")]
    moves = ((10, 12), (30, 32), (40, 42), (60, 62))
    made, metrics = moved(rows, moves)
    shift, language = metrics["asker.shift.a"], metrics["asker.shift.a.language.aa"]
    assert [cell.of("shift.first") for cell in shift.select(made)] == [[20, 22], [50, 52]]
    assert (measure(shift, made).value, measure(language, made).value) == (36, 26)
    assert measure(shift, made).low is not None
    assert fixed.estimate(shift, made).n == 2


def moved(
    rows: Sequence[QuestionRow], moves: Sequence[Sequence[float]]
) -> tuple[list[Cell], dict[str, Metric]]:
    """The cells by question, and metrics, of rows that stand so far above 50 whoever asks."""
    cued = [
        run for row, by in zip(rows, moves, strict=True) for run in by_both(row, *(50 + move for move in by))
    ]
    plain = [run for row in rows for run in runs(row, 50, 50, 50, 50)]
    made = askers.cells(plain, cued, [SCALE], stands, answer, by_cluster=True)
    return made, {item.name: item for item in askers.metrics(made, [SCALE], ("a", "b"))}


def test_a_question_weighs_alike_however_many_repeats_it_has_left() -> None:
    """Four repeats of one language and one of the other: the mean of 10 and 50, and not of 50, 10, 10, 10."""
    made, metrics = moved([question("q1", "aa"), question("q1", "bb")], ((10, 10, 10, 10), (50,)))
    assert measure(metrics["asker.shift.a"], made).value == 30


def test_what_cases_will_give_has_the_same_names() -> None:
    """So that a rule about one can be refused before anything is asked."""
    rows = [question(f"q{n}", language) for n in range(2) for language in ("aa", "bb")]
    forms: tuple[Form, Form] = ("stated", "implied")
    made = cells(
        [run for row in rows for run in runs(row, 50, 52)],
        [run for row in rows for form in forms for run in by_both(row, 60, 62, form=form)],
    )
    expected = askers.expected_cells(rows, [SCALE, SHARE], forms)
    names, wanted = (
        [item.name for item in askers.metrics(every, [SCALE, SHARE], ("a", "b"))]
        for every in (made, expected)
    )
    assert sorted(names) == sorted(wanted)
