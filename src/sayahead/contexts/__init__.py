"""Context predictors by name: what stands in for the future."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sayahead.config import Spec, chosen
from sayahead.engine.context import ContextPredictor
from sayahead.extensions import Extensible

CONTEXTS: Extensible[Callable[..., ContextPredictor]] = Extensible(
    "sayahead.contexts",
    {
        "none": "sayahead.engine.context:NoContext",
        "distilled": "sayahead.contexts.distilled:Distilled",
        "hidden": "sayahead.contexts.hidden_states:Hidden",
        "lm": "sayahead.contexts.language_model:LanguageModel",
        "random": "sayahead.contexts.baselines:RandomWords",
        "truth": "sayahead.contexts.baselines:Truth.of",
    },
)
"""Every context predictor by its name, as ``policies.POLICIES``; what loads code, files or models
is not ``served``."""


Maker = Callable[..., ContextPredictor]


def context(
    spec: Spec, voice: Mapping[str, Maker] | None = None, whose: str = "This voice", **options: Any
) -> ContextPredictor:
    """The predictor that a name and options describe; ConfigError for anything unknown, with the
    nearest name."""
    return chosen("context", spec, CONTEXTS, voice or {}, options, whose)
