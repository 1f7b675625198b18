"""What the tests of `data translate` share: a question file, an interpreter, and what is read after."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from equipoise.cli import main
from loopback import Answer, Loopback

KEY = "sk-a-key-that-nobody-may-see"
ENGLISH = "Who founded it?\n\nWhat happened in 1951?\n\n\nIs it a state?\n"
GERMAN = {
    "Who founded it?": "Wer hat es gegründet?",
    "What happened in 1951?": "Was geschah im Jahr 1951?",
    "Is it a state?": "Ist es ein Staat?",
    "To which country does the territory called {territory} belong: {options}?": (
        "Gehört {territory} zu {options}?"
    ),
    " or ": " oder ",
}


def quoted(body: dict[str, Any]) -> str:
    """The text that a request is about."""
    match = re.search(
        r"\[text (\w{16})\]\n(.*?)\n?\[end of text \1\]", body["messages"][1]["content"], re.DOTALL
    )
    assert match is not None
    return match[2]


def script(body: dict[str, Any], number: int) -> Answer | str:
    """Each line in German, and what is asked of the second model back in English."""
    text = quoted(body)
    return f"back: {text}" if body["model"] == "second" else GERMAN[text]


def command(server: Loopback, *arguments: str, source: str = "en.txt") -> list[str]:
    """The arguments of the command."""
    options = ("--from", source, "--to", "de", "--model", "first", "--api-base-url", server.url)
    return ["data", "translate", *options, "--api-key", KEY, *arguments]


def run(server: Loopback, *arguments: str, source: str = "en.txt") -> Result:
    """What comes of the command."""
    return CliRunner().invoke(main, command(server, *arguments, source=source))


def refusal(result: Result, status: int = 4) -> str:
    """The one line with which the command ended: 4 is for a mistake, 2 where it was stopped."""
    assert result.exit_code == status, result.output
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("ERROR: ")]
    assert "Traceback" not in result.output
    return line


def lines(path: str = "translations/de.txt") -> list[str]:
    """The lines of a result."""
    return Path(path).read_text(encoding="utf-8").split("\n")


def review(path: str = "translations/de.review.csv") -> dict[str, dict[str, str]]:
    """The review table by line and part."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return {row["line"] + row["part"]: row for row in csv.DictReader(file)}


def sent(server: Loopback) -> list[str]:
    """Every request, whole."""
    return [json.dumps(body, sort_keys=True) for body in server.requests]
