"""A session's results as lines of text for a terminal, without colours."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from equipoise.core.figures import NO_FIGURE, Figure, LanguagePair
from equipoise.core.quantities import counted, duration
from equipoise.core.rows import ROW_OUTCOMES
from equipoise.core.rules import GATE
from equipoise.core.settings import FILE
from equipoise.core.types import Role
from equipoise.report import added, askers, audit, comparison, references, sentences, verdict
from equipoise.report.layout import align, format_estimate
from equipoise.results.history import NO_SCORES, WITH_UNSCORED
from equipoise.results.results import Results

if TYPE_CHECKING:
    from equipoise.results.document import (
        LanguageConsistency,
        Metadata,
        PanelFigures,
        RunError,
        Summary,
        UntilReached,
        VarianceParts,
    )

_ROLES: tuple[Role, ...] = ("subject", "evaluator")
MOST_ERRORS, FIRST_ERRORS = 10, 3
"""Maximum number of errors in the full form, and of different ones in the short form."""
MOST_FIGURES, MOST_LANGUAGES = 8, 5
"""Maximum number of figures in the short form, and of languages among them."""


# Results.


def summary(
    results: Results,
    *,
    part: Results | None = None,
    wall_seconds: float | None = None,
    known_error: str = "",
    is_mistake: bool = False,
    width: int | None = None,
    shows_all: bool = False,
    has_table: bool = True,
) -> Iterator[str]:
    """Lines with the answer in sentences, a table, spending, errors and the path.

    The table has the first figures. With `shows_all` it has all figures of the suite, and variance, tokens
    and sections follow. `has_table` is False if an overview of several suites is shown instead.

    `part` has the results of some of the runs; figures and errors are then taken from it. `wall_seconds` is
    None if it was not measured. Errors with the message `known_error`, which is shown elsewhere, are left
    out; `is_mistake` is set if that error has to be mended first. The table is at most `width` columns wide.
    """
    shown, metadata = part or results, results.metadata
    if results.has_scores:
        # Made first: results without a summary are refused here, before any line is printed.
        table = align(results.suite.tabled(shown.summary) if shows_all else _first_rows(shown), width)
        yield from sentences.about(shown)
        yield ""
        if has_table:
            yield from table
            yield ""
        if shows_all:
            yield from precision(shown.summary)
            yield from added.lines(results.sections)
            yield from askers.lines(shown.summary.get("asker"), results.sections.get("askers"), width)
        elif until := shown.summary.get("until"):
            yield _until_line(until)
        if not shows_all and (section := results.sections.get("askers")):
            yield from askers.missing_runs_lines(section)
    else:
        yield "no run has a score"
    yield from audit.summary_lines(results.audits, width, has_checks=shows_all)
    yield from references.lines(references.references(results.suite, results.audits, metadata.get("dataset")))
    yield _calls_line(metadata, wall_seconds)
    yield from _spending_lines(metadata) if shows_all else _spending_line(metadata)
    yield from _call_lines(metadata)
    errors = [error for error in shown.errors if not known_error or error["message"] != known_error]
    first_errors = errors[:MOST_ERRORS] if shows_all else _first_of_each_kind(errors)
    yield from (f"{error['outcome']}: {error['run']}: {error['message']}" for error in first_errors)
    left_out = len(errors) - len(first_errors)
    if shows_all and left_out:
        yield f"... and {left_out} more under 'errors' in the results"
    yield from _missing_runs_line(metadata, is_part=part is not None, is_mistake=is_mistake)
    if part is not None:
        covers, total = part.metadata["runs_expected"], metadata["runs_expected"]
        yield f"covers:    {covers:,} of {total:,} runs, those of this session; the results hold all"
    if shard := metadata.get("shard"):
        yield f"shard {shard}: when all are done, `equipoise merge` joins them"
    more = [counted(len(shown.summary["metrics"]), "figure")] if results.has_scores else []
    more += [counted(len(errors), "error")] if left_out else []
    if more and not shows_all:
        yield f"more:      {_command(results)} ({', '.join(more)})"
    yield f"results: {results.file} ({completeness(results)})"


def release(
    every: Mapping[str, Results],
    width: int | None = None,
    *,
    shows_all: bool = False,
    warnings: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Iterator[str]:
    """Lines on a model's results by suite: the verdict, each suite, an overview, and the verdict once more.

    The verdict is left out if no suite has a gate. `warnings` has the warnings below each suite's results.
    """
    are_several = len(every) > 1
    # Made first: results without a summary are refused before any line is printed.
    summaries = {
        suite: [*summary(results, width=width, shows_all=shows_all, has_table=shows_all or not are_several)]
        for suite, results in every.items()
    }
    rulings = [*verdict.lines({suite: item.sections for suite, item in every.items()}, width)]
    yield from (*rulings, "") if rulings else ()
    for suite, results in every.items():
        yield from summaries[suite]
        yield from (f"warning:   {warning}" for warning in warnings.get(suite, ()))
        yield from against_baseline(results, width, shows_all=shows_all, has_table=not are_several)
        yield from [""] if are_several else ()
    yield from overview(every.values(), width) if are_several else ()
    # Readers of a log see its end first.
    yield from ("", rulings[0]) if rulings else ()


def against_baseline(
    results: Results, width: int | None, *, shows_all: bool = False, has_table: bool = True
) -> Iterator[str]:
    """A blank line, and the lines on the comparison with the baseline, if there is one."""
    if section := results.sections.get("comparison"):
        yield ""
        yield from comparison.lines(
            section, width, shows_all=shows_all, has_table=has_table, command=_command(results)
        )


def _command(results: Results) -> str:
    """The command that shows everything in these results."""
    return f"equipoise show {shlex.quote(str(results.file))} --all"


def _first_rows(results: Results) -> list[tuple[str, ...]]:
    """The rows of the short table, header first: the headline, its languages, and other figures.

    Breakdowns, figures that a sentence gives, and figures equal to the headline are left out.
    """
    metrics, definitions = results.summary["metrics"], results.definitions
    name, headline = next(iter(metrics.items()), ("", NO_FIGURE))
    head = definitions.get(name)
    languages, others = dict[str, Figure](), dict[str, Figure]()
    for other, figure in metrics.items():
        definition = definitions.get(other)
        if head is None or definition is None or other == name or figure.value is None:
            continue
        labels = definition.where.keys() - head.where.keys()
        if definition.of == head.of and labels == {"language"}:
            languages[other] = figure
        elif not (
            (definition.of == head.of and labels)
            or any(parent in metrics for parent in _parents(other))
            or definition.toward
            or figure.kind == "contrast"
            or other in ROW_OUTCOMES
            or (other.startswith(name) and _is_same(figure, headline))
        ):
            others[other] = figure
    if len(languages) > MOST_LANGUAGES:
        # The lowest and the highest differ most.
        ends = sorted(languages, key=lambda code: languages[code].value or 0.0)
        languages = {code: languages[code] for code in (ends[0], ends[-1])}
    chosen = {name: headline, **(languages if len(languages) > 1 else {}), **others}
    rows = [_figure_row(name, figure, headline.clusters) for name, figure in chosen.items()]
    return [("", "figure", "95 % interval", headline.clusters), *rows[:MOST_FIGURES]]


def _is_same(figure: Figure, other: Figure) -> bool:
    return (figure.kind, figure.value, figure.low, figure.n) == (other.kind, other.value, other.low, other.n)


def _parents(name: str) -> Iterator[str]:
    """The beginnings of a dotted name."""
    while name := name.rpartition(".")[0]:
        yield name


def _figure_row(name: str, figure: Figure, clusters: str) -> tuple[str, ...]:
    number = f"{figure.n:,}" if figure.clusters == clusters else f"{figure.n:,} {figure.clusters}"
    return (name, _format_figure(figure), figure.limits(), number)


def _format_figure(figure: Figure) -> str:
    return "-" if figure.value is None else f"{figure.value:.1f} {figure.unit}"


def overview(every: Iterable[Results], width: int | None = None) -> Iterator[str]:
    """A table with the headline of each suite, and of each model if there are several.

    Its columns are the figure, its interval, and what the figure is.
    """
    rows = [("suite", "model", "figure", "95 % interval", "what it is")]
    for results in every:
        figure = next(iter(results.summary.get("metrics", {}).values()), NO_FIGURE)
        words = results.suite.about.headline.rstrip(",")
        rows.append((results.suite.name, results.model, _format_figure(figure), figure.limits(), words))
    has_models = len({model for _, model, *_ in rows[1:]}) > 1
    yield from align([row if has_models else (row[0], *row[2:]) for row in rows], width)


def completeness(results: Results) -> str:
    """The status of results, with the number of unscored runs if there are any."""
    status = str(results.metadata["status"])
    if status == NO_SCORES:
        return "no scores"
    return status if status != WITH_UNSCORED else f"complete, {len(results.errors):,} unscored"


def _calls_line(metadata: Metadata, wall_seconds: float | None) -> str:
    calls = metadata["calls"]
    counts = [f"{calls['made']:,} made", f"{calls['replayed']:,} replayed"]
    counts += [f"{calls['failed']:,} failed", f"{calls['retries']:,} retries"]
    counts += [f"{repeated:,} repeated"] if (repeated := calls.get("repeated")) else []
    counts += [f"{batched:,} batched"] if (batched := calls.get("batched")) else []
    wall_time = "" if wall_seconds is None else f"; wall time {duration(wall_seconds)}"
    return f"calls:     {', '.join(counts)}{wall_time}"


def _spending_line(metadata: Metadata) -> Iterator[str]:
    """The tokens and the cost of all roles together, where there are any."""
    tokens = [metadata["tokens"][role] for role in _ROLES]
    used = f"{sum(part['input'] for part in tokens):,} in, {sum(part['output'] for part in tokens):,} out"
    estimated = ", partly estimated" if any(metadata["usage_estimated"][role] for role in _ROLES) else ""
    known = sum(metadata["cost_usd"][role] or 0.0 for role in _ROLES)
    price = f"; {known:.4f} USD" if known or not _roles_without_price(metadata) else ""
    if unknown := _roles_without_price(metadata):
        whose = f" for {unknown[0]}" if len(unknown) == 1 and metadata["evaluator_models"] else ""
        price += f"; cost unknown{whose} (--price-input, --price-output)"
    yield f"tokens:    {used}{estimated}{price}"


def _roles_without_price(metadata: Metadata) -> list[Role]:
    """The roles whose calls have no known price. Answers from files have no price."""
    cost, endpoints = metadata["cost_usd"], metadata["endpoints"]
    return [role for role in _ROLES if cost[role] is None and endpoints.get(role) != FILE]


def _spending_lines(metadata: Metadata) -> Iterator[str]:
    tokens, cost, estimated = metadata["tokens"], metadata["cost_usd"], metadata["usage_estimated"]
    for role in _ROLES if metadata["evaluator_models"] else _ROLES[:1]:
        used = tokens[role]
        mark = ", partly estimated" if estimated[role] else ""
        price = "" if cost[role] is None else f", {cost[role]:.4f} USD{mark}"
        input_tokens = f"{used['input']:,} tokens in{_describe_cache(metadata, role)}"
        yield f"{role + ':':<11}{input_tokens}, {used['output']:,} out{price}"
    if unknown := _roles_without_price(metadata):
        yield f"cost:      unknown for {' and '.join(unknown)}: give --price-input and --price-output"
    for role in _ROLES:
        if count := estimated[role]:
            reason = f"calls without a readable usage: {count:,}"
            yield f"warning:   the {role}'s tokens are partly estimated; {reason}"


def _call_lines(metadata: Metadata) -> Iterator[str]:
    """Lines on what endpoints did: limits, invalid verdicts, changes of models and of parameters."""
    limits = metadata["limits"]
    if limits["cuts"]:
        levels = f"between {limits['lowest']} and {limits['highest']}, " if limits["highest"] else ""
        yield f"in flight: {levels}cut {limits['cuts']} times for {limits['refused']} refused calls"
    for name, counts in metadata["evaluators"].items():
        if counts["missing"]:
            total = counts["missing"] + counts["verdicts"]
            yield f"evaluator: {name} gave no valid verdict in {counts['missing']} of {total} runs"
    for text in metadata["answered"]:
        yield f"answered:  {text}"
    for text in metadata.get("cautions", ()):
        yield f"caution:   {text}"
    for change in metadata["parameters_changed"]:
        yield f"parameter: {change['model']}: {change['parameter']} {change['action']} ({change['reason']})"


def _describe_cache(metadata: Metadata, role: Role) -> str:
    """A phrase on the prompt tokens that came from a cache, and the cost that this saved."""
    cached = metadata["tokens"][role].get("cached")
    saved = metadata.get("saved_by_cache_usd", {}).get(role)
    return f" ({cached:,} cached, which saved {saved:.4f} USD)" if cached and saved else ""


def _first_of_each_kind(errors: Sequence[RunError]) -> list[RunError]:
    """The first error with each message, at most FIRST_ERRORS, without refusals, which a sentence counts."""
    by_message: dict[str, RunError] = {}
    for error in errors:
        if error["outcome"] != "refused":
            by_message.setdefault(str(error["message"]), error)
    return [*by_message.values()][:FIRST_ERRORS]


def _missing_runs_line(metadata: Metadata, *, is_part: bool, is_mistake: bool) -> Iterator[str]:
    missing = metadata["runs_expected"] - metadata["runs_completed"]
    if missing:
        next_step = "; run the same command again: it resumes from here"
        if is_mistake:
            next_step = "; once what stopped the session is mended, the command resumes from here"
        elif is_part:
            next_step = "; a session that selects them resumes from here"
        elif FILE in metadata["endpoints"].values():
            # The session itself names the files of calls that have to be answered.
            next_step = ""
        yield f"{missing} of {metadata['runs_expected']} runs are still to be done{next_step}"


# Precision.


def precision(summary: Summary) -> Iterator[str]:
    """Lines on `--until`, variance components, differences between languages, and agreement of the panel."""
    if until := summary.get("until"):
        yield _until_line(until)
    if summary["variance"]["share"]:
        yield from _variance_lines(summary["variance"])
    yield from _contrast_lines(summary.get("metrics", {}))
    if summary["consistency"]:
        yield from _language_lines(summary["consistency"])
    if panel := summary.get("panel"):
        yield from _panel_lines(panel)


def _until_line(until: UntilReached) -> str:
    state = "" if until["is_reached"] else "not "
    saved = f"; about {until['calls_saved']:,} calls saved" if until["calls_saved"] else ""
    if until["rule"] == GATE:
        runs = f"{until['runs']} of {until['runs_planned']} runs of each question"
        return f"until:     gate {state}decided after {runs}{saved}"
    half_width = until["looks"][-1]["half_width"]
    width = "no interval" if half_width is None else f"±{half_width:.2f} pp"
    return (
        f"until:     {until['rule']} {state}reached after {until['runs']} runs of each question "
        f"({width}){saved}"
    )


def _variance_lines(variance: VarianceParts) -> Iterator[str]:
    shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in variance["share"].items())
    yield f"variance:  {shares}"
    if variance["advice"]:
        yield f"           {variance['advice']}"
    if smallest := variance["smallest_difference"]:
        unit = variance["smallest_difference_unit"]
        number = f"{smallest:.1f}" if unit == "percentage points" else f"{smallest:.2f}"
        difference = f"{number} {unit}{_describe_assumptions(variance['smallest_difference_assumes'])}"
        yield f"           The smallest detectable difference between two models: {difference}."


def _contrast_lines(metrics: Mapping[str, Figure]) -> Iterator[str]:
    """Lines on each contrast: how it is to be read, and the smallest difference that it can show."""
    for name, figure in metrics.items():
        if figure.kind == "contrast":
            yield f"contrast:  {name}: {figure.caution}"
            if smallest := figure.smallest_difference:
                yield f"           The smallest detectable difference: {smallest:.1f} {figure.unit}."


def _describe_assumptions(assumed: Mapping[str, float]) -> str:
    power, alpha, shared = (100 * assumed[name] for name in ("power", "alpha", "shared"))
    return (
        f" (assuming {power:.0f} % power, {alpha:.0f} % error, "
        f"{shared:.0f} % of the variance between questions in common)"
    )


def _language_lines(consistency: LanguageConsistency) -> Iterator[str]:
    unit = " pp" if consistency["unit"] == "percentage points" else f" {consistency['unit']}"
    for index, pair in enumerate(consistency["pairs"]):
        label = "languages:" if index == 0 else ""
        difference = f"{format_estimate(pair, unit)}{_describe_p(pair)}"
        yield f"{label:<11}{pair.first} - {pair.second}: {difference}"


def _describe_p(pair: LanguagePair) -> str:
    return "" if pair.p_adjusted is None else f", p {pair.p_adjusted:.3f} (Holm)"


def _panel_lines(panel: PanelFigures) -> Iterator[str]:
    yield f"panel:     Krippendorff's alpha {format_estimate(panel['alpha'])}"
    for row in panel["evaluators"]:
        average = "-" if row.mean is None else f"{row.mean:.2f}"
        difference = format_estimate(row.difference, " points")
        yield f"           {row.evaluator}: mean {average}, against the others {difference}"
