"""Fixed rules over characters and decoder steps, for voices that read characters (Mohan et al.,
5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sayahead.config import Bound, check_bounds
from sayahead.engine.policy import READ, LetterView, Read, Steps


@dataclass(frozen=True, slots=True)
class WaitEnd:
    """Read all characters of a sentence, then speak it: wait-until-end (Mohan 5.2)."""

    unit = "characters"

    def decide(self, view: LetterView) -> Read | Steps:
        return Steps() if view.over else READ


@dataclass(frozen=True, slots=True)
class WaitKSteps:
    """A READ every k-th action, SPEAK in between (Mohan 5.2).

    k = 2 is READ, SPEAK, READ, SPEAK; k = 3 is READ, SPEAK, SPEAK. After a sentence's end there is
    only SPEAK. A head start, which the paper's rules do not have, keeps a rule whose rate is right
    from running into the end of the text."""

    k: Annotated[int, Bound(2, client=16)] = 2
    """Actions from one READ to the next, at least 2."""
    head: Annotated[int, Bound(0, client=200)] = 0
    """Characters read before the rule begins."""
    unit = "characters"

    def __post_init__(self) -> None:
        check_bounds(self)

    def decide(self, view: LetterView) -> Read | Steps:
        if view.over:
            return Steps()
        ahead = view.read - self.head
        return READ if ahead < 0 or (ahead + view.steps) % self.k == 0 else Steps()
