"""The limit on open files (`ulimit -n`), raised to what a session needs as far as the system allows."""

from __future__ import annotations

import os
import resource
from contextlib import suppress

from equipoise.core.errors import UserError

MOST_RESTING = 256
RESTING_SHARE = 4
"""One in so many of the files that may be open is for connections that rest, up to MOST_RESTING."""
OWN, OF_A_WORKER = 20, 4
"""Files that a session opens beside its connections, and for each worker: journals, locks, pipes, sockets."""


def allow_connections(concurrency: int, workers: int = 0) -> None:
    """Raise the limit for so many calls in flight and workers. Raises UserError if it cannot be enough."""
    needed = len(os.listdir("/dev/fd")) + OWN + OF_A_WORKER * workers + concurrency
    least = needed * RESTING_SHARE // (RESTING_SHARE - 1) + 1
    limit = _raise_to(least + MOST_RESTING)
    if limit < least:
        raise UserError(
            f"at most {limit} files may be open (ulimit -n), and --concurrency {concurrency}"
            f"{f' with {workers} workers' if workers else ''} needs {least}: raise that limit, or lower these"
        )


def most_resting() -> int:
    """How many connections may rest at a time."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_RESTING if soft == resource.RLIM_INFINITY else min(MOST_RESTING, soft // RESTING_SHARE)


def _raise_to(wanted: int) -> int:
    """The limit after it was raised to that, or as far as possible."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        highest = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (highest, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else soft
