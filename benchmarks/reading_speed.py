"""The CPU time of each function that reads or shows others' text, for a megabyte of hostile text.

    python benchmarks/reading_speed.py [--only PART] [--megabytes N]

For each reader in the list of tests/readers.py: milliseconds of CPU for a megabyte, as the median and the
maximum over all hostile texts, and the text with the maximum. A reader is stopped after a minute on one text.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import sys
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from readers import MORE_UNITS, READERS, UNITS, Reader, hostile, seconds

MAX_SECONDS = 60
TITLE = f"{'reader':<42}{'median':>9}{'most':>9}  for a text of"


def row(name: str, read: Reader, size: int) -> str:
    """One line of the table, in milliseconds for a megabyte."""
    # The first call, which loads and caches, is not measured.
    read("A short text.")
    times = {text: _seconds(read, hostile(unit, size)) for text, unit in {**UNITS, **MORE_UNITS}.items()}
    scale = 1000 * 2**20 / size
    worst = max(times, key=times.__getitem__)
    return f"{name:<42}{scale * statistics.median(times.values()):>9.1f}{scale * times[worst]:>9.1f}  {worst}"


def _seconds(read: Reader, text: str) -> float:
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
    try:
        return seconds(read, text)
    except TimeoutError:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _stop(number: int, frame: FrameType | None) -> None:
    raise TimeoutError


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--megabytes", type=float, default=1.0)
    arguments = parser.parse_args()
    signal.signal(signal.SIGPROF, _stop)
    print(TITLE)
    for name, read in READERS.items():
        if arguments.only in name:
            print(row(name, read, int(arguments.megabytes * 2**20)), flush=True)


if __name__ == "__main__":
    main()
