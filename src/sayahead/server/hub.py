"""What all connections share: settings, voices, threads, who may connect, and how many have."""

from __future__ import annotations

import asyncio
import functools
import logging
import math
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sayahead.engine.onnx import cores
from sayahead.errors import SayaheadError, VoiceError
from sayahead.server.operation.access import Access, Caller
from sayahead.server.operation.budgets import Account, Accounts, Reading
from sayahead.server.operation.counters import PerClient, Process
from sayahead.server.operation.metrics import Metrics
from sayahead.server.operation.owner import Owner
from sayahead.server.operation.settings import Settings
from sayahead.server.operation.shared_usage import Shared
from sayahead.server.operation.siblings import ALIVE_S, Siblings
from sayahead.server.operation.usage import Bill, Usage
from sayahead.server.operation.usage_file import File, Store
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.capacity import (
    Lateness,
    cost_of,
    places_for,
    processors_for,
    threads_for,
)
from sayahead.server.synthesis.threads import Member, Pool, Speaking
from sayahead.server.synthesis.traces import Traces
from sayahead.server.voices import Voices
from sayahead.text.saying.lexicon import Lexicon

T = TypeVar("T")
log = logging.getLogger("sayahead.server")
NEEDED = "This connection was idle and another client needed its place: reconnect in a few seconds."
PLACES_PER_CORE = 16
# A connection without a text keeps its place for so long when others want it, and before, while its
# last one is heard.
GRACE_S = 1.0
HEARD_S = 10.0
# Part of the places that is left to others by who has more than its half, and how long a refusal
# counts as a wish. Part of the places for those who say so, and cannot prove it, that another
# server began their text.
BELIEVED = 0.1
RESERVE = 0.25
WANTED_S = 30
GROWTH = 1.5
"""Of places that are served in time, there are so many times as many."""
REFUSALS = "refusals"
"""Where refusals for want of a place are counted."""
BATCH_S = 1.0
LOOK_S = 0.02
"""How long a whole text may wait for a place, and how often it looks for one."""
OPENERS = 4  # Threads that open texts, which takes no time but for an encoder's start.


class RefusedError(SayaheadError):
    """No place is left, or the server is shutting down."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Lease:
    """A connection that was admitted; ends with ``Hub.leave``."""

    def __init__(
        self,
        protocol: str,
        caller: Caller,
        account: Account,
        *,
        resumed: bool = False,
        believed: bool = False,
    ) -> None:
        self.account = account
        """What its client takes."""
        self.id = caller.request or secrets.token_hex(8)
        """Names the connection in the log, and to its client."""
        self.voices = dict[str, None]()
        self.languages = dict[str, None]()
        """What it was spoken with, in order."""
        self.texts = 0
        self.underruns = 0
        self.first_audio_s: float | None = None
        """Time to first audio of its first text."""
        self.protocol = protocol
        self.caller = caller
        self.gathers = False
        self.resumed = resumed
        self.believed = believed
        """Whether what is sent waits in its transport for its bill, as over a WebSocket; whether it
        goes on with another's text, and whether that was believed without proof."""
        self.proof = ""
        """What it proved that with, until it has begun a text: who leaves before may come again."""
        self.utterances = 0
        self.idle_since = time.monotonic()
        self.reading: Reading | None = None
        """What is read of its messages, where that is bounded."""
        self.lost = asyncio.Event()
        """Set when its place went to another, who speaks."""


def store_of(settings: Settings, folder: Path | None = None) -> Store:
    """Where usage is kept; ``folder``: where several processes of one server keep it if the
    settings name no file. ConfigError for a place where it cannot be."""
    file = File(settings.usage or (None if folder is None else str(folder / "usage.db")))
    return file if settings.usage_database is None else Shared(file, settings.usage_database)


class Hub:
    """What one server's connections share."""

    def __init__(
        self,
        settings: Settings,
        *,
        voices: Voices | None = None,
        loaded: Voices | None = None,
        config: Path | None = None,
        reread: Callable[[], Settings] | None = None,
        siblings: Siblings | None = None,
    ) -> None:
        """``voices`` take the place of those of the settings, for tests, and ``loaded`` are those
        of the settings where they are there already. ``config`` is the file of the settings, if
        any, and ``reread`` gives those that it and the environment say now. ``siblings``: the other
        processes of this server."""
        self.siblings = siblings or Siblings()
        """The other processes of this server, and what all of them share."""
        self.counters = self.siblings.counters
        self.settings = settings
        self.limits = settings.limits
        self.config = config
        self.given_voices = voices is not None
        self.reread = reread or (lambda: settings)
        self.changed = list[Callable[[], None]]()
        """Called when settings were taken over."""
        self.access = Access(settings, siblings=self.siblings)
        self.metrics = Metrics()
        self.traces = Traces(settings)
        self.usage = Usage(
            store_of(settings, self.siblings.folder),
            self.metrics,
            self.siblings,
            lasting=settings.usage is not None or settings.usage_database is not None,
        )
        self.voices = voices or loaded or Voices(settings.voices)
        self.lexicon = None if settings.lexicon is None else Lexicon.of(settings.lexicon)
        """How words are said in all texts."""
        self.shared: dict[type, Any] = {}
        """What several protocols share, by its class."""
        self._lexicons: WeakKeyDictionary[Lexicon, Lexicon] = WeakKeyDictionary()
        threads = threads_for(settings, self.siblings.count)
        self.pool = Pool(threads, step_words=settings.step_words)
        self.lateness = Lateness(lambda: self._taken)
        # Loading takes seconds: it has its own thread, and whoever asks for a loaded voice does not
        # wait.
        self._loader = ThreadPoolExecutor(1, "load")
        self._openers = ThreadPoolExecutor(OPENERS, "open")
        self._aside = ThreadPoolExecutor(1, "aside")
        # Places that the machine was measured to have.
        self._measured = self.siblings.measured
        self._count_places()
        self.closing = asyncio.Event()
        """Set when connections must end now."""
        self.draining = False
        """Whether no new connection is admitted."""
        # Places and who has them are the event loop's.
        self._owner = Owner()
        self._leases: set[Lease] = set()
        self._taken = 0
        # The idle connection of another process that was asked to go last.
        self._asked_to_go: tuple[int, float] | None = None
        self.siblings.asked |= {
            "let go": self._let_go,
            "metrics": self._samples,
            "settle": self._settle,
        }

    def _count_places(self) -> None:
        self.places = self.limits.sessions or self._measured or PLACES_PER_CORE * cores()
        self.metrics.active.set_function(lambda: self.taken)
        self.metrics.limit.set_function(lambda: self.most)
        self.metrics.wanted.set_function(lambda: self.wanted)
        fair = self.places if self.access.keys == 1 else max(1, self.places // 2)
        self.share = self.limits.sessions_per_key or fair
        """Places that one key, or one address, is sure of; it may go beyond them while others leave
        enough free."""
        self.accounts = Accounts(self.limits, self.share, self.counters)
        """What each client takes of what all share."""

    def adopt(
        self, settings: Settings, access: Access, lexicon: Lexicon | None, voices: Voices
    ) -> None:
        """Go on with other settings; connections that are open keep the limits that they began
        with."""
        self.settings = settings
        self.limits = settings.limits
        self.access = access
        self.voices = voices
        self.lexicon = lexicon
        self._lexicons = WeakKeyDictionary()
        self._count_places()
        for tell in self.changed:
            tell()

    def own(self) -> None:
        """This thread's event loop owns places, usage and what each client takes: no other may
        touch them."""
        self._owner.take()
        self.usage.own()

    def start(self) -> None:
        """Load voices, so that the first word need not wait for them, and measure how many texts
        the machine holds."""
        for name in self.voices.configs if self.settings.preload else (self.voices.default,):
            self.voices.load(name).pronunciations(self.lexicon)
        # A greeting says what each voice reads, for which its kind's module is imported.
        for name in self.voices.configs:
            self.voices.unit(name)
        if self.settings.measure_s and not (self.limits.sessions or self._measured):
            voice = self.voices.load(self.voices.default)
            cost = cost_of(voice, self.settings.measure_s, self.pool.share)
            processors = processors_for(self.pool.threads, self.siblings.count)
            self._measured = places_for(cost, processors)
            self._count_places()
            log.info(
                "measured",
                extra={
                    "places": self.most,
                    "at_most": self.places,
                    "ms_per_s": round(1000 * cost, 1),
                },
            )

    def _chosen(self, options: m.Options) -> m.Options:
        """A client's options with a voice that is offered, its speaker, and the server's lexicon
        after its own."""
        name, speaker = self.voices.find(
            options.voice, any_voice=options.any_voice, language=options.language
        )
        session = options.session
        (least, most) = self.voices.configs[name].speed
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
            both = self.lexicon | lexicon
            self._lexicons[lexicon] = both
        return both

    def check(self, options: m.Options) -> None:
        """VoiceError or ConfigError for options that an utterance cannot take, as far as a voice's
        description, or the voice itself if it is loaded, can tell."""
        options = self._chosen(options)
        voice = self.voices.loaded.get(str(options.voice))
        if voice is not None:
            voice.session(options.session)

    def has_read(self, options: m.Options) -> bool:
        """Whether ``check`` takes no time; else the language of a speaker has to be read first.
        VoiceError as there."""
        options = self._chosen(options)
        voice = self.voices.loaded.get(str(options.voice))
        return voice is None or voice.has_read(options.session.speaker)

    async def speaking(
        self, options: m.Options, account: Account, caller: Caller | None = None
    ) -> Speaking:
        """A new text to be spoken, on somebody's account; ``caller``: whose key says who may speak
        in it.

        VoiceError for an unknown voice, ConfigError for options that it cannot take.
        """
        options = self._chosen(options)
        name = str(options.voice)
        # A voice may have to be loaded first, which must hold up nobody who speaks.
        loop = asyncio.get_running_loop()
        voice = self.voices.in_use(name)
        if voice is None:
            try:
                voice = await loop.run_in_executor(self._loader, self.voices.load, name)
            except VoiceError as error:
                # What is wrong with it is the operator's: files, paths, digests.
                log.warning("voice not loaded", extra={"voice": name, "why": str(error)})
                raise VoiceError(
                    f"The voice {name!r} cannot be loaded: the server's log says why."
                ) from error
        lexicon = options.session.lexicon
        if lexicon is not None and not voice.knows(lexicon):
            await self.aside(account, functools.partial(voice.pronunciations, lexicon))
        others = functools.partial(self._member, voice.sample_rate, caller)
        return await loop.run_in_executor(
            self._openers, Speaking, voice, options, self.pool, account, others
        )

    def _member(self, rate: int, caller: Caller | None, name: str) -> Member | None:
        """Who is called that in a text whose sound has so many samples a second; None for nobody,
        or nobody whom the caller may use."""
        if not self.voices.known(name):
            return None
        voice, speaker = self.voices.find(name)
        allowed = caller.terms.voices if caller is not None else ()
        if (allowed and voice not in allowed) or self.voices.configs[voice].sample_rate != rate:
            return None
        return lambda: (self.voices.load(voice), speaker)

    async def aside(self, account: Account, job: Callable[[], T], *, most_s: float = math.inf) -> T:
        """The result of work that is no speech and grows with what a client sends, such as reading
        a lexicon: in a thread of its own, at a client's own pace. RefusedError where it would have
        to wait longer than ``most_s``."""
        if (wait_s := account.work.take(0.0)) > most_s:
            self.refused("overloaded", None)
            raise RefusedError(
                "overloaded",
                f"Too much to read, too often: try again in {math.ceil(wait_s)} seconds.",
            )
        await asyncio.sleep(wait_s)

        def timed() -> T:
            begun = time.thread_time()
            try:
                return job()
            finally:
                account.work.take(time.thread_time() - begun)

        return await asyncio.get_running_loop().run_in_executor(self._aside, timed)

    @property
    def threads(self) -> int:
        """Threads that make speech in all processes."""
        return self.pool.threads * self.siblings.count

    @property
    def bounds(self) -> dict[str, int | float]:
        """The limits in force."""
        return asdict(self.limits) | {"sessions": self.places, "sessions_per_key": self.share}

    @property
    def ready(self) -> bool:
        """Whether a new connection would be admitted: who has no text makes room for it."""
        if self.draining or self.late:
            return False
        return not self._full(self.most) or bool(self._idle()) or self._idle_elsewhere() is not None

    @property
    def most(self) -> int:
        """How many places there are now: fewer than were measured, where other programs take what
        they had, or threads wait for each other; but more than are served in time."""
        if not self._measured:
            return self.places
        late = self.lateness.too_late or bool(self.counters.all(Process.LATE).any())
        in_time = 0 if late else min(self.places, round(GROWTH * self.taken))
        return max(1, round(self.places * self._part()), in_time)

    def _part(self) -> float:
        """Which part of the processors' time all processes get, on average."""
        parts = self.counters.all(Process.PART)
        others = [parts[index] for index in self.counters.alive(ALIVE_S) if parts[index]]
        return float(sum(others) / len(others)) if others else self.pool.share.part

    def _full(self, places: int) -> bool:
        """Whether so many are taken. Who has more than it could take now, as there were more places
        when it came, keeps nobody out of the rest."""
        most = places if self.access.keys == 1 else max(1, places - self._reserve(places))
        return self._counted(most) >= places

    @staticmethod
    def _reserve(places: int) -> int:
        """Of so many places, those that one client leaves to others."""
        return max(1, round(RESERVE * places))

    @property
    def wanted(self) -> int:
        """Places taken, and those that clients were refused lately, which are counted once for each
        place at most."""
        return self.taken + min(self.counters.recent(REFUSALS, WANTED_S), self.most)

    @property
    def late(self) -> bool:
        """Whether those who are there are served too late already: nobody else is admitted. Who
        takes too much is late by himself, and keeps nobody out."""
        if not self._crowded:
            return False
        each = self.most if self.access.keys == 1 else self.threads
        return self._counted(each) > self.threads

    @property
    def _crowded(self) -> bool:
        """Whether sound is late in this process, with as many as are there now."""
        return self.lateness.too_late and self._taken > self.lateness.held

    def _counted(self, most: int) -> int:
        """Places taken, of one client at most so many; of this machine's, who may be several,
        all."""
        here = self._places("")
        return int(self.counters.places().clip(max=most).sum()) + max(0, here - most)

    @property
    def taken(self) -> int:
        """Places taken: one by each connection, and one by each of its utterances after the
        first."""
        return int(self.counters.all(Process.TAKEN).sum())

    @property
    def connections(self) -> int:
        """Open connections."""
        return int(self.counters.all(Process.CONNECTIONS).sum())

    def enter(
        self, protocol: str, caller: Caller, *, characters: int = 0, resumed: str = ""
    ) -> Lease:
        """Admit a connection, which must ``leave``; ``characters``: how much it will have spoken,
        if that is known. ``resumed``: by what it proves that another server had begun its text.
        RefusedError if there is no place, or others are late (but for who proves that), or its key
        may not."""
        if self.draining:
            raise self._refuse(
                caller, "shutdown", "The server is shutting down: reconnect in a moment.", protocol
            )
        terms = caller.terms
        if (refusal := self.may_not(caller, protocol)) is not None:
            raise RefusedError("forbidden", refusal)
        if (refusal := self.usage.refusal(caller.name, terms, max(1, characters))) is not None:
            raise self._refuse(caller, "quota", refusal, protocol)
        proved = bool(resumed) and self.access.resumes(caller, resumed)
        believed = bool(resumed) and not proved and self._may_believe()
        account = self.accounts.of_connection(caller.share)
        lease = Lease(protocol, caller, account, resumed=proved or believed, believed=believed)
        lease.proof = resumed if proved else ""
        # Two processes give no place away twice.
        with self.counters.exclusive():
            self._check_place(caller, proved or believed)
            self._leases.add(lease)
            self._count(caller, 1)
        if proved:
            self.access.use_resumption(resumed)
        self.metrics.connections.labels(protocol).inc()
        return lease

    def may_not(self, caller: Caller, protocol: str) -> str | None:
        """Why a key may not speak, or change anything, by a protocol; None: it may."""
        terms = caller.terms
        if not (terms.read_only or (terms.protocols and protocol not in terms.protocols)):
            return None
        what = (
            "speak or change anything: it may only ask"
            if terms.read_only
            else f"use the protocol {protocol}"
        )
        return str(self._refuse(caller, "forbidden", f"This key may not {what}.", protocol))

    def _may_believe(self) -> bool:
        """Whether somebody may go on with another server's text on its word alone: where no secret
        is shared by which it could prove it, one in ten places."""
        if self.settings.token_secret:
            return False
        most = max(1, round(BELIEVED * self.places / self.siblings.count))
        return sum(lease.believed for lease in self._leases) < most

    def leave(self, lease: Lease) -> None:
        """A connection has ended, with all its utterances. Harmless when repeated."""
        if lease in self._leases:
            self._leases.remove(lease)
            if lease.proof:
                self.access.give_back(lease.proof)
            self._count(lease.caller, -max(1, lease.utterances))
            self.metrics.connections.labels(lease.protocol).dec()

    def _count(self, caller: Caller, places: int) -> None:
        self._owner.check()
        self._taken += places
        self.counters.add(PerClient.PLACES, caller.share, places)
        self.counters.tell(Process.TAKEN, self._taken)
        self.counters.tell(Process.CONNECTIONS, len(self._leases))
        if not self.access.open:
            own = self.counters.sum(PerClient.PLACES, caller.share) - self.counters.elsewhere(
                PerClient.PLACES, caller.share
            )
            self.usage.take(caller.share, round(own))

    def _places(self, share: str) -> int:
        """Places that a client takes in all processes."""
        return int(self.counters.sum(PerClient.PLACES, share))

    def open_utterance(self, lease: Lease) -> None:
        """Take a place for one more utterance. RefusedError if there is none."""
        most = self.limits.contexts
        caller = lease.caller
        if not self.access.knows(caller):
            raise self._refuse(
                caller, "unauthorized", "The key of this connection is not valid any more."
            )
        if lease.lost.is_set():
            raise self._refuse(caller, "overloaded", NEEDED)
        if lease.utterances >= most:
            sentence = (
                f"This connection has {most} open contexts, the limit: finish or cancel one first."
            )
            raise self._refuse(caller, "too_many_contexts", sentence)
        if (refusal := self.usage.begin(caller.name, caller.terms)) is not None:
            raise self._refuse(caller, "quota", refusal)
        with self.counters.exclusive():
            if lease.utterances:
                self._check_place(caller, lease.resumed)
            lease.proof = ""
            lease.utterances += 1
            self._count(lease.caller, int(lease.utterances > 1))

    def close_utterance(self, lease: Lease, *, unheard_s: float = 0.0) -> None:
        """An utterance's place is free again, of which so many seconds are yet to be heard."""
        lease.utterances -= 1
        lease.idle_since = max(
            lease.idle_since, time.monotonic() + max(0.0, min(unheard_s, HEARD_S))
        )
        self._count(lease.caller, -int(lease.utterances > 0))

    def texts_of(self, lease: Lease) -> int:
        """How many texts its client speaks: on all connections of its key or address, or where it
        is of this machine on this one."""
        share = lease.caller.share
        return max(1, lease.utterances, self._places(share) if share else 0)

    def permitted(self, caller: Caller, options: m.Options) -> m.Options:
        """A client's options with a voice that its key may use. RefusedError for another one that
        it names, VoiceError for one that is not offered."""
        allowed = caller.terms.voices
        if not allowed:
            return options
        name, _ = self.voices.find(
            options.voice, any_voice=options.any_voice, language=options.language
        )
        if name in allowed:
            return options
        if (options.voice or "").partition(":")[0] != name and allowed[0] in self.voices.configs:
            return replace(options, voice=allowed[0])
        raise self._refuse(caller, "forbidden", f"This key may not use the voice {name!r}.")

    def bill(self, lease: Lease, options: m.Options) -> Bill:
        """What a text costs its client; its voice is one that is offered."""
        whose = (lease.caller.name, lease.caller.terms, lease.protocol)
        name, _ = self.voices.find(
            options.voice, any_voice=options.any_voice, language=options.language
        )
        lease.voices[name] = None
        lease.languages[self.voices.configs[name].language] = None
        return self.usage.bill(*whose, name, whole=options.whole)

    def share_of(self, caller: Caller) -> int:
        """Places that somebody may take, whoever else is there."""
        return caller.terms.sessions or (self.share if caller.share else self.places)

    def places_of(self, caller: Caller) -> int:
        """Places that somebody has taken, or where that is not counted, that all have; of a key
        whose number is set, in all servers that share their usage."""
        named = caller.terms.sessions or (self.limits.sessions_per_key and not self.access.open)
        elsewhere = self.usage.elsewhere(caller.share) if named else 0
        return self._places(caller.share) + elsewhere if caller.share else self.taken

    def concurrency(self, caller: Caller) -> dict[str, str]:
        """Headers that tell how many places somebody takes, and may take."""
        taken = self.places_of(caller)
        return {
            "current-concurrent-requests": str(taken),
            "maximum-concurrent-requests": str(self.share_of(caller)),
        }

    def _check_place(self, caller: Caller, resumed: bool) -> None:
        most = self.share_of(caller)
        if caller.share and self.places_of(caller) >= most and not self._may_exceed(caller):
            self.counters.note(REFUSALS)
            whose = "This address" if self.access.open else "This key"
            sentence = f"{whose} uses {most} places, its limit: close a connection first."
            raise self._refuse(caller, "overloaded", sentence)
        # A place that other programs use just now will do for what a server that has gone had
        # begun.
        places = self.places if resumed else self.most
        if (self.late and not resumed) or (self._full(places) and not self._make_room(caller)):
            self.counters.note(REFUSALS)
            raise self._refuse(
                caller, "overloaded", "The server is at capacity: try again in a few seconds."
            )

    async def place(self, caller: Caller) -> None:
        """Wait a moment for a place, if there is none: one request of a batch need not be refused
        for the others, which are over soon."""
        end = time.monotonic() + BATCH_S
        while not self._has_place(caller) and not self.draining and time.monotonic() < end:
            await asyncio.sleep(LOOK_S)

    def _has_place(self, caller: Caller) -> bool:
        is_over = caller.share and self.places_of(caller) >= self.share_of(caller)
        if is_over and not self._may_exceed(caller):
            return False
        return self.ready

    def _may_exceed(self, caller: Caller) -> bool:
        """Whether somebody may take more places than it is sure of: nobody has set its number, and
        enough are free."""
        named = caller.terms.sessions or self.limits.sessions_per_key
        return not named and self.taken < self.most - self._reserve(self.most)

    def _exceeds(self, share: str) -> bool:
        """Whether somebody has more places than it is sure of."""
        named = self.limits.sessions_per_key
        return bool(share) and not named and self._places(share) > self.share

    def _make_room(self, caller: Caller) -> bool:
        """Whether a connection without a text could be let go: of whoever has most places, the one
        longest idle. Who has more than it is sure of loses them at once to who has fewer."""
        idle = self._idle()
        if self._places(caller.share) < self.share:
            beyond = [
                lease
                for lease in self._leases
                if not lease.utterances and self._exceeds(lease.caller.share)
            ]
            idle = idle or [lease for lease in beyond if lease.caller.share != caller.share]
        if not idle:
            return self._ask_to_go()
        self._take_place(idle)
        return True

    def _take_place(self, idle: list[Lease]) -> None:
        """Let one of these connections go: of whoever has most places, the one longest idle."""
        lease = min(idle, key=lambda lease: (-self._places(lease.caller.share), lease.idle_since))
        lease.lost.set()
        self.leave(lease)

    def _ask_to_go(self) -> bool:
        """Have another process let an idle connection go, if one has any that was not asked to."""
        found = self._idle_elsewhere()
        if found is None or found == self._asked_to_go:
            return False
        self._asked_to_go = found
        self.siblings.tell(found[0], "let go")
        return True

    async def _let_go(self, _: Any) -> None:
        """Another process has given the place of an idle connection to somebody."""
        if idle := self._idle():
            self._take_place(idle)
            self.beat()

    def _idle_elsewhere(self) -> tuple[int, float] | None:
        """The other process with the connection that is idle for longest, and since when."""
        late = time.monotonic() - GRACE_S
        since = self.counters.all(Process.IDLE_SINCE)
        others = (each for each in self.counters.alive(ALIVE_S) if each != self.siblings.index)
        found = [(float(since[index]), index) for index in others if 0 < since[index] < late]
        return min(found)[::-1] if found else None

    def beat(self) -> None:
        """Tell the other processes how things are here."""
        idle = [lease.idle_since for lease in self._leases if not lease.utterances]
        self.counters.tell(Process.IDLE_SINCE, min(idle, default=0.0))
        self.counters.tell(Process.LATE, float(self._crowded))
        self.counters.tell(Process.PART, self.pool.share.part)

    async def _samples(self, _: Any) -> Any:
        """What this process counts."""
        return self.metrics.samples()

    async def _settle(self, _: Any) -> None:
        """Write what was noted so far."""
        await asyncio.to_thread(self.usage.settle)

    async def scraped(self) -> bytes:
        """What all processes count, as Prometheus reads it."""
        if self.siblings.count == 1:
            return self.metrics.text()
        return self.metrics.text(await self.siblings.ask("metrics", self.metrics.samples()))

    def _idle(self) -> list[Lease]:
        """Connections without a text."""
        late = time.monotonic() - GRACE_S
        return [lease for lease in self._leases if not lease.utterances and lease.idle_since < late]

    def _refuse(self, caller: Caller, code: str, message: str, protocol: str = "") -> RefusedError:
        self.refused(code, caller.address, protocol, caller=caller.name, session=caller.request)
        return RefusedError(code, message)

    def refused(self, reason: str, address: str | None, protocol: str = "", **who: str) -> None:
        """Count somebody who is turned away, and say so in the log."""
        self.metrics.rejected.labels(reason).inc()
        told = {"reason": reason, "address": address, "protocol": protocol, **who}
        log.warning("refused", extra={name: value for name, value in told.items() if value})

    async def drain(self) -> None:
        """Admit no more, wait for texts being spoken as long as the settings say, then end what is
        left."""
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
        self.usage.close()
        for executor in (self._loader, self._openers, self._aside):
            executor.shutdown(wait=False, cancel_futures=True)
