"""Makes a voice of a clip: measures it, fits a speaker of a family of voices to it, and writes that
speaker as a voice of its own."""

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
from sayahead.voices.install.clip.hearing import ClipMeasures, check, hear
from sayahead.voices.install.clip.manner import manner_of, moved_manner
from sayahead.voices.install.clip.reading import RATE, read_clip
from sayahead.voices.install.clip.speaker import Blends, Fitted, SpeakerMaker, Tables, load_maker
from sayahead.voices.locations import ELSEWHERE
from sayahead.voices.write import write_voice

FAMILY = "family"
"""Name of the voice with many speakers that new ones are fitted from."""
NEAR = 0.9
"""From 0, the most natural voice (a blend of the family's speakers), to 1, the one most like the
clip."""
ROUNDS = 3
STEP = 0.7
BLENDS = 3
"""Defaults of ``fit``."""
SENTENCES = (
    "The morning train was late again, so we walked along the river instead.",
    "Would you please open a window, before the others come back?",
)
"""Sentences that a speaker says while it is fitted."""
ENOUGH = 0.91
"""A speaker that is less similar to the clip is fitted from other blends as well."""
CLEARLY = 0.02
"""The best of those is taken if it is more similar by so much. Less is chance, and a nearer voice
sounds less natural."""
OTHER_STARTS = (slice(0, 1), slice(1, 2), slice(2, 3), slice(0, 5), slice(0, 8))
"""Those other starts, as ranges of the blends by similarity."""
LICENSE = "LicenseRef-Private"
"""Licence of a voice if none is given."""


@dataclass(frozen=True, slots=True)
class FromClip:
    """A voice that was made of a clip."""

    added: Added
    """The installed voice."""
    heard: ClipMeasures
    """Measurements of the clip."""
    similarity: float
    """Cosine of the speaker embeddings of the voice and of the person (``SpeakerMaker.person``):
    0.56 for strangers, 0.9 for sentences of one person."""


class Studio:
    """A family of voices that can speak with the numbers of any speaker, installed or not."""

    def __init__(self, folder: Path) -> None:
        """``folder``: the family's."""
        self.folder = folder
        self.voice = load_voice(folder)
        self._config = from_mapping(HeartConfig, self.voice.config.model, where="model")
        graphs: list[OnnxGraph] = [load() for load in shared_graphs_of(folder, OWN, 1)]
        self._graphs = {graph.name: graph for graph in graphs}
        speaker_count = len(self.voice.config.speakers)
        self._rows = speaker_tables(folder / SPEAKERS, self._graphs, speaker_count)

    @property
    def maker(self) -> SpeakerMaker:
        """A maker of its speakers, loaded at each call."""
        return load_maker(self.folder, self._rows)

    def as_speaker(self, tables: Tables) -> Voice:
        """Return the family's voice with one speaker, who has these numbers."""
        speakers = Speakers({name: table[None] for name, table in tables.items()})
        stages = heart_stages(self._graphs, self._config, self.voice.config.phonemes, speakers)
        config = replace(self.voice.config, speakers={"guest": 0})
        return self.voice.described(config, two_stages(config, *stages))

    def say(self, tables: Tables) -> Floats:
        """Synthesize ``SENTENCES`` as a speaker; return samples (S,) at 24 kHz."""
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
    """Install a voice ``name`` that sounds like the person in a clip of 5 to 20 seconds; the clip
    may be in any language.

    ``near``: from 0, the family's nearest blend, to 1, most like the clip. ``language``: the
    voice's language, by default the family's. ``consent``: who agreed to it, stored with the voice.
    ``replace``: overwrite an installed voice of that name. ConfigError if no voice can be made of
    the clip, which says why and what to do; VoiceError if the family is not installed."""
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
        write_guest(work / MADE, studio.voice.config, fitted.tables, about)
        return FromClip(settle(work, name, replace=replace), heard, fitted.similarity)


def fit(
    studio: Studio,
    maker: SpeakerMaker,
    heard: ClipMeasures,
    *,
    near: float = NEAR,
    rounds: float = ROUNDS,
    step: float = STEP,
    blends: float = BLENDS,
    enough: float = ENOUGH,
    clearly: float = CLEARLY,
) -> Fitted:
    """Fit a speaker of the family to a measured clip.

    The mean of the ``blends`` nearest blends sets the manner and is the start of
    ``SpeakerMaker.fit``, which takes ``near``, ``rounds`` and ``step``. If the result is less
    similar than ``enough``, OTHER_STARTS are tried, and the best of them is taken if it is more
    similar by ``clearly``. Counts may be floats: measurements read all settings as such."""
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


def manner_like(studio: Studio, tables: Tables, heard: ClipMeasures) -> Floats:
    """Return the manner (3,) that gives a speaker with these numbers the pitch, pitch range and
    pace of a clip."""
    samples = studio.say(tables)
    hertz = pitch_hz(samples, RATE)
    own_hz = float(np.median(hertz[hertz > 0]))
    return moved_manner(heard.f0, heard.manner, own_hz, manner_of(samples, hertz))


def write_guest(
    folder: Path, family: VoiceConfig, tables: Tables, about: Mapping[str, object]
) -> None:
    """Write the folder of a voice that is one more speaker of a family.

    The folder holds the speaker's numbers; its voice.json refers to the family's graphs. ``about``
    replaces fields of the family's voice.json."""
    folder.mkdir(parents=True)
    save_arrays(
        folder / SPEAKERS, {name: table[None].astype(np.float16) for name, table in tables.items()}
    )
    borrowed = [f"{graph}.onnx" for graph in OWN] + [SPEAKERS]
    graphs = {"voice": family.name, "files": {file: family.files[file] for file in borrowed}}
    name = str(about["name"])
    config = asdict(family) | dict(about)
    config["model"] = {**family.model, "graphs": graphs, "languages": {}}
    # ``settle`` measures the loudness and sets the gain.
    config |= {"speakers": {name: 0}, "gender": "", "gain": 1.0, "reads": ""}
    if about["language"] != family.language:
        config["model"]["languages"] = {name: about["language"]}
    # Their files stay with the family.
    not_inherited = ("learned", "hidden", "agent")
    write_voice(
        folder,
        {key: value for key, value in config.items() if key not in not_inherited},
        [folder / SPEAKERS],
        notice=notice(about),
    )


def notice(about: Mapping[str, object]) -> str:
    """Return the text of the voice's NOTICE: the source and the speaker's consent."""
    consent = about["consent"] or "not stated"
    return (
        f"The voice {about['name']} was made of {about['source']}\nConsent of the speaker:"
        f" {consent}\n"
    )


def family_folder(family: str) -> Path:
    """Return the folder of an installed family. VoiceError if it is not installed; the message says
    how to install it, if it is one of sayahead's own."""
    voices = installed_voices()
    if family in voices:
        return voices[family]
    if family in ELSEWHERE:
        subject = f"The voice {family!r}, of which others are speakers,"
        raise VoiceError(not_installed(subject, ELSEWHERE[family]))
    raise VoiceError(
        f"There is no voice {family!r} of which another could be a"
        f" speaker{nearest(family, voices)}."
    )


def checked_language(folder: Path, language: str | None) -> str:
    """Return ``language``, or the family's own if it is None. ConfigError if the family in
    ``folder`` does not speak it."""
    config = read_config(folder)
    spoken = {config.language, *config.model.get("languages", {}).values()}
    if language is None or language in spoken:
        return language or config.language
    raise ConfigError(
        f"The voice {config.name!r} does not speak {language!r}: it speaks"
        f" {', '.join(sorted(spoken))}."
    )
