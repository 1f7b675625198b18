"""Result files: their names, how they are written, and that nothing older is lost."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import pytest

from equipoise.core.errors import UserError
from equipoise.results.store import Files, Lock, file_name, files, journal_of, lock, write_json

STAMP = "20260102T030405Z"
PLAIN = ["gpt-4.1", "mistral-large-2512", "GPT_4o", "local", "x" * 100]
ALMOST_DEVICES = ["console", "com0", "com10", "lpt", "auxiliary-7b", "nul-1", "a.con"]
DEVICES = ["CON", "nul", "aux.txt", "Prn", "COM1", "lpt9.x.y", "com5.", "nul.香", "AUX.gguf/x", ".con"]
PATHS = ["../x", "..", ".", "/abs", "a/b", "a\\b", ".hidden", "local:/models/x.gguf"]
LONG = ["x" * 300, "香" * 300]
CHARACTERS = ["a\0b", "a\nb\n", "模型-é", "a b:c*?\"<>|'$`", "\udc80"]
ODD = [*PATHS, *LONG, *CHARACTERS, *DEVICES]


# Names.


def test_any_name_becomes_one_short_plain_component(tmp_path: Path) -> None:
    """A plain one is kept; no other is hidden, leads out of the folder or is refused by the file system."""
    names = [*PLAIN, *ALMOST_DEVICES]
    assert [file_name(model) for model in names] == names
    assert file_name("openai/gpt-x") == "openai_gpt-x-61cc9c80"
    plain = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,119}")
    assert [model for model in ODD if not plain.fullmatch(file_name(model))] == []
    for model in ODD:
        paths = files(tmp_path, None, model, "attribution")
        assert paths.results.resolve().parent == paths.journal.resolve().parent == tmp_path.resolve(), model
        write_json(paths.results, {"model": model})
    assert len([*tmp_path.iterdir()]) == len(ODD)


def test_no_file_is_shared_by_two_models_or_has_the_name_of_a_device(tmp_path: Path) -> None:
    """Also where one model has the other's new name; Windows keeps names, whatever follows a dot."""
    alike = ["a/b", "a_b", "a:b", "a//b", ".x", "x", "香", "港", "x" * 301, "x" * 101, "\udc81", "con"]
    names = {*PLAIN, *ODD, *alike}
    names |= {file_name(model) for model in ("a/b", "aux.txt")}
    assert len({file_name(model) for model in names}) == len(names)
    device = re.compile(r"con|prn|aux|nul|com[1-9]|lpt[1-9]", re.IGNORECASE)
    for model in DEVICES:
        assert re.search(r"-[0-9a-f]{8}$", file_name(model)), model
        for name in (file_name(model), files(tmp_path, None, model, "s").journal.name):
            assert not device.fullmatch(name.split(".")[0]), model


def test_files_are_named_by_model_and_suite_or_by_the_output(tmp_path: Path) -> None:
    """Results and journal lie side by side; whatever an output is called, its journal is no other file."""
    assert files(tmp_path, None, "gpt-4.1", "attribution") == Files(
        results=tmp_path / "gpt-4.1.attribution.json", journal=tmp_path / "gpt-4.1.attribution.jsonl"
    )
    named = files(Path("elsewhere"), tmp_path / "mine.json", "gpt-x", "attribution")
    assert named == Files(results=tmp_path / "mine.json", journal=tmp_path / "mine.jsonl")
    names = ["x.json", "y.json", "x.txt", "x.jsonl", "gpt-4.1", "gpt-4.2"]
    pairs = [files(tmp_path, tmp_path / name, "gpt-x", "attribution") for name in names]
    assert [item.results.name for item in pairs] == names
    assert [item.results for item in pairs if item.journal == item.results] == []
    assert len({item.journal for item in pairs}) == len(names)


# Writing.


@pytest.mark.parametrize("name", ["m.json", "m.jsonl"])
def test_a_link_to_itself_is_refused(tmp_path: Path, name: str) -> None:
    """In place of the results, and in place of their journal."""
    (tmp_path / name).symlink_to(name)
    with pytest.raises(UserError, match="cannot be written to"):
        Files(results=tmp_path / "m.json", journal=tmp_path / "m.jsonl").check()


def test_json_is_written_readably_and_whole(tmp_path: Path) -> None:
    """UTF-8, two blanks of indent, a newline at the end, and nothing of what was there; folders are made."""
    path = tmp_path / "new" / "deep" / "x.json"
    write_json(path, {"long": "x" * 1000})
    write_json(path, {"b": "香港", "a": [1, None]})
    expected = '{\n  "b": "香港",\n  "a": [\n    1,\n    null\n  ]\n}\n'
    assert {item.name: item.read_bytes() for item in path.parent.iterdir()} == {"x.json": expected.encode()}


# The archive.


def earlier(folder: Path, content: str, name: str = "m.attribution") -> Files:
    """The two files of an earlier session."""
    paths = files(folder, folder / f"{name}.json", "m", "attribution")
    paths.results.write_text(content)
    paths.journal.write_text(f"journal of {content}")
    return paths


def archived(folder: Path) -> dict[str, str]:
    """Name and content of everything in the archive."""
    return {path.name: path.read_text() for path in (folder / "archive").iterdir()}


def test_the_archive_never_overwrites(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Sessions archived under one stamp all stay, whatever their name."""
    for number, name in enumerate(("m.attribution", "res[1]", "what?", "a*")):
        with subtests.test(name=name):
            folder = tmp_path / str(number)
            folder.mkdir()
            for content in ("one", "two", "three"):
                earlier(folder, content, name).archive(STAMP)
            every = [*("one", "two", "three"), *("journal of one", "journal of two", "journal of three")]
            assert sorted(archived(folder).values()) == sorted(every)


def test_results_and_journal_in_the_archive_have_the_same_name(tmp_path: Path) -> None:
    """That of the stamp; a journal is never put beside the results of another session."""
    early = earlier(tmp_path, "early", "early")
    early.results.unlink()
    early.archive(STAMP)
    assert archived(tmp_path) == {f"early.{STAMP}.jsonl": "journal of early"}
    first = earlier(tmp_path, "one")
    first.journal.unlink()
    assert first.archive(STAMP) == tmp_path / "archive" / f"m.attribution.{STAMP}.json"
    second = earlier(tmp_path, "two")
    moved = second.archive(STAMP)
    assert moved.with_suffix(".jsonl").read_text() == f"journal of {moved.read_text()}"
    assert (second.results.exists(), second.journal.exists()) == (False, False)


# Writing what is made only then.


def test_permissions_are_those_of_the_user_or_of_the_file_before(tmp_path: Path) -> None:
    """What the umask leaves, or what results had; the temporary file has them before it has any content."""
    for mask in (0o022, 0o077):
        path = tmp_path / oct(mask)
        before = os.umask(mask)
        try:
            write_json(path, {})
        finally:
            os.umask(before)
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    path = tmp_path / "x.json"
    write_json(path, {"old": True})
    for mode in (0o600, 0o640, 0o400, 0o666):
        path.chmod(mode)
        write_json(path, {"new": mode})
        assert (stat.S_IMODE(path.stat().st_mode), json.loads(path.read_text())) == (mode, {"new": mode})
    path = tmp_path / "x.json"
    write_json(path, {})
    path.chmod(0o600)
    modes: list[int] = []

    def look() -> str:
        (temporary,) = tmp_path.glob(".x.json.*")
        modes.append(stat.S_IMODE(temporary.stat().st_mode))
        return "secret"

    write_json(path, {"a": look})
    assert modes == [0o600]


# Whether results can be written at all.


def test_what_stands_in_the_place_of_results_is_kept(tmp_path: Path) -> None:
    """A missing folder is made, earlier results may be there; a file in its place, or notes, are refused."""
    files(tmp_path, tmp_path / "new" / "x.json", "m", "s").check()
    assert list((tmp_path / "new").iterdir()) == []
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="file: cannot be written to"):
        files(tmp_path, tmp_path / "file" / "x.json", "m", "s").check()
    paths = files(tmp_path, tmp_path / "x.json", "m", "s")
    write_json(paths.results, {"metadata": {}})
    paths.check()
    paths.journal.write_text("")
    paths.check()
    paths.journal.write_text("my notes\n")
    with pytest.raises(
        UserError, match=r"x\.jsonl: not an Equipoise journal; name another with --output=FILE"
    ):
        paths.check()


def test_what_is_no_results_is_not_overwritten(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Whoever gives the name of another file, or a folder, by mistake is told, and it stays."""
    output = tmp_path / "notes.json"
    expected = r"notes\.json: not a results file; name another with --output=FILE"
    for content in ("", "my notes\n", '{"a": 1}\n', "\n" * 300 + '{"metadata"'):
        with subtests.test(content=content):
            output.write_text(content)
            with pytest.raises(UserError, match=expected):
                files(tmp_path, output, "m", "s").check()
            assert output.read_text() == content
    output.unlink()
    output.mkdir()
    with pytest.raises(UserError, match=expected):
        files(tmp_path, output, "m", "s").check()


# One session at a time.


def test_a_lock_is_let_go_of(tmp_path: Path) -> None:
    """After its release another may be had; what it leaves behind is hidden. Other files are not locked."""
    paths = files(tmp_path, tmp_path / "x.json", "m", "s")
    first = Lock(paths)
    with pytest.raises(UserError, match=f"process {os.getpid()} "):
        Lock(paths)
    other = Lock(files(tmp_path, tmp_path / "y.json", "m", "s"))
    first.release()
    Lock(paths).release()
    other.release()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".x.jsonl.lock", ".y.jsonl.lock"]


# Names of one file.


def test_names_of_one_file_have_one_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A symbolic link, a linked folder, a relative path, and a hard link to the journal."""
    monkeypatch.chdir(tmp_path)
    Path("real").mkdir()
    Path("folder").symlink_to("real")
    Path("link.json").symlink_to("real/m.json")
    Path("real/m.jsonl").touch()
    os.link("real/m.jsonl", "real/hard.jsonl")
    held = lock(files(Path(), Path("link.json"), "", ""))
    for name in ("link.json", "real/m.json", "folder/m.json", f"{tmp_path}/folder/m.json", "real/hard.json"):
        with pytest.raises(UserError, match=r"process .*is using it"):
            lock(files(Path(), Path(name), "", ""))
    held.release()
    lock(files(Path(), Path("real/hard.json"), "", "")).release()


def test_the_journal_is_beside_the_file_that_a_link_names(tmp_path: Path) -> None:
    """Results that are only read may have it beside the link."""
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "real" / "m.json")
    real = tmp_path / "real" / "m.jsonl"
    assert files(tmp_path, link, "", "").journal == journal_of(link) == real
    named = link.with_suffix(".jsonl")
    named.touch()
    assert (files(tmp_path, link, "", "").journal, journal_of(link)) == (real, named)
