"""Deepgram's ``/v2/speak`` (Flux): a WebSocket with turns of tokens that can be interrupted, and
speech over HTTP."""

from __future__ import annotations

import secrets
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from sayahead import __version__
from sayahead.errors import ConfigError, SayaheadError
from sayahead.server.http import RequestError, SpeechResponse, answers, json_body, text_of
from sayahead.server.hub import Hub
from sayahead.server.json_messages import (
    MessageError,
    by_type,
    number,
    text_frame,
    text_in,
    without_half,
)
from sayahead.server.operation.access import Caller
from sayahead.server.protocols.deepgram import IDLE_S, OPTIONS, format_of, packed_format_of, say
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.offers import session_of
from sayahead.server.websocket import SocketProtocol, socket_route
from sayahead.types import Delivery

ONLY = ""
"""Name of the only utterance of a connection, whose text consists of turns."""
SLOWEST = 0.5
FASTEST = 1.5
STEP = 0.05
LIVELY = {"-2": 0.6, "-1": 0.8, "0": 1.0, "1": 1.2, "2": 1.4}
"""Factor on the pitch range for each value of ``expressivity``."""
ERRORS = {
    "invalid_message": "MESSAGE-0000",
    "invalid_option": "DATA-0000",
    "too_much_text": "BIG-0000",
    "idle": "NET-0001",
    "failed": "NET-0000",
}
"""Deepgram's codes for ours; other codes are in upper case."""
NO_CONTROLS = {"pronunciations_applied": 0, "breaks_applied": 0, "pronunciation_warnings": 0}
NO_SPEECH = "NO_ACTIVE_SPEECH"
WARNINGS = {
    NO_SPEECH: "No turn is active, and all that was spoken has been played.",
    "NO_AUDIO_GENERATED": "This session has produced no audio yet.",
    "NO_SYNTHESIZABLE_TEXT": "The turn had no text that can be spoken.",
}


class SpeedError(ConfigError):
    """An invalid speed, with Deepgram's code for the reason."""

    def __init__(self, code: str, message: str, value: float | None) -> None:
        super().__init__(message)
        self.code = code
        self.value = value


@dataclass(slots=True)
class Turn:
    """One response of an agent, from its first Speak to its Flush."""

    begin: int
    """Position of its text in the utterance's."""
    text: str = ""
    name: str = ""
    flushed: bool = False
    """Whether its whole text has arrived."""
    start_s: float = 0.0
    """Start of its audio in the utterance's."""
    end_s: float | None = None
    """End of its audio there; None until all of it was sent."""

    def metadata(self, end_s: float) -> dict[str, Any]:
        """Return its figures; its audio ends at ``end_s``."""
        characters = len(self.text)
        return {
            "speech_id": self.name,
            "audio_duration_ms": milliseconds(end_s - self.start_s),
            "input_character_count": characters,
            "billable_character_count": characters,
            "controls_applied": NO_CONTROLS,
        }


class Flux(SocketProtocol):
    """One connection."""

    name: ClassVar[str] = "flux"
    idle_s = IDLE_S

    def __init__(self, hub: Hub, query: Mapping[str, str]) -> None:
        """ConfigError for a query with values that are unknown or out of range."""
        voice, language = voice_of(hub, query.get("model", ""))
        self._voice = voice
        self._speed = speed_of(query.get("speed", "1"))
        session = session_of(query, speed=self._speed)
        self._delivery = delivery_of(query)
        self._options = replace(
            OPTIONS,
            voice=voice,
            language=language,
            format=format_of(query),
            session=session,
            delivery=self._delivery,
        )
        # The speed at which the utterance was opened.
        self._opened_speed = self._speed
        self._open = False
        self._ending = False
        # Unfinished turns, the active one first; and the finished turns of the open utterance.
        self._turns = deque[Turn]()
        self._past = list[Turn]()
        self._characters = 0
        self._sent_s = 0.0
        self._half = ""
        # For the whole session: characters received, audio of earlier utterances, and the position
        # of the last interruption.
        self._all_characters = 0
        self._earlier_s = 0.0
        self._interrupted_s = 0.0
        # The playback offset in the Interrupt that is being carried out.
        self._offset_s: float | None = None

    def greeting(self) -> Iterable[str]:
        """Yield the message Connected."""
        identity = str(uuid.uuid5(uuid.NAMESPACE_URL, f"sayahead:{self._voice}"))
        yield say(
            "Connected",
            request_id=self.session,
            model_name=self._voice,
            model_version=__version__,
            model_uuids=[identity],
        )

    def read(self, message: str | bytes) -> Iterable[m.Command]:
        data = text_frame(message)
        yield from by_type(data, self.KINDS)(self, data)

    def _speak(self, data: dict[str, Any]) -> Iterable[m.Command]:
        """Begin a turn if none is open, and add text to it."""
        text = text_in(data, "Speak")
        if not self._open:
            self._open = True
            self._opened_speed = self._speed
            self._characters = 0
            self._sent_s = 0.0
            self._half = ""
            yield m.Open(ONLY, self._options)
        if not self._turns or self._turns[-1].flushed:
            self._turns.append(Turn(self._characters))
            if len(self._turns) == 1:
                yield m.Reply(self._start_turn())
        # As in ``Utterance.push``: a client may cut a surrogate pair in two.
        whole, self._half = without_half(self._half + text)
        self._turns[-1].text += whole
        self._characters += len(whole)
        self._all_characters += len(whole)
        yield m.Text(ONLY, text)

    def _flush(self, data: dict[str, Any]) -> Iterable[m.Command]:
        """End the text of the turn."""
        if not self._turns or self._turns[-1].flushed:
            yield m.Reply(warning(NO_SPEECH))
            return
        self._turns[-1].flushed = True
        yield m.Flush(ONLY)

    def _interrupt(self, data: dict[str, Any]) -> Iterable[m.Command]:
        """Cancel the utterance at the given playback offset, if that is valid."""
        self._offset_s = offset_of(data.get("playback_offset"))
        if not self._open:
            heard_nothing = not self._earlier_s
            yield m.Reply(warning("NO_AUDIO_GENERATED" if heard_nothing else NO_SPEECH))
        elif self._offset_s is None:
            yield m.Cancel(ONLY, live=True)
        elif self._interrupted_s and self._offset_s <= self._interrupted_s:
            offset_ms = milliseconds(self._offset_s)
            last_offset_ms = milliseconds(self._interrupted_s)
            why = (
                f"playback_offset is {offset_ms} ms, but the last Interrupt was at {last_offset_ms}"
                " ms, and this one must be later."
            )
            yield m.Reply(warning("INVALID_INTERRUPT_OFFSET", why))
        else:
            # An offset counts from the session's first sample, ``played_s`` from the utterance's.
            yield m.Cancel(ONLY, min(max(0.0, self._offset_s - self._earlier_s), self._sent_s))

    def _configure(self, data: dict[str, Any]) -> Iterable[m.Command]:
        """Change the speed of the text that follows."""
        requested = data.get("speed")
        if requested is None:
            yield m.Reply(say("ConfigureSuccess", applied={"speed": self._speed}))
            return
        try:
            self._speed = speed_of(requested)
        except SpeedError as error:
            value = {} if error.value is None else {"value": error.value}
            failed = say(
                "ConfigureFailure", code=error.code, field="speed", **value, description=str(error)
            )
            yield m.Reply(failed)
            return
        self._options = replace(
            self._options, session=replace(self._options.session, speed=self._speed)
        )
        if self._open:
            # A delivery's speed is a factor on that of the session, which is fixed since its start.
            yield m.Deliver(ONLY, replace(self._delivery, speed=self._speed / self._opened_speed))
        yield m.Reply(say("ConfigureSuccess", applied={"speed": self._speed}))

    def _close(self, data: dict[str, Any]) -> Iterable[m.Command]:
        """End the connection."""
        self._ending = True
        if not self._open:
            yield m.Reply(self._totals())
        yield m.End()

    KINDS: ClassVar[Mapping[str, Callable[..., Iterable[m.Command]]]] = {
        "Speak": _speak,
        "Flush": _flush,
        "Interrupt": _interrupt,
        "Configure": _configure,
        "Close": _close,
    }
    """Handlers of messages, by type."""

    def write(self, event: m.Event) -> Iterable[str | bytes]:
        match event:
            case m.Audio(_, data, start_s, duration_s):
                self._sent_s = start_s + duration_s
                yield data
            case m.Flushed():
                yield from self._end_turn()
            case m.Finished(_, audio_s):
                self._sent_s = audio_s
                while self._turns:
                    yield from self._end_turn()
                yield self._totals()
                self._reset()
            case m.Cancelled(_, heard):
                yield from self._report_interruption(heard.played_s, heard.end)
            case m.Failed("idle", _, str(), _) if not self._turns:
                # Everything was spoken: further text opens a new utterance.
                self._earlier_s += self._sent_s
                self._reset()
            case m.Failed(code, message, _, gone):
                if gone:
                    self._earlier_s += self._sent_s
                    self._reset()
                code = ERRORS.get(code, code.upper())
                yield say("Error" if gone else "Warning", code=code, description=message)
            case m.Echo(message):
                yield str(message)

    def _start_turn(self) -> str:
        """Make the first waiting turn active; return its message."""
        active = self._turns[0]
        active.name = f"dg_sp_{secrets.token_hex(6)}"
        active.start_s = self._sent_s
        return say("SpeechStarted", speech_id=active.name)

    def _end_turn(self) -> Iterable[str]:
        """End the active turn, whose audio was sent, and start the next."""
        turn = self._turns.popleft()
        turn.end_s = self._sent_s
        self._past.append(turn)
        if turn.end_s == turn.start_s:
            yield warning("NO_SYNTHESIZABLE_TEXT")
        yield say("SpeechMetadata", **turn.metadata(turn.end_s))
        yield say("Flushed", speech_id=turn.name)
        if self._turns:
            yield self._start_turn()

    def _report_interruption(self, played_s: float, heard_end: int) -> Iterable[str]:
        """Report the turn that was interrupted, and drop everything after it.

        ``played_s``: how much of the utterance was played; ``heard_end``: where the heard text
        ends.
        """
        turns = [*self._past, *self._turns]
        sent_s = self._sent_s
        is_over = not self._turns and played_s >= sent_s
        at_s = self._earlier_s + played_s
        self._earlier_s = at_s
        self._interrupted_s = at_s
        self._reset()
        if is_over:
            yield warning(NO_SPEECH)
            return
        turn = next(
            (turn for turn in turns if turn.end_s is None or turn.end_s > played_s), turns[-1]
        )
        heard = max(0, heard_end - turn.begin)
        yield say(
            "SpeechInterrupted",
            audio_played_ms=milliseconds(at_s if self._offset_s is None else self._offset_s),
            text_spoken=turn.text[:heard],
            text_remaining=turn.text[heard:],
            metadata=turn.metadata(sent_s if turn.end_s is None else turn.end_s),
        )

    def _totals(self) -> str:
        """Return the message with the session's figures."""
        total_s = self._earlier_s + (self._sent_s if self._open else 0.0)
        return say(
            "SessionMetadata",
            total_audio_duration_ms=milliseconds(total_s),
            total_input_character_count=self._all_characters,
            total_billable_character_count=self._all_characters,
        )

    def _reset(self) -> None:
        """Forget the utterance, which is over."""
        self._open = False
        self._turns.clear()
        self._past = []
        self._sent_s = 0.0


def milliseconds(seconds: float) -> int:
    """Convert seconds to milliseconds."""
    return round(seconds * 1000)


def warning(code: str, description: str = "") -> str:
    """Return a Warning message."""
    return say("Warning", code=code, description=description or WARNINGS[code])


def offset_of(offset: object) -> float | None:
    """Return the playback offset of an Interrupt in seconds of the session; None without one.
    MessageError if it is malformed."""
    if offset is None:
        return None
    value = (
        number(offset.get("value"))
        if isinstance(offset, dict) and offset.get("type") == "time_ms"
        else None
    )
    if value is None or value < 0:
        raise MessageError('playback_offset must be such as {"type": "time_ms", "value": 1250}.')
    return value / 1000


def speed_of(given: object) -> float:
    """Parse a speed. SpeedError if Flux does not allow it."""
    try:
        speed = float(given) if isinstance(given, str) else number(given)
    except ValueError:
        speed = None
    if speed is None or not SLOWEST <= speed <= FASTEST:
        shown = str(given)[:80]
        raise SpeedError(
            "SPEED_OUT_OF_RANGE", f"speed is {shown}, but must be from 0.5 to 1.5.", speed
        )
    if abs(speed / STEP - round(speed / STEP)) > 1e-6:
        raise SpeedError(
            "SPEED_INCREMENT_INVALID", f"speed is {speed:g}, but must be a multiple of 0.05.", speed
        )
    return round(speed, 2)


def delivery_of(query: Mapping[str, str]) -> Delivery:
    """Return the delivery for ``expressivity``. ConfigError for an unknown value."""
    given = query.get("expressivity", "0")
    if given not in LIVELY:
        raise ConfigError(f"expressivity is {given[:80]!r}, but must be one of -2, -1, 0, 1, 2.")
    return Delivery(pitch_range=LIVELY[given])


def voice_of(hub: Hub, model: str) -> tuple[str, str | None]:
    """Return voice and language for a model's name.

    It is ``flux-{voice}-{language}``, or a voice of ours with or without ``flux-``, whose name may
    have hyphens of its own. If no voice has the name, the language selects one.
    """
    name = model.removeprefix("flux-")
    for whole in (model, name):
        if hub.voices.known(whole):
            return whole, None
    voice, _, last_part = name.rpartition("-")
    # Without Flux's prefix, the last part may be anything.
    language = last_part if voice and name != model else None
    if hub.voices.known(voice):
        return voice, language
    return hub.voices.name(None, any_voice=True, language=language), language


def failure(error: RequestError) -> Response:
    """Return Deepgram's form of an error; its clients read the reason from a header."""
    reason = str(error).encode("ascii", "replace").decode().replace("\n", " ")
    body = {"err_code": error.code.upper(), "err_msg": str(error)}
    return JSONResponse(body, error.status, {**error.headers, "dg-error": reason})


def refused(error: SayaheadError) -> Response:
    """Return the answer to an invalid query."""
    return failure(
        RequestError(error.code if isinstance(error, SpeedError) else "invalid_option", str(error))
    )


def routes(hub: Hub) -> list[BaseRoute]:
    """``/v2/speak``."""

    @answers(hub, failure)
    async def sound(request: Request, caller: Caller) -> ASGIApp:
        query = request.query_params
        text = text_of(hub, await json_body(hub, request), "text")
        try:
            form = packed_format_of(query)
            speed = speed_of(query.get("speed", "1"))
            delivery = delivery_of(query)
        except ConfigError as error:
            return refused(error)
        voice, language = voice_of(hub, query.get("model", ""))
        options = m.Options(
            voice,
            language,
            any_voice=True,
            format=form,
            session=session_of(query, speed=speed),
            delivery=delivery,
        )
        return SpeechResponse(hub, caller, "flux", text, options, failure=failure)

    return [
        socket_route(hub, "/v2/speak", lambda socket: Flux(hub, socket.query_params), refused),
        Route("/v2/speak", sound, methods=["POST"]),
    ]
