"""A metric."""

from __future__ import annotations

from sayahead_lab.eval.listening.metrics import Utterance


def squawks(utterance: Utterance) -> float:
    """Seconds of sound a word."""
    return len(utterance.samples) / utterance.sample_rate / len(utterance.text.split())
