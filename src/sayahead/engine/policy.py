"""What a policy decides on, and what it may decide. Policies hold no state and never see a
clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from sayahead.errors import ConfigError
from sayahead.types import Floats, Word

Unit = Literal["words", "characters"]
"""What a voice reads, and what a policy decides on."""


@dataclass(frozen=True, slots=True)
class Read:
    """Take in more text first: one character if the voice reads characters."""

    memory: Floats | None = field(default=None, compare=False)
    """(H,) what a policy over characters finds again in its next view; None if it decides from the
    view alone."""


READ = Read()


@dataclass(frozen=True, slots=True)
class Speak:
    """Say the next words, seeing some of what follows."""

    word_count: int
    """How many of the pending words to say; at least one, and none beyond the end of a sentence."""
    lookahead: int
    """How many words after them the model may see; fewer if the sentence ends sooner."""
    alone: bool = False
    """Whether they are an utterance of their own: the model sees nothing before them, and an end
    after them."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Make decoder steps from the characters read so far."""

    count: int = 1
    """How many, at least one."""
    memory: Floats | None = field(default=None, compare=False)
    """(H,) as in ``Read``."""


@dataclass(frozen=True, slots=True)
class View:
    """What a policy over words decides on."""

    pending: tuple[Word, ...]
    """Final words that are not spoken, oldest first, up to and including the first that ends a
    sentence; at least one."""
    first: bool
    """Whether nothing of this sentence has been spoken."""
    phonemes: Callable[[Word], int]
    """Number of phonemes of a word on its own: constant, whatever surrounds it."""
    past: tuple[str, ...] = ()
    """The last words of this sentence that were spoken, as they are read aloud."""
    seen: int = 0
    """How many of the pending words the last SPEAK showed to the model: already asked for, so there
    at any pace."""


@dataclass(frozen=True, slots=True)
class LetterView:
    """What a policy over characters decides on: how far the open sentence has come."""

    read: int
    """Characters read; the first is read before anything is decided."""
    steps: int
    """Decoder steps made."""
    rested: int
    """How many of them since the last READ."""
    over: bool
    """Whether the whole sentence has been read: only SPEAK is left."""
    observation: Floats | None = None
    """What the synthesizer's last step observed (D,)."""
    memory: Floats | None = None
    """What the last decision left behind; None at the start of a sentence."""


class WordPolicy(Protocol):
    """When to speak which words: the g(t) of the prefix-to-prefix framework (Ma, Eq. 6), as a
    decision.

    With an attribute ``eager`` it is shown so many words that happen to be there, unasked. Only
    then does its sound depend on how the text arrives."""

    @property
    def unit(self) -> str:
        """``"words"``: a class attribute."""
        ...

    def decide(self, view: View) -> Read | Speak:
        """READ, or SPEAK with at least one word; a sentence whose end is pending must eventually be
        spoken."""
        ...


class LetterPolicy(Protocol):
    """When to read a character and when to make a decoder step (Mohan et al., 4)."""

    @property
    def unit(self) -> str:
        """``"characters"``: a class attribute."""
        ...

    def decide(self, view: LetterView) -> Read | Steps:
        """READ, or a number of decoder steps; never READ when the sentence is over."""
        ...


Policy = WordPolicy | LetterPolicy


def check_policy(policy: Any, unit: Unit) -> None:
    """ConfigError if an object is not a policy, or not one for a voice that reads this unit.

    A policy over words holds no state, so it is asked for one decision here: one that returns
    nothing is caught before the first word, not in the middle of a conversation.
    """
    name = type(policy).__name__
    if isinstance(policy, type) or not callable(getattr(policy, "decide", None)):
        raise ConfigError(
            f"policy is {policy!r}, which has no decide(view): pass a policy or the name of one."
        )
    decides = getattr(policy, "unit", None)
    if decides not in ("words", "characters"):
        raise ConfigError(f'{name} has no unit: set unit = "words" (or "characters") in the class.')
    if decides != unit:
        fitting = (
            "an agent, wait-end or wait-k-steps"
            if unit == "characters"
            else "lookahead or wait-all, for example"
        )
        raise ConfigError(
            f"{policy!r} decides on {decides}, but this voice reads {unit}: choose {fitting}."
        )
    if unit == "words":
        view = View((Word("Yes.", 0, 4, ends=True),), True, lambda word: len(word.text))
        check_action(policy, policy.decide(view), unit)


def check_action(policy: Policy, action: object, unit: Unit) -> None:
    """ConfigError if a policy returned something that is not an action of this unit."""
    speaking = Speak if unit == "words" else Steps
    if not isinstance(action, Read | speaking):
        raise ConfigError(
            f"{policy!r} returned {action!r}, but must return READ or {speaking.__name__}(...)."
        )
