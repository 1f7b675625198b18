"""The header of a session and its warnings: what will be asked of whom, and never a key."""

from __future__ import annotations

from conftest import resolved
from equipoise.core.resolution import resolve_suites
from equipoise.core.session_options import DEFAULT_EVALUATOR
from equipoise.core.settings import NO_KEY
from equipoise.report.header import header, warnings

URL = "https://api.example.com/v1"
OTHER = "https://other.example.com/v1"


def test_the_header_shows_what_will_be_asked_of_whom() -> None:
    """Models, endpoints, parameters and the session's numbers stand in three lines."""
    settings = resolved(
        {
            "model": "gpt-x",
            "evaluator_model": ["a", "b"],
            "api_base_url": URL,
            "api_key": "sk-1",
            "evaluator_api_base_url": OTHER,
            "subject_temperature": "0.7",
            "evaluator_system_prompt": "Be strict.",
            "runs": "3",
            "language": ["en-US", "zh-CN"],
            "request_timeout": "60",
            "case_timeout": "900.5",
        }
    )
    subject, evaluators, session = header(settings)
    assert subject == f"subject: gpt-x ({URL} key=**** temperature=0.7)"
    assert evaluators == f"evaluators: a, b ({OTHER} key=none temperature=0 system_prompt=given)"
    assert session.startswith("session: runs=3 limit=all languages=en-US,zh-CN concurrency=32 ")
    assert " request_timeout=60 case_timeout=900.5 " in session


def test_the_header_names_what_a_release_is_held_against() -> None:
    """A fourth line, where there is something to say: baseline, gates, width and earlier results."""
    options = {"model": "m", "baseline": "/old/x.json", "gate": ["overall:-2pp", "refused:+3pp"]}
    assert header(resolved({"model": "m"}))[3:] == []
    assert header(resolved({**options, "until": "overall:+-1pp"}))[3:] == [
        "release: baseline=/old/x.json gate=overall:-2pp refused:+3pp until=overall:+-1pp"
    ]


def test_suites_with_other_models_have_lines_of_their_own() -> None:
    """Those that are alike share theirs; a built-in model has no endpoint, an evaluator elsewhere its own."""
    defaults = {"a": {}, "b": {"evaluator_model": ("x", "y"), "subject_temperature": 0.7}, "c": {}}
    lines = header(resolve_suites({"model": "m", "api_base_url": URL}, {}, {}, defaults))
    at = f"{URL} key=none"
    assert lines[:4] == [
        f"a, c: subject: m ({at} temperature=1)",
        f"a, c: evaluators: {DEFAULT_EVALUATOR} ({at} temperature=0)",
        f"b: subject: m ({at} temperature=0.7)",
        f"b: evaluators: x, y ({at} temperature=0)",
    ]
    alike = resolve_suites({"model": "m", "api_base_url": URL}, {}, {}, {"a": {}, "c": {}})
    assert header(alike) == header(resolved({"model": "m", "api_base_url": URL}))
    text = "\n".join(header(resolved({"model": "local"})))
    assert text.count("built-in server") == 2
    assert "localhost" not in text
    subject, evaluators, _ = header(resolved({"model": "local", "evaluator_model": ["a"]}))
    assert "built-in server" in subject
    assert "(http://localhost:4000 " in evaluators


LONG = "sk-0123456789abc"
MAY_BE_A_WORD = "so only whole words equal to it are masked in what is written"
WARNED: list[tuple[dict[str, str], dict[str, str], dict[str, str], list[str]]] = [
    ({"api_key": "ollama"}, {}, {}, ["--api-key"]),
    ({}, {"EQUIPOISE_API_KEY": "ollama"}, {}, ["EQUIPOISE_API_KEY"]),
    ({}, {"OPENAI_API_KEY": "ollama"}, {}, ["OPENAI_API_KEY"]),
    ({}, {}, {"api_key": "ollama"}, ["pytest.ini: equipoise_api_key"]),
    ({"evaluator_api_key": "ollama"}, {}, {}, ["--evaluator-api-key"]),
    ({"api_key": "ollama", "evaluator_api_key": "dummy-key"}, {}, {}, ["--api-key", "--evaluator-api-key"]),
    ({"api_key": LONG[:-1]}, {}, {}, ["--api-key"]),
    ({"api_key": "ollama", "evaluator_api_base_url": OTHER}, {}, {}, ["--api-key"]),
    ({"api_key": "ollama", "evaluator_model": "local"}, {}, {}, ["--api-key"]),
    ({"api_key": LONG}, {}, {}, []),
    ({"api_key": NO_KEY}, {}, {}, []),
    ({}, {"OPENAI_API_KEY": ""}, {}, []),
    ({}, {}, {}, []),
    ({"model": "local", "api_key": "ollama"}, {}, {}, []),
    ({"replies": "old.json", "api_key": "ollama", "evaluator_api_key": LONG}, {}, {}, []),
]
"""Command line, environment and pytest.ini, and which keys may be placeholders."""


def test_a_key_that_may_be_a_placeholder_is_told_with_where_it_is_from() -> None:
    """Once for both roles, never the key itself; not where no key is sent."""
    for options, environment, ini, sources in WARNED:
        sentences = warnings(resolved({"model": "m", **options}, environment, ini))
        expected = [f"{source}: the key has fewer than 16 characters, {MAY_BE_A_WORD}" for source in sources]
        assert sentences == expected, (options, environment, ini)
    # Below six characters it could be any word.
    (sentence,) = warnings(resolved({"model": "m", "api_key": "EMPTY"}))
    assert (
        sentence == "--api-key: the key has fewer than 16 characters, so it is not masked in what is written"
    )
