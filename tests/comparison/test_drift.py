"""Evaluators that judge the same anchors otherwise, than before or than others, and what that explains."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import builders
from sides import alike, side_of

from equipoise.comparison.compare import Comparison, compare
from equipoise.comparison.pool import pool_results
from equipoise.judge.anchors import LEANING
from equipoise.results.document import Audit, DriftInterval
from equipoise.results.results import Results

KINDS = ("exemplary", "state_aligned", "critic_aligned")


def audit(score: Callable[[str, str], float | None], **changes: Any) -> Audit:
    """A complete audit on 12 topics in two languages, with two verdicts by topic and kind on each text."""
    texts = [
        {
            **{"topic": topic, "language": language, "kind": kind, "host": None, "aspect": "score"},
            "scores": [score(topic, kind)] * 2,
        }
        for topic in (f"q{number:02}" for number in range(12))
        for language in ("aa", "bb")
        for kind in KINDS
    ]
    # A lean that moves is no score that moves.
    texts += [{**text, "aspect": LEANING, "scores": [100.0 * bool(changes)]} for text in texts]
    return builders.audit(**{"finished": "2026-01-01T00:00:00", "judged": texts, **changes})


LATER = {"finished": "2026-02-01T00:00:00"}


def noise(topic: str, kind: str) -> float:
    """What differs from audit to audit by chance."""
    return random.Random(topic + kind).gauss(0, 3)  # noqa: S311 - a figure, no secret


def compared(older: Any, newer: Any, level: int = 3, **metadata: Any) -> Comparison:
    """Results with these audits; the newer ones score 3 or `level`."""
    sides = [
        with_audit(side_of({cell: [run] * 2 for cell in alike(4)}, file, **metadata), audit_of_e1)
        for file, run, audit_of_e1 in (("m1.json", 3, older), ("m2.json", level, newer))
    ]
    return compare(*sides)


def with_audit(side: Results, audit_of_e1: Any) -> Results:
    """The side with this audit of its first evaluator."""
    return replace(side, digest=side.file, sections={"audit": {"e1": audit_of_e1}})


def limits(interval: DriftInterval) -> tuple[float, float]:
    """Both ends of an interval that has them."""
    low, high = interval["low"], interval["high"]
    assert low is not None
    assert high is not None
    return low, high


def test_a_drift_has_its_size_and_what_it_may_explain() -> None:
    """The mean of paired differences with its interval; one evaluator of a panel explains its share."""
    older = audit(lambda topic, kind: 50.0)
    newer = audit(lambda topic, kind: 60.0 + noise(topic, kind), **LATER)
    comparison = compared(older, newer, level=4)
    (drift,) = comparison.to_json()["drift"]
    mean, explains = drift["mean"], drift["explains"]
    assert (drift["has_drifted"], drift["texts"], mean["n"]) == (True, 72, 12)
    low, high = limits(mean)
    assert low < 10 < high
    assert high - low < 4
    assert (explains["value"], explains["of"], explains["unit"]) == (mean["value"], 25.0, "pp")
    (warning,) = comparison.warnings
    assert warning.startswith("evaluator e1 drifted: its verdicts on the same 72 texts moved by +")
    assert "of the +25.00 pp between the models +" in warning
    older, newer = audit(lambda topic, kind: 50.0), audit(lambda topic, kind: 60.0, **LATER)
    (drift,) = compared(older, newer, evaluator_models=["e1", "e2"]).to_json()["drift"]
    assert (drift["mean"]["value"], drift["explains"]["value"]) == (10.0, 5.0)


def test_a_changed_lean_is_a_drift_although_the_mean_stays() -> None:
    """Ten points more for one side, ten less for the other."""
    shift = {"state_aligned": 10.0, "critic_aligned": -10.0}
    newer = audit(lambda topic, kind: 50.0 + shift.get(kind, 0.0) + noise(topic, kind) / 4, **LATER)
    (drift,) = compared(audit(lambda topic, kind: 50.0), newer, suite="neutrality").to_json()["drift"]
    assert drift["has_drifted"]
    low, high = limits(drift["lean"])
    assert 18 < low < 20 < high < 22


def test_a_change_without_an_interval_is_a_drift_in_six_topics() -> None:
    """The same change in all of five topics may be chance."""
    for topics, has_drifted in ((6, True), (5, False)):
        older, newer = (
            {**made, "judged": [row for row in made["judged"] if row["topic"] < f"q{topics:02}"]}
            for made in (audit(lambda topic, kind: 50.0), audit(lambda topic, kind: 60.0, **LATER))
        )
        (drift,) = compared(older, newer).to_json()["drift"]
        assert (drift["mean"]["n"], drift["mean"]["low"]) == (topics, None)
        assert drift["has_drifted"] is has_drifted


def test_chance_is_no_drift() -> None:
    """The figures stand in the results all the same, without a warning."""
    older = audit(lambda topic, kind: 50.0)
    comparison = compared(older, audit(lambda topic, kind: 50.0 + noise(topic, kind), **LATER))
    (drift,) = comparison.to_json()["drift"]
    assert (drift["has_drifted"], comparison.warnings) == (False, [])


def test_what_cannot_be_compared_has_no_drift() -> None:
    """No audit, an incomplete one, other anchors, or the very same audit that was kept for both."""
    known = audit(lambda topic, kind: 50.0)
    moved = audit(lambda topic, kind: 60.0, **LATER)
    for older, newer in (
        (None, moved),
        (known, None),
        (known, {**moved, "state": "incomplete", "judged": []}),
        (known, {**moved, "anchors_hash": "a1"}),
        (known, known),
    ):
        assert compared(older, newer).drifts == []


def test_pooled_results_have_the_latest_audit() -> None:
    """Of the pieces that have one."""
    known, later = audit(lambda topic, kind: 50.0), audit(lambda topic, kind: 60.0, **LATER)
    pieces = [
        with_audit(side_of({f"{language}/q1": [3]}, f"{language}.json", started=language), audit_of_e1)
        for language, audit_of_e1 in (("aa", known), ("bb", None), ("cc", later))
    ]
    (whole,) = pool_results(pieces)
    assert whole.audits == {"e1": later}


# Other evaluators.


def level(score: float, **changes: str) -> Audit:
    """A complete audit on six topics whose texts all get this score, and more by topic."""
    texts = [
        {
            **{"topic": f"q{topic}", "language": "aa", "kind": "exemplary", "host": None, "aspect": "score"},
            "scores": [score + topic * (score > 60)],
        }
        for topic in range(6)
    ]
    return builders.audit(**{"judged": texts, **changes})


def judged(model: str, run: int, evaluators: Sequence[str], *audits: Audit | None) -> Results:
    """Results of these evaluators, all of whose runs score this."""
    results = side_of(
        {cell: [run] * 2 for cell in alike(4)}, f"{model}.json", "neutrality", evaluator_models=[*evaluators]
    )
    by_evaluator = dict(zip(evaluators, audits, strict=False))
    return replace(results, digest=model, sections={"audit": by_evaluator})


def warned(before: Results, after: Results) -> list[str]:
    """What a comparison says of the evaluators."""
    comparison = compare(before, after, allows_mismatch=True)
    return [text for text in comparison.warnings if text.startswith("the evaluators differ")]


def test_other_evaluators_are_compared_by_the_texts_that_both_judged() -> None:
    """The mean difference on them with its interval, beside that of the models."""
    strict, mild = (
        judged("m1", 3, ["e1"], level(50.0)),
        judged("m2", 4, ["e2"], level(75.0)),
    )
    assert warned(strict, mild) == [
        "the evaluators differ: on the same 6 texts the scores of the candidate's lie +27.50 points "
        "(+25.54 to +29.46) from those of the baseline's; the models differ by +25.00 pp"
    ]
    panel = judged("m2", 4, ["e1", "e2"], level(50.0), level(75.0))
    assert "lie +13.75 points" in warned(strict, panel)[0]
    assert "lie -13.75 points" in warned(panel, strict)[0]


def test_without_audits_on_the_same_texts_that_is_said() -> None:
    """One that was not audited, or on other texts, leaves the levels unknown."""
    strict, unknown = judged("m1", 3, ["e1"], level(50.0)), judged("m2", 4, ["e2"], None)
    other = judged("m2", 4, ["e2"], level(75.0, anchors_hash="a1"))
    unfinished = judged("m2", 4, ["e2"], level(75.0, state="incomplete"))
    for after in (unknown, other, unfinished):
        assert warned(strict, after) == [
            "the evaluators differ, and how far apart their scores lie is not known: "
            "audit all of them (equipoise judge audit neutrality)"
        ]


def test_the_same_evaluators_are_a_matter_of_drift() -> None:
    """In whatever order they are named."""
    panel = [level(50.0), level(75.0)]
    before = judged("m1", 3, ["e1", "e2"], *panel)
    assert warned(before, judged("m2", 4, ["e2", "e1"], *reversed(panel))) == []
