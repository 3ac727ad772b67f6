"""A corpus of noise: a source that other processes can open, too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sayahead_lab.training.corpus.frontend import MelFrontEnd
from sayahead_lab.training.corpus.store import About, Item

FRONT = MelFrontEnd(800, 32, 32, 10, 4, 0.0, 400.0)


@dataclass(frozen=True, slots=True)
class ToySpec:
    """A source that draws all it says by the text's name; stops as Ctrl-C does at the text
    named."""

    stop_at: str = ""
    audio: bool = True
    front_end: MelFrontEnd = FRONT
    seed: int = 0

    def about(self) -> About:
        source = {"kind": "toy", "audio": str(self.audio)}
        return About(self.front_end, {"a": 1, "b": 2}, 0, source, "all", self.seed)

    def open(self) -> Toy:
        return Toy(self)


class Toy:
    """See ToySpec."""

    def __init__(self, spec: ToySpec) -> None:
        self.spec = spec

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        if name == self.spec.stop_at:
            raise KeyboardInterrupt
        if not text:
            return [], [name]
        draw = np.random.default_rng([ord(c) for c in name])
        words = len(text.split())
        ids = draw.integers(1, 3, 2 * words).astype(np.int16)
        durations = draw.integers(1, 5, len(ids) + 2).astype(np.int16)
        frames = int(durations.sum())
        pcm = draw.integers(-9999, 9999, frames * 10).astype(np.int16)
        mel = FRONT.log_mel(pcm.astype(np.float32) / np.float32(32767))
        spans = np.array([[2 * i, 2 * i + 2] for i in range(words)], np.int16)
        f0 = draw.uniform(0, 300, frames).astype(np.float16)
        features = draw.normal(size=(frames, 3)).astype(np.float16)
        audio = pcm if self.spec.audio else None
        return [
            Item(
                name,
                text.strip(),
                ids,
                spans,
                durations,
                f0,
                mel.astype(np.float16),
                audio,
                features,
            )
        ], []
