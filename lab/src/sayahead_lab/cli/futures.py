"""``sayahead train futures``: how a language model continues the prefixes of a corpus."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from sayahead.cli import number
from sayahead.cli.console import Console
from sayahead.text.reading.stream import normalize

from sayahead_lab.training.distilled.futures import (
    Continuations,
    choose,
    drop_cut_line,
    read_futures,
)

HELP = "continue prefixes of transcripts with a language model, for training"


EPILOG = """For the recipes guided by a language model:

  sayahead train futures futures/train.jsonl --texts train.csv --lm gpt2 --prefixes 4
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("out", metavar="FILE.jsonl", type=Path, help="where the lines go; existing ones are kept")
    add("--texts", metavar="FILE", type=Path, required=True, help="lines of name|text")
    add(
        "--lm",
        metavar="MODEL",
        required=True,
        help="a causal model of transformers: name or folder",
    )
    add(
        "--prefixes",
        metavar="N",
        type=number(int, 1),
        help="at most N prefixes of each text (default: all)",
    )
    add(
        "--words",
        metavar="N",
        type=number(int, 1),
        default=5,
        help="words per continuation (default: 5)",
    )
    add(
        "--top-k",
        metavar="K",
        type=number(int, 1),
        default=1,
        help="draw from the K most likely tokens (default: 1)",
    )
    add(
        "--seed",
        metavar="N",
        type=number(int, 0),
        default=0,
        help="seed of prefixes and draws (default: 0)",
    )
    add("--count", metavar="N", type=number(int, 1), help="use only N texts, evenly spaced")
    add("--minutes", metavar="N", type=number(float, 0), help="stop after N minutes")
    add("--threads", metavar="N", type=number(int, 1), help="CPU threads (default: torch's)")


def run(arguments: argparse.Namespace) -> int:
    """Write the file; the exit code."""
    import torch

    from sayahead_lab.scripts import read_texts
    from sayahead_lab.training.corpus.texts import evenly

    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    console = Console(quiet=False)
    scripts = read_texts(arguments.texts)
    texts = evenly(scripts, arguments.count or len(scripts))
    # A fixed shuffle, so that a run stopped early leaves a fair sample.
    order = np.random.default_rng(arguments.seed).permutation(len(texts))
    there = set[str]()
    if arguments.out.exists():
        drop_cut_line(arguments.out)
        there = {item.name for item in read_futures(arguments.out)}
    model = Continuations(
        arguments.lm, words=arguments.words, top_k=arguments.top_k, seed=arguments.seed
    )
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    begun_s = time.monotonic()
    count = 0
    shown_s = time.monotonic()
    with arguments.out.open("a", encoding="utf-8") as file:
        for index in order:
            name, text = texts[index]
            if name in there:
                continue
            if (
                arguments.minutes is not None
                and time.monotonic() - begun_s > arguments.minutes * 60
            ):
                break
            words = tuple(word.text for word in normalize(text))
            prefixes = choose(len(words), arguments.prefixes, seed=arguments.seed + int(index))
            expected = dict(zip(prefixes, model.futures(words, prefixes), strict=True))
            item = {
                "name": name,
                "words": words,
                "futures": [expected.get(n) for n in range(len(words))],
            }
            file.write(json.dumps(item, ensure_ascii=False) + "\n")
            count += len(prefixes)
            if time.monotonic() - shown_s > 30:
                shown_s = time.monotonic()
                console.note(f"{count} prefixes, {count / (shown_s - begun_s):.1f} a second")
    console.note(f"{count} prefixes continued in {(time.monotonic() - begun_s) / 60:.1f} min.")
    return 0
