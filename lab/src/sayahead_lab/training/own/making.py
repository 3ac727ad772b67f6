"""From a folder of recordings to a voice: looked at, aligned, trained from the nearest speaker,
exported, heard."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from sayahead.config import nearest
from sayahead.errors import ConfigError
from sayahead.types import Floats
from sayahead.voice import load_voice

from sayahead_lab.eval.listening.listeners import (
    WHISPER,
    at_16khz,
    load_whisper,
    missing,
    missing_folder,
)
from sayahead_lab.training.corpus.aligned import AlignedSpec
from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.making import make_corpus, write_json
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.corpus.teacher import RATE
from sayahead_lab.training.heart.own_voice_task import HeartVoiceTask
from sayahead_lab.training.heart.speaker import make_speaker
from sayahead_lab.training.loop.saved_run import DESCRIPTION, load_trained
from sayahead_lab.training.loop.task import TASKS
from sayahead_lab.training.loop.warm_start import find_start
from sayahead_lab.training.own.fitting import write_beginning
from sayahead_lab.training.own.report import RECORDED, HeldOut, SaidTexts, write_report
from sayahead_lab.training.own.sounds import GivenRecording, lay_out, read_folder, with_texts
from sayahead_lab.training.own.speakers import load_measure, middle, nearest_speaker, strangers
from sayahead_lab.training.own.stages import BEGINNING, STAGES, recipe_of, train_stages

EVERY = 8
"""Of so many recordings one is held out, to be heard in the report."""
MIN_MINUTES = 1.0
"""Least speech to train on."""
HEARD = 12
"""Sentences by which a speaker is known."""
MAX_RECORDINGS = 40
"""Of all recordings, in the report."""
BY_WORDS = "lookahead:k=1"
STATE = "own.json"
Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class OwnVoice:
    """What an own voice is made of."""

    folder: Path
    """Its recordings; or a corpus, of which a teacher may have said more."""
    out: Path
    """Where the voice goes."""
    work: Path
    """Where corpus, trainings and report go."""
    name: str
    """The voice's name."""
    license: str
    """Its licence, an SPDX identifier."""
    start: str
    """The run that it begins with."""
    like: str = ""
    """The one of its speakers; empty: the nearest."""
    minutes: float = 45.0
    """Bound of the trainings together, over all invocations."""
    steps: int | None = None
    """Bound of the steps of each training; None: its recipe's."""
    whisper: str | None = None
    """Folder of a Whisper model, which hears what recordings without a text say, and scores; None:
    ``WHISPER``'s."""


def make_own_voice(own: OwnVoice, options: Mapping[str, Any], note: Note) -> int:
    """Make the voice, or go on where it was stopped; 0, or the number of the signal that ended a
    training.

    ``options`` are those of the training loop; ``note`` gets lines for a person. ConfigError where
    the recordings do not suffice, or the folder ``work`` is of other ones.
    """
    start = Path(own.start)
    if not (start.exists() or start.parent.is_file()):
        raise ConfigError(
            f"There is no run {start} to begin with: work in a clone, whose archives/runs has it,"
            " or name another run of the task heart-voice, or its archive, with --start."
        )
    whisper = own.whisper or os.environ.get(WHISPER)
    left_out = prepared(own, whisper, note)
    corpus = Corpus(corpus_of(own))
    like = begun(own, corpus, note)
    done = train_stages(
        corpus.path, own.work, minutes=own.minutes, steps=own.steps, options=options, note=note
    )
    if done:
        return done
    about = exported(own, corpus, like)
    note(f"{own.out}: the voice {own.name}. {about}")
    heard = held_out(own, corpus), all_recordings(corpus), unrecorded(own)
    write_report(own.work, own.name, about, *heard, left_out, whisper, note)
    return 0


def corpus_of(own: OwnVoice) -> Path:
    """The folder of the corpus that is trained on."""
    return own.folder if (own.folder / DESCRIPTION).is_file() else own.work / "corpus"


def prepared(own: OwnVoice, whisper: str | None, note: Note) -> list[str]:
    """Make the corpus of the recordings unless it is there; a line for each file that is left
    out."""
    if corpus_of(own) == own.folder:
        enough(own, 0, note)
        own.work.mkdir(parents=True, exist_ok=True)
        return []
    state = own.work / STATE
    found = fingerprint(own.folder)
    before = read_state(own.work)
    if "recordings" in before:
        if before["recordings"] != found:
            raise ConfigError(
                f"{own.work} is of other recordings than {own.folder} has now: name another folder"
                " with --work, or remove it."
            )
        return list(before["left_out"])
    own.work.mkdir(parents=True, exist_ok=True)
    write_json(state, {})
    recordings, left_out = read_folder(own.folder)
    recordings, more = with_texts(recordings, listener(recordings, whisper))
    recordings, others = without_strangers(recordings)
    left_out = [*left_out, *more, *others]
    for part in ("recordings", "corpus"):
        shutil.rmtree(own.work / part, ignore_errors=True)
    if recordings:
        lay_out(recordings, own.work / "recordings")
        spec = AlignedSpec(
            PRESETS["ma"], own.work / "recordings", skip_missing=True, inner_marks=True
        )
        lines = [(one.path.stem, one.text) for one in recordings]
        splits = {
            "val": lines[EVERY - 1 :: EVERY],
            "train": [line for at, line in enumerate(lines, 1) if at % EVERY],
        }
        make_corpus(
            own.work / "corpus", spec, {split: texts for split, texts in splits.items() if texts}
        )
        corpus = Corpus(own.work / "corpus")
        left_out += [
            line
            for split in corpus.info.splits
            for shard in corpus.split(split).shards
            for line in shard.left_out
        ]
    for line in left_out:
        note(f"Left out: {line}")
    enough(own, len(left_out), note)
    write_json(state, {"recordings": found, "left_out": left_out})
    return left_out


def enough(own: OwnVoice, left_out: int, note: Note) -> None:
    """Note how much there is to train on; ConfigError where it is too little."""
    corpus = corpus_of(own)
    minutes = speech_minutes(Corpus(corpus), "train") if (corpus / DESCRIPTION).is_file() else 0.0
    if minutes < MIN_MINUTES:
        raise ConfigError(
            f"{own.folder} has {minutes:.1f} minutes of speech that can be used, but"
            f" {MIN_MINUTES:g} is the least, and 5 are good: record more."
        )
    note(f"{minutes:.1f} minutes to train on; {left_out} files are left out.")


def read_state(work: Path) -> dict[str, Any]:
    """What is done in a folder; empty for a new one. ConfigError for one that has other things."""
    if (work / STATE).is_file():
        state: dict[str, Any] = json.loads((work / STATE).read_text(encoding="utf-8"))
        return state
    if work.exists() and any(work.iterdir()):
        raise ConfigError(
            f"{work} is not empty, but not of this command: name another folder with --work."
        )
    return {}


def fingerprint(folder: Path) -> str:
    """Of the names, sizes and times of a folder's files."""
    if not folder.is_dir():
        raise ConfigError(f"There is no folder {folder}: name the one with the recordings.")
    files = sorted(
        path for place in (folder, folder / "wavs") for path in place.glob("*") if path.is_file()
    )
    told = [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in files]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def listener(
    recordings: Sequence[GivenRecording], whisper: str | None
) -> Callable[[Any], str] | None:
    """What hears the words of recordings without a text, if there are any and it is installed;
    ConfigError for a folder that was named but holds no model."""
    if all(one.text for one in recordings) or missing("whisper") or whisper is None:
        return None
    if problem := missing_folder(whisper):
        raise ConfigError(problem)
    transcribe = load_whisper(whisper, threads=1)
    return lambda samples: transcribe(at_16khz(samples, RATE))


def without_strangers(
    recordings: Sequence[GivenRecording],
) -> tuple[list[GivenRecording], list[str]]:
    """The recordings of the one who speaks in most of them, and lines about the others."""
    measure = load_measure()
    found = dict(strangers([measure.describe(one.samples) for one in recordings], measure))
    lines = [
        f"{recordings[number].path.name}: sounds like another speaker than the rest ({value:.2f} by"
        f" {measure.name}, least {measure.least}): leave it out, or record it anew."
        for number, value in found.items()
    ]
    return [one for number, one in enumerate(recordings) if number not in found], lines


def speech_minutes(corpus: Corpus, split: str) -> float:
    """Minutes of a split; 0 where there is none."""
    if split not in corpus.info.splits:
        return 0.0
    front = corpus.info.front_end
    return float(corpus.split(split).lengths.sum()) * front.hop / front.sample_rate / 60


def begun(own: OwnVoice, corpus: Corpus, note: Note) -> str:
    """Write what the trainings begin with unless it is there: the nearest speaker of the start, or
    the one named.

    The name of that speaker; empty for a start of one. ConfigError for a folder that has begun
    otherwise."""
    before = read_state(own.work)
    if "start" in before:
        if before["start"] != own.start or own.like not in ("", before["like"]):
            raise ConfigError(
                f"{own.work} has begun with {before['start']} {before['like']}: go on with these,"
                " or name another folder with --work."
            )
        return str(before["like"])
    start = find_start(own.start, TASKS["heart-voice"])
    if start.state is None:
        raise ConfigError(
            f"{own.start} is a voice: name a run of the task heart-voice with --start."
        )
    joined = start.info.joined if start.info is not None else {}
    if own.like and own.like not in joined:
        raise ConfigError(f"{own.start} has no speaker {own.like!r}{nearest(own.like, joined)}.")
    recipe = recipe_of("prosody", own.work)
    items = corpus.split("train")
    like = own.like
    task = HeartVoiceTask(
        {**recipe.model, **start.found}, {**recipe.data, "discriminators": 0}, corpus
    )
    if joined and not like:
        measure = load_measure()
        theirs = middle([sound_of(item) for item in items[:HEARD]], measure)
        found = nearest_speaker(start, task, items, theirs, measure)
        like = next(iter(found))
        note(
            f"Nearest by {measure.name}:"
            f" {', '.join(f'{name} {value:.2f}' for name, value in found.items())}."
        )
    moved = write_beginning(start, like, task, items[:HEARD], own.work / BEGINNING)
    note(
        f"Begins {moved['pitch']:.2f} times as high and {moved['pace']:.2f} times as long as"
        f" {like or 'it was'}."
    )
    taught = {} if start.info is None else start.info.source
    write_json(own.work / STATE, before | {"start": own.start, "like": like, "from": taught})
    return like


def exported(own: OwnVoice, corpus: Corpus, like: str) -> str:
    """Write the voice; the sentence that says where it came from."""
    run = load_trained(own.work / list(STAGES)[-1], corpus=corpus.path)
    minutes = speech_minutes(corpus, "train")
    count = len(corpus.split("train"))
    which = f" (speaker {like})" if like else ""
    taught = corpus.info.source.get("voice", "")
    recorded = f"{taught}, a teacher, in " if taught else "recordings in "
    about = (
        f"Trained on {count} sentences ({minutes:.1f} minutes) of"
        f" {recorded}{own.folder.resolve().name}; begun with the run {Path(own.start).name}{which}."
    )
    before = read_state(own.work)["from"]
    run = replace(run, recipe=replace(run.recipe, name="train own"))
    make_speaker(
        run,
        own.out,
        name=own.name,
        license=own.license,
        description=(
            "American English; a voice of recordings, in the default voice's networks, 24 kHz"
        ),
        borrow=True,
        origin=about,
        kokoro=before.get("kind") == "kokoro",
    )
    return about


def held_out(own: OwnVoice, corpus: Corpus) -> list[HeldOut]:
    """Sentences that were held out, recorded and spoken word by word; some of the training's where
    there are none."""
    voice = load_voice(own.out)
    split = "val" if speech_minutes(corpus, "val") else "train"
    out = list[HeldOut]()
    for item in corpus.split(split)[:HEARD]:
        spoken = voice.synthesize(item.text, policy=BY_WORDS)
        out.append(
            HeldOut(item.text, {RECORDED: sound_of(item), "voice, word by word": spoken}, RATE)
        )
    return out


def all_recordings(corpus: Corpus) -> SaidTexts:
    """What was recorded, an even part of it where it is much."""
    items = [item for split in corpus.info.splits for item in corpus.split(split)]
    chosen = items[:: -(-len(items) // MAX_RECORDINGS)]
    return SaidTexts([item.text for item in chosen], [sound_of(item) for item in chosen])


def unrecorded(own: OwnVoice) -> SaidTexts:
    """Sentences that nobody recorded, spoken word by word."""
    voice = load_voice(own.out)
    texts = unrecorded_texts()
    return SaidTexts(texts, [voice.synthesize(text, policy=BY_WORDS) for text in texts])


def unrecorded_texts() -> list[str]:
    """The sentences by which voices are compared, whatever was recorded."""
    return files(__package__).joinpath("sentences.txt").read_text(encoding="utf-8").splitlines()


def sound_of(item: Item) -> Floats:
    """(S,) the samples of an item at 24 kHz."""
    assert item.audio is not None
    return item.audio.astype(np.float32) / np.float32(32767)
