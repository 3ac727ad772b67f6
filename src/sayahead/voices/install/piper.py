"""Reads the ``.onnx.json`` of a Piper voice."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayahead.config import describe
from sayahead.errors import VoiceError

SPELLINGS = ("espeak", "text")
PAD = "_"
BEGIN = "^"
END = "$"


@dataclass(frozen=True, slots=True)
class PiperConfig:
    """The parts of a Piper voice's description that we need."""

    sample_rate: int
    """Samples per second."""
    spelling: str
    """What it reads: ``espeak`` or ``text``."""
    espeak: str
    """Name of espeak-ng's voice; empty where it reads characters."""
    language: str
    """BCP 47 tag."""
    name: str
    """Name of its language in English, or the tag."""
    quality: str
    """x_low, low, medium or high, or nothing."""
    phonemes: dict[str, int]
    """Code point to id."""
    speakers: dict[str, int]
    """Name to number, if there are several."""
    scales: tuple[float, float, float]
    """Factors on the prior's noise, on durations, and on the noise of durations."""


def read_piper(path: Path) -> PiperConfig:
    """Read a description. VoiceError says which entry is missing or unsupported."""
    if not path.is_file():
        raise VoiceError(
            f"{path} is missing: a Piper voice is two files, NAME.onnx and NAME.onnx.json"
            " beside it."
        )
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise VoiceError(f"{path} cannot be read as JSON: {error}.") from error
    if not isinstance(data, Mapping):
        raise VoiceError(f"{path} is no configuration of a Piper voice: it holds {describe(data)}.")
    version = str(data.get("piper_version") or "1")
    if not version.startswith(("0.", "1.")) and version not in ("0", "1"):
        raise VoiceError(f"{path} is of Piper {version}; this version of sayahead knows 1.")
    spelling = str(data.get("phoneme_type") or "espeak").lower().removeprefix("phonemetype.")
    if spelling not in SPELLINGS:
        raise VoiceError(
            f"{path}: phoneme_type is {spelling!r}, which needs a front end that sayahead does not"
            f" have. It reads voices of the types {' and '.join(SPELLINGS)}."
        )
    espeak = entry_of(data, path, "espeak", "voice", kind=str, default="")
    if spelling == "espeak" and not espeak:
        raise VoiceError(
            f"{path}: espeak.voice is missing, the voice of espeak-ng whose phonemes it reads."
        )
    code = (
        entry_of(data, path, "language", "code", kind=str, default="")
        or espeak
        or path.name.split("-")[0]
    )
    language = tag(code, path)
    return PiperConfig(
        sample_rate=entry_of(data, path, "audio", "sample_rate", kind=int),
        spelling=spelling,
        espeak=espeak,
        language=language,
        name=entry_of(data, path, "language", "name_english", kind=str, default=language),
        quality=entry_of(data, path, "audio", "quality", kind=str, default=""),
        phonemes=phonemes_of(data, path),
        speakers=speakers_of(data, path),
        scales=(
            scale(data, path, "noise_scale", 0.667),
            scale(data, path, "length_scale", 1.0),
            scale(data, path, "noise_w", 0.8),
        ),
    )


def scale(data: Mapping[str, Any], path: Path, name: str, default: float) -> float:
    """Return a factor from the table ``inference``."""
    value = entry_of(data, path, "inference", name, kind=float, default=default)
    if not 0 <= value <= 10 or (name == "length_scale" and value < 0.05):
        raise VoiceError(f"{path}: inference.{name} is {value}, but must be a number from 0 to 10.")
    return float(value)


def entry_of(
    data: Mapping[str, Any], path: Path, table: str, key: str, *, kind: type, default: Any = None
) -> Any:
    """Return ``data[table][key]``. VoiceError if it is not of the type ``kind``, or missing without
    a default."""
    entries = data.get(table, {})
    value = entries.get(key, default) if isinstance(entries, Mapping) else default
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or isinstance(value, bool):
        problem = "is missing" if value is None else f"is {describe(value)}"
        raise VoiceError(
            f"{path}: {table}.{key} {problem}, but a Piper voice has a {kind.__name__} there."
        )
    return value


def phonemes_of(data: Mapping[str, Any], path: Path) -> dict[str, int]:
    """Return the table ``phoneme_id_map``, which must have one id for each code point."""
    ids_of = data.get("phoneme_id_map")
    if not isinstance(ids_of, Mapping) or not ids_of:
        raise VoiceError(f"{path}: phoneme_id_map is missing: the voice would read nothing.")
    table = dict[str, int]()
    for symbol, ids in ids_of.items():
        if (
            not isinstance(ids, list)
            or len(ids) != 1
            or not isinstance(ids[0], int)
            or isinstance(ids[0], bool)
        ):
            raise VoiceError(
                f"{path}: phoneme_id_map: {symbol!r} is {describe(ids)}, but must be a list of"
                " one id."
            )
        if len(symbol) == 1:
            table[symbol] = ids[0]
    for symbol in (PAD, BEGIN, END):
        if symbol not in table:
            raise VoiceError(
                f"{path}: phoneme_id_map has no {symbol!r}, which every sentence of a Piper voice"
                " holds."
            )
    return table


def speakers_of(data: Mapping[str, Any], path: Path) -> dict[str, int]:
    """Return speakers by name, or by number if they have no name; empty if there is only one."""
    count = data.get("num_speakers", 1)
    named = data.get("speaker_id_map") or {}
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= 100_000:
        raise VoiceError(f"{path}: num_speakers is {describe(count)}, but must be a whole number.")
    if not isinstance(named, Mapping) or not all(
        isinstance(n, int) and 0 <= n < count for n in named.values()
    ):
        raise VoiceError(
            f"{path}: speaker_id_map must give each speaker's name a number below num_speakers,"
            f" {count}."
        )
    if count <= 1:
        return {}
    rest = {str(number): number for number in range(count) if number not in named.values()}
    return {str(name): number for name, number in named.items()} | rest


def tag(code: str, path: Path) -> str:
    """Return the BCP 47 tag for Piper's or espeak-ng's name of a language."""
    parts = re.split("[-_]", code.strip())
    if not re.fullmatch("[A-Za-z]{2,3}", parts[0]):
        raise VoiceError(
            f"{path}: language.code is {code!r}, which is no language's code such as de_DE."
        )
    regions = [part.upper() for part in parts[1:2] if re.fullmatch("[A-Za-z]{2}|[0-9]{3}", part)]
    return "-".join([parts[0].lower(), *regions])
