"""Kinds of voices: from a folder's graphs and its ``model`` table to an acoustic model and a vocoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayahead.acoustic import AcousticModel, HeartAcoustic
from sayahead.attention import AttentionAcoustic, AttentionModel
from sayahead.clarinet import load_clarinet
from sayahead.config import from_mapping, nearest
from sayahead.errors import ConfigError
from sayahead.onnx import OnnxGraph
from sayahead.text.phonemizer import EnglishPhonemizer
from sayahead.vocoder import HeartVocoder, MelVocoder, MelVocoderModel, Vocoder

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


@dataclass(frozen=True, slots=True)
class DeepVoice3Voice:
    """Deep Voice 3, and any vocoder of its mel frames."""

    pad: int
    """Id at both ends of a sentence."""
    continuation: str
    """Phonemes that stand behind the visible words while the sentence goes on."""
    blind_continuation: str
    """The same where no word behind the spoken ones is visible."""
    acoustic: AttentionModel
    """What Deep Voice 3 is like."""
    vocoder: dict[str, Any]
    """The vocoder's ``kind``, and what that kind needs."""


def load_deepvoice3(model: Mapping[str, Any], folder: Path, phonemizer: EnglishPhonemizer, threads: int) -> Stages:
    """The two stages of a folder with ``encoder.onnx``, ``decoder.onnx`` and the vocoder's graphs."""
    own = from_mapping(DeepVoice3Voice, model, where="model")
    vocoder = load_mel_vocoder(own.vocoder, folder, threads)
    encoder, decoder = (OnnxGraph(folder / f"{name}.onnx", threads=threads) for name in ("encoder", "decoder"))
    acoustic = AttentionAcoustic(
        encoder, decoder, own.acoustic, right_frames=vocoder.context, pad=own.pad,
        continuation=phonemizer.ids(own.continuation), blind_continuation=phonemizer.ids(own.blind_continuation),
    )  # fmt: skip
    return acoustic, vocoder


def load_mel_vocoder(table: Mapping[str, Any], folder: Path, threads: int) -> Vocoder[Any]:
    """The vocoder of mel frames that a ``model`` table has under ``vocoder``; ConfigError for an unknown kind."""
    kind = table.get("kind")
    if kind not in VOCODERS:
        raise ConfigError(f"model: vocoder: kind {kind!r} is unknown{nearest(str(kind), VOCODERS)}.")
    return VOCODERS[kind]({key: value for key, value in table.items() if key != "kind"}, folder, threads)


def load_melvocoder(table: Mapping[str, Any], folder: Path, threads: int) -> MelVocoder:
    """The vocoder for processors, in ``vocoder.onnx``."""
    own = from_mapping(MelVocoderModel, table, where="model: vocoder")
    return MelVocoder(OnnxGraph(folder / "vocoder.onnx", threads=threads), own)


KINDS = {"heart": load_heart, "deepvoice3": load_deepvoice3}
"""Each kind's loader, by the name in voice.json."""
VOCODERS: dict[str, Callable[[Mapping[str, Any], Path, int], Vocoder[Any]]] = {
    "melvocoder": load_melvocoder,
    "clarinet": load_clarinet,
}
"""Loaders of vocoders of mel frames, for any kind that makes these; by the name of the task that trained them."""
