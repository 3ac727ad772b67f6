"""Engines that speak a piece of text at a time, each as its own package offers it. Nothing of
sayahead is imported."""

from __future__ import annotations

import importlib
import re
import subprocess
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np


def hibari(threads: int = 1) -> Any:
    """hibari-tts: its default voice, the noise from the seed."""
    package = importlib.import_module("hibari")
    engine = package.Hibari(threads=threads)

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[Any]:
        for piece in text:
            yield engine(piece, seed=seed)

    about = {
        "version": version("hibari-tts"),
        "licence": "Apache-2.0",
        "files": [engine.model_path],
    }
    return {"rate": package.SAMPLE_RATE, "threads": threads, **about}, speak


def kokoro(model: str, style: str, threads: int = 1) -> Any:
    """Kokoro-82M's graph with a style's file (510, 256) of float32; hibari-tts reads the text with
    the same symbols."""
    runtime = importlib.import_module("onnxruntime")
    reader = importlib.import_module("hibari").Hibari()
    rows = np.fromfile(style, "<f4").reshape(-1, 1, 256)
    graph = runtime.InferenceSession(
        model, one_thread(runtime, threads), providers=["CPUExecutionProvider"]
    )
    tokens = graph.get_inputs()[0].name

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[Any]:
        for piece in text:
            for phonemes in reader.phonemize(piece):
                ids = np.array([reader.ids(phonemes)], np.int64)
                row = rows[min(ids.shape[1] - 2, len(rows)) - 1]
                fed = {tokens: ids, "style": row, "speed": np.ones(1, np.float32)}
                yield graph.run(None, fed)[0].reshape(-1)

    about = {"version": "82M v1.0, int8", "licence": "Apache-2.0", "files": [model, style]}
    return {"rate": 24000, "threads": threads, "set": f"style {Path(style).stem}", **about}, speak


def piper(model: str, threads: int = 1) -> Any:
    """Piper with a voice, loaded once."""
    package = importlib.import_module("piper")
    runtime = importlib.import_module("onnxruntime")
    voice = package.PiperVoice.load(model)
    voice.session = runtime.InferenceSession(
        model, one_thread(runtime, threads), providers=["CPUExecutionProvider"]
    )

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[Any]:
        for piece in text:
            for chunk in voice.synthesize(piece):
                yield chunk.audio_float_array

    about = {
        "version": version("piper-tts"),
        "licence": "GPL-3.0-or-later",
        "set": Path(model).stem,
        "files": [model],
    }
    return {"rate": voice.config.sample_rate, "threads": threads, **about}, speak


def streaming_vits(model: str, threads: int = 1) -> Any:
    """streaming-vits with a Piper voice: sound in packets while a sentence is decoded."""
    package = importlib.import_module("streaming_vits")
    engine = package.StreamingTTS(
        model, config_path=f"{model}.json", threads=threads, verbose=False
    )

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[Any]:
        for piece in text:
            for chunk in engine.stream(piece):
                yield chunk.audio

    about = {
        "version": version("streaming-vits"),
        "licence": "MIT",
        "set": Path(model).stem,
        "files": [model],
    }
    return {"rate": engine.sample_rate, "threads": threads, **about}, speak


def espeak_ng(voice: str = "en-us") -> Any:
    """The espeak-ng command: one process for a piece; it has next to nothing to load."""
    return spoken_by(
        ["espeak-ng", "-v", voice, "--stdin", "--stdout"],
        ["espeak-ng", "--version"],
        "GPL-3.0-or-later",
    )


def flite(voice: str = "slt") -> Any:
    """The flite command: one process for a piece."""
    command = ["sh", "-c", f'flite -voice {voice} -o /dev/stdout -t "$(cat)" | cat']
    return spoken_by(command, ["flite", "--version"], "BSD-like (CMU)", voice)


def pocket_tts(weights: str, voice: str = "alba", threads: int = 1) -> Any:
    """pocket-tts with weights from a folder: sound in packets from whole pieces of text."""
    package = importlib.import_module("pocket_tts")
    torch = importlib.import_module("torch")
    torch.set_num_threads(threads)
    engine = package.TTSModel.load_model(weights)
    state = engine.get_state_for_audio_prompt(voice)

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[Any]:
        torch.manual_seed(seed)
        for piece in text:
            for chunk in engine.generate_audio_stream(state, piece):
                yield chunk.numpy()

    about = {"version": version("pocket-tts"), "licence": "MIT (code)", "set": voice}
    return {"rate": engine.sample_rate, "threads": threads, **about}, speak


def spoken_by(command: list[str], asked: list[str], licence: str, voice: str = "") -> Any:
    """An engine that is a command: text on its input, a WAV file on its output."""

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[Any]:
        for piece in text:
            yield samples_of(output_of(command, piece))

    told = subprocess.run(asked, capture_output=True, check=False, text=True)
    found = re.search(r"\d+(\.\d+)+", told.stdout or told.stderr)
    rate = int.from_bytes(output_of(command, "a")[24:28], "little")
    about = {
        "version": found[0] if found else "",
        "licence": licence,
        "threads": 1,
        "set": voice or "as it is",
    }
    return {"rate": rate, **about}, speak


def samples_of(wav: bytes) -> Any:
    """Samples (S,) of a WAV file of 16-bit mono that was written in one go, so that its header's
    sizes may be wrong."""
    if len(wav) < 44:
        raise ValueError("the command gave no sound")
    data = wav[44:]
    return np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.float32) / np.float32(32768)


def output_of(command: list[str], text: str) -> bytes:
    """A command's output for a text on its input."""
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise RuntimeError(f"{command[0]} ended with exit code {done.returncode} {' '.join(last)}")
    return done.stdout


def one_thread(runtime: Any, threads: int) -> Any:
    """ONNX Runtime's options for that many threads: by default it binds one to every core of the
    machine."""
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options
