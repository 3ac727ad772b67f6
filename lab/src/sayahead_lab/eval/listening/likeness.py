"""How much a voice sounds like a speaker: the cosine of speaker embeddings (Resemblyzer, GE2E)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from sayahead.types import Floats

from sayahead_lab.eval.listening.listeners import missing, require

Embedder = Callable[[Floats, int], Floats]
"""What makes an embedding (256,) of length 1 of samples (S,) at a rate."""
LEVEL = 10 ** (-30 / 20)
"""To which sounds are brought first: embeddings know loud from soft, and Resemblyzer only makes
soft ones louder."""


def load_embedder() -> Embedder:
    """Resemblyzer's; its weights come with its package. ConfigError where it is not installed."""
    require(missing("resemblyzer"))
    from resemblyzer import VoiceEncoder, preprocess_wav

    encoder = VoiceEncoder("cpu", verbose=False)

    def embed(samples: Floats, rate: int) -> Floats:
        level = max(float(np.sqrt(np.mean(np.square(samples)))), 1e-6)
        embedding: Floats = encoder.embed_utterance(
            preprocess_wav(LEVEL / level * samples, source_sr=rate)
        )
        return embedding

    return embed


def likeness(utterances: Sequence[Floats], theirs: Sequence[Floats]) -> list[float]:
    """The cosine of each embedding to the mean of the others' of a speaker, whose sentences are the
    same."""
    total = np.sum(theirs, axis=0)
    others = [(total - one) / np.linalg.norm(total - one) for one in theirs]
    return [float(one @ other) for one, other in zip(utterances, others, strict=True)]
