"""What a hostile subject writes is kept as it is, whatever a journal or a crash makes of it."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from journals import ask, keep
from msgspec import convert

from equipoise.core import json_io
from equipoise.core.types import Reply, Usage
from equipoise.results.journal import Journal, read
from equipoise.results.lines import CallLine
from hostile import replies

CORPUS = replies()


def test_a_reply_comes_back_from_its_bytes() -> None:
    """Strict JSON in UTF-8 without a control character, of which text and reasoning come back whole."""
    wrong = []
    for reply in CORPUS:
        whole = Reply(
            text=reply.text, reasoning=reply.text, finish_reason="stop", usage=Usage(input=1, output=2)
        )
        written = [json_io.dumps(whole.to_json(), indent=indent) for indent in (False, True)]
        wrong += [reply.id for content in written if convert(json_io.loads(content), Reply) != whole]
        line = written[0].decode("utf-8")
        is_clean = all(character >= " " for character in line.removesuffix("\n"))
        wrong += [reply.id] * (json.loads(line)["text"] != reply.text or not is_clean)
    assert wrong == []


def test_a_reply_in_a_journal_is_one_line_of_its_kind(tmp_path: Path) -> None:
    """Each is one line, is read back whole, and leaves the lines around it alone."""
    path = tmp_path / "m.attribution.jsonl"
    texts = [text for reply in CORPUS for text in (reply.text, "In 1931, by subscription.")]
    with closing(Journal(path, "session")) as journal:
        for text in texts:
            keep(journal, ask("Why?"), text)
    content = path.read_bytes()
    assert (content.count(b"\n"), content.count(b"\r"), content[-1:]) == (len(texts), 0, b"\n")
    assert [line.entry.reply.text for line in read(path) if isinstance(line.entry, CallLine)] == texts
