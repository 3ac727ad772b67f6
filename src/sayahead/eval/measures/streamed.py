"""What streaming does to the sound of an utterance: at its seams, in its prosody, and against the same text at once."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sayahead.errors import ConfigError
from sayahead.eval.experiment.conditions import Condition, session, voice
from sayahead.eval.experiment.trace import Trace
from sayahead.eval.measures.pitch import pitch_hz
from sayahead.eval.measures.prosody import Heard, from_sound, sums
from sayahead.eval.measures.seams import COUNTS, corresponding, one_shot_difference, seams
from sayahead.sound.pcm import to_pcm16
from sayahead.types import Floats, Word


@dataclass(frozen=True, slots=True)
class Said:
    """An utterance's sound with its trace."""

    trace: Trace
    """What was handed out when, and which words it holds."""
    samples: Floats
    """(S,) the sound."""

    @property
    def words(self) -> tuple[tuple[int, int], ...]:
        """First sample and end of each word."""
        return tuple((word.onset, word.offset) for word in self.trace.words)

    @property
    def heard(self) -> Heard:
        """The utterance with the pitch of its sound."""
        return Heard(pitch_hz(self.samples, self.trace.sample_rate), self.words, self.trace.sample_rate)


def same_words(made: Trace, full: Trace) -> bool:
    """Whether two utterances hold the same words: only then can places of the one be found in the other."""
    return [word.text for word in made.words] == [word.text for word in full.words]


def at_seams(made: Said, full: Said | None) -> dict[str, float]:
    """What ``seams`` counts where the utterance's chunks meet, beside the same places of its full sentence if given."""
    rate = made.trace.sample_rate
    places = [chunk.start for chunk in made.trace.chunks[1:]]
    if full is None:
        found = seams(made.samples, places, rate)
    else:
        same = corresponding(places, made.words, full.words)
        found = seams(made.samples, places, rate, whole=full.samples, whole_boundaries=same)
    return {key: float(found[key]) for key in COUNTS}


def against_full(made: Said, full: Said, condition: Condition) -> dict[str, tuple[float, ...]]:
    """``prosody.sums`` of an utterance against its full sentence; none by phoneme where the voice cannot be loaded."""
    words = tuple(word.text for word in full.trace.words)
    phonemes = phoneme_numbers(condition.voice, words)
    found = sums(from_sound(made.heard, full.heard, phonemes))
    if phonemes is None:
        del found["phoneme"]
    return found


def phoneme_numbers(name: str, words: Sequence[str]) -> list[int] | None:
    """How many sounding phonemes each word has by itself in a voice; none where that cannot be loaded."""
    try:
        return [phonemes_of(name, word) for word in words]
    except ConfigError:
        return None


@functools.cache
def phonemes_of(name: str, word: str) -> int:
    read = voice(name, 1).phonemizer.phonemize([Word(word, 0, len(word))], left=[])
    return sum(one.end - one.first for one in read[:1])


def one_shot(made: Said, condition: Condition, lm: str | None) -> dict[str, float]:
    """How the streamed sound differs from that of the same text pushed at once, under the same condition.

    ``largest``: the largest difference of two samples, 1 being full scale, where one ends before the other to silence;
    ``equal``: 1 where there is none. Both as 16-bit sound, which is what a run leaves.
    """
    speaker = session(condition, made.trace.source, lm)
    speaker.push(made.trace.source)
    speaker.finish()
    whole = np.concatenate([np.zeros(0, np.float32), *(chunk.samples for chunk in speaker.chunks())])
    left = np.rint(made.samples.astype(np.float64) * 32768).astype(np.float32)
    right = to_pcm16(whole).astype(np.float32)
    found = one_shot_difference(left, right)
    tail = (left if found.longer > 0 else right)[min(len(left), len(right)) :]
    largest = max(found.largest, float(np.abs(tail).max(initial=0.0))) / 32768
    return {"largest": largest, "equal": float(found.equal)}
