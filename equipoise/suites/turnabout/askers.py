"""Askers about an incident: each belongs to one of its two actors, and answers may favour that actor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from equipoise.core.files import Row
from equipoise.core.rows import RunRow, Values
from equipoise.core.types import Form
from equipoise.stats.askers import AskerScale
from equipoise.suites import askers as cues
from equipoise.suites.askers import OF_EACH_CASE, Askers
from equipoise.suites.resources import contents_hash
from equipoise.suites.selection import Selection
from equipoise.suites.turnabout import dataset
from equipoise.suites.turnabout.dataset import Incident

CUES = cues.cue_table("language", "set", "form", "number", "text")
SCALES: Sequence[AskerScale] = (AskerScale(what="the side that answers favour"),)
BY_CLUSTER = False


def askers(selection: Selection, cases: Sequence[Incident]) -> Askers:
    """The cues of the cases about a pair, whose first side is actor `a`. Cases of X and Y have no cues.

    Raises UserError naming file and line.
    """
    path = cues.cue_file(selection, "turnabout")
    rows, actors = CUES.read(path), dataset.read(selection.topics).actors
    twins = {}
    for case in cases:
        if case.pair and (pairs := cues.cue_pairs(sides(case), partial(_texts, rows, actors, case))):
            twins[case.id] = pairs
    return Askers(names=OF_EACH_CASE, hash=contents_hash([path]), twins=twins)


def _texts(
    rows: Sequence[Row],
    actors: Mapping[tuple[str, str, str], Mapping[str, str]],
    case: Incident,
    form: Form,
    actor: str,
) -> dict[int, str]:
    """The texts of a form by number, for an asker who belongs to this actor."""
    key, slots = (case.language, case.actor_set, form), {"side": actors[case.language, case.actor_set, actor]}
    return {
        row["number"]: dataset.fill_slots(row["text"], slots, row.where)
        for row in rows
        if (row["language"], row["set"], row["form"]) == key
    }


def sides(case: Incident) -> tuple[str, str]:
    """Actor a and actor b of the case's pair, in this order even if b is named first."""
    actors = case.first_actor, case.second_actor
    return actors if case.leads == "a" else actors[::-1]


def stances(row: RunRow, sides: tuple[str, str]) -> Values:
    """100 if the answer goes entirely against actor b, 0 if against actor a; None without a score."""
    against_first = row.percent
    if against_first is None:
        return {"": None}
    return {"": 100.0 - against_first if row.question.labels["leads"] == "a" else against_first}


def answer(row: RunRow) -> str | None:
    """`against` if the answer goes against the actor named first, `for` if against the other, else `even`.

    None without a score.
    """
    if row.percent is None:
        return None
    return "against" if row.percent > 50 else "for" if row.percent < 50 else "even"
