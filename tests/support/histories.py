"""Random histories of whole sessions, and what must hold in each: ``python -m support.histories
--count 20000``.

A history is a voice and a seed: pushes of pieces of any size, pulls, breaths and ends, revisions,
what was played and heard, maybe a cancel, at any speed, policy and number of words a step."""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from sayahead import Voice
from sayahead.engine.keep_up import KeepUp
from sayahead.research import Independent, LookaheadK, Policy, Session, WaitAll
from sayahead.types import WordTiming
from sayahead.voice import load_voice
from support.toy import toy_session

WORDS = (
    "Hello there how are you today I am fine and so is everybody Dr. Smith paid $1,234.56 on 3 May"
    " 2024 at 10:30 a.m. well-known don't 3rd 42% e.g. U.S. naïve 1/2 +49 30 123456 A B see"
    " www.example.com/path 5 km/h No. 7"
).split()
MARKS = (
    ", ",
    ". ",
    "; ",
    ": ",
    "! ",
    "? ",
    " - ",
    " — ",
    "... ",
    " ; ",
    " ! ",
    ";! ",
    '" ',
    " (",
    ") ",
    "\n\n",
    "  ",
)
SPEEDS = (0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.1, 1.3, 1.6, 2.0)
SLOW = tuple(speed for speed in SPEEDS if speed < 1)
POLICIES: tuple[Policy | None, ...] = (
    None,
    LookaheadK(0),
    LookaheadK(1),
    LookaheadK(3),
    Independent(2),
    WaitAll(),
)
SSML = (
    '<break time="0.2s"/>',
    '<sub alias="World Wide Web Consortium">W3C</sub>',
    "<emphasis>so</emphasis>",
)
LONGEST_S = 120.0
"""No history here has so much sound."""


@cache
def voice_of(name: str) -> Voice:
    return load_voice(name)


def text_of(dice: random.Random, most: int, *, ssml: bool) -> str:
    """A text in which marks stand where nobody puts them."""
    parts = list[str]()
    for _ in range(dice.randint(1, most)):
        parts.append(dice.choice(SSML) if ssml and dice.random() < 0.15 else dice.choice(WORDS))
        parts.append(dice.choice(MARKS) if dice.random() < 0.35 else " ")
    return "".join(parts)


@dataclass
class History:
    """What one session was told, and what came of it."""

    session: Session
    dice: random.Random
    sure: bool = True
    """Whether the words of its text are known: it was not revised."""
    words: list[WordTiming] = field(default_factory=list)
    samples: int = 0
    played_s: float = 0.0
    steps: list[str] = field(default_factory=list)

    def check(self, holds: bool, what: str) -> None:
        """AssertionError with the last steps."""
        assert holds, f"{what} after {self.steps[-12:]}"

    def pull(self) -> bool:
        """Take a chunk; whether there was one."""
        chunk = self.session.pull()
        if chunk is None:
            return False
        self.check(len(chunk.samples) > 0, "a chunk is empty")
        self.check(chunk.start_samples == self.samples, "a chunk begins elsewhere")
        self.check(bool(np.isfinite(chunk.samples).all()), "a sample is no number")
        self.check(bool(np.abs(chunk.samples).max() <= 1.0), "a sample is beyond 1")
        self.samples += len(chunk.samples)
        for word in chunk.words:
            self.check(
                chunk.start_samples <= word.onset_samples < self.samples,
                f"{word} begins outside of its chunk",
            )
            self.check(word.onset_samples <= word.offset_samples, f"{word} ends before it begins")
            if self.words:
                last = self.words[-1]
                self.check(last.onset_samples <= word.onset_samples, f"{word} is before {last}")
                self.check(
                    last.start <= word.start and last.end <= word.end, f"{word} follows {last}"
                )
            self.words.append(word)
        self.check(self.samples / self.session.sample_rate < LONGEST_S, "sound has no end")
        return True

    def heard(self) -> None:
        """What was heard is the words of which the larger part was played."""
        rate = self.session.sample_rate
        played_s = self.dice.uniform(0, self.samples / rate)
        found = self.session.heard(played_s)
        heard = [
            word
            for word in self.words
            if (word.onset_samples + word.offset_samples) // 2 < played_s * rate
        ]
        self.check(
            found.word_count == len(heard), f"{found.word_count} words were heard, not {len(heard)}"
        )
        end = max((word.end for word in heard), default=0)
        self.check(found.end == end or not self.sure, f"heard to {found.end}, not {end}")
        self.check(found.text == self.session.text[: found.end], "what was heard is another text")

    def played(self) -> None:
        if self.session.keeps_up:
            self.played_s = self.dice.uniform(
                self.played_s, self.samples / self.session.sample_rate
            )
            self.session.played(self.played_s)

    def revise(self, text: str) -> None:
        """Change the text from somewhere near its end on."""
        length = len(self.session.text)
        at = self.session.revise(self.dice.randint(max(0, length - 40), length), text)
        self.sure = False
        self.check(0 <= at <= length, "a revision is made elsewhere")
        spoken = self.words[-1].end if self.words else 0
        self.check(
            at >= min(spoken, length),
            f"a revision from {at} on takes back what was spoken up to {spoken}",
        )

    def check_end(self, fresh: Callable[[], Session]) -> None:
        """Once all is said: every word one time, in order, with a time that is its own."""
        self.check(self.session.finished, "it does not end")
        self.check(self.session.pull() is None, "there is sound after the end")
        self.check(not self.session._untimed, f"{len(self.session._untimed)} words have no time")
        self.check(
            not self.session._unsent_timings,
            f"{len(self.session._unsent_timings)} times have no sound",
        )
        if self.sure:
            whole = fresh()
            whole.push(self.session.text)
            whole.finish()
            wanted = [(w.text, w.start, w.end) for chunk in whole.chunks() for w in chunk.words]
            self.check(
                [(w.text, w.start, w.end) for w in self.words] == wanted, "the words are others"
            )


def session_of(
    voice: str, dice: random.Random, speeds: tuple[float, ...]
) -> Callable[..., Session]:
    """Makes sessions of the same options; ``plain`` leaves out what the words do not depend on."""
    speed = dice.choice(speeds)
    # No voice is faster than twice its speed.
    keep_up = KeepUp(max_speed=min(1.8, 2.0 / speed)) if dice.random() < 0.2 else None
    policy = dice.choice(POLICIES)
    step_words = dice.choice((None, 1, 3, 6))
    markup = "ssml" if dice.random() < 0.2 else "none"
    if voice == "toy":
        hold_back_s = dice.choice((0.0, 0.02, 0.1))
        k2 = dice.choice((0, 0, 1))
        return lambda **_: toy_session(policy, hold_back_s=hold_back_s, k2=k2, keep_up=keep_up)
    options: dict[str, Any] = {
        "speed": speed,
        "policy": policy,
        "step_words": step_words,
        "markup": markup,
    }
    return lambda plain=False: voice_of(voice).session(
        **options, keep_up=None if plain else keep_up
    )


def tell(voice: str, seed: int, *, speeds: tuple[float, ...] = SPEEDS, most: int = 14) -> History:
    """Run a history; AssertionError where something does not hold."""
    dice = random.Random(f"{voice} {seed}")
    fresh = session_of(voice, dice, speeds)
    history = History(fresh(), dice)
    session = history.session
    ssml = dice.random() < 0.5
    rest = text_of(dice, most, ssml=ssml)
    revises = dice.random() < 0.3
    flushes = dice.random() < 0.3
    cancels = dice.random() < 0.05
    together = dice.choice((1, 1, 2, 6))
    while rest:
        size = dice.choice((1, 3, 7, 20, len(rest)))
        history.steps.append(f"push {rest[:size]!r}")
        session.push(rest[:size])
        rest = rest[size:]
        for _ in range(dice.choice((0, 0, 1, 2, 5))):
            if together > 1:
                session.prepare(together=together)
            history.pull()
        if dice.random() < 0.3:
            history.played()
            history.heard()
        if flushes and dice.random() < 0.15:
            end = dice.random() < 0.5
            history.steps.append(f"flush {end}")
            session.flush(end=end)
            # Where a sentence was cut, other words may be read.
            history.sure = False
        if revises and dice.random() < 0.2:
            text = text_of(dice, 3, ssml=ssml)
            history.steps.append(f"revise {text!r}")
            history.revise(text)
    if cancels:
        session.cancel()
        history.check(session.pull() is None, "a cancelled session has sound")
        history.heard()
        return history
    history.steps.append("finish")
    session.finish()
    while history.pull():
        if dice.random() < 0.2:
            history.played()
    history.heard()
    history.check_end(lambda: fresh(plain=True))
    return history


def main() -> None:
    """Tell many, and print what did not hold; the exit status tells whether all did."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--voices", default="toy,heart,heart-low,heart-bright")
    parser.add_argument("--slow", action="store_true", help="speeds below 1 only")
    arguments = parser.parse_args()
    voices = arguments.voices.split(",")
    counts = Counter[str]()
    failures = list[str]()
    begun = time.monotonic()
    for number in range(arguments.first, arguments.first + arguments.count):
        voice = voices[number % len(voices)]
        try:
            history = tell(voice, number, speeds=SLOW if arguments.slow else SPEEDS)
        except Exception as error:
            failures.append(f"{voice} {number}")
            print(f"{voice} {number}: {type(error).__name__}: {error}", flush=True)
            continue
        if number % 200 == 199:
            print(f"{number + 1 - arguments.first} told", flush=True)
        counts["words"] += len(history.words)
        counts["seconds of sound"] += math.ceil(history.samples / history.session.sample_rate)
    told = {"histories": arguments.count, "violations": len(failures), **counts}
    print(json.dumps({**told, "voices": voices, "took_s": round(time.monotonic() - begun)}))
    raise SystemExit(bool(failures))


if __name__ == "__main__":
    main()
