"""A session: text fragments in, audio chunks out. The only place where READ and SPEAK are carried
out."""

from __future__ import annotations

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
    """What can stand between pieces of text in a session's inbox."""

    END = "the sentence ends"
    BREATH = "the sentence goes on"


@dataclass(frozen=True, slots=True)
class Revision:
    """What can stand between pieces of text that come: from a character of the text so far on, it
    is now another."""

    at: int
    """The first character that changes."""
    text: str
    """All text from there on."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """What can stand between pieces of a text with several speakers: who says what follows."""

    name: str


Item = str | Flush | Revision | Speaker
"""What a text that is still being written may consist of."""


class Session:
    """One stream of speech; made by ``Voice.session``. Synchronous: it computes inside ``pull`` and
    nowhere else."""

    # Characters of pushed text read at a time when a policy wants more: a long text costs nothing
    # before its turn.
    BITE = 48

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
        """``normalizer`` makes one for text from a place of the source on; ``step_words``: see
        SessionOptions.

        ``speeds``: the least and the most that a Delivery's speed may be.
        """
        self.step_words = step_words
        """How many words ``prepare`` may say together."""
        self._synthesizer = synthesizer
        self._sentence = sentence
        self._normalizer_from = normalizer
        self._normalizer = normalizer(0)
        # Text and flushes in the order they came; read only when the policy asks, so that it sees
        # the same at each decision however the text arrived.
        self._inbox: deque[str | Flush] = deque()
        # Characters of the inbox's first text that were read.
        self._bitten = 0
        # Spoken words whose times have not come; and those whose times wait for the next samples.
        self._untimed: deque[Word] = deque()
        self._timed: list[WordTiming] = []
        self._state = synthesizer.initial(rendering)
        self._observation: Floats | None = None
        # What is spoken next, once it is known.
        self._next: Segment | None = None
        self._size = 0
        # Whether the synthesizer has more of what the last segment says.
        self._more = False
        self._samples = 0
        # Samples of breaks that were emitted; seconds of one that follows when the synthesizer has
        # nothing more.
        self._inserted = 0
        self._silence_s = 0.0
        self._pace = Pace(keep_up, self.sample_rate)
        self._deliveries, self._gain = Deliveries(speeds), Gain(volume, self.sample_rate)
        # Whether the end of what was spoken has been emitted before its time.
        self._released = False
        # Whether the player has run dry, and the text has not caught up since.
        self._slow = False
        self.transcript = Transcript()
        """Its text, and where its words are in its sound."""
        self.skipped = deque[tuple[int, int, str]](maxlen=MAX_SKIPPED)
        """What the voice cannot read: where in the text (start, end), and what. Remove what you
        have reported."""
        self.hungry = False
        """Whether ``prepare`` awaits more text, though some of it could be said."""
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
        """Whether its text is over."""
        return self._ended

    @property
    def finished(self) -> bool:
        """Whether nothing more will come: it was cancelled, or finished and everything was
        pulled."""
        return self._cancelled or self.spoken

    @property
    def spoken(self) -> bool:
        """Whether its text is over and everything was pulled."""
        return self._ended and not (self._inbox or self._more or self._sentence.has_more)

    @property
    def complete(self) -> bool:
        """Whether its text is over and all words that are spoken have their times."""
        # Any thread may ask: a step that is being made, or was when it was cancelled, shows in one
        # of these at any moment.
        return self.spoken and not (self._next or self._untimed or self._timed)

    def push(self, fragment: str) -> None:
        """Take in a piece of text of any size. TextError if it is not text, SessionError after the
        end."""
        self._check_open("push", fragment)
        if fragment:
            self.transcript.write(fragment)
            self._inbox.append(fragment)

    def take(self, item: Item) -> None:
        """Push a piece of text, or flush or revise the text so far."""
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
        """Say all text that is pushed from now on in another way; a word that was begun stays as it
        is."""
        self._deliveries.begin(self.transcript.characters, delivery)

    @property
    def text(self) -> str:
        """All text that was pushed, with its revisions."""
        return self.transcript.text

    def revise(self, at: int, text: str) -> int:
        """Replace the text from character ``at`` on: what was not spoken yet is taken back.

        What was spoken stays, and is never spoken again; a number or the like that was begun is
        spoken to its end. If the change reaches back into what was spoken, new words that
        correspond to spoken ones are left out, and so are letters that would only lengthen the last
        of these. A flush that waits is taken back, too. Returns the character of the text from
        which the change could be made. ConfigError if ``at`` lies outside the text, TextError if
        the new text is no text, SessionError after the end."""
        self._check_open("revise", text)
        self._next = None
        source = self.text
        begin, spoken = self._sentence.fixed_until
        at = check_whole("at", at, 0, len(source))
        if at <= spoken:
            text = unspoken(source[:at], source[at:spoken], text)
        at = max(at, spoken)
        self.transcript.rewrite(source[:at] + text)
        self._inbox.clear()
        self._bitten = 0
        self._deliveries.revise(at)
        # The words of the open sentence that were spoken decide how what follows is read. So does
        # their line.
        opening, start = reread(source, begin)
        self._normalizer = self._normalizer_from(start - len(opening))
        self._normalizer.push(opening + source[start:begin])
        # No tag or token stretches over a sentence's beginning, where the text was maybe flushed.
        self._normalizer.breathe()
        self._normalizer.push(source[begin:spoken])
        self._normalizer.forget_spoken(begun=self._sentence.take_back(), over=begin == spoken)
        self._normalizer.skipped.clear()
        if source[spoken:at] + text:
            self._inbox.append(source[spoken:at] + text)
        return at

    def flush(self, *, end: bool = True) -> None:
        """Speak all text so far without waiting for more, and emit held-back sound.

        Later text begins a new sentence; with ``end=False`` it continues the same one after a
        breath, without the fall and the pause of a sentence's end. Voices that read characters end
        the sentence either way."""
        if not (self._cancelled or self._ended):
            self._inbox.append(Flush.END if end else Flush.BREATH)

    def finish(self) -> None:
        """Declare that no more text comes; further pulls speak what is left. Harmless when
        repeated."""
        self.flush()
        self._ended = True
        self.transcript.ended = True

    def heard(self, played_s: float | None = None) -> Heard:
        """What a listener has heard after playing ``played_s`` seconds of the sound that was
        emitted.

        Synthesis runs ahead of playback, often by many seconds: only the player knows how far it
        is. None: all that was emitted. ConfigError where that is more than there is."""
        emitted_s = self._samples / self.sample_rate
        return self.transcript.heard(
            played_s, emitted_s=emitted_s, sample_rate=self.sample_rate, spoken=self.complete
        )

    @property
    def keeps_up(self) -> bool:
        """Whether its speech follows the pace of the text: then ``played`` matters."""
        return self._pace.keep_up is not None

    @property
    def unplayed_s(self) -> float:
        """Seconds of sound that were emitted but, as far as ``played`` was told, not played; 0 if
        it was told nothing. With ``keep_up``, pull some 50 ms before this time has gone by."""
        return self._pace.unplayed_s

    @property
    def unspoken(self) -> int:
        """Characters of its text that were not spoken yet."""
        return self._progress()[1]

    @property
    def lag_s(self) -> float:
        """Seconds from text to speech: sound that was not played, and the estimated duration of
        text not spoken."""
        return self._pace.lag_s(*self._progress())

    def played(self, played_s: float) -> None:
        """Say that ``played_s`` seconds have been played, from the first sample on, which
        ``keep_up`` needs to know.

        ConfigError if that is less than before, or more than was emitted; nothing changes then.
        """
        self._pace.played(played_s)

    def follow(self, playback: Playback, now: float) -> None:
        """Go by how far a player is ``now``, if it keeps up; never back."""
        if self.keeps_up:
            self._pace.follow(playback, now)

    def cancel(self, played_s: float | None = None) -> Heard:
        """Fall silent at once, and return what was heard. Pulls give nothing any more, even if
        ``heard`` raises."""
        self._cancelled = True
        return self.heard(played_s)

    def prepare(
        self, characters: int | None = None, *, together: int = 1, patient: bool = False
    ) -> int | None:
        """How many phonemes or steps the next ``pull`` will cost, at least 1; 0 where more text is
        needed first.

        ``characters``: how many of the text are read to find out, at most; None where that was not
        enough: call again. ``together``: up to so many words that are there may be said in one step
        where the policy has them one by one. ``patient``: 0 also where more text could still add to
        these words (``hungry``).
        """
        if self._more or self._cancelled:
            return self._size if self._more else 0
        self.hungry = False
        left = math.inf if characters is None else characters
        together = 1 if self.keeps_up else together
        while not self._decided(together, patient=patient):
            if left <= 0:
                return None
            if not (read := self._read()):
                self._check_spoken()
                return 0
            left -= read
        if self._next is None:
            return 0
        self._size = max(1, len(self._next.ids), self._next.steps or 0)
        return self._size

    def _decided(self, together: int, *, patient: bool) -> bool:
        """Whether it is known what is said next, or that it waits for text that is not there."""
        if self._next is None and not self._reads_on(together):
            waits = patient and not (self._inbox or self._ended)
            self._next = self._segment(together, patient=waits)
            self.hungry = waits and self._sentence.hungry
        return self.hungry or self._next is not None

    def _reads_on(self, together: int) -> bool:
        """Whether text that is there is read before anything is said."""
        if not self._inbox or self._inbox[0] is Flush.BREATH:
            return False
        return self._sentence.wants(together)

    def _check_spoken(self) -> None:
        """SessionError where the text is over and the policy waits for more of it."""
        if self._ended and self._sentence.has_more and self._pace.keep_up is None:
            raise SessionError(
                "The policy reads on where the text has ended, and never speaks its rest, from"
                f" character {self._sentence.spoken_until} on: a sentence whose last word is there"
                " must be spoken."
            )

    def pull(self) -> AudioChunk | None:
        """The next chunk, or None if more text (or its end) is needed first."""
        while not self._cancelled:
            speech = self._step()
            if self.cancelled:
                return None
            if speech is not None:
                self._time(speech)
            elif not (self._timed and self.finished):
                return None
            # Where no samples follow for words that have their times, there is one for them.
            samples = NO_SAMPLES if speech is None else speech.samples
            if not len(samples) and self._timed and self.finished:
                samples = np.zeros(1, np.float32)
            if len(samples):
                return self._chunk(samples)
        return None

    def chunks(self) -> Iterator[AudioChunk]:
        """All chunks that the text so far allows."""
        while (chunk := self.pull()) is not None:
            yield chunk

    def _check_open(self, call: str, text: object) -> None:
        check_text(call, text)
        if self._cancelled or self._ended:
            raise SessionError(
                f"{call}() after {'cancel' if self._cancelled else 'finish'}(): start a new"
                " session."
            )

    def _step(self) -> SynthesizedAudio | None:
        """Carry out the next decision; None if that takes more text than there is."""
        if self._more:
            speech, self._state = self._synthesizer.step(NOTHING, self._state)
            self._more = speech.more
            self._observation = speech.observation
            speech = self._silenced(speech)
            self._pace.emitted(len(speech.samples))
            return speech
        self.prepare()
        if (segment := self._next) is None:
            return None
        if segment.silence_s and not segment.breath:
            speech = SynthesizedAudio(np.zeros(0, np.float32), (), self._observation)
        else:
            segment = self._pace.applied(segment, *self._progress())
            speech, self._state = self._synthesizer.step(segment, self._state)
        self._more = speech.more
        self._observation = speech.observation
        self._untimed.extend(self._sentence.done(speech))
        # In this order: see ``complete``.
        self._next = None
        self._released = segment.breath
        self._silence_s = segment.silence_s
        speech = self._silenced(speech)
        self._pace.emitted(len(speech.samples))
        return speech

    def _silenced(self, speech: SynthesizedAudio) -> SynthesizedAudio:
        """Speech at its time in the session, with the break after it: the synthesizer knows nothing
        of breaks."""
        if self._inserted:
            words = tuple(
                (onset + self._inserted, end + self._inserted) for onset, end in speech.words
            )
            speech = replace(speech, words=words)
        if self._silence_s and not speech.more:
            silence = np.zeros(round(self._silence_s * self.sample_rate), np.float32)
            speech = replace(speech, samples=np.concatenate([speech.samples, silence]))
            self._inserted = self._inserted + len(silence)
            self._silence_s = 0.0
        return speech

    def _segment(self, together: int, *, patient: bool) -> Segment | None:
        """What is spoken next; None if more text must be read first.

        Where the player is about to run dry, words wait for the end of their phrase, and what is
        held back does not."""
        keep_up = self._pace.keep_up
        dry = self._pace.dry
        if keep_up is None or not (dry or self._slow):
            return self._sentence.next(self._observation, together=together, patient=patient)
        segment = None
        ready = self._sentence.phrase_ready(keep_up.gather)
        # Once it has run dry, each phrase waits, until there is one in time.
        self._slow = dry or not (ready and self._sentence.at_phrase_start)
        if ready or not (dry or self._sentence.at_phrase_start):
            segment = self._sentence.next(self._observation)
        if segment is None and dry and not self._inbox:
            if ready and self._sentence.at_phrase_end:
                self._sentence.breathe()
                segment = self._sentence.next(self._observation)
            elif not self._released:
                segment = self._sentence.release_held(keep_up.stretch)
        return segment

    def _progress(self) -> tuple[int, int]:
        """How many characters of the text have been spoken, and how many have not."""
        spoken = self._sentence.spoken_until
        return spoken, max(0, self.transcript.characters - spoken)

    def _read(self) -> int:
        """Take in some of the pushed text; how many characters, a flush like one, 0 if there is
        none."""
        if not self._inbox:
            return 0
        text = self._inbox[0]
        at = self._bitten
        self._bitten = (
            0 if isinstance(text, Flush) or at + self.BITE >= len(text) else at + self.BITE
        )
        if not self._bitten:
            self._inbox.popleft()
        if text is Flush.END:
            self._take_words(self._normalizer.flush())
            self._sentence.end()
        elif text is Flush.BREATH:
            self._take_words(self._normalizer.breathe())
            self._sentence.breathe()
        else:
            self._take_words(self._normalizer.push(text[at : at + self.BITE]))
        for start, end, skipped in self._normalizer.skipped:
            log.warning(
                "Skipped %r (characters %d to %d): this voice cannot read it.", skipped, start, end
            )
        self.skipped += self._normalizer.skipped
        self._normalizer.skipped.clear()
        return 1 if isinstance(text, Flush) else min(self.BITE, len(text) - at)

    def _take_words(self, words: list[Word]) -> None:
        self._sentence.take(self._deliveries.applied(words))

    def _time(self, speech: SynthesizedAudio) -> None:
        """Give words their times: each time belongs to the first of those spoken that has none.

        A step may have times and no samples, such as that of a mark by itself, whose sound is cut
        to the pause before it: that word begins with the next sample that comes."""
        for onset, offset in speech.words:
            word = self._untimed[0]
            onset = max(onset, self._samples)
            written = written_at(self.transcript, word.start, word.end)
            self._gain.begin(onset, word.delivery)
            times = (onset, max(onset, offset))
            self._timed.append(
                WordTiming(word.text, word.start, word.end, *times, written, ends=word.ends)
            )
            self._untimed.popleft()

    def _chunk(self, samples: Floats) -> AudioChunk:
        """Samples as a chunk, with the words that begin in it."""
        timings = self._timed
        self.transcript.add(timings)
        self._timed = []
        samples = self._gain.applied(samples, self._samples)
        # Neither of them holds for a sample that is no number.
        if not (samples.max() <= 1.0 and samples.min() >= -1.0):
            samples = np.clip(np.nan_to_num(samples, nan=0.0), -1.0, 1.0)
        chunk = AudioChunk(samples, self._samples, self.sample_rate, tuple(timings))
        self._samples += len(samples)
        return chunk
