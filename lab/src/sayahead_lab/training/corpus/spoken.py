"""Any voice or command as the source of a corpus: it speaks the texts, and the package's aligner
finds the phonemes.

They are the front end's phonemes, whatever the teacher's, so that an exported voice speaks them.
"""

from __future__ import annotations

import functools
import io
import shlex
import shutil
import wave
from dataclasses import dataclass, replace
from pathlib import Path

from sayahead.engine.files import sha256
from sayahead.errors import ConfigError, VoiceError
from sayahead.systems.external import by_command, output_of, whole_texts
from sayahead.types import Floats
from sayahead.voice import Voice, load_voice
from sayahead.voices import FORMAT, Defaults, VoiceConfig, located

from sayahead_lab.training.aligner.alignment import load_aligner
from sayahead_lab.training.corpus.aligned import AlignedRecordings, AlignedSpec
from sayahead_lab.training.corpus.store import About
from sayahead_lab.training.corpus.teacher import resample, seed_of

PROBE = "Hello."
"""A command's first text, to find its sample rate."""


@dataclass(frozen=True, slots=True)
class SpokenSpec(AlignedSpec):
    """A corpus's settings for a teacher; ``folder`` is unused, since nothing was recorded."""

    folder: Path = Path()
    teacher: str = ""
    """A voice's name or folder, or a command line that reads a text and writes WAV
    (``ProcessConfig.command``)."""
    noise: int = 0
    """Seed of the teacher's noise, together with each text's name."""

    def about(self) -> About:
        """The description names a voice with the digest of its voice.json, which has those of its
        files."""
        aligned = AlignedSpec.about(self)
        folder = voice_folder(self.teacher)
        if folder is None:
            teacher = {"command": self.teacher}
        else:
            digest = sha256(folder / "voice.json")
            teacher = {"voice": folder.resolve().name, "digest": digest[:16]}
        source = {name: value for name, value in aligned.source.items() if name != "folder"}
        return replace(aligned, source={**source, "kind": "spoken", **teacher}, seed=self.noise)

    def open(self) -> AlignedRecordings:
        """The teacher, ready to speak."""
        load_aligner(self.aligner)
        return AlignedRecordings(self, TextSpeaker(load_teacher(self.teacher), self.noise))


class TextSpeaker:
    """A voice that speaks text by text."""

    def __init__(self, voice: Voice, seed: int) -> None:
        self._voice = voice
        self._seed = seed
        # The aligner and the corpus need the same speech, each at its own rate.
        self._spoken = functools.lru_cache(maxsize=1)(self._speak)

    def __call__(self, name: str, text: str, rate: int) -> Floats:
        """(S,) samples at a rate; ConfigError where the voice fails."""
        return resample(self._spoken(name, text), self._voice.sample_rate, rate)

    def _speak(self, name: str, text: str) -> Floats:
        seed = seed_of(self._seed, name)
        try:
            return self._voice.synthesize(text, policy="wait-all", seed=seed)
        except VoiceError as error:
            raise ConfigError(f"The teacher cannot say {name}: {error}") from error


def load_teacher(teacher: str) -> Voice:
    """The teacher's voice, or its command as a voice; ConfigError where it is neither, or speaks no
    English."""
    if voice_folder(teacher) is not None:
        voice = load_voice(teacher)
        if not voice.config.language.lower().startswith("en"):
            raise ConfigError(
                f"The voice {voice.config.name!r} speaks {voice.config.language}, but a corpus has"
                " the phonemes of English: choose another teacher."
            )
        return voice
    try:
        command = shlex.split(teacher)
    except ValueError as error:
        raise ConfigError(f"The teacher {teacher!r} is no command line: {error}.") from error
    if not command or shutil.which(command[0]) is None:
        raise ConfigError(
            f"The teacher {teacher!r} is neither a voice (sayahead voices lists them), nor a folder"
            " with voice.json, nor a program on this machine."
        )
    rate = rate_of(output_of(command, PROBE), command[0])
    config = VoiceConfig(
        format=FORMAT,
        name=command[0],
        language="en-US",
        description="A command.",
        license="",
        source=teacher,
        kind="process",
        sample_rate=rate,
        files={},
        speed=(1.0, 1.0),
        defaults=Defaults(lookahead=0, hold_back_s=0.0, blind_hold_back_s=0.0),
        model={"command": command},
    )
    speaks = by_command(command, sample_rate=rate)
    return Voice(config, whole_texts(speaks, sample_rate=rate, language=config.language))


def voice_folder(teacher: str) -> Path | None:
    """The folder of a voice by its name or path; None where there is none."""
    folder = located(teacher)
    return folder if (folder / "voice.json").is_file() else None


def rate_of(data: bytes, program: str) -> int:
    """The sample rate of a WAV file; VoiceError where it is none."""
    try:
        with wave.open(io.BytesIO(data)) as file:
            return int(file.getframerate())
    except (EOFError, wave.Error) as error:
        raise VoiceError(
            f"{program} wrote {len(data)} bytes that are no WAV file: {error or 'it is empty'}."
        ) from error
