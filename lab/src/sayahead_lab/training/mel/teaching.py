"""What a sound is taught by: the errors of its spectra and of their fine structure, and discriminators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from sayahead.errors import ConfigError
from torch import Tensor

from sayahead_lab.training.mel.discriminators import JUDGES, SLOW, Discriminators
from sayahead_lab.training.mel.sound import band_errors, pulses_of, sound_errors, synthesized, texture_errors

COMPARED = {"bins": sound_errors, "bands": band_errors}
"""Magnitudes bin by bin; or the powers of mel bands, which leaves noise and phases as crisp as they were."""


@dataclass(frozen=True, slots=True)
class SoundTeaching:
    """How sounds are compared, and the weights of their errors."""

    compared: str
    """A key of ``COMPARED``."""
    sound: float
    """Weight of these errors."""
    texture: float
    """Weight of the errors of the spectra's fine structure."""
    taken: float
    """Weight of being taken for recorded by the discriminators."""
    features: float
    """Weight of the distance of their features."""
    alone: int
    """Steps in which the discriminators learn, but do not teach yet."""

    def __post_init__(self) -> None:
        if self.compared not in COMPARED:
            raise ConfigError(f"[data] compared is {self.compared!r}, but must be one of {', '.join(COMPARED)}.")
        if min(self.texture, self.taken, self.features, self.alone) < 0:
            raise ConfigError("[data] texture, taken, features and alone must be at least 0.")

    def errors(
        self, parts: Tensor, batch: Mapping[str, Tensor], judges: Discriminators | None, step: int
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of the sound of spectral parts (B, T, 5 x 601), and its errors by name.

        The batch says samples (B, 300 T) as ``audio``, with 1 where they count (``heard``), and ``pulses`` (B, T, 601)
        of their pitch. ``judges``: who teach beside, and learn. All is in full precision but these.
        """
        with torch.autocast(parts.device.type, enabled=False):
            noise = torch.randn_like(batch["pulses"]) * 2**0.5
            ours = synthesized(parts.float(), batch["pulses"], noise) * batch["heard"]
            theirs = batch["audio"] * batch["heard"]
            sounds = COMPARED[self.compared](ours, theirs)
            total = self.sound * torch.stack(list(sounds.values())).sum()
            if self.texture:
                fine = texture_errors(ours, theirs, pulses_of(batch["pulses"]) * batch["heard"])
                total, sounds = total + self.texture * (fine["harmonics"] + fine["roughness"]), sounds | fine
        if judges is None or not torch.is_grad_enabled():
            return total, sounds
        judged = judges.errors(ours, theirs)
        teaching = min(1.0, max(0.0, step / max(1, self.alone) - 1))
        taught = self.taken * judged["taken"] + self.features * judged["features"]
        return total + teaching * taught + SLOW * judged["told"], sounds | judged


def judging(channels: int, periodic: int) -> Discriminators | None:
    """Discriminators of spectra and of periods with so many channels, if any; ConfigError for less than none."""
    if min(channels, periodic) < 0:
        raise ConfigError("[data] discriminators and periodic must be at least 0.")
    return Discriminators(channels, periodic) if channels or periodic else None


def without_judges(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of all but discriminators."""
    return {name: weight for name, weight in weights.items() if not name.startswith(JUDGES)}


def judges_of(learned: Mapping[str, Tensor], fresh: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of the discriminators in ``fresh``, as learned where they are."""
    return {name: learned.get(name, weight) for name, weight in fresh.items() if name.startswith(JUDGES)}
