"""``sayahead train futures``: a language model's continuations of the prefixes of transcripts, made
before training.

A causal model reads a text once; all its prefixes are then continued side by side, from its memory
of each. One line of JSON an item: ``{"name", "words", "futures"}``, where ``futures[n]`` are the
words expected after the first ``n + 1`` words (Saeki-a, II-B), or null where the prefix was left
out. Interrupted, the same command resumes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sayahead.contexts.language_model import TransformersModel, ended, future_words
from sayahead.errors import ConfigError


@dataclass(frozen=True, slots=True)
class TextFutures:
    """One text's expected futures."""

    name: str
    """The item's name in the transcripts."""
    words: tuple[str, ...]
    """The text's words, from the normalizer."""
    futures: tuple[tuple[str, ...] | None, ...]
    """(N,) words expected after the first n + 1; None where no prediction was made."""


def choose(words: int, most: int | None, *, seed: int) -> list[int]:
    """The prefixes that are continued, in order: all, or ``most`` of them, never the whole text."""
    every = max(0, words - 1)
    if most is None or most >= every:
        return list(range(every))
    return sorted(int(n) for n in np.random.default_rng(seed).choice(every, most, replace=False))


def read_futures(path: Path) -> Iterator[TextFutures]:
    """The lines of a file; ConfigError names one that cannot be read. A last line that was cut off
    is passed over."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    for row, line in enumerate(lines, 1):
        try:
            data = json.loads(line)
            futures = tuple(None if words is None else tuple(words) for words in data["futures"])
            yield TextFutures(data["name"], tuple(data["words"]), futures)
        except (ValueError, KeyError, TypeError) as error:
            if row == len(lines) and not line.endswith("\n"):
                return
            raise ConfigError(
                f"{path}, line {row}: expected name, words and futures, found {line[:60]!r}."
            ) from error


def drop_cut_line(path: Path) -> None:
    """Take the last line out of a file where it was cut off, so that lines can be added."""
    data = path.read_bytes()
    if not data.endswith(b"\n"):
        path.write_bytes(data[: data.rfind(b"\n") + 1])


class Continuations:
    """A causal language model that continues many prefixes of one text at a time, in bfloat16; see
    LanguageModel."""

    def __init__(self, name: str, *, words: int = 5, top_k: int = 1, seed: int = 0) -> None:
        self._language = TransformersModel(name, "bfloat16")
        self._words = words
        self._top_k = top_k
        self._random = np.random.default_rng(seed)

    def futures(self, words: Sequence[str], prefixes: Sequence[int]) -> list[list[str]]:
        """Words expected after the first ``n + 1`` words for each n of ``prefixes``."""
        if not prefixes:
            return []
        torch = self._language.torch
        model = self._language.model
        encode = self._language.encode
        tokens = [encode((" " if number else "") + word) for number, word in enumerate(words)]
        ends = np.cumsum([len(word) for word in tokens])
        lengths = torch.tensor([int(ends[n]) for n in prefixes])
        ids = torch.tensor([[token for word in tokens[: prefixes[-1] + 1] for token in word]])
        continued = [Continuation(self._language, self._words) for _ in prefixes]
        with torch.inference_mode():
            out = model(input_ids=ids, use_cache=True)
            logits = out.logits[0, lengths - 1]
            cache = out.past_key_values
            cache.batch_repeat_interleave(len(prefixes))
            mask = torch.arange(ids.shape[1])[None] < lengths[:, None]
            for step in range(3 * self._words):
                choices = self._draw(logits.float().numpy())
                for one, token in zip(continued, choices.tolist(), strict=True):
                    one.take(token)
                if all(one.ended for one in continued):
                    break
                mask = torch.cat([mask, torch.ones(len(prefixes), 1, dtype=torch.bool)], dim=1)
                places = {"attention_mask": mask.long(), "position_ids": (lengths + step)[:, None]}
                out = model(
                    input_ids=torch.tensor(choices)[:, None],
                    **places,
                    past_key_values=cache,
                    use_cache=True,
                )
                logits = out.logits[:, -1]
                cache = out.past_key_values
        return [future_words(one.text, self._words) for one in continued]

    def _draw(self, logits: Any) -> Any:
        """(B,) a token for each row, from its likeliest ``top_k``."""
        if self._top_k == 1:
            return logits.argmax(axis=1)
        top = np.argpartition(-logits, self._top_k, axis=1)[:, : self._top_k]
        noisy = np.take_along_axis(logits, top, axis=1) + self._random.gumbel(size=top.shape)
        return top[np.arange(len(top)), noisy.argmax(axis=1)]


class Continuation:
    """The continuation of one prefix, token by token."""

    def __init__(self, language: TransformersModel, words: int) -> None:
        self._language = language
        self._words = words
        self._tokens = list[int]()
        self.text = ""
        self.ended = False

    def take(self, token: int) -> None:
        """Add a token, unless it has ended."""
        if not self.ended and token != self._language.end:
            self._tokens.append(token)
            self.text = self._language.decode(self._tokens)
        self.ended = self.ended or token == self._language.end or ended(self.text, self._words)
