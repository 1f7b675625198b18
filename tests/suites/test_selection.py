"""The hash of a suite's data: of what is read, wherever it lies, and of nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipoise.suites.selection import data_hash

INDEX = "line,id,area,slug,keywords\n1,q01,rivers,source,\n"


def put(folder: Path, **files: str) -> Path:
    """Write files named by keyword: `a_txt` is a.txt."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_bytes(content.encode())
    return folder


def test_the_hash_of_a_folder_is_that_of_its_data(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Names and contents count; pages, rules, cues, facts and other datasets do not."""
    before = data_hash(put(tmp_path / "before", en_txt="a\n"))
    same = put(tmp_path / "same", en_txt="a\n", README_md="about", original_toml="[files]\n")
    put(same / "original", zz_txt="b\n")
    put(same / "scripted", zz_txt="b\n")
    assert data_hash(same) == before
    for name in ("askers.csv", "asker_names.csv", "facts.toml"):
        (same / name).write_text("d\n")
        assert data_hash(same) == before
    put(same / "open", zz_txt="c\n")
    put(same, wording_toml="[avoid]\n")
    assert data_hash(same, ("own", "open")) == before
    assert data_hash(same) != before
    others = {
        "other content": {"en_txt": "a \n"},
        "other name": {"de_txt": "a\n"},
        "one more file": {"en_txt": "a\n", "pt_txt": "b\n"},
        "with an index": {"en_txt": "a\n", "index_csv": INDEX},
        "other line ending": {"en_txt": "a\r\n"},
        "a name that is not UTF-8": {"en_txt": "a\n", "\udcff_txt": "b\n"},
    }
    for name, files in others.items():
        with subtests.test(name):
            assert data_hash(put(tmp_path / name, **files)) != before


def test_the_hash_of_one_file_is_of_it_and_its_index(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Any suffix will do; of its neighbours only the index counts, as it decides ids and areas."""
    for name in ("en.txt", "en", "en.md"):
        with subtests.test(name):
            path = tmp_path / name
            path.write_text("a\n")
            before = data_hash(path)
            (tmp_path / "pt.txt").write_text(f"b {name}\n")
            assert data_hash(path) == before
            path.write_text("b\n")
            assert data_hash(path) != before
    before = data_hash(tmp_path / "en.txt")
    put(tmp_path, index_csv=INDEX)
    with_index = data_hash(tmp_path / "en.txt")
    put(tmp_path, index_csv=INDEX.replace("rivers", "streams"))
    assert len({before, with_index, data_hash(tmp_path / "en.txt")}) == 3
