"""Training of the network that makes a speaker of an embedding: on people, and on mixtures of
people.

A step speaks crops of sentences as the network would have people sound, and compares their
embeddings with the people's. What holds the sound natural is the balance of noise and pulses, which
stays near that of the blend from which a speaker is made.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from sayahead.engine.files import save_arrays
from sayahead.types import Floats, Ids
from sayahead.voices.install.clip.embedding import PARTIAL, WIDTH, Embedder, unit
from torch import Tensor

from sayahead_lab.training.clip.embedding import arrays_of, embedder_weights, load_speaker_embedder
from sayahead_lab.training.clip.family import (
    Family,
    IntonedSentence,
    at_pitch,
    balance,
    columns,
    pitches,
    pulses_above,
    sound_of,
)
from sayahead_lab.training.clip.network import Bank, SpeakerNetwork, SpeakerNetworkConfig, exported
from sayahead_lab.training.clip.people import CLIP_S, Person, listed, measured, person_estimate
from sayahead_lab.training.corpus.teacher import load_reader, split

CROP = 144
"""Frames of 12.5 ms of a crop."""
EDGE = 7
"""Frames at a crop's begin that are not compared: its convolutions have seen nothing there."""
HOP = 300
CHECKPOINT = "checkpoint.pt"
LOG = "log.jsonl"
NEAR = 3
"""Blends from any of which a speaker is made."""


@dataclass(frozen=True, slots=True)
class ClipRecipe:
    """A training's settings."""

    name: str
    """What it is called."""
    family: str
    """Archive of the family's run."""
    people: str
    """The list of who is for what."""
    seed: int = 1
    steps: int = 20_000
    sentences: int = 48
    """Sentences that are spoken, each with the prosody of every speaker of the family."""
    blends: int = 240
    """Blends in the bank, besides the speakers themselves."""
    batch: int = 3
    """People of a step."""
    crops: int = 2
    """Crops of each."""
    rate: float = 1e-3
    hold: float = 0.5
    """Weight of the balance of pulses, noise and the rest."""
    hold_above: float = 0.05
    """Weight of the level above what is compared with people."""
    pull: float = 0.01
    """Weight of the mean square of offsets, in deviations of the family's speakers."""
    mixed: float = 0.5
    """Share of people who are mixtures of two."""
    network: SpeakerNetworkConfig = field(default_factory=SpeakerNetworkConfig)


def ids_of(text: str, reader: Any) -> Ids:
    """(P,) phonemes of a sentence."""
    from sayahead.text.reading.stream import normalize

    spoken = [
        word.ids for words in split(normalize(text)) for word in reader.phonemize(words, left=[])
    ]
    return np.concatenate(spoken).astype(np.int64)


def make_bank(
    family: Family, sentences: Sequence[Ids], embed: Callable[[Tensor], Tensor], blends: int
) -> Bank:
    """Every speaker, and random blends of two to four, saying a sentence."""
    draw = np.random.default_rng(1)
    count = len(family.names)
    shares = []
    embeddings = []
    f0 = []
    for number in range(count + blends):
        share = np.eye(count)[number % count]
        if number >= count:
            few = draw.choice(count, draw.integers(2, 5), replace=False)
            share = np.zeros(count)
            share[few] = draw.dirichlet(np.ones(len(few)))
        code = torch.from_numpy(share.astype(np.float32)) @ family.codes
        spoken = family.prosody(sentences[number % len(sentences)], code)
        with torch.no_grad():
            parts = family.parts(code[None], [spoken], [0], len(spoken.f0))
            embeddings.append(embed(sound_of(parts, spoken.f0[None])[0]).numpy())
        shares.append(share)
        f0.append(np.median(spoken.f0[spoken.f0 > 40]))
    return Bank(*(np.asarray(rows, np.float32) for rows in (shares, embeddings, f0)))


class Someone(NamedTuple):
    """Who is to be imitated."""

    clip: Floats
    """(256,) the embedding of a part of a recording."""
    f0: float
    """Median pitch in Hz."""
    whole: Floats
    """(256,) the embedding of all of it: what the network shall make of the part."""


class ClipTraining:
    """A training's state, in a folder: stopped at any time, it goes on from its last checkpoint."""

    def __init__(self, recipe: ClipRecipe, out: Path, audio: Path, texts: Sequence[str]) -> None:
        """``audio``: the folder of the people's recordings; ``texts``: sentences, of which the
        first are used."""
        torch.manual_seed(recipe.seed)
        self.recipe = recipe
        self.out = out
        out.mkdir(parents=True, exist_ok=True)
        self.family = Family(Path(recipe.family))
        self.embed = load_speaker_embedder(embedder_weights())
        own = Embedder(arrays_of(self.embed))
        everyone = Path(recipe.people)
        self.train, self.validation = (
            measured(audio, listed(everyone, part), own, out / f"{part}.npz")
            for part in ("train", "validation")
        )
        reader = load_reader(True)
        sentences = [ids_of(text, reader) for text in texts[: recipe.sentences]]
        self.spoken = self._prosodies(sentences)
        self.bank = self._bank(sentences)
        self.network = SpeakerNetwork(recipe.network, self.family.codes, self.family.sound_numbers)
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), lr=recipe.rate, betas=(0.9, 0.98)
        )
        self.average = {name: value.clone() for name, value in self.network.state_dict().items()}
        self.step = 0
        if (out / CHECKPOINT).exists():
            self._restore()

    def _prosodies(self, sentences: Sequence[Ids]) -> list[list[IntonedSentence]]:
        """By speaker, each sentence."""
        return [
            [self.family.prosody(ids, code, speaker) for ids in sentences]
            for speaker, code in enumerate(self.family.codes)
        ]

    def _bank(self, sentences: Sequence[Ids]) -> Bank:
        path = self.out / "bank.npz"
        if not path.exists():
            bank = make_bank(self.family, sentences[:8], self.embed, self.recipe.blends)
            np.savez(path, **asdict(bank))
        with np.load(path) as file:
            return Bank(**{name: file[name] for name in file.files})

    def _restore(self) -> None:
        state = torch.load(self.out / CHECKPOINT, weights_only=True)
        self.network.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.average = state["average"]
        self.step = state["step"]

    def save(self) -> None:
        """Write a checkpoint in the last one's place."""
        state: dict[str, Any] = {
            "model": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }
        state |= {
            "average": self.average,
            "step": self.step,
            "network": asdict(self.recipe.network),
        }
        torch.save(state, self.out / f"{CHECKPOINT}.new")
        os.replace(self.out / f"{CHECKPOINT}.new", self.out / CHECKPOINT)

    def run(self, minutes: float, note: Callable[[str], None] = print) -> None:
        """Train for so many minutes, or until the recipe's steps are done."""
        began = time.monotonic()
        shown = list[dict[str, float]]()
        while self.step < self.recipe.steps and time.monotonic() - began < 60 * minutes:
            shown.append(self.learn())
            if self.step % 50 == 0:
                means = {
                    key: round(float(np.mean([row[key] for row in shown])), 4) for key in shown[0]
                }
                shown.clear()
                if self.step % 250 == 0:
                    means["validation"] = round(self.validate(), 4)
                self._log(means)
                note(f"{self.step}: {means}")
            if self.step % 100 == 0:
                self.save()
        self.save()

    def _log(self, row: dict[str, float]) -> None:
        with (self.out / LOG).open("a") as log:
            log.write(json.dumps({"step": self.step, **row}) + "\n")

    def learn(self) -> dict[str, float]:
        """One step; its errors."""
        draw = np.random.default_rng([self.recipe.seed, self.step])
        wanted = [self.someone(draw) for _ in range(self.recipe.batch)]
        done = self.step / self.recipe.steps
        for group in self.optimizer.param_groups:
            group["lr"] = (
                self.recipe.rate * min(1.0, (self.step + 1) / 25) * (0.05 + 0.95 * (1 - done))
            )
        loss, errors = self.errors(wanted, draw)
        self.optimizer.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 0.5)
        self.optimizer.step()
        self.step += 1
        keep = min(0.998, self.step / (self.step + 10))
        for name, value in self.network.state_dict().items():
            if value.is_floating_point():
                self.average[name].lerp_(value, 1 - keep)
        return errors

    def someone(self, draw: np.random.Generator) -> Someone:
        """Someone of the people, or a mixture of two."""
        people = [self.train[int(draw.integers(len(self.train)))] for _ in range(2)]
        share = float(draw.uniform(0.2, 0.8)) if draw.random() < self.recipe.mixed else 1.0
        clip = np.zeros(WIDTH, np.float32)
        whole = np.zeros(WIDTH, np.float32)
        f0 = 1.0
        for one, part in zip(people, (share, 1 - share), strict=True):
            windows = int(draw.integers(5, 11))
            begin = int(draw.integers(0, max(1, len(one.partials) - windows)))
            clip += part * unit(one.partials[begin : begin + windows].mean(0))
            whole += part * unit(one.partials.mean(0))
            f0 *= max(one.f0, 60.0) ** part
        return Someone(unit(clip), f0, unit(whole))

    def errors(
        self, people: Sequence[Someone], draw: np.random.Generator
    ) -> tuple[Tensor, dict[str, float]]:
        """How unlike the people crops are that are spoken as they, and how far the balance is from
        the blends'."""
        recipe = self.recipe
        wanted = [(one.clip, one.f0) for one in people]
        blends = [int(draw.choice(self.bank.nearest(*one, NEAR))) for one in wanted]
        target = torch.from_numpy(np.stack([one.whole for one in people]))
        asked = torch.from_numpy(np.stack([one.clip for one in people]))
        moved = self.moved(asked, wanted, blends)
        base = torch.from_numpy(self.bank.shares[blends]) @ self.family.codes
        codes = self.network.added(base, moved)
        spoken = list[IntonedSentence]()
        begins = list[int]()
        for (_, f0), blend in zip(wanted, blends, strict=True):
            for _ in range(recipe.crops):
                one = self.sentence(f0, blend, draw)
                spoken.append(one)
                begins.append(int(draw.integers(0, max(1, len(one.f0) - CROP + 10))))
        parts = self.family.parts(codes.repeat_interleave(recipe.crops, 0), spoken, begins, CROP)
        with torch.no_grad():
            before = self.family.parts(
                base.repeat_interleave(recipe.crops, 0), spoken, begins, CROP
            )
        held = (balance(parts) - balance(before)).abs().mean()
        above = (pulses_above(parts) - pulses_above(before)).abs().mean()
        samples = sound_of(parts, pitches(spoken, begins, CROP), self.step)[:, EDGE * HOP :]
        partials = self.embed.partials(self.embed.mel(samples)[:, :PARTIAL])
        likeness = torch.nn.functional.cosine_similarity(
            partials.view(-1, recipe.crops, WIDTH).mean(1), target
        )
        size = moved.square().mean()
        loss = (1 - likeness).mean() + recipe.hold * held + recipe.pull * size
        loss = loss + recipe.hold_above * above
        told = {"likeness": likeness.mean(), "held": held, "above": above, "size": size}
        return loss, {name: value.item() for name, value in told.items()}

    def moved(
        self, target: Tensor, wanted: Sequence[tuple[Floats, float]], blends: Sequence[int]
    ) -> Tensor:
        """(B, N) the network's offsets from the nearest blends."""
        near = torch.from_numpy(self.bank.embeddings[list(blends)])
        pitch = torch.tensor(
            [
                np.log(f0 / self.bank.f0[blend])
                for (_, f0), blend in zip(wanted, blends, strict=True)
            ]
        )
        offsets: Tensor = self.network(target, near, pitch.float())
        return offsets

    def sentence(self, f0: float, blend: int, draw: np.random.Generator) -> IntonedSentence:
        """A sentence with the prosody of one of a blend's speakers, at a pitch in Hz."""
        share = self.bank.shares[blend].astype(np.float64)
        speaker = int(draw.choice(len(share), p=share / share.sum()))
        return at_pitch(self.spoken[speaker][int(draw.integers(len(self.spoken[speaker])))], f0)

    def averaged(self) -> SpeakerNetwork:
        """The network with the mean of its last weights."""
        network = SpeakerNetwork(self.recipe.network, self.family.codes, self.family.sound_numbers)
        network.load_state_dict(self.average)
        return network.eval()

    @torch.no_grad()
    def validate(self) -> float:
        """Mean similarity of two crops each to the rest of the validation people's recordings."""
        learning = self.network
        self.network = self.averaged()
        draw = np.random.default_rng(5)
        found = []
        for one in self.validation:
            wanted, rest = halves(one)
            found.append(self.heard(wanted, rest, one, draw))
        self.network = learning
        return float(np.mean(found))

    def heard(self, wanted: Floats, rest: Floats, one: Person, draw: np.random.Generator) -> float:
        """Similarity of a person's crops to the rest of the recording, made of the begin."""
        blend = self.bank.nearest(wanted, one.f0)[0]
        target = torch.from_numpy(wanted[None])
        base = torch.from_numpy(self.bank.shares[[blend]]) @ self.family.codes
        codes = self.network.added(base, self.moved(target, [(wanted, one.f0)], [blend]))
        spoken = [self.sentence(one.f0, blend, draw) for _ in range(2)]
        parts = self.family.parts(codes.expand(2, -1), spoken, [8, 8], CROP)
        samples = sound_of(parts, pitches(spoken, [8, 8], CROP))[:, EDGE * HOP :]
        partials = self.embed.partials(self.embed.mel(samples)[:, :PARTIAL]).mean(0).numpy()
        return float(unit(partials) @ rest)


def export(recipe: ClipRecipe, run: Path, file: Path) -> None:
    """Write what makes speakers without PyTorch (``clip.npz``), of a run's averaged weights."""
    family = Family(Path(recipe.family))
    state = torch.load(run / CHECKPOINT, weights_only=True)
    network = SpeakerNetwork(
        SpeakerNetworkConfig(**state["network"]), family.codes, family.sound_numbers
    )
    network.load_state_dict(state["average"])
    with np.load(run / "bank.npz") as arrays:
        bank = Bank(**{name: arrays[name] for name in arrays.files})
    embedder = arrays_of(load_speaker_embedder(embedder_weights()))
    names = listed(Path(recipe.people), "train")
    person = person_estimate(measured(Path(), names, Embedder(embedder), run / "train.npz"))
    save_arrays(file, exported(network, bank, columns(family), embedder, person))


def halves(one: Person) -> tuple[Floats, Floats]:
    """Embeddings of the first seconds of a recording, and of what comes after them."""
    clip = round(100 * (CLIP_S - 1.6) / (PARTIAL // 2)) + 1
    after = round(100 * CLIP_S / (PARTIAL // 2))
    return unit(one.partials[:clip].mean(0)), unit(
        one.partials[min(after, len(one.partials) - 3) :].mean(0)
    )
