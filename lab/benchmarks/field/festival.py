"""Festival, with its HTS voice of slt: apt install festival festvox-us-slt-hts. One process speaks
all pieces."""

import os
import shutil
import subprocess
import tempfile
import wave
from collections.abc import Iterator
from typing import Any

import numpy as np

from sayahead_lab.eval.peers.peer import Engine

VOICE = "cmu_us_slt_arctic_hts"


def peer() -> Engine:
    def missing() -> str | None:
        return (
            None
            if shutil.which("festival")
            else "install festival and its voice (apt install festvox-us-slt-hts)."
        )

    return Engine("festival", f"{__file__}:load", "sentence", missing=missing)


def load() -> Any:
    process = subprocess.Popen(
        ["festival", "--pipe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    file = os.path.join(tempfile.mkdtemp(), "piece.wav")

    def do(command: str) -> None:
        print(f'{command} (format t "done\\n") (fflush nil)', file=process.stdin, flush=True)
        assert process.stdout is not None
        if process.stdout.readline() != "done\n":
            raise RuntimeError(f"festival did not do {command}")

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[np.ndarray]:
        for piece in text:
            said = piece.replace("\\", " ").replace('"', " ")
            do(f'(utt.save.wave (utt.synth (Utterance Text "{said}")) "{file}" \'riff)')
            with wave.open(file) as sound:
                yield np.frombuffer(sound.readframes(2**30), "<i2") / np.float32(32768)

    do(f"(voice_{VOICE})")
    return {
        "rate": 32000,
        "threads": 1,
        "licence": "BSD-like",
        "version": "2.5",
        "set": VOICE,
    }, speak
