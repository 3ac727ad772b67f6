"""Three arithmetics for the default voice's linear layers side by side: speed, and whether a window is the whole.

    python benchmarks/arithmetic.py [--results FILE]

int8: int8 weights in the file, float32 products. block8: MatMulNBits, activations quantized by row and block of 32.
dynamic8: activations quantized by the range of the whole tensor, as hibari-tts ships them. Needs the train extra.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from sayahead import LookaheadK, Voice, WaitAll, load_voice
from sayahead.engine.onnx import OnnxGraph, count
from sayahead.eval.experiment.machine import pin, processor
from sayahead.eval.speed.bench import PASSAGE

KINDS = ("int8", "block8", "dynamic8")


def difference(folder: Path) -> tuple[float, float]:
    """Largest difference between steps with full context and the whole: pitch in Hz, log spectrum."""
    draw = np.random.default_rng(0)
    text = OnnxGraph(folder / "text.onnx")(ids=draw.integers(43, 90, 60), speed=np.ones(1, np.float32), first=count(0))
    rows = np.repeat(np.arange(60), np.maximum(np.rint(text["durations"]), 1).astype(int))
    prosody, decoder = OnnxGraph(folder / "prosody.onnx"), OnnxGraph(folder / "decoder.onnx")

    def pitch(size: int) -> tuple[Any, Any]:
        cache, out = np.zeros((54, 192), np.float32), []
        for at in range(0, len(rows), size):
            new = min(size, len(rows) - at)
            part = text["prosody_encoding"][rows[at : at + new + 54]]
            made = prosody(prosody_encoding=part, rows=count(new), commit=count(new), cache=cache)
            cache = made["next_cache"]
            out.append((made["f0"][: 2 * new], made["energy"][: 2 * new]))
        return np.concatenate([f for f, _ in out]), np.concatenate([e for _, e in out])

    f0, energy = pitch(len(rows))
    frames = np.repeat(rows, 2)

    def spectra(size: int) -> Any:
        caches: dict[str, Any] = {
            "input_cache": np.zeros((3, 130), np.float32),
            "cache": np.zeros((24, 256), np.float32),
        }
        out = []
        for at in range(0, len(frames), size):
            new = min(size, len(frames) - at)
            part = slice(at, at + new + 27)
            encoding = text["sound_encoding"][frames[part]]
            rest: dict[str, Any] = {"rows": count(new), "commit": count(new), **caches}
            made = decoder(sound_encoding=encoding, f0=f0[part], energy=energy[part], **rest)
            caches = {"input_cache": made["next_input_cache"], "cache": made["next_cache"]}
            out.append(made["spectrum"])
        return np.concatenate(out)

    steps, _ = pitch(12)
    return float(np.abs(steps - f0).max()), float(np.abs(spectra(24) - spectra(len(frames))).max())


def rtf(voice: Voice, text: str, k: int | None) -> float:
    """Computing time over audio time of one text, word by word or whole."""
    begun = time.perf_counter()
    words = (word + " " for word in text.split())
    policy = WaitAll() if k is None else LookaheadK(k)
    samples = sum(len(chunk.samples) for chunk in voice.stream(words, policy=policy))
    return (time.perf_counter() - begun) / (samples / voice.sample_rate)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, help="write the table here (Markdown)")
    parser.add_argument("--rounds", type=int, default=25)
    arguments = parser.parse_args()
    pin(None)
    with tempfile.TemporaryDirectory() as root:
        folders = {kind: Path(root) / kind for kind in KINDS}
        for kind, folder in folders.items():
            command = [sys.executable, "-m", "sayahead.training.heart.export", str(folder), "--weights", kind]
            subprocess.run(command, check=True)
        voices = {kind: load_voice(folder) for kind, folder in folders.items()}
        texts = [" ".join(PASSAGE[at : at + 15]) + "." for at in range(0, arguments.rounds * 5, 5)]
        times: dict[tuple[str, int | None], list[float]] = {}
        for text in texts:
            for kind, voice in voices.items():
                for k in (1, None):
                    times.setdefault((kind, k), []).append(rtf(voice, text, k))
        lines = [
            f"`python benchmarks/arithmetic.py`: {len(texts)} sentences of 15 words in turn, one core of a "
            f"{processor()}, onnxruntime {version('onnxruntime')}; medians. Ratios are against int8 in the same run; "
            "window is the largest difference of frames in steps of 300 ms with their full context from the whole's.",
            "",
            "| weights | size MB | RTF, k = 1 | ratio | RTF, whole | ratio | window: pitch Hz | window: log spectrum |",
            "|---|---|---|---|---|---|---|---|",
        ]
        base = {k: statistics.median(times["int8", k]) for k in (1, None)}
        for kind, folder in folders.items():
            size = sum(path.stat().st_size for path in folder.glob("*.onnx")) / 1e6
            one, whole = (statistics.median(times[kind, k]) for k in (1, None))
            hertz, spectrum = difference(folder)
            lines.append(
                f"| {kind} | {size:.1f} | {one:.4f} | {one / base[1]:.2f} | {whole:.4f} | {whole / base[None]:.2f} "
                f"| {hertz:.2g} | {spectrum:.2g} |"
            )
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.results:
        arguments.results.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
