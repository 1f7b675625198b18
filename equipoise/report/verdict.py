"""The verdict on a release: a table of its suites, then a line for each rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from equipoise.core.errors import printable
from equipoise.report.layout import align

if TYPE_CHECKING:
    from equipoise.results.document import GateVerdict, Ruling, Sections

VERDICTS = {"fail": "FAIL", "inconclusive": "INCONCLUSIVE", "pass": "PASS"}
"""Verdicts as they are shown, the worst first."""
_VERBS = {"fail": ("fails", "fail"), "inconclusive": ("is not decided", "are not decided")}
"""What a sentence says of one rule, and of several."""
SectionsBySuite = Mapping[str, "Sections"]
"""Sections of results by suite."""


def lines(suites: SectionsBySuite, width: int | None = None) -> Iterator[str]:
    """The verdict, the suites if there are several, the rulings, and changes of the model that answered.

    Empty if no suite has a gate. Control characters are escaped.
    """
    return map(printable, _lines(suites, width))


def _lines(suites: SectionsBySuite, width: int | None) -> Iterator[str]:
    gates = gates_of(suites)
    if not gates:
        return
    yield f"gate: {VERDICTS[worst_verdict(gates)]}{_describe_missing(gates)}"
    if len(suites) > 1:
        yield from align(suite_rows(suites), width)
    for _, line in ruling_lines(suites):
        yield line
    for gate in gates:
        yield from (f"answered:  {text}" for text in gate.get("answered", ()))
        yield from (f"caution:   {text}" for text in gate.get("cautions", ()))


def sentence(suites: SectionsBySuite) -> str:
    """The verdict in a sentence, with the required rules that decided it. At least one suite has a gate."""
    gates = gates_of(suites)
    verdict = worst_verdict(gates)
    decisive = [
        f"{ruling.rule} of {suite}" if len(suites) > 1 else ruling.rule
        for suite, sections in suites.items()
        for gate in gates_of({suite: sections})
        for ruling in gate["rules"]
        if ruling.required and ruling.verdict == verdict
    ]
    if verdict == "pass":
        what = "every rule passes"
    else:
        what = f"{', '.join(decisive)} {_VERBS[verdict][len(decisive) > 1]}"
    return f"Gate: {VERDICTS[verdict]}: {what}{_describe_missing(gates)}."


def gates_of(suites: SectionsBySuite) -> list[GateVerdict]:
    """The gates that have rules. A gate without rules has no verdict to show."""
    return [gate for sections in suites.values() if (gate := sections.get("gate")) and gate["rules"]]


def worst_verdict(gates: Iterable[GateVerdict]) -> str:
    """The verdict on all gates together: the worst of their verdicts."""
    verdicts = {gate["verdict"] for gate in gates}
    return next(verdict for verdict in VERDICTS if verdict in verdicts)


def _describe_missing(gates: Sequence[GateVerdict]) -> str:
    """A phrase on the number of runs without a score, which verdicts do not consider; empty if none."""
    missing, planned = sum(map(_missing, gates)), sum(gate["planned"] for gate in gates)
    return f"; {missing:,} of {planned:,} runs have no score" if missing else ""


def _missing(gate: GateVerdict) -> int:
    """The number of runs without a score, done or not."""
    return gate["unscored"] + gate["left"]


def suite_rows(suites: SectionsBySuite) -> list[tuple[str, ...]]:
    """A row for each suite, header first."""
    return [
        ("", "verdict", "rules that pass", "runs without a score"),
        *map(_suite_row, suites, suites.values()),
    ]


def _suite_row(suite: str, sections: Sections) -> tuple[str, ...]:
    gate = sections.get("gate")
    if not gate:
        return suite, "no rules", "-", "-"
    required = [ruling for ruling in gate["rules"] if ruling.required]
    passed = sum(ruling.verdict == "pass" for ruling in required)
    missing = f"{_missing(gate):,} of {gate['planned']:,}"
    return suite, VERDICTS[gate["verdict"]], f"{passed} of {len(required)}", missing


def ruling_lines(suites: SectionsBySuite) -> Iterator[tuple[Ruling, str]]:
    """Each ruling with its line; in each suite the worst first, and advisory ones last."""
    for suite, sections in suites.items():
        gate, comparison = sections.get("gate"), sections.get("comparison")
        prefix = f"{suite}: " if len(suites) > 1 else ""
        mark = "  [mismatch]" if comparison and comparison["mismatches"] else ""
        for ruling in sorted(gate["rules"], key=_rank_of) if gate else ():
            label = "gate" if ruling.required else "advisory"
            verdict = VERDICTS[ruling.verdict]
            yield ruling, f"{label} {verdict}: {prefix}{ruling.rule}: {ruling.why}{mark}"


def _rank_of(ruling: Ruling) -> tuple[bool, int]:
    return not ruling.required, list(VERDICTS).index(ruling.verdict)
