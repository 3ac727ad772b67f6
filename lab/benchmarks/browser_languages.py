"""Each language's voices in a browser tab: what is fetched, and how soon there is sound.

    python lab/benchmarks/browser_languages.py SITE [--runs 3] -o FILE.md

SITE is the folder that ``web/build.py`` made. For each set of voices a page is opened with nothing
kept, and again; the clock runs from before the package is imported to the first chunk of sound. The
host is on the same machine, so a visitor adds the time to fetch the files."""

from __future__ import annotations

import contextlib
import json
import re
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import with_tests  # noqa: F401
from support.browser import chromium
from support.browser_tab import hosted
from support.firefox import FIREFOX, firefox

from sayahead_lab.results import Rows, options, table, tell

Ask = Callable[[str], Any]
TEXTS = {
    "heart": ("American English", "The train leaves at half past nine."),
    "english": ("American and British English", "The train leaves at half past nine."),
    "spanish": ("Spanish", "El tren sale a las nueve y media."),
    "french": ("French", "Le train part à neuf heures et demie."),
    "italian": ("Italian", "Il treno parte alle nove e mezza."),
    "portuguese": ("Brazilian Portuguese", "O trem parte às nove e meia."),
}
"""By the name of a set of voices: what they speak, and what is said."""
BARE = {"/bare.html": b"<!doctype html>"}
FIRST = """async ([voices, text]) => {
  const { load } = await import("./sayahead-web/index.js");
  const begun = performance.now();
  const voice = await load({ voices });
  for await (const chunk of voice.speak(text)) {
    voice.close();
    return (performance.now() - begun) / 1000;
  }
}"""
"""Seconds to the first chunk of sound."""


def fetched(site: Path, voices: str) -> int:
    """Bytes of the files that a set of voices needs."""
    package = site / "sayahead-web"
    sizes = exported(package / "files.js")
    told = exported(package / "voices.js")[voices]
    names = {told["memory"], told.get("speakers"), *told["graphs"].values()}
    names |= set(told["unknown"].values())
    return sum(
        about["bytes"]
        for name, about in sizes.items()
        if name in names or name.startswith("runtime/")
    )


def exported(script: Path) -> dict[str, Any]:
    """The object that a script exports."""
    found: dict[str, Any] = json.loads(
        re.sub(r"^export const \w+ = |;\s*$", "", script.read_text(encoding="utf-8"))
    )
    return found


@contextlib.contextmanager
def in_chromium(address: str) -> Iterator[Ask]:
    """Asks a fresh page of Chromium."""
    with chromium() as browser:
        page = browser.new_context().new_page()
        page.goto(address)
        yield lambda arguments: page.evaluate(FIRST, json.loads(arguments))


@contextlib.contextmanager
def in_firefox(address: str) -> Iterator[Ask]:
    """Asks a fresh page of Firefox."""
    with firefox() as page:
        page.goto(address)
        yield lambda arguments: page.evaluate(f"() => ({FIRST})({arguments})")


def main() -> None:
    """Print a table."""
    arguments = options(__doc__, "SITE", "results", runs=3).parse_args()
    browsers = {"Chromium": in_chromium} | ({"Firefox": in_firefox} if FIREFOX else {})
    heads = [f"{name}, {when}" for name in browsers for when in ("nothing kept", "kept")]
    rows = Rows()
    with hosted(arguments.site, BARE) as address:
        for voices, (language, text) in TEXTS.items():
            times = [
                f"{time:.2f}"
                for opened in browsers.values()
                for time in medians(opened, f"{address}bare.html", voices, text, arguments.runs)
            ]
            size = f"{fetched(arguments.site, voices) / 1e6:.1f}"
            rows.append([f"`{voices}`: {language}", size, *times])
            print(rows[-1], flush=True)
    told = "Seconds from loading a set of voices to its first sound, median of"
    told += f" {arguments.runs}; MB that are fetched."
    tell([told, "", *table(f"|MB|{'|'.join(heads)}", rows)], arguments.results)


def medians(
    opened: Callable[[str], contextlib.AbstractContextManager[Ask]],
    address: str,
    voices: str,
    text: str,
    runs: int,
) -> tuple[float, float]:
    """With nothing kept by the browser, and with all."""
    rows = list[tuple[float, float]]()
    for _ in range(runs):
        with opened(address) as ask:
            arguments = json.dumps([voices, text])
            rows.append((ask(arguments), ask(arguments)))
    first, again = zip(*rows, strict=True)
    return statistics.median(first), statistics.median(again)


if __name__ == "__main__":
    main()
