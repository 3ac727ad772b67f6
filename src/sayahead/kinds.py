"""Kinds of voices: from a folder's graphs and its ``model`` table to an acoustic model and a vocoder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayahead.acoustic import AcousticModel, HeartAcoustic
from sayahead.config import from_mapping
from sayahead.onnx import OnnxGraph
from sayahead.text.phonemizer import EnglishPhonemizer
from sayahead.vocoder import HeartVocoder, Vocoder

Stages = tuple[AcousticModel[Any], Vocoder[Any]]


@dataclass(frozen=True, slots=True)
class HeartModel:
    """The default voice's kind: text encoders and prosody, then decoder and source-filter synthesis."""

    pad: int
    """Id at both ends of a sentence."""
    lead_units: int
    """Duration of the first pad, in units of two frames."""
    window: int
    """Phonemes of the past that the text encoders see."""
    continuation: str
    """Phonemes that stand behind the visible words while the sentence goes on."""
    blind_continuation: str
    """The same where no word behind the spoken ones is visible."""
    early: int
    """Frames by which the sound of a phoneme is ahead of its nominal place, for the timings of words."""


def load_heart(model: Mapping[str, Any], folder: Path, phonemizer: EnglishPhonemizer, threads: int) -> Stages:
    """The two stages of a folder with ``text.onnx``, ``prosody.onnx`` and ``decoder.onnx``."""
    own = from_mapping(HeartModel, model, where="model")
    graphs = {name: OnnxGraph(folder / f"{name}.onnx", threads=threads) for name in ("text", "prosody", "decoder")}
    vocoder = HeartVocoder(graphs["decoder"])
    acoustic = HeartAcoustic(
        graphs["text"], graphs["prosody"], right_frames=vocoder.context, pad=own.pad, lead_units=own.lead_units,
        window=own.window, continuation=phonemizer.ids(own.continuation),
        blind_continuation=phonemizer.ids(own.blind_continuation), early=own.early,
    )  # fmt: skip
    return acoustic, vocoder


KINDS = {"heart": load_heart}
"""Each kind's loader, by the name in voice.json."""
