"""Voices: a folder with voice.json and its graphs, loaded once and shared by any number of sessions
and threads."""

from __future__ import annotations

import contextlib
import functools
import gc
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, overload
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from sayahead import contexts, policies
from sayahead.config import Spec, check_number, check_text, check_whole, describe, is_spec, nearest
from sayahead.engine.context import ContextPredictor, NoContext
from sayahead.engine.files import inside
from sayahead.engine.keep_up import KeepUp, keep_up
from sayahead.engine.letters import Letters
from sayahead.engine.onnx import beside
from sayahead.engine.options import Options, SessionOptions, flat
from sayahead.engine.policy import Policy, check_policy
from sayahead.engine.sentence import Sentence, Words
from sayahead.engine.session import Item, Session
from sayahead.engine.stages import Shapeable
from sayahead.engine.synthesizer import AnySynthesizer
from sayahead.errors import ConfigError, VoiceError, renamed
from sayahead.policies.characters import WaitEnd
from sayahead.policies.fixed import LookaheadK
from sayahead.speech import IDLE_S, Speech, fragments_of
from sayahead.systems import KINDS
from sayahead.systems.loading import Loaded
from sayahead.systems.taught import taught_contexts, taught_policies
from sayahead.text import Normalizer, Phonemizer
from sayahead.text.saying.lexicon import Lexicon
from sayahead.text.saying.pronouncing import Pronunciations, pronouncing
from sayahead.types import AudioChunk, EncodedChunk, Floats, Rendering, Shape
from sayahead.voices import VoiceConfig, chosen, located, read_config
from sayahead.voices.files import check_files

SHAPED = "shaped"
"""The kind of a voice that is another one with its pitch and formants changed."""
OUTPUT_OPTIONS = ("sample_rate", "format", "bit_rate", "idle_s")
"""What ``speak`` and ``stream`` take besides the options of a session."""


class Voice:
    """A loaded voice. Stateless: everything that changes is in its sessions."""

    def __init__(
        self,
        config: VoiceConfig,
        loaded: Loaded,
        *,
        policies: dict[str, Callable[..., Policy]] | None = None,
        contexts: dict[str, Callable[..., ContextPredictor]] | None = None,
    ) -> None:
        """``policies`` and ``contexts``: makers of those that the voice has learned, by name."""
        self.config = config
        self.loaded = loaded
        lookahead = functools.partial(
            LookaheadK, k=config.defaults.lookahead, words=config.defaults.words
        )
        # Whole sentences have one name, whatever a voice reads.
        fixed: dict[str, Callable[..., Policy]] = (
            {"wait-all": WaitEnd} if self.characters else {"lookahead": lookahead}
        )
        self._policies = {**fixed, **loaded.policies, **(policies or {})}
        self._contexts = {**loaded.contexts, **(contexts or {})}
        self._lexicons: WeakKeyDictionary[Lexicon, Pronunciations] = WeakKeyDictionary()
        words = loaded.normalizer
        tag = config.reads or config.language
        self._listed = functools.partial(
            Pronunciations, normalizer=words, symbols=config.phonemes, language=tag
        )
        self._unlisted = self._listed(None)
        # A lexicon that changes is read again: most of its entries are as they were.
        self._read = functools.lru_cache(maxsize=4096)(self._unlisted.read)
        self._whose = f"The voice {config.name!r}"
        self._others = dict[str, Voice]()

    @property
    def phonemizer(self) -> Phonemizer:
        """What turns its words into phonemes; ConfigError if the voice reads characters."""
        if self.loaded.phonemizer is None:
            raise ConfigError(f"The voice {self.config.name!r} reads characters, not phonemes.")
        return self.loaded.phonemizer

    def __repr__(self) -> str:
        return f"<Voice {self.config.name!r}: {self.config.language}, {self.config.sample_rate} Hz>"

    @property
    def synthesizer(self) -> AnySynthesizer:
        """What speaks."""
        return self.loaded.synthesizer

    def with_synthesizer(self, synthesizer: AnySynthesizer) -> Voice:
        """The same voice with another synthesizer instead of its own, for experiments."""
        return self.described(self.config, synthesizer)

    def described(self, config: VoiceConfig, synthesizer: AnySynthesizer) -> Voice:
        """The same voice under another description, with another synthesizer."""
        loaded = replace(self.loaded, synthesizer=synthesizer)
        return Voice(config, loaded, policies=self._policies, contexts=self._contexts)

    @property
    def characters(self) -> bool:
        """Whether it reads characters, so that policies decide on characters and decoder steps;
        otherwise words."""
        return self.loaded.unit == "characters"

    @property
    def sample_rate(self) -> int:
        """Samples per second of its audio."""
        return self.config.sample_rate

    def policy(self, spec: Policy | Spec | None = None, **options: Any) -> Policy:
        """A policy for its sessions, by name and options; what is not given is as the voice has it.

        ``voice.policy("learned", price=2)`` equals ``voice.policy("learned:price=2")``. None is the
        voice's default; a policy is returned as it is. ConfigError for an unknown name or option,
        or one that this voice does not have."""
        if spec is None:
            of_characters = "agent" if "agent" in self._policies else "wait-k-steps"
            usual = of_characters if self.characters else "lookahead"
            spec = self.loaded.policy or usual
        policy: Any = (
            policies.policy(spec, self._policies, self._whose, **options) if is_spec(spec) else spec
        )
        check_policy(policy, self.loaded.unit)
        return policy  # type: ignore[no-any-return]

    def context(
        self, spec: ContextPredictor | Spec | None = None, **options: Any
    ) -> ContextPredictor:
        """A context predictor for its sessions, by the same rules as ``policy``."""
        spec = self.config.defaults.context if spec is None else spec
        context: Any = (
            contexts.context(spec, self._contexts, self._whose, **options)
            if is_spec(spec)
            else spec
        )
        if isinstance(context, type) or not callable(getattr(context, "predict", None)):
            raise ConfigError(
                f"context is {context!r}, which has no predict(words): pass a predictor, or its"
                " name."
            )
        return context  # type: ignore[no-any-return]

    def session(
        self, record: SessionOptions | None = None, /, **options: Unpack[Options]
    ) -> Session:
        """A new stream of speech. Give SessionOptions as a record, by name, or both; those by name
        win.

        ConfigError for an unknown option or a wrong value.
        """
        given = flat(options)
        known = SessionOptions.__dataclass_fields__
        if unknown := sorted(given.keys() - known.keys()):
            hint = (
                ": speak() and stream() have it"
                if unknown[0] in OUTPUT_OPTIONS
                else nearest(unknown[0], [*known, *OUTPUT_OPTIONS])
            )
            raise ConfigError(f"unknown option {unknown[0]!r}{hint}.")
        chosen = replace(record or SessionOptions(), **given)
        if (voice := self.read_for(chosen.speaker)) is not self:
            return voice.session(chosen)
        rendering = self._rendering(chosen)
        return Session(
            self._synthesizer(chosen),
            self._normalizer(chosen),
            self._sentence(chosen),
            rendering=rendering,
            volume=chosen.volume * self.config.gain,
            keep_up=self._keep_up(chosen.keep_up, rendering.speed),
            step_words=chosen.step_words,
            speeds=self._speeds(chosen.speed),
        )

    def read_for(self, speaker: str | int | None) -> Voice:
        """The voice that reads the language of a speaker: itself, unless that language is another
        than its own."""
        other = self._other(speaker)
        if other is None:
            return self
        language, read = other
        if language not in self._others:
            config = replace(self.config, language=language, reads="")
            loaded = read()
            # Makes the language's rules, so that who asks has_read does not have to.
            loaded.normalizer(0)
            self._others[language] = Voice(
                config, loaded, policies=self._policies, contexts=self._contexts
            )
        return self._others[language]

    def has_read(self, speaker: str | int | None) -> bool:
        """Whether the language of a speaker has already been read, so that a session starts at
        once."""
        other = self._other(speaker)
        return other is None or other[0] in self._others

    def _other(self, speaker: str | int | None) -> tuple[str, Callable[[], Loaded]] | None:
        """A speaker's language and what reads it; None where it is the voice's own."""
        return self.loaded.other(self._speaker(speaker)) if self.loaded.other is not None else None

    def _synthesizer(self, options: SessionOptions) -> AnySynthesizer:
        """The voice's own, or one with the pitch and formants that a session wants."""
        own = self.config.shape
        synthesizer = self.loaded.synthesizer
        width, formants = (
            1.0 if factor is None else factor for factor in (options.pitch_range, options.formants)
        )
        shape = Shape(
            own.pitch + (options.pitch or 0.0), own.pitch_range * width, own.formants * formants
        )
        if shape == own:
            return synthesizer
        if not isinstance(synthesizer, Shapeable):
            raise ConfigError(
                f"{self._whose} has no source and filter, so its pitch and formants cannot be"
                " changed."
            )
        return synthesizer.shaped(shape)

    def knows(self, lexicon: object) -> bool:
        """Whether a lexicon has already been read, so that a session with it starts at once."""
        return isinstance(lexicon, Lexicon) and lexicon in self._lexicons

    def pronunciations(self, lexicon: object = None) -> Pronunciations:
        """A lexicon, or whatever SessionOptions take for one, as this voice says it; ConfigError if
        it cannot."""
        if lexicon is None:
            return self._unlisted
        compiled = Lexicon.of(lexicon)
        if (known := self._lexicons.get(compiled)) is None:
            self._lexicons[compiled] = self._listed(compiled, read=self._read)
            known = self._lexicons[compiled]
        return known

    def _normalizer(self, options: SessionOptions) -> Callable[[int], Normalizer]:
        """What makes words of a session's text, from a place of it on."""
        from sayahead.text.styles import Styles

        pronunciations = self.pronunciations(options.lexicon)
        normalizer = self.loaded.normalizer
        words = functools.partial(pronouncing, normalizer, pronunciations)
        if options.markup == "none":
            return Styles(words)
        from sayahead.text.ssml.reader import Markup, Resources
        from sayahead.text.ssml.say_as import say_as_of

        resources = Resources(
            words, pronunciations, say_as_of(self.config.language), self._speeds(options.speed)
        )
        return Styles(Markup(resources), ssml=True)

    def _speeds(self, speed: float) -> tuple[float, float]:
        """The least and the most that a word's speed may be, as a factor on a session's."""
        least, most = self.config.speed
        return min(1.0, least / speed), max(1.0, most / speed)

    def _keep_up(self, spec: object, speed: float) -> KeepUp | None:
        """Return the parsed option. ConfigError if the voice cannot speak that fast."""
        made = keep_up(spec)
        least, most = self.config.speed
        if made is not None and made.max_speed > 1.0 and speed * made.max_speed > most:
            bound = f"but can be {most / speed:g} at most at a speed of {speed:g}"
            if least == most:
                bound = "but this voice cannot change its speed within a sentence: give max_speed=1"
            raise ConfigError(f"{self._whose}: keep_up: max_speed is {made.max_speed:g}, {bound}.")
        return made

    def _rendering(self, options: SessionOptions) -> Rendering:
        """How the stages make sound with these options; the voice's own hold-back where none is
        given."""
        given_s = options.hold_back_s
        defaults = self.config.defaults
        return Rendering(
            check_number("speed", options.speed, *self.config.speed),
            defaults.hold_back_s if given_s is None else given_s,
            defaults.blind_hold_back_s if given_s is None else given_s,
            options.seed,
            options.k2,
            options.delta,
            self._speaker(options.speaker),
        )

    def _speaker(self, given: str | int | None) -> int:
        """The number of a speaker; the first one where none is given."""
        speakers = self.config.speakers
        if given is None:
            return min(speakers.values(), default=0)
        if not speakers:
            raise ConfigError(
                f"{self._whose} has only one speaker; drop speaker={given!r} (--speaker on the"
                " command line)."
            )
        number = speakers.get(str(given), int(given) if str(given).isdecimal() else None)
        if (
            number is None
            and self.loaded.blend is not None
            and not isinstance(given, int)
            and "+" in given
        ):
            return self.loaded.blend(given)
        if number is None or number not in speakers.values():
            raise ConfigError(
                f"{self._whose} has no speaker {given!r}{nearest(str(given), speakers)}."
            )
        return number

    def _sentence(self, options: SessionOptions) -> Sentence:
        """Return the open sentence of a new session: of words, or of characters."""
        # ``policy`` has checked that it is of the kind that this voice reads.
        policy: Any = self.policy(options.policy)
        context = self.context(options.context)
        if self.loaded.speller is None:
            return Words(policy, self.phonemizer, context, openers=self.loaded.openers)
        if not isinstance(context, NoContext):
            raise ConfigError(
                f"The voice {self.config.name!r} reads characters and takes no context: leave it"
                " out."
            )
        return Letters(policy, self.loaded.speller)

    @overload
    def stream(
        self,
        fragments: str | Iterable[Item],
        *,
        format: None = None,
        sample_rate: int | None = None,
        **options: Unpack[Options],
    ) -> Iterator[AudioChunk]: ...
    @overload
    def stream(
        self,
        fragments: str | Iterable[Item],
        *,
        format: str,
        sample_rate: int | None = None,
        bit_rate: int | None = None,
        **options: Unpack[Options],
    ) -> Iterator[EncodedChunk]: ...
    def stream(
        self,
        fragments: str | Iterable[Item],
        *,
        format: str | None = None,
        sample_rate: int | None = None,
        bit_rate: int | None = None,
        **options: Unpack[Options],
    ) -> Iterator[AudioChunk] | Iterator[EncodedChunk]:
        """Chunks of speech, each as soon as the text so far allows it.

        With a ``format`` they are bytes: pcm_s16le, pcm_f32le, mulaw, alaw, wav, flac, mp3, opus or
        aac; the last four need the extra ``codecs``. ``sample_rate``: None means the voice's own
        (or the next that the codec has); telephones take mulaw or alaw at 8000."""
        if format is None:
            return iter(self.speak(fragments, sample_rate=sample_rate, **options))
        speech = self.speak(fragments, **options)
        return iter(speech.encoded(format, sample_rate=sample_rate, bit_rate=bit_rate))

    @overload
    def astream(
        self,
        fragments: str | Iterable[Item] | AsyncIterable[Item],
        *,
        format: None = None,
        sample_rate: int | None = None,
        idle_s: float | None = IDLE_S,
        **options: Unpack[Options],
    ) -> AsyncIterator[AudioChunk]: ...
    @overload
    def astream(
        self,
        fragments: str | Iterable[Item] | AsyncIterable[Item],
        *,
        format: str,
        sample_rate: int | None = None,
        bit_rate: int | None = None,
        idle_s: float | None = IDLE_S,
        **options: Unpack[Options],
    ) -> AsyncIterator[EncodedChunk]: ...
    def astream(
        self,
        fragments: str | Iterable[Item] | AsyncIterable[Item],
        *,
        format: str | None = None,
        sample_rate: int | None = None,
        bit_rate: int | None = None,
        idle_s: float | None = IDLE_S,
        **options: Unpack[Options],
    ) -> AsyncIterator[AudioChunk] | AsyncIterator[EncodedChunk]:
        """The same as ``stream``, for asyncio; synthesis runs in a worker thread.

        After ``idle_s`` seconds without text, everything so far is spoken; None: never, it waits
        for more."""
        if format is None:
            return aiter(self.speak(fragments, idle_s=idle_s, sample_rate=sample_rate, **options))
        speech = self.speak(fragments, idle_s=idle_s, **options)
        return aiter(speech.encoded(format, sample_rate=sample_rate, bit_rate=bit_rate))

    def speak(
        self,
        text: str | Iterable[Item] | AsyncIterable[Item],
        *,
        idle_s: float | None = IDLE_S,
        sample_rate: int | None = None,
        **options: Unpack[Options],
    ) -> Speech:
        """Speak text. Iterate over the result, play it, save it, ask what was heard, or cancel it:
        see Speech."""
        return Speech(
            self.session(**options), fragments_of(text), idle_s=idle_s, sample_rate=sample_rate
        )

    def open_speech(
        self,
        *,
        idle_s: float | None = IDLE_S,
        sample_rate: int | None = None,
        **options: Unpack[Options],
    ) -> Speech:
        """Speech whose text you push piece by piece, from any thread: ``push``, ``revise``,
        ``finish``."""
        return Speech(self.session(**options), None, idle_s=idle_s, sample_rate=sample_rate)

    def speech(self, **options: Any) -> Speech:
        """The name of ``open_speech`` in version 0.1."""
        renamed("speech", "open_speech")
        return self.open_speech(**options)

    def synthesize(
        self, text: str, *, sample_rate: int | None = None, **options: Unpack[Options]
    ) -> Floats:
        """All samples (S,) of a text: the chunks of ``stream``, joined."""
        speech = self.speak(check_text("synthesize", text), sample_rate=sample_rate, **options)
        chunks = [chunk.samples for chunk in speech]
        return np.concatenate(chunks) if chunks else np.zeros(0, np.float32)


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Look for no garbage meanwhile: a voice's rules are a hundred thousand objects that stay."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@uncollected()
def load_voice(
    name: str | Path | None = None,
    *,
    language: str | None = None,
    gender: str | None = None,
    threads: int = 1,
    verify: bool = True,
) -> Voice:
    """Load a voice by its name or folder, or the first of a ``language`` (BCP 47) and a ``gender``
    (female, male).

    ``threads`` is the number of processor cores that one step may use. One is enough, and leaves
    the others to other sessions. VoiceError if the voice is missing, damaged (unless ``verify`` is
    off) or made for another version."""
    name = chosen(language, gender) if name is None else name
    if not isinstance(name, str | Path):
        raise VoiceError(f"The voice is {describe(name)}, but must be its name or its folder.")
    threads = check_whole("threads", threads, 1, 1024)
    folder = located(name)
    config = read_config(folder)
    if config.kind == SHAPED:
        return shaped_voice(config, folder, threads=threads, verify=verify)
    check_files(config, folder, verify=verify)
    if config.kind not in KINDS:
        raise VoiceError(
            f"{folder / 'voice.json'}: kind {config.kind!r} is"
            f" unknown{nearest(config.kind, KINDS)}."
        )
    try:
        contexts, loaded = beside(
            functools.partial(taught_contexts, config, folder, threads),
            functools.partial(KINDS[config.kind], config, folder, threads),
        )
        voice = Voice(
            config,
            loaded,
            policies=taught_policies(config, folder, loaded, threads),
            contexts=contexts,
        )
        # The first run of each network is slower than the others: have it now, not in somebody's
        # first word.
        voice.synthesize("Sayahead.")
        in_use[folder.resolve(), threads] = voice
    except VoiceError:
        raise
    except Exception as error:
        # Graphs and tables that do not fit each other fail in as many ways as there are.
        raise VoiceError(
            f"The voice in {folder} cannot be read: {error or type(error).__name__}"
        ) from error
    return voice


in_use: WeakValueDictionary[tuple[Path, int], Voice] = WeakValueDictionary()
"""Voices that are loaded, by folder and threads, for those that are another one's: they share its
networks."""


def shaped_voice(config: VoiceConfig, folder: Path, *, threads: int, verify: bool) -> Voice:
    """A voice whose parts are another's; VoiceError where that one is missing, or has no shape to
    change."""
    name = config.model.get("voice")
    if not isinstance(name, str) or set(config.model) != {"voice"}:
        raise VoiceError(
            f"{folder / 'voice.json'}: model must name the voice that is shaped, and nothing else."
        )
    base = next(
        (p for p in (inside(folder.parent, name), located(name)) if (p / "voice.json").is_file()),
        None,
    )
    if base is None or read_config(base).kind == SHAPED:
        raise VoiceError(
            f"The voice {config.name!r} is the voice {name!r} with another shape, which is not"
            " installed."
        )
    voice = in_use.get((base.resolve(), threads)) or load_voice(
        base, threads=threads, verify=verify
    )
    try:
        if not isinstance(voice.synthesizer, Shapeable):
            raise ConfigError("It has no source and filter.")
        return voice.described(config, voice.synthesizer.shaped(config.shape))
    except ConfigError as error:
        raise VoiceError(
            f"The voice {name!r} cannot be shaped as {config.name!r}: {error}"
        ) from error
