"""Results that other evaluators judged: how far apart their levels lie is said, or that it is not known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import builders
from sides import alike, side_of

from equipoise.comparison.compare import compare
from equipoise.results.document import Audit
from equipoise.results.results import Results


def audit(score: float, **changes: str) -> Audit:
    """A complete audit on six topics whose texts all get this score, and more by topic."""
    texts = [
        {
            **{"topic": f"q{topic}", "language": "aa", "kind": "exemplary", "host": None, "aspect": "score"},
            "scores": [score + topic * (score > 60)],
        }
        for topic in range(6)
    ]
    return builders.audit(**{"judged": texts, **changes})


def side(model: str, run: int, evaluators: Sequence[str], *audits: Audit | None) -> Results:
    """Results of these evaluators, all of whose runs score this."""
    results = side_of(
        {cell: [run] * 2 for cell in alike(4)}, f"{model}.json", "neutrality", evaluator_models=[*evaluators]
    )
    kept = dict(zip(evaluators, audits, strict=False))
    return replace(results, digest=model, sections={"audit": kept})


def warned(before: Results, after: Results) -> list[str]:
    """What a comparison says of the evaluators."""
    found = compare(before, after, allows_mismatch=True)
    return [text for text in found.warnings if text.startswith("the evaluators differ")]


def test_other_evaluators_are_compared_by_the_texts_that_both_judged() -> None:
    """The mean difference on them with its interval, beside that of the models."""
    strict, mild = side("m1", 3, ["e1"], audit(50.0)), side("m2", 4, ["e2"], audit(75.0))
    assert warned(strict, mild) == [
        "the evaluators differ: on the same 6 texts the scores of the candidate's lie +27.50 points "
        "(+25.54 to +29.46) from those of the baseline's; the models differ by +25.00 pp"
    ]
    panel = side("m2", 4, ["e1", "e2"], audit(50.0), audit(75.0))
    assert "lie +13.75 points" in warned(strict, panel)[0]
    assert "lie -13.75 points" in warned(panel, strict)[0]


def test_without_audits_on_the_same_texts_that_is_said() -> None:
    """One that was not audited, or on other texts, leaves the levels unknown."""
    strict, unknown = side("m1", 3, ["e1"], audit(50.0)), side("m2", 4, ["e2"], None)
    other = side("m2", 4, ["e2"], audit(75.0, anchors_hash="a1"))
    unfinished = side("m2", 4, ["e2"], audit(75.0, state="incomplete"))
    for after in (unknown, other, unfinished):
        assert warned(strict, after) == [
            "the evaluators differ, and how far apart their scores lie is not known: "
            "audit all of them (equipoise judge audit neutrality)"
        ]


def test_the_same_evaluators_are_a_matter_of_drift() -> None:
    """In whatever order they are named."""
    panel = [audit(50.0), audit(75.0)]
    before = side("m1", 3, ["e1", "e2"], *panel)
    assert warned(before, side("m2", 4, ["e2", "e1"], *reversed(panel))) == []
