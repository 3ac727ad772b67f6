"""The picture of the page in the README: after a race, a text read incrementally as a person talks.

    python lab/benchmarks/page.py docs/page.png [--width 1180] [--height 1600] [--scale 2] [--dark]

A server of its own with the default voice, a headless chromium (SAYAHEAD_CHROMIUM, or on PATH)
driven by Playwright. All numbers in the picture are what the page measured while it was taken."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request

from playwright.sync_api import Page, sync_playwright

SHOWN = (
    "Text comes in word by word, from a keyboard or a language model, and speech follows a word"
    " behind."
)
UNTIL = "language"
PORT = 8765


def main() -> None:
    """Take the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("output", metavar="PNG")
    parser.add_argument("--width", type=int, default=1180)
    parser.add_argument("--height", type=int, default=1600)
    parser.add_argument("--scale", type=float, default=2)
    parser.add_argument("--dark", action="store_true")
    args = parser.parse_args()
    chromium = os.environ.get("SAYAHEAD_CHROMIUM") or shutil.which("chromium")
    if not chromium:
        sys.exit("No chromium is on PATH, and SAYAHEAD_CHROMIUM names none.")
    server = subprocess.Popen([sys.executable, "-m", "sayahead", "serve", "--port", str(PORT)])
    try:
        wait()
        with sync_playwright() as playwright:
            root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=chromium, args=root)
            page = browser.new_page(
                viewport={"width": args.width, "height": args.height},
                device_scale_factor=args.scale,
                color_scheme="dark" if args.dark else "light",
                # A word that is no longer spoken is not seen fading.
                reduced_motion="reduce",
                permissions=["clipboard-read", "clipboard-write"],
            )
            page.goto(f"http://127.0.0.1:{PORT}/")
            use(page)
            page.screenshot(path=args.output, full_page=True)
            browser.close()
    finally:
        server.terminate()
        server.wait()


def wait() -> None:
    """Until the server is ready."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/ready"):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    sys.exit("The server does not start.")


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
