"""Voices: a folder with voice.json and its graphs, loaded once and shared by any number of sessions and threads."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from sayahead.config import from_mapping, nearest
from sayahead.contexts.distilled import Distilled, DistilledModel
from sayahead.engine.context import ContextPredictor, NoContext
from sayahead.engine.files import check_file
from sayahead.engine.policy import Policy
from sayahead.engine.session import Session
from sayahead.engine.synthesizer import AnySynthesizer, Pauses, TwoStage
from sayahead.errors import ConfigError, VoiceError
from sayahead.policies.agent import Agent, AgentModel
from sayahead.policies.characters import WaitKSteps
from sayahead.policies.learned import LearnedModel, LearnedPolicy, Network
from sayahead.policies.rules import LookaheadK
from sayahead.systems import CHARACTERS, KINDS
from sayahead.text.phonemizer import EnglishPhonemizer, Phonemizer
from sayahead.types import AudioChunk, Floats, Rendering
from sayahead.voices import installed_voices

FORMAT = 2


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a session of this voice uses where its caller says nothing."""

    lookahead: int
    """Words of lookahead, LookaheadK's k."""
    hold_back_s: float
    """Seconds of sound held back at the right end."""
    blind_hold_back_s: float
    """The same where a SPEAK sees nothing real of the future, as all of LookaheadK(0)'s do."""
    words: int = 1
    """Least words of a chunk, LookaheadK's."""
    context: str = "none"
    """What stands in for the future: none, or distilled, the voice's own predictor."""


@dataclass(frozen=True, slots=True)
class VoiceConfig:
    """voice.json: all that a voice is besides its graphs."""

    format: int
    """Version of this file's form."""
    name: str
    """What ``load_voice`` and ``--voice`` call it."""
    language: str
    """BCP 47 tag."""
    description: str
    """One line for a person."""
    license: str
    """SPDX identifier of the voice's licence."""
    source: str
    """Where its weights come from."""
    kind: str
    """Which synthesizer runs it."""
    sample_rate: int
    """Samples per second."""
    hop_length: int
    """Samples a frame."""
    files: dict[str, str]
    """File name to the SHA-256 of its content."""
    phonemes: dict[str, int]
    """Phoneme symbol to id."""
    stand_in: str
    """Word read behind the visible ones while the sentence goes on, for their pronunciation only."""
    lead_in_s: float
    """Most silence before a sentence's first audible sample."""
    pause_s: float
    """Silence after a sentence's last audible sample."""
    speed: tuple[float, ...]
    """Least and largest speed."""
    defaults: Defaults
    """What sessions use where their caller says nothing."""
    model: dict[str, Any]
    """What the kind alone needs; see its loader in ``kinds``."""
    inner_punctuation: bool = True
    """Whether the model knows punctuation inside a sentence."""
    distilled: DistilledModel | None = None
    """The voice's own predictor of context (Saeki-b), where it has one."""
    learned: LearnedModel | None = None
    """The voice's own policy, where it was taught one."""
    agent: AgentModel | None = None
    """The same for a voice that reads characters (Mohan)."""


class Options(TypedDict, total=False):
    """What a caller may choose for one session; what is absent is the voice's own."""

    policy: Policy
    """When to speak; default: LookaheadK with the voice's k, or the voice's agent where it reads characters."""
    context: ContextPredictor
    """What stands in for the future; default: nothing."""
    hold_back_s: float
    """Seconds of sound held back at the right end, 0 to 2; default: the voice's own, by what a SPEAK sees."""
    speed: float
    """Pace, 1 is the voice's own; 0.5 to 2."""
    volume: float
    """Factor on the samples, 0 to 4."""
    seed: int
    """Fixes the noise in the sound."""
    k2: int
    """Ma's second lookahead: SPEAKs that must follow before frames become sound."""
    delta: int
    """Frames of right context of the second stage; absent: all that it can use."""


class Voice:
    """A loaded voice. Stateless: sessions carry all that changes."""

    def __init__(
        self,
        config: VoiceConfig,
        synthesizer: AnySynthesizer,
        phonemizer: Phonemizer,
        *,
        distilled: ContextPredictor | None = None,
        learned: Callable[[float, float], Policy] | None = None,
        agent: Agent | None = None,
    ) -> None:
        """``learned`` makes a policy of price and words a minute."""
        self.config, self.synthesizer, self.phonemizer = config, synthesizer, phonemizer
        self._distilled, self._learned, self._agent = distilled, learned, agent

    @property
    def distilled(self) -> ContextPredictor:
        """The voice's own predictor of context, for sessions' ``context``; ConfigError where it has none."""
        if self._distilled is None:
            raise ConfigError(f"The voice {self.config.name!r} has no distilled context: choose another context.")
        return self._distilled

    def learned(self, price: float = 1.0, *, words_per_min: float = 180.0) -> Policy:
        """The voice's own policy, for sessions' ``policy``; ConfigError where it has none.

        ``price`` is what a second of waiting costs: at 1, as much as a word loses without lookahead. ``words_per_min``
        is the pace at which text is expected to come.
        """
        if self._learned is None:
            raise ConfigError(f"The voice {self.config.name!r} has no learned policy: choose another policy.")
        return self._learned(price, words_per_min)

    @property
    def agent(self) -> Agent:
        """The voice's own policy over characters, for sessions' ``policy``; ConfigError where it has none."""
        if self._agent is None:
            raise ConfigError(f"The voice {self.config.name!r} has no agent: choose another policy.")
        return self._agent

    @property
    def characters(self) -> bool:
        """Whether it reads characters, and policies decide on these and on decoder steps; otherwise words."""
        return self.config.kind in CHARACTERS

    @property
    def sample_rate(self) -> int:
        """Samples per second of all that it says."""
        return self.config.sample_rate

    def session(self, **options: Any) -> Session:
        """A new stream of speech; see Options for what may be chosen. ConfigError for what may not."""
        unknown = options.keys() - Options.__annotations__.keys()
        if unknown:
            name = sorted(unknown)[0]
            raise ConfigError(f"session(): unknown option {name!r}{nearest(name, Options.__annotations__)}.")
        defaults, slow_fast = self.config.defaults, self.config.speed
        policy = options.get("policy") or self._default_policy()
        # Where characters are read, no SPEAK has words that it could see or not.
        blind_s = None if "hold_back_s" in options or self.characters else defaults.blind_hold_back_s
        rendering = Rendering(
            speed=within("speed", options.get("speed", 1.0), *slow_fast),
            hold_back_s=within("hold_back_s", options.get("hold_back_s", defaults.hold_back_s), 0.0, 2.0),
            blind_hold_back_s=blind_s,
            seed=int(within("seed", options.get("seed", 0), 0, 2**63 - 1)),
            k2=int(within("k2", options.get("k2", 0), 0, 16)),
            delta=None if options.get("delta") is None else int(within("delta", options["delta"], 0, 1000)),
        )
        context = options.get("context") or self._default_context()
        if self.characters and not isinstance(context, NoContext):
            raise ConfigError(f"The voice {self.config.name!r} reads characters: it has no use for a context.")
        return Session(
            self.synthesizer,
            self.phonemizer,
            policy=policy,
            context=context,
            rendering=rendering,
            volume=within("volume", options.get("volume", 1.0), 0.0, 4.0),
            characters=self.characters,
        )

    def _default_policy(self) -> Policy:
        if self.characters:
            return self._agent or WaitKSteps()
        return LookaheadK(self.config.defaults.lookahead, words=self.config.defaults.words)

    def _default_context(self) -> ContextPredictor:
        return self.distilled if self.config.defaults.context == "distilled" else NoContext()

    def stream(self, fragments: Iterable[str], **options: Any) -> Iterator[AudioChunk]:
        """Chunks of speech, each as soon as the fragments read so far allow it."""
        session = self.session(**options)
        for fragment in fragments:
            session.push(fragment)
            yield from session.chunks()
        session.finish()
        yield from session.chunks()

    async def astream(
        self, fragments: AsyncIterable[str], *, idle_commit_s: float | None = None, **options: Any
    ) -> AsyncIterator[AudioChunk]:
        """As ``stream``, for asyncio; synthesis runs in a worker thread.

        With ``idle_commit_s``, text after which nothing comes for that long is spoken as it stands.
        """
        session = self.session(**options)
        source = aiter(fragments)
        waiting: asyncio.Future[str] | None = None
        try:
            while True:
                waiting = waiting or asyncio.ensure_future(anext(source))
                done, _ = await asyncio.wait({waiting}, timeout=idle_commit_s)
                if not done:
                    session.flush()
                else:
                    try:
                        session.push(waiting.result())
                    except StopAsyncIteration:
                        session.finish()
                    waiting = None
                while (chunk := await asyncio.to_thread(session.pull)) is not None:
                    yield chunk
                if session.finished:
                    return
                if waiting is not None:
                    await asyncio.wait({waiting})
        finally:
            if waiting is not None:
                waiting.cancel()

    def synthesize(self, text: str, **options: Any) -> Floats:
        """All samples (S,) of a text under the session's policy: what ``stream`` gives, joined."""
        chunks = [chunk.samples for chunk in self.stream([text], **options)]
        return np.concatenate(chunks) if chunks else np.zeros(0, np.float32)


def within(name: str, value: Any, least: float, most: float) -> Any:
    """The value, if it is a number between the two; otherwise a ConfigError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ConfigError(f"{name} is {value!r}, but must be a number from {least:g} to {most:g}.")
    return value


def load_voice(name: str | Path = "heart", *, threads: int = 1, verify: bool = True) -> Voice:
    """A voice by its name or its folder.

    ``threads`` is the number of processor cores a single step may use: one is enough, and leaves the others to other
    sessions.
    Raises VoiceError where the voice is missing, damaged (unless ``verify`` is off) or made for another version.
    """
    folder = installed_voices().get(str(name), Path(name))
    config, path = read_config(folder), folder / "voice.json"
    for file, digest in config.files.items():
        check_file(folder / file, digest if verify else None)
    if config.kind not in KINDS:
        raise VoiceError(f"{path}: kind {config.kind!r} is unknown{nearest(config.kind, KINDS)}.")
    phonemizer = EnglishPhonemizer(
        config.phonemes, stand_in=config.stand_in, inner_punctuation=config.inner_punctuation
    )
    try:
        acoustic, vocoder = KINDS[config.kind](config.model, folder, phonemizer, threads)
    except ConfigError as error:
        raise VoiceError(f"The voice in {folder} cannot be read: {error}") from error
    rate = config.sample_rate
    pauses = Pauses(lead_in=round(config.lead_in_s * rate), pause=round(config.pause_s * rate))
    distilled = None if config.distilled is None else Distilled.load(folder, config.distilled, threads=threads)
    synthesizer = TwoStage(acoustic, vocoder, sample_rate=rate, pauses=pauses)
    learned = None if config.learned is None else load_learned(folder / config.learned.weights, phonemizer)
    agent = None if config.agent is None else Agent.load(folder, config.agent, threads=threads)
    voice = Voice(config, synthesizer, phonemizer, distilled=distilled, learned=learned, agent=agent)
    # The first run of each network is slower than the others: have it now, not in somebody's first word.
    voice.synthesize("Sayahead.")
    return voice


def load_learned(path: Path, phonemizer: EnglishPhonemizer) -> Callable[[float, float], Policy]:
    """What makes a learned policy of price and pace, from the file of its network."""
    network = Network.load(path)
    clues = network.clues(phonemizer)
    return lambda price, words_per_min: LearnedPolicy(network, clues, price, words_per_min)


def read_config(folder: Path) -> VoiceConfig:
    """A voice's description, without loading it. VoiceError where it is missing, damaged or of another version."""
    path = folder / "voice.json"
    if not path.is_file():
        known = nearest(str(folder), installed_voices())
        raise VoiceError(
            f"There is no voice {str(folder)!r}{known}: it is neither installed nor a folder with voice.json."
        )
    try:
        config = from_mapping(VoiceConfig, json.loads(path.read_text(encoding="utf-8")), where=str(path))
    except (ConfigError, ValueError) as error:
        raise VoiceError(f"The voice in {folder} cannot be read: {error}") from error
    if config.format != FORMAT:
        raise VoiceError(f"{path}: format {config.format} is not one this version of sayahead reads ({FORMAT}).")
    return config
