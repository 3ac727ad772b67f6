"""The default voice's networks in PyTorch: those of hibari-tts, made trainable, and the context
network.

Text encoders, durations, pitch and energy are those of hibari-tts. The *future tokens* are added: a
few rows after the visible phonemes of an unfinished sentence, where hibari-tts had a neutral word.
They are learned, and a context embedding is added to them if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.layers import Block, beside

DILATIONS = (1, 2, 4, 8, 1, 2)


class StreamRows(NamedTuple):
    """Which row sees which, where the rows of all steps of a stream stand one after another
    (``streams.Stream``): N rows for each of B sentences."""

    number: Tensor
    """(B, N) step of each row."""
    neighbours: Tensor
    """(B, N, 5) rows that a convolution sees, two to each side; N stands for none."""
    seen: Tensor
    """(B, N, N) whether a row attends to another."""


@dataclass(frozen=True, slots=True)
class HeartNetworkConfig:
    """Sizes of what is added to hibari's networks."""

    futures: int = 4
    """Future tokens: rows that stand for the phonemes after the visible ones."""
    context: int = 64
    """Channels of the context embedding."""
    phoneme_channels: int = 64
    """The context network's, of each expected phoneme."""
    hidden: int = 128
    """The context network's GRU, each direction."""


SYMBOLS = 178
"""Phoneme ids of hibari's embedding; the future tokens have the ids that follow."""


class TextEncoder(nn.Module):
    """Embedding, two convolution blocks, one attention layer applied several times: (B, P) to (B,
    P, D)."""

    def __init__(self, channels: int, layers: int, config: HeartNetworkConfig) -> None:
        super().__init__()
        self.layers = layers
        self.futures = config.futures
        self.emb = nn.Embedding(SYMBOLS, channels)
        self.future = nn.Parameter(torch.zeros(config.futures, channels))
        self.context = nn.Linear(config.context, config.futures * channels, bias=False)
        nn.init.normal_(self.context.weight, std=0.02)
        self.convs = nn.ModuleList(Block(channels, 2 * channels, 5, 2) for _ in range(2))
        self.norm1, self.norm2, self.norm = (nn.LayerNorm(channels) for _ in range(3))
        self.in_proj = nn.Linear(channels, 3 * channels)
        self.out_proj = nn.Linear(channels, channels)
        self.linear1 = nn.Linear(channels, 2 * channels)
        self.linear2 = nn.Linear(2 * channels, channels)

    def forward(
        self, ids: Tensor, real: Tensor, context: Tensor, steps: StreamRows | None = None
    ) -> Tensor:
        """Encode ids (B, P) as (B, P, D). ``real`` (B, P): 1 for rows that are no padding;
        ``context`` (B, C): context embeddings.

        With ``steps``, rows are those of all S steps of a stream, one after another, and context is
        (B, S, C)."""
        tokens = self.future + self.context(context).view(*context.shape[:-1], self.futures, -1)
        future = (ids - SYMBOLS).clamp(min=0)
        if steps is not None:
            future = future + self.futures * steps.number
        future = future[..., None].expand(-1, -1, tokens.shape[-1])
        tokens = tokens.view(len(ids), -1, tokens.shape[-1]).gather(1, future)
        x = torch.where((ids >= SYMBOLS)[..., None], tokens, self.emb(ids.clamp(max=SYMBOLS - 1)))
        rows = real[..., None].to(x.dtype)
        for block in self.convs:
            assert isinstance(block, Block)
            x = block(x * rows) if steps is None else block.beside(x * rows, steps.neighbours)
        visible = real.bool()[:, None, None, :] if steps is None else steps.seen[:, None]
        for _ in range(self.layers):
            q, k, v = (
                self.in_proj(self.norm1(x)).view(*x.shape[:2], 3, 2, -1).permute(2, 0, 3, 1, 4)
            )
            mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=visible)
            x = x + self.out_proj(mixed.transpose(1, 2).flatten(2))
            x = x + self.linear2(functional.gelu(self.linear1(self.norm2(x))))
        out: Tensor = self.norm(x) * rows
        return out


class ProsodyNetwork(nn.Module):
    """Pitch and energy of each unit's two frames: (B, U, 192) to (B, U, 4), zeros beyond both
    ends."""

    def __init__(self) -> None:
        super().__init__()
        self.pro_in = nn.Linear(192, 192)
        self.pro_out = nn.Linear(192, 4)
        self.pro = nn.ModuleList(
            Block(192, 384, 7, 3 * dilation, dilation) for dilation in DILATIONS
        )

    def forward(self, encoding: Tensor, real: Tensor) -> Tensor:
        """Return pitch of the first and second frame in 100 Hz, and energy of both over 5; ``real``
        (B, U): 1 for units that are no padding."""
        rows = real[..., None].to(encoding.dtype)
        x = self.pro_in(encoding)
        for block in self.pro:
            x = block(x * rows)
        out: Tensor = self.pro_out(x)
        return out


class ContextNetwork(nn.Module):
    """Phonemes of an expected future (B, L) to a context embedding (B, C): the last states of a GRU
    both ways."""

    def __init__(self, config: HeartNetworkConfig) -> None:
        super().__init__()
        self.emb = nn.Embedding(SYMBOLS, config.phoneme_channels)
        self.gru = nn.GRU(
            config.phoneme_channels, config.hidden, batch_first=True, bidirectional=True
        )
        self.out = nn.Linear(2 * config.hidden, config.context)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """``lengths`` (B,): phonemes of each; 0 gives a zero embedding."""
        packed = nn.utils.rnn.pack_padded_sequence(
            self.emb(ids), lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
        )
        _, last = self.gru(packed)
        embedding: Tensor = self.out(torch.cat([last[0], last[1]], -1))
        return embedding * (lengths > 0)[:, None].to(embedding.dtype)


class Heart(nn.Module):
    """Text encoders, durations, pitch and energy of the default voice, with the context network."""

    def __init__(self, config: HeartNetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.sound = TextEncoder(128, 4, config)
        self.text = TextEncoder(192, 6, config)
        self.dur_in = nn.Conv1d(192, 192, 3, padding=1)
        self.dur_out = nn.Linear(192, 1)
        self.prosody = ProsodyNetwork()
        self.expect = ContextNetwork(config)

    def encode(
        self, ids: Tensor, real: Tensor, context: Tensor, steps: StreamRows | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the sound encoding (B, P, 128), the prosody encoding (B, P, 192) and log(1 +
        units) of each phoneme (B, P). Arguments: those of ``TextEncoder``."""
        return self.sound(ids, real, context, steps), *self.timed(ids, real, context, steps)

    def timed(
        self, ids: Tensor, real: Tensor, context: Tensor, steps: StreamRows | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the prosody encoding (B, P, 192) and log(1 + units) of each phoneme (B, P)."""
        text = self.text(ids, real, context, steps)
        if steps is None:
            hidden = functional.gelu(self.dur_in(text.transpose(1, 2)).transpose(1, 2))
        else:
            around = beside(text, steps.neighbours[..., 1:4])
            mixed = functional.linear(
                around.transpose(2, 3).flatten(2), self.dur_in.weight.flatten(1), self.dur_in.bias
            )
            hidden = functional.gelu(mixed)
        return text, self.dur_out(hidden)[..., 0]

    def forward(self, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Run the networks on cuts of sentences; a row of the batch is one cut (``prefixes.Cut``).

        In: ``ids`` (B, P), ``known`` (B, P), 1 for rows that are no padding; ``future`` (B, L) and
        ``future_lengths`` (B,), the phonemes of the expected future; ``units`` (B, P), durations of
        rows that were spoken before, 0 for the others; ``first`` and ``end`` (B,), the range of
        rows that are spoken now. Out: ``sound``, ``log_units``, ``context``; and for a window of W
        units around what is spoken now (``windows``) ``prosody`` (B, W, 4), ``at`` (B, W), each
        unit's number in the cut, and ``weight`` (B, W), its weight in the loss."""
        if "number" in batch:
            return self.stream(batch)
        context = batch.get("context")
        if context is None:
            context = self.expect(batch["future"], batch["future_lengths"])
        sound, text, logs = self.encode(batch["ids"], batch["known"], context)
        rows, at, weight = windows(logs.detach().float(), batch)
        visible = (rows >= 0).to(text.dtype)
        spread = (
            text.gather(1, rows.clamp(min=0)[..., None].expand(-1, -1, text.shape[-1]))
            * visible[..., None]
        )
        prosody = self.prosody(spread, visible)
        out = {"sound": sound, "log_units": logs, "prosody": prosody, "at": at, "weight": weight}
        return out | {"context": context}

    def stream(self, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Do the same for all steps of streams (``memory.HeartMemory.unfolded``); prosody is
        computed for a selection of steps (*views*).

        Also returns ``rows`` (V, W): the row of each unit in its view; -1: none.
        """
        read = self.read(batch)
        return {"sound": self.sound(*read)} | self.intoned(batch, *self.timed(*read))

    def read(self, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor, Tensor, StreamRows]:
        """Return the arguments of the text encoders for streams."""
        sentences, steps = batch["future_lengths"].shape
        context = self.expect(batch["future"].flatten(0, 1), batch["future_lengths"].flatten())
        unfolded = StreamRows(batch["number"], batch["neighbours"], batch["seen"])
        return batch["ids"], batch["known"], context.view(sentences, steps, -1), unfolded

    def intoned(self, batch: Mapping[str, Tensor], text: Tensor, logs: Tensor) -> dict[str, Tensor]:
        """Return durations, pitch and energy of streams, given the prosody encoding ``text`` and
        the log durations.

        A view is one step of a sentence: the rows ``view_index`` (V, P) of the sentence
        ``view_owner`` (V,), of which the first ``view_seen`` are visible."""
        owner = batch["view_owner"]
        index = batch["view_index"]
        begin = batch["view_begin"]
        column = torch.arange(index.shape[1], device=index.device)[None]
        real = column < batch["view_seen"][:, None]
        # Spoken rows have the teacher's durations, so that pitch is compared at the same place.
        units = batch["taught_units"][owner]
        units = units.gather(1, (column + begin[:, None]).clamp(max=units.shape[1] - 1))
        view = {"known": real, "units": units * (column < batch["view_end"][:, None])}
        view |= {"first": batch["view_first"], "end": batch["view_end"]}
        rows, number, weight = windows(logs.detach().float()[owner[:, None], index], view)
        visible = (rows >= 0).to(text.dtype)
        spread = text[owner[:, None], index.gather(1, rows.clamp(min=0))] * visible[..., None]
        prosody = self.prosody(spread, visible)
        return {"log_units": logs, "prosody": prosody, "at": number, "weight": weight, "rows": rows}


REACH = 54
"""Units that the prosody network sees to each side."""
HELD = 4
BEHIND = 12
"""Units before and after what is spoken now that have a weight in the loss."""
BEHIND_WEIGHT = 0.2
"""Weight of the units after it."""


def windows(logs: Tensor, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Return a window of units around what is spoken now: the row of each unit (B, W), -1 for none,
    its number in the cut (B, W), and its weight in the loss (B, W).

    ``logs`` (B, P): log(1 + units); ``batch``: ``known``, ``units``, ``first`` and ``end``, as for
    ``Heart.forward``. A window has ``REACH`` further units to each side, for the convolutions."""
    real = batch["known"].bool().cpu().numpy()
    units = batch["units"].cpu().numpy()
    expected = np.clip(np.rint(np.expm1(logs.cpu().numpy())), 1, 60).astype(np.int64)
    units = np.where(units > 0, units, expected) * real
    edges = np.pad(np.cumsum(units, axis=1), ((0, 0), (1, 0)))
    spans = []
    for row_edges, first, end in zip(
        edges, batch["first"].tolist(), batch["end"].tolist(), strict=True
    ):
        low = max(0, int(row_edges[first]) - HELD)
        high = min(int(row_edges[-1]), int(row_edges[end]) + BEHIND)
        spans.append(
            (
                max(0, low - REACH),
                low,
                int(row_edges[end]),
                high,
                min(int(row_edges[-1]), high + REACH),
            )
        )
    width = max(stop - start for start, _, _, _, stop in spans)
    rows, at = np.full((2, len(units), width), -1, np.int64)
    weight = np.zeros((len(units), width), np.float32)
    for number, (start, low, end, high, stop) in enumerate(spans):
        spread = np.repeat(np.arange(units.shape[1]), units[number])
        rows[number, : stop - start] = spread[start:stop]
        at[number, : stop - start] = np.arange(start, stop)
        weight[number, low - start : end - start] = 1
        weight[number, end - start : high - start] = BEHIND_WEIGHT
    device = logs.device
    return tuple(torch.from_numpy(array).to(device) for array in (rows, at, weight))  # type: ignore[return-value]


def load_imported(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Set the weights of hibari-tts; the future tokens and the context network keep their initial
    ones.

    ``weights``: by the names of ``state_dict``. ValueError for one that is missing or unknown."""
    fresh = {"future", "context", "expect", "own"}
    missing, unexpected = model.load_state_dict(dict(weights), strict=False)
    left = [name for name in missing if not fresh & set(name.split("."))]
    if left or unexpected:
        raise ValueError(
            f"the imported weights do not fit: missing {left}, unexpected {list(unexpected)}"
        )
