"""Character times, for protocols that report characters instead of words."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

from sayahead.server.synthesis import messages as m


@dataclass(frozen=True, slots=True)
class Alignment:
    """The characters of one chunk of audio. Each lasts until the next begins, the last one until
    the end of the chunk."""

    chars: tuple[str, ...]
    """The characters, including the spaces between words."""
    starts_ms: tuple[int, ...]
    """Start of each, in milliseconds from the utterance's first sample."""
    ends_ms: tuple[int, ...]
    """End of each."""
    base_ms: int
    """End of the alignment before this one; 0 for the first."""

    def starts(self, *, absolute: bool) -> list[int]:
        """Return the start of each, in milliseconds from the first sample (``absolute``) or from
        ``base_ms``."""
        return [start - (0 if absolute else self.base_ms) for start in self.starts_ms]

    @property
    def durations(self) -> list[int]:
        """Duration of each, in milliseconds."""
        return [end - start for start, end in zip(self.starts_ms, self.ends_ms, strict=True)]


class Aligner:
    """Assigns characters to the chunks of one utterance, spread evenly over their words.

    Alignments are contiguous: each ends with its chunk, so that a client that adds up durations
    keeps in step with the audio. A chunk in which no character begins gets the next character of
    the current word, or a space between words; before the first word it gets none.
    """

    def __init__(self) -> None:
        self._waiting = deque[tuple[str, float]]()
        self._last = ""
        self._last_s = 0.0
        self._base_ms = 0
        # Whether a space was reported before the text contained it.
        self._has_early_space = False

    def push(self, audio: m.Audio, *, fill: bool = True) -> Alignment | None:
        """Return the characters that begin in a chunk; None if there are none.

        ``fill``: whether to give a chunk a character even if none begins in it.
        """
        self._add(audio)
        end_s = audio.start_s + audio.duration_s
        entries = list[tuple[str, float]]()
        while self._waiting and self._waiting[0][1] < end_s:
            entries.append(self._waiting.popleft())
        if not entries and fill:
            if self._waiting:
                entries = [(self._waiting.popleft()[0], audio.start_s)]
            elif self._last:
                entries = [(" ", audio.start_s)]
                self._has_early_space = not self._last.isspace()
        return self._alignment(entries, end_s)

    def finish(self, end_s: float) -> Alignment | None:
        """Return the characters that no chunk has reported, with a space after the last word for
        clients that wait for one."""
        entries = self._take_waiting()
        last = entries[-1][0] if entries else self._last
        if last and not last.isspace():
            entries.append((" ", end_s))
        return self._alignment(entries, end_s)

    def rest(self, end_s: float) -> Alignment | None:
        """Return the characters that no chunk has reported."""
        return self._alignment(self._take_waiting(), end_s)

    def _take_waiting(self) -> list[tuple[str, float]]:
        """Remove and return the waiting characters with their times."""
        entries = [*self._waiting]
        self._waiting.clear()
        return entries

    def _alignment(self, entries: list[tuple[str, float]], end_s: float) -> Alignment | None:
        """Return the alignment of (character, start in seconds) pairs up to ``end_s``; None without
        any."""
        if not entries:
            return None
        base = self._base_ms
        end = max(self._base_ms, round(end_s * 1000))
        starts = [min(end, max(base, round(start_s * 1000))) for _, start_s in entries]
        self._base_ms = end
        self._last = entries[-1][0]
        return Alignment(
            tuple(char for char, _ in entries), tuple(starts), (*starts[1:], end), base
        )

    def _add(self, audio: m.Audio) -> None:
        """Queue the characters of a chunk's text with their times, which never go back.

        A character between two words has the time at which the first of them ends.
        """
        words = deque(audio.words)
        for position, char in enumerate(audio.text, audio.text_start):
            while words and words[0].end <= position:
                self._last_s = max(self._last_s, words.popleft().offset_s)
            if self._has_early_space:
                self._has_early_space = False
                if char.isspace():
                    continue
            if words and words[0].start <= position:
                start_s = spread(words[0], position, audio.text_start)
                self._last_s = max(self._last_s, start_s)
            self._waiting.append((char, self._last_s))


def spread(word: m.SpokenWord, place: int, first: int) -> float:
    """Return the time of the character at ``place`` of a word, in seconds; those before ``first``
    were reported already."""
    start = max(word.start, first)
    return word.onset_s + (word.offset_s - word.onset_s) * (place - start) / max(
        1, word.end - start
    )


def source_words(audio: m.Audio) -> list[m.SpokenWord]:
    """Return the words that begin in a chunk as they are written ("Dr.", not "Doctor"); words that
    are not in the text are left out."""
    start = audio.text_start
    written = [word for word in audio.words if word.end > word.start]
    return [
        replace(word, text=audio.text[word.start - start : word.end - start]) for word in written
    ]
