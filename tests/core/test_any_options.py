"""Arbitrary options: settings or a UserError without a key, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuzzing import any_text, made_of, modest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from sources import sources

from conftest import ALL_OPTIONS, resolved
from equipoise.core.errors import UserError
from equipoise.core.settings import Settings
from equipoise.report.header import header

SECRETS = ("api_key", "evaluator_api_key")
option_text = st.one_of(
    any_text,
    made_of("http://", "https://", "localhost", ":", "80", "/", "?", "#", "@", "[", "]", "%", " ", "\n", "a"),
    st.sampled_from(("1", "0", "-1", "1e9", "nan", "inf", "true", "NO", "none", "", " ", "9" * 5000, "1_0")),
    made_of("@", "/", "..", "nowhere", "\x00"),
)
every_name = [option.name for option in ALL_OPTIONS]
option_texts = st.dictionaries(st.sampled_from(every_name), option_text, max_size=5)


def as_given(texts: Mapping[str, str]) -> dict[str, Any]:
    """Texts as pytest hands them over: lists where an option repeats, True for a switch."""
    return {name: sources(name, text)[0][0][name] for name, text in texts.items()}


@modest
@given(
    command_line=option_texts.map(as_given),
    environment=option_texts,
    others=st.dictionaries(st.sampled_from(("OPENAI_BASE_URL", "OPENAI_API_KEY")), option_text),
    ini=option_texts,
)
@example(command_line={"api_key": "sk-planted-\x1b"}, environment={}, others={}, ini={})
@example(command_line={}, environment={}, others={"OPENAI_BASE_URL": "http://[sk-planted"}, ini={})
def test_any_options_are_settings_or_refused(
    command_line: dict[str, Any], environment: dict[str, str], others: dict[str, str], ini: dict[str, str]
) -> None:
    """Whatever is given by whichever way: settings that can be described, or a UserError without a key."""
    variables = {f"EQUIPOISE_{name.upper()}": text for name, text in environment.items()} | others
    keys = [source[name] for source in (command_line, environment, ini) for name in SECRETS if name in source]
    keys = [key for key in [*keys, others.get("OPENAI_API_KEY", "")] if len(key) > 20]
    try:
        resolved_settings = resolved(command_line, variables, ini)
    except UserError as error:
        message = str(error)
        assert "\n" not in message
    else:
        assert isinstance(resolved_settings, Settings)
        message = " ".join(header(resolved_settings)) + repr(resolved_settings)
    assume(not any(key in text for key in keys for text in shown_texts(command_line, variables, ini)))
    assert not any(key in message for key in keys)


def shown_texts(*sources: Mapping[str, Any]) -> list[str]:
    """All texts that are no keys: these may be shown."""
    return [str(text) for source in sources for name, text in source.items() if "key" not in name.lower()]
