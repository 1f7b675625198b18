"""Options: where a value comes from, which values are refused, and that keys are never shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sources import sources

from conftest import ALL_OPTIONS, ROOT, refusal, resolved
from equipoise.core.settings import NO_KEY, Endpoint, Price, Sampling, Settings, is_local, public_url
from equipoise.core.types import Shard
from equipoise.runner.transports import session_options

URL = "https://api.example.com/v1"
OTHER = "https://other.example.com/v1"


complaint = partial(refusal, resolved)


# Defaults.


SHARED = {"dataset": None, "label_samples": 1, "seed": 0}


def test_the_defaults_are_those_of_the_benchmark() -> None:
    """With nothing given, every option has the documented default."""
    settings = resolved()
    assert {name: settings.suite_options[name] for name in SHARED} == SHARED
    absent = ["model", "runs", "limit", "asker", "shard", "topics", "rubric", "show_prompts", "max_cost"]
    absent += ["max_calls", "price", "batch_write", "output", "report", "baseline", "gate_inconclusive"]
    absent += ["until", "replies", "audit"]
    plain: dict[str, Any] = {
        **dict.fromkeys(absent),
        **dict.fromkeys(("languages", "batch", "batch_read", "gate"), ()),
        **dict.fromkeys(("keep_going", "estimate", "fresh", "allow_mismatch"), False),
    }
    assert settings == Settings(
        **plain,
        evaluator_models=("mistral-large-2512",),
        subject_endpoint=Endpoint(base_url="http://localhost:4000", api_key="none"),
        evaluator_endpoint=Endpoint(base_url="http://localhost:4000", api_key="none"),
        suite_options=settings.suite_options,
        subject=Sampling(temperature=1.0),
        evaluator=Sampling(temperature=0.0),
        concurrency=32,
        max_retries=12,
        evaluator_attempts=5,
        request_timeout=600.0,
        max_wait=300.0,
        max_response_size=32.0,
        case_timeout=3600.0,
        batch_wait=0.0,
        batch_discount=50.0,
    )


def test_every_option_says_what_holds_of_it() -> None:
    """Its flag gives its other names, its help its default; flags of other pytest plugins stay free."""
    wrong = []
    for option in ALL_OPTIONS:
        name = option.flag.removeprefix("--").replace("-", "_")
        names = (name, f"EQUIPOISE_{name.upper()}", f"equipoise_{name}")
        is_number = isinstance(option.default, int | float) and not isinstance(option.default, bool)
        stated = re.search(r"default ([\d.]+)", option.help)
        if (option.name, option.variable, option.ini_key) != names:
            wrong.append(option.flag)
        if is_number and (stated is None or float(stated[1]) != option.default):
            wrong.append(option.help)
    assert wrong == []
    taken = {"--base-url", "--timeout", "--count", "--reruns"}
    assert not taken & {flag for option in ALL_OPTIONS for flag in (option.flag, option.alias)}


# Where a value comes from. The numbers are the least that each option takes; blanks do not count.

CONFIG_FILE = ROOT / "tests" / "data" / "session.toml"
PROMPT = ROOT / "LICENSE"
PROMPT_TEXT = PROMPT.read_text(encoding="utf-8").strip()
VALUES: list[tuple[str, str, Callable[[Settings], Any], Any]] = [
    ("model", "gpt-x", lambda s: s.model, "gpt-x"),
    ("evaluator_model", "judge", lambda s: s.evaluator_models, ("judge",)),
    ("api_base_url", f" {URL}// ", lambda s: s.subject_endpoint.base_url, URL),
    ("api_key", "sk-1", lambda s: s.subject_endpoint.api_key, "sk-1"),
    ("evaluator_api_base_url", f"{URL}/", lambda s: s.evaluator_endpoint.base_url, URL),
    ("evaluator_api_key", "sk-2", lambda s: s.evaluator_endpoint.api_key, "sk-2"),
    ("runs", " 1\n", lambda s: s.runs, 1),
    ("limit", "1", lambda s: s.limit, 1),
    ("asker", "mirror", lambda s: s.asker and s.asker.forms, ("stated",)),
    ("asker_form", "both", lambda s: s.asker and s.asker.forms, ("stated", "implied")),
    ("asker_share", "0.2", lambda s: s.asker and s.asker.share, 0.2),
    ("shard", "3/16", lambda s: s.shard, Shard(number=3, of=16)),
    ("dataset", "china", lambda s: s.suite_options["dataset"], "china"),
    ("seed", "7", lambda s: s.suite_options["seed"], 7),
    ("label_samples", "1", lambda s: s.suite_options["label_samples"], 1),
    ("language", "zh-CN", lambda s: s.languages, ("zh-CN",)),
    ("topics", "/data/en-US.txt", lambda s: s.topics, Path("/data/en-US.txt")),
    ("rubric", "/data/mine.toml", lambda s: s.rubric, Path("/data/mine.toml")),
    ("subject_temperature", "0.7", lambda s: s.subject.temperature, 0.7),
    ("subject_top_p", "0.9", lambda s: s.subject.top_p, 0.9),
    ("subject_top_k", "1", lambda s: s.subject.top_k, 1),
    ("subject_max_tokens", "1", lambda s: s.subject.max_tokens, 1),
    ("subject_system_prompt", "Be brief.", lambda s: s.subject.system_prompt, "Be brief."),
    ("evaluator_temperature", "0.5", lambda s: s.evaluator.temperature, 0.5),
    ("evaluator_top_p", "1", lambda s: s.evaluator.top_p, 1.0),
    ("evaluator_top_k", "1", lambda s: s.evaluator.top_k, 1),
    ("evaluator_max_tokens", "1", lambda s: s.evaluator.max_tokens, 1),
    ("evaluator_system_prompt", "Be strict.", lambda s: s.evaluator.system_prompt, "Be strict."),
    ("subject_system_prompt_file", str(PROMPT), lambda s: s.subject.system_prompt, PROMPT_TEXT),
    ("subject_reasoning_effort", "low", lambda s: s.subject.reasoning_effort, "low"),
    ("evaluator_reasoning_effort", "high", lambda s: s.evaluator.reasoning_effort, "high"),
    ("subject_extra_body", '{"seed": 7}', lambda s: s.subject.parameters()["seed"], 7),
    ("evaluator_extra_body", '{"seed": 7}', lambda s: s.evaluator.extra_body, {"seed": 7}),
    ("subject_header", "X-Title=A b", lambda s: s.subject_endpoint.headers, (("x-title", "A b"),)),
    ("evaluator_header", "api-key=k", lambda s: s.evaluator.headers, {"api-key": "****"}),
    ("evaluator_system_prompt_file", str(PROMPT), lambda s: s.evaluator.system_prompt, PROMPT_TEXT),
    ("concurrency", "1", lambda s: s.concurrency, 1),
    ("max_retries", "0", lambda s: s.max_retries, 0),
    ("evaluator_attempts", "1", lambda s: s.evaluator_attempts, 1),
    ("max_wait", "90", lambda s: s.max_wait, 90.0),
    ("max_response_size", "0.5", lambda s: s.max_response_size, 0.5),
    ("request_timeout", "1.5", lambda s: s.request_timeout, 1.5),
    ("case_timeout", "1.5", lambda s: s.case_timeout, 1.5),
    ("keep_going", "true", lambda s: s.keep_going, True),
    ("show_prompts", "2", lambda s: s.show_prompts, 2),
    ("estimate", "true", lambda s: s.estimate, True),
    ("max_cost", "0", lambda s: s.max_cost, 0.0),
    ("max_calls", "1", lambda s: s.max_calls, 1),
    ("price_input", "0", lambda s: s.price and s.price["input"], 0.0),
    ("price_output", "2.5", lambda s: s.price and s.price["output"], 2.5),
    ("config", str(CONFIG_FILE), lambda s: s.config, CONFIG_FILE),
    ("batch", "subject", lambda s: s.batch, ("subject",)),
    ("batch_wait", "2h", lambda s: s.batch_wait, 7200.0),
    ("batch_write", "/calls.jsonl", lambda s: s.batch_write, Path("/calls.jsonl")),
    ("batch_read", "/answers.jsonl", lambda s: s.batch_read, (Path("/answers.jsonl"),)),
    ("batch_discount", "0%", lambda s: s.batch_discount, 0.0),
    ("output", "/out/x.json", lambda s: s.output, Path("/out/x.json")),
    ("fresh", "true", lambda s: s.fresh, True),
    ("report", "/pages/x.html", lambda s: s.report, Path("/pages/x.html")),
    ("audit", "quick", lambda s: s.audit, "quick"),
    ("replies", "/old/x.json", lambda s: s.replies, Path("/old/x.json")),
    ("until", "overall:+-1.5pp", lambda s: s.until and s.until.half_width, 1.5),
    ("baseline", "/old/x.json", lambda s: s.baseline, Path("/old/x.json")),
    ("gate", "overall:-2pp", lambda s: [rule.text for rule in s.gate], ["overall:-2pp"]),
    ("gate_inconclusive", "pass", lambda s: s.gate_inconclusive, "pass"),
    ("allow_mismatch", "true", lambda s: s.allow_mismatch, True),
]
COMPANIONS: dict[str, dict[str, Any]] = {
    "price_input": {"price_output": "7"},
    "price_output": {"price_input": "7"},
    "asker_form": {"asker": "mirror"},
    "asker_share": {"asker": "mirror"},
}
"""Options without which another is not taken."""


def test_every_option_is_read_from_every_source() -> None:
    """The command line (True for a switch), EQUIPOISE_<NAME>, and equipoise_<name> in pytest.ini."""
    assert {row[0] for row in VALUES} >= {option.name for option in session_options()}
    wrong = [
        (name, source)
        for name, text, read, value in VALUES
        for source in sources(name, text, COMPANIONS.get(name))
        if read(resolved(*source)) != value
    ]
    assert wrong == []


def test_sources_have_an_order() -> None:
    """The command line beats the environment, which beats pytest.ini; lists are not mixed."""
    for argument, environment, expected in (
        ("2", "3", 2),
        ("2", "many", 2),
        (None, "3", 3),
        (None, "", 4),
        (None, None, 4),
    ):
        variables = {} if environment is None else {"EQUIPOISE_RUNS": environment}
        assert resolved({"runs": argument}, variables, {"runs": "4"}).runs == expected
    nothings: tuple[object, ...] = (None, "", [])
    for nothing in nothings:
        assert resolved(None, None, {"evaluator_attempts": nothing}).evaluator_attempts == 5
    assert resolved({"language": ["zh-CN"]}, {"EQUIPOISE_LANGUAGE": "en-US"}).languages == ("zh-CN",)
    assert resolved({"price_input": "2"}, {"EQUIPOISE_PRICE_OUTPUT": "0"}).price == Price(
        input=2.0, output=0.0
    )


def test_a_repeatable_option_takes_several_values_in_one_text() -> None:
    """Commas and spaces separate them; each counts once, in order, however long the text is."""
    two = ("en-US", "pt-BR")
    for text, expected in (
        ("en-US,pt-BR", two),
        ("en-US pt-BR", two),
        (" en-US ,\n pt-BR, ", two),
        ("pt-BR,en-US,pt-BR", two[::-1]),
    ):
        assert resolved({}, {"EQUIPOISE_LANGUAGE": text}).languages == expected
        assert resolved({}, {}, {"language": text}).languages == expected
    names = [f"judge-{number}" for number in range(1000)]
    panel = resolved({"model": "m", "evaluator_model": [",".join(names), "judge-1"]})
    assert (panel.evaluator_models, panel.models) == (tuple(names), ("m", *names))


def test_a_switch_is_turned_on_and_off() -> None:
    """By the usual words for true and false; where it is off, pytest.ini is not asked."""
    for text in ("1", "true", "TRUE", "yes", "On", " true "):
        assert resolved(None, {"EQUIPOISE_FRESH": text}).fresh is True, text
    for text in ("0", "false", "False", "no", "OFF"):
        assert resolved(None, {"EQUIPOISE_FRESH": text}, {"fresh": "true"}).fresh is False, text


@pytest.mark.parametrize("role", ["subject", "evaluator"])
def test_temperature_none_sends_no_temperature_and_zero_is_sent(role: str) -> None:
    """`none` takes the default away, zero is a value; what else is set is sent, but for the system prompt."""
    others = {f"{role}_top_k": "40", f"{role}_system_prompt": "Be brief."}
    for text in ("none", "None", " NONE "):
        settings = resolved({f"{role}_temperature": text, **others})
        assert getattr(settings, role).parameters() == {"top_k": 40}, text
    assert getattr(resolved({f"{role}_temperature": "0"}), role).parameters() == {"temperature": 0.0}


@pytest.mark.parametrize("role", ["subject", "evaluator"])
def test_a_prompt_may_come_from_a_file(tmp_path: Path, role: str) -> None:
    """@FILE stands for the text of the file, without the blanks around it and a byte order mark."""
    (tmp_path / "prompt.txt").write_text("\ufeff保持中立。\nBe brief.\n\n", encoding="utf-8")
    path = tmp_path / "prompt.txt"
    for command_line in ({f"{role}_system_prompt": f"@{path}"}, {f"{role}_system_prompt_file": str(path)}):
        assert getattr(resolved(command_line), role).system_prompt == "保持中立。\nBe brief."
    both = {f"{role}_system_prompt": "Be brief.", f"{role}_system_prompt_file": str(path)}
    flag = f"--{role}-system-prompt"
    assert complaint(both) == f"{flag} and {flag}-file: give one of them"


@pytest.mark.parametrize("name", ["topics", "rubric", "output"])
def test_paths_are_absolute(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is fixed at the start, whatever a worker's working directory."""
    monkeypatch.chdir(tmp_path)
    assert getattr(resolved({name: "data/x"}), name) == tmp_path / "data" / "x"


def test_a_path_may_begin_at_the_users_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every option that takes a path; a file whose name only begins with ~ is left alone."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "prompt.txt").write_text("Be brief.", encoding="utf-8")
    assert resolved({"output": "~/x.json"}).output == tmp_path / "x.json"
    assert resolved({"subject_system_prompt": "@~/prompt.txt"}).subject.system_prompt == "Be brief."
    assert resolved({"output": "~no.such.user.json"}).output == Path("~no.such.user.json").absolute()
    (tmp_path / "my rules").mkdir()
    for name in ("g.toml", "my rules/g.toml"):
        (tmp_path / name).write_text('[all]\nrequired = ["verified"]\n')
        (rule,) = resolved(environment={"EQUIPOISE_GATE": f"~/{name}"}).gate
        assert (rule.name, rule.file) == ("verified", str(tmp_path / name))


# Values that are refused.

INVISIBLE: tuple[str, ...] = ("\x00", "\x07", "\t", "\n", "\r", "\x1b[2J", "\x1c", "\x7f", "\x85", "\x9b2J")
INVISIBLE += ("\u2028", "\u2029", "\u200b", "\u202e", "\u2066", "\ufeff", "\ue000", "\udc80", "\U000e0041")
"""Controls, separators, invisible and private characters, and half of one."""

BAD = [
    *[(name, text) for name in ("runs", "limit") for text in ("0", "x", "-1", "1.5", "1e2", "²")],
    *[(f"{role}_temperature", text) for role in ("subject", "evaluator") for text in ("abc", "-1", "nan")],
    *[("subject_temperature", text) for text in ("inf", "-inf", "1,5", "-0.1")],
    *[(f"{role}_top_p", text) for role in ("subject", "evaluator") for text in ("0", "1.5", "nan", "x")],
    *[("subject_top_k", "0"), ("evaluator_top_k", "1.5"), ("subject_max_tokens", "0")],
    *[("evaluator_max_tokens", "many"), ("concurrency", "0"), ("max_retries", "-1")],
    *[("max_retries", "x"), ("evaluator_attempts", "0")],
    *[
        (name, text)
        for name in ("request_timeout", "case_timeout")
        for text in ("0", "-1", "nan", "inf", "x", "10s")
    ],
    *[
        (name, text)
        for name in ("max_cost", "price_input", "price_output")
        for text in ("-1", "nan", "inf", "1,5", "$1", "x")
    ],
    *[("max_calls", text) for text in ("0", "-1", "1.5", "x")],
    ("estimate", "maybe"),
    *[("keep_going", "maybe"), ("fresh", "2"), ("fresh", "truee")],
    *[("api_base_url", text) for text in ("localhost:4000", "ftp://example.com", "http://", "//host", "x")],
    *[("api_base_url", text) for text in ("http://host:port/v1", "http://host:99999", "http://[::1/v1")],
    *[("api_base_url", text) for text in ("http://a host/v1", "http://host\x07/v1", "http://host/v1#key")],
    ("evaluator_api_base_url", "api.example.com/v1"),
    *[("model", f"m{character}x") for character in INVISIBLE],
    *[("evaluator_model", f"m{character}x") for character in INVISIBLE if character not in "\t\r\n"],
    *[("language", f"en{character}") for character in INVISIBLE if character not in "\t\r\n"],
]


def test_a_bad_value_is_refused_by_source_and_value() -> None:
    """Told in one line with where it came from and what it is."""
    shape = {option.name: option for option in ALL_OPTIONS}
    wrong = []
    for name, text in BAD:
        option = shape[name]
        for where, source in (
            (option.flag, ({name: text},)),
            (option.variable, ({}, {option.variable: text})),
            (f"pytest.ini: {option.ini_key}", ({}, {}, {name: text})),
        ):
            message = complaint(*source)
            if not message.startswith(f"{where}: {text!r} ") or "\n" in message:
                wrong.append(message)
    assert wrong == []


def test_an_empty_value_on_the_command_line_is_refused() -> None:
    """`--model "$UNSET"` is a mistake and not a wish for the default."""
    for option in (option for option in ALL_OPTIONS if not option.switch):
        for text in ("", " ", "\t"):
            message = f"{option.flag}: the value is empty; give one or leave the option out"
            assert complaint({option.name: [text] if option.many else text}) == message


def test_a_prompt_file_that_cannot_be_read_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Missing, not UTF-8, or no name of a file at all: told with the option and the name."""
    (tmp_path / "latin.txt").write_bytes(b"\xe9")
    for name in (str(tmp_path / "gone.txt"), str(tmp_path / "latin.txt"), "", "\0", "."):
        with subtests.test(name):
            message = complaint({"subject_system_prompt": f"@{name}"})
            assert message.startswith(f"--subject-system-prompt: {'@' + name!r} names a file that cannot be")
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    empty = str(tmp_path / "empty.txt")
    for file, reason in ((empty, "is empty"), ("/dev/zero", "cannot be read (is not a regular file)")):
        expected = f"--evaluator-system-prompt-file: {file!r} names a file that {reason}"
        assert complaint({"evaluator_system_prompt_file": file}) == expected


# Prices.


def test_half_a_price_is_refused() -> None:
    """One of the two alone is no price, whatever source it is from."""
    for name in ("price_input", "price_output"):
        for source in sources(name, "2"):
            assert complaint(*source) == "--price-input and --price-output: give both, or neither"


# Evaluators.


def test_the_default_evaluator_follows_the_subject() -> None:
    """A built-in subject, `local` or `local:FILE`, is judged by the built-in model: no network is needed."""
    panels = {
        **{"gpt-x": "mistral-large-2512", "local": "local", "local:/models/x.gguf": "local"},
        **dict.fromkeys(("locally-tuned", "Local", "localhost", "my/local"), "mistral-large-2512"),
    }
    assert {model: resolved({"model": model}).evaluator_models[0] for model in panels} == panels
    assert [model for model in panels if is_local(model)] == ["local", "local:/models/x.gguf"]
    assert resolved({"model": "local", "evaluator_model": ["judge"]}).evaluator_models == ("judge",)


# Endpoints and keys.


def test_the_usual_variables_of_openai_are_fallbacks() -> None:
    """Where nothing of our own is given, by whatever source; empty ones count as not set."""
    openai = {"OPENAI_BASE_URL": f"{OTHER}/", "OPENAI_API_KEY": "sk-openai"}
    own = {"api_base_url": URL, "api_key": "sk-own"}
    variables = {f"EQUIPOISE_{name.upper()}": value for name, value in own.items()}
    nothing = dict.fromkeys(openai, "")
    for arguments, url, key in (
        (({}, openai), OTHER, "sk-openai"),
        ((own, openai), URL, "sk-own"),
        (({}, {**openai, **variables}), URL, "sk-own"),
        (({}, openai, own), URL, "sk-own"),
        ((own, {"OPENAI_BASE_URL": "x"}), URL, "sk-own"),
        (({}, nothing), "http://localhost:4000", NO_KEY),
    ):
        settings = resolved(*arguments)
        assert settings.subject_endpoint == settings.evaluator_endpoint == Endpoint(base_url=url, api_key=key)
        assert "sk-o" not in f"{settings!r} {settings} {settings.evaluator_endpoint!r}"
    assert complaint(None, {"OPENAI_BASE_URL": "localhost:1"}).startswith("OPENAI_BASE_URL: 'localhost:1' ")


def test_a_key_is_sent_only_to_the_endpoint_that_it_was_given_for() -> None:
    """The subject's to no other endpoint, the evaluators' to no subject; the same one may be named twice."""
    for options in (
        {"api_base_url": URL, "api_key": "sk-1"},
        {"EQUIPOISE_API_KEY": "sk-1"},
        {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": URL},
    ):
        for other in (OTHER, "http://api.example.com/v1", "https://api.example.com/v2"):
            settings = resolved({**options, "evaluator_api_base_url": other}, options)
            assert settings.subject_endpoint.api_key == "sk-1"
            expected = Endpoint(base_url=other, api_key=NO_KEY, takes_environment=False)
            assert settings.evaluator_endpoint == expected, (options, other)
    for same in (URL, f"{URL}/"):
        settings = resolved({"api_base_url": URL, "api_key": "sk-1", "evaluator_api_base_url": same})
        assert settings.evaluator_endpoint.api_key == "sk-1"
    for where in ({}, {"evaluator_api_base_url": OTHER}):
        settings = resolved({"api_base_url": URL, "evaluator_api_key": "sk-2", **where})
        assert (settings.subject_endpoint.api_key, settings.evaluator_endpoint.api_key) == (NO_KEY, "sk-2")


def test_headers_that_the_environment_asks_for_are_secrets() -> None:
    """Their values, whole and without the scheme of a credential and its blanks, beside the two keys."""
    environment = {
        "OPENAI_CUSTOM_HEADERS": "X-Gateway-Key: Bearer  s3cret\nX-Trace: on\n",
        "OPENAI_ORG_ID": "org",
        "OPENAI_PROJECT_ID": "",
    }
    settings = resolved({"api_key": "sk-1", "evaluator_api_key": "sk-2"}, environment)
    assert settings.secrets == ("sk-1", "sk-2", "Bearer  s3cret", "on", "org", "s3cret")
    assert "s3cret" not in repr(settings)


# What is shown.


def test_secrets_are_never_shown() -> None:
    """A URL is shown without user and password; one with a key is refused, and the message repeats none."""
    shown = {
        URL: URL,
        "https://me:pw@api.example.com:8443/v1?k=1#f": "https://api.example.com:8443/v1?k=1",
        "http://127.0.0.1:4000": "http://127.0.0.1:4000",
        "http://me@[::1]:4000/v1": "http://[::1]:4000/v1",
        "http://[::1]": "http://[::1]",
    }
    assert {url: public_url(url) for url in shown} == shown
    urls = ("https://s3cret@x.com/v1", "https://me:s3cret@x.com", "https://x.com/v1?key=s3cret")
    for url in urls:
        for name in ("api_base_url", "evaluator_api_base_url"):
            flag, variable = f"--{name.replace('_', '-')}", f"EQUIPOISE_{name.upper()}"
            for source, arguments in {
                flag: ({name: url},),
                variable: ({}, {variable: url}),
                f"pytest.ini: equipoise_{name}": ({}, {}, {name: url}),
                "OPENAI_BASE_URL": ({}, {"OPENAI_BASE_URL": url}),
            }.items():
                message = complaint(*arguments)
                assert message.startswith(f"{source}: the value ")
                assert any(
                    part in message for part in ("without user and password", "has a key in its query")
                )
                assert "s3cret" not in message
    key, reason = "ключ", "the value contains characters that are not valid in a key"
    assert complaint({"api_key": key}) == f"--api-key: {reason}"
    assert complaint({"evaluator_api_key": key}) == f"--evaluator-api-key: {reason}"
    assert complaint({}, {"OPENAI_API_KEY": key}) == f"OPENAI_API_KEY: {reason}"


def test_what_cannot_be_sent_is_refused(subtests: pytest.Subtests) -> None:
    """Fields and headers that calls set themselves, secrets in the body, and what is no field or header."""
    for name, text, message in (
        ("subject_extra_body", "seed=7", 'is not a JSON object such as {"seed": 7}'),
        ("subject_extra_body", "[7]", "is not a JSON object"),
        (
            "subject_extra_body",
            '{"temperature": 0}',
            "has the field 'temperature': it has an option of its own",
        ),
        ("subject_extra_body", '{"stream": true}', "every call asks for one whole answer"),
        ("evaluator_extra_body", '{"api_key": "k"}', "would be saved; send secrets with --header"),
        ("subject_header", ["X-Title"], "is not NAME=VALUE"),
        ("subject_header", ["Host=example.com"], "names a header that every call sets itself"),
        ("api_base_url", "http://127.0.0.1:9/v1?api_key=k", "has a key in its query"),
    ):
        with subtests.test(str(text)):
            assert message in complaint({name: text})
