"""Kokoro's files: a graph, its phonemes and its styles become a voice that says whole utterances (kind ``kokoro``)."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.config import describe
from sayahead.errors import VoiceError
from sayahead.text.espeak.voices import voice_of
from sayahead.types import Floats
from sayahead.voices.write import write_voice

SAMPLE_RATE = 24000
LANGUAGES = {"a": "en-US", "b": "en-GB", "e": "es", "f": "fr-FR", "h": "hi", "i": "it", "p": "pt-BR"}
"""Of a style, by the first letter of its name."""
OWN_READER = {"j": "Japanese", "z": "Chinese"}
"""Languages whose phonemes are not espeak-ng's."""


def is_kokoro(inputs: set[str]) -> bool:
    """Whether a graph with these inputs is one."""
    return {"style", "speed"} <= inputs and bool(inputs & {"tokens", "input_ids"})


def add_kokoro(onnx: Path, config: Path | None, folder: Path) -> None:
    """Make ``folder``, which is not there, of Kokoro's graph and what lies beside it.

    ``config`` has the table ``vocab`` and may name a ``language``; by default it is ``NAME.onnx.json`` or
    ``config.json``. Styles are files beside the graph: ``.npz``, or ``.bin`` of many (a zip archive) or of one
    (rows of float32). VoiceError for what is missing or damaged; no folder is left then.
    """
    described = config or next(
        (path for path in (onnx.with_name(f"{onnx.name}.json"), onnx.with_name("config.json")) if path.is_file()), None
    )
    if described is None:
        raise VoiceError(f"{onnx.name} needs the model's config.json, with its table vocab, beside it (or --config).")
    vocab, language = read_vocab(described)
    styles = read_styles(onnx)
    language, names = chosen(styles, language, onnx)
    folder.mkdir(parents=True)
    try:
        shutil.copyfile(onnx, folder / "model.onnx")
        np.save(folder / "styles.npy", np.stack([styles[name] for name in names]))
        write_voice(folder, about(onnx.stem, vocab, language, names), folder.iterdir())
    except Exception:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def read_vocab(path: Path) -> tuple[dict[str, int], str]:
    """Phonemes to ids, and the language if one is named."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise VoiceError(f"{path} cannot be read as JSON: {error}.") from error
    vocab = data.get("vocab") if isinstance(data, Mapping) else None
    valid = isinstance(vocab, Mapping) and all(isinstance(n, int) and len(s) == 1 for s, n in vocab.items())
    if not vocab or not valid:
        raise VoiceError(f"{path}: vocab is {describe(vocab)}, but must be a table of phonemes to ids.")
    language = data.get("language", "")
    if not isinstance(language, str):
        raise VoiceError(f"{path}: language is {describe(language)}, but must be a tag such as 'en-US'.")
    return dict(vocab), language


def read_styles(onnx: Path) -> dict[str, Floats]:
    """Tables (R, D) by their names, of all files of styles beside a graph."""
    styles = dict[str, Floats]()
    for path in sorted([*onnx.parent.glob("*.npz"), *onnx.parent.glob("*.bin"), *onnx.parent.glob("voices/*.bin")]):
        try:
            if zipfile.is_zipfile(path):
                with np.load(path, allow_pickle=False) as tables:
                    arrays = {name: np.asarray(tables[name], np.float32) for name in tables.files}
            else:
                arrays = {path.stem: np.fromfile(path, np.float32)}
        except (ValueError, OSError, zipfile.BadZipFile) as error:
            raise VoiceError(f"{path} cannot be read as styles: {error}.") from error
        styles |= {name: table.reshape(-1, width(table, path)) for name, table in arrays.items()}
    if not styles:
        raise VoiceError(f"{onnx.name} needs styles beside it: an .npz, voices.bin, or a .bin for each.")
    return styles


def width(table: Floats, path: Path, columns: int = 256) -> int:
    """Columns of a style."""
    size = table.shape[-1] if table.ndim > 1 else columns
    if not table.size or table.size % size:
        raise VoiceError(f"{path} holds {table.size} numbers, which make no rows of {size}.")
    return size


def chosen(styles: dict[str, Floats], language: str, onnx: Path) -> tuple[str, list[str]]:
    """The voice's language, and the names of its styles: where none is named, those of the first style's."""
    names = sorted(styles)
    if not language:
        spoken = {name: LANGUAGES[name[0]] for name in names if name[1:2] in ("f", "m") and name[0] in LANGUAGES}
        if not spoken:
            own = ", ".join(sorted({OWN_READER[name[0]] for name in names if name[0] in OWN_READER}))
            why = f": {own} needs its own front end, which is not here" if own else ""
            raise VoiceError(
                f"The styles beside {onnx.name} ({', '.join(names[:5])}) are of no language that sayahead reads for "
                f'them{why}. Name one in the configuration, such as "language": "en-US".'
            )
        language = spoken[next(iter(spoken))]
        names = [name for name, own in spoken.items() if own == language]
    shapes = {styles[name].shape for name in names}
    if len(shapes) > 1:
        raise VoiceError(f"The styles beside {onnx.name} are of several shapes: {sorted(shapes)}.")
    return language, names


def about(name: str, vocab: dict[str, int], language: str, names: list[str]) -> dict[str, Any]:
    """The voice's description."""
    several = f", {len(names)} styles" if len(names) > 1 else ""
    return {
        "name": name,
        "language": language,
        "description": f"Kokoro{several}; whole sentences; {SAMPLE_RATE / 1000:g} kHz",
        "license": "unknown",
        "source": f"added from {name}.onnx",
        "kind": "kokoro",
        "sample_rate": SAMPLE_RATE,
        "speed": [0.5, 2.0],
        "defaults": {"lookahead": 1, "hold_back_s": 0.0, "blind_hold_back_s": 0.0},
        "model": {"espeak": voice_of(language)},
        "speakers": {style: number for number, style in enumerate(names)},
        "phonemes": vocab,
    }
