"""A session: text fragments in, audio chunks out. The only place where READ and SPEAK are carried out."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator
from enum import Enum

import numpy as np

from sayahead.engine.heard import Heard, Transcript
from sayahead.engine.sentence import Sentence
from sayahead.engine.synthesizer import AnySynthesizer
from sayahead.errors import SessionError, TextError
from sayahead.text import Normalizer
from sayahead.types import AudioChunk, Floats, Rendering, Speech, Word, WordTiming

log = logging.getLogger("sayahead")


class Flush(Enum):
    """What can stand between pieces of text in a session's inbox."""

    END = "the sentence ends"
    BREATH = "the sentence goes on"


class Session:
    """One stream of speech; made by ``Voice.session``. Synchronous: it computes inside ``pull`` and nowhere else."""

    # Characters of pushed text that are read at a time when a policy wants more: a long text costs nothing before its
    # turn.
    BITE = 48

    def __init__(
        self,
        synthesizer: AnySynthesizer,
        normalizer: Normalizer,
        sentence: Sentence,
        *,
        rendering: Rendering,
        volume: float = 1.0,
    ) -> None:
        self._synthesizer, self._normalizer, self._sentence = synthesizer, normalizer, sentence
        self._volume = volume
        # Text and flushes in the order they came; read only when the policy asks, so that it sees the same at each
        # decision however the text arrived.
        self._inbox: deque[str | Flush] = deque()
        # Words that were spoken and whose times have not been told.
        self._untimed: deque[Word] = deque()
        self._state = synthesizer.initial(rendering)
        self._observation: Floats | None = None
        self._samples = 0
        self._transcript = Transcript()
        self._ended = self._cancelled = False

    @property
    def sample_rate(self) -> int:
        """Samples per second of its chunks."""
        return int(self._synthesizer.sample_rate)

    @property
    def finished(self) -> bool:
        """Whether nothing will ever come again: cancelled, or finished and all pulled."""
        return self._cancelled or (self._ended and not self._inbox and not self._sentence.waits)

    def push(self, fragment: str) -> None:
        """Take in a piece of text of any size. TextError if it is not text, SessionError after the end."""
        if not isinstance(fragment, str):
            raise TextError(f"push() takes text, not {type(fragment).__name__}: decode bytes as UTF-8 first.")
        if self._cancelled or self._ended:
            raise SessionError(f"push() after {'cancel' if self._cancelled else 'finish'}(): start a new session.")
        if fragment:
            self._transcript.write(fragment)
            self._inbox.append(fragment)

    def flush(self, *, end: bool = True) -> None:
        """Let all text so far be spoken without waiting for more, and sound that is held back be handed out.

        What comes then begins a new sentence; with ``end=False`` it goes on with the same one: a breath, without the
        fall of a sentence's end and without its pause. Voices that read characters end the sentence either way.
        """
        if not (self._cancelled or self._ended):
            self._inbox.append(Flush.END if end else Flush.BREATH)

    def finish(self) -> None:
        """Say that no more text comes; what is there is spoken by the pulls that follow. Harmless when repeated."""
        self.flush()
        self._ended = True

    def heard(self, played_s: float | None = None) -> Heard:
        """What a listener has heard who has played so many seconds of the sound that was handed out.

        Synthesis runs ahead of playback, often by many seconds: only the player knows how far it is. None: all that was
        handed out. ConfigError where that is more than there is.
        """
        return self._transcript.heard(played_s, samples=self._samples, sample_rate=self.sample_rate)

    def cancel(self, played_s: float | None = None) -> Heard:
        """Fall silent at once, even where ``heard`` then raises: no pull gives anything any more. What was heard."""
        self._cancelled = True
        return self.heard(played_s)

    def pull(self) -> AudioChunk | None:
        """The next chunk, or None where more text (or its end) is needed first."""
        while not self._cancelled:
            speech = self._step()
            if speech is None or self._cancelled:
                return None
            chunk = self._chunk(speech)
            if chunk is not None:
                return chunk
        return None

    def chunks(self) -> Iterator[AudioChunk]:
        """All chunks that the text so far allows."""
        while (chunk := self.pull()) is not None:
            yield chunk

    def _step(self) -> Speech | None:
        """Carry out the next decision; None where that takes more text than there is."""
        while (segment := self._sentence.next(self._observation)) is None:
            if not self._read():
                return None
        speech, self._state = self._synthesizer.step(segment, self._state)
        self._observation = speech.observation
        self._untimed.extend(self._sentence.done(speech))
        return speech

    def _read(self) -> bool:
        """Take in a bite of what was pushed; False where there is nothing."""
        if not self._inbox:
            return False
        text = self._inbox.popleft()
        if text is Flush.END:
            self._sentence.take(self._normalizer.flush())
            self._sentence.end()
        elif text is Flush.BREATH:
            self._sentence.take(self._normalizer.breathe())
            self._sentence.breathe()
        else:
            if len(text) > self.BITE:
                self._inbox.appendleft(text[self.BITE :])
            self._sentence.take(self._normalizer.push(text[: self.BITE]))
        for start, end, skipped in self._normalizer.skipped:
            log.warning("Skipped %r (characters %d to %d): this voice cannot read it.", skipped, start, end)
        self._normalizer.skipped.clear()
        return True

    def _chunk(self, speech: Speech) -> AudioChunk | None:
        """Speech as a chunk with its words, or None where all of it is held back."""
        if not len(speech.samples):
            return None
        timings = []
        for onset, offset in speech.words:
            word = self._untimed.popleft()
            timings.append(WordTiming(word.text, word.start, word.end, onset, offset))
        self._transcript.add(timings)
        samples = speech.samples if self._volume == 1.0 else speech.samples * np.float32(self._volume)
        samples = np.clip(np.nan_to_num(samples, nan=0.0), -1.0, 1.0)
        chunk = AudioChunk(samples, self._samples, self.sample_rate, tuple(timings))
        self._samples += len(samples)
        return chunk
