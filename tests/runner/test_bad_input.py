"""What a session checks before it begins: each refusal is one line, asks nothing and leaves nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from builders import SUITE
from fake_client import FakeClient, Project

from conftest import resolved
from equipoise.audit.session import SessionAudits
from equipoise.core.errors import UserError
from equipoise.runner.session import Session


def content_of(folder: Path) -> dict[Path, bytes]:
    """Everything in the folder."""
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a small dataset, as the folder that a user is in."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return rebuilt(tmp_path / "project")


def rebuilt(root: Path) -> Path:
    """The project as it was."""
    for path in root.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    Project(root, FakeClient())
    return root


def checked(root: Path, **options: object) -> str:
    """Why no session begins with these options; nothing was left and nothing changed."""
    before = content_of(root)
    settings = {"model": "subject", "evaluator_model": ["judge"], **options}
    with pytest.raises(UserError) as caught:
        Session(resolved(settings), root, SessionAudits(root)).check([SUITE])
    assert content_of(root) == before
    line = str(caught.value)
    assert "\n" not in line
    return line


def test_options_that_fit_nothing_are_refused(root: Path, subtests: pytest.Subtests) -> None:
    """A language or topics that there are not, and a model without a file."""
    for options, problem in (
        ({"language": ["xx"]}, "--language: no 'xx' in topics; there are aa, bb"),
        ({"language": ["AA"]}, "--language: no 'AA' in topics; there are aa, bb"),
        ({"topics": "nowhere"}, "nowhere"),
        ({"topics": "a\nb"}, r"a\nb"),
        ({"model": "local:none.gguf"}, "no such file 'none.gguf'"),
        ({"evaluator_model": ["local:none.gguf"]}, "no such file 'none.gguf'"),
    ):
        with subtests.test(repr(options)):
            dataset = f"{root / 'topics' / SUITE}"
            assert problem in checked(root, **options).replace(dataset, "topics")


def test_a_proxy_that_is_not_supported_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line names the variable, before a key is sent to it in the clear."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    problem = "ALL_PROXY: 'socks5://127.0.0.1:9' is not the URL of an HTTP proxy"
    assert problem in checked(root, api_base_url="http://x/v1")


def test_an_output_that_is_taken_or_cannot_be_written_is_refused(
    root: Path, subtests: pytest.Subtests
) -> None:
    """By other people's files, folders or a name that no disk takes; what is there stays as it is."""
    taken = {
        "mine.json": ("my notes\n", "", '{"mine": 1}\n'),
        "mine.jsonl": ("my notes\n", '{"mine": 1}\n', '{"kind": "session"}\n'),
    }
    for name, contents in taken.items():
        for content in contents:
            with subtests.test(f"{name}: {content!r}"):
                (rebuilt(root) / name).write_text(content)
                assert name in checked(root, output="mine.json")
        with subtests.test(f"{name} is a folder"):
            (rebuilt(root) / name).mkdir()
            assert name in checked(root, output="mine.json")
    rebuilt(root)
    for output in ("/proc/mine.json", f"{'x' * 300}.json", f"{'x' * 245}.json", f"{'x' * 300}/mine.json"):
        with subtests.test(output[:20]):
            assert "cannot be written" in checked(root, output=output)
    with subtests.test("the folder of results is a file"):
        (root / "results").write_text("my notes")
        assert "results: cannot be written to" in checked(root)
