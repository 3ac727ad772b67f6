"""How a peer's trace is made: on the wall clock, or as measured once, from which all clocks follow
(``trace.retime``).

The second holds where sound depends on the text alone and comes while no text is waited for
(``about["simulates"]``)."""

from __future__ import annotations

import itertools
import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from sayahead.sound.pcm import audible
from sayahead.types import Floats, WordTiming

from sayahead_lab.eval.experiment.clock import Arrival
from sayahead_lab.eval.experiment.trace import (
    Trace,
    TracedChunk,
    TracedFragment,
    TracedWork,
    seconds,
)
from sayahead_lab.eval.peers.fragment import Fragment
from sayahead_lab.eval.peers.peer import Event, PeerError, WorkerPeer

Locate: TypeAlias = Callable[[Floats, int, str], "list[WordTiming] | None"]
"""Where the words of a text are in samples (S,) at a rate; None where that cannot be told."""


def nowhere(samples: Floats, rate: int, text: str) -> list[WordTiming] | None:
    """Cannot tell."""
    return None


def measured(
    peer: WorkerPeer,
    text: str,
    *,
    whole: bool = False,
    processor: bool = False,
    locate: Locate = nowhere,
    index: int = 0,
    name: str = "",
) -> tuple[Trace, Floats]:
    """A started peer's trace and all its samples (S,), as from ``trace.measure``: each piece there
    when it is wanted.

    ``read`` of a chunk are the characters that must have arrived. ``whole``: its one piece is the
    whole text. ``processor``: computing counts by the processor time of its process, which others
    on the machine lengthen less, and not by the wall's. Words that ``locate`` cannot find share the
    sound by letters."""
    pieces = [Fragment(0, len(text), len(text))] if whole else peer.pieces(text)
    if not pieces:
        raise PeerError(f"Peer {peer.name}: there is nothing to say in {text[:60]!r}.")
    chunks = list[TracedChunk]()
    sounds = list[Floats]()
    silent = list[TracedWork]()
    read = 0
    busy_s = 0.0
    begin = 0
    given = 0
    since_s = 0.0

    def now_s(event: Event) -> float:
        return float(event.data["cpu"]) if processor else event.at_s

    peer.open(whole=whole)
    for event in peer.events():
        if event.kind == "wants":
            if given:
                silent.append(TracedWork(read, now_s(event) - since_s))
                busy_s += silent[-1].generation_s
            if given < len(pieces):
                peer.push(sent(text, pieces[given], whole or peer.engine.text in ("token", "word")))
                read = pieces[given].read
            else:
                peer.finish()
                read = len(text)
            given += 1
        elif event.kind == "took":
            since_s = now_s(event)
        elif event.kind in ("audio", "done"):
            spent_s = now_s(event) - since_s
            busy_s = busy_s + spent_s
            since_s = now_s(event)
            if event.samples is None:
                silent.append(TracedWork(read, spent_s))
                continue
            chunks.append(
                chunk_of(event, begin, 0.0, busy_s, spent_s + seconds(silent), read, tuple(silent))
            )
            silent.clear()
            sounds.append(event.samples)
            begin += len(event.samples)
    letters = tuple(TracedFragment(at, at + 1, 0.0) for at in range(len(text)))
    samples = all_of(peer, sounds, text)
    words = located(samples, peer.rate, text, pieces, chunks, locate)
    about: dict[str, Any] = {"name": name, "condition": peer.name, "clock": "measured"}
    return Trace(
        index, text, peer.rate, letters, tuple(chunks), words, closing_s=seconds(silent), **about
    ), samples


def live(
    peer: WorkerPeer,
    arrivals: Sequence[Arrival],
    *,
    locate: Locate = nowhere,
    index: int = 0,
    **about: Any,
) -> tuple[Trace, Floats, float]:
    """A started peer's trace on the wall clock, all its samples (S,), and how late text was pushed
    at most, in s.

    Text is pushed when its time comes, and arrived when it was pushed: a busy machine may wake this
    process some milliseconds late. Zero is such that the first push was in time. ``generation_s``
    of chunks is 0: the processor time of the utterance is its ``closing_s``.
    """
    text = "".join(arrival.text for arrival in arrivals)
    due = schedule(peer, arrivals)
    late = list[float]()
    peer.open()
    begun_s = time.monotonic() + 0.02
    for written, _, at_s in due:
        time.sleep(max(0.0, begun_s + at_s - time.monotonic()))
        late.append(peer.push(written) - begun_s - at_s)
        if len(late) == 1:
            begun_s += late[0]
            late[0] = 0.0
    time.sleep(max(0.0, begun_s + (arrivals[-1].at_s if arrivals else 0.0) - time.monotonic()))
    peer.finish()
    chunks = list[TracedChunk]()
    sounds = list[Floats]()
    begin = 0
    taken = 0
    spent_s = 0.0
    for event in peer.events():
        if event.kind == "took":
            taken = int(event.data["took"])
        elif event.kind == "done":
            spent_s = float(event.data["cpu_s"])
        elif event.samples is not None:
            ready_s = event.at_s - begun_s
            # A service takes text as it comes: what had been pushed is all that is known.
            last = min(taken, bisect_right([one[2] for one in due], ready_s)) - 1
            _, read, ideal_s = due[last] if last >= 0 else ("", 0, 0.0)
            ideal_s += late[last] if last >= 0 else 0.0
            chunks.append(chunk_of(event, begin, ideal_s, ready_s, 0.0, read))
            sounds.append(event.samples)
            begin += len(event.samples)
    samples = all_of(peer, sounds, text)
    words = located(samples, peer.rate, text, peer.pieces(text), chunks, locate)
    traced = list[TracedFragment]()
    end = 0
    late_by_time = {one[2]: own for one, own in zip(due, late, strict=True)}
    for arrival in arrivals:
        end += len(arrival.text)
        at_s = max(
            arrival.at_s + late_by_time.get(arrival.at_s, 0.0), traced[-1].at_s if traced else 0.0
        )
        traced.append(TracedFragment(end - len(arrival.text), end, at_s))
    about = {"condition": peer.name, "closing_s": spent_s, **about}
    trace = Trace(index, text, peer.rate, tuple(traced), tuple(chunks), words, **about)
    return trace, samples, max(late, default=0.0)


def cancelled_s(peer: WorkerPeer, text: str) -> float:
    """How long a started peer computes on, in seconds, after it has been told at its first sound to
    be silent."""
    peer.open()
    for piece in peer.pieces(text):
        peer.push(sent(text, piece, peer.engine.text in ("token", "word")))
    peer.finish()
    told_s = 0.0
    for event in peer.events():
        if event.kind == "audio" and not told_s:
            peer.cancel()
            told_s = time.monotonic()
    return max(0.0, event.at_s - told_s) if told_s else 0.0


def schedule(peer: WorkerPeer, arrivals: Sequence[Arrival]) -> list[tuple[str, int, float]]:
    """What is pushed, the characters read by then, and when: the arrivals, or the peer's pieces
    once they are known."""
    text = "".join(arrival.text for arrival in arrivals)
    ends = list(itertools.accumulate(len(arrival.text) for arrival in arrivals))
    if peer.engine.text == "token":
        return [(one.text, end, one.at_s) for one, end in zip(arrivals, ends, strict=True)]
    return [
        (
            sent(text, piece, peer.engine.text == "word"),
            piece.read,
            arrivals[bisect_left(ends, piece.read)].at_s,
        )
        for piece in peer.pieces(text)
    ]


def sent(text: str, piece: Fragment, as_it_is: bool) -> str:
    """A piece as it is written to an engine; white space is made single where it gets pieces one at
    a time."""
    written = text[piece.start : piece.end]
    return written if as_it_is else " ".join(written.split())


def chunk_of(
    event: Event,
    begin: int,
    ideal_s: float,
    ready_s: float,
    generation_s: float,
    read: int,
    before: tuple[TracedWork, ...] = (),
) -> TracedChunk:
    """A packet of sound as traces have it."""
    assert event.samples is not None
    loud = audible(event.samples)
    first_loud = int(loud[0]) if len(loud) else None
    return TracedChunk(
        begin, len(event.samples), ideal_s, ready_s, generation_s, read, first_loud, before
    )


def all_of(peer: WorkerPeer, sounds: Sequence[Floats], text: str) -> Floats:
    """All samples (S,); PeerError where there are none."""
    if not sounds:
        raise PeerError(f"Peer {peer.name} gave no sound for {text[:60]!r}.")
    return np.concatenate(sounds)


def located(
    samples: Floats,
    rate: int,
    text: str,
    pieces: Sequence[Fragment],
    chunks: Sequence[TracedChunk],
    locate: Locate,
) -> tuple[WordTiming, ...]:
    """The words where they are in the sound; where that cannot be told, a piece's words share its
    sound by letters."""
    found = locate(samples, rate, text)
    if found is not None:
        return tuple(found)
    by_piece = len(pieces) == len({chunk.read for chunk in chunks})
    units = pieces if by_piece else [Fragment(0, len(text), len(text))]
    words = list[WordTiming]()
    for piece in units:
        own = [chunk for chunk in chunks if not by_piece or chunk.read == piece.read]
        if not own:
            continue
        begin = own[0].start
        end = own[-1].start + own[-1].samples
        loud = audible(samples[begin:end])
        onset, offset = (int(loud[0]), int(loud[-1]) + 1) if len(loud) else (0, end - begin)
        words += spread(text, piece, begin + onset, begin + offset)
    return tuple(words)


def spread(text: str, piece: Fragment, onset: int, offset: int) -> list[WordTiming]:
    """The piece's words over the samples from ``onset`` to ``offset``, each with its share of the
    letters."""
    words = [
        match
        for match in re.finditer(r"\S+", text[piece.start : piece.end])
        if any(map(str.isalnum, match[0]))
    ]
    shares = np.cumsum([0, *(sum(map(str.isalnum, word[0])) for word in words)])
    places = [
        int(place) for place in np.rint(onset + (offset - onset) * shares / max(1, shares[-1]))
    ]
    return [
        WordTiming(word[0], piece.start + word.start(), piece.start + word.end(), begin, end)
        for word, (begin, end) in zip(words, itertools.pairwise(places), strict=True)
    ]
