"""The picture of the page in the README: one text read by sentence, then another typed by hand and spoken meanwhile.

    python benchmarks/page.py docs/page.png [--width 1180] [--height 1010] [--scale 2] [--dark]

A server of its own with the default voice, a headless chromium (SAYAHEAD_CHROMIUM, or on PATH) driven by Playwright.
All numbers in the picture are what the page measured while it was taken.
"""

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

READ = "This voice waits until a sentence is whole. Only then does it begin to speak."
TYPED = "Text comes in word by word, from a keyboard or a language model, and speech follows a word behind."
PORT = 8765
KEY_S = 0.06
SHOWN = 78


def main() -> None:
    """Take the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("output", metavar="PNG")
    parser.add_argument("--width", type=int, default=1180)
    parser.add_argument("--height", type=int, default=1010)
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
    """Read by sentence, then type until the picture is good."""
    page.locator("#mode label").nth(1).click()
    type_in(page, READ)
    page.wait_for_timeout(1500)
    page.wait_for_selector("body[data-busy=false]", timeout=60000)
    page.locator("#mode label").nth(0).click()
    page.locator("#editor").fill("")
    type_in(page, TYPED[:SHOWN])


def type_in(page: Page, text: str) -> None:
    """As a fast typist does."""
    page.locator("#editor").press_sequentially(text, delay=KEY_S * 1000)


if __name__ == "__main__":
    main()
