"""The hub: what all connections share, and the admission control that decides who gets a place."""

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
from sayahead.server.operation.counters import PerClient, Process
from sayahead.server.operation.metrics import Metrics
from sayahead.server.operation.owner import Owner
from sayahead.server.operation.rate_limits import Account, Accounts, Reading
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
GRACE_S = 1.0
HEARD_S = 10.0
"""A connection without a text may lose its place to others after ``GRACE_S``; the playback of its
last text delays that by at most ``HEARD_S``."""
BELIEVED = 0.1
"""Fraction of the places for clients who claim, without proof, that another server began their
text."""
RESERVE = 0.25
"""Fraction of the places that clients beyond their share leave free."""
WANTED_S = 30
"""How long a refusal counts as demand."""
GROWTH = 1.5
"""While sound is in time, the server offers this many times the places in use."""
REFUSALS = "refusals"
"""Name of the counter of refusals for lack of a place."""
BATCH_S = 1.0
"""Longest wait of a whole text for a place."""
LOOK_S = 0.02
"""Interval of looking for one."""
OPENERS = 4
"""Threads that open texts, which takes little time except for starting an encoder."""


class RefusedError(SayaheadError):
    """A connection or text that is not admitted: no place is left, its key does not allow it, or
    the server shuts down."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Lease:
    """An admitted connection, until ``Hub.leave``."""

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
        """Rate limits of its client."""
        self.id = caller.request or secrets.token_hex(8)
        """Names the connection in the log and to its client."""
        self.voices = dict[str, None]()
        self.languages = dict[str, None]()
        """Voices and languages used, in order; dicts serve as ordered sets."""
        self.texts = 0
        self.underruns = 0
        self.first_audio_s: float | None = None
        """Time to first audio of its first text."""
        self.protocol = protocol
        self.caller = caller
        self.gathers = False
        """Whether its transport delays what is sent until it is billed, as a WebSocket's does."""
        self.resumed = resumed
        """Whether it continues a text that began on another server."""
        self.believed = believed
        """Whether it claims that without proof."""
        self.proof = ""
        """The token that proves it. Cleared once a text begins: until then it may be used again."""
        self.utterances = 0
        self.idle_since = time.monotonic()
        self.reading: Reading | None = None
        """The rate limit of its messages, if it has one."""
        self.lost = asyncio.Event()
        """Set when its place was given to another client, who has a text."""


def store_of(settings: Settings, folder: Path | None = None) -> Store:
    """Return the store of usage. ConfigError if it cannot be opened.

    ``folder``: where the processes of one server keep it if the settings name no file.
    """
    file = File(settings.usage or (None if folder is None else str(folder / "usage.db")))
    return file if settings.usage_database is None else Shared(file, settings.usage_database)


class Hub:
    """What all connections of one server process share."""

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
        """``voices`` replace those of the settings, for tests; ``loaded`` are those of the settings
        if they are loaded already.

        ``config``: the settings' file, if any; ``reread``: returns the settings that the file and
        the environment say now; ``siblings``: the other processes of this server.
        """
        self.siblings = siblings or Siblings()
        """The other processes of this server, and what all of them share."""
        self.counters = self.siblings.counters
        self.settings = settings
        self.limits = settings.limits
        self.config = config
        self.given_voices = voices is not None
        self.reread = reread or (lambda: settings)
        self.changed = list[Callable[[], None]]()
        """Called after settings were changed."""
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
        """Pronunciations for all texts."""
        self.shared: dict[type, Any] = {}
        """Objects that several protocols share, by their class."""
        self._lexicons: WeakKeyDictionary[Lexicon, Lexicon] = WeakKeyDictionary()
        threads = threads_for(settings, self.siblings.count)
        self.pool = Pool(threads, step_words=settings.step_words)
        self.lateness = Lateness(lambda: self._taken)
        # Loading takes seconds, so it has its own thread; requests for loaded voices do not wait
        # for it.
        self._loader = ThreadPoolExecutor(1, "load")
        self._openers = ThreadPoolExecutor(OPENERS, "open")
        self._aside = ThreadPoolExecutor(1, "aside")
        # Number of places measured for this machine; 0 if not measured.
        self._measured = self.siblings.measured
        self._count_places()
        self.closing = asyncio.Event()
        """Set when all connections must end now."""
        self.draining = False
        """Whether no new connection is admitted."""
        # Places and leases belong to the event loop.
        self._owner = Owner()
        self._leases: set[Lease] = set()
        self._taken = 0
        # The process, and its idle connection, that was last asked to give up a place.
        self._asked_to_go: tuple[int, float] | None = None
        self.siblings.handlers |= {
            "let go": self._let_go,
            "metrics": self._samples,
            "settle": self._settle,
        }

    def _count_places(self) -> None:
        """Derive the number of places and the limits per client from the settings."""
        self.places = self.limits.sessions or self._measured or PLACES_PER_CORE * cores()
        self.metrics.active.set_function(lambda: self.taken)
        self.metrics.limit.set_function(lambda: self.capacity)
        self.metrics.wanted.set_function(lambda: self.wanted)
        fair = self.places if self.access.keys == 1 else max(1, self.places // 2)
        self.share = self.limits.sessions_per_key or fair
        """Places guaranteed to one key or address; it may take more while enough are free."""
        self.accounts = Accounts(self.limits, self.share, self.counters)
        """The rate limits of each client."""

    def adopt(
        self, settings: Settings, access: Access, lexicon: Lexicon | None, voices: Voices
    ) -> None:
        """Use other settings. Open connections keep the limits that they began with."""
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
        """Make this thread's event loop the only one that may touch places and usage."""
        self._owner.take()
        self.usage.own()

    def start(self) -> None:
        """Load voices, so that the first word need not wait, and measure how many texts the machine
        can speak at once."""
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
                    "places": self.capacity,
                    "at_most": self.places,
                    "ms_per_s": round(1000 * cost, 1),
                },
            )

    def _completed(self, options: m.Options) -> m.Options:
        """Return a client's options with voice, speaker and the server's lexicon filled in."""
        name, speaker = self.voices.find(
            options.voice, any_voice=options.any_voice, language=options.language
        )
        session = options.session
        speed = session.speed
        if options.any_voice:
            # Whoever takes any voice takes its bounds, too.
            min_speed, max_speed = self.voices.configs[name].speed
            speed = min(max(speed, min_speed), max_speed)
        lexicon = self._with_server_lexicon(session.lexicon)
        chosen_speaker = speaker if session.speaker is None else session.speaker
        session = replace(session, speed=speed, speaker=chosen_speaker, lexicon=lexicon)
        return replace(options, voice=name, session=session)

    def _with_server_lexicon(self, lexicon: object) -> Lexicon | None:
        """Return the server's lexicon with a client's, which takes precedence, added."""
        assert lexicon is None or isinstance(lexicon, Lexicon)
        if self.lexicon is None or not lexicon:
            return lexicon or self.lexicon
        if (merged := self._lexicons.get(lexicon)) is None:
            merged = self.lexicon | lexicon
            self._lexicons[lexicon] = merged
        return merged

    def check(self, options: m.Options) -> None:
        """Raise VoiceError or ConfigError for options that an utterance cannot take, as far as the
        voice's description, or the voice if it is loaded, can tell."""
        options = self._completed(options)
        voice = self.voices.loaded.get(str(options.voice))
        if voice is not None:
            voice.session(options.session)

    def has_read(self, options: m.Options) -> bool:
        """Whether ``check`` takes no time; else the language of a speaker has to be read first.
        VoiceError as there."""
        options = self._completed(options)
        voice = self.voices.loaded.get(str(options.voice))
        return voice is None or voice.has_read(options.session.speaker)

    async def speaking(
        self, options: m.Options, account: Account, caller: Caller | None = None
    ) -> Speaking:
        """Begin a text and return what speaks it; ``caller`` limits the voices that may take part.

        VoiceError for an unknown voice, ConfigError for options that it cannot take.
        """
        options = self._completed(options)
        name = str(options.voice)
        # Loading a voice must not block texts that are being spoken.
        loop = asyncio.get_running_loop()
        voice = self.voices.in_use(name)
        if voice is None:
            try:
                voice = await loop.run_in_executor(self._loader, self.voices.load, name)
            except VoiceError as error:
                # The details (files, paths, digests) are for the operator.
                log.warning("voice not loaded", extra={"voice": name, "why": str(error)})
                raise VoiceError(
                    f"The voice {name!r} cannot be loaded: the server's log says why."
                ) from error
        lexicon = options.session.lexicon
        if lexicon is not None and not voice.knows(lexicon):
            await self.aside(account, functools.partial(voice.pronunciations, lexicon))
        find_member = functools.partial(self._cast_member, voice.sample_rate, caller)
        return await loop.run_in_executor(
            self._openers, Speaking, voice, options, self.pool, account, find_member
        )

    def _cast_member(self, rate: int, caller: Caller | None, name: str) -> Member | None:
        """Return a loader of the voice and speaker called ``name``, for a text with several
        speakers.

        None if there is no such voice with this sample rate, or the caller may not use it.
        """
        if not self.voices.known(name):
            return None
        voice, speaker = self.voices.find(name)
        allowed = caller.terms.voices if caller is not None else ()
        if (allowed and voice not in allowed) or self.voices.configs[voice].sample_rate != rate:
            return None
        return lambda: (self.voices.load(voice), speaker)

    async def aside(self, account: Account, job: Callable[[], T], *, most_s: float = math.inf) -> T:
        """Run other work than speech, such as reading a client's lexicon, on a thread of its own
        and at the client's rate limit.

        RefusedError if it would have to wait longer than ``most_s``.
        """
        if (wait_s := account.work.take(0.0)) > most_s:
            self.refused("overloaded", None)
            raise RefusedError(
                "overloaded",
                f"Too much to read, too often: try again in {math.ceil(wait_s)} seconds.",
            )
        await asyncio.sleep(wait_s)

        def timed() -> T:
            start = time.thread_time()
            try:
                return job()
            finally:
                account.work.take(time.thread_time() - start)

        return await asyncio.get_running_loop().run_in_executor(self._aside, timed)

    @property
    def threads(self) -> int:
        """Synthesis threads of all processes."""
        return self.pool.threads * self.siblings.count

    @property
    def bounds(self) -> dict[str, int | float]:
        """The limits in force."""
        return asdict(self.limits) | {"sessions": self.places, "sessions_per_key": self.share}

    @property
    def ready(self) -> bool:
        """Whether a new connection would be admitted, if necessary in place of one without a
        text."""
        if self.draining or self.late:
            return False
        return (
            not self._is_full(self.capacity)
            or bool(self._idle())
            or self._idle_elsewhere() is not None
        )

    @property
    def capacity(self) -> int:
        """The number of places offered now, which is ``places`` if that was not measured.

        A measured number is scaled by the fraction of processor time that the server gets. But
        while sound is in time, at least ``GROWTH`` times the places in use are offered.
        """
        if not self._measured:
            return self.places
        late = self.lateness.too_late or bool(self.counters.all(Process.LATE).any())
        in_time = 0 if late else min(self.places, round(GROWTH * self.taken))
        return max(1, round(self.places * self._cpu_fraction()), in_time)

    def _cpu_fraction(self) -> float:
        """Return the fraction of processor time that the processes get, on average."""
        parts = self.counters.all(Process.PART)
        others = [parts[index] for index in self.counters.alive(ALIVE_S) if parts[index]]
        return float(sum(others) / len(others)) if others else self.pool.share.part

    def _is_full(self, places: int) -> bool:
        """Return whether ``places`` places are taken.

        Of a client with many places, only as many count as it could take now, so that it does not
        keep others out: all but the reserve, or all if there is but one client.
        """
        per_client = places if self.access.keys == 1 else max(1, places - self._reserve(places))
        return self._clipped_count(per_client) >= places

    @staticmethod
    def _reserve(places: int) -> int:
        """Return how many of ``places`` places a single client must leave to others."""
        return max(1, round(RESERVE * places))

    @property
    def wanted(self) -> int:
        """Demand: places taken and recent refusals, the latter at most once per place."""
        return self.taken + min(self.counters.recent(REFUSALS, WANTED_S), self.capacity)

    @property
    def late(self) -> bool:
        """Whether sound is late already, so that no new connection is admitted.

        Of a client with many places, only as many count as there are threads: a client that alone
        makes the server late does not keep others out.
        """
        if not self._crowded:
            return False
        per_client = self.capacity if self.access.keys == 1 else self.threads
        return self._clipped_count(per_client) > self.threads

    @property
    def _crowded(self) -> bool:
        """Whether sound is late in this process with the current number of texts."""
        return self.lateness.too_late and self._taken > self.lateness.held

    def _clipped_count(self, per_client: int) -> int:
        """Return the places taken, counting at most ``per_client`` of each client, but all of this
        machine's."""
        local_places = self._places("")
        return int(self.counters.places().clip(max=per_client).sum()) + max(
            0, local_places - per_client
        )

    @property
    def taken(self) -> int:
        """Places taken: one per connection, and one per utterance beyond its first."""
        return int(self.counters.all(Process.TAKEN).sum())

    @property
    def connections(self) -> int:
        """Open connections."""
        return int(self.counters.all(Process.CONNECTIONS).sum())

    def enter(
        self, protocol: str, caller: Caller, *, characters: int = 0, resumed: str = ""
    ) -> Lease:
        """Admit a connection and take a place for it, until ``leave``.

        Checked are, in this order: whether the server drains, the key's protocols, its quota, and
        whether there is a place. ``characters``: the length of its text if that is known.
        ``resumed``: the token by which it proves that another server began its text, which admits
        it even while sound is late. RefusedError if one of these checks fails.
        """
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
        # The lock keeps two processes from giving away the same place.
        with self.counters.exclusive():
            self._check_place(caller, proved or believed)
            self._leases.add(lease)
            self._count(caller, 1)
        if proved:
            self.access.use_resumption(resumed)
        self.metrics.connections.labels(protocol).inc()
        return lease

    def may_not(self, caller: Caller, protocol: str) -> str | None:
        """Return why a key may not speak or change anything with a protocol; None if it may."""
        terms = caller.terms
        if not (terms.read_only or (terms.protocols and protocol not in terms.protocols)):
            return None
        action = (
            "speak or change anything: it may only ask"
            if terms.read_only
            else f"use the protocol {protocol}"
        )
        return str(self._refuse(caller, "forbidden", f"This key may not {action}.", protocol))

    def _may_believe(self) -> bool:
        """Return whether to believe, without proof, that another server began a text.

        Only if no secret is shared with which that could be proved, and only for a tenth of the
        places.
        """
        if self.settings.token_secret:
            return False
        max_believed = max(1, round(BELIEVED * self.places / self.siblings.count))
        return sum(lease.believed for lease in self._leases) < max_believed

    def leave(self, lease: Lease) -> None:
        """Free the places of a connection that has ended. Calling it again does nothing."""
        if lease in self._leases:
            self._leases.remove(lease)
            if lease.proof:
                self.access.give_back(lease.proof)
            self._count(lease.caller, -max(1, lease.utterances))
            self.metrics.connections.labels(lease.protocol).dec()

    def _count(self, caller: Caller, places: int) -> None:
        """Add to the places of a client, and publish the new numbers."""
        self._owner.check()
        self._taken += places
        self.counters.add(PerClient.PLACES, caller.share, places)
        self.counters.tell(Process.TAKEN, self._taken)
        self.counters.tell(Process.CONNECTIONS, len(self._leases))
        if not self.access.open:
            local_places = self.counters.sum(
                PerClient.PLACES, caller.share
            ) - self.counters.elsewhere(PerClient.PLACES, caller.share)
            self.usage.take(caller.share, round(local_places))

    def _places(self, share: str) -> int:
        """Return a client's places in all processes."""
        return int(self.counters.sum(PerClient.PLACES, share))

    def open_utterance(self, lease: Lease) -> None:
        """Begin an utterance on an admitted connection. Its first one uses the connection's place;
        others take one each.

        RefusedError if the key was revoked, the place was given away, the connection has too many
        utterances, the quota is used up, or there is no place.
        """
        max_utterances = self.limits.contexts
        caller = lease.caller
        if not self.access.knows(caller):
            raise self._refuse(
                caller, "unauthorized", "The key of this connection is not valid any more."
            )
        if lease.lost.is_set():
            raise self._refuse(caller, "overloaded", NEEDED)
        if lease.utterances >= max_utterances:
            sentence = (
                f"This connection has {max_utterances} open contexts, the limit: finish or cancel"
                " one first."
            )
            raise self._refuse(caller, "too_many_contexts", sentence)
        if (refusal := self.usage.begin(caller.name, caller.terms)) is not None:
            raise self._refuse(caller, "quota", refusal)
        is_first = not lease.utterances
        with self.counters.exclusive():
            if not is_first:
                self._check_place(caller, lease.resumed)
            lease.proof = ""
            lease.utterances += 1
            self._count(caller, int(not is_first))

    def close_utterance(self, lease: Lease, *, unheard_s: float = 0.0) -> None:
        """Free an utterance's place; ``unheard_s``: how long its client will still be listening."""
        lease.utterances -= 1
        lease.idle_since = max(
            lease.idle_since, time.monotonic() + max(0.0, min(unheard_s, HEARD_S))
        )
        self._count(lease.caller, -int(lease.utterances > 0))

    def texts_of(self, lease: Lease) -> int:
        """Return how many texts a client speaks: on all connections of its key or address, or only
        on this one if it is on this machine."""
        share = lease.caller.share
        return max(1, lease.utterances, self._places(share) if share else 0)

    def permitted(self, caller: Caller, options: m.Options) -> m.Options:
        """Return a client's options with a voice that its key may use.

        RefusedError if it names another one, VoiceError if that is not offered.
        """
        allowed = caller.terms.voices
        if not allowed:
            return options
        name, _ = self.voices.find(
            options.voice, any_voice=options.any_voice, language=options.language
        )
        if name in allowed:
            return options
        # The client did not name this voice, but got it by its language or as the default.
        if (options.voice or "").partition(":")[0] != name and allowed[0] in self.voices.configs:
            return replace(options, voice=allowed[0])
        raise self._refuse(caller, "forbidden", f"This key may not use the voice {name!r}.")

    def bill(self, lease: Lease, options: m.Options) -> Bill:
        """Return the bill of a text, and note its voice and language on the connection. The voice
        must be offered."""
        name, _ = self.voices.find(
            options.voice, any_voice=options.any_voice, language=options.language
        )
        lease.voices[name] = None
        lease.languages[self.voices.configs[name].language] = None
        caller = lease.caller
        return self.usage.bill(caller.name, caller.terms, lease.protocol, name, whole=options.whole)

    def share_of(self, caller: Caller) -> int:
        """Return how many places a caller is guaranteed."""
        return caller.terms.sessions or (self.share if caller.share else self.places)

    def places_of(self, caller: Caller) -> int:
        """Return how many places a caller has taken, in all servers that share their usage if its
        number is limited; of local callers, all that are taken."""
        is_limited = caller.terms.sessions or (
            self.limits.sessions_per_key and not self.access.open
        )
        elsewhere = self.usage.elsewhere(caller.share) if is_limited else 0
        return self._places(caller.share) + elsewhere if caller.share else self.taken

    def concurrency(self, caller: Caller) -> dict[str, str]:
        """Return headers with a caller's places and their limit."""
        taken = self.places_of(caller)
        return {
            "current-concurrent-requests": str(taken),
            "maximum-concurrent-requests": str(self.share_of(caller)),
        }

    def _check_place(self, caller: Caller, resumed: bool) -> None:
        """Raise RefusedError unless there is a place for a caller; call it with the counters' lock.

        First the caller's share: it may be exceeded while enough places are free. Then the server:
        if it is full, the place of an idle connection is freed."""
        limit = self.share_of(caller)
        if caller.share and self.places_of(caller) >= limit and not self._may_exceed(caller):
            self.counters.note(REFUSALS)
            subject = "This address" if self.access.open else "This key"
            sentence = f"{subject} uses {limit} places, its limit: close a connection first."
            raise self._refuse(caller, "overloaded", sentence)
        # A resumed text gets a place even if other programs use the processor just now.
        places = self.places if resumed else self.capacity
        if (self.late and not resumed) or (self._is_full(places) and not self._make_room(caller)):
            self.counters.note(REFUSALS)
            raise self._refuse(
                caller, "overloaded", "The server is at capacity: try again in a few seconds."
            )

    async def place(self, caller: Caller) -> None:
        """Wait a moment for a place: a request of a batch need not be refused for the others, which
        end soon."""
        end = time.monotonic() + BATCH_S
        while not self._has_place(caller) and not self.draining and time.monotonic() < end:
            await asyncio.sleep(LOOK_S)

    def _has_place(self, caller: Caller) -> bool:
        """Return whether a caller would get a place now."""
        is_over = caller.share and self.places_of(caller) >= self.share_of(caller)
        if is_over and not self._may_exceed(caller):
            return False
        return self.ready

    def _may_exceed(self, caller: Caller) -> bool:
        """Return whether a caller may take more places than it is guaranteed: its number is not
        limited, and enough are free."""
        is_limited = caller.terms.sessions or self.limits.sessions_per_key
        return not is_limited and self.taken < self.capacity - self._reserve(self.capacity)

    def _exceeds(self, share: str) -> bool:
        """Return whether a share has more places than it is guaranteed."""
        is_limited = self.limits.sessions_per_key
        return bool(share) and not is_limited and self._places(share) > self.share

    def _make_room(self, caller: Caller) -> bool:
        """Free the place of a connection without a text; return whether there was one.

        Clients with fewer places than their share also take them from clients with more, however
        recently those were used.
        """
        idle = self._idle()
        if self._places(caller.share) < self.share:
            excess = [
                lease
                for lease in self._leases
                if not lease.utterances and self._exceeds(lease.caller.share)
            ]
            idle = idle or [lease for lease in excess if lease.caller.share != caller.share]
        if not idle:
            return self._ask_to_go()
        self._take_place(idle)
        return True

    def _take_place(self, idle: list[Lease]) -> None:
        """Close one of these connections: among those of the client with most places, the one idle
        longest."""
        lease = min(idle, key=lambda lease: (-self._places(lease.caller.share), lease.idle_since))
        lease.lost.set()
        self.leave(lease)

    def _ask_to_go(self) -> bool:
        """Ask another process to close an idle connection; return whether there is one that was not
        asked before."""
        candidate = self._idle_elsewhere()
        if candidate is None or candidate == self._asked_to_go:
            return False
        self._asked_to_go = candidate
        self.siblings.tell(candidate[0], "let go")
        return True

    async def _let_go(self, _: Any) -> None:
        """Close an idle connection: another process has given its place away."""
        if idle := self._idle():
            self._take_place(idle)
            self.beat()

    def _idle_elsewhere(self) -> tuple[int, float] | None:
        """Return the other process with the longest idle connection, and the time since when it is
        idle."""
        newest = time.monotonic() - GRACE_S
        idle_since = self.counters.all(Process.IDLE_SINCE)
        others = (each for each in self.counters.alive(ALIVE_S) if each != self.siblings.index)
        candidates = [
            (float(idle_since[index]), index) for index in others if 0 < idle_since[index] < newest
        ]
        if not candidates:
            return None
        since, index = min(candidates)
        return index, since

    def beat(self) -> None:
        """Publish this process's state for the others."""
        idle = [lease.idle_since for lease in self._leases if not lease.utterances]
        self.counters.tell(Process.IDLE_SINCE, min(idle, default=0.0))
        self.counters.tell(Process.LATE, float(self._crowded))
        self.counters.tell(Process.PART, self.pool.share.part)

    async def _samples(self, _: Any) -> Any:
        """Return this process's metrics."""
        return self.metrics.samples()

    async def _settle(self, _: Any) -> None:
        """Write what was noted so far."""
        await asyncio.to_thread(self.usage.settle)

    async def scraped(self) -> bytes:
        """Return the metrics of all processes in Prometheus's format."""
        if self.siblings.count == 1:
            return self.metrics.text()
        return self.metrics.text(await self.siblings.ask("metrics", self.metrics.samples()))

    def _idle(self) -> list[Lease]:
        """Return the connections that have had no text for a moment."""
        newest = time.monotonic() - GRACE_S
        return [
            lease for lease in self._leases if not lease.utterances and lease.idle_since < newest
        ]

    def _refuse(self, caller: Caller, code: str, message: str, protocol: str = "") -> RefusedError:
        """Count and log a refusal, and return its error."""
        self.refused(code, caller.address, protocol, caller=caller.name, session=caller.request)
        return RefusedError(code, message)

    def refused(self, reason: str, address: str | None, protocol: str = "", **who: str) -> None:
        """Count and log a refusal."""
        self.metrics.rejected.labels(reason).inc()
        fields = {"reason": reason, "address": address, "protocol": protocol, **who}
        log.warning("refused", extra={name: value for name, value in fields.items() if value})

    async def drain(self) -> None:
        """Admit nobody, wait for texts being spoken for ``drain_s``, then end the rest."""
        self.draining = True
        end = time.monotonic() + self.settings.drain_s
        while self._leases and time.monotonic() < end:
            await asyncio.sleep(0.05)
        self.closing.set()
        while self._leases and time.monotonic() < end + 2:
            await asyncio.sleep(0.02)

    def close(self) -> None:
        """Stop the threads."""
        self.pool.close()
        self.usage.close()
        for executor in (self._loader, self._openers, self._aside):
            executor.shutdown(wait=False, cancel_futures=True)
