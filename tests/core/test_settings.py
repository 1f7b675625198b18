"""Options: where a value comes from, which values are refused, and that keys are never shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ALL_OPTIONS, ROOT, resolved
from equipoise.core.errors import UserError
from equipoise.core.options import Option
from equipoise.core.settings import NO_KEY, Endpoint, Price, Sampling, Settings, is_local, public_url
from equipoise.report.terminal import header, warnings

URL = "https://api.example.com/v1"
OTHER = "https://other.example.com/v1"


def settle(
    given: dict[str, Any] | None = None,
    environment: dict[str, str] | None = None,
    ini: dict[str, Any] | None = None,
) -> Settings:
    """The settings of a command line, an environment and a pytest.ini."""
    return resolved(given or {}, environment or {}, ini or {})


def complaint(*sources: dict[str, Any] | None) -> str:
    """The message with which these sources are refused."""
    with pytest.raises(UserError) as caught:
        settle(*sources)
    return str(caught.value)


# Defaults.


def test_the_defaults_are_those_of_the_benchmark() -> None:
    """With nothing given, every option has the documented default."""
    assert settle() == Settings(
        model=None,
        evaluator_models=("mistral-large-2512",),
        subject_endpoint=Endpoint(base_url="http://localhost:4000", api_key="none"),
        evaluator_endpoint=Endpoint(base_url="http://localhost:4000", api_key="none"),
        runs=None,
        limit=None,
        languages=(),
        suite_options={
            "dataset": None,
            "label_samples": 1,
            "pair_order": "both",
            "strategy": "vanilla",
            "method": "generate",
            "parse": "own",
            "option_order": "seeded",
            "seed": 0,
            "prompt_style": "direct",
            "answer_format": "open",
            "confidence": False,
            "retrieval": None,
            "retriever": None,
        },
        topics=None,
        subject=Sampling(temperature=1.0),
        evaluator=Sampling(temperature=0.0),
        concurrency=32,
        max_retries=12,
        evaluator_attempts=5,
        request_timeout=600.0,
        case_timeout=3600.0,
        keep_going=False,
        estimate=False,
        max_cost=None,
        max_calls=None,
        price=None,
        output=None,
        fresh=False,
        baseline=None,
        gate=(),
        gate_inconclusive=None,
        allow_mismatch=False,
        until=None,
        rejudge=None,
    )


def _states_a_number(option: Option) -> bool:
    return isinstance(option.default, int | float) and not isinstance(option.default, bool)


@pytest.mark.parametrize(
    "option", [o for o in ALL_OPTIONS if _states_a_number(o)], ids=lambda option: option.name
)
def test_help_states_the_default_that_holds(option: Option) -> None:
    """The number after "default" in an option's help is its default."""
    stated = re.search(r"default ([\d.]+)", option.help)
    assert stated is not None
    assert float(stated[1]) == option.default


@pytest.mark.parametrize("option", ALL_OPTIONS, ids=lambda option: option.name)
def test_the_names_of_an_option_follow_from_its_flag(option: Option) -> None:
    """The flag gives the name, the variable and the key in pytest.ini."""
    name = option.flag.removeprefix("--").replace("-", "_")
    assert (option.name, option.variable, option.ini) == (
        name,
        f"EQUIPOISE_{name.upper()}",
        f"equipoise_{name}",
    )


def test_options_do_not_take_the_flags_of_other_plugins() -> None:
    """Flags that other pytest plugins own stay free."""
    taken = {"--base-url", "--timeout", "--count", "--reruns"}
    assert not taken & {flag for option in ALL_OPTIONS for flag in (option.flag, option.alias)}


# Where a value comes from. The numbers are the least that each option takes.

VALUES: list[tuple[str, str, Callable[[Settings], Any], Any]] = [
    ("model", "gpt-x", lambda s: s.model, "gpt-x"),
    ("evaluator_model", "judge", lambda s: s.evaluator_models, ("judge",)),
    ("api_base_url", URL, lambda s: s.subject_endpoint.base_url, URL),
    ("api_key", "sk-1", lambda s: s.subject_endpoint.api_key, "sk-1"),
    ("evaluator_api_base_url", URL, lambda s: s.evaluator_endpoint.base_url, URL),
    ("evaluator_api_key", "sk-2", lambda s: s.evaluator_endpoint.api_key, "sk-2"),
    ("runs", "1", lambda s: s.runs, 1),
    ("limit", "1", lambda s: s.limit, 1),
    ("dataset", "china", lambda s: s.suite_options["dataset"], "china"),
    ("pair_order", "original", lambda s: s.suite_options["pair_order"], "original"),
    ("method", "rank", lambda s: s.suite_options["method"], "rank"),
    ("parse", "original", lambda s: s.suite_options["parse"], "original"),
    ("option_order", "fixed", lambda s: s.suite_options["option_order"], "fixed"),
    ("seed", "7", lambda s: s.suite_options["seed"], 7),
    ("strategy", "all", lambda s: s.suite_options["strategy"], "all"),
    ("prompt_style", "recall", lambda s: s.suite_options["prompt_style"], "recall"),
    ("answer_format", "choice", lambda s: s.suite_options["answer_format"], "choice"),
    ("confidence", "true", lambda s: s.suite_options["confidence"], True),
    ("retrieval", str(ROOT), lambda s: s.suite_options["retrieval"], ROOT),
    ("retriever", "a.b:c", lambda s: s.suite_options["retriever"], "a.b:c"),
    ("label_samples", "1", lambda s: s.suite_options["label_samples"], 1),
    ("language", "zh-CN", lambda s: s.languages, ("zh-CN",)),
    ("topics", "/data/en-US.txt", lambda s: s.topics, Path("/data/en-US.txt")),
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
    ("concurrency", "1", lambda s: s.concurrency, 1),
    ("max_retries", "0", lambda s: s.max_retries, 0),
    ("evaluator_attempts", "1", lambda s: s.evaluator_attempts, 1),
    ("request_timeout", "1.5", lambda s: s.request_timeout, 1.5),
    ("case_timeout", "1.5", lambda s: s.case_timeout, 1.5),
    ("keep_going", "true", lambda s: s.keep_going, True),
    ("estimate", "true", lambda s: s.estimate, True),
    ("max_cost", "0", lambda s: s.max_cost, 0.0),
    ("max_calls", "1", lambda s: s.max_calls, 1),
    ("price_input", "0", lambda s: s.price and s.price.input, 0.0),
    ("price_output", "2.5", lambda s: s.price and s.price.output, 2.5),
    ("output", "/out/x.json", lambda s: s.output, Path("/out/x.json")),
    ("fresh", "true", lambda s: s.fresh, True),
    ("rejudge", "/old/x.json", lambda s: s.rejudge, Path("/old/x.json")),
    ("until", "overall:+-1.5pp", lambda s: s.until and s.until.half_width, 1.5),
    ("baseline", "/old/x.json", lambda s: s.baseline, Path("/old/x.json")),
    ("gate", "overall:-2pp", lambda s: [rule.text for rule in s.gate], ["overall:-2pp"]),
    ("gate_inconclusive", "pass", lambda s: s.gate_inconclusive, "pass"),
    ("allow_mismatch", "true", lambda s: s.allow_mismatch, True),
]
COMPANIONS: dict[str, dict[str, Any]] = {
    "price_input": {"price_output": "7"},
    "price_output": {"price_input": "7"},
}
"""Options without which another is not taken."""
every_value = pytest.mark.parametrize(
    ("name", "text", "read", "value"), [pytest.param(*row, id=row[0]) for row in VALUES]
)


def test_the_table_of_values_above_names_every_option() -> None:
    """No option goes untested by being forgotten here."""
    assert {row[0] for row in VALUES} == {option.name for option in ALL_OPTIONS}


@every_value
def test_an_option_is_read_from_the_command_line(
    name: str, text: str, read: Callable[[Settings], Any], value: Any
) -> None:
    """The command line gives a text, a list of texts where the option repeats, or True for a switch."""
    option = next(option for option in ALL_OPTIONS if option.name == name)
    given = [text] if option.many else True if option.switch else text
    assert read(settle({**COMPANIONS.get(name, {}), name: given})) == value


@every_value
def test_an_option_is_read_from_the_environment(
    name: str, text: str, read: Callable[[Settings], Any], value: Any
) -> None:
    """EQUIPOISE_<NAME> sets any option."""
    assert read(settle(COMPANIONS.get(name), {f"EQUIPOISE_{name.upper()}": text})) == value


@every_value
def test_an_option_is_read_from_pytest_ini(
    name: str, text: str, read: Callable[[Settings], Any], value: Any
) -> None:
    """equipoise_<name> in pytest.ini sets any option."""
    assert read(settle(COMPANIONS.get(name), None, {name: text})) == value


@pytest.mark.parametrize(
    ("given", "environment", "expected"),
    [
        pytest.param("2", "3", 2, id="command_line_first"),
        pytest.param(None, "3", 3, id="then_the_environment"),
        pytest.param(None, "", 4, id="an_empty_variable_is_not_set"),
        pytest.param(None, None, 4, id="then_pytest_ini"),
    ],
)
def test_sources_have_an_order(given: str | None, environment: str | None, expected: int) -> None:
    """The command line beats the environment, which beats pytest.ini."""
    variables = {} if environment is None else {"EQUIPOISE_RUNS": environment}
    assert settle({"runs": given}, variables, {"runs": "4"}).runs == expected


@pytest.mark.parametrize("nothing", [None, "", []], ids=["none", "empty_text", "empty_list"])
def test_a_key_that_is_not_in_pytest_ini_leaves_the_default(nothing: Any) -> None:
    """However pytest says that a key is absent, the default holds."""
    assert settle(None, None, {"evaluator_attempts": nothing}).evaluator_attempts == 5


def test_a_bad_value_that_is_overruled_does_no_harm() -> None:
    """Only the value that counts is checked."""
    assert settle({"runs": "2"}, {"EQUIPOISE_RUNS": "many"}).runs == 2


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        pytest.param("en-US,pt-BR", ("en-US", "pt-BR"), id="comma"),
        pytest.param("en-US pt-BR", ("en-US", "pt-BR"), id="blank"),
        pytest.param(" en-US ,\n pt-BR, ", ("en-US", "pt-BR"), id="both_and_more"),
        pytest.param("pt-BR,en-US,pt-BR", ("pt-BR", "en-US"), id="duplicate_removed"),
    ],
)
@pytest.mark.parametrize("source", [1, 2], ids=["environment", "pytest_ini"])
def test_a_repeatable_option_takes_several_values_in_one_text(
    source: int, environment: str, expected: tuple[str, ...]
) -> None:
    """Where an option cannot be repeated, commas and blanks separate its values."""
    sources: list[dict[str, Any]] = [{}, {}, {}]
    sources[source] = {"EQUIPOISE_LANGUAGE" if source == 1 else "language": environment}
    assert settle(*sources).languages == expected


def test_a_repeated_option_keeps_its_order_and_loses_duplicates() -> None:
    """A panel has each evaluator once, in the order given."""
    assert settle({"evaluator_model": ["b", "a", "b"]}).evaluator_models == ("b", "a")


def test_a_list_on_the_command_line_replaces_that_of_the_environment() -> None:
    """Lists of two sources are not mixed."""
    assert settle({"language": ["zh-CN"]}, {"EQUIPOISE_LANGUAGE": "en-US"}).languages == ("zh-CN",)


@pytest.mark.parametrize("text", ["1", "true", "TRUE", "yes", "On", " true "])
def test_a_switch_is_turned_on(text: str) -> None:
    """The usual words for true turn a switch on."""
    assert settle(None, {"EQUIPOISE_FRESH": text}).fresh is True


@pytest.mark.parametrize("text", ["0", "false", "False", "no", "OFF"])
def test_a_switch_is_turned_off(text: str) -> None:
    """The usual words for false turn a switch off, and pytest.ini is then not asked."""
    assert settle(None, {"EQUIPOISE_FRESH": text}, {"fresh": "true"}).fresh is False


@pytest.mark.parametrize("text", ["none", "None", " NONE "])
@pytest.mark.parametrize("role", ["subject", "evaluator"])
def test_temperature_none_sends_no_temperature(role: str, text: str) -> None:
    """`none` takes the benchmark's own temperature away."""
    settings = settle({f"{role}_temperature": text})
    assert "temperature" not in getattr(settings, role).parameters()


@pytest.mark.parametrize("role", ["subject", "evaluator"])
def test_temperature_zero_is_sent(role: str) -> None:
    """Zero is a value and not the absence of one."""
    assert getattr(settle({f"{role}_temperature": "0"}), role).parameters() == {"temperature": 0.0}


def test_only_parameters_that_are_set_are_sent() -> None:
    """The body of a request has the given parameters, and the system prompt is none of them."""
    sampling = settle({"subject_top_k": "40", "subject_system_prompt": "Be brief."}).subject
    assert sampling.parameters() == {"temperature": 1.0, "top_k": 40}


@pytest.mark.parametrize("role", ["subject", "evaluator"])
def test_a_prompt_may_come_from_a_file(tmp_path: Path, role: str) -> None:
    """@FILE stands for the text of the file, without blanks around it."""
    (tmp_path / "prompt.txt").write_text("保持中立。\nBe brief.\n\n", encoding="utf-8")
    settings = settle({f"{role}_system_prompt": f"@{tmp_path / 'prompt.txt'}"})
    assert getattr(settings, role).system_prompt == "保持中立。\nBe brief."


def test_a_prompt_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """A mark that an editor left at the start of a file is not sent to a model."""
    (tmp_path / "prompt.txt").write_bytes(b"\xef\xbb\xbfBe brief.")
    settings = settle({"subject_system_prompt": f"@{tmp_path / 'prompt.txt'}"})
    assert settings.subject.system_prompt == "Be brief."


@pytest.mark.parametrize("name", ["topics", "output"])
def test_paths_are_absolute(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is fixed at the start, whatever a worker's working directory."""
    monkeypatch.chdir(tmp_path)
    assert getattr(settle({name: "data/x"}), name) == tmp_path / "data" / "x"


def test_blanks_around_a_number_make_no_difference() -> None:
    """A line of pytest.ini or a shell script may leave blanks behind."""
    assert settle(None, {"EQUIPOISE_RUNS": " 3\n"}).runs == 3


@pytest.mark.parametrize("text", [f"{URL}/", f" {URL} ", f"{URL}//"])
def test_a_base_url_is_trimmed(text: str) -> None:
    """Blanks around a base URL and slashes at its end make no difference."""
    assert settle({"api_base_url": text}).subject_endpoint.base_url == URL


# Values that are refused.


def _sources(name: str, text: str) -> list[tuple[str, tuple[dict[str, Any], ...]]]:
    """Each source that may give the value, with the name under which it is told."""
    option = next(option for option in ALL_OPTIONS if option.name == name)
    return [
        (option.flag, ({name: text},)),
        (option.variable, ({}, {option.variable: text})),
        (f"pytest.ini: {option.ini}", ({}, {}, {name: text})),
    ]


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
    ("evaluator_api_base_url", "api.example.com/v1"),
]


@pytest.mark.parametrize(
    ("source", "sources", "text"),
    [
        pytest.param(source, sources, text, id=f"{name}-{text}-{kind}")
        for name, text in BAD
        for kind, (source, sources) in zip(("flag", "variable", "ini"), _sources(name, text), strict=True)
    ],
)
def test_a_bad_value_is_refused_by_source_and_value(
    source: str, sources: tuple[dict[str, Any], ...], text: str
) -> None:
    """A value that cannot work is told in one line with where it came from and what it is."""
    message = complaint(*sources)
    assert message.startswith(f"{source}: {text!r} ")
    assert "\n" not in message


@pytest.mark.parametrize("text", ["", " ", "\t"], ids=["empty", "blank", "tab"])
@pytest.mark.parametrize("option", [o for o in ALL_OPTIONS if not o.switch], ids=lambda option: option.name)
def test_an_empty_value_on_the_command_line_is_refused(option: Option, text: str) -> None:
    """`--model "$UNSET"` is a mistake and not a wish for the default."""
    message = complaint({option.name: [text] if option.many else text})
    assert message.startswith(f"{option.flag}: ")
    assert "empty" in message


@pytest.mark.parametrize(
    ("name", "content"),
    [pytest.param("gone.txt", None, id="missing"), pytest.param("latin.txt", b"\xe9", id="not_utf_8")],
)
def test_a_prompt_file_that_cannot_be_read_is_refused(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    """A prompt file that is missing or no UTF-8 is told with option and name."""
    if content is not None:
        (tmp_path / name).write_bytes(content)
    message = complaint({"subject_system_prompt": f"@{tmp_path / name}"})
    assert message.startswith("--subject-system-prompt: ")
    assert name in message


@pytest.mark.parametrize("text", ["@", "@\0", "@."], ids=["no_name", "nul", "folder"])
def test_a_prompt_file_with_an_impossible_name_is_refused(text: str) -> None:
    """What can be no file is a user error too."""
    assert complaint({"evaluator_system_prompt": text}).startswith("--evaluator-system-prompt: ")


# Prices.


@pytest.mark.parametrize("name", ["price_input", "price_output"])
@pytest.mark.parametrize("source", [0, 1, 2], ids=["command_line", "environment", "pytest_ini"])
def test_half_a_price_is_refused(name: str, source: int) -> None:
    """One of the two alone is no price, whatever source it is from."""
    sources: list[dict[str, Any]] = [{}, {}, {}]
    sources[source] = {f"EQUIPOISE_{name.upper()}" if source == 1 else name: "2"}
    assert complaint(*sources) == "--price-input and --price-output: give both, or neither"


def test_a_price_may_come_from_two_sources() -> None:
    """Each of the two options is looked for where every option is."""
    assert settle({"price_input": "2"}, {"EQUIPOISE_PRICE_OUTPUT": "0"}).price == Price(input=2.0, output=0.0)


# Evaluators.


@pytest.mark.parametrize(
    ("model", "panel"),
    [
        ("gpt-x", "mistral-large-2512"),
        ("local", "local"),
        ("local:/models/x.gguf", "local"),
        ("locally-tuned", "mistral-large-2512"),
    ],
)
def test_the_default_evaluator_follows_the_subject(model: str, panel: str) -> None:
    """A built-in subject is judged by the built-in model, so that no network is needed."""
    assert settle({"model": model}).evaluator_models == (panel,)


def test_a_local_subject_may_have_another_evaluator() -> None:
    """An evaluator that is asked for is taken, whatever the subject."""
    assert settle({"model": "local", "evaluator_model": ["judge"]}).evaluator_models == ("judge",)


@pytest.mark.parametrize(
    ("model", "expected"),
    [("local", True), ("local:x.gguf", True), ("Local", False), ("localhost", False), ("my/local", False)],
)
def test_only_local_names_the_built_in_model(model: str, expected: bool) -> None:
    """`local` and `local:FILE` mean the built-in server, nothing else does."""
    assert is_local(model) is expected


def test_models_are_the_subject_and_then_the_panel() -> None:
    """The subject is number 0, the evaluators follow."""
    settings = settle({"model": "m", "evaluator_model": ["a", "b"]})
    assert settings.models == ("m", "a", "b")


# Endpoints and keys.


def test_the_usual_variables_of_openai_are_fallbacks() -> None:
    """OPENAI_BASE_URL and OPENAI_API_KEY serve where nothing of our own is given."""
    settings = settle(None, {"OPENAI_BASE_URL": f"{URL}/", "OPENAI_API_KEY": "sk-openai"})
    assert settings.subject_endpoint == Endpoint(base_url=URL, api_key="sk-openai")


@pytest.mark.parametrize("place", [0, 1, 2], ids=["command_line", "environment", "pytest_ini"])
def test_options_of_ours_beat_the_variables_of_openai(place: int) -> None:
    """Whatever source gives our own option, it comes before OPENAI_*."""
    names = ("EQUIPOISE_API_BASE_URL", "EQUIPOISE_API_KEY") if place == 1 else ("api_base_url", "api_key")
    sources: list[dict[str, str]] = [{}, {}, {}]
    sources[place] = dict(zip(names, (URL, "sk-own"), strict=True))
    sources[1] |= {"OPENAI_BASE_URL": OTHER, "OPENAI_API_KEY": "sk-openai"}
    assert settle(*sources).subject_endpoint == Endpoint(base_url=URL, api_key="sk-own")


def test_empty_variables_of_openai_count_as_not_set() -> None:
    """An empty OPENAI_BASE_URL or OPENAI_API_KEY leaves the default."""
    settings = settle(None, {"OPENAI_BASE_URL": "", "OPENAI_API_KEY": ""})
    assert settings.subject_endpoint == Endpoint(base_url="http://localhost:4000", api_key=NO_KEY)


def test_a_bad_openai_base_url_is_refused() -> None:
    """OPENAI_BASE_URL is checked and named like an option."""
    assert complaint(None, {"OPENAI_BASE_URL": "localhost:1"}).startswith("OPENAI_BASE_URL: 'localhost:1' ")


def test_a_bad_openai_base_url_that_is_overruled_does_no_harm() -> None:
    """OPENAI_BASE_URL is not looked at where a base URL is given."""
    settings = settle({"api_base_url": URL}, {"OPENAI_BASE_URL": "x"})
    assert settings.subject_endpoint.base_url == URL


def test_evaluators_share_the_endpoint_and_key_of_the_subject() -> None:
    """Without an endpoint of their own, evaluators are asked where the subject is."""
    settings = settle({"api_base_url": URL, "api_key": "sk-1"})
    assert settings.endpoint("evaluator") == settings.endpoint("subject")


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"api_base_url": URL, "api_key": "sk-1"}, id="options"),
        pytest.param({"EQUIPOISE_API_KEY": "sk-1"}, id="own_variable"),
        pytest.param({"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": URL}, id="variables_of_openai"),
    ],
)
@pytest.mark.parametrize("other", [OTHER, "http://api.example.com/v1", "https://api.example.com/v2"])
def test_the_subjects_key_is_not_sent_to_another_endpoint(given: dict[str, str], other: str) -> None:
    """An evaluators' endpoint of its own gets no key that was given for the subject's."""
    settings = settle({**given, "evaluator_api_base_url": other}, given)
    assert settings.subject_endpoint.api_key == "sk-1"
    assert settings.evaluator_endpoint == Endpoint(base_url=other, api_key=NO_KEY, takes_environment=False)


@pytest.mark.parametrize("same", [URL, f"{URL}/"])
def test_the_subjects_key_is_sent_to_the_same_endpoint(same: str) -> None:
    """Naming the subject's own endpoint once more does not take the key away."""
    settings = settle({"api_base_url": URL, "api_key": "sk-1", "evaluator_api_base_url": same})
    assert settings.evaluator_endpoint.api_key == "sk-1"


@pytest.mark.parametrize("where", [{}, {"evaluator_api_base_url": OTHER}], ids=["same", "other"])
def test_the_evaluators_key_is_not_sent_to_the_subjects_model(where: dict[str, str]) -> None:
    """A key given for evaluators serves evaluators only."""
    settings = settle({"api_base_url": URL, "evaluator_api_key": "sk-2", **where})
    assert (settings.subject_endpoint.api_key, settings.evaluator_endpoint.api_key) == (NO_KEY, "sk-2")


# What is shown.


def test_the_header_shows_what_will_be_asked_of_whom() -> None:
    """Models, endpoints, parameters and the session's numbers stand in three lines."""
    settings = settle(
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
        }
    )
    subject, evaluators, session = header(settings)
    assert subject == f"subject: gpt-x ({URL} key=**** temperature=0.7)"
    assert evaluators == f"evaluators: a, b ({OTHER} key=none temperature=0 system_prompt=given)"
    assert session.startswith("session: runs=3 limit=all languages=en-US,zh-CN concurrency=32 ")


def test_the_header_shows_how_long_things_may_take() -> None:
    """Seconds of a request and of a run are told apart."""
    session = header(settle({"model": "m", "request_timeout": "60", "case_timeout": "900.5"}))[-1]
    assert " request_timeout=60 case_timeout=900.5 " in session


def test_the_header_names_the_built_in_server() -> None:
    """A built-in model has no endpoint to show."""
    text = "\n".join(header(settle({"model": "local"})))
    assert text.count("built-in server") == 2
    assert "localhost" not in text


def test_the_header_tells_a_built_in_subject_from_a_remote_evaluator() -> None:
    """Each role is shown where it is reached."""
    subject, evaluators, _ = header(settle({"model": "local", "evaluator_model": ["a"]}))
    assert "built-in server" in subject
    assert "(http://localhost:4000 " in evaluators


@pytest.mark.parametrize(
    "secret",
    [
        pytest.param({"api_key": "s3cret"}, id="key"),
        pytest.param({"evaluator_api_key": "s3cret"}, id="evaluator_key"),
    ],
)
def test_the_header_never_shows_a_secret(secret: dict[str, str]) -> None:
    """No key is shown."""
    assert "s3cret" not in "\n".join(header(settle({"model": "gpt-x", **secret})))


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
    ({"rejudge": "old.json", "api_key": "ollama", "evaluator_api_key": LONG}, {}, {}, []),
]
"""Command line, environment and pytest.ini, and which keys may be placeholders."""


def test_a_key_that_may_be_a_placeholder_is_told_with_where_it_is_from() -> None:
    """Once for both roles, never the key itself; not where no key is sent."""
    for given, environment, ini, sources in WARNED:
        told = warnings(settle({"model": "m", **given}, environment, ini))
        expected = [f"{source}: the key has fewer than 16 characters, {MAY_BE_A_WORD}" for source in sources]
        assert told == expected, (given, environment, ini)


def test_a_key_that_is_too_short_to_be_masked_is_told() -> None:
    """Below six characters it could be any word."""
    (told,) = warnings(settle({"model": "m", "api_key": "EMPTY"}))
    assert told == "--api-key: the key has fewer than 16 characters, so it is not masked in what is written"


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "EQUIPOISE_API_KEY", "EQUIPOISE_EVALUATOR_API_KEY"])
def test_settings_in_a_traceback_never_show_a_key(variable: str) -> None:
    """The repr of settings and of their endpoints leaves keys out, wherever they came from."""
    settings = settle(None, {variable: "s3cret"})
    assert settings.evaluator_endpoint.api_key == "s3cret"
    assert "s3cret" not in f"{settings!r} {settings} {settings.evaluator_endpoint!r}"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (URL, URL),
        ("https://me:pw@api.example.com:8443/v1?k=1#f", "https://api.example.com:8443/v1"),
        ("http://127.0.0.1:4000", "http://127.0.0.1:4000"),
        ("http://me@[::1]:4000/v1", "http://[::1]:4000/v1"),
        ("http://[::1]", "http://[::1]"),
    ],
)
def test_a_public_url_keeps_scheme_host_port_and_path(url: str, shown: str) -> None:
    """What is shown of a URL can be used again, save for its secrets."""
    assert public_url(url) == shown


@pytest.mark.parametrize("name", ["api_key", "evaluator_api_key"])
def test_a_key_that_no_header_takes_is_refused_without_showing_it(name: str) -> None:
    """The error names the option and keeps the key to itself."""
    with pytest.raises(UserError) as caught:
        resolved({name: "\u043a\u043b\u044e\u0447"}, {}, {})
    assert str(caught.value) == f"--{name.replace('_', '-')}: the value has characters that no key has"


@pytest.mark.parametrize("name", ["api_base_url", "evaluator_api_base_url"])
@pytest.mark.parametrize(
    "url",
    ["https://s3cret@api.example.com/v1", "https://me:s3cret@api.example.com", "https://x.com/v1?key=s3cret"],
)
def test_a_url_with_a_secret_is_refused_without_showing_it(name: str, url: str) -> None:
    """User info and query cannot work; the message does not repeat them."""
    with pytest.raises(UserError, match="without user, password and query") as caught:
        resolved({name: url}, {}, {})
    assert "s3cret" not in str(caught.value)
