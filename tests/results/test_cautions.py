"""Cautions: how replies and labels were read, where it limits what figures show, is told at every door."""

from __future__ import annotations

import json
from typing import Any

from fake_client import Project, plain

from equipoise.comparison.compare import compare
from equipoise.comparison.of_files import gate_files
from equipoise.core.rules import parse_rule
from equipoise.core.types import Call
from equipoise.models.response import read_body
from equipoise.report import github, verdict
from equipoise.report.page import data as page_data
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


def test_unclear_think_tags_are_told_everywhere(project: Project) -> None:
    """In the results, the table, on the page, in a comparison, for CI, and beside the verdict of a gate;
    the reply itself is shown whole to the evaluator.
    """
    project.client.script = saying({"one": MENTION, "um": "Praise.\n</think>\n\n{}"})
    ran = project.run()
    data = json.loads(project.results_path.read_bytes())
    assert data["metadata"]["cautions"] == [WHOLE, UNOPENED]
    assert f"caution: {WHOLE}" in ran.summary
    judged = [call.messages[1]["content"] for call in project.client.calls if call.role == "evaluator"]
    assert sum("The tag <think> opens thoughts. An answer to:" in text for text in judged) == 5
    assert not any("Praise." in text for text in judged)
    side = load(project.results_path)
    assert f"Caution: {WHOLE}" in page_data.page_result(side, 0, {}).warnings
    assert f"in the baseline, {WHOLE}" in compare(side, side).warnings
    path = project.results_path
    gates = {
        f"caution:   {WHOLE}": gate_files(
            None, [path], [parse_rule("unscored:1%")], None, allows_mismatch=False
        ),
        f"caution:   in the candidate, {WHOLE}": gate_files(
            path, [path], [parse_rule("overall:-2pp")], None, allows_mismatch=False
        ),
    }
    for line, by_model in gates.items():
        assert line in list(verdict.lines(by_model["subject"]))
        assert f"- {' '.join(line.split())}" in github.markdown(by_model["subject"])


def test_think_tags_that_are_clear_are_no_caution(project: Project) -> None:
    """Thoughts in tags, and an opening tag that the chat template takes from every reply."""
    for form in ("<think>Hm.</think>{}", "Hm, so.\n</think>\n\n{}"):
        project.client.script = saying({"": form})
        assert not any(line.startswith("caution:") for line in project.run(fresh=True).summary)
        assert "cautions" not in json.loads(project.results_path.read_bytes())["metadata"]
