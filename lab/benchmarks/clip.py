"""How like people voices of their clips are, how natural, and how well understood.

    python lab/benchmarks/clip.py --people FOLDER --part validation --setting near=1,rounds=4 --out RESULT.json

A clip is the first 8 s (``--seconds``) of a person's recording. The voice says sentences that no fit has heard, word by
word; its similarity is the mean cosine of the embeddings (Resemblyzer) of each sentence and of the rest of the
recording. ``nearest`` is the most similar of the family's own speakers, ``blend`` what the fit begins with. The second
judge knows nothing of Resemblyzer: linear discriminants of cepstra, of the people who are for training.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from sayahead.sound.files import write_wav
from sayahead.types import Floats, Shape
from sayahead.voice import Voice
from sayahead.voices import installed_voices
from sayahead.voices.install.clip.embedding import unit
from sayahead.voices.install.clip.hearing import hear
from sayahead.voices.install.clip.making import Studio, fit
from sayahead.voices.install.clip.reading import RATE, at_rate

from sayahead_lab.eval.listening.likeness import load_embedder
from sayahead_lab.eval.listening.listeners import WHISPER, at_16khz, load_distillmos, load_normalizer, load_whisper
from sayahead_lab.training.clip.people import CLIP_S, listed, recording

SENTENCES = 10


@dataclass(frozen=True, slots=True)
class Judges:
    """Who listens."""

    embed: Callable[[Floats, int], Floats]
    opinion: Callable[[Floats], float] | None
    hears: Callable[[Floats], str] | None
    normal: Callable[[str], str] | None


class Person:
    """Somebody's clip, and the rest of the recording."""

    def __init__(self, name: str, samples: Floats, rate: int, seconds: float, judges: Judges) -> None:
        cut, after = samples[: round(seconds * rate)], samples[round(CLIP_S * rate) :]
        self.clip, self.rest = at_rate(cut, rate), judges.embed(after, rate)
        self.about: dict[str, Any] = {"person": name, "ceiling": float(judges.embed(cut, rate) @ self.rest)}
        if judges.opinion is not None:
            self.about["recording"] = judges.opinion(at_16khz(after, rate))


def errors(said: list[str], heard: list[str]) -> float:
    """Word error rate."""
    import jiwer

    return float(jiwer.wer(said, heard))


def judged(sounds: list[Floats], texts: list[str], rest: Floats, judges: Judges) -> dict[str, Any]:
    """Similarity to the rest of a recording, opinion and word errors of sentences at 24 kHz."""
    embeddings = [judges.embed(sound, RATE) for sound in sounds]
    row: dict[str, Any] = {
        "similarity": float(np.mean([one @ rest for one in embeddings])),
        "together": float(unit(np.mean(embeddings, axis=0)) @ rest),
    }
    heard = [at_16khz(sound, RATE) for sound in sounds]
    if judges.opinion is not None:
        row["opinion"] = float(np.mean([judges.opinion(one) for one in heard]))
    if judges.hears is not None and judges.normal is not None:
        words = [judges.normal(judges.hears(one)) for one in heard]
        row["wer"] = 100 * errors([judges.normal(text) for text in texts], words)
    return row


def settings_of(text: str) -> dict[str, float]:
    """``near=1,rounds=4`` as numbers."""
    return {name: float(value) for name, value in (part.split("=") for part in text.split(",") if part)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--people", type=Path, required=True)
    add("--list", type=Path, default=Path("lab/recipes/clip/people.tsv"))
    add("--part", default="validation")
    add("--family", type=Path, help="the family's folder (default: the installed one)")
    add("--seconds", type=float, default=8.0)
    add("--setting", action="append", default=[], help="near=1,rounds=4; blend and nearest are always measured")
    add("--sentences", type=int, default=SENTENCES)
    add("--limit", type=int, default=1000)
    add("--no-words", action="store_true")
    add("--anchors", action="store_true", help="the nearest speaker and the blend, too")
    add("--sounds", type=Path, help="where the sounds go")
    add("--out", type=Path, required=True)
    arguments = parser.parse_args()
    studio = Studio(arguments.family or installed_voices()["family"])
    maker = studio.maker
    whisper = None if arguments.no_words else load_whisper(os.environ[WHISPER], threads=1)
    judges = Judges(load_embedder(), load_distillmos(), whisper, None if arguments.no_words else load_normalizer())
    texts = files("sayahead_lab.training.own").joinpath("sentences.txt").read_text().splitlines()[: arguments.sentences]
    rows = list[dict[str, Any]]()
    for name in listed(arguments.list, arguments.part)[: arguments.limit]:
        person = Person(name, *recording(arguments.people, name), arguments.seconds, judges)
        begun = time.process_time()
        heard = hear(person.clip, maker.embed)
        hearing_s = time.process_time() - begun
        voices = dict[str, tuple[Voice, dict[str, float]]]()
        for setting in arguments.setting:
            begun = time.process_time()
            fitted, shape = fit(studio, maker, heard, **settings_of(setting))
            seconds = hearing_s + time.process_time() - begun
            told = {"seconds": seconds, "clip": fitted.similarity}
            voices[setting] = studio.as_speaker(fitted.tables, shape), told
        if arguments.anchors:
            numbers = {"blend": maker.nearest, "nearest": maker.nearest_single}
            for label, nearest in numbers.items():
                number = nearest(heard.embedding, heard.f0)
                shape = Shape(pitch=12 * float(np.log2(heard.f0 / maker.pitch(number))))
                tables = maker.made(heard.embedding, heard.f0, number, 0.0)
                voices[label] = studio.as_speaker(tables, shape), {}
        for label, (voice, told) in voices.items():
            sounds = [voice.synthesize(text) for text in texts]
            found = {**person.about, "setting": label, **told, **judged(sounds, texts, person.rest, judges)}
            rows.append(found)
            print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in found.items()}), flush=True)
            if arguments.sounds:
                write_wav(arguments.sounds / label / f"{name}.wav", joined(sounds), RATE)
        arguments.out.write_text(json.dumps({"rows": rows, "summary": summary(rows)}, indent=1) + "\n")
    print(json.dumps(summary(rows), indent=1))


def joined(sounds: list[Floats]) -> Floats:
    """Sentences one after the other, at one level."""
    whole = np.concatenate([np.pad(one, (0, RATE // 3)) for one in sounds])
    level = max(float(np.sqrt(np.mean(np.square(whole)))), 1e-6)
    return np.clip(whole * np.float32(0.05 / level), -1, 1)


def summary(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """By setting: median, least and mean similarity, means of the rest."""
    out = dict[str, dict[str, float]]()
    for setting in dict.fromkeys(row["setting"] for row in rows):
        own = [row for row in rows if row["setting"] == setting]
        similar = [row["similarity"] for row in own]
        out[setting] = {"people": len(own), "median": float(np.median(similar)), "least": float(np.min(similar))}
        for field in ("similarity", "together", "opinion", "wer", "clip", "seconds", "ceiling", "recording"):
            if values := [row[field] for row in own if field in row]:
                out[setting][field] = float(np.mean(values))
        out[setting] = {key: round(value, 4) for key, value in out[setting].items()}
    return out


if __name__ == "__main__":
    main()
