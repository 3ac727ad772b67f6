"""What all connections share: settings, voices, threads, who may connect, and how many have."""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from weakref import WeakKeyDictionary

from sayahead.config import nearest
from sayahead.engine.onnx import cores
from sayahead.engine.policy import Unit
from sayahead.errors import SayaheadError, VoiceError
from sayahead.server import messages as m
from sayahead.server.operation.access import Access, Caller
from sayahead.server.operation.metrics import Metrics
from sayahead.server.operation.settings import Settings
from sayahead.server.synthesis.threads import Pool, Speaking, session_options
from sayahead.systems import CHARACTER_KINDS
from sayahead.text.lexicon import Lexicon
from sayahead.voice import Voice, load_voice
from sayahead.voices import VoiceConfig, installed_voices, read_config

log = logging.getLogger("sayahead.server")
DEFAULT = "heart"
NEEDED = "This connection spoke no text, and others needed its place: connect again in a few seconds."
PLACES_PER_CORE = 16
# A connection without a text keeps its place for so long when others want it.
GRACE_S = 1.0
# A voice that could not be loaded is not tried again for so long.
RETRY_S = 30.0
# Threads that open texts, which takes no time but for an encoder's start.
OPENERS = 4


class RefusedError(SayaheadError):
    """No place is left, or the server is going down."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Voices:
    """The voices that the server offers, and no others; each is loaded when first used."""

    def __init__(self, names: tuple[str, ...]) -> None:
        """``names`` or folders, the default one first; empty: all that are installed."""
        installed, asked = installed_voices(), names
        names = names or tuple(sorted(installed, key=lambda name: (name != DEFAULT, name)))
        self._folders: dict[str, Path] = {}
        self.configs: dict[str, VoiceConfig] = {}
        for name in names:
            folder = installed.get(name, Path(name))
            try:
                config = read_config(folder)
            except VoiceError as error:
                if asked:
                    raise
                log.warning("voice left out", extra={"voice": name, "why": str(error)})
                continue
            self._folders[config.name], self.configs[config.name] = folder, config
        if not self.configs:
            raise VoiceError("There is no voice to offer: install sayahead again, or name one.")
        self.default = next(iter(self.configs))
        self.loaded: dict[str, Voice] = {}
        self._failed: dict[str, tuple[float, VoiceError]] = {}
        self._locks = {name: threading.Lock() for name in self.configs}

    def name(self, wanted: str | None, *, any_voice: bool = False) -> str:
        """The name of the voice that is meant. VoiceError for an unknown one."""
        if wanted in self.configs and wanted is not None:
            return wanted
        if wanted is None or any_voice:
            return self.default
        raise VoiceError(f"There is no voice {wanted[:80]!r}{nearest(wanted[:80], self.configs)}.")

    def load(self, name: str) -> Voice:
        """A voice by a name from ``name``; slow the first time. VoiceError where it cannot be loaded."""
        with self._locks[name]:
            begun = time.perf_counter()
            failed_at, failure = self._failed.get(name, (-RETRY_S, None))
            if failure is not None and begun - failed_at < RETRY_S:
                raise failure
            if name not in self.loaded:
                try:
                    self.loaded[name] = load_voice(self._folders[name])
                except VoiceError as error:
                    self._failed[name] = time.perf_counter(), error
                    raise
                log.info("voice loaded", extra={"voice": name, "took_s": round(time.perf_counter() - begun, 3)})
            return self.loaded[name]

    def unit(self, name: str) -> Unit:
        """What a voice reads and its policies decide on, whether it is loaded or not."""
        if name in self.loaded:
            return self.loaded[name].loaded.unit
        return "characters" if self.configs[name].kind in CHARACTER_KINDS else "words"

    def put(self, voice: Voice) -> None:
        """Offer a voice that is already loaded, as the default one."""
        name = voice.config.name
        self.loaded[name], self._locks[name] = voice, threading.Lock()
        self.configs = {name: voice.config, **self.configs}
        self.default = name


class Lease:
    """A connection that was admitted; ends with ``Hub.leave``."""

    def __init__(self, protocol: str, caller: Caller) -> None:
        self.id = secrets.token_hex(6)
        """Names the connection in the log."""
        self.protocol, self.caller = protocol, caller
        self.utterances, self.idle_since = 0, time.monotonic()
        self.lost = asyncio.Event()
        """Set when its place went to another, who speaks."""


class Hub:
    """What one server's connections share."""

    def __init__(self, settings: Settings, *, voices: Voices | None = None) -> None:
        """``voices`` take the place of those of the settings, for tests."""
        self.settings, self.limits = settings, settings.limits
        self.access, self.metrics = Access(settings), Metrics()
        self.voices = voices or Voices(settings.voices)
        self.lexicon = None if settings.lexicon is None else Lexicon.of(settings.lexicon)
        """How words are said in all texts."""
        self._lexicons: WeakKeyDictionary[Lexicon, Lexicon] = WeakKeyDictionary()
        self.pool = Pool(settings.workers or cores())
        # Loading takes seconds: it has a thread of its own, in which nobody waits whose voice is there.
        self._loader, self._openers = ThreadPoolExecutor(1, "load"), ThreadPoolExecutor(OPENERS, "open")
        self.places = settings.limits.sessions or PLACES_PER_CORE * cores()
        self.metrics.limit.set(self.places)
        fair = self.places if self.access.keys == 1 else max(1, self.places // 2)
        self.share = settings.limits.sessions_per_key or fair
        """Places that one key, or one address, may take."""
        self.closing = asyncio.Event()
        """Set when connections must end now."""
        self.draining = False
        """Whether no new connection is admitted."""
        self._leases: set[Lease] = set()
        self._by_caller: Counter[str] = Counter()

    def start(self) -> None:
        """Load voices, so that the first word need not wait for them."""
        for name in self.voices.configs if self.settings.preload else (self.voices.default,):
            self.voices.load(name).pronunciations(self.lexicon)

    def _chosen(self, options: m.Options) -> m.Options:
        """A client's options with the server's lexicon behind its own."""
        if self.lexicon is None or options.lexicon is None:
            return options if options.lexicon else replace(options, lexicon=self.lexicon)
        if (both := self._lexicons.get(options.lexicon)) is None:
            both = self._lexicons[options.lexicon] = self.lexicon | options.lexicon
        return replace(options, lexicon=both)

    def check(self, options: m.Options) -> None:
        """VoiceError or ConfigError for options that an utterance cannot take, as far as a voice's description, or the
        voice itself if it is loaded, can tell."""
        voice = self.voices.loaded.get(self.voices.name(options.voice, any_voice=options.any_voice))
        if voice is not None:
            voice.session(**session_options(voice, self._chosen(options)))

    async def speaking(self, options: m.Options) -> Speaking:
        """A new text to be spoken. VoiceError for an unknown voice, ConfigError for options that it cannot take."""
        name = self.voices.name(options.voice, any_voice=options.any_voice)
        # A voice may have to be loaded first, which must hold up nobody who speaks.
        loop = asyncio.get_running_loop()
        voice = self.voices.loaded.get(name)
        if voice is None:
            voice = await loop.run_in_executor(self._loader, self.voices.load, name)
        return await loop.run_in_executor(self._openers, Speaking, voice, self._chosen(options), self.pool)

    @property
    def bounds(self) -> dict[str, int | float]:
        """The limits in force."""
        return asdict(self.limits) | {"sessions": self.places, "sessions_per_key": self.share}

    @property
    def ready(self) -> bool:
        """Whether a new connection would be admitted."""
        return not self.draining and self.taken < self.places

    @property
    def taken(self) -> int:
        """Places taken: one by each connection, and one by each of its utterances after the first."""
        return sum(max(1, lease.utterances) for lease in self._leases)

    @property
    def connections(self) -> int:
        """Open connections."""
        return len(self._leases)

    def enter(self, protocol: str, caller: Caller) -> Lease:
        """Admit a connection, which must ``leave``. RefusedError if there is no place."""
        if self.draining:
            raise self._refuse("shutdown", "The server is going down: connect again in a moment.")
        self._check_place(caller)
        lease = Lease(protocol, caller)
        self._leases.add(lease)
        self._count(caller, 1)
        self.metrics.connections.labels(protocol).inc()
        return lease

    def leave(self, lease: Lease) -> None:
        """A connection has ended, with all its utterances. Harmless when repeated."""
        if lease in self._leases:
            self._leases.remove(lease)
            self._count(lease.caller, -max(1, lease.utterances))
            self.metrics.connections.labels(lease.protocol).dec()

    def _count(self, caller: Caller, places: int) -> None:
        self._by_caller[caller.share] += places
        if not self._by_caller[caller.share]:
            del self._by_caller[caller.share]
        self.metrics.active.set(self.taken)

    def open_utterance(self, lease: Lease) -> None:
        """Take a place for one more utterance. RefusedError if there is none."""
        most = self.limits.contexts
        if lease.lost.is_set():
            raise self._refuse("overloaded", NEEDED)
        if lease.utterances >= most:
            sentence = f"This connection has {most} open contexts, the most it may have: finish or cancel one first."
            raise self._refuse("too_many_contexts", sentence)
        if lease.utterances:
            self._check_place(lease.caller)
        lease.utterances += 1
        self._count(lease.caller, int(lease.utterances > 1))

    def close_utterance(self, lease: Lease) -> None:
        """An utterance's place is free again."""
        lease.utterances -= 1
        lease.idle_since = time.monotonic()
        self._count(lease.caller, -int(lease.utterances > 0))

    def texts_of(self, lease: Lease) -> int:
        """How many texts its client speaks: on all connections of its key or address, or where it is of this machine on
        this one."""
        share = lease.caller.share
        return max(1, lease.utterances, self._by_caller[share] if share else 0)

    def _check_place(self, caller: Caller) -> None:
        if caller.share and self._by_caller[caller.share] >= self.share:
            whose = "This address" if self.access.open else "This key"
            raise self._refuse("overloaded", f"{whose} has {self.share} places, the most it may have.")
        if self.taken >= self.places and not self._make_room():
            raise self._refuse("overloaded", "All places are taken: try again in a few seconds.")

    def _make_room(self) -> bool:
        """Whether a connection without a text could be let go: of whoever has most places, the one longest idle."""
        late = time.monotonic() - GRACE_S
        idle = [lease for lease in self._leases if not lease.utterances and lease.idle_since < late]
        if not idle:
            return False
        lease = min(idle, key=lambda lease: (-self._by_caller[lease.caller.share], lease.idle_since))
        lease.lost.set()
        self.leave(lease)
        return True

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
        for executor in (self._loader, self._openers):
            executor.shutdown(wait=False, cancel_futures=True)
