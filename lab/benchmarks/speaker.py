"""One version's voice in a process of its own: told by lines of JSON what to do, it answers with a
line each.

``side_by_side.py`` runs this with each version's source in Python's path, so it takes from sayahead
only what every release has, and nothing of the laboratory.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sayahead import Voice, load_voice
from sayahead.research import LookaheadK, WaitAll

AUDIBLE = 10 ** (-50 / 20)
POLICIES: dict[str, Any] = {"whole": WaitAll(), "k = 1": LookaheadK(1), "k = 0": LookaheadK(0)}
PEERS: list[Any] = []
"""hibari-tts, once it is loaded."""


def cost(voice: Voice, text: str) -> dict[str, tuple[float, float]]:
    """Processor time and seconds of sound of a text word by word (k = 1), whole, and with
    hibari-tts."""
    if not PEERS:
        from hibari import Hibari

        PEERS.append(Hibari())

    def streamed() -> float:
        session = voice.session(policy=LookaheadK(1))
        samples = 0
        for word in [*text.split(), None]:
            if word is None:
                session.finish()
            else:
                session.push(f"{word} ")
            samples += sum(len(chunk.samples) for chunk in session.chunks())
        return samples / voice.sample_rate

    def whole() -> float:
        return len(voice.synthesize(text, policy=WaitAll())) / voice.sample_rate

    def hibari() -> float:
        return len(PEERS[0](text)) / 24000

    costs = {}
    for way in (streamed, whole, hibari):
        start_s = time.process_time()
        audio_s = way()
        costs[way.__name__] = time.process_time() - start_s, audio_s
    return costs


def first_sound(voice: Voice, policy: str, arrivals: list[tuple[str, float]]) -> list[float]:
    """Seconds from the first token to the first audible sample in real time, and the processor's
    from the last needed.

    Nothing where a sentence is too short to sound before its end.
    """
    session = voice.session(policy=POLICIES[policy])
    start_s = time.perf_counter() - arrivals[0][1]
    for text, at_s in arrivals:
        time.sleep(max(0.0, start_s + at_s - time.perf_counter()))
        pushed_s = time.thread_time()
        session.push(text)
        for chunk in session.chunks():
            if np.abs(chunk.samples).max() > AUDIBLE:
                return [
                    time.perf_counter() - start_s - arrivals[0][1],
                    time.thread_time() - pushed_s,
                ]
    return []


def script(
    voice: Voice, arrivals: list[tuple[str, float]]
) -> tuple[list[tuple[int, float]], float | None]:
    """Ends of a text's chunks in samples with the time of the text that allowed them, and the first
    audible one's."""
    session = voice.session()
    ends = list[tuple[int, float]]()
    settled_s = None
    samples = 0
    for number, (text, at_s) in enumerate(arrivals):
        session.push(text)
        if number == len(arrivals) - 1:
            session.finish()
        for chunk in session.chunks():
            samples += len(chunk.samples)
            ends.append((samples, at_s))
            if settled_s is None and np.abs(chunk.samples).max() > AUDIBLE:
                settled_s = at_s
    return ends, settled_s


def keep(voice: Voice, policy: str, text: str, file: str) -> float:
    """Save a text's samples where no file is yet; the factor that makes the voice as loud as
    others."""
    if not Path(file).exists():
        np.save(file, voice.synthesize(text, policy=POLICIES[policy]))
    return voice.config.gain


TASKS: dict[str, Any] = {task.__name__: task for task in (cost, first_sound, script, keep)}

if __name__ == "__main__":
    own_voice = load_voice(sys.argv[1])
    for line in sys.stdin:
        name, *given = json.loads(line)
        print(json.dumps(TASKS[name](own_voice, *given)), flush=True)
