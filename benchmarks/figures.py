"""Put the measured figures into the documents, or check that they are there.

    python benchmarks/figures.py [--check]

A document has places between ``<!-- figures:NAME -->`` and ``<!-- /figures -->``, made from the committed results. With
``--check`` nothing is written, and a document that differs ends the run with an error.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
DOCUMENTS = ("README.md", "docs/heart.md")


# The summary's rows and the conditions of quality.json that they show.
ROWS = {
    "whole sentences": "whole sentences",
    "one word of lookahead (the default)": "k = 1, 50 ms",
    "none: each word at once": "k = 0, 100 ms",
    "none, and a language model's guess in its place": "k = 0, LM, 100 ms",
}


def load(name: str) -> Any:
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def summary() -> str:
    """Speed and quality in one small table."""
    bench, quality = load("bench.json"), load("quality.json")
    first, word, rtf = bench["first_audio_ms"], bench["word_ms"], bench["rtf"]
    low, high = first["slope_ci95"]
    rows = "\n".join(
        f"| {label} | {found['wer']:.2f} % | {found['distillmos']:.2f} |"
        for label, name in ROWS.items()
        for found in [quality["conditions"][name]]
    )
    return f"""One core of {bench["machine"]["cpu"]}, one word of lookahead, sentences of 5 to 80 words
([bench.json](benchmarks/results/bench.json), made by `sayahead bench --json`):

| | |
|---|---|
| first audible sample after its lookahead word | {first["p50"]:.1f} ms (p95 {first["p95"]:.1f} ms) |
| over sentence length | {first["slope_ms_per_word"]:+.4f} ms a word (95 %: {low:+.4f} to {high:+.4f}) |
| computing time a word | {word["p50"]:.1f} ms (p99 {word["p99"]:.1f} ms) |
| computing time / audio time, word by word | {rtf["streamed"]:.3f} |
| the same, sentence by sentence | {rtf["oneshot"]:.3f} (hibari-tts in the same run: {rtf["peer_oneshot"]:.3f}) |
| from process start to first sound | {bench["cold_start_s"]:.2f} s |

{quality["sentences"]} sentences, Whisper and DistillMOS as listeners, against the same voice given whole sentences
([quality.md](benchmarks/results/quality.md)):

| | WER | DistillMOS |
|---|---|---|
{rows}"""


def table(name: str) -> Callable[[], str]:
    """A results file's table as it is."""
    return lambda: (RESULTS / name).read_text(encoding="utf-8").strip()


PLACES: dict[str, Callable[[], str]] = {
    "summary": summary,
    "quality": table("quality.md"),
    "prosody": table("prosody.md"),
    "held_out": table("held_out.md"),
    "arithmetic": table("arithmetic.md"),
}


def filled(text: str) -> str:
    """The document with its figures as the results have them."""

    def place(match: re.Match[str]) -> str:
        return f"{match[1]}\n{PLACES[match[2]]()}\n{match[3]}"

    return re.sub(r"(<!-- figures:(\w+) -->)\n.*?(<!-- /figures -->)", place, text, flags=re.DOTALL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    wrong = []
    for name in DOCUMENTS:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        if filled(text) != text:
            wrong.append(name)
            if not arguments.check:
                path.write_text(filled(text), encoding="utf-8")
    if wrong and arguments.check:
        print(
            f"Figures differ from the results in: {', '.join(wrong)}. Run: python benchmarks/figures.py",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
