"""Has replies of finished results translated and judged again, in every language of the pair.

Tells whether a model is less neutral in a language, or its evaluator stricter there. Interrupted, the same
call goes on from its journal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from string import Template

from equipoise.comparison.side import LoadedResults
from equipoise.core.errors import CallFailed, UserError
from equipoise.core.files import is_whole
from equipoise.core.settings import Settings
from equipoise.core.types import JSON, Message
from equipoise.datasets.translation_checks import reply_flags
from equipoise.judge.judge import JobModels
from equipoise.judge.rubric import Rubric, reading, take, template
from equipoise.models.counters import CounterSnapshot
from equipoise.models.redact import Secrets
from equipoise.results import sections
from equipoise.results.summary import plain
from equipoise.runner.jobs import Job, open_jobs
from equipoise.stats.language_gap import parts
from equipoise.stats.sampling import stratified
from equipoise.studies import replies
from equipoise.studies.replies import ScoredReply
from equipoise.suites import AnySuite

ATTEMPTS = 2
DECLINED = "the translator declined"
METHOD = (
    "Kitagawa (1955), J. American Statistical Association 50, 1168-1194, question by question; "
    "Student's t over questions"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackTranslationPrompts:
    """The prompts for the translator; `declined` is what it writes if it will not translate."""

    version: str
    declined: str
    system: Template
    user: Template
    again: Template


def prompts(path: Path) -> BackTranslationPrompts:
    """The prompts in a TOML file. Raises UserError naming file and key."""
    with reading(path) as (data, _):
        table = take(data, "translation", dict)
        names = {"source", "target", "declined"}
        return BackTranslationPrompts(
            version=take(data, "version", str),
            declined=take(data, "declined", str),
            system=template(table, "system", known=names, needed=names, where="translation."),
            user=template(
                table, "user", known={"text", "code"}, needed={"text", "code"}, where="translation."
            ),
            again=template(table, "again", known={"complaint"}, needed={"complaint"}, where="translation."),
        )


# What is to be judged.


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledText:
    """One reply in the language that it is to be judged in, with the question of that language."""

    reply: ScoredReply
    language: str
    question: str

    @property
    def is_translated(self) -> bool:
        """Whether that is another language than the reply's."""
        return self.language != self.reply.language

    @property
    def name(self) -> str:
        """Unique in the sample."""
        return f"{self.reply.id}-in-{self.language}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationSample:
    """The sample: replies to the same questions in all `languages`, translated into the `targets`."""

    languages: Sequence[str]
    targets: Sequence[str]
    questions: int
    texts: Sequence[SampledText]
    seed: int

    @property
    def replies(self) -> int:
        """How many replies are in the sample."""
        return len(self.texts) - self.translations

    @property
    def translations(self) -> int:
        """How many translations are needed."""
        return sum(text.is_translated for text in self.texts)


def design(side: LoadedResults, targets: Sequence[str], n: int, seed: int) -> TranslationSample:
    """A sample of about `n` replies, stratified by language and area. Raises UserError.

    Questions are drawn by area, and of each one run in every language.
    """
    if side.suite.judge_reply is None:
        title = side.suite.name
        raise UserError(f"{side.file}: the replies of {title} are not free texts that are judged one by one")
    by_question: dict[str, dict[str, list[ScoredReply]]] = {}
    for reply in replies.scored(side.rows):
        by_question.setdefault(reply.cluster, {}).setdefault(reply.language, []).append(reply)
    languages = list(dict.fromkeys(name for by_language in by_question.values() for name in by_language))
    if len(languages) < 2:
        raise UserError(f"{side.file}: has scored replies in fewer than two languages: there is no gap")
    if unknown := [name for name in targets if name not in languages]:
        raise UserError(f"--to: {side.file} has no replies in {unknown[0]}; it has {', '.join(languages)}")
    whole = [by_language for by_language in by_question.values() if len(by_language) == len(languages)]
    if len(whole) < 2:
        raise UserError(f"{side.file}: fewer than two questions have a scored reply in every language")
    chosen = stratified(whole, _area, max(2, n // len(languages)), seed)
    wanted = list(dict.fromkeys(targets)) or languages
    texts = [text for by_language in chosen for text in _texts(by_language, languages, wanted, seed)]
    return TranslationSample(
        languages=languages, targets=wanted, questions=len(chosen), texts=texts, seed=seed
    )


def _area(by_language: Mapping[str, Sequence[ScoredReply]]) -> tuple[str, ...]:
    return (next(iter(by_language.values()))[0].area,)


def _texts(
    by_language: Mapping[str, Sequence[ScoredReply]],
    languages: Sequence[str],
    targets: Sequence[str],
    seed: int,
) -> list[SampledText]:
    """One run in each language, as it is and for each of the other languages."""
    questions = {language: by_language[language][0].question for language in languages}
    drawn = [stratified(by_language[language], lambda reply: (), 1, seed)[0] for language in languages]
    return [
        SampledText(reply=reply, language=language, question=questions[language])
        for reply in drawn
        for language in dict.fromkeys((reply.language, *targets))
    ]


# One text.


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTranslation:
    """Each evaluator's score of a translated text on 0..100, or why there is no translation."""

    scores: Mapping[str, float]
    failed: str | None = None


async def _do(
    text: SampledText, suite: AnySuite, rubric: Rubric, prompts: BackTranslationPrompts, models: JobModels
) -> JudgedTranslation:
    reply = text.reply.text
    if text.is_translated:
        reply, failed = await _translate(text, prompts, models)
        if failed:
            return JudgedTranslation(scores={}, failed=failed)
    assert suite.judge_reply is not None
    scores: dict[str, float] = {}
    for evaluator in models.evaluators:
        try:
            score = await suite.judge_reply(text.question, reply, rubric, evaluator)
        except CallFailed as failure:
            if failure.stops_session:
                raise
            continue
        if score is not None:
            scores[evaluator.name] = score
    return JudgedTranslation(scores=scores)


async def _translate(
    text: SampledText, prompts: BackTranslationPrompts, models: JobModels
) -> tuple[str, str | None]:
    """The translation, or why there is none."""
    source, target = text.reply.language, text.language
    named = {"source": _called(source), "target": _called(target), "declined": prompts.declined}
    request = prompts.user.substitute(text=text.reply.text, code=models.code("translation")).strip()
    messages: tuple[Message, ...] = (
        Message(role="system", content=prompts.system.substitute(named).strip()),
        Message(role="user", content=request),
    )
    for _ in range(ATTEMPTS):
        try:
            reply = await models.model.complete(messages)
        except CallFailed as failure:
            if failure.stops_session:
                raise
            return "", str(failure)
        translation = reply.text.strip()
        if reply.blocked:
            return "", f"blocked ({reply.blocked})"
        if translation.strip(" .\"'*`").casefold() == prompts.declined.casefold():
            return "", DECLINED
        wrong = ["it was cut at its length limit"] if reply.is_truncated else []
        wrong += [] if is_whole(translation) else ["it has half a character"]
        wrong += reply_flags(text.reply.text, translation, source, target)
        if not wrong:
            return translation, None
        complaint = Message(role="user", content=prompts.again.substitute(complaint="; ".join(wrong)).strip())
        messages = (*messages, Message(role="assistant", content=reply.text), complaint)
    return "", "; ".join(wrong)


def _called(language: str) -> str:
    """The language's English name, where CLDR has one, and its code."""
    from babel import Locale, UnknownLocaleError

    try:
        name = Locale.parse(language.replace("_", "-"), sep="-").get_display_name("en")
    except (UnknownLocaleError, ValueError):
        name = None
    return f"{name} [{language}]" if name else language


# The whole.


def backtranslate(
    side: LoadedResults,
    path: Path,
    chosen: TranslationSample,
    rubric: Rubric,
    prompts: BackTranslationPrompts,
    settings: Settings,
    *,
    is_fresh: bool = False,
    on_done: Callable[[], None] = lambda: None,
    tell: Callable[[str], None] = lambda text: None,
) -> tuple[dict[str, JSON], CounterSnapshot]:
    """Judge a sample in every language, and add what that says to the results at `path`. Raises UserError.

    Returns the section of the results, and what was asked.
    """
    log = journal_of(path)
    wanted = [
        Job(name=text.name, do=partial(_do, text, side.suite, rubric, prompts)) for text in chosen.texts
    ]
    with sections.adding(path), open_jobs(settings, log, is_fresh=is_fresh, tell=tell) as session:
        hidden = Secrets(settings.secrets)
        results = [
            JudgedTranslation(scores={}, failed=hidden.mask(str(item)))
            if isinstance(item, CallFailed)
            else item
            for item in session.run(wanted, on_done)
        ]
        section = _section(chosen, results, settings, rubric, prompts)
        section["cost_usd"] = session.cost
        sections.add(path, "backtranslation", section)
        return section, session.totals


def journal_of(path: Path) -> Path:
    """Path of the journal of translations and verdicts."""
    return path.with_name(f"{path.name.removesuffix('.json')}.backtranslation.jsonl")


def _section(
    chosen: TranslationSample,
    results: Sequence[JudgedTranslation],
    settings: Settings,
    rubric: Rubric,
    prompts: BackTranslationPrompts,
) -> dict[str, JSON]:
    pairs = [*zip(chosen.texts, results, strict=True)]
    why = Counter(item.failed for text, item in pairs if text.is_translated and item.failed)
    section: dict[str, JSON] = plain(
        {
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "translator": settings.model,
            "prompt_version": prompts.version,
            "rubric_version": rubric.version,
            "languages": list(chosen.languages),
            "targets": list(chosen.targets),
            "seed": chosen.seed,
            "questions": chosen.questions,
            "replies": chosen.replies,
            "translations": chosen.translations,
            "failed": sum(why.values()),
            "declined": why[DECLINED],
            "reasons": dict(why.most_common()),
            "method": METHOD,
            "unit": "percentage points",
            "confidence": 0.95,
            "evaluators": [_of_evaluator(name, chosen, pairs) for name in settings.evaluator_models],
            "texts": [_text(text, item) for text, item in pairs],
        }
    )
    return section


def _of_evaluator(
    name: str, chosen: TranslationSample, pairs: Sequence[tuple[SampledText, JudgedTranslation]]
) -> dict[str, JSON]:
    by_question: dict[str, dict[tuple[str, str], float]] = {}
    for text, item in pairs:
        if name in item.scores:
            cell = (text.reply.language, text.language)
            by_question.setdefault(text.reply.cluster, {})[cell] = item.scores[name]
    judged = [item for text, item in pairs if not (text.is_translated and item.failed)]
    return {
        "evaluator": name,
        "verdicts": sum(name in item.scores for item in judged),
        "missing": sum(name not in item.scores for item in judged),
        "pairs": [asdict(part) for part in parts([*by_question.values()], chosen.languages, chosen.targets)],
    }


def _text(text: SampledText, item: JudgedTranslation) -> dict[str, JSON]:
    return {"reply": text.reply.id, "judged_in": text.language, "failed": item.failed, "scores": item.scores}
