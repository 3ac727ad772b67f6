"""A kind of voice: a note for each letter, the higher where a word is expected to follow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sayahead.systems.loading import Loaded
from sayahead.types import Ids, Pronunciation, Rendering, Segment, SynthesizedAudio, Word
from sayahead.voices import VoiceConfig

RATE = 8000
NOTE = 200


class Letters:
    """Words stand between spaces; a sentence ends at a full stop."""

    def __init__(self, start: int = 0) -> None:
        self.skipped: list[tuple[int, int, str]] = []
        self._text = ""
        self._start = start

    def push(self, fragment: str) -> list[Word]:
        self._text += fragment
        words = list[Word]()
        end = 0
        for piece in re.finditer(r"\s*(\S+)\s", self._text):
            place = self._start + piece.start(1)
            end = piece.end()
            words.append(Word(piece[1], place, place + len(piece[1]), ends=piece[1].endswith(".")))
        self._text = self._text[end:]
        self._start = self._start + end
        return words

    def flush(self) -> list[Word]:
        words = self.breathe()
        return (
            [*words[:-1], Word(words[-1].text, words[-1].start, words[-1].end, ends=True)]
            if words
            else []
        )

    def breathe(self) -> list[Word]:
        words = self.push(" ")
        self._start -= 1
        return words

    def forget_spoken(self, *, begun: bool, over: bool) -> list[Word]:
        return self.breathe()

    def phonemize(self, words: Sequence[Word], *, left: Sequence[str]) -> list[Pronunciation]:
        return [Pronunciation(self.ids(word.text), 0, len(word.text)) for word in words]

    def phonemes(self, word: Word) -> int:
        return len(word.text)

    def ids(self, phonemes: str) -> Ids:
        return np.array([ord(letter) for letter in phonemes], np.int64)


class Squawker:
    """Its state is the samples so far."""

    sample_rate = RATE

    def initial(self, rendering: Rendering) -> int:
        return 0

    def step(self, segment: Segment, state: int) -> tuple[SynthesizedAudio, int]:
        pitch = 200 + 10 * (segment.ids[: segment.speak] % 32) + (len(segment.ids) - segment.speak)
        samples = np.sin(2 * np.pi * np.cumsum(np.repeat(pitch, NOTE) / RATE)).astype(np.float32)
        words = tuple((state + first * NOTE, state + end * NOTE) for first, end in segment.spans)
        return SynthesizedAudio(samples, words), state + len(samples)


def load_squawk(config: VoiceConfig, folder: Path, threads: int) -> Loaded:
    """A voice of this kind; it has no files."""
    return Loaded(Squawker(), Letters, Letters())
