"""What every protocol is made of: commands that a client gives and events that it gets, free of any
wire format.

A protocol translates its messages into commands and the events into its messages;
``driver.serve_session`` does all the rest. An utterance is one stream of text that is spoken with
one voice; most protocols call it a context. Characters count code points of the utterance's text;
seconds count from its first sample."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from sayahead.engine.heard import Heard
from sayahead.engine.options import SessionOptions
from sayahead.errors import ConfigError, SayaheadError, VoiceError
from sayahead.sound.formats import AudioFormat
from sayahead.types import PLAIN, Delivery


class GoneError(SayaheadError):
    """The peer has left; raised by a transport's ``send``."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a client may choose for one utterance."""

    voice: str | None = None
    """A voice's name, or NAME:SPEAKER; None: the server's default."""
    language: str | None = None
    """BCP 47 tag of a language, which chooses a voice where none is named."""
    any_voice: bool = False
    """Whether an unknown name means the default voice: clients of other services name those
    services' voices."""
    format: AudioFormat = field(default_factory=AudioFormat)
    """How the audio is sent."""
    session: SessionOptions = field(default_factory=SessionOptions)
    """How the text is spoken; with ``any_voice``, the speed is clamped to what the voice can do."""
    delivery: Delivery = PLAIN
    """How the text is said, as far as the voice can, until a Deliver asks for another way."""
    frame_s: float | None = None
    """Longest chunk of bare samples in one Audio event; None: as synthesised. Formats with frames
    of their own are not cut."""
    idle_s: float | None = None
    """Seconds without text after which the utterance fails; None: the server's."""
    breath_s: float | None = None
    """Seconds without text after which all of it is spoken and the sentence goes on; 0: never,
    None: the server's."""
    sole: bool = False
    """Whether the connection ends when the utterance fails."""
    file: bool = False
    """Whether the audio is a file of its own, which no player takes without any sound."""
    hears_skipped: bool = False
    """Whether the client hears of all that the voice cannot read; others get an error where that is
    the whole text."""
    whole: bool = False
    """Whether the client gets all audio at once, after the end: of a text that breaks off it has
    nothing."""


# Commands.


@dataclass(frozen=True, slots=True)
class Open:
    """Begin an utterance; nothing happens where it is open already."""

    utterance: str
    options: Options = field(default_factory=Options)


@dataclass(frozen=True, slots=True)
class Text:
    """More text for an open utterance, taken in verbatim."""

    utterance: str
    text: str


@dataclass(frozen=True, slots=True)
class Revise:
    """From a character of an open utterance's text on, it is now another; answered by Revised, or
    by Failed, which changes nothing. What was spoken stays; a flush that waits is taken back with
    what it was to speak, and answered."""

    utterance: str
    at: int
    """The first character that changes."""
    text: str
    """All text from there on."""
    mark: str | int | None = None
    """Returned in the answer."""


@dataclass(frozen=True, slots=True)
class Deliver:
    """Say the text that follows in another way."""

    utterance: str
    delivery: Delivery


@dataclass(frozen=True, slots=True)
class Speaker:
    """Somebody else says the text that follows."""

    utterance: str
    voice: str
    """A voice's name, or NAME:SPEAKER; empty: the utterance's own."""


@dataclass(frozen=True, slots=True)
class Flush:
    """Speak all text so far without waiting for more; answered by Flushed. The utterance stays
    open."""

    utterance: str
    mark: str | int | None = None
    """Returned in Flushed."""
    end: bool = True
    """Whether the sentence ends there; otherwise it goes on after a breath."""


@dataclass(frozen=True, slots=True)
class Finish:
    """No more text comes for this utterance; answered by Finished after its last audio."""

    utterance: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """Fall silent at once, as for a barge-in; answered by Cancelled. The name can be reused."""

    utterance: str
    played_s: float | None = None
    """Seconds of the utterance's audio that the listener has played; None: all that was sent."""
    live: bool = False
    """Whether, where ``played_s`` is None, the listener is taken to have played in real time what
    was sent."""


@dataclass(frozen=True, slots=True)
class Played:
    """How far the listener is, for utterances that keep up; of one that is gone already it means
    nothing."""

    utterance: str
    played_s: float
    """Seconds of the utterance's audio that have been played."""


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """A sign of life: for one utterance, or for all."""

    utterance: str | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """A message that the protocol could not read: answered by Failed, in order with the other
    events."""

    code: str
    message: str
    utterance: str | None = None
    fatal: bool = False
    """Whether the connection ends with it."""
    mark: str | int | None = None
    """The Revise that it was, by its mark."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A message of the protocol's own, to be sent in order with the events; returned as Echo."""

    message: object


@dataclass(frozen=True, slots=True)
class End:
    """No more commands follow: what is open is finished, then the connection ends."""


@dataclass(frozen=True, slots=True)
class Later:
    """Commands that take time to make, as those with a lexicon: whoever reads messages has them
    made by a thread."""

    make: Callable[[], Iterable[Command]]
    """Makes them; a SayaheadError is the message's."""

    def made(self) -> list[Command]:
        return list(self.make())


Command: TypeAlias = (
    Open
    | Text
    | Revise
    | Deliver
    | Speaker
    | Flush
    | Finish
    | Cancel
    | Played
    | KeepAlive
    | Refuse
    | Reply
    | End
)


# Events.


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """When a word is heard, and where it is in the text; final."""

    text: str
    """The word as it is spoken."""
    start: int
    """First character in the utterance's text."""
    end: int
    """End in the utterance's text (exclusive)."""
    onset_s: float
    """First moment of the word, from the utterance's first sample."""
    offset_s: float
    """End of its last phoneme."""
    speaker: str = ""
    """Who says it, once another than the utterance's own voice was named in the text."""
    written: str = ""
    """The word as it is written, without markup; empty if it goes on with what the word before
    stands for."""
    ends: bool = False
    """Whether a sentence, a heading or an item of a list ends with it."""


@dataclass(frozen=True, slots=True)
class Audio:
    """A chunk of audio, in order, without gaps."""

    utterance: str
    data: bytes
    """Encoded as the utterance's format says."""
    start_s: float
    """Its first moment, from the utterance's first sample."""
    duration_s: float
    """Its playing time; for formats with frames of their own, that of the samples put in."""
    words: tuple[SpokenWord, ...]
    """The words that begin in it."""
    text: str
    """The utterance's text from where earlier chunks ended to the end of this one's last word, and
    the blanks after it that have arrived."""
    text_start: int
    """Where that begins, in characters."""


@dataclass(frozen=True, slots=True)
class Revised:
    """A Revise was carried out, as far as the speech so far allows."""

    utterance: str
    mark: str | int | None
    at: int
    """The character from which the text was changed: the one asked for, or the end of what was
    spoken."""
    text: str
    """All text from there on, as it is now; what comes later is added to it."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Text that the voice cannot read: it is silent."""

    utterance: str
    start: int
    """Its first character in the utterance's text."""
    end: int
    """Its end there (exclusive)."""
    text: str


@dataclass(frozen=True, slots=True)
class Flushed:
    """All audio of the text before a Flush was sent."""

    utterance: str
    mark: str | int | None
    audio_s: float
    """Seconds of audio so far."""


@dataclass(frozen=True, slots=True)
class Finished:
    """All audio of an utterance was sent; it is gone."""

    utterance: str
    audio_s: float
    """Seconds of all its audio."""
    characters: int
    """Length of all its text."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """An utterance fell silent; it is gone."""

    utterance: str
    heard: Heard
    """What the listener has heard of it."""
    message: str | None = None
    """What is wrong with the seconds in Cancel, a sentence for people."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Something was refused or broke."""

    code: str
    """One of CODES, for programs."""
    message: str
    """A sentence for people."""
    utterance: str | None = None
    """The utterance that failed; None: the connection."""
    gone: bool = False
    """Whether the utterance (or the connection) ends with it."""
    mark: str | int | None = None
    """The Revise that was refused, by its mark; None: something else."""


@dataclass(frozen=True, slots=True)
class Echo:
    """A Reply, at its place among the events."""

    message: object


Event: TypeAlias = Audio | Revised | Skipped | Flushed | Finished | Cancelled | Failed | Echo
Send: TypeAlias = Callable[[Event], Awaitable[None]]
"""Hands an event to the peer; waits while the peer does not read, raises GoneError when it has
left."""

CODES = {
    "invalid_message": "a message that the protocol does not have",
    "invalid_option": "an option that is unknown or out of range",
    "unknown_voice": "a voice that the server does not offer",
    "unknown_context": "a context that is not open",
    "too_many_contexts": "more contexts than one connection may have",
    "too_much_text": "a message, or text or flushes that wait, beyond the limit",
    "overloaded": "the server is at capacity",
    "unauthorized": "no key, or a wrong one",
    "forbidden": "what the key may not use",
    "quota": "more than the key may use",
    "idle": "no text for too long",
    "too_long": "a connection open for too long",
    "stalled": "a peer that does not read",
    "shutdown": "the server is shutting down",
    "failed": "the server's own fault",
}
"""What ``Failed.code`` and ``Outcome.code`` can be; an Outcome can also be done or gone."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a connection ended."""

    code: str
    """done, gone (the peer left), or one of CODES."""
    message: str = ""
    """A sentence for people."""


CLOSING = {
    "done": 1000,
    "gone": 1000,
    "shutdown": 1001,
    "too_big": 1009,
    "failed": 1011,
    "overloaded": 1013,
}
"""Closing codes of sockets by outcome; all others are 1008, a breach of policy."""


STATUS = {
    "unauthorized": 401,
    "forbidden": 403,
    "quota": 429,
    "unknown_voice": 404,
    "stalled": 408,
    "idle": 408,
    "too_big": 413,
    "overloaded": 429,
    "too_many_contexts": 429,
    "failed": 500,
    "shutdown": 503,
    "unavailable": 503,
}
"""HTTP status by code; all others are 400."""


def code_of(error: SayaheadError, *, otherwise: str) -> str:
    """The code of an error about what a client chose; ``otherwise`` for errors of other kinds."""
    kinds = {VoiceError: "unknown_voice", ConfigError: "invalid_option"}
    return next((code for kind, code in kinds.items() if isinstance(error, kind)), otherwise)


def closing_code(outcome: Outcome) -> int:
    """The closing code of a WebSocket after this outcome."""
    return CLOSING.get(outcome.code, 1008)
