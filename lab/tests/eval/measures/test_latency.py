"""Latency metrics: traces made by hand, with answers worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sayahead.research import LookaheadK, WaitAll
from sayahead.types import WordTiming
from support.toy import toy_session

from sayahead_lab.eval.experiment.clock import AllAtOnce, ReadingClock, WordEnds
from sayahead_lab.eval.experiment.trace import Trace, TracedChunk, TracedFragment, timed_trace
from sayahead_lab.eval.measures import latency as metrics

RATE = 1000
EMPTY = Trace(0, "", RATE, (), (), ())

# A chunk: samples, ideal_s, ready_s, generation_s, read. A word: start, end, onset, offset. 1000
# samples a second.
Chunk = tuple[int, float, float, float, int]


def make(
    source: str,
    arrivals: Sequence[tuple[int, float]],
    chunks: Sequence[Chunk],
    words: Sequence[tuple[int, int, int, int]],
    audible: Sequence[int | None] = (),
) -> Trace:
    """A trace; ``arrivals`` are the fragments' ends and times."""
    edges = [0, *(end for end, _ in arrivals)]
    starts = np.cumsum([0, *(chunk[0] for chunk in chunks)])
    loud = [*audible, *[0] * (len(chunks) - len(audible))]
    return Trace(
        index=0,
        source=source,
        sample_rate=RATE,
        fragments=tuple(
            TracedFragment(start, end, at)
            for start, (end, at) in zip(edges, arrivals, strict=False)
        ),
        chunks=tuple(
            TracedChunk(int(at), *chunk, first)
            for at, chunk, first in zip(starts, chunks, loud, strict=False)
        ),
        words=tuple(WordTiming(source[a:b], a, b, onset, offset) for a, b, onset, offset in words),
    )


def chunked(durations: Sequence[int], generation: Sequence[float]) -> Trace:
    """Chunks of a text that is all there at 0, each computed when the one before is."""
    ready = np.cumsum(generation)
    rows = [
        (d, 0.0, float(r), float(g), 2)
        for d, r, g in zip(durations, ready, generation, strict=True)
    ]
    return make("ab", [(2, 0.0)], rows, [(0, 2, 0, sum(durations))])


# "one two three": a word a second. The second chunk is ready 0.3 s after the first one's sound is
# over.
STALLED = make(
    "one two three",
    [(4, 1.0), (8, 2.0), (13, 3.0)],
    [(500, 1.0, 1.25, 0.25, 4), (700, 2.0, 2.05, 0.05, 8), (800, 3.0, 3.15, 0.15, 13)],
    [(0, 3, 50, 450), (4, 7, 500, 1100), (8, 13, 1200, 1950)],
    audible=(None, 20, 0),
)
# The same without a stall: the second chunk comes while the first one plays.
FLUENT = replace(
    STALLED,
    chunks=(
        replace(STALLED.chunks[0], samples=1500, audible=40),
        replace(STALLED.chunks[1], start=1500, ready_s=2.25),
        replace(STALLED.chunks[2], start=2200),
    ),
)


def test_sound_waits_for_the_sound_before_it_and_for_its_chunk() -> None:
    starts, ends = metrics.playback(STALLED)
    assert starts == pytest.approx([1.25, 2.05, 3.15])
    assert ends == pytest.approx([1.75, 2.75, 3.95])
    starts, ends = metrics.playback(STALLED, ideal=True)
    assert starts == pytest.approx([1, 2, 3])
    assert ends == pytest.approx([1.5, 2.7, 3.8])
    starts, ends = metrics.playback(FLUENT)
    assert starts == pytest.approx([1.25, 2.75, 3.45])
    assert ends == pytest.approx([2.75, 3.45, 4.25])
    # A sample at a border begins the next chunk; an end at a border belongs to the chunk before.
    assert metrics.heard_s(STALLED, [0, 499, 500, 1999]) == pytest.approx(
        [1.25, 1.749, 2.05, 3.949]
    )
    assert metrics.heard_s(STALLED, [500, 1200], end=True) == pytest.approx([1.75, 2.75])


def test_stalls_are_found() -> None:
    assert metrics.stalls_s(STALLED) == pytest.approx([0.3, 0.4])
    assert metrics.stalls_s(STALLED, ideal=True) == pytest.approx([0.5, 0.3])
    assert metrics.stalls_s(FLUENT) == pytest.approx([0, 0])
    found = metrics.latency(STALLED)
    assert (found["elapsed_stalls"], found["elapsed_stall_sum_s"]) == pytest.approx((2, 0.7))
    assert found["elapsed_stall_mean_s"] == pytest.approx(0.35)
    assert metrics.latency(FLUENT)["elapsed_stall_mean_s"] == 0


def test_the_first_audible_sample_is_not_the_first_sample() -> None:
    assert metrics.first_audible_s(STALLED) == 2.05
    assert metrics.first_audible_s(STALLED, ideal=True) == 2
    assert metrics.first_heard_s(STALLED) == pytest.approx(2.07)
    assert metrics.first_heard_s(FLUENT) == pytest.approx(1.29)
    silent = replace(
        STALLED, chunks=tuple(replace(chunk, audible=None) for chunk in STALLED.chunks)
    )
    assert math.isnan(metrics.first_audible_s(silent))
    assert math.isnan(metrics.first_heard_s(silent))


def test_where_text_is_the_bottleneck_the_lag_is_computing_and_the_wait_is_text() -> None:
    # The delimiter of the last word is the end of input, those of the others the spaces.
    assert metrics.word_arrivals_s(STALLED) == pytest.approx([1, 2, 3])
    assert metrics.word_lags_s(STALLED) == pytest.approx([0.3, 0.05, 0.15])
    assert metrics.word_lags_s(STALLED, ideal=True) == pytest.approx([0.05, 0, 0])
    found = metrics.latency(STALLED)
    assert found["elapsed_word_lag_mean_s"] == pytest.approx(0.5 / 3)
    assert found["elapsed_word_lag_p95_s"] == pytest.approx(0.15 + 0.9 * 0.15)
    assert found["elapsed_word_lag_max_s"] == pytest.approx(0.3)
    assert found["elapsed_word_lag_slope_s"] == pytest.approx(-0.075)
    given = replace(
        STALLED,
        chunks=tuple(
            replace(c, ideal_s=0.0, ready_s=c.ready_s - c.ideal_s) for c in STALLED.chunks
        ),
    )
    assert metrics.text_wait_s(STALLED, given) == pytest.approx(2)
    assert metrics.text_wait_s(STALLED, given, ideal=True) == pytest.approx(2)


def test_a_word_is_complete_with_the_character_behind_it() -> None:
    # "a" is complete with the fragment that brings the space, "b" with the end of input.
    late = make(
        "a b",
        [(1, 1.0), (2, 5.0), (3, 6.0)],
        [(200, 6.0, 6.5, 0.5, 3)],
        [(0, 1, 0, 90), (2, 3, 100, 200)],
    )
    assert metrics.word_arrivals_s(late) == pytest.approx([5, 6])
    # What closes a sentence without a sound is no word.
    closed = replace(late, words=(*late.words, WordTiming(".", 3, 3, 200, 200)))
    assert metrics.latency(closed) == pytest.approx(metrics.latency(late), nan_ok=True)


def test_average_chunk_delay_counts_from_the_input_chunks_end_to_its_sounds_end() -> None:
    assert metrics.chunk_delays_s(STALLED) == pytest.approx([0.75, 0.75, 0.95])
    # The first chunk holds the first word and half of the second, the second the rest of it, the
    # third a pause.
    held = replace(STALLED, words=(STALLED.words[0], replace(STALLED.words[1], onset_samples=460)))
    assert metrics.chunk_delays_s(held) == pytest.approx([0.75, 0.75])
    # One audio chunk for all words: its input chunk ends with the last of them.
    whole = make(
        "one two",
        [(4, 1.0), (7, 2.0)],
        [(900, 2.0, 2.5, 0.5, 7)],
        [(0, 3, 0, 400), (4, 7, 400, 900)],
    )
    assert metrics.chunk_delays_s(whole) == pytest.approx([1.4])
    assert metrics.latency(whole)["ideal_chunk_delay_s"] == pytest.approx(0.9)


def test_time_balance_is_play_minus_generation_without_the_first() -> None:
    trace = chunked([500, 250, 1000], [2.0, 0.25, 0.75])
    assert metrics.time_balance_s(trace) == pytest.approx([0.5 - 0.25, 0.75 - 1.0])
    assert metrics.stalls_s(trace) == pytest.approx([0, 0.25])
    assert metrics.latency(trace)["time_balance_least_s"] == pytest.approx(-0.25)


EIGHTHS = st.integers(0, 16).map(lambda n: n / 8)


@given(
    st.lists(st.tuples(st.integers(1, 16).map(lambda n: 125 * n), EIGHTHS), min_size=1, max_size=12)
)
def test_with_all_text_there_playback_never_stops_exactly_while_the_time_balance_holds(
    chunks: list[tuple[int, float]],
) -> None:
    trace = chunked([samples for samples, _ in chunks], [generation for _, generation in chunks])
    balance = metrics.time_balance_s(trace)
    stalls = metrics.stalls_s(trace)
    assert bool((balance >= 0).all()) == (not stalls.any())
    # What was lost to stalls is the deepest that the balance went.
    assert stalls.sum() == pytest.approx(max(0.0, -min(balance, default=0.0)))


@given(
    st.lists(st.tuples(st.integers(1, 2000), EIGHTHS, EIGHTHS), min_size=1, max_size=12),
    st.booleans(),
)
def test_sound_never_overlaps_and_all_silence_is_stalls(
    rows: list[tuple[int, float, float]], ideal: bool
) -> None:
    at = np.cumsum([gap for _, gap, _ in rows])
    chunks = [
        (samples, float(a), float(a) + g, g, 1) for (samples, _, g), a in zip(rows, at, strict=True)
    ]
    trace = make("a", [(1, 0.0)], chunks, [])
    starts, ends = metrics.playback(trace, ideal=ideal)
    assert all(start >= chunk.ideal_s for start, chunk in zip(starts, trace.chunks, strict=True))
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))
    assert ends[-1] - starts[0] == pytest.approx(
        trace.duration_s + metrics.stalls_s(trace, ideal=ideal).sum()
    )


def test_generation_and_audio_time_by_position() -> None:
    trace = chunked([1000, 500, 250, 100, 800, 400], [0.5, 0.25, 0.25, 9, 0.2, 0.1])
    table = [[0.5, 1], [0.25, 0.5], [0.25, 0.25], [0.2, 0.8], [0.1, 0.4]]
    assert metrics.positions_s(trace) == pytest.approx(np.array(table))
    found = metrics.latency(trace)
    ratios = [found[f"generation_per_audio_{at}"] for at in metrics.POSITIONS]
    assert ratios == pytest.approx([0.5, 0.5, 1, 0.25, 0.25])
    short = chunked([1000] * 4, [1.0] * 4)
    assert np.isnan(metrics.positions_s(short)).all()
    slower = chunked([1000, 500, 250, 800, 400], [1.5, 0.25, 0.25, 0.2, 0.1])
    by_position = metrics.by_position([trace, short, slower])
    assert by_position["first"] == pytest.approx(
        {"generation_s": 1, "audio_s": 1, "ratio": 1, "n": 2}
    )
    assert math.isnan(metrics.by_position([short])["last"]["ratio"])


def test_processing_words_per_minute_and_real_time_factor() -> None:
    assert metrics.cumulative_processing_s(STALLED) == pytest.approx([0.25, 0.3, 0.45])
    assert metrics.words_per_min(STALLED) == pytest.approx(3 * 60 / 0.45)
    assert metrics.real_time_factor(STALLED) == pytest.approx(0.45 / 2)
    free = replace(
        STALLED, chunks=tuple(replace(chunk, generation_s=0.0) for chunk in STALLED.chunks)
    )
    assert math.isnan(metrics.words_per_min(free))


def test_the_area_under_the_policy_path() -> None:
    area = (4 * 500 + 8 * 700 + 13 * 800) / (13 * 2000)
    assert metrics.policy_area(STALLED) == pytest.approx(area)
    assert metrics.policy_area(STALLED, words=True) == pytest.approx(
        (1 * 500 + 2 * 700 + 3 * 800) / (3 * 2000)
    )
    # Three letters of a word do not complete it, its space does.
    early = replace(STALLED, chunks=(replace(STALLED.chunks[0], read=3), *STALLED.chunks[1:]))
    assert metrics.policy_area(early, words=True) == pytest.approx(
        (0 * 500 + 2 * 700 + 3 * 800) / (3 * 2000)
    )
    first = replace(STALLED, chunks=tuple(replace(chunk, read=13) for chunk in STALLED.chunks))
    assert metrics.policy_area(first) == metrics.policy_area(first, words=True) == 1


@given(st.lists(st.tuples(st.integers(1, 900), st.integers(0, 20)), min_size=1, max_size=9))
def test_the_area_lies_between_nothing_and_all_and_grows_with_reading(
    rows: list[tuple[int, int]],
) -> None:
    def area(extra: int) -> float:
        chunks = [(samples, 0.0, 0.0, 0.0, min(20, read + extra)) for samples, read in rows]
        return metrics.policy_area(make("ab cd " * 3 + "ef", [(20, 0.0)], chunks, []))

    assert 0 <= area(0) <= area(3) <= area(20) == 1


def test_path_area_lies_between_the_figures_extremes() -> None:
    assert metrics.path_area([8] * 20, 8) == 1
    # SPEAK as long as one character is read: the least there is, 1 / N.
    assert metrics.path_area([1] * 20, 8) == pytest.approx(1 / 8)
    # Along the diagonal: half, and half a character more, as each is read before it is spoken.
    assert metrics.path_area([1 + step // 2 for step in range(16)], 8) == pytest.approx(
        0.5 + 0.5 / 8
    )
    assert metrics.path_area([4, 8, 12], 8) == pytest.approx(2.5 / 3)
    assert math.isnan(metrics.path_area([], 8))


def test_everything_at_once_leaves_nothing_but_computing() -> None:
    trace = make(
        "one two",
        [(7, 0.0)],
        [(400, 0, 0.1, 0.1, 7), (500, 0, 0.2, 0.1, 7)],
        [(0, 3, 0, 400), (4, 7, 400, 900)],
    )
    found = metrics.latency(trace)
    assert found["elapsed_first_audible_s"] == 0.1
    assert found["ideal_first_audible_s"] == 0
    assert (found["d_T"], found["d_T_words"]) == (1, 1)
    # The source has no length: what is first is all there is to lag behind, and shares of it are
    # undefined.
    assert (found["ideal_AL_ms"], found["ideal_LAAL_ms"], found["ideal_DAL_ms"]) == (0, 0, 0)
    assert (found["elapsed_AL_ms"], found["elapsed_DAL_ms"]) == pytest.approx((100, 150))
    assert math.isnan(found["ideal_AP"])
    assert math.isnan(found["ideal_RTF_simuleval"])
    # Two tokens of 300 ms and one of 300 ms more, all from a source that was over at 0.
    assert found["ideal_ATD_ms"] == pytest.approx((300 + 600 + 900) / 3)
    assert found["elapsed_ATD_ms"] == pytest.approx(100 + (300 + 600 + 900) / 3)
    assert found["ideal_EndOffset_ms"] == 900


def test_an_empty_trace_and_one_of_one_chunk() -> None:
    nothing = metrics.latency(EMPTY)
    counted = {"words", "chunks", "audio_s", "computing_s"}
    counted |= {
        f"{clock}_{name}"
        for clock in ("elapsed", "ideal")
        for name in ("stalls", "stall_sum_s", "stall_mean_s")
    }
    assert {name for name, value in nothing.items() if not math.isnan(value)} == counted
    assert all(nothing[name] == 0 for name in counted)
    one = metrics.latency(make("one", [(3, 1.0)], [(500, 1.0, 1.5, 0.5, 3)], [(0, 3, 100, 400)]))
    undefined = {name for name, value in one.items() if math.isnan(value)}
    ratios = {f"generation_per_audio_{at}" for at in metrics.POSITIONS}
    assert undefined == ratios | {
        "time_balance_least_s",
        "elapsed_word_lag_slope_s",
        "ideal_word_lag_slope_s",
    }
    assert one["elapsed_word_lag_mean_s"] == pytest.approx(0.6)
    assert one["elapsed_chunk_delay_s"] == pytest.approx(1)
    assert list(nothing) == list(one)
    # Words without sound or text, as a broken log may have them.
    assert np.isnan(metrics.word_lags_s(replace(EMPTY, words=STALLED.words))).all()
    assert not len(metrics.chunk_delays_s(replace(EMPTY, words=STALLED.words)))


@given(st.lists(EIGHTHS, min_size=3, max_size=3), st.booleans())
def test_the_lag_shifts_with_the_arrivals_and_later_words_lag_less(
    delays: list[float], ideal: bool
) -> None:
    before = metrics.word_lags_s(STALLED, ideal=ideal)
    shift = np.cumsum(delays)
    late = tuple(replace(f, at_s=f.at_s + s) for f, s in zip(STALLED.fragments, shift, strict=True))
    # The text later, the sound where it was.
    assert metrics.word_lags_s(replace(STALLED, fragments=late), ideal=ideal) == pytest.approx(
        before - shift
    )
    # Text and sound later alike: nothing changes.
    chunks = tuple(
        replace(c, ideal_s=c.ideal_s + delays[0], ready_s=c.ready_s + delays[0])
        for c in STALLED.chunks
    )
    moved = tuple(replace(f, at_s=f.at_s + delays[0]) for f in STALLED.fragments)
    shifted = replace(STALLED, fragments=moved, chunks=chunks)
    assert metrics.word_lags_s(shifted, ideal=ideal) == pytest.approx(before)
    assert metrics.chunk_delays_s(shifted, ideal=ideal) == pytest.approx(
        metrics.chunk_delays_s(STALLED, ideal=ideal)
    )


def test_traces_of_a_session_give_every_metric() -> None:
    text = "One two three, four five six seven eight nine ten."
    slow, _ = timed_trace(toy_session(LookaheadK(1)), ReadingClock(120).arrivals(text))
    fast, _ = timed_trace(toy_session(LookaheadK(1)), AllAtOnce().arrivals(text))
    whole, _ = timed_trace(toy_session(WaitAll()), ReadingClock(120).arrivals(text))
    words = WordEnds(tuple(0.5 * i for i in range(1, 11)))
    shadowed, _ = timed_trace(toy_session(LookaheadK(1)), words.arrivals(text))
    assert not any(math.isnan(value) for value in metrics.latency(slow).values())
    assert metrics.text_wait_s(slow, fast, ideal=True) == slow.fragments[1].at_s
    assert metrics.policy_area(slow) < 0.8 < metrics.policy_area(whole) == 1
    # A word of lookahead waits for one more word; waiting for all starts when the text is over.
    assert metrics.word_lags_s(shadowed, ideal=True)[:3] == pytest.approx([0.5] * 3, abs=0.1)
    early = metrics.latency(slow)
    late = metrics.latency(whole)
    assert early["ideal_AL_ms"] < late["ideal_AL_ms"] == late["ideal_StartOffset_ms"] == 5000
    assert early["ideal_ATD_ms"] < late["ideal_ATD_ms"]
    assert early["ideal_AP_BOW"] < 1 < late["ideal_AP_BOW"]


def test_word_onsets_as_delays_do_not_depend_on_how_the_sound_is_cut() -> None:
    # Words are heard at 1.3, 2.05 and 3.15 s, the text is over at 3 s.
    found = metrics.latency(STALLED)
    assert found["elapsed_AL_BOW_ms"] == pytest.approx((1300 + 1050 + 1150) / 3)
    assert found["elapsed_LAAL_BOW_ms"] == found["elapsed_AL_BOW_ms"]
    assert found["elapsed_AP_BOW"] == pytest.approx(6500 / 9000)
    assert found["elapsed_DAL_BOW_ms"] == pytest.approx((1300 + 1300 + 1300) / 3)
    first, *rest = STALLED.chunks
    halves = (replace(first, samples=300), replace(first, start=300, samples=200))
    cut = metrics.latency(replace(STALLED, chunks=(*halves, *rest)))
    assert {name: cut[name] for name in cut if "BOW" in name} == pytest.approx(
        {name: found[name] for name in found if "BOW" in name}
    )
    assert cut["elapsed_AP"] > found["elapsed_AP"]


def lengths(slope_s: float, noise_s: float = 0.0) -> list[Trace]:
    """Traces of 5 to 80 words whose first sample comes later by so much a word."""
    draw = np.random.default_rng(0)
    out = []
    for number in (5, 10, 20, 40, 80) * 3:
        text = "ab " * number
        ready = 0.1 + slope_s * number + noise_s * float(draw.normal())
        words = [(3 * i, 3 * i + 2, 100 * i, 100 * i + 90) for i in range(number)]
        out.append(
            make(text, [(len(text), 0.0)], [(100 * number, 0.0, ready, ready, len(text))], words)
        )
    return out


def test_the_constancy_of_a_latency_is_tested_over_sentence_lengths() -> None:
    constant = metrics.summarize(lengths(0, 0.01))
    assert constant["O1_elapsed_first_audible_s"]["holds_0"] == 1
    assert constant["O1_ideal_first_audible_s"] == {
        "slope": 0,
        "low": 0,
        "high": 0,
        "holds_0": 1,
        "n": 15,
    }
    # All text at once: the last word's lag is the sentence's length.
    assert constant["O1_elapsed_word_lag_max_s"]["holds_0"] == 0
    assert constant["O1_elapsed_word_lag_max_s"]["slope"] == pytest.approx(0.1, rel=0.01)
    growing = metrics.summarize(lengths(0.002, 0.01))["O1_elapsed_first_audible_s"]
    assert growing["holds_0"] == 0
    assert growing["low"] < 0.002 < growing["high"]
    same = metrics.summarize([STALLED] * 4)["O1_elapsed_first_audible_s"]
    assert math.isnan(same["slope"])
    assert math.isnan(same["holds_0"])


def test_a_summary_has_the_spread_over_utterances() -> None:
    trace = lengths(0.01)
    summary = metrics.summarize([*trace, EMPTY])
    first = summary["elapsed_first_audible_s"]
    assert first["n"] == 15
    assert first["mean"] == pytest.approx(0.1 + 0.01 * 31)
    assert first["p50"] == pytest.approx(0.3)
    assert first["p99"] <= 0.9
    assert first["low"] < first["mean"] < first["high"]
    assert repr(metrics.summarize([*trace, EMPTY])) == repr(summary)
    assert repr(metrics.summarize(trace, seed=1)["elapsed_first_audible_s"]) != repr(first)
    assert set(metrics.latency(EMPTY)) < set(summary)
    assert metrics.summarize([]) == {}
    assert metrics.summarize([EMPTY])["d_T"]["n"] == 0
