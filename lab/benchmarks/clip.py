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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from output import options
from sayahead.sound.files import write_wav
from sayahead.sound.pitch import pitch_hz
from sayahead.types import Floats
from sayahead.vocoders.manner import MANNER
from sayahead.voice import Voice
from sayahead.voices import installed_voices
from sayahead.voices.install.clip.embedding import mel_frames, unit
from sayahead.voices.install.clip.hearing import hear
from sayahead.voices.install.clip.making import Studio, fit, manner_like
from sayahead.voices.install.clip.manner import Manner, manner_of
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
OTHER = "other"
"""Folder, and part, of people with several utterances each."""
NEAREST = "nearest"
"""The most similar of the family's own speakers."""
SecondJudge = Callable[[Floats], Floats]
"""Makes a vector of length 1 of samples at 24 kHz."""


@dataclass(frozen=True, slots=True)
class Judges:
    """Who listens."""

    embed: Callable[[Floats, int], Floats]
    opinion: Callable[[Floats], float]
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

    def __init__(self, name: str, cut: Floats, after: Floats, rate: int, judges: Judges) -> None:
        self.clip = clip_of(cut, rate)
        self.rest = judges.embed(after, rate)
        self.manner = manner_and_pitch(at_rate(after, rate))
        self.about: dict[str, Any] = {
            "person": name,
            "ceiling": float(judges.embed(cut, rate) @ self.rest),
        }
        self.second = np.zeros(1, np.float32)
        if judges.second is not None:
            self.second = judges.second(at_rate(after, rate))
            self.about["second_ceiling"] = float(judges.second(self.clip.samples) @ self.second)
        self.about["recording"] = judges.opinion(at_16khz(after, rate))


def listed_person(folder: Path, name: str, seconds: float, judges: Judges) -> Person:
    """Somebody of the list: the begin of a recording, and what comes after 8 s of it."""
    samples, rate = recording(folder, name)
    cut = samples[: round(seconds * rate)]
    return Person(name, cut, samples[round(CLIP_S * rate) :], rate, judges)


def other_person(folder: Path, seconds: float, judges: Judges) -> Person:
    """Somebody with a folder of utterances: the begin of the first that is long enough, and all
    others."""
    sounds = [soundfile.read(path, dtype="float32") for path in sorted(folder.glob("*.flac"))]
    rate = sounds[0][1]
    first = next(
        number for number, (samples, _) in enumerate(sounds) if len(samples) >= CLIP_S * rate
    )
    rest = np.concatenate([samples for at, (samples, _) in enumerate(sounds) if at != first])
    return Person(folder.name, sounds[first][0][: round(seconds * rate)], rest, rate, judges)


def manner_and_pitch(samples: Floats) -> tuple[Manner | None, float]:
    """How samples at 24 kHz are spoken, and their median pitch in Hz."""
    hertz = pitch_hz(samples, RATE)
    voiced = hertz[hertz > 0]
    return manner_of(samples, hertz), float(np.median(voiced)) if len(voiced) else 0.0


def manner_off(sounds: list[Floats], person: Person) -> dict[str, float]:
    """How far pace and ranges (as logarithms) and pitch (in semitones) are from a person's."""
    manner, f0 = manner_and_pitch(np.concatenate(sounds))
    theirs, their_f0 = person.manner
    if manner is None or theirs is None:
        return {}
    off = {"pitch_off": 12 * abs(float(np.log2(f0 / their_f0)))}
    for name, own, wanted in zip(Manner._fields, manner, theirs, strict=True):
        off[f"{name}_off"] = abs(float(np.log(own / wanted)))
    return off


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
    row |= manner_off(sounds, person)
    if judges.second is not None:
        row["second"] = float(judges.second(np.concatenate(sounds)) @ person.second)
    heard = [at_16khz(sound, RATE) for sound in sounds[: judges.most]]
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
    parser = options(__doc__)
    add = parser.add_argument
    add("--people", type=Path, required=True)
    add("--list", type=Path, default=Path("lab/recipes/clip/people.tsv"))
    add("--part", default="validation", help="of the list; or other: folders of utterances")
    add("--family", type=Path, help="the family's folder (default: the installed one)")
    add("--seconds", type=float, default=8.0)
    add(
        "--setting",
        action="append",
        default=[],
        help="near=1,rounds=4; manner=0: the pitch alone is the clip's",
    )
    add("--sentences", type=int, default=SENTENCES)
    add("--judged", type=int, default=SENTENCES)
    add("--limit", type=int, default=1000)
    add("--no-second", action="store_true")
    add("--no-words", action="store_true")
    add("--nearest", action="store_true", help="the family's nearest speaker, too")
    add("--sounds", type=Path, help="where the sounds go, and a page of them")
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
    for person in people_of(arguments, judges):
        begun = time.process_time()
        heard = hear(person.clip, maker.embed)
        hearing_s = time.process_time() - begun
        voices = dict[str, tuple[Voice, dict[str, float]]]()
        for setting in arguments.setting:
            begun = time.process_time()
            settings = settings_of(setting)
            wanted = heard if settings.pop("manner", 1) else replace(heard, manner=None)
            fitted = fit(studio, maker, wanted, **settings)
            seconds = hearing_s + time.process_time() - begun
            told = {"seconds": seconds, "clip": fitted.similarity}
            voices[setting] = studio.as_speaker(fitted.tables), told
        if arguments.nearest:
            tables = maker.blended(maker.nearest_single(heard.embedding, heard.f0))
            manner = manner_like(studio, tables, heard)
            voices[NEAREST] = studio.as_speaker({**tables, MANNER: manner}), {}
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
                write_sounds(arguments.sounds, label, person, joined(sounds))
        arguments.out.write_text(
            json.dumps({"rows": rows, "summary": summary(rows)}, indent=1) + "\n"
        )
    if arguments.sounds:
        (arguments.sounds / "index.html").write_text(page(rows, arguments.seconds))
    print(json.dumps(summary(rows), indent=1))


def people_of(arguments: argparse.Namespace, judges: Judges) -> Iterator[Person]:
    """Those of the list's part, or those who have folders of utterances."""
    if arguments.part == OTHER:
        folders = sorted(path for path in (arguments.people / OTHER).iterdir() if path.is_dir())
        for folder in folders[: arguments.limit]:
            yield other_person(folder, arguments.seconds, judges)
        return
    for name in listed(arguments.list, arguments.part)[: arguments.limit]:
        yield listed_person(arguments.people, name, arguments.seconds, judges)


def write_sounds(folder: Path, label: str, person: Person, sound: Floats) -> None:
    """A person's clip, and a voice of it."""
    name = person.about["person"]
    write_wav(folder / "clip" / f"{name}.wav", joined([person.clip.samples]), RATE)
    write_wav(folder / label / f"{name}.wav", sound, RATE)


def page(rows: list[dict[str, Any]], seconds: float) -> str:
    """HTML: everybody's clip and voices side by side."""
    settings = list(dict.fromkeys(row["setting"] for row in rows))
    by_person = dict[str, dict[str, dict[str, Any]]]()
    for row in rows:
        by_person.setdefault(row["person"], {})[row["setting"]] = row
    head = "".join(f"<th>{label}" for label in ["person", f"clip of {seconds:g} s", *settings])
    lines = [
        "<!doctype html><meta charset=utf-8><title>Clips and their voices</title>",
        "<p>Recordings: LibriSpeech, CC BY 4.0. Below a voice: similarity, opinion.",
        f"<table><tr>{head}",
    ]
    for name, own in by_person.items():
        lines.append(f"<tr><th>{name}<td>{player('clip', name)}")
        for label in settings:
            row = own[label]
            figures = f"{row['similarity']:.2f}, {row['opinion']:.2f}"
            lines.append(f"<td>{player(label, name)}<br>{figures}")
    return "\n".join([*lines, "</table>", ""])


def player(label: str, name: str) -> str:
    """HTML that plays one of the sounds."""
    return f'<audio controls preload=none src="{label}/{name}.wav"></audio>'


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
        for field in (name for name, value in own[0].items() if isinstance(value, float)):
            out[setting][field] = float(np.mean([row[field] for row in own if field in row]))
        out[setting] = {key: round(value, 4) for key, value in out[setting].items()}
    return out


if __name__ == "__main__":
    main()
