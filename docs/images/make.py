"""Takes the pictures of a page of results that the documentation shows: `make screenshots`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

WIDTH, HEIGHT = 1180, 860


def main(page: Path, folder: Path) -> None:
    """The overview, a suite's figures and a run, each as it is seen first."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        seen = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        seen.goto(page.resolve().as_uri())
        seen.locator("html.ready").wait_for(state="attached")
        seen.screenshot(path=folder / "report-overview.png")
        _show(seen, "#models")
        seen.screenshot(path=folder / "report-model.png")
        _show(seen, "#transcripts")
        seen.locator("#runs tbody a").first.click()
        seen.locator("#run h2").wait_for()
        seen.screenshot(path=folder / "report-run.png")
        browser.close()


def _show(page: Page, fragment: str) -> None:
    page.evaluate("fragment => { location.hash = fragment; }", fragment)
    page.locator(f"{fragment}.shown").wait_for()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
