"""Estimates the calls, tokens and cost of a session, from earlier sessions or else from assumptions.

Makes no calls.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.quantities import first_few
from equipoise.core.settings import Settings, is_local
from equipoise.core.types import Cue, Foreseen, Role, Run, Usage
from equipoise.models import prices
from equipoise.results import history, totals
from equipoise.results.history import History
from equipoise.results.lines import AnchorLine, RecordLine
from equipoise.runner import metadata, resume
from equipoise.runner.loading import LoadedSuite
from equipoise.runner.plan import Plan
from equipoise.stats import mean

Z = 1.96
"""The half-width of a 95 % interval of a normal distribution, in standard deviations."""
BYTES_PER_TOKEN = (4.0, 5.0, 2.5)
"""UTF-8 bytes per token of a prompt, in any language, for the likely, lowest and highest number of tokens.

The more bytes a token has, the fewer tokens there are.
"""
ASSUMED_OUTPUT: Mapping[Role, tuple[int, int, int]] = {
    "subject": (800, 300, 2000),
    "evaluator": (250, 100, 600),
}
"""Tokens per reply without an earlier session: likely, low, high."""
ASSUMED_SPEED = ((1.0, 50.0), (0.5, 150.0), (3.0, 15.0))
"""Seconds until a reply begins, and its tokens per second: likely, fast, slow."""
OTHERS_LENGTH, OTHERS_PROMPT = 3.0, 2.0
"""The factors by which another model's replies, and its prompts, may be longer or shorter."""
Limits = Mapping[Role, int | None]
"""The user's limits on tokens per reply."""
_NO_LIMITS: Limits = {}
MOST_NAMED = 3
"""The largest number of models that the basis of an estimate names."""
AUDIT = "audit"
"""The name, used in place of a role, of an evaluator's calls in the audit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """An estimated value, with the lower and upper end of its interval."""

    value: float
    low: float
    high: float

    def __add__(self, other: Range) -> Range:
        return Range(value=self.value + other.value, low=self.low + other.low, high=self.high + other.high)

    def __truediv__(self, parts: float) -> Range:
        return Range(value=self.value / parts, low=self.low / parts, high=self.high / parts)

    def widened(self, factor: float) -> Range:
        """The same value, with the lower end divided and the upper end multiplied by the factor."""
        return replace(self, low=self.low / factor, high=self.high * factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedUse:
    """The expected calls, input and output tokens, and seconds of a model.

    The seconds are those of calls made one after the other. `basis` says what the estimate is based on.
    """

    calls: Range
    input: Range
    output: Range
    seconds: Range
    basis: str

    def of_other_models(self) -> ExpectedUse:
        """This use with wider intervals, as the expected use of a model that has no sample."""
        output, seconds = self.output.widened(OTHERS_LENGTH), self.seconds.widened(OTHERS_LENGTH)
        return replace(self, input=self.input.widened(OTHERS_PROMPT), output=output, seconds=seconds)


@dataclass(slots=True)
class Sample:
    """One model's use in earlier sessions.

    `runs` maps a journal and a run's id to a list: calls, input tokens, output tokens, seconds.
    """

    runs: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(lambda: [0.0] * 4))

    def add(self, run: tuple[str, str], usage: Usage, seconds: float) -> None:
        """Add a call of a run."""
        amounts = self.runs[run]
        for index, amount in enumerate((1, usage.input, usage.output, seconds)):
            amounts[index] += amount

    def expected_use(self, runs: int, basis: str) -> ExpectedUse:
        """The expected use of this many further runs, with 95 % prediction intervals."""
        calls, tokens_in, tokens_out, seconds = (
            _predict([amounts[index] for amounts in self.runs.values()], runs) for index in range(4)
        )
        return ExpectedUse(calls=calls, input=tokens_in, output=tokens_out, seconds=seconds, basis=basis)


def _predict(amounts: Sequence[float], runs: int) -> Range:
    """The predicted sum over n = `runs` further runs, from the amounts of k earlier ones.

    The value is n m, the 95 % interval n m +- z s sqrt(n + n^2 / k), with mean m and standard deviation s.
    A single run has no standard deviation: then the interval is from half to double the value.
    """
    centre = mean(amounts) or 0.0
    if len(amounts) < 2:
        return Range(value=runs * centre, low=runs * centre / 2, high=runs * centre * 2)
    spread = math.sqrt(sum((value - centre) ** 2 for value in amounts) / max(1, len(amounts) - 1))
    margin = Z * spread * math.sqrt(runs + runs**2 / len(amounts))
    return Range(value=runs * centre, low=max(0.0, runs * centre - margin), high=runs * centre + margin)


Samples = Mapping[tuple[Role, str], tuple[Sample, str]]
"""The samples of models in earlier sessions by role and model, each with the name of its last journal."""


def samples(
    paths: Iterable[Path], suite: str, *, ended_by: type[RecordLine] | type[AnchorLine] = RecordLine
) -> Samples:
    """The samples of models in a suite's journals.

    Only runs that a line of the kind `ended_by` has ended are included.
    """
    models: dict[tuple[Role, str], tuple[Sample, str]] = {}
    for path in paths:
        for role, model, run, usage, seconds in totals.iter_usage(path, suite, ended_by):
            sample, _ = models.get((role, model), (Sample(), ""))
            sample.add((str(path), run), usage, seconds)
            models[role, model] = (sample, path.name)
    return models


def expected_uses(
    settings: Settings, runs: Sequence[Sequence[Foreseen]], known: Samples
) -> dict[int, ExpectedUse]:
    """The expected use of each model that a session of one suite calls, by index; the subject has index 0.

    `runs` are the foreseen calls of each run, `known` the samples of earlier sessions.
    """
    # Index 0 is the subject. With --replies it is not called, and the first index is 1.
    first = len(settings.models) - len(settings.asked_models)
    expected = {
        number: expected_use(role_of(number), model, runs, known, token_limits(settings))
        for number, model in enumerate(settings.asked_models, start=first)
    }
    if first or ("subject", settings.models[0]) in known:
        return expected
    return {
        number: _with_new_subject(item) if ("evaluator", settings.models[number]) in known else item
        for number, item in expected.items()
    }


def _with_new_subject(use: ExpectedUse) -> ExpectedUse:
    """The use of a known evaluator for a new subject: its prompts quote replies of unknown length."""
    basis = f"{use.basis}, of other subjects: from half to twice the prompts"
    return replace(use, input=use.input.widened(OTHERS_PROMPT), basis=basis)


def role_of(number: int) -> Role:
    """The role of the model with this index."""
    return "evaluator" if number else "subject"


def token_limits(settings: Settings) -> Limits:
    """The user's limits on tokens per reply."""
    return {"subject": settings.subject.max_tokens, "evaluator": settings.evaluator.max_tokens}


def expected_use(
    role: Role,
    model: str,
    runs: Sequence[Sequence[Foreseen]],
    known: Samples,
    limits: Limits = _NO_LIMITS,
) -> ExpectedUse:
    """The expected use of a model in a role for these runs, each given as its foreseen calls.

    It is from the first of these that exists: the model's own sample, other models' samples, assumptions.
    """
    if (role, model) in known:
        sample, name = known[role, model]
        return sample.expected_use(len(runs), f"as in {len(sample.runs)} runs of it, the last in {name}")
    # The built-in model's replies are short: an estimate from a demo would be several times too low.
    others = {
        other: sample
        for (other_role, other), (sample, _) in known.items()
        if other_role == role and is_local(other) == is_local(model)
    }
    if others:
        merged = Sample()
        # With the model's name, because one run in one journal has calls of several models.
        for other, sample in others.items():
            merged.runs.update(
                {(f"{other} {path}", run): amounts for (path, run), amounts in sample.runs.items()}
            )
        basis = (
            f"wide, as the model is new here: from a third to three times the lengths in "
            f"{len(merged.runs):,} runs of other models ({first_few(sorted(others), MOST_NAMED)})"
        )
        return merged.expected_use(len(runs), basis).of_other_models()
    return _assumed(role, [call for run in runs for call in run if call.role == role], limits)


def _assumed(role: Role, calls: Sequence[Foreseen], limits: Limits) -> ExpectedUse:
    """The expected use by assumption, from the lengths of the foreseen prompts.

    Calls that are only possible are counted in the highest case alone.
    """
    probable = [call for call in calls if not call.is_possible]
    cases = (probable, probable, calls)
    likely, low, high = (_tokens(role, made, index, limits) for index, made in enumerate(cases))
    number, most = float(len(probable)), float(len(calls))
    lengths = [
        round(tokens[1] / max(len(made), 1)) for tokens, made in zip((likely, low, high), cases, strict=True)
    ]
    shown = "{} tokens a reply ({} to {})".format(*lengths)
    each = "{:g} bytes of a prompt ({:g} to {:g})".format(*BYTES_PER_TOKEN)
    further = f"; at most {most - number:,.0f} further calls, where a run asks again" if most > number else ""
    output = Range(value=likely[1], low=low[1], high=high[1])
    seconds = seconds_of(number, output)
    return ExpectedUse(
        calls=Range(value=number, low=number, high=most),
        input=Range(value=likely[0], low=low[0], high=high[0]),
        output=output,
        seconds=replace(seconds, high=seconds_of(most, output).high),
        basis=f"assumed: {shown}, a token for {each}{further}",
    )


def seconds_of(calls: float, output: Range, wait: float | None = None) -> Range:
    """The seconds that calls take, one after the other, if their output has this many tokens in total.

    `wait` is the seconds until each reply begins; with None they are assumed, as the speed of replies always
    is (ASSUMED_SPEED).
    """
    likely, low, high = (
        calls * (assumed if wait is None else wait) + tokens / speed
        for tokens, (assumed, speed) in zip(
            (output.value, output.low, output.high), ASSUMED_SPEED, strict=True
        )
    )
    return Range(value=likely, low=low, high=high)


def _tokens(role: Role, calls: Sequence[Foreseen], index: int, limits: Limits) -> tuple[float, float]:
    """Input and output tokens of these calls; `index` selects the assumption: 0 likely, 1 low, 2 high."""
    quoted = sum(
        call.quoted * _length("subject", index, limits, call.length if call.role == "subject" else None)
        for call in calls
    )
    prompts = sum(len(call.prompt.encode("utf-8", "replace")) for call in calls) / BYTES_PER_TOKEN[index]
    return prompts + quoted, float(sum(_length(role, index, limits, call.length) for call in calls))


def _length(role: Role, index: int, limits: Limits, foreseen: int | None = None) -> int:
    """Tokens of a reply, at most the user's limit; `index` selects the assumption: 0 likely, 1 low, 2 high.

    A reply of `foreseen` length has that many tokens. In the highest case the model explains itself instead,
    at the length of a short reply.
    """
    assumed = (
        ASSUMED_OUTPUT[role][index]
        if foreseen is None
        else (foreseen, foreseen, ASSUMED_OUTPUT[role][1])[index]
    )
    return min(assumed, limits.get(role) or assumed)


NOTHING = Range(value=0.0, low=0.0, high=0.0)
TokenCost = Callable[[float, float], float | None]
"""The cost in USD of input and output tokens of a model; None if it has no price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One model's part of an estimate. Its `cost` in USD is None without a price.

    `is_batched` says that the calls are sent in batches, at their price.
    """

    role: str
    model: str
    use: ExpectedUse
    cost: Range | None
    is_batched: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEstimate:
    """The estimate of a session: the number of runs to do and of runs done, and an item per model."""

    runs: int
    done: int
    items: Sequence[Item]
    notes: Sequence[str] = ()

    @property
    def calls(self) -> Range:
        """The number of calls of all models."""
        return sum((item.use.calls for item in self.items), NOTHING)

    @property
    def cost(self) -> Range | None:
        """The cost of all models in USD; None if one has no price."""
        costs = [item.cost for item in self.items if item.cost is not None]
        return sum(costs, NOTHING) if len(costs) == len(self.items) else None

    def in_short(self) -> str:
        """Runs, calls and cost in one line of text."""
        cost = "cost unknown" if self.cost is None else _dollars(self.cost)
        return f"{self.runs:,} runs, {_figure(self.calls)} calls, {cost}"

    def lines(self) -> Iterator[str]:
        """The whole estimate as lines of text."""
        yield self._runs()
        for item in self.items:
            cost = "" if item.cost is None else f", {_dollars(item.cost)}"
            how = " in batches" if item.is_batched else ""
            yield f"{item.role + ':':<11}{item.model}: {_figure(item.use.calls)} calls{how}{cost}"
            yield f"           {_figure(item.use.input)} tokens in, {_figure(item.use.output)} out"
            yield f"           {item.use.basis}"
        yield self._cost()
        yield from (f"note:      {note}" for note in self.notes)

    def total(self) -> Iterator[str]:
        """The sums over all models as lines of text."""
        tokens_in, tokens_out = (
            sum((getattr(item.use, kind) for item in self.items), NOTHING) for kind in ("input", "output")
        )
        yield self._runs()
        yield f"calls:     {_figure(self.calls)}"
        yield f"tokens:    {_figure(tokens_in)} in, {_figure(tokens_out)} out"
        yield self._cost()

    def _runs(self) -> str:
        return f"runs:      {self.runs:,} to do" + (f", {self.done:,} already done" if self.done else "")

    def _cost(self) -> str:
        cost = sum((item.cost or NOTHING for item in self.items), NOTHING)
        if unknown := dict.fromkeys(item.model for item in self.items if item.cost is None):
            rest = f"; all else {_dollars(cost)}" if cost.value else ""
            names = ", ".join(unknown)
            return f"total:     unknown: no price for {names}; give --price-input and --price-output{rest}"
        return f"total:     {_dollars(cost)}{self._shares()}: prices as listed or given, tokens as estimated"

    def _shares(self) -> str:
        """The costs of the subject and of its evaluators, if both have one."""
        subject, evaluators = (
            sum(
                item.cost.value for item in self.items if item.cost and (item.role == "subject") is is_subject
            )
            for is_subject in (True, False)
        )
        return f", subject {subject:,.2f} and evaluators {evaluators:,.2f}" if subject and evaluators else ""


def together(estimates: Iterable[SessionEstimate]) -> SessionEstimate:
    """The estimate of a session of several suites, from the estimate of each."""
    every = list(estimates)
    return SessionEstimate(
        runs=sum(estimate.runs for estimate in every),
        done=sum(estimate.done for estimate in every),
        items=[item for estimate in every for item in estimate.items],
    )


def price(use: ExpectedUse, cost: TokenCost) -> Range | None:
    """The cost of a use in USD; None without a price."""
    value, low, high = (
        cost(getattr(use.input, end), getattr(use.output, end)) for end in ("value", "low", "high")
    )
    if value is None or low is None or high is None:
        return None
    return Range(value=value, low=low, high=high)


def _figure(range_: Range) -> str:
    if range_.low == range_.high:
        return f"{range_.value:,.0f}"
    return f"{range_.value:,.0f} ({range_.low:,.0f} to {range_.high:,.0f})"


def _dollars(range_: Range) -> str:
    return f"{range_.value:,.2f} USD ({range_.low:,.2f} to {range_.high:,.2f})"


# The estimate of a planned session.


def of_session(plan: Plan, suite: str, run_ids: Collection[str]) -> SessionEstimate:
    """The estimate of these runs of a suite. Raises UserError if the session could not resume its journal.

    If only the endpoint of earlier runs differs, the estimate has a note: the cost is about the same.
    """
    loaded = plan.load(suite)
    settings = loaded.settings
    past = History(loaded.files.journal) if settings.fresh else history.load(loaded.files.journal)
    notes = [] if settings.fresh else _notes_on_other_settings(plan, suite, past)
    done = set(filter(past.has_score, run_ids))
    runs = [run for run in plan.runs(suite) if run.id in run_ids and run.id not in done]
    models = expected_uses(settings, foreseen(loaded, runs), samples(_journals(plan, suite), suite))
    items = [_item(settings, role_of(number), number, use) for number, use in models.items()]
    # The search begins behind index 0: the subject may be the same model as an evaluator.
    items += [
        _item(settings, AUDIT, settings.models.index(model, 1), use)
        for model, use in _extra_uses(plan, suite, past)
    ]
    notes = [*notes, *_notes_on_prices(settings, items)]
    if cues := sum(run.asker is not None for run in runs):
        notes = [*notes, f"{cues:,} of these runs have an asker cue (--asker)"]
    return SessionEstimate(runs=len(runs), done=len(done), items=items, notes=notes)


def _notes_on_prices(settings: Settings, items: Sequence[Item]) -> list[str]:
    """A note on the models for which the user's price is not used, as they have a listed one."""
    urls = {model: settings.base_url(number) for number, model in enumerate(settings.models)}
    models = dict.fromkeys(item.model for item in items)
    listed = [model for model in models if settings.price and prices.is_listed(model, urls[model])]
    note = f"the listed price of {', '.join(listed)} is used, not --price-input and --price-output"
    return [note] if listed else []


def _notes_on_other_settings(plan: Plan, name: str, past: History) -> list[str]:
    """A note if the endpoint of earlier runs differs. Raises UserError if other settings differ."""
    # First with the earlier endpoint, so that only a difference in other settings is an error.
    settings, loaded = metadata.resume_settings(plan, name), plan.load(name)
    if not past.sessions or "endpoints" not in past.settings:
        resume.require_resumable(past, settings, loaded.files, loaded.data_files)
        return []
    same = {**settings, "endpoints": past.sessions[-1].settings["endpoints"]}
    resume.require_resumable(past, same, loaded.files, loaded.data_files)
    try:
        resume.require_resumable(past, settings, loaded.files, loaded.data_files)
    except UserError as error:
        return [str(error)]
    return []


def foreseen(loaded: LoadedSuite, runs: Sequence[Run]) -> list[Sequence[Foreseen]]:
    """The calls that each of these runs will likely make."""
    return [_with_cue(run.asker, loaded.suite.foresee(run.case, loaded.rubric)) for run in runs]


def _with_cue(cue: Cue | None, calls: Sequence[Foreseen]) -> Sequence[Foreseen]:
    if cue is None:
        return calls
    return [
        replace(call, prompt=cue.prepend_to(call.prompt)) if call.role == "subject" else call
        for call in calls
    ]


def _journals(plan: Plan, name: str) -> list[Path]:
    """The journals of earlier sessions of a suite, oldest first."""
    path = plan.load(name).files.journal
    paths = {*plan.root.joinpath("results").rglob(f"*{name}*.jsonl"), *([path] if path.is_file() else [])}
    return sorted(paths, key=lambda path: path.stat().st_mtime)


def _item(settings: Settings, role: str, number: int, use: ExpectedUse) -> Item:
    """The item of the model with this index; `role` is its role, or AUDIT."""
    model, base_url = settings.models[number], settings.base_url(number)
    is_batched = role_of(number) in settings.batch
    user_price = settings.price_in_batches if is_batched else settings.price

    def cost(tokens_in: float, tokens_out: float) -> float | None:
        tokens = {"input": round(tokens_in), "output": round(tokens_out)}
        return prices.cost(model, base_url, tokens, user_price)

    return Item(role=role, model=model, use=use, cost=price(use, cost), is_batched=is_batched)


def _extra_uses(plan: Plan, name: str, past: History) -> Iterator[tuple[str, ExpectedUse]]:
    """The evaluators with their expected use for the anchors that the audit has left."""
    loaded = plan.load(name)
    jobs = plan.extra_jobs.foreseen(loaded, past)
    known = samples(_journals(plan, name) if jobs else (), name, ended_by=AnchorLine)
    for model, calls in jobs.items():
        yield model, expected_use("evaluator", model, calls, known, token_limits(loaded.settings))
