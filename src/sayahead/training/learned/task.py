"""Teaching a voice when to wait: REINFORCE (Williams 1992) over tables, many prices and paces in one network.

    python -m sayahead.training.learned.task tables RUN --texts train.csv --val val.csv
    python -m sayahead.training.learned.task train benchmarks/policy/learned.toml RUN
    python -m sayahead.training.learned.task export RUN VOICE-FOLDER

An action's advantage is what the rest of its episode cost less than that of other episodes with the same sentence,
clock and price (siblings), over its spread: the baseline needs no network. A batch has prices and clocks of all kinds.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from sayahead.config import from_mapping
from sayahead.contexts.word_vectors import WordVectors
from sayahead.errors import ConfigError
from sayahead.policies.learned import PRICES, Clues, Network
from sayahead.text.english.common_words import COMMON_WORDS
from sayahead.text.phonemizer import EnglishPhonemizer
from sayahead.training.learned.episodes import Chooser, Episodes, Outcome, fixed, scales
from sayahead.training.learned.tables import Values, load_tables, make_tables, save_tables
from sayahead.types import Floats
from sayahead.voice import Voice, load_voice

SPLITS = ("train", "val")
SHOWN_PRICES = (0.1, 0.3, 1.0, 3.0)


@dataclass(frozen=True, slots=True)
class Settings:
    """A recipe's keys."""

    steps: int
    """Updates."""
    hidden: tuple[int, ...] = (32, 16)
    """Units of the layers between input and decision."""
    axes: int = 0
    """Channels of the frequent words' vectors, the first of the voice's own; 0: none."""
    sentences: int = 64
    """Sentences of a batch."""
    siblings: int = 8
    """Episodes with each sentence, clock and price."""
    learning_rate: float = 1e-2
    """Adam's at the beginning; it falls to 0 over the run."""
    entropy: float = 0.01
    """Weight of the decisions' entropy at the beginning; it falls to 0, too."""
    discount: float = 1.0
    """By which what a decision costs is discounted, a word."""
    least_price: float = 0.03
    """Prices of the time in which a word comes are drawn from here, evenly in their logarithm,"""
    largest_price: float = 1.5
    """to here."""
    seed: int = 0
    """Fixes weights, sentences and actions."""


def load_settings(path: Path) -> Settings:
    """The settings of a recipe; ConfigError names what does not fit."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as a recipe: {error}.") from error
    made = from_mapping(Settings, data, where=str(path))
    if not 0 < made.least_price <= made.largest_price:
        raise ConfigError(f"{path}: least_price and largest_price must be above 0, the largest not below the least.")
    if made.siblings < 2 or made.sentences < 1 or made.steps < 1:
        raise ConfigError(f"{path}: siblings must be at least 2, sentences and steps at least 1.")
    return made


class Deciding(nn.Module):
    """The network in training: inputs (M, F) -> logits of READ (M,); its input is normalized."""

    mean: Tensor
    spread: Tensor

    def __init__(self, mean: Floats, spread: Floats, hidden: Sequence[int]) -> None:
        super().__init__()
        self.register_buffer("mean", torch.from_numpy(mean))
        self.register_buffer("spread", torch.from_numpy(spread))
        sizes = [len(mean), *hidden, 1]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
        last = self.layers[-1]
        assert isinstance(last, nn.Linear)
        nn.init.zeros_(last.weight)

    def forward(self, inputs: Tensor) -> Tensor:
        x = (inputs - self.mean) / self.spread
        for number, layer in enumerate(self.layers):
            x = layer(torch.relu(x) if number else x)
        return x[:, 0]

    def arrays(self) -> tuple[tuple[Floats, Floats], ...]:
        """Weights and biases that take inputs as they are."""
        made = []
        for number, layer in enumerate(self.layers):
            assert isinstance(layer, nn.Linear)
            weight, bias = layer.weight.detach().double(), layer.bias.detach().double()
            if number == 0:
                weight = weight / self.spread
                bias = bias - weight @ self.mean.double()
            made.append((weight.numpy().astype(np.float32), bias.numpy().astype(np.float32)))
        return tuple(made)

    def choose(self, *, greedy: bool) -> Chooser:
        """Its decisions: drawn, or the likelier one."""

        def chosen(
            inputs: Floats, pending: object, draw: np.random.Generator
        ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
            with torch.no_grad():
                logits = self(torch.from_numpy(inputs)).numpy()
            return np.asarray(
                logits > (0 if greedy else np.log(1 / np.clip(draw.random(len(logits)), 1e-9, 1 - 1e-9) - 1))
            )

        return chosen


def advantages(outcome: Outcome, prices: Values, *, siblings: int, discount: float) -> Values:
    """(B, N) what the rest of each episode from each word on cost less than expected of it.

    That is its siblings' mean, which lie side by side, and by least squares what follows from how it stood otherwise
    than they before that word. Costs are divided by ``0.5 + 0.3 price``, so that episodes at all prices weigh alike.
    """
    cost = outcome.cost(prices) / (0.5 + 0.3 * prices)[:, None]
    rest, total = np.zeros_like(cost), np.zeros(len(cost))
    for word in range(cost.shape[1] - 1, -1, -1):
        total = cost[:, word] + discount * total
        rest[:, word] = total
    left = np.cumsum(outcome.words[:, ::-1], axis=1)[:, ::-1][..., None] / 10
    weight = (prices / (0.5 + 0.3 * prices))[:, None, None]
    stood = np.concatenate([outcome.begun * share for share in (1.0, left, weight, weight * left)], axis=2)
    dearer, other = against(rest[..., None], siblings)[outcome.words][:, 0], against(stood, siblings)[outcome.words]
    known = other.T @ other + 1e-3 * np.eye(other.shape[1])
    gain = np.zeros_like(rest)
    gain[outcome.words] = other @ np.linalg.solve(known, other.T @ dearer) - dearer
    return gain


def against(values: Values, siblings: int) -> Values:
    """(B, N, K) less the mean of the others among so many that lie side by side."""
    grouped = values.reshape(-1, siblings, *values.shape[1:])
    others = (grouped.sum(axis=1, keepdims=True) - grouped) / (siblings - 1)
    return np.asarray((grouped - others).reshape(values.shape))


def train(settings: Settings, episodes: Episodes, *, log: Path, checked: Episodes | None = None) -> Deciding:
    """The network after all steps; a line of JSON to ``log`` every hundred."""
    torch.manual_seed(settings.seed)
    draw = np.random.default_rng([settings.seed, 41])
    inputs = episodes.clues.reshape(-1, episodes.clues.shape[-1])
    inputs = inputs[np.abs(inputs).sum(axis=1) > 0]
    own = (0.0, 0.0, 0.3), (1.5, 1.2, 0.3)
    mean, spread = np.append(inputs.mean(axis=0), own[0]), np.append(np.maximum(inputs.std(axis=0), 0.05), own[1])
    model = Deciding(mean.astype(np.float32), spread.astype(np.float32), settings.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)
    bounds = np.log([settings.least_price, settings.largest_price])
    begun_s, lines = time.monotonic(), list[dict[str, float]]()
    for step in range(settings.steps):
        left = 1 - step / settings.steps
        optimizer.param_groups[0]["lr"] = settings.learning_rate * left
        chosen = draw.integers(len(episodes.counts), size=settings.sentences)
        clock = draw.integers(len(episodes.clocks), size=settings.sentences)
        prices = np.exp(draw.uniform(bounds[0], bounds[1], size=settings.sentences))
        prices = np.clip(prices * episodes.words_per_min[clock] / 60, *PRICES)
        chosen, clock, prices = (np.repeat(values, settings.siblings) for values in (chosen, clock, prices))
        outcome = episodes.play(chosen, clock, prices, model.choose(greedy=False), draw)
        gain = advantages(outcome, prices, siblings=settings.siblings, discount=settings.discount)
        gain = gain[outcome.steps.episode, outcome.steps.word]
        gain = gain / (gain.std() + 1e-6)
        logits = model(torch.from_numpy(outcome.steps.inputs))
        taken = torch.from_numpy(outcome.steps.read.astype(np.float32))
        likelihood = -functional.binary_cross_entropy_with_logits(logits, taken, reduction="none")
        entropy = functional.binary_cross_entropy_with_logits(logits, torch.sigmoid(logits))
        loss = -(torch.from_numpy(gain.astype(np.float32)) * likelihood).mean() - settings.entropy * left * entropy
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        cost = outcome.cost(prices) / (0.5 + 0.3 * prices)[:, None]
        lines.append({"cost": float(cost.sum() / outcome.words.sum()), "entropy": float(entropy.detach())})
        if (step + 1) % 100 == 0:
            line = {key: float(np.mean([one[key] for one in lines])) for key in lines[0]}
            line |= {"step": step + 1, "seconds": time.monotonic() - begun_s}
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps({key: round(value, 4) for key, value in line.items()}) + "\n")
            print(line, flush=True)
            lines.clear()
    return model


def compared(
    episodes: Episodes, model: Deciding, *, prices: Sequence[float] = SHOWN_PRICES
) -> dict[str, dict[str, float]]:
    """Means of fixed lookahead and of the greedy policy over all sentences, by clock and name."""
    every, draw = np.arange(len(episodes.counts)), np.random.default_rng(0)
    rows = {}
    for number, clock in enumerate(episodes.clocks):
        on = np.full(len(every), number)
        for k in range(4):
            rows[f"{clock}, k = {k}"] = episodes.play(every, on, np.ones(len(every)), fixed(k), draw).means()
        for price in prices:
            made = episodes.play(every, on, np.full(len(every), price), model.choose(greedy=True), draw)
            rows[f"{clock}, price {price:g}"] = made.means()
    return rows


def frequent(vectors: WordVectors | None, axes: int) -> tuple[tuple[str, ...], Floats]:
    """Frequent words, and the first axes of their vectors, each axis of unit spread."""
    if vectors is None or not axes:
        return (",",), np.zeros((1, 0), np.float32)
    words = tuple(word for word in COMMON_WORDS if word in vectors.words)
    found = vectors(list(words))[:, :axes]
    return words, (found / found.std(axis=0)).astype(np.float16).astype(np.float32)


def own_vectors(voice_folder: Path) -> WordVectors | None:
    """A voice's word vectors, where it has some."""
    path = voice_folder / "words.npz"
    return WordVectors.load(path) if path.is_file() else None


def run_tables(arguments: argparse.Namespace) -> None:
    """Make the tables of both splits in the run's folder."""
    voice = load_voice(arguments.voice)
    arguments.run.mkdir(parents=True, exist_ok=True)
    for split, path, count in zip(SPLITS, (arguments.texts, arguments.val), (arguments.count, 100), strict=True):
        lines = path.read_text(encoding="utf-8").splitlines()[:count]
        texts = [line.split("|", 1)[1] for line in lines]
        tables = make_tables(voice, texts, hold_back_s=voice.config.defaults.hold_back_s, seed=arguments.seed)
        save_tables(arguments.run / f"{split}.npz", tables)
        print(f"{split}: {len(tables)} sentences of {len(texts)} texts", flush=True)


def episodes_of(run: Path, voice: Voice, clues: Clues, split: str) -> Episodes:
    """The episodes of a split's tables, in the units of the train split."""
    units = scales(load_tables(run / "train.npz"))
    tables = load_tables(run / f"{split}.npz")
    config = voice.config
    return Episodes(
        tables, clues, voice.phonemizer.phonemes, scale=units, frame_s=config.hop_length / config.sample_rate,
        hold_back_s=config.defaults.hold_back_s,
    )  # fmt: skip


def reader(voice: Voice) -> EnglishPhonemizer:
    """The voice's phonemizer; ConfigError where it knows no parts of speech."""
    if not isinstance(voice.phonemizer, EnglishPhonemizer):
        raise ConfigError(f"The voice {voice.config.name!r} has no English front end.")
    return voice.phonemizer


def run_train(arguments: argparse.Namespace) -> None:
    """Teach a network on the run's tables; it, its log and its means on the val split go into the folder."""
    from sayahead.voices import installed_voices

    settings = load_settings(arguments.recipe)
    if arguments.steps:
        settings = replace(settings, steps=arguments.steps)
    voice = load_voice(arguments.voice)
    folder = installed_voices().get(arguments.voice, Path(arguments.voice))
    words, vectors = frequent(own_vectors(folder), settings.axes)
    clues = Clues(reader(voice), {word: row for row, word in enumerate(words)}, vectors)
    log = arguments.run / "log.jsonl"
    log.unlink(missing_ok=True)
    model = train(settings, episodes_of(arguments.run, voice, clues, "train"), log=log)
    Network(model.arrays(), words, vectors).save(arguments.run / "policy.npz")
    rows = compared(episodes_of(arguments.run, voice, clues, "val"), model)
    for name, row in rows.items():
        print(f"{name:28}", *(f"{key} {value:.3f}" for key, value in row.items()))
    units = dict(zip(("duration", "pitch", "frames"), scales(load_tables(arguments.run / "train.npz")), strict=True))
    found = {"units": {key: float(value) for key, value in units.items()}, "val": rows}
    (arguments.run / "val.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def run_export(arguments: argparse.Namespace) -> None:
    """Put the run's network into a voice's folder, and into its voice.json."""
    path = arguments.folder / "policy.npz"
    path.write_bytes((arguments.run / "policy.npz").read_bytes())
    about = arguments.folder / "voice.json"
    config = json.loads(about.read_text(encoding="utf-8"))
    config["files"][path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    config["files"] = dict(sorted(config["files"].items()))
    config["learned"] = {"weights": path.name}
    about.write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Teach a voice when to wait.")
    commands = parser.add_subparsers(required=True)
    add = commands.add_parser("tables", help="what each word is like with none to three words of lookahead")
    add.add_argument("run", type=Path, help="folder of the run")
    add.add_argument("--texts", type=Path, required=True, help="name|text lines to learn from")
    add.add_argument("--val", type=Path, required=True, help="name|text lines to check on")
    add.add_argument("--count", type=int, default=400, help="how many texts to learn from")
    add.add_argument("--voice", default="heart")
    add.add_argument("--seed", type=int, default=0)
    add.set_defaults(run_command=run_tables)
    add = commands.add_parser("train", help="teach a network on the tables")
    add.add_argument("recipe", type=Path)
    add.add_argument("run", type=Path)
    add.add_argument("--steps", type=int)
    add.add_argument("--voice", default="heart")
    add.set_defaults(run_command=run_train)
    add = commands.add_parser("export", help="put the network into a voice's folder")
    add.add_argument("run", type=Path)
    add.add_argument("folder", type=Path)
    add.set_defaults(run_command=run_export)
    arguments = parser.parse_args()
    arguments.run_command(arguments)


if __name__ == "__main__":
    main()
