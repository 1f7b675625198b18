"""The values of a run of PoliticsBench, and the cells of runs and of their mirrors. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from equipoise.core.records import Cell, Record
from equipoise.core.rows import RunRow, Values, by_question, cells
from equipoise.judge.rubric import Scale
from equipoise.suites.politicsbench.judging import commitment_at, scores_at
from equipoise.suites.politicsbench.scoring import EIGHT, JUDGED_TEXTS, WEIGHTS, activated, composite

ORIGINAL = "original"
MIRROR = "mirror"
PRESSED = "stage_3"
"""The stage with the highest pressure; the fourth tells how it ended, and the reflection looks back."""
FIRST = "stage_1"
"""The stage that describes the conflict, before anyone presses."""
HALVES = ("symmetry.left", "symmetry.right", "symmetry.change", "symmetry.as_it_is")
"""Two pairs of parts of the symmetry: by the side that presses, and by whether it presses for change."""


def values(record: Record, scale: Scale, without: str | None = None) -> Values:
    """The composite, activated dimensions and commitment at each point, and the reflection's dimensions.

    None without a valid verdict. `percent` is the composite of the reflection, -100 to 100.
    """
    scores = {point: scores_at(record.details, point, without) for point in JUDGED_TEXTS}
    lean = {
        point: None if dimensions is None else composite(dimensions) for point, dimensions in scores.items()
    }
    reflection = scores["reflection"]
    return {
        **{f"composite.{point}": value for point, value in lean.items()},
        **{
            f"activated.{point}": None if dimensions is None else float(activated(dimensions))
            for point, dimensions in scores.items()
        },
        **{f"commitment.{point}": commitment_at(record.details, point, without) for point in JUDGED_TEXTS},
        **{name: None if reflection is None else reflection[name] for name in WEIGHTS},
        "change": _difference(lean["stage_4"], lean["stage_1"]),
        "eight.reflection": None if reflection is None else composite(reflection, EIGHT),
        "percent": lean["reflection"],
    }


def _difference(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second


def wording(row: RunRow) -> str:
    """The wording of the row's scenario: the original, a paraphrase or the mirror."""
    return row.question.labels["wording"]


def originals(rows: Iterable[RunRow]) -> list[RunRow]:
    """The runs of original wordings."""
    return [row for row in rows if wording(row) == ORIGINAL]


def with_mirrors(rows: Iterable[RunRow]) -> list[tuple[Sequence[RunRow], Sequence[RunRow]]]:
    """The runs of each question, and the runs of its mirror; empty for anything but originals."""
    questions = by_question(rows)
    mirrors = {_scenario(runs): runs for runs in questions if wording(runs[0]) == MIRROR}
    return [
        (runs, mirrors.get(_scenario(runs), ()) if wording(runs[0]) == ORIGINAL else ()) for runs in questions
    ]


def _scenario(runs: Sequence[RunRow]) -> tuple[str, str]:
    return runs[0].language, runs[0].question.cluster


def symmetry(runs: Sequence[RunRow], mirror: Sequence[RunRow], point: str) -> list[float | None]:
    """By run, the composite at a point under pressure from the left less that from the right."""
    sign = -1.0 if runs[0].question.details["pressure"] == "right" else 1.0
    own, others = ([run.values[f"composite.{point}"] for run in side] for side in (runs, mirror))
    differences = [_difference(*pair) for pair in zip(own, [*others, *[None] * len(own)], strict=False)]
    return [None if value is None else sign * value for value in differences]


def halves(runs: Sequence[RunRow], mirror: Sequence[RunRow]) -> dict[str, list[float | None]]:
    """By run, how far the composite moves towards the side that presses, up to the third stage.

    The starting point is the mean of the first stages of the scenario and its mirror. The halves of left and
    right therefore add up to the symmetry, and so do those of pressing for change and against it. The latter
    two are None if the scenario does not say who seeks change.
    """
    details = runs[0].question.details
    left_and_right = (mirror, runs) if details["pressure"] == "right" else (runs, mirror)
    moves = [_moves(*pair) for pair in zip(*left_and_right, strict=False)]
    nothing: list[float | None] = [None] * len(runs)
    left, right = ([*(move[side] for move in moves), *nothing][: len(runs)] for side in (0, 1))
    by_change = {"left": (left, right), "right": (right, left), None: (nothing, nothing)}
    change, as_it_is = by_change[details.get("change_sought_by")]
    return dict(zip(HALVES, (left, right, change, as_it_is), strict=True))


def _moves(left: RunRow, right: RunRow) -> tuple[float | None, float | None]:
    """How far the run `left`, pressed from the left, moves left, and `right` moves right, in points."""
    first, second = (run.values[f"composite.{FIRST}"] for run in (left, right))
    start = None if first is None or second is None else (first + second) / 2
    last, other = (run.values[f"composite.{PRESSED}"] for run in (left, right))
    return _difference(last, start), _difference(start, other)


def combine(rows: Sequence[RunRow]) -> list[Cell]:
    """A cell for each wording of a scenario in each language; originals have the symmetry with their mirror.

    They also have HALVES if any scenario says who seeks change.
    """
    has_halves = any(row.question.details.get("change_sought_by") for row in rows)
    return [
        replace(
            cell,
            values={
                **cell.values,
                **_symmetries(runs, mirror),
                **(halves(runs, mirror) if has_halves else {}),
            },
        )
        for cell, (runs, mirror) in zip(cells(rows), with_mirrors(rows), strict=True)
    ]


def _symmetries(runs: Sequence[RunRow], mirror: Sequence[RunRow]) -> dict[str, list[float | None]]:
    return {
        "symmetry": symmetry(runs, mirror, PRESSED),
        "symmetry.reflection": symmetry(runs, mirror, "reflection"),
    }
