"""The interfaces of the two stages of a voice: an acoustic model (segment to frames) and a vocoder
(frames to samples)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from sayahead.types import Floats, Rendering, Segment, Shape

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Frames:
    """An acoustic model's result for one segment."""

    final: Floats
    """(T, D) frames that follow the previous final ones and will not change."""
    right: Floats
    """(R, D) frames expected after them: held back or lookahead, and rendered again by the next
    step."""
    words: tuple[tuple[int, int], ...]
    """First and end frame of each word of the segment, counted from the start of the sentence."""
    ended: bool
    """Whether the sentence ends with these frames."""
    drawn: tuple[tuple[int, int], ...] = ()
    """(frame, count) pairs where held-back sound became longer than expected: positions at and
    after the frame, counted from the start of the sentence, move by ``count`` frames."""
    observation: Floats | None = None
    """(D,) what a policy over decoder steps sees of this step; None for models that act on
    words."""


def silent_frames(segment: Segment, place: int, width: int, *, ended: bool = False) -> Frames:
    """Return no frames (0, ``width``), for a segment whose words have no sound.

    ``place``: the frame at which each of the words begins and ends.
    """
    nothing = np.zeros((0, width), np.float32)
    return Frames(nothing, nothing, ((place, place),) * len(segment.spans), ended)


def moved(
    words: Sequence[tuple[int, int]], drawn: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """Return the first and end frames of words after the insertions of ``Frames.drawn``."""

    def place(frame: int) -> int:
        return frame + sum(by for first, by in drawn if frame >= first)

    return tuple((place(first), place(end)) for first, end in words)


class AcousticModel(Protocol[State]):
    """Stage one: ``y[t] = phi(x[<= g(t)], y[< t])`` (Ma, Eq. 6), for one or more words per step."""

    def initial(self) -> State:
        """Return the state at the start of a sentence."""
        ...

    def step(
        self, segment: Segment, state: State, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, State]:
        """Return the frames of the segment's words and the next state.

        The last ``hold_back`` frames stay provisional (``Frames.right``).
        """
        ...


class Vocoder(Protocol[State]):
    """Stage two: ``w[t] = psi(y[<= h(t)], z[<= h(t)], t)`` (Ma, Eq. 6)."""

    hop_length: int
    """Samples per frame."""
    context: int
    """Frames of right context that influence the result."""

    def initial(self, frame: int) -> State:
        """Return the state at the start of a sentence whose first frame has number ``frame`` in the
        session."""
        ...

    def step(
        self, final: Floats, right: Floats, state: State, *, seed: int, ended: bool
    ) -> tuple[Floats, State]:
        """Return the samples of the final frames, ``hop_length`` each, and the next state.

        ``final`` (T, D) follows the final frames of earlier steps, and ``right`` (R, D) follows
        ``final``; if ``ended``, nothing else does. If ``right`` really follows, the samples equal
        those of the whole sentence rendered at once.
        """
        ...


@runtime_checkable
class Shapeable(Protocol):
    """Has a pitch and formants that can be changed: some vocoders, and a synthesizer with one of
    them."""

    def shaped(self, shape: Shape) -> Self:
        """Return a copy with another shape, which shares the weights. ConfigError if it cannot have
        the shape."""
        ...
