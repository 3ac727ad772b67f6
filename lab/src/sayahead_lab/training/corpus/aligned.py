"""Recordings as the source of a corpus without TextGrids: the package's own aligner finds the
phonemes of their texts.

Texts are read as the default voice's corpus reads them, so the phonemes are the front end's. An
item is a sentence of a recording.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sayahead.engine.files import sha256
from sayahead.errors import ConfigError
from sayahead.sound.pcm import to_pcm16
from sayahead.text.reading.stream import normalize
from sayahead.text.saying.english.phonemizer import PAUSES
from sayahead.types import Floats, Ids, Pronunciation

from sayahead_lab.training.aligner.alignment import FOLDER, LEAST, PhonemeTimes, load_aligner
from sayahead_lab.training.aligner.sounds import FRONT_END
from sayahead_lab.training.corpus.readers import recordings_of
from sayahead_lab.training.corpus.recordings import RecordedSpec, pitch, read_recording, read_sound
from sayahead_lab.training.corpus.store import About, Item
from sayahead_lab.training.corpus.teacher import inventory, load_reader, spans, split


@dataclass(frozen=True, slots=True)
class AlignedSpec(RecordedSpec):
    """A corpus's settings for recordings and the package's aligner."""

    aligner: Path = FOLDER
    """Folder of the aligner."""
    inner_marks: bool = field(default=False, kw_only=True)
    """Whether all punctuation is kept, not only the sentence's last mark."""
    reader: str = field(default="", kw_only=True)
    """How the folder is laid out (``READERS``); LJ Speech's layout without one."""
    speaker: str = field(default="", kw_only=True)
    """Whose recordings are meant, where a reader finds those of several."""

    def about(self) -> About:
        """A recording's description has no seed: nothing is random."""
        digest = sha256(self.aligner / "aligner.onnx")[:16]
        marks = "all" if self.inner_marks else "final"
        layout = {"reader": Path(self.reader).name, "speaker": self.speaker} if self.reader else {}
        return About(
            self.front_end, *inventory(), self.described(aligner=digest, **layout), marks, seed=0
        )

    def sound(self, name: str, text: str, rate: int) -> Floats:
        """The samples (S,) of a recording; ConfigError where there is none."""
        if not self.reader:
            return read_recording(self.folder, name, rate)
        return read_sound(recordings_of(self.reader, self.folder, self.speaker)[name].path, rate)

    def open(self) -> AlignedRecordings:
        """The recordings, ready for reading."""
        load_aligner(self.aligner)
        return AlignedRecordings(self)


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence of a text, read."""

    text: str
    """Its words."""
    ids: Ids
    """(P,) phonemes."""
    words: Sequence[Pronunciation]
    """The same, word by word."""
    symbols: str
    """The same as symbols, one character each."""


@dataclass(frozen=True, slots=True)
class AlignedSentence:
    """A sentence of a recording, read and aligned."""

    text: str
    """Its words."""
    ids: Ids
    """(P,) phonemes."""
    words: Sequence[Pronunciation]
    """The same, word by word."""
    edges_s: Floats
    """(P + 1,) start of each phoneme, and end of the last sounding one."""
    marks: int
    """Phonemes after the last one that sounds."""


Sound = Callable[[str, str, int], Floats]
"""The samples (S,) in [-1, 1] of a name and text, at a rate; ConfigError where there are none."""


class AlignedRecordings:
    """A source that makes sentences of recordings, or of another sound of the texts, by the
    aligner."""

    def __init__(self, spec: AlignedSpec, sound: Sound | None = None) -> None:
        """``sound``: source of the sound, if not the spec's folder."""
        self.spec = spec
        self._reader = load_reader(spec.inner_marks)
        self._sound = sound or spec.sound
        self._symbols = {number: symbol for symbol, number in inventory()[0].items()}

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        """The sentences of the recording of that name, or the reason for leaving it out."""
        try:
            return self._items(name, text), []
        except ConfigError as error:
            if not self.spec.skip_missing:
                raise
            return [], [f"{name}: {error}"]

    def _items(self, name: str, text: str) -> list[Item]:
        spec = self.spec
        front = self.spec.front_end
        sentences = self._sentences(name, text)
        samples = self._sound(name, text, front.sample_rate)
        frames = len(samples) // front.hop
        items = list[Item]()
        before = 0
        edges = [
            np.rint(one.edges_s * (front.sample_rate / front.hop)).astype(np.int64)
            for one in sentences
        ]
        for number, (one, own) in enumerate(zip(sentences, edges, strict=True), 1):
            own = np.minimum(own, frames)
            begin = max(before, int(own[0]) - spec.lead)
            follows = int(edges[number][0]) if number < len(edges) else frames
            # The second of two sentences gets at least its lead of the pause between them, if that
            # is long enough.
            end = max(int(own[-1]), min(frames, int(own[-1]) + spec.tail, follows - spec.lead))
            own[len(own) - 1 - one.marks :] = np.rint(np.linspace(own[-1], end, one.marks + 2))[:-1]
            durations = np.diff(np.concatenate([[begin], own, [end]]))
            pcm = to_pcm16(samples[begin * front.hop : end * front.hop])
            sound = pcm.astype(np.float32) / np.float32(32767)
            items.append(
                Item(
                    name if len(sentences) == 1 else f"{name}.{number}",
                    one.text,
                    one.ids.astype(np.int16),
                    spans(one.words),
                    durations.astype(np.int16),
                    pitch(sound, front),
                    front.log_mel(sound).astype(np.float16),
                    pcm if spec.audio else None,
                )
            )
            before = end
        return items

    def score(self, name: str, text: str) -> float:
        """How well a recording matches a text: the alignment's score."""
        return self._aligned(name, text, self._read(name, text)).score

    def _read(self, name: str, text: str) -> list[ReadSentence]:
        """The sentences of a text that sound."""
        out = list[ReadSentence]()
        for words in split(normalize(text)):
            pronounced = self._reader.phonemize(words, left=[])
            ids = np.concatenate([word.ids for word in pronounced])
            symbols = "".join(self._symbols[int(number)] for number in ids)
            if symbols.strip(PAUSES):
                out.append(
                    ReadSentence(" ".join(word.text for word in words), ids, pronounced, symbols)
                )
        if not out:
            raise ConfigError(f"The text of {name} has nothing that sounds: {text[:60]!r}.")
        return out

    def _aligned(self, name: str, text: str, sentences: Sequence[ReadSentence]) -> PhonemeTimes:
        """The alignment of a recording with all symbols of its sentences and a space between any
        two of these."""
        mel = FRONT_END.log_mel(self._sound(name, text, FRONT_END.sample_rate))
        try:
            return load_aligner(self.spec.aligner).align(
                mel, " ".join(one.symbols for one in sentences)
            )
        except ConfigError as error:
            raise ConfigError(
                f"The recording {name} cannot be aligned with its text: {error}."
            ) from error

    def _sentences(self, name: str, text: str) -> list[AlignedSentence]:
        """The sentences of a text that sound, aligned with its recording; ConfigError where the two
        do not match."""
        read = self._read(name, text)
        alignment = self._aligned(name, text, read)
        if alignment.score < LEAST:
            raise ConfigError(
                f"The recording {name} does not sound like its text (score {alignment.score:.2f},"
                f" least {LEAST}): correct the text, or leave it out."
            )
        out = list[AlignedSentence]()
        at = 0
        for one in read:
            end = at + len(one.symbols)
            marks = len(one.symbols) - len(one.symbols.rstrip(PAUSES))
            edges_s = np.append(alignment.begin_s[at:end], alignment.end_s[end - marks - 1])
            out.append(
                AlignedSentence(
                    one.text, one.ids, one.words, np.minimum(edges_s, edges_s[-1]), marks
                )
            )
            at = end + 1
        return out
