"""The registry of suites: shipped with Equipoise, installed, or in the user's project."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from traceback import walk_tb
from types import ModuleType
from typing import Any

from equipoise import suites
from equipoise.core.errors import UserError
from equipoise.core.options import Option
from equipoise.core.quantities import first_sentence
from equipoise.judge.rubric import Rubric, levels_kept
from equipoise.suites import naming
from equipoise.suites.contract import AnySuite, Suite
from equipoise.suites.resources import SHIPPED, dataset_folder, nearest

TESTS = "tests_benchmark"
"""The folder of a project that contains a test file for each suite."""
GROUP = "equipoise.suites"
"""The entry-point group of suites in installed packages."""
_WRONG_FIELDS = "Suite.__init__() "
"""The beginning of the TypeError's message if `Suite` is called with wrong arguments."""


@cache
def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


@cache
def names() -> tuple[str, ...]:
    """The names of all suites, sorted."""
    packages = (module.name for module in iter_modules(suites.__path__) if module.ispkg)
    return tuple(sorted({*packages, *_installed()}))


def require(name: str, *others: str) -> None:
    """Raise UserError unless `name` is a suite or one of `others`."""
    known = [*names(), *others]
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}? There" if near else "there"
        raise UserError(f"there is no suite {name!r}; {hint} are {', '.join(known)}")


def add_project(start: Path) -> None:
    """Add a project's own suites: the packages in `suites` beside its benchmark tests.

    The project is the nearest folder with benchmark tests, from `start` upwards.
    """
    folder = _project(start) / "suites"
    if folder.is_dir() and str(folder) not in suites.__path__:
        # The packages become importable as `equipoise.suites.NAME`, like those that are shipped.
        suites.__path__.append(str(folder))
        for function in (names, load, options):
            function.cache_clear()


def _project(start: Path) -> Path:
    return next((folder for folder in (start, *start.parents) if (folder / TESTS).is_dir()), start)


def require_consistent_names(start: Path, *, with_data: bool = False) -> None:
    """Raise UserError, saying what to rename, if the parts of a suite of the project differ in name.

    The project is found as in `add_project`. Rubric and data count only if `with_data` is set.
    """
    folder = _project(start)
    if (folder / "suites").is_dir():
        # Some rubrics belong to commands, such as translate, and to no suite.
        rubrics = {path.stem for path in (SHIPPED / "rubric").glob("*.toml")}
        project_suites = {path.parent.name for path in (folder / "suites").glob("*/__init__.py")}
        other_names = {*names(), *rubrics} - project_suites
        naming.require_consistent_names(folder, TESTS, other_names, with_data=with_data)


def _package(name: str) -> ModuleType:
    point = _installed().get(name)
    return _imported(name, point.load if point else partial(import_module, f"{suites.__name__}.{name}"))


def _imported(name: str, do_import: Callable[[], ModuleType]) -> ModuleType:
    """A module of a suite. Raises UserError, naming file and line, for anything that its code raises."""
    try:
        return do_import()
    except KeyboardInterrupt:
        raise
    except UserError as error:
        raise UserError(f"suite {name!r}: {error}") from None
    except BaseException as error:
        # Including SystemExit, which would end the whole session.
        reason = str(error).removeprefix(_WRONG_FIELDS)
        if isinstance(error, TypeError) and str(error).startswith(_WRONG_FIELDS):
            raise UserError(f"suite {name!r}: Suite(...): {reason}; see docs/adding-a-suite.md") from None
        raise UserError(
            f"suite {name!r}: cannot be imported: {_line_of(error)}: {type(error).__name__}"
            f"{f': {reason}' if reason else ''}; mend it, or move its folder out of suites/"
        ) from error


def _line_of(error: BaseException) -> str:
    """The last line of the suite's own files in the traceback of a failed import, as file:line."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    importers = (__file__, str(Path(import_module.__code__.co_filename).parent), "<")
    frames = ((frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__))
    lines = [(file, line) for file, line in frames if not file.startswith(importers)]
    if not lines:
        return "its package"
    # The first file is in the suite's folder. The last may be elsewhere, in a library that the suite calls.
    folder = Path(lines[0][0]).parent
    file, line = next((item for item in reversed(lines) if folder in Path(item[0]).parents), lines[0])
    return f"{file}:{line}"


def purpose(name: str) -> str:
    """The first sentence of a suite's package, after its title and colon if it has one. Raises UserError."""
    sentence = first_sentence(_package(name).__doc__ or "")
    _, colon, purpose = sentence.partition(": ")
    return purpose[:1].upper() + purpose[1:] if colon else sentence


@cache
def load(name: str) -> AnySuite:
    """The suite of that name. Raises UserError if its package has no valid SUITE."""
    package = _package(name)
    suite = getattr(package, "SUITE", None)
    if not isinstance(suite, Suite):
        raise UserError(
            f"{package.__file__}: has no SUITE: "
            "SUITE = Suite(name=..., data=Data(cases=...), evaluate=...); "
            "see docs/adding-a-suite.md"
        )
    if suite.name != name:
        raise UserError(f"{package.__file__}: its SUITE is called {suite.name!r}; call it {name!r}")
    return suite


def unloadable() -> Mapping[str, UserError]:
    """The suites that cannot be loaded, such as one whose code raises, each with the reason."""
    reasons: dict[str, UserError] = {}
    for name in names():
        try:
            load(name)
        except UserError as error:
            reasons[name] = error
    return reasons


def loadable() -> list[str]:
    """The names of the suites that can be loaded, sorted: one faulty suite must not stop the others."""
    reasons = unloadable()
    return [name for name in names() if name not in reasons]


def rubric_path(suite: AnySuite, dataset: str | None, root: Path) -> Path:
    """The path of the rubric for a dataset: the project's file below `root`, or the shipped one.

    If the rubric was published with the data, the path is the folder of the data. Raises UserError if the
    data are missing or changed.
    """
    if suite.judging.scale_in_data:
        return dataset_folder(suite.name, dataset, root)
    return nearest(f"rubric/{suite.name}.toml", root)


def scale_warning(suite: AnySuite, rubric: Rubric) -> str | None:
    """A warning if a rubric's scale is not the shipped one, but its prompt still names the shipped levels."""
    path = SHIPPED / "rubric" / f"{suite.name}.toml"
    if suite.judging.scale_in_data or not path.is_file():
        return None
    original = suite.judging.rubric(path)
    if not (sentences := levels_kept(rubric, original)):
        return None
    own, shipped = (f"{item.scale.low} to {item.scale.high}" for item in (rubric, original))
    return (
        f"the scale is {own}, but the prompt keeps what the shipped rubric says of levels from {shipped}: "
        f"{', '.join(map(_ends_of, sentences))}; change these levels"
    )


def _ends_of(text: str) -> str:
    return repr(text) if len(text) <= 64 else repr(f"{text[:30].rstrip()} ... {text[-30:].lstrip()}")


def modules(module: str) -> dict[str, Any]:
    """The modules of this name in the packages of suites, by suite; suites without one are left out."""
    packages = {name: _package(name).__name__ for name in loadable()}
    return {
        name: _imported(name, partial(import_module, f"{package}.{module}"))
        for name, package in packages.items()
        if find_spec(f"{package}.{module}")
    }


@cache
def options() -> Mapping[Option, Sequence[str]]:
    """The options of single suites, each with the names of the suites that take it.

    A suite that cannot be loaded has none here; `load` says why. Raises UserError if two suites declare an
    option differently.
    """
    by_name: dict[str, tuple[Option, list[str]]] = {}
    for name in loadable():
        for option in load(name).options:
            first, suite_names = by_name.setdefault(option.name, (option, []))
            if first != option:
                raise UserError(
                    f"{option.flag}: the suites {suite_names[0]} and {name} declare it in two ways"
                )
            suite_names.append(name)
    return dict(by_name.values())


def defaults_of(selected: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    """The defaults of session options by suite and option; a suite without judging has no evaluator."""
    by_name = {name: load(name) for name in selected}
    return {
        name: suite.defaults if suite.judging.form else {**suite.defaults, "evaluator_model": None}
        for name, suite in by_name.items()
    }
