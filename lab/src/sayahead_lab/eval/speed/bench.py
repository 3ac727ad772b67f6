"""How fast the engine is on one core, beside hibari-tts in the same run; ``sayahead bench`` prints
it."""

from __future__ import annotations

import math
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sayahead.engine.playback import Playback
from sayahead.engine.session import Session
from sayahead.policies.fixed import LookaheadK, WaitAll
from sayahead.sound.files import OutputError
from sayahead.sound.pcm import audible, from_pcm16
from sayahead.speech.steps import StepScheduler
from sayahead.voice import Voice

from sayahead_lab.eval.experiment.clock import Tokens
from sayahead_lab.eval.measures.statistics import quantile, regress
from sayahead_lab.eval.speed.stages import part_costs

LENGTHS = (5, 10, 20, 30, 40, 60, 80)
"""Words per sentence."""
PARTS_WORDS = 40
"""Words per sentence where the cost is split by part."""
TOKENS_PER_S = 20.0
STEP_WORDS = 6
"""The pace of the text for somebody who listens, and how many words one step may say then."""

# Lewis Carroll, Alice's Adventures in Wonderland (1865), punctuation removed: sentences of any
# length are cut from it.
PASSAGE = """
Alice was beginning to get very tired of sitting by her sister on the bank and of having nothing to do once or twice
she had peeped into the book her sister was reading but it had no pictures or conversations in it and what is the use
of a book thought Alice without pictures or conversation so she was considering in her own mind as well as she could
for the hot day made her feel very sleepy and stupid whether the pleasure of making a daisy chain would be worth the
trouble of getting up and picking the daisies when suddenly a white rabbit with pink eyes ran close by her there was
nothing so very remarkable in that nor did Alice think it so very much out of the way to hear the rabbit say to itself
oh dear oh dear I shall be late but when the rabbit actually took a watch out of its waistcoat pocket and looked at it
and then hurried on Alice started to her feet for it flashed across her mind that she had never before seen a rabbit
with either a waistcoat pocket or a watch to take out of it
""".split()  # noqa: E501


@dataclass(slots=True)
class Speed:
    """Computing time and audio so far of one way of speaking."""

    computing_s: float = 0.0
    """Wall-clock time."""
    processor_s: float = 0.0
    """Processor time: other processes on the same core do not count."""
    audio_s: float = 0.0
    """Length of the sound."""

    def add(self, computing_s: float, audio_s: float, processor_s: float) -> None:
        """Count one more text."""
        self.computing_s += computing_s
        self.audio_s += audio_s
        self.processor_s += processor_s


def measure(voice: Voice, lookahead: int, rounds: int) -> dict[str, Any]:
    """First sound, time per SPEAK and real-time factors over ``rounds`` sentences of each length,
    times in ms.

    The same sentences are streamed with ``lookahead`` words, each by itself (``streamed``) and to
    somebody who listens (``listened``), spoken whole, and spoken by hibari-tts; ``ratio`` is the
    processor time per second of sound over hibari's. ``parts_ms`` are processor times per word, on
    other sentences."""

    def session(step_words: int | None = None) -> Session:
        return voice.session(policy=LookaheadK(lookahead), step_words=step_words)

    def whole(text: str) -> Any:
        return voice.synthesize(text, policy=WaitAll())

    peer = load_peer()
    for text in sentences(5, 3):
        streamed(session(), text)
        listened(session(STEP_WORDS), text)
        whole(text)
        peer(text)
    lengths = list[int]()
    first_ms = list[float]()
    step_ms = list[float]()
    speeds = {name: Speed() for name in ("streamed", "listened", "oneshot", "peer_oneshot")}
    # Lengths take turns in changing order, so that neither a slow minute of the machine nor the
    # caches that the one before has left fall on one of them.
    texts = {length: sentences(length, rounds) for length in LENGTHS}
    order = random.Random(0)
    for number in range(rounds):
        for length in order.sample(LENGTHS, len(LENGTHS)):
            text = texts[length][number]
            begun_s = time.process_time()
            steps_s, audio_s, first_s = streamed(session(), text)
            processor_s = time.process_time() - begun_s
            lengths.append(length)
            first_ms.append(1000 * first_s)
            step_ms += [1000 * seconds for seconds in steps_s]
            speeds["streamed"].add(sum(steps_s), audio_s, processor_s)
            begun = time.perf_counter()
            begun_s = time.process_time()
            audio_s = listened(session(STEP_WORDS), text)
            speeds["listened"].add(
                time.perf_counter() - begun, audio_s, time.process_time() - begun_s
            )
            speeds["oneshot"].add(*oneshot(whole, text, voice.sample_rate))
            speeds["peer_oneshot"].add(*oneshot(peer, text, voice.sample_rate))
    slope, low, high = regress(lengths, first_ms)
    shares = {name: speed.processor_s / speed.audio_s for name, speed in speeds.items()}
    first = {"p50": quantile(first_ms, 0.5), "p95": quantile(first_ms, 0.95)}
    return {
        "ratio": {
            name: shares[name] / shares["peer_oneshot"]
            for name in ("listened", "streamed", "oneshot")
        },
        "listener": {"tokens_per_s": TOKENS_PER_S, "step_words": STEP_WORDS},
        "sentences": {"lengths": list(LENGTHS), "of_each": rounds},
        "first_audio_ms": {**first, "slope_ms_per_word": slope, "slope_ci95": [low, high]},
        "word_ms": {f"p{percent}": quantile(step_ms, percent / 100) for percent in (50, 95, 99)},
        "rtf": {name: speed.computing_s / speed.audio_s for name, speed in speeds.items()},
        "parts_ms": part_costs(
            lambda text: streamed(session(), text), sentences(PARTS_WORDS, rounds)
        ),
    }


def sentences(words: int, number: int) -> list[str]:
    """``number`` different sentences of ``words`` words each."""
    starts = [i * 7 % (len(PASSAGE) - words) for i in range(number)]
    return [" ".join(PASSAGE[at : at + words]).capitalize() + "." for at in starts]


def streamed(session: Session, text: str) -> tuple[list[float], float, float]:
    """Time of each SPEAK, length of the sound, first audible sample, in s; text comes word by word
    without pauses.

    The first audible sample is timed from the arrival of the word it had to wait for: its
    lookahead."""
    steps_s = list[float]()
    audio_s = 0.0
    first_s = None
    for fragment in [*(word + " " for word in text.split()), None]:
        begun = time.perf_counter()
        before = begun
        if fragment is None:
            session.finish()
        else:
            session.push(fragment)
        while (chunk := session.pull()) is not None:
            now = time.perf_counter()
            steps_s.append(now - before)
            before = now
            audio_s += chunk.duration_s
            if first_s is None and len(audible(chunk.samples)):
                first_s = now - begun
    return steps_s, audio_s, first_s or 0.0


def listened(session: Session, text: str) -> float:
    """Length of the sound in s of text that comes at ``TOKENS_PER_S`` to somebody who listens, as
    ``speak`` makes it.

    Their clock is simulated: the player begins with the first sound, plays in real time, and
    computing takes no time."""
    now_s = 0.0
    playback = Playback()
    scheduler = StepScheduler(session, awaited=True, whole=False, clock=lambda: now_s)

    def left_s() -> float:
        return playback.left_s(now_s)

    arrivals = Tokens(TOKENS_PER_S).arrivals(text)
    for arrival, until_s in zip(
        arrivals, [*(later.at_s for later in arrivals[1:]), math.inf], strict=True
    ):
        now_s = arrival.at_s
        session.push(arrival.text)
        scheduler.on_item(arrival.text)
        if math.isinf(until_s):
            session.finish()
        while True:
            while (chunk := scheduler.pull(left_s)) is not None:
                playback.give(chunk.duration_s, now_s)
            wait_s = scheduler.spare_s(left_s)
            if not wait_s or now_s + wait_s > until_s:
                break
            now_s += wait_s
    return playback.given_s


def oneshot(synthesize: Callable[[str], Any], text: str, rate: int) -> tuple[float, float, float]:
    """Computing time and length of a whole text's sound, and processor time, in s."""
    begun = time.perf_counter()
    processor = time.process_time()
    samples = synthesize(text)
    return time.perf_counter() - begun, len(samples) / rate, time.process_time() - processor


def load_peer() -> Callable[[str], Any]:
    """hibari-tts as it is: sentence by sentence."""
    from hibari import Hibari

    peer: Callable[[str], Any] = Hibari()
    return peer


def cold_start(voice: str) -> float:
    """Seconds from the start of a new process to its first audible sample on a pipe; OutputError if
    it stays silent."""
    command = [
        sys.executable,
        "-m",
        "sayahead",
        "say",
        "--raw",
        "-q",
        "--voice",
        voice,
        "Hello there, how are you?",
    ]
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while data := process.stdout.read1(1 << 16):  # type: ignore[attr-defined]
            if len(audible(from_pcm16(data))):
                elapsed = time.perf_counter() - begun
                process.stdout.read()
                return elapsed
    raise OutputError(f"The command {' '.join(command)} gave no sound.")


def child_memory(voice: str) -> float | None:
    """Peak resident memory in megabytes of a process that speaks a sentence; None where that is
    unknown."""
    # A process inherits the peak of the one that started it, except in the figure of its own
    # address space.
    code = (
        f"import sys, resource, sayahead\nsayahead.load_voice({voice!r}).synthesize('Hello there,"
        " how are you?')\ntry: lines = open('/proc/self/status').read().split('\\n')\nexcept"
        " OSError: lines = []\npeak = [int(line.split()[1]) for line in lines if"
        " line.startswith('VmHWM')]\nscale = 2**20 if sys.platform == 'darwin' else"
        " 2**10\nprint(peak[0] / 2**10 if peak else"
        " resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale)\n"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return float(process.stdout) if process.returncode == 0 else None
