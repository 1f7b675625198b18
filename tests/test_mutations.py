"""Each defect of `tests/mutations` still has a place in the package where it can be made."""

from __future__ import annotations

import pytest
from mutations.run import mutations

from conftest import ROOT


def test_every_mutation_can_be_made(subtests: pytest.Subtests) -> None:
    """The text that it changes stands in its file once, and the tests that notice it are there."""
    for mutation in mutations([]):
        with subtests.test(mutation.name):
            assert (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.old) == 1
            assert mutation.new != mutation.old
            assert [name for name in mutation.tests if not (ROOT / name.partition("::")[0]).exists()] == []
