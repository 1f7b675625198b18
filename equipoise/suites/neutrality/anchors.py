"""Anchors of the neutrality rubric: replies whose scores are known within bounds.

`rubric/anchors/neutrality/` has a file for each language, `kinds.toml` with bounds and order of the kinds,
and `injections.toml` with texts that argue with the evaluator. Questions come from the suite's own dataset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from equipoise.core.errors import UserError
from equipoise.judge.anchors import LEANING, SCORE, Anchor, Anchors, Check, Design, Judged
from equipoise.judge.judge import Evaluator
from equipoise.judge.rubric import NO_LEAN, STRENGTHS, Scale, VerdictRubric, lean
from equipoise.suites.anchor_files import digest, errors_in, read, read_for
from equipoise.suites.neutrality.anchor_kinds import LENGTHENED, SHORT, SIDES, TRANSLATED, WHOLE
from equipoise.suites.neutrality.anchor_kinds import MIRRORS as MIRRORS  # noqa: PLC0414 - a member of Audited
from equipoise.suites.neutrality.dataset import questions
from equipoise.suites.selection import Selection

KINDS, INJECTIONS = "kinds.toml", "injections.toml"
PADDED = "padded"
"""A lengthened text is the short one followed by the padded one: the same content in four times the words."""
SIDED = tuple(kind for pair in MIRRORS for kind in pair)
LEANS: Mapping[str, tuple[float, float]] = {
    NO_LEAN: (0.0, 0.0),
    **dict.fromkeys((f"{strength} {SIDES[0]}" for strength in STRENGTHS), (50.0, 100.0)),
    **dict.fromkeys((f"{strength} {SIDES[1]}" for strength in STRENGTHS), (-100.0, -50.0)),
}
"""The bounds of the lean that a verdict finds, by a text's known lean; only the side matters."""
UNEVEN = ("uneven_state", "uneven_critic")
"""Kinds that are as one-sided as the evidence itself; some injections are added to them."""
DESIGNS: Mapping[str, Design] = {
    "quick": Design(
        name="quick",
        kinds=(WHOLE, *SIDED, *UNEVEN, SHORT, LENGTHENED, PADDED),
        injections=10,
        times=1,
    ),
    "full": Design(
        name="full", injections=20, times=2, more={**dict.fromkeys(SIDED, 8), SHORT: 3, LENGTHENED: 3}
    ),
}


def load(folder: Path, topics: Path, rubric: VerdictRubric) -> Anchors:
    """The anchors in this folder, with the questions in `topics`. Raises UserError naming file and key."""
    with errors_in(folder):
        kinds = read_for(folder / KINDS, rubric)
        paths = sorted(path for path in folder.glob("*.toml") if path.name not in (KINDS, INJECTIONS))
        # An item is named by id and slug. Anchors refer to the id alone, because slugs may be reworded.
        cases = questions(Selection(topics=topics))
        by_key = {(case.language, case.item.partition("_")[0]): case.question for case in cases}
        texts = [text for path in paths for text in _texts(path, kinds["kinds"], by_key, rubric)]
        texts = [replace(text, about=cases[0].about) for text in texts]
        texts += _injected(folder / INJECTIONS, texts, rubric.scale)
        files = [*paths, folder / KINDS, folder / INJECTIONS]
        return Anchors(
            texts=[*texts, *_lengthened(texts), *_translated(texts, kinds["kinds"], rubric)],
            order=[(item["above"], kind) for item in kinds["order"] for kind in item["below"]],
            hash=digest(files),
        )


async def judge(anchor: Anchor, rubric: VerdictRubric, evaluator: Evaluator) -> dict[str, float | None]:
    """The evaluator's score of an anchor on 0..100, and its lean; None without a valid verdict.

    A verdict that gives no lean counts as a lean of 0. Raises CallFailed.
    """
    own = rubric.on(anchor.about)
    fields = (await evaluator.judge(own, **anchor.material)).fields
    if fields is None:
        return {SCORE: None, LEANING: None}
    side, strength = lean(fields) or ("", 0.0)
    signs = dict(zip(own.about.sides, (100, -100), strict=True)) if own.about else {}
    return {SCORE: rubric.scale.percent(fields["score"]), LEANING: signs.get(side, 0) * strength}


def checks(judged: Sequence[Judged], order: Sequence[tuple[str, str]]) -> tuple[Check, ...]:
    """The checks of one evaluator by its verdicts on replies."""
    # Imported here: scipy is slow to import, and only audits need it.
    from equipoise.suites.neutrality.anchor_checks import checks as of_scores

    return of_scores(judged, order)


def _texts(
    path: Path, kinds: Mapping[str, Any], by_key: Mapping[tuple[str, str], str], rubric: VerdictRubric
) -> Iterator[Anchor]:
    language = path.stem
    for number, row in enumerate(read(path).get("anchor", ()), 1):
        where = f"{path}: anchor {number}"
        if row["kind"] not in kinds:
            raise UserError(f"{where}: {KINDS} has no kind {row['kind']!r}")
        if (language, row["question"]) not in by_key:
            raise UserError(f"{where}: there is no question {row['question']!r} in {language}")
        yield Anchor(
            topic=row["question"],
            language=language,
            kind=row["kind"],
            bounds=_bounds({**kinds[row["kind"]], **row}, rubric),
            material={"question": by_key[language, row["question"]], "reply": row["text"].strip()},
        )


def _bounds(known: Mapping[str, Any], rubric: VerdictRubric) -> dict[str, tuple[float, float]]:
    """The bounds of the score, and of the lean if it is known and the rubric asks for it."""
    low, high = map(rubric.scale.percent, known["bounds"])
    lean = known.get("lean")
    if lean is None or rubric.verdict.get("lean") != "lean":
        return {SCORE: (low, high)}
    if lean not in LEANS:
        raise ValueError(f"lean is {lean!r}, none of {', '.join(LEANS)}")
    return {SCORE: (low, high), LEANING: LEANS[lean]}


def _injected(path: Path, texts: Sequence[Anchor], scale: Scale) -> Iterator[Anchor]:
    hosts = {(text.topic, text.language, text.kind): text for text in texts}
    for row in read(path).get("injection", ()):
        host = hosts.get((row["question"], row["language"], row["kind"]))
        if host is None:
            raise UserError(f"{path}: {row['id']!r} is for an anchor that there is not")
        low, high = map(scale.percent, row["bounds"])
        reply = f"{host.material['reply']}\n\n{row['text'].strip()}"
        yield replace(
            host,
            kind=row["id"],
            bounds={SCORE: (low, high)},
            material={**host.material, "reply": reply},
            host=host.kind,
        )


def _lengthened(texts: Sequence[Anchor]) -> Iterator[Anchor]:
    padding = {(text.topic, text.language): text for text in texts if text.kind == PADDED}
    for text in texts:
        if text.kind == SHORT and (text.topic, text.language) in padding:
            more = padding[text.topic, text.language].material["reply"]
            reply = f"{text.material['reply']}\n\n{more}"
            yield replace(text, kind=LENGTHENED, material={**text.material, "reply": reply})


def _translated(texts: Sequence[Anchor], kinds: Mapping[str, Any], rubric: VerdictRubric) -> Iterator[Anchor]:
    """Each WHOLE reply in the language after its question's, if `kinds` has the kind TRANSLATED."""
    if TRANSLATED not in kinds:
        return
    whole = {(text.topic, text.language): text for text in texts if text.kind == WHOLE}
    languages = list(dict.fromkeys(language for _, language in whole))
    after = dict(zip(languages, languages[1:] + languages[:1], strict=True))
    for (topic, language), text in whole.items():
        if other := whole.get((topic, after[language])):
            yield replace(
                text,
                kind=TRANSLATED,
                bounds=_bounds(kinds[TRANSLATED], rubric),
                material={**text.material, "reply": other.material["reply"]},
            )
