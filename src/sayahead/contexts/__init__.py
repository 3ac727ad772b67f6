"""Context predictors by name: what stands in for the future."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sayahead.config import Spec, chosen
from sayahead.contexts.controls import RandomWords, Truth
from sayahead.contexts.distilled import Distilled
from sayahead.contexts.language_model import LanguageModel
from sayahead.engine.context import ContextPredictor, NoContext

CONTEXTS: dict[str, Callable[..., ContextPredictor]] = {
    "none": NoContext,
    "distilled": Distilled,
    "lm": LanguageModel,
    "random": RandomWords,
    "truth": Truth.of,
}
"""Every context predictor by the name that Python, the command line, experiments and sockets call it."""
OF_VOICES = ("distilled",)
"""Those that a voice was taught: the voice makes them, where it has them."""


Maker = Callable[..., ContextPredictor]


def context(
    spec: Spec, voice: Mapping[str, Maker] | None = None, whose: str = "This voice", **options: Any
) -> ContextPredictor:
    """The predictor that a name and options describe; ConfigError for what is not known, with the nearest name."""
    return chosen("context", spec, CONTEXTS, voice or {}, options, of_voices=OF_VOICES, whose=whose)
