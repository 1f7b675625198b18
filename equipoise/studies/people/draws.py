"""Random draws of replies for people to label, and the text in each row of a sheet that names its draw."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from equipoise.comparison.side import LoadedResults
from equipoise.core.errors import UserError
from equipoise.stats.sampling import stratified
from equipoise.studies import replies
from equipoise.studies.replies import ScoredReply

_BANDS = 3
_DIGITS = 8
_FORM = re.compile(
    r"(?P<drawn>\d{1,9}) of (?P<replies>\d{1,9})(?P<pairs> pairs)?, seed (?P<seed>-?\d{1,18}), "
    r"(?P<content>[0-9a-f]{8})-(?P<rubric>[0-9a-f]{8})-(?P<judge>[0-9a-f]{8})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """A random draw of `drawn` from `replies` replies, each with the same probability.

    `content`, `rubric` and `judge` are digests of the replies, of the rubric, and of the evaluators with
    their scores. `pairs` is set if the same replies were drawn from a baseline, too.
    """

    drawn: int
    replies: int
    seed: int
    pairs: bool
    content: str
    rubric: str
    judge: str

    @property
    def probability(self) -> float:
        """The probability with which each reply was drawn."""
        return self.drawn / self.replies

    def __str__(self) -> str:
        return (
            f"{self.drawn} of {self.replies}{' pairs' if self.pairs else ''}, seed {self.seed}, "
            f"{self.content}-{self.rubric}-{self.judge}"
        )

    def row(self, name: str) -> str:
        """The text in the row of the reply `name`: the draw, with a checksum of both."""
        return f"{self}, {_digest([str(self), name])}"

    def unlike(self, own: Draw) -> str | None:
        """Why labels of this draw cannot correct results with the digests of `own`; None if they can."""
        if self.content != own.content:
            return "drawn from other replies"
        if self.rubric != own.rubric:
            return "drawn when the replies were scored by another rubric"
        if self.judge != own.judge:
            return "drawn when another judge had scored the replies"
        return None


def read(text: str, name: str) -> Draw | None:
    """The draw in the text of a row; None if there is none, or if it is not of the reply `name`."""
    draw, _, check = text.strip().rpartition(", ")
    match = _FORM.fullmatch(draw)
    if not match or check != _digest([draw, name]):
        return None
    numbers = {part: int(match[part]) for part in ("drawn", "replies", "seed")}
    digests = {part: match[part] for part in ("content", "rubric", "judge")}
    return Draw(**numbers, **digests, pairs=bool(match["pairs"]))  # type: ignore[arg-type]  # by name


def judged(side: LoadedResults) -> list[ScoredReply]:
    """The replies that an evaluator has scored. Raises UserError if there is none."""
    scored = [reply for reply in replies.scored(side.rows) if reply.verdicts]
    if not scored:
        raise UserError(
            f"{side.file}: no reply in it has a score by an evaluator that people could give, too"
        )
    return scored


def with_digests(
    side: LoadedResults,
    scored: Sequence[ScoredReply],
    *,
    drawn: int = 0,
    of: int = 0,
    seed: int = 0,
    pairs: bool = False,
) -> Draw:
    """A draw from these results, with their digests."""
    return Draw(
        drawn=drawn,
        replies=of or len(scored),
        seed=seed,
        pairs=pairs,
        content=_digest(part for reply in scored for part in (reply.id, reply.question, reply.text)),
        rubric=_digest([str(side.metadata.get("rubric_hash"))]),
        judge=_digest(
            [*sorted(side.metadata.get("evaluator_models", ())), *(f"{reply.verdicts}" for reply in scored)]
        ),
    )


def _digest(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:".encode() + part.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:_DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnReply:
    """A reply to label, and the text of its draw, as returned by `Draw.row`."""

    reply: ScoredReply
    draw: str


def sample(
    side: LoadedResults, n: int, seed: int, baseline: LoadedResults | None = None
) -> list[list[DrawnReply]]:
    """`n` replies in random order, each with the reply of the baseline to the same case, if there is one.

    A systematic sample of the replies in either of the results, ordered by language, area, third of the scale
    and question (in random order). Strata are thus represented in proportion, questions are spread, and each
    reply has the probability n / N (Cochran 1977, Sampling Techniques, chapter 8). The seed determines it.
    """
    sides = [side] if baseline is None else [side, baseline]
    known = [judged(item) for item in sides]
    frame = [*{reply.id: reply for scored in reversed(known) for reply in scored}.values()]
    size = min(n, len(frame))
    about = {"drawn": size, "of": len(frame), "seed": seed, "pairs": baseline is not None}
    draws = [with_digests(item, scored, **about) for item, scored in zip(sides, known, strict=True)]  # type: ignore[arg-type]  # by name
    by_id: list[Mapping[str, ScoredReply]] = [{reply.id: reply for reply in scored} for scored in known]
    chance = random.Random(seed)  # noqa: S311 - a sample that can be drawn again needs no secret
    ranks = {name: f"{chance.random():.9f}" for name in dict.fromkeys(reply.cluster for reply in frame)}
    drawn = stratified(frame, lambda reply: (*_stratum(reply), ranks[reply.cluster]), size, seed)
    return [[*_rows(reply.id, by_id, draws)] for reply in drawn]


def _rows(
    name: str, by_id: Sequence[Mapping[str, ScoredReply]], draws: Sequence[Draw]
) -> Iterator[DrawnReply]:
    for known, draw in zip(by_id, draws, strict=True):
        if name in known:
            yield DrawnReply(reply=known[name], draw=draw.row(name))


def _stratum(reply: ScoredReply) -> tuple[str, ...]:
    band = min(max(int(reply.percent * _BANDS / 100), 0), _BANDS - 1)
    return reply.language, reply.area, str(band)


def deal(
    drawn: Sequence[list[DrawnReply]], people: int, overlap: int | None, seed: int
) -> list[list[DrawnReply]]:
    """The rows of each person, shuffled: everyone gets the first `overlap` replies, and a share of the rest.

    Without `overlap` everyone gets all replies.
    """
    shared = len(drawn) if overlap is None else min(overlap, len(drawn))
    shares = []
    for person in range(people):
        pairs = [*drawn[:shared], *drawn[shared + person :: people]]
        rows = [row for pair in pairs for row in pair]
        random.Random(f"{seed} {person}").shuffle(rows)  # noqa: S311 - no secret either
        shares.append(rows)
    return shares
