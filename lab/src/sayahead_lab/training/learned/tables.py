"""Tables of each word with none to three words of lookahead against the same voice's whole
sentence.

Only the acoustic model runs, no vocoder; from one past, whose words were spoken with lookahead
drawn at random, it is stepped with each lookahead, and once more where nothing was seen: a word's
end is held back until then. An episode of READ and SPEAK is then a lookup, thousands a second.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sayahead.config import from_mapping
from sayahead.engine.files import sha256
from sayahead.engine.stages import Frames, moved
from sayahead.engine.synthesizer import TwoStage
from sayahead.errors import ConfigError
from sayahead.policies.learned import MOST
from sayahead.text.reading.stream import new_reader
from sayahead.types import Floats, Rendering, Segment, Word
from sayahead.voice import Voice

from sayahead_lab.eval.measures.prosody import PITCH, VOICED_HZ
from sayahead_lab.training.loop.saved_run import DESCRIPTION

PARTS = ("duration, ms", "pitch, cents", "frames")
"""What a word's distance to the full sentence is made of: of its duration; of the pitch of its
frames that are voiced in both, summed; of what its frames are made from (Euclidean, of the encoding
that the decoder gets), summed."""
ENCODING = slice(0, PITCH)
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClueTable:
    """A sentence of N words."""

    text: str
    """The source text."""
    words: tuple[Word, ...]
    """Its words."""
    needs: tuple[int, ...]
    """How many characters must be read until each word is final; one more than there are: the end
    of the text."""
    frames: Values
    """(N, 2) first frame and end of each word in the full sentence."""
    length: int
    """Frames of the full sentence."""
    apart: Values
    """(N, MOST + 1, 3) the ``PARTS`` of each word with each lookahead."""
    voiced: Values
    """(N,) voiced frames of each word in the full sentence."""


def needed(text: str) -> tuple[tuple[Word, ...], tuple[int, ...]]:
    """The words of a text, and the characters read when each is final: ``len(text) + 1`` for those
    that end it."""
    normalizer = new_reader()
    words = list[Word]()
    needs = list[int]()
    for number, letter in enumerate(text, start=1):
        final = normalizer.push(letter)
        words += final
        needs += [number] * len(final)
    rest = normalizer.flush()
    return (*words, *rest), (*needs, *[len(text) + 1] * len(rest))


def one_sentence(text: str) -> bool:
    """Whether the text is one sentence, of two words or more."""
    words, _ = needed(text)
    return len(words) > 1 and not any(word.ends for word in words[:-1])


class Tabulator:
    """Computes the tables of one voice; ConfigError for a voice without an acoustic model."""

    def __init__(self, voice: Voice, *, hold_back_s: float) -> None:
        if not isinstance(voice.synthesizer, TwoStage):
            raise ConfigError(
                f"The voice {voice.config.name!r} has no acoustic model: choose another voice."
            )
        self._acoustic: Any = voice.synthesizer.acoustic
        self._phonemizer = voice.phonemizer
        self._rendering = Rendering(hold_back_s=hold_back_s)
        self.frame_s = voice.config.hop_length / voice.config.sample_rate
        self._hold_back = round(hold_back_s / self.frame_s)

    def __call__(self, text: str, draw: np.random.Generator) -> ClueTable:
        """The table of a text of one sentence."""
        words, needs = needed(text)
        words = (*words[:-1], Word(words[-1].text, words[-1].start, words[-1].end, ends=True))
        sentence, _ = self._step(words, 0, len(words), self._acoustic.initial(), lookahead=0)
        apart = np.zeros((len(words), MOST + 1, len(PARTS)))
        state = self._acoustic.initial()
        done = 0
        for at in range(len(words)):
            most = min(MOST, len(words) - 1 - at)
            steps = [self._step(words, at, 1, state, lookahead=ahead) for ahead in range(most + 1)]
            for ahead, (frames, after) in enumerate(steps):
                if ahead == 0 and most:
                    frames = followed(frames, self._step(words, at + 1, 1, after, lookahead=0)[0])
                apart[at, ahead] = distance(
                    frames, done, frames.words[0], sentence.final, sentence.words[at]
                )
            apart[at, most + 1 :] = apart[at, most]
            frames, state = steps[int(draw.integers(most + 1))]
            done += len(frames.final)
        spans = np.array(sentence.words, np.float64)
        pitch = sentence.final[:, PITCH] > VOICED_HZ
        voiced = np.array([pitch[first:end].sum() for first, end in sentence.words], np.float64)
        return ClueTable(text, words, needs, spans, len(sentence.final), apart, voiced)

    def _step(
        self, words: tuple[Word, ...], at: int, count: int, state: Any, *, lookahead: int
    ) -> tuple[Frames, Any]:
        """Frames of ``count`` words from ``at`` on, as a session without a context asks for
        them."""
        visible = words[at : at + count + lookahead]
        pronounced = self._phonemizer.phonemize(visible, left=[word.text for word in words[:at]])
        bounds = np.cumsum([0, *(len(word.ids) for word in pronounced)])
        pairs = zip(bounds.tolist(), pronounced[:count], strict=False)
        spans = tuple((begin + one.first, begin + one.end) for begin, one in pairs)
        ids = np.concatenate([word.ids for word in pronounced])
        segment = Segment(ids, int(bounds[count]), spans, visible[-1].ends)
        frames, state = self._acoustic.step(
            segment, state, self._rendering, hold_back=self._hold_back
        )
        return frames, state


def followed(frames: Frames, later: Frames) -> Frames:
    """A word's step as the next one leaves it, which may draw out what is held back, and knows what
    follows."""
    final = np.concatenate([frames.final, later.final])
    return Frames(final, later.right, moved(frames.words, later.drawn), later.ended)


def distance(
    step: Frames,
    done: int,
    span: tuple[int, int],
    whole: Floats,
    full: tuple[int, int],
    *,
    frame_ms: float = 12.5,
) -> Values:
    """(3,) the ``PARTS`` of a word: its ``span`` in a step after ``done`` final frames, ``full`` in
    the ``whole``.

    Frames are partners where they lie at the same share of the word (``eval.prosody.differences``).
    What is held back of the word counts as it was expected.
    """
    length = span[1] - span[0]
    whole_length = full[1] - full[0]
    duration = frame_ms * abs(length - whole_length)
    if not (length and whole_length):
        return np.array([duration, 0.0, 0.0])
    frames = np.concatenate([step.final, step.right])
    rows = span[0] - done + (2 * np.arange(whole_length) + 1) * length // (2 * whole_length)
    ours = frames[np.clip(rows, 0, len(frames) - 1)]
    theirs = whole[full[0] : full[1]]
    pitch = np.stack([ours[:, PITCH], theirs[:, PITCH]]).astype(np.float64)
    pitch = pitch[:, (pitch > VOICED_HZ).all(axis=0)]
    cents = 1200 * np.abs(np.log2(pitch[0] / pitch[1])).sum()
    return np.array(
        [duration, cents, np.linalg.norm(ours[:, ENCODING] - theirs[:, ENCODING], axis=1).sum()]
    )


def make_tables(
    voice: Voice, texts: Sequence[str], *, hold_back_s: float, seed: int = 0
) -> list[ClueTable]:
    """The tables of the texts that are one sentence, in order."""
    tabulator = Tabulator(voice, hold_back_s=hold_back_s)
    numbered = [(number, text) for number, text in enumerate(texts) if one_sentence(text)]
    return [tabulator(text, np.random.default_rng([seed, number])) for number, text in numbered]


def save_tables(path: Path, tables: Sequence[ClueTable]) -> None:
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


def load_tables(path: Path) -> list[ClueTable]:
    """The tables of a file; ConfigError where there is none."""
    if not path.is_file():
        raise ConfigError(f"There are no tables in {path}: make them with sayahead train tables.")
    with np.load(path) as file:
        ends = np.cumsum(file["counts"])[:-1]
        parts = [
            np.split(file[name].astype(np.float64), ends) for name in ("frames", "apart", "voiced")
        ]
        texts = [str(text) for text in file["texts"]]
        lengths = file["lengths"]
    tables = []
    for text, length, frames, apart, voiced in zip(texts, lengths, *parts, strict=True):
        words, needs = needed(text)
        words = (*words[:-1], Word(words[-1].text, words[-1].start, words[-1].end, ends=True))
        tables.append(ClueTable(text, words, needs, frames, int(length), apart, voiced))
    return tables


@dataclass(frozen=True, slots=True)
class TablesInfo:
    """corpus.json of a folder of tables."""

    voice: str
    """Name or folder of the voice whose words are in them."""
    hold_back_s: float
    """Seconds of sound held back."""
    seed: int
    """Seed of the lookahead of the words before each one."""
    files: dict[str, str]
    """File of each split to the SHA-256 of its content."""


class Tables:
    """A folder of tables: the training data of a policy, as a corpus is for other tasks."""

    def __init__(self, path: Path) -> None:
        """ConfigError where there are none."""
        self.path = path
        file = path / DESCRIPTION
        if not file.is_file():
            raise ConfigError(
                f"{path} holds no tables (there is no {file.name} in it): see sayahead train"
                " tables."
            )
        self.info = from_mapping(
            TablesInfo, json.loads(file.read_text(encoding="utf-8")), where=str(file)
        )

    @classmethod
    def make(
        cls, path: Path, voice: Voice, name: str, texts: Mapping[str, Sequence[str]], *, seed: int
    ) -> Tables:
        """The tables of each split's texts, written into a folder; ``name``: what the voice is
        loaded by."""
        path.mkdir(parents=True, exist_ok=True)
        hold_back_s = voice.config.defaults.hold_back_s
        digests = dict[str, str]()
        for split, lines in texts.items():
            tables = make_tables(voice, lines, hold_back_s=hold_back_s, seed=seed)
            if not tables:
                raise ConfigError(
                    f"None of the {len(lines)} texts of {split} is one sentence of two words or"
                    " more."
                )
            file = path / f"{split}.npz"
            save_tables(file, tables)
            digests[file.name] = sha256(file)
        info = asdict(TablesInfo(name, hold_back_s, seed, digests))
        (path / DESCRIPTION).write_text(json.dumps(info, indent=1) + "\n", encoding="utf-8")
        return cls(path)

    def split(self, name: str) -> list[ClueTable]:
        """The tables of a split; ConfigError where there are none."""
        return load_tables(self.path / f"{name}.npz")

    @property
    def size(self) -> str:
        """Size of the training data, in words."""
        return f"tables of {len(self.split('train'))} sentences"
