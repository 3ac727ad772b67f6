"""What each style of the table changes, measured: pitch, its range, pace, loudness; and whether the
words are heard.

    python lab/benchmarks/styles.py --whisper FOLDER --json lab/benchmarks/results/styles.json \
        [--styles NAME ...]

The default voice says eight sentences plainly and in each style. Pitch is by autocorrelation, word
errors are those of Whisper. With ``--styles``, the others stay as they are in the file."""

from __future__ import annotations

import numpy as np
from sayahead import Voice, load_voice
from sayahead.text.styles.table import STYLES
from sayahead.types import Floats

from sayahead_lab.eval.listening.listeners import load_word_counter
from sayahead_lab.results import keep_figures, kept, options

TEXTS = (
    "I can hear you over there, and the weather is really nice today.",
    "She put the letter on the table and left without a word.",
    "We will meet again on Monday, after the long weekend.",
    "Please tell me what you would like to have for dinner.",
    "The train to the city leaves from the other side of the station.",
    "My brother has never been to the mountains in winter.",
    "There is nothing in this house that belongs to him.",
    "Nobody knew where the music was coming from.",
)
FRAME = 1200
STEP = 240


def pitches(samples: Floats) -> Floats:
    """Hz of the voiced frames, by autocorrelation."""
    found = []
    for at in range(0, len(samples) - FRAME, STEP):
        window = samples[at : at + FRAME]
        if np.sqrt((window**2).mean()) < 0.01:
            continue
        shifted = np.correlate(window, window, "full")[FRAME - 1 :]
        lag = 60 + int(np.argmax(shifted[60:300]))
        if shifted[lag] > 0.6 * shifted[0]:
            found.append(24000 / lag)
    return np.array(found, np.float32)


def main() -> None:
    """Measure."""
    parser = options(__doc__, "whisper", "json")
    parser.add_argument("--styles", nargs="+", default=list(STYLES), choices=STYLES, metavar="NAME")
    arguments = parser.parse_args()
    voice = load_voice("heart")
    count = load_word_counter(arguments.whisper)
    results = kept(arguments.json) or {"sentences": len(TEXTS), "styles": {}}
    plain = [said(voice, "normal", text) for text in TEXTS]
    for name in arguments.styles:
        sounds = plain if name == "normal" else [said(voice, name, text) for text in TEXTS]
        pairs = zip(TEXTS, sounds, strict=True)
        wrong = sum(count(text, sound, 24000).total for text, sound in pairs)
        results["styles"][name] = figures(plain, sounds) | {"words_wrong": wrong}
        print(name, results["styles"][name], flush=True)
    keep_figures(results, arguments.json)


def said(voice: Voice, style: str, text: str) -> Floats:
    """A sentence in a style."""
    return voice.synthesize(f"[{style}] {text}")


def figures(plain: list[Floats], sounds: list[Floats]) -> dict[str, float]:
    """What differs from the plain sentences."""
    before, after = (np.concatenate([pitches(sound) for sound in each]) for each in (plain, sounds))
    voiced = len(after) / max(1, len(before))
    spread = [np.std(12 * np.log2(each)) if len(each) > 20 else np.nan for each in (before, after)]
    power = [np.mean([np.square(sound).mean() for sound in each]) for each in (plain, sounds)]
    return {
        "semitones": round(float(12 * np.log2(np.median(after) / np.median(before))), 2)
        if voiced > 0.2
        else 0.0,
        "range": round(float(spread[1] / spread[0]), 2) if voiced > 0.2 else 0.0,
        "voiced": round(voiced, 2),
        "pace": round(sum(map(len, plain)) / sum(map(len, sounds)), 2),
        "loudness_db": round(float(10 * np.log10(power[1] / power[0])), 1),
    }


if __name__ == "__main__":
    main()
