"""A text that another server goes on with: from where it is said again, and what of that is new.

The same text makes nearly the same sound, so the open sentence is said again from its beginning,
and as much of it left out as has arrived: the cut is at the same place of the same word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from sayahead.types import Floats, WordTiming

MAX_AGAIN = 400
"""Characters that are said again at most; of a longer sentence, its end."""
_GLUED = re.compile(r"(?<=\S)(?=\S)")
_ENDS = re.compile(r"[.!?…]['\")\]»”’]*\s+$|[。！？]\s*$|\n\s*$")


def begin_again(text: str, words: Sequence[WordTiming], seams: Iterable[int] = ()) -> int:
    """The character from which a text is said again whose last ``words`` have arrived: the open
    sentence's first.

    ``seams``: where the text was revised. What touches a word that had been spoken by then is a
    word of its own, and would be read as one with it.
    """
    if not words:
        return 0
    ends = {word.end for word in words}
    seam = max((place for place in seams if place in ends and _GLUED.match(text, place)), default=0)
    for before, word in zip(reversed(words[:-1]), reversed(words), strict=False):
        if (
            _ENDS.search(text, before.start, word.start)
            or words[-1].start - before.start > MAX_AGAIN
        ):
            return max(seam, word.start)
    return max(seam, words[0].start)


class Splice:
    """Leaves out what has arrived of a sentence that is said again."""

    def __init__(
        self,
        last: WordTiming | None,
        samples: int,
        offset: int,
        tail: Floats,
        part: Callable[[int, int], str] = lambda start, end: "",
    ) -> None:
        """``last``: the last word that has arrived, and ``samples``: all samples, both counted over
        the whole text; ``offset``: the text's character with which the new sound begins. ``tail``
        (S,): the last samples, to which what follows is joined where the waves fit best: half of
        their length earlier or later. ``part``: the text from one character to another, as it is
        then."""
        self._last = last
        self._samples = samples
        self._offset = offset
        self._tail = tail
        self._reach = len(tail) // 2
        self._part = part
        # The new sound's sample with which what is missing begins; None: not known yet.
        self._skip: int | None = None if last is not None else samples
        # The new sound up to `_seen` that may be needed to join it, and words in it.
        self._seen = 0
        self._kept = tail[:0]
        self._fresh = list[WordTiming]()
        self._joined = False

    @property
    def shift(self) -> int | None:
        """By how many samples the new sound is ahead of the whole text's; None while that is not
        known."""
        return self._skip - self._samples if self._joined and self._skip is not None else None

    def take(self, samples: Floats, words: Sequence[WordTiming]) -> tuple[Floats, list[WordTiming]]:
        """What is new of a chunk: samples (S,), and words whose places are counted over the whole
        text. Their times still count from the new sound's first sample."""
        last = self._last
        for word in words:
            start = word.start + self._offset
            end = word.end + self._offset
            # A flush may have come elsewhere: what was one word may be two now.
            if last is not None and (start <= last.start or start < last.end >= end):
                rest = self._rest(word, last)
                if rest is None:
                    if start == last.start:
                        self._skip = self._after(word, last)
                    continue
                word = rest
                start = last.end
            self._fresh.append(replace(word, start=start, end=end))
            # Before a word that is new, nothing is left out of it.
            if not self._joined and (self._skip is None or word.onset_samples < self._skip):
                self._skip = word.onset_samples
        self._seen += len(samples)
        if not self._joined:
            self._kept = np.concatenate([self._kept, samples])
            if self._skip is None or self._seen < self._skip + self._reach:
                least = self._seen if self._skip is None else min(self._seen, self._skip)
                self._kept = self._kept[
                    max(0, least - len(self._tail) - self._reach - self._seen + len(self._kept)) :
                ]
                return samples[:0], []
            self._joined, self._skip = True, self._best(self._skip)
            samples = self._kept[self._skip - self._seen + len(self._kept) :]
            self._kept = self._tail[:0]
        fresh = self._fresh
        self._fresh = []
        return samples, fresh

    def _rest(self, word: WordTiming, last: WordTiming) -> WordTiming | None:
        """What is new of the word that had arrived last, where a revision has put more to its end
        since."""
        start = word.start + self._offset
        end = word.end + self._offset
        if end <= last.end or not any(map(str.isalnum, self._part(last.end, end))):
            return None
        onset = word.onset_samples + (word.offset_samples - word.onset_samples) * (
            last.end - start
        ) // (end - start)
        return replace(word, onset_samples=onset)

    def _after(self, word: WordTiming, last: WordTiming) -> int:
        """Where in the new sound the other stopped, which broke off in this word or in the pause
        after it."""
        if self._samples > last.offset_samples:
            return word.offset_samples + self._samples - last.offset_samples
        return min(word.onset_samples + self._samples - last.onset_samples, word.offset_samples)

    def _best(self, skip: int) -> int:
        """The place near ``skip`` before which the new sound is most like the tail."""
        begin = self._seen - len(self._kept)
        size = len(self._tail)
        places = [
            place
            for place in range(skip - self._reach, skip + self._reach + 1)
            if place - size >= begin
        ]
        if not size or not self._tail.any() or not places:
            return skip
        windows = np.stack([self._kept[place - size - begin : place - begin] for place in places])
        likeness = (
            windows
            @ self._tail
            / (np.linalg.norm(windows, axis=1) * np.linalg.norm(self._tail) + 1e-9)
        )
        # Of equally good ones, the nearest.
        return max(
            zip(likeness.round(3), (-abs(place - skip) for place in places), places, strict=True)
        )[2]
