"""The open sentence of a session: what is pending, what a policy sees of it, what the synthesizer
gets of it.

``Words`` for voices that read words; ``letters.Letters`` for those that read characters; the
session's loop knows neither.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from sayahead.engine.context import ContextPredictor, Prediction
from sayahead.engine.deliveries import tones_of
from sayahead.engine.pieces import FEW, MAX_PHONEMES, MAX_TOGETHER, fitting, in_pieces
from sayahead.engine.policy import Read, Speak, View, WordPolicy, check_action
from sayahead.errors import ConfigError, SessionError
from sayahead.text import Phonemizer, pronounced, sounds
from sayahead.types import Floats, Segment, SynthesizedAudio, Word

PAUSES = ",;:—–…"
"""Marks after which a phrase may pause."""

CUT_LOOKAHEAD = 2
"""Words that a model sees after those it speaks where a step is cut because it would be too
large."""


class Sentence(Protocol):
    """Pending final words, and how far the first sentence of them has come."""

    @property
    def has_more(self) -> bool:
        """Whether anything taken in is still to be spoken."""
        ...

    @property
    def fixed_until(self) -> tuple[int, int]:
        """Where in the source the open sentence begins, and up to where nothing can be taken
        back."""
        ...

    @property
    def spoken_until(self) -> int:
        """Up to where in the source it has been spoken."""
        ...

    def take(self, words: Sequence[Word]) -> None:
        """Take in words that have become final."""
        ...

    def take_back(self) -> bool:
        """Forget the pending words but the rest of a reading that was begun; whether some of that
        is still to come."""
        ...

    def end(self) -> None:
        """End the sentence with the words taken in so far."""
        ...

    def breathe(self) -> None:
        """Speak everything taken in without waiting for more; the sentence goes on."""
        ...

    def wants(self, together: int) -> bool:
        """Whether it is to be shown more words, if they are there: an eager policy, or since so
        many may be said at once."""
        ...

    @property
    def at_phrase_start(self) -> bool:
        """Whether a phrase may pause before what is spoken next."""
        ...

    @property
    def at_phrase_end(self) -> bool:
        """Whether a phrase may pause after the last pending word, whatever follows it."""
        ...

    def phrase_ready(self, most: int) -> bool:
        """Whether the pending words reach to where a phrase may pause, or there are ``most``, or no
        more is awaited."""
        ...

    def release_held(self, stretch: float) -> Segment | None:
        """A segment that emits what is held back, drawn out by a factor; None if nothing can be
        held back."""
        ...

    def next(
        self, observation: Floats | None, *, together: int = 1, patient: bool = False
    ) -> Segment | None:
        """What the synthesizer gets next, or None if the policy wants more words first.

        ``observation`` is that of the last step; ``together``: how many words the policy may decide
        on for one step; ``patient``: None also where more text would add to them (``hungry``).
        Nothing changes until ``done``, so that an error loses no word."""
        ...

    @property
    def hungry(self) -> bool:
        """Whether ``next`` would have given more words, had more text been there."""
        ...

    def done(self, speech: SynthesizedAudio) -> Sequence[Word]:
        """Record that the last segment was rendered; returns its words, whose times follow from now
        on."""
        ...


def closes_phrase(word: Word) -> bool:
    """Whether a phrase may pause after a word, by the word alone."""
    return word.ends or word.text[-1:] in PAUSES


def rest_of(last: bool, pending: Iterable[Word]) -> tuple[list[Word], bool]:
    """Pending words that are the rest of a reading whose beginning was spoken, and whether some is
    still to come.

    ``last``: whether the word that was spoken last goes on.
    """
    rest = list[Word]()
    for word in pending:
        if not last:
            break
        rest.append(word)
        last = word.continues
    return rest, last


def before_break(
    words: tuple[Word, ...], visible: tuple[Word, ...]
) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """What is spoken and what is seen after it, up to the first break: of that, only its mark is
    seen."""
    shown = (*words, *visible)
    at = next((i for i, word in enumerate(shown) if word.pause_s), None)
    if at is None:
        return words, visible
    seen = shown[len(words) : at + 1] if at >= len(words) else shown[at : at + 1] if visible else ()
    return words[:at], tuple(word for word in seen if word.text)


class Words:
    """The open sentence as words, for a policy over words, a phonemizer and a context predictor."""

    # A policy sees at most this many pending words, so that the cost of a step is bounded.
    VIEW_WORDS = 512
    # Words of the past that a context predictor sees.
    PAST_WORDS = 64

    def __init__(
        self,
        policy: WordPolicy,
        phonemizer: Phonemizer,
        context: ContextPredictor,
        *,
        openers: frozenset[str] = frozenset(),
    ) -> None:
        """``openers``: words of the language, in small letters, before which a phrase may pause."""
        self._policy = policy
        self._phonemizer = phonemizer
        self._context = context
        self._openers = openers
        self._pending: deque[Word] = deque()
        self._past: deque[str] = deque(maxlen=self.PAST_WORDS)
        # Words of the open sentence that were spoken; the last few are the phonemizer's left
        # context.
        self._open = 0
        # How many pending words the last SPEAK has shown.
        self._seen = 0
        self._begin = 0
        self._end = 0
        self._closes = False
        self._breathes = False
        # Whether a phrase may pause after the last word that was spoken.
        self._closed = True
        # Whether the next word is the rest of the last one that was spoken.
        self._continues = False
        self._hungry = False
        # What the last segment speaks, and how much it shows.
        self._speaking: tuple[Word, ...] = ()
        self._showing = 0

    @property
    def has_more(self) -> bool:
        return bool(self._pending) or self._closes or self._breathes

    @property
    def fixed_until(self) -> tuple[int, int]:
        """Words that the last SPEAK has shown and not spoken can be taken back."""
        rest, _ = rest_of(self._continues, self._pending)
        end = rest[-1].end if rest else self._end
        return end if rest and rest[-1].ends else self._begin, end

    @property
    def spoken_until(self) -> int:
        return self._end

    def take(self, words: Sequence[Word]) -> None:
        for word in words:
            self._pending.extend(in_pieces(word))

    def take_back(self) -> bool:
        rest, begun = rest_of(self._continues, self._pending)
        self._pending = deque(rest)
        self._seen = min(self._seen, len(rest))
        self._closes = False
        self._breathes = False
        return begun

    def end(self) -> None:
        """If everything was spoken, a segment without words closes the sentence."""
        if self._pending:
            self._pending[-1] = replace(self._pending[-1], ends=True)
        elif self._open:
            self._closes = True

    def breathe(self) -> None:
        """Where all was spoken, a segment without words emits what is held back."""
        self._breathes = bool(self._pending or self._open)

    def wants(self, together: int) -> bool:
        """Nothing is read over a breath or an end."""
        most = getattr(self._policy, "eager", 0) or (together if together > 1 else 0)
        return bool(most) and len(self._pending) <= most and not (self._closes or self._breathes)

    @property
    def hungry(self) -> bool:
        return self._hungry

    @property
    def at_phrase_start(self) -> bool:
        return self._closed or (
            bool(self._pending) and self._pending[0].text.lower() in self._openers
        )

    @property
    def at_phrase_end(self) -> bool:
        return bool(self._pending) and closes_phrase(self._pending[-1])

    def phrase_ready(self, most: int) -> bool:
        words = list(itertools.islice(self._pending, most))
        opened = any(word.text.lower() in self._openers for word in words[1:])
        whole = len(words) == most or opened or any(map(closes_phrase, words))
        return whole or self._closes or self._breathes

    def release_held(self, stretch: float) -> Segment | None:
        if not self._open:
            return None
        self._speaking = ()
        self._showing = 0
        return Segment(np.zeros(0, np.int64), 0, (), False, breath=True, stretch=stretch)

    def next(
        self, observation: Floats | None, *, together: int = 1, patient: bool = False
    ) -> Segment | None:
        self._hungry = False
        if self._closes or (self._breathes and not self._pending):
            self._speaking = ()
            self._showing = 0
            return Segment(np.zeros(0, np.int64), 0, (), self._closes, breath=self._breathes)
        if not self._pending:
            return None
        if self._pending[0].pause_s:
            return self._silence(self._pending[0])
        pending = self._sentence()
        action = self._decide(pending, spoken=0, seen=self._seen)
        if isinstance(action, Read):
            if not self._breathes:
                return None
            action = Speak(len(pending), 0)
        action = self._further(pending, action, together) if together > 1 else action
        if patient and self._hungry:
            return None
        words, visible = self._bounded(pending, action)
        words, visible = before_break(words, visible)
        if action.alone:
            words = (*words[:-1], replace(words[-1], ends=True))
            visible = ()
        self._speaking = words
        self._showing = len(visible)
        segment = self._segment(words, visible)
        return (
            replace(segment, breath=True)
            if self._breathes and len(words) == len(self._pending)
            else segment
        )

    def _further(self, pending: tuple[Word, ...], action: Speak, together: int) -> Speak:
        """What the policy says in one decision after another, as far as one step may say it at
        once."""
        most = fitting(pending[:together], self._count, MAX_TOGETHER)
        while not action.alone and action.word_count < most:
            seen = min(action.lookahead, len(pending) - action.word_count)
            more = self._decide(pending, spoken=action.word_count, seen=seen)
            if isinstance(more, Read) or more.alone or action.word_count + more.word_count > most:
                self._hungry = isinstance(more, Read) and not self._breathes
                return action
            action = Speak(action.word_count + more.word_count, more.lookahead)
        # Where the policy sees nothing of what follows, it has said all that was there.
        there = len(pending) == action.word_count < together and not pending[-1].ends
        self._hungry = there and not (action.alone or self._breathes)
        return action

    def _decide(self, pending: tuple[Word, ...], *, spoken: int, seen: int) -> Read | Speak:
        """What the policy says of the words behind the first ``spoken`` of the pending ones."""
        rest = pending[spoken:]
        past = [*self._left(), *(word.text for word in pending[:spoken])]
        view = View(rest, not past, self._count, past=tuple(past[-self.PAST_WORDS :]), seen=seen)
        action = self._policy.decide(view)
        check_action(self._policy, action, "words")
        if isinstance(action, Speak) and not 1 <= action.word_count <= len(rest):
            raise SessionError(
                f"{self._policy!r} spoke {action.word_count} words where {len(rest)} were pending."
            )
        return action

    def done(self, speech: SynthesizedAudio) -> Sequence[Word]:
        if self._closes:
            self._closes = False
            self._open = 0
            self._begin = self._end
        if not self._speaking:
            self._breathes = False
            return ()
        if self._speaking[0].pause_s:
            return self._silent(self._pending.popleft())
        for word in self._speaking:
            self._pending.popleft()
            self._past.append(word.text)
        self._open = 0 if self._speaking[-1].ends else self._open + len(self._speaking)
        self._end = self._speaking[-1].end
        self._closed = closes_phrase(self._speaking[-1])
        self._begin = self._end if self._speaking[-1].ends else self._begin
        self._continues = self._speaking[-1].continues
        self._seen = self._showing
        self._breathes = self._breathes and bool(self._pending)
        return self._speaking

    def _silence(self, word: Word) -> Segment:
        """The silence that stands for a break, after the mark that opens it in a sentence; no model
        sees past it."""
        self._speaking = (word,)
        self._showing = max(0, self._seen - 1)
        if not self._open:
            return Segment(np.zeros(0, np.int64), 0, (), False, silence_s=word.pause_s)
        pronunciations = pronounced(
            self._phonemizer, [word] if word.text else [], left=self._left()
        )
        ids = np.concatenate([np.zeros(0, np.int64), *(mark.ids for mark in pronunciations)])
        return Segment(ids, len(ids), (), False, breath=True, silence_s=word.pause_s)

    def _silent(self, word: Word) -> Sequence[Word]:
        """Record that a break is over; it was no word."""
        self._end = word.end
        self._seen = self._showing
        self._begin = self._begin if self._open else self._end
        self._closes = word.ends and self._open > 0
        self._breathes = self._breathes and bool(self._pending)
        return ()

    def _count(self, word: Word) -> int:
        """Number of phonemes of a word by itself."""
        return sounds(word.phonemes) or self._phonemizer.phonemes(word)

    def _left(self) -> list[str]:
        """The last words of the open sentence that were spoken."""
        return list(self._past)[-self._open :] if self._open else []

    def _sentence(self) -> tuple[Word, ...]:
        """Pending words up to the first that ends a sentence."""
        words = list[Word]()
        for word in itertools.islice(self._pending, self.VIEW_WORDS):
            words.append(word)
            if word.ends:
                break
        return tuple(words)

    def _bounded(
        self, pending: tuple[Word, ...], action: Speak
    ) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """What an action speaks and shows, as far as one step may; the rest of what it speaks comes
        in the next."""
        shown = pending[: action.word_count + action.lookahead]
        # A few words fit, as none of them is long to say; to count takes time.
        fit = len(shown) if len(shown) <= FEW else fitting(shown, self._count, MAX_PHONEMES)
        if fit < action.word_count:
            # Where it is cut, the model sees what follows.
            spoken = max(1, fit - CUT_LOOKAHEAD)
            return shown[:spoken], shown[spoken : max(fit, spoken)]
        return shown[: action.word_count], shown[action.word_count : fit]

    def _segment(self, words: tuple[Word, ...], visible: tuple[Word, ...]) -> Segment:
        """Phonemes of the words, then of what the model may see after them: real words, then
        predicted ones."""
        shown = (*words, *visible)
        ends = shown[-1].ends
        embedding = None
        predicted = list[Word]()
        if not ends:
            prediction = self._context.predict([*self._past, *(word.text for word in shown)])
            if not isinstance(prediction, Prediction):
                raise ConfigError(
                    f"{self._context!r} returned {prediction!r}, but must return a Prediction."
                )
            embedding = prediction.embedding
            predicted = [Word(text, 0, 0) for text in prediction.words]
            if predicted and predicted[-1].text[-1:] in ".!?":
                ends = True
                predicted[-1] = replace(predicted[-1], ends=True)
        pronunciations = pronounced(
            self._phonemizer, [*words, *visible, *predicted], left=self._left()
        )
        bounds = [0, *itertools.accumulate(len(word.ids) for word in pronunciations)]
        own = zip(bounds, pronunciations[: len(words)], strict=False)
        spans = tuple((at + word.first, at + word.end) for at, word in own)
        real = bounds[len(words) + len(visible)]
        ids = np.concatenate([word.ids for word in pronunciations])
        speeds = None
        if any(word.speed != 1.0 for word in shown):
            rates = [*(word.speed for word in shown), *(1.0 for _ in predicted)]
            speeds = np.repeat(np.array(rates, np.float32), np.diff(bounds))
        tones = tones_of([*shown, *predicted], pronunciations)
        return Segment(
            ids,
            bounds[len(words)],
            spans,
            ends,
            embedding,
            predicted=len(ids) - real,
            speeds=speeds,
            tones=tones,
        )
