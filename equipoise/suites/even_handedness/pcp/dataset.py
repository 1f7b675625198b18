"""Reads Polarized Contrastive Pairs as published: a JSON list of topic pairs, and templates from a page.

The page is the repository's README, with a table of templates and a list of valences.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import read_text
from equipoise.core.types import JSON, Case
from equipoise.suites.selection import Selection
from equipoise.suites.tables import Table, as_slug

TOPICS = Table(file="pcp_topics.json")
PAGE = "README.md"
LANGUAGE = "en-US"
SIDES = ("left", "right")
VALENCE, TOPIC, ANY_TOPIC = "{valence}", "{topic}", "<topic>"
_TEMPLATE = re.compile(r"^\|\s*`([a-z0-9_]+)`\s*\|\s*`([^`|]+)`\s*\|\s*$", re.MULTILINE)
_VALENCES = re.compile(r"\*\*\d+ valences\*\* \(([^()]*)\)")
_VALENCE = re.compile(r"`([a-z]+)`")


@dataclass(frozen=True, slots=True, kw_only=True)
class PolarizedPair(Case):
    """Two requests that differ in their topic, one coded left and one right; the area is the pair of topics.

    `pair` is the slug of both topics. `valence` is the attitude that the request asks for, such as positive.
    `asked` is the request as the evaluator that compares the replies sees it, with ANY_TOPIC for the topic.
    """

    pair: str
    template: str
    valence: str
    topic_left: str
    topic_right: str
    prompt_left: str
    prompt_right: str
    asked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The templates, by name, and the valences that are combined with them.

    A template has the placeholders {valence} and {topic}.
    """

    templates: Mapping[str, str]
    valences: Sequence[str]

    @property
    def combinations(self) -> list[tuple[str, str]]:
        """Every combination of a template's name and a valence."""
        return list(product(self.templates, self.valences))

    def request(self, template: str, valence: str, topic: str) -> str:
        """The request about a topic."""
        return self.templates[template].replace(VALENCE, valence).replace(TOPIC, topic)


def read_grid(folder: Path) -> Grid:
    """The templates and valences on the published page. Raises UserError."""
    path = folder / PAGE
    text = read_text(path)
    templates = {
        name: template
        for name, template in _TEMPLATE.findall(text)
        if template.count(VALENCE) == template.count(TOPIC) == 1
    }
    if not templates:
        raise UserError(f"{path}: no table of templates with {VALENCE} and {TOPIC}")
    sentence = _VALENCES.search(text)
    valences = list(dict.fromkeys(_VALENCE.findall(sentence[1]))) if sentence else []
    if not valences:
        raise UserError(f"{path}: names no valences, as in: **2 valences** (`good`, `bad`)")
    return Grid(templates=templates, valences=valences)


def pairs(selection: Selection) -> list[PolarizedPair]:
    """The selected pairs. Each pair of topics occurs once before any occurs again; the requests rotate.

    Raises UserError.
    """
    selection.chosen([LANGUAGE])
    topics, grid = list(_topics(selection.topics / TOPICS.file)), read_grid(selection.topics)
    combinations = grid.combinations
    return [
        _pair(left, right, grid, *combinations[(number + shift) % len(combinations)])
        for shift in range(len(combinations))
        for number, (left, right) in enumerate(topics)
    ]


def _pair(left: str, right: str, grid: Grid, template: str, valence: str) -> PolarizedPair:
    name = as_slug(f"{left} {right}")
    return PolarizedPair(
        id=f"{LANGUAGE}-{name}-{template}-{valence}",
        language=LANGUAGE,
        area=name,
        pair=name,
        template=template,
        valence=valence,
        topic_left=left,
        topic_right=right,
        prompt_left=grid.request(template, valence, left),
        prompt_right=grid.request(template, valence, right),
        asked=grid.request(template, valence, ANY_TOPIC),
    )


def _topics(path: Path) -> Iterator[tuple[str, str]]:
    """The left and the right topic of each pair."""
    for number, row in enumerate(_rows(path), start=1):
        left, right = (str(row.get(side) or "") if isinstance(row, dict) else "" for side in SIDES)
        if not as_slug(left) or not as_slug(right):
            raise UserError(f"{path}: pair {number} needs left and right, each with letters a-z or digits")
        yield left, right


def _rows(path: Path) -> list[JSON]:
    try:
        data = json.loads(read_text(path))
    except ValueError as error:
        raise UserError(f"{path}: not valid JSON: {error}") from None
    except RecursionError:
        raise UserError(f"{path}: is nested too deeply") from None
    if not isinstance(data, list) or not data:
        raise UserError(f"{path}: is not a list of pairs")
    return data
