"""``dialogue``: whose voice is whose in a text with several speakers, whose tags ``engine/cast.py``
finds."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from sayahead.config import nearest
from sayahead.engine.cast import Cast, Tags
from sayahead.engine.options import Options, SessionOptions, flat
from sayahead.engine.session import Item, Session, Speaker
from sayahead.errors import TextError, VoiceError
from sayahead.speech import IDLE_S, Speech
from sayahead.voice import Voice, load_voice
from sayahead.voices import DEFAULT, VoiceConfig, installed_voices, read_config

Turn = tuple[str, str | Iterable[str] | AsyncIterable[str]]
"""Who speaks, and what: a text or its pieces."""


def dialogue(
    turns: str | Iterable[Turn | Item] | AsyncIterable[Turn | Item],
    *,
    cast: Mapping[str, str | Path | Voice] | None = None,
    idle_s: float | None = IDLE_S,
    sample_rate: int | None = None,
    **options: Unpack[Options],
) -> Speech:
    """Speak a text with several speakers: see Speech.

    ``turns`` are pairs of who speaks and what, a text or its pieces: ``[("heart", tokens),
    ("am_michael", tokens)]``; or text in which ``[voice:NAME]`` says who speaks from there on, or a
    line that begins with a name of the cast and a colon, as in a script. A name is that of an
    installed voice, of a speaker of one (``family:am_puck``), or in ``cast``, which gives the voice
    of each: ``{"Ann": "heart", "Ben": voice}``. Words have their ``speaker``. Options are those of
    ``Voice.session``, for all speakers.

    VoiceError for a turn of nobody; a ``[voice:NAME]`` of nobody is silent, and told as skipped.
    """
    speakers = Speakers(cast or {}, SessionOptions(**flat(options)))
    return Speech(speakers.session(), flattened(turns), idle_s=idle_s, sample_rate=sample_rate)


class Speakers:
    """Who may speak, by name; each voice is loaded when it speaks first."""

    def __init__(self, cast: Mapping[str, str | Path | Voice], options: SessionOptions) -> None:
        """ConfigError for options that are wrong, VoiceError for a voice of the cast that is not
        installed."""
        self._cast = dict(cast)
        self._options = options
        self._installed = installed_voices()
        for name, voice in self._cast.items():
            if (
                isinstance(voice, str)
                and not self._is_installed(voice)
                and not Path(voice).is_dir()
            ):
                raise VoiceError(
                    f"cast: {name} is {voice!r}, which is no"
                    f" voice{nearest(voice, self._installed)}."
                )
        self._loaded = functools.cache(load_voice)
        first = next(iter(self._cast.values()), DEFAULT)
        self._rate = (
            first.sample_rate
            if isinstance(first, Voice)
            else self._described(str(first)).sample_rate
        )

    def session(self) -> Session:
        """A stream of speech in which they speak; the first of the cast begins."""
        first = next(iter(self._cast), DEFAULT)
        tags = Tags(elements=self._options.markup == "ssml", lines=self._cast)
        steps = self._options.step_words
        return Cast(
            self.opened,
            self.knows,
            sample_rate=self._rate,
            first=first,
            tags=tags,
            step_words=steps,
        )

    def knows(self, name: str) -> bool:
        """Whether there is somebody of that name whose samples are as many a second as the
        others'."""
        voice = self._cast.get(name, name)
        if isinstance(voice, Voice):
            return voice.sample_rate == self._rate
        known = name in self._cast or self._is_installed(name)
        return known and self._described(str(voice)).sample_rate == self._rate

    def opened(self, name: str) -> Session:
        """A session of somebody who is known."""
        voice = self._cast.get(name, name)
        if isinstance(voice, Voice):
            return voice.session(self._options)
        voice, speaker = self._parts(str(voice))
        options = self._options if speaker is None else replace(self._options, speaker=speaker)
        return self._loaded(voice).session(options)

    def _parts(self, voice: str) -> tuple[str, str | None]:
        """A voice, and its speaker if one is named."""
        name, _, speaker = voice.rpartition(":")
        return (name, speaker) if name in self._installed else (voice, None)

    def _is_installed(self, voice: str) -> bool:
        name, speaker = self._parts(voice)
        return name in self._installed and (
            speaker is None or speaker in self._described(name).speakers
        )

    def _described(self, voice: str) -> VoiceConfig:
        name, _ = self._parts(voice)
        return read_config(self._installed.get(name, Path(name)))


def flattened(
    turns: str | Iterable[Turn | Item] | AsyncIterable[Turn | Item],
) -> str | Iterable[Item] | AsyncIterable[Item]:
    """Turns as pieces of one text. TextError for what are none."""
    if isinstance(turns, AsyncIterable):
        return flattened_async(turns)
    if isinstance(turns, str):
        return turns
    if not isinstance(turns, Iterable):
        raise TextError(
            f"dialogue() takes text, or pairs of who speaks and what, not {type(turns).__name__}."
        )
    return flattened_sync(turns)


def flattened_sync(turns: Iterable[Turn | Item]) -> Iterator[Item]:
    """The pieces of turns that are there, or come from iterators."""
    for turn in turns:
        if not isinstance(turn, tuple):
            yield turn
            continue
        name, text = turn
        if isinstance(text, AsyncIterable):
            raise TextError(f"The text of {name} is an async iterator: give the turns as one, too.")
        yield Speaker(name)
        yield from [text] if isinstance(text, str) else text
        yield "\n"


async def flattened_async(turns: AsyncIterable[Turn | Item]) -> AsyncIterator[Item]:
    """The pieces of turns that come from async iterators, or whose texts do."""
    async for turn in turns:
        if not isinstance(turn, tuple):
            yield turn
            continue
        name, text = turn
        yield Speaker(name)
        if isinstance(text, AsyncIterable):
            async for piece in text:
                yield piece
        else:
            for piece in [text] if isinstance(text, str) else text:
                yield piece
        yield "\n"
