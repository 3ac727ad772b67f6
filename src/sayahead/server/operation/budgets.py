"""What one client may take of what all share: processor time, bytes, and work that is no speech."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from typing import TypeAlias

from sayahead.server.operation.settings import Limits


class Allowance:
    """So much at once, and so much more a second."""

    def __init__(self, most: float, per_s: float) -> None:
        self._most, self._per_s = most, per_s
        self._left, self._at = most, time.monotonic()

    def take(self, amount: float = 1.0) -> float:
        """Takes so much; how many seconds too early that was."""
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._per_s) - amount
        self._at = now
        return max(0.0, -self._left / self._per_s)


Shared: TypeAlias = tuple[Allowance, Allowance, Allowance]
"""Bytes, messages and requests."""


class Account:
    """What one client takes, on all its connections."""

    # Processor time is forgotten within so long; what it has taken beyond what a conversation takes makes it wait
    # behind others, at most for so long.
    FORGET_S, FREE_S, MOST_S = 2.0, 0.2, 1.0
    # Processor time for other work than speech, such as reading a lexicon: so much at once, and a second.
    WORK_S, WORK_PER_S = 0.5, 0.05
    # A message counts once more for each so many bytes.
    SMALL = 256

    def __init__(self, shared: Shared) -> None:
        self.bytes, self.messages, self.requests = shared
        """What is read of its messages, how many, and how many of its requests are answered."""
        self.work = Allowance(self.WORK_S, self.WORK_PER_S)
        self._taken_s, self._at = 0.0, time.monotonic()

    def read(self, size: int) -> float:
        """A message of so many bytes came: how many seconds too early."""
        return max(self.bytes.take(size), self.messages.take(1 + size / self.SMALL))

    def charge(self, seconds: float) -> None:
        """Its speech took processor time."""
        now = time.monotonic()
        self._taken_s = self._taken_s * math.exp((self._at - now) / self.FORGET_S) + seconds
        self._at = now

    @property
    def debt_s(self) -> float:
        """How much later than others' its speech is made, seconds."""
        self.charge(0.0)
        return min(self.MOST_S, max(0.0, self._taken_s - self.FREE_S))


class Accounts:
    """The accounts of those who came last."""

    # How many are kept; how many clients may be behind the requests of this machine.
    MOST, HERE = 4096, 4

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._here = self._shared(self.HERE)
        self._accounts: OrderedDict[str, Account] = OrderedDict()

    def _shared(self, times: float = 1.0) -> Shared:
        limits = self._limits
        most = (times * most for most in (limits.bytes_per_s, limits.messages_per_s, limits.requests_per_s))
        bytes_, messages, requests = (Allowance(each, each) for each in most)
        return bytes_, messages, requests

    def of(self, share: str) -> Account:
        """The account of a key or an address; of no name, that of all requests from this machine."""
        if (account := self._accounts.get(share)) is None:
            account = self._accounts[share] = Account(self._shared() if share else self._here)
        self._accounts.move_to_end(share)
        if len(self._accounts) > self.MOST:
            self._accounts.popitem(last=False)
        return account

    def of_connection(self, share: str) -> Account:
        """The same for a connection that stays: of this machine's, each has its own, but for bytes."""
        return self.of(share) if share else Account((self._here[0], *self._shared()[1:]))
