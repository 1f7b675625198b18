"""Loads a suite for a session: its cases, its rubric, the settings that apply to it, and its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from equipoise import suites
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.settings import Settings
from equipoise.core.types import Case
from equipoise.judge.rubric import Brief, Rubric, VerdictRubric
from equipoise.results import store
from equipoise.results.store import Files
from equipoise.runner.transport import SubjectReplies
from equipoise.suites import AnySuite, facts, selection
from equipoise.suites.askers import Askers
from equipoise.suites.resources import dataset_folder
from equipoise.suites.selection import Selection
from equipoise.suites.shared_options import DATASET


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSuite:
    """One suite of a session, with the settings that apply to it.

    `topics` is the folder or file of its questions, `dataset` the name of the dataset, None without one.
    `files` are the paths of its results and journal. `askers` are None without --asker, and
    `replies` without --replies.
    """

    suite: AnySuite
    settings: Settings
    rubric: Rubric
    topics: Path
    dataset: str | None
    cases: Sequence[Case]
    files: Files
    askers: Askers | None = None
    replies: SubjectReplies | None = None

    @property
    def repeats(self) -> int:
        """The number of runs per case."""
        return self.settings.runs or self.suite.defaults.get("runs", 1)

    @property
    def data_hash(self) -> str:
        """The digest of the data that the questions are read from."""
        return selection.data_hash(self.topics, self.suite.dataset_names)

    @property
    def data_files(self) -> Mapping[str, str]:
        """The digests of the files that the questions are read from, by file name."""
        return selection.file_digests(self.topics, self.suite.dataset_names)

    @property
    def about_in_prompts(self) -> Brief | None:
        """What the questions are about, as evaluators' prompts say; None if the prompts do not say it."""
        return self.rubric.with_about(self._about).about if isinstance(self.rubric, VerdictRubric) else None

    @property
    def has_use_for_facts(self) -> bool:
        """Whether the rubric shows evaluators the key facts of a question, if there are any."""
        return isinstance(self.rubric, VerdictRubric) and self.rubric.facts_prompt is not None

    @property
    def facts_hash(self) -> str | None:
        """The digest of the key facts that evaluators are shown; None if there are none."""
        return facts.digest(self.topics)

    def warnings(self) -> list[str]:
        """Warnings about limits of the figures, to be shown before the first question. Raises UserError."""
        return [*filter(None, [self._rubric_warning(), self._scale_warning(), self._language_warning()])]

    def _scale_warning(self) -> str | None:
        """A warning if the rubric has its own scale, but names levels of the shipped one."""
        warning = suites.scale_warning(self.suite, self.rubric)
        path = self.settings.rubric or Path("rubric", f"{self.suite.name}.toml")
        return None if warning is None else f"{shown(path)}: {warning}"

    def _language_warning(self) -> str | None:
        """A warning if a suite compares languages by the same questions, but a language lacks some."""
        if any(case.unit != "" for case in self.cases) or len({case.language for case in self.cases}) < 2:
            return None
        by_language: dict[str, dict[str, None]] = {}
        for row in (self.suite.question(case.to_json()) for case in self.cases):
            by_language.setdefault(row.language, {})[row.id] = None
        items = {item: None for own in by_language.values() for item in own}
        missing = {name: [item for item in items if item not in own] for name, own in by_language.items()}
        parts = [
            f"{name} lacks {len(lacks)} ({lacks[0]}{', ...' * (len(lacks) > 1)})"
            for name, lacks in missing.items()
            if lacks
        ]
        if not parts:
            return None
        return (
            f"{shown(self.topics)}: of {len(items)} questions {' and '.join(parts)}, so the figures of "
            "languages are about different questions; add the missing ones"
        )

    def _rubric_warning(self) -> str | None:
        """A warning if the rubric says what questions are about, but their folder has no about.toml."""
        about = self.rubric.about if isinstance(self.rubric, VerdictRubric) else None
        if about is None or self._about is not None:
            return None
        folder = self.topics if self.topics.is_dir() else self.topics.parent
        return (
            f"{shown(self.topics)}: {shown(folder / selection.ABOUT)} is missing, so these are judged as "
            f"questions on {about.subject}; write there what they are about, and the two sides "
            "(docs/your-own-questions.md)"
        )

    @property
    def _about(self) -> Brief | None:
        """What the questions are about, from the about.toml in their folder, if any. Raises UserError."""
        return selection.about(self.topics, self.suite.name, self.dataset)


def load(name: str, settings: Settings, root: Path) -> LoadedSuite:
    """Load a suite with its cases and rubric. `settings` are those that apply to it. Raises UserError."""
    registered = suites.load(name)
    default_dataset = next(iter(registered.dataset_names), None)
    if settings.topics:
        default_dataset = registered.dataset_at(settings.topics)
    dataset = settings.option(DATASET) or default_dataset
    topics = settings.topics or _dataset_path(registered, dataset, root)
    # A dataset may have a suite of its own.
    suite = registered.of(dataset)
    case_selection = Selection(
        topics=topics,
        dataset=dataset,
        languages=settings.languages,
        options=settings.suite_options,
    )
    cases = suite.data.cases(case_selection)
    _refuse_same_ids(topics, cases)
    rubric = suite.judging.rubric(_rubric_path(suite, settings, dataset, topics, root))
    return LoadedSuite(
        suite=suite,
        settings=settings,
        rubric=rubric,
        topics=topics,
        dataset=dataset,
        cases=cases,
        askers=_load_askers(suite, case_selection, cases) if settings.asker else None,
        replies=_load_replies(suite, rubric, case_selection, settings),
        files=store.files(root / "results", settings.output, settings.model or "", name, settings.shard),
    )


def _refuse_same_ids(topics: Path, cases: Sequence[Case]) -> None:
    if len({case.id for case in cases}) < len(cases):
        name, count = Counter(case.id for case in cases).most_common(1)[0]
        raise UserError(f"{shown(topics)}: {count} cases have the id {name!r}; rename all but one")


def _dataset_path(suite: AnySuite, dataset: str | None, root: Path) -> Path:
    if dataset is not None and dataset not in suite.dataset_names:
        hint = f"it has {', '.join(suite.dataset_names)}" if suite.dataset_names else "it has only one"
        raise UserError(f"--dataset {dataset}: {suite.name} has no such dataset; {hint}")
    folder = dataset_folder(suite.name, dataset, root)
    _refuse_earlier_name(folder, root)
    return folder


def _rubric_path(suite: AnySuite, settings: Settings, dataset: str | None, topics: Path, root: Path) -> Path:
    if suite.judging.scale_in_data and settings.rubric:
        raise UserError(f"--rubric: {dataset} is judged by the prompts that came with it; leave it out")
    if suite.judging.scale_in_data:
        return topics
    if settings.rubric:
        return settings.rubric
    path = suites.rubric_path(suite, dataset, root)
    _refuse_earlier_name(path, root)
    return path


def _refuse_earlier_name(path: Path, root: Path) -> None:
    """Raise UserError if the path is missing because it still has an earlier name of the suite."""
    if not path.exists():
        suites.require_consistent_names(root, with_data=True)


def _load_replies(
    suite: AnySuite, rubric: Rubric, selection: Selection, settings: Settings
) -> SubjectReplies | None:
    """The replies of the file of --replies, if there is one. Raises UserError."""
    if settings.replies is None:
        return None
    from equipoise.runner.replies import adopting

    return adopting.load(suite, rubric, selection, settings)


def _load_askers(suite: AnySuite, case_selection: Selection, cases: Sequence[Case]) -> Askers:
    """The askers that the suite defines for these cases. Raises UserError if there are none."""
    if suite.asked is None:
        is_of_dataset = suite is not suites.load(suite.name)
        subject = f"--dataset {case_selection.dataset} of {suite.name}" if is_of_dataset else suite.name
        raise UserError(f"--asker: {subject} has no asker cues; leave the option out")
    askers = suite.asked.askers(case_selection, cases)
    if not askers.twins:
        raise UserError(
            f"--asker: {suite.name}: none of the {len(cases):,} cases selected has two sides with sentences "
            "about who asks in its language; leave it out"
        )
    return askers
