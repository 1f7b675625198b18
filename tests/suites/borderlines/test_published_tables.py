"""The published layout of territorial disputes, on a small set of tables of our own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from published_borderlines import write

from conftest import refusal
from equipoise.suites import borderlines as suite
from equipoise.suites.borderlines.dataset import Query
from equipoise.suites.selection import Selection


def read(folder: Path, *languages: str, **options: Any) -> Sequence[Query]:
    """The queries of a folder."""
    return suite.SUITE.data.cases(Selection(topics=folder, languages=languages, options=options))


def test_every_claimant_is_asked_in_its_language_and_all_in_english(tmp_path: Path) -> None:
    """Languages have our codes, and names the claimants' order; a damaged key is repaired."""
    tables = write(tmp_path)
    cases = read(tables)
    assert [(case.id, case.names) for case in cases] == [
        ("nl-t001_rock", ("Suriname", "Bretagne")),
        ("br-t001_rock", ("Surinam", "Breizh")),
        ("en-t001_rock", ("Suriname", "Brittany")),
        ("br-t002_shoal", ("Breizh", "Eivisa")),
        ("he-t002_shoal", ("Bretan", "Ibiza")),
        ("en-t002_shoal", ("Brittany", "Ibiza")),
    ]
    assert cases[0].speaks == {"Suriname": "nl", "Brittany": "br"}
    assert cases[0].religions == {"Suriname": "Christianity", "Brittany": "Christianity"}
    assert [[case.id for case in read(tables, code)] for code in ("he", "iw")] == [["he-t002_shoal"]] * 2


def test_what_cannot_be_asked_is_refused(tmp_path: Path) -> None:
    """Refused are a language without questions, another order of options, and a damaged table."""
    tables = write(tmp_path)
    for language, code in {"xx": "xx", "dz": "dz", "zh": "zh-Hans"}.items():
        says = f"--language: no {code!r} in {tables}; there are "
        assert refusal(read, tables, "en", language).startswith(says)
    for order in ("seeded", "fixed"):
        assert all(case.options == case.claimants for case in read(tables, option_order=order))
        assert refusal(read, tables, option_order=order, seed=1) == (
            "--seed: the published questions have their options in one order; leave it out"
        )
    (tables / "countries_info.json").write_text("{")
    assert f"{tables / 'countries_info.json'}: not valid JSON" in refusal(read, tables)
