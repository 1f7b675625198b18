"""The file .env in the working directory: which of its variables are set, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import refusal, resolved
from equipoise.core import env_file
from equipoise.core.errors import UserError

FILE = """\
# Keys

export OPENAI_API_KEY="sk-of-the-file"
EQUIPOISE_MODEL=gpt-old
EQUIPOISE_MODEL = gpt-x
EQUIPOISE_RUNS=3
MISTRAL_API_KEY='$HOME'
EQUIPOISE_LIMIT
PATH=/elsewhere
"""


def test_the_environment_comes_before_the_file(tmp_path: Path) -> None:
    """What it has stays, also where it is empty; of a name that the file repeats the last value counts."""
    (tmp_path / ".env").write_text(FILE)
    environment = {"PATH": "/usr/bin", "EQUIPOISE_RUNS": ""}
    variables = env_file.load(tmp_path, environment)
    assert environment == {
        "PATH": "/usr/bin",
        "EQUIPOISE_RUNS": "",
        "OPENAI_API_KEY": "sk-of-the-file",
        "EQUIPOISE_MODEL": "gpt-x",
        "MISTRAL_API_KEY": "$HOME",
    }
    assert variables.about == (
        ".env: OPENAI_API_KEY, EQUIPOISE_MODEL, MISTRAL_API_KEY; set in the environment: EQUIPOISE_RUNS"
    )
    assert "sk-of-the-file" not in repr(variables)
    variables.unset(environment)
    assert environment == {"PATH": "/usr/bin", "EQUIPOISE_RUNS": ""}


def test_without_a_file_nothing_is_said(tmp_path: Path) -> None:
    """Nor of a folder of that name, which virtual environments have had."""
    assert env_file.load(tmp_path, {}).about == ""
    (tmp_path / ".env").mkdir()
    assert env_file.load(tmp_path, {}).about == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\n\nEQUIPOISE_MODEL='a\n", ".env:3: is not NAME=VALUE"),
        (b"EQUIPOISE_MODEL=\xff\n", ".env:1: not UTF-8"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    """Before anything is set."""
    (tmp_path / ".env").write_bytes(content)
    environment: dict[str, str] = {}
    assert message in refusal(env_file.load, tmp_path, environment)
    assert environment == {}


@pytest.mark.parametrize("name", ["EQUIPOISE_RUNS", "OPENAI_BASE_URL", "OPENAI_API_KEY"])
def test_a_value_that_is_refused_has_its_line(tmp_path: Path, name: str) -> None:
    """And is not repeated where it may be a key."""
    (tmp_path / ".env").write_text(f"# one\n{name}=é\n", encoding="utf-8")
    environment: dict[str, str] = {}
    origins = env_file.load(tmp_path, environment).origins
    with pytest.raises(UserError) as caught:
        resolved(environment=environment, origins=origins)
    assert str(caught.value).startswith(f".env:2: {name}: ")
    assert ("é" in str(caught.value)) == (name != "OPENAI_API_KEY")
