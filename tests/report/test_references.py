"""What stands beside a figure: scripted replies in the evaluators' own scores, and published figures."""

from __future__ import annotations

from datetime import date
from typing import Any

import builders
import pytest

from equipoise import suites
from equipoise.report.references import lines, references
from equipoise.results.document import Audit

NEUTRALITY = suites.load("neutrality")


def row(kind: str, *scores: float | None, topic: str = "q1", **changes: Any) -> dict[str, Any]:
    """The verdicts on one text."""
    text = {"topic": topic, "language": "en-US", "kind": kind, "host": None, "aspect": "score"}
    return {**text, "scores": [*scores], **changes}


def audit(*rows: dict[str, Any], **changes: Any) -> Audit:
    """A complete audit with these verdicts."""
    return builders.audit(**{"judged": [*rows], "differs": [], **changes})


def test_scripted_replies_have_the_mean_score_of_all_evaluators() -> None:
    """By character, over the texts that all of them judged, on the suite's own axis."""
    first = audit(
        row("exemplary", 100, 90),
        row("exemplary", 70, None, topic="q2"),
        row("refusal", 0),
        row("padded", 40),
        row("exemplary", 5, topic="q3", host="short"),
        row("short", 10, aspect="lean"),
    )
    second = audit(row("exemplary", 85), row("exemplary", 60, topic="q2"), row("short", 75))
    alone = references(NEUTRALITY, {"a": first}, None)
    assert dict(alone.scripted) == {"exemplary": 82.5, "refusing": 0.0}
    assert dict(alone.texts) == {"exemplary": 2, "refusing": 1}
    both = references(NEUTRALITY, {"a": first, "b": second}, None)
    assert dict(both.scripted) == {"exemplary": 77.5}
    assert [*lines(both)] == ["beside it: scripted replies get from a and b: exemplary 77.5"]
    suite = suites.load("politicsbench")
    rows = [row("left_1", 60), row("right_2", -40), row("none_refusal_1", 0), row("none_1", 1)]
    judged = [{**item, "aspect": "composite"} for item in rows] + [row("left_1", 99, aspect="commitment")]
    scales = references(suite, {"a": audit(*judged)}, None)
    assert dict(scales.scripted) == {
        "arguing from the left": 60,
        "arguing from the right": -40,
        "refusing": 0,
    }


@pytest.mark.parametrize("changes", [{"state": "incomplete"}, {"differs": ["other sampling"]}])
def test_an_audit_that_does_not_hold_gives_none(changes: dict[str, Any]) -> None:
    """Nor do results one of whose evaluators was not audited."""
    sound, other = audit(row("exemplary", 100)), audit(row("exemplary", 100), **changes)
    for audits in ({"a": other}, {"a": sound, "b": other}, {"a": sound, "b": None}, {}):
        assert not references(NEUTRALITY, audits, None)


def test_published_figures_have_a_source_and_a_day() -> None:
    """Of the datasets that others measured, and of no other; each lies on the headline's scale."""
    suite = suites.load("even_handedness")
    for dataset in suite.dataset_names:
        scales = references(suite.of(dataset), {}, dataset)
        assert bool(scales) is (dataset in ("original", "pcp"))
        if scales.published is None:
            continue
        published = scales.published
        assert all(0 <= value <= 100 for value in published.models.values())
        assert published.address.startswith("https://")
        assert date(*(int(part) for part in f"{published.date}-01".split("-")[:3])) < date(2026, 11, 1)
        (line,) = lines(scales)
        assert published.source in line
        assert published.date in line
    assert not references(NEUTRALITY, {}, "original")
