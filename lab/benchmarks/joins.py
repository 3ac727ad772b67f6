"""How far sound that is spoken word by word lies from the whole sentence's around its joins, in dB.

    python lab/benchmarks/joins.py --texts val.csv [--count 30] [--results FILE]

Durations, pitch and energy are the whole sentence's (``blind.py``), so that both lie sample by
sample beside each other, and what is left is the sound running into what was expected. The mean
absolute difference of mel spectra (31 bands up to 8 kHz, windows of 21 ms, nothing 60 dB below the
loudest) before, at and after the joins. No listener is asked: it says where the sound differs, not
how much that is heard."""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from blind import Told
from output import keep
from sayahead import Voice, load_voice
from sayahead.research import LookaheadK, WaitAll
from sayahead.types import Floats
from sayahead.vocoders.heart import HeartVocoder
from sayahead.vocoders.sourcefilter import SourceFilter

from sayahead_lab.scripts import read_texts

SIZE = 512
HOP = 75
RATE = 24000
BANDS = 31
PLACES = {
    "50 to 25 ms before": range(-16, -8),
    "25 to 0 ms before": range(-8, 0),
    "0 to 25 ms behind": range(8),
}
"""Windows by their middles, counted in hops from the join."""
TOLD = ("durations", "prosody")


@dataclass(frozen=True, slots=True)
class Row:
    """A way of speaking."""

    name: str
    """In the table."""
    k: int = 0
    """Words of lookahead."""
    hold_back_s: float | None = None
    """None: the voice's own, 50 ms at k = 1, 100 ms at k = 0."""
    right: int = 8
    """Provisional frames that the decoder is given after the two that overlap."""
    anew: bool = True
    """See SourceFilter."""


ROWS = (
    Row("k = 1", k=1),
    Row("k = 1, 27 and 2 provisional frames", k=1, right=27),
    Row("k = 1, 10 and 2", k=1, right=10),
    Row("k = 1, 6 and 2", k=1, right=6),
    Row("k = 1, 4 and 2", k=1, right=4),
    Row("k = 0"),
    Row("k = 0, expected spectra stay", anew=False),
    Row("k = 0, 27 and 2", right=27),
    Row("k = 0, 60 ms held back", hold_back_s=0.06),
    Row("k = 0, 80 ms held back", hold_back_s=0.08),
    Row("k = 0, 150 ms held back", hold_back_s=0.15),
)


class Pieces(HeartVocoder):
    """A vocoder that notes the samples of each step."""

    def listen(self, vocoder: HeartVocoder, row: Row) -> None:
        """Take the place of ``vocoder``, as ``row`` says."""
        self.__dict__.update(vocoder.__dict__)
        self.context = SourceFilter.OVERHANG + row.right
        self._filter = SourceFilter(anew=row.anew)
        self.pieces = list[Floats]()

    def step(self, *given: Any, **options: Any) -> Any:
        """See Vocoder."""
        made = super().step(*given, **options)
        self.pieces.append(made[0])
        return made


def bands(samples: Floats) -> Floats:
    """(T, 31) mel bands in dB."""
    top = 2595 * np.log10(1 + 8000 / 700)
    edges = 700 * (10 ** (np.linspace(0, top, BANDS + 2) / 2595) - 1)
    bins = np.fft.rfftfreq(SIZE, 1 / RATE)
    filters = np.array([np.interp(bins, edges[n : n + 3], (0, 1, 0)) for n in range(BANDS)])
    views = np.lib.stride_tricks.sliding_window_view(samples, SIZE)[::HOP]
    power = np.square(np.abs(np.fft.rfft(views * np.hanning(SIZE), axis=1)))
    return np.asarray(10 * np.log10(power @ filters.T + 1e-6))


def spoken(voice: Voice, row: Row, texts: list[str]) -> tuple[dict[str, list[float]], int]:
    """Differences in dB by place, everywhere too, and how many texts were compared."""
    synthesizer: Any = voice.synthesizer
    told = Told.__new__(Told)
    pieces = Pieces.__new__(Pieces)
    told.listen(synthesizer.acoustic)
    told.told = TOLD
    pieces.listen(synthesizer.vocoder, row)
    # The first stage makes as many as the second can use.
    told._right_units = -(-pieces.context // told.FRAMES_PER_UNIT)
    synthesizer.acoustic = told
    synthesizer.vocoder = pieces
    options: dict[str, Any] = {} if row.hold_back_s is None else {"hold_back_s": row.hold_back_s}
    found = defaultdict[str, list[float]](list)
    compared = 0
    for text in texts:
        told.recording = True
        pieces.pieces = []
        voice.synthesize(text, policy=WaitAll())
        whole = np.concatenate(pieces.pieces)
        told.recording = False
        pieces.pieces = []
        voice.synthesize(text, policy=LookaheadK(row.k), **options)
        parts = np.concatenate(pieces.pieces)
        if len(whole) != len(parts):
            # What was held back was too long for the whole sentence's durations.
            continue
        compared += 1
        one = bands(whole)
        other = bands(parts)
        floor = one.max() - 60
        apart = np.abs(np.maximum(one, floor) - np.maximum(other, floor)).mean(axis=1)
        loud = one.max(axis=1) > floor + 10
        found["everywhere"] += apart[loud].tolist()
        for join in np.cumsum([len(piece) for piece in pieces.pieces])[:-1]:
            middle = round((join - SIZE // 2) / HOP)
            for place, hops in PLACES.items():
                there = np.array(
                    [middle + hop for hop in hops if 0 <= middle + hop < len(apart)], np.int64
                )
                found[place] += apart[there][loud[there]].tolist()
    return found, compared


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=Path, required=True, help="id|text lines")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--results", type=Path, help="write the table here (Markdown)")
    arguments = parser.parse_args()
    lines = [script.text for script in read_texts(arguments.texts)]
    texts = [text for text in lines if 30 < len(text) < 110 and not set(text[:-1]) & set(".?!;:")][
        : arguments.count
    ]
    places = ["everywhere", *PLACES]
    rows = [
        (
            f"{len(texts)} sentences of the validation split; `python lab/benchmarks/joins.py"
            f" --texts val.csv --count {arguments.count}`. Mean difference from the whole"
            " sentence's spectrum, dB."
        ),
        "",
        "| condition | sentences | " + " | ".join(places) + " |",
        "|---|---:|" + "---:|" * len(places),
    ]
    for row in ROWS:
        found, compared = spoken(load_voice(), row, texts)
        rows.append(
            f"| {row.name} | {compared} | "
            + " | ".join(f"{np.mean(found[one]):.2f}" for one in places)
            + " |"
        )
        print(rows[-1], flush=True)
    keep(rows, arguments.results)


if __name__ == "__main__":
    main()
