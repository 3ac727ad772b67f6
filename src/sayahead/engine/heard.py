"""What a listener has heard, computed from word times and the seconds that were played."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sayahead.config import check_number, nearest
from sayahead.engine.playback import beyond
from sayahead.errors import ConfigError, renamed
from sayahead.types import WordTiming

BROKEN_OFF = " —"
"""End of the message of a turn that was interrupted."""


def _content(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def _parts(text: str) -> dict[str, Any]:
    return {"role": "model", "parts": [{"text": text}]}


MESSAGES: dict[str, Callable[[str], dict[str, Any]]] = {
    "openai": _content,
    "anthropic": _content,
    "ollama": _content,
    "gemini": _parts,
}
"""Builds an assistant's message from its text, in the form of each API."""


@dataclass(frozen=True, slots=True)
class Heard:
    """How much of a text a listener has heard. ``text + unsaid`` is the whole text as far as it was
    written."""

    word_count: int
    """Words heard: those of which more than half of the sound was played."""
    end: int
    """Where the last heard word ends in the source text."""
    text: str
    """The source text up to ``end``."""
    played_s: float
    """Seconds of sound that were played."""
    unsaid: str = ""
    """The source text from ``end`` on, as far as it was written."""
    interrupted: bool = False
    """Whether words are missing: some were not heard, or the text itself had not ended."""

    @property
    def words(self) -> int:
        """The name of ``word_count`` in version 0.1."""
        renamed("words", "word_count")
        return self.word_count

    def messages(self, api: str = "openai", *, mark: str = BROKEN_OFF) -> list[dict[str, Any]]:
        """Return the assistant's message for a model's history as a list, which is empty if nothing
        was heard.

        The message is the whole text, or if it was interrupted, the heard part followed by
        ``mark``. ``api``: openai (which most others accept, too), anthropic, ollama or gemini;
        ConfigError for another one.
        """
        if api not in MESSAGES:
            raise ConfigError(
                f"messages(): api {api!r} is unknown{nearest(api, MESSAGES)}; use"
                f" {', '.join(MESSAGES)}."
            )
        text = self.text if self.interrupted else self.text + self.unsaid
        if not text.strip():
            return []
        return [MESSAGES[api](text.strip() + (mark if self.interrupted else ""))]


class Transcript:
    """The text of one utterance, and the timings of its words."""

    def __init__(self) -> None:
        # The text in fragments, and the position where each begins.
        self._source = list[str]()
        self._starts = list[int]()
        self.characters = 0
        """Length of the text."""
        self.ended = False
        """Whether the whole text has been written."""
        # For each timed word: the sample in its middle, and its end in the text.
        self._middles = list[int]()
        self._ends = list[int]()

    @property
    def text(self) -> str:
        """The whole text so far."""
        return "".join(self._source)

    def part(self, start: int, end: int) -> str:
        """Return ``text[start:end]`` without joining the other fragments."""
        first = max(0, bisect.bisect_right(self._starts, start) - 1)
        stop = bisect.bisect_left(self._starts, end, lo=first)
        offset = self._starts[first] if self._starts else 0
        return "".join(self._source[first:stop])[start - offset : end - offset]

    def write(self, fragment: str) -> None:
        """Append a fragment of text."""
        self._source.append(fragment)
        self._starts.append(self.characters)
        self.characters += len(fragment)

    def rewrite(self, text: str) -> None:
        """Replace the text, which differs only where nothing has been spoken yet."""
        self._source = [text]
        self._starts = [0]
        self.characters = len(text)

    def add(self, words: Iterable[WordTiming]) -> None:
        """Append the timings of further words."""
        for word in words:
            self._ends.append(word.end)
            self._middles.append((word.onset_samples + word.offset_samples) // 2)

    def heard(
        self, played_s: float | None, *, emitted_s: float, sample_rate: int, spoken: bool
    ) -> Heard:
        """Return what was heard after ``played_s`` of the ``emitted_s`` seconds; None stands for
        all of them.

        ``sample_rate``: that of the timings; ``spoken``: whether the sound of the whole text has
        been made. ConfigError if ``played_s`` is not a number of seconds, or exceeds ``emitted_s``.
        """
        played_s = (
            emitted_s if played_s is None else check_number("played_s", played_s, 0.0, math.inf)
        )
        if (refusal := beyond(played_s, emitted_s)) is not None:
            raise ConfigError(refusal)
        played_s = float(min(played_s, emitted_s))
        # Rounding makes a sample count that was converted to seconds the same count again.
        word_count = bisect.bisect_left(self._middles, round(played_s * sample_rate, 3))
        end = self._ends[word_count - 1] if word_count else 0
        text = self.text
        unsaid = text[end:]
        complete = self.ended and (
            not unsaid.strip() or (spoken and word_count == len(self._middles))
        )
        return Heard(word_count, end, text[:end], played_s, unsaid, not complete)
