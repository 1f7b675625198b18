"""The options of calls in batches."""

from __future__ import annotations

from equipoise.core.options import ROLES, Option, parse_duration, parse_path, parse_percentage, parse_roles
from equipoise.core.settings import BATCH_DISCOUNT

HEADING = "Batches"
OPTIONS = (
    Option(
        "--batch",
        "send calls as batches; the same command fetches them later; --batch=subject or "
        "--batch=evaluator: that role alone",
        optional_words=ROLES,
        parse=parse_roles,
        default=(),
    ),
    Option(
        "--batch-wait",
        "wait for batches, such as 90s or 2h (default 0)",
        parse=parse_duration,
        metavar="TIME",
        default=0.0,
    ),
    Option(
        "--batch-discount",
        "discount for models without a listed batch price (default 50)",
        parse=parse_percentage,
        metavar="PERCENT",
        default=BATCH_DISCOUNT,
    ),
    Option(
        "--batch-write", "write the next calls to FILE and send nothing", parse=parse_path, metavar="FILE"
    ),
    Option(
        "--batch-read",
        "read answers to written calls from FILE; repeatable",
        parse=parse_path,
        metavar="FILE",
        many=True,
        default=(),
    ),
)
