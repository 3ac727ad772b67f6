"""What all connections share: settings, voices, threads, who may connect, and how many have."""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sayahead.config import nearest
from sayahead.engine.onnx import cores
from sayahead.errors import SayaheadError, VoiceError
from sayahead.server import messages as m
from sayahead.server.operation.access import Access, Caller
from sayahead.server.operation.metrics import Metrics
from sayahead.server.operation.settings import Settings
from sayahead.server.synthesis.threads import Pool, Speaking, session_options
from sayahead.voice import Voice, load_voice
from sayahead.voices import VoiceConfig, installed_voices, read_config

log = logging.getLogger("sayahead.server")
DEFAULT = "heart"
PLACES_PER_CORE = 16


class RefusedError(SayaheadError):
    """No place is left, or the server is going down."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Voices:
    """The voices that the server offers, and no others; each is loaded when first used."""

    def __init__(self, names: tuple[str, ...]) -> None:
        """``names`` or folders, the default one first; empty: all that are installed."""
        installed = installed_voices()
        names = names or tuple(sorted(installed, key=lambda name: (name != DEFAULT, name)))
        self._folders: dict[str, Path] = {}
        self.configs: dict[str, VoiceConfig] = {}
        for name in names:
            folder = installed.get(name, Path(name))
            config = read_config(folder)
            self._folders[config.name], self.configs[config.name] = folder, config
        if not self.configs:
            raise VoiceError("There is no voice to offer: install sayahead again, or name one.")
        self.default = next(iter(self.configs))
        self.loaded: dict[str, Voice] = {}
        self._locks = {name: threading.Lock() for name in self.configs}

    def name(self, wanted: str | None, *, any_voice: bool = False) -> str:
        """The name of the voice that is meant. VoiceError for an unknown one."""
        if wanted in self.configs and wanted is not None:
            return wanted
        if wanted is None or any_voice:
            return self.default
        raise VoiceError(f"There is no voice {wanted[:80]!r}{nearest(wanted[:80], self.configs)}.")

    def load(self, name: str) -> Voice:
        """A voice by a name from ``name``; slow the first time."""
        with self._locks[name]:
            if name not in self.loaded:
                begun = time.perf_counter()
                self.loaded[name] = load_voice(self._folders[name])
                log.info("voice loaded", extra={"voice": name, "took_s": round(time.perf_counter() - begun, 3)})
            return self.loaded[name]

    def put(self, voice: Voice) -> None:
        """Offer a voice that is already loaded, as the default one."""
        name = voice.config.name
        self.loaded[name], self._locks[name] = voice, threading.Lock()
        self.configs = {name: voice.config, **self.configs}
        self.default = name


@dataclass(frozen=True, slots=True)
class Lease:
    """A connection that was admitted; ends with ``Hub.leave``."""

    id: str
    """Names the connection in the log."""
    protocol: str
    """Its protocol."""
    caller: Caller
    """Whose it is."""


class Hub:
    """What one server's connections share."""

    def __init__(self, settings: Settings, *, voices: Voices | None = None) -> None:
        """``voices`` take the place of those of the settings, for tests."""
        self.settings, self.limits = settings, settings.limits
        self.access, self.metrics = Access(settings), Metrics()
        self.voices = voices or Voices(settings.voices)
        self.pool = Pool(settings.workers or cores())
        self.places = settings.limits.sessions or PLACES_PER_CORE * cores()
        self.closing = asyncio.Event()
        """Set when connections must end now."""
        self.draining = False
        """Whether no new connection is admitted."""
        self._leases: dict[str, int] = {}
        self._by_caller: Counter[str] = Counter()

    def start(self) -> None:
        """Load voices, so that the first word need not wait for them."""
        for name in self.voices.configs if self.settings.preload else (self.voices.default,):
            self.voices.load(name)

    def check(self, options: m.Options) -> None:
        """VoiceError or ConfigError for options that an utterance cannot take, as far as a voice's description, or the
        voice itself if it is loaded, can tell."""
        voice = self.voices.loaded.get(self.voices.name(options.voice, any_voice=options.any_voice))
        if voice is not None:
            voice.session(**session_options(voice, options))

    async def speaking(self, options: m.Options) -> Speaking:
        """A new text to be spoken. VoiceError for an unknown voice, ConfigError for options that it cannot take."""
        name = self.voices.name(options.voice, any_voice=options.any_voice)
        # A voice may have to be loaded first, which must hold up nobody who speaks.
        return await asyncio.to_thread(lambda: Speaking(self.voices.load(name), options, self.pool))

    @property
    def ready(self) -> bool:
        """Whether a new connection would be admitted."""
        return not self.draining and self.taken < self.places

    @property
    def taken(self) -> int:
        """Places taken: one by each connection, and one by each of its utterances after the first."""
        return sum(max(1, utterances) for utterances in self._leases.values())

    @property
    def connections(self) -> int:
        """Open connections."""
        return len(self._leases)

    def enter(self, protocol: str, caller: Caller) -> Lease:
        """Admit a connection, which must ``leave``. RefusedError if there is no place."""
        if self.draining:
            raise self._refuse("shutdown", "The server is going down: connect again in a moment.")
        self._check_place(caller)
        lease = Lease(secrets.token_hex(6), protocol, caller)
        self._leases[lease.id] = 0
        self._by_caller[caller.name] += 1
        self.metrics.connections.labels(protocol).inc()
        self.metrics.active.set(self.taken)
        return lease

    def leave(self, lease: Lease) -> None:
        """A connection has ended, with all its utterances."""
        utterances = self._leases.pop(lease.id)
        self._by_caller[lease.caller.name] -= max(1, utterances)
        self.metrics.connections.labels(lease.protocol).dec()
        self.metrics.active.set(self.taken)

    def open_utterance(self, lease: Lease) -> None:
        """Take a place for one more utterance. RefusedError if there is none."""
        utterances = self._leases[lease.id]
        if utterances >= self.limits.contexts:
            raise self._refuse(
                "too_many_contexts",
                f"This connection has {utterances} open contexts, the most it may have: finish or cancel one first.",
            )
        if utterances:
            self._check_place(lease.caller)
            self._by_caller[lease.caller.name] += 1
        self._leases[lease.id] = utterances + 1
        self.metrics.active.set(self.taken)

    def close_utterance(self, lease: Lease) -> None:
        """An utterance's place is free again."""
        if self._leases[lease.id] > 1:
            self._by_caller[lease.caller.name] -= 1
        self._leases[lease.id] -= 1
        self.metrics.active.set(self.taken)

    def _check_place(self, caller: Caller) -> None:
        if self.taken >= self.places:
            raise self._refuse("overloaded", "All places are taken: try again in a few seconds.")
        most = self.limits.sessions_per_key
        if most and self._by_caller[caller.name] >= most:
            raise self._refuse("overloaded", f"This key has {most} texts being spoken, the most it may have.")

    def _refuse(self, code: str, message: str) -> RefusedError:
        self.metrics.rejected.labels(code).inc()
        return RefusedError(code, message)

    async def drain(self) -> None:
        """Admit no more, wait for texts being spoken as long as the settings say, then end what is left."""
        self.draining = True
        end = time.monotonic() + self.settings.drain_s
        while self._leases and time.monotonic() < end:
            await asyncio.sleep(0.05)
        self.closing.set()
        while self._leases and time.monotonic() < end + 2:
            await asyncio.sleep(0.02)

    def close(self) -> None:
        """End the threads."""
        self.pool.close()
