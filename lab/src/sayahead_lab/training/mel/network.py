"""A vocoder for processors: mel frames to the frame parameters of the default voice's source-filter
synthesis.

Not a network of any of the papers. It makes their mel-based systems audible without an accelerator.
Where the default voice made the corpus, the parameters are known and the network learns them by
regression; a speaker of whom only the sound is known is learned from the sound. Its blocks have the
form of the default voice's decoder and can begin with its weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.layers import BINS, Block, Scaled

PARTS = 5 * BINS
"""Spectral parts of a frame, side by side."""


@dataclass(frozen=True, slots=True)
class MelVocoderConfig:
    """Sizes; D channels."""

    n_mels: int = 80
    """Mel bands."""
    channels: int = 256
    """D of all blocks; 256 to begin with the default voice's weights."""
    expansion: int = 3
    """Hidden channels of a block over D."""
    front_blocks: int = 2
    """Blocks before those that pitch is known to."""
    blocks: int = 8
    """Number of blocks after them."""
    kernel: int = 7
    """Frames that each convolution sees."""
    right: tuple[int, ...] = (2, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1)
    """Frames that the input convolution and each block see on the right; the other ones are on the
    left."""
    dropout: float = 0.0
    """On the input frames' bands."""
    own_head: bool = False
    """Whether the last layer is trained along, or remains the default voice's."""


class MelVocoderNetwork(Scaled):
    """Mel frames to features (before the default voice's last layer) and pitch."""

    def __init__(self, config: MelVocoderConfig) -> None:
        super().__init__(config.n_mels)
        if len(config.right) != 1 + config.front_blocks + config.blocks:
            raise ValueError(
                "right needs a number for the input convolution and one for each block"
            )
        d = config.channels
        hidden = config.channels * config.expansion
        self.config = config
        self.input = nn.Conv1d(config.n_mels, d, config.kernel)
        rights = config.right[1:]
        self.front = nn.ModuleList(
            Block(d, hidden, config.kernel, r) for r in rights[: config.front_blocks]
        )
        self.pitch = nn.Linear(d, 2)
        self.join = nn.Linear(2, d)
        self.back = nn.ModuleList(
            Block(d, hidden, config.kernel, r) for r in rights[config.front_blocks :]
        )
        self.norm = nn.LayerNorm(d)
        if config.own_head:
            self.head = nn.Linear(d, PARTS)

    def forward(self, mel: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Features (B, T, D), log pitch relative to 200 Hz (B, T), voicing logit (B, T), of log mel
        (B, T, n_mels).

        With a head of its own, the spectral parts (B, T, 5 x 601) in place of the features.
        """
        right = self.config.right[0]
        x = functional.dropout(self.normalized(mel), self.config.dropout, self.training)
        x = functional.pad(x.transpose(1, 2), (self.config.kernel - 1 - right, right))
        x = self.input(x).transpose(1, 2)
        for block in self.front:
            x = block(x)
        pitch = self.pitch(x)
        x = x + self.join(torch.stack([pitch[..., 0], torch.sigmoid(pitch[..., 1])], -1))
        for block in self.back:
            x = block(x)
        x = self.norm(x)
        return self.head(x) if self.config.own_head else x, pitch[..., 0], pitch[..., 1]
