"""Makes the pictures of a page of results that the documentation shows: `make screenshots`.

They show the built-in model, asked three times under three names, as if these were three models.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, ViewportSize, sync_playwright

from equipoise.models.local import weights

WORK = Path(".cache/screenshots")
TAKES = ("SmolLM2-take-1", "SmolLM2-take-2", "SmolLM2-take-3")
QUESTIONS = ("q03", "q13", "q54", "q27", "q43", "q44")
"""Each of an area of its own."""
SHORT = (
    "--language",
    "en-US,pt-BR",
    "--runs",
    "1",
    "--subject-max-tokens",
    "110",
    "--evaluator-max-tokens",
    "120",
)
WIDE: ViewportSize = {"width": 1180, "height": 800}
TALL: ViewportSize = {"width": 1180, "height": 1060}
PHONE: ViewportSize = {"width": 390, "height": 700}


def main(folder: Path) -> None:
    """Run the sessions that are not done yet, and take each picture."""
    WORK.mkdir(parents=True, exist_ok=True)
    results = [_session(take) for take in TAKES]
    _equipoise("report", *results, "-o", "page.html")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        _take(browser, folder / "report-overview.png", "#overview", size=TALL)
        _take(browser, folder / "report-run.png", "#lowest", opens="#lowest-runs h2 a")
        _take(browser, folder / "report-beside.png", "#sides", opens="#sides-list tbody a")
        _take(browser, folder / "report-review.png", "#review", opens="#start", scheme="dark")
        _take(browser, folder / "report-phone.png", "#overview", size=PHONE, at="#overview table")
        browser.close()


def _session(take: str) -> str:
    """The results of the built-in model under this name, that of a link to its weights."""
    named = WORK / f"{take}.gguf"
    if not named.exists():
        named.symlink_to(weights("local"))
    results = f"results/{take}.json"
    model = ("--model", f"local:{named.name}", "--evaluator-model", "local")
    asked = ("-k", " or ".join(f"{question}_" for question in QUESTIONS))
    # A model this small gives some replies no verdict, which is exit status 1.
    _equipoise("run", "neutrality", *model, *asked, *SHORT, "--output", results, expected=(0, 1))
    return results


def _equipoise(*command: str, expected: tuple[int, ...] = (0,)) -> None:
    program = Path(sys.executable).with_name("equipoise")
    done = subprocess.run((program, *command), cwd=WORK, check=False)  # noqa: S603
    if done.returncode not in expected:
        raise SystemExit(done.returncode)


def _take(
    browser: Browser,
    picture: Path,
    view: str,
    *,
    opens: str = "",
    at: str = "",
    scheme: Literal["light", "dark"] = "light",
    size: ViewportSize = WIDE,
) -> None:
    """A picture of a view: of what is there once something was clicked, from some element on."""
    page = browser.new_page(viewport=size, color_scheme=scheme)
    page.goto(f"{(WORK / 'page.html').resolve().as_uri()}{view}")
    page.locator("html.ready").wait_for(state="attached")
    if opens:
        page.locator(opens).first.click()
        page.locator("#run h2, #asked h2").wait_for()
        page.mouse.move(0, 0)
    if at:
        page.locator(at).first.evaluate("one => one.scrollIntoView()")
    page.screenshot(path=picture)
    page.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
