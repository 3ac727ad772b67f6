"""``sayahead train futures``: how a language model goes on from the prefixes of transcripts, laid by for training.

A causal model reads a text once; all its prefixes are then continued side by side, from what it remembers of each. One
line of JSON an item: ``{"name", "words", "futures"}``, where ``futures[n]`` are the words expected after the first
``n + 1`` words (Saeki-a, II-B), or null where the prefix was left out. Interrupted, the same command goes on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.errors import ConfigError

CLOSING = (".", "!", "?")


@dataclass(frozen=True, slots=True)
class Futures:
    """One text's expected futures."""

    name: str
    """The item's name in the transcripts."""
    words: tuple[str, ...]
    """The text's words, as the normalizer gives them."""
    futures: tuple[tuple[str, ...] | None, ...]
    """(N,) words expected after the first n + 1; None where no prediction was made."""


def choose(words: int, most: int | None, *, seed: int) -> list[int]:
    """The prefixes that are continued, in order: all, or ``most`` of them, never the whole text."""
    every = max(0, words - 1)
    if most is None or most >= every:
        return list(range(every))
    return sorted(int(n) for n in np.random.default_rng(seed).choice(every, most, replace=False))


def read_futures(path: Path) -> Iterator[Futures]:
    """The lines of a file; ConfigError names one that is none. A last line that was cut off is passed over."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    for row, line in enumerate(lines, 1):
        try:
            data = json.loads(line)
            futures = tuple(None if words is None else tuple(words) for words in data["futures"])
            yield Futures(data["name"], tuple(data["words"]), futures)
        except (ValueError, KeyError, TypeError) as error:
            if row == len(lines) and not line.endswith("\n"):
                return
            raise ConfigError(f"{path}, line {row}: expected name, words and futures, found {line[:60]!r}.") from error


class Continuations:
    """A causal language model that continues many prefixes of one text at a time."""

    def __init__(self, name: str, *, words: int = 5, top_k: int = 1, seed: int = 0) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self._torch: Any = torch
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name)
            self._model: Any = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16).eval()
        except (OSError, ValueError) as error:
            raise ConfigError(f"The language model {name!r} cannot be loaded: {error}") from error
        self._words, self._top_k, self._random = words, top_k, np.random.default_rng(seed)

    def futures(self, words: Sequence[str], prefixes: Sequence[int]) -> list[list[str]]:
        """Words expected after the first ``n + 1`` words for each n of ``prefixes``."""
        if not prefixes:
            return []
        torch = self._torch
        tokens = [self._tokenizer((" " if i else "") + word).input_ids for i, word in enumerate(words)]
        ends = np.cumsum([len(own) for own in tokens])
        lengths = torch.tensor([int(ends[n]) for n in prefixes])
        ids = torch.tensor([[token for own in tokens[: prefixes[-1] + 1] for token in own]])
        with torch.inference_mode():
            out = self._model(input_ids=ids, use_cache=True)
            logits, cache = out.logits[0, lengths - 1], out.past_key_values
            cache.batch_repeat_interleave(len(prefixes))
            mask = torch.arange(ids.shape[1])[None] < lengths[:, None]
            made: list[list[int]] = [[] for _ in prefixes]
            done = [False] * len(prefixes)
            for step in range(3 * self._words):
                chosen = self._draw(logits.float().numpy())
                for row, token in enumerate(chosen):
                    if not done[row]:
                        made[row].append(int(token))
                        done[row] = self._complete(made[row])
                if all(done):
                    break
                mask = torch.cat([mask, torch.ones(len(prefixes), 1, dtype=torch.bool)], dim=1)
                out = self._model(
                    input_ids=torch.tensor(chosen)[:, None], attention_mask=mask.long(),
                    position_ids=(lengths + step)[:, None], past_key_values=cache, use_cache=True,
                )  # fmt: skip
                logits, cache = out.logits[:, -1], out.past_key_values
        return [self._split(own) for own in made]

    def _draw(self, logits: Any) -> Any:
        """(B,) a token for each row, from its likeliest ``top_k``."""
        if self._top_k == 1:
            return logits.argmax(axis=1)
        top = np.argpartition(-logits, self._top_k, axis=1)[:, : self._top_k]
        own = np.take_along_axis(logits, top, axis=1) + self._random.gumbel(size=top.shape)
        return top[np.arange(len(top)), own.argmax(axis=1)]

    def _complete(self, made: list[int]) -> bool:
        if made[-1] == self._tokenizer.eos_token_id:
            return True
        text = self._tokenizer.decode(made)
        return len(text.split()) > self._words or text.rstrip()[-1:] in CLOSING or "\n" in text.strip(" ")

    def _split(self, made: list[int]) -> list[str]:
        if made and made[-1] == self._tokenizer.eos_token_id:
            made = made[:-1]
        text = str(self._tokenizer.decode(made))
        # What does not begin with a space would only finish the last word, which is complete.
        words = text.split() if text[:1].isspace() else text.split()[1:]
        return words[: self._words]
