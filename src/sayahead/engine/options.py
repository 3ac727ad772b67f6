"""What a caller may choose for one session: the record that Python, the command line, clients and
documents go by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

from sayahead.config import (
    Bound,
    Spec,
    bound_of,
    check_bound,
    describe,
    documented,
    hints_of,
    nearest,
)
from sayahead.engine.context import ContextPredictor
from sayahead.engine.keep_up import KeepUp, keep_up
from sayahead.engine.policy import Policy
from sayahead.errors import ConfigError, renamed
from sayahead.text.saying.lexicon import Lexicon

MARKUPS = ("none", "ssml")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """What a caller may choose for one session; what is left out is as the voice has it.

    A word in an annotation is what the command line calls the value. ConfigError for a value out of
    its bounds; what a voice alone can tell, such as its speeds and speakers, it checks when the
    session begins."""

    policy: Annotated[Policy | Spec | None, "NAME"] = None
    """When to speak: a policy, or the name of one with its options, such as
    ``learned:price=2,words_per_min=120``."""
    context: Annotated[ContextPredictor | Spec | None, "NAME"] = None
    """What stands in for the words to come: a predictor, or the name of one, such as
    ``random:count=3``."""
    hold_back_s: Annotated[float | None, Bound(0, 2, unit="s")] = None
    """Seconds of sound held back at the end until the next word is known; the voice's own depends
    on what it sees."""
    k2: Annotated[int, Bound(0, 16, unit="chunks")] = 0
    """Chunks that must follow before one becomes sound: the second lookahead in Ma's paper."""
    delta: Annotated[int | None, Bound(0, 1000, unit="frames")] = None
    """Frames of right context that the vocoder may use; as many as it can if left out."""
    speed: Annotated[float, Bound(0.1, 10, unit="times")] = 1.0
    """Pace: 2 is twice as fast. Most voices go from 0.5 to 2."""
    volume: Annotated[float, Bound(0, 4, unit="times")] = 1.0
    """Factor on the samples: 0.5 is half as loud."""
    seed: Annotated[int, Bound(0, 2**63 - 1)] = 0
    """Seed of the noise in the sound."""
    speaker: str | int | None = None
    """Name or number of a speaker, if the voice has several; the first one if left out."""
    pitch: Annotated[float | None, Bound(-12, 12, unit="semitones"), "SEMITONES"] = None
    """Semitones up, or down if negative. This and the next two are for voices that can be shaped,
    such as heart."""
    pitch_range: Annotated[float | None, Bound(0, 2, unit="times")] = None
    """Factor on how far the pitch moves: above 1 livelier, below 1 flatter; 0 is monotonous."""
    formants: Annotated[float | None, Bound(0.7, 1.4, unit="times")] = None
    """Factor on the resonances of the vocal tract: above 1 it sounds shorter, below 1 longer, like
    a large man's."""
    keep_up: Annotated[KeepUp | Spec | bool | None, "OPTIONS"] = None
    """Whether to keep up with the pace of the text: on, or options such as
    ``lag_s=2,max_speed=1.4``."""
    lexicon: Annotated[Lexicon | Mapping[str, str] | str | Path | None, "FILE"] = None
    """How to say words: a Lexicon, a table such as ``{"Nguyen": "/ˈwɪn/", "SQL": "sequel"}``, or a
    file of them."""
    step_words: Annotated[int | None, Bound(1, 16, unit="words")] = None
    """Words that one step may say where the player has sound left, which costs less; a server has
    8, others 1."""
    markup: str = "none"
    """What tags in the text mean: ``none`` (they are silent), or ``ssml``."""

    def __post_init__(self) -> None:
        """Check the options that were given. ConfigError for a wrong one."""
        hints = hints_of(type(self))
        for field in fields(self):
            if (value := getattr(self, field.name)) is not field.default:
                object.__setattr__(
                    self, field.name, check_bound(field.name, value, hints[field.name])
                )
        keep_up(self.keep_up)
        if self.markup not in MARKUPS:
            raise ConfigError(f"markup is {self.markup!r}{nearest(str(self.markup), MARKUPS)}.")


class ResearchOptions(TypedDict, total=False):
    """What ``research={...}`` takes: options of the papers, which experiments vary."""

    k2: int
    delta: int | None


class PlainOptions(TypedDict, total=False):
    """Options that are the same for a voice in this program and for a server."""

    hold_back_s: float | None
    speed: float
    volume: float
    seed: int
    speaker: str | int | None
    pitch: float | None
    pitch_range: float | None
    formants: float | None
    step_words: int | None
    markup: str
    research: ResearchOptions


class Options(PlainOptions, total=False):
    policy: Policy | Spec | None
    context: ContextPredictor | Spec | None
    keep_up: KeepUp | Spec | bool | None
    lexicon: Lexicon | Mapping[str, str] | str | Path | None


RESEARCH = tuple(ResearchOptions.__annotations__)


def flat(options: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments as fields of SessionOptions, which has those under ``research`` beside the
    others. They may stand there until version 0.3, with a warning."""
    research = options.get("research") or {}
    if not isinstance(research, Mapping):
        raise ConfigError(f"research is {describe(research)}, but must be a table of options.")
    if unknown := sorted(map(str, research.keys() - set(RESEARCH))):
        raise ConfigError(
            f"research: unknown option {unknown[0]!r}{nearest(unknown[0], RESEARCH)}."
        )
    for old in options.keys() & set(RESEARCH):
        renamed(f"{old}=...", f"research={{{old!r}: ...}}")
    return {**{name: options[name] for name in options if name != "research"}, **research}


class OptionRow(NamedTuple):
    """One option as people read of it."""

    name: str
    values: str
    """Its range and unit; empty where it is no number."""
    default: str
    """Empty where the voice has its own, or none."""
    text: str


def option_rows() -> list[OptionRow]:
    """All options in the order of the record."""
    hints = hints_of(SessionOptions)
    docs = documented(SessionOptions)
    return [
        OptionRow(
            field.name,
            str(bound_of(hints[field.name]) or ""),
            "" if field.default is None else str(field.default),
            docs.get(field.name, "").rstrip("."),
        )
        for field in fields(SessionOptions)
    ]


def described() -> str:
    """What ``help(sayahead.Options)`` says."""
    lines = ["Keyword arguments of ``speak`` and the like; also the fields of SessionOptions.", ""]
    for row in option_rows():
        name = f"research[{row.name!r}]" if row.name in RESEARCH else row.name
        notes = [row.values, row.default and f"default {row.default}"]
        about = "; ".join(note for note in notes if note)
        lines.append(f"{name} ({about}): {row.text}." if about else f"{name}: {row.text}.")
    return "\n".join(lines)


Options.__doc__ = described()
