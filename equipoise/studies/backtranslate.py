"""The back-translation study: replies of finished results are translated into other languages and judged.

It shows whether a model is less neutral in a language or its evaluator is stricter there. An interrupted
study continues from its journal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from equipoise.core.errors import CallFailed, UserError
from equipoise.core.files import has_surrogates
from equipoise.core.settings import Settings
from equipoise.core.types import Message
from equipoise.datasets.translation_checks import reply_flags
from equipoise.judge.judge import JobModels
from equipoise.judge.rubric import Rubric, VerdictRubric, reading, take, template
from equipoise.models.counters import CounterSnapshot
from equipoise.models.redact import Secrets
from equipoise.results import sections
from equipoise.results.results import Results
from equipoise.results.summary import to_plain_json
from equipoise.runner.jobs import Job, open_jobs
from equipoise.stats.language_gap import split_gaps
from equipoise.stats.sampling import stratified
from equipoise.studies.replies import ScoredReply, scored_replies
from equipoise.suites.contract import verdict_level

if TYPE_CHECKING:
    from equipoise.results.document import BackTranslation, TranslatedText, TranslationJudge

_ATTEMPTS = 2
_DECLINED = "the translator declined"
"""The reason for a failed translation if the translator declined."""
_METHOD = (
    "Kitagawa (1955), J. American Statistical Association 50, 1168-1194, question by question; "
    "Student's t over questions"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackTranslationPrompts:
    """The prompts for the translator, which is told to reply `declined` if it does not translate."""

    version: str
    declined: str
    system: Template
    user: Template
    again: Template


def read_prompts(path: Path) -> BackTranslationPrompts:
    """The prompts in a TOML file. Raises UserError naming file and key."""
    with reading(path) as (data, _):
        table = take(data, "translation", dict)
        languages, text = {"source", "target", "declined"}, {"text", "code"}
        return BackTranslationPrompts(
            version=take(data, "version", str),
            declined=take(data, "declined", str),
            system=template(table, "system", known=languages, needed=languages, where="translation."),
            user=template(table, "user", known=text, needed=text, where="translation."),
            again=template(table, "again", known={"complaint"}, needed={"complaint"}, where="translation."),
        )


# The sample.


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledText:
    """A reply, the `language` in which it is judged, and the question in that language."""

    reply: ScoredReply
    language: str
    question: str

    @property
    def is_translated(self) -> bool:
        """Whether `language` is not the reply's own, so that a translation is needed."""
        return self.language != self.reply.run.language

    @property
    def name(self) -> str:
        """The name of the text, unique in the sample."""
        return f"{self.reply.id}-in-{self.language}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationSample:
    """Replies to the same questions in all `languages`. Each is also translated into the `targets`."""

    languages: Sequence[str]
    targets: Sequence[str]
    questions: int
    texts: Sequence[SampledText]
    seed: int

    @property
    def replies(self) -> int:
        """The number of replies in the sample."""
        return len(self.texts) - self.translations

    @property
    def translations(self) -> int:
        """The number of translations that are needed."""
        return sum(text.is_translated for text in self.texts)


def single_reply_rubric(results: Results, rubric: Rubric) -> VerdictRubric:
    """The rubric, if evaluators see a question and a reply and choose a level. Raises UserError otherwise."""
    quoted = rubric.user.get_identifiers() if isinstance(rubric, VerdictRubric) else ()
    if (
        isinstance(rubric, VerdictRubric)
        and results.suite.judging.has_means
        and {"question", "reply"} <= {*quoted}
    ):
        return rubric
    raise UserError(
        f"{results.file}: the replies of {results.suite.name} are not free texts that are judged one by one"
    )


def draw_sample(results: Results, targets: Sequence[str], n: int, seed: int) -> TranslationSample:
    """A sample of about `n` replies. Raises UserError if the results do not allow one.

    Questions are drawn, stratified by area, and then one run for each question and language. If `targets` is
    empty, replies are translated into all languages.
    """
    by_question: dict[str, dict[str, list[ScoredReply]]] = {}
    for reply in scored_replies(results.rows):
        by_question.setdefault(reply.run.question.cluster, {}).setdefault(reply.run.language, []).append(
            reply
        )
    languages = list(dict.fromkeys(name for by_language in by_question.values() for name in by_language))
    if len(languages) < 2:
        raise UserError(f"{results.file}: has scored replies in fewer than two languages: there is no gap")
    if unknown := [name for name in targets if name not in languages]:
        raise UserError(f"--to: {results.file} has no replies in {unknown[0]}; it has {', '.join(languages)}")
    complete = [by_language for by_language in by_question.values() if len(by_language) == len(languages)]
    if len(complete) < 2:
        raise UserError(f"{results.file}: fewer than two questions have a scored reply in every language")
    drawn = stratified(complete, _area, max(2, n // len(languages)), seed)
    all_targets = list(dict.fromkeys(targets)) or languages
    texts = [
        text for by_language in drawn for text in _sampled_texts(by_language, languages, all_targets, seed)
    ]
    return TranslationSample(
        languages=languages, targets=all_targets, questions=len(drawn), texts=texts, seed=seed
    )


def _area(by_language: Mapping[str, Sequence[ScoredReply]]) -> tuple[str, ...]:
    return (next(iter(by_language.values()))[0].run.area,)


def _sampled_texts(
    by_language: Mapping[str, Sequence[ScoredReply]],
    languages: Sequence[str],
    targets: Sequence[str],
    seed: int,
) -> list[SampledText]:
    """For one reply in each language: the reply itself, and a text to translate into each other target."""
    questions = {language: by_language[language][0].run.question.text for language in languages}
    # A sample of one from a single stratum is a random choice that `seed` repeats.
    drawn = [stratified(by_language[language], lambda reply: (), 1, seed)[0] for language in languages]
    return [
        SampledText(reply=reply, language=language, question=questions[language])
        for reply in drawn
        for language in dict.fromkeys((reply.run.language, *targets))
    ]


# Translating and judging one text.


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedText:
    """Each evaluator's score of a text on 0..100. `failed` is the reason if the text was not translated."""

    scores: Mapping[str, float]
    failed: str | None = None


async def _translate_and_judge(
    text: SampledText, rubric: VerdictRubric, prompts: BackTranslationPrompts, models: JobModels
) -> JudgedText:
    """The judged text, without scores of evaluators whose calls failed. CallFailed ends the session."""
    reply = text.reply.text
    if text.is_translated:
        reply, failed = await _translate(text, prompts, models)
        if failed:
            return JudgedText(scores={}, failed=failed)
    rubric = rubric.with_facts(text.reply.facts)
    scores: dict[str, float] = {}
    for evaluator in models.evaluators:
        try:
            verdict = await evaluator.judge(rubric, question=text.question, reply=reply)
        except CallFailed as failure:
            if failure.stops_session:
                raise
            continue
        if (level := verdict_level(verdict)) is not None:
            scores[evaluator.name] = rubric.scale.percent(level)
    return JudgedText(scores=scores)


async def _translate(
    text: SampledText, prompts: BackTranslationPrompts, models: JobModels
) -> tuple[str, str | None]:
    """The translation and None, or an empty text and the reason why there is no translation.

    Raises CallFailed if the failure ends the session.
    """
    source, target = text.reply.run.language, text.language
    values = {
        "source": _language_name(source),
        "target": _language_name(target),
        "declined": prompts.declined,
    }
    request = prompts.user.substitute(text=text.reply.text, code=models.code("translation")).strip()
    messages: tuple[Message, ...] = (
        Message(role="system", content=prompts.system.substitute(values).strip()),
        Message(role="user", content=request),
    )
    for _ in range(_ATTEMPTS):
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
            return "", _DECLINED
        flags = ["it was cut at its length limit"] if reply.is_truncated else []
        flags += ["it has half a character"] if has_surrogates(translation) else []
        flags += reply_flags(text.reply.text, translation, source, target)
        if not flags:
            return translation, None
        complaint = Message(role="user", content=prompts.again.substitute(complaint="; ".join(flags)).strip())
        messages = (*messages, Message(role="assistant", content=reply.text), complaint)
    return "", "; ".join(flags)


def _language_name(language: str) -> str:
    """The language's English name and its code; the code alone if CLDR has no name."""
    from babel import Locale, UnknownLocaleError

    try:
        name = Locale.parse(language.replace("_", "-"), sep="-").get_display_name("en")
    except (UnknownLocaleError, ValueError):
        name = None
    return f"{name} [{language}]" if name else language


# The study.


def backtranslate(
    results: Results,
    path: Path,
    sample: TranslationSample,
    rubric: VerdictRubric,
    prompts: BackTranslationPrompts,
    settings: Settings,
    *,
    is_fresh: bool,
    on_done: Callable[[], None],
    tell: Callable[[str], None],
) -> tuple[BackTranslation, CounterSnapshot]:
    """Translate and judge a sample of `results`, and add the section `backtranslation` to their file `path`.

    Returns the section and the counts of the calls that were made. Raises UserError.
    """
    log = journal_of(path)
    jobs = [
        Job(name=text.name, do=partial(_translate_and_judge, text, rubric, prompts)) for text in sample.texts
    ]
    with sections.locked(path), open_jobs(settings, log, is_fresh=is_fresh, tell=tell) as session:
        secrets = Secrets(settings.secrets)
        judged = [
            JudgedText(scores={}, failed=secrets.mask(str(item))) if isinstance(item, CallFailed) else item
            for item in session.run(jobs, on_done)
        ]
        texts = [*zip(sample.texts, judged, strict=True)]
        section = _section(sample, texts, settings, rubric, prompts, session.cost)
        sections.add(path, "backtranslation", section)
        return section, session.totals


def journal_of(path: Path) -> Path:
    """The path of the journal of translations and verdicts."""
    return path.with_name(f"{path.name.removesuffix('.json')}.backtranslation.jsonl")


def _section(
    sample: TranslationSample,
    texts: Sequence[tuple[SampledText, JudgedText]],
    settings: Settings,
    rubric: Rubric,
    prompts: BackTranslationPrompts,
    cost: float | None,
) -> BackTranslation:
    reasons = Counter(judged.failed for text, judged in texts if text.is_translated and judged.failed)
    return {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "translator": str(settings.model),
        "prompt_version": prompts.version,
        "rubric_version": rubric.version,
        "languages": list(sample.languages),
        "targets": list(sample.targets),
        "seed": sample.seed,
        "questions": sample.questions,
        "replies": sample.replies,
        "translations": sample.translations,
        "failed": sum(reasons.values()),
        "declined": reasons[_DECLINED],
        "reasons": dict(reasons.most_common()),
        "method": _METHOD,
        "unit": "percentage points",
        "confidence": 0.95,
        "evaluators": [_evaluator_entry(name, sample, texts) for name in settings.evaluator_models],
        "texts": [_text_entry(text, judged) for text, judged in texts],
        "cost_usd": cost,
    }


def _evaluator_entry(
    name: str, sample: TranslationSample, texts: Sequence[tuple[SampledText, JudgedText]]
) -> TranslationJudge:
    """The numbers of an evaluator's verdicts, and the gap of each pair of languages, split into its parts."""
    by_question: dict[str, dict[tuple[str, str], float]] = {}
    for text, judged in texts:
        if name in judged.scores:
            languages = (text.reply.run.language, text.language)
            by_question.setdefault(text.reply.run.question.cluster, {})[languages] = judged.scores[name]
    has_verdict = [name in item.scores for text, item in texts if not (text.is_translated and item.failed)]
    return {
        "evaluator": name,
        "verdicts": sum(has_verdict),
        "missing": len(has_verdict) - sum(has_verdict),
        "pairs": [
            to_plain_json(split)
            for split in split_gaps([*by_question.values()], sample.languages, sample.targets)
        ],
    }


def _text_entry(text: SampledText, judged: JudgedText) -> TranslatedText:
    return {
        "reply": text.reply.id,
        "judged_in": text.language,
        "failed": judged.failed,
        "scores": to_plain_json(judged.scores),
    }
