"""What is said in place of an element's content: the words around a placeholder, and those that
stand for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sayahead.text.parts import parted
from sayahead.text.saying.transcription import Transcriber
from sayahead.types import Word

PLACEHOLDER = "ssmlword"
"""What the normalizer reads where other words or phonemes are said."""
_LEAD = re.compile(r"[^\w\s]*\Z")
_TRAIL = re.compile(r"(?:'s\b)?[^\w\s]*")


@dataclass(frozen=True, slots=True)
class Replaced:
    """What is said in place of an element's content."""

    words: str
    """Its words, as they are spoken."""
    phonemes: str
    """The voice's symbols for all of them; empty: they are read."""
    tag: int
    """Where the element begins in the source."""
    start: int
    """Where its content does."""
    end: int
    """Where that ends."""


def instead(
    word: Word, replacements: Sequence[Replaced], transcriber: Transcriber | None
) -> list[Word]:
    """The words for a word with placeholders, each with a part of its place, for which this is said
    in turn.

    Words that stand in the text are read with what is around them; phonemes are a word of their
    own."""
    words = list[Word]()
    runs = list(_runs(word.text.split(PLACEHOLDER), replacements, transcriber))
    for number, (text, own) in enumerate(runs):
        done = words[-1].end if words else word.start
        start = max(done, own.start) if own and words else done
        following = [other.tag for _, other in runs[number + 1 :] if other]
        end = own.end if own else next(iter(following), word.end)
        end = min(max(start, end), word.end) if number + 1 < len(runs) else word.end
        parts = [text] if own else text.split()
        low = start
        high = end
        if len(runs) == 1:
            # Where nothing but them is spoken, the marks around an element belong to its first and
            # its last word.
            low = max(start, min(replacements[0].start, end))
            high = min(end, max(replacements[-1].end, start))
        places = [*(low + (high - low) * n // len(parts) for n in range(1, len(parts))), end]
        run = replace(word, start=start, phonemes=own.phonemes if own else "", continues=True)
        words += parted(run, parts, places)
    words = [replace(one, ends=False) for one in words]
    return [*words[:-1], replace(words[-1], ends=word.ends, continues=word.continues)]


def _runs(
    texts: Sequence[str], replacements: Sequence[Replaced], transcriber: Transcriber | None
) -> Iterator[tuple[str, Replaced | None]]:
    """Stretches of words that are read, and those that phonemes are said for, with the marks that
    touch them."""
    before = texts[0]
    for own, after in zip(replacements, texts[1:], strict=True):
        if not own.phonemes:
            before += own.words + after
            continue
        lead = _LEAD.search(before)[0]  # type: ignore[index]
        trail = _TRAIL.match(after)[0]  # type: ignore[index]
        if plain := before.removesuffix(lead).strip():
            yield plain, None
        if trail.startswith("'s") and transcriber is not None:
            own = replace(own, phonemes=transcriber.genitive(own.phonemes))
        yield lead + own.words + trail, own
        before = after.removeprefix(trail)
    if before.strip():
        yield before, None
