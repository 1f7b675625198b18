"""Answers about territories, counted: how they were read, whom they name, where languages disagree. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, zip_longest

from equipoise.disputes import CONTROL, UNKNOWN
from equipoise.stats import mean
from equipoise.types import JSON


def by_strategy(results: Mapping[str, JSON]) -> dict[str, dict[str, JSON]]:
    """The results of each strategy alone, in the same shape."""
    found: dict[str, dict[str, JSON]] = {}
    for language, part in results.items():
        for row in part["queries"]:
            mine = found.setdefault(row["strategy"], {}).setdefault(language, {"queries": []})
            mine["queries"].append(row)
    return found


def _queries(results: Mapping[str, JSON]) -> Iterator[Mapping[str, JSON]]:
    for found in results.values():
        yield from found["queries"]


Answered = tuple[Mapping[str, JSON], Mapping[str, JSON]]
"""A query with a run of it that has an answer."""


def _answered(results: Mapping[str, JSON]) -> Iterator[Answered]:
    """Each query with each run of it that has an answer."""
    return ((row, run) for row in _queries(results) for run in row["runs"] if run["answer"])


def read_by(results: Mapping[str, JSON]) -> dict[str, int]:
    """How many answers were read how."""
    found = Counter(dict.fromkeys(("name", "letter", "evaluator"), 0))
    found.update(run["how"] for _, run in _answered(results))
    return dict(found)


def as_the_original_reads(results: Mapping[str, JSON]) -> float | None:
    """In percent, how often the original's way of reading gives the same country."""
    return mean([100.0 * (run["answer"] == run["original"]) for _, run in _answered(results)])


def by_language(results: Mapping[str, JSON]) -> dict[str, JSON]:
    """For each language how many answers there are, and how often they name the controller.

    `controller` is that share in percent, of `n` answers about `territories` whose controller is known.
    Claimants that are asked in English beside the control stand by themselves, as `en-claimant`.
    """
    found: dict[str, list[Answered]] = {}
    for row in _queries(results):
        apart = "-claimant" if row.get("voice") == "claimant" else ""
        answered = found.setdefault(f"{row['language']}{apart}", [])
        answered += [(row, run) for run in row["runs"] if run["answer"]]
    return {language: _controlled(answered) for language, answered in found.items()}


def _controlled(answered: Sequence[Answered]) -> dict[str, JSON]:
    known = [(row, run) for row, run in answered if row["controller"] != UNKNOWN]
    hits = [(row["territory"], run["answer"] == row["controller"]) for row, run in known]
    return {"answers": len(answered), **_share("controller", hits)}


def by_claimant(results: Mapping[str, JSON]) -> dict[str, JSON]:
    """For each country in percent how often it is named, in its own language and in others.

    A control that was asked beside the claimant is not the claimant's own.
    """
    named: dict[str, dict[str, list[tuple[str, bool]]]] = {}
    for row, run in _answered(results):
        for code in row["claimants"]:
            is_own = row["speaks"].get(code) == row["language"] and row.get("voice") != "control"
            side = "own" if is_own else "others"
            sides = named.setdefault(code, {"own": [], "others": []})
            sides[side].append((row["territory"], run["answer"] == code))
    return {
        code: {side: _share("named", hits) for side, hits in sides.items()}
        for code, sides in sorted(named.items())
    }


def _share(name: str, hits: Sequence[tuple[str, bool]]) -> dict[str, JSON]:
    """Of territories with what was a hit or none: the share in percent with its 95 % interval.

    `n` counts hits and misses, `territories` what they are clustered by.
    """
    # Numpy comes with it.
    from equipoise.stats.clusters import clustered_rate

    counted, right = Counter(slug for slug, _ in hits), Counter(slug for slug, hit in hits if hit)
    found = clustered_rate([right[slug] for slug in counted], [*counted.values()])
    shares = {name: found.value, "low": found.low, "high": found.high}
    percents = {key: None if share is None else 100 * share for key, share in shares.items()}
    return {"n": len(hits), "territories": found.n, **percents}


Told = dict[str, list[str | None]]
"""The answers of each run to the queries of a territory, by language."""


def disagreements(results: Mapping[str, JSON], most: int = 10) -> dict[str, JSON]:
    """Where languages are told different things, by claimants' languages, run by run.

    `language_pairs` has the share in percent of answers in which two languages were told the same, the lowest
    first; `territories` those with the most different countries in a run on average, with the answers of all
    runs in every language, and in the English control, which counts only where a claimant speaks English.
    """
    told, control = _told(results)
    pairs: dict[tuple[str, str], list[tuple[str, bool]]] = {}
    for slug, answers in told.items():
        for (a, mine), (b, others) in combinations(sorted(answers.items()), 2):
            both = [(slug, x == y) for x, y in zip(mine, others, strict=False) if x and y]
            pairs.setdefault((a, b), []).extend(both)
    shares: list[dict[str, JSON]] = [
        {"first": a, "second": b, **_share("alike", hits)} for (a, b), hits in pairs.items() if hits
    ]
    rows: list[dict[str, JSON]] = [
        {"territory": slug, "countries": count, "answers": answers, "control": control.get(slug, [])}
        for slug, answers in told.items()
        if (count := _countries(answers)) > 1
    ]
    return {
        "language_pairs": sorted(shares, key=lambda pair: (pair["alike"], -pair["n"]))[:most],
        "territories": sorted(rows, key=lambda row: -row["countries"])[:most],
    }


def _told(results: Mapping[str, JSON]) -> tuple[dict[str, Told], Told]:
    """Answers by territory in the languages that count, and those to the control."""
    told: dict[str, Told] = {}
    control: Told = {}
    for row in _queries(results):
        said = [run["answer"] for run in row["runs"]]
        if row["language"] == CONTROL and row.get("voice") != "claimant":
            control[row["territory"]] = said
        if row["language"] in row["asked"] and row.get("voice") != "control":
            told.setdefault(row["territory"], {})[row["language"]] = said
    return told, control


def _countries(answers: Told) -> float:
    """How many different countries a run names on average, of the runs that name any."""
    runs = [{*filter(None, said)} for said in zip_longest(*answers.values())]
    return mean([float(len(named)) for named in runs if named]) or 0.0
