"""The records that travel between the parts.

Axes: N words, P phonemes, T frames, S samples, D channels. Integers count words, frames, samples or
characters and the name says which; seconds are floats whose names end in ``_s``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sayahead.errors import renamed

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Delivery:
    """How words are said from a place of the text on, beside what the session asks for; the default
    changes nothing.

    What a voice cannot change, it leaves alone.
    """

    speed: float = 1.0
    """Factor on the session's pace."""
    pitch: float = 0.0
    """Semitones up, or down where negative."""
    pitch_range: float = 1.0
    """Factor on how far the pitch moves; 0 is monotonous."""
    energy: float = 1.0
    """Factor on the vocal effort: above 1 more forceful, below 1 softer."""
    volume: float = 1.0
    """Factor on the samples."""
    whispered: bool = False
    """Whether the vocal folds are still: all sound is breath."""
    rise: float = 0.0
    """Semitones that the pitch rises within each word, as at the end of a question."""

    def joined(self, other: Delivery) -> Delivery:
        """Both at once, within what voices can do."""
        if other == Delivery():
            return self
        if self == Delivery():
            return other
        return Delivery(
            speed=min(max(self.speed * other.speed, 0.3), 3.0),
            pitch=min(max(self.pitch + other.pitch, -12.0), 12.0),
            pitch_range=min(self.pitch_range * other.pitch_range, 2.0),
            energy=min(max(self.energy * other.energy, 0.2), 4.0),
            volume=min(self.volume * other.volume, 4.0),
            whispered=self.whispered or other.whispered,
            # Where one is monotonous, the other does not rise.
            rise=self.rise * other.pitch_range + other.rise * self.pitch_range,
        )


PLAIN = Delivery()
"""The delivery that changes nothing."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word that no later text can change: the unit of reading, lookahead and timing."""

    text: str
    """Its spoken form, with prosodic punctuation: ``"fox,"``, ``"five million dollars."``."""
    start: int
    """Where it starts in the source text, in characters from the first fragment on."""
    end: int
    """Where it ends in the source text (exclusive), including its punctuation and markup."""
    ends: bool = False
    """Whether a sentence (an utterance) ends after it."""
    speed: float = 1.0
    """How many times as fast as the session's speed it is said, by voices that can change theirs in
    a sentence."""
    phonemes: str = ""
    """The voice's symbols that are spoken for it; empty: its text is read."""
    pause_s: float = 0.0
    """Seconds of silence that stand in its place: it is no word, its text a mark or empty."""
    continues: bool = False
    """Whether the next word is the rest of what is read here: once this one is spoken, that cannot
    be taken back."""
    delivery: Delivery = PLAIN
    """How it is said; its pace is ``speed``."""


@dataclass(frozen=True, slots=True)
class Pronunciation:
    """A word as the voice pronounces it in its sentence."""

    ids: Ids
    """(P,) phoneme ids: a space if a word came before, the phonemes, punctuation."""
    first: int
    """Index of its first sounding phoneme."""
    end: int
    """End of the sounding ones."""


@dataclass(frozen=True, slots=True)
class WordTiming:
    """When a word is heard; final once handed out."""

    text: str
    """The word as it is spoken: "nine thirty"."""
    start: int
    """First character in the source text."""
    end: int
    """End in the source text (exclusive)."""
    onset_samples: int
    """First sample of the word, from the first sample of the session."""
    offset_samples: int
    """End of its last phoneme in samples (exclusive), as expected when its onset was handed out:
    what follows may lengthen it a little. Spaces and pauses lie between words."""
    written: str = ""
    """The word as it is written, without markup: "9:30". Empty if it goes on with what the word
    before stands for."""
    speaker: str = ""
    """Who says it, in a text with several speakers."""
    ends: bool = False
    """Whether a sentence, a heading or an item of a list is known to end with it."""

    @property
    def onset(self) -> int:
        """The name of ``onset_samples`` in version 0.1."""
        renamed("onset", "onset_samples")
        return self.onset_samples

    @property
    def offset(self) -> int:
        """The name of ``offset_samples`` in version 0.1."""
        renamed("offset", "offset_samples")
        return self.offset_samples


@dataclass(frozen=True, slots=True)
class Segment:
    """What a synthesizer receives for one SPEAK."""

    ids: Ids
    """(P,) phoneme ids: the words to speak, then the lookahead, real or predicted."""
    speak: int
    """How many of the ids are to be spoken; the others are right context."""
    spans: tuple[tuple[int, int], ...]
    """Sounding phonemes of each word to speak, ``[first, end)`` in ``ids``, without spaces and
    pauses."""
    ends: bool
    """Whether the sentence is known to end after the last id."""
    embedding: Floats | None = None
    """(D,) context embedding that stands in for the future, or none."""
    predicted: int = 0
    """How many ids at the end belong to predicted words: models may treat them differently from
    real lookahead."""
    breath: bool = False
    """Whether more text may take long: what is held back is handed out, too, and the sentence goes
    on."""
    speeds: Floats | None = None
    """(P,) how many times as fast as the session's speed each phoneme is said; None: as fast.
    Voices that cannot change their speed leave it alone."""
    tones: Floats | None = None
    """(P, 5) how each phoneme is said: semitones, factors on pitch range and energy, and 1 where it
    is whispered; None: all as the voice has it. Voices that cannot change these leave them
    alone."""
    pause: float = 1.0
    """Factor on the pause after the sentence, if it ends with this segment."""
    silence_s: float = 0.0
    """Seconds of silence after it. Without ``breath`` there is nothing to speak before them."""
    stretch: float = 1.0
    """Factor on the durations of phonemes that are held back: above 1 they are drawn out."""
    steps: int | None = None
    """For models that read characters: ``ids`` are the next characters, ``words`` count from the
    sentence's first one, and this many decoder steps are to be made; None: words are to be
    spoken."""

    @property
    def closes(self) -> bool:
        """Whether the sentence is over once the segment's words are spoken."""
        return self.ends and self.speak == len(self.ids)


NOTHING = Segment(np.zeros(0, np.int64), 0, (), False)
"""A segment that says nothing: it asks for what is left of the one before."""


@dataclass(frozen=True, slots=True)
class SynthesizedAudio:
    """What a synthesizer returns for one segment."""

    samples: Floats
    """(S,) mono samples that are now final, in [-1, 1]; may be empty while sound is held back."""
    words: tuple[tuple[int, int], ...]
    """Onset and offset of each word of the segment, in samples from the start of the session."""
    observation: Floats | None = None
    """What a frame-level policy sees of the step (D,); none for models that act on words."""
    ended: bool = False
    """Whether the sentence is over with these samples."""
    more: bool = False
    """Whether a segment of nothing would give more of what the last segment says."""


@dataclass(frozen=True, slots=True)
class AudioChunk:
    """A stretch of sound, in order, without gaps."""

    samples: Floats
    """(S,) mono samples in [-1, 1]."""
    start_samples: int
    """Index of its first sample, from the first sample of the session."""
    sample_rate: int
    """Samples per second."""
    words: tuple[WordTiming, ...]
    """The words whose onset lies in this chunk."""

    @property
    def duration_s(self) -> float:
        """Playing time of the chunk in seconds."""
        return len(self.samples) / self.sample_rate

    @property
    def start(self) -> int:
        """The name of ``start_samples`` in version 0.1."""
        renamed("start", "start_samples")
        return self.start_samples


@dataclass(frozen=True, slots=True)
class EncodedChunk:
    """A stretch of encoded sound: all chunks joined are a whole file or stream."""

    data: bytes
    """The bytes to send or write; may be empty while the encoder waits for a full frame."""
    start_s: float
    """Where the sound that went in begins, in seconds from the first sample; what comes out may lag
    by a frame."""
    duration_s: float
    """Its playing time in seconds; 0 for what is left at the end."""
    sample_rate: int
    """Samples per second that the words' times count in: those of the sound that went in."""
    words: tuple[WordTiming, ...]
    """The words whose onset lies in this chunk."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How the sound of a voice of source and filter is changed; the default changes nothing."""

    pitch: float = 0.0
    """Semitones up, or down where negative."""
    pitch_range: float = 1.0
    """Factor on how far the pitch moves about the voice's middle; 0 is monotonous."""
    formants: float = 1.0
    """Factor on the frequencies of the vocal tract's resonances; below 1 it is longer, as a large
    man's."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """How a session's voice renders; fixed for the life of the session."""

    speed: float = 1.0
    """Pace: durations are divided by it."""
    hold_back_s: float = 0.1
    """Sound at the right end of what was spoken that is held back until it is rendered again with
    more context."""
    blind_hold_back_s: float | None = None
    """The same where a SPEAK sees no real word after those it speaks; None: the same amount."""
    seed: int = 0
    """Fixes every random draw, keyed to absolute positions (Ma 4.2: the fixed z)."""
    k2: int = 0
    """Ma's second lookahead: SPEAKs whose frames must follow before a SPEAK's frames become
    sound."""
    delta: int | None = None
    """Frames of right context that the second stage may see (Ma's delta); None: as many as it can
    use."""
    speaker: int = 0
    """Number of the speaker, of a voice that has several."""


if not TYPE_CHECKING:  # Type checkers tell a wrong name; this would take any.

    def __getattr__(name: str) -> type[SynthesizedAudio]:
        if name != "Speech":
            raise AttributeError(f"module 'sayahead.types' has no attribute {name!r}")
        renamed("types.Speech", "types.SynthesizedAudio")
        return SynthesizedAudio


def subtags(language: str) -> list[str]:
    """The parts of a BCP 47 tag, in small letters: ``pt_BR`` as pt and br."""
    return language.lower().replace("_", "-").split("-")
