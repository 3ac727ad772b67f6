"""Reads the files beside Kokoro's graph: its phonemes and its styles."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sayahead.config import describe
from sayahead.errors import VoiceError
from sayahead.types import Floats

LANGUAGES = {
    "a": "en-US",
    "b": "en-GB",
    "e": "es",
    "f": "fr-FR",
    "h": "hi",
    "i": "it",
    "j": "ja",
    "p": "pt-BR",
    "z": "zh",
}
"""Language of a style by the first letter of its name."""
ACCENTS = ("zf_xiaobei", "zf_xiaoni")
"""Styles of Mandarin that sound like a dialect."""
POOR = ("af_nicole", "bf_alice", "bm_lewis", "jf_nezumi", "jf_tebukuro", "zf_xiaoyi", "zm_yunxia")
"""Styles that sound poor: DistillMOS below 4, of English ones in a sentence word by word."""


def is_kokoro(inputs: set[str]) -> bool:
    """Return whether a graph with these inputs is a Kokoro."""
    return {"style", "speed"} <= inputs and bool(inputs & {"tokens", "input_ids"})


@dataclass(frozen=True, slots=True)
class Files:
    """Kokoro's graph and the contents of the files beside it."""

    onnx: Path
    """The graph."""
    vocab: dict[str, int]
    """Phonemes to ids."""
    styles: dict[str, Floats]
    """Table (R, D) of each style: a vector for each length of a sentence in phonemes."""
    languages: dict[str, str]
    """BCP 47 tag of each style that can be spoken; the first is the voice's language."""


def read_files(onnx: Path, config: Path | None) -> Files:
    """Read the files beside a graph; ``config`` is by default ``NAME.onnx.json`` or
    ``config.json``.

    VoiceError if a file is missing or damaged.
    """
    described = config or next(
        (
            path
            for path in (onnx.with_name(f"{onnx.name}.json"), onnx.with_name("config.json"))
            if path.is_file()
        ),
        None,
    )
    if described is None:
        raise VoiceError(
            f"{onnx.name} needs the model's config.json, with its table vocab, beside it (or"
            " --config)."
        )
    vocab, language = read_vocab(described)
    styles = read_styles(onnx)
    return Files(onnx, vocab, styles, spoken_by(styles, language, onnx))


def read_vocab(path: Path) -> tuple[dict[str, int], str]:
    """Return the ids of phonemes, and the language, empty if the file names none. VoiceError if it
    is no such file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise VoiceError(f"{path} cannot be read as JSON: {error}.") from error
    vocab = data.get("vocab") if isinstance(data, Mapping) else None
    valid = isinstance(vocab, Mapping) and all(
        isinstance(number, int) and len(symbol) == 1 for symbol, number in vocab.items()
    )
    if not vocab or not valid:
        raise VoiceError(
            f"{path}: vocab is {describe(vocab)}, but must be a table of phonemes to ids."
        )
    language = data.get("language", "")
    if not isinstance(language, str):
        raise VoiceError(
            f"{path}: language is {describe(language)}, but must be a tag such as 'en-US'."
        )
    return dict(vocab), language


def read_styles(onnx: Path) -> dict[str, Floats]:
    """Return the tables (R, D) of all style files beside a graph, by name: ``.npz``, ``.bin`` of
    many (a zip archive) or of one (float32). VoiceError if there are none, or one is damaged."""
    styles = dict[str, Floats]()
    for path in sorted(
        [*onnx.parent.glob("*.npz"), *onnx.parent.glob("*.bin"), *onnx.parent.glob("voices/*.bin")]
    ):
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
        raise VoiceError(
            f"{onnx.name} needs styles beside it: an .npz, voices.bin, or a .bin for each."
        )
    return styles


def width(table: Floats, path: Path, columns: int = 256) -> int:
    """Return the size of a style vector: the table's last axis, or ``columns`` of a flat file.
    VoiceError if the table has no whole number of vectors."""
    size = table.shape[-1] if table.ndim > 1 else columns
    if not table.size or table.size % size:
        raise VoiceError(f"{path} holds {table.size} numbers, which make no rows of {size}.")
    return size


def spoken_by(styles: dict[str, Floats], language: str, onnx: Path) -> dict[str, str]:
    """Return the language of each style that has one: ``language`` for all, or else that of the
    first letter of names such as ``af_heart``.

    VoiceError if no style has one, or the tables of those differ in shape."""
    names = sorted(styles)
    if language:
        languages = dict.fromkeys(names, language)
    else:
        languages = {
            name: LANGUAGES[name[0]]
            for name in names
            if name[1:2] in ("f", "m") and name[0] in LANGUAGES
        }
    if not languages:
        raise VoiceError(
            f"The styles beside {onnx.name} ({', '.join(names[:5])}) are of no language that"
            ' sayahead reads for them. Name one in the configuration, such as "language": "en-US".'
        )
    shapes = {styles[name].shape for name in languages}
    if len(shapes) > 1:
        raise VoiceError(f"The styles beside {onnx.name} are of several shapes: {sorted(shapes)}.")
    return languages
