"""The published layout of territorial disputes, on a small set of tables of our own."""

from __future__ import annotations

from pathlib import Path

import pytest
from published_borderlines import write

from equipoise.core.errors import UserError
from equipoise.suites import borderlines as suite
from equipoise.suites.selection import Selection


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """The folder of the tables."""
    return write(tmp_path)


def test_every_claimant_is_asked_in_its_language_and_all_in_english(tables: Path) -> None:
    """One code for each language; names in the order of the claimants."""
    found = [(case.id, case.names) for case in suite.SUITE.data.cases(Selection(topics=tables))]
    assert found == [
        ("nl-t001_rock", ("Suriname", "Bretagne")),
        ("br-t001_rock", ("Surinam", "Breizh")),
        ("en-t001_rock", ("Suriname", "Brittany")),
        ("br-t002_shoal", ("Breizh", "Eivisa")),
        ("he-t002_shoal", ("Bretan", "Ibiza")),
        ("en-t002_shoal", ("Brittany", "Ibiza")),
    ]


def test_a_damaged_key_is_dealt_with(tables: Path) -> None:
    """The country has its language."""
    [first, *_] = suite.SUITE.data.cases(Selection(topics=tables))
    assert (first.speaks, first.religions) == (
        {"Suriname": "nl", "Brittany": "br"},
        {"Suriname": "Christianity", "Brittany": "Christianity"},
    )


def test_a_language_goes_by_either_code(tables: Path) -> None:
    """Ours or the published one."""
    for language in ("he", "iw"):
        found = suite.SUITE.data.cases(Selection(topics=tables, languages=(language,)))
        assert [case.id for case in found] == ["he-t002_shoal"]


def test_a_damaged_table_is_one_line(tables: Path) -> None:
    """With its name."""
    (tables / "countries_info.json").write_text("{")
    with pytest.raises(UserError, match=r"countries_info\.json: not valid JSON"):
        suite.SUITE.data.cases(Selection(topics=tables))


def test_a_language_without_questions_is_refused(tables: Path) -> None:
    """Also a claimant's own, and by either of its codes."""
    for language, code in {"xx": "xx", "dz": "dz", "zh": "zh-Hans"}.items():
        with pytest.raises(UserError, match=f"^--language: no '{code}' in {tables}; there are "):
            suite.SUITE.data.cases(Selection(topics=tables, languages=("en", language)))


def test_the_published_order_stays(tables: Path) -> None:
    """The claimants are lettered in the published text, in one order; another seed would change nothing."""
    says = r"^--seed: the published questions have their options in one order; leave it out$"
    for order in ("seeded", "fixed"):
        options = {"option_order": order}
        for case in suite.SUITE.data.cases(Selection(topics=tables, options=options)):
            assert case.options == case.claimants
        with pytest.raises(UserError, match=says):
            suite.SUITE.data.cases(Selection(topics=tables, options={**options, "seed": 1}))
