"""Makes the results JSON of a journal without any endpoint, however its session ended."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from equipoise import journal, results, storage, suites
from equipoise.errors import UserError
from equipoise.ledger import Ledger
from equipoise.rubric import Rubric
from equipoise.storage import Files, Lock
from equipoise.suites import AnySuite
from equipoise.types import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What came of a journal: the results, where they are, and what the user should know."""

    suite: AnySuite
    data: dict[str, JSON]
    path: Path
    warnings: tuple[str, ...]


def recover(path: Path, output: Path | None, homes: tuple[Path, ...]) -> Recovered:
    """Write the results JSON of a journal, beside it where no `output` is given. Raises UserError.

    The rubric is looked for in `homes`, in order.
    """
    try:
        return _recover(path, output, homes)
    except OSError as error:
        raise UserError(f"{error.filename}: cannot be used ({error.strerror})") from None


def _recover(path: Path, output: Path | None, homes: tuple[Path, ...]) -> Recovered:
    first = _first_session(path)
    suite = suites.load(first["suite"])
    files = Files(results=output or path.with_name(f"{path.name.removesuffix('.jsonl')}.json"), journal=path)
    files.check()
    with ExitStack() as steps:
        # Where the journal's folder cannot be written to, no session can be at work there either.
        with suppress(OSError):
            steps.callback(Lock(files).release)
        ledger = Ledger(path)
        ledger.read_on()
        rubric = suite.rubric(_rubric(first["suite"], homes))
        data = results.build(suite, rubric, ledger)
        storage.write_json(files.results, data)
    return Recovered(suite=suite, data=data, path=files.results, warnings=_warnings(path, rubric, ledger))


def _first_session(path: Path) -> dict[str, JSON]:
    if not _is_file(path):
        raise UserError(f"{path}: no such journal; they end in .jsonl and stand beside the results")
    if (other := journal.other_format(path)) is not None:
        raise UserError(f"{path}: the journal has format {other}, not {journal.FORMAT}")
    found = next((line.entry for line in journal.read(path, kinds=("session",))), None)
    if found is None:
        raise UserError(f"{path}: is no journal: no line in it says what session it belongs to")
    if found["suite"] not in suites.names():
        raise UserError(f"{path}: there is no suite {found['suite']!r}")
    return found


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _rubric(suite: str, homes: tuple[Path, ...]) -> Path:
    places = [home / "rubric" / f"{suite}.toml" for home in homes]
    return next((place for place in places if place.is_file()), places[-1])


def _warnings(path: Path, rubric: Rubric, ledger: Ledger) -> tuple[str, ...]:
    found = []
    if cut := journal.tally(path)[""]:
        found.append(f"lines cut short and passed over: {cut}")
    if rubric.hash != ledger.sessions[-1]["settings"]["rubric_hash"]:
        found.append("the rubric has changed since: what is computed by its scale is computed by the new one")
    return tuple(found)
