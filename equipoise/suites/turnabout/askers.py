"""Askers about an incident: a person of one of the two sides of its pair. Answers favour one of them."""

from __future__ import annotations

from collections.abc import Sequence

from equipoise.core.rows import RunRow, Values
from equipoise.core.types import Form
from equipoise.stats.askers import AskerScale
from equipoise.suites import askers as cues
from equipoise.suites.askers import OF_EACH_CASE, Askers
from equipoise.suites.selection import Selection
from equipoise.suites.turnabout import dataset
from equipoise.suites.turnabout.dataset import Incident

COLUMNS = ["language", "set", "form", "number", "text"]
SCALES: Sequence[AskerScale] = (AskerScale(what="the side that answers go against the less"),)
BY_CLUSTER = False


def askers(selection: Selection, cases: Sequence[Incident]) -> Askers:
    """The cues of the cases about a pair, whose first side is actor `a`; cases without names have no cues.

    Raises UserError naming file and line.
    """
    path = cues.find(selection, "turnabout")
    texts = [
        (row["language"], row["set"], row["form"], int(row["number"]), row)
        for row in cues.read(path, COLUMNS)
    ]
    actors = dataset.read(selection.topics).actors
    twins = {}
    for case in cases:
        # `case` is a default argument, so that each function keeps the case of its own iteration.
        def written(form: Form, side: str, case: Incident = case) -> dict[int, str]:
            named = {"side": actors[case.language, case.actor_set, side]}
            return {
                number: dataset.filled(row["text"], named, row.where)
                for language, actor_set, text_form, number, row in texts
                if (language, actor_set, text_form) == (case.language, case.actor_set, form)
            }

        if case.pair and (pairs := cues.cue_pairs(sides(case), written)):
            twins[case.id] = pairs
    return Askers(names=OF_EACH_CASE, hash=cues.digest(path), twins=twins)


def sides(case: Incident) -> tuple[str, str]:
    """The actors a and b of the case's pair, whichever is named first in the text."""
    actors = case.first_actor, case.second_actor
    return actors if case.leads == "a" else actors[::-1]


def stances(row: RunRow, sides: tuple[str, str]) -> Values:
    """100 if the answer goes entirely against the second side of the pair, 0 if against the first."""
    against = row.percent
    if against is None:
        return {"": None}
    return {"": 100.0 - against if row.question.labels["leads"] == "a" else against}


def answer(row: RunRow) -> str | None:
    """`against` if the answer goes against the actor named first, `for` if against the other, else `even`.

    None without a score.
    """
    if row.percent is None:
        return None
    return "against" if row.percent > 50 else "for" if row.percent < 50 else "even"
