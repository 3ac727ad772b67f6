"""Whether the yardstick measures what is there: an engine whose times are known, and sayahead in a
process and here.

    python lab/benchmarks/field/validate.py

Writes ``lab/benchmarks/results/field/validation.json``: errors in ms of a delay, a stall and a
shift of words, over takes; and how far the first sound of sayahead through protocol 2 is from that
in process, on one clock, text by text."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from sayahead import load_voice
from sayahead.sound.files import write_wav
from sayahead.sound.pcm import audible

from sayahead_lab.eval.experiment.clock import RecordedTokens
from sayahead_lab.eval.experiment.conditions import Condition, session
from sayahead_lab.eval.experiment.folder import save_json
from sayahead_lab.eval.experiment.frozen import frozen
from sayahead_lab.eval.experiment.machine import processor
from sayahead_lab.eval.experiment.trace import Trace, measure, retime
from sayahead_lab.eval.measures.latency import first_heard_s, stalls_s, word_lags_s
from sayahead_lab.eval.peers.catalogue import make_peer
from sayahead_lab.eval.peers.peer import Engine, WorkerPeer
from sayahead_lab.eval.peers.timing import Locate, live, measured
from sayahead_lab.scripts import strided
from sayahead_lab.training.aligner.words import word_times

LAB = Path(__file__).parents[2]
BEEPER = LAB / "tests/lab_support/beeper.py"
RESULT = LAB / "benchmarks/results/field/validation.json"
KNOWN = {"delay_s": 0.12, "stall_s": 0.08, "shift_s": 0.137}
TAKES = 10
TEXTS = 10


def known() -> dict[str, dict[str, float]]:
    """What is measured of the known engine less what is known, in ms."""
    voice = load_voice("heart")
    errors = dict[str, list[float]](delay=[], stall=[], shift=[])
    with tempfile.TemporaryDirectory() as folder:
        for number, line in enumerate(strided(frozen("answers"), TAKES)):
            sound = voice.synthesize(line.text)
            wav = Path(folder) / f"{number}.wav"
            write_wav(wav, sound, voice.sample_rate)
            lead_s = int(audible(sound)[0]) / voice.sample_rate
            plain = word_times(sound, voice.sample_rate, line.text)
            peer = WorkerPeer(
                Engine("known", f"{BEEPER}:exact", "token", {"wav": str(wav), **KNOWN})
            )
            peer.start()
            # The text ends with its last token: from then on the delay counts.
            arrivals = RecordedTokens(100).arrivals(line.text)
            trace, shifted, _ = live(peer, arrivals)
            peer.close()
            moved = word_times(shifted, voice.sample_rate, line.text)
            first_s = first_heard_s(trace) - trace.fragments[-1].at_s - lead_s - KNOWN["shift_s"]
            errors["delay"].append(first_s - KNOWN["delay_s"])
            errors["stall"].append(float(stalls_s(trace).sum()) - KNOWN["stall_s"])
            if plain and moved:
                apart = [
                    (b.onset_samples - a.onset_samples) / voice.sample_rate
                    for a, b in zip(plain, moved, strict=True)
                ]
                errors["shift"].append(float(np.mean(apart)) - KNOWN["shift_s"])
    return {name: in_ms(values) for name, values in errors.items()}


def through_the_process() -> dict[str, dict[str, float]]:
    """sayahead's first sound and word lag through protocol 2 less that in process, in ms."""
    peer = make_peer("sayahead")
    first = list[float]()
    lag = list[float]()
    wall = list[float]()
    peer.start()
    for line in strided(frozen("answers"), TEXTS):
        arrivals = RecordedTokens(50).arrivals(line.text)
        inside: list[Trace] = []
        outside: list[Trace] = []
        for _ in range(3):
            inside.append(
                retime(measure(session(Condition("heart"), line.text), line.text)[0], arrivals)
            )
            outside.append(
                retime(measured(peer, line.text, locate=located(inside[0]))[0], arrivals)
            )
        first.append(median(outside, first_heard_s) - median(inside, first_heard_s))
        lag.append(median(outside, mean_lag) - median(inside, mean_lag))
        wall.append(first_heard_s(live(peer, arrivals)[0]) - median(outside, first_heard_s))
    peer.close()
    return {
        "first sound": in_ms(first),
        "word lag": in_ms(lag),
        "wall clock over arithmetic": in_ms(wall),
    }


def located(trace: Trace) -> Locate:
    """The words of a trace: the same sound has the same words."""
    return lambda samples, rate, text: list(trace.words)


def mean_lag(trace: Trace) -> float:
    """Mean word lag."""
    return float(np.mean(word_lags_s(trace)))


def median(traces: Sequence[Trace], measure_of: Callable[[Trace], float]) -> float:
    """Median of a measure."""
    return statistics.median(measure_of(trace) for trace in traces)


def in_ms(values: Sequence[float]) -> dict[str, float]:
    """Median and quartiles."""
    low, middle, high = (
        round(1000 * float(value), 2) for value in np.quantile(values, (0.25, 0.5, 0.75))
    )
    return {
        "p25": low,
        "p50": middle,
        "p75": high,
        "worst": round(1000 * max(map(abs, values)), 2),
        "n": len(values),
    }


def main() -> None:
    begun = os.getloadavg()[0]
    result = {"known": known(), "protocol 2 less in process": through_the_process()}
    load = [round(begun, 2), round(os.getloadavg()[0], 2)]
    save_json(
        RESULT,
        {**result, "machine": {"cpu": processor(), "cores": os.cpu_count(), "load average": load}},
    )
    print(RESULT.read_text(encoding="utf-8"), file=sys.stderr)


if __name__ == "__main__":
    main()
