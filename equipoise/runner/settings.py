"""The settings of a session from its options as texts. Quick to import, as the opening line waits for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise import suites
from equipoise.core.resolution import resolve_suites
from equipoise.core.settings import Settings


def settings_of(
    texts: Mapping[str, Any],
    environment: Mapping[str, str],
    ini: Mapping[str, Any],
    names: Sequence[str],
    origins: Mapping[str, str] = {},
) -> Settings:
    """The settings of a session of these suites, from options as texts by name. Raises UserError.

    `origins` is what errors call those variables of the environment that are from a file.
    """
    defaults = suites.defaults_of(names)
    settings = resolve_suites(texts, environment, ini, defaults, tuple(suites.options()), origins)
    if settings.rejudge is None:
        return settings
    from equipoise.runner import rejudge

    return rejudge.adopt(settings, texts)
