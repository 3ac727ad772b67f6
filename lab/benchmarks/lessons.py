"""Predicted opinion of what voices' vocoders make of a corpus's validation mel: by which lessons
are chosen.

    python lab/benchmarks/lessons.py voices/a voices/b --corpus corpus/both/true --corpus \
        corpus/both/heard

The voices are those of ``sayahead train voice --vocoder RUN``; their vocoders get the first five
seconds of sentences' mel. DistillMOS, the mean and its standard error over the sentences, for each
voice and corpus."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from output import tell
from sayahead import load_voice
from sayahead.engine.synthesizer import TwoStage
from sayahead.types import Floats

from sayahead_lab.eval.listening.listeners import Rater, at_16khz, load_distillmos
from sayahead_lab.training.corpus.store import Corpus

LONGEST_S = 5.0


def mels(corpus: Corpus, count: int) -> list[Floats]:
    """The beginnings of validation sentences, (T, B) each, evenly spread."""
    items = corpus.split("val")
    frames = int(LONGEST_S * corpus.info.front_end.sample_rate / corpus.info.front_end.hop)
    return [
        items[int(i * len(items) / count)].mel[:frames].astype(np.float32) for i in range(count)
    ]


def rated(name: str, given: Sequence[Sequence[Floats]], rate: Rater) -> str:
    """A voice's line of the table."""
    voice = load_voice(name)
    synthesizer = voice.synthesizer
    assert isinstance(synthesizer, TwoStage)
    cells = [Path(name).name]
    for sentences in given:
        scores = np.array(
            [rate(at_16khz(synthesizer.vocode(mel), voice.sample_rate)) for mel in sentences]
        )
        cells.append(f"{scores.mean():.2f} ± {scores.std(ddof=1) / len(scores) ** 0.5:.2f}")
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("voices", nargs="+", metavar="VOICE")
    parser.add_argument("--corpus", type=Path, action="append", required=True)
    parser.add_argument("--count", type=int, default=12, help="sentences of each")
    parser.add_argument("--results", type=Path, help="write the table here (Markdown)")
    given = parser.parse_args(arguments)
    sentences = [mels(Corpus(folder), given.count) for folder in given.corpus]
    head = ["voice", *(folder.name for folder in given.corpus)]
    lines = [
        (
            f"`python lab/benchmarks/lessons.py`: DistillMOS, {given.count} validation sentences"
            f" cut to {LONGEST_S:g} s."
        ),
        "",
        f"| {' | '.join(head)} |",
        f"| --- |{' ---: |' * len(given.corpus)}",
    ]
    rate = load_distillmos()
    lines += [rated(name, sentences, rate) for name in given.voices]
    tell(lines, given.results)


if __name__ == "__main__":
    main()
