"""A speaker of a family moved to another's height, pace and loudness: the run that the trainings
begin with."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from sayahead.types import Floats
from torch import Tensor

from sayahead_lab.training.corpus.store import Item
from sayahead_lab.training.corpus.teacher import UNIT
from sayahead_lab.training.heart.decoder import LOUD, HeartVoice
from sayahead_lab.training.heart.own_voice_data import spoken
from sayahead_lab.training.heart.own_voice_task import HeartVoiceTask
from sayahead_lab.training.heart.speakers import folded
from sayahead_lab.training.heart.task import spread_rows
from sayahead_lab.training.loop import checkpoint as checkpoints
from sayahead_lab.training.loop.saved_run import DESCRIPTION, corpus_record, load_weights
from sayahead_lab.training.loop.warm_start import Start
from sayahead_lab.training.mel.discriminators import JUDGES

HEARD = 40.0
"""Least pitch in Hz of what has a voice."""
HALVINGS = 20


@torch.no_grad()
def fitted(task: HeartVoiceTask, model: HeartVoice, items: Sequence[Item]) -> dict[str, float]:
    """Move what a model of one speaker says of items to what they are, on the whole; by how much.

    ``pace``: factor of the durations' sum; ``pitch``: of the median; ``energy``: what is added to
    the mean."""
    pad = task.corpus.info.pad
    logs = list[Tensor]()
    units = list[Tensor]()
    theirs = list[Floats]()
    ours = list[Floats]()
    for item in items:
        one = spoken(item)
        rows = torch.from_numpy(np.concatenate([[pad], item.ids, [pad]]).astype(np.int64))[None]
        nothing = torch.zeros(1, model.heart.config.context)
        _, text, said = model.heart.encode(rows, torch.ones_like(rows, dtype=torch.bool), nothing)
        lasts = torch.from_numpy(one.units)[None]
        prosody = model.heart.prosody(*spread_rows(text, lasts))[0].float().numpy()
        logs.append(said[0, 1:-1].float())
        units.append(lasts[0, 1:-1])
        ours.append(np.stack([100 * prosody[:, :UNIT].ravel(), LOUD * prosody[:, UNIT:].ravel()]))
        theirs.append(np.stack([one.f0, one.energy]).astype(np.float32))
    (pitch, energy), (own_pitch, own_energy) = (
        np.concatenate(rows, axis=1) for rows in (theirs, ours)
    )
    both = (pitch > HEARD) & (own_pitch > HEARD)
    moved = {"energy": float((energy - own_energy).mean()), "pitch": 1.0}
    if both.any():
        moved["pitch"] = float(np.median(pitch[both]) / np.median(own_pitch[both]))
    said = torch.cat(logs)
    meant = float(torch.cat(units).sum())
    offset = slower(said, meant)
    moved["pace"] = meant / float(torch.expm1(said).clamp(min=1).sum())
    last = model.heart.prosody.pro_out
    head = model.heart.dur_out
    last.weight[:UNIT] *= moved["pitch"]
    last.bias[:UNIT] *= moved["pitch"]
    last.bias[UNIT:] += moved["energy"] / LOUD
    head.bias.add_(offset)
    return moved


def slower(logs: Tensor, total: float) -> float:
    """What is to be added to logarithms of durations plus one, so that these sum up to a total, at
    least 1 each."""
    low = -1.5
    high = 1.5
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if float(torch.expm1(logs + middle).clamp(min=1).sum()) < total:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def write_beginning(
    start: Start, like: str, task: HeartVoiceTask, items: Sequence[Item], out: Path
) -> dict[str, float]:
    """Write a run of one speaker, ``like`` in the start's, fitted to items; by how much it was
    moved."""
    assert start.state is not None
    joined = list(start.info.joined) if start.info is not None else []
    alone = {name: weight for name, weight in start.learned.items() if not name.startswith(JUDGES)}
    weights = folded(alone, joined.index(like)) if joined else alone
    model = task.model().eval()
    load_weights(model, weights, str(start.path))
    moved = fitted(task, model, items)
    out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(task.corpus.path / DESCRIPTION, out / DESCRIPTION)
    state = {key: value for key, value in start.state.items() if key != "format"}
    record = {"corpus": corpus_record(task.corpus.path), "optimizer": {}, "rng": []}
    checkpoints.save_checkpoint(out, {**state, **record, "model": model.state_dict(), "ema": None})
    return moved
