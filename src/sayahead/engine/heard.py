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
"""How the message of a turn that was interrupted ends."""


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
"""What an assistant's message looks like, by the API that takes it."""


@dataclass(frozen=True, slots=True)
class Heard:
    """How far a listener has got. ``text + unsaid`` is all text that was written."""

    word_count: int
    """How many words were heard: of each, more than half of the sound was played."""
    end: int
    """Where the last of them ends in the source text: what follows was not heard."""
    text: str
    """The source text up to there."""
    played_s: float
    """Seconds of sound that were played."""
    unsaid: str = ""
    """The source text from there on, as far as it was written."""
    interrupted: bool = False
    """Whether words are missing: some were not heard, or the text itself had not ended."""

    @property
    def words(self) -> int:
        """The name of ``word_count`` in version 0.1."""
        renamed("words", "word_count")
        return self.word_count

    def messages(self, api: str = "openai", *, mark: str = BROKEN_OFF) -> list[dict[str, Any]]:
        """The assistant's message for a model's history: in a list, which is empty if nothing was
        heard.

        It has all of the text, or if that was interrupted, what was heard and then ``mark``.
        ``api``: whose form it has: openai (which most others take, too), anthropic, ollama or
        gemini. ConfigError for another one."""
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
    """The text of one utterance, and where its words are in the sound."""

    def __init__(self) -> None:
        # The text in pieces, and where each begins.
        self._source = list[str]()
        self._starts = list[int]()
        self.characters = 0
        """Length of the text."""
        self.ended = False
        """Whether the text is over."""
        # Of each word: the sample in its middle, its end in the text.
        self._middles = list[int]()
        self._ends = list[int]()

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._source)

    def part(self, start: int, end: int) -> str:
        """The text between two characters, at the cost of what is there."""
        first = max(0, bisect.bisect_right(self._starts, start) - 1)
        behind = bisect.bisect_left(self._starts, end, lo=first)
        offset = self._starts[first] if self._starts else 0
        return "".join(self._source[first:behind])[start - offset : end - offset]

    def write(self, fragment: str) -> None:
        """More text has come."""
        self._source.append(fragment)
        self._starts.append(self.characters)
        self.characters += len(fragment)

    def rewrite(self, text: str) -> None:
        """Replace the text, which differs only where nothing has been spoken yet."""
        self._source = [text]
        self._starts = [0]
        self.characters = len(text)

    def add(self, words: Iterable[WordTiming]) -> None:
        """More words have their times."""
        for word in words:
            self._ends.append(word.end)
            self._middles.append((word.onset_samples + word.offset_samples) // 2)

    def heard(
        self, played_s: float | None, *, emitted_s: float, sample_rate: int, spoken: bool
    ) -> Heard:
        """What was heard in ``played_s`` seconds, of the ``emitted_s`` that there are; None: in all
        of them.

        ``sample_rate`` is that of the words; ``spoken``: whether all sound of the whole text has
        been made. ConfigError if ``played_s`` is not a number of seconds, or more than there is.
        """
        played_s = (
            emitted_s if played_s is None else check_number("played_s", played_s, 0.0, math.inf)
        )
        if (refusal := beyond(played_s, emitted_s)) is not None:
            raise ConfigError(refusal)
        played_s = float(min(played_s, emitted_s))
        # Rounded, so that a number of samples that became seconds is that number again.
        words = bisect.bisect_left(self._middles, round(played_s * sample_rate, 3))
        end = self._ends[words - 1] if words else 0
        text = self.text
        unsaid = text[end:]
        complete = self.ended and (not unsaid.strip() or (spoken and words == len(self._middles)))
        return Heard(words, end, text[:end], played_s, unsaid, not complete)
