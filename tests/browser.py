"""Chromium without a window, which keeps what a page says on its console and what it asks the network for."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium")
LONG = 60_000
"""Milliseconds to wait for what comes at once, on a machine where others are busy."""
expect.set_options(timeout=LONG)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser, as the system has it."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Opened:
    """A page that is open, with all that it complained of and every request but that for itself."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        self.path = path
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.set_default_timeout(LONG)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))

    def goto(self, fragment: str = "") -> Opened:
        """Open it anew at this fragment, and wait until its script is done."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.path.as_uri()}{fragment}")
        self.page.locator("html.ready").wait_for(state="attached")
        return self

    def see(self, fragment: str) -> None:
        """Follow a link inside the page."""
        self.page.evaluate("fragment => { location.hash = fragment; }", fragment)

    def second_window(self) -> Page:
        """The same page in another window of the same person: what the first has kept is there, now or soon.

        A reload is no test of that: Chromium may forget what was stored just before one.
        """
        page = self.page.context.new_page()
        page.set_default_timeout(LONG)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(self.page.url)
        page.locator("html.ready").wait_for(state="attached")
        return page

    @property
    def left(self) -> list[str]:
        """Requests for anything but the page itself, or for what it made itself."""
        own = (self.path.as_uri(), "about:", "blob:")
        return [url for url in self.requests if not url.startswith(own)]


@contextmanager
def opened(browser: Browser, path: Path, fragment: str = "", **context: Any) -> Iterator[Opened]:
    """The page open in a context of its own; in the end without a complaint and without a request."""
    made = browser.new_context(offline=True, **context)
    page = Opened(made.new_page(), path)
    yield page.goto(fragment)
    assert (page.complaints, page.left) == ([], [])
    made.close()
