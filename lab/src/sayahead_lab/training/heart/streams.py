"""Sentences unfolded into the steps of a stream: each word with its visible future, the past as
encoded then.

A step encodes the rows from the first that is not final up to the last that is visible, and the
future tokens after it; rows before them stay as the step left them that made them final. All steps
of a sentence are one sequence of rows, in which convolutions and attention see what they would see
in the stream: one pass trains every word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sayahead.errors import ConfigError

from sayahead_lab.training.corpus.batches import padded
from sayahead_lab.training.corpus.store import Item
from sayahead_lab.training.heart.network import SYMBOLS
from sayahead_lab.training.heart.prefixes import Ids, word_starts

SIDE = 2
"""Rows to each side that a convolution sees."""


@dataclass(frozen=True, slots=True)
class Streaming:
    """How sentences are streamed: the recipe's ``[data]`` of this kind."""

    lookahead: tuple[float, ...] = (0.4, 0.4, 0.1, 0.1)
    """How often a sentence is streamed with 0, 1, 2, ... words of lookahead."""
    held: tuple[int, ...] = (0, 1, 2, 3)
    """Rows of spoken words that are not final before the next step: one of these for a sentence."""
    several_share: float = 0.1
    """Share of sentences whose steps speak one to four words instead of one."""
    whole_share: float = 0.15
    """Share of batches whose sentences are spoken in one step."""
    windows: tuple[int, ...] = (24, 48, 80)
    """Final rows that attention sees: one of these for a sentence."""
    future_words: int = 5
    """Words of the true future that the context network sees."""
    nothing_share: float = 0.5
    """Share of sentences whose context embeddings are zero."""
    spoken_steps: int = 4
    """Steps of each sentence whose pitch and energy are computed."""

    def __post_init__(self) -> None:
        if not self.lookahead or min(self.lookahead) < 0 or sum(self.lookahead) <= 0:
            raise ConfigError(
                "lookahead must be shares of 0, 1, 2, ... words, at least one of them above 0."
            )
        if (
            not self.held
            or min(self.held) < 0
            or not self.windows
            or min(self.windows) < 1
            or self.spoken_steps < 1
        ):
            raise ConfigError(
                "held and windows must be rows, at least 0 and 1; spoken_steps must be at least 1."
            )


@dataclass(frozen=True, slots=True)
class StreamStep:
    """A step of a stream; numbers are rows of the whole sentence, pads at both ends."""

    first: int
    """First row that is encoded; rows before are final."""
    said: int
    """First row that is spoken now."""
    end: int
    """End of what is spoken now."""
    seen: int
    """End of what is seen."""
    words: int
    """Words that are seen."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A sentence's steps as one sequence of N rows."""

    steps: tuple[StreamStep, ...]
    """They follow one another in the rows."""
    ids: Ids
    """(N,) phonemes and future tokens."""
    number: Ids
    """(N,) step of each row."""
    row: Ids
    """(N,) row of the whole sentence that each stands for; future tokens for those that really
    follow."""
    kept: Ids
    """(P,) where the sequence has each row as it was when it became final."""
    window: int
    """Final rows that attention sees."""

    def offset(self, step: int) -> int:
        """Where a step's rows begin."""
        return int(np.searchsorted(self.number, step))

    def neighbours(self) -> Ids:
        """(N, 5) rows two to each side, in the step or before it; -1 where there is none."""
        counts = np.bincount(self.number)
        begins = np.repeat(np.cumsum(counts) - counts, counts)
        at = (np.arange(len(self.ids)) - begins)[:, None] + np.arange(-SIDE, SIDE + 1)
        firsts = np.array([step.first for step in self.steps])[self.number, None]
        past = firsts + at
        before = np.where(
            past >= 0, self.kept[np.maximum(past, 0).clip(max=len(self.kept) - 1)], -1
        )
        inside = np.where(at < counts[self.number, None], begins[:, None] + at, -1)
        return np.where(at < 0, before, inside)

    def attention_mask(self) -> NDArray[np.bool_]:
        """(N, N) whether a row attends to another: to those of its step, and to final ones in the
        window."""
        same = self.number[:, None] == self.number[None, :]
        final = self.kept[self.row.clip(max=len(self.kept) - 1)] == np.arange(len(self.ids))
        firsts = np.array([step.first for step in self.steps])[self.number, None]
        past = (self.row[None, :] < firsts) & (self.row[None, :] >= firsts - self.window)
        earlier = self.number[None, :] < self.number[:, None]
        return np.asarray(same | (past & final[None, :] & earlier))


def unfolded(steps: Sequence[StreamStep], ids: Ids, *, futures: int, window: int) -> Stream:
    """The stream of a sentence's ids (P,), pads with them."""
    total = len(ids)
    parts = list[tuple[Ids, Ids]]()
    final = np.zeros(len(ids), np.int64)
    offset = 0
    for number, step in enumerate(steps):
        rows = np.arange(step.first, step.seen)
        tokens = np.arange(0 if step.seen == total else futures)
        parts.append(
            (
                np.concatenate([ids[rows], SYMBOLS + tokens]),
                np.concatenate([rows, step.seen + tokens]),
            )
        )
        end = steps[number + 1].first if number + 1 < len(steps) else total
        final[step.first : end] = offset + np.arange(end - step.first)
        offset += len(parts[-1][0])
    sizes = [len(rows) for _, rows in parts]
    return Stream(
        steps=tuple(steps),
        ids=np.concatenate([one for one, _ in parts]),
        number=np.repeat(np.arange(len(steps)), sizes),
        row=np.concatenate([rows for _, rows in parts]),
        kept=final,
        window=window,
    )


class Streamer:
    """Draws streams of items; stateless."""

    def __init__(self, streaming: Streaming, *, space: int, pad: int, futures: int) -> None:
        self.streaming = streaming
        self.space = space
        self.pad = pad
        self.futures = futures

    def draw(self, items: Sequence[Item], random: np.random.Generator) -> list[Stream]:
        """The streams of one batch."""
        # A whole sentence is so much longer than a step that both in one batch would be mostly
        # padding.
        if random.random() < self.streaming.whole_share:
            return [self.at(item, [len(item.words)], ahead=0, held=0, window=1) for item in items]
        return [self._one(item, random) for item in items]

    def _one(self, item: Item, random: np.random.Generator) -> Stream:
        """A stream with lookahead, rows held back and window as drawn."""
        config = self.streaming
        words = len(item.words)
        shares = np.array(config.lookahead) / sum(config.lookahead)
        ahead = int(random.choice(len(shares), p=shares))
        held = int(random.choice(config.held))
        window = int(random.choice(config.windows))
        counts = [1] * words
        if random.random() < config.several_share:
            counts = random.integers(1, 5, words).tolist()
        return self.at(item, counts, ahead=ahead, held=held, window=window)

    def at(
        self, item: Item, counts: Sequence[int], *, ahead: int, held: int, window: int
    ) -> Stream:
        """The stream that speaks ``counts`` words a step until there are none, ``ahead`` words
        visible after them."""
        starts = word_starts(item, self.space)
        ids = np.concatenate([[self.pad], item.ids, [self.pad]]).astype(np.int64)
        words = len(starts) - 1
        rows = len(ids)
        steps = list[StreamStep]()
        first = 0
        word = 0
        for count in counts:
            if word == words:
                break
            last = min(word + count, words)
            visible = min(last + ahead, words)
            end = rows if last == words else int(starts[last])
            now = 0 if word == 0 else int(starts[word])
            steps.append(
                StreamStep(
                    first, now, end, rows if visible == words else int(starts[visible]), visible
                )
            )
            # What is final grows, and leaves something to encode.
            first = max(first, min(end - held, rows - 1))
            word = last
        return unfolded(steps, ids, futures=self.futures, window=window)

    def future(self, item: Item, step: StreamStep) -> Ids:
        """(L,) phonemes after what a step sees, for the context network; none where the end is
        seen."""
        starts = word_starts(item, self.space)
        last = min(step.words + self.streaming.future_words, len(starts) - 1)
        return np.asarray(item.ids, np.int64)[
            starts[min(step.words, len(starts) - 1)] - 1 : starts[last] - 1
        ]


def stacked(streams: Sequence[Stream]) -> dict[str, NDArray[np.int64] | NDArray[np.bool_]]:
    """The streams of B sentences as one batch of N rows each: ids, number, row, known, neighbours,
    seen."""
    ids, sizes = padded([one.ids for one in streams])
    rows = ids.shape[1]
    neighbours = np.full((len(streams), rows, 2 * SIDE + 1), rows, np.int64)
    attends = np.zeros((len(streams), rows, rows), np.bool_)
    for number, (one, size) in enumerate(zip(streams, sizes, strict=True)):
        beside = one.neighbours()
        neighbours[number, :size] = np.where(beside < 0, rows, beside)
        attends[number, :size, :size] = one.attention_mask()
    # Rows that only fill the batch see all, so that nothing is divided by zero.
    attends |= (np.arange(rows)[None] >= sizes[:, None])[..., None]
    return {
        "ids": ids,
        "known": np.arange(rows)[None] < sizes[:, None],
        "number": padded([one.number for one in streams])[0],
        "row": padded([one.row for one in streams])[0],
        "neighbours": neighbours,
        "seen": attends,
    }
