"""Training a voice's policy when to wait: REINFORCE (Williams 1992) over tables, many prices and
paces in one network.

An action's advantage is what the rest of its episode cost less than that of other episodes with the
same sentence, clock and price (siblings), over its spread: the baseline needs no network. A batch
has prices and clocks of all kinds."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sayahead.config import from_mapping
from sayahead.contexts.baselines import common_words
from sayahead.contexts.word_vectors import WordVectors
from sayahead.errors import ConfigError
from sayahead.policies.learned import PRICES, Clues, Network, Reader
from sayahead.types import Floats
from sayahead.voice import Voice, load_voice
from sayahead.voices import located
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.corpus.batches import Share, shuffled, tensors
from sayahead_lab.training.learned.episodes import (
    Chooser,
    EpisodeOutcome,
    ReadingEpisodes,
    fixed,
    scales,
)
from sayahead_lab.training.learned.tables import PARTS, Tables, Values
from sayahead_lab.training.loop.task import Batch, Task

SHOWN_PRICES = (0.1, 0.3, 1.0, 3.0)
TERMS_MEAN = (0.0, 0.0, 0.3)
TERMS_SPREAD = (1.5, 1.2, 0.3)
"""Mean and spread, about, of what follows the clues in the network's input: price, pace, words
visible."""


@dataclass(frozen=True, slots=True)
class DecidingConfig:
    """Sizes of the network."""

    hidden: tuple[int, ...] = (32, 16)
    """Units of the layers between input and decision."""
    axes: int = 0
    """Channels of the frequent words' vectors, the first of the voice's own; 0: none."""
    mean: tuple[float, ...] = ()
    """Mean of each input; none: the train split's."""
    spread: tuple[float, ...] = ()
    """Its spread."""


@dataclass(frozen=True, slots=True)
class LearnedData:
    """Settings of the episodes and their loss."""

    siblings: int = 8
    """Episodes with each sentence, clock and price."""
    entropy: float = 0.01
    """Weight of the decisions' entropy at the start,"""
    entropy_steps: int = 3000
    """and the steps over which it falls to 0."""
    discount: float = 1.0
    """Discount of a decision's later costs, per word."""
    least_price: float = 0.03
    """Prices of the time in which a word comes are drawn from here, evenly in their logarithm,"""
    largest_price: float = 1.5
    """to here."""

    def __post_init__(self) -> None:
        if not 0 < self.least_price <= self.largest_price:
            raise ConfigError("[data] least_price must be above 0, and largest_price not below it.")
        if self.siblings < 2 or self.entropy_steps < 1:
            raise ConfigError("[data] siblings must be at least 2, and entropy_steps at least 1.")


class Deciding(nn.Module):
    """The network in training: inputs (M, F) -> logits of READ (M,); its input is normalized."""

    mean: Tensor
    """(F,) what is taken from the input."""
    spread: Tensor
    """(F,) what the rest is divided by."""

    def __init__(self, config: DecidingConfig) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(config.mean))
        self.register_buffer("spread", torch.tensor(config.spread))
        sizes = [len(config.mean), *config.hidden, 1]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
        nn.init.zeros_(self.layers[-1].get_parameter("weight"))

    def forward(self, inputs: Tensor) -> Tensor:
        x = (inputs - self.mean) / self.spread
        for number, layer in enumerate(self.layers):
            x = layer(torch.relu(x) if number else x)
        return x[:, 0]

    def arrays(self) -> tuple[tuple[Floats, Floats], ...]:
        """Weights and biases that take inputs as they are."""
        arrays = list[tuple[Floats, Floats]]()
        for number, layer in enumerate(self.layers):
            weight, bias = (
                layer.get_parameter(name).detach().cpu().double() for name in ("weight", "bias")
            )
            if number == 0:
                weight = weight / self.spread.cpu()
                bias = bias - weight @ self.mean.cpu().double()
            arrays.append((weight.numpy().astype(np.float32), bias.numpy().astype(np.float32)))
        return tuple(arrays)

    def choose(self, *, greedy: bool) -> Chooser:
        """Its decisions: drawn, or the likelier one."""

        def chosen(inputs: Floats, pending: object, draw: np.random.Generator) -> NDArray[np.bool_]:
            with torch.no_grad():
                logits = self(torch.from_numpy(inputs).to(self.mean.device)).cpu().numpy()
            bounds = (
                0 if greedy else np.log(1 / np.clip(draw.random(len(logits)), 1e-9, 1 - 1e-9) - 1)
            )
            return np.asarray(logits > bounds)

        return chosen


class LearnedTask(Task[Deciding]):
    """Training of a policy on tables of a voice's words."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Tables) -> None:
        self.config = from_mapping(DecidingConfig, model, where="[model]")
        self.data = from_mapping(LearnedData, data, where="[data]")
        self.corpus = corpus
        self.words, self.vectors = frequent(own_vectors(corpus.info.voice), self.config.axes)
        self._episodes = dict[str, ReadingEpisodes]()

    @classmethod
    def open(cls, folder: Path) -> Tables:
        return Tables(folder)

    @functools.cached_property
    def voice(self) -> Voice:
        """The voice of the policy."""
        return load_voice(self.corpus.info.voice)

    @functools.cached_property
    def clues(self) -> Clues:
        """Turns words into the network's input."""
        return Clues(
            reader(self.voice), {word: row for row, word in enumerate(self.words)}, self.vectors
        )

    def model(self) -> Deciding:
        if not self.config.mean:
            clues = self.episodes("train").clues
            rows = clues[np.abs(clues).sum(axis=-1) > 0]
            mean = rows.mean(axis=0)
            spread = np.maximum(rows.std(axis=0), 0.05)
            self.found = {
                "mean": [*mean.tolist(), *TERMS_MEAN],
                "spread": [*spread.tolist(), *TERMS_SPREAD],
            }
            self.config = replace(
                self.config, mean=tuple(self.found["mean"]), spread=tuple(self.found["spread"])
            )
        return Deciding(self.config)

    def network(self, model: Deciding) -> Network:
        """The policy of a trained model."""
        return Network(model.arrays(), self.words, self.vectors)

    def episodes(self, split: str) -> ReadingEpisodes:
        """The episodes of a split's tables, in the units of the train split; made once."""
        if split not in self._episodes:
            config = self.voice.config
            info = self.corpus.info
            self._episodes[split] = ReadingEpisodes(
                self.corpus.split(split),
                self.clues,
                self.voice.phonemizer.phonemes,
                scale=scales(self.corpus.split("train")),
                frame_s=config.hop_length / config.sample_rate,
                hold_back_s=info.hold_back_s,
            )
        return self._episodes[split]

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        """Each sentence once, on a clock and at a price that are drawn."""
        episodes = self.episodes(split)
        share = Share(batch_size, rank, ranks)
        bounds = np.log([self.data.least_price, self.data.largest_price])
        for first, sentences in shuffled(
            len(episodes.counts), np.random.default_rng([seed, 41]), share
        ):
            draw = np.random.default_rng([seed, first, rank, 41])
            clock = draw.integers(len(episodes.clocks), size=len(sentences))
            prices = np.exp(draw.uniform(bounds[0], bounds[1], size=len(sentences)))
            prices = np.clip(prices * episodes.words_per_min[clock] / 60, *PRICES)
            yield tensors(
                sentence=sentences, clock=clock, price=prices, seed=draw.integers(2**31, size=1)
            )

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """The policy's loss; of a validation, whose decisions are the likelier ones, the cost of a
        word."""
        data = self.data
        training = model.training
        deciding: Any = getattr(model, "module", model)
        siblings = data.siblings if training else 1
        rows = {name: np.repeat(values.cpu().numpy(), siblings) for name, values in batch.items()}
        prices = rows["price"]
        draw = np.random.default_rng(int(batch["seed"]))
        chooser = deciding.choose(greedy=not training)
        episodes = self.episodes("train" if training else "val")
        outcome = episodes.play(rows["sentence"], rows["clock"], prices, chooser, draw)
        cost = float(weighed(outcome, prices).sum() / outcome.words.sum())
        device = deciding.mean.device
        logits = model(torch.from_numpy(outcome.steps.inputs).to(device))
        entropy = functional.binary_cross_entropy_with_logits(logits, torch.sigmoid(logits))
        parts = {"cost": cost, "entropy": float(entropy.detach())}
        if not training:
            return torch.tensor(cost), parts
        gain = advantages(outcome, prices, siblings=siblings, discount=data.discount)
        gain = gain[outcome.steps.episode, outcome.steps.word]
        gains = torch.from_numpy((gain / (gain.std() + 1e-6)).astype(np.float32)).to(device)
        choices = torch.from_numpy(outcome.steps.read.astype(np.float32)).to(device)
        likelihood = -functional.binary_cross_entropy_with_logits(logits, choices, reduction="none")
        weight = data.entropy * max(0.0, 1 - step / data.entropy_steps)
        return -(gains * likelihood).mean() - weight * entropy, parts

    def samples(self, model: Deciding, folder: Path) -> None:
        """Write ``val.json``, the means of fixed lookahead and of the policy on the val split, by
        clock."""
        units = dict(
            zip(
                (part.partition(",")[0] for part in PARTS),
                scales(self.corpus.split("train")),
                strict=True,
            )
        )
        rows = compared(self.episodes("val"), model)
        table = {"units": {name: float(value) for name, value in units.items()}, "val": rows}
        (folder / "val.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def usual(prices: Values) -> Values:
    """(B,) typical cost of a word at prices (B,): divided by it, episodes at all prices weigh
    alike."""
    return 0.5 + 0.3 * prices


def weighed(outcome: EpisodeOutcome, prices: Values) -> Values:
    """(B, N) costs of words over the typical ones at their prices."""
    return outcome.cost(prices) / usual(prices)[:, None]


def advantages(
    outcome: EpisodeOutcome, prices: Values, *, siblings: int, discount: float
) -> Values:
    """(B, N) what the rest of each episode from each word on cost less than expected of it.

    That is its siblings' mean, which lie side by side, and by least squares what follows from how
    it stood otherwise than they before that word.
    """
    cost = weighed(outcome, prices)
    rest = np.zeros_like(cost)
    total = np.zeros(len(cost))
    for word in range(cost.shape[1] - 1, -1, -1):
        total = cost[:, word] + discount * total
        rest[:, word] = total
    left = np.cumsum(outcome.words[:, ::-1], axis=1)[:, ::-1][..., None] / 10
    weight = (prices / usual(prices))[:, None, None]
    stood = np.concatenate(
        [outcome.begun * share for share in (1.0, left, weight, weight * left)], axis=2
    )
    dearer = against(rest[..., None], siblings)[outcome.words][:, 0]
    other = against(stood, siblings)[outcome.words]
    covariance = other.T @ other + 1e-3 * np.eye(other.shape[1])
    gain = np.zeros_like(rest)
    gain[outcome.words] = other @ np.linalg.solve(covariance, other.T @ dearer) - dearer
    return gain


def against(values: Values, siblings: int) -> Values:
    """(B, N, K) less the mean of the others among the ``siblings`` beside it."""
    grouped = values.reshape(-1, siblings, *values.shape[1:])
    others = (grouped.sum(axis=1, keepdims=True) - grouped) / (siblings - 1)
    return np.asarray((grouped - others).reshape(values.shape))


def compared(
    episodes: ReadingEpisodes, model: Deciding, *, prices: Sequence[float] = SHOWN_PRICES
) -> dict[str, dict[str, float]]:
    """Means of fixed lookahead and of the greedy policy over all sentences, by clock and name."""
    every = np.arange(len(episodes.counts))
    draw = np.random.default_rng(0)
    rows = {}
    for number, clock in enumerate(episodes.clocks):
        on = np.full(len(every), number)
        for k in range(4):
            rows[f"{clock}, k = {k}"] = episodes.play(
                every, on, np.ones(len(every)), fixed(k), draw
            ).means()
        for price in prices:
            outcome = episodes.play(
                every, on, np.full(len(every), price), model.choose(greedy=True), draw
            )
            rows[f"{clock}, price {price:g}"] = outcome.means()
    return rows


def frequent(vectors: WordVectors | None, axes: int) -> tuple[tuple[str, ...], Floats]:
    """Frequent words, and the first axes of their vectors, each axis of unit spread."""
    if vectors is None or not axes:
        return (",",), np.zeros((1, 0), np.float32)
    words = tuple(word for word in common_words() if word in vectors.words)
    rows = vectors(list(words))[:, :axes]
    return words, (rows / rows.std(axis=0)).astype(np.float16).astype(np.float32)


def own_vectors(voice: str) -> WordVectors | None:
    """The word vectors of a voice, by its name or its folder, where it has some."""
    path = located(voice) / "words.npz"
    return WordVectors.load(path) if path.is_file() else None


def reader(voice: Voice) -> Reader:
    """The voice's front end; ConfigError where it knows no parts of speech."""
    if not isinstance(voice.phonemizer, Reader):
        raise ConfigError(
            f"The voice {voice.config.name!r} has a front end that knows no parts of speech."
        )
    return voice.phonemizer
