"""Makes the pictures of a page of results that the documentation shows: `make screenshots`.

They show the built-in model at three temperatures as if these were three models, named so.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from equipoise.models.local import weights

WORK = Path(".cache/screenshots")
TEMPERATURES = ("0", "0.7", "1.5")
QUESTIONS = ("q03", "q11", "q13", "q54", "q20", "q27", "q56", "q36", "q43", "q44")
"""One or two of each area."""
SHORT = ("--runs", "1", "--subject-max-tokens", "110", "--evaluator-max-tokens", "140")
WIDE = {"width": 1180, "height": 800}
PHONE = {"width": 390, "height": 700}


def main(folder: Path) -> None:
    """Run the sessions that are not done yet, and take each picture."""
    WORK.mkdir(parents=True, exist_ok=True)
    results = [_session(temperature) for temperature in TEMPERATURES]
    _equipoise("report", *results, "-o", "page.html")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        _take(browser, folder / "report-overview.png", "#overview")
        _take(browser, folder / "report-model.png", "#models")
        _take(browser, folder / "report-lowest.png", "#lowest")
        _take(browser, folder / "report-run.png", "#lowest", opens="#lowest-runs h2 a")
        _take(browser, folder / "report-review.png", "#review", opens="#start", scheme="dark")
        _take(browser, folder / "report-phone.png", "#overview", size=PHONE)
        browser.close()


def _session(temperature: str) -> str:
    """The results of the built-in model at this temperature; a link to its weights has the name shown."""
    named = WORK / f"SmolLM2-135M-at-temperature-{temperature}.gguf"
    if not named.exists():
        named.symlink_to(weights("local"))
    results = f"results/{named.stem}.json"
    model = (
        "--model",
        f"local:{named.name}",
        "--subject-temperature",
        temperature,
        "--evaluator-model",
        "local",
    )
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
    scheme: str = "light",
    size: dict[str, int] = WIDE,
) -> None:
    page = browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(f"{(WORK / 'page.html').resolve().as_uri()}{view}")
    page.locator("html.ready").wait_for(state="attached")
    if opens:
        page.locator(opens).first.click()
        page.locator("#run h2").wait_for()
        page.mouse.move(0, 0)
    page.screenshot(path=picture)
    page.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
