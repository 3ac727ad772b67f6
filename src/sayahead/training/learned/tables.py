"""What each word would be with none to three words of lookahead, against the same voice's whole sentence: tables.

The acoustic model alone is asked, no vocoder; from one past, whose words were spoken with lookahead drawn at random, it
is stepped with each lookahead, and once more where nothing was seen: a word's end is held back until then. An episode
of READ and SPEAK is then a matter of looking up, thousands a second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayahead.engine.stages import Frames, moved
from sayahead.engine.synthesizer import TwoStage
from sayahead.errors import ConfigError
from sayahead.eval.measures.prosody import PITCH, VOICED_HZ
from sayahead.policies.learned import MOST
from sayahead.text.normalizer import Normalizer
from sayahead.types import Floats, Rendering, Segment, Word
from sayahead.voice import Voice

PARTS = ("duration, ms", "pitch, cents", "frames")
"""What a word's distance to the full sentence is made of: of its duration; of the pitch of its frames that are voiced
in both, summed; of what its frames are made from (Euclidean, of the encoding that the decoder gets), summed."""
ENCODING = slice(0, PITCH)
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Table:
    """A sentence of N words."""

    text: str
    """The source text."""
    words: tuple[Word, ...]
    """Its words."""
    needs: tuple[int, ...]
    """How many characters must be read until each word is final; one more than there are: the end of the text."""
    frames: Values
    """(N, 2) first frame and end of each word in the full sentence."""
    length: int
    """Frames of the full sentence."""
    apart: Values
    """(N, MOST + 1, 3) the ``PARTS`` of each word with each lookahead."""
    voiced: Values
    """(N,) voiced frames of each word in the full sentence."""


def needed(text: str) -> tuple[tuple[Word, ...], tuple[int, ...]]:
    """The words of a text, and the characters read when each is final: ``len(text) + 1`` for those that end it."""
    normalizer, words, needs = Normalizer(), list[Word](), list[int]()
    for number, letter in enumerate(text, start=1):
        found = normalizer.push(letter)
        words += found
        needs += [number] * len(found)
    found = normalizer.flush()
    return (*words, *found), (*needs, *[len(text) + 1] * len(found))


def one_sentence(text: str) -> bool:
    """Whether the text is one sentence, of two words or more."""
    words, _ = needed(text)
    return len(words) > 1 and not any(word.ends for word in words[:-1])


class Tabulator:
    """Makes the tables of one voice; ConfigError for a voice without an acoustic model."""

    def __init__(self, voice: Voice, *, hold_back_s: float) -> None:
        if not isinstance(voice.synthesizer, TwoStage):
            raise ConfigError(f"The voice {voice.config.name!r} has no acoustic model: choose another voice.")
        self._acoustic: Any = voice.synthesizer._acoustic
        self._phonemizer, self._rendering = voice.phonemizer, Rendering(hold_back_s=hold_back_s)
        self.frame_s = voice.config.hop_length / voice.config.sample_rate
        self._hold_back = round(hold_back_s / self.frame_s)

    def __call__(self, text: str, draw: np.random.Generator) -> Table:
        """The table of a text of one sentence."""
        words, needs = needed(text)
        words = (*words[:-1], Word(words[-1].text, words[-1].start, words[-1].end, ends=True))
        whole, _ = self._step(words, 0, len(words), self._acoustic.initial(), lookahead=0)
        apart, state, done = np.zeros((len(words), MOST + 1, len(PARTS))), self._acoustic.initial(), 0
        for at in range(len(words)):
            most = min(MOST, len(words) - 1 - at)
            made = [self._step(words, at, 1, state, lookahead=ahead) for ahead in range(most + 1)]
            for ahead, (frames, after) in enumerate(made):
                if ahead == 0 and most:
                    frames = followed(frames, self._step(words, at + 1, 1, after, lookahead=0)[0])
                apart[at, ahead] = distance(frames, done, frames.words[0], whole.final, whole.words[at])
            apart[at, most + 1 :] = apart[at, most]
            frames, state = made[int(draw.integers(most + 1))]
            done += len(frames.final)
        spans = np.array(whole.words, np.float64)
        pitch = whole.final[:, PITCH] > VOICED_HZ
        voiced = np.array([pitch[first:end].sum() for first, end in whole.words], np.float64)
        return Table(text, words, needs, spans, len(whole.final), apart, voiced)

    def _step(self, words: tuple[Word, ...], at: int, count: int, state: Any, *, lookahead: int) -> tuple[Frames, Any]:
        """Frames of ``count`` words from ``at`` on, as a session without a context asks for them."""
        shown = words[at : at + count + lookahead]
        said = self._phonemizer.phonemize(shown, left=[word.text for word in words[:at]])
        bounds = np.cumsum([0, *(len(word.ids) for word in said)])
        spans = tuple(
            (int(begin) + one.first, int(begin) + one.end) for begin, one in zip(bounds, said[:count], strict=False)
        )
        ids = np.concatenate([word.ids for word in said])
        segment = Segment(ids, int(bounds[count]), spans, shown[-1].ends)
        frames, state = self._acoustic.step(segment, state, self._rendering, hold_back=self._hold_back)
        return frames, state


def followed(frames: Frames, later: Frames) -> Frames:
    """A word's step as the next one leaves it, which may draw out what is held back, and knows what follows."""
    final = np.concatenate([frames.final, later.final])
    return Frames(final, later.right, moved(frames.words, later.drawn), later.ended)


def distance(
    made: Frames, done: int, span: tuple[int, int], whole: Floats, full: tuple[int, int], *, frame_ms: float = 12.5
) -> Values:
    """(3,) the ``PARTS`` of a word: its ``span`` in a step behind ``done`` final frames, ``full`` in the ``whole``.

    Frames are partners where they lie at the same share of the word (``eval.prosody.differences``). What is held back
    of the word counts as it was expected.
    """
    length, own = span[1] - span[0], full[1] - full[0]
    duration = frame_ms * abs(length - own)
    if not (length and own):
        return np.array([duration, 0.0, 0.0])
    frames = np.concatenate([made.final, made.right])
    rows = span[0] - done + (2 * np.arange(own) + 1) * length // (2 * own)
    ours, theirs = frames[np.clip(rows, 0, len(frames) - 1)], whole[full[0] : full[1]]
    pitch = np.stack([ours[:, PITCH], theirs[:, PITCH]]).astype(np.float64)
    pitch = pitch[:, (pitch > VOICED_HZ).all(axis=0)]
    cents = 1200 * np.abs(np.log2(pitch[0] / pitch[1])).sum()
    return np.array([duration, cents, np.linalg.norm(ours[:, ENCODING] - theirs[:, ENCODING], axis=1).sum()])


def make_tables(
    voice: Voice, texts: Sequence[str], *, hold_back_s: float, seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Table]:  # fmt: skip
    """The tables of the texts that are one sentence, in order."""
    tabulator, tables = Tabulator(voice, hold_back_s=hold_back_s), []
    for number, text in enumerate(texts):
        if one_sentence(text):
            tables.append(tabulator(text, np.random.default_rng([seed, number])))
        progress(number + 1)
    return tables


def save_tables(path: Path, tables: Sequence[Table]) -> None:
    """Write tables to an ``.npz`` file."""
    np.savez_compressed(
        path,
        texts=np.array([table.text for table in tables]),
        counts=np.array([len(table.words) for table in tables]),
        lengths=np.array([table.length for table in tables]),
        frames=np.concatenate([table.frames for table in tables]),
        apart=np.concatenate([table.apart for table in tables]).astype(np.float32),
        voiced=np.concatenate([table.voiced for table in tables]),
    )


def load_tables(path: Path) -> list[Table]:
    """The tables of a file; ConfigError where there is none."""
    if not path.is_file():
        raise ConfigError(
            f"There are no tables in {path}: make them with `python -m sayahead.training.learned.task tables`."
        )
    with np.load(path) as file:
        ends = np.cumsum(file["counts"])[:-1]
        parts = [np.split(file[name].astype(np.float64), ends) for name in ("frames", "apart", "voiced")]
        texts, lengths = [str(text) for text in file["texts"]], file["lengths"]
    tables = []
    for text, length, frames, apart, voiced in zip(texts, lengths, *parts, strict=True):
        words, needs = needed(text)
        words = (*words[:-1], Word(words[-1].text, words[-1].start, words[-1].end, ends=True))
        tables.append(Table(text, words, needs, frames, int(length), apart, voiced))
    return tables
