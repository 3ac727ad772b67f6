"""Policies and contexts by the names that command lines and experiments give them.

What they are is imported when one is chosen: a command line knows the names at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sayahead.config import nearest
from sayahead.errors import ConfigError

if TYPE_CHECKING:
    from sayahead.engine.context import ContextPredictor
    from sayahead.engine.policy import Policy
    from sayahead.voice import Voice

POLICIES = ("lookahead", "wait-all", "independent", "learned", "agent", "wait-end", "wait-k-steps")
CONTEXTS = ("none", "random", "lm", "distilled", "truth")
FUTURE_WORDS = 5
"""Words of a predicted future (Saeki-a: L)."""


def policy(
    name: str, voice: Callable[[], Voice], *, k: int | None = None, words: int | None = None, first_chunk: int = 1,
    chunk: int = 1, price: float = 1.0, words_per_min: float = 180.0,
) -> Policy:  # fmt: skip
    """The policy of that name with what counts for it of the rest; ConfigError for another name.

    ``voice`` gives the voice that will speak; it is asked only where the policy, or a value that is None, is its own.
    """
    from sayahead.policies.characters import WaitEnd, WaitKSteps
    from sayahead.policies.rules import Independent, LookaheadK, WaitAll

    match name:
        case "lookahead":
            if k is None or words is None:
                own = voice().config.defaults
                k, words = own.lookahead if k is None else k, own.words if words is None else words
            return LookaheadK(k, first_chunk, chunk, words)
        case "wait-all":
            return WaitAll()
        case "independent":
            return Independent() if words is None else Independent(words)
        case "learned":
            return voice().learned(price, words_per_min=words_per_min)
        case "agent":
            return voice().agent
        case "wait-end":
            return WaitEnd()
        case "wait-k-steps":
            return WaitKSteps() if k is None else WaitKSteps(k)
    raise unknown("policy", name, POLICIES)


def context(
    name: str, voice: Callable[[], Voice], *, text: str = "", words: int = FUTURE_WORDS, seed: int = 0,
    model: Callable[[], ContextPredictor] | None = None,
) -> ContextPredictor:  # fmt: skip
    """The context predictor of that name; ConfigError for another name.

    ``text`` is all that will be said, for the truth; ``model`` gives the language model, for ``lm``.
    """
    from sayahead.contexts.controls import RandomWords, Truth
    from sayahead.engine.context import NoContext

    match name:
        case "none":
            return NoContext()
        case "random":
            return RandomWords(words, seed)
        case "truth":
            return Truth.of(text, words)
        case "distilled":
            return voice().distilled
        case "lm":
            if model is None:
                raise ConfigError(
                    "--context lm needs a language model: --lm NAME or --lm FOLDER, for example --lm gpt2."
                )
            return model()
    raise unknown("context", name, CONTEXTS)


def unknown(what: str, word: str, known: tuple[str, ...]) -> ConfigError:
    """The error for a word that is none of the known ones."""
    return ConfigError(f"{what} {word!r} is not known{nearest(word, known)}.")
