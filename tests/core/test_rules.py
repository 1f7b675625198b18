"""What a gate and a width may say: every form that is taken, and why every other is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.rules import Rule, Unit, Until, parse_rule, parse_until, rules_for

NO_RULE = "is not a rule; rules look like overall:-2pp, zh-CN:-5%, refused:+3pp, unscored:1%, verified"
NO_QUESTION = "is in points of the scale, with a sign and without a unit: question:-2.0"
NO_SIGN = "needs a sign: - for how far it may fall, + for how far it may rise"
NO_UNIT = "needs a unit: pp for percentage points, % for percent of the baseline's figure"
NO_OWN_FIGURE = "bounds the session's own figure in percentage points: lean.PAIR:±5pp (or +-5pp)"
NO_SHARE = "is a share of this session's runs, without a sign: unscored:1%"
NO_WIDTH = "is not a width to stop at; write overall:±1.5pp, overall:+-1.5pp, or gate"
NO_SCOPE = "has an unknown scope: @these or @population"
NO_OWN_SCOPE = "takes no scope: {} is about this session's own runs"

fuzzed = settings(deadline=None, max_examples=40, derandomize=True)
any_text = st.text(st.characters(exclude_categories=[]), max_size=40)
fragments = st.sampled_from(
    (
        "overall",
        "question",
        "unscored",
        *(":", "+", "-", "±", "+-", "+/-", "2", ".", "0", "pp", "%", " ", "@", "\n"),
    )
)
near_misses = st.lists(fragments | any_text, max_size=8).map("".join)


def complaint(parse: Callable[[str], object], text: str) -> str:
    """Why the text is refused."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        parse(text)
    return str(caught.value)


RULES: list[tuple[str, str, int, float, Unit]] = [
    ("audit.lean:±5pp", "audit.lean", 0, 5.0, "pp"),
    ("audit.lean:+-5pp", "audit.lean", 0, 5.0, "pp"),
    ("audit.lean:+/-.5pp", "audit.lean", 0, 0.5, "pp"),
    ("audit.length:+5pp", "audit.length", 1, 5.0, "pp"),
    ("audit.order:-0.5", "audit.order", -1, 0.5, "points"),
    ("overall:-2pp", "overall", -1, 2.0, "pp"),
    ("overall:-2%", "overall", -1, 2.0, "%"),
    ("zh-CN:-5%", "zh-CN", -1, 5.0, "%"),
    ("refused:+3pp", "refused", 1, 3.0, "pp"),
    ("refused:+150%", "refused", 1, 150.0, "%"),
    ("area.hong_kong:-1.25pp", "area.hong_kong", -1, 1.25, "pp"),
    ("区域.香港́:+1000.125%", "区域.香港́", 1, 1000.125, "%"),
    ("overall:-.5pp", "overall", -1, 0.5, "pp"),
    ("overall:-0", "overall", -1, 0.0, "pp"),
    ("overall:-0.0", "overall", -1, 0.0, "pp"),
    ("refused:+0", "refused", 1, 0.0, "pp"),
    ("overall:-0pp", "overall", -1, 0.0, "pp"),
    ("overall:-0%", "overall", -1, 0.0, "%"),
    ("unscored:1%", "unscored", 0, 1.0, "%"),
    ("unscored:0%", "unscored", 0, 0.0, "%"),
    ("unscored:100%", "unscored", 0, 100.0, "%"),
    ("question:-2.0", "question", -1, 2.0, "points"),
    ("question:-1", "question", -1, 1.0, "points"),
    ("question:+1", "question", 1, 1.0, "points"),
    ("Question:-1pp", "Question", -1, 1.0, "pp"),
]


def test_a_rule_says_what_may_be_how_much_worse() -> None:
    """A name, a sign that says where worse lies, an amount and its unit; zero needs no unit."""
    wrong = [
        (text, parse_rule(text))
        for text, name, sign, amount, unit in RULES
        if parse_rule(text) != Rule(text=text, name=name, sign=sign, amount=amount, unit=unit)
        or parse_rule(f"  {text}\n").amount != amount
    ]
    assert wrong == []


NO_RULES = [
    *(
        (text, NO_RULE)
        for text in ("", " ", "overall", "overall:", "overall:-", "overall:-pp", ":-2pp", "-2pp")
    ),
    *((f"overall{text}", NO_RULE) for text in (" -2pp", ": -2pp", ":-2 pp", ":-2.pp", ":--2pp", ":±±2pp")),
    *((f"overall:-2{text}", NO_RULE) for text in ("e3pp", ",5pp", "points", "PP", "pp\nrefused:+3pp")),
    *((text, NO_RULE) for text in ("overall:-nanpp", "a:b:-2pp", "two words:-2pp")),
    *((f"lean.x:±{text}", NO_OWN_FIGURE) for text in ("2", "2%", "2pp@people")),
    *((f"overall:{text}", NO_SIGN) for text in ("2pp", "2", "0")),
    *((text, NO_UNIT) for text in ("overall:-2", "refused:+.1")),
    *((f"question:{text}", NO_QUESTION) for text in ("2", "-2pp", "-2%", "-0")),
    *((f"unscored:{text}", NO_SHARE) for text in ("+1%", "-1%", "1pp", "1", "0", "100.1%")),
]


def test_what_is_no_rule_is_refused_with_the_reason() -> None:
    """The reason continues a sentence that begins with the text, and says what to write instead."""
    refusals = [(text, complaint(parse_rule, text)) for text, _ in NO_RULES]
    assert refusals == NO_RULES


def test_a_rule_is_about_these_questions_unless_it_names_another_scope() -> None:
    """@these or @population at the end, also of a width; @people behind it is for people's labels."""
    every = {"": "these", "@these": "these", "@population": "population"}
    for text, scope in every.items():
        for rule in ("overall:-2pp", "zh-CN:-5%", "refused:+0"):
            assert parse_rule(rule + text).scope == scope
        assert parse_until(f"overall:±1.5pp{text}").scope == scope
    every = {f"{text}@people": scope for text, scope in every.items()}
    rules = {text: parse_rule(f"overall:-5pp{text}") for text in every}
    assert {text: rule.scope for text, rule in rules.items() if rule.people} == every
    for text in ("@", "@all", "@These"):
        assert complaint(parse_rule, f"overall:-2pp{text}") == NO_SCOPE
    for text in ("@these@these", "@people@these", "@these@persons"):
        assert complaint(parse_rule, f"overall:-2pp{text}") == NO_RULE
    assert complaint(parse_rule, "unscored:1%@people") == NO_OWN_SCOPE.format("unscored")
    for name, amount in {"question": "-2", "unscored": "1%"}.items():
        assert complaint(parse_rule, f"{name}:{amount}@these") == NO_OWN_SCOPE.format(name)


def test_a_bound_on_both_sides_is_of_the_session_itself() -> None:
    """It needs no baseline, and runs of a comparison do not decide it."""
    for sign in ("±", "+-", "+/-"):
        rule = parse_rule(f"lean.us_parties:{sign}5pp@population")
        assert (rule.name, rule.sign, rule.amount, rule.scope) == ("lean.us_parties", 0, 5, "population")
        assert rule.bounds_own_figure
        assert rule.is_a_test
        assert not rule.needs_baseline
        assert not rule.is_about_metric
    assert not parse_rule("lean.us_parties:+5pp").bounds_own_figure


NO_WIDTHS = [
    "gate@these",
    *("", "overall", "overall:", "overall:±", "overall:±pp", "overall:1.5pp", "overall:+1.5pp"),
    *(
        "overall:-1.5pp",
        "overall:-+1.5pp",
        "overall:±1.5",
        "overall:±1.5%",
        "overall:±0pp",
        "overall:±0.00pp",
    ),
    *("overall:±-1pp", "overall:± 1pp", "overall:±1.pp", "overall:±1e3pp", "overall:±∞pp", ":±1pp"),
    *("two words:±1pp", "a:b:±1pp"),
]


def test_a_width_has_three_spellings() -> None:
    """± is not on every keyboard; blanks around it do not count. Rounds may end with the gate, too."""
    for text, name, half_width in (
        ("overall:±1.5pp", "overall", 1.5),
        ("overall:+-1.5pp", "overall", 1.5),
        ("overall:+/-1.5pp", "overall", 1.5),
        ("area.x:±.25pp", "area.x", 0.25),
        ("gate", "gate", None),
    ):
        assert parse_until(text) == Until(text=text, name=name, half_width=half_width)
        assert parse_until(f" {text}\n").half_width == half_width
    for text in NO_WIDTHS:
        assert complaint(parse_until, text) == NO_WIDTH, text


def outcome(parse: Callable[[str], Rule | Until], text: str) -> Rule | Until | str:
    """What the text is read as, or why it is refused."""
    try:
        return parse(text)
    except ValueError as error:
        return str(error)


@fuzzed
@given(near_misses)
def test_any_text_is_a_rule_or_refused_in_one_line(text: str) -> None:
    """Nothing but a rule or a ValueError, whose message is one of the lines above."""
    parsed = outcome(parse_rule, text)
    if isinstance(parsed, Rule):
        assert parsed.amount >= 0
        assert (parsed.sign == 0) is (parsed.name in ("unscored", "verified") or parsed.bounds_own_figure)
        assert (parsed.unit == "points") is (parsed.name == "question")
    else:
        own = {NO_OWN_SCOPE.format(name) for name in ("question", "unscored")}
        lines = {NO_RULE, NO_QUESTION, NO_SIGN, NO_UNIT, NO_OWN_FIGURE, NO_SHARE, NO_SCOPE}
        assert parsed in lines | own


def test_a_required_rule_takes_the_place_of_the_same_advisory_one() -> None:
    """Whichever of the two comes first; those of another suite do not apply."""
    required = replace(parse_rule("overall:-2pp"), suite="x")
    advisory, other = replace(required, suite="", required=False), replace(required, suite="y")
    assert rules_for("x", [advisory, required, other]) == (required,)
    assert rules_for("x", [required, advisory, other]) == (required,)
    assert rules_for("z", [required, advisory, other]) == (advisory,)
