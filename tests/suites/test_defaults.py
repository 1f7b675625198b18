"""Defaults that a suite has of its own, what the user gives, and what several suites at once need."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import ALL_OPTIONS, SHIPPED, refusal, resolved
from equipoise import suites
from equipoise.audit.session import SessionAudits
from equipoise.core.errors import UserError
from equipoise.core.options import Option
from equipoise.core.resolution import resolve_suites
from equipoise.core.settings import Settings
from equipoise.runner import metadata, preflight
from equipoise.runner.plan import Plan
from equipoise.suites import politicsbench, registry

OWN = politicsbench.SUITE.defaults


def settle(
    ini: dict[str, Any] | None = None, variables: dict[str, str] | None = None, **options: Any
) -> Settings:
    """The settings of a session of politicsbench alone."""
    return resolved({"model": "m", **options}, variables or {}, ini or {}, OWN)


def test_defaults_are_of_options_that_there_are() -> None:
    """A suite has defaults of known options only."""
    known = {option.name for option in ALL_OPTIONS}
    for name in SHIPPED:
        assert set(suites.load(name).defaults) <= known, name


def test_where_the_user_says_nothing_the_suites_defaults_hold() -> None:
    """All else is as usual, and none of it counts as set by the user."""
    settings, usual = settle(), resolved({"model": "m"}, {}, {})
    assert settings.evaluator_models == ("claude-3.7-sonnet", "gpt-4.1-mini", "grok-4.1-fast")
    assert (settings.subject.temperature, settings.subject.max_tokens) == (0.7, 12_000)
    assert settings.options_set == usual.options_set == {"model"}
    assert (settings.evaluator, settings.concurrency) == (usual.evaluator, usual.concurrency)
    assert (usual.subject.max_tokens, len(usual.evaluator_models)) != (12_000, 3)


def test_what_the_user_says_comes_first() -> None:
    """Any source will do; what it sets counts as set by the user, the rest does not."""
    options: dict[str, Any] = {"subject_temperature": "1", "evaluator_model": ["e"]}
    variables = {"EQUIPOISE_SUBJECT_TEMPERATURE": "1", "EQUIPOISE_EVALUATOR_MODEL": "e"}
    for settings in (settle(**options), settle(variables=variables), settle(options)):
        assert (settings.subject.temperature, settings.evaluator_models) == (1, ("e",))
        assert settings.subject.max_tokens == 12_000
        assert settings.options_set == {"model", "subject_temperature", "evaluator_model"}


def test_a_default_that_is_said_is_given() -> None:
    """Settings with equal values are equal, whoever set them."""
    settings = settle(subject_temperature="0.7")
    assert "subject_temperature" in settings.options_set
    assert settings == settle()


def test_the_built_in_model_takes_no_panel_and_no_length_of_a_suite() -> None:
    """Users must ask for what costs money, or is meant for larger models."""
    local = settle(model="local")
    assert (local.evaluator_models, local.subject.max_tokens) == (("local",), None)
    local = settle(model="local", evaluator_model=["e"], subject_max_tokens="900")
    assert (local.evaluator_models, local.subject.max_tokens) == (("e",), 900)


def plan(root: Path, *names: str, **more: Any) -> Plan:
    """The plan of a session of these suites, checked."""
    settings, options = {"model": "m", **more}, tuple(suites.options())
    planned = Plan(
        settings=resolve_suites(settings, {}, {}, suites.defaults_of(names), options),
        root=root,
        extra_jobs=SessionAudits(root),
    )
    preflight.check(planned, names)
    return planned


@pytest.mark.slow
def test_each_of_several_suites_has_its_own_defaults(tmp_path: Path) -> None:
    """A suite's identity is that of a session of its own; the user's settings hold for all."""
    for options in ({}, {"subject_temperature": "0.5", "evaluator_model": ["e"], "runs": "2"}):
        together = plan(tmp_path, *SHIPPED, **options)
        for name in SHIPPED:
            alone = plan(tmp_path, name, **options)
            assert metadata.resume_settings(together, name) == metadata.resume_settings(alone, name), (
                name,
                options,
            )
            assert together.load(name).repeats == alone.load(name).repeats, (name, options)


def test_several_suites_ask_the_evaluators_of_all() -> None:
    """Each model is listed once, the subject first; unused evaluators are left out."""
    own, usual = tuple(OWN["evaluator_model"]), resolved({"model": "m"}).evaluator_models
    both = resolve_suites({"model": "m"}, {}, {}, suites.defaults_of(["neutrality", "politicsbench"]))
    assert both.models == ("m", *usual, *own)
    options = {"model": "m", "evaluator_model": ["e"]}
    assert resolve_suites(options, {}, {}, suites.defaults_of(SHIPPED)).models == ("m", "e")


def test_what_one_engine_goes_by_is_of_no_suite_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Suites that share an engine cannot differ in it, unless the user sets it."""
    own = replace(politicsbench.SUITE, defaults={"concurrency": 4})
    monkeypatch.setattr(politicsbench, "SUITE", own)
    suites.load.cache_clear()
    request.addfinalizer(suites.load.cache_clear)
    for names in (["neutrality", "politicsbench"], ["politicsbench", "neutrality"]):
        says = "--concurrency: politicsbench has its own default; run it alone, or set the option"
        assert refusal(plan, tmp_path, *names) == says
        plan(tmp_path, *names, concurrency="8")
    plan(tmp_path, "politicsbench")


def test_a_suite_alone_may_be_given_nothing(tmp_path: Path) -> None:
    """Its identity has its own defaults."""
    identity = metadata.resume_settings(plan(tmp_path, "politicsbench"), "politicsbench")
    assert identity["evaluator_models"] == list(OWN["evaluator_model"])
    assert identity["subject_sampling"] == {"temperature": 0.7, "max_tokens": 12_000}
    assert identity["dataset"] == "own"


def test_a_flag_that_two_suites_declare_in_two_ways_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the flag and both suites; equal declarations are one option."""
    one, other = (Option(flag="--length", default=n, help="how long") for n in (1, 2))
    known = {"first": SimpleNamespace(options=(one,)), "second": SimpleNamespace(options=(one,))}
    monkeypatch.setattr(registry, "names", lambda: tuple(known))
    monkeypatch.setattr(registry, "load", known.__getitem__)
    declared = suites.options.__wrapped__
    assert declared() == {one: ["first", "second"]}
    known["second"].options = (other,)
    with pytest.raises(UserError, match=r"^--length: the suites first and second declare it in two ways$"):
        declared()
