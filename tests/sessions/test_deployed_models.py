"""Models as they are deployed: reasoning effort, further fields of the body, headers, URLs with a query."""

from __future__ import annotations

import json
from typing import Any

from conftest import Bench
from loopback import JUDGE, Answer, error, is_judge, plain_script

SECRET = "azure-planted-key-0123456789"


def strict(body: dict[str, Any], number: int) -> Answer | str:
    """An endpoint of OpenAI's reasoning models: no temperature, and another name for the longest reply."""
    for name in ("temperature", "max_tokens"):
        if name in body and not is_judge(body):
            reason = f"Unsupported parameter: '{name}' is not supported with this model."
            return error(400, reason, param=name, code="unsupported_parameter")
    return plain_script(body, number)


def test_reasoning_models_think_as_long_as_they_are_told(bench: Bench) -> None:
    """The effort is sent, recorded, and part of what a resumed session must repeat."""
    bench.server.script = bench.server.first_script = strict
    effort = ("--reasoning-effort", "low", "--evaluator-reasoning-effort", "minimal", "--runs", "1")
    bench.run(*effort, "--subject-max-tokens", "500", status=0)
    sent = {body["model"]: body["reasoning_effort"] for body in bench.server.requests}
    assert sent == {"subject": "low", JUDGE: "minimal"}
    metadata = bench.results()["metadata"]
    assert metadata["subject_sampling"]["reasoning_effort"] == "low"
    assert {item["parameter"] for item in metadata["parameters_changed"]} >= {"temperature"}
    line = bench.refusal("--reasoning-effort", "high", *effort[2:], "--subject-max-tokens", "500")
    assert "--subject-reasoning-effort was low, now high" in line


def test_azure(bench: Bench, workers: tuple[str, str]) -> None:
    """A query behind every path, and a key in a header that no file shows."""
    url = f"{bench.server.url}?api-version=2026-06-01"
    arguments = (*workers, "--api-base-url", url, "--header", f"api-key={SECRET}", "--runs", "1")
    done = bench.run(*arguments, status=0)
    assert all(SECRET in headers.values() for headers in bench.server.headers)
    assert set(bench.server.queries) == {"api-version=2026-06-01"}
    metadata = bench.results()["metadata"]
    assert metadata["endpoints"]["subject"].endswith("/v1?api-version=2026-06-01")
    assert metadata["subject_sampling"]["headers"] == {"api-key": "****"}
    written = [path for path in bench.folder.rglob("*") if path.is_file()]
    assert not [path for path in written if SECRET in path.read_text("utf-8", "replace")]
    assert SECRET not in done.stdout + done.stderr


def test_openrouter_and_vllm(bench: Bench) -> None:
    """Fields of their own in the body, by role, and headers that say who asks."""
    extra = {"provider": {"order": ["one"], "allow_fallbacks": False}}
    thinking = {"chat_template_kwargs": {"enable_thinking": False}, "seed": 7}
    bench.run(
        *("--extra-body", json.dumps(extra), "--evaluator-extra-body", json.dumps(thinking)),
        *("--header", "X-Title=Equipoise", "--evaluator-header", "X-Title=The judge", "--runs", "1"),
        status=0,
    )
    for body, headers in zip(bench.server.requests, bench.server.headers, strict=True):
        wanted, title = (thinking, "The judge") if is_judge(body) else (extra, "Equipoise")
        assert wanted.items() <= body.items()
        assert title in headers.values()
    sampling = bench.results()["metadata"]["evaluator_sampling"]
    assert (sampling["extra_body"], sampling["headers"]) == (thinking, {"x-title": "The judge"})
