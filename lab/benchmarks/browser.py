"""The page without a server: what it weighs, how soon it speaks, how fast, and how near its sound is to Python's.

    python lab/benchmarks/browser.py web/site --out lab/benchmarks/results/browser [--loads 3]

A headless chromium (SAYAHEAD_CHROMIUM, or on PATH) driven by Playwright, and this Python beside it: each text is spoken
by one and then by the other, so that what else the machine does falls on both. Processor time counts all threads of the
tab.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from playwright.sync_api import Browser, Page
from sayahead import Voice, load_voice
from support.browser import chromium
from support.browser_tab import Tab, desk_here, hosted, log_distance_db

TEXTS = (
    "The quick brown fox jumps over the lazy dog.",
    "Printing, in the only sense with which we are at present concerned, differs from most if not from all the arts "
    "and crafts represented in the Exhibition.",
    "Wait here, please. I will be back in ten minutes!",
    "He turned to the window and said nothing at all",
    "Is there anything else that you would like to know?",
    "Dr. Smith paid $5 million for it on March 3rd, 1999.",
    "The committee's unexpected announcement about Zyxqorp surprised everyone.",
    "A language model writes one word after another, and most voices wait until a sentence is whole.",
    "She opened the letter, read it twice, and put it back without a word.",
    "Trains to the coast leave every twenty minutes until half past nine in the evening.",
)
GROUPS = {
    "Python (Pyodide) with NumPy": ("pyodide", "python_stdlib", "numpy"),
    "ONNX Runtime": ("ort-wasm",),
    "the voice, the English front end and sayahead": ("voice.zip",),
}
TYPED = "Text comes in word by word, and speech follows. "
TYPED_WORDS_PER_MIN = 180
SAME_S = 0.002
"""Times of words that differ by less are the same: where silence is cut depends on the last bits of samples."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path, help="the folder that web/build.py made")
    parser.add_argument("--out", type=Path, required=True, help="results go to FILE.json and FILE.md")
    parser.add_argument("--loads", type=int, default=3, help="how often the page is opened")
    arguments = parser.parse_args()
    voice = load_voice("heart")
    with hosted(arguments.site) as address, chromium() as browser:
        figures = {
            "machine": f"{platform.machine()}, {os.cpu_count()} cores, chromium {browser.version}",
            "load": os.getloadavg()[0],
            "bytes": weights(arguments.site),
            "opened": [opened(browser, address) for _ in range(arguments.loads)],
            "typed": typed(browser, address),
            "spoken": spoken(browser, address, voice),
        }
    arguments.out.with_suffix(".json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    arguments.out.with_suffix(".md").write_text(report(figures), encoding="utf-8")
    print(report(figures))
    return 0


def weights(site: Path) -> dict[str, list[int]]:
    """Bytes by what they are: as they lie there, and as a host sends them that compresses with gzip."""
    totals = {name: [0, 0] for name in [*GROUPS, "the page"]}
    for path in site.rglob("*"):
        if path.is_file() and path.suffix != ".md" and path.name not in ("LICENSE", "NOTICE"):
            group = next((name for name, starts in GROUPS.items() if path.name.startswith(starts)), "the page")
            data = path.read_bytes()
            totals[group][0] += len(data)
            totals[group][1] += len(gzip.compress(data, 9))
    return totals


# The page.


def opened(browser: Browser, address: str) -> list[float]:
    """Seconds from opening the page to its voice, without a cache and with one."""
    context, times = browser.new_context(), []
    for _ in range(2):
        page = context.new_page()
        start_s = time.perf_counter()
        page.goto(address)
        loaded(page)
        times.append(time.perf_counter() - start_s)
        page.close()
    context.close()
    return times


def loaded(page: Page) -> None:
    """Wait for the page's voice."""
    end = time.monotonic() + 300
    while page.evaluate("document.body.dataset.voice") != "here":
        if time.monotonic() > end:
            sys.exit(f"The voice does not load: {page.inner_text('#problem')}")
        page.wait_for_timeout(20)


def typed(browser: Browser, address: str) -> list[dict[str, str]]:
    """What the page itself says of a text that was typed: its large figures, for two texts."""
    page, timings = browser.new_page(), []
    page.goto(address)
    loaded(page)
    for _ in range(3):
        page.locator("#editor").fill("")
        page.locator("#editor").press_sequentially(TYPED, delay=60_000 / TYPED_WORDS_PER_MIN / 6)
        page.wait_for_timeout(500)
        while page.evaluate("document.body.dataset.busy") == "true":
            page.wait_for_timeout(50)
        timings.append({name: page.inner_text(f"#last-{name}") for name in ("first", "heard", "gaps")})
    page.close()
    # The first text of a fresh tab is compiled while it is spoken.
    return timings[1:]


def spoken(browser: Browser, address: str, voice: Voice) -> list[dict[str, Any]]:
    """Each text word by word, by the tab and by this Python, after one that is not counted."""
    page, rows = browser.new_page(), []
    page.goto(address)
    loaded(page)
    tab, processor_s = Tab(page), meter(browser)
    for text in (TEXTS[0], *TEXTS):
        fragments = [f"{word} " for word in text.split()]
        here = spoken_here(voice, fragments)
        before = processor_s()
        there = tab.speak(fragments, counts=here["counts"])
        tab_s = processor_s() - before
        samples = np.frombuffer(here["sound"], np.int16)
        most = min(len(samples), len(there.samples))
        seconds = len(samples) / voice.sample_rate
        rows.append(
            {
                "text": text,
                "seconds": seconds,
                "words": [same_word(a, b) for a, b in zip(here["words"], there.words, strict=True)],
                "samples": [len(samples), len(there.samples)],
                "log_distance_db": log_distance_db(samples[:most], there.samples[:most]),
                "python": {key: here[key] for key in ("processor_s", "wall_s", "waited")},
                "tab": {"processor_s": tab_s, "wall_s": there.took_s, "waited": there.waited},
            }
        )
    return rows[1:]


def meter(browser: Browser) -> Callable[[], float]:
    """Processor seconds of all tabs so far."""
    session = browser.new_browser_cdp_session()

    def processor_s() -> float:
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        return float(sum(process["cpuTime"] for process in processes if process["type"] == "renderer"))

    return processor_s


def spoken_here(voice: Voice, fragments: Sequence[str]) -> dict[str, Any]:
    """The text by the page's own desk in this Python; ``counts``: chunks of each fragment."""
    messages, sound = list[dict[str, Any]](), list[bytes]()

    def hear(message: str, data: bytes) -> None:
        messages.append(json.loads(message))
        sound.extend([data] if data else [])

    desk, counts, waited = desk_here().Desk(hear, load=lambda _: voice), list[int](), list[float]()
    start_s, processor = time.perf_counter(), time.process_time()
    for fragment in fragments:
        sent, before = time.perf_counter(), len(sound)
        desk.receive(json.dumps({"type": "input_text.append", "context_id": "a", "text": fragment}))
        while desk.step():
            if len(sound) == before + 1 and len(waited) == sum(map(bool, counts)):
                waited.append(time.perf_counter() - sent)
        counts.append(len(sound) - before)
    desk.receive(json.dumps({"type": "input_text.end", "context_id": "a"}))
    while desk.step():
        pass
    spent = {"wall_s": time.perf_counter() - start_s, "processor_s": time.process_time() - processor}
    words = [word for message in messages for word in message.get("words", [])]
    return {"words": words, "sound": b"".join(sound), "counts": counts, "waited": waited, **spent}


def same_word(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether a word is the same, and as long in the same place."""
    same = all(a[key] == b[key] for key in ("word", "start", "end"))
    return same and all(abs(a[key] - b[key]) < SAME_S for key in ("onset_s", "offset_s"))


# What is shown.


def report(figures: dict[str, Any]) -> str:
    """The results as a page of Markdown."""
    rows = figures["spoken"]
    lines = ["| bytes, MB | files | sent with gzip |", "|---|---:|---:|"]
    sizes = {**figures["bytes"], "**all**": [sum(column) for column in zip(*figures["bytes"].values(), strict=True)]}
    lines += [f"| {name} | {raw / 1e6:.1f} | {packed / 1e6:.1f} |" for name, (raw, packed) in sizes.items()]
    seconds = sum(row["seconds"] for row in rows)
    costs = {who: [sum(row[who][key] for row in rows) / seconds for key in ("processor_s", "wall_s")] for who in WHO}
    waits = {who: [wait for row in rows for wait in row[who]["waited"]] for who in WHO}
    lines += [
        "",
        f"{len(rows)} texts, {seconds:.0f} s of sound, each spoken by the tab and by Python in turn; "
        f"{figures['machine']}, load {figures['load']:.1f}.",
        "",
        "| word by word, one word of lookahead | tab | Python | ratio |",
        "|---|---:|---:|---:|",
        f"| real-time factor, processor time | {ratio_row([costs[who][0] for who in WHO], 3)} |",
        f"| real-time factor, wall time | {ratio_row([costs[who][1] for who in WHO], 3)} |",
    ]
    for name, take in (("median", statistics.median), ("p95", lambda all_of: float(np.quantile(all_of, 0.95)))):
        values = [1000 * take(waits[who]) for who in WHO]
        lines.append(f"| from a word to its sound, {name}, ms | {ratio_row(values, 0)} |")
    words = [same for row in rows for same in row["words"]]
    distances = [row["log_distance_db"] for row in rows]
    last = figures["typed"][-1]
    cold, warm = (statistics.median(column) for column in zip(*figures["opened"], strict=True))
    lines += [
        "",
        f"- All words at the same times (within {1000 * SAME_S:.0f} ms) in {sum(all(row['words']) for row in rows)} of "
        f"{len(rows)} texts; {sum(words)} of {len(words)} words.",
        f"- Log spectra: median {statistics.median(distances):.2f} dB apart, at most {max(distances):.2f} dB.",
        f"- From opening the page to the voice: {cold:.1f} s, and {warm:.1f} s with its files in the browser's cache "
        f"(medians of {len(figures['opened'])}; the host is on the same machine).",
        f"- Typed at {TYPED_WORDS_PER_MIN} words a minute: first sound {last['first']} after the first letter, each "
        f"word's {last['heard']} after its last (median), gaps: {last['gaps']}.",
    ]
    return "\n".join(lines) + "\n"


WHO = ("tab", "python")


def ratio_row(values: Sequence[float], digits: int) -> str:
    """The tab's, Python's, and how many times the one is the other."""
    return " | ".join([*(f"{value:.{digits}f}" for value in values), f"{values[0] / values[1]:.1f}"])


if __name__ == "__main__":
    sys.exit(main())
