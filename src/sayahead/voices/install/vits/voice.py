"""Makes a voice of a Piper voice: cuts its VITS graph into three that speak word by word.

The three graphs are installed only if, together and in steps, they give the same samples as the
whole."""

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
from sayahead.voices.install.trial import samples_in_steps
from sayahead.voices.install.vits.cuts import Cuts, cut, find_cuts, ids_and_lengths
from sayahead.voices.write import write_voice

TOLERANCE = 1e-5
"""Largest difference between samples of the parts and of the whole with the same noise, and between
samples in steps and at once."""
ROUNDING = 2.0
"""The difference may also be that of the whole to itself without ONNX Runtime's optimizations,
which is rounding, times this."""
REACHES = range(4, 65, 2)
"""Numbers of frames of right context from which the flow's is chosen."""


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Which optimizations are applied to the parts."""

    masks: bool = False
    """Whether the masks of tokens are kept."""
    lean: bool = False
    """Whether shapes and normalizations are simplified, and convolutions two-dimensional."""
    splines: bool = False
    """Whether splines are replaced by shorter ones."""
    trim: tuple[str, ...] = ()
    """Operators of the flow and the decoder before which rows that are not needed are dropped."""


REWRITINGS = (
    Rewriting(lean=True, splines=True, trim=("ConvTranspose", "Split")),
    Rewriting(splines=True, trim=("ConvTranspose", "Split")),
    Rewriting(trim=("ConvTranspose",)),
    Rewriting(masks=True),
)
"""The fastest first. The first whose parts give the same as the whole is used."""
CARDS = ("MODEL_CARD", "MODEL_CARD.md", "LICENSE", "LICENSE.txt", "LICENSE.md")
"""Files beside a Piper voice that state its licence."""


def add_piper(onnx: Path, config: Path | None, folder: Path) -> None:
    """Write a voice into ``folder``, which must not exist, from a Piper voice's graph and its
    configuration, by default the file ``NAME.onnx.json``.

    A model card or licence beside the graph is copied. VoiceError if a file is missing or damaged,
    the graph is no VITS, or no front end reads the language; the folder is removed then.
    ConfigError if the package onnx is not installed.
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
        # Code that expects the nodes of a VITS raises all kinds of errors on another graph.
        problem = str(error).partition("\n")[0] or type(error).__name__
        raise graph.strange(f"cannot be cut: {problem}") from error


def write(graph: Graph, cuts: Cuts, piper: PiperConfig, folder: Path, *, original: Path) -> None:
    """Write the voice's graphs, voice.json and card; ``original`` is the file of the graph.
    VoiceError if the parts do not give the same as the whole."""
    trial = Trial(graph, cuts, piper)
    trial.save(folder)
    right = trial.right_context()
    trial.check_steps(right)
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
    """Raise VoiceError if the configuration has ids beyond the graph's embedding table."""
    tables = [graph.value(node.input[0]) for node in graph.of_type("Gather")]
    rows = max((len(table) for table in tables if table is not None and table.ndim == 2), default=0)
    largest = max(piper.phonemes.values())
    if largest >= rows:
        raise VoiceError(
            f"{graph.where} knows {rows} phonemes, but its configuration has ids up to {largest}:"
            " the two files do not belong together."
        )


def about(
    cuts: Cuts, piper: PiperConfig, terms: str, *, right: tuple[int, int], name: str
) -> dict[str, Any]:
    """Return the contents of voice.json. ``terms``: the licence; ``right``: frames of right context
    of the flow and the decoder; ``name``: the voice's."""
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
    """Return the licence that a card states, and the voice it was fine-tuned from, whose licence
    applies as well.

    A card has a line ``License: ...``; of a licence file the first line is taken."""
    text = card.read_text(encoding="utf-8", errors="replace")
    line = re.search(
        r"^[\s*_#-]*licen[cs]e[*_]*\s*:\s*(.+?)[\s*_]*$", text, re.IGNORECASE | re.MULTILINE
    )
    first_line = text.strip().partition("\n")[0] if "LICENSE" in card.name else "unknown"
    terms = (line[1] if line else first_line)[:80]
    base = re.search(r"fine-?tuned from (.*)", text, re.IGNORECASE)
    if base is None:
        return terms
    return f"{terms} (made from {base[1].strip(' .')[:60]}, whose licence counts too)"


def optimized(graph: Graph, path: Path) -> OnnxGraph:
    """Write a graph to ``path`` with its constants folded, in operators that any ONNX Runtime has;
    return it loaded."""
    simplify(graph.model.SerializeToString(), path)
    return OnnxGraph(path)


class Trial:
    """Runs the parts of a voice and the whole on the same sentence of random phonemes, with the
    same noise.

    Call ``save`` first: it chooses the parts that the other methods run."""

    TOKENS = 60
    """Phonemes of the sentence; Piper puts padding between each two."""

    def __init__(self, graph: Graph, cuts: Cuts, piper: PiperConfig) -> None:
        """``graph``: the whole; ``cuts``: of ``find_cuts``."""
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
        """Write the parts with the first of REWRITINGS at which they give the same as the whole.
        VoiceError if none does."""
        hop = self._cuts.hop
        difference = float("inf")
        for rewriting in REWRITINGS:
            parts = cut(self._graph, self._cuts, masks=rewriting.masks)
            # A frame of samples after the commit is enough: the cross-fade is shorter.
            self._decoder_sees = rows_needed(parts.decoder, hop)["rows"]
            graphs = {
                "text": with_short_splines(parts.text) if rewriting.splines else parts.text,
                "flow": with_caches(parts.flow, self._decoder_sees, trim=rewriting.trim),
                "decoder": with_caches(parts.decoder, hop, trim=rewriting.trim),
            }
            if rewriting.lean:
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
        """Those inputs that a graph has, by name; ``more`` replaces or adds some."""
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
        """Run the flow or the decoder on rows (1, C, T) as a whole sentence; return its output."""
        graph = self._parts[name]
        caches = graph.zeros("cache")
        outputs = graph(**self._inputs(graph, rows=rows, commit=count(rows.shape[2]), **caches))
        return np.asarray(next(iter(outputs.values())))

    def _difference(self) -> float:
        """Return the largest difference between samples of the parts, run one after another, and of
        the whole; infinite if they cannot be run. Keeps the latent, the flow's output and the
        samples for the other checks."""
        try:
            text = self._parts["text"](**self._inputs(self._parts["text"]))
            frames = np.maximum(np.ceil(text["frames"].reshape(-1)), 1).astype(np.int64)
            token_of_frame = np.repeat(np.arange(len(self._ids)), frames)
            prior = self._prior(len(token_of_frame))
            means = text["mean"][0]
            deviations = np.exp(text["log_deviation"][0]) * np.float32(self._piper.scales[0])
            latent = means[token_of_frame] + deviations[token_of_frame] * prior[0].T
            self._latent = latent.T[None]
            self._z = self._alone("flow", self._latent)
            self._samples = self._alone("decoder", self._z).reshape(-1)
            expected = self._spoken(self._whole, prior)
        except Exception:
            return float("inf")
        sizes = {len(expected), len(self._samples), len(token_of_frame) * self._cuts.hop}
        return float(np.abs(expected - self._samples).max()) if len(sizes) == 1 else float("inf")

    def _prior(self, frames: int) -> Floats:
        """Noise of the prior (1, C, T), the same at each call."""
        return np.random.default_rng(1).standard_normal(
            (1, self._cuts.channels, frames), dtype=np.float32
        )

    def _spoken(self, whole: OnnxGraph, prior: Floats) -> Floats:
        """Samples (S,) of the whole, optimized or not, with this noise."""
        return np.asarray(whole(**self._inputs(whole, prior=prior))["samples"].reshape(-1))

    def _rounding(self) -> float:
        """Return how much the whole differs from itself without ONNX Runtime's optimizations, which
        change only the order of its sums."""
        plain = OnnxGraph(self._model, optimized=False)
        prior = self._prior(self._latent.shape[2])
        return float(np.abs(self._spoken(self._whole, prior) - self._spoken(plain, prior)).max())

    def right_context(self) -> tuple[int, int]:
        """Return the frames of right context that influence the flow and the decoder.

        For the decoder they follow from its layers. The flow is measured: the sentence is cut off,
        and counted are the frames at its end that change by it."""
        visible = self._latent.shape[2] - max(REACHES)
        z = self._alone("flow", self._latent[:, :, :visible].copy())
        differences = np.abs(z - self._z[:, :, :visible]).max(axis=(0, 1))
        changed = np.flatnonzero(differences > TOLERANCE * float(np.abs(self._z).max()) / 8)
        influenced = visible - int(changed[0]) if len(changed) else 0
        flow = next((reach for reach in REACHES if reach >= influenced), max(REACHES))
        # Two frames more, as another sentence may need them.
        return flow + 2, self._decoder_sees

    def check_steps(self, right: tuple[int, int], size: int = 23) -> None:
        """Raise VoiceError unless steps of ``size`` frames give the same samples as the whole."""
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
        samples = samples_in_steps(vocoder, frames, size)
        difference = float(np.abs(samples - self._samples).max())
        if difference > TOLERANCE:
            raise self._graph.strange(f"differs in steps by {difference:g}")
