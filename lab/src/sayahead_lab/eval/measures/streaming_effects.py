"""Effects of streaming on an utterance's sound: at its seams, on its prosody, and against the same
text at once."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sayahead.errors import ConfigError
from sayahead.sound.pcm import from_pcm16, to_pcm16
from sayahead.sound.pitch import pitch_hz
from sayahead.types import Floats, Word

from sayahead_lab.eval.experiment.conditions import Condition, session, voice
from sayahead_lab.eval.experiment.trace import Trace
from sayahead_lab.eval.measures.joins import corresponding, seams
from sayahead_lab.eval.measures.prosody import ListenedUtterance, from_sound, sums


@dataclass(frozen=True, slots=True)
class TracedSound:
    """An utterance's sound with its trace."""

    trace: Trace
    """Its chunks with their times, and its words."""
    samples: Floats
    """(S,) the sound."""

    @property
    def words(self) -> tuple[tuple[int, int], ...]:
        """First sample and end of each word."""
        return tuple((word.onset_samples, word.offset_samples) for word in self.trace.words)

    @property
    def with_pitch(self) -> ListenedUtterance:
        """The utterance with the pitch of its sound."""
        return ListenedUtterance(
            pitch_hz(self.samples, self.trace.sample_rate), self.words, self.trace.sample_rate
        )


def same_words(one: Trace, other: Trace) -> bool:
    """Whether two utterances hold the same words: only then can places of the one be found in the
    other."""
    return [word.text for word in one.words] == [word.text for word in other.words]


def at_seams(utterance: TracedSound, full: TracedSound | None) -> dict[str, float]:
    """What ``seams`` counts where the utterance's chunks meet, and at the same places of its full
    sentence, if any."""
    rate = utterance.trace.sample_rate
    places = [chunk.start for chunk in utterance.trace.chunks[1:]]
    if full is None:
        return seams(utterance.samples, places, rate)
    same = corresponding(places, utterance.words, full.words)
    return seams(utterance.samples, places, rate, full=full.samples, full_boundaries=same)


def against_full(
    utterance: TracedSound, full: TracedSound, condition: Condition
) -> dict[str, tuple[float, ...]]:
    """``prosody.sums`` of an utterance against its full sentence; none per phoneme if the voice
    cannot be loaded."""
    words = tuple(word.text for word in full.trace.words)
    phonemes = phoneme_numbers(condition.voice, words)
    parts = sums(from_sound(utterance.with_pitch, full.with_pitch, phonemes))
    if phonemes is None:
        del parts["phoneme"]
    return parts


def phoneme_numbers(name: str, words: Sequence[str]) -> list[int] | None:
    """Number of sounding phonemes of each word by itself; none where the voice cannot be loaded."""
    try:
        return [phonemes_of(name, word) for word in words]
    except ConfigError:
        return None


@functools.cache
def phonemes_of(name: str, word: str) -> int:
    """Number of sounding phonemes of a word by itself."""
    pronunciations = voice(name, 1).phonemizer.phonemize([Word(word, 0, len(word))], left=[])
    return sum(one.end - one.first for one in pronunciations[:1])


def one_shot(utterance: TracedSound, condition: Condition, lm: str | None) -> dict[str, float]:
    """The streamed sound against that of the same text pushed at once, under the same condition.

    ``largest``: the largest difference of two samples, 1 being full scale, where one ends before
    the other to silence; ``equal``: 1 where there is none. Both in 16-bit sound, as a run saves it.
    """
    speaker = session(condition, utterance.trace.source, lm)
    speaker.push(utterance.trace.source)
    speaker.finish()
    samples = np.concatenate(
        [np.zeros(0, np.float32), *(chunk.samples for chunk in speaker.chunks())]
    )
    largest, equal = one_shot_difference(utterance.samples, from_pcm16(to_pcm16(samples).tobytes()))
    return {"largest": largest, "equal": float(equal)}


def one_shot_difference(streamed: Floats, whole: Floats) -> tuple[float, bool]:
    """The largest difference of two sounds, silence after the end of the shorter one, and whether
    they are equal."""
    length = max(len(streamed), len(whole))
    apart = np.abs(
        np.pad(streamed, (0, length - len(streamed))) - np.pad(whole, (0, length - len(whole)))
    )
    largest = float(apart.max(initial=0.0))
    return largest, largest == 0 and len(streamed) == len(whole)
