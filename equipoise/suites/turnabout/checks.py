"""Checks of the suite's data.

Twins, the two cases of a pair and a template with either actor first, may differ only in their actors. The
templates must be balanced.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from equipoise.suites import askers as cues
from equipoise.suites.findings import Finding, Recognised, Text
from equipoise.suites.selection import ASKERS, Selection
from equipoise.suites.turnabout import askers, dataset
from equipoise.suites.turnabout.dataset import (
    ASKS,
    FAIRNESS,
    KINDS,
    PLAIN,
    SLOT,
    UNNAMED,
    VALUES,
    ActorPair,
    Incident,
    Tables,
)

FILES = ("pairs.csv", "incidents.csv", "actors.csv", "answers.csv", "options.csv")
WORDS, CHARACTERS = (60, 130), (100, 260)
"""The minimum and maximum length of an incident, in words, or in characters for unspaced scripts."""
_UNSPACED = re.compile("[\u3400-\u9fff]")
_WORDS = re.compile(r"\w+|[^\w\s]")
_BLANK = "\ue000"
_ARTICLE = re.compile(rf"(?i)\ban? {_BLANK}")
_BEGINS = re.compile(r"(?:^|[.!?\u3002]\s+|[\u201c\u00ab\u201e]\s?)$")


def recognises(path: Path) -> Recognised:
    """Yes for a folder with the suite's tables, part for a file in such a folder."""
    folder = path if path.is_dir() else path.parent
    is_dataset = all((folder / name).is_file() for name in FILES)
    return "no" if not is_dataset else "yes" if path.is_dir() else "part"


def lint(topics: Path) -> Iterator[Finding | Text]:
    """The texts; findings on unequal twins, imbalance and faults of tables. Raises UserError."""
    tables = dataset.read(topics)
    yield from _balance(topics, tables)
    yield from _pairs(topics, tables)
    for language, texts in tables.texts.items():
        for row in texts.values():
            yield Text(where=row.where, among=language, owner="", text=row["text"])
    yield from _texts(tables)
    yield from _tables(topics, tables)
    yield from _twins(topics, tables)
    yield from _directions_and_orders(topics)
    yield from _askers(topics, tables)


def _balance(topics: Path, tables: Tables) -> Iterator[Finding]:
    """Findings on unequal numbers of templates, by kind of evidence and by what is asked."""
    where = f"{topics / 'incidents.csv'}:1"
    for actor_set in dict.fromkeys(item.actor_set for item in tables.templates):
        own = tables.of(actor_set)
        for label, known in (("evidence", KINDS), ("asks", ASKS)):
            counts = Counter(getattr(item, label) for item in own)
            if len({counts[name] for name in known}) > 1:
                listed = ", ".join(f"{counts[name]} {name}" for name in known)
                yield Finding.at(where, f"{actor_set} is not balanced: {listed}")
        cells = {(item.evidence, item.asks) for item in own}
        for kind, asks in sorted({(kind, asks) for kind in KINDS for asks in ASKS} - cells):
            yield Finding.at(where, f"{actor_set} has no template of kind {kind!r} that asks for {asks}")
    for item in tables.templates:
        if not 2 <= len(item.incident.split()) <= 4:
            yield Finding.at(item.where, "incident needs two to four words")


def _pairs(topics: Path, tables: Tables) -> Iterator[Finding]:
    """Findings on forms that only one actor of a pair has, or that are the same text for both."""
    where = f"{topics / 'actors.csv'}:1"
    for pair, language in _asked(tables):
        one, other = (tables.actors[language, pair.actor_set, actor] for actor in pair.actors)
        for form in sorted(one.keys() ^ other.keys()):
            yield Finding.at(
                where, f"{language}: only one of {' and '.join(pair.actors)} has the form {form!r}"
            )
        for form in sorted(one.keys() & other.keys()):
            if one[form] == other[form]:
                yield Finding.at(where, f"{language}: {form!r} of {' and '.join(pair.actors)} is the same")


def _asked(tables: Tables) -> Iterator[tuple[ActorPair, str]]:
    """Each pair with each of its languages, and the pair of X and Y in each set and language."""
    sets: dict[tuple[str, str], None] = {}
    for pair in tables.pairs:
        for language in pair.languages:
            yield pair, language
            sets.setdefault((pair.actor_set, language))
    for actor_set, language in sets:
        yield (
            ActorPair(
                name="x and y", actor_set=actor_set, actors=("x", "y"), homes=("", ""), languages=(language,)
            ),
            language,
        )


def _texts(tables: Tables) -> Iterator[Finding]:
    """Findings on texts: missing or unknown slots, length, and grammar that depends on the actors."""
    sets = {item.id: item.actor_set for item in tables.templates}
    for language, texts in tables.texts.items():
        for row in texts.values():
            if row["id"] not in sets:
                yield Finding.at(row.where, f"there is no template {row['id']!r}")
                continue
            slots = {slot[1] for slot in SLOT.finditer(row["text"])}
            if missing := {"first", "second"} - slots:
                yield Finding.at(row.where, f"the text has no {{{min(missing)}}}")
            if odd := {slot[1] for slot in SLOT.finditer(row["text"] + row["question"])} - {
                "first",
                "second",
            }:
                yield Finding.at(row.where, f"{{{min(odd)}}} does not belong in a text")
            yield from _length(row.where, row["text"])
            forms = [
                forms
                for (name, actor_set, actor), forms in tables.actors.items()
                if name == language and actor_set == sets[row["id"]] and actor not in UNNAMED
            ]
            for text in (row["text"], row["question"]):
                yield from _form(row.where, text, forms)


def _length(where: str, text: str) -> Iterator[Finding]:
    plain = SLOT.sub("X", text)
    is_unspaced = bool(_UNSPACED.search(plain))
    size = len("".join(plain.split())) if is_unspaced else len(plain.split())
    (least, most), unit = (CHARACTERS, "characters") if is_unspaced else (WORDS, "words")
    if not least <= size <= most:
        yield Finding.at(where, f"the text has {size} {unit}, not {least} to {most}")


def _form(where: str, text: str, forms: Sequence[Mapping[str, str]]) -> Iterator[Finding]:
    """Findings on articles before an actor, lower-case starts of sentences, and names outside of slots."""
    blank = SLOT.sub(_BLANK, text)
    if _ARTICLE.search(blank):
        yield Finding.at(where, "an article before an actor depends on the actor; make it part of a form")
    for slot in SLOT.finditer(text):
        words = [actor[slot[2] or PLAIN] for actor in forms if (slot[2] or PLAIN) in actor]
        if _BEGINS.search(text[: slot.start()]) and any(word[:1].islower() for word in words):
            yield Finding.at(where, f"{slot[0]} begins a sentence with a small letter")
    for name in sorted({name.strip() for actor in forms for name in actor.values()}):
        if len(name) > 1 and _contains_name(name, blank):
            yield Finding.at(where, f"{name!r} stands outside a slot, so it would not be swapped")


def _contains_name(name: str, text: str) -> bool:
    if _UNSPACED.search(name):
        return name in text
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _tables(topics: Path, tables: Tables) -> Iterator[Finding]:
    """Findings on languages that lack an instruction for an answer, or options for fairness."""
    for language in tables.texts:
        asks = [
            (language, name, direction) for name in ASKS if name != FAIRNESS for direction in ("up", "down")
        ]
        for key in asks:
            if key not in tables.answers:
                yield Finding.at(f"{topics / 'answers.csv'}:1", f"there is no row {', '.join(key)}")
        texts = [tables.options.get((language, str(value))) for value in (*VALUES, "ask")]
        if None in texts or len({*texts}) < len(texts):
            yield Finding.at(
                f"{topics / 'options.csv'}:1", f"{language} needs five different options, and a row 'ask'"
            )


def _twins(topics: Path, tables: Tables) -> Iterator[Finding]:
    """Findings on cases that differ from their twin in more than the actors."""
    cases = {case.id: case for case in dataset.incidents(Selection(topics=topics))}
    for case in cases.values():
        if case.leads == "a":
            twin = cases[f"{case.id.removesuffix(f'{case.first_actor}_first')}{case.second_actor}_first"]
            if _without_actors(case, tables) != _without_actors(twin, tables):
                where = tables.texts[case.language][case.template].where
                yield Finding.at(where, f"{case.pair}: the twins differ in more than their actors")


def _without_actors(case: Incident, tables: Tables) -> Sequence[str]:
    """The words of the question, or its characters, without those of the two actors' forms."""
    forms = [
        text
        for actor in (case.first_actor, case.second_actor)
        for text in tables.actors[case.language, case.actor_set, actor].values()
    ]
    if _UNSPACED.search(case.question):
        either = "|".join(re.escape(text) for text in sorted(forms, key=len, reverse=True))
        return re.sub(either, "", case.question)
    words = {word for text in forms for word in _WORDS.findall(text)}
    return [word for word in _WORDS.findall(case.question) if word not in words]


def _directions_and_orders(topics: Path) -> Iterator[Finding]:
    """Findings on imbalance: of rising and falling scales, or of the options' positions."""
    cases = [case for case in dataset.incidents(Selection(topics=topics)) if case.leads == "x"]
    for language, actor_set in dict.fromkeys((case.language, case.actor_set) for case in cases):
        own = [case for case in cases if (case.language, case.actor_set) == (language, actor_set)]
        up = Counter(case.asks for case in own if case.scale_direction == "up" and not case.options)
        down = Counter(case.asks for case in own if case.scale_direction == "down" and not case.options)
        positions = Counter(
            (position, value) for case in own for position, value in enumerate(case.option_values)
        )
        if _differ([up[asks] - down[asks] for asks in up | down]) or _spread(positions.values()) > 1:
            where = f"{topics / 'incidents.csv'}:1"
            yield Finding.at(where, f"{actor_set} in {language}: directions or orders are not balanced")


def _differ(differences: Iterable[int]) -> bool:
    return any(abs(difference) > 1 for difference in differences)


def _spread(counts: Iterable[int]) -> int:
    known = [*counts]
    return max(known) - min(known) if known else 0


def _askers(topics: Path, tables: Tables) -> Iterator[Finding | Text]:
    """The cues; findings on slots that do not fit every actor of the set."""
    path = topics / ASKERS
    forms: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for (language, actor_set, actor), own in tables.actors.items():
        if actor not in UNNAMED:
            forms.setdefault((language, actor_set), []).append(own)
    for row in cues.read(path, askers.COLUMNS) if path.is_file() else ():
        yield Text(where=row.where, among=f"asker {row['language']}", owner=row.where, text=row["text"])
        slots = [*SLOT.finditer(row["text"])]
        if not slots or {slot[1] for slot in slots} != {"side"}:
            yield Finding.at(row.where, "a sentence about who asks needs {side}, and no other slot")
        fitting = forms.get((row["language"], row["set"]), [])
        missing = [slot[0] for slot in slots if any((slot[2] or PLAIN) not in actor for actor in fitting)]
        if not fitting or missing:
            yield Finding.at(
                row.where, f"not every actor has the form of {missing[0] if missing else 'side'}"
            )
        yield from _form(row.where, row["text"], fitting)
