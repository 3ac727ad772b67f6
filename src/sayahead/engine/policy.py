"""What a policy decides on, and what it may decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

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
