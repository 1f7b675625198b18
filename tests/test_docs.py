"""Documentation: tables are those of the code, examples run, links lead somewhere, outputs are of today."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from functools import cache
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

import pytest
from builders import SUITE
from fake_client import Project

from conftest import ROOT
from equipoise import suites
from equipoise.report.export import FORMATS
from equipoise.results import document, schema
from equipoise.results.table import COLUMNS
from equipoise.runner.transports import session_options

DOCS = ROOT / "docs"
DESCRIBED = ("Document", "RunResult")
"""The parts of the schema whose keys the page on it describes."""
NAMED = ("Metadata", "Summary", "Figure", "LanguageResult", "QuestionResult", "RunError")
"""Those whose keys it names: the schema, and the site, describe them."""


TEXTS = sorted(
    ROOT / name
    for name in subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout.split()
)


def script(name: str) -> ModuleType:
    """A script in docs/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def anchors(path: Path) -> set[str]:
    """What a link may name in a page: its headings as code hosts spell them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    names = set()
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        name = (
            re.sub(r"[^\w\- ]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading))
            .strip()
            .lower()
            .replace(" ", "-")
        )
        names.add(next(unique for n in range(100) if (unique := f"{name}-{n}" if n else name) not in names))
    return names


def is_broken(source: Path, link: str) -> bool:
    """Whether a link leads nowhere in the project, or is no address that a browser takes."""
    if "://" in link:
        parts = urlsplit(link)
        return parts.scheme not in ("http", "https") or not parts.hostname or not link.isascii()
    name, _, anchor = link.partition("#")
    target = source.parent / name if name else source
    return not target.exists() or bool(anchor and anchor not in anchors(target.resolve()))


def page(name: str) -> str:
    """A page's text."""
    return (DOCS / name).read_text(encoding="utf-8")


def examples() -> list[str]:
    """The examples of the page on the Python API, in order."""
    return re.findall(r"```python\n(.*?)```", page("notebook.md"), re.DOTALL)


def test_the_page_on_exports_has_every_column() -> None:
    """By name, with what is not plain; the site has a table. And every format."""
    assert [column.name for column in COLUMNS if f"`{column.name}`" not in page("notebook.md")] == []
    assert [name for name in FORMATS if f"`{name}`" not in page("notebook.md")] == []


def test_the_page_on_results_has_every_key() -> None:
    """Each with its description, which none lacks."""
    parts = schema.results_schema()["$defs"]
    for part in DESCRIBED:
        keys = {name: parts[part]["properties"][name] for name in schema.key_types(getattr(document, part))}
        rows = [f"| `{name}` | {key['description']} |" for name, key in keys.items()]
        assert "\n".join(rows) in page("results.md"), part


@pytest.mark.slow
def test_the_pages_name_every_other_key() -> None:
    """On results, or as an option; each has a description."""
    named = set(re.findall(r"[a-z_0-9]+", page("results.md")))
    options = {option.name for option in session_options()}
    for part in NAMED:
        keys, described = (
            schema.key_types(getattr(document, part)),
            schema.results_schema()["$defs"][part]["properties"],
        )
        assert [key for key in keys if key not in named | options] == [], part
        assert all(described[key]["description"] for key in keys)


def test_examples_run(project: Project) -> None:
    """One after the other, in a project; those that ask models first, as the others read what they wrote."""
    project.write_topics()
    for number, example in enumerate(sorted(examples(), key=lambda text: "equipoise.run(" not in text)):
        exec(compile(example, f"example {number}", "exec"), {})  # noqa: S102 - our own
    written = {path.name for path in (project.root / "results").glob("*.json")}
    assert written == {f"gpt-x{name}.neutrality.json" for name in ("", "-1", "-2")}


@pytest.mark.slow
def test_examples_have_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A type checker in strict mode finds nothing wrong with any, or with the example suite."""
    from mypy import api

    monkeypatch.chdir(ROOT)
    for number, example in enumerate(examples()):
        (tmp_path / f"example_{number}.py").write_text(example, encoding="utf-8")
    suite = ROOT / "examples/sixth_suite/suites"
    checked: tuple[str, str, int] = api.run(["--strict", *map(str, [*sorted(tmp_path.glob("*.py")), suite])])
    assert checked[2] == 0, checked[0]


def test_links_lead_somewhere() -> None:
    """In every page of the project, to the heading that is named."""
    broken = {
        path.relative_to(ROOT).as_posix(): wrong
        for path in TEXTS
        if (
            wrong := [
                link
                for link in re.findall(r"\]\(([^()\s]+)\)", path.read_text(encoding="utf-8"))
                if is_broken(path, link)
            ]
        )
    }
    assert broken == {}


def test_the_list_of_pages_has_every_page() -> None:
    """The site's navigation is made of it."""
    listed = set(re.findall(r"\]\(([\w/-]+\.md)\)", page("index.md")))
    there = {path.relative_to(DOCS).as_posix() for path in TEXTS if DOCS in path.parents}
    assert listed == there - {"index.md"}


def test_the_page_on_options_has_every_option() -> None:
    """And those of suites; an option's names follow from its flag, as the page says."""
    text = page("options.md")
    assert "`--max-cost` is `EQUIPOISE_MAX_COST`, `equipoise_max_cost` and `max_cost`" in text
    shipped = [option for option, takers in suites.options().items() if [*takers] != [SUITE]]
    rows = {name for row in re.findall(r"^\| `--.*", text, re.M) for name in re.findall("`(.+?)`", row)}
    for option in (*session_options(), *shipped):
        name = option.flag.removeprefix("--").replace("-", "_")
        assert option.usage in rows, option.flag
        assert (option.name, option.variable, option.ini_key) == (
            name,
            f"EQUIPOISE_{name.upper()}",
            f"equipoise_{name}",
        )


def test_nothing_is_installed_by_the_projects_name() -> None:
    """No index has it, so that anyone may take it there: commands name a folder or a file."""
    texts = [*TEXTS, ROOT / "Dockerfile", ROOT / "Makefile", *(ROOT / "equipoise").rglob("*.py")]
    by_name = re.compile(
        r"""(?:pip install|pipx|uvx|uv (?:add|tool|pip)\b)[^\n`#]*[ '"]equipoise(?![\w./-])"""
    )
    names = [path.name for path in texts if by_name.search(path.read_text(encoding="utf-8"))]
    assert names == []


OF_OTHERS = ("HTTP ", "unrecognized arguments", "equipoise: command", "-")
"""How messages begin that are an endpoint's, pytest's or a shell's, and what stands in a table's cells."""


def test_messages_in_troubleshooting_are_those_of_the_code() -> None:
    """Every piece of a message by which a reader looks for help."""
    code = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "equipoise").rglob("*.py")))
    joined = re.sub(r'"\s*\n\s*f?"', "", code)
    cells = re.findall(r"^\| (.*?) \| ", page("troubleshooting.md"), re.MULTILINE)
    shown = [text for cell in cells for text in re.findall(r"`(.+?)`", cell)]
    ours = [text for text in shown if not text.startswith(OF_OTHERS)]
    pieces = [piece.strip() for text in ours for piece in text.split("...")]
    assert len(pieces) > 20
    assert [piece for piece in pieces if piece not in joined] == []


def test_every_page_says_when_to_read_it() -> None:
    """In the line below its title."""
    pages = [path for path in TEXTS if DOCS in path.parents and path.name != "index.md"]
    lines = {path.name: path.read_text(encoding="utf-8").splitlines()[2] for path in pages}
    assert [name for name, line in lines.items() if not line.startswith("Read this ")] == []


@pytest.mark.slow
def test_outputs_are_those_of_today() -> None:
    """`make outputs` would change nothing, the demo aside."""
    outputs = script("outputs")
    for path in outputs.pages():
        text = path.read_text(encoding="utf-8")
        if "output: make" not in text:
            assert outputs.replaced(text) == text, path.name
