"""The voices that a server offers: found by name, speaker or language, and loaded at their first
use."""

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
# Time until a voice that failed to load is tried again.
RETRY_S = 30.0


class Voices:
    """The voices that a server offers; each is loaded at its first use."""

    def __init__(self, names: tuple[str, ...]) -> None:
        """``names``: names or folders, the default voice first; empty for all installed voices."""
        installed = installed_voices()
        requested = names
        names = names or tuple(sorted(installed, key=lambda name: (name != DEFAULT, name)))
        self._folders: dict[str, Path] = {}
        self.configs: dict[str, VoiceConfig] = {}
        for name in names:
            folder = installed.get(name, Path(name))
            try:
                config = read_config(folder)
            except VoiceError as error:
                if requested:
                    raise
                log.warning("voice left out", extra={"voice": name, "why": str(error)})
                continue
            self._folders[config.name] = folder
            self.configs[config.name] = config
        if not self.configs:
            raise VoiceError("No voice is installed: reinstall sayahead, or name a voice.")
        self.default = next(iter(self.configs))
        self.loaded: dict[str, Voice] = {}
        self._last_use: dict[str, float] = {}
        self._failed: dict[str, tuple[float, VoiceError]] = {}
        self._locks = {name: threading.Lock() for name in self.configs}

    def known(self, request: str) -> bool:
        """Return whether ``request`` names one of these voices or a speaker of one."""
        name, _, speaker = request.partition(":")
        return request in self.configs or (
            name in self.configs and speaker in self.configs[name].speakers
        )

    def name(
        self, request: str | None, *, any_voice: bool = False, language: str | None = None
    ) -> str:
        """Return the name of the voice that ``find`` finds."""
        return self.find(request, any_voice=any_voice, language=language)[0]

    def find(
        self, request: str | None, *, any_voice: bool = False, language: str | None = None
    ) -> tuple[str, str | None]:
        """Return the voice that a request means, and the speaker if it names one: ``NAME`` or
        ``NAME:SPEAKER``.

        Without a name, or if ``any_voice`` is set and no voice has the name, it is the first voice
        that speaks ``language`` (a BCP 47 tag), else the default voice. VoiceError for an unknown
        name, or for an unknown language without ``any_voice``.
        """
        if request in self.configs:
            return request, None
        name, _, speaker = (request or "").partition(":")
        config = self.configs.get(name)
        if config is not None and speaker in config.speakers:
            return name, speaker
        if not any_voice:
            self._refuse_unknown(request, language)
        # An unknown speaker of a known voice: its default speaker.
        if config is not None:
            return name, None
        return (self.speaking(language) if language is not None else None) or self.default, None

    def _refuse_unknown(self, request: str | None, language: str | None) -> None:
        """Raise VoiceError for an unknown voice or speaker, or a language that no voice speaks."""
        if request is not None:
            name, _, speaker = request.partition(":")
            if name in self.configs:
                problem = f"The voice {name!r} has no speaker {speaker[:80]!r}"
                raise VoiceError(f"{problem}{nearest(speaker, self.configs[name].speakers)}.")
            raise VoiceError(f"There is no voice {request[:80]!r}{nearest(request, self.configs)}.")
        if language is not None and self.speaking(language) is None:
            spoken = {config.language for config in self.configs.values()}
            raise VoiceError(f"No voice speaks {language[:80]!r}{nearest(language, spoken)}.")

    def speaking(self, language: str) -> str | None:
        """Return the first voice of a language, preferring its regional variety, then the default
        voice; None if there is none."""
        tags = {name: subtags(config.language) for name, config in self.configs.items()}
        order = sorted(tags, key=lambda name: name != self.default)
        requested = subtags(language)
        exact = (name for name in order if requested[: len(tags[name])] == tags[name])
        related = (name for name in order if tags[name][0] == requested[0])
        return next(exact, None) or next(related, None)

    def listed(self) -> Iterator[tuple[str, VoiceConfig]]:
        """Yield all names of voices, and NAME:SPEAKER for each speaker of a voice with several, for
        clients that know no speakers."""
        for name, config in self.configs.items():
            yield name, config
            if len(config.speakers) > 1:
                yield from ((f"{name}:{speaker}", config) for speaker in config.speakers)

    def load(self, name: str) -> Voice:
        """Return a voice by its name; slow at its first use.

        VoiceError if it cannot be loaded, which is remembered for ``RETRY_S``.
        """
        with self._locks[name]:
            start = time.perf_counter()
            failed_at, failure = self._failed.get(name, (-RETRY_S, None))
            if failure is not None and start - failed_at < RETRY_S:
                raise failure
            if name not in self.loaded:
                try:
                    self.loaded[name] = prepared(load_voice(self._folders[name]))
                except VoiceError as error:
                    self._failed[name] = time.perf_counter(), error
                    raise
                log.info(
                    "voice loaded",
                    extra={"voice": name, "took_s": round(time.perf_counter() - start, 3)},
                )
            return self.loaded[name]

    def in_use(self, name: str) -> Voice | None:
        """Return a voice if it is loaded, and record that it is about to be used."""
        self._last_use[name] = time.monotonic()
        return self.loaded.get(name)

    def unload(self, idle_s: float) -> None:
        """Unload voices that were not used for ``idle_s`` (0: none), except for the default one.

        Texts that are being spoken keep their voice, whose memory is freed when they end.
        """
        if not idle_s:
            return
        oldest = time.monotonic() - idle_s
        for name in list(self.loaded):
            if name != self.default and self._last_use.setdefault(name, time.monotonic()) < oldest:
                with self._locks[name]:
                    self.loaded.pop(name, None)
                log.info("voice unloaded", extra={"voice": name})

    def take_over(self, old: Voices) -> None:
        """Keep the loaded voices of another list that are the same here."""
        for name, voice in list(old.loaded.items()):
            if self._folders.get(name) == old._folders.get(name) and self.configs.get(
                name
            ) == old.configs.get(name):
                self.loaded[name] = voice
                self._locks[name] = old._locks[name]
                self._last_use[name] = old._last_use.get(name, time.monotonic())

    def unit(self, name: str) -> Unit:
        """Return what a voice reads and its policies decide on; the voice need not be loaded."""
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
        """Also offer a voice that was installed while the server runs."""
        config = read_config(folder)
        self._folders[config.name] = folder
        self._locks[config.name] = threading.Lock()
        self.configs = {**self.configs, config.name: config}

    def put(self, voice: Voice) -> None:
        """Offer a loaded voice as the default one."""
        name = voice.config.name
        self.loaded[name] = prepared(voice)
        self._locks[name] = threading.Lock()
        self.configs = {name: voice.config, **self.configs}
        self.default = name


def prepared(voice: Voice) -> Voice:
    """Return a voice after its language's rules were loaded: this takes 0.2 s, which must not
    happen on the event loop."""
    voice.loaded.normalizer(0)
    return voice
