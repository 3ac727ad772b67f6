"""Make the recordings of docs/samples.md and docs/voices.md:

    python docs/tools/samples.py [voices | podcast | verify]

It needs the codecs extra, espeak-ng and the voices of ``pip install ./voices/family``. ``voices``
makes the second page alone, ``podcast`` the dialogue, ``verify`` a sentence of the laboratory's
experiment of that name (``pip install ./lab``).

The same sentence arrives word by word at a reader's 180 words a minute, and each system speaks it
as soon as it can. A recording begins with the text's first letter, so the silence at the beginning
is how long a listener waits. Arrivals are simulated; the time of each synthesis step is measured
and counted."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tempfile
import time
import wave
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from sayahead import Options, Voice, dialogue, load_voice
from sayahead.sound.pcm import audible, from_pcm16, to_pcm16
from sayahead.types import Floats
from sayahead.voices import read_config
from sayahead.voices.locations import packaged_voices

DOCS = Path(__file__).parents[1]
FOLDER = DOCS / "samples"
TEXT = (
    "The last train to the coast leaves at a quarter past nine, so there is still time for a cup of"
    " tea and a scone."
)
WORD_S = 60 / 180
SYSTEMS: dict[str, tuple[str, Options | None]] = {
    "whole": ("sayahead, the whole sentence at once, as other engines do", {"policy": "wait-all"}),
    "k1": ("sayahead, one word of lookahead (the default)", {}),
    "k0": ("sayahead, no lookahead", {"policy": "lookahead:k=0"}),
    "k0-distilled": (
        "sayahead, no lookahead, with its expectation",
        {"policy": "lookahead:k=0", "context": "distilled"},
    ),
    "learned": ("sayahead, the learned policy", {"policy": "learned"}),
    "espeak-ng": ("espeak-ng, the whole sentence at once", None),
}


SHAPES: dict[str, tuple[str, str, Options]] = {
    "heart": ("heart, as it is", "heart", {}),
    "heart-low": ("heart-low: five semitones down, a longer vocal tract", "heart-low", {}),
    "heart-bright": ("heart-bright: two semitones up, livelier", "heart-bright", {}),
    "deep": ("`--pitch -8 --formants 0.82`", "heart", {"pitch": -8.0, "formants": 0.82}),
    "child": ("`--pitch 5 --formants 1.2`", "heart", {"pitch": 5.0, "formants": 1.2}),
    "flat": ("`--pitch-range 0.3`", "heart", {"pitch_range": 0.3}),
}
SHORT = "Text comes in word by word, and I am already speaking."
SPOKEN = {
    "en": SHORT,
    "fr": "Le texte arrive mot à mot, et je parle déjà.",
    "es": "El texto llega palabra por palabra, y yo ya estoy hablando.",
    "it": "Il testo arriva parola per parola, e io sto già parlando.",
    "pt": "O texto chega palavra por palavra, e eu já estou falando.",
}
"""The same in the languages of the voices."""


PODCAST = {"Ann": "heart", "Ben": "am_michael"}
"""Who speaks in the podcast."""
VERIFY = Path("lab/benchmarks/saeki/verify.toml")
FUTURES = Path("lab/benchmarks/results/saeki/futures/verify.jsonl")
GUESSED = "LJ006-0149"
"""A sentence in which, as on average, 17 % of the words are lost if a guess stands."""
VERIFIED = {
    "full sentence": "the whole sentence",
    "one word of lookahead": "one word of lookahead",
    "guess, never look back": "no lookahead: a guess, as Saeki et al. speak",
    "guess, speak, verify": "no lookahead: guess, speak, verify",
    "no guess, speak, verify": "no lookahead: the same without a guess",
}
"""Rows of the experiment, and what the page says of them."""


def arrivals() -> Iterator[tuple[str, float]]:
    """Each word with the moment at which it has been written, in seconds."""
    for number, word in enumerate(TEXT.split(" "), 1):
        yield word + " ", number * WORD_S


def by_sayahead(voice: Voice, options: Options) -> tuple[Floats, int]:
    """What a listener hears from the first letter on, and its rate."""
    session = voice.session(**options)
    heard = np.zeros(0, np.float32)
    now = 0.0
    for word, arrival in [*arrivals(), ("", 0.0)]:
        now = max(now, arrival)
        if word:
            session.push(word)
        else:
            session.finish()
        while True:
            begun = time.perf_counter()
            chunk = session.pull()
            now += time.perf_counter() - begun
            if chunk is None:
                break
            # Played when it is there, and when what came before has been played.
            silence = np.zeros(max(0, round(now * voice.sample_rate) - len(heard)), np.float32)
            heard = np.concatenate([heard, silence, chunk.samples])
    return heard, voice.sample_rate


def by_espeak() -> tuple[Floats, int]:
    """The same of espeak-ng, which is given the sentence when it is complete."""
    begun = time.perf_counter()
    data = subprocess.run(["espeak-ng", "--stdout", TEXT], capture_output=True, check=True).stdout
    wait_s = len(TEXT.split(" ")) * WORD_S + time.perf_counter() - begun
    with wave.open(io.BytesIO(data)) as file:
        rate = file.getframerate()
        samples = from_pcm16(file.readframes(2**30))
    return np.concatenate([np.zeros(round(wait_s * rate), np.float32), samples]), rate


def write_mp3(path: Path, samples: Floats, rate: int) -> None:
    """Write (S,) samples."""
    with av.open(str(path), "w") as file:
        stream = file.add_stream("libmp3lame", rate=rate, layout="mono")
        stream.bit_rate = 48000
        frame = av.AudioFrame.from_ndarray(to_pcm16(samples)[None], format="s16", layout="mono")
        frame.sample_rate = rate
        frame.pts = 0
        frame.time_base = Fraction(1, rate)
        resampler = av.AudioResampler(
            format=stream.format, layout="mono", rate=rate, frame_size=stream.frame_size or 0
        )
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            file.mux(stream.encode(piece))
        file.mux(stream.encode(None))


def main() -> int:
    """Make all of them, and write the moments into the page."""
    FOLDER.mkdir(exist_ok=True)
    part = (*sys.argv[1:], "")[0]
    if part == "verify":
        put("verify", ["| | |", "|---|---|", *verified()])
        return 0
    if part != "podcast":
        rows = ["| voice | language | | |", "|---|---|---|---|", *voices()]
        put("voices", rows, DOCS / "voices.md")
    if part != "voices":
        put("podcast", podcast())
    if part:
        return 0
    voice = load_voice("heart")
    rows = []
    results = {}
    for name, (title, options) in SYSTEMS.items():
        make: Callable[[], tuple[Floats, int]] = by_espeak
        if options is not None:
            chosen = options
            make = lambda chosen=chosen: by_sayahead(voice, chosen)  # noqa: E731
        samples, rate = make()
        first_s = round(float(audible(samples)[0]) / rate, 2)
        write_mp3(FOLDER / f"{name}.mp3", samples, rate)
        results[name] = {"first_sound_s": first_s, "end_s": round(len(samples) / rate, 2)}
        rows.append(
            f"| {title} | {first_s:.2f} s | {results[name]['end_s']:.2f} s | {player(name)} |"
        )
    (FOLDER / "samples.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    put("samples", ["| | first sound | end | |", "|---|---:|---:|---|", *rows])
    put("shapes", ["| | |", "|---|---|", *shapes()])
    return 0


def shapes() -> Iterator[str]:
    """Make the recordings of shapes, word by word but without the time that the words take; a row
    for each."""
    for name, (title, voice, options) in SHAPES.items():
        samples = load_voice(voice).synthesize(SHORT, **options)
        write_mp3(FOLDER / f"shape-{name}.mp3", samples, 24000)
        yield f"| {title} | {player(f'shape-{name}')} |"


def voices() -> Iterator[str]:
    """Make the recordings of the voices of this repository that are for use, word by word; a row
    for each."""
    for name, folder in packaged_voices().items():
        config = read_config(folder)
        if config.research or len(config.speakers) > 1:
            continue
        text = SPOKEN[config.language.split("-")[0]]
        write_mp3(FOLDER / f"voice-{name}.mp3", load_voice(name).synthesize(text), 24000)
        spoken = re.split("[,;]", config.description)[0]
        yield f"| `{name}` | {spoken} | {config.gender} | {player(f'voice-{name}')} |"


def podcast() -> list[str]:
    """Make the podcast of two voices, with its captions; what the page says of it."""
    script = (FOLDER / "podcast.txt").read_text(encoding="utf-8")
    speech = dialogue(script, cast=PODCAST)
    captions = FOLDER / "podcast.vtt"
    speech.save(FOLDER / "podcast.mp3", timings=captions)
    texts = "[script](samples/podcast.txt) and [captions](samples/podcast.vtt)"
    return ["| | |", "|---|---|", f"| a podcast: its {texts} | {player('podcast')} |"]


def verified() -> Iterator[str]:
    """Make the recordings of the experiment; a row for each."""
    lines = (DOCS.parent / FUTURES).read_text(encoding="utf-8").splitlines()
    futures = {one["name"]: one for one in map(json.loads, lines)}
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "texts.csv"
        texts.write_text(f"{GUESSED}|{' '.join(futures[GUESSED]['words'])}\n", encoding="utf-8")
        command = [sys.executable, "-m", "sayahead", "eval", "run", VERIFY, "--texts", texts]
        out = Path(folder) / "out"
        subprocess.run([*command, "--lm", FUTURES, "-o", out], cwd=DOCS.parent, check=True)
        for condition, title in VERIFIED.items():
            path = out / condition / "wav" / f"{GUESSED}.wav"
            with wave.open(str(path)) as file:
                samples = from_pcm16(file.readframes(file.getnframes()))
                rate = file.getframerate()
            name = f"verify-{re.sub(r'[^a-z]+', '-', condition)}"
            write_mp3(FOLDER / f"{name}.mp3", samples, rate)
            yield f"| {title} | {player(name)} |"


def player(name: str) -> str:
    """A recording on a page."""
    return f"[mp3](samples/{name}.mp3)"


def put(name: str, rows: list[str], page: Path = DOCS / "samples.md") -> None:
    """Write a table into a page."""
    table = "\n".join(rows)
    text = re.sub(
        rf"<!-- {name} -->.*<!-- /{name} -->",
        lambda _: f"<!-- {name} -->\n{table}\n<!-- /{name} -->",
        page.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    page.write_text(text, encoding="utf-8")
    print(table)


if __name__ == "__main__":
    sys.exit(main())
