"""Gates: when a rule passes, fails or decides nothing, and what an undecided one says would decide it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import builders
import pytest
import scipy
from msgspec import structs
from sides import Run, Runs, alike, by_chance, neutral_side, side_of

from equipoise.comparison.compare import Comparison, MetricChange, compare
from equipoise.comparison.gate.family import Family, failing_rules
from equipoise.comparison.gate.ruling import overall_verdict
from equipoise.comparison.gate.verdict import rule_on, rule_on_all, rule_on_unscored
from equipoise.core.figures import Difference
from equipoise.core.rules import Rule, parse_rule
from equipoise.results.document import Audit, Ruling
from equipoise.results.results import RunCounts
from equipoise.stats.paired import Decision
from equipoise.suites.contract import About


def difference(
    value: float | None = 0.0,
    low: float | None = None,
    high: float | None = None,
    *,
    se: float | None = 1.0,
    n: int = 50,
    reason: str | None = None,
) -> Difference:
    """A difference in percentage points with these limits."""
    return Difference(value=value, se=se, low=low, high=high, p=0.5, n=n, unpaired=0, reason=reason)


SHORT: Runs = alike(4)


@cache
def unchanged() -> Comparison:
    """Short results compared with themselves."""
    return compare(neutral_side(SHORT), neutral_side(SHORT))


def measured(
    name: str, change: Difference, *, before: float | None = 50.0, after: Runs = SHORT
) -> Comparison:
    """A comparison in which one metric turned out like this, in both scopes."""
    whole = unchanged() if after is SHORT else compare(neutral_side(after), neutral_side(after))
    metric = whole.changes[name].metric
    of_metric = MetricChange(
        metric=metric,
        before=before,
        after=before and before + (change.value or 0),
        difference=change,
        these=change,
    )
    return replace(whole, changes={**whole.changes, name: of_metric})


def ruling(rule: str, change: Difference, *, before: float | None = 50.0, after: Runs = SHORT) -> Ruling:
    """What becomes of a rule on a metric that turned out like this."""
    parsed = parse_rule(rule)
    return rule_on(parsed, measured(parsed.name, change, before=before, after=after))


def between(before: Runs, after: Runs, rule: str) -> Ruling:
    """What becomes of a rule on these runs; neutrality has the rates."""
    side = neutral_side if rule.startswith("refused") else side_of
    return rule_on(parse_rule(rule), compare(side(before), side(after)))


# Where the interval lies.


def test_a_mean_may_fall_by_less_than_its_margin(subtests: pytest.Subtests) -> None:
    """The whole 95 % interval decides, not the figure; of a rate more are worse: the same turned around."""
    every: dict[tuple[float, float], Decision] = {
        (-1.999, 5): "pass",
        (-2, 5): "inconclusive",
        (-2.001, 5): "inconclusive",
        (-9, -2): "inconclusive",
        (-9, -2.001): "fail",
        (1, 5): "pass",
    }
    for rule in ("overall:-2pp", "aa:-2pp@these", "area.x:-2pp@population", "refused:+2pp"):
        for (low, high), expected in every.items():
            with subtests.test(rule, low=low, high=high):
                limits = (-high, -low) if rule == "refused:+2pp" else (low, high)
                outcome = ruling(rule, difference(sum(limits) / 2, *limits))
                assert (outcome.verdict, outcome.rule) == (expected, rule)


def test_a_rule_is_about_the_interval_of_its_scope() -> None:
    """These questions where it names none: each of the two may decide where the other does not."""
    whole = measured("overall", difference(-1, -1.5, -0.5))
    change = replace(whole.changes["overall"], difference=difference(-1, -9, 7))
    split = replace(whole, changes={"overall": change})
    rules = ("overall:-2pp", "overall:-2pp@these", "overall:-2pp@population")
    assert [rule_on(parse_rule(rule), split).verdict for rule in rules] == ["pass", "pass", "inconclusive"]


def test_a_relative_margin_is_a_part_of_the_baselines_figure() -> None:
    """5 % of 40 or -40 are 2 percentage points: just inside passes, just outside does not."""
    for rule, before, margin in (
        ("overall:-5%", 40.0, 2.0),
        ("overall:-5%", 80.0, 4.0),
        ("overall:-5%", -40.0, 2.0),
        ("refused:+50%", 4.0, 2.0),
    ):
        verdicts = []
        for near, far in ((0.999, -1.0), (1.001, -1.0), (1.001, 9.0)):
            worse = [margin * near, margin * far]
            ends = sorted(worse if "+" in rule else [-end for end in worse])
            verdicts.append(ruling(rule, difference(sum(ends) / 2, *ends), before=before).verdict)
        assert verdicts == ["pass", "inconclusive", "fail"], (rule, before)
    outcome = ruling("aa:-5%", difference(None, se=None, n=0, reason="no questions"), before=None)
    assert (outcome.verdict, outcome.why) == (
        "inconclusive",
        "the baseline has no figure; 6 questions or more are needed to decide it",
    )


# A margin of nothing.


def test_with_a_margin_of_0_not_to_be_worse_is_enough(subtests: pytest.Subtests) -> None:
    """Else no number of runs could ever pass what did not change.

    Nothing would show a pass then; how many would show the fall is said. By hand: a fall of 1 at a spread of
    9 between questions takes (t + t)^2 81 = 7.88 81 of them.
    """
    every: dict[str, tuple[Difference, Decision]] = {
        "rose": (difference(0.5, -1, 2), "pass"),
        "same": (difference(0.0, -1, 1), "pass"),
        "fell by chance": (difference(-0.5, -2, 1), "inconclusive"),
        "fell": (difference(-2, -3, -1), "fail"),
        "few questions": (difference(0.0, -1, 1, n=5), "inconclusive"),
        "few questions that rose": (difference(2, 1, 3, n=5), "pass"),
    }
    for name, (change, expected) in every.items():
        value, low, high = (-(figure or 0.0) for figure in (change.value, change.high, change.low))
        turned = structs.replace(change, value=value, low=low, high=high)
        for scope in ("@population", "@these"):
            with subtests.test(name, scope=scope):
                # Few questions are no sample of all, and all of themselves.
                decided = "pass" if (name, scope) == ("few questions", "@these") else expected
                assert ruling(f"overall:-0{scope}", change).verdict == decided
                assert ruling(f"refused:+0{scope}", turned).verdict == decided
    half = scipy.stats.t.ppf(0.975, 49) / 50**0.5
    outcome = ruling("overall:-0@population", difference(-1, -1 - 9 * half, -1 + 9 * half, se=9 / 50**0.5))
    assert outcome.verdict == "inconclusive"
    assert outcome.why.endswith(
        "; with a margin of 0 what was observed decides: it was worse, but by chance perhaps; "
        "if it stays as it is, about 638 questions would show it"
    )


def test_fewer_questions_than_six_say_nothing_of_others(subtests: pytest.Subtests) -> None:
    """Of one, or of five that all say the same, also where all fell by half the scale: one line says why."""
    for rule in ("overall:-2pp@population", "overall:-0@population", "refused:+2pp@population"):
        for questions in (1, 2, 5):
            with subtests.test(rule, questions=questions):
                before = alike(4, questions=questions)
                outcome = between(before, before, rule)
                assert outcome.verdict == "inconclusive"
                assert outcome.why.endswith("; 6 questions or more are needed to decide it")
                assert between(before, alike(2, questions=questions), rule).verdict == "inconclusive"
        assert between(alike(4), alike(4), rule).verdict == "pass"


def test_one_run_of_each_decides_nothing_on_these_questions() -> None:
    """How far runs vary is not known; with the other scope questions stand for each other."""
    for rule in ("overall:-2pp", "overall:-0", "refused:+2pp"):
        outcome = between(alike(4, 4), alike(4), rule)
        assert outcome.verdict == "inconclusive"
        assert "no interval: every case needs 2 runs or more: aa/q1 has 1" in outcome.why
        assert outcome.why.endswith("; the scope @population can do with one")


def test_runs_that_never_differ_decide_as_observed_from_six_cases_on(subtests: pytest.Subtests) -> None:
    """As at temperature 0: there is no interval, and the ruling says so; fewer may agree by chance."""
    every: dict[tuple[int, int], Decision] = {
        (4, 6): "pass",
        (3, 6): "fail",
        (4, 5): "inconclusive",
        (3, 5): "inconclusive",
    }
    for (score, cases), expected in every.items():
        with subtests.test(score=score, cases=cases):
            before = alike(4, 4, questions=cases, languages=["aa"])
            outcome = between(before, dict.fromkeys(before, (score, score)), "overall:-2pp")
            assert outcome.verdict == expected
            assert "no interval: all runs of each case came out alike" in outcome.why
            few = (
                "; fewer than 6 cases may come out alike by chance; with 6 or more, the observed difference "
                "would decide"
            )
            assert outcome.why.endswith(few) == (cases < 6)


def test_a_suite_has_its_own_word_for_its_questions() -> None:
    """What its cells' clusters are: in the figures, and in what would decide."""
    parsed = parse_rule("overall:-2pp@population")
    whole = measured("overall", difference(-1, -5, 3))
    suite = replace(whole.after.suite, about=About(clusters="territories"))
    named = replace(whole, after=replace(whole.after, suite=suite))
    why = rule_on(parsed, named).why
    assert "margin -2.00, for territories like these 50; " in why
    assert why.endswith(" territories would decide it")
    few = replace(named, changes={"overall": replace(named.changes["overall"], difference=difference(n=3))})
    for unmeasured in (few, replace(named, changes={})):
        assert rule_on(parsed, unmeasured).why.endswith("; 6 territories or more are needed to decide it")


# Nothing varied.


def test_where_all_questions_changed_alike_the_figure_decides(subtests: pytest.Subtests) -> None:
    """There is no interval, but six questions or more that all say the same are believed."""
    every: dict[tuple[float, int], Decision] = {
        (0.0, 6): "pass",
        (-1.9, 6): "pass",
        (-2.0, 6): "pass",
        (-2.1, 6): "fail",
        (5.0, 6): "pass",
        (0.0, 5): "inconclusive",
        (-25.0, 5): "inconclusive",
    }
    for (value, n), expected in every.items():
        with subtests.test(value=value, n=n):
            change = difference(value, se=None, n=n, reason="no variation between questions")
            outcome = ruling("overall:-2pp@population", change)
            assert outcome.verdict == expected
            assert "no interval: no variation between questions" in outcome.why
    outcome = between(alike("error"), alike(4), "overall:-2pp")
    assert outcome.verdict == "inconclusive"
    assert outcome.why.startswith("no difference could be measured (no questions)")


def test_a_rate_that_never_changed_passes() -> None:
    """No refusals before or after: its interval is wide, but nothing speaks for a rise."""
    for scope, runs in (("@population", 1), ("@these", 2)):
        refusals: list[Run] = ["refused"] * runs
        never, always = alike(*[4] * runs), alike(*refusals)
        assert between(never, never, f"refused:+0{scope}").verdict == "pass"
        assert between(never, always, f"refused:+3pp{scope}").verdict == "fail"
    assert between(alike(4), alike(4), "refused:+3pp@population").verdict == "pass"
    # So few runs may have missed what happens in a twentieth of them.
    assert between(alike(4, 4), alike(4, 4), "refused:+3pp@these").verdict == "inconclusive"
    assert between(alike(*[4] * 20), alike(*[4] * 20), "refused:+3pp@these").verdict == "pass"


# What would decide.


def spread(questions: int) -> dict[str, Sequence[Run]]:
    """Two runs of each question, of 2 and 4 points: a variance of 1250 within, in squared percent."""
    return alike(2, 4, questions=questions, languages=["aa"])


def test_an_undecided_mean_says_how_many_runs_or_questions_would_decide() -> None:
    """By hand: se 4 of 50 questions, 8 points to the margin; 12.5 of the 16 of variance is of the runs.

    Questions: (t + t)^2 4^2 50 / 8^2 = 2.8^2 12.5, about 98 and two for Student's t. Runs: 16 - 12.5 stays,
    25 / R may be (8 / 2.858)^2 - 3.5 = 4.34: 6. Where the questions differ too much, or each was asked once,
    only more questions help; at the margin itself nothing does.
    """
    half = scipy.stats.t.ppf(0.975, 49) * 4
    outcome = ruling("overall:-2pp@population", difference(6, 6 - half, 6 + half, se=4), after=spread(50))
    assert outcome.verdict == "inconclusive"
    assert outcome.why.endswith(
        "; if the difference stays as it is, about 6 runs of each question or 101 questions would decide it"
    )
    half = scipy.stats.t.ppf(0.975, 49) * 10
    for after in (spread(50), alike(4, questions=50)):
        outcome = ruling("overall:-2pp@population", difference(0, -half, half, se=10), after=after)
        assert "about" in outcome.why
        assert "runs of each question" not in outcome.why
    outcome = ruling("overall:-2pp@population", difference(-2, -4, 0), after=spread(50))
    assert outcome.why.endswith("no number of runs or questions would decide it with the present figures")


def test_an_undecided_rate_names_questions_only() -> None:
    """Never fewer than six, and no number without an interval, which decides nothing either way."""
    half = scipy.stats.t.ppf(0.975, 49) * 10
    for width, n, expected in ((half / 50**0.5, 50, "199"), (half, 50, "9,81[34]"), (5.1, 2, "6")):
        outcome = ruling("refused:+2pp@population", difference(0, -width, width, n=n), after=spread(50))
        assert re.search(rf"about {expected} questions would decide it$", outcome.why), outcome.why
    for rule, n, needed in (("overall:-2pp", 0, "runs"), ("overall:-2pp@population", 9, "runs or questions")):
        outcome = ruling(rule, difference(0, n=n, reason="not defined"))
        assert outcome.why.endswith(f"; without an interval no number of {needed} can be named")
        for value in (-40, 40):
            outcome = ruling(rule, difference(value, se=None, n=9, reason="nothing to divide by"))
            assert outcome.verdict == "inconclusive"


def test_an_undecided_rule_on_these_questions_says_how_many_runs_would_decide() -> None:
    """By hand: two runs, se 2, 1 point to the margin: 2 (1.96 + 0.84)^2 2^2 / 1^2, 63 on each side."""
    outcome = ruling("overall:-2pp", difference(-1, -5, 3, se=2), after=spread(50))
    assert outcome.verdict == "inconclusive"
    assert outcome.why.endswith(
        "; if the difference stays as it is, about 63 runs of each, before and after, would decide it"
    )
    outcome = ruling("overall:-2pp", difference(-2, -6, 2, se=2), after=spread(50))
    assert outcome.why.endswith("; no number of runs would decide it with the present figures")
    outcome = ruling("overall:-0", difference(-1, -5, 3, se=2), after=spread(50))
    assert outcome.why.endswith(
        "by chance perhaps; if it stays as it is, about 63 runs of each would show it"
    )
    # A rate of none: its limits shrink as the runs grow.
    outcome = ruling("refused:+2pp", difference(0, -8, 8, se=None), after=spread(50))
    assert "about 8 runs of each, before and after" in outcome.why


def test_of_many_rules_a_fail_takes_more() -> None:
    """Holm's procedure: what fails by itself is not shown among nine; a pass needs no correction.

    By hand for ten: 2 (2.576 + 0.842)^2 2^2 / 1^2 runs show a FAIL at 0.5 %; a PASS still takes 63.
    """
    alpha = Family(rules=10, own=10).alpha()
    for value, expected in (
        (-1, 63),
        (-3, math.ceil(8 * (scipy.stats.norm.ppf(0.995) + scipy.stats.norm.ppf(0.8)) ** 2)),
    ):
        comparison = measured("overall", difference(value, value - 4, value + 4, se=2), after=spread(50))
        outcome = rule_on(parse_rule("overall:-2pp"), comparison, planned_alpha=alpha)
        assert outcome.verdict == "inconclusive"
        assert f"about {expected} runs of each, before and after, would decide it" in outcome.why
    whole = compare(side_of(by_chance(1)), side_of(by_chance(2, 0.45)))
    rule = parse_rule("overall:-2pp")
    assert rule_on_all([rule], whole, runs(0, 9))["verdict"] == "fail"
    errors = ((number, min(0.025, 0.05 / number)) for number in range(2, 10_000))
    level = next(number for number, error in errors if rule_on(rule, whole, error).verdict != "fail")
    for rules, expected in ((level - 1, "fail"), (level, "inconclusive")):
        gate = rule_on_all([rule], whole, runs(0, 9), family=Family(rules=rules, own=1))
        assert (gate["verdict"], gate["tests"]) == (expected, rules)
    assert f"but of {level} rules one may lie there by chance: a FAIL takes a " in gate["rules"][0].why


# No single question.


def of_questions(*scores: Run, n: int = 6, **changes: Sequence[Run]) -> tuple[Runs, Runs]:
    """So many questions with these runs, before and after some of them changed."""
    before = alike(*scores, questions=n, languages=["aa"])
    return before, {**before, **{f"aa/{name}/x": runs for name, runs in changes.items()}}


QUESTIONS: dict[str, tuple[tuple[Runs, Runs], str, Decision, str]] = {
    "runs that can tell from chance": (
        of_questions(5, 5, 5, 4, 5, q3=(2,) * 5),
        "-2.0",
        "fail",
        "1 of 6 questions fell by 2 points or more: aa/q3 by 2.80",
    ),
    "exactly the bound": (of_questions(5, 5, 5, q3=(3,) * 3), "-2.0", "fail", "or more: aa/q3 by 2.00"),
    "less": (
        of_questions(5, 5, 5, q3=(4,) * 3),
        "-2.0",
        "pass",
        "of 6 questions aa/q3 fell most, by 1.00 points",
    ),
    "none": (of_questions(4, q3=(4,)), "-2.0", "pass", "of 6 questions none fell"),
    "a rise that is worse": (
        of_questions(4, 4, 4, 4, q3=(5,) * 4),
        "+1.0",
        "fail",
        "1 of 6 questions rose by 1 points or more: aa/q3 by 1.00",
    ),
    "a fall that is better": (
        of_questions(4, 4, 4, 4, q3=(1,) * 4),
        "+1.0",
        "pass",
        "of 6 questions none rose",
    ),
    "chance": (
        of_questions(1, 5, q3=(1, 1)),
        "-2.0",
        "inconclusive",
        "aa/q3 by 2.00; with so few runs chance may have done that: "
        "about 45 runs of each question, before and after, would decide it",
    ),
    "single runs": (
        of_questions(5, q3=(1,)),
        "-2.0",
        "inconclusive",
        "aa/q3 by 4.00; with so few runs chance may have done that: "
        "two runs or more of each question, before and after, are needed to decide it",
    ),
    "one of two": (of_questions(3, 4, 5, 4, n=2, q1=(2, 3, 1, 2)), "-2.0", "fail", "aa/q1 by 2.00"),
    "one of a hundred": (of_questions(3, 4, 5, 4, n=100, q1=(2, 3, 1, 2)), "-2.0", "inconclusive", ""),
    # Its own variance is 4 / 6: t is 3.46 and would have to be 3.86 at 6 degrees.
    "one whose own runs vary most": (of_questions(4, 4, 4, 4, q1=(1, 3, 1, 3)), "-2.0", "inconclusive", ""),
    "several, the deepest first": (
        of_questions(5, 5, 5, 5, n=9, **{f"q{n}": [1 if n == 4 else 3] * 4 for n in range(1, 8)}),
        "-2.0",
        "fail",
        "7 of 9 questions fell by 2 points or more: "
        "aa/q4 by 4.00, aa/q1 by 2.00, aa/q2 by 2.00, aa/q3 by 2.00, aa/q5 by 2.00",
    ),
    "no score": (of_questions(5, q3=("error",)), "-2.0", "pass", "of 5 questions none fell"),
    "no score at all": (
        (alike(5), alike("error")),
        "-2.0",
        "inconclusive",
        "none of the questions has a score in both results: at least one needs two scored runs in each",
    ),
}


def test_no_single_question_may_fall_so_far(subtests: pytest.Subtests) -> None:
    """Runs have to tell it from chance; a question whose own runs do not vary has the variance of all."""
    for name, (sides, rule, expected, why) in QUESTIONS.items():
        with subtests.test(name):
            outcome = between(*sides, f"question:{rule}")
            assert (outcome.verdict, outcome.why.endswith(why)) == (expected, True), outcome.why
    before = {**alike(1, 5, 3, languages=["aa"]), "aa/q3/x": [5] * 3}
    assert between(before, {**before, "aa/q3/x": [3] * 3}, "question:-2.0").verdict == "inconclusive"


# Runs without a score, and all rules together.


def runs(unscored: int, planned: int) -> RunCounts:
    """The runs of a candidate that was asked to the end."""
    return RunCounts(planned=planned, left=0, unscored=unscored)


def test_the_bound_on_missing_scores_is_of_the_planned_runs() -> None:
    """At the bound itself it passes; nothing here is inconclusive."""
    for missing, planned, expected in (
        (0, 100, "pass"),
        (1, 100, "pass"),
        (2, 100, "fail"),
        (11, 1000, "fail"),
        (0, 0, "pass"),
    ):
        outcome = rule_on_unscored(parse_rule("unscored:1%"), runs(missing, planned))
        assert outcome.verdict == expected
        assert outcome.why.startswith(f"{missing} of {planned} runs have no score (")


def test_all_rules_are_judged_in_their_order() -> None:
    """Fail before inconclusive before pass; an advisory rule is told, and decides nothing."""
    every: list[tuple[list[Decision], Decision]] = [
        ([], "pass"),
        (["pass", "pass"], "pass"),
        (["pass", "inconclusive"], "inconclusive"),
        (["inconclusive", "fail", "pass"], "fail"),
    ]
    for decisions, expected in every:
        assert overall_verdict([Ruling(rule="r", verdict=item, why="") for item in decisions]) == expected
    rules = [parse_rule(text) for text in ("unscored:1%", "overall:-2pp", "question:-1")]
    comparison = compare(side_of(alike(4, 4)), side_of(alike(4, 4)))
    gate = rule_on_all(rules, comparison, runs(5, 100))
    assert gate["verdict"] == "fail"
    assert [(row.rule, row.verdict) for row in gate["rules"]] == [
        ("unscored:1%", "fail"),
        ("overall:-2pp", "pass"),
        ("question:-1", "pass"),
    ]
    assert gate["rules"][0].why == "5 of 100 runs have no score (5.0 %)"
    assert {name: gate[name] for name in ("tests", "planned", "left", "unscored")} == {
        "tests": 2,
        "planned": 100,
        "left": 0,
        "unscored": 5,
    }
    rules = [replace(parse_rule("unscored:1%"), required=False), parse_rule("overall:-2pp")]
    gate = rule_on_all(rules, compare(side_of(alike(4, 4)), side_of(alike(4, 4))), runs(5, 100))
    assert (gate["verdict"], gate["tests"]) == ("pass", 1)
    assert [(row.verdict, row.required) for row in gate["rules"]] == [("fail", False), ("pass", True)]


def test_rules_that_failed_leave_the_others_more() -> None:
    """The second of three is tried as the first of two, and no rule at more than its own error."""
    rules = [parse_rule(text) for text in ("aa:-2pp", "bb:-2pp", "cc:-2pp")]
    errors: list[tuple[str, float]] = []

    def fails(rule: Rule, error: float) -> bool:
        errors.append((rule.name, round(error, 6)))
        return rule.name == "aa" or (rule.name == "bb" and error > 0.02)

    assert {rule.name for rule in failing_rules(rules, fails, Family(rules=3, own=3))} == {"aa", "bb"}
    assert sorted({error for _, error in errors}) == [0.016667, 0.025]
    assert Family(rules=9, own=3).alpha() == pytest.approx(0.05 / 9)
    assert Family(rules=9, own=3).alpha(2) == pytest.approx(0.05 / 3)
    assert Family(rules=1, own=1).alpha() == 0.025


def test_what_was_asked_otherwise_passes_no_rule() -> None:
    """A pass is none where the two were not asked alike; a fail stays one."""
    rules = [parse_rule(text) for text in ("overall:-2pp", "area.x:-2pp", "unscored:1%")]
    whole = compare(neutral_side(alike(4, 4)), neutral_side(alike(4, 4)))
    fell = replace(whole.changes["area.x"], these=difference(-9, -10, -8))
    comparison = replace(whole, changes={**whole.changes, "area.x": fell})
    gate = rule_on_all(rules, comparison, runs(0, 9), late_mismatches=["sampling differs"])
    assert [row.verdict for row in gate["rules"]] == ["inconclusive", "fail", "pass"]
    assert "; but sampling differs: " in gate["rules"][0].why


def test_float_noise_is_not_worse() -> None:
    """The language's mean is the same to the last digit but for the sum's rounding."""
    comparison = compare(side_of(by_chance(1)), side_of(by_chance(2, 0.3)))
    change = comparison.changes["aa"]
    assert change.before == pytest.approx(change.after, abs=1e-12)
    assert rule_on(parse_rule("aa:-0"), comparison).verdict == "pass"


# Audits.


def audited(**fields: Any) -> Audit:
    """The complete audit of one evaluator with one check."""
    return builders.audit(builders.check(**fields))


def of_audits(rule: str, **audits: Any) -> Ruling:
    """The ruling on a rule about audits."""
    (outcome,) = rule_on_all([parse_rule(rule)], None, runs(0, 9), audits=audits)["rules"]
    return outcome


LENGTH = {"name": "length", "worse": "higher", "low": -90.0}
ORDER = {"name": "order", "sound": 1.0, "unit": "Somers' D"}
NO_SPREAD = {"low": None, "high": None, "reason": "no spread"}
AUDITED: list[tuple[str, dict[str, Any], Decision]] = [
    ("lean:±5pp", {}, "pass"),
    ("lean:+-4pp", {}, "pass"),
    ("lean:±3pp", {}, "inconclusive"),
    ("lean:±3pp", {"low": 3.5, "high": 9.0}, "fail"),
    ("lean:±3pp", {"low": -9.0, "high": -3.5}, "fail"),
    ("length:+3pp", {**LENGTH, "high": 2.0}, "pass"),
    ("length:+3pp", {**LENGTH, "low": 3.5, "high": 9.0}, "fail"),
    ("order:-0.5", {**ORDER, "low": 0.6, "high": 0.9}, "pass"),
    ("order:-0.5", {**ORDER, "low": 0.1, "high": 0.4}, "fail"),
    ("lean:±5pp", {**NO_SPREAD, "value": 0.0}, "pass"),
    ("lean:±5pp", {**NO_SPREAD, "value": 9.0}, "fail"),
    ("lean:±5pp", {**NO_SPREAD, "value": 0.0, "n": 2}, "inconclusive"),
    ("strictness:±5pp", {"name": "strictness bb - aa"}, "pass"),
    (
        "direction:-20pp",
        {"name": "direction critic", "sound": 100.0, "unit": "%", "low": 30.0, "high": 70.0},
        "fail",
    ),
]


@pytest.mark.parametrize(("rule", "check", "expected"), AUDITED)
def test_a_rule_about_an_audit(rule: str, check: dict[str, Any], expected: Decision) -> None:
    """It passes where the whole interval lies within the margin, and fails where all of it lies outside."""
    outcome = of_audits(f"audit.{rule}", judge=audited(**check))
    assert outcome.verdict == expected, outcome.why
    assert outcome.why.startswith("judge: ")


def test_of_many_rules_an_audit_fails_by_a_wider_interval() -> None:
    """By hand for ten rules: Student's t of 11 degrees at 99 %, in the place of that at 95 %."""
    audits = {"judge": audited(value=10.0, low=7.0, high=13.0, n=12)}
    low = 10 - 3 * scipy.stats.t.ppf(0.995, 11) / scipy.stats.t.ppf(0.975, 11)
    for margin, expected in ((low - 0.01, "fail"), (low + 0.01, "inconclusive")):
        rules = [parse_rule(f"audit.lean:±{margin:.4f}pp")]
        gate = rule_on_all(rules, None, runs(0, 9), audits=audits, family=Family(rules=10, own=1))
        assert gate["verdict"] == expected


def test_a_rule_about_audits_holds_for_each_evaluator() -> None:
    """The worst decides, and each is named; a check's parts decide nothing."""
    whole = audited()
    part = audited(name="lean on one topic", value=-8.0, low=None, high=None)
    outcome = of_audits("audit.lean:±5pp", judge={**whole, "checks": [*part["checks"], *whole["checks"]]})
    assert outcome.why == "judge: lean +1.00 points (95 % interval -2.00 to +4.00)"
    outcome = of_audits("audit.lean:±5pp", good=audited(), bad=audited(low=6.0, high=9.0))
    assert outcome.verdict == "fail"
    assert outcome.why.startswith(
        "good: lean +1.00 points (95 % interval -2.00 to +4.00); bad: lean +1.00 points"
    )


def test_a_rule_is_not_decided_by_an_audit_that_does_not_hold() -> None:
    """None at all, one with missing verdicts, or one of the evaluator as it was before."""
    partial = {**audited(), "state": "incomplete", "verdicts": 1_200, "planned": 2_000, "checks": []}
    for audit, why in (
        (None, "not audited"),
        (partial, "its audit is incomplete (1,200 of 2,000 verdicts)"),
        ({**audited(), "differs": ["its temperature was 0, now 1"]}, "was of another: its temperature was 0"),
        (audited(name="length"), "the audit has no such check"),
    ):
        outcome = of_audits("audit.lean:±5pp", judge=audit)
        assert outcome.verdict == "inconclusive"
        assert why in outcome.why
