"""Tacotron 2 (Shen et al. 2018) with a contextual embedding (Saeki et al. 2021): a few words to
mel, seen in context.

Axes: B batch, P phonemes, S decoder steps of r frames, F = r * n_mels, T frames, D channels. Texts
of past, current segment and future are encoded apart, by one encoder; the embedding of past and
future joins each state of the segment."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.layers import ContextEmbeddingConfig, MaskedNorm, Scaled
from sayahead_lab.training.saeki.embedding import ContextEmbedding


@dataclass(frozen=True, slots=True)
class TacotronConfig:
    """Sizes; the defaults are those of the release of Tacotron 2 that Saeki et al. used, and Cong
    et al.'s (II-B)."""

    phonemes: int = 0
    """Number of ids; 0: as many as the corpus has."""
    n_mels: int = 80
    """Mel bands."""
    reduction: int = 1
    """r: frames a decoder step."""
    embedding: int = 512
    """D of phoneme embeddings, of the encoder's convolutions and, both directions together, of its
    states."""
    encoder_layers: int = 3
    """Convolutions of the encoder."""
    kernel: int = 5
    """Phonemes that each of them sees, and frames that one of the postnet does."""
    prenet: tuple[int, ...] = (256, 256)
    """Widths of the layers that the previous frame goes through."""
    attention_rnn: int = 1024
    """D of the first recurrent layer, whose state is the query."""
    decoder_rnn: int = 1024
    """D of the second."""
    attention: int = 128
    """Width in which queries, keys and places are compared."""
    location_filters: int = 32
    """The attention's features of its past positions."""
    location_kernel: int = 31
    """Phonemes of that which each place sees."""
    postnet: int = 512
    """D of the postnet's convolutions."""
    postnet_layers: int = 5
    """Convolutions of the postnet."""
    dropout: float = 0.5
    """In convolutions, in training."""
    prenet_dropout: float = 0.5
    """Behind each layer of the prenet, in training."""
    rnn_dropout: float = 0.1
    """Of the recurrent layers' outputs, in training."""
    taught: bool = False
    """Whether the corpus's durations place the attention in training, so that all steps are made at
    once.

    The previous place then is one phoneme, in inference too: the likeliest of the window. Not of
    the paper. """
    window: int = 4
    """Phonemes that taught attention can look at, from the last one on."""
    context: ContextEmbeddingConfig = field(default_factory=ContextEmbeddingConfig)
    """The contextual embedding network."""


class Texts(NamedTuple):
    """Padded texts."""

    ids: Tensor
    """(B, P) phoneme ids."""
    lengths: Tensor
    """(B,) how many of a row's ids count; 0: there is no text."""


class Taught(NamedTuple):
    """Where attention was before each step, as durations say."""

    attended: Tensor
    """(B, S) the phoneme it looked at last; 0 at the start."""
    counts: Tensor
    """(B, S, P) steps that it has looked at each phoneme so far."""


class TacotronOutput(NamedTuple):
    """The network's output for a segment."""

    frames: Tensor
    """(B, T, n_mels) normalized log mel before the postnet."""
    refined: Tensor
    """(B, T, n_mels) the same after it."""
    stop: Tensor
    """(B, T) logit of the probability that the segment ends with this frame."""
    weights: Tensor
    """(B, S, P) logarithms of the attention's weights; of taught attention (B, S, W), from the
    attended phoneme on."""


class SegmentMemory(NamedTuple):
    """The decoder's memory."""

    rows: Tensor
    """(B, P, M) states with the embedding."""
    keys: Tensor
    """(B, P, A)."""
    hidden: Tensor
    """(B, P) true where there is no phoneme."""


class TacotronState(NamedTuple):
    """The state of step-by-step decoding."""

    frame: Tensor
    """(B, F) of the step before; zeros, the mean frame, at the start."""
    context: Tensor
    """(B, M) what attention saw."""
    weights: Tensor
    """(B, P) where it looked; of taught attention 1 at one phoneme; zeros at the start."""
    counts: Tensor
    """(B, P) sum of the weights so far."""
    attention: tuple[Tensor, Tensor]
    """(1, B, D) output and cell of the first recurrent layer."""
    decoder: tuple[Tensor, Tensor]
    """The second's."""


class TacotronEncoder(nn.Module):
    """Embedding, convolutions, one layer of LSTM in each direction."""

    def __init__(self, config: TacotronConfig) -> None:
        super().__init__()
        wide = config.embedding
        kernel = config.kernel
        self.dropout = config.dropout
        self.embedding = nn.Embedding(config.phonemes, wide)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(wide, wide, kernel, padding=kernel // 2) for _ in range(config.encoder_layers)
        )
        self.norms = nn.ModuleList(MaskedNorm(wide) for _ in range(config.encoder_layers))
        # Two layers, not one in both directions: after a text's end there is nothing to begin the
        # way back with.
        self.ahead = nn.LSTM(wide, wide // 2, batch_first=True)
        self.back = nn.LSTM(wide, wide // 2, batch_first=True)

    def forward(self, texts: Texts) -> Tensor:
        """States (B, P, D), zeros after a text's end."""
        places = torch.arange(texts.ids.shape[1], device=texts.ids.device)
        there = places < texts.lengths[:, None]
        x = self.embedding(texts.ids) * there[..., None]
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            x = norm(convolution(x.transpose(1, 2)).transpose(1, 2), there).relu()
            x = functional.dropout(x, self.dropout, self.training)
        turned = (texts.lengths[:, None] - 1 - places).clamp(min=0)[..., None]
        ahead, _ = self.ahead(x)
        back, _ = self.back(x.gather(1, turned.expand_as(x)))
        states = torch.cat([ahead, back.gather(1, turned.expand_as(back))], -1)
        return states * there[..., None]


class TacotronDecoder(nn.Module):
    """Prenet, two recurrent layers with location-sensitive attention between them, r frames and
    their stops."""

    def __init__(self, config: TacotronConfig) -> None:
        super().__init__()
        self.config = config
        self.memory = config.embedding + config.context.embedding
        size = config.reduction * config.n_mels
        widths = (size, *config.prenet)
        self.prenet = nn.ModuleList(
            nn.Linear(a, b, bias=False) for a, b in itertools.pairwise(widths)
        )
        self.attention_rnn = nn.LSTM(
            widths[-1] + self.memory, config.attention_rnn, batch_first=True
        )
        self.query = nn.Linear(config.attention_rnn, config.attention, bias=False)
        self.key = nn.Linear(self.memory, config.attention, bias=False)
        self.place = nn.Linear(2 * config.location_kernel, config.location_filters, bias=False)
        self.placed = nn.Linear(config.location_filters, config.attention, bias=False)
        self.energy = nn.Linear(config.attention, 1, bias=False)
        self.decoder_rnn = nn.LSTM(
            config.attention_rnn + self.memory, config.decoder_rnn, batch_first=True
        )
        inward = config.decoder_rnn + self.memory
        self.frames = nn.Linear(inward, size)
        self.stop = nn.Linear(inward, config.reduction)

    def before(self, previous: Tensor) -> Tensor:
        """(..., D) of the frames (..., F) of the step before."""
        for layer in self.prenet:
            previous = functional.dropout(
                layer(previous).relu(), self.config.prenet_dropout, self.training
            )
        return previous

    def logits(self, query: Tensor, keys: Tensor, window: Tensor) -> Tensor:
        """(..., W) how much each place is wanted: of (..., D) states, (..., W, A) keys, (..., W, 2
        K) what was seen."""
        placed = self.placed(self.place(window))
        out: Tensor = self.energy((self.query(query)[..., None, :] + keys + placed).tanh())[..., 0]
        return out

    def forget(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.config.rnn_dropout, self.training)

    def all_at_once(
        self, previous: Tensor, memory: SegmentMemory, taught: Taught
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Frames (B, S, F), stops (B, S, r), log weights (B, S, W), after the frames (B, S, F)
        before each step."""
        config = self.config
        (size, steps) = previous.shape[:2]
        kernel = config.location_kernel
        window = config.window
        last = taught.attended
        at = last[..., None].expand(-1, -1, self.memory)
        context = memory.rows.gather(1, at)
        context = torch.cat([torch.zeros_like(context[:, :1]), context[:, 1:]], 1)
        queries = self.forget(
            self.attention_rnn(torch.cat([self.before(previous), context], -1))[0]
        )

        phonemes = memory.rows.shape[1]
        places = last[..., None] + torch.arange(window, device=last.device)
        hidden = (
            functional.pad(memory.hidden, (0, window), value=True)
            .gather(1, places.flatten(1))
            .view(places.shape)
        )
        rows = places.clamp(max=phonemes - 1).flatten(1)[..., None]
        seen_keys = memory.keys.gather(1, rows.expand(-1, -1, config.attention)).view(
            size, steps, window, -1
        )
        was = functional.one_hot(last, phonemes).to(taught.counts.dtype)
        was = torch.cat([torch.zeros_like(was[:, :1]), was[:, 1:]], 1)
        half = kernel // 2
        past = functional.pad(torch.stack([was, taught.counts], 2), (half, half + window))
        around = last[..., None] + torch.arange(window + kernel - 1, device=last.device)
        past = past.gather(3, around[:, :, None].expand(-1, -1, 2, -1)).unfold(3, kernel, 1)
        logits = self.logits(queries, seen_keys, past.transpose(2, 3).flatten(3))
        weights = torch.log_softmax(logits.float().masked_fill(hidden, -1e9), -1)

        values = memory.rows.gather(1, rows.expand(-1, -1, self.memory)).view(
            size, steps, window, -1
        )
        contexts = (weights.exp()[..., None] * values).sum(2).to(queries.dtype)
        outputs = self.forget(self.decoder_rnn(torch.cat([queries, contexts], -1))[0])
        inward = torch.cat([outputs, contexts], -1)
        return self.frames(inward), self.stop(inward), weights

    def one_by_one(self, previous: Tensor, memory: SegmentMemory) -> tuple[Tensor, Tensor, Tensor]:
        """As ``all_at_once``, with attention that finds its way by itself: log weights (B, S, P).

        Only the first recurrent layer and the attention wait for the step before; all else is made
        for all steps."""
        config = self.config
        cell = self.attention_rnn
        inner, outer, bias, other = cell.parameters()
        inputs = self.before(previous)
        size = inputs.shape[0]
        width = inputs.shape[2]
        inputs = functional.linear(inputs, inner[:, :width], bias + other)
        back = torch.cat([inner[:, width:], outer], 1).T
        placing = self.placed.weight @ self.place.weight
        half = config.location_kernel // 2
        rows = memory.rows
        context = rows.new_zeros(size, rows.shape[2])
        zeros = rows.new_zeros(2, size, config.attention_rnn)
        output, carried = zeros.unbind()
        history = rows.new_zeros(size, 2, rows.shape[1])
        every = list[tuple[Tensor, Tensor, Tensor]]()
        for step in inputs.unbind(1):
            into, stay, new, out = (step + torch.cat([context, output], -1) @ back).chunk(4, -1)
            carried = stay.sigmoid() * carried + into.sigmoid() * new.tanh()
            output = out.sigmoid() * carried.tanh()
            state = self.forget(output)
            past = (
                functional.pad(history, (half, half))
                .unfold(2, config.location_kernel, 1)
                .transpose(1, 2)
                .flatten(2)
            )
            match = self.query(state)[:, None] + memory.keys + past @ placing.T
            logits = self.energy(match.tanh())[..., 0].float()
            weights = torch.log_softmax(logits.masked_fill(memory.hidden, -1e9), -1)
            looked = weights.exp()
            context = torch.bmm(looked[:, None].to(rows.dtype), rows)[:, 0]
            history = torch.stack([looked, history[:, 1] + looked], 1)
            every.append((state, context, weights))
        state, contexts, weights = (torch.stack(parts, 1) for parts in zip(*every, strict=True))
        outputs = self.forget(self.decoder_rnn(torch.cat([state, contexts], -1))[0])
        inward = torch.cat([outputs, contexts], -1)
        return self.frames(inward), self.stop(inward), weights

    def initial(self, memory: SegmentMemory) -> TacotronState:
        """The state before a segment's first step."""
        size, phonemes, wide = memory.rows.shape
        config = self.config
        zeros = memory.rows.new_zeros
        rnns = [
            (zeros(1, size, d), zeros(1, size, d))
            for d in (config.attention_rnn, config.decoder_rnn)
        ]
        nowhere = zeros(size, phonemes)
        return TacotronState(
            zeros(size, config.reduction * config.n_mels),
            zeros(size, wide),
            nowhere,
            nowhere,
            rnns[0],
            rnns[1],
        )

    def advance(
        self, state: TacotronState, memory: SegmentMemory
    ) -> tuple[Tensor, Tensor, Tensor, TacotronState]:
        """One step: frames (B, F), stops (B, r), log weights (B, P), and the next state."""
        half = self.config.location_kernel // 2
        query, attention = self.attention_rnn(
            torch.cat([self.before(state.frame), state.context], -1)[:, None], state.attention
        )
        query = self.forget(query[:, 0])
        past = functional.pad(torch.stack([state.weights, state.counts], 1), (half, half))
        past = past.unfold(2, self.config.location_kernel, 1).transpose(1, 2).flatten(2)
        hidden = memory.hidden
        if self.config.taught:
            ahead = torch.arange(hidden.shape[1], device=hidden.device) - state.weights.argmax(
                -1, keepdim=True
            )
            hidden = hidden | (ahead < 0) | (ahead >= self.config.window)
        logits = self.logits(query, memory.keys, past).float()
        weights = torch.log_softmax(logits.masked_fill(hidden, -1e9), -1)
        context = (weights.exp()[..., None] * memory.rows).sum(1).to(query.dtype)
        output, decoder = self.decoder_rnn(torch.cat([query, context], -1)[:, None], state.decoder)
        inward = torch.cat([self.forget(output[:, 0]), context], -1)
        frames = self.frames(inward)
        stop = self.stop(inward)
        looked = weights.exp()
        if self.config.taught:
            looked = functional.one_hot(weights.argmax(-1), weights.shape[-1]).to(looked.dtype)
            context = (looked[..., None] * memory.rows).sum(1).to(context.dtype)
        after = TacotronState(frames, context, looked, state.counts + looked, attention, decoder)
        return frames, stop, weights, after


class Postnet(nn.Module):
    """Convolutions that add to each frame what its neighbours tell."""

    def __init__(self, config: TacotronConfig) -> None:
        super().__init__()
        widths = (config.n_mels, *[config.postnet] * (config.postnet_layers - 1), config.n_mels)
        self.dropout = config.dropout
        self.convolutions = nn.ModuleList(
            nn.Conv1d(a, b, config.kernel, padding=config.kernel // 2)
            for a, b in itertools.pairwise(widths)
        )
        self.norms = nn.ModuleList(MaskedNorm(width) for width in widths[1:])

    def forward(self, frames: Tensor, there: Tensor) -> Tensor:
        """(B, T, n_mels) to add; ``there`` (B, T) is false after a segment's end."""
        x = frames * there[..., None]
        last = len(self.norms) - 1
        for number, (convolution, norm) in enumerate(
            zip(self.convolutions, self.norms, strict=True)
        ):
            x = norm(convolution(x.transpose(1, 2)).transpose(1, 2), there)
            x = functional.dropout(
                x if number == last else x.tanh() * there[..., None], self.dropout, self.training
            )
        return x


class Tacotron(Scaled):
    """Phoneme ids of a segment, of what was before and of what will be, to the segment's mel
    frames."""

    def __init__(self, config: TacotronConfig) -> None:
        super().__init__(config.n_mels)
        if config.phonemes < 1 or config.embedding % 2 or config.location_kernel % 2 == 0:
            raise ValueError(
                "there are ids, an even number of channels, and an odd number of places at least"
            )
        self.config = config
        self.encoder = TacotronEncoder(config)
        self.decoder = TacotronDecoder(config)
        self.postnet = Postnet(config)
        self.contextual = ContextEmbedding(config.context, config.embedding)

    def embedding(self, past: Texts, future: Texts) -> Tensor:
        """(B, E) the contextual embedding (Saeki-a, Eq. 4)."""
        out: Tensor = self.contextual(
            self.encoder(past), past.lengths, self.encoder(future), future.lengths
        )
        return out

    def memory(self, texts: Texts, embedding: Tensor) -> SegmentMemory:
        """What the decoder attends to: the segment's states, with the embedding joined to each."""
        states = self.encoder(texts)
        rows = torch.cat(
            [states, embedding[:, None].expand(-1, states.shape[1], -1).to(states.dtype)], -1
        )
        hidden = torch.arange(states.shape[1], device=states.device) >= texts.lengths[:, None]
        return SegmentMemory(rows, self.decoder.key(rows), hidden)

    def forward(
        self,
        texts: Texts,
        embedding: Tensor,
        frames: Tensor,
        lengths: Tensor,
        taught: Taught,
        sampling: float = 0.0,
    ) -> TacotronOutput:
        """All steps of segments, each after the true frames (B, S, F) before it; ``lengths`` (B,)
        frames count.

        A share ``sampling`` of the previous frames is the network's own, made in a first pass
        (taught attention only)."""
        memory = self.memory(texts, embedding)
        previous = functional.pad(frames, (0, 0, 1, 0))[:, :-1]
        if not self.config.taught:
            decoded, stop, weights = self.decoder.one_by_one(previous, memory)
        else:
            if sampling > 0:
                with torch.no_grad():
                    predicted = self.decoder.all_at_once(previous, memory, taught)[0].to(
                        frames.dtype
                    )
                own = torch.rand(frames.shape[:2], device=frames.device)[..., None] < sampling
                previous = functional.pad(torch.where(own, predicted, frames), (0, 0, 1, 0))[:, :-1]
            decoded, stop, weights = self.decoder.all_at_once(previous, memory, taught)
        decoded = decoded.view(len(decoded), -1, self.config.n_mels)
        there = torch.arange(decoded.shape[1], device=decoded.device) < lengths[:, None]
        return TacotronOutput(
            decoded, decoded + self.postnet(decoded, there), stop.flatten(1).float(), weights
        )


@torch.no_grad()
def generate(
    model: Tacotron, ids: Tensor, embedding: Tensor, *, most: int = 40, stop: float = 0.5
) -> Tensor:
    """Log mel (T, n_mels) of one segment's ids (P,), spoken freely under an embedding (E,).

    Ends with the first frame whose stop is above ``stop`` while attention is at the last two
    phonemes, or after ``most`` frames a phoneme.
    """
    memory = model.memory(
        Texts(ids[None], torch.tensor([len(ids)], device=ids.device)), embedding[None]
    )
    state = model.decoder.initial(memory)
    parts = list[Tensor]()
    n_mels = model.config.n_mels
    while len(parts) * model.config.reduction < most * len(ids):
        frames, stops, weights, state = model.decoder.advance(state, memory)
        rows = frames.view(-1, n_mels)
        ends = torch.nonzero(torch.sigmoid(stops[0]) > stop)
        if len(ends) and int(weights[0].argmax()) >= len(ids) - 2:
            parts.append(rows[: int(ends[0]) + 1])
            break
        parts.append(rows)
    mel = torch.cat(parts)[None]
    refined: Tensor = mel + model.postnet(
        mel, torch.ones(mel.shape[:2], dtype=torch.bool, device=mel.device)
    )
    return refined[0] * model.std + model.mean
