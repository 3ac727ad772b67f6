"""Where in a text its delivery changes, and what that does to its words and their samples."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sayahead.types import PLAIN, Delivery, Floats, Pronunciation, Word

PLAIN_TONE = np.array([0.0, 1.0, 1.0, 0.0, 0.0], np.float32)
"""A row of ``Segment.tones`` that changes nothing."""
RAMP_S = 0.01
"""How long a change of volume takes."""


class Deliveries:
    """The deliveries of one text, each from a place of the source on."""

    def __init__(self, speeds: tuple[float, float]) -> None:
        """``speeds``: the least and the most that a word's speed may become."""
        self._least, self._most = speeds
        self._starts = [0]
        self._deliveries = [PLAIN]

    def begin(self, at: int, delivery: Delivery) -> None:
        """From ``at`` on, where the text ends so far, it is another."""
        if self._starts[-1] == at:
            self._deliveries[-1] = delivery
        else:
            self._starts.append(at)
            self._deliveries.append(delivery)

    def revise(self, at: int) -> None:
        """The text from ``at`` on is replaced: what was asked for last holds for all that
        follows."""
        last = self._deliveries[-1]
        kept = max(1, bisect.bisect_right(self._starts, at))
        del self._starts[kept:], self._deliveries[kept:]
        self.begin(at, last)

    def applied(self, words: list[Word]) -> list[Word]:
        """The words as they are to be said."""
        return [self._applied(word) for word in words]

    def _applied(self, word: Word) -> Word:
        own = self._deliveries[bisect.bisect_right(self._starts, word.start) - 1]
        delivery = word.delivery.joined(own)
        if delivery == PLAIN:
            return word
        speed = min(max(word.speed * delivery.speed, self._least), self._most)
        rest = replace(delivery, speed=1.0)
        return replace(word, speed=speed, delivery=PLAIN if rest == PLAIN else rest)


def tones_of(words: Sequence[Word], pronunciations: Sequence[Pronunciation]) -> Floats | None:
    """(P, 5) ``Segment.tones`` of the phonemes of words; None where they change nothing."""
    deliveries = [word.delivery for word in words]
    if all(delivery is PLAIN for delivery in deliveries):
        return None
    for at, (word, delivery) in enumerate(zip(words[1:], deliveries[1:], strict=True)):
        if delivery.rise and not any(map(str.isalnum, word.text)):
            # A question mark by itself: the word before it rises.
            deliveries[at] = deliveries[at].joined(delivery)
    tones = [
        tones_of_word(delivery, word)
        for delivery, word in zip(deliveries, pronunciations, strict=True)
    ]
    return np.concatenate(tones)


def tones_of_word(delivery: Delivery, word: Pronunciation) -> Floats:
    """(P, 5) the tones of one word."""
    row = (delivery.pitch, delivery.pitch_range, delivery.energy, float(delivery.whispered), 0.0)
    tones = np.tile(np.array(row, np.float32), (len(word.ids), 1))
    if delivery.rise:
        # Most of the rise is at the end.
        shares = np.linspace(0, 1, word.end - word.first + 1, dtype=np.float32) ** 2
        edges = delivery.rise * shares
        tones[word.first : word.end, 0] += edges[:-1]
        tones[word.first : word.end, 4] = np.diff(edges)
        tones[word.end :, 0] += edges[-1]
    return tones


class Gain:
    """The volume of one session's samples, which changes where words begin."""

    def __init__(self, volume: float, sample_rate: int) -> None:
        self._volume = volume
        self._gain = volume
        self._ramp = max(1, round(RAMP_S * sample_rate))
        # Onsets of words in samples of the session, and the gain from there on.
        self._changes: list[tuple[int, float]] = []

    def begin(self, onset: int, delivery: Delivery) -> None:
        """A word begins at a sample."""
        gain = self._volume * delivery.volume
        if gain != (self._changes[-1][1] if self._changes else self._gain):
            self._changes.append((onset, gain))

    def applied(self, samples: Floats, start: int) -> Floats:
        """Samples from ``start`` on as loud as they are to be."""
        end = start + len(samples)
        if not self._changes:
            return samples if self._gain == 1.0 else samples * np.float32(self._gain)
        # A ramp that the samples before have begun goes on where it was.
        places = [self._changes[0][0] - 1]
        gains = [self._gain]
        for onset, gain in self._changes:
            begin = max(onset, places[-1])
            places += [begin, begin + self._ramp]
            gains += [gains[-1], gain]
        envelope = np.interp(np.arange(start, end), places, gains).astype(np.float32)
        if places[-1] <= end:
            self._gain = gains[-1]
            self._changes = []
        return samples * envelope
