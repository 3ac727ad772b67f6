"""When each character is heard, for protocols that report characters instead of words."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

from sayahead.server.synthesis import messages as m


@dataclass(frozen=True, slots=True)
class Alignment:
    """Characters of one chunk of audio; each lasts until the next begins, and the last to the end
    of the chunk."""

    chars: tuple[str, ...]
    """The characters, with the blanks between words."""
    starts_ms: tuple[int, ...]
    """When each begins, in milliseconds from the utterance's first sample."""
    ends_ms: tuple[int, ...]
    """When each ends."""
    base_ms: int
    """Where the alignment before this one ended; 0 for the first."""

    def starts(self, *, absolute: bool) -> list[int]:
        """When each begins, in milliseconds from the first sample, or from where the last alignment
        ended."""
        return [start - (0 if absolute else self.base_ms) for start in self.starts_ms]

    @property
    def durations(self) -> list[int]:
        """How long each lasts, in milliseconds."""
        return [end - start for start, end in zip(self.starts_ms, self.ends_ms, strict=True)]


class Aligner:
    """Gives the chunks of one utterance their characters, spread evenly over their word.

    Alignments follow each other without a gap: each ends where its chunk ends, so that a client
    that adds up their lengths has the same clock as one that adds up the audio. A chunk in which no
    character begins gets the next one of the word that goes on, or between words a blank; before
    the first word it gets none."""

    def __init__(self) -> None:
        self._waiting = deque[tuple[str, float]]()
        self._last = ""
        self._last_s = 0.0
        self._base_ms = 0
        # Whether a blank was reported that the text has yet to bring.
        self._early = False

    def push(self, audio: m.Audio, *, fill: bool = True) -> Alignment | None:
        """The characters that begin in a chunk. Without ``fill``, a chunk in which none begins has
        none."""
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
                self._early = not self._last.isspace()
        return self._alignment(entries, end_s)

    def finish(self, end_s: float) -> Alignment | None:
        """What no chunk has reported, with a blank after the last word, for clients that wait for
        one."""
        entries = self._left()
        if not (entries[-1][0] if entries else self._last or " ").isspace():
            entries.append((" ", end_s))
        return self._alignment(entries, end_s)

    def rest(self, end_s: float) -> Alignment | None:
        """What no chunk has reported."""
        return self._alignment(self._left(), end_s)

    def _left(self) -> list[tuple[str, float]]:
        entries = [*self._waiting]
        self._waiting.clear()
        return entries

    def _alignment(self, entries: list[tuple[str, float]], end_s: float) -> Alignment | None:
        if not entries:
            return None
        base = self._base_ms
        end = max(self._base_ms, round(end_s * 1000))
        starts = [min(end, max(base, round(at * 1000))) for _, at in entries]
        self._base_ms = end
        self._last = entries[-1][0]
        return Alignment(
            tuple(char for char, _ in entries), tuple(starts), (*starts[1:], end), base
        )

    def _add(self, audio: m.Audio) -> None:
        """Take in the text of a chunk, each character at its time."""
        at = audio.text_start
        ends = list(audio.words)
        for place, char in enumerate(audio.text, audio.text_start):
            while ends and ends[0].end <= place:
                ends.pop(0)
            if self._early:
                self._early = False
                if char.isspace():
                    continue
            if ends and ends[0].start <= place:
                self._last_s = max(self._last_s, spread(ends[0], place, at))
            else:
                self._last_s = max(
                    [self._last_s, *(word.offset_s for word in audio.words if word.end <= place)]
                )
            self._waiting.append((char, self._last_s))


def spread(word: m.SpokenWord, place: int, first: int) -> float:
    """When a character of a word is heard, seconds; those before ``first`` were reported
    already."""
    start = max(word.start, first)
    return word.onset_s + (word.offset_s - word.onset_s) * (place - start) / max(
        1, word.end - start
    )


def source_words(audio: m.Audio) -> list[m.SpokenWord]:
    """The words that begin in a chunk, as they are written: "Dr." and not "Doctor"; not those that
    are not written."""
    start = audio.text_start
    written = [word for word in audio.words if word.end > word.start]
    return [
        replace(word, text=audio.text[word.start - start : word.end - start]) for word in written
    ]
