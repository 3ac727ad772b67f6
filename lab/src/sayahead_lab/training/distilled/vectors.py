"""``sayahead train vectors``: word vectors for the distilled context predictor, read from
fastText's files or learned.

Saeki-b takes published vectors of fastText (300 dimensions). Where no such file is at hand, vectors
of the same form are learned on the transcripts: skip-gram with negative samples, a word the mean of
its own row and of those of its character n-grams (Bojanowski et al. 2017, 3.2). Both are laid down
on fewer axes (principal ones), from which a student's graph makes the 300 again.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from sayahead.contexts.word_vectors import PUNCTUATION, WordVectors
from sayahead.errors import ConfigError
from sayahead.types import Floats

MAGIC = 793712314
VERSION = 12
"""Magic number of fastText's ``.bin``."""


@dataclass(frozen=True, slots=True)
class VectorsConfig:
    """Settings of the training of vectors."""

    channels: int = 300
    """Dimensions."""
    least: int = 2
    """How often a word must occur to have a row of its own."""
    buckets: int = 4096
    """Rows that n-grams share."""
    shortest: int = 3
    """Least characters of an n-gram."""
    longest: int = 6
    """Most."""
    window: int = 5
    """Words to each side of which one is predicted, at most."""
    negatives: int = 64
    """Negative samples drawn for a batch."""
    often: float = 1e-3
    """Share of the text above which occurrences of a word are left out at times."""
    passes: int = 3
    """Epochs over the text."""
    batch: int = 2048
    """Pairs of words per step."""
    rate: float = 5e-3
    """Adam's learning rate, falling to 0."""


def principal(vectors: Floats, size: int) -> tuple[Floats, Floats]:
    """Vectors (R, D) on their ``size`` principal axes: (R, K), and the axes (K, D) that give them
    back."""
    _, _, turned = np.linalg.svd(vectors.astype(np.float64), full_matrices=False)
    axes = turned[:size]
    return (vectors @ axes.T).astype(np.float32), axes.astype(np.float32)


def learn(
    texts: Sequence[list[str]], words: list[str], how: VectorsConfig, *, seed: int, note: Any
) -> Floats:
    """(W + buckets, D) rows of words and of n-grams, learned on tokens of texts."""
    import torch
    from torch.nn import functional

    listed = {word: row for row, word in enumerate(words)}
    rows = [
        np.array(bare(listed, how.buckets, how.shortest, how.longest).rows(word)) for word in words
    ]
    draw = np.random.default_rng(seed)
    counts = np.bincount(
        [listed[token] for text in texts for token in text if token in listed]
    ).astype(np.float64)
    chances = counts**0.75 / (counts**0.75).sum()
    generator = torch.Generator().manual_seed(seed)
    scale = 1 / how.channels
    inner = torch.empty(len(words) + how.buckets, how.channels).uniform_(
        -scale, scale, generator=generator
    )
    outer = torch.zeros(len(words), how.channels)
    weights = [inner.requires_grad_(), outer.requires_grad_()]
    optimizer = torch.optim.Adam(weights, lr=how.rate, fused=True)
    begun_s = time.monotonic()
    for epoch in range(how.passes):
        pairs = pairs_of(texts, listed, counts, how, draw)
        steps = len(pairs) // how.batch
        for step in range(steps):
            batch = pairs[step * how.batch : (step + 1) * how.batch]
            batch = batch[np.argsort(batch[:, 0], kind="stable")]
            optimizer.param_groups[0]["lr"] = how.rate * (1 - (epoch + step / steps) / how.passes)
            # A word that stands there several times is read once.
            centres, which = np.unique(batch[:, 0], return_inverse=True)
            bags = [rows[centre] for centre in centres]
            offsets = np.cumsum([0, *[len(bag) for bag in bags[:-1]]])
            read = functional.embedding_bag(
                torch.from_numpy(np.concatenate(bags)), inner, torch.from_numpy(offsets)
            )
            read = read[torch.from_numpy(which)]
            others = torch.from_numpy(draw.choice(len(words), how.negatives, p=chances))
            right = (read * outer[torch.from_numpy(batch[:, 1])]).sum(1)
            wrong = read @ outer[others].T
            loss = -functional.logsigmoid(right).mean() - 5 * functional.logsigmoid(-wrong).mean()
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        note(
            f"pass {epoch + 1}: {steps} steps, loss {float(loss.detach()):.3f},"
            f" {time.monotonic() - begun_s:.0f} s"
        )
    vectors: Floats = inner.detach().numpy()
    return vectors


def bare(listed: dict[str, int], buckets: int, shortest: int, longest: int) -> WordVectors:
    """A table that says which rows a word has, without their values."""
    return WordVectors(
        listed, buckets, shortest, longest, np.zeros((0, 0), np.int8), np.zeros(0, np.float32)
    )


def pairs_of(
    texts: Sequence[list[str]],
    listed: dict[str, int],
    counts: Any,
    how: VectorsConfig,
    draw: np.random.Generator,
) -> Any:
    """(M, 2) words and words near them, in a random order; words that stand everywhere are left out
    at times."""
    shares = counts / counts.sum()
    chance = np.minimum(1, np.sqrt(how.often / np.maximum(shares, 1e-12)))
    near_words = []
    for text in texts:
        ids = np.array([listed[token] for token in text if token in listed], np.int64)
        ids = ids[draw.random(len(ids)) < chance[ids]] if len(ids) else ids
        for at, reach in enumerate(draw.integers(1, how.window + 1, size=len(ids))):
            near = np.concatenate([ids[max(0, at - reach) : at], ids[at + 1 : at + 1 + reach]])
            near_words.append(np.stack([np.full(len(near), ids[at]), near], 1))
    pairs = np.concatenate(near_words)
    return pairs[draw.permutation(len(pairs))]


def read_vectors(path: Path, words: list[str]) -> Floats:
    """(W, D) fastText's vectors of words, zeros for those that a ``.vec`` has not; ConfigError for
    no such file."""
    if path.is_dir():
        return read_embeddings(path, words)
    try:
        with path.open("rb") as file:
            if path.suffix == ".bin":
                return read_bin(file, path, words)
            return read_vec(file, words)
    except (OSError, struct.error, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as fastText's vectors: {error}.") from error


def read_embeddings(path: Path, words: list[str]) -> Floats:
    """(W, D) the mean of a causal model's input embeddings of each word's tokens, the space before
    it among them."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(path)
        model: Any = AutoModelForCausalLM.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} holds no language model: {error}") from error
    matrix = model.get_input_embeddings().weight.detach().float().numpy()
    # Marks stand at a word's end, without a space before them.
    tokens = [tokenizer(word if word in PUNCTUATION else f" {word}").input_ids for word in words]
    vectors: Floats = np.stack([matrix[numbers].mean(axis=0) for numbers in tokens])
    vectors -= vectors.mean(axis=0)
    return vectors


def read_vec(file: BinaryIO, words: list[str]) -> Floats:
    """Of the text form: a line of counts, then a line a word."""
    _, channels = (int(part) for part in file.readline().split())
    listed = {word.encode(): row for row, word in enumerate(words)}
    vectors = np.zeros((len(words), channels), np.float32)
    for line in file:
        word, _, values = line.rstrip().partition(b" ")
        if word in listed:
            vectors[listed[word]] = np.array(values.split(), np.float32)
    return vectors


def read_bin(file: BinaryIO, path: Path, words: list[str]) -> Floats:
    """Of the binary form, with n-grams for words that it does not know; the matrix stays in its
    file."""
    magic, version = struct.unpack("<ii", file.read(8))
    if (magic, version) != (MAGIC, VERSION):
        raise ConfigError(f"{path} is no fastText model of version {VERSION}.")
    channels, *_, buckets, shortest, longest, _ = struct.unpack("<12i", file.read(48))
    file.read(8)
    size, count, _, _, pruned = struct.unpack("<3i2q", file.read(28))
    if pruned >= 0:
        raise ConfigError(
            f"{path} is a pruned fastText model, whose rows are not in their places: take a whole"
            " one."
        )
    listed = {}
    for row in range(size):
        word = bytearray()
        while (letter := file.read(1)) not in (b"\0", b""):
            word += letter
        file.read(9)
        if row < count:
            listed[word.decode(errors="replace")] = row
    if file.read(1) != b"\0":
        raise ConfigError(f"{path} is a quantized fastText model: take the whole one.")
    rows, wide = struct.unpack("<2q", file.read(16))
    matrix = np.memmap(path, np.float32, "r", file.tell(), (rows, wide))
    table = bare(listed, buckets, shortest, longest)
    vectors = np.zeros((len(words), channels), np.float32)
    for row, entry in enumerate(words):
        numbers = table.rows(entry)
        if numbers:
            vectors[row] = matrix[numbers].mean(axis=0)
    return vectors
