"""``sayahead train import``: published checkpoints of Tacotron 2 and WaveGlow become runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from sayahead.cli.console import Console
from sayahead.errors import ConfigError

HELP = "make a run of NVIDIA's published Tacotron 2 or WaveGlow"
EPILOG = """The corpus is the one that the run goes on with; its frames must be the checkpoint's:

  sayahead train corpus corpus/released --front-end nvidia --punctuation final --train train.csv --val val.csv
  sayahead train import waveglow_256channels.pt --corpus corpus/released -o runs/waveglow
  sayahead train import tacotron2_statedict.pt --corpus corpus/released -o runs/tacotron2

Then [train] start = "runs/tacotron2" in a recipe, or --vocoder runs/waveglow for a voice. Where the files are, and what
they may be used for, tells lab/docs/papers/checkpoints.md.
"""  # noqa: E501


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "checkpoint",
        metavar="FILE",
        type=Path,
        help="the checkpoint; its names tell which network it is",
    )
    add(
        "--corpus",
        metavar="FOLDER",
        type=Path,
        required=True,
        help="the corpus that the run goes on with",
    )
    add("-o", "--out", metavar="FOLDER", type=Path, required=True, help="where the run goes")


def run(arguments: argparse.Namespace) -> int:
    """Write the run; the exit code."""
    from torch import nn

    from sayahead_lab.training.corpus.store import Corpus, check_mels, count_ids
    from sayahead_lab.training.loop.published_layout import read_weights, write_run
    from sayahead_lab.training.saeki import published as saeki
    from sayahead_lab.training.waveglow import published as waveglow

    corpus = Corpus(arguments.corpus)
    weights = read_weights(arguments.checkpoint)
    console = Console(quiet=False)
    if waveglow.SIGN in weights:
        vocoder = waveglow.waveglow(weights, corpus.info.front_end.hop)
        check_mels(corpus.info, vocoder.config.n_mels)
        write_run(arguments.out, "waveglow", vocoder, waveglow.table(vocoder), corpus)
        console.note(f"{arguments.out}: WaveGlow, {size(vocoder)} weights")
    elif saeki.SIGN in weights:
        acoustic = saeki.tacotron(weights, count_ids(corpus.info, 0))
        check_mels(corpus.info, acoustic.config.n_mels)
        write_run(
            arguments.out,
            "saeki",
            nn.ModuleDict({"tacotron": acoustic}),
            saeki.table(acoustic),
            corpus,
        )
        console.note(
            f"{arguments.out}: Tacotron 2, {size(acoustic)} weights. The embeddings of phonemes and"
            " the contextual embedding, which it does not have, are drawn anew."
        )
    else:
        raise ConfigError(
            f"{arguments.checkpoint} is of no layout that is known here: it has neither"
            f" {waveglow.SIGN} (WaveGlow) nor {saeki.SIGN} (Tacotron 2)."
        )
    return 0


def size(model: object) -> str:
    """How many weights a network has."""
    from torch import nn

    assert isinstance(model, nn.Module)
    return f"{sum(weight.numel() for weight in model.parameters()):,}"
