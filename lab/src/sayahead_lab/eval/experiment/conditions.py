"""The conditions of an experiment: what speaks (voice, policy, context) and how text arrives, from
one TOML."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from sayahead import contexts, policies
from sayahead.config import Spec, call, class_flag, from_mapping, named, nearest, read_toml
from sayahead.contexts import CONTEXTS
from sayahead.engine.context import ContextPredictor
from sayahead.engine.keep_up import keep_up
from sayahead.engine.policy import Policy
from sayahead.engine.session import Session
from sayahead.errors import ConfigError
from sayahead.policies import POLICIES
from sayahead.voice import Voice, load_voice

from sayahead_lab.eval.experiment.clock import CLOCKS, TextClock
from sayahead_lab.eval.experiment.machine import check_cores
from sayahead_lab.eval.experiment.recorded_futures import ENDING, recorded_futures
from sayahead_lab.eval.experiment.trace import STOPWATCHES
from sayahead_lab.overrides import Override, overridden


@dataclass(frozen=True, slots=True)
class Condition:
    """A way of speaking: a row of the tables. ConfigError for an unknown policy or context."""

    name: str
    """Its name in the tables."""
    policy: Any = "lookahead"
    """A name of ``POLICIES`` with its options, as a string ("lookahead:k=2") or a table; kept as a
    string with all of them."""
    context: Any = "none"
    """The same for ``CONTEXTS``; for a language model ("lm") the model itself is an argument of the
    run."""
    voice: str = "heart"
    """A voice's name or folder."""
    hold_back_s: float | None = None
    """Sound held back; none: the voice's default."""
    k2: int = 0
    """Ma's second lookahead: SPEAKs that must follow before frames become sound."""
    delta: int | None = None
    """Frames of right context of the second stage (Ma 4.2); none: all it can use."""
    speed: float = 1.0
    """Pace."""
    seed: int = 0
    """Seed of the noise."""
    keep_up: Any = None
    """Follow the text's pace: options ("lag_s=2,max_speed=1.4"), a table of them, or true; kept as
    a string with all of them."""
    clock: str | None = None
    """The clock on which it speaks, the only one on which it is timed: for settings that depend on
    when text arrives, ``keep_up`` and policies that look at the text there is."""
    cores: int | None = None
    """Processor cores to run on, with as many threads (Ma Fig. 9); none: one thread on any free
    core."""
    computing: str = "wall"
    """What counts as computing: the ``wall`` clock's time, or that of the ``processor``, for a
    machine that others use, too."""

    def __post_init__(self) -> None:
        where = f"Condition {self.name!r}"
        if self.computing not in STOPWATCHES:
            raise ConfigError(
                f"{where}: computing is {self.computing!r}, but must be {' or '.join(STOPWATCHES)}."
            )
        if self.computing == "processor" and self.cores is not None:
            raise ConfigError(
                f"{where}: the time of several cores adds up: count cores by the wall clock."
            )
        object.__setattr__(self, "policy", in_full(f"{where}: policy", self.policy, POLICIES))
        object.__setattr__(self, "context", in_full(f"{where}: context", self.context, CONTEXTS))
        pace = keep_up(self.keep_up)
        if pace is not None:
            object.__setattr__(self, "keep_up", spelled("", asdict(pace)).removeprefix(":"))
        if self.clock is None and (pace is not None or self.policy_name == "opportunistic"):
            raise ConfigError(f"{where}: its sound depends on how the text arrives: name a clock.")

    @property
    def policy_name(self) -> str:
        """The policy without its options."""
        return named("policy", self.policy)[0]

    @property
    def policy_options(self) -> dict[str, Any]:
        """All options of the policy by name."""
        return named("policy", self.policy)[1]

    @property
    def context_name(self) -> str:
        """The context without its options."""
        return named("context", self.context)[0]


def in_full(what: str, spec: Spec, table: Mapping[str, Callable[..., object]]) -> str:
    """A name and all its options as a string, defaults included."""
    name, options = named(what, spec)
    if name not in table:
        raise ConfigError(f"{what} {name!r} is not known{nearest(name, table)}.")
    parameters = inspect.signature(table[name]).parameters
    for key in options:
        if key not in parameters:
            raise ConfigError(f"{what} {name!r}: unknown option {key!r}{nearest(key, parameters)}.")
    defaults = {
        key: one.default
        for key, one in parameters.items()
        if isinstance(one.default, int | float | str)
    }
    return spelled(name, {**defaults, **options})


def spelled(name: str, options: Mapping[str, Any]) -> str:
    """A name and options as a string."""
    written = {
        key: str(value).lower() if isinstance(value, bool) else value
        for key, value in options.items()
    }
    return name + ":" * bool(options) + ",".join(f"{key}={value}" for key, value in written.items())


FORMER_OPTIONS = ("k", "words", "first_chunk", "chunk", "price", "words_per_min")


def recorded_condition(settings: Mapping[str, Any], where: str) -> Condition:
    """A condition as recorded in an experiment's files, older ones in which policies' options are
    fields included."""
    policy = settings.get("policy", "lookahead")
    context = settings.get("context", "none")
    if "context_words" in settings or settings.keys() & set(FORMER_OPTIONS):
        options = {key: settings[key] for key in FORMER_OPTIONS if settings.get(key) is not None}
        parameters = inspect.signature(POLICIES[policy]).parameters if policy in POLICIES else {}
        policy = spelled(
            policy, {key: value for key, value in options.items() if key in parameters}
        )
        if context in ("random", "truth", "lm"):
            words = settings.get("context_words", 5)
            context = spelled(context, {"words" if context == "lm" else "count": words})
    former = {*FORMER_OPTIONS, "context_words", "policy", "context"}
    fields = {key: value for key, value in settings.items() if key not in former}
    return from_mapping(Condition, {**fields, "policy": policy, "context": context}, where=where)


@dataclass(frozen=True, slots=True)
class Clock:
    """How text arrives. ConfigError for an unknown kind."""

    name: str
    """Its name in the tables."""
    kind: Any
    """A name of ``CLOCKS`` with its options, as a string ("reader:words_per_min=180") or a table;
    kept as a string."""
    folder: str | None = None
    """word-ends: where each utterance's NAME.json or NAME.TextGrid lies, relative to the
    experiment's file."""
    voice: str = "heart"
    """word-ends without a folder: the voice whose whole sentences stand in for a speaker's."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", in_full(f"Clock {self.name!r}: kind", self.kind, CLOCKS))

    @property
    def speaker(self) -> str:
        """Name of the speaker's folder in the experiment."""
        return f"speaker of {self.name}"


@dataclass(frozen=True, slots=True)
class Matrix:
    """All of an experiment but its texts."""

    conditions: tuple[Condition, ...]
    """Rows of the tables; all others are compared with the first."""
    clocks: tuple[Clock, ...]
    """Each condition is timed on each of them."""
    count: int = 100
    """Utterances, evenly spaced over the list of texts."""
    language: str = "en"
    """What Whisper hears: the language of the texts, such as ``fr``."""


def load_matrix(path: Path, overrides: Sequence[Override] = ()) -> Matrix:
    """The experiment described in a TOML file, with other values (``--set``).

    ConfigError says what is wrong in it, and where.
    """
    data = read_toml(path)
    matrix = from_mapping(Matrix, overridden(data, overrides, where=str(path)), where=str(path))
    matrix = replace(matrix, clocks=tuple(located(clock, path.parent) for clock in matrix.clocks))
    conditions = [condition.name for condition in matrix.conditions]
    clocks = [clock.name for clock in matrix.clocks]
    check_folders(f"{path}: conditions", conditions)
    check_folders(f"{path}: clocks", clocks)
    for clock in matrix.clocks:
        text_clock(clock)
        if clock.speaker in conditions:
            raise ConfigError(
                f"{path}: conditions: the name {clock.speaker!r} is that of a clock's folder."
            )
    for condition in matrix.conditions:
        policy(condition)
        if condition.clock is not None and condition.clock not in clocks:
            raise ConfigError(
                f"{path}: condition {condition.name!r}: there is no clock {condition.clock!r}"
                f"{nearest(condition.clock, clocks)}."
            )
        if condition.context_name != "lm" and not taught(CONTEXTS, condition.context_name):
            context(condition, "", None)
    if matrix.count < 1:
        raise ConfigError(f"{path}: count is {matrix.count}, but must be at least 1.")
    return matrix


def check_folders(where: str, names: Sequence[str]) -> None:
    """ConfigError unless these can be the names of folders beside each other."""
    if not names:
        raise ConfigError(f"{where} is empty.")
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{where}: the name {name!r} appears twice.")
        if not name or set(name) & set("/\\"):
            raise ConfigError(f"{where}: {name!r} cannot be the name of a folder.")


def located(clock: Clock, folder: Path) -> Clock:
    """The clock with its folder's path resolved; ConfigError where there is no such folder."""
    if clock.folder is None:
        return clock
    if not (folder / clock.folder).is_dir():
        raise ConfigError(f"Clock {clock.name!r}: there is no folder {folder / clock.folder}.")
    return replace(clock, folder=str(folder / clock.folder))


def text_clock(clock: Clock, ends_s: tuple[float, ...] = ()) -> TextClock:
    """The clock that a table of the matrix describes; ``ends_s`` are an utterance's word ends, if
    it needs them."""
    name, options = named("kind", clock.kind)
    if name == "word-ends":
        options["ends_s"] = ends_s
    return call(CLOCKS[name], options, where=f"Clock {clock.name!r}: {name}")


def taught(table: Mapping[str, Callable[..., object]], name: str) -> bool:
    """Whether only a voice that has learned it can make the policy or context of that name."""
    return class_flag(table[name], "taught", default=False)


def policy(condition: Condition) -> Policy:
    """A condition's policy; ConfigError where its voice has none of that name, or for an unknown
    option."""
    if taught(POLICIES, condition.policy_name):
        return voice_of(condition).policy(condition.policy)
    return policies.policy(condition.policy)


def context(condition: Condition, text: str, lm: str | None) -> ContextPredictor:
    """A condition's context predictor, for an utterance's text.

    ``lm`` is the language model's name or folder, or a file of futures (``sayahead train
    futures``): beside one, the context ``hidden`` reads the model that the voice names, or the
    condition (``hidden:model=FOLDER``)."""
    name, options = named("context", condition.context)
    if name == "lm" and lm is not None:
        return language_model(lm, **options)
    if name == "truth":
        options["text"] = text
    if name == "hidden" and lm is not None and not lm.endswith(ENDING):
        options.setdefault("model", lm)
    if taught(CONTEXTS, name):
        return voice_of(condition).context(name, **options)
    return contexts.context(name, **options)


def voice_of(condition: Condition) -> Voice:
    """The condition's voice."""
    return voice(condition.voice, condition.cores or 1)


def needs(condition: Condition, lm: str | None) -> None:
    """ConfigError where a condition needs a language model and none is named, or more cores than
    there are."""
    check_cores(f"Condition {condition.name!r}", condition.cores)
    if condition.context_name == "lm" and lm is None:
        raise ConfigError(
            f"Condition {condition.name!r} wants a language model: give --lm NAME or --lm FOLDER."
        )


def session(condition: Condition, text: str, lm: str | None = None) -> Session:
    """A new session of the condition for an utterance's text, which only the true context may look
    at.

    Voices and language models are loaded once per process.
    """
    return voice_of(condition).session(
        **choices(condition, text, lm),
        speed=condition.speed,
        seed=condition.seed,
        research={"k2": condition.k2, "delta": condition.delta},
        keep_up=condition.keep_up,
    )


def choices(condition: Condition, text: str, lm: str | None = None) -> dict[str, Any]:
    """What a condition chooses for a text, as options of ``Voice.session``: policy, context and,
    unless it is the voice's own, what is held back."""
    held = {} if condition.hold_back_s is None else {"hold_back_s": condition.hold_back_s}
    return {"policy": policy(condition), "context": context(condition, text, lm), **held}


@functools.cache
def voice(name: str, threads: int) -> Voice:
    """A voice, loaded once per process."""
    return load_voice(name, threads=threads)


@functools.cache
def language_model(name: str, **options: Any) -> ContextPredictor:
    """A language model by its name or folder, loaded once per process; or a file of its
    predictions."""
    if name.endswith(ENDING):
        return recorded_futures(Path(name))
    return contexts.context("lm", model=name, **options)
