"""The frontier's conditions, fixed lookahead and hold-back, a control, the learned policy by price,
and its clocks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sayahead.engine.policy import READ
from sayahead.research import LookaheadK, Policy, Read, Speak, View

from sayahead_lab.eval.experiment.clock import ReadingClock, TextClock, Tokens, Typist

CLOCKS: dict[str, tuple[TextClock, float, tuple[float, ...]]] = {
    "50 tokens/s": (Tokens(50), 1900.0, (0.3, 3.0)),
    "180 words/min": (ReadingClock(180), 180.0, (0.15, 0.4, 1.0, 2.0)),
    "typist": (Typist(40), 29.0, (0.06, 0.15, 0.4)),
}
"""Text clocks, the pace in words a minute that the learned policy is told, and its prices."""


@dataclass(frozen=True, slots=True)
class FirstFast:
    """The control that knows of clocks and nothing of words: no lookahead for a sentence's first
    words, then ``k``."""

    k: int
    """Words of lookahead from then on."""
    blind: int = 1
    """Words that are spoken without."""
    unit = "words"

    def decide(self, view: View) -> Read | Speak:
        ahead = 0 if len(view.past) < self.blind else self.k
        if len(view.pending) > ahead or (view.pending and view.pending[-1].ends):
            return Speak(1, ahead)
        return READ


@dataclass(frozen=True, slots=True)
class Learned:
    """What the voice's learned policy is told."""

    price: float
    """What a second of lag costs."""
    words_per_min: float
    """The text's pace."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A way of waiting."""

    name: str
    """What tables call it."""
    policy: Policy | Learned
    """Its policy, or what the voice's learned one is asked."""
    hold_back_s: float | None
    """Sound held back; None: the voice's own, 100 ms where a word is spoken blind and 50 where it
    is not."""
    group: str
    """The line of the figure to which it belongs."""
    clock: str | None = None
    """The only clock that it is made for; none: all."""


def conditions() -> list[Condition]:
    """Fixed lookahead and hold-back, a control without words, and the learned policy on each clock
    by price."""
    every = [
        Condition(f"k = {k}, 50 ms", LookaheadK(k), 0.05, "fixed k, 50 ms held back")
        for k in range(4)
    ]
    for clock, (_, pace, prices) in CLOCKS.items():
        for price in prices:
            name = f"learned, {clock}, price {price:g}"
            every.append(Condition(name, Learned(price, pace), None, "learned", clock))
    ramp = "no lookahead for the first word"
    every += [Condition(f"{ramp}, then k = {k}", FirstFast(k), None, ramp) for k in (3, 1)]
    for held_s in (0.1, 0.2):
        held = f"{1000 * held_s:.0f} ms"
        every += [
            Condition(f"k = {k}, {held}", LookaheadK(k), held_s, f"fixed k, {held} held back")
            for k in range(2)
        ]
    return every


def file_of(out: Path, condition: Condition) -> Path:
    """Where a condition's rows lie."""
    return out / f"{condition.name.replace('/', ' a ')}.json"
