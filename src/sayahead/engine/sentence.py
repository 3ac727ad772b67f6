"""The open sentence of a session: its pending words, what a policy sees of them, and the segments
that the synthesizer gets.

``Words`` serves voices that read words, ``letters.Letters`` those that read characters; the session
knows only the protocol ``Sentence``.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
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
"""Punctuation after which a speaker may pause."""

MAX_OPENING = 20
"""Characters after the first word that are looked at."""
Source = Callable[[int, int], str]
"""Returns the text between two positions."""
NO_IDS = np.zeros(0, np.int64)
_LETTERS = re.compile(r"[^\W\d_]*")

CUT_LOOKAHEAD = 2
"""Lookahead in words that a step keeps if it is cut because it is too large."""


class Sentence(Protocol):
    """The pending words, and the progress in the first sentence of them."""

    @property
    def has_more(self) -> bool:
        """Whether anything taken in has still to be spoken."""
        ...

    @property
    def fixed_range(self) -> tuple[int, int]:
        """Positions in the source: where the open sentence begins, and where text begins that can
        still be taken back."""
        ...

    @property
    def spoken_end(self) -> int:
        """Position in the source up to which it has been spoken."""
        ...

    def take(self, words: Sequence[Word]) -> None:
        """Take in words that have become final."""
        ...

    def take_back(self) -> bool:
        """Drop the pending words, but not the rest of a reading whose beginning was spoken.

        Returns whether more words of that reading are still to come.
        """
        ...

    def end(self) -> None:
        """End the sentence with the words taken in so far."""
        ...

    def breathe(self) -> None:
        """Speak everything taken in without waiting for more; the sentence goes on."""
        ...

    def wants(self, together: int) -> bool:
        """Return whether to read on before it is asked for a segment, if text is there.

        True while fewer words are pending than an eager policy wants, or than the ``together``
        words that one step may speak.
        """
        ...

    @property
    def at_phrase_start(self) -> bool:
        """Whether a speaker may pause before the next word."""
        ...

    @property
    def at_phrase_end(self) -> bool:
        """Whether a speaker may pause after the last pending word, whatever follows it."""
        ...

    def phrase_ready(self, most: int) -> bool:
        """Return whether the pending words reach the end of a phrase, or number ``most``, or have
        an end or a breath after them."""
        ...

    def release_held(self, stretch: float) -> Segment | None:
        """Return a segment that emits the held-back sound, lengthened by ``stretch``; None if
        nothing can be held back."""
        ...

    def next(
        self,
        observation: Floats | None,
        *,
        source: Source | None = None,
        together: int = 1,
        patient: bool = False,
    ) -> Segment | None:
        """Return the synthesizer's next segment, or None if the policy wants more words first.

        ``observation``: that of the last step; ``source``: the text, if known; ``together``: most
        words of one step; ``patient``: whether to return None also if more text would add words to
        the step (then ``hungry`` is true). Nothing changes until ``done``, so that an error loses
        no word.
        """
        ...

    @property
    def hungry(self) -> bool:
        """Whether the last ``next`` would have given more words if more text had been there."""
        ...

    def done(self, speech: SynthesizedAudio) -> Sequence[Word]:
        """Record that the last segment was rendered.

        Returns its words: their timings follow in this step or later ones.
        """
        ...


def closes_phrase(word: Word) -> bool:
    """Return whether a speaker may pause after a word, judging by the word alone."""
    return word.ends or word.text[-1:] in PAUSES


def opening_of(word: Word, source: Source | None) -> str:
    """Return the letters with which the word after ``word`` begins in the source; none if ``word``
    ends a sentence, its reading goes on, or anything but white space follows it."""
    if source is None or word.ends or word.continues:
        return ""
    after = source(word.end, word.end + MAX_OPENING)
    letters = _LETTERS.match(after.lstrip()) if after[:1].isspace() else None
    return letters[0] if letters else ""


def rest_of(continues: bool, pending: Iterable[Word]) -> tuple[list[Word], bool]:
    """Return the pending words that continue a reading whose beginning was spoken, and whether more
    of it is still to come.

    ``continues``: whether the last spoken word continues.
    """
    rest = list[Word]()
    for word in pending:
        if not continues:
            break
        rest.append(word)
        continues = word.continues
    return rest, continues


def before_break(
    words: tuple[Word, ...], visible: tuple[Word, ...]
) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """Cut the spoken and the visible words at the first break.

    Of the break itself, only its punctuation mark stays visible.
    """
    sequence = (*words, *visible)
    break_index = next((i for i, word in enumerate(sequence) if word.pause_s), None)
    if break_index is None:
        return words, visible
    seen = sequence[min(len(words), break_index) : break_index + 1] if visible else ()
    return words[:break_index], tuple(word for word in seen if word.text)


class Words:
    """The open sentence as words, for a policy over words, a phonemizer and a context predictor."""

    # Most pending words that a policy sees, so that the cost of a step is bounded.
    VIEW_WORDS = 512
    # Past words that a context predictor sees.
    PAST_WORDS = 64

    def __init__(
        self,
        policy: WordPolicy,
        phonemizer: Phonemizer,
        context: ContextPredictor,
        *,
        openers: frozenset[str] = frozenset(),
    ) -> None:
        """``openers``: words of the language, in lower case, before which a speaker may pause."""
        self._policy = policy
        self._phonemizer = phonemizer
        self._context = context
        self._openers = openers
        self._pending: deque[Word] = deque()
        self._past: deque[str] = deque(maxlen=self.PAST_WORDS)
        # Spoken words of the open sentence; the last few are the phonemizer's left context.
        self._open_count = 0
        # Lookahead of the last SPEAK: how many pending words the model has seen.
        self._seen = 0
        self._sentence_start = 0
        self._end = 0
        self._must_close = False
        self._must_breathe = False
        # Whether a speaker may pause after the last spoken word.
        self._after_phrase = True
        # Whether the next word continues the reading of the last spoken one.
        self._continues = False
        self._hungry = False
        # The words of the last segment, and its lookahead in words.
        self._segment_words: tuple[Word, ...] = ()
        self._segment_lookahead = 0

    @property
    def has_more(self) -> bool:
        return bool(self._pending) or self._must_close or self._must_breathe

    @property
    def fixed_range(self) -> tuple[int, int]:
        """Words that were only lookahead can be taken back."""
        rest, _ = rest_of(self._continues, self._pending)
        end = rest[-1].end if rest else self._end
        return end if rest and rest[-1].ends else self._sentence_start, end

    @property
    def spoken_end(self) -> int:
        return self._end

    def take(self, words: Sequence[Word]) -> None:
        for word in words:
            self._pending.extend(in_pieces(word))

    def take_back(self) -> bool:
        """Drop the pending words, but not the rest of a reading whose beginning was spoken."""
        rest, is_incomplete = rest_of(self._continues, self._pending)
        self._pending = deque(rest)
        self._seen = min(self._seen, len(rest))
        self._must_close = False
        self._must_breathe = False
        return is_incomplete

    def end(self) -> None:
        """If everything was spoken already, a segment without words closes the sentence."""
        if self._pending:
            self._pending[-1] = replace(self._pending[-1], ends=True)
        elif self._open_count:
            self._must_close = True

    def breathe(self) -> None:
        """If everything was spoken already, a segment without words emits the held-back sound."""
        self._must_breathe = bool(self._pending or self._open_count)

    def wants(self, together: int) -> bool:
        """A pending breath or end stops reading."""
        most = getattr(self._policy, "eager", 0) or (together if together > 1 else 0)
        return (
            bool(most)
            and len(self._pending) <= most
            and not (self._must_close or self._must_breathe)
        )

    @property
    def hungry(self) -> bool:
        return self._hungry

    @property
    def at_phrase_start(self) -> bool:
        return self._after_phrase or (
            bool(self._pending) and self._pending[0].text.lower() in self._openers
        )

    @property
    def at_phrase_end(self) -> bool:
        return bool(self._pending) and closes_phrase(self._pending[-1])

    def phrase_ready(self, most: int) -> bool:
        words = list(itertools.islice(self._pending, most))
        has_opener = any(word.text.lower() in self._openers for word in words[1:])
        is_whole = len(words) == most or has_opener or any(map(closes_phrase, words))
        return is_whole or self._must_close or self._must_breathe

    def release_held(self, stretch: float) -> Segment | None:
        if not self._open_count:
            return None
        return self._empty_segment(Segment(NO_IDS, 0, (), False, breath=True, stretch=stretch))

    def next(
        self,
        observation: Floats | None,
        *,
        source: Source | None = None,
        together: int = 1,
        patient: bool = False,
    ) -> Segment | None:
        """Of what is pending, the segment is an end or a breath, a break, or the words that the
        policy speaks."""
        self._hungry = False
        if self._must_close or (self._must_breathe and not self._pending):
            # All words are spoken, so only the held-back sound is emitted.
            return self._empty_segment(
                Segment(NO_IDS, 0, (), self._must_close, breath=self._must_breathe)
            )
        if not self._pending:
            return None
        if self._pending[0].pause_s:
            return self._break_segment(self._pending[0])
        pending = self._visible_sentence()
        opening = "" if self._past else opening_of(pending[0], source)
        action = self._decide(pending, spoken=0, seen=self._seen, opening=opening)
        if isinstance(action, Read):
            if not self._must_breathe:
                return None
            # A breath speaks all pending words of the sentence.
            action = Speak(len(pending), 0)
        if together > 1:
            action = self._batched(pending, action, together)
        if patient and self._hungry:
            return None
        words, visible = self._shown(pending, action, opening)
        self._segment_words = words
        # The letters of a word that has begun are no lookahead word.
        self._segment_lookahead = len(visible) - bool(action.letters)
        is_breath = self._must_breathe and len(words) == len(self._pending)
        return replace(self._segment(words, visible), breath=is_breath)

    def _empty_segment(self, segment: Segment) -> Segment:
        """Return a segment without words, and note that it has none."""
        self._segment_words = ()
        self._segment_lookahead = 0
        return segment

    def _batched(self, pending: tuple[Word, ...], action: Speak, together: int) -> Speak:
        """Return the policy's action, merged with its next ones as long as one step may speak them
        together.

        ``together``: most words of the step. Sets ``hungry`` if the policy would have spoken more,
        had more text been there.
        """
        max_words = fitting(pending[:together], self._phoneme_count, MAX_TOGETHER)
        while not (action.alone or action.letters) and action.word_count < max_words:
            seen = min(action.lookahead, len(pending) - action.word_count)
            more = self._decide(pending, spoken=action.word_count, seen=seen)
            if (
                isinstance(more, Read)
                or more.alone
                or action.word_count + more.word_count > max_words
            ):
                self._hungry = isinstance(more, Read) and not self._must_breathe
                return action
            action = Speak(action.word_count + more.word_count, more.lookahead)
        # A policy without lookahead never says READ here: it has spoken all that was there.
        has_spoken_all = action.word_count == len(pending) and not pending[-1].ends
        may_add = action.word_count < together and not (action.alone or self._must_breathe)
        self._hungry = has_spoken_all and may_add
        return action

    def _decide(
        self, pending: tuple[Word, ...], *, spoken: int, seen: int, opening: str = ""
    ) -> Read | Speak:
        """Ask the policy about the pending words after the first ``spoken`` ones, and check its
        action.

        ``seen``: how many of these the model has seen already; ``opening``: as in ``View``.
        """
        rest = pending[spoken:]
        past = [*self._left_context(), *(word.text for word in pending[:spoken])]
        view = View(
            rest,
            not past,
            self._phoneme_count,
            past=tuple(past[-self.PAST_WORDS :]),
            seen=seen,
            opening=opening,
        )
        action = self._policy.decide(view)
        check_action(self._policy, action, "words")
        if isinstance(action, Speak) and not 1 <= action.word_count <= len(rest):
            raise SessionError(
                f"{self._policy!r} spoke {action.word_count} words where {len(rest)} were pending."
            )
        return action

    def done(self, speech: SynthesizedAudio) -> Sequence[Word]:
        """Take the words of the last segment as spoken, and return them."""
        if self._must_close:
            self._must_close = False
            self._open_count = 0
            self._sentence_start = self._end
        if not self._segment_words:
            self._must_breathe = False
            return ()
        if self._segment_words[0].pause_s:
            return self._break_done(self._pending.popleft())
        for word in self._segment_words:
            self._pending.popleft()
            self._past.append(word.text)
        last = self._segment_words[-1]
        self._end = last.end
        self._open_count += len(self._segment_words)
        if last.ends:
            self._open_count = 0
            self._sentence_start = last.end
        self._after_phrase = closes_phrase(last)
        self._continues = last.continues
        self._seen = self._segment_lookahead
        self._must_breathe = self._must_breathe and bool(self._pending)
        return self._segment_words

    def _break_segment(self, word: Word) -> Segment:
        """Return the segment of a break: silence, preceded by the break's mark inside a sentence.

        No model sees past it.
        """
        self._segment_words = (word,)
        self._segment_lookahead = max(0, self._seen - 1)
        if not self._open_count:
            return Segment(NO_IDS, 0, (), False, silence_s=word.pause_s)
        pronunciations = pronounced(
            self._phonemizer, [word] if word.text else [], left=self._left_context()
        )
        ids = np.concatenate([NO_IDS, *(mark.ids for mark in pronunciations)])
        return Segment(ids, len(ids), (), False, breath=True, silence_s=word.pause_s)

    def _break_done(self, word: Word) -> Sequence[Word]:
        """Record that a break is over. It is no word, so nothing is returned."""
        self._end = word.end
        self._seen = self._segment_lookahead
        if not self._open_count:
            self._sentence_start = self._end
        self._must_close = word.ends and self._open_count > 0
        self._must_breathe = self._must_breathe and bool(self._pending)
        return ()

    def _phoneme_count(self, word: Word) -> int:
        """Return the number of phonemes of a word on its own."""
        return sounds(word.phonemes) or self._phonemizer.phonemes(word)

    def _left_context(self) -> list[str]:
        """Return the last spoken words of the open sentence."""
        return list(self._past)[-self._open_count :] if self._open_count else []

    def _visible_sentence(self) -> tuple[Word, ...]:
        """Return the pending words up to the first that ends a sentence."""
        words = list[Word]()
        for word in itertools.islice(self._pending, self.VIEW_WORDS):
            words.append(word)
            if word.ends:
                break
        return tuple(words)

    def _shown(
        self, pending: tuple[Word, ...], action: Speak, opening: str
    ) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """Return the words that the next segment speaks and those that it shows."""
        words, visible = before_break(*self._split(pending, action))
        if action.alone:
            return (*words[:-1], replace(words[-1], ends=True)), ()
        if action.letters:
            end = words[-1].end
            return words, (*visible, Word(opening[: action.letters], end, end))
        return words, visible

    def _split(
        self, pending: tuple[Word, ...], action: Speak
    ) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """Return the words that an action speaks and those that it shows, within the limits of one
        step.

        What does not fit is spoken in the next step.
        """
        shown = pending[: action.word_count + action.lookahead]
        # A few words always fit, as long words are in pieces; counting takes time.
        fit = len(shown) if len(shown) <= FEW else fitting(shown, self._phoneme_count, MAX_PHONEMES)
        if fit < action.word_count:
            # The words after a cut are known, so they become the lookahead.
            spoken = max(1, fit - CUT_LOOKAHEAD)
            return shown[:spoken], shown[spoken : max(fit, spoken)]
        return shown[: action.word_count], shown[action.word_count : fit]

    def _segment(self, words: tuple[Word, ...], visible: tuple[Word, ...]) -> Segment:
        """Return the segment of words to speak, followed by the visible words and then the
        predicted ones."""
        sequence = [*words, *visible]
        visible_end = len(sequence)
        embedding = None
        if not sequence[-1].ends:
            predicted, embedding = self._predicted(sequence)
            sequence += predicted
        pronunciations = pronounced(self._phonemizer, sequence, left=self._left_context())
        # Where the phonemes of each word begin in the segment, and where the last ones end.
        bounds = [0, *itertools.accumulate(len(word.ids) for word in pronunciations)]
        spoken = zip(bounds, pronunciations[: len(words)], strict=False)
        speeds = None
        if any(word.speed != 1.0 for word in sequence):
            speeds = np.repeat([np.float32(word.speed) for word in sequence], np.diff(bounds))
        return Segment(
            np.concatenate([word.ids for word in pronunciations]),
            bounds[len(words)],
            tuple((begin + word.first, begin + word.end) for begin, word in spoken),
            sequence[-1].ends,
            embedding,
            predicted=bounds[-1] - bounds[visible_end],
            speeds=speeds,
            tones=tones_of(sequence, pronunciations),
        )

    def _predicted(self, shown: Sequence[Word]) -> tuple[list[Word], Floats | None]:
        """Return what the context predictor puts after the words shown: words, and an embedding.

        The last word ends the sentence if its mark says so.
        """
        prediction = self._context.predict([*self._past, *(word.text for word in shown)])
        if not isinstance(prediction, Prediction):
            raise ConfigError(
                f"{self._context!r} returned {prediction!r}, but must return a Prediction."
            )
        words = [Word(text, 0, 0) for text in prediction.words]
        if words and words[-1].text[-1:] in ".!?":
            words[-1] = replace(words[-1], ends=True)
        return words, prediction.embedding
