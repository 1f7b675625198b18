"""A file of options, `--config FILE`: what it may hold, and what comes before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import resolved
from equipoise.core.errors import UserError

FILE = """\
model = "gpt-x"
evaluator-model = ["a", "b"]
runs = 4
subject_temperature = 0.5
keep-going = false
seed = 3
"""


@pytest.fixture
def config(folder: Path) -> Path:
    """A file in the current folder."""
    (folder / "c.toml").write_text(FILE)
    return folder / "c.toml"


def test_precedence(config: Path) -> None:
    """Command line, environment, the file, pytest.ini; in the file hyphens and underscores are alike."""
    settings = resolved(
        {"config": "c.toml", "runs": "1"},
        {"EQUIPOISE_SUBJECT_TEMPERATURE": "0.25"},
        {"model": "gpt-y", "limit": "2", "keep_going": "true", "evaluator_model": "c"},
    )
    assert (settings.runs, settings.subject.temperature, settings.evaluator_models) == (1, 0.25, ("a", "b"))
    assert (settings.model, settings.limit, settings.keep_going) == ("gpt-x", 2, False)
    assert (settings.suite_options["seed"], settings.config) == (3, config)
    assert resolved(environment={"EQUIPOISE_CONFIG": "c.toml"}).runs == 4
    assert resolved(ini={"config": "c.toml"}).runs == 4
    with pytest.raises(UserError, match=r"EQUIPOISE_CONFIG: 'd.toml' is not an existing file"):
        resolved(environment={"EQUIPOISE_CONFIG": "d.toml"})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("runs = 0", "c.toml: runs: '0' is not a whole number from 1 up"),
        ("modle = 'x'", "c.toml: there is no option 'modle' here; did you mean model?"),
        ("zzz = 1", "c.toml: there is no option 'zzz' here; equipoise run SUITE --help lists them"),
        ("keep-going = 1", "c.toml: keep-going: must be true or false"),
        ("model = ['x']", "c.toml: model: must be one text or number"),
        ("[model]", "c.toml: model: must be one text or number"),
        ("config = 'd.toml'", "c.toml: config: a file does not name another"),
        ("api-key = 'sk-1'", "c.toml: api-key: a key does not belong in a file that is shared: "),
        ("runs = ", "c.toml: is not TOML: Invalid value (at line 1, column 8)"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(config: Path, line: str, message: str) -> None:
    """In one line with file and key, or line; no key is repeated."""
    config.write_text(line + "\n")
    with pytest.raises(UserError) as caught:
        resolved({"config": "c.toml"})
    assert str(caught.value).startswith(message)
    assert "sk-1" not in str(caught.value)
