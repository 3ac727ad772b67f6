"""A session: text fragments in, audio chunks out. The only place where READ and SPEAK are carried out."""

from __future__ import annotations

import itertools
import logging
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sayahead.engine.context import ContextPredictor
from sayahead.engine.policy import READ, Policy, Read, Speak, View
from sayahead.engine.sentence import Letters
from sayahead.engine.synthesizer import AnySynthesizer
from sayahead.errors import ConfigError, SessionError, TextError
from sayahead.text.normalizer import Normalizer
from sayahead.text.phonemizer import Phonemizer
from sayahead.types import AudioChunk, Floats, Rendering, Segment, Speech, Word, WordTiming

log = logging.getLogger("sayahead")


@dataclass(frozen=True, slots=True)
class Cancelled:
    """How far a session had come when it was cancelled."""

    words: int
    """Words whose onset was handed out in a chunk."""
    end: int
    """End in the source text of the last of them: what lies behind was never heard."""
    samples: int
    """Samples handed out."""


class Session:
    """One stream of speech; made by ``Voice.session``. Synchronous: it computes inside ``pull`` and nowhere else."""

    # A policy sees at most this many pending words, so that a step's cost does not grow with what waits.
    VIEW_WORDS = 512
    # Words of the past that a context predictor sees.
    PAST_WORDS = 64
    # Characters of pushed text that are read at a time when a policy wants more: a long text costs nothing before its
    # turn.
    BITE = 48
    # Decoder steps without a READ after which one is carried out whatever the policy says: nothing speaks for ever.
    MOST_STEPS = 80

    def __init__(
        self,
        synthesizer: AnySynthesizer,
        phonemizer: Phonemizer,
        *,
        policy: Policy,
        context: ContextPredictor,
        rendering: Rendering,
        volume: float = 1.0,
        characters: bool = False,
    ) -> None:
        """``characters``: whether the voice reads these, not words; ConfigError where the policy does otherwise."""
        if characters != getattr(policy, "characters", False):
            reads, other = ("characters", "words") if characters else ("words", "characters")
            fitting = "WaitEnd, WaitKSteps or its agent" if characters else "LookaheadK or WaitAll, for example"
            raise ConfigError(f"{policy!r} decides on {other}, but this voice reads {reads}: choose {fitting}.")
        self._synthesizer, self._phonemizer = synthesizer, phonemizer
        self._policy, self._context, self._volume = policy, context, volume
        self._normalizer = Normalizer()
        # Text in the order it came, None for a flush; read only when the policy asks, so that it sees the same at each
        # decision however the text arrived.
        self._inbox: deque[str | None] = deque()
        self._pending: deque[Word] = deque()
        self._past: deque[str] = deque(maxlen=self.PAST_WORDS)
        # Words of the open sentence that were spoken; the last few are the phonemizer's left context.
        self._open = 0
        # Pending words that the last SPEAK has shown.
        self._seen = 0
        self._close = False
        self._untimed: deque[Word] = deque()
        self._letters = Letters() if characters else None
        self._state = synthesizer.initial(rendering)
        self._observation: Floats | None = None
        self._samples = self._words = self._end = 0
        self._ended = self._cancelled = False

    @property
    def sample_rate(self) -> int:
        """Samples per second of its chunks."""
        return int(self._synthesizer.sample_rate)

    @property
    def finished(self) -> bool:
        """Whether nothing will ever come again: cancelled, or finished and all pulled."""
        left = self._inbox or self._pending or self._close or (self._letters and self._letters.begun)
        return self._cancelled or (self._ended and not left)

    def push(self, fragment: str) -> None:
        """Take in a piece of text of any size. TextError if it is not text, SessionError after the end."""
        if not isinstance(fragment, str):
            raise TextError(f"push() takes text, not {type(fragment).__name__}: decode bytes as UTF-8 first.")
        if self._cancelled or self._ended:
            raise SessionError(f"push() after {'cancel' if self._cancelled else 'finish'}(): start a new session.")
        if fragment:
            self._inbox.append(fragment)

    def flush(self) -> None:
        """Let all text so far be spoken without waiting for more; the session goes on with a new sentence."""
        if not (self._cancelled or self._ended):
            self._inbox.append(None)

    def finish(self) -> None:
        """Say that no more text comes; what is there is spoken by the pulls that follow. Harmless when repeated."""
        self.flush()
        self._ended = True

    def cancel(self) -> Cancelled:
        """Fall silent at once: no pull gives anything any more. Says what was handed out."""
        self._cancelled = True
        self._inbox.clear()
        self._pending.clear()
        self._untimed.clear()
        self._letters = self._letters and Letters()
        return Cancelled(self._words, self._end, self._samples)

    def pull(self) -> AudioChunk | None:
        """The next chunk, or None where more text (or its end) is needed first."""
        while not self._cancelled:
            speech = self._step()
            if speech is None:
                return None
            chunk = self._chunk(speech)
            if chunk is not None:
                return chunk
        return None

    def chunks(self) -> Iterator[AudioChunk]:
        """All chunks that the text so far allows."""
        while (chunk := self.pull()) is not None:
            yield chunk

    def _read(self) -> bool:
        """Take in a bite of what was pushed; False where there is nothing."""
        if not self._inbox:
            return False
        text = self._inbox.popleft()
        if text is None:
            self._pending.extend(self._normalizer.flush())
            if self._pending:
                self._pending[-1] = replace(self._pending[-1], ends=True)
            elif self._open:
                self._close = True
        else:
            if len(text) > self.BITE:
                self._inbox.appendleft(text[self.BITE :])
            self._pending.extend(self._normalizer.push(text[: self.BITE]))
        for start, end, text in self._normalizer.skipped:
            log.warning("Skipped %r (characters %d to %d): this voice cannot read it.", text, start, end)
        self._normalizer.skipped.clear()
        return True

    def _step(self) -> Speech | None:
        """Carry out decisions up to the next SPEAK; None where that takes more text than there is."""
        while not self._close:
            begun = self._pending if self._letters is None else self._letters.begun
            action = self._decide() if begun else READ
            if isinstance(action, Speak):
                return self._carry_out(action)
            if not (self._read() if self._letters is None else self._read_character(action, self._letters)):
                return None
        speech = self._speak(Segment(np.zeros(0, np.int64), 0, (), True))
        self._close, self._open = False, 0
        return speech

    def _read_character(self, action: Read, letters: Letters) -> bool:
        """Take in a character of the open sentence, or of the next word that is there; False where there is none."""
        while not letters.unread:
            if self._pending:
                word = self._pending.popleft()
                letters.take(word)
                self._untimed.append(word)
                self._open += 1
            elif not self._read():
                return False
            elif self._close:
                letters.end()
                self._close = False
        self._speak(letters.segment(steps=0))
        letters.read(action.memory)
        return True

    def _decide(self) -> Read | Speak:
        if self._letters is not None:
            return self._decide_by(self._letters)
        pending = tuple(self._sentence())
        phonemes, first = self._phonemizer.phonemes, self._open == 0
        view = View(pending, first, phonemes, self._observation, past=tuple(self._left()), seen=self._seen)
        action = self._policy.decide(view)
        if isinstance(action, Speak) and not 1 <= action.words <= len(pending):
            raise SessionError(f"{self._policy!r} spoke {action.words} words where {len(pending)} were pending.")
        return action

    def _decide_by(self, letters: Letters) -> Read | Speak:
        at = letters.reading
        view = View((), at.steps == 0, self._phonemizer.phonemes, self._observation, reading=at)
        action = self._policy.decide(view)
        if not isinstance(action, Speak):
            if at.over:
                raise SessionError(f"{self._policy!r} wants to READ where all of a sentence has been read.")
            return action
        if action.steps < 1 or action.words:
            raise SessionError(
                f"{self._policy!r} made {action.steps} steps of {action.words} words: at least 1 of none."
            )
        return READ if at.rested >= self.MOST_STEPS and not at.over else action

    def _carry_out(self, action: Speak) -> Speech:
        if self._letters is not None:
            speech = self._speak(self._letters.segment(steps=action.steps))
            self._letters.speak(action.steps, action.memory)
            if speech.ended:
                self._letters, self._open = Letters(), 0
            return speech
        pending = tuple(self._sentence())
        words, visible = pending[: action.words], pending[action.words : action.words + action.lookahead]
        if action.alone:
            words, visible = (*words[:-1], replace(words[-1], ends=True)), ()
        # Spoken first and taken off the pending ones then: an error on the way loses no word.
        speech = self._speak(self._segment(words, visible))
        for word in words:
            self._pending.popleft()
            self._past.append(word.text)
            self._untimed.append(word)
        self._open = 0 if words[-1].ends else self._open + len(words)
        self._seen = len(visible)
        return speech

    def _left(self) -> list[str]:
        """Words of the open sentence that were spoken, the last of them."""
        return list(self._past)[-self._open :] if self._open else []

    def _sentence(self) -> Iterator[Word]:
        for word in itertools.islice(self._pending, self.VIEW_WORDS):
            yield word
            if word.ends:
                return

    def _segment(self, words: tuple[Word, ...], visible: tuple[Word, ...]) -> Segment:
        """Phonemes of the words, then of what the model may see behind them: real words, then predicted ones."""
        shown = (*words, *visible)
        ends, embedding, predicted = shown[-1].ends, None, list[Word]()
        if not ends:
            prediction = self._context.predict([*self._past, *(word.text for word in shown)])
            embedding = prediction.embedding
            predicted = [Word(text, 0, 0) for text in prediction.words]
            if predicted and predicted[-1].text[-1:] in ".!?":
                ends, predicted[-1] = True, replace(predicted[-1], ends=True)
        seen = [*visible, *predicted]
        said = self._phonemizer.phonemize([*words, *seen], left=self._left())
        bounds = [0, *itertools.accumulate(len(word.ids) for word in said)]
        spans = tuple((at + word.first, at + word.end) for at, word in zip(bounds, said[: len(words)], strict=False))
        real = bounds[len(words) + len(visible)]
        ids = np.concatenate([word.ids for word in said])
        return Segment(ids, bounds[len(words)], spans, ends, embedding, predicted=len(ids) - real)

    def _speak(self, segment: Segment) -> Speech:
        speech, self._state = self._synthesizer.step(segment, self._state)
        self._observation = speech.observation
        return speech

    def _chunk(self, speech: Speech) -> AudioChunk | None:
        """Speech as a chunk with its words, or None where all of it is held back."""
        if not len(speech.samples):
            return None
        timings = []
        for onset, offset in speech.words:
            word = self._untimed.popleft()
            timings.append(WordTiming(word.text, word.start, word.end, onset, offset))
            self._words, self._end = self._words + 1, word.end
        samples = speech.samples if self._volume == 1.0 else speech.samples * np.float32(self._volume)
        samples = np.clip(np.nan_to_num(samples, nan=0.0), -1.0, 1.0)
        chunk = AudioChunk(samples, self._samples, self.sample_rate, tuple(timings))
        self._samples += len(samples)
        return chunk
