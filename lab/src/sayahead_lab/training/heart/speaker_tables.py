"""What is a speaker's own in the default voice's networks, as the graphs take it: one row for each
speaker."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from sayahead.voices.install.onnx.graph import Array

from sayahead_lab.training.heart.decoder import HeartVoice, names
from sayahead_lab.training.heart.speakers import SpeakerNorm, own_layers
from sayahead_lab.training.heart.weights import plain_names

GRAPHS = {"m.dec": "decoder", "pn.pro": "prosody"}
"""Graphs by what hibari's names of their layers begin with; all others are the text's."""


class SpeakerTable(NamedTuple):
    """A graph's."""

    sizes: dict[str, int]
    """Names of the weights and their sizes, V in all."""
    values: Array
    """(S, V) float16"""


def speaker_tables(model: HeartVoice) -> dict[str, SpeakerTable]:
    """The tables of a model's speakers by graph; none where it has one speaker."""
    theirs = {f"heart.{own}": name for own, name in plain_names()}
    theirs |= {f"decoder.{own}": name for own, name in names().items()}
    columns = dict[str, dict[str, Array]]()
    for layer, module in own_layers(model):
        everybody = torch.arange(len(module.own))
        values = module.affine(everybody).detach().float().numpy()
        parts = (
            {"weight": values[:, 0], "bias": values[:, 1]}
            if isinstance(module, SpeakerNorm)
            else {"bias": values}
        )
        for leaf, array in parts.items():
            name = theirs[f"{layer}.{leaf}"]
            graph = next(
                (graph for begin, graph in GRAPHS.items() if name.startswith(begin)), "text"
            )
            columns.setdefault(graph, {})[name] = array
    return {
        graph: SpeakerTable(
            {name: array.shape[1] for name, array in arrays.items()},
            np.concatenate(list(arrays.values()), axis=1).astype(np.float16),
        )
        for graph, arrays in columns.items()
    }
