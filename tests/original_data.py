"""The benchmarks' original data, where EQUIPOISE_ORIGINAL_DATA names a folder with a copy of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("EQUIPOISE_ORIGINAL_DATA", ""))
needs_original_data = [
    pytest.mark.slow,
    pytest.mark.skipif(Path() == FOLDER, reason="EQUIPOISE_ORIGINAL_DATA is not set"),
]
