"""Reads question files or a table as validated cases in a stable order. Errors name file and line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import Row, lines, rows
from equipoise.core.types import JSON, Case
from equipoise.judge.rubric import About
from equipoise.suites.findings import Finding, Recognised, Text
from equipoise.suites.neutrality import table, wording
from equipoise.suites.neutrality.wording import LanguageTexts
from equipoise.suites.selection import DEFAULT_AREA, INDEX, Selection, about

INDEX_COLUMNS = ["line", "id", "area", "slug", "keywords"]
_NUMBER = re.compile(r"0*[1-9][0-9]{0,8}")
_SLUG = re.compile(r"[a-z0-9_]+")
_LANGUAGE = re.compile(r"[A-Za-z0-9]+([-_][A-Za-z0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Case):
    """One question in one language. `index` is its line or row, from 1; `item` is its id in all languages.

    `brief` is the `About` of the folder as plain data: what evaluators are told about the questions, their
    subject and sides. It is None if the folder has none.
    """

    item: str
    index: int
    question: str
    brief: Mapping[str, JSON] | None = None

    @property
    def about(self) -> About | None:
        """The `brief` as a value."""
        return None if self.brief is None else About(**self.brief)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRow:
    """The row of a question in the index: its id, area and slug, and further words for `-k`."""

    id: str
    area: str
    slug: str = ""
    keywords: tuple[str, ...] = ()


def questions(selection: Selection) -> list[Question]:
    """The selected questions, language by language, each in file order. Raises UserError.

    Languages are in the order of the names of their files, or of the columns of a table.
    """
    files = question_files(selection.topics)
    read = _table_cases if table.is_table(files[0]) else _file_cases
    cases = read(files, selection)
    folder_about = about(selection.topics, "neutrality", selection.dataset)
    if folder_about is None:
        return cases
    brief = asdict(folder_about)
    return [replace(case, brief=brief) for case in cases]


def question_files(topics: Path) -> list[Path]:
    """The question files of a folder in name order, or else its table; `topics` itself if it is a file.

    Raises UserError.
    """
    try:
        exists, is_folder = topics.exists(), topics.is_dir()
    except OSError:
        exists = is_folder = False
    if exists and not is_folder:
        # Pipes and devices are rejected when they are read.
        return [topics]
    if not exists:
        raise UserError(f"{topics}: no such file or folder; name one with --topics")
    files = sorted(topics.glob("*.txt")) or [*topics.glob(table.QUESTIONS)]
    if not files:
        raise UserError(
            f"{topics}: no question files (*.txt, one question a line) in this folder, nor {table.QUESTIONS}"
        )
    return files


def recognises(path: Path) -> Recognised:
    """`perhaps` for text files, which may be questions or anything else; `yes` for a table of questions."""
    is_folder = path.is_dir()
    if any(path.glob("*.txt")) if is_folder else path.suffix == ".txt":
        return "perhaps"
    file = path / table.QUESTIONS if is_folder else path
    return "yes" if table.is_table(file) and file.is_file() and table.has_header(file) else "no"


def lint(topics: Path) -> Iterator[Finding | Text]:
    """The questions; findings on lines that only other languages have, and on wording. Raises UserError."""
    languages = _by_language(question_files(topics))
    all_numbers = set().union(*(item.texts for item in languages))
    for item in languages:
        for number, text in item.texts.items():
            where = f"{item.path}:{number}"
            yield Text(where=where, among=item.language, owner=where, text=text)
        for number in sorted(all_numbers - item.texts.keys()):
            other = next(other for other in languages if number in other.texts)
            yield item.finding(number, f"no question here, but there is one in {other.name}; add it")
    yield from wording.lint(topics, languages)


def _by_language(files: list[Path]) -> list[LanguageTexts]:
    """The questions in these files by language, each with its line. Raises UserError."""
    if not table.is_table(files[0]):
        texts = ((path, dict(lines(path))) for path in files)
        return [
            LanguageTexts(path=path, language=path.stem, name=path.name, texts=item) for path, item in texts
        ]
    languages, table_rows = table.read(files[0])
    return [
        LanguageTexts(
            path=files[0],
            language=language,
            name=language,
            texts={row.line: row.texts[language] for row in table_rows if language in row.texts},
        )
        for language in languages
    ]


def warnings(cases: Sequence[Question]) -> Iterator[str]:
    """A sentence on the languages that lack questions which others have, if there are any."""
    by_language: dict[str, set[str]] = {}
    for case in cases:
        by_language.setdefault(case.language, set()).add(case.item)
    items = dict.fromkeys(case.item for case in cases)
    missing = {name: [item for item in items if item not in own] for name, own in by_language.items()}
    parts = [
        f"{name} lacks {len(lacks)} ({lacks[0]}{', ...' * (len(lacks) > 1)})"
        for name, lacks in missing.items()
        if lacks
    ]
    if parts:
        yield (
            f"of {len(items)} questions {' and '.join(parts)}, so figures of languages are of different "
            "ones; add what is missing, which `equipoise validate` lists"
        )


def _table_cases(files: list[Path], selection: Selection) -> list[Question]:
    languages, table_rows = table.read(files[0])
    _refuse_unknown(selection, languages)
    return [
        _question(language, number, row.texts[language], IndexRow(id=row.id, area=row.area))
        for language in languages
        if not selection.languages or language in selection.languages
        for number, row in enumerate(table_rows, start=1)
        if language in row.texts
    ]


def _file_cases(files: list[Path], selection: Selection) -> list[Question]:
    index = _read_index(selection.topics)
    return [case for path in _selected_files(files, selection) for case in _read_questions(path, index)]


def _selected_files(files: list[Path], selection: Selection) -> list[Path]:
    names = {path.stem: path for path in files}
    for name, path in names.items():
        if not _LANGUAGE.fullmatch(name):
            raise UserError(f"{path}: the file's name must be a language code such as en-US")
    _refuse_unknown(selection, names)
    return [path for path in files if not selection.languages or path.stem in selection.languages]


def _refuse_unknown(selection: Selection, languages: Collection[str]) -> None:
    """Raise UserError for a selected language that is not one of these."""
    unknown = [language for language in selection.languages if language not in languages]
    if unknown:
        raise UserError(
            f"--language: no {unknown[0]!r} in {selection.topics}; there are {', '.join(languages)}"
        )


def _read_questions(path: Path, index: dict[int, IndexRow] | None) -> list[Question]:
    numbered = list(lines(path))
    if not numbered:
        raise UserError(f"{path}:1: no question in this file; write one question a line")
    _refuse_repeats(path, numbered)
    if index is not None:
        _require_matching_index(path, numbered, index)
    width = max(2, len(str(numbered[-1][0])))
    index_rows = index or {n: IndexRow(id=f"q{n:0{width}d}", area=DEFAULT_AREA) for n, _ in numbered}
    return [_question(path.stem, number, text, index_rows[number]) for number, text in numbered]


def _refuse_repeats(path: Path, numbered: list[tuple[int, str]]) -> None:
    first_lines: dict[str, int] = {}
    for number, text in numbered:
        if text in first_lines:
            raise UserError(f"{path}:{number}: repeats line {first_lines[text]}; remove one of the two")
        first_lines[text] = number


def _require_matching_index(path: Path, numbered: list[tuple[int, str]], index: dict[int, IndexRow]) -> None:
    numbers = {number for number, _ in numbered}
    for number in sorted(numbers ^ index.keys()):
        if number in numbers:
            raise UserError(f"{path}:{number}: this question has no row in {INDEX}; add one")
        raise UserError(f"{path}:{number}: {INDEX} has a row for this line, but there is no question")


def _question(language: str, number: int, text: str, row: IndexRow) -> Question:
    item = f"{row.id}_{row.slug}" if row.slug else row.id
    return Question(
        id=f"{language}-{row.area}-{item}",
        language=language,
        area=row.area,
        keywords=row.keywords,
        item=item,
        index=number,
        question=text,
    )


def _read_index(topics: Path) -> dict[int, IndexRow] | None:
    path = (topics.parent if topics.is_file() else topics) / INDEX
    if not path.is_file():
        return None
    index: dict[int, IndexRow] = {}
    for row in rows(path, INDEX_COLUMNS):
        _add_row(index, row)
    return index


def _add_row(index: dict[int, IndexRow], row: Row) -> None:
    if not _NUMBER.fullmatch(row["line"]):
        raise UserError(f"{row.where}: line is {row['line']!r}, not a whole number from 1")
    line = int(row["line"])
    if line in index:
        raise UserError(f"{row.where}: line {row['line']} has a row already")
    for column in ("id", "area", "slug"):
        if not _SLUG.fullmatch(row[column]):
            raise UserError(f"{row.where}: {column} is {row[column]!r}; use a-z, 0-9 and _ only")
    if any(other.id == row["id"] for other in index.values()):
        raise UserError(f"{row.where}: id {row['id']!r} is taken by an earlier row")
    keywords = tuple(word for word in row["keywords"].split(";") if word)
    index[line] = IndexRow(id=row["id"], area=row["area"], slug=row["slug"], keywords=keywords)
