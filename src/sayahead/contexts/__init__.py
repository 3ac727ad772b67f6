"""Context predictors by name: what stands in for the future."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sayahead.config import Spec, chosen
from sayahead.contexts.baselines import RandomWords, Truth
from sayahead.contexts.distilled import Distilled
from sayahead.contexts.hidden_states import Hidden
from sayahead.contexts.language_model import LanguageModel
from sayahead.engine.context import ContextPredictor, NoContext

CONTEXTS: dict[str, Callable[..., ContextPredictor]] = {
    "none": NoContext,
    "distilled": Distilled,
    "hidden": Hidden,
    "lm": LanguageModel,
    "random": RandomWords,
    "truth": Truth.of,
}
"""Every context predictor by its name in Python, on the command line, in experiments and on sockets."""
OF_VOICES = ("distilled", "hidden")
"""Those that a voice has learned: only a voice that has them can make them."""


Maker = Callable[..., ContextPredictor]


def context(
    spec: Spec, voice: Mapping[str, Maker] | None = None, whose: str = "This voice", **options: Any
) -> ContextPredictor:
    """The predictor that a name and options describe; ConfigError for anything unknown, with the nearest name."""
    return chosen("context", spec, CONTEXTS, voice or {}, options, of_voices=OF_VOICES, whose=whose)
