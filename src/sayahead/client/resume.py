"""Resumes a text on another server: from where it is sent again, and which part of the sound is
new.

The same text gives nearly the same sound. So the open sentence is spoken again from its beginning,
and the part that was received is cut off, at the same position of the same word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from sayahead.types import Floats, WordTiming

MAX_REPEATED = 400
"""Most characters that are spoken again; of a longer sentence, its end."""
_GLUED = re.compile(r"(?<=\S)(?=\S)")
"""Between two characters without white space."""
_ENDS = re.compile(r"[.!?…]['\")\]»”’]*\s+$|[。！？]\s*$|\n\s*$")
"""The end of a sentence before the next word."""


def resume_position(text: str, words: Sequence[WordTiming], seams: Iterable[int] = ()) -> int:
    """Return the position from which to send a text again: the beginning of its open sentence.

    ``words``: the last words received. ``seams``: positions of revisions: text that was appended
    directly to a spoken word is a word of its own, and would otherwise be read as one with it.
    """
    if not words:
        return 0
    ends = {word.end for word in words}
    seam = max((place for place in seams if place in ends and _GLUED.match(text, place)), default=0)
    for before, word in zip(reversed(words[:-1]), reversed(words), strict=False):
        if (
            _ENDS.search(text, before.start, word.start)
            or words[-1].start - before.start > MAX_REPEATED
        ):
            return max(seam, word.start)
    return max(seam, words[0].start)


class Splice:
    """Cuts off the received part of a sentence that is spoken again.

    Until the chunks reach the cut, they are buffered; then the rest is returned as it comes."""

    def __init__(
        self,
        last: WordTiming | None,
        samples: int,
        offset: int,
        tail: Floats,
        part: Callable[[int, int], str] = lambda start, end: "",
    ) -> None:
        """``last``: the last word received, and ``samples``: all samples received, both counted in
        the whole text.

        ``offset``: position in the text where the new sound begins. ``tail`` (S,): the last samples
        received; the cut moves by up to half of their length to where the waves fit best. ``part``:
        returns the text between two positions.
        """
        self._last = last
        self._samples = samples
        self._offset = offset
        self._tail = tail
        self._reach = len(tail) // 2
        self._part = part
        # First sample of the new sound that was not received; None while that is unknown.
        self._skip: int | None = None if last is not None else samples
        # Number of samples of the new sound so far; the last of them, as far as the cut may need
        # them; and the words that were not received.
        self._sample_count = 0
        self._buffer = tail[:0]
        self._new_words = list[WordTiming]()
        # Whether the cut was made.
        self._is_joined = False

    @property
    def shift(self) -> int | None:
        """How many samples the new sound is ahead of the whole text's; None while that is
        unknown."""
        return self._skip - self._samples if self._is_joined and self._skip is not None else None

    def take(self, samples: Floats, words: Sequence[WordTiming]) -> tuple[Floats, list[WordTiming]]:
        """Return what is new of a chunk: samples (S,), and words. Both are empty while the chunks
        do not reach the cut.

        Positions of words count in the whole text, their times from the new sound's first sample.
        """
        for word in words:
            self._take_word(word)
        self._sample_count += len(samples)
        if not self._is_joined:
            self._buffer = np.concatenate([self._buffer, samples])
            if self._skip is None or self._sample_count < self._skip + self._reach:
                self._trim_buffer()
                return samples[:0], []
            self._is_joined = True
            self._skip = self._best_cut(self._skip)
            samples = self._buffer[self._skip - self._buffer_start :]
            self._buffer = self._tail[:0]
        new_words = self._new_words
        self._new_words = []
        return samples, new_words

    def _take_word(self, word: WordTiming) -> None:
        """Keep a word of the new sound if it was not received, and move the cut if the word shows
        where it must be."""
        last = self._last
        start = word.start + self._offset
        end = word.end + self._offset
        # If a flush came at another moment, one received word may now be two: the second of them
        # lies inside of it.
        if last is not None and (start <= last.start or (start < last.end and end <= last.end)):
            extension = self._extension(word, last)
            if extension is None:
                if start == last.start:
                    self._skip = self._break_sample(word, last)
                return
            word = extension
            start = last.end
        self._new_words.append(replace(word, start=start, end=end))
        # No sound of a new word may be cut off.
        if not self._is_joined and (self._skip is None or word.onset_samples < self._skip):
            self._skip = word.onset_samples

    @property
    def _buffer_start(self) -> int:
        """Sample of the new sound at which the buffer begins."""
        return self._sample_count - len(self._buffer)

    def _trim_buffer(self) -> None:
        """Drop samples that are too early for any cut, and for the window before it."""
        cut = self._sample_count
        if self._skip is not None:
            cut = min(cut, self._skip)
        first = cut - self._reach - len(self._tail)
        self._buffer = self._buffer[max(0, first - self._buffer_start) :]

    def _extension(self, word: WordTiming, last: WordTiming) -> WordTiming | None:
        """Return what a revision has appended to the last word received; None if nothing."""
        start = word.start + self._offset
        end = word.end + self._offset
        if end <= last.end or not any(map(str.isalnum, self._part(last.end, end))):
            return None
        # It begins where its share of the word's characters does.
        duration = word.offset_samples - word.onset_samples
        onset = word.onset_samples + duration * (last.end - start) // (end - start)
        return replace(word, onset_samples=onset)

    def _break_sample(self, word: WordTiming, last: WordTiming) -> int:
        """Return the sample of the new sound that corresponds to the end of the old, which broke
        off in this word or in the pause after it."""
        if self._samples > last.offset_samples:
            return word.offset_samples + self._samples - last.offset_samples
        return min(word.onset_samples + self._samples - last.onset_samples, word.offset_samples)

    def _best_cut(self, skip: int) -> int:
        """Return the sample near ``skip`` before which the new sound is most similar to the
        tail."""
        begin = self._buffer_start
        size = len(self._tail)
        cuts = [
            cut for cut in range(skip - self._reach, skip + self._reach + 1) if cut - size >= begin
        ]
        if not size or not self._tail.any() or not cuts:
            return skip
        windows = np.stack([self._buffer[cut - size - begin : cut - begin] for cut in cuts])
        similarity = (
            windows
            @ self._tail
            / (np.linalg.norm(windows, axis=1) * np.linalg.norm(self._tail) + 1e-9)
        )
        # Among equally similar ones, the nearest.
        distances = (-abs(cut - skip) for cut in cuts)
        _, _, best = max(zip(similarity.round(3), distances, cuts, strict=True))
        return best
