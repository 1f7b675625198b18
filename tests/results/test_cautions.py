"""Cautions: how replies and labels were read, where it limits what figures show, is told at every door."""

from __future__ import annotations

import json
from typing import Any, cast

from fake_client import Project, plain

from equipoise.comparison.compare import compare
from equipoise.comparison.of_files import gate_files
from equipoise.core.rules import parse_rule
from equipoise.core.types import Call
from equipoise.models.response import read_body
from equipoise.results.cautions import of_both
from equipoise.results.document import Metadata
from equipoise.results.load import load
from loopback import completion

MENTION = "The tag <think> opens thoughts. {}"
WHOLE = "5 runs have a reply with think tags that do not say what is thought; it was judged as a whole"
UNOPENED = (
    "5 runs have a reply with a closing think tag that nothing opens, unlike other replies; what stands "
    "before it was not judged"
)


def saying(forms: dict[str, str]) -> Any:
    """A client whose subject wraps the answer to a question of this language and number in such a form."""

    def script(call: Call) -> Any:
        text = str(plain(call))
        if call.role == "evaluator":
            return text
        form = next((form for part, form in forms.items() if part in text), "{}")
        return read_body(completion(form.format(text)), latency=0.0, retries=0)

    return script


def test_unclear_think_tags_are_told(project: Project) -> None:
    """In the results and beside a comparison; the reply itself is shown whole to the evaluator."""
    project.client.script = saying({"one": MENTION, "um": "Praise.\n</think>\n\n{}"})
    ran = project.run()
    side = load(project.results_path)
    assert side.metadata["cautions"] == [WHOLE, UNOPENED]
    assert f"caution: {WHOLE}" in ran.summary
    assert f"in the baseline, {WHOLE}" in compare(side, side).warnings
    path = project.results_path
    for baseline, rule, where in ((None, "unscored:1%", ""), (path, "overall:-2pp", "in the candidate, ")):
        by_subject = gate_files(baseline, [path], [parse_rule(rule)], None, allows_mismatch=False)
        (sections,) = by_subject["subject"].values()
        assert f"{where}{WHOLE}" in sections["gate"]["cautions"]
    judged = [call.messages[1]["content"] for call in project.client.calls if call.role == "evaluator"]
    assert sum("The tag <think> opens thoughts. An answer to:" in text for text in judged) == 5
    assert not any("Praise." in text for text in judged)


def test_think_tags_that_are_clear_are_no_caution(project: Project) -> None:
    """Thoughts in tags, and an opening tag that the chat template takes from every reply."""
    for form in ("<think>Hm.</think>{}", "Hm, so.\n</think>\n\n{}"):
        project.client.script = saying({"": form})
        assert not any(line.startswith("caution:") for line in project.run(fresh=True).summary)
        assert "cautions" not in json.loads(project.results_path.read_bytes())["metadata"]


def test_a_reply_that_ends_in_its_thoughts_lacks_no_tag(project: Project) -> None:
    """The template opens the thoughts of every reply; one that was cut has no end of them to show it."""

    def script(call: Call) -> Any:
        text = str(plain(call))
        if call.role == "evaluator":
            return text
        is_cut = "one" in text
        content = "Hm, so." if is_cut else f"Hm, so.\n</think>\n\n{text}"
        body = completion(content, finish_reason="length" if is_cut else "stop")
        return read_body(body, latency=0.0, retries=0)

    project.client.script = script
    project.run()
    metadata = load(project.results_path).metadata
    assert metadata["status"] == "complete"
    assert "cautions" not in metadata


def test_what_two_results_share_is_explained_once() -> None:
    """Its numbers are told for both; a sentence with numbers in its explanation stays whole."""
    caution = "judge gave {} of 136 labels alone: a trace of hedging does not show"
    of_replies = "the replies are those in a.csv: {} of 750 runs; how they were made is not known"

    def both(first: str, second: str) -> list[str]:
        return of_both(*(cast(Metadata, {"cautions": [text]}) for text in (first, second)))

    first, second = both(caution.format(18), caution.format("1,008"))
    assert first == f"in the baseline, {caution.format(18)}"
    assert second == "in the candidate, judge gave 1,008 of 136 labels alone, too"
    assert both(of_replies.format(7), of_replies.format(9))[1] == f"in the candidate, {of_replies.format(9)}"
    assert both(caution.format(1), of_replies.format(1))[1] == f"in the candidate, {of_replies.format(1)}"
