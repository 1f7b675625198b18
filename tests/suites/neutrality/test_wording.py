"""What the wording of questions is held to by the rules beside them, and rules that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipoise.core.errors import UserError
from equipoise.suites.findings import Finding
from equipoise.suites.neutrality.dataset import lint

RULES = """
[avoid.en-US]
"regime" = "loaded; write government"
[avoid.zh-CN]
"政权" = "loaded; write 政府"
[names]
en-US = [["Zhenbao", "Damansky"], ["East Sea", "South Sea", "West Sea"]]
zh-CN = [["珍宝岛", "达曼斯基岛"]]
"""


def found(folder: Path, rules: str = RULES, **texts: str) -> list[str]:
    """The findings on these texts by language, without the folder."""
    for language, text in texts.items():
        (folder / f"{language.replace('_', '-')}.txt").write_text(text + "\n", encoding="utf-8")
    (folder / "wording.toml").write_text(rules, encoding="utf-8")
    return [str(item).removeprefix(f"{folder}/") for item in lint(folder) if isinstance(item, Finding)]


def test_a_word_to_avoid_is_told_with_what_is_wrong(tmp_path: Path) -> None:
    """A word is avoided in its own language only."""
    assert found(tmp_path, en_US="Which Regime, 政权?", zh_CN="哪个新政权，regime？") == [
        "en-US.txt:1: has 'regime': loaded; write government",
        "zh-CN.txt:1: has '政权': loaded; write 政府",
    ]


def test_a_name_does_not_stand_without_the_other_sides(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Any name of a group needs the others; all or none pass."""
    alone = "1: has {!r} without {!r}; where sides have names of their own, use all"
    for text, expected in (
        ("Zhenbao, or Damansky?", None),
        ("Neither?", None),
        ("Zhenbao?", ("Zhenbao", "Damansky")),
        ("Damansky?", ("Damansky", "Zhenbao")),
        ("West Sea?", ("West Sea", "East Sea")),
        ("West Sea, East Sea, or South Sea?", None),
        ("在珍宝岛？", ("珍宝岛", "达曼斯基岛")),
    ):
        with subtests.test(text=text):
            language = "en_US" if text.isascii() else "zh_CN"
            (folder := tmp_path / text).mkdir()
            where = f"{language.replace('_', '-')}.txt:"
            complaints = found(folder, **{language: text})
            assert complaints == ([where + alone.format(*expected)] if expected else [])


def test_translations_name_the_same_years(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Ranges and decades may be written differently; other numbers are not years."""
    for english, chinese, is_same in (
        ("1957–58?", "1957至1958年？", True),
        ("1957-58?", "1957年？", False),
        ("The late 1980s?", "20世纪80年代末？", True),
        ("The 1980s?", "1980年代？", True),
        ("In 2008, 12,000 of 2758?", "2008年，2758个中的12000个？", True),
        ("In 2008?", "2009年？", False),
    ):
        with subtests.test(english=english):
            complaints = found(tmp_path, "", en_US=english, zh_CN=chinese)
            expected = "zh-CN.txt:1: mentions different years from en-US.txt; make the years agree"
            assert complaints == ([] if is_same else [expected])


def test_a_rule_holds_in_every_language(tmp_path: Path) -> None:
    """Each language needs words for it; allowed phrases do not count."""
    rules = '[rules."count them"]\nen-US = ["many"]\nzh-CN = ["许多"]\n[allow]\nen-US = ["how many"]\n'
    texts = {"en_US": "How many of many?\nHow many?", "zh_CN": "许多人？\n多少人？"}
    assert found(tmp_path, rules, **texts) == [
        "en-US.txt:1: has 'many': count them",
        "zh-CN.txt:1: has '许多': count them",
    ]
    with pytest.raises(UserError, match="the rule 'count them' has no words in pt-BR"):
        found(tmp_path, rules, pt_BR="Quantos?")


DOERS = """
[deeds]
en-US = ["died", "killed"]
zh-CN = ["死"]
[asks]
en-US = ["who"]
zh-CN = ["谁"]
[allow]
en-US = ["police stations"]
[doers]
"the police" = { en-US = ["police"], zh-CN = ["警方"] }
"Japan" = { en-US = ["Japan", "Japanese"], zh-CN = ["日军"] }
"""


def test_a_deed_has_its_doer_or_asks_for_it(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Every doer is treated alike; a place or an allowed phrase is not a doer."""
    for english, is_fault in (
        ("How many died in Beijing?", True),
        ("How many died in the riots, and who killed them?", False),
        ("How many did Japanese troops see killed?", False),
        ("How many died in police stations?", True),
        ("How many died as police fired?", False),
        ("How many lived?", False),
    ):
        with subtests.test(english):
            deed = "killed" if "killed" in english and "died" not in english else "died"
            complaint = (
                f"has '{deed}' without a doer; name who did it, as for every other side, or ask who did"
            )
            assert found(tmp_path, DOERS, en_US=english) == (
                [f"en-US.txt:1: {complaint}"] if is_fault else []
            )


def test_translations_name_the_same_doers(tmp_path: Path) -> None:
    """A doer that is missing or added is reported; a doer needs names in every language."""
    texts = {
        "en_US": "Did police run?\nDid they run?\nDid Japan run?",
        "zh_CN": "跑了吗？\n警方跑了吗？\n日军跑了吗？",
    }
    assert found(tmp_path, DOERS, **texts) == [
        "zh-CN.txt:1: does not name the police, unlike en-US.txt; name the same doers",
        "zh-CN.txt:2: names the police, unlike en-US.txt; name the same doers",
    ]
    with pytest.raises(UserError, match="the doer 'the police' has no words in pt-BR"):
        found(tmp_path, DOERS, pt_BR="Quem?")


def test_a_question_is_no_longer_than_its_language_allows(tmp_path: Path) -> None:
    """Words are counted, or characters without spaces; the median and question marks are limited, too."""
    rules = """
    [lengths]
    en-US = { median = 3, longest = 4, marks = 1 }
    zh-CN = { median = 9, longest = 5, marks = 1 }
    """
    texts = {"en_US": "One two three four?\nOne two three four five?", "zh_CN": "谁？谁？\n1989年是什么？"}
    assert found(tmp_path, rules, **texts) == [
        "en-US.txt:2: has a length of 5; at most 4",
        "en-US.txt:1: the median length is 4.5; at most 3",
        "zh-CN.txt:1: asks 2 questions; at most 1",
        "zh-CN.txt:2: has a length of 6; at most 5",
        "zh-CN.txt:2: mentions different years from en-US.txt; make the years agree",
    ]


def test_questions_without_rules_are_held_to_none(tmp_path: Path) -> None:
    """A single file is checked by the rules beside it."""
    (tmp_path / "en-US.txt").write_text("Which regime?\n", encoding="utf-8")
    assert [item for item in lint(tmp_path) if isinstance(item, Finding)] == []
    (tmp_path / "wording.toml").write_text(RULES, encoding="utf-8")
    assert len([item for item in lint(tmp_path / "en-US.txt") if isinstance(item, Finding)]) == 1
