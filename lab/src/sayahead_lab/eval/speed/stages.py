"""Where the processor time of a word goes: networks, source-filter synthesis, phonemes, and the
rest."""

from __future__ import annotations

import functools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sayahead.engine.onnx import OnnxGraph
from sayahead.text.saying.english.phonemizer import EnglishPhonemizer
from sayahead.vocoders.sourcefilter import SourceFilter

PARTS: tuple[tuple[type, str, Callable[[Any], str]], ...] = (
    (OnnxGraph, "__call__", lambda graph: graph.name),
    (SourceFilter, "step", lambda _: "source and filter"),
    (EnglishPhonemizer, "phonemize", lambda _: "phonemes"),
)
"""Class, method and the part's name; no part calls another."""


def part_costs(speak: Callable[[str], Any], texts: Sequence[str]) -> dict[str, float]:
    """Processor milliseconds per word of each part, and of ``all``, while ``speak`` speaks the
    texts in turn."""
    words = sum(len(text.split()) for text in texts)
    spent = defaultdict[str, float](float)
    with watched(spent):
        begun = time.process_time()
        for text in texts:
            speak(text)
        total = time.process_time() - begun
    rest = total - sum(spent.values())
    return {
        name: 1000 * seconds / words
        for name, seconds in {**spent, "rest": rest, "all": total}.items()
    }


@contextmanager
def watched(spent: dict[str, float]) -> Iterator[None]:
    """Inside the block, each part's processor time is added up under its name."""
    originals = [(owner, method, getattr(owner, method)) for owner, method, _ in PARTS]
    try:
        for owner, method, name in PARTS:
            setattr(owner, method, timed(getattr(owner, method), name, spent))
        yield
    finally:
        for owner, method, original in originals:
            setattr(owner, method, original)


def timed(
    method: Callable[..., Any], name: Callable[[Any], str], spent: dict[str, float]
) -> Callable[..., Any]:
    """A method that adds its processor time to its part."""

    @functools.wraps(method)
    def run(self: Any, *arguments: Any, **options: Any) -> Any:
        begun = time.process_time()
        try:
            return method(self, *arguments, **options)
        finally:
            spent[name(self)] += time.process_time() - begun

    return run
