"""A session's results as lines of text for a terminal, without colours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from equipoise.core.figures import NO_FIGURE, Figure, LanguagePair
from equipoise.core.quantities import duration
from equipoise.core.rules import GATE
from equipoise.core.settings import FILE
from equipoise.core.types import Role
from equipoise.report import added, askers, audit, references, sentences
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
MOST_ERRORS = 10
"""Maximum number of errors shown."""


# Results.


def summary(
    results: Results,
    *,
    part: Results | None = None,
    wall_seconds: float | None = None,
    known_error: str = "",
    is_mistake: bool = False,
    width: int | None = None,
) -> Iterator[str]:
    """Lines with the answer in sentences, the suite's table, spending, errors and the path.

    `part` are the results of some of the runs: figures and errors are theirs. `wall_seconds` is None if it
    was not measured. Errors with the message `known_error`, which is shown elsewhere, are left out; with
    `is_mistake` no waiting helps against it. The table is at most `width` columns wide, if it is given.
    """
    shown, metadata = part or results, results.metadata
    if results.has_scores:
        # Made first: results without a summary are refused here, before anything is said of them.
        table = align(results.suite.table(shown.summary), width)
        yield from sentences.about(shown)
        yield ""
        yield from table
        yield ""
        yield from precision(shown.summary)
        yield from added.lines(results.sections)
        yield from askers.lines(shown.summary.get("asker"), results.sections.get("askers"), width)
    else:
        yield "no run has a score"
    yield from audit.summary_lines(results.audits, width)
    yield from references.lines(references.references(results.suite, results.audits, metadata.get("dataset")))
    yield from _spending_lines(metadata, wall_seconds)
    yield from _call_lines(metadata)
    errors = [error for error in shown.errors if not known_error or error["message"] != known_error]
    yield from _error_lines(errors)
    yield from _missing_runs_line(metadata, is_part=part is not None, is_mistake=is_mistake)
    if part is not None:
        covers, total = part.metadata["runs_expected"], metadata["runs_expected"]
        yield f"covers:    {covers:,} of {total:,} runs, those of this session; the results hold all"
    if shard := metadata.get("shard"):
        yield f"shard {shard}: when all are done, `equipoise merge` joins them"
    yield f"results: {results.file} ({completeness(results)})"


def overview(every: Iterable[Results], width: int | None = None) -> Iterator[str]:
    """A table with the headline of each suite, and of each model if there are several.

    It has the figure, its interval, and what it is.
    """
    rows = [("suite", "model", "figure", "95 % interval", "what it is")]
    for results in every:
        figure = next(iter(results.summary.get("metrics", {}).values()), NO_FIGURE)
        value = "-" if figure.value is None else f"{figure.value:.1f} {figure.unit}"
        words = results.suite.about.headline.rstrip(",")
        rows.append((results.suite.name, results.model, value, figure.limits(), words))
    has_models = len({model for _, model, *_ in rows[1:]}) > 1
    yield from align([row if has_models else (row[0], *row[2:]) for row in rows], width)


def completeness(results: Results) -> str:
    """The status of results, with the number of unscored runs if there are any."""
    status = str(results.metadata["status"])
    if status == NO_SCORES:
        return "no scores"
    return status if status != WITH_UNSCORED else f"complete, {len(results.errors):,} unscored"


def _spending_lines(metadata: Metadata, wall_seconds: float | None) -> Iterator[str]:
    calls, tokens, cost = metadata["calls"], metadata["tokens"], metadata["cost_usd"]
    estimated = metadata["usage_estimated"]
    for role in _ROLES if metadata["evaluator_models"] else _ROLES[:1]:
        used = tokens[role]
        mark = ", partly estimated" if estimated[role] else ""
        price = "" if cost[role] is None else f", {cost[role]:.4f} USD{mark}"
        input_tokens = f"{used['input']:,} tokens in{_describe_cache(metadata, role)}"
        yield f"{role + ':':<11}{input_tokens}, {used['output']:,} out{price}"
    counts = [f"{calls['made']:,} made", f"{calls['replayed']:,} replayed"]
    counts += [f"{calls['failed']:,} failed", f"{calls['retries']:,} retries"]
    counts += [f"{repeated:,} repeated"] if (repeated := calls.get("repeated")) else []
    counts += [f"{batched:,} batched"] if (batched := calls.get("batched")) else []
    wall_time = "" if wall_seconds is None else f"; wall time {duration(wall_seconds)}"
    yield f"calls:     {', '.join(counts)}{wall_time}"
    endpoints = metadata["endpoints"]
    if unknown := [role for role in _ROLES if cost[role] is None and endpoints.get(role) != FILE]:
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


def _error_lines(errors: Sequence[RunError]) -> Iterator[str]:
    for error in errors[:MOST_ERRORS]:
        yield f"{error['outcome']}: {error['run']}: {error['message']}"
    if len(errors) > MOST_ERRORS:
        yield f"... and {len(errors) - MOST_ERRORS} more under 'errors' in the results"


def _missing_runs_line(metadata: Metadata, *, is_part: bool, is_mistake: bool) -> Iterator[str]:
    missing = metadata["runs_expected"] - metadata["runs_completed"]
    if missing:
        next_step = "; run the same command again: it resumes from here"
        if is_mistake:
            next_step = "; once what stopped the session is mended, the command resumes from here"
        elif is_part:
            next_step = "; a session that selects them resumes from here"
        elif FILE in metadata["endpoints"].values():
            # The session says which files to have answered.
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
