"""Reads the cases: incidents with two actors, from templates, with either actor first and without names.

`pairs.csv` has the pairs of actors with their languages, `incidents.csv` the templates, and `<language>.csv`
their texts. A slot such as `{first:of}` in a text is filled with the form `of` of the first actor, from
`actors.csv`. `answers.csv` and `options.csv` have the instructions for answers.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import Literal

from equipoise.core.errors import UserError
from equipoise.core.files import Row
from equipoise.core.options import Option
from equipoise.core.types import Case
from equipoise.suites.invariants import balanced, distinct, every, form, only
from equipoise.suites.selection import Selection
from equipoise.suites.shared_options import SEED
from equipoise.suites.tables import Table, names, one_of, slug, text

Direction = Literal["up", "down"]
COMMON_LANGUAGE = "en-US"
"""The language in which every pair is asked about, in addition to the home languages of its actors."""
ANONYMOUS = "anonymous"
"""The area of the cases without names of actors."""
ANONYMOUS_ACTORS = ("x", "y")
"""The ids of the actors in cases without names."""
EVIDENCE = ("first", "second", "both", "neither")
"""Which actors the evidence is against: the values of the column `kind` and of the field `evidence`."""
ASKS = ("responsibility", "likelihood", "severity", "fairness")
"""What a question can ask for."""
FAIRNESS = "fairness"
"""Questions about fairness are answered with the letter of an option, all others with a number."""
OPTION_VALUES = (0, 25, 50, 75, 100)
"""How much each option goes against the actor named first, 0 to 100."""
_IN_NUMBERS = tuple(asks for asks in ASKS if asks != FAIRNESS)
_OPTION_ROWS = (*map(str, OPTION_VALUES), "ask")
"""The values of the options, and the row with the request for a letter."""
DIRECTIONS: tuple[Direction, ...] = ("up", "down")
"""Whether the highest ("up") or the lowest ("down") number of a scale goes against the actor named first."""
HALVES = ((0, 1, 0, 1), (0, 1, 0, 1), (1, 0, 1, 0), (1, 0, 1, 0), (0, 0, 1, 1), (1, 1, 0, 0))
"""HALVES[rank % 6][kind] is the half, 0 or 1, of the template with this rank in its set and kind. Both halves
have equal numbers of each kind and of each thing asked."""
SLOT = re.compile(r"\{(first|second|side)(?::([^{}]+))?\}")
DEFAULT_FORM = "name"
"""The default form, for a slot without a form, such as `{first}`."""

CHOSEN_PAIRS = Option(
    flag="--pairs",
    metavar="NAMES",
    many=True,
    default=(),
    help="only these pairs of actors, separated by commas (default all)",
    label="pairs",
    shown=list,
)


def _pair_faults(row: Row) -> Iterator[str]:
    if row["a"] == row["b"]:
        yield f"a and b are both {row['a']!r}"
    if not {row["home_a"], row["home_b"], COMMON_LANGUAGE} <= {*row["languages"]}:
        yield f"its languages must include both homes and {COMMON_LANGUAGE}"


PAIRS = Table(
    file="pairs.csv",
    row="pair",
    columns={
        "pair": slug,
        "set": slug,
        "a": slug,
        "b": slug,
        "home_a": text,
        "home_b": text,
        "languages": names,
    },
    unique=["pair"],
    faults=_pair_faults,
)


def _sets(folder: Path) -> set[str]:
    return {row["set"] for row in INCIDENTS.valid_rows(folder)}


def _languages_of(folder: Path) -> set[str]:
    return {language for row in PAIRS.valid_rows(folder) for language in row["languages"]}


INCIDENTS = Table(
    file="incidents.csv",
    columns={
        "id": slug,
        "set": slug,
        "kind": one_of(*EVIDENCE),
        "asks": one_of(*ASKS),
        "incident": text,
        "not_in": names,
    },
    unique=["id"],
    must=[
        form("incident", r"\S+( \S+){1,3}", "two to four words"),
        balanced("kind", *EVIDENCE, by=["set"]),
        balanced("asks", *ASKS, by=["set"]),
        every("set", "kind", "asks", of=lambda folder: {*product(_sets(folder), EVIDENCE, ASKS)}),
    ],
)
ACTORS = Table(
    file="actors.csv",
    columns={"language": text, "set": slug, "actor": slug, "form": slug, "text": text},
    unique=[("language", "set", "actor", "form")],
)
ANSWERS = Table(
    file="answers.csv",
    columns={"language": text, "asks": one_of(*ASKS), "direction": one_of(*DIRECTIONS), "text": text},
    unique=[("language", "asks", "direction")],
    must=[
        every(
            *("language", "asks", "direction"),
            of=lambda folder: {*product(_languages_of(folder), _IN_NUMBERS, DIRECTIONS)},
        )
    ],
)
OPTIONS = Table(
    file="options.csv",
    columns={"language": text, "value": one_of(*_OPTION_ROWS), "text": text},
    unique=[("language", "value")],
    must=[
        every("language", "value", of=lambda folder: {*product(_languages_of(folder), _OPTION_ROWS)}),
        distinct("language", "text"),
    ],
)
TEXTS = Table(
    file="*.csv",
    besides=[table.file for table in (PAIRS, INCIDENTS, ACTORS, ANSWERS, OPTIONS)],
    columns={"id": slug, "text": text, "question": text},
    unique=["id"],
    must=[only("id", of=lambda folder: {row["id"] for row in INCIDENTS.valid_rows(folder)})],
)
FORMATS = ((PAIRS, INCIDENTS, ACTORS, ANSWERS, OPTIONS, TEXTS),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident(Case):
    """A question about an incident in one language, with its actors in one order.

    `pair` is the name of the pair of actors. It is empty if the actors are X and Y; `controls` are then the
    pairs for which the case is the control. `leads` says which actor of the pair is named first: a, b, or x
    for X and Y. `homes` are the home languages of the first and of the second actor. `template` is the id of
    the template, `incident` its short description, and `half` the half of the templates that it belongs to, 0
    or 1. `scale_direction` is the direction of a scale of numbers. If a letter is asked for, `options` are
    the answers as shown, and `option_values` their values.
    """

    pair: str
    controls: tuple[str, ...] = ()
    actor_set: str
    template: str
    incident: str
    evidence: str
    asks: str
    first_actor: str
    second_actor: str
    leads: Literal["a", "b", "x"]
    homes: tuple[str, ...] = ()
    half: int
    scale_direction: Direction
    options: tuple[str, ...] = ()
    option_values: tuple[int, ...] = ()
    question: str

    @property
    def unit(self) -> str | None:
        """An incident of a pair, in both orders and all languages; None for a control with X and Y."""
        return f"{self.pair}/{self.template}" if self.pair else None

    @property
    def form(self) -> str:
        """The end of the question, which says in what form to answer."""
        return self.question.rpartition("\n\n")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorPair:
    """Two actors, their home languages, and the languages in which they are asked about."""

    name: str
    actor_set: str
    actors: tuple[str, str]
    homes: tuple[str, str]
    languages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A template of cases: an incident with its evidence, and what is asked.

    `not_in` are the pairs of the set that are not asked about it. `half` divides the templates of a set into
    two balanced halves, 0 and 1. `order` is the sort key of a template in its set.
    """

    id: str
    actor_set: str
    evidence: str
    asks: str
    incident: str
    not_in: tuple[str, ...]
    half: int
    order: tuple[int, int]
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The content of the tables. `texts` is by language and template, `actors` by language, set and actor."""

    pairs: Sequence[ActorPair]
    templates: Sequence[Template]
    texts: Mapping[str, Mapping[str, Row]]
    answers: Mapping[tuple[str, ...], str]
    options: Mapping[tuple[str, ...], str]
    actors: Mapping[tuple[str, str, str], Mapping[str, str]]

    def templates_of(self, actor_set: str) -> list[Template]:
        """The templates of a set, in an order in which even the first few are balanced."""
        return [item for item in self.templates if item.actor_set == actor_set]

    def templates_for(self, pair: ActorPair) -> list[Template]:
        """The templates for a pair; the first four are of different kinds."""
        ranks: Counter[str] = Counter()
        ordered = []
        for item in self.templates_of(pair.actor_set):
            if pair.name not in item.not_in:
                ordered.append(((ranks[item.evidence], EVIDENCE.index(item.evidence)), item))
                ranks[item.evidence] += 1
        return [item for _, item in sorted(ordered, key=itemgetter(0))]

    def templates_in(self, language: str, actor_set: str) -> list[Template]:
        """The templates of a set that are asked about any pair in a language."""
        ids = {
            item.id
            for pair in self.pairs
            if pair.actor_set == actor_set and language in pair.languages
            for item in self.templates_for(pair)
        }
        return [item for item in self.templates_of(actor_set) if item.id in ids]


def incidents(selection: Selection) -> list[Incident]:
    """The selected cases, language by language. Raises UserError naming file and line."""
    tables = read(selection.topics)
    pairs = _selected_pairs(tables.pairs, selection)
    cases: list[Incident] = []
    for language in _languages(pairs, selection):
        pairs_asked = [pair for pair in pairs if language in pair.languages]
        cases += _incidents_in(language, pairs_asked, tables, selection)
    return cases


def _selected_pairs(pairs: Sequence[ActorPair], selection: Selection) -> Sequence[ActorPair]:
    names, known = selection.option(CHOSEN_PAIRS), [pair.name for pair in pairs]
    if unknown := [name for name in names if name not in known]:
        raise UserError(f"--pairs: there is no {unknown[0]!r}; there are {', '.join(known)}")
    return [pair for pair in pairs if not names or pair.name in names]


def _languages(pairs: Sequence[ActorPair], selection: Selection) -> list[str]:
    """The selected languages: COMMON_LANGUAGE first, then the others in the order of the pairs."""
    in_order = dict.fromkeys(language for pair in pairs for language in pair.languages)
    return selection.chosen(sorted(in_order, key=lambda language: language != COMMON_LANGUAGE))


def _incidents_in(
    language: str, pairs: Sequence[ActorPair], tables: Tables, selection: Selection
) -> Iterator[Incident]:
    """The cases in one language: pair by pair, then those of X and Y."""
    seed = selection.option(SEED)
    # By set and template, a function that makes a case.
    case_makers = {}
    for actor_set in dict.fromkeys(pair.actor_set for pair in pairs):
        templates = tables.templates_in(language, actor_set)
        answer_forms = _answer_forms(templates, language, seed)
        case_makers[actor_set] = {
            template.id: partial(_case, language, template, tables, answer_forms[template.id])
            for template in templates
        }
    controls: dict[str, list[str]] = {}
    for pair in pairs:
        for template in tables.templates_for(pair):
            case = case_makers[pair.actor_set][template.id]
            yield case(pair.name, "a", pair.actors, pair.homes)
            yield case(pair.name, "b", pair.actors[::-1], pair.homes[::-1])
            controls.setdefault(template.id, []).append(pair.name)
    # The sets alternate, so that a session that ends early has cases of each set.
    alternating = sorted(
        (index, name, template)
        for name, makers in case_makers.items()
        for index, template in enumerate(template for template in makers if template in controls)
    )
    for _, name, template_id in alternating:
        names = tuple(controls[template_id])
        yield case_makers[name][template_id]("", "x", ANONYMOUS_ACTORS, (), names)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AnswerForm:
    """The direction of the scale and the order of the options, which all cases of a template share."""

    direction: Direction
    order: tuple[int, ...]


def _answer_forms(templates: Sequence[Template], language: str, seed: int) -> dict[str, _AnswerForm]:
    """The answer forms by template id. Half of the scales go up, and options take positions in rotation.

    `templates` must be all that are asked in the language, so that the result does not depend on `--pairs`.
    """
    answer_forms = {}
    for asks in ASKS:
        # Sorted by evidence, so that directions alternate within each kind of evidence.
        group = sorted(
            (template for template in templates if template.asks == asks),
            key=lambda template: (
                EVIDENCE.index(template.evidence),
                _random_key(seed, language, template.id),
            ),
        )
        start = int(_random_key(seed, language, asks, *(template.actor_set for template in group[:1])), 16)
        shuffled = sorted(OPTION_VALUES, key=lambda value: _random_key(seed, language, asks, str(value)))
        for number, template in enumerate(group, start):
            shift = number % len(OPTION_VALUES)
            order = tuple(shuffled[shift:] + shuffled[:shift])
            answer_forms[template.id] = _AnswerForm(direction=DIRECTIONS[number % 2], order=order)
    return answer_forms


def _random_key(seed: int, *keys: str) -> str:
    """A pseudo-random hexadecimal number, the same for the same arguments on every machine."""
    return hashlib.sha256(" ".join([str(seed), *keys]).encode()).hexdigest()


def _case(
    language: str,
    template: Template,
    tables: Tables,
    answer_form: _AnswerForm,
    pair: str,
    leads: Literal["a", "b", "x"],
    actors: Sequence[str],
    homes: Sequence[str],
    controls: tuple[str, ...] = (),
) -> Incident:
    options = _options(language, template, tables, answer_form)
    return Incident(
        id=f"{language}-{pair or ANONYMOUS}-{template.id}-{actors[0]}_first",
        language=language,
        area=pair or ANONYMOUS,
        keywords=controls,
        pair=pair,
        controls=controls,
        actor_set=template.actor_set,
        template=template.id,
        incident=template.incident,
        evidence=template.evidence,
        asks=template.asks,
        first_actor=actors[0],
        second_actor=actors[1],
        leads=leads,
        homes=tuple(homes),
        half=template.half,
        scale_direction=answer_form.direction,
        options=options,
        option_values=answer_form.order if options else (),
        question=_question(language, template, tables, answer_form.direction, options, actors),
    )


def _options(language: str, template: Template, tables: Tables, answer_form: _AnswerForm) -> tuple[str, ...]:
    if template.asks != FAIRNESS:
        return ()
    return tuple(_text_of(tables.options, "options.csv", language, str(value)) for value in answer_form.order)


def _question(
    language: str,
    template: Template,
    tables: Tables,
    direction: Direction,
    options: Sequence[str],
    actors: Sequence[str],
) -> str:
    text = tables.texts[language][template.id]
    if options:
        lines = [f"{letter}) {option}" for letter, option in zip("ABCDE", options, strict=True)]
        instruction = _text_of(tables.options, "options.csv", language, "ask")
        paragraphs = [text["text"], f"{text['question']}\n" + "\n".join(lines), instruction]
    else:
        instruction = _text_of(tables.answers, "answers.csv", language, template.asks, direction)
        paragraphs = [text["text"], text["question"], instruction]
    forms = {
        slot: tables.actors[language, template.actor_set, actor]
        for slot, actor in zip(("first", "second"), actors, strict=True)
    }
    return fill_slots("\n\n".join(paragraphs), forms, text.where)


def _text_of(table: Mapping[tuple[str, ...], str], name: str, *key: str) -> str:
    """The text of a row of the table in the file `name`. Raises UserError if there is no such row."""
    if key not in table:
        raise UserError(f"{name}: there is no row {', '.join(key)}")
    return table[key]


def fill_slots(text: str, forms: Mapping[str, Mapping[str, str]], where: str) -> str:
    """The text with its slots filled; `forms` has the forms of each slot's actor. Raises UserError."""

    def form(slot: re.Match[str]) -> str:
        name, actor = slot[2] or DEFAULT_FORM, forms.get(slot[1])
        if actor is None or name not in actor:
            raise UserError(f"{where}: {slot[0]} is not in actors.csv")
        return actor[name]

    return SLOT.sub(form, text)


# Reading.


def read(folder: Path) -> Tables:
    """The tables in a folder, complete and consistent. Raises UserError naming file and line."""
    pairs = [_pair(row) for row in PAIRS.read(folder)]
    languages = dict.fromkeys(language for pair in pairs for language in pair.languages)
    texts = {name: TEXTS.read(folder / f"{name}.csv") for name in languages}
    tables = Tables(
        pairs=pairs,
        templates=_templates(INCIDENTS.read(folder)),
        texts={name: {row["id"]: row for row in rows} for name, rows in texts.items()},
        answers={
            (row["language"], row["asks"], row["direction"]): row["text"] for row in ANSWERS.read(folder)
        },
        options={(row["language"], row["value"]): row["text"] for row in OPTIONS.read(folder)},
        actors=_actors(ACTORS.read(folder)),
    )
    _require_complete(folder, tables)
    return tables


def _pair(row: Row) -> ActorPair:
    return ActorPair(
        name=row["pair"],
        actor_set=row["set"],
        actors=(row["a"], row["b"]),
        homes=(row["home_a"], row["home_b"]),
        languages=row["languages"],
    )


def _templates(rows: Sequence[Row]) -> list[Template]:
    """The templates, in an order in which the first few of a set have all kinds, and ask for all things."""
    groups = [
        [row for row in rows if (row["set"], row["kind"]) == (actor_set, kind)]
        for actor_set in dict.fromkeys(row["set"] for row in rows)
        for kind in EVIDENCE
    ]
    templates = [template for group in groups for template in _templates_of_kind(group)]
    return sorted(templates, key=lambda template: template.order)


def _templates_of_kind(group: Sequence[Row]) -> Iterator[Template]:
    """The templates of a set and a kind; `asks` alternates, beginning with another value in each kind."""
    kind = EVIDENCE.index(group[0]["kind"]) if group else 0
    counts: Counter[str] = Counter()
    positions = []
    for row in group:
        positions.append((counts[row["asks"]], (ASKS.index(row["asks"]) - kind) % len(ASKS)))
        counts[row["asks"]] += 1
    alternating = sorted(zip(positions, group, strict=True), key=lambda item: item[0])
    for rank, (_, row) in enumerate(alternating):
        yield Template(
            id=row["id"],
            actor_set=row["set"],
            evidence=row["kind"],
            asks=row["asks"],
            incident=row["incident"],
            not_in=row["not_in"],
            half=HALVES[rank % len(HALVES)][kind],
            order=(rank, kind),
            where=row.where,
        )


def _actors(rows: Sequence[Row]) -> dict[tuple[str, str, str], dict[str, str]]:
    actors: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in rows:
        actors.setdefault((row["language"], row["set"], row["actor"]), {})[row["form"]] = row["text"]
    return actors


def _require_complete(folder: Path, tables: Tables) -> None:
    """Raise UserError if a text or an actor that a case needs is missing."""
    for pair in tables.pairs:
        for language in pair.languages:
            for template in tables.templates_for(pair):
                if template.id not in tables.texts[language]:
                    raise UserError(f"{template.where}: {template.id} is not in {folder / language}.csv")
            for actor in (*pair.actors, *ANONYMOUS_ACTORS):
                if (language, pair.actor_set, actor) not in tables.actors:
                    raise UserError(f"{folder / 'actors.csv'}: no {actor} of {pair.actor_set} in {language}")
