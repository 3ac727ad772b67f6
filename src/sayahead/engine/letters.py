"""The open sentence of a session whose voice reads characters."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from sayahead.engine.policy import READ, LetterPolicy, LetterView, Read, Steps, check_action
from sayahead.engine.sentence import Source, rest_of
from sayahead.errors import SessionError
from sayahead.text import Speller
from sayahead.types import Floats, Segment, SynthesizedAudio, Word


class Letters:
    """The open sentence as characters, for a policy over characters: a space before each word but
    the first, and a final mark."""

    # A READ is inserted after this many decoder steps without one, so that every sentence ends.
    MAX_STEPS = 80

    def __init__(self, policy: LetterPolicy, speller: Speller) -> None:
        self._policy = policy
        self._speller = speller
        self._pending: deque[Word] = deque()
        self._action: Read | Steps = READ
        self._start = 0
        self._end = 0
        # Whether the next word continues the reading of the last spelled one.
        self._continues = False
        self._reset()

    def _reset(self) -> None:
        """Start a new sentence."""
        self._unread = ""
        self._queued_size = 0
        """Characters of the sentence that have been queued."""
        self._read_count = 0
        """Characters of the sentence that have been read."""
        self._steps = 0
        """Decoder steps of the sentence."""
        self._steps_since_read = 0
        """Decoder steps since the last READ."""
        self._ended = False
        self._last_word = ""
        """Text of the last spelled word."""
        self._memory: Floats | None = None
        # Words that begin with the next character to be read, and their (first, end) positions in
        # the sentence.
        self._words: list[tuple[Word, tuple[int, int]]] = []

    @property
    def has_more(self) -> bool:
        return bool(self._pending) or self._read_count > 0

    @property
    def fixed_range(self) -> tuple[int, int]:
        """A word cannot be taken back once one of its letters has been read."""
        rest, _ = rest_of(self._continues, self._pending)
        end = rest[-1].end if rest else self._end
        return end if rest and rest[-1].ends else self._start, end

    @property
    def spoken_end(self) -> int:
        return self._end

    def take(self, words: Sequence[Word]) -> None:
        self._pending.extend(words)

    def take_back(self) -> bool:
        rest, is_incomplete = rest_of(self._continues, self._pending)
        self._pending = deque(rest)
        return is_incomplete

    def end(self) -> None:
        if self._pending:
            self._pending[-1] = replace(self._pending[-1], ends=True)
        elif (self._queued_size or self._words) and not self._ended:
            self._finish()

    def breathe(self) -> None:
        """End the sentence: a policy over characters decides by itself when to speak."""
        self.end()

    def wants(self, together: int) -> bool:
        """Always False: a policy over characters does not see pending words."""
        return False

    @property
    def hungry(self) -> bool:
        """Always False: a policy over characters decides by itself what to read."""
        return False

    @property
    def at_phrase_start(self) -> bool:
        """Always False: characters do not wait for the end of a phrase."""
        return False

    @property
    def at_phrase_end(self) -> bool:
        """Always False: characters do not wait for the end of a phrase."""
        return False

    def phrase_ready(self, most: int) -> bool:
        """Always True: characters do not wait for the end of a phrase."""
        return True

    def release_held(self, stretch: float) -> Segment | None:
        """Always None: only the end of a sentence releases held-back sound."""
        return None

    def next(
        self,
        observation: Floats | None,
        *,
        source: Source | None = None,
        together: int = 1,
        patient: bool = False,
    ) -> Segment | None:
        """Return the next character, or a number of decoder steps, as the policy decides.

        Between sentences it may be a break, which ends the sentence before it.
        """
        self._action = self._decide(observation) if self._read_count else READ
        if isinstance(self._action, Steps):
            is_all_read = self._ended and not self._unread
            no_ids = self._speller.ids("")
            return Segment(no_ids, 0, (), is_all_read, steps=self._action.count)
        while not self._unread:
            if not self._pending:
                return None
            if self._is_break:
                no_ids = self._speller.ids("")
                return Segment(no_ids, 0, (), False, silence_s=self._pending[0].pause_s)
            if self._pending[0].pause_s:
                self._finish()
            else:
                self._spell(self._pending.popleft())
        places = tuple(place for _, place in self._words)
        return Segment(
            self._speller.ids(self._unread[0]),
            0,
            places,
            self._ended and len(self._unread) == 1,
            steps=0,
        )

    def done(self, speech: SynthesizedAudio) -> Sequence[Word]:
        """Apply the last segment: a break that is over, decoder steps, or a character that was
        read."""
        if self._is_break:
            self._start = self._pending.popleft().end
            self._end = self._start
            return ()
        if isinstance(self._action, Steps):
            self._steps += self._action.count
            self._steps_since_read += self._action.count
            self._memory = self._action.memory
            if speech.ended:
                self._start = self._end
                self._reset()
            return ()
        words = [word for word, _ in self._words]
        self._unread = self._unread[1:]
        self._read_count += 1
        self._steps_since_read = 0
        self._words = []
        self._memory = self._action.memory
        return words

    @property
    def _is_break(self) -> bool:
        """Whether a break is next: no sentence is open, and a pause is pending."""
        return not self._queued_size and bool(self._pending and self._pending[0].pause_s)

    def _decide(self, observation: Floats | None) -> Read | Steps:
        """Ask the policy for its next action, and check it.

        SessionError if the action cannot be carried out. A READ replaces it after ``MAX_STEPS``
        steps without one.
        """
        is_all_read = self._ended and not self._unread
        view = LetterView(
            self._read_count,
            self._steps,
            self._steps_since_read,
            is_all_read,
            observation,
            self._memory,
        )
        action = self._policy.decide(view)
        check_action(self._policy, action, "characters")
        if isinstance(action, Read):
            if is_all_read:
                raise SessionError(
                    f"{self._policy!r} returned READ, but the whole sentence has been read: return"
                    " Steps."
                )
            return action
        if action.count < 1:
            raise SessionError(
                f"{self._policy!r} made {action.count} steps, but at least 1 is needed."
            )
        return READ if self._steps_since_read >= self.MAX_STEPS and not is_all_read else action

    def _spell(self, word: Word) -> None:
        """Queue a word's characters, and the final mark if it ends the sentence."""
        text = self._speller.spelled(word.text)
        space = " " if self._queued_size and text else ""
        first = self._queued_size + len(space)
        self._words.append((word, (first, first + len(text))))
        self._queue(space + text)
        self._last_word = word.text
        self._end = word.end
        self._continues = word.continues
        if word.ends:
            self._finish()

    def _finish(self) -> None:
        """Queue the final mark of the sentence."""
        self._queue(self._speller.final_mark(self._last_word))
        self._ended = True

    def _queue(self, text: str) -> None:
        self._unread += text
        self._queued_size += len(text)
