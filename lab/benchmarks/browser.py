"""The page without a server: what it weighs, how soon it speaks, how fast, and how near its sound
is to Python's.

    python lab/benchmarks/browser.py web/site --last OTHER --out lab/benchmarks/results/browser \
        [--runs 10]

A headless chromium (SAYAHEAD_CHROMIUM, or on PATH) driven by Playwright, and this Python beside it.
OTHER is the page as the last release's build makes it: both are opened, and speak, in turn, so that
what else the machine does falls on both. Processor time counts all threads of all of the browser's
processes."""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
GROUPS = {
    "Python (Pyodide)": ("pyodide", "python_stdlib", "numpy"),
    "its memory: sayahead and the English front end": ("memory.bin", "voice.zip"),
    "ONNX Runtime": ("ort-wasm",),
    "the voice and the network of unknown words": (
        "text.onnx",
        "prosody.onnx",
        "decoder.onnx",
        "oov.onnx",
    ),
}
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
TYPED = "Text comes in word by word, and speech follows. "
TYPED_WORDS_PER_MIN = 180
SAME_S = 0.002
"""Times of words that differ by less are the same: where silence is cut depends on the last bits of
samples."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("site", type=Path, help="the folder that web/build.py made")
    parser.add_argument(
        "--out", type=Path, required=True, help="results go to FILE.json and FILE.md"
    )
    parser.add_argument(
        "--last",
        type=Path,
        required=True,
        help="the folder that the last release's web/build.py made",
    )
    parser.add_argument("--runs", type=int, default=10, help="how often the page is opened")
    parser.add_argument(
        "--last-runs", type=int, default=10, help="how often the last release's is, in turn with it"
    )
    arguments = parser.parse_args()
    voice = load_voice("heart")
    with (
        chromium() as browser,
        hosted(arguments.site, BARE) as own,
        hosted(arguments.last, BARE) as other,
    ):
        sites = {"now": own, "last": other}
        load = [os.getloadavg()[0]]
        figures = {
            "machine": f"{platform.machine()}, {os.cpu_count()} cores, chromium {browser.version}",
            "load": load,
            "bytes": {"now": weights(arguments.site), "last": weights(arguments.last)},
            "opened": opened(browser, sites, {"now": arguments.runs, "last": arguments.last_runs}),
            "typed": typed(browser, own),
            "spoken": spoken(browser, sites, voice),
        }
        load.append(os.getloadavg()[0])
    arguments.out.with_suffix(".json").write_text(
        json.dumps(figures, indent=1) + "\n", encoding="utf-8"
    )
    arguments.out.with_suffix(".md").write_text(report(figures), encoding="utf-8")
    print(report(figures))
    return 0


def weights(site: Path) -> dict[str, list[int]]:
    """Bytes by what they are: as they lie there, and as a host sends them that compresses with
    gzip."""
    totals = {name: [0, 0] for name in [*GROUPS, "the page"]}
    for path in site.rglob("*"):
        if path.is_file() and path.suffix != ".md" and path.name not in ("LICENSE", "NOTICE"):
            group = next(
                (name for name, starts in GROUPS.items() if path.name.startswith(starts)),
                "the page",
            )
            data = path.read_bytes()
            totals[group][0] += len(data)
            totals[group][1] += len(gzip.compress(data, 9))
    return totals


# The page.


def opened(
    browser: Browser, sites: Mapping[str, str], runs: Mapping[str, int]
) -> dict[str, list[dict[str, float]]]:
    """From opening a page to its first sound, with nothing kept by the browser and with all: wall
    and processor s."""
    times: dict[str, list[dict[str, float]]] = {
        f"{site} {cache}": [] for site in sites for cache in CACHES
    }
    processor_s = meter(browser)
    for run in range(max(runs.values())):
        for site, address in sites.items():
            if run >= runs[site]:
                continue
            context = browser.new_context()
            for cache in CACHES:
                page = context.new_page()
                before = processor_s()
                own = threads()
                page.goto(f"{address}bare.html")
                wall_s = float(page.evaluate(FIRST, OPENING))
                thread_s = max(spent - own.get(thread, 0.0) for thread, spent in threads().items())
                row = {
                    "wall_s": wall_s,
                    "processor_s": processor_s() - before,
                    "thread_s": thread_s,
                }
                times[f"{site} {cache}"].append(row)
                # What is still being written is part of neither.
                page.wait_for_timeout(1500)
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
    page = browser.new_page()
    timings = []
    page.goto(address)
    loaded(page)
    for _ in range(3):
        page.locator("#editor").fill("")
        page.locator("#editor").press_sequentially(TYPED, delay=60_000 / TYPED_WORDS_PER_MIN / 6)
        page.wait_for_timeout(500)
        while page.evaluate("document.body.dataset.busy") == "true":
            page.wait_for_timeout(50)
        timings.append(
            {name: page.inner_text(f"#last-{name}") for name in ("first", "heard", "gaps")}
        )
    page.close()
    # The first text of a fresh tab is compiled while it is spoken.
    return timings[1:]


def spoken(browser: Browser, sites: Mapping[str, str], voice: Voice) -> list[dict[str, Any]]:
    """Each text word by word, by each page's tab and by this Python in turn, after one that is not
    counted."""
    tabs = dict[str, Tab]()
    rows = list[dict[str, Any]]()
    for site, address in sites.items():
        page = browser.new_page()
        page.goto(f"{address}bare.html")
        tabs[site] = Tab(page)
    processor_s = meter(browser)
    for text in (TEXTS[0], *TEXTS):
        fragments = [f"{word} " for word in text.split()]
        here = spoken_here(voice, fragments)
        samples = np.frombuffer(here["sound"], np.int16)
        row: dict[str, Any] = {"text": text, "seconds": len(samples) / voice.sample_rate}
        row["python"] = {key: here[key] for key in ("processor_s", "wall_s", "waited")}
        for site, tab in tabs.items():
            before = processor_s()
            there = tab.speak(fragments, counts=here["counts"])
            row[site] = {
                "processor_s": processor_s() - before,
                "wall_s": there.took_s,
                "waited": there.waited,
            }
            most = min(len(samples), len(there.samples))
            row[site]["words"] = [
                same_word(a, b) for a, b in zip(here["words"], there.words, strict=True)
            ]
            row[site]["log_distance_db"] = log_distance_db(samples[:most], there.samples[:most])
        rows.append(row)
    return rows[1:]


def meter(browser: Browser) -> Callable[[], float]:
    """Processor seconds of the browser so far."""
    session = browser.new_browser_cdp_session()

    def processor_s() -> float:
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        return float(sum(process["cpuTime"] for process in processes))

    return processor_s


def threads() -> dict[str, float]:
    """Processor seconds of each thread of the browser's pages so far, where there is /proc."""
    spent = dict[str, float]()
    for task in Path("/proc").glob("[0-9]*/task/[0-9]*"):
        with contextlib.suppress(OSError):
            if b"--type=renderer" in (task / "cmdline").read_bytes():
                fields = (task / "stat").read_text().rpartition(")")[2].split()
                spent[str(task)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


def spoken_here(voice: Voice, fragments: Sequence[str]) -> dict[str, Any]:
    """The text by the page's own desk in this Python; ``counts``: chunks of each fragment."""
    messages = list[dict[str, Any]]()
    sound = list[bytes]()

    def hear(message: str, data: bytes) -> None:
        messages.append(json.loads(message))
        sound.extend([data] if data else [])

    desk = desk_here(hear, lambda _: voice)
    counts = list[int]()
    waited = list[float]()
    start_s = time.perf_counter()
    processor = time.process_time()
    for fragment in fragments:
        sent = time.perf_counter()
        before = len(sound)
        desk.receive(json.dumps({"type": "input_text.append", "context_id": "a", "text": fragment}))
        while desk.step():
            if len(sound) == before + 1 and len(waited) == sum(map(bool, counts)):
                waited.append(time.perf_counter() - sent)
        counts.append(len(sound) - before)
    desk.receive(json.dumps({"type": "input_text.end", "context_id": "a"}))
    while desk.step():
        pass
    spent = {
        "wall_s": time.perf_counter() - start_s,
        "processor_s": time.process_time() - processor,
    }
    words = [word for message in messages for word in message.get("words", [])]
    return {"words": words, "sound": b"".join(sound), "counts": counts, "waited": waited, **spent}


def same_word(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether a word is the same, and as long in the same place."""
    same = all(a[key] == b[key] for key in ("word", "start", "end"))
    return same and all(abs(a[key] - b[key]) < SAME_S for key in ("onset_s", "offset_s"))


# What is shown.


def report(figures: dict[str, Any]) -> str:
    """The results as a page of Markdown."""
    before, after = figures["load"]
    lines = [
        f"{figures['machine']}; load {before:.1f} before and {after:.1f} after. Median / worst.",
        "",
        "| | now | last release |",
        "|---|---:|---:|",
        *(f"| {title} | {' | '.join(values)} |" for title, values in rows_of(figures)),
    ]
    rows = figures["spoken"]
    last = figures["typed"][-1]
    seconds = sum(row["seconds"] for row in rows)
    waited = usual([1000 * wait for row in rows for wait in row["python"]["waited"]], 0)
    processor_s = sum(row["python"]["processor_s"] for row in rows)
    own, other = (len(figures["opened"][f"{site} cold"]) for site in SITES)
    lines += [
        "",
        (
            f"- {own} openings of this page and {other} of the last release's, in turn, each with"
            " nothing kept and then again; the host is on the same machine."
        ),
        (
            f"- {len(rows)} texts, {seconds:.0f} s of sound. Python beside them: {waited} ms a"
            f" word, {processor_s / seconds:.3f} processor seconds a second."
        ),
        (
            f"- Typed at {TYPED_WORDS_PER_MIN} words a minute: first sound {last['first']} after"
            f" the first letter, each word's {last['heard']} after its last (median; the lookahead"
            f" is a word of it), gaps: {last['gaps']}."
        ),
    ]
    return "\n".join(lines) + "\n"


def rows_of(figures: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """What is compared, and its values for each page."""
    sizes = figures["bytes"]
    rows = figures["spoken"]
    for name in sizes["now"]:
        yield f"{name}, MB", [f"{sizes[site][name][0] / 1e6:.1f}" for site in SITES]
    sums = [
        [sum(column) / 1e6 for column in zip(*sizes[site].values(), strict=True)] for site in SITES
    ]
    yield "**all, MB** (sent with gzip)", [f"{here:.1f} ({sent:.1f})" for here, sent in sums]
    for cache, title in zip(CACHES, ("nothing kept", "kept by the browser"), strict=True):
        for key, unit in UNITS.items():
            each = [[run[key] for run in figures["opened"][f"{site} {cache}"]] for site in SITES]
            yield f"opened to first sound, {title}, {unit}", [usual(values, 2) for values in each]
    waits = [[1000 * wait for row in rows for wait in row[site]["waited"]] for site in SITES]
    yield "from a word to its sound, ms", [usual(values, 0) for values in waits]
    seconds = sum(row["seconds"] for row in rows)
    costs = [sum(row[site]["processor_s"] for row in rows) / seconds for site in SITES]
    yield "processor seconds a second of sound", [f"{cost:.3f}" for cost in costs]
    same = [[word for row in rows for word in row[site]["words"]] for site in SITES]
    yield (
        f"words within {1000 * SAME_S:.0f} ms of Python's",
        [f"{sum(each)} of {len(each)}" for each in same],
    )
    yield (
        "log spectra from Python's, dB",
        [usual([row[site]["log_distance_db"] for row in rows], 2) for site in SITES],
    )


CACHES = ("cold", "kept")


UNITS = {
    "wall_s": "s",
    "processor_s": "processor time of the whole browser, s",
    "thread_s": "processor time of the busiest thread, s",
}
SITES = ("now", "last")


def usual(values: Sequence[float], digits: int) -> str:
    """The median, and the worst."""
    return f"{statistics.median(values):.{digits}f} / {max(values):.{digits}f}"


if __name__ == "__main__":
    sys.exit(main())
