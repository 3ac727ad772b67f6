"""Recorded futures (``sayahead train futures``) as a context predictor: experiments need no
language model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sayahead.engine.context import Prediction
from sayahead.errors import ConfigError

ENDING = ".jsonl"
SEEN = 64
"""Words before a prediction that identify it: as many as a session shows."""


@dataclass(frozen=True, slots=True)
class RecordedFutures:
    """Knows prefixes of some texts, and how a language model continued them."""

    futures: Mapping[tuple[str, ...], tuple[str, ...]]
    """Observed words, at most SEEN, to the expected ones."""
    where: str
    """The file, for errors."""

    def predict(self, words: Sequence[str]) -> Prediction:
        """The recorded future of the words, none after a whole text; ConfigError where they are not
        recorded."""
        future = self.futures.get(tuple(words[-SEEN:]))
        if future is None:
            last = " ".join(words[-8:])
            raise ConfigError(
                f"{self.where} has no future of {last!r}: record those of the experiment's texts"
                " first."
            )
        return Prediction(future)


def recorded_futures(path: Path) -> RecordedFutures:
    """The futures in a file; ConfigError if it cannot be read."""
    futures = dict[tuple[str, ...], tuple[str, ...]]()
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            for end, future in enumerate(data["futures"], 1):
                if future is not None:
                    futures[tuple(data["words"][:end][-SEEN:])] = tuple(future)
            # What a text that ends without a mark is asked at its end was not recorded: nothing
            # follows.
            futures.setdefault(tuple(data["words"][-SEEN:]), ())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} cannot be read as futures: {error}.") from error
    return RecordedFutures(futures, str(path))
