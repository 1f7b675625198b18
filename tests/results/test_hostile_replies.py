"""What a hostile subject writes is kept as it is, whatever a journal or a crash makes of it."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from journals import ask, keep

from equipoise.core.types import Reply, Usage
from equipoise.results.journal import Journal, read
from equipoise.results.lines import CallLine
from hostile import replies


def test_a_reply_in_a_journal_is_one_line_of_its_kind(tmp_path: Path) -> None:
    """Each is one line, is read back whole, and leaves the lines around it alone."""
    path = tmp_path / "m.attribution.jsonl"
    texts = [text for reply in replies() for text in (reply.text, "In 1931, by subscription.")]
    whole = [Reply(text=text, reasoning=text, finish_reason="stop", usage=Usage(input=1)) for text in texts]
    with closing(Journal(path, "session")) as journal:
        for reply in whole:
            keep(journal, ask("Why?"), reply)
    lines = path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
    assert [json.loads(line)["reply"]["text"] for line in lines] == texts
    assert all(character >= " " for line in lines for character in line)
    assert [line.entry.reply for line in read(path) if isinstance(line.entry, CallLine)] == whole
