"""Recordings as the source of a corpus: a folder in LJ Speech's layout, and an aligner's TextGrids.

An item is a recording. Its phonemes are those of the English front end where the aligner wrote
these or ARPAbet, and otherwise the aligner's own, from which no voice can be made. A space stands
between any two words, as in text: it lasts as long as the aligner's pause there, 0 frames without
one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sayahead.errors import ConfigError
from sayahead.sound.files import read_wav
from sayahead.sound.pcm import to_pcm16
from sayahead.sound.pitch import HOP_S, pitch_hz
from sayahead.types import Floats

from sayahead_lab.eval.measures.textgrid import Interval, read_textgrid, tier
from sayahead_lab.training.corpus.arpabet import converted, front_end_table
from sayahead_lab.training.corpus.frontend import MelFrontEnd
from sayahead_lab.training.corpus.store import About, Item
from sayahead_lab.training.corpus.teacher import inventory, resample, voice_config

PAD = 0
SPACE = 1
"""The ids of the pads and of the space between words; symbols that the front end does not have
follow."""
SILENCES = ("", "sil", "sp", "SIL", "<eps>", "<sil>")
"""Aligners' labels for silence."""
NOISES = ("spn", "SPN", "<unk>")
"""Labels of a word that the aligner's dictionary lacks."""


@dataclass(frozen=True, slots=True)
class RecordedSpec:
    """What the settings of a corpus of recordings have in common, whoever aligned them."""

    front_end: MelFrontEnd
    """Front end of the frames; recordings at other rates are resampled."""
    folder: Path
    """Folder with wavs/NAME.wav or wavs/NAME.flac, 16-bit mono."""
    lead: int = field(default=4, kw_only=True)
    """Most frames of silence kept before an item's first phoneme."""
    tail: int = field(default=12, kw_only=True)
    """Most frames of silence kept after its last one."""
    audio: bool = field(default=True, kw_only=True)
    """Whether items have samples."""
    skip_missing: bool = field(default=False, kw_only=True)
    """Whether unusable recordings are left out, with the reason, instead of raising an error."""

    def described(self, **aligned: str) -> dict[str, str]:
        """The source in corpus.json, ``aligned`` by what; without skipped recordings, so that a run
        can resume."""
        silence = {"lead": str(self.lead), "tail": str(self.tail), "audio": str(self.audio).lower()}
        return {"kind": "recordings", "folder": self.folder.name, **aligned, **silence}


@dataclass(frozen=True, slots=True)
class RecordingSpec(RecordedSpec):
    """A corpus's settings for recordings with TextGrids; ``scan`` makes one. The folder has a
    metadata.csv."""

    alignments: Path
    """Folder with NAME.TextGrid, in it or in its subfolders."""
    symbols: tuple[str, ...] = ()
    """The aligner's symbols, in order."""

    @property
    def table(self) -> dict[str, str] | None:
        """The front end's symbols of each label; None where the labels are neither its own nor
        ARPAbet."""
        return front_end_table(self.symbols, voice_config().phonemes)

    @property
    def inventory(self) -> tuple[dict[str, int], int]:
        """Symbol to id, and the pad's id: the front end's, where the aligner's symbols are, or
        stand for, these."""
        if self.table is not None:
            return inventory()
        return {
            " ": SPACE,
            **{symbol: number for number, symbol in enumerate(self.symbols, SPACE + 1)},
        }, PAD

    def about(self) -> About:
        """What is described has no punctuation, as alignments have none, and no seed: nothing is
        random."""
        return About(
            self.front_end,
            *self.inventory,
            self.described(alignments=self.alignments.name),
            "none",
            seed=0,
        )

    def open(self) -> Recordings:
        """The recordings, ready for reading."""
        return Recordings(self)


def scan(spec: RecordingSpec, names: Iterable[str]) -> RecordingSpec:
    """The spec with all symbols in the alignments of the named recordings; ConfigError where one is
    missing."""
    files = textgrids(spec.alignments)
    symbols = set[str]()
    for name in names:
        try:
            path = alignment_of(files, name, spec.alignments)
            symbols.update(phone.label for phone in tier(read_textgrid(path), "phones", path))
        except ConfigError:
            if not spec.skip_missing:
                raise
    return replace(spec, symbols=tuple(sorted(symbols.difference(SILENCES, NOISES))))


class Recordings:
    """A source that makes items of recordings and their alignments."""

    def __init__(self, spec: RecordingSpec) -> None:
        self.spec = spec
        self._ids, _ = spec.inventory
        self._table = spec.table
        self._files = textgrids(spec.alignments)

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        """The recording of that name as one item, or the reason for leaving it out."""
        try:
            return [self._item(name, text)], []
        except ConfigError as error:
            if not self.spec.skip_missing:
                raise
            return [], [f"{name}: {error}"]

    def _item(self, name: str, text: str) -> Item:
        spec = self.spec
        front = self.spec.front_end
        samples = read_recording(spec.folder, name, front.sample_rate)
        path = alignment_of(self._files, name, spec.alignments)
        tiers = read_textgrid(path)
        word_intervals = [word for word in tier(tiers, "words", path) if word.label not in SILENCES]
        check_words(text, word_intervals, path)
        phones = tier(tiers, "phones", path)
        if noise := next((phone for phone in phones if phone.label in NOISES), None):
            raise ConfigError(
                f"{path}: the aligner did not know the word at {noise.begin_s:.2f} s: add it to its"
                " dictionary, or use --skip-missing."
            )
        phones = phones if self._table is None else converted(phones, self._table)
        symbols, words, edges_s = lay_out(phones, word_intervals, path)
        unknown = [symbol for symbol in symbols if symbol not in self._ids]
        if unknown:
            raise ConfigError(
                f"{path} has the phone {unknown[0]!r}, which it had not before: make the corpus"
                " again."
            )
        edges = np.rint(np.array(edges_s) * front.sample_rate / front.hop).astype(np.int64)
        frames = len(samples) // front.hop
        if edges[-1] > frames + 1:
            raise ConfigError(
                f"{path} goes on after the end of its recording, which lasts {frames} frames."
            )
        edges = np.minimum(edges, frames)
        begin = max(0, int(edges[0]) - spec.lead)
        end = min(frames, int(edges[-1]) + spec.tail)
        pcm = to_pcm16(samples[begin * front.hop : end * front.hop])
        samples = pcm.astype(np.float32) / np.float32(32767)
        ids = np.array([self._ids[symbol] for symbol in symbols], np.int16)
        durations = np.diff(np.concatenate([[begin], edges, [end]])).astype(np.int16)
        mel = front.log_mel(samples).astype(np.float16)
        return Item(
            name,
            text,
            ids,
            words,
            durations,
            pitch(samples, front),
            mel,
            pcm if spec.audio else None,
        )


def lay_out(
    phones: list[Interval], words: list[Interval], path: Path
) -> tuple[list[str], NDArray[np.int16], list[float]]:
    """Symbols (P,), each word's [first, end) among them, and the edges (P + 1,) of the symbols in
    seconds.

    ConfigError where a phone belongs to no word, or a word has none.
    """
    sounding = [phone for phone in phones if phone.label not in SILENCES]
    symbols: list[str] = []
    spans = []
    edges_s = list[float]()
    for word in words:
        inside = [p for p in sounding if word.begin_s <= (p.begin_s + p.end_s) / 2 < word.end_s]
        if not inside:
            raise ConfigError(
                f"{path}: the word {word.label!r} at {word.begin_s:.2f} s has no phones."
            )
        if symbols:
            symbols.append(" ")
        edges_s.append(inside[0].begin_s)
        spans.append((len(symbols), len(symbols) + len(inside)))
        symbols += [phone.label for phone in inside]
        # A silence inside a word counts to the phone before it.
        edges_s += [*(phone.begin_s for phone in inside[1:]), inside[-1].end_s]
    if not symbols or sum(end - first for first, end in spans) != len(sounding):
        raise ConfigError(
            f"{path}: some phones belong to no word, or there are none: align the recording again."
        )
    return symbols, np.array(spans, np.int16), edges_s


def check_words(text: str, words: list[Interval], path: Path) -> None:
    """ConfigError where the aligner's words are not the transcript's, apart from case, punctuation
    and spacing."""
    ours = letters(text)
    theirs = letters(" ".join(word.label for word in words))
    if ours != theirs:
        at = next(
            (i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b),
            min(len(ours), len(theirs)),
        )
        raise ConfigError(
            f"The words of {path} are not those of the transcript: {theirs[at : at + 20]!r} where"
            f" the text has {ours[at : at + 20]!r}. Align the recording again, with this text."
        )


def letters(text: str) -> str:
    """Letters and digits of a text, in lower case."""
    return re.sub(r"[\W_]", "", text.casefold())


def pitch(samples: Floats, front_end: MelFrontEnd) -> NDArray[np.float16]:
    """(T,) pitch in Hz of each frame by autocorrelation (``eval.pitch``, every 10 ms), 0 where
    there is none."""
    hertz = pitch_hz(samples, front_end.sample_rate)
    centres_s = np.arange(front_end.frames(len(samples))) * front_end.hop / front_end.sample_rate
    nearest = np.minimum(np.rint(centres_s / HOP_S).astype(np.int64), max(0, len(hertz) - 1))
    return hertz[nearest].astype(np.float16)


def read_metadata(folder: Path) -> dict[str, str]:
    """Name to spoken text, the last column, of metadata.csv; ConfigError for an invalid file."""
    path = folder / "metadata.csv"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}. Name a folder in LJ Speech's layout."
        ) from error
    texts = {}
    for row, line in enumerate(lines, 1):
        name, *rest = line.split("|")
        if line.strip() and not rest:
            raise ConfigError(f"{path}, line {row}: expected name|text, found {line[:60]!r}.")
        if line.strip():
            texts[name] = rest[-1]
    return texts


def read_recording(folder: Path, name: str, rate: int) -> Floats:
    """(S,) samples in [-1, 1] of ``wavs/NAME.wav`` (16-bit) or ``.flac``, mono, at a rate;
    ConfigError for others.

    A recording that is not in ``wavs`` may lie in the folder itself.
    """
    paths = [
        parent / f"{name}{kind}"
        for parent in (folder / "wavs", folder)
        for kind in (".wav", ".flac")
    ]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise ConfigError(
            f"The recording {paths[0]} is missing, as WAV and as FLAC: leave its name out, or use"
            " --skip-missing."
        )
    return read_sound(path, rate)


def read_sound(path: Path, rate: int) -> Floats:
    """(S,) samples in [-1, 1] of a mono WAV (16-bit) or FLAC file at a rate; ConfigError for
    others."""
    samples, found_rate = read_wav(path) if path.suffix == ".wav" else read_flac(path)
    return resample(samples, found_rate, rate)


def read_flac(path: Path) -> tuple[Floats, int]:
    """Samples (S,) in [-1, 1] and sample rate of a mono FLAC file; ConfigError where it is not
    one."""
    import soundfile

    try:
        samples, rate = soundfile.read(path, dtype="float32")
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"{path} cannot be read as a FLAC file: {error}.") from error
    if samples.ndim != 1:
        raise ConfigError(f"{path} has {samples.shape[1]} channels: make it mono.")
    return samples, int(rate)


def textgrids(folder: Path) -> dict[str, Path]:
    """Name to file of all TextGrids in a folder and those below; ConfigError where there are
    none."""
    files = {path.stem: path for path in sorted(folder.rglob("*.TextGrid"))}
    if not files:
        raise ConfigError(
            f"There are no .TextGrid files in {folder}: name the folder that the aligner wrote to."
        )
    return files


def alignment_of(files: dict[str, Path], name: str, folder: Path) -> Path:
    """A recording's TextGrid; ConfigError where it has none."""
    if name not in files:
        raise ConfigError(
            f"{folder} has no {name}.TextGrid: align that recording, or use --skip-missing."
        )
    return files[name]
