"""Makes a voice that speaks word by word (kind ``kokoro``) of Kokoro's files."""

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
from sayahead.voices.install.kokoro.parts import Parts, StyleMeasures, averaged, places
from sayahead.voices.install.onnx.graph import FLOAT, Array, Graph, read_graph
from sayahead.voices.install.trial import samples, samples_in_steps
from sayahead.voices.write import write_voice

log = logging.getLogger("sayahead")

ROW = 99
"""Row of a style's table that is used for all sentences, since their length is not known in
advance: that of 100 phonemes."""
PART_TOLERANCE = 1e-3
SOURCE_TOLERANCE = 3e-2
STEP_TOLERANCE = 1e-5
"""Largest differences: of the parts from the whole, in floats; of their sources, whose phase the
whole accumulates in 32 bits; of samples in steps from samples at once."""
EDGE_SAMPLES = 20
"""Samples at the ends of a sentence in which the whole overlaps fewer windows, and so differs."""


def add_kokoro(onnx: Path, config: Path | None, folder: Path) -> None:
    """Write a voice into ``folder``, which must not exist, from Kokoro's graph and the files beside
    it.

    ``config`` has the table ``vocab`` and may name a ``language``; by default it is
    ``NAME.onnx.json`` or ``config.json``. Styles are files beside the graph: ``.npz``, or ``.bin``
    of many (a zip archive) or of one (rows of float32). VoiceError if a file is missing or damaged,
    or the graph is no Kokoro; the folder is removed then."""
    files = read_files(onnx, config)
    folder.mkdir(parents=True)
    try:
        write(files, folder)
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, SayaheadError | OSError):
            raise
        # Code that expects Kokoro's nodes raises all kinds of errors on another graph.
        problem = str(error).partition("\n")[0] or type(error).__name__
        raise VoiceError(f"{onnx} is no Kokoro that this version knows: {problem}") from error


def write(files: Files, folder: Path) -> None:
    """Write the voice's graphs, styles and voice.json. VoiceError if styles do not fit the graph,
    or the parts do not give the same as the whole."""
    graph = read_graph(files.onnx)
    files, texts = readable(files)
    described = about(files)
    parts = Parts(graph)
    rows = {
        name: files.styles[name][min(ROW, len(files.styles[name]) - 1)] for name in files.languages
    }
    for name, row in rows.items():
        if len(row) != parts.width:
            raise VoiceError(
                f"A row of the style {name} has {len(row)} numbers, but {files.onnx.name} takes"
                f" {parts.width}."
            )
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
    """Drop the styles whose language cannot be phonemized on this machine, with a warning.

    Return the files with the others, and the phonemes of each language's sample sentences.
    ConfigError if no style is left."""
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
        names = ", ".join(name for name, spoken_tag in files.languages.items() if spoken_tag == tag)
        log.warning("%s left out: %s Then add the voice again (--replace).", names, problem)
    languages = {name: tag for name, tag in files.languages.items() if tag in texts}
    return replace(files, languages=languages), texts


def spoken(language: str, vocab: Mapping[str, int]) -> list[Ids]:
    """Return the phonemes (P,) of each of a language's sample sentences, on which styles are
    measured."""
    read = reading(language, vocab)
    ids = list[Ids]()
    for text in samples()[subtags(language)[0]]:
        normalizer = read.front.normalizer(0)
        words = [*normalizer.push(text), *normalizer.flush()]
        ids.append(np.concatenate([word.ids for word in read.phonemizer.phonemize(words, left=[])]))
    return ids


def measure(parts: Parts, texts: Sequence[Ids], row: Floats) -> StyleMeasures:
    """Measure a style, whose vector is ``row``, on sentences of phonemes."""
    return averaged(parts.measured(parts.run(ids, row)) for ids in texts)


def write_styles(
    folder: Path, parts: Parts, rows: Mapping[str, Floats], measures: Sequence[StyleMeasures]
) -> None:
    """Write the file that ``Styles`` reads: vectors and measurements of all styles, and the range
    of each cache."""
    arrays: dict[str, Any] = {
        name: np.stack([getattr(one, name) for one in measures]).astype(np.float32)
        for name in TABLES
        if name != "row"
    }
    arrays["row"] = np.stack(list(rows.values())).astype(np.float32)
    arrays |= {
        f"{name}_places": np.array(places(network.layers))
        for name, network in parts.networks.items()
    }
    np.savez(folder / Styles.FILE, **arrays)


def check_whole(parts: Parts, ids: Ids, row: Floats) -> None:
    """Raise VoiceError unless parts in floats give the same as the whole on one sentence, given the
    statistics of that very sentence.

    Pitch, energy, source and sound are compared. The source's spectra are compared by their
    magnitudes, since the phase of silence is rounding noise. For the same reason the rest of the
    decoder is given the whole's spectra, and not those that its own source makes."""
    outputs = parts.run(ids, row)
    whole = {name: outputs[tensor] for name, tensor in parts.inside.items()}
    statistics = parts.measured(outputs)
    graphs = {name: OnnxGraph(model.SerializeToString()) for name, model in parts.models().items()}
    style = graphs["style"](style=row[None], mean=statistics.mean, variance=statistics.variance)
    tokens = next(name for name in graphs["text"].shapes if name != "style")
    text = graphs["text"](
        **{tokens: np.concatenate([[EDGE], ids, [EDGE]])[None], "style": row[None]}
    )
    units = np.maximum(np.rint(text["durations"]), 1).astype(np.int64)
    phoneme_of_unit = np.repeat(np.arange(len(units)), units)
    commit = count(len(phoneme_of_unit))
    curves = graphs["prosody"](
        rows=text["prosody"][phoneme_of_unit],
        commit=commit,
        style=style["prosody"],
        **state_in_floats(graphs["prosody"]),
    )
    prosody = np.concatenate([curves[name].reshape(-1, 2) for name in ("pitch", "energy")], axis=1)
    turns, voiced, _ = source(curves["pitch"], 0, None)
    decoder = Graph(parts.decoder.model, where=parts.kokoro.graph.where)
    spectra_name = parts.decoder.spectra
    source_part = loaded(decoder.cut({}, {spectra_name: "spectra"}))
    shape = ("spectra", FLOAT, ("rows", whole["spectra"].shape[1]))
    sound_part = loaded(decoder.cut({spectra_name: shape}, {"samples": "sound"}))
    spectra = source_part(turns=turns, voiced=voiced)["spectra"]
    samples = sound_part(
        rows=text["sound"][phoneme_of_unit],
        prosody=prosody,
        lead=count(1),
        commit=commit,
        style=style["decoder"],
        spectra=np.ascontiguousarray(whole["spectra"][0].T),
        **state_in_floats(sound_part),
    )["sound"]
    magnitudes = slice(0, spectra.shape[1] // 2)
    # Name, what the parts give, what the whole gives, tolerance. Pitch is compared in units of
    # 100 Hz, so that all are of the same order.
    comparisons = (
        ("pitch", curves["pitch"] / 100, whole["pitch"].reshape(-1) / 100, PART_TOLERANCE),
        ("energy", curves["energy"], whole["energy"].reshape(-1), PART_TOLERANCE),
        ("source", spectra[:, magnitudes], whole["spectra"][0].T[:, magnitudes], SOURCE_TOLERANCE),
        (
            "sound",
            samples[EDGE_SAMPLES:][: len(phoneme_of_unit) * UNIT - EDGE_SAMPLES],
            outputs["audio"].reshape(-1)[EDGE_SAMPLES:],
            PART_TOLERANCE,
        ),
    )
    for name, own, expected, tolerance in comparisons:
        largest = tolerance * max(1.0, float(np.abs(expected).max()))
        if own.shape != expected.shape or not float(np.abs(own - expected).max()) < largest:
            raise VoiceError(f"{parts.kokoro.graph.where} differs from its parts in its {name}.")


def loaded(graph: Graph) -> OnnxGraph:
    """Load a graph to run it."""
    return OnnxGraph(graph.model.SerializeToString())


def state_in_floats(graph: OnnxGraph) -> dict[str, Array]:
    """Return the state before a sentence of a network in floats, all zeros."""
    return {
        name: np.zeros_like(value, np.float32)
        for name, value in initial_state(graph, None, []).items()
    }


def check_steps(folder: Path, ids: Ids, sizes: Sequence[int] = (9, 23)) -> None:
    """Raise VoiceError unless the installed parts give the same samples in steps of ``sizes`` units
    as at once."""
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
        difference = float(np.abs(samples_in_steps(vocoder, frames, size) - whole).max())
        if not difference < STEP_TOLERANCE:
            raise VoiceError(
                f"Kokoro's parts differ in steps by {difference:g} from what they make at once."
            )


def about(files: Files) -> dict[str, Any]:
    """Return the contents of voice.json."""
    language = next(iter(files.languages.values()))
    others = {name: tag for name, tag in files.languages.items() if tag != language}
    several = f", {len(files.languages)} styles" if len(files.languages) > 1 else ""
    notes = {"in dialect": ACCENTS, "of poor quality": POOR}
    remarks = [
        f"; {remark}: {', '.join(present)}"
        for remark, names in notes.items()
        if (present := [name for name in names if name in files.languages])
    ]
    return {
        "name": files.onnx.stem,
        "language": language,
        "description": f"Kokoro{several}; {SAMPLE_RATE / 1000:g} kHz{''.join(remarks)}",
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
