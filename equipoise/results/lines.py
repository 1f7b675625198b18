"""The lines of a journal as typed values: a class for each kind of line, and the decoder.

Fields and kinds of lines that a later version adds are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field, structs

from equipoise.core import json_io
from equipoise.core.records import Number, Record
from equipoise.core.types import JSON, Call, Exchange, Message, Reply, Role
from equipoise.judge.anchors import Judged
from equipoise.results.document import Audit, SelectedBy

PositiveCount = Annotated[int, Meta(ge=1)]


def _everything() -> SelectedBy:
    return {"keyword": None, "mark": None, "deselected": 0}


class _Line(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """The base of all lines; the JSON key `kind` has the tag of the subclass."""


class SessionLine(_Line, frozen=True, kw_only=True, tag="session"):
    """The beginning of a session: its planned runs with their languages, and its settings.

    `nonce` is the secret from which its one-time codes are made. `settings` are those that a resumed session
    must repeat, and its extent, such as `runs`; `session_settings`, such as timeouts, may change.
    `data_files` are the digests of the files that the questions were read from, by name. `ranks` are the
    positions of a shard's runs among those of all shards. In a merged journal, `shards` has the id of each
    shard's last session, and `nonces` the nonces of all their sessions by id. `file_roles` are the roles
    whose calls are answered from files, not by an endpoint. Only sessions of a suite plan runs.
    """

    session: str
    started: str
    nonce: str
    format: int
    suite: str = ""
    plan: dict[str, str] = {}
    ranks: tuple[int, ...] = ()
    settings: dict[str, Any] = {}
    session_settings: dict[str, Any] = {}
    selection: SelectedBy = field(default_factory=_everything)
    versions: dict[str, Any] = {}
    data_notes: tuple[Any, ...] = ()
    data_files: dict[str, str] = {}
    shards: tuple[str, ...] = ()
    nonces: dict[str, str] = {}
    file_roles: tuple[Role, ...] = ()

    def __post_init__(self) -> None:
        # Both raise ValueError, so that a line with a wrong time or id counts as damaged.
        datetime.fromisoformat(self.started)
        for run in self.plan:
            round_of(run)


class CallLine(_Line, frozen=True, kw_only=True, tag="call"):
    """A call of a run and its reply; `request` is the hash of the request.

    `batch` is its custom id if it was part of a batch. `given` is set if no model was called, because the
    reply was in the file of `--replies`.
    """

    session: str
    run: str
    id: str
    role: Role
    model: str
    request: str
    parameters: Mapping[str, Any]
    messages: tuple[Message, ...]
    reply: Reply
    batch: str | None = None
    given: bool = False

    def to_json(self) -> dict[str, JSON]:
        """The content of the line, without fields that are None or False, as most calls lack them."""
        fields = {"kind": "call", **structs.asdict(self), "reply": self.reply.to_json()}
        return {name: value for name, value in fields.items() if value not in (None, False)}

    @property
    def exchange(self) -> Exchange:
        """The call and its reply."""
        call = Call(role=self.role, model=self.model, messages=self.messages, parameters=self.parameters)
        return Exchange(id=self.id, call=call, reply=self.reply, is_batched=self.batch is not None)


class FailedLine(_Line, frozen=True, kw_only=True, tag="failed"):
    """A call that failed after this many retries."""

    session: str
    run: str
    role: str
    model: str
    retries: int
    message: str


class LearnedLine(_Line, frozen=True, kw_only=True, tag="learned"):
    """A change to a parameter that an endpoint rejected, and the reason that it gave."""

    session: str
    role: str
    model: str
    parameter: str
    action: str
    reason: str


class LimitLine(_Line, frozen=True, kw_only=True, tag="limit"):
    """A cut of an endpoint's concurrency limit, or the range of that limit at the `end` of a session.

    A cut has the limits `before` and `after`, and `sustained`, the number of calls in flight that the
    endpoint had accepted. `second` counts from the beginning of the session, `pause` is in seconds. An end
    has `lowest`, `highest`, `last` and the number `refused`.
    """

    session: str
    event: Literal["cut", "end"]
    endpoint: int
    before: int = 0
    after: int = 0
    second: Number | None = None
    status: int | None = None
    pause: Number | None = None
    sustained: Number | None = None
    lowest: int = 0
    highest: int = 0
    last: int = 0
    refused: int = 0


class LookLine(_Line, frozen=True, kw_only=True, tag="look"):
    """An interim look of `--until`: its decision after a round, by an interval or by the gate's verdicts."""

    session: str
    round: int
    is_enough: bool
    rule: str = ""
    metric: str | None = None
    scope: str | None = None
    value: Number | UnsetType | None = UNSET
    se: Number | UnsetType | None = UNSET
    low: Number | UnsetType | None = UNSET
    high: Number | UnsetType | None = UNSET
    half_width: Number | UnsetType | None = UNSET
    n: int | UnsetType = UNSET
    reason: str | UnsetType | None = UNSET
    verdicts: dict[str, str] | UnsetType = UNSET


class RecordLine(_Line, frozen=True, kw_only=True, tag="record"):
    """The end of a run: its record, and the ids of its calls."""

    session: str
    run: str
    calls: tuple[str, ...]
    record: Record

    def __post_init__(self) -> None:
        round_of(self.run)
        for name in ("id", "language", "area"):
            if not isinstance(self.record.case.get(name), str):
                raise ValueError(f"a case without its {name}")


class AuditLine(_Line, frozen=True, kw_only=True, tag="audit"):
    """The plan of an audit: how often each anchor is judged.

    `order` has pairs of kinds of anchors: the first kind should score above the second.
    """

    session: str
    extent: str
    anchors_hash: str
    order: tuple[tuple[str, str], ...]
    anchors: Annotated[dict[str, PositiveCount], Meta(min_length=1)]


class AnchorLine(_Line, frozen=True, kw_only=True, tag="anchor"):
    """An evaluator's verdict on an anchor.

    `run` is the verdict's name, `at` its time in ISO 8601. `judged` has the numbers of the verdict. `seen`
    has each model that answered, with fingerprint and provider.
    """

    session: str
    run: str
    evaluator: str
    at: str
    judged: tuple[Judged, ...]
    seen: tuple[tuple[str | None, str | None, str | None], ...]
    calls: tuple[str, ...]

    def __post_init__(self) -> None:
        datetime.fromisoformat(self.at)


class KeptAuditLine(_Line, frozen=True, kw_only=True, tag="kept_audit"):
    """An earlier audit of an evaluator, copied from its file."""

    session: str
    evaluator: str
    audit: Audit


class SectionLine(_Line, frozen=True, kw_only=True, tag="section"):
    """A section that a command added to the results with this digest of verdicts."""

    name: str
    verdicts_sha256: str
    content: dict[str, Any]


class WrittenLine(_Line, frozen=True, kw_only=True, tag="written"):
    """The files that a command wrote, by name, each with its SHA-256."""

    files: dict[str, str]


class OtherLine(Struct, frozen=True, kw_only=True):
    """A line of a kind that only a later version knows."""

    kind: str


KnownLine = (
    SessionLine
    | CallLine
    | FailedLine
    | LearnedLine
    | LimitLine
    | LookLine
    | RecordLine
    | AuditLine
    | AnchorLine
    | KeptAuditLine
    | SectionLine
    | WrittenLine
)
AnyLine = KnownLine | OtherLine
_KINDS = frozenset(kind.__struct_config__.tag for kind in get_args(KnownLine))
_DECODER = msgspec.json.Decoder(KnownLine)


def decode(data: bytes) -> AnyLine | None:
    """The line in these bytes; None if it is not valid."""
    try:
        line: AnyLine = _DECODER.decode(data)
        return line
    except (ValueError, RecursionError):
        # msgspec rejects lone surrogates, which models may write, and unknown kinds of lines.
        return _decode_leniently(data)


def _decode_leniently(data: bytes) -> AnyLine | None:
    try:
        content = json_io.loads(data)
        kind: Any = KnownLine if content["kind"] in _KINDS else OtherLine
        line: AnyLine = msgspec.convert(content, kind)
        return line
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def round_of(run: str) -> int:
    """The round of a run, the number at the end of its id. Raises ValueError if there is none."""
    return int(run.rpartition("-run")[2])
