"""Recordings as the source of a corpus without TextGrids: the package's own aligner finds the phonemes of their texts.

Texts are read as the default voice's corpus reads them, so the phonemes are the front end's. An item is a sentence of a
recording.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sayahead.engine.files import sha256
from sayahead.errors import ConfigError
from sayahead.sound.pcm import to_pcm16
from sayahead.text.english.normalizer import normalize
from sayahead.text.english.phonemizer import PAUSES
from sayahead.types import Floats, Ids, Pronunciation, Word

from sayahead_lab.training.aligner.alignment import FOLDER, LEAST, PhonemeTimes, load_aligner
from sayahead_lab.training.aligner.sounds import FRONT_END, UNSOUNDED
from sayahead_lab.training.corpus.recordings import RecordedSpec, pitch, read_recording
from sayahead_lab.training.corpus.store import About, Item
from sayahead_lab.training.corpus.teacher import inventory, load_reader, spans, split


@dataclass(frozen=True, slots=True)
class AlignedSpec(RecordedSpec):
    """A corpus's settings for recordings and the package's aligner."""

    aligner: Path = FOLDER
    """Folder of the aligner."""
    inner_marks: bool = field(default=False, kw_only=True)
    """Whether all punctuation is kept, not only the sentence's last mark."""

    def about(self) -> About:
        """A recording's description has no seed: nothing is random."""
        digest = sha256(self.aligner / "aligner.onnx")[:16]
        marks = "all" if self.inner_marks else "final"
        return About(self.front_end, *inventory(), self.described(aligner=digest), marks, seed=0)

    def open(self) -> AlignedRecordings:
        """The recordings, ready for reading."""
        load_aligner(self.aligner)
        return AlignedRecordings(self)


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
    """A source that makes sentences of recordings, or of another sound of the texts, by the aligner."""

    def __init__(self, spec: AlignedSpec, sound: Sound | None = None) -> None:
        """``sound``: source of the sound, if not the spec's folder."""
        self.spec, self._reader = spec, load_reader(spec.inner_marks)
        self._sound = sound or (lambda name, text, rate: read_recording(spec.folder, name, rate))
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
        spec, front = self.spec, self.spec.front_end
        sentences = self._sentences(name, text)
        samples = self._sound(name, text, front.sample_rate)
        frames, items, before = len(samples) // front.hop, list[Item](), 0
        edges = [np.rint(one.edges_s * (front.sample_rate / front.hop)).astype(np.int64) for one in sentences]
        for number, (one, own) in enumerate(zip(sentences, edges, strict=True), 1):
            own = np.minimum(own, frames)
            begin = max(before, int(own[0]) - spec.lead)
            follows = int(edges[number][0]) if number < len(edges) else frames
            # The second of two sentences gets at least its lead of the pause between them, if that is long enough.
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
        _, sounding = self._read(name, text)
        return self._aligned(name, text, sounding).score

    def _read(self, name: str, text: str) -> tuple[list[tuple[list[Word], list[Pronunciation]]], list[list[list[str]]]]:
        """The sentences of a text with their pronunciations; and the sounding symbols by sentence and word."""
        read = [(words, self._reader.phonemize(words, left=[])) for words in split(normalize(text))]
        sounding = [[self._sounds(word) for word in words] for _, words in read]
        if not any(any(sentence) for sentence in sounding):
            raise ConfigError(f"The text of {name} has nothing that sounds: {text[:60]!r}.")
        return read, sounding

    def _aligned(self, name: str, text: str, sounding: list[list[list[str]]]) -> PhonemeTimes:
        """The alignment of a recording with all of its sounding symbols."""
        mel = FRONT_END.log_mel(self._sound(name, text, FRONT_END.sample_rate))
        words = [word for sentence in sounding for word in sentence if word]
        try:
            return load_aligner(self.spec.aligner).align(mel, words)
        except ConfigError as error:
            raise ConfigError(f"The recording {name} cannot be aligned with its text: {error}.") from error

    def _sentences(self, name: str, text: str) -> list[AlignedSentence]:
        """The sentences of a text that sound, aligned with its recording; ConfigError where the two do not match."""
        read, sounding = self._read(name, text)
        alignment = self._aligned(name, text, sounding)
        if alignment.score < LEAST:
            raise ConfigError(
                f"The recording {name} does not sound like its text (score {alignment.score:.2f}, least {LEAST}): "
                "correct the text, or leave it out with --skip-missing."
            )
        out, at = list[AlignedSentence](), 0
        for (words, pronounced), sounds in zip(read, sounding, strict=True):
            count = sum(map(len, sounds))
            if count:
                out.append(self._sentence(words, pronounced, part(alignment, at, at + count)))
            at += count
        return out

    def _sounds(self, word: Pronunciation) -> list[str]:
        """The symbols of a word that have a length."""
        symbols = [self._symbols[int(number)] for number in word.ids]
        return [symbol for symbol in symbols if symbol not in PAUSES and symbol not in UNSOUNDED]

    def _sentence(
        self, words: Sequence[Word], pronounced: Sequence[Pronunciation], alignment: PhonemeTimes
    ) -> AlignedSentence:
        """A sentence with the edges of all its phonemes: pauses lie between those that sound, marks have no length."""
        ids = np.concatenate([word.ids for word in pronounced])
        symbols, edges_s, at = [self._symbols[int(number)] for number in ids], list[float](), 0
        for symbol in symbols:
            if symbol in PAUSES:
                edges_s.append(float(alignment.end_s[at - 1]) if at else float(alignment.begin_s[0]))
            else:
                edges_s.append(float(alignment.begin_s[min(at, len(alignment.begin_s) - 1)]))
                at += symbol not in UNSOUNDED
        marks = len(symbols) - len("".join(symbols).rstrip(PAUSES))
        edges_s.append(float(alignment.end_s[-1]))
        text = " ".join(word.text for word in words)
        return AlignedSentence(text, ids, pronounced, np.maximum.accumulate(np.array(edges_s, np.float32)), marks)


def part(alignment: PhonemeTimes, first: int, end: int) -> PhonemeTimes:
    """The alignment of some of its phonemes."""
    return PhonemeTimes(alignment.begin_s[first:end], alignment.end_s[first:end], alignment.score)
