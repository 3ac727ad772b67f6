"""``sayahead train voice``: what two runs learned becomes a voice's folder, which needs no torch."""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayahead.cli.console import Console
from sayahead.errors import ConfigError
from sayahead.voice import FORMAT, VOICES, load_voice

if TYPE_CHECKING:
    from sayahead.train.trained import Trained

HELP = "make a voice of an acoustic model's run and a vocoder's"
EPILOG = """Two runs become a folder that every command takes for --voice:

  sayahead train voice --acoustic runs/dv3-small --vocoder runs/melvocoder --name ma-lj -o voices/ma-lj
  sayahead say --voice voices/ma-lj "It learned to speak."
"""
DEFAULTS = {"lookahead": 1, "hold_back_s": 0.0, "blind_hold_back_s": 0.0}
NOTICE = """The voice "{name}", {license}{see}.

{made}
Taught by speech of hibari-tts 0.2.1, Copyright 2026 Maureese Williams, Apache-2.0, whose voice "heart" was distilled
from Kokoro-82M (voice af_heart) by hexgrad, Apache-2.0; the phoneme symbols are Kokoro's.
"""
Made = tuple[list[Path], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Part:
    """A model that can be a stage of a voice."""

    write: Callable[[Trained, Path], Made]
    """Writes its graphs into a folder; their paths, and what the voice's ``model`` table says of them."""
    title: str
    """What a person calls it."""
    continuations: tuple[str, str] = ("", "")
    """Of an acoustic model: phonemes behind the visible words while the sentence goes on, and where none is visible."""


def write_deepvoice3(trained: Trained, folder: Path) -> Made:
    """See Part."""
    from sayahead.models.deepvoice3 import DeepVoice3
    from sayahead.train.export_deepvoice3 import export

    assert isinstance(trained.model, DeepVoice3)
    front = trained.corpus.info.front_end
    return export(trained.model, folder, frame_s=front.hop / front.sample_rate)


def write_melvocoder(trained: Trained, folder: Path) -> Made:
    """See Part."""
    from sayahead.models.melvocoder import MelVocoder
    from sayahead.train.export_melvocoder import export

    assert isinstance(trained.model, MelVocoder)
    path, about = export(trained.model, folder)
    return [path], about


def write_clarinet(trained: Trained, folder: Path) -> Made:
    """See Part."""
    from sayahead.models.iaf import GaussianIAF
    from sayahead.train.export_clarinet import export

    assert isinstance(trained.model, GaussianIAF)
    return export(trained.model, folder, sample_rate=trained.corpus.info.front_end.sample_rate)


ACOUSTICS = {"deepvoice3": Part(write_deepvoice3, "Deep Voice 3", ("", " "))}
"""Acoustic models by their task, which is the voice's kind."""
VOCODERS = {
    "melvocoder": Part(write_melvocoder, "the mel vocoder"),
    "clarinet": Part(write_clarinet, "ClariNet's student"),
}
"""Vocoders of mel frames by their task, which is their kind."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add = parser.add_argument
    add(
        "--acoustic",
        metavar="RUN",
        type=Path,
        required=True,
        help="the acoustic model's run, or one of its checkpoints",
    )
    add("--vocoder", metavar="RUN", type=Path, required=True, help="the vocoder's")
    add("--name", metavar="NAME", required=True, help="what the voice is called")
    add("-o", "--out", metavar="FOLDER", type=Path, required=True, help="where it goes")
    add("--description", metavar="TEXT", help="one line about it")
    add("--license", metavar="ID", help="SPDX identifier (default: Apache-2.0 where the default voice was the teacher)")


def run(arguments: argparse.Namespace) -> int:
    """Export, load the voice and have it speak; the exit code."""
    console = Console(quiet=False)
    try:
        from sayahead.train.trained import load_trained
    except ImportError as error:
        raise ConfigError("Exporting needs torch and onnx: pip install 'sayahead[train]'.") from error
    acoustic, vocoder = load_trained(arguments.acoustic), load_trained(arguments.vocoder)
    make_voice(
        acoustic, vocoder, arguments.out, name=arguments.name, description=arguments.description,
        license=arguments.license,
    )  # fmt: skip
    load_voice(arguments.out)
    size = sum(path.stat().st_size for path in arguments.out.glob("*.onnx"))
    console.note(f"{arguments.out}: {arguments.name}, {size / 1e6:.1f} MB of graphs, loaded and heard")
    return 0


def make_voice(
    acoustic: Trained, vocoder: Trained, folder: Path, *, name: str, description: str | None = None,
    license: str | None = None,
) -> None:  # fmt: skip
    """Write a voice's folder: graphs, voice.json, LICENSE and NOTICE; ConfigError where the runs make no voice."""
    first = part(acoustic, ACOUSTICS, "an acoustic model")
    second = part(vocoder, VOCODERS, "a vocoder")
    info, other = acoustic.corpus.info, vocoder.corpus.info
    if info.front_end != other.front_end:
        raise ConfigError(
            f"The frames of the two runs differ: {info.front_end} in front of {other.front_end}. Train the vocoder on "
            "a corpus with the acoustic model's front end."
        )
    taught = "teacher" in (info.source.get("kind"), other.source.get("kind"))
    if license is None and info.source.get("kind") != "teacher":
        raise ConfigError("The corpus is of recordings, whose terms decide: name the voice's licence with --license.")
    license = license or "Apache-2.0"
    made = (
        f"{first.title} ({acoustic.recipe.name}, {acoustic.step} steps) and {second.title} ({vocoder.recipe.name}, "
        f"{vocoder.step} steps)."
    )
    folder.mkdir(parents=True, exist_ok=True)
    paths, about = first.write(acoustic, folder)
    more, heard = second.write(vocoder, folder)
    continuation, blind_continuation = first.continuations
    front = info.front_end
    config = {
        "format": FORMAT,
        "name": name,
        "language": "en-US",
        "description": description or f"American English; {first.title} and {second.title}, {front.sample_rate} Hz",
        "license": license,
        "source": made + (f" Speech by {info.source['voice']}." if "voice" in info.source else ""),
        "kind": acoustic.recipe.task,
        "sample_rate": front.sample_rate,
        "hop_length": front.hop,
        "stand_in": "people",
        "lead_in_s": 0.02,
        "pause_s": 0.4,
        "speed": [1.0, 1.0],
        "inner_punctuation": info.punctuation == "all",
        "defaults": DEFAULTS,
        "model": {
            "pad": info.pad,
            "continuation": continuation,
            "blind_continuation": blind_continuation,
            "acoustic": about,
            "vocoder": {"kind": vocoder.recipe.task, **heard},
        },
        "files": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in [*paths, *more]},
        "phonemes": info.phonemes,
    }
    if license == "Apache-2.0":
        shutil.copyfile(VOICES / "heart" / "LICENSE", folder / "LICENSE")
    see = " (see LICENSE)" if license == "Apache-2.0" else ""
    if taught:
        notice = NOTICE.format(name=name, license=license, see=see, made=made)
        (folder / "NOTICE").write_text(notice, encoding="utf-8")
    text = json.dumps(config, ensure_ascii=False, indent=1)
    (folder / "voice.json").write_text(text + "\n", encoding="utf-8")


def part(trained: Trained, parts: dict[str, Part], what: str) -> Part:
    """How a run's model becomes a stage; ConfigError where it cannot be this one."""
    task = trained.recipe.task
    if task not in parts:
        raise ConfigError(
            f"{trained.recipe.name} is a run of {task}, which is not {what} ({', '.join(sorted(parts))})."
        )
    return parts[task]
