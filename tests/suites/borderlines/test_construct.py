"""Building the table of countries' names: from our own list, else from CLDR; and checking what is there."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from babel import Locale
from click.testing import CliRunner, Result

from conftest import ROOT
from equipoise.cli import main
from equipoise.core.errors import UserError
from equipoise.suites.borderlines.construct import construct, country_names, needed
from equipoise.suites.borderlines.dataset import (
    COUNTRIES,
    COUNTRY_NAMES,
    TEMPLATES,
    TERRITORIES,
)

OURS = ROOT / "topics" / "borderlines"
COUNTRY_ROWS = [
    ["PE", "es"],
    ["CL", "es"],
    ["GR", "el"],
    ["CN", "zh-Hans"],
    ["TW", "zh-Hant"],
    ["BT", "dz"],
]
TERRITORY_ROWS = [["rock", "CL;GR"], ["reef", "CN;TW"]]
OVERRIDES = [["TW", "en", "Republic of China"], ["GR", "es", "Helade"]]
CONTENT = """\
code,language,name
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


def write(path: Path, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table of these rows, empty at their ends."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([head, *([*row, *[""] * (len(head) - len(row))] for row in rows)])
    path.write_text(out.getvalue(), encoding="utf-8")


def tables(
    folder: Path,
    *territories: Sequence[str],
    overrides: Iterable[Sequence[str]] = OVERRIDES,
    languages: Sequence[str] = ("en", "es", "el", "zh-Hans", "zh-Hant"),
) -> Path:
    """A folder of tables with these territories, each a slug and its claimants."""
    rows = [[slug, slug, claimants] for slug, claimants in territories or TERRITORY_ROWS]
    write(folder / "territories.csv", [*TERRITORIES.columns], rows)
    write(folder / "countries.csv", [*COUNTRIES.columns], COUNTRY_ROWS)
    write(folder / "templates.csv", [*TEMPLATES.columns], [[language] for language in languages])
    write(folder / "country_overrides.csv", [*COUNTRY_NAMES.columns], overrides)
    return folder


def run(*arguments: str) -> Result:
    """What comes of `equipoise data construct` with these arguments."""
    return CliRunner().invoke(main, ["data", "construct", *arguments])


# What is built.


def test_a_name_comes_from_our_own_list_else_from_cldr(tmp_path: Path) -> None:
    """Sorted by country and language; locales that CLDR calls otherwise are found."""
    assert country_names(tables(tmp_path)) == CONTENT


def test_every_claimant_is_named_in_each_ones_language_and_in_english(tmp_path: Path) -> None:
    """No more pairs than territories need, and none in a language without a template."""
    folder = tables(tmp_path, ("rock", "CL;PE"), ("peak", "CN;BT"))
    assert needed(folder) == {
        *(("CL", "es"), ("CL", "en"), ("PE", "es"), ("PE", "en")),
        *(("CN", "zh-Hans"), ("CN", "en"), ("BT", "zh-Hans"), ("BT", "en")),
    }


def test_a_name_of_our_own_that_nobody_needs_is_left_out(tmp_path: Path) -> None:
    """It may wait for a territory."""
    content = country_names(tables(tmp_path, overrides=[*OVERRIDES, ["PE", "el", "Περού"]]))
    assert content == CONTENT


def test_serbian_is_cyrillic_and_tagalog_filipino(tmp_path: Path) -> None:
    """As the templates write them."""
    write(
        tables(tmp_path, ("rock", "PE;CL")) / "countries.csv",
        [*COUNTRIES.columns],
        [["PE", "sr"], ["CL", "tl"]],
    )
    write(tmp_path / "templates.csv", [*TEMPLATES.columns], [["sr"], ["tl"]])
    rows = dict(row.rsplit(",", 1) for row in country_names(tmp_path).splitlines())
    assert rows["PE,sr"] == "Перу"
    assert rows["CL,tl"] == Locale.parse("fil").territories["CL"]


def test_building_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    """Whatever stood there before; the file ends in a newline, and a line says how many names there are."""
    folder = tables(tmp_path)
    target = folder / "country_names.csv"
    assert construct(folder) == f"{target}: 12 names"
    first = target.read_bytes()
    target.write_text("something else", encoding="utf-8")
    construct(folder)
    assert target.read_bytes() == first == CONTENT.encode()


# What is refused.


def test_a_name_that_neither_has_is_refused(tmp_path: Path) -> None:
    """With the country, the language and the file to put it in."""
    write(
        tables(tmp_path, ("rock", "CL;XQ")) / "countries.csv",
        [*COUNTRIES.columns],
        [["CL", "es"], ["XQ", "es"]],
    )
    with pytest.raises(UserError) as caught:
        country_names(tmp_path)
    path = tmp_path / "country_overrides.csv"
    assert str(caught.value) == f"{path}: no name of XQ in en; add one"


def test_a_claimant_that_is_no_country_is_refused(tmp_path: Path) -> None:
    """With the territory's line."""
    with pytest.raises(UserError) as caught:
        needed(tables(tmp_path, ("rock", "CL;PE"), ("reef", "CL;ZZ")))
    where = f"{tmp_path / 'territories.csv'}:3"
    assert str(caught.value) == f"{where}: there is no country 'ZZ' in countries.csv"


@pytest.mark.parametrize("name", ["territories", "countries", "templates", "country_overrides"])
def test_a_table_that_is_missing_or_has_other_columns_is_refused(tmp_path: Path, name: str) -> None:
    """The file is named, and nothing is written."""
    path = tables(tmp_path) / f"{name}.csv"
    path.write_text("code\n", encoding="utf-8")
    with pytest.raises(UserError, match="the columns must be"):
        construct(tmp_path)
    path.unlink()
    with pytest.raises(UserError, match="cannot be read"):
        construct(tmp_path)
    assert not (tmp_path / "country_names.csv").exists()


# The command.


def test_the_command_writes_the_table(tmp_path: Path) -> None:
    """In the folder that it is told."""
    done = run("borderlines", "--folder", str(tables(tmp_path)))
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path / 'country_names.csv'}: 12 names\n"
    assert (tmp_path / "country_names.csv").read_text(encoding="utf-8") == CONTENT


def test_a_check_fails_on_a_changed_file_and_leaves_it(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """One line that names the file; down to the last newline. A file that is missing is not written."""
    cases: list[str] = ["", CONTENT.replace("Helade", "Grecia"), CONTENT + "\n", CONTENT[:-1]]
    for content in cases:
        with subtests.test(ascii(content[-20:])):
            target = tables(tmp_path) / "country_names.csv"
            target.write_text(content, encoding="utf-8")
            done = run("borderlines", "--check", "--folder", str(tmp_path))
            assert done.exit_code == 4
            (line,) = done.stderr.splitlines()
            assert line.startswith(f"ERROR: {target}: is not what CLDR and country_overrides.csv give")
            assert target.read_text(encoding="utf-8") == content
    target.unlink()
    assert run("borderlines", "--check", "--folder", str(tmp_path)).exit_code == 4
    assert not target.exists()


def test_our_own_table_is_what_is_built() -> None:
    """The committed file is byte for byte what our list and CLDR give; the check finds it by itself."""
    assert (OURS / "country_names.csv").read_bytes() == country_names(OURS).encode()
    done = run("borderlines", "--check")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith(str(OURS / "country_names.csv"))


def test_suites_that_build_data_have_a_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One of the user's own too; of the others there is no such command."""

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
