"""``sayahead train vectors``: word vectors for the distilled context predictor, read from
fastText's files or learned.

Saeki-b takes published vectors of fastText (300 dimensions). Without such a file, vectors of the
same form are learned on the transcripts: skip-gram with negative samples, where a word is the mean
of its own row and those of its character n-grams (Bojanowski et al. 2017, 3.2). Both are projected
on fewer principal axes, from which a student's graph restores the 300.
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
"""Magic number and version of fastText's ``.bin``."""


@dataclass(frozen=True, slots=True)
class VectorsConfig:
    """Settings of the training of vectors."""

    channels: int = 300
    """Dimensions."""
    least: int = 2
    """Occurrences that a word needs for a row of its own."""
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
    """Frequency of a word, as a share of the text, above which its occurrences are subsampled."""
    passes: int = 3
    """Epochs over the text."""
    batch: int = 2048
    """Pairs of words per step."""
    rate: float = 5e-3
    """Adam's learning rate, falling to 0."""


def principal(vectors: Floats, size: int) -> tuple[Floats, Floats]:
    """Project vectors (R, D) on their ``size`` principal axes; return the coordinates (R, K) and
    the axes (K, D), whose product restores them."""
    _, _, components = np.linalg.svd(vectors.astype(np.float64), full_matrices=False)
    axes = components[:size]
    return (vectors @ axes.T).astype(np.float32), axes.astype(np.float32)


def learn(
    texts: Sequence[list[str]], words: list[str], how: VectorsConfig, *, seed: int, note: Any
) -> Floats:
    """Learn the rows (W + buckets, D) of words and n-grams on tokenized texts. ``note``: called
    with a line after each epoch."""
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
            # A word that occurs several times in the batch is embedded once.
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
    """Return a table that finds the rows of a word and its n-grams, without values."""
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
    """Return the pairs (M, 2) of a word and one within its window, in random order, for an epoch.

    ``counts`` (W,): occurrences of each word. Frequent words are subsampled, and the window's size
    is drawn for each word (Mikolov et al. 2013)."""
    shares = counts / counts.sum()
    keep_chance = np.minimum(1, np.sqrt(how.often / np.maximum(shares, 1e-12)))
    text_pairs = []
    for text in texts:
        ids = np.array([listed[token] for token in text if token in listed], np.int64)
        ids = ids[draw.random(len(ids)) < keep_chance[ids]] if len(ids) else ids
        for i, reach in enumerate(draw.integers(1, how.window + 1, size=len(ids))):
            near = np.concatenate([ids[max(0, i - reach) : i], ids[i + 1 : i + 1 + reach]])
            text_pairs.append(np.stack([np.full(len(near), ids[i]), near], 1))
    pairs = np.concatenate(text_pairs)
    return pairs[draw.permutation(len(pairs))]


def read_vectors(path: Path, words: list[str]) -> Floats:
    """Read the vectors (W, D) of words: from fastText's ``.bin`` or ``.vec``, which has zeros for
    unknown words, or from the folder of a language model. ConfigError if it cannot be read."""
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
    """Return the mean (W, D) of a language model's input embeddings over each word's tokens, less
    the mean of all words."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(path)
        model: Any = AutoModelForCausalLM.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} holds no language model: {error}") from error
    matrix = model.get_input_embeddings().weight.detach().float().numpy()
    # A word begins with its space; punctuation has none before it.
    tokens = [tokenizer(word if word in PUNCTUATION else f" {word}").input_ids for word in words]
    vectors: Floats = np.stack([matrix[numbers].mean(axis=0) for numbers in tokens])
    vectors -= vectors.mean(axis=0)
    return vectors


def read_vec(file: BinaryIO, words: list[str]) -> Floats:
    """Read vectors (W, D) from the text format: a line with counts, then a line for each word."""
    _, channels = (int(part) for part in file.readline().split())
    listed = {word.encode(): row for row, word in enumerate(words)}
    vectors = np.zeros((len(words), channels), np.float32)
    for line in file:
        word, _, values = line.rstrip().partition(b" ")
        if word in listed:
            vectors[listed[word]] = np.array(values.split(), np.float32)
    return vectors


def read_bin(file: BinaryIO, path: Path, words: list[str]) -> Floats:
    """Read vectors (W, D) from the binary format, where an unknown word is the mean of its n-grams.
    The matrix of gigabytes is mapped, not loaded.

    ConfigError for another version, and for pruned and quantized models."""
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
    # Each entry of the dictionary: the word, a zero byte, its count (8 bytes) and type (1 byte).
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
    rows, columns = struct.unpack("<2q", file.read(16))
    matrix = np.memmap(path, np.float32, "r", file.tell(), (rows, columns))
    table = bare(listed, buckets, shortest, longest)
    vectors = np.zeros((len(words), channels), np.float32)
    for row, entry in enumerate(words):
        numbers = table.rows(entry)
        if numbers:
            vectors[row] = matrix[numbers].mean(axis=0)
    return vectors
