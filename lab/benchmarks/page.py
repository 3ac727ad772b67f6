"""The picture of the page in the README: after a race, a text read incrementally as a person talks.

    python lab/benchmarks/page.py docs/page.png

A server of its own with the default voice, a headless chromium (SAYAHEAD_CHROMIUM, or on PATH)
driven by Playwright. All numbers in the picture are what the page measured while it was taken."""

from __future__ import annotations

import with_tests  # noqa: F401
from playwright.sync_api import Page
from sayahead.voice import load_voice
from support.browser import chromium
from support.servers import serving

from sayahead_lab.results import options

SHOWN = (
    "Text comes in word by word, from a keyboard or a language model, and speech follows a word"
    " behind."
)
UNTIL = "language"


def main() -> None:
    """Take the picture."""
    png = options(__doc__, "PNG").parse_args().png
    with serving(voice=load_voice("heart")) as running, chromium() as browser:
        page = browser.new_page(
            viewport={"width": 1180, "height": 1600},
            device_scale_factor=2,
            # A word that is no longer spoken is not seen fading.
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
        )
        page.goto(running.http)
        use(page)
        page.screenshot(path=png, full_page=True)


def use(page: Page) -> None:
    """A race; then a text, until the picture is good."""
    page.click("#go")
    page.wait_for_timeout(1000)
    while page.evaluate("document.body.dataset.racing") == "true":
        page.wait_for_timeout(100)
    page.select_option("#pace", "talk")
    paste(page, SHOWN)
    while page.evaluate("document.querySelector('.now')?.textContent") != UNTIL:
        page.wait_for_timeout(20)


def paste(page: Page, text: str) -> None:
    """From the clipboard, so that the text arrives at the chosen pace."""
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    page.locator("#editor").press("Control+V")
    page.wait_for_timeout(300)


if __name__ == "__main__":
    main()
