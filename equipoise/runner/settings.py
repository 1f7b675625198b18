"""Makes the settings of a session from its options as texts. Must be fast to import, for the opening line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise import suites
from equipoise.core.resolution import resolve_suites
from equipoise.core.settings import Settings
from equipoise.runner import transports


def settings_of(
    texts: Mapping[str, Any],
    environment: Mapping[str, str],
    ini: Mapping[str, Any],
    names: Sequence[str],
    origins: Mapping[str, str] = {},
) -> Settings:
    """The settings of a session of these suites (`names`). Raises UserError.

    `texts` are the options of the command line by name, which take precedence over the variables in
    `environment`. `ini` are the options of pytest.ini, which yield to these variables. `origins` maps
    variables that come from a file to the names that errors use.
    """
    defaults = suites.defaults_of(names)
    settings = resolve_suites(
        texts, environment, ini, defaults, (*transports.options(), *suites.options()), origins
    )
    if settings.replies is None:
        return settings
    from equipoise.runner.replies import adopting

    return adopting.adopt(settings, texts)
