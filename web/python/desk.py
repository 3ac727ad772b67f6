"""The page's texts: messages of the native socket in, messages and sound out, one step of speech at
a time.

The same messages as ``/v1/stream`` (docs/protocols.md), as many of them as a page needs that has
the voice in its own tab.
No clock, thread or I/O: the worker calls ``receive`` and ``step``.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass
from typing import Any, Protocol

from sayahead.engine.options import Options
from sayahead.errors import SayaheadError
from sayahead.types import AudioChunk
from sayahead.voice import Voice

Send = Callable[[str, Sized | None], None]
"""Takes a message as JSON, and the sound that belongs to it: 16-bit samples; None where it has
none."""


class Encoder(Protocol):
    """Samples of a voice as 16-bit samples at another rate."""

    def push(self, samples: Any) -> Sized:
        """(S,) those that no later ones change."""
        ...

    def finish(self) -> Sized:
        """(S,) the rest."""
        ...


@dataclass(frozen=True, slots=True)
class Flush:
    """Speak all so far; ``mark`` comes back in the answer."""

    mark: Any
    end: bool


class Spoken:
    """One text on its way through a voice."""

    def __init__(
        self,
        name: str,
        voice: Voice,
        choices: Mapping[str, Any],
        send: Send,
        encoder: Callable[[int, int], Encoder],
    ) -> None:
        """ConfigError for choices that the voice cannot take."""
        rate = choices.get("sample_rate")
        options = {key: choices[key] for key in choices.keys() - {"sample_rate"}}
        chosen: Options = options  # type: ignore[assignment]
        self.name = name
        self.over = False
        self.sent_s = 0.0
        self._session = voice.session(**chosen)
        self._voice_rate = voice.sample_rate
        self._rate = rate or voice.sample_rate
        self._encoder = encoder(self._voice_rate, self._rate)
        self._send = send
        # What came after the flush that is being carried out; None: no more text comes.
        self._waiting = deque[str | Flush | None]()
        self._flush = list[Flush]()
        self._ending = False

    def take(self, item: str | Flush | None) -> None:
        """Take in more text, a flush, or the end (None)."""
        self._waiting.append(item)

    def revise(self, at: int, text: str, mark: Any) -> None:
        """From a character on, the text is now another; flushes that wait are taken back, and
        answered."""
        flushes = self._flush
        self._flush = []
        for item in self._waiting:
            if isinstance(item, str):
                self._session.push(item)
            elif item is not None:
                flushes.append(item)
        self._waiting.clear()
        at = self._session.revise(at, text)
        for flush in flushes:
            self._say("speech.flushed", flush_id=flush.mark, audio_s=self.sent_s)
        self._say("speech.revised", revise_id=mark, at=at, text=self._session.text[at:])

    def step(self) -> bool:
        """Make the next chunk, or answer what is done; False where that takes more text."""
        self._feed()
        chunk = self._session.pull()
        while self._session.skipped:
            start, end, text = self._session.skipped.popleft()
            self._say("speech.skipped", start=start, end=end, text=text)
        if chunk is not None:
            self._give(chunk)
        elif self._flush:
            self._say("speech.flushed", flush_id=self._flush.pop().mark, audio_s=self.sent_s)
        elif self._ending:
            self._sound(self._encoder.finish(), [])
            self.over = True
            self._say("speech.done", audio_s=self.sent_s, characters=len(self._session.text))
        else:
            return False
        return True

    def _feed(self) -> None:
        """Pass on what waits, up to the next flush."""
        while self._waiting and not self._flush and not self._ending:
            item = self._waiting.popleft()
            if item is None:
                self._session.finish()
                self._ending = True
            elif isinstance(item, str):
                self._session.push(item)
            else:
                self._session.flush(end=item.end)
                self._flush.append(item)

    def _give(self, chunk: AudioChunk) -> None:
        rows = [
            {
                "word": word.text,
                "written": word.written,
                "ends": word.ends,
                "start": word.start,
                "end": word.end,
                "onset_s": word.onset_samples / self._voice_rate,
                "offset_s": word.offset_samples / self._voice_rate,
            }
            for word in chunk.words
        ]
        self._sound(self._encoder.push(chunk.samples), rows)

    def _sound(self, data: Sized, rows: list[dict[str, Any]]) -> None:
        if len(data) or rows:
            duration_s = len(data) / self._rate
            self._say("speech.audio", data, start_s=self.sent_s, duration_s=duration_s, words=rows)
            self.sent_s += duration_s

    def _say(self, kind: str, data: Sized | None = None, **rest: Any) -> None:
        self._send(json.dumps({"type": kind, "context_id": self.name, **rest}), data)


class Desk:
    """All texts of a page."""

    def __init__(
        self,
        send: Send,
        load: Callable[[str], Voice],
        encoder: Callable[[int, int], Encoder],
        default: str = "heart",
    ) -> None:
        """``load`` makes a voice by its name, ``encoder`` what sends from one rate at another;
        ``default``: the voice of texts that name none."""
        self._send = send
        self._load = load
        self._encoder = encoder
        self._default = default
        self._voices = dict[str, Voice]()
        self._choices = dict[str, Any]()
        self._texts = dict[str, Spoken]()

    def receive(self, message: str) -> None:
        """Carry out a message of the page; what is wrong with it is answered."""
        data = json.loads(message)
        self._guarded(str(data.get("context_id", "")), lambda: self._carry_out(data))

    def step(self) -> bool:
        """One step of speech, of the text that has least sound so far and can have more; False
        where none can."""
        for text in sorted(self._texts.values(), key=lambda text: text.sent_s):
            if self._guarded(text.name, text.step):
                if text.over:
                    self._texts.pop(text.name, None)
                return True
        return False

    def _guarded(self, name: str, job: Callable[[], object]) -> bool:
        """The job's answer; a text whose job fails is over, and the page is told why."""
        try:
            return bool(job())
        except Exception as error:
            known = isinstance(error, SayaheadError)
            reason = str(error) if known else f"Internal error ({type(error).__name__}: {error})."
            gone = self._texts.pop(name, None) is not None
            answer = {"type": "error", "code": "invalid" if known else "failed", "message": reason}
            self._send(json.dumps({**answer, "context_id": name or None, "gone": gone}), None)
            return True

    def _carry_out(self, data: Mapping[str, Any]) -> None:
        name = str(data.get("context_id", ""))
        match data["type"]:
            case "session.update":
                self._choices = {
                    key: value for key, value in data["session"].items() if value is not None
                }
            case "input_text.append":
                self._open(name).take(str(data["text"]))
            case "input_text.flush" if name in self._texts:
                self._texts[name].take(Flush(data.get("flush_id"), bool(data.get("end", True))))
            case "input_text.revise":
                self._open(name).revise(int(data["at"]), str(data["text"]), data.get("revise_id"))
            case "input_text.end":
                self._open(name).take(None)
            case "input_text.cancel":
                self._texts.pop(name, None)

    def _open(self, name: str) -> Spoken:
        """The text of a name; it begins where there is none."""
        if name not in self._texts:
            choices = dict(self._choices)
            voice = self._voice(choices.pop("voice", self._default))
            self._texts[name] = Spoken(name, voice, choices, self._send, self._encoder)
        return self._texts[name]

    def _voice(self, name: str) -> Voice:
        if name not in self._voices:
            self._voices[name] = self._load(name)
        return self._voices[name]
