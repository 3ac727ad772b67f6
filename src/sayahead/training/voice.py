"""What runs learned becomes a voice's folder, which needs no torch."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayahead.contexts.distilled import DistilledConfig
from sayahead.errors import ConfigError
from sayahead.policies.agent import AgentConfig
from sayahead.text.english.spelling import ALPHABET
from sayahead.vocoders import Borrowed
from sayahead.voice import load_voice
from sayahead.voices import FOLDER, FORMAT

if TYPE_CHECKING:
    from sayahead.training.corpus.frontend import FrontEnd
    from sayahead.training.loop.trained import Trained

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
    kind: str = ""
    """Of an acoustic model: the voice's kind."""
    model: dict[str, str] = field(default_factory=dict)
    """What the voice's ``model`` table says besides."""
    defaults: dict[str, Any] = field(default_factory=lambda: DEFAULTS)
    """The voice's defaults."""
    characters: bool = False
    """Whether it reads characters: the voice has no phonemes then."""


def write_deepvoice3(trained: Trained, folder: Path) -> Made:
    """See Part."""
    from sayahead.training.ma.export import export
    from sayahead.training.ma.network import DeepVoice3

    assert isinstance(trained.model, DeepVoice3)
    front = trained.corpus.info.front_end
    return export(trained.model, folder, frame_s=front.hop / front.sample_rate)


def write_saeki(trained: Trained, folder: Path) -> Made:
    """See Part; of a Tacotron, or of one whose context network was fine-tuned."""
    from sayahead.training.saeki.export import export
    from sayahead.training.saeki.task import SaekiTask

    task, model, front = trained.task, trained.model, trained.corpus.info.front_end
    assert isinstance(task, SaekiTask)
    if not task.config.taught:
        raise ConfigError("Only a Tacotron with [model] taught = true becomes a voice: the runtime knows no other.")
    tacotron: Any = model.tacotron
    return export(tacotron, folder, frame_s=front.hop / front.sample_rate, past=task.data.past)


def write_mohan(trained: Trained, folder: Path) -> Made:
    """See Part."""
    from sayahead.training.mohan.export import export
    from sayahead.training.mohan.task import MohanTask

    task, model, front = trained.task, trained.model, trained.corpus.info.front_end
    assert isinstance(task, MohanTask)
    tacotron: Any = model
    return export(tacotron, folder, frame_s=front.hop / front.sample_rate)


def write_agent(graph: Path, folder: Path) -> tuple[Path, AgentConfig]:
    """A copy of an agent's graph in a voice's folder, and what voice.json says of it."""
    from onnxruntime import InferenceSession

    path = folder / "agent.onnx"
    shutil.copyfile(graph, path)
    shapes = {value.name: value.shape for value in InferenceSession(str(path)).get_inputs()}
    if set(shapes) != {"observation", "hidden"}:
        raise ConfigError(f"{graph} is no agent: it takes {', '.join(shapes)}. Make one with sayahead train agent.")
    return path, AgentConfig(path.name, int(shapes["hidden"][0]))


def write_student(trained: Trained, folder: Path) -> tuple[list[Path], DistilledConfig]:
    """The graph of a student of context and its word vectors; their paths, and what voice.json says of them."""
    from sayahead.training.distilled.export import student_graph
    from sayahead.training.saeki.student import StudentTask

    task, model = trained.task, trained.model
    if not isinstance(task, StudentTask):
        raise ConfigError(f"{trained.recipe.name} is a run of {trained.recipe.task}, which is no student of context.")
    about = DistilledConfig(graph="distilled.onnx", vectors="words.npz")
    student: Any = model.student
    student_graph(student.eval().cpu(), task.axes).save(str(folder / about.graph))
    task.vectors.save(folder / about.vectors)
    return [folder / about.graph, folder / about.vectors], about


def write_melvocoder(trained: Trained, folder: Path) -> Made:
    """See Part."""
    from sayahead.training.mel.export import export
    from sayahead.training.mel.network import MelVocoder

    assert isinstance(trained.model, MelVocoder)
    path, about = export(trained.model, folder)
    return [path], about


def write_clarinet(trained: Trained, folder: Path) -> Made:
    """See Part."""
    from sayahead.training.clarinet.export import export
    from sayahead.training.clarinet.network import GaussianIAF

    assert isinstance(trained.model, GaussianIAF)
    return export(trained.model, folder, sample_rate=trained.corpus.info.front_end.sample_rate)


def write_wavernn(trained: Trained, folder: Path) -> Made:
    """See Part."""
    from sayahead.training.wavernn.export import export
    from sayahead.training.wavernn.network import WaveRNN

    assert isinstance(trained.model, WaveRNN)
    return export(trained.model, folder)


# So much sound waits for the next segment that the mel vocoder sees real frames at each join: 9 of 12.5 ms.
SEGMENTS = {"lookahead": 0, "hold_back_s": 0.1125, "blind_hold_back_s": 0.1125, "words": 2}


STEPS = {**SEGMENTS, "words": 1}


ACOUSTICS = {
    "deepvoice3": Part(write_deepvoice3, "Deep Voice 3", "ma", {"continuation": "", "blind_continuation": " "}),
    "saeki": Part(write_saeki, "Tacotron 2 with a contextual embedding", "saeki", defaults=SEGMENTS),
    "mohan": Part(write_mohan, "the modified Tacotron 2", "mohan", {"alphabet": ALPHABET}, STEPS, characters=True),
    "saeki-guided": Part(write_saeki, "Tacotron 2 with a guided contextual embedding", "saeki", defaults=SEGMENTS),
}
"""Acoustic models by their task."""


VOCODERS = {
    "melvocoder": Part(write_melvocoder, "the mel vocoder"),
    "clarinet": Part(write_clarinet, "ClariNet's student"),
    "wavernn": Part(write_wavernn, "WaveRNN"),
}
"""Vocoders of mel frames by their task, which is their kind."""


@dataclass(frozen=True, slots=True)
class SecondStage:
    """How a voice makes sound of frames."""

    title: str
    """What a person calls it."""
    run: str
    """Where it comes from."""
    taught: bool
    """Whether its speech was the default voice's."""
    write: Callable[[Path], Made]
    """See Part; the table is the voice's ``vocoder``."""


def second_stage(vocoder: Trained | str, front: FrontEnd) -> SecondStage:
    """A run's vocoder, or that of a voice that is named; ConfigError where its frames are others."""
    if isinstance(vocoder, str):
        config = load_voice(vocoder).config
        n_mels = config.model.get("vocoder", {}).get("n_mels")
        if (config.sample_rate, config.hop_length, n_mels) != (front.sample_rate, front.hop, front.n_mels):
            raise ConfigError(f"The frames of the voice {vocoder} are not those of the acoustic model: {front}.")
        digests = {name: digest for name, digest in config.files.items() if name.startswith("vocoder")}
        return SecondStage(
            f"the vocoder of the voice {vocoder}", "", True, lambda _: ([], asdict(Borrowed(vocoder, digests)))
        )
    second, info = part(vocoder, VOCODERS, "a vocoder"), vocoder.corpus.info
    if info.front_end != front:
        raise ConfigError(
            f"The frames of the two runs differ: {front} in front of {info.front_end}. Train the vocoder on "
            "a corpus with the acoustic model's front end."
        )

    def write(folder: Path) -> Made:
        paths, heard = second.write(vocoder, folder)
        return paths, {"kind": vocoder.recipe.task.replace("melvocoder", "mel"), **heard}

    run = f" ({vocoder.recipe.name}, {vocoder.step} steps)"
    return SecondStage(second.title, run, info.source.get("kind") == "teacher", write)


def make_voice(
    acoustic: Trained, vocoder: Trained | str, folder: Path, *, name: str, description: str | None = None,
    license: str | None = None, student: Trained | None = None, agent: Path | None = None,
) -> None:  # fmt: skip
    """Write a voice's folder: graphs, voice.json, LICENSE and NOTICE; ConfigError where the runs make no voice.

    ``vocoder``: a run, or the name of the voice whose vocoder it is. ``student``: a run that predicts context.
    ``agent``: a graph that decides when to READ and SPEAK.
    """
    first = part(acoustic, ACOUSTICS, "an acoustic model")
    info = acoustic.corpus.info
    front = info.front_end
    second = second_stage(vocoder, front)
    taught = second.taught or info.source.get("kind") == "teacher"
    if license is None and info.source.get("kind") != "teacher":
        raise ConfigError("The corpus is of recordings, whose terms decide: name the voice's licence with --license.")
    license = license or "Apache-2.0"
    made = f"{first.title} ({acoustic.recipe.name}, {acoustic.step} steps) and {second.title}{second.run}."
    folder.mkdir(parents=True, exist_ok=True)
    paths, about = first.write(acoustic, folder)
    more, heard = second.write(folder)
    config = {
        "format": FORMAT,
        "name": name,
        "language": "en-US",
        "description": description or f"American English; {first.title} and {second.title}, {front.sample_rate} Hz",
        "license": license,
        "source": made + (f" Speech by {info.source['voice']}." if "voice" in info.source else ""),
        "kind": first.kind,
        "sample_rate": front.sample_rate,
        "hop_length": front.hop,
        "stand_in": "people",
        "lead_in_s": 0.02,
        "pause_s": 0.4,
        "speed": [1.0, 1.0],
        "inner_punctuation": info.punctuation == "all",
        "defaults": first.defaults,
        "model": {
            **({} if first.characters else {"pad": info.pad}),
            **first.model,
            "acoustic": about,
            "vocoder": heard,
        },
    }
    if student is not None:
        files, distilled = write_student(student, folder)
        more, config["distilled"] = [*more, *files], asdict(distilled)
    if agent is not None:
        graph, decides = write_agent(agent, folder)
        more, config["agent"] = [*more, graph], asdict(decides)
    config["files"] = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in [*paths, *more]}
    config["phonemes"] = {} if first.characters else info.phonemes
    write_papers(folder, config, made=made, taught=taught)


def write_papers(folder: Path, config: dict[str, Any], *, made: str, taught: bool) -> None:
    """Write voice.json, LICENSE and NOTICE."""
    license = config["license"]
    if license == "Apache-2.0":
        shutil.copyfile(FOLDER / "heart" / "LICENSE", folder / "LICENSE")
    see = " (see LICENSE)" if license == "Apache-2.0" else ""
    if taught:
        notice = NOTICE.format(name=config["name"], license=license, see=see, made=made)
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
