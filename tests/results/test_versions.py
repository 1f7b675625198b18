"""Results and journals that a released version has written are read by this one.

The files are kept as that version wrote them: unlike those of the regression tests they are never made again.
"""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

import equipoise
from equipoise.core.records import Outcome
from equipoise.results.recover import recover

VERSIONS = Path(__file__).with_name("versions")
CASES = [
    pytest.param(release, suite, headline, value, id=f"{release.name}-{suite}")
    for release in sorted(VERSIONS.iterdir())
    for suite, headline, value in (
        ("neutrality", "overall", 43.066077),
        ("even_handedness", "even", 5.0),
        ("turnabout", "absolute_lean", -46.083333),
    )
]


def unpacked(release: Path, suite: str, folder: Path) -> Path:
    """The results of a suite in a folder, with their journal beside them."""
    for suffix in ("json", "jsonl"):
        packed = release / f"{suite}.{suffix}.xz"
        (folder / packed.stem).write_bytes(lzma.decompress(packed.read_bytes()))
    return folder / f"{suite}.json"


@pytest.mark.parametrize(("release", "suite", "headline", "value"), CASES)
def test_results_of_a_release_are_read(
    release: Path, suite: str, headline: str, value: float, tmp_path: Path
) -> None:
    """Its figures, and its runs with their transcripts."""
    path = unpacked(release, suite, tmp_path)
    results = equipoise.load(path)
    assert results.summary["metrics"][headline].value == value
    scored: Outcome = "scored"
    assert results.outcomes[scored] > 0
    assert all(row.subject_transcript for row in results.rows if row.outcome == scored)
    assert not results.contradiction


@pytest.mark.parametrize(("release", "suite", "headline", "value"), CASES)
def test_a_journal_of_a_release_is_read(
    release: Path, suite: str, headline: str, value: float, tmp_path: Path
) -> None:
    """And gives the figures that its own release gave."""
    path = unpacked(release, suite, tmp_path)
    before = equipoise.load(path).summary["metrics"]
    path.unlink()
    made = recover(path.with_suffix(".jsonl"), None, (Path.cwd(),)).results
    assert made.summary["metrics"].keys() == before.keys()
    assert made.summary["metrics"][headline].value == value
