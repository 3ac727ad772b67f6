"""Episodes of READ and SPEAK over tables: a policy's loss of quality, and its listeners' waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sayahead.policies.learned import MOST, TERMS, Clues
from sayahead.types import Floats, Word

from sayahead_lab.eval.experiment.clock import Arrival, ReadingClock, TextClock, Tokens, Typist
from sayahead_lab.training.learned.tables import ClueTable

COMPUTING_S = 0.013
"""Computing time per word: the median of ``lab/benchmarks/results/bench.json``."""
LEAD_IN_S = 0.02
"""Silence before a sentence's first sound."""
Values = NDArray[np.float64]
Whole = NDArray[np.int64]
Chooser = Callable[[Floats, Whole, np.random.Generator], NDArray[np.bool_]]
"""Which of M decisions are READ, from inputs (M, F + 3) and how many words are pending (M,)."""


def clocks(seed: int = 0) -> dict[str, TextClock]:
    """The text clocks of the training, by name: those of the measurements, and others around
    them."""
    return {
        "50 tokens/s": Tokens(50, seed=seed),
        "180 words/min": ReadingClock(180),
        "typist": Typist(40, seed=seed),
        "20 tokens/s": Tokens(20, seed=seed),
        "130 words/min": ReadingClock(130),
        "250 words/min": ReadingClock(250),
        "fast typist": Typist(80, pause_s=0.5, seed=seed),
    }


def waits_s(table: ClueTable, arrivals: Sequence[Arrival]) -> tuple[Values, Values]:
    """(N,) when each word is final, and when the character that completes it arrived
    (``latency.word_arrivals_s``)."""
    ends = np.cumsum([len(arrival.text) for arrival in arrivals])
    times = np.array([arrival.at_s for arrival in arrivals])
    ready = np.minimum(np.searchsorted(ends, np.array(table.needs)), len(times) - 1)
    complete = np.minimum(
        np.searchsorted(ends, [word.end for word in table.words], side="right"), len(times) - 1
    )
    return times[ready], times[complete]


def scales(tables: Sequence[ClueTable]) -> Values:
    """(3,) mean of the ``PARTS`` over all words without lookahead: the unit of each part of the
    distance."""
    return np.asarray(np.concatenate([table.apart for table in tables])[:, 0].mean(axis=0))


def distances(apart: Values, scale: Values) -> Values:
    """(..., 3) -> (...,): mean of the parts, each in its unit; 1 is the loss without any
    lookahead."""
    return np.asarray((apart / scale).mean(axis=-1))


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions of a batch of episodes, M in all, in no order that matters."""

    episode: Whole
    """(M,) of which episode."""
    word: Whole
    """(M,) at which word."""
    inputs: Floats
    """(M, F + 3) on what."""
    read: NDArray[np.bool_]
    """(M,) whether it was READ."""


@dataclass(frozen=True, slots=True)
class EpisodeOutcome:
    """The outcome of a batch of B episodes; (B, N) each, 0 after an episode's last word."""

    steps: Decisions
    """The decisions."""
    words: NDArray[np.bool_]
    """Where there is a word."""
    lookahead: Whole
    """Words after it that the model saw."""
    apart: Values
    """Its distance to the full sentence (``distances``)."""
    lag_s: Values
    """Its lag."""
    stall_s: Values
    """Silence before its sound because it was not ready."""
    begun: Values
    """(B, N, 2) how an episode stood when the word's turn came: words visible anyway, seconds of
    sound still to play when the word arrived."""

    def cost(self, prices: Values) -> Values:
        """(B, N) what is to be small: distance, and lag and stall in seconds at the episodes'
        prices (B,)."""
        return np.asarray(self.apart + prices[:, None] * (self.lag_s + self.stall_s))

    def means(self) -> dict[str, float]:
        """Means over words of distance and lookahead, over episodes of their mean lag and sum of
        stalls."""
        count = self.words.sum(axis=1)
        return {
            "apart": float(self.apart.sum() / count.sum()),
            "lookahead": float(self.lookahead.sum() / count.sum()),
            "lag_s": float((self.lag_s.sum(axis=1) / count).mean()),
            "stall_s": float(self.stall_s.sum(axis=1).mean()),
        }


class ReadingEpisodes:
    """Sentences with their clues, distances and arrivals, padded to one length, to play episodes
    on."""

    def __init__(
        self,
        tables: Sequence[ClueTable],
        clues: Clues,
        phonemes: Callable[[Word], int],
        *,
        scale: Values,
        frame_s: float,
        hold_back_s: float,
        seed: int = 0,
    ) -> None:
        """``scale`` are the units of the distances (``scales`` of the tables that are learned
        from)."""
        self.counts = np.array([len(table.words) for table in tables], np.int64)
        size = len(tables)
        most = int(self.counts.max())
        self.clues = np.zeros((size, most, MOST, clues.size), np.float32)
        self.apart = np.zeros((size, most, MOST + 1))
        self.onset = np.zeros((size, most))
        self.cut = np.zeros((size, most + 1))
        by_name = clocks(seed)
        self.clocks = tuple(by_name)
        self.ready, self.arrived = np.zeros((2, len(by_name), size, most))
        paces = np.zeros((len(by_name), 2))
        for at, table in enumerate(tables):
            count = len(table.words)
            texts = [word.text for word in table.words]
            for word in range(count):
                for pending in range(1, min(MOST, count - word) + 1):
                    self.clues[at, word, pending - 1] = clues(
                        texts[:word], table.words[word : word + pending], phonemes
                    )
            self.apart[at, :count] = distances(table.apart, scale)
            self.onset[at, :count] = frame_s * table.frames[:, 0]
            self.cut[at, 1 : count + 1] = frame_s * table.frames[:, 1] - hold_back_s
            self.cut[at, 0] = max(0.0, self.onset[at, 0] - LEAD_IN_S)
            self.cut[at, count] = frame_s * table.length
            self.cut[at] = np.maximum.accumulate(self.cut[at])
            for number, clock in enumerate(by_name.values()):
                arrivals = clock.arrivals(table.text)
                self.ready[number, at, :count], self.arrived[number, at, :count] = waits_s(
                    table, arrivals
                )
                paces[number] += count, arrivals[-1].at_s
        self.words_per_min = 60 * paces[:, 0] / paces[:, 1]

    def play(
        self,
        sentences: Whole,
        clock: Whole,
        prices: Values,
        choose: Chooser,
        draw: np.random.Generator,
    ) -> EpisodeOutcome:
        """The episodes of ``sentences`` (B,) on the clocks numbered ``clock`` (B,) at prices (B,) a
        second."""
        counts = self.counts[sentences]
        size = len(sentences)
        most = int(counts.max())
        lookahead = np.zeros((size, most), np.int64)
        stall = np.zeros((size, most))
        lag = np.zeros((size, most))
        begun = np.zeros((size, most, 2))
        read = np.zeros(size, np.int64)
        busy = np.zeros(size)
        playing = np.zeros(size)
        fixed = np.stack([np.log(prices), np.log(self.words_per_min[clock] / 180)], axis=1).astype(
            np.float32
        )
        steps: list[tuple[Whole, Whole, Floats, NDArray[np.bool_]]] = []
        for word in range(most):
            here = word < counts
            ahead = np.maximum(read - word, 0)
            pending = np.maximum(ahead, 1)
            begun[:, word, 0] = ahead
            begun[:, word, 1] = playing - self.arrived[clock, sentences, word]
            begun[~here, word] = 0
            open_ = np.flatnonzero(here & (word + pending < counts) & (pending <= MOST))
            while len(open_):
                inputs = np.zeros((len(open_), self.clues.shape[-1] + TERMS), np.float32)
                inputs[:, :-TERMS] = self.clues[sentences[open_], word, pending[open_] - 1]
                inputs[:, -TERMS:-1] = fixed[open_]
                inputs[:, -1] = ahead[open_] / MOST
                reading = choose(inputs, pending[open_], draw)
                steps.append((open_, np.full(len(open_), word), inputs, reading))
                open_ = open_[reading]
                pending[open_] += 1
                open_ = open_[(word + pending[open_] < counts[open_]) & (pending[open_] <= MOST)]
            read = np.where(here, word + pending, read)
            lookahead[:, word] = np.where(here, pending - 1, 0)
            text = self.ready[clock, sentences, np.minimum(read, counts) - 1]
            ready = np.maximum(text, busy) + COMPUTING_S
            begin = self.cut[sentences, word]
            end = self.cut[sentences, word + 1]
            starts = np.maximum(playing, ready)
            if word:
                stall[:, word] = np.where(here, np.maximum(ready - playing, 0.0), 0.0)
            onsets = starts + self.onset[sentences, word] - begin
            lag[:, word] = np.where(here, onsets - self.arrived[clock, sentences, word], 0.0)
            busy = np.where(here, ready, busy)
            playing = np.where(here, starts + end - begin, playing)
        words = np.arange(most) < counts[:, None]
        apart = np.where(words, self.apart[sentences[:, None], np.arange(most), lookahead], 0.0)
        decisions = Decisions(*(np.concatenate(parts) for parts in zip(*steps, strict=True)))
        return EpisodeOutcome(decisions, words, lookahead, apart, lag, stall, begun)


def fixed(k: int) -> Chooser:
    """Always k words of lookahead."""
    return lambda inputs, pending, draw: np.asarray(pending <= k)
