"""Checks of data: file format, rows that loaders refuse, duplicates, overlap with published data, canaries.

Each suite recognises its own data, adds its own findings, and yields the texts to compare with each other.
"""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path

from equipoise import suites
from equipoise.core.errors import UserError
from equipoise.core.files import Row, read_bytes, sheet_reader
from equipoise.core.rows import grouped
from equipoise.core.types import JSON, Case
from equipoise.datasets import canary, overlap, rubrics
from equipoise.results.journal import is_journal
from equipoise.suites import AnySuite, askers
from equipoise.suites.findings import Finding, Recognised, Text
from equipoise.suites.resources import ORIGINAL, is_only_fetched
from equipoise.suites.scripts import script_faults
from equipoise.suites.selection import ASKERS, WORDING, Selection
from equipoise.suites.similarity import folded, similar_pairs
from equipoise.suites.tables import Invariant, Table, files_of

_TOPICS = Path("topics")
"""The folder that is checked if no path is given."""
_RUBRICS = Path("rubric")
"""The folder of a project's rubrics."""
_TEXT_SUFFIXES = (".csv", ".json", ".jsonl", ".md", ".toml", ".tsv", ".txt")
"""The suffixes of files that are checked."""
_SEPARATOR_COLUMN = "separator"
"""A column of a table of templates. Its values, separators, may begin and end with spaces."""
_UNWANTED_CATEGORIES = {
    "Cc": "control character",
    "Cf": "invisible character",
    "Zl": "line separator",
    "Zp": "line separator",
    "Co": "character of no meaning",
}
_ZERO_WIDTH = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0}
"""Letters and marks of no width. `_unwanted_kind` adds variation selectors."""
_REPLACEMENT = "\ufffd"
_ARABIC = r"[\u0620-\u0652\u066e-\u06d3\u0750-\u077f]"
_NON_JOINER = re.compile(rf"(?<={_ARABIC})\u200c(?={_ARABIC})")
"""The zero-width non-joiner within a word, which the spelling of Persian and related languages needs."""
Dataset = tuple[str, Path]
"""The name of a suite, and the folder or file of its data."""


def validate(paths: Sequence[Path]) -> tuple[list[Finding], int]:
    """The findings on these paths, sorted by file and line, and the number of files checked.

    For the folder of a project, its questions and rubrics are checked. Without paths, the folder `topics` is
    checked. Raises UserError.
    """
    try:
        return _validate(list(paths) or [_default_folder()])
    except OSError as error:
        raise UserError(f"{error.filename}: cannot be read ({error.strerror})") from None


def is_project(path: Path) -> bool:
    """Whether this is the folder of a project, with a folder of questions or of rubrics in it."""
    return any((path / name).is_dir() for name in (_TOPICS, _RUBRICS))


def _parts(path: Path) -> list[Path]:
    """The questions and rubrics of a project; any other path unchanged."""
    if not is_project(path):
        return [path]
    return [*filter(Path.is_dir, [path / _TOPICS]), *sorted((path / _RUBRICS).glob("*.toml"))]


def _validate(named: Sequence[Path]) -> tuple[list[Finding], int]:
    parts = [part for path in named for part in _parts(path)]
    tables = [path for path in parts if _is_rubric(path)]
    paths = [path for path in parts if path not in tables]
    datasets = dict.fromkeys(dataset for path in paths for dataset in _datasets(path))
    files = dict.fromkeys(file for path in parts for file in _text_files(path))
    findings = [finding for file in files for finding in format_findings(file)]
    findings += [finding for dataset in datasets for finding in _dataset_findings(*dataset)]
    findings += [finding for path in tables for finding in _rubric_findings(path)]
    findings += canary.lint([path for _, path in datasets])
    return sorted(dict.fromkeys(findings)), len(files)


def _default_folder() -> Path:
    if not _TOPICS.is_dir():
        raise UserError(f"{_TOPICS}: no such folder here; name the folders or files to look at")
    return _TOPICS


# Rubrics.


def _is_rubric(path: Path) -> bool:
    """Whether a path is a TOML file, other than the rules of wording, which belong to questions."""
    return path.suffix == ".toml" and path.name != WORDING and path.is_file()


def _rubric_findings(path: Path) -> Iterator[Finding]:
    """A finding on the first fault of a rubric or an about.toml; without a fault, on a warning about it."""
    try:
        if warning := rubrics.check(path):
            yield Finding(str(path), 1, warning)
    except UserError as error:
        yield _error_finding(error, path)


# Which suite a path belongs to.


def _datasets(path: Path) -> list[Dataset]:
    """The datasets at a path. Raises UserError if there are none."""
    if path.is_file():
        return [_dataset_of_file(path)]
    if not path.is_dir():
        raise UserError(f"{path}: no such file or folder; name a dataset, or a file of questions")
    datasets = list(_datasets_in(path))
    if not datasets:
        raise UserError(f"{path}: has the data of no suite; name one of {', '.join(suites.names())}")
    return datasets


def _dataset_of_file(path: Path) -> Dataset:
    """The dataset of a file that can be read alone. Raises UserError for others."""
    if is_journal(path):
        raise UserError(f"{path}: is the journal of a session; name its results, {path.stem}.json, or data")
    suite, recognised = _recognise(path)
    if suite is None or recognised == "part":
        raise UserError(f"{path}: cannot be read alone; name its folder, {path.parent}")
    return suite, path


def _recognise(path: Path) -> tuple[str | None, Recognised]:
    """The suite that recognises a path as its data by the content, and how surely; None if no suite does."""
    answers = {name: suites.load(name).recognises(path) for name in suites.loadable()}
    # `part` first: the file may also be valid alone in the format of another suite.
    order: tuple[Recognised, ...] = ("part", "yes", "perhaps")
    matches = ((name, answer) for answer in order for name in answers if answers[name] == answer)
    return next(matches, (None, "no"))


def _datasets_in(folder: Path) -> Iterator[Dataset]:
    """The folder itself if it is a dataset, otherwise the datasets in it, without published data.

    If the folder is only perhaps a dataset, both: its own files may be the user's notes.
    """
    suite, recognised = _recognise(folder)
    if suite:
        yield suite, folder
    if recognised == "yes":
        return
    inner = [item for item in sorted(folder.iterdir()) if item.is_dir() and item.name != ORIGINAL]
    datasets = [dataset for item in inner if not item.name.startswith(".") for dataset in _datasets_in(item)]
    if suite:
        yield from (dataset for dataset in datasets if _is_sure(dataset[1]))
        return
    suite = None if any(map(is_only_fetched, (folder, *inner))) else _suite_by_folder_name(folder)
    yield from datasets or ([(suite, folder)] if suite else [])


def _is_sure(folder: Path) -> bool:
    """Whether a folder is a dataset by its content or its own name, and not only by its parent's name."""
    return folder.name in suites.names() or _recognise(folder)[0] is not None


def _suite_by_folder_name(folder: Path) -> str | None:
    """The suite with the name of the folder or of its parent; None if there is no such suite."""
    names = (folder.resolve().name, folder.resolve().parent.name)
    return next((name for name in names if name in suites.names()), None)


# Findings on a dataset.


def _dataset_findings(name: str, dataset: Path) -> Iterator[Finding]:
    suite = suites.load(name)
    # A dataset may have a protocol, and so a suite, of its own.
    suite = suite.of(suite.dataset_at(dataset))
    loader_findings = list(_loader_findings(name, suite, dataset))
    yield from loader_findings
    yield from _table_findings(suite, dataset)
    texts: list[Text] = []
    try:
        for item in suite.data.lint(dataset):
            if isinstance(item, Text):
                texts.append(item)
            else:
                yield item
    except UserError as error:
        yield _error_finding(error, dataset)
    yield from _asker_findings(suite, dataset)
    reported = {(item.path, item.line) for item in loader_findings if item.what.startswith("repeats ")}
    yield from (item for item in _repeat_findings(texts) if (item.path, item.line) not in reported)
    yield from overlap.lint(name, dataset, texts)


def _table_findings(suite: AnySuite, dataset: Path) -> Iterator[Finding]:
    """All faults of the dataset's tables, of which a loader reports only the first, and broken invariants."""
    by_table: dict[str, tuple[Table, list[Row]]] = {}
    for table, file in files_of(suite.data.formats, dataset):
        rows = by_table.setdefault(table.file, (table, []))[1]
        try:
            for item in table.check(file):
                if isinstance(item, Finding):
                    yield item
                else:
                    rows.append(item)
        except UserError as error:
            yield _error_finding(error, file)
    for table, rows in by_table.values():
        if not table.any_script:
            yield from (finding for row in rows for finding in _script_findings(row))
        for invariant in table.must if rows else ():
            yield from _invariant_findings(invariant, rows)


def _script_findings(row: Row) -> Iterator[Finding]:
    """Findings on texts that are not in the script of the language of their column, row or file."""
    language = row.values.get("language", row.path.stem)
    for column, value in row.values.items():
        for text in (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ():
            for fault in script_faults(column if column.startswith("zh-") else language, text):
                yield Finding.at(row.where, f"{column} {fault}")


def _invariant_findings(invariant: Invariant, rows: Sequence[Row]) -> Iterator[Finding]:
    """The findings of an invariant; none if a table that it needs cannot be read."""
    with suppress(UserError):
        yield from invariant(rows)


def _asker_findings(suite: AnySuite, dataset: Path) -> Iterator[Finding]:
    """Findings on the sentences about who asks, if the dataset has some."""
    path, selection = dataset / ASKERS, Selection(topics=dataset)
    if not path.is_file() or suite.asked is None:
        return
    try:
        cases = suite.data.cases(selection)
        cues = suite.asked.askers(selection, cases)
    except UserError as error:
        yield _error_finding(error, path)
        return
    yield from (Finding(str(path), 1, what) for what in askers.problems(cues, cases))


def _loader_findings(name: str, suite: AnySuite, dataset: Path) -> Iterator[Finding]:
    """The first error of the suite's loader, or else findings on ids and areas that are ambiguous."""
    try:
        cases = suite.data.cases(Selection(topics=dataset))
    except UserError as error:
        yield _error_finding(error, dataset)
        return
    for case_id, count in Counter(case.id for case in cases).items():
        if count > 1:
            yield Finding(str(dataset), 1, f"{count} cases have the id {case_id!r}; rename all but one")
    yield from _area_findings(name, dataset, cases)


def _area_findings(suite: str, dataset: Path, cases: Sequence[Case]) -> Iterator[Finding]:
    """Findings on areas that are part of other names, so that `-k` with the area selects more cases."""
    common = (f"test_{suite}", "run1", *dict.fromkeys(case.language for case in cases))
    for area in dict.fromkeys(case.area for case in cases):
        for name in [name for name in common if area in name.lower()]:
            what = f"the area {area!r} is part of {name!r}, so `-k {area}` selects more; rename it"
            yield Finding(str(dataset), 1, what)


def _error_finding(error: UserError, path: Path) -> Finding:
    """The finding for a loader's error, on line 1 if the error names no line."""
    text = str(error)
    where, _, what = text.partition(": ")
    file, _, line = where.rpartition(":")
    if what and file and line.isdecimal():
        return Finding(file, int(line), what)
    is_file = bool(what) and Path(where).exists()
    return Finding(where, 1, what) if is_file else Finding(str(path), 1, text)


def _repeat_findings(texts: Sequence[Text]) -> Iterator[Finding]:
    """Findings on texts that are identical or nearly identical to an earlier one."""
    for group in grouped(texts, attrgetter("among")).values():
        for first, second, similarity in similar_pairs([item.text for item in group]):
            yield from _repeat_finding(group[first], group[second], similarity)


def _repeat_finding(earlier: Text, later: Text, similarity: float) -> Iterator[Finding]:
    """The finding on the later of two similar texts, if they may not be similar."""
    if folded(earlier.text) == folded(later.text):
        yield Finding.at(later.where, f"repeats {earlier.where}; remove one of the two")
    elif earlier.owner != later.owner:
        message = f"is nearly {earlier.where} (likeness {similarity:.2f}); reword or remove one of the two"
        yield Finding.at(later.where, message)


# Findings on a file.


def _text_files(path: Path) -> list[Path]:
    """The file itself, or the text files in a folder, recursively, without published data."""
    if path.is_file():
        return [path]
    files = (item for item in path.rglob("*") if item.is_file() and item.suffix in _TEXT_SUFFIXES)
    return sorted(item for item in files if _is_checked(item.relative_to(path)) and not is_journal(item))


def _is_checked(path: Path) -> bool:
    """Whether a relative path is neither hidden nor in a folder of published data."""
    return ORIGINAL not in path.parts[:-1] and not any(part.startswith(".") for part in path.parts)


def format_findings(path: Path) -> Iterator[Finding]:
    """Findings on the format of a text file: encoding, line ends, spaces, characters. Raises UserError."""
    try:
        content = read_bytes(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        yield Finding(str(path), line, "not UTF-8; save the file as UTF-8")
        return
    for line, problem in dict.fromkeys(_text_problems(path.suffix, text)):
        yield Finding(str(path), line, problem)


def _text_problems(suffix: str, text: str) -> Iterator[tuple[int, str]]:
    """Problems of a file's text, each with its line."""
    if suffix == ".csv":
        # Spreadsheets write both of these, and every reader of tables accepts them.
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if "\r\n" in text:
        line = text.count("\n", 0, text.index("\r\n")) + 1
        yield line, "ends in CR LF, as further lines may; save the file with LF only"
        text = text.replace("\r\n", "\n")
    for number, line_text in enumerate(text.split("\n"), start=1):
        yield from ((number, problem) for problem in _line_problems(line_text, suffix))
    if not text.endswith("\n"):
        yield text.count("\n") + 1, "the file does not end with a newline; add one"
    yield from _value_problems(suffix, text)


def _line_problems(text: str, suffix: str) -> Iterator[str]:
    yield from _character_problems(text.replace("\t", "") if suffix == ".tsv" else text)
    # The values of a CSV row are checked one by one.
    if suffix != ".csv" and text != text.rstrip():
        yield "ends in blanks; remove them"
    if suffix == ".txt" and "  " in text.strip():
        yield "has several blanks in a row; leave one"


def _character_problems(text: str) -> Iterator[str]:
    if text.isascii() and text.isprintable():
        return
    for character in dict.fromkeys(_NON_JOINER.sub("", text)):
        kind = _unwanted_kind(character)
        if kind is not None:
            name = unicodedata.name(character, "no name")
            yield f"has the {kind} U+{ord(character):04X} ({name}); remove it"
    if not unicodedata.is_normalized("NFC", text):
        yield "is not in Unicode's composed form; save it as NFC"


def _unwanted_kind(character: str) -> str | None:
    """The kind of an unwanted character; None if the character is fine."""
    code = ord(character)
    if code in _ZERO_WIDTH or 0xFE00 <= code <= 0xFE0F or 0x180B <= code <= 0x180D:
        return "invisible character"
    if character == _REPLACEMENT:
        return "mark of a lost character"
    return _UNWANTED_CATEGORIES.get(unicodedata.category(character))


# Values in files, after parsing.


def _value_problems(suffix: str, text: str) -> Iterator[tuple[int, str]]:
    """Problems of the values in a CSV or JSON Lines file, each with its line."""
    values = _cells(text) if suffix == ".csv" else _strings_in_lines(text) if suffix == ".jsonl" else ()
    for number, value in values:
        if value != value.strip():
            yield number, f"{_shortened(value)} has blanks around it; remove them"
        if "  " in value.strip():
            yield number, f"{_shortened(value)} has several blanks in a row; leave one"
        if suffix == ".jsonl":
            yield from ((number, problem) for problem in _character_problems(value.replace("\n", "")))


def _shortened(value: str) -> str:
    return repr(value) if len(value) <= 40 else f"{value[:20]!r} ... {value[-20:]!r}"


def _cells(text: str) -> Iterator[tuple[int, str]]:
    """The cells of a CSV file with their line numbers, except separators. The loader reports errors."""
    reader = sheet_reader(text)
    try:
        header = next(reader, [])
        columns = [index for index, name in enumerate(header) if name != _SEPARATOR_COLUMN]
        yield from ((reader.line_num, name) for name in header)
        for row in reader:
            yield from ((reader.line_num, row[index]) for index in columns if index < len(row))
    except csv.Error:
        return


def _strings_in_lines(text: str) -> Iterator[tuple[int, str]]:
    """The strings in each line of JSON with the line's number. The loader reports errors."""
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            yield from ((number, value) for value in _strings(json.loads(line)))
        except (ValueError, RecursionError):
            continue


def _strings(data: JSON) -> Iterator[str]:
    """All strings in JSON data, including keys."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from _strings(value)
    elif isinstance(data, list):
        for value in data:
            yield from _strings(value)
