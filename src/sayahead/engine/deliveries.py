"""Where in a text its delivery changes, and what that does to its words and their samples."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sayahead.types import PLAIN, Delivery, Floats, Pronunciation, Word

PLAIN_TONE = np.array([0.0, 1.0, 1.0, 0.0, 0.0], np.float32)
"""The row of ``Segment.tones`` that changes nothing."""
RAMP_S = 0.01
"""Duration of a change of volume."""


class Deliveries:
    """The deliveries of one text: each applies from a position of the source text on."""

    def __init__(self, speeds: tuple[float, float]) -> None:
        """``speeds``: lower and upper bound of a word's speed."""
        self._min_speed, self._max_speed = speeds
        self._starts = [0]
        self._deliveries = [PLAIN]

    def begin(self, at: int, delivery: Delivery) -> None:
        """Apply ``delivery`` from position ``at`` on, which is where the text ends so far."""
        if self._starts[-1] == at:
            self._deliveries[-1] = delivery
        else:
            self._starts.append(at)
            self._deliveries.append(delivery)

    def revise(self, at: int) -> None:
        """Drop the deliveries of the text from ``at`` on, which is replaced; the last one applies
        to its replacement."""
        last = self._deliveries[-1]
        kept_count = max(1, bisect.bisect_right(self._starts, at))
        del self._starts[kept_count:], self._deliveries[kept_count:]
        self.begin(at, last)

    def applied(self, words: list[Word]) -> list[Word]:
        """Return the words with the deliveries of their positions applied."""
        return [self._apply_to(word) for word in words]

    def _apply_to(self, word: Word) -> Word:
        """Return a word with its own delivery and the one at its position joined.

        The speed of both becomes the word's speed, within the bounds.
        """
        positional = self._deliveries[bisect.bisect_right(self._starts, word.start) - 1]
        delivery = word.delivery.joined(positional)
        if delivery == PLAIN:
            return word
        speed = min(max(word.speed * delivery.speed, self._min_speed), self._max_speed)
        remaining = replace(delivery, speed=1.0)
        return replace(word, speed=speed, delivery=PLAIN if remaining == PLAIN else remaining)


def tones_of(words: Sequence[Word], pronunciations: Sequence[Pronunciation]) -> Floats | None:
    """Return ``Segment.tones`` (P, 5) for the phonemes of words; None if no delivery changes
    anything."""
    deliveries = [word.delivery for word in words]
    if all(delivery is PLAIN for delivery in deliveries):
        return None
    for previous, (word, delivery) in enumerate(zip(words[1:], deliveries[1:], strict=True)):
        if delivery.rise and not any(map(str.isalnum, word.text)):
            # A question mark that is a word of its own lifts the word before it.
            deliveries[previous] = deliveries[previous].joined(delivery)
    tones = [
        tones_of_word(delivery, word)
        for delivery, word in zip(deliveries, pronunciations, strict=True)
    ]
    return np.concatenate(tones)


def tones_of_word(delivery: Delivery, word: Pronunciation) -> Floats:
    """Return the tones (P, 5) of one word: pitch, pitch range, energy, whisper, and the rise within
    each phoneme."""
    row = (delivery.pitch, delivery.pitch_range, delivery.energy, float(delivery.whispered), 0.0)
    tones = np.tile(np.array(row, np.float32), (len(word.ids), 1))
    if delivery.rise:
        # The square puts most of the rise at the end of the word.
        fractions = np.linspace(0, 1, word.end - word.first + 1, dtype=np.float32) ** 2
        rise_at_edges = delivery.rise * fractions
        tones[word.first : word.end, 0] += rise_at_edges[:-1]
        tones[word.first : word.end, 4] = np.diff(rise_at_edges)
        tones[word.end :, 0] += rise_at_edges[-1]
    return tones


class Gain:
    """The volume of one session's samples, which changes at the onsets of words."""

    def __init__(self, volume: float, sample_rate: int) -> None:
        self._volume = volume
        self._gain = volume
        self._ramp = max(1, round(RAMP_S * sample_rate))
        # Pending changes: onset of a word in samples of the session, gain from there on.
        self._changes: list[tuple[int, float]] = []

    def begin(self, onset: int, delivery: Delivery) -> None:
        """Record that a word with ``delivery`` begins at sample ``onset``."""
        gain = self._volume * delivery.volume
        if gain != (self._changes[-1][1] if self._changes else self._gain):
            self._changes.append((onset, gain))

    def applied(self, samples: Floats, start: int) -> Floats:
        """Return samples, the first of which has number ``start``, with the gain applied."""
        end = start + len(samples)
        if not self._changes:
            return samples if self._gain == 1.0 else samples * np.float32(self._gain)
        # A ramp that began in the samples before this chunk continues where it was.
        knots = [self._changes[0][0] - 1]
        gains = [self._gain]
        for onset, gain in self._changes:
            begin = max(onset, knots[-1])
            knots += [begin, begin + self._ramp]
            gains += [gains[-1], gain]
        envelope = np.interp(np.arange(start, end), knots, gains).astype(np.float32)
        if knots[-1] <= end:
            self._gain = gains[-1]
            self._changes = []
        return samples * envelope
