"""The page without a server: what it weighs, how soon it speaks, how fast, and how near its sound
is to Python's.

    python lab/benchmarks/browser.py SITE --results lab/benchmarks/results/browser.md \
        [--runs 10]

SITE is the folder that ``web/build.py`` made. A headless chromium (SAYAHEAD_CHROMIUM, or on PATH)
driven by Playwright, and this Python beside it. Processor time counts all threads of all of the
browser's processes."""

from __future__ import annotations

import gzip
import json
import os
import platform
import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import with_tests  # noqa: F401
from playwright.sync_api import Browser
from sayahead import Voice, load_voice
from support.browser import chromium
from support.browser_tab import Tab, desk_here, hosted, log_distance_db

from sayahead_lab.results import options, table, tell

TEXTS = (
    "The quick brown fox jumps over the lazy dog.",
    (
        "Printing, in the only sense with which we are at present concerned, differs from most if"
        " not from all the arts and crafts represented in the Exhibition."
    ),
    "Wait here, please. I will be back in ten minutes!",
    "He turned to the window and said nothing at all",
    "Is there anything else that you would like to know?",
    "Dr. Smith paid $5 million for it on March 3rd, 1999.",
    "The committee's unexpected announcement about Zyxqorp surprised everyone.",
    (
        "A language model writes one word after another, and most voices wait until a sentence is"
        " whole."
    ),
    "She opened the letter, read it twice, and put it back without a word.",
    "Trains to the coast leave every twenty minutes until half past nine in the evening.",
)
BARE = {"/bare.html": b"<!doctype html>"}
"""A page that only the benchmark has: it opens the voice itself."""
FIRST = """
async (text) => {
  const { Stream } = await import("./page/stream.js");
  return new Promise((resolve, reject) => {
    const nothing = () => {};
    const stream = new Stream({
      loading: nothing, starting: nothing, flushed: nothing, revised: nothing, skipped: nothing, done: nothing,
      failed: ({ message }) => reject(message),
      lost: reject,
      audio: () => resolve(performance.now() / 1000),
    });
    stream.choose(() => ({ voice: "heart" }));
    stream.append("a", text);
  });
}
"""  # noqa: E501
"""Seconds from the beginning of the navigation to the first chunk of sound."""
OPENING = "Hello there, how are you "
SAME_S = 0.002
"""Times of words that differ by less are the same: where silence is cut depends on the last bits of
samples."""


def main() -> None:
    arguments = options(__doc__, "SITE", "results", runs=10).parse_args()
    voice = load_voice("heart")
    before = os.getloadavg()[0]
    with chromium() as browser, hosted(arguments.site, BARE) as address:
        rows = [
            *weight(arguments.site),
            *opened(browser, address, arguments.runs),
            *spoken(browser, address, voice),
        ]
        load = f"load {before:.1f} before and {os.getloadavg()[0]:.1f} after"
        machine = f"{platform.machine()}, {os.cpu_count()} cores, chromium {browser.version}"
    lines = [f"{machine}; {load}. Median / worst.", "", *table("|now", rows)]
    lines += [
        "",
        f"- {arguments.runs} openings, each with nothing kept and then again; the host is on the"
        " same machine.",
    ]
    tell(lines, arguments.results)


def weight(site: Path) -> Iterator[list[str]]:
    """Bytes as they lie there, and as a host sends them that compresses with gzip."""
    files = [
        path.read_bytes()
        for path in site.rglob("*")
        if path.is_file() and path.suffix != ".md" and path.name not in ("LICENSE", "NOTICE")
    ]
    here = sum(map(len, files))
    sent = sum(len(gzip.compress(data, 9)) for data in files)
    yield ["**all, MB** (sent with gzip)", f"{here / 1e6:.1f} ({sent / 1e6:.1f})"]


def opened(browser: Browser, address: str, runs: int) -> Iterator[list[str]]:
    """From opening a page to its first sound, with nothing kept by the browser and with all."""
    times: dict[str, list[tuple[float, float]]] = {"nothing kept": [], "kept by the browser": []}
    processor_s = meter(browser)
    for _ in range(runs):
        context = browser.new_context()
        for rows in times.values():
            page = context.new_page()
            before = processor_s()
            page.goto(f"{address}bare.html")
            rows.append((float(page.evaluate(FIRST, OPENING)), processor_s() - before))
            # What is still being written is part of neither.
            page.wait_for_timeout(1500)
            page.close()
        context.close()
    for cache, rows in times.items():
        wall_s, spent_s = zip(*rows, strict=True)
        yield [f"opened to first sound, {cache}, s", usual(wall_s, 2)]
        whole = "processor time of the whole browser, s"
        yield [f"opened to first sound, {cache}, {whole}", usual(spent_s, 2)]


def spoken(browser: Browser, address: str, voice: Voice) -> Iterator[list[str]]:
    """Each text word by word, by the page's tab and by this Python in turn, after one that is not
    counted."""
    page = browser.new_page()
    page.goto(f"{address}bare.html")
    tab = Tab(page)
    processor_s = meter(browser)
    seconds = 0.0
    spent_s = 0.0
    waited = list[float]()
    apart = list[float]()
    words = list[bool]()
    for number, text in enumerate((TEXTS[0], *TEXTS)):
        fragments = [f"{word} " for word in text.split()]
        here = spoken_here(voice, fragments)
        samples = np.frombuffer(here["sound"], np.int16)
        before = processor_s()
        there = tab.speak(fragments, counts=here["counts"])
        if not number:
            continue
        spent_s += processor_s() - before
        seconds += len(samples) / voice.sample_rate
        waited += [1000 * wait for wait in there.waited]
        words += [same_word(a, b) for a, b in zip(here["words"], there.words, strict=True)]
        most = min(len(samples), len(there.samples))
        apart.append(log_distance_db(samples[:most], there.samples[:most]))
    yield ["from a word to its sound, ms", usual(waited, 0)]
    yield ["processor seconds a second of sound", f"{spent_s / seconds:.3f}"]
    yield [f"words within {1000 * SAME_S:.0f} ms of Python's", f"{sum(words)} of {len(words)}"]
    yield ["log spectra from Python's, dB", usual(apart, 2)]


def meter(browser: Browser) -> Callable[[], float]:
    """Processor seconds of the browser so far."""
    session = browser.new_browser_cdp_session()

    def processor_s() -> float:
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        return float(sum(process["cpuTime"] for process in processes))

    return processor_s


def spoken_here(voice: Voice, fragments: Sequence[str]) -> dict[str, Any]:
    """The text by the page's own desk in this Python; ``counts``: chunks of each fragment."""
    messages = list[dict[str, Any]]()
    sound = list[bytes]()

    def hear(message: str, data: bytes) -> None:
        messages.append(json.loads(message))
        sound.extend([data] if data else [])

    desk = desk_here(hear, lambda _: voice)
    counts = list[int]()
    for fragment in fragments:
        before = len(sound)
        desk.receive(json.dumps({"type": "input_text.append", "context_id": "a", "text": fragment}))
        while desk.step():
            pass
        counts.append(len(sound) - before)
    desk.receive(json.dumps({"type": "input_text.end", "context_id": "a"}))
    while desk.step():
        pass
    words = [word for message in messages for word in message.get("words", [])]
    return {"words": words, "sound": b"".join(sound), "counts": counts}


def same_word(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether a word is the same, and as long in the same place."""
    same = all(a[key] == b[key] for key in ("word", "start", "end"))
    return same and all(abs(a[key] - b[key]) < SAME_S for key in ("onset_s", "offset_s"))


def usual(values: Sequence[float], digits: int) -> str:
    """The median, and the worst."""
    return f"{statistics.median(values):.{digits}f} / {max(values):.{digits}f}"


if __name__ == "__main__":
    main()
