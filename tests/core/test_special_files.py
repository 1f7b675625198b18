"""Inputs that are no files: pipes and devices are refused, not waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes, read_text


def test_a_pipe_and_a_device_are_no_files(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Said at once, whoever may still write to them."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with (
            subtests.test(path.name),
            pytest.raises(UserError, match=r"cannot be read \(is not a regular file\)"),
        ):
            read_text(path)
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path)
