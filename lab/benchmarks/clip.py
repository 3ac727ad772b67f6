"""How like people voices of their clips are, how natural, and how well understood.

    python lab/benchmarks/clip.py --people FOLDER --part validation --setting near=1,rounds=4 \
        --out RESULT.json

A clip is the first 8 s (``--seconds``) of a person's recording. The voice says sentences that no
fit has heard, word by word; its similarity is the mean cosine of the embeddings (Resemblyzer) of
each sentence and of the rest of the recording. ``nearest`` is the most similar of the family's own
speakers, ``blend`` what the fit begins with. Opinion and words are of the first ``--judged``
sentences. The second judge knows nothing of Resemblyzer: linear discriminants of cepstra, of the
people who are for training; it hears rooms and microphones, too."""

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
from sayahead.types import Floats
from sayahead.voice import Voice
from sayahead.voices import installed_voices
from sayahead.voices.install.clip.embedding import mel_frames, unit
from sayahead.voices.install.clip.hearing import hear
from sayahead.voices.install.clip.making import Studio, fit, moved_pitch
from sayahead.voices.install.clip.reading import RATE, at_rate, clip_of

from sayahead_lab.eval.listening.likeness import load_embedder
from sayahead_lab.eval.listening.listeners import (
    WHISPER,
    at_16khz,
    load_distillmos,
    load_normalizer,
    load_whisper,
)
from sayahead_lab.eval.measures.word_errors import word_errors
from sayahead_lab.training.clip.people import CLIP_S, listed, recording

SENTENCES = 10
FIELDS = (
    "similarity together second opinion wer clip seconds ceiling second_ceiling recording".split()
)


SecondJudge = Callable[[Floats], Floats]
"""Makes a vector of length 1 of samples at 24 kHz."""


@dataclass(frozen=True, slots=True)
class Judges:
    """Who listens."""

    embed: Callable[[Floats, int], Floats]
    opinion: Callable[[Floats], float] | None
    hears: Callable[[Floats], str] | None
    normal: Callable[[str], str] | None
    second: SecondJudge | None
    most: int
    """Sentences whose opinion and words are judged."""


def cepstra(samples: Floats) -> Floats:
    """(N, 57) of pieces of 3 s: mean and deviation of 19 cepstra in loud frames, deviation of their
    differences."""
    bands = np.log(mel_frames(samples, RATE)[:, :38] + 1e-9)
    waves = np.cos(np.pi / 38 * (np.arange(38)[:, None] + 0.5) * np.arange(20))
    whole = bands @ waves
    loud = whole[:, 0] > np.percentile(whole[:, 0], 95) - 150
    shape = whole[:, 1:]
    change = np.gradient(shape, axis=0)
    pieces = list[Floats]()
    for at in range(0, max(1, len(shape) - 299), 150):
        kept = loud[at : at + 300]
        if kept.sum() >= 60:
            here = shape[at : at + 300][kept]
            there = change[at : at + 300][kept]
            pieces.append(np.concatenate([here.mean(0), here.std(0), there.std(0)]))
    return np.array(pieces, np.float32).reshape(-1, 57)


def second_judge(folder: Path, names: list[str], directions: int = 40) -> SecondJudge:
    """Linear discriminants of these people's cepstra."""
    pieces = [cepstra(at_rate(*recording(folder, name))) for name in names]
    rows = np.concatenate(pieces)
    mean = rows.mean(0)
    deviation = rows.std(0)
    groups = [(own - mean) / deviation for own in pieces if len(own) > 1]
    within = np.mean([np.cov(own.T, bias=True) for own in groups], axis=0)
    within = 0.95 * within + 0.05 * np.trace(within) / len(within) * np.eye(len(within))
    between = np.cov(np.stack([own.mean(0) for own in groups]).T)
    values, vectors = np.linalg.eig(np.linalg.solve(within, between))
    best = vectors[:, np.argsort(-values.real)[:directions]].real

    def judge(samples: Floats) -> Floats:
        return unit((((cepstra(samples) - mean) / deviation) @ best).mean(0).astype(np.float32))

    return judge


class Person:
    """Somebody's clip, and the rest of the recording."""

    def __init__(
        self, name: str, samples: Floats, rate: int, seconds: float, judges: Judges
    ) -> None:
        cut = samples[: round(seconds * rate)]
        after = samples[round(CLIP_S * rate) :]
        self.clip = clip_of(cut, rate)
        self.rest = judges.embed(after, rate)
        self.about: dict[str, Any] = {
            "person": name,
            "ceiling": float(judges.embed(cut, rate) @ self.rest),
        }
        self.second = np.zeros(1, np.float32)
        if judges.second is not None:
            self.second = judges.second(at_rate(after, rate))
            self.about["second_ceiling"] = float(judges.second(self.clip.samples) @ self.second)
        if judges.opinion is not None:
            self.about["recording"] = judges.opinion(at_16khz(after, rate))


def errors(said: list[str], heard: list[str]) -> float:
    """Word error rate of all texts together."""
    counts = [word_errors(*pair) for pair in zip(said, heard, strict=True)]
    return sum(count.total for count in counts) / max(1, sum(count.words for count in counts))


def judged(
    sounds: list[Floats], texts: list[str], person: Person, judges: Judges
) -> dict[str, Any]:
    """Similarity to the rest of a recording, opinion and word errors of sentences at 24 kHz."""
    embeddings = [judges.embed(sound, RATE) for sound in sounds]
    row: dict[str, Any] = {
        "similarity": float(np.mean([one @ person.rest for one in embeddings])),
        "together": float(unit(np.mean(embeddings, axis=0)) @ person.rest),
    }
    if judges.second is not None:
        row["second"] = float(judges.second(np.concatenate(sounds)) @ person.second)
    heard = [at_16khz(sound, RATE) for sound in sounds[: judges.most]]
    if judges.opinion is not None:
        row["opinion"] = float(np.mean([judges.opinion(one) for one in heard]))
    if judges.hears is not None and judges.normal is not None:
        words = [judges.normal(judges.hears(one)) for one in heard]
        row["wer"] = 100 * errors([judges.normal(text) for text in texts[: judges.most]], words)
    return row


def settings_of(text: str) -> dict[str, float]:
    """``near=1,rounds=4`` as numbers."""
    return {
        name: float(value) for name, value in (part.split("=") for part in text.split(",") if part)
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--people", type=Path, required=True)
    add("--list", type=Path, default=Path("lab/recipes/clip/people.tsv"))
    add("--part", default="validation")
    add("--family", type=Path, help="the family's folder (default: the installed one)")
    add("--seconds", type=float, default=8.0)
    add(
        "--setting",
        action="append",
        default=[],
        help="near=1,rounds=4; blend and nearest are always measured",
    )
    add("--sentences", type=int, default=SENTENCES)
    add("--judged", type=int, default=SENTENCES)
    add("--limit", type=int, default=1000)
    add("--no-second", action="store_true")
    add("--no-words", action="store_true")
    add("--anchors", action="store_true", help="the nearest speaker and the blend, too")
    add("--sounds", type=Path, help="where the sounds go")
    add("--out", type=Path, required=True)
    arguments = parser.parse_args()
    studio = Studio(arguments.family or installed_voices()["family"])
    maker = studio.maker
    trained = [] if arguments.no_second else listed(arguments.list, "train")
    whisper = None if arguments.no_words else load_whisper(os.environ[WHISPER], threads=1)
    judges = Judges(
        load_embedder(),
        load_distillmos(),
        whisper,
        None if arguments.no_words else load_normalizer(),
        second_judge(arguments.people, trained) if trained else None,
        arguments.judged,
    )
    texts = (
        files("sayahead_lab.training.own")
        .joinpath("sentences.txt")
        .read_text()
        .splitlines()[: arguments.sentences]
    )
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
                shape = moved_pitch(heard.f0, maker.pitch(number))
                tables = maker.blended(number)
                voices[label] = studio.as_speaker(tables, shape), {}
        for label, (voice, told) in voices.items():
            sounds = [voice.synthesize(text) for text in texts]
            found = {
                **person.about,
                "setting": label,
                **told,
                **judged(sounds, texts, person, judges),
            }
            rows.append(found)
            print(
                json.dumps(
                    {k: round(v, 3) if isinstance(v, float) else v for k, v in found.items()}
                ),
                flush=True,
            )
            if arguments.sounds:
                write_wav(arguments.sounds / label / f"{name}.wav", joined(sounds), RATE)
        arguments.out.write_text(
            json.dumps({"rows": rows, "summary": summary(rows)}, indent=1) + "\n"
        )
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
        out[setting] = {
            "people": len(own),
            "median": float(np.median(similar)),
            "least": float(np.min(similar)),
        }
        for field in FIELDS:
            if values := [row[field] for row in own if field in row]:
                out[setting][field] = float(np.mean(values))
        out[setting] = {key: round(value, 4) for key, value in out[setting].items()}
    return out


if __name__ == "__main__":
    main()
