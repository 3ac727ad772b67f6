"""Two sentences as the default voice's corpus holds them, without sound."""

from __future__ import annotations

import numpy as np
from sayahead.text.reading.stream import normalize

from sayahead_lab.training.corpus.store import Item
from sayahead_lab.training.corpus.teacher import load_reader, spans, voice_config

TEXTS = (
    "The quick brown fox jumps over the lazy dog.",
    "However, nobody knew what had happened there.",
)
PHONEMES = dict(voice_config().phonemes)
SPACE = PHONEMES[" "]
PAD = 0


def item(text: str) -> Item:
    """A corpus's item without sound."""
    said = load_reader(True).phonemize(list(normalize(text)), left=[])
    ids = np.concatenate([word.ids for word in said]).astype(np.int16)
    none = np.zeros(0, np.float16)
    return Item(
        text[:7], text, ids, spans(said), np.zeros(len(ids) + 2, np.int16), none, none[:, None]
    )


ITEMS = [item(text) for text in TEXTS]
