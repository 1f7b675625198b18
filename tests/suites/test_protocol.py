"""The contract of all suites: what the registry takes for one, and what it says of others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from equipoise import suites
from equipoise.core.errors import UserError
from equipoise.suites.contract import Suite


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


def refusal(folder: Path, name: str, source: str) -> str:
    """What is said of a package with this source."""
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(source, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        suites.load(name)
    return str(caught.value)


def test_every_suite_is_one_value_of_its_name() -> None:
    """What its package calls SUITE."""
    for name in suites.names():
        suite = suites.load(name)
        assert isinstance(suite, Suite)
        assert suite.name == name


def test_a_suite_of_an_older_contract_is_told_what_to_write(folder: Path) -> None:
    """A package whose members were the contract; in one line, with the page that shows a suite."""
    message = refusal(folder, "our_old", 'NAME = "our_old"\n\n\ndef cells(results):\n    return []\n')
    assert message.startswith(f"{folder}/our_old/__init__.py: has no SUITE, as Equipoise 0.2 wants it: ")
    assert message.endswith("see docs/adding-a-suite.md")


def test_what_a_suite_lacks_is_named(folder: Path) -> None:
    """A member that it must have, or one that there is not; another mistake in its code is shown as such."""
    source = "from equipoise.suites import Suite\n\nSUITE = Suite(name='our_part', "
    whole = "cases=print, evaluate=print, values=print"
    lacking = refusal(folder, "our_part", f"{source}{whole})\n")
    assert lacking.startswith("suite 'our_part': Suite(...): missing 1 required ")
    assert lacking.endswith(" argument: 'metrics'; see docs/adding-a-suite.md")
    assert "unexpected keyword argument 'cells'" in refusal(
        folder, "our_extra", f"{source}{whole}, metrics=print, cells=print)\n"
    )
    (folder / "our_broken").mkdir()
    (folder / "our_broken" / "__init__.py").write_text("len(1)\n")
    with pytest.raises(TypeError, match="len"):
        suites.load("our_broken")


def test_a_suite_is_called_as_its_package_is(folder: Path) -> None:
    """Topics, rubric and results are found by that name."""
    source = "from equipoise.suites import load\n\nSUITE = load('attribution')\n"
    message = refusal(folder, "our_own", source)
    assert message == f"{folder}/our_own/__init__.py: its SUITE is called 'attribution'; call it 'our_own'"
