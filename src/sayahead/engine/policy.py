"""The interface of policies: the view that a policy sees, and the actions it may return.

Policies hold no state and never see a clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from sayahead.errors import ConfigError
from sayahead.types import Floats, Word

Unit = Literal["words", "characters"]
"""What a voice reads and a policy decides on."""


@dataclass(frozen=True, slots=True)
class Read:
    """The action READ: take in more text first, which is one character if the voice reads
    characters."""

    memory: Floats | None = field(default=None, compare=False)
    """(H,) state that a policy over characters finds in its next view; None if it needs none."""


READ = Read()


@dataclass(frozen=True, slots=True)
class Speak:
    """Speak the next words, with some of what follows visible to the model."""

    word_count: int
    """How many of the pending words to speak: at least one, and none beyond the end of a
    sentence."""
    lookahead: int
    """How many words after them the model sees; fewer if the sentence ends sooner."""
    letters: int = 0
    """How many letters of the word after these the model sees, too: ``View.opening`` has them."""
    alone: bool = False
    """Whether they form an utterance of their own: the model sees nothing before them, and an end
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
    """What a policy over words sees when it decides."""

    pending: tuple[Word, ...]
    """Final words that have not been spoken, oldest first, up to the first that ends a sentence; at
    least one."""
    first: bool
    """Whether nothing of this sentence has been spoken."""
    phonemes: Callable[[Word], int]
    """Returns the number of phonemes of a word on its own, which does not depend on its
    neighbours."""
    past: tuple[str, ...] = ()
    """The last words of this sentence that were spoken, as they are read aloud."""
    seen: int = 0
    """How many of the pending words the last SPEAK showed to the model. They have been read, so
    they are there at any pace of the text."""
    opening: str = ""
    """Before anything of the text is spoken: the letters that have arrived of its second word."""


@dataclass(frozen=True, slots=True)
class LetterView:
    """What a policy over characters sees when it decides: the progress in the open sentence."""

    read: int
    """Characters read; the first one is read before the policy is asked."""
    steps: int
    """Decoder steps made."""
    rested: int
    """Decoder steps since the last READ."""
    over: bool
    """Whether the whole sentence has been read: only ``Steps`` is allowed."""
    observation: Floats | None = None
    """(D,) the observation of the synthesizer's last step."""
    memory: Floats | None = None
    """The memory of the last action; None at the start of a sentence."""


class WordPolicy(Protocol):
    """Decides when to speak which words: g(t) of the prefix-to-prefix framework (Ma, Eq. 6).

    A policy with an attribute ``eager`` sees up to that many words that happen to have arrived,
    without a READ. Only then does its sound depend on how the text arrives.
    """

    @property
    def unit(self) -> str:
        """``"words"``: a class attribute."""
        ...

    def decide(self, view: View) -> Read | Speak:
        """Return READ, or SPEAK with at least one word.

        A sentence whose last word is pending must eventually be spoken.
        """
        ...


class LetterPolicy(Protocol):
    """Decides when to read a character and when to make decoder steps (Mohan et al., 4)."""

    @property
    def unit(self) -> str:
        """``"characters"``: a class attribute."""
        ...

    def decide(self, view: LetterView) -> Read | Steps:
        """Return READ or a number of decoder steps; never READ when the sentence has been read."""
        ...


Policy = WordPolicy | LetterPolicy


def check_policy(policy: Any, unit: Unit) -> None:
    """Raise ConfigError if an object is not a policy, or not one for voices that read ``unit``.

    Policies over words hold no state, so one is asked for a trial decision: a policy that returns
    nothing is found before the first word instead of in the middle of a conversation.
    """
    name = type(policy).__name__
    if isinstance(policy, type) or not callable(getattr(policy, "decide", None)):
        raise ConfigError(
            f"policy is {policy!r}, which has no decide(view): pass a policy or the name of one."
        )
    own_unit = getattr(policy, "unit", None)
    if own_unit not in ("words", "characters"):
        raise ConfigError(f'{name} has no unit: set unit = "words" (or "characters") in the class.')
    if own_unit != unit:
        advice = (
            "an agent, wait-end or wait-k-steps"
            if unit == "characters"
            else "lookahead or wait-all, for example"
        )
        raise ConfigError(
            f"{policy!r} decides on {own_unit}, but this voice reads {unit}: choose {advice}."
        )
    if unit == "words":
        view = View((Word("Yes.", 0, 4, ends=True),), True, lambda word: len(word.text))
        check_action(policy, policy.decide(view), unit)


def check_action(policy: Policy, action: object, unit: Unit) -> None:
    """Raise ConfigError if a policy returned something that is not an action for ``unit``."""
    speak_type = Speak if unit == "words" else Steps
    if not isinstance(action, Read | speak_type):
        raise ConfigError(
            f"{policy!r} returned {action!r}, but must return READ or {speak_type.__name__}(...)."
        )
