"""Cases from templates: twins, the anonymous control, what is dealt, and what is refused or found."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from small_turnabout import files, write
from sources import misread

from conftest import ROOT
from equipoise.core.errors import UserError
from equipoise.core.types import JSON
from equipoise.suites import turnabout
from equipoise.suites.selection import Selection
from equipoise.suites.turnabout.dataset import Incident

SHIPPED = ROOT / "topics" / "turnabout"


def cases(folder: Path, *languages: str, **options: JSON) -> list[Incident]:
    """The selected cases."""
    wanted = Selection(topics=folder, languages=languages, options=options)
    return [*turnabout.SUITE.data.cases(wanted)]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The small dataset."""
    return write(tmp_path / "small")


def test_each_incident_is_asked_in_three_forms(small: Path) -> None:
    """Both orders of each pair in its languages, and X and Y once for all pairs of a set."""
    incidents = cases(small)
    assert len(incidents) == 8 * (2 * 3 + 2)
    areas = Counter((case.language, case.area) for case in incidents)
    assert areas == {
        ("en-US", "purple_green"): 16,
        ("en-US", "red_blue"): 16,
        ("en-US", "anonymous"): 8,
        ("zz", "purple_green"): 16,
        ("zz", "anonymous"): 8,
    }
    assert incidents[0].id == "en-US-purple_green-i0-p_first"
    assert incidents[1].question.startswith(
        "Imagine that the Green boat met the Purple boat at place en-US i0."
    )
    control = next(case for case in incidents if case.id == "en-US-anonymous-i0-x_first")
    assert control.keywords == ("purple_green", "red_blue")
    assert "that the X boat met the Y boat" in control.question


def test_twins_share_direction_and_order(small: Path) -> None:
    """Whatever the seed, which deals them anew; so that nothing but the actors differs."""
    dealt = {}
    for seed in range(3):
        forms: dict[tuple[str, str], set[JSON]] = {}
        for case in cases(small, seed=seed):
            key = case.language, case.template
            forms.setdefault(key, set()).add((case.scale_direction, case.option_values))
        assert all(len(form) == 1 for form in forms.values())
        dealt[seed] = repr(sorted(forms.items()))
    assert len({*dealt.values()}) == 3


def test_directions_and_orders_are_balanced() -> None:
    """In the shipped data: of each language, set and thing that is asked with numbers, half go up; or nearly,
    where their number is odd."""
    for seed in (0, 7):
        controls = [case for case in cases(SHIPPED, seed=seed) if case.leads == "x"]
        ways = Counter(
            (case.language, case.actor_set, case.asks, case.scale_direction)
            for case in controls
            if not case.options
        )
        groups = {key[:3] for key in ways}
        assert all(abs(ways[(*key, "up")] - ways[(*key, "down")]) <= 1 for key in groups)
        english = {key: count for key, count in ways.items() if key[0] == "en-US"}
        assert {*english.values()} == {3}
        places = Counter(
            (case.language, case.actor_set, index, value)
            for case in controls
            for index, value in enumerate(case.option_values)
        )
        assert {*places.values()} <= {0, 1, 2}


def test_an_incident_is_not_asked_in_some_pairs(tmp_path: Path) -> None:
    """In a pair that its row names, in either order; nor of X and Y where no other pair of a language is."""
    row = "i0,sides,first,responsibility,two boats,"
    incidents = files()["incidents.csv"].replace(row, f"{row}purple_green")
    cases_read = cases(write(tmp_path / "small", incidents=incidents))
    areas = {(case.language, case.area) for case in cases_read if case.template == "i0"}
    assert areas == {("en-US", "red_blue"), ("en-US", "anonymous")}
    control = next(case for case in cases_read if case.template == "i0" and case.leads == "x")
    assert control.controls == ("red_blue",)
    assert len(cases_read) == 8 * (2 * 3 + 2) - 2 * 2 - 1
    first = cases(tmp_path / "small", pairs=("purple_green",))
    assert {case.template for case in first[:2]} == {"i4"}


def test_pairs_and_languages_are_selected(small: Path) -> None:
    """With the controls that they need; an unknown one is named with those that there are."""
    assert {case.area for case in cases(small, pairs=("red_blue",))} == {"red_blue", "anonymous"}
    assert {case.language for case in cases(small, "zz")} == {"zz"}
    with pytest.raises(UserError, match=r"^--pairs: there is no 'rb'; there are purple_green, red_blue$"):
        cases(small, pairs=("rb",))
    with pytest.raises(UserError, match=r"^--language: no 'de' in .*small; there are en-US, zz$"):
        cases(small, "de")
    assert [*misread({"pairs": ((), "us_parties", ("us_parties",))})] == []


def test_what_is_missing_is_told(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """The file and the line, before anything is asked."""
    known = files()
    for table, was, now, fault in (
        ("pairs", "zz;en-US", "zz", r"pairs.csv:2: its languages must include both homes and en-US"),
        ("pairs", "sides,r,b", "sides,r,r", r"pairs.csv:3: a and b are both 'r'"),
        ("en-US", "i3,", "i9,", r"incidents.csv:5: i3 is not in .*en-US.csv"),
        (
            "en-US",
            "{first:of} boat met",
            "{first:to} boat met",
            r"en-US.csv:2: \{first:to\} is not in actors.csv",
        ),
        ("actors", "zz,sides,g,", "zz,sides,h,", r"actors.csv: no g of sides in zz"),
        ("answers", "zz,severity,up", "yy,severity,up", r"answers.csv: there is no row zz, severity, up"),
    ):
        with subtests.test(fault):
            folder = write(tmp_path / "broken", **{table: known[f"{table}.csv"].replace(was, now)})
            with pytest.raises(UserError, match=fault):
                _ = [cases(folder, seed=seed) for seed in range(4)]
