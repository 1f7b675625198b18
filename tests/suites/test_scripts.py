"""The script of Chinese texts: the other one is told, whatever both scripts have or names keep is not."""

from __future__ import annotations

import pytest

from equipoise.suites.scripts import script_faults


@pytest.mark.parametrize(
    ("language", "text", "others"),
    [
        ("zh-CN", "網球運動員後來怎麼說？", "網運動員來"),
        ("zh-CN", "网球运动员后来怎么說？", ""),
        ("zh-CN", "歌手陶喆和朱镕基都说过。", ""),
        ("zh-CN", "中國", "國"),
        ("zh-TW", "中国", "国"),
        ("zh-Hant-HK", "這個国隊", ""),
        ("zh_TW", "这个国队", "这个国队"),
        ("zh", "中國和中国", ""),
        ("ja", "中国と台灣", ""),
        ("zh-CN", "Café é 台北", ""),
    ],
)
def test_only_the_other_script_is_a_fault(language: str, text: str, others: str) -> None:
    """Two characters are, or one in a text without its own; other languages have no script."""
    script = "traditional" if language == "zh-CN" else "simplified"
    what = f"has {others!r} of {script} Chinese; write it in the script of {language}"
    assert [*script_faults(language, text)] == [what] * bool(others)
