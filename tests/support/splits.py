"""Whether a voice says a text the same way however it was split."""

from __future__ import annotations

from typing import Any

import numpy as np

from sayahead import Voice
from sayahead.types import Floats

Timings = list[tuple[str, int, int]]
"""Each word with its first sample and the one behind its last."""


def joined(voice: Voice, fragments: list[str], **options: Any) -> tuple[Floats, Timings]:
    """The sound of fragments and its words; ``options`` are those of ``Voice.stream``."""
    chunks = list(voice.stream(fragments, **options))
    words = [
        (word.text, word.onset_samples, word.offset_samples)
        for chunk in chunks
        for word in chunk.words
    ]
    return np.concatenate([chunk.samples for chunk in chunks]), words


def same_by_letters(voice: Voice, text: str, spoken: str = "", **options: Any) -> Floats:
    """Assert that a text sounds the same letter by letter, with all its words in order; the sound.

    ``spoken``: the text as it is said, where that differs.
    """
    whole, words = joined(voice, [text], **options)
    letters, again = joined(voice, list(text), **options)
    assert np.array_equal(whole, letters)
    assert words == again
    assert [word.strip(".,") for word, _, _ in words] == (spoken or text).replace(".", "").replace(
        ",", ""
    ).split()
    edges = [edge for _, onset, offset in words for edge in (onset, offset)]
    assert edges == sorted(edges)
    assert edges[-1] <= len(whole)
    return whole
