"""Fixed rules over words: lookahead, what is there, whole sentences, independent utterances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from sayahead.config import Bound, check_bounds
from sayahead.engine.policy import READ, Read, Speak, View
from sayahead.types import Word


@dataclass(frozen=True, slots=True)
class LookaheadK:
    """Speak a chunk as soon as the ``k`` words after it are there: g(t) = min(k + t, |x|) (Ma, Eq.
    7).

    A chunk is the smallest number of words with at least a given number of phonemes (Ma 5.1). Ma's
    settings are 18 for the first chunk of a sentence and 6 for the others, or 7 for all, with
    ``in_chunks``: his t counts chunks. 1 and 1 speak word by word.
    """

    k: Annotated[int, Bound(client=16)] = 1
    """Words of lookahead; 0 speaks a word the moment it is complete."""
    first_chunk: Annotated[int, Bound(1, client=64)] = 1
    """Minimum phonemes of a sentence's first chunk."""
    chunk: Annotated[int, Bound(1, client=64)] = 1
    """Minimum phonemes of every other chunk."""
    words: Annotated[int, Bound(1, client=16)] = 1
    """Minimum words of any chunk (Saeki's N, 2)."""
    in_chunks: bool = False
    """Whether ``k`` counts chunks instead of words, as Ma's does."""
    first_letters: Annotated[int, Bound(client=16)] = 0
    """Letters of its second word with which a text's first word is spoken; 0: it waits for ``k``
    words, as all others do."""
    unit = "words"

    def __post_init__(self) -> None:
        check_bounds(self)

    def decide(self, view: View) -> Read | Speak:
        """Speak the next chunk once its lookahead is there, or the end of the sentence."""
        if self.k and 0 < self.first_letters <= len(view.opening):
            return Speak(1, 0, letters=self.first_letters)
        word_count = self._chunk(view, view.pending, self.first_chunk if view.first else self.chunk)
        if not word_count:
            return READ
        if view.pending[word_count - 1].ends:
            return Speak(word_count, self.k)
        following = view.pending[word_count:]
        lookahead = self.k
        if self.in_chunks:
            # The words of the next k chunks.
            lookahead = 0
            for _ in range(self.k):
                chunk_size = self._chunk(view, following[lookahead:], self.chunk)
                if not chunk_size and not view.pending[-1].ends:
                    return READ
                lookahead += chunk_size
        is_there = len(following) >= lookahead or view.pending[-1].ends
        return Speak(word_count, lookahead) if is_there else READ

    def _chunk(self, view: View, pending: Sequence[Word], least: int) -> int:
        """Return the number of words of the next chunk of ``pending``; 0 if its end is not there.

        ``least``: its fewest phonemes.
        """
        phonemes = 0
        for number, word in enumerate(pending, start=1):
            phonemes += view.phonemes(word)
            if word.ends or (phonemes >= least and number >= self.words):
                return number
        return 0


@dataclass(frozen=True, slots=True)
class Opportunistic:
    """Speak a word the moment it is complete, with the words that happen to be there as lookahead.

    It never waits. Its sound depends on how the text arrives: the same text, sent faster, sounds
    different. The other policies give the same sound however the text arrives.
    """

    most: Annotated[int, Bound(client=16)] = 3
    """Most words of lookahead."""
    unit = "words"

    def __post_init__(self) -> None:
        check_bounds(self)

    @property
    def eager(self) -> int:
        """How many words it is shown without having asked: see ``WordPolicy``."""
        return self.most

    def decide(self, view: View) -> Read | Speak:
        return Speak(1, self.most)


@dataclass(frozen=True, slots=True)
class WaitAll:
    """Speak each sentence at once when it is complete: what other engines do, and the reference for
    quality."""

    max_words: Annotated[int, Bound(1, client=120)] = 120
    """A sentence without end is spoken in pieces of at most this many words, cut after a comma if
    there is one; of more than 300 phonemes, some 50 words, a sentence is more than one step
    (``engine/pieces.py``)."""
    unit = "words"

    def __post_init__(self) -> None:
        check_bounds(self)

    def decide(self, view: View) -> Read | Speak:
        """Speak a whole sentence, or ``max_words`` of one that is longer."""
        if view.pending and view.pending[-1].ends and len(view.pending) <= self.max_words:
            return Speak(len(view.pending), 0)
        if len(view.pending) < self.max_words:
            return READ
        pauses = [
            i
            for i, word in enumerate(view.pending[: self.max_words], 1)
            if word.text[-1:] in ",;:—"
        ]
        return Speak(pauses[-1] if pauses else self.max_words, 0)


@dataclass(frozen=True, slots=True)
class Independent:
    """Speak every few words as an utterance of their own: no past, no future (Saeki-a's independent
    baseline).

    The lower bound that every incremental method has to beat.
    """

    words: Annotated[int, Bound(1, client=16)] = 2
    """Words per utterance; the last one of a sentence has what is left. Saeki-a: 2."""
    unit = "words"

    def __post_init__(self) -> None:
        check_bounds(self)

    def decide(self, view: View) -> Read | Speak:
        is_whole = bool(view.pending) and view.pending[-1].ends
        if len(view.pending) < self.words and not is_whole:
            return READ
        return Speak(min(len(view.pending), self.words), 0, alone=True)
