"""A learned policy: decides word by word whether to wait for one more, at a stated price of
waiting.

A network of a few thousand weights, run by numpy, maps part of speech, phonemes, punctuation and
vectors of the words so far, the price of a second and the pace of the text to READ or SPEAK.
``training/learned`` trains it by REINFORCE."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sayahead.config import Bound, check_bounds
from sayahead.engine.files import save_arrays
from sayahead.engine.policy import READ, Read, Speak, View
from sayahead.errors import VoiceError
from sayahead.types import Floats, Word

MOST = 3
"""Most words of lookahead: with this many after a word, it is spoken."""
GROUPS = (
    "DT PDT WDT PRP$ WP$ POS, IN TO RP, CC, PRP WP EX, MD, VB VBD VBG VBN VBP VBZ, NN NNS, NNP"
    " NNPS, JJ JJR JJS"
)
"""Parts of speech that the network distinguishes, grouped by commas."""
CLASSES = tuple(tuple(group.split()) for group in f"{GROUPS}, RB RBR RBS WRB, CD".split(", "))
"""The same groups as tuples; all other parts of speech form one more class."""
CLASS_OF = {tag: number for number, tags in enumerate(CLASSES) for tag in tags}
MARKS = ",;:—-…"
EDGES = " \"'()“”‘’.,;:!?…—-"
PLACES = 4
"""Number of words described: the last spoken one and three pending ones."""
PRICES = (0.02, 20.0)
"""Lowest and highest price of a second."""
PACES = (10.0, 6000.0)
"""Lowest and highest pace of text in words per minute."""


@dataclass(frozen=True, slots=True)
class LearnedConfig:
    """What voice.json says about its learned policy under ``learned``; the file is listed under
    ``files``."""

    weights: str
    """File of the network (``Network.save``)."""


@runtime_checkable
class Reader(Protocol):
    """A phonemizer that knows more about words than their phonemes."""

    def tags(self, words: Sequence[str]) -> list[str]:
        """Return the part of speech of each word."""
        ...

    def varies(self, word: str) -> bool:
        """Return whether a word can be read in several ways."""
        ...


class Clues:
    """Computes the features of a decision, F = ``size`` of them, from words."""

    def __init__(self, reader: Reader, words: dict[str, int], vectors: Floats) -> None:
        """``vectors`` (V, K): those of frequent ``words``, by their rows; other words have
        zeros."""
        self._reader = reader
        self._words = words
        self._vectors = vectors
        self._each = len(CLASSES) + 1 + 6 + vectors.shape[1]
        self.size = PLACES * self._each + MOST + 4

    def __call__(
        self, past: Sequence[str], pending: Sequence[Word], phonemes: Callable[[Word], int]
    ) -> Floats:
        """Return the features (F,) of one to three pending words after the ``past`` ones of their
        sentence.

        First come ``PLACES`` rows: of the last spoken word (zeros at a sentence's beginning) and of
        each pending one. Then how many are pending, one-hot, and what the sentence is so far.
        """
        clues = np.zeros(self.size, np.float32)
        texts = [*past[-2:], *(word.text for word in pending)]
        # Of a reading of several words, the last one stands for it; a comma stands for none.
        bare = [" ".join(text.split()[-1:]).strip(EDGES) or "," for text in texts]
        tags = self._reader.tags(bare)
        first_pending = len(texts) - len(pending)
        for place, index in enumerate(range(first_pending - 1, len(texts))):
            if index < 0:
                continue
            row = clues[place * self._each : (place + 1) * self._each]
            self._describe(row, texts[index], bare[index], tags[index])
            if index >= first_pending:
                row[len(CLASSES) + 2] = 0.1 * phonemes(pending[index - first_pending])
        rest = clues[PLACES * self._each :]
        rest[len(pending) - 1] = 1.0
        since_mark = next(
            (n for n, text in enumerate(reversed(past)) if text[-1:] in MARKS), len(past)
        )
        rest[MOST:] = (
            not past,
            math.log1p(len(past)),
            math.log1p(since_mark),
            0.05 * sum(map(len, past[-8:])),
        )
        return clues

    def _describe(self, row: Floats, text: str, bare: str, tag: str) -> None:
        """Write the features of one word into ``row``, except the number of its phonemes."""
        kinds = len(CLASSES) + 1
        row[CLASS_OF.get(tag, kinds - 1)] = 1.0
        row[kinds] = text[-1:] in MARKS
        row[kinds + 2] = self._reader.varies(bare)
        row[kinds + 3] = bare[:1].isupper()
        row[kinds + 4] = " " in text
        row[kinds + 5] = 0.1 * len(text)
        number = self._words.get(bare.lower())
        if number is not None:
            row[kinds + 6 :] = self._vectors[number]


@dataclass(frozen=True, slots=True)
class Network:
    """The weights: three layers, ReLU between them, and the vectors of frequent words."""

    layers: tuple[tuple[Floats, Floats], ...]
    """Weight (out, in) and bias (out,) of each layer; the first reads the clues, then price and
    pace (``terms``)."""
    words: tuple[str, ...]
    """Frequent words."""
    vectors: Floats
    """(V, K) their vectors."""

    def clues(self, reader: Reader) -> Clues:
        """Return the features for this network. VoiceError if their number does not match its
        weights."""
        clues = Clues(reader, {word: row for row, word in enumerate(self.words)}, self.vectors)
        width = self.layers[0][0].shape[1]
        if width != clues.size + TERMS:
            raise VoiceError(
                f"The learned policy takes {width} inputs, not {clues.size + TERMS}: install the"
                " voice again."
            )
        return clues

    def __call__(self, inputs: Floats) -> float:
        """Return the logit of READ for features and terms (F + 3,)."""
        for number, (weight, bias) in enumerate(self.layers):
            inputs = weight @ (inputs if number == 0 else np.maximum(inputs, 0.0)) + bias
        return float(inputs[0])

    def save(self, path: Path) -> None:
        """Write an ``.npz`` file; the same weights give the same bytes."""
        words = np.frombuffer("\n".join(self.words).encode(), np.uint8)
        arrays: dict[str, NDArray[Any]] = {
            "words": words,
            "vectors": self.vectors.astype(np.float16),
        }
        for number, (weight, bias) in enumerate(self.layers):
            arrays |= {
                f"weight{number}": weight.astype(np.float16),
                f"bias{number}": bias.astype(np.float16),
            }
        save_arrays(path, arrays)

    @classmethod
    def load(cls, path: Path) -> Network:
        """Load the network from a file. VoiceError if it is not one."""
        try:
            with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                words = tuple(file["words"].tobytes().decode().split("\n"))
                vectors = file["vectors"].astype(np.float32)
                count = sum(name.startswith("weight") for name in file.files)
                layers = tuple(
                    (
                        file[f"weight{number}"].astype(np.float32),
                        file[f"bias{number}"].astype(np.float32),
                    )
                    for number in range(count)
                )
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise VoiceError(
                f"{path} is not a learned policy: {error}. Install the voice again."
            ) from error
        if not layers or vectors.ndim != 2 or len(vectors) != len(words):
            raise VoiceError(
                f"{path} is not a learned policy: its parts do not match. Install the voice again."
            )
        return cls(layers, words, vectors)


TERMS = 3
"""Number of inputs after the features: see ``terms``."""


def terms(price: float, words_per_min: float, seen: int) -> tuple[float, float, float]:
    """Return the inputs after the features: logarithms of price and pace, and how many words are
    visible anyway."""
    return math.log(price), math.log(words_per_min / 180), seen / MOST


@dataclass(frozen=True, slots=True)
class LearnedPolicy:
    """READ, or SPEAK one word with everything read after it, as a network decides; ``Voice.policy``
    makes it.

    It never looks at more than it asked for: words that are pending because text came fast are
    considered one by one."""

    network: Network
    """The weights."""
    clues: Clues
    """What they read."""
    price: Annotated[float, Bound(*PRICES)] = 1.0
    """What a second of lag costs, averaged over words, in units of the quality lost at ``k =
    0``."""
    words_per_min: Annotated[float, Bound(*PACES)] = 180.0
    """The pace at which text is expected."""
    unit = "words"
    taught = True

    def __post_init__(self) -> None:
        check_bounds(self)

    def decide(self, view: View) -> Read | Speak:
        pending = view.pending
        for count in range(max(1, min(view.seen, len(pending))), len(pending) + 1):
            if pending[count - 1].ends or count > MOST or not self._waits(view, count):
                return Speak(1, count - 1)
        return READ

    def _waits(self, view: View, count: int) -> bool:
        """Return whether to wait for one more word when ``count`` are there."""
        clues = self.clues(view.past, view.pending[:count], view.phonemes)
        inputs = np.array(terms(self.price, self.words_per_min, view.seen), np.float32)
        return self.network(np.concatenate([clues, inputs])) > 0
