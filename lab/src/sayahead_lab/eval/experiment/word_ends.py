"""When a speaker ends each word, for shadowing (Ma 5.3.2): from files, or from a voice in the
speaker's place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
from sayahead.errors import ConfigError
from sayahead.types import WordTiming

from sayahead_lab.eval.experiment.clock import word_starts
from sayahead_lab.eval.experiment.trace import Trace
from sayahead_lab.eval.measures.textgrid import read_textgrid, tier

SILENT = ("", "sp", "sil", "<eps>")
"""Aligners' labels for silence."""


def word_ends_file(folder: Path, name: str) -> Path:
    """An utterance's file in a folder of word ends: NAME.json or NAME.TextGrid; ConfigError where
    there is none."""
    for ending in (".json", ".TextGrid"):
        path = folder / f"{name}{ending}"
        if path.is_file():
            return path
    raise ConfigError(
        f"{folder} has no word ends of {name}: neither {name}.json nor {name}.TextGrid is there."
    )


def read_word_ends(path: Path, text: str) -> tuple[float, ...]:
    """Ends in s (N,) of the N white-space separated words of a text; ConfigError where the file is
    for another text.

    A JSON file is a list of these ends. A TextGrid is an aligner's, with a tier of words; words are
    found by their letters, so an aligner may write "well-known" as one word or as two."""
    if path.suffix == ".TextGrid":
        aligned = [(word.label, word.end_s) for word in tier(read_textgrid(path), "words", path)]
        try:
            ends = ends_of(aligned, text)
        except ValueError as error:
            raise ConfigError(f"{path} cannot be read as word ends: {error}.") from error
    else:
        try:
            ends = tuple(map(float, json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, TypeError) as error:
            raise ConfigError(f"{path} cannot be read as word ends: {error}.") from error
    words = len(text.split())
    if len(ends) != words:
        raise ConfigError(f"{path} has {len(ends)} word ends, but its text has {words} words.")
    if any(not 0 <= end < float("inf") for end in ends) or any(b < a for a, b in pairwise(ends)):
        raise ConfigError(f"{path}: word ends must be seconds from 0 on that never go back.")
    return ends


def ends_of(aligned: Sequence[tuple[str, float]], text: str) -> tuple[float, ...]:
    """The ends of a text's words from an aligner's (word, end) pairs; ValueError where those are of
    another text."""
    sounding = [(word, end) for word, end in aligned if word.strip() not in SILENT]
    aligned_letters = [letters(word) for word, _ in sounding]
    text_letters = [letters(word) for word in text.split()]
    if "".join(aligned_letters) == "".join(text_letters):
        # A word ends with the interval that has its last letter.
        places = np.searchsorted(
            list(accumulate(map(len, aligned_letters))), list(accumulate(map(len, text_letters)))
        )
    elif len(aligned_letters) == sum(map(bool, text_letters)):
        places = np.cumsum([bool(word) for word in text_letters]) - 1
    else:
        raise ValueError(
            f"its words are {' '.join(word for word, _ in sounding)[:80]!r}, not those of the text"
        )
    ends = [
        sounding[place][1] if word else 0.0
        for place, word in zip(places, text_letters, strict=True)
    ]
    # A free-standing dash ends with the word before it.
    return tuple(accumulate(ends, max))


def letters(word: str) -> str:
    """The part of a word that counts when two texts are compared."""
    return "".join(filter(str.isalnum, word)).lower()


def spoken_word_ends(trace: Trace) -> tuple[float, ...]:
    """Ends in s (N,) of the source's N white-space separated words in the sound of a trace, played
    from time 0."""
    return sounding_ends(trace.source, trace.words, trace.sample_rate)


def sounding_ends(text: str, timed: Sequence[WordTiming], sample_rate: int) -> tuple[float, ...]:
    """Ends in s (N,) of a text's N white-space separated words, of words timed in samples.

    Words that are said together ("$5 million") end together; a word without sound ends with the one
    before it."""
    starts = word_starts(text)
    ends = [
        max(
            (
                w.offset_samples
                for w in timed
                if w.start < stop and w.end > start and w.offset_samples > w.onset_samples
            ),
            default=0,
        )
        for start, stop in spans(text, starts)
    ]
    return tuple(sample / sample_rate for sample in accumulate(ends, max))


def spans(text: str, starts: Sequence[int]) -> list[tuple[int, int]]:
    """Start and end of each white-space separated word."""
    return [(start, start + len(text[start:].split(maxsplit=1)[0])) for start in starts]
