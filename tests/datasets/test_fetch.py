"""Fetching published data, from a loopback server in place of the site."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conftest import ROOT, refusal
from equipoise import suites
from equipoise.cli import main
from equipoise.core.errors import UserError
from equipoise.datasets import fetch as fetching
from equipoise.datasets.fetch import fetch
from equipoise.suites import resources
from equipoise.suites.resources import ORIGINAL, originals

CONTENT = b"a,b\n1,2\n"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Site:
    """A site that serves these contents by path, and remembers what was asked for.

    It falls silent `silent_after` this share of a file, until it `may_go_on`.
    """

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.missing = 0
        self.silent_after: float | None = None
        self.may_go_on = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                content = site.contents.get(self.path)
                if site.silent_after == 0:
                    site.may_go_on.wait(60)
                self.send_response(404 if content is None else 200)
                if content is not None:
                    self.send_header("Content-Length", str(len(content)))
                with contextlib.suppress(OSError):
                    self.end_headers()
                sent = (content or b"")[site.missing :]
                half = int(len(sent) * (site.silent_after or 0))
                self.wfile.write(sent[:half])
                self.wfile.flush()
                if half:
                    site.may_go_on.wait(60)
                with contextlib.suppress(OSError):
                    self.wfile.write(sent[half:])

            def log_message(self, *arguments: object) -> None:
                """Nothing is shown."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def site() -> Iterator[Site]:
    """A site on loopback, until the end of the test."""
    loopback_site = Site()
    thread = threading.Thread(target=loopback_site.server.serve_forever)
    thread.start()
    yield loopback_site
    loopback_site.may_go_on.set()
    loopback_site.server.shutdown()
    thread.join()
    loopback_site.server.server_close()


PINS = f"""
repository = "who/what"
commit = "{"c" * 40}"
licence = "MIT"
[files]
"data.csv" = "{DIGEST}"
"parts/more.csv" = "{DIGEST}"
[paths]
"data.csv" = "sub/data.csv"
"""
PATH = f"/who/what/raw/{'c' * 40}/sub/data.csv"
MORE = f"/who/what/raw/{'c' * 40}/parts/more.csv"


@pytest.fixture
def topics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one benchmark of two files, and the folder of its topics."""
    folder = tmp_path / "project" / "topics"
    (folder / "x").mkdir(parents=True)
    (folder / "x" / "original.toml").write_text(PINS)
    monkeypatch.chdir(folder.parent)
    return folder


def kept(folder: Path) -> list[str]:
    """All files in the folder, hidden ones too, but for the page on the licence."""
    return sorted(path.name for path in folder.iterdir() if path.name != "LICENCE.md")


def get(site: Site | str, topics: Path, to: Path | None = None) -> list[str]:
    """What is told of a fetch of x."""
    return list(fetch("x", [topics], to, site if isinstance(site, str) else site.url))


def test_files_are_fetched_from_their_commit(site: Site, topics: Path) -> None:
    """Into the suite's own folder, under their own names; the licence is told, and stands beside them."""
    site.contents = {PATH: CONTENT, MORE: CONTENT}
    lines = get(site, topics)
    home = topics / "x" / "original"
    assert (home / "data.csv").read_bytes() == (home / "parts" / "more.csv").read_bytes() == CONTENT
    assert lines == [
        "topics/x/original/data.csv: fetched (1 of 2)",
        "topics/x/original/parts/more.csv: fetched (2 of 2)",
        "x: who/what at cccccccccccc, licence: MIT",
    ]
    assert kept(home) == ["data.csv", "parts"]


def test_a_folder_is_a_site_too(topics: Path, tmp_path: Path) -> None:
    """Without a network: a copy of the site is read by its file URL, and checked as any other."""
    for path in (PATH, MORE):
        copied = tmp_path / "copy" / path.lstrip("/")
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_bytes(CONTENT)
    site = (tmp_path / "copy").as_uri()
    get(site, topics)
    assert kept(topics / "x" / "original") == ["data.csv", "parts"]
    copied.write_bytes(b"other")
    with pytest.raises(UserError, match=r"more\.csv: wrong SHA-256"):
        get(site, topics, tmp_path / "elsewhere")
    copied.unlink()
    os.mkfifo(copied)
    with pytest.raises(UserError, match=r"more\.csv: cannot be fetched \(.*is not a regular file"):
        get(site, topics, tmp_path / "elsewhere")


def test_the_licence_stands_beside_the_data(site: Site, topics: Path) -> None:
    """Before the first of them: whose they are, where that is said, and what one may do."""
    site.contents = {PATH: CONTENT}
    repository = "https://github.com/who/what"
    for stated, where, may in (
        ("", f"tree/{'c' * 40}", "what this licence says"),
        ('terms = "Be kind."\nstated = "docs/LICENSE"\n', f"blob/{'c' * 40}/docs/LICENSE", "Be kind."),
    ):
        (topics / "x" / "original.toml").write_text(stated + PINS)
        with pytest.raises(UserError, match="cannot be fetched"):
            get(site, topics)
        page = (topics / "x" / "original" / "LICENCE.md").read_text()
        assert "the authors of who/what" in page
        assert f"- Licence: MIT\n- Stated at: {repository}/{where}\n- What one may do: {may}\n" in page


def test_what_is_there_is_not_fetched_again(site: Site, topics: Path, tmp_path: Path) -> None:
    """As long as it is what it should be, else it is replaced; so a fetch that was cut short goes on."""
    site.contents = {PATH: CONTENT}
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "data.csv").write_bytes(b"old")
    with pytest.raises(UserError, match=r"more\.csv: cannot be fetched \(Not Found\); fetch from a copy"):
        get(site, topics, tmp_path)
    site.contents[MORE] = CONTENT
    assert ["is here already" in line for line in get(site, topics, tmp_path)] == [True, False, False]
    assert ["is here already" in line for line in get(site, topics, tmp_path)] == [True, True, False]
    assert site.asked == [PATH, MORE, MORE]


CHANGED = CONTENT + b"changed"
SILENT = r"data\.csv: cannot be fetched \(timed out\); run the same command again"


@pytest.mark.parametrize(
    ("content", "faults", "most", "reason"),
    [
        (CHANGED, {}, 99, f"wrong SHA-256: {hashlib.sha256(CHANGED).hexdigest()}, expected {DIGEST}; not"),
        (CONTENT, {"missing": 5}, 99, r"data\.csv: "),
        (CONTENT, {}, len(CONTENT) - 1, "exceeds the size limit"),
        (CONTENT, {"silent_after": 0.0}, 99, SILENT),
        (CONTENT, {"silent_after": 0.5}, 99, SILENT),
    ],
    ids=["changed", "cut short", "too large", "silent at once", "silent within a file"],
)
def test_what_is_not_as_it_should_be_is_not_kept(
    site: Site,
    topics: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    faults: dict[str, Any],
    most: int,
    reason: str,
) -> None:
    """The error says why; no file is left, and an older one stays."""
    monkeypatch.setattr(fetching, "MAX_BYTES", most)
    if "silent_after" in faults:
        monkeypatch.setattr(fetching, "TIMEOUT_SECONDS", 0.05)
    site.contents = {PATH: content}
    vars(site).update(faults)
    with pytest.raises(UserError, match=reason):
        get(site, topics, tmp_path)
    assert not (tmp_path / "x").exists()
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "data.csv").write_bytes(b"old")
    with pytest.raises(UserError, match=reason):
        get(site, topics, tmp_path)
    assert kept(tmp_path / "x") == ["data.csv"]
    assert (tmp_path / "x" / "data.csv").read_bytes() == b"old"


def test_what_is_in_the_way_is_one_line(site: Site, topics: Path, tmp_path: Path) -> None:
    """A site out of reach, files for folders, and the reverse: nothing is left behind or changed."""
    for address in ("http://127.0.0.1:9", "nonsense"):
        with pytest.raises(UserError, match="cannot be fetched"):
            get(address, topics, tmp_path / "new" / "folder")
    assert not (tmp_path / "new").exists()
    with pytest.raises(UserError, match=r"(?s)--site file:///FOLDER.*EQUIPOISE_ORIGINAL_DATA"):
        get("http://127.0.0.1:9", topics)
    assert [item.name for item in (topics / "x").iterdir()] == ["original.toml"]
    (tmp_path / "taken").write_text("")
    with pytest.raises(UserError, match="cannot be written to"):
        get(site, topics, tmp_path / "taken")
    (tmp_path / "x" / "data.csv").mkdir(parents=True)
    with pytest.raises(UserError, match=r"data\.csv: cannot be read \(Is a directory\)"):
        get(site, topics, tmp_path)
    assert site.asked == []


def test_what_cannot_be_read_or_found_is_refused(topics: Path) -> None:
    """An unknown suite, with those that there are; pins of another form, by their file."""
    with pytest.raises(UserError, match="y: no published data to fetch; there are for x"):
        list(fetch("y", [topics]))
    (topics / "x" / "original.toml").write_text("commit = 1")
    with pytest.raises(UserError, match=r"x/original\.toml: not a valid list of pins"):
        list(fetch("x", [topics]))


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of topics that came with us, here with none."""
    monkeypatch.delenv(resources.DATA_VARIABLE, raising=False)
    monkeypatch.setattr("equipoise.suites.resources.SHIPPED", tmp_path / "shipped")
    folder = tmp_path / "shipped" / "topics"
    folder.mkdir(parents=True)
    return folder


def run(*arguments: str) -> Result:
    """What comes of the command."""
    return CliRunner().invoke(main, ["data", "fetch", *arguments])


def test_a_dataset_can_have_published_data_of_its_own(
    site: Site, topics: Path, shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pinned in its folder, and fetched by its name; those of its suite are others."""
    (topics / "x" / "y").mkdir()
    (topics / "x" / "y" / "original.toml").write_text(PINS.replace("who/what", "some/body"))
    assert (
        refusal(resources.dataset_folder, "x", "y", topics.parent)
        == "--dataset y: the original data of y are missing; run: equipoise data fetch y"
    )
    site.contents = {path.replace("who/what", "some/body"): CONTENT for path in (PATH, MORE)}
    assert run("y", "--site", site.url).exit_code == 0
    home = topics / "x" / "y" / "original"
    assert resources.dataset_folder("x", "y", topics.parent) == home
    (home / "data.csv").write_bytes(b"")
    with pytest.raises(UserError, match=r"^--dataset y: .* differs .* run: equipoise data fetch y, "):
        resources.dataset_folder("x", "y", topics.parent)
    assert "the original data of x are missing" in message(topics)
    named = tmp_path / "named"
    assert run("y", "--site", site.url, "--to", str(named)).exit_code == 0
    monkeypatch.setenv(resources.DATA_VARIABLE, str(named))
    assert resources.dataset_folder("x", "y", topics.parent) == named / "y"


def test_a_project_without_pins_fetches_by_those_that_came_with_us(
    site: Site, topics: Path, shipped: Path
) -> None:
    """Into its own folder; its own pins go before ours."""
    (shipped / "x").mkdir()
    (shipped / "x" / "original.toml").write_text(PINS.replace("who/what", "our/own"))
    shutil.move(topics / "x" / "original.toml", topics.parent / "aside")
    site.contents = {PATH: CONTENT, MORE: CONTENT}
    site.contents |= {path.replace("who/what", "our/own"): CONTENT for path in (PATH, MORE)}
    done = run("x", "--site", site.url)
    assert done.exit_code == 0, done.output
    assert kept(topics / "x" / "original") == ["data.csv", "parts"]
    assert resources.original_folder("x", [topics, shipped]) == topics / "x" / "original"
    shutil.move(topics.parent / "aside", topics / "x" / "original.toml")
    assert "x: who/what at" in run("x", "--site", site.url).output


def test_of_all_the_others_are_fetched_where_one_fails(site: Site, topics: Path, shipped: Path) -> None:
    """Each failure is told, and the command fails in the end; nobody takes all of nothing for done."""
    for name, who in (("a", "no/body"), ("z", "no/where")):
        (topics / name).mkdir()
        (topics / name / "original.toml").write_text(PINS.replace("who/what", who))
    site.contents = {PATH: CONTENT, MORE: CONTENT}
    done = run("all", "--site", site.url)
    assert done.exit_code == 4
    assert kept(topics / "x" / "original") == ["data.csv", "parts"]
    first, second, last = done.stderr.splitlines()
    assert first.startswith(f"ERROR: {site.url}/no/body/raw/")
    assert second.startswith(f"ERROR: {site.url}/no/where/raw/")
    assert last == "ERROR: 2 of 3 are incomplete: a, z"
    shutil.rmtree(topics)
    topics.mkdir()
    done = run("all")
    assert (done.exit_code, "all: no suite has published data" in done.output) == (4, True)


# Where a suite looks.


def message(*topics: Path) -> str:
    """What is said where the data of x are not to be had."""
    with pytest.raises(UserError) as error:
        resources.original_folder("x", topics)
    return str(error.value)


def test_without_data_the_original_dataset_says_how_to_get_them(
    topics: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the command, into the folder that the variable names where it names one."""
    monkeypatch.delenv(resources.DATA_VARIABLE, raising=False)
    start = "--dataset original: the original data of x are missing"
    assert message(topics) == f"{start}; run: equipoise data fetch x"
    (topics / "x" / "original").mkdir()
    assert message(topics) == f"{start}; run: equipoise data fetch x"
    named = tmp_path / "my data"
    monkeypatch.setenv(resources.DATA_VARIABLE, str(named))
    expected = f"{start}, also in $EQUIPOISE_ORIGINAL_DATA; run: equipoise data fetch x --to '{named}'"
    assert message(topics) == expected
    (named / "x").mkdir(parents=True)
    assert message(topics) == expected


def test_data_that_are_not_whole_are_not_taken(
    site: Site, topics: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fetch that was cut short has to go on first, wherever it went."""
    monkeypatch.delenv(resources.DATA_VARIABLE, raising=False)
    site.contents = {PATH: CONTENT}
    for folder, to in ((None, ""), (tmp_path, f" --to {tmp_path}")):
        with pytest.raises(UserError, match="cannot be fetched"):
            get(site, topics, folder)
        if folder:
            monkeypatch.setenv(resources.DATA_VARIABLE, str(folder))
        where = folder / "x" if folder else topics / "x" / "original"
        assert message(topics) == (
            f"--dataset original: the original data of x are incomplete in {where} "
            f"(1 of 2 files missing, such as parts/more.csv); run: equipoise data fetch x{to}"
        )


def test_a_folder_of_the_user_s_may_hold_less(
    topics: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some of what was published; a page alone is nothing, and other data are not the original ones."""
    monkeypatch.setenv(resources.DATA_VARIABLE, str(tmp_path))
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / ".hidden").write_text("")
    assert "are missing" in message(topics)
    (tmp_path / "x" / "some.csv").write_text("")
    assert f"are incomplete in {tmp_path / 'x'} (2 of 2 files missing, such as data.csv)" in message(topics)
    (tmp_path / "x" / "data.csv").write_bytes(CONTENT)
    assert resources.original_folder("x", [topics]) == tmp_path / "x"


def test_changed_data_are_not_the_original_ones(
    site: Site, topics: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line names the file, and the command that it gives brings the file back."""
    folder = tmp_path / "there"
    monkeypatch.setenv(resources.DATA_VARIABLE, str(folder))
    site.contents = {PATH: CONTENT, MORE: CONTENT}
    get(site, topics, folder)
    where = resources.original_folder("x", [topics])
    for name in ("LICENCE.md", "data.csv"):
        (where / name).unlink()
    changed = where / "parts" / "more.csv"
    changed.write_bytes(CONTENT + b"3,4\n")
    assert message(topics) == (
        f"--dataset original: {changed} differs from the published file (1 of 2 files); "
        f"run: equipoise data fetch x --to {folder}, which restores it, or use changed data with --topics"
    )
    get(site, topics, folder)
    assert resources.original_folder("x", [topics]) == where


def test_changed_data_are_not_passed_over(
    site: Site, topics: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they stand in the folder that is looked at first; behind whole data nothing is looked at."""
    there = tmp_path / "there"
    monkeypatch.setenv(resources.DATA_VARIABLE, str(there))
    site.contents = {PATH: CONTENT, MORE: CONTENT}
    get(site, topics)
    assert resources.original_folder("x", [tmp_path / "none", topics]) == topics / "x" / "original"
    get(site, topics, there)
    (topics / "x" / "original" / "data.csv").write_bytes(b"")
    assert resources.original_folder("x", [topics]) == there / "x"
    (there / "x" / "data.csv").write_bytes(b"")
    assert f"{there / 'x' / 'data.csv'} differs" in message(topics)


# The pins.


def test_every_suite_has_its_pins() -> None:
    """A full commit and digest for every file, and names that stay in their folder."""
    by_suite = originals([ROOT / "topics"])
    assert set(by_suite) >= {name for name in suites.names() if ORIGINAL in suites.load(name).dataset_names}
    for original in by_suite.values():
        assert len(original.commit) == 40
        assert original.paths.keys() <= original.files.keys()
        for name, digest in original.files.items():
            assert not Path(name).is_absolute()
            assert ".." not in Path(name).parts
            assert len(digest) == 64
            assert int(digest, 16)


@pytest.mark.skipif("EQUIPOISE_ORIGINAL_DATA" not in os.environ, reason="EQUIPOISE_ORIGINAL_DATA is not set")
def test_the_pins_are_those_of_the_data_at_hand() -> None:
    """Every file has the digest that it is fetched by, and there is none that is not fetched."""
    at_hand = Path(os.environ["EQUIPOISE_ORIGINAL_DATA"])
    for suite, original in originals([ROOT / "topics"]).items():
        for name, digest in original.files.items():
            assert hashlib.sha256((at_hand / suite / name).read_bytes()).hexdigest() == digest
        folder = at_hand / suite
        files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        # What the authors of borderlines translated by, and the runner of PCP; no loader reads them.
        by_hand = {name for name in files if name.startswith(("translate/terms/terms", "eval_pcp.py"))}
        assert files - by_hand - {resources.LICENCE} == original.files.keys()
        assert resources.original_folder(suite, [ROOT / "topics"]) == folder
