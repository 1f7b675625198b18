"""Journals that are damaged, foreign or taken away, and results that were edited."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fake_client import FakeClient, Project
from journals import sealed

from attacks.sessions import CALLS, IN_FLIGHT, bed, calls, compare, go_on
from attacks.tally import Harm, Size, Tally
from conftest import Bench, is_orderly
from equipoise.cli import main
from equipoise.comparison.verify import load_verified
from equipoise.core.errors import UserError
from loopback import plain_script

Damage = Callable[[bytes], bytes]
ENTRIES: Mapping[str, Damage] = {
    "cut": lambda line: line[: len(line) // 2] + b"\n",
    "gone": lambda line: b"",
    "garbage": lambda line: b"\x00\xff{]\n",
    "blank": lambda line: b"\n",
    "another object": lambda line: b'{"kind":"call"}\n',
    "not an object": lambda line: b"[1]\n",
}


@cache
def whole() -> list[bytes]:
    """The lines of the journal of a session that is complete, asked in this process."""
    with tempfile.TemporaryDirectory() as folder, _project(Path(folder)) as project:
        ran = project.run()
        assert ran.is_complete
        return project.journal_path.read_bytes().splitlines(keepends=True)


@contextmanager
def _project(folder: Path) -> Iterator[Project]:
    """A project whose sessions run in this process and ask nobody; the client counts the calls."""
    client = FakeClient()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("equipoise.models.client.Client", lambda *endpoint, **options: client)
        patch.chdir(folder)
        yield Project(folder, client)


def attack(size: Size) -> Tally:
    """Damage to each line, other kinds of files, and journals that vanish in mid-session."""
    tally = Tally("journals")
    dice = size.dice("journals")
    for place in range(len(whole())):
        names = list(ENTRIES) if size.is_full else [dice.choice(list(ENTRIES))]
        for name in names:
            with tally.attack(f"line {place} {name}") as harm:
                lines = [*whole()]
                lines[place] = ENTRIES[name](lines[place])
                _resume(b"".join(lines), harm, is_first=place == 0)
    for name, change in _FILES.items():
        with tally.attack(name) as harm:
            _resume(change(b"".join(whole())), harm, is_first=name in _REFUSED)
    for name, vanish in [*_VANISH.items()][:: size.of(3, 1)]:
        with tally.attack(f"vanishes: {name}") as harm:
            _vanish(vanish, dice, harm)
    _places(tally)
    _edit(tally)
    return tally


_FILES: Mapping[str, Damage] = {
    "line ends of Windows": lambda data: data.replace(b"\n", b"\r\n"),
    "without its last line end": lambda data: data[:-1],
    "twice": lambda data: data + data,
    "behind a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "blank lines between": lambda data: data.replace(b"\n", b"\n\n"),
    "lines in reverse": lambda data: b"".join(data.splitlines(keepends=True)[::-1]),
    "of another version": lambda data: data.replace(b'"format":', b'"format":9', 1),
    "of another model": lambda data: data.replace(b'"subject"', b'"other"'),
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "not a journal": lambda data: b"Dear diary,\n" * 20,
    "compressed": lambda data: b"\x1f\x8b" + data[:500],
    "empty": lambda data: b"",
    "zeros behind": lambda data: data + bytes(5000),
}
_REFUSED = ("behind a byte order mark", "of another version", "of another model", "UTF-16", "not a journal",
            "compressed", "lines in reverse", "blank lines between")  # fmt: skip
"""Those that may be refused; what is not, is resumed."""


def _resume(content: bytes, harm: Harm, *, is_first: bool) -> None:
    """It is refused, or completed with the calls that are missing; no score is another one."""
    with tempfile.TemporaryDirectory() as folder, _project(Path(folder)) as project:
        project.journal_path.parent.mkdir()
        project.journal_path.write_bytes(content)
        try:
            ran = project.run()
        except UserError as error:
            harm.expect(is_first, f"refused: {error}")
            harm.expect(project.journal_path.read_bytes() == content, "refused, and changed")
            harm.twice += len(project.client.calls)
            return
        harm.expect(ran.is_complete, f"not complete: {ran}"[:800])
        harm.changed += _scores(project.results_path) != _undisturbed()[0]
        harm.lost += not project.journal_path.read_bytes().startswith(content.rstrip(b"\0\n")[:1000])
        # A run of which a line was damaged is asked again, as nobody knows what it said.
        harm.twice += max(0, len(project.client.calls) - _missing(content))


def _missing(content: bytes) -> int:
    """The most calls that may be asked: all of the runs that have not all of their lines."""
    found = {line for line in content.replace(b"\r", b"").split(b"\n") if line}
    gone = [json.loads(line) for line in whole() if line.rstrip(b"\n") not in found]
    runs = {entry["run"] for entry in gone if "run" in entry}
    return 2 * len(runs)


def _scores(path: Path) -> dict[str, list[Any]]:
    data = json.loads(path.read_bytes())
    return {
        f"{language} {item['question']}": [run["score"] for run in item["runs"]]
        for language, found in data["results"].items()
        for item in found["questions"]
    }


# Edited lines.


def edited(size: Size) -> Tally:
    """Lines changed, removed, doubled or moved, and flipped bytes: noticed, or no figure is another."""
    tally = Tally("edited journals")
    dice = size.dice("edited journals")
    for name, change in _LINES.items():
        for number in dice.sample(range(len(whole())), size.of(2, len(whole()))):
            lines = [*whole()]
            lines[number : number + 1] = change(lines[number], dice.choice(whole()))
            with tally.attack(f"{name}: line {number + 1}") as harm:
                _go_on(b"".join(lines), harm)
    for name, (old, new) in _WORDS.items():
        content = b"".join(whole())
        places = [match.span() for match in re.finditer(old, content)]
        for start, end in dice.sample(places, min(len(places), size.of(1, 5))):
            changed = content[:start] + new + content[end:]
            for how, written in (
                ("", changed),
                (", with new checksums", sealed(changed.splitlines(keepends=True))),
            ):
                with tally.attack(f"{name}{how}: byte {start}") as harm:
                    _go_on(written, harm)
    for _ in range(size.of(8, 200)):
        flipped = bytearray(b"".join(whole()))
        place = dice.randrange(len(flipped))
        flipped[place] ^= 1 << dice.randrange(8)
        with tally.attack(f"flipped: byte {place}") as harm:
            _go_on(bytes(flipped), harm)
    return tally


_LINES: Mapping[str, Callable[[bytes, bytes], list[bytes]]] = {
    "removed": lambda line, other: [],
    "doubled": lambda line, other: [line, line],
    "another one again": lambda line, other: [line, other],
    "replaced by another": lambda line, other: [other],
}
_WORDS: Mapping[str, tuple[bytes, bytes]] = {
    "a score": (rb'"score":\d\.0', b'"score":1.0'),
    "a percentage": (rb'"percent":\d+\.0', b'"percent":1.0'),
    "a verdict": (rb'"refused":false,"score":\d', b'"refused":true,"score":1'),
    "an outcome": (rb'"outcome":"scored"', b'"outcome":"refused"'),
    "an evaluator's reply": (rb'score\\": \d', b'score\\\\": 1'),
    "a run": (rb'"run":"aa-[^"]*"', b'"run":"aa-other-run1"'),
    "an id of a call": (rb'"id":"[0-9a-f]{8}-\d+"', b'"id":"00000000-0"'),
}


def _go_on(content: bytes, harm: Harm) -> None:
    """It is refused by name, or completed; where a figure is another one, the results are not verified."""
    with tempfile.TemporaryDirectory() as folder, _project(Path(folder)) as project:
        project.journal_path.parent.mkdir()
        project.journal_path.write_bytes(content)
        try:
            ran = project.run()
        except UserError as error:
            harm.expect(project.journal_path.name in str(error), f"refused without a name: {error}")
            return
        harm.expect(ran.is_complete, f"not complete: {ran}"[:800])
        is_same = _figures(project.results_path) == _undisturbed()
        harm.changed += not is_same and load_verified(project.results_path).doubt is None


def _figures(path: Path) -> Any:
    data = json.loads(path.read_bytes())
    return _scores(path), data["summary"], data["metadata"]["tokens"]


@cache
def _undisturbed() -> Any:
    with tempfile.TemporaryDirectory() as folder, _project(Path(folder)) as project:
        assert project.run().is_complete
        return _figures(project.results_path)


# In mid-session.


def _removed(path: Path) -> None:
    path.unlink()


def _folder_removed(path: Path) -> None:
    shutil.rmtree(path.parent)


def _renamed(path: Path) -> None:
    path.rename(path.with_name("other.jsonl"))


def _replaced(path: Path) -> None:
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)


def _linked(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/null")


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _emptied(path: Path) -> None:
    os.truncate(path, 0)


_VANISH = {
    "removed": _removed,
    "folder removed": _folder_removed,
    "renamed": _renamed,
    "replaced by a copy": _replaced,
    "replaced by a link": _linked,
    "cut": _cut,
    "emptied": _emptied,
}


def _vanish(vanish: Callable[[Path], None], dice: random.Random, harm: Harm) -> None:
    """The session stops and names a file; with that in its place the same command completes the rest."""
    with bed(delay=0.02) as bench:
        moment = dice.randrange(6, 30)

        def script(body: dict[str, Any], number: int) -> str:
            if number == moment:
                vanish(bench.journal_path)
            return plain_script(body, number)

        bench.server.script = script
        done = bench.run("--concurrency", str(IN_FLIGHT), "-n", dice.choice("02"))
        output = done.stdout + done.stderr
        harm.expect(done.returncode == 2 and is_orderly(output), f"{done.returncode}: {output[-1200:]}")
        rescued = bench.journal_path.with_name("subject.neutrality.rescued.jsonl")
        harm.expect(rescued.exists() and rescued.name in output.replace("\n", ""), output[-1200:])
        before = len(bench.server.requests)
        bench.journal_path.unlink(missing_ok=True)
        rescued.rename(bench.journal_path)
        kept = len(calls(bench))
        bench.server.script = plain_script
        # What was cut off is gone; what came later is not.
        gone = moment if vanish in (_cut, _emptied) else 0
        harm.lost += max(0, before - kept - gone)
        go_on(bench, harm)
        compare(bench, harm, again=before - kept)


def _places(tally: Tally) -> None:
    """Journals that are no files of their own."""
    for name, place in _PLACES.items():
        with tally.attack(name) as harm, bed(delay=0.0) as bench:
            is_taken = place(bench)
            done = bench.run("-n", "0")
            output = done.stdout + done.stderr
            harm.expect(is_orderly(output), output[-1200:])
            harm.expect(done.returncode == (0 if is_taken else 4), f"{done.returncode}: {output[-1200:]}")
            harm.expect(is_taken or not bench.server.requests, "asked all the same")
            harm.twice += max(0, len(bench.server.requests) - CALLS)


def _a_link(bench: Bench, target: str) -> bool:
    bench.journal_path.parent.mkdir()
    bench.journal_path.symlink_to(target)
    return target.startswith("..")


def _a_folder(bench: Bench) -> bool:
    bench.journal_path.mkdir(parents=True)
    return False


def _a_pipe(bench: Bench) -> bool:
    bench.journal_path.parent.mkdir()
    os.mkfifo(bench.journal_path)
    return False


_PLACES: Mapping[str, Callable[[Bench], bool]] = {
    "a link to a file elsewhere": partial(_a_link, target="../elsewhere.jsonl"),
    "a link to a device": partial(_a_link, target="/dev/null"),
    "a link to itself": partial(_a_link, target="subject.neutrality.jsonl"),
    "a folder": _a_folder,
    "a pipe": _a_pipe,
}


# Edited results.


def _edit(tally: Tally) -> None:
    """`compare --gate verified` notices each."""
    with bed(delay=0.0) as bench, pytest.MonkeyPatch.context() as patch:
        done = bench.run("-n", "0", "--runs", "2")
        assert done.returncode == 0, done.stdout
        patch.chdir(bench.folder)
        for name in ("old", "new"):
            shutil.copytree("results", name)
        path = Path("new", bench.results_path.name)
        results = path.read_bytes()
        with tally.attack("not edited") as harm:
            harm.expect(_gate(path) == 0, "sound results are not verified")
        for name, change in _EDITS.items():
            with tally.attack(f"edited: {name}") as harm:
                data = json.loads(results)
                change(data)
                path.write_text(json.dumps(data), encoding="utf-8")
                harm.changed += _gate(path) == 0
                path.write_bytes(results)


def _gate(path: Path) -> int:
    old = Path("old", path.name)
    return CliRunner().invoke(main, ["compare", str(old), str(path), "--gate", "verified"]).exit_code


def _runs(data: Any) -> list[dict[str, Any]]:
    return [run for item in data["results"]["aa"]["questions"] for run in item["runs"]]


_EDITS: Mapping[str, Callable[[Any], object]] = {
    "a score": lambda data: _runs(data)[0].update(score=1.5),
    "a percentage": lambda data: _runs(data)[0].update(score_percentage=99.0),
    "an outcome": lambda data: _runs(data)[0].update(outcome="refused"),
    "a verdict": lambda data: _runs(data)[0]["verdicts"][0].update(score=3),
    "a run less": lambda data: data["results"]["aa"]["questions"][0]["runs"].pop(),
    "a run more": lambda data: data["results"]["aa"]["questions"][0]["runs"].append(dict(_runs(data)[0])),
    "a language less": lambda data: data["results"].pop("aa"),
    "the average": lambda data: data["summary"].update(overall_average_score=5.0),
    "the checksum": lambda data: data["metadata"].update(verdicts_sha256="0" * 64),
    "no checksum": lambda data: data["metadata"].pop("verdicts_sha256"),
}
