"""The open sentence of a session whose voice reads characters."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from sayahead.engine.policy import READ, LetterPolicy, LetterView, Read, Steps, check_action
from sayahead.engine.sentence import rest_of
from sayahead.errors import SessionError
from sayahead.text import Speller
from sayahead.types import Floats, Segment, SynthesizedAudio, Word


class Letters:
    """The open sentence as characters: a space before each word but the first, a mark at the
    end."""

    # After this many decoder steps without a READ, one is carried out whatever the policy says: no
    # sentence is endless.
    MAX_STEPS = 80

    def __init__(self, policy: LetterPolicy, speller: Speller) -> None:
        self._policy = policy
        self._speller = speller
        self._pending: deque[Word] = deque()
        self._action: Read | Steps = READ
        self._start = 0
        self._end = 0
        # Whether the next word is the rest of the last one that was spelled.
        self._continues = False
        self._begin()

    def _begin(self) -> None:
        """A fresh sentence."""
        self._unread = ""
        self._size = 0
        self._read = 0
        self._steps = 0
        self._rested = 0
        self._ended = False
        self._last = ""
        self._memory: Floats | None = None
        # Words whose characters come next, with their places in the sentence.
        self._words: list[tuple[Word, tuple[int, int]]] = []

    @property
    def has_more(self) -> bool:
        return bool(self._pending) or self._read > 0

    @property
    def fixed_until(self) -> tuple[int, int]:
        """A word of which a letter was read stays."""
        rest, _ = rest_of(self._continues, self._pending)
        end = rest[-1].end if rest else self._end
        return end if rest and rest[-1].ends else self._start, end

    @property
    def spoken_until(self) -> int:
        return self._end

    def take(self, words: Sequence[Word]) -> None:
        self._pending.extend(words)

    def take_back(self) -> bool:
        rest, begun = rest_of(self._continues, self._pending)
        self._pending = deque(rest)
        return begun

    def end(self) -> None:
        if self._pending:
            self._pending[-1] = replace(self._pending[-1], ends=True)
        elif (self._size or self._words) and not self._ended:
            self._finish()

    def breathe(self) -> None:
        """A policy over characters cannot be hurried, so the sentence ends."""
        self.end()

    def wants(self, together: int) -> bool:
        """A policy over characters sees nothing of what is pending."""
        return False

    @property
    def hungry(self) -> bool:
        """A policy over characters says itself what it reads."""
        return False

    @property
    def at_phrase_start(self) -> bool:
        """Letters do not wait for each other."""
        return False

    @property
    def at_phrase_end(self) -> bool:
        """Its sentences go on as the policy has it."""
        return False

    def phrase_ready(self, most: int) -> bool:
        """Letters do not wait for each other."""
        return True

    def release_held(self, stretch: float) -> Segment | None:
        """Only the end of a sentence releases what is held back."""
        return None

    def next(
        self, observation: Floats | None, *, together: int = 1, patient: bool = False
    ) -> Segment | None:
        """The next character, or decoder steps, of which a policy says itself how many."""
        self._action = self._decide(observation) if self._read else READ
        if isinstance(self._action, Steps):
            return Segment(
                self._speller.ids(""),
                0,
                (),
                self._ended and not self._unread,
                steps=self._action.count,
            )
        while not self._unread:
            if not self._pending:
                return None
            if (pause_s := self._pending[0].pause_s) and not self._size:
                return Segment(self._speller.ids(""), 0, (), False, silence_s=pause_s)
            if pause_s:
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
        """A break ends the sentence before it."""
        if self._pending and self._pending[0].pause_s and not self._size:
            self._start = self._pending.popleft().end
            self._end = self._start
            return ()
        if isinstance(self._action, Steps):
            count = self._action.count
            self._steps = self._steps + count
            self._rested = self._rested + count
            self._memory = self._action.memory
            if speech.ended:
                self._start = self._end
                self._begin()
            return ()
        words = [word for word, _ in self._words]
        self._unread = self._unread[1:]
        self._read = self._read + 1
        self._rested = 0
        self._words = []
        self._memory = self._action.memory
        return words

    def _decide(self, observation: Floats | None) -> Read | Steps:
        over = self._ended and not self._unread
        view = LetterView(self._read, self._steps, self._rested, over, observation, self._memory)
        action = self._policy.decide(view)
        check_action(self._policy, action, "characters")
        if isinstance(action, Read):
            if over:
                raise SessionError(
                    f"{self._policy!r} returned READ, but the whole sentence has been read: return"
                    " Steps."
                )
            return action
        if action.count < 1:
            raise SessionError(
                f"{self._policy!r} made {action.count} steps, but at least 1 is needed."
            )
        return READ if self._rested >= self.MAX_STEPS and not over else action

    def _spell(self, word: Word) -> None:
        """Queue a word's characters, and the final mark if it ends the sentence."""
        text = self._speller.spelled(word.text)
        space = " " if self._size and text else ""
        first = self._size + len(space)
        self._words.append((word, (first, first + len(text))))
        self._add(space + text)
        self._last = word.text
        self._end = word.end
        self._continues = word.continues
        if word.ends:
            self._finish()

    def _finish(self) -> None:
        """Queue the mark at the end of the sentence."""
        self._add(self._speller.final_mark(self._last))
        self._ended = True

    def _add(self, text: str) -> None:
        self._unread += text
        self._size += len(text)
