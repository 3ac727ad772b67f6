"""Lists of texts for corpora."""

from __future__ import annotations

from sayahead.config import nearest
from sayahead.errors import ConfigError

from sayahead_lab.training.corpus.making import Texts

CHARACTERS_A_SECOND = 18.0
"""Characters of LJ Speech's transcripts that the default voice speaks in a second: used by
--hours."""


def read_counts(option: str | None, texts: dict[str, Texts]) -> dict[str, int]:
    """Split to number of texts, from ``2400`` or ``train=2400,val=60``."""
    counts = {}
    for part in option.split(",") if option else ():
        split, _, count = part.rpartition("=")
        split = split or "train"
        if split not in texts:
            raise ConfigError(
                f"--count names the split {split!r}{nearest(split, texts)}, for which no texts are"
                " given."
            )
        if not count.isdecimal() or int(count) < 1:
            raise ConfigError(f"--count {part}: expected a number from 1 on, found {count!r}.")
        counts[split] = int(count)
    return counts


def evenly(texts: Texts, count: int) -> Texts:
    """At most ``count`` of the texts, evenly spaced, in their order."""
    if count >= len(texts):
        return texts
    return [texts[i * len(texts) // count] for i in range(count)]
