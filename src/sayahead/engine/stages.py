"""The two stages of a voice: an acoustic model turns a segment into frames, a vocoder turns frames
into sound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar, runtime_checkable

from sayahead.types import Floats, Rendering, Segment, Shape

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Frames:
    """What an acoustic model returns for one segment."""

    final: Floats
    """(T, D) frames that follow the last final ones and will not change."""
    right: Floats
    """(R, D) frames expected to follow them: held back or lookahead, to be rendered again."""
    words: tuple[tuple[int, int], ...]
    """First and end frame of each word of the segment, from the start of the sentence."""
    ended: bool
    """Whether the sentence is over with these frames."""
    drawn: tuple[tuple[int, int], ...] = ()
    """Held-back sound may turn out longer than it was: (frame, count) pairs; places at and after a
    frame, counted from the start of the sentence, move by that many frames."""
    observation: Floats | None = None
    """(D,) what a policy over decoder steps sees of this one; none for models that act on words."""


def moved(
    words: Sequence[tuple[int, int]], drawn: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """First and end frames of words after something before or in them was lengthened
    (``Frames.drawn``)."""

    def place(frame: int) -> int:
        return frame + sum(by for first, by in drawn if frame >= first)

    return tuple((place(first), place(end)) for first, end in words)


class AcousticModel(Protocol[State]):
    """Stage one: ``y[t] = phi(x[<= g(t)], y[< t])`` (Ma, Eq. 6), a word or more a step."""

    def initial(self) -> State:
        """The state at the start of a sentence."""
        ...

    def step(
        self, segment: Segment, state: State, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, State]:
        """Frames for the segment's words, the last ``hold_back`` of them kept as provisional."""
        ...


class Vocoder(Protocol[State]):
    """Stage two: ``w[t] = psi(y[<= h(t)], z[<= h(t)], t)`` (Ma, Eq. 6)."""

    hop_length: int
    """Samples a frame."""
    context: int
    """Frames of right context that make a difference."""

    def initial(self, frame: int) -> State:
        """The state at the start of a sentence whose first frame is number ``frame`` of the
        session."""
        ...

    def step(
        self, final: Floats, right: Floats, state: State, *, seed: int, ended: bool
    ) -> tuple[Floats, State]:
        """Samples for the final frames, ``hop_length`` each; equal to those of the whole if
        ``right`` really follows.

        ``final`` (T, D) and ``right`` (R, D) follow the final frames given before; nothing follows
        where ``ended``."""
        ...


@runtime_checkable
class Shapeable(Protocol):
    """What can change pitch and formants: some vocoders, and a synthesizer that has one."""

    def shaped(self, shape: Shape) -> Self:
        """The same with another shape; what is large is shared. ConfigError where it cannot be."""
        ...
