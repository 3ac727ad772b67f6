"""Kinds of voices: from a folder's graphs and its ``model`` table to an acoustic model and a vocoder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.acoustic import AcousticModel, HeartAcoustic
from sayahead.attention import AttentionAcoustic, AttentionModel
from sayahead.characters import ALPHABET
from sayahead.characterwise import GRAPHS as CHARACTER_GRAPHS
from sayahead.characterwise import CharacterAcoustic, CharacterModel
from sayahead.clarinet import load_clarinet
from sayahead.config import from_mapping, nearest
from sayahead.errors import ConfigError, VoiceError
from sayahead.onnx import OnnxGraph
from sayahead.segmental import GRAPHS, SegmentalAcoustic, SegmentalModel
from sayahead.text.phonemizer import EnglishPhonemizer
from sayahead.vocoder import HeartVocoder, MelVocoder, MelVocoderModel, Vocoder
from sayahead.wavernn import load_wavernn

VOICES = Path(__file__).parent / "voices"
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
    glide_s: float = 0.0
    """Time constant in which pitch leaves what was said before a join for what is expected after it; 0: it jumps."""
    futures: tuple[int, ...] = ()
    """Ids of the tokens that stand behind the visible words of an open sentence; none: a continuation stands there."""
    context: int = 0
    """Channels of the context embedding that the tokens take."""


def load_heart(model: Mapping[str, Any], folder: Path, phonemizer: EnglishPhonemizer, threads: int) -> Stages:
    """The two stages of a folder with ``text.onnx``, ``prosody.onnx`` and ``decoder.onnx``."""
    own = from_mapping(HeartModel, model, where="model")
    graphs = {name: OnnxGraph(folder / f"{name}.onnx", threads=threads) for name in ("text", "prosody", "decoder")}
    vocoder = HeartVocoder(graphs["decoder"])
    expect = OnnxGraph(folder / "expect.onnx", threads=threads) if own.context else None
    acoustic = HeartAcoustic(
        graphs["text"], graphs["prosody"], right_frames=vocoder.context, pad=own.pad, lead_units=own.lead_units,
        window=own.window, continuation=phonemizer.ids(own.continuation),
        blind_continuation=phonemizer.ids(own.blind_continuation), early=own.early, glide_s=own.glide_s,
        futures=np.array(own.futures, np.int64) if own.futures else None, context=own.context, expect=expect,
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


@dataclass(frozen=True, slots=True)
class SaekiVoice:
    """Tacotron 2 with a contextual embedding, a segment of words at a time, and any vocoder of its mel frames."""

    pad: int
    """Id at both ends of a sentence."""
    acoustic: SegmentalModel
    """What the Tacotron is like."""
    vocoder: dict[str, Any]
    """The vocoder's ``kind``, and what that kind needs; or another voice's vocoder (see Borrowed)."""


def load_saeki(model: Mapping[str, Any], folder: Path, phonemizer: EnglishPhonemizer, threads: int) -> Stages:
    """The two stages of a folder with the five graphs of ``segmental`` and the vocoder's."""
    own = from_mapping(SaekiVoice, model, where="model")
    graphs = {name: OnnxGraph(folder / f"{name}.onnx", threads=threads) for name in GRAPHS}
    return SegmentalAcoustic(graphs, own.acoustic, pad=own.pad), load_mel_vocoder(own.vocoder, folder, threads)


@dataclass(frozen=True, slots=True)
class MohanVoice:
    """The modified Tacotron 2, which reads characters, and any vocoder of its mel frames."""

    alphabet: str
    """The characters; each one's place is its id."""
    acoustic: CharacterModel
    """What the Tacotron is like."""
    vocoder: dict[str, Any]
    """The vocoder's ``kind``, and what that kind needs; or another voice's vocoder (see Borrowed)."""


def load_mohan(model: Mapping[str, Any], folder: Path, phonemizer: EnglishPhonemizer, threads: int) -> Stages:
    """The two stages of a folder with the four graphs of ``characterwise`` and the vocoder's."""
    own = from_mapping(MohanVoice, model, where="model")
    if own.alphabet != ALPHABET:
        raise ConfigError(f"model: alphabet is {own.alphabet!r}, but this version spells with {ALPHABET!r}.")
    graphs = {name: OnnxGraph(folder / f"{name}.onnx", threads=threads) for name in CHARACTER_GRAPHS}
    return CharacterAcoustic(graphs, own.acoustic), load_mel_vocoder(own.vocoder, folder, threads)


@dataclass(frozen=True, slots=True)
class Borrowed:
    """A vocoder that lies in another voice's folder."""

    voice: str
    """The other voice's name: a folder beside this voice's, or one that came with the package."""
    files: dict[str, str]
    """Its files to the SHA-256 of their content."""


def borrowed(table: Mapping[str, Any], folder: Path) -> tuple[dict[str, Any], Path]:
    """The other voice's vocoder table and folder; VoiceError where its files are not there, or are others."""
    own = from_mapping(Borrowed, table, where="model: vocoder")
    places = (folder.parent / own.voice, VOICES / own.voice)
    found = next((place for place in places if (place / "voice.json").is_file()), None)
    if found is None:
        raise VoiceError(f"The voice in {folder} needs the vocoder of the voice {own.voice!r}, which is not there.")
    for file, digest in own.files.items():
        check_file(found / file, digest)
    theirs: dict[str, Any] = json.loads((found / "voice.json").read_text(encoding="utf-8"))["model"]["vocoder"]
    return theirs, found


def load_mel_vocoder(table: Mapping[str, Any], folder: Path, threads: int) -> Vocoder[Any]:
    """The vocoder of mel frames that a ``model`` table has under ``vocoder``; ConfigError for an unknown kind."""
    if "voice" in table:
        table, folder = borrowed(table, folder)
    kind = table.get("kind")
    if kind not in VOCODERS:
        raise ConfigError(f"model: vocoder: kind {kind!r} is unknown{nearest(str(kind), VOCODERS)}.")
    return VOCODERS[kind]({key: value for key, value in table.items() if key != "kind"}, folder, threads)


def load_melvocoder(table: Mapping[str, Any], folder: Path, threads: int) -> MelVocoder:
    """The vocoder for processors, in ``vocoder.onnx``."""
    own = from_mapping(MelVocoderModel, table, where="model: vocoder")
    return MelVocoder(OnnxGraph(folder / "vocoder.onnx", threads=threads), own)


KINDS = {"heart": load_heart, "deepvoice3": load_deepvoice3, "saeki": load_saeki, "mohan": load_mohan}
"""Each kind's loader, by the name in voice.json."""
CHARACTERS = frozenset({"mohan"})
"""Kinds whose voices read characters; the others read words."""
VOCODERS: dict[str, Callable[[Mapping[str, Any], Path, int], Vocoder[Any]]] = {
    "melvocoder": load_melvocoder,
    "clarinet": load_clarinet,
    "wavernn": load_wavernn,
}
"""Loaders of vocoders of mel frames, for any kind that makes these; by the name of the task that trained them."""


def check_file(path: Path, digest: str | None) -> None:
    """VoiceError if the file is missing or its SHA-256 differs from ``digest``."""
    if not path.is_file():
        raise VoiceError(f"{path} is missing: install the voice again.")
    if digest is not None:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != digest:
            raise VoiceError(
                f"{path} is damaged: its SHA-256 is {found}, but voice.json says {digest}. Install the voice again."
            )
