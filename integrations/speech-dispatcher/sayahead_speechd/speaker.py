"""Speaks messages in a thread of its own: sound in small blocks, index marks where they are
heard."""

from __future__ import annotations

import functools
import queue
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sayahead import SayaheadError, Voice, load_voice
from sayahead.sound.pcm import AUDIBLE, to_pcm16
from sayahead.types import Floats
from sayahead_speechd.text import CHARACTERS, Message
from sayahead_speechd.wire import Wire

BLOCK_S = 0.05
LEAD_S = 0.002
"""Silence that is left before a character: a key's echo is waited for."""
MAX_KEPT = 512


@dataclass(frozen=True, slots=True)
class Style:
    """How a message is to be spoken."""

    voice: str = "heart"
    speed: float = 1.0
    volume: float = 1.0


@dataclass(slots=True)
class Job:
    """A message on its way."""

    message: Message
    style: Style
    short: bool
    """Whether it is a character or a key: kept once made, without silence before it."""
    ended: str = ""
    """The event that ends it early: "703 STOP" or "704 PAUSE"."""


@dataclass
class Speaker:
    """One message at a time; the next one comes after the last one's end was told."""

    wire: Wire
    jobs: queue.SimpleQueue[Job | None] = field(default_factory=queue.SimpleQueue)
    job: Job | None = None
    _warming: threading.Thread | None = None
    _closing: threading.Event = field(default_factory=threading.Event)
    _kept: OrderedDict[tuple[str, Style], Floats] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.voice = functools.lru_cache(maxsize=4)(load_voice)
        self._thread = threading.Thread(target=self._run, name="speaker", daemon=True)
        self._thread.start()

    def speak(self, message: Message, style: Style, *, short: bool) -> None:
        """Begin with a message. SayaheadError if its style is none of the voice's."""
        self.job = Job(message, style, short)
        self.jobs.put(self.job)

    def end(self, event: str) -> None:
        """Fall silent; the event is told once, and only if something is being spoken."""
        with self._lock:
            if self.job is not None and not self.job.ended:
                self.job.ended = event

    def close(self) -> None:
        """Fall silent, and end the thread."""
        self._closing.set()
        self.end("703 STOP")
        self.jobs.put(None)
        self._thread.join()
        if self._warming is not None:
            self._warming.join()

    def warm(self, style: Style) -> None:
        """Begin to make the sound of all characters that a keyboard has, when nothing else is to be
        spoken."""
        self._warming = threading.Thread(target=self._warm, args=(style,), name="warm", daemon=True)
        self._warming.start()

    def _warm(self, style: Style) -> None:
        for name in [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", *CHARACTERS.values()]:
            while self.job is not None and not self._closing.wait(0.2):
                pass
            if self._closing.is_set():
                return
            self._short(name, style)

    def _run(self) -> None:
        while (job := self.jobs.get()) is not None:
            self.wire.say("701 BEGIN")
            try:
                self._say(job)
            except SayaheadError:
                # Told when the style was set; the daemon must still hear of an end.
                pass
            finally:
                with self._lock:
                    self.job = None
                self.wire.say(job.ended or "702 END")

    def _say(self, job: Job) -> None:
        marks = list(job.message.marks)
        if job.short:
            self._play(job, self._short(job.message.text, job.style))
        else:
            for samples, until in self._pieces(job):
                self._mark(job, marks, until)
                self._play(job, samples)
                if job.ended:
                    return
        self._mark(job, marks, len(job.message.text) + 1)

    def _pieces(self, job: Job) -> Iterator[tuple[Floats, int]]:
        """Sound, and the character of the text at which it begins: each word begins one."""
        style = job.style
        at = 0
        for chunk in self.voice(style.voice).stream(
            [job.message.text], speed=style.speed, volume=style.volume
        ):
            begin = 0
            for word in chunk.words:
                onset = min(
                    max(word.onset_samples - chunk.start_samples, begin), len(chunk.samples)
                )
                yield chunk.samples[begin:onset], at
                begin = onset
                at = word.start + 1
            yield chunk.samples[begin:], at

    def _mark(self, job: Job, marks: list[tuple[int, str]], until: int) -> None:
        """Tell the marks before a character, which is about to be heard."""
        while marks and marks[0][0] < until and not job.ended:
            self.wire.say(f"700-{marks.pop(0)[1]}", "700 INDEX MARK")

    def _play(self, job: Job, samples: Floats) -> None:
        rate = self.voice(job.style.voice).sample_rate
        size = int(BLOCK_S * rate)
        for begin in range(0, len(samples), size):
            if job.ended:
                return
            self.wire.sound(to_pcm16(samples[begin : begin + size]).tobytes(), rate)

    def _short(self, text: str, style: Style) -> Floats:
        """The sound of a character or key without the silence around it, kept for the next time."""
        with self._lock:
            if (text, style) in self._kept:
                self._kept.move_to_end((text, style))
                return self._kept[text, style]
        voice: Voice = self.voice(style.voice)
        samples = voice.synthesize(text, speed=style.speed, volume=style.volume)
        heard = np.flatnonzero(np.abs(samples) > AUDIBLE)
        if len(heard):
            samples = samples[max(0, heard[0] - int(LEAD_S * voice.sample_rate)) : heard[-1] + 1]
        with self._lock:
            self._kept[text, style] = samples
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        return samples
