"""The page's voices: sessions, policies and text as everywhere; sound is made by ``engine.js``."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from bridge import engine, to_js
from desk import Desk
from sounds import Sound

from sayahead.config import Spec
from sayahead.engine.context import ContextPredictor
from sayahead.engine.policy import Policy
from sayahead.errors import ConfigError, VoiceError
from sayahead.policies.learned import LearnedPolicy, Network
from sayahead.systems.loading import Loaded
from sayahead.text import FrontEnd, Phonemizer
from sayahead.text.saying.espeak.misaki import reader
from sayahead.types import NOTHING, Rendering, Segment, Shape, SynthesizedAudio
from sayahead.voice import Voice
from sayahead.voices import VoiceConfig, read_config


class Remote:
    """A synthesizer whose state and samples lie in JavaScript."""

    def __init__(self, config: VoiceConfig, shape: Shape) -> None:
        self.sample_rate = config.sample_rate
        self._config = config
        self._shape = shape

    def shaped(self, shape: Shape) -> Remote:
        """The same voice with another shape."""
        return Remote(self._config, shape)

    def initial(self, rendering: Rendering) -> Any:
        """The state before the first word of a session; ConfigError for what only the laboratory
        wants."""
        for name, value, usual in (("k2", rendering.k2, 0), ("delta", rendering.delta, None)):
            if value != usual:
                raise ConfigError(f"{name} cannot be chosen in a browser: leave it out.")
        blind_s = (
            rendering.hold_back_s
            if rendering.blind_hold_back_s is None
            else rendering.blind_hold_back_s
        )
        numbers = (rendering.speed, rendering.hold_back_s, blind_s, rendering.seed)
        shape = (self._shape.pitch, self._shape.pitch_range, self._shape.formants)
        return engine().initial(*numbers, *shape, rendering.speaker)

    def step(self, segment: Segment, state: Any) -> tuple[SynthesizedAudio, Any]:
        """As ``Synthesizer.step``."""
        if segment is NOTHING:
            made = engine().rest(state)
        else:
            made = engine().step(
                state,
                to_js(segment.ids.tolist()),
                segment.speak,
                to_js([place for word in segment.spans for place in word]),
                segment.ends,
                segment.breath,
                None if segment.speeds is None else to_js(segment.speeds.tolist()),
                segment.stretch,
                segment.pause,
            )
        places = iter(made.words.to_py())
        words = tuple(zip(places, places, strict=True))
        sound = Sound([made.samples]) if made.samples.length else Sound([])
        return SynthesizedAudio(sound, words, ended=made.ended, more=made.more), made.state


class Encoder:
    """Sound as 16-bit samples at a rate, which are JavaScript's, too."""

    def __init__(self, source: int, target: int) -> None:
        self._encoder = engine().encoder(source, target)

    def push(self, sound: Sound) -> Any:
        """(S,) what no later sound changes."""
        for piece in sound.pieces:
            self._encoder.take(piece, sound.gain)
        return self._encoder.give()

    def finish(self) -> Any:
        """(S,) the rest."""
        return self._encoder.finish()


class PageVoice(Voice):
    """A voice that waits for what comes: no predictor of context is part of the page."""

    def context(
        self, spec: ContextPredictor | Spec | None = None, **options: Any
    ) -> ContextPredictor:
        if spec not in (None, "none"):
            raise ConfigError("context cannot be chosen in a browser: leave it out.")
        return super().context("none")


class Voices:
    """Voices by name; those of one language share a front end."""

    def __init__(self, folder: Path, names: list[str], policy: Mapping[str, Any] | None) -> None:
        """``policy``: the learned policy's network, as lists, if the voices have one."""
        self.default = names[0]
        configs = {name: read_config(folder / name) for name in names}
        self.languages = {config.language: name for name, config in configs.items()}
        """A voice of each language."""
        readers = {language: reading(configs[name]) for language, name in self.languages.items()}
        self._voices = dict[str, Voice]()
        for name, config in configs.items():
            front, phonemizer = readers[config.language]
            loaded = Loaded(
                Remote(config, config.shape), front.normalizer, phonemizer, openers=front.openers
            )
            makers = policies(policy, phonemizer) if policy else {}
            self._voices[name] = PageVoice(config, loaded, policies=makers)

    def __call__(self, name: str) -> Voice:
        """The voice of a name; VoiceError where there is none."""
        if name not in self._voices:
            raise VoiceError(
                f"There is no voice {name!r} in this page: choose one of {', '.join(self._voices)}."
            )
        return self._voices[name]


def reading(config: VoiceConfig) -> tuple[FrontEnd, Phonemizer]:
    """What reads a voice's language for it."""
    front = reader(config.language)
    is_english = config.language.startswith("en")
    phonemizer = front.phonemizer(
        config.phonemes,
        stand_in=config.stand_in if is_english else "",
        inner_punctuation=config.inner_punctuation,
    )
    return front, phonemizer


def policies(policy: Mapping[str, Any], phonemizer: Any) -> dict[str, Callable[..., Policy]]:
    """The learned policy by its name."""
    layers = tuple((np.array(weight), np.array(bias)) for weight, bias in policy["layers"])
    network = Network(layers, tuple(policy["words"]), np.array(policy["vectors"]))
    return {"learned": functools.partial(LearnedPolicy, network, network.clues(phonemizer))}


def made(folder: str) -> Voices:
    """The voices of a folder, whose ``page.json`` names them."""
    page = json.loads((Path(folder) / "page.json").read_text(encoding="utf-8"))
    return Voices(Path(folder), page["voices"], page["policy"])


def desk(voices: Voices, send: Any) -> Desk:
    """What takes the page's messages."""
    return Desk(send, voices, Encoder, voices.default)
