"""Reads question files or a table as validated cases in a stable order. Errors name file and line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import Row, shown
from equipoise.core.types import JSON, Case
from equipoise.judge import facts as judged_facts
from equipoise.judge.facts import KeyFact
from equipoise.judge.rubric import Brief
from equipoise.suites import facts, tables
from equipoise.suites.findings import Finding, Text
from equipoise.suites.invariants import agrees, distinct
from equipoise.suites.neutrality import wording
from equipoise.suites.neutrality.table import QuestionTable
from equipoise.suites.neutrality.wording import LanguageTexts
from equipoise.suites.selection import DEFAULT_AREA, FACTS, INDEX, Selection, about
from equipoise.suites.tables import Table

EMBARRASSES = "embarrasses"
"""An optional column of the index, and a label of its questions: whom a frank answer embarrasses."""
OPEN = "open"
"""The folder in a dataset with its questions in an open form."""
OTHERS, BEIJING = "others", "beijing"
_LANGUAGE = re.compile(r"[A-Za-z0-9]+([-_][A-Za-z0-9]+)*")


def _faults(row: Row) -> Iterator[str]:
    if not any(row[column] for column in row.values if column not in QUESTION_TABLE.columns):
        yield "has no question; write one, or remove the row"


def _areas_above(folder: Path) -> dict[JSON, JSON]:
    """The areas by id in the dataset above, if this is the folder with its questions in an open form."""
    if folder.resolve().name != OPEN:
        return {}
    return {row["id"]: row["area"] for row in LINE_INDEX.valid_rows(folder.resolve().parent)}


QUESTION_LINES = Table(file="*.txt", row="question", columns={"text": tables.text}, unique=["text"])
LINE_INDEX = Table(
    file=INDEX,
    row="question",
    columns={
        "line": tables.number,
        "id": tables.slug,
        "area": tables.slug,
        "slug": tables.slug,
        "keywords": tables.names,
    },
    optional_columns={EMBARRASSES: tables.one_of(BEIJING, OTHERS, "several", "nobody")},
    unique=["line", "id"],
    must=[distinct("slug"), agrees("area", by=["id"], with_values=_areas_above)],
    optional=True,
)
QUESTION_TABLE = QuestionTable(
    file="questions.csv",
    row="question",
    columns={"id": tables.slug, "area": tables.optional(tables.slug, DEFAULT_AREA)},
    unique=["id"],
    faults=_faults,
)
FORMATS = ((QUESTION_LINES, LINE_INDEX), (QUESTION_TABLE,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Case):
    """One question in one language. `index` is its line or row, from 1; `item` is its id in all languages.

    `brief` is the `Brief` of the folder as plain data: what evaluators are told about the subject and the
    sides of its questions; None if the folder has none. `facts` are the key facts that evaluators are given,
    as plain data. `embarrasses` says whom a frank answer embarrasses, if the index has that column.
    """

    item: str
    index: int
    question: str
    brief: Mapping[str, JSON] | None = None
    embarrasses: str | None = None
    facts: Sequence[Mapping[str, JSON]] = ()

    @property
    def facts_in_hand(self) -> tuple[KeyFact, ...]:
        """The `facts` as values."""
        return judged_facts.of_json(self.facts)

    @property
    def about(self) -> Brief | None:
        """The `brief` as a value."""
        return None if self.brief is None else Brief(**self.brief)


def questions(selection: Selection) -> list[Question]:
    """The selected questions, language by language, each in file order. Raises UserError.

    Languages are in the order of the names of their files, or of the columns of a table.
    """
    files = question_files(selection.topics)
    cases = _with_facts([*(_table_cases if _is_table(files[0]) else _file_cases)(files, selection)], files)
    folder_about = about(selection.topics, "neutrality", selection.dataset)
    if folder_about is None:
        return cases
    brief = asdict(folder_about)
    return [replace(case, brief=brief) for case in cases]


def _with_facts(cases: list[Question], files: Sequence[Path]) -> list[Question]:
    """The cases with the key facts of their questions. Raises UserError."""
    if facts.file_beside(files[0]) is None:
        return cases
    ids = _ids(files)
    by_item = {ids[question]: own for question, own in facts.read(files[0], ids).items()}
    return [replace(case, facts=[fact.to_json() for fact in by_item.get(case.item, ())]) for case in cases]


def _ids(files: Sequence[Path]) -> dict[str, str]:
    """The item of each question in these files, by the id that facts refer to. Raises UserError."""
    if _is_table(files[0]):
        return {row["id"]: row["id"] for row in QUESTION_TABLE.read(files[0])}
    if (files[0].parent / INDEX).is_file():
        return {row["id"]: _indexed_item(row) for row in LINE_INDEX.read(files[0].parent)}
    # Line numbers would attach facts to whichever question is in that line.
    raise UserError(
        f"{shown(files[0].parent / FACTS)}: names questions by the ids of {INDEX}, which is not beside it: "
        "write one, or take the facts away"
    )


def _indexed_item(row: Row) -> str:
    return f"{row['id']}_{row['slug']}"


def _numbered_items(lines: Sequence[Row]) -> list[str]:
    """The items of questions without an index: their line numbers, such as `q07`."""
    width = max(2, len(str(lines[-1].line)))
    return [f"q{line.line:0{width}d}" for line in lines]


def question_files(topics: Path) -> list[Path]:
    """The question files of a folder in name order, or else its table; `topics` itself if it is a file.

    Raises UserError.
    """
    files = QUESTION_LINES.files(topics) or QUESTION_TABLE.files(topics)
    if not files:
        raise UserError(
            f"{topics}: no question files (*.txt, one question a line) in this folder, nor questions.csv"
        )
    return files


def _is_table(path: Path) -> bool:
    return path.suffix == ".csv"


def lint(topics: Path) -> Iterator[Finding | Text]:
    """The questions as texts that must be distinct, and findings on missing lines, wording and key facts.

    Raises UserError.
    """
    files = question_files(topics)
    languages = _by_language(files)
    all_numbers = set().union(*(item.texts for item in languages))
    for item in languages:
        for number, text in item.texts.items():
            where = f"{item.path}:{number}"
            yield Text(where=where, among=item.language, owner=where, text=text)
        for number in sorted(all_numbers - item.texts.keys()):
            other = next(other for other in languages if number in other.texts)
            yield item.finding(number, f"no question here, but there is one in {other.name}; add it")
    yield from wording.lint(topics, languages)
    if facts.file_beside(topics) is not None:
        yield from facts.lint(topics, _ids(files))


def _by_language(files: list[Path]) -> list[LanguageTexts]:
    """The questions in these files by language, each with its line. Raises UserError."""
    if not _is_table(files[0]):
        return [_texts(path, path.stem, path.name, "text", QUESTION_LINES) for path in files]
    return [
        _texts(files[0], language, language, language, QUESTION_TABLE)
        for language in QUESTION_TABLE.languages_in(files[0])
    ]


def _texts(path: Path, language: str, name: str, column: str, table: Table) -> LanguageTexts:
    texts = {row.line: row[column] for row in table.valid_rows(path) if row[column]}
    return LanguageTexts(path=path, language=language, name=name, texts=texts)


def _table_cases(files: list[Path], selection: Selection) -> Iterator[Question]:
    """The questions of a table: in each language, the rows that have a text in its column."""
    rows = list(enumerate(QUESTION_TABLE.read(files[0]), start=1))
    languages = QUESTION_TABLE.languages_in(files[0])
    for language in languages:
        if not any(row[language] for _, row in rows):
            raise UserError(f"{files[0]}:1: the column {language} has no question; write some, or remove it")
    for language in selection.chosen(languages):
        for index, row in rows:
            if row[language]:
                yield _question(language, index, row[language], row["id"], row["area"])


def _file_cases(files: list[Path], selection: Selection) -> Iterator[Question]:
    """The questions in files of lines: with the ids and areas of the index, or else numbered."""
    by_language = {path.stem: path for path in files}
    for language, path in by_language.items():
        if not _LANGUAGE.fullmatch(language):
            raise UserError(f"{path}: the file's name must be a language code such as en-US")
    folder = files[0].parent
    index = {row["line"]: row for row in LINE_INDEX.read(folder)} if (folder / INDEX).is_file() else None
    for language in selection.chosen(by_language):
        lines = QUESTION_LINES.read(by_language[language])
        if index is not None:
            _require_matching_index(lines, index)
        for line, item in zip(lines, _numbered_items(lines), strict=True):
            if row := index and index[line.line]:
                name = _indexed_item(row)
                question = _question(language, line.line, line["text"], name, row["area"], row["keywords"])
                yield replace(question, embarrasses=row.values.get(EMBARRASSES))
            else:
                yield _question(language, line.line, line["text"], item, DEFAULT_AREA)


def _require_matching_index(lines: Sequence[Row], index: Mapping[int, Row]) -> None:
    """Raise UserError for the first line without a row in the index, or row without a line."""
    numbers = {row.line for row in lines}
    for number in sorted(numbers ^ index.keys()):
        where = f"{lines[0].path}:{number}"
        if number in numbers:
            raise UserError(f"{where}: this question has no row in {INDEX}; add one")
        raise UserError(f"{where}: {INDEX} has a row for this line, but there is no question")


def _question(
    language: str, index: int, text: str, item: str, area: str, keywords: tuple[str, ...] = ()
) -> Question:
    return Question(
        id=f"{language}-{area}-{item}",
        language=language,
        area=area,
        keywords=keywords,
        item=item,
        index=index,
        question=text,
    )
