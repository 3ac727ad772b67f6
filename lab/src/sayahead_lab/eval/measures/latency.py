"""Latency and continuity of a trace: one function per metric, and summaries over many traces.

Most metrics exist on two clocks. *Elapsed*, the default: chunk j is ready (R_j) when it has been
computed. *Ideal*: when the text it needs has arrived, so that only waiting for text remains.
Seconds unless the name says otherwise; time 0 is the start of the text clock, and a figure means
nothing without that clock. The papers' short names: Ma (Ma et al. 2020), Mohan (Mohan et al. 2020),
Saeki-b (Saeki et al. 2021, distilled context prediction)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from sayahead.types import WordTiming

from sayahead_lab.eval.experiment.trace import Trace
from sayahead_lab.eval.measures.intervals import estimate, quotient
from sayahead_lab.eval.measures.simuleval import Times, intervals, simuleval
from sayahead_lab.eval.measures.statistics import quantile, regress

O1_METRICS = tuple(
    f"{clock}_{name}"
    for clock in ("elapsed", "ideal")
    for name in ("first_audible_s", "word_lag_max_s", "chunk_delay_s")
)
POSITIONS = ("first", "second", "third", "last_but_one", "last")
# A nanosecond: anything less is rounding.
ROUNDING_S = 1e-9


def playback(trace: Trace, *, ideal: bool = False) -> tuple[Times, Times]:
    """S_j and E_j (C,), start and end of each chunk's playback: S_j = max(E_{j-1}, R_j), E_j = S_j
    + d_j, S_1 = R_1.

    R_j is ``ready_s``, or ``ideal_s`` on the ideal clock; d_j the chunk's samples over the sample
    rate."""
    return intervals(
        [chunk.ideal_s if ideal else chunk.ready_s for chunk in trace.chunks],
        [chunk.samples / trace.sample_rate for chunk in trace.chunks],
    )


def heard_s(
    trace: Trace, samples: Sequence[int], *, end: bool = False, ideal: bool = False
) -> Times:
    """When samples (N,), counted from the first of the utterance, are heard on the playback clock.

    With ``end``, a number is the end (exclusive) of a stretch: it is heard when the sample before
    it is over. nan without chunks.
    """
    if not trace.chunks:
        return np.full(len(samples), math.nan)
    starts, _ = playback(trace, ideal=ideal)
    chunks = chunk_of(trace, samples, end=end)
    firsts = np.array([chunk.start for chunk in trace.chunks])
    times: Times = (
        starts[chunks] + (np.asarray(samples, np.int64) - firsts[chunks]) / trace.sample_rate
    )
    return times


def chunk_of(trace: Trace, samples: Sequence[int], *, end: bool = False) -> list[int]:
    """The chunk that holds each sample (N,), or with ``end`` the sample before it."""
    ends = [chunk.start + chunk.samples for chunk in trace.chunks]
    chunks = np.searchsorted(ends, np.asarray(samples, np.int64), side="left" if end else "right")
    return [int(at) for at in np.minimum(chunks, len(ends) - 1)]


def audible_words(trace: Trace) -> list[WordTiming]:
    """The N words with a sound, in order: a full stop that only closes a sentence has none."""
    return [word for word in trace.words if word.offset_samples > word.onset_samples]


def first_audible_s(trace: Trace, *, ideal: bool = False) -> float:
    """When the first sample above -50 dBFS leaves the engine: R_j of the first chunk with such a
    sample; nan if none.

    FPL-A on a clock with all text at time 0, FPL-L on a language model's (SyncSpeech): the clock
    decides."""
    return next(
        (c.ideal_s if ideal else c.ready_s for c in trace.chunks if c.audible is not None), math.nan
    )


def first_heard_s(trace: Trace, *, ideal: bool = False) -> float:
    """When the first sample above -50 dBFS is heard on the playback clock, silence before it
    included; nan if none."""
    audible = next(
        (chunk.start + chunk.audible for chunk in trace.chunks if chunk.audible is not None), None
    )
    return math.nan if audible is None else float(heard_s(trace, [audible], ideal=ideal)[0])


def safe_start_s(trace: Trace, *, ideal: bool = False) -> float:
    """The earliest time at which playback can start and never stall: max_j (R_j - sum_{i < j} d_i);
    nan without sound.

    What is heard first at once, and then starved, gains nothing here.
    """
    played_s = np.cumsum([0.0, *durations_s(trace)])[:-1]
    ready_s = np.array([chunk.ideal_s if ideal else chunk.ready_s for chunk in trace.chunks])
    return float((ready_s - played_s).max()) if len(ready_s) else math.nan


def text_wait_s(paced: Trace, at_once: Trace, *, ideal: bool = False) -> float:
    """FPL-L - FPL-A: the part of the time to the first audible sample spent waiting for text.

    ``paced`` and ``at_once`` are one utterance with its text at a pace, and with all of it at time
    0."""
    return first_audible_s(paced, ideal=ideal) - first_audible_s(at_once, ideal=ideal)


def word_arrivals_s(trace: Trace) -> Times:
    """A_i (N,): arrival of the character that completes word i, its delimiter or the end of input;
    nan without text.

    The delimiter is the character after the word's span; words spoken for one stretch of text share
    it."""
    words = audible_words(trace)
    if not trace.fragments:
        return np.full(len(words), math.nan)
    ends, arrivals = np.array(
        [(fragment.end, fragment.at_s) for fragment in trace.fragments], np.float64
    ).T
    fragments = np.searchsorted(
        ends, np.array([word.end for word in words], np.float64), side="right"
    )
    arrivals_s: Times = arrivals[np.minimum(fragments, len(arrivals) - 1)]
    return arrivals_s


def word_lags_s(trace: Trace, *, ideal: bool = False) -> Times:
    """on_i - A_i (N,): from the completion of word i in the text to its onset in the sound (an
    ear-voice span)."""
    onsets = heard_s(trace, [word.onset_samples for word in audible_words(trace)], ideal=ideal)
    return onsets - word_arrivals_s(trace)


def chunk_delays_s(trace: Trace, *, ideal: bool = False) -> Times:
    """Lag between the end of each input chunk and the end of its audio.

    Its mean is Ma's average chunk delay. The input chunk of audio chunk j is the words whose sound
    ends in it, its end the A of its last word; the lag is E_j - A. Audio chunks in which no word
    ends have no lag: they hold the beginning of a later word, or a pause. Ma 5.3.2 and Fig. 7,
    where the text clock is a speaker's word ends (shadowing).
    """
    if not trace.chunks:
        return np.zeros(0)
    chunks = chunk_of(trace, [word.offset_samples for word in audible_words(trace)], end=True)
    # Of the words that end in one chunk the last counts.
    last = dict(zip(chunks, word_arrivals_s(trace), strict=True))
    _, ends = playback(trace, ideal=ideal)
    return np.array([ends[chunk] - arrival for chunk, arrival in last.items()], np.float64)


def time_balance_s(trace: Trace) -> Times:
    """(C - 1,) for chunks j = 2..C: sum_{i < j} d_i - sum_{2 <= i <= j} g_i, with g_i chunk i's
    generation time.

    Playing time left of the earlier chunks once chunk j is generated, not counting the first one's
    generation. With all text there and only generation to wait for, playback never stops if and
    only if no balance is below 0. Ma 5.3.1, Fig. 6.
    """
    durations = durations_s(trace)
    generation = generation_s(trace)
    return np.cumsum(durations)[:-1] - np.cumsum(generation[1:])


def durations_s(trace: Trace) -> Times:
    """d_j (C,): playing time of each chunk."""
    return np.array([chunk.samples / trace.sample_rate for chunk in trace.chunks], np.float64)


def generation_s(trace: Trace) -> Times:
    """g_j (C,): computing time of each chunk, all of it since the chunk before."""
    return np.array([chunk.generation_s for chunk in trace.chunks], np.float64)


def positions_s(trace: Trace) -> Times:
    """(5, 2): generation time and audio time of the first three and the last two chunks, as in Ma
    Fig. 8.

    Ma takes sentences of more than four chunks: nan under five. Cores (Ma Fig. 9) are set by the
    condition."""
    if len(trace.chunks) < 5:
        return np.full((5, 2), math.nan)
    return np.stack([generation_s(trace), durations_s(trace)], axis=1)[[0, 1, 2, -2, -1]]


def stalls_s(trace: Trace, *, ideal: bool = False) -> Times:
    """(C - 1,) for chunks j = 2..C: max(0, R_j - E_{j-1}), the silence before chunk j because it
    was not ready.

    On the ideal clock these are waits for text alone. SimulEval 1.1.4, Discontinuity: the number of
    those above 0, their sum and their mean.
    """
    starts, ends = playback(trace, ideal=ideal)
    gaps = starts[1:] - ends[:-1]
    return np.where(gaps > ROUNDING_S, gaps, 0.0)


def cumulative_processing_s(trace: Trace) -> Times:
    """(C,) computing time up to the end of each step; a step is a chunk. Saeki-b Fig. 4."""
    return np.cumsum(generation_s(trace))


def computing_s(trace: Trace) -> float:
    """All computing time of an utterance, including that after its last chunk."""
    return float(generation_s(trace).sum()) + trace.closing_s


def words_per_min(trace: Trace) -> float:
    """Words synthesised per minute of computing; nan where nothing was computed.

    Saeki-b, below Fig. 4: the teacher reaches 80, the student 800; 100 to 120 suit interpreting,
    180 is reading aloud."""
    spent_s = computing_s(trace)
    return 60 * len(audible_words(trace)) / spent_s if spent_s else math.nan


def real_time_factor(trace: Trace) -> float:
    """RTF: computing time over audio time; nan without sound. SimulEval's RTF is a different
    metric."""
    return computing_s(trace) / trace.duration_s if trace.duration_s else math.nan


def policy_area(trace: Trace, *, words: bool = False) -> float:
    """d_T, the average proportion: share of the area under the READ/SPEAK path, from 0 to 1; nan
    without sound.

    d_T = sum_j (r_j / R) d_j / sum_j d_j: r_j of the text's R characters had been read when chunk j
    was spoken; with ``words``, of its words those whose completing character had. 1: all is read
    first. Mohan 4.3.2, where SPEAK is a frame and READ a character; no time enters.
    """
    ends = np.array([word.end for word in audible_words(trace)], np.int64)
    whole = len(ends) if words else len(trace.source)
    if not whole or not trace.duration_s:
        return math.nan
    area = 0
    for chunk in trace.chunks:
        read = min(chunk.read, whole)
        if words:
            read = int((ends < chunk.read).sum()) if chunk.read < len(trace.source) else whole
        area += read * chunk.samples
    return area / (whole * sum(chunk.samples for chunk in trace.chunks))


def path_area(read: Sequence[int], characters: int) -> float:
    """d_T of a path of single frames: mean over its SPEAKs of the share of the characters read then
    (T,); Mohan 4.3.2.

    1: all is read first; near 0: all is spoken on the first character. nan without SPEAKs.
    """
    if not len(read):
        return math.nan
    return float(np.minimum(read, characters).mean()) / characters


def latency(trace: Trace) -> dict[str, float]:
    """All scalar metrics of a trace by name; what is undefined in it is nan (see each function).

    Names that begin with ``elapsed_`` or ``ideal_`` say the clock; others do not depend on it.
    Units: ``_s`` seconds, ``_ms`` milliseconds, others are numbers or shares. The slope is in
    seconds a word."""
    balance = time_balance_s(trace)
    ratios = positions_s(trace)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_position = ratios[:, 0] / ratios[:, 1]
    return {
        "words": float(len(audible_words(trace))),
        "chunks": float(len(trace.chunks)),
        "audio_s": trace.duration_s,
        "computing_s": computing_s(trace),
        "rtf": real_time_factor(trace),
        "words_per_min": words_per_min(trace),
        "time_balance_least_s": float(balance.min()) if len(balance) else math.nan,
        "d_T": policy_area(trace),
        "d_T_words": policy_area(trace, words=True),
        **{f"generation_per_audio_{at}": float(by_position[i]) for i, at in enumerate(POSITIONS)},
        **{f"elapsed_{name}": value for name, value in on_clock(trace, ideal=False).items()},
        **{f"ideal_{name}": value for name, value in on_clock(trace, ideal=True).items()},
    }


def on_clock(trace: Trace, *, ideal: bool) -> dict[str, float]:
    """The scalar metrics that depend on the clock."""
    lags = [float(lag) for lag in word_lags_s(trace, ideal=ideal)]
    onsets = heard_s(trace, [word.onset_samples for word in audible_words(trace)], ideal=ideal)
    delays = chunk_delays_s(trace, ideal=ideal)
    stalls = stalls_s(trace, ideal=ideal)
    number = int((stalls > 0).sum())
    return {
        "first_audible_s": first_audible_s(trace, ideal=ideal),
        "first_heard_s": first_heard_s(trace, ideal=ideal),
        "word_lag_mean_s": math.fsum(lags) / len(lags) if lags else math.nan,
        "word_lag_p95_s": quantile(lags, 0.95),
        "word_lag_max_s": max(lags, default=math.nan),
        "word_lag_slope_s": regress(range(len(lags)), lags)[0],
        "chunk_delay_s": float(delays.mean()) if len(delays) else math.nan,
        "stalls": float(number),
        "stall_sum_s": float(stalls.sum()),
        "stall_mean_s": float(stalls.sum()) / number if number else 0.0,
        **simuleval(trace, ideal=ideal, onsets=[1000 * float(at) for at in onsets]),
    }


def constant(rows: Iterable[Mapping[str, float]], metric: str) -> dict[str, float]:
    """The O(1) test: regression of a metric on the number of words, over one ``latency`` result per
    sentence.

    ``slope`` per word with its 95 % interval, ``low`` to ``high`` (Student's t); ``holds_0`` is 1
    where the interval holds 0, as it must for an O(1) latency, else 0; ``n`` sentences. Those in
    which the metric is undefined are left out. Slope and ``holds_0`` are nan where no regression is
    possible: under three sentences, or all of one length. Ma 5.3 (Fig. 5 and 7: latency over
    sentence length), as a test."""
    points = [(row["words"], row[metric]) for row in rows if math.isfinite(row[metric])]
    slope, low, high = regress([words for words, _ in points], [value for _, value in points])
    # Rounding must not give a constant a slope.
    holds = math.nan if math.isnan(low) else float(low <= 1e-12 and high >= -1e-12)
    return {"slope": slope, "low": low, "high": high, "holds_0": holds, "n": float(len(points))}


def by_position(traces: Iterable[Trace]) -> dict[str, dict[str, float]]:
    """Mean generation and audio time of the first three and last two chunks, over traces of more
    than four (Ma Fig. 8).

    ``ratio`` is that of the two means; ``n`` traces. nan where no trace is long enough.
    """
    tables = [positions_s(trace) for trace in traces if len(trace.chunks) > 4]
    means = np.mean(tables, axis=0) if tables else np.full((5, 2), math.nan)
    return {
        position: {
            "generation_s": float(generated),
            "audio_s": float(played),
            "ratio": float(generated / played) if played else math.nan,
            "n": float(len(tables)),
        }
        for position, (generated, played) in zip(POSITIONS, means, strict=True)
    }


def summarize(traces: Iterable[Trace], *, seed: int = 0) -> dict[str, dict[str, float]]:
    """Summary of ``latency`` over many traces, by metric, and the tests over the set; nan where
    nothing is defined.

    For each metric: ``mean``, ``min``, ``p50``, ``p95``, ``p99``, the 95 % interval of the mean
    ``low`` to ``high`` (bootstrap over utterances, seeded), and ``n``, the utterances in which it
    is defined; nothing without traces. And ``O1_elapsed_first_audible_s``,
    ``O1_elapsed_word_lag_max_s``, ``O1_elapsed_chunk_delay_s`` and all with ``ideal`` (see
    ``constant``), and ``position_first`` to ``position_last`` (see ``by_position``)."""
    measured = list(traces)
    if not measured:
        return {}
    rows = [latency(trace) for trace in measured]
    out: dict[str, dict[str, float]] = {}
    for name in rows[0]:
        values = [row[name] for row in rows if math.isfinite(row[name])]
        mean = estimate(
            np.array([(value, 1.0) for value in values]).reshape(-1, 2), quotient, seed=seed
        )
        out[name] = {
            "mean": mean.value,
            "min": min(values, default=math.nan),
            **{f"p{share}": quantile(values, share / 100) for share in (50, 95, 99)},
            "low": mean.low,
            "high": mean.high,
            "n": float(len(values)),
        }
    out |= {f"O1_{name}": constant(rows, name) for name in O1_METRICS}
    return out | {f"position_{position}": row for position, row in by_position(measured).items()}
