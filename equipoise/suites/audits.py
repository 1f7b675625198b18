"""Audits of evaluators, as suites declare them: where anchors are, how they are judged, and the checks.

An anchor is a text whose right verdict is known. Files of anchors for another version of the rubric are
rejected.
"""

from __future__ import annotations

import tomllib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from equipoise.core import toml_text
from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes
from equipoise.core.types import JSON
from equipoise.judge.anchors import Anchor, Anchors, Check, Design, Judged, Mirrors
from equipoise.judge.checks import Checked, Order, with_levels
from equipoise.judge.rubric import Rubric
from equipoise.suites.resources import contents_hash

# The module that calls models is slow to import.
if TYPE_CHECKING:
    from equipoise.judge.judge import Evaluator

R = TypeVar("R", bound=Rubric)
T = TypeVar("T")
Load = Callable[[Path, Path, R], Anchors]
"""Reads the anchors in the first folder for the questions in the second, by a rubric. Raises UserError."""


JudgeAnchor = Callable[[Anchor, R, "Evaluator"], Awaitable[Mapping[str, float | None]]]
"""An evaluator's verdict on an anchor as numbers, by aspect; None for an invalid verdict. Raises CallFailed.

The evaluator gets the same prompt as for a reply.
"""
QUICK, TWICE = Design(name="quick"), Design(name="full", times=2)


def no_character(kind: str, aspect: str) -> str | None:
    """No character, for suites whose anchors have no score on the headline's scale."""
    return None


@dataclass(frozen=True, kw_only=True)
class SuiteAudit(Generic[R]):
    """The test of a suite's evaluators on anchors."""

    load: Load[R]
    """The anchors, read from their files; see `in_file`."""
    judge: JudgeAnchor[R]
    """An evaluator's verdict on one anchor."""
    tests: Sequence[Checked]
    """The checks of one evaluator, declared, in their order; see `judge.checks`."""
    mirrors: Mirrors = ()
    """Pairs of anchor kinds that show a lean: the first kind's score minus the second's."""
    quick: Design = QUICK
    full: Design = TWICE
    character: Callable[[str, str], str | None] = no_character
    """The character of an anchor, given its kind and the aspect of a verdict: exemplary, refusing ...

    None unless the verdict's number lies on the headline's scale: reports show that number beside the
    headline."""

    @property
    def designs(self) -> Mapping[str, Design]:
        """The designs of an audit by name."""
        return {"quick": self.quick, "full": self.full}

    def checks(self, judged: Sequence[Judged], order: Order) -> tuple[Check, ...]:
        """The checks of one evaluator by its verdicts on anchors; pure. `order` is the field of `Anchors`."""
        return with_levels(check for test in self.tests for check in test(judged, order))


# Anchor files.


def in_file(name: str, anchors: Callable[[Mapping[str, JSON], Path, R], Iterable[Anchor]]) -> Load[R]:
    """Loads the anchors of one file, given its content, the folder of questions and the rubric."""

    def load(folder: Path, topics: Path, rubric: R) -> Anchors:
        path = folder / name
        data = read_for(path, rubric)
        with naming(str(path)):
            return Anchors(texts=[*anchors(data, topics, rubric)], hash=contents_hash([path]))

    return load


def read(path: Path) -> dict[str, JSON]:
    """The content of an anchor file. Raises UserError that names the file."""
    try:
        return toml_text.loads(read_bytes(path).decode())
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid TOML ({error})") from None


def read_for(path: Path, rubric: Rubric) -> dict[str, JSON]:
    """The content of a file of anchors written for this version of the rubric. Raises UserError."""
    data = read(path)
    if data.get("rubric") != rubric.version:
        raise UserError(
            f"{path}: its bounds are for version {data.get('rubric')} of the rubric, which is now at "
            f"version {rubric.version}; check the anchors against the rubric, then change their version"
        )
    return data


def of_each(data: Mapping[str, JSON], table: str, read_row: Callable[[Mapping[str, Any]], T]) -> list[T]:
    """The results of `read_row` for the rows of a table. Raises UserError naming the row."""
    results = []
    for number, row in enumerate(data.get(table, ()), 1):
        with naming(f"{table} {number}"):
            results.append(read_row(row))
    return results


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Turn an error, such as a missing key or an unusable value, into a UserError that says where it is."""
    try:
        yield
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    except KeyError as error:
        raise UserError(f"{where}: {error} is missing") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise UserError(f"{where}: a value that cannot be read ({error})") from None
