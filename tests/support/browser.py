"""A real browser for the page's tests: Debian's chromium by Playwright, with an ear before the
loudspeaker."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

if os.environ.get("SAYAHEAD_CHROMIUM"):
    CHROMIUM = os.environ["SAYAHEAD_CHROMIUM"]
    assert Path(CHROMIUM).is_file(), f"SAYAHEAD_CHROMIUM is {CHROMIUM}, but there is no such file."
else:
    CHROMIUM = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
        or ""
    )
if not CHROMIUM:
    pytest.skip(
        "The page is not tested: no chromium is on PATH (apt-get install chromium), and"
        " SAYAHEAD_CHROMIUM names none.",
        allow_module_level=True,
    )

pytest.importorskip(
    "playwright",
    reason="The page is not tested: playwright is not installed (pip install '.[dev]').",
)

from playwright.sync_api import Browser, Page, sync_playwright

from sayahead.engine.synthesizer import Pauses, TwoStage
from sayahead.systems.loading import Loaded
from sayahead.text.reading.stream import new_reader
from sayahead.voice import Voice
from support.servers import SlowAcoustic, toy_voice
from support.toy import ToyPhonemizer, ToyVocoder

RATE = 1600
NAME = "sayahead.test"
"""A host name of this machine's that browsers hold for another's, so that plain http from it is no
secure context."""

WATCH = """
(() => {
  // What goes to the loudspeaker is heard by an AnalyserNode, whatever the page does.
  const ears = [];
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (to, ...rest) {
    if (to instanceof AudioDestinationNode) {
      const ear = new AnalyserNode(to.context, { fftSize: 2048 });
      connect.call(this, ear);
      ears.push(ear);
    }
    return connect.call(this, to, ...rest);
  };
  const wave = new Float32Array(2048);
  window.loud = () => {
    let most = 0;
    for (const ear of ears) {
      ear.getFloatTimeDomainData(wave);
      most = Math.max(most, ...wave.map(Math.abs));
    }
    return most;
  };
  // Every change of a word's state, in order.
  window.seen = [];
  window.lit = new Set();
  document.addEventListener("DOMContentLoaded", () => {
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        if (target.tagName !== "SPAN") continue;
        window.seen.push([target.textContent, target.className]);
        const heard = target.className === "now" || target.className === "heard";
        if (heard && !window.lit.has(target)) window.lit.add(target);
      }
    }).observe(document.getElementById("mirror"), { subtree: true, attributeFilter: ["class"] });
  });
  // How long after Escape the last sound was heard.
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    const begun = performance.now();
    window.echo = 0;
    const listen = () => {
      if (window.loud() > 0.001) window.echo = performance.now() - begun;
      requestAnimationFrame(listen);
    };
    listen();
  }, { capture: true });
})();
"""


def drawl(step_s: float = 0.0) -> Voice:
    """The toy, as slow as people speak: some 80 ms a letter."""
    config = replace(toy_voice().config, description="A long tone per letter.", sample_rate=RATE)
    synthesizer = TwoStage(
        SlowAcoustic(step_s), ToyVocoder(), sample_rate=RATE, pauses=Pauses(lead_in=10, pause=160)
    )
    return Voice(config, Loaded(synthesizer, new_reader, ToyPhonemizer()))


class Seat:
    """Somebody before the page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.sent = list[str]()
        self.troubles = list[str]()
        page.add_init_script(WATCH)
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on(
            "console",
            lambda line: self.troubles.append(line.text) if line.type == "error" else None,
        )
        page.on(
            "websocket",
            lambda socket: socket.on("framesent", lambda frame: self.sent.append(str(frame))),
        )

    def open(self, address: str) -> None:
        """Go to the page, and wait until it is alive."""
        self.page.goto(address)
        self.page.wait_for_selector("body[data-busy]", state="attached")

    def type(self, text: str) -> None:
        """By keys."""
        self.page.locator("#editor").press_sequentially(text)

    def paste(self, text: str) -> None:
        """From the clipboard."""
        self.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
        self.page.locator("#editor").press("Control+V")

    def put(self, text: str) -> None:
        """Replace the whole text, without keys."""
        self.page.locator("#editor").fill(text)

    def until(self, expression: str, *, timeout_s: float = 100.0) -> None:
        """Wait until something is true in the page."""
        # Not by wait_for_function, which the page's policy forbids.
        end = time.monotonic() + timeout_s
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, (
                f"It never came true: {expression}; the page said {self.troubles}"
            )
            self.page.wait_for_timeout(50)

    @property
    def said(self) -> str:
        """All text that the page sent, as it revised it."""
        texts = dict[str, str]()
        for message in map(json.loads, self.sent):
            if message["type"] in ("input_text.append", "input_text.revise"):
                text = texts.get(message["context_id"], "")
                texts[message["context_id"]] = (
                    text[: message.get("at", len(text))] + message["text"]
                )
        return "".join(texts.values())

    def kinds(self) -> set[str]:
        """The types of all messages that the page sent."""
        return {json.loads(message)["type"] for message in self.sent}

    def until_heard(self) -> None:
        """Wait until all is said."""
        self.until("document.body.dataset.busy === 'false'")

    def value(self, expression: str) -> Any:
        """What something is in the page."""
        return self.page.evaluate(expression)

    @property
    def lit(self) -> list[str]:
        """The words that were heard, in the order in which they were lit. A browser that has too
        little time marks some only when they are over; not all."""
        words: list[str] = self.value("[...window.lit].map((span) => span.textContent)")
        assert any(state == "now" for _, state in self.value("window.seen"))
        return words

    def cell(self, row: str, column: int) -> str:
        """A cell of the table of delays."""
        return self.page.locator(f"#{row} td").nth(column).inner_text()


@contextlib.contextmanager
def seated(browser: Browser, address: str, *, clean: bool = True, **options: Any) -> Iterator[Seat]:
    """A fresh visitor; the page must not have complained when he goes (unless not ``clean``)."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"], **options)
    seat = Seat(context.new_page())
    try:
        seat.open(address)
        yield seat
        assert not (clean and seat.troubles), seat.troubles
    finally:
        context.close()


@contextlib.contextmanager
def chromium(*flags: str) -> Iterator[Browser]:
    """A browser without a window."""
    # A sandbox cannot be had by root.
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*root, *flags])
        try:
            yield browser
        finally:
            browser.close()
