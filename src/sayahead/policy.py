"""When to speak: policies map what is there to READ or SPEAK. They hold no state and never see a clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from sayahead.errors import ConfigError
from sayahead.types import Floats, Word


@dataclass(frozen=True, slots=True)
class Read:
    """Take in more text first: a character of it, where the voice reads these."""

    memory: Floats | None = field(default=None, compare=False)
    """What the policy wants to find in its next view (H,); nothing where it decides by the view alone."""


READ = Read()


@dataclass(frozen=True, slots=True)
class Speak:
    """Say the next words, seeing some of what follows."""

    words: int
    """How many of the pending words to say; at least one, and none beyond the end of a sentence."""
    lookahead: int
    """How many words after them the model may see, fewer where the sentence ends before."""
    alone: bool = False
    """Whether they are an utterance of their own: the model sees nothing before them, and an end behind them."""
    steps: int = 0
    """Where the voice reads characters: decoder steps to make of those that were read, at least one; no words then."""
    memory: Floats | None = field(default=None, compare=False)
    """See Read."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How far a sentence has come with a voice that reads characters."""

    read: int
    """Characters read; the first is, before anything is decided."""
    steps: int
    """Decoder steps made."""
    rested: int
    """How many of them since the last READ."""
    over: bool
    """Whether all of the sentence has been read: nothing is left but to speak."""
    memory: Floats | None = None
    """What the last decision left behind; none at a sentence's begin."""


@dataclass(frozen=True, slots=True)
class View:
    """What a policy decides on."""

    pending: tuple[Word, ...]
    """Final words that are not spoken, oldest first, up to and including the first that ends a sentence."""
    first: bool
    """Whether nothing of this sentence has been spoken."""
    phonemes: Callable[[Word], int]
    """Number of phonemes of a word said by itself: a constant of the word, whatever surrounds it."""
    observation: Floats | None = None
    """What the synthesizer's last step observed, for policies that act on frames."""
    past: tuple[str, ...] = ()
    """Words of this sentence that were spoken, the last of them, as they are read aloud."""
    seen: int = 0
    """How many of the pending words the last SPEAK has shown to the model: asked for already, and there at any pace."""
    reading: Reading | None = None
    """With a voice that reads characters, what there is instead of words; all that is above but the observation is
    empty then."""


class Policy(Protocol):
    """The g(t) of the prefix-to-prefix framework (Ma, Eq. 6), as a decision.

    One for voices that read characters has ``characters = True``, and decides on ``View.reading`` and the observation.
    """

    def decide(self, view: View) -> Read | Speak:
        """READ, or SPEAK with at least one word, or step; a sentence whose end is pending must be spoken in the end."""
        ...


@dataclass(frozen=True, slots=True)
class LookaheadK:
    """Speak a chunk as soon as ``k`` words after it are there: g(t) = min(k + t, |x|) (Ma, Eq. 7).

    A chunk is the smallest number of words with at least so many phonemes (Ma 5.1). Ma's settings are 18 for the
    first chunk of a sentence and 6 for the others, or 7 for all; 1 and 1 speak word by word.
    """

    k: int = 1
    """Words of lookahead; 0 speaks a word the moment it is complete."""
    first_chunk: int = 1
    """Least phonemes of a sentence's first chunk."""
    chunk: int = 1
    """Least phonemes of every other chunk."""
    words: int = 1
    """Least words of any chunk (Saeki's N, 2)."""

    def __post_init__(self) -> None:
        for name, least in (("k", 0), ("first_chunk", 1), ("chunk", 1), ("words", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise ConfigError(f"LookaheadK: {name} is {value!r}, but must be a whole number of at least {least}.")

    def decide(self, view: View) -> Read | Speak:
        least, phonemes = (self.first_chunk if view.first else self.chunk), 0
        for number, word in enumerate(view.pending, start=1):
            phonemes += view.phonemes(word)
            if word.ends:
                return Speak(number, self.k)
            if phonemes >= least and number >= self.words:
                whole = len(view.pending) - number >= self.k or view.pending[-1].ends
                return Speak(number, self.k) if whole else READ
        return READ


@dataclass(frozen=True, slots=True)
class WaitAll:
    """Speak when the sentence is over, all of it at once: what other engines do, and the measure of quality."""

    max_words: int = 120
    """A text without an end is spoken in pieces of at most this many words, cut behind a comma where there is one."""

    def __post_init__(self) -> None:
        if not isinstance(self.max_words, int) or self.max_words < 1:
            raise ConfigError(f"WaitAll: max_words is {self.max_words!r}, but must be a whole number of at least 1.")

    def decide(self, view: View) -> Read | Speak:
        if view.pending and view.pending[-1].ends and len(view.pending) <= self.max_words:
            return Speak(len(view.pending), 0)
        if len(view.pending) < self.max_words:
            return READ
        pauses = [i for i, word in enumerate(view.pending[: self.max_words], 1) if word.text[-1:] in ",;:—"]
        return Speak(pauses[-1] if pauses else self.max_words, 0)


@dataclass(frozen=True, slots=True)
class Independent:
    """Speak every few words as an utterance of their own: no past, no future (Saeki-a's independent baseline).

    The lower bound that every incremental method has to beat.
    """

    words: int = 2
    """Words of an utterance; a sentence's last has what is left. Saeki-a: 2."""

    def __post_init__(self) -> None:
        if not isinstance(self.words, int) or self.words < 1:
            raise ConfigError(f"Independent: words is {self.words!r}, but must be a whole number of at least 1.")

    def decide(self, view: View) -> Read | Speak:
        if len(view.pending) >= self.words:
            return Speak(self.words, 0, alone=True)
        return Speak(len(view.pending), 0, alone=True) if view.pending[-1:] and view.pending[-1].ends else READ


@dataclass(frozen=True, slots=True)
class WaitEnd:
    """Read all characters of a sentence, then speak it: wait-until-end (Mohan 5.2), for voices that read characters."""

    characters: ClassVar[bool] = True

    def decide(self, view: View) -> Read | Speak:
        return Speak(0, 0, steps=1) if reading(self, view).over else READ


@dataclass(frozen=True, slots=True)
class WaitKSteps:
    """A READ every k-th action, SPEAK in between (Mohan 5.2), for voices that read characters.

    k = 2 is READ, SPEAK, READ, SPEAK; k = 3 READ, SPEAK, SPEAK. Behind a sentence's end there is only SPEAK.
    """

    k: int = 2
    """Actions from one READ to the next, at least 2."""
    characters: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.k, int) or self.k < 2:
            raise ConfigError(f"WaitKSteps: k is {self.k!r}, but must be a whole number of at least 2.")

    def decide(self, view: View) -> Read | Speak:
        at = reading(self, view)
        return Speak(0, 0, steps=1) if at.over or (at.read + at.steps) % self.k else READ


def reading(policy: Policy, view: View) -> Reading:
    """What a policy over characters decides on; ConfigError where the voice reads words."""
    if view.reading is None:
        raise ConfigError(f"{policy!r} decides on characters, but this voice reads words: choose another policy.")
    return view.reading
