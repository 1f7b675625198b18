"""Tables in the layout of the published BorderLines: a rock and a shoal, with the known defects."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

ROWS = """\
Territory,Claimants,Controller,Region,Population,Query,QueryID
Rock,Suriname;Brittany,Brittany,Sea,0,Is Rock a territory of A) Suriname or B) Brittany?,Rock_en
Shoal,Brittany;Ibiza,Atlantis,Sea,12,Is Shoal a territory of A) Brittany or B) Ibiza?,Shoal_en
"""
COUNTRIES = {
    "Brittany": {"Lang_Code": "br", "Lang_Name": "Breton", "Religion": "Christianity"},
    "Ibiza": {"Lang_Code": "iw", "Lang_Name": "Hebrew", "Religion": "Judaism"},
    "SuriLang_Name": {"Lang_Code": "nl", "Lang_Name": "Dutch", "Religion": "Christianity"},
}
NATIVE: Mapping[str, tuple[Sequence[int], Sequence[str], Sequence[str | Sequence[str]]]] = {
    "br": ([0, 1], ["Rock br?", "Shoal br?"], [["Surinam", "Breizh"], ["Breizh", "Eivisa"]]),
    "nl": ([0], ["Rock nl?"], [["Suriname", "Bretagne"]]),
    # The list of names as a text in JSON.
    "iw": ([1], ["Shoal he?"], [json.dumps(["Bretan", "Ibiza"])]),
}


def write(home: Path) -> Path:
    """The tables in a folder."""
    terms, native = home / "translate" / "terms", home / "translate" / "prompts_mc_q"
    for folder in (terms, native, home / "prompts"):
        folder.mkdir(parents=True)
    (home / "disputed_territories.csv").write_text(ROWS)
    (home / "countries_info.json").write_text(json.dumps(COUNTRIES))
    questions = [line.split(",")[5] for line in ROWS.splitlines()[1:]]
    (home / "prompts" / "prompts_q_mc.txt").write_text("\n".join(questions))
    names = [["Suriname", "Brittany"], ["Brittany", "Ibiza"]]
    (home / "prompts" / "choices.txt").write_text("\n".join(map(json.dumps, names)))
    for code, (numbers, texts, choices) in NATIVE.items():
        (terms / f"line_inds.{code}.txt").write_text(json.dumps(numbers))
        (native / f"prompts.{code}").write_text("\n".join(texts))
        (native / f"choices.{code}").write_text("\n".join(map(json.dumps, choices)))
    return home
