"""``sayahead train corpus``: transcripts and a voice, or recordings, become a corpus."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sayahead.cli import number, one_of
from sayahead.cli.console import Console
from sayahead.errors import ConfigError
from sayahead.voices import VoiceConfig, read_config

from sayahead_lab.cluster import workers
from sayahead_lab.scripts import read_texts
from sayahead_lab.training.aligner.alignment import FOLDER
from sayahead_lab.training.corpus.aligned import AlignedSpec
from sayahead_lab.training.corpus.family import FamilySpec, of_family
from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.joined import join
from sayahead_lab.training.corpus.kokoro import KokoroSpec
from sayahead_lab.training.corpus.making import Spec, Texts, make_corpus
from sayahead_lab.training.corpus.readers import recordings_of
from sayahead_lab.training.corpus.recordings import RecordingSpec, read_metadata, scan
from sayahead_lab.training.corpus.spoken import SpokenSpec, voice_folder
from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.corpus.teacher import TeacherSpec
from sayahead_lab.training.corpus.texts import CHARACTERS_A_SECOND, evenly, read_counts
from sayahead_lab.training.corpus.vits import VitsSpec, tells_durations

HELP = "make a corpus from transcripts and a voice, or from recordings"


SPLITS = ("train", "val", "test")


KOKORO_OPTIONS = ("speaker", "language", "understood")


TELLING: list[tuple[Callable[[VoiceConfig], bool], type[FamilySpec | VitsSpec]]]
TELLING = [(of_family, FamilySpec), (tells_durations, VitsSpec)]
"""Kinds of voices that tell durations themselves, with a corpus's settings for each."""


LISTED = 10
"""How many left-out names are shown; names.json of each shard lists them all."""


EPILOG = """From transcripts, spoken by the default voice (durations and pitch are its own):

  sayahead train corpus corpus/ma --train train.csv --val val.csv --test test.csv --punctuation final --jobs 4

Spoken by another voice, or by a command that reads a text and writes WAV, and aligned by the package's aligner:

  sayahead train corpus corpus/other --teacher ma-lj --train train.csv --val val.csv
  sayahead train corpus corpus/other --teacher "some-tts --stdout" --train train.csv

By a Piper voice, whose graph tells durations, or a style of Kokoro or a voice of the family, whose graphs tell
durations, pitch and energy, so that nothing is aligned:

  sayahead train corpus corpus/joe --teacher en_US-joe-medium --punctuation all --train train.csv --val val.csv
  sayahead train corpus corpus/michael --teacher kokoro.onnx --speaker am_michael --punctuation all --train train.csv
  sayahead train corpus corpus/fr --teacher ff_siwis --punctuation final --train fr.train --val fr.val

Of several speakers, from folders beside each other, one a speaker:

  sayahead train corpus corpus/family --join am_michael bf_emma ff_siwis

From recordings in LJ Speech's layout, aligned by the package's own aligner, or by another one's TextGrids:

  sayahead train corpus corpus/lj --recordings LJSpeech-1.1 --train train.csv --val val.csv
  sayahead train corpus corpus/lj --recordings LJSpeech-1.1 --alignments aligned --train train.csv --val val.csv

In the layout of LibriTTS or VCTK, of one of their speakers, or in one of your own:

  sayahead train corpus corpus/p225 --recordings VCTK-Corpus-0.92 --reader vctk --speaker p225 --skip-missing
  sayahead train corpus corpus/mine --recordings FOLDER --reader my_readers.py:podcasts

If it is stopped, the same command continues. lab/docs/corpora.md describes the files.
"""  # noqa: E501


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("out", metavar="FOLDER", type=Path, help="where the corpus goes; existing parts are kept")
    for split in SPLITS:
        add(
            f"--{split}",
            metavar="FILE",
            type=Path,
            help=f"texts of the {split} split: lines of name|text",
        )
    add(
        "--count",
        metavar="N",
        help="use an evenly spaced part of the texts: N of train, or train=2400,val=60",
    )
    add(
        "--hours",
        metavar="H",
        type=number(float, 0),
        help="use an evenly spaced part of train, of about H hours",
    )
    add(
        "--front-end",
        metavar="NAME",
        type=one_of(*PRESETS),
        default="ma",
        help="ma (default), saeki, mohan or nvidia",
    )
    add(
        "--lead",
        metavar="N",
        type=number(int, 1),
        default=4,
        help="frames kept before the first phoneme (default: 4)",
    )
    add(
        "--tail",
        metavar="N",
        type=number(int, 4),
        default=12,
        help="frames of silence kept at the end (default: 12)",
    )
    add(
        "--no-audio", action="store_true", help="leave out the samples: a fifth of the size remains"
    )
    add(
        "--shard-texts",
        metavar="N",
        type=number(int, 1),
        default=250,
        help="texts per shard (default: 250)",
    )
    joined = "make one corpus of those of several speakers, which are folders in FOLDER"
    add("--join", metavar="NAME", nargs="+", help=joined)
    add(
        "--jobs",
        metavar="N",
        type=number(int, 1),
        help="processes (default: 1; on Ray: one for each free core)",
    )
    add(
        "--on",
        metavar="ray",
        type=one_of("ray"),
        help="share the work over a Ray cluster (pip install 'sayahead[ray]')",
    )
    add = parser.add_argument_group("the voice").add_argument
    add(
        "--teacher",
        metavar="VOICE",
        help="another voice by name or folder, or a command that writes WAV",
    )
    speaker = (
        "the style of a Kokoro voice, which tells its durations, pitch and energy; one of a"
        " reader's speakers"
    )
    add("--speaker", metavar="NAME", help=speaker)
    add(
        "--language",
        metavar="TAG",
        help="the language of the texts, which a Kokoro style has to speak: fr",
    )
    align = (
        "let the package's aligner find the phonemes, even if the voice tells them: it then says"
        " whole texts"
    )
    add("--align", action="store_true", help=align)
    heard = "leave out and list what this Whisper model does not understand of a Kokoro voice"
    add("--understood", metavar="WHISPER", help=heard)
    explained = (
        "all, or only the sentence's last (Ma 5.1; default where the package's aligner finds the"
        " phonemes)"
    )
    add("--punctuation", metavar="all|final", type=one_of("all", "final"), help=explained)
    add("--seed", metavar="N", type=number(int, 0), help="seed of its noise (default: 0)")
    add(
        "--features",
        action="store_true",
        help="also store its features, from which the mel vocoder learns (large)",
    )
    add = parser.add_argument_group("recordings").add_argument
    add(
        "--recordings",
        metavar="FOLDER",
        type=Path,
        help=(
            "folder with wavs/NAME.wav or .flac and, unless the splits' files have the texts,"
            " metadata.csv"
        ),
    )
    add(
        "--alignments",
        metavar="FOLDER",
        type=Path,
        help=(
            "folder with a TextGrid for each recording: tiers words and phones (default: the"
            " package's aligner)"
        ),
    )
    add(
        "--aligner", metavar="FOLDER", type=Path, help="another aligner: see sayahead train aligner"
    )
    add(
        "--reader",
        metavar="NAME",
        help="its layout: libritts, vctk, audiofolder, datasets or FILE.py:FUNCTION",
    )
    add(
        "--skip-missing",
        action="store_true",
        help="leave out and list recordings that are missing or do not match",
    )


def run(arguments: argparse.Namespace) -> int:
    """Make the corpus; the exit code."""
    console = Console(quiet=False)
    if arguments.join:
        join(arguments.out, arguments.join)
        for line in summary(arguments.out):
            console.note(line)
        return 0
    if arguments.recordings is None:
        spec, splits = from_voice(arguments)
    else:
        spec, splits = from_recordings(arguments)
    begun_s = time.monotonic()
    options = {
        "workers": workers(arguments.on, arguments.jobs),
        "shard_texts": arguments.shard_texts,
    }
    make_corpus(arguments.out, spec, splits, **options, note=console.note)
    for line in summary(arguments.out):
        console.note(line)
    console.note(f"Made in {(time.monotonic() - begun_s) / 60:.1f} min.")
    return 0


def from_voice(arguments: argparse.Namespace) -> tuple[Spec, dict[str, Texts]]:
    """The teacher that was asked for, and the texts; ConfigError if there are none."""
    if arguments.align and arguments.teacher is None:
        raise ConfigError("--align needs --teacher: the default voice's own durations are exact.")
    taught = () if arguments.teacher is None else ("aligner", "skip_missing")
    for name in ("alignments", "aligner", "skip_missing"):
        if getattr(arguments, name) and name not in taught:
            raise ConfigError(
                f"--{name.replace('_', '-')} needs --recordings: give both, or leave it out."
            )
    splits = listed_texts(arguments)
    if not splits:
        raise ConfigError(
            "A corpus needs texts: name files of name|text with --train, --val and --test."
        )
    if arguments.teacher is not None:
        return from_teacher(arguments), part(splits, arguments)
    parts = {"audio": not arguments.no_audio, "features": arguments.features}
    ends = {"lead": arguments.lead, "tail": arguments.tail, "seed": arguments.seed or 0}
    spec = TeacherSpec(
        PRESETS[arguments.front_end], arguments.punctuation or "all", **ends, **parts
    )
    return spec, part(splits, arguments)


def from_teacher(arguments: argparse.Namespace) -> Spec:
    """The voice or command that was asked for; ConfigError where it is neither."""
    if arguments.features:
        raise ConfigError(
            "--features applies to the default voice's own network: leave it out, or --teacher."
        )
    config = config_of(arguments.teacher)
    is_published = str(arguments.teacher).endswith(".onnx")
    own: dict[str, Any] = {"voice": arguments.teacher, "audio": not arguments.no_audio}
    own |= {"lead": arguments.lead, "tail": arguments.tail, "seed": arguments.seed or 0}
    front_end = PRESETS[arguments.front_end]
    if is_published or is_kokoro(config):
        style: dict[str, Any] = {name: getattr(arguments, name) or "" for name in KOKORO_OPTIONS}
        return KokoroSpec(front_end, arguments.punctuation or "all", **own, **style)
    for name in KOKORO_OPTIONS:
        if getattr(arguments, name):
            raise ConfigError(
                f"--{name} belongs to a Kokoro voice: leave it out with another teacher."
            )
    for tells, kind in TELLING:
        if config is not None and not arguments.align and tells(config):
            return kind(front_end, arguments.punctuation or "all", **own)
    return from_speech(arguments)


def config_of(teacher: str) -> VoiceConfig | None:
    """A voice's configuration; None for a command."""
    folder = voice_folder(teacher)
    return None if folder is None else read_config(folder)


def is_kokoro(config: VoiceConfig | None) -> bool:
    """Whether this is a voice with Kokoro's styles."""
    return config is not None and config.kind == "kokoro"


def from_speech(arguments: argparse.Namespace) -> SpokenSpec:
    """A voice or command whose speech is aligned."""
    spec = SpokenSpec(
        PRESETS[arguments.front_end],
        teacher=arguments.teacher,
        lead=arguments.lead,
        tail=arguments.tail,
        audio=not arguments.no_audio,
        noise=arguments.seed or 0,
        aligner=arguments.aligner or FOLDER,
        inner_marks=arguments.punctuation == "all",
        skip_missing=arguments.skip_missing,
    )
    spec.open()
    return spec


def from_recordings(arguments: argparse.Namespace) -> tuple[Spec, dict[str, Texts]]:
    """The recordings that were asked for, and their texts: one of 20 is for validation unless
    splits are named."""
    check_recordings(arguments)
    listed = listed_texts(arguments)
    layout = {"reader": arguments.reader or "", "speaker": arguments.speaker or ""}
    texts = texts_of_recordings(arguments, listed, **layout)
    splits = held_out(list(texts.items()))
    if listed:
        splits = {
            split: [(name, texts.get(name, "")) for name, _ in lines]
            for split, lines in listed.items()
        }
    unknown = [name for name in names_of(splits) if name not in texts]
    if unknown:
        source = arguments.recordings / ("" if arguments.reader else "metadata.csv")
        raise ConfigError(f"{source} does not have {unknown[0]} ({len(unknown)} in all).")
    splits = part(splits, arguments)
    options: dict[str, Any] = {
        "lead": arguments.lead,
        "tail": arguments.tail,
        "skip_missing": arguments.skip_missing,
        "audio": not arguments.no_audio,
    }
    front_end = PRESETS[arguments.front_end]
    if arguments.alignments is None:
        options |= {"inner_marks": arguments.punctuation == "all", **layout}
        return (
            AlignedSpec(front_end, arguments.recordings, arguments.aligner or FOLDER, **options),
            splits,
        )
    spec = RecordingSpec(front_end, arguments.recordings, arguments.alignments, **options)
    return scan(spec, names_of(splits)), splits


def names_of(splits: Mapping[str, Texts]) -> list[str]:
    """The names of all texts."""
    return [name for lines in splits.values() for name, _ in lines]


def check_recordings(arguments: argparse.Namespace) -> None:
    """ConfigError for options that recordings do not have."""
    foreign = ("punctuation",) if arguments.alignments is not None else ()
    for name in (*foreign, "seed", "features", "teacher"):
        if getattr(arguments, name):
            raise ConfigError(f"--{name} applies to the voice, not to recordings: leave it out.")
    if arguments.alignments is not None and arguments.aligner is not None:
        raise ConfigError("--alignments are another aligner's: leave them out, or --aligner.")


def texts_of_recordings(
    arguments: argparse.Namespace, listed: Mapping[str, Texts], *, reader: str, speaker: str
) -> dict[str, str]:
    """What is said in each recording, by its name; ConfigError where the options do not fit each
    other."""
    if reader:
        if arguments.alignments is not None:
            raise ConfigError("--reader is for the package's own aligner: leave --alignments out.")
        found = recordings_of(reader, arguments.recordings, speaker)
        return {name: one.text for name, one in found.items()}
    if speaker:
        raise ConfigError("--speaker needs a --reader that tells speakers apart.")
    # Without metadata.csv the splits' files have the texts.
    own = listed and not (arguments.recordings / "metadata.csv").is_file()
    return (
        dict(line for lines in listed.values() for line in lines)
        if own
        else read_metadata(arguments.recordings)
    )


def held_out(texts: Texts) -> dict[str, Texts]:
    """Texts in train, and every twentieth, from the tenth on, in val; none where there are fewer
    than ten."""
    rest: dict[str, Texts] = {
        "train": [line for number, line in enumerate(texts) if number % 20 != 9]
    }
    return {"val": texts[9::20], **rest} if len(texts) > 9 else rest


def listed_texts(arguments: argparse.Namespace) -> dict[str, Texts]:
    """The texts of each split that is named."""
    files = {split: getattr(arguments, split) for split in SPLITS}
    return {split: read_texts(path) for split, path in files.items() if path is not None}


def part(texts: dict[str, Texts], arguments: argparse.Namespace) -> dict[str, Texts]:
    """What --count and --hours choose of the texts."""
    if arguments.count is not None and arguments.hours is not None:
        raise ConfigError("--count and --hours both choose a part of the texts: give one of them.")
    counts = read_counts(arguments.count, texts)
    if arguments.hours is not None and "train" in texts:
        hours = sum(len(text) for _, text in texts["train"]) / CHARACTERS_A_SECOND / 3600
        counts["train"] = max(
            1, round(len(texts["train"]) * min(1.0, arguments.hours / max(hours, 1e-9)))
        )
    return {
        split: evenly(script, counts.get(split, len(script))) for split, script in texts.items()
    }


def summary(path: Path) -> list[str]:
    """A line about each split, and what was left out of it."""
    corpus = Corpus(path)
    front = corpus.info.front_end
    lines = []
    for name in corpus.info.splits:
        split = corpus.split(name)
        hours = int(split.lengths.sum()) * front.hop / front.sample_rate / 3600
        left_out = [reason for shard in split.shards for reason in shard.left_out]
        lines.append(f"{path / name}: {len(split)} items, {hours:.2f} h, {len(left_out)} left out")
        lines += [f"  left out: {reason}" for reason in left_out[:LISTED]]
        if len(left_out) > LISTED:
            lines.append(f"  and {len(left_out) - LISTED} more, listed in names.json of the shards")
    return lines
