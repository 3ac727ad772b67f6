"""A family's networks, frozen, for speakers who are vectors: from phonemes to sound, with gradients
to the vector.

A speaker's vector (V,) is all that its networks have of its own: scales and offsets of norms,
biases of last layers, in the order of ``own_layers``. A voice's speakers.npz holds the same
numbers, by graph."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from sayahead.types import Floats, Ids
from sayahead.vocoders.sourcefilter import SourceFilter
from torch import Tensor
from torch.nn import functional

from sayahead_lab.training.corpus.teacher import UNIT
from sayahead_lab.training.heart.decoder import LOUD, HeartVoice, load_decoder, names
from sayahead_lab.training.heart.network import Heart, HeartNetworkConfig
from sayahead_lab.training.heart.speaker_tables import GRAPHS
from sayahead_lab.training.heart.speakers import SpeakerNorm, make_several, own_layers
from sayahead_lab.training.heart.task import LEAD_UNITS, spread_rows
from sayahead_lab.training.heart.weights import plain_names
from sayahead_lab.training.hibari import heart_weights
from sayahead_lab.training.layers import BINS
from sayahead_lab.training.loop.task import TASKS
from sayahead_lab.training.loop.warm_start import find_start
from sayahead_lab.training.mel.discriminators import JUDGES
from sayahead_lab.training.mel.sound import HOPS, excitation

VOICED_HZ = 40.0
"""Least pitch of a frame that has a voice."""
SOUND = ("heart.sound", "decoder")
"""Beginnings of the names of layers that make the sound; the others make durations, pitch and
energy."""
TOP_BIN = 350
"""Bins of 20 Hz below 7 kHz: what recordings of 16 kHz can tell."""


@dataclass(frozen=True, slots=True)
class IntonedSentence:
    """A sentence with durations, pitch and energy, so that only its sound is to be made."""

    ids: Ids
    """(P,) phonemes, pads included."""
    units: Ids
    """(P,) durations in units of two frames."""
    f0: Floats
    """(T,) Hz"""
    energy: Floats
    """(T,)"""
    speaker: int
    """Whose prosody it is, by number."""


class Family:
    """The networks of a family, and its speakers' vectors."""

    def __init__(self, archive: Path) -> None:
        start = find_start(str(archive), TASKS["heart-voice"])
        assert start.info is not None
        self.names = list(start.info.joined)
        self.model = HeartVoice(Heart(HeartNetworkConfig()))
        load_decoder(self.model.decoder, heart_weights())
        make_several(self.model, len(self.names))
        weights = {
            name: value for name, value in start.learned.items() if not name.startswith(JUDGES)
        }
        self.model.load_state_dict(weights)
        self.model.eval().requires_grad_(False)
        self.judges = {
            n.removeprefix(JUDGES): w for n, w in start.learned.items() if n.startswith(JUDGES)
        }
        self.layers = list(own_layers(self.model))
        everybody = torch.arange(len(self.names))
        rows = [layer.affine(everybody).flatten(1) for _, layer in self.layers]
        self.codes = torch.cat(rows, 1).detach()
        self.sizes = [row.shape[1] for row in rows]
        self.given = list[Tensor](rows)
        for number, (_, layer) in enumerate(self.layers):
            layer.affine = types.MethodType(self._affine(number), layer)  # type: ignore[method-assign]

    def _affine(self, number: int) -> types.FunctionType:
        def affine(layer: torch.nn.Module, speaker: Tensor) -> Tensor:
            own = self.given[number]
            return own.view(len(own), 2, -1) if isinstance(layer, SpeakerNorm) else own

        return affine  # type: ignore[return-value]

    def speak_as(self, codes: Tensor) -> None:
        """From now on rows of a batch are spoken by vectors (B, V), or all by one (1, V)."""
        self.given = list(torch.split(codes, self.sizes, 1))

    @property
    def sound_numbers(self) -> Tensor:
        """(V,) true for a vector's numbers that make the sound."""
        parts = [
            torch.full((size,), name.startswith(SOUND))
            for (name, _), size in zip(self.layers, self.sizes, strict=True)
        ]
        return torch.cat(parts)

    @torch.no_grad()
    def prosody(self, ids: Ids, code: Tensor, speaker: int = -1) -> IntonedSentence:
        """A sentence of phonemes (P,) with the durations, pitch and energy of a vector (V,)."""
        self.speak_as(code[None])
        heart = self.model.heart
        padded = np.concatenate([[0], ids, [0]]).astype(np.int64)
        rows = torch.from_numpy(padded)[None]
        text, logs = heart.timed(
            rows, torch.ones_like(rows, dtype=torch.bool), torch.zeros(1, heart.config.context)
        )
        units = torch.expm1(logs.float()).round().clamp(min=1, max=60).long()
        units[:, 0] = LEAD_UNITS
        out = heart.prosody(*spread_rows(text, units))[0].float().numpy()
        f0 = 100 * out[:, :UNIT].ravel()
        energy = LOUD * out[:, UNIT:].ravel()
        return IntonedSentence(padded, units[0].numpy(), f0, energy, speaker)

    def parts(
        self, codes: Tensor, spoken: Sequence[IntonedSentence], begins: Sequence[int], frames: int
    ) -> Tensor:
        """(B, T, 3005) spectral parts of T frames from ``begins`` on, of a sentence for each vector
        (B, V)."""
        self.speak_as(codes)
        length = max(len(one.ids) for one in spoken)
        ids = np.zeros((len(spoken), length), np.int64)
        for row, one in enumerate(spoken):
            ids[row, : len(one.ids)] = one.ids
        real = torch.arange(length)[None] < torch.tensor([len(one.ids) for one in spoken])[:, None]
        heart = self.model.heart
        nothing = torch.zeros(len(spoken), heart.config.context)
        encoded = heart.sound(torch.from_numpy(ids), real, nothing)
        rows, f0, energy = (
            np.zeros((len(spoken), frames), kind) for kind in (np.int64, np.float32, np.float32)
        )
        there = np.zeros((len(spoken), frames), bool)
        for row, (one, begin) in enumerate(zip(spoken, begins, strict=True)):
            spread = np.repeat(np.arange(len(one.ids)), UNIT * one.units)[begin : begin + frames]
            rows[row, : len(spread)] = spread
            f0[row, : len(spread)] = one.f0[begin : begin + frames]
            energy[row, : len(spread)] = one.energy[begin : begin + frames]
            there[row, : len(spread)] = True
        index = torch.from_numpy(rows)[..., None].expand(-1, -1, encoded.shape[-1])
        sound = encoded.gather(1, index)
        shown = [torch.from_numpy(array) for array in (f0, energy, there)]
        parts: Tensor = self.model.decoder(sound, *shown)
        return parts


def sound_of(parts: Tensor, f0: Floats, seed: int = 0) -> Tensor:
    """(B, 300 T) samples of spectral parts (B, T, 3005) at pitches (B, T) in Hz:
    ``mel.sound.synthesized``.

    In real numbers, whose gradients cost half of those of complex ones.
    """
    pulses = torch.from_numpy(np.stack([excitation(row, 0.0) for row in f0.astype(np.float32)]))
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(pulses.shape, dtype=torch.complex64, generator=generator) * 2**0.5
    lh, theta, ln, lr, phi = torch.split(parts, BINS, -1)
    harmonic, hiss, rest = (one.clamp(max=7).exp() for one in (lh, ln, lr))
    turn = torch.pi * theta.tanh()
    across = harmonic * turn.cos()
    up = harmonic * turn.sin()
    real = across * pulses.real - up * pulses.imag + hiss * noise.real + rest * phi.cos()
    imaginary = across * pulses.imag + up * pulses.real + hiss * noise.imag + rest * phi.sin()
    window = torch.hann_window(SourceFilter.N_FFT) / 1.5
    pieces = torch.fft.irfft(torch.complex(real, imaginary), SourceFilter.N_FFT) * window
    hops = pieces.unflatten(-1, (HOPS, SourceFilter.HOP))
    frames = parts.shape[1]
    sums = sum(functional.pad(hops[:, :, k], (0, 0, k, HOPS - 1 - k)) for k in range(HOPS))
    assert isinstance(sums, Tensor)
    return sums[:, SourceFilter.OVERHANG : SourceFilter.OVERHANG + frames].flatten(1)


def pitches(spoken: Sequence[IntonedSentence], begins: Sequence[int], frames: int) -> Floats:
    """(B, T) Hz of crops, 0 beyond a sentence's end."""
    out = np.zeros((len(spoken), frames), np.float32)
    for row, (one, begin) in enumerate(zip(spoken, begins, strict=True)):
        piece = one.f0[begin : begin + frames]
        out[row, : len(piece)] = piece
    return out


def at_pitch(spoken: IntonedSentence, hertz: float) -> IntonedSentence:
    """The sentence with its median pitch at so many Hz."""
    voiced = spoken.f0 > VOICED_HZ
    factor = hertz / float(np.median(spoken.f0[voiced])) if voiced.any() else 1.0
    f0 = np.where(voiced, factor * spoken.f0, spoken.f0).astype(np.float32)
    return IntonedSentence(spoken.ids, spoken.units, f0, spoken.energy, spoken.speaker)


def balance(parts: Tensor) -> Tensor:
    """(B, T, 2, 601) logarithms of noise, and of what is neither, over pulses by bin: what is
    crisp, and what is hoarse."""
    pulses, _, noise, rest, _ = (one.clamp(max=7) for one in torch.split(parts, BINS, -1))
    return torch.stack([noise - pulses, rest - pulses], 2)


def pulses_above(parts: Tensor) -> Tensor:
    """(B, T, 251) logarithm of the pulses above what recordings can tell."""
    return parts[..., TOP_BIN:BINS]


def columns(family: Family) -> Mapping[str, Ids]:
    """By graph, which numbers of a vector are the columns of its table in speakers.npz, in their
    order."""
    theirs = {f"heart.{own}": name for own, name in plain_names()}
    theirs |= {f"decoder.{own}": name for own, name in names().items()}
    found = dict[str, list[Ids]]()
    at = 0
    for (layer, module), size in zip(family.layers, family.sizes, strict=True):
        leaves = ("weight", "bias") if isinstance(module, SpeakerNorm) else ("bias",)
        width = size // len(leaves)
        for leaf in leaves:
            name = theirs[f"{layer}.{leaf}"]
            graph = next(
                (graph for begin, graph in GRAPHS.items() if name.startswith(begin)), "text"
            )
            found.setdefault(graph, []).append(np.arange(at, at + width))
            at += width
    return {graph: np.concatenate(numbers) for graph, numbers in found.items()}
