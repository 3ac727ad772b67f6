"""A Kokoro voice with random weights: the signature of the published graph, tokens, style and speed to audio."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from support.toy_voices import TOYS

LETTERS = "abcdefghijklmnopqrstuvwxyzæðŋɑɔəɛɜɡɪɹʃʊʌʒʤʧˈˌθᵊAIOQWYTᵻɾ"
VOCAB = {symbol: number for number, symbol in enumerate(" ;:,.!?—…" + LETTERS, 1)}
WIDTH, ROWS, SAMPLES = 4, 60, 1200
"""Numbers of a style, rows of its table, samples of a phoneme at speed 1."""


def tiny_kokoro(
    folder: Path, *, tokens: str = "tokens", styles: tuple[str, ...] = ("af_one", "am_two"), **description: Any
) -> Path:
    """A graph in a folder, with its ``config.json`` and styles; each token beeps at a pitch of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(0)
    shutil.copyfile(TOYS / "kokoro" / f"{tokens}.onnx", folder / "kokoro.onnx")
    (folder / "config.json").write_text(json.dumps({"vocab": VOCAB} | description), encoding="utf-8")
    tables: dict[str, Any] = {name: draw.uniform(0.1, 0.5, (ROWS, 1, WIDTH)).astype(np.float32) for name in styles}
    np.savez(folder / "voices.npz", **tables)
    return folder / "kokoro.onnx"
