"""Askers of borderlines: citizens of two of a territory's claimants. An answer may favour one of the two."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations

from equipoise.core.files import Row
from equipoise.core.rows import RunRow, Values
from equipoise.core.types import Form
from equipoise.stats.askers import AskerScale
from equipoise.suites import askers as cues
from equipoise.suites import tables
from equipoise.suites.askers import OF_EACH_CASE, Askers
from equipoise.suites.borderlines.dataset import Query
from equipoise.suites.resources import contents_hash
from equipoise.suites.selection import ASKER_NAMES, ASKERS, Selection
from equipoise.suites.shared_options import SEED
from equipoise.suites.tables import Table

CUES = cues.cue_table("language", "form", "number", "text")
NAMES = Table(
    file=ASKER_NAMES,
    row="name",
    columns={"language": tables.text, "code": tables.text, "of": tables.text, "in": tables.text},
    unique=[("language", "code")],
)
"""Names of countries: `of` and `in` are the forms of a name that fill the slots {of} and {in} of a text."""
_SLOT = re.compile(r"\{(of|in)\}")
SCALES: Sequence[AskerScale] = (AskerScale(what="the country named"),)
BY_CLUSTER = True

CountryNames = Mapping[tuple[str, str], Mapping[str, str]]
"""For each language and country code: the form of the country's name for each slot."""
TextsByForm = dict[tuple[str, str], list[Row]]
"""Rows of texts by language and form."""


def askers(selection: Selection, cases: Sequence[Query]) -> Askers:
    """The cues of all territories, for two claimants of each; the seed chooses the two.

    Raises UserError naming file and line.
    """
    texts, table = (cues.cue_file(selection, "borderlines", name) for name in (ASKERS, ASKER_NAMES))
    by_form: TextsByForm = {}
    for row in CUES.read(texts):
        by_form.setdefault((row["language"], row["form"]), []).append(row)
    names = {(row["language"], row["code"]): row.only("of", "in") for row in NAMES.read(table)}
    twins = {}
    for case in cases:
        texts_of = partial(_filled_texts, by_form, names, case.language)
        if pairs := cues.cue_pairs(sides(case, selection.option(SEED)), texts_of):
            twins[case.id] = pairs
    return Askers(names=OF_EACH_CASE, hash=contents_hash([texts, table]), twins=twins)


def _filled_texts(
    by_form: TextsByForm, names: CountryNames, language: str, form: Form, claimant: str
) -> dict[int, str]:
    """The texts of a form by number, with the claimant's name in their slots; empty without a name."""
    name_forms = names.get((language, claimant))
    if name_forms is None:
        return {}
    rows_of_form = by_form.get((language, form), [])
    return {row["number"]: _SLOT.sub(lambda slot: name_forms[slot[1]], row["text"]) for row in rows_of_form}


def sides(case: Query, seed: int) -> tuple[str, str]:
    """Two claimants in order, the same in all languages; the seed determines which, and the order."""
    pairs = [ordered for pair in combinations(case.claimants, 2) for ordered in (pair, pair[::-1])]
    digest = hashlib.sha256(f"{seed}/{case.territory}".encode()).digest()
    first, second = pairs[int.from_bytes(digest[:8]) % len(pairs)]
    return first, second


def stances(row: RunRow, sides: tuple[str, str]) -> Values:
    """100 if the first claimant is named, 0 if the second is, 50 if another is; None without an answer."""
    named = row.details.get("answer")
    return {"": None if named is None else {sides[0]: 100.0, sides[1]: 0.0}.get(named, 50.0)}


def answer(row: RunRow) -> str | None:
    """The code of the country named."""
    code: str | None = row.details.get("answer")
    return code
