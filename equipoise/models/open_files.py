"""Raises the limit on open files (`ulimit -n`) to what a session needs, as far as the system allows."""

from __future__ import annotations

import os
import resource
from contextlib import suppress

from equipoise.core.errors import UserError

MOST_RESTING = 256
"""The most connections that may rest at a time. Each rests for a moment before it is reused."""
RESTING_SHARE = 4
"""One in RESTING_SHARE of the allowed open files is for resting connections, up to MOST_RESTING."""
SESSION_FILES, WORKER_FILES = 20, 4
"""Open files besides connections, of a session and of each worker: journals, locks, pipes, sockets."""


def allow_connections(concurrency: int, workers: int = 0) -> None:
    """Raise the limit for `concurrency` calls in flight and `workers`. Raises UserError if that fails."""
    # The folder lists the files that are open now.
    needed = len(os.listdir("/dev/fd")) + SESSION_FILES + WORKER_FILES * workers + concurrency
    least = needed * RESTING_SHARE // (RESTING_SHARE - 1) + 1
    limit = _raise_to(least + MOST_RESTING)
    if limit < least:
        raise UserError(
            f"at most {limit} files may be open (ulimit -n), and --concurrency {concurrency}"
            f"{f' with {workers} workers' if workers else ''} needs {least}: raise that limit, or lower these"
        )


def most_resting() -> int:
    """The number of connections that may rest at a time."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_RESTING if soft == resource.RLIM_INFINITY else min(MOST_RESTING, soft // RESTING_SHARE)


def _raise_to(wanted: int) -> int:
    """Raise the limit to `wanted`, or as far as possible, and return the new limit, `wanted` if unlimited."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        highest = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (highest, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else soft
