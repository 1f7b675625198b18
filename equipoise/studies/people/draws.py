"""Random draws of replies for people to label, and the text that names the draw in each row of a sheet."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from equipoise.core.errors import UserError
from equipoise.results.results import Results
from equipoise.stats.sampling import stratified
from equipoise.studies.replies import ScoredReply, scored_replies

_SCORE_BANDS = 3
_DIGEST_LENGTH = 8
_DRAW_TEXT = re.compile(
    r"(?P<drawn>\d{1,9}) of (?P<replies>\d{1,9})(?P<pairs> pairs)?, seed (?P<seed>-?\d{1,18}), "
    r"(?P<content>[0-9a-f]{8})-(?P<rubric>[0-9a-f]{8})-(?P<judge>[0-9a-f]{8})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsDigests:
    """Digests of everything that labels depend on: replies, rubric, and evaluators with their scores."""

    content: str
    rubric: str
    judge: str

    def __str__(self) -> str:
        return f"{self.content}-{self.rubric}-{self.judge}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """A random draw of `drawn` from `replies` replies, each with the same probability.

    `is_paired` says that the baseline's replies to the same cases were drawn as well.
    """

    drawn: int
    replies: int
    seed: int
    is_paired: bool
    digests: ResultsDigests

    @property
    def probability(self) -> float:
        """The probability with which each reply was drawn."""
        return self.drawn / self.replies

    def __str__(self) -> str:
        pairs = " pairs" if self.is_paired else ""
        return f"{self.drawn} of {self.replies}{pairs}, seed {self.seed}, {self.digests}"

    def row_text(self, reply_id: str) -> str:
        """The text in the row of a reply: the draw, with a checksum of the draw and the id."""
        return f"{self}, {_digest([str(self), reply_id])}"

    def mismatch(self, results: ResultsDigests) -> str | None:
        """Why labels of this draw cannot correct the results with these digests; None if they can."""
        if self.digests.content != results.content:
            return "drawn from other replies"
        if self.digests.rubric != results.rubric:
            return "drawn when the replies were scored by another rubric"
        if self.digests.judge != results.judge:
            return "drawn when another judge had scored the replies"
        return None


def parse_draw(row_text: str, reply_id: str) -> Draw | None:
    """The draw named in a reply's row; None if there is none, or if it belongs to another reply."""
    draw, _, checksum = row_text.strip().rpartition(", ")
    match = _DRAW_TEXT.fullmatch(draw)
    if not match or checksum != _digest([draw, reply_id]):
        return None
    return Draw(
        drawn=int(match["drawn"]),
        replies=int(match["replies"]),
        seed=int(match["seed"]),
        is_paired=bool(match["pairs"]),
        digests=ResultsDigests(content=match["content"], rubric=match["rubric"], judge=match["judge"]),
    )


def judged_replies(results: Results) -> list[ScoredReply]:
    """The replies that an evaluator has scored. Raises UserError if there are none."""
    replies = [reply for reply in scored_replies(results.rows) if reply.verdicts]
    if not replies:
        raise UserError(
            f"{results.file}: no reply in it has a score by an evaluator that people could give, too"
        )
    return replies


def digests_of(results: Results, replies: Sequence[ScoredReply]) -> ResultsDigests:
    """The digests of results. `replies` are those from `judged_replies`."""
    evaluators = sorted(results.metadata.get("evaluator_models", ()))
    return ResultsDigests(
        content=_digest(
            part for reply in replies for part in (reply.id, reply.run.question.text, reply.text)
        ),
        rubric=_digest([str(results.metadata.get("rubric_hash"))]),
        judge=_digest([*evaluators, *(f"{reply.verdicts}" for reply in replies)]),
    )


def _digest(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:".encode() + part.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:_DIGEST_LENGTH]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnReply:
    """A reply to label, and the text of its draw from `Draw.row_text`."""

    reply: ScoredReply
    draw_text: str


def sample(
    results: Results,
    n: int,
    seed: int,
    baseline: Results | None = None,
    languages: Collection[str] | None = None,
) -> list[list[DrawnReply]]:
    """`n` replies in random order, each with the baseline's reply to the same case, if there is one.

    With `languages`, only replies in these are drawn. Raises UserError if there are none.

    It is a systematic sample of the replies in either of the results, ordered by language, area, third of the
    scale and question (in random order). Strata are thus represented in proportion, questions are spread, and
    each reply has the probability n / N (Cochran 1977, Sampling Techniques, chapter 8). The seed determines
    it.
    """
    sources = [results] if baseline is None else [results, baseline]
    judged = [judged_replies(source) for source in sources]
    by_id: list[Mapping[str, ScoredReply]] = [{reply.id: reply for reply in replies} for replies in judged]
    # If both results have a reply with the same id, its stratum comes from `results`.
    either = {reply.id: reply for replies in reversed(judged) for reply in replies}.values()
    frame = [reply for reply in either if languages is None or reply.run.language in languages]
    _refuse_unread(languages, {reply.run.language for reply in either})
    size = min(n, len(frame))
    draws = [
        Draw(
            drawn=size,
            replies=len(frame),
            seed=seed,
            is_paired=baseline is not None,
            digests=digests_of(source, replies),
        )
        for source, replies in zip(sources, judged, strict=True)
    ]
    generator = random.Random(seed)  # noqa: S311 - a sample that can be drawn again needs no secret
    ranks = {
        name: f"{generator.random():.9f}"
        for name in dict.fromkeys(reply.run.question.cluster for reply in frame)
    }
    drawn = stratified(frame, lambda reply: (*_stratum(reply), ranks[reply.run.question.cluster]), size, seed)
    return [
        [
            DrawnReply(reply=replies[reply.id], draw_text=draw.row_text(reply.id))
            for replies, draw in zip(by_id, draws, strict=True)
            if reply.id in replies
        ]
        for reply in drawn
    ]


def _refuse_unread(languages: Collection[str] | None, present: Collection[str]) -> None:
    """Raise UserError if no reply is in one of the languages."""
    if unknown := sorted({*(languages or ())} - {*present}):
        raise UserError(
            f"--language: no reply is in {', '.join(unknown)}; there are {', '.join(sorted(present))}"
        )


def _stratum(reply: ScoredReply) -> tuple[str, ...]:
    band = min(max(int(reply.percent * _SCORE_BANDS / 100), 0), _SCORE_BANDS - 1)
    return reply.run.language, reply.run.area, str(band)


def deal(
    drawn: Sequence[list[DrawnReply]],
    readers: Sequence[Collection[str] | None],
    overlap: int | None,
    seed: int,
) -> list[list[DrawnReply]]:
    """The rows of each person, shuffled: the first `overlap` replies, and a share of the rest.

    `readers` has each person's languages, None for all. People get only replies in their languages. Each of
    the remaining replies goes to the person with the fewest rows so far. Without `overlap`, everyone gets all
    replies in their languages.
    """
    shared = len(drawn) if overlap is None else overlap
    rows_by_person: list[list[DrawnReply]] = [[] for _ in readers]
    for number, pair in enumerate(drawn):
        readable_by = [
            rows
            for rows, languages in zip(rows_by_person, readers, strict=True)
            if languages is None or pair[0].reply.run.language in languages
        ]
        for rows in readable_by if number < shared else [min(readable_by, key=len)]:
            rows += pair
    for person, rows in enumerate(rows_by_person):
        random.Random(f"{seed} {person}").shuffle(rows)  # noqa: S311 - no secret either
    return rows_by_person
