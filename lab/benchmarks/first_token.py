"""First token to speech, core hours and memory, as Picovoice's public benchmark of streaming
synthesis defines them.

    python lab/benchmarks/first_token.py --results lab/benchmarks/results/first_token.md

A language model's answer arrives token by token at 62 tokens a second; the clock runs from its
first token to the first sound, here to the first sample above -50 dBFS. Core hours are processor
time for an hour of speech. Memory is the most that a process has held which loads the voice and
says one text of so many words, as it comes. The texts are 200 answers of an assistant, written for
this measurement (``data/answers.txt``), not those of that benchmark."""

from __future__ import annotations

import itertools
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sayahead import Voice, load_voice
from sayahead.research import LookaheadK, Session
from sayahead.sound.pcm import audible

from sayahead_lab.eval.experiment.clock import Tokens
from sayahead_lab.eval.experiment.machine import LoadWatch, processor
from sayahead_lab.results import options, publish, table

ANSWERS = Path(__file__).parent / "data" / "answers.txt"
LENGTHS = (10, 100, 1000, 5000)
"""Words of the texts whose memory is measured."""
POLICIES = {0: "no lookahead", 1: "one word of lookahead"}


def answers() -> list[str]:
    """The texts."""
    return ANSWERS.read_text(encoding="utf-8").splitlines()


def said(session: Session, text: str, per_s: float) -> tuple[float, float]:
    """First sound after the first token, and length of the sound, in s; after the first the rest
    comes at once."""
    first_s = None
    audio_s = 0.0
    start_s = time.perf_counter()
    zero = None
    for arrival in [*Tokens(per_s, jitter=0.0).arrivals(text), None]:
        if arrival is None:
            session.finish()
        else:
            zero = arrival.at_s if zero is None else zero
            if first_s is None:
                time.sleep(max(0.0, start_s + arrival.at_s - zero - time.perf_counter()))
            session.push(arrival.text)
        while (chunk := session.pull()) is not None:
            audio_s += chunk.duration_s
            if first_s is None and len(audible(chunk.samples)):
                first_s = time.perf_counter() - start_s
    assert first_s is not None
    return first_s, audio_s


def measure(voice: Voice, texts: list[str], lookahead: int, per_s: float) -> dict[str, Any]:
    """A row of the table."""
    said(voice.session(policy=LookaheadK(lookahead)), texts[0], per_s)
    firsts = list[float]()
    audio_s = 0.0
    used_s = time.process_time()
    for text in texts:
        first_s, length_s = said(voice.session(policy=LookaheadK(lookahead)), text, per_s)
        firsts.append(1000 * first_s)
        audio_s += length_s
    used_s = time.process_time() - used_s
    return {
        "lookahead": lookahead,
        "mean_ms": round(float(np.mean(firsts)), 1),
        "deviation_ms": round(float(np.std(firsts)), 1),
        **{f"p{q}": round(float(np.percentile(firsts, q)), 1) for q in (5, 50, 95)},
        "core_hours": round(used_s / audio_s, 4),
        "audio_s": round(audio_s, 1),
    }


def hold(words: int) -> None:
    """Say a text of so many words, token by token, and print the most memory that the process has
    held, in MB."""
    endless = itertools.cycle(" ".join(answers()).split())
    session = load_voice().session()
    for arrival in Tokens(62.0, jitter=0.0).arrivals(" ".join(itertools.islice(endless, words))):
        session.push(arrival.text)
        while session.pull() is not None:
            pass
    session.finish()
    while session.pull() is not None:
        pass
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def held(words: int) -> float:
    """The same in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--hold", str(words)], capture_output=True, text=True, check=True
    )
    return round(float(done.stdout), 1)


def lines_of(data: dict[str, Any]) -> list[str]:
    """The figures in Markdown."""
    rows = [
        [
            POLICIES[row["lookahead"]],
            f"{row['mean_ms']:.0f} ± {row['deviation_ms']:.0f}",
            f"{row['p95']:.0f}",
            f"{row['core_hours']:.4f}",
        ]
        for row in data["rows"]
    ]
    memory = ", ".join(f"{mb:.0f} MB ({words} words)" for words, mb in data["memory"])
    return [
        f"`python lab/benchmarks/first_token.py`: {data['answers']} answers, {data['per_s']:g}"
        f" tokens a second, one core ({data['cpu']}).",
        "",
        *table("heart|first token to speech, ms|p95|core hours for an hour", rows),
        "",
        f"Memory of a process that says one text: {memory}.",
    ]


def main() -> None:
    """Measure, and write the figures."""
    arguments = options(__doc__, "results", per_s=62.0, hold=0).parse_args()
    if arguments.hold:
        hold(arguments.hold)
        return
    voice = load_voice()
    texts = answers()
    watch = LoadWatch(1)
    rows = [measure(voice, texts, lookahead, arguments.per_s) for lookahead in POLICIES]
    data = {
        "cpu": processor(),
        "other_cores": watch.load().other_cores,
        "answers": len(texts),
        "per_s": arguments.per_s,
        "rows": rows,
        "memory": [(words, held(words)) for words in LENGTHS],
    }
    publish(arguments.results, lines_of(data), data)


if __name__ == "__main__":
    main()
