"""``sayahead train vectors``: word vectors, for context students."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
from sayahead.cli import number
from sayahead.cli.console import Console
from sayahead.contexts.baselines import common_words
from sayahead.contexts.word_vectors import WordVectors, tokens_of
from sayahead.text.reading.stream import normalize

from sayahead_lab.training.distilled.vectors import VectorsConfig, learn, principal, read_vectors

HELP = "make word vectors for a context student: from fastText's, or learned"


EPILOG = """For the students' recipes:

  sayahead train vectors vectors/lj --texts train.csv                               learned on the transcripts
  sayahead train vectors vectors/lj --texts train.csv --from crawl-300d-2M.vec      or published ones of their words
"""  # noqa: E501


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("out", metavar="FOLDER", type=Path, help="where words.npz and axes.npy go")
    add(
        "--texts",
        metavar="FILE",
        type=Path,
        required=True,
        help="lines of name|text: the words that matter",
    )
    source = (
        "fastText's .vec or .bin, or a language model's folder for its embeddings (default: learn"
        " them)"
    )
    add("--from", dest="source", metavar="FILE", type=Path, help=source)
    add(
        "--axes",
        metavar="N",
        type=number(int, 1),
        default=64,
        help="dimensions to keep (default: 64)",
    )
    add(
        "--seed", metavar="N", type=number(int, 0), default=0, help="seed of the draws (default: 0)"
    )
    add("--threads", metavar="N", type=number(int, 1), help="CPU threads (default: torch's)")


def run(arguments: argparse.Namespace) -> int:
    """Write the table and its axes; the exit code."""
    from sayahead_lab.scripts import read_texts

    console = Console(quiet=False)
    texts = [
        tokens_of([word.text for word in normalize(text)])
        for _, text in read_texts(arguments.texts)
    ]
    how = VectorsConfig()
    counts = Counter(token for text in texts for token in text)
    words = [word for word, count in counts.most_common() if count >= how.least]
    if arguments.source is None:
        import torch

        if arguments.threads:
            torch.set_num_threads(arguments.threads)
        vectors = learn(texts, words, how, seed=arguments.seed, note=console.note)
        buckets = how.buckets
    else:
        # Published vectors cover more words than the transcripts do.
        words += [word for word in common_words() if word not in counts]
        vectors = read_vectors(arguments.source, words)
        buckets = 0
    short, axes = principal(vectors, min(arguments.axes, *vectors.shape))
    arguments.out.mkdir(parents=True, exist_ok=True)
    listed = {word: row for row, word in enumerate(words)}
    table = WordVectors.of(
        listed, short, buckets=buckets, shortest=how.shortest, longest=how.longest
    )
    table.save(arguments.out / "words.npz")
    np.save(arguments.out / "axes.npy", axes)
    share = 1 - float(np.square(vectors - short @ axes).sum() / np.square(vectors).sum())
    if absent := [word for word, vector in zip(words, vectors, strict=True) if not vector.any()]:
        console.warn(
            f"{arguments.source} has no vector of {len(absent)} of {len(words)} words, which are"
            f" zeros now: {', '.join(absent[:5])} ..."
        )
    console.note(
        f"{arguments.out}: {len(words)} words, {buckets} rows of n-grams, {share:.1%} of their"
        " square kept"
    )
    return 0
