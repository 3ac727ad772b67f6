"""A queue of texts that one thread speaks one after another, taking turns with other programs."""

from __future__ import annotations

import contextlib
import functools
import queue
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from sayahead.engine.heard import Heard
from sayahead.errors import SessionError
from sayahead.sound.speaker_lock import turn
from sayahead.speech import Device, Speech
from sayahead.voice import Voice

NOTHING = Heard(0, 0, "", 0.0)


@dataclass(slots=True)
class Job:
    """A text in the queue."""

    text: str
    voice: str
    options: Mapping[str, Any]
    epoch: int
    """Number of stops before it was queued."""
    heard: Future[Heard] = field(default_factory=Future)
    """What was heard of it, once it is over."""
    stopped: bool = False


class Narrator:
    """Speaks texts in the order in which they came."""

    MAX_JOBS = 64
    """Most texts that may wait."""

    def __init__(self, voices: Callable[[str], Voice], output: Callable[[int], Device]) -> None:
        """``voices``: loads a voice by name; ``output``: opens the sound device for a sample
        rate."""
        self._voices = voices
        self._output = output
        self._jobs: queue.Queue[Job | None] = queue.Queue(self.MAX_JOBS)
        self._lock = threading.Lock()
        self._epoch = 0
        self._current: tuple[Job, Speech | None, Device | None] | None = None
        self._thread = threading.Thread(target=self._run, name="narrator", daemon=True)
        self._thread.start()

    def speak(self, text: str, voice: str, **options: Any) -> Job:
        """Queue a text.

        SessionError if too many wait, ConfigError or VoiceError for options that the voice does not
        accept.
        """
        # Opening a session reports errors now instead of when the text's turn comes.
        self._voices(voice).session(**options)
        job = Job(text, voice, options, self._epoch)
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            raise SessionError(
                f"{self.MAX_JOBS} texts are waiting to be spoken: wait, or stop them first."
            ) from None
        return job

    def stop(self) -> tuple[Heard, int]:
        """Stop at once; return what was heard of the current text, and how many waiting ones were
        dropped."""
        with self._lock:
            self._epoch += 1
        dropped = self._drop_waiting()
        with self._lock:
            if self._current is None:
                return NOTHING, dropped
            job, speech, output = self._current
            job.stopped = True
            if speech is not None and output is not None:
                output.close()
        # Wait until the thread has left the text: only then it is known what was heard of it.
        failed = job.heard.exception() is not None
        return NOTHING if failed else job.heard.result(), dropped

    def _drop_waiting(self) -> int:
        """Empty the queue; return how many texts were in it."""
        dropped = 0
        is_closing = False
        while True:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is None:
                is_closing = True
                continue
            dropped += 1
            job.heard.set_result(NOTHING)
        if is_closing:
            # Another thread is in ``close``, which waits until the narrator's thread gets this.
            self._jobs.put(None)
        return dropped

    def close(self) -> None:
        """Stop, and end the thread."""
        self.stop()
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        """Speak the queued texts until ``close``: the thread."""
        while (job := self._jobs.get()) is not None:
            with self._lock:
                self._current = job, None, None
                # It may have left the queue just when everything was stopped.
                job.stopped = job.epoch != self._epoch
            try:
                with turn(functools.partial(getattr, job, "stopped")) as has_turn:
                    heard = self._say(job) if has_turn else NOTHING
                job.heard.set_result(heard)
            except Exception as error:
                # The error concerns only this text; go on with the next.
                job.heard.set_exception(error)
            finally:
                with self._lock:
                    self._current = None

    def _say(self, job: Job) -> Heard:
        """Speak a text until its end or a stop; return what was heard of it."""
        speech = self._voices(job.voice).speak(job.text, **job.options)
        output = self._output(speech.sample_rate)
        with self._lock:
            self._current = job, speech, output
        with contextlib.closing(output):
            for _ in speech.into(output):
                if job.stopped:
                    break
            if not job.stopped:
                output.drain()
            # For speech that was played to its end, this returns that everything was heard.
            return speech.cancel()
