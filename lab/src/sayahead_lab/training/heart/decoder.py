"""The default voice's decoder in PyTorch: sound encoding, pitch and energy of frames to the five
spectral parts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from sayahead.voices.install.onnx.graph import Array
from torch import Tensor, nn

from sayahead_lab.training.corpus.teacher import UNIT
from sayahead_lab.training.graph.builder import Weights, quantized
from sayahead_lab.training.heart.network import Heart
from sayahead_lab.training.heart.speakers import tell
from sayahead_lab.training.heart.weights import BLOCK_LEAVES
from sayahead_lab.training.hibari import dense
from sayahead_lab.training.layers import BINS, Block
from sayahead_lab.training.mel.discriminators import Discriminators

CHANNELS = 256
HIDDEN = 768
KERNEL = 7
BLOCKS = 8
INPUTS = 130
"""Sizes of the imported network; it sees ``BLOCKS + 1`` times three frames to each side."""
SCALES = "/Constant_172_output_0", "/Constant_174_output_0"
"""Divisors of log(1 + pitch) and of energy, by their names in hibari's graph."""
LOUD = 5.0
"""What both are; energy is learned over it, too."""
OUTER = ("input", "dec_in"), ("norm", "dec_norm")
"""Layers outside the blocks, by our name and hibari's."""
AHEAD = 5
"""Provisional units that the decoder sees after a crop: the two frames that overlap, and the
voice's ``right``."""


class HeartDecoder(nn.Module):
    """What ``decoder.onnx`` computes of a whole sentence, or of a part of one."""

    def __init__(self) -> None:
        super().__init__()
        self.input = nn.Conv1d(INPUTS, CHANNELS, KERNEL, padding=KERNEL // 2)
        self.blocks = nn.ModuleList(
            Block(CHANNELS, HIDDEN, KERNEL, KERNEL // 2) for _ in range(BLOCKS)
        )
        self.norm = nn.LayerNorm(CHANNELS)
        self.head = nn.Linear(CHANNELS, 5 * BINS)

    def forward(self, sound: Tensor, f0: Tensor, energy: Tensor, real: Tensor) -> Tensor:
        """Spectral parts (B, T, 5 x 601) of encoding (B, T, 128), pitch in Hz and energy (B, T).

        Frames that are not ``real`` (B, T) are zeros in every layer, as what lies after the end of
        a sentence is."""
        rows = real[..., None].to(sound.dtype)
        pitch = torch.log1p(f0.clamp(min=0)) / LOUD
        inputs = torch.cat([sound, torch.stack([pitch, energy / LOUD], -1).to(sound.dtype)], -1)
        x = self.input((inputs * rows).transpose(1, 2)).transpose(1, 2)
        for block in self.blocks:
            x = block(x * rows)
        out: Tensor = self.head(self.norm(x))
        return out


class HeartVoice(nn.Module):
    """The default voice's networks, all of them."""

    def __init__(self, heart: Heart) -> None:
        super().__init__()
        self.heart = heart
        self.decoder = HeartDecoder()
        self.discriminators: Discriminators | None = None
        """Who judge its sound while it learns, if any."""

    def forward(self, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """What ``Heart.stream`` says, and the spectral ``parts`` (V, 2 C, 3005) of a crop in each
        view.

        A crop begins with unit ``crop_first`` (V,) of its view, counts up to ``crop_end`` (V,), and
        its pitch is ``crop_f0`` (V, 2 C) up to the view's end. Where the batch says the crops'
        rows, there are parts alone (``told``); where it has no crops, what the prosody networks say
        alone. ``speaker`` (B,) is who speaks each sentence, if there are several.
        """
        if "speaker" in batch:
            tell(self, batch["speaker"], batch["speaker"][batch["view_owner"]])
        if "crop_row" in batch:
            return {"parts": self.told(batch)}
        read = self.heart.read(batch)
        out = self.heart.intoned(batch, *self.heart.timed(*read))
        if "crop_f0" not in batch:
            return out
        encoded = self.heart.sound(*read)
        rows = out["rows"]
        prosody = out["prosody"].float()
        begins = out["at"][:, :1]
        units = (
            torch.arange(batch["crop_f0"].shape[1] // UNIT, device=rows.device)
            + batch["crop_first"][:, None]
        )
        at = (units - begins).clamp(max=rows.shape[1] - 1)
        row = rows.gather(1, at)
        real = (
            (row >= 0)
            & (units < batch["crop_end"][:, None] + AHEAD)
            & (units - begins < rows.shape[1])
        )
        index = batch["view_index"].gather(1, row.clamp(min=0))
        sound = encoded[batch["view_owner"][:, None], index]
        parameters = prosody.gather(1, at[..., None].expand(-1, -1, prosody.shape[-1]))
        expected = 100 * parameters[..., :UNIT].flatten(1)
        energy = LOUD * parameters[..., UNIT:].flatten(1)
        there = (units < batch["crop_known"][:, None]).repeat_interleave(UNIT, 1)
        f0 = torch.where(there, batch["crop_f0"], expected.detach())
        frames = [one.repeat_interleave(UNIT, 1) for one in (sound, real)]
        return out | {"parts": self.decoder(frames[0], f0, energy, frames[1])}

    def told(self, batch: Mapping[str, Tensor]) -> Tensor:
        """The parts where durations, pitch and energy are the corpus's, also of what is only seen.

        ``crop_row`` (V, C) is the row of each unit in its view, -1 where there is none;
        ``crop_energy`` (V, 2 C)."""
        row = batch["crop_row"]
        index = batch["view_index"].gather(1, row.clamp(min=0))
        sound = self.heart.sound(*self.heart.read(batch))[batch["view_owner"][:, None], index]
        frames = [one.repeat_interleave(UNIT, 1) for one in (sound, row >= 0)]
        parts: Tensor = self.decoder(frames[0], batch["crop_f0"], batch["crop_energy"], frames[1])
        return parts


def names() -> dict[str, str]:
    """Our name and hibari's of each tensor that is kept as it is."""
    pairs = {
        f"{ours}.{leaf}": f"m.{theirs}.{leaf}"
        for ours, theirs in OUTER
        for leaf in ("weight", "bias")
    }
    pairs["head.bias"] = "m.head.bias"
    for number in range(BLOCKS):
        for leaf in BLOCK_LEAVES:
            pairs[f"blocks.{number}.{leaf}"] = f"m.dec.{number}.{leaf}"
    return pairs


def linears() -> dict[str, str]:
    """Our name and hibari's of each linear layer that is int8 in the files."""
    pairs = {
        f"blocks.{n}.{layer}": f"m.dec.{n}.{layer}"
        for n in range(BLOCKS)
        for layer in ("pw1", "pw2")
    }
    return pairs | {"head": "m.head"}


def load_decoder(model: HeartDecoder, weights: Weights) -> None:
    """Set a decoder to imported weights."""
    state = {
        own: torch.from_numpy(np.array(weights[theirs], np.float32))
        for own, theirs in names().items()
    }
    model.load_state_dict(
        state | {f"{own}.weight": dense(weights, theirs) for own, theirs in linears().items()}
    )


class DecoderWeights:
    """A trained decoder as the graph's builder wants it: by hibari's names, linear layers int8 by
    column."""

    def __init__(self, model: HeartDecoder) -> None:
        state: dict[str, Array] = {
            name: value.detach().float().numpy() for name, value in model.state_dict().items()
        }
        self._tensors = {theirs: state[own] for own, theirs in names().items()}
        self._tensors |= {name: np.array(LOUD, np.float32) for name in SCALES}
        self._linears = {
            theirs: quantized(state[f"{own}.weight"].T) for own, theirs in linears().items()
        }

    @property
    def linears(self) -> Mapping[str, tuple[Array, Array]]:
        return self._linears

    def __getitem__(self, name: str) -> Array:
        return self._tensors[name]
