"""A clip becomes a voice: heard, fitted, and written as one speaker more of a family of voices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from sayahead.config import check_number, from_mapping, nearest
from sayahead.engine.files import save_arrays, sha256
from sayahead.engine.onnx import OnnxGraph, shared_graphs_of
from sayahead.errors import ConfigError, VoiceError
from sayahead.extensions import not_installed
from sayahead.sound.pitch import pitch_hz
from sayahead.systems.heart import OWN, HeartConfig, heart_stages
from sayahead.systems.loading import two_stages
from sayahead.systems.speakers import SPEAKERS, Speakers, speaker_tables
from sayahead.types import Floats
from sayahead.vocoders.manner import MANNER
from sayahead.voice import Voice, load_voice
from sayahead.voices import VoiceConfig, installed_voices, read_config
from sayahead.voices.install.add import MADE, Added, check_name, settle, workplace
from sayahead.voices.install.clip.hearing import Heard, check, hear
from sayahead.voices.install.clip.manner import manner_of, moved_manner
from sayahead.voices.install.clip.reading import RATE, read_clip
from sayahead.voices.install.clip.speaker import Blends, Fitted, SpeakerMaker, Tables, load_maker
from sayahead.voices.locations import ELSEWHERE
from sayahead.voices.write import write_voice

FAMILY = "family"
"""The voice whose speakers others join."""
NEAR = 0.9
"""Between a voice that sounds natural (0: a blend of the family's speakers) and one that is like
the clip (1)."""
ROUNDS = 3
"""How often a speaker is heard and corrected, at most."""
STEP = 0.7
"""Share of what is missing that is asked for in addition."""
SENTENCES = (
    "The morning train was late again, so we walked along the river instead.",
    "Would you please open a window, before the others come back?",
)
"""What a speaker says while it is fitted."""
BLENDS = 3
"""Nearest blends of the family's speakers from which a speaker is made; it is the mean of what is
made of each."""
ENOUGH = 0.91
"""A speaker who is less like the clip is also made of other blends."""
CLEARLY = 0.02
"""The most similar of those is taken if it is more similar by so much: less is chance, and a nearer
voice sounds less natural."""
OTHER_STARTS = (slice(0, 1), slice(1, 2), slice(2, 3), slice(0, 5), slice(0, 8))
"""Which of the nearest blends."""
LICENSE = "LicenseRef-Private"
"""Where the speaker has chosen none."""


@dataclass(frozen=True, slots=True)
class FromClip:
    """A voice that was made of a clip."""

    added: Added
    """The voice."""
    heard: Heard
    """The clip, measured."""
    similarity: float
    """Cosine of the embedding of what it says and of the clip's, less what is the sentences' alone:
    strangers have 0.56, one person's sentences 0.9."""


class Studio:
    """A family of voices that says sentences as any speaker."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.voice = load_voice(folder)
        self._config = from_mapping(HeartConfig, self.voice.config.model, where="model")
        graphs: list[OnnxGraph] = [load() for load in shared_graphs_of(folder, OWN, 1)]
        self._graphs = {graph.name: graph for graph in graphs}
        self.rows = speaker_tables(folder / SPEAKERS, self._graphs, len(self.voice.config.speakers))

    @property
    def maker(self) -> SpeakerMaker:
        """What makes its speakers."""
        return load_maker(self.folder, self.rows)

    def as_speaker(self, tables: Tables) -> Voice:
        """The voice as a speaker of these numbers."""
        speakers = Speakers({name: table[None] for name, table in tables.items()})
        stages = heart_stages(self._graphs, self._config, self.voice.config.phonemes, speakers)
        config = replace(self.voice.config, speakers={"guest": 0})
        return self.voice.described(config, two_stages(config, *stages))

    def say(self, tables: Tables) -> Floats:
        """(S,) the sentences at 24 kHz."""
        voice = self.as_speaker(tables)
        return np.concatenate([voice.synthesize(text, policy="wait-all") for text in SENTENCES])


def voice_from_clip(
    clip: str | Path,
    name: str,
    *,
    near: float = NEAR,
    language: str | None = None,
    family: str = FAMILY,
    license: str = LICENSE,
    consent: str = "",
    description: str | None = None,
    replace: bool = False,
) -> FromClip:
    """Add a voice ``name`` that sounds like the person in a clip of 5 to 20 seconds, in any
    language.

    ``near``: 0 is the family's nearest blend, 1 as near to the clip as can be; ``language``: what
    it speaks, by default the family's; ``consent``: who agreed to it, in words that the voice
    keeps. ConfigError for a clip that no voice can be made of, with what was heard in it and what
    to do; VoiceError where the family is not installed."""
    check_number("near", near, 0.0, 1.0)
    check_name(name, replace=replace)
    path = Path(clip).expanduser()
    folder = family_folder(family)
    tag = checked_language(folder, language)
    recorded = read_clip(path)
    studio = Studio(folder)
    maker = studio.maker
    heard = hear(recorded, maker.embed)
    check(heard, path.name)
    fitted = fit(studio, maker, heard, near=near)
    origin = f"a clip of {heard.seconds:.1f} s ({path.name}, SHA-256 {sha256(path)})"
    about = {"name": name, "language": tag, "license": license, "consent": consent}
    about["description"] = (
        description or f"Made of a clip of {heard.seconds:.0f} s, a speaker more of {family}"
    )
    about["source"] = (
        f"{origin}, and the networks of the voice {family}: {studio.voice.config.source}"
    )
    with workplace() as work:
        write_guest(work / MADE, studio.voice.config, folder, fitted.tables, about)
        return FromClip(settle(work, name, replace=replace), heard, fitted.similarity)


def fit(
    studio: Studio,
    maker: SpeakerMaker,
    heard: Heard,
    *,
    near: float = NEAR,
    rounds: float = ROUNDS,
    step: float = STEP,
    blends: float = BLENDS,
    enough: float = ENOUGH,
    clearly: float = CLEARLY,
) -> Fitted:
    """The speaker of the family that is like a clip."""
    ranked = maker.nearest(heard.embedding, heard.f0, max(part.stop for part in OTHER_STARTS))
    wanted = maker.person(heard.embedding)

    def fitted(start: Blends) -> Fitted:
        manner = manner_like(studio, maker.blended(start), heard)

        def say(tables: Tables) -> Floats:
            return studio.say({**tables, MANNER: manner})

        one = maker.fit(wanted, heard.f0, start, say, near=near, rounds=int(rounds), step=step)
        return replace(one, tables={**one.tables, MANNER: manner})

    first = fitted(ranked[: int(blends)])
    if first.similarity >= enough:
        return first
    best = max((fitted(ranked[part]) for part in OTHER_STARTS), key=lambda one: one.similarity)
    return best if best.similarity >= first.similarity + clearly else first


def manner_like(studio: Studio, tables: Tables, heard: Heard) -> Floats:
    """(3,) the manner with which a speaker has a clip's pitch, its range, and pace."""
    samples = studio.say(tables)
    hertz = pitch_hz(samples, RATE)
    own_hz = float(np.median(hertz[hertz > 0]))
    return moved_manner(heard.f0, heard.manner, own_hz, manner_of(samples, hertz))


def write_guest(
    folder: Path, family: VoiceConfig, lender: Path, tables: Tables, about: Mapping[str, object]
) -> None:
    """The folder of a voice that is one speaker more of a family: its numbers, and whose graphs it
    borrows."""
    folder.mkdir(parents=True)
    save_arrays(
        folder / SPEAKERS, {name: table[None].astype(np.float16) for name, table in tables.items()}
    )
    lent = [f"{graph}.onnx" for graph in OWN] + [SPEAKERS]
    graphs = {"voice": family.name, "files": {file: family.files[file] for file in lent}}
    name = str(about["name"])
    config = asdict(family) | dict(about)
    config["model"] = {**family.model, "graphs": graphs, "languages": {}}
    # ``settle`` measures the loudness and sets the gain.
    config |= {"speakers": {name: 0}, "gender": "", "gain": 1.0, "reads": ""}
    if about["language"] != family.language:
        config["model"]["languages"] = {name: about["language"]}
    left = ("learned", "hidden", "agent")
    write_voice(
        folder,
        {key: value for key, value in config.items() if key not in left},
        [folder / SPEAKERS],
        notice=notice(about),
    )


def notice(about: Mapping[str, object]) -> str:
    """What NOTICE says: of whom the voice is, and who agreed."""
    consent = about["consent"] or "not stated"
    return (
        f"The voice {about['name']} was made of {about['source']}\nConsent of the speaker:"
        f" {consent}\n"
    )


def family_folder(family: str) -> Path:
    """Where the family is; VoiceError where it is not installed."""
    voices = installed_voices()
    if family not in voices:
        if family in ELSEWHERE:
            raise VoiceError(
                not_installed(
                    f"The voice {family!r}, of which others are speakers,", ELSEWHERE[family]
                )
            )
        raise VoiceError(
            f"There is no voice {family!r} of which another could be a"
            f" speaker{nearest(family, voices)}."
        )
    return voices[family]


def checked_language(folder: Path, language: str | None) -> str:
    """The tag of a language that a family speaks; ConfigError for another."""
    config = read_config(folder)
    spoken = {config.language, *config.model.get("languages", {}).values()}
    if language is None or language in spoken:
        return language or config.language
    raise ConfigError(
        f"The voice {config.name!r} does not speak {language!r}: it speaks"
        f" {', '.join(sorted(spoken))}."
    )
