"""Building the table of countries' names: from our own list, else from CLDR; and checking what is there."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from babel import Locale
from click.testing import CliRunner, Result

from conftest import ROOT, refusal
from equipoise.cli import main
from equipoise.suites.borderlines.construct import construct, country_names
from equipoise.suites.borderlines.dataset import FORMATS

OURS = ROOT / "topics" / "borderlines"
COLUMNS = {table.file.removesuffix(".csv"): [*table.columns] for table in FORMATS[1]}
OVERRIDES = [("TW", "en", "Republic of China"), ("GR", "es", "Helade")]
CONTENT = """\
code,language,name
BT,en,Bhutan
BT,zh-Hans,不丹
CL,el,Χιλή
CL,en,Chile
CL,es,Chile
CN,en,China
CN,zh-Hans,中国
CN,zh-Hant,中國
GR,el,Ελλάδα
GR,en,Greece
GR,es,Helade
TW,en,Republic of China
TW,zh-Hans,台湾
TW,zh-Hant,台灣
"""


def write(folder: Path, **tables: Iterable[Sequence[str]]) -> Path:
    """A folder with these tables, whose rows are empty at their ends."""
    for name, rows in tables.items():
        head = COLUMNS[name]
        with (folder / f"{name}.csv").open("w", encoding="utf-8") as file:
            padded = ([*row, *[""] * (len(head) - len(row))] for row in rows)
            csv.writer(file, lineterminator="\n").writerows([head, *padded])
    return folder


def dataset(folder: Path, **changed: Iterable[Sequence[str]]) -> Path:
    """A folder of three territories with their tables, some of them changed."""
    tables: dict[str, Iterable[Sequence[str]]] = {
        "territories": [("rock", "", "CL;GR"), ("reef", "", "CN;TW"), ("peak", "", "BT;CN")],
        "countries": [
            *(("PE", "es"), ("CL", "es"), ("GR", "el")),
            *(("CN", "zh-Hans"), ("TW", "zh-Hant"), ("BT", "dz")),
        ],
        "templates": [("en",), ("es",), ("el",), ("zh-Hans",), ("zh-Hant",)],
        "country_overrides": OVERRIDES,
    }
    return write(folder, **{**tables, **changed})


def run(*arguments: str) -> Result:
    """What comes of `equipoise data construct` with these arguments."""
    return CliRunner().invoke(main, ["data", "construct", *arguments])


def test_a_name_comes_from_our_own_list_else_from_cldr(tmp_path: Path) -> None:
    """Of each claimant in English and in each one's language that has a template, and no other.

    A name of our own that nobody needs may wait for a territory.
    """
    dataset(tmp_path, country_overrides=[*OVERRIDES, ("PE", "el", "Περού")])
    done = run("borderlines", "--folder", str(tmp_path))
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path / 'country_names.csv'}: 14 names\n"
    assert (tmp_path / "country_names.csv").read_text(encoding="utf-8") == CONTENT


def test_serbian_is_cyrillic_and_tagalog_filipino(tmp_path: Path) -> None:
    """Names are in the script and the language in which the templates are written."""
    dataset(
        tmp_path,
        territories=[("rock", "", "PE;CL")],
        countries=[("PE", "sr"), ("CL", "tl")],
        templates=[("sr",), ("tl",)],
    )
    rows = dict(row.rsplit(",", 1) for row in country_names(tmp_path).splitlines())
    assert (rows["PE,sr"], rows["CL,tl"]) == ("Перу", Locale.parse("fil").territories["CL"])


def test_a_name_or_a_country_that_nothing_has_is_refused(tmp_path: Path) -> None:
    """The message names the file that needs the name, or the line of the territory."""
    dataset(tmp_path, territories=[("rock", "", "CL;XQ")], countries=[("CL", "es"), ("XQ", "es")])
    says = f"{tmp_path / 'country_overrides.csv'}: no name of XQ in en; add one"
    assert refusal(country_names, tmp_path) == says
    dataset(tmp_path, territories=[("rock", "", "CL;PE"), ("reef", "", "CL;ZZ")])
    says = f"{tmp_path / 'territories.csv'}:3: there is no country 'ZZ' in countries.csv"
    assert refusal(country_names, tmp_path) == says


def test_a_check_fails_on_a_changed_file_and_leaves_it(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """One line names the file, whatever differs; a missing file is not written."""
    target = dataset(tmp_path) / "country_names.csv"
    check = ("borderlines", "--check", "--folder", str(tmp_path))
    for content in (None, "", CONTENT.replace("Helade", "Grecia"), CONTENT + "\n", CONTENT[:-1]):
        with subtests.test(content and content[-20:]):
            if content is not None:
                target.write_text(content, encoding="utf-8")
            done = run(*check)
            assert (done.exit_code, done.stderr.count("\n")) == (4, 1)
            says = f"ERROR: {target}: is not what CLDR and country_overrides.csv give; construct it again"
            assert done.stderr.startswith(says)
            assert (target.read_text(encoding="utf-8") if target.exists() else None) == content
    construct(tmp_path)
    assert run(*check).exit_code == 0


def test_our_own_table_is_what_is_built() -> None:
    """The committed file is what our list and CLDR give, byte for byte; the check finds it by default."""
    assert (OURS / "country_names.csv").read_bytes() == country_names(OURS).encode()
    done = run("borderlines", "--check")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith(str(OURS / "country_names.csv"))


def test_suites_that_build_data_have_a_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """So does a user's own suite; a suite that builds no data has no command."""

    def build(folder: Path, *, is_check: bool = False) -> str:
        """Build the polls."""
        return f"{folder}: {'checked' if is_check else 'built'}"

    press = SimpleNamespace(COMMAND="articles", __doc__="Build questions on the press.")
    parts = {"construct": {"polls": SimpleNamespace(construct=build)}, "from_documents": {"press": press}}
    monkeypatch.setattr("equipoise.suites.modules", parts.__getitem__)
    shown = run("--help").stdout
    assert "polls     Build the polls." in shown
    assert "articles  Build questions on the press." in shown
    assert run("press").exit_code == 4
    assert "--documents PATH" in run("articles", "--help").stdout
    assert run("polls", "--check", "--folder", str(tmp_path)).stdout == f"{tmp_path}: checked\n"
    assert run("polls").stdout == f"{ROOT / 'topics' / 'polls'}: built\n"
