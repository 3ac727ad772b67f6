"""Engines that speak whole texts, as voices: a command that writes WAV, or a function that returns
samples.

Each SPEAK is a separate utterance, so such a voice is for whole sentences (``wait-all``, the
default) or pieces of them (``independent``): a fallback, and a peer for comparisons.
"""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import wave
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sayahead.config import from_mapping
from sayahead.errors import ConfigError, VoiceError
from sayahead.sound.pcm import audible_ends, from_pcm16
from sayahead.systems.loading import Loaded
from sayahead.text import front_end
from sayahead.types import Floats, Ids, Pronunciation, Rendering, Segment, SynthesizedAudio, Word
from sayahead.voices import VoiceConfig

Speaks = Callable[[str], Floats]
"""Returns the samples (S,) of a text, in [-1, 1]."""
ALLOWED = "SAYAHEAD_COMMANDS"
"""Environment variable with the commands that voices may run, separated by commas: programs, with
any arguments, or whole commands, with exactly these arguments."""
LONGEST_S = 60.0


@dataclass(frozen=True, slots=True)
class ProcessConfig:
    """The ``model`` table of a voice that is a command."""

    command: tuple[str, ...]
    """Program and arguments: reads a text on standard input, writes 16-bit mono WAV on standard
    output. An argument ``{text}`` stands for the text, which is then not on standard input."""


class Characters:
    """Reads words as characters, with a space before each word but the first of a sentence."""

    def phonemize(self, words: Sequence[Word], *, left: Sequence[str]) -> list[Pronunciation]:
        pronunciations = list[Pronunciation]()
        inside = bool(left)
        for word in words:
            text = " " * inside + word.text
            pronunciations.append(Pronunciation(self.ids(text), int(inside), len(text)))
            inside = True
        return pronunciations

    def phonemes(self, word: Word) -> int:
        """Return the number of characters."""
        return len(word.text)

    def ids(self, phonemes: str) -> Ids:
        """Return the code points."""
        return np.array([ord(c) for c in phonemes], np.int64)


class WholeTexts:
    """Calls an engine once for each SPEAK; the state is the number of samples so far.

    The engine reports no timings, so the audible sound is divided among words in proportion to
    their letters.
    """

    def __init__(self, speaks: Speaks, *, sample_rate: int) -> None:
        self.sample_rate = sample_rate
        self._speaks = speaks

    def initial(self, rendering: Rendering) -> int:
        return 0

    def step(self, segment: Segment, state: int) -> tuple[SynthesizedAudio, int]:
        """Speak the words of a segment as a text of its own."""
        text = "".join(map(chr, segment.ids[: segment.speak])).strip()
        if not text:
            words = ((state, state),) * len(segment.spans)
            silence = np.zeros(0, np.float32)
            return SynthesizedAudio(silence, words, ended=segment.closes), state
        samples = np.asarray(self._speaks(text), np.float32).reshape(-1)
        ends = audible_ends(samples)
        first, end = (0, len(samples)) if ends is None else (ends[0], ends[1] + 1)
        letter_samples = (end - first) / segment.speak
        words = tuple(
            (state + first + round(a * letter_samples), state + first + round(b * letter_samples))
            for a, b in segment.spans
        )
        return SynthesizedAudio(samples, words, ended=segment.closes), state + len(samples)


def by_command(command: Sequence[str], *, sample_rate: int) -> Speaks:
    """Return a function that runs a command for each text. VoiceError if it fails, or writes no WAV
    of this sample rate."""
    return lambda text: samples_of(output_of(command, text), command[0], sample_rate)


def output_of(command: Sequence[str], text: str) -> bytes:
    """Run a command on a text; return what it writes. VoiceError if it fails."""
    program = command[0]
    arguments = [text if argument == "{text}" else argument for argument in command]
    stdin = b"" if "{text}" in command else text.encode()
    try:
        process = subprocess.run(
            arguments, input=stdin, capture_output=True, timeout=LONGEST_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise VoiceError(f"{program} cannot be run: {error}.") from error
    if process.returncode:
        last = process.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise VoiceError(
            f"{program} ended with code {process.returncode}: {last or 'it said nothing'}."
        )
    return process.stdout


def samples_of(data: bytes, program: str, sample_rate: int) -> Floats:
    """Return the samples of a WAV file, ignoring the length in its header, which is wrong if it was
    written to a pipe."""
    try:
        with wave.open(io.BytesIO(data)) as file:
            form = (file.getframerate(), file.getnchannels(), file.getsampwidth())
    except (EOFError, wave.Error) as error:
        raise VoiceError(
            f"{program} wrote {len(data)} bytes that are no WAV file: {error or 'it is empty'}."
        ) from error
    if form != (sample_rate, 1, 2):
        raise VoiceError(
            f"{program} wrote {form[0]} Hz, {form[1]} channels, {8 * form[2]} bits, not"
            f" {sample_rate}, 1, 16."
        )
    return from_pcm16(data[data.index(b"data") + 8 :])


def whole_texts(speaks: Speaks, *, sample_rate: int, language: str) -> Loaded:
    """Return the parts of a voice that speaks each SPEAK by a function, with the language's front
    end."""
    synthesizer = WholeTexts(speaks, sample_rate=sample_rate)
    front = front_end(language)
    return Loaded(
        synthesizer, front.normalizer, Characters(), openers=front.openers, policy="wait-all"
    )


def is_allowed(command: Sequence[str]) -> bool:
    """Return whether ``SAYAHEAD_COMMANDS`` allows this command or its program."""
    allowed = [entry.strip() for entry in os.environ.get(ALLOWED, "").split(",")]
    return command[0] in allowed or shlex.join(command) in allowed


def load_process(config: VoiceConfig, folder: Path, threads: int) -> Loaded:
    """Load a voice that is a command. ConfigError unless ``SAYAHEAD_COMMANDS`` allows it, because a
    voice's folder is not trusted."""
    command = from_mapping(ProcessConfig, config.model, where="model").command
    if not command:
        raise ConfigError("model: command is empty, but must be a program and its arguments.")
    if not is_allowed(command):
        raise ConfigError(
            f"it runs {shlex.join(command)}: set {ALLOWED}={command[0]} to let voices do so, or to"
            " the whole command."
        )
    speaks = by_command(command, sample_rate=config.sample_rate)
    return whole_texts(speaks, sample_rate=config.sample_rate, language=config.language)
