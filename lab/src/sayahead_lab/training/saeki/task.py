"""Training of Saeki et al.'s Tacotron 2: windows of a few words with their true past and future."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from sayahead.types import Floats
from torch import Tensor, nn

from sayahead_lab.training.corpus.batches import POOL, Share, dealt, decoder_steps, padded, tensors
from sayahead_lab.training.corpus.segments import NOTHING, Numbers, Piece, SegmentCutter, path_of
from sayahead_lab.training.corpus.store import Corpus, Item, check_mels, count_ids
from sayahead_lab.training.loop.pictures import examples, write_sample
from sayahead_lab.training.loop.schedule import Sampling
from sayahead_lab.training.loop.task import Batch, Task, logged
from sayahead_lab.training.losses import average, guided_attention, stop_error
from sayahead_lab.training.saeki.network import (
    Tacotron,
    TacotronConfig,
    TacotronOutput,
    Taught,
    Texts,
    generate,
)


@dataclass(frozen=True, slots=True)
class SaekiData(Sampling):
    """Its training data, and the weights of its errors; defaults from the papers, where stated."""

    windows: tuple[int, ...] = (3,)
    """Words of the sliding window, of which one is drawn (Saeki-a, IV-A: 3)."""
    past: int = 0
    """Most phonemes of the past; 0: all."""
    lookahead: int = 0
    """Most words of the future; 0: all."""
    sentence_share: float = 0.0
    """Share of batches of whole sentences without past and future: the same network speaks
    sentences, too."""
    sentence_batch: float = 0.125
    """Items of such a batch, as a share of the batch size."""
    unicontext_share: float = 0.0
    """Share of windows whose future is not shown: the same network serves for unicontext, too."""
    independent_share: float = 0.0
    """Share of windows that are utterances of their own, without past and future: and for
    independent segments."""
    end_mark: bool = True
    """Whether such a window ends with a pad; none of the papers' does."""
    pastless_share: float = 0.0
    """Share of the other windows whose past is not shown, so that the future has to be heeded."""
    l1_weight: float = 0.0
    """Weight of the frames' absolute error, in units of each band's deviation."""
    l2_weight: float = 1.0
    """Weight of their squared error (Tacotron 2's)."""
    stop_weight: float = 1.0
    """Weight of the stop's binary cross-entropy."""
    stop_positive: float = 1.0
    """Weight of a last frame in it over the others."""
    alignment_weight: float = 0.0
    """Weight of the attention's cross-entropy with the corpus's durations; not of the papers."""
    guided_weight: float = 0.0
    """Weight of free attention's guided attention loss (Tachibana et al. 2018, Eq. 5 and 6); not of
    the papers."""
    guided_width: float = 0.2
    """Its g: how far from the diagonal attention is free."""
    longest: int = 0
    """Frames over which a sentence is left out; 0: none is."""
    samples: int = 2
    """Validation sentences that are spoken for listening."""


class HasTacotron(nn.Module):
    """A model whose Tacotron is what is exported."""

    tacotron: Tacotron
    """What is exported."""


class SaekiTask(Task[HasTacotron]):
    """Training of the Tacotron: phonemes of a segment, its past and its future in, mel out."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        config = from_mapping(TacotronConfig, model, where="[model]")
        self.data = from_mapping(SaekiData, data, where="[data]")
        self.corpus = corpus
        self.config = checked(config, corpus)
        self.cutter = cutter(self.data, corpus)
        if not self.data.windows or min(self.data.windows) < 1:
            raise ConfigError(
                f"[data] windows is {list(self.data.windows)}, but must be numbers of words."
            )
        if self.data.sampling_share and not self.config.taught:
            raise ConfigError(
                "[data] sampling_share needs [model] taught = true: other steps cannot be made at"
                " once."
            )
        if self.data.guided_weight and self.config.taught:
            raise ConfigError(
                "[data] guided_weight needs [model] taught = false: durations place taught"
                " attention."
            )

    def model(self) -> HasTacotron:
        return TacotronTraining(self.config, self.corpus)

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        """A pass has one window of each item, of like length together, and a share of whole
        sentences."""
        items = self.corpus.split(split)
        data = self.data
        draw = np.random.default_rng([seed, 23])
        usable = (
            np.flatnonzero(items.lengths <= data.longest) if data.longest else np.arange(len(items))
        )
        order = draw.permutation(usable)
        few = max(1, int(batch_size * data.sentence_batch))
        rest = draw.permutation(usable)
        size = batch_size * ranks
        for at in range(0, len(order), size * POOL):
            pieces = [
                (int(i), self.draw(items[int(i)], draw)) for i in order[at : at + size * POOL]
            ]
            # Words may be without a sound.
            pieces = sorted((one for one in pieces if one[1].frames), key=lambda one: one[1].frames)
            groups = [pieces[first : first + size] for first in range(0, len(pieces), size)]
            for number, mine in dealt(groups, draw, Share(batch_size, rank, ranks)):
                if draw.random() < data.sentence_share and len(rest) >= few * ranks:
                    sentences, rest = np.split(rest, [few * ranks])
                    mine = [(int(i), self.sentence(items[int(i)])) for i in sentences[rank::ranks]]
                if mine:
                    rests = (
                        np.random.default_rng([seed, at, number, rank])
                        if split == "train"
                        else None
                    )
                    yield self.batch(mine, items, rests)

    def draw(self, item: Item, draw: np.random.Generator) -> Piece:
        """A window of an item, with what is shown around it."""
        words = len(item.words)
        data = self.data
        size = min(words, int(draw.choice(data.windows)))
        first = int(draw.integers(words - size + 1))
        kind = draw.random()
        if kind < data.independent_share:
            return self.cutter.alone(item, first, first + size)
        piece = self.cutter.cut(item, first, first + size)
        if data.pastless_share and draw.random() < data.pastless_share:
            piece = replace(piece, past=NOTHING)
        return (
            replace(piece, future=NOTHING)
            if kind < data.independent_share + data.unicontext_share
            else piece
        )

    def sentence(self, item: Item) -> Piece:
        """All of an item."""
        return self.cutter.cut(item, 0, len(item.words))

    def batch(
        self,
        pieces: Sequence[tuple[int, Piece]],
        items: Sequence[Item],
        draw: np.random.Generator | None,
    ) -> dict[str, Tensor]:
        """Tensors of pieces with their items' numbers.

        ids (B, P), past, future (B, P) with their lengths (B,), frames (B, S, F) normalized, counts
        (B, T) frames that are to be learned, spoken (B,) how many, path (B, S, r) the phoneme of
        each frame, attended (B, S) and looked (B, S, P) before each step, ends (B, T) 1 from the
        last frame on, learned (B, S) steps that count."""
        r = self.config.reduction
        info = self.corpus.info
        mels = [
            items[number].mel[piece.first : piece.first + piece.frames] for number, piece in pieces
        ]
        steps = decoder_steps(mels, info, r)
        ids, lengths = padded([piece.ids for _, piece in pieces])
        past, past_lengths = padded([piece.past for _, piece in pieces])
        future, future_lengths = padded([piece.future for _, piece in pieces])
        shape = steps.learned.shape
        ends = np.zeros_like(steps.counts)
        path = np.zeros((*shape, r), np.int64)
        attended = np.zeros(shape, np.int64)
        looked = np.zeros((*shape, ids.shape[1]), np.float32)
        for row, (_, piece) in enumerate(pieces):
            count = int(steps.learned[row].sum())
            walk = path_of(
                piece.durations, count, reduction=r, window=self.config.window, draw=draw
            )
            path[row, :count] = np.minimum(walk.phonemes, len(piece.ids) - 1)
            attended[row, :count] = walk.attended
            attended[row, count:] = walk.attended[-1]
            ends[row, piece.frames - 1 :] = 1
            looked[row, np.arange(1, count), walk.attended[1:]] = 1
            looked[row] = looked[row].cumsum(0)
        numbers = [number for number, _ in pieces]
        counts = [piece.frames for _, piece in pieces]
        around = tensors(
            past=past, past_lengths=past_lengths, future=future, future_lengths=future_lengths
        )
        segment = tensors(
            items=numbers, ids=ids, lengths=lengths, spoken=counts, **steps._asdict(), ends=ends
        )
        return {**around, **segment, **tensors(path=path, attended=attended, looked=looked)}

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        decoded = model(*inputs(batch), self.data.sampling(step) if model.training else 0.0)
        total, parts = target_loss(decoded, batch, self.data, taught=self.config.taught)
        return total, logged(parts)

    @torch.no_grad()
    def samples(self, model: HasTacotron, folder: Path) -> None:
        """Validation sentences spoken freely, two words at a time, with the true future."""
        for _, item in examples(self.corpus.split("val"), self.data.samples):
            words = len(item.words)
            mel = speak(
                model.tacotron,
                [self.cutter.cut(item, at, min(at + 2, words)) for at in range(0, words, 2)],
            )
            write_sample(folder, item.name, self.corpus.info.front_end, item.mel, mel=mel)


class TacotronTraining(HasTacotron):
    """A Tacotron with fresh weights, as the loop trains it: texts around a segment in, frames
    out."""

    def __init__(self, config: TacotronConfig, corpus: Corpus) -> None:
        super().__init__()
        self.tacotron = Tacotron(config).scaled(corpus.info)

    def forward(
        self,
        texts: Texts,
        past: Texts,
        future: Texts,
        frames: Tensor,
        lengths: Tensor,
        taught: Taught,
        sampling: float,
    ) -> TacotronOutput:
        """``Tacotron.forward`` with the embedding of past and future."""
        embedding = self.tacotron.embedding(past, future)
        decoded: TacotronOutput = self.tacotron(texts, embedding, frames, lengths, taught, sampling)
        return decoded


class PartlyTrained(HasTacotron):
    """A trained Tacotron of which some parts are trained further."""

    def __init__(self, tacotron: Tacotron, parts: Sequence[str]) -> None:
        super().__init__()
        self.tacotron = tacotron.requires_grad_(False)
        for part in parts:
            tacotron.get_submodule(part).requires_grad_(True)

    def train(self, mode: bool = True) -> Self:
        """As of any module, but nothing drops out and statistics of normalization stay: what is
        fixed stays fixed."""
        super().train(mode)
        self.tacotron.train(False)
        return self


def checked(config: TacotronConfig, corpus: Corpus) -> TacotronConfig:
    """The configuration with the corpus's values; ConfigError where they do not match."""
    info = corpus.info
    phonemes = count_ids(info, config.phonemes)
    check_mels(info, config.n_mels)
    if len(config.context.filters) != len(config.context.strides):
        raise ConfigError("[model.context] filters and strides must be as many.")
    return replace(config, phonemes=phonemes)


def cutter(data: SaekiData, corpus: Corpus) -> SegmentCutter:
    """The cutter of the corpus's items."""
    return SegmentCutter(
        pad=corpus.info.pad,
        space=corpus.info.phonemes.get(" ", -1),
        past=data.past,
        lookahead=data.lookahead,
        end_mark=data.end_mark,
    )


def inputs(batch: Batch) -> tuple[Texts, Texts, Texts, Tensor, Tensor, Taught]:
    """The inputs of ``TacotronTraining`` from a batch."""
    texts, past, future = (
        Texts(batch[ids], batch[lengths])
        for ids, lengths in (
            ("ids", "lengths"),
            ("past", "past_lengths"),
            ("future", "future_lengths"),
        )
    )
    return (
        texts,
        past,
        future,
        batch["frames"],
        batch["spoken"],
        Taught(batch["attended"], batch["looked"]),
    )


def target_loss(
    decoded: TacotronOutput, batch: Batch, data: SaekiData, *, taught: bool
) -> tuple[Tensor, dict[str, Tensor]]:
    """Saeki-b's L_target: errors of frames before and after the postnet, and of the stop; with the
    alignment."""
    counts = batch["counts"]
    learned = batch["learned"]
    truth = batch["frames"].view(decoded.frames.shape)
    parts = dict[str, Tensor]()
    for name, frames in (("plain", decoded.frames), ("refined", decoded.refined)):
        wrong = frames.float() - truth
        parts[f"{name}_l1"] = average(wrong.abs().mean(-1), counts)
        parts[f"{name}_l2"] = average(wrong.square().mean(-1), counts)
    steps = learned.repeat_interleave(counts.shape[1] // learned.shape[1], 1)
    parts["stop"] = stop_error(decoded.stop, batch["ends"], steps, positive=data.stop_positive)
    loss = data.stop_weight * parts["stop"]
    for name in ("plain", "refined"):
        loss = loss + data.l1_weight * parts[f"{name}_l1"] + data.l2_weight * parts[f"{name}_l2"]
    if taught or data.alignment_weight:
        path = batch["path"] - (batch["attended"][..., None] if taught else 0)
        chances = (
            decoded.weights.gather(2, path.clamp(0, decoded.weights.shape[2] - 1))
            .clamp(min=-20)
            .mean(-1)
        )
        parts["alignment"] = -average(chances, learned)
        loss = loss + data.alignment_weight * parts["alignment"]
    if not taught:
        parts["guided"] = guided_attention(
            decoded.weights, batch["lengths"], learned, data.guided_width
        )
        loss = loss + data.guided_weight * parts["guided"]
        parts["aligned"] = aligned(decoded.weights, batch["path"], learned)
    return loss, parts


@torch.no_grad()
def aligned(weights: Tensor, path: Tensor, learned: Tensor) -> Tensor:
    """The share of free attention that is where the durations say: on a step's phonemes, or one
    beside them.

    Log weights (B, S, P), the phonemes (B, S, r) of each step's frames, steps (B, S) that count. It
    teaches nothing."""
    places = torch.arange(weights.shape[2], device=weights.device)
    first = path.amin(2, keepdim=True) - 1
    last = path.amax(2, keepdim=True) + 1
    return average((weights.exp() * ((places >= first) & (places <= last))).sum(-1), learned)


def texts_of(rows: Sequence[Numbers]) -> Texts:
    """Ids of texts, padded, as the network takes them."""
    ids, lengths = padded(rows)
    return Texts(torch.from_numpy(ids), torch.from_numpy(lengths))


@torch.no_grad()
def speak(
    model: Tacotron, pieces: Sequence[Piece], embeddings: Sequence[Tensor] | None = None
) -> Floats:
    """Log mel (T, n_mels) of segments spoken freely, each under its embedding, by default that of
    past and future."""
    if embeddings is None:
        embeddings = [
            model.embedding(texts_of([piece.past]), texts_of([piece.future]))[0] for piece in pieces
        ]
    parts = [
        generate(model, torch.from_numpy(piece.ids), one)
        for piece, one in zip(pieces, embeddings, strict=True)
    ]
    mel: Floats = torch.cat(parts).float().cpu().numpy()
    return mel
