"""The plan of a session: its suites with their cases, rubrics and files, read and checked.

Knows the settings; makes no call and writes no file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from equipoise import suites
from equipoise.comparison import release
from equipoise.comparison.baseline import Side
from equipoise.comparison.release import NOTHING, Release
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.options import OPTIONS, Option
from equipoise.core.rules import Until
from equipoise.core.settings import Settings, is_local, public_url
from equipoise.core.types import JSON, Case, Cue, Foreseen, Role, Run
from equipoise.judge.rubric import About, Rubric, VerdictRubric
from equipoise.models import prices
from equipoise.models.local import weights
from equipoise.results import askers as asked_of
from equipoise.results import audits, history, store
from equipoise.results.history import History
from equipoise.results.lines import AnchorLine
from equipoise.results.provenance import versions
from equipoise.results.store import Files
from equipoise.runner import anchors, estimate, rejudge, resume, shards
from equipoise.runner.anchors import AuditPlan
from equipoise.runner.estimate import Item, SessionEstimate, Use
from equipoise.suites import AnySuite, askers, selection
from equipoise.suites.askers import Askers
from equipoise.suites.resources import ORIGINAL, SHIPPED, dataset_folder
from equipoise.suites.selection import Selection
from equipoise.suites.shared_options import DATASET, SEED

C = TypeVar("C", bound=Case)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSuite:
    """One suite of the session, with its cases and rubric, and the files of its results.

    `askers` are who may ask the cases, None in a session of plain runs alone.
    """

    suite: AnySuite
    rubric: Rubric
    topics: Path
    dataset: str | None
    cases: Sequence[Case]
    files: Files
    askers: Askers | None = None


@dataclass(slots=True)
class Plan:
    """The suites of a session, loaded at first use. `root` is the folder of the user's files."""

    settings: Settings
    root: Path
    baselines: dict[str, Side | None] = field(default_factory=dict)
    _releases: Mapping[str, Release] = field(default_factory=dict)
    _loaded: dict[str, LoadedSuite] = field(default_factory=dict)
    _runs: dict[str, Sequence[Run]] = field(default_factory=dict)
    _ranks: dict[str, Mapping[str, int]] = field(default_factory=dict)
    _audits: dict[str, AuditPlan] = field(default_factory=dict)

    def load(self, name: str) -> LoadedSuite:
        """A suite with its cases and rubric. Raises UserError."""
        if name not in self._loaded:
            whole, settings = suites.load(name), self.settings.of(name)
            topics = settings.topics
            usual = whole.dataset_at(topics) if topics else next(iter(whole.datasets), None)
            dataset = settings.option(DATASET) or usual
            where = topics or self._dataset(whole, dataset)
            suite = whole.of(dataset)
            wanted = Selection(
                topics=where,
                dataset=dataset,
                languages=settings.languages,
                limit=settings.limit,
                options=settings.suite_options,
            )
            cases = suite.cases(wanted)
            self._loaded[name] = LoadedSuite(
                suite=suite,
                rubric=suite.rubric(self._rubric(suite, dataset, where)),
                topics=where,
                dataset=dataset,
                cases=cases,
                askers=_askers(suite, wanted, cases) if settings.asker else None,
                files=store.files(
                    self.root / "results", settings.output, settings.model or "", name, settings.shard
                ),
            )
        return self._loaded[name]

    def _dataset(self, suite: AnySuite, dataset: str | None) -> Path:
        if dataset is not None and dataset not in suite.datasets:
            known = f"it has {', '.join(suite.datasets)}" if suite.datasets else "it has only one"
            raise UserError(f"--dataset {dataset}: {suite.name} has no such dataset; {known}")
        folder = dataset_folder(suite.name, dataset, self.root)
        self._refuse_missing(folder)
        return folder

    def _rubric(self, suite: AnySuite, dataset: str | None, topics: Path) -> Path:
        if suite.rubric_in_data and self.settings.rubric:
            raise UserError(f"--rubric: {dataset} is judged by the prompts that came with it; leave it out")
        if suite.rubric_in_data:
            return topics
        if self.settings.rubric:
            return self.settings.rubric
        path = suites.rubric_path(suite, dataset, self.root)
        self._refuse_missing(path)
        return path

    def _refuse_missing(self, path: Path) -> None:
        """Raise UserError if it is missing because it has an earlier name of the suite."""
        if not path.exists():
            suites.refuse_half_renamed(self.root, with_data=True)

    def misjudged(self, name: str) -> str | None:
        """A warning if the rubric says what questions are about, and the folder of these does not."""
        loaded = self.load(name)
        meant = loaded.rubric.about if isinstance(loaded.rubric, VerdictRubric) else None
        if meant is None or self._subject(name) is not None:
            return None
        folder = loaded.topics if loaded.topics.is_dir() else loaded.topics.parent
        return (
            f"{shown(loaded.topics)}: {shown(folder / selection.ABOUT)} is missing, so these are judged as "
            f"questions on {meant.subject}; write there what they are about, and the two sides (docs/data.md)"
        )

    def _judged_as(self, name: str) -> About | None:
        """What evaluators are told that questions are about; None where the rubric does not say it."""
        rubric = self.load(name).rubric
        return rubric.on(self._subject(name)).about if isinstance(rubric, VerdictRubric) else None

    def _subject(self, name: str) -> About | None:
        """What the questions of a suite are about. Raises UserError."""
        loaded = self.load(name)
        return selection.about(loaded.topics, name, loaded.dataset)

    def audit(self, name: str) -> AuditPlan | None:
        """The audit of a suite's evaluators, if the session has one. Raises UserError.

        Of several shards the first has it.
        """
        loaded, extent, shard = self.load(name), self.settings.audit, self.settings.shard
        is_elsewhere = shard is not None and shard.number > 1
        if extent is None or loaded.suite.audit is None or is_elsewhere:
            return None
        if name not in self._audits:
            self._audits[name] = anchors.plan(loaded.suite, loaded.rubric, self.root, extent)
        return self._audits[name]

    def kept_audits(self, name: str) -> dict[str, Mapping[str, JSON]]:
        """The latest kept audit of each evaluator, by the same rubric and anchors; of some there is none."""
        loaded = self.load(name)
        found = {
            evaluator: kept
            for evaluator in self.settings.of(name).evaluator_models
            if (kept := audits.kept(self.audits_folder, evaluator, name))
        }
        if not found or loaded.suite.audit is None:
            return {}
        try:
            wanted = loaded.rubric.hash, anchors.load(loaded.suite, loaded.rubric, self.root).hash
        except UserError:
            return {}
        # One of a few questions only has another extent than any of the suite's.
        extents = loaded.suite.audit.DESIGNS
        fitting = {
            evaluator: next(
                (said for said in kept if said["extent"] in extents and _made_by(said) == wanted), None
            )
            for evaluator, kept in found.items()
        }
        return {evaluator: said for evaluator, said in fitting.items() if said is not None}

    @property
    def audits_folder(self) -> Path:
        """Below which audits are kept."""
        return self.root / "results"

    def repeats(self, name: str) -> int:
        """The number of runs per case of a suite."""
        return self.settings.of(name).runs or self.load(name).suite.defaults.get("runs", 1)

    def runs(self, name: str) -> Sequence[Run]:
        """All runs of a suite in the order in which they begin.

        Every case once, then every case again: a session that ends early leaves a smaller, balanced sample.
        """
        if name not in self._runs:
            runs, shard = self._every_run(name), self.settings.shard
            if shard is not None:
                loaded = self.load(name)
                dealt = shards.dealt(loaded.suite, loaded.rubric, loaded.cases, shard)
                self._ranks[name] = {run.id: rank for rank, run in enumerate(runs) if run.case.id in dealt}
                runs = [run for run in runs if run.case.id in dealt]
            self._runs[name] = runs
        return self._runs[name]

    def _every_run(self, name: str) -> list[Run]:
        cases, numbers = round_robin(self.load(name).cases), range(1, self.repeats(name) + 1)
        cues = self._cues(name)

        def runs(number: int) -> Iterator[Run]:
            """Those of a round: nobody asks first, as most figures are made of these runs alone."""
            yield from (Run(suite=name, case=case, number=number) for case in cases)
            for case in cases:
                for cue in cues[case.id][number - 1] if case.id in cues else ():
                    yield Run(suite=name, case=case, number=number, asker=cue)

        return [run for number in numbers for run in runs(number)]

    def _cues(self, name: str) -> Mapping[str, Sequence[Sequence[Cue]]]:
        """By case the cues of each repeat; empty in a session of plain runs."""
        loaded, mirror = self.load(name), self.settings.asker
        if loaded.askers is None or mirror is None:
            return {}
        return askers.dealt(
            loaded.askers,
            loaded.cases,
            forms=mirror.forms,
            share=mirror.share,
            repeats=self.repeats(name),
            seed=self.settings.option(SEED),
        )

    def ranks(self, name: str, runs: Iterable[str]) -> list[int]:
        """The places of a shard's runs among those of all shards, from 0; empty without a shard."""
        self.runs(name)
        return [self._ranks[name][run] for run in runs] if name in self._ranks else []

    def check(self, names: Sequence[str]) -> None:
        """Raise UserError for anything that is bound to fail, without touching a results file."""
        try:
            self._check(names)
        except OSError as error:
            raise UserError(f"{error.filename}: cannot be used ({error.strerror})") from None

    def _check(self, names: Sequence[str]) -> None:
        for item in ("output", "topics", "rubric", "rejudge", "until"):
            if getattr(self.settings, item) and len(names) > 1:
                raise UserError(
                    f"--{item}: applies to one suite, but there are {len(names)}; omit it, or name one suite"
                )
        self._release(names)
        shards.refuse_unfit(self.settings)
        # An estimate starts no server.
        for model in filter(is_local, () if self.settings.estimate else self.settings.asked_models):
            weights(model)
        prices.refuse_unknown(self.settings)
        if self.settings.report:
            from equipoise.report.page.page import refuse_output

            refuse_output("--report", self.settings.report)
        if self.settings.audit and all(self.load(name).suite.audit is None for name in names):
            raise UserError(f"--audit: {', '.join(names)} has no anchors to try evaluators by; leave it out")
        for name in names:
            if len(names) > 1:
                self._refuse_other_defaults(name)
            self._refuse_unused(name)
            self.runs(name)
            self._refuse_unfit_questions(name)
            self._prepare_release(name)

    def _release(self, names: Sequence[str]) -> None:
        """Find each suite's baseline and rules. Raises UserError."""
        given = self.settings.baseline
        if given is not None and len(names) > 1 and not given.is_dir():
            raise UserError(
                f"--baseline: {shown(given)} is one suite's results, but there are {len(names)} suites; "
                "name a folder that has <suite>.json of each"
            )
        self._releases = release.releases(
            names,
            given,
            self.settings.gate,
            self.settings.gate_inconclusive,
            allow_mismatch=self.settings.allow_mismatch,
        )

    def release(self, name: str) -> Release:
        """With what a suite's results are compared, and its rules."""
        return self._releases.get(name, NOTHING)

    def _refuse_unfit_questions(self, name: str) -> None:
        """Raise UserError if cases could not be told apart in results, or lack what their questions need."""
        loaded, cases = self.load(name), dict[str, str]()
        for case in loaded.cases:
            try:
                key = loaded.suite.question(case.to_json()).key
            except KeyError as error:
                raise UserError(
                    f"suite {name!r}: its cases have no {error}, as {case.id!r}; "
                    "add it, or give the suite a question of its own (docs/adding-a-suite.md)"
                ) from None
            if (other := cases.setdefault(key, case.id)) != case.id:
                raise UserError(f"suite {name!r}: {other!r} and {case.id!r} are both the question {key!r}")

    def _refuse_unused(self, name: str) -> None:
        """Raise UserError for options that the suite does not take, instead of ignoring them."""
        loaded, own = self.load(name), suites.load(name)
        taken = {option.name for option in loaded.suite.options}
        for option in suites.options():
            if option.name not in taken and self.settings.option(option) != option.default:
                who = name if loaded.suite is own else f"--dataset {loaded.dataset} of {name}"
                raise UserError(f"{option.flag}: {who} does not take it; leave it out")
        if self.settings.topics and self.settings.option(DATASET) == ORIGINAL:
            raise UserError(f"--dataset {ORIGINAL}: --topics names other data; leave one of them out")

    def _refuse_other_defaults(self, name: str) -> None:
        """Raise UserError if a suite has its own default for an option that all suites share."""
        for option in OPTIONS:
            is_own = option.name in suites.load(name).defaults and option.name not in self.settings.given
            if is_own and not option.by_suite:
                raise UserError(f"{option.flag}: {name} has its own default; run it alone, or set the option")

    def _prepare_release(self, name: str) -> None:
        loaded = self.load(name)
        if self.settings.rejudge and not loaded.suite.is_judged:
            raise UserError(f"--rejudge: {name} asks no evaluator, so nothing can be judged again")
        if self.settings.rejudge:
            rejudge.check(
                self.settings.rejudge,
                name,
                selection.data_hash(loaded.topics, loaded.suite.datasets),
                loaded.askers.hash if loaded.askers else None,
            )
        self.audit(name)
        self._refuse_without_audit(name)
        self._refuse_without_askers(name)
        wanted = self.release(name)
        is_measured = self.settings.until or wanted.baseline
        cells = release.expected(loaded.suite, loaded.rubric, loaded.cases if is_measured else ())
        metrics = {metric.name: metric for metric in loaded.suite.metrics(cells)}
        if self.settings.until:
            release.refuse_until(self.settings.until, wanted.rules, metrics, self.repeats(name))
        self.baselines[name] = release.prepare(
            wanted, self.metadata(name), loaded.files, metrics, self.repeats(name)
        )

    def _refuse_without_audit(self, name: str) -> None:
        """Raise UserError for a rule on audits that could not be decided, or names no check."""
        rules = [rule for rule in self.release(name).rules if rule.is_about_audit]
        if not rules:
            return
        planned, kept = self.audit(name), self.kept_audits(name)
        missing = [item for item in self.settings.of(name).evaluator_models if item not in kept]
        for rule in rules:
            if planned is not None:
                release.refuse_unfit_audit(rule, anchors.possible_checks(planned))
                continue
            if missing:
                raise UserError(release.not_audited(rule, missing, name))
            for said in kept.values():
                release.refuse_unfit_audit(rule, said["checks"])

    def _refuse_without_askers(self, name: str) -> None:
        """Raise UserError for a rule about who asks that this session could not decide."""
        rules = [rule for rule in self.release(name).rules if rule.is_about_asker]
        settings = self._asker(name)
        if not rules:
            return
        asked = self._cues(name)
        cases = [case for case in self.load(name).cases if case.id in asked]
        found = asked_of.expected(self.load(name).suite, cases, settings) if settings else asked_of.NOBODY
        for rule in rules:
            release.refuse_unfit_asker(rule, found, self.repeats(name), "this session")

    def refuse_other_cases(self, name: str, runs: Collection[str]) -> None:
        """Raise UserError if the selected runs cover cases that the baseline lacks."""
        loaded, baseline = self.load(name), self.baselines[name]
        if baseline is not None:
            asked = set(runs)
            wanted = {run.case.id for run in self.runs(name) if run.id in asked}
            cases = [case for case in loaded.cases if case.id in wanted]
            release.refuse_other_cases(
                self.release(name), baseline, release.expected(loaded.suite, loaded.rubric, cases)
            )

    def metadata(self, name: str) -> dict[str, JSON]:
        """The metadata of the results that is known before the session."""
        scale = self.load(name).rubric.scale
        return {"suite": name, "scale": {"low": scale.low, "high": scale.high}, **self.identity(name)}

    def estimate(self, name: str, wanted: Collection[str]) -> SessionEstimate:
        """What these runs would use. Makes no call. Raises UserError if they could not resume a journal.

        Earlier runs at another endpoint are no reason: what a session there costs is about the same.
        """
        loaded, settings = self.load(name), self.settings.of(name)
        past = History(loaded.files.journal) if settings.fresh else history.load(loaded.files.journal)
        notes = [] if settings.fresh else self._refuse_estimate(name, past)
        done = set(filter(past.has_score, wanted))
        runs = [run for run in self.runs(name) if run.id in wanted and run.id not in done]
        known = estimate.samples(self._journals(name), name)
        uses = estimate.uses(settings, self.foreseen(name, runs), known)
        items = [self._item(name, estimate.role(number), number, use) for number, use in uses.items()]
        items += [
            self._item(name, estimate.AUDIT, settings.models.index(model, 1), use)
            for model, use in self._audit_uses(name, past)
        ]
        if asked := sum(run.asker is not None for run in runs):
            notes = [*notes, f"of these runs {asked:,} are of somebody who asks (--asker)"]
        return SessionEstimate(runs=len(runs), done=len(done), items=items, notes=notes)

    def _refuse_estimate(self, name: str, past: History) -> list[str]:
        """What to know of the endpoint of earlier runs. Raises UserError if other settings differ."""
        identity, files, data_files = self.identity(name), self.load(name).files, self.data_files(name)
        if not past.sessions or "endpoints" not in past.settings:
            resume.refuse(past, identity, files, data_files)
            return []
        resume.refuse(past, {**identity, "endpoints": past.settings["endpoints"]}, files, data_files)
        try:
            resume.refuse(past, identity, files, data_files)
        except UserError as error:
            return [str(error)]
        return []

    def _item(self, name: str, role: str, number: int, use: Use) -> Item:
        """The part of the model with this index."""
        settings, base_url = self.settings.of(name), self.base_url(number)
        is_batched = estimate.role(number) in settings.batch
        own = settings.price_in_batches if is_batched else settings.price

        def cost(tokens_in: float, tokens_out: float) -> float | None:
            tokens = {"input": round(tokens_in), "output": round(tokens_out)}
            return prices.cost(settings.models[number], base_url, tokens, own)

        price = estimate.price(use, cost)
        return Item(role=role, model=settings.models[number], use=use, cost=price, is_batched=is_batched)

    def foreseen(self, name: str, runs: Sequence[Run]) -> list[Sequence[Foreseen]]:
        """The calls that each of these runs will likely make."""
        loaded = self.load(name)
        return [_from_asker(run.asker, loaded.suite.foresee(run.case, loaded.rubric)) for run in runs]

    def _audit_uses(self, name: str, past: History) -> Iterator[tuple[str, Use]]:
        """What each evaluator's part of the audit will use that is still to be done."""
        plan, loaded, settings = self.audit(name), self.load(name), self.settings.of(name)
        if plan is None:
            return
        known = estimate.samples(self._journals(name), name, ended_by=AnchorLine)
        for model in settings.evaluator_models:
            left = anchors.left(plan, past, model)
            calls = asyncio.run(anchors.foreseen(loaded.suite, loaded.rubric, settings, left))
            yield model, estimate.use("evaluator", model, calls, known, estimate.limits(settings))

    def _journals(self, name: str) -> list[Path]:
        """The journals of earlier sessions of a suite, oldest first."""
        own = self.load(name).files.journal
        found = {*self.root.joinpath("results").rglob(f"*{name}*.jsonl"), *([own] if own.is_file() else [])}
        return sorted(found, key=lambda path: path.stat().st_mtime)

    def identity(self, name: str) -> dict[str, JSON]:
        """The settings that must not change when a session is resumed, except for its extent."""
        settings, loaded = self.settings.of(name), self.load(name)
        return {
            "subject_model": settings.model,
            "evaluator_models": list(settings.evaluator_models),
            **_sampling(settings, "subject"),
            **(_sampling(settings, "evaluator") if loaded.suite.is_judged else _NO_SAMPLING),
            "runs": self.repeats(name),
            "limit": settings.limit,
            **({"shard": str(settings.shard)} if settings.shard else {}),
            "languages_asked": list(settings.languages) or None,
            "data_hash": selection.data_hash(loaded.topics, loaded.suite.datasets),
            "rubric_version": loaded.rubric.version,
            "rubric_hash": loaded.rubric.hash,
            **({"about": asdict(about)} if (about := self._judged_as(name)) else {}),
            "endpoints": {role: _public(settings, role) for role in _roles(loaded.suite)},
            **{item.name: _shown(item, settings) for item in loaded.suite.options if item != DATASET},
            **({"dataset": loaded.dataset} if loaded.dataset else {}),
            **({"until": self._until(name, settings.until)} if settings.until else {}),
            **({"rejudged": rejudge.source(settings.rejudge)} if settings.rejudge else {}),
            **({"asker": asker} if (asker := self._asker(name)) else {}),
        }

    def _asker(self, name: str) -> dict[str, JSON] | None:
        """Who asks, as results say it."""
        found, mirror = self.load(name).askers, self.settings.asker
        if found is None or mirror is None:
            return None
        return {
            "mode": "mirror",
            "sides": list(found.names),
            "forms": list(mirror.forms),
            "share": mirror.share,
            "seed": self.settings.option(SEED),
            "cues_hash": found.hash,
        }

    def _until(self, name: str, until: Until) -> str:
        """What ends the rounds: looks at one gate say nothing about another, or another baseline."""
        baseline = self.baselines.get(name)
        if until.half_width is not None or baseline is None:
            return until.text
        rules = " ".join(rule.text for rule in self.release(name).rules)
        return f"{until.text}: {rules} against {baseline.file} ({(baseline.digest or '')[:8]})"

    def about(self, name: str) -> dict[str, JSON]:
        """Further metadata for the journal that does not affect the calls."""
        loaded = self.load(name)
        return {
            "suite": name,
            "versions": versions(SHIPPED),
            "data_files": self.data_files(name),
            "data_notes": [*loaded.suite.notes(loaded.topics), *filter(None, [self.misjudged(name)])],
            "session_settings": {
                **{item.name: getattr(self.settings, item.name) for item in OPTIONS if item.recorded},
                "price_per_million": asdict(self.settings.price) if self.settings.price else None,
                **({"batch_discount": self.settings.batch_discount} if self.settings.batch else {}),
            },
        }

    def data_files(self, name: str) -> dict[str, str]:
        """The digests of the files that a suite's questions are read from, by name."""
        loaded = self.load(name)
        return selection.data_files(loaded.topics, loaded.suite.datasets)

    def base_url(self, number: int) -> str:
        """The base URL of the model with this index; the subject is 0."""
        return self.settings.endpoint("evaluator" if number else "subject").base_url


def _askers(suite: AnySuite, wanted: Selection, cases: Sequence[Case]) -> Askers:
    """Who may ask these cases. Raises UserError if nobody may."""
    if suite.asked is None:
        is_own = suite is suites.load(suite.name)
        what = suite.name if is_own else f"--dataset {wanted.dataset} of {suite.name}"
        raise UserError(f"--asker: {what} has no askers, so nobody can ask its cases; leave it out")
    found = suite.asked.askers(wanted, cases)
    if not found.twins:
        raise UserError(
            f"--asker: {suite.name}: none of the {len(cases):,} cases selected has two sides with sentences "
            "about who asks in its language; leave it out"
        )
    return found


def _from_asker(cue: Cue | None, calls: Sequence[Foreseen]) -> Sequence[Foreseen]:
    if cue is None:
        return calls
    return [
        replace(call, prompt=cue.before(call.prompt)) if call.role == "subject" else call for call in calls
    ]


def round_robin(cases: Sequence[C]) -> list[C]:
    """The first case of each area in every language, area by area, then the second of each, and so on.

    At any point, no area of a language is more than one case ahead of another that has cases left.
    """
    languages = list(dict.fromkeys(case.language for case in cases))
    areas = dict.fromkeys(case.area for case in cases)
    groups: dict[tuple[str, str], list[C]] = {
        (area, language): [] for area in areas for language in languages
    }
    for case in cases:
        groups[case.area, case.language].append(case)
    return [case for turn in zip_longest(*groups.values()) for case in turn if case is not None]


def _made_by(audit: Mapping[str, JSON]) -> tuple[JSON, JSON]:
    """The rubric and the anchors of a kept audit."""
    return audit["rubric_hash"], audit["anchors_hash"]


def _shown(option: Option, settings: Settings) -> JSON:
    """The value of a suite's option as recorded in results."""
    value = settings.option(option)
    return option.shown(value) if option.shown and value is not None else value


def _public(settings: Settings, role: Role) -> str:
    models = settings.models[:1] if role == "subject" else settings.evaluator_models
    return "built-in server" if all(map(is_local, models)) else public_url(settings.endpoint(role).base_url)


_NO_SAMPLING: Mapping[str, JSON] = {"evaluator_sampling": {}, "evaluator_system_prompt": None}


def _roles(suite: AnySuite) -> tuple[Role, ...]:
    return ("subject", "evaluator") if suite.is_judged else ("subject",)


def _sampling(settings: Settings, role: Role) -> dict[str, JSON]:
    sampling = settings.sampling(role)
    return {f"{role}_sampling": sampling.parameters(), f"{role}_system_prompt": sampling.system_prompt}
