"""Networks that tell made sound from recorded, and what they teach: for what an error of spectra
blurs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from sayahead.errors import ConfigError
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from sayahead_lab.training.loop.task import TASKS
from sayahead_lab.training.loop.warm_start import find_start

SIZES = (512, 1024, 2048)
"""Samples of the windows of each discriminator's spectra, a quarter apart."""
POWER = 0.3
"""To which magnitudes are raised, so that quiet bands count; phases stay."""
QUIET = 1e-4
"""Least magnitude."""
LAYERS = 4
SLOPE = 0.2
"""Of the leaky rectifiers."""
FAST = 3.0
"""Times as fast as the network that they teach, discriminators learn: they start from nothing, and
must stay ahead."""
SLOW = 1e-2
"""Weight of the discriminators' own error: their gradient must not fill the norm to which the loop
clips all of it, and Adam is blind to it."""

JUDGES = "discriminators."
"""How the names of their weights begin in a model that learns beside them."""


# Without slots, so that it can stand beside another base that has some.
@dataclass(frozen=True, kw_only=True)
class JudgedData:
    """How discriminators teach, as a part of [data]."""

    discriminators: int = 0
    """Channels of discriminators that teach beside the other errors; 0: none."""
    taken: float = 0.1
    """Weight of being taken for recorded by the discriminators."""
    features: float = 1.0
    """Weight of the distance of their features."""
    alone: int = 300
    """Steps in which the discriminators learn, but do not teach yet."""
    judged_by: str = ""
    """Run with as many channels of discriminators, as which they begin where [train] has a start:
    folder, or ARCHIVE/RUN. Fresh ones know next to nothing for hundreds of steps."""

    def check(self) -> None:
        """ConfigError for a value below 0."""
        if min(self.discriminators, self.taken, self.features, self.alone) < 0:
            raise ConfigError(
                "[data] discriminators, taken, features and alone must be at least 0."
            )

    def judges(self) -> Discriminators | None:
        """Fresh discriminators, if any are wanted."""
        return Discriminators(self.discriminators) if self.discriminators else None

    def carried(
        self,
        networks: Mapping[str, Tensor],
        learned: Mapping[str, Tensor],
        fresh: Mapping[str, Tensor],
    ) -> dict[str, Tensor]:
        """The weights of ``networks`` with a new model's discriminators.

        These are those of ``judged_by``, else those ``learned``, else the ``fresh`` ones.
        ConfigError where ``judged_by`` has none, or others.
        """
        ours = {name: weight for name, weight in fresh.items() if name.startswith(JUDGES)}
        if ours and self.judged_by:
            other = find_start(self.judged_by, TASKS["heart-voice"])
            learned = {} if other.state is None else other.learned
            if any(
                name not in learned or learned[name].shape != weight.shape
                for name, weight in ours.items()
            ):
                raise ConfigError(f"[data] judged_by: {self.judged_by} has no such discriminators.")
        judges = {name: learned.get(name, weight) for name, weight in ours.items()}
        return {
            name: weight for name, weight in networks.items() if not name.startswith(JUDGES)
        } | judges


class FastConv(nn.Conv2d):
    """A convolution whose weights are ``FAST`` times what an optimizer changes."""

    def reset_parameters(self) -> None:
        nn.init.kaiming_normal_(self.weight, a=SLOPE)
        self.weight.data /= FAST
        assert self.bias is not None
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        assert self.bias is not None
        return functional.conv2d(x, FAST * self.weight, FAST * self.bias, self.stride, self.padding)


class Discriminator(nn.Module):
    """2-D convolutions over complex spectra of one size of window, strided in frequency alone.

    After Défossez et al., High Fidelity Neural Audio Compression (2022), 3.4, without weight
    normalization."""

    def __init__(self, size: int, channels: int) -> None:
        super().__init__()
        self.size = size
        widths = [2, channels, *[2 * channels] * (LAYERS - 1)]
        self.layers = nn.ModuleList(
            FastConv(before, after, (3, 9), stride=(1, 2), padding=(1, 4))
            for before, after in pairwise(widths)
        )
        self.last = FastConv(2 * channels, 1, 3, padding=1)

    def forward(self, samples: Tensor) -> tuple[Tensor, list[Tensor]]:
        """How recorded each place of samples (B, S) sounds, above 0 or below, and the layers'
        features."""
        x = spectra(samples, self.size)
        features = list[Tensor]()
        for layer in self.layers:
            x = functional.leaky_relu(layer(x), SLOPE)
            features.append(x)
        return self.last(x).float(), features


class Discriminators(nn.Module):
    """One for each size of window; beside the network that they teach, one of them learns in each
    step, by chance."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.all = nn.ModuleList(Discriminator(size, channels) for size in SIZES)

    def errors(self, ours: Tensor, theirs: Tensor) -> dict[str, Tensor]:
        """Errors of made samples and recorded ones (B, S), as one discriminator sees them.

        ``told``: the discriminators' own hinge loss, 2 where they know nothing, which reaches their
        weights alone; ``taken``: how far what was made is from being taken for recorded, and
        ``features``: the relative distance of the features of both (Larsen et al. 2016; Kong et
        al., HiFi-GAN, 2020, Eq. 5), which do not."""
        count = len(ours)
        judge = self.all[int(torch.randint(len(self.all), ()))]
        says, seen = judge(torch.cat([theirs, ours.detach()]))
        fixed = {name: weight.detach() for name, weight in judge.named_parameters()}
        of_ours, ours_seen = functional_call(judge, fixed, (ours,))
        return {
            "told": functional.relu(1 - says[:count]).mean()
            + functional.relu(1 + says[count:]).mean(),
            "taken": -of_ours.mean(),
            "features": apart(ours_seen, [one[:count].detach() for one in seen]),
        }


def judged(
    model: Any, ours: Tensor, theirs: Tensor, data: JudgedData, step: int
) -> tuple[Tensor, dict[str, Tensor]]:
    """What a model's ``discriminators`` add to its loss in a step, and their errors: nothing where
    there are none.

    ``ours`` and ``theirs`` (B, S) are made samples and recorded ones. In validation nothing is
    added either."""
    judge: Discriminators | None = getattr(model, "module", model).discriminators
    if judge is None or not torch.is_grad_enabled():
        return ours.new_zeros(()), {}
    errors = judge.errors(ours, theirs)
    teaching = min(1.0, max(0.0, step / max(1, data.alone) - 1))
    taught = data.taken * errors["taken"] + data.features * errors["features"]
    return teaching * taught + SLOW * errors["told"], errors


def apart(ours: Sequence[Tensor], theirs: Sequence[Tensor]) -> Tensor:
    """The mean over layers of the distance of features from ``theirs``, relative to their size."""
    distances = [
        (one - other).abs().mean() / other.abs().mean()
        for one, other in zip(ours, theirs, strict=True)
    ]
    return torch.stack(distances).float().mean()


def spectra(samples: Tensor, size: int) -> Tensor:
    """(B, 2, T, size / 2 + 1) real and imaginary parts of samples (B, S), their magnitudes to the
    power ``POWER``."""
    window = torch.hann_window(size, device=samples.device)
    with torch.autocast(samples.device.type, enabled=False):
        bins = torch.stft(
            samples, size, size // 4, window=window, center=False, return_complex=True
        )
        bins = bins * bins.abs().clamp(min=QUIET) ** (POWER - 1)
        parts = torch.view_as_real(bins).permute(0, 3, 2, 1)
    return parts.contiguous(memory_format=torch.channels_last)
