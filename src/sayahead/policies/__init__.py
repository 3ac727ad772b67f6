"""Policies by name: when to speak."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sayahead.config import Spec, chosen
from sayahead.engine.policy import Policy
from sayahead.extensions import Extensible

POLICIES: Extensible[Callable[..., Policy]] = Extensible(
    "sayahead.policies",
    {
        "lookahead": "sayahead.policies.fixed:LookaheadK",
        "opportunistic": "sayahead.policies.fixed:Opportunistic",
        "wait-all": "sayahead.policies.fixed:WaitAll",
        "independent": "sayahead.policies.fixed:Independent",
        "learned": "sayahead.policies.learned:LearnedPolicy",
        "wait-end": "sayahead.policies.characters:WaitEnd",
        "wait-k-steps": "sayahead.policies.characters:WaitKSteps",
        "agent": "sayahead.policies.agent:Agent",
    },
)
"""Every policy by its name in Python, on the command line, in experiments and on sockets; options
are its fields.

A class that sets ``taught = True`` is made by voices that have learned it alone; one that sets
``served = False`` is not offered to the clients of a server.
"""


def policy(
    spec: Spec,
    voice: Mapping[str, Callable[..., Policy]] | None = None,
    whose: str = "This voice",
    **options: Any,
) -> Policy:
    """The policy that a name and options describe; ConfigError for anything unknown, with the
    nearest name.

    ``voice`` has a voice's own: those that it has learned, and others with its own values for their
    options."""
    return chosen("policy", spec, POLICIES, voice or {}, options, whose)
