"""How like people voices of their clips are, how natural, and how well understood.

    python lab/benchmarks/clip.py --people FOLDER --part validation --setting near=1,rounds=4 \
        --out RESULT.json

PEOPLE has a folder for each of LibriSpeech's people. ``--setting`` may be repeated; with manner=0
the fit changes the pitch alone. ``--sounds`` is an HTML page for clips and voices, side by side.
``--family`` is another folder than the installed one. A clip is the first 8 s (``--seconds``) of a
person's recording. The voice says sentences that no fit has heard, word by word; its similarity is
the mean cosine of the embeddings (Resemblyzer) of each sentence and of the rest of the recording.
``nearest`` is the most similar of the family's own speakers, ``blend`` what the fit begins with.
Opinion and words are of the first ``--judged`` sentences. The second judge knows nothing of
Resemblyzer: linear discriminants of cepstra, of the people who are for training; it hears rooms and
microphones, too."""

from __future__ import annotations

import argparse
import base64
import io
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
    load_word_counter,
)
from sayahead_lab.eval.measures.word_errors import Errors
from sayahead_lab.results import keep, keep_figures, options
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
    count: Callable[[str, Floats, int], Errors] | None
    second: SecondJudge | None
    most: int
    """Sentences whose opinion and words are judged."""

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Judges:
        """Those that the command's options ask for."""
        people = [] if arguments.no_second else listed(arguments.list, "train")
        return cls(
            load_embedder(),
            load_distillmos(),
            None if arguments.no_words else load_word_counter(os.environ[WHISPER]),
            second_judge(arguments.people, people) if people else None,
            arguments.judged,
        )


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


def judged(
    sounds: list[Floats], texts: list[str], person: Person, judges: Judges
) -> dict[str, Any]:
    """Similarity to the rest of a recording, opinion and word errors of sentences at 24 kHz."""
    similar = [judges.embed(sound, RATE) @ person.rest for sound in sounds]
    row: dict[str, Any] = {"similarity": float(np.mean(similar))}
    row |= manner_off(sounds, person)
    if judges.second is not None:
        row["second"] = float(judges.second(np.concatenate(sounds)) @ person.second)
    heard = [at_16khz(sound, RATE) for sound in sounds[: judges.most]]
    row["opinion"] = float(np.mean([judges.opinion(one) for one in heard]))
    if judges.count is not None:
        counts = [
            judges.count(text, sound, RATE)
            for text, sound in zip(texts, sounds[: judges.most], strict=False)
        ]
        words = max(1, sum(one.words for one in counts))
        row["wer"] = 100 * sum(one.total for one in counts) / words
    return row


def settings_of(text: str) -> dict[str, float]:
    """``near=1,rounds=4`` as numbers."""
    return {
        name: float(value) for name, value in (part.split("=") for part in text.split(",") if part)
    }


def main() -> None:
    arguments = options(
        __doc__,
        "out",
        list=Path("lab/recipes/clip/people.tsv"),
        part="validation",
        seconds=8.0,
        sentences=SENTENCES,
        judged=SENTENCES,
        limit=1000,
        no_second=False,
        no_words=False,
        nearest=False,
        people=...,
        family=Path,
        setting=[str],
        sounds=Path,
    ).parse_args()
    studio = Studio(arguments.family or installed_voices()["family"])
    judges = Judges.of(arguments)
    sentences = files("sayahead_lab.training.own").joinpath("sentences.txt").read_text()
    texts = sentences.splitlines()[: arguments.sentences]
    rows = list[dict[str, Any]]()
    lines = [PAGE]
    for person in people_of(arguments, judges):
        for label, (voice, about) in voices_of(studio, person, arguments).items():
            sounds = [voice.synthesize(text) for text in texts]
            heard = judged(sounds, texts, person, judges)
            rows.append({**person.about, "setting": label, **about, **heard})
            print(json.dumps(rows[-1]), flush=True)
            if arguments.sounds:
                lines.append(compared(rows[-1], person, sounds))
                keep(lines, arguments.sounds)
        keep_figures({"rows": rows, "summary": summary(rows)}, arguments.out)
    print(json.dumps(summary(rows), indent=1))


PAGE = """<!doctype html><meta charset=utf-8><title>Clips and their voices</title>
<p>Recordings: LibriSpeech, CC BY 4.0. Similarity and predicted opinion of each voice.
<table><tr><th>person<th>clip<th>voice<th>similarity<th>opinion"""


def compared(row: dict[str, Any], person: Person, sounds: list[Floats]) -> str:
    """A line of the page: a clip and two sentences of a voice side by side, and figures."""
    cells = [
        row["person"],
        player([person.clip.samples]),
        player(sounds[:2]),
        f"{row['similarity']:.2f}",
        f"{row['opinion']:.2f}",
    ]
    return f"<tr><td>{'<td>'.join(cells)}"


def player(parts: list[Floats]) -> str:
    """What plays sounds one after the other, as loud as others."""
    whole = np.concatenate([np.pad(part, (0, RATE // 3)) for part in parts])
    level = np.sqrt(np.mean(np.square(whole)))
    file = io.BytesIO()
    soundfile.write(file, whole * (0.05 / level), RATE, format="OGG", subtype="OPUS")
    data = base64.b64encode(file.getvalue()).decode()
    return f'<audio controls src="data:audio/ogg;base64,{data}"></audio>'


def voices_of(
    studio: Studio, person: Person, arguments: argparse.Namespace
) -> dict[str, tuple[Voice, dict[str, float]]]:
    """A person's voices by setting, each with what its fit took and reached."""
    begun = time.process_time()
    heard = hear(person.clip, studio.maker.embed)
    hearing_s = time.process_time() - begun
    voices = dict[str, tuple[Voice, dict[str, float]]]()
    for setting in arguments.setting:
        begun = time.process_time()
        settings = settings_of(setting)
        wanted = heard if settings.pop("manner", 1) else replace(heard, manner=None)
        fitted = fit(studio, studio.maker, wanted, **settings)
        seconds = hearing_s + time.process_time() - begun
        about = {"seconds": seconds, "clip": fitted.similarity}
        voices[setting] = studio.as_speaker(fitted.tables), about
    if arguments.nearest:
        tables = studio.maker.blended(studio.maker.nearest_single(heard.embedding, heard.f0))
        manner = manner_like(studio, tables, heard)
        voices[NEAREST] = studio.as_speaker({**tables, MANNER: manner}), {}
    return voices


def people_of(arguments: argparse.Namespace, judges: Judges) -> Iterator[Person]:
    """Those of the list's part, or those who have folders of utterances."""
    if arguments.part == OTHER:
        folders = sorted(path for path in (arguments.people / OTHER).iterdir() if path.is_dir())
        for folder in folders[: arguments.limit]:
            yield other_person(folder, arguments.seconds, judges)
        return
    for name in listed(arguments.list, arguments.part)[: arguments.limit]:
        yield listed_person(arguments.people, name, arguments.seconds, judges)


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
