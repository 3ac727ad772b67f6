"""Piper's voices: one VITS graph becomes a folder of three, which speak word by word.

The parts are checked before they are written: joined, and in steps, they must give what the whole
gives."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.engine.onnx import OnnxGraph, count, simplify
from sayahead.errors import SayaheadError, VoiceError
from sayahead.text.languages import RECORDS, record_of
from sayahead.types import Floats
from sayahead.vocoders.vits_decoder import LatentVocoder
from sayahead.voices.install.onnx.conv2d import with_planes
from sayahead.voices.install.onnx.graph import Graph, needs_onnx, read_graph
from sayahead.voices.install.onnx.simplify import with_norms, with_plain_shapes
from sayahead.voices.install.onnx.splines import with_short_splines
from sayahead.voices.install.onnx.stateful_conv import rows_needed, with_caches
from sayahead.voices.install.piper import BEGIN, END, PAD, PiperConfig, read_piper
from sayahead.voices.install.vits.cuts import Cuts, cut, find_cuts, ids_and_lengths
from sayahead.voices.write import write_voice

TOLERANCE = 1e-5
"""Most that samples of the parts may differ from those of the whole, at the same noise, and in
steps from at once."""
ROUNDING = 2.0
"""How many times as much as the whole differs from itself, where ONNX Runtime joins no nodes, the
parts may as well."""
REACHES = range(4, 65, 2)
"""Counts of frames to the right that are tried until more makes no difference."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to write the parts."""

    masks: bool = False
    """Whether the masks of tokens are kept."""
    lean: bool = False
    """Whether shapes and normalizations are written shortly, and convolutions over planes."""
    splines: bool = False
    """Whether splines are written shortly."""
    trim: tuple[str, ...] = ()
    """In front of which nodes the flow and the decoder leave rows out."""


WAYS = (
    Way(lean=True, splines=True, trim=("ConvTranspose", "Split")),
    Way(splines=True, trim=("ConvTranspose", "Split")),
    Way(trim=("ConvTranspose",)),
    Way(masks=True),
)
"""The cheapest first."""
CARDS = ("MODEL_CARD", "MODEL_CARD.md", "LICENSE", "LICENSE.txt", "LICENSE.md")
"""Files beside a voice that say what it may be used for."""


def add_piper(onnx: Path, config: Path | None, folder: Path) -> None:
    """Make ``folder``, which is not there, of a Piper voice: its graph, and the description that
    belongs to it.

    ``config`` is by default the file with ``.json`` after the graph's name. The card beside them
    comes along. VoiceError where something is missing, damaged, not a VITS, or needs a front end
    that is not there; then no folder is left. ConfigError where the package onnx is not installed.
    """
    needs_onnx()
    described = config or onnx.with_name(f"{onnx.name}.json")
    piper = read_piper(described)
    if not onnx.is_file():
        raise VoiceError(f"{onnx} is missing.")
    graph = read_graph(onnx)
    if ("sid" in graph.inputs) != bool(piper.speakers):
        takes = "takes a speaker's number" if "sid" in graph.inputs else "has one speaker"
        raise VoiceError(
            f"{described} names {len(piper.speakers) or 1} speakers, but {onnx.name} {takes}."
        )
    check_ids(graph, piper)
    folder.mkdir(parents=True)
    try:
        write(graph, find_cuts(graph), piper, folder, original=onnx)
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, SayaheadError | OSError):
            raise
        # Graphs that are not what they seem fail in as many ways as there are.
        problem = str(error).partition("\n")[0] or type(error).__name__
        raise graph.strange(f"cannot be cut: {problem}") from error


def write(graph: Graph, cuts: Cuts, piper: PiperConfig, folder: Path, *, original: Path) -> None:
    """The voice's files; VoiceError if its parts are not the whole."""
    trial = Trial(graph, cuts, piper)
    trial.save(folder)
    right = trial.reaches()
    trial.streamed(right)
    card = next(
        (original.parent / name for name in CARDS if (original.parent / name).is_file()), None
    )
    terms = "unknown" if card is None else licensed(card)
    write_voice(
        folder, about(cuts, piper, terms, right=right, name=original.stem), sorted(folder.iterdir())
    )
    if card is not None:
        shutil.copyfile(card, folder / card.name)


def check_ids(graph: Graph, piper: PiperConfig) -> None:
    """VoiceError if the graph knows fewer phonemes than its configuration."""
    tables = [graph.value(node.input[0]) for node in graph.of_type("Gather")]
    rows = max((len(table) for table in tables if table is not None and table.ndim == 2), default=0)
    most = max(piper.phonemes.values())
    if most >= rows:
        raise VoiceError(
            f"{graph.where} knows {rows} phonemes, but its configuration has ids up to {most}: the"
            " two files do not belong together."
        )


def about(
    cuts: Cuts, piper: PiperConfig, terms: str, *, right: tuple[int, int], name: str
) -> dict[str, Any]:
    """The voice's description; ``terms`` is its licence."""
    base = piper.language.split("-")[0]
    phonemes = {
        symbol: number
        for symbol, number in piper.phonemes.items()
        if symbol not in (PAD, BEGIN, END)
    }
    model = {
        "pad": piper.phonemes[PAD],
        "begin": piper.phonemes[BEGIN],
        "end": piper.phonemes[END],
        "channels": cuts.channels,
        "noise_scale": piper.scales[0],
        "length_scale": piper.scales[1],
        "noise_w": piper.scales[2],
        "spelling": piper.spelling,
        "espeak": piper.espeak,
        "right": list(right),
        "tail": record_of(base).tail if base in RECORDS else "",
    }
    several = f", {len(piper.speakers)} speakers" if piper.speakers else ""
    quality = f" {piper.quality}" if piper.quality else ""
    return {
        "name": name,
        "language": piper.language,
        "description": f"Piper{quality}, {piper.name}{several}; {piper.sample_rate / 1000:g} kHz",
        "license": terms,
        "source": f"added from {name}.onnx",
        "kind": "vits",
        "sample_rate": piper.sample_rate,
        "hop_length": cuts.hop,
        "speed": [0.5, 2.0],
        "defaults": {"lookahead": 1, "hold_back_s": 0.058, "blind_hold_back_s": 0.209},
        "model": model,
        "speakers": piper.speakers,
        "phonemes": phonemes,
    }


def licensed(card: Path) -> str:
    """What a card says of the licence, with what whoever reads no more than that must know."""
    text = card.read_text(encoding="utf-8", errors="replace")
    line = re.search(
        r"^[\s*_#-]*licen[cs]e[*_]*\s*:\s*(.+?)[\s*_]*$", text, re.IGNORECASE | re.MULTILINE
    )
    terms = (
        line[1]
        if line
        else text.strip().partition("\n")[0]
        if "LICENSE" in card.name
        else "unknown"
    )[:80]
    base = re.search(r"fine-?tuned from (.*)", text, re.IGNORECASE)
    return (
        f"{terms} (made from {base[1].strip(' .')[:60]}, whose licence counts too)"
        if base
        else terms
    )


def optimized(graph: Graph, path: Path) -> OnnxGraph:
    """A graph written without what can be computed once, in operators that any ONNX Runtime has,
    and loaded."""
    simplify(graph.model.SerializeToString(), path)
    return OnnxGraph(path)


class Trial:
    """The parts of a voice at work beside the whole, on a sentence of random phonemes under fixed
    noise."""

    TOKENS = 60

    def __init__(self, graph: Graph, cuts: Cuts, piper: PiperConfig) -> None:
        self._graph = graph
        self._cuts = cuts
        self._piper = piper
        draw = np.random.default_rng(0)
        sounds = sorted(set(piper.phonemes.values()))
        tokens = np.zeros(2 * self.TOKENS, np.int64) + piper.phonemes[PAD]
        tokens[0] = piper.phonemes[BEGIN]
        tokens[2::2] = draw.choice(sounds, self.TOKENS - 1)
        self._ids = np.concatenate([tokens, [piper.phonemes[END]]])
        self._noise = draw.standard_normal((1, 2, len(self._ids)), dtype=np.float32)
        self._speaker = max(piper.speakers.values(), default=0)
        self._model = cut(graph, cuts).whole.model.SerializeToString()
        self._whole = OnnxGraph(self._model)

    def save(self, folder: Path) -> None:
        """Write the parts, after a check that they are the whole; what is not in every voice stays
        where it must."""
        hop = self._cuts.hop
        difference = float("inf")
        for way in WAYS:
            parts = cut(self._graph, self._cuts, masks=way.masks)
            # What is faded into the next step is less than a frame.
            self._decoder_sees = rows_needed(parts.decoder, hop)["rows"]
            graphs = {
                "text": with_short_splines(parts.text) if way.splines else parts.text,
                "flow": with_caches(parts.flow, self._decoder_sees, trim=way.trim),
                "decoder": with_caches(parts.decoder, hop, trim=way.trim),
            }
            if way.lean:
                ids = ids_and_lengths(self._graph)[0]
                graphs["text"] = with_plain_shapes(with_norms(graphs["text"]), ids, self._tokens)
                graphs = {name: with_planes(part) for name, part in graphs.items()}
            self._parts = {
                name: optimized(part, folder / f"{name}.onnx") for name, part in graphs.items()
            }
            difference = self._difference()
            if difference < TOLERANCE or (
                np.isfinite(difference) and difference < ROUNDING * self._rounding()
            ):
                return
        raise self._graph.strange(f"differs from its parts by {difference:g}")

    def _tokens(self, graph: OnnxGraph, count: int) -> dict[str, Any]:
        """Inputs of the text encoder for ``count`` tokens."""
        ids = np.resize(self._ids, (1, count))
        noise = np.resize(self._noise, (1, 2, count))
        return self._inputs(
            graph, input=ids, input_lengths=np.array([count], np.int64), noise=noise
        )

    def _inputs(self, graph: OnnxGraph, **more: Any) -> dict[str, Any]:
        inputs = {
            "input": self._ids[None],
            "input_lengths": np.array([len(self._ids)], np.int64),
            "scales": np.array(self._piper.scales, np.float32),
            "noise": self._noise,
            "sid": np.array([self._speaker], np.int64),
            **more,
        }
        return {name: value for name, value in inputs.items() if name in graph.shapes}

    def _alone(self, name: str, rows: Floats) -> Floats:
        """What a part makes of rows with nothing before them."""
        graph = self._parts[name]
        caches = graph.zeros("cache")
        outputs = graph(**self._inputs(graph, rows=rows, commit=count(rows.shape[2]), **caches))
        return np.asarray(next(iter(outputs.values())))

    def _difference(self) -> float:
        """Between samples of the parts, joined, and of the whole; infinite where they do not fit
        each other."""
        try:
            text = self._parts["text"](**self._inputs(self._parts["text"]))
            frames = np.maximum(np.ceil(text["frames"].reshape(-1)), 1).astype(np.int64)
            rows = np.repeat(np.arange(len(self._ids)), frames)
            prior = self._prior(len(rows))
            means = text["mean"][0]
            deviations = np.exp(text["log_deviation"][0]) * np.float32(self._piper.scales[0])
            self._latent = (means[rows] + deviations[rows] * prior[0].T).T[None]
            self._z = self._alone("flow", self._latent)
            self._samples = self._alone("decoder", self._z).reshape(-1)
            expected = self._spoken(self._whole, prior)
        except Exception:
            return float("inf")
        same = len(expected) == len(self._samples) == len(rows) * self._cuts.hop
        return float(np.abs(expected - self._samples).max()) if same else float("inf")

    def _prior(self, frames: int) -> Floats:
        """(1, C, T) noise."""
        return np.random.default_rng(1).standard_normal(
            (1, self._cuts.channels, frames), dtype=np.float32
        )

    def _spoken(self, whole: OnnxGraph, prior: Floats) -> Floats:
        """(S,) what the whole makes."""
        return np.asarray(whole(**self._inputs(whole, prior=prior))["samples"].reshape(-1))

    def _rounding(self) -> float:
        """By how much the whole differs from itself for the order of its sums alone."""
        plain = OnnxGraph(self._model, optimized=False)
        prior = self._prior(self._latent.shape[2])
        return float(np.abs(self._spoken(self._whole, prior) - self._spoken(plain, prior)).max())

    def reaches(self) -> tuple[int, int]:
        """Frames to the right that make a difference: for the flow by trying, for the decoder by
        its layers."""
        shown = self._latent.shape[2] - max(REACHES)
        latent = self._alone("flow", self._latent[:, :, :shown].copy())
        off = np.abs(latent - self._z[:, :, :shown]).max(axis=(0, 1))
        bad = np.flatnonzero(off > TOLERANCE * float(np.abs(self._z).max()) / 8)
        wanted = shown - int(bad[0]) if len(bad) else 0
        # One sentence does not show all: two frames more.
        return (
            next((reach for reach in REACHES if reach >= wanted), max(REACHES)) + 2,
            self._decoder_sees,
        )

    def streamed(self, right: tuple[int, int], size: int = 23) -> None:
        """VoiceError unless steps of a few frames are the whole."""
        flow = self._parts["flow"]
        decoder = self._parts["decoder"]
        hop = self._cuts.hop
        channels = self._cuts.channels
        vocoder = LatentVocoder(
            flow, decoder, channels=channels, hop_length=hop, right=right, fade=0
        )
        latents = self._latent[0].T
        parts = [latents, np.zeros_like(latents)]
        if self._piper.speakers:
            parts.append(np.full((len(latents), 1), self._speaker, np.float32))
        frames = np.concatenate(parts, axis=1)
        out = list[Floats]()
        state = vocoder.initial(0)
        for at in range(0, len(frames), size):
            ahead = frames[at + size :][: vocoder.context]
            ended = at + size >= len(frames)
            samples, state = vocoder.step(frames[at : at + size], ahead, state, seed=0, ended=ended)
            out.append(samples)
        difference = float(np.abs(np.concatenate(out) - self._samples).max())
        if difference > TOLERANCE:
            raise self._graph.strange(f"differs in steps by {difference:g}")
