"""Kokoro's files become a voice that speaks word by word (kind ``kokoro``)."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.engine.onnx import OnnxGraph, cores, count
from sayahead.errors import ConfigError, SayaheadError, VoiceError
from sayahead.systems.kokoro import (
    EDGE,
    GRAPHS,
    TABLES,
    KokoroAcoustic,
    KokoroConfig,
    Styles,
    initial_state,
    reading,
)
from sayahead.types import Floats, Ids, Rendering, Segment, subtags
from sayahead.vocoders.kokoro import SAMPLE_RATE, UNIT, KokoroVocoder, source
from sayahead.voices.install.kokoro.files import ACCENTS, POOR, Files, read_files
from sayahead.voices.install.kokoro.networks import PROSODY_RIGHT, RIGHT
from sayahead.voices.install.kokoro.parts import Measured, Parts, averaged, places
from sayahead.voices.install.onnx.graph import FLOAT, Array, Graph, read_graph
from sayahead.voices.install.trial import samples
from sayahead.voices.write import write_voice

log = logging.getLogger("sayahead")

ROW = 99
"""The row of a style's table that a stream uses, whatever the length of its sentences: that of 100
phonemes."""
TOLERANCE = 1e-3
PHASE = 3e-2
STEPPED = 1e-5
"""Most that the parts may differ from the whole, both in floats; their sources, whose phase the
whole sums up in 32 bits; and samples in steps from samples at once."""
EDGE_SAMPLES = 20
"""Samples at a sentence's ends that the whole divides by a window of its own."""


def add_kokoro(onnx: Path, config: Path | None, folder: Path) -> None:
    """Make ``folder``, which is not there, of Kokoro's graph and what lies beside it.

    ``config`` has the table ``vocab`` and may name a ``language``; by default it is
    ``NAME.onnx.json`` or ``config.json``. Styles are files beside the graph: ``.npz``, or ``.bin``
    of many (a zip archive) or of one (rows of float32). VoiceError for what is missing or damaged;
    no folder is left then."""
    files = read_files(onnx, config)
    folder.mkdir(parents=True)
    try:
        write(files, folder)
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, SayaheadError | OSError):
            raise
        # Graphs that are not what they seem fail in as many ways as there are.
        problem = str(error).partition("\n")[0] or type(error).__name__
        raise VoiceError(f"{onnx} is no Kokoro that this version knows: {problem}") from error


def write(files: Files, folder: Path) -> None:
    """The voice's files; VoiceError if its parts are not the whole."""
    graph = read_graph(files.onnx)
    files, texts = readable(files)
    described = about(files)
    parts = Parts(graph)
    wide = parts.width
    for name in files.languages:
        if files.styles[name].shape[1] != wide:
            has = files.styles[name].shape[1]
            raise VoiceError(
                f"A row of the style {name} has {has} numbers, but {files.onnx.name} takes {wide}."
            )
    rows = {
        name: files.styles[name][min(ROW, len(files.styles[name]) - 1)] for name in files.languages
    }
    parts.save(folder)
    with ThreadPoolExecutor(cores()) as pool:
        styles = list(
            pool.map(lambda name: measure(parts, texts[files.languages[name]], rows[name]), rows)
        )
    write_styles(folder, parts, rows, styles)
    name = next(iter(rows))
    check_whole(Parts(graph, integers=False), texts[files.languages[name]][0], rows[name])
    check_steps(folder, texts[files.languages[name]][0])
    write_voice(folder, described, sorted(folder.iterdir()))


def readable(files: Files) -> tuple[Files, dict[str, list[Ids]]]:
    """The files with the styles whose language can be read here, and phonemes of each language's
    sentences; the others are told. ConfigError where none can."""
    texts: dict[str, list[Ids]] = {}
    missing: dict[str, ConfigError] = {}
    for tag in dict.fromkeys(files.languages.values()):
        try:
            texts[tag] = spoken(tag, files.vocab)
        except ConfigError as error:
            missing[tag] = error
    if not texts:
        raise next(iter(missing.values()))
    for tag, problem in missing.items():
        names = ", ".join(name for name, own in files.languages.items() if own == tag)
        log.warning("%s left out: %s Then add the voice again (--replace).", names, problem)
    languages = {name: tag for name, tag in files.languages.items() if tag in texts}
    return replace(files, languages=languages), texts


def spoken(language: str, vocab: Mapping[str, int]) -> list[Ids]:
    """Phonemes of a language's sentences, from which styles are measured."""
    read = reading(language, vocab)
    ids = list[Ids]()
    for text in samples()[subtags(language)[0]]:
        normalizer = read.front.normalizer(0)
        words = [*normalizer.push(text), *normalizer.flush()]
        ids.append(np.concatenate([word.ids for word in read.phonemizer.phonemize(words, left=[])]))
    return ids


def measure(parts: Parts, texts: Sequence[Ids], row: Floats) -> Measured:
    """What is measured of a style."""
    return averaged(parts.measured(parts.run(ids, row)) for ids in texts)


def write_styles(
    folder: Path, parts: Parts, rows: Mapping[str, Floats], found: Sequence[Measured]
) -> None:
    """The file of styles, and of what was measured of them."""
    tables = {
        name: np.stack([getattr(one, name) for one in found]).astype(np.float32)
        for name in TABLES
        if name != "row"
    }
    tables["row"] = np.stack(list(rows.values())).astype(np.float32)
    caches = {
        f"{name}_places": np.array(places(network.layers))
        for name, network in parts.networks.items()
    }
    arrays: dict[str, Any] = {
        name: np.array(table, np.float32) for name, table in tables.items()
    } | caches
    np.savez(folder / Styles.FILE, **arrays)


def check_whole(parts: Parts, ids: Ids, row: Floats) -> None:
    """VoiceError unless parts in floats make of a sentence, at its own statistics, what the whole
    makes in floats.

    The source's spectra are compared by their magnitudes: the phase of what is silent is left to
    rounding."""
    outputs = parts.run(ids, row)
    inside = {name: outputs[tensor] for name, tensor in parts.inside.items()}
    statistics = parts.measured(outputs)
    graphs = {name: OnnxGraph(model.SerializeToString()) for name, model in parts.models().items()}
    style = graphs["style"](style=row[None], mean=statistics.mean, variance=statistics.variance)
    tokens = next(name for name in graphs["text"].shapes if name != "style")
    text = graphs["text"](
        **{tokens: np.concatenate([[EDGE], ids, [EDGE]])[None], "style": row[None]}
    )
    units = np.maximum(np.rint(text["durations"]), 1).astype(np.int64)
    spread = np.repeat(np.arange(len(units)), units)
    commit = count(len(spread))
    curves = graphs["prosody"](
        rows=text["prosody"][spread],
        commit=commit,
        style=style["prosody"],
        **nothing_before(graphs["prosody"]),
    )
    prosody = np.concatenate([curves[name].reshape(-1, 2) for name in ("pitch", "energy")], axis=1)
    turns, voiced, _ = source(curves["pitch"], 0, None)
    inputs = {"rows": text["sound"][spread], "prosody": prosody, "lead": count(1), "commit": commit}
    inputs |= {"style": style["decoder"], **nothing_before(graphs["decoder"])}
    part = Graph(parts.decoder.model, where=str(parts.kokoro.graph.where))
    shape = ("spectra", FLOAT, ("rows", inside["spectra"].shape[1]))
    rest = OnnxGraph(
        part.cut({parts.decoder.spectra: shape}, {"samples": "sound"}).model.SerializeToString()
    )
    head = OnnxGraph(part.cut({}, {parts.decoder.spectra: "spectra"}).model.SerializeToString())
    spectra = head(turns=turns, voiced=voiced)["spectra"]
    known = {name: value for name, value in inputs.items() if name in rest.shapes}
    samples = rest(spectra=np.ascontiguousarray(inside["spectra"][0].T), **known)["sound"]
    half = spectra.shape[1] // 2
    pairs = {
        "pitch": (curves["pitch"] / 100, inside["pitch"].reshape(-1) / 100),
        "energy": (curves["energy"], inside["energy"].reshape(-1)),
        "source": (spectra[:, :half], inside["spectra"][0].T[:, :half]),
        "sound": (
            samples[EDGE_SAMPLES:][: len(spread) * UNIT - EDGE_SAMPLES],
            outputs["audio"].reshape(-1)[EDGE_SAMPLES:],
        ),
    }
    for name, (own, whole) in pairs.items():
        allowed = (PHASE if name == "source" else TOLERANCE) * max(1.0, float(np.abs(whole).max()))
        if own.shape != whole.shape or not float(np.abs(own - whole).max()) < allowed:
            raise VoiceError(f"{parts.kokoro.graph.where} differs from its parts in its {name}.")


def nothing_before(graph: OnnxGraph) -> dict[str, Array]:
    """What a network in floats has seen before a sentence."""
    return {
        name: np.zeros_like(value, np.float32)
        for name, value in initial_state(graph, None, []).items()
    }


def check_steps(folder: Path, ids: Ids, sizes: Sequence[int] = (9, 23)) -> None:
    """VoiceError unless the parts make in steps what they make at once."""
    graphs = {name: OnnxGraph(folder / f"{name}.onnx") for name in GRAPHS}
    styles = Styles(folder / Styles.FILE, graphs["style"], graphs["prosody"], graphs["decoder"])
    config = KokoroConfig(right=(PROSODY_RIGHT - RIGHT, RIGHT))
    acoustic = KokoroAcoustic(
        graphs["text"], graphs["prosody"], config, styles, lambda _: (ids[:0], ids[:0])
    )
    vocoder = KokoroVocoder(graphs["decoder"], styles.__getitem__, right=RIGHT, fade=0)
    segment = Segment(ids, len(ids), ((0, len(ids)),), True)
    frames = acoustic.step(segment, acoustic.initial(), Rendering(), hold_back=0)[0].final
    whole = vocoder.step(frames, frames[:0], vocoder.initial(0), seed=0, ended=True)[0]
    for size in sizes:
        state = vocoder.initial(0)
        made = list[Floats]()
        for at in range(0, len(frames), size):
            right = frames[at + size :][: vocoder.context]
            ended = at + size >= len(frames)
            samples, state = vocoder.step(frames[at : at + size], right, state, seed=0, ended=ended)
            made.append(samples)
        difference = float(np.abs(np.concatenate(made) - whole).max())
        if not difference < STEPPED:
            raise VoiceError(
                f"Kokoro's parts differ in steps by {difference:g} from what they make at once."
            )


def about(files: Files) -> dict[str, Any]:
    """The voice's description."""
    language = next(iter(files.languages.values()))
    others = {name: tag for name, tag in files.languages.items() if tag != language}
    several = f", {len(files.languages)} styles" if len(files.languages) > 1 else ""
    notes = {"in dialect": ACCENTS, "of poor quality": POOR}
    told = [
        f"; {what}: {', '.join(some)}"
        for what, names in notes.items()
        if (some := [name for name in names if name in files.languages])
    ]
    return {
        "name": files.onnx.stem,
        "language": language,
        "description": f"Kokoro{several}; {SAMPLE_RATE / 1000:g} kHz{''.join(told)}",
        "license": "unknown",
        "source": f"added from {files.onnx.name}",
        "kind": "kokoro",
        "sample_rate": SAMPLE_RATE,
        "hop_length": UNIT,
        "speed": [0.5, 2.0],
        "defaults": {"lookahead": 1, "hold_back_s": 0.05, "blind_hold_back_s": 0.15},
        "model": {"right": [PROSODY_RIGHT - RIGHT, RIGHT], "languages": others},
        "speakers": {style: number for number, style in enumerate(files.languages)},
        "phonemes": files.vocab,
    }
