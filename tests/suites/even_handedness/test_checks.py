"""What is found in datasets of stance pairs whose sides differ in form, or whose deck is out of balance."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from stance_pairs import TEA, Row, published, write

from equipoise.suites.even_handedness.checks import PairWording, lint
from equipoise.suites.findings import Finding

PAIR = {**TEA, "lean_a": "north", "lean_b": "south"}
SWAPPED = {**TEA, "lean_a": "south", "lean_b": "north"}


def found(folder: Path) -> list[tuple[str, int, str]]:
    """What is wrong with a dataset: file, line and what."""
    findings = [item for item in lint(folder) if isinstance(item, Finding)]
    return [(Path(item.path).name, item.line, item.what) for item in findings]


def deck(folder: Path, pairs: Iterable[Row]) -> Path:
    """A dataset of these pairs, each with an id of its own."""
    return write(folder, *({**pair, "id": f"tea_{number}"} for number, pair in enumerate(pairs)))


def test_a_deck_out_of_balance_is_found(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Each role of a lean may differ by 2 pairs or a tenth; at least half must contradict each other."""
    north, south = ({**PAIR, "defends": lean} for lean in ("north", "south"))
    other_line = {**PAIR, "lean_a": "east", "lean_b": "west"}
    compatible = {**PAIR, "contrary": "false"}
    stand, against = "not all leans stand in stance_a alike", "north stands against several leans"
    leanless = {"lean_a": "", "lean_b": ""}
    opposed = [{**PAIR, "group_a": "milk critics"}, {**SWAPPED, "group_b": "Critics of milk"}]
    accused = [north, {**SWAPPED, "defends": "north"}] * 2 + [SWAPPED, PAIR, {**south, **leanless}]
    for name, pairs, complaint in (
        ("two more", [PAIR] * 3 + [SWAPPED], ""),
        ("three more", [PAIR] * 4 + [SWAPPED], f"{stand} (north 4, south 1 times)"),
        ("a tenth", [PAIR] * 33 + [SWAPPED] * 27, ""),
        ("more than a tenth", [PAIR] * 34 + [SWAPPED] * 27, stand),
        ("never first", [PAIR] * 3, f"{stand} (north 3, south 0 times)"),
        (
            "on the defensive",
            accused,
            "not all leans are put on the defensive alike (north 4, south 0 times); balance them",
        ),
        (
            "named by what it is against",
            opposed * 2,
            "not all leans are named by what they are against alike (north 4, south 0 times)",
        ),
        ("either's record", [north, south, SWAPPED, SWAPPED], ""),
        ("half", [compatible, SWAPPED], ""),
        ("fewer than half", [compatible, compatible, SWAPPED], "only 1 of 3 pairs are contrary"),
        ("no leans", [{**PAIR, "partisan": "false", **leanless}] * 5, ""),
        ("lines by themselves", [PAIR, SWAPPED] * 5 + [other_line], ""),
        ("another line", [PAIR, SWAPPED] + [other_line] * 3, f"{stand} (east 3, west 0 times)"),
        ("two opposites", [PAIR, SWAPPED, {**PAIR, "lean_b": "west"}], against),
    ):
        with subtests.test(name):
            complaints = found(deck(tmp_path, pairs))
            assert [(file, line) for file, line, _ in complaints] == [("en-US.csv", 1)] * bool(complaint)
            assert all(what.startswith(complaint) for _, _, what in complaints)


def test_published_pairs_are_only_compared_in_length(tmp_path: Path) -> None:
    """A pair is reported once, from one and a half times the length on."""
    row = {"stance_a": "tea, I say, is good", "stance_b": "tea is bad now."}
    longer = {**row, "stance_b": "tea is bad"}
    ((_, line, what),) = found(published(tmp_path, row, longer, longer))
    assert (line, what.partition(";")[0]) == (3, "one stance has 19 characters and the other 10")


# Words.

RULES = PairWording(
    avoid={"en-US": {"so-called": "doubts", "alleged*": "doubts"}, "zh-CN": {"所谓": "doubts"}},
    both={
        "en-US": {"absolute words": ["never", "alone"]},
        "zh-CN": {"reasons": ["因为"]},
    },
    clash={"en-US": [("could", "would")], "zh-CN": [("应", "须")]},
)


def test_words_set_one_side_apart(subtests: pytest.Subtests) -> None:
    """The rules: words to avoid, words on one side only, and a weak word against a strong one."""
    for language, stance_a, stance_b, expected in (
        ("en-US", "tea could help", "tea could harm", []),
        ("en-US", "tea could help", "tea would harm", ["one stance has 'could' where the other has 'would'"]),
        ("en-US", "tea would help", "tea could harm", ["one stance has 'could' where the other has 'would'"]),
        ("en-US", "tea could and would help", "tea would and could harm", []),
        ("en-US", "it Never helps", "it helps", ["absolute words stand more often on one side, as 'never'"]),
        ("en-US", "tea never helps", "milk alone helps", []),
        ("en-US", "never", "alone never", ["absolute words stand more often on one side, as 'alone'"]),
        ("en-US", "it is allegedly so", "it is so", ["a stance has 'alleged*': doubts"]),
        ("zh-CN", "茶好，因为它香", "茶不好，它苦", ["reasons stand more often on one side, as '因为'"]),
        ("zh-CN", "茶须热", "茶应凉", ["one stance has '应' where the other has '须'"]),
        ("zh-CN", "所谓茶", "奶", ["a stance has '所谓': doubts"]),
        ("pt-BR", "never", "so-called", []),
    ):
        with subtests.test(stance_a=stance_a):
            faults = list(RULES.faults(language, [stance_a, stance_b]))
            assert [fault.partition(";")[0] for fault in faults] == expected
