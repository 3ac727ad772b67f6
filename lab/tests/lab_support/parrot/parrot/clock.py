"""A text clock."""

from __future__ import annotations

from dataclasses import dataclass

from sayahead_lab.eval.experiment.clock import Arrival


@dataclass(frozen=True, slots=True)
class Beats:
    """A letter a beat."""

    beat_s: float = 0.1
    """Seconds from one to the next."""

    def arrivals(self, text: str) -> list[Arrival]:
        return [Arrival(letter, number * self.beat_s) for number, letter in enumerate(text)]
