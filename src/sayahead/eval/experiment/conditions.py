"""The conditions of an experiment: what speaks (voice, policy, context) and how text arrives, from one TOML."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sayahead import policies
from sayahead.config import from_mapping, nearest
from sayahead.contexts import CONTEXTS
from sayahead.contexts.language_model import LanguageModel
from sayahead.contexts.recorded import ENDING, recorded_futures
from sayahead.engine.context import ContextPredictor
from sayahead.engine.policy import Policy
from sayahead.engine.session import Session
from sayahead.errors import ConfigError
from sayahead.eval.experiment.clock import AllAtOnce, Reader, TextClock, Tokens, Typist, WordEnds
from sayahead.eval.experiment.machine import check_cores
from sayahead.policies import OF_VOICES
from sayahead.voice import Voice, load_voice


@dataclass(frozen=True, slots=True)
class Condition:
    """A way of speaking: a row of the tables."""

    name: str
    """What the tables call it."""
    policy: str = "lookahead"
    """lookahead, wait-all, independent or learned; of voices that read characters: agent, wait-end or wait-k-steps."""
    k: int = 1
    """lookahead: words of it; wait-k-steps: its k."""
    words: int | None = None
    """independent: words of an utterance; lookahead: least words of a chunk (none: 2 and 1)."""
    first_chunk: int = 1
    """Least phonemes of a sentence's first chunk (Ma 5.1)."""
    chunk: int = 1
    """Least phonemes of the others."""
    context: str = "none"
    """none, random, lm: a language model's pseudo lookahead, distilled: the voice's own, truth: what really follows."""
    context_words: int = 5
    """Words that a predicted context has."""
    voice: str = "heart"
    """A voice's name or folder."""
    hold_back_s: float | None = None
    """Sound held back; none: the voice's own."""
    k2: int = 0
    """Ma's second lookahead: SPEAKs that must follow before frames become sound."""
    delta: int | None = None
    """Frames of right context of the second stage (Ma 4.2); none: all that it can use."""
    speed: float = 1.0
    """Pace."""
    seed: int = 0
    """Fixes noise and random words."""
    price: float = 1.0
    """learned: what a second of waiting costs, in units of what a word loses without lookahead."""
    words_per_min: float = 180.0
    """learned: the pace at which text is expected."""
    cores: int | None = None
    """Processor cores to run on, with as many threads (Ma Fig. 9); none: one thread, and whatever core is free."""


@dataclass(frozen=True, slots=True)
class Clock:
    """A way in which text arrives; which of the fields count depends on the kind."""

    name: str
    """What the tables call it."""
    kind: str
    """all-at-once, tokens, reader, typist or word-ends."""
    tokens_per_s: float = 50.0
    """tokens: the language model's pace."""
    jitter: float = 0.1
    """tokens: standard deviation of a token's time as a share of the mean."""
    words_per_min: float = 180.0
    """reader, typist: the pace."""
    pause_s: float = 1.0
    """typist: mean thinking pause."""
    corrections: float = 0.05
    """typist: share of words typed twice."""
    seed: int = 0
    """Fixes the draws."""
    folder: str | None = None
    """word-ends: where each utterance's NAME.json or NAME.TextGrid lies, seen from the experiment's file."""
    voice: str = "heart"
    """word-ends without a folder: the voice whose whole sentences stand for the speaker's."""

    @property
    def speaker(self) -> str:
        """What the speaker's folder in the experiment is called."""
        return f"speaker of {self.name}"


@dataclass(frozen=True, slots=True)
class Matrix:
    """All of an experiment but its texts."""

    conditions: tuple[Condition, ...]
    """Rows; the first is the one that the others are compared with."""
    clocks: tuple[Clock, ...]
    """Each condition is timed on each of them."""
    count: int = 100
    """Utterances, evenly spaced over the list of texts."""


def load_matrix(path: Path) -> Matrix:
    """The experiment described in a TOML file; ConfigError says what is wrong in it, and where."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise ConfigError(f"{path} is not TOML: {error}.") from error
    matrix = from_mapping(Matrix, data, where=str(path))
    matrix = replace(matrix, clocks=tuple(located(clock, path.parent) for clock in matrix.clocks))
    for kind, items in (("conditions", matrix.conditions), ("clocks", matrix.clocks)):
        names = [item.name for item in items]
        if not names:
            raise ConfigError(f"{path}: {kind} is empty.")
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"{path}: {kind}: the name {name!r} stands twice.")
            if not name or set(name) & set("/\\"):
                raise ConfigError(f"{path}: {kind}: {name!r} cannot be the name of a folder.")
    for clock in matrix.clocks:
        text_clock(clock)
        if clock.speaker in {condition.name for condition in matrix.conditions}:
            raise ConfigError(f"{path}: conditions: the name {clock.speaker!r} is that of a clock's folder.")
    for condition in matrix.conditions:
        policy(condition)
        if condition.context not in CONTEXTS:
            raise ConfigError(f"context {condition.context!r} is not known{nearest(condition.context, CONTEXTS)}.")
    if matrix.count < 1:
        raise ConfigError(f"{path}: count is {matrix.count}, but must be at least 1.")
    return matrix


def located(clock: Clock, folder: Path) -> Clock:
    """The clock with its folder as seen from here; ConfigError where there is none."""
    if clock.folder is None:
        return clock
    if not (folder / clock.folder).is_dir():
        raise ConfigError(f"Clock {clock.name!r}: there is no folder {folder / clock.folder}.")
    return replace(clock, folder=str(folder / clock.folder))


CLOCKS = ("all-at-once", "tokens", "reader", "typist", "word-ends")


def text_clock(clock: Clock, ends_s: tuple[float, ...] = ()) -> TextClock:
    """The clock that a table of the matrix describes; ``ends_s`` are an utterance's word ends, where it wants them."""
    match clock.kind:
        case "all-at-once":
            return AllAtOnce()
        case "tokens":
            return Tokens(clock.tokens_per_s, jitter=clock.jitter, seed=clock.seed)
        case "reader":
            return Reader(clock.words_per_min)
        case "typist":
            return Typist(clock.words_per_min, clock.pause_s, clock.corrections, clock.seed)
        case "word-ends":
            return WordEnds(ends_s)
    raise ConfigError(f"clock {clock.name!r}: kind {clock.kind!r} is not known{nearest(clock.kind, CLOCKS)}.")


OPTIONS = {
    "lookahead": ("k", "words", "first_chunk", "chunk"),
    "independent": ("words",),
    "learned": ("price", "words_per_min"),
    "wait-k-steps": ("k",),
}
"""Which fields of a condition are options of its policy."""


def policy(condition: Condition) -> Policy:
    """The policy that a table of the matrix describes."""
    name = condition.policy
    options = {option: getattr(condition, option) for option in OPTIONS.get(name, ())}
    if options.get("words", 1) is None:
        options["words"] = 1 if name == "lookahead" else 2
    return voice_of(condition)().policy(name, **options) if name in OF_VOICES else policies.policy(name, **options)


def context(condition: Condition, text: str, lm: str | None) -> ContextPredictor:
    """The context predictor that a table of the matrix describes, for an utterance's text.

    ``lm`` is the language model's name or folder, or a file of futures (``sayahead train futures``).
    """
    name, words, seed = condition.context, condition.context_words, condition.seed
    if name == "lm" and lm is not None:
        return language_model(lm, words)
    options: dict[str, Any] = {"truth": {"text": text, "count": words}, "random": {"count": words, "seed": seed}}
    return voice_of(condition)().context(name, **options.get(name, {}))


def voice_of(condition: Condition) -> Callable[[], Voice]:
    """A call that gives the condition's voice."""
    return functools.partial(voice, condition.voice, condition.cores or 1)


def needs(condition: Condition, lm: str | None) -> None:
    """ConfigError where a condition wants a language model and none is named, or cores that are not there."""
    check_cores(f"Condition {condition.name!r}", condition.cores)
    if condition.context == "lm" and lm is None:
        raise ConfigError(f"Condition {condition.name!r} wants a language model: give --lm NAME or --lm FOLDER.")


def session(condition: Condition, text: str, lm: str | None = None) -> Session:
    """A new session of the condition for an utterance's text, at which nothing but a context of the truth looks.

    Voices and language models are loaded once a process.
    """
    options: dict[str, Any] = {} if condition.hold_back_s is None else {"hold_back_s": condition.hold_back_s}
    return voice_of(condition)().session(
        policy=policy(condition),
        context=context(condition, text, lm),
        speed=condition.speed,
        seed=condition.seed,
        k2=condition.k2,
        delta=condition.delta,
        **options,
    )


@functools.cache
def voice(name: str, threads: int) -> Voice:
    return load_voice(name, threads=threads)


@functools.cache
def language_model(name: str, words: int) -> ContextPredictor:
    """A language model by its name or folder; or a file of what one said."""
    return recorded_futures(Path(name)) if name.endswith(ENDING) else LanguageModel(name, words=words)
