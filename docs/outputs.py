"""Pastes the output of commands into README.md and the pages in docs/: `make outputs`.

A block begins with a comment that names its command and ends with another:

    <!-- output: equipoise data validate with-rules -->
    ...
    <!-- end -->

Commands run in a fresh folder that has the project's tests, topics and rubrics and what is in docs/samples.
Arguments name pages; without any, all are brought up to date.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
BLOCK = re.compile(
    r"(?P<head><!-- output: (?P<command>.+?) -->\n)(?P<body>.*?)(?P<tail><!-- end -->)", re.DOTALL
)
SHARED = (
    "conftest.py",
    "pytest.ini",
    "Makefile",
    "pyproject.toml",
    "uv.lock",
    "tests_benchmark",
    "topics",
    "rubric",
)
"""What a command finds of the project, beside docs and examples."""


def pages() -> list[Path]:
    """README.md and every page, in order; not the copies of a built site."""
    return [ROOT / "README.md", *sorted([*DOCS.glob("*.md"), *DOCS.glob("suites/*.md")])]


def commands(text: str) -> Iterator[str]:
    """The commands whose output a page shows."""
    yield from (found["command"] for found in BLOCK.finditer(text))


def output(command: str) -> str:
    """What the command shows, in a terminal of 80 columns and with nothing of this environment's settings."""
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("EQUIPOISE_", "OPENAI_"))
    }
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**clean, "COLUMNS": "80", "PATH": programs}
    with tempfile.TemporaryDirectory() as folder:
        _fill(Path(folder))
        done = subprocess.run(  # noqa: S602 - the commands are those of our own pages
            command,
            shell=True,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    return done.stdout.rstrip()


def _fill(folder: Path) -> None:
    for name in (*SHARED, "docs", "examples", "equipoise"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copytree(DOCS / "samples", folder, dirs_exist_ok=True)


def replaced(text: str) -> str:
    """The page with every block as its command shows it now; a first line that begins with `$ ` stays."""
    return BLOCK.sub(
        lambda found: f"{found['head']}{_body(found['command'], found['body'])}{found['tail']}", text
    )


def _body(command: str, before: str) -> str:
    shown = output(command)
    if shown.startswith("###"):  # Markdown is shown as such.
        return f"\n{shown}\n\n"
    first = f"$ {command}\n" if before.startswith("```text\n$ ") else ""
    return f"```text\n{first}{shown}\n```\n"


def main(names: list[str]) -> None:
    """Rewrite the pages, or only those that are named."""
    for page in [Path(name).resolve() for name in names] or pages():
        text = page.read_text(encoding="utf-8")
        new = replaced(text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"{page.relative_to(ROOT)}: brought up to date")


if __name__ == "__main__":
    main(sys.argv[1:])
