"""Policies by name: when to speak."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sayahead.config import Spec, chosen
from sayahead.engine.policy import Policy
from sayahead.policies.agent import Agent
from sayahead.policies.characters import WaitEnd, WaitKSteps
from sayahead.policies.fixed import Independent, LookaheadK, Opportunistic, WaitAll
from sayahead.policies.learned import LearnedPolicy

POLICIES: dict[str, Callable[..., Policy]] = {
    "lookahead": LookaheadK,
    "opportunistic": Opportunistic,
    "wait-all": WaitAll,
    "independent": Independent,
    "learned": LearnedPolicy,
    "wait-end": WaitEnd,
    "wait-k-steps": WaitKSteps,
    "agent": Agent,
}
"""Every policy by its name in Python, on the command line, in experiments and on sockets; options are its fields."""
OF_VOICES = ("learned", "agent")
"""Those that a voice has learned: only a voice that has them can make them."""


def policy(
    spec: Spec, voice: Mapping[str, Callable[..., Policy]] | None = None, whose: str = "This voice", **options: Any
) -> Policy:
    """The policy that a name and options describe; ConfigError for anything unknown, with the nearest name.

    ``voice`` has a voice's own: those that it has learned, and others with its own values for their options.
    """
    return chosen("policy", spec, POLICIES, voice or {}, options, of_voices=OF_VOICES, whose=whose)
