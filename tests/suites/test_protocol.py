"""The contract of all suites: what the registry takes for one, and what it says of others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import builders
import pytest
from builders import SUITE
from click.testing import CliRunner
from fakes import FakeModel

from conftest import ROOT, SHIPPED, refusal
from equipoise import suites
from equipoise.cli import main
from equipoise.core.errors import UserError
from equipoise.suites.resources import dataset_folder
from equipoise.suites.selection import Selection


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A project's folder of suites, which the registry knows until the end."""
    (tmp_path / "tests_benchmark").mkdir()
    folder = tmp_path / "suites"
    folder.mkdir()
    suites.add_project(tmp_path)
    yield folder
    suites.__path__.remove(str(folder))
    for module in [name for name in sys.modules if name.startswith("equipoise.suites.our_")]:
        del sys.modules[module]
    for function in (suites.names, suites.load, suites.options):
        function.cache_clear()


def refusal_of(folder: Path, name: str, source: str) -> str:
    """The message for a package with this source."""
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(source, encoding="utf-8")
    return refusal(suites.load, name)


def test_every_suite_refuses_a_language_that_its_data_lack(subtests: pytest.Subtests) -> None:
    """The message lists the languages of the data."""
    for name in SHIPPED:
        with subtests.test(name):
            suite = suites.load(name)
            topics = dataset_folder(name, next(iter(suite.dataset_names), None), ROOT)
            with pytest.raises(UserError, match=r"^--language: no 'xx-XX' in .*; there (is|are) .*[a-z]{2}"):
                suite.data.cases(Selection(topics=topics, languages=("xx-XX",)))


def test_a_suite_of_an_older_contract_is_told_what_to_write(folder: Path) -> None:
    """Its members were module functions; the message names the page that shows a suite."""
    message = refusal_of(folder, "our_old", 'NAME = "our_old"\n\n\ndef cells(results):\n    return []\n')
    assert message.startswith(f"{folder}/our_old/__init__.py: has no SUITE: ")
    assert message.endswith("see docs/adding-a-suite.md")


def test_what_a_suite_lacks_is_named(folder: Path) -> None:
    """So is an unknown member."""
    source = "from equipoise.suites import Suite\n\nSUITE = Suite(name='our_part', data=print"
    lacking = refusal_of(folder, "our_part", f"{source})\n")
    assert lacking.startswith("suite 'our_part': Suite(...): missing 1 required ")
    assert lacking.endswith(" argument: 'evaluate'; see docs/adding-a-suite.md")
    assert "unexpected keyword argument 'cells'" in refusal_of(
        folder, "our_extra", f"{source}, evaluate=print, cells=print)\n"
    )


@pytest.mark.slow
def test_a_suite_whose_code_raises_is_one_line_and_stops_no_other(
    folder: Path, subtests: pytest.Subtests
) -> None:
    """The line names suite, file and error, even if the code would end the process."""
    for name, source, reason in (
        ("our_broken", "len(1)", "__init__.py:1: TypeError: object of type 'int' has no len()"),
        ("our_lines", "\nraise ValueError('a\\nb')", r"__init__.py:2: ValueError: a\nb"),
        ("our_exit", "import sys\n\nsys.exit(0)", "__init__.py:3: SystemExit: 0"),
        ("our_stop", "import pytest\n\npytest.exit('enough')", "__init__.py:3: Exit: enough"),
        ("our_syntax", "def f(:", "__init__.py:1: SyntaxError: "),
        ("our_import", "import missing_module", "__init__.py:1: ModuleNotFoundError: No module named "),
        ("our_deep", "def f():\n    f()\n\n\nf()", "__init__.py:2: RecursionError: "),
        ("our_own", "from equipoise.core.errors import UserError\n\nraise UserError('no key')", "no key"),
    ):
        with subtests.test(name):
            message = refusal_of(folder, name, source)
            assert message.startswith(f"suite '{name}': ")
            assert reason in message
            assert "\n" not in message
            assert len(message) < 500
    names = suites.names()
    assert {*SHIPPED} == {*suites.loadable()} - {SUITE}
    assert [name for name in names if name.startswith("our_")] == sorted(suites.unloadable())
    assert not any("our_" in name for named in suites.options().values() for name in named)
    assert set(suites.modules("published")) <= {*SHIPPED}
    listed = CliRunner().invoke(main, ["suites", *SHIPPED, "our_exit"])
    assert listed.exit_code == 4
    assert all(f"\n{name}" in f"\n{listed.stdout}" for name in SHIPPED)
    assert listed.stderr.count("ERROR: ") == 1
    assert "suite 'our_exit': " in listed.stderr


def test_a_suite_is_called_as_its_package_is(folder: Path) -> None:
    """Topics, rubric and results are found by that name."""
    source = "from equipoise.suites import load\n\nSUITE = load('attribution')\n"
    message = refusal_of(folder, "our_own", source)
    assert message == f"{folder}/our_own/__init__.py: its SUITE is called 'attribution'; call it 'our_own'"


def test_a_suite_with_published_data_asks_its_subject_nothing_again(subtests: pytest.Subtests) -> None:
    """The only suite that may ask again has no published data."""
    asks_again = set()
    for name in SHIPPED:
        suite = suites.load(name)
        topics = dataset_folder(name, next(iter(suite.dataset_names), None), ROOT)
        rubric = suite.judging.rubric(ROOT / "rubric" / f"{name}.toml")
        case = next(
            iter(suite.data.cases(Selection(topics=topics, dataset=next(iter(suite.dataset_names), None))))
        )
        foreseen = [call for call in suite.foresee(case, rubric) if call.role == "subject"]
        if any(call.is_possible for call in foreseen):
            asks_again.add(name)
            assert "original" not in suite.dataset_names
            continue
        for text in ("I would say 7, or B, as it were.", "So it is 7.", "It is B, surely."):
            with subtests.test(name, text=text):
                subject = FakeModel(text)
                builders.evaluate(suite, case, rubric, subject, FakeModel("?"))
                assert len(subject.history) == len(foreseen)
    assert asks_again == {"turnabout"}
