"""The options of Chinese SimpleQA, and descriptions of how a changed option affects metrics.

A `describe` function returns an empty text if the option has not changed.
"""

from __future__ import annotations

from collections.abc import Mapping

from equipoise.core.errors import UserError
from equipoise.core.figures import Change
from equipoise.core.options import Option, one_of, parse_existing, parse_function
from equipoise.core.types import JSON
from equipoise.suites.chinese_simpleqa import retrieval
from equipoise.suites.selection import Selection
from equipoise.suites.shared_options import DATASET, SEED

Changes = Mapping[str, Change]
"""Changes by metric."""


def describe_passages(before: JSON, after: JSON, changes: Changes) -> str:
    """The gain in F from passages."""
    if bool(before) == bool(after):
        return ""
    return f"passages {'given' if after else 'left out'}: {_gain(changes)}"


def describe_style(before: JSON, after: JSON, changes: Changes) -> str:
    """The gain in F from another style of the prompt."""
    return "" if before == after else f"prompt style {before}, then {after}: {_gain(changes)}"


def describe_confidence(before: JSON, after: JSON, changes: Changes) -> str:
    """The gain in F from asking for a confidence."""
    if bool(before) == bool(after):
        return ""
    return f"confidence {'asked for' if after else 'not asked for'}: {_gain(changes)}"


def describe_format(before: JSON, after: JSON, changes: Changes) -> str:
    """The drop in CO from a choice to open answers, whichever came first.

    Between the two formats of a choice, it is the drop from the earlier session to the later one.
    """
    if before == after:
        return ""
    first, last = changes["correct"].before, changes["correct"].after
    if first is None or last is None:
        return f"answers {before}, then {after}: CO is not known for both"
    if before == "open":
        before, after, first, last = after, before, last, first
    share = f", {100 * (first - last) / first:.1f} % of it" if first else ""
    drop = f"CO {first:.2f} % to {last:.2f} %, a drop of {first - last:.2f} pp{share}"
    return f"from {before} to {after} answers: {drop}"


def _gain(changes: Changes) -> str:
    """The change of F and its interval as text."""
    change = changes["f"]
    if change.value is None:
        return "F is not known for both"
    limits = "" if change.low is None else f" ({change.low:+.2f} to {change.high:+.2f})"
    return f"F {change.value:+.2f} pp{limits}"


PROMPT_STYLE = Option(
    flag="--prompt-style",
    parse=one_of("direct", "recall", "step_by_step", "few_shot"),
    default="direct",
    metavar="HOW",
    help="recall facts or reason first, or continue a text of examples (default direct)",
    comparable="study",
    label="prompt style",
    effect=describe_style,
)
ANSWER_FORMAT = Option(
    flag="--answer-format",
    parse=one_of("open", "choice", "shuffled"),
    default="open",
    metavar="HOW",
    help="offer four answers, sorted or shuffled by question (default open)",
    comparable="study",
    label="answer format",
    effect=describe_format,
)
CONFIDENCE = Option(
    flag="--confidence",
    switch=True,
    default=False,
    help="ask how sure the model is, 0 to 100",
    comparable="study",
    label="confidence",
    effect=describe_confidence,
)
RETRIEVAL = Option(
    flag="--retrieval",
    parse=parse_existing,
    metavar="PATH",
    help="give passages from this folder or file",
    comparable="study",
    label="retrieval",
    is_local=True,
    shown=retrieval.corpus_entry,
    effect=describe_passages,
)
RETRIEVER = Option(
    flag="--retriever",
    parse=parse_function,
    metavar="M:F",
    help="your own function that finds the passages, module:function",
    comparable="study",
    label="retriever",
    is_local=True,
)
OPTIONS = (DATASET, PROMPT_STYLE, ANSWER_FORMAT, SEED, CONFIDENCE, RETRIEVAL, RETRIEVER)


def check_options(selection: Selection) -> None:
    """Raise UserError for options that exclude each other, or for a corpus that cannot be searched."""
    style, form = selection.option(PROMPT_STYLE), selection.option(ANSWER_FORMAT)
    is_confident, corpus = selection.option(CONFIDENCE), selection.option(RETRIEVAL)
    if style == "few_shot" and (form != "open" or is_confident or corpus):
        raise UserError(
            "--prompt-style few_shot: a text is continued, so it goes with open answers only; "
            "leave out --answer-format, --confidence and --retrieval"
        )
    if is_confident and style != "direct":
        raise UserError("--confidence: the answer is a JSON object alone; leave out --prompt-style")
    if is_confident and form != "open":
        raise UserError("--confidence: is asked for beside an open answer; leave out --answer-format")
    if selection.option(SEED) and form != "shuffled":
        raise UserError("--seed: shuffles options; add --answer-format shuffled, or leave it out")
    if selection.option(RETRIEVER) and not corpus:
        raise UserError("--retriever: needs --retrieval, the folder or file that it looks in")
    if corpus:
        retrieval.check(corpus, selection.option(RETRIEVER))
