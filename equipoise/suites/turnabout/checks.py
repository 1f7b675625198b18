"""Checks of the suite's data.

Twins are the two cases of a template about a pair, with either actor first. They may differ only in their
actors. The templates must be balanced.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from equipoise.suites.findings import Finding, Text
from equipoise.suites.selection import ASKERS, Selection
from equipoise.suites.turnabout import askers, dataset
from equipoise.suites.turnabout.dataset import (
    ANONYMOUS_ACTORS,
    DEFAULT_FORM,
    EVIDENCE,
    SLOT,
    ActorPair,
    Incident,
    Tables,
)

FEWEST_TEMPLATES, FEWEST_OF_A_KIND = 12, 3
"""The minimum number of templates for a pair, in all and of each kind of evidence."""
WORD_LIMITS, CHARACTER_LIMITS = (60, 130), (100, 260)
"""The minimum and maximum length of an incident, in words, or in characters for unspaced scripts."""
_UNSPACED = re.compile("[\u3400-\u9fff]")
_WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]")
_ACTOR_MARK = "\ue000"
"""A private character in place of an actor."""
_ARTICLE = re.compile(rf"(?i)\ban? {_ACTOR_MARK}")
_SENTENCE_START = re.compile(r"(?:^|[.!?\u3002]\s+|[\u201c\u00ab\u201e]\s?)$")


def lint(topics: Path) -> Iterator[Finding | Text]:
    """The texts that must be distinct; findings on unequal twins, imbalance and tables. Raises UserError."""
    tables = dataset.read(topics)
    yield from _pair_findings(topics, tables)
    yield from _actor_form_findings(topics, tables)
    for language, texts in tables.texts.items():
        for row in texts.values():
            yield Text(where=row.where, among=language, owner="", text=row["text"])
    yield from _text_findings(tables)
    yield from _slot_findings(topics, tables)
    yield from _twin_findings(topics, tables)
    yield from _lint_askers(topics, tables)


def _pair_findings(topics: Path, tables: Tables) -> Iterator[Finding]:
    """Findings on templates that leave out a pair of another set, and on pairs with too few templates."""
    for item in tables.templates:
        known = [pair.name for pair in tables.pairs if pair.actor_set == item.actor_set]
        for name, count in Counter(item.not_in).items():
            if name not in known:
                there = f"there are {', '.join(known)}"
                yield Finding.at(item.where, f"not_in: {item.actor_set} has no pair {name!r}; {there}")
            elif count > 1:
                yield Finding.at(item.where, f"not_in: {name} is there {count} times")
    where = f"{topics / 'incidents.csv'}:1"
    for pair in tables.pairs:
        kinds = Counter(item.evidence for item in tables.templates_for(pair))
        if kinds.total() < FEWEST_TEMPLATES:
            yield Finding.at(
                where, f"{pair.name} has {kinds.total()} templates; at least {FEWEST_TEMPLATES} are needed"
            )
        for kind in EVIDENCE:
            if kinds[kind] < FEWEST_OF_A_KIND:
                yield Finding.at(
                    where,
                    f"{pair.name} has {kinds[kind]} templates of kind {kind!r}; "
                    f"at least {FEWEST_OF_A_KIND} are needed",
                )


def _actor_form_findings(topics: Path, tables: Tables) -> Iterator[Finding]:
    """Findings on forms that only one actor of a pair has, or whose text is the same for both actors."""
    where = f"{topics / 'actors.csv'}:1"
    for pair, language in _pairs_by_language(tables):
        one, other = (tables.actors[language, pair.actor_set, actor] for actor in pair.actors)
        for form in sorted(one.keys() ^ other.keys()):
            yield Finding.at(
                where, f"{language}: only one of {' and '.join(pair.actors)} has the form {form!r}"
            )
        for form in sorted(one.keys() & other.keys()):
            if one[form] == other[form]:
                yield Finding.at(where, f"{language}: {form!r} of {' and '.join(pair.actors)} is the same")


def _pairs_by_language(tables: Tables) -> Iterator[tuple[ActorPair, str]]:
    """Each pair with each of its languages; then, for each set, the pair of X and Y with each language."""
    sets: dict[tuple[str, str], None] = {}
    for pair in tables.pairs:
        for language in pair.languages:
            yield pair, language
            sets.setdefault((pair.actor_set, language))
    for actor_set, language in sets:
        anonymous = ActorPair(
            name="x and y",
            actor_set=actor_set,
            actors=ANONYMOUS_ACTORS,
            homes=("", ""),
            languages=(language,),
        )
        yield anonymous, language


def _text_findings(tables: Tables) -> Iterator[Finding]:
    """Findings on texts: missing or unknown slots, length, and grammar that depends on the actors."""
    sets = {item.id: item.actor_set for item in tables.templates}
    for language, texts in tables.texts.items():
        for row in texts.values():
            if row["id"] not in sets:
                continue
            slots = {slot[1] for slot in SLOT.finditer(row["text"])}
            if missing := {"first", "second"} - slots:
                yield Finding.at(row.where, f"the text has no {{{min(missing)}}}")
            all_slots = {slot[1] for slot in SLOT.finditer(row["text"] + row["question"])}
            if unknown := all_slots - {"first", "second"}:
                yield Finding.at(row.where, f"{{{min(unknown)}}} does not belong in a text")
            yield from _length_findings(row.where, row["text"])
            forms = [
                forms
                for (name, actor_set, actor), forms in tables.actors.items()
                if name == language and actor_set == sets[row["id"]] and actor not in ANONYMOUS_ACTORS
            ]
            for text in (row["text"], row["question"]):
                yield from _grammar_findings(row.where, text, forms)


def _slot_findings(topics: Path, tables: Tables) -> Iterator[Finding]:
    """Findings on questions and scales that name other actors, or in another order, in some languages."""
    firsts: dict[object, tuple[Sequence[str], str]] = {}
    for language, texts in tables.texts.items():
        for row in texts.values():
            own = sorted({slot[1] for slot in SLOT.finditer(row["question"])})
            expected, first = firsts.setdefault(row["id"], (own, language))
            if own != expected:
                yield Finding.at(
                    row.where, f"the question names other actors than in {first}; ask of the same"
                )
    for row in dataset.ANSWERS.valid_rows(topics):
        own = [slot[1] for slot in SLOT.finditer(row["text"])]
        key = row["asks"], row["direction"]
        expected, first = firsts.setdefault(key, (own, row["language"]))
        if own != expected:
            what = f"names the actors in another order than in {first}; begin with the same end of the scale"
            yield Finding.at(row.where, what)


def _length_findings(where: str, text: str) -> Iterator[Finding]:
    plain = SLOT.sub("X", text)
    is_unspaced = bool(_UNSPACED.search(plain))
    size = len("".join(plain.split())) if is_unspaced else len(plain.split())
    (least, most), unit = (CHARACTER_LIMITS, "characters") if is_unspaced else (WORD_LIMITS, "words")
    if not least <= size <= most:
        yield Finding.at(where, f"the text has {size} {unit}, not {least} to {most}")


def _grammar_findings(where: str, text: str, forms: Sequence[Mapping[str, str]]) -> Iterator[Finding]:
    """Findings on articles before an actor, sentences that begin in lower case, and names outside slots."""
    marked = SLOT.sub(_ACTOR_MARK, text)
    if _ARTICLE.search(marked):
        yield Finding.at(where, "an article before an actor depends on the actor; make it part of a form")
    for slot in SLOT.finditer(text):
        words = [actor[slot[2] or DEFAULT_FORM] for actor in forms if (slot[2] or DEFAULT_FORM) in actor]
        if _SENTENCE_START.search(text[: slot.start()]) and any(word[:1].islower() for word in words):
            yield Finding.at(where, f"{slot[0]} begins a sentence with a small letter")
    for name in sorted({name.strip() for actor in forms for name in actor.values()}):
        if len(name) > 1 and _contains_name(name, marked):
            yield Finding.at(where, f"{name!r} stands outside a slot, so it would not be swapped")


def _contains_name(name: str, text: str) -> bool:
    if _UNSPACED.search(name):
        return name in text
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _twin_findings(topics: Path, tables: Tables) -> Iterator[Finding]:
    """Findings on cases that differ from their twin in more than the actors."""
    cases = {case.id: case for case in dataset.incidents(Selection(topics=topics))}
    for case in cases.values():
        if case.leads == "a":
            twin = cases[f"{case.id.removesuffix(f'{case.first_actor}_first')}{case.second_actor}_first"]
            if _without_actors(case, tables) != _without_actors(twin, tables):
                where = tables.texts[case.language][case.template].where
                yield Finding.at(where, f"{case.pair}: the twins differ in more than their actors")


def _without_actors(case: Incident, tables: Tables) -> Sequence[str]:
    """The question without its two actors: its words, or the rest of the text in an unspaced script."""
    forms = [
        text
        for actor in (case.first_actor, case.second_actor)
        for text in tables.actors[case.language, case.actor_set, actor].values()
    ]
    if _UNSPACED.search(case.question):
        either = "|".join(re.escape(text) for text in sorted(forms, key=len, reverse=True))
        return re.sub(either, "", case.question)
    words = {word for text in forms for word in _WORD_OR_SIGN.findall(text)}
    return [word for word in _WORD_OR_SIGN.findall(case.question) if word not in words]


def _lint_askers(topics: Path, tables: Tables) -> Iterator[Finding | Text]:
    """The asker cues as texts; findings on slots that do not fit every actor of the set."""
    path = topics / ASKERS
    forms: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for (language, actor_set, actor), actor_forms in tables.actors.items():
        if actor not in ANONYMOUS_ACTORS:
            forms.setdefault((language, actor_set), []).append(actor_forms)
    for row in askers.CUES.valid_rows(path) if path.is_file() else ():
        yield Text(where=row.where, among=f"asker {row['language']}", owner=row.where, text=row["text"])
        slots = [*SLOT.finditer(row["text"])]
        if not slots or {slot[1] for slot in slots} != {"side"}:
            yield Finding.at(row.where, "a sentence about who asks needs {side}, and no other slot")
        actors = forms.get((row["language"], row["set"]), [])
        missing = [
            slot[0] for slot in slots if any((slot[2] or DEFAULT_FORM) not in actor for actor in actors)
        ]
        if not actors or missing:
            yield Finding.at(
                row.where, f"not every actor has the form of {missing[0] if missing else 'side'}"
            )
        yield from _grammar_findings(row.where, row["text"], actors)
