"""The README's picture: one reply at a language model's pace, spoken incrementally and sentence by
sentence.

    python lab/benchmarks/timeline.py docs/timeline.svg [--tokens-per-s 12] [--lookahead 1]

Text arrives on a clock (the time of synthesis itself is measured and added); playback begins when a
chunk is ready and the one before has been played. The same voice speaks both times, only the policy
differs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from sayahead import Voice, load_voice
from sayahead.research import LookaheadK, Policy, WaitAll

from sayahead_lab.eval.experiment.clock import Arrival
from sayahead_lab.eval.experiment.trace import timed_trace
from sayahead_lab.eval.measures.latency import audible_words, heard_s
from sayahead_lab.results import options

TEXT = "Your train leaves from platform nine in twelve minutes, so there is time for a coffee."
WIDTH = 1000
LEFT = 120
ROW = 46
TOP = 58
INK = "#1f2933"
MUTED = "#6b7785"
HUE = "#1f7a5c"
OTHER = "#c2571a"


@dataclass(frozen=True, slots=True)
class Heard:
    """A word on the playback clock."""

    text: str
    begin_s: float
    end_s: float


def arrivals(text: str, tokens_per_s: float) -> list[Arrival]:
    """Words with the space after them, at the arrival of their last token, where four characters
    are a token."""
    ends = itertools.accumulate(len(word) + 1 for word in text.split())
    pairs = zip(text.split(), ends, strict=True)
    return [Arrival(f"{word} ", end / 4 / tokens_per_s) for word, end in pairs]


def play(voice: Voice, text: list[Arrival], policy: Policy) -> list[Heard]:
    """Words as a listener hears them under a policy."""
    trace, _ = timed_trace(voice.session(policy=policy), text)
    words = audible_words(trace)
    begins = heard_s(trace, [word.onset_samples for word in words])
    ends = heard_s(trace, [word.offset_samples for word in words], end=True)
    return [Heard(word.text, *span) for word, *span in zip(words, begins, ends, strict=True)]


def boxes(words: list[Heard], y: int, scale: float, colour: str) -> Iterator[str]:
    """A row of words as rounded boxes on the time axis, with the words that fit in."""
    for word in words:
        x = LEFT + word.begin_s * scale
        width = max(2.0, (word.end_s - word.begin_s) * scale - 1.5)
        yield f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="24" rx="3" fill="{colour}"/>'
        if len(word.text) * 5.4 < width:
            inside = 'text-anchor="middle" font-size="10"'
            yield label(x + width / 2, y + 16, word.text, "#fff", inside)


def label(x: float, y: int, text: str, colour: str, more: str = "") -> str:
    """Letters at a place, or around it."""
    return f'<text x="{x:.1f}" y="{y}" fill="{colour}" {more}>{escape(text)}</text>'


def picture(text: list[Arrival], rows: list[tuple[str, list[Heard], str]], pace: float) -> str:
    """The whole figure as SVG."""
    last = max(words[-1].end_s for _, words, _ in rows)
    scale = (WIDTH - LEFT - 24) / last
    bottom = TOP + ROW * (len(rows) + 1) + 8
    font = 'font-family="system-ui, sans-serif" font-size="13"'
    begins = [0.0, *(word.at_s for word in text)]
    written = [
        Heard(word.text.strip(), begin_s, word.at_s)
        for begin_s, word in zip(begins, text, strict=False)
    ]
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 54}" {font}>',
        f'<rect width="{WIDTH}" height="{bottom + 54}" fill="#fff"/>',
        label(20, 28, f"A reply at {pace:g} tokens a second", INK, 'font-size="16"'),
        label(20, TOP + 17, "text in", MUTED),
        *boxes(written, TOP, scale, "#9aa5b1"),
    ]
    for second in range(int(last) + 1):
        x = LEFT + second * scale
        out.append(f'<path d="M{x:.1f} {TOP - 8}V{bottom}" stroke="#e3e7eb"/>')
        out.append(label(x, bottom + 18, f"{second} s", MUTED, 'text-anchor="middle"'))
    for number, (name, words, colour) in enumerate(rows, start=1):
        y = TOP + ROW * number
        x = LEFT + words[0].begin_s * scale
        line = f'stroke="{colour}" stroke-dasharray="2 4"'
        out.append(label(20, y + 17, name, colour))
        out.append(f'<path d="M{LEFT} {y + 12}H{x - 4:.1f}" {line}/>')
        out += boxes(words, y, scale, colour)
    waits = ", ".join(
        f"{name}: first sound after {words[0].begin_s:.2f} s" for name, words, _ in rows
    )
    out.append(label(20, bottom + 44, waits, INK))
    return "\n".join([*out, "</svg>"]) + "\n"


def main() -> None:
    arguments = options(__doc__, "SVG", tokens_per_s=8.0, lookahead=1).parse_args()
    voice = load_voice()
    text = arrivals(TEXT, arguments.tokens_per_s)
    rows = [
        ("sayahead", play(voice, text, LookaheadK(arguments.lookahead)), HUE),
        ("by sentence", play(voice, text, WaitAll()), OTHER),
    ]
    arguments.svg.write_text(picture(text, rows, arguments.tokens_per_s), encoding="utf-8")


if __name__ == "__main__":
    main()
