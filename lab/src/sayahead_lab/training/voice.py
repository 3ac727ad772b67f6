"""Voices from trained runs: folders for every command's ``--voice``, without torch."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sayahead.engine.files import Borrowed
from sayahead.errors import ConfigError
from sayahead.extensions import Extensible
from sayahead.policies.learned import LearnedConfig, Network
from sayahead.text import front_end
from sayahead.text.languages import record_of
from sayahead.voice import load_voice
from sayahead.voices import FOLDER, installed_voices, located, read_config
from sayahead.voices.loans import lent
from sayahead.voices.write import write_voice

from sayahead_lab.training.corpus.store import language_of
from sayahead_lab.training.corpus.teacher import voice_config
from sayahead_lab.training.voice_parts import LANGUAGES, Acoustic, VoicePart, Written

if TYPE_CHECKING:
    from sayahead_lab.training.corpus.frontend import MelFrontEnd
    from sayahead_lab.training.loop.saved_run import Trained

    Run = Trained[Any, Any]

NOTICE = """The voice "{name}", {license}{see}.

{source}
"""
HIBARI = """Taught by speech of hibari-tts 0.2.1, Copyright 2026 Maureese Williams, Apache-2.0, whose voice "heart" was
distilled from Kokoro-82M (voice af_heart) by hexgrad, Apache-2.0; the phoneme symbols are Kokoro's.
"""  # noqa: E501
KOKORO = """Taught by speech of Kokoro-82M by hexgrad, Apache-2.0, of which it is a distillation.
"""
ACOUSTICS: Extensible[Acoustic[Any]] = Extensible(
    "sayahead_lab.acoustics",
    {
        "ma": "sayahead_lab.training.ma.export:PART",
        "saeki": "sayahead_lab.training.saeki.export:PART",
        "saeki-guided": "sayahead_lab.training.saeki.export:GUIDED",
        "mohan": "sayahead_lab.training.mohan.export:PART",
    },
)
"""Acoustic models by their task."""
VOCODERS: Extensible[VoicePart[Any]] = Extensible(
    "sayahead_lab.vocoders",
    {
        name: f"sayahead_lab.training.{name}.export:PART"
        for name in ("mel", "clarinet", "wavernn", "waveglow")
    },
)
"""Vocoders of mel frames by their task."""
P = TypeVar("P", bound=VoicePart[Any])


def part(run: Run, parts: Extensible[P], what: str) -> P:
    """A run's model as a stage of a voice; ConfigError where it is of another kind."""
    task = run.recipe.task
    if task not in parts:
        raise ConfigError(
            f"{run.recipe.name} is a run of {task}, which is not {what}"
            f" ({', '.join(sorted(parts))})."
        )
    return parts[task]


@dataclass(frozen=True, slots=True)
class SecondStage:
    """A voice's vocoder."""

    title: str
    """Its name for readers."""
    source: str
    """The name with its run."""
    taught: bool
    """Whether it was trained on the default voice's speech."""
    write: Callable[[Path], Written]
    """Writes its files into a folder; the table is the voice's ``vocoder``."""


def second_stage(vocoder: Run | str, front: MelFrontEnd) -> SecondStage:
    """A run's vocoder, or the named voice's; ConfigError where its frames differ."""
    if isinstance(vocoder, str):
        config = load_voice(vocoder).config
        n_mels = config.model.get("vocoder", {}).get("n_mels")
        if (config.sample_rate, config.hop_length, n_mels) != (
            front.sample_rate,
            front.hop,
            front.n_mels,
        ):
            raise ConfigError(
                f"The frames of the voice {vocoder} are not those of the acoustic model: {front}."
            )
        digests = {
            name: digest for name, digest in config.files.items() if name.startswith("vocoder")
        }
        table = asdict(Borrowed(vocoder, digests))
        title = f"the vocoder of the voice {vocoder}"
        return SecondStage(title, title, True, lambda _: ([], table))
    second = part(vocoder, VOCODERS, "a vocoder")
    info = vocoder.corpus.info
    if info.front_end != front:
        raise ConfigError(
            f"The frames of the two runs differ: {front} before {info.front_end}. Train the vocoder"
            " on a corpus with the acoustic model's front end."
        )

    def write(folder: Path) -> Written:
        files, table = second.write(vocoder, folder)
        return files, {"kind": second.kind, **table}

    return SecondStage(
        second.title, sourced(second.title, vocoder), info.source.get("kind") == "teacher", write
    )


def sourced(title: str, run: Run) -> str:
    """A part's title with the name and the length of its run."""
    return f"{title} ({run.recipe.name}, {run.step} steps)"


def make_voice(
    acoustic: Run,
    vocoder: Run | str,
    folder: Path,
    *,
    name: str,
    description: str | None = None,
    license: str | None = None,
    student: Run | str | None = None,
    policy: Network | None = None,
    agent: Run | None = None,
) -> None:
    """Write a voice's folder: graphs, voice.json, LICENSE and NOTICE; ConfigError where the runs do
    not fit together.

    ``vocoder``: a run, or the name of a voice that lends its vocoder. ``student``, ``policy``,
    ``agent``: see ``extras``.
    """
    first = part(acoustic, ACOUSTICS, "an acoustic model")
    info = acoustic.corpus.info
    front = info.front_end
    teacher = info.source.get("kind") == "teacher"
    second = second_stage(vocoder, front)
    if license is None and not teacher:
        raise ConfigError(
            "The corpus's speaker decides about the voice: name its licence with --license."
        )
    if not first.characters:
        check_phonemes(info.phonemes)
    source = f"{sourced(first.title, acoustic)} and {second.source}."
    folder.mkdir(parents=True, exist_ok=True)
    files, acoustic_table = first.write(acoustic, folder)
    more, vocoder_table = second.write(folder)
    language = language_of(info)
    inputs = (
        {"alphabet": front_end(language).speller().alphabet}
        if first.characters
        else {"pad": info.pad}
    )
    hold_back = {"hold_back_s": first.hold_back_s, "blind_hold_back_s": first.hold_back_s}
    config = {
        "name": name,
        "language": language,
        "description": (
            description
            or f"{LANGUAGES.get(language, language)}; {first.title} and {second.title}, {front.sample_rate} Hz"  # noqa: E501
        ),
        "license": license or "Apache-2.0",
        "source": (
            source + (f" Speech by {info.source['voice']}." if "voice" in info.source else "")
        ),
        "kind": first.kind,
        "sample_rate": front.sample_rate,
        "hop_length": front.hop,
        "stand_in": record_of(language).stand_in,
        "lead_in_s": 0.02,
        "pause_s": 0.4,
        "speed": [1.0, 1.0],
        "inner_punctuation": info.punctuation == "all",
        "defaults": {"lookahead": first.lookahead, **hold_back, "words": first.words},
        "model": {**inputs, **first.model, "acoustic": acoustic_table, "vocoder": vocoder_table},
    }
    others, tables = extras(folder, student=student, policy=policy, agent=agent)
    config |= {**tables, "phonemes": {} if first.characters else info.phonemes}
    taught = HIBARI * (teacher or second.taught) + KOKORO * (info.source.get("kind") == "kokoro")
    notice = notice_of(NOTICE + taught, config, source) if taught else ""
    write_voice(folder, config, [*files, *more, *others], notice=notice)


SPOKEN = "AIOWYbdfhijklmnpstuvwzæðŋɑɔəɛɜɡɪɹʃʊʌʒʤʧθ"
"""Phonemes without which English cannot be read."""


def exchange_vocoder(
    voice: str,
    vocoder: Run,
    folder: Path,
    *,
    name: str,
    description: str | None = None,
    license: str | None = None,
) -> None:
    """Write a folder with an installed voice's acoustic model, policies and contexts, and a run's
    vocoder.

    ConfigError for a voice whose second stage is not a vocoder of mel frames, and for frames that
    differ."""
    lender = installed_voices()[voice]
    config = json.loads((lender / "voice.json").read_text(encoding="utf-8"))
    old = config["model"].get("vocoder")
    if old is None or "n_mels" not in config["model"].get("acoustic", {}):
        raise ConfigError(
            f"The voice {voice} does not make mel frames: no other vocoder can follow it."
        )
    front = vocoder.corpus.info.front_end
    title = part(vocoder, VOCODERS, "a vocoder").title
    theirs = (config["sample_rate"], config["hop_length"], config["model"]["acoustic"]["n_mels"])
    if theirs != (front.sample_rate, front.hop, front.n_mels):
        raise ConfigError(
            f"The frames of the voice {voice} (sample rate, hop, bands: {theirs}) are not those of"
            f" the run: {front}."
        )
    folder.mkdir(parents=True, exist_ok=True)
    files = list[Path]()
    for file in config["files"]:
        if not file.startswith("vocoder"):
            shutil.copyfile(lender / file, folder / file)
            files.append(folder / file)
    second = second_stage(vocoder, front)
    more, table = second.write(folder)
    config["model"]["vocoder"] = table
    config |= {
        "name": name,
        "description": description or f"{voice} with {title}",
        "license": license or config["license"],
        "source": f"The acoustic model of the voice {voice} and {second.source}.",
    }
    notice = notice_of(NOTICE + HIBARI, config, config["source"])
    write_voice(folder, config, [*files, *more], notice=notice if second.taught else "")


def check_phonemes(phonemes: Mapping[str, int]) -> None:
    """ConfigError where a corpus has phonemes that the front end lacks, or lacks some that it has.

    A voice would drop phonemes without an id, and stay silent without an error.
    """
    own = voice_config().phonemes
    unknown = [symbol for symbol in phonemes if symbol not in own]
    if unknown:
        raise ConfigError(
            "The corpus has phonemes that the front end does not speak"
            f" ({', '.join(map(repr, unknown[:5]))}): make it again from TextGrids with ARPAbet, as"
            " english_us_arpa writes them, or with the package's own aligner."
        )
    missing = [symbol for symbol in SPOKEN if symbol not in phonemes]
    if missing:
        raise ConfigError(
            f"The corpus has no id for {', '.join(map(repr, missing[:5]))}, which the front end"
            " speaks: make it again."
        )


def make_heart(
    settings: Path,
    folder: Path,
    *,
    acoustic: Run | str | None = None,
    student: Run | str | None = None,
    policy: Network | None = None,
) -> None:
    """Write the default voice: as in hibari-tts, or as a run of the task ``heart`` has trained it
    on prefixes.

    ``acoustic``: that run, or a trained voice, whose graphs are written anew with the same weights.
    ``settings``: a TOML file of further entries of voice.json, lab/recipes/heart/voice.toml; its
    ``ranges`` names a file beside it, with which the linear layers are computed in integers.
    ``student``, ``policy``: see ``extras``. ConfigError for a run of another task, and settings
    that cannot be read.
    """
    from sayahead_lab.training.heart.export import export
    from sayahead_lab.training.heart.from_voice import renewed
    from sayahead_lab.training.heart.quantization import load_ranges
    from sayahead_lab.training.hibari import assets

    try:
        config = tomllib.loads(settings.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{settings} cannot be read as a voice's settings: {error}.") from error
    if student is not None and acoustic is None:
        raise ConfigError("--student goes with --acoustic, the voice that it was taught by.")
    folder.mkdir(parents=True, exist_ok=True)
    ranges_file = config.pop("ranges", None)
    ranges = None if ranges_file is None else load_ranges(settings.parent / ranges_file)
    # First the other voice's parts: it may be the one to be overwritten.
    others, tables = extras(folder, student=student, policy=policy)
    if isinstance(acoustic, str):
        files, table = renewed(located(acoustic), folder, ranges)
    else:
        files, table = export(acoustic, folder, ranges=ranges)
    config["model"] |= table
    config |= {
        **tables,
        "phonemes": json.loads((assets() / "vocab.json").read_text(encoding="utf-8")),
    }
    write_voice(
        folder,
        config,
        [*files, *others],
        notice=(FOLDER / "heart" / "NOTICE").read_text(encoding="utf-8"),
    )


def extend_voice(
    folder: Path,
    *,
    student: Run | str | None = None,
    policy: Network | None = None,
    agent: Run | None = None,
) -> None:
    """Add parts to an existing voice, or replace its own; see ``extras``."""
    load_voice(folder)
    config = json.loads((folder / "voice.json").read_text(encoding="utf-8"))
    files, tables = extras(folder, student=student, policy=policy, agent=agent)
    write_voice(folder, config | tables, {*files, *(folder / name for name in config["files"])})


def extras(
    folder: Path,
    *,
    student: Run | str | None = None,
    policy: Network | None = None,
    agent: Run | None = None,
) -> Written:
    """Write a voice's parts besides its two stages: returns their files, and the tables of
    voice.json about them.

    ``student``: a run that predicts context, or a voice that lends its student. ``policy``: a
    learned one. ``agent``: a run that decides when to READ and SPEAK.
    """
    files = list[Path]()
    tables = dict[str, Any]()
    if isinstance(student, str):
        files, tables["distilled"] = borrow_student(student, folder)
    elif student is not None:
        from sayahead_lab.training.distilled.export import write_student
        from sayahead_lab.training.distilled.states import write_states

        write = write_student
        kind = "distilled"
        if hasattr(student.task, "states"):
            write = write_states
            kind = "hidden"
        files, tables[kind] = write(student, folder)
    if policy is not None:
        files = [*files, folder / "policy.npz"]
        policy.save(files[-1])
        tables["learned"] = asdict(LearnedConfig(files[-1].name))
    if agent is not None:
        from sayahead_lab.training.mohan.agent_export import write_agent

        more, tables["agent"] = write_agent(agent, folder)
        files = [*files, *more]
    return files, tables


def borrow_student(voice: str, folder: Path) -> Written:
    """Copy another voice's student and its word vectors; ConfigError for a voice that has none."""
    other = located(voice)
    about = read_config(other).distilled
    if about is None:
        raise ConfigError(f"The voice {voice} has no student of context to take over.")
    files = [about.graph, about.vectors]
    if about.borrowed is not None:
        other = lent(about.borrowed, other, "the student of context", files)
    if other.resolve() != folder.resolve():
        for name in files:
            shutil.copyfile(other / name, folder / name)
    table = {key: value for key, value in asdict(about).items() if key != "borrowed"}
    return [folder / name for name in files], table


def notice_of(text: str, config: Mapping[str, Any], source: str) -> str:
    """A NOTICE for voice.json's name and licence: the text with what the voice was made of."""
    see = " (see LICENSE)" if config["license"] == "Apache-2.0" else ""
    return text.format(name=config["name"], license=config["license"], see=see, source=source)
