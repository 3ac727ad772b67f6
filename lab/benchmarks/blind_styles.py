"""Which styles are told apart, blind: by a machine that knows only sounds.

    python lab/benchmarks/blind_styles.py [--results FILE] [--styles NAME ...] [--sentences 12]

No person has listened. The judge is a linear classifier over what is measured in the sound: how
high and how lively the pitch is, pace, level, tilt of the spectrum, how much is voiced, how clear
the voice is of breath, and pauses. It hears a few plain sentences of a speaker first, as a listener
would, and then names the style of others. It is taught with some speakers and sentences; styles are
kept or dropped by other sentences of these speakers; the table is about further sentences of
speakers that it never heard.

So that it is no keener than ears, what it measures is blurred by what a listener just notices
(``EARS``). A style is told apart from another if, asked which of the two a sentence is in, the
judge is right in 80 % of the cases or more (chance is 50 %)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from output import tell
from sayahead import Voice, load_voice
from sayahead.text.styles.table import STYLES
from sayahead.types import Delivery, Floats

SENTENCES = {
    "teach": (
        "The train to the city leaves from the other side of the station.",
        "She put the letter on the table and left without a word.",
        "Please tell me what you would like to have for dinner.",
        "My brother has never been to the mountains in winter.",
        "We will meet again on Monday, after the long weekend.",
        "The children were playing in the garden behind the house.",
        "He closed the window before the rain began to fall.",
        "There is a small library at the end of this street.",
        "I have not seen your sister since the summer.",
        "The second door on the left leads to the kitchen.",
        "Most of the shops are closed on Sunday morning.",
        "They walked along the river until it was dark.",
    ),
    "choose": (
        "The doctor will call you back in about an hour.",
        "Nobody knew where the music was coming from.",
        "It takes ten minutes to walk from here to the harbor.",
        "Your package is waiting at the post office.",
        "There is nothing in this house that belongs to him.",
        "The meeting has been moved to Thursday afternoon.",
        "A narrow path goes through the forest to the lake.",
        "You can leave your coat and your bag over there.",
        "The old man told us a story about the war.",
        "We ordered two cups of tea and a piece of cake.",
        "The bridge was built more than a hundred years ago.",
        "Her plane lands a little after seven in the evening.",
    ),
    "judge": (
        "Somebody left a bicycle in front of the gate.",
        "The results of the test will be here tomorrow.",
        "I wrote the number down on the back of the ticket.",
        "The farmer sells eggs and honey at the market.",
        "All of the lights went out at the same time.",
        "You should read the last page before you sign it.",
        "A cold wind was blowing from the north all day.",
        "The museum opens at nine, except on Tuesday.",
        "My neighbor is looking for a larger apartment.",
        "They painted the whole room in a single afternoon.",
        "The dog has been sleeping under the table.",
        "We still need a few chairs for the guests.",
    ),
}
DROPPED: dict[str, Delivery] = {
    "calm": Delivery(speed=0.93, pitch=-0.5, pitch_range=0.8, energy=0.8),
    "happy": Delivery(speed=1.04, pitch=1.2, pitch_range=1.3, energy=1.2),
    "surprised": Delivery(pitch=2.0, pitch_range=1.5, energy=1.2),
    "curious": Delivery(pitch=1.0, pitch_range=1.3),
    "sad": Delivery(speed=0.86, pitch=-1.2, pitch_range=0.65, energy=0.65),
    "angry": Delivery(speed=1.06, pitch=0.8, pitch_range=1.25, energy=2.2),
    "afraid": Delivery(speed=1.14, pitch=2.2, pitch_range=1.15, energy=0.8),
    "hesitant": Delivery(speed=0.88, pitch_range=0.9, energy=0.75),
    "serious": Delivery(speed=0.94, pitch=-1.0, pitch_range=0.75, energy=1.1),
    "confident": Delivery(pitch=-0.5, pitch_range=1.15, energy=1.4),
}
"""What the table had, and was not told apart."""
CANDIDATES = {**STYLES, **DROPPED}
KNOWN_SPEAKERS = ("heart", "am_michael", "bf_emma", "am_puck")
"""Those that teach the judge."""
NEW_SPEAKERS = ("af_bella", "af_sarah", "am_fenrir", "bm_george")
"""Those of the table."""
EARS = {
    "pitch, semitones": 0.5,
    "range of pitch, semitones": 0.4,
    "pace, %": 5.0,
    "level, dB": 1.0,
    "tilt, dB": 1.0,
    "voiced, %": 5.0,
    "clear of breath, dB": 1.0,
    "pauses, %": 3.0,
}
"""What the judge measures, and the standard deviation by which it is blurred: about what listeners
just notice in running speech."""
TOLD_APART = 0.8
RATE = 24000
FRAME = 960
STEP = 240
MIN_LAG = RATE // 500
MAX_LAG = RATE // 60
VOICED = 0.45
"""The least autocorrelation of a voiced frame."""
BLURS = 4
"""Times each sentence is blurred for teaching."""
HEARINGS = 50
"""Times each sentence is blurred and judged: with once alone, other draws keep other styles."""


@dataclass(frozen=True, slots=True)
class Sounds:
    """What was measured of sentences: (N, F) less the speaker's plain mean, and the styles (N,)."""

    values: Floats
    styles: Floats


def measured(samples: Floats, text: str) -> Floats:
    """(F,) what is measured in a sentence's sound, in the order of ``EARS``."""
    count = (len(samples) - FRAME) // STEP
    frames = np.lib.stride_tricks.sliding_window_view(samples, FRAME)[: count * STEP : STEP]
    power = np.square(frames).mean(axis=1) + 1e-10
    active = power > 10 ** (-4.5)
    spectra = np.abs(np.fft.rfft(frames * np.hanning(FRAME), 2 * FRAME)) ** 2
    plain = np.abs(np.fft.rfft(frames - frames.mean(axis=1, keepdims=True), 2 * FRAME)) ** 2
    lags = np.fft.irfft(plain)[:, :FRAME]
    # A later lag has fewer products.
    share = lags / np.maximum(lags[:, :1], 1e-9) / (1 - np.arange(FRAME) / FRAME)
    within = share[:, MIN_LAG:MAX_LAG]
    # The first lag that is nearly as good as the best: no octave below.
    first = np.argmax(within >= 0.9 * within.max(axis=1, keepdims=True), axis=1)
    # ... and from there up to its peak.
    shown = np.where(np.arange(MAX_LAG - MIN_LAG) < (first + 24)[:, None], within, -1)
    peak = np.argmax(np.where(np.arange(MAX_LAG - MIN_LAG) >= first[:, None], shown, -1), axis=1)
    clear = np.clip(within[np.arange(count), peak], 1e-3, 0.999)
    voiced = active & (clear > VOICED)
    pitch = 12 * np.log2(RATE / (peak[voiced] + MIN_LAG)) if voiced.any() else np.zeros(1)
    hertz = np.fft.rfftfreq(2 * FRAME, 1 / RATE)
    low, high = (
        spectra[active][:, band].sum() for band in ((hertz < 1000), (hertz > 1000) & (hertz < 5000))
    )
    spoken = np.flatnonzero(active)
    length = (spoken[-1] - spoken[0] + 1) if len(spoken) else 1
    is_whisper = voiced.mean() < 0.1
    return np.array(
        [
            0 if is_whisper else np.median(pitch),
            0 if is_whisper else np.subtract(*np.percentile(pitch, (85, 15))),
            100 * np.log(len(text) / (active.sum() * STEP / RATE)),
            10 * np.log10(power[active].mean()),
            10 * np.log10(high / low),
            100 * voiced.sum() / active.sum(),
            10 * np.log10(clear[active] / (1 - clear[active])).mean(),
            100 * (1 - active.sum() / length),
        ],
        np.float32,
    )


def spoken(voice: Voice, text: str, delivery: Delivery) -> Floats:
    """A sentence's sound in a style."""
    session = voice.session()
    session.deliver(delivery)
    session.push(text)
    session.finish()
    chunks = list(iter(session.pull, None))
    return np.concatenate([chunk.samples for chunk in chunks])


def heard(
    voice: Voice, part: str, styles: Sequence[str], most: int
) -> Iterator[tuple[int, Floats]]:
    """The sentences of a part in each style, measured, less the mean of plain ones."""
    plain = np.mean(
        [measured(voice.synthesize(text), text) for text in SENTENCES["teach"][:most]], axis=0
    )
    for text in SENTENCES[part][:most]:
        for number, style in enumerate(styles):
            found = measured(spoken(voice, text, CANDIDATES[style]), text)
            # A whisper has no pitch to compare.
            less = np.where((found == 0) & (np.arange(len(found)) < 2), 0, plain)
            yield number, found - less


def listened(speakers: Sequence[str], part: str, styles: Sequence[str], most: int) -> Sounds:
    """What is measured of a part's first sentences by all speakers."""
    rows = [row for name in speakers for row in heard(load_voice(name), part, styles, most)]
    return Sounds(np.array([row for _, row in rows]), np.array([style for style, _ in rows]))


def blurred(sounds: Sounds, times: int, seed: int) -> Sounds:
    """As ears have it."""
    draw = np.random.default_rng(seed)
    deviations = np.array(list(EARS.values()))
    values = np.tile(sounds.values, (times, 1))
    return Sounds(
        values + draw.normal(size=values.shape) * deviations, np.tile(sounds.styles, times)
    )


class Judge:
    """Linear discriminants with the styles' common covariance."""

    def __init__(self, sounds: Sounds, count: int) -> None:
        means = [sounds.values[sounds.styles == style].mean(axis=0) for style in range(count)]
        self._means = np.array(means)
        around = sounds.values - self._means[sounds.styles.astype(int)]
        self._inverse = np.linalg.inv(around.T @ around / len(around))

    def distances(self, sounds: Sounds) -> Floats:
        """(N, C) how far each sentence is from each style."""
        apart = sounds.values[:, None] - self._means[None]
        return np.asarray(np.einsum("ncf,fg,ncg->nc", apart, self._inverse, apart), np.float32)


def pairs(distances: Floats, styles: Floats, count: int) -> Floats:
    """(C, C) how often the judge is right where it must choose between two styles."""
    right = np.full((count, count), np.nan)
    for one in range(count):
        for other in range(count):
            if one != other:
                of_one = distances[styles == one]
                right[one, other] = (of_one[:, one] < of_one[:, other]).mean()
    return np.asarray((right + right.T) / 2, np.float32)


def kept(right: Floats) -> list[int]:
    """Styles of which each is told apart from all others: whoever is confused with most others is
    dropped, until nobody is; plain speech stays."""
    left = list(range(len(right)))
    while True:
        among = right[np.ix_(left, left)]
        confused = (among < TOLD_APART).sum(axis=1)
        if not confused.any():
            return left
        worst = np.where(np.arange(len(left)) == 0, -1, confused - np.nanmean(among, axis=1))
        del left[int(np.argmax(worst))]


def table(names: Sequence[str], found: Mapping[str, Floats], stay: Sequence[int]) -> list[str]:
    """Lines of Markdown: each style, what it is taken for, and whether it is kept."""
    lines = [
        "| style | named right, of all | told from plain | least told apart from | chosen by |",
        "|---|---:|---:|---|---|",
    ]
    for row, name in enumerate(names):
        right = found["pairs"][row]
        near = int(np.nanargmin(right))
        plain = "" if row == 0 else f"{right[0]:.0%}"
        lines.append(
            f"| {name} | {found['named'][row]:.0%} | {plain} | {names[near]} ({right[near]:.0%}) |"
            f" {'kept' if row in stay else 'dropped'} |"
        )
    return lines


def main() -> int:
    """Measure; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "--styles", nargs="+", default=list(CANDIDATES), choices=CANDIDATES, metavar="NAME"
    )
    parser.add_argument("--results", type=Path, help="write the table here (Markdown)")
    parser.add_argument("--sentences", type=int, default=12, help="of each part, at most")
    arguments = parser.parse_args()
    styles = arguments.styles
    most = arguments.sentences
    taught = blurred(listened(KNOWN_SPEAKERS, "teach", styles, most), BLURS, 0)
    judge = Judge(taught, len(styles))
    parts = {"choose": KNOWN_SPEAKERS, "judge": NEW_SPEAKERS}
    found = dict[str, dict[str, Floats]]()
    for seed, (part, speakers) in enumerate(parts.items(), 1):
        sounds = blurred(listened(speakers, part, styles, most), HEARINGS, seed)
        distances = judge.distances(sounds)
        named = np.argmin(distances, axis=1) == sounds.styles
        found[part] = {
            "pairs": pairs(distances, sounds.styles, len(styles)),
            "named": np.array([named[sounds.styles == n].mean() for n in range(len(styles))]),
        }
    stay = kept(found["choose"]["pairs"])
    among = found["judge"]["pairs"][np.ix_(stay, stay)]
    apart = sum(bool((np.delete(row, n) >= TOLD_APART).all()) for n, row in enumerate(among))
    count = len(SENTENCES["judge"][:most]) * len(NEW_SPEAKERS)
    tell(
        [
            f"{apart} of {len(styles)} styles are told apart from each other by a machine (of"
            f" {len(stay)} that were kept), {count} sentences in each style, heard {HEARINGS}"
            f" times, of {len(NEW_SPEAKERS)} speakers that it had not heard; no person has"
            f" listened. `python lab/benchmarks/blind_styles.py --sentences {most}`",
            "",
            *table(styles, found["judge"], stay),
        ],
        arguments.results,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
