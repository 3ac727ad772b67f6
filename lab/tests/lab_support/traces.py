"""Traces that nothing had to speak for."""

from __future__ import annotations

from sayahead.types import WordTiming

from sayahead_lab.eval.experiment.trace import Trace, TracedChunk, TracedFragment

RATE = 1000


def utterance(words: int, *, whole: bool = False, name: str = "u", gap_s: float = 0.3) -> Trace:
    """Words of four letters, 250 ms each; a chunk a word, or one for all; computing takes 10 ms."""
    text = " ".join(["word"] * words)
    fragments = tuple(
        TracedFragment(5 * i, min(5 * i + 5, len(text)), round(gap_s * (i + 1), 6))
        for i in range(words)
    )
    read = [(fragment.end, fragment.at_s) for fragment in fragments]
    chunks: tuple[TracedChunk, ...]
    if whole:
        chunks = (TracedChunk(0, 250 * words, read[-1][1], read[-1][1] + 0.01, 0.01, len(text), 4),)
    else:
        chunks = tuple(
            TracedChunk(250 * i, 250, at_s, at_s + 0.01, 0.01, end, 4)
            for i, (end, at_s) in enumerate(read)
        )
    said = tuple(WordTiming("word", 5 * i, 5 * i + 4, 250 * i, 250 * i + 240) for i in range(words))
    return Trace(words, text, RATE, fragments, chunks, said, name, "", "")
