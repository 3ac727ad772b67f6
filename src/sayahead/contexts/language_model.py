"""Pseudo lookahead: a language model's words stand in for the future."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sayahead.engine.context import NOTHING, Prediction
from sayahead.errors import ConfigError
from sayahead.types import Floats

CLOSING = (".", "!", "?")
"""What ends a sentence."""


class LanguageModel:
    """Pseudo lookahead: the words with which a causal language model continues the text (Saeki-a,
    II-B).

    Any causal model of transformers, by its hub name or its folder (``gpt2`` is the papers'); needs
    the ``lm`` extra. The continuation is sampled from the ``top_k`` likeliest tokens (1: greedy, as
    in the papers' main results). It stops at a sentence's end, as in Saeki-b; without
    ``stop_at_end`` it is always ``words`` long, as in Saeki-a (III-A).
    """

    HISTORY_WORDS = 64
    served = False

    def __init__(
        self,
        model: str | Path,
        *,
        words: int = 5,
        top_k: int = 1,
        seed: int = 0,
        stop_at_end: bool = True,
        load: Callable[[str], CausalModel] | None = None,
    ) -> None:
        if words < 1 or top_k < 1:
            raise ConfigError(
                f"LanguageModel: words is {words!r} and top_k {top_k!r}, but both must be at"
                " least 1."
            )
        self._model = (load or TransformersModel)(str(model))
        self._words = words
        self._top_k = top_k
        self._seed = seed
        self._stop_at_end = stop_at_end

    def predict(self, words: Sequence[str]) -> Prediction:
        """Return the predicted continuation; nothing if there are no words."""
        history = " ".join(words[-self.HISTORY_WORDS :])
        if not history:
            return NOTHING
        draw = np.random.default_rng([self._seed, zlib.crc32(history.encode())])
        ids = self._model.encode(history)
        cache = None
        tokens = list[int]()
        text = ""
        # A word is complete once the next one begins. Four tokens per word is more than the average
        # needs.
        for _ in range(4 * self._words + 4):
            logits, cache = self._model.next(ids, cache)
            if not self._stop_at_end and self._model.end is not None:
                logits[self._model.end] = -np.inf
            top = np.argsort(-logits, kind="stable")[: self._top_k]
            weights = np.exp(logits[top] - logits[top[0]])
            token = int(top[0] if self._top_k == 1 else draw.choice(top, p=weights / weights.sum()))
            if token == self._model.end:
                break
            ids = [token]
            tokens = [*tokens, token]
            text = self._model.decode(tokens)
            if ended(text, self._words, anywhere=self._stop_at_end):
                break
        return Prediction(tuple(future_words(text, self._words)))


def ended(text: str, words: int, *, anywhere: bool = True) -> bool:
    """Return whether a continuation has enough complete words, or (with ``anywhere``) its sentence
    has ended."""
    return len(text.split()) > words or (
        anywhere and (text.rstrip()[-1:] in CLOSING or "\n" in text.strip(" "))
    )


def future_words(text: str, words: int) -> list[str]:
    """Return the first words of a continuation. A beginning without a space would only complete the
    last word."""
    return (text.split() if text[:1].isspace() else text.split()[1:])[:words]


class CausalModel(Protocol):
    """What pseudo lookahead needs from a language model."""

    end: int | None
    """The token that ends a text, if there is one."""

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: list[int]) -> str: ...

    def next(self, ids: list[int], cache: Any) -> tuple[NDArray[np.float64], Any]:
        """Return the logits (V,) after ``ids``, which follow the tokens in ``cache``, and the
        updated cache."""
        ...


class TransformersModel:
    """A causal model of transformers on the CPU."""

    def __init__(self, name: str, kind: str = "float32") -> None:
        """``kind``: torch's name of the type of the weights."""
        try:
            import torch
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError as error:
            raise ConfigError(
                f"The language model {name!r} needs torch and transformers: pip install"
                " 'sayahead[lm]'."
            ) from error
        self.torch: Any = torch
        try:
            self.tokenizer: Any = AutoTokenizer.from_pretrained(name)
            self.model: Any = AutoModelForCausalLM.from_pretrained(name, dtype=kind).eval()
        except (OSError, ValueError) as error:
            raise ConfigError(f"The language model {name!r} cannot be loaded: {error}") from error
        self.end: int | None = self.tokenizer.eos_token_id

    def encode(self, text: str) -> list[int]:
        return list(self.tokenizer(text).input_ids)

    def decode(self, ids: list[int]) -> str:
        return str(self.tokenizer.decode(ids))

    def states(self, ids: list[int], layer: int) -> Floats:
        """Return the hidden states (N, D) of a layer after each token. ConfigError if there is no
        such layer."""
        with self.torch.inference_mode():
            layers = self.model.base_model(
                input_ids=self.torch.tensor([ids]), output_hidden_states=True
            ).hidden_states
        if not -len(layers) <= layer < len(layers):
            raise ConfigError(
                f"The language model has states of {len(layers)} layers, but not of layer {layer}."
            )
        states: Floats = layers[layer][0].float().numpy()
        return states

    def next(self, ids: list[int], cache: Any) -> tuple[NDArray[np.float64], Any]:
        with self.torch.inference_mode():
            out = self.model(
                input_ids=self.torch.tensor([ids]), past_key_values=cache, use_cache=True
            )
        return out.logits[0, -1].double().numpy(), out.past_key_values
