"""A session: text fragments in, audio chunks out. The only place where READ and SPEAK are carried
out."""

from __future__ import annotations

import itertools
import logging
import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from sayahead.config import check_text, check_whole
from sayahead.engine.deliveries import Deliveries, Gain
from sayahead.engine.heard import Heard, Transcript
from sayahead.engine.keep_up import KeepUp, Pace
from sayahead.engine.playback import Playback
from sayahead.engine.sentence import Sentence
from sayahead.engine.synthesizer import AnySynthesizer
from sayahead.engine.written import written_at
from sayahead.errors import SessionError
from sayahead.text import Normalizer
from sayahead.text.revision import reread, unspoken
from sayahead.types import (
    NOTHING,
    AudioChunk,
    Delivery,
    Floats,
    Rendering,
    Segment,
    SynthesizedAudio,
    Word,
    WordTiming,
)

log = logging.getLogger("sayahead")
MAX_SKIPPED = 1000
NO_SAMPLES = np.zeros(0, np.float32)


class Flush(Enum):
    """An item between fragments of text: speak everything so far."""

    END = "the sentence ends"
    BREATH = "the sentence goes on"


@dataclass(frozen=True, slots=True)
class Revision:
    """An item between fragments of text: replace the text from a character on."""

    at: int
    """Position of the first character that changes."""
    text: str
    """The whole text from there on."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """An item between fragments of a text with several speakers: who speaks from here on."""

    name: str


Item = str | Flush | Revision | Speaker
"""What a text that is still being written consists of."""


class Session:
    """One stream of speech, opened by ``Voice.session``. It is synchronous: ``pull`` and
    ``prepare`` do all the work."""

    # Characters of pushed text that are read at a time, when the policy wants more: later text
    # costs nothing before its turn.
    READ_CHARACTERS = 48

    def __init__(
        self,
        synthesizer: AnySynthesizer,
        normalizer: Callable[[int], Normalizer],
        sentence: Sentence,
        *,
        rendering: Rendering,
        volume: float = 1.0,
        keep_up: KeepUp | None = None,
        step_words: int | None = None,
        speeds: tuple[float, float] = (0.1, 10.0),
    ) -> None:
        """``normalizer``: makes a normalizer for the text from a position of the source on;
        ``step_words``: see SessionOptions.

        ``speeds``: lower and upper bound of a Delivery's speed.
        """
        self.step_words = step_words
        """The most words that ``prepare`` may batch into one step."""
        self._synthesizer = synthesizer
        self._sentence = sentence
        self._normalizer_from = normalizer
        self._normalizer = normalizer(0)
        # Fragments and flushes in the order they came. They are read only when the policy asks, so
        # that it decides on the same view however fast the text arrives.
        self._inbox: deque[str | Flush] = deque()
        # Characters of the inbox's first text that have been read.
        self._read_offset = 0
        # Spoken words without timings yet; and timings that wait for the next chunk.
        self._untimed: deque[Word] = deque()
        self._unsent_timings: list[WordTiming] = []
        self._state = synthesizer.initial(rendering)
        self._observation: Floats | None = None
        # The next segment once it is decided, and its cost in phonemes or steps.
        self._next_segment: Segment | None = None
        self._next_cost = 0
        # Whether the synthesizer has more sound of the last segment.
        self._has_rest = False
        self._samples = 0
        # Samples of silence inserted for breaks, which the synthesizer does not count; and the
        # length of a break that follows once the synthesizer has nothing more.
        self._break_samples = 0
        self._break_s = 0.0
        self._pace = Pace(keep_up, self.sample_rate)
        self._deliveries, self._gain = Deliveries(speeds), Gain(volume, self.sample_rate)
        # Whether the held-back sound has been emitted early.
        self._is_released = False
        # Whether the player has run dry and the text has not caught up since.
        self._is_starved = False
        self.transcript = Transcript()
        """The text, and the timings of its words."""
        self.skipped = deque[tuple[int, int, str]](maxlen=MAX_SKIPPED)
        """Characters that the voice cannot read: (start, end, text). Callers remove what they have
        reported."""
        self.hungry = False
        """Whether ``prepare`` waits for more text although some words could be spoken."""
        self._ended = False
        self._cancelled = False

    @property
    def sample_rate(self) -> int:
        """Samples per second of its chunks."""
        return int(self._synthesizer.sample_rate)

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._cancelled

    @property
    def ended(self) -> bool:
        """Whether the whole text has been pushed."""
        return self._ended

    @property
    def finished(self) -> bool:
        """Whether nothing more will come: it was cancelled, or everything was pulled."""
        return self._cancelled or self.spoken

    @property
    def spoken(self) -> bool:
        """Whether the whole text was pushed and everything was pulled."""
        return self._ended and not (self._inbox or self._has_rest or self._sentence.has_more)

    @property
    def complete(self) -> bool:
        """Whether the whole text was pushed and all spoken words have their timings."""
        # Other threads may ask: the words of a step that is running, or was when the session was
        # cancelled, are in one of these at any moment.
        return self.spoken and not (self._next_segment or self._untimed or self._unsent_timings)

    def push(self, fragment: str) -> None:
        """Append a fragment of text of any size.

        TextError if it is not text, SessionError after the end.
        """
        self._check_open("push", fragment)
        if fragment:
            self.transcript.write(fragment)
            self._inbox.append(fragment)

    def take(self, item: Item) -> None:
        """Push a fragment, flush, or revise: whatever an item of a text says."""
        match item:
            case Flush():
                self.flush(end=item is Flush.END)
            case Revision(at, text):
                self.revise(at, text)
            case Speaker(name):
                raise SessionError(
                    f"This text has one voice, so {name!r} cannot speak: use sayahead.dialogue()."
                )
            case _:
                self.push(item)

    def deliver(self, delivery: Delivery) -> None:
        """Speak all text that is pushed from now on with another delivery; a word that has begun
        keeps its own."""
        self._deliveries.begin(self.transcript.characters, delivery)

    @property
    def text(self) -> str:
        """All text that was pushed, with its revisions."""
        return self.transcript.text

    def revise(self, at: int, text: str) -> int:
        """Replace the text from character ``at`` on, as far as it has not been spoken.

        Spoken text stays and is not spoken again; a number or the like whose reading has begun is
        spoken to its end. If the change reaches back into spoken text, new words that correspond to
        spoken ones are left out, and so are letters that would only lengthen the last of these. A
        waiting flush is dropped.

        Returns the position from which the text was replaced. ConfigError if ``at`` is outside of
        the text, TextError if ``text`` is not text, SessionError after the end.
        """
        self._check_open("revise", text)
        self._next_segment = None
        source = self.text
        begin, spoken = self._sentence.fixed_range
        at = check_whole("at", at, 0, len(source))
        if at <= spoken:
            text = unspoken(source[:at], source[at:spoken], text)
        at = max(at, spoken)
        self.transcript.rewrite(source[:at] + text)
        self._inbox.clear()
        self._read_offset = 0
        self._deliveries.revise(at)
        self._read_spoken_again(source, begin, spoken)
        if source[spoken:at] + text:
            self._inbox.append(source[spoken:at] + text)
        return at

    def _read_spoken_again(self, source: str, begin: int, spoken: int) -> None:
        """Begin with a new normalizer at ``spoken``, the end of what was spoken in ``source``.

        It reads the spoken words of the open sentence, which begins at ``begin``, and of their line
        again, since they decide how the following words are read.
        """
        opening, start = reread(source, begin)
        self._normalizer = self._normalizer_from(start - len(opening))
        self._normalizer.push(opening + source[start:begin])
        # No tag or token spans the beginning of a sentence, because the text may have been flushed
        # there.
        self._normalizer.breathe()
        self._normalizer.push(source[begin:spoken])
        self._normalizer.forget_spoken(begun=self._sentence.take_back(), over=begin == spoken)
        self._normalizer.skipped.clear()

    def flush(self, *, end: bool = True) -> None:
        """Speak all text so far without waiting for more, and emit held-back sound.

        Later text begins a new sentence; with ``end=False`` it continues the same one after a
        breath, without the fall and the pause of a sentence's end. Voices that read characters end
        the sentence either way."""
        if not (self._cancelled or self._ended):
            self._inbox.append(Flush.END if end else Flush.BREATH)

    def finish(self) -> None:
        """Declare the text complete; further pulls speak the rest of it. Calling it again does
        nothing."""
        self.flush()
        self._ended = True
        self.transcript.ended = True

    def heard(self, played_s: float | None = None) -> Heard:
        """Return what a listener has heard after ``played_s`` seconds of the emitted sound; None
        stands for all of it.

        Synthesis runs ahead of playback, often by many seconds, so only the player knows how far it
        is. ConfigError if ``played_s`` exceeds the emitted sound.
        """
        emitted_s = self._samples / self.sample_rate
        return self.transcript.heard(
            played_s, emitted_s=emitted_s, sample_rate=self.sample_rate, spoken=self.complete
        )

    @property
    def keeps_up(self) -> bool:
        """Whether speech follows the pace of the text, which needs ``played``."""
        return self._pace.keep_up is not None

    @property
    def unplayed_s(self) -> float:
        """Seconds of sound that were emitted and, according to ``played``, not played; 0 if it was
        never called.

        With ``keep_up``, pull some 50 ms before this time has passed.
        """
        return self._pace.unplayed_s

    @property
    def unspoken(self) -> int:
        """Number of characters that have not been spoken."""
        return self._progress()[1]

    @property
    def lag_s(self) -> float:
        """Seconds from text to speech: the unplayed sound and the estimated duration of the
        unspoken text."""
        return self._pace.lag_s(*self._progress())

    def played(self, played_s: float) -> None:
        """Report that ``played_s`` seconds have been played in all, for ``keep_up``.

        ConfigError, with nothing changed, if that is less than before or more than was emitted.
        """
        self._pace.played(played_s)

    def follow(self, playback: Playback, now: float) -> None:
        """Take over how far a player is at time ``now``, if speech keeps up with the text; never
        goes back."""
        if self.keeps_up:
            self._pace.follow(playback, now)

    def cancel(self, played_s: float | None = None) -> Heard:
        """Stop at once and return what was heard. Later pulls return None, even if ``heard``
        raises."""
        self._cancelled = True
        return self.heard(played_s)

    def prepare(
        self, characters: int | None = None, *, together: int = 1, patient: bool = False
    ) -> int | None:
        """Return the cost of the next ``pull`` in phonemes or decoder steps, at least 1; 0 if it
        needs more text.

        ``characters``: the most characters to read now; returns None if they were not enough, and
        is to be called again. ``together``: the most words to batch into one step if the policy
        speaks them one by one. ``patient``: whether to return 0 also if more text could add words
        to the step (then ``hungry`` is true).
        """
        if self._has_rest or self._cancelled:
            return self._next_cost if self._has_rest else 0
        self.hungry = False
        remaining = math.inf if characters is None else characters
        together = 1 if self.keeps_up else together
        while not self._is_decided(together, patient=patient):
            if remaining <= 0:
                return None
            if not (read := self._read()):
                self._check_spoken()
                return 0
            remaining -= read
        if self._next_segment is None:
            return 0
        self._next_cost = max(1, len(self._next_segment.ids), self._next_segment.steps or 0)
        return self._next_cost

    def _is_decided(self, together: int, *, patient: bool) -> bool:
        """Decide on the next segment if that is possible; return whether it is known, or waits for
        text that has not come."""
        if self._next_segment is None and not self._must_read(together):
            may_wait = patient and not (self._inbox or self._ended)
            self._next_segment = self._segment(together, patient=may_wait)
            self.hungry = may_wait and self._sentence.hungry
        return self.hungry or self._next_segment is not None

    def _must_read(self, together: int) -> bool:
        """Return whether to read pushed text before asking for a segment."""
        if not self._inbox or self._inbox[0] is Flush.BREATH:
            return False
        return self._sentence.wants(together)

    def _check_spoken(self) -> None:
        """Raise SessionError if the text has ended and the policy still waits for more of it."""
        if self._ended and self._sentence.has_more and self._pace.keep_up is None:
            raise SessionError(
                "The policy reads on where the text has ended, and never speaks its rest, from"
                f" character {self._sentence.spoken_end} on: a sentence whose last word is there"
                " must be spoken."
            )

    def pull(self) -> AudioChunk | None:
        """Return the next chunk, or None if more text (or its end) is needed first."""
        while not self._cancelled:
            speech = self._step()
            if self.cancelled:
                return None
            if speech is not None:
                self._time(speech)
            elif not (self._unsent_timings and self.finished):
                return None
            # The last words may have timings and no samples: one sample carries them.
            samples = NO_SAMPLES if speech is None else speech.samples
            if not len(samples) and self._unsent_timings and self.finished:
                samples = np.zeros(1, np.float32)
            if len(samples):
                return self._chunk(samples)
        return None

    def chunks(self) -> Iterator[AudioChunk]:
        """Yield all chunks that the text so far allows."""
        while (chunk := self.pull()) is not None:
            yield chunk

    def _check_open(self, call: str, text: object) -> None:
        """Raise TextError if ``text`` is not text, SessionError if the session is over."""
        check_text(call, text)
        if self._cancelled or self._ended:
            raise SessionError(
                f"{call}() after {'cancel' if self._cancelled else 'finish'}(): start a new"
                " session."
            )

    def _step(self) -> SynthesizedAudio | None:
        """Render the rest of the last segment, or else the next one; None if that needs more
        text."""
        if self._has_rest:
            speech, self._state = self._synthesizer.step(NOTHING, self._state)
            return self._emitted(speech)
        self.prepare()
        if (segment := self._next_segment) is None:
            return None
        if segment.silence_s and not segment.breath:
            # A break before which no sound is held back: the synthesizer has nothing to do.
            speech = SynthesizedAudio(NO_SAMPLES, (), self._observation)
        else:
            segment = self._pace.applied(segment, *self._progress())
            speech, self._state = self._synthesizer.step(segment, self._state)
        self._is_released = segment.breath
        self._break_s = segment.silence_s
        speech = self._emitted(speech)
        self._untimed.extend(self._sentence.done(speech))
        # Only now, so that ``complete`` sees the words at any moment.
        self._next_segment = None
        return speech

    def _emitted(self, speech: SynthesizedAudio) -> SynthesizedAudio:
        """Record the result of the synthesizer's step; return it with the breaks inserted."""
        self._has_rest = speech.more
        self._observation = speech.observation
        speech = self._with_break(speech)
        self._pace.emitted(len(speech.samples))
        return speech

    def _with_break(self, speech: SynthesizedAudio) -> SynthesizedAudio:
        """Shift the timings by the breaks inserted so far, and append the break after the segment,
        if any.

        The synthesizer knows nothing of breaks.
        """
        if self._break_samples:
            words = tuple(
                (onset + self._break_samples, end + self._break_samples)
                for onset, end in speech.words
            )
            speech = replace(speech, words=words)
        if self._break_s and not speech.more:
            silence = np.zeros(round(self._break_s * self.sample_rate), np.float32)
            speech = replace(speech, samples=np.concatenate([speech.samples, silence]))
            self._break_samples = self._break_samples + len(silence)
            self._break_s = 0.0
        return speech

    def _segment(self, together: int, *, patient: bool) -> Segment | None:
        """Return the next segment; None if more text must be read first."""
        keep_up = self._pace.keep_up
        if keep_up is not None and (self._pace.dry or self._is_starved):
            return self._starved_segment(keep_up)
        return self._sentence.next(
            self._observation, source=self._before_flush, together=together, patient=patient
        )

    def _starved_segment(self, keep_up: KeepUp) -> Segment | None:
        """Return the next segment, or None, after the player ran dry because text comes slowly.

        The gaps in the sound should fall between phrases, where a pause is natural. So a phrase
        begins only once it is pending up to its end. This lasts until one is ready in time.
        """
        sentence = self._sentence
        is_dry = self._pace.dry
        is_ready = sentence.phrase_ready(keep_up.gather)
        self._is_starved = is_dry or not (is_ready and sentence.at_phrase_start)
        # A phrase that has begun goes on word by word while the player has enough sound.
        goes_on = not (is_dry or sentence.at_phrase_start)
        segment = sentence.next(self._observation) if is_ready or goes_on else None
        if segment is not None or not is_dry or self._inbox:
            return segment
        if is_ready and sentence.at_phrase_end:
            # The policy waits for more text, but none is there: speak the phrase without it.
            sentence.breathe()
            return sentence.next(self._observation)
        return None if self._is_released else sentence.release_held(keep_up.stretch)

    def _before_flush(self, start: int, end: int) -> str:
        """Return the text between two positions, up to the next flush."""
        later = itertools.dropwhile(lambda item: isinstance(item, str), self._inbox)
        size = sum(len(item) for item in later if isinstance(item, str))
        return self.transcript.part(start, min(end, self.transcript.characters - size))

    def _progress(self) -> tuple[int, int]:
        """Return the number of spoken and of unspoken characters."""
        spoken = self._sentence.spoken_end
        return spoken, max(0, self.transcript.characters - spoken)

    def _read(self) -> int:
        """Take the next item of the inbox, or some characters of it; return how many were read.

        A flush counts as one; 0 if the inbox is empty.
        """
        if not self._inbox:
            return 0
        item = self._inbox[0]
        if isinstance(item, Flush):
            self._inbox.popleft()
            self._read_flush(item)
            read_count = 1
        else:
            piece = item[self._read_offset : self._read_offset + self.READ_CHARACTERS]
            read_count = len(piece)
            self._read_offset += read_count
            if self._read_offset == len(item):
                self._inbox.popleft()
                self._read_offset = 0
            self._take_words(self._normalizer.push(piece))
        for skipped_at, end, skipped in self._normalizer.skipped:
            log.warning(
                "Skipped %r (characters %d to %d): this voice cannot read it.",
                skipped,
                skipped_at,
                end,
            )
        self.skipped += self._normalizer.skipped
        self._normalizer.skipped.clear()
        return read_count

    def _read_flush(self, flush: Flush) -> None:
        """Let the words that the normalizer still waits with be spoken as they stand."""
        if flush is Flush.END:
            self._take_words(self._normalizer.flush())
            self._sentence.end()
        else:
            self._take_words(self._normalizer.breathe())
            self._sentence.breathe()

    def _take_words(self, words: list[Word]) -> None:
        self._sentence.take(self._deliveries.applied(words))

    def _time(self, speech: SynthesizedAudio) -> None:
        """Give words their timings, in order: each timing belongs to the first spoken word without
        one.

        A step may have timings and no samples, such as that of a lone punctuation mark whose sound
        is cut to the pause before it. That word begins with the next sample.
        """
        for onset, offset in speech.words:
            word = self._untimed[0]
            onset = max(onset, self._samples)
            written = written_at(self.transcript, word.start, word.end)
            self._gain.begin(onset, word.delivery)
            self._unsent_timings.append(
                WordTiming(
                    word.text,
                    word.start,
                    word.end,
                    onset,
                    max(onset, offset),
                    written,
                    ends=word.ends,
                )
            )
            self._untimed.popleft()

    def _chunk(self, samples: Floats) -> AudioChunk:
        """Return samples as a chunk with the timings of the words that begin in it."""
        timings = self._unsent_timings
        self.transcript.add(timings)
        self._unsent_timings = []
        samples = self._gain.applied(samples, self._samples)
        # Both comparisons are false for NaN.
        if not (samples.max() <= 1.0 and samples.min() >= -1.0):
            samples = np.clip(np.nan_to_num(samples, nan=0.0), -1.0, 1.0)
        chunk = AudioChunk(samples, self._samples, self.sample_rate, tuple(timings))
        self._samples += len(samples)
        return chunk
