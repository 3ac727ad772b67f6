"""What lies beside Kokoro's graph: its phonemes, and its styles."""

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
"""Of a style, by the first letter of its name."""
ACCENTS = ("zf_xiaobei", "zf_xiaoni")
"""Styles of Mandarin that are heard as speakers of a dialect."""
POOR = ("jf_nezumi", "jf_tebukuro", "zf_xiaoyi", "zm_yunxia")
"""Styles that sound poor: DistillMOS below 4 of whole sentences."""


def is_kokoro(inputs: set[str]) -> bool:
    """Whether a graph with these inputs is one."""
    return {"style", "speed"} <= inputs and bool(inputs & {"tokens", "input_ids"})


@dataclass(frozen=True, slots=True)
class Files:
    """What lies beside Kokoro's graph, read."""

    onnx: Path
    """The graph."""
    vocab: dict[str, int]
    """Phonemes to ids."""
    styles: dict[str, Floats]
    """Tables (R, D) by their names."""
    languages: dict[str, str]
    """BCP 47 tag of each style that is spoken, the voice's own language first."""


def read_files(onnx: Path, config: Path | None) -> Files:
    """Of a graph and what lies beside it; ``config`` by default ``NAME.onnx.json`` or
    ``config.json``.

    VoiceError for what is missing or damaged.
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
    """Phonemes to ids, and the language if one is named."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise VoiceError(f"{path} cannot be read as JSON: {error}.") from error
    vocab = data.get("vocab") if isinstance(data, Mapping) else None
    valid = isinstance(vocab, Mapping) and all(
        isinstance(n, int) and len(s) == 1 for s, n in vocab.items()
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
    """Tables (R, D) by their names, of all files of styles beside a graph."""
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
    """Columns of a style."""
    size = table.shape[-1] if table.ndim > 1 else columns
    if not table.size or table.size % size:
        raise VoiceError(f"{path} holds {table.size} numbers, which make no rows of {size}.")
    return size


def spoken_by(styles: dict[str, Floats], language: str, onnx: Path) -> dict[str, str]:
    """The language of each style: the one that is named, or by its name; the first style's
    languages go first."""
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
