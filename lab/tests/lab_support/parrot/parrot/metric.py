"""A metric."""

from __future__ import annotations

from sayahead_lab.eval.listening.metrics import SpokenSentence


def squawks(utterance: SpokenSentence) -> float:
    """Seconds of sound a word."""
    return len(utterance.samples) / utterance.sample_rate / len(utterance.text.split())
