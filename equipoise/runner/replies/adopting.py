"""Takes from the file of --replies the subject's replies, and the settings that they determine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.quantities import first_few
from equipoise.core.session_options import OPTIONS
from equipoise.core.settings import Sampling, Settings
from equipoise.judge.rubric import Rubric
from equipoise.runner.replies import fitting, own, rows
from equipoise.runner.replies.rows import ReplyFile
from equipoise.runner.transport import SubjectReplies
from equipoise.suites import AnySuite
from equipoise.suites.selection import Selection

_UNUSED = ("asker", "asker_form", "asker_share", "until")
"""Options that change what is asked, besides the subject's. A file of replies leaves them no effect."""
_MOST_MODELS = 3


def adopt(settings: Settings, command_line: Mapping[str, Any]) -> Settings:
    """The settings, with those that the file of --replies determines. Raises UserError.

    `command_line` holds the command line options by name.
    """
    path = settings.replies
    if path is None:
        return settings
    if own.is_own(path):
        results = own.results_of(path)
        return own.adopt_subject_settings(replace(settings, replies=results), results, command_line)
    for option in OPTIONS:
        is_unused = option.name in _UNUSED or option.name.startswith("subject_")
        if is_unused and command_line.get(option.name) is not None:
            raise UserError(
                f"{option.flag}: has no effect on the replies in {path.name}, which exist already; "
                "leave it out"
            )
    model = _model(rows.read(path), settings.model)
    return replace(settings, model=model, subject=Sampling(), asker=None, until=None)


def _model(file: ReplyFile, named: str | None) -> str:
    """The name of the model: `named` by the user, or else in the file, or else the file's stem."""
    models = file.models
    if len(models) > 1 and named not in models:
        other = f", none of which is {named!r}" if named else ""
        raise UserError(
            f"--replies: {shown(file.path)}: has replies of {len(models)} models "
            f"({first_few(models, _MOST_MODELS)}){other}; name one with --model, or leave it out of "
            "`equipoise run`, which judges each"
        )
    return named or next(iter(models), file.path.stem)


def models(path: Path) -> Sequence[str]:
    """The models whose replies a file has; none if it does not name them. Raises UserError."""
    return () if own.is_own(path) else rows.read(path).models


def load(suite: AnySuite, rubric: Rubric, selection: Selection, settings: Settings) -> SubjectReplies:
    """The replies of the file of --replies. Raises UserError for rows that fit no case."""
    path = settings.replies
    assert path is not None
    if own.is_own(path):
        if not suite.judging.form:
            raise UserError(f"--replies: {suite.name} asks no evaluator, so nothing can be judged again")
        return own.OwnReplies(path)
    return fitting.fit(
        rows.read(path),
        suite,
        rubric,
        suite.data.cases(replace(selection, languages=())),
        repeats=settings.runs or suite.defaults.get("runs", 1),
        model=settings.model,
    )
