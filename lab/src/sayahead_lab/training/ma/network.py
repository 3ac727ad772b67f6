"""Deep Voice 3 (Ping et al. 2018) as Ma et al. (2020) use it: phonemes to mel, fully convolutional,
without converter.

Axes: B batch, P phonemes with a pad at both ends, S decoder steps of r frames, F = r * n_mels, D
channels. The last pad is Ma's <eos>: it is there only when the text is complete (4.1)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.layers import (
    HALF,
    Dense,
    GatedBlock,
    PositionedAttention,
    Scaled,
    position_code,
)


@dataclass(frozen=True, slots=True)
class DeepVoice3Config:
    """Sizes; the defaults are Ma's (5.1) and, where Ma leaves them open, Deep Voice 3's for a
    single speaker."""

    phonemes: int = 0
    """Number of ids; 0: as many as the corpus has."""
    n_mels: int = 80
    """Mel bands."""
    reduction: int = 4
    """r: frames a decoder step."""
    embedding: int = 256
    """D of phoneme embeddings, keys and values; the decoder's channels."""
    encoder_channels: int = 64
    """D of the encoder's convolution blocks."""
    encoder_layers: int = 11
    """Convolution blocks of the encoder."""
    encoder_kernel: int = 5
    """Phonemes that each of them sees."""
    prenet: tuple[int, ...] = (128, 256)
    """Widths of the layers that the previous frames go through; the last is ``embedding``."""
    decoder_layers: int = 7
    """Causal convolution blocks of the decoder; the first and the last are followed by
    attention."""
    decoder_kernel: int = 5
    """Steps that each of them sees."""
    attention: int = 128
    """Width of projected queries, keys and values."""
    window: int = 3
    """Phonemes that inference attends to, from the last attended one on."""
    dropout: float = 0.05
    """In convolution blocks and on attention weights."""
    prenet_dropout: float = 0.05
    """Behind each layer of the prenet."""
    weight_norm: bool = True
    """Whether weights of convolutions are normalized."""
    key_rate: float = 0.0
    """Decoder steps a phoneme, the rate of the keys' positions; 0: the corpus's mean."""
    clock: str = "steps"
    """The queries' positions: steps since the start, or attended: where attention was, and how long
    it has been there.

    The first is Deep Voice 3's. The second does not drift from the keys' positions, however long a
    sentence is. """
    windowed_training: bool = False
    """Whether training attends to the window alone, which the corpus's durations place, as
    inference does."""
    own_windows: bool = True
    """Whether the last attention's window follows its own past, otherwise the first's."""


class EncodedText(NamedTuple):
    """The encoder's output for a text."""

    keys: Tensor
    """(B, P, D)."""
    values: Tensor
    """(B, P, D)."""


class DeepVoice3Output(NamedTuple):
    """The decoder's output."""

    frames: Tensor
    """(B, S, F) normalized log mel."""
    stop: Tensor
    """(B, S) logit of the probability that a step is the last."""
    weights: tuple[Tensor, ...]
    """Logarithms of the weights (B, S, P) of both attentions."""


class DeepVoice3State(NamedTuple):
    """The state of step-by-step decoding, for one sentence."""

    frames: Tensor
    """(F,) of the step before; zeros, the mean frame, at the start."""
    caches: Tensor
    """(layers, kernel - 1, D) last inputs of each convolution."""
    attended: Tensor
    """(2,) phoneme that each attention looked at last, counted from the start of the sentence."""
    stayed: Tensor
    """(2,) steps that it has been looking there."""
    number: Tensor
    """() of the step."""


class DeepVoice3Encoder(nn.Module):
    """Embedding, convolution blocks, and the embedding added to what they make."""

    def __init__(self, config: DeepVoice3Config) -> None:
        super().__init__()
        wide = config.embedding
        narrow = config.encoder_channels
        self.dropout = config.dropout
        self.embedding = nn.Embedding(config.phonemes, wide)
        self.inward = Dense(wide, narrow, dropout=config.dropout)
        self.blocks = nn.ModuleList(
            GatedBlock(
                narrow,
                config.encoder_kernel,
                causal=False,
                dropout=config.dropout,
                normed=config.weight_norm,
            )
            for _ in range(config.encoder_layers)
        )
        self.outward = Dense(narrow, wide)

    def forward(self, ids: Tensor, there: Tensor) -> EncodedText:
        """Keys and values (B, P, D) of ids (B, P); ``there`` (B, P) is false after a text's end."""
        mask = there[..., None].float()
        embedded = functional.dropout(self.embedding(ids), self.dropout, self.training)
        x = self.inward(embedded)
        for block in self.blocks:
            x = block(x * mask.to(x.dtype))
        keys = self.outward(x)
        return EncodedText(keys, (keys + embedded) * HALF)


class DeepVoice3Decoder(nn.Module):
    """Prenet, causal convolution blocks with attention after the first and the last, r frames and
    stop."""

    def __init__(self, config: DeepVoice3Config) -> None:
        super().__init__()
        self.config = config
        wide = config.embedding
        inputs = config.reduction * config.n_mels
        widths = (inputs, *config.prenet)
        self.prenet = nn.ModuleList(
            Dense(a, b, gain=2.0, dropout=config.prenet_dropout if number else 0.0)
            for number, (a, b) in enumerate(itertools.pairwise(widths))
        )
        self.blocks = nn.ModuleList(
            GatedBlock(
                wide,
                config.decoder_kernel,
                causal=True,
                dropout=config.dropout,
                normed=config.weight_norm,
            )
            for _ in range(config.decoder_layers)
        )
        self.attentions = nn.ModuleList(
            PositionedAttention(wide, config.attention, dropout=config.dropout) for _ in range(2)
        )
        # Small, so that the first frames are near the mean.
        self.frames = Dense(wide, inputs, gain=0.01)
        self.stop = Dense(wide, 1, gain=0.01)

    def before(self, previous: Tensor) -> Tensor:
        """(..., D) of the frames (..., F) of the step before."""
        for layer in self.prenet:
            previous = functional.dropout(
                layer(previous).relu(), self.config.prenet_dropout, self.training
            )
        return previous

    def forward(
        self, previous: Tensor, encoded: EncodedText, codes: tuple[Tensor, Tensor], hidden: Tensor
    ) -> DeepVoice3Output:
        """Run all decoder steps at once, for training, given the frames (B, S, F) before each step.

        ``codes`` and ``hidden``: position codes and mask, as for ``PositionedAttention``. The first
        and the last block are followed by attention."""
        x = self.before(previous)
        weights = []
        for number, block in enumerate(self.blocks):
            x = block(x)
            if number in (0, len(self.blocks) - 1):
                x, attention = self.attentions[min(number, 1)](
                    x, encoded.keys, encoded.values, codes, hidden
                )
                weights.append(attention)
        return DeepVoice3Output(self.frames(x), self.stop(x)[..., 0].float(), tuple(weights))


class DeepVoice3(Scaled):
    """Phoneme ids to mel frames."""

    def __init__(self, config: DeepVoice3Config) -> None:
        super().__init__(config.n_mels)
        if (
            config.prenet[-1] != config.embedding
            or config.decoder_layers < 2
            or config.phonemes < 1
        ):
            raise ValueError(
                "the prenet ends with the embedding's width, and there are two blocks and ids at"
                " least"
            )
        if config.clock not in ("steps", "attended"):
            raise ValueError(f"clock is {config.clock!r}, but must be steps or attended")
        self.config = config
        self.encoder = DeepVoice3Encoder(config)
        self.decoder = DeepVoice3Decoder(config)

    def forward(
        self,
        ids: Tensor,
        lengths: Tensor,
        frames: Tensor,
        attended: Tensor,
        stayed: Tensor,
        sampling: float = 0.0,
    ) -> DeepVoice3Output:
        """All steps at once, each after the true frames (B, S, F) before it; of ids (B, P)
        ``lengths`` (B,) count.

        ``attended`` and ``stayed`` (B, S) say where attention was before each step, see Past; they
        matter where the configuration has windows in training or the clock of that name. A share
        ``sampling`` of the previous frames is replaced by what the model itself makes in a first
        pass (scheduled sampling, in parallel)."""
        places = torch.arange(ids.shape[1], device=ids.device)
        there = places < lengths[:, None]
        encoded = self.encoder(ids, there)
        steps = torch.arange(frames.shape[1], device=ids.device).expand(frames.shape[:2])
        codes = self.codes(steps, attended, stayed, places.expand(ids.shape))
        hidden = ~there[:, None].expand(-1, frames.shape[1], -1)
        if self.config.windowed_training:
            ahead = places - attended[..., None]
            hidden = hidden | (ahead < 0) | (ahead >= self.config.window)
        previous = functional.pad(frames, (0, 0, 1, 0))[:, :-1]
        if sampling > 0:
            with torch.no_grad():
                predicted = self.decoder(previous, encoded, codes, hidden).frames.to(frames.dtype)
            own = torch.rand(frames.shape[:2], device=frames.device)[..., None] < sampling
            previous = functional.pad(torch.where(own, predicted, frames), (0, 0, 1, 0))[:, :-1]
        out: DeepVoice3Output = self.decoder(previous, encoded, codes, hidden)
        return out

    def codes(
        self, steps: Tensor, attended: Tensor, stayed: Tensor, places: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Position codes of queries (B, S, D) and keys (B, P, D); in decoder steps."""
        rate = self.config.key_rate
        queries = steps if self.config.clock == "steps" else attended * rate + stayed
        return position_code(queries, self.config.embedding), position_code(
            places * rate, self.config.embedding
        )

    def encode(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (P, D) of a text's ids (P,)."""
        encoded = self.encoder(ids[None], torch.ones_like(ids, dtype=torch.bool)[None])
        return encoded.keys[0], encoded.values[0]

    def initial(self) -> DeepVoice3State:
        """The past at the start of a sentence."""
        config = self.config
        device = self.mean.device
        caches = torch.zeros(
            config.decoder_layers, config.decoder_kernel - 1, config.embedding, device=device
        )
        places = torch.zeros(2, dtype=torch.long, device=device)
        frames = torch.zeros(config.reduction * config.n_mels, device=device)
        return DeepVoice3State(frames, caches, places, places, places[0])

    def step(
        self,
        past: DeepVoice3State,
        keys: Tensor,
        values: Tensor,
        first: Tensor,
        *,
        window: int | None = None,
    ) -> tuple[Tensor, Tensor, Tensor, DeepVoice3State]:
        """Frames (F,), probability () of the stop, weights (2, W) of both windows, and the past of
        the next step.

        ``keys`` and ``values`` (P, D) are of the phonemes from number ``first`` () of the sentence
        on. The softmax runs over ``window`` phonemes (None: the configuration's; 0: all) from the
        last attended one on (Ma 5.1)."""
        config = self.config
        size = config.window if window is None else window
        x = self.decoder.before(past.frames[None])
        caches = []
        weights = []
        attended = []
        for number, block in enumerate(self.decoder.blocks):
            assert isinstance(block, GatedBlock)
            x, cache = block.step(x, past.caches[number][None])
            caches.append(cache[0])
            if number in (0, config.decoder_layers - 1):
                which = min(number, 1)
                start = past.attended[which if config.own_windows else 0]
                stayed = past.stayed[which if config.own_windows else 0]
                base, ahead = (
                    (start, torch.arange(size, device=x.device))
                    if size
                    else (first, torch.arange(len(keys)))
                )
                places = base + ahead
                hidden = places >= first + len(keys)
                rows = (places - first).clamp(0, len(keys) - 1)
                codes = self.codes(
                    past.number[None, None], start[None, None], stayed[None, None], places[None]
                )
                attention = self.decoder.attentions[which]
                x3, looks = attention(
                    x[:, None], keys[None, rows], values[None, rows], codes, hidden[None, None]
                )
                x = x3[:, 0]
                weights.append(looks[0, 0].exp())
                attended.append(base + looks[0, 0].argmax())
        frames = self.decoder.frames(x)[0]
        stop = torch.sigmoid(self.decoder.stop(x))[0, 0]
        now = torch.stack(attended)
        stayed = torch.where(now == past.attended, past.stayed + 1, torch.ones_like(past.stayed))
        return (
            frames,
            stop,
            torch.stack(weights),
            DeepVoice3State(frames, torch.stack(caches), now, stayed, past.number + 1),
        )


@torch.no_grad()
def generate(
    model: DeepVoice3, ids: Tensor, *, window: int | None = None, most: int = 40, stop: float = 0.5
) -> tuple[Tensor, Tensor]:
    """Log mel (T, n_mels) spoken freely from ids (P,) with pads, and where the first attention
    looked: weights (S, P).

    Ends when the probability of the stop is above ``stop``, or after ``most`` frames a phoneme.
    """
    config = model.config
    keys, values = model.encode(ids)
    past = model.initial()
    first = torch.zeros((), dtype=torch.long, device=ids.device)
    parts = []
    looked = []
    for _ in range(most * len(ids) // config.reduction):
        start = int(past.attended[0])
        frames, probability, weights, past = model.step(past, keys, values, first, window=window)
        row = torch.zeros(len(ids) + config.window, device=ids.device)
        at = 0 if window == 0 else start
        row[at : at + weights.shape[1]] = weights[0]
        looked.append(row[: len(ids)])
        parts.append(frames.view(config.reduction, config.n_mels))
        if float(probability) > stop:
            break
    return torch.cat(parts) * model.std + model.mean, torch.stack(looked)
