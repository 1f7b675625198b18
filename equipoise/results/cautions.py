"""Sentences on how replies and labels were read, if that limits what the figures of results show."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from equipoise.results.document import Metadata
from equipoise.results.totals import Totals


def of_thoughts(totals: Totals) -> Iterator[str]:
    """The numbers of runs in which think tags leave open what is thought."""
    if count := len(totals.tagged["whole"]):
        yield (
            f"{count:,} {_runs_have(count)} a reply with think tags that do not say what is thought; "
            "it was judged as a whole"
        )
    # Where every reply lacks the opening tag, the chat template opens the thoughts.
    if totals.untagged and (count := len(totals.tagged["unopened"])):
        yield (
            f"{count:,} {_runs_have(count)} a reply with a closing think tag that nothing opens, unlike "
            "other replies; what stands before it was not judged"
        )


def of_given_replies(metadata: Metadata) -> Iterator[str]:
    """How many of the suite's runs the file of --replies has replies for."""
    if (replies := metadata.get("replies")) is not None:
        yield (
            f"the replies are those in {replies['name']}: {share_of_runs(metadata)}; "
            "how they were made is not known"
        )


def share_of_runs(metadata: Metadata) -> str:
    """How many of the suite's runs were selected, as in `112 of 750 runs`."""
    runs, left_out = metadata["runs_expected"], metadata["selection"]["deselected"]
    return f"{runs:,} of {runs + left_out:,} runs"


def _runs_have(count: int) -> str:
    return "run has" if count == 1 else "runs have"


def of_both(before: Metadata, after: Metadata) -> list[str]:
    """The sentences in the metadata of two compared results. Those of one kind are explained once."""
    of_baseline = before.get("cautions", ())
    explained = {without_numbers(text) for text in of_baseline}
    return [
        *(f"in the baseline, {text}" for text in of_baseline),
        *(f"in the candidate, {_short(text, explained)}" for text in after.get("cautions", ())),
    ]


def _short(text: str, explained: Collection[str]) -> str:
    """The sentence without the explanation after its colon, if that was given and has no number."""
    fact, _, explanation = text.partition(": ")
    is_known = without_numbers(text) in explained and without_numbers(explanation) == explanation
    return f"{fact}, too" if explanation and is_known else text


def without_numbers(text: str) -> str:
    """The text without the words that have a digit: two sentences of one kind have it in common."""
    return " ".join(word for word in text.split() if not any(map(str.isdigit, word)))
