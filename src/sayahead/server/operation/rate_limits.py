"""Rate limits per client: processor time, bytes, messages, texts and requests."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeAlias

from sayahead.server.operation.counters import PerClient, SharedCounters
from sayahead.server.operation.settings import Limits


class Counted:
    """A client's use of one resource, counted across the processes of a server."""

    LOOK_S = 0.01
    """Interval of reading the other processes' counts, so that a message costs next to nothing."""

    def __init__(self, counters: SharedCounters, what: PerClient, client: str) -> None:
        self._counters = counters
        self._what = what
        self._client = client
        self._seen = counters.elsewhere(what, client)
        self._updated_at = -math.inf

    def add(self, amount: float) -> None:
        """Add an amount used in this process."""
        self._counters.add(self._what, self._client, amount)

    def elsewhere(self, now: float) -> float:
        """Return the amount used in other processes since the last call; 0 within ``LOOK_S`` of
        it."""
        if now < self._updated_at + self.LOOK_S:
            return 0.0
        self._updated_at = now
        last_seen = self._seen
        self._seen = self._counters.elsewhere(self._what, self._client)
        return max(0.0, self._seen - last_seen)


class Allowance:
    """A token bucket: a burst at once, and a rate per second."""

    FLOOR = 2.0
    """The debt is at most this many times the burst."""
    LOOK_S = 0.1
    """Interval of checking whether a waiting client has gone."""

    def __init__(self, burst: float, per_s: float, counted: Counted | None = None) -> None:
        """``burst``: the amount at once; ``per_s``: the rate; ``counted``: use in all processes, or
        None."""
        self._counted = counted
        self._burst = burst
        self._per_s = per_s
        self._available = burst
        self._updated_at = time.monotonic()
        # Waiting clients take turns in order; ``_queued`` is the sum of what they wait for.
        self._turn_lock = asyncio.Lock()
        self._queued = 0.0

    def take(self, amount: float = 1.0) -> float:
        """Take ``amount`` now, going into debt if necessary; return the seconds until the debt is
        paid off."""
        self._refill()
        self._available = max(self._available - amount, -self.FLOOR * self._burst)
        if self._counted is not None:
            self._counted.add(amount)
        return max(0.0, -self._available / self._per_s)

    async def turn(
        self,
        amount: float = 1.0,
        *,
        most_s: float = math.inf,
        gone: Callable[[], bool] | None = None,
    ) -> bool:
        """Wait until ``amount`` is available and take it; return False at once if that would take
        longer than ``most_s``.

        A waiting client that is cancelled or ``gone`` leaves the queue and has taken nothing.
        """
        needed = min(amount, self._burst)
        if self._wait_s(self._queued + needed) > most_s:
            return False
        self._queued += needed
        try:
            # Let other tasks run, even if nothing has to wait.
            await asyncio.sleep(0)
            async with self._turn_lock:
                while (wait_s := self._wait_s(needed)) > 0:
                    if gone is not None and gone():
                        return True
                    await asyncio.sleep(min(max(wait_s, 0.001), self.LOOK_S))
                self._available -= amount
                if self._counted is not None:
                    self._counted.add(amount)
        finally:
            self._queued -= needed
        return True

    def _refill(self) -> None:
        """Add what the elapsed time gives, and subtract what other processes used."""
        now = time.monotonic()
        self._available = min(self._burst, self._available + (now - self._updated_at) * self._per_s)
        self._updated_at = now
        if self._counted is not None:
            self._available -= self._counted.elsewhere(now)

    def _wait_s(self, amount: float) -> float:
        """Return the seconds until ``amount`` is available."""
        self._refill()
        # The tolerance covers the rounding errors of many small amounts.
        return max(0.0, (amount - self._available - 1e-9 * self._burst) / self._per_s)


Shared: TypeAlias = tuple[Allowance, Allowance, Allowance, Allowance]
"""Allowances of a client: for bytes read of its messages, for its messages, for texts begun, and
for requests answered."""


class Account:
    """The limits of one client, for all its connections together."""

    # Time constant with which used processor time is forgotten, how much of it a conversation has
    # for free, and the longest delay behind other clients that the excess causes.
    FORGET_S = 2.0
    FREE_S = 0.2
    MAX_S = 1.0
    # Burst and rate of processor time for other work than speech, such as reading a lexicon.
    WORK_S = 0.5
    WORK_PER_S = 0.05

    def __init__(self, shared: Shared) -> None:
        """``shared``: the allowances that count in all processes of the server."""
        self.bytes, self.messages, self.texts, self.requests = shared
        self.work = Allowance(self.WORK_S, self.WORK_PER_S)
        self._used_s = 0.0
        self._updated_at = time.monotonic()

    def charge(self, seconds: float) -> None:
        """Add processor time of its speech."""
        now = time.monotonic()
        self._used_s = self._used_s * math.exp((self._updated_at - now) / self.FORGET_S) + seconds
        self._updated_at = now

    @property
    def debt_s(self) -> float:
        """Seconds by which its synthesis is scheduled behind that of other clients."""
        self.charge(0.0)
        return min(self.MAX_S, max(0.0, self._used_s - self.FREE_S))


class Reading:
    """The rate at which one connection's messages are read."""

    # A message counts as one up to ``SMALL`` bytes, and as one more for each ``MORE`` bytes beyond.
    SMALL = 256
    MORE = 64

    def __init__(self, account: Account, limits: Limits) -> None:
        self._account = account
        self._messages = Allowance(limits.messages_per_s, limits.messages_per_s)
        self.waiting = False
        """Whether a message waits here, so that its sender does not count as silent."""

    async def turn(self, size: int) -> None:
        """Wait until a message of ``size`` bytes may be read."""
        weight = 1 + max(0, size - self.SMALL) / self.MORE
        account = self._account
        self.waiting = True
        try:
            await self._messages.turn(weight)
            await account.messages.turn(weight)
            await account.bytes.turn(size)
        finally:
            self.waiting = False


class Accounts:
    """The accounts of the most recent clients."""

    # Most accounts kept; and how many clients the requests from this machine count as.
    MAX_ACCOUNTS = 4096
    LOCAL_CLIENTS = 4
    # Rates per second for each place that a client may take; the limits in the settings are lower
    # bounds.
    MESSAGES_PER_PLACE = 50
    REQUESTS_PER_PLACE = 4
    TEXTS_PER_PLACE = 1

    def __init__(self, limits: Limits, share: int, counters: SharedCounters | None = None) -> None:
        """``share``: how many places one client may take; ``counters``: those of all processes."""
        self._limits = limits
        self._share = share
        several = counters is not None and counters.processes > 1
        self._counters = counters if several else None
        self._local_share = self._shared("", self.LOCAL_CLIENTS)
        self._accounts: OrderedDict[str, Account] = OrderedDict()

    def _shared(self, client: str | None, times: float = 1.0) -> Shared:
        """Return the allowances of a client, or of a single connection if it is None; ``times``
        scales them."""
        limits = self._limits
        places = self._share
        messages = max(limits.messages_per_s, self.MESSAGES_PER_PLACE * places)
        requests = max(limits.requests_per_s, self.REQUESTS_PER_PLACE * places)
        rates = {
            PerClient.BYTES: limits.bytes_per_s,
            PerClient.MESSAGES: messages,
            PerClient.TEXTS: self.TEXTS_PER_PLACE * places,
            PerClient.REQUESTS: requests,
        }
        bytes_, messages_, texts, requests_ = (
            Allowance(times * rate, times * rate, self._counted(resource, client))
            for resource, rate in rates.items()
        )
        return bytes_, messages_, texts, requests_

    def _counted(self, what: PerClient, client: str | None) -> Counted | None:
        if self._counters is None or client is None:
            return None
        return Counted(self._counters, what, client)

    def of(self, share: str) -> Account:
        """Return the account of a key or an address; an empty ``share`` stands for all requests
        from this machine."""
        if (account := self._accounts.get(share)) is None:
            account = Account(self._shared(share) if share else self._local_share)
            self._accounts[share] = account
        self._accounts.move_to_end(share)
        if len(self._accounts) > self.MAX_ACCOUNTS:
            self._accounts.popitem(last=False)
        return account

    def of_connection(self, share: str) -> Account:
        """Return the account of a lasting connection.

        Connections from this machine have an account each, and share only the bytes.
        """
        return self.of(share) if share else Account((self._local_share[0], *self._shared(None)[1:]))
