"""How many of the replies in tests/data/replies each reader reads right, misreads and leaves, by form.

    python benchmarks/reading.py [--only SUITE]

The 1,200 replies are by three authors who did not know the code, and were written to be hard. For turnabout
the reader is the plain rule with the markers of its rubric; for borderlines it is the suite's own, `judging`,
and beside it the plain rule with the names that the question shows. Right, misread and left are counted among
replies that give one answer; where a reply gives none, or several, any answer is a wrong one. Of turnabout,
`again` is how many of the replies that are left are asked for again. A last table has those that are left for
good, by scale and by language, beside what their forms lead one to expect: the authors did not write the same
forms for all.

For the record, the reader of turnabout until November 2026, of 1,105 lines and 378 lines of words, read the
same 780 replies so: of 378 to questions with letters 277 right, 11 misread, 42 left, 12 of 14 refusals found;
of 402 to questions with numbers 231 right, 19 misread, 104 left. That of borderlines, of 970 and 1,283 lines,
read 134 of the 336 that name a country right, none wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import replies
from replies import Told

from equipoise.suites.borderlines import judging
from equipoise.suites.reading import read_letter, read_number

FORMS: Mapping[str, Sequence[str]] = {
    "alone": ("terse", "terse_md", "letter_form", "number_form", "percent_sign", "decimal", "fraction"),
    "marked": ("answer_line", "final_line", "bold", "heading", "markdown"),
    "as data": ("json", "json_code_latex", "code", "latex", "latex_boxed", "xml", "table", "checkbox"),
    "in lists, sections": ("list", "marked_list", "sections", "structure_markdown"),
    "in a sentence": ("sentence", "indirect", "short_name", "alias", "control_only"),
    "with an explanation": (
        *("sentence_or_explanation", "before_explanation", "before_expl", "after_explanation", "after_expl"),
        *("long", "cut_after_answer", "cut_off_answered"),
    ),
    "in words": (
        *("words", "words_only", "number_words", "two_words", "ordinal", "option_text"),
        *("echo_option", "echo_option_md"),
    ),
    "in another script": ("native_digits", "script_letter", "letter_script", "fullwidth", "other_language"),
    "untidy": ("typo", "typos", "typos_emoji", "emoji", "quotes", "sloppy_or_echo"),
    "with thoughts": ("think", "think_only"),
    "hedged": ("hedge", "refusal_then_answer"),
    "taken back": ("correction", "withdrawn", "markdown_strike"),
    "another is denied": ("negation", "negation_or_rejected_option", "rejected_option", "after_rejected"),
    "beside other numbers": (
        *("other_numbers", "other_numbers_beside", "other_percent", "other_pct", "other_pct_scale"),
        *("percent_converted", "echo_scale", "scale_turned_in_reply"),
    ),
    "a share, a range": (
        *("shares", "share_per_actor", "share_one", "ratio", "range", "range_choice", "range_with_choice"),
    ),
    "who is in control": (
        *("administered", "administered_claimed", "controlled_but_claimed", "defacto", "dejure_defacto"),
    ),
    "several, contradictory": (
        *("two_answers", "two_letters", "two_or_range", "several", "both", "depends", "contradictory"),
        *("reading_conflict", "letter_text_conflict"),
    ),
    "open": ("open", "open_or_nobody", "nobody", "disputed"),
    "refusals": ("refusal",),
    "no answer": (
        *("empty", "cut_off", "cut_or_no_answer", "unreadable", "unreadable_form", "off_list", "off_scale"),
        *("joke", "words_no_number"),
    ),
}
"""The authors' words for the forms of replies."""
FORM_OF = {how: form for form, names in FORMS.items() for how in names}
LEFT = ("left", "refused")
"""What becomes of a reply to turnabout that is neither read nor asked for again."""
HEAD = ("replies", "give one", "right", "misread", "left", "again", "give none", "misread")


@dataclass(kw_only=True)
class Row:
    """What a reader makes of replies: those that give one answer, and others."""

    one: Counter[str] = field(default_factory=Counter)
    none: Counter[str] = field(default_factory=Counter)
    again: int = 0

    def add(self, reply: Told, read: float | None) -> None:
        """Count a reply of which this was read."""
        if reply.answer is None:
            self.none["left" if read is None else "misread"] += 1
        else:
            self.one["left" if read is None else "right" if read == reply.answer else "misread"] += 1

    @property
    def cells(self) -> Sequence[int]:
        """The numbers below HEAD."""
        one, none = self.one.total(), self.none.total()
        counts = [self.one[name] for name in ("right", "misread", "left")]
        return (one + none, one, *counts, self.again, none, self.none["misread"])


Reader = Callable[[Told], float | None]


def by_rule(reply: Told) -> float | None:
    """What turnabout reads by the plain rule."""
    markers = replies.rubric("turnabout").markers(reply.case.language)
    if reply.case.options:
        return read_letter(reply.text, reply.case.options, markers).value
    return read_number(reply.text, reply.case.question, markers).value


def by_names(reply: Told) -> float | None:
    """What borderlines reads."""
    return judging.read(reply.case, reply.text)


def by_shown_names(reply: Told) -> float | None:
    """What the plain rule reads with the names that the question shows."""
    return read_letter(reply.text, reply.case.names).value


READERS: Sequence[tuple[str, str, Reader]] = (
    ("turnabout", "the plain rule", by_rule),
    ("borderlines", "its own reader", by_names),
    ("borderlines", "the plain rule, with the names shown", by_shown_names),
)


def rows(suite: str, read: Reader) -> dict[str, Row]:
    """A row for each form, and one for letters, numbers and all."""
    made = {form: Row() for form in (*FORMS, "letters", "numbers", "all")}
    for reply in replies.told(suite):
        answer = read(reply)
        is_again = suite == "turnabout" and replies.fate(reply) == "asked again"
        kind = "letters" if suite == "borderlines" or reply.case.options else "numbers"
        for name in (FORM_OF[reply.how], kind, "all"):
            made[name].add(reply, answer)
            made[name].again += is_again
    return {name: row for name, row in made.items() if row.cells[0]}


def left_for_good(group_of: Callable[[Told], str]) -> Iterator[str]:
    """The replies to turnabout that are neither read nor asked for again, by group, and as many as expected.

    Expected are those of a group whose forms are left as often as the same forms of all groups.
    """
    fates = [(reply, replies.fate(reply)) for reply in replies.told("turnabout") if reply.answer is not None]
    forms, groups = defaultdict[object, list[bool]](list), defaultdict[str, list[tuple[Told, str]]](list)
    for reply, fate in fates:
        forms[_form(reply)].append(fate in LEFT)
        groups[group_of(reply)].append((reply, fate))
    for group, members in sorted(groups.items()):
        counts = Counter(fate for _, fate in members)
        expected = sum(fmean(forms[_form(reply)]) for reply, _ in members)
        left = sum(counts[fate] for fate in LEFT)
        yield _line(group, (len(members), counts["right"], counts["asked again"], left, f"{expected:.1f}"))


def _form(reply: Told) -> object:
    return FORM_OF[reply.how], bool(reply.case.options)


def _language(reply: Told) -> str:
    return str(reply.case.language)


def _scale(reply: Told) -> str:
    return "letters" if reply.case.options else f"scales that go {reply.case.scale_direction}"


def lines(table: Mapping[str, Row]) -> Iterator[str]:
    """The table, its columns aligned."""
    yield _line("", HEAD)
    for name, row in table.items():
        yield _line(name, row.cells)


def _line(name: str, cells: Iterable[object]) -> str:
    return f"{name:<24}" + "".join(f"{cell:>10}" for cell in cells)


def main() -> None:
    """Print a table for each reader."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    for suite, name, read in READERS:
        if arguments.only in suite:
            print(f"{suite}: {name}", *lines(rows(suite, read)), sep="\n", end="\n\n")
    if arguments.only in "turnabout":
        head = _line("", ("replies", "right", "again", "left", "expected"))
        print("turnabout: left for good", head, *left_for_good(_scale), *left_for_good(_language), sep="\n")


if __name__ == "__main__":
    main()
