"""Fixed rules over characters and decoder steps (Mohan et al., 5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sayahead.engine.policy import READ, Policy, Read, Reading, Speak, View
from sayahead.errors import ConfigError


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
