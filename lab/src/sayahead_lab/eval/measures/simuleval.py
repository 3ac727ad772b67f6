"""SimulEval's latency metrics (version 1.1.4) and YAAL, written from their definitions, for text in
and speech out.

SimulEval has no text-to-speech instance and gives text input no clock. Here the source is the text
on its text clock: its length |X| is the arrival of the last fragment. The target is speech: its
delays D_1..D_n are the chunks' times, its length |Y| is the number of words of the text, which is
what SimulEval counts with its default unit when it scores a log in which the text stands as the
reference. Delays are *ideal* times (the arrival of the text that allowed a chunk) or *elapsed* ones
(with the computing): SimulEval's metrics and its computation-aware ones (``_CA``).

Milliseconds everywhere, as in its log. All metrics are nan where there is no sound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sayahead_lab.eval.experiment.trace import Trace

Times = NDArray[np.float64]

TOKEN_MS = 300.0
# Pieces shorter than this are rounding: in tokens, and in milliseconds.
ROUNDING = 1e-6


def intervals(
    ready: Sequence[float] | Times, durations: Sequence[float] | Times
) -> tuple[Times, Times]:
    """Start and end of each chunk's playback (C,): S_j = max(E_{j-1}, R_j), E_j = S_j + d_j, and
    S_1 = R_1.

    In the arguments' unit: ``ready`` R, ``durations`` d. SimulEval calls them intervals, with R the
    delays."""
    starts = list[float]()
    ends = list[float]()
    end = -math.inf
    for ready_at, duration in zip(ready, durations, strict=True):
        start = max(end, ready_at)
        end = start + duration
        starts.append(start)
        ends.append(end)
    return np.array(starts, np.float64), np.array(ends, np.float64)


def average_lagging(delays: Sequence[float], source: float, target: float) -> float:
    """AL in ms: how far the output lags behind one that spreads |Y| evenly over |X|, up to the end
    of the source.

    AL = (1 / tau) sum_{i <= tau} [D_i - (i - 1) |X| / |Y|]; tau is the first i with D_i >= |X|, or
    n where there is none. It is D_1 where D_1 > |X|. With D ``delays``, |X| ``source``, |Y|
    ``target``. nan where |Y| is 0.

    From SimulEval 1.1.4, AL; Ma et al. 2019, STACL.
    """
    if not len(delays) or not target:
        return math.nan
    if delays[0] > source:
        return float(delays[0])
    times = np.asarray(delays, np.float64)
    whole = np.flatnonzero(times >= source)
    tau = int(whole[0]) + 1 if len(whole) else len(times)
    return float(np.mean(times[:tau] - np.arange(tau) * source / target))


def length_adaptive_average_lagging(delays: Sequence[float], source: float, target: float) -> float:
    """LAAL in ms: AL with max(n, |Y|) for |Y|, so that more output than expected earns nothing.

    From SimulEval 1.1.4, LAAL; Papi et al. 2022.
    """
    return average_lagging(delays, source, max(len(delays), target))


def yet_another_average_lagging(delays: Sequence[float], source: float, target: float) -> float:
    """YAAL in ms: LAAL over the output that comes while the source still runs, and over nothing
    else.

    YAAL = (1 / tau) sum_{i <= tau} [D_i - (i - 1) |X| / max(n, |Y|)]; tau counts the D_i before the
    first one that is not before |X|, so a rest spoken in one go at the end does not count. nan
    where nothing comes before the end.

    From OmniSTEval 0.1.10, YAAL of single segments; Polak et al. 2025, Better Late Than Never.
    """
    times = np.asarray(delays, np.float64)
    late = np.flatnonzero(times >= source)
    tau = int(late[0]) if len(late) else len(times)
    if not tau:
        return math.nan
    return float(np.mean(times[:tau] - np.arange(tau) * source / max(len(times), target)))


def average_proportion(delays: Sequence[float], source: float, target: float) -> float:
    """AP: sum D_i / (|X| |Y|), a share of the source; nan where |X| or |Y| is 0.

    1 where everything waits for the end and n = |Y|. It passes 1 where n > |Y| or where the delays
    pass the source's end (elapsed times). From SimulEval 1.1.4, AP; Cho and Esipova 2016."""
    if not len(delays) or not source * target:
        return math.nan
    return math.fsum(delays) / (source * target)


def differentiable_average_lagging(delays: Sequence[float], source: float) -> float:
    """DAL in ms: lagging over all the output, in which a delay once lost stays lost.

    g'_1 = D_1, g'_i = max(D_i, g'_{i-1} + |X| / n); DAL = (1 / n) sum [g'_i - (i - 1) |X| / n].
    SimulEval puts n, the number of delays, where others put |Y|. From SimulEval 1.1.4, DAL;
    Arivazhagan et al. 2019."""
    if not len(delays):
        return math.nan
    step = source / len(delays)
    # Seen from the diagonal, g' never falls: g'_i - (i - 1) step is the running maximum of D_i - (i
    # - 1) step.
    lag = np.asarray(delays, np.float64) - step * np.arange(len(delays))
    return float(np.maximum.accumulate(lag).mean())


def average_token_delay(
    delays: Sequence[float], durations: Sequence[float], *, ready: Sequence[float] | None = None
) -> float:
    """ATD in ms: mean over output tokens of (end of token t - end of its source token).

    Both sides are cut into pseudo-words of 300 ms, restarting at every distinct delay: the source
    between one delay and the next is input chunk c, the sound of all chunks with that delay output
    chunk c; a rest is a token. Delays never fall. Token t of output chunk c belongs to source token
    a(t) = min(s, X_c), s = t - max(0, Y_{c-1} - X_{c-1}), with X_c and Y_c the tokens up to the end
    of chunk c on each side. The output token ends on the playback clock, on which sound waits for
    the sound before it; a(t) ends on the source's.

    ``ready`` gives the times at which the chunks were ready where they are not the delays (elapsed
    times): then the token ends are those of the measured playback and the source tokens stay.
    SimulEval's computation-aware ATD is different: it makes every token longer by a share of its
    chunk's computing.

    From SimulEval 1.1.4, ATD from speech to speech; Kano et al. 2023, Average Token Delay.
    """
    _, ends = intervals(delays if ready is None else ready, durations)
    times = np.asarray(delays, np.float64)
    played = np.cumsum(np.asarray(durations, np.float64))
    lags = list[float]()
    source_ends = [0.0]
    count = 0
    read_to = 0.0
    sound_to = 0.0
    for delay in np.unique(times).tolist():
        ahead = max(0, count - (len(source_ends) - 1))
        source_ends += tokens(read_to, delay)
        last = int(np.searchsorted(times, delay, side="right")) - 1
        for place in tokens(sound_to, float(played[last])):
            count += 1
            token = min(count - ahead, len(source_ends) - 1)
            chunk = min(int(np.searchsorted(played, place - ROUNDING)), last)
            lags.append(float(ends[chunk] - (played[chunk] - place)) - source_ends[token])
        read_to = delay
        sound_to = float(played[last])
    return math.fsum(lags) / len(lags) if lags else math.nan


def tokens(start: float, end: float) -> list[float]:
    """Ends of the 300 ms pseudo-words between two times; the last is the end itself, however short
    the last one."""
    number = math.ceil((end - start) / TOKEN_MS - ROUNDING)
    return [start + TOKEN_MS * i for i in range(1, number)] + [end] * (number > 0)


def lagging(
    delays: Sequence[float], source: float, target: float, *, suffix: str = ""
) -> dict[str, float]:
    """``AL_ms``, ``LAAL_ms``, ``AP`` and ``DAL_ms`` of the delays, each with the suffix after the
    metric's name."""
    return {
        f"AL{suffix}_ms": average_lagging(delays, source, target),
        f"LAAL{suffix}_ms": length_adaptive_average_lagging(delays, source, target),
        f"AP{suffix}": average_proportion(delays, source, target),
        f"DAL{suffix}_ms": differentiable_average_lagging(delays, source),
    }


def simuleval(
    trace: Trace, *, ideal: bool = True, onsets: Sequence[float] = ()
) -> dict[str, float]:
    """All of SimulEval's metrics for one trace, on ideal or elapsed delays; nan where there is no
    sound.

    ``AL_ms``, ``LAAL_ms``, ``AP``, ``DAL_ms``, ``ATD_ms`` as above; ``StartOffset_ms`` = D_1;
    ``EndOffset_ms`` = E_n -
    |X|, how long after the text's end the sound ends; ``RTF_simuleval`` = E_n / |X|, which SimulEval names RTF though
    it does not measure computing (nan where |X| is 0). |X| is the arrival of the last fragment, |Y|
    the words between white space.

    Delays are chunks', |Y| counts words: a policy that speaks everything as one chunk has one
    delay, and an AP of 1 /
    |Y|. Policies whose chunks differ are compared by ``AL_BOW_ms``, ``LAAL_BOW_ms``, ``AP_BOW`` and ``DAL_BOW_ms``:
    delays are ``onsets``, when each word begins to be heard in milliseconds, |Y| is their number.
    SimulEval does so under the name SpeechAlign_BOW, with an aligner's word times."""  # noqa: E501
    delays = [1000 * chunk.ideal_s for chunk in trace.chunks]
    ready = delays if ideal else [1000 * chunk.ready_s for chunk in trace.chunks]
    durations = [1000 * chunk.samples / trace.sample_rate for chunk in trace.chunks]
    source = 1000 * trace.fragments[-1].at_s if trace.fragments else 0.0
    _, ends = intervals(ready, durations)
    end = float(ends[-1]) if len(ends) else math.nan
    return {
        **lagging(ready, source, len(trace.source.split())),
        "ATD_ms": average_token_delay(delays, durations, ready=ready),
        "StartOffset_ms": ready[0] if ready else math.nan,
        "EndOffset_ms": end - source,
        "RTF_simuleval": end / source if source else math.nan,
        **lagging(onsets, source, len(onsets), suffix="_BOW"),
    }
