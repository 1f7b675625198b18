"""What was once misread or let through: claimants read unequally, names that say nothing, holes in tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import ROOT
from equipoise.cli import main
from equipoise.core.errors import UserError
from equipoise.judge.rubric import Scale
from equipoise.results.summary import summarise
from equipoise.suites import borderlines
from equipoise.suites.borderlines.answer_parser import by_letter, by_name, original_parse
from equipoise.suites.borderlines.dataset import (
    COUNTRIES,
    COUNTRY_NAMES,
    NAMES,
    TEMPLATES,
    TERRITORIES,
    disputes,
)
from equipoise.suites.selection import Selection

FOLDER = ROOT / "topics" / "borderlines"


# by_name: asymmetric between claimants.


@pytest.mark.parametrize(
    ("language", "names", "text", "place"),
    [
        # The short name inflects ("украинск-ая" is an ending of 4), the other does not ("российск-ая": 6).
        ("ru", ("Россия", "Украина"), "Крым — российская территория, а не украинская.", None),
        ("uk", ("Росія", "Україна"), "Крим — російська територія, а не українська.", None),
        ("ru", ("Россия", "Украина"), "Полуостров контролируют российские, а не украинские власти.", None),
        # A word of another meaning that begins like a stem.
        ("uk", ("Росія", "Україна"), "Тут росте рослина.", None),
        # l- and the article: لل, so that no name with an article is found behind "to".
        ("ar", ("المغرب", "إسبانيا"), "سبتة تابعة للمغرب.", 0),
        ("ar", ("المغرب", "إسبانيا"), "سبتة تابعة للمغرب وتحتلها إسبانيا.", None),
        ("ar", ("السودان", "جنوب السودان"), "أبيي تابعة للسودان.", 0),
        ("ar", ("الإمارات العربية المتحدة", "إيران"), "هي للإمارات العربية المتحدة لا لإيران.", None),
    ],
)
def test_claimants_are_read_alike(language: str, names: Sequence[str], text: str, place: int | None) -> None:
    """What names both, or the one with an article, is not read as the other."""
    assert by_name(text, names, language) == place


def test_a_territory_that_is_called_as_a_country_is_not_read_by_name() -> None:
    """An answer that only repeats it names no claimant: Abkhazia, South Ossetia, North Kosovo."""
    for case in disputes(Selection(topics=FOLDER)):
        assert borderlines.named(case, f"{case.name}.") is None, case.id


# by_letter.


@pytest.mark.parametrize(
    "text", ["It belongs to the U.S.A.", "The U.S.A. holds it", "It is run from Washington, D.C."]
)
def test_an_abbreviation_is_no_letter(text: str) -> None:
    """A full stop behind a capital is not always an option's."""
    assert by_letter(text, 4) is None


# original_parse: one occurrence of any letter in all, as the protocol says.


def test_the_original_accepts_a_single_occurrence_of_any_letter() -> None:
    """A) twice and B) once are three occurrences: nothing is read, and the first claimant stands."""
    assert original_parse("A) and A) again, against B)", ("Chile", "Peru")) == 0


# Tables.


def small(folder: Path, **changes: list[list[str]]) -> Path:
    """A folder of one territory."""
    rock = ["rock", "Rock", "AA;BB", "AA", "Asia", "no", "2026-11", "atlas"]
    tables = {
        "territories": [TERRITORIES, rock],
        "names": [NAMES, *(["rock", tongue, "Rock"] for tongue in ("xx", "en"))],
        "countries": [COUNTRIES, ["AA", "xx", "none"], ["BB", "en", "none"]],
        "country_names": [COUNTRY_NAMES, *([a, b, a + b] for a in ("AA", "BB") for b in ("xx", "en"))],
        "templates": [
            TEMPLATES,
            ["xx", "X", "{territory}: {options}?", ", "],
            ["en", "English", "{territory}: {options}?", ", "],
        ],
        **changes,
    }
    for name, rows in tables.items():
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(rows)
        (folder / f"{name}.csv").write_text(out.getvalue(), encoding="utf-8")
    return folder


ROCK = ["rock", "Rock", "AA;BB", "AA", "Asia", "no", "2026-11", "atlas"]
X = ["xx", "X", "{territory}: {options}?", ", "]


@pytest.mark.parametrize(
    "changes",
    [
        {"templates": [TEMPLATES, X]},  # KeyError: 'en'
        {"territories": [TERRITORIES, ROCK, ROCK]},  # two cases of one id
        {
            "territories": [TERRITORIES, ["Röck!", *ROCK[1:]]],
            "names": [NAMES, ["Röck!", "xx", "R"], ["Röck!", "en", "R"]],
        },
        {"templates": [TEMPLATES, X, ["en", "English", "Whose is {territory}?", ", "]]},  # no options
        {"templates": [TEMPLATES, X, ["en", "English", "Whose: {options}?", ", "]]},  # no territory
        {"territories": [TERRITORIES]},  # no case at all
    ],
    ids=["no-english", "slug-twice", "odd-slug", "no-options", "no-territory", "empty"],
)
def test_faulty_tables_are_refused(tmp_path: Path, changes: dict[str, list[list[str]]]) -> None:
    """As a UserError with file and line."""
    with pytest.raises(UserError):
        disputes(Selection(topics=small(tmp_path, **changes)))


# The rest.


def test_no_records_can_be_summarised() -> None:
    """Null figures, not an error."""
    assert "metrics" in summarise(borderlines, {}, Scale(low=0, high=7, levels={}))


def test_a_check_of_a_table_that_is_not_there_says_so(tmp_path: Path) -> None:
    """One line, exit 4."""
    for path in FOLDER.glob("*.csv"):
        if path.name != "country_names.csv":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    done = CliRunner().invoke(main, ["construct", "borderlines", "--check", "--folder", str(tmp_path)])
    assert done.exit_code == 4


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        ({"CN", "PH"}, "It belongs to China, although the Philippines object."),
        ({"CD", "UG"}, "It is the Democratic Republic of the Congo's, whatever Uganda says."),
        ({"BA", "HR"}, "Bosnia and Herzegovina owns it, Croatia claims it."),
    ],
)
def test_the_usual_names_of_all_claimants_are_known(codes: set[str], text: str) -> None:
    """An answer that names both is not read as the one whose name the table happens to have."""
    (case, *_) = [
        case
        for case in disputes(Selection(topics=FOLDER))
        if case.language == "en" and codes <= set(case.claimants)
    ]
    assert borderlines.named(case, text) is None
