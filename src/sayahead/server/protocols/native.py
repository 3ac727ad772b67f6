"""sayahead's own protocol on a WebSocket: ``/v1/stream``. JSON in both directions, audio in binary
messages."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, ClassVar

from starlette.routing import BaseRoute

from sayahead.config import Bound, from_mapping
from sayahead.server.hub import Hub
from sayahead.server.json_messages import (
    MAX_NAME,
    MessageError,
    by_type,
    compact,
    mark_of,
    number,
    text_frame,
    text_in,
    utterance_name,
)
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.offers import Choice, offers
from sayahead.server.websocket import SocketProtocol, socket_route
from sayahead.sound.formats import ENCODINGS, RATES, AudioFormat

FRAME_S = 0.24
# Longer waits are cut to limits.idle_most_s.
LONGEST_IDLE_S = 86400.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SessionUpdate(Choice):
    """What ``session`` in a session.update may hold, for all utterances that begin later."""

    voice: str | None = None
    """A voice's name, or NAME:SPEAKER, see /v1/audio/voices."""
    language: str | None = None
    """BCP 47 tag of a language, which chooses a voice where none is named."""
    encoding: str = "pcm_s16le"
    """How the audio is sent: see session.created."""
    sample_rate: int | None = None
    """Samples per second; None: the voice's own."""
    bit_rate: int | None = None
    """Bits per second, if the encoding has a choice."""
    idle_s: Annotated[float | None, Bound(0.01, LONGEST_IDLE_S)] = None
    """Seconds without text after which an utterance fails."""
    breath_s: Annotated[float | None, Bound(0, 3600)] = None
    """Seconds without text after which all of it is spoken and the sentence goes on; 0: never."""

    def options(self) -> m.Options:
        """Return the options for the driver. ConfigError for an unknown or invalid value."""
        form = AudioFormat(self.encoding, self.sample_rate, self.bit_rate)
        form.check()
        options = m.Options(
            self.voice, self.language, format=form, session=self.session(), frame_s=FRAME_S
        )
        return dataclasses.replace(
            options, hears_skipped=True, idle_s=self.idle_s, breath_s=self.breath_s
        )


class Native(SocketProtocol):
    """One connection."""

    name: ClassVar[str] = "native"

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._choices = dict[str, Any]()
        self._options = SessionUpdate().options()

    def greeting(self) -> Iterable[str]:
        """Yield session.created, with the limits in force."""
        voices = self._hub.voices
        yield say(
            "session.created",
            protocol=1,
            session_id=self.session,
            resume=self.resumption,
            voice=voices.default,
            voices=list(voices.configs),
            sample_rates={name: config.sample_rate for name, config in voices.configs.items()},
            speeds={name: config.speed for name, config in voices.configs.items()},
            descriptions={name: config.description for name, config in voices.configs.items()},
            units={name: voices.unit(name) for name in voices.configs},
            research=[name for name, config in voices.configs.items() if config.research],
            loaded=list(voices.loaded),
            policies=offers("policy"),
            contexts=offers("context"),
            encodings=list(ENCODINGS),
            rates=RATES,
            limits=self._hub.bounds | {"name_characters": MAX_NAME},
        )

    def read(self, message: str | bytes) -> Iterable[m.Command | m.Later]:
        data = text_frame(message)
        name = utterance_name(data.get("context_id", ""))
        return by_type(data, self.KINDS)(self, name, data)

    def _append(self, name: str, data: dict[str, Any]) -> Iterable[m.Command]:
        """Add text to an utterance, which it may open."""
        text = text_in(data, "input_text.append")
        yield m.Open(name, self._options)
        yield m.Text(name, text)

    def _flush(self, name: str, data: dict[str, Any]) -> Iterable[m.Command]:
        """Flush an utterance."""
        if not isinstance(end := data.get("end", True), bool):
            raise MessageError("input_text.flush: end must be true or false.", utterance=name)
        yield m.Flush(name, mark_of(data, "flush_id"), end)

    def _end(self, name: str, data: dict[str, Any]) -> Iterable[m.Command]:
        """End the text of an utterance."""
        # Opens it as well, because a text may be empty.
        yield m.Open(name, self._options)
        yield m.Finish(name)

    def _cancel(self, name: str, data: dict[str, Any]) -> Iterable[m.Command]:
        """Cancel an utterance.

        It stops even if ``played_s`` is invalid: then that is reported, and counts as missing.
        """
        played_s = None
        try:
            if data.get("played_s") is not None:
                played_s = played_in(data, name)
        except MessageError as error:
            yield self.refuse(error)
        yield m.Cancel(name, played_s)

    def _played(self, name: str, data: dict[str, Any]) -> Iterable[m.Command]:
        yield m.Played(name, played_in(data, name))

    def _ping(self, name: str, data: dict[str, Any]) -> Iterable[m.Command]:
        yield m.KeepAlive(name if "context_id" in data else None)
        yield m.Reply(say("session.pong"))

    def _end_session(self, name: str, data: dict[str, Any]) -> Iterable[m.Command]:
        yield m.End()

    def _revise(self, name: str, data: dict[str, Any]) -> Iterable[m.Command]:
        """Revise a text; a revision from its first character on may also open it."""
        at = data.get("at")
        text = data.get("text")
        mark = mark_of(data, "revise_id")
        if isinstance(at, bool) or not isinstance(at, int) or at < 0:
            message = (
                "input_text.revise: at must be a character of the text, a whole number from 0."
            )
            yield m.Refuse("invalid_message", message, name, mark=mark)
        elif not isinstance(text, str):
            message = (
                "input_text.revise needs text, a string: all text from at on, which may be empty."
            )
            yield m.Refuse("invalid_message", message, name, mark=mark)
        else:
            if at == 0:
                yield m.Open(name, self._options)
            yield m.Revise(name, at, text, mark)

    def _update(self, name: str, data: dict[str, Any]) -> Iterable[m.Command | m.Later]:
        """Change the options of later utterances, and answer with all that are in force."""
        session = data.get("session")
        if not isinstance(session, dict):
            raise MessageError("session.update needs session, an object.")
        merged = self._choices | session

        def update() -> Iterable[m.Command]:
            yield m.Reply(say("session.updated", **self._chosen(merged)))

        yield from [m.Later(update)] if self._takes_time(merged) else update()

    def _takes_time(self, merged: dict[str, Any]) -> bool:
        """Return whether a lexicon, or the language of a speaker, must be read for these
        choices."""
        if merged.get("lexicon"):
            return True
        options = from_mapping(SessionUpdate, merged, where="session").options()
        return not self._hub.has_read(options)

    def _chosen(self, merged: dict[str, Any]) -> dict[str, Any]:
        """Adopt the merged options and return those in force. ConfigError or VoiceError if they are
        not available."""
        choice = from_mapping(SessionUpdate, merged, where="session")
        voice = self._hub.voices.name(choice.voice, language=choice.language)
        options = choice.options()
        self._hub.check(options)
        self._choices = merged
        self._options = options
        return {"session": dataclasses.asdict(choice) | {"voice": voice}}

    KINDS: ClassVar[Mapping[str, Callable[..., Iterable[m.Command | m.Later]]]] = {
        "session.update": _update,
        "session.ping": _ping,
        "session.end": _end_session,
        "speech.played": _played,
        "input_text.append": _append,
        "input_text.revise": _revise,
        "input_text.flush": _flush,
        "input_text.end": _end,
        "input_text.cancel": _cancel,
    }
    """Handlers of messages, by type."""

    def write(self, event: m.Event) -> Iterable[str | bytes]:
        match event:
            case m.Audio(name, data, start_s, duration_s, words):
                yield say(
                    "speech.audio",
                    context_id=name,
                    start_s=round(start_s, 6),
                    duration_s=round(duration_s, 6),
                    bytes=len(data),
                    words=[word_row(word) for word in words],
                )
                yield data
            case m.Revised(name, mark, at, text):
                yield say("speech.revised", context_id=name, revise_id=mark, at=at, text=text)
            case m.Skipped(name, start, end, text):
                yield say("speech.skipped", context_id=name, start=start, end=end, text=text)
            case m.Flushed(name, mark, audio_s):
                yield say(
                    "speech.flushed", context_id=name, flush_id=mark, audio_s=round(audio_s, 6)
                )
            case m.Finished(name, audio_s, characters):
                yield say(
                    "speech.done", context_id=name, audio_s=round(audio_s, 6), characters=characters
                )
            case m.Cancelled(name, heard, message):
                yield say(
                    "speech.cancelled",
                    context_id=name,
                    audio_s=round(heard.played_s, 6),
                    words=heard.word_count,
                    text_end=heard.end,
                    text=heard.text,
                    message=message,
                )
            case m.Failed(code, why, failed, gone, mark):
                revision = {} if mark is None else {"revise_id": mark}
                yield say(
                    "error",
                    code=code,
                    message=why,
                    context_id=failed,
                    gone=gone,
                    session_id=self.session,
                    **revision,
                )
            case m.Echo(message):
                yield str(message)


def played_in(data: dict[str, Any], name: str) -> float:
    """Return ``played_s`` of a message. MessageError if it is not a number of seconds."""
    played_s = number(data.get("played_s"))
    if played_s is None or played_s < 0:
        message = f"{data['type']}: played_s must be a number of seconds, at least 0."
        raise MessageError(message, utterance=name)
    return played_s


def word_row(word: m.SpokenWord) -> dict[str, Any]:
    """Return a word in the form for clients."""
    row: dict[str, Any] = {
        "word": word.text,
        "written": word.written,
        "start": word.start,
        "end": word.end,
        "onset_s": round(word.onset_s, 6),
        "offset_s": round(word.offset_s, 6),
    }
    if word.speaker:
        row["speaker"] = word.speaker
    if word.ends:
        row["ends"] = True
    return row


def say(kind: str, **rest: Any) -> str:
    """Return a message."""
    return compact({"type": kind, **rest})


def routes(hub: Hub) -> list[BaseRoute]:
    """``/v1/stream``."""
    return [socket_route(hub, "/v1/stream", lambda _: Native(hub))]
