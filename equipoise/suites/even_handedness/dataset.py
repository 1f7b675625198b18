"""Reads datasets of stance pairs, ours and the published one, as validated cases in a stable order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from equipoise.core.errors import UserError
from equipoise.core.files import Row
from equipoise.core.options import Option, one_of
from equipoise.core.types import Case
from equipoise.suites import tables
from equipoise.suites.invariants import one_value, parallel
from equipoise.suites.selection import Selection
from equipoise.suites.tables import Table, as_slug

STANCE = "{stance}"
TRANSLATED = ("stance_a", "stance_b", "group_a", "group_b")
"""The columns that differ between languages."""
PAIR_ORDER = Option(
    flag="--pair-order",
    parse=one_of("both", "original"),
    default="both",
    metavar="HOW",
    help="show evaluators a pair in both orders, or in the original one only (default both)",
    label="order of pairs",
)


def _faults(row: Row) -> Iterator[str]:
    if row["stance_a"].strip() == row["stance_b"].strip():
        yield "both stances are the same"
    if bool(row["lean_a"]) != bool(row["lean_b"]):
        yield "one side leans and the other does not; say both, or neither"
    if row["defends"] not in ("", row["lean_a"], row["lean_b"]):
        yield f"defends is {row['defends']!r}, neither side's lean; leave it empty"


TEMPLATES = Table(
    file="templates.csv",
    row="template",
    columns={
        "language": tables.text,
        "id": tables.slug,
        "category": tables.slug,
        "template": tables.template(STANCE),
    },
    unique=[("language", "id")],
    must=[parallel("template")],
)
STANCES = Table(
    file="*.csv",
    besides=[TEMPLATES.file],
    row="stance pair",
    columns={
        "id": tables.slug,
        "category": tables.slug,
        "topic": tables.slug,
        "partisan": tables.flag("true", "false"),
        "contrary": tables.flag("true", "false"),
        "stance_a": tables.text,
        "stance_b": tables.text,
        "group_a": tables.any_text,
        "group_b": tables.any_text,
        "lean_a": tables.any_text,
        "lean_b": tables.any_text,
        "defends": tables.any_text,
        "evidence": tables.one_of("even", "a", "b"),
    },
    unique=["id"],
    faults=_faults,
    must=[parallel(*TRANSLATED), one_value("category", by="topic")],
)
PUBLISHED = Table(
    file="eval_set.csv",
    row="pair",
    columns=dict.fromkeys(
        (
            *("split", "main_category", "topic_name", "partisan", "template_category", "template"),
            *("stance_a", "stance_b", "prompt_a", "prompt_b", "prompt_a_group", "prompt_b_group"),
        ),
        tables.any_text,
    ),
)
FORMATS = ((PUBLISHED,), (STANCES, TEMPLATES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Case):
    """Two requests, a and b, that ask for the same help with opposing stances; the area is the topic.

    `pair` identifies the two stances in every template and language. `template` is the id of the template and
    `kind` its category, such as an essay. `group_a` and `group_b` name the people who hold the stances.
    `lean_a` and `lean_b` are the political sides that the stances lean to, empty if unknown. `contrary` says
    whether the stances exclude each other, None if unknown. `defends` is the lean that the pair puts on the
    defensive, because it calls that side's record into question; empty if neither. `evidence` is the stance
    that evidence supports more: a, b or `even`, empty if unknown. `dataset` is the selected dataset, empty if
    none was selected. `orders` are the orders in which evaluators see the pair: original, swapped.
    """

    pair: str
    category: str
    partisan: bool
    template: str
    kind: str
    prompt_a: str
    prompt_b: str
    group_a: str
    group_b: str
    lean_a: str = ""
    lean_b: str = ""
    contrary: bool | None = None
    defends: str = ""
    evidence: str = ""
    dataset: str = ""
    orders: tuple[str, ...] = ("original",)


def pairs(selection: Selection) -> list[Pair]:
    """The selected pairs, language by language. Raises UserError naming file and line.

    In each of our languages, every stance pair occurs once before any occurs a second time; the published
    file has its own order.
    """
    is_published = (selection.topics / PUBLISHED.file).is_file()
    orders = ("original", "swapped") if selection.option(PAIR_ORDER) == "both" else ("original",)
    return [
        replace(pair, dataset=selection.dataset or "", orders=orders)
        for pair in (_published_pairs if is_published else _own_pairs)(selection)
    ]


def _own_pairs(selection: Selection) -> Iterator[Pair]:
    """Every pair of stances with every template.

    In the first round each pair occurs once, with the templates in turn. Later rounds shift the templates.
    """
    files, templates = STANCES.languages(selection.topics), TEMPLATES.read(selection.topics)
    for language in selection.chosen(files):
        stances = STANCES.read(files[language])
        own = [row for row in templates if row["language"] == language]
        if not own:
            raise UserError(f"{selection.topics / TEMPLATES.file}: no template in {language!r}")
        for shift in range(len(own)):
            for number, row in enumerate(stances):
                yield _pair(language, row, own[(number + shift) % len(own)])


def _pair(language: str, row: Row, template: Row) -> Pair:
    # Ids begin with the topic, so that `-k TOPIC` selects them.
    name = row["id"] if row["id"].startswith(row["topic"]) else f"{row['topic']}_{row['id']}"
    return Pair(
        id=f"{language}-{name}-{template['id']}",
        language=language,
        area=row["topic"],
        pair=row["id"],
        template=template["id"],
        kind=template["category"],
        prompt_a=template["template"].replace(STANCE, row["stance_a"]),
        prompt_b=template["template"].replace(STANCE, row["stance_b"]),
        **row.only("category", "partisan", "contrary", "evidence", "defends"),
        **row.only("group_a", "group_b", "lean_a", "lean_b"),
    )


def _published_pairs(selection: Selection) -> Iterator[Pair]:
    """The rows of the published file, in its order. A stance pair is named by its topic and a number."""
    selection.chosen(["en-US"])
    names: dict[tuple[str, str, str], str] = {}
    counts = Counter[str]()
    for row in PUBLISHED.read(selection.topics):
        topic = as_slug(row["topic_name"])
        key = (topic, row["stance_a"], row["stance_b"])
        if key not in names:
            counts[topic] += 1
            names[key] = f"{topic}_{counts[topic]}"
        template = as_slug(row["template"].replace(STANCE, ""))
        yield Pair(
            id=f"en-US-{names[key]}-{template}",
            language="en-US",
            area=topic,
            pair=names[key],
            category=as_slug(row["main_category"]),
            partisan=row["partisan"] == "True",
            template=template,
            kind=as_slug(row["template_category"]),
            prompt_a=row["prompt_a"],
            prompt_b=row["prompt_b"],
            group_a=row["prompt_a_group"],
            group_b=row["prompt_b_group"],
        )
