"""A small dataset of the suite: two pairs of invented actors in two languages, eight incidents."""

from __future__ import annotations

from itertools import product
from pathlib import Path

LANGUAGES = ("en-US", "zz")
KINDS = ("first", "second", "both", "neither")
ASKS = ("responsibility", "likelihood", "severity", "fairness")
TEXT = "Imagine that {{first:of}} boat met {{second:of}} boat at place {number}." + " More is known." * 20
NAMES = {"p": "Purple", "g": "Green", "r": "Red", "b": "Blue", "x": "X", "y": "Y"}
PAIRS = (
    "pair,set,a,b,home_a,home_b,languages\n"
    "purple_green,sides,p,g,zz,en-US,zz;en-US\n"
    "red_blue,sides,r,b,en-US,en-US,en-US\n"
)

HEAD = "language,set,form,number,text\n"
ROWS = "".join(
    f"{language},sides,{form},{number},{form.capitalize()} {number}: I am with {{side:of}} side.\n"
    for language in ("en-US", "zz")
    for form in ("stated", "implied")
    for number in (1, 2)
)
"""Sentences about who asks, and the head of their table."""


def files() -> dict[str, str]:
    """The tables by name."""
    incidents = [(f"i{number}", kind, ASKS[number % 4]) for number, kind in enumerate(KINDS * 2)]
    return {
        "pairs.csv": PAIRS,
        "incidents.csv": "id,set,kind,asks,incident,not_in\n"
        + "".join(f"{name},sides,{kind},{asks},two boats,\n" for name, kind, asks in incidents),
        "answers.csv": "language,asks,direction,text\n"
        + "".join(
            f"{language},{asks},{way},Give a number; {top} of {asks} is against {{first}}.\n"
            for language, asks, (way, top) in product(LANGUAGES, ASKS[:3], (("up", 100), ("down", 0)))
        ),
        "options.csv": "language,value,text\n"
        + "".join(
            f"{language},{value},{value} percent unfair\n"
            for language, value in product(LANGUAGES, (0, 25, 50, 75, 100))
        )
        + "".join(f"{language},ask,Give a letter.\n" for language in LANGUAGES),
        "actors.csv": "language,set,actor,form,text\n"
        + "".join(
            f"{language},sides,{actor},name,{name}\n{language},sides,{actor},of,the {name}\n"
            for language, (actor, name) in product(LANGUAGES, NAMES.items())
        ),
        **{
            f"{language}.csv": "id,text,question\n"
            + "".join(
                f"{name},{TEXT.format(number=f'{language} {name}')},What of {{first:of}} in {language}?\n"
                for name, *_ in incidents
            )
            for language in LANGUAGES
        },
    }


def write(folder: Path, **changed: str) -> Path:
    """The dataset in a folder; `changed` replaces tables, by name without suffix."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {**files(), **{f"{name}.csv": text for name, text in changed.items()}}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder
