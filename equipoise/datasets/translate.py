"""Translation of question files, line by line, with checks and a table for a reviewer.

A line that fails its checks is translated again. If it still fails, it is left empty in the result, so that
lines keep their numbers. The table then says what is wrong.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from equipoise.core.errors import CallFailed, UserError
from equipoise.core.files import (
    has_surrogates,
    lines,
    rows,
    shown,
    table_text,
    without_surrogates,
    write_text,
)
from equipoise.core.settings import Settings
from equipoise.core.types import JSON, Message
from equipoise.datasets.translation_checks import line_flags
from equipoise.judge.judge import JobModels
from equipoise.judge.rubric import reading, take, template
from equipoise.models.counters import CounterSnapshot
from equipoise.models.redact import Secrets
from equipoise.results import journal
from equipoise.results.lines import WrittenLine
from equipoise.runner.jobs import Job, open_jobs

ATTEMPTS = 3
_TABLE_COLUMNS = ["language", "language_name", "question", "separator"]
_REVIEW_COLUMNS = ("line", "part", "source", "translation", "back_translation", "flags")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """One text to translate. `part` is its column in a table of templates, empty in a text file."""

    line: int
    part: str
    text: str

    @property
    def name(self) -> str:
        """The name of the text's job, unique in its file."""
        return f"line-{self.line}{'-' + self.part if self.part else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """The translation of a text, or the last attempt with `flags` that say what is wrong with it.

    `back` is the back-translation. `notes` say what is wrong with `back` alone.
    """

    source: SourceText
    text: str
    back: str
    flags: Sequence[str]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationPrompts:
    """The prompts for translation and back-translation."""

    system: Template
    user: Template
    again: Template
    back_system: Template
    back_user: Template


def read_prompts(path: Path) -> TranslationPrompts:
    """The prompts in a TOML file. Raises UserError naming file and key."""
    languages, text = {"source", "target"}, {"text", "code"}
    with reading(path) as (data, _):
        forward, back = take(data, "translation", dict), take(data, "back", dict)
        return TranslationPrompts(
            system=_template(forward, "system", "translation.", languages),
            user=_template(forward, "user", "translation.", text),
            again=_template(forward, "again", "translation.", {"complaint"}),
            back_system=_template(back, "system", "back.", languages),
            back_user=_template(back, "user", "back.", text),
        )


def _template(table: dict[str, JSON], name: str, where: str, names: set[str]) -> Template:
    return template(table, name, known=names, needed=names, where=where)


def source_texts(path: Path, source_language: str) -> list[SourceText]:
    """The texts of a file: each non-empty line, or in a table of templates the parts of the source's row.

    Raises UserError naming file and line.
    """
    if path.suffix == ".csv":
        templates = [row for row in rows(path, _TABLE_COLUMNS) if row["language"] == source_language]
        if len(templates) != 1:
            raise UserError(
                f"{path}: has {len(templates)} rows in {source_language!r}; "
                "there must be one to translate from"
            )
        return [SourceText(line=1, part=part, text=templates[0][part]) for part in ("question", "separator")]
    texts = [SourceText(line=number, part="", text=text) for number, text in lines(path)]
    if not texts:
        raise UserError(f"{path}:1: no text in this file")
    return texts


# Translating one text.


def _job(
    source: SourceText, prompts: TranslationPrompts, languages: tuple[str, str], *, translates_back: bool
) -> Job[Translation]:
    """A job that translates one text from the first language to the second, and back if wanted."""

    async def translate_text(models: JobModels) -> Translation:
        text, flags = await _translate_text(models, source.text, prompts, *languages)
        if not translates_back or not text:
            return Translation(source=source, text=text, back="", flags=flags)
        back, notes = await _translate_back(models, text, prompts, *languages)
        return Translation(source=source, text=text, back=back, flags=flags, notes=notes)

    return Job(name=source.name, do=translate_text)


async def _translate_back(
    models: JobModels, text: str, prompts: TranslationPrompts, source_language: str, language: str
) -> tuple[str, list[str]]:
    """The back-translation by the second model, and notes on anything that is wrong with it."""
    system = prompts.back_system.substitute(source=language, target=source_language).strip()
    request = prompts.back_user.substitute(text=text, code=models.code("back")).strip()
    try:
        reply = await models.evaluators[0].complete(_messages(system, request))
    except CallFailed as failure:
        if failure.stops_session:
            raise
        return "", [f"back-translation: {failure}"]
    back = _one_line(reply.text)
    if reply.blocked:
        return back, [f"back-translation: blocked ({reply.blocked})"]
    if reply.is_truncated:
        return back, ["back-translation: it was cut at its length limit"]
    return back, [] if back else ["back-translation: it is empty"]


async def _translate_text(
    models: JobModels, source: str, prompts: TranslationPrompts, source_language: str, language: str
) -> tuple[str, list[str]]:
    """The last of at most ATTEMPTS translations of a text, and flags on what is wrong. Raises CallFailed."""
    system = prompts.system.substitute(source=source_language, target=language).strip()
    request = prompts.user.substitute(text=source, code=models.code("translation")).strip()
    messages = _messages(system, request)
    for _ in range(ATTEMPTS):
        reply = await models.model.complete(messages)
        text = reply.text.strip()
        if reply.blocked:
            return text, [f"blocked ({reply.blocked})"]
        flags = ["it was cut at its length limit"] if reply.is_truncated else []
        flags += ["it has half a character"] if has_surrogates(text) else []
        flags += line_flags(source, text, source_language, language)
        if not flags:
            break
        complaint = prompts.again.substitute(complaint="; ".join(flags)).strip()
        answer = Message(role="assistant", content=reply.text)
        messages = (*messages, answer, Message(role="user", content=complaint))
    return text, flags


def _messages(system: str, user: str) -> tuple[Message, ...]:
    return (Message(role="system", content=system), Message(role="user", content=user))


def _one_line(text: str) -> str:
    return " ".join(text.split())


# Translating a file.


def translate(
    source: Path,
    languages: tuple[str, str],
    target: Path,
    settings: Settings,
    prompts: TranslationPrompts,
    *,
    translates_back: bool,
    overwrites: bool,
    is_fresh: bool,
    on_done: Callable[[], None],
    tell: Callable[[str], None],
) -> tuple[list[Translation], CounterSnapshot]:
    """Translate a file from the first language to the second, into `target`, with a review beside it.

    Returns the translation of every text, and the counts of calls and tokens. Files that were edited since
    they were written are replaced only with `overwrites`. With `is_fresh`, earlier calls are archived and
    made again. Raises UserError; finished calls are then in the journal.
    """
    texts = source_texts(source, languages[0])
    review, log = beside(target, source, "review.csv"), beside(target, source, "journal.jsonl")
    if not overwrites:
        _refuse_edited((target, review), log)
    with open_jobs(settings, log, is_fresh=is_fresh, tell=tell) as session:
        if is_fresh:
            # If this run is interrupted, the new journal must still list the files of the earlier one.
            existing = [path for path in (target, review) if path.is_file()]
            session.append("written", files={path.name: _hash(path.read_bytes()) for path in existing})
        jobs = [_job(text, prompts, languages, translates_back=translates_back) for text in texts]
        results, secrets = session.run(jobs, on_done), Secrets(settings.secrets)
        translations = [_masked(text, item, secrets) for text, item in zip(texts, results, strict=True)]
        is_table = source.suffix == ".csv"
        content = _table_text(translations, languages[1]) if is_table else _lines_text(translations)
        contents = {target: content, review: without_surrogates(_review_text(translations))}
        # Hashes are recorded before files are written: an unrecorded file counts as edited by the user.
        session.append("written", files={path.name: _hash(text.encode()) for path, text in contents.items()})
        for path, text in contents.items():
            write_text(path, text)
        return translations, session.totals


def beside(target: Path, source: Path, kind: str) -> Path:
    """The path of a file beside the result: `LANGUAGE.KIND`, or for a table `LANGUAGE.csv.KIND`."""
    return target.with_name(f"{target.name if source.suffix == '.csv' else target.stem}.{kind}")


def _refuse_edited(paths: Sequence[Path], log: Path) -> None:
    """Raise UserError if a file was edited since it was written."""
    digests: dict[str, set[JSON]] = {}
    for line in journal.read(log) if log.exists() else ():
        if isinstance(line.entry, WrittenLine):
            for name, digest in line.entry.files.items():
                digests.setdefault(name, set()).add(digest)
    for path in paths:
        if path.is_file() and _hash(path.read_bytes()) not in digests.get(path.name, ()):
            raise UserError(
                f"{shown(path)}: is not as this command has written it; keep it by naming another file with "
                "--output, or replace it with --force"
            )


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _masked(source: SourceText, result: Translation | CallFailed, secrets: Secrets) -> Translation:
    """The translation of a text with secrets masked, for files and messages."""
    if isinstance(result, CallFailed):
        return Translation(source=source, text="", back="", flags=[str(result)])
    return Translation(
        source=source,
        text=secrets.mask(result.text),
        back=secrets.mask(result.back),
        flags=[secrets.mask(flag) for flag in result.flags],
        notes=[secrets.mask(note) for note in result.notes],
    )


def _lines_text(translations: Sequence[Translation]) -> str:
    """The text of the translated file. Lines keep their numbers; failed ones are empty."""
    texts = {item.source.line: "" if item.flags else item.text for item in translations}
    last = max(texts)
    return "".join(f"{texts.get(number, '')}\n" for number in range(1, last + 1))


def _table_text(translations: Sequence[Translation], language: str) -> str:
    """The text of a table of templates with one row. Parts that failed are empty."""
    parts = {
        item.source.part: "" if item.flags else _with_spaces_of(item.source.text, item.text)
        for item in translations
    }
    return table_text(
        [_TABLE_COLUMNS, [language, _language_name(language), parts["question"], parts["separator"]]]
    )


def _with_spaces_of(source: str, text: str) -> str:
    """The text with the leading and trailing spaces of its source, which matter in a separator."""
    start, end = len(source) - len(source.lstrip()), len(source.rstrip())
    return f"{source[:start]}{text}{source[end:]}"


def _language_name(language: str) -> str:
    """The English name of a language from CLDR; its code if CLDR has none."""
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(language.replace("-", "_")).get_language_name("en") or language
    except (UnknownLocaleError, ValueError):
        return language


def _review_text(translations: Sequence[Translation]) -> str:
    """The text of the table for a reviewer."""
    table = [
        (str(item.source.line), item.source.part, item.source.text, item.text, item.back, remarks(item))
        for item in translations
    ]
    return table_text([_REVIEW_COLUMNS, *table])


def remarks(translation: Translation) -> str:
    """The flags of a translation and the notes on it, as one text; empty if there are none."""
    return "; ".join((*translation.flags, *translation.notes))
