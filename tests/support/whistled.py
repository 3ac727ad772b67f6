"""An end-to-end voice in a made-up language, whistled: its own front end, one network for all, no
English anywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sayahead.systems import KINDS
from sayahead.systems.loading import Loaded
from sayahead.types import Ids, Pronunciation, Rendering, Segment, SynthesizedAudio, Word
from sayahead.voices import FORMAT, VoiceConfig

RATE = 8000
NOTE = 400


class Whistles:
    """See Normalizer and Phonemizer: words stand between dots, a sentence ends at a slash; a note
    for each letter."""

    def __init__(self, start: int = 0) -> None:
        self.skipped: list[tuple[int, int, str]] = []
        self._text = ""
        self._end = start

    def push(self, fragment: str) -> list[Word]:
        pieces = re.findall(r"([^·/]*)([·/])", self._text + fragment)
        self._text = re.split("[·/]", self._text + fragment)[-1]
        words = []
        for letters, mark in pieces:
            words.append(Word(letters, self._end, self._end + len(letters), ends=mark == "/"))
            self._end += len(letters) + 1
        return [word for word in words if word.text]

    def flush(self) -> list[Word]:
        return self.push("/")

    def breathe(self) -> list[Word]:
        return self.push("·")

    def forget_spoken(self, *, begun: bool, over: bool) -> list[Word]:
        return self.breathe()

    def phonemize(self, words: Sequence[Word], *, left: Sequence[str]) -> list[Pronunciation]:
        return [
            Pronunciation(np.array([ord(c) for c in word.text]), 0, len(word.text))
            for word in words
        ]

    def phonemes(self, word: Word) -> int:
        return len(word.text)

    def ids(self, phonemes: str) -> Ids:
        return np.array([ord(c) for c in phonemes], np.int64)


class Whistler:
    """See Synthesizer; its state is the samples so far."""

    sample_rate = RATE

    def initial(self, rendering: Rendering) -> int:
        return 0

    def step(self, segment: Segment, state: int) -> tuple[SynthesizedAudio, int]:
        turns = np.cumsum(np.repeat(200 + 10 * (segment.ids[: segment.speak] % 32), NOTE) / RATE)
        words = tuple((state + first * NOTE, state + end * NOTE) for first, end in segment.spans)
        samples = np.sin(2 * np.pi * turns).astype(np.float32)
        return SynthesizedAudio(samples, words), state + len(turns)


def load_whistled(config: VoiceConfig, folder: Path, threads: int) -> Loaded:
    return Loaded(Whistler(), Whistles, Whistles())


def whistled(folder: Path) -> Path:
    """A folder with such a voice, whose kind is known from now on."""
    KINDS["whistled"] = load_whistled
    about = {
        "name": "silbo",
        "language": "x-silbo",
        "kind": "whistled",
        "sample_rate": RATE,
        "speed": [1.0, 1.0],
    }
    about |= {
        "format": FORMAT,
        "description": "Whistles.",
        "license": "CC0-1.0",
        "source": "tests",
        "files": {},
    }
    about |= {
        "defaults": {"lookahead": 1, "hold_back_s": 0.0, "blind_hold_back_s": 0.0},
        "model": {},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "voice.json").write_text(json.dumps(about), encoding="utf-8")
    return folder
