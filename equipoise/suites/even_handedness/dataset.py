"""Reads datasets of stance pairs, ours and the published one, as validated cases in a stable order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import Row, read_bytes, rows
from equipoise.core.options import Option, one_of
from equipoise.core.types import Case
from equipoise.suites.findings import Recognised
from equipoise.suites.selection import ASKERS, Selection

STANCE_COLUMNS = [
    *("id", "category", "topic", "partisan", "contrary"),
    *("stance_a", "stance_b", "group_a", "group_b", "lean_a", "lean_b", "defends"),
    "evidence",
]
TEMPLATE_COLUMNS = ["language", "id", "category", "template"]
TEMPLATE_FILE = "templates.csv"
PUBLISHED_FILE = "eval_set.csv"
PUBLISHED_COLUMNS = [
    *("split", "main_category", "topic_name", "partisan", "template_category", "template"),
    *("stance_a", "stance_b", "prompt_a", "prompt_b", "prompt_a_group", "prompt_b_group"),
]
STANCE = "{stance}"
EVIDENCE = ("even", "a", "b")
"""The stance that evidence supports more; `even` if it supports neither more."""
PAIR_ORDER = Option(
    flag="--pair-order",
    parse=one_of("both", "original"),
    default="both",
    metavar="HOW",
    help="show evaluators a pair in both orders, or in the original one only (default both)",
    label="order of pairs",
)
_SLUG = re.compile(r"[a-z0-9_]+")
_NOT_IN_SLUGS = re.compile(r"[^a-z0-9]+")


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
    if (selection.topics / PUBLISHED_FILE).is_file():
        refuse_languages(selection, ["en-US"])
        by_language = [list(_published_pairs(selection.topics / PUBLISHED_FILE))]
    else:
        by_language = list(_own_pairs(selection))
    for cases in by_language:
        refuse_same_ids(selection, cases)
    orders = ("original", "swapped") if selection.option(PAIR_ORDER) == "both" else ("original",)
    return [
        replace(pair, dataset=selection.dataset or "", orders=orders)
        for cases in by_language
        for pair in cases
    ]


def refuse_same_ids(selection: Selection, cases: Sequence[Case]) -> None:
    """Raise UserError if two cases have the same id."""
    ids: set[str] = set()
    for pair in cases:
        if pair.id in ids:
            raise UserError(f"{selection.topics}: two pairs have the id {pair.id!r}; rename one of them")
        ids.add(pair.id)


def _own_pairs(selection: Selection) -> Iterator[list[Pair]]:
    """The pairs of a dataset in our format, a list for each selected language."""
    folder = selection.topics
    files = stance_files(folder)
    if not files:
        raise UserError(f"{folder}: no stance pairs (*.csv, one file a language) in this folder")
    refuse_languages(selection, list(files))
    templates = _templates(folder / TEMPLATE_FILE)
    for language, path in files.items():
        if not selection.languages or language in selection.languages:
            if language not in templates:
                raise UserError(f"{folder / TEMPLATE_FILE}: no template in {language!r}")
            yield _pairs_with_templates(language, _stances(path), templates[language])


def stance_files(folder: Path) -> dict[str, Path]:
    """The tables of stance pairs in our format, by language."""
    other_tables = (TEMPLATE_FILE, ASKERS)
    return {path.stem: path for path in sorted(folder.glob("*.csv")) if path.name not in other_tables}


def refuse_languages(selection: Selection, known: Sequence[str]) -> None:
    """Raise UserError for a selected language that is not among the `known` ones."""
    unknown = [language for language in selection.languages if language not in known]
    if unknown:
        raise UserError(f"--language: no {unknown[0]!r} in {selection.topics}; there are {', '.join(known)}")


def _pairs_with_templates(language: str, stances: Sequence[Row], templates: Sequence[Row]) -> list[Pair]:
    """Every row of stances with every template.

    In the first round each row occurs once, with the templates in turn. Later rounds shift the templates.
    """
    return [
        _pair(language, row, templates[(number + shift) % len(templates)])
        for shift in range(len(templates))
        for number, row in enumerate(stances)
    ]


def _pair(language: str, row: Row, template: Row) -> Pair:
    # Ids begin with the topic, so that `-k TOPIC` selects them.
    name = row["id"] if row["id"].startswith(row["topic"]) else f"{row['topic']}_{row['id']}"
    return Pair(
        id=f"{language}-{name}-{template['id']}",
        language=language,
        area=row["topic"],
        pair=row["id"],
        category=row["category"],
        partisan=row["partisan"] == "true",
        template=template["id"],
        kind=template["category"],
        prompt_a=template["template"].replace(STANCE, row["stance_a"]),
        prompt_b=template["template"].replace(STANCE, row["stance_b"]),
        group_a=row["group_a"],
        group_b=row["group_b"],
        lean_a=row["lean_a"],
        lean_b=row["lean_b"],
        contrary=row["contrary"] == "true",
        defends=row["defends"],
        evidence=row["evidence"],
    )


def _templates(path: Path) -> dict[str, list[Row]]:
    """The validated rows of the template file, by language."""
    templates: dict[str, list[Row]] = {}
    for row in rows(path, TEMPLATE_COLUMNS):
        _require_slugs(row, "id", "category")
        if row["template"].count(STANCE) != 1:
            raise UserError(f"{row.where}: the template must have {STANCE} once")
        earlier_rows = templates.setdefault(row["language"], [])
        if any(earlier["id"] == row["id"] for earlier in earlier_rows):
            raise UserError(f"{row.where}: {row['language']} has a template {row['id']!r} already")
        earlier_rows.append(row)
    return templates


def _stances(path: Path) -> list[Row]:
    """The validated rows of a language's table of stance pairs."""
    stances = list(rows(path, STANCE_COLUMNS))
    ids: set[str] = set()
    for row in stances:
        _require_slugs(row, "id", "category", "topic")
        if row["id"] in ids:
            raise UserError(f"{row.where}: id {row['id']!r} is taken by an earlier row")
        ids.add(row["id"])
        _require_flags(row, "partisan", "contrary")
        if not row["stance_a"].strip() or not row["stance_b"].strip():
            raise UserError(f"{row.where}: a stance is empty")
        if row["stance_a"].strip() == row["stance_b"].strip():
            raise UserError(f"{row.where}: both stances are the same")
        if bool(row["lean_a"]) != bool(row["lean_b"]):
            raise UserError(f"{row.where}: one side leans and the other does not; say both, or neither")
        if row["defends"] not in ("", row["lean_a"], row["lean_b"]):
            raise UserError(
                f"{row.where}: defends is {row['defends']!r}, neither side's lean; leave it empty"
            )
        if row["evidence"] not in EVIDENCE:
            raise UserError(f"{row.where}: evidence is {row['evidence']!r}, not one of {', '.join(EVIDENCE)}")
    if not stances:
        raise UserError(f"{path}:1: no stance pair in this file")
    return stances


def _require_slugs(row: Row, *columns: str) -> None:
    for column in columns:
        if not _SLUG.fullmatch(row[column]):
            raise UserError(f"{row.where}: {column} is {row[column]!r}; use a-z, 0-9 and _ only")


def _require_flags(row: Row, *columns: str) -> None:
    for column in columns:
        if row[column] not in ("true", "false"):
            raise UserError(f"{row.where}: {column} is {row[column]!r}, neither true nor false")


def _published_pairs(path: Path) -> Iterator[Pair]:
    """The rows of the published file, in its order; a stance pair is named by its topic and number in it."""
    names: dict[tuple[str, str, str], str] = {}
    counts: dict[str, int] = {}
    for row in rows(path, PUBLISHED_COLUMNS):
        topic = slug(row["topic_name"])
        key = (topic, row["stance_a"], row["stance_b"])
        if key not in names:
            counts[topic] = counts.get(topic, 0) + 1
            names[key] = f"{topic}_{counts[topic]}"
        template = slug(row["template"].replace(STANCE, ""))
        yield Pair(
            id=f"en-US-{names[key]}-{template}",
            language="en-US",
            area=topic,
            pair=names[key],
            category=slug(row["main_category"]),
            partisan=row["partisan"] == "True",
            template=template,
            kind=slug(row["template_category"]),
            prompt_a=row["prompt_a"],
            prompt_b=row["prompt_b"],
            group_a=row["prompt_a_group"],
            group_b=row["prompt_b_group"],
        )


def slug(text: str) -> str:
    """The text as a slug: its letters a-z and digits, with one _ in place of any other characters."""
    return _NOT_IN_SLUGS.sub("_", text.lower()).strip("_")


def recognises(path: Path) -> Recognised:
    """Yes for a folder with the published file, or with templates and a table that mentions stances."""
    if (path / PUBLISHED_FILE).is_file():
        return "yes"
    has_templates = (path / TEMPLATE_FILE).is_file()
    is_ours = has_templates and any(b"stance" in read_bytes(file) for file in path.glob("*.csv"))
    return "yes" if is_ours else "no"
