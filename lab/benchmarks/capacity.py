"""A fleet that speaks to ten thousand, on paper: simulated from what steps cost, in processor time,
on one machine.

    python lab/benchmarks/capacity.py --results lab/benchmarks/results/capacity.md \
        [--conversations 10000]

A conversation is an agent's turns with pauses in which its user speaks. A turn's text comes from a
language model, each word is a step of a replica's processor, and is needed when the player has
played what came before. What is simulated is the processors' time and who gets it; networks, memory
and the cores' influence on each other are not."""

from __future__ import annotations

import functools
import heapq
import itertools
import random
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sayahead_lab.results import Rows, load_figures, options, table, tell

RESULTS = Path(__file__).parent / "results"
TOKENS_PER_WORD = 1.3
TOKENS_PER_S = 50.0
WORD_S = 0.30
SPREAD = 0.35
"""A word's sound, and the deviation of its logarithm; that of a step's time is the same."""
TURN_WORDS = 30.0
PAUSE_S = 8.0
"""Means of a turn's words, and of the time until the next one; both are drawn from exponential
distributions."""
DUE_S = 0.1
BOUND_S = 0.13
BUSY = 0.95
WARM_S = 20.0
LISTENED_S = 20.0
"""Time that does not count, in which conversations begin, and time that does."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a fleet is run."""

    name: str
    cores: int = 2
    """Processors of a replica."""
    order: str = "deadline"
    """Which step is first: ``deadline``, or ``arrival``."""
    routing: str = "least"
    """Who gets a conversation: the replica with the ``least``, or any at ``random``."""
    burst: float = 1.0
    """How many times as many conversations come in the second half of the time."""
    lost: float = 0.0
    """Part of the replicas that fail in the middle; what they had goes to the others."""


@dataclass(slots=True)
class Conversation:
    """One agent's turns, of which there is one at a time."""

    replica: int
    begun: float = 0.0
    words: int = 0
    said: int = 0
    dry: float = 0.0
    """When its player runs dry; before the turn's first sound, when it began."""


@dataclass(slots=True)
class Tally:
    """What listeners had."""

    first_s: list[float] = field(default_factory=list)
    stalls: int = 0
    turns: int = 0
    sound_s: float = 0.0
    busy_s: float = 0.0

    @property
    def p95_s(self) -> float:
        """Within how long the first sound of 95 in 100 turns came."""
        return float(np.quantile(self.first_s, 0.95)) if self.first_s else float("inf")


class Fleet:
    """Replicas with processors and steps that wait, and one clock."""

    def __init__(
        self, way: Way, word_s: float, replicas: int, conversations: int, seed: int
    ) -> None:
        self._way = way
        self._word_s = word_s
        self._draw = random.Random(seed)
        self._waiting: list[list[tuple[float, int, Conversation]]] = [[] for _ in range(replicas)]
        self._free = [way.cores] * replicas
        self._held = [0] * replicas
        self._alive = list(range(replicas))
        self._events = list[tuple[float, int, str, Any]]()
        self._count = itertools.count()
        self._end = WARM_S + LISTENED_S
        self._from = WARM_S
        self.tally = Tally()
        before = round(conversations / way.burst)
        for number in range(conversations):
            at = self._draw.random() * (TURN_WORDS * WORD_S + PAUSE_S)
            self._plan(
                at if number < before else self._from + LISTENED_S / 2 + 5 * self._draw.random(),
                "come",
                None,
            )
        if way.lost:
            self._plan(self._from + LISTENED_S / 2, "fail", None)

    def _about_one(self) -> float:
        return self._draw.lognormvariate(-(SPREAD**2) / 2, SPREAD)

    def _plan(self, at: float, kind: str, what: Any) -> None:
        heapq.heappush(self._events, (at, next(self._count), kind, what))

    def run(self) -> Tally:
        """All of its time."""
        while self._events and self._events[0][0] < self._end:
            now, _, kind, what = heapq.heappop(self._events)
            getattr(self, f"_{kind}")(now, what)
        return self.tally

    def _place(self) -> int:
        if self._way.routing == "least":
            replica = min(self._alive, key=lambda one: (self._held[one], one))
        else:
            replica = self._draw.choice(self._alive)
        self._held[replica] += 1
        return replica

    def _come(self, now: float, _: None) -> None:
        self._turn(now, Conversation(self._place()))

    def _turn(self, now: float, talk: Conversation) -> None:
        """An agent begins to write."""
        talk.begun = now
        talk.dry = now
        talk.words = 2 + round(self._draw.expovariate(1 / (TURN_WORDS - 2)))
        talk.said = 0
        self._next(now, talk)

    def _text_at(self, talk: Conversation) -> float:
        """When the next word can be spoken: one more is there, and its end is known."""
        return talk.begun + min(talk.said + 2, talk.words) * TOKENS_PER_WORD / TOKENS_PER_S

    def _next(self, now: float, talk: Conversation) -> None:
        at = self._text_at(talk)
        if at <= now:
            self._ready(now, talk)
        else:
            self._plan(at, "ready", talk)

    def _ready(self, now: float, talk: Conversation) -> None:
        """A word can be made."""
        due = max(talk.dry, self._text_at(talk)) if self._way.order == "deadline" else now
        heapq.heappush(self._waiting[talk.replica], (due, next(self._count), talk))
        self._begin(now, talk.replica)

    def _begin(self, now: float, replica: int) -> None:
        """Processors that are free take what is most urgent."""
        waiting = self._waiting[replica]
        while self._free[replica] and waiting:
            talk = heapq.heappop(waiting)[2]
            self._free[replica] -= 1
            lasts = self._word_s * self._about_one()
            if now >= self._from:
                self.tally.busy_s += lasts
            self._plan(now + lasts, "made", (replica, talk))

    def _made(self, now: float, what: tuple[int, Conversation]) -> None:
        """A word is made, and sent at once."""
        replica, talk = what
        self._free[replica] += 1
        # If its replica has failed meanwhile, another one says this word.
        if talk.replica == replica:
            self._heard(now, talk)
            talk.said += 1
            if talk.said < talk.words:
                self._next(now, talk)
            else:
                self._plan(max(now, talk.dry) + self._draw.expovariate(1 / PAUSE_S), "turn", talk)
        if replica in self._alive:
            self._begin(now, replica)

    def _heard(self, now: float, talk: Conversation) -> None:
        tally = self.tally
        counts = talk.begun >= self._from
        if talk.said and now > max(talk.dry, self._text_at(talk) + DUE_S) + 0.005 and counts:
            tally.stalls += 1
        if not talk.said and counts:
            tally.first_s.append(now - talk.begun)
            tally.turns += 1
        lasts = WORD_S * self._about_one()
        talk.dry = max(now, talk.dry) + lasts
        if now >= self._from:
            tally.sound_s += lasts

    def _fail(self, now: float, _: None) -> None:
        """Some replicas are gone: clients notice at once, and go on elsewhere."""
        number = min(len(self._alive) - 1, max(1, round(self._way.lost * len(self._alive))))
        gone = set(self._alive[:number])
        self._alive = [one for one in self._alive if one not in gone]
        waiting = [entry[2] for one in sorted(gone) for entry in self._waiting[one]]
        for one in gone:
            self._waiting[one].clear()
        moved = {id(talk): talk for talk in waiting}
        events = self._events
        self._events = []
        for event in events:
            kind, what = event[2:]
            if kind == "made" and what[0] in gone:
                moved[id(what[1])] = what[1]
            elif kind in ("turn", "ready") and what.replica in gone:
                what.replica = self._place()
            self._events.append(event)
        heapq.heapify(self._events)
        for talk in moved.values():
            talk.replica = self._place()
            self._ready(now, talk)


def passes(tally: Tally, cores: int) -> bool:
    """Whether listeners had what ``sayahead loadtest`` asks for; one stall in ten thousand turns is
    forgiven.

    A fleet that is busier than ``BUSY`` would not catch up with what it has missed.
    """
    calm = tally.stalls <= tally.turns / 10_000 and tally.busy_s <= BUSY * cores * LISTENED_S
    return calm and tally.p95_s <= BOUND_S


def least(way: Way, word_s: float, conversations: int) -> tuple[int, Tally]:
    """The fewest replicas with which a fleet passes, within one in twenty, and what listeners have
    with them."""
    sound = conversations * TURN_WORDS * WORD_S / (TURN_WORDS * WORD_S + PAUSE_S)
    low = 0
    high = 0
    best = Tally()
    tried = max(1, round(sound * word_s / WORD_S / BUSY / way.cores))
    while not high or high - low > max(1, high // 20):
        tally = Fleet(way, word_s, tried, conversations, 0).run()
        print(
            f"{way.name}: {tried} replicas, {len(tally.first_s)} turns, {tally.stalls} stalls",
            flush=True,
        )
        if passes(tally, tried * way.cores):
            high = tried
            best = tally
            tried = (low + high) // 2 if low else max(1, min(tried - 1, round(0.97 * tried)))
            if tried == high:
                break
        else:
            low = tried
            tried = (low + high) // 2 if high else 1 + round(1.05 * tried)
    return high, best


def measured() -> float:
    """Processor seconds of a word in a server, all included, from the results of this
    repository."""
    server = load_figures(RESULTS / "server" / "threads.json")
    row = next(one for one in server["rounds"] if one["sessions"] == server["largest"])
    # A round counts after six seconds in which sessions begin; what the server takes is that of the
    # whole of it.
    return float(row["server_cores"] * server["seconds"] / row["audio_s"] * WORD_S)


def main() -> None:
    # The price is that of a processor's hour.
    given = options(__doc__, "results", conversations=10_000, price=0.04).parse_args()
    word_s = measured()
    ways = [
        Way("two cores, earliest deadline first"),
        Way("the same, first come first served", order="arrival"),
        Way("any replica at random", routing="random"),
        Way("twice the conversations within seconds", burst=2.0),
        Way("a tenth of the replicas fails", lost=0.1),
    ]
    command = (
        f"python lab/benchmarks/capacity.py --conversations {given.conversations} --price"
        f" {given.price:g}"
    )
    search = functools.partial(least, word_s=word_s, conversations=given.conversations)
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(search, ways))
    rows = Rows()
    for way, (replicas, tally) in zip(ways, found, strict=True):
        cores = replicas * way.cores
        hours = cores * LISTENED_S / tally.sound_s
        rows.append(
            [
                way.name,
                str(replicas),
                str(cores),
                f"{given.conversations / cores:.0f}",
                f"{100 * tally.busy_s / cores / LISTENED_S:.0f}",
                f"{1000 * tally.p95_s:.0f}",
                f"{hours:.4f}",
                f"{hours * given.price:.5f}",
            ]
        )
    heading = (
        "way|replicas|cores|conversations a core|busy %|first sound p95 ms|core hours for an"
        " hour|price"
    )
    tell([f"`{command}`: {1000 * word_s:.2f} ms a word.", "", *table(heading, rows)], given.results)


if __name__ == "__main__":
    main()
