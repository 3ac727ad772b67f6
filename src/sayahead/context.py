"""What stands in for the future: context predictors give the words (or an embedding) that a model sees instead of waiting."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sayahead.errors import ConfigError
from sayahead.types import Floats

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Prediction:
    """An expected future; its words are seen by the model but never spoken."""

    words: tuple[str, ...] = ()
    """Words expected to follow, in order; a sentence's end shows by punctuation on the last."""
    embedding: Floats | None = None
    """(D,) an embedding of the expected future for voices that take one, or none."""


NOTHING = Prediction()


class ContextPredictor(Protocol):
    """Predicts what follows the words that are there. Stateless: the same words give the same prediction."""

    def predict(self, words: Sequence[str]) -> Prediction:
        """The expected future of ``words``: all of the session's text so far up to the last visible word."""
        ...


@dataclass(frozen=True, slots=True)
class NoContext:
    """No stand-in for the future."""

    def predict(self, words: Sequence[str]) -> Prediction:
        return NOTHING


@dataclass(frozen=True, slots=True)
class RandomWords:
    """Random words as the future: the control that every predicted future has to beat (Stephenson et al. 2021)."""

    count: int = 5
    """Words to draw."""
    seed: int = 0
    """Fixes the draw, together with the words so far."""

    def predict(self, words: Sequence[str]) -> Prediction:
        from sayahead.text.common_words import COMMON_WORDS

        draw = np.random.default_rng([self.seed, zlib.crc32(" ".join(words).encode())])
        return Prediction(tuple(COMMON_WORDS[i] for i in draw.integers(len(COMMON_WORDS), size=self.count)))


class LanguageModel:
    """Pseudo lookahead: the words with which a causal language model continues the text (Saeki-a, II-B).

    Any causal model of transformers, by its hub name or its folder (``gpt2`` is the papers'); needs the ``lm`` extra.
    The continuation is sampled from the ``top_k`` likeliest tokens (1: greedy, as in the papers' main results) and stops at a
    sentence's end.
    """

    HISTORY_WORDS = 64

    def __init__(self, name: str | Path, *, words: int = 5, top_k: int = 1, seed: int = 0, threads: int | None = None):
        try:
            import torch
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError as error:
            raise ConfigError(
                f"The language model {str(name)!r} needs torch and transformers: pip install 'sayahead[lm]'."
            ) from error
        self._torch: Any = torch
        if threads is not None:
            torch.set_num_threads(threads)
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(str(name))
            self._model: Any = AutoModelForCausalLM.from_pretrained(str(name), dtype=torch.float32).eval()
        except (OSError, ValueError) as error:
            raise ConfigError(f"The language model {str(name)!r} cannot be loaded: {error}") from error
        self._words, self._top_k, self._seed = words, top_k, seed

    def predict(self, words: Sequence[str]) -> Prediction:
        """See ContextPredictor; with nothing to continue there is no prediction."""
        history = " ".join(words[-self.HISTORY_WORDS :])
        if not history:
            return NOTHING
        torch = self._torch
        draw = torch.Generator().manual_seed(self._seed * 1_000_003 + len(words))
        ids, text, cache = self._tokenizer(history, return_tensors="pt").input_ids, "", None
        made: list[int] = []
        with torch.inference_mode():
            # A word is complete when the next one begins; four tokens a word is more than any needs on average.
            for _ in range(4 * self._words + 4):
                out = self._model(input_ids=ids, past_key_values=cache, use_cache=True)
                cache = out.past_key_values
                top = out.logits[0, -1].float().topk(self._top_k)
                choice = 0 if self._top_k == 1 else int(torch.multinomial(top.values.softmax(-1), 1, generator=draw))
                token = int(top.indices[choice])
                if token == self._tokenizer.eos_token_id:
                    break
                made.append(token)
                text = self._tokenizer.decode(made)
                if len(text.split()) > self._words or text.rstrip()[-1:] in (".", "!", "?") or "\n" in text.strip(" "):
                    break
                ids = torch.tensor([[token]])
        # A continuation that does not begin with a space would only finish the last word, which is complete.
        future = text.split() if text[:1].isspace() else text.split()[1:]
        return Prediction(tuple(future[: self._words]))
