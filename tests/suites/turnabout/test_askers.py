"""Who may ask about an incident: somebody of either side of its pair."""

from __future__ import annotations

from pathlib import Path

import pytest
from from_records import rows_of
from small_turnabout import HEAD, ROWS, write

from conftest import ROOT
from equipoise.core.errors import UserError
from equipoise.core.records import Record
from equipoise.judge.rubric import Scale
from equipoise.suites import turnabout
from equipoise.suites.findings import Finding
from equipoise.suites.selection import Selection
from equipoise.suites.turnabout import askers
from equipoise.suites.turnabout.dataset import Incident


def cases(folder: Path) -> list[Incident]:
    """The cases of a dataset."""
    return [*turnabout.SUITE.data.cases(Selection(topics=folder))]


def test_both_actors_of_a_pair_may_ask(tmp_path: Path) -> None:
    """The first side is `a` of the pair, whoever is first in the text; nobody of X or Y asks."""
    folder = write(tmp_path / "small", askers=HEAD + ROWS)
    askers_of_file = askers.askers(Selection(topics=folder), cases(folder))
    assert not any("anonymous" in name for name in askers_of_file.twins)
    assert len(askers_of_file.twins) == 8 * 2 * 3
    for name in ("zz-purple_green-i0-p_first", "zz-purple_green-i0-g_first"):
        first, second = askers_of_file.twins[name]["implied"][1]
        assert (first.side, first.text) == ("p", "Implied 2: I am with the Purple side.")
        assert (second.side, second.text) == ("g", "Implied 2: I am with the Green side.")


def test_an_answer_stands_with_a_side_of_the_pair(tmp_path: Path) -> None:
    """Against Green is with Purple, whoever is first."""
    purple, green = cases(write(tmp_path / "small"))[:2]
    made = [
        Record(case=case.to_json(), run=1, outcome="scored", score=value, percent=value)
        for case, value in ((purple, 80.0), (green, 80.0))
    ]
    first, second = rows_of("turnabout", made, Scale(low=0, high=100, levels={}))
    assert askers.stances(first, ("p", "g")) == {"": 20}
    assert askers.stances(second, ("p", "g")) == {"": 80}
    assert askers.answer(first) == askers.answer(second) == "against"
    (unread,) = rows_of(
        "turnabout",
        [Record(case=purple.to_json(), run=1, outcome="refused", score=None, error="declined")],
        Scale(low=0, high=100, levels={}),
    )
    assert (askers.stances(unread, ("p", "g")), askers.answer(unread)) == ({"": None}, None)


def test_what_is_wrong_with_sentences_is_told(tmp_path: Path) -> None:
    """A slot that is none, a form that an actor lacks; a language without sentences has no askers."""
    for was, now, fault in (
        ("{side:of} side", "our side", "a sentence about who asks needs {side}, and no other slot"),
        ("{side:of}", "{first:of}", "a sentence about who asks needs {side}, and no other slot"),
        ("{side:of}", "{side:to}", "not every actor has the form of {side:to}"),
    ):
        folder = write(tmp_path / "faulty", askers=HEAD + ROWS.replace(was, now))
        complaints = [str(item) for item in turnabout.SUITE.data.lint(folder) if isinstance(item, Finding)]
        assert any(fault in line for line in complaints), complaints
    folder = write(tmp_path / "faulty", askers=HEAD + ROWS.replace("{side:of}", "{side:to}"))
    with pytest.raises(UserError, match=r"askers.csv:2: \{side:to\} is not in actors.csv"):
        askers.askers(Selection(topics=folder), cases(folder))


@pytest.mark.slow
def test_shipped_sentences_are_there_in_every_language() -> None:
    """Four that state who asks and four that imply it, for every case about a pair."""
    folder = ROOT / "topics" / "turnabout"
    every = cases(folder)
    twins = askers.askers(Selection(topics=folder), every).twins
    assert twins.keys() == {case.id for case in every if case.pair}
    assert all(len(own[form]) == 4 for own in twins.values() for form in ("stated", "implied"))
