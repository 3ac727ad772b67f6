"""Policies and context predictors that a voice has learned, by name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sayahead.contexts.distilled import Distilled
from sayahead.contexts.hidden_states import hidden_maker
from sayahead.engine.context import ContextPredictor
from sayahead.engine.policy import Policy
from sayahead.errors import VoiceError
from sayahead.policies.agent import Agent
from sayahead.policies.learned import LearnedPolicy, Network, Reader
from sayahead.systems.loading import Loaded
from sayahead.voices import VoiceConfig
from sayahead.voices.loans import lent


def taught_policies(
    config: VoiceConfig, folder: Path, loaded: Loaded, threads: int
) -> dict[str, Callable[..., Policy]]:
    """Return makers of the learned policies."""
    makers: dict[str, Callable[..., Policy]] = {}
    if config.learned is not None:
        network = Network.load(folder / config.learned.weights)
        phonemizer: Any = loaded.phonemizer
        if not isinstance(phonemizer, Reader):
            raise VoiceError(
                f"The voice {config.name!r} has a learned policy, but its front end lacks parts of"
                " speech."
            )
        makers["learned"] = functools.partial(LearnedPolicy, network, network.clues(phonemizer))
    if config.agent is not None:
        agent = Agent.load(folder, config.agent, threads=threads)
        makers["agent"] = lambda: agent
    return makers


def taught_contexts(
    config: VoiceConfig, folder: Path, threads: int
) -> dict[str, Callable[..., ContextPredictor]]:
    """Return makers of the learned context predictors."""
    makers = dict[str, Callable[..., ContextPredictor]]()
    if config.distilled is not None:
        settings = config.distilled
        names = settings.graph, settings.vectors
        files_folder = (
            folder
            if settings.borrowed is None
            else lent(settings.borrowed, folder, "the predictor of context", names)
        )
        distilled = Distilled.load(files_folder, settings, threads=threads)
        makers["distilled"] = lambda: distilled
    if config.hidden is not None:
        makers["hidden"] = hidden_maker(folder, config.hidden, threads=threads)
    return makers
