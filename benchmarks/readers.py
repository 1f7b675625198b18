"""What each function that reads or shows others' text takes for a megabyte of hostile text.

    python benchmarks/readers.py [--only PART] [--megabytes N]

For each reader of the list that the tests measure, the CPU time in milliseconds for a megabyte, over all
hostile texts: the median, the most, and for which text that is. A reader that takes more than a minute for
a text is stopped.
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

LONGEST = 60
TITLE = f"{'reader':<42}{'median':>9}{'most':>9}  for a text of"


def row(name: str, read: Reader, size: int) -> str:
    """One line of the table, in milliseconds for a megabyte."""
    read("What is loaded, and cached, is not counted.")
    taken = {text: _seconds(read, hostile(unit, size)) for text, unit in {**UNITS, **MORE_UNITS}.items()}
    scale = 1000 * 2**20 / size
    worst = max(taken, key=taken.__getitem__)
    return f"{name:<42}{scale * statistics.median(taken.values()):>9.1f}{scale * taken[worst]:>9.1f}  {worst}"


def _seconds(read: Reader, text: str) -> float:
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
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
    given = parser.parse_args()
    signal.signal(signal.SIGPROF, _stop)
    print(TITLE)
    for name, read in READERS.items():
        if given.only in name:
            print(row(name, read, int(given.megabytes * 2**20)), flush=True)


if __name__ == "__main__":
    main()
