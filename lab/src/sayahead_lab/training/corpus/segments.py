"""Segments of a corpus's sentences, as in incremental synthesis: a few words, their past and their
future; and the path of attention in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sayahead_lab.training.corpus.store import Item

Numbers = NDArray[np.int64]
NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment of an item, cut by its durations."""

    ids: Numbers
    """(P,) phoneme ids, the pads at a sentence's ends among them."""
    durations: Numbers
    """(P,) frames of each."""
    first: int
    """The item's frame with which it begins."""
    past: Numbers
    """(Q,) ids before it, or none."""
    future: Numbers
    """(R,) ids after it, or none."""
    end: int
    """Words of the sentence up to its end: those observed when it is spoken."""

    @property
    def frames(self) -> int:
        """T, its length in frames."""
        return int(self.durations.sum())


class SegmentCutter:
    """Cuts items into segments."""

    def __init__(
        self, *, pad: int, space: int, past: int, lookahead: int, end_mark: bool = True
    ) -> None:
        """``past``: most phonemes of the past; ``lookahead``: most words of the future; 0: all.
        ``end_mark``: whether a pad ends what is an utterance of its own."""
        self.pad = pad
        self.space = space
        self.past = past
        self.lookahead = lookahead
        self.end_mark = end_mark

    def begin(self, item: Item, word: int) -> int:
        """Index in the padded ids of the first id of a word."""
        return 1 + first_id(item, word, self.space)

    def cut(self, item: Item, first: int, end: int) -> Piece:
        """The words ``[first, end)`` of an item, with past and future; of all of its words, the
        pads are part."""
        words = len(item.words)
        ids = self.padded(item)
        start = 0 if first == 0 else self.begin(item, first)
        stop = len(ids) if end == words else self.begin(item, end)
        visible = words if not self.lookahead else min(words, end + self.lookahead)
        stop_id = len(ids) if visible == words else self.begin(item, visible)
        past = ids[max(0, start - self.past) if self.past else 0 : start]
        durations = item.durations.astype(np.int64)
        at = int(durations[:start].sum())
        return Piece(ids[start:stop], durations[start:stop], at, past, ids[stop:stop_id], end)

    def alone(self, item: Item, first: int, end: int) -> Piece:
        """The words as an utterance of their own: a pad that lasts no time before them, and after
        them with ``end_mark``; no space in front, no past, no future."""
        start = 1 + int(item.words[first][0])
        stop = 1 + int(item.words[end - 1][1])
        durations = item.durations.astype(np.int64)
        pads = (1, int(self.end_mark))
        spoken = item.ids[start - 1 : stop - 1].astype(np.int64)
        ids = np.pad(spoken, pads, constant_values=self.pad)
        lasting = np.pad(durations[start:stop], pads)
        return Piece(ids, lasting, int(durations[:start].sum()), NOTHING, NOTHING, end)

    def padded(self, item: Item) -> Numbers:
        """(P + 2,) ids with the pads at both ends."""
        return np.concatenate([[self.pad], item.ids, [self.pad]]).astype(np.int64)


def first_id(item: Item, word: int, space: int) -> int:
    """Index in ``item.ids`` of the first id of a word: the space before it, where it has one."""
    before = int(item.words[word - 1][1])
    first = int(item.words[word][0])
    spaces = np.flatnonzero(item.ids[before:first] == space)
    return before + int(spaces[-1]) if len(spaces) else first


@dataclass(frozen=True, slots=True)
class AttentionPath:
    """The attention of S decoder steps of r frames, from durations."""

    phonemes: Numbers
    """(S, r) of each frame."""
    attended: Numbers
    """(S,) where it was before each step."""
    stayed: Numbers
    """(S,) for how many steps."""


def path_of(
    durations: Numbers,
    steps: int,
    *,
    reduction: int,
    window: int,
    draw: np.random.Generator | None,
    cut: bool = True,
) -> AttentionPath:
    """The path of phonemes by their durations (P,); frames that no window holds are ``cut`` to its
    edge.

    Attention rests on the phoneme of one of a step's frames, the middle one without ``draw``. In
    inference it may fall on any side of a step that several phonemes share; in training it falls on
    each at times."""
    owners = np.repeat(np.arange(len(durations)), durations)
    path = owners[np.minimum(np.arange(steps * reduction), len(owners) - 1)].reshape(
        steps, reduction
    )
    frame = np.full(steps, reduction // 2) if draw is None else draw.integers(reduction, size=steps)
    rests = np.take_along_axis(path, frame[:, None], 1)[:, 0]
    attended, stayed = np.zeros((2, steps), np.int64)
    for step in range(1, steps):
        attended[step] = min(rests[step - 1], attended[step - 1] + window - 1)
        stayed[step] = stayed[step - 1] + 1 if attended[step] == attended[step - 1] else 1
    if cut:
        path = np.clip(path, attended[:, None], attended[:, None] + window - 1)
    return AttentionPath(path, attended, stayed)
