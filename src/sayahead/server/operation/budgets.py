"""What one client may take of what all share: processor time, bytes, and work that is no speech."""

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
    """What the other processes of a server let a client take."""

    LOOK_S = 0.01
    """How often they are asked: a message must cost nothing."""

    def __init__(self, counters: SharedCounters, what: PerClient, client: str) -> None:
        self._counters = counters
        self._what = what
        self._client = client
        self._seen = counters.elsewhere(what, client)
        self._at = -math.inf

    def add(self, amount: float) -> None:
        """Something was taken here."""
        self._counters.add(self._what, self._client, amount)

    def elsewhere(self, now: float) -> float:
        """How much was taken elsewhere since this was asked last."""
        if now < self._at + self.LOOK_S:
            return 0.0
        self._at = now
        before = self._seen
        self._seen = self._counters.elsewhere(self._what, self._client)
        return max(0.0, self._seen - before)


class Allowance:
    """So much at once, and so much more a second."""

    FLOOR = 2.0
    """A debt is at most so many times as much as may be taken at once."""
    LOOK_S = 0.1
    """How often somebody who waits is looked after."""

    def __init__(self, most: float, per_s: float, counted: Counted | None = None) -> None:
        """``counted``: what all processes count of it; None: it is this process's alone."""
        self._counted = counted
        self._most = most
        self._per_s = per_s
        self._left = most
        self._at = time.monotonic()
        # Those who wait take their turns one after the other, and so much is what they wait for.
        self._turn = asyncio.Lock()
        self._queued = 0.0

    def take(self, amount: float = 1.0) -> float:
        """Take so much; return how many seconds too early that was."""
        self._refill()
        self._left = max(self._left - amount, -self.FLOOR * self._most)
        if self._counted is not None:
            self._counted.add(amount)
        return max(0.0, -self._left / self._per_s)

    async def turn(
        self,
        amount: float = 1.0,
        *,
        most_s: float = math.inf,
        gone: Callable[[], bool] | None = None,
    ) -> bool:
        """Wait until so much may be taken, and take it; False at once where that would take longer
        than ``most_s``.

        Nothing is owed: who leaves the queue, cancelled or ``gone``, has taken nothing, and others
        move up."""
        needed = min(amount, self._most)
        if self._wait_s(self._queued + needed) > most_s:
            return False
        self._queued += needed
        try:
            # Somebody else has a turn in any case.
            await asyncio.sleep(0)
            async with self._turn:
                while (wait_s := self._wait_s(needed)) > 0:
                    if gone is not None and gone():
                        return True
                    await asyncio.sleep(min(max(wait_s, 0.001), self.LOOK_S))
                self._left -= amount
                if self._counted is not None:
                    self._counted.add(amount)
        finally:
            self._queued -= needed
        return True

    def _refill(self) -> None:
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._per_s)
        self._at = now
        if self._counted is not None:
            self._left -= self._counted.elsewhere(now)

    def _wait_s(self, amount: float) -> float:
        """When so much is there, seconds from now."""
        self._refill()
        # A sum of small amounts is not exact.
        return max(0.0, (amount - self._left - 1e-9 * self._most) / self._per_s)


Shared: TypeAlias = tuple[Allowance, Allowance, Allowance, Allowance]
"""Bytes, messages, texts and requests."""


class Account:
    """What one client takes, on all its connections."""

    # Processor time is forgotten within so long; what it has taken beyond what a conversation takes
    # makes it wait behind others, at most for so long.
    FORGET_S = 2.0
    FREE_S = 0.2
    MAX_S = 1.0
    # Processor time for other work than speech, such as reading a lexicon: so much at once, and a
    # second.
    WORK_S = 0.5
    WORK_PER_S = 0.05

    def __init__(self, shared: Shared) -> None:
        self.bytes, self.messages, self.texts, self.requests = shared
        """What is read of its messages, how many, how many texts begin, and how many of its
        requests are answered."""
        self.work = Allowance(self.WORK_S, self.WORK_PER_S)
        self._taken_s = 0.0
        self._at = time.monotonic()

    def charge(self, seconds: float) -> None:
        """Its speech took processor time."""
        now = time.monotonic()
        self._taken_s = self._taken_s * math.exp((self._at - now) / self.FORGET_S) + seconds
        self._at = now

    @property
    def debt_s(self) -> float:
        """How much later than others' its speech is made, seconds."""
        self.charge(0.0)
        return min(self.MAX_S, max(0.0, self._taken_s - self.FREE_S))


class Reading:
    """What is read of one connection's messages."""

    # A message beyond so many bytes counts once more for each so many.
    SMALL = 256
    MORE = 64

    def __init__(self, account: Account, limits: Limits) -> None:
        self._account = account
        self._messages = Allowance(limits.messages_per_s, limits.messages_per_s)
        self.waiting = False
        """Whether a message waits here: its sender is not silent."""

    async def turn(self, size: int) -> None:
        """Wait until a message of so many bytes may be read."""
        number = 1 + max(0, size - self.SMALL) / self.MORE
        account = self._account
        self.waiting = True
        try:
            await self._messages.turn(number)
            await account.messages.turn(number)
            await account.bytes.turn(size)
        finally:
            self.waiting = False


class Accounts:
    """The accounts of those who came last."""

    # How many are kept; how many clients may be behind the requests of this machine.
    MOST = 4096
    HERE = 4
    # Messages, requests and texts a second for each place that a client may take, but no fewer than
    # the limits say.
    MESSAGES = 50
    REQUESTS = 4
    TEXTS = 1

    def __init__(self, limits: Limits, share: int, counters: SharedCounters | None = None) -> None:
        """``share``: how many places a client may take; ``counters``: those of all processes."""
        self._limits = limits
        self._share = share
        several = counters is not None and counters.processes > 1
        self._counters = counters if several else None
        self._here = self._shared("", self.HERE)
        self._accounts: OrderedDict[str, Account] = OrderedDict()

    def _shared(self, client: str | None, times: float = 1.0) -> Shared:
        """What a client may take, or (None) a connection of its own."""
        limits = self._limits
        share = self._share
        messages = max(limits.messages_per_s, self.MESSAGES * share)
        requests = max(limits.requests_per_s, self.REQUESTS * share)
        each = {
            PerClient.BYTES: limits.bytes_per_s,
            PerClient.MESSAGES: messages,
            PerClient.TEXTS: self.TEXTS * share,
            PerClient.REQUESTS: requests,
        }
        bytes_, messages_, texts, requests_ = (
            Allowance(times * most, times * most, self._counted(what, client))
            for what, most in each.items()
        )
        return bytes_, messages_, texts, requests_

    def _counted(self, what: PerClient, client: str | None) -> Counted | None:
        if self._counters is None or client is None:
            return None
        return Counted(self._counters, what, client)

    def of(self, share: str) -> Account:
        """The account of a key or an address; of no name, that of all requests from this
        machine."""
        if (account := self._accounts.get(share)) is None:
            account = Account(self._shared(share) if share else self._here)
            self._accounts[share] = account
        self._accounts.move_to_end(share)
        if len(self._accounts) > self.MOST:
            self._accounts.popitem(last=False)
        return account

    def of_connection(self, share: str) -> Account:
        """The same for a connection that stays: of this machine's, each has its own, but for
        bytes."""
        return self.of(share) if share else Account((self._here[0], *self._shared(None)[1:]))
