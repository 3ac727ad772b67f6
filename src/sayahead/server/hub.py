"""What all connections share: settings, voices, threads, who may connect, and how many have."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import Any
from weakref import WeakKeyDictionary

from sayahead.engine.onnx import cores
from sayahead.errors import SayaheadError
from sayahead.server.operation.access import Access, Caller
from sayahead.server.operation.metrics import Metrics
from sayahead.server.operation.settings import Settings
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.threads import Pool, Speaking
from sayahead.server.voices import Voices
from sayahead.text.lexicon import Lexicon

NEEDED = "This connection was idle and another client needed its place: reconnect in a few seconds."
PLACES_PER_CORE = 16
# A connection without a text keeps its place for so long when others want it.
GRACE_S = 1.0
# Threads that open texts, which takes no time but for an encoder's start.
OPENERS = 4


class RefusedError(SayaheadError):
    """No place is left, or the server is shutting down."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


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
        self.shared: dict[type, Any] = {}
        """What several protocols share, by its class."""
        self._lexicons: WeakKeyDictionary[Lexicon, Lexicon] = WeakKeyDictionary()
        self.pool = Pool(settings.workers or cores())
        # Loading takes seconds: it has its own thread, and whoever asks for a loaded voice does not wait.
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
        """A client's options with a voice that is offered, its speaker, and the server's lexicon after its own."""
        name, speaker = self.voices.find(options.voice, any_voice=options.any_voice, language=options.language)
        session, (least, most) = options.session, self.voices.configs[name].speed
        speed = min(max(session.speed, least), most) if options.any_voice else session.speed
        lexicon = self._with_own(session.lexicon)
        who = speaker if session.speaker is None else session.speaker
        session = replace(session, speed=speed, speaker=who, lexicon=lexicon)
        return replace(options, voice=name, session=session)

    def _with_own(self, lexicon: object) -> Lexicon | None:
        """A client's lexicon before the server's."""
        assert lexicon is None or isinstance(lexicon, Lexicon)
        if self.lexicon is None or not lexicon:
            return lexicon or self.lexicon
        if (both := self._lexicons.get(lexicon)) is None:
            both = self._lexicons[lexicon] = self.lexicon | lexicon
        return both

    def check(self, options: m.Options) -> None:
        """VoiceError or ConfigError for options that an utterance cannot take, as far as a voice's description, or the
        voice itself if it is loaded, can tell."""
        options = self._chosen(options)
        voice = self.voices.loaded.get(str(options.voice))
        if voice is not None:
            voice.session(options.session)

    async def speaking(self, options: m.Options) -> Speaking:
        """A new text to be spoken. VoiceError for an unknown voice, ConfigError for options that it cannot take."""
        options = self._chosen(options)
        name = str(options.voice)
        # A voice may have to be loaded first, which must hold up nobody who speaks.
        loop = asyncio.get_running_loop()
        voice = self.voices.loaded.get(name)
        if voice is None:
            voice = await loop.run_in_executor(self._loader, self.voices.load, name)
        return await loop.run_in_executor(self._openers, Speaking, voice, options, self.pool)

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
            raise self._refuse("shutdown", "The server is shutting down: reconnect in a moment.")
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
            sentence = f"This connection has {most} open contexts, the limit: finish or cancel one first."
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
            raise self._refuse("overloaded", f"{whose} uses {self.share} places, its limit: close a connection first.")
        if self.taken >= self.places and not self._make_room():
            raise self._refuse("overloaded", "The server is at capacity: try again in a few seconds.")

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
