"""The voices that a server offers: found by name, speaker and language, loaded when first used."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from sayahead.config import nearest
from sayahead.engine.policy import Unit
from sayahead.errors import VoiceError
from sayahead.systems import KINDS
from sayahead.types import subtags
from sayahead.voice import SHAPED, Voice, load_voice
from sayahead.voices import DEFAULT, VoiceConfig, installed_voices, read_config

log = logging.getLogger("sayahead.server")
# A voice that could not be loaded is not tried again for so long.
RETRY_S = 30.0


class Voices:
    """The voices that the server offers, and no others; each is loaded when first used."""

    def __init__(self, names: tuple[str, ...]) -> None:
        """``names`` or folders, the default one first; empty: all that are installed."""
        installed = installed_voices()
        explicit = names
        names = names or tuple(sorted(installed, key=lambda name: (name != DEFAULT, name)))
        self._folders: dict[str, Path] = {}
        self.configs: dict[str, VoiceConfig] = {}
        for name in names:
            folder = installed.get(name, Path(name))
            try:
                config = read_config(folder)
            except VoiceError as error:
                if explicit:
                    raise
                log.warning("voice left out", extra={"voice": name, "why": str(error)})
                continue
            self._folders[config.name] = folder
            self.configs[config.name] = config
        if not self.configs:
            raise VoiceError("No voice is installed: reinstall sayahead, or name a voice.")
        self.default = next(iter(self.configs))
        self.loaded: dict[str, Voice] = {}
        self._used: dict[str, float] = {}
        self._failed: dict[str, tuple[float, VoiceError]] = {}
        self._locks = {name: threading.Lock() for name in self.configs}

    def known(self, request: str) -> bool:
        """Whether that means one of these voices, or a speaker of one."""
        name, _, speaker = request.partition(":")
        return request in self.configs or (
            name in self.configs and speaker in self.configs[name].speakers
        )

    def name(
        self, request: str | None, *, any_voice: bool = False, language: str | None = None
    ) -> str:
        """The name of the voice that is meant: see ``find``."""
        return self.find(request, any_voice=any_voice, language=language)[0]

    def find(
        self, request: str | None, *, any_voice: bool = False, language: str | None = None
    ) -> tuple[str, str | None]:
        """The voice that is meant, and its speaker where one is named: ``NAME`` or
        ``NAME:SPEAKER``.

        Without a name, or with ``any_voice`` where there is none of that name, the first that
        speaks the language, a BCP 47 tag, is meant; without a language, or where none speaks it,
        the default one. VoiceError for a name, or without ``any_voice`` a language, that is
        unknown.
        """
        if request in self.configs:
            return request, None
        name, _, speaker = (request or "").partition(":")
        config = self.configs.get(name)
        if config is not None and speaker in config.speakers:
            return name, speaker
        if not any_voice:
            self._refuse_unknown(request, language)
        # Where a voice has no such speaker, it speaks itself.
        if config is not None:
            return name, None
        return (self.speaking(language) if language is not None else None) or self.default, None

    def _refuse_unknown(self, request: str | None, language: str | None) -> None:
        """VoiceError for a voice, or one of its speakers, that is named and not there, and for a
        language that no voice speaks."""
        if request is not None:
            name, _, speaker = request.partition(":")
            if name in self.configs:
                what = f"The voice {name!r} has no speaker {speaker[:80]!r}"
                raise VoiceError(f"{what}{nearest(speaker, self.configs[name].speakers)}.")
            raise VoiceError(f"There is no voice {request[:80]!r}{nearest(request, self.configs)}.")
        if language is not None and self.speaking(language) is None:
            spoken = {config.language for config in self.configs.values()}
            raise VoiceError(f"No voice speaks {language[:80]!r}{nearest(language, spoken)}.")

    def speaking(self, language: str) -> str | None:
        """The first voice of a language, of its variety if there is one, the default voice before
        others."""
        tags = {name: subtags(config.language) for name, config in self.configs.items()}
        order = sorted(tags, key=lambda name: name != self.default)
        asked = subtags(language)
        exact = (name for name in order if asked[: len(tags[name])] == tags[name])
        akin = (name for name in order if tags[name][0] == asked[0])
        return next(exact, None) or next(akin, None)

    def listed(self) -> Iterator[tuple[str, VoiceConfig]]:
        """All names that mean a voice, for lists that know no speakers: of a voice with several,
        one for each."""
        for name, config in self.configs.items():
            yield name, config
            if len(config.speakers) > 1:
                yield from ((f"{name}:{speaker}", config) for speaker in config.speakers)

    def load(self, name: str) -> Voice:
        """A voice by a name from ``name``; slow the first time. VoiceError where it cannot be
        loaded."""
        with self._locks[name]:
            begun = time.perf_counter()
            failed_at, failure = self._failed.get(name, (-RETRY_S, None))
            if failure is not None and begun - failed_at < RETRY_S:
                raise failure
            if name not in self.loaded:
                try:
                    self.loaded[name] = prepared(load_voice(self._folders[name]))
                except VoiceError as error:
                    self._failed[name] = time.perf_counter(), error
                    raise
                log.info(
                    "voice loaded",
                    extra={"voice": name, "took_s": round(time.perf_counter() - begun, 3)},
                )
            return self.loaded[name]

    def in_use(self, name: str) -> Voice | None:
        """A voice that is to be used now, if it is loaded."""
        self._used[name] = time.monotonic()
        return self.loaded.get(name)

    def unload(self, idle_s: float) -> None:
        """Forget the voices, but the default one, that nobody has begun to use for so long; 0:
        none. Texts that are being spoken keep theirs, whose memory is free when they end."""
        late = time.monotonic() - idle_s
        for name in list(self.loaded) if idle_s else ():
            if name != self.default and self._used.setdefault(name, time.monotonic()) < late:
                with self._locks[name]:
                    self.loaded.pop(name, None)
                log.info("voice unloaded", extra={"voice": name})

    def take_over(self, old: Voices) -> None:
        """Keep what another list has loaded of the same voices."""
        for name, voice in list(old.loaded.items()):
            if self._folders.get(name) == old._folders.get(name) and self.configs.get(
                name
            ) == old.configs.get(name):
                self.loaded[name] = voice
                self._locks[name] = old._locks[name]
                self._used[name] = old._used.get(name, time.monotonic())

    def unit(self, name: str) -> Unit:
        """What a voice reads and its policies decide on, whether it is loaded or not."""
        if name in self.loaded:
            return self.loaded[name].loaded.unit
        config = self.configs[name]
        if config.kind == SHAPED:
            return (
                self.unit(config.model["voice"])
                if config.model.get("voice") in self.configs
                else "words"
            )
        return getattr(KINDS.get(config.kind), "unit", "words")

    def add(self, folder: Path) -> None:
        """Offer a voice that was installed while the server runs, too."""
        config = read_config(folder)
        self._folders[config.name] = folder
        self._locks[config.name] = threading.Lock()
        self.configs = {**self.configs, config.name: config}

    def put(self, voice: Voice) -> None:
        """Offer a voice that is already loaded, as the default one."""
        name = voice.config.name
        self.loaded[name] = prepared(voice)
        self._locks[name] = threading.Lock()
        self.configs = {name: voice.config, **self.configs}
        self.default = name


def prepared(voice: Voice) -> Voice:
    """A voice whose language has its rules: they take a fifth of a second, which its first text
    must not spend on the event loop."""
    voice.loaded.normalizer(0)
    return voice
